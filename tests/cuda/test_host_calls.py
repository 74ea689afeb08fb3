"""What the host does in a call with arrays on the device: little, and nothing that waits for it."""

from __future__ import annotations

import gc
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import transkern
from tests.cuda import stub
from tests.tools import example


@pytest.fixture
def cupy(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    made = stub.cupy()
    monkeypatch.delenv("TRANSKERN_CUDA_SIM", raising=False)
    monkeypatch.setitem(sys.modules, "cupy", made)
    yield made


def normalised(x: Any, gamma: Any) -> Any:
    mean = x.mean(axis=(0, 2), keepdims=True)
    var = x.var(axis=(0, 2), keepdims=True)
    return gamma * (x - mean) / np.sqrt(var + 1e-5)


def waves(u: Any, v: Any, c: Any, steps: Any) -> Any:
    for _ in range(steps):
        v[1:-1] += c * (u[2:] + u[:-2] - 2 * u[1:-1])
        u[1:-1] += v[1:-1]
    return u


def largest(x: Any) -> Any:
    return x.max()


def _calls() -> list[tuple[Callable[..., Any], tuple[Any, ...]]]:
    sizes = {"sigmoid": {"n": 8}, "softmax": {"rows": 4, "columns": 8}, "lstm": {"batch": 2, "hidden": 4}}
    sizes["adam"] = {"n": 8}
    found = [(getattr(example(name), name), example(name).arguments(**of)) for name, of in sizes.items()]
    line = np.ones(64, np.float32)
    cube = np.ones((4, 4, 4), np.float32)
    return [*found, (normalised, (cube, cube[:1, :, :1])), (waves, (line, line.copy(), 0.1, 3))]


def _on_device(args: tuple[Any, ...]) -> list[Any]:
    return [stub.ndarray(x.shape, x.dtype) if isinstance(x, np.ndarray) else x for x in args]


@pytest.mark.parametrize("call", _calls(), ids=lambda c: c[0].__name__)
def test_calls_take_some_microseconds_and_can_be_captured(call: tuple[Any, tuple[Any, ...]], cupy: Any) -> None:
    function, args = call
    compiled, given = transkern.compile(function, target="cuda"), _on_device(args)
    compiled(*given)
    cupy.launches.clear()
    cupy.stream.capturing = True
    compiled(*given)  # nothing here waits for the device, or the stub raises
    cupy.stream.capturing = False
    launches = len(cupy.launches)
    assert launches > 0
    gc.disable()
    try:
        times = [_seconds(lambda: compiled(*given)) for _ in range(8)]
    finally:
        gc.enable()
    # 15 µs and 1.5 a launch, which they keep on a quiet machine; twice that, as this one may be busy or slow.
    assert min(times) < 2 * (15e-6 + 1.5e-6 * launches)


def _seconds(call: Callable[[], Any], times: int = 50) -> float:
    begin = time.thread_time()
    for _ in range(times):
        call()
    return (time.thread_time() - begin) / times


def test_what_needs_a_value_of_the_device_cannot_be_captured(cupy: Any) -> None:
    with pytest.raises(stub.Waited):
        transkern.compile(largest, target="cuda")(stub.ndarray((8,), np.float32))
