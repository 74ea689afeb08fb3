"""Running a nest under watch: which iteration reads and writes which element and which variable, at which line.

Arrays are wrapped; an element is known by its address, so that views and arguments that overlap are seen to meet.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from tests.nests.registry import Nest, Sizes
from tests.nests.rewriting import file_of, watched

Cell = int | str
"""An address, or a variable's name."""


@dataclass(frozen=True, slots=True)
class Step:
    """Where a loop stands: its line, which of its runs this is, the how-manieth iteration, and the variable's value."""

    line: int
    run: int
    number: int
    value: int


@dataclass(frozen=True, slots=True)
class Access:
    cell: Cell
    writes: bool
    line: int
    steps: tuple[Step, ...]


@dataclass
class Record:
    """Everything that one call did, and what it returned. `arrays` are those that each name was bound to."""

    accesses: list[Access] = field(default_factory=list)
    arrays: dict[str, list[np.ndarray[Any, Any]]] = field(default_factory=dict)
    result: Any = None
    error: Exception | None = None
    alive: list[Any] = field(default_factory=list)  # memory that is given back would be given out again


def addresses(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """The address of each element."""
    found = np.full(array.shape, array.__array_interface__["data"][0], np.int64)
    for d, (size, stride) in enumerate(zip(array.shape, array.strides, strict=True)):
        found += (np.arange(size) * stride).reshape([-1 if k == d else 1 for k in range(array.ndim)])
    return found


class Watch:
    """What a rewritten function reports to."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.record = Record()
        self.stack: list[Step] = []
        self.runs = 0

    # --- loops

    def iterations(self, line: int, source: Iterable[Any]) -> Iterator[Any]:
        depth = len(self.stack)
        self.enter(line)
        run = self.stack[-1].run
        try:
            for number, item in enumerate(self._items(source, line, run)):
                value = item if isinstance(source, range) or type(item) is int else number
                self.stack[depth:] = [Step(line, run, number, int(value))]
                yield item
        finally:
            del self.stack[depth:]

    def _items(self, source: Iterable[Any], line: int, run: int) -> Iterator[Any]:
        iterator = iter(source)
        depth, number = len(self.stack) - 1, 0
        while True:
            # what taking the next item reads belongs to that iteration
            self.stack[depth:] = [Step(line, run, number, number)]
            try:
                item = next(iterator)
            except StopIteration:
                return
            yield item
            number += 1

    def enter(self, line: int) -> None:
        self.runs += 1
        self.stack.append(Step(line, self.runs, -1, -1))

    def step(self, line: int) -> bool:
        while self.stack[-1].line != line:
            self.stack.pop()
        last = self.stack.pop()
        self.stack.append(Step(line, last.run, last.number + 1, last.number + 1))
        return True

    def leave(self, line: int) -> None:
        while self.stack.pop().line != line:
            pass

    # --- variables

    def read(self, name: str, value: Any) -> Any:
        self._note(name, False)
        return value

    def wrote(self, name: str, value: Any) -> None:
        self._note(name, True)
        if isinstance(value, Watched):
            self.record.arrays.setdefault(name, []).append(value.array)

    # --- elements

    def touch(self, array: np.ndarray[Any, Any], writes: bool) -> None:
        for cell in addresses(array).ravel().tolist():
            self._note(cell, writes)

    def touch_cells(self, cells: Any, writes: bool) -> None:
        for cell in np.ravel(cells).tolist():
            self._note(cell, writes)

    def _note(self, cell: Cell, writes: bool) -> None:
        frame = sys._getframe(1)
        while frame.f_code.co_filename != self.file:
            assert frame.f_back is not None
            frame = frame.f_back
        self.record.accesses.append(Access(cell, writes, frame.f_lineno, tuple(self.stack)))

    def wrap(self, value: Any) -> Any:
        """A result: an array becomes a watched one."""
        if isinstance(value, np.ndarray) and value.ndim:
            self.record.alive.append(value)
            return Watched(value, self)
        if isinstance(value, tuple):
            return tuple(self.wrap(item) for item in value)
        return value if not isinstance(value, np.ndarray) else value[()]

    def unwrap(self, value: Any) -> Any:
        """An operand: all of a watched array is read."""
        if isinstance(value, Watched):
            self.touch(value.array, False)
            return value.array
        if isinstance(value, (tuple, list)):
            return type(value)(self.unwrap(item) for item in value)
        return value


class Watched(NDArrayOperatorsMixin):
    """An array whose accesses are noted."""

    __slots__ = ("array", "watch")
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, array: np.ndarray[Any, Any], watch: Watch) -> None:
        self.array, self.watch = array, watch

    def __len__(self) -> int:
        return len(self.array)

    def __iter__(self) -> Iterator[Any]:
        return (self[k] for k in range(len(self.array)))

    def __getitem__(self, index: Any) -> Any:
        index = self.watch.unwrap(index)
        found = self.array[index]
        if isinstance(found, np.ndarray) and found.base is not None and np.shares_memory(found, self.array):
            return Watched(found, self.watch)  # a view: nothing is read yet
        if isinstance(found, np.ndarray) and not found.size:
            return self.watch.wrap(found)
        self.watch.touch_cells(addresses(self.array)[index], False)
        return self.watch.wrap(found)

    def __setitem__(self, index: Any, value: Any) -> None:
        index, value = self.watch.unwrap(index), self.watch.unwrap(value)
        self.array[index] = value
        self.watch.touch_cells(addresses(self.array)[index], True)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, out: Any = None, **options: Any) -> Any:
        values = [self.watch.unwrap(value) for value in inputs]
        if out is None:
            return self.watch.wrap(getattr(ufunc, method)(*values, **options))
        targets = tuple(x.array if isinstance(x, Watched) else x for x in out)
        getattr(ufunc, method)(*values, out=targets, **options)
        for x in out:
            if isinstance(x, Watched):
                self.watch.touch(x.array, True)
        return out[0] if len(out) == 1 else out

    @property
    def T(self) -> Watched:
        return Watched(self.array.T, self.watch)

    def reshape(self, *shape: int) -> Watched:
        found = self.array.reshape(*shape)
        if np.shares_memory(found, self.array) or not found.size:
            return Watched(found, self.watch)
        self.watch.touch(self.array, False)
        return self.watch.wrap(found)  # type: ignore[no-any-return]

    def __getattr__(self, name: str) -> Any:
        found = getattr(self.array, name)
        if not callable(found):
            return found

        def method(*args: Any, **options: Any) -> Any:
            self.watch.touch(self.array, False)
            return self.watch.wrap(found(*[self.watch.unwrap(a) for a in args], **options))

        return method


class _NumPy:
    """NumPy's functions on watched arrays."""

    def __init__(self, watch: Watch) -> None:
        self.watch = watch

    def __getattr__(self, name: str) -> Any:
        found = getattr(np, name)
        if not callable(found) or isinstance(found, (type, np.ufunc)):
            return found
        if name.endswith("_like"):  # the elements are not looked at
            return lambda a, *args, **options: self.watch.wrap(found(a.array, *args, **options))

        def function(*args: Any, **options: Any) -> Any:
            return self.watch.wrap(found(*[self.watch.unwrap(a) for a in args], **options))

        return function


def record(nest: Nest, args: tuple[Any, ...]) -> Record:
    """The function called with `args` (which it changes) under watch."""
    watch = Watch(file_of(nest))
    function = watched(nest, watch, np=_NumPy(watch))
    given = [Watched(a, watch) if isinstance(a, np.ndarray) else a for a in args]
    for name, value in zip(nest.parameters, args, strict=True):
        if isinstance(value, np.ndarray):
            watch.record.arrays.setdefault(name, []).append(value)
    try:
        watch.record.result = _plain(function(*given))
    except (IndexError, ValueError, ZeroDivisionError) as error:
        watch.record.error = error
    return watch.record


def _plain(value: Any) -> Any:
    if isinstance(value, Watched):
        return value.array
    return tuple(_plain(v) for v in value) if isinstance(value, tuple) else value


# ---- what a record shows --------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Conflict:
    """Two accesses, in this order, of one cell in two iterations of one run of a loop."""

    first: Access
    second: Access
    kind: str  # flow | anti | output


def conflicts(found: Record, line: int) -> Iterator[Conflict]:
    """What the loop at `line` carries: each conflict of elements, and each value that a variable carries on.

    Of the many pairs on an element those are given in which the second access is the next but for reads.
    """
    last_write: dict[Cell, tuple[Access, Step]] = {}
    reads: dict[Cell, list[tuple[Access, Step]]] = {}
    for access in found.accesses:
        step = next((s for s in access.steps if s.line == line), None)
        if step is None:
            if access.writes:  # nothing from before reaches a later run of the loop
                last_write.pop(access.cell, None)
            continue
        before = last_write.get(access.cell)
        if before is not None and _carried(before[1], step):
            if not access.writes:
                yield Conflict(before[0], access, "flow")
            elif isinstance(access.cell, int):
                yield Conflict(before[0], access, "output")
        if access.writes:
            for earlier, at in reads.pop(access.cell, ()):
                if isinstance(access.cell, int) and _carried(at, step):
                    yield Conflict(earlier, access, "anti")
            last_write[access.cell] = access, step
        else:
            reads.setdefault(access.cell, []).append((access, step))


def _carried(one: Step, other: Step) -> bool:
    return one.run == other.run and one.number != other.number


@cache
def _recorded(nest: Nest, seed: int, sizes: tuple[tuple[str, int], ...]) -> Record:
    return record(nest, nest.inputs(seed, dict(sizes)))


def recorded(nest: Nest, seed: int, sizes: Sizes) -> Record:
    """The record of `nest` on its inputs of these sizes."""
    return _recorded(nest, seed, tuple(sorted(sizes.items())))
