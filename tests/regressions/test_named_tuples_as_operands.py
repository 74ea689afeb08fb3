"""Named tuples are tuples to operators; NaN is in a container only as the very object that is there."""

from collections import namedtuple

import numpy as np
import pytest

import transkern

Pair = namedtuple("Pair", "a b")


def multiplied(s, t):
    return s * t


def turned(s, t):
    return t * s


def joined(s, t):
    return t + (s,)  # noqa: RUF005 - the operator is what is tested


def equal(x, y):
    return x == y


def less(x, y):
    return x < y


def outcome(function, *args):
    try:
        return repr(function(*args))
    except (TypeError, ValueError) as error:
        return type(error), str(error)


@pytest.mark.parametrize("function", [multiplied, turned, joined, equal, less])
def test_as_tuples(function):
    compiled = transkern.compile(function, target="cpu")
    for one in (np.uint64(2), 3, np.float64(2), np.arange(2.0), np.zeros((3, 3)), Pair(1, 2)):
        for other in (Pair(1, 2.5), Pair(np.int64(2), 7)):
            try:
                found = outcome(compiled, one, other), outcome(compiled, other, one)
            except transkern.CompileError:
                continue
            assert found == (outcome(function, one, other), outcome(function, other, one))


def with_constant(s):
    return s in (np.nan, 1.0)


def with_itself(s, t):
    return s in (t, 2.0)


def test_nan_in_a_container():
    compiled, other = (transkern.compile(f, target="cpu") for f in (with_constant, with_itself))
    assert compiled(1.0) is True and compiled(3.0) is False and other(2.0, 3.0) is True
    for call in (lambda: compiled(np.nan), lambda: other(np.nan, np.nan)):
        with pytest.raises(RuntimeError, match="not compiled"):
            call()
