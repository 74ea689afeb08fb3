"""``transkern build``: functions compiled ahead of time, as a package that needs NumPy alone."""
