"""What a caller may ask for beside the target: the same for the decorator, the command line and the cache."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Options:
    """`allow_float32`: a target without float64 computes in float32. `boundscheck`: subscripts of arrays are checked,
    and raise IndexError as in NumPy; without it an access outside an array is undefined behaviour. `fastmath`: sums and
    products of a loop may be added up in any order, and ``a * b + c`` rounded once; NaN and infinities stay.
    `warnings`: ``numpy`` for NumPy's warnings, from the flags of the floating-point unit. `threads`:
    a kernel on the CPU has so many at most (0: as many as there are). `profile`: code for the CPU has timers.
    """

    allow_float32: bool = False
    boundscheck: bool = True
    fastmath: bool = False
    warnings: str | None = None
    threads: int = 0
    profile: bool = False


DEFAULT = Options()
