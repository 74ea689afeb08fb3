"""A reduction that has been computed is not computed again, however far away it stands:

    m = sum(x) / n                                      m = sum(x) / n
    a = sum((x - m) * (y - sum(y) / n))        to       k = sum(y) / n
    m_1 = sum(x) / n                                    a = sum((x - m) * (y - k))
    v = sum((x - m_1) * (x - m_1))                      v = sum((x - m) * (x - m))

Value numbering of array statements: numbers and arrays that are made by the same reductions of the same values have
one name, up to the names of axes and to axes of one place (`keepdims=True`, as the mean of a variance has them).
Spellings that name a mean and those that write it out again are one program then.
What is computed from one element of each array is left: whether to keep or to compute it again is a question of cost.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TypeAlias

from transkern.fuse.scalars.share import in_sizes
from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Axis, Expr, Load, Reduce, Var
from transkern.ir.traverse import (
    buffers_read,
    buffers_used,
    buffers_written,
    exprs,
    map_block,
    scalars_set,
    variables_read,
    walk,
    walk_expr,
    with_bodies,
)  # fmt: skip
from transkern.records import replace

_Key: TypeAlias = tuple[tuple[Expr, ...], Expr]
"""The extents of the axes that a value varies along, and the value."""
_Known: TypeAlias = Mapping[_Key, tuple[n.Let | n.Define, frozenset[str]]]
"""Which statement makes a value, and what must stay as it is for that."""


def number_values(program: n.Program) -> n.Program:
    """The program with equal reductions under one name."""
    if sum(isinstance(e, Reduce) for e in exprs(program.body)) < 2:
        return program
    state = _Numbering(program)
    body = state.block(program.body, {})
    if not state.same:
        return program
    body = map_block(body, state.renamed)
    return replace(program, body=body)


class _Numbering:
    def __init__(self, program: n.Program) -> None:
        self.program = program
        # the statements of names and buffers that others stand for, and those of these
        self.same: dict[str, tuple[n.Let | n.Define, n.Let | n.Define]] = {}
        self.times = Counter(name for s in walk(program.body) for name in _made_by(s))
        self.sizes = in_sizes(program)
        taken = (s for s in walk(program.body) if isinstance(s, (n.Library, n.Return)))
        self.whole = {name for s in taken for name in buffers_used(s)}  # which may not change its name

    def block(self, statements: Sequence[n.Stmt], known: _Known) -> tuple[n.Stmt, ...]:
        """The statements without those that make again what is `known`."""
        known, out = dict(known), list[n.Stmt]()
        for s in statements:
            key = self.key(s) if isinstance(s, (n.Let, n.Define)) else None
            if key in known:
                assert isinstance(s, (n.Let, n.Define))
                self.same[_name_of(s)] = s, known[key][0]
                continue
            if any(True for _ in _bodies_of(s)):
                within = known if isinstance(s, n.If) else _without(known, s)
                s = with_bodies(s, lambda inner, within=within: self.block(inner, within))  # type: ignore[misc]
            known = _without(known, s)
            if key is not None:
                needs = {name for e in (*key[0], key[1]) for name in variables_read(e) | buffers_read(e)}
                assert isinstance(s, (n.Let, n.Define))
                known[key] = s, frozenset({_name_of(s), *needs})
            out.append(s)
        return tuple(out)

    def key(self, s: n.Let | n.Define) -> _Key | None:
        """What the statement makes, if that may be shared."""
        name, axes = _name_of(s), s.axes if isinstance(s, n.Define) else ()
        if isinstance(s, n.Let):
            plain = name not in self.program.variables and name not in self.sizes and not b.is_size_name(name)
        else:
            plain = self.program.buffers[name].role == "temporary" and name not in self.whole
        parts = list(walk_expr(s.value))
        repeated = any(isinstance(e, Var) and e.name in self.same for e in parts)
        repeated = repeated or any(isinstance(e, Load) and e.buffer in self.same for e in parts)
        if not plain or self.times[name] != 1 or not (repeated or any(isinstance(e, Reduce) for e in parts)):
            return None
        if variables_read(s.value) & set(self.program.variables) - {a.name for a in axes}:
            return None
        along = [a for a in axes if not _is_one(a)]
        places: dict[str, Expr] = {a.name: b.ZERO for a in axes}
        places |= {a.name: Axis(f"%{k}", a.extent).var for k, a in enumerate(along)}
        value = b.substitute(s.value, places)
        return tuple(self.numbered(a.extent) for a in along), self.numbered(value, len(along))

    def numbered(self, e: Expr, depth: int = 0) -> Expr:
        """The expression with names that others stand for, and axes numbered from outside in."""

        def change(x: Expr) -> Expr | None:
            if not isinstance(x, Reduce):
                return self.renamed(x)
            axes = tuple(Axis(f"%{depth + k}", self.numbered(a.extent, depth)) for k, a in enumerate(x.axes))
            body = b.substitute(x.body, {a.name: new.var for a, new in zip(x.axes, axes, strict=True)})
            return replace(x, axes=axes, body=self.numbered(body, depth + len(axes)))

        return b.map_expr(e, change)

    def renamed(self, x: Expr) -> Expr | None:
        match x:
            case Var(name, dtype) if name in self.same:
                return _read(self.same[name][1], [], dtype)
            case Load(buffer, index, dtype) if buffer in self.same:
                made, kept = self.same[buffer]
                assert isinstance(made, n.Define)
                along = [i for a, i in zip(made.axes, index, strict=True) if not _is_one(a)]
                return _read(kept, [b.map_expr(i, self.renamed) for i in along], dtype)
            case _:
                return None


def _is_one(a: Axis) -> bool:
    return b.constant(a.extent) == 1


def _read(s: n.Let | n.Define, along: Sequence[Expr], dtype: str) -> Expr:
    """What a statement makes, at these places of its axes of more than one place."""
    if isinstance(s, n.Let):
        return Var(s.name, dtype)
    places = iter(along)
    return Load(s.buffer, tuple(b.ZERO if _is_one(a) else next(places) for a in s.axes), dtype)


def _name_of(s: n.Stmt) -> str:
    assert isinstance(s, (n.Let, n.Define))
    return s.name if isinstance(s, n.Let) else s.buffer


def _bodies_of(s: n.Stmt) -> Iterable[object]:
    return (s,) if isinstance(s, (n.Loop, n.While, n.If)) else ()


def _without(known: _Known, s: n.Stmt) -> dict[_Key, tuple[n.Let | n.Define, frozenset[str]]]:
    """What is still so behind a statement, and at any time within a loop."""
    changed = buffers_written(s) | scalars_set(s) | ({s.axis} if isinstance(s, n.Loop) else frozenset())
    return {key: (name, needs) for key, (name, needs) in known.items() if needs.isdisjoint(changed)}


def _made_by(s: n.Stmt) -> set[str]:
    """What a statement itself gives a value to."""
    return set() if any(True for _ in _bodies_of(s)) else set(scalars_set(s) | buffers_written(s))
