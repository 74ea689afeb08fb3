"""What became of a function, in words and pictures."""
