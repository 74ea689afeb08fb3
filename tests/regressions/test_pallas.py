"""What the Pallas target got wrong; found by generated programs (`make fuzz`)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import transkern
from tests.fuzz.oracle import call, difference
from tests.regressions.support import alike
from tests.tools import on_target, require

require("jax")

_KEPT = np.array([1.0, 5.0, -1.0, 3.5, 2.0, -3.0, 0.25])
_SPECIAL = np.array([0.0, -0.0, 1.5, -2.5, 3.0, -3.0, np.inf, -np.inf, np.nan, 0.1, -7.0])


def floored(x: Any, k: int) -> Any:
    """`spelling`: XLA's // and % do not give zeros NumPy's signs."""
    return x // k, x % k, x[:, None] % x, x[:, None] // x, x[0] // -2


def wrapped(x: Any, y: Any) -> Any:
    """`vector.cast`: XLA cuts a float to the range of an integer type, C's conversion wraps."""
    y[0] += x[0]
    return x.astype(np.uint8), x.astype(np.uint32), x.astype(np.uint64), x.astype(np.int8)


def chosen_by_factor(x: Any) -> Any:
    """`vector.cast`: XLA takes a product with the cast of a bool for a choice, and loses 0 * nan."""
    return np.isnan(x) * x.sum()


def sums_of_negative_zeros(x: Any) -> Any:
    """`reductions`: XLA leaves out the 0.0 that a sum begins with."""
    return x[1:2].sum(), x + 0.0, x[1].sum()


def static_truth(a: Any) -> Any:
    """`vector.apply`: operations on constants that only jax.numpy had, over Python's numbers that it does not take."""
    a[:] = np.count_nonzero(1)
    a += np.floor(True).astype(np.int16)
    return a


def first_of_checks(x: Any, a: Any) -> None:
    """`statements.guard`: a check of sizes raised before a check in an iteration before it."""
    for i in range(2):
        a[1] = x[i - 1]


def shifted(y: Any) -> Any:
    """`prelude`: a part of an array that has no elements."""
    w = y + 1.0
    w[1:] = w[:-1]
    return w


def smallest_kept(a: Any) -> Any:
    """`reductions`: JAX does not trace the minimum of an empty array, and raised an error of its own."""
    return a[a].min(), a.max(axis=1)


def smallest_along(x: Any, y: Any) -> Any:
    """`reductions`: what the smallest of nothing is has the type of the elements."""
    return x.min(axis=0), x.max(), y.min(axis=1)


def signs_in_branches(p: Any, x: Any) -> Any:
    """`spelling`: the sign and the reciprocal of an integer had no type of their own."""
    for i in range(2):
        p[-1] += np.sign(p[0]) if x[i] > 1 else np.reciprocal(p[i])
    return np.reciprocal(p), np.cumsum(x * -0.0)


def raises_before_loop(x: Any, a: Any) -> Any:
    """`interface`: a kernel with checks of its own forgot one that had failed before."""
    if a[-1, 0] > x[0]:
        raise ValueError
    v = 0
    while v < a.shape[1]:
        a[-1, v] -= 1
        v += 2
    return a


def raises_in_later_loop(x: Any, y: Any) -> Any:
    """`statements.carried`: a check in a loop, after one that had not failed, left nothing behind."""
    if x[0] > 1:
        raise ValueError("large")
    total = 0.0
    for i in range(2):
        if y[1] > i:
            total += x[i]
    return total


