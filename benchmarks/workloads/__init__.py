"""Functions in array statements, as people of several fields write them, with the best form for each peer."""
