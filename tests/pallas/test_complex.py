"""Complex numbers with JAX: pairs of floats inside, complex arrays outside."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import transkern
from tests.language import complex_numbers as cases
from tests.language.test_complex import functions
from tests.language.test_language import clone, difference
from tests.tools import require

require("jax", "astor")


@pytest.mark.parametrize("name", ["complex_stores", "complex_mandelbrot", "complex_reductions", "complex_scalars",
                                  "complex_low_pass", "complex_parts_are_views", "complex_python"])  # fmt: skip
def test_programs(name: str) -> None:
    case = next(c for c in cases.CASES if c.function.__name__ == name)
    wanted_args, got_args = (tuple(clone(a) for a in case.args) for _ in range(2))
    wanted = case.function(*wanted_args)
    got = transkern.compile(case.function, target="pallas")(*got_args)
    assert not difference(got, wanted, max(case.tolerance, 1e-14))
    for g, w in zip(got_args, wanted_args, strict=True):
        assert not difference(g, w, 1e-14)


@pytest.mark.parametrize("dtype", [np.complex128, np.complex64])
def test_functions(dtype: Any) -> None:
    random = np.random.default_rng(3)
    z = (3 * random.standard_normal(50) + 3j * random.standard_normal(50)).astype(dtype)
    got, wanted = transkern.compile(functions, target="pallas")(z), functions(z)
    for g, w in zip(got, wanted, strict=True):
        np.testing.assert_allclose(g, w, rtol=200 * np.finfo(dtype).eps)
