"""Signals and climate: filters, peaks, spectra, means over time."""

from __future__ import annotations

from math import cos, pi, radians, sqrt

import numpy as np

from .registry import jnp, prange, register

# ---- moving median ---------------------------------------------------------------------------------------------------


def despike(signal, size, limit):
    """A signal whose outliers are replaced by the median around them (a Hampel filter)."""
    half = size // 2
    padded = np.pad(signal, half, mode="edge")
    windows = np.lib.stride_tricks.sliding_window_view(padded, size)
    median = np.median(windows, axis=1)
    spread = 1.4826 * np.median(np.abs(windows - median[:, None]), axis=1)
    return np.where(np.abs(signal - median) > limit * spread, median, signal)


def despike_loops(signal, size, limit):
    n, half = signal.size, size // 2
    out = np.empty_like(signal)
    for i in prange(n):
        window = np.empty(size)
        for turn in range(2):
            for k in range(size):
                value = signal[min(max(i + k - half, 0), n - 1)]
                if turn == 1:
                    value = abs(value - out[i])
                at = k
                while at > 0 and window[at - 1] > value:
                    window[at] = window[at - 1]
                    at -= 1
                window[at] = value
            if turn == 0:
                out[i] = window[half]
        if abs(signal[i] - out[i]) <= limit * 1.4826 * window[half]:
            out[i] = signal[i]
    return out


def despike_jax(signal, size, limit):
    half = size // 2
    padded = jnp.pad(signal, half, mode="edge")
    windows = padded[jnp.arange(signal.size)[:, None] + jnp.arange(size)[None, :]]
    median = jnp.sort(windows, axis=1)[:, half]
    spread = 1.4826 * jnp.sort(jnp.abs(windows - median[:, None]), axis=1)[:, half]
    return jnp.where(jnp.abs(signal - median) > limit * spread, median, signal)


register(
    "despike", despike, lambda rng, n: (np.sin(np.arange(n) * 0.01) + 0.1 * rng.standard_t(2, n), 9, 3.0), 30_000, 60,
    loops=despike_loops, arrays=despike_jax,
)  # fmt: skip

# ---- peaks -----------------------------------------------------------------------------------------------------------


def find_peaks(signal, height):
    """Places of the local maxima above a height, their values, and the mean distance between them."""
    middle = signal[1:-1]
    peaks = np.where((middle > signal[:-2]) & (middle > signal[2:]) & (middle > height))[0] + 1
    return peaks, signal[peaks], np.diff(peaks).mean()


