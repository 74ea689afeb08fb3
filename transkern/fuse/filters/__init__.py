"""Arrays that masks make shorter."""
