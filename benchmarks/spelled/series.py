"""Series in order: filters, running sums and maxima."""

from __future__ import annotations

import math

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


# --- rolling deviations -----------------------------------------------------------------------------------------------


@inputs("rolling deviations")
def _(rng):
    return rng.standard_normal(50000), 20


@spelling("rolling deviations")
def rollstd_windows(x, w):
    return np.lib.stride_tricks.sliding_window_view(x, w).std(axis=1)


@spelling("rolling deviations")
def rollstd_slices(x, w):
    out = np.empty(len(x) - w + 1)
    for i in range(len(out)):
        out[i] = x[i : i + w].std()
    return out


@spelling("rolling deviations")
def rollstd_loops(x, w):
    out = np.zeros(len(x) - w + 1)
    for i in range(len(x) - w + 1):
        s = 0.0
        for j in range(w):
            s += x[i + j]
        mean = s / w
        v = 0.0
        for j in range(w):
            v += (x[i + j] - mean) ** 2
        out[i] = math.sqrt(v / w)
    return out


@spelling("rolling deviations")
def rollstd_comprehension(x, w):
    return np.array([np.std(x[i - w : i]) for i in range(w, len(x) + 1)])


@spelling("rolling deviations")
def rollstd_shifts(x, w):
    n = len(x) - w + 1
    mean = np.zeros(n)
    for j in range(w):
        mean += x[j : j + n]
    mean /= w
    v = np.zeros(n)
    for j in range(w):
        v += (x[j : j + n] - mean) ** 2
    return np.sqrt(v / w)


# --- rolling minima by shifts -----------------------------------------------------------------------------------------


@inputs("rolling minima by shifts")
def _(rng):
    return rng.random(100000), 8


@spelling("rolling minima by shifts")
def shrink_pairs(x, w):
    m = x
    for _ in range(w - 1):
        m = np.minimum(m[1:], m[:-1])
    return m


@spelling("rolling minima by shifts")
def shrink_slices(x, w):
    m = x[: len(x) - w + 1].copy()
    for k in range(1, w):
        m = np.minimum(m, x[k : len(x) - w + 1 + k])
    return m


@spelling("rolling minima by shifts")
def shrink_windows(x, w):
    return np.lib.stride_tricks.sliding_window_view(x, w).min(axis=1)


@spelling("rolling minima by shifts")
def shrink_loops(x, w):
    n = len(x) - w + 1
    out = np.empty(n)
    for i in range(n):
        best = x[i]
        for k in range(1, w):
            best = min(best, x[i + k])
        out[i] = best
    return out


@spelling("rolling minima by shifts")
def shrink_in_place(x, w):
    m = x.copy()
    n = len(x)
    for k in range(1, w):
        m[: n - k] = np.minimum(m[: n - k], m[1 : n - k + 1])
    return m[: n - w + 1].copy()


@spelling("rolling minima by shifts")
def shrink_ahead(x, w):
    m = x.copy()
    for _ in range(w - 1):
        m[:-1] = np.minimum(m[:-1], m[1:])
    return m[: len(x) - w + 1].copy()


@spelling("rolling minima by shifts")
def shrink_behind(x, w):
    m = x.copy()
    for _ in range(w - 1):
        np.minimum(m[1:], m[:-1], out=m[1:])
    return m[w - 1 :].copy()


# --- deepest fall -----------------------------------------------------------------------------------------------------


@inputs("deepest fall")
def _(rng):
    return (np.exp(np.cumsum(rng.standard_normal(100000) * 0.01)),)


@spelling("deepest fall")
def drawdown_accumulate(p):
    return (1 - p / np.maximum.accumulate(p)).max()


@spelling("deepest fall")
def drawdown_loops(p):
    top, worst = p[0], 0.0
    for v in p:
        top = max(top, v)
        worst = max(worst, 1 - v / top)
    return worst


@spelling("deepest fall")
def drawdown_array(p):
    top = np.empty_like(p)
    top[0] = p[0]
    for i in range(1, len(p)):
        top[i] = max(top[i - 1], p[i])
    return np.max((top - p) / top)


@spelling("deepest fall")
def drawdown_ifs_loops(p):
    top = p[0]
    worst = 0.0
    for i in range(1, len(p)):
        if p[i] > top:
            top = p[i]
        d = (top - p[i]) / top
        if d > worst:
            worst = d
    return worst


# --- autocorrelation --------------------------------------------------------------------------------------------------


@inputs("autocorrelation")
def _(rng):
    return rng.standard_normal(20000), 40


@spelling("autocorrelation")
def autocorr_slices(x, k):
    d = x - x.mean()
    out = np.empty(k)
    for lag in range(k):
        out[lag] = (d[: len(d) - lag] * d[lag:]).sum()
    return out / (d * d).sum()


@spelling("autocorrelation")
def autocorr_dot(x, k):
    d = x - np.mean(x)
    v = d @ d
    return np.array([d[: len(d) - lag] @ d[lag:] / v for lag in range(k)])


@spelling("autocorrelation")
def autocorr_loops(x, k):
    n = len(x)
    mean = 0.0
    for i in range(n):
        mean += x[i]
    mean /= n
    out = np.zeros(k)
    for lag in range(k):
        for i in range(n - lag):
            out[lag] += (x[i] - mean) * (x[i + lag] - mean)
    v = out[0]
    for lag in range(k):
        out[lag] /= v
    return out


@spelling("autocorrelation")
def autocorr_correlate(x, k):
    d = x - x.mean()
    c = np.correlate(d, d, "full")[len(d) - 1 : len(d) - 1 + k]
    return c / c[0]


@spelling("autocorrelation")
def autocorr_sum_over_time_loops(x, k):
    d = x - x.mean()
    out = np.zeros(k)
    for i in range(len(d)):
        for lag in range(min(k, len(d) - i)):
            out[lag] += d[i] * d[i + lag]
    return out / out[0]
