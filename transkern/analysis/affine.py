"""Questions about integers, put to isl: index expressions become linear constraints over symbolic sizes.

What is not linear becomes a symbol of its own: one and the same everywhere where nothing in the loop can change it, a
different one at each place where something may.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from transkern.analysis.accesses import Level
from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Apply, Const, Expr, Load, Var
from transkern.ir.facts import conjuncts
from transkern.ir.traverse import buffers_read, variables_read

if TYPE_CHECKING:
    import islpy as isl

EFFORT = 50_000
"""Operations that isl may spend on one question; beyond that the answer is "not proven"."""

SEARCH = 200_000
"""Operations that isl may spend on an example."""

CASES = 64
"""How many alternatives a question may have when all of them are written out: as many again a further ``or``."""

FACT_CASES = 2
"""How many alternatives one known fact may bring into a question."""

_CONTEXT: list[isl.Context] = []


def context() -> isl.Context:
    """The one isl context of this process; isl is loaded when the first question is asked."""
    if not _CONTEXT:
        import islpy

        _CONTEXT.append(islpy.Context())
    return _CONTEXT[0]


_COMPARISONS = {"less": "<", "less_equal": "<=", "greater": ">", "greater_equal": ">=", "equal": "=", "not_equal": "!="}


@dataclass(slots=True)
class Question:
    """A conjunction of constraints over named integers, under construction.

    `changing` are the scalars, `written` the buffers that the analysed loop may change; `lets` what a name stands for.
    """

    buffers: Mapping[str, n.Buffer]
    changing: set[str]
    written: set[str]
    lets: Mapping[str, Expr]
    parameters: dict[Expr, str] = field(default_factory=dict)
    unknowns: list[str] = field(default_factory=list)
    constraints: list[str] = field(default_factory=list)
    gathered: list[tuple[Load, str, str]] = field(default_factory=list)  # loads of permutations: load, inner text, name
    opaque: dict[tuple[str, Expr], str] = field(default_factory=dict)
    loose: bool = False  # a number that is computed stands for any number: an example need not be true

    def copy(self) -> Question:
        return Question(
            self.buffers, self.changing, self.written, self.lets, dict(self.parameters), list(self.unknowns),
            list(self.constraints), list(self.gathered), dict(self.opaque), self.loose,
        )  # fmt: skip

    def unknown(self) -> str:
        name = f"x{len(self.unknowns)}"
        self.unknowns.append(name)
        return name

    # --- expressions

    def linear(self, e: Expr, names: Mapping[str, str], instance: str) -> str:
        """`e` as isl writes it. `names` are the loop variables of this `instance` of a statement."""
        terms, total = b.affine(e)
        parts = [str(total)] if total or not terms else []
        for atom, factor in terms.items():
            text = self.atom(atom, names, instance)
            parts.append(text if factor == 1 else f"{factor}*({text})")
        return " + ".join(parts)

    def atom(self, e: Expr, names: Mapping[str, str], instance: str) -> str:
        match e:
            case Var(name) if name in names:
                return names[name]
            case Var(name) if name in self.lets and not buffers_read(self.lets[name]) & self.written:
                return f"({self.linear(self.lets[name], names, instance)})"
            case Const(value) if isinstance(value, (bool, int)):
                return str(int(value))
            case Apply("floor_divide" | "remainder" as op, (x, Const(k)), "index") if int(k) > 0:  # type: ignore[arg-type]
                inner = self.linear(x, names, instance)
                return f"floor(({inner})/{k})" if op == "floor_divide" else f"(({inner}) mod {k})"
            case Apply("minimum" | "maximum" as op, (x, y), "index"):
                one, two = self.linear(x, names, instance), self.linear(y, names, instance)
                made, sign = self.unknown(), "<=" if op == "minimum" else ">="
                self.constraints.append(
                    f"(({made} = {one} and {one} {sign} {two}) or ({made} = {two} and {two} {sign} {one}))"
                )
                return made
            case Apply("where", (condition, x, y), "index"):
                holds = self.condition(condition, names, instance)
                fails = self.condition(b.logical_not(condition), names, instance)
                one, two = self.linear(x, names, instance), self.linear(y, names, instance)
                made = self.unknown()
                either = [f"({made} = {one}" + (f" and {holds})" if holds else ")")]
                either.append(f"({made} = {two}" + (f" and {fails})" if fails else ")"))
                self.constraints.append("(" + " or ".join(either) + ")")
                return made
            case Apply("cast", (x,), "index") if x.dtype == "index" or _small(x):
                return f"({self.linear(_as_index(x), names, instance)})"
            case _:
                return self.symbol(e, names, instance)

    def invariant(self, e: Expr) -> bool:
        """Whether nothing in the loop can change `e`."""
        if buffers_read(e) & self.written:
            return False
        for v in variables_read(e):
            if v in self.changing:
                return False
            if v in self.lets and not self.invariant(self.lets[v]):
                return False
        return True

    def stable(self, e: Expr, names: Mapping[str, str]) -> bool:
        """Whether `e` has one value in an execution of a statement, wherever it stands."""
        if buffers_read(e) & self.written:
            return False
        for v in variables_read(e):
            if v in self.lets:
                if not self.stable(self.lets[v], names) and buffers_read(self.lets[v]) & self.written:
                    continue  # a let keeps the value it was given
                if not self.stable(self.lets[v], names):
                    return False
            elif v in self.changing and v not in names:
                return False
        return True

    def symbol(self, e: Expr, names: Mapping[str, str], instance: str) -> str:
        """A name for what is not linear."""
        if self.invariant(e) and not variables_read(e) & set(names):
            if e not in self.parameters:
                made = self.parameters[e] = f"p{len(self.parameters)}"
                load = _load_of(self._resolved(e))
                self.loose |= load is None and not isinstance(e, Var)
                if load is not None and load.buffer in self.buffers:
                    self._within(self.buffers[load.buffer], made, names, instance)
            return self.parameters[e]
        load = _load_of(self._resolved(e))
        self.loose |= load is None
        if not self.stable(e, names):
            return self.unknown()  # it may have another value at each place
        key = (instance, e)
        if key not in self.opaque:
            made = self.opaque[key] = self.unknown()
            if load is not None:
                self._gather(load, made, names, instance)
        return self.opaque[key]

    def _resolved(self, e: Expr) -> Expr:
        while isinstance(e, Var) and e.name in self.lets:
            e = self.lets[e.name]
        if isinstance(e, Apply) and e.op == "cast":
            return Apply("cast", (self._resolved(e.args[0]),), e.dtype)
        return e

    def _gather(self, load: Load, made: str, names: Mapping[str, str], instance: str) -> None:
        """What is known of an element of an index array that the loop does not change."""
        info = self.buffers.get(load.buffer)
        if info is None or load.buffer in self.written or len(load.index) != 1:
            return
        self._within(info, made, names, instance)
        where = self.linear(load.index[0], names, instance)
        for other, place, name in self.gathered:
            if other.buffer != load.buffer or name == made:
                continue
            if info.permutation:
                self.constraints.append(
                    f"(({made} = {name} and {where} = {place}) or ({made} != {name} and {where} != {place}))"
                )
            else:
                self.constraints.append(f"({made} = {name} or {where} != {place})")
        self.gathered.append((load, where, made))

    def _within(self, info: n.Buffer, made: str, names: Mapping[str, str], instance: str) -> None:
        """What is known of every element of a buffer."""
        if info.low is not None and info.high is not None:
            low = self.linear(info.low, names, instance)
            self.constraints.append(f"{low} <= {made} < {self.linear(info.high, names, instance)}")

    # --- conditions

    def condition(self, e: Expr, names: Mapping[str, str], instance: str) -> str:
        """The linear part of a condition; empty where there is none."""
        parts = []
        for part in conjuncts(self._resolved(e) if isinstance(e, Var) else e):
            text = self._comparison(part, names, instance)
            if text:
                parts.append(text)
        return " and ".join(parts)

    def _comparison(self, e: Expr, names: Mapping[str, str], instance: str) -> str:
        match e:
            case Apply(op, (x, y), "bool") if op in _COMPARISONS and _integral(x) and _integral(y):
                one = self.linear(_as_index(x), names, instance)
                return f"{one} {_COMPARISONS[op]} {self.linear(_as_index(y), names, instance)}"
            case Apply("logical_not", (Apply("or_else", (x, y), _),), _):
                parts = [self.condition(b.logical_not(z), names, instance) for z in (x, y)]
                return " and ".join(p for p in parts if p)
            case Apply("logical_not", (Apply("and_then", (x, y), _),), _):
                one = self.condition(b.logical_not(x), names, instance)
                two = self.condition(b.logical_not(y), names, instance)
                return f"(({one}) or ({two}))" if one and two else ""
            case Apply("logical_not", (Apply(op, (x, y), "bool"),), _) if op in _COMPARISONS:
                return self._comparison(Apply(_OPPOSITE[op], (x, y), "bool"), names, instance)
            case Apply("or_else", (x, y), _):
                one = self.condition(x, names, instance)
                two = self.condition(y, names, instance)
                whole = len(conjuncts(x)) == 1 and len(conjuncts(y)) == 1
                return f"(({one}) or ({two}))" if one and two and whole else ""
            case Const(False):
                return "1 = 0"
            case _:
                return ""

    def nonnegative_sizes(self) -> None:
        """Sizes are never negative."""
        for e, p in self.parameters.items():
            if b.is_nonnegative(e):
                self.constraints.append(f"{p} >= 0")

    def inside(self, level: Level, names: Mapping[str, str], instance: str) -> None:
        """The variable of a counted loop is one of its values."""
        v = names[level.axis]
        around = {k: name for k, name in names.items() if k != level.axis}
        start = self.linear(level.start, around, instance)
        stop = self.linear(level.stop, around, instance)
        self.require(f"{start} <= {v} < {stop}" if level.step > 0 else f"{stop} < {v} <= {start}")
        if abs(level.step) != 1:
            self.require(f"({v} - ({start})) mod {abs(level.step)} = 0")

    def with_fact(self, fact: Expr) -> Question:
        """The question with a fact about what the loop does not change, unless it costs a proof more than it helps."""
        more = self.copy()
        more.require(more.condition(fact, {}, "0"))
        added = more.constraints[len(self.constraints) :]
        return more if sum(text.count(" or ") for text in added) <= FACT_CASES else self

    def require(self, text: str) -> None:
        if text:
            self.constraints.append(text)

    # --- answers

    def set(self, extra: Iterable[str] = ()) -> isl.Set:
        text = (
            f"[{', '.join(self.parameters.values())}] -> {{ [{', '.join(self.unknowns)}] : "
            + " and ".join([*self.constraints, *extra] or ["1 = 1"])
            + " }"
        )
        import islpy

        return islpy.Set.read_from_str(context(), text)

    def too_wide(self, extra: Iterable[str] = ()) -> bool:
        """Whether alternatives multiply to more cases than isl should see: it writes them out as it reads."""
        cases = 1
        for text in (*self.constraints, *extra):
            cases *= text.count(" or ") + 1
        return cases > CASES

    def sample(self, extra: Iterable[str] = ()) -> dict[str, int] | Unproven | None:
        """Values for all names that satisfy the constraints; None where there are none."""
        import islpy

        extra = list(extra)
        if self.too_wide(extra):
            return UNPROVEN
        ctx = context()
        ctx.set_max_operations(EFFORT)
        ctx.reset_operations()
        try:
            whole = self.set(extra)
            if whole.is_empty():
                return None
            ctx.set_max_operations(SEARCH)
            for limit in (4, 8, 16, 64):
                bounds = [f"0 <= {p} <= {limit}" for p in self.parameters.values()]
                small = self.set([*extra, *bounds]) if bounds else whole
                if not small.is_empty():
                    return self._values(small)
            return self._values(whole)
        except islpy.Error:
            return UNPROVEN
        finally:
            ctx.set_max_operations(0)

    def possible(self, extra: Iterable[str] = ()) -> bool:
        """Whether the constraints can hold together; true where isl does not find out within its effort."""
        import islpy

        extra = list(extra)
        if self.too_wide(extra):
            return True
        ctx = context()
        ctx.set_max_operations(EFFORT)
        ctx.reset_operations()
        try:
            return not self.set(extra).is_empty()
        except islpy.Error:
            return True
        finally:
            ctx.set_max_operations(0)

    def _values(self, found: isl.Set) -> dict[str, int]:
        import islpy

        point = found.sample_point()
        values: dict[str, int] = {}
        for kind, listed in ((islpy.dim_type.param, self.parameters.values()), (islpy.dim_type.set, self.unknowns)):
            for k, name in enumerate(listed):
                values[name] = point.get_coordinate_val(kind, k).to_python()
        return values


class Unproven:
    """isl's effort was not enough."""


UNPROVEN = Unproven()

_OPPOSITE = {
    "less": "greater_equal", "less_equal": "greater", "greater": "less_equal", "greater_equal": "less",
    "equal": "not_equal", "not_equal": "equal",
}  # fmt: skip


def _integral(e: Expr) -> bool:
    return e.dtype == "index" or _small(e)


def _small(e: Expr) -> bool:
    """An integer of a NumPy dtype that is its own value as a Python integer: a plain load or a cast of one."""
    return e.dtype.startswith(("int", "uint")) and (
        isinstance(e, (Load, Const)) or (isinstance(e, Apply) and e.op == "cast" and e.args[0].dtype == "index")
    )


def _as_index(e: Expr) -> Expr:
    match e:
        case Const(value) if isinstance(value, (bool, int)):
            return b.index(int(value))
        case Apply("cast", (x,), dtype) if x.dtype == "index" and dtype != "index":
            return x
        case _:
            return e


def _load_of(e: Expr) -> Load | None:
    while isinstance(e, Apply) and e.op == "cast":
        e = e.args[0]
    return e if isinstance(e, Load) else None
