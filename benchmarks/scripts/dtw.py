"""1-NN time-series classification with DTW (Sakoe-Chiba band) + barycenter averaging."""
from math import inf

import numpy as np


def gen_series(kind, n, gen):
    """cylinder / bell / funnel data (Saito 1994)"""
    a = gen.integers(n // 8, n // 4)
    b = a + gen.integers(n // 4, int(n // 1.5))
    x = np.zeros(n)
    eta = gen.normal()
    for t in range(n):
        inside = a <= t <= b
        if kind == 0:
            v = (6 + eta) if inside else 0
        elif kind == 1:
            v = (6 + eta) * (t - a) / (b - a) if inside else 0
        else:
            v = (6 + eta) * (b - t) / (b - a) if inside else 0
        x[t] = v + gen.normal()
    return (x - x.mean()) / x.std()


def dtw(x, y, window=None, best_so_far=inf):
    n, m = len(x), len(y)
    w = max(window, abs(n - m)) if window is not None else max(n, m)
    prev = [inf] * (m + 1)
    prev[0] = 0.0
    for i in range(1, n + 1):
        cur = [inf] * (m + 1)
        lo = max(1, i - w)
        hi = min(m, i + w)
        row_min = inf
        for j in range(lo, hi + 1):
            c = (x[i - 1] - y[j - 1]) ** 2
            cur[j] = c + min(prev[j], cur[j - 1], prev[j - 1])
            if cur[j] < row_min:
                row_min = cur[j]
        if row_min > best_so_far:
            return inf
        prev = cur
    return prev[m]


def dtw_path(x, y):
    n, m = len(x), len(y)
    D = np.full((n + 1, m + 1), np.inf)
    D[0, 0] = 0
    for i in range(n):
        for j in range(m):
            D[i + 1, j + 1] = abs(x[i] - y[j]) + min(D[i, j + 1], D[i + 1, j], D[i, j])
    path = []
    i, j = n, m
    while i > 0 and j > 0:
        path.append((i - 1, j - 1))
        k = np.argmin((D[i - 1, j - 1], D[i - 1, j], D[i, j - 1]))
        if k == 0:
            i, j = i - 1, j - 1
        elif k == 1:
            i -= 1
        else:
            j -= 1
    return D[n, m], path[::-1]


def dba(series, n_iter=3):
    avg = series[0].copy()
    for it in range(n_iter):
        acc = np.zeros_like(avg)
        cnt = np.zeros(len(avg), dtype=int)
        total = 0.0
        for s in series:
            d, path = dtw_path(avg, s)
            total += d
            for i, j in path:
                acc[i] += s[j]
                cnt[i] += 1
        avg = acc / cnt
        print(f"    dba iter {it}: cost {total:.6f}")
    return avg


def classify(train, test, window):
    pruned = 0
    pred = []
    for x, _ in test:
        best, lab = inf, None
        for y, c in train:
            d = dtw(x, y, window, best)
            if d == inf:
                pruned += 1
            elif d < best:
                best, lab = d, c
        pred.append(lab)
    return pred, pruned


def sparkline(x):
    lo, hi = min(x), max(x)
    return "".join(" .:-=+*#%@"[int((v - lo) / (hi - lo) * 9.999)] for v in x)


def main():
    gen = np.random.default_rng(2718)
    n = 108
    train = [(gen_series(k % 3, n, gen), k % 3) for k in range(24)]
    test = [(gen_series(k % 3, n, gen), k % 3) for k in range(30)]
    for w in (2, 6, 12):
        pred, pruned = classify(train, test, w)
        acc = sum(p == c for p, (_, c) in zip(pred, test)) / len(test)
        print(f"window={w:3d} accuracy={acc:.4f} pruned={pruned}")
    print("pred:", pred)
    for k in range(3):
        avg = dba([s for s, c in train if c == k][:6])
        print("class", k, "|" + sparkline(avg) + "|")
        print(np.array2string(avg[:6], precision=8, separator=", "))
    print("d(0,1) =", repr(dtw(train[0][0], train[1][0])))


if __name__ == "__main__":
    main()
