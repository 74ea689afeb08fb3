"""Loops: what they go over, what their iterations hand on, how often they run."""
