"""Loops that go in lanes, or lose an array, in whatever form they were written: what their passes make of them, and
NumPy's and Python's answers for special values."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from tests.regressions.support import alike
from tests.tools import require
from transkern import pipeline
from transkern.fuse.passes import PASSES
from transkern.ir import nodes as n
from transkern.ir.expr import Apply, Expr, Load
from transkern.ir.traverse import exprs, walk, walk_expr

require("cc")
pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")


def limited(x: Any, a: Any, k: int) -> Any:
    """A ring whose elements set a variable in branches."""
    out = np.empty(len(x))
    for i in range(len(x)):
        left, right = x[i] - x[i - 1], x[(i + 1) % len(x)] - x[i]
        slope = 0.0
        if left * right > 0:
            slope = left if abs(left) < abs(right) else right
        out[i] = slope
    return out


def last_of_branches(x: Any, a: Any, k: int) -> Any:
    """The variable is read behind the loop."""
    s = 0.0
    for i in range(len(x)):
        if x[i - 1] > 0:
            s = x[i]
        a[i % len(a), 0] = s
    return s


def edges_twice(x: Any, a: Any, k: int) -> Any:
    p = np.pad(a, 2, mode="edge")
    return p[:, 4:] + p[:, 1:-3] - p[:, 2:-2]


def above(x: Any, a: Any, k: int) -> Any:
    """Windows of a length that may be negative."""
    out = np.empty(max(x.size - abs(k) + 1, 0))
    for i in range(out.size):
        out[i] = (x[i : i + k] * 2 > x[i]).sum()
    return out


def of_truths(x: Any, a: Any, k: int) -> Any:
    p = np.pad(a > 0, 1, constant_values=True)
    w = np.lib.stride_tricks.sliding_window_view(p, (3, 3))
    return w.all(axis=(2, 3)), w.any(axis=-1), w[..., 0].all(axis=-1)


def of_integers(x: Any, a: Any, k: int) -> Any:
    w = np.lib.stride_tricks.sliding_window_view(np.nan_to_num(x, nan=3, posinf=200, neginf=-7).astype(np.int8), 5)
    return w.max(axis=1), w.min(axis=1), w.sum(axis=1), w.prod(axis=1)


def horner(x: Any, a: Any, k: int) -> Any:
    y = np.zeros_like(x)
    for c in a[0]:
        y *= x
        y += c
    return y


def drawdowns(x: Any, a: Any, k: int) -> Any:
    w = np.cumprod(1 + a, axis=0)
    return w[-1], (w / np.maximum.accumulate(w, axis=0) - 1).min(axis=0)


def ranges(x: Any, a: Any, k: int) -> Any:
    w = np.cumsum(a, axis=0)
    return w.max(axis=0) - w.min(axis=0), (w > 0).sum(axis=0)


def paths(x: Any, a: Any, k: int) -> Any:
    total, best = 0.0, -1.0
    for j in range(a.shape[1]):
        s = 0.0
        for t in range(a.shape[0]):
            s = 0.5 * s + a[t, j]
        total += max(np.sqrt(abs(s)) - 1, 0.0)
        best = max(best, s)
    return total, best


def pairs(x: Any, a: Any, k: int) -> Any:
    e = 0.0
    for i in range(len(x)):
        for j in range(i + 1, len(x)):
            e += x[i] * x[j] / np.sqrt((x[i] - x[j]) ** 2 + 1)
    return e


def chained(x: Any, a: Any, k: int) -> Any:
    """Each term takes what was handed on."""
    s, t = 0.0, 1.0
    for i in range(len(x)):
        s = np.sqrt(abs(s + x[i]))
        t += s / (1 + x[i] * x[i])
    return s, t


def noise(x: Any, a: Any, k: int) -> Any:
    w = 0.3 * a + np.sqrt(0.5) * a[::-1]
    v = np.zeros(a.shape[1])
    for t in range(a.shape[0]):
        v = 0.9 * v + w[t]
    return v


def noise_of_what_changes(x: Any, a: Any, k: int) -> Any:
    w = 0.3 * a
    for t in range(1, a.shape[0]):
        a[t] = a[t - 1] + w[t] * 0.5
    return a


def listed(x: Any, a: Any, k: int) -> Any:
    out = [a[0] * 2]
    s = a[0]
    for t in range(1, len(a)):
        s = s + 0.1 * (a[t] - s)
        out.append(s)
    return np.array(out)


def listed_at_times(x: Any, a: Any, k: int) -> Any:
    out = []
    for t in range(1, len(a)):
        out.append(a[t])
        if a[t, 0] > 0:
            out.append(-a[t])
    return np.array(out), len(out)


def appended(x: Any, a: Any, k: int) -> Any:
    out = []
    for j in range(a.shape[1]):
        s = 0.0
        for t in range(a.shape[0]):
            s = s * 0.9 + a[t, j]
        out.append(s)
        out.append(-s)
    return out, len(out)


def left_early(x: Any, a: Any, k: int) -> Any:
    out = []
    for v in x:
        if v > 3:
            break
        out.append(v)
    return out


def masked_depth(x: Any, a: Any, k: int) -> Any:
    i, j = np.arange(k)[:, None], np.arange(k)[None, :]
    depth = np.full((k, k), 1.5)
    for c in x:
        z = i * c - j
        m = z < depth
        depth[m] = z[m]
    return depth


def chosen(x: Any, a: Any, k: int) -> Any:
    m = a > 0.5
    out = np.empty_like(a)
    out[:, 0] = 1
    out[:, 1:] = np.where(m[:, 1:], 0.5 * (a[:, :-1] + a[:, 1:]), a[:, 1:])
    return out


def means_of_groups(x: Any, a: Any, k: int) -> Any:
    points = np.round(np.stack([x, -x], axis=1) * 4)
    labels = (np.abs(x) * 2).astype(int)
    return np.array([points[labels == c].mean(axis=0) for c in range(k)])


FUNCTIONS = (
    limited, last_of_branches, edges_twice, above, of_truths, of_integers, horner, drawdowns, ranges, paths, pairs,
    chained, noise, noise_of_what_changes, listed, listed_at_times, appended, left_early, masked_depth, chosen,
    means_of_groups,
)  # fmt: skip


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_answers_are_numpys(function: Callable[..., Any]) -> None:
    rng = np.random.default_rng(0)
    for size, shape, k in ((1, (1, 1), 1), (3, (2, 3), 2), (40, (9, 70), 5), (70, (33, 130), -3), (40, (3, 9), 0)):
        x, a = rng.standard_normal(size), rng.standard_normal(shape)
        for special in (None, np.nan, np.inf, -0.0):
            if special is not None:
                x[size // 2], a[shape[0] // 2, shape[1] // 3] = special, special
            alike(function, x, a, max(k, 1) if function is masked_depth else k)


def test_terms_are_added_up_in_their_order() -> None:
    import transkern

    x = np.random.default_rng(0).standard_normal(3000) * 10.0 ** np.random.default_rng(1).integers(-9, 9, 3000)
    for size in (1, 31, 1024, 1025, 3000):
        assert transkern.compile(pairs_with_one, target="cpu")(x[:size]) == pairs_with_one(x[:size])


def pairs_with_one(x: Any) -> Any:
    e = 0.0
    for v in x:
        e += 1.0 / (1.0 + v * v)
    return e


# --- what the passes make of them


def program_of(function: Callable[..., Any]) -> n.Program:
    source = "import numpy as np\n" + inspect.getsource(function).replace(": Any", "").replace(": int", "")
    source = source.replace(" -> Any", "")
    name = function.__name__
    return pipeline.program_of(source, name, f"{name}(float64[n], float64[m,l], int)", PASSES)


def loops(program: n.Program) -> Iterator[n.Loop]:
    return (s for s in walk(program.body) if isinstance(s, n.Loop))


def asks(e: Expr) -> bool:
    places = ("less", "minimum", "remainder")
    return isinstance(e, Apply) and e.op in places and e.args[0].dtype == "index"


def test_a_ring_with_branches_asks_for_no_place_between_its_ends() -> None:
    (main,) = (s for s in loops(program_of(limited)) if s.kind == "parallel")
    assert not any(map(asks, exprs(main.body)))


def test_a_clamp_of_a_clamp_is_split_at_both() -> None:
    inner = [s for s in loops(program_of(edges_twice)) if s.kind == "parallel" and not any(map(_is_loop, walk(s.body)))]
    assert inner and not any(asks(e) and s.axis in repr(e) for s in inner for e in exprs(s.body))


def _is_loop(s: n.Stmt) -> bool:
    return isinstance(s, n.Loop)


def test_a_window_ends_where_it_does_without_a_question() -> None:
    inner = [x for s in loops(program_of(above)) for x in s.body if isinstance(x, n.Loop)]
    plain = [x for x in inner if not any(isinstance(e, Apply) and e.op == "where" for e in walk_expr(x.stop))]
    assert 0 < len(plain) < len(inner)


@pytest.mark.parametrize("function", [horner, drawdowns, ranges, paths, noise, listed, appended])
def test_loops_in_order_are_around_lanes(function: Callable[..., Any]) -> None:
    around = [s for s in loops(program_of(function)) if s.kind == "sequential" and any(map(_is_loop, s.body))]
    assert any("lane" in x.axis for s in around for x in s.body if isinstance(x, n.Loop))


@pytest.mark.parametrize(
    "function, made", [(noise, {"w"}), (drawdowns, {"running_max"}), (masked_depth, {"z", "m"})]
)
def test_arrays_that_go(function: Callable[..., Any], made: set[str]) -> None:
    assert not made & {s.buffer for s in walk(program_of(function).body) if isinstance(s, n.Alloc)}


def test_an_array_of_what_the_loop_changes_stays() -> None:
    assert "w" in {s.buffer for s in walk(program_of(noise_of_what_changes).body) if isinstance(s, n.Alloc)}


def test_few_truths_are_an_expression() -> None:
    assert not any(isinstance(s, (n.Accumulator, n.Break)) for s in walk(program_of(of_truths).body))


def test_a_choice_is_between_names() -> None:
    found = [e for e in exprs(program_of(chosen).body) if isinstance(e, Apply) and e.op == "where"]
    arms = [x for e in found if e.dtype == "float64" for x in e.args[1:]]
    assert arms and not any(isinstance(y, Load) for x in arms for y in walk_expr(x))


def test_columns_are_brought_together_for_means_of_groups() -> None:
    source = "import numpy as np\ndef f(p, g, k):\n return np.array([p[g == c].mean(axis=0) for c in range(k)])"
    program = pipeline.program_of(source, "f", "f(float64[n,2], int64[n], int)", PASSES)
    assert sum(s.buffer.startswith("p_") for s in walk(program.body) if isinstance(s, n.Store)) == 2
