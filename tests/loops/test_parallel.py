"""What dependence analysis lets run in parallel gives Python's result, bit for bit."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import transkern
from tests.loops import functions
from transkern.analysis import loops_of
from transkern.fuse.loops.parallel import parallelise
from transkern.fuse.passes import BEFORE_LOOPS, PASSES
from transkern.ir import nodes
from transkern.ir.traverse import variables_read, walk
from transkern.pipeline import program_of

SOURCE = Path(functions.__file__).read_text(encoding="utf-8")


def classes(types: str) -> list[str]:
    return [r.kind for r in loops_of(SOURCE, types)]


def inputs(name: str, n: int) -> tuple[Any, ...]:
    rng = np.random.default_rng(n)
    match name:
        case "matmul":
            return rng.random((n, 5)), rng.random((5, 2 * n)), np.zeros((n, 2 * n))
        case "floyd":
            return (rng.random((n, n)) - 0.1,)
        case "lanes":
            return rng.random((n, 2 * n + 1)), 0.5
        case "running":
            return (rng.integers(-40, 60, n),)
        case "gathered":
            return rng.random(9), rng.integers(-9, 9, n), np.zeros(n)
        case "cholesky":
            a = rng.random((n, n))
            return (a @ a.T + n * np.eye(n),)
        case _:
            return (rng.random(n),)


@pytest.mark.parametrize("name", ["matmul", "floyd", "lanes", "running", "gathered", "cholesky", "swapped"])
def test_results_have_pythons_bits(name: str) -> None:
    plain = getattr(functions, name)
    compiled = transkern.compile(plain, target="cpu")
    for n in (1, 2, 7, 40, 70):
        mine, theirs = inputs(name, n), inputs(name, n)
        got, wanted = compiled(*mine), plain(*theirs)
        for x, y in zip(mine, theirs, strict=True):
            np.testing.assert_array_equal(x, y)
        if wanted is not None:
            np.testing.assert_equal(got, wanted)


def test_classes() -> None:
    assert classes("matmul(float64[n,m], float64[m,p], float64[n,p])") == ["parallel", "parallel", "reduction"]
    assert classes("floyd(float64[n,n])") == ["sequential with parallel body"] * 3
    assert classes("lanes(float64[n,m], float)") == ["per-lane"]
    assert classes("running(int64[n])") == ["reduction"]
    assert classes("gathered(float64[n], int64[m], float64[m])") == ["parallel"]
    assert classes("cholesky(float64[n,n])")[2:] == ["reduction", "reduction"]
    assert classes("swapped(float64[n])") == ["parallel", "parallel"]


def test_a_check_that_fails_leaves_behind_what_python_leaves() -> None:
    x, index = np.arange(4.0), np.array([0, 3, 4, 1])
    mine, theirs = np.zeros(4), np.zeros(4)
    compiled = transkern.compile(functions.gathered, target="cpu")
    with pytest.raises(IndexError, match="index 4 is out of bounds for axis 0 with size 4"):
        compiled(x, index, mine)
    with pytest.raises(IndexError):
        functions.gathered(x, index, theirs)
    np.testing.assert_array_equal(mine, theirs)


def test_bounds_checks_go_where_ranges_prove_them() -> None:
    program = program_of(SOURCE, "cholesky", "cholesky(float64[n,n])", PASSES)
    assert not [s for s in walk(program.body) if isinstance(s, nodes.Guard)]


def test_checks_that_iterations_share_go_before_the_loop() -> None:
    for n, m, k, t in ((3, 4, 2, 1), (3, 4, 2, -2), (0, 4, 2, 9), (3, 0, 2, 9)):
        mine, theirs = np.ones((n, m)), np.ones((n, m))
        transkern.compile(functions.added, target="cpu")(mine, np.arange(float(k)), t)
        functions.added(theirs, np.arange(float(k)), t)
        np.testing.assert_array_equal(mine, theirs)
    with pytest.raises(IndexError, match="index 2 is out of bounds for axis 0 with size 2"):
        transkern.compile(functions.added, target="cpu")(np.ones((3, 4)), np.arange(2.0), 2)


def test_what_bounds_alone_decide_is_no_loop_over_checks() -> None:
    source = """
def added(m, v, index):
    for i in range(m.shape[0]):
        for j in range(1, m.shape[1]):
            m[i, j] += v[j - 1] * v[2 * i]{}
"""
    for more, loops in (("", 0), (" + v[index[j]]", 1)):
        types = "added(float64[n,m], float64[k], int64[m])"
        body = program_of(source.format(more), "added", types, (*BEFORE_LOOPS, parallelise)).body
        inner = [s.body for s in walk(body) if isinstance(s, nodes.Loop)]
        assert sum(any(isinstance(s, nodes.Accumulate) for s in one) for one in inner) == loops
        decided = [s for s in walk(body) if isinstance(s, nodes.If)]
        assert len(decided) == 1 + loops and all({"m_size.", "k."} <= variables_read(s.condition) for s in decided)
    call = transkern.compile(functions.added_twice, target="cpu")
    for rows, columns, length in ((3, 4, 5), (3, 4, 4), (0, 4, 1), (3, 0, 5), (3, 1, 0), (3, 4, 2)):
        mine, theirs, v = np.ones((rows, columns)), np.ones((rows, columns)), np.arange(float(length))
        errors = []
        for function, m in ((call, mine), (functions.added_twice, theirs)):
            try:
                function(m, v)
                errors.append("")
            except IndexError as error:
                errors.append(str(error))
        assert errors[0] == errors[1]
        np.testing.assert_array_equal(mine, theirs)


def test_ranges_that_run_backwards_touch_nothing() -> None:
    for n in (0, 1, 2, 70):
        mine, theirs = np.zeros(90), np.zeros(90)
        transkern.compile(functions.repeated, target="cpu")(np.arange(90.0), mine, n)
        functions.repeated(np.arange(90.0), theirs, n)
        np.testing.assert_array_equal(mine, theirs)


@pytest.mark.parametrize("name", ["looked_up", "looked_up_twice"])
def test_checks_look_at_nothing_that_a_check_before_finds_not_to_be_there(name: str) -> None:
    """Checks of all iterations come first: of `x[1]`, once it is known to be there, of `x[x[i]]`, once `x[i]` is."""
    program = program_of(SOURCE, name, f"{name}(int64[n], float64[m], float64[k])", (*BEFORE_LOOPS, parallelise))
    top = [s for s in program.body if any(isinstance(x, nodes.Accumulate) for x in walk((s,)))]
    assert top and all(isinstance(s, nodes.If) for s in top)
    if name == "looked_up_twice":
        (check,) = (x for s in top for x in walk((s,)) if isinstance(x, nodes.Loop))
        assert any(isinstance(x, nodes.If) and any(isinstance(y, nodes.Accumulate) for y in x.then) for x in check.body)
    plain = getattr(functions, name)
    for size in (0, 1, 2, 3):
        mine = np.arange(size), np.zeros(2), np.arange(5.0)
        theirs = mine[0].copy(), mine[1].copy(), mine[2].copy()
        caught = []
        for function, args in ((transkern.compile(plain, target="cpu"), mine), (plain, theirs)):
            try:
                function(*args)
            except (IndexError, ZeroDivisionError) as error:
                caught.append(str(error))
        assert len(caught) in (0, 2) and len(set(caught)) < 2
        np.testing.assert_array_equal(mine[1], theirs[1])
