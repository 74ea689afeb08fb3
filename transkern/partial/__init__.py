"""Functions that compile in part: what is refused runs in Python, the rest in kernels (docs/partial.md)."""
