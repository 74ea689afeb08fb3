"""What a program means: each node of the IR as NumPy computes it."""
