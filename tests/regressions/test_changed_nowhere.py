"""Arrays without a name that a function changes in place: nobody sees it, but the draw and the errors remain."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.fuzz.changes import arguments
from tests.regressions.bodies import both
from tests.regressions.support import alike
from tests.tools import on_target
from tests.trust.against_python import outcome

ARRAYS = (
    "x + 1", "x.copy()", "x[x > 0.5]", "np.ones(3)", "np.arange(5)", "-y", "y.T * 2", "np.concatenate([x, x])",
    "np.concatenate([x, x[x > 0.5]])", "x[::-1] + x", "x.imag", "(x * 1j).imag", "(x * 1j).real", "k[:0] * 2",
    "x[[0, 1]]", "np.broadcast_to(x + 1, (2, len(x)))", "np.where(x > 0.5, x, 0)", "x", "y[1:]",
)  # fmt: skip
DONE = ("r.shuffle({})", "{}.fill(3)", "for _ in range(2): r.shuffle({})", "if x[0] < 9: ({}).fill(7)")


@pytest.mark.parametrize("made", ARRAYS)
def test_arrays_without_a_name(made: str) -> None:
    for done in (*DONE, "np.random.shuffle({})"):
        line = done.format(f"({made})")
        plain, compiled = both(f"r = np.random.default_rng(len(x))\nnp.random.seed(1)\n{line}\nreturn r.random(), x, y")
        found, wanted = (outcome(f, *arguments(1)) for f in (compiled, plain))
        assert found == wanted or found[0] == "refused", line
        assert found == wanted or made in ("x[[0, 1]]", "k[:0] * 2"), line


NAMED = (
    "z = np.ones(4)\nf = z.fill\nf(2)\nreturn z",
    "z = np.ones(4)\nf = z[1:].fill\nf(2)\nreturn z",
    "z = x[x > 0.5]\nf = z[1:].fill\nf(5)\nreturn z",
    "z = x[x > 0.5]\nf = z.fill\nf(5)\nreturn z",
    "z = np.ones(4)\nlist(map(z.fill, [2, 3]))\nreturn z",
    "z = np.arange(4.0)\ngetattr(z, 'fill')(2)\nreturn z",
    "z = np.arange(4)\nr = np.random.default_rng(5).shuffle\nr(z[1:])\nreturn z",
    "z = np.zeros(())\nf = z.fill\nf(9)\nreturn z",
    "z = x + 1\nnp.random.default_rng(5).shuffle(z * 2)\nreturn z",
)
IN_LAMBDAS = (
    "r = np.random.default_rng(5)\nreturn (lambda a: (r.shuffle(a[1:]), a))(x + 1)",
    "return (lambda a: (a.fill(2), a))(x + 1)",
    "return (lambda a: (a[1:].fill(2), a))((x, x + 1)[1])",
)


@pytest.mark.parametrize("body", (*NAMED, *IN_LAMBDAS))
def test_what_a_name_shows(body: str) -> None:
    plain, compiled = both(body)
    found, wanted = (outcome(f, *arguments(1)) for f in (compiled, plain))
    assert found == wanted if body in NAMED else found[0] == "refused"


def shuffled(s: Any, x: Any) -> Any:
    r = np.random.default_rng(s)
    r.shuffle(x + 1)
    (x * 2).fill(5)
    return r.random(), x


@pytest.mark.parametrize("target", ["cpu", "cuda"])
def test_on_targets(target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    alike(shuffled, 7, np.arange(5.0), target=on_target(target, monkeypatch))
