"""Which pass is at fault: the IR runs in NumPy after each pass, until the answer differs."""

from __future__ import annotations

import itertools
import linecache
import os
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from tests.fuzz.batch import Report
from tests.fuzz.oracle import Oracle, Outcome, call, difference
from tests.fuzz.programs import Program
from transkern.debug.staged import Staged, names
from transkern.errors import CompileError
from transkern.ir.oracle.numbers import Invalid
from transkern.runtime.caching import building

interpreted = Staged
"""A compiled function whose code is the interpreter on the program after so many passes."""

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
