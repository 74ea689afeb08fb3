"""Compiled functions inside what PyTorch and JAX trace: operators with shapes and gradients (docs/frameworks.md).

Nothing here is imported before a call needs it, and nothing imports a framework that is not there.
"""
