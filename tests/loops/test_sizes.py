"""What checks say of sizes makes lengths simple, and loops over them meet."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import transkern
from tests.regressions.support import alike
from transkern import pipeline
from transkern.frontend.sources.source import live_function
from transkern.frontend.specialise import specialise
from transkern.frontend.values.types import parse_signature
from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Apply, Var
from transkern.ir.facts import facts_of, implied
from transkern.ir.traverse import walk, walk_expr


def slopes(u: Any, dx: Any) -> Any:
    down, right = np.gradient(u, dx)
    return down + right, np.gradient(u, axis=1) - right


def asserted(u: Any, dx: Any) -> Any:
    if not (u.shape[0] < 3 or u.shape[1] < 3):
        inner = u[1:-1, 1:-1] * dx
        return inner, u[:2] + u[-2:], u[:, :1].sum()
    return None


def edged(u: Any, dx: Any) -> Any:
    if len(u) < 2:
        raise ValueError("too few")
    return np.concatenate([u[:1], (u[2:] + u[:-2]) / dx, u[-1:]]), np.pad(u, 1, mode="edge")


FUNCTIONS = (slopes, asserted, edged)


def test_what_is_not_less_is_at_least() -> None:
    x, y = Var("x", "index"), Var("y", "index")
    two = b.index(2)
    condition = b.logical_not(b.either(b.compare("less", x, two), b.compare("greater", y, x)))
    facts = facts_of(condition)
    assert implied(b.compare("greater_equal", x, b.index(1)), facts)
    assert implied(b.compare("less_equal", y, x), facts)
    assert not implied(b.compare("greater_equal", x, b.index(3)), facts)
    z = Var("z", "float64")  # which may be no number
    assert not facts_of(b.logical_not(b.compare("less", z, z)))


def test_slopes_are_one_pass() -> None:
    made = pipeline.run(specialise(live_function(slopes), parse_signature("slopes(float64[n,m],float)")[1], True))
    roles = {made.buffers[s.buffer].role for s in walk(made.body) if isinstance(s, n.Alloc)}
    assert roles == {"result"}
    lengths = [e for s in walk(made.body) if isinstance(s, n.Loop) for e in walk_expr(s.stop) if isinstance(e, Apply)]
    assert not any(e.op == "maximum" for e in lengths)


@pytest.mark.parametrize("shape", [(2, 2), (3, 5), (4, 2), (9, 40), (1, 5), (5, 1), (0, 3), (2, 0)])
@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_they_are_as_numpys(function: Callable[..., Any], shape: tuple[int, ...]) -> None:
    rng = np.random.default_rng(0)
    alike(function, rng.integers(-8, 9, shape).astype(float), 0.5)
    alike(function, rng.integers(-8, 9, shape[::-1]).astype(np.float32).T, 2.0)


def behind_a_copy(x: Any, k: Any) -> Any:
    out = np.empty(len(x) * (k + 2))
    out[: len(x)] = -x
    out[len(x) : -len(x)] = np.repeat(x, k)
    out[-len(x) :] = x * 2
    return out


def test_sizes_that_have_names_are_those_they_are_made_of() -> None:
    """What is repeated as often as an argument says is stored without a division for each element."""
    code = transkern.compile(behind_a_copy, types="behind_a_copy(float64[n],int)").emit()
    assert "floordiv_index(" not in code
    for k in (3, 1, 0, -1):
        alike(behind_a_copy, np.arange(5.0), k)
    alike(behind_a_copy, np.arange(1.0), 2)


def halves(x: Any, base: Any, depth: Any) -> Any:
    out = np.zeros((depth, x.shape[0]))
    for k in range(depth):
        rows = np.reshape(x, (base**k, base ** (depth - k)))
        out[k, : base**k] = rows.sum(axis=1) / base**k
    return out


def test_a_power_that_is_a_size_is_computed_before_the_loops() -> None:
    alike(halves, np.arange(27.0), 3, 3)
    alike(halves, np.arange(8.0), 2, 3)
    alike(halves, np.arange(1.0), 1, 4)
    alike(halves, np.arange(9.0), 2, 3)
    code = transkern.compile(halves, types="halves(float64[n],int,int)").emit()
    loops = [line for line in code.splitlines() if line.lstrip().startswith("for (")]
    assert loops and not any("ipow_index(" in line for line in loops)


def ramp(width: Any, step: Any) -> Any:
    x = np.linspace(-1.0, 1.0, int(width))
    steps = np.zeros((int(width), int(np.ceil(width / step))))
    for k in range(steps.shape[1]):
        steps[:, k] = x * k
    return steps.sum(axis=1), steps


def test_a_float_that_is_a_size_is_converted_once() -> None:
    for width, step in ((9.0, 2.0), (1.5, 1.0), (0.0, 3.0), (4.0, 0.7), (float("nan"), 1.0), (-2.0, 1.0), (3.0, 0.0)):
        alike(ramp, width, step)
    code = transkern.compile(ramp, types="ramp(float,float)").emit()
    loops = [line for line in code.splitlines() if line.lstrip().startswith("for (")]
    assert loops and not any("whole_index(" in line for line in loops)
