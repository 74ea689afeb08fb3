"""Two values as one, where the paths of a branch meet."""
