"""The types of numbers that loops leave in lists; frozensets; `np.indices`; complex numbers in real arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import transkern
from tests.fuzz.stages import function_of
from tests.regressions.support import alike, like_numpy

LOOPS = (
    "out = [4.0]\n    for v in x:\n        out = [out[0] + v]\n    return out",
    "out = [4.0]\n    for v in x:\n        out[0] += v\n    return out, out[0], [out[0] * 2]",
    "out = [4.0]\n    for v in x:\n        out = [out[0] * 2]\n    return out",
    "out = [4.0]\n    for v in x:\n        out = out + [1.0]\n    return out",
    "out = {'a': 4.0, 'b': 1}\n    for v in x:\n        out = {'a': out['a'] + v, 'b': 2}\n    return out",
    "out = {'a': 4.0, 'b': 1}\n    for v in x:\n        out['a'] += v\n        out['b'] += 1\n    return out",
    "out = [2]\n    for i in range(len(x)):\n        out = [out[0] * 2.0]\n    return out",
    "out = [2]\n    for i in range(len(x)):\n        out[0] = out[0] / 2\n    return out, out[0]",
    "out, i = [4.0], 0\n    while i < len(x):\n        out[0] += x[i]\n        i += 1\n    return out",
    "out = [0, 0.0, True]\n    for v in x:\n        out[0] += v\n        out[1] += v\n        out[2] = v > 1\n"
    "    return out",
)  # fmt: skip


def _types(value: object) -> object:
    if isinstance(value, dict):
        return {k: _types(v) for k, v in value.items()}
    return [type(value), *map(_types, value)] if isinstance(value, (list, tuple)) else (type(value), value)


@pytest.mark.parametrize("body", LOOPS)
def test_types_that_loops_leave_in_lists(body: str) -> None:
    """Without an iteration it is what it was before; a float of Python's was one of NumPy's."""
    plain = function_of(f"import numpy as np\n\n\ndef f(x):\n    {body}\n")
    compiled = transkern.compile(plain, target="cpu")
    for x in (np.arange(3.0), np.zeros(0)):
        assert _types(compiled(x)) == _types(plain(x)), body


FROZEN = frozenset((1, 2))


@pytest.mark.parametrize("made", ["frozenset((1, 2))", "frozenset({1, k})", "frozenset()", "frozenset((1,)) | {2}"])
def test_a_frozenset_is_no_set(made: str) -> None:
    line = (
        f"s = {made}; t = {{1, 2}}; u, v = s | t, t | s; "
        "k = [isinstance(x, c) for x in (s, t, u, v) for c in (set, frozenset, (set, frozenset), (set, list))]"
    )
    plain = function_of(f"def f(k):\n    {line}\n    return k, len(s), 2 in u, 2 in v\n")
    assert transkern.compile(plain, target="cpu")(2) == plain(2)


def test_a_frozenset_from_outside() -> None:
    def f(k: int) -> tuple[bool, bool, bool]:
        return isinstance(FROZEN, set), isinstance(FROZEN, frozenset), k in FROZEN

    assert transkern.compile(f, target="cpu")(2) == (False, True, True)


def test_indices_of_no_dimension() -> None:
    like_numpy("k = [np.indices(()), np.indices([]), np.indices((), float), np.indices((), None)]", k=1)
    like_numpy("k = np.indices((), sparse=True), np.indices((), dtype=None, sparse=True)", k=1)


@pytest.mark.parametrize("k", [2, 0, -1])
def test_indices_without_a_dtype(k: int) -> None:
    """`dtype=None` is what `np.empty` makes of it, but of sparse ones what `np.arange` does; those take any size."""
    like_numpy("k = np.indices((k, 2), dtype=None)", k=k)
    like_numpy("k = np.indices((k, 2), dtype=None, sparse=True)", k=k)
    like_numpy("k = np.indices((2, k), np.float32, sparse=True)", k=k)


@pytest.mark.parametrize("line", ["x[0] = 1j", "x[-1] = x[0] + 2j", "x[1:] = 1j", "x[5] = 1j"])
@pytest.mark.filterwarnings("ignore::numpy.exceptions.ComplexWarning")
def test_complex_numbers_in_real_arrays(line: str) -> None:
    like_numpy(line, x=np.arange(3.0))


def _branch(a: Any) -> Any:
    path, u = [], 0
    if a[u, 2] != -1:
        path = [u]
        while u != 2:
            u = a[u, 2]
            path.append(u)
    return path


def _otherwise(a: Any) -> Any:
    if a[0, 2] != -1:
        path = [0]
        for k in range(2):
            path.append(a[k, 2])
    else:
        path = []
    return path


def _extended(a: Any) -> Any:
    path = [0]
    for k in range(2):
        path.append(a[k, 2])
    out = []
    out.extend(path)
    out += path
    return out, out + [1], [2] + path  # noqa: RUF005 - this is what is tested


@pytest.mark.parametrize("function", [_branch, _otherwise, _extended])
@pytest.mark.parametrize("first", [1, -1])
def test_numbers_of_two_types_stay_what_they_are_where_lists_are_put_together(function: Any, first: int) -> None:
    a = np.array([[0, 1, first], [0, 1, 2], [0, 0, 0]])
    alike(function, a)


def _greatest(x: Any, k: float) -> Any:
    levels = []
    for v in x:
        levels.append(max(v * k, -0.5))
    return levels, levels[::-1], max(levels)


def _branches(x: Any, k: float) -> Any:
    held = [0.0] * len(x)
    for i, v in enumerate(x):
        held[i] = v if v > k else 0.0
    return held, [(i, min(v, k)) for i, v in enumerate(x)], np.array(held)


@pytest.mark.parametrize("function", [_greatest, _branches])
def test_the_numbers_of_pythons_that_a_choice_puts_beside_numpys_are_told(function: Any) -> None:
    x = np.array([-3.0, 0.25, 2.0, np.nan])
    assert repr(transkern.compile(function)(x, 0.75)) == repr(function(x, 0.75))


def _bound_anew(n: int, m: int) -> Any:
    x, before = [1] * m, [0] * m
    while n > 0:
        x, before = [v / 2 for v in x], x
        n -= 1
    return x, before, sum(x)


def test_a_list_of_integers_stays_one_where_no_iteration_makes_floats_of_it() -> None:
    compiled = transkern.compile(_bound_anew)
    for n in (0, 1, 2):
        assert repr(compiled(n, 2)) == repr(_bound_anew(n, 2))


def _least(x: Any, n: int) -> Any:
    held = [0] * n
    for v in x:
        held = [min(h, v * 0.5) + 1.5 for h in held]
    return held


def test_a_list_whose_elements_are_chosen_again_and_again_is_compiled() -> None:
    x = np.linspace(-2.0, 3.0, 40)
    compiled = transkern.compile(_least)
    for n in (3, 40):
        assert compiled(x[:n], n) == _least(x[:n], n)
