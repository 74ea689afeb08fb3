"""What the front end got wrong; found by generated programs (`make fuzz`)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import transkern
from tests.fuzz.oracle import call, difference
from tests.regressions.support import alike
from tests.tools import on_target, require
from transkern.errors import CompileError

require("cc")


def add_at_own_element(x: Any, p: Any) -> Any:
    """``ufunc.at``: the operand is read once, before the first store."""
    np.add.at(x, p, x[0])
    return x


def add_at_own_positions(x: Any) -> Any:
    """``ufunc.at``: so are the positions."""
    np.add.at(x, x % len(x), 1)
    return x


def add_at_number(x: Any) -> Any:
    """``ufunc.at``: a Python number is an int64 or float64 there."""
    np.add.at(x, 0, 10)
    np.add.at(x, 1, 0.1)
    return x


def python_integer(x: Any, k: int) -> Any:
    """A Python integer of run time that the array's type does not hold: NumPy's OverflowError."""
    return x + k


def stored_integer(x: Any, k: int) -> Any:
    x[1:] = k
    return x


def compared(x: Any, k: int) -> Any:
    """Integers are compared by value, whatever their types."""
    return x > k, k >= x, x == k, x != k


def filter_before_a_loop(y: Any, a: Any) -> Any:
    """A filter that is made before a loop does not see what the loop stores."""
    v = y[a[:, 1] <= 1]
    for _ in range(2):
        a[1] = 7
    return v


def raises_in_condition(c: Any) -> int:
    """An operand that raises for sure raises."""
    if c[0, 1] and 2:
        pass
    return 1


def raises_on_one_side(c: Any, k: int) -> Any:
    return c[0, 1] if k else 3.0


def raises_in_loop(c: Any, k: int) -> int:
    while c[0, 1] > 3:
        k += 1
    return k


def one_of_two(x: Any, y: Any, k: int) -> Any:
    """A store into what a condition chooses goes into the array chosen."""
    if k:
        x = y
    x[0] = 5
    return x


def loop_over_pairs(x: Any, y: Any) -> Any:
    """The axis of a loop whose target is a tuple had a name that C's names do not begin with; its sums are blocked."""
    total = 0.0
    for i, v in enumerate(x):
        total += (y * v).sum() + i
    return total


def largest_position(n: int) -> int:
    """A largest index that is found in parallel starts from the smallest one."""
    best = 0
    for i in range(n):
        if i > best:
            best = i
    return best


def one_side(x: Any, y: Any, k: int) -> None:
    z = x if k else y
    z[0] = 5


def filtered(y: Any, a: Any) -> Any:
    """What a mask leaves is as long as it is, not as what it was taken from."""
    v, w = y[y > 1], a[a[:, 0] > 1]
    return (
        np.roll(v, 1), np.roll(w, 2), np.repeat(w, 2, axis=0), np.tile(v, 2), np.split(v, 1), np.array_split(w, 2),
        np.triu(w), np.diag(v), np.select([v > 3, v > 2], [v, v * 2]), np.piecewise(v, [v > 3], [1, 2]), v[v > 3],
    )  # fmt: skip


def filtered_items(a: Any) -> Any:
    """A list gets room for all that a filter of two dimensions may leave."""
    return [x * 2 for x in a[a > 1]], [(i, x) for i, x in enumerate(a[a < 1])]


def triangle(x: Any) -> Any:
    """The room of a list does not depend on what is known inside its loops only."""
    out = []
    for i in range(len(x)):
        for j in range(i):
            out.append(x[j] * i)
    return out


def unbounded(x: Any) -> Any:
    """Each trip asks the data how often the inner loop runs: no room can be made beforehand."""
    out = []
    for i in range(len(x)):
        for j in range(int(x[i])):
            out.append(j)
    return out


def one_of_two_numbers(x: Any, a: Any) -> Any:
    """What a number may be is not what it is."""
    for i in range(300):
        if i < 100:
            a[0] = i
    return a & (-1 if x[0] > 1 else 1)


def from_the_end(x: Any) -> Any:
    """``n - 3`` is a subscript from the end where n is 2."""
    return x[len(x) - 3], x[x.size - 1]


def counted_after(x: Any) -> Any:
    """A list is made where its length is known, not where it is named."""
    out = []
    k = int(x[0])
    for i in range(k):
        out.append(i)
    return out


def powers(b: Any, x: Any) -> Any:
    """A square of bools is an int8; the root of a number is that of `pow`, without a negative zero."""
    return b**2, b**3, x[0] ** 0.5, x[1] ** 0.5, np.float_power(x, 0.5), np.power(x, 0.5)


def queue_that_grows(n: int) -> Any:
    """`while_loop`: a loop up to the length of a list that it makes longer was thought to run as often as the list was
    long before: what lies behind the list's memory was overwritten."""
    queue, head, seen = [(0, 1)], 0, {0}
    while head < len(queue):
        u, step = queue[head]
        head += 1
        for v in (u + step, u + 2):
            if v < n and v not in seen:
                seen.add(v)
                queue.append((v, step + 1))
    return len(queue), queue[-1][0], len(seen)


