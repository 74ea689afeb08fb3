"""Functions that calls are generated for: what a parameter takes, and a body whose arithmetic is exact.

Each parameter has a sort: `array` (anything with elements, of any rank), `vector` and `matrix` (of that rank, mostly),
`number`, `position`, `flag`, `text`, `pair` (a container of two), `table` (a dict), `list` (numbers), `any`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Callee:
    """A function, and the sort of each of its parameters; the last `optional` ones may be left out."""

    function: Callable[..., Any]
    sorts: tuple[str, ...]
    optional: int = 0


FUNCTIONS: list[Callee] = []


def takes(*sorts: str, optional: int = 0) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        FUNCTIONS.append(Callee(function, sorts, optional))
        return function

    return register


@takes("array")
def plus_one(x: Any) -> Any:
    return x + 1


@takes("array", "array")
def weighted(x: Any, y: Any) -> Any:
    return x * 2 - y


@takes("array", "number")
def scaled(x: Any, s: Any) -> Any:
    return x * s


@takes("vector")
def first_set(x: Any) -> Any:
    x[0] = 5
    return x


@takes("array", "array")
def added_into(x: Any, y: Any) -> Any:
    x += y


@takes("array", "any")
def filled(x: Any, v: Any) -> Any:
    x[...] = v
    return x


@takes("vector", "vector")
def swapped(x: Any, y: Any) -> Any:
    kept = x.copy()
    x[...] = y
    y[...] = kept


@takes("vector", "vector")
def shifted(x: Any, y: Any) -> Any:
    x[1:] = y[:-1]
    y += 1
    return x


@takes("array")
def total(x: Any) -> Any:
    return x.sum()


@takes("matrix")
def columns(a: Any) -> Any:
    return a.sum(axis=0), a.max(axis=1)


@takes("vector", "position")
def element(x: Any, k: Any) -> Any:
    return x[k]


@takes("vector", "position")
def tail(x: Any, k: Any) -> Any:
    return x[k:]


@takes("vector", "position", "number")
def stored(x: Any, k: Any, v: Any) -> Any:
    x[k] = v
    return x


@takes("array")
def described(x: Any) -> Any:
    return x.shape, x.ndim, x.size, x.dtype.kind


@takes("matrix")
def views(a: Any) -> Any:
    return a.T, a[::-1], a[:, ::2], a


@takes("matrix")
def ravelled(a: Any) -> Any:
    return np.ravel(a) + 0, a.reshape(-1).shape


@takes("array", "flag")
def perhaps(x: Any, flag: Any) -> Any:
    if flag:
        return x + 1
    return x * 2


@takes("vector", "position")
def looped(x: Any, n: Any) -> Any:
    total = 0
    for k in range(n):
        if k > 50:  # there are calls with 2**63
            break
        total = total + x[k % len(x)]
    return total


@takes("vector")
def positive(x: Any) -> Any:
    return x[x > 0]


@takes("vector")
def shrinking(x: Any) -> Any:
    found = []
    order = np.arange(len(x))
    while order.size > 0:
        found.append(order[0])
        order = order[1:][x[order[1:]] != x[order[0]]]
    return np.array(found)


@takes("pair")
def unpacked(p: Any) -> Any:
    a, b = p
    return a * 2, b


@takes("pair", "number")
def items(p: Any, s: Any) -> Any:
    return p[0] + s, p[1], len(p)


@takes("table")
def looked_up(d: Any) -> Any:
    return d["a"] + d["b"]


@takes("number", "number")
def numbers(s: Any, t: Any) -> Any:
    return s + t, s * t, s < t


@takes("position", "position")
def whole_numbers(k: Any, m: Any) -> Any:
    return k + m, k // 3, k % 7, -k, k == m


@takes("array", "array", "array")
def chosen(m: Any, x: Any, y: Any) -> Any:
    return np.where(m, x, y)


@takes("array")
def narrowed(x: Any) -> Any:
    return x.astype(np.float32)


@takes("array", "array")
def equal(x: Any, y: Any) -> Any:
    return x == y


@takes("vector", "vector")
def joined(x: Any, y: Any) -> Any:
    return np.concatenate((x, y))


@takes("list")
def listed(values: Any) -> Any:
    total = 0
    for v in values:
        total = total + v
    return total, len(values)


@takes("list", "position")
def of_list(values: Any, k: Any) -> Any:
    return values[k]


@takes("vector", "list")
def gathered(x: Any, at: Any) -> Any:
    return x[at]


@takes("array", "any", optional=1)
def defaulted(x: Any, y: Any = None) -> Any:
    return x + 1 if y is None else x + y


@takes("array", "text", optional=1)
def worded(x: Any, mode: Any = "twice") -> Any:
    if mode == "twice":
        return x * 2
    if mode == "half":
        return x / 2
    raise ValueError(f"unknown mode {mode!r}")


@takes("any")
def handed_back(x: Any) -> Any:
    return x


@takes("any", "any")
def as_they_come(x: Any, y: Any) -> Any:
    return x, y


@takes("vector", "position")
def sliced_to(x: Any, k: Any) -> Any:
    x[:k] = 1
    return x[:k].sum()


@takes("matrix", "vector")
def product(a: Any, x: Any) -> Any:
    return a @ x


@takes("matrix")
def relaxed(a: Any) -> Any:
    for _ in range(2):
        a[1:-1, 1:-1] = (a[:-2, 1:-1] + a[2:, 1:-1]) / 2
    return a


@takes("array")
def seen_otherwise(x: Any) -> Any:
    return np.atleast_2d(x), x[None], x.T, x.reshape(-1)


@takes("matrix")
def diagonals(a: Any) -> Any:
    return np.diagonal(a), np.diag(a, 1).sum(), a.trace()


@takes("vector", "number")
def into_rows(x: Any, s: Any) -> Any:
    rows = np.broadcast_to(x, (2, len(x)))
    x[0] = s
    rows[1][0] = s
    return rows


@takes("vector")
def sorted_here(x: Any) -> Any:
    x.sort()
    return x


@takes("vector", "any")
def put_first(x: Any, v: Any) -> Any:
    np.put(x, [0], v)
    return x


@takes("array", "number")
def limited(x: Any, s: Any) -> Any:
    return np.clip(x, -s, s) + 0.0  # of zeros, which bound's sign wins depends on how NumPy goes through memory


@takes("vector", "list")
def longer(x: Any, values: Any) -> Any:
    return np.append(x, values), np.concatenate((x, x[:1]))


@takes("array", "any")
def chosen_over(x: Any, v: Any) -> Any:
    return np.where(x > 0, x, v)


@takes("list", "number")
def grown(x: Any, v: Any) -> Any:
    made = np.array(x), list(x), range(len(x))
    x.append(v)
    return made, x, len(x)
