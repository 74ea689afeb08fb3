"""Kernels of numerical practice as plain loops, the same in array statements, and how fast their loops run."""
