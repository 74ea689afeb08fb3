"""What of `numpy.fft` is no transform: frequencies and shifts."""

from __future__ import annotations

from typing import Any

import numpy as np

from transkern.frontend.compositions.primitives import refuse


def fftfreq(n: Any, d: Any = 1.0) -> Any:
    if not isinstance(n, (int, np.integer)):
        raise ValueError("n should be an integer")
    k = np.arange(n)
    return np.where(k < (n - 1) // 2 + 1, k, k - n) * (1.0 / (n * d))


def rfftfreq(n: Any, d: Any = 1.0) -> Any:
    if not isinstance(n, (int, np.integer)):
        raise ValueError("n should be an integer")
    return np.arange(n // 2 + 1) * (1.0 / (n * d))


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
