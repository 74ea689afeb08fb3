"""Updates of an array part by part, each over nearly all of it, are one update of all of it:

    write z[i + 1, j] = z[i + 1, j] + t[i, j]  for i < n - 1, j < m
    write z[i, j] = z[i, j] + t[i + 1, j]      for i < n - 1, j < m

    to

    write z[i, j] = (z[i, j] + (t[i - 1, j] if 1 <= i else -0.0)) + (t[i + 1, j] if i < n - 1 else -0.0)
                                               for i < n, j < m

so that a pass over memory does what took one for each part: sums over neighbours (``z[1:] += t[:-1]``), differences
of fluxes, extremes over neighbours (``out[1:] = np.maximum(out[1:], x[:-1])``). What is left of the parts are
conditions on places, of which loops are split into borders and what is in between (`loops/borders.py`).

Allowed, as the parts keep their order in each element, and an element beyond a part gets what leaves it as it is: -0.0
added, 0.0 taken away, 1 multiplied with, the lowest number of the type for a maximum. No part reads another element of
the array, and what the parts read is the same where the last one stands. An array of the caller's takes part
only where the parts read no other one, with which it might share memory.

Parts that leave out more than a few rows (``u[0] += 1``, ``u[: n // 2] -= v``) are left alone: all elements would be
stored for the sake of some.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from transkern.fuse.lowering.unchanged import stays
from transkern.fuse.states.pieces import part_of
from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Apply, Axis, Const, Expr, Load
from transkern.ir.extremes import highest, lowest, wrapped
from transkern.ir.names import Names
from transkern.ir.traverse import buffers_read, buffers_used, variables_read, walk, with_bodies
from transkern.records import replace

_LEFT_OUT = 8
"""Rows that a part may leave out along an axis."""

_TOGETHER = 16
"""Parts that become one, at most."""

_NEUTRAL: dict[str, Callable[[str], Const]] = {
    "add": lambda dtype: Const(-0.0 if dtype.startswith("float") else 0, dtype),
    "subtract": lambda dtype: Const(0.0 if dtype.startswith("float") else 0, dtype),
    "multiply": lambda dtype: Const(1.0 if dtype.startswith("float") else 1, dtype),
    "bitwise_or": lambda dtype: Const(False if dtype == "bool" else 0, dtype),
    "bitwise_xor": lambda dtype: Const(False if dtype == "bool" else 0, dtype),
    "bitwise_and": lambda dtype: Const(True if dtype == "bool" else wrapped(-1, dtype), dtype),
    "logical_or": lambda dtype: Const(False, dtype),
    "logical_and": lambda dtype: Const(True, dtype),
    "maximum": lowest,
    "minimum": highest,
}
"""With what an element is as it was, as either operand (of a difference, as the second)."""

_TRUTHS = {"bitwise_or", "bitwise_xor", "bitwise_and", "logical_or", "logical_and", "maximum", "minimum"}

_LEAVING = (n.Break, n.Continue, n.Return)


def merge_updates(program: n.Program) -> n.Program:
    """The program with one statement for what is updated part by part."""
    if sum(isinstance(s, n.Write) for s in walk(program.body)) < 2:
        return program
    names = Names.of(program)

    def block(statements: Sequence[n.Stmt]) -> tuple[n.Stmt, ...]:
        rest: list[n.Stmt | None] = [with_bodies(s, block) for s in statements]
        waiting: dict[str, list[int]] = {}

        def settle(buffer: str) -> None:
            places = waiting.pop(buffer)
            made = _merged(program, rest, places, names)
            if made is not None:
                for k in places:
                    rest[k] = None
                rest[places[-1]] = made

        for k, s in enumerate(rest):
            assert s is not None
            mine = s.buffer if isinstance(s, n.Write) and _is_update(program, s) else ""
            for other in list(waiting):
                if other != mine and _ends(program, other, s):
                    settle(other)
            if mine:
                waiting.setdefault(mine, []).append(k)
        for buffer in list(waiting):
            settle(buffer)
        return tuple(s for s in rest if s is not None)

    return replace(program, body=block(program.body))


def _ends(program: n.Program, buffer: str, s: n.Stmt) -> bool:
    """Whether no update of an array that stands before a statement can be made behind it: that uses the array, or may
    leave the block, or raise an error where the caller would see that the update was not made."""
    if buffer in buffers_used(s) or any(isinstance(x, _LEAVING) for x in walk((s,))):
        return True
    return program.buffers[buffer].role == "argument" and not isinstance(s, (n.Write, n.Define, n.Let))


def _is_update(program: n.Program, s: n.Write) -> bool:
    """Whether a statement changes nearly all elements of an array, each by an operation that can leave it as it was."""
    buffer = program.buffers[s.buffer]
    match s.value:
        case Apply(op, (x, y), dtype) if op in _NEUTRAL and dtype == buffer.dtype and s.mask is None:
            own = Load(s.buffer, s.index, dtype)
            if dtype.startswith("complex") or (dtype == "bool" and op not in _TRUTHS):
                return False
            if x != own and (y != own or op == "subtract"):
                return False
            other = buffers_read(y if x == own else x)
            if s.buffer in other:
                return False
            if buffer.role == "argument" and any(program.buffers[name].role == "argument" for name in other):
                return False
        case _:
            return False
    left_out = {a.name: a.extent for a in s.axes}
    if len(s.index) != len(buffer.dims) or len(s.axes) != len(buffer.dims):
        return False
    for place, extent in zip(s.index, buffer.dims, strict=True):
        names = [*variables_read(place) & left_out.keys()]
        if len(names) != 1:
            return False
        rows = b.difference(extent, b.inhabited(left_out.pop(names[0])))
        if rows is None or not 0 <= rows <= _LEFT_OUT:
            return False
    axes = tuple(Axis(a.name, extent) for a, extent in zip(s.axes, buffer.dims, strict=True))
    return part_of(axes, s) is not None


def _merged(
    program: n.Program, block: Sequence[n.Stmt | None], places: Sequence[int], names: Names
) -> n.Write | None:  # fmt: skip
    """One statement for all updates of an array, at the place of the last; none where they cannot be made there."""
    if not 2 <= len(places) <= _TOGETHER:
        return None
    writes = [s for k in places if isinstance(s := block[k], n.Write)]
    for k, write in zip(places, writes, strict=True):
        between = [s for s in block[k + 1 : places[-1]] if s is not None]
        if not stays(between, buffers_read(write.value) - {write.buffer}, variables_read(write.value), program.buffers):
            return None
    buffer = program.buffers[writes[0].buffer]
    called = [names.fresh(a.name.split("_")[0]) for a in writes[0].axes]
    axes = tuple(Axis(name, extent) for name, extent in zip(called, buffer.dims, strict=True))
    here = tuple(a.var for a in axes)
    own: Expr = Load(buffer.name, here, buffer.dtype)
    for write in writes:
        part = part_of(axes, write)
        assert part is not None and isinstance(write.value, Apply)
        inside, there = part
        x, y = write.value.args
        turned = x != Load(write.buffer, write.index, buffer.dtype)
        neutral = _NEUTRAL[write.value.op](buffer.dtype)
        other = b.where(inside, b.substitute(x if turned else y, there), neutral)
        own = Apply(write.value.op, (other, own) if turned else (own, other), buffer.dtype)
    return n.Write(buffer.name, axes, here, own)
