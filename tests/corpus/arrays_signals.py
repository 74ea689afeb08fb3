"""Array functions as they are written in signal processing."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.corpus.registry import Case


def fir_lowpass(taps: int, cutoff: float) -> Any:
    """A windowed sinc filter of unit gain."""
    n = np.arange(taps) - (taps - 1) / 2
    h = 2 * cutoff * np.sinc(2 * cutoff * n) * np.hamming(taps)
    return h / np.sum(h)


def filter_signal(x: Any, h: Any) -> Any:
    """Filtered without shift, the ends repeated."""
    half = len(h) // 2
    padded = np.pad(x, (half, len(h) - 1 - half), mode="edge")
    return np.convolve(padded, h, mode="valid")


def frame_energy(x: Any, frame: int, hop: int) -> Any:
    """Energy of overlapping frames in decibels."""
    frames = np.lib.stride_tricks.sliding_window_view(x, frame)[::8]
    assert hop == 8, "a hop of 8"
    energy = np.sum((frames * np.hanning(frame)) ** 2, axis=1)
    return 10 * np.log10(np.maximum(energy, 1e-12))


def goertzel(x: Any, rate: float, frequency: float) -> Any:
    """The power at one frequency."""
    w = 2 * np.pi * frequency / rate
    c = 2 * np.cos(w)
    s1 = 0.0
    s2 = 0.0
    for v in x:
        s0 = v + c * s1 - s2
        s2 = s1
        s1 = s0
    return s1 * s1 + s2 * s2 - c * s1 * s2


def zero_crossings(x: Any) -> Any:
    """Where the sign changes, and how often per sample."""
    negative = np.signbit(x)
    at = np.flatnonzero(np.diff(negative))
    return at, at.size / x.size


def peaks(x: Any, height: float) -> Any:
    """Local maxima above a height, and their prominence over their neighbours."""
    inner = x[1:-1]
    is_peak = (inner > x[:-2]) & (inner >= x[2:]) & (inner > height)
    at = np.where(is_peak)[0] + 1
    return at, x[at], x[at] - np.maximum(x[at - 1], x[at + 1])


def resample(x: Any, factor: float) -> Any:
    """Linear resampling."""
    n = int(np.ceil(x.size * factor))
    return np.interp(np.arange(n) / factor, np.arange(x.size), x)


def dct2(x: Any) -> Any:
    """The discrete cosine transform by its matrix, orthonormal."""
    n = x.shape[-1]
    k = np.arange(n)
    basis = np.cos(np.pi * (2 * k[None, :] + 1) * k[:, None] / (2 * n))
    scale = np.where(k == 0, np.sqrt(1 / n), np.sqrt(2 / n))
    return np.einsum("...n,kn->...k", x, basis * scale[:, None])


def mel_filters(filters: int, bins: int, rate: float) -> Any:
    """Triangular filters on the mel scale."""
    top = 2595 * np.log10(1 + rate / 2 / 700)
    points = 700 * (10 ** (np.linspace(0, top, filters + 2) / 2595) - 1)
    at = np.floor((bins - 1) * 2 * points / rate)
    k = np.arange(bins)
    left, center, right = at[:-2, None], at[1:-1, None], at[2:, None]
    rising = (k - left) / np.maximum(center - left, 1)
    falling = (right - k) / np.maximum(right - center, 1)
    return np.clip(np.minimum(rising, falling), 0, None)


def biquad(x: Any, b: Any, a: Any) -> Any:
    """A second-order section, transposed direct form."""
    y = np.zeros_like(x)
    z1 = 0.0
    z2 = 0.0
    for n in range(x.shape[0]):
        out = b[0] * x[n] + z1
        z1 = b[1] * x[n] - a[1] * out + z2
        z2 = b[2] * x[n] - a[2] * out
        y[n] = out
    return y


def quantize_audio(x: Any, bits: int) -> Any:
    """Integers of so many bits, and the error."""
    levels = 2 ** (bits - 1)
    q = np.clip(np.round(np.nan_to_num(x) * levels), -levels, levels - 1).astype(np.int32)
    return q, np.nan_to_num(x) - q / levels


def haar(x: Any) -> Any:
    """One level of a Haar transform and back."""
    even, odd = x[0::2], x[1::2]
    n = min(even.size, odd.size)
    a, d = (even[:n] + odd[:n]) / np.sqrt(2), (even[:n] - odd[:n]) / np.sqrt(2)
    back = np.empty(2 * n)
    back[0::2], back[1::2] = (a + d) / np.sqrt(2), (a - d) / np.sqrt(2)
    return a, d, back


def envelope(x: Any, release: float) -> Any:
    """A peak follower; the compressor's gain for it."""
    level = np.maximum.accumulate(np.abs(x) * release ** -np.arange(x.size, dtype=float))
    level = level * release ** np.arange(x.size, dtype=float)
    gain = np.where(level > 0.5, 0.5 / np.where(level > 0, level, 1.0), 1.0)
    return level, gain * x


def phase_unwrap(angles: Any, rate: float) -> Any:
    """Instantaneous frequency of a phase, and its slope by regression."""
    phase = np.unwrap(angles)
    frequency = np.gradient(phase) * rate / (2 * np.pi)
    return phase, frequency, np.polyfit(np.arange(phase.size), phase, 1)[0]


CASES = [
    Case(fir_lowpass, lambda r: (21, 0.2), ulps=64, scale=1.0),
    Case(filter_signal, lambda r: (r.normal(size=40), r.normal(size=7)), ulps=64, scale=8.0),
    Case(frame_energy, lambda r: (r.normal(size=64), 16, 8), ulps=64, scale=16.0, special=False),
    Case(goertzel, lambda r: (r.normal(size=30), 8000.0, 440.0), ulps=64, scale=100.0),
    Case(zero_crossings, lambda r: (r.normal(size=20),)),
    Case(peaks, lambda r: (r.normal(size=30), 0.1)),
    Case(
        resample,
        lambda r: (r.normal(size=12), 1.7),
        ulps=2,
        scale=2.0,
        special=False,
    ),
    Case(dct2, lambda r: (r.normal(size=(3, 8)),), ulps=64, scale=4.0),
    Case(mel_filters, lambda r: (6, 40, 16000.0), special=False, ulps=8, scale=1.0),
    Case(biquad, lambda r: (r.normal(size=20), np.array([0.2, 0.4, 0.2]), np.array([1.0, -0.5, 0.3]))),
    Case(quantize_audio, lambda r: (r.normal(size=20) / 2, 12)),
    Case(haar, lambda r: (r.normal(size=16),)),
    Case(envelope, lambda r: (r.normal(size=20), 0.9), ulps=16),
    Case(
        phase_unwrap,
        lambda r: (r.uniform(-3.1, 3.1, 20), 100.0),
        ulps=512,
        scale=64.0,
        special=False,
        refused={"cuda": "CuPy has no `least_squares`", "pallas": "`least_squares` has no JAX form"},
    ),
]
