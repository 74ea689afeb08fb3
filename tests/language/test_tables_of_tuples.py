"""Arrays of lists whose elements are tuples (short lists) of tuples and rows."""

import numpy as np
import pytest

from tests.regressions.support import alike
from tests.tools import require


def segments(f, level):
    found = []
    for i in range(len(f) - 1):
        points = [(float(i), f[i]), (i + 0.5, f[i + 1])]
        if f[i] > level:
            found.append([points[0], points[1]])
    return np.array(found)


def of_three(n):
    found = []
    for i in range(1, n):
        found.append(((i, -i), (i * i, 2)))
    return np.array(found), np.asarray(found, dtype=np.float32)


def of_mixed_types(n):
    found = []
    for i in range(1, n):
        found.append([[i, 0.5], [True, i]])
    return np.array(found).sum(axis=0)


def of_rows(x):
    found = []
    for i in range(1, len(x)):
        found.append((x[i], x[i - 1]))
    return np.array(found), np.stack([a for a, _ in found])


def of_chosen_points(n):
    points = []
    for i in range(n):
        points.append((float(i), i / 3))
    pairs = []
    for k in range(0, len(points) - 1, 2):
        pairs.append([points[k], points[k + 1]])
    return np.array(pairs)


@pytest.mark.parametrize("target", ["cpu", "cuda"])
@pytest.mark.parametrize("function, arguments", [
    (segments, (np.array([0.5, -1.0, np.nan, 2.0, 3.0, -0.0]), 0.25)), (of_three, (5,)), (of_three, (2,)),
    (of_mixed_types, (4,)), (of_rows, (np.arange(12.0).reshape(4, 3),)), (of_chosen_points, (7,)),
], ids=lambda x: getattr(x, "__name__", ""))  # fmt: skip
def test_tables_of_tuples(target, function, arguments, monkeypatch):
    require("cc")
    monkeypatch.setenv("TRANSKERN_CUDA_SIM", "1")
    alike(function, *arguments, target=target)


def test_no_segments_at_all():
    alike(segments, np.zeros(4), 1.0)
