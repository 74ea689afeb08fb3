"""Compile an emitted module for a real TPU generation on a machine without one, and read its static schedule.

The vendor's compiler ships in the package `libtpu` (``pip install "jax[tpu]"``) and compiles ahead of time for a named
topology. A kernel that passes is accepted by Mosaic and by the TPU back end, register allocation and VMEM limits
included. The number of VLIW bundles in a loop is a lower bound for its cycles an iteration (waits and transfers come on
top): it compares two versions of a kernel, it is not a time.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from transkern.errors import BuildError, TargetUnavailable
from transkern.ir import nodes as n
from transkern.targets.pallas.module.emit import emit

BEGINNING = """
import json, sys, types
import jax
from jax.experimental import topologies
from jax.sharding import SingleDeviceSharding
device = topologies.get_topology_desc(platform="tpu", topology_name=sys.argv[1]).devices[0]
try:  # a few ops ask for the local device while they are lowered: answer for the one compiled for
    from jax._src.pallas.mosaic import tpu_info
    tpu_info.registry["cpu"] = lambda: tpu_info.get_tpu_info_for_chip(
        tpu_info.chip_version_from_device_kind(device.device_kind), 1)
except (ImportError, AttributeError):
    pass
on = SingleDeviceSharding(device)
def compiled(path, name, shapes):
    module = types.ModuleType("emitted")
    exec(compile(open(path).read(), path, "exec"), module.__dict__)
    module.INTERPRET = False
    given = [x if isinstance(x, (int, float)) else None for x in shapes]
    args = [jax.ShapeDtypeStruct(*x) for x, y in zip(shapes, given) if y is None]
    def traced(*args, given=given, function=getattr(module, name)):
        rest = iter(args)
        return function(*(next(rest) if x is None else x for x in given))
    return jax.jit(traced, in_shardings=on).lower(*args).compile()
"""
"""How a process begins that compiles functions of emitted modules for a topology: its first argument."""

_CHILD = BEGINNING + """
for path, name, shapes in json.load(sys.stdin):
    print("case", path, flush=True)
    try:
        compiled(path, name, shapes)
        print("ok", path, flush=True)
    except Exception as error:
        print("failed", path, json.dumps(f"{type(error).__name__}: {error}"[:4000]), flush=True)
"""
_BUNDLE = re.compile(r"^\s*0?x?[0-9a-f]+\s*(?:[A-Z]{2}(?:=[^:]*)?)?\s*:\s*((?:>\s*)*)\{")
_LOOP_BODY = re.compile(r"^\s*0?x?[0-9a-f]+\s+LB\b")

_OF_XLA = re.compile(r"fusion(\.\w+)*$")
"""How XLA names the fusions that it makes; one with a kernel has the kernel's name."""


@dataclass(frozen=True, slots=True)
class LoopSchedule:
    """A loop of a kernel: how deep it is nested, and its bundles an iteration without the loops inside it."""

    depth: int
    bundles: int


@dataclass(slots=True)
class KernelSchedule:
    """What was compiled under one name: `pallas` for a Pallas kernel, else one of XLA's own fusions."""

    name: str
    pallas: bool
    bundles: int
    loops: list[LoopSchedule] = field(default_factory=list)


Given = tuple[Sequence[int], str] | int | float
"""An argument: ``((1024, 4), "float32")``, a scalar ``((), "float32")``, or a number that is known when JAX traces."""


def check_tpu(
    of: str | n.Program, shapes: Sequence[Given], topology: str = "v5e:2x2", name: str = ""
) -> list[KernelSchedule]:
    """Compile an emitted module, or a program, for arguments of such `shapes`.

    Returns the schedule of each kernel. Raises BuildError with the compiler's words where it refuses, and
    TargetUnavailable where libtpu is missing or its schedule dump is not what this reads.
    """
    return check_many({"module": (of, shapes, name)}, topology)["module"]


def check_many(
    modules: Mapping[str, tuple[str | n.Program, Sequence[Given], str]], topology: str = "v5e:2x2"
) -> dict[str, list[KernelSchedule]]:
    """`check_tpu` of several modules in one subprocess: a compiler crash must not take this process with it."""
    with tempfile.TemporaryDirectory() as folder:
        cases, dump = [], Path(folder, "dump")
        dump.mkdir()
        for key, (of, shapes, name) in modules.items():
            path = Path(folder, f"{key}.py")
            path.write_text(of if isinstance(of, str) else emit(of))
            function = name or (of.name if isinstance(of, n.Program) else _last_function(path.read_text()))
            cases.append((str(path), function, [x if isinstance(x, int | float) else [*x] for x in shapes]))
        child = _run(cases, topology, dump)
        return _outcomes(child, dict(zip((c[0] for c in cases), modules, strict=True)), dump)


