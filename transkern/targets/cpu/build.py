"""C text to a Python module: the system's compiler, then an import of what it made."""

from __future__ import annotations

import functools
import hashlib
import importlib.machinery
import importlib.util
import os
import shlex
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from types import ModuleType

from transkern import private
from transkern.errors import BuildError, TargetUnavailable
from transkern.targets.cpu import compiler
from transkern.targets.cpu.library import STRICT
from transkern.targets.cpu.threads import adopt
from transkern.warned import warn_once

_ROOM = 1 << 22  # bytes that a folder must have left to be blameless where a compiler fails in it

NO_THREADS = "-fopenmp-simd"
"""In place of ``-fopenmp`` where the compiler has no OpenMP: vectors, but one thread."""


def compile_text(
    text: str, name: str, more: Sequence[str] = (), first: Path | None = None, kept: Path | None = None,
    linked: tuple[str, bytes] | None = None,
) -> bytes:  # fmt: skip
    """A module's text as a shared object. `linked`: the same as less text, and an object file to link it with.

    The compiler works in a folder within `first`, or wherever else there is room; nothing of that stays. Text that it
    does not take is kept in `kept` for whoever looks into it.

    Raises:
        TargetUnavailable: there is no compiler, or no folder to work in.
        BuildError: the compiler fails.
    """
    compiler.command()  # before any folder is asked for
    trouble = []
    for place in places(first):
        try:
            with private.scratch(place) as folder:
                found = _linked(*linked, name, more, folder) if linked else None
                made = found or _compiled(text, name, more, folder)
                if isinstance(made, bytes):
                    return made
                if _has_room(folder):
                    raise BuildError(made + _where(text, name, kept))
                trouble.append(f"{place}: no space left")
        except OSError as error:
            trouble.append(f"{place}: {error.strerror or error}")
    raise TargetUnavailable(
        "there is no folder in which the C compiler could work:\n  " + "\n  ".join(trouble)
        + "\n  help: make room, or set TMPDIR to a folder that can be written"
    )  # fmt: skip


def places(first: Path | None = None) -> Iterator[Path]:
    """Folders to work in, the best first."""
    import tempfile  # here: code from the disk cache needs neither this nor its time

    if first is not None:
        yield first
    with suppress(OSError):  # none of those that Python tries
        yield Path(tempfile.gettempdir())
    yield Path("/dev/shm")


def _has_room(folder: Path) -> bool:
    try:
        (folder / "room").write_bytes(bytes(_ROOM))
    except OSError:
        return False
    return True


def compile_object(text: str, more: Sequence[str], first: Path | None = None) -> bytes | None:
    """C text as an object file; nothing where there is no compiler, no room, or something is wrong with it."""
    flags = [*(f for f in compiler.flags() if f != "-shared"), *more]
    for place in places(first):
        with suppress(OSError, TargetUnavailable), private.scratch(place) as folder:
            source, out = folder / "common.c", folder / "common.o"
            source.write_text(text, encoding="utf-8")
            return None if run_compiler(flags, (source,), out) else out.read_bytes()
    return None


def _linked(text: str, common: bytes, name: str, more: Sequence[str], folder: Path) -> bytes | None:
    """The shared object, or nothing: the whole text is asked what is wrong."""
    source, beside, out = folder / f"{name}.c", folder / "common.o", folder / f"{name}.so"
    source.write_text(text, encoding="utf-8")
    beside.write_bytes(common)
    flags = [STRICT if flag == "-w" else flag for flag in compiler.flags()]
    if run_compiler([*flags, *more, *compiler.linking(common)], (source, beside), out):
        return None
    made = out.read_bytes()
    return None if lacks_openmp(made) else made


def _compiled(text: str, name: str, more: Sequence[str], folder: Path) -> bytes | str:
    """The shared object, or what the compiler says."""
    source, out = folder / f"{name}.c", folder / f"{name}.so"
    source.write_text(text, encoding="utf-8")
    flags = [*compiler.flags(), *more]
    said = run_compiler(flags, (source,), out)
    if not openmp() if said else lacks_openmp(out.read_bytes()):
        warn_once("openmp", "the C compiler has no OpenMP (`transkern doctor`): compiled functions run on one thread")
        said = run_compiler([NO_THREADS if flag == "-fopenmp" else flag for flag in flags], (source,), out)
    return said if said else out.read_bytes()


