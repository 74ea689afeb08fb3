"""``a.flat``: loads are copies, stores take values of any shape, flattened, again and again, as NumPy does."""

from __future__ import annotations

import linecache
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import transkern
from tests.trust.against_python import difference
from transkern import CompileError

STATEMENTS = """
a.flat[np.where(m.ravel())] = np.expand_dims(v, 1)
a.flat[np.where(m.ravel())[0]] = v; b = a.flat[2] + a.flat[-2] + a.flat[k]
a.flat[m.ravel()] = v; b = a.flat[m.ravel()]
a.flat = v
a.flat = 7; a.T.flat[1] = v[0]
a.flat = np.arange(30); b = a.T.flat[:5]
a.flat = np.ones((0,)); a.flat[1:4] = v[:0]; a.flat[:k] = v[k:k]
a.flat = [[1, 2], [3, 4]]; b = a.flat.copy(); b[0] = 99
a.flat[1:9] = v; a.flat[1:3] = v
a.flat[k:] = v; b = a.flat[1:4]; b[0] = 99
a.flat[1:4] = [[7], [8], [9]]; a.flat[...] = v * 2; b = a.flat[...]; b[1] = 3
a.flat[[0, 1, 0]] = v; b = a.flat[np.array([[0, 1], [2, 3]])]
a.flat[np.array([[0, 1], [2, 3]])] = v
a.flat[[0, 1, 2, 3, 4]] = v; a.flat[::-1] = a.flat[:5]
a.flat[::-1] = v; a.flat[::5] = 0; a.flat[-1:-k:-1] = v
a.T.flat[::2] = v; a[1:, ::2].flat[1:] = v; b = a[:, 1].flat[:]
a.flat[1:3] += 1; a.flat[[1, 1]] += 1; a.flat[k] *= 3; a.flat[:k] += v[:k]
a.flat[:] = a.flat[::-1]; a.flat[:6] = a.flat[3:]
a.flat = a * 2 + a[0, 0]
f = a.flat; f[1:3] = v; f[k] = 5; b = f[:4]
b = np.add(a.flat, 1) + np.sum(a.flat) + len(a.flat)
b = a.flat == 3; a.T.flat = 2
b = [x + 1 for x in a.T.flat]; a[0, 0] = sum(a.flat) + max(a.flat) + (3 in a.flat)
b = isinstance(a.flat, np.ndarray)
b = np.asarray(a.flat); b[0] = 99
a[:0].flat[:] = v; b = a[:0].flat[:]
a.flat[np.flatnonzero(a > k)] = v[::-1]
for j in range(a.size): a.flat[j] = a.flat[(j + k) % a.size] + j
a.flat[20] = 1
b = a.flat[12]
b = a.flat[1, 2]
a.flat[m] = 1
a.flat[np.where(m)] = 1
a.flat[m.ravel()[:5]] = 1
b = a.flat.sum()
b = a.flat.shape
""".strip().splitlines()

REFUSED = """
b = a.flat + 1
a.flat += 1
a.flat[1:] = a.ravel()
a.flat[2] = v
a.flat[None] = 1
f = a.flat; b = [x for x in f]; b += [x for x in f]
b = next(a.flat)
""".strip().splitlines()


def function_of(statements: str) -> Callable[..., Any]:
    lines = "\n    ".join(statements.split("; ") if not statements.startswith("for") else [statements])
    source = f"import numpy as np\n\n\ndef f(a, m, v, k):\n    b = None\n    {lines}\n    return b\n"
    file = f"<flat: {statements}>"
    linecache.cache[file] = len(source), None, source.splitlines(keepends=True), file
    space: dict[str, Any] = {"__name__": "flat"}
    exec(compile(source, file, "exec"), space)
    made: Callable[..., Any] = space["f"]
    return made


def outcome(function: Callable[..., Any]) -> tuple[Any, Any]:
    a = np.arange(12.0).reshape(3, 4)
    try:
        return function(a, a > 5, np.array([10.0, 20.0, 30.0]), 2), a
    except (IndexError, AttributeError) as error:
        return type(error).__name__, a


@pytest.mark.parametrize("statements", STATEMENTS)
def test_flat_is_numpys(statements: str) -> None:
    function = function_of(statements)
    np.testing.assert_equal(outcome(transkern.compile(function)), outcome(function))


@pytest.mark.parametrize("statements", REFUSED)
def test_what_is_an_iterators_is_refused(statements: str) -> None:
    with pytest.raises(CompileError):
        outcome(transkern.compile(function_of(statements)))


@pytest.mark.parametrize("at", [9, -9])
def test_positions_outside_are_told_without_an_axis(at: int) -> None:
    def load(a: Any, k: Any) -> Any:
        return a.flat[k]

    def store(a: Any, k: Any) -> Any:
        a.flat[k] = 5.0

    for function in (load, store):
        with pytest.raises(IndexError) as wanted:
            function(np.zeros((2, 2)), at)
        with pytest.raises(IndexError) as found:
            transkern.compile(function, target="cpu")(np.zeros((2, 2)), at)
        assert str(found.value) == str(wanted.value)


NUMBERS = (
    "a[0]", "a[0] + 0", "a.max()", "int(a[0])", "np.int64(300)", "300", "k", "3.7", "1e30", "float('nan')",
    "float('inf')", "x[0]", "x[1]", "x[2]", "True", "np.array(300)",
)  # fmt: skip


@pytest.mark.parametrize("number", NUMBERS)
def test_numbers_that_the_type_does_not_hold(number: str) -> None:
    """One element takes them or raises an error of its own; several get what a cast makes of NumPy's numbers."""
    given = [np.array([2**63 - 2, 1]), np.array([np.nan, 2.5, 1e30]), np.zeros(3, "i1"), 200]
    for store in ("y.flat[0] = v", "y.flat[-4] = v", "y[0] = v", "y.flat[:] = v", "y.flat[[0, 2]] = v"):
        found = difference(f"v = {number}\n{store}\nreturn y", "a, x, y, k", given, stage=0)
        assert not found, found
