"""Sizes that scalar arguments make, and returns that they decide: JAX must know them when it traces, so such arguments
are static.

    let extent.size = n + 1;  alloc a: float64[extent.size]      to      alloc a: float64[n + 1], and n is static

A size that data make has no such form. Where it is computed outside of all loops and branches, it is asked for: the
function around the jitted one calls that for the number first, and then with the number as a static argument.
"""

from __future__ import annotations

import functools
from dataclasses import replace

from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Apply, Expr, Load, Reduce, Var
from transkern.ir.highest import highest
from transkern.ir.traverse import bodies, exprs, map_block, variables_read, walk, walk_expr, with_bodies
from transkern.targets.pallas.forms.values import Module, scalar_params


def static_scalars(program: n.Program) -> tuple[n.Program, dict[str, str], list[str]]:
    """The program with every dim made of shapes, scalar arguments and sizes that are asked for; the dtypes of the
    scalars, and the names of these sizes.

    Raises CompileError where the size of an array depends on data in another way.
    """
    program = enlarged(program)
    shapes = {v for p in program.params if isinstance(p, n.ArrayParam) for d in p.dims for v in variables_read(d)}
    shapes.add(n.ROOM)
    whole = {p.name for p in program.params if isinstance(p, n.ScalarParam) and _is_integer(p)} & scalar_params(program)
    values: dict[str, set[Expr]] = {}
    for s in walk(program.body):
        if isinstance(s, n.Let):
            values.setdefault(s.name, set()).add(s.value)

    def settled(e: Expr) -> Expr | None:
        """`e` without names of sizes, or None where it depends on data."""
        for _ in range(len(values) + 1):
            if any(isinstance(x, (Load, Reduce)) for x in walk_expr(e)):
                return None
            open_names = variables_read(e) - shapes - whole - set(asked)
            if not open_names:
                return e
            if any(len(values.get(v, ())) != 1 for v in open_names):
                return None
            known = {v: next(iter(values[v])) for v in open_names}
            inlined.update(known)
            e = b.map_expr(e, lambda x: known.get(x.name) if isinstance(x, Var) else None)  # noqa: B023
        return None

    def at_most(e: Expr) -> Expr | None:
        """What a size that data make never exceeds: an array may be longer than what is looked at of it."""
        match e:
            case Apply("minimum", (x, y), _):
                one, two = at_most(x), at_most(y)
                return two if one is None else one if two is None else b.minimum(one, two)
            case Apply("maximum" | "where", (*_, x, y), _):
                one, two = at_most(x), at_most(y)
                return None if one is None or two is None else b.maximum(one, two)
            case _:
                return settled(e)

    def ask(e: Expr) -> None:
        """Notes the sizes in `e` that data make."""
        for of in may_ask:
            if of in variables_read(e) and of not in asked and settled(Var(of, "index")) is None:
                asked.append(of)

    may_ask, asked = sizes_to_ask_for(program), list[str]()
    inlined: dict[str, Expr] = {}
    buffers, static = dict(program.buffers), dict[str, str]()
    for of, buffer in program.buffers.items():
        dims = []
        for d in buffer.dims:
            if settled(d) is None:
                ask(d)
            found = settled(d)
            if found is None and not is_seen_whole(program, of):
                found = at_most(d)
            if found is None:
                raise _depends_on_data(program, of)
            static |= {x.name: x.dtype for x in walk_expr(found) if isinstance(x, Var) and x.name in whole}
            dims.append(found)
        buffers[of] = replace(buffer, dims=tuple(dims))
    for d in [*_view_dims(program), *_asked_before_return(program.body)]:
        ask(d)
        found = settled(d)
        if found is not None:
            static |= {x.name: x.dtype for x in walk_expr(found) if isinstance(x, Var) and x.name in whole}
    asked.sort(key=may_ask.index)  # the first one is told first, whichever array is named first
    if not static:
        return replace(program, buffers=buffers), {}, asked
    names: dict[str, Expr] = {}
    for of in (name for name in inlined if name not in asked):
        made = settled(Var(of, "index"))
        if made is not None:
            names[of] = made
            static |= {x.name: x.dtype for x in walk_expr(made) if isinstance(x, Var) and x.name in whole}
    body = map_block(_without(program.body, set(names)), lambda e: names.get(e.name) if isinstance(e, Var) else None)
    bounds = {k: b.substitute(v, names) for k, v in program.bounds.items() if k not in names}
    return replace(program, buffers=buffers, body=body, bounds=bounds), static, asked


