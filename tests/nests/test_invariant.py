"""What an iteration computes just as the last one did is computed once, before the loop
(`fuse/scalars/invariant.py`)."""

from __future__ import annotations

import inspect
import textwrap
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import transkern
from tests.tools import on_target, require, source_of
from transkern import pipeline
from transkern.fuse import passes as pass_lists
from transkern.fuse.passes import PASSES
from transkern.ir import nodes as n
from transkern.ir.traverse import bodies, walk

require("cc")


def centred(x, a, k):
    y = np.zeros(len(x))
    for i in range(len(x)):
        y[i] = (x[i] - x.mean()) / (x.std() + 1.0)
    return y


def centred_in_loops(x, a, k):
    y = np.zeros(len(x))
    for i in range(len(x)):
        total = 0.0
        for j in range(len(x)):
            total += x[j]
        y[i] = x[i] - total
    return y


def two_levels(x, a, k):
    y = np.zeros((len(x), 3))
    for i in range(len(x)):
        for j in range(3):
            y[i, j] = a.sum() + np.exp(a).max() + (a.max(axis=0) * i).sum()
    return y


def steps(x, a, k):
    for _ in range(k):
        x = x * 0.5 + np.abs(a).max()
    return x


def while_loop(x, a, k):
    x = x.copy()
    while k > 0:
        x += np.sqrt(np.abs(a)).sum()
        k -= 1
    return x, k


def softmaxes(x, a, k):
    out = np.zeros(4)
    for c in range(4):
        w = np.exp(x) / np.exp(x).sum()
        out[c] = w[x > c - 2].sum()
    return out


def smallest(x, a, k):
    out = np.zeros(len(x))
    for i in range(len(x)):
        best, at = np.inf, -1
        for j in range(1, len(x)):
            if np.abs(x[j - 1]) < best:
                best, at = np.abs(x[j - 1]), j
        out[i] = best * x[i] + at
    return out


def beside_a_constant(x, a, k):
    y = x.copy()
    for i in range(len(x)):
        if x[i] == 1.0:
            break
        scale = 0.5 + 0.25
        y[i] = np.clip(np.nan_to_num(x.var() + scale), 0, 50) * scale
    return y


def changed_in_the_loop(x, a, k):
    x = x.copy()
    for i in range(len(x)):
        x[i] = x[i] - x.sum()
    return x


def changed_behind_it(x, a, k):
    a = a.copy()
    for i in range(len(a)):
        total = 0.0
        for j in range(len(x)):
            total += x[j] * a[0, 0]
        a[i] += total
    return a


def changed_through_a_view(x, a, k):
    a = a.copy()
    row = a[0]
    y = np.zeros(len(x))
    for i in range(len(x)):
        y[i] = a.sum()
        row += 1
    return y, a


def goes_on(x, a, k):
    y, total = np.zeros(len(x)), 0.0
    for i in range(len(x)):
        for j in range(len(a)):
            total += a[j, 0]
        y[i] = total
    return y, total


def known_afterwards(x, a, k):
    total = -1.0
    for _ in range(k):
        total = 0.0
        for j in range(len(x)):
            total += x[j]
    return total


def of_the_last_one(x, a, k):
    y, total = np.zeros(len(x)), -1.0
    for i in range(len(x)):
        y[i] = total
        total = 0.0
        for j in range(len(x)):
            total += x[j]
    return y


def by_a_condition(x, a, k):
    y, total = np.zeros(len(x)), 0.5
    for i in range(len(x)):
        if x[i] > 0:
            total = 0.0
            for j in range(len(x)):
                total += x[j]
        y[i] = total
    return y


def beyond_the_end(x, a, k):
    total = 0.0
    for _ in range(k):
        for j in range(4):
            total += x[j]
    return total


def kept_within(x, a, k):
    total = 0.0
    for _ in range(k):
        part = 0.0
        for j in range(10):
            if j < len(x):
                part += x[j]
        total += part
    return total


