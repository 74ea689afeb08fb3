"""The values that have the most to say: numbers and arrays, lists, functions."""