def find_peaks_loops(signal, height):
    n = signal.size
    parts = 16
    counts = np.zeros(parts + 1, np.int64)
    for part in prange(parts):
        number = 0
        for i in range(1 + (n - 2) * part // parts, 1 + (n - 2) * (part + 1) // parts):
            number += (signal[i] > signal[i - 1]) & (signal[i] > signal[i + 1]) & (signal[i] > height)
        counts[part + 1] = number
    starts = np.cumsum(counts)
    peaks, values = np.empty(starts[-1], np.int64), np.empty(starts[-1], signal.dtype)
    for part in prange(parts):
        at = starts[part]
        for i in range(1 + (n - 2) * part // parts, 1 + (n - 2) * (part + 1) // parts):
            if signal[i] > signal[i - 1] and signal[i] > signal[i + 1] and signal[i] > height:
                peaks[at], values[at] = i, signal[i]
                at += 1
    return peaks, values, (peaks[-1] - peaks[0]) / (len(peaks) - 1)


register(
    "find peaks", find_peaks, lambda rng, n: (rng.standard_normal(n, dtype=np.float32), 0.8), 500_000, 100,
    loops=find_peaks_loops,
)  # fmt: skip

# ---- spectra ---------------------------------------------------------------------------------------------------------


def spectrogram(signal, size, hop):
    """Power of overlapping frames in decibels."""
    frames = np.lib.stride_tricks.sliding_window_view(signal, size)[::hop]
    spectrum = np.fft.rfft(frames * np.hanning(size), axis=1)
    return 10 * np.log10(np.abs(spectrum) ** 2 + 1e-10)


def spectrogram_jax(signal, size, hop):
    starts = np.arange(0, signal.size - size + 1, hop)
    frames = signal[starts[:, None] + np.arange(size)[None, :]]
    spectrum = jnp.fft.rfft(frames * np.hanning(size), axis=1)
    return 10 * jnp.log10(spectrum.real**2 + spectrum.imag**2 + 1e-10)


register(
    "spectrogram", spectrogram, lambda rng, n: (rng.standard_normal(n), 256, 128), 60_000, 800, arrays=spectrogram_jax,
)  # fmt: skip

# ---- climate ---------------------------------------------------------------------------------------------------------


def anomalies(temperatures, latitudes):
    """Monthly temperatures (months, latitudes, longitudes) against their mean year, and their mean over the globe."""
    months, rows, columns = temperatures.shape
    by_year = temperatures.reshape(months // 12, 12, rows, columns)
    anomaly = (by_year - by_year.mean(axis=0)).reshape(months, rows, columns)
    weights = np.cos(np.deg2rad(latitudes))
    series = (anomaly * weights[None, :, None]).sum(axis=(1, 2)) / (weights.sum() * columns)
    return anomaly, series


def anomalies_loops(temperatures, latitudes):
    months, rows, columns = temperatures.shape
    out = np.empty_like(temperatures)
    sums = np.zeros((months, rows))
    years = months // 12
    for y in prange(rows):
        weight = cos(radians(latitudes[y]))
        for month in range(12):
            mean = np.zeros(columns, np.float32)
            for t in range(month, months, 12):
                for x in range(columns):
                    mean[x] += temperatures[t, y, x]
            for x in range(columns):
                mean[x] /= np.float32(years)
            for t in range(month, months, 12):
                total = np.float32(0)
                for x in range(columns):
                    out[t, y, x] = temperatures[t, y, x] - mean[x]
                    total += out[t, y, x]
                sums[t, y] = total * weight
    weights = np.cos(np.radians(latitudes))
    return out, sums.sum(axis=1) / (weights.sum() * columns)


def anomalies_jax(temperatures, latitudes):
    months, rows, columns = temperatures.shape
    by_year = temperatures.reshape(months // 12, 12, rows, columns)
    anomaly = (by_year - by_year.mean(axis=0)).reshape(months, rows, columns)
    weights = jnp.cos(jnp.deg2rad(latitudes))
    return anomaly, (anomaly * weights[None, :, None]).sum(axis=(1, 2)) / (weights.sum() * columns)


register(
    "anomalies", anomalies,
    lambda rng, n: (15 + 5 * rng.standard_normal((12 * n, 45, 90), dtype=np.float32), np.linspace(-88, 88, 45)), 25, 2,
    loops=anomalies_loops, arrays=anomalies_jax,
)  # fmt: skip


def correlation_map(fields, index):
    """Correlation of a series with those of the points of a grid; data that are missing (NaN) are left out."""
    valid = ~np.isnan(fields)
    count = valid.sum(axis=0)
    x = np.where(valid, index[:, None, None], 0.0)
    y = np.where(valid, fields, 0.0)
    mean_x, mean_y = x.sum(axis=0) / count, y.sum(axis=0) / count
    dx = np.where(valid, x - mean_x, 0.0)
    dy = np.where(valid, y - mean_y, 0.0)
    return (dx * dy).sum(axis=0) / np.sqrt((dx**2).sum(axis=0) * (dy**2).sum(axis=0))


def correlation_map_loops(fields, index):
    steps, rows, columns = fields.shape
    out = np.empty((rows, columns))
    for i in prange(rows):
        count, x, y = np.zeros(columns), np.zeros(columns), np.zeros(columns)
        for t in range(steps):
            for j in range(columns):
                if fields[t, i, j] == fields[t, i, j]:
                    count[j] += 1
                    x[j] += index[t]
                    y[j] += fields[t, i, j]
        xx, xy, yy = np.zeros(columns), np.zeros(columns), np.zeros(columns)
        for t in range(steps):
            for j in range(columns):
                if fields[t, i, j] == fields[t, i, j]:
                    dx, dy = index[t] - x[j] / count[j], fields[t, i, j] - y[j] / count[j]
                    xx[j] += dx * dx
                    xy[j] += dx * dy
                    yy[j] += dy * dy
        for j in range(columns):
            out[i, j] = xy[j] / sqrt(xx[j] * yy[j])
    return out


def correlation_map_jax(fields, index):
    valid = ~jnp.isnan(fields)
    count = valid.sum(axis=0)
    x = jnp.where(valid, index[:, None, None], 0.0)
    y = jnp.where(valid, fields, 0.0)
    dx = jnp.where(valid, x - x.sum(axis=0) / count, 0.0)
    dy = jnp.where(valid, y - y.sum(axis=0) / count, 0.0)
    return (dx * dy).sum(axis=0) / jnp.sqrt((dx**2).sum(axis=0) * (dy**2).sum(axis=0))


def _fields(rng, n):
    fields = rng.standard_normal((60, n, 2 * n))
    fields[rng.random(fields.shape) < 0.1] = np.nan
    return fields, rng.standard_normal(60)


register("correlation map", correlation_map, _fields, 45, 4, loops=correlation_map_loops, arrays=correlation_map_jax)

# ---- phase -----------------------------------------------------------------------------------------------------------


def demodulate(signal, carrier, rate, taps):
    """Amplitude and unwrapped phase of a signal at a carrier: mixed down, filtered, in polar form."""
    t = np.arange(len(signal)) / rate
    mixed = signal * np.exp(-2j * np.pi * carrier * t)
    low = 2 * np.convolve(mixed, taps, mode="same")
    return np.abs(low), np.unwrap(np.angle(low))


def demodulate_jax(signal, carrier, rate, taps):
    t = jnp.arange(len(signal)) / rate
    low = 2 * jnp.convolve(signal * jnp.exp(-2j * pi * carrier * t), taps, mode="same")
    return jnp.abs(low), jnp.unwrap(jnp.angle(low))


def demodulate_loops(signal, carrier, rate, taps):
    n, width = signal.size, taps.size
    re, im, size, phase = np.empty(n), np.empty(n), np.empty(n), np.empty(n)
    for i in prange(n):
        angle = -2 * pi * carrier * i / rate
        re[i], im[i] = signal[i] * np.cos(angle), signal[i] * np.sin(angle)
    before = width - 1 - (width - 1) // 2
    for i in prange(n):
        x, y = 0.0, 0.0
        for k in range(max(0, i + width - before - n), min(width, i + width - before)):
            at = i + width - 1 - before - k
            x += taps[k] * re[at]
            y += taps[k] * im[at]
        size[i], phase[i] = 2 * np.hypot(x, y), np.arctan2(y, x)
    shift, last = 0.0, phase[0]
    for i in range(1, n):
        step = phase[i] - last
        last = phase[i]
        if step > pi:
            shift -= 2 * pi
        elif step < -pi:
            shift += 2 * pi
        phase[i] += shift
    return size, phase


def _tone(rng, n):
    t = np.arange(n) / 1000.0
    taps = np.hanning(33)
    return np.cos(2 * np.pi * 100 * t + 3 * np.sin(t)) + 0.05 * rng.standard_normal(n), 100.0, 1000.0, taps / taps.sum()


register("demodulate", demodulate, _tone, 50_000, 100, loops=demodulate_loops, arrays=demodulate_jax)
