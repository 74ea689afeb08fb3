"""`fallback="numpy"`: whatever keeps code from being made or taken, the call does what the function does in NumPy."""

from __future__ import annotations

import copy
import subprocess
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import transkern
from transkern.targets.cpu import build


class Frame:
    """Stands for a table of another library: knows its values, and answers what it is asked in its own way."""

    def __init__(self, values: Any) -> None:
        self.values = np.array(values)

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return self.values if dtype is None else self.values.astype(dtype)

    def __getitem__(self, key: Any) -> Any:
        return Frame(self.values[key])

    def __setitem__(self, key: Any, value: Any) -> None:
        self.values[key] = value.values if isinstance(value, Frame) else value

    def __repr__(self) -> str:
        return f"Frame({self.values!r})"


ARGUMENTS: dict[str, Callable[[], Any]] = {
    "masked": lambda: np.ma.masked_array([1.0, 2.0, 3.0], [0, 1, 0]),
    "object": lambda: np.array([1, 2.5, "a"], dtype=object),
    "other byte order": lambda: np.arange(3.0).astype(">f8"),
    "dates": lambda: np.array(["2020-01-01", "2021-01-01"], "M8[D]"),
    "durations": lambda: np.array([1, 2], "m8[s]"),
    "records": lambda: np.array([(1, 2.0), (3, 4.0)], dtype=[("a", "i4"), ("b", "f8")]),
    "recarray": lambda: np.rec.array([(1, 2.0), (3, 4.0)], dtype=[("a", "i4"), ("b", "f8")]),
    "matrix": lambda: np.matrix([[1.0, 2.0], [3.0, 4.0]]),
    "text": lambda: np.array(["b", "a"]),
    "long double": lambda: np.arange(3.0, dtype="g"),
    "table": lambda: Frame([3.0, 1.0]),
    "list": lambda: [1, "a", None],
    "dict": lambda: {0: 1, 1: object},
    "namespace": lambda: SimpleNamespace(x=1),
    "number": lambda: 2**70,
    "nothing": lambda: None,
    "read-only": lambda: _read_only(np.arange(3.0).astype(">f8")),
}


def _read_only(array: Any) -> Any:
    array.flags.writeable = False
    return array


def swapped(x: Any) -> Any:
    x[0] = x[1]
    return x[::-1]


def outcome(function: Callable[..., Any], argument: Any) -> tuple[Any, ...]:
    try:
        result = function(argument)
    except Exception as error:
        result = (type(error), str(error))
    flags = [getattr(getattr(a, "flags", None), "writeable", None) for a in (argument, result)]
    return repr(result), type(result), repr(argument), flags


@pytest.mark.parametrize("kind", ARGUMENTS)
def test_arguments_of_any_kind(kind: str) -> None:
    """The same result, error and effect; what could be written can be; the reason is said once."""
    argument = ARGUMENTS[kind]()
    compiled = transkern.compile(swapped, target="cpu", fallback="numpy")
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        for _ in range(2):
            mine, theirs = copy.deepcopy(argument), copy.deepcopy(argument)
            for array in (mine, theirs):
                if kind == "read-only":
                    _read_only(array)
            assert outcome(compiled, mine) == outcome(swapped, theirs)
    texts = [str(w.message) for w in said if "runs in NumPy" in str(w.message)]
    assert len(texts) <= 1
    assert all(w.filename == __file__ for w in said)
    array = np.arange(5.0)  # what can be compiled still is
    np.testing.assert_array_equal(compiled(array), swapped(np.arange(5.0)))
    assert compiled.cache_info().compiled + compiled.cache_info().from_disk >= 1


@pytest.mark.parametrize("trouble", ["no compiler", "a broken one", "no folder", "no device"])
def test_machines_of_any_kind(trouble: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def scaled(x: Any) -> Any:
        x += 1
        return x * 5

    monkeypatch.setenv("TRANSKERN_CACHE_DIR", str(tmp_path / "cache"))
    target = "cpu"
    match trouble:
        case "no compiler":
            monkeypatch.setenv("PATH", str(tmp_path))
            monkeypatch.delenv("CC", raising=False)
            reason = "no C compiler was found"
        case "a broken one":
            monkeypatch.setenv("CC", "false")
            reason = "the C compiler failed"
        case "no folder":
            monkeypatch.setattr(build, "places", lambda first=None: iter([tmp_path / "none"]))
            reason = "no folder in which the C compiler could work"
        case _:
            monkeypatch.delenv("TRANSKERN_CUDA_SIM", raising=False)
            monkeypatch.setitem(sys.modules, "cupy", None)
            target, reason = "cuda", "cannot be imported"
    compiled = transkern.compile(scaled, target=target, fallback="numpy")
    x = np.zeros(3)
    with pytest.warns(UserWarning, match=reason) as said:
        for turn in range(3):
            np.testing.assert_array_equal(compiled(x), np.full(3, 5.0 * (turn + 1)))
    assert x.flags.writeable and len(said) == 1 and "`scaled` runs in NumPy" in str(said[0].message)


def test_what_failed_is_not_tried_at_each_call(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    runs: list[int] = []
    real = subprocess.run
    monkeypatch.setattr(subprocess, "run", lambda *args, **options: (runs.append(1), real(*args, **options))[1])
    monkeypatch.setenv("TRANSKERN_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("CC", "false")
    compiled = transkern.compile(lambda x: x + 5, target="cpu", fallback="numpy")
    with pytest.warns(UserWarning, match="runs in NumPy"):
        compiled(np.zeros(3))
    tried = len(runs)
    compiled(np.zeros(3))
    assert tried and len(runs) == tried
