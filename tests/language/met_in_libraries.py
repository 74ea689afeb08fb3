"""What `transkern check` met most in SciPy and scikit-image, and could not compile."""

from __future__ import annotations

import itertools
import operator

import numpy as np

from tests.language.registry import case

SHAPES = np.arange(6.0).reshape(2, 3)


@case(SHAPES, np.array([1.0, 2.0]))
@case(np.arange(24.0).reshape(2, 3, 4), np.array([0.5]))
def along_each_other_axis(x, w):
    """The axes that are left, as `skimage.filters.edges` finds them."""
    out = np.zeros(x.shape)
    for axis in range(x.ndim):
        for other in list(set(range(x.ndim)) - {axis}):
            shape = [1] * x.ndim
            shape[other] = -1
            out += np.reshape(w, shape).sum() * x.sum(axis=tuple(set(range(x.ndim)) - {axis, other}), keepdims=True)
    return out


@case(SHAPES, 3)
@case(SHAPES, 0)
def sets_of_axes(x, extra):
    kept = set(range(x.ndim))
    kept.discard(0)
    more = set(range(4))
    more.add(extra)
    more.add(extra + 7)
    few = frozenset(range(1, 6, 2))
    seen = set(range(3))
    for k in range(len(x)):
        seen.add(k * extra)
    return sorted(kept), sorted(more), sorted(few | {2}), len(seen), sorted(seen & few), set(range(0)), 5 in few


@case(3, np.int32(4), np.array(5, dtype=np.uint8))
def as_indices(a, b, c):
    return operator.index(a), operator.index(b), operator.index(c) + 1, operator.index(True), operator.index(-7)


@case(2.5)
@case(np.float64(2.0))
@case(np.True_)
@case(np.array([1, 2]))
def no_index(a):
    return operator.index(a)


@case(True)
@case(False)
def index_of_a_boolean(a):
    return operator.index(a)


@case([1, 2, 3, 4], np.array([0.5, 1.5, -2.0]))
@case([7], np.zeros(0))
def choices_with_repetition(items, x):
    repeated = itertools.combinations_with_replacement
    total = 0.0
    for a, b in repeated(x, 2):
        total = total * 0.5 + a * b
    known = list(repeated(range(3), 2))
    return list(repeated(items, 2)), list(repeated(items, 3)), [a[0] for a in repeated(items, 1)], total, known, len(known)


@case(SHAPES)
@case(np.arange(12.0).reshape(4, 3)[::2])
def orders_in_lower_case(x):
    a = np.asarray(x, order="c")
    b = np.array(x, order="f", dtype=np.float32)
    made = np.zeros((2, 2), order="f") + a[0, 0]
    return a * 2, b + 1, x.copy(order="c").reshape((-1, 2), order="c"), x.flatten("c"), x.flatten("f"), made
