"""Seeds that are no integers, and sequences of one element: NumPy's errors, with its texts, and its numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.fuzz.changes import arguments
from tests.regressions.bodies import both
from tests.regressions.support import alike
from tests.tools import on_target
from tests.trust.against_python import outcome

NUMBERS = (
    "1.5", "x[0]", "np.float32(x[1]) / 3", "len(k) / 2", "x[0] > 2", "np.bool_(True)", "1j", "np.nan * x[0]",
    "1e300 * (x[0] + 1)", "True", "len(k) > 2", "np.uint8(k[0])", "-1", "-len(k)",
)  # fmt: skip
SEQUENCES = (
    "[1.5, 2]", "(1, x[0])", "(1, True)", "[]", "x", "x[:0]", "x[: len(k) - 9]", "x > 0", "x[:0] > 0", "x[:1]",
    "x[:1] > 0", "np.array(5)", "np.array(5, np.uint32)", "np.array(1.5)", "k", "k[:1]", "[5]", "[len(k)]", "(k[0],)",
    "[v for v in k]", "[v for v in k if v > 99]", "[v for v in x]", "[v for v in x if v > 99]", "[v > 1 for v in k]",
    "[int(v) for v in k[:1]]", "range(len(k), len(k) + 1)", "range(5)", "[[5]]", "np.ones((1, 2), int)",
)  # fmt: skip


@pytest.mark.parametrize("seed", (*NUMBERS, *SEQUENCES))
def test_generators(seed: str) -> None:
    for made in (f"np.random.default_rng({seed}).random()", f"np.random.RandomState({seed}).rand()"):
        plain, compiled = both(f"return {made}")
        found, wanted = (outcome(f, *arguments(1)) for f in (compiled, plain))
        assert found == wanted, made


@pytest.mark.parametrize("seed", ("1.5", "[1.5]", "x", "x[0] > 0", "[5]", "(len(k),)", "np.array([len(k)])", "True"))
def test_seed_for_all(seed: str) -> None:
    plain, compiled = both(f"np.random.seed({seed})\nreturn np.random.rand()")
    found, wanted = (outcome(f, *arguments(1)) for f in (compiled, plain))
    assert found == wanted


def of_one(n: Any) -> Any:
    return np.random.RandomState([n]).rand()


def of_none(x: Any) -> Any:
    return np.random.default_rng(x[0]).random()


@pytest.mark.parametrize("target", ["cpu", "cuda"])
def test_on_targets(target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    alike(of_one, 7, target=on_target(target, monkeypatch))
    alike(of_none, np.array([2.5, 1.0]), target=on_target(target, monkeypatch))
