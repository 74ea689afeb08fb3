"""Copies of loops with names of their own."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Set
from typing import TypeVar

from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.build import map_expr
from transkern.ir.expr import Expr, Load, Reduce, Var
from transkern.ir.names import Names
from transkern.ir.traverse import exprs, map_own, of_all_inside, scalars_set, scalars_used, walk, with_bodies
from transkern.records import replace

_WITH_AXES = (n.Define, n.Write, n.Filter, n.Scan, n.Scatter)

_Copied = TypeVar("_Copied", bound=n.Loop | n.While)


def with_own_names(
    loop: _Copied,
    names: Names,
    variables: dict[str, str],
    buffers: dict[str, n.Buffer],
    private: Iterable[str] = (),
) -> _Copied:
    """A copy of `loop` whose axes, lets, accumulators, arrays and `private` variables bear new names.

    They are noted in `variables` and `buffers`: what later becomes of an array in one copy is nothing to the other.
    """
    renamed: dict[str, str] = {}
    for s in walk((loop,)):
        if isinstance(s, (n.Let, n.Accumulator)):
            renamed[s.name] = names.fresh(s.name)
            if s.name in variables:  # it is set again
                variables[renamed[s.name]] = variables[s.name]
        elif isinstance(s, (n.Loop, n.Scanning, n.Compact)):
            renamed[s.axis] = names.fresh(s.axis)
        elif isinstance(s, _WITH_AXES):
            renamed |= {a.name: names.fresh(a.name) for a in s.axes}
    summed = {a.name for e in exprs((loop,)) if isinstance(e, Reduce) for a in e.axes}
    names.taken.update(summed)
    renamed |= {name: names.fresh(name) for name in sorted(summed)}
    for name in sorted(set(private) & set(variables)):
        renamed[name] = names.fresh(name)
        variables[renamed[name]] = variables[name]
    made = with_names((loop,), renamed)
    arrays: dict[str, str] = {}
    for s in walk((loop,)):
        if isinstance(s, (n.Alloc, n.Define)) and s.buffer in buffers and s.buffer not in arrays:
            old, arrays[s.buffer] = buffers[s.buffer], names.fresh(s.buffer)
            dims = tuple(map_expr(d, _renaming(renamed)) for d in old.dims)
            buffers[arrays[s.buffer]] = replace(old, name=arrays[s.buffer], dims=dims)
    (copy,) = with_arrays(made, arrays) if arrays else made
    assert isinstance(copy, type(loop))
    return copy


def with_arrays(block: Iterable[n.Stmt], names: Mapping[str, str]) -> tuple[n.Stmt, ...]:
    """The statements with arrays renamed, where they are made, read and written."""

    def change(e: Expr) -> Expr | None:
        if not isinstance(e, Load) or e.buffer not in names:
            return None
        return Load(names[e.buffer], tuple(map_expr(i, change) for i in e.index), e.dtype)

    def new(name: str) -> str:
        return names.get(name, name)

    out: list[n.Stmt] = []
    for s in block:
        s = map_own(s, change)
        match s:
            case n.Alloc(buffer) | n.Store(buffer=buffer) | n.Scanning(buffer=buffer):
                s = replace(s, buffer=new(buffer))
            case n.Define(buffer=buffer) | n.Write(buffer=buffer) | n.Scatter(buffer=buffer) | n.Scan(buffer=buffer):
                s = replace(s, buffer=new(buffer))
            case n.Compact(outputs=outputs) | n.Filter(outputs=outputs):
                s = replace(s, outputs=tuple(map(new, outputs)))
            case n.Library(outs=outs, ins=ins):
                s = replace(s, outs=tuple(map(new, outs)), ins=tuple(map(new, ins)))
            case n.Return(result):
                s = replace(s, result=_of_arrays(result, names))
            case _:
                pass
        out.append(with_bodies(s, lambda inner: with_arrays(inner, names)))
    return tuple(out)


def _of_arrays(result: n.Result, names: Mapping[str, str]) -> n.Result:
    match result:
        case n.ArrayResult(buffer=buffer) | n.ListResult(buffer=buffer) | n.ViewResult(buffer=buffer):
            return replace(result, buffer=names.get(buffer, buffer))
        case n.TupleResult(items):
            return replace(result, items=tuple(_of_arrays(item, names) for item in items))
        case _:
            return result


def _renaming(names: Mapping[str, str]) -> Callable[[Expr], Expr | None]:
    def change(e: Expr) -> Expr | None:
        if isinstance(e, Var):
            return Var(names[e.name], e.dtype) if e.name in names else None
        if isinstance(e, Reduce) and any(a.name in names for a in e.axes):
            axes = tuple(replace(a, name=names.get(a.name, a.name), extent=map_expr(a.extent, change)) for a in e.axes)
            return replace(e, axes=axes, body=map_expr(e.body, change))
        return None

    return change


@of_all_inside
def _bound(statement: n.Stmt) -> Iterable[str]:
    """The axes that the statement, or one inside it, goes along."""
    if isinstance(statement, (n.Loop, n.Scanning, n.Compact)):
        return (statement.axis,)
    return (a.name for a in statement.axes) if isinstance(statement, _WITH_AXES) else ()


def _has_none_of(statement: n.Stmt, names: Set[str]) -> bool:
    """Whether the statement, and those inside it, neither read nor set nor bind any of these."""
    sets = scalars_used(statement), scalars_set(statement), _bound(statement)
    return all(names.isdisjoint(there) for there in sets)


def with_names(block: Iterable[n.Stmt], names: Mapping[str, str]) -> tuple[n.Stmt, ...]:
    """The statements with scalars renamed, where they are read, set and bound."""
    change, renamed = _renaming(names), frozenset(names)
    out: list[n.Stmt] = []
    for s in block:
        if _has_none_of(s, renamed):
            out.append(s)
            continue
        s = map_own(s, change)
        if isinstance(s, (n.Assign, n.Let, n.Accumulator, n.Accumulate)) and s.name in names:
            s = replace(s, name=names[s.name])
        if isinstance(s, (n.Loop, n.Scanning, n.Compact)) and s.axis in names:
            s = replace(s, axis=names[s.axis])
        if isinstance(s, _WITH_AXES):
            s = replace(s, axes=tuple(replace(a, name=names.get(a.name, a.name)) for a in s.axes))
        if isinstance(s, (n.Compact, n.Filter)) and s.count in names:
            s = replace(s, count=names[s.count])
        out.append(with_bodies(s, lambda inner: with_names(inner, names)))
    return tuple(out)


def element_of(buffer: n.Buffer, view: n.View | None, at: tuple[Expr, ...]) -> Load:
    """What is at a place of a buffer, or of a view of it."""
    if view is None:
        return Load(buffer.name, at, buffer.dtype)
    index = []
    for offset, steps in zip(view.offset, view.steps, strict=True):
        for place, step in zip(at, steps, strict=True):
            offset = b.add(offset, b.mul(step, place))
        index.append(offset)
    return Load(buffer.name, tuple(index), buffer.dtype)
