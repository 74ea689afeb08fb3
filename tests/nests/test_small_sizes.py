"""A few elements that are multiplied, or computed with in loops: code for their sizes (`fuse/choices/small_sizes.py`),
and code for any size where they are many, whatever comes first."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import transkern
from tests.tools import require
from transkern import pipeline
from transkern.fuse.choices import small_sizes as few_sizes
from transkern.runtime.calls import known

require("cc")
OTHER_SIZES = True


def walked(a, x, steps):
    path = np.empty((steps, len(x)))
    for k in range(steps):
        x = a @ x + 0.1
        path[k] = x
    return path


def turned(turns, points):
    out = points.copy()
    for turn in turns:
        out = out @ turn.T
    return out


def once(a, x):
    return a @ x + 1


def bodies(p, v, m, steps):
    for _ in range(steps):
        d = p[None] - p[:, None]
        v += 0.01 * (d * (m / ((d**2).sum(axis=-1) + 0.1) ** 1.5)[:, :, None]).sum(axis=1)
        p += 0.01 * v
    return p


def pendulum(y, steps, h):
    def slope(y):
        dy = np.zeros_like(y)
        dy[0], dy[1] = y[1], -np.sin(y[0])
        return dy

    path = []
    while len(path) < steps:
        half = y + h / 2 * slope(y)
        y = y + h * slope(half)
        path.append(y)
    return np.array(path)


def scaled(a, x):
    return (a * x).sum(axis=1)


def in_loops(a, x, steps):
    y = x.copy()
    for _ in range(steps):
        for i in range(len(x)):
            y[i] = 0.0
            for j in range(len(x)):
                y[i] += a[i, j] * x[j]
        x = np.sin(y)
    return x


def looked_up(edges, values, x):
    out = np.zeros(len(x))
    for i in range(len(x)):
        for k in range(len(edges)):
            if x[i] < edges[k]:
                break
            out[i] += values[k]
    return out


@dataclass
class Model:
    turn: Any
    start: Any


def of_a_model(model, by, steps):
    x = model.start
    while steps > 0:
        x = np.dot(model.turn, x) + by["shift"]
        steps -= 1
    return x


def sized(n):
    rng = np.random.default_rng(n)
    return rng.standard_normal((n, n)) / n, rng.standard_normal(n)


def kinds(compiled):
    return [one.removeprefix("cpu: ") for one in compiled.cache_info().specialisations]


@pytest.mark.parametrize("sizes", [(2, 50, 2, 3), (50, 2, 50, 16, 17), (0, 1, 2)])
def test_each_size_finds_its_code(sizes: tuple[int, ...]) -> None:
    compiled = transkern.compile(walked, target="cpu")
    for n in sizes:
        for _ in range(2):
            np.testing.assert_allclose(compiled(*sized(n), 5), walked(*sized(n), 5), rtol=1e-12)
    assert len(kinds(compiled)) == len({n if 0 < n <= 16 else "n" for n in sizes})
    for n in {n for n in sizes if 0 < n <= 16}:
        assert f"(float64[{n},{n}], float64[{n}], int)" in kinds(compiled)


def test_only_what_is_multiplied() -> None:
    compiled = transkern.compile(once, target="cpu")
    compiled(*sized(3))
    assert kinds(compiled) == ["(float64[3,3], float64[3])"]
    compiled = transkern.compile(scaled, target="cpu")
    compiled(*sized(3))
    assert kinds(compiled) == ["(float64[a_0,a_0], float64[a_0])"]
    compiled = transkern.compile(turned, target="cpu")
    rng = np.random.default_rng(0)
    given = rng.standard_normal((40, 3, 3)), rng.standard_normal((70, 3))
    np.testing.assert_allclose(compiled(*given), turned(*given), rtol=1e-12)
    assert kinds(compiled) == ["(float64[turns_0,3,3], float64[points_0,3])"]


def test_loops_that_run_often_whatever_the_sizes() -> None:
    """By steps that sizes do not count, or over many elements."""
    compiled = transkern.compile(in_loops, target="cpu")
    for n in (3, 0, 40, 3):
        np.testing.assert_allclose(compiled(*sized(n), 6), in_loops(*sized(n), 6), rtol=1e-11)
    assert kinds(compiled) == ["(float64[3,3], float64[3], int)", "(float64[a_0,a_0], float64[a_0], int)"]
    compiled = transkern.compile(looked_up, target="cpu")
    rng = np.random.default_rng(0)
    edges, values = np.arange(9.0), rng.random(9)
    for count in (40, 5000, 40, 5000, 0):
        x = rng.uniform(-1, 12, count)
        np.testing.assert_array_equal(compiled(edges, values, x), looked_up(edges, values, x))
    few, many = (f"(float64[{k}], float64[{k}], float64[x_0])" for k in ("edges_0", "9"))
    assert sorted(kinds(compiled)) == sorted([few, many])


@pytest.mark.parametrize("order", [(2, 20), (20, 2)])
def test_code_from_disk(order: tuple[int, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first of two processes has compiled for other sizes than the second asks for, or for the same."""
    monkeypatch.setenv("TRANSKERN_CACHE_DIR", str(tmp_path))
    for n in (*order, *order):
        compiled = transkern.compile(walked, target="cpu")
        np.testing.assert_allclose(compiled(*sized(n), 5), walked(*sized(n), 5), rtol=1e-12)
        size = str(n) if n <= 16 else "a_0"
        assert kinds(compiled) == [f"(float64[{size},{size}], float64[{size}], int)"]
        info = compiled.cache_info()
        assert info.compiled + info.from_disk == 1
    assert info.from_disk == 1


