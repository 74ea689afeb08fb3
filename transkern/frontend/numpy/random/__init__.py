"""`numpy.random`: draws of generators, and their seeds."""
