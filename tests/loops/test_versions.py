"""Loops in two versions: a test before the loop decides whether its iterations are independent."""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import transkern
from tests.tools import on_target, require
from transkern.analysis import loops_of
from transkern.fuse.passes import PASSES
from transkern.ir import nodes as n
from transkern.ir.expr import Apply, Expr
from transkern.ir.traverse import walk, walk_expr
from transkern.pipeline import program_of

require("cc")


def shifted(a, k):
    for i in range(len(a) - k):
        a[i] = a[i + k] * 2.0 + 1.0


def into(a, n, k, x):
    for i in range(n):
        a[i + k] = a[i] + x[i]


def halves(a, m):
    for i in range(m):
        a[i + 2 * m] = a[i] + a[i + m]


def both_sides(a, k, m):
    for i in range(m):
        a[i] = a[i + k] + a[i + 2 * k]


def known(a):
    for i in range(len(a) - 1):
        a[i] = a[i + 1] + 1.0


def carried(a, k):
    s = 0.0
    for i in range(len(a) - k):
        s = s * 0.5 + a[i + k]
        a[i] = s
    return s


def inside(a, k):
    for t in range(3):
        for i in range(len(a) - k):
            a[i] = a[i + k] + t


TYPES = {
    "shifted": "float64[n], int", "into": "float64[n], int, int, float64[m]", "halves": "float64[n], int",
    "both_sides": "float64[n], int, int", "known": "float64[n]", "carried": "float64[n], int",
    "inside": "float64[n], int",
}  # fmt: skip


def text(function: Callable[..., Any]) -> tuple[str, str]:
    name = function.__name__
    return inspect.getsource(function), f"{name}({TYPES[name]})"


def _tests_a_distance(condition: Expr) -> bool:
    """``k == 0 or k >= n``, unlike the checks of bounds."""
    return any(isinstance(e, Apply) and e.op == "or_else" for e in walk_expr(condition))


def versions(function: Callable[..., Any]) -> list[n.If]:
    """The branches of which one has a parallel loop and the other the same loop in order."""
    source, types = text(function)
    found = []
    for s in walk(program_of(source, function.__name__, types, PASSES).body):
        if isinstance(s, n.If) and s.orelse and _tests_a_distance(s.condition):
            kinds = [{x.kind for x in walk(part) if isinstance(x, n.Loop)} for part in (s.then, s.orelse)]
            if "parallel" in kinds[0] and kinds[1] == {"sequential"}:
                found.append(s)
    return found


def test_an_unknown_distance_makes_two_versions() -> None:
    for function in (shifted, into, both_sides, inside):
        assert len(versions(function)) == 1, function.__name__
    for function in (known, carried, halves):  # decided before: in order, in order, parallel
        assert not versions(function), function.__name__


def test_explain_says_what_is_tested() -> None:
    (report,) = loops_of(*text(shifted))
    assert report.kind == "sequential"
    assert report.notes[-1] == "parallel where k >= 0 and ((k == 0) or (k >= (n - k))): tested before it runs"


def outcome(function: Callable[..., Any], *args: Any) -> tuple[Any, ...]:
    mine = [a.copy() if isinstance(a, np.ndarray) else a for a in args]
    try:
        result = function(*mine)
    except IndexError as error:
        result = str(error)
    return result, *(a.tolist() for a in mine if isinstance(a, np.ndarray))


DISTANCES = (-12, -11, -6, -3, -1, 0, 1, 4, 5, 6, 10, 11, 12, 40)


@pytest.mark.parametrize("function", [shifted, carried, inside], ids=lambda f: f.__name__)
def test_results_are_pythons(function: Callable[..., Any]) -> None:
    compiled = transkern.compile(function, target="cpu")
    a = np.arange(11.0) ** 2
    for k in DISTANCES:
        assert outcome(compiled, a, k) == outcome(function, a, k), k


def test_results_of_two_numbers_are_pythons() -> None:
    a, x = np.arange(11.0) ** 2, np.arange(4.0)
    for size in (-1, 0, 1, 3, 4, 6):
        for k in DISTANCES:
            made = transkern.compile(into, target="cpu")
            assert outcome(made, a, size, k, x) == outcome(into, a, size, k, x), (size, k)
            both = transkern.compile(both_sides, target="cpu")
            assert outcome(both, a, k, size) == outcome(both_sides, a, k, size), (size, k)


@pytest.mark.parametrize("target", ["cuda", "pallas"])
def test_devices_have_both_versions(target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    on_target(target, monkeypatch)
    compiled = transkern.compile(shifted, target=target)
    a = np.arange(11.0) ** 2
    for k in (0, 3, 6):
        assert outcome(compiled, a, k) == outcome(shifted, a, k), k


def colours(a, b, steps):
    n, m = a.shape
    for t in range(steps):
        for i in range(n):
            for j in range(m):
                if (i + j) % 2 == t % 2:
                    a[i, j] = a[(i + 1) % n, j] - a[i, (j - 1) % m] + b[(i - 1) % n, j] * a[i, j]


def of_three(a, by):
    n = len(a)
    for c in range(3):
        for i in range(n):
            if i % 3 == c:
                a[i] = a[(i + 1) % n] * 0.5 + a[(i - by) % n]


def test_neighbours_of_one_colour_go_round_where_sizes_are_multiples() -> None:
    source = inspect.getsource(colours)
    program = program_of(source, "colours", "colours(float64[n, m], float64[n, m], int)", PASSES)
    asked = [s for s in walk(program.body) if isinstance(s, n.If) and s.orelse and _asks_a_size(s.condition)]
    kinds = [[x.kind for x in walk(s.then) if isinstance(x, n.Loop)] for s in asked]
    assert any("parallel" in k for k in kinds)
    compiled = transkern.compile(colours, target="cpu")
    rng = np.random.default_rng(3)
    for rows in range(1, 6):
        for columns in range(6):
            a, b = rng.standard_normal((2, rows, columns))
            assert outcome(compiled, a, b, 3) == outcome(colours, a, b, 3), (rows, columns)


def test_what_a_number_moves_is_not_of_another_colour() -> None:
    for size in (1, 2, 3, 6, 7, 9):
        for by in (-1, 0, 1, 3):
            a = np.arange(float(size)) ** 2
            made = transkern.compile(of_three, target="cpu")
            assert outcome(made, a, by) == outcome(of_three, a, by), (size, by)


def test_colours_on_devices(monkeypatch: pytest.MonkeyPatch) -> None:
    on_target("cuda", monkeypatch)
    compiled = transkern.compile(colours, target="cuda")
    rng = np.random.default_rng(3)
    for rows, columns in ((1, 2), (4, 6), (5, 4), (2, 3)):
        a, b = rng.standard_normal((2, rows, columns))
        assert outcome(compiled, a, b, 3) == outcome(colours, a, b, 3), (rows, columns)


def _asks_a_size(condition: Expr) -> bool:
    return any(isinstance(e, Apply) and e.op == "remainder" for e in walk_expr(condition))
