"""Steps over batches: each problem of a batch goes through all of them by itself on CUDA, with NumPy's answer."""

from __future__ import annotations

import inspect
import re
import textwrap
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.tools import require
from transkern.fuse.devices import outside
from transkern.pipeline import passes_for, program_of
from transkern.targets.cuda.load import load, printed

CASES: list[Callable[..., Any]] = []


def case(f: Callable[..., Any]) -> Callable[..., Any]:
    CASES.append(f)
    return f


@case
def best_paths(x, w):
    score = x[:, 0].copy()
    back = np.zeros(x.shape, np.int64)
    for t in range(1, x.shape[1]):
        c = score[:, :, None] + w[None]
        back[:, t] = c.argmax(axis=1)
        score = c.max(axis=1) + x[:, t]
    return score, back


@case
def forward(x, w):
    p = np.exp(x[:, 0])
    out = np.zeros_like(x)
    for t in range(x.shape[1]):
        p = p / p.sum(axis=1)[:, None]
        out[:, t] = p
        p = np.maximum(p[:, ::-1] * np.exp(x[:, t]), w[0, 0])
    return out


@case
def smoothed(x, w):
    for _ in range(x.shape[1]):
        x[:, :, 1:-1] = x[:, :, :-2] * w[0, 0] + x[:, :, 2:] * 0.5
    return x


@pytest.mark.parametrize("sizes", [(4096, 128), (0, 1), (0, 1000)], ids=["as ever", "outside", "together"])
@pytest.mark.parametrize("f", CASES)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_each_problem_by_itself(
    f: Callable[..., Any], sizes: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    require("c++")
    monkeypatch.setattr(outside, "SMALL", sizes[0])
    monkeypatch.setattr(outside, "MANY", sizes[1])
    text = "import numpy as np\n" + textwrap.dedent(inspect.getsource(f).partition("\n")[2])
    made = printed(program_of(text, f.__name__, f"{f.__name__}(float64[b,t,s], float64[s,s])", passes_for("cuda")))
    assert re.search(r"if \S+.* (<=|>=) (4096|0|1|1000)\b", made.text), made.text
    call = load(made, simulate=True)
    random = np.random.default_rng(1)
    for shape in ((5, 7, 4), (2, 3, 40), (1, 2, 1), (3, 1, 5)):
        x, w = random.standard_normal(shape), random.standard_normal((shape[2], shape[2]))
        if x.size > 20:
            x.reshape(-1)[[1, 9, 13, 17]] = np.nan, np.inf, -0.0, -np.inf
        wanted, found = f(x.copy(), w), call(x.copy(), w)
        for one, two in zip(*(v if isinstance(v, tuple) else (v,) for v in (found, wanted)), strict=True):
            assert one.dtype == two.dtype
            np.testing.assert_allclose(one, two, rtol=1e-13)


def test_what_meets_stays_together() -> None:
    text = """
import numpy as np
def f(x, w):
    for t in range(9):
        x = x * 0.5 + x[::-1, :, :] * w[0, 0]
        x[:, :, 1:] += x[:, :, :-1].max()
    return x
"""
    made = printed(program_of(text, "f", "f(float64[b,t,s], float64[s,s])", passes_for("cuda")))
    assert "4096" not in made.text
    call, space = load(made, simulate=True), {}  # type: ignore[var-annotated]
    exec(text, space)
    x, w = np.random.default_rng(0).standard_normal((3, 4, 5)), np.ones((5, 5))
    np.testing.assert_allclose(call(x.copy(), w), space["f"](x.copy(), w), rtol=1e-13)
