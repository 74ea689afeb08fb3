"""What a function returns, and which axes its arrays run along."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from transkern.analysis.locality.held import Extent, Held
from transkern.analysis.locality.running import Running
from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Axis, Expr, Load

if TYPE_CHECKING:
    from transkern.analysis.locality.reading import Reading


def result(reading: Reading, r: n.Result) -> None:
    match r:
        case n.ArrayResult(buffer, dims, _, other):
            extents = reading.held[buffer].extents
            if other is not None or any(reading.extent(d) != replace(e, low=0, high=0)
                                        for d, e in zip(dims, extents, strict=True)):  # fmt: skip
                for e in extents:
                    reading.whole(e.size, "how much of the result there is depends on the elements")
            returned(reading, reading.held[buffer])
        case n.ArgumentResult(name):
            returned(reading, reading.held[name])
        case n.ViewResult(buffer, dims, offset, steps):
            view(reading, buffer, dims, offset, steps)
        case n.TupleResult(items, "tuple" | "list" | "dict"):
            for item in items:
                result(reading, item)
        case n.ConstantResult():
            pass
        case _:
            reading.all_whole("the function returns something else than arrays")


def view(
    reading: Reading, buffer: str, dims: Sequence[Expr], offset: Sequence[Expr], steps: Sequence[Sequence[Expr]]
) -> None:
    """A view is read as a copy."""
    held = reading.held[buffer]
    if len(offset) != len(held.extents):
        for e in held.extents:
            reading.whole(e.size, "the result is a view that goes through all of it")
        returned(reading, Held(tuple(Extent() for _ in dims)))
        return
    axes = [Axis(f"{buffer}@{k}", d) for k, d in enumerate(dims)]
    index = []
    for at, step in zip(offset, steps, strict=True):
        for by, axis in zip(step, axes, strict=True):
            at = b.add(at, b.mul(by, axis.var))
        index.append(at)
    reading.held["@"] = Held(tuple(reading.extent(d) for d in dims))
    with Running(reading, axes):
        reading.store("@", [a.var for a in axes], [Load(buffer, tuple(index), "")], {})
    returned(reading, reading.held["@"])


def returned(reading: Reading, held: Held) -> None:
    for size, _ in held.ends:
        reading.whole(size, "the result holds something of its end alone")
    names = [e.size for e in held.extents]
    for e in held.extents:
        if e.size and (e.more or names.count(e.size) > 1):
            text = "the result is longer or shorter than it" if e.more else "two axes of the result run along it"
            reading.whole(e.size, text)
    reading.found.results.append(tuple("" if not e.size or reading.is_whole(e.size) else e.size for e in held.extents))
    for e in held.extents:
        if e.size and not reading.is_whole(e.size):
            low, high = reading.found.axes.get(e.size, (0, 0))
            reading.found.axes[e.size] = max(low, e.low), max(high, e.high)


def close(reading: Reading) -> None:
    """What can be cut has to be an axis of all results."""
    for size in {reading.found.axis(size) for size in reading.sizes}:
        if not reading.is_whole(size) and not all(size in result for result in reading.found.results):
            reading.whole(size, "not all results have it")
    reading.found.axes = {size: ends for size, ends in reading.found.axes.items() if not reading.is_whole(size)}
    reading.found.least = {
        size: max(reading.found.least.get(size, 0), *reading.found.axes[size], 1) for size in reading.found.axes
    }