def sizes_to_ask_for(program: n.Program) -> list[str]:
    """The sizes of arrays that JAX may be told when the function is called: those with one value, which is computed
    outside of all loops and branches."""
    found = [s.name for s in walk(program.body) if isinstance(s, n.Let)]
    dims = {v for buffer in program.buffers.values() for d in buffer.dims for v in variables_read(d)}
    return [
        s.name for s in program.body
        if isinstance(s, n.Let) and s.name in dims - program.bounds.keys() and found.count(s.name) == 1
        and s.value.dtype == "index"
    ]  # fmt: skip


_MOST_NODES = 2000
"""Of an array's size, with all names in it replaced by what they stand for."""


def enlarged(program: n.Program, sure: bool = True) -> n.Program:
    """The program with arrays that a loop makes anew as large as the largest of them: JAX has one shape for all.

    If `sure`, raises CompileError where the array as a whole is looked at, or no bound of its sizes is known.
    """
    around: dict[str, tuple[n.Loop, ...]] = {}
    named: dict[str, list[Expr]] = {}

    def note(block: tuple[n.Stmt, ...], loops: tuple[n.Loop, ...]) -> None:
        for s in block:
            if isinstance(s, n.Alloc):
                around[s.buffer] = loops
            elif isinstance(s, n.Let):
                named.setdefault(s.name, []).append(s.value)
            for body in bodies(s):
                note(body, (*loops, s) if isinstance(s, n.Loop) else loops)

    def made_of(e: Expr) -> Expr | None:
        found = named.get(e.name, []) if isinstance(e, Var) else []
        return found[0] if len(found) == 1 and found[0].dtype == "index" else None

    def value(e: Expr) -> Expr | None:
        made = made_of(e)
        return None if made is None else b.map_expr(made, value)

    @functools.cache
    def reads(e: Expr) -> frozenset[str]:
        """The names in what `value` makes."""
        made = {name: made_of(Var(name)) for name in variables_read(e)}
        return frozenset().union(*({name} if of is None else reads(of) for name, of in made.items()))

    @functools.cache
    def nodes(e: Expr) -> int:
        """How many nodes `value` makes: names that stand for two of the one before double with each."""
        return sum(1 if (made := made_of(x)) is None else nodes(made) for x in walk_expr(e))

    note(program.body, ())
    buffers = dict(program.buffers)
    for of, loops in around.items():
        axes = {s.axis for s in loops}
        if not any(reads(d) & axes for d in buffers[of].dims):
            continue
        if any(nodes(d) > _MOST_NODES for d in buffers[of].dims):
            if sure:
                raise _depends_on_data(program, of)
            continue
        dims = tuple(b.map_expr(d, value) for d in buffers[of].dims)
        bounds = [highest(d, loops) if variables_read(d) & axes else d for d in dims]
        if any(d is None for d in bounds) or is_seen_whole(program, of):
            if sure:
                raise _depends_on_data(program, of)
            continue
        buffers[of] = replace(buffers[of], dims=tuple(b.maximum(d, b.ZERO) for d in bounds if d is not None))
    return replace(program, buffers=buffers)


def is_seen_whole(program: n.Program, buffer: str) -> bool:
    """Whether something sees all of a buffer, or counts its elements in one row: then its size matters."""
    rank = len(program.buffers[buffer].dims)
    loads = [e.index for e in exprs(program.body) if isinstance(e, Load) and e.buffer == buffer]
    stores = [s.index for s in walk(program.body) if isinstance(s, (n.Store, n.Scanning)) and s.buffer == buffer]
    return any(len(index) != rank for index in loads + stores) or any(
        isinstance(s, n.Library) and buffer in (*s.ins, *s.outs) for s in walk(program.body)
    )


