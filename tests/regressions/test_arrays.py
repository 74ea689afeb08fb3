"""What the front end got wrong of array functions, filters and views; found by generated programs (`make fuzz`)."""

from __future__ import annotations

import itertools
import linecache
import warnings
from contextlib import suppress
from typing import Any

import numpy as np
import pytest

import transkern
from tests.regressions.support import alike, like_numpy
from tests.tools import on_target, require
from tests.trust.against_python import difference
from transkern.errors import CompileError

require("cc")


def joined_before_a_store(x: Any, y: Any) -> Any:
    joined = np.concatenate((x[y >= 2], y))
    held = {"filters": np.concatenate((y[x > 1], x))}
    y[1] = x[1] = 1
    grown = np.hstack((x[y < 2],))
    for i in range(2):
        y[i] = 5 * y[i]
    return joined, held, grown


def test_filters_that_are_joined_before_a_store() -> None:
    """What `concatenate` puts together of filters is a copy: later stores do not reach it."""
    alike(joined_before_a_store, np.array([3, 1, 2, 8, 1]), np.array([2, 2, 5, 0, 1]))


def outer_sums(x: Any, y: Any) -> Any:
    return np.einsum("i,j->ij", x, y), np.einsum("i,i->i", x, y), np.einsum("i->i", x), np.einsum("i,->i", x, 2.0)


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex128"])
def test_products_of_einsum_are_no_negative_zeros(dtype: str) -> None:
    """`einsum` adds each product to a zero, also where nothing is summed."""
    x = np.array([-0.0, 0.0, -1.0], dtype)
    alike(outer_sums, x, np.array([0.0, 3.0, -0.0], dtype))


def least(x: Any, t: float) -> Any:
    kept = x[x > t]
    return np.nanargmin(kept), np.nanargmax(kept)


def greatest(x: Any, t: float) -> Any:
    return np.nanmax(x[x > t])


def greatest_of_columns(a: Any) -> Any:
    return np.nanmax(a, axis=0), np.nanmin(a, axis=0), np.nanargmin(a, axis=0)


def test_extremes_without_nan_of_nothing() -> None:
    x = np.array([2.0, np.nan, 5.0])
    for t in (1.0, 9.0):
        alike(least, x, t)
        alike(greatest, x, t)
    for shape in ((2, 3), (2, 0), (0, 3)):
        alike(greatest_of_columns, np.zeros(shape))
        alike(greatest_of_columns, np.zeros(shape, np.int16))


def put_into(x: Any, p: Any) -> Any:
    np.put(x, p, 7)
    return x


def test_put_into_nothing() -> None:
    for n, m in ((3, 2), (0, 2), (3, 0), (0, 0)):
        alike(put_into, np.zeros(n), np.zeros(m, np.int64))