def raises_in_the_loop(x, a, k):
    total = 0.0
    for _ in range(k):
        total += a.max() + x.min()
    return total


def divides(x, a, k):
    total = 0
    for i in range(len(x)):
        if k == 0:
            total += 1
            continue
        part = 0
        for j in range(7):
            part += j // k
        total += part + i
    return total


def filled_and_scattered(x, a, k):
    out = np.zeros((len(x), 3))
    for i in range(len(x)):
        bins = np.zeros(3)
        for j in range(len(x)):
            bins[j % 3] += x[j]
        out[i] = bins * i
    return out


def leaves(x, a, k):
    for i in range(len(x)):
        if x[i] > x.mean() + k:
            return i
    return -1


MOVED = (
    centred, centred_in_loops, two_levels, steps, while_loop, softmaxes, smallest, known_afterwards, of_the_last_one,
    kept_within, raises_in_the_loop, leaves, beside_a_constant,
)  # fmt: skip
FUNCTIONS = (
    *MOVED, changed_in_the_loop, changed_behind_it, changed_through_a_view, goes_on, by_a_condition, beyond_the_end,
    divides, filled_and_scattered,
)  # fmt: skip


def outcome(function: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
    try:
        with np.errstate(all="ignore"):
            result = function(*arguments)
    except Exception as error:
        return type(error), str(error)
    return result if isinstance(result, tuple) else (result,)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("target", ["cpu", "cuda", "pallas"])
@pytest.mark.parametrize("function", FUNCTIONS)
def test_numpys_answer(function: Callable[..., Any], target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    made = transkern.compile(function, target=on_target(target, monkeypatch))
    for shape in ((5, 4), (1, 1), (12, 3), (0, 2), (3, 0)):
        for k in (0, 1, 3):
            x = np.random.default_rng(0).integers(-4, 5, shape[0]) * 0.5
            a = np.random.default_rng(1).integers(-4, 5, shape) * 0.5
            if shape[0] > 3 and k == 3:
                x[1], a[2, -1] = np.nan, -np.inf
            wanted, found = outcome(function, (x.copy(), a.copy(), k)), outcome(made, (x.copy(), a.copy(), k))
            if wanted and isinstance(wanted[0], type):
                assert found == wanted, (shape, k)
                continue
            for one, other in zip(found, wanted, strict=True):
                np.testing.assert_allclose(one, other, rtol=1e-12, err_msg=f"{shape}, {k}")


@pytest.mark.parametrize("function", FUNCTIONS)
def test_loops_in_loops(function: Callable[..., Any]) -> None:
    """Of what can be moved, nothing is left that goes over an array in each iteration; the rest stays where it is."""
    source = textwrap.dedent(inspect.getsource(function))
    types = f"{function.__name__}(float64[n], float64[m, p], int)"
    passes = PASSES
    upto = passes[: passes.index(pass_lists.move_invariants)]
    before, after = (
        pipeline.program_of("import numpy as np\n" + source, function.__name__, types, p)
        for p in (upto, (*upto, pass_lists.move_invariants))
    )
    assert (_nested(after.body) < _nested(before.body)) == (function in MOVED)


def _nested(block: tuple[n.Stmt, ...], depth: int = 0) -> int:
    """How many loops stand in loops, each as often as there are loops around it."""
    found = 0
    for s in block:
        loop = isinstance(s, (n.Loop, n.While))
        found += depth * loop
        found += sum(_nested(body, depth + loop) for body in bodies(s))
    return found


def test_statements_stay_the_same() -> None:
    """Moving leaves every statement as it was: it is only about where they stand."""
    source = source_of(centred)
    passes = PASSES
    upto = passes[: passes.index(pass_lists.move_invariants)]
    before = pipeline.program_of(source, "centred", "centred(float64[n], float64[m, p], int)", upto)
    after = pass_lists.move_invariants(before)

    def simple(p: n.Program) -> list[str]:
        return sorted(repr(s) for s in walk(p.body) if not any(True for _ in bodies(s)))

    assert simple(before) == simple(after)
