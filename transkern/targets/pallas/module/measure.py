"""What a TPU's compiler makes of many modules, one after the other in a process of its own, each with a time limit.

    for key, made in measure({"softmax": Case(text, "softmax", [((1000, 1000), "float32")])}, "v5e:2x2"): print(made)

As `schedule.py`, but nothing ends the rest: what is refused, crashes the compiler or takes too long is an outcome. Of
what is compiled it says what runs in Pallas kernels and which operations of XLA stand around them, the bundles of
both, the bytes of memory by XLA's own analysis, and what the kernels take of VMEM.
"""

from __future__ import annotations

import json
import os
import re
import selectors
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from transkern.errors import TargetUnavailable
from transkern.targets.pallas.module.around import MOVES, NUMBERS, STEPS, outside
from transkern.targets.pallas.module.schedule import (
    BEGINNING,
    Given,
    KernelSchedule,
    LoopSchedule,
    environment,
    read_schedules,
)

_CHILD = BEGINNING + """
def measured(path, name, shapes):
    made = compiled(path, name, shapes)
    memory = made.memory_analysis()
    return {"text": made.as_text(), "arguments": memory.argument_size_in_bytes, "results": memory.output_size_in_bytes,
            "aliased": memory.alias_size_in_bytes, "temporaries": memory.temp_size_in_bytes}
print("started", flush=True)
for line in sys.stdin:
    try:
        made = measured(*json.loads(line))
    except Exception as error:
        made = {"failed": f"{type(error).__name__}: {error}"[:4000]}
    print(json.dumps(made), flush=True)
"""
_START = 120.0
"""Seconds that JAX and libtpu get to start."""
_VMEM = re.compile(r'"used_scoped_memory_configs":\[\{"memory_space":"1","offset":"0","size":"(\d+)"')


@dataclass(frozen=True)
class Case:
    """A module's text, which of its functions is compiled, and for what arguments."""

    text: str
    name: str
    shapes: Sequence[Given]


@dataclass(slots=True)
class Made:
    """What was compiled, or `failed`: why not.

    `kernels`: schedules of Pallas kernels and of XLA's fusions; `calls` of Pallas kernels in the program's text, and
    the operations `outside` them, by name; bytes of `arguments`, `results`, of those that are arguments too
    (`aliased`), and of `temporaries` in HBM; the most `vmem` of one kernel.
    """

    failed: str = ""
    kernels: list[KernelSchedule] = field(default_factory=list)
    calls: int = 0
    outside: dict[str, int] = field(default_factory=dict)
    arguments: int = 0
    results: int = 0
    aliased: int = 0
    temporaries: int = 0
    vmem: int = 0
    seconds: float = 0.0

    @property
    def wholly(self) -> bool:
        """Whether all arrays are computed in Pallas kernels: moves of data and single numbers may stand around them."""
        return self.calls > 0 and set(self.outside) <= MOVES | NUMBERS

    @property
    def steps(self) -> list[str]:
        """Which steps XLA is the better machine for, where nothing but these is computed outside of kernels."""
        known = set(self.outside) <= MOVES | NUMBERS | STEPS and not self.failed
        return sorted(set(self.outside) & STEPS) if known else []

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


def from_json(given: Mapping[str, Any]) -> Made:
    """The opposite of `Made.as_json`."""
    kernels = [
        KernelSchedule(k["name"], k["pallas"], k["bundles"], [LoopSchedule(**x) for x in k["loops"]])
        for k in given["kernels"]
    ]
    return Made(**{**given, "kernels": kernels})


def measure(cases: Mapping[str, Case], topology: str, limit: float = 60.0) -> Iterator[tuple[str, Made]]:
    """Each case's outcome, in order; `limit` in seconds for one. TargetUnavailable where libtpu does not start, or has
    no such `topology`."""
    with tempfile.TemporaryDirectory() as folder:
        dump = Path(folder, "dump")
        dump.mkdir()
        child: _Child | None = None
        try:
            for number, (key, case) in enumerate(cases.items()):
                child = child or _Child(topology, dump)
                path = Path(folder, f"case{number}.py")
                path.write_text(case.text, encoding="utf-8")
                begin = time.monotonic()
                before = set(dump.iterdir())
                shapes = [x if isinstance(x, int | float) else [*x] for x in case.shapes]
                answer = child.ask([str(path), case.name, shapes], limit)
                if answer is None:
                    seconds = time.monotonic() - begin
                    late = seconds >= limit
                    why = f"no answer within {limit:g} s" if late else f"the compiler crashed: {child.said()}"
                    child.end()
                    child = None
                    yield key, Made(failed=why, seconds=seconds)
                    continue
                new = [f for f in dump.iterdir() if f not in before]
                yield key, _made(answer, new, time.monotonic() - begin)
                for file in new:
                    file.unlink(missing_ok=True)
        finally:
            if child is not None:
                child.end()


class _Child:
    """A process that compiles for a topology."""

    def __init__(self, topology: str, dump: Path) -> None:
        self._errors = tempfile.TemporaryFile("w+")  # noqa: SIM115 (closed by `end`)
        self._process = subprocess.Popen(
            [sys.executable, "-c", _CHILD, topology], env=environment(dump), stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=self._errors, bufsize=0,
        )  # fmt: skip
        self._rest = b""
        if self._line(_START) != "started":
            said = self.said()
            self.end()
            raise TargetUnavailable(f"libtpu did not start: pip install 'jax[tpu]'\n{said}")

    def ask(self, case: Any, limit: float) -> dict[str, Any] | None:
        """The answer, or None where there is none: the process has ended, or took too long."""
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps(case).encode() + b"\n")
        except BrokenPipeError:
            return None
        line = self._line(limit)
        answer: dict[str, Any] | None = json.loads(line) if line.startswith("{") else None
        return answer

    def _line(self, limit: float) -> str:
        """The next line, or nothing."""
        assert self._process.stdout is not None
        end = time.monotonic() + limit
        with selectors.DefaultSelector() as selector:
            selector.register(self._process.stdout, selectors.EVENT_READ)
            while b"\n" not in self._rest:
                if not selector.select(max(0.0, end - time.monotonic())):
                    return ""
                part = os.read(self._process.stdout.fileno(), 1 << 16)
                if not part:
                    return ""
                self._rest += part
        line, _, self._rest = self._rest.partition(b"\n")
        return line.decode()

    def said(self) -> str:
        self._errors.seek(0)
        return self._errors.read()[-1500:]

    def end(self) -> None:
        self._process.kill()
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout, self._errors):
            if stream is not None:
                stream.close()


def _made(answer: dict[str, Any], files: Sequence[Path], seconds: float) -> Made:
    if "failed" in answer:
        return Made(failed=answer["failed"], seconds=seconds)
    text = answer.pop("text")
    kernels = read_schedules(files)
    calls = [line for line in text.splitlines() if 'custom_call_target="tpu_custom_call"' in line]
    vmem = max((int(size) for line in calls for size in _VMEM.findall(line)), default=0)
    return Made("", kernels, len(calls), outside(text), vmem=vmem, seconds=seconds, **answer)
