"""Loops over what their body changes the length of, as Python goes over it: a list is asked at each step whether it has
an element at the next position, a dict or a set whether it has as many keys as at the start."""

from __future__ import annotations

import ast
import copy
from collections.abc import Mapping, Sequence

from transkern.frontend.desugar import has_jumps
from transkern.frontend.values import Hashed, Known, Static, Value

WATCHED = "_transkern_watched"
"""On a loop over a dict or a set: the size is compared at each step."""


def over_list(
    source: Value, first: Value | None, target: ast.expr, body: Sequence[ast.stmt], number: int
) -> tuple[list[ast.stmt], Mapping[str, Value]]:  # fmt: skip
    """A loop over a list, numbered from `first` on (`enumerate`) or not, and what its names stand for:

        for v in l: body    ->    p = 0
                                  while p < len(l): v = l[p]; p += 1; body
    """
    held, position, length, begin = _names(number, "gone over", "position", "length of", "first")
    given: dict[str, Value] = {held: source, position: Static(0), length: Known("builtins.len")}
    item: ast.expr = ast.Subscript(_load(held), _load(position), ast.Load())
    if first is not None:
        given[begin] = first
        item = ast.Tuple([ast.BinOp(_load(position), ast.Add(), _load(begin)), item], ast.Load())
    step = ast.AugAssign(ast.Name(position, ast.Store()), ast.Add(), ast.Constant(1))
    test = ast.Compare(_load(position), [ast.Lt()], [ast.Call(_load(length), [_load(held)], [])])
    return [ast.While(test, [ast.Assign([target], item), step, *body], [])], given


def over_keys(
    source: Value, owner: Value, keyed: Hashed, node: ast.For, target: ast.expr, body: Sequence[ast.stmt], number: int
) -> tuple[list[ast.stmt], Mapping[str, Value]]:  # fmt: skip
    """A loop over a dict or a set, or over `source`, what is in it, and what its names stand for: Python's error where
    there are more keys or fewer than at the start."""
    over, held, size, length, error = _names(number, "gone over", "keyed", "size of", "length of", "error of")
    given: dict[str, Value] = {
        over: source, held: owner, length: Known("builtins.len"), error: Known("builtins.RuntimeError"),
    }  # fmt: skip
    kind = "Set" if keyed.kind == "set" else "dictionary"
    now = ast.Call(_load(length), [_load(held)], [])
    raised = ast.Raise(ast.Call(_load(error), [ast.Constant(f"{kind} changed size during iteration")], []))
    check = ast.If(ast.Compare(_load(size), [ast.NotEq()], [now]), [raised], [])
    again = copy.copy(node)
    again.target, again.iter, again.body = target, _load(over), [check, *body]
    setattr(again, WATCHED, True)
    last: list[ast.stmt] = [] if has_jumps(body, ast.Break) else [copy.deepcopy(check)]
    return [ast.Assign([ast.Name(size, ast.Store())], now), again, *last], given


def _names(number: int, *what: str) -> list[str]:
    """Names that are no text of the user's."""
    return [f"{name} {number}" for name in what]


def _load(name: str) -> ast.Name:
    return ast.Name(name, ast.Load())
