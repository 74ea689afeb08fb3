"""What modules for the CPU have in common, compiled apart (`targets/cpu/common.py`)."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import transkern
from tests.tools import require
from transkern.runtime.caching import cache, cached
from transkern.targets.cpu import build, common, compiler
from transkern.targets.cpu.printing import glue
from transkern.targets.cpu.printing.waking import DEAL, WAKING
from transkern.targets.cpu.running import LATER, RUNNING

require("cc")

PARTS = (
    glue.PYTHON, glue.ERRSTATE, glue.RAISED, RUNNING, WAKING, glue.ARRAYS, glue.RESULTS, glue.LARGE_RESULTS,
    glue.FUNCTIONS, glue.LIBRARY, DEAL, LATER,
)  # fmt: skip


def test_declarations_define_nothing() -> None:
    for part in PARTS:
        left = [line for line in common.declared(part).splitlines() if re.match(r"static (?!inline )", line)]
        assert not left
    assert not re.search(r"^static (?!inline )", common.text(0, False), re.MULTILINE)


def test_its_names_are_no_other_modules(tmp_path: Path) -> None:
    """Two modules in one process have a `numpy` each: nothing of the common file is visible outside."""
    (tmp_path / "common.c").write_text(common.text(2, True))
    flags = [f for f in compiler.flags() if f != "-shared"]
    said = build.run_compiler([*flags, *common.FLAGS], (tmp_path / "common.c",), tmp_path / "common.o")
    assert not said
    linked = tmp_path / "common.so"
    command = [*compiler.command(), "-shared", "-fopenmp", str(tmp_path / "common.o"), "-o", str(linked)]
    subprocess.run(command, check=True)
    listed = subprocess.run(["nm", "-D", "--defined-only", str(linked)], capture_output=True, text=True, check=True)
    assert not [line for line in listed.stdout.splitlines() if line.split()[-1] not in ("_init", "_fini")]


def much(x: Any, a: Any, k: int) -> Any:
    """Arrays in and out, large ones, views, library steps, threads, an error."""
    kept = []
    for v in x:
        if v > k:
            kept.append(v)
    wide = np.exp(a) * 2 + a
    return np.array(kept), wide, np.sort(x)[::-1], a.T @ a, x[k] / 0.0, a[0] if k else a[1:]


@pytest.mark.parametrize("options", [{}, {"threads": 2}, {"warnings": "numpy"}, {"fastmath": True}])
def test_linked_modules_are_those_that_are_not(options: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    x, a = np.array([3.0, 1.0, 2.0]), np.arange(400_000.0).reshape(-1, 2) % 7
    outcomes = []
    for apart in (True, False):
        with monkeypatch.context() as patch:
            if not apart:
                patch.setattr(cached._Common, "object_of", lambda *_: None)
            patch.setattr(cache, "read", lambda *_: None)
            compiled = transkern.compile(much, target="cpu", **options)
            with np.errstate(all="ignore"):
                outcomes.append([compiled(x, a, k) for k in (0, 1, 2)])
            with pytest.raises(IndexError, match="index 7 is out of bounds"):
                compiled(x, a, 7)
    for one, two in zip(*outcomes, strict=True):
        for p, q in zip(one, two, strict=True):
            np.testing.assert_array_equal(p, q)


def until_it_is_full(x: Any) -> Any:
    """A list without a bound, for which addresses are reserved."""
    kept, k = [], 0
    while k < 100:
        kept.append(x[k % 6] * k)
        k += int(x[3])
    return np.array(kept), len(kept)


@pytest.mark.parametrize("function", [much, until_it_is_full], ids=lambda f: f.__name__)
def test_each_module_is_compiled_once(function: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was declared only did not compile, for want of a header, and the whole text was compiled behind it."""
    said = []
    run = build.run_compiler

    def watched(flags: Any, sources: Any, out: Path) -> str:
        if out.suffix == ".so":
            said.append(run(flags, sources, out))
            return said[-1]
        return run(flags, sources, out)

    monkeypatch.setenv("TRANSKERN_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(build, "run_compiler", watched)
    given = (np.arange(6.0),) if function is until_it_is_full else (np.arange(6.0), np.ones((3, 2)), 1)
    with np.errstate(all="ignore"):
        transkern.compile(function, target="cpu")(*given)
    assert said == [""]
