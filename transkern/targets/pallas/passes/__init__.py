"""Programs as JAX can take them: no jumps, known sizes, 32 bits."""
