"""A next step's sums in the loop that computes what they add up: where it is done, and that Python's bits stay."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.loops.support import check_bits
from transkern.fuse.passes import PASSES
from transkern.fuse.schedule.overlap import overlap_sums
from transkern.pipeline import program_of

# the body of a loop over k in range(1, n), in a function of x, t: float64[n]; whether the sum moves
STEPS = {
    "elements of the same range": (
        "s = 0.0\n  for i in range(k):\n   s += t[k - i] * x[i]\n"
        "  for i in range(k + 1):\n   x[i] = x[i] * 0.75 + s * t[i]", True
    ),
    "a sum and a product, from elements": (
        "s = t[k]\n  p = 1.0\n  for i in range(k):\n   s -= t[k - i] * x[i]\n   p *= x[i] + 1.25\n"
        "  r = s / (1.0 + p * p)\n  for i in range(k + 1):\n   x[i] = x[i] * 0.75 + r * t[i]", True
    ),
    "a loop between, over an array of its own": (
        "s = 0.0\n  for i in range(k):\n   s += y[i] * x[k - i]\n"
        "  for i in range(k + 1):\n   z[i] = y[i] - s * y[k - i]\n  for i in range(k + 1):\n   y[i] = z[i]", True
    ),
    "the whole array at each step": (
        "s = 0.0\n  for i in range(n):\n   s += x[i] * x[i]\n  for i in range(n):\n   x[i] = x[i] / (1.0 + s)", True
    ),
    "of the element before": (
        "s = 0.0\n  for i in range(1, n):\n   s += x[i - 1]\n  for i in range(1, n):\n   x[i] = t[i] * s", True
    ),
    "of the element behind": (
        "s = 0.0\n  for i in range(n - 1):\n   s += x[i + 1]\n  for i in range(n - 1):\n   x[i] = t[i] * s", False
    ),
    "in reverse": (
        "s = 0.0\n  for i in range(n):\n   s += x[n - 1 - i]\n  for i in range(n):\n   x[i] = t[i] * s", False
    ),
    "one element more": (
        "s = 0.0\n  for i in range(k):\n   s += x[i]\n  for i in range(k):\n   x[i] = t[i] * s", True
    ),
    "one element more, stored after the loop": (
        "s = 0.0\n  for i in range(k):\n   s += x[i] * t[k - i]\n"
        "  for i in range(k):\n   x[i] = t[i] * s\n  x[k] = s", True
    ),
    "two elements more, stored after the loop": (
        "s = 0.0\n  for i in range(2 * k):\n   s += x[i]\n"
        "  for i in range(2 * k):\n   x[i] = t[i] * s\n  x[2 * k] = s\n  x[2 * k + 1] = t[k]", True
    ),
    "three elements more": (
        "s = 0.0\n  for i in range(k):\n   s += x[i]\n  for i in range(k - 2):\n   x[i] = t[i] * s", False
    ),
    "one element more of none": (
        "s = 0.0\n  for i in range(5, k):\n   s += x[i]\n  for i in range(5, k):\n   x[i] = t[i] * s", False
    ),
    "an element stored after the loop that the sum has passed": (
        "s = 0.0\n  for i in range(k):\n   s += x[i]\n  for i in range(k):\n   x[i] = t[i] * s\n  x[k - 1] = 0.5", False
    ),
    "an element stored after the loop from the step's sum": (
        "s = 0.0\n  for i in range(k):\n   s += x[i]\n  for i in range(k):\n   x[i] = t[i] * s\n  y[k] = s", True
    ),
    "another variable before the sum": (
        "r = r * 0.5 + 0.25\n  s = 0.0\n  for i in range(k):\n   s += x[i]\n  s = s * r\n"
        "  for i in range(k):\n   x[i] = t[i] * s", True
    ),
    "the sum before, handed on before the sum": (
        "r = s * 0.5\n  s = 0.0\n  for i in range(k):\n   s += x[i]\n  for i in range(k):\n   x[i] = t[i] * s * r", True
    ),
    "a range of which nothing is known": (
        "s = 0.0\n  for i in range(k // 2):\n   s += x[i]\n  for i in range(k):\n   x[i] = t[i] * s", False
    ),
    "a total over all steps": (
        "for i in range(n):\n   s += x[i]\n  for i in range(n):\n   x[i] = t[i] * s", False
    ),
    "begins with an element that the step before changes": (
        "s = x[k]\n  for i in range(n):\n   s += x[i]\n  for i in range(n):\n   x[i] = t[i] * s", False
    ),
    "changed between": (
        "s = 0.0\n  for i in range(n):\n   s += x[i]\n  s = s * 0.5\n  for i in range(n):\n   x[i] = t[i] * s", True
    ),
    "left early": (
        "s = 0.0\n  for i in range(n):\n   s += x[i]\n  if s > 2.0:\n   break\n"
        "  for i in range(n):\n   x[i] = t[i] * s", False
    ),
    "elements that cost more than the sum leaves time for": (
        "s = 0.0\n  for i in range(n):\n   s += x[i]\n"
        "  for i in range(n):\n   x[i] = t[i] / (2.0 + s / (3.0 + t[i] / (4.0 + s / (5.0 + t[i] / 7.0))))", False
    ),
}  # fmt: skip


def text(step: str) -> str:
    return (
        "import numpy as np\ndef f(x, t):\n n = x.shape[0]\n y = x * 0.5\n z = np.zeros(n)\n s = r = 0.0\n"
        f" for k in range(1, {'n // 2' if '2 * k' in step else 'n'}):\n  {step}\n return s, r, y, z\n"
    )


@pytest.mark.parametrize("name", STEPS)
def test_where(name: str) -> None:
    step, moves = STEPS[name]
    program = program_of(text(step), "f", "f(float64[n], float64[n])", PASSES[: PASSES.index(overlap_sums)])
    assert (overlap_sums(program) != program) == moves


@pytest.mark.parametrize("name", STEPS)
def test_python_s_bits(name: str, tmp_path: Path) -> None:
    check_bits(text(STEPS[name][0]), tmp_path, (1, 2, 3, 9, 40))