def test_in_arguments_that_are_made_up_of_others() -> None:
    compiled = transkern.compile(of_a_model, target="cpu")
    for n in (3, 30, 3):
        given = Model(*sized(n)), {"shift": 0.5}, 7
        np.testing.assert_allclose(compiled(*given), of_a_model(*given), rtol=1e-12)
    assert len(kinds(compiled)) == 2
    assert "float64[3,3]" in kinds(compiled)[0]


def stated(a, x, steps):
    for _ in range(steps):
        x = a @ x
    return x


def test_types_that_are_stated() -> None:
    """What is compiled before the first call is what that call asks for."""
    compiled = transkern.compile(stated, target="cpu", types="(float64[4,4], float64[4], int)")
    assert [one.problem for one in transkern.warm(compiled)] == [""]
    np.testing.assert_allclose(compiled(*sized(4), 3), stated(*sized(4), 3), rtol=1e-12)
    assert kinds(compiled) == ["(float64[4,4], float64[4], int)"]


def of_bodies(n):
    rng = np.random.default_rng(n)
    return rng.random((n, 3)), rng.random((n, 3)), rng.random(n), 20


def test_simulations_of_a_few() -> None:
    compiled = transkern.compile(bodies, target="cpu")
    for n in (5, 1, 30, 2, 5, 0):
        given, again = of_bodies(n), of_bodies(n)
        np.testing.assert_allclose(compiled(*given), bodies(*again), rtol=1e-11)
        np.testing.assert_allclose(given[1], again[1], rtol=1e-11)
    assert "(float64[5,3], float64[5,3], float64[5], int)" in kinds(compiled)
    compiled = transkern.compile(pendulum, target="cpu")
    for y in ([1.0, 0.0], [0.5, 0.0, 2.0]):
        np.testing.assert_allclose(compiled(np.array(y), 50, 0.1), pendulum(np.array(y), 50, 0.1), rtol=1e-11)
    assert len(kinds(compiled)) == 2


