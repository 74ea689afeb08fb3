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


def zip_in_a_sum(x):
    """zip_in_a_sum(float64[n])"""
    return np.sum(zip(x, x, strict=True))


def zip_in_a_sum_instead(x):
    """zip_in_a_sum_instead(float64[n])"""
    return np.sum(list(zip(x, x, strict=True)))


def without_a_call(x):
    """without_a_call(float64[n])"""
    return x - x.mean


def without_a_call_instead(x):
    """without_a_call_instead(float64[n])"""
    return x - x.mean()


def returned_type(x):
    """returned_type(float64[n])"""
    return np.float64 if x.ndim == 1 else np.float32


def returned_type_instead(x):
    """returned_type_instead(float64[n])"""
    return np.float64.__name__ if x.ndim == 1 else np.float32.__name__


# --- exceptions


def caught_in_a_condition(x):
    """caught_in_a_condition(float64[n])"""
    k = 3
    try:
        while x[0] > 1 // k:
            k -= 1
    except ZeroDivisionError:
        return 0
    return k


def caught_in_a_condition_instead(x):
    """caught_in_a_condition_instead(float64[n])"""
    k = 3
    while k != 0 and x[0] > 1 // k:
        k -= 1
    return k


def raised_text(x):
    """raised_text(float64[n])"""
    if x[0] < 0:
        raise "negative"  # noqa: B016
    return np.sqrt(x)


def raised_text_instead(x):
    """raised_text_instead(float64[n])"""
    if x[0] < 0:
        raise ValueError("negative")
    return np.sqrt(x)


# --- types that values decide


def square_roots(x):
    """square_roots(float64[n])"""
    return np.emath.sqrt(x)


def square_roots_instead(x):
    """square_roots_instead(float64[n])"""
    return np.sqrt(x + 0j)


def polynomial_of(z):
    """polynomial_of(complex128[n])"""
    return np.poly(z)


# --- paths


def number_and_text(x):
    """number_and_text(float64[n])"""
    return x[0] > 0 and "positive"


def number_and_text_instead(x):
    """number_and_text_instead(float64[n])"""
    return "positive" if x[0] > 0 else ""