def _last_function(text: str) -> str:
    found: list[str] = re.findall(r"^def (\w+)\(", text, re.M)
    return found[-1]


def _run(cases: list[Any], topology: str, dump: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", _CHILD, topology],
        env=environment(dump),
        input=json.dumps(cases),
        capture_output=True,
        text=True,
    )


def environment(dump: Path) -> dict[str, str]:
    """The environment of a process that compiles for TPUs without one, and writes its schedules into a folder."""
    return dict(
        os.environ, JAX_PLATFORMS="cpu", TPU_SKIP_MDS_QUERY="1", TPU_WORKER_HOSTNAMES="localhost",
        ALLOW_MULTIPLE_LIBTPU_LOAD="1",  # no device is used: several compilers may run side by side
        TPU_ACCELERATOR_TYPE="v5litepod-4",
        LIBTPU_INIT_ARGS=f"--xla_jf_dump_to={dump} --xla_jf_dump_llo_text=true "
        "--xla_jf_dump_llo_pass_label_regex=final_bundles",  # one of seventy: most of the time otherwise
    )  # fmt: skip


def _outcomes(
    child: subprocess.CompletedProcess[str], keys: dict[str, str], dump: Path
) -> dict[str, list[KernelSchedule]]:
    ended: dict[str, str] = {}
    started: dict[str, int] = {}
    for line in child.stdout.splitlines():
        kind, _, rest = line.partition(" ")
        path, _, message = rest.partition(" ")
        if kind == "failed":
            raise BuildError(f"{keys[path]}: the TPU compiler refused it:\n{json.loads(message)}")
        if kind in ("case", "ok"):
            (ended if kind == "ok" else started)[path] = ""  # type: ignore[assignment]
    if child.returncode:
        if ("libtpu" in child.stderr and "ModuleNotFoundError" in child.stderr) or not started:
            raise TargetUnavailable(f"libtpu did not start: pip install 'jax[tpu]'\n{child.stderr[-1500:]}")
        raise BuildError(f"the TPU compiler crashed in {sorted(set(started) - set(ended))}:\n{child.stderr[-3000:]}")
    kernels = read_schedules(dump.iterdir())
    if not kernels:
        raise TargetUnavailable("compiled, but no schedule was dumped: this libtpu's dump flags differ")
    if len(keys) == 1:
        return {next(iter(keys.values())): kernels}
    return {key: [k for k in kernels if k.name.startswith(key)] for key in keys.values()}


def read_schedules(files: Iterable[Path]) -> list[KernelSchedule]:
    """The schedules among files of the compiler's dump, in the order in which they were made."""
    dumped = [f for f in files if f.name.endswith("-final_bundles.txt") and "schedule-analysis" not in f.name]
    return [k for f in sorted(dumped, key=lambda f: f.stat().st_mtime_ns) if (k := _read_schedule(f)) is not None]


def _read_schedule(file: Path) -> KernelSchedule | None:
    """The schedule in a file of the compiler's dump; None for the start and the end that all programs have."""
    name = re.sub(r"^\d+-|-\d+-final_bundles\.txt$", "", file.name)
    if name.startswith(("TLP", "<late")):  # the program's own start and end, the same for every program
        return None
    text = file.read_text(errors="replace")
    fused = f"%{name} = fusion(" in text and not _OF_XLA.search(name)  # with what it computes of its operands
    made = KernelSchedule(name, fused or "custom-call(" in text, 0)
    counts: list[list[int]] = []
    nested: list[list[int]] = []
    for line in text.splitlines():
        bundle = _BUNDLE.match(line)
        if not bundle:
            continue
        made.bundles += 1
        depth = bundle.group(1).count(">")
        del nested[depth:]
        if depth and (_LOOP_BODY.match(line) or len(nested) < depth):
            del nested[depth - 1 :]
            counts.append([depth, 0])
            nested.append(counts[-1])
        if depth:
            nested[-1][1] += 1
    made.loops = [LoopSchedule(depth, bundles) for depth, bundles in counts]
    return made
