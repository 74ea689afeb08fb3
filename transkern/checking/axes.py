"""How many axes the values of an expression have, in terms of those of a function's parameters."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace


@dataclass(slots=True)
class Use:
    """What is known of one parameter.

    `low`, `most`: axes that it has at least and at most; `count`: it is an integer, or they are, that counts; `whole`:
    it is an integer if it is a number; `real`: it is computed with as a float; `complex`: it has an imaginary part;
    `mask`: it has truth values; `bits`: these, or integers; `index`: something is subscripted with it; `entry`: a
    NumPy function takes it; `truth`: it is asked whether it is true; `text`: one that it is compared with; `dtype`: it
    is one; `sizes`: lengths of axes; `length`: of a tuple that is a shape; `items`: the highest place that is asked of
    it by a number; `beyond`: it is used in other ways than a tuple; `attributes`: that it is asked for; `other`: why it
    is nothing of these.
    """

    low: int = 0
    most: int | None = None
    count: bool = False
    whole: bool = False
    real: bool = False
    entry: bool = False
    mask: bool = False
    bits: bool = False
    complex: bool = False
    index: bool = False
    truth: bool = False
    text: str | None = None
    dtype: bool = False
    sizes: dict[int, int] = field(default_factory=dict)
    length: int = 0
    items: int = 0
    beyond: bool = False
    attributes: set[str] = field(default_factory=set)
    other: str = ""

    @property
    def array(self) -> bool:
        return self.low > 0

    @property
    def number(self) -> bool:
        """Whether it can only be a number."""
        return self.most == 0 and not self.low

    @property
    def is_open(self) -> bool:
        """Whether it may be a number or an array, as far as the text shows."""
        told = self.count or self.dtype or self.other or self.text is not None or self.mask or self.bits
        return not (told or self.array or self.number or self.truth or self.length)

    def axes(self, low: int) -> None:
        """It has at least so many axes."""
        self.low = max(self.low, low)

    def below(self, most: int) -> None:
        """It has at most so many."""
        self.most = most if self.most is None else min(self.most, most)


@dataclass(frozen=True, slots=True)
class Axes:
    """How many axes a value has: as many as `least`, or as each parameter in `of`, less a number, whichever is most.

    `known`: whether there is nothing else to it; `whole`: the parameters that hold integers where it is one; `integer`:
    a number that counts, or several; `mask`: truth values; `items`: what stands in a tuple or a list that is written
    out; `shape`: what it is the shape of; `each`: what it has one for each axis of; `length`: a parameter that is its
    shape; `key`: one that it was subscripted with, and how many axes there were; `text`: the first key of a dict of
    texts; `made`: the path of its class; `parameter`: the one that it is itself.
    """

    of: tuple[tuple[str, int], ...] = ()
    least: int = 0
    known: bool = True
    whole: tuple[str, ...] = ()
    integer: bool = False
    mask: bool = False
    items: tuple[Axes, ...] | None = None
    shape: Axes | None = None
    each: Axes | None = None
    key: tuple[str, int] | None = None
    length: str = ""
    text: str | None = None
    made: str = ""
    parameter: str = ""

    def without(self, count: int) -> Axes:
        """A part of it that has so many axes less (or more, where it is negative)."""
        of = tuple((name, below + count) for name, below in self.of)
        return Axes(of, max(self.least - count, 0), self.known, self.whole, self.integer, self.mask)

    def kept(self) -> Axes:
        """The same elements in another array."""
        return Axes(self.of, self.least, self.known, self.whole, self.integer, self.mask)

    def alone(self) -> Axes:
        """Something else with as many axes."""
        return Axes(self.of, self.least, self.known)

    def own(self, name: str) -> int | None:
        """How many axes below a parameter it is."""
        return next((below for of, below in self.of if of == name), None)


UNKNOWN = Axes(known=False)
NUMBER = Axes()
COUNT = Axes(integer=True)
VECTOR = Axes(least=1)


def together(several: Iterable[Axes]) -> Axes:
    """What is computed element by element of several."""
    given = list(several)
    of: dict[str, int] = {}
    for one in given:
        for name, below in one.of:
            of[name] = min(of.get(name, below), below)
    whole = tuple(dict.fromkeys(name for one in given for name in one.whole))
    return Axes(
        tuple(of.items()), max((one.least for one in given), default=0), all(one.known for one in given), whole,
        bool(given) and all(one.integer for one in given),
    )  # fmt: skip


def either(first: Axes, second: Axes) -> Axes:
    """What is one of two, as a condition decides."""
    if first == second:
        return first
    both = together((first, second))
    known = first.known and second.known and (bool(first.of or second.of) or first.least == second.least)
    return replace(both, least=min(first.least, second.least), known=known)
