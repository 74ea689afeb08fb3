"""Arguments of stated types, drawn at random: what a function is tried with where nobody gives a call."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from transkern import refusals
from transkern.errors import CompileError
from transkern.frontend.values.types import ArgType, ArrayType, ConstantType, NumbersType, ScalarType, StructType
from transkern.ir.storage import storage
from transkern.plain import dtype_of, is_pythons

_SIZES = (2, 3, 4, 5, 6, 7, 8, 9)
"""Sizes that have names: none of them is 1, of which code is made of its own."""
_SPECIAL = (np.nan, np.inf, -np.inf, -0.0)
_MANY = 5  # in one of so many draws floats are special ones, here and there


def drawn(kinds: Sequence[ArgType], rng: np.random.Generator) -> list[Any]:
    """Arguments of these types: floats around zero, integers that are places in arrays for the most part.

    Raises:
        CompileError: of objects of classes nothing is known that could be drawn.
    """
    draw = _Draw(rng)
    return [draw.of(kind) for kind in kinds]


class _Draw:
    def __init__(self, rng: np.random.Generator) -> None:
        self._rng = rng
        self._sizes: dict[int | str, int] = {}
        self._special = rng.integers(_MANY) == 0

    def size(self, dim: int | str) -> int:
        """A size that is known, or that of a name: the same for the same."""
        if isinstance(dim, int):
            return dim
        if dim not in self._sizes:
            left = [n for n in _SIZES if n not in self._sizes.values()] or list(_SIZES)
            self._sizes[dim] = int(self._rng.choice(left))
        return self._sizes[dim]

    def of(self, kind: ArgType) -> Any:
        """An argument."""
        match kind:
            case ArrayType():
                return self._array(kind)
            case ScalarType():
                value = self._numbers(np.dtype(storage(kind.dtype)), ())
                return value.item() if kind.python else value
            case ConstantType():
                return kind.value
            case NumbersType():
                found = self._numbers(np.dtype(dtype_of(kind.python)), (self.size(kind.dim),))
                return found.tolist() if is_pythons(kind.python) else [*found]
            case StructType(kind="tuple" | "list"):
                items = [self.of(item) for item in kind.items]
                return tuple(items) if kind.kind == "tuple" else items
            case StructType(kind="dict"):
                return {key: self.of(item) for key, item in zip(kind.keys, kind.items, strict=True)}
            case StructType(kind="text", items=(ArrayType(dims=(dim,)),)):
                return "".join(map(chr, self._rng.integers(97, 123, self.size(dim))))
            case StructType(kind="rows"):
                return list(zip(*(self.of(item).tolist() for item in kind.items), strict=True))
        problem = f"nothing is known to draw as an argument of the type {kind}"
        raise CompileError(refusals.ARGUMENT_TYPE, problem, "give a call: --call 'f(...)'")

    def _array(self, kind: ArrayType) -> np.ndarray[Any, Any]:
        shape = tuple(map(self.size, kind.dims))
        array = np.asarray(self._numbers(np.dtype(kind.dtype), shape))
        if kind.layout != "C":
            wide = np.zeros((*shape[:-1], 2 * shape[-1]) if shape else shape, array.dtype)
            place = (..., slice(None, None, 2)) if shape else ...
            wide[place] = array
            array = wide[place]
        if kind.readonly:
            array.flags.writeable = False
        return array

    def _numbers(self, dtype: np.dtype[Any], shape: tuple[int, ...]) -> Any:
        found: np.ndarray[Any, Any]
        match dtype.kind:
            case "b":
                found = np.asarray(self._rng.random(shape) < 0.5)
            case "f" | "c":
                found = np.asarray(self._rng.normal(size=shape) * 2)
                if self._special and shape:
                    odd = self._rng.random(shape) < 0.2
                    found = np.where(odd, self._rng.choice(_SPECIAL, shape), found)
                if dtype.kind == "c":
                    found = found + 1j * self._rng.normal(size=shape)
            case _:
                found = np.asarray(self._rng.integers(0, 1 + min(self._sizes.values(), default=4), shape))
        return found.astype(dtype)[()]
