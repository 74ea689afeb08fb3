"""C text to a Python module: the system's compiler, then an import of what it made."""

from __future__ import annotations

import functools
import importlib.machinery
import importlib.util
import os
import platform
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType

from transkern.errors import BuildError, TargetUnavailable

FLAGS = (
    "-O3", "-march=native", "-std=gnu11", "-fopenmp", "-fPIC", "-shared", "-fwrapv", "-ffp-contract=off",
    "-fno-math-errno", "-fno-trapping-math", "-w",
)  # fmt: skip

_AVX512 = ("avx512f", "avx512bw", "avx512dq", "avx512vl", "avx512cd")


@functools.cache
def compiler() -> str:
    """The path of the C compiler; `CC` names another."""
    for name in (os.environ.get("CC"), "cc", "gcc", "clang"):
        if name and (found := shutil.which(name)):
            return found
    raise TargetUnavailable(
        "no C compiler was found, and the CPU target needs one\n"
        "  help: install gcc (Debian, Ubuntu: apt install gcc; Fedora: dnf install gcc; macOS: xcode-select --install),"
        " or set CC"
    )


@functools.cache
def cpu_features() -> frozenset[str]:
    """What the processor says it can do (Linux on x86; elsewhere nothing)."""
    try:
        with open("/proc/cpuinfo", encoding="ascii", errors="replace") as file:
            for line in file:
                if line.startswith("flags"):
                    return frozenset(line.split(":", 1)[1].split())
    except OSError:
        pass
    return frozenset()


@functools.cache
def machine_flags() -> tuple[str, ...]:
    """Flags for this very machine: an older compiler's ``-march=native`` does not know a newer processor's vectors."""
    if platform.machine() in ("x86_64", "AMD64") and all(f in cpu_features() for f in _AVX512):
        return ("-march=native", *(f"-m{f}" for f in _AVX512), "-mprefer-vector-width=512")
    return ("-march=native",)


def flags() -> tuple[str, ...]:
    return (*machine_flags(), *(f for f in FLAGS if not f.startswith("-m")))


@functools.cache
def toolchain() -> str:
    """What the machine code depends on besides its text: compiler, flags, processor."""
    path = os.path.realpath(compiler())
    info = os.stat(path)
    features = ",".join(sorted(cpu_features()))
    return f"{path}|{info.st_mtime_ns}|{info.st_size}|{' '.join(flags())}|{platform.machine()}|{features}"


FASTMATH = ("-ffp-contract=fast",)
"""Flags behind the others for code with `fastmath`: products and sums rounded once."""


def compile_text(text: str, name: str, out: Path, *more: str) -> None:
    """Compile a module's text into the shared object `out` (written whole or not at all); raises BuildError."""
    import subprocess  # here: code from the disk cache needs neither, and they take their time
    import tempfile

    with tempfile.TemporaryDirectory(prefix="transkern-") as folder:
        source, made = Path(folder) / f"{name}.c", Path(folder) / f"{name}.so"
        source.write_text(text, encoding="utf-8")
        command = [compiler(), *flags(), *more, str(source), "-o", str(made), "-lm"]
        run = subprocess.run(command, capture_output=True, text=True, check=False)
        if run.returncode:
            kept = Path(tempfile.gettempdir()) / f"transkern-{name}.c"
            shutil.copy(source, kept)
            log = "\n".join((run.stderr or run.stdout).splitlines()[:20])
            raise BuildError(
                f"the C compiler failed on the code of `{name}`\n  command: {' '.join(command[:-4])} {kept}\n{log}\n"
                "  help: check that the compiler works and knows OpenMP (`transkern doctor`)"
            )
        out.parent.mkdir(parents=True, exist_ok=True)  # someone may have emptied the cache meanwhile
        temporary = out.with_name(f"{out.name}.{os.getpid()}")
        shutil.copy(made, temporary)
        os.replace(temporary, out)


def load(path: Path, name: str) -> ModuleType:
    """Import the shared object at `path`."""
    private = f"_transkern_{path.stem}.{name}"  # never the name of a module of the user's
    loader = importlib.machinery.ExtensionFileLoader(private, str(path))
    spec = importlib.util.spec_from_loader(private, loader)
    assert spec is not None
    with _quiet_workers():
        module = importlib.util.module_from_spec(spec)
        loader.exec_module(module)
    return module


@contextmanager
def _quiet_workers() -> Iterator[None]:
    """OpenMP reads its environment when it is first loaded: its idle threads shall soon sleep, not spin for many
    milliseconds on a core that the caller's next NumPy call wants. A choice of the user's stays.

    (Half a millisecond: whoever calls the next kernel by then need not wait until they are awake, which takes a tenth
    of that and more. Other runtimes than GCC's have no measure, only the policy.)
    """
    wanted = {"OMP_WAIT_POLICY": "passive", "GOMP_SPINCOUNT": "10000"}
    if wanted.keys() & os.environ.keys() or sys.platform != "linux":
        yield
        return
    os.environ.update(wanted)
    try:
        yield
    finally:
        for name in wanted:
            del os.environ[name]
