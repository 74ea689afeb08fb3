"""NumPy's functions, ufuncs and methods."""
