"""Loops over all axes of arrays that lie row behind row become one loop over their elements:

    parallel i in 0 .. n:                           parallel e in 0 .. n * m:
        parallel j in 0 .. m:              to           y[e] = max(a[e + m] + b[e], 0)
            y[i, j] = max(a[i + 1, j] + b[i, j], 0)

    parallel i in 0 .. n:                           parallel e in 0 .. n * m:
        parallel j in 0 .. m:                           accumulator total by sum
            accumulator total by sum                    parallel k in 0 .. l:
            parallel k in 0 .. l:          to               total sum= a[k * n * m + e]
                total sum= a[k, i, j]                   s[e] = total
            s[i, j] = total

    parallel i in 0 .. c:                           parallel i in 0 .. c:
        accumulator total by sum                        accumulator total by sum
        parallel j in 0 .. n:                           parallel j in 0 .. n:
            parallel k in 0 .. h:          to               parallel e in 0 .. h * w:
                parallel l in 0 .. w:                           total sum= x[(j * c + i) * h * w + e]
                    total sum= x[j, i, k, l]            s[i] = total
        s[i] = total

Short rows then cost nothing, threads share the elements evenly, and the vectors of a reduction go on from row to row.
Rows may be moved as wholes, and be those of any position of the axes before; all other axes have to be as long as the
loops. Where an array is read by places in one axis (``x[(i * h + k) * w + l]``), these go on from row to row. What
cannot be one loop as a whole may be in its inner axes (channels, groups of them).

In a loop that is in order nests stay as they are where any of them is no such nest: tiles and carried elements go
through all nests of a step with the same axes.
"""

from __future__ import annotations

from collections.abc import Callable

from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Apply, Expr, Load, Var
from transkern.ir.names import Names
from transkern.ir.traverse import exprs, map_block, walk, walk_expr, with_bodies
from transkern.records import replace


def flatten_loops(program: n.Program) -> n.Program:
    """The program with such nests as single loops."""
    names = Names.of(program)
    return replace(program, body=tuple(_flattened(s, program, names) for s in program.body))


def flatten_sums(program: n.Program) -> n.Program:
    """The same of reductions in kernels alone: there a thread divides to know where an element of several axes is, and
    its next load waits for that."""
    names = Names.of(program)

    def statement(s: n.Stmt) -> n.Stmt:
        if not isinstance(s, n.Kernel):
            return with_bodies(s, lambda body: tuple(map(statement, body)))
        return with_bodies(s, lambda body: tuple(_sums(x, program, names) for x in body))

    return replace(program, body=tuple(map(statement, program.body)))


def _sums(s: n.Stmt, program: n.Program, names: Names) -> n.Stmt:
    nest = _nest(s)
    if len(nest) > 1 and all(isinstance(x, n.Accumulate | n.Let) for x in nest[-1].body):
        return _flat(s, program, names, moved=True) or s
    return with_bodies(s, lambda body: tuple(_sums(x, program, names) for x in body))


def _flattened(s: n.Stmt, program: n.Program, names: Names) -> n.Stmt:
    nest = _nest(s)
    if len(nest) > 1:
        flat = _flat(s, program, names, moved=True)
        if flat is not None:
            return _with_flat_nests(flat, program, names)
    if nest:
        return _with_flat_nests(s, program, names)
    if not isinstance(s, n.Loop | n.While):
        return s
    apart = False

    def inside(block: tuple[n.Stmt, ...]) -> tuple[n.Stmt, ...]:
        nonlocal apart
        made = []
        for x in block:
            flat = _flat(x, program, names, moved=False) if len(_nest(x)) > 1 else with_bodies(x, inside)
            apart |= flat is None
            made.append(flat or x)
        return tuple(made)

    whole = with_bodies(s, inside)
    return s if apart else whole


def _with_flat_nests(s: n.Stmt, program: n.Program, names: Names) -> n.Stmt:
    """The loops with the reductions and stores in them over one axis instead of several, or over as few as can be."""

    def inside(block: tuple[n.Stmt, ...]) -> tuple[n.Stmt, ...]:
        return tuple(made(x) for x in block)

    def made(x: n.Stmt) -> n.Stmt:
        nest = _nest(_from_zero(x))
        if len(nest) > 1 and all(isinstance(y, n.Accumulate | n.Let | n.Store) for y in nest[-1].body):
            return _flat_inside(x, program, names)
        return with_bodies(x, inside) if nest else x

    return with_bodies(s, inside)


def _flat_inside(s: n.Stmt, program: n.Program, names: Names) -> n.Stmt:
    """A nest as one loop, or as few as can be: the inner ones of its loops go over what lies row behind row."""
    counted = _from_zero(s)
    if len(_nest(counted)) < 2:
        return s
    return _flat(counted, program, names, moved=True) or with_bodies(
        s, lambda body: tuple(_flat_inside(x, program, names) for x in body)
    )


def _from_zero(s: n.Stmt) -> n.Stmt:
    """Loops within each other, of which the inner ones may have gone over places, counting from zero."""
    if not isinstance(s, n.Loop):
        return s
    if s.start != b.ZERO and s.step == b.ONE:
        s = from_zero(s)
    return replace(s, body=(_from_zero(s.body[0]),)) if len(s.body) == 1 else s