def numbers_that_grow(n: int) -> Any:
    found, at = [1], 0
    while at < len(found):
        if found[at] < n:
            found.append(found[at] + 1)
        at += 1
    return found


@pytest.mark.parametrize(
    "function, arguments",
    [
        (queue_that_grows, (20000,)),
        (numbers_that_grow, (5000,)),
        (filtered, (np.array([2.0, 0, 5, 9, -1]), np.arange(20.0).reshape(5, 4) % 7)),
        (filtered_items, (np.arange(400.0).reshape(20, 20) % 3,)),
        (triangle, (np.arange(40.0),)),
        (unbounded, (np.arange(40.0),)),
        (one_of_two_numbers, (np.zeros(1), np.ones(2, np.uint8))),
        (one_of_two_numbers, (np.ones(1) * 5, np.ones(2, np.uint8))),
        *((from_the_end, (np.arange(float(n)),)) for n in (5, 2, 1, 0)),
        (counted_after, (np.array([70.0]),)),
        (powers, (np.array([True, False]), np.array([-np.inf, -0.0, 4.0]))),
        (add_at_own_element, (np.arange(5.0) + 1, np.array([0, 0, 1]))),
        (add_at_own_positions, (np.array([1, 1, 0, 6], np.uint16),)),
        (add_at_number, (np.array([2**63 + 1, 3], np.uint64),)),
        (add_at_number, (np.array([0.7, 0.3], np.float32),)),
        (python_integer, (np.arange(5, dtype=np.uint8), -1)),
        (python_integer, (np.arange(5, dtype=np.int8), 300)),
        (python_integer, (np.arange(5, dtype=np.uint64), 3)),
        (stored_integer, (np.arange(5, dtype=np.uint8), 300)),
        (compared, (np.array([0, 2, 2**64 - 1], np.uint64), -1)),
        (compared, (np.array([0, 2, 2**64 - 1], np.uint64), 2)),
        (compared, (np.array([0, 2, 100], np.uint8), 300)),
        (filter_before_a_loop, (np.arange(5.0), np.arange(10.0).reshape(5, 2) - 3)),
        (raises_in_condition, (np.ones((3, 1)),)),
        (raises_on_one_side, (np.ones((3, 1)), 0)),
        (raises_on_one_side, (np.ones((3, 1)), 1)),
        (raises_in_loop, (np.ones((3, 1)), 1)),
        (one_of_two, (np.arange(3.0), np.arange(3.0) + 9, 0)),
        (one_of_two, (np.arange(3.0), np.arange(3.0) + 9, 1)),
        (loop_over_pairs, (np.arange(3.0), np.arange(4.0))),
        (largest_position, (4,)),
        (one_side, (np.arange(3.0), np.arange(3.0) + 9, 1)),
    ],
    ids=lambda v: v.__name__ if callable(v) else "",
)
def test_gives_numpys_answer(function: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
    alike(function, *arguments)


def largest(x: Any) -> Any:
    b = -1
    for i in range(len(x)):
        if x[i] > b:
            b = x[i]
    return b


def largest_of(x: Any, k: int) -> Any:
    return max(x[0], k)


def exchanged(x: Any, y: Any, k: int) -> None:
    for _ in range(k):
        x, y = y, x
    x[0] = 5


def exchanged_in_two_loops(x: Any, y: Any, k: int) -> None:
    for _ in range(k):
        for _ in range(len(x)):
            x, y = y, x
    x[0] = 5


def one_of_two_types(x: Any, y: Any) -> Any:
    return x[0] if y[0] > 0 else y[0]


def perhaps_exchanged(x: Any, y: Any, k: int) -> None:
    if x[0] > 0:
        x, y = y, x
    x[0] += 5


def size_squeezed(x: Any) -> Any:
    """How many axes are left is not known before the data."""
    return np.squeeze(x[x > 1])


def list_chosen_and_changed(x: Any) -> Any:
    a, b = [1], [2]
    c = a if x[0] > 0 else b
    c.append(7)
    return a, b, c


def list_put_away_and_changed(x: Any) -> Any:
    row, rows = [1, 2], []
    for v in x:
        rows.append(row)
        row[0] = v
    return rows


def view_of_shared(x: Any, y: Any) -> Any:
    x[0] = 1
    return y[1:]


@pytest.mark.parametrize(
    "function, arguments, message",
    [
        (view_of_shared, (_BOTH := np.arange(6.0), _BOTH), "arguments that share memory"),
        (list_put_away_and_changed, (np.ones(300),), "a list that changes its length|a change of a list"),
        (size_squeezed, (np.arange(3.0),), "length that data decides"),
        (exchanged_in_two_loops, (np.ones(3), np.ones(3), 1), "one of several arrays"),
    ],
    ids=lambda v: v.__name__ if callable(v) else "",
)
def test_is_refused_rather_than_wrong(function: Callable[..., Any], arguments: tuple[Any, ...], message: str) -> None:
    with pytest.raises(transkern.CompileError, match=message):
        transkern.compile(function, target="cpu")(*arguments)


def number_or_text(x: Any) -> Any:
    y = 0 if x[0] > 0 else "text"
    return y


def one_of_two_arrays(a: Any, b: Any) -> Any:
    big, small = (a, b) if a.sum() > b.sum() else (b, a)
    big[0] = -1
    return small


def one_of_a_list(x: Any) -> Any:
    arrays = [np.zeros(2), np.ones(2)]
    chosen = arrays[0] if x[0] > 0 else arrays[1]
    chosen[0] = 5
    return arrays


@pytest.mark.parametrize("sign", [1, -1])
def test_what_is_one_of_two(sign: int) -> None:
    """Lists, arrays and numbers of two types: the paths go apart, and each has its own."""
    alike(list_chosen_and_changed, sign * np.ones(3))
    alike(one_of_two_types, np.ones(3, np.int16), sign * np.ones(3))
    alike(perhaps_exchanged, sign * np.ones(3), np.ones(3) * 2, 1)
    alike(number_or_text, sign * np.ones(2))
    alike(one_of_two_arrays, sign * np.ones(2), np.zeros(2))
    alike(one_of_a_list, sign * np.ones(2))


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int32, np.uint32])
def test_a_number_that_its_type_does_not_hold(dtype: Any) -> None:
    """-1 and elements of uint8, a number of 300 beside them: the caller gets the one of them, in its own type."""
    for x in (np.array([3, 7, 5], dtype), np.array([], dtype), np.zeros(2, dtype)):
        alike(largest, x)
        for k in (300, 5, -3):
            alike(largest_of, x, k)


