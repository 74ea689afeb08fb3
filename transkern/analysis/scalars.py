"""What a loop's iterations hand to each other in scalars: private ones, running results, carried state."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from transkern.ir import nodes as n
from transkern.ir.expr import Apply, Const, Expr, Var
from transkern.ir.traverse import bodies, once_a_statement, own_exprs, scalars_set, variables_read, walk


@dataclass(frozen=True, slots=True)
class Running:
    """A scalar that an operation runs over: each iteration combines it with a value of its own.

    `op` is the accumulator's, empty where the scalar is only known to be a reduction (an order that matters).
    """

    name: str
    op: str
    node: n.Assign


@dataclass(frozen=True, slots=True)
class Scalars:
    """The scalars that a loop's body sets: in `private` each iteration sets before it reads, `running` are reductions,
    `carried` is the rest."""

    private: frozenset[str]
    running: tuple[Running, ...]
    carried: tuple[str, ...]


def scalars_of(body: Sequence[n.Stmt]) -> Scalars:
    """How the iterations of a loop with this body use the scalars that it sets."""
    bound = {s.name for s in walk(body) if isinstance(s, (n.Let, n.Accumulator))}
    changed = {name for s in body for name in scalars_set(s)}
    private, running, carried = set(), [], []
    read = _flow(body).read
    for name in sorted(changed):
        if name not in read:
            private.add(name)
            continue
        if name in bound:
            private.add(name)
            continue
        found = running_of(body, name)
        if found is None:
            carried.append(name)
        else:
            running.append(found)
    return Scalars(frozenset(private), tuple(running), tuple(carried))


def exposed(body: Iterable[n.Stmt], name: str) -> bool:
    """Whether an execution of the statements may read `name` as it was before them."""
    return name in _flow(body).read


def certain(body: Iterable[n.Stmt], name: str) -> bool:
    """Whether every execution of the statements sets `name`."""
    if any(isinstance(s, (n.Break, n.Continue)) for s in walk(body)):
        return False
    flow = _flow(body)
    return name in flow.set and name not in flow.read


@dataclass(frozen=True, slots=True)
class _Flow:
    """What statements may read of the scalars from before them, and what they set for certain unless they leave."""

    read: frozenset[str]
    set: frozenset[str]
    leaves: bool


_NOTHING: frozenset[str] = frozenset()


def _flow(block: Iterable[n.Stmt]) -> _Flow:
    read: set[str] = set()
    certainly: set[str] = set()
    for s in block:
        step = _step(s)
        read |= step.read - certainly
        certainly |= step.set
        if step.leaves:
            return _Flow(frozenset(read), frozenset(certainly), True)
    return _Flow(frozenset(read), frozenset(certainly), False)


@once_a_statement
def _step(s: n.Stmt) -> _Flow:
    """What a statement does."""
    own = frozenset(name for e in own_exprs(s) for name in variables_read(e))
    match s:
        case n.Let(name) | n.Assign(name) | n.Accumulator(name):
            return _Flow(own, frozenset((name,)), False)
        case n.Accumulate(name):
            return _Flow(own | {name}, _NOTHING, False)
        case n.If(_, then, orelse):
            one, two = _flow(then), _flow(orelse)
            both = two.set if one.leaves else one.set if two.leaves else one.set & two.set
            return _Flow(own | one.read | two.read, both, one.leaves and two.leaves)
        case n.While(head, condition, body):
            first = _flow(head)
            later = _NOTHING if first.leaves else (variables_read(condition) | _flow(body).read) - first.set
            return _Flow(first.read | later, first.set, first.leaves)
        case n.Break() | n.Continue():
            return _Flow(_NOTHING, _NOTHING, True)
        case n.Compact(count=count):
            asked = variables_read(s.start) | variables_read(s.stop) | _flow(s.body).read
            return _Flow((own - {count}) | asked | ({count} if s.append else set()), frozenset((count,)), False)
        case _:
            return _Flow(own.union(*(_flow(inner).read for inner in bodies(s))), _NOTHING, False)


def idempotent(body: Sequence[n.Stmt], name: str) -> bool:
    """Whether all that the body does with `name` is to set it to one constant: who does so last cannot be seen."""
    values = {s.value for s in walk(body) if isinstance(s, n.Assign) and s.name == name}
    read = any(name in variables_read(e) for s in walk(body) for e in own_exprs(s))
    return len(values) == 1 and isinstance(next(iter(values)), Const) and not read


def beside_extreme(body: Sequence[n.Stmt], name: str, running: Iterable[str]) -> bool:
    """Whether `name` is only set where a running maximum or minimum changes: its argument."""
    names = set(running)

    def inside(block: Iterable[n.Stmt]) -> int:
        found = 0
        for s in block:
            if isinstance(s, n.If) and variables_read(s.condition) & names:
                found += sum(isinstance(x, n.Assign) and x.name == name for x in s.then)
            else:
                found += sum(inside(inner) for inner in bodies(s))
        return found

    sets = sum(isinstance(s, n.Assign) and s.name == name for s in walk(body))
    read = any(name in variables_read(e) for s in walk(body) for e in own_exprs(s))
    return bool(names) and not read and sets == inside(body)


_OPS = {"add": "sum", "multiply": "prod", "maximum": "max", "minimum": "min", "or_else": "any", "and_then": "all",
        "bitwise_or": "", "bitwise_and": "", "bitwise_xor": "", "logical_or": "any", "logical_and": "all",
        "fmax": "", "fmin": ""}  # fmt: skip


def running_of(body: Sequence[n.Stmt], name: str) -> Running | None:
    """`name` as a reduction, where all that the body does with it is to combine it with values, by one operation."""
    found: list[tuple[str, n.Assign]] = []
    if not _combines(body, name, found, None) or not found:
        return None
    ops = {op for op, _ in found}
    if len(ops) != 1:
        return None
    return Running(name, ops.pop(), found[0][1])


def _combines(block: Iterable[n.Stmt], name: str, found: list[tuple[str, n.Assign]], guard: Expr | None) -> bool:
    for s in block:
        match s:
            case n.Assign(target, value) if target == name:
                op = combination(value, name) if guard is None else extreme(guard, value, name)
                if op is None:
                    return False
                found.append((op, s))
            case n.If(condition, then, orelse):
                if name in variables_read(condition):
                    # `if x > best: best = x` is a maximum; other scalars set beside it are its arguments
                    here = sum(isinstance(x, n.Assign) and x.name == name for x in then)
                    inside = sum(isinstance(x, n.Assign) and x.name == name for x in walk(then))
                    if orelse or not here or here != inside or not _combines(then, name, found, condition):
                        return False
                elif not (_combines(then, name, found, None) and _combines(orelse, name, found, None)):
                    return False
            case _:
                if any(name in variables_read(e) for e in own_exprs(s)):
                    return False
                if name in scalars_set(s) and not list(bodies(s)):
                    return False
                if not all(_combines(inner, name, found, None) for inner in bodies(s)):
                    return False
    return True


def combination(value: Expr, name: str) -> str | None:
    """The accumulator op of ``name = name op value``; None where it is none."""
    match value:
        case Apply(op, (Var(left), other), _) if left == name and op in _OPS and name not in variables_read(other):
            return _OPS[op]
        case Apply(op, (other, Var(right)), _) if right == name and op in _OPS and name not in variables_read(other):
            return _OPS[op] if op not in ("and_then", "or_else") else ""
        case Apply("subtract", (Var(left), other), dtype) if left == name and name not in variables_read(other):
            return "sum" if _is_integer(dtype) else ""
        case Apply("add" | "subtract", (inner, other), dtype) if name not in variables_read(other):
            inside = combination(inner, name)
            return inside if inside == "sum" and _is_integer(dtype) else "" if inside in ("sum", "") else None
        case Apply("where", (condition, x, y), _):
            return _choice(condition, x, y, name)
        case Apply("cast", (inner,), _):
            return "" if combination(inner, name) is not None else None
        case _:
            return None


def _is_integer(dtype: str) -> bool:
    return dtype == "index" or dtype.startswith(("int", "uint"))


def _choice(condition: Expr, x: Expr, y: Expr, name: str) -> str | None:
    """``x if condition else y`` as a maximum, a minimum, or a combination under a condition."""
    for kept, other in ((x, y), (y, x)):
        if isinstance(kept, Var) and kept.name == name:
            if name not in variables_read(condition):
                if name not in variables_read(other):
                    return None  # a value that is sometimes replaced: the last one counts
                op = combination(other, name)
                return op if op is None or op in ("sum", "prod") else ""
            op = extreme(condition, other, name)
            if op is None:
                return None
            taken = kept is y  # `other if condition else name`
            if not _is_integer(kept.dtype):
                return ""
            return op if taken else {"max": "min", "min": "max"}[op]
    return None


def extreme(condition: Expr, value: Expr, name: str) -> str | None:
    """The op of ``if condition: name = value`` where the condition compares the two."""
    match condition:
        case Apply("less" | "less_equal", (a, c), _):
            small, large = a, c
        case Apply("greater" | "greater_equal", (a, c), _):
            small, large = c, a
        case _:
            return None
    if isinstance(small, Var) and small.name == name and large == value:
        return "max"
    if isinstance(large, Var) and large.name == name and small == value:
        return "min"
    return None
