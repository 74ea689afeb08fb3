"""Rows of numbers of which, when they are done, single ones are asked: they need no memory, and are NumPy's."""

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import transkern
from tests.regressions.support import alike
from tests.tools import on_target
from transkern.fuse.loops.chosen import compute_chosen_of_batches
from transkern.ir import nodes as n
from transkern.ir.traverse import walk
from transkern.pipeline import program_of
from transkern.targets.table import target

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")


def nearest_depth(x: Any, y: Any) -> Any:
    t = np.where(x[:, None] > y, x[:, None] - np.sqrt(np.abs(y)), np.inf)
    nearest = t.argmin(axis=1)
    return t[np.arange(len(t)), nearest], nearest


def a_row_at_a_time(x: Any, y: Any) -> Any:
    out = np.empty(len(x))
    for i in range(len(x)):
        t = (y - x[i]) * y
        out[i] = t[np.argmax(t)]
    return out


def loops(x: Any, y: Any) -> Any:
    out = np.zeros(len(x))
    t = np.empty(len(y))
    for i in range(len(x)):
        best = 0
        for j in range(len(y)):
            t[j] = x[i] * y[j] + 1
            if t[j] > t[best]:
                best = j
        out[i] = t[best]
    return out


def first_and_last(x: Any, y: Any) -> Any:
    t = np.abs(x[:, None] - y) * 3.0
    return t.max(axis=1) - t[:, 0], t[:, -1] + t.min(axis=1)


def two_places(x: Any, y: Any) -> Any:
    t = x[:, None] * y - 1
    rows = np.arange(len(x))
    return t[rows, t.argmax(axis=1)] - t[rows, t.argmin(axis=1)]


def changed_before_it_is_read(x: Any, y: Any) -> Any:
    out = np.empty(len(x))
    for i in range(len(x)):
        t = y + x[i]
        k = int(np.argmin(t))
        y[k] += 1.0
        out[i] = t[k]
    return out, y


def changed_row(x: Any, y: Any) -> Any:
    out = np.empty(len(x))
    for i in range(len(x)):
        t = y * x[i]
        t[0] = -1.0
        out[i] = t[np.argmax(t)] + t[0]
    return out


def at_times(x: Any, y: Any) -> Any:
    out = np.zeros(len(x))
    for i in range(len(x)):
        t = y - x[i]
        k = np.argmax(t)
        if x[i] > 0:
            out[i] = t[k]
    return out


def by_another_row(x: Any, y: Any) -> Any:
    out = np.empty(len(x))
    for i in range(len(x)):
        t = np.abs(y - x[i])
        u = t * t - 2 * t
        out[i] = t[u.argmin()] + u[t.argmin()]
    return out


def is_the_least(x: Any, y: Any) -> Any:
    t = np.log1p(np.abs(x[:, None] * y)) + np.tanh(y)
    return t[np.arange(len(x)), t.argmin(axis=1)] == t.min(axis=1)


def greedy(x: Any, y: Any) -> Any:
    """What is taken is out of the question: the mask is changed where the row is read."""
    taken = np.zeros(len(y), bool)
    out = np.full(len(x), -1)
    for i in range(len(x)):
        t = np.abs(x[i] - y) / (np.abs(y) + 1.0) * (x[i] - 0.5 * y)
        t[taken] = np.inf
        best = int(np.argmin(t))
        if t[best] < 2.0:
            out[i] = best
            taken[best] = True
    return out, taken


def in_steps(x: Any, y: Any) -> Any:
    out = np.zeros(len(x))
    for i in range(len(x)):
        t = np.empty(len(y))
        for j in range(len(y)):
            t[j] = x[i] - y[j]
            if t[j] < 0:
                half = 0.5 * y[j]
                t[j] = t[j] * half
            else:
                t[j] += y[j]
            if y[j] > 1:
                t[j] -= 1.0
        out[i] = t[np.argmax(t)]
    return out


def changed_after_it_is_asked(x: Any, y: Any) -> Any:
    """The second question comes behind a change of what the row was made of."""
    out = np.zeros(len(x))
    for i in range(len(x)):
        t = y * x[i]
        t[y < 0] = 0.0
        k = int(np.argmax(t))
        if t[k] > 0:
            y[k] = -y[k]
            out[i] = t[k]
    return out, y