@pytest.mark.parametrize("k", [0, 1, 2])
def test_a_store_behind_exchanges(k: int) -> None:
    """It goes into the argument whose turn it is, where a loop hands two of them to each other."""
    alike(exchanged, np.ones(3), np.zeros(3), k)


def whole(x: Any) -> Any:
    return int(x[0]), round(x[1])


@pytest.mark.parametrize("value", [np.uint64(2**63), 1e300, np.float32(-1e30)])
def test_integers_that_need_more_than_64_bits_go_on_as_nothing_else(value: Any) -> None:
    with pytest.raises(OverflowError, match="64 bits"):
        transkern.compile(whole, target="cpu")(np.array([value, 1]))
    assert transkern.compile(whole, target="cpu")(np.array([2.0**62, -(2.0**63)])) == (2**62, -(2**63))


def stored(x: Any, v: Any) -> Any:
    x[0] = v
    return x


def stored_at_positions(x: Any, v: Any) -> Any:
    x[[0]] = v
    return x


def made(x: Any, v: Any) -> Any:
    return np.int8(v), np.uint8(v), np.uint64(v)


def subtracted(x: Any, v: Any) -> Any:
    for i in range(len(x)):
        x[i] -= v
    return x


@pytest.mark.parametrize("function", [stored, stored_at_positions, subtracted, made])
@pytest.mark.parametrize("dtype", ["int8", "uint8", "int64", "uint64"])
def test_numbers_that_an_array_of_integers_does_not_hold(function: Callable[..., Any], dtype: str) -> None:
    """NumPy's and Python's numbers, with a sign and without, by a subscript and by positions: each in its own way."""
    compiled = transkern.compile(function, target="cpu")
    for value in (
        np.nan, np.inf, 300.7, -1.5, 2.0**63, *map(np.float64, (np.nan, -np.inf, -128.5, -129, 1e30)),
        *map(np.int64, (300, -1)), np.uint64(2**63), np.float32(127.9),
    ):  # fmt: skip
        found, wanted = (call(f, [np.ones(2, dtype), value]) for f in (compiled, function))
        assert not difference(found, wanted), (value, difference(found, wanted))


def target_of_two_loops(a: Any, k: int) -> Any:
    for i in range(a.shape[0]):
        for i in range(1, k):  # noqa: B007
            pass
        a[i - 1] += 1
    return i


def target_bound_before(k: int) -> Any:
    i = 2.5
    for i in range(k):  # noqa: B007
        pass
    return i * 2


@pytest.mark.parametrize("k", [1, 2, 4])
def test_a_loop_without_iterations_leaves_its_target(k: int) -> None:
    """Its range was taken for that of the name: ``a[i - 1]`` with ``i == 0`` was stored in front of the array."""
    alike(target_of_two_loops, np.zeros((4, 2)), k)


@pytest.mark.parametrize("k", [0, 1, 3])
def test_a_loop_without_iterations_leaves_the_number_before_it(k: int) -> None:
    """It was cut to an integer, as the target is one; now both are floats."""
    assert transkern.compile(target_bound_before, target="cpu")(k) == target_bound_before(k)


def copied(x: Any, v: Any) -> None:
    np.copyto(x, v)


def copied_in_any_case(x: Any, v: Any, m: Any) -> None:
    np.copyto(x, v, "unsafe", where=m)


@pytest.mark.parametrize("dtype", ["int8", "uint8", "float32", "bool"])
def test_copyto_casts_as_it_is_told(dtype: str) -> None:
    """It stored numbers as subscripts do, and floats into integers, NumPy wraps and refuses those."""
    for value in (np.int16(-300), np.uint8(200), 300, -1, True, 2.5, np.array(-300), np.float64(2.5), np.full(2, 2.5)):
        alike(copied, np.zeros(2, dtype), value)
        alike(copied_in_any_case, np.zeros(2, dtype), value, np.array([True, False]))


