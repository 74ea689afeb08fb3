"""Loops that constant distances order, along diagonals and in slanted blocks of rows."""
