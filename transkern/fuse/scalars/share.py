"""Compute once what stands twice in a block:

total_1 sum= x[i]                  total sum= x[i]
total_2 sum= x[i]          to      …
let mean_1 = total_1 / n           let mean = total / n
let mean_2 = total_2 / n
"""

from __future__ import annotations

from collections import Counter

from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.build import is_size_name
from transkern.ir.expr import Apply, Expr, Load, Var
from transkern.ir.traverse import (
    buffers_read,
    buffers_written,
    map_block,
    scalars_set,
    variables_read,
    walk,
    walk_expr,
    with_bodies,
)  # fmt: skip
from transkern.records import replace


def share_values(program: n.Program) -> n.Program:
    """The program without repeated reductions and `Let`s."""
    return replace(program, body=_block(program.body, program))


def _block(statements: tuple[n.Stmt, ...], program: n.Program) -> tuple[n.Stmt, ...]:
    return _shared(statements, program)[0]


def _shared(statements: tuple[n.Stmt, ...], program: n.Program) -> tuple[tuple[n.Stmt, ...], dict[str, str]]:
    """The statements, and the names that others have taken the place of."""
    gone: dict[str, str] = {}
    out: list[n.Stmt] = []
    known: dict[Expr, Var] = {}
    for statement in statements:
        (s,) = _renamed((statement,), gone) if gone else (statement,)
        if isinstance(s, n.Loop) and s.kind == "parallel":
            s, aliases = _share_accumulates(s, {x.name: x for x in out if isinstance(x, n.Accumulator)})
            if aliases:
                out = [x for x in out if not (isinstance(x, n.Accumulator) and x.name in aliases)]
                gone = {old: aliases.get(new, new) for old, new in gone.items()} | aliases
        elif isinstance(s, n.Let) and s.name not in program.variables and not is_size_name(s.name):
            before = known.get(s.value)
            worth = any(isinstance(e, (Apply, Load)) for e in walk_expr(s.value)) or isinstance(s.value, Var)
            other = before is not None or (isinstance(s.value, Var) and s.value.name not in program.variables)
            if other and s.name not in in_sizes(program):
                same = before if before is not None else s.value
                assert isinstance(same, Var)
                gone = {old: same.name if new == s.name else new for old, new in gone.items()} | {s.name: same.name}
                continue
            if worth and not variables_read(s.value) & set(program.variables):
                known[s.value] = Var(s.name, s.value.dtype)
        if not isinstance(s, n.Let):
            written, changed = buffers_written(s), scalars_set(s)
            known = {
                e: v for e, v in known.items()
                if not (buffers_read(e) & written or variables_read(e) & changed or v.name in changed)
            }  # fmt: skip
        out.append(s)
    return tuple(_inside(s, program) for s in out), gone


def _inside(s: n.Stmt, program: n.Program) -> n.Stmt:
    if isinstance(s, (n.Compact, n.Scanning)):  # what is kept or added up reads what the body binds
        body, gone = _shared(s.body, program)
        names = {old: Var(new, _dtype(s.body, old)) for old, new in gone.items()}
        if isinstance(s, n.Scanning):
            return replace(s, body=body, value=b.substitute(s.value, names))
        values = tuple(b.substitute(v, names) for v in s.values)
        return replace(s, body=body, mask=b.substitute(s.mask, names), values=values)
    if not isinstance(s, n.While):
        return with_bodies(s, lambda body: _block(body, program))
    head, gone = _shared(s.head, program)  # the condition and the body read what the head binds
    condition = b.substitute(s.condition, {old: Var(new, _dtype(s.head, old)) for old, new in gone.items()})
    return replace(s, head=head, condition=condition, body=_block(_renamed(s.body, gone), program))


def _dtype(head: tuple[n.Stmt, ...], name: str) -> str:
    for s in head:
        match s:
            case n.Let(same, value) if same == name:
                return value.dtype
            case n.Accumulator(same, _, dtype) if same == name:
                return dtype
            case _:
                pass
    raise AssertionError(name)


def in_sizes(program: n.Program) -> set[str]:
    """The names that the sizes of arrays are made of: they stay."""
    dims = (d for buffer in program.buffers.values() for d in buffer.dims)
    return set().union(*(variables_read(e) for e in (*dims, *program.bounds.values(), *program.assumptions)))


def _share_accumulates(loop: n.Loop, declared: dict[str, n.Accumulator]) -> tuple[n.Loop, dict[str, str]]:
    seen: dict[tuple[str, Expr, Expr | None, str], str] = {}
    aliases: dict[str, str] = {}
    body: list[n.Stmt] = []
    counts = Counter(s.name for s in walk(loop.body) if isinstance(s, n.Accumulate))
    for s in loop.body:
        if isinstance(s, n.Accumulate) and s.name in declared and counts[s.name] > 1:
            if s.op in ("all", "any", "max", "min") and s in body and not buffers_read(s.value) & buffers_written(loop):
                continue
        elif isinstance(s, n.Accumulate) and s.name in declared:
            key = (s.op, s.value, s.position, declared[s.name].dtype)
            if key in seen:
                aliases[s.name] = seen[key]
                continue
            seen[key] = s.name
        elif buffers_written(s):
            written = buffers_written(s)
            seen = {k: v for k, v in seen.items() if not buffers_read(k[1]) & written}
        body.append(s)
    return replace(loop, body=tuple(body)), aliases


def _renamed(block: tuple[n.Stmt, ...], names: dict[str, str]) -> tuple[n.Stmt, ...]:
    return map_block(block, lambda e: Var(names[e.name], e.dtype) if isinstance(e, Var) and e.name in names else None)
