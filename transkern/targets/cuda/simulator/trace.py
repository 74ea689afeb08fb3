"""What a program asks of a device while it runs on the simulator: launches, memory, and what the host waits for.

    with watching() as watch:
        function = launched(name, code, launcher, watch)
        function(*map(device.asarray, args))
    for launch in watch.launches: print(launch)

The kernel's file is built with the calls that ``-fsanitize=thread`` puts before each access of memory; `trace.cpp`
stands behind them in ThreadSanitizer's place, and counts; `paths.py` adds calls that tell where threads are. So
addresses are those that the kernel's own index expressions give, at the sizes of the call; nothing is assumed of them.
What NVRTC would load once and g++ loads twice is counted twice.
"""

from __future__ import annotations

import collections
import ctypes
import functools
import types
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from transkern.targets.cuda.load import executed

from . import device
from .compile import _COMMON, _KERNEL_FLAGS, Module, _compile, _load_runtime, _precompiled, launch_sizes
from .paths import told
from .source import translate

_FLAGS = (*_KERNEL_FLAGS, "-O1", "-fno-tree-sra", "-fsanitize=thread", "-U__SANITIZE_THREAD__")
"""`-fno-tree-sra`: words of several elements stay whole."""
_SITE = 9
"""Numbers that `trace.cpp` says of a site."""
_UNSEEN = ("grid_memory", "shared_memory", "arrived", "error")
"""Parameters behind which blocks meet and failures are told: no data."""
_MAKING = {"empty", "empty_like", "asarray", "array", "ascontiguousarray", "asnumpy", "ndarray", "cuda", "RawModule"}
"""What starts no kernel of a library; `zeros` does."""


@dataclass(frozen=True, slots=True)
class Site:
    """A place in a kernel that loads or stores elements of an array.

    `element` and `size`: bytes of an element, and of a thread's access; `lanes` how many accesses threads made,
    `requests` how many their warps. Of a sample of these: `sampled` requests, `sectors` of 32 bytes that they
    touched, `asked` bytes that lanes wanted.
    """

    parameter: str
    element: int
    size: int
    write: bool
    lanes: int
    requests: int
    sampled: int
    sectors: int
    asked: int


@dataclass(slots=True)
class Launched:
    """A launch and what its threads did.

    `read` and `written`: bytes of whole sectors, once for each time between two meetings of all blocks. `longest`: the
    most accesses of one thread; `busy`: how many threads have any. `barriers`: of blocks, added up over these; of the
    grid `meetings`.
    """

    kernel: str
    grid: int
    threads: int
    shared: int
    sites: tuple[Site, ...]
    read: int
    written: int
    longest: int
    busy: int
    barriers: int
    meetings: int


@dataclass(slots=True)
class Watch:
    """What a call did: `launches` in order, `calls` of libraries by name, the `bytes` that these read and wrote at
    least, how often the host `waited` for a value, the arrays (by address) that were `read`, and the blocks of the
    text, by their lines, that some thread has `entered`."""

    launches: list[Launched] = field(default_factory=list)
    calls: collections.Counter[str] = field(default_factory=collections.Counter)
    bytes: int = 0
    waited: int = 0
    read: set[int] = field(default_factory=set)
    entered: set[int] = field(default_factory=set)


class TracedModule(Module):
    """Kernels whose accesses are counted."""

    def __init__(self, text: str, watch: Watch, cache: Path | None = None) -> None:
        self._runtime, self._watch = _load_runtime(cache), watch
        self._trace = _load_trace(cache)
        self._load(text, build(text, cache), "transkern_kernels")

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
        """Runs the kernel, and adds to what is known of the call."""
        parameters = self.kernels[kernel]
        names, ends, counter, meeting = list[tuple[str, int]](), list[int](), None, 0
        for parameter, value in zip(parameters, args, strict=True):
            if parameter.name.startswith("shared_blocks"):
                meeting = int(value)  # type: ignore[call-overload]
            if isinstance(value, np.ndarray):
                if parameter.name.startswith(("grid_memory", "shared_memory")) and value.size:
                    counter = value.ctypes.data
                if not parameter.name.startswith(_UNSEEN):
                    names.append((parameter.name, parameter.size))
                    ends += [value.ctypes.data, value.ctypes.data + value.nbytes]
        sizes = launch_sizes(grid, block, shared_mem, cooperative)
        given = (ctypes.c_uint64 * max(1, len(ends)))(*ends)
        cells = (ctypes.c_uint * 6)(*sizes)
        self._trace.transkern_trace_begin(given, len(names), cells, int(cooperative), ctypes.c_void_p(counter), meeting)
        super().launch(kernel, grid, block, args, shared_mem=shared_mem, cooperative=cooperative)
        totals = (ctypes.c_uint64 * 4)()
        moved = [(ctypes.c_uint64 * max(1, len(names)))() for _ in range(2)]
        count = self._trace.transkern_trace_end(totals, *moved)
        table = (ctypes.c_uint64 * (_SITE * max(1, count)))()
        self._trace.transkern_trace_sites(table)
        sites = tuple(
            Site(names[row[0]][0], names[row[0]][1], row[1], bool(row[2]), *row[3:8])
            for row in (table[_SITE * k : _SITE * (k + 1)] for k in range(count))
        )
        lines = (ctypes.c_uint32 * self._trace.transkern_trace_entered(None))()
        self._trace.transkern_trace_entered(lines)
        self._watch.entered |= set(lines)
        self._watch.read |= {ends[2 * table[_SITE * k]] for k in range(count) if not table[_SITE * k + 2]}
        self._watch.launches.append(
            Launched(
                kernel, sizes[0] * sizes[1] * sizes[2], sizes[3] * sizes[4] * sizes[5], shared_mem, sites,
                sum(moved[0]), sum(moved[1]), *totals,
            )
        )  # fmt: skip


