"""Which pass is at fault: the IR runs in NumPy after each pass, until the answer differs."""

from __future__ import annotations

import itertools
import linecache
import os
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import transkern
from tests.fuzz.batch import Report
from tests.fuzz.oracle import Oracle, Outcome, call, difference
from tests.fuzz.programs import Program
from transkern import pipeline
from transkern.errors import CompileError
from transkern.frontend.sources.source import live_function
from transkern.frontend.specialise import specialise
from transkern.fuse.lowering.lower import lower
from transkern.ir.oracle.interpret import WrongCode, interpret
from transkern.ir.oracle.numbers import Invalid
from transkern.ir.verify import violations
from transkern.runtime.caching import building, making
from transkern.runtime.specialisation import Specialisation

_numbers = itertools.count()


def function_of(source: str) -> Callable[..., Any]:
    """The function ``f`` of a module's text, under a name of its own, with its source where it is looked up."""
    number = next(_numbers)
    name, file = f"f_{number}", f"<program {os.getpid()}.{number}>"
    source = source.replace("def f(", f"def {name}(")
    linecache.cache[file] = len(source), None, source.splitlines(keepends=True), file
    space: dict[str, Any] = {"__name__": "generated"}
    exec(compile(source, file, "exec"), space)
    made: Callable[..., Any] = space[name]
    return made


@contextmanager
def built_by(build: Callable[..., Any]) -> Iterator[None]:
    """Inside, this makes what compiled functions run."""
    before, building.build = building.build, build
    try:
        yield
    finally:
        building.build = before


def interpreted(
    function: Callable[..., Any], stage: int, target: str = "cpu", shuffle: Callable[[list[int]], None] | None = None
) -> Callable[..., Any]:
    """A compiled function whose code is the interpreter on the program after the first `stage` passes."""
    compiled = transkern.compile(function, target=target)
    passes = pipeline.passes_for(target)[:stage]

    def build(function: Any, types: tuple[Any, ...], target: str, narrow: bool = False) -> Specialisation:
        program = pipeline.run(specialise(live_function(function), types, target == "cpu"), passes)
        if problems := violations(program, lower in passes):
            raise Invalid("; ".join(problems))
        reason = ["types"]

        def run(*args: Any) -> Any:
            try:
                return interpret(program, args[: len(args)], shuffle)
            except WrongCode as why:
                reason[0] = str(why)
                if reason[0] == "types" and any(getattr(p, "written", False) for p in program.params):
                    reason[0] = "types"
                return NotImplemented

        made = making.specialisation(
            replace(program, captured=()), types, target, _overlapping(program, run, reason)
        )
        made.why = lambda: reason[0]
        return made

    def running(*args: Any) -> Any:
        with built_by(build):
            return compiled(*args)

    return running


def _overlapping(program: Any, run: Callable[..., Any], reason: list[str]) -> Callable[..., Any]:
    """`run`, refusing arrays that share memory where the program was made for arrays that do not."""
    from transkern.ir.nodes import ArrayParam
    from transkern.runtime.arrays import overlapping

    arrays = [(k, p) for k, p in enumerate(program.params) if isinstance(p, ArrayParam)]

    def checked(*args: Any) -> Any:
        given = arrays[: sum(k < len(args) for k, _ in arrays)]  # behind them stand those from outside the function
        separate = [(p.name, args[k]) for k, p in given if not p.base]
        for group in overlapping([name for name, _ in separate], [a for _, a in separate]):
            if set(group) & {p.name for _, p in arrays if p.written}:
                reason[0] = "overlap"
                return NotImplemented
        return run(*args)

    return checked


def names(target: str = "cpu") -> list[str]:
    """The stages: the front end, and each pass."""
    return ["frontend", *(p.__name__ for p in pipeline.passes_for(target))]


def check(program: Program, stage: int, target: str = "cpu") -> Report:
    """A program's verdict, by the interpreter after a stage."""
    report = Report(program)
    oracle = Oracle(program.source)
    function = interpreted(function_of(program.source), stage, target, shuffle=lambda order: order.reverse())
    for k in range(len(program.calls)):
        report.call = k
        wanted = oracle.outcome(lambda: program.arguments(k))  # noqa: B023
        if wanted.fragile:
            report.verdict = "fragile"
            continue
        try:
            found = call(function, program.arguments(k), (CompileError, Invalid, AssertionError))
        except CompileError as error:
            report.verdict, report.message = "refused", str(error)
            return report
        except Invalid as error:
            report.verdict, report.message = "broken", f"invalid: {error}"
            return report
        except AssertionError as error:
            found = Outcome(None, error, [])
            if not isinstance(wanted.error, AssertionError):
                report.verdict, report.message = "broken", traceback.format_exc()
                return report
        if problem := difference(found, wanted):
            report.verdict, report.message = "wrong", problem
            return report
    report.verdict = report.verdict or "right"
    return report


def first_wrong(program: Program, target: str = "cpu") -> tuple[str, Report] | None:
    """The first stage after which the answer is wrong, and how; None where the interpreter is right to the end."""
    return next(_wrong(program, target), None)


def _wrong(program: Program, target: str) -> Iterator[tuple[str, Report]]:
    for stage, name in enumerate(names(target)):
        report = check(program, stage, target)
        if report.verdict in ("wrong", "broken"):
            yield name, report
