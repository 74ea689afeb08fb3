"""Who asks for the sizes that are worth code of their own where they are small (`fuse.choices.small_sizes`).

Such a size is a constant of the code where a call's own is small, and any number where it is large. What is asked for
is written ``"x.1<"``, as `types_of` takes it; whether it is small, the types tell, which know the sizes of the call.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from transkern import refusals
from transkern.errors import CompileError, NeedsConstant
from transkern.ir.storage import SMALL_SIZE, small_demanded


def ask(sizes: Sequence[tuple[str, int, int]], types: Sequence[Any]) -> None:
    """Raises NeedsConstant for the sizes (`Program.few`) that are small in the call which the types are of: for all at
    once, as each would be another translation."""
    if not sizes:
        return
    arrays = list(arrays_in(types))
    small = small_demanded(sizes, [getattr(x, "extents", ()) for x in arrays], SMALL_SIZE)
    if asked := [demand for demand, k, axis in small if isinstance(arrays[k].dims[axis], str)]:
        problem = CompileError(refusals.INTERNAL, f"the size `{asked[0]}` is small")
        raise NeedsConstant(asked[0], problem, sizes, asked[1:])


def arrays_in(types: Iterable[Any]) -> Iterator[Any]:
    """What is an array of the code in arguments of such types."""
    for kind in types:
        inner = getattr(kind, "items", None)
        if isinstance(inner, tuple):
            yield from arrays_in(inner)
        elif is_array_of_code(kind):
            yield kind


def is_array_of_code(kind: Any) -> bool:
    """Whether the code has an array for an argument of this type."""
    return type(kind).__name__ in ("ArrayType", "NumbersType")
