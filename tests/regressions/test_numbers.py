"""Numbers of Python's on one path and of NumPy's on another: what is computed with them has the type that NumPy gives.

The front end was at fault: it computed in the type that holds both.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import transkern
from tests.fuzz.oracle import call, difference
from tests.fuzz.stages import function_of, interpreted
from tests.regressions.support import alike, like_numpy
from tests.tools import on_target, require
from transkern.errors import CompileError

require("cc")

X = (np.arange(9) % 5 - 1.5).astype(np.float32)
A = (np.arange(20).reshape(4, 5) % 7).astype(np.float32)


def by_expression(x: Any, y: Any, k: int) -> Any:
    return x[1] * (y[0] if k < 1 else 2.0)


def by_extreme(a: Any, z: Any) -> Any:
    v = a[1, 1]
    return v + max(0, z)


def by_data(x: Any, y: Any) -> Any:
    return x[1] * (y[0] if y[1] > 0 else 0.1), y[1] * (y[0] if y[1] > 0 else 0.1)


def by_branch(x: Any) -> Any:
    """0.1 is another number in float32, and its root another one in float64."""
    out = np.empty_like(x)
    for i in range(len(x)):
        v = x[i]
        if v < 0.1:
            v = 0.1
        if v > 1:
            v = 1.0
        out[i] = np.sqrt(v) * v
    return out


def elements_or_zero(x: Any) -> Any:
    out = np.empty_like(x)
    for i in range(len(x)):
        out[i] = np.sqrt(max(x[i], 0.0)) + np.float64(1e-9)
    return out


def after_a_loop(x: Any) -> Any:
    total = 0.0
    for i in range(len(x)):
        total += x[i] * x[i]
    return np.sqrt(total)


def after_inner_loops(a: Any) -> Any:
    out = np.zeros(a.shape[0])
    for i in range(a.shape[0]):
        total = 0.1
        for j in range(i):
            total = a[i, j]
        out[i] = np.sqrt(total)
    return out


def after_a_filter(x: Any) -> Any:
    total = 0.1
    for i in np.where(x > 0)[0]:
        total = x[i]
    return np.sqrt(total), total * np.float64(2)


def where_the_loop_goes_on(x: Any) -> Any:
    last = 0.1
    for v in x:
        if v < 1:
            continue
        last = v
    return np.sqrt(last)


def after_a_while(x: Any) -> Any:
    i, e = 0, 1.1
    while e > 0.5 and i < len(x):
        e = abs(x[i]) / 3
        i += 1
    return np.sqrt(e) * 3, i


def in_the_first_iteration(x: Any) -> Any:
    found, last = 0.0, 0.1
    for v in x:
        found += np.sqrt(last)
        last = abs(v)
    return found


@pytest.mark.parametrize(
    ("function", "arguments"),
    [
        (by_expression, (np.array([1, 3], np.int16), X, 0)),
        (by_expression, (np.array([1, 3], np.int16), X, 1)),
        (by_extreme, (np.ones((2, 2), np.uint32), np.int8(-3))),
        (by_extreme, (np.ones((2, 2), np.uint32), np.int8(3))),
        (by_data, (np.array([1, 3], np.int16), X)),
        (by_data, (np.array([1, 3], np.int16), -X)),
        (by_branch, (X,)),
        (elements_or_zero, (X,)),
        (after_a_loop, (X,)),
        (after_a_loop, (X[:0],)),
        (after_inner_loops, (A,)),
        (after_a_filter, (X,)),
        (after_a_filter, (-abs(X),)),
        (where_the_loop_goes_on, (X,)),
        (where_the_loop_goes_on, (-abs(X),)),
        (after_a_while, (X,)),
        (after_a_while, (X[:0],)),
        (in_the_first_iteration, (X,)),
    ],
)
def test_computed_as_what_it_is(function: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
    alike(function, *arguments)


def stored(y: Any, s: float, z: Any, k: int) -> Any:
    y[0] = min(s, z)
    chosen = k if s > 1 else y[0]
    y[1] = chosen
    return y, chosen


@pytest.mark.parametrize("z", [np.float32(1.5), np.float32(0.5), np.float32("nan")])
@pytest.mark.parametrize(("s", "k"), [(1.0, 0), (2.5, 300), (2.5, -1), (2.0, 7), (float("nan"), 0)])
@pytest.mark.parametrize("dtype", [np.uint8, np.int8, np.int64, np.uint64])
def test_stored_as_what_it_is(dtype: type, s: float, k: int, z: Any) -> None:
    """A number of Python's that the element's type does not hold is an error, one of NumPy's may be wrapped."""
    alike(stored, np.ones(2, dtype), s, z, k)


