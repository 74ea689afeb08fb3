"""Algorithms as textbooks print them, in Python's own words: searches, sorts, numbers, strings of digits, matrices."""

# ruff: noqa: B007, B018, B905, E741, PERF401, UP031
from __future__ import annotations

import math
from typing import Any

import numpy as np

from tests.corpus.registry import Case

MAX_ITERATIONS = 50
PRIMES = [2, 3, 5, 7, 11, 13]


def bisect(f: Any, a: float, b: float, tol: float = 1e-8) -> tuple:
    """A function as an argument, a counter, an error."""
    fa, fb = f(a), f(b)
    if fa * fb > 0:
        raise ValueError(f"f({a}) and f({b}) have one sign")
    for n in range(MAX_ITERATIONS):
        c = (a + b) / 2
        fc = f(c)
        if fc == 0 or (b - a) / 2 < tol:
            break
        if fa * fc < 0:
            b, fb = c, fc
        else:
            a, fa = c, fc
    return c, n


def cubic(x: float) -> float:
    return x**3 - x - 2


def newton_sqrt(x: float, guess: float | None = None) -> float:
    """A `while True` with a return inside, called by others."""
    y = guess or x / 2 or 1.0
    for _ in range(MAX_ITERATIONS):
        better = (y + x / y) / 2
        if abs(better - y) <= 1e-15 * better:
            return better
        y = better
    return y


def roots(values: Any) -> list:
    return [newton_sqrt(float(v)) for v in values]


def gcd_table(n: int) -> Any:
    """math.gcd and Euclid by hand."""

    def euclid(a: int, b: int) -> int:
        while b:
            a, b = b, a % b
        return a

    table = np.zeros((n, n), dtype=int)
    for i in range(1, n + 1):
        for j in range(1, n + 1):
            table[i - 1, j - 1] = euclid(i, j)
            assert table[i - 1, j - 1] == math.gcd(i, j)
    return table


def sieve(n: int) -> list:
    """A list of flags by repetition, slices of an array, a list comprehension with a condition."""
    flags = np.ones(n + 1, dtype=bool)
    flags[:2] = False
    p = 2
    while p * p <= n:
        if flags[p]:
            for multiple in range(p * p, n + 1, p):
                flags[multiple] = False
        p += 1
    return [k for k in range(n + 1) if flags[k]]


def factorise(number: int) -> tuple:
    """A growing list in nested loops, a dict of constant keys."""
    found = []
    left = number
    for p in PRIMES:
        for _ in range(64):
            if left % p != 0:
                break
            left //= p
            found.append(p)
    return found, left, len(found), 2 in found


def binary_search(x: Any, wanted: float) -> int:
    """Returns from inside a while loop."""
    low, high = 0, len(x) - 1
    while low <= high:
        mid = (low + high) // 2
        if x[mid] == wanted:
            return mid
        elif x[mid] < wanted:
            low = mid + 1
        else:
            high = mid - 1
    return -(low + 1)


def search_all(x: Any, wanted: list) -> list:
    return [binary_search(x, w) for w in wanted]


def insertion_sort(x: Any) -> Any:
    """A while loop with two conditions, in place."""
    swaps = 0
    for i in range(1, len(x)):
        key, j = x[i], i - 1
        while j >= 0 and x[j] > key:
            x[j + 1] = x[j]
            j -= 1
            swaps += 1
        x[j + 1] = key
    return swaps


def merge(a: list, b: list) -> list:
    """Two lists of numbers, cursors, extend by the rest."""
    i = j = 0
    out = []
    for _ in range(len(a) + len(b)):
        if i >= len(a) or j >= len(b):
            break
        if a[i] <= b[j]:
            out.append(a[i])
            i += 1
        else:
            out.append(b[j])
            j += 1
    out.extend(a[i:])
    out += b[j:]
    return out


def lu(a: Any) -> tuple:
    """Elimination with pivots, rows swapped through views, an error where it is singular."""
    n = a.shape[0]
    u = a.copy()
    order = list(range(n))
    sign = 1
    for k in range(n - 1):
        p = k
        for i in range(k + 1, n):
            if abs(u[i, k]) > abs(u[p, k]):
                p = i
        if u[p, k] == 0:
            raise ZeroDivisionError(f"column {k} has no pivot")
        if p != k:
            for j in range(n):
                u[k, j], u[p, j] = u[p, j], u[k, j]
            order[k], order[p] = order[p], order[k]
            sign = -sign
        for i in range(k + 1, n):
            u[i, k] /= u[k, k]
            u[i, k + 1 :] -= u[i, k] * u[k, k + 1 :]
    return u, order, sign


