"""What is known of the lists of the program, by their memory and their counts."""

from __future__ import annotations

from transkern.frontend.anew import Site
from transkern.frontend.loops import lengths
from transkern.frontend.state import twins
from transkern.frontend.state.control import Control
from transkern.frontend.values.values import GrowingList, Pool, PoolKey, Rows
from transkern.ir import build as b
from transkern.ir.expr import Expr


class Lists:
    """Lists that grow, lists in lists, and lists of objects."""

    def __init__(self, control: Control) -> None:
        self._control = control
        self.counts: set[str] = set()
        self.lengths = lengths.Lengths()
        self.doubted: set[str] = set()  # whose numbers are of types of which an array has another than the list
        self.depths: dict[str, int] = {}  # by count: how many loops are around where each list is made
        self.grown: set[str] = set()  # those that a loop further inside makes larger; survives `restore`
        self.twins = twins.Twins()
        self.columns: dict[str, list[str]] = {}  # lists of tuples: the buffers that stand for one
        self.untyped: list[GrowingList] = []  # lists read before anything is known to be in them
        self.array_types: dict[str, str] = {}  # of what lists of several types become, which is checked
        self.apart = 0  # operations that are being written out: what empty lists are in NumPy is told around them
        self.of_elements: Expr = b.TRUE  # whether the lists have some that an operation is translated for
        self.texts: dict[Site, tuple[str | None, ...]] = {}  # what lists hold in all translations of a loop
        self.pools: dict[PoolKey, Pool] = {}  # the lists that objects of classes stand in
        self.together: dict[Site, Rows] = {}  # lists of which a number tells which is meant
        self.replacing = ""  # the count of the list where what is put takes the place of an element
        self.rooms: set[str] = set()  # buffers of arrays that loops make longer

    def may_grow(self, count: str) -> bool:
        """Whether a list may have got longer by the next iteration of a loop around: its bound says nothing of that."""
        return count in self.grown and len(self._control.trips) > self.depths.get(count, 0)
