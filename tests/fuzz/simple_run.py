"""Run generated programs against NumPy:  python -m tests.fuzz.simple_run FIRST LAST [TARGET]"""

from __future__ import annotations

import copy
import importlib.util
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np

import transkern
from tests.fuzz.simple_programs import Program, generate


def arguments(seed: int, n: int) -> tuple[Any, ...]:
    """Vectors, a matrix, a float and an index: halves, so that sums are exact in any order."""
    rng = np.random.default_rng(seed)
    vectors = [rng.integers(-4, 5, n) * 0.5 for _ in range(2)]
    return (*vectors, rng.integers(-4, 5, (n, 3)) * 0.5, 1.5, int(rng.integers(0, n)))


def same(got: Any, wanted: Any) -> bool:
    """Equal up to rounding; a Python float may stand for a NumPy one where a branch chose between both."""
    if isinstance(wanted, tuple):
        return len(got) == len(wanted) and all(same(g, w) for g, w in zip(got, wanted, strict=True))
    if isinstance(wanted, np.ndarray):
        if type(got) is not np.ndarray or (got.dtype, got.shape) != (wanted.dtype, wanted.shape):
            return False
    return bool(np.allclose(got, wanted, rtol=1e-9, atol=1e-9, equal_nan=True))


def grown(values: Iterable[Any]) -> bool:
    """Whether a repeated product has left the range in which results can be compared."""
    return any(not np.all(np.abs(np.asarray(v)) < 1e100) for v in values)


def check(
    seeds: Iterable[int], target: str, folder: Path, make: Callable[[int], Program] = generate,
    given: Callable[[int, int], tuple[Any, ...]] = arguments,
) -> tuple[list[str], int]:  # fmt: skip
    """The programs that went wrong, and how many were refused."""
    failures: list[str] = []
    refused = 0
    for seed in seeds:
        program = make(seed)
        path = folder / f"program_{seed}.py"
        path.write_text(program.source)
        spec = importlib.util.spec_from_file_location(path.stem, path)
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        compiled = transkern.compile(module.f, target=target)
        for n in (5, 16):
            for_numpy, for_us = given(seed, n), given(seed, n)
            outcome = _run(module.f, for_numpy)
            try:
                result = _run(compiled, for_us)
            except transkern.CompileError:
                refused += 1
                break
            if isinstance(outcome, Exception) or isinstance(result, Exception):
                fits = type(outcome) is type(result) and str(outcome) == str(result)
            else:
                fits = grown(outcome) or (
                    same(result, outcome) and all(same(g, w) for g, w in zip(for_us[:3], for_numpy[:3], strict=True))
                )
            if not fits:
                failures.append(f"seed {seed}, n = {n}: {result!r} instead of {outcome!r}\n{program.source}")
                break
    return failures, refused


def _run(function: Any, args: tuple[Any, ...]) -> Any:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return copy.copy(function(*args))
    except transkern.CompileError:
        raise
    except Exception as error:
        return error


if __name__ == "__main__":
    first, last = int(sys.argv[1]), int(sys.argv[2])
    with tempfile.TemporaryDirectory() as folder:
        wrong, refusals = check(range(first, last), sys.argv[3] if len(sys.argv) > 3 else "cpu", Path(folder))
    print("\n".join(wrong))
    print(f"{last - first} programs: {len(wrong)} wrong, {refusals} refused")
    sys.exit(bool(wrong))