def _view_dims(program: n.Program) -> list[Expr]:
    """The dims of the results that are views of arguments."""
    todo, found = [s.result for s in walk(program.body) if isinstance(s, n.Return)], list[Expr]()
    while todo:
        match todo.pop():
            case n.ViewResult(dims=dims):
                found += dims
            case n.TupleResult(items):
                todo += items
            case _:
                pass
    return found


def _asked_before_return(block: tuple[n.Stmt, ...]) -> list[Expr]:
    """The conditions under which the function is left early, not in a loop: JAX has no such jumps."""
    found = []
    for s in block:
        if isinstance(s, n.If) and any(isinstance(x, n.Return) for x in walk((s,))):
            found += [s.condition, *_asked_before_return(s.then), *_asked_before_return(s.orelse)]
    return found


def _is_integer(p: n.ScalarParam) -> bool:
    return p.dtype == "index" or p.dtype.startswith(("int", "uint"))


def _without(block: tuple[n.Stmt, ...], names: set[str]) -> tuple[n.Stmt, ...]:
    return tuple(
        with_bodies(s, lambda body: _without(body, names))
        for s in block
        if not (isinstance(s, n.Let) and s.name in names)
    )


def _depends_on_data(program: n.Program, buffer: str) -> Exception:
    for s in walk(program.body):
        if isinstance(s, n.Alloc) and s.buffer == buffer:
            break
    else:
        s = program.body[0]
    return Module.of(program, False).error("an array whose size depends on data has no JAX form", s.span)


def _places(program: n.Program, s: n.Loop) -> Expr:
    """How long a dimension is that has a place for each position of a loop."""
    step = b.constant(s.step)
    if step is not None and step > 0 and b.is_nonnegative(s.start):
        return s.stop if b.constant(s.start) == 0 else b.maximum(s.stop, b.ZERO)
    if step is not None and step < 0 and b.at_least(s.stop, b.index(-1)):
        return b.maximum(b.add(s.start, b.ONE), b.ZERO)
    raise Module.of(program, False).error("memory of its own in each step of such a loop", s.span)


def privatise(program: n.Program) -> n.Program:
    """The program with memory made inside parallel loops made once, with a dimension for each of their axes. Loops with
    compactions go in order, and need no more of it than one of their steps."""
    found: dict[str, list[n.Loop]] = {}
    compacted = {of for s in walk(program.body) if isinstance(s, n.Compact) for of in s.outputs}

    def note(block: tuple[n.Stmt, ...], loops: list[n.Loop]) -> None:
        for s in block:
            if isinstance(s, n.Alloc) and loops and s.buffer not in compacted:
                found[s.buffer] = loops
            parallel = isinstance(s, n.Loop) and s.kind == "parallel"
            inner = [*loops, s] if isinstance(s, n.Loop) and parallel else loops
            if parallel or not isinstance(s, (n.Compact, n.Scanning)):
                for body in bodies(s):
                    note(body, inner)

    note(program.body, [])
    if not found:
        return program
    buffers = dict(program.buffers)
    for of, loops in found.items():
        buffers[of] = replace(buffers[of], dims=(*(_places(program, s) for s in loops), *buffers[of].dims))

    def index(of: str) -> tuple[Expr, ...]:
        return tuple(Var(s.axis, "index") for s in found[of])

    def load(e: Expr) -> Expr | None:
        if isinstance(e, Load) and e.buffer in found:
            return Load(e.buffer, (*index(e.buffer), *(b.map_expr(i, load) for i in e.index)), e.dtype)
        return None

    def stores(block: tuple[n.Stmt, ...]) -> tuple[n.Stmt, ...]:
        return tuple(
            replace(s, index=(*index(s.buffer), *s.index))
            if isinstance(s, (n.Store, n.Scanning)) and s.buffer in found
            else with_bodies(s, stores)
            for s in block
        )

    return replace(program, buffers=buffers, body=stores(map_block(program.body, load)))