def stored_in_turn(y: Any, b: Any, z: Any) -> None:
    held = 1.0
    for k in range(2):
        b[1] = held if k else float(y[1])
        held += z


def stored_after_the_first(y: Any, b: Any, z: Any) -> None:
    held = float(y[1])
    for k in range(2):
        b[k] = held
        held = held * z


@pytest.mark.parametrize("function", [stored_in_turn, stored_after_the_first])
def test_stored_as_what_it_is_in_an_iteration(function: Callable[..., Any]) -> None:
    """A slot that holds Python's number in the first iteration, and NumPy's in the others (`LoopState._doubt`)."""
    for dtype in ("uint64", "uint8", "int32"):
        for number in (-3e30, 5e30, -7.0, 9.0, np.nan):
            alike(function, np.array([0.0, number]), np.zeros((2, 3), dtype), np.float32(1.5))


def held_in_less(a: Any, k: int) -> Any:
    v = float(a[k])
    if a[k] > 1:
        v = np.float32(a[0])
    total = 0.1
    for j in range(k):
        total += np.float32(a[j])
    x = a.copy()
    x[0] = v
    x[1:3] = v
    x[x > 9] = v
    return v, total, max(float(a[k]), np.rint(True)), math.sqrt(abs(v)), float(v), np.float64(v), x, a.sum(initial=v)


def test_the_very_number() -> None:
    """Python's float where it is the one, also where the type that holds both rounds it (`exact_expr`)."""
    for k in range(4):
        alike(held_in_less, np.array([0.1, 3e5, 7, -2]), k)


def test_the_very_type() -> None:
    """Also where the wider of two types would hold the result."""
    for x in (X, -abs(X)):
        found = transkern.compile(after_a_filter, target="cpu")(x)
        assert [type(v) for v in found] == [type(v) for v in after_a_filter(x)]


def array_of_either(y: Any, a: Any) -> Any:
    return np.any(a, axis=0) & (y[0] if a[0, 1] else 1)


def test_an_array_whose_type_depends_on_the_choice_is_refused() -> None:
    compiled = transkern.compile(array_of_either, target="cpu")
    with pytest.raises(transkern.CompileError, match="a Python int or a NumPy int16, as run-time conditions decide"):
        compiled(np.ones(3, np.int16), np.ones((2, 3), np.int64))


def sums_of_truths(y: Any, a: Any) -> Any:
    return (
        y @ y, int(y @ y), a @ y + 1, y.sum(dtype=bool) + 1, a.sum(axis=0, dtype=bool) * 3, np.prod(y, dtype=bool) + 1,
        np.cumsum(y, dtype=bool) + 0, np.cumprod(a, axis=0, dtype=bool) * 2,
    )  # fmt: skip


@pytest.mark.parametrize("target", ["cpu", "cuda", "pallas"])
@pytest.mark.parametrize("n", [0, 1, 4, 256])
def test_sums_of_truths_do_not_count(target: str, n: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the dtype bool they were numbers until they were stored (`lower`, the front end): 256 of them were False."""
    on_target(target, monkeypatch)
    truths = np.ones((3, n), bool)
    truths[1, n // 2 :] = False
    alike(sums_of_truths, truths[0], truths, target=target)


def integers_put(a: Any, k: int) -> Any:
    np.put(a, [0, 9], k)
    return a


def integers_put_in_turn(a: Any, k: int) -> Any:
    np.put(a, 1, [k, 1])
    return a


def integers_put_where(a: Any, k: int) -> Any:
    np.putmask(a, a > 100, k)
    return a


def integers_placed(a: Any, k: int) -> Any:
    np.place(a, a < 3, k)
    return a


def integers_in_a_list(a: Any, k: int) -> Any:
    a[:2] = [1, k]
    return a


def integers_made(a: Any, k: int) -> Any:
    return np.full_like(a, k), np.full(2, k, a.dtype), np.array([1, k], a.dtype)


def integers_inserted(a: Any, k: int) -> Any:
    return np.insert(a, 1, k)


def integers_around(a: Any, k: int) -> Any:
    return np.pad(a, 1, constant_values=k)


def integers_begun_with(a: Any, k: int) -> Any:
    return np.sum(a, initial=k)


def chosen_or_sought(a: Any, k: int) -> Any:
    tenths = a.astype(np.float32) / 10
    return np.choose([0, 1], [a[:2], k]), np.searchsorted(a, k), np.searchsorted(tenths, 0.1, "right")


def test_integers_that_an_array_does_not_hold() -> None:
    """Python's integers on their way into an array were wrapped (`choosing`, `storing.write` of lists, `full`, `pad`,
    `insert`, `array`); ``np.searchsorted`` wrapped what it seeks, ``np.choose`` took Python's numbers for int64."""
    functions = (
        integers_put, integers_put_in_turn, integers_put_where, integers_placed, integers_in_a_list, integers_made,
        integers_inserted, integers_around, integers_begun_with, chosen_or_sought,
    )  # fmt: skip
    for function in functions:
        for dtype, k in (("uint32", -1), ("uint32", 3), ("int8", 300)):
            alike(function, np.array([1, 2, 5], dtype), k)


