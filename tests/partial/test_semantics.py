"""Functions as users write them, in parts and in Python: results, identities, changes, effects, exceptions and lines.

PYTEST_DONT_REWRITE: pytest changes the texts of failing asserts, which are compared here.
"""

from __future__ import annotations

import contextlib
import copy
import functools
import gc
import io
import logging
import threading
import traceback
import warnings
from collections import namedtuple
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import transkern
from tests.tools import require

require("cc")

X = np.linspace(0.1, 2.0, 30)
SEEN: list[Any] = []
SCALE = 2.0
COUNT = 0
log = logging.getLogger("semantics")
CASES: dict[str, tuple[Callable[..., Any], Callable[[], list[tuple[Any, ...]]]]] = {}
Pair = namedtuple("Pair", "low high")


def case(*makers: Callable[[], tuple[Any, ...]]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """A function to be tried with arguments; with none, with the array X."""

    def taken(function: Callable[..., Any]) -> Callable[..., Any]:
        CASES[function.__name__] = function, lambda: [make() for make in makers or (lambda: (X.copy(),),)]
        return function

    return taken


def out(*values: Any) -> None:
    """What no kernel does: it tells the test what it has seen."""
    gc.isenabled()
    SEEN.append(copy.deepcopy(values))


class Foreign:
    """An object of a class that no kernel knows."""

    __slots__ = ("data", "extra")

    def __init__(self, data: Any) -> None:
        self.data, self.extra = data, []

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(name)

    def apply(self, function: Callable[..., Any]) -> Any:
        return function(self.data)

    def __len__(self) -> int:
        return len(self.data)


class Swallows:
    def __enter__(self) -> Swallows:
        return self

    def __exit__(self, *what: Any) -> bool:
        SEEN.append(what[0])
        return True


# --- names

@case(lambda: (X.copy(), True), lambda: (X.copy(), False))
def swallowed_assignment(x, fails):
    y = np.zeros(3)
    for k in range(len(x)):
        y[k % 3] += x[k]
    with contextlib.suppress(ValueError):
        y = int("a" if fails else "1")
    return y


@case()
def swallowed_raise(x):
    y = 0.0
    for v in x:
        y += v
    with Swallows():
        raise ValueError("no")
    return y


@case()
def nonlocal_changed_in_a_part(x):
    total = 0.0

    def add(v):
        nonlocal total
        total += v

    out()
    for v in x:
        add(v)
    s = total + x.sum()
    return s, total


@case()
def late_generator_expression(x):
    scale = 1.0
    g = (v * scale for v in x)
    out()
    scale = float(x.sum()) * 2
    t = sum(g)
    return t, scale


@case()
def generator_expression_sees_later_names(x):
    out()
    scale = x.sum()
    g = (v * scale for v in x)
    t = x.sum() + scale
    out()
    scale = 3.0
    return list(g), t, scale


@case()
def annotated_but_unbound(x):
    y: float
    out()
    s = 0.0
    for v in x:
        s += v
    out(s)
    t = s + x.sum() * 2
    return t + y  # noqa: F821


@case(lambda: (X.copy(), True), lambda: (X.copy(), False))
def walrus_in_a_condition(x, c):
    t = c and (b := x.sum())
    out(t)
    s = 0.0
    for v in x:
        s += v
    out(s)
    s = s + b
    for v in x:
        s += v
    return s


@case(lambda: (X.copy(),), lambda: (X[:0].copy(),))
def walrus_in_a_comprehension(x):
    squares = [(last := v * v) for v in x]
    out(len(squares))
    s = 0.0
    for v in squares:
        s += v
    out(s)
    return s + last + x.sum()


@case(lambda: (X.copy(), 3), lambda: (X.copy(), 0))
def deleted_in_a_loop(x, n):
    y = x * 2
    for k in range(n):
        out(k)
        if k == 2:
            del y
    out()
    s = 0.0
    for v in x:
        s += v
    out(s)
    z = y * s
    return z


@case(lambda: (X.copy(), True), lambda: (X.copy(), False))
def deleted_in_a_try(x, c):
    y = x * 2
    try:
        if c:
            del y
        out()
    except ValueError:
        pass
    s = 0.0
    for v in x:
        s += v
    out(s)
    return y * s


@case(lambda: (X.copy(), 1), lambda: (X.copy(), 40), lambda: (X.copy(), "a"))
def read_in_a_handler(x, k):
    s = 0.0
    done = -1
    try:
        for i in range(len(x)):
            s += x[i + k]
            done = i
        out(s)
    except IndexError as error:
        return s, done, str(error)
    finally:
        out(s, done)
    return s


@case(lambda: (X.copy(), 2), lambda: (X.copy(), 60))
def possibly_unbound_after_loop(x, n):
    for k in range(n):
        if x[k % 30] > 1.5:
            last = x[k % 30] * 2
    out()
    s = x.sum() * 3
    return s + last


@case()
def comprehension_shadows(x):
    k = 7
    out(k)
    y = [k * v for k, v in enumerate(x)]
    s = 0.0
    for v in y:
        s += v * k
    out(s)
    return y, k, s


@case()
def loop_variable_survives(x):
    out()
    for k in range(len(x)):
        x[k] += k
    out(k)
    for k, v in enumerate(x):  # noqa: B007
        if v > 3:
            break
    else:
        k = -1
    out(k, v)
    return k, v


@case()
def lambda_sees_later(x):
    f = lambda v: v * scale  # noqa: E731
    out()
    scale = 3.0
    y = x * scale
    z = f(y)
    out()
    scale = 5.0
    w = np.sort(x)[::-1] * 2
    return f(w) + z


@case()
def loop_closures(x):
    functions = []
    for k in range(3):
        y = x * k
        functions.append(lambda: (k, y.sum()))  # noqa: B023
        out(k)
    z = x * 2
    return [f() for f in functions], z


def counter():
    n = 0

    @case()
    def closure_counts(x):
        nonlocal n
        n += 1
        y = x * n
        out(n)
        n += 1
        z = np.sort(y) + n
        return z, n

    return closure_counts


counter()


@case()
def global_counts(x):
    global COUNT
    y = x * COUNT
    COUNT += 1
    out(COUNT)
    z = x * COUNT
    COUNT += 1
    w = x * COUNT
    out()
    return y + z + w, COUNT


def bump():
    global COUNT
    COUNT += 10
    gc.isenabled()


@case()
def helper_changes_global(x):
    y = x * COUNT
    bump()
    z = x * COUNT
    for _ in range(3):
        bump()
        z = np.sort(z * COUNT)
    return y, z


# --- aliases

@case()
def alias_across(a):
    b = a
    for k in range(3):
        b[k] *= 2
    out()
    b[0] = 1
    c = b[:4]
    out()
    c += 10
    return a, b, c


@case()
def alias_made_in_a_part(a):
    out()
    b = a
    c = a * 2
    d = c
    e = c[1:]
    out()
    b[0] = 100
    d[1] = 50
    e += 1
    return a, b, c, d, e


@case(lambda: ([1.0, 2.0, 3.0],), lambda: ([],), lambda: ([1, 2],))
def list_alias(a):
    out()
    b = a
    for k in range(len(a)):
        b[k] = a[k] * 2
    out()
    b.append(5)
    c = [v for v in b]  # noqa: C416
    out()
    c.append(1)
    return a, b, c


@case(lambda: (3, 4),)
def rows_alias(n, m):
    out()
    row = [0.0] * n
    rows = [row] * m
    for k in range(m):
        rows[k][k % n] += k
    out()
    rows[0][0] = 9.0
    return rows, row


@case(lambda: (3, 4),)
def rows_appended(n, m):
    out()
    row = [0.0] * n
    rows = []
    for _ in range(m):
        rows.append(row)
    out()
    rows[0][0] = 9.0
    return rows, row


@case()
def best_is_current(x):
    out()
    best = current = [0.0, 0.0]
    for v in x:
        current = [v, v * 2]
        if v > best[0]:
            best = current
    out()
    current[0] = -1.0
    return best, current


@case(lambda: (3, 4),)
def row_has_a_name(n, m):
    rows = [[0.0] * n for _ in range(m)]
    first = rows[0]
    out()
    for k in range(m):
        rows[k][k % n] += 1.0
    out()
    first[1] = 7.0
    return rows, first


@case()
def arrays_in_a_list(x):
    history = [x]
    for k in range(3):
        x = np.sort(x * 2)
        history.append(x)
        out(k)
    x[0] = -1
    for h in history:
        h += 1
    out()
    return history, x


@case(lambda: (3, 4),)
def rows_fresh(n, m):
    rows = [[0] * n for _ in range(m)]
    out()
    for i in range(m):
        for j in range(n):
            rows[i][j] = i * j
    out()
    first = rows[0]
    for j in range(n):
        first[j] += 1
    out(rows)
    return rows, first


@case(lambda: ((lambda v: (v, v, [v, v]))(X.copy())),)
def same_array_thrice(a, b, c):
    a += 1
    out()
    for k in range(len(a)):
        b[k] += a[k]
    out()
    s = 0.0
    for k in range(len(a)):
        c[0][k] += 1
        s += a[k] + c[1][k]
    return s, a is b, c


@case(lambda: ((lambda v: (v, v))([1.0, 2.0])),)
def same_list_twice(a, b):
    out()
    for k in range(len(a)):
        a[k] += 1.0
        b[k] *= 2.0
    out()
    return a, b


@case(lambda: (np.arange(12.0).reshape(3, 4),), lambda: (np.arange(12.0).reshape(4, 3).T,))
def views_across(m):
    t = m.T
    row = m[1]
    out()
    row += 5
    t[0, 0] = -1
    flat = m.ravel()
    out()
    flat[2] = 77
    r = m.reshape(-1)
    out()
    r[3] = 88
    return m, t, row, flat, r


@case(lambda: (X.copy(), 3))
def swap_loop(u, n):
    v = np.zeros_like(u)
    for k in range(n):
        for i in range(1, len(u) - 1):
            v[i] = (u[i - 1] + u[i + 1]) / 2
        u, v = v, u
        out(k)
    return u, v


@case()
def augmented(x):
    a = x
    out()
    a += 1
    b = a
    b *= 2
    t = (1, 2)
    u = t
    t += (3,)
    v = [1.0]
    m = v
    v += [2.0]
    out()
    return a, b, t, u, v, m, a is b, v is m


@case(lambda: ({"a": X.copy(), "n": 2},))
def dictionary(d):
    a = d["a"]
    out()
    for k in range(len(a)):
        a[k] *= d["n"]
    d["s"] = a.sum()
    out(sorted(d))
    d["n"] += 1
    return d, a


@case(lambda: ([3, 1, 2, 3],))
def sets_and_tuples(v):
    s = set()
    for k in v:
        s.add(k)
    out(len(s))
    t = tuple(sorted(s))
    total = 0
    for k in t:
        total += k
    first, *rest = t
    out(rest)
    return s, t, first, rest, total


# --- numbers

@case(lambda: (15,), lambda: (5,))
def big_integers(n):
    out()
    f = 1
    for k in range(1, n + 1):
        f *= k
    out(f)
    g = f
    for _ in range(3):
        g = g * 3 + 1
    return f, g


@case(lambda: (2**70, 3), lambda: (5, 3))
def big_argument(a, n):
    out()
    for k in range(n):
        a = a + k
    out(a)
    return a


@case(lambda: (np.array([np.nan, np.inf, -np.inf, -0.0, 0.0]),))
def not_numbers(x):
    y = x / 2
    out()
    z = np.where(np.isnan(x), 0, x)
    m = 0.0
    for v in z:
        if v > m:
            m = v
    out()
    return y, z, m, min(m, 1.0)


@case(lambda: (np.array([1.0, 0.0]),), lambda: (np.array([]),))
def divides(x):
    out()
    s = 0.0
    for v in x:
        s += 1 / v
    out(s)
    return s, x.mean() if len(x) else None


@case(lambda: (0,), lambda: (2,))
def zero_division(n):
    out()
    s = 0
    for k in range(3):
        s += k // n
    return s


@case(lambda: (3, 4), lambda: (2.5, 2), lambda: (True, 2))
def scalar_types(a, n):
    out()
    s = a
    for _ in range(n):
        s = s + a
    t = s / 2
    b = s > 3
    c = np.float32(s) * 2
    d = np.int8(3)
    out(type(s), type(b), type(c), type(d), type(t))
    return s, t, b, c, d


@case(lambda: (X.copy(),), lambda: (X.astype("f4"),), lambda: (np.arange(5),), lambda: (np.arange(5) > 2,))
def reductions(x):
    s = x.sum()
    n = len(x)
    out(type(s), type(n))
    m = x.max()
    i = x.argmax()
    a = np.any(x)
    out(type(m), type(i), type(a))
    return s, m, i, a, n, x.shape, x.dtype


@case(lambda: (np.random.default_rng(3), 10))
def generator_stream(rng, n):
    a = rng.normal(size=n)
    out(a[0])
    s = 0.0
    for _ in range(n):
        s += rng.random()
    out(rng.random())
    b = rng.integers(0, 10, n)
    return s, a, b, rng.random()


@case(lambda: (5,))
def legacy_random(n):
    np.random.seed(n)
    a = np.random.rand(n)
    out(a)
    s = 0.0
    for _ in range(n):
        s += np.random.rand()
    out(np.random.rand())
    return s, a


# --- flow

@case(lambda: (X.copy(), 1.0), lambda: (X.copy(), 9.0))
def while_else(x, limit):
    k = 0
    s = 0.0
    while k < len(x):
        s += x[k]
        if s > limit + 15:
            break
        k += 1
    else:
        out("else")
        s = -s
        for v in x:
            s += v * 2
    out(k)
    return s, k


@case(lambda: (X.copy(), 1.0), lambda: (X.copy(), 9.0))
def for_else_returns(x, limit):
    for k in range(4):
        y = np.sort(x * k)
        out(k)
        if y[-1] > limit:
            break
    else:
        s = 0.0
        for v in x:
            s += v
        if s > 3:
            return s
        return -s


@case(lambda: (X.copy(), 0), lambda: (X.copy(), 1), lambda: (X.copy(), 2))
def early_returns(x, k):
    if k == 0:
        s = 0.0
        for v in x:
            s += v
        return s
    elif k == 1:
        out("one")
        y = x * 2
        return y
    out("two")
    for v in x:
        if v > 1:
            return v
    return None


@case(
    lambda: (X.copy(), "sum"), lambda: (X.copy(), "max"), lambda: (X.copy(), ("scale", 3.0)),
    lambda: (X.copy(), {"k": 2}),
)  # fmt: skip
def matches(x, what):
    match what:
        case "sum":
            s = x.sum()
        case "max":
            s = x.max()
        case ("scale", factor):
            s = 0.0
            for v in x:
                s += v * factor
        case {"k": k, **rest}:
            s = x[k], rest
        case _:
            return None
    out(s)
    y = x * 2
    return y, s


@case(lambda: (X.copy(), 5))
def breaks_and_continues(x, n):
    kept = []
    for k in range(n):
        if k == 1:
            continue
        y = np.cumsum(x) * k
        if y[-1] > 80:
            break
        out(k)
        for v in y:
            if v < 3:
                continue
            kept.append(v)
            break
    return kept


@case(lambda: (X.copy(), 3), lambda: (X.copy(), 0))
def generates(x, n):
    """Doc."""
    total = 0.0
    for k in range(n):
        x = np.sort(x * (k + 1))[::-1] + x
        got = yield x.sum()
        if got is not None:
            for v in x:
                total += v * got
    y = x * total
    return y


@case(lambda: (4, X.copy()))
def recursive(n, x):
    out(n)
    if n == 0:
        return x
    y = np.sort(x + n)
    return recursive(n - 1, y) + x


@case()
def finally_changes(x):
    s = 0.0
    try:
        for v in x:
            s += v
        return s
    finally:
        out(s)
        s = -1.0
        for k in range(len(x)):
            x[k] = s


@case()
def nested_try(x):
    result = []
    for k in range(4):
        y = x * k
        try:
            if k == 2:
                raise KeyError(k)
            out(k)
        except KeyError as error:
            result.append(repr(error))
            continue
        else:
            result.append(y.sum())
        finally:
            out("finally", k)
        z = np.sort(y)
        result.append(z[0])
    return result


# --- exceptions

@case(lambda: (X.copy(), 3))
def raises_in_the_middle(x, k):
    out()
    for i in range(len(x)):
        x[i] = 0.0
        x[i + k] += 1.0
    out()
    return x


@case(lambda: ([1.0, 2.0, 3.0],))
def raises_after_appending(v):
    out()
    for i in range(10):
        v.append(v[i] * 2)
        if len(v) > 5:
            raise RuntimeError(f"too long: {len(v)}")
    return v


@case(lambda: (X.copy(), 2), lambda: (X.copy(), -1))
def asserts(x, n):
    """Checks."""
    assert n > 0, f"n is {n}"
    out()
    y = x * n
    assert y[0] > 100, "small"
    return y


@case(lambda: (np.ones(3), np.ones(4)))
def shapes_differ(a, b):
    out()
    c = a * 2
    d = c + b
    return d


@case()
def raise_from(x):
    out()
    s = 0.0
    for v in x:
        s += v
    if s > 3:
        raise ValueError(f"bad {s:.3f} at {len(x)}") from KeyError("k")
    return s


@case(lambda: (X.copy(), "3"), lambda: (X.copy(), None))
def wrong_types(x, s):
    out()
    y = x.sum() * 2
    z = y + s
    return z


@case()
def unknown_name(x):
    y = x * 2
    out()
    z = np.sort(y)
    return z + undefined_name  # noqa: F821


# --- printing, logging, files

@case()
def prints(x):
    print("begin", len(x))
    s = 0.0
    for v in x:
        s += v
        if v > 1.9:
            print(f"{v:.2f}", s, sep="|", end=";\n")
    out()
    for k in range(3):
        print(k, end=" ")
        s += k
    print()
    return s


@case()
def logs(x):
    for epoch in range(3):
        loss = 0.0
        for v in x:
            loss += (v - epoch) ** 2
        log.info("epoch %d loss %.3f", epoch, loss)
        x -= 0.1 * loss / len(x)
    return x


@case(lambda: (X.copy(), Foreign(X * 2)))
def foreign_between(x, table):
    n = len(table)
    y = x + n
    s = table.apply(np.sum)
    for k in range(len(y)):
        y[k] -= s
    table.extra.append(y)
    z = np.cumsum(y)
    out(n)
    z[0] = 3
    return z, y


@case(lambda: ("1,2,3\n4,5,6\n",))
def parses(text):
    rows = [[float(v) for v in line.split(",")] for line in io.StringIO(text)]
    m = np.array(rows)
    out(m.shape)
    s = 0.0
    for i in range(m.shape[0]):
        for j in range(m.shape[1]):
            s += m[i, j] * (i - j)
    return f"{s:.1f}", s


@case()
def strings(x):
    name = "run"
    label = f"{name}-{len(x)}"
    out(label)
    best = None
    for k in range(len(x)):
        if best is None or x[k] > x[best]:
            best = k
    title = name.upper() + str(best)
    out(title)
    return label, title, best


@case()
def warns(x):
    y = x * 2
    warnings.warn("careful", stacklevel=2)
    z = np.sort(y)
    return z


@case()
def numpy_warns(x):
    out()
    y = np.log(x - x)
    out()
    return y


@case()
def threaded(x):
    results = []

    def work(k):
        results.append((k, float(x.sum()) * k))

    threads = [threading.Thread(target=work, args=(k,)) for k in range(3)]
    for t in threads:
        t.start()
        t.join()
    s = 0.0
    for v in x:
        s += v
    return results, s


# --- signatures

@case(lambda: (X.copy(),), lambda: (X.copy(), 5.0))
def mutable_default(x, scale=2.0, seen=[]):  # noqa: B006
    y = x * scale
    seen.append(float(y[0]))
    out(seen)
    z = np.sort(y)
    seen.append(z[0])
    return z, list(seen)


@case(lambda: (X.copy(), 1.0, 2.0), lambda: (X.copy(),))
def variadic(x, *rest, shift: float = 0.5, **options):
    out(rest, options)
    y = x + shift
    for r in rest:
        y = np.sort(y * r)
    return y, rest, options


class Model:
    rate = 0.5
    made = 0

    def __init__(self, n: int) -> None:
        self.__hidden = 2.0
        self.w = np.zeros(n)
        self.history: list[float] = []

    @property
    def norm(self) -> Any:
        return float(np.sum(self.w**2))

    @classmethod
    def count(cls) -> int:
        cls.made += 1
        return cls.made

    @staticmethod
    def clip(v: Any) -> Any:
        return np.minimum(v, 5.0)

    def fit(self, x: Any) -> Any:
        for step in range(3):
            for k in range(len(x)):
                self.w[k] += self.rate * (x[k] - self.w[k])
            self.history.append(self.norm)
            out(step)
        self.w = self.clip(self.w) * 2
        return self

    def private(self, x: Any) -> Any:
        out()
        y = x * self.__hidden
        self.__hidden += 1
        __z = np.sort(y)
        out()
        return __z + self.__hidden

    def own_super(self, x: Any) -> Any:
        y = x * 2
        out(super().__str__()[:3])
        return np.sort(y)


@case(lambda: (Model(30), X.copy()))
def method(self, x):
    return self.fit(x)


case(lambda: (Model(30), X.copy()))(Model.fit)
case(lambda: (Model(30), X.copy()))(Model.private)
case(lambda: (Model(30), X.copy()))(Model.own_super)


@case(lambda: (Model(30), X.copy()))
def rebinds_attributes(self, x):
    w = self.w
    out()
    self.w = x * 2
    w += 1
    self.n = len(x)
    out()
    self.w[0] = 9
    s = self.w.sum()
    self.total = s
    return w, s


@dataclass
class State:
    x: Any
    step: int = 0


@case(lambda: (State(X.copy()), 3))
def dataclass_state(state, n):
    for _ in range(n):
        state.x = np.sort(state.x * 0.5)
        state.step += 1
        out(state.step)
    return state


@case()
def named_tuple(x):
    out()
    p = Pair(x.min(), x.max())
    y = (x - p.low) / (p.high - p.low)
    out(p)
    return p, y


@case(lambda: (X.copy(), lambda v: v * 2), lambda: (X.copy(), np.sqrt))
def callback(x, f):
    y = x + 1
    out()
    for _ in range(3):
        y = np.sort(f(y))
    return y


@case()
def uses_partial(x):
    f = functools.partial(np.add, 2.0)
    y = f(x)
    s = 0.0
    for v in y:
        s += v
    return s


@case()
def local_function(x):
    def smooth(v):
        w = v.copy()
        for k in range(1, len(v) - 1):
            w[k] = (v[k - 1] + v[k] + v[k + 1]) / 3
        return w

    out()
    y = smooth(x)
    z = smooth(y)
    out()
    return y + z


@case()
def class_inside(x):
    class Local:
        scale = 2.0

    y = x * Local.scale
    out()
    return np.sort(y)


@case()
def imports_inside(x):
    import math

    out()
    s = 0.0
    for v in x:
        s += math.sin(v)
    from math import pi as p
    t = s + x.sum() * p
    return s, t


@case(lambda: (X.copy(), Swallows()), lambda: (X.copy(), contextlib.nullcontext()))
def swallows_in_the_middle(x, manager):
    s = 0.0
    k = -1
    with manager:
        for k in range(100):
            s += x[k]
        out()
    t = x.sum() + s
    out(k)
    return s, k, t


@case()
def errstate(x):
    with np.errstate(all="ignore"):
        y = np.log(x - 1)
        out()
        z = np.sqrt(x - 1)
    out()
    return np.nan_to_num(y) + np.nan_to_num(z)


@case(lambda: (X.copy(), [3, 1, 2]))
def unpacks(x, v):
    a, (b, *c) = 1, v
    out(a, b, c)
    first, *middle, last = v
    s = 0.0
    for k in range(first):
        s += x[k] * last
    out(middle)
    c[0], c[1] = c[1], c[0]
    x[0], x[1] = x[1], x[0]
    return a, b, c, first, middle, last, s


@case()
def result_is_none(x):
    out()
    for k in range(len(x)):
        x[k] = -x[k]


@case()
def slices_and_fancy(x):
    out()
    i = np.argsort(-x)
    y = x[i]
    m = x > 1
    out()
    x[m] = 0
    y[::2] = -1
    return x, y, i, m


@case()
def grows_containers(x):
    rows = {}
    out()
    order = []
    for k in range(5):
        rows[k] = x[k] * 2
        order.append((k, x[k]))
    out(len(order))
    best = max(order, key=lambda p: p[1])
    total = 0.0
    for k, v in order:
        total += v * k
    return rows, order, best, total


# --- what is compared

def described(value: Any) -> list[tuple[str, Any]]:
    """A value as a flat list; what has been met before is named by its number, so that identities are compared."""
    met: dict[int, int] = {}
    alive: list[Any] = []
    found: list[tuple[str, Any]] = []
    arrays: list[Any] = []

    def visit(path: str, v: Any) -> None:
        if isinstance(v, (list, dict, set, np.ndarray, Model, State, Foreign, np.random.Generator)):
            if id(v) in met:
                found.append((path, f"is {met[id(v)]}"))
                return
            met[id(v)] = len(met)
            alive.append(v)
        kind = type(v).__name__
        if isinstance(v, np.ndarray):
            arrays.append(v)
            found.append((path, (kind, v.dtype, v.shape, v.strides, v.flags.writeable)))
            found.append((path, v.copy()))
        elif isinstance(v, (list, tuple)):
            found.append((path, (kind, len(v))))
            for k, item in enumerate(v):
                visit(f"{path}[{k}]", item)
        elif isinstance(v, dict):
            found.append((path, (kind, list(v))))
            for k, item in v.items():
                visit(f"{path}[{k!r}]", item)
        elif isinstance(v, (Model, State)):
            visit(f"{path}.", vars(v))
        elif isinstance(v, Foreign):
            visit(f"{path}.", [v.data, v.extra])
        elif isinstance(v, np.random.Generator):
            found.append((path, str(v.bit_generator.state)))
        elif callable(v) or isinstance(v, (Swallows, contextlib.nullcontext)):
            found.append((path, kind))
        else:
            found.append((path, kind))
            found.append((path, v))

    visit("", value)
    shared = [(i, j) for i in range(len(arrays)) for j in range(i) if np.shares_memory(arrays[i], arrays[j])]
    return [*found, ("memory", shared)]


def runs(function: Callable[..., Any], makers: Callable[[], list[tuple[Any, ...]]]) -> list[Any]:
    """Two calls with each of the arguments."""
    global COUNT, SCALE
    COUNT, SCALE = 1, 2.0
    seen = []
    for _ in range(2):
        for args in makers():
            SEEN.clear()
            text = io.StringIO()
            with warnings.catch_warnings(record=True) as caught, contextlib.redirect_stdout(text):
                warnings.simplefilter("always")
                result: Any = None
                lines = None
                try:
                    result = function(*args)
                    if isinstance(result, Iterator):
                        result = drained(result)
                except Exception as error:
                    lines = [(f.name, f.line) for f in traceback.extract_tb(error.__traceback__)][-1]
                    result = type(error), str(error), type(error.__cause__), type(error.__context__)
            told = [
                (str(w.message), w.filename) for w in caught
                if not isinstance(w.message, RuntimeWarning | transkern.PerformanceWarning)
                and "runs in" not in str(w.message)
            ]  # fmt: skip
            seen.append((described((result, args, list(SEEN))), lines, text.getvalue(), told, COUNT))
    return seen


def drained(values: Any) -> Any:
    got = [next(values)]
    while True:
        try:
            got.append(values.send(len(got)))
        except StopIteration as stop:
            return got, stop.value


def compare(found: Any, wanted: Any) -> None:
    for mine, theirs in zip(found, wanted, strict=True):
        for a, b in zip(mine[0], theirs[0], strict=False):
            assert a[0] == b[0], (a, b)
            if isinstance(b[1], (np.ndarray, np.inexact, float)) and type(a[1]) is type(b[1]):
                small = np.asarray(b[1]).dtype == "f4"
                np.testing.assert_allclose(a[1], b[1], rtol=1e-5 if small else 1e-12, atol=1e-14, err_msg=a[0])
            else:
                assert a == b, (a, b)
        assert len(mine[0]) == len(theirs[0])
        assert mine[1:] == theirs[1:], (mine[1:], theirs[1:])


def fresh(function: Callable[..., Any]) -> None:
    for values in function.__defaults__ or ():
        if isinstance(values, list):
            values.clear()
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        if name == "n":
            cell.cell_contents = 0


@pytest.mark.parametrize("name", CASES)
def test_in_parts_as_in_python(name: str) -> None:
    function, makers = CASES[name]
    if name == "own_super":
        makers = lambda: [(Model(30), X.copy())]  # noqa: E731
    fresh(function)
    wanted = runs(function, makers)
    fresh(function)
    compiled = transkern.compile(function, fallback="numpy", target="cpu")
    found = runs(compiled, makers)
    compare(found, wanted)