def place_of_nothing(x: Any, y: Any) -> None:
    """`emit`: the place that a message tells was computed by Python, for which ``% 0`` is an error."""
    picked = np.roll(y[:-1], 2)
    y[::2] = picked[np.arange((x.shape[0] + 1) // 2) * 2 % picked.shape[0]]


def loop_of_no_iterations(x: Any, y: Any) -> None:
    """`statements.parallel`: what a loop of no iterations stores into one element was stored."""
    for _ in range(1, len(x)):
        y[0] = 0


def cut_by_where(x: Any, y: Any, k: int) -> Any:
    """`emit`, and CUDA's launcher: a number that no element takes did not fit into the type of the elements."""
    return np.where(x > 0, y, k)


def leaves_at_argmin(u: Any) -> None:
    """`reductions`: a number that a block of two axes made was no scalar."""
    for _ in range(1):
        if u.argmin():
            break


def perhaps_beyond(y: Any, u: Any) -> None:
    """`indexing`: a check that sizes decide looked at data, and what stood behind it was traced."""
    if u[2] <= 2:
        y[np.arange(len(u))] *= 1


def beyond_32_bits(x: Any, p: Any) -> Any:
    """`values.integer`: Python's integers had 32 bits in kernels, and were cut, even beside data of 64."""
    total = 0
    for i in range(3):
        total = total * 1003 + int(x[i])
    p[0] = x[1] * 1.5
    return total, [k**5 for k in range(len(x) * 20)][-1], p[(p * 3 + total) % len(p)]


def cut_to_type(x: Any, p: Any) -> Any:
    """`vector.cast`: a float that an integer does not hold became the nearest one that it holds."""
    np.add.at(p, np.arange(2), x[:2])
    return x.astype(np.int8), x.astype(np.uint16), x.astype(np.int64), x.astype(np.uint64)


def rewritten(x: Any) -> Any:
    """`merging`: XLA's own rules of arithmetic are not NumPy's."""
    a = x[0] / x[1] / x[1], x[0] / (x[1] / x[2]), np.log(np.exp(x[2])), np.exp(x[2]) * np.exp(-x[2])
    return a, x * 1e300 * 1e-300, x + 1e300 - 1e300


def sums_with_known_zeros(x: Any, k: int) -> Any:
    """`vector.merged`: XLA takes a sum with a 0.0 that it knows for the other summand; -0.0 leaves it as it is."""
    none, total, zeros = 0.0, 0.0, np.zeros(len(x))
    for i in range(k, k):
        none += x[i]
    for i in range(1):
        total += x[i]
    for i in range(len(x) - 2):
        zeros[i] += 2.0
    return none + x[0], total, zeros + x, x + np.max(np.zeros(3)), x + -0.0, -0.0 + x * -1


def chosen_products(x: Any, k: int) -> Any:
    """`values.product_like`: a product that a condition chooses was not rounded before it went into a sum."""
    return np.linspace(0.1, x[0], len(x)), (x * 0.1 if k > 0 else x * 0.3) + x[1], np.where(k > 0, x * 0.1, x) - 0.7


def stored_by_position(a: Any, x: Any) -> Any:
    """`whole.linear`: a position in memory has no subscript for each dimension."""
    v = a.ravel()
    v[0] = x[0]
    for i in range(len(x)):
        if x[i] > 0:
            a.ravel()[-1] = x[i]
    return v + 1, next((e for e in x if e < x[0]), -1.0), a.T[::-1].T.copy()


def stored_once(x: Any, a: Any) -> None:
    """`stores.scatter`: a loop of one iteration stored an array into one element."""
    for i in range(a.shape[1] - 1):
        for _ in range(a.shape[1]):
            if i < 1.0 and x[i] != 0.5:
                continue
            a[-1, :0:-1] = np.cumsum(np.diff(x))


def later_check_of_sizes(x: Any, p: Any) -> Any:
    """`host.guard`: a check of sizes was raised before one of data that comes before it."""
    v = x[2:]
    w = v[p]
    return w, v[-1] // -2


def check_with_details(x: Any, a: Any, z: int) -> Any:
    """`host.give_back`: what messages tell stood at places that another `return` did not have."""
    for i in range(2):
        if i // 4.0 == z:
            break
        a[i, -1] = x[len(x) - 1 - i]
    return a.T[1] >= x[0], x[x > 2]


def not_reached(y: Any, s: float, k: int) -> Any:
    """`emit`: numbers made of arguments alone raised where they were never used."""
    while y[0] > 5:
        y[1] = int(s)
    for i in range(2):
        y[i] = y[i - 3]
    return k % len(y)


def grows(x: Any, k: int) -> Any:
    """`widths`: Python's integers of their own making were cut to 32 bits where the data had no more."""
    a, b = 0, 1
    for _ in range(k):
        a, b = b, a + b
    return a, b * 2


def doubled(p: Any, u: Any) -> Any:
    """`widths`: as were those made of 32 bits of data."""
    return p[0] * 2, int(p[0]) * 2, [int(v) + 1 for v in u]


def leaves_behind_a_check(x: Any, y: Any) -> Any:
    """`vector.slices`: JAX did not trace a slice beyond an array, though a check before it had failed."""
    for i in range(2):
        if x[i] > 1:
            y[i + 2] = 1
    at = np.arange(len(x)) + 1 % len(x)
    return x[at] + x, y[at] - 1


def checked_for_uint32(u: Any, x: Any) -> None:
    """`emit`: refused, as the largest number of the type has more than 32 bits with a sign."""
    for i in range(len(x)):
        u[0] = int(x[i])


def largest_kept(x: Any) -> Any:
    """`vector.literal`: JAX takes no Python number that needs all bits of a uint64."""
    return x[x != 1].min()


def behind_float_constants(a: Any) -> None:
    """`vector.is_static`: a condition on floats was no Python bool, and the check behind it was not handed on."""
    for _ in range(1):
        if np.float32(2) < 2:
            continue
        a[0] = 1


def from_nothing(y: Any) -> None:
    """`whole`: memory that one form of a kernel made for itself was unbound in the other."""
    v = np.roll(y[:-1], 2)
    y[::2] = v[np.arange(1)]


def sorted_kept(x: Any, p: Any) -> Any:
    """`padding`: libraries saw the zeros behind the end of an array whose size depends on data."""
    y = np.outer(x, x)[x > 0]
    v = p[p > 0].copy()
    v[0] = 9
    w = np.sort(y, axis=0), np.sort(y, axis=1), np.sort(x[x > 0] * 1j), np.sort((x > 1)[p > 0])
    return w, np.sort(v), np.argsort(-x[x > 0], kind="stable"), np.median(x[x > 0]), sorted([k for k in p if k != 1])


def sorted_in_loop(x: Any, p: Any) -> Any:
    """`padding`: what was left of the iteration before stood behind the end, too."""
    total = 0.0
    for k in range(4):
        v = np.sort(x[x > k])
        total += v[0] if len(v) else 0
    return total


def products_of_kept(x: Any, p: Any) -> Any:
    """`emit`: a result was cut along its first dimension only."""
    y = np.outer(p, p)[p > 0]
    return y @ p, y @ y.T, p[p > 0] @ p[p > 0]


def while_the_largest(y: Any, u: Any) -> Any:
    """`statements.static_branch`: what a loop's condition needs was unknown behind the check for an empty array."""
    i = 0
    while y[0] + u.max() > 1 and i < 9:
        y[...] = y / 2
        u[u.argmax()] -= 1
        i += 1
    return i


def places_in_windows(a: Any, x: Any, k: int) -> Any:
    """`reductions.arg_reduction`: refused, where a loop goes over a part of an array."""
    found = []
    for i in range(len(x)):
        found.append(x[i:].argmax() + i + (a[i:, k:] < 2).any(axis=1).argmin())
        found.append(abs(a[i, k:]).argmax() + (x[: i + 1] > 1).argmax())
    return np.array(found), x[x > -2].argmin(), a[1:, 1:].argmax()


def largest_of_rows(a: Any) -> Any:
    """`statements.static_branch`: what sizes decide was a number of JAX's where Python's `if` asked for it."""
    return np.nanmax(a, axis=1)


def of_one_element(x: Any, p: Any, u: Any) -> None:
    """`lanes.accumulate`: a reduction over one element only, of which no loop is left, was taken for one over lanes."""
    for i in range(2):
        x[i] = p[i - 1 : i].sum() + p[p][0]
        u[:] = u + p.max() + p.argmax() + np.count_nonzero(p) + p.any() + x[i]


def begun_before_the_kernel(x: Any, s: float) -> Any:
    """`interface.prepare`: a variable that a branch before a loop sets, and the loop alone reads, began as 0 there."""
    y, z, k = s, x[0] * s, 0
    if s > 2:
        y = s * 3
    if x[1] > 0:
        z = z + 1
    for i in range(len(x)):
        y, z = y * 0.5 + x[i], z * 0.5
        k += (y > 2) + 2 * (z > x[i])
    w = y
    if z > 0:
        w = w + 9
    while w > 0.1:
        w = w / 2
        k += 100
    return k


def before_all_checks(x: Any, p: Any) -> Any:
    """`emit`: what is returned before any check had no number of an error, which the function around asked for."""
    if len(x) > 2:
        return x[0]
    x[p] = 1
    return x


@pytest.mark.parametrize(
    "function, arguments",
    [
        (floored, (_SPECIAL, -2)),
        (wrapped, (np.array([-3.0, 4.7, 300.0]), np.zeros(3, np.uint64))),
        (chosen_by_factor, (_SPECIAL,)),
        (sums_of_negative_zeros, (_SPECIAL,)),
        (static_truth, (np.ones((2, 3), np.int16),)),
        (first_of_checks, (np.zeros(0), np.ones((0, 2)))),
        (shifted, (np.zeros(0),)),
        (shifted, (np.zeros(4),)),
        (smallest_kept, (np.zeros((0, 2), bool),)),
        (smallest_along, (np.array([[1.0, np.nan], [2.0, -np.inf]]), np.ones((2, 2), np.uint64))),
        (signs_in_branches, (np.array([0, 1, -1, 5]), np.ones(4))),
        (raises_before_loop, (np.zeros(2), np.ones((2, 3)))),
        (raises_in_later_loop, (np.ones(2), np.ones(1))),
        (raises_in_later_loop, (np.ones(2), np.ones(2))),
        (loop_of_no_iterations, (np.ones(1), np.ones(1))),
        (place_of_nothing, (np.ones(1), np.ones(1))),
        (place_of_nothing, (np.ones(5), np.arange(5.0))),
        (cut_by_where, (np.ones(3), np.ones(3, np.uint8), -1)),
        (leaves_at_argmin, (np.array([2.0, 1.0]),)),
        (perhaps_beyond, (np.ones(1), np.full(5, 9, np.int16))),
        (perhaps_beyond, (np.ones(1), np.ones(5, np.int16))),
        (beyond_32_bits, (np.array([5e9, -3e12, 7.0]), np.array([2**40, -(2**33), 3]))),
        (cut_to_type, (np.array([1e10, -np.inf, 1.9e19, -1e10, np.nan, 300.0]), np.ones(2, np.int32))),
        (cut_to_type, (np.array([-3.7, 2.0**64, 2.0**63], np.float32), np.ones(2, np.int32))),
        (rewritten, (np.array([1e300, 1e200, 800.0]),)),
        (sums_with_known_zeros, (np.full(3, -0.0), 1)),
        (chosen_products, (np.array([0.0, 0.3, 0.7, 1.1, -0.2, 1 / 3, 5.3]), 1)),
        (stored_by_position, (np.arange(6.0).reshape(3, 2), np.array([2.0, -1, 3]))),
        (stored_once, (np.array([0.0, 1.0]), np.ones((3, 2)))),
        (later_check_of_sizes, (np.zeros(2), np.arange(1))),
        (check_with_details, (np.zeros(0), np.zeros((0, 2)), 1)),
        (not_reached, (np.ones(3), np.nan, 4)),
        (not_reached, (np.ones(0), 2.0, 4)),
        (grows, (np.ones(2, np.float32), 80)),
        (doubled, (np.array([2**31 - 1], np.int32), np.array([2**32 - 1, 1], np.uint32))),
        (leaves_behind_a_check, (np.ones(3), np.ones(3))),
        (leaves_behind_a_check, (np.full(3, 2.0), np.ones(3))),
        (checked_for_uint32, (np.ones(1, np.uint32), np.array([3, 4], np.int8))),
        (checked_for_uint32, (np.ones(1, np.uint32), np.array([3, -4], np.int8))),
        (largest_kept, (np.array([2**64 - 1, 1], np.uint64),)),
        (behind_float_constants, (np.zeros((3, 2), np.int8),)),
        (behind_float_constants, (np.zeros((0, 2), np.int8),)),
        (from_nothing, (np.ones(1),)),
        (from_nothing, (np.ones(2),)),
        (sorted_kept, (_KEPT, _KEPT.astype(np.int16))),
        (sorted_in_loop, (_KEPT, _KEPT)),
        (products_of_kept, (_KEPT, _KEPT)),
        (places_in_windows, (np.outer(_KEPT, np.roll(_KEPT, 3)), _KEPT, 2)),
        (places_in_windows, (np.outer(_KEPT, [1, 3, np.nan, 4, np.nan]), np.array([2, np.nan, 5, 5, np.nan, 9, 9]), 1)),
        (places_in_windows, (np.full((3, 4), -np.inf, np.float32), np.full(3, -np.inf), 3)),
        (places_in_windows, (np.array([[3, 3], [-3, -9]], np.int8), np.array([5, 9], np.uint8), 0)),
        (largest_of_rows, (np.arange(6).reshape(2, 3) % 5,)),
        (largest_of_rows, (np.zeros((0, 3), np.int64),)),
        (largest_of_rows, (np.zeros((2, 0), np.int64),)),
        (while_the_largest, (_KEPT + 6, np.array([1, 3], np.int16))),
        (while_the_largest, (_KEPT, np.zeros(0, np.int16))),
        (while_the_largest, (_KEPT[:0], np.zeros(0, np.int16))),
        (begun_before_the_kernel, (_KEPT, 3.0)),
        (begun_before_the_kernel, (_KEPT, -1.5)),
        (before_all_checks, (_KEPT, np.array([1, 9]))),
        (before_all_checks, (_KEPT[:2], np.array([1, 9]))),
        (of_one_element, (np.ones(5, np.int32), np.zeros(1, np.int32), np.arange(5, dtype=np.int32))),
        (of_one_element, (np.ones(5, np.int32), np.ones(1, np.int32), np.arange(5, dtype=np.int32))),
    ],
    ids=lambda v: v.__name__ if callable(v) else "",
)
def test_gives_numpys_answer(function: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
    alike(function, *arguments, target="pallas")


def by_size(x: Any) -> Any:
    if len(x) > 3:
        return x.sum(), None
    if len(x) > 2:
        return [x.sum(), 2]
    if len(x) > 1:
        return float(x[0]), 1.5
    return x[0], 2.5


def by_data(x: Any) -> Any:
    first = None
    for v in x:
        if v > 0 and first is None:
            first = v
    twice, total = x * 2, x.sum()
    if first is None:
        return None, twice, x
    if first > 1:
        return float(first), twice
    if total > 0:
        return first, 2.5
    return total


@pytest.mark.parametrize("function", [by_size, by_data])
def test_which_of_several_returns(function: Callable[..., Any]) -> None:
    """`load`: what was returned was taken for the first return that has as many items, None for a number."""
    for x in ([5.0], [1.0, 2.0], [2.0, -1.0, 0.5], [np.nan, -0.0, -1.0, -2.0], [0.5, 0.0, np.nan, -1.0], [0.5, 3.0]):
        alike(function, np.array(x), target="pallas")


def whole(x: Any) -> int:
    return int(x[0]) + 1


def squares(x: Any) -> int:
    total = 0
    for i in range(len(x)):
        total += i * i
    return total


@pytest.mark.parametrize(
    "function, small, large",
    [
        (whole, np.array([7.5], np.float32), np.array([5e9], np.float32)),
        (squares, np.zeros(100, np.float32), np.zeros(3000, np.float32)),
    ],
    ids=lambda v: v.__name__ if callable(v) else "",
)
def test_refuses_integers_beyond_32_bits_when_they_come(function: Callable[..., Any], small: Any, large: Any) -> None:
    """`widths`: beside data of 32 bits, as a TPU has them, Python's integers were cut."""
    compiled = transkern.compile(function, target="pallas")
    assert compiled(small) == function(small)
    with pytest.raises(OverflowError, match="an index beyond 32 bits"):
        compiled(large)


def last_difference(x: Any, y: int) -> Any:
    s = 0
    for i in range(len(x)):
        s = int(x[i]) - y
    return s


def differences_added(x: Any, y: int) -> Any:
    s = 0
    for i in range(len(x)):
        s = s - y + int(x[i])
    return s


def times_places(x: Any, y: int) -> Any:
    out = np.zeros_like(x)
    for i in range(len(x)):
        out[i] = x[i] * (i - y)
    return out


@pytest.mark.parametrize("function", [last_difference, differences_added, times_places], ids=lambda f: f.__name__)
def test_integers_of_elements_and_arguments(function: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """Of elements of 32 bits and a number the bound was more than 32 bits in every call: none was answered. What is
    asked of arguments alone needs no more bits than Python has."""
    target = on_target("pallas", monkeypatch)
    for size in (0, 1, 5):
        for y in (3, -3, 0):
            x = np.array([7, -5, 2**20, 0, 1], np.int32)[:size]
            alike(function, x, y, target=target)
    if function is not times_places:
        big = np.array([2**31 - 1, -(2**31), 2**31 - 1], np.int32)
        alike(function, big, -(2**31), target=target)


def a_row_of_truth(a: Any, z: Any) -> None:
    a[1] = int(z)


@pytest.mark.parametrize("z", [0, 1, -1, 2**32, 2**63 - 1, 2**63 - 2, -(2**63)])
def test_the_largest_integers_are_true(z: int) -> None:
    """`emit`: `int(z)` of the largest of 64 bits went through a comparison of floats, and was 0."""
    alike(a_row_of_truth, np.zeros((3, 4), bool), np.int64(z), target="pallas")


def first_of_one(x: Any, p: Any) -> None:
    for v in p:
        if v > 1:
            break
        x[v] = np.argmin(np.cos(x[:1])) + np.argmax(x[:1]) * 2


def least_of_one(x: Any, y: Any, p: Any) -> None:
    for _ in p:
        if np.max(y) != y[-1]:
            break
        y[0] = np.argmin(np.cos(x))


def test_python_numbers_become_jax_values() -> None:
    """`reductions`: the place of the least of one element was a Python number, of which `.astype` was asked."""
    for p in ([0, 1, 2], [0], [5]):
        alike(first_of_one, np.array([1.5, 2.0]), np.array(p), target="pallas")
        alike(least_of_one, np.array([1.5]), np.array([1.5, 2.0]), np.array(p), target="pallas")


def sized(k: Any) -> Any:
    return np.zeros(k) + (k + k), -k, np.float32(-k), float(k * k), abs(~k) / 3, np.int8(k), k * k, k // 3, np.uint8(-k)


@pytest.mark.parametrize("k", [np.int8(100), np.uint8(100), np.int16(300), np.int64(4), np.uint64(7)], ids=repr)
def test_an_argument_that_is_a_size_keeps_its_type(k: Any) -> None:
    """`vector.apply`: JAX knows such a number when it traces; as a Python number it did not wrap, and had no dtype."""
    alike(sized, k, target="pallas")


def grown(x: Any, k: Any) -> Any:
    a, t = np.zeros(k, np.float32), k
    for _ in range(3):
        t = t + k
    a += t
    return a, t


def test_a_condition_on_a_size_before_it_changes() -> None:
    """`statements.conditional`: NumPy was asked for the float of a number that had become JAX's."""
    for k in (5, 0, np.int64(2)):
        alike(grown, np.ones(3), k, target="pallas")


def wider_than_their_parts(x: Any, p: Any) -> Any:
    return np.cumprod(p * x), np.add(x, x, dtype=np.int64), -x.astype(np.int64), np.int64(x[0]) + np.int64(x[0])


def carried_on(x: Any) -> Any:
    """A running total that goes by another name in each turn."""
    total = np.int64(0)
    for i in range(len(x)):
        before = total
        total = before + np.int64(x[i])
        if x[i] == 7:
            total = np.int64(0)
    return total


def read_before_it_grows(x: Any) -> Any:
    """A running total that nothing reads behind the addition."""
    below = np.zeros(len(x), bool)
    total = np.int64(0)
    for i in range(len(x)):
        below[i] = total < 0
        total = total + np.int64(x[i])
        if x[i] == 7:
            total = np.int64(0)
    return below


def test_sums_of_narrow_integers_take_64_bits() -> None:
    """`narrow`: integers of 32 bits and less were taken for positions, of which sums and products fit 32 bits."""
    x = np.array([2**31 - 1, -(2**31), 5, 7], np.int32)
    for values in (x, (x >> 16).astype(np.int16), x.astype(np.int64)):
        alike(wider_than_their_parts, values, np.array([3, 2, 200, 255], np.uint8), target="pallas")
    alike(carried_on, np.full(70_000, 32_767, np.int16), target="pallas")
    alike(read_before_it_grows, np.full(70_000, 32_767, np.int16), target="pallas")
    alike(carried_on, np.array([2**31 - 1, 2**31 - 1, 7, 2**31 - 1, 2**31 - 1], np.int32), target="pallas")


def inserted_in_front(x: Any, order: int) -> Any:
    held = [0.0] * order
    total = np.zeros(order)
    for n in range(len(x)):
        held.insert(0, x[n])
        held.pop()
        total = total + 2 * np.array(held)
    return total


def test_what_stands_in_itself_again_and_again() -> None:
    """Each insertion is made of the one before it twice: written out, thirty of them never ended."""
    alike(inserted_in_front, np.arange(6.0), 4, target="pallas")
    alike(inserted_in_front, np.arange(30.0), 4, target="pallas")


def test_code_that_would_be_too_long_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("TRANSKERN_CACHE_DIR", str(tmp_path / "nothing made before"))
    monkeypatch.setattr("transkern.targets.pallas.module.emit._LONGEST", 100)
    with pytest.raises(transkern.CompileError, match="would be too long"):
        transkern.compile(inserted_in_front, target="pallas")(np.arange(31.0), 4)


def joined_and_never_read(x: Any, p: Any) -> Any:
    joined = np.concatenate((p[x > 1], p))
    doubled = joined * 2
    k = 0
    while k < 2:
        for v in np.sort(doubled):
            k += int(v > 3)
        k += 1
    return doubled, k


def test_a_size_before_and_in_a_loop() -> None:
    """`statements.bind`: what a loop's body took from around it was bound again there, and so unbound before."""
    alike(joined_and_never_read, np.array([1.0, 2, 3]), np.array([5, 1, 0]), target="pallas")
    alike(joined_and_never_read, np.zeros(1), np.array([0]), target="pallas")


def row_of_data(a: Any, p: Any) -> Any:
    return a[p[0]], a[:, int(p.sum())]


def row_found(a: Any, p: Any) -> Any:
    k = 0
    while p[k] < 2:
        k += 1
    return a[::2, k], k


def row(a: Any, k: int) -> Any:
    return a[k]


def test_views_whose_place_data_tell() -> None:
    """`load`: a view was a copy where its place is computed by kernels; now they hand the place back."""
    a = np.arange(12.0).reshape(3, 4)
    for base in (a, a[::-1], a[:, ::-1], a.T, a[:0], a[:1, :3]):
        alike(row_of_data, base, np.array([1, 0, 1]), target="pallas")
        alike(row_found, base, np.array([1, 2, 1]), target="pallas")
    for base in (a[:, :1][::-1], a[:, :0], a[:1]):
        for k in (0, -1, 2):
            alike(row, base, k, target="pallas")


def ones_and_zeros(x: Any, y: Any, k: Any) -> Any:
    """`vector.apply`: a choice between two numbers was of JAX's widest type, which a loop did not carry."""
    for i in range(len(x)):
        y[:] = np.where(y > x[i], 1, np.float32(-0.0))
        k[:] = np.where(k == i, np.int16(7), np.int16(1))
    return y / -0.0, k


def every_other_row(x: Any, y: Any) -> Any:
    """`stores`: which rows are stored into was a mask over rows and elements, for an array that has elements alone."""
    rows = x[:-1].reshape(-1, 2)
    rows[::2] = 1
    rows = y[:6].reshape(3, 2)
    rows[1:, :1] += rows[:-1, 1:]


def test_choices_of_numbers_and_rows_of_lines() -> None:
    for n in (7, 1, 0):
        x = np.arange(n, dtype=np.float32)
        alike(ones_and_zeros, x, x[::-1].copy(), x.astype(np.int16), target="pallas")
    alike(every_other_row, np.arange(7, dtype=np.int32), np.arange(9.0), target="pallas")


def larger_of_zeros(x: Any, y: Any) -> Any:
    return np.maximum(x, -0.0), np.minimum(0.0, x), np.maximum(x, y), np.minimum(y, x), np.clip(x, -0.0, y[1])


def test_zeros_of_maximum_and_minimum() -> None:
    """`vector.apply`: of two zeros NumPy takes the second, XLA the larger one."""
    for dtype in (np.float32, np.float64):
        x = np.array([0.0, -0.0, 1.0, -1.0, np.nan, 0.0, -0.0, np.inf, 0.0], dtype)
        alike(larger_of_zeros, x, x[::-1].copy(), target="pallas")


def zeros_of_integers(x: Any, y: Any, s: float) -> Any:
    z = x * 1
    return (x - x) + s, (x * 0) + s, (z - x) * 1.0 + s, (x != x) + s, (x // y - x // y) + s, s - (x ^ x), (x & 0) + s


def test_what_is_added_to_zeros_of_integers() -> None:
    """`merging`: XLA knows x - x for 0, which it leaves out of a sum, also of -0.0."""
    x = np.arange(1, 8, dtype=np.uint8)
    for s in (-0.0, 0.0, 2.5):
        alike(zeros_of_integers, x, x[::-1].copy(), s, target="pallas")
        alike(zeros_of_integers, x.astype(np.int64), x.astype(np.int64), s, target="pallas")


def beyond_true(x: Any, k: int) -> Any:
    while x[1] > True or k < 0:
        k += 1
    return x > True, x > False, x >= True, x <= True, x < True, k


def test_comparisons_with_true() -> None:
    """`spelling`: ~True is -2."""
    alike(beyond_true, np.array([True, False, True]), -3, target="pallas")
    alike(beyond_true, np.array([False, True]), 2, target="pallas")


def all_but_the_last(x: Any) -> Any:
    for i in range(len(x) - 1):
        x[i] = 1
    return x


def test_stores_over_ranges_that_are_none() -> None:
    """`vector.filled`: range(len(x) - 1) of nothing had -1 elements."""
    for n in (0, 1, 2, 5):
        alike(all_but_the_last, np.zeros(n), target="pallas")


def products_with_ones(a: Any) -> Any:
    n, m = a.shape
    out = np.zeros((m, m))
    for k in range(n):
        out += a[k, :, None] * a[k]
    for i in range(m):
        out[i, i] = 1.0
    return out


def test_stores_along_a_diagonal() -> None:
    """`whole`: a store at [i, i] in a kernel of whole arrays was one into all of them."""
    alike(products_with_ones, np.arange(20.0).reshape(4, 5), target="pallas")


def running_extremes(x: Any, a: Any) -> Any:
    return np.maximum.accumulate(np.fmod(x, x)), np.minimum.accumulate(x), np.maximum.accumulate(a, axis=1)


def test_running_extremes_of_zeros() -> None:
    """`scanning`: XLA's running maximum of -0.0 and 0.0 is either of them; NumPy's is the second."""
    x = np.array([0.5, -2.0, 3.0, -0.0, -1.0, 0.25, -0.5])
    zeros = np.array([0.0, -0.0, 0.0, -0.0, -0.0, 0.0, np.nan])
    for given in (x, zeros, zeros.astype(np.float32), -zeros[:1], zeros[:0]):
        alike(running_extremes, given, np.stack([given, -given]), target="pallas")


def sorted_again_and_again(x: Any) -> Any:
    kept = [1.0 for _ in x]
    v = np.array([k for k in kept if k > 0])
    v[0] = 2.5
    k = 0
    u = v
    while k < x.shape[0]:
        u = np.unique(v)
        k += 1
    return v, u


def test_sizes_that_a_loop_reads_more_than_once() -> None:
    """`statements.bind`: a size that a loop's function reads, then binds for two kernels, was its own, and unbound."""
    for n in (3, 1, 0):
        alike(sorted_again_and_again, np.arange(float(n)), target="pallas")


def sizes_in_another_order(y: Any, s: float) -> Any:
    one = np.arange(0, s + 2, -0.5)
    two = np.arange(0.1, s * 0.5, 0.5)
    y[:] = 1
    return two, one


def test_sizes_are_asked_for_in_the_order_of_the_program() -> None:
    """`static_scalars`: two sizes that data make were asked for in the order of the results."""
    for s in (3.0, 0.5, -7.0, 0.0):
        alike(sizes_in_another_order, np.zeros(3, np.int8), s, target="pallas")


def positive(x: Any, k: int) -> Any:
    found = []
    for v in x:
        if v > 0:
            found.append(v)
    if k < len(found):
        return found[:k]
    return found


def test_a_result_that_a_branch_makes(monkeypatch: pytest.MonkeyPatch) -> None:
    """`contract_temporaries`: a list that a branch makes is looked at behind it, once a function is left in one place
    (`exits.leave_once`), and was taken for nobody's (KeyError, an inner error)."""
    compiled = transkern.compile(positive, target=on_target("pallas", monkeypatch))
    x = np.array([1.0, -1.0, 2.0, 3.0, 4.0])
    for k in (0, 2, 4, 20):
        assert compiled(x, k) == positive(x, k)


def beyond_behind_a_check(x: Any, a: Any) -> Any:
    x[1 < 2], x[1 < 2] = (1, x[x < 2])
    a[x.size // 2] //= 1


def test_a_check_of_sizes_behind_one_of_data(monkeypatch: pytest.MonkeyPatch) -> None:
    """`emit._raise_errors`: what the message tells was looked for under a name of the jitted function, which is left
    there (NameError; fuzz, seed 91000726)."""
    compiled = transkern.compile(beyond_behind_a_check, target=on_target("pallas", monkeypatch))
    for n, m in ((0, 3), (0, 0), (2, 0), (2, 3), (1, 2)):
        wanted, found = (
            call(f, [np.ones(n, np.float32), np.ones((n, m), np.int64)]) for f in (beyond_behind_a_check, compiled)
        )
        assert not difference(found, wanted), (n, m, found, wanted)


def least_of_some(x: Any, y: Any) -> Any:
    return x[y > 1].min(), x[y > 9].sum(), np.maximum(x, 2**32 - 1)


def test_a_uint32_that_needs_all_its_bits() -> None:
    """JAX takes a number of Python's for an int32: what `min` leaves unchanged (4294967295) was an OverflowError."""
    alike(least_of_some, np.arange(3, 9, dtype=np.uint32), np.arange(6, dtype=np.float32), target="pallas")


def all_as_the_second(u: Any) -> None:
    factor = 1.0
    for k in range(u.size):
        if factor:
            factor = factor
        u[k] = u[1]


@pytest.mark.parametrize("size", [0, 1, 2, 3, 4])
def test_a_pass_over_what_stands_behind_the_end(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """A kernel was taken for arrays of which one of its passes has nothing left (fuzz, seed 99500150: ValueError, a
    slice from 2 on of two elements)."""
    compiled = transkern.compile(all_as_the_second, target=on_target("pallas", monkeypatch))
    wanted, found = (call(f, [np.arange(size, dtype=np.float32)]) for f in (all_as_the_second, compiled))
    assert not difference(found, wanted)


def counted_from_a_number(x: Any, z: Any) -> Any:
    first = 0
    for _ in range(1):
        if x[1] <= z:
            break
    else:
        first = 1
    total = 0
    for k, _ in enumerate(x):
        total = total + (k - first)
    return total


def test_a_loop_that_a_number_shifts(monkeypatch: pytest.MonkeyPatch) -> None:
    """It walks all of the array under a condition, here True: a block of nothing was written (fuzz, seed 99500669)."""
    compiled = transkern.compile(counted_from_a_number, target=on_target("pallas", monkeypatch))
    x = np.ones(5, np.uint32)
    for z in (0, 3):
        assert compiled(x, np.int8(z)) == counted_from_a_number(x, np.int8(z))


def appended(x: Any, z: Any) -> Any:
    return np.append(x[x > 1], z)


def filled(x: Any, z: Any) -> Any:
    return np.full(len(x), z), np.append(x, z)


def stored(x: Any, z: Any) -> Any:
    y = np.zeros(3, np.int64)
    y[1] = z
    return y


@pytest.mark.parametrize("function", [appended, filled, stored], ids=lambda f: f.__name__)
def test_integers_of_the_caller_that_32_bits_do_not_hold(
    function: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """They were cut off where they became elements without an operation (fuzz, seed 100500129)."""
    target = on_target("pallas", monkeypatch)
    x = np.arange(4, dtype=np.int8)
    for z in (7, -1, 2**31 - 1, -(2**31)):
        alike(function, x, z, target=target)
    for z in (2**31, -(2**31) - 1, 2**63 - 2):
        with pytest.raises(OverflowError, match="an index beyond 32 bits"):
            transkern.compile(function, target=target)(x, z)


def divided_by_numbers(s: float) -> Any:
    a = np.full(1, s)
    return 1 / a, s / np.full(3, s), a // np.full(1, s), 2.5 % a


def test_elements_that_the_caller_computes_divide_as_numpys(monkeypatch: pytest.MonkeyPatch) -> None:
    """Python's operator divided them: ZeroDivisionError (fuzz, seed 100600229)."""
    for s in (0.0, -0.0, 2.0, -3.0, float("inf"), float("nan")):
        alike(divided_by_numbers, s, target=on_target("pallas", monkeypatch))


def left_with_constants(y: Any) -> Any:
    found, kind = -0.0, 1
    for k in range(3):
        found, kind = 0.0, 7
        if y[0] > 1 or k == 2:
            break
    else:
        kind = 9
    first = next((1 for _ in range(1) if 1), None)
    return found, kind, first is None


def repeated_with_constants(y: Any, n: int) -> Any:
    state, seen, k = 5, False, 0
    while y[k] > n:
        state, seen = 8, True
        k += 1
    return state, seen, k


def test_constants_that_a_while_loop_assigns(monkeypatch: pytest.MonkeyPatch) -> None:
    """They had no name in the function of an iteration, which handed back what was there before (seed 100800071)."""
    target = on_target("pallas", monkeypatch)
    for y in (np.array([2.0, 1.0, 0.0]), np.zeros(3)):
        alike(left_with_constants, y, target=target)
        for n in (0, 1, 5):
            alike(repeated_with_constants, y, n, target=target)
