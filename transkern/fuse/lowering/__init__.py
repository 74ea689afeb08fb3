"""From array statements to loops, in one normal form."""
