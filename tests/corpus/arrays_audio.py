"""Audio: filters with state, pitch, filter banks."""

# ruff: noqa: E501, PERF401
from __future__ import annotations

import math

import numpy as np

from tests.corpus.registry import Case


class Biquad:
    def __init__(self, b0, b1, b2, a1, a2):
        self.b = (b0, b1, b2)
        self.a = (a1, a2)
        self.z1 = 0.0
        self.z2 = 0.0

    @classmethod
    def lowpass(cls, fc, fs, q=0.7071):
        w0 = 2 * math.pi * fc / fs
        alpha = math.sin(w0) / (2 * q)
        cosw = math.cos(w0)
        a0 = 1 + alpha
        return cls((1 - cosw) / 2 / a0, (1 - cosw) / a0, (1 - cosw) / 2 / a0, -2 * cosw / a0, (1 - alpha) / a0)

    def process(self, x):
        y = self.b[0] * x + self.z1
        self.z1 = self.b[1] * x - self.a[0] * y + self.z2
        self.z2 = self.b[2] * x - self.a[1] * y
        return y


def filter_chain(signal, cutoffs, fs=48000.0):
    filters = [Biquad.lowpass(fc, fs) for fc in cutoffs]
    out = np.zeros_like(signal)
    for n, s in enumerate(signal):
        for flt in filters:
            s = flt.process(s)
        out[n] = s
    return out


def yin_pitch(x, sr, fmin=100, fmax=500, threshold=0.1):
    tau_min = int(sr / fmax)
    tau_max = int(sr / fmin)
    n = len(x) - tau_max
    df = np.zeros(tau_max)
    for tau in range(1, tau_max):
        diff = x[:n] - x[tau:tau + n]
        df[tau] = np.sum(diff * diff)
    cmndf = np.ones(tau_max)
    cmndf[1:] = df[1:] * np.arange(1, tau_max) / np.cumsum(df[1:])
    tau = tau_min
    while tau < tau_max:
        if cmndf[tau] < threshold:
            while tau + 1 < tau_max and cmndf[tau + 1] < cmndf[tau]:
                tau += 1
            return sr / tau
        tau += 1
    return 0.0


def mel_filterbank(sr, n_fft, n_mels=10, fmin=0.0, fmax=None):
    def hz_to_mel(f):
        return 2595.0 * np.log10(1.0 + f / 700.0)

    def mel_to_hz(m):
        return 700.0 * (10.0 ** (m / 2595.0) - 1.0)
    if fmax is None:
        fmax = sr / 2
    mels = np.linspace(hz_to_mel(fmin), hz_to_mel(fmax), n_mels + 2)
    bins = np.floor((n_fft + 1) * mel_to_hz(mels) / sr).astype(int)
    fb = np.zeros((n_mels, n_fft // 2 + 1))
    for m in range(1, n_mels + 1):
        left, center, right = bins[m - 1], bins[m], bins[m + 1]
        for k in range(left, center):
            fb[m - 1, k] = (k - left) / (center - left)
        for k in range(center, right):
            fb[m - 1, k] = (right - k) / (right - center)
    return fb


def adsr(n, attack, decay, sustain, release, sr=100):
    a = np.linspace(0, 1, int(attack * sr), endpoint=False)
    d = np.linspace(1, sustain, int(decay * sr), endpoint=False)
    r = np.linspace(sustain, 0, int(release * sr))
    s_len = max(0, n - len(a) - len(d) - len(r))
    return np.concatenate([a, d, np.full(s_len, sustain), r])[:n]


CASES = [
    Case(filter_chain, lambda r: (r.normal(size=30), [1000.0, 4000.0]), ulps=64),
    Case(yin_pitch, lambda r: (np.sin(2 * np.pi * 220 * np.arange(400) / 8000) + .01 * r.normal(size=400), 8000), ulps=64, refused={"pallas": "a loop whose length depends on data"}),
    Case(mel_filterbank, lambda r: (8000, 256), ulps=8),
    Case(adsr, lambda r: (120, 0.1, 0.2, 0.6, 0.3), ulps=2),
]
