"""What public code does with containers, texts, recursion and loops whose shapes change."""

# ruff: noqa: E501, E701, E702, E741, SIM108, N803, N806, C408, C417, B007
from __future__ import annotations

import numpy as np

from tests.language.registry import case

R = np.random.default_rng(8)
f8 = lambda *s: R.standard_normal(s)  # noqa: E731


@case([1,3,2,4])
def one_hots_in_a_dict(positions):
    rows = {}
    for t in range(len(positions)):
        rows[t] = np.zeros(5)
        rows[t][positions[t]] = 1
    return rows[0] + 2 * rows[3], rows[1]


@case(3)
def z_alias(k):
    z = np.zeros(3); d = {0: z}
    d[0][1] = 5
    z[2] = 7
    return z, d[0]


@case(3)
def z_alias2(k):
    z = np.zeros(3); d = {}
    d[k] = z
    d[k][1] = 5
    z[2] = 7
    return z, d[k]


@case(3)
def l_items(k):
    a = [np.ones(3), np.zeros(3)]
    a[0][1] = 5
    a[1][2] += 2
    a[1] += 1
    return a


@case(f8(6))
def l_mask(x):
    y = x[x > 0]
    a = [y, 1]
    a[0][0] = 99
    return y, a[0]


@case(f8(6))
def t_items(x):
    t = (np.zeros(6), np.arange(6.0), np.arange(6))
    t[0][:] = x
    t[1][1] = 5
    t[2][2] = 7
    return t


@case(f8(6))
def grow_alias(x):
    L = []
    z = np.zeros(3)
    for i in range(6):
        L.append(z)
        z = z + x[i]
    return L


@case(f8(20))
def signals(x):
    out = []
    for i in range(len(x)):
        if out and out[-1] == 'up' and x[i] > 0:
            out.append('still up')
        elif x[i] > 0:
            out.append('up')
        else:
            out.append('down')
    return out, len(out)


@case(f8(20))
def trades(x):
    t = []
    pos = None
    for i in range(len(x)):
        if x[i] > 0.5 and pos != 'long':
            pos = 'long'
            t.append((i, pos, x[i]))
        elif x[i] < -0.5 and pos is not None:
            t.append((i, 'exit', x[i]))
            pos = None
    buys = [p for i, s, p in t if s == 'long']
    return t, buys


@case(f8(16))
def halve(x):
    while len(x) > 1:
        x = x[0::2] + x[1::2]
    return x


@case(f8(5))
def halve2(x):
    while x.shape[0] > 1:
        n = x.shape[0]
        y = np.zeros((n+1)//2)
        y[:] = x[::2]
        if n > 2:
            y[0] += x[1]
        x = y
    return x


@case(f8(4), 4)
def krylov(v, n):
    q = [0]*n
    q[0] = v
    for i in range(1, n):
        q[i] = q[i-1]*2
    return np.array(q)


@case(f8(16) + 1j * f8(16), tol=1e-12)
def as_deep_as_the_array_is_long(x):
    def rec(x):
        n = len(x)
        if n <= 1:
            return x
        even, odd = rec(x[0::2]), rec(x[1::2])
        t = np.exp(-2j * np.pi * np.arange(n // 2) / n) * odd
        return np.concatenate([even + t, even - t])

    return rec(x)


@case(f8(32), tol=1e-12)
def shapes_change(x):
    n = min(x.shape[0], 4)
    X = np.dot(np.ones((n, n)), x.reshape((n, -1)))
    while X.shape[0] < x.shape[0]:
        even, odd = X[:, : X.shape[1] // 2], X[:, X.shape[1] // 2 :]
        X = np.vstack([even + odd, even - odd])
    return X.ravel()


@case(f8(7), f8(7), f8(9))
def maps_and_filters(x, y, z):
    a, b = map(np.array, (x, y))
    a[0] = 5
    pieces = list(map(lambda v: v[:3] * 2, [x, y, z]))
    positive = list(filter(lambda v: v > 0, x))
    return a, b, pieces, positive, list(map(lambda p, q: p + q, x, y)), max(map(abs, y)), [*filter(None, [0, 2, 0, 3])]


@case(f8(7), f8(7))
def results_into_arrays(x, y):
    z = np.zeros(7)
    np.multiply(x, y, z)
    np.add(z, 1.0, x)
    inside = np.abs(z) > 0.1
    np.logical_not(inside, inside)
    return z, x, inside