def never_bound_anew(x: Any, y: Any) -> None:
    for _ in range(2):
        if 2:
            pass
        else:
            y = 1
    y[-1] |= True


def sometimes_bound_anew(x: Any, y: Any, k: int) -> None:
    for i in range(3):
        if i < k:
            y = y + 1
            continue
    y[0] = 7


def stores_then_raises(x: Any, y: Any, k: int) -> None:
    y[1] = 1
    x[0] = k


def test_a_store_before_a_failing_one_is_made_where_arguments_overlap() -> None:
    """`hoist_guards`: the memory that both share was taken for nobody's, and the check went before the store."""
    memory, wanted = np.zeros(8, np.uint64), np.zeros(8, np.uint64)
    for function, m in ((transkern.compile(stores_then_raises, target="cpu"), memory), (stores_then_raises, wanted)):
        with pytest.raises(OverflowError, match="Python integer -1 out of bounds for uint64"):
            function(m[:7], m[1:], -1)
    assert list(memory) == list(wanted) == [0, 0, 1, 0, 0, 0, 0, 0]


def test_a_name_that_no_iteration_binds_anew_keeps_its_memory() -> None:
    """The store went into a copy."""
    memory, wanted = np.zeros(8, np.uint8), np.zeros(8, np.uint8)
    transkern.compile(never_bound_anew, target="cpu")(memory[1:], memory[:-1])
    never_bound_anew(wanted[1:], wanted[:-1])
    assert list(memory) == list(wanted)


@pytest.mark.parametrize("k", [0, 1, 3])
def test_a_name_that_some_iteration_binds_anew(k: int) -> None:
    y, wanted = np.zeros(4), np.zeros(4)
    sometimes_bound_anew(wanted, wanted, k)
    try:
        transkern.compile(sometimes_bound_anew, target="cpu")(y.copy(), y, k)
    except transkern.CompileError:
        return
    assert list(y) == list(wanted)


def stored_before_bound_anew(x: Any, y: Any, p: Any) -> None:
    if x[0] > 0:
        y = p
    n = 0
    while n < 2:
        v = y
        v[2] = 1
        y = v + 1
        n += 1


def test_what_a_loop_stores_into_before_it_binds_it_anew() -> None:
    """What one of several arrays showed was stored into a copy of it."""
    for sign in (1, -1):
        alike(stored_before_bound_anew, sign * np.ones(3), np.ones(3), np.ones(3) * 2)


def through_its_own_mask(x: Any, y: Any) -> None:
    x[y] = True


def test_a_mask_in_the_same_memory_is_refused() -> None:
    """NumPy reads the mask while it stores, run by run."""
    x = np.array([True, False, True, False])
    with pytest.raises(transkern.CompileError, match="a mask that shares memory with the array"):
        transkern.compile(through_its_own_mask, target="cpu")(x[1:], x[:-1])
    alike(through_its_own_mask, x, ~x)


def single_numbers(x: Any, a: Any) -> Any:
    return x.sum(), x.mean(), a.sum(axis=1), a @ a, np.dot(a, a[0]), np.inner(x, x), sum(x), x.sum(keepdims=True)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex128])
def test_sums_of_one_number(dtype: type) -> None:
    """A sum begins with 0.0, which makes 0.0 of -0.0; a product of two numbers is no sum."""
    if dtype is np.complex128:
        alike(lambda x: (x.sum(), x.mean()), np.array([complex(-0.0, -0.0)]))
        return
    alike(single_numbers, np.array([-0.0], dtype), np.array([[-0.0]], dtype))
    alike(single_numbers, np.array([-0.0], dtype), np.array([[2.0]], dtype))


def number_or_position(x: Any, p: Any, k: int) -> None:
    x[p] = k


def number_or_own_position(x: Any, p: int, k: int) -> None:
    x[p] = k


@pytest.mark.parametrize("k", [7, 300])
def test_which_error_of_a_store_comes_first(k: int) -> None:
    """With positions in an array the number is looked at first, with one position the position."""
    for p in (2, 9):
        alike(number_or_position, np.zeros(3, np.int8), np.array([p]), k)
        alike(number_or_own_position, np.zeros(3, np.int8), p, k)


def left_by_an_inner_loop(a: Any) -> Any:
    """The view that a generator's own `v` is not read by what comes later."""
    best = 0
    for i in range(len(a)):
        for j in range(len(a)):
            views = [a[i, :j][::-1], a[i + 1 :, j]]
            if any((v < a[i, j]).all() for v in views):
                best += 1
            for v in views:
                best += len(v)
    return best


def test_names_of_comprehensions_are_their_own() -> None:
    """What another scope's name stands for was carried by the loop, with a size that only the loop knew."""
    alike(left_by_an_inner_loop, np.arange(25).reshape(5, 5) % 7)


def one_list_of_two(x: Any) -> Any:
    y = [v for v in x if v > 0]
    z = [v for v in x if v < 0]
    both = y if x[0] > 0 else z
    y.append(1.0)
    return both


