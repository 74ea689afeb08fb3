"""What passes and printers got wrong; found by generated programs (`make fuzz`)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.regressions.support import alike
from tests.tools import on_target, require
from transkern.fuse.filters.quotients import simplify_repeated
from transkern.fuse.scalars.hoist import hoist_gathers
from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Apply, Load, Var
from transkern.ir.traverse import own_exprs, walk, walk_expr

require("cc")


def own_positions(x: Any, p: Any) -> Any:
    """`lower`: where a point stores is read before any point has stored."""
    x[x % len(x)] = p
    return x


def axis_named_as_parameter(b: Any, k: int) -> Any:
    """`name_axes`: a loop variable took the name of a parameter that the kernel is given."""
    b[b > 2] = k
    return b


def smallest_of_filter(x: Any) -> Any:
    """`targets/cpu`: a conditional expression stood without parentheses in a comparison."""
    return x[x > 1].min()


def reciprocal(x: Any) -> Any:
    """`targets/clike`: the reciprocal of an integer 0 is what NumPy makes of it."""
    return np.reciprocal(x)


def to_unsigned(x: Any) -> Any:
    """`targets/clike`: C says nothing about the cast of a negative number to an unsigned type."""
    made = np.zeros(1, np.uint64), np.zeros(1, np.uint32)
    made[0][0] = x[0]
    made[1][0] = x[0]
    return x.astype(np.uint64), x[:1].astype(np.uint32), made


def there_and_back(x: Any) -> Any:
    """`targets/clike`: GCC takes a cast to an integer and back for `trunc`: -0.0 for -0.5, and no wrapping."""
    whole = np.empty(len(x))
    for i in range(len(x)):
        whole[i] = float(int(x[i]))
    return x.astype(np.int64) + x, x.astype(np.int32) * 1.0, x.astype(np.int8) * 1.0, x.astype(np.int16) + x, whole


def check_of_computed(a: Any) -> None:
    """`parallelise`: a check inside a branch took a name that the loop computes for known."""
    for _ in range(1, a.shape[1]):
        v = 0.0
        for _ in range(1):
            v += 1
            v *= 1 if a[1, 0] else int(v)


def sum_of_one_number(x: Any) -> Any:
    """The front end: a sum over no axis begins with 0.0 too."""
    return x[1].sum(), x[1].mean(), np.sum(x[1] * 1j)


def sums_along_one(a: Any) -> Any:
    """`lower`: a sum of one element begins with 0.0 too."""
    return a.sum(), a.mean(0), a.sum(1), np.einsum("ij->i", a), a @ np.ones(a.shape[1])


def number_that_wraps(c: Any, a: Any) -> Any:
    """`build.cast`: -1 as a uint8 was printed as one of 32 bits."""
    v = np.zeros(len(a), np.int64)
    v[:] = np.where(c, a, -1)
    return v, np.where(c, a, -1) * np.int64(3)


def checks_of_one_number(x: Any, y: Any, s: float) -> None:
    """`share_values`: what one accumulator was given twice was taken for another one's, and it was dropped."""
    for i in range(2):
        if y[i]:
            pass
        x[i] = max(int(s), int(s))


def filter_that_nobody_reads(y: Any) -> None:
    """`contract_temporaries`: with a filter went the store that had been fused into it."""
    chosen = y >= 2
    y[chosen] = 1
    y[chosen]


def chosen_terms(x: Any, k: int) -> Any:
    """`parallelise`: in ``v + e if c else v`` the sum itself was taken for what is added."""
    u, v, w = 0, np.int64(3), np.int64(k)
    for i in range(len(x)):
        u = u + 2 if x[i] > 0 else u
    for i in range(len(x)):
        v = v - x[i] if x[i] > 1 else v
        w = w * x[i] if x[i] > 5 else w
    return u, v, w


def empty_columns(a: Any) -> Any:
    """`share_values`: what a filter keeps read a name that its body no longer bound."""
    a = np.abs(a)
    a[:, a.sum(axis=0) == 0] = 1
    return a / a.sum(axis=0)


def first_two(x: Any) -> Any:
    """`share_values`: what a parallel loop had changed was taken for what had been read before it."""
    q = [[int(v)] for v in x]
    a = q.pop(0)
    b = q.pop(0)
    return a + b, q


