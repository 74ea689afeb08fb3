"""Generators that a loop, a list or a sum uses up."""

from __future__ import annotations

import numpy as np

from tests.language.registry import case

X = np.array([1.5, -0.0, np.nan, np.inf, -2.0, 3.0, 0.25])


def batches(x, size, drop=False):
    for start in range(0, len(x), size):
        part = x[start:start + size]
        if drop and len(part) < size:
            return
        yield part


def fibonacci():
    a, b = 0, 1
    while True:
        yield a
        a, b = b, a + b


def neighbours(i, j, shape):
    for di, dj in ((1, 0), (-1, 0), (0, 1), (0, -1)):
        if 0 <= i + di < shape[0] and 0 <= j + dj < shape[1]:
            yield i + di, j + dj


def announced(n):
    print("begins", n)
    for k in range(n):
        yield k
        print("after", k)
    print("ends")


def ends():
    yield 1
    yield from range(5, 8)
    yield -1


@case(X, 3, False)
@case(X, 3, True)
@case(X[:0], 3, True)
@case(X[:1], 1, False)
def in_parts(x, size, drop):
    sums = []
    for k, part in enumerate(batches(x, size, drop=drop)):
        if len(part) == 2:
            continue
        sums.append(part.sum() * k)
    return sums, size


@case(X, 9)
@case(X[:0], 0)
def stops(x, most):
    total = 0
    for f in fibonacci():
        if f > most:
            break
        total += f
    for k, f in enumerate(fibonacci()):
        if f >= len(x):
            return total, k
    return None


@case(np.arange(12).reshape(3, 4))
@case(np.zeros((1, 1), np.uint8))
def sums_around(a):
    out = np.zeros_like(a)
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            for x, y in neighbours(i, j, a.shape):
                if a[x, y] == 5:
                    continue
                out[i, j] += a[x, y]
    count = sum(1 for _ in neighbours(0, 0, a.shape))
    return out, count


@case(4, 2)
@case(0, 2)
@case(2, 7)
def in_turn(n, least):
    for k in announced(n):
        print("body", k)
        if k == least:
            continue
        if k > least:
            break
        print("rest", k)
    found = list(announced(n))
    return found, sum(announced(2)), [v * 2 for v in announced(n) if v != 1]


@case(6)
@case(1)
@case(-1)
def of_several_yields(stop):
    seen = []
    for v in ends():
        if v == stop:
            break
        seen.append(v)
    return seen, max(ends()), [*ends(), 3]


@case(X)
def of_a_closure(x):
    scale = 2.0

    def scaled(values):
        for v in values:
            if v > 0:
                yield v * scale

    scale = 3.0
    total = 0.0
    for v in scaled(x[:3]):
        for w in scaled(x[5:]):
            total += v * w
    return total, list(scaled(x)), np.array(list(scaled(x)))
