"""The walk over a function: statements, expressions, calls, subscripts, branches, results."""