def run_compiler(flags: Sequence[str], sources: Sequence[Path], out: Path) -> str:
    """Compiles files; what is to be said where there is nothing then."""
    import subprocess

    words = compiler.command()
    # The compiler's own temporaries go where ours go, and its messages are the ones that people search for.
    environment = {**os.environ, "TMPDIR": str(out.parent), "LC_ALL": "C"}
    try:
        run = subprocess.run(
            [*words, *flags, *map(str, sources), "-o", str(out), *compiler.libraries()],
            capture_output=True, text=True, errors="replace", check=False, env=environment, stdin=subprocess.DEVNULL,
        )  # fmt: skip
    except OSError as error:
        problem, log = f"the C compiler {words[0]} cannot be started: {error.strerror or error}", ""
    else:
        if run.returncode == 0 and out.is_file():
            return ""
        failed = f"the C compiler failed with status {run.returncode}"
        problem = failed if run.returncode else "the C compiler ended without a word, and has made nothing: is it one?"
        said = (run.stderr or run.stdout).replace(f"{out.parent}{os.sep}", "")  # a folder that goes
        log = "".join(f"\n{line}" for line in said.splitlines()[:20])
    shown = shlex.join([*words, *flags])
    return f"{problem} (on the code of `{sources[0].stem}`)\n  command: {shown}{log}"


def _where(text: str, name: str, kept: Path | None) -> str:
    """Where text lies that could not be compiled, and what to do about it."""
    import tempfile

    help = "\n  help: check that the compiler works (`transkern doctor`)"
    if compiler.chosen():
        help += f"; the environment variable CC names it: CC={shlex.quote(compiler.chosen())}"
    with suppress(OSError):
        folder = private.made(kept) if kept is not None else Path(tempfile.mkdtemp(prefix="transkern-failed-"))
        path = folder / f"{name}-{hashlib.sha256(text.encode()).hexdigest()[:16]}.c"
        with private.scratch(folder) as scratch:
            private.write(path, text.encode(), scratch)
        return f"\n  code: {path}{help}"
    return help


def lacks_openmp(data: bytes) -> bool:
    """Whether a shared object calls clang's OpenMP and links no runtime of it: some compilers come without one (zig's),
    and leave that to whoever loads it."""
    return b"__kmpc_" in data and not any(name in data for name in (b"libomp", b"libiomp"))


@functools.cache
def openmp() -> bool:
    """Whether a program with a parallel loop can be compiled. Asked where a compiler has failed."""
    loop = "int f(int n) { int s = 0;\n#pragma omp parallel for reduction(+: s)\nfor (int i = 0; i < n; i++) s += i;"
    return probe(f"{loop}\nreturn s; }}\n", compiler.flags()) or not probe("int f(void) { return 0; }\n", ())


def probe(text: str, flags: Sequence[str]) -> bool:
    """Whether a small text can be compiled into a shared object."""
    for place in places():
        with suppress(OSError), private.scratch(place) as folder:
            source = folder / "probe.c"
            source.write_text(text, encoding="utf-8")
            return not run_compiler([*flags, *(() if flags else ("-shared", "-fPIC"))], (source,), folder / "probe.so")
    return False


# ---- loading ---------------------------------------------------------------------------------------------------------


def load(data: bytes, name: str, path: Path | None = None) -> ModuleType:
    """Import a shared object, from the file at `path` that it was read from, or where that may not be run from memory.

    Raises ImportError where the object needs what the machine does not have.
    """
    if path is not None:
        with suppress(ImportError):  # a disk without programs, or the file has gone meanwhile
            return import_file(path, name)
    return _from_memory(data, name)


_open: list[int] = []
"""Files in memory that were loaded: a later one of the same number would count as loaded too."""


def _from_memory(data: bytes, name: str) -> ModuleType:
    try:
        return _from_nowhere(data, name)
    except (OSError, ImportError) as error:
        problem = error
    for place in places():
        with suppress(OSError, ImportError), private.scratch(place) as folder:
            path = folder / f"{hashlib.sha256(data).hexdigest()}.so"
            path.write_bytes(data)
            return import_file(path, name)
    raise ImportError(str(problem)) from problem


def _from_nowhere(data: bytes, name: str) -> ModuleType:
    """From a file that is in no folder (Linux); OSError elsewhere."""
    if sys.platform != "linux" or not hasattr(os, "memfd_create"):
        raise OSError("files are in folders here")
    handle = os.memfd_create(f"{name}.so")
    _open.append(handle)
    with open(handle, "wb", closefd=False) as file:
        file.write(data)
    return import_file(Path(f"/proc/self/fd/{handle}"), name)


def import_file(path: Path, name: str) -> ModuleType:
    """Import the shared object at `path`."""
    private_name = f"_transkern_{path.stem}.{name}"  # never the name of a module of the user's
    loader = importlib.machinery.ExtensionFileLoader(private_name, str(path))
    spec = importlib.util.spec_from_loader(private_name, loader)
    assert spec is not None
    with _quiet_workers():
        module = importlib.util.module_from_spec(spec)
        loader.exec_module(module)
    adopt(module)
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
        for variable in wanted:
            os.environ.pop(variable, None)
