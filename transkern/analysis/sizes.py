"""The values of sizes: expressions over the sizes and numbers among a call's arguments, as integers or as the symbols
that a framework has in their place."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from transkern.analysis.outcomes import ONE_OF, Outcome
from transkern.ir.expr import Apply, Const, Expr, Var
from transkern.ir.ops import OPS


class Unknown(Exception):
    """A value that only a run has."""


class Calculus(Protocol):
    """What sizes cannot do by Python's operators, where they may be symbols."""

    def maximum(self, a: Any, b: Any) -> Any: ...

    def minimum(self, a: Any, b: Any) -> Any: ...

    def where(self, condition: Any, a: Any, b: Any) -> Any: ...

    def both(self, a: Any, b: Any) -> Any: ...

    def either(self, a: Any, b: Any) -> Any: ...

    def negated(self, a: Any) -> Any: ...

    def same(self, a: Any, b: Any) -> bool: ...


class Integers:
    """The calculus of integers."""

    def maximum(self, a: Any, b: Any) -> Any:
        return max(a, b)

    def minimum(self, a: Any, b: Any) -> Any:
        return min(a, b)

    def where(self, condition: Any, a: Any, b: Any) -> Any:
        return a if condition else b

    def both(self, a: Any, b: Any) -> Any:
        return a and b

    def either(self, a: Any, b: Any) -> Any:
        return a or b

    def negated(self, a: Any) -> Any:
        return not a

    def same(self, a: Any, b: Any) -> bool:
        return bool(a == b)


@dataclass
class Sizes:
    """The values that the expressions of an outcome have in one call.

    `given`: of names. `fresh`, where there is one, makes a symbol for an expression that only a run has a value for,
    from a name for it and what it does not exceed (or None); equal expressions get one symbol.
    """

    outcome: Outcome
    given: dict[str, Any]
    calculus: Calculus = field(default_factory=Integers)
    fresh: Callable[[str, Any], Any] | None = None
    _made: dict[Expr, Any] = field(default_factory=dict)

    def value(self, expr: Expr) -> Any:
        """The value of an expression; raises Unknown where it has none, and `fresh` is None."""
        match expr:
            case Const(value):
                return value
            case Var(name):
                return self._named(expr, name)
            case Apply(op, args) if op in _OPERATORS and all(x.dtype in ("index", "int64", "bool") for x in args):
                return _OPERATORS[op](*map(self.value, args))
            case Apply("maximum", (x, y)):
                return self.calculus.maximum(self.value(x), self.value(y))
            case Apply("minimum", (x, y)):
                return self.calculus.minimum(self.value(x), self.value(y))
            case Apply("where", (condition, x, y)):
                return self.calculus.where(self.value(condition), self.value(x), self.value(y))
            case Apply("and_then" | "logical_and", (x, y)):
                return self.calculus.both(self.value(x), self.value(y))
            case Apply("or_else" | "logical_or", (x, y)):
                return self.calculus.either(self.value(x), self.value(y))
            case Apply("logical_not", (x,)):
                return self.calculus.negated(self.value(x))
            case Apply("floor_divide" | "remainder" as op, (x, y)):
                by = self.value(y)
                if isinstance(by, int) and not by:
                    return self._unknown(expr)
                return self.value(x) // by if op == "floor_divide" else self.value(x) % by
            case Apply("cast", (x,), "index" | "int64") if x.dtype in ("index", "int64", "bool"):
                found = self.value(x)
                return int(found) if isinstance(found, bool) else found
            case Apply(op, (x, y)) if op == ONE_OF:
                try:
                    one, two = self.holds(x), self.holds(y)
                except Unknown:
                    return self._unknown(expr)
                return one if self.calculus.same(one, two) else self._unknown(expr)
            case Apply(op, args, dtype):
                return self._computed(expr, op, args, dtype)
            case _:
                return self._unknown(expr)

    def holds(self, expr: Expr) -> Any:
        """The truth of a condition; raises Unknown where only a run has it."""
        before, self.fresh = self.fresh, None
        try:
            return self.value(expr)
        finally:
            self.fresh = before

    def _computed(self, expr: Expr, op: str, args: tuple[Expr, ...], dtype: str) -> Any:
        """What NumPy computes of numbers that are known (``int(0.5 * len(x))``)."""
        try:
            values = [_held(self.holds(x), x.dtype) for x in args]
        except Unknown:
            return self._unknown(expr)
        function = (lambda x: x) if op == "cast" else OPS[op].numpy if op in OPS else None
        if function is None or any(v is None for v in values):
            return self._unknown(expr)
        with np.errstate(all="ignore"):
            found = np.asarray(function(*values)).astype(_DTYPES.get(dtype, dtype))
        return found.item()

    def _named(self, expr: Expr, name: str) -> Any:
        if name in self.given:
            return self.given[name]
        let = self.outcome.lets.get(name)
        if let is not None:
            before, self.fresh = self.fresh, None
            try:
                self.given[name] = self.value(let)
                return self.given[name]
            except Unknown:
                pass
            finally:
                self.fresh = before
        return self._unknown(expr)

    def _unknown(self, expr: Expr) -> Any:
        if self.fresh is None:
            raise Unknown(expr)
        if expr not in self._made:
            name = expr.name if isinstance(expr, Var) else ""
            try:
                bound = self.holds(self.outcome.bounds[name]) if name in self.outcome.bounds else None
            except Unknown:
                bound = None
            self._made[expr] = self.fresh(name, bound)
        return self._made[expr]


_DTYPES = {"index": "int64"}


def _held(value: Any, dtype: str) -> Any:
    """A number in its type; None for a symbol."""
    if not isinstance(value, (bool, int, float, complex, np.generic)):
        return None
    return np.asarray(value, _DTYPES.get(dtype, dtype))[()]


_OPERATORS: Mapping[str, Callable[..., Any]] = {
    "add": lambda a, b: a + b,
    "subtract": lambda a, b: a - b,
    "multiply": lambda a, b: a * b,
    "negative": lambda a: -a,
    "less": lambda a, b: a < b,
    "less_equal": lambda a, b: a <= b,
    "greater": lambda a, b: a > b,
    "greater_equal": lambda a, b: a >= b,
    "equal": lambda a, b: a == b,
    "not_equal": lambda a, b: a != b,
}


def sizes_of(
    outcome: Outcome, arguments: Mapping[str, Any], calculus: Calculus | None = None,
    fresh: Callable[[str, Any], Any] | None = None,
) -> Sizes:  # fmt: skip
    """The sizes of a call with these arguments, by their paths: arrays (with a `shape`) and numbers."""
    given: dict[str, Any] = dict(outcome.captured)
    for path, dims in outcome.dims.items():
        if path not in arguments:  # an array that the function has found outside
            continue
        for dim, extent in zip(dims, arguments[path].shape, strict=False):
            if isinstance(dim, Var):
                given.setdefault(dim.name, extent)
    given |= {path: arguments[path] for path in outcome.numbers if path in arguments}
    return Sizes(outcome, given, calculus or Integers(), fresh)
