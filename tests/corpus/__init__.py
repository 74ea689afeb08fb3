"""A corpus of NumPy functions as people write them, by subject; each module has a list `CASES`."""

from tests.corpus.registry import Case

__all__ = ["Case"]
