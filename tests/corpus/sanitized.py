"""The corpus on the CPU under AddressSanitizer and UndefinedBehaviorSanitizer.

A second process, into which the sanitizer's runtime is loaded first, builds each function's C with
`-fsanitize=address,undefined` and runs it on the corpus's arguments. What the sanitizers find they print, and go on.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import transkern
from tests.corpus.registry import Case, outcome
from tests.nests import guarded
from transkern.targets.cpu import build
from transkern.targets.cpu import compiler as cc

_FLAGS = (
    "-std=gnu11", "-Og", "-g1", "-fsanitize=address,undefined,float-cast-overflow", "-fsanitize-recover=all",
    "-fopenmp", "-fPIC", "-shared", "-fwrapv", "-fsanitize=signed-integer-overflow", "-ffp-contract=off", "-w",
)  # fmt: skip
_FOUND = re.compile(r"runtime error: .*|ERROR: AddressSanitizer.*")


def found_in(names: Iterable[str], planted: tuple[str, str] = ("", "")) -> dict[str, str]:
    """What the sanitizers find in the cases named, by name; `planted`: a piece of the C, and a wrong one for it."""
    library = subprocess.run([*cc.command(), "-print-file-name=libasan.so"], capture_output=True, text=True)
    with tempfile.TemporaryDirectory() as cache:
        environment = os.environ | {
            "LD_PRELOAD": library.stdout.strip(), "XDG_CACHE_HOME": cache, "OPENBLAS_NUM_THREADS": "1",
            "OMP_NUM_THREADS": "2", "PYTHONMALLOC": "malloc",
            "ASAN_OPTIONS": "detect_leaks=0:halt_on_error=0:exitcode=0:allocator_may_return_null=1",
            "UBSAN_OPTIONS": "halt_on_error=0:print_stacktrace=0",
        }  # fmt: skip
        run = subprocess.run(
            [sys.executable, "-m", "tests.corpus.sanitized", *planted, *names], capture_output=True, text=True,
            errors="replace", env=environment, cwd=Path(__file__).parents[2], timeout=900,
        )  # fmt: skip
    assert run.returncode == 0 and "\ncase: end\n" in run.stderr, run.stderr[-4000:]
    parts = re.split(r"^case: (\S+)$", run.stderr, flags=re.MULTILINE)[1:]
    return {
        name: "\n".join(_FOUND.findall(text)) + text[:3000]
        for name, text in zip(parts[::2], parts[1::2], strict=True) if _FOUND.search(text)
    }  # fmt: skip


def outside() -> dict[str, Case]:
    """The accesses outside an array as cases."""
    from tests.test_bounds import TABLE

    return {f"bounds-{f.__name__}": Case(f, lambda _, a=a: a, special=False) for f, a in TABLE}  # type: ignore[misc]


class _Generated(Case):
    """A generated function over arrays of unrelated lengths, on all of its sizes."""

    def arguments(self) -> list[tuple[Any, ...]]:
        seed = self.function.__dict__["seed"]
        return [guarded.arguments(seed, sizes) for sizes in guarded.SIZES]


def main(right: str, wrong: str, names: list[str]) -> None:
    """The second process."""
    from tests.corpus.test_corpus import cases

    os.environ.pop("LD_PRELOAD")  # not for the compiler

    def compile_text(text: str, name: str, *others: Any) -> bytes:
        with tempfile.TemporaryDirectory() as folder:
            source, out = Path(folder, f"{name}.c"), Path(folder, f"{name}.so")
            source.write_text(text.replace(right, wrong) if right else text)
            if subprocess.run([*cc.command(), *_FLAGS, str(source), "-o", str(out), "-lm"]).returncode:
                os._exit(1)  # not an outcome of the function
            return out.read_bytes()

    build.compile_text = compile_text
    by_name = dict(cases()) | outside()
    for name in names:
        generated = re.fullmatch(r"guarded-(\d+)", name)
        case = _Generated(guarded.guarded(int(generated[1])), lambda _: ()) if generated else by_name[name]
        os.write(2, f"case: {name}\n".encode())
        compiled = transkern.compile(case.function, target="cpu")
        for arguments in case.arguments():
            outcome(compiled, arguments)
    os.write(2, b"case: end\n")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3:])
