"""A function's kernels on GPUs: what NVRTC makes of them, what they ask of memory, and the least time that takes."""

from __future__ import annotations

import collections
import dataclasses
import importlib.metadata
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.evidence.emitted import Emitted, emitted
from benchmarks.evidence.functions import Subject
from benchmarks.evidence.store import remembered
from transkern.fuse.checks.guards import OTHER_SIZES
from transkern.targets import chips
from transkern.targets.cuda import sass
from transkern.targets.cuda.sass import KernelCode, LoopCode
from transkern.targets.cuda.simulator import device, paths, trace
from transkern.targets.cuda.simulator.trace import Launched, Site

_PLAIN = {"zeros", "zeros_like", "full", "full_like", "ones", "copy", "concatenate", "stack"}
"""Calls of a library that take the time of the bytes which they move."""
_LONG = 16
"""Instructions of an innermost loop without accesses of memory, from which on their number would be missed."""
_SECTORS_FROM = 0.25
"""A place in a kernel is looked at if it makes so large a part of the requests of the place that makes the most."""


def code_of(text: str, arch: str) -> dict[str, KernelCode]:
    """The machine code of each kernel."""
    if not text.count("__global__"):
        return {}
    parts = ("code", text, arch, importlib.metadata.version("nvidia-cuda-nvrtc"), _text(sass))
    found = remembered(parts, lambda: [dataclasses.asdict(k) for k in sass.inspect(text, arch)])
    loops = lambda k: tuple(LoopCode(**x) for x in k["loops"])  # noqa: E731
    return {k["name"]: KernelCode(**{**k, "loops": loops(k), "around": LoopCode(**k["around"])}) for k in found}


def watched(subject: Subject, made: Emitted) -> dict[str, Any]:
    """What a call does: its launches as JSON, and the bytes of arguments and results that it has to move at least."""
    sources = (_text(trace), _text(paths), _text(trace, "trace.cpp"), _text(trace, "runtime.cpp"))
    arguments = ",".join(f"{v.dtype}{v.shape}" if isinstance(v, np.ndarray) else repr(v) for v in made.values)
    return remembered(("watched", *made.texts.values(), arguments, *sources), lambda: _watched(subject, made))


def _text(module: Any, name: str = "") -> str:
    path = Path(module.__file__)
    return (path.with_name(name) if name else path).read_text(encoding="utf-8")


def _watched(subject: Subject, made: Emitted) -> dict[str, Any]:
    on_device = [device.asarray(v) if isinstance(v, np.ndarray) else v for v in made.values]
    arrays = [x for x in on_device if isinstance(x, np.ndarray)]
    with trace.watching() as watch:
        function = trace.launched(made.name, made.kernels, made.module, watch)
        shared = (("_arrived", ()), ("_group", (1 << 40,)), ("_sharing", (1, 1 << 40)))
        for name, arguments in shared:  # whose memory the first call makes
            if (made_once := function.__globals__.get(name)) is not None:
                made_once(*arguments)
        watch.calls.clear()
        watch.bytes = 0
        with np.errstate(all="ignore"):
            result = function(*on_device)
        waited = watch.waited
    results = {x.ctypes.data: x.nbytes for x in _leaves(result)}
    written = {on_device[k].ctypes.data: on_device[k].nbytes for k in subject.written}
    fewest = sum(x.nbytes for x in arrays if x.ctypes.data in watch.read) + sum((written | results).values())
    elements = max((x.size for x in (*arrays, *_leaves(result))), default=0)
    return {
        "launches": [dataclasses.asdict(x) for x in watch.launches], "calls": dict(watch.calls),
        "bytes of calls": watch.bytes, "waited": waited, "fewest": fewest, "elements": elements,
        "entered": sorted(watch.entered),
    }  # fmt: skip


def _leaves(result: Any) -> list[Any]:
    if isinstance(result, np.ndarray):
        return [result]
    if isinstance(result, dict):
        result = list(result.values())
    return [x for r in result for x in _leaves(r)] if isinstance(result, (tuple, list)) else []


def launches_of(found: Mapping[str, Any]) -> list[Launched]:
    return [Launched(**{**x, "sites": tuple(Site(**s) for s in x["sites"])}) for x in found["launches"]]


