"""Scalars as a person would write them: the value that an iteration hands to the next is computed in place.

    let s_1 = s + x[i]
    if c: k_2 := k + 1 else: k_2 := k      to      s := s + x[i]
    s := s_1                                       if c: k := k + 1
    k := k_2

The front end names each value once; what a loop carries it copies at the end of an iteration. `coalesce_scalars` takes
the copies away, `drop_dead_scalars` what nobody reads, and `settle_after_loop` what only the last iteration leaves.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from functools import partial

from transkern.fuse.lowering.copies import with_names
from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Expr, Var
from transkern.ir.traverse import (
    bodies,
    buffers_read,
    buffers_written,
    exprs,
    map_block,
    of_all_inside,
    own_exprs,
    own_parts,
    runs,
    scalars_set,
    scalars_used,
    variables_read,
    walk,
    with_bodies,
)  # fmt: skip
from transkern.records import replace


def coalesce_scalars(program: n.Program) -> n.Program:
    """The program without copies of scalars at the ends of iterations and branches."""
    uses = uses_of(program)
    return replace(program, body=_block(program.body, uses, program.variables))


def uses_of(program: n.Program) -> Counter[str]:
    """How often each scalar is read, sizes of allocations included."""
    uses: Counter[str] = Counter()
    for e in exprs(program.body):
        if isinstance(e, Var):
            uses[e.name] += 1
    for s in walk(program.body):
        if isinstance(s, (n.Accumulate,)):
            uses[s.name] += 1
        if isinstance(s, (n.Compact, n.Filter)):
            uses[s.count] += 2
    for buffer in program.buffers.values():
        for e in (*buffer.dims, *(x for x in (buffer.low, buffer.high) if x is not None)):
            for name in variables_read(e):
                uses[name] += 2
    for e in (*program.bounds.values(), *program.assumptions):
        for name in variables_read(e):
            uses[name] += 2
    return uses


def _block(statements: Iterable[n.Stmt], uses: Counter[str], variables: dict[str, str]) -> tuple[n.Stmt, ...]:
    out: list[n.Stmt] = [with_bodies(s, lambda inner: _block(inner, uses, variables)) for s in statements]
    position = 0
    while position < len(out):
        s, length = out[position], len(out)
        match s:
            case n.Assign(target, Var(source)) if source != target and _taken_over(out, position, source, target, uses):
                position -= length - len(out) - 1  # a copy before it went, too
                continue
            case n.Assign(target, Var(source)) if source != target and uses[source] == 1:
                at = _origin(out, position, source, target, variables)
                if at is not None:
                    out[at] = _renamed(out[at], source, target)
                    uses[target] -= _copies_to_itself(out[at], target)
                    del out[position]
                    continue
            case n.Let(name, Var(value)) if _same_until_read(out, position, name, value, uses):
                out[position:] = with_names(out[position + 1 :], {name: value})
                uses[value] += uses.pop(name, 0) - 1
                continue
            case _:
                pass
        position += 1
    return tuple(x for x in map(_tidy, out) if x is not None)


def _copies_to_itself(statement: n.Stmt, name: str) -> int:
    """How often the statement, and those inside it, set `name` to what it is, which `_tidy` drops."""
    if name not in scalars_set(statement):
        return 0
    own = isinstance(statement, n.Assign) and isinstance(value := statement.value, Var) and value.name == name
    return own + sum(_copies_to_itself(s, name) for body in bodies(statement) for s in body)


def _same_until_read(out: list[n.Stmt], position: int, name: str, value: str, uses: Counter[str]) -> bool:
    """Whether a let is another name for `value`, which does not change before the let is read for the last time."""
    left = uses[name]
    for s in out[position + 1 :]:
        left -= _uses_of(s, name)
        if value in scalars_set(s):
            return left == 0 and isinstance(s, n.Assign)
    return left == 0


def _taken_over(out: list[n.Stmt], position: int, source: str, target: str, uses: Counter[str]) -> bool:
    """Whether everything that `source` holds can be in `target` from the start; then it is, and the copies are gone.

    `source` begins as a let, or as a copy of `target` (which an inner loop carries), and nobody looks at `target`
    before the copy back.
    """
    begin = -1
    for at in range(position):
        match out[at]:
            case n.Let(name=name) if name == source:
                begin = at
            case n.Assign(name=name, value=Var(value)) if (name, value) == (source, target):
                begin = at
            case n.If(then=then, orelse=orelse) if source in scalars_set(out[at]) and begin < 0:
                if not _sets_last(then, source, target) or not _sets_last(orelse, source, target):
                    return False
                begin = at
            case _:
                pass
    if begin < 0:
        return False
    part = out[begin : position + 1]
    if sum(_uses_of(s, source) for s in part) != uses[source]:
        return False
    if any(_sets(s, source) for s in (*out[:begin], *out[position + 1 :])):
        return False
    between = part[1:-1]
    if any(target in scalars_used(s) | scalars_set(s) or _leaves(s) for s in between):
        return False
    renamed = with_names(part[:-1], {source: target})
    uses[target] += uses.pop(source) - 1 - isinstance(out[begin], n.Assign)  # the copies go
    first = renamed[0]
    if isinstance(first, n.If):
        uses[target] -= _copies_to_itself(first, target)
    elif isinstance(first, n.Let):
        renamed = (n.Assign(target, first.value, span=first.span), *renamed[1:])
    else:
        renamed = renamed[1:]
    out[begin : position + 1] = renamed
    return True


def _uses_of(statement: n.Stmt, name: str) -> int:
    """How often the statement, and those inside it, read `name`."""
    if name not in scalars_used(statement):
        return 0
    own = sum(isinstance(e, Var) and e.name == name for e in own_parts(statement))
    own += isinstance(statement, n.Accumulate) and statement.name == name
    return own + sum(_uses_of(s, name) for body in bodies(statement) for s in body)


def _sets(statement: n.Stmt, name: str) -> bool:
    """Whether the statement, or one inside it, gives `name` a value by itself."""
    if name not in scalars_set(statement):
        return False
    own = isinstance(statement, (n.Assign, n.Let)) and statement.name == name
    return own or any(_sets(s, name) for body in bodies(statement) for s in body)


@of_all_inside
def _exits(statement: n.Stmt) -> Iterable[str]:
    """What leaves the statement, or one inside it, before its end."""
    return (type(statement).__name__,) if isinstance(statement, (n.Break, n.Continue, n.Return)) else ()


def _leaves(s: n.Stmt) -> bool:
    return bool(_exits(s)) and not isinstance(s, n.Loop)


def _origin(out: list[n.Stmt], position: int, source: str, target: str, variables: dict[str, str]) -> int | None:
    """Where in `out` the copied value is computed, if `target` can be set there at once."""
    for at in range(position - 1, -1, -1):
        s = out[at]
        if isinstance(s, (n.Let, n.Assign)) and s.name == source:
            return at if s.value.dtype == variables.get(target) else None
        if isinstance(s, n.If) and source in scalars_set(s):
            if not _sets_last(s.then, source, target) or not _sets_last(s.orelse, source, target):
                return None
            return at
        if target in scalars_used(s) | scalars_set(s) or source in scalars_set(s):
            return None
        if _exits(s):
            return None  # what leaves here takes the value from before
    return None


def _sets_last(block: Sequence[n.Stmt], source: str, target: str) -> bool:
    """Whether every path sets `source`, and nothing after that looks at `target`."""
    for at in range(len(block) - 1, -1, -1):
        s = block[at]
        if isinstance(s, n.Assign) and s.name == source:
            return True
        if isinstance(s, n.If) and source in scalars_set(s):
            return _sets_last(s.then, source, target) and _sets_last(s.orelse, source, target)
        if target in scalars_used(s) | scalars_set(s) or source in scalars_set(s):
            return False
        if _exits(s):
            return False
    return False


def _renamed(s: n.Stmt, source: str, target: str) -> n.Stmt:
    if isinstance(s, (n.Let, n.Assign)) and s.name == source:
        return n.Assign(target, s.value, span=s.span)
    return with_bodies(s, lambda inner: tuple(_renamed(x, source, target) for x in inner))


def _tidy(s: n.Stmt) -> n.Stmt | None:
    """Without what does nothing: ``k := k`` and empty branches."""
    match s:
        case n.Assign(name, Var(value)) if name == value:
            return None
        case n.If():
            made = with_bodies(s, lambda body: tuple(x for x in map(_tidy, body) if x is not None))
            assert isinstance(made, n.If)
            if made.then or not made.orelse:
                return made if made.then else None
            return replace(made, condition=b.logical_not(made.condition), then=made.orelse, orelse=())
        case _:
            return s


# --- what nobody reads


def drop_dead_scalars(program: n.Program) -> n.Program:
    """The program without scalars that nothing reads, and without loops of nothing else."""
    needed = _needed(program)

    def block(statements: Iterable[n.Stmt]) -> tuple[n.Stmt, ...]:
        out = []
        for s in statements:
            if isinstance(s, (n.Assign, n.Let)) and s.name not in needed:
                continue
            if isinstance(s, n.If):
                s = _tidy(with_bodies(s, block)) or None  # type: ignore[assignment]
                if s is None:
                    continue
            else:
                s = with_bodies(s, block)
            if isinstance(s, n.Loop) and not s.body:
                continue
            out.append(s)
        return tuple(out)

    body = block(program.body)
    variables = {k: v for k, v in program.variables.items() if k in needed}
    return replace(program, body=body, variables=variables)


def _needed(program: n.Program) -> set[str]:
    """The scalars that something other than what sets them needs."""
    needed: set[str] = set()
    sources: dict[str, set[str]] = {}
    for buffer in program.buffers.values():
        for e in (*buffer.dims, *(x for x in (buffer.low, buffer.high) if x is not None)):
            needed |= variables_read(e)
    for e in (*program.bounds.values(), *program.assumptions):
        needed |= variables_read(e)
    for s in walk(program.body):
        if isinstance(s, (n.Assign, n.Let)):
            sources.setdefault(s.name, set()).update(variables_read(s.value))
            continue
        if isinstance(s, (n.Compact, n.Filter)):
            needed.add(s.count)
        if isinstance(s, n.Accumulate):
            needed.add(s.name)
        for e in own_exprs(s):
            needed |= variables_read(e)
    work = list(needed)
    while work:
        for name in sources.pop(work.pop(), ()):
            if name not in needed:
                needed.add(name)
                work.append(name)
    return needed


# --- what the last iteration leaves


def settle_after_loop(program: n.Program) -> n.Program:
    """Variables that a loop only sets, each time anew from its own counter, get their last value after the loop:

    for i in 0 .. n:                     for i in 0 .. n:
        x[i] = 0               to            x[i] = 0
        last := i                        if 0 < n: last := n - 1

    and where each way out of the loop sets them too, the value that they have without one before it:

    for i in 0 .. n:                     if 0 < n: place := n
        if x[i] > y:                     for i in 0 .. n:
            place := i         to            if x[i] > y:
            break                                place := i
        place := i + 1                           break
    """
    return replace(program, body=_settled(program.body))


def _settled(statements: Iterable[n.Stmt]) -> tuple[n.Stmt, ...]:
    out: list[n.Stmt] = []
    for s in statements:
        s = with_bodies(s, _settled)
        if not isinstance(s, n.Loop) or any(isinstance(x, (n.Return, n.Continue)) for x in walk(s.body)):
            out.append(s)
            continue
        leaves = _breaks(s.body)
        changed = scalars_set(s) | {x.axis for x in walk(s.body) if isinstance(x, (n.Loop, n.Compact, n.Scanning))}
        written = buffers_written(s)
        read = {e.name for e in exprs(s.body) if isinstance(e, Var)}
        read |= {x.count for x in walk(s.body) if isinstance(x, (n.Compact, n.Filter))}  # they count on from there
        if leaves:
            read |= {name for e in own_exprs(s) for name in variables_read(e)}
        settled: list[n.Stmt] = []
        body: list[n.Stmt] = []
        for x in s.body:
            if (
                isinstance(x, n.Assign) and x.name not in read
                and not variables_read(x.value) & changed and not buffers_read(x.value) & written
                and all(x.name in names for names in leaves) and not (leaves and buffers_read(x.value))
                and sum(isinstance(y, n.Assign) and y.name == x.name for y in walk(s.body)) == 1 + len(leaves)
            ):  # fmt: skip
                settled.append(x)
            else:
                body.append(x)
        out.append(replace(s, body=tuple(body)))
        if settled:
            values = map_block(tuple(settled), partial(_replaced, Var(s.axis), _last(s)))
            condition = runs(s)
            if condition != b.FALSE:
                out.insert(len(out) - bool(leaves), n.If(condition, values, span=s.span))
    return tuple(out)


def _breaks(block: Iterable[n.Stmt], names: frozenset[str] = frozenset()) -> list[frozenset[str]]:
    """For each statement that leaves the loop whose body `block` is in: the names that are set just before it."""
    out = []
    for s in block:
        match s:
            case n.Break():
                out.append(names)
            case n.If(then=then, orelse=orelse):
                out += _breaks(then) + _breaks(orelse)
            case _:
                pass
        names = names | {s.name} if isinstance(s, n.Assign) else frozenset()
    return out


def _replaced(old: Expr, new: Expr, e: Expr) -> Expr | None:
    return new if e == old else None


def _last(s: n.Loop) -> Expr:
    """The counter's value in the last iteration, where there is one."""
    step = b.constant(s.step) or 1
    if step == 1:
        return b.sub(s.stop, b.ONE)
    if step == -1:
        return b.add(s.stop, b.ONE)
    span = b.sub(s.stop, s.start) if step > 0 else b.sub(s.start, s.stop)
    trips = b.floordiv(b.sub(span, b.ONE), b.index(abs(step)))
    return b.add(s.start, b.mul(b.index(step), trips))


