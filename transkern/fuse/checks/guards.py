"""Drop guards that a condition on the path already holds:

while (order.size > 0):                  while (order.size > 0):
    guard (order.size >= 1)      to          let i = order[0]
    let i = order[0]
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from itertools import takewhile

from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Apply, Const, Expr, Var
from transkern.ir.facts import Fact, conjuncts, facts_of, implied, touched
from transkern.ir.library import RAISING
from transkern.ir.traverse import (
    buffers_read,
    buffers_written,
    continued,
    map_block,
    own_exprs,
    scalars_set,
    variables_read,
    walk,
    walk_expr,
    with_bodies,
)
from transkern.records import replace


def drop_proven_guards(program: n.Program) -> n.Program:
    """The program without guards that cannot fail where they stand."""
    return replace(program, body=_block(program.body, []))


def _block(statements: tuple[n.Stmt, ...], facts: list[Fact]) -> tuple[n.Stmt, ...]:
    out: list[n.Stmt] = []
    facts, asked = list(facts), set[Expr]()
    for s in statements:
        if isinstance(s, n.Guard):
            if s.condition in asked or implied(s.condition, facts):
                continue
            facts += facts_of(s.condition)
            asked.add(s.condition)
            out.append(s)
            continue
        changed = scalars_set(s)
        written = buffers_written(s)
        stable = [f for f in facts if not touched(f, changed, written)]
        asked = {e for e in asked if not (variables_read(e) & changed or buffers_read(e) & written)}
        match s:
            case n.While(head, condition, body):
                inner = stable + ([] if head else facts_of(condition))
                out.append(replace(s, head=_block(head, stable), body=_block(body, inner)))
            case n.If(condition, then, orelse):
                out.append(replace(s, then=_block(then, facts + facts_of(condition)), orelse=_block(orelse, facts)))
            case _:
                out.append(with_bodies(s, partial(_block, facts=stable)))
        facts = stable
    return tuple(out)


def hoist_guards(program: n.Program) -> n.Program:
    """Guards move in front of what cannot be seen from outside, allocations, work on temporaries and results, and with
    them what they ask arrays for (the first subscript that is outside); and out of loops that do not change what they
    ask (nor what names mean in it, nor the conditions that they are asked under), where they ask whether the loop runs:

        for i in 0 .. n:                       guard (n <= 0 or size < 2**31)
            guard (size < 2**31)      to       for i in 0 .. n: y[i] = x[i] / size**2
            y[i] = x[i] / size**2

    A call that must fail then fails before it computes, and guards no longer stand between loops, nor in them.
    """
    written = {p.base or p.name for p in program.params if isinstance(p, n.ArrayParam)}
    out: list[n.Stmt] = []
    for s in (x for whole in program.body for x in _outside(whole, written)):
        out.append(s)
        if isinstance(s, n.Guard):
            _hoist(out, written)
    return replace(program, body=tuple(out))


def _outside(s: n.Stmt, arguments: set[str]) -> list[n.Stmt]:
    """A statement, behind those guards of it that ask the same in each iteration, before anything can be seen of it."""
    s = with_bodies(s, lambda body: tuple(x for inner in body for x in _outside(inner, arguments)))
    step = b.constant(s.step) if isinstance(s, n.Loop) else None
    if not isinstance(s, n.Loop) or s.fails or not step or not any(isinstance(x, n.Guard) for x in walk(s.body)):
        return [s]
    changed = scalars_set(s) | {x.axis for x in walk((s,)) if isinstance(x, (n.Loop, n.Compact, n.Scanning))}
    written = buffers_written(s)
    never = b.compare("greater_equal" if step > 0 else "less_equal", s.start, s.stop)
    same: dict[str, Expr] = {}  # the names of what is the same in each iteration
    moved: list[n.Stmt] = []
    left: list[n.Stmt] = []
    for x in s.body:
        if isinstance(x, n.Let):
            value = b.map_expr(x.value, partial(_meaning, same))
            if not variables_read(value) & changed and not buffers_read(value):
                same[x.name] = value
        guards = _asked(x, same)
        if guards and all(
            not variables_read(e) & changed and not buffers_read(e) & written for y in guards for e in own_exprs(y)
        ) and all(_harmless(y, arguments) for y in left):
            moved += (replace(y, condition=b.either(never, y.condition)) for y in guards)
        else:
            left.append(x)
    return [*moved, replace(s, body=tuple(left))]


def _asked(s: n.Stmt, same: Mapping[str, Expr]) -> list[n.Guard]:
    """What a statement asks that does nothing but ask, with what names in it mean."""
    match s:
        case n.Guard():
            (meant,) = map_block((s,), partial(_meaning, same))
            assert isinstance(meant, n.Guard)
            return [meant]
        case n.If(condition, then, orelse) if not orelse and all(isinstance(x, n.Guard) for x in then):
            asked = b.logical_not(b.map_expr(condition, partial(_meaning, same)))
            guards = [y for x in then for y in _asked(x, same)]
            return [replace(y, condition=b.either(asked, y.condition)) for y in guards]
        case _:
            return []


def _meaning(same: Mapping[str, Expr], e: Expr) -> Expr | None:
    return same.get(e.name) if isinstance(e, Var) else None


def _hoist(out: list[n.Stmt], arguments: set[str]) -> None:
    """Moves the last statement, a guard, as far to the front as it goes, with the reductions that it needs."""
    needs: set[str] = set()
    reads: set[str] = set()
    moved: list[n.Stmt] = []
    stay: list[n.Stmt] = []
    at = len(out)
    while at:
        s = out[at - 1]
        if s is out[-1] or (scalars_set(s) & needs and _only_reduces(s)):
            asked = [e for x in walk((s,)) for e in own_exprs(x)]
            needs |= {v for e in asked for v in variables_read(e)} | continued((s,))
            reads |= {name for e in asked for name in buffers_read(e)}
            moved.append(s)
        elif not _harmless(s, arguments) or scalars_set(s) & needs or (buffers_written(s) | _allocated(s)) & reads:
            break
        else:
            stay.append(s)
        at -= 1
    out[at:] = [*reversed(moved), *reversed(stay)]


def _allocated(s: n.Stmt) -> set[str]:
    return {x.buffer for x in walk((s,)) if isinstance(x, n.Alloc)}


def _only_reduces(s: n.Stmt) -> bool:
    """Whether a statement computes numbers, and nothing else."""
    return all(isinstance(x, (n.Let, n.Accumulator, n.Accumulate, n.Loop)) for x in walk((s,)))


def _harmless(s: n.Stmt, arguments: set[str]) -> bool:
    """Whether nobody can tell that the statement did not run before an error."""
    if buffers_written(s) & arguments:
        return False
    return not any(isinstance(x, (n.Guard, n.Return, n.While, n.Break, n.Continue)) or _is_seen(x) for x in walk((s,)))


_SEEN = RAISING | {"print", "discarded", "drawn"}


def _is_seen(s: n.Stmt) -> bool:
    """Whether a library step has an effect besides its outputs: it prints, warns, draws, or may raise an error."""
    return isinstance(s, n.Library) and s.name in _SEEN


def unify_sizes(program: n.Program) -> n.Program:
    """After a guard at the front that two sizes are equal, one name serves for both:

    guard (h == h4 // 4)            guard (h == h4 // 4)
    for j < h4 // 4: …       to     for j < h: …

    also where one is made of sizes that have a name (``let k = n * (m + 1)``), and behind one that a difference is no
    negative number, a length is that: ``max(n - 2, 0)`` is ``n - 2``, and ``min(n, 2)`` is 2. What a check before has
    made sure is not checked again.
    """
    body = list(program.body)
    buffers = dict(program.buffers)
    entry = _entry(program)
    named: set[str] = set()  # sizes that are made of others
    facts: list[Fact] = []

    def length(e: Expr) -> Expr | None:
        match e:
            case Apply("maximum" | "minimum" as op, (u, Const() as k), "index"):
                inner = b.map_expr(u, length)
                if implied(b.compare("greater_equal", inner, k), facts):
                    return inner if op == "maximum" else k
                return b.rebuild(e, (inner, k))  # not None, or each bound would look again into all that it bounds
        return None

    position = 0
    while position < len(body):
        first = body[position]
        if isinstance(first, n.Let) and _is_size(first, entry, body[position + 1 :]):
            entry.add(first.name)
            named.add(first.name)
            position += 1
            continue
        if not isinstance(first, n.Guard):
            break
        (s,) = map_block((first,), length)
        assert isinstance(s, n.Guard)
        if s.condition == b.TRUE or implied(s.condition, facts):
            del body[position]
            continue
        body[position] = s
        position += 1
        for old, new in same_sizes(s.condition):
            if isinstance(new, Var) and new.name in named and not variables_read(old) & named:
                old, new = new, old
            if variables_read(old) | variables_read(new) <= entry and not (
                variables_read(new) & named and not variables_read(old) & named
            ):
                body[position:] = with_one_name(body[position:], buffers, buffers, old, new)
        facts += _facts_at_entry(s.condition, entry)
    if facts:
        body[position:] = _with_sizes(body[position:], buffers, buffers, length)
    return replace(program, body=tuple(body), buffers=buffers)


def _is_size(s: n.Let, entry: set[str], behind: Iterable[n.Stmt]) -> bool:
    """Whether a name is a size that is known when a call begins, for good."""
    if s.value.dtype != "index" or buffers_read(s.value) or not variables_read(s.value) <= entry:
        return False
    return not any(s.name in scalars_set(x) for x in walk(tuple(behind)))


def facts_in_front(program: n.Program) -> list[Fact]:
    """What the checks at a program's beginning make sure of what is known when a call begins."""
    entry = _entry(program)
    front = takewhile(lambda s: isinstance(s, (n.Guard, n.Let)), program.body)
    sure = [s.condition for s in front if isinstance(s, n.Guard)]
    return [f for c in sure for f in _facts_at_entry(c, entry)]


def _facts_at_entry(condition: Expr, entry: set[str]) -> list[Fact]:
    """What a condition says of what is known when a call begins."""
    known = variables_read(condition) <= entry and not buffers_read(condition)
    return facts_of(condition) if known else []


def same_sizes(condition: Expr) -> Iterator[tuple[Expr, Expr]]:
    """What is equal where a condition holds: an expression, and what may stand for it."""
    for part in conjuncts(condition):
        match part:
            case Apply("equal", (x, y), _) if x.dtype == "index" and not buffers_read(part):
                old, new = (x, y) if isinstance(y, Var) else (y, x)
                if isinstance(old, (Var, Const)) and not isinstance(new, Const):
                    old, new = new, old
                if not isinstance(old, Const) and new not in set(walk_expr(old)):
                    yield old, new


def with_one_name(
    block: Iterable[n.Stmt], buffers: dict[str, n.Buffer], of: Iterable[str], old: Expr, new: Expr
) -> tuple[n.Stmt, ...]:
    """The statements with `new` for `old`, and so the sizes of the buffers `of` them, which `buffers` notes."""

    def change(e: Expr) -> Expr | None:
        return new if e == old else None

    return _with_sizes(block, buffers, of, change)


def _with_sizes(
    block: Iterable[n.Stmt], buffers: dict[str, n.Buffer], of: Iterable[str], change: Callable[[Expr], Expr | None]
) -> tuple[n.Stmt, ...]:
    """The statements, and the sizes of those buffers that are no arguments, with other expressions in them."""
    for k in of:
        if buffers[k].role != "argument":
            buffers[k] = replace(buffers[k], dims=tuple(b.map_expr(d, change) for d in buffers[k].dims))
    return map_block(tuple(block), change)


def _entry(program: n.Program) -> set[str]:
    """Sizes and scalars known when a call begins."""
    found = {p.name for p in program.params if isinstance(p, n.ScalarParam)}
    for p in program.params:
        if isinstance(p, n.ArrayParam):
            found |= {v for d in p.dims for v in variables_read(d)}
    return found


OTHER_SIZES = "these sizes need other code: transkern made this for larger ones"


def drop_room_checks(program: n.Program) -> n.Program:
    """The program without checks that lists have room, where the memory of all lists without a bound has gone.

    An array as long as such a list is long has as much memory, and needs the checks, too.
    """
    counted = {n.ROOM}
    while more := {k for k, bound in program.bounds.items() if counted & variables_read(bound)} - counted:
        counted |= more
    if any(counted & variables_read(d) for buffer in program.buffers.values() for d in buffer.dims):
        return program

    def block(statements: tuple[n.Stmt, ...]) -> tuple[n.Stmt, ...]:
        kept = (s for s in statements if not (isinstance(s, n.Guard) and s.error == n.NO_ROOM))
        return tuple(with_bodies(s, block) for s in kept)

    return replace(program, body=block(program.body))


def guard_assumptions(program: n.Program) -> n.Program:
    """Assumptions as guards at the front, for code that stands alone."""
    guards = tuple(n.Guard(a, "ValueError", OTHER_SIZES) for a in program.assumptions)
    return replace(program, body=(*guards, *program.body))
