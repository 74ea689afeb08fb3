"""A module that generated programs import: functions of another file, its constants, and branches that raise."""

import numpy as np

SCALE = 0.5
LIMIT = 3
TABLE = np.array([2.0, -0.0, 0.5, -1.5])
WEIGHTS = np.array([1, 2, 4, 8])


def scale(u, by=SCALE):
    return u * by


def wrapped(u, v):
    """Sums that stay below a limit."""
    w = u + v
    return np.where(w > LIMIT, w - LIMIT, w)


def table(flag):
    return TABLE if flag else -TABLE


def looked_up(p):
    return TABLE[p % len(TABLE)]


def graded(t, limit=LIMIT):
    if t > limit:
        return 1.0
    if t > 0:
        return t / limit
    if t == t:
        return -0.0
    raise ValueError("no number")


def combined(u, v, how="difference"):
    if how == "difference":
        return u - v
    elif how == "product":
        return u * v
    elif how == "either":
        return np.maximum(u, v)
    raise ValueError(f"unknown: {how}")


class Scaler:
    """Takes an offset off and scales."""

    def __init__(self, offset=0.0, by=SCALE):
        self.offset = offset
        self.by = by

    def __call__(self, u):
        return (u - self.offset) * self.by

    def inverse(self, u):
        return u / self.by + self.offset


class Part:
    """An object that changes: an array, a number and a list."""

    def __init__(self, a, n):
        self.a = a
        self.n = n
        self.found = []

    def add(self, v):
        self.found.append(v)
        self.n = len(self.found)

    def moved(self, by):
        return Part(self.a + by, self.n)

    def total(self):
        return self.a.sum() * self.n
