"""Builds kernel text with g++ into a shared object or a sanitized program, and loads and launches the former.

What is built is kept under a name made from everything it depends on: text, headers, options and compiler.
"""

from __future__ import annotations

import atexit
import ctypes
import functools
import hashlib
import os
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

from transkern import private
from transkern.runtime.caching import bound
from transkern.runtime.caching.cache import usable

from .source import find_kernels, translate

Sanitizer = Literal["address,undefined", "thread"]

BLOCK_LIMIT = (1024, 1024, 64)
THREADS_LIMIT = 1024
GRID_LIMIT = (2**31 - 1, 65535, 65535)
SHARED_LIMIT = 227 * 1024
# A cooperative launch must fit the device at once; these are an H100's and an H200's numbers.
MULTIPROCESSORS = 132
THREADS_A_MULTIPROCESSOR = 2048
BLOCKS_A_MULTIPROCESSOR = 32

_HERE = Path(__file__).parent
_COMMON = ("-std=c++17", "-fPIC", "-w", "-I", str(_HERE))
_LINES = "-g"  # for what the sanitizers tell: an eighth of a compilation
_KERNEL_FLAGS = (
    *_COMMON,
    "-ffp-contract=off",  # as --fmad=false
    "-fno-math-errno",  # sqrt is an instruction; the values are the same
    "-fno-strict-aliasing",  # one piece of shared memory holds several types, which nvcc accepts
    "-fvisibility=hidden",
)
_LEVEL = "-O2"  # how much of a kernel is optimised
_SANITIZED_KERNEL_FLAGS: Mapping[Sanitizer, tuple[str, ...]] = {
    "address,undefined": ("-fsanitize=address,undefined", "-fno-sanitize-recover=undefined"),
    "thread": ("-fsanitize=thread", "--param", "tsan-distinguish-volatile=1"),
}
_RUNTIME_DEFINES: Mapping[Sanitizer, str] = {"address,undefined": "-DTRANSKERN_ADDRESS", "thread": "-DTRANSKERN_THREAD"}


class CompileError(RuntimeError):
    """g++ refused the text; the message has its errors, with the text's own line numbers."""


class LaunchError(RuntimeError):
    """A launch was refused, or the kernel failed: deadlock, divergent barrier, failed assertion, fault."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """A kernel's parameter: the type that the C++ compiler saw, of the pointed-to object where `pointer`.

    `kind` is NumPy's letter (b, i, u, f), or V for what NumPy has no scalar type for (structures, vectors, void).
    """

    name: str
    pointer: bool
    constant: bool
    kind: str
    size: int

    @property
    def type(self) -> str:
        """The type in NumPy's spelling, as messages show it."""
        base = f"{self.size} bytes" if self.kind == "V" else str(np.dtype(f"{self.kind}{self.size}"))
        return f"{'const ' if self.constant else ''}{base}{'*' if self.pointer else ''}"

    def check_array(self, array: np.ndarray[Any, Any]) -> None:
        """Raises TypeError where `array` is not what the parameter points to, ValueError where it is read-only."""
        if not self.pointer:
            raise TypeError(f"parameter `{self.name}` is a {self.type}, not a pointer; got an array of {array.dtype}")
        bytes_alike = self.kind == "b" and array.dtype.str[1:] in ("b1", "u1", "i1")
        bools_alike = self.kind in "iu" and self.size == 1 and array.dtype.kind == "b"
        same = array.dtype.kind.replace("M", "i").replace("m", "i") == self.kind and array.dtype.itemsize == self.size
        if not (self.kind == "V" or same or bytes_alike or bools_alike):
            raise TypeError(f"parameter `{self.name}` is a {self.type}; got an array of {array.dtype}")
        if not (self.constant or array.flags.writeable):
            raise ValueError(f"parameter `{self.name}` is a {self.type}, but the array is read-only")

    def pack(self, value: object) -> bytes:
        """The bytes of a scalar argument. A Python number takes the parameter's type, a NumPy scalar must have it.

        Raises:
            TypeError: another type, for which a real launch would pass other bytes.
            OverflowError: a Python integer that the type cannot hold.
        """
        if self.pointer:
            raise TypeError(f"parameter `{self.name}` is a {self.type}; got {value!r}")
        if self.kind == "V":
            if isinstance(value, np.generic) and value.dtype.itemsize == self.size:
                return value.tobytes()
            raise TypeError(f"parameter `{self.name}` is a structure of {self.size} bytes; got {value!r}")
        dtype = np.dtype(f"{self.kind}{self.size}")
        if isinstance(value, np.generic):
            if value.dtype != dtype:
                raise TypeError(f"parameter `{self.name}` is a {self.type}; got {value!r} of type {value.dtype}")
            return value.tobytes()
        accepted = {"b": (bool,), "i": (int,), "u": (int,), "f": (float, int)}[self.kind]
        if not isinstance(value, accepted):
            raise TypeError(f"parameter `{self.name}` is a {self.type}; got {value!r}")
        return np.array(value, dtype).tobytes()