def build(text: str, cache: Path | None = None) -> Path:
    """`text` as a shared object whose accesses are told to `trace.cpp`; errors as for `compile.build`."""
    part = _compile(translate(told(text)), (*_precompiled(_FLAGS, cache), "-c"), (), ".o", cache)
    return _compile("", ("-shared", "-Wl,-Bsymbolic"), (part,), "-traced.so", cache)


_loaded: list[ctypes.CDLL] = []


def _load_trace(cache: Path | None) -> ctypes.CDLL:
    if not _loaded:
        flags = (*_COMMON, "-O2", "-shared")
        text = Path(__file__).with_name("trace.cpp").read_text()  # with its text, its key changes
        made = ctypes.CDLL(str(_compile(text, flags, (), "-trace.so", cache)), mode=ctypes.RTLD_GLOBAL)
        made.transkern_trace_end.restype = made.transkern_trace_entered.restype = ctypes.c_uint64
        made.transkern_trace_begin.argtypes = [
            ctypes.c_void_p, ctypes.c_uint64, ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p, ctypes.c_uint64,
        ]  # fmt: skip
        _loaded.append(made)
    return _loaded[0]


@contextmanager
def watching() -> Iterator[Watch]:
    """Notes what the host waits for: elements of device arrays, and copies to the host."""
    watch = Watch()
    names = ("get", "item", "tolist", "__bool__", "__int__", "__float__", "__index__", "__complex__")
    own = {name: device.ndarray.__dict__[name] for name in names if name in device.ndarray.__dict__}

    def waiting(name: str) -> Callable[..., Any]:
        method = getattr(device.ndarray, name)

        @functools.wraps(method)
        def call(self: Any, *args: Any, **kwargs: Any) -> Any:
            watch.waited += 1
            return method(self, *args, **kwargs)

        return call

    for name, call in {name: waiting(name) for name in names}.items():
        setattr(device.ndarray, name, call)
    try:
        yield watch
    finally:
        for name in names:
            if name in own:
                setattr(device.ndarray, name, own[name])
            else:
                delattr(device.ndarray, name)


class _Device(types.ModuleType):
    """The simulated device in CuPy's place, whose calls are counted."""

    def __init__(self, watch: Watch, cache: Path | None) -> None:
        super().__init__("cupy")
        self._watch, self._cache = watch, cache

    def RawModule(self, code: str, enable_cooperative_groups: bool = False, **_: Any) -> Any:  # CuPy's name
        """As `device.RawModule`, with accesses counted."""
        made = object.__new__(device.RawModule)
        made._module = TracedModule(code, self._watch, self._cache)
        made._cooperative = enable_cooperative_groups
        return made

    def __getattr__(self, name: str) -> Any:
        return _Counted(self._watch, device, name).of(name)


class _Counted:
    """What stands under a name of the library; its parts (`linalg.solve`, `maximum.accumulate`) are counted, too."""

    def __init__(self, watch: Watch, of: Any, path: str) -> None:
        self._watch, self._of, self._path = watch, of, path

    def of(self, name: str) -> Any:
        value = getattr(self._of, name)
        known = name in _MAKING or isinstance(value, (type, np.ndarray, np.generic))
        if known or not (callable(value) or isinstance(value, types.ModuleType)):
            return value
        return _Counted(self._watch, value, self._path)

    def __getattr__(self, name: str) -> Any:
        return _Counted(self._watch, self._of, f"{self._path}.{name}").of(name)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        result = self._of(*args, **kwargs)
        arrays = [x for x in (*args, *kwargs.values()) if isinstance(x, np.ndarray) and x.size]
        made = result if isinstance(result, (tuple, list)) else (result,)
        self._watch.calls[self._path] += 1
        self._watch.read |= {x.ctypes.data for x in arrays}
        self._watch.bytes += sum(x.nbytes for x in (*arrays, *made) if isinstance(x, np.ndarray))
        return result


def launched(name: str, code: str, launcher: str, watch: Watch, cache: Path | None = None) -> Callable[..., Any]:
    """The function `name` of a launcher's text on the simulator, of whose calls `watch` is told."""
    return executed(name, code, launcher, _Device(watch, cache))
