"""The benchmark of the kernels: each has forms for Numba that are the same function, and a row says what was wrong."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks.loops.kernels import KERNELS, Kernel
from tests.kernels.support import difference, outcome
from tests.tools import require

FOLDER = Path(__file__).parents[2] / "benchmarks"


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """`bench_loops`, without Numba; scripts in one folder import each other."""
    before = set(sys.modules)
    monkeypatch.syspath_prepend(str(FOLDER))
    module = importlib.import_module("bench_loops")
    monkeypatch.setattr(module, "importlib", _NoNumba)
    yield module
    for name in set(sys.modules) - before:
        if str(FOLDER) in (getattr(sys.modules[name], "__file__", None) or ""):
            del sys.modules[name]


class _NoNumba:
    class util:
        find_spec = staticmethod(lambda name: None)


@pytest.mark.skipif(importlib.util.find_spec("numba") is None, reason="Numba is not installed")
@pytest.mark.parametrize("kernel", KERNELS.values(), ids=lambda k: k.name)
def test_forms_for_numba_are_the_same_function(kernel: Kernel) -> None:
    """As Python runs them: `prange` is `range` there."""
    from benchmarks.loops.numba_kernels import FORMS

    args = kernel.inputs(np.random.default_rng(0), 9)
    wanted = outcome(kernel.loops, args)
    wanted.values = [np.asarray(v) for v in wanted.values if v is not None]
    assert FORMS[kernel.name]
    for form in FORMS[kernel.name]:
        found = outcome(form.py_func, args)
        found.values = [np.asarray(v) for v in found.values if v is not None]
        assert not difference(found, wanted, 1e-11), form.__name__


def test_a_row_has_times_and_says_what_is_wrong(bench: Any) -> None:
    require("cc")
    kernel = replace(KERNELS["jacobi-1d"], size=50)
    row = bench.measure(kernel, 0.01)
    assert bench.right(row, "transkern") > 0
    assert bench.right(row, "numpy, array statements") > 0
    assert bench.ratio(row) is None  # without Numba
    assert "jacobi-1d: " in bench.line(row)

    row = bench.measure(replace(kernel, slices=lambda a, b, steps: None), 0.01)  # what it is compared with does nothing
    assert row["peers"]["transkern"]["wrong"].startswith("off by")
    assert bench.right(row, "transkern") is None


def test_the_ratio_is_to_the_best_right_time(bench: Any) -> None:
    def row(**wrong: str) -> dict[str, Any]:
        times = {"transkern": 2.0, "numba": 6.0, "numba parallel": 5.0}
        peers = {p: {"wrong": wrong.get(p.split()[-1], ""), "median": t} for p, t in times.items()}
        return {"kernel": "k", "peers": peers}

    assert bench.ratio(row()) == 2.5
    assert bench.ratio(row(parallel="off by 1")) == 3.0
    assert bench.ratio(row(transkern="off by 1")) is None