@pytest.mark.parametrize(("steps", "asked"), [(4, True), (20, False)])
def test_a_few_elements_in_much_other_code(steps: int, asked: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is next to nothing of a long loop is no reason to translate the whole once more; a product is one."""
    monkeypatch.setattr(few_sizes, "_MUCH", 30)
    others = "".join(f"        if x[k] > {k}.5:\n            s += x[k] * {k}.0\n" for k in range(steps))
    for line, finds in (("x[:] = x + 1.0", asked), ("x[:] = a @ x", True)):
        text = f"def f(a, x):\n    s = 0.0\n    for k in range(20):\n        {line}\n{others}    return s\n"
        program = pipeline.program_of(text, "f", "f(float64[m,m], float64[m])", ())
        assert bool(few_sizes.small_sizes(program)) == finds


def potentials(a, steps):
    """Lists whose length is known when the size is are taken apart, and hold numbers of one type each."""
    m = len(a)
    u = [0] * (m + 1)
    for k in range(steps):
        for j in range(m):
            if a[j] > u[j] and k > j:
                u[j + 1] = a[j] - u[(k * j) % m] * 0.5
            else:
                u[j] = k
    return u


def test_where_code_for_small_sizes_is_refused_there_is_that_for_any() -> None:
    compiled = transkern.compile(potentials, target="cpu")
    for n in (3, 9, 3, 40):
        a = np.random.default_rng(n).random(n) * 9
        assert compiled(a, 30) == potentials(a, 30)


def test_many_small_sizes_share_code(monkeypatch: pytest.MonkeyPatch) -> None:
    """Who calls a function with arrays of one element, two, three and so on waits for a few compilations, not for all;
    and calls that change between sizes do not look at their types each time."""
    monkeypatch.setattr(known, "SMALL_SIZES", 2)
    compiled = transkern.compile(walked, target="cpu")
    for n in (*range(2, 7), *range(2, 7)):
        np.testing.assert_allclose(compiled(*sized(n), 5), walked(*sized(n), 5), rtol=1e-12)
    assert len(kinds(compiled)) == 3
    hits = compiled.cache_info().hits
    for _ in range(10):
        for n in (4, 5, 6):
            compiled(*sized(n), 5)
    assert compiled.cache_info().hits <= hits + 1
    compiled = transkern.compile(walked, target="cpu")
    for n in (3, 4, 40):
        compiled(*sized(n), 5)
    hits = compiled.cache_info().hits
    for n in (3, 40, 4) * 5:
        np.testing.assert_allclose(compiled(*sized(n), 5), walked(*sized(n), 5), rtol=1e-12)
    assert compiled.cache_info().hits == hits


def test_devices_multiply_with_libraries(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRANSKERN_CUDA_SIM", "1")
    compiled = transkern.compile(walked, target="cuda")
    np.testing.assert_allclose(compiled(*sized(2), 3), walked(*sized(2), 3), rtol=1e-12)
    assert compiled.cache_info().specialisations == ["cuda: (float64[a_0,a_0], float64[a_0], int)"]


def of_rows(x, y):
    out = np.empty((len(x), len(y)))
    for i in range(len(x)):
        out[i] = np.sqrt(((y - x[i]) ** 2).sum(axis=1))
    return out


def test_many_rows_are_no_few_elements() -> None:
    """Nor where another array is as short as they are: lanes over rows read a turned copy, whose sizes are any."""
    compiled, rng = transkern.compile(of_rows, target="cpu"), np.random.default_rng(0)
    for rows, others in ((200, 150), (200, 5), (5, 4), (200, 5)):
        given = rng.standard_normal((rows, 6)), rng.standard_normal((others, 6))
        np.testing.assert_allclose(compiled(*given), of_rows(*given), rtol=1e-12)
    wanted = ["(float64[x_0,x_1], float64[y_0,x_1])", "(float64[x_0,x_1], float64[5,x_1])"]
    assert kinds(compiled) == [*wanted, "(float64[x_0,6], float64[4,6])"]
    hits = compiled.cache_info().hits
    for _ in range(5):
        compiled(*given)
    assert compiled.cache_info().hits == hits


def test_calls_with_small_sizes_are_told_apart_by_the_code() -> None:
    """Code for any size leaves small ones to code of their own, and takes them where there is to be no more of it."""

    def times(a, x):
        return a @ x

    compiled = transkern.compile(times, target="cpu")
    a = np.arange(400.0).reshape(20, 20)
    for size in (20, 3, 20, 4, 5, 6, 7, 8, 9, 10, 3, 20):
        assert np.allclose(compiled(a[:size, :size].copy(), a[0, :size].copy()), a[:size, :size] @ a[0, :size])
    assert len(compiled.cache_info().specialisations) == 7
    assert compiled.known.last is not None and compiled.known.last.unless_small is not None
