"""Errors that are caught, errors within errors, and one that ends the script."""

import sys
import traceback

import numpy as np


class Bad(ValueError):
    pass


def total(values, extra):
    result = 0.0
    for k in range(len(values) + extra):
        result += values[k] * values[k]
    return result


def fill(values, places):
    for k in range(len(places)):
        values[places[k]] = k
    return values


def checked(values, limit):
    result = 0
    for v in values:
        if v > limit:
            raise Bad(f"{v} is above {limit}")
        result += v
    return result


def loudly(values, extra):
    print("begin", len(values))
    s = 0.0
    for k in range(len(values) + extra):
        s += values[k]
    return s


x = np.arange(200_000, dtype=float)
for _ in range(12):
    last = total(x, 0)
print(last)
for call in (lambda: total(x, 1), lambda: checked([3, 4, 50, 6], 10), lambda: loudly(x, 2)):
    for _ in range(3):
        try:
            print(call())
        except (IndexError, Bad) as error:
            print(type(error).__name__, error)
            frames = traceback.extract_tb(error.__traceback__)
            print([(frame.name, frame.lineno) for frame in frames][-1])
small = np.zeros(5)
try:
    fill(small, [0, 2, 9, 3])
except IndexError:
    traceback.print_exc(file=sys.stdout)
print(small)
try:
    total(x, 3)
except IndexError as error:
    raise RuntimeError("wrong size") from error
