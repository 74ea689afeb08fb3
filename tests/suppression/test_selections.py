"""Positions that `np.where` and its like give, as they are taken apart, kept and used: NumPy's answer, whatever stands
between."""

import numpy as np
import pytest

import transkern
from tests.tools import on_target


def tuple_then_store(x, y):
    at = np.where(x > 0.5)
    x[:] = 0.0
    return y[at], at


def tuple_item_then_store(x, y):
    at = np.nonzero(x > 0.5)
    other = at[0]
    x[::2] = 1.0
    y[at] = 7.0
    return y[other], at[0], y


def tuple_stored_into(x, y):
    at = np.where(x > 0.5)
    at[0][:] = 1
    return y[at], at[0]


def tuple_unpacked_and_stored_into(x, y):
    at = np.where(x > 0.5)
    (k,) = at
    k[:2] = 2
    return y[at], k


def tuple_in_a_loop(x, y):
    at = np.where(x > 0.5)
    total = 0.0
    for k in range(4):
        x[k::4] *= 0.25
        total += y[at].sum() + x[at].sum()
    return total


def tuple_carried(x, y):
    at = np.where(x > 0.5)
    for _ in range(3):
        y[at] += 1.0
        at = np.where(y > 1.5)
    return y, at


def tuple_of_branches(x, y):
    if x.sum() > 3.0:
        at = np.where(x > 0.5)
    else:
        at = np.where(y > 0.5)
    x[:] = 3.0
    return y[at], len(at[0])


def tuple_in_containers(x, y):
    at = np.where(x > 0.5)
    held = {"at": at, "more": [at]}
    x[:] = 0.0
    return y[held["at"]], held["more"][0][0]


def tuples_in_a_list(x, y):
    found = []
    for k in range(3):
        at = np.where(x > 0.2 * k)
        found.append(at[0])
        x[k % max(len(x), 1) :] = 0.0
    return found


def _pair(x, y):
    at = np.where(x > 0.5)
    return at, y[at]


def tuple_from_a_function(x, y):
    at, _ = _pair(x, y)
    x[:] = -1.0
    return x[at], y[at]


def nested_tuples(x, y):
    both = np.where(x > 0.5), np.where(y > 0.5)
    x[:] = 2.0
    y[:] = 3.0
    return both[0][0], both[1][0], x[both[1]]


def tuple_read_in_a_loop(x, y):
    at = np.where(x > 0.5)
    total = 0.0
    for k in range(len(at[0])):
        total += y[at[0][k]] * k
    return total