def list_seen_later(x: Any) -> Any:
    best, most = None, -9.0
    for i in range(len(x)):
        now = [v for v in x if v < x[i]]
        if x[i] > most:
            best, most = now, x[i]
        now.append(1.0)
    return best


def pair_seen_later(x: Any) -> Any:
    best, most, now = None, -9.0, [0, 1]
    for i in range(len(x)):
        now[0] = i
        if x[i] > most:
            best, most = (i, now), x[i]
    return best


def pair_changed_in_the_next(x: Any, n: int) -> Any:
    best, now = [9, 9], [0, 1]
    for i in range(n):
        now[0] = i
        if x[i] > 1:
            best = now
    return best


@pytest.mark.parametrize("function", [one_list_of_two, list_seen_later])
def test_a_list_that_has_another_name(function: Callable[..., Any]) -> None:
    """Its copy is what a name stood for that is one of several lists: it did not see the change."""
    for x in (np.array([1.0, -1.0, 2.0, 0.5]), np.array([-1.0, 3.0])):
        alike(function, x)


def test_a_pair_that_has_another_name() -> None:
    alike(pair_seen_later, np.array([1.0, -1.0, 2.0, 0.5]))
    alike(pair_changed_in_the_next, np.array([1.0, -1.0, 2.0, 0.5]), 4)


class Counter:
    def __init__(self) -> None:
        self.n = 0
        self.items = [1, 2]

    def next(self) -> int:
        self.n += 1
        return self.n


def counts_on_one_side(c: Any, k: int) -> Any:
    last = 7
    a = c.next() if k > 0 else -1
    if k > 1 and (last := c.next()) > 0:
        a += 1
    if k < 2 or c.next() > 1:
        a += 2
    return a, last, (q := k * 2) if k > 0 else (q := -1), q


def conditions_in_conditions(x: Any, k: int) -> Any:
    total = 0
    for i in range(len(x)):
        if k == 3 or (k == 2 and x[x[i] % 3]) or (x[i] > 1 and not (i and x[-1])):
            total += x[i]
        while total > 9 and (k < 2 or x[0]):
            total -= 3
    return total


@pytest.mark.parametrize("k", [1, 2, 3])
def test_conditions_in_conditions(k: int) -> None:
    """Of `a or (b and c)` only the truth matters in a condition, whatever types the operands have."""
    alike(conditions_in_conditions, np.arange(5), k)


@pytest.mark.parametrize("k", [0, 1, 2])
def test_effects_of_one_side(k: int) -> None:
    """What a side of a conditional expression, or a later operand of `and`, does to objects is done only there."""
    found, wanted = Counter(), Counter()
    assert transkern.compile(counts_on_one_side, target="cpu")(found, k) == counts_on_one_side(wanted, k)
    assert vars(found) == vars(wanted)


def quantiles(y: Any, a: Any, q: float) -> Any:
    return (
        np.percentile(y, 30), np.quantile(a, 0.7, axis=0), np.nanpercentile(a, 33, axis=1), np.percentile(y, q),
        np.percentile(y, 37, method="midpoint"), np.percentile(y, [10, 30]), np.quantile(y, np.float32(0.3)),
        np.quantile(y, 0), np.quantile(a, 1, axis=1),
    )  # fmt: skip


@pytest.mark.parametrize("dtype", ["float32", "float64", "int16"])
def test_quantiles_round_as_numpys(dtype: str) -> None:
    """`1 - fraction` was taken in the array's type; with an integer for a fraction it is an element, of its type."""
    rng = np.random.default_rng(0)
    for n in (1, 2, 7, 12):
        y, a = (10 * rng.normal(size=n)).astype(dtype), (10 * rng.normal(size=(5, n))).astype(dtype)
        y[0] = 0
        alike(quantiles, y, a, 61.7)


@pytest.mark.parametrize("dtype", ["float32", "int16"])
def test_quantiles_of_no_elements(dtype: str) -> None:
    """They were 0.0."""
    for shape in ((0,), (0, 3), (3, 0)):
        for q in (0.0, 0.3, 1):
            alike(lambda x, q=q: np.quantile(x, q, axis=0), np.zeros(shape, dtype))
            alike(lambda x, q=q: np.quantile(x, q, method="lower"), np.zeros(shape, dtype))
        alike(lambda x: np.nanpercentile(x, 30), np.zeros(shape, dtype))


def medians(x: Any, a: Any) -> Any:
    return np.median(x), np.median(a, axis=0), np.median(a, axis=1), np.nanmedian(a), np.nanmedian(a, axis=0)


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex128"])
def test_medians_are_no_negative_zeros(dtype: str) -> None:
    """A median is a mean, which begins with 0.0."""
    for n in (1, 2, 3, 16):
        alike(medians, np.full(n, -0.0, dtype), np.full((2, n), -0.0, dtype))


def one_array_of_two_names(x: Any) -> Any:
    a = b = np.zeros(3)
    a[0] = x[0]
    b = b + 1
    a[1] = 5
    c = d = x * 2
    d += 1
    return a, b, c, d


