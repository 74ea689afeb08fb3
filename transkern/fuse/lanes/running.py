"""Running extremes go four iterations at a time:

    for i in 0 .. n:                              for i in 0 .. n - n % 4 by 4:
        top := max(top, p[i])                         a = p[i], b = max(a, p[i + 1]), c = …, d = …
        t[i] = top                        to          t[i] = max(top, a), t[i + 1] = max(top, b), …
                                                      top := max(top, d)
                                                  for i in n - n % 4 .. n: as before

Each maximum of the loop as it is waits for the one before: four cycles an element, or a branch, which a processor
foresees as long as the greatest seldom changes. Extremes are associative, exactly: those of each four have nothing to
do with the other fours, and one operation in four is waited for. An iteration's statements are written once for each of
the four, statement by statement, so that those that are alike stand together.

What is associative is the choice of one of two numbers, with a rule for equal ones: the sign of a zero is kept. A
value that is NaN never takes part where it has to be greater than what there is (`v if v > top else top`);
`np.maximum`, which goes on with NaN, is asked of four at a time whether one is, and then goes one by one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from transkern.analysis.scalars import exposed
from transkern.fuse.lowering.copies import with_own_names
from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Apply, Const, Expr, Var
from transkern.ir.names import Names
from transkern.ir.traverse import (
    buffers_read,
    map_statement,
    own_exprs,
    resolved,
    scalars_set,
    variables_read,
    walk,
    with_bodies,
)  # fmt: skip
from transkern.records import replace

_TOGETHER = 4
"""Iterations at a time: as many as an extreme takes cycles."""
_SHORT = 4 * _TOGETHER
"""A loop that is known to have fewer iterations stays as it is."""
_STATEMENTS = 10
"""Longer iterations do more than to wait for an extreme."""
_CHAINS = 2
"""More extremes than this in one iteration have each other to fill the time."""

_COMPARISONS = {"greater": True, "greater_equal": True, "less": False, "less_equal": False}
"""Whether the first is the greater one where a comparison holds."""


def run_in_fours(program: n.Program) -> n.Program:
    """The program with running extremes of loops in order four iterations at a time."""
    if program.warns or not any(isinstance(s, n.Loop) and s.kind == "sequential" for s in walk(program.body)):
        return program
    state = _Running(program)
    body = state.block(program.body)
    return replace(program, body=body, variables=state.variables, buffers=state.buffers)


@dataclass(frozen=True, slots=True)
class _Extreme:
    """The variable `name` goes on with the `op` (a maximum, a minimum) of what it is and `value`, in the statement `at`
    of an iteration; with the later one of equal ones (`last`) or with the first. `checked`: as long as neither is NaN;
    otherwise a value that is NaN does not take part."""

    name: str
    at: int
    value: Expr
    op: str
    last: bool
    checked: bool

    def of(self, later: Expr, earlier: Expr) -> Expr:
        if not _is_float(later.dtype):
            return Apply(self.op, (later, earlier), later.dtype)
        return Apply(f"number_{self.op}", (earlier, later) if self.last else (later, earlier), later.dtype)

    def begun(self, value: Expr) -> Expr:
        """The first value of four: NaN is none."""
        if self.checked or not _is_float(value.dtype):
            return value
        return self.of(value, Const(float("-inf" if self.op == "maximum" else "inf"), value.dtype))


class _Running:
    def __init__(self, program: n.Program) -> None:
        self.names, self.variables, self.buffers = Names.of(program), dict(program.variables), dict(program.buffers)

    def block(self, statements: tuple[n.Stmt, ...]) -> tuple[n.Stmt, ...]:
        out: list[n.Stmt] = []
        for s in statements:
            s = with_bodies(s, self.block)
            one = replace(s, body=_with_conditions(s.body)) if isinstance(s, n.Loop) and _suits(s) else None
            found = _extremes(one) if one is not None else []
            out += self.in_fours(one, found) if one is not None and found else (s,)
        return tuple(out)

    def in_fours(self, s: n.Loop, found: Sequence[_Extreme]) -> tuple[n.Stmt, ...]:
        four = b.index(_TOGETHER)
        runs = b.maximum(b.sub(s.stop, s.start), b.ZERO)
        stop = b.add(s.start, b.mul(b.floordiv(runs, four), four))
        body = self.four(s, found)
        if any(x.checked for x in found):
            axis = self.names.fresh(s.axis)
            again = replace(s, start=Var(s.axis, "index"), stop=b.add(Var(s.axis, "index"), four), spare=None)
            again = replace(again, axis=axis, body=_with(s.body, {s.axis: Var(axis, "index")}))
            lets = {x.name: x.value for x in s.body if isinstance(x, n.Let)}
            odd: Expr = b.FALSE
            for x in (x for x in found if x.checked):
                made = resolved(x.value, lets)
                one, two, three, last = (b.substitute(made, {s.axis: _next(s, k)}) for k in range(_TOGETHER))
                total = _sum(_sum(_sum(one, two), _sum(three, last)), Var(x.name, made.dtype))
                odd = b.either(odd, Apply("isnan", (total,), "bool"))
            body = (n.If(odd, (self.again(again),), body, span=s.span),)
        fours = replace(s, stop=stop, step=four, body=body, spare=None)
        return fours, self.again(replace(s, start=stop, spare=None))

    def again(self, s: n.Loop) -> n.Loop:
        return with_own_names(s, self.names, self.variables, self.buffers)

    def four(self, s: n.Loop, found: Sequence[_Extreme]) -> tuple[n.Stmt, ...]:
        """Four iterations, statement by statement."""
        out: list[n.Stmt] = []
        known: list[dict[str, Expr]] = [{s.axis: _next(s, k)} for k in range(_TOGETHER)]

        def let(hint: str, value: Expr) -> Var:
            if isinstance(value, Var):
                return value
            name = Var(self.names.fresh(hint), value.dtype)
            out.append(n.Let(name.name, value, span=s.span))
            return name

        extremes = {x.at: x for x in found}
        for at, x in enumerate(s.body):
            extreme = extremes.get(at)
            if extreme is not None:
                values: list[Expr] = [let(f"{extreme.name}_value", b.substitute(extreme.value, of)) for of in known]
                best = [let(f"{extreme.name}_best", extreme.begun(values[0]))]
                for value in values[1:]:
                    best.append(let(f"{extreme.name}_best", extreme.of(value, best[-1])))
                made = [let(extreme.name, extreme.of(e, Var(extreme.name, e.dtype))) for e in best]
                for k, of in enumerate(known):
                    of[extreme.name] = made[k]
                    if isinstance(x, n.Let):
                        of[x.name] = made[k]
                        of[extreme.name] = made[k - 1] if k else Var(extreme.name, made[k].dtype)
            elif isinstance(x, n.Let):
                for of in known:
                    of[x.name] = let(x.name, b.substitute(x.value, of))
            elif isinstance(x, n.Assign):
                for of in known:
                    of[x.name] = b.substitute(x.value, of)
            else:
                for of in known:
                    out += _with((x,), of)
        return *out, *(n.Assign(x.name, known[-1][x.name], span=s.span) for x in found)


def _next(s: n.Loop, k: int) -> Expr:
    return b.add(Var(s.axis, "index"), b.index(k))


def _sum(one: Expr, two: Expr) -> Expr:
    return Apply("add", (one, two), one.dtype)


def _with(block: Sequence[n.Stmt], known: Mapping[str, Expr]) -> tuple[n.Stmt, ...]:
    return tuple(map_statement(x, lambda e: known.get(e.name) if isinstance(e, Var) else None) for x in block)


def _with_conditions(body: tuple[n.Stmt, ...]) -> tuple[n.Stmt, ...]:
    """The statements with the condition of a choice in it that had a name, for nothing else."""
    uses = Counter(name for x in walk(body) for e in own_exprs(x) for name in variables_read(e))
    named: dict[str, Expr] = {}
    inside: dict[str, Expr] = {}
    for x in body:
        if isinstance(x, (n.Let, n.Assign)) and isinstance(x.value, Apply) and x.value.op == "where":
            asked = x.value.args[0]
            if isinstance(asked, Var) and asked.name in named:
                inside[asked.name] = named[asked.name]
        named = {name: e for name, e in named.items() if not variables_read(e) & scalars_set(x)}
        if isinstance(x, n.Let) and x.value.dtype == "bool" and uses[x.name] == 1:
            named[x.name] = x.value
    return _with([x for x in body if not isinstance(x, n.Let) or x.name not in inside], inside) if inside else body


def _suits(s: n.Loop) -> bool:
    """Whether iterations may go four at a time but for the variables that they hand on: none reads what one stores."""
    extent = b.constant(b.sub(s.stop, s.start))
    if s.kind != "sequential" or s.step != b.ONE or len(s.body) > _STATEMENTS:
        return False
    if extent is not None and extent < _SHORT:
        return False
    if not all(isinstance(x, (n.Let, n.Assign, n.Store, n.If)) for x in walk(s.body)):
        return False
    names = [x.name for x in s.body if isinstance(x, n.Let)]
    if len({*names}) < len(names):
        return False
    stored = [x.buffer for x in walk(s.body) if isinstance(x, n.Store)]
    read = {name for x in walk(s.body) for e in own_exprs(x) for name in buffers_read(e)}
    read |= buffers_read(s.start) | buffers_read(s.stop)
    return len({*stored}) == len(stored) and not read & {*stored}


def _extremes(s: n.Loop) -> list[_Extreme]:
    """The variables that iterations hand on, if each is an extreme; none if one of them is not."""
    assigned = {name for x in s.body if not isinstance(x, n.Let) for name in scalars_set(x)}
    if not 0 < len(assigned) <= _CHAINS or (variables_read(s.start) | variables_read(s.stop)) & assigned:
        return []
    if not all(exposed(s.body, name) for name in assigned):
        return []
    lets = {x.name: x.value for x in s.body if isinstance(x, n.Let)}
    found: list[_Extreme] = []
    for name in sorted(assigned):
        one = _extreme(s.body, name)
        if one is None:
            return []
        before = (variables_read(e) for x in s.body[: one.at] for e in own_exprs(x))
        needed = variables_read(resolved(one.value, lets))
        if any(name in variables for variables in before) or name in needed or (one.checked and needed & assigned):
            return []
        found.append(one)
    places = {x.at for x in found}
    if any(isinstance(x, n.If) and at not in places for at, x in enumerate(s.body)):
        return []
    return found if len(places) == len(found) else []


def _extreme(body: Sequence[n.Stmt], name: str) -> _Extreme | None:
    """How an iteration sets a variable, if it is to an extreme of it and a value."""
    sets = [at for at, x in enumerate(body) if name in scalars_set(x)]
    if len(sets) != 1:
        return None
    (at,) = sets
    match body[at]:
        case n.Assign(_, Var(made)) if (let := _let(body[:at], made)) is not None:
            at, value = let
        case n.Assign(_, value):
            pass
        case n.If(condition, (n.Assign(_, then),), ()):
            value = b.where(condition, then, Var(name, then.dtype))
        case _:
            return None
    now, floats = Var(name, value.dtype), _is_float(value.dtype)
    if not floats and not value.dtype.startswith(("int", "uint", "index")):
        return None
    match value:
        case Apply("where", (Apply(asked, (one, other), _), then, otherwise), _) if asked in _COMPARISONS:
            if {one, other} != {then, otherwise} or now not in (one, other) or one == other:
                return None
            new = other if one == now else one
            op = "maximum" if _COMPARISONS[asked] == (then == one) else "minimum"
            last = asked.endswith("equal") == (then == new)
            return _Extreme(name, at, new, op, last, floats and (last or then != new))
        case Apply("maximum" | "minimum" as op, (one, other), _) if now in (one, other) and one != other:
            return _Extreme(name, at, other if one == now else one, op, one == now, floats)
        case _:
            return None


def _is_float(dtype: str) -> bool:
    return dtype in ("float32", "float64")


def _let(block: Sequence[n.Stmt], name: str) -> tuple[int, Expr] | None:
    found = [(at, x.value) for at, x in enumerate(block) if isinstance(x, n.Let) and x.name == name]
    return found[-1] if found else None
