"""Series in order: filters, running sums and maxima."""

from __future__ import annotations

import numpy as np

from spelled.registry import inputs, spelling

# --- a filter over a batch


@inputs("filter")
def _(rng):
    return rng.standard_normal((2000, 256)), 0.3, 0.2


@spelling("filter")
def filter_a_step_at_a_time(x, a, b):
    y = np.zeros_like(x)
    y[0] = b * x[0]
    for t in range(1, len(x)):
        y[t] = b * x[t] + a * y[t - 1]
    return y


@spelling("filter")
def filter_a_state(x, a, b):
    y = np.empty_like(x)
    state = np.zeros(x.shape[1])
    for t in range(len(x)):
        state = b * x[t] + a * state
        y[t] = state
    return y


@spelling("filter")
def filter_a_column_at_a_time(x, a, b):
    y = np.empty_like(x)
    for j in range(x.shape[1]):
        state = 0.0
        for t in range(x.shape[0]):
            state = b * x[t, j] + a * state
            y[t, j] = state
    return y


@spelling("filter")
def filter_loops(x, a, b):
    y = np.zeros_like(x)
    for t in range(x.shape[0]):
        for j in range(x.shape[1]):
            before = y[t - 1, j] if t > 0 else 0.0
            y[t, j] = b * x[t, j] + a * before
    return y


@spelling("filter")
def filter_in_place(x, a, b):
    y = b * x
    for t in range(1, len(y)):
        y[t] += a * y[t - 1]
    return y


# --- running sums


@inputs("running sums")
def _(rng):
    return (rng.standard_normal((500, 1000)),)


@spelling("running sums")
def running_cumsum(x):
    return np.cumsum(x, axis=1)


@spelling("running sums")
def running_accumulate(x):
    return np.add.accumulate(x, axis=1)


@spelling("running sums")
def running_loops(x):
    out = np.empty_like(x)
    for i in range(x.shape[0]):
        total = 0.0
        for j in range(x.shape[1]):
            total += x[i, j]
            out[i, j] = total
    return out


@spelling("running sums")
def running_rows(x):
    out = np.empty_like(x)
    for i in range(len(x)):
        out[i] = x[i].cumsum()
    return out


@spelling("running sums")
def running_columns(x):
    out = x.copy()
    for j in range(1, x.shape[1]):
        out[:, j] += out[:, j - 1]
    return out


# --- a moving average


@inputs("moving average")
def _(rng):
    return rng.standard_normal(200_000), 8


@spelling("moving average")
def average_loop(x, n):
    out = np.empty(len(x) - 7)
    for i in range(len(out)):
        total = 0.0
        for k in range(8):
            total += x[i + k]
        out[i] = total / 8
    return out


@spelling("moving average")
def average_slices(x, n):
    total = np.zeros(len(x) - 7)
    for k in range(8):
        total += x[k : len(x) - 7 + k]
    return total / 8


@spelling("moving average")
def average_windows(x, n):
    return np.lib.stride_tricks.sliding_window_view(x, 8).mean(axis=1)


@spelling("moving average")
def average_convolve(x, n):
    return np.convolve(x, np.ones(8) / 8, mode="valid")


# --- deepest fall of columns ------------------------------------------------------------------------------------------


@inputs("drawdowns")
def _(rng):
    return (rng.standard_normal((1000, 50)) * 0.01,)


@spelling("drawdowns")
def drawdowns_scanned(r):
    w = np.cumprod(1 + r, axis=0)
    return w[-1] - 1, (w / np.maximum.accumulate(w, axis=0) - 1).min(axis=0)


@spelling("drawdowns")
def drawdowns_step_by_step(r):
    w = np.ones(r.shape[1])
    peak, worst = np.full(r.shape[1], -np.inf), np.full(r.shape[1], np.inf)
    for t in range(len(r)):
        w = w * (1 + r[t])
        peak = np.maximum(peak, w)
        worst = np.minimum(worst, w / peak - 1)
    return w - 1, worst


# --- rolling maxima ---------------------------------------------------------------------------------------------------

@inputs("rolling maxima")
def _(rng):
    return rng.standard_normal(100_000), 11


@spelling("rolling maxima")
def rolling_loops(x, w):
    out = np.empty(len(x) - w + 1)
    for i in range(len(out)):
        m = x[i]
        for j in range(1, w):
            if x[i + j] > m:
                m = x[i + j]
        out[i] = m
    return out


@spelling("rolling maxima")
def rolling_windows(x, w):
    return np.lib.stride_tricks.sliding_window_view(x, w).max(axis=-1)


@spelling("rolling maxima")
def rolling_a_window_at_a_time(x, w):
    out = np.empty(x.size - w + 1)
    for i in range(out.size):
        out[i] = np.max(x[i : i + w])
    return out


@spelling("rolling maxima")
def rolling_in_a_list_loop(x, w):
    return np.array([x[i : i + w].max() for i in range(len(x) - w + 1)])


# --- Kalman filters of many series


@inputs("kalman")
def _(rng):
    return (rng.standard_normal((500, 800)),)


@spelling("kalman")
def kalman_whole(z):
    x, p = np.zeros(z.shape[1]), np.ones(z.shape[1])
    out = np.empty_like(z)
    for t in range(len(z)):
        p = p + 0.01
        gain = p / (p + 0.5)
        x = x + gain * (z[t] - x)
        p = (1 - gain) * p
        out[t] = x
    return out


@spelling("kalman")
def kalman_one_at_a_time(z):
    out = np.empty_like(z)
    for j in range(z.shape[1]):
        x, p = 0.0, 1.0
        for t in range(z.shape[0]):
            p = p + 0.01
            gain = p / (p + 0.5)
            x = x + gain * (z[t, j] - x)
            p = (1 - gain) * p
            out[t, j] = x
    return out


@spelling("kalman")
def kalman_in_place(z):
    x, p = np.zeros(z.shape[1]), np.ones(z.shape[1])
    out = np.empty_like(z)
    for t in range(len(z)):
        p += 0.01
        gain = p / (p + 0.5)
        x += gain * (z[t] - x)
        p *= 1 - gain
        out[t] = x
    return out
