"""Compilers that are not the usual ones: from PyPI, and without a runtime for OpenMP."""

from __future__ import annotations

import importlib.util
import shutil
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import transkern
from tests.tools import require
from transkern.targets.cpu import build, compiler


def test_a_compiler_from_pypi_serves_where_the_machine_has_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CC", raising=False)
    found = shutil.which
    monkeypatch.setattr(shutil, "which", lambda name, *a, **k: None if name in ("cc", "gcc", "clang") else found(name))
    find = importlib.util.find_spec
    known: list[str] = []
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: object() if name in known else find(name))
    if find("ziglang") is None:
        with pytest.raises(transkern.TargetUnavailable) as caught:
            compiler.command()
        assert "apt install gcc" in str(caught.value) and "transkern[compiler]" in str(caught.value)
    known.append("ziglang")
    assert compiler.command() == (sys.executable, "-m", "ziglang", "cc")
    assert compiler.identity()


@pytest.mark.parametrize(
    ("data", "lacks"),
    [
        (b"\0__kmpc_fork_call\0printf\0", True),
        (b"\0libomp.so\0__kmpc_fork_call\0", False),
        (b"\0libiomp5.so\0__kmpc_fork_call\0", False),
        (b"\0libgomp.so.1\0GOMP_parallel\0", False),
        (b"\0printf\0", False),
    ],
)
def test_objects_without_a_runtime_for_openmp_are_known(data: bytes, lacks: bool) -> None:
    assert build.lacks_openmp(data) is lacks


def test_a_compiler_that_links_no_runtime_gives_code_for_one_thread(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """As zig's: it takes ``-fopenmp``, and leaves the runtime to whoever loads the object."""
    require("cc")
    monkeypatch.setenv("TRANSKERN_CACHE_DIR", str(tmp_path))
    flags: list[list[str]] = []
    run = build.run_compiler

    def noted(given: Any, sources: Any, out: Path) -> str:
        flags.append(list(given))
        said = run(given, sources, out)
        if not said and "-fopenmp" in given:
            out.write_bytes(out.read_bytes() + b"__kmpc_fork_call\0")
        return said

    monkeypatch.setattr(build, "run_compiler", noted)
    monkeypatch.setattr(build, "warn_once", lambda *_: None)

    def total(x: Any) -> Any:
        return np.sum(np.sqrt(x)), x * 2

    x = np.arange(1000.0)
    found, wanted = transkern.compile(total, target="cpu")(x), total(x)
    assert np.isclose(found[0], wanted[0]) and np.array_equal(found[1], wanted[1])
    assert "-fopenmp-simd" in flags[-1] and "-fopenmp" not in flags[-1]