class Gate:
    def __init__(self) -> None:
        self.n = 0

    def passes(self, v: float) -> bool:
        self.n += 1
        return v > 0


def asked_in_the_head(x: Any) -> Any:
    gate, i, j = Gate(), 0, 0
    while i < len(x) and gate.passes(x[i]):
        i += 1
    v = 9.0
    while j < len(x) and (v := x[j]) > 0:
        j += 1
        if j == 2:
            continue
    return gate.n, i, j, v


@pytest.mark.parametrize("x", [np.array([3.0, 1.0, -2.0, 5.0]), np.array([-3.0, 1.0, 2.0]), np.array([1.0, 2.0, 3.0])])
def test_what_is_seen_under_other_names(x: Any) -> None:
    """``a = b = array`` are one array; what a loop's condition does counts also when it does not hold."""
    alike(one_array_of_two_names, x)
    alike(asked_in_the_head, x)


X = np.array([0.5, -1.25, 2.0, -0.0])


def stored_through_a_list(x: Any) -> Any:
    rows = []
    for i in range(len(x)):
        rows.append(x[i])
    rows[0][1] = 5.0
    return x


def test_arrays_in_lists_that_are_seen_elsewhere_are_not_stored_into() -> None:
    """`putting.put` copies an array into its list's memory: a store into the element missed the array itself."""
    with pytest.raises(transkern.CompileError, match="a store into an array in a list, which is `x`, too"):
        transkern.compile(stored_through_a_list, target="cpu")(np.ones((3, 2)))


def popped_numbers(x: Any, k: int) -> Any:
    stack = [0, 1.5]
    for i in range(k):
        stack.append(i * 3)
        if x[i] > 0:
            stack.append(0.5 + i)
    doubled = []
    while stack:
        v = stack.pop()
        doubled.append(v * 2)
    return doubled


def popped_floats(x: Any) -> Any:
    stack = [0.25]
    for i in range(len(x)):
        stack.append(x[i])
    v = stack.pop()
    while len(stack) > 1:
        v = stack.pop()
    w = stack.pop()
    return v * 2, w + 1.0


def test_numbers_that_are_popped_keep_their_types() -> None:
    """`making.held` forgot of which type a number of a list of several types is; so did `append` of what it makes."""
    alike(popped_numbers, X, 3)
    alike(popped_floats, X)


def chosen_numbers(x: Any, s: Any, z: int) -> Any:
    found = []
    for i in range(len(x)):
        if x[i] >= 0:
            found.append(s if i >= z else x[0])
    return found


def numbers_on_two_paths(x: Any, s: Any, z: int) -> Any:
    found = []
    for i in range(len(x)):
        if i >= z:
            found.append(s)
        else:
            found.append(x[0])
    return found


def sum_of_chosen_numbers(x: Any, s: Any, z: int) -> Any:
    return np.sum([x[0] if i < z else 0.5 for i in range(len(x)) if x[i] >= 0])


def test_python_numbers_are_not_rounded_in_lists_of_narrow_floats() -> None:
    """`putting.put` made a float32 of 2.1, which came back as 2.0999999; and an array of such a list was of float32."""
    x = np.arange(5, dtype=np.float32) + np.float32(0.5)
    for function in (chosen_numbers, numbers_on_two_paths):
        alike(function, x.astype(np.float64), np.float64(2.1), 3)
    for s in (2, 2.1):
        with pytest.raises(transkern.CompileError, match="which a NumPy float32 does not hold"):
            transkern.compile(chosen_numbers)(x, s, 3)
        alike(numbers_on_two_paths, x, s, 3)
    alike(sum_of_chosen_numbers, x.astype(np.float64), 2.1, 3)
    with pytest.raises(transkern.CompileError, match="an array of a list whose elements differ in type"):
        transkern.compile(sum_of_chosen_numbers)(x, 2.1, 3)


def added_in_place(k: int) -> Any:
    near: list[list[int]] = [[] for _ in range(k)]
    for i in range(k):
        near[i % 2].append(i)
    first = near[0]
    near[0] += [77]
    return len(first), near


class Halved:
    def __init__(self, a: Any) -> None:
        self.a = a

    @property
    def b(self) -> Any:
        return self.a * 2

    @b.setter
    def b(self, value: Any) -> None:
        self.a = value / 2 + 1


def set_by_a_property(x: Any) -> Any:
    one = Halved(x[0])
    one.b = 5.0
    return one.a, one.b


class Groups:
    def __init__(self) -> None:
        self.means = [0.0, 0.0]
        self.__rounds = 0

    def __round(self, k: int = 1) -> int:
        self.__rounds += k
        return self.__rounds

    def step(self, x: Any) -> None:
        old = self.means
        if x > 0:
            old[0] = x
        else:
            self.means = [1.0, 2.0 * self.__round()]


def bound_anew_on_a_path(x: Any) -> Any:
    groups = Groups()
    groups.step(x[0])
    return groups.means[0], groups.means[1]


def rows_found(x: Any) -> Any:
    for i in range(len(x)):
        if x[i] > 0.5:
            found = []
            for k in range(i + 1):
                found.append([x[k], k])
            return found
    return None


