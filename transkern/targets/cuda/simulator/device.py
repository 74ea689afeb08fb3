"""CuPy's shape on NumPy and the simulator: a launcher written for CuPy runs with this module in CuPy's place.

    from transkern.targets.cuda.simulator import device as cp

    kernel = cp.RawModule(code=text, backend="nvrtc").get_function("scale")
    x = cp.asarray(host)
    y = cp.empty_like(x)
    kernel((4,), (128,), (x, y, np.int64(x.size)))
    result = cp.asnumpy(y)

Arrays are a subclass of NumPy's, kept apart from the host's: `asarray` copies, a kernel refuses a plain NumPy array,
and a reduction or an element is an array of no dimensions, all as in CuPy. What is not defined here is NumPy's function
of that name, its results made device arrays. Memory that nothing has written holds NaN or bytes 0xCD.
"""

from __future__ import annotations

import functools
import sys
import types
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from .compile import MULTIPROCESSORS, CompileError, LaunchError, Module, Parameter

__all__ = ["CompileError", "LaunchError", "RawModule", "asarray", "asnumpy", "empty", "ndarray"]

_DEFAULT_SHARED_LIMIT = 48 * 1024


class ndarray(np.ndarray[Any, Any]):
    """An array of the simulated device: NumPy's, whose elements and reductions are arrays of no dimensions."""

    def __getitem__(self, key: Any) -> Any:
        result = super().__getitem__(key)
        if isinstance(result, np.generic):
            return super().__getitem__((*key, ...) if isinstance(key, tuple) else (key, ...))
        return result

    def __array_wrap__(self, array: Any, context: Any = None, return_scalar: bool = False) -> Any:
        return np.asarray(array).view(ndarray)

    @property
    def device(self) -> Any:
        """The device that holds the array; it is a context, as CuPy's is."""
        return _Device()

    def __repr__(self) -> str:
        return repr(asnumpy(self))

    def __str__(self) -> str:
        return str(asnumpy(self))

    def get(self, stream: object = None, order: Any = "C", out: np.ndarray[Any, Any] | None = None) -> Any:
        """A copy on the host, or `out` filled with one."""
        if out is None:
            return np.array(self, order=order, subok=False)
        out[...] = np.asarray(self)
        return out

    def set(self, array: np.ndarray[Any, Any], stream: object = None) -> None:
        """Overwrites the array with one of the host's, of the same shape and type."""
        if array.shape != self.shape or array.dtype != self.dtype:
            raise ValueError(f"cannot set {self.shape} of {self.dtype} from {array.shape} of {array.dtype}")
        self[...] = array


class RawModule:
    """CUDA C++ text as a module of kernels; arguments as CuPy's.

    Raises:
        CompileError: g++ refuses the text.
    """

    def __init__(
        self,
        code: str | None = None,
        *,
        path: str | None = None,
        options: Sequence[str] = (),
        backend: str = "nvrtc",
        enable_cooperative_groups: bool = False,
        cache: Path | None = None,
    ) -> None:
        if (code is None) == (path is None):
            raise TypeError("exactly one of `code` and `path` is needed")
        text = Path(path).read_text() if path is not None else str(code)
        # Of NVRTC's options these mean something to g++; the others choose the GPU, or what is so here anyway.
        kept = tuple(option for option in options if option.startswith(("-D", "-U", "-I")))
        self._module = Module(text, options=kept, cache=cache)
        self._cooperative = enable_cooperative_groups

    def get_function(self, name: str) -> RawKernel:
        """The kernel `name`; LaunchError where the text has none."""
        if name not in self._module.kernels:
            raise LaunchError(f"the module has no kernel `{name}`; it has {', '.join(self._module.kernels)}")
        return RawKernel(self._module, name, self._cooperative)


class RawKernel:
    """A kernel of a module: `kernel(grid, block, args, shared_mem=0)`."""

    max_threads_per_block = 1024

    def __init__(self, module: Module, name: str, cooperative: bool) -> None:
        self.name = name
        self.enable_cooperative_groups = cooperative
        # More dynamic shared memory than this has to be asked for before the launch, as on the device.
        self.max_dynamic_shared_size_bytes = _DEFAULT_SHARED_LIMIT
        self._module = module

    def __call__(
        self, grid: Sequence[int], block: Sequence[int], args: Sequence[object], *, shared_mem: int = 0
    ) -> None:
        """Runs the kernel to its end; errors as `Module.launch`, and for what CuPy would pass wrongly."""
        if shared_mem > self.max_dynamic_shared_size_bytes:
            raise LaunchError(
                f"{self.name}: {shared_mem} bytes of dynamic shared memory, but max_dynamic_shared_size_bytes is "
                f"{self.max_dynamic_shared_size_bytes}"
            )
        for parameter, value in zip(self._module.kernels[self.name], args, strict=False):
            _check_as_cupy(parameter, value)
        self._module.launch(
            self.name, grid, block, args, shared_mem=shared_mem, cooperative=self.enable_cooperative_groups
        )


