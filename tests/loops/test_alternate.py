"""Arrays of two rows that take turns: where they are made, and that NumPy's bits stay."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import transkern
from tests.loops.support import check_bits
from transkern.fuse.passes import PASSES
from transkern.fuse.states.alternate import alternate_rows
from transkern.pipeline import program_of

ASIDE = "for i in range(k):\n   z[i] = y[i] * 0.5 + t[k] * y[k - 1 - i]\n"
BACK = "  for i in range(k):\n   y[i] = z[i]\n"

# the body of a loop over k in range(1, n), in a function of x, t: float64[n], with temporary arrays y and z
STEPS = {
    "copied back": (ASIDE + BACK, True),
    "copied back, and an element more": (ASIDE + BACK + "  y[k] = t[k]\n", True),
    "an element more that the next step does not store": (ASIDE + BACK + "  y[n - 1] = t[k] + y[n - 1]\n", False),
    "an element before": ("y[k] = t[k]\n  " + ASIDE + BACK, False),
    "read before and after": (
        "s = s * 0.5 + y[k - 1]\n  " + ASIDE + BACK + "  s = s + y[0]\n  y[k] = s\n", True
    ),
    "elements outside are read": (
        "for i in range(1, n - 1):\n   z[i] = y[i - 1] * 0.25 + y[i + 1] * 0.5\n"
        "  for i in range(1, n - 1):\n   y[i] = z[i]\n   x[i] = x[i] + z[i]\n", None
    ),
    "fewer at each step": (
        "for i in range(n - k):\n   z[i] = y[i] + t[i]\n  for i in range(n - k):\n   y[i] = z[i]\n", False
    ),
    "a range that moves": (
        "for i in range(k, n):\n   z[i] = y[i] + t[i]\n  for i in range(k, n):\n   y[i] = z[i]\n", False
    ),
    "in an argument": (
        "for i in range(k + 1):\n   z[i] = x[k - i] + t[i]\n  for i in range(k + 1):\n   x[i] = z[i]\n", True
    ),
    "read in reverse while copied": (
        "for i in range(k):\n   z[i] = y[i] + t[k] * y[k - 1 - i]\n"
        "  for i in range(k):\n   y[i] = z[i]\n   x[i] = x[i] + 0.5 * z[k - 1 - i]\n", True
    ),
    "too dear to be computed twice": (
        "for i in range(k):\n   z[i] = y[i] / (2.0 + t[i]) / (3.0 + y[k - 1 - i]) + y[k - 1 - i] / 3.0\n"
        "  for i in range(k):\n   y[i] = z[i]\n   x[i] = x[i] + 0.5 * z[k - 1 - i]\n", True
    ),
    "read aside what an earlier step computed": (
        "for i in range(k):\n   z[i] = y[i] + t[k] * y[k - 1 - i]\n"
        "  for i in range(k):\n   y[i] = z[i]\n   x[i] = x[i] + 0.5 * z[n - 1 - i]\n", False
    ),
    "what is computed aside is used later": (ASIDE + BACK + "  s = s + z[0]\n", False),
    "the second loop changes what the first one reads": (
        "for i in range(k):\n   z[i] = y[i] + x[k - 1 - i]\n"
        "  for i in range(k):\n   y[i] = z[i]\n   x[i] = x[i] + 0.5 * z[k - 1 - i]\n", False
    ),
    "a value changed on the way": (
        "for i in range(k):\n   z[i] = y[i] + t[k] * y[k - 1 - i]\n  for i in range(k):\n   y[i] = z[i] * 0.5\n", False
    ),
    "left early": (ASIDE + BACK + "  if y[0] > 1e3:\n   break\n", False),
    "sums of the next step": (
        "s = 0.0\n  for i in range(k):\n   s += t[k - i] * y[i]\n  s = s * 0.25\n"
        "  for i in range(k):\n   z[i] = y[i] + s * y[k - 1 - i]\n" + BACK + "  y[k] = s\n", True
    ),
    "array statements": (
        "z[:k] = y[:k] + t[k] * y[:k][::-1]\n  y[:k] = z[:k]\n  y[k] = t[k]\n", None
    ),
}  # fmt: skip


def text(step: str) -> str:
    return (
        "import numpy as np\ndef f(x, t):\n n = x.shape[0]\n y = x * 0.5\n z = np.zeros(n)\n s = 0.0\n"
        f" for k in range(1, n):\n  {step} return s, y\n"
    )


@pytest.mark.parametrize("name", STEPS)
def test_where(name: str) -> None:
    step, made = STEPS[name]
    program = program_of(text(step), "f", "f(float64[n], float64[n])", PASSES[: PASSES.index(alternate_rows)])
    assert made is None or (alternate_rows(program) != program) == made


@pytest.mark.parametrize("name", STEPS)
def test_python_s_bits(name: str, tmp_path: Path) -> None:
    check_bits(text(STEPS[name][0]), tmp_path, (1, 2, 3, 9, 10, 11, 40, 41))


def test_steps_of_a_larger_loop(tmp_path: Path) -> None:
    """What a later run of the loop reads is copied back."""
    path = tmp_path / "runs.py"
    path.write_text(
        "import numpy as np\ndef f(x, t):\n n = x.shape[0]\n y = x * 0.5\n z = np.zeros(n)\n"
        " for run in range(3):\n  for k in range(1, n):\n"
        "   for i in range(k):\n    z[i] = y[i] * 0.5 + t[run] * y[k - 1 - i]\n"
        "   for i in range(k):\n    y[i] = z[i]\n  x[run] = y[n // 2]\n return x\n"
    )
    space: dict[str, Any] = {}
    exec(compile(path.read_text(), str(path), "exec"), space)
    for size in (5, 16, 17, 33):
        x, t = np.random.default_rng(size).standard_normal((2, size))
        got, expected = transkern.compile(space["f"], target="cpu")(x.copy(), t), space["f"](x.copy(), t)
        assert got.tobytes() == expected.tobytes()
