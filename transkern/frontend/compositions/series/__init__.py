"""The values of series of polynomials, a module for each kind of `numpy.polynomial`."""
