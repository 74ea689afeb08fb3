"""What an iteration stores into one element several times goes there once, from a variable:

    code[i] = 0                                   let code_ = 0
    code[i] = code[i] | (x[i] >= c[i])      to    let code_1 = code_ | (x[i] >= c[i])
    code[i] = code[i] | (y[i] >= c[i])            code[i] = code_1 | (y[i] >= c[i])

A compiler finds that only where it knows that nothing else lies there, which it has forgotten in the functions that it
makes of loops for threads. It is scalar replacement, of statements without a loop, a branch or a check among them.
"""

from __future__ import annotations

from collections.abc import Sequence

from transkern.ir import nodes as n
from transkern.ir.expr import Expr, Load, Var
from transkern.ir.names import Names
from transkern.ir.traverse import buffers_read, exprs, map_own, scalars_set, variables_read, with_bodies
from transkern.records import replace

_PLAIN = (n.Let, n.Assign, n.Store)
"""What may stand between the stores."""

_Place = tuple[str, tuple[Expr, ...]]


def store_once(program: n.Program) -> n.Program:
    """The program in which blocks store into an element once that they stored into several times in a row."""
    names = Names.of(program)
    return replace(program, body=_block(program.body, names))


def _block(statements: Sequence[n.Stmt], names: Names) -> tuple[n.Stmt, ...]:
    out: list[n.Stmt] = []
    row: list[n.Stmt] = []
    for s in statements:
        if isinstance(s, _PLAIN):
            row.append(s)
            continue
        out += _row(row, names)
        row = []
        out.append(with_bodies(s, lambda body: _block(body, names)))
    return (*out, *_row(row, names))


def _row(statements: list[n.Stmt], names: Names) -> list[n.Stmt]:
    """The statements, none of which has statements in it, with one store for each such element."""
    stores: dict[str, list[int]] = {}
    for k, s in enumerate(statements):
        if isinstance(s, n.Store):
            stores.setdefault(s.buffer, []).append(k)
    for buffer, at in stores.items():
        if len(at) > 1 and _is_one_element(statements, buffer, at):
            statements = _held(statements, buffer, at, names)
    return statements


def _is_one_element(statements: list[n.Stmt], buffer: str, at: list[int]) -> bool:
    """Whether all stores into an array, and all loads of it between them, are of one element."""
    first = statements[at[0]]
    assert isinstance(first, n.Store)
    place, between = first.index, statements[at[0] : at[-1] + 1]
    looked_up = frozenset[str]().union(*(buffers_read(i) for i in place))
    named = frozenset[str]().union(*(variables_read(i) for i in place))
    for s in between:
        if isinstance(s, n.Store):
            if s.buffer in looked_up or (s.buffer == buffer and (s.atomic or s.index != place)):
                return False
            if s.buffer == buffer and s.value.dtype != first.value.dtype:
                return False
        if scalars_set(s) & named:
            return False
    loads = (x for x in exprs(between) if isinstance(x, Load) and x.buffer == buffer)
    return all(x.index == place and x.dtype == first.value.dtype for x in loads)


def _held(statements: list[n.Stmt], buffer: str, at: list[int], names: Names) -> list[n.Stmt]:
    """The statements with names for what an element holds between the first and the last store into it."""
    out = statements[: at[0]]
    held: Var | None = None

    def change(e: Expr) -> Expr | None:
        return held if isinstance(e, Load) and e.buffer == buffer and held is not None else None

    for k in range(at[0], at[-1] + 1):
        s = map_own(statements[k], change)
        if isinstance(s, n.Store) and s.buffer == buffer and k != at[-1]:
            held = Var(names.fresh(f"{buffer}_held"), s.value.dtype)
            out.append(n.Let(held.name, s.value, span=s.span))
        else:
            out.append(s)
    return [*out, *statements[at[-1] + 1 :]]
