"""Shared objects for a package: each program for each level, and what they need beside them."""

from __future__ import annotations

import platform
import re
import subprocess
import sys
import sysconfig
from collections.abc import Iterable, Sequence
from pathlib import Path

from transkern import private
from transkern.errors import BuildError
from transkern.ir import nodes as n
from transkern.shipping.levels import RANK_FLAGS, RANK_OF_PROCESSOR, Level
from transkern.targets.cpu import compiler
from transkern.targets.cpu.build import NO_THREADS, lacks_openmp, places, run_compiler
from transkern.targets.cpu.compiler import FASTMATH, TRAPPING

_RUNTIMES = ("libgomp.so.1", "libomp.so.5", "libomp.so", "libiomp5.so")
"""What shared objects with OpenMP need, by compiler (Linux)."""


def compiled(program: n.Program, text: str, name: str, level: Level) -> bytes:
    """A program's C text for a level. Raises BuildError, TargetUnavailable."""
    more = [*FASTMATH[: program.fastmath], *TRAPPING[: program.warns]]
    flags = [*level.all_flags(), *more, *_ORIGIN.get(sys.platform, ())]
    found = _run(flags, text, name)
    if isinstance(found, bytes) and not lacks_openmp(found):
        return found
    again = _run([NO_THREADS if flag == "-fopenmp" else flag for flag in flags], text, name)
    if isinstance(again, bytes):  # no OpenMP here
        return again
    raise BuildError(f"{again}\n  help: check that the compiler works (`transkern doctor`)")


_ORIGIN = {"linux": ("-Wl,-rpath,$ORIGIN/..",), "darwin": ("-Wl,-rpath,@loader_path/..",)}
"""OpenMP's runtime is looked for in the folder above, where nothing has loaded one of that name before."""


def rank_object() -> bytes:
    """The shared object that tells the processor's level."""
    found = _run(RANK_FLAGS, RANK_OF_PROCESSOR, "level")
    if isinstance(found, str):
        raise BuildError(found)
    return found


def _run(flags: Sequence[str], text: str, name: str) -> bytes | str:
    """The shared object, or what the compiler says."""
    compiler.command()
    said = "there is no folder in which the C compiler could work"
    for place in places():
        try:
            with private.scratch(place) as folder:
                source, out = folder / f"{name}.c", folder / f"{name}.so"
                source.write_text(text, encoding="utf-8")
                said = run_compiler(flags, (source,), out)
                if not said:
                    return out.read_bytes()
        except OSError:
            continue
        return said
    return said


def runtimes(objects: Iterable[bytes]) -> dict[str, bytes]:
    """OpenMP's runtime that the shared objects need, by name: machines without a compiler may not have it (Linux)."""
    found: dict[str, bytes] = {}
    if sys.platform != "linux":
        return found
    for data in objects:
        for name in _RUNTIMES:
            if name not in found and name.encode() + b"\0" in data and (path := _library(name)):
                found[name] = path.read_bytes()
    return found


def _library(name: str) -> Path | None:
    """Where the compiler finds a library."""
    command = [*compiler.command(), f"-print-file-name={name}"]
    said = subprocess.run(command, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL).stdout.strip()
    path = Path(said)
    return path.resolve() if path.is_absolute() and path.exists() else None


def platform_tag(objects: Iterable[bytes]) -> str:
    """The platform of a wheel with these shared objects, as installers know it (PEP 600: the newest version of the C
    library that any of them asks for)."""
    if sys.platform != "linux":
        return re.sub(r"[-.]", "_", sysconfig.get_platform())
    asked = {(int(a), int(b)) for data in objects for a, b in re.findall(rb"GLIBC_(\d+)\.(\d+)", data)}
    machine = platform.machine()
    return "manylinux_{}_{}_{}".format(*max(asked), machine) if asked else f"linux_{machine}"