# ---- figures ---------------------------------------------------------------------------------------------------------


@dataclasses.dataclass
class Figures:
    """A launch on a chip: its time and what bounds it, and the figures of its kernel that the table shows."""

    launch: Launched
    code: KernelCode
    seconds: float | None
    bound: str
    in_flight: float
    instructions: float | None  # of a thread a point
    arithmetic: dict[str, float]  # instructions of warps
    points: int


def figures(launch: Launched, code: KernelCode, gpu: chips.GPU) -> Figures:
    """The figures of a launch whose machine code is known."""
    lanes, requests = sum(s.lanes for s in launch.sites), sum(s.requests for s in launch.sites)
    loads = [s for s in launch.sites if not s.write]
    hot = _loops(launch, code)
    known = not any(not x.accesses and x.instructions >= _LONG for x in code.loops)
    per_access = sum(x.instructions for x in hot) / max(1, sum(x.accesses for x in hot))
    warps = launch.grid * -(-launch.threads // 32)
    straight = code.around in hot and code.counts.get("barrier", 0) > 0  # each thread goes through it once a turn
    around = code.around.instructions * _turns(launch, code) if straight or code.around not in hot else 0.0
    instructions = (0 if straight else requests * per_access) + around * warps
    own = (0 if straight else lanes * per_access) + around * launch.grid * launch.threads
    arithmetic: collections.Counter[str] = collections.Counter()
    for x in hot:
        often = warps * _turns(launch, code) if straight else requests / max(1, sum(y.accesses for y in hot))
        for unit, count in x.arithmetic.items():
            arithmetic[unit] += count * often  # type: ignore[assignment]
    in_flight = max(x.in_flight for x in hot)
    loaded = sum(s.lanes for s in loads)
    size = sum(s.lanes * s.size for s in loads) / loaded if loaded else 0
    rounds = launch.longest * (loaded / lanes if lanes else 0) * size / max(in_flight, size, 1)
    work = chips.Work(
        moved=launch.read + launch.written,
        read=launch.read,
        sectors=sum(s.requests * s.sectors / s.sampled for s in launch.sites if s.sampled),
        instructions=instructions if known else None,
        blocks=launch.grid,
        threads=launch.threads,
        resident=gpu.resident(launch.threads, code.registers, code.shared + launch.shared),
        busy=launch.busy / launch.grid,
        in_flight=in_flight,
        longest=rounds,
        barriers=launch.barriers / launch.grid,
        meetings=launch.meetings,
    )
    parts = chips.least_time(gpu, work)
    used = min(launch.grid, gpu.multiprocessors)
    parts["units"] = chips.arithmetic_time(gpu, arithmetic) * gpu.multiprocessors / used
    bound = max(parts, key=lambda part: parts[part])
    points = max((s.lanes * s.size // s.element for s in launch.sites), default=0)
    return Figures(
        launch, code, chips.estimate(parts) if known else None, bound, chips.bytes_in_flight(gpu, work),
        own / points if known and points else None, dict(arithmetic), points,
    )  # fmt: skip


def _as_it_went(code: KernelCode, gone_through: KernelCode) -> KernelCode:
    """The code of a kernel with the instructions of the versions that threads go through: of others only the question
    counts. Registers, and the widths of loads and stores, are those of the whole."""
    counts = code.counts | {"barrier": gone_through.counts.get("barrier", 0)}
    return dataclasses.replace(code, counts=counts, loops=gone_through.loops, around=gone_through.around)


def _turns(launch: Launched, code: KernelCode) -> float:
    """How often a block goes through the code around the innermost loops: as often as through its barriers."""
    return max(1.0, launch.barriers / launch.grid / max(1, code.counts.get("barrier", 0)))


def _loops(launch: Launched, code: KernelCode) -> list[LoopCode]:
    """The loops that a launch goes through: those with accesses as wide as most of its bytes are asked for in, as a
    kernel has loops for words and others for elements. Where there is none, the code is one stretch."""
    widths: collections.Counter[int] = collections.Counter()
    for s in launch.sites:
        widths[8 * s.size] += s.lanes * s.size
    most = max(widths, key=lambda bits: widths[bits], default=0)
    found = [x for x in code.loops if x.accesses]
    if not any(x.width == most for x in found) and code.around.width == most:
        return [code.around]  # a loop around a loop for the last few elements
    return [x for x in found if x.width == most] or found or [code.around]


def row(subject: Subject, arch: str, gpu: chips.GPU | None = None) -> dict[str, Any]:
    """What is known of a function on an architecture, of which `gpu` is one; what is not is missing."""
    gpu = gpu or chips.GPUS[arch]
    found: dict[str, Any] = {"function": subject.name, "arch": arch}
    made = emitted(subject.function, subject.arguments(), "cuda")
    try:
        call = watched(subject, made)
    except ValueError as error:
        if str(error) != OTHER_SIZES:
            raise
        made = emitted(subject.function, subject.arguments(), "cuda", sizes=True)
        call = watched(subject, made)
    code = code_of(made.kernels, arch)
    gone_through = code_of(paths.only(made.kernels, {*call["entered"]}), arch)
    found["kernels"] = len(code)
    found["registers"] = max((k.registers for k in code.values()), default=0)
    found["spills"] = sorted(k.name for k in code.values() if k.spills)
    all_figures = [figures(x, _as_it_went(code[x.kernel], gone_through[x.kernel]), gpu) for x in launches_of(call)]
    found |= {
        "launches": len(all_figures), "calls": call["calls"], "waits": call["waited"], "fewest bytes": call["fewest"],
        "moved bytes": sum(f.launch.read + f.launch.written for f in all_figures) + call["bytes of calls"],
        "meetings": sum(f.launch.meetings for f in all_figures),
    }  # fmt: skip
    known = all(f.seconds is not None for f in all_figures) and set(call["calls"]) <= _PLAIN
    if known and all_figures:
        starts = chips.LAUNCH * (len(all_figures) + sum(call["calls"].values()) - 1)
        busy = sum(f.seconds or 0.0 for f in all_figures)
        found["estimate"] = busy + call["bytes of calls"] / gpu.memory + starts
        found["roof"] = _roof(all_figures, call, gpu)
        found["starts"] = starts
    if all_figures:
        found |= _hot(all_figures)
    return found


def _roof(all_figures: Sequence[Figures], call: Mapping[str, Any], gpu: chips.GPU) -> float | None:
    """The least time for the fewest bytes and the arithmetic that is in the kernels; None where neither says anything:
    many points for each element, and no arithmetic on floats."""
    arithmetic: collections.Counter[str] = collections.Counter()
    for f in all_figures:
        arithmetic.update(f.arithmetic)  # type: ignore[arg-type]
    points = sum(f.points for f in all_figures)
    if points > 8 * call["elements"] and not arithmetic:
        return None
    return max(call["fewest"] / gpu.memory, chips.arithmetic_time(gpu, arithmetic))


def _hot(all_figures: Sequence[Figures]) -> dict[str, Any]:
    """The kernel that takes the most time, all its launches together, and its figures."""
    times: collections.Counter[str] = collections.Counter()
    for f in all_figures:
        times[f.launch.kernel] += f.seconds or 0.0  # type: ignore[assignment]
    kernel = max(times, key=lambda name: times[name])
    mine = [f for f in all_figures if f.launch.kernel == kernel]
    hot = max(mine, key=lambda f: f.seconds or 0.0)
    widths = lambda kind: [int(k.rpartition("_")[2]) for k in hot.code.counts if k.startswith(f"{kind}_")]  # noqa: E731
    requests = max((s.requests for s in hot.launch.sites), default=0)
    sectors = [
        s.sectors / s.sampled / max(1.0, s.size / 4)
        for s in hot.launch.sites
        if s.sampled and s.requests >= _SECTORS_FROM * requests
    ]
    lanes = sum(s.lanes for s in hot.launch.sites)
    return {
        "kernel": kernel, "bound": hot.bound, "blocks": hot.launch.grid, "threads": hot.launch.threads,
        "busy": hot.launch.busy, "longest": hot.launch.longest / lanes if lanes else 0.0,
        "load": max(widths("load"), default=None), "store": max(widths("store"), default=None),
        "sectors": max(sectors, default=None), "in flight": hot.in_flight, "instructions": hot.instructions,
        "barriers": hot.launch.barriers / hot.launch.grid, "atomics": hot.code.counts.get("atomic", 0),
    }  # fmt: skip
