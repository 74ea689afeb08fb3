"""A state that a step of many lanes stores is read from where it was stored:

    parallel i in 0 .. m:                          parallel i in 0 .. m:
        state := 0.0                                   if 0 < n:
        sequential t in 0 .. n:                            y[0, i] = f(x[0, i], 0.0)
            state := f(x[t, i], state)      to         sequential t in 1 .. n:
            y[t, i] = state                                y[t, i] = f(x[t, i], y[t - 1, i])

Lanes that hold a state store it twice in each step: more of them are in a block than a processor has registers for. A
block without states is as wide as rows are read well. Done where all states are stored so, where elements of
neighbouring lanes stand side by side, and where nobody else has a part in what is stored there.
"""

from __future__ import annotations

from collections.abc import Container, Mapping

from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Const, Expr, Load, Var
from transkern.ir.names import Names
from transkern.ir.traverse import (
    buffers_used,
    buffers_written,
    map_statement,
    scalars_set,
    scalars_used,
    variables_read,
    walk,
    with_bodies,
)  # fmt: skip
from transkern.records import replace

_STATEMENTS = 10
"""A step of more statements is not written a second time, for what is before all steps."""


def read_back(program: n.Program) -> n.Program:
    """The program with states of lanes read from the arrays that they are stored into."""
    if not any(isinstance(s, n.Assign) for s in walk(program.body)):
        return program
    state = _Reading(program)
    body = state.block(program.body)
    return program if body == program.body else replace(program, body=body)


class _Reading:
    def __init__(self, program: n.Program) -> None:
        self.program, self.names = program, Names.of(program)

    def block(self, statements: tuple[n.Stmt, ...]) -> tuple[n.Stmt, ...]:
        return tuple(
            self.lanes(s) if isinstance(s, n.Loop) and s.kind == "parallel" else with_bodies(s, self.block)
            for s in statements
        )

    def lanes(self, s: n.Loop) -> n.Loop:
        """The loop over lanes with states read back, if it has one loop over steps."""
        found = [x for x in s.body if isinstance(x, n.Loop) and x.kind == "sequential"]
        if len(found) != 1 or not _is_straight(found[0]):
            return replace(s, body=self.block(s.body))
        (steps,) = found
        at = s.body.index(steps)
        before, behind = s.body[:at], s.body[at + 1 :]
        stored: dict[str, n.Store] = {}
        begun: dict[str, Expr] = {}
        for store in (x for x in steps.body if isinstance(x, n.Store)):
            one = self.begun(store, s, steps, before)
            if one is not None and one[0] not in begun:
                begun[one[0]], stored[one[0]] = one[1], store
        if not begun or {x.name for x in steps.body if isinstance(x, n.Assign)} != begun.keys():
            return s
        rest = tuple(x for x in before if not (isinstance(x, n.Assign) and x.name in begun))
        return replace(s, body=(*rest, *self.steps(steps, stored, begun), *behind))

    def begun(
        self, store: n.Store, s: n.Loop, steps: n.Loop, before: tuple[n.Stmt, ...]
    ) -> tuple[str, Expr] | None:
        """The state that a statement of a step stores, and what it is before all steps."""
        value = store.value
        array = self.program.buffers[store.buffer]
        if not isinstance(value, Var) or not store.index or array.dtype != value.dtype or array.layout != "C":
            return None
        *rows, lane = store.index
        if lane != Var(s.axis, "index") or any(s.axis in variables_read(e) for e in rows):
            return None
        if sum(steps.axis in variables_read(e) for e in rows) != 1:
            return None
        (along,) = (e for e in rows if steps.axis in variables_read(e))
        if variables_read(b.sub(along, Var(steps.axis, "index"))) & {steps.axis}:
            return None
        changed = {name for x in steps.body for name in scalars_set(x)}
        if any(variables_read(e) & changed for e in rows):
            return None
        name, others = value.name, [x for x in s.body if x is not steps] + [x for x in steps.body if x is not store]
        if any(store.buffer in {*buffers_used(x), *buffers_written(x)} for x in others):
            return None
        sets = [k for k, x in enumerate(steps.body) if name in scalars_set(x)]
        first = [x for x in before if name in scalars_set(x)]
        if len(sets) != 1 or sets[0] > steps.body.index(store) or not isinstance(steps.body[sets[0]], n.Assign):
            return None
        if len(first) != 1 or not isinstance(first[0], n.Assign) or not isinstance(first[0].value, Const):
            return None
        outside = sum(name in {*scalars_used(x), *scalars_set(x)} for x in _leaves(self.program.body))
        inside = sum(name in {*scalars_used(x), *scalars_set(x)} for x in _leaves(steps.body)) + 1
        return (name, first[0].value) if outside == inside else None

    def steps(
        self, steps: n.Loop, stored: Mapping[str, n.Store], begun: Mapping[str, Expr]
    ) -> tuple[n.Stmt, ...]:
        axis = Var(steps.axis, "index")
        last: list[n.Stmt] = []
        held: dict[str, Expr] = {}
        for name, store in stored.items():
            index = tuple(b.substitute(e, {steps.axis: b.sub(axis, b.ONE)}) for e in store.index)
            held[name] = Var(made := self.names.fresh(name), store.value.dtype)
            last.append(n.Let(made, Load(store.buffer, index, store.value.dtype), span=steps.span))
        first = self.step(steps, {steps.axis: steps.start, **begun}, begun)
        rest = replace(steps, start=b.add(steps.start, b.ONE), body=(*last, *self.step(steps, held, begun)), spare=None)
        there = b.compare("less", steps.start, steps.stop)
        return *(first if there == b.TRUE else (n.If(there, first, span=steps.span),)), rest

    def step(self, steps: n.Loop, values: Mapping[str, Expr], states: Container[str]) -> tuple[n.Stmt, ...]:
        """The statements of one step, with names of their own for its names and its states."""
        out: list[n.Stmt] = []
        known = dict(values)
        for x in steps.body:
            x = map_statement(x, lambda e: known.get(e.name) if isinstance(e, Var) else None)
            if isinstance(x, n.Let) or (isinstance(x, n.Assign) and x.name in states):
                known[x.name] = Var(made := self.names.fresh(x.name), x.value.dtype)
                x = n.Let(made, x.value, span=x.span)
            out.append(x)
        return tuple(out)


def _leaves(block: tuple[n.Stmt, ...]) -> list[n.Stmt]:
    return [with_bodies(x, lambda _: ()) for x in walk(block)]


def _is_straight(steps: n.Loop) -> bool:
    """Whether steps go by one, and all that they do is to compute names and to store elements."""
    kinds = (n.Let, n.Assign, n.Store)
    return steps.step == b.ONE and len(steps.body) <= _STATEMENTS and all(isinstance(x, kinds) for x in steps.body)
