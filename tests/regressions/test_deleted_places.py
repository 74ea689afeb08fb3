"""`np.delete` with the positions of a mask: of one that is shorter than the array, and of positions behind those."""

import numpy as np
import pytest

import transkern
from tests.tools import on_target


def of_a_part(x):
    return np.delete(x, np.where(x[:-1] > 0)[0])


def two_behind(x):
    m = x[:-2] > 0
    return np.delete(x, np.where(m)[0] + 1)


def all_behind(x):
    return np.delete(x, np.where(x > 0)[0] + 1)


def then_the_first(x):
    return np.delete(np.delete(x, np.flatnonzero(x[1:] > 0) + 1), 0)


def with_the_last(x):
    return np.delete(x, np.concatenate(([len(x) - 1], np.where(x[:-1] > 0)[0])))


def with_the_first(x):
    return np.delete(x, np.concatenate(([0], np.where(x[1:] > 0)[0] + 1)))


def with_both(x):
    return np.delete(x, np.concatenate(([0, len(x) - 1], np.where(x[2:] > 0)[0] + 1)))


FUNCTIONS = (of_a_part, two_behind, all_behind, then_the_first, with_the_last, with_the_first, with_both)


def outcome(function, *args):
    try:
        return function(*args).tolist()
    except (IndexError, ValueError) as error:
        return type(error), str(error)


@pytest.mark.parametrize("target", ["cpu", "cuda", "pallas"])
@pytest.mark.parametrize("function", FUNCTIONS)
def test_other_lengths(function, target, monkeypatch):
    compiled = transkern.compile(function, target=on_target(target, monkeypatch))
    for size in (1, 2, 3, 9) if target == "cpu" else (1, 3):
        x = np.arange(size) - 2.0
        for values in (x, -x, np.ones(size)):
            assert outcome(compiled, values) == outcome(function, values)
