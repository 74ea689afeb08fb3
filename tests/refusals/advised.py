"""Functions that compile and disappoint, and the same as their advice has it, of which nothing is said.

The first line of a docstring gives the types of the arguments. ``python -m tests.refusals.test_advice`` writes the
messages anew.
"""

import numpy as np

FACTOR = np.float64(2.5)
WEIGHTS = np.linspace(0.0, 1.0, 8)


def of_a_number(x):
    """of_a_number(float32[n])"""
    return x * FACTOR + 1.0


def of_a_number_instead(x):
    """of_a_number_instead(float32[n])"""
    return x * 2.5 + 1.0


def of_a_root(x):
    """of_a_root(float32[n, m])"""
    return np.exp(-x / np.sqrt(2))


def of_a_root_instead(x):
    """of_a_root_instead(float32[n, m])"""
    return np.exp(-x / float(np.sqrt(2)))


def of_an_array(x):
    """of_an_array(float32[n])"""
    ramp = np.linspace(0, 1, len(x))
    return x * ramp


def of_an_array_instead(x):
    """of_an_array_instead(float32[n])"""
    ramp = np.linspace(0, 1, len(x), dtype=np.float32)
    return x * ramp


def of_a_global(x):
    """of_a_global(float32[8])"""
    x += 1
    return np.maximum(x, WEIGHTS)


def of_integers(x, k):
    """of_integers(float32[n], int64[n])"""
    return x * k


def of_integers_instead(x, k):
    """of_integers_instead(float32[n], int64[n])"""
    return x * k.astype(np.float32)


def of_a_complex(z):
    """of_a_complex(complex64[n])"""
    return z * np.complex128(1j)


def of_a_complex_instead(z):
    """of_a_complex_instead(complex64[n])"""
    return z * 1j


def of_a_scalar_argument(x, a):
    """of_a_scalar_argument(float32[n], float64)"""
    return a * x


def of_a_scalar_argument_instead(x, a):
    """of_a_scalar_argument_instead(float32[n], float)"""
    return a * x


def where_it_is_called(x):
    """where_it_is_called(float32[n])"""
    return of_a_number(x) - x


def needs_another(u, k):
    """needs_another(float64[n], int)"""
    for i in range(k, len(u)):
        u[i] = u[i] * u[i - k]
    return u


def two_at_one_place(u, where):
    """two_at_one_place(float64[n], int64[m])"""
    for i in range(len(where)):
        u[where[i]] = u[where[i]] * 0.5 + i
    return u


def not_proven_apart(u, k):
    """not_proven_apart(float64[n], int)"""
    for i in range(len(u) // 2):
        u[i * i % k] = u[i * k % len(u)] * 0.5
    return u


def loops_instead(u, v):
    """loops_instead(float64[n, m], float64[n])"""
    for i in range(len(u)):
        for j in range(1, u.shape[1]):
            u[i, j] = u[i, j - 1] * u[i, j]
    for k in range(3):
        v[k] = v[k] * v[k + 1] - v[k + 2] * v[k + 1]
    total = 0.0
    for x in v:
        total += x
    return u, total


def meant_instead(x):
    """meant_instead(float32[n])"""
    return x.astype(np.float64) * FACTOR
