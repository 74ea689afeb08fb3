"""Nests compiled for the CPU, against Python: on 1, 2 and 8 threads, which share even the shortest loop.

Two of three; all of them with `TRANSKERN_CORPUS=all` (`make corpus`).
"""

from __future__ import annotations

import ctypes
import re
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import transkern
from tests.corpus.test_corpus import ASKED
from tests.nests.collected import NESTS, Nest
from tests.nests.test_table import outcome
from tests.tools import require
from transkern.targets.cpu.printing import waking

require("cc", "gomp")

THREADS = (1, 2, 8)


@pytest.fixture(scope="module")
def threads(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[int], None]]:
    """Sets the number of threads; no loop is too short for them, and what is built here stays here."""
    openmp = ctypes.CDLL("libgomp.so.1")
    before = openmp.omp_get_max_threads()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(waking, "ALWAYS", True)
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        yield openmp.omp_set_num_threads
    openmp.omp_set_num_threads(before)


def close(got: Any, wanted: Any, tolerance: float) -> bool:
    """Equal, or within `tolerance` where it is not 0; of one type.

    Only a number that a loop of no trips leaves as it was may be NumPy's where it was Python's.
    """
    if type(got) is not type(wanted) and not (isinstance(got, np.float64) and isinstance(wanted, float)):
        return False
    if isinstance(wanted, (tuple, list)):
        return len(got) == len(wanted) and all(close(g, w, tolerance) for g, w in zip(got, wanted, strict=True))
    if isinstance(wanted, np.ndarray):
        if (got.dtype, got.shape) != (wanted.dtype, wanted.shape):
            return False
    if isinstance(wanted, (np.ndarray, np.generic, float)):
        return np.allclose(got, wanted, rtol=tolerance, atol=tolerance)
    return bool(got == wanted)


def ran_alike(nest: Nest, compiled: Callable[..., Any], seed: int, sizes: Any, overlap: bool) -> None:
    wanted = outcome(nest.function, nest.inputs(seed, sizes, overlap))
    got = outcome(compiled, nest.inputs(seed, sizes, overlap))
    assert got[2] == wanted[2], f"{sizes}: {got[2] or 'no error'} instead of {wanted[2] or 'none'}"
    if not wanted[2]:
        assert close(got[0], wanted[0], nest.tolerance), f"{sizes}: {got[0]} instead of {wanted[0]}"
    assert close(got[1], wanted[1], nest.tolerance), f"{sizes}: arguments {got[1]} instead of {wanted[1]}"


COMPARED = [nest for k, nest in enumerate(NESTS) if k % 3 or ASKED == "all"]


@pytest.mark.parametrize("nest", COMPARED, ids=lambda nest: nest.name)
def test_result_is_pythons(nest: Nest, threads: Callable[[int], None]) -> None:
    compiled = transkern.compile(nest.function, target="cpu")
    for sizes in nest.shapes:
        for count in THREADS:
            threads(count)
            for seed in range(2):
                ran_alike(nest, compiled, seed, sizes, False)
                if nest.shared is not None:
                    ran_alike(nest, compiled, seed, sizes, True)


def test_threads_share_short_loops(threads: Callable[[int], None]) -> None:
    openmp = ctypes.CDLL("libgomp.so.1")
    threads(8)
    assert openmp.omp_get_max_threads() == 8
    text = transkern.compile(lambda x: x + 1, target="cpu").emit(types="f(float64[n])")
    assert re.search(r"omp parallel for(?!.*if\()", text)
