"""Objects whose classes say what operators, built-in functions and loops do with them."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from tests.language.registry import case

X = np.array([1.5, -0.0, np.nan, np.inf, -2.0])


class Vector:
    def __init__(self, x, y):
        self.x = x
        self.y = y

    def __add__(self, other):
        return Vector(self.x + other.x, self.y + other.y)

    def __mul__(self, k):
        return Vector(self.x * k, self.y * k)

    __rmul__ = __mul__

    def __neg__(self):
        return Vector(-self.x, -self.y)

    def __iadd__(self, other):
        self.x += other.x
        self.y += other.y
        return self

    def __abs__(self):
        return math.hypot(self.x, self.y)

    def __bool__(self):
        return self.x != 0 or self.y != 0

    def __eq__(self, other):
        return self.x == other.x and self.y == other.y

    def __lt__(self, other):
        return abs(self) < abs(other)

    def __repr__(self):
        return f"Vector({self.x}, {self.y})"

    @classmethod
    def of(cls, pair):
        return cls(pair[0], pair[1])


class Track:
    unit = 2.0

    def __init__(self, points):
        self.points = points
        self.reads = 0

    def __len__(self):
        return len(self.points)

    def __getitem__(self, k):
        self.reads += 1
        return self.points[k] * self.unit

    def __setitem__(self, k, value):
        self.points[k] = value / self.unit

    def __iter__(self):
        return iter(self.points)

    def __contains__(self, value):
        return bool(np.any(self.points == value))

    def scaled(self, k):
        return self.points * k


class Long(Track):
    def __init__(self, points, factor):
        super().__init__(points)
        self.factor = factor

    def scaled(self, k):
        return super().scaled(k * self.factor)


class Plain:
    def __init__(self, value):
        self.value = value


@dataclass
class Pair:
    a: float
    b: float


@case(Vector(1.0, 2.0), Vector(-0.0, 3.0), 2.0)
@case(Vector(1.0, 2.0), Vector(math.nan, math.inf), np.float32(0.5))
def vectors(p, q, k):
    r = k * (p + q) + -p * 3
    same = p
    p += q
    return r.x, r.y, abs(q), p == q, p != q, p < q, p > q, same.x, Vector.of((k, 1)).x


@case(Vector(0.0, 0.0))
@case(Vector(0.0, 1.0))
def true_or_not(p):
    print(p, f"<{p}>")
    return 1 if p else 2


@case(Track(X.copy()), 1, -2.0)
@case(Track(X[:1].copy()), 0, 1.5)
@case(Track(X[:0].copy()), 0, 1.5)
def tracks(t, k, value):
    if t:
        t[k] = value
        t[0] += 1
    return len(t), t[:1], t[k] if len(t) else None, [v + 1 for v in t], value in t, value not in t


@case(X, 3.0)
def derived(x, k):
    t = Long(x, 2.0)
    return t.scaled(k), len(t), t.factor, isinstance(t, Track)


@case(Plain(1), Plain(1), Pair(1.0, 2.0), Pair(1.0, 2.0))
def equal_or_identical(p, q, r, s):
    return p == q, p == p, p != q, r == s, r != s
