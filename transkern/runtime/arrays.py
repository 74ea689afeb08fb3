"""Arrays of other libraries in and out, and arrays that share memory."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np


def foreign_kind(values: Sequence[Any]) -> str | None:
    """``torch``, ``torch_cuda``, ``jax``, ``cupy``, ``memmap``, or None for plain arrays (nothing is imported)."""
    for value in values:
        module = type(value).__module__.split(".")[0]
        if module == "torch" and "torch" in sys.modules and hasattr(value, "detach"):
            return "torch_cuda" if value.is_cuda else "torch"
        if module in ("jax", "jaxlib"):
            return "jax"
        if module == "cupy":
            return "cupy"
    return "memmap" if any(type(value) is np.memmap for value in values) else None


def call_foreign(call: Callable[[list[Any], str], Any], values: list[Any], kind: str, target: str) -> Any:
    """Call with arrays of another library, without a copy where both see the same memory; results are of its kind."""
    if kind == "torch_cuda":
        import cupy

        inner = [cupy.from_dlpack(v.detach()) if hasattr(v, "detach") else v for v in values]
        return _back(call(inner, target), "torch", dict(zip(map(id, inner), values, strict=True)))
    if kind == "torch":
        inner = [v.detach().numpy() if hasattr(v, "detach") else v for v in values]
    elif kind == "jax":
        inner = [
            np.asarray(v) if hasattr(v, "__array__") and not isinstance(v, (np.ndarray, np.generic)) else v
            for v in values
        ]
    elif kind == "memmap":
        inner = [v.view(np.ndarray) if type(v) is np.memmap else v for v in values]
    else:
        inner = [v.get() if hasattr(v, "get") and hasattr(v, "device") else v for v in values]
    return _back(call(inner, target), kind, dict(zip(map(id, inner), values, strict=True)))


def _back(result: Any, kind: str, originals: dict[int, Any]) -> Any:
    if id(result) in originals:
        return originals[id(result)]
    if isinstance(result, (list, tuple)):
        return type(result)(_back(r, kind, originals) for r in result)
    if isinstance(result, np.ndarray) or hasattr(result, "__cuda_array_interface__"):
        if kind.startswith("torch"):
            import torch
            from torch.utils.dlpack import from_dlpack

            return from_dlpack(result) if not isinstance(result, np.ndarray) else torch.from_numpy(result)
        if kind == "jax":
            import jax.numpy as jnp

            return jnp.asarray(result)
        if kind == "cupy":
            import cupy

            return cupy.asarray(result)
    return result


def described(value: Any) -> Any:
    """What an argument's type is read from: a NumPy array of the same dtype and shape for arrays of CuPy and JAX."""
    if type(value).__module__.split(".")[0] in ("jax", "jaxlib", "cupy") and hasattr(value, "dtype"):
        return np.empty(value.shape, np.dtype(value.dtype)) if hasattr(value, "shape") else value
    return value


def overlapping(names: Sequence[str], values: Sequence[Any]) -> tuple[tuple[str, ...], ...]:
    """The groups of arguments that share memory."""
    arrays = [(n, v) for n, v in zip(names, values, strict=True) if isinstance(v, np.ndarray)]
    groups: list[list[tuple[str, Any]]] = []
    for name, value in arrays:
        joined = [g for g in groups if any(np.may_share_memory(value, other) for _, other in g)]
        merged = [(name, value)] + [m for g in joined for m in g]
        groups = [g for g in groups if g not in joined] + [merged]
    return tuple(tuple(n for n in names if n in {m for m, _ in g}) for g in groups if len(g) > 1)
