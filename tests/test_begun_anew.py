"""Translations begin anew once for all that is found out at one place, and for None in lists not at all."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.regressions.support import alike
from tests.test_compile_time import counted
from transkern import pipeline
from transkern.frontend.sources.annotations import types_from_annotations
from transkern.frontend.sources.texts import TextScope
from transkern.frontend.specialise import specialise
from transkern.frontend.state.learned import Learned
from transkern.fuse.passes import PASSES
from transkern.fuse.scalars.scalars import coalesce_scalars

X = np.array([3.0, -1.0, 0.0, 2.5, -0.0, np.nan])


class Node:
    def __init__(self, low=None, high=None, left=None, right=None):
        self.low, self.high, self.left, self.right = low, high, left, right


def none_first(x):
    out = []
    for v in x:
        out.append(None if v > 0 else v)
    return out, len([v for v in out if v is None])


def none_alone(x):
    out = []
    for _ in x:
        out.append(None)
    return out


def none_in_one_branch(x):
    out = []
    for v in x:
        for k in range(3):
            if v < k:
                out.append(None)
                continue
            if v > k:
                out.append(k)
    for _ in x:
        out.append(7)
        out.append(None)
    out[1] = None
    return out


def none_in_pairs(x):
    out = []
    for k in range(len(x)):
        out.append((None, k) if x[k] > 0 else (x[k], k))
    return out


def none_behind_a_number(x):
    out = [x[0]]
    for v in x:
        out.append(v)
        out.append(None)
    return out[::-1]


def objects_of_nones(x):
    def tree(low, high, depth):
        if depth == 0 or high - low < 2:
            return Node(low, high)
        at = (low + high) // 2
        return Node(low, high, tree(low, at, depth - 1), tree(at, high, depth - 1))

    def depth(node):
        if node.left is None:
            return 0
        return 1 + max(depth(node.left), depth(node.right))

    root = tree(0, len(x), int(x[0]))
    return depth(root), root.left is None, root.high


def arrays_in_frames(x, y):
    def parts(x, y, d):
        if d == 0 or len(x) < 2:
            return float(len(x) + 2 * len(y))
        m = x > 0
        return parts(x[m], y[m], d - 1) + x[0] + y[0]

    return parts(x, y, int(y[0]))


CASES: tuple[tuple[Callable[..., Any], tuple[Any, ...], int], ...] = (
    (none_first, (X,), 2), (none_alone, (X,), 2), (none_in_one_branch, (X,), 2), (none_in_pairs, (X,), 2),
    (none_behind_a_number, (X,), 3), (objects_of_nones, (X,), 6),
    (arrays_in_frames, (X[:4], np.array([2.0, 1.0, 5.0, 1.0])), 10),
)  # fmt: skip


@pytest.mark.parametrize(("function", "args", "most"), CASES, ids=[case[0].__name__ for case in CASES])
def test_few_translations(
    function: Callable[..., Any], args: tuple[Any, ...], most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, begin = [], Learned.begin
    monkeypatch.setattr(Learned, "begin", lambda self: (begun.append(self), begin(self))[1])
    alike(function, *args)
    assert len(begun) <= most


def test_names_in_branches_within_branches_are_asked_for_once() -> None:
    """Each renaming walked through all that stood in each of the branches."""

    def asked(count: int) -> int:
        lines = ["def f(x: 'float64[n]', a: float, kind: int):", "    s = 0.0"]
        for k in range(count):
            lines += [f"    {'elif' if k else 'if'} kind == {k}:", f"        s = a * {k}.5"]
            lines += [f"        x = x * {k}.0 + s"]
        lines += ["    else:", "        s = -a", "    return x, s"]
        function = TextScope("\n".join(lines), "<text>").function("f")
        types = types_from_annotations(function)
        assert types is not None
        program = pipeline.run(specialise(function, types), PASSES[: PASSES.index(coalesce_scalars)])
        return counted(lambda: coalesce_scalars(program))

    asked(4)  # what is done once in a process
    shorter, longer = asked(16), asked(48)
    assert longer < 10 * shorter  # each name is another one in each of the branches: the square
