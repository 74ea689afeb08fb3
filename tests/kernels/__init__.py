"""Kernels of numerical practice: the functions of `benchmarks/loops`, on every target."""
