"""The benchmark itself: it finds wrong answers, and measures what it says."""

from __future__ import annotations

import dataclasses
import importlib
import importlib.util
import sys
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

import transkern
from benchmarks.workloads.collection import WORKLOADS
from tests.tools import require

FOLDER = Path(__file__).parents[1] / "benchmarks"


@pytest.fixture
def benchmark(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """The benchmark's modules by name; they import each other as scripts in one folder do."""
    before = set(sys.modules)
    monkeypatch.syspath_prepend(str(FOLDER))
    yield importlib.import_module
    for name in set(sys.modules) - before:
        if str(FOLDER) in (getattr(sys.modules[name], "__file__", None) or ""):
            del sys.modules[name]


def test_wrong_answers_are_named(benchmark: Any) -> None:
    difference = benchmark("measure").difference
    x = np.ones(3, np.float32)
    assert difference([x], [x], True) == ""
    assert difference([x.astype(np.float64)], [x], False) == "float64, not float32"
    assert difference([x[:2]], [x], False).startswith("shape")
    assert difference([x + 1], [x], False).startswith("off by")
    assert difference([x + 1], [x], True) == "other values"
    assert difference([], [x], True) == "0 results, not 1"


def test_a_written_argument_is_part_of_the_answer(benchmark: Any) -> None:
    cases, peers = benchmark("cases"), benchmark("peers")

    def grows(x: Any, by: float) -> None:
        x += by

    case = cases.Case("grows", grows, (np.zeros(4), 1.5), written=(0,))
    reference = peers.runner("numpy", case)
    reference.step()
    reference.step()
    np.testing.assert_array_equal(reference.answer()[0], np.full(4, 1.5))  # from fresh inputs


def test_every_peer_gives_the_answer(benchmark: Any) -> None:
    """All cases at a small size: no peer is compared with for another answer."""
    require("cc")
    cases, peers, measure = benchmark("cases"), benchmark("peers"), benchmark("measure")
    for case in cases.cases((2000,), with_nms=False):
        expected = peers.runner("numpy", case).answer()
        for peer in ("transkern", "numexpr", "jax"):
            one = peers.runner(peer, case)
            if one is not None:
                assert measure.difference(one.answer(), expected, case.exact) == "", (case.name, peer)


@pytest.mark.parametrize("name", WORKLOADS)
def test_workloads_and_their_forms_are_the_same_function(benchmark: Any, name: str) -> None:
    """At a small size; Numba's forms as Python runs them, where `prange` is `range`."""
    require("cc")
    bench, peers, measure = benchmark("bench_workloads"), benchmark("peers"), benchmark("measure")
    case = bench.case(WORKLOADS[name], WORKLOADS[name].small, compiled=False)
    expected = peers.runner("numpy", case).answer()
    with wide():
        for peer in case.forms:
            assert measure.difference(peers.runner(peer, case).answer(), expected, case.exact) == "", peer
    assert measure.difference(peers.runner("transkern", case).answer(), expected, case.exact) == ""


def wide() -> AbstractContextManager[Any]:
    """JAX with float64, where it is installed."""
    return importlib.import_module("jax").enable_x64(True) if importlib.util.find_spec("jax") else nullcontext()


def test_the_best_peer_is_the_fastest_that_is_right(benchmark: Any) -> None:
    bench = benchmark("bench_workloads")

    def row(**wrong: str) -> dict[str, Any]:
        times = {"transkern": 2.0, "numpy": 6.0, "jax": 5.0}
        return {"case": "c", "peers": {p: {"wrong": wrong.get(p, ""), "median": t} for p, t in times.items()}}

    assert bench.best(row()) == ("jax", 2.5)
    assert bench.best(row(jax="off by 1")) == ("numpy", 3.0)
    assert bench.best(row(transkern="off by 1")) is None


def test_times_are_of_one_call(benchmark: Any) -> None:
    cases, peers, measure = benchmark("cases"), benchmark("peers"), benchmark("measure")
    case = cases.Case("sleeps", lambda x: time.sleep(0.003), (np.zeros(1),))
    timing = measure.interleaved({"numpy": peers.Runner(case, case.function)}, seconds=0.05)["numpy"]
    assert 0.003 <= timing.low <= timing.median <= timing.high < 0.05


def test_each_sample_of_a_short_call_is_timed_with_warm_caches(benchmark: Any) -> None:
    cases, peers, measure = benchmark("cases"), benchmark("peers"), benchmark("measure")
    for seconds, times in ((0.002, 2), (0.03, 1)):
        calls: list[float] = []

        def sleeps(x: Any, calls: list[float] = calls, seconds: float = seconds) -> None:
            calls.append(seconds)
            time.sleep(seconds)

        case = cases.Case("sleeps", sleeps, (np.zeros(1),))
        timing = measure.interleaved({"numpy": peers.Runner(case, sleeps)}, seconds=0.01, most=6)["numpy"]
        assert len(calls) == 2 + times * timing.samples  # two to find out how long a call takes


def test_each_step_of_a_compilation_is_timed(
    benchmark: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("TRANSKERN_CACHE_DIR", str(tmp_path))
    clock = benchmark("compile_time").Clock()
    with clock.running():
        np.testing.assert_array_equal(transkern.compile(doubled, target="cpu")(np.arange(3.0)), [0.0, 2.0, 4.0])
    assert all(seconds > 0 for seconds in clock.taken.values()), clock.taken


def doubled(x: Any) -> Any:
    return x * 2


def test_bandwidth_is_plausible(benchmark: Any) -> None:
    assert 1e8 < benchmark("measure").copy_bandwidth(2, megabytes=64) < 1e13


def test_what_others_take_are_shares(benchmark: Any) -> None:
    busy = benchmark("measure").Others()
    sum(range(200_000))
    sentence, taken = busy.told()
    assert all(0.0 <= share <= 1.0 for share in taken.values()) and len(taken) == 2
    assert sentence.startswith("other processes took ")


def test_the_script_for_a_gpu_in_the_simulator(benchmark: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """NumPy in CuPy's place: the peers are called, answers are compared, and the table says who was faster."""
    require("c++")
    monkeypatch.setenv("TRANSKERN_CUDA_SIM", "1")
    cupy = ModuleType("cupy")
    vars(cupy).update({name: value for name, value in vars(np).items() if not name.startswith("__")})
    vars(cupy)["cuda"] = SimpleNamespace(runtime=SimpleNamespace(deviceSynchronize=lambda: None))
    monkeypatch.setitem(sys.modules, "cupy", cupy)
    gpu, kernels = benchmark("gpu"), benchmark("loops.kernels").KERNELS
    monkeypatch.setitem(kernels, "atax", dataclasses.replace(kernels["atax"], size=20))
    (tmp_path / "lock").touch()
    found = gpu.timed("loops atax", 0.01, str(tmp_path))
    assert found["wrong"] == "" and set(found["milliseconds"]) == {"transkern", gpu.ALONE, "cupy"}
    assert "workload heat" in gpu.names() and "example nms" in gpu.names("nms")
    table = gpu.table({"loops atax": {"result": found}, "loops lu": {"said": "no device"}})
    assert "loops lu" in table and "geometric mean" in table and "failed" in table
    assert gpu.difference([np.ones(2)], [np.ones(3)], False) and gpu.difference([np.ones(2)], [np.zeros(2)], False)
