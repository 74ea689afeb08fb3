#!/usr/bin/env python3
"""
Vibration sensor post-processing: biquad IIR cascade, hand-written radix-2 FFT, peak picking, histogram,
convex hull of the orbit plot, moving window statistics, rainflow counting. Bootstrap for the limits.
Exit code: 0 = fine, 3 = a limit was violated.
"""
import math
import sys

import numpy as np


class Biquad:
    def __init__(self, b, a):
        self.b = [x / a[0] for x in b]
        self.a = [x / a[0] for x in a]
        self.z1 = self.z2 = 0.0

    def process(self, x):
        y = self.b[0] * x + self.z1
        self.z1 = self.b[1] * x - self.a[1] * y + self.z2
        self.z2 = self.b[2] * x - self.a[2] * y
        return y

    @classmethod
    def lowpass(cls, fc, fs, q=0.7071):
        w = 2 * math.pi * fc / fs
        al = math.sin(w) / (2 * q)
        c = math.cos(w)
        return cls([(1 - c) / 2, 1 - c, (1 - c) / 2], [1 + al, -2 * c, 1 - al])

    @classmethod
    def notch(cls, f0, fs, q=10):
        w = 2 * math.pi * f0 / fs
        al = math.sin(w) / (2 * q)
        c = math.cos(w)
        return cls([1, -2 * c, 1], [1 + al, -2 * c, 1 - al])


def filter_signal(x, stages):
    y = np.empty_like(x)
    for i in range(len(x)):
        v = x[i]
        for s in stages:
            v = s.process(v)
        y[i] = v
    return y


def fft(x):
    n = len(x)
    a = np.array(x, dtype=complex)
    # bit reversal
    j = 0
    for i in range(1, n):
        bit = n >> 1
        while j & bit:
            j ^= bit
            bit >>= 1
        j |= bit
        if i < j:
            a[i], a[j] = a[j], a[i]
    size = 2
    while size <= n:
        half = size // 2
        wl = complex(math.cos(-2 * math.pi / size), math.sin(-2 * math.pi / size))
        for start in range(0, n, size):
            w = 1 + 0j
            for k in range(half):
                u = a[start + k]
                v = a[start + k + half] * w
                a[start + k] = u + v
                a[start + k + half] = u - v
                w *= wl
        size *= 2
    return a


def find_peaks(mag, k):
    cand = []
    for i in range(1, len(mag) - 1):
        if mag[i] > mag[i - 1] and mag[i] >= mag[i + 1]:
            cand.append((mag[i], i))
    cand.sort(reverse=True)
    return cand[:k]


def cross(o, a, b):
    return (a[0] - o[0]) * (b[1] - o[1]) - (a[1] - o[1]) * (b[0] - o[0])


def hull(points):
    pts = sorted(set(map(tuple, points)))
    lower, upper = [], []
    for p in pts:
        while len(lower) >= 2 and cross(lower[-2], lower[-1], p) <= 0:
            lower.pop()
        lower.append(p)
    for p in reversed(pts):
        while len(upper) >= 2 and cross(upper[-2], upper[-1], p) <= 0:
            upper.pop()
        upper.append(p)
    h = lower[:-1] + upper[:-1]
    area = 0.0
    for i in range(len(h)):
        area += h[i - 1][0] * h[i][1] - h[i][0] * h[i - 1][1]
    return h, area / 2


def rainflow(x):
    rev = [x[0]]
    for i in range(1, len(x) - 1):
        if (x[i] - x[i - 1]) * (x[i + 1] - x[i]) < 0:
            rev.append(x[i])
    rev.append(x[-1])
    stack = []
    cycles = {}
    for r in rev:
        stack.append(r)
        while len(stack) >= 3:
            X = abs(stack[-1] - stack[-2])
            Y = abs(stack[-2] - stack[-3])
            if X < Y:
                break
            if len(stack) == 3:
                b = round(Y, 1)
                cycles[b] = cycles.get(b, 0) + 0.5
                stack.pop(0)
            else:
                b = round(Y, 1)
                cycles[b] = cycles.get(b, 0) + 1
                last = stack.pop()
                stack.pop()
                stack.pop()
                stack.append(last)
    for i in range(1, len(stack)):
        b = round(abs(stack[i] - stack[i - 1]), 1)
        cycles[b] = cycles.get(b, 0) + 0.5
    return cycles


def rolling(x, w):
    s = s2 = 0.0
    out = np.full(len(x), np.nan)
    for i, v in enumerate(x):
        s += v
        s2 += v * v
        if i >= w:
            s -= x[i - w]
            s2 -= x[i - w]**2
        if i >= w - 1:
            m = s / w
            out[i] = math.sqrt(max(0.0, s2 / w - m * m))
    return out


def histogram(x, lo, hi, nb):
    h = np.zeros(nb, dtype=int)
    under = over = 0
    for v in x:
        if v < lo:
            under += 1
        elif v >= hi:
            over += 1
        else:
            h[int((v - lo) / (hi - lo) * nb)] += 1
    return h, under, over


def bootstrap(x, stat, n, rng):
    vals = []
    for b in range(n):
        sample = [x[rng.integers(0, len(x))] for _ in range(len(x))]
        vals.append(stat(sample))
    vals.sort()
    return vals[int(0.025 * n)], vals[int(0.975 * n)]


def rms(v):
    s = 0.0
    for x in v:
        s += x * x
    return math.sqrt(s / len(v))


def main():
    rng = np.random.default_rng(8080)
    fs = 2048.0
    n = 65536
    t = np.arange(n) / fs
    x = 1.2 * np.sin(2 * np.pi * 50 * t) + 0.7 * np.sin(2 * np.pi * 123.5 * t + 0.3) + rng.normal(0, 0.5, n)
    x[5000:5040] += 6.0
    y = filter_signal(x, [Biquad.lowpass(300, fs), Biquad.lowpass(300, fs), Biquad.notch(50, fs)])
    print("rms in %.10f  rms out %.10f" % (rms(x), rms(y)))
    for name, sig in (("raw", x), ("filtered", y)):
        F = fft(sig)
        mag = np.abs(F[:n // 2]) / n * 2
        for m, k in find_peaks(mag, 3):
            print(f"  {name:9s} peak {k * fs / n:9.4f} Hz amplitude {m:.8f}")
    print("parseval ok:", bool(np.isclose((np.abs(F)**2).sum() / n, (y**2).sum())))
    h, u, o = histogram(y, -3, 3, 12)
    print(h, u, o)
    pts, area = hull(np.round(np.c_[y[:-1], y[1:]], 6))
    print("orbit hull vertices", len(pts), "area", area, "first", [float(c) for c in pts[0]])
    cyc = rainflow(y)
    print("rainflow", {float(k): cyc[k] for k in sorted(cyc)[-5:]}, "total", sum(cyc.values()))
    sd = rolling(y, 256)
    lo, hi = bootstrap(y[::160], rms, 600, rng)
    print("rms 95%% interval [%.6f, %.6f]" % (lo, hi))
    violations = 0
    i = 0
    while i < n:
        if not np.isnan(sd[i]) and sd[i] > 1.15:
            j = i
            while j + 1 < n and sd[j + 1] > 1.15:
                j += 1
            print(f"limit violated from sample {i} to {j}, worst {sd[i:j + 1].max():.6f}")
            violations += 1
            i = j
        i += 1
    if violations:
        sys.exit(3)
    print("ok")


if __name__ == "__main__":
    main()
