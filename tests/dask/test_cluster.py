"""`transkern.dask.apply` on a cluster: four processes, more data than any of them may hold, one of them killed."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from tests.tools import require

da = pytest.importorskip("dask.array")
distributed = pytest.importorskip("distributed")
td = pytest.importorskip("transkern.dask")

LIMIT = 400 * 2**20  # bytes that a worker may have


def blurred(x: Any, steps: int) -> Any:
    x = x.copy()
    for _ in range(steps):
        x[1:-1] = (x[2:] + 2 * x[1:-1] + x[:-2]) / 4
    return x


def slow_rows(x: Any) -> Any:
    """Some work for each row."""
    out = np.zeros(len(x))
    for i in range(len(x)):
        s = 0.0
        for _ in range(2000):
            for j in range(x.shape[1]):
                s = s * 0.5 + x[i, j]
        out[i] = s
    return out


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    require("cc")
    folder = tmp_path_factory.mktemp("dask")
    with (
        distributed.LocalCluster(
            n_workers=4, threads_per_worker=1, memory_limit=LIMIT, dashboard_address=None, local_directory=str(folder),
        ) as cluster,
        distributed.Client(cluster) as client,
    ):  # fmt: skip
        yield client


def _values(block_info: Any = None) -> Any:
    """A block of numbers that its place determines."""
    (start, stop), (left, right) = block_info[None]["array-location"]
    i, j = np.ogrid[start:stop, left:right]
    return np.sin(i * 0.37 + j * 0.11) + (i * 7 + j * 3) % 5


def test_more_data_than_a_worker_may_hold(client: Any) -> None:
    rows, columns = 16_000, 4_000
    assert rows * columns * 8 > LIMIT
    x = da.map_blocks(_values, chunks=((1000,) * 16, (4000,)), dtype=np.float64, meta=np.zeros((0, 0)))
    found = td.apply(blurred, x, 5)
    assert found.numblocks == (16, 1)
    sums = found.sum(axis=1).compute()
    for start in (0, 995, 7_990, 15_980):  # around the ends of chunks, on this machine alone
        first, last = max(start - 10, 0), min(start + 30, rows)
        i, j = np.ogrid[first:last, 0:columns]
        whole = blurred(np.sin(i * 0.37 + j * 0.11) + (i * 7 + j * 3) % 5, 5)
        low, high = (0 if first == 0 else 5), (len(whole) if last == rows else len(whole) - 5)
        np.testing.assert_allclose(sums[first + low : first + high], whole[low:high].sum(axis=1), rtol=1e-12)


def test_a_worker_that_is_killed_in_the_middle(client: Any) -> None:
    x = np.random.default_rng(0).standard_normal((400, 50))
    result = client.compute(td.apply(slow_rows, da.from_array(x, chunks=(10, 50))))
    workers = client.scheduler_info()["workers"]
    for _ in range(100):
        if any(client.processing().values()):
            break
        time.sleep(0.05)
    os.kill(next(iter(client.run(os.getpid, workers=[next(iter(workers))]).values())), signal.SIGKILL)
    assert np.array_equal(result.result(timeout=120), slow_rows_of(x))


def slow_rows_of(x: Any) -> Any:
    import transkern

    return transkern.compile(slow_rows, threads=1)(x)


def test_a_function_of_a_script_goes_with_its_text(client: Any) -> None:
    """Workers have no module in which they could look for it."""
    scope: dict[str, Any] = {}

    def local(x: Any, by: float) -> Any:
        return np.sqrt(np.abs(x)) * by

    x = np.arange(100.0)
    found = td.apply(local, da.from_array(x, chunks=30), 3.0)
    assert np.array_equal(found.compute(), local(x, 3.0)) and not scope
