"""Astronomy: dates, orbits, photometry."""

# ruff: noqa: E501, PERF401
from __future__ import annotations

import numpy as np

from tests.corpus.registry import Case


def julian_date(year, month, day, hour=0, minute=0, second=0.0):
    if month <= 2:
        year -= 1
        month += 12
    a = year // 100
    b = 2 - a + a // 4
    jd = int(365.25 * (year + 4716)) + int(30.6001 * (month + 1)) + day + b - 1524.5
    return jd + (hour + minute / 60 + second / 3600) / 24


def solve_kepler(M, e, tol=1e-10, max_iter=50):
    M = np.atleast_1d(M) % (2 * np.pi)
    E = np.where(e < 0.8, M, np.pi * np.ones_like(M))
    for _ in range(max_iter):
        f = E - e * np.sin(E) - M
        fp = 1 - e * np.cos(E)
        dE = -f / fp
        E = E + dE
        if np.all(np.abs(dE) < tol):
            break
    nu = 2 * np.arctan2(np.sqrt(1 + e) * np.sin(E / 2), np.sqrt(1 - e) * np.cos(E / 2))
    return E, nu


def sigma_clip(data, sigma=3.0, maxiters=5):
    mask = np.zeros(data.shape, dtype=bool)
    for it in range(maxiters):
        good = data[~mask]
        med = np.median(good)
        std = good.std()
        new = mask | (np.abs(data - med) > sigma * std)
        if np.array_equal(new, mask):
            break
        mask = new
    return data[~mask].mean(), mask, it


def angular_separation(lon1, lat1, lon2, lat2):
    sdlon = np.sin(lon2 - lon1)
    cdlon = np.cos(lon2 - lon1)
    slat1 = np.sin(lat1)
    slat2 = np.sin(lat2)
    clat1 = np.cos(lat1)
    clat2 = np.cos(lat2)
    num1 = clat2 * sdlon
    num2 = clat1 * slat2 - slat1 * clat2 * cdlon
    denominator = slat1 * slat2 + clat1 * clat2 * cdlon
    return np.arctan2(np.hypot(num1, num2), denominator)


CASES = [
    Case(julian_date, lambda r: (int(r.integers(1900, 2100)), int(r.integers(1, 13)), int(r.integers(1, 29)), 5, 30, float(r.random()))),
    Case(solve_kepler, lambda r: (r.uniform(-7, 7, 9), 0.3), ulps=16, scale=1),
    Case(sigma_clip, lambda r: (r.standard_t(2, 40),), ulps=8),
    Case(angular_separation, lambda r: tuple(r.normal(size=5) for _ in range(4)), ulps=16, scale=1),
]
