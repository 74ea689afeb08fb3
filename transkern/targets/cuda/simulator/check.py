"""Runs kernels under the sanitizers, in a process of their own.

    report = check(text, [Launch("scale", 4, 128, ("x", "y", 512))], {"x": x, "y": y}, kind="race")
    assert report.ok, report.text

`kind="memory"` finds accesses outside an array, a shared or a local variable, misaligned vector accesses, signed
overflow, bad shifts and division by zero, with the line of the text (AddressSanitizer, UndefinedBehaviorSanitizer).
`kind="race"` finds accesses that nothing orders, in shared and in global memory, with both lines (ThreadSanitizer).
Each CUDA thread is a thread to it; what orders is what orders in CUDA: barriers, `__syncwarp`, the end of a launch, and
atomics or volatile accesses together with `__threadfence()`.
"""

from __future__ import annotations

import functools
import os
import shutil
import struct
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np

from .compile import Parameter, Sanitizer, build_program, launch_sizes, pack_arguments
from .source import find_kernels

_SANITIZERS: Mapping[str, Sanitizer] = {"memory": "address,undefined", "race": "thread"}
_ENVIRONMENT = {
    # A kernel's locals are on fiber stacks, of which leak detection and fake stacks know nothing.
    "ASAN_OPTIONS": "detect_leaks=0:detect_stack_use_after_return=0:exitcode=1",
    "UBSAN_OPTIONS": "print_stacktrace=1:exitcode=1",
    "TSAN_OPTIONS": "halt_on_error=1:exitcode=1:report_thread_leaks=0",
}


class Launch(NamedTuple):
    """One launch: `args` are names of arrays, or numbers; `grid` and `block` are 1 to 3 sizes, or one int."""

    kernel: str
    grid: int | Sequence[int]
    block: int | Sequence[int]
    args: Sequence[object]
    shared_mem: int = 0
    cooperative: bool = False


@dataclass(frozen=True, slots=True)
class Report:
    """`ok`: nothing was found. `text`: what was. `arrays`: all arrays after the launches, empty where not `ok`."""

    ok: bool
    text: str
    arrays: dict[str, np.ndarray[Any, Any]]


def check(
    text: str,
    kernel_launches: Sequence[Launch | tuple[Any, ...]],
    arrays: Mapping[str, np.ndarray[Any, Any]],
    kind: Literal["memory", "race"] = "memory",
    *,
    options: Sequence[str] = (),
    cache: Path | None = None,
    timeout: float = 120.0,
) -> Report:
    """Runs the launches in order on copies of `arrays` under the sanitizers of `kind`.

    Args:
        text: CUDA C++.
        kernel_launches: what to launch; a tuple has the fields of `Launch`.
        arrays: the global memory, by name; each is placed alone, with watched memory around it.
        kind: which sanitizers.
        options: as for `compile.build`.
        cache: as for `compile.build`.
        timeout: seconds after which the run counts as hanging.

    Returns:
        The report. A failure that the simulator itself finds (a deadlock, say) is in it too.

    Raises:
        SourceError, CompileError: the text does not compile.
        TypeError, ValueError, LaunchError: a launch does not fit its kernel.
    """
    program = build_program(text, _SANITIZERS[kind], options=options, cache=cache)
    launches = [Launch(*launch) for launch in kernel_launches]
    plan = _plan(_parameters(program, text), launches, arrays)
    with tempfile.TemporaryDirectory() as folder:
        plan_file, result_file = Path(folder, "plan"), Path(folder, "result")
        plan_file.write_bytes(plan)
        # ThreadSanitizer wants its addresses where they are without randomisation.
        prefix = _fixed_addresses() if kind == "race" else ()
        try:
            run = subprocess.run(
                [*prefix, str(program), str(plan_file), str(result_file)],
                capture_output=True,
                text=True,
                errors="replace",
                timeout=timeout,
                env=os.environ | _ENVIRONMENT,
            )
        except subprocess.TimeoutExpired:
            return Report(False, f"the kernels still ran after {timeout:g} s", {})
        if run.returncode != 0:
            return Report(False, run.stderr or f"the program ended with status {run.returncode}", {})
        content = result_file.read_bytes()
    results = {}
    for name, array in arrays.items():
        flat = np.frombuffer(content[: array.nbytes], array.dtype)
        content = content[array.nbytes :]
        results[name] = flat.reshape(array.shape).copy()
    return Report(True, run.stderr, results)


def _plan(
    kernels: Mapping[str, tuple[Parameter, ...]],
    launches: Sequence[Launch],
    arrays: Mapping[str, np.ndarray[Any, Any]],
) -> bytes:
    """The file that driver.cpp reads."""
    names, order = list(arrays), list(kernels)
    parts = [_words(len(names))]
    for array in arrays.values():
        parts += [_words(array.nbytes), array.tobytes()]
    parts.append(_words(len(launches)))
    for kernel, grid, block, args, shared_mem, cooperative in launches:
        sizes = launch_sizes(_sizes(grid), _sizes(block), shared_mem, cooperative)
        parts.append(_words(order.index(kernel), *sizes, shared_mem, int(cooperative)))
        given = [arrays[arg] if isinstance(arg, str) else arg for arg in args]
        for arg, value in zip(args, pack_arguments(kernels[kernel], given), strict=True):
            if isinstance(value, bytes):
                parts += [_words(0, len(value)), value]
            else:
                parts.append(_words(1, names.index(str(arg))))
    return b"".join(parts)


def _words(*values: int) -> bytes:
    return struct.pack(f"<{len(values)}Q", *values)


def _sizes(given: int | Sequence[int]) -> Sequence[int]:
    return (given,) if isinstance(given, int) else given


def _parameters(program: Path, text: str) -> dict[str, tuple[Parameter, ...]]:
    """What the built program says of its kernels' types; the parameters' names are from the text."""
    lines = subprocess.run([*_fixed_addresses(), str(program)], capture_output=True, text=True, check=True).stdout
    names = {kernel.name: kernel.parameters for kernel in find_kernels(text)}
    kernels = {}
    for line in lines.splitlines():
        kernel, *types = line.split()
        fields = [one.split(",") for one in types]
        kernels[kernel] = tuple(
            Parameter(name, pointer == "1", constant == "1", kind, int(size))
            for name, (pointer, constant, kind, size) in zip(names[kernel], fields, strict=True)
        )
    return kernels


@functools.cache
def _fixed_addresses() -> tuple[str, ...]:
    """The command prefix that switches address randomisation off, where the system allows it."""
    command = ("setarch", "-R")
    if shutil.which("setarch") and subprocess.run([*command, "true"], capture_output=True).returncode == 0:
        return command
    return ()