def _check_as_cupy(parameter: Parameter, value: object) -> None:
    """CuPy passes a Python int as 8 bytes, a float as a double, a bool as one byte, whatever the kernel takes."""
    if isinstance(value, np.ndarray) and not isinstance(value, ndarray):
        raise TypeError(f"parameter `{parameter.name}`: a NumPy array is not on the device; use asarray")
    wrong = isinstance(value, float) and (parameter.kind, parameter.size) != ("f", 8)
    wrong |= isinstance(value, bool) and parameter.size != 1
    wrong |= isinstance(value, int) and parameter.kind == "f"
    if wrong and not isinstance(value, np.generic) and not parameter.pointer:
        raise TypeError(
            f"parameter `{parameter.name}` is a {parameter.type}; CuPy would pass the bytes of a Python "
            f"{type(value).__name__}: use a NumPy scalar"
        )


def empty(shape: Any, dtype: Any = float, order: Any = "C") -> Any:
    """An array of poison: NaN, or bytes 0xCD."""
    return _poisoned(np.empty(shape, dtype, order))


def empty_like(a: Any, dtype: Any = None, order: Any = "K", shape: Any = None) -> Any:
    """An array of poison with the shape and type of `a`."""
    return _poisoned(np.empty_like(np.asarray(a), dtype, order, shape=shape))


def array(a: Any, dtype: Any = None, copy: bool = True, order: Any = "K") -> Any:
    """A device array; a copy unless `a` is one already and `copy` is false."""
    if not copy and isinstance(a, ndarray):
        return asarray(a, dtype, order)
    return np.array(a, dtype, order=order, subok=False).view(ndarray)


def asarray(a: Any, dtype: Any = None, order: Any = None) -> Any:
    """`a` on the device: itself where it is there, a copy of the host's."""
    if isinstance(a, ndarray):
        return np.asarray(a, dtype, order=order).view(ndarray)
    return np.array(a, dtype, order=order or "K", subok=False).view(ndarray)


def ascontiguousarray(a: Any, dtype: Any = None) -> Any:
    """`a` on the device, in C order."""
    return np.ascontiguousarray(asarray(a, dtype)).view(ndarray)


def asnumpy(a: Any, stream: object = None, order: Any = "C", out: Any = None) -> Any:
    """A copy of `a` on the host, or `out` filled with one."""
    return asarray(a).get(stream, order, out)


def get_array_module(*args: object) -> types.ModuleType:
    """This module where an argument is a device array, NumPy elsewhere."""
    return sys.modules[__name__] if any(isinstance(arg, ndarray) for arg in args) else np


class _Stream:
    """A stream: everything has ended when a call returns, so there is nothing to wait for."""

    null: _Stream
    ptr = 0

    def __init__(self, null: bool = False, non_blocking: bool = False) -> None:
        self.done = True

    def synchronize(self) -> None:
        """Returns at once."""

    def is_capturing(self) -> bool:
        """Whether a graph is made of what is launched: never."""
        return False

    def use(self) -> _Stream:
        """The stream itself."""
        return self

    def __enter__(self) -> _Stream:
        return self

    def __exit__(self, *error: object) -> None:
        return None


_Stream.null = _Stream()


class _Device:
    """The one device."""

    compute_capability = "90"
    attributes = types.MappingProxyType({"MultiProcessorCount": MULTIPROCESSORS, "CooperativeLaunch": 1})

    def __init__(self, device: int = 0) -> None:
        self.id = device

    def synchronize(self) -> None:
        """Returns at once."""

    def use(self) -> _Device:
        """The device itself."""
        return self

    def __enter__(self) -> _Device:
        return self

    def __exit__(self, *error: object) -> None:
        return None


cuda = types.SimpleNamespace(
    Stream=_Stream,
    Device=_Device,
    get_current_stream=lambda: _Stream.null,
    is_available=lambda: True,
    runtime=types.SimpleNamespace(deviceSynchronize=lambda: None, getDeviceCount=lambda: 1),
)


def __getattr__(name: str) -> Any:
    """NumPy's attribute; a function's results become device arrays."""
    value = getattr(np, name)
    if not callable(value) or isinstance(value, (type, np.ufunc)):
        return value

    @functools.wraps(value)
    def function(*args: Any, **kwargs: Any) -> Any:
        return _on_device(value(*args, **kwargs))

    return function


def _on_device(value: Any) -> Any:
    if isinstance(value, (np.ndarray, np.generic)):
        return np.asarray(value).view(ndarray)
    if type(value) in (tuple, list):
        return type(value)(map(_on_device, value))
    return value


def _poisoned(array: np.ndarray[Any, Any]) -> Any:
    if array.dtype.kind in "fc":
        array.fill(np.nan)
    elif array.size:
        # Through bytes: 0xCD is no value of some types, bool for one.
        array.reshape(-1, order="A").view(np.uint8)[...] = 0xCD
    return array.view(ndarray)
