"""Exceptions that functions raise and their callers catch, what handlers read, and classes with an `__init__`."""

from __future__ import annotations

import contextlib

import numpy as np
import pytest

import transkern
from tests.regressions.support import alike

X = np.array([4, 7, 2, 0, 5, 5, 3, 8, 1, 2, 7])


class Short(ValueError):
    def __init__(self, need, have=2):
        super().__init__(f"{need} of {have}")
        self.need = need


def taken(stock, v):
    if v > stock:
        raise RuntimeError("not enough")
    return stock - v


def found(x, v):
    for i in range(len(x)):
        for k in range(2):
            if x[i] + k == v:
                return i
            if x[i] > 7:
                raise KeyError("too far")
    raise Short(v)


def sold(x):
    stock, failed, log = 9, 0, []
    for v in x:
        try:
            log.append(int(v))
            stock = taken(stock, int(v))
            failed += 100
        except RuntimeError:
            failed += 1
    return stock, failed, log


def searched(x):
    places = []
    for v in range(9):
        try:
            places.append(found(x, v))
        except KeyError:
            places.append(-1)
        except ValueError:
            places.append(-2)
            break
    return places


def told(x):
    try:
        for v in x:
            for w in x:
                if v + w > 11:
                    raise IndexError("large")
            taken(6, v)
    except (RuntimeError, IndexError) as e:
        return str(e)
    return "none"


def inside(x):
    def tried(v):
        try:
            if v > 6:
                raise OverflowError
            return taken(4, v)
        except RuntimeError:
            return -v

    total = 0
    for v in x:
        try:
            total += tried(int(v))
        except OverflowError:
            total += 1000
    return total


def suppressed(x):
    left, total = [5, 7, 2], 0
    for v in x:
        with contextlib.suppress(ValueError, ZeroDivisionError):
            total += 10 // int(v)
            left.remove(int(v))
            continue
        total += 100
    return left, total


def raised(x):
    for v in x:
        if v > 6:
            raise Short(int(v), 0.5 * v)
    return len(x)


@pytest.mark.parametrize("function", [sold, searched, told, inside, suppressed, raised])
def test_caught_elsewhere(function):
    compiled = transkern.compile(function, target="cpu")
    for x in (X, X[:1], X[:0], X[2:4]):
        alike(function, x, compiled=compiled)


def test_out_of_a_comprehension():
    """It was lost: the loop behind a comprehension went on."""

    def f(x):
        try:
            return [10 // int(v) for v in x]
        except ZeroDivisionError:
            return [0]

    compiled = transkern.compile(f, target="cpu")
    for x in (X, X[:0], np.append(X, 0.0), np.zeros(2)):
        alike(f, x, compiled=compiled)
