"""Choices of containers within what a statement evaluates: `return n, path if found else None`, `d["a" if c else "b"] = v`.
What stands before them is evaluated before, once."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.regressions.support import alike
from tests.tools import on_target, require
from transkern.frontend.syntax import forking

require("cc")


def first_of_many(x, k):
    rows = []
    for i in range(k):
        rows.append([i, i + 1])
    return len(rows), rows[0] if rows else None


def second_of_two(x, k):
    rows = list(range(k))
    return max(rows, default=0), (rows if k > 2 else None), k


def children_in_dicts(x, k):
    nodes = []
    for i in range(len(x)):
        nodes.append({"left": -1, "right": -1, "value": float(x[i])})
        if i > 0:
            nodes[i - 1]["left" if x[i] > 0 else "right"] = i
    return nodes


def values_before_places(x, k):
    sums = {"few": 0.0, "many": 1.0}
    sums["many" if k > 1 else "few"] = x.sum()
    sums["few" if x[k] > 1 else "many"] += x[1:].sum()
    return sums


def effects_before(x, k):
    log = []

    def noted(v):
        log.append(v)
        return v

    made = [noted(1), noted(2) if noted(k) else None, noted(3)]
    return made, log


def changed_by_what_is_evaluated_before(x, k):
    rows = [1, 2]

    def more():
        rows.append(3)
        return 5

    return more(), (rows if k else None), len(rows)


def text_with_a_choice(x, k):
    return f"{len(x)} of {'many' if k else 'few'}", {"n": len(x)}, x if x.sum() > 1 else None


def errors_in_order(x, k):
    rows = {1: {"few": 0.0, "many": 0.0}}
    rows[k]["few" if x[4] > 0 else "many"] = 1.0
    return rows


USERS = [
    first_of_many, second_of_two, children_in_dicts, values_before_places, effects_before,
    changed_by_what_is_evaluated_before, text_with_a_choice, errors_in_order,
]  # fmt: skip


@pytest.mark.parametrize("user", USERS)
def test_choices_within(user: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    x = np.array([3.0, -1.0, 2.0, 4.0, 1.0])
    for k in (0, 1, 2, 3):
        alike(user, x, k)
        alike(user, x[3:], k)
    if user in (children_in_dicts, values_before_places):
        alike(user, x, 2, target=on_target("cuda", monkeypatch))


def _apart(statement: ast.stmt) -> list[ast.stmt]:
    """A statement with all its choices as branches."""
    made = forking.as_branch(statement)
    if made is None:
        return [statement]
    named, branch = made
    branch.body, branch.orelse = (_apart(block[0]) for block in (branch.body, branch.orelse))
    return [*named, branch]


@pytest.mark.parametrize("text", [
    "[x, g(1), (1 if c else 2), (h(3) if d else x)]", "[g(x), (1 if c else h(2)), x, [g(4), h(5) if d else 6], h(7)]",
    "(g(1) + (2 if c else 3), {'a': g(4), 'b': (h(5) if d else g(6))})",
])  # fmt: skip
def test_two_choices_have_names_of_their_own(text: str) -> None:
    """What a statement evaluates before its choices, in Python's order, and each once."""
    source = f"def f(c, d):\n    x, seen = 5, []\n    g = h = lambda v: seen.append(v) or v * 2\n    return seen, {text}\n"
    trees = ast.parse(source), ast.parse(source)
    function = trees[1].body[0]
    assert isinstance(function, ast.FunctionDef)
    function.body[-1:] = _apart(function.body[-1])
    assert len(function.body) > 3
    wanted, found = ({}, {})
    for space, tree in zip((wanted, found), trees, strict=True):
        exec(compile(ast.fix_missing_locations(tree), "<choices>", "exec"), space)
    for c, d in ((0, 0), (0, 1), (1, 0), (1, 1)):
        assert found["f"](c, d) == wanted["f"](c, d)
