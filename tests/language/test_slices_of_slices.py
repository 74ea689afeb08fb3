"""Slices of slices between bounds that only a call knows: sizes by names, values and errors as NumPy's."""

from typing import Any

import numpy as np
import pytest

from tests.regressions.support import alike
from tests.tools import on_target


def frames(x: Any, hop: Any, size: Any) -> Any:
    out = np.zeros(max((len(x) - size - 3) // hop + 1, 0))
    for f in range(len(out)):
        part = x[f * hop : f * hop + size + 3]
        least = np.inf
        for lag in range(1, 4):
            difference = part[:size] - part[lag : lag + size]
            least = min(least, np.sum(difference**2))
        out[f] = least
    return out


def deeper(x: Any, hop: Any, size: Any) -> Any:
    y = x[hop : hop + size]
    if size > 4:
        y = y[1 : size - 1]
    z = y[hop - 1 : len(y) - hop + 2]
    w = z[: len(z) // 2 + hop]
    v = w[len(w) - size : len(w) + size : hop + 1]
    return v + 1, v[::-1][: len(w)] - 1, w[hop:] * 2, len(z), z[-size:].sum()


def rows(x: Any, hop: Any, size: Any) -> Any:
    table, found = x[: len(x) // 6 * 6].reshape(-1, 6), []
    for part in np.array_split(np.arange(len(table)), 2):
        for columns in np.array_split(np.arange(6), 3):
            cell = table[part[0] : part[-1] + 1, columns[0] : columns[-1] + 1]
            found.append(cell.sum() + cell[:hop, :1].sum())
    return np.array(found)


@pytest.mark.parametrize("target", ["cpu", "cuda", "pallas"])
@pytest.mark.parametrize("function", [frames, deeper, rows])
def test_slices_of_slices(function: Any, target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    on_target(target, monkeypatch)
    x = np.random.default_rng(2).integers(-9, 9, 40).astype(float)
    for hop, size in ((1, 5), (3, 9), (2, 30)) if target == "cpu" else ((3, 9),):
        alike(function, x, hop, size, target=target)
    if target == "cpu":
        alike(function, x[:13], 2, 4)
