"""Iterators of `itertools`, and functions of `heapq` that take any iterable: what they give, as a list that is made at
once (`compositions/iterating.py`)."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence

from transkern import refusals
from transkern.frontend.compositions import compose
from transkern.frontend.context import Context
from transkern.frontend.loops import iterating
from transkern.frontend.syntax import iterators
from transkern.frontend.values.values import Seq, Value

_FUNCTIONS: dict[str, tuple[str, tuple[int, ...], type]] = {
    "itertools.accumulate": ("accumulate", (0,), itertools.accumulate),
    "itertools.chain.from_iterable": ("joined", (0,), itertools.chain),
    "itertools.compress": ("compress", (0, 1), itertools.compress),
    "itertools.dropwhile": ("dropwhile", (1,), itertools.dropwhile),
    "itertools.filterfalse": ("filterfalse", (1,), itertools.filterfalse),
    "itertools.groupby": ("groupby", (0,), itertools.groupby),
    "itertools.islice": ("islice", (0,), itertools.islice),
    "itertools.pairwise": ("pairwise", (0,), itertools.pairwise),
    "itertools.starmap": ("starmap", (1,), itertools.starmap),
    "itertools.takewhile": ("takewhile", (1,), itertools.takewhile),
    "itertools.zip_longest": ("longest", (0, 1), itertools.zip_longest),
    "heapq.nlargest": ("largest", (1,), list),
    "heapq.nsmallest": ("smallest", (1,), list),
}
"""What makes the list, which of the arguments are iterables, and of what class the result is."""
_CHAIN = "itertools.chain"


def called(ctx: Context, path: str, positional: Sequence[Value], keywords: Mapping[str, Value]) -> Value | None:
    """What a call of such a function gives; None of any other."""
    if path == _CHAIN and not keywords:
        return _made(ctx, "joined", (0,), itertools.chain, [Seq(tuple(_elements(ctx, p) for p in positional))], {})
    if path not in _FUNCTIONS:
        return None
    name, iterables, kind = _FUNCTIONS[path]
    if len(positional) <= max(iterables) or (name == "longest" and len(positional) != 2):
        problem = f"`{path}` with its iterables by name, or of another number than compiled code knows"
        ctx.fail(refusals.WRONG_ARGUMENTS, problem, "give them one after the other, two to `zip_longest`")
    return _made(ctx, name, iterables, kind, list(positional), keywords)


def _made(
    ctx: Context, name: str, iterables: Sequence[int], kind: type, given: list[Value], keywords: Mapping[str, Value]
) -> Value:
    def make() -> Value:
        args = [_elements(ctx, v) if k in iterables else v for k, v in enumerate(given)]
        return compose(ctx, "iterating", name, args, keywords)

    if kind is list:
        return make()
    functions = (v for k, v in enumerate(given) if k not in iterables)
    names = frozenset[str]().union(*map(iterators.names_read, functions))
    return iterators.made_now(ctx, kind, make, names)


def _elements(ctx: Context, value: Value) -> Value:
    """What an iterable gives, at positions."""
    return iterating.sequence(ctx, value)