def progressions(t: Any, s: Any) -> Any:
    return np.arange(0, t, s), np.arange(s, t, s, np.int64), np.arange(0.5, t, 0.7, np.float32), np.arange(s, t, 1.5)


def test_progressions() -> None:
    """`arange` goes on from its first two elements, as its type holds them, and tells lengths that there are not."""
    for t, s in ((5, 0.5), (5.5, 1.5), (np.float32(1), np.float32(0.1)), (-2.0, -0.3)):
        alike(progressions, t, s)
    for line in (
        "np.arange(t)", "np.arange(0, t)", "np.arange(t, 0, dtype=np.int64)", "np.arange(0, 1, t)",
        "np.arange(0, t, t)", "np.arange(t, 300.0, dtype=np.uint8)", "np.arange(t, t + 3, dtype=np.float32)",
    ):  # fmt: skip
        for t in (np.nan, np.inf, -np.inf, 0.0, np.float64(0), -1.5, 299.5):
            like_numpy(f"t = {line}", t=t)
    for line in ("arange(t, 302, dtype=np.uint8)", "arange(0, t, 300, np.uint8)", "arange(t, 2**25, 2**23, 'f4')"):
        for k in (0, 300, -1, np.int64(301), np.uint64(3), 16777217):
            like_numpy(f"t = np.{line}", t=k)


LINES, FULL, LINE = np.array([[0.0, 1.0], [1.0, 1.0]]), np.ones((2, 2)), np.ones(5)


def signs_of_zeros(x: Any, n: Any) -> Any:
    y = 0.0
    if n > 2:
        y = -0.0
    chosen = np.where(x > n, 0.0, -0.0), np.where(x > n, 1 + 0j, complex(1, -0.0)), 0.0 if n > 2 else -0.0
    return chosen, y, np.copysign(1, y), x * 0.0, x * -0.0, (1, 0.0) if n > 2 else (True, -0.0), 1 if n > 2 else True


def chosen_constants(x: Any, n: Any) -> Any:
    kernel = LINES if n > 2 else FULL
    if n > 3:
        other = LINE
    else:
        other = LINES[0]
    return x[:2] @ kernel, other.sum(), (LINES if n > 2 else LINE).sum()


def test_constants_that_are_equal_and_not_the_same() -> None:
    """0.0 and -0.0 were one constant (`ir.expr.Const`), and so were 1 and True on two paths (`frontend.values.Static`);
    a choice between two arrays from outside was no program at all."""
    for n in (1, 3, 4):
        alike(signs_of_zeros, np.arange(-2.0, 3.0), n)
        alike(chosen_constants, np.arange(-2.0, 3.0), n)


def between_single_points(x: Any, at: Any, y: Any) -> Any:
    return np.interp(x, at, y), np.interp(x[0], at, y, 7.0, 8.0)


def test_interpolation_of_a_nan_in_a_single_point() -> None:
    """`compositions.searching.interp` gave NaN, where NumPy compares with the only point alone."""
    for at in (1.0, np.nan, np.inf):
        alike(between_single_points, np.array([np.nan, 1.0, 0.0, 2.0]), np.array([at]), np.array([5.0]))
        alike(between_single_points, np.array([0.0, np.nan]), np.array([at]), np.array([5.0]))


