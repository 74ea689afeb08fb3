"""Lists of lists with more places than a buffer for each is kept: one table, or memory for each row made once."""

import pytest

import transkern
from tests.regressions.support import alike
from tests.tools import require


def a_table(a, b):
    rows = [[-(10**9)] * (len(b) + 1) for _ in range(len(a) + 1)]
    rows[0][0] = 0
    for i in range(1, len(a) + 1):
        rows[i][0] = -i
        for j in range(1, len(b) + 1):
            same = 2 if a[i - 1] == b[j - 1] else -1
            rows[i][j] = max(rows[i - 1][j - 1] + same, rows[i - 1][j] - 2, rows[i][j - 1] - 2)
    return rows[-1][-1], rows


def of_several_lengths(n):
    rows = []
    for i in range(n):
        rows.append([i] * 20 if i % 3 else [0.5] * 18)
    rows[0][2] = 7
    rows[1].append(n)
    return rows, [len(row) for row in rows], sum(rows[1])


def that_grow(n):
    rows = [[i + 1 for i in range(17)] for _ in range(n)]
    for i in range(n):
        rows[i % 3].append(i)
        rows[i].extend([i, -i, 2.5])
    return rows


def empty_ones(n):
    rows = [[0] * 17]
    for i in range(n):
        rows.append([])
        if i % 4:
            rows[-1] += [i, -i]
    return rows


def with_none(n):
    rows = [[None] * 18 for _ in range(n)]
    for i in range(n):
        rows[i][i % 18] = i
    return [sum(1 for x in row if x is None) for row in rows], rows[0][0]


@pytest.mark.parametrize("target", ["cpu", "cuda"])
@pytest.mark.parametrize("function, arguments", [
    (a_table, ("GATTACAGATTACATTGACCA", "GCATGCUGATTTACAGGAC")), (of_several_lengths, (5,)), (that_grow, (4,)),
    (empty_ones, (6,)), (with_none, (3,)),
], ids=lambda x: getattr(x, "__name__", ""))  # fmt: skip
def test_long_rows(target, function, arguments, monkeypatch):
    require("cc")
    monkeypatch.setenv("TRANSKERN_CUDA_SIM", "1")
    alike(function, *arguments, target=target)


def test_a_table_is_no_memory_for_each_row():
    compiled = transkern.compile(a_table, target="cpu")
    compiled("GATTACAGATTACATTGACCA", "GCATGCUGATTTACAGGAC")
    assert "items_pool" not in compiled.emit()
