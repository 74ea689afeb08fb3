"""Many programs through one target: what they need compiled is collected first, and the toolchain runs once for all."""

from __future__ import annotations

import functools
import itertools
import linecache
import os
import re
import subprocess
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

import transkern
from tests.fuzz.arguments import flush
from tests.fuzz.oracle import ENDLESS, Oracle, Outcome, call, difference, refused_at_run_time
from tests.fuzz.programs import Program
from tests.fuzz.units import united
from transkern.errors import CompileError, NeedsConstant
from transkern.runtime.caching import building, few, making
from transkern.runtime.compiled import Compiled
from transkern.runtime.specialisation import Specialisation
from transkern.targets.cpu import compiler as cc
from transkern.targets.cpu.build import import_file
from transkern.targets.cpu.printing.module import emit
from transkern.targets.cuda.simulator import compile as simulator
from transkern.targets.cuda.simulator import device
from transkern.targets.cuda.simulator.source import translate

QUICK = ("-O0", "-std=gnu11", "-fopenmp", "-fPIC", "-fwrapv", "-ffp-contract=off", "-fno-math-errno",
         "-fno-trapping-math", "-w")  # fmt: skip
"""For most programs: compiled five times as fast."""
_SANITIZERS = ("-g1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all")
"""Signed integers may wrap (`-fwrapv`), as NumPy's do; what is found ends the process, with a report on stderr."""


_REFUSED_ON_DEVICES = "an index beyond 32 bits"


class Pending(BaseException):
    """The code is not compiled yet: the program is run again after the batch has been."""


class Broken(BaseException):
    """The compiler itself failed; its traceback is the message."""


@dataclass
class Report:
    """What became of a program: ``right``, ``refused``, ``wrong``, ``broken`` or ``fragile``."""

    program: Program
    verdict: str = ""
    message: str = ""
    call: int = 0


@dataclass
class _State:
    program: Program
    compiled: Compiled
    wanted: list[Callable[[], Outcome]]
    report: Report
    done: int = 0
    answer: Outcome | None = None


_SUBSCRIPT = re.compile(r"index (-?\d+) is out of bounds for axis (\d+) with size (\d+)")


def _names_another(found: BaseException | None, wanted: BaseException | None, program: Program) -> bool:
    """Whether two exceptions name different ones of several wrong subscripts: NumPy looks through those that it has to
    cast as they lie in memory, which may be from behind (docs/trust.md)."""
    one, two = _SUBSCRIPT.fullmatch(str(found)), _SUBSCRIPT.fullmatch(str(wanted))
    if one is None or two is None or not isinstance(found, IndexError) or one[2] != two[2] or one[3] != two[3]:
        return False
    wrong = all(not -int(m[3]) <= int(m[1]) < int(m[3]) for m in (one, two))
    return wrong and ("::-" in program.source or any(p.layout == "reversed" for p in program.parameters))


def _keeps_readonly(found: BaseException | None, wanted: BaseException | None, program: Program) -> bool:
    """Whether `np.add.at` raises for a read-only array into which NumPy stores (docs/trust.md)."""
    told = isinstance(found, ValueError) and str(found) == "array is read-only"
    return told and str(wanted) != str(found) and ".at(" in program.source


@contextmanager
def small_sizes(constant: bool) -> Iterator[None]:
    """Whether small matrices get code of their own: all matrices of generated programs are small, and half of these are
    to try the code for those that are not."""
    with pytest.MonkeyPatch.context() as patch:
        if not constant:
            patch.setattr(few, "SMALL_SIZE", 0)
        yield


