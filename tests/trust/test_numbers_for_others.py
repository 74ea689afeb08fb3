"""Numbers where NumPy takes integers, or texts: its exception, or a refusal, never another result."""

from __future__ import annotations

import numpy as np
import pytest

import transkern
from tests.fuzz.oracle import call, difference
from tests.fuzz.stages import function_of

CALLS = [
    "triu_indices_from(x, 0.3)", "tril_indices_from(x, 0.3)", "triu(x, 0.3)", "tril(x, -0.5)", "tri(3, 4, 0.5)",
    "triu_indices(3, 0.5)", "tril_indices(3, 0.5, 4)", "eye(3, k=0.5)", "diag(x, 0.5)", "trace(x, 0.5)", "roll(x, 0.5)",
    "rot90(x, 0.5)", "repeat(x, 1.5)", "tile(x, 1.5)", "diff(x, 0.5)", "partition(x, 0.5)", "vander(x[0], 2.5)",
    "expand_dims(x, 0.5)", "array_split(x, 1.5)", "linspace(0, 1, 2.5)", "take(x, 0.5)", "insert(x, 0.5, 1)",
    "delete(x, 0.5)", "full(2.5, 1)", "round(x, 0.5)", "unravel_index(2.5, (3, 4))", "convolve(x[0], x[1], 0.5)",
    "moveaxis(x, 0.5, 1)", "pad(x, 0.5)", "searchsorted(x[0], 1, 0.5)", "sort(x, kind=0.5)", "sum(x, 0.5)",
    "ravel_multi_index((1.5, 2), (3, 4))", "concatenate([x, x], 0.5)", "argmax(x, 0.5)", "split(x, 1.5)",
]  # fmt: skip


@pytest.mark.parametrize("line", CALLS)
def test_no_other_result(line: str) -> None:
    function = function_of(f"import numpy as np\n\n\ndef f(x):\n    return np.{line}\n")
    x = np.arange(12.0).reshape(3, 4)
    try:
        found = call(transkern.compile(function), [x], transkern.CompileError)
    except transkern.CompileError:
        return
    assert not difference(found, call(function, [x]))
