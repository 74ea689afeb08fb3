"""Python's built-in functions, numbers and texts, and the modules of its library."""
