"""The entry that Python calls: its arguments, arrays, library steps, errors and results."""
