"""What an array holds that a loop makes anew in each iteration changes from one to the next: places looked up in it."""

from typing import Any

import numpy as np
import pytest

from tests.regressions.support import alike
from tests.tools import on_target


def places(x: Any, k: int) -> None:
    for _ in range(1, k, 2):
        for _ in range(1):
            x[np.arange(1) % 1] += x


def looked_up(x: Any, k: int) -> None:
    for i in range(k):
        at = np.zeros(3, dtype=np.int64)
        for j in range(3):
            at[(j * 2) % 3] = (i + j) % 2 + 1
        x[at[2]] = x[at[2]] * 2 + at[0]


@pytest.mark.parametrize("target", ["cpu", "cuda", "pallas"])
@pytest.mark.parametrize("function", [places, looked_up])
def test_places_that_an_iteration_makes(function: Any, target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    on_target(target, monkeypatch)
    for k in (1, 4):
        alike(function, np.arange(5.0) if function is looked_up else np.arange(1.0) > 1, k, target=target)
