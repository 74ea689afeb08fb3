"""Kernels of numerical practice on the CPU: loops give Python's bits, array statements NumPy's, at small sizes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import transkern
from benchmarks.loops.kernels import KERNELS, Kernel
from tests.kernels.support import Outcome, difference, outcome
from tests.tools import require

require("cc")

SIZES = (0, 1, 2, 3, 17, 40)

TOLERANCE = 1e-11
"""Of sums that NumPy, or we, take in another order."""


@pytest.fixture(scope="module")
def wanted() -> dict[tuple[str, int], Outcome]:
    """What Python's own loops give, each kernel and size once."""
    return {
        (k.name, size): outcome(k.loops, k.inputs(np.random.default_rng(size), size))
        for k in KERNELS.values() for size in SIZES
    }  # fmt: skip


@pytest.mark.parametrize("kernel", KERNELS.values(), ids=lambda k: k.name)
def test_loops_give_pythons_bits(kernel: Kernel, wanted: dict[tuple[str, int], Outcome]) -> None:
    compiled = transkern.compile(kernel.loops, target="cpu")
    for size in SIZES:
        found = outcome(compiled, kernel.inputs(np.random.default_rng(size), size))
        assert not difference(found, wanted[kernel.name, size]), size


@pytest.mark.parametrize("kernel", [k for k in KERNELS.values() if k.slices], ids=lambda k: k.name)
def test_array_statements_give_numpys_values(kernel: Kernel) -> None:
    compiled: Any = transkern.compile(kernel.slices, target="cpu")
    for size in SIZES:
        args = kernel.inputs(np.random.default_rng(size), size)
        assert kernel.slices is not None
        theirs, found = outcome(kernel.slices, args), outcome(compiled, args)
        assert not difference(found, theirs, 0.0 if kernel.exact else TOLERANCE), size


@pytest.mark.parametrize("kernel", [k for k in KERNELS.values() if k.slices], ids=lambda k: k.name)
def test_loops_and_array_statements_are_the_same_function(
    kernel: Kernel, wanted: dict[tuple[str, int], Outcome]
) -> None:
    assert kernel.slices is not None
    for size in SIZES[1:]:  # Python's loops may make no iteration where NumPy's subscripts are out of range
        loops = wanted[kernel.name, size]
        slices = outcome(kernel.slices, kernel.inputs(np.random.default_rng(size), size))
        assert not difference(slices, loops, 0.0 if kernel.exact else TOLERANCE), size
