"""The Python module beside an emitted C file: builds it once with the system's compiler and hands on its function."""

from __future__ import annotations

from transkern.ir import nodes as n
from transkern.targets.cpu.compiler import FASTMATH, FLAGS
from transkern.targets.cpu.printing.module import file_name, param_text
from transkern.targets.signature import constants, parameters

_HEAD = '''"""`{name}({params})` in C: the first import builds {file}.c into {file}.build beside it. Needs NumPy."""

import hashlib
import importlib.machinery
import importlib.util
import os
import platform
import shlex
import shutil
import subprocess
import sys
import tempfile
import warnings
from contextlib import contextmanager
from pathlib import Path
{more}
_SOURCE = Path(__file__).with_name("{file}.c")
_FLAGS = {flags!r}
if sys.platform == "win32":  # where GCC keeps vectors of 32 bytes on a stack that is aligned to 16 only
    _FLAGS = [*(flag for flag in _FLAGS if flag != "-fPIC"), "-mno-avx"]
'''

_BUILD = '''

def _compiler():
    """The C compiler's command: CC, as make takes it, or the machine's own; empty where there is none."""
    words = shlex.split(os.environ.get("CC", ""))
    for first in words[:1] or ("cc", "gcc", "clang"):
        if found := shutil.which(first):
            return [found, *words[1:]]
    return []


def _names():
    """What a build is called: by its text, flags and processor, and by the compiler."""
    processor = ""
    if os.path.exists("/proc/cpuinfo"):
        lines = Path("/proc/cpuinfo").read_text(errors="replace").partition("\\n\\n")[0].splitlines()
        processor = "".join(x for x in lines if x.split(":")[0].strip() in ("flags", "Features", "CPU part", "isa"))
    about = [_SOURCE.read_bytes(), repr(_FLAGS).encode(), platform.machine().encode(), processor.encode()]
    command = _compiler()
    files = [os.path.realpath(found) for found in map(shutil.which, command) if found]
    identity = repr([command, *((x, os.stat(x).st_mtime_ns, os.stat(x).st_size) for x in files)])
    hashes = hashlib.sha256(b"\\0".join(about)).hexdigest()[:32], hashlib.sha256(identity.encode()).hexdigest()[:16]
    return hashes[0], f"{hashes[0]}-{hashes[1]}.so"


def _libraries():
    """What the object is linked with: on Windows also Python's own library, and GCC's runtimes as a part of it."""
    if sys.platform != "win32":
        return ["-lm"]
    name = f"python{sys.version_info.major}{sys.version_info.minor}.lib"
    return [os.path.join(sys.base_prefix, "libs", name), "-static"]


def _compile(out):
    """Builds the C file; ImportError with the compiler's words where that fails."""
    command = _compiler()
    if not command:
        named = f"CC={os.environ['CC']!r} is not there" if os.environ.get("CC") else "there is no C compiler"
        raise ImportError(f"{_SOURCE.name} cannot be built: {named}")
    said = []
    for flags in (_FLAGS, [x.replace("-fopenmp", "-fopenmp-simd") for x in _FLAGS]):
        environment = {**os.environ, "TMPDIR": str(out.parent)}
        run = subprocess.run(
            [*command, *flags, str(_SOURCE), "-o", str(out), *_libraries()],
            stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", env=environment,
        )
        if run.returncode == 0 and out.is_file():
            if said:
                warnings.warn(f"{_SOURCE.stem} runs on one thread: {command[0]} has no OpenMP", stacklevel=2)
            return
        said.append(run.stderr or run.stdout or f"{command[0]} has made nothing: is it a C compiler?")
    raise ImportError(f"{_SOURCE.name} cannot be built:\\n{shlex.join([*command, *_FLAGS])}\\n{said[0]}")


def _is_ours(path):
    """Whether nobody but the user, root, or whoever owns this module can have written a file or folder."""
    if not hasattr(os, "getuid"):
        return True
    info = os.lstat(path)
    return info.st_uid in (0, os.getuid(), os.stat(__file__).st_uid) and not info.st_mode & 0o022


@contextmanager
def _alone(folder):
    """One process builds, the others wait."""
    try:
        import fcntl

        file = open(folder / "lock", "a")
        fcntl.flock(file, fcntl.LOCK_EX)
    except (ImportError, OSError):  # no locks here, or a folder that is only read
        yield False
        return
    with file:
        yield True


def _beside():
    """The module from the folder beside this file, built where it has not been."""
    folder = _SOURCE.with_suffix(".build")
    if not folder.is_dir():
        folder.mkdir(mode=0o755, exist_ok=True)
        folder.chmod(0o755)
    if folder.is_symlink() or not _is_ours(folder):
        raise OSError(f"{folder} may have been written by others")
    code, name = _names()
    built = folder / name
    if not _compiler():  # what another one has built serves on
        built = max(folder.glob(f"{code}-*.so"), key=os.path.getmtime, default=built)
    with _alone(folder) as alone:
        if not built.exists():
            for left in folder.glob("tmp*") if alone else ():  # of a process that was killed
                shutil.rmtree(left, ignore_errors=True)
            with tempfile.TemporaryDirectory(dir=folder) as scratch:
                _compile(Path(scratch, "built.so"))
                os.replace(Path(scratch, "built.so"), built)
    if built.is_symlink() or not _is_ours(built):
        raise OSError(f"{built} may have been written by others")
    return _load(built)


def _elsewhere(place):
    """The module, built in a folder for temporary files; nothing of it stays there."""
    with tempfile.TemporaryDirectory(dir=place) as folder:
        _compile(Path(folder, "built.so"))
        return _load(Path(folder, "built.so"))


def _load(path):
    name = "_{file}_built.{file}"  # not this module's own
    loader = importlib.machinery.ExtensionFileLoader(name, str(path))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(name, loader))
    loader.exec_module(module)
    return module


def _module_here():
    problem = None
    for attempt in (_beside, lambda: _elsewhere(None), lambda: _elsewhere("/dev/shm")):
        try:
            return attempt()
        except (OSError, ImportError) as error:
            problem = problem if isinstance(problem, ImportError) else error
    raise ImportError(str(problem)) from problem


{module} = _module_here()
'''

