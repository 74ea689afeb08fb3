"""Loops bound to lanes, tiles and threads."""
