"""What is known of arrays of which one nest stores all elements, and what reads them by number computes itself.

    alloc k; parallel i in 0 .. n: k[i] = f(x[i])         parallel i in 0 .. n:
    parallel i in 0 .. n:                           to        let k_here = f(x[i])
        atomic h[k[i]] = h[k[i]] + 1                          atomic h[k_here] = h[k_here] + 1

Places of updates (`np.add.at`, `np.bincount`) stand in a loop in order until it is known that the order does not
matter: what makes them is not fused with it before, and went to memory and back.
"""

from __future__ import annotations

from collections import Counter

from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Expr, Load, Var
from transkern.ir.names import Names
from transkern.ir.traverse import (
    buffers_read,
    buffers_used,
    buffers_written,
    exprs,
    map_statement,
    scalars_set,
    variables_read,
    walk,
)
from transkern.records import replace


class Elements:
    """What the elements of arrays are that one nest stores, all of them, of what nothing changes."""

    def __init__(self, program: n.Program) -> None:
        times = Counter(
            name for s in walk(program.body) if not isinstance(s, (n.Alloc, n.Loop, n.While, n.If, n.Kernel))
            for name in buffers_written(s)
        )  # fmt: skip
        self.made: dict[str, tuple[tuple[Expr, ...], Expr]] = {}
        for s in program.body:
            axes: list[n.Loop] = []
            inside: tuple[n.Stmt, ...] = (s,)
            while len(inside) == 1 and isinstance(inside[0], n.Loop) and inside[0].kind == "parallel":
                axes.append(inside[0])
                inside = inside[0].body
            own = {a.axis for a in axes}
            for x in inside:
                if not axes or not isinstance(x, n.Store) or times[x.buffer] != 1:
                    continue
                buffer = program.buffers[x.buffer]
                over = [(Var(a.axis, "index"), a.start, a.step, a.stop) for a in axes]
                whole = over == [(i, b.ZERO, b.ONE, d) for i, d in zip(x.index, buffer.dims, strict=False)]
                fixed = all(not times[name] or name in self.made for name in buffers_read(x.value))
                changes = (variables_read(x.value) - own) & program.variables.keys()
                changes |= variables_read(x.value) & {name for y in inside for name in scalars_set(y)}
                if buffer.role == "temporary" and len(axes) == len(buffer.dims) and whole and fixed and not changes:
                    self.made[x.buffer] = x.index, x.value

    def value(self, e: Expr) -> Expr | None:
        """What is stored where an element is loaded; None of others."""
        if not isinstance(e, Load) or e.buffer not in self.made:
            return None
        axes, made = self.made[e.buffer]
        at = (b.map_expr(i, self.value) for i in e.index)
        return b.substitute(made, {a.name: i for a, i in zip(axes, at, strict=True) if isinstance(a, Var)})


def compute_places(program: n.Program) -> n.Program:
    """The program whose atomic updates compute what nobody else reads."""
    if not any(isinstance(s, n.Store) and s.atomic for s in walk(program.body)):
        return program
    elements, names = Elements(program), Names.of(program)
    kept = {name for x in program.buffers.values() for d in x.dims for name in buffers_read(d)}
    readers: Counter[str] = Counter()
    for s in program.body:
        readers.update(set(_loads(s)) | (buffers_used(s) - buffers_written(s)))
    gone, out = set[str](), list[n.Stmt]()
    for s in program.body:
        if isinstance(s, n.Loop) and s.kind == "parallel" and any(isinstance(x, n.Store) and x.atomic for x in s.body):
            mine = {
                loads[0]: Var(names.fresh(f"{name}_here"), loads[0].dtype) for name, loads in _loads(s).items()
                if name in elements.made and readers[name] == 1 and name not in kept
                and [x.index for x in loads] == [(Var(s.axis, "index"),)]
            }  # fmt: skip
            gone |= {x.buffer for x in mine}
            s = _with_names(s, mine, elements)
        out.append(s)
    return replace(program, body=_without(tuple(out), gone)) if gone else program


def _loads(s: n.Stmt) -> dict[str, list[Load]]:
    """The different loads in a statement, by what they load from."""
    found: dict[str, list[Load]] = {}
    for e in dict.fromkeys(e for e in exprs((s,)) if isinstance(e, Load)):
        found.setdefault(e.buffer, []).append(e)
    return found


def _with_names(s: n.Loop, names: dict[Load, Var], elements: Elements) -> n.Loop:
    """The loop in which loads are names of what is computed at its beginning."""
    lets = [n.Let(v.name, elements.value(x) or x, span=s.span) for x, v in names.items()]
    body = [map_statement(x, lambda e: names.get(e) if isinstance(e, Load) else None) for x in s.body]
    return replace(s, body=(*lets, *body))


def _without(block: tuple[n.Stmt, ...], gone: set[str]) -> tuple[n.Stmt, ...]:
    """The statements without the making of arrays that nobody reads, and loops that have nothing else."""
    out: list[n.Stmt] = []
    for s in block:
        if isinstance(s, (n.Alloc, n.Store)) and s.buffer in gone:
            continue
        if isinstance(s, n.Loop) and buffers_written(s) & gone:
            s = replace(s, body=_without(s.body, gone))
            if not s.body:
                continue
        out.append(s)
    return tuple(out)
