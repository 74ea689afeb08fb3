"""Finance: paths and prices."""

from __future__ import annotations

import math

import numpy as np

from spelled.registry import inputs, spelling

# --- paths that are added up ------------------------------------------------------------------------------------------


@inputs("paths")
def _(rng):
    return rng.standard_normal((100, 4000)), 100.0


@spelling("paths")
def paths_as_arrays(z, spot):
    x = np.zeros(z.shape[1])
    for t in range(z.shape[0]):
        x = 0.9 * x + 0.01 * z[t]
    return (spot * np.exp(x)).sum()


@spelling("paths")
def paths_at_a_time(z, spot):
    total = 0.0
    for j in range(z.shape[1]):
        x = 0.0
        for t in range(z.shape[0]):
            x = 0.9 * x + 0.01 * z[t, j]
        total += spot * np.exp(x)
    return total


@spelling("paths")
def paths_in_a_list_loop(z, spot):
    ends = []
    for j in range(z.shape[1]):
        x = 0.0
        for t in range(z.shape[0]):
            x = 0.9 * x + 0.01 * z[t, j]
        ends.append(spot * np.exp(x))
    return np.sum(ends)


# --- prices of options ------------------------------------------------------------------------------------------------

@inputs("prices of options")
def _(rng):
    return rng.random(200) * 50 + 75, rng.random(200) * 50 + 75, 0.7, 0.03, 0.25


@spelling("prices of options")
def options_broadcast(s, k, t, r, v):
    def cdf(x):
        y = 1 / (1 + 0.2316419 * np.abs(x))
        p = y * (0.319381530 + y * (-0.356563782 + y * (1.781477937 + y * (-1.821255978 + y * 1.330274429))))
        w = 0.3989422804014327 * np.exp(-0.5 * x * x) * p
        return np.where(x >= 0, 1 - w, w)
    d1 = (np.log(s[:, None] / k) + (r + v * v / 2) * t) / (v * np.sqrt(t))
    d2 = d1 - v * np.sqrt(t)
    return s[:, None] * cdf(d1) - k * np.exp(-r * t) * cdf(d2)


@spelling("prices of options")
def options_loops(s, k, t, r, v):
    def cdf(x):
        y = 1 / (1 + 0.2316419 * abs(x))
        p = y * (0.319381530 + y * (-0.356563782 + y * (1.781477937 + y * (-1.821255978 + y * 1.330274429))))
        w = 0.3989422804014327 * math.exp(-0.5 * x * x) * p
        if x >= 0:
            return 1 - w
        return w
    out = np.empty((len(s), len(k)))
    for i in range(len(s)):
        for j in range(len(k)):
            d1 = (math.log(s[i] / k[j]) + (r + v * v / 2) * t) / (v * math.sqrt(t))
            d2 = d1 - v * math.sqrt(t)
            out[i, j] = s[i] * cdf(d1) - k[j] * math.exp(-r * t) * cdf(d2)
    return out


@spelling("prices of options")
def options_masked(s, k, t, r, v):
    def cdf(x):
        y = 1 / (1 + 0.2316419 * np.abs(x))
        p = np.full_like(y, 1.330274429)
        for c in (-1.821255978, 1.781477937, -0.356563782, 0.319381530):
            p *= y
            p += c
        p *= y
        w = 0.3989422804014327 * np.exp(-0.5 * x * x) * p
        w[x >= 0] = 1 - w[x >= 0]
        return w
    spot, strike = np.meshgrid(s, k, indexing="ij")
    root = v * np.sqrt(t)
    d1 = (np.log(spot / strike) + (r + v * v / 2) * t) / root
    return spot * cdf(d1) - strike * np.exp(-r * t) * cdf(d1 - root)


@spelling("prices of options")
def options_rows(s, k, t, r, v):
    def cdf(x):
        y = 1 / (1 + 0.2316419 * np.abs(x))
        p = y * (0.319381530 + y * (-0.356563782 + y * (1.781477937 + y * (-1.821255978 + y * 1.330274429))))
        w = 0.3989422804014327 * np.exp(-0.5 * x * x) * p
        return np.where(x >= 0, 1 - w, w)
    rows = []
    for spot in s:
        d1 = (np.log(spot / k) + (r + v * v / 2) * t) / (v * np.sqrt(t))
        rows.append(spot * cdf(d1) - k * np.exp(-r * t) * cdf(d1 - v * np.sqrt(t)))
    return np.array(rows)
