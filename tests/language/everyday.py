"""What public code does with containers, texts, recursion and loops whose shapes change."""

# ruff: noqa: E501, E701, E702, E741, SIM108, N803, N806, C408, C417, B007
from __future__ import annotations

import functools
import heapq
import itertools
import math
import operator
from heapq import heappop, heappush

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


@case(f8(20))
def heap_sort(x):
    h = []
    for v in x:
        heappush(h, v)
    out = []
    while h:
        out.append(heappop(h))
    return out


@case(f8(20), 5)
def k_largest(x, k):
    h = list(x[:k])
    heapq.heapify(h)
    for v in x[k:]:
        if v > h[0]:
            heapq.heapreplace(h, v)
    return sorted(h)


@case([5,3,8,1,9,2])
def empty_heap(x):
    h = [3]
    for v in x:
        heappush(h, v)
    t = 0
    for i in range(8):
        t += heappop(h)
    return t


@case(f8(20))
def sorts(x):
    a = [v for v in x if v > 0]
    a.sort()
    b = sorted(x, reverse=True)
    c = [i*7 % 11 for i in range(len(x))]
    c.sort(reverse=True)
    return a, b, c, sorted(c)


@case(f8(20))
def tuples_order(x):
    p = (x[0], x[1]); q = (x[0], x[2])
    return p < q, p <= q, p > q, (1, 2) < (1, 3), (1, 2) < (1,)


@case(f8(20), f8(20))
def metropolis(x, y):
    rng = np.random.default_rng(3)
    n = 0
    e = 0.0
    for i in range(20):
        if x[i] < 0 or rng.random() < np.exp(-x[i]):
            e += y[i]
            n += 1
        if x[i] > 0 and np.sum(np.cumsum(y)) > 0 and np.dot(x, y) > -100:
            n += 10
    return n, e


@case((np.arange(81).reshape(9, 9) * 7 % 10 > 7), (0,0), (8,8))
def astar(grid, start, goal):
    h = lambda p: abs(p[0]-goal[0]) + abs(p[1]-goal[1])
    g = np.full(grid.shape, np.inf)
    g[start] = 0
    openq = []
    heapq.heappush(openq, (h(start), start[0], start[1]))
    came = -np.ones((*grid.shape, 2), dtype=int)
    while openq:
        _, r, c = heapq.heappop(openq)
        if (r, c) == goal:
            break
        for dr, dc in [(1,0),(0,1),(-1,0),(0,-1)]:
            nr, nc = r+dr, c+dc
            if 0 <= nr < grid.shape[0] and 0 <= nc < grid.shape[1] and not grid[nr, nc]:
                ng = g[r, c] + 1
                if ng < g[nr, nc]:
                    g[nr, nc] = ng
                    came[nr, nc] = (r, c)
                    heapq.heappush(openq, (ng + h((nr, nc)), nr, nc))
    path = []
    cur = goal
    while came[cur][0] >= 0:
        path.append(cur)
        cur = (came[cur][0], came[cur][1])
    return g, [(int(r), int(c)) for r, c in path[::-1]]


@case(40, f8(40))
@case(7, f8(7))
def each_of_its_own_type(n, x):
    a, b = [0] * n, [0.0] * n
    for i in range(1, n - 1):
        if x[i] > 0:
            a[i] = x[i]
        else:
            a[i] = i * 0.5
        b[i] = i
    c = []
    for i in range(n):
        c.append(i * 2)
        if x[i] > 0:
            c.append(0.5)
    b[-1] = 2.5
    return a, b, c


@case(np.array([1.0, 2.0]))
def python_sorts_no_nan(x):
    a = [v * 2 for v in x if v > 0]
    a.sort()
    return a, sorted([x[1], x[0], x[1] * 3])


@case(f8(30))
def sorted_numbers(x):
    window = [x[0], x[1], x[2], x[1], x[0], x[2], x[1], x[0], x[2], x[2], x[1]]
    window.sort()
    return window[4], sorted(window, reverse=True)


@case(f8(5, 4), f8(5), 3)
def arrangements(a, w, k):
    total = 0.0
    for i, j in itertools.product(range(a.shape[0]), range(a.shape[1])):
        total = max(total, a[i, j] * (i + 1))
    pairs = np.zeros(len(w))
    for i, j in itertools.combinations(range(len(w)), 2):
        pairs[i] += w[i] - w[j]
        pairs[j] -= 0.5
    best = None
    for p in itertools.permutations(range(k)):
        cost = sum(w[i] * i for i in p[:2])
        if best is None or cost < best[0]:
            best = (cost, p)
    return total, pairs, best, [x + y for x, y in itertools.product([1, 2], repeat=2)]


@case([np.arange(9.0).reshape(3, 3) + k for k in range(4)], np.array([0.5, 2.0, -1.0]), 5)
def folds(ms, x, n):
    product = functools.reduce(np.dot, ms)
    total = functools.reduce(lambda a, b: a * b + 1, x, 1.0)
    largest = functools.reduce(lambda a, b: a if a > b else b, x)
    factorial = functools.reduce(operator.mul, range(1, n + 1))
    return product, total, largest, factorial


@case(7, 2)
def parts_of_ranges(n, k):
    r = range(2, 3 * n, 3)
    return r[0], r[-1], r[k], [i * i for i in r[1:]], [-i for i in r[::-1]], len(r[1:3])


@case(np.array([3.0, 1.0, 2.0, 1.0]), np.array([1, 2, 0, 5]))
def sorted_by_keys(x, k):
    pairs = [(a, b) for a, b in zip(x, k)]
    by_second = sorted(pairs, key=lambda p: -p[1])
    pairs.sort(reverse=True)
    return sorted(zip(x, k)), by_second, pairs, max(pairs, key=lambda p: p[0] * p[1]), sorted(x, key=lambda v: -v)


@case(np.arange(12.0).reshape(3, 4), np.array([0.25, 0.5, 0.25]))
def along_an_axis(x, kernel):
    smooth = np.apply_along_axis(lambda m: np.convolve(m, kernel, mode="same"), 1, x)
    return smooth, np.apply_along_axis(np.sum, 0, x), np.apply_along_axis(lambda c: c[1:], 0, x)


@case(np.arange(8), 3)
def list_as_often_as_a_numpy_integer(a, k):
    n = a[k] + 1
    d = [False] * n
    d[a[1]] = True
    return d


@case(0, 1, 0.4)
@case(0.0, 1.0, 0.4)
@case(0, 1.0, 0)
@case(1, 2, math.nan)
def steps_of_two_types(t, y, end):
    h = 0.1
    times, values = [t], [y]
    while t < end:
        h = min(h, end - t)
        error = abs(h * y) / 4
        if error < 0.02:
            t += h
            y -= h * y
            times.append(t)
            values.append(y)
        h *= max(0.5, min(2.0, 0.01 / (error + 1e-9)))
    return times, values


@case(np.array([3.0, np.nan, -1.0]), 1)
@case(np.array([3.0, 5.0, -0.0]), 0)
def best_by_get(x, k):
    scores = {"first": x[0], "second": x[1], "third": x[2]}
    return max(scores, key=scores.get), min(scores, key=scores.get)


@case(np.array([3.0, np.nan, -1.0, -0.0]), 1)
@case(np.array([], float), 0)
def shown_choices(x, k):
    for v in x:
        shown = "large" if v > 2 else "small"
        if v < 0:
            shown = None
        print(f"{v:5.1f} is {shown!r:>8}", shown, "{}" if k > 0 else "{k}", sep="|")
    print("some" if len(x) else "none", x)
    return k
