"""Loops over what their body changes the length of, as Python goes over it: a list is asked at each step whether it has
an element at the next position, a dict or a set whether it has as many keys as at the start."""

from __future__ import annotations

import ast
import copy
from collections.abc import Mapping, Sequence

from transkern.errors import NOT_COMPILED
from transkern.frontend.syntax.desugar import has_jumps, load
from transkern.frontend.values.values import Hashed, Known, Static, Value

WATCHED = "_transkern_watched"
"""On a loop over a dict or a set: the size is compared at each step."""


def over_list(
    source: Value, first: Value | None, backwards: bool, target: ast.expr, body: Sequence[ast.stmt], number: int
) -> tuple[list[ast.stmt], Mapping[str, Value]]:  # fmt: skip
    """A loop over a list, `backwards` (`reversed`) or not, numbered from `first` on (`enumerate`) or not, and what its
    names stand for:

        for v in l: body              ->    p = 0
                                            while p < len(l): v = l[p]; p += 1; body
        for v in reversed(l): body    ->    p = len(l) - 1
                                            while -1 < p < len(l): v = l[p]; p -= 1; body
    """
    held, position, length, begin, top = _names(number, "gone over", "position", "length of", "first", "top")
    given: dict[str, Value] = {held: source, position: Static(0), length: Known("builtins.len")}
    now = ast.Call(load(length), [load(held)], [])
    item: ast.expr = ast.Subscript(load(held), load(position), ast.Load())
    if first is not None:
        given[begin] = first
        count = ast.BinOp(load(top), ast.Sub(), load(position)) if backwards else load(position)
        item = ast.Tuple([ast.BinOp(count, ast.Add(), load(begin)), item], ast.Load())
    step = ast.AugAssign(ast.Name(position, ast.Store()), ast.Sub() if backwards else ast.Add(), ast.Constant(1))
    test = ast.Compare(load(position), [ast.Lt()], [now])
    before: list[ast.stmt] = []
    if backwards:
        test = ast.Compare(ast.Constant(-1), [ast.Lt(), ast.Lt()], [load(position), now])
        stores: list[ast.expr] = [ast.Name(top, ast.Store()), ast.Name(position, ast.Store())]
        before = [ast.Assign(stores, ast.BinOp(now, ast.Sub(), ast.Constant(1)))]
    return [*before, ast.While(test, [ast.Assign([target], item), step, *body], [])], given


def over_keys(
    source: Value, owner: Value, keyed: Hashed, node: ast.For, target: ast.expr, body: Sequence[ast.stmt], number: int
) -> tuple[list[ast.stmt], Mapping[str, Value]]:  # fmt: skip
    """A loop over a dict or a set, or over `source`, what is in it, and what its names stand for: Python's error where
    there are more keys or fewer than at the start."""
    over, held, size, length, error = _names(number, "gone over", "keyed", "size of", "length of", "error of")
    put, all_put = _names(number, "put in", "all put in")
    given: dict[str, Value] = {
        over: source, held: owner, length: Known("builtins.len"), error: Known("builtins.RuntimeError"),
        all_put: keyed.keys,
    }  # fmt: skip
    kind = "Set" if keyed.kind == "set" else "dictionary"
    now, put_now = (ast.Call(load(length), [load(name)], []) for name in (held, all_put))

    def unless(begun: str, now: ast.expr, text: str, orelse: list[ast.stmt]) -> ast.stmt:
        raised = ast.Raise(ast.Call(load(error), [ast.Constant(text)], []))
        return ast.If(ast.Compare(load(begun), [ast.NotEq()], [now]), [raised], orelse)

    others = unless(put, put_now, f"a {keyed.kind} that gets other keys in a loop over it: {NOT_COMPILED}", [])
    check = unless(size, now, f"{kind} changed size during iteration", [others])
    again = copy.copy(node)
    again.target, again.iter, again.body = target, load(over), [check, *body]
    setattr(again, WATCHED, True)
    last: list[ast.stmt] = [] if has_jumps(body, ast.Break) else [copy.deepcopy(check)]
    begin: list[ast.stmt] = [ast.Assign([ast.Name(b, ast.Store())], e) for b, e in ((size, now), (put, put_now))]
    return [*begin, again, *last], given


def _names(number: int, *what: str) -> list[str]:
    """Names that are no text of the user's."""
    return [f"{name} {number}" for name in what]
