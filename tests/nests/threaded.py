"""Nests on the CPU under ThreadSanitizer.

The code is built with `-fsanitize=thread` and with `gomp.c` in place of OpenMP's runtime, into a cache of its own; a
second process, into which the sanitizer's runtime is loaded first, takes it from there and runs it.
"""

from __future__ import annotations

import functools
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import transkern
from tests.nests.collected import NESTS, Nest
from tests.nests.random_nests import random_nest
from tests.nests.registry import Sizes
from tests.nests.test_table import outcome
from transkern.targets.cpu import build
from transkern.targets.cpu import compiler as cc
from transkern.targets.cpu.printing import waking
from transkern.targets.cuda.simulator.check import _fixed_addresses

RUNTIME = Path(__file__).with_name("gomp.c")
_FLAGS = ("-std=gnu11", "-O1", "-g", "-fsanitize=thread", "-fopenmp", "-fPIC", "-fwrapv", "-ffp-contract=off", "-w")


def chosen(nest: Nest) -> list[Sizes]:
    """The two largest shapes: all others of the sort do the same with fewer iterations."""
    return sorted(nest.shapes, key=lambda s: int(np.prod([abs(v) + 1 for v in s.values()])))[-2:]


@functools.cache
def _runtime(folder: Path) -> Path:
    made = folder / "gomp.o"
    subprocess.run([*cc.command(), *_FLAGS, "-c", str(RUNTIME), "-o", str(made)], check=True)
    return made


def _compile_for(folder: Path, edit: Callable[[str], str]) -> Callable[..., bytes]:
    def compile_text(text: str, name: str, *others: Any) -> bytes:
        source, out = folder / f"{name}.c", folder / f"{name}.so"
        source.write_text(edit(text))
        made = source.with_suffix(".o")
        subprocess.run([*cc.command(), *_FLAGS, "-c", str(source), "-o", str(made)], check=True)
        # Linked without -fopenmp: the OpenMP functions are those of gomp.c.
        link = [*cc.command(), "-shared", "-fsanitize=thread", str(made), str(_runtime(folder)), "-lm", "-o", str(out)]
        subprocess.run(link, check=True)
        missing = re.findall(
            r"U ((?:GOMP|omp)_\w+)", subprocess.run(["nm", "-u", str(out)], capture_output=True, text=True).stdout
        )
        assert not missing, f"{RUNTIME.name} lacks {', '.join(missing)}"
        return out.read_bytes()

    return compile_text


def races(nests: Iterable[Nest], edit: Callable[[str], str] = lambda text: text) -> dict[str, str]:
    """The races that the runs of `nests` show, by name; `edit` changes the C text first."""
    nests = list(nests)
    with tempfile.TemporaryDirectory() as name, pytest.MonkeyPatch.context() as patch:
        folder = Path(name)
        patch.setenv("XDG_CACHE_HOME", name)
        patch.setattr(waking, "ALWAYS", True)
        patch.setattr(build, "compile_text", _compile_for(folder, edit))
        patch.setattr(build, "load", lambda built, name, path: _Unloaded(name))
        for nest in nests:
            for sizes in chosen(nest):  # a new one each time: nothing here says that it is for other arguments
                outcome(transkern.compile(nest.function, target="cpu"), nest.inputs(0, sizes))
        return _run([nest.name for nest in nests])


class _Unloaded:
    """Stands for a built module in the process that cannot load it."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __getattr__(self, name: str) -> Callable[..., None]:
        return lambda *args: None


def _run(names: list[str]) -> dict[str, str]:
    library = subprocess.run(
        [*cc.command(), "-print-file-name=libtsan.so"], capture_output=True, text=True
    ).stdout.strip()
    prefix = _fixed_addresses()  # ThreadSanitizer wants them without randomisation
    environment = os.environ | {
        "LD_PRELOAD": library, "OPENBLAS_NUM_THREADS": "1",
        "TSAN_OPTIONS": "halt_on_error=0:exitcode=0:report_thread_leaks=0:report_signal_unsafe=0",
    }  # fmt: skip
    run = subprocess.run(
        [*prefix, sys.executable, "-m", "tests.nests.threaded", *names], capture_output=True, text=True,
        env=environment, cwd=Path(__file__).parents[2], errors="replace", timeout=300,
    )  # fmt: skip
    assert run.returncode == 0 and "\nnest: end\n" in run.stderr, run.stderr[-4000:]
    parts = re.split(r"^nest: (\w+)$", run.stderr, flags=re.MULTILINE)[1:]
    return {
        name: text for name, text in zip(parts[::2], parts[1::2], strict=True) if "WARNING: ThreadSanitizer" in text
    }


def main(names: list[str]) -> None:
    """The second process: each nest by its name. What it refuses to take from the cache it builds itself."""
    by_name = {nest.name: nest for nest in NESTS}
    os.environ.pop("LD_PRELOAD")  # not for the compiler
    waking.ALWAYS = True
    build.compile_text = _compile_for(Path(os.environ["XDG_CACHE_HOME"]), lambda text: text)
    for name in names:
        nest = by_name.get(name) or random_nest(int(name.removeprefix("random_")))
        os.write(2, f"nest: {name}\n".encode())
        compiled = transkern.compile(nest.function, target="cpu")
        for sizes in chosen(nest):
            outcome(compiled, nest.inputs(0, sizes))
    os.write(2, b"nest: end\n")


if __name__ == "__main__":
    main(sys.argv[1:])
