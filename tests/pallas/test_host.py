"""What stands between kernels: sizes that scalar arguments make, branches that allocate, lists, results from shapes."""

from __future__ import annotations

import numpy as np
import pytest

import transkern
from tests.pallas.support import compiled, plain, random, same

X = np.linspace(-2.0, 3.0, 9)


def listed(x):
    out = []
    for i in range(0, len(x), 3):
        out.append(i * 2)
    out.append(100)
    return out


def chosen(x, flag):
    if flag:
        y = x * 2
    else:
        y = x * 3
    return y


def chosen_by_size(x):
    if len(x) > 3:
        y = x * 2
    else:
        y = x * 3
    return y


def shapes(x):
    return x.sum(), x.shape, len(x) + 1


def sized(n, k):
    a = np.zeros(n * 2)
    for i in range(n):
        a[i] = i * k
    return a, n


def sized_in_branch(n, flag):
    if flag:
        y = np.zeros(n)
    else:
        y = np.ones(n)
    return y


def shifted(m):
    m[:, 0:2] += m[:, 2:4] * m[:, 1:3]
    return m


def window(x, low, high):
    return x[max(low - 1, 0) : high + 1]


def controlled(x, gain):
    total = float(x[0])
    out = [total * gain]
    for v in x[1:]:
        total += float(v)
        out.append(total * gain)
    return np.clip(out, -1.5, 1.5)


def positive(x):
    k = 0
    while k < len(x) and x[k] > 0:
        x[k] = -x[k]
        k += 1
    return k


def added_where_large(m, v):
    if m[0, 0] > 5:
        m[0] += v
        m[1] += 2 * v
    return m[0, 0]


def kept_while_small(x, y):
    k = 0
    while k < 3:
        if x[k] > 100:
            x[:] = y
        k += 1
    return k


def scaled(x, y, by_size):
    total = 0.0
    for i in range(len(x)):
        part = float(x[i])
        if by_size:
            part /= len(y)
        if part > total:
            total = part
    return total


def sized_by_data(x):
    return np.zeros(int(x[0]))


def sorted_by_data_in_loop(x):
    total = 0.0
    for v in x:
        total += np.sort(np.arange(int(v)) * 1.5)[0]
    return total


@pytest.mark.parametrize(
    ("function", "args"),
    [
        (listed, (X,)),
        (sized_by_data, (X + 5,)),
        (chosen, (X, True)),
        (chosen, (X, False)),
        (chosen_by_size, (X,)),
        (chosen_by_size, (X[:2],)),
        (shapes, (X,)),
        (sized, (4, 2.5)),
        (sized, (7, 0.5)),
        (sized_in_branch, (4, True)),
        (sized_in_branch, (4, False)),
        (shifted, (np.arange(30.0).reshape(5, 6),)),
        (window, (X, 2, 4)),
        (window, (X, 0, 99)),
        (controlled, (X, 0.5)),
        (positive, (X + 3,)),
        (positive, (X[:0],)),
        (scaled, (X, X[:4], True)),
        (scaled, (X, X[:0], False)),
        (added_where_large, (np.ones((3, 4)), np.ones(3))),
        (added_where_large, (np.full((3, 4), 9.0), np.ones(4))),
        (kept_while_small, (np.ones(4), np.ones(3))),
        (kept_while_small, (np.full(4, 200.0), np.arange(4.0))),
    ],
)
def test_as_numpy(function, args):
    want = function(*(np.copy(a) if isinstance(a, np.ndarray) else a for a in args))
    got = transkern.compile(function, target="pallas")(
        *(np.copy(a) if isinstance(a, np.ndarray) else a for a in args)
    )
    want, got = (x if isinstance(x, tuple) else (x,) for x in (want, got))
    for a, b in zip(got, want, strict=True):
        assert type(a) is type(b)
        np.testing.assert_allclose(a, b, rtol=1e-13)


def test_a_negative_size_raises():
    with pytest.raises(ValueError, match="negative dimensions are not allowed"):
        transkern.compile(sized, target="pallas")(-1, 2.5)


def test_a_size_that_depends_on_data_is_refused():
    with pytest.raises(transkern.CompileError, match="whose size depends on data"):
        transkern.compile(sorted_by_data_in_loop, target="pallas")(X + 5)


def congruent(x, state):
    for i in range(len(x)):
        state = (69069 * state + 1) % 4294967296
        x[i] += state % 1000
    return x


def test_integers_that_need_64_bits_have_them():
    for dtype in (np.int32, np.float64):
        x = np.zeros(9, dtype)
        np.testing.assert_array_equal(transkern.compile(congruent, target="pallas")(x.copy(), 7), congruent(x, 7))


def test_integers_of_more_than_32_bits_are_refused_where_there_are_only_32():
    with pytest.raises(transkern.CompileError, match="32 bits, and 4294967296 has more"):
        transkern.compile(congruent, target="pallas", allow_float32=True)(np.zeros(3, np.int32), 7)


def added(m, v):
    for i in range(m.shape[0]):
        for j in range(m.shape[1]):
            m[i, j] += v[j]


def of_indices(x, index, k):
    total = x[k] * 0
    for i in index:
        total += x[i]
    return total


@pytest.mark.parametrize(
    ("function", "args"),
    [
        (added, (np.ones((3, 4)), np.arange(3.0))),
        (added, (np.ones((3, 4)), np.arange(0.0))),
        (of_indices, (X, np.array([1, 9]), 1 << 40)),
        (of_indices, (X[:0], np.array([1, 9]), 0)),
        (of_indices, (X, np.array([1, 9]), 0)),
    ],
)
def test_what_no_array_of_these_sizes_can_do_raises_as_in_numpy(function, args) -> None:
    with pytest.raises(IndexError) as wanted:
        function(*(np.copy(a) if isinstance(a, np.ndarray) else a for a in args))
    with pytest.raises(IndexError) as found:
        transkern.compile(function, target="pallas")(*args)
    assert str(found.value) == str(wanted.value)


@pytest.mark.parametrize(
    ("function", "args"),
    [
        (added_where_large, (np.full((3, 4), 9.0), np.ones(3))),
        (kept_while_small, (np.full(4, 200.0), np.ones(3))),
    ],
)
def test_shapes_that_do_not_fit_raise_where_they_are_met(function, args) -> None:
    with pytest.raises(ValueError, match=r"could not (be )?broadcast"):
        transkern.compile(function, target="pallas")(*args)


SIZED = """
def f(x, n):
    out = np.zeros(n, np.float32)
    for i in range(1, min(n, len(x))):
        out[i] = out[i - 1] + x[i]
    return out
"""


def test_sizes_that_are_arguments_fit_32_bits():
    function = compiled(SIZED, "f(float32[k], int)", True)  # which asks of 64 bits whether an array is there at all
    x = random(9)
    for n in (0, 1, 5, 20):
        same(function(x, n), plain(SIZED, "f")(x, n), True, 0, 0)
    with pytest.raises(OverflowError):
        function(x, 1 << 40)
    with pytest.raises(ValueError, match="negative"):
        function(x, -1)