def compared_in_a_row(x: Any, k: int, t: float) -> Any:
    if 1 < t < x[k]:
        return 1
    inside = 0 <= k < len(x) and 0 <= t == x[k] != x[k // 2] + 0.5
    while -1 < k < 2 <= x[k + 1]:
        k += 1
    return inside, k, [v for v in x if t < v < x[k] * 2], 0 < t < float(x[k])


def test_comparisons_in_a_row() -> None:
    """``a < b < c[k]``: what comes after a comparison that fails is not evaluated."""
    x = np.array([3.0, 2.0, 5.0])
    for k, t in ((9, 0.5), (1, 2.0), (0, 2.5), (-1, 1.0), (0, 7.0), (9, 2.0)):
        alike(compared_in_a_row, x, k, t)


def repeated(x: Any, y: Any) -> Any:
    rows, (left, right) = np.broadcast_to(x, (2, x.size)), np.broadcast_arrays(x, y[:, None])
    windows = np.lib.stride_tricks.sliding_window_view(x, 2)
    x[0] = y[1] = 9
    return rows, rows + 1, left - right, windows.sum(axis=1)


def stored_into_repeated(x: Any) -> Any:
    rows = np.broadcast_to(x, (2, x.size))
    rows[0, 0] = 9


def stored_into_windows(x: Any) -> Any:
    np.lib.stride_tricks.sliding_window_view(x, 2)[0, 1] = 9


def test_views_that_repeat_elements() -> None:
    """What `broadcast_to` and `broadcast_arrays` give are views, into which nothing can be stored."""
    alike(repeated, np.array([1.0, 2.0, 3.0]), np.array([4.0, 5.0]))
    alike(stored_into_repeated, np.arange(3.0))
    alike(stored_into_windows, np.arange(3.0))


def products_of_filters(x: Any, y: Any, a: Any) -> Any:
    kept, others = x[x > 0], y[y > 0]
    places = np.flatnonzero(x)
    return np.dot(places[::1], places), np.tensordot(a[x > 0], a, (1, 1)), np.inner(kept, kept), np.dot(kept, others)


def test_products_of_filters() -> None:
    """`dot` and `tensordot` compared what filters choose from, and not what they choose."""
    x = np.array([0.0, 1.0, 2.0, 0.0, 3.0])
    a = np.arange(10.0).reshape(5, 2)
    alike(products_of_filters, x, x[::-1].copy(), a)
    alike(products_of_filters, x, x - 1, a)


def repeated_by_filters(x: Any, t: float) -> Any:
    kept = x[x > t]
    return np.repeat(kept, kept != 2), np.repeat(x, kept.astype(int) % 3), np.repeat(x, np.array([2]))


def test_repeats_by_filters() -> None:
    """`repeat` compared its counts' size before a filter chose from them; one count is for all elements."""
    x = np.array([0.0, 1.0, 2.0, 4.0])
    for t in (-1.0, 1.0, 2.0, 9.0):
        alike(repeated_by_filters, x, t)


def exchanged_in_loops_in_loops(x: Any, y: Any, u: Any) -> Any:
    for _ in range(1):
        for _ in range(1):
            u[1] = x[1]
            x, y = y, x
    return u


def test_what_is_exchanged_in_loops_in_loops() -> None:
    """An error on one of a loop's ways to the end left what comes after the loop forgotten: a bare IndexError."""
    with suppress(CompileError):
        alike(exchanged_in_loops_in_loops, np.ones(3), np.zeros(3), np.ones(4, np.int16))


def averaged(c: Any, scale: float) -> Any:
    return np.average(c, axis=2), np.average(c * scale, axis=0, keepdims=True, returned=True)


def test_averages_of_no_lines() -> None:
    """`average` divides two sizes: ZeroDivisionError where there is no line, also if nobody asks."""
    for shape in ((2, 3, 4), (0, 3, 4), (2, 0, 4), (0, 0, 0)):
        alike(averaged, np.ones(shape), 2.0)


def between_bins(x: Any, bins: Any) -> Any:
    return np.digitize(x, bins), np.digitize(1, bins, right=True)


def test_bins_that_are_nan() -> None:
    """`digitize` took bins that begin with a NaN, or go on with one, for rising ones: NumPy takes them for falling."""
    x = np.array([0.0, 2.0, np.nan])
    for bins in ([], [np.nan], [np.nan] * 3, [1, 1, np.nan], [np.nan, 2, 3], [1, 2, np.nan], [2, 1, np.nan], [2, 2, 1]):
        alike(between_bins, x, np.array(bins, np.float64))


def into_one_element(x: Any, p: Any) -> None:
    x[1] = p


def a_list_into_one_element(x: Any, p: Any) -> None:
    x[len(p)] = [0]


@pytest.mark.parametrize("dtype", ["float32", "int8", "bool", "complex64"])
def test_arrays_into_one_element(dtype: str) -> None:
    """`storing.write`: an array of one element was taken for its element, which NumPy does for truth only."""
    for size in (1, 3):
        alike(into_one_element, np.zeros(3, dtype), np.ones((1, size)))
    alike(a_list_into_one_element, np.zeros(3, dtype), np.ones(1))


def reshaped_views(a: Any, x: Any) -> Any:
    column, lines, turned = a[:, 0].reshape(-1, 1), a[:, ::2].reshape(-1), a.T.reshape(2, 3, -1)
    column += 7
    lines[1:3] = 50
    x[::2].reshape(2, 2)[1, 0] = 3
    return lines, turned, x[::-1].reshape(2, -1), a[1:].reshape(-1)


def test_views_reshaped_without_a_copy() -> None:
    """NumPy reshapes without a copy what strides can say, contiguous or not: stores through it reach the array."""
    wide, odd = np.arange(12.0).reshape(2, 6), np.arange(10.0).reshape(2, 5)
    alike(reshaped_views, wide, np.arange(8.0))
    for line in (
        "v = a[:, ::2].reshape(-1)", "v = a[:, :k].reshape(-1)", "v = a[:k, :3].reshape(-1)",
        "v = a[:1, :3].reshape(-1)", "v = a[:, ::2].reshape(2, -1)", "v = a[::-1, ::-1].reshape(-1)",
        "v = a[:, :4].reshape(-1, 2, 2)", "v = a.T.reshape(-1)", "v = a.T.reshape(-1, 1, 2)", "v = a[:, 1:].ravel()",
        "v = a[:, ::2].ravel()", "v = a[:1].ravel()", "v = a.T.ravel(order='F')", "v = a[:, ::2].reshape(-1, 3, 1)",
        "v = a.reshape(-1, copy=True)", "v = a[0, ::2].ravel()", "v = a.reshape(3, 4)[:, ::2].reshape(-1)",
        "v = a.reshape(1, -1, 2)",
    ):  # fmt: skip
        for a, k in ((wide, 6), (odd, 1), (wide, 2)):
            like_numpy(f"{line}; v += 5", a=a, k=k)


def test_reshapes_that_depend_on_the_strides_of_arguments() -> None:
    """Of arguments that are not contiguous only a call knows what NumPy shows as a view: such a result is only read."""
    a, row = np.asfortranarray(np.arange(12.0).reshape(3, 4)), np.arange(4.0)
    for line in (
        "v = a.reshape(-1) * 2; a[0] += v[:4]", "v = a.T.reshape(-1).copy(); v[1] = a.ravel()[2]; a[1] = v[:4]",
        "v = a.reshape(-1)[2]; a[:2] = v; a[1] = a.reshape(-1)[:4]", "v = a.reshape(a.shape[0], 2, 2); v[1, 0] = 7",
        "v = [a.reshape(-1)[i] for i in range(3)]; a[0, :3] = v",
        "for i in range(3): v = a.reshape(-1); a[i] = v[i:i + 4] + 1", "v = a.reshape(-1).sum(); c[0] = v",
        "v = c.reshape(-1)[1:5]; v = v * 2; a[0] = v", "a.flat[2] = 5; a.T[:, 1:].flat[1:3] = a.flat[6:8]",
    ):  # fmt: skip
        like_numpy(line, a=a, c=a)
        like_numpy(line, a=a, c=a.copy())
    for line in ("v = a.ravel(); v[0] = 5; a[0] = v[:4]", "v = np.ascontiguousarray(a); v[0] = 5; a[1] = v[0]"):
        like_numpy(line, a=a)
    for line in (
        "v = a.reshape(-1); v[0] = 5", "v = a.reshape(-1); return v", "v = a.T.reshape(-1)[2:5]; v += 1",
        "v = [a[1:].reshape(-1)]; a[1, 1] = 5; v[0] = v[0] + 1; a[0, 0] = v[0][0]", "return {'v': a[:, 1:].ravel()}",
        "v = a.reshape(-1); a[0, 0] = 5; a[1, 1] = v[0]", "v = a.ravel(order='F'); v[1] = 3", "return a.T.ravel()",
        "v = a.reshape(-1) if a[0, 0] > 0 else a[0]; v[0] = 2", "np.ascontiguousarray(a.T)[0] = 7",
        "v = a.reshape(-1)\n    for i in range(3): a[0, i + 1] = v[i]", "a.reshape(-1).fill(3)",
        "a.T.reshape(-1).sort()", "v = a.reshape(-1)\n    for i in range(3): v[i] = i; v = v[1:]",
        "np.add(1, 2, out=a.reshape(-1))",
        "v = a.reshape(-1)\n    if a[0, 0] > 0: v = v * 2\n    a[0, 0] = 9; a[1, 1] = v[0]",
    ):  # fmt: skip
        with pytest.raises(CompileError):
            like_numpy(line, a=a)
    raveled = transkern.compile(lambda x: x.ravel(), target="cpu")
    for x in (a, np.arange(12.0).reshape(3, 4), a):
        assert np.shares_memory(raveled(x), x) == np.shares_memory(x.ravel(), x)
    for line in ("v = x.ravel(); y[0] = 5; y[1] = v[0]", "v = x.reshape(2, -1).ravel(); v[1] = 7"):
        with pytest.raises(CompileError, match="depends on the strides"):
            like_numpy(line, x=row, y=row)


def test_positions_in_lists_and_arrays_without_elements() -> None:
    """A list without elements holds positions, an array of floats does not (`arrays.positions`): `x[np.array([])]`
    was empty, and `np.insert(x, np.zeros(0), 1)` added nothing."""
    x = np.arange(4.0)
    for line in (
        "a = a[[]], a[[[]]], a.take([]), np.delete(a, []), np.insert(a, [], []), np.bincount([])",
        "a = np.take(a, [1.0, True])",
        "a = a[np.array([])]", "a[np.zeros(0)] = 3", "a = a.reshape(2, 2)[np.zeros((0, 3)), 0]", "a = np.take(a, a)",
        "a = np.take(a, a > 1)", "np.put(a, a > 1, 7)", "np.put(a, np.array([1], np.uint64), 7)", "np.put(a, a, 7)",
        "a = np.delete(a, np.zeros(0))", "a = np.delete(a, np.ones(1))", "a = np.insert(a, np.zeros(0), 1)",
        "a = np.take_along_axis(a, a, 0)",
    ):  # fmt: skip
        like_numpy(line, a=x)


def without_axes(x: Any) -> Any:
    number, own, shown = x[1], np.asarray(x[1]), x[0, ...]
    same = own
    own += x[2]
    shown *= 2
    shown[...] = shown + 1
    total = np.zeros(())
    for v in x:
        total += v
    half = np.asarray(3)
    half //= 2
    return (
        own, same, shown, total, half, x[..., 1], number[...], number[()], number[None], number[..., np.newaxis].shape,
        x[True], x[False], x[:, True], x[..., np.True_].shape,
    )  # fmt: skip


def chosen_by_a_bool(x: Any, t: float) -> Any:
    own = np.asarray(x[1])
    own[own < t] = 7
    x[x[2] < t] = 5
    return own, x[x[0] > t], np.any(x[1][np.asarray(x[1] > t)]), x.reshape(-1, 1)[:, x[0] > t].size


def copied(x: Any, k: int) -> Any:
    row, same = x[np.array(k)], x[k]
    row += 1
    same *= 2
    return row


@pytest.mark.parametrize("target", ["cpu", "cuda", "pallas"])
def test_arrays_without_axes(target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """`indexing` made numbers of ``x[0, ...]``, which shows its element; `+=` made numbers of arrays without axes;
    a bool as a subscript was an IndexError."""
    on_target(target, monkeypatch)
    alike(without_axes, np.array([1.5, np.nan, -0.0]), target=target)
    alike(copied, np.arange(6.0).reshape(3, 2), 1, target=target)
    for t in () if target == "pallas" else (0.0, 9.0):
        alike(chosen_by_a_bool, np.array([1.0, 2, -3]), t, target=target)


def test_subscripts_of_numbers() -> None:
    x = np.arange(3.0)
    for line in (
        "x[0][0]", "x[0][0] = 1", "float(x[0])[0]", "y = 3; y[0] = x", "x[0][:, None]",
        "y = np.asarray(x[0]); y += x",
    ):  # fmt: skip
        like_numpy(line, x=x)


def kinds_of_what_functions_give(x: Any, k: Any) -> Any:
    number, array = x[1], np.asarray(x[1])
    return (
        np.nan_to_num(number), np.nan_to_num(array), np.nan_to_num(array / 2, nan=1), array.astype(np.float32),
        np.imag(array), np.imag(number), number.astype(np.float32), np.transpose(number), np.transpose(array),
        np.flip(array), np.isin(array, x), np.isin(array, [1, 2], invert=True), np.choose(1, [number, array]),
        np.ascontiguousarray(number), np.round(np.asarray(k)), np.angle(np.asarray(k) > 2), np.angle(x > 0),
        array.copy(), number.copy(), np.copy(number), np.int32(3).max(), np.int32(3).real,
    )  # fmt: skip


def products_with_numbers(x: Any, i: Any) -> Any:
    return (
        np.dot(x, 2.0), np.dot(2, i), x.dot(3.0), np.inner(x, 2.0), np.kron(x, 2.0), np.kron(i, 2), np.dot(x, x[0]),
        np.dot(i[0], 2), np.round(np.geomspace(x[0], x[1], 3), 12),
    )  # fmt: skip


def test_products_with_pythons_numbers() -> None:
    """`products`: `dot`, `inner` and `kron` make arrays of numbers, so that these decide the type, too; so does
    `geomspace` of a type of its own."""
    alike(products_with_numbers, np.array([1.5, 2, 4], np.float32), np.array([3, 4], np.int16))


def test_functions_of_arrays_without_axes() -> None:
    """`methods`, `numpy_functions` and `compositions` gave numbers for arrays without axes, or these for numbers."""
    alike(kinds_of_what_functions_give, np.array([np.inf, np.nan, 2.5]), 3)


def backwards_in_a_list(x: Any) -> Any:
    found = [x + 1]
    v = found[0][::-1]
    v += 5
    return found[0], v


def backwards_in_a_dict(x: Any) -> Any:
    found = {"a": x * 2}
    v = found["a"][::-1]
    found["a"][0] = 100
    return v


def test_views_that_run_backwards_over_what_a_container_holds() -> None:
    """They were taken for copies (`assigning._reordered`), as were those of what may be a view of an argument."""
    for function in (backwards_in_a_list, backwards_in_a_dict):
        alike(function, np.arange(4.0))
    like_numpy("v = a.reshape(3, 1, 4).reshape(1, 4, 3).reshape(12, 1)[::-1]; v += 5", a=np.ones((3, 1, 4)))
    with pytest.raises(transkern.CompileError, match="whether `reshape` gives a view depends on"):
        like_numpy("v = a.reshape(2, 6)[::-1]; v += 5", a=np.ones((3, 4)).T)


def some_rows(a: Any) -> Any:
    line = a[1:].reshape(-1)
    line[::2] = 7
    return line, a[1:3].ravel(), a[2:].reshape(-1, 2)[1], a[1].reshape(2, -1), a[:, 1:].reshape(-1)


def test_rows_as_one_line_are_a_view() -> None:
    """What was handed back was a copy (`shaping.reshape`): places in it had no strides."""
    a = np.arange(16.0).reshape(4, 4)
    alike(some_rows, a)
    given = a.copy()
    found = transkern.compile(some_rows)(given)
    assert [np.shares_memory(v, given) for v in found] == [np.shares_memory(v, given) for v in some_rows(given)]


def numbers_of_truth(x: Any, n: int) -> Any:
    chain = 0 < x[0] < 1 <= n
    return chain, x[0] < n < 5, x[0] < 1 or n > 0, n > 0 and x[0] < 1, (x[0] < 1) and n > 2, chain + 1, 0 < x[0] < True


def test_a_chain_is_one_of_its_comparisons() -> None:
    """`0 < x[0] < 1 <= n` was a truth of Python's where x[0] decides, and `a or b` of the type of `b`."""
    for n in (0, 2, 4):
        for x in ([0.5, 3], [2, 3], [0, 0]):
            alike(numbers_of_truth, np.array(x, float), n)


def test_points_between_lists_of_numbers() -> None:
    """`progressions.linspace` of lists was an AssertionError; a number of points that is a float raises."""
    for line in (
        "x = np.linspace([0, 1], [2.0, 3], 3), np.linspace(0, [1, 2], 2, retstep=True)", "x = np.linspace(0, 1, 2.0)",
        "x = np.linspace(0, 1, x[0])",
    ):  # fmt: skip
        like_numpy(line, x=np.arange(3.0))


def test_outputs_that_keep_what_is_reduced() -> None:
    """`outputs.check_reduced`: that a reduced axis is not of length 1 comes before all other errors of shapes."""
    for shape in ((1, 3), (2, 3), (3, 1), (2, 1)):
        like_numpy("np.sum(a, axis=1, keepdims=True, out=o)", a=np.ones((2, 3)), o=np.zeros(shape))


def through_other_masks(x: Any, y: Any, k: int) -> Any:
    x[x <= y[k]] = y[y > 0]
    x[y > 0], x[y <= 1] = x[x > 1], y[y <= 1]
    return x


def test_filters_of_one_element_into_others() -> None:
    """`storing`: an array of one element, through a mask, is none or one."""
    for one in (0.0, 1.0, 2.0, -1.0):
        for other in (1.0, -1.0):
            for n in (1, 2):
                alike(through_other_masks, np.full(n, one), np.full(n, other), 0)


def nothing_put(x: Any, v: Any) -> Any:
    np.put(x, [0, 2], v)
    np.putmask(x, x > 0, v)
    np.fill_diagonal(x.reshape(2, 2), v)
    x.flat[1:] = v
    return x


def test_values_that_are_none() -> None:
    """`choosing`: what begins anew where it ends was read from an array without elements."""
    for v in (np.zeros(0), np.array([7.0, 8.0]), np.array(7.0), [], [3.0]):
        alike(nothing_put, np.array([-3.0, 2.0, 0.0, 5.0]), v)


def limited(x: Any, low: Any, high: Any) -> Any:
    return np.clip(x, low, high), np.clip(x.real, low, high)


def test_limits_of_complex_numbers() -> None:
    """`clipped`: of equal numbers with zeros of other signs the bound wins; NaN in a bound's second part is no NaN."""
    values = [complex(a, c) for a in (-1.0, 0.0, 1.0, np.nan) for c in (0.0, -0.0, np.nan, 2.0)]
    x, compiled = np.array(values), transkern.compile(limited, target="cpu")
    for low in values[::3]:
        for high in values:
            for bounds in ((np.complex128(low), np.complex128(high)), (np.full(len(values), low), high)):
                found, wanted = compiled(x, *bounds), limited(x, *bounds)
                assert [str(z) for z in found] == [str(z) for z in wanted]  # NaN in one part is not NaN in both


def limited_number(k: Any, low: Any, high: Any) -> Any:
    return np.clip(k, low, high), np.clip(5, low, high), np.clip(True, low, None), np.clip(2.0, low, high)


def test_limits_of_numbers_are_of_the_types_of_arrays() -> None:
    for low, high in ((np.int8(1), np.int8(3)), (np.float32(1), np.float32(3)), (1, 3)):
        for k in (7, -2.5, np.int16(2), 2**31):
            alike(limited_number, k, low, high)


STORES = (
    "if k > 1:\n        u[0] = 1", "for i in range(len(u)):\n        u[i] = 1", "u[0] = 1",
    "if k > 1:\n        for i in range(len(u)):\n            u[i] = 1",
    "for i in range(2):\n        if i < k:\n            u[i] = -1", "np.put(u, [0], 1) if k > 1 else None",
)  # fmt: skip
USES = (
    "v = u[u > 0]", "v, w = np.nonzero(a > u)", "v = np.where(u > 0)[0]", "v = (u + 1, u[u < 1])",
    "v = np.argwhere(a > u)",
)  # fmt: skip


@pytest.mark.parametrize("store", STORES)
@pytest.mark.parametrize("use", USES)
def test_filters_that_a_function_changes_in_a_branch(store: str, use: str) -> None:
    """`before_write`: a name of the caller was computed in the branch, and not known behind it."""
    head = f"def c(u, k):\n    {store}\n    return k\n{use}\n"
    a, u = np.arange(12.0).reshape(4, 3) - 4, [1.0, -2.0, 3.0]
    for body in ("c(u, t)", "for j in range(2):\n    c(u, t)", "if t > 0:\n    c(u, t)", "y = c(u, t) + c(u, t + 1)"):
        for t in (0, 2):
            assert not difference(f"{head}{body}\nreturn v, u", "a, u, t", [a, np.array(u), t])


def _numbers(kind: str, count: int, large: bool) -> Any:
    rng, dtype = np.random.default_rng(count), np.dtype(kind)
    small = rng.integers(0 if dtype.kind in "bu" else -3, 6, count).astype(dtype)
    if not large or dtype.itemsize < 8:
        return small
    return np.where(rng.random(count) > 0.4, np.array(2**53, dtype) + rng.integers(0, 4, count).astype(dtype), small)


SETS = (
    "np.isin(x, y)", "np.isin(x, y, invert=True)", "np.isin(x, y, assume_unique=True)", "np.intersect1d(x, y)",
    "np.setdiff1d(x, y)", "np.setxor1d(x, y)", "np.setdiff1d(x, y, True)",
)  # fmt: skip


KINDS = tuple(itertools.product(("i8", "u8", "f8", "i4"), ("i8", "u8", "f8", "b1")))


@pytest.mark.parametrize("kinds", KINDS, ids="-".join)
def test_sets_of_integers_that_floats_do_not_hold(kinds: tuple[str, str]) -> None:
    """`searching`: NumPy finds integers exactly or as floats, by how many there are."""
    every = list(itertools.product(((5, 4), (5, 30), (40, 30), (0, 3), (3, 0), (12, 40)), (True, False)))
    apart = 2 if kinds[0] == kinds[1] else 4
    every = every[KINDS.index(kinds) % apart :: apart]
    for counts, large in every:
        x, y = (_numbers(kind, count, large) for kind, count in zip(kinds, counts, strict=True))
        for made in SETS:
            assert not difference(f"return {made}", "x, y", [x, y], stage=0), made


def test_limits_of_types_that_have_none() -> None:
    for text in ("return np.iinfo(x.dtype).max", "return np.finfo(x.dtype).eps", "return np.iinfo(bool).max"):
        for kind in (bool, float, int, complex):
            assert not difference(text, "x", [np.zeros(2, kind)], stage=0)


def scaled_products(x: Any, s: Any) -> Any:
    return np.dot(x, s), np.dot(s, x), np.inner(x, s), x.dot(s), np.dot(s, s)


def test_products_with_numbers_begin_with_zeros() -> None:
    """BLAS adds them to zeros: -0.0 does not stay."""
    for x in (np.array([[1.0, -2, 0]]), np.array([[1, -2, 3]], "f4"), np.array([[1, -2]]), np.array([[1, -2]], "f2")):
        for s in (0.0, -0.0, 2.5, 0, np.float32(0), -1):
            alike(scaled_products, x, s)


def of_perhaps_nothing(k: int, how: int) -> Any:
    found = []
    if k != 2:
        found.append(1)
    made = np.array(found)
    if how == 0:
        return made.dtype == float
    if how == 1:
        return np.zeros(2, made.dtype)
    if how == 2:
        return made.shape[0], made.size, made.ndim
    if made.dtype == float:
        return made
    made[0] -= 1
    return made


def test_types_of_arrays_of_empty_lists() -> None:
    """`attributes`: NumPy takes an empty list for float64, whatever would have been in it: refused where it matters."""
    compiled = transkern.compile(of_perhaps_nothing, target="cpu")
    for how in range(4):
        assert np.array_equal(compiled(1, how), of_perhaps_nothing(1, how))
        try:
            found = compiled(2, how)
        except RuntimeError as error:
            assert "a list is empty here" in str(error)
        else:
            assert np.array_equal(found, of_perhaps_nothing(2, how))
    assert compiled(2, 2) == (0, 0, 1)


def into_flat(x: Any, k: int) -> Any:
    x.flat[1] = k
    return x


def test_integers_that_one_element_does_not_take() -> None:
    """`flats`: for a store into one element NumPy has its own words."""
    for kind in ("u1", "i1", "u8", "i8", "f4", "i4"):
        for k in (-1, 1, 200, 2**31, -(2**63)):
            alike(into_flat, np.arange(4).astype(kind), k)


def nothing_handed_on(y: Any, k: int, how: int) -> Any:
    found = []
    if k:
        found.append(1)
    v = np.array(found)
    if how == 0:
        v = v[::-1]
        v[:] //= y[v]
        return v
    if how == 1:
        for _ in range(2):
            v = v + 1
        return v
    if how == 2:
        w = v if y[0] > 3 else v * 2
        return w
    if y[0] > 4:
        v = v * 2
    return v


def test_arrays_of_empty_lists_in_loops_and_branches() -> None:
    """`doubts.handed_out`: their type went lost there."""
    compiled = transkern.compile(nothing_handed_on, target="cpu")
    for how in range(4):
        for k in (1, 0):
            y = np.array([4, 5, 6])
            try:
                wanted: Any = nothing_handed_on(y.copy(), k, how)
            except IndexError as error:
                wanted = str(error)
            try:
                found = compiled(y.copy(), k, how)
            except RuntimeError as error:
                assert "a list is empty here" in str(error) and not k and how == 1
            except IndexError as error:
                assert str(error) == wanted
            else:
                assert np.array_equal(found, wanted) and found.dtype == wanted.dtype


def inserted(x: Any, y: Any, s: float) -> Any:
    return np.insert((y > x[0]).nonzero(), 1, s)


def test_positions_of_insertions_are_looked_at_first() -> None:
    for y in (np.array([1, 5]), np.array([9, 9])):
        for s in (1.0, np.inf, np.nan):
            alike(inserted, np.array([7], "u4"), y, s)


def of_few_unsigned(u: Any, k: int) -> Any:
    found = [v for v in u if u[0] < 1]
    return np.multiply(found, k)


def test_numbers_that_the_type_of_no_elements_does_not_hold() -> None:
    """`elementwise.check_range`: an empty list is one of float64, which holds them."""
    for u in ([0, 5], [3, 5]):
        for k in (2, -1):
            alike(of_few_unsigned, np.array(u, np.uint64), k)


def stacked_filters(x: Any, y: Any) -> Any:
    kept = x[x > 0]
    return np.stack((kept, kept[::1])), np.stack((kept, y), 1), np.vstack((kept[::-1], kept)), np.stack((kept, -kept))


def test_filters_are_stacked_by_their_counts() -> None:
    """`stack` compared the lengths of what the filters were made of."""
    for x in (np.array([1.0, 0.0, 2.0, 3.0]), np.array([1.0, 0.0, 0.0]), np.zeros(3)):
        for count in (0, 1, 3, 4):
            alike(stacked_filters, x, np.arange(float(count)))


def of_lists(x: Any, k: Any) -> Any:
    kept = list(x[x > 0])
    return np.concatenate((x, kept)), np.select([x > 1], [list(x)], x), x[x > 0].tolist()


def test_lists_of_filters() -> None:
    for x in (np.array([1.0, -2.0, 3.0]), np.array([2.5])):
        alike(of_lists, x, 1)


def without_positions(x: Any) -> Any:
    found = np.flatnonzero(x > 0)
    return np.delete(found, found[found > 0])


def test_deleted_positions_beyond_the_end() -> None:
    """A mask over more elements than there are had its last positions ignored."""
    for x in (np.array([1.0, 0, 2, 0, 0, 4]), np.array([1.0, 1.0]), np.zeros(3)):
        alike(without_positions, x)


def of_einsum(a: Any, k: Any) -> Any:
    rows = a[a[:, 0] > 0]
    return np.einsum("...i,...i->...", rows, rows[k:]), np.einsum("ij,ij->j", rows[k:], rows)


def test_labels_of_one_element_are_stretched() -> None:
    for k in (0, 1, 2):
        alike(of_einsum, np.arange(9.0).reshape(3, 3), k)


def scaled(x: Any, by: Any) -> Any:
    return np.dot(x, by), np.dot(by, x), np.inner(x, by), x.dot(by)


def test_products_with_a_zero_are_zeros() -> None:
    """BLAS looks at nothing then: no NaN of an infinity."""
    x = np.array([1.0, np.inf, -np.inf, np.nan, -0.0])
    for by in (0.0, -0.0, 1.0, np.float64(0.0), -2.0):
        alike(scaled, x, by)
        alike(scaled, x.astype(np.float32), np.float32(by))


def misused(x: Any, k: Any) -> Any:
    y = x.copy()
    if k == 0:
        np.place(y, y > 0, np.arange(1))
    if k == 1:
        y.fill(x[0])
    return y, x.sum((0,)), x.item(0), np.gradient(x, np.arange(x.size))


def test_arguments_are_looked_at() -> None:
    for x in (np.array([1.5, 2.5]), np.array([1, 2]), np.array([1.0])):
        for k in (0, 1):
            alike(misused, x, k)
    for line in ("x.sum([0])", "x.any(0, x)", "x.sum(0, axis=0)", "x.tolist(1)", "x.view(None)", "x.item(None)",
                 "x.fill(x)", "np.block([x, [t for t in x]])", "np.roll(x, 1.5)", "np.roll(x, x)"):  # fmt: skip
        space: dict[str, Any] = {"np": np}
        source = f"def f(x):\n    return {line}\n"
        linecache.cache[f"<{line}>"] = len(source), None, source.splitlines(keepends=True), f"<{line}>"
        exec(compile(source, f"<{line}>", "exec"), space)
        with pytest.raises((transkern.CompileError, TypeError)):
            transkern.compile(space["f"])(np.array([1.0, 2.0]))


class Metres(float):
    """A subclass of a number."""


def test_subscripts_that_are_objects_of_the_users() -> None:
    """What NumPy says about an object among the subscripts comes before what it says about their number."""
    compiled = transkern.compile(lambda x, k: x[k])
    for k in ((np.array([0]), Metres(2.5)), (Metres(2.5), 0), (0, Metres(2.5))):
        with pytest.raises(transkern.CompileError, match="a subscript that is an object of `Metres`"):
            compiled(np.ones(2), k)


def by_masks(x: Any, m: Any) -> Any:
    y = x.copy()
    y[m] = 3
    return x[m], x.flat[m], y


def rows_by_masks(a: Any, m: Any) -> Any:
    y = a.copy()
    y[m, 0] += 1
    return a[m], a[m, :], a.T[:, m], a[m].sum(), y


def test_an_empty_mask_fits_each_axis() -> None:
    for n in (0, 1, 4):
        for length in (0, 1, 4):
            alike(by_masks, np.arange(float(n)), np.ones(length, bool))
            for mask in (np.ones(length, bool), np.ones((length, 2), bool), np.ones((n, length), bool)):
                alike(rows_by_masks, np.ones((n, 2)), mask)


def made_in_a_loop(p: Any, low: Any) -> Any:
    for _ in range(5):
        h = p - low
        low = low + h
    return np.column_stack([low, h])


def memory_that_may_stay(p: Any, low: Any, n: int) -> Any:
    h = np.empty_like(p)
    for _ in range(n):
        h[:] = p - low
        low = low + h
    return low.sum()


def test_elements_read_before_they_are_stored() -> None:
    """`contract_temporaries`: an element that is held through a loop was read before the name for it was there."""
    p = np.arange(40.0)
    alike(made_in_a_loop, p, p * 0.5)
    for n in (1, 2):
        alike(memory_that_may_stay, p, p * 0.5, n)


def all_but_the_last_of_one(y: Any) -> Any:
    return np.convolve(y, y[:2], "valid")[:-1], (y[:1] * 2)[:-1], (y[:1] + 1)[1:]


def test_nothing_of_an_array_of_one_element() -> None:
    """`contract_temporaries`: a result that shows none of an array of one element was lost."""
    for n in (1, 2, 5):
        alike(all_but_the_last_of_one, np.arange(n, dtype=np.uint8))


def pooled(x: Any, k: int) -> Any:
    h, w = x.shape
    y = x[: h // k * k, : w // k * k].reshape(h // k, k, w // k, k)
    return y.swapaxes(1, 2).reshape(h // k, w // k, -1)


def reshaped_rest(x: Any, n: int) -> Any:
    return x[:, ::2].reshape(n, -1), x[::-1].reshape(-1, n)


def turned_rest(x: Any) -> Any:
    return x.swapaxes(0, 1).reshape(x.shape[0], -1).sum(axis=1)


def test_what_remains_of_nothing() -> None:
    """`reshape`: a size of -1 beside sizes of 0 was a division by 0, in what a call asks before anything is checked."""
    for shape, k in (((2, 2), 3), ((4, 6), 2), ((0, 4), 2), ((4, 0), 2), ((1, 1), 1)):
        alike(pooled, np.ones(shape), k)
    for shape, n in (((0, 4), 0), ((4, 0), 0), ((4, 6), 0), ((4, 6), 6), ((4, 6), 5)):
        alike(reshaped_rest, np.ones(shape), n)
    for shape in ((0, 4), (4, 0), (3, 4), (0, 3, 4), (3, 0, 4)):
        alike(turned_rest, np.ones(shape))


def empty_positions(x: Any, k: Any) -> Any:
    at = [k, k]
    x[at] = 7
    return x[at], x[[k]], x[1, [k, k]], x[[], 1]


@pytest.mark.parametrize("shape", [(0,), (3, 0, 2), (0, 3), (2,)])
@pytest.mark.parametrize("dtype", [np.float32, np.int64, np.complex128])
def test_lists_without_elements_are_positions(shape: tuple[int, ...], dtype: type) -> None:
    """Lists of arrays of floats were refused as subscripts, also where there is nothing in them."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        alike(empty_positions, np.ones((3, 4)), np.zeros(shape, dtype))


def converted_and_stored(x: Any) -> Any:
    a = np.broadcast_to(1, len(x)).astype(np.int32)
    b = np.broadcast_to(x, (2, len(x))).astype(np.float32).T
    c = x.imag.astype(np.float32)
    d = np.asarray(np.broadcast_to(x[:1], x.shape), dtype=np.float32)
    for part in (a, b, c, d):
        part -= 1
    return a, b, c, d


def test_what_is_converted_can_be_stored_into() -> None:
    """It was read-only as what it was converted from is (fuzz, seed 100601692: ValueError)."""
    alike(converted_and_stored, np.arange(4.0))


_SINGLES = np.array([0.5, 1.5, -2], np.float32)


def compared_with_constants(a: Any) -> Any:
    kept = a[np.where(~np.isfinite(a))]
    return (kept[:, None] > _SINGLES).any(axis=1).all(), kept[:, None] * _SINGLES


def test_constants_of_rows_that_are_kept() -> None:
    """`factored`: the elements of a constant array, by the axis that a filter copies whole, were taken for one number
    that no loop changes."""
    alike(compared_with_constants, np.array([[1, np.inf, 2], [np.nan, -np.inf, 4]] * 9))
    alike(compared_with_constants, np.ones((2, 3)))


def one_by_outer_and_tile(x: Any) -> Any:
    tiled = np.tile(1, 1)
    total = 0
    if np.trace(np.outer(1, 1)):
        total = 1
    return x + total + tiled[0]


def test_sizes_that_come_out_as_one() -> None:
    """A size made of constants alone is that number: named, it was taken for another size than 1, and never settled."""
    for size in (0, 1, 3):
        alike(one_by_outer_and_tile, np.arange(float(size)))


def at_narrow_positions(x: Any, y: Any) -> Any:
    return y[np.argsort(x).astype(np.int8)]


def at_stored_positions(x: Any, y: Any) -> Any:
    order = np.zeros(len(x), np.int8)
    order[:] = np.argsort(x)
    return y[order], order


def test_positions_that_do_not_fit_their_type() -> None:
    """`prove_bounds`: what a sort gives was within the array also as int8, where it counts from the end."""
    for function in (at_narrow_positions, at_stored_positions):
        for size in (100, 200):
            alike(function, np.random.default_rng(0).random(size), np.arange(float(size)))


def around_positions(x: Any, s: Any) -> Any:
    found = []
    for i in np.argsort(s):
        found.append(x[i : i + 1].sum() + 2 * x[i + 1 : i + 3].sum() + 4 * x[i - 1 : i + 2].sum() + x[i - 2 : i].sum())
        found.append(x[i:i].sum() + 3 * x[i + 2 : i + 1].sum() + x[i + 1 :].sum() + x[: i - 1].sum())
    return found


def test_slices_that_begin_at_positions() -> None:
    """What a position is moved by is taken for what it is, in front of the first element and behind the last, too."""
    for size in (0, 1, 2, 3, 9):
        alike(around_positions, np.arange(1.0, size + 1), np.random.default_rng(size).random(size))