def array_that_no_loop_runs_along(x: Any, a: Any, u: Any, z: Any) -> None:
    """`place_kernels`: the size of an array that a kernel allocates was not handed to it, where only that needs it."""
    a[1, ::2] = u[::2]
    for _ in range(1):
        v = x * 2
        for k in range(a.shape[1]):
            assert (k if k else z) >= v[0]


def powers_of_two(k: int, j: int) -> Any:
    """`targets/clike`: a shifted 1 was an int of 32 bits; Python's own rules for the number of places."""
    return 1 << k, 2**k, 5 >> j, -5 >> j


def shifted_back(k: int, j: int) -> Any:
    return k << j


def products_of_constants(c: Any) -> Any:
    """`targets/clike`: constants that a condition chooses were multiplied as ints of 32 bits."""
    chosen = np.where(c, np.int64(70000), 1)
    return (70000 if c[0] else 1) * (-70000 if c[1] else 1), chosen * np.where(c, np.int64(70000), 2)


def changed_in_a_branch(x: Any, y: Any, k: int) -> Any:
    """`contract_temporaries`: an array took the memory of a result that is allocated around the branch it lives in."""
    if k:
        y = y[np.arange(x.shape[0])]
        y[x < 1] += 1
    return y


def columns_that_a_condition_skips(x: Any, b: Any) -> None:
    """`block_lanes`: what stands behind `continue` was taken apart from it, and ran in any case."""
    for i in range(1, len(x), 2):
        if x.argmin() <= 1:
            continue
        b[1:-1, i] = 1


def axis_named_as_a_value_before(a: Any) -> Any:
    """`name_axes`: a loop variable took the name of a value that stands before the loop."""
    j = int(a[0, 0]) + 2
    a *= 2
    return a, j, j * a


def tried_only(a: Any, k: int) -> Any:
    """`contract_temporaries`: a step of a library whose result nobody reads went with the error that it raises."""
    np.linalg.cholesky(a) if k else np.partition(a, 2)
    return k


def list_that_nobody_reads(x: Any, k: int) -> Any:
    """`close_gaps`: a loop in which nothing is left had no last statement."""
    at = 0
    while at < len(x) and k == k:
        found = []
        for _ in range(len(x)):
            if at > 1:
                found.append(2.0)
        held = np.array(found, dtype=np.float64)  # noqa: F841
        at += 2
    return at


