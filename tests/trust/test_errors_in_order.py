"""What Python and NumPy say of arguments that a call cannot take: the same class and words, the first of several."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import transkern
from tests.calls.outcomes import difference, outcome


def element(x, k):
    return x[k]


def of_two(x, k, j):
    return x[k, j]


def tail(x, k):
    return x[k:]


def stored(x, k, v):
    x[k] = v
    return x


def added(x, y):
    x += y


def behind(x, y):
    x[1:] = y


def length(x):
    return len(x)


def highest(x, axis):
    return x.max(axis=axis)


def total(x, axis):
    return x.sum(axis=axis)


def mean(x, axis):
    return x.mean(axis=axis)


def position(x, axis):
    return x.argmax(axis=axis)


def joined(x, y):
    return np.concatenate((x, y))


def counted(n):
    total = 0
    for k in range(n):
        total = total + k
    return total


def turned(x):
    return x.T


def worded(x, mode):
    raise ValueError(f"unknown % {mode!r} {x!r} {{}}")


def spelled(x, mode):
    raise ValueError("größe % %s {}\n\t\x01 日本" + mode)


def handed_back(x, text):
    return x, text


def of_halves(n, k):
    values = []
    for i in range(n):
        values.append(i * 0.5)
    return values[k]


def frozen(count: int) -> Any:
    x = np.zeros(count, np.int64)
    x.flags.writeable = False
    return x


CALLS: list[tuple[Callable[..., Any], Callable[[], tuple[Any, ...]]]] = [
    # subscripts of arrays: their types come before their number and their values
    *((element, lambda k=k: (np.zeros(5), k)) for k in (
        [1.0, 2], np.array([1.0]), (np.zeros(3), np.zeros(3)), 1.0, "a", np.float64(1), np.array(1.0), [], [[0, 1.5]],
        {}, len,
    )),
    (of_two, lambda: (np.zeros(5), 7, 1.0)), (of_two, lambda: (np.zeros(5), 7, 1)),
    # of lists and tuples
    *((element, lambda k=k: ([1, 2], k)) for k in (1.0, np.array([1]), None, "a", (1, 2), np.uint64(2**63))),
    *((element, lambda k=k: ((1, 2), k)) for k in (np.float64(1), np.uint64(2**63))),
    *((element, lambda k=k: ([1.0, 2.5, 3.5], k)) for k in (1.0, np.bool_(1), True)),
    *((of_halves, lambda k=k: (3, k)) for k in (1, 1.0, "a", np.float64(1), np.array([1]))),
    (of_two, lambda: ([1, 2], 0, 1)), (element, lambda: ([], np.uint64(2))), (turned, lambda: (np.dtype("int16"),)),
    *((counted, lambda n=n: (n,)) for n in (np.array([3]), np.array(3), np.int8(3), np.float64(3), 3.0)),
    *((stored, lambda k=k: ([1, 2], k, 3)) for k in (1.0, None, np.int64(1))),
    # bounds of slices
    *((tail, lambda k=k: (np.zeros(5), k)) for k in (
        np.array([1]), np.array(1), 1.0, np.bool_(1), True, "a", np.array(1.0), [1],
    )),
    (tail, lambda: ([1, 2], np.float64(1))),
    # stores: which is read first, the place or the value
    *((stored, lambda k=k, v=v: (np.zeros(5, np.int64), k, v)) for k, v in (
        (0, 1j), ([0], 1j), (9, 1j), (9, 2**80), ([9], 2**80), ([1.0], 2**80), (slice(2), 2**80), ([0, 1], 2.5),
        (slice(2), 7),
    )),
    (stored, lambda: (np.zeros(5), 0, 1j)), (stored, lambda: (np.zeros(5, bool), 0, 1j)),
    (stored, lambda: (np.zeros(5, np.int16), (np.zeros(3), np.float64(3)), 2**53 + 1)),
    (stored, lambda: (frozen(3), 1.0, 1)), (stored, lambda: (frozen(3), 9, 2**80)),
    *((added, lambda y=y: (frozen(3), y)) for y in (np.ones(3, np.float32), np.ones(4), 1.5, 1)),
    *((behind, lambda y=y: (np.zeros(5), y)) for y in (
        np.ones((1, 1, 2, 1)), np.ones((2, 1, 4)), np.ones((1, 1, 4)), np.ones((1, 3)),
    )),
    # numbers, which have no length and no axes
    *((length, lambda x=x: (x,)) for x in (np.int64(3), np.bool_(1), 3, 2.5, np.array(3))),
    *((f, lambda a=a: (np.uint32(2), a)) for f, a in ((highest, 1), (total, 1), (total, -1), (mean, 0), (position, 1))),
    *((f, lambda a=a: (np.array(2), a)) for f, a in ((mean, -1), (mean, None), (position, 1), (position, 0))),
    *((joined, lambda x=x, y=y: (x, y)) for x, y in (
        (np.zeros(2), 3), (3, np.zeros(2)), (3, 4), (np.zeros(2), np.float32(3)),
    )),
    # texts in messages
    *((worded, lambda m=m: (3, m)) for m in ("größe", "a%sb\x01", "\ud800", "日本{}", "{{}}}", '"\\')),
    (worded, lambda: (2.5, "😀")), (spelled, lambda: (np.zeros(2), "")), (spelled, lambda: (np.zeros(2), "ä")),
    (handed_back, lambda: (np.zeros(2), 'größe\x00\n"\\ \ud800 😀 ??/\x01f')),
]  # fmt: skip

COMPILED = {f: transkern.compile(f, target="cpu") for f, _ in CALLS}


@pytest.mark.parametrize("at", range(len(CALLS)))
def test_python_would_say_so(at: int) -> None:
    function, arguments = CALLS[at]
    found = outcome(COMPILED[function], arguments(), (transkern.CompileError,))
    assert not difference(found, outcome(function, arguments()))


def test_slices_are_constants() -> None:
    """Of any number of types; Python has no hash of them before 3.12."""
    x = np.arange(10)
    for k in (slice(1, 3), slice(2, None), slice(1, 3), slice(None, None, -2)):
        np.testing.assert_array_equal(COMPILED[element](x, k), x[k])
    with pytest.raises(TypeError, match="slice indices must be integers"):
        COMPILED[element](x, slice(1.0, 3))


def test_sets_that_cannot_change_are_refused() -> None:
    """Also where the value of the argument has become part of the code: they would be sets that can."""
    compiled = transkern.compile(element, target="cpu")
    assert compiled([1, "a"], 1) == "a"
    for of in ([], [1, 2.5]):
        with pytest.raises(transkern.CompileError, match="argument `k` is a frozenset"):
            compiled(of, frozenset((1,)))


def stored_around(x, k, v):
    x[k, ...] = v
    return x


@pytest.mark.parametrize("dtype", [np.uint32, np.int8, np.float32, bool])
@pytest.mark.parametrize("function", [stored, stored_around, behind], ids=lambda f: f.__name__)
def test_a_sequence_is_no_element_whatever_is_in_it(function: Callable[..., Any], dtype: type) -> None:
    """NumPy looks at what goes there before it looks at the numbers in it: -1 in a list that is stored as an element of
    unsigned integers was an OverflowError."""
    compiled = COMPILED.get(function) or transkern.compile(function, target="cpu")
    for value in ([0, 0, 0, -1], [-1], (-1,), [1], [], [[-1]], [2**40]):
        arguments = (np.zeros(2, dtype), value) if function is behind else (np.zeros(2, dtype), 0, value)
        found = outcome(compiled, [np.copy(arguments[0]), *arguments[1:]], (transkern.CompileError,))
        assert not difference(found, outcome(function, [np.copy(arguments[0]), *arguments[1:]])), value


@pytest.mark.parametrize("value", [float("nan"), 1e30, -1, 2**70], ids=str)
def test_subscripts_are_counted_before_what_is_stored_there(value: float) -> None:
    for at in ((np.array([1, 0]), 4), (0, [1]), ([0], [1], 2), (np.array([1]), None)):
        found = outcome(COMPILED[stored], [np.zeros(5, np.uint32), at, value], (transkern.CompileError,))
        assert not difference(found, outcome(stored, [np.zeros(5, np.uint32), at, value])), at
