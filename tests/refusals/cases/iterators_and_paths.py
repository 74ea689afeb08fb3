"""Iterators that are used again, and names that have other values on other paths."""

import numpy as np

# --- iterators


def read_after_a_change(x):
    """read_after_a_change(float64[n])"""
    squares = map(np.square, x)
    x[0] = 5
    return sum(squares)


def read_after_a_change_instead(x):
    """read_after_a_change_instead(float64[n])"""
    squares = list(map(np.square, x))
    x[0] = 5
    return sum(squares)


def flat_goes_on(x):
    """flat_goes_on(float64[n,m])"""
    flat = x.flat
    total = 0.0
    for v in flat:
        total += v
    return total


def flat_goes_on_instead(x):
    """flat_goes_on_instead(float64[n,m])"""
    total = 0.0
    for v in x.flat:
        total += v
    return total
