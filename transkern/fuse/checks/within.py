"""Checks of all elements before a loop in order that reads just these go into the loop:

    first := the first i of 0 .. n             for i in 0 .. n:
        where k[i] >= m                            guard k[i] < m else an error about k[i]
    guard first < 0 else an error about k[first]   h[k[i]] += w[i]
    for i in 0 .. n:                    to
        h[k[i]] += w[i]

so that the elements come from memory once. What the loop has stored until a check fails is memory of the function's
own, which nobody sees when it raises. Places that the elements decide get names behind the check: C compilers make
several ways of `out[k < 0 ? k + m : k] = out[k < 0 ? k + m : k] + w` there, which take longer by a third.
"""

from __future__ import annotations

from collections.abc import Sequence

from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Expr, Load, Var
from transkern.ir.names import Names
from transkern.ir.traverse import (
    buffers_read,
    buffers_written,
    exprs,
    map_block,
    names_in,
    own_exprs,
    scalars_set,
    variables_read,
    walk,
    walk_expr,
)
from transkern.records import replace

_PLAIN = (n.Let, n.Assign, n.Store)
"""What such a loop is made of: loops inside it have vectors or threads, for which checks are in the way."""


def check_within(program: n.Program) -> n.Program:
    """The program with searches for a failed check in the loops in order behind them, each where nothing but that loop
    can tell; as it was where flags of floats are read."""
    if program.warns:
        return program
    body = list(program.body)
    names = Names.of(program)
    for at in reversed(range(len(body) - 3)):
        found = _moved(program, body, at, names)
        if found is not None:
            target, loop = found
            body[target] = loop
            del body[at : at + 3]
    return replace(program, body=tuple(body))


def _moved(program: n.Program, body: Sequence[n.Stmt], at: int, names: Names) -> tuple[int, n.Loop] | None:
    """Where the loop is that takes in the search which begins at `at`, and what it is then."""
    match body[at : at + 3]:
        case [
            n.Accumulator(name, "first"),
            n.Loop(axis, body=(n.Accumulate(found, "first", failed, Var(position)),)) as search,
            n.Guard(condition, changes="") as guard,
        ] if name == found and axis == position and condition == b.compare("less", Var(name, "index"), b.index(0)):
            pass
        case _:
            return None
    target = at + 3
    while target < len(body) and _fills(body[target]):
        target += 1
    if target == len(body):
        return None
    loop = body[target]
    if not isinstance(loop, n.Loop) or loop.kind != "sequential" or loop.fails or loop.spare is not None:
        return None
    if (loop.start, loop.stop, loop.step) != (search.start, search.stop, search.step):
        return None
    if not all(isinstance(s, _PLAIN) for s in loop.body):
        return None
    if any(name in names_in(s) for i, s in enumerate(body) if not at <= i < at + 3):
        return None
    here = Var(loop.axis, "index")
    asked = b.logical_not(b.substitute(failed, {axis: here}))
    args = tuple(b.substitute(x, {name: here}) for x in guard.args)
    if not _decides(program, asked, loop):
        return None
    if any(variables_read(x) & {name for s in loop.body for name in scalars_set(s)} for x in args):
        return None
    changed = {x for s in body[at + 3 : target + 1] for x in _written(s)}
    if changed & {x for e in (asked, *args) for x in buffers_read(e)}:
        return None
    inside = replace(guard, condition=asked, args=args)
    return target, replace(loop, body=(inside, *_with_named_places(loop, asked, names)))


def _with_named_places(loop: n.Loop, asked: Expr, names: Names) -> tuple[n.Stmt, ...]:
    """The loop's statements with names for the places of stores that what is `asked` about decides by itself."""
    places: dict[Expr, Var] = {}
    lets: list[n.Stmt] = []
    checked = buffers_read(asked)
    for s in loop.body:
        for place in s.index if isinstance(s, n.Store) else ():
            decided = variables_read(place) <= {loop.axis} and buffers_read(place) & checked
            if place not in places and decided and buffers_read(place) <= checked:
                places[place] = Var(names.fresh("at"), place.dtype)
                lets.append(n.Let(places[place].name, place, span=s.span))
    return (*lets, *map_block(loop.body, places.get))


def _fills(s: n.Stmt) -> bool:
    """Whether a statement makes memory, or fills it with what no array decides: no check can be there for its sake."""
    inside = list(walk((s,)))
    if not all(isinstance(x, n.Alloc | n.Loop | n.Store) for x in inside):
        return False
    return not any(isinstance(e, Load) for e in exprs((s,)))


def _written(s: n.Stmt) -> set[str]:
    return {name for x in walk((s,)) for name in buffers_written(x)}


def _decides(program: n.Program, asked: Expr, loop: n.Loop) -> bool:
    """Whether the check of an iteration is all that this iteration needs of the checks, and nobody sees what iterations
    before a failing one have stored.

    An iteration that reads another element of what is checked, or a variable from before the loop, may do so because
    all elements were checked.
    """
    own = {name for s in walk(loop.body) for name in scalars_set(s)} | {loop.axis}
    if any(program.buffers[name].role == "argument" for name in _written(loop)):
        return False
    read = {name for s in loop.body for e in own_exprs(s) for name in variables_read(e)} | set(variables_read(asked))
    if not all(name in own or b.is_size_name(name) for name in read) or variables_read(asked) & (own - {loop.axis}):
        return False
    checked = {x for x in walk_expr(asked) if isinstance(x, Load)}
    names = {x.buffer for x in checked}
    met = {e for e in exprs(loop.body) if isinstance(e, Load) and e.buffer in names}
    return bool(met) and met <= checked