def rows_found_inside(x: Any) -> Any:
    return rows_found(x)


def test_what_stands_under_several_names() -> None:
    """``rows[0] += more`` bound a new list (`assigning.augment`); setters of properties were not called; lists that one
    of two paths makes, or an iteration, were lost (`branching.merge_heaps`, `carried.LoopState`)."""
    alike(added_in_place, 6)
    alike(set_by_a_property, X)
    for x in (X, -X, np.zeros(3)):
        alike(bound_anew_on_a_path, x)
        alike(rows_found_inside, x)


def nan_among_names(s: Any, x: Any) -> Any:
    t = s
    if s in (s, 2.0):
        x -= 1
    same = (s, 1) == (s, 1), [s] != [t], (s, 1) < (t, 2), ((s, 1), 2) in (((t, 1), 2),)
    return same, t in (3, s), s in (s + 0.0, 1), s == t, (x[0],) == (x[0],), s not in (1.0, t)


def test_an_object_is_equal_to_itself() -> None:
    """Containers take a NaN for equal to itself, where `==` does not (`iterating.contains`, comparisons of tuples)."""
    for s in (np.nan, 2.0, 1.5, np.float32("nan")):
        alike(nan_among_names, s, np.array([8, 3], "uint64"))


def add_one(v: Any) -> None:
    v += 1


def stored_through_names(x: Any, m: Any) -> Any:
    a, b, c, d = (np.concatenate((x[m], x)) for _ in range(4))
    v = np.concatenate((x[m], x))
    w = v
    w += 1
    add_one(v)
    u = np.append(x[m], x)
    pair = (u, u)
    pair[0][0] = 5
    view = a[1:]
    view *= 2
    named = b
    named.fill(3)
    np.add(c, 1, out=c)
    d[0] = 9
    d.sort()
    return v, w, u, pair, a, b, c, d


def added_to_joined(x: Any, m: Any) -> Any:
    v = np.concatenate((x[m], x))
    v += 1.5
    return v


def test_stores_into_what_is_joined() -> None:
    """Filters put together are evaluated before a store: their names kept what they had (`Assigning.settle`)."""
    x = np.array([1, 2, 3, 4], np.int8)
    for m in (x > 1, x > 9):
        alike(stored_through_names, x, m)
    alike(added_to_joined, x, x > 1)


def powers(x: Any, y: Any, m: Any) -> Any:
    return x[m] ** (-1), x[m] ** y[m], x[m] ** y[0], x[4:] ** (-1), np.power(x[m], y[m])


def power_in_place(x: Any, y: Any, m: Any) -> Any:
    x[m] **= y[m]
    x[4:] **= -1
    return x


def test_negative_powers_of_no_integers() -> None:
    """They are an error for elements that are there, not for those left out (`elementwise._power`)."""
    x, y = np.array([1, 2, 3, 4]), np.array([-1, 1, 2, -3])
    for m in (x > 1, x > 9, y > 0):
        alike(powers, x, y, m)
        alike(power_in_place, x, y, m)


def numbers_beside(a: Any, k: int, t: int) -> Any:
    chosen = a[:, 0, 0] > t
    found = a[chosen, k], a[[0, 1], None, k], a[[0, 2], :, k]
    a[chosen, k] = 5
    a[[0, 2], k] += 1
    return found


def test_numbers_beside_arrays_in_subscripts() -> None:
    """They are checked first, also where the arrays choose nothing (`arrays._advanced_plan`)."""
    for k in (0, -2, 2, -3):
        for t in (0, 30):
            alike(numbers_beside, np.arange(24.0).reshape(3, 2, 4), k, t)


def as_long_as_told(a: Any, b: Any, k: Any) -> Any:
    return a[: int(k)] + b


def test_sizes_that_numbers_of_run_time_decide() -> None:
    """A length of 1 gets code of its own, whatever number it comes from; it did not settle for NumPy's, and floats."""
    for k in (np.int64(3), np.int64(1), 1.5, np.float32(1)):
        alike(as_long_as_told, np.arange(3.0), np.arange(3.0), k)


def turns_in_known_iterations(x: Any, y: Any) -> Any:
    k = 0
    while k < len(x):
        if x[0] > 1:
            for _ in range(0, len(x), 2):
                x, y = y, x
        x[0] += 1
        k += 2
    return x


def test_turns_inside_of_a_while_that_is_written_out() -> None:
    """What comes after names changed places are the other iterations, too (`looping.unrolled_while`): they were left
    out. With them, stores would go into one array or the other, which is refused."""
    with pytest.raises(CompileError, match="a store into `x`, which is one of several arrays"):
        transkern.compile(turns_in_known_iterations, target="cpu")(np.arange(7) + 3, np.arange(7) + 4)


def backwards_and_ravelled(x: Any) -> Any:
    v = x + 1
    v = v[::-1]
    w = v.ravel()
    w[...] = 0
    u = (x * 2)[::-1].reshape(-1, 1)
    u[0] = 7
    return v, w, u


def test_a_copy_of_what_runs_backwards_stays_one() -> None:
    """`assigning._reordered`: an array put in order was contiguous, and so `ravel` gave a view of it."""
    alike(backwards_and_ravelled, np.arange(4.0))
    alike(backwards_and_ravelled, np.arange(1))