def of_a_matrix(x, y):
    grid = x[: len(x) // 2 * 2].reshape(-1, 2)
    at = np.where(grid > 0.5)
    rows = np.argwhere(grid > 0.5)
    grid = grid * 2
    return grid[at], rows, rows[:, 1], len(rows), rows.shape


def of_three_axes(x, y):
    cube = x[: len(x) // 4 * 4].reshape(-1, 2, 2)
    found = np.argwhere(cube > 0.5)
    return found, found.sum(axis=0), [int(a) for a in found.ravel()]


def argwhere_shapes(x, y):
    found = np.argwhere(x > 0.5)
    return found, found.ravel(), found.flatten(), found.reshape(-1), found[:, 0], found.squeeze(1), found.T, found.shape


def take_from_none(x, y):
    return np.take(x[:0], np.where(x[:0] > 0)[0]), x.take(np.flatnonzero(x > 0.5))


def take_beyond(x, y):
    return np.take(y, np.where(x > 0.5)[0] + 2)


def take_from_empty(x, y):
    return np.take(y[:0], np.where(x > 0.5)[0])


def take_wrapped(x, y):
    return np.take(y, np.where(x > 0.5)[0] + 3, mode="wrap"), np.take(y, np.where(x > 0.5)[0] - 1, mode="clip")


def take_of_rows(x, y):
    grid = x[: len(x) // 2 * 2].reshape(-1, 2)
    return np.take(grid, np.flatnonzero(grid[:, 0] > 0.5), axis=0), np.take(grid, np.where(grid[:, 1] > 0.3)[0])


def deletes(x, y):
    return (
        np.delete(y, np.where(x > 0.5)), np.delete(y, np.nonzero(x <= 0.5)), np.delete(y, [np.where(x < 0.2)[0]]),
    )  # fmt: skip


def masked_and_stored(x, y):
    at = np.where(x > 0.5)
    y[at] = x[at] * 2
    x[at] += 1
    return x, y


def counts_of_one_mask(x, y):
    valid = x > 0.5
    a = x[valid].copy()
    b = y[valid].copy()
    a += b
    return a, a * b, len(a), a.shape


def counts_with_a_store_between(x, y):
    valid = x > 0.5
    a = x[valid].copy()
    valid[::2] = True
    b = y[valid].copy()
    return len(a), len(b), a.sum() + b.sum()


def counts_with_a_store_in_a_loop(x, y):
    valid = x > 0.3
    a = x[valid].copy()
    sizes = [len(a)]
    total = 0.0
    for k in range(3):
        b = y[valid].copy()
        sizes.append(len(b))
        total += b.sum()
        valid[k::4] = k != 1
    return sizes, total, len(a)


def counts_on_one_path(x, y):
    valid = x > 0.5
    total = 0.0
    if len(x) > 3:
        a = x[valid].copy()
        total += len(a)
    b = y[valid].copy()
    return total, len(b), b + y[valid]


def counts_by_a_changing_bound(x, y):
    least = 0.2
    out = []
    for _ in range(3):
        a = x[x > least].copy()
        least += 0.2
        b = y[x > least].copy()
        out.append(len(a) + 10 * len(b))
    return out


def counts_by_a_list(x, y):
    chosen = [v > 0.5 for v in x]
    a = y[np.array(chosen, dtype=bool)].copy()
    for k in range(len(chosen) // 2):
        chosen[k] = True
    b = y[np.array(chosen, dtype=bool)].copy()
    return len(a), len(b), a.sum() + b.sum()


def counts_of_what_is_overwritten(x, y):
    a = x[y > 0.5].copy()
    y *= 0.7
    b = x[y > 0.5].copy()
    y[:] = 1.0
    return len(a), len(b), x[y > 0.5]


CASES = (
    counts_of_one_mask, counts_with_a_store_between, counts_with_a_store_in_a_loop, counts_on_one_path,
    counts_by_a_changing_bound, counts_by_a_list, counts_of_what_is_overwritten,
    tuple_then_store, tuple_item_then_store, tuple_stored_into, tuple_unpacked_and_stored_into, tuple_in_a_loop,
    tuple_carried, tuple_of_branches, tuple_in_containers, tuples_in_a_list, tuple_from_a_function, nested_tuples,
    tuple_read_in_a_loop, of_a_matrix, of_three_axes, argwhere_shapes, take_from_none, take_beyond, take_from_empty,
    take_wrapped, take_of_rows, deletes, masked_and_stored,
)  # fmt: skip


def outcome(function, x, y):
    try:
        return function(x, y), None, x, y
    except Exception as error:
        return None, (type(error), str(error)), x, y


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("target", ["cpu", "cuda"])
def test_selection(case, target, monkeypatch):
    compiled = transkern.compile(case, target=on_target(target, monkeypatch))
    for k, n in enumerate((0, 1, 5, 40)):
        rng = np.random.default_rng(k)
        x, y = rng.random(n), rng.random(n)
        if n == 40:
            x[::7] = np.nan
        wanted, got = outcome(case, x.copy(), y.copy()), outcome(compiled, x.copy(), y.copy())
        same(got, wanted)


def same(got, wanted):
    assert type(got) is type(wanted), (got, wanted)
    if isinstance(wanted, (tuple, list)):
        assert len(got) == len(wanted)
        for g, w in zip(got, wanted, strict=True):
            same(g, w)
    elif isinstance(wanted, (np.ndarray, np.generic)):
        assert got.dtype == wanted.dtype
        np.testing.assert_allclose(got, wanted, rtol=1e-14, strict=True)
    else:
        assert got == wanted