def of_some_alone(x: Any, y: Any) -> Any:
    """The first step is not taken by all: the others have what the row before left there."""
    out = np.zeros(len(x))
    t = np.zeros(len(y))
    for i in range(len(x)):
        for j in range(len(y)):
            if y[j] > x[i]:
                t[j] = y[j] + x[i]
        out[i] = t[np.argmax(t)]
    return out


def outside_of_loops(x: Any, y: Any) -> Any:
    """The array is asked at two places, behind the loops that go through it with the one that makes it."""
    t = np.abs(x - y[0]) * (x + 0.5)
    k = int(t.argmax())
    if t[k] > 3 * t.mean():
        return k, t[k], t[-1]
    return -1, t[-1], 0.0


def of_whole_numbers(x: Any, y: Any) -> Any:
    t = (x * 3).astype(np.int64, copy=False) // 2 if np.isfinite(x).all() else np.zeros(len(x), np.int64)
    k = np.argmin(t)
    return k, t[k]


def made_of_what_changes(x: Any, y: Any) -> Any:
    t = x * 2.0
    k = int(t.argmin())
    x[k] = 7.0
    return t[k], x


def handed_back(x: Any, y: Any) -> Any:
    t = x * 2.0
    return t, t[t.argmax()]


FUNCTIONS: list[Callable[..., Any]] = [
    nearest_depth, a_row_at_a_time, loops, first_and_last, two_places, changed_before_it_is_read, changed_row, at_times,
    by_another_row, is_the_least, greedy, in_steps, changed_after_it_is_asked, of_some_alone,
    outside_of_loops, of_whole_numbers, made_of_what_changes, handed_back,
]  # fmt: skip


def inputs() -> list[tuple[Any, Any]]:
    rng = np.random.default_rng(3)
    special = np.array([np.nan, -0.0, np.inf, 1.0, -np.inf, 0.0, -2.5])
    return [
        (rng.standard_normal(37), rng.standard_normal(6)), (rng.standard_normal(5), rng.standard_normal(41)),
        (rng.standard_normal(3), special), (special, rng.standard_normal(20)), (special, special[::-1].copy()),
        (np.ones(1), np.ones(1)), (np.empty(0), np.ones(3)), (np.ones(3), np.empty(0)), (np.ones(4), np.ones(2)),
        (rng.standard_normal(9), rng.standard_normal(700)), (rng.standard_normal(3), rng.integers(0, 9, 5000) * 1.0),
    ]  # fmt: skip


@pytest.mark.parametrize("function", FUNCTIONS)
def test_as_numpy(function: Callable[..., Any]) -> None:
    for x, y in inputs():
        alike(function, x, y)


@pytest.mark.parametrize("target", ["cuda", "pallas"])
@pytest.mark.parametrize("function", FUNCTIONS)
def test_on_devices(function: Callable[..., Any], target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    alike(function, *inputs()[1], target=on_target(target, monkeypatch))


@pytest.mark.parametrize(
    "function", [nearest_depth, a_row_at_a_time, two_places, at_times, greedy, in_steps, outside_of_loops]
)
def test_no_row_is_kept(function: Callable[..., Any]) -> None:
    compiled = transkern.compile(function)
    compiled(*inputs()[0])
    assert "t" not in compiled.temporaries
    assert "*t = malloc" not in compiled.emit()


@pytest.mark.parametrize(("function", "stays"), [(greedy, True), (nearest_depth, False)])
def test_on_tpus_a_row_of_an_iteration_in_order_stays(function: Callable[..., Any], stays: bool) -> None:
    """It stands beside the vector unit, where computing it twice takes longer: 117 bundles a step instead of 75."""
    source = "import numpy as np\nAny = object\n" + inspect.getsource(function)
    passes = target("pallas").code.passes()
    passes = passes[: passes.index(compute_chosen_of_batches) + 1]
    program = program_of(source, function.__name__, f"{function.__name__}(float32[n],float32[m])", passes)
    names = {s.name for s in walk(program.body) if isinstance(s, (n.Let, n.Assign))}
    assert any(name.startswith("chosen") for name in names) != stays
