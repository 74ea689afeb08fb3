"""Numbers made of sums, in kernels where other kernels need them: the launcher does not wait for the device."""

from __future__ import annotations

import inspect
import textwrap
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.tools import require
from transkern.pipeline import passes_for, program_of
from transkern.targets.cuda.load import Printed, load, printed

CASES: dict[Callable[..., Any], int] = {}
"""With how often the launcher asks the device for a number."""


def case(asks: int) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    def register(f: Callable[..., Any]) -> Callable[..., Any]:
        CASES[f] = asks
        return f

    return register


@case(1)
def power_method(a, v, k):
    norm = np.float32(0.0)
    for _ in range(k):
        w = a @ v
        norm = np.sqrt((w * w).sum())
        v = w / norm
    return norm, v


@case(0)
def normalised(a, v, k):
    for _ in range(k):
        total = (v * v).sum()
        inverse = 1 / (np.sqrt(total) + 1)
        v = a @ (v * inverse)
    return v


@case(1)
def until_it_is_small(a, v, k):
    for _ in range(k):
        change = np.abs(v).sum() / 2
        v = a @ v / change
        if change < 1e-3:
            break
    return v


@case(2)
def two_of_them(a, v, k):
    s, t = np.float32(1.0), np.float32(2.0)
    for _ in range(k):
        s = (v * v).sum() * t
        v = a @ (v / s)
        t = np.float32(3.0)
    return v, s, t


@case(1)
def carried_on(a, v, k):
    """A number that goes on from itself stays with the host."""
    s = np.float32(0.0)
    for _ in range(k):
        w = a @ v
        s = s * np.float32(0.5) + w.sum()
        v = w + s
    return v, s


def _printed(f: Callable[..., Any]) -> Printed:
    text = "import numpy as np\n" + textwrap.dedent(inspect.getsource(f).partition("\n")[2])
    return printed(program_of(text, f.__name__, f"{f.__name__}(float32[n,n],float32[n],int)", passes_for("cuda")))


@pytest.mark.parametrize("f", CASES)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_numpys_answer(f: Callable[..., Any]) -> None:
    require("c++")
    made = _printed(f)
    inside = made.text[made.text.index(f"def {f.__name__}(") :]
    inside = inside[: inside.index("\n\n\n")]
    assert inside.count(".item()") <= CASES[f], inside
    call = load(made, simulate=True)
    random = np.random.default_rng(0)
    for size, k in ((30, 4), (1, 2), (7, 0), (700, 1), (0, 2)):
        a, v = random.random((size, size)).astype("f4") / 9, random.random(size).astype("f4")
        for given in (v, np.where(np.arange(size) == 3, np.nan, v).astype("f4"), np.zeros_like(v)):
            wanted, found = f(a.copy(), given.copy(), k), call(a.copy(), given.copy(), k)
            for one, two in zip(*(x if isinstance(x, tuple) else (x,) for x in (found, wanted)), strict=True):
                assert np.asarray(one).dtype == np.asarray(two).dtype
                np.testing.assert_allclose(one, two, rtol=2e-5)
