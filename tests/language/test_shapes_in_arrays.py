"""`reshape` by an array of integers: as many axes as it has elements, which only the run knows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import transkern
from tests.tools import on_target


def reshaped(x: Any, shape: Any) -> Any:
    return x.reshape(shape) + 1, np.reshape(x, np.flip(shape))


@pytest.mark.parametrize("target", ["cpu", "cuda"])
def test_shapes_in_arrays(target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    on_target(target, monkeypatch)
    compiled = transkern.compile(reshaped, target=target)
    for shape in ([3, 4], [12, 1], [1, 12], [2, 3, 2]):
        found, wanted = (f(np.arange(12.0), np.array(shape)) for f in (compiled, reshaped))
        assert all(np.array_equal(a, b) and a.shape == b.shape for a, b in zip(found, wanted, strict=True))
    errors = []
    for f in (compiled, reshaped):
        with pytest.raises(ValueError) as caught:
            f(np.arange(12.0), np.array([5, 5]))
        errors.append(str(caught.value))
    assert errors[0] == errors[1]
    with pytest.raises(RuntimeError, match="not compiled"):  # what remains: known at the call only
        compiled(np.arange(12.0), np.array([-1, 6]))
