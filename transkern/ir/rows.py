"""Which rows are short: arrays with many of them get code of their own, with the loops over a row's elements written
out (`fuse/unroll.py`), so that their number is part of an argument's type."""

SHORT_ROW = 4
"""Elements of a row that is short, at most: coordinates, colours, corners."""
MANY_ROWS = 64
"""Rows that are worth code of their own."""
