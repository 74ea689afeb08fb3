"""Where statements read the elements of an array, and whether these are as soon computed there."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set

from transkern.fuse.scalars.places import divides_for
from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.build import affine
from transkern.ir.expr import Apply, Axis, Const, Expr, Load, Reduce, Var
from transkern.ir.traverse import (
    bodies,
    buffers_read,
    buffers_used,
    buffers_written,
    own_exprs,
    variables_read,
    walk_expr,
)

_CHEAP = frozenset({
    "add", "subtract", "multiply", "negative", "absolute", "less", "less_equal", "equal", "not_equal", "greater",
    "greater_equal", "logical_not", "where",
})  # fmt: skip


_OPERATIONS, _LOADS = 2, 3
"""Of a value that is computed anew where it is read."""


def whole_copy(s: n.Stmt, buffers: Mapping[str, n.Buffer]) -> tuple[str, str] | None:
    """Of a statement that copies all of an array into another one of its shape: that one, and the array."""
    match s:
        case n.Define(buffer=new, axes=axes, value=Load(old, index)):
            at = tuple(a.var for a in axes)
        case n.Write(buffer=new, axes=axes, index=at, value=Load(old, index), mask=None):
            pass
        case _:
            return None
    one, other = buffers[new], buffers[old]
    alike = (one.dtype, one.element, one.dims) == (other.dtype, other.element, other.dims)
    whole = at == index == tuple(a.var for a in axes) and tuple(a.extent for a in axes) == one.dims
    return (new, old) if alike and whole else None


def places_read(reader: n.Define | n.Write | n.Scan | n.Let, made: n.Define) -> int:
    """In how many places, beside each other, a statement reads the elements of an array, another one for each of its
    own; 0 where it may read an element again and again that is not as soon computed as loaded. Of elements at places
    that are looked up (`y[k]`) a value of one other element is: it is that element that is looked up."""
    beside = (*reader.index, *([] if reader.mask is None else [reader.mask])) if isinstance(reader, n.Write) else ()
    if any(buffers_read(e) for e in beside):
        return 0
    if divides_for(reader, made.buffer) and not _is_flat(made):
        return 0
    found = set()
    outer = () if isinstance(reader, n.Let) else reader.axes
    for x, axes in _loads(reader.value, outer):
        if x.buffer == made.buffer:
            names = sorted(a.name for a in axes)
            along = _axes_along(x.index, names)
            if len(x.index) != len(made.axes):
                return 0
            if along != names and not (is_cheap(made.value) and _is_where_it_is_read(made)):
                return 0
            if any(slides(i, axes) for i in x.index) and not isinstance(made.value, Load):
                return 0
            if along is None and sum(isinstance(e, Load) for e in walk_expr(made.value)) > 1:
                return 0
            found.add((x.index, axes))
    return len(found)


def _is_where_it_is_read(made: n.Define) -> bool:
    """Whether a value is made of elements that stand in other arrays as they do in its own: no place is computed."""
    places = {a.var for a in made.axes}
    return all(i in places for x in walk_expr(made.value) if isinstance(x, Load) for i in x.index)


def _is_flat(made: n.Define) -> bool:
    """Whether a value is made of nothing but elements that stand in other arrays as they do in its own: places in
    memory of both are the same, though their subscripts may be quotients."""
    axes = tuple(a.var for a in made.axes)
    left = b.map_expr(made.value, lambda e: Const(0, e.dtype) if isinstance(e, Load) and e.index == axes else None)
    return variables_read(left).isdisjoint(a.name for a in made.axes)


def slides(place: Expr, around: Iterable[Axis]) -> bool:
    """Whether windows over elements overlap, of no size that the text says: axes around go by steps of one length."""
    terms, _ = affine(place)
    steps = [abs(terms.get(a.var, 0)) for a in around if not isinstance(a.extent, Const)]
    return max(Counter(filter(None, steps)).values(), default=0) > 1


def _loads(e: Expr, axes: tuple[Axis, ...]) -> Iterator[tuple[Load, tuple[Axis, ...]]]:
    """What an expression loads, each with the axes that it is loaded for, reductions' own among them."""
    left = [(e, axes)]
    while left:
        x, over = left.pop()
        match x:
            case Load(index=index):
                yield x, over
                left += [(i, over) for i in index]
            case Apply(args=args):
                left += [(arg, over) for arg in args]
            case Reduce(axes=own, body=body):
                left.append((body, (*over, *own)))
            case _:
                pass


def reads_beside(reader: n.Stmt, made: n.Define) -> bool:
    """Whether a statement reads of the elements of an array the one of its own place alone: one loop makes both."""
    if not isinstance(reader, (n.Define, n.Write)) or [a.extent for a in reader.axes] != [a.extent for a in made.axes]:
        return False
    own = tuple(a.var for a in reader.axes)
    found = [x for e in own_exprs(reader) for x in walk_expr(e) if isinstance(x, Load) and x.buffer == made.buffer]
    return all(x.index == own for x in found)


def _axes_along(index: Sequence[Expr], axes: Sequence[str]) -> list[str] | None:
    """The axes along which subscripts go by single steps, sorted; None where they go otherwise."""
    found: list[str] = []
    for i in index:
        terms, _ = affine(i)
        own = [t for t in terms if variables_read(t) & set(axes)]
        if len(own) > 1 or any(not isinstance(t, Var) or abs(terms[t]) != 1 for t in own):
            return None
        found += [t.name for t in own if isinstance(t, Var)]
    return sorted(found)


def is_cheap(value: Expr) -> bool:
    """Whether a value is as soon computed as loaded."""
    parts = list(walk_expr(value))
    loads = [x for x in parts if isinstance(x, Load)]
    operations = [x for x in parts if isinstance(x, Apply) and x.dtype != "index"]
    if len(loads) > _LOADS or len(operations) > _OPERATIONS or any(buffers_read(i) for x in loads for i in x.index):
        return False
    return all(x.op in _CHEAP for x in operations)


def may_trap(e: Expr) -> bool:
    """Whether it divides integers by what a check may have kept from being 0."""
    return (
        isinstance(e, Apply) and e.op in ("floor_divide", "remainder") and not e.dtype.startswith("float")
        and not isinstance(e.args[1], Const)
    )  # fmt: skip


def depends_on(condition: Expr, names: Set[str]) -> bool:
    """Whether a condition that holds says anything of `names`: not where it may hold by something else alone."""
    if isinstance(condition, Apply) and condition.op in ("logical_or", "or_else"):
        return all(depends_on(e, names) for e in condition.args)
    return not variables_read(condition).isdisjoint(names)


def shared_bases(program: n.Program) -> set[str]:
    """The arguments of whose memory others are parts."""
    return {p.base for p in program.params if isinstance(p, n.ArrayParam) and p.base}


def touched(s: n.Stmt) -> frozenset[str]:
    """The buffers that a statement itself, not one inside it, reads, writes, makes or returns."""
    if any(True for _ in bodies(s)):
        return frozenset(name for e in own_exprs(s) for name in buffers_read(e))
    made = {s.buffer} if isinstance(s, n.Alloc) else set()
    return frozenset({*buffers_used(s), *buffers_written(s), *made})


def computed(made: n.Define) -> Callable[[Expr], Expr | None]:
    """What puts the values of an array's elements in their place, for `map_expr`."""

    def value(e: Expr) -> Expr | None:
        if not isinstance(e, Load) or e.buffer != made.buffer:
            return None
        return b.substitute(made.value, {a.name: i for a, i in zip(made.axes, e.index, strict=True)})

    return value
