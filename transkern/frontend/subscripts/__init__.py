"""Subscripts: keys, positions and slices, and where the elements are that they stand for."""
