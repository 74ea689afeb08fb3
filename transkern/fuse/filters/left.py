"""What a loop asks of an array that gets shorter: how long it is, and reductions of what is left, the best included."""

from __future__ import annotations

from collections.abc import Callable

from transkern.fuse.lowering.copies import with_own_names
from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Apply, Const, Expr, Load, Var
from transkern.ir.extremes import highest, lowest
from transkern.ir.facts import conjuncts
from transkern.ir.names import Names
from transkern.ir.ops import MIRRORED
from transkern.ir.traverse import buffers_read, own_exprs
from transkern.records import replace

COMPARISONS = ("greater", "greater_equal", "less", "less_equal", "equal", "not_equal")
BEST = {"argmax": "max", "argmin": "min"}
ORDERED = (*(f"{kind}{bits}" for kind in ("int", "uint") for bits in (8, 16, 32, 64)), "float32", "float64")
"""The types whose best element has one position: the first that is equal to it, or no number."""


class Reject(Exception):
    """The array is not one that a mask can stand for."""


def of_those_alive(s: n.Accumulate, here: Expr) -> n.Accumulate:
    """A reduction over the elements that are left."""
    dtype = s.value.dtype
    match s.op:
        case "any" | "count" | "first" | "last":
            return replace(s, value=Apply("logical_and", (here, s.value), "bool"))
        case "all":
            return replace(s, value=b.either(b.logical_not(here), s.value))
        case "max" | "min" if dtype in ORDERED:
            return replace(s, value=b.where(here, s.value, lowest(dtype) if s.op == "max" else highest(dtype)))
        case "sum" if dtype.startswith(("int", "uint")):
            return replace(s, value=b.where(here, s.value, Const(0, dtype)))
        case "sum" if dtype.startswith("float"):
            return replace(s, value=b.where(here, s.value, Const(-0.0, dtype)))  # which leaves any number as it is
        case _:
            raise Reject


def search(
    names: Names, x: n.Accumulate, best: n.Accumulator, lets: tuple[n.Stmt, ...], here: Expr, p: Var,
    bounds: tuple[Expr, Expr],
) -> n.Loop:  # fmt: skip
    """The pass that finds what the best element is, before the one that finds where it is; `lets` lead to it."""
    most = of_those_alive(replace(x, name=best.name, op=best.op, position=None), here)
    loop = n.Loop(p.name, *bounds, b.ONE, "parallel", (*lets, most), span=x.span)
    return with_own_names(loop, names, {}, {})


def restored(s: n.Compact, axis: str, alive: str, low: Expr, high: Expr, dtype: str) -> n.Compact:
    """What is left of the array when a loop that `s` shortened it in is done, together again: somebody looks at it."""
    at = b.add(low, Var(axis, "index"))
    length = b.maximum(b.sub(high, low), b.ZERO)
    values = (Load(s.outputs[0], (at,), dtype),)
    return n.Compact(s.outputs, s.count, axis, b.ZERO, length, (), Load(alive, (at,), "bool"), values, span=s.span)


def asks(condition: Expr, size: Var) -> str | None:
    """What a condition asks of the size."""
    match condition:
        case Apply("logical_not", (inner,), _):
            return {"none": "some", "some": "none"}.get(asks(inner, size) or "")
        case Apply(op, (x, y), _):
            return about_size(op, x, y, size)
        case _:
            return None


def about_size(op: str, x: Expr, y: Expr, size: Var) -> str | None:
    """What a comparison of the size with a small constant asks."""
    if y == size:
        x, y = y, x
        op = MIRRORED.get(op, op)
    value = b.constant(y)
    if x != size or value is None:
        return None
    return {
        ("greater", 0): "some", ("not_equal", 0): "some", ("greater_equal", 1): "some", ("equal", 0): "none",
        ("less_equal", 0): "none", ("less", 1): "none", ("equal", 1): "one", ("less_equal", 1): "at most one",
        ("less", 2): "at most one", ("greater", 1): "several", ("greater_equal", 2): "several",
        ("not_equal", 1): "not one",
    }.get((op, value))  # fmt: skip


def without_early_end(loop: n.While, size: Var, is_of_it: Callable[[str], bool]) -> n.While:
    """The loop without an exit where one element is left, if the rest of its body then does nothing but to take that
    away: its condition ends the loop then, and nobody has to ask for the last element. `is_of_it`: whether a buffer is
    the array, or as long."""
    if loop.head or not any(asks(c, size) == "some" for c in conjuncts(loop.condition)):
        return loop
    for k, s in enumerate(loop.body):
        match s:
            case n.If(condition, (n.Break(),), ()) if asks(condition, size) in ("one", "at most one"):
                rest = loop.body[k + 1 :]
                if rest and isinstance(rest[-1], n.Compact) and all(_is_over_rest(x, size, is_of_it) for x in rest):
                    return replace(loop, body=(*loop.body[:k], *rest))
            case _:
                pass
    return loop


def _is_over_rest(s: n.Stmt, size: Var, is_of_it: Callable[[str], bool]) -> bool:
    """Whether a statement does nothing where one element is left: it goes over all but one, or gives names."""
    match s:
        case n.Alloc():
            return True
        case n.Let():
            return not any(map(is_of_it, (x for e in own_exprs(s) for x in buffers_read(e))))
        case n.Loop(start=start, stop=stop, kind="parallel") | n.Compact(start=start, stop=stop, append=False):
            return start == b.ZERO and b.difference(b.inhabited(stop), size) == -1
        case _:
            return False


def edges(op: str, bound: Expr, turned: bool) -> str | None:
    """What a comparison of a position with a constant asks of the first one: how the position compares with that."""
    op = MIRRORED.get(op, op) if turned else op
    value = b.constant(bound)
    if value is None:
        return None
    return {
        ("less", 1): "less_equal", ("less_equal", 0): "less_equal", ("equal", 0): "equal", ("greater", 0): "greater",
        ("greater_equal", 1): "greater", ("not_equal", 0): "not_equal",
    }.get((op, value))  # fmt: skip
