"""What the tests of the kernels share: a call's outcome, and whether two are the same."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass
class Outcome:
    """What a call gave: its results and the arguments afterwards, or the exception."""

    values: list[Any]
    error: Exception | None = None


def outcome(function: Callable[..., Any], args: tuple[Any, ...]) -> Outcome:
    mine = copy.deepcopy(args)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            result = function(*mine)
        except Exception as error:
            return Outcome([], error)
    results = list(result) if isinstance(result, tuple) else [result]
    return Outcome(results + list(mine))


def difference(found: Outcome, wanted: Outcome, tolerance: float = 0.0) -> str:
    """What differs, or nothing; without a tolerance every bit counts but those of NaN."""
    if found.error is not None or wanted.error is not None:
        same = type(found.error) is type(wanted.error) and str(found.error) == str(wanted.error)
        return "" if same else f"{found.error!r} instead of {wanted.error!r}"
    for mine, theirs in zip(found.values, wanted.values, strict=True):
        if type(mine) is not type(theirs):
            return f"{type(mine)} instead of {type(theirs)}"
        if theirs is None:
            continue
        mine, theirs = np.asarray(mine), np.asarray(theirs)
        if (mine.dtype, mine.shape) != (theirs.dtype, theirs.shape):
            return f"{mine.dtype}{mine.shape} instead of {theirs.dtype}{theirs.shape}"
        number = ~np.isnan(theirs) if theirs.dtype.kind == "f" else np.ones(theirs.shape, bool)
        if tolerance and theirs.dtype.kind == "f":
            if not np.allclose(mine, theirs, tolerance, tolerance, equal_nan=True):
                return f"off by {np.nanmax(np.abs(mine - theirs)):.1e}"
        elif not np.array_equal(mine, theirs, equal_nan=theirs.dtype.kind == "f"):
            return f"{mine} instead of {theirs}"
        elif theirs.dtype.kind == "f" and (np.signbit(mine) & number != np.signbit(theirs) & number).any():
            return "a zero of another sign"
    return ""