def cache_folder() -> Path:
    """The user's own folder for builds, in transkern's cache; one for this process alone where there is no cache."""
    folder = usable()
    if folder is not None:
        with suppress(OSError):
            return private.made(folder / "simulator")
    return _folder_of_process()


@functools.cache
def _folder_of_process() -> Path:
    folder = tempfile.mkdtemp(prefix="transkern-simulator-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return Path(folder)


def build(text: str, *, options: Sequence[str] = (), cache: Path | None = None) -> Path:
    """Compiles `text` into a shared object and returns its path.

    Args:
        text: CUDA C++ with at least one kernel.
        options: further options of the compiler: `-D`, `-U` and `-I` ones.
        cache: where builds are kept; `cache_folder()` by default.

    Raises:
        SourceError, CompileError: the text is not understood, or does not compile.
    """
    flags = (*_KERNEL_FLAGS, _LEVEL, *options)
    return _compile(translate(text), (*_precompiled(flags, cache), "-shared", "-Wl,-Bsymbolic"), (), ".so", cache)


def build_program(text: str, sanitizer: Sanitizer, *, options: Sequence[str] = (), cache: Path | None = None) -> Path:
    """Compiles `text` and driver.cpp into a program under `sanitizer`; arguments and errors as for `build`.

    The kernel's file is instrumented, the simulator's are not.
    """
    common = (*_COMMON, _LINES, "-O2", "-c", _RUNTIME_DEFINES[sanitizer])
    objects = [
        _compile(f'#include "{name}"\n', common, (), f"-{name}.o", cache)
        for name in ("runtime.cpp", "driver.cpp")
    ]
    # -O1: at -O2 a wrong load whose value is not used would be gone before it is instrumented.
    flags = (*_KERNEL_FLAGS, _LINES, "-O1", "-fno-omit-frame-pointer", *_SANITIZED_KERNEL_FLAGS[sanitizer], *options)
    return _compile(translate(text), _precompiled(flags, cache), objects, ".program", cache)


class Module:
    """Kernels loaded into this process.

    `kernels` maps a kernel's name to its parameters.
    """

    def __init__(self, text: str, *, options: Sequence[str] = (), cache: Path | None = None) -> None:
        self._runtime = _load_runtime(cache)
        self._load(text, build(text, options=options, cache=cache), "transkern_kernels")

    def _load(self, text: str, path: Path, name: str) -> None:
        """The kernels of `text` from a shared object, where their table has a name."""
        # Every kernel's object finds the one runtime of the process among the global symbols.
        self._library = ctypes.CDLL(str(path))
        table = (_Kernel * (len(find_kernels(text)) + 1)).in_dll(self._library, name)
        self._rows = {row.name.decode(): row for row in table if row.name}
        names = {kernel.name: kernel.parameters for kernel in find_kernels(text)}
        self.kernels: dict[str, tuple[Parameter, ...]] = {
            kernel: tuple(
                Parameter(name, p.pointer != b"\0", p.constant != b"\0", p.kind.decode(), p.size)
                for name, p in zip(names[kernel], row.parameters[: row.count], strict=True)
            )
            for kernel, row in self._rows.items()
        }

    def launch(
        self,
        kernel: str,
        grid: Sequence[int],
        block: Sequence[int],
        args: Sequence[object],
        *,
        shared_mem: int = 0,
        cooperative: bool = False,
    ) -> None:
        """Runs `kernel` to its end.

        Args:
            kernel: one of `kernels`.
            grid, block: 1 to 3 sizes each.
            args: an array for each pointer (its data's address is passed), a number for each scalar.
            shared_mem: bytes of dynamic shared memory.
            cooperative: all blocks run at the same time.

        Raises:
            TypeError, ValueError, OverflowError: the arguments are not the parameters'.
            LaunchError: the device would refuse the launch, or the kernel failed.
        """
        sizes = (ctypes.c_uint * 6)(*launch_sizes(grid, block, shared_mem, cooperative))
        values = pack_arguments(self.kernels[kernel], args)
        cells = [
            ctypes.create_string_buffer(value, len(value))
            if isinstance(value, bytes)
            else ctypes.c_void_p(value.ctypes.data)
            for value in values
        ]
        pointers = (ctypes.c_void_p * len(cells))(*(ctypes.addressof(cell) for cell in cells))
        row = self._rows[kernel]
        if self._runtime.transkern_sim_launch(ctypes.byref(row), sizes, shared_mem, int(cooperative), pointers):
            raise LaunchError(f"{kernel}: {self._runtime.transkern_sim_error().decode()}")


def pack_arguments(parameters: Sequence[Parameter], args: Sequence[object]) -> list[bytes | np.ndarray[Any, Any]]:
    """The arguments of a launch, checked: an array stays one, a scalar becomes its bytes."""
    if len(args) != len(parameters):
        raise TypeError(f"the kernel takes {len(parameters)} arguments; got {len(args)}")
    values: list[bytes | np.ndarray[Any, Any]] = []
    for parameter, value in zip(parameters, args, strict=True):
        if isinstance(value, np.ndarray):
            parameter.check_array(value)
            values.append(value)
        else:
            values.append(parameter.pack(value))
    return values


def launch_sizes(grid: Sequence[int], block: Sequence[int], shared_mem: int, cooperative: bool) -> tuple[int, ...]:
    """The six sizes of a launch; LaunchError where a device of compute capability 9.0 would refuse it."""
    sizes: list[int] = []
    for what, given, limits in (("grid", grid, GRID_LIMIT), ("block", block, BLOCK_LIMIT)):
        full = (*map(int, given), 1, 1, 1)[:3]
        if not 1 <= len(given) <= 3 or any(not 1 <= size <= limit for size, limit in zip(full, limits, strict=True)):
            raise LaunchError(f"{what} {tuple(given)} is not within 1 and {limits}")
        sizes += full
    threads = sizes[3] * sizes[4] * sizes[5]
    if threads > THREADS_LIMIT:
        raise LaunchError(f"a block of {threads} threads: the limit is {THREADS_LIMIT}")
    if not 0 <= shared_mem <= SHARED_LIMIT:
        raise LaunchError(f"{shared_mem} bytes of dynamic shared memory: the limit is {SHARED_LIMIT}")
    blocks = sizes[0] * sizes[1] * sizes[2]
    resident = MULTIPROCESSORS * min(THREADS_A_MULTIPROCESSOR // (-(-threads // 32) * 32), BLOCKS_A_MULTIPROCESSOR)
    if cooperative and blocks > resident:
        raise LaunchError(f"{blocks} blocks are too many for a cooperative launch: at most {resident} are resident")
    return tuple(sizes)


class _Parameter(ctypes.Structure):
    _fields_ = [
        ("pointer", ctypes.c_char),
        ("constant", ctypes.c_char),
        ("kind", ctypes.c_char),
        ("size", ctypes.c_uint),
    ]


class _Kernel(ctypes.Structure):
    _fields_ = [
        ("name", ctypes.c_char_p),
        ("parameters", ctypes.POINTER(_Parameter)),
        ("count", ctypes.c_uint),
        ("thread", ctypes.c_void_p),
        ("block", ctypes.c_void_p),
    ]


_loaded_runtime: list[ctypes.PyDLL] = []


def _load_runtime(cache: Path | None, sanitizer: Sanitizer | None = None) -> ctypes.PyDLL:
    """The scheduler, once a process. PyDLL: it has one state, which the interpreter's lock guards.

    `sanitizer`: what the process runs under; the sanitizer's own runtime must have been loaded first.
    """
    if not _loaded_runtime:
        defines = (_RUNTIME_DEFINES[sanitizer],) if sanitizer else ()
        path = _compile('#include "runtime.cpp"\n', (*_COMMON, "-O2", "-shared", *defines), (), "-runtime.so", cache)
        runtime = ctypes.PyDLL(str(path), mode=ctypes.RTLD_GLOBAL)
        runtime.transkern_sim_launch.argtypes = [
            ctypes.c_void_p,
            ctypes.c_void_p,
            ctypes.c_size_t,
            ctypes.c_int,
            ctypes.c_void_p,
        ]
        runtime.transkern_sim_error.restype = ctypes.c_char_p
        _loaded_runtime.append(runtime)
    return _loaded_runtime[0]


@functools.cache
def _toolchain() -> tuple[tuple[str, ...], str]:
    """The compiler's command, and what identifies it and the simulator's own sources."""
    command = tuple(shlex.split(os.environ.get("CXX", "g++")))
    try:
        version = subprocess.run([*command, "--version"], capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError) as error:
        raise CompileError(f"the simulator needs g++; `{shlex.join(command)} --version` failed: {error}") from error
    sources = sorted([*_HERE.glob("*.h"), *_HERE.glob("*.cpp")])
    return command, version + "".join(path.read_text() for path in sources)


def _precompiled(flags: tuple[str, ...], cache: Path | None) -> tuple[str, ...]:
    """The flags with a folder in which g++ finds the simulator's header parsed: half of a kernel's compilation
    otherwise."""
    header = _compile('#include "runtime.h"\n', (*flags, "-x", "c++-header"), (), "/runtime.h.gch", cache)
    return ("-I", str(header.parent), *flags)


def _compile(unit: str, flags: Sequence[str], objects: Sequence[Path], suffix: str, cache: Path | None) -> Path:
    command, identity = _toolchain()
    parts = (unit, *flags, *map(str, objects), suffix, shlex.join(command), identity)
    key = hashlib.sha256("\0".join(parts).encode()).hexdigest()
    folder = cache or cache_folder()
    target = folder / f"{key[:32]}{suffix}"
    if target.exists():
        bound.used(target)
        return target
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    target.parent.mkdir(exist_ok=True, mode=0o700)
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        source, built = Path(scratch, "unit.cpp"), Path(scratch, "built")
        source.write_text(unit)
        result = subprocess.run(
            [*command, *flags, str(source), *map(str, objects), "-o", str(built)], capture_output=True, text=True
        )
        if result.returncode != 0:
            raise CompileError(result.stderr.strip())
        size = built.stat().st_size
        os.replace(built, target)  # at once: another process never sees half a file
    if cache is None and (whole := usable()) is not None:
        bound.written(whole, size)
    return target
