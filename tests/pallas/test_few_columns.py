"""Arrays of up to sixteen columns that a loop in order goes along: code for that number, where there are many rows."""

import numpy as np
import pytest

import transkern
from tests.fuzz.stages import function_of
from tests.regressions.support import alike
from transkern import pipeline
from transkern.fuse.choices.small_sizes import few_columns
from transkern.ir import nodes as n
from transkern.ir.traverse import walk

OTHER_SIZES = True


def farthest(points, k):
    """Points one after the other, each the farthest from those before."""
    far = np.full(len(points), np.inf, points.dtype)
    found = np.zeros(k, np.int64)
    at = 0
    for step in range(k):
        found[step] = at
        apart = points - points[at]
        far = np.minimum(far, (apart * apart).max(axis=1))
        at = int(far.argmax())
    return found, far


def exchanged(rows):
    for i in range(len(rows)):
        least = i + rows[i:, 0].argmin()
        kept = rows[least].copy()
        rows[least] = rows[i]
        rows[i] = kept
    return rows


def points(rows, columns):
    values = np.random.default_rng(rows + columns).standard_normal((rows, columns)).astype(np.float32)
    values[rows // 2 :, columns - 1] = np.inf
    return values


@pytest.mark.parametrize("columns", [5, 14])
def test_many_rows_have_code_of_their_own(columns):
    for function, rest in ((farthest, (4,)), (exchanged, ())):
        compiled = transkern.compile(function, target="pallas")
        for rows in (3, 70, 1):
            alike(function, points(rows, columns), *rest, compiled=compiled)
        kinds = [one for one in compiled.cache_info().specialisations if f"_0,{columns}]" in one]
        assert len(kinds) == 1, compiled.cache_info()


@pytest.mark.parametrize(
    "line, columns",
    [
        ("y += x[:, 1] * x.sum(axis=1)", {"x"}),
        ("x[k] = x[k - 1]", {"x"}),
        ("x[:, 0] += y", {"x"}),
        ("y[:] = y[::-1] + k", set()),
        ("y += x[:, k]", set()),
    ],
)
def test_what_is_asked_for(line, columns):
    text = f"import numpy as np\ndef f(x, y):\n    for k in range(9):\n        {line}\n    return x, y\n"
    program = pipeline.program_of(text, "f", "f(float32[n,m], float32[n])", ())
    arrays = [p.name for p in program.params]
    assert {arrays[k] for _, k, _ in few_columns(program)} == columns
    assert all(demand == f"{arrays[k]}.1<<<" and axis == 1 for demand, k, axis in few_columns(program))


PIVOTED = """
def f(a):
    n = len(a)
    for k in range(n):
        p, most = k, abs(a[k, 0])
        for i in range(k + 1, n):
            if abs(a[i, 0]) > most:
                p, most = i, abs(a[i, 0])
        a[k, 0], a[p, 0] = a[p, 0], a[k, 0]
        a[k + 1 :, 1] += a[k, 0]
    return a
"""


BEHIND_A_BRANCH = """
def f(a):
    for k in range(len(a)):
        p, most = k, 0.5
        for i in range(k, len(a)):
            v = a[i - 1] + a[i] if i > 0 else a[i]
            if v * a[k] > most:
                p, most = i, v * a[k]
        a[p] -= 1
    return a
"""


@pytest.mark.parametrize("rows", [1, 90])
def test_a_search_behind_a_branch(rows):
    a = np.random.default_rng(rows).integers(-9, 9, rows).astype(np.float64)
    alike(function_of(BEHIND_A_BRANCH), a, target="pallas")


def test_what_is_left_of_an_array_is_searched_together():
    program = pipeline.program_of(PIVOTED, "f", "f(float32[n,3])", pipeline.passes_for("pallas"))
    assert any(isinstance(s, n.Accumulate) and s.op == "argmax" for s in walk(program.body))
    function = function_of(PIVOTED)
    for rows in (1, 2, 140):
        alike(function, np.random.default_rng(rows).integers(-9, 9, (rows, 3)).astype(np.float32), target="pallas")
