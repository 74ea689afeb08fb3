"""Numbers and arrays: known ones, those of the run, and those of which only the run knows the type."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeAlias

import numpy as np

from transkern.ir import build as b
from transkern.ir.expr import Axis, Expr, Load
from transkern.ir.traverse import variables_read


@dataclass(frozen=True, slots=True)
class Static:
    """A Python object known at specialisation: numbers (weakly typed, NEP 50), None, strings, dtypes, slices, …

    Two are equal where one can stand for the other: 1 and True, 0.0 and -0.0 cannot, nor can two arrays.
    """

    value: Any

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Static):
            return NotImplemented
        one, two = self.value, other.value
        if one is two:
            return True
        if type(one) is not type(two) or isinstance(one, np.ndarray):
            return False
        if isinstance(one, (float, complex, np.inexact)):
            return np.asarray(one).tobytes() == np.asarray(two).tobytes()
        if isinstance(one, (tuple, list)):
            return len(one) == len(two) and all(Static(x) == Static(y) for x, y in zip(one, two, strict=True))
        return bool(one == two)

    def __hash__(self) -> int:
        return hash(slice if isinstance(self.value, slice) else self.value)  # before Python 3.12 slices have none


Kind: TypeAlias = tuple[str, bool]  # the type of a number: a dtype, and whether it is one of Python's


@dataclass(frozen=True, slots=True)
class Split:
    """The two numbers, each of a certain type, that a number of a doubtful type may be: `one` where `tag` holds. With
    `exact` the caller is to see which of them it is, also where one is Python's. With `of_empty`, `two` is made of a
    list that is empty, which the number is not held for (`frontend/containers/empties.py`). With `handed_on` a loop
    would have to hand on which it is."""

    tag: Expr
    one: Static | Scalar
    two: Static | Scalar
    exact: bool = False
    of_empty: bool = False
    handed_on: bool = False


@dataclass(frozen=True, slots=True)
class Doubt:
    """What type a number has where a branch or a loop decides it at run time: one of `kinds`, and one of `sure` if
    `runs` (that a loop before it has an iteration) holds. `decides` is the condition between them, where it is known.
    `python` are the numbers of Python's that it may be, where they are constants. `told` is called by who needs a
    `split` where there is none: the loop is then translated again, with one.
    """

    kinds: tuple[Kind, ...]
    python: tuple[Any, ...] | None = ()
    sure: tuple[Kind, ...] = ()
    runs: Expr | None = None
    decides: Expr | None = field(default=None, compare=False)
    split: Split | None = field(default=None, compare=False)
    told: Callable[[], None] | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Scalar:
    """A run-time number. `python`: a Python int (dtype ``index``), float, bool or complex; else a NumPy scalar.

    `tag`: of which of several types it is (a position in `nodes.TAGS`), where it comes from a list of such. With a
    `doubt` it is held in a type for all of those that it may have (`frontend/values/doubts.py`).
    """

    expr: Expr
    python: bool = False
    tag: Expr | None = None
    doubt: Doubt | None = None

    @property
    def dtype(self) -> str:
        return self.expr.dtype


@dataclass(frozen=True, slots=True, eq=False)
class Empty:
    """The array (or number) that NumPy makes of an empty list: where `some`, evaluated as the list was read, is false.
    `known` is the same condition as it was written."""

    some: Expr
    value: np.ndarray[Any, Any] | np.generic
    known: Expr


@dataclass(frozen=True, slots=True)
class Array:
    """An array in index notation: its element at `axes` is `body`.

    With `mask` (over the first axis) it is a filter not yet compacted: its elements are those where the mask holds, and
    its first dim is their count. `view`: it shares memory with `body`'s buffer, as NumPy's basic slices do.
    `readonly`: it is a view that NumPy lets nobody store into, though others may show the same memory; "here" if only
    compiled code does not store into it.
    `identity`: the name of the argument that this is, unsliced. `empty`: what NumPy makes of an empty list.
    `origin`: of what was computed and then turned, reversed or sliced, the array as it was computed, whose order is
    that of NumPy's memory, and where in it each element is. `spaced`: NumPy has it between other numbers.
    """

    axes: tuple[Axis, ...]
    body: Expr
    mask: Expr | None = None
    view: bool = False
    identity: str = ""
    empty: Empty | None = field(default=None, compare=False)
    origin: tuple[Array, tuple[Expr, ...]] | None = field(default=None, compare=False, repr=False)
    readonly: bool | Literal["here"] = False
    spaced: bool = False

    @property
    def dtype(self) -> str:
        return self.body.dtype

    @property
    def ndim(self) -> int:
        return len(self.axes)

    @property
    def dims(self) -> tuple[Expr, ...]:
        """The shape, of what is no filter (see `Context.kept`): the length of one is a count that nobody has taken."""
        assert self.mask is None, "a filter's elements have not been counted yet"
        return self.domain

    @property
    def domain(self) -> tuple[Expr, ...]:
        """The extents of the axes; of a filter the first is that of what its elements are chosen from."""
        return tuple(a.extent for a in self.axes)

    def at(self, index: tuple[Expr, ...]) -> Expr:
        """The element at `index`, of what is no filter (see `Context.kept`): its positions are not its elements'."""
        assert self.mask is None, "a filter's elements have no positions yet"
        return self.candidate(index)

    def candidate(self, index: tuple[Expr, ...]) -> Expr:
        """The element at `index`; of a filter that of its domain, kept or not."""
        return b.substitute(self.body, {a.name: i for a, i in zip(self.axes, index, strict=True)})

    def mask_at(self, index: Expr) -> Expr:
        assert self.mask is not None
        return b.substitute(self.mask, {self.axes[0].name: index})

    def seen(self, axes: tuple[Axis, ...], index: tuple[Expr, ...]) -> Array:
        """What a basic subscript, a transpose or the like shows of this: its element at `axes` is that at `index`."""
        return Array(axes, self.at(index), view=self.view, origin=self._origin_at(index), readonly=self.readonly)

    def turned(self, order: Sequence[int]) -> Array:
        """With its axes in another order."""
        origin = self._origin_at(tuple(a.var for a in self.axes)) if self.mask is None else None
        return replace(self, axes=tuple(self.axes[a] for a in order), identity="", origin=origin)

    @property
    def is_turned(self) -> bool:
        """Whether it shows what was computed with its axes in another order, and nothing was computed with it since."""
        if self.origin is None or self.view or self.ndim < 2:
            return False
        array, index = self.origin
        names = [a.name for a in self.axes]
        places = [names.index(name) for i in index for name in variables_read(i) if name in names]
        return places != sorted(places) and array.at(index) == self.body

    def _origin_at(self, index: tuple[Expr, ...]) -> tuple[Array, tuple[Expr, ...]] | None:
        if self.view:
            return None  # where its elements are, `body` says
        if self.origin is None:
            return self, index
        array, places = self.origin
        return array, tuple(b.substitute(p, {a.name: i for a, i in zip(self.axes, index, strict=True)}) for p in places)

    def with_axes(self, axes: tuple[Axis, ...]) -> Array:
        """The same with other names for the axes."""
        index = tuple(a.var for a in axes)
        mask = None if self.mask is None else self.mask_at(index[0])
        origin = None if self.origin is None else self._origin_at(index)
        return replace(self, axes=axes, body=self.candidate(index), mask=mask, origin=origin)

    @property
    def base(self) -> str:
        """The buffer that a view shares memory with."""
        assert isinstance(self.body, Load)
        return self.body.buffer