class Doubled:
    """What it is multiplied by does not matter, but for being a type."""

    def __init__(self, v: float) -> None:
        self.v = v

    def __rmul__(self, other: Any) -> Any:
        return self.v * 3 if isinstance(other, type) else self.v * 2


def product(x: Any, y: Any) -> Any:
    return x * y


def test_types_as_left_operands_of_objects() -> None:
    """`object_operators._handed` called `item` of NumPy's types, which have it too; found by generated calls."""
    compiled = transkern.compile(product, target="cpu")
    for x in (np.float32, np.ndarray, int, np.float64(3.0), 2):
        wanted, found = product(x, Doubled(1.5)), compiled(x, Doubled(1.5))
        assert found == wanted and type(found) is type(wanted)


def clusters(x: Any) -> Any:
    means: Any = []
    members: Any = []
    for j in range(len(x)):
        index = -1
        for i in range(len(means)):
            if abs(means[i] - x[j]) < 1:
                index = i
        if index != -1:
            members[index].append(x[j])
            means[index] = sum(members[index]) / len(members[index])
        else:
            members.append([x[j]])
            means.append(x[j])
    return np.array(means)


def test_rows_that_the_first_pass_over_a_loop_makes() -> None:
    """`making.new_rows`: what says where rows begin was declared by the first `append` only, in the other branch
    (KeyError, an inner error)."""
    alike(clusters, np.arange(9.0) * 0.4)
    alike(clusters, np.array([5.0, 1.0, 5.5, 1.25, 9.0, 5.25]))
    alike(clusters, np.zeros(1))


def never(x: Any, y: Any) -> Any:
    k = 0
    while k < len(x) and 2 <= 0:
        for i in range(2):
            y[-i - 1] = 2.0
        x[y >= k] = x[y >= k] - 1
        k += 1
    return k


@pytest.mark.parametrize("target", ["cpu", "cuda", "pallas"])
def test_loops_that_nobody_comes_by(target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """`test_first`: checks in such a loop had gone, as nothing fails there, and JAX traced slices before the first
    element of an array of one (fuzz, Pallas, seed 89000336)."""
    compiled = transkern.compile(never, target=on_target(target, monkeypatch))
    for n in range(3):
        x, y = np.arange(n), np.ones(n)
        assert compiled(x, y) == 0 and list(y) == [1.0] * n and list(x) == list(range(n))


def reversed_set(x: Any) -> Any:
    return [v * x[0] for v in reversed({1, 2})]


def reversed_number(x: Any) -> Any:
    return list(reversed(len(x)))  # type: ignore[call-overload]


def real_of_a_list(x: Any) -> Any:
    return "%.2f" % [], x  # type: ignore[str-format]


def real_of_numbers(x: Any) -> Any:
    return "%.2f" % [x[0], 2]  # type: ignore[str-format]


@pytest.mark.parametrize(
    "function", [reversed_set, reversed_number, real_of_a_list, real_of_numbers], ids=lambda f: f.__name__
)
def test_what_is_no_sequence_and_no_number(function: Callable[..., Any]) -> None:
    """`reversed` of a set had a result, and so had ``"%.2f" % []`` (found by `make questions`)."""
    wanted, found = (call(f, [np.arange(1.0, 4)]) for f in (function, transkern.compile(function, target="cpu")))
    assert wanted.error is not None and not difference(found, wanted), found


_MASKS = (
    ((3,), (2,)), ((3, 4), (2, 4)), ((3, 4), (3,)), ((3, 4), (2, 3, 4)), ((1, 4), (2, 4)), ((1,), (2,)), ((0,), (2,)),
    ((3,), (0,)), ((1,), (0,)), ((3, 4), (4,)), ((3, 4), (3, 1)), ((3, 4), (1, 1)), ((3, 4), ()), ((2, 3, 4), (5, 4)),
)  # fmt: skip


def masked_sum(x: Any, m: Any) -> Any:
    return x.sum(axis=0, where=m)


def masked_maximum(x: Any, m: Any) -> Any:
    return np.max(x, where=m, initial=-1)


def masked_any(x: Any, m: Any) -> Any:
    return np.any(x > 0, where=m)


def masked_mean(x: Any, m: Any) -> Any:
    return x.mean(axis=-1, where=m)


@pytest.mark.parametrize(
    "function", [masked_sum, masked_maximum, masked_any, masked_mean], ids=lambda f: f.__name__
)
def test_masks_of_reductions_stretch_nothing(function: Callable[..., Any]) -> None:
    """`reductions.chosen`: a mask larger than what is reduced stretched that, where NumPy raises (a wrong result); of a
    mask that does not fit, NumPy's text speaks of remapped shapes (fuzz, CPU, seed 91004621)."""
    compiled = transkern.compile(function, target="cpu")
    for shape, of_mask in _MASKS:
        given = [np.ones(shape), np.ones(of_mask, bool)]
        wanted, found = call(function, given), call(compiled, given)
        assert not difference(found, wanted), (shape, of_mask, found, wanted)
