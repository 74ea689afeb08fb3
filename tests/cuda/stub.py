"""CuPy in name: arrays without memory, kernels that do nothing. Shows what the host does in a call, and cannot wait."""

from __future__ import annotations

import math
import types
from typing import Any

import numpy as np


class Waited(Exception):
    """The host asked for something that only the device knows."""


class _Flags:
    c_contiguous = writeable = owndata = True


class _Device:
    id = 0
    compute_capability = "90"
    attributes = types.MappingProxyType({"MultiProcessorCount": 132, "CooperativeLaunch": 1})

    def __enter__(self) -> _Device:
        return self

    def __exit__(self, *error: object) -> None:
        return None

    def synchronize(self) -> None:
        raise Waited("Device.synchronize")


_DEVICE, _FLAGS = _Device(), _Flags()


class ndarray:
    """An array of which shape and dtype are known, and nothing else."""

    device, flags = _DEVICE, _FLAGS

    def __init__(self, shape: Any, dtype: Any = np.float64) -> None:
        self.shape = (shape,) if isinstance(shape, int) else tuple(shape)
        self.dtype = np.dtype(dtype)
        self.ndim, self.size = len(self.shape), math.prod(self.shape)
        self.nbytes = self.size * self.dtype.itemsize
        self.strides = np.empty((0, *self.shape[1:]), self.dtype).strides if self.shape else ()

    def _wait(self, *_: Any, **__: Any) -> Any:
        raise Waited("an element of an array on the device")

    get = item = tolist = __bool__ = __int__ = __float__ = __index__ = __array__ = _wait


ndarray.__module__ = "cupy"


class _Stream:
    ptr, capturing = 0, False

    def is_capturing(self) -> bool:
        return self.capturing

    def synchronize(self) -> None:
        raise Waited("Stream.synchronize")


class _Kernel:
    def __init__(self, launches: list[str], name: str) -> None:
        self.launches, self.name = launches, name

    def __call__(self, grid: Any, block: Any, args: Any, **_: Any) -> None:
        self.launches.append(self.name)


def cupy() -> Any:
    """A new module in CuPy's place; `launches` are the names of the kernels that were started."""
    made: Any = types.ModuleType("cupy")
    made.launches, stream = [], _Stream()
    made.ndarray, made.stream = ndarray, stream
    made.empty = made.zeros = lambda shape, dtype=np.float64, order="C": ndarray(shape, dtype)
    made.asarray = made.ascontiguousarray = lambda x, dtype=None, order="C": x
    made.may_share_memory = lambda a, b: a is b
    kernels = lambda name: _Kernel(made.launches, name)  # noqa: E731
    made.RawModule = lambda **_: types.SimpleNamespace(get_function=kernels)
    made.cuda = types.SimpleNamespace(
        Device=lambda *_: _DEVICE, get_current_stream=lambda: stream, Stream=_Stream,
        runtime=types.SimpleNamespace(getDeviceCount=lambda: 1),
    )  # fmt: skip
    return made
