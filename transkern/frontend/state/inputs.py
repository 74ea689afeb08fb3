"""What a program gets: the function's arguments, what is put into them, and arrays from outside the function."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

from transkern.frontend.state.heap import Heap
from transkern.frontend.values.values import Array, Value

Change: TypeAlias = tuple[str, str, Any]  # as in `runtime.structures`


class Inputs:
    """The arguments by their names, their memory and what they hold at the call, and what else comes from outside."""

    def __init__(self, heap: Heap) -> None:
        self._heap = heap
        self.parameters: frozenset[str] = frozenset()  # the names of the function's own
        self.dims: set[str] = set()  # the sizes of the arguments
        self.sizes: set[str] = set()  # how the sizes of the arguments are written
        self.integers: set[str] = set()  # parameters that are Python's integers
        self.numbers: set[str] = set()  # arguments that are lists of numbers
        self.memories: set[str] = set()  # what several arguments share: buffers that are no argument themselves
        self.readonly: set[str] = set()  # arguments that NumPy does not store into
        self.written: set[str] = set()
        self.in_place: dict[str, bool] = {}  # arguments: whether the first store is by an operator or `out=`
        # lists of lists or tuples among the arguments: where what is behind their making begins in `out`, their memory,
        # and their kind
        self.lent: dict[str, tuple[int, frozenset[str], str]] = {}
        self.appended: set[str] = set()  # lists of which what they hold takes no part: they are only appended to
        self.paths: dict[int, str] = {}  # lists, dicts and objects: how they are reached (``model.layers``)
        self.given: dict[int, Value] = {}  # what was in them at the call
        self.returned: set[str] = set()  # containers among the arguments that are results
        self.changes: list[Change] = []  # what the function puts into its arguments, at any of its returns
        self.captured: list[tuple[str, Any]] = []  # arrays from outside the function in their memory: name and array
        self.outside: list[tuple[Array, Any]] = []  # those whose elements are constants, as they were made of them
        self.tables: dict[bytes, np.ndarray[Any, Any]] = {}  # of integers, about texts: by what is in them
        self.handed_out: set[str] = set()  # buffers of what cached functions have made: others have them, too
        self.global_generator = ""  # the memory that says in what order NumPy's one generator is drawn from

    @property
    def lends_lists(self) -> bool:
        """Whether there are lists of lists among the arguments whose own lists nobody may be handed."""
        return any(kind == "ragged" for _, _, kind in self.lent.values())

    def has_changes(self) -> bool:
        """Whether anything has been put into the containers among the arguments."""
        return any(self._heap.contents[token] is not contents for token, contents in self.given.items())
