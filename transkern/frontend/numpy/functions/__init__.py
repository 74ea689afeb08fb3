"""NumPy's functions, each by its handler."""
