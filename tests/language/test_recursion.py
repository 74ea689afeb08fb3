"""What is made of functions that call themselves: the loop over a stack, in Python itself and compiled."""

from __future__ import annotations

import ast
import copy
import sys
import textwrap
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
import pytest

import transkern
from tests.tools import on_target, require
from transkern.frontend import recursion
from transkern.frontend.recursion.blocks import LENGTH, SEQUENCE
from transkern.frontend.recursion.machine import TOO_DEEP
from transkern.frontend.syntax.hoisting import VALUE_ERROR, NotRewritten


def looped(text: str, cached: bool = False) -> Callable[..., Any]:
    """The function `f` of a text as a loop, as Python runs it."""
    (node,) = ast.parse(textwrap.dedent(text)).body
    assert isinstance(node, ast.FunctionDef)
    is_self = lambda x: isinstance(x, ast.Call) and isinstance(x.func, ast.Name) and x.func.id == "f"  # noqa: E731
    made = recursion.as_loop(node, is_self, lambda name: True, lambda: cached)
    assert not any(map(is_self, ast.walk(made)))
    names = {LENGTH: len, SEQUENCE: list, TOO_DEEP: RecursionError, VALUE_ERROR: ValueError}
    module = ast.fix_missing_locations(ast.Module([made], []))
    exec(compile(module, "looped", "exec"), names)  # noqa: S102
    return names["f"]  # type: ignore[return-value]


def plain(text: str) -> Callable[..., Any]:
    names: dict[str, Any] = {}
    exec(textwrap.dedent(text), names)  # noqa: S102
    return names["f"]  # type: ignore[no-any-return]


TEXTS = [
    ("def f(n): return n if n < 2 else f(n - 1) + f(n - 2)", (9,)),
    ("def f(x, i=0): return 0 if i == len(x) else x[i] + f(x, i + 1)", ([1, 2, 3],)),
    ("def f(x, i):\n if i == 3: return x.append(i)\n return (x[0], f(x, i + 1), x[-1], f(x, i + 2) if i < 2 else x[:])", ([5], 0)),
    ("def f(n, out):\n for i in range(n, 0, -1):\n  if i == 2: continue\n  out.append((n, i)); f(i - 1, out)\n  if len(out) > 20: break\n else: out.append(n)\n return out", (4, [])),
    ("def f(n):\n c = 0\n while (f(n - 1) if n else 0) + c < 4:\n  c += 1\n return c", (3,)),
    ("def f(n): return n > 0 and (f(n - 2) or f(n - 3)) or n == 0", (7,)),
    ("def f(n): return [n, [f(k) for k in range(n) if k != 1], max([f(k)[0] for k in range(n)] + [0])]", (4,)),
    ("def f(n): return any(f(k) for k in range(n) if k % 2) if n > 1 else all(f(k) for k in range(n)) and n == 1", (6,)),
    ("def f(n, d):\n d[n] = d.get(n, 1)\n d[n] += f(n - 1, d) if n else 1\n return d[n]", (4, {2: 7})),
    ("def f(t):\n s = 0\n for i, (a, b) in enumerate(zip(t, t[1:])): s += a * i + (f(t[1:]) if b > i else 1)\n return s", ([3, 1, 4, 1, 5],)),
    ("def f(n, /, a=1, *, b=2): return (a, b) if n == 0 else f(n - 1, b=a, a=b + 1)", (5,)),
    ("def f(n):\n for i in range(9):\n  for j in range(i):\n   if i * j > n: return i + (f(n - 9) if n > 9 else 0)\n   if i * j == n: return f(n - 1) * 2\n return -1", (30,)),
    ("def f(n):\n v = n * 2\n w = f(n - 1) if n else 0\n match v:\n  case 2 | 4: return w + v\n  case _: pass\n u = min(f(k) for k in (0, 1)) if n > 2 else v\n return u + v + w", (4,)),
    ("def f(n): return max((f(n - k) + k for k in (2, 3) if k <= n), default=-5) if n else min((f(k) for k in []), default=7)", (8,)),
    ("def f(n): return min((f(n - k) - 1.5 for k in (3, 5) if k <= n), default=-float('-inf')) if n else 0", (11,)),
    ("def f(n, m):\n if n == 0: raise KeyError(m)\n g = lambda v: v + m\n return f(n - 1, g(m))", (3, 1)),
]


@pytest.mark.parametrize(("text", "args"), TEXTS)
def test_the_loop_is_the_recursion(text: str, args: tuple[Any, ...]) -> None:
    given, other = copy.deepcopy(args), copy.deepcopy(args)
    try:
        wanted = plain(text)(*given)
    except KeyError as error:
        with pytest.raises(KeyError, match=str(error)):
            looped(text)(*other)
        return
    assert looped(text)(*other) == wanted
    assert given == other


@pytest.mark.parametrize(("text", "problem"), [
    ("def f(n):\n try:\n  return f(n - 1)\n except ValueError: return 0", "`try`"),
    ("def f(*n): return f(*n[1:])", r"\*args"),
    ("def f(n):\n if n > 3: k = n\n f(n - 1)\n return k", "`k`, which need not be bound"),
    ("def f(n):\n g = lambda: n\n f(n - 1)\n return g()", "a function that sees the names"),
    ("def f(n, m=[]): return f(n - 1) + m", "whose default is no constant"),
    ("def f(n): return sorted(n, key=lambda v: f(v))", "a function of its own"),
])  # fmt: skip
def test_what_is_in_the_way(text: str, problem: str) -> None:
    with pytest.raises(NotRewritten, match=problem):
        looped(text)


def test_results_that_are_known_are_not_computed_again() -> None:
    fib = looped("def f(n): return n if n < 2 else f(n - 1) + f(n - 2)", cached=True)
    assert fib(80) == 23416728348467685


@lru_cache
def _partitions(n: int, k: int) -> int:
    if n == 0:
        return 1
    return 0 if n < 0 or k == 0 else _partitions(n - k, k) + _partitions(n, k - 1)


def depth(n: int) -> int:
    return 0 if n == 0 else 1 + depth(n - 1)


def test_one_specialisation_goes_to_every_depth() -> None:
    require("cc")
    compiled = transkern.compile(depth)
    assert [compiled(n) for n in (0, 1, 5, 40, 700)] == [0, 1, 5, 40, 700]
    assert len(compiled.cache_info().specialisations) == 1


def test_cached_functions_remember() -> None:
    require("cc")
    compiled = transkern.compile(lambda n: _partitions(n, n))
    assert compiled(60) == 966467 == _partitions(60, 60)


def test_too_deep_is_pythons_error() -> None:
    require("cc")
    compiled = transkern.compile(depth)
    limit = sys.getrecursionlimit()
    assert compiled(limit - 2) == limit - 2
    with pytest.raises(RecursionError, match="maximum recursion depth exceeded"):
        compiled(limit + 1)
    with pytest.raises(RecursionError):
        compiled(-1)


def visited(near: np.ndarray, u: int, seen: np.ndarray) -> int:
    seen[u] = True
    count = 1
    for v in range(len(near)):
        if near[u, v] and not seen[v]:
            count += visited(near, v, seen)
    return count


def test_on_a_device(monkeypatch: pytest.MonkeyPatch) -> None:
    near = np.random.default_rng(3).random((9, 9)) < 0.2
    compiled = transkern.compile(visited, target=on_target("cuda", monkeypatch))
    one, two = np.zeros(9, bool), np.zeros(9, bool)
    assert compiled(near, 0, one) == visited(near, 0, two)
    assert (one == two).all()
