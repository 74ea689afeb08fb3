"""Every case of the language against NumPy on the CPU: values, dtypes, containers, exceptions, effects on arguments."""

from __future__ import annotations

import copy
import warnings
from typing import Any

import numpy as np
import pytest

import transkern
from tests.language import (  # noqa: F401  (they fill the registry)
    arguments_at_first,
    basics,
    caught,
    changes_before_errors,
    characters,
    complex_numbers,
    corners,
    everyday,
    from_itertools,
    generators,
    keys_at_run_time,
    kinds_of_values,
    lists_compared,
    lists_of_lists,
    lists_of_numbers,
    met_in_libraries,
    nones,
    nones_in_lists,
    objects,
    objects_in_lists,
    places_in_turn,
    random_numbers,
    recursion,
    shared_memory,
    shrinking,
    steps,
    waiting,
)
from tests.language.registry import CASES, Case
from transkern.ir.generators import state_of


def difference(got: Any, wanted: Any, tolerance: float) -> str:
    """What differs between two results, or nothing."""
    if type(got) is not type(wanted):
        return f"{type(got)} instead of {type(wanted)}"
    if isinstance(wanted, (np.random.Generator, np.random.RandomState)):
        return difference(state_of(got), state_of(wanted), 0.0)
    if hasattr(wanted, "__dict__") and type(wanted).__module__.startswith("tests.language."):
        return difference(vars(got), vars(wanted), tolerance)
    if isinstance(wanted, dict):
        return difference(list(got.items()), list(wanted.items()), tolerance)
    if isinstance(wanted, (list, tuple)):
        if len(got) != len(wanted):
            return f"length {len(got)} instead of {len(wanted)}"
        parts = (f"[{k}]: {d}" for k, (g, w) in enumerate(zip(got, wanted, strict=True)) if (d := difference(g, w, tolerance)))
        return next(parts, "")
    if isinstance(wanted, (np.ndarray, np.generic)):
        if (got.dtype, got.shape) != (wanted.dtype, wanted.shape):
            return f"{got.dtype}{got.shape} instead of {wanted.dtype}{wanted.shape}"
        inexact = wanted.dtype.kind in "fc"
        if tolerance and inexact:
            same = np.allclose(got, wanted, rtol=tolerance, atol=tolerance, equal_nan=True)
        else:
            same = np.array_equal(got, wanted, equal_nan=inexact)
        return "" if same else f"{got} instead of {wanted}"
    if isinstance(wanted, (float, complex)) and got != got and wanted != wanted:
        return ""
    if isinstance(wanted, (float, complex)) and abs(got - wanted) <= tolerance * max(1.0, abs(wanted)):
        return ""
    return "" if got == wanted else f"{got!r} instead of {wanted!r}"


def clone(value: Any) -> Any:
    """A copy that keeps the strides."""
    if isinstance(value, np.ndarray) and not value.flags.c_contiguous and value.size:
        memory = value.base.copy()
        offset = value.__array_interface__["data"][0] - value.base.__array_interface__["data"][0]
        return np.ndarray(value.shape, value.dtype, memory, offset, value.strides)
    return copy.deepcopy(value)


@pytest.mark.parametrize("case", CASES, ids=lambda c: c.function.__name__)
def test_case_is_numpys(case: Case) -> None:
    wanted_args, got_args = (tuple(clone(a) for a in case.args) for _ in range(2))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            wanted: Any = case.function(*wanted_args)
        except Exception as error:
            with pytest.raises(type(error)) as raised:
                transkern.compile(case.function, target="cpu")(*got_args)
            assert str(raised.value) == str(error)
        else:
            got = transkern.compile(case.function, target="cpu")(*got_args)
            assert not difference(got, wanted, case.tolerance)
    for g, w in zip(got_args, wanted_args, strict=True):
        assert not difference(g, w, 0.0), "an argument differs after the call"