_FUNCTION = '''

def {same}(name, x, value):
    if type(x) is not type(value) or repr(x) != repr(value):
        raise TypeError(f"{name} is {{x!r}}; {of} was compiled for {{value!r}}")


def {answer}(result):
    if result is NotImplemented:
        raise TypeError("{of} was compiled for ({types})")
    return result


def {of}({params}):
    """{of}({types})"""
{checks}    return {answer}({module}.{of}({given}))
'''


def launcher(program: n.Program) -> str:
    """The text of ``<name>.py``."""
    name, params = program.name, parameters(program)
    given = [p.name for p in program.params]
    module, same, answer = (fresh(own, {name, *given}) for own in ("_module", "_same", "_answer"))
    checks = "".join(f"    {same}({k!r}, {k}, {v})\n" for k, v in constants(program).items())
    function = _FUNCTION.format(
        of=name, name="{name}", params=params, checks=checks, given=", ".join(given),
        types=_quoted(", ".join(param_text(p) for p in program.params)), module=module, same=same, answer=answer,
    )  # fmt: skip
    if not checks:
        function = "\n\n" + function[function.index(f"def {answer}") :]
    flags = [*FLAGS, *FASTMATH[: program.fastmath]]
    more = "\nimport numpy as np\n" if "np." in checks + params else ""
    file = file_name(program)
    head = _HEAD.format(name=name, file=file, params=_quoted(params), more=more, flags=flags)
    return head + _BUILD.replace("{file}", file).replace("{module}", module) + function


def fresh(name: str, taken: set[str]) -> str:
    """A name that is not among the taken ones."""
    while name in taken:
        name += "_"
    return name


def _quoted(text: str) -> str:
    """Text as it stands between double quotes."""
    return text.replace("\\", "\\\\").replace('"', '\\"')