def determinant(a: Any) -> float:
    """Recursion of a depth that the shape decides, minors by comprehension."""
    n = len(a)
    if n == 1:
        return a[0, 0]
    if n == 2:
        return a[0, 0] * a[1, 1] - a[0, 1] * a[1, 0]
    total = 0.0
    for c in range(n):
        columns = [k for k in range(n) if k != c]
        total += (-1) ** c * a[0, c] * determinant(a[1:][:, columns])
    return total


def fibonacci(n: int) -> int:
    """Tuple assignment; a negative argument is an error."""
    if n < 0:
        raise ValueError("n < 0")
    a, b = 0, 1
    for _ in range(n):
        a, b = b, a + b
    return a


def collatz(start: int, limit: int = 200) -> tuple:
    """An else of a while loop."""
    steps, top, n = 0, start, start
    while n != 1:
        n = 3 * n + 1 if n % 2 else n // 2
        top = max(top, n)
        steps += 1
        if steps == limit:
            status = "gave up"
            break
    else:
        status = "done"
    return steps, top, status == "done"


def horner(coefficients: tuple, x: Any) -> Any:
    """reversed, a polynomial of an array."""
    result = 0
    for c in reversed(coefficients):
        result = result * x + c
    return result


def pascal(rows: int) -> Any:
    """Rows made of the row before, printed as a matrix."""
    triangle = np.zeros((rows, rows), dtype=np.int64)
    for i in range(rows):
        triangle[i, 0] = triangle[i, i] = 1
        for j in range(1, i):
            triangle[i, j] = triangle[i - 1, j - 1] + triangle[i - 1, j]
    return triangle, [int(v) for v in triangle[rows - 1]]


def edit_distance(a: Any, b: Any) -> int:
    """min of three numbers; a table of an integer type."""
    m, n = len(a), len(b)
    d = np.zeros((m + 1, n + 1), dtype=np.int32)
    d[:, 0], d[0, :] = range(m + 1), range(n + 1)
    for i in range(1, m + 1):
        for j in range(1, n + 1):
            cost = 0 if a[i - 1] == b[j - 1] else 1
            d[i, j] = min(d[i - 1, j] + 1, d[i, j - 1] + 1, d[i - 1, j - 1] + cost)
    return int(d[m, n])


def knapsack(weights: list, values: list, capacity: int) -> tuple:
    """zip of two lists of integers, a reversed range, reconstruction."""
    best = np.zeros((len(weights) + 1, capacity + 1), dtype=np.int64)
    for i, (w, v) in enumerate(zip(weights, values), 1):
        for c in range(capacity + 1):
            best[i, c] = best[i - 1, c]
            if w <= c and best[i - 1, c - w] + v > best[i, c]:
                best[i, c] = best[i - 1, c - w] + v
    taken, c = [], capacity
    for i in range(len(weights), 0, -1):
        if best[i, c] != best[i - 1, c]:
            taken.append(i - 1)
            c -= weights[i - 1]
    return int(best[-1, -1]), taken[::-1]


def dijkstra(weights: Any, source: int = 0) -> tuple:
    """Infinity as a start, an inner search, previous nodes in a list of numbers."""
    n = len(weights)
    distance = [math.inf] * n
    previous = [-1] * n
    done = np.zeros(n, dtype=bool)
    distance[source] = 0.0
    for _ in range(n):
        u = -1
        for v in range(n):
            if not done[v] and (u < 0 or distance[v] < distance[u]):
                u = v
        if distance[u] == math.inf:
            break
        done[u] = True
        for v in range(n):
            w = weights[u, v]
            if w > 0 and distance[u] + w < distance[v]:
                distance[v] = distance[u] + float(w)
                previous[v] = u
    return distance, previous


def simpson(f: Any, a: float, b: float, n: int = 6) -> float:
    """A generator in sum, twice."""
    if n % 2:
        raise ValueError("n must be even")
    h = (b - a) / n
    odd = sum(f(a + k * h) for k in range(1, n, 2))
    even = sum(f(a + k * h) for k in range(2, n, 2))
    return h / 3 * (f(a) + 4 * odd + 2 * even + f(b))


def power_method(a: Any, steps: int = 20) -> tuple:
    """A tolerance of finfo, an early exit."""
    v = np.ones(len(a))
    value = 0.0
    for k in range(steps):
        w = np.zeros(len(a))
        for i in range(len(a)):
            for j in range(len(a)):
                w[i] += a[i, j] * v[j]
        new = abs(w).max()
        v = w / new
        if abs(new - value) <= 4 * np.finfo(np.float64).eps * new:
            break
        value = new
    return value, v, k < steps


