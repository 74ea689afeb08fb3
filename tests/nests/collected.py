"""All nests, in the order of their files."""

from __future__ import annotations

from tests.nests import (  # noqa: F401  (they fill the registry)
    reductions,
    scalars,
    scans,
    scatter,
    slices,
    solvers,
    tables,
    textbook,
    traps,
)
from tests.nests.registry import NESTS, Nest

__all__ = ["NESTS", "Nest"]
