"""Classes and dtypes asked after, `next`, what is used up by a function, and what a library does around NumPy's arrays."""

# ruff: noqa: C419, E501
from __future__ import annotations

import collections.abc
import numbers
from numbers import Integral

import numpy as np

from tests.language.registry import case

rng = np.random.default_rng(8)
X, M = rng.standard_normal(9), rng.standard_normal((4, 5))


@case(X)
@case(X > 0)
@case(X.astype(np.float32))
@case(X.astype(np.int16))
def by_dtype(x):
    if x.dtype == bool:
        return x.sum()
    if x.dtype == float or np.float32 == x.dtype:
        return x * 2
    return x.dtype in (np.int16, int), x.dtype != complex, x.dtype in [np.float16, float]


@case(X, 3)
@case(X, 2.5)
@case(X, (2,))
@case(X, [1])
@case(X, np.float32(2))
@case(X, np.int8(2))
@case(X, True)
@case(X, None)
def by_class(x, n):
    if n is None or isinstance(n, str):
        return 0
    told = isinstance(n, numbers.Number), isinstance(n, Integral), isinstance(n, (int, np.integer)), isinstance(n, bool)
    if isinstance(n, collections.abc.Sequence):
        n = n[0]
    return told, isinstance(x, (np.ndarray, list)), isinstance(x, collections.abc.Iterable), isinstance(n, float | int), x + n


@case(X, 0.5)
@case(X, 100.0)
def first_of(x, level):
    k = next((k for k in range(len(x)) if x[k] > level), -1)
    return k, next(v for v in x if v < 0), next(iter(x)), max((v for v in x if v > level), default=np.float64(0))


@case([1, 2, 3])
@case([])
@case(np.arange(3, 3).tolist())
def used_up(values):
    if any([isinstance(v, dict) for v in values]):
        return None
    if not all([isinstance(v, (int, float)) for v in values]):
        return -1
    return min((v for v in values), default=7), any([v > 2 for v in values]), next(iter(values), 0)


@case(np.zeros(0))
@case(X)
def none_left(x):
    return next(v for v in x if v == v)


@case([3, 1, 2])
@case(M.T)
@case(M)
def required(x):
    return np.require(x, dtype=np.float64, requirements=["C", "W"]) * 2, np.require(x)


@case(M, np.array([1, 0, 3, 2, 0]))
@case(M[:2], np.array([1, 0, 2, 1, 0]))
def chosen_of_rows(m, at):
    return np.choose(at, np.stack([m[0], m[1], m[0] + m[1], m[1] * 2]))


@case(X, 1)
@case(M, 1, tol=1e-13)  # sums of vectors, as long as the machine has them
@case(X, 0)
def of_an_axis(x, axis):
    if x.ndim <= axis:
        raise np.exceptions.AxisError(axis, x.ndim)
    if x.ndim < 2:
        raise np.exceptions.AxisError("two axes are needed")
    return x.sum(axis=axis)


def turned(s):
    if s.shape == (3, 3):
        return np.array([s[2, 1] - s[1, 2], s[0, 2] - s[2, 0], s[1, 0] - s[0, 1]]) / 2
    elif s.shape == (2, 2):
        return np.array([s[1, 0] - s[0, 1]]) / 2
    else:
        raise ValueError("2 x 2 or 3 x 3 is needed")


@case(M[:3, :3].copy())
@case(rng.standard_normal((4, 4)))
@case(M)
@case(M[:2, :3].copy())
def turned_and_moved(o):
    if o.shape == (4, 4):
        return np.hstack((o[:3, 3], turned(o[:3, :3])))
    elif o.shape == (3, 3):
        return np.hstack((o[:2, 2], turned(o[:2, :2])))
    return turned(o)


def skew(v):
    v = v if isinstance(v, list) else list(v)
    if len(v) == 1:
        return np.array([[0.0, -v[0]], [v[0], 0.0]])
    elif len(v) == 3:
        return np.array([[0, -v[2], v[1]], [v[2], 0, -v[0]], [-v[1], v[0], 0]])
    else:
        raise ValueError("1 or 3 numbers are needed")


@case(X[:3].copy())
@case(X[:1].copy())
@case(X[:2].copy())
@case([1, 2, 3])
def of_known_length(q):
    return skew(q) @ np.ones((len(q) + (len(q) == 1), 2))


@case(X[:4].copy(), X[1:5].copy(), tol=1e-15)
def product_of_quaternions(p, q):
    (s, v), (t, w) = (p[0], p[1:4]), (q[0], q[1:4])
    return np.r_[s * t - np.dot(v, w), s * w + t * v + np.cross(v, w)], skew(v) @ w


@case(X[:3].copy(), 4)
def lists_of_few(q, n):
    w = list(q)
    q[0] = 7
    w.append(q[1] * 2)
    w[1] += 5
    for k in range(n):
        w.append(w[-1] + k)
    return w, len(w), sum(w)


@case(X, 2)
@case(M, 7)
@case(M, 2.5)
@case(M, np.float32(4))
def in_a_range(x, k):
    return x.ndim in range(2, 4), k in range(len(x)), k in range(3), k not in range(-1, x.size), x[0, 0] if x.ndim in range(2, 3) else 0


@case(X)
def without_warnings(x):
    before = np.seterr(invalid="ignore", divide="ignore")
    y = np.sqrt(x) / (x - x)
    np.seterr(**before)
    return np.isnan(y).sum()


@case(X)
def attributes_and_classes(x):
    numbers, table = set(), {}
    for i in range(x.size):
        numbers.add(int(x[i]))
        table[int(x[i])] = i
    text, draws = f"a{x[0]}", np.random.default_rng(3)
    has = hasattr(np, "sin"), hasattr(np, "nosuch"), hasattr(np.random, "rand"), hasattr(numbers, "add"), hasattr(table, "add")
    has_not = hasattr(x, "__name__"), hasattr(x[0], "__name__"), hasattr(text, "upper"), hasattr(draws, "integers"), hasattr(x.size, "real")
    same = type(text) is str, type(numbers) is set, type(table) is dict, type(draws) is np.random.Generator, type(None) is type(None)
    return has, has_not, same, type(x[0]) is np.float64, type(x[0]) is float, type(x) is np.ndarray, type(range(x.size)) is range


@case(X, 2)
@case(X, 0)
def scalars_or_none(x, n):
    found = next((k for k in range(n) if x[k] < 9), None)
    either = x if n > 1 else None
    one = x[0] if n > 1 else None
    text = "a" if n > 1 else None
    return (
        np.isscalar(found), np.isscalar(either), np.isscalar(one), isinstance(found, int), isinstance(either, np.ndarray),
        isinstance(one, type(None)), np.isscalar(text), np.isscalar(None), np.isscalar("a"), np.isscalar([1]),
        np.isscalar(f"{n}"), np.isscalar(n > 1), np.isscalar(1j * n), np.isscalar(x.sum()), np.isscalar(np.array(2.0)),
        np.isscalar((n,)), np.isscalar({1: n}), np.isscalar(range(n)), np.isscalar(len), np.isscalar(int),
    )  # fmt: skip
