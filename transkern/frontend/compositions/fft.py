"""What of `numpy.fft` is no transform: frequencies and shifts."""

from __future__ import annotations

from typing import Any

import numpy as np

from transkern.frontend.compositions.primitives import refuse


def fftfreq(n: Any, d: Any = 1.0) -> Any:
    if not isinstance(n, (int, np.integer)):
        raise ValueError("n should be an integer")
    if np.asarray(n).dtype.kind == "u":
        refuse("np.fft.fftfreq of an unsigned integer, whose negative NumPy makes a large one", "take int(n)")
    scale, half = 1.0 / (n * d), (n - 1) // 2 + 1  # as a NumPy integer computes them
    k = np.arange(np.zeros(n, bool).size)  # whose error is that of a negative size
    return np.where(k < half, k, k - k.size) * scale


def rfftfreq(n: Any, d: Any = 1.0) -> Any:
    if not isinstance(n, (int, np.integer)):
        raise ValueError("n should be an integer")
    scale = 1.0 / (n * d)
    return np.arange(n // 2 + 1) * scale


def fftshift(x: Any, axes: Any = None) -> Any:
    x = np.asarray(x)
    if x.ndim == 0:
        refuse("a shift of a number")
    for axis in tuple(range(x.ndim)) if axes is None else ((axes,) if isinstance(axes, int) else axes):
        x = np.roll(x, x.shape[axis] // 2, axis)
    return x


def ifftshift(x: Any, axes: Any = None) -> Any:
    x = np.asarray(x)
    if x.ndim == 0:
        refuse("a shift of a number")
    for axis in tuple(range(x.ndim)) if axes is None else ((axes,) if isinstance(axes, int) else axes):
        x = np.roll(x, -(x.shape[axis] // 2), axis)
    return x
