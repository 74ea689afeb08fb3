"""Filters over time, a batch of signals at once."""

from __future__ import annotations

import numpy as np

from .registry import register


def biquad(x, b0, b1, b2, a1, a2):
    """A second-order recursive filter over each row of `x` (direct form II, transposed)."""
    y = np.empty(x.shape)
    for channel in range(x.shape[0]):
        s1 = 0.0
        s2 = 0.0
        for t in range(x.shape[1]):
            value = b0 * x[channel, t] + s1
            s1 = b1 * x[channel, t] - a1 * value + s2
            s2 = b2 * x[channel, t] - a2 * value
            y[channel, t] = value
    return y


def biquad_slices(x, b0, b1, b2, a1, a2):
    y = np.empty(x.shape)
    s1 = np.zeros(x.shape[0])
    s2 = np.zeros(x.shape[0])
    for t in range(x.shape[1]):
        value = b0 * x[:, t] + s1
        s1 = b1 * x[:, t] - a1 * value + s2
        s2 = b2 * x[:, t] - a2 * value
        y[:, t] = value
    return y


register(
    "iir, rows", biquad, biquad_slices,
    lambda rng, n: (rng.standard_normal((n // 4 + 1, n)), 0.2, 0.4, 0.2, -0.3, 0.1), 2000,
)  # fmt: skip


def smoother(x, alpha):
    """Exponential smoothing of each column of `x`."""
    y = np.empty(x.shape)
    for channel in range(x.shape[1]):
        y[0, channel] = x[0, channel]
        for t in range(1, x.shape[0]):
            y[t, channel] = alpha * x[t, channel] + (1.0 - alpha) * y[t - 1, channel]
    return y


def smoother_slices(x, alpha):
    y = np.empty(x.shape)
    y[0] = x[0]
    for t in range(1, x.shape[0]):
        y[t] = alpha * x[t] + (1.0 - alpha) * y[t - 1]
    return y


register("iir, columns", smoother, smoother_slices, lambda rng, n: (rng.standard_normal((n, n // 4 + 1)), 0.3), 1600)