WAYS = {
    "default": "v = min([e for e in y if 1 < p[0]], default=1)",
    "branch": "v = 1\n    if p[0] > 1:\n        v = y[0]",
    "loop": "v = 1\n    for e in y:\n        if e < p[0]:\n            v = e",
    "choice": "v = y[0] if p[0] > 1 else 1",
    "floats": "v = 1.0 if p[0] < 1 else z[0]",
}  # fmt: skip
ASKED = (
    "isinstance(v, int)", "isinstance(v, (float, np.integer))", "isinstance(v, np.generic)", "isinstance(v + 1, int)",
    "isinstance(v, bool)", "hasattr(v, 'dtype')", "type(v) is int", "type(v)(2.7)", "len(v)", "v.item()",
    "v.bit_length()", "v.dtype", "range(v)", "v << 3", "~v", "np.zeros(3, dtype=type(v))",
    "x.astype(type(v))", "v * 70000", "v + 70000", "v + len(x)", "v ** -v", "v ** -1", "np.power(v, -1)", "x[v]",
    "v.conjugate()", "np.zeros(v)",
)  # fmt: skip


@pytest.mark.parametrize("way", WAYS)
def test_types_of_numbers_that_have_one_of_two(way: str) -> None:
    """Their type was said to be the one that holds both: it is asked for at run time, or the question is refused."""
    answered = 0
    for asked in ASKED:
        function = function_of(f"import numpy as np\n\n\ndef f(x, y, z, p):\n    {WAYS[way]}\n    return {asked}\n")
        for p in (0, 5):
            given = [np.arange(5, dtype=np.int16), np.array([3, 4], np.int16), np.ones(2, np.float32), np.array([p])]
            try:
                found = call(interpreted(function, 0), copy.deepcopy(given), transkern.CompileError)
            except transkern.CompileError:
                continue
            answered += asked.startswith(("isinstance", "hasattr"))
            assert not difference(found, call(function, copy.deepcopy(given))), asked
    assert answered == 12


@pytest.mark.parametrize(
    "taken",
    ("x.sum(0)", "x.T.sum(1)", "np.exp(x.T).sum(1)", "(x.T + x.T[0]).sum(1)", "np.prod(x, axis=0)", "y.sum((0, 2))",
     "y.sum((1, 2))", "x.cumsum(0)", "np.add.reduce(x)", "np.nansum(x, 0)", "x[:, ::2].sum(0)", "z.sum(1)", "sum(x)",
     "np.sum(x)", "x.sum(1)", "x[1].sum()"),
)  # fmt: skip
def test_sums_of_halves(taken: str) -> None:
    """NumPy rounds a sum of float16 at each step, unless it goes along the memory: what was rounded once is refused."""
    function = function_of(f"import numpy as np\n\n\ndef f(x, y, z):\n    return {taken}\n")
    x = np.random.default_rng(1).random((300, 7)).astype(np.float16)
    given = [x, np.random.default_rng(2).random((20, 30, 4)).astype(np.float16), np.asfortranarray(x)]
    try:
        found = call(interpreted(function, 0), copy.deepcopy(given), transkern.CompileError)
    except transkern.CompileError:
        assert taken not in ("np.sum(x)", "x.sum(1)", "x[1].sum()")
        return
    assert found.error is None
    assert np.array_equal(found.result, function(*copy.deepcopy(given))), taken


def either_or(x: Any, n: int) -> Any:
    v = x[n] if n < x.size else 2
    return v, -v, v * 3


def from_a_dict(x: Any, k: Any) -> Any:
    d = {1: x[0], 2: 3.0}
    return d.get(k), d.get(k + 1, 0)


def test_what_one_path_reads_is_read_there_alone() -> None:
    """The number that it would have been was read on the other path, too: from behind the end."""
    for x in (np.array([1.5, 2.5]), np.zeros(0)):
        for k in (0, 1, 2, 1 << 40):
            alike(either_or, x, k)
    for k in (1, 2, 6):
        alike(from_a_dict, np.array([1.5]), k)


def of_two_types(x: Any, k: Any) -> Any:
    v = max(k[0], 1.5)
    return isinstance(v, np.floating), isinstance(v, float)


def test_what_all_types_answer() -> None:
    """Where a NumPy integer and a Python float meet, what holds both is a NumPy float: neither is one."""
    for k in (1, 2):
        alike(of_two_types, np.zeros(1), np.array([k]))


