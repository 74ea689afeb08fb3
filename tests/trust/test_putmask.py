"""What `np.putmask` takes: arrays that its target holds safely, and numbers and lists of any type."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import transkern

VALUES = (np.float64(2.5), np.array(2.5), np.array([2.5]), 2.5, np.int64(300), [2.5], np.array([300]), True, (1.5, 2.5))


def put(y: Any, m: Any, v: Any) -> Any:
    np.putmask(y, m, v)
    return y


def _outcome(function: Any, value: Any) -> str:
    try:
        return repr(function(np.zeros(3, np.int8), np.array([1, 0, 1]), value))
    except TypeError as error:
        return str(error)


@pytest.mark.parametrize("value", VALUES, ids=repr)
def test_values_are_cast_as_numpy_casts_them(value: Any) -> None:
    assert _outcome(transkern.compile(put, target="cpu"), value) == _outcome(put, value)