def digits(number: int, base: int = 10) -> list:
    """divmod in a while loop with a bound, reverse."""
    out = []
    count = 0
    while count < 64 and number > 0:
        number, d = divmod(number, base)
        out.append(d)
        count += 1
    return out[::-1] or [0]


def mean_and_spread(*samples: Any, ddof: int = 0) -> list:
    """Any number of arrays, keyword-only option, a list of tuples."""
    result = []
    for s in samples:
        m = sum(s) / len(s)
        v = sum((x - m) ** 2 for x in s) / (len(s) - ddof)
        result.append((m, v))
    return result


def spiral(n: int) -> Any:
    """Turning at walls: tuples of directions by a run-time index."""
    out = np.zeros((n, n), dtype=int)
    moves = ((0, 1), (1, 0), (0, -1), (-1, 0))
    i = j = turn = 0
    for k in range(1, n * n + 1):
        out[i, j] = k
        di, dj = moves[turn % 4]
        r, c = i + di, j + dj
        if not (0 <= r < n and 0 <= c < n) or out[r, c]:
            turn += 1
            di, dj = moves[turn % 4]
            r, c = i + di, j + dj
        i, j = r, c
    return out


def rational(x: float, limit: int = 1000) -> tuple:
    """Continued fractions: tuples swapped, a condition on the sign."""
    sign, x = (-1, -x) if x < 0 else (1, x)
    p0, q0, p1, q1 = 0, 1, 1, 0
    y = x
    for _ in range(20):
        whole = math.floor(y)
        p0, q0, p1, q1 = p1, q1, whole * p1 + p0, whole * q1 + q0
        if q1 > limit:
            return sign * p0, q0
        if y == whole:
            break
        y = 1 / (y - whole)
    return sign * p1, q1


# fmt: off
CASES = [
    Case(bisect, lambda r: (cubic, 1.0, 2.0)),
    Case(bisect, lambda r: (lambda v: v * v + 1, -1.0, 2.0)),
    Case(roots, lambda r: (r.random(4) + 0.5,), special=False),
    Case(gcd_table, lambda r: (6,)),
    Case(sieve, lambda r: (40,)),
    Case(factorise, lambda r: (int(r.integers(1, 50)) * 360,)),
    Case(search_all, lambda r: (np.sort(r.integers(0, 20, 9)).astype(float), [3.0, 7.0, 19.0, -1.0]), special=False),
    Case(insertion_sort, lambda r: (r.random(9),)),
    Case(merge, lambda r: (sorted(r.random(4).tolist()), sorted(r.random(6).tolist()))),
    Case(lu, lambda r: (r.normal(size=(4, 4)),), special=False),
    Case(lu, lambda r: (np.zeros((3, 3)),), special=False),
    Case(determinant, lambda r: (r.normal(size=(4, 4)),), 64, 1.0, special=False),
    Case(fibonacci, lambda r: (int(r.integers(2, 40)),)),
    Case(fibonacci, lambda r: (-1,)),
    Case(collatz, lambda r: (27, 200)),
    Case(collatz, lambda r: (27, 20)),
    Case(horner, lambda r: ((1.0, -2.0, 0.5), r.normal(size=6))),
    Case(pascal, lambda r: (6,)),
    Case(edit_distance, lambda r: (r.integers(0, 3, 7), r.integers(0, 3, 6))),
    Case(knapsack, lambda r: ([2, 3, 4, 5], [3, 4, 5, 6], 8)),
    Case(dijkstra, lambda r: (np.round(r.random((5, 5)) * 9) * (r.random((5, 5)) < 0.6),), special=False),
    Case(simpson, lambda r: (math.exp, 0.0, 1.0), 4),
    Case(simpson, lambda r: (cubic, 0.0, 1.0, 5)),
    Case(power_method, lambda r: (r.random((4, 4)) + 0.1,), special=False),
    Case(digits, lambda r: (int(r.integers(0, 10**9)),)),
    Case(digits, lambda r: (0, 2)),
    Case(mean_and_spread, lambda r: (r.normal(size=5), r.normal(size=7))),
    Case(spiral, lambda r: (5,)),
    Case(rational, lambda r: (-math.pi,)),
    Case(rational, lambda r: (float(r.random()), 50)),
]
# fmt: on