def in_lists(x: Any, k: Any) -> Any:
    v, w = list(x), list(x)
    pairs = list(zip((1, 2), v, strict=False))
    return v == v, v == w, w != v, v < w, pairs, [type(a) is int for a, _ in pairs], round(k > 0, 1), x[range(k)]


def test_lists_and_their_numbers() -> None:
    for x in (np.array([1.0, 2.0, 3.0]), np.array([2.5])):
        for k in (0, 1):
            alike(in_lists, x, k)


def test_nan_in_lists() -> None:
    """Whether a NaN is the same object, nobody knows; a list is equal to itself."""
    alike(lambda x: (lambda v: v == v)(list(x)), np.array([1.0, np.nan]))
    for question in (lambda x: list(x) == list(x), lambda x: x[1] in list(x), lambda x: list(x).count(x[1])):
        with pytest.raises(RuntimeError, match="is not compiled"):
            transkern.compile(question)(np.array([1.0, np.nan]))


def test_numbers_of_two_types_are_not_taken_for_one() -> None:
    for question in (
        lambda x, k: x[x[0] if k > 3 else 1], lambda x, k: np.arange(x[0] if k > 3 else 2),
        lambda x, k: round(x[0] if k > 3 else 2, 1), lambda x, k: (x[0] if k > 3 else 2) != [],
    ):  # fmt: skip
        try:
            found = transkern.compile(question)(np.array([1.0, 2.0]), 2)
        except transkern.CompileError:
            continue
        assert repr(found) == repr(question(np.array([1.0, 2.0]), 2))


def test_arrays_of_one_element_are_no_numbers() -> None:
    """As far as this version of NumPy says so."""
    x = np.array([4.0])
    for question in (lambda x: float(x), lambda x: math.sqrt(x), lambda x: int(x)):
        try:
            wanted = repr(question(x))
        except TypeError as error:
            wanted = str(error)
        try:
            assert repr(transkern.compile(question)(x)) == wanted
        except TypeError as error:
            assert str(error) == wanted


@pytest.mark.parametrize("values", [
    [2**63, [1, 2]], [[1, 2], 2**63], [np.arange(2), 2**63], [2**63, range(2)], [[1, 2], [3, 2**63]], (2**64, (1, 2)),
])  # fmt: skip
def test_integers_of_more_than_64_bits_beside_lists(values):
    """Found by generated calls: an inner error."""

    def store(x, v):
        x[...] = v
        return x

    try:
        transkern.compile(store, target="cpu")(np.zeros((2, 2)), values)
    except CompileError as error:  # an InternalError is none
        assert "64 bits" in str(error)
    except ValueError as error:
        with pytest.raises(ValueError) as numpys:
            store(np.zeros((2, 2)), values)
        assert str(error) == str(numpys.value)


def neither(x: Any, n: int) -> Any:
    both = ~np.logical_not(n), np.invert(np.logical_not(1)), np.logical_not(np.logical_not(n)), not np.logical_not(n)
    return both, ~np.logical_not(x), x[~np.logical_not(x)], (~np.logical_not(x)).sum()


def told_apart(x: Any, n: int) -> Any:
    r = np.zeros(x.size)
    for k in range(x.size):
        if not np.logical_not(x[k]):
            r[k] = 1
        else:
            r[k] = 2
    if np.logical_not(n):
        return r, 1
    else:
        return r, 2


@pytest.mark.parametrize("target", ["cpu", "cuda", "pallas"])
@pytest.mark.parametrize("function", [neither, told_apart])
def test_what_is_not_not_is_true(function: Any, target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """`~np.logical_not(3)` was 3, and True stored in an array of bools a bug of ours (fuzz, seed 99502409)."""
    for x in (np.array([0.0, 2.5, np.nan, -0.0]), np.array([0, 2, 0]), np.array([True, False])):
        for n in (0, 3):
            alike(function, x, n, target=on_target(target, monkeypatch))


def close_to_what_is_not_held(x: Any, far: float) -> Any:
    return np.isclose(x, far), np.isclose(far, x), np.isclose(x, 1e300), np.isclose(x, np.float64(1e300))


def test_what_floats_do_not_hold_is_infinite_where_it_is_compared() -> None:
    """`np.isclose` compared float32 with the tolerance as a float64, which Python's number is not (seed 100003114)."""
    for kind in (np.float32, np.float16, np.float64):
        alike(close_to_what_is_not_held, np.array([1.5, -2, 0, np.inf, np.nan], kind), 1e300)
