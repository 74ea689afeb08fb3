"""How elements lie in memory."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import prod

import numpy as np


def storage(dtype: str) -> str:
    """The NumPy dtype of an array that holds `dtype`."""
    return "int64" if dtype == "index" else dtype


def itemsize(dtype: str) -> int:
    """The bytes of an element."""
    return np.dtype(storage(dtype)).itemsize


SHORT_ROW = 4
"""Elements of a row that is short, at most: coordinates, colours, corners. Arrays with many of them get code of their
own, with the loops over a row's elements written out (`fuse/loops/unroll.py`), so that their number is part of an
argument's type."""
MANY_ROWS = 64
"""Rows that are worth code of their own."""
SMALL_SIZE = 16
"""Sizes up to which arrays may get code of their own (`fuse/choices/small_sizes.py`)."""
SMALL_SIZES = 6
"""Choices of such sizes that one function has code for in a process: others run the code for any size."""
FEW = "<"
"""Behind what is asked for to be a constant (``x.1<``): only where it is small."""
FEW_OF_MANY = "<<"
"""The same (``x.1<<``) where the arrays of the call have `MANY` elements besides."""
MANY = 4096
FEW_COLUMNS = "<<<"
"""The same (``x.1<<<``) where it is how many columns an array of `MANY_ROWS` rows has."""
UNLESS_SMALL = "unless small"
"""What a module calls its code for calls whose sizes are not small, which finds that out itself; no function has this
name (`targets/cpu/printing/entry/small_sizes.py`)."""


def small_among(shapes: Iterable[Sequence[int]], most: int = SMALL_SIZE) -> set[int]:
    """The sizes that are small for arrays of these shapes, all arrays of a call: of long rows and many columns the
    short axis is none, unless it is a short row, as code for any size stages it better (`fuse/schedule/turn.py`)."""
    every = list(shapes)
    found = {size for shape in every for size in shape if 0 < size <= most}
    large = {size for shape in every if max(shape, default=0) > SMALL_SIZE for size in shape if size > SHORT_ROW}
    return found - large


def small_demanded(
    demands: Iterable[tuple[str, int, int]], shapes: Sequence[Sequence[int]], most: int = SMALL_SIZE
) -> list[tuple[str, int, int]]:
    """Those of the demands (``x.1<``, which of the arrays, along which axis) that hold for arrays of these shapes."""
    small = small_among(shapes, most)
    many = sum(map(prod, shapes)) >= MANY

    def holds(demand: str, shape: Sequence[int], size: int) -> bool:
        if demand.endswith(FEW_COLUMNS):
            return 0 < size <= most and prod(shape) >= MANY_ROWS * size
        return size in small and (many or not demand.endswith(FEW_OF_MANY))

    return [
        (demand, k, axis) for demand, k, axis in demands
        if axis < len(shapes[k]) and holds(demand, shapes[k], shapes[k][axis])
    ]  # fmt: skip


def small_of_names(demands: Iterable[str], shapes: Mapping[str, Sequence[int]]) -> set[int]:
    """The sizes that such demands ask for, of arrays of these names and shapes."""
    places = {name: k for k, name in enumerate(shapes)}
    parts = [(demand, *demand.rstrip(FEW).rpartition(".")[::2]) for demand in demands if demand.endswith(FEW)]
    asked = [(demand, places[name], int(axis)) for demand, name, axis in parts if name in places]
    known = list(shapes.values())
    return {known[k][axis] for _, k, axis in small_demanded(asked, known)}