@dataclass
class Batch:
    """Programs that are compiled together."""

    target: str
    folder: Path
    flags: tuple[str, ...] = QUICK
    sanitized: bool = False  # in a process that AddressSanitizer's runtime was loaded into first
    started: Callable[[Program], None] = lambda program: None  # told before code of a program runs
    made: dict[Any, Specialisation] = field(default_factory=dict)
    waiting: dict[Any, tuple[Any, str]] = field(default_factory=dict)
    kernels: dict[str, None] = field(default_factory=dict)  # texts for the CUDA simulator
    loaded: dict[str, tuple[Path, str]] = field(default_factory=dict)  # a text's shared object and table of kernels
    refused: dict[Any, str] = field(default_factory=dict)  # what the toolchain says of texts that it cannot compile
    numbers: Iterator[int] = field(default_factory=itertools.count)

    def run(self, programs: list[Program]) -> list[Report]:
        """Each program's verdict."""
        states = [self._state(p) for p in programs]
        with self._collecting():
            left = states
            while left:
                left = [s for s in left if self._advance(s)]
                self._compile()
        return [s.report for s in states]

    def _state(self, program: Program) -> _State:
        number = next(self.numbers)
        file, source = f"<program {os.getpid()}.{number}>", program.source.replace("def f(", f"def f_{number}(")
        linecache.cache[file] = len(source), None, source.splitlines(keepends=True), file
        space: dict[str, Any] = {"__name__": "generated"}
        exec(compile(source, file, "exec"), space)
        oracle = Oracle(program.source, scans=self.target != "cpu", subnormals=self.target != "pallas")
        wanted = [
            lambda k=k: oracle.outcome(lambda: self._arguments(program, k))  # type: ignore[misc]
            for k in range(len(program.calls))
        ]
        compiled = transkern.compile(space[f"f_{number}"], target=self.target)
        return _State(program, compiled, wanted, Report(program))

    def _arguments(self, program: Program, call: int) -> list[Any]:
        made = program.arguments(call)
        return flush(made) if self.target == "pallas" else made

    def _advance(self, s: _State) -> bool:
        """Runs the calls of a program as far as its code is there; whether some are left."""
        with small_sizes(len(s.program.source) % 2 == 0):
            return self._called(s)

    def _called(self, s: _State) -> bool:
        while s.done < len(s.wanted):
            self.started(s.program)
            s.report.call = s.done
            if s.answer is None:
                s.answer = s.wanted[s.done]()
            wanted = s.answer
            if wanted.fragile == ENDLESS:
                s.report.verdict = "fragile"
                return False
            try:
                found = call(s.compiled, self._arguments(s.program, s.done), (CompileError, Pending, Broken))
            except Pending:
                return True
            except CompileError as error:
                s.report.verdict, s.report.message = "refused", str(error)
                return False
            except Broken as error:
                s.report.verdict, s.report.message = "broken", str(error)
                return False
            if refused_at_run_time(found.error) or _REFUSED_ON_DEVICES in str(found.error):
                s.report.verdict, s.report.message = "refused", str(found.error)
                return False
            problem = difference(found, wanted, afterwards=self.target == "cpu")
            if problem and _keeps_readonly(found.error, wanted.error, s.program):
                s.report.verdict = "fragile"
                return False
            if problem and not _names_another(found.error, wanted.error, s.program):
                s.report.verdict, s.report.message = "wrong", problem
                return False
            if wanted.fragile:
                s.report.verdict = "fragile"
            s.done += 1
            s.answer = None
        s.report.verdict = s.report.verdict or "right"
        return False

    @contextmanager
    def _collecting(self) -> Iterator[None]:
        before, module = building.build, device.Module
        if self.target == "cpu":
            building.build = self._build
        else:
            building.build = _telling(before)
        if self.target == "cuda":
            device.Module = functools.partial(_Module, self)  # type: ignore[misc]
        try:
            yield
        finally:
            building.build, device.Module = before, module  # type: ignore[misc]

    def _build(self, function: Any, types: tuple[Any, ...], target: str, narrow: bool = False) -> Specialisation:
        """A specialisation for the CPU, once the batch that it is in has been compiled."""
        key = function, types
        if key in self.made:
            return self.made[key]
        if key in self.refused:
            raise Broken(f"the C compiler: {self.refused[key]}")
        if key not in self.waiting:
            self.waiting[key] = _telling(_program_and_text)(function, types, target)
        raise Pending

    def _compile(self) -> None:
        if self.waiting:
            self._compile_c()
        if self.kernels:
            self._compile_kernels()

    def _compile_c(self) -> None:
        """All modules as one translation unit; one by one where that fails."""
        units = [list(self.waiting.items())]
        while units:
            unit = units.pop()
            path = self.folder / f"batch_{os.getpid()}_{next(self.numbers)}.so"
            source = path.with_suffix(".c")
            source.write_text(united([text for _, (_, text) in unit]), encoding="utf-8")
            flags = [f for f in (*self.flags, *(_SANITIZERS if self.sanitized else ())) if f != "-shared"]
            command = [*cc.command(), *flags, "-shared", str(source), "-o", str(path), "-lm"]
            run = subprocess.run(command, capture_output=True, text=True, check=False)
            if run.returncode and len(unit) > 1:
                units += [[one] for one in unit]
                continue
            for key, (program, _) in unit:
                if run.returncode:
                    self.refused[key] = "\n".join(x for x in run.stderr.splitlines() if "error" in x)
                    continue
                module = import_file(path, program.name)
                made = making.specialisation(program, key[1], "cpu", getattr(module, program.name))
                made.why = module.why
                self.made[key] = made
        self.waiting.clear()

    def _compile_kernels(self) -> None:
        """All kernels as one translation unit, each program's in a namespace; one by one where that fails."""
        units = [list(self.kernels)]
        while units:
            texts = units.pop()
            path = self.folder / f"kernels_{os.getpid()}_{next(self.numbers)}.so"
            parts = ['#include "runtime.h"']
            for k, text in enumerate(texts):
                body = translate(text).replace('#include "runtime.h"', "")
                parts.append(f"#define transkern_kernels kernels_{k}\nnamespace program_{k} {{\n{body}\n}}")
                parts.append("#undef transkern_kernels")
            source = path.with_suffix(".cpp")
            source.write_text("\n".join(parts), encoding="utf-8")
            flags = (*simulator._KERNEL_FLAGS, *((simulator._LINES, *_SANITIZERS) if self.sanitized else ()))
            command = ["g++", *flags, "-O0", "-shared", str(source), "-o", str(path)]
            run = subprocess.run(command, capture_output=True, text=True, check=False)
            if run.returncode == 0:
                self.loaded |= {text: (path, f"kernels_{k}") for k, text in enumerate(texts)}
            elif len(texts) == 1:
                self.refused[texts[0]] = run.stderr[-800:]
            else:
                units += [[text] for text in texts]
        self.kernels.clear()


def _program_and_text(function: Any, types: tuple[Any, ...], target: str) -> tuple[Any, str]:
    program = making.program_for(function, types, target)
    return program, emit(program)


def _telling(build: Callable[..., Any]) -> Callable[..., Any]:
    """`build`, whose own failures are Broken: an AssertionError may also be the function's."""

    @functools.wraps(build)
    def run(*args: Any, **keywords: Any) -> Any:
        try:
            return build(*args, **keywords)
        except (CompileError, NeedsConstant, Pending, Broken):
            raise
        except Exception as error:
            raise Broken(traceback.format_exc()) from error

    return run


class _Module(simulator.Module):
    """Kernels for the simulator, which a batch compiles."""

    def __init__(self, batch: Batch, text: str, *, options: Sequence[str] = (), cache: Path | None = None) -> None:
        if text in batch.refused:
            raise Broken(f"the CUDA compiler: {batch.refused[text]}")
        if text not in batch.loaded:
            batch.kernels[text] = None
            raise Pending
        self._runtime = simulator._load_runtime(cache, "address,undefined" if batch.sanitized else None)
        self._load(text, *batch.loaded[text])
