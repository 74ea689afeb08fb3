"""Which C compiler there is, what it is called with, and what its code depends on."""

from __future__ import annotations

import functools
import importlib.util
import os
import platform
import shlex
import shutil
import sys

from transkern.errors import TargetUnavailable

FLAGS = (
    "-O3", "-march=native", "-std=gnu11", "-fopenmp", "-fPIC", "-shared", "-fno-fast-math",
    "-fno-unsafe-math-optimizations", "-fwrapv", "-ffp-contract=off", "-fno-math-errno", "-fno-trapping-math", "-w",
)  # fmt: skip
"""Whatever `CC` says of floats, they are NumPy's."""

FASTMATH = ("-ffp-contract=fast",)
"""Flags behind the others for code with `fastmath`: products and sums rounded once."""

TRAPPING = ("-ftrapping-math",)
"""Flags behind the others for code that tells the flags of the floating-point unit: it computes what is written."""

WITHOUT_AVX = ("-mno-avx",)
"""Flags for GCC on Windows, where it keeps vectors of 32 bytes on a stack that is aligned to 16 (its bug 54412)."""

REGION = "GOMP_parallel"
"""What GCC makes of a parallel region: a call of its runtime."""

_AVX512 = ("avx512f", "avx512bw", "avx512dq", "avx512vl", "avx512cd")

_WRAPPERS = ("ccache", "sccache", "distcc", "icecc")
"""Programs that run the compiler behind them, also by a link with the compiler's name."""

_ENVIRONMENT = ("CPATH", "C_INCLUDE_PATH", "LIBRARY_PATH", "COMPILER_PATH", "GCC_EXEC_PREFIX", "CCC_OVERRIDE_OPTIONS")
"""What compilers read besides their command."""


def chosen() -> str:
    """`CC` as the user has set it; empty where it is not."""
    return os.environ.get("CC", "").strip()


def command() -> tuple[str, ...]:
    """The words of the C compiler's command: `CC`, taken apart as make's shell does it, or what the machine has.

    Raises TargetUnavailable where there is none; a `CC` that is not there is never another one.
    """
    if not chosen():
        for name in ("cc", "gcc", "clang"):
            if found := shutil.which(name):
                return (found,)
        if importlib.util.find_spec("ziglang") is not None:  # `transkern[compiler]`: clang, with all that it needs
            return (sys.executable, "-m", "ziglang", "cc")
        raise TargetUnavailable(
            "no C compiler was found, and the CPU target needs one\n"
            "  help: install gcc (Debian, Ubuntu: apt install gcc; Fedora: dnf install gcc; macOS: "
            "xcode-select --install; Windows: MinGW-w64; conda: conda install c-compiler), or one from PyPI "
            "(pip install 'transkern[compiler]'), or set CC"
        )
    try:
        first, *others = shlex.split(chosen())
    except ValueError as error:
        raise TargetUnavailable(f"the environment variable CC is no command: {chosen()!r} ({error})") from None
    found = shutil.which(first)
    if found is None:
        raise TargetUnavailable(
            f"the C compiler {first!r} was not found; the environment variable CC names it: CC={shlex.quote(chosen())}"
            "\n  help: unset CC to use the system's own compiler, or set it to one that is there"
        )
    return (found, *others)


def identity() -> str:
    """What identifies the compiler: its files and words, without running it. Raises TargetUnavailable."""
    words = command()
    parts = [*words, *(f"{name}={os.environ[name]}" for name in _ENVIRONMENT if os.environ.get(name))]
    return "|".join([*parts, *(_file(found) for word in words for found in _programs(word))])


def _programs(word: str) -> list[str]:
    """The program that a word of the command is, and what stands behind it where it is a link to a wrapper."""
    found = shutil.which(word) if not word.startswith("-") else None
    if found is None:
        return []
    name, real = os.path.basename(found), os.path.realpath(found)
    if os.path.basename(real) in _WRAPPERS and name != os.path.basename(real):
        rest = [folder for folder in os.get_exec_path() if os.path.realpath(os.path.join(folder, name)) != real]
        behind = shutil.which(name, path=os.pathsep.join(rest))
        return [found, behind] if behind else [found]
    return [found]


def _file(path: str) -> str:
    real = os.path.realpath(path)
    info = os.stat(real)
    return f"{real} {info.st_mtime_ns} {info.st_size}"


# ---- the machine -----------------------------------------------------------------------------------------------------


@functools.cache
def cpu_features() -> frozenset[str]:
    """What the processor says it can do (Linux on x86; elsewhere nothing)."""
    return frozenset(_cpuinfo().get("flags", "").split())


@functools.cache
def _cpuinfo() -> dict[str, str]:
    """What Linux says of the first processor, by name."""
    found: dict[str, str] = {}
    try:
        with open("/proc/cpuinfo", encoding="ascii", errors="replace") as file:
            for line in file:
                name, _, value = line.partition(":")
                if not name.strip() and found:
                    break
                found[name.strip()] = value.strip()
    except OSError:
        pass
    return found


@functools.cache
def machine() -> str:
    """What ``-march=native`` depends on: a folder in the network serves several machines."""
    names = ("flags", "Features", "CPU implementer", "CPU part", "isa", "cpu", "features")
    known = [" ".join(sorted(_cpuinfo()[name].split())) for name in names if name in _cpuinfo()]
    return "|".join([platform.system(), platform.machine(), *(known or [platform.node()])])


@functools.cache
def machine_flags() -> tuple[str, ...]:
    """Flags for this very machine: an older compiler's ``-march=native`` does not know a newer processor's vectors."""
    if platform.machine() in ("x86_64", "AMD64") and all(f in cpu_features() for f in _AVX512):
        return ("-march=native", *(f"-m{f}" for f in _AVX512), "-mprefer-vector-width=512")
    return ("-march=native",)


def flags() -> tuple[str, ...]:
    found = (*machine_flags(), *(f for f in FLAGS if not f.startswith("-m")))
    if sys.platform != "win32":
        return found
    is_clang = any(name in word.lower() for word in command() for name in ("clang", "zig"))
    # all of its code may lie anywhere, and clang takes no flag that says so
    return (*(f for f in found if f != "-fPIC"), *(() if is_clang else WITHOUT_AVX))


def linking(common: bytes) -> tuple[str, ...]:
    """Flags with which modules are linked to the common object file: whether that stands between their loops and GCC's
    runtime (`printing/waking.ALONE`) has been decided while it was compiled."""
    return (f"-Wl,--wrap={REGION}",) if f"__wrap_{REGION}".encode() in common else ()


def libraries() -> tuple[str, ...]:
    """What a shared object is linked with, behind its sources. On Windows nothing is left to whoever loads it: Python's
    own library is named, and GCC's runtimes are put in (`-static`), which no other program would find."""
    if sys.platform != "win32":
        return ("-lm",)
    name = f"python{sys.version_info.major}{sys.version_info.minor}.lib"
    return (os.path.join(sys.base_prefix, "libs", name), "-static")
