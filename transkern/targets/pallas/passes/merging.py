"""What XLA would merge, as if numbers were real ones: x / y / z to x / (y * z), (x + c) + d to x + (c + d).

An operand that may be so merged into the operation that reads it goes through `_kept` (`helpers/numbers.py`), behind
which XLA does not see how it was made. So does what XLA may know to be 0.0, as it takes x + 0.0 for x, which is not so
for -0.0.
The rules are those of XLA's algebraic_simplifier.cc; what is written here errs on the side of keeping more.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Apply, Const, Expr, Load, Var
from transkern.ir.traverse import walk

_EXPONENTIALS, _ROOTS = frozenset({"exp", "exp2"}), frozenset({"sqrt", "hypot"})
_QUOTIENTS = frozenset({"divide", "reciprocal"})
_MADE_BY: dict[str, frozenset[str]] = {
    **dict.fromkeys(_EXPONENTIALS, frozenset({"exponential"})),
    **dict.fromkeys(_ROOTS, frozenset({"root"})),
    **dict.fromkeys(_QUOTIENTS, frozenset({"quotient"})),
    "power": frozenset({"power", "quotient"}),
}
_MERGED: dict[str, frozenset[str]] = {
    "add": frozenset({"shifted", "library"}),
    "subtract": frozenset({"shifted", "library"}),
    "multiply": frozenset({"scaled", "exponential", "root"}),
    **dict.fromkeys(_QUOTIENTS, frozenset({"quotient", "exponential", "power", "root", "library"})),
    **dict.fromkeys(("log", "log2", "log10"), frozenset({"exponential", "power", "root", "library"})),
    "power": frozenset({"exponential"}),
}
"""What is merged into an operation."""

_CANCELLING = frozenset({
    "subtract", "bitwise_xor", "logical_xor", "not_equal", "equal", "less", "less_equal", "greater", "greater_equal",
    "floor_divide", "remainder",
})  # fmt: skip
"""Of integers, what is one number where both operands are the same (which XLA sees when they look different, too)."""

_ABSORBING = frozenset({
    "multiply", "bitwise_and", "bitwise_or", "logical_and", "logical_or", "and_then", "or_else", "left_shift",
    "right_shift", "minimum", "maximum", "power",
})  # fmt: skip
"""Of integers, what may be one number where one operand is."""

_TRANSPARENT = ("where", "cast", "positive", "negative")


@dataclass(slots=True)
class Origins:
    """How the names and buffers of a program are made, as far as XLA may see it: on some path, in some iteration."""

    made: dict[str, frozenset[str]] = field(default_factory=dict)
    constants: set[str] = field(default_factory=set)

    def of(self, e: Expr) -> frozenset[str]:
        """By which kinds of operations a value may be made."""
        match e:
            case Var(name=of) | Load(buffer=of):
                return self.made.get(of, frozenset())
            case Apply("multiply", args, _):
                return frozenset({"scaled"} if any(map(self.may_be_constant, args)) else ())
            case Apply("add" | "subtract", args, _):
                return frozenset({"shifted"} if any(map(self.may_be_constant, args)) else ())
            case Apply(op, args, _) if op in _TRANSPARENT:
                return frozenset[str]().union(*map(self.of, args))
            case Apply(op, _, _):
                return _MADE_BY.get(op, frozenset())
            case _:
                return frozenset()

    def may_be_constant(self, e: Expr) -> bool:
        """Whether XLA may know what `e` is: it is made of constants, sizes and positions."""
        match e:
            case Const():
                return True
            case Var(of):
                return of in self.constants or b.is_size_name(of)
            case Load(of):
                return of in self.constants
            case Apply("where", (_, x, y), _):
                return self.may_be_constant(x) or self.may_be_constant(y)
            case Apply(op, args, _) if op in _CANCELLING and not args[0].dtype.startswith(("float", "complex")):
                return True
            case Apply(op, args, dtype) if op in _ABSORBING and not dtype.startswith(("float", "complex")):
                return any(map(self.may_be_constant, args))
            case Apply(_, args, _):
                return all(map(self.may_be_constant, args))
            case _:
                return False

    def are_merged(self, e: Apply) -> Iterator[bool]:
        """For each operand of `e` whether XLA may merge it with `e`."""
        kinds = [self.of(a) for a in e.args]
        for k, kind in enumerate(kinds):
            merged = _MERGED.get(e.op, frozenset()) & kind
            others = [x for i, x in enumerate(e.args) if i != k]
            if e.op in ("add", "subtract") and not any(map(self.may_be_constant, others)):
                merged -= {"shifted"}
            if e.op == "multiply":
                merged &= {"scaled"}.union(*kinds[:k], *kinds[k + 1 :])
            yield bool(merged)


def origins(program: n.Program) -> Origins:
    """What may be seen of how everything in `program` is made."""
    found = Origins({}, {s.axis for s in walk(program.body) if isinstance(s, n.Loop)})
    assigned = list(_assigned(program))
    for of, value in assigned:
        if value is None:
            found.made[of] = frozenset().union(*_MERGED.values())
    before: object = None
    while (now := (dict(found.made), set(found.constants))) != before:
        before = now
        for of, value in assigned:
            if value is not None:
                found.made[of] = found.made.get(of, frozenset()) | found.of(value)
                if found.may_be_constant(value):
                    found.constants.add(of)
    return found


def _assigned(program: n.Program) -> Iterator[tuple[str, Expr | None]]:
    """What each name and buffer may hold; None for what a library made."""
    for s in walk(program.body):
        match s:
            case n.Let(name=of, value=value) | n.Assign(name=of, value=value) | n.Store(buffer=of, value=value):
                yield of, value
            case n.Accumulate(of, _, value):
                yield of, value
            case n.Compact(outputs=outputs, values=values):
                yield from zip(outputs, values, strict=True)
            case n.Scanning(buffer=of, value=value):
                yield of, value
            case n.Library(outs=outs):
                yield from ((of, None) for of in outs)
            case _:
                pass
