"""Sets whose order differs between processes: those of texts, whose hashes Python draws anew for each of them.

What a set of numbers, or of tuples of them, is gone through in is the same everywhere. Of others only that is compiled
where no order shows.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

import numpy as np

from transkern import refusals
from transkern.frontend.values.values import Seq, Static, Value

if TYPE_CHECKING:
    from transkern.frontend.context import Context

ORDERLESS = "transkern_orderless"
"""The attribute of a `for` statement that comes to the same in any order of what it runs over."""

_OF_TEXTS = frozenset(["casefold", "endswith", "lower", "lstrip", "rstrip", "startswith", "strip", "upper"])


def is_in_any_order(value: Any) -> bool:
    """Whether Python goes through a set in another order in another process."""
    return isinstance(value, (set, frozenset)) and len(value) > 1 and not all(map(_has_one_hash, value))


def _has_one_hash(value: Any) -> bool:
    """Whether a value's hash is the same in every process: of NaN and None it is their place in memory."""
    if isinstance(value, (tuple, frozenset)):
        return all(map(_has_one_hash, value))
    return isinstance(value, (bool, int, float, complex, np.number, np.bool_)) and bool(value == value)


def _shows(value: Value) -> bool:
    if not isinstance(value, Seq) or value.kind != "set" or len(value.items) < 2:
        return False
    return not all(_has_one_hash(_known(i)) for i in value.items)


def _known(value: Value) -> Any:
    """A value that is known, or a tuple of such; None for any other."""
    if isinstance(value, Seq) and value.kind == "tuple":
        return tuple(map(_known, value.items))
    return value.value if isinstance(value, Static) else None


def check_order(ctx: Context, value: Value) -> None:
    """Refuse what shows the order of a set, where it is not the same in every process."""
    if _shows(value):
        problem = "the order of a set of texts, which is another one in each process"
        ctx.fail(refusals.RUN_TIME_KEYS, problem, "use sorted(…), or a tuple")


def in_any_order(value: Value) -> Value:
    """A set, for what does not ask for its order, as the list of what is in it."""
    return Seq(value.items, "list") if isinstance(value, Seq) and _shows(value) else value


def comparable(value: Value) -> Value:
    """A set, for what only compares what is in it or asks it for the same; where that may raise, its order shows."""
    if not isinstance(value, Seq) or not _shows(value):
        return value
    forms = {_form(_known(i)) for i in value.items}
    return in_any_order(value) if len(forms) == 1 and None not in forms else value


def _form(value: Any) -> Any:
    """What is the same of values that can be compared with each other."""
    if isinstance(value, tuple):
        inner = tuple(map(_form, value))
        return None if None in inner else inner
    if isinstance(value, (bool, int, float)) and value == value:
        return "number"
    return type(value) if isinstance(value, (str, bytes)) else None


def is_orderless(fold: str, value: ast.expr, tests: list[ast.expr]) -> bool:
    """Whether a fold (`any`, `all`, `sum`, `min`, `max`, `set`) of what a generator gives is the same in any order."""
    if not all(map(_has_no_effect, tests)):
        return False
    if fold in ("any", "all", "set"):
        return _has_no_effect(value)
    return fold in ("sum", "min", "max") and _is_integer(value)


def _is_integer(value: ast.expr) -> bool:
    match value:
        case ast.Constant(value=known):
            return isinstance(known, int)
        case ast.Call(ast.Name("len" | "ord"), [ast.Name()], []):
            return True
        case _:
            return False


def _has_no_effect(value: ast.expr) -> bool:
    """Whether an expression of a text only reads: no function of the user's, and nothing that a place may lack."""
    match value:
        case ast.Name() | ast.Constant():
            return True
        case ast.Compare(left=left, comparators=others):
            return all(map(_has_no_effect, [left, *others]))
        case ast.BoolOp(values=values) | ast.Tuple(elts=values):
            return all(map(_has_no_effect, values))
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return _has_no_effect(operand)
        case ast.Call(ast.Attribute(value=ast.Name(), attr=name), args, []) if name in _OF_TEXTS:
            return all(map(_has_no_effect, args))
        case _:
            return _is_integer(value)
