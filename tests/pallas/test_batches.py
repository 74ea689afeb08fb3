"""Batches whose parts go over much in order: one kernel where they are few, in step where they are many."""

import numpy as np
import pytest

from tests.fuzz.stages import function_of
from tests.pallas.support import compiled
from tests.regressions.support import alike
from transkern import pipeline
from transkern.ir import nodes as n
from transkern.ir.traverse import walk

MATCHED = """
def f(x, y, t):
    out = np.full(x.shape, -1)
    for k in range(x.shape[0]):
        used = np.zeros(y.shape[1], bool)
        for i in range(x.shape[1]):
            d = np.abs(y[k, :, 0] - x[k, i]) + y[k, :, 1]
            d[used] = np.inf
            j = d.argmin()
            if d[j] < t:
                used[j] = True
                out[k, i] = j
    return out
"""
SUPPRESSED = """
def f(x, t):
    order = np.argsort(x, axis=1, kind="stable")
    alive = np.ones(x.shape, bool)
    for k in range(x.shape[0]):
        for i in range(x.shape[1]):
            j = order[k, i]
            if alive[k, j]:
                alive[k] &= np.abs(x[k] - x[k, j]) > t
                alive[k, j] = True
    return alive
"""


@pytest.mark.parametrize("batch", [0, 1, 3, 300])
def test_each_part_by_itself(batch):
    rng = np.random.default_rng(batch)
    x, y = rng.random((batch, 5), np.float32), rng.random((batch, 7, 2), np.float32)
    alike(function_of("import numpy as np\n" + MATCHED), x, y, np.float32(0.8), target="pallas")
    alike(function_of("import numpy as np\n" + SUPPRESSED), x, np.float32(0.2), target="pallas")


@pytest.mark.parametrize(
    "source, types",
    [(MATCHED, "f(float32[b,n],float32[b,m,2],float32)"), (SUPPRESSED, "f(float32[b,n],float32)")],
)
def test_sizes_choose(source, types):
    program = pipeline.program_of("import numpy as np\n" + source, "f", types, pipeline.passes_for("pallas"))
    (choice,) = [s for s in program.body if isinstance(s, n.If)]
    assert any(isinstance(s, n.Kernel) and s.placement == "block" for s in walk(choice.then))
    assert "_loop: a kernel where VMEM holds its arrays" in compiled(source, types).text


def test_rows_with_the_same_places_go_in_step():
    source = "def f(x):\n    for k in range(len(x)):\n        for i in range(x.shape[1]):\n            x[k, i:] -= x[k, i]\n"
    program = pipeline.program_of(source, "f", "f(float32[b,n])", pipeline.passes_for("pallas"))
    assert not any(isinstance(s, n.If) for s in program.body)


def test_what_only_computes_goes_in_step():
    """A loop in order that stores nothing is part of a grid's block."""
    source = "def f(x):\n    y = np.empty(len(x), x.dtype)\n    for k in range(len(x)):\n        s = 0.0\n"
    source += "        for t in range(9):\n            s = (x[k] * s).sum() + 1\n        y[k] = s\n    return y\n"
    program = pipeline.program_of("import numpy as np\n" + source, "f", "f(float32[b,n])", pipeline.passes_for("pallas"))
    assert not any(isinstance(s, n.If) for s in program.body)