def from_zero(s: n.Loop) -> n.Loop:
    """A loop with steps of one that counts from zero instead of its start."""
    counter = Var(s.axis)
    place = b.add(counter, s.start)
    return replace(
        s, start=b.ZERO, stop=b.sub(s.stop, s.start), body=map_block(s.body, lambda e: place if e == counter else None)
    )


def _nest(s: n.Stmt) -> list[n.Loop]:
    """Parallel loops with nothing but the next one in them."""
    nest: list[n.Loop] = []
    while isinstance(s, n.Loop) and s.kind == "parallel" and s.start == b.ZERO and s.step == b.ONE:
        nest.append(s)
        if len(s.body) != 1:
            break
        s = s.body[0]
    return nest


def _flat(s: n.Stmt, program: n.Program, names: Names, *, moved: bool) -> n.Stmt | None:
    """The nest as one loop; None: it has to stay. Whether rows may be `moved`."""
    nest = _nest(s)
    body = nest[-1].body
    if any(isinstance(x, n.Loop) and x.spare is not None for x in walk((s,))):
        return None
    if not all(_is_plain(x, moved) for x in walk(body)):
        return None
    axes, extents = tuple(x.axis for x in nest), tuple(x.stop for x in nest)
    element = Var(names.fresh("e"))

    def depends(*index: Expr) -> bool:
        return any(isinstance(e, Var) and e.name in axes for i in index for e in walk_expr(i))

    if depends(*extents):
        return None

    def place(buffer: str, index: tuple[Expr, ...]) -> tuple[Expr, ...] | None:
        """The index by the element."""
        info = program.buffers[buffer]
        if not depends(*index):
            return index
        if len(index) == 1:  # an element's place already, by the axes
            from_element = _linear(index[0], axes, extents, depends) if moved else None
            return None if from_element is None else (b.add(from_element, element),)
        first = next(k for k, i in enumerate(index) if depends(i))
        last = first + len(axes)
        if info.layout != "C" or len(index) != len(info.dims):
            return None
        if index[first + 1 : last] != tuple(Var(x) for x in axes[1:]) or info.dims[first + 1 : last] != extents[1:]:
            return None
        if len(index) == len(axes) and index[0] == Var(axes[0]) and info.dims[0] == extents[0]:
            return (element,)
        by = b.sub(index[first], Var(axes[0]))
        if depends(by, *index[last:]) or not moved:
            return None
        rows = b.ravel((*index[:first], by), info.dims[: first + 1])
        at = b.add(b.mul(rows, b.product(extents[1:])), element)
        return (b.ravel((at, *index[last:]), (b.ONE, *info.dims[last:])),)

    stays = False

    def linear(e: Expr) -> Expr | None:
        nonlocal stays
        if not isinstance(e, Load):
            return None
        index = place(e.buffer, e.index)
        stays |= index is None
        return Load(e.buffer, index, e.dtype) if index else None

    def stored(block: tuple[n.Stmt, ...]) -> tuple[n.Stmt, ...]:
        nonlocal stays
        made = []
        for x in block:
            if isinstance(x, n.Store):
                index = place(x.buffer, x.index)
                stays |= index is None or index == x.index
                x = replace(x, index=index or x.index)
            made.append(with_bodies(x, stored))
        return tuple(made)

    made = map_block(stored(body), linear)
    if stays or depends(*exprs(made)):
        return None  # a position is a value here
    return replace(nest[0], axis=element.name, stop=b.product(extents), body=made)


def _linear(place: Expr, axes: tuple[str, ...], extents: tuple[Expr, ...], depends: Callable[..., bool]) -> Expr | None:
    """What a place adds to the element's number, if it goes from each element to the next by one; else None."""
    terms, _ = b.affine(place)
    last, moving = Var(axes[-1]), [t for t in terms if depends(t)]
    if terms.get(last) != 1:
        return None
    if len(axes) == 1:
        return b.sub(place, last) if moving == [last] else None
    if set(moving) == set(map(Var, axes)):  # by steps of known sizes, multiplied out
        known = b.ravel(tuple(map(Var, axes)), (b.ONE, *extents[1:]))
        return b.sub(place, known) if all(terms.get(t) == count for t, count in b.affine(known)[0].items()) else None
    match [t for t in moving if t != last]:
        case [Apply("multiply", (x, y)) as rows] if terms[rows] == 1 and extents[-1] in (x, y):
            row = y if x == extents[-1] else x
            before = _linear(row, axes[:-1], extents[:-1], depends)
            rest = b.sub(b.sub(place, last), rows)
            return None if before is None else b.add(b.mul(before, extents[-1]), rest)
    return None


_PLAIN = (n.Let, n.Assign, n.Store, n.Accumulator, n.If, n.Loop, n.While, n.Break, n.Continue)


def _is_plain(s: n.Stmt, moved: bool) -> bool:
    """Whether the statement asks nothing of where it is; in a loop in order, besides, whether it is of one element."""
    if not moved:
        return isinstance(s, n.Let | n.Store)
    return isinstance(s, _PLAIN) or (isinstance(s, n.Accumulate) and s.position is None)
