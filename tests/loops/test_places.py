"""Places that are counted and taken apart again (`fuse/scalars/places.py`)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.fuzz.meeting import program_of
from tests.regressions.support import alike
from tests.tools import on_target, require
from transkern import pipeline
from transkern.fuse.scalars.places import simplify_places
from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Apply, Axis, Load, Var
from transkern.ir.polynomials import divides
from transkern.ir.traverse import own_exprs, walk, walk_expr

require("cc")


def there_and_back(a: Any) -> Any:
    return (a.reshape(-1) * 2).reshape(a.shape) - a.reshape(a.shape[1], -1).reshape(-1, a.shape[1])


def less_their_means(a: Any) -> Any:
    parts = a.reshape(a.shape[0] // 3, 3, *a.shape[1:])
    return (parts - parts.mean(axis=0)).reshape(a.shape)


def in_blocks(a: Any) -> Any:
    rows, columns = a.shape
    return a.reshape(rows // 3, 3, columns // 2, 2).swapaxes(1, 2).reshape(-1, 6).sum(axis=1).reshape(rows // 3, -1)


def inner_part(a: Any) -> Any:
    return a[1:, :-1].reshape(-1)[::2].sum() + a[:, 1:].ravel().reshape(a.shape[0], -1)


def turned(a: Any) -> Any:
    return a.T.reshape(-1).reshape(a.shape) + np.ravel(a.T.copy()).reshape(a.shape[::-1]).T


def by_hand(a: Any) -> Any:
    rows, columns = a.shape
    out = np.zeros((rows, columns))
    for i in range(rows):
        for j in range(columns):
            k = i * columns + j
            out[k // columns, k % columns] = a[k // columns, k % columns] + k // columns
    return out


def other_sizes(a: Any) -> Any:
    """Sizes that share no factor with those before: what is computed, turned or gathered is copied as it is."""
    rows, columns = a.shape
    parts = max(rows // 2, 1)
    turned = (a * 2).T.reshape(parts, -1)
    joined = np.concatenate([a, a[::-1]]).reshape(-1, 2 * parts)
    picked = a[:, np.arange(columns) // 2].T.reshape(parts, -1).sum(axis=1)
    return turned, joined, picked


FUNCTIONS = [other_sizes, there_and_back, less_their_means, in_blocks, inner_part, turned, by_hand]


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("target", ["cpu", "cuda", "pallas"])
def test_values(function: Callable[..., Any], target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    on_target(target, monkeypatch)
    a = (np.arange(72.0).reshape(6, 12) * 37) % 23 - 7
    a[2, 3], a[0, 0], a[5, 11] = np.nan, -0.0, np.inf
    alike(function, a, target=target)
    if target == "cpu":
        for other in (a[::-1, ::-1], a[:3, :2], a[:0], a[:, :0], a.T[:6], a.astype(np.int16), a[:3, ::6]):
            alike(function, other, target=target)


def _divisions(program: n.Program) -> int:
    every = (e for s in walk(program.body) for own in own_exprs(s) for e in walk_expr(own))
    return sum(
        isinstance(e, Apply) and e.dtype == "index" and e.op in ("floor_divide", "remainder")
        for x in every if isinstance(x, Load) for i in x.index for e in walk_expr(i)
    )  # fmt: skip


@pytest.mark.parametrize("function", [there_and_back, less_their_means, by_hand])
def test_nothing_is_divided_that_was_counted(function: Callable[..., Any]) -> None:
    program = program_of(function, (np.zeros((6, 12)),), pipeline.passes_for("cpu"))
    assert _divisions(program) <= (1 if function is less_their_means else 0)  # of three rows, which it is


def test_a_copy_is_not_computed_at_quotients() -> None:
    program = program_of(other_sizes, (np.zeros((6, 12)),), pipeline.passes_for("cpu"))
    every = [e for s in walk(program.body) for own in own_exprs(s) for e in walk_expr(own) if isinstance(e, Load)]
    read = {e.buffer for e in every for i in e.index if divides(i)}
    assert read and "a" not in read


@pytest.mark.parametrize(
    ("extent", "by", "known"),
    [
        (Var("a.1", "index"), Var("a.1", "index"), True),
        (b.add(Var("a.1", "index"), b.ONE), Var("a.1", "index"), False),  # one more: it may be the next row's first
        (b.sub(Var("a.1", "index"), b.ONE), Var("a.1", "index"), True),
        (b.index(4), b.index(4), True),
        (b.index(5), b.index(4), False),
        (Var("a.1", "index"), Var("a.0", "index"), False),
    ],
)
def test_a_rest_is_less_than_what_divides(extent: Any, by: Any, known: bool) -> None:
    i, j = Axis("i", Var("a.0", "index")), Axis("j", extent)
    place = b.add(b.mul(i.var, by), j.var)
    index = b.floordiv(place, by), b.mod(place, by)
    write = n.Define("out", (i, j), Load("a", index, "float64"))
    buffers = {
        name: n.Buffer(name, "float64", (Var("a.0", "index"), Var("a.1", "index"))) for name in ("a", "out")
    }  # fmt: skip
    program = simplify_places(n.Program("f", (), buffers, {}, {}, (write,)))
    assert (_divisions(program) == 0) is known
