"""Loops over what their body changes the length of, as Python goes over it: a list is asked at each step whether it has
an element at the next position, a dict or a set whether it has as many keys as at the start."""

from __future__ import annotations

import ast
import copy
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from transkern import refusals
from transkern.errors import NOT_COMPILED
from transkern.frontend.anew import Terminated
from transkern.frontend.loops import steps
from transkern.frontend.syntax.desugar import has_jumps, load, placed
from transkern.frontend.syntax.liveness import ORIGIN
from transkern.frontend.values.values import GrowingList, Hashed, Known, Method, Range, Seq, Static, Trips, Value

if TYPE_CHECKING:
    from transkern.frontend.loops.looping import Loops


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


def over_what_changes(
    loops: Loops, source: Value, counted: Any, node: ast.For, target: ast.expr, body: Sequence[ast.stmt]
) -> None:
    """A loop whose body changes the length that it was about to go by. A range keeps what it was made with."""
    ctx = loops.ctx
    over = ctx.deref(source)
    loops.jumps += 1
    if isinstance(over, (Range, Trips)):
        held = f"gone over {loops.jumps}"
        start, stop, step, element = counted
        loops.env[held] = Trips((ctx.let(start, "start"), ctx.let(stop, "stop"), step, element))
        again = copy.copy(node)
        again.target, again.iter, again.body = target, ast.Name(held, ast.Load()), list(body)
        instead(loops, node, [again])
        return
    first, backwards = None, False
    if isinstance(over, Method) and over.name == "enumerate" and isinstance(over.receiver, Seq):
        source, first = over.receiver.items
    if isinstance(source, Method) and source.name == "reversed":
        source, backwards = source.receiver, True
    owner = ctx.deref(source)
    if not isinstance(owner, GrowingList) or owner.is_queue:
        problem = "a loop over what its body makes longer or shorter"
        ctx.fail(refusals.STATEMENT, problem, "loop over a copy, list(…), or write a `while` loop", node)
    made, given = over_list(source, first, backwards, target, body, loops.jumps)
    loops.env.update(given)
    instead(loops, node, made)


def over_values(
    loops: Loops, source: Value, over: steps.Over, tokens: Sequence[int], node: ast.For, target: ast.expr,
    body: Sequence[ast.stmt],
) -> None:  # fmt: skip
    """A loop whose body changes the values that it goes over, where what was there has been looked at before."""
    ctx = loops.ctx
    if tokens:
        problem = "a loop over a list that its body changes, beside something of run-time length"
        contents = over.held[tokens[0]]
        if isinstance(contents, Seq) and contents.kind == "list":
            ctx.must_grow(tokens[0], problem)
        ctx.fail(refusals.STATEMENT, problem, "loop over positions, or over a copy: list(…)", node)
    loops.jumps += 1
    held, again = f"gone over {loops.jumps}", copy.copy(node)
    loops.env[held] = steps.live(ctx, source)
    again.target, again.iter, again.body = target, ast.Name(held, ast.Load()), list(body)
    setattr(again, WATCHED, True)
    instead(loops, node, [again])


def instead(loops: Loops, node: ast.For, made: list[ast.stmt]) -> None:
    """`made` in the place of a loop."""
    for statement in made:
        setattr(statement, ORIGIN, getattr(node, ORIGIN, node))
        placed(statement, node)
    if loops.block(made):
        raise Terminated
