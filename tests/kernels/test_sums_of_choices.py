"""Sums of choices within choices, by masks of bytes: GCC 12 adds what nobody has set, where it hoists code out of
branches (`targets/cpu/library.py`)."""

import numpy as np
import pytest

import transkern


def nested(a, b, c, x, y):
    return np.where(a, np.where(b, x, 0), 0).sum(), np.where(a, np.where(b, y, 0), 0).sum()


def in_other_branches(a, b, c, x, y):
    first = np.where(a, 0, np.where(b, x * y, y)).sum()
    second = np.where(a & b, x, np.where(c, y, 1)).sum()
    return first, second, np.where(c, np.where(b, x, y), x).sum()


def beside_a_mask(a, b, c, x, y):
    """A step of a suppression whose boxes are averaged: the mask gets smaller in the loop that adds."""
    totals = []
    order = np.arange(len(x))
    while order.size > 0:
        near = x[order] == x[order[0]]
        near[0] = True
        group = order[near]
        totals.append((x[group] * y[group]).sum() / y[group].sum())
        order = order[~near]
    return totals


@pytest.mark.parametrize("dtype", [np.float32, np.int64])
@pytest.mark.parametrize("function", [nested, in_other_branches, beside_a_mask])
def test_sums(function, dtype):
    compiled = transkern.compile(function, target="cpu")
    rng = np.random.default_rng(1)
    for size in (0, 3, 64, 200, 1111):
        masks = [rng.random(size) < p for p in (0.6, 0.3, 0.5)]
        x, y = (rng.integers(1, 9, size).astype(dtype) for _ in range(2))  # whole numbers, whose sums are exact
        np.testing.assert_equal(compiled(*masks, x, y), function(*masks, x, y))
