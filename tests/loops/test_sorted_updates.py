"""Updates of rows and of several arrays, with conditions and checks, in loops: by sorted places, with NumPy's bits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import transkern
from tests.tools import on_target
from transkern.fuse.devices.sorting import FROM
from transkern.pipeline import passes_for, program_of
from transkern.targets.cuda.emit import emit

CASES: list[Callable[..., Any]] = []


def case(f: Callable[..., Any]) -> Callable[..., Any]:
    CASES.append(f)
    return f


@case
def rows(x: Any, k: Any, m: int) -> Any:
    sums = np.zeros((m, x.shape[1]))
    for i in range(len(k)):
        sums[k[i]] += x[i]
    return sums


@case
def rows_and_counts(x: Any, k: Any, m: int) -> Any:
    sums, count, most = np.zeros((m, x.shape[1])), np.zeros(m, np.float32), np.full(m, -np.inf)
    for i in range(len(k)):
        sums[k[i]] += x[i]
        count[k[i]] += 1
        most[k[i]] = np.maximum(most[k[i]], x[i, 0])
    return sums, count, most


@case
def element_by_element(x: Any, k: Any, m: int) -> Any:
    sums = np.zeros((m, x.shape[1]))
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            sums[k[i], j] += x[i, j] * (j + 1)
    return sums


@case
def columns_first(x: Any, k: Any, m: int) -> Any:
    sums = np.zeros((x.shape[1], m))
    for i in range(len(k)):
        for j in range(x.shape[1]):
            sums[j, k[i]] += x[i, j]
    return sums


@case
def at(x: Any, k: Any, m: int) -> Any:
    sums = np.zeros((m, x.shape[1]))
    np.add.at(sums, k, x)
    return sums


@case
def where_asked(x: Any, k: Any, m: int) -> Any:
    sums, count = np.zeros(m), np.zeros(m)
    for i in range(len(k)):
        if x[i, 0] > 0:
            sums[k[i]] += x[i, 1]
            count[k[i]] += 1
    return sums, count


@case
def two_places(x: Any, k: Any, m: int) -> Any:
    table = np.zeros((m, 3, x.shape[1]))
    for i in range(len(k)):
        table[k[i], i % 3] += x[i]
    return table


@case
def products(x: Any, k: Any, m: int) -> Any:
    p = np.ones((m, x.shape[1]))
    for i in range(len(k)):
        p[k[i]] = (1 + x[i] / 64) * p[k[i]]
    return p


@case
def into_an_argument(x: Any, k: Any, m: int) -> Any:
    for i in range(len(k)):
        x[k[i] % m] -= x[i + m * 0 - len(k)] * 0.5
    return x


@case
def gathered(x: Any, k: Any, m: int) -> Any:
    sums = np.zeros(m)
    table = np.arange(m)[::-1].copy()
    for i in range(len(k)):
        q = table[k[i]]
        sums[q] += x[i, 0]
    return sums


@case
def in_steps(x: Any, k: Any, m: int) -> Any:
    centers = x[:m].copy()
    for _ in range(3):
        sums, count = np.zeros_like(centers), np.zeros(m)
        for i in range(len(k)):
            sums[k[i]] += x[i] * centers[0, 0]
            count[k[i]] += 1
        centers = sums / np.maximum(count, 1)[:, None]
    return centers


@case
def of_integers(x: Any, k: Any, m: int) -> Any:
    count = np.zeros((m, 2), np.int32)
    for i in range(len(k)):
        count[k[i], 0] += 1
        count[k[i], 1] += i
    return count


@case
def rows_of_integers(x: Any, k: Any, m: int) -> Any:
    count = np.zeros((m, x.shape[1]), np.int64)
    for i in range(len(k)):
        for j in range(x.shape[1]):
            count[k[i], j] += i + j
    return count


def _given(count: int, m: int, d: int = 3) -> tuple[Any, ...]:
    random = np.random.default_rng(count + m)
    x = random.standard_normal((count, d))
    if count > 9 and d:
        x[3:9, 0] = np.nan, np.inf, -np.inf, -0.0, 0.0, 5e-324
    return x, random.integers(-m, m, count), m


def _outcome(f: Callable[..., Any], given: tuple[Any, ...]) -> tuple[str, tuple[Any, ...]]:
    x, k, m = given
    held = x.copy()
    try:
        result = f(held, k, m)
    except (IndexError, ValueError) as error:
        return f"{type(error).__name__}: {error}", (held,)
    return "", (held, *(result if isinstance(result, tuple) else (result,)))


@pytest.mark.parametrize("target", ["cpu", "cuda"])
@pytest.mark.parametrize("f", CASES)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_updates_have_numpys_bits(f: Callable[..., Any], target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    made = transkern.compile(f, target=on_target(target, monkeypatch))
    long, bad = _given(FROM + 300, 7), _given(FROM + 300, 7)
    bad[1][[FROM - 7, FROM + 9]] = 7, -9
    for given in (long, bad, _given(FROM + 5, 3 * FROM, 2), _given(31, 7), _given(31, 7, 1), _given(0, 7)):
        (said, wanted), (told, found) = _outcome(f, given), _outcome(made, given)
        assert told == said
        for one, two in zip(found, wanted, strict=True):
            assert one.dtype == two.dtype
            np.testing.assert_array_equal(one, two)
            if one.dtype.kind == "f":
                np.testing.assert_array_equal(*(np.signbit(v[~np.isnan(v)]) for v in (one, two)))


TEXT = """
def f(x, k, m):
    sums = np.zeros((m, x.shape[1]), np.float32)
    count = np.zeros(m, np.float32)
    for i in range(len(k)):
        sums[k[i]] += x[i]
        count[k[i]] += 1
    return sums, count
"""
STEPS = """
def f(x, k, m):
    c = np.ones((m, x.shape[1]), np.float32)
    for _ in range(9):
        s = np.zeros_like(c)
        for i in range(len(k)):
            s[k[i]] += x[i] * c[0]
        c = s / 2
    return c
"""


@pytest.mark.parametrize("text", [TEXT, STEPS])
def test_no_thread_goes_through_all_of_them(text: str) -> None:
    program = program_of("import numpy as np\n" + text, "f", "f(float32[n,d],int64[n],int)", passes_for("cuda"))
    code, launcher = emit(program)
    assert launcher.count("cp.argsort(") == 1 and "acts" not in code, launcher