@pytest.mark.parametrize(
    "function, arguments",
    [
        (list_that_nobody_reads, (np.arange(5), 1)),
        *((tried_only, (a, k)) for a in (np.zeros((2, 2)), np.eye(3)) for k in (0, 1)),
        (axis_named_as_a_value_before, (np.ones((3, 2), np.uint8),)),
        (columns_that_a_condition_skips, (np.arange(7.0), np.zeros((5, 7), np.uint8))),
        (columns_that_a_condition_skips, (-np.arange(7.0), np.zeros((5, 7), np.uint8))),
        (changed_in_a_branch, (np.arange(4.0) - 1, np.ones(4), 1)),
        *((powers_of_two, (k, j)) for k, j in ((3, 1), (31, 31), (40, 63), (62, 64), (0, 200), (1, -1))),
        (shifted_back, (3, -2)),
        (products_of_constants, (np.array([True, True, False]),)),
        (array_that_no_loop_runs_along, (np.zeros(0, np.uint64), np.ones((0, 2)), np.ones(2), np.int8(5))),
        (array_that_no_loop_runs_along, (np.zeros(2, np.uint64), np.ones((2, 2)), np.ones(2), np.int8(5))),
        (first_two, (np.array([3, 1, 2]),)),
        (chosen_terms, (np.arange(-5, 9), 2)),
        (empty_columns, (np.array([[1.0, 0.0, 2.0], [3.0, 0.0, -4.0]]),)),
        (own_positions, (np.array([1, 0, 1, 7, 7, 7, 6], np.uint8), np.array([9, 8, 7, 3, 2, 1, 0]))),
        (axis_named_as_parameter, (np.arange(24.0).reshape(4, 3, 2), 1)),
        *((reciprocal, (np.array([0, 1, 2], d),)) for d in ("int16", "int32", "int64", "uint32", "uint64")),
        (sum_of_one_number, (np.array([0.0, -0.0]),)),
        *((sums_along_one, (np.full(shape, -0.0),)) for shape in ((1, 1), (1, 3), (3, 1))),
        *((number_that_wraps, (np.arange(5) > 2, np.arange(5).astype(d))) for d in ("u1", "u2", "u4", "u8", "i1")),
        *((checks_of_one_number, (np.ones(3), np.ones(2, np.int32), s)) for s in (2.5, np.nan, np.inf)),
        (filter_that_nobody_reads, (np.arange(7.0),)),
        *((reciprocal, (np.array([np.iinfo(d).max, 5], d),)) for d in ("uint8", "uint16", "uint64", "int64")),
        *((to_unsigned, (np.array([-2.5, -1, 300.7, np.nan, np.inf, -np.inf, 1e19], d),)) for d in ("f4", "f8")),
        *((there_and_back, (np.tile(np.array([-0.5, 300.7, -40000.5, 2.5], d), 8),)) for d in ("f4", "f8")),
        (check_of_computed, (np.ones((3, 4), bool),)),
        (smallest_of_filter, (np.array([2, -4, -1, 8, 3, 9, 4]),)),
    ],
    ids=lambda v: v.__name__ if callable(v) else "",
)
def test_gives_numpys_answer(function: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
    alike(function, *arguments)


def streamed(f: Any, ex: Any, ey: Any, h: int, w: int) -> Any:
    out = np.zeros_like(f)
    for i in range(h):
        for j in range(w):
            for k in range(f.shape[0]):
                out[k, (i + ey[k]) % h, (j + ex[k]) % w] = f[k, i, j]
    return out


def taken_round(x: Any, at: Any, size: int) -> Any:
    for k in range(len(at)):
        x[at[k] % size] += k
    return x


def test_remainders_of_data() -> None:
    """`prove_bounds`: what data leave when divided by a size is a position, where the size is one and above zero."""
    f, ex, ey = np.arange(24.0).reshape(2, 3, 4), np.array([-5, 9]), np.array([2, -1])
    alike(streamed, f, ex, ey, 3, 4)
    alike(streamed, f, ex, ey, 4, 4)
    alike(streamed, f, ex, ey, 0, 4)
    for size in (5, 3, 6, -5, -6, 1):
        alike(taken_round, np.zeros(5), np.array([-7, 3, 12, 2**62, -(2**63)]), size)


def beside_positions(x: Any, y: Any, u: Any) -> Any:
    y[y % 1] = 1
    for _ in range(u.size):
        x ^= 1
    return x, y


def test_lanes_beside_positions() -> None:
    """`block_lanes`: a buffer of positions has 8 bytes an element; it could not be compiled."""
    alike(beside_positions, np.arange(40, dtype=np.int16), np.arange(40), np.zeros(3))


def first_places(y: Any) -> Any:
    return np.unique(y, return_inverse=True)[1][:2]


def test_a_part_of_what_was_put_in_order() -> None:
    """`relabel_permuted`: the caller sees the order of an array of which a part is handed back."""
    alike(first_places, np.array([7, 1, 4, 1]))


def extremes_of_nothing(x: Any) -> Any:
    none = np.max(np.zeros(0), initial=-1), np.min(np.ones((2, 0)), axis=1, initial=5.0)
    return none, np.max(x[:0].astype(np.int8), initial=-7), np.min(np.zeros(0, np.uint8), initial=9), np.sum(x[:0] * 1j)


def test_extremes_of_nothing() -> None:
    """`lower`: a maximum over no elements was 0, and so was one with an `initial` below."""
    alike(extremes_of_nothing, np.arange(4.0))


def sums_of_chosen(x: Any, y: Any) -> Any:
    at = np.where(x > 0.5)[0]
    total = 0.0
    for k in range(4):
        total += (y[at] * k).sum()
    return total


def test_gathers_through_a_part_of_memory() -> None:
    """`hoist_gathers`: gathered through what a filter had not filled, from anywhere in memory."""
    for size in (0, 1, 40, 5000):
        rng = np.random.default_rng(size)
        alike(sums_of_chosen, rng.random(size), rng.integers(0, 9, size))


def library_steps_of_one_number(x: Any) -> Any:
    return np.unique(1) - x, np.unique(np.array(2.5)), np.sort(x[:1]), np.median(x[1])


def test_library_steps_of_arrays_without_axes() -> None:
    """`targets/clike`: a view of an array without axes has no first subscript."""
    alike(library_steps_of_one_number, np.arange(4.0)[::-1])


def test_loops_with_nothing_in_them() -> None:
    """`simplify_repeated`: looked for the last statement of a loop that has none."""
    inner = n.Loop("j", b.ZERO, b.size("n"), b.ONE, "parallel", ())
    outer = n.Loop("i", b.ZERO, b.size("n"), b.ONE, "sequential", (inner,))
    program = n.Program("f", (), {}, {}, {}, (outer,))
    assert simplify_repeated(program) == program


def filters_that_nobody_reads(x: Any, y: Any, p: Any) -> Any:
    for _ in y:
        kept = np.concatenate((y[((p == p) & (x > p))], p))
    return x, kept


def test_filters_begin_anew_in_each_iteration() -> None:
    """`settle_after_loop`: the count began anew after the loop only, and the filter outgrew its memory."""
    alike(filters_that_nobody_reads, np.arange(500.0)[::-1].copy(), np.arange(500.0), np.arange(500))


def filters_in_loops_with_checks_ahead(x: Any, y: Any, c: Any) -> Any:
    rest = 1 % len(x)
    for _ in range(2):
        for _ in np.where(x)[0]:
            y[-1] += np.median(1)
            last = c[2]  # noqa: F841
    return y, rest


def test_copies_of_loops_have_counts_of_their_own() -> None:
    """`with_names`: in a copy of a loop a filter set the count of the other one."""
    for size in (1, 2, 3, 9):
        alike(filters_in_loops_with_checks_ahead, np.arange(size), np.zeros(size), np.zeros((size, 2, 2), np.uint16))


def test_gathers_through_a_name_whose_place_is_set_anew() -> None:
    """`hoist_gathers`: ``x[i]`` was ``x_order[j]`` behind ``i = order[j]``, also where `j` was another by then."""
    size, j, i, p = b.size("n"), Var("j", "index"), Var("i", "int64"), Var("p", "index")
    gathered = (Load("x", (b.cast(e, "index"),), "float64") for e in (i, Load("order", (p,), "int64")))
    store = n.Store("out", (p,), Apply("add", tuple(gathered), "float64"))
    passed = n.Loop("p", b.ZERO, size, b.ONE, "parallel", (store,))
    buffers = {k: n.Buffer(k, d, (size,), "argument") for k, d in (("x", "float64"), ("order", "int64"))}
    buffers["out"] = n.Buffer("out", "float64", (size,), "argument")
    for again in (True, False):
        body = [n.Assign("j", Var("t", "index")), n.Let("i", Load("order", (j,), "int64"))]
        body += [n.Assign("j", b.sub(b.sub(size, b.ONE), Var("t", "index")))] if again else []
        loop = n.Loop("t", b.ZERO, size, b.ONE, "sequential", (*body, passed))
        made = hoist_gathers(n.Program("f", (), buffers, {"j": "index"}, {}, (loop,)))
        exprs = [x for s in walk(made.body[-1:]) for e in own_exprs(s) for x in walk_expr(e)]
        read = {x.buffer for x in exprs if isinstance(x, Load)}
        assert ("x" in read) is again
        assert "x_order" in read


def copied_before_it_changes(a: Any) -> Any:
    order = np.argsort(a) - 2
    before = order.astype(int)
    order[a[1] != 1] = 1
    return before


def kept_row_by_row(a: Any) -> Any:
    sums, kept = np.cumsum(a, axis=1), np.zeros_like(a)
    for i in range(len(a)):
        for j in range(a.shape[1]):
            kept[i, j] = sums[i, j]
            if a[i, j] > 2:
                sums[i, j] = -1
    return kept


@pytest.mark.parametrize("function", [copied_before_it_changes, kept_row_by_row])
def test_a_temporary_lives_in_a_result_until_it_is_stored_into(function: Callable[..., Any]) -> None:
    """`contract_temporaries` asked who reads it after its copy, not who stores (fuzz, seed 99607777)."""
    alike(function, np.arange(20.0).reshape(4, 5) % 7)
    alike(function, (np.arange(25) % 4).reshape(5, 5))


def less_what_the_iteration_finds(x: Any) -> Any:
    product = x.argmin()
    for i in range(2):
        at = 0
        for k in range(len(x)):
            if x[k] > 4:
                at = k
                break
        else:
            at = -1
        product *= i - at
    return product


def less_what_the_iteration_counts(x: Any) -> Any:
    total = np.argmin(x)
    for i in range(4):
        count = 3
        while count > 1:
            count -= 1
        total += (i + count) * (i + count)
    return total + len(x)


@pytest.mark.parametrize("function", [less_what_the_iteration_finds, less_what_the_iteration_counts])
def test_a_loop_starts_from_nothing_that_its_iterations_set(function: Callable[..., Any]) -> None:
    """`shift_loops` added to the range what the body assigns: C that does not compile (fuzz, seed 100002482)."""
    alike(function, np.arange(20.0) % 7)
    alike(function, np.zeros(3))


def beside_another_loop(x: Any, u: Any) -> Any:
    return np.convolve(x, [1, 2, 1], "same") * -1.5, np.ones((x.shape[0], len(u)))


def triangle_changed(x: Any, u: Any) -> Any:
    kept = {"a": 1, "b": np.tril(np.outer(x, u))}
    kept["b"] += 1
    return kept["a"] + kept["b"]


@pytest.mark.parametrize("function", [beside_another_loop, triangle_changed])
def test_loops_beside_each_other_share_names(function: Callable[..., Any]) -> None:
    """`split_windows` took the range of a loop from the loop beside it, whose axis bears the same name (fuzz, seed
    100104881); a copy of a loop had constants where it sets a variable again (100106230)."""
    for n_x in (1, 2, 3, 16):
        for n_u in (1, 2, 5, 20):
            alike(function, np.arange(n_x) % 5 - 2, np.arange(n_u) - 1.5)


def checked_where_a_scalar_says(x: Any, y: Any) -> Any:
    for i in range(1, len(x), 2):
        if not 1 < x.max() < y[i]:
            raise ValueError("wrong")
    return x.sum()


def checked_where_an_element_says(x: Any, y: Any, c: Any) -> Any:
    for i in range(len(x)):
        if c[0] and x[i] >= y[i]:
            raise ValueError("wrong")
    return x.sum()


@pytest.mark.parametrize("target", ["cpu", "cuda", "pallas"])
def test_checks_of_a_loop_under_a_condition(target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What they come to had no first value: it waited for a kernel that stood in the branch (fuzz, seed 100806678)."""
    target = on_target(target, monkeypatch)
    for x, y in ((3.0, 5), (3.0, 2), (0.5, 5)):
        alike(checked_where_a_scalar_says, np.full(9, x), np.full(9, y, np.uint16), target=target)
        for c in (True, False):
            alike(checked_where_an_element_says, np.full(9, x), np.full(9, y, np.uint16), np.array([c]), target=target)


def sums_of_rows_and_of_all(z: Any) -> Any:
    g = np.gradient(z, axis=1)
    return (z * g).sum(1), (z * 2.0).mean()


@pytest.mark.parametrize("shape", [(128, 128), (9, 128), (300, 8), (3, 3)])
def test_sums_of_short_rows_beside_one_of_all(shape: tuple[int, int]) -> None:
    """One loop made both, and only the longer was begun as sums of several parts are."""
    alike(sums_of_rows_and_of_all, np.arange(float(np.prod(shape))).reshape(shape) % 7)


def one_of_two_kept(a: Any) -> Any:
    rows, columns = np.nonzero(a)
    both = {"one": columns - columns[1], "two": columns <= columns.min()}
    return both["one"], rows


def test_filters_of_which_only_some_is_read() -> None:
    """`contract_temporaries` took the memory of what nobody reads, and left it to the filter (fuzz, seed 101103470)."""
    for shape in ((3, 4), (1, 2), (20, 17)):
        alike(one_of_two_kept, np.ones(shape, np.uint8))
        alike(one_of_two_kept, (np.arange(np.prod(shape)).reshape(shape) % 3).astype(np.uint8))
