"""How much one compilation may take: a function that calls itself with ever shorter arrays, or thirty that each call
the next one twice, would be translated for ever.

The bounds on steps do not depend on the machine, so that what compiles here compiles elsewhere; the one on time is for
what they do not see. It is the processor's time, so that what else the machine does has no part in it.
"""

from __future__ import annotations

import inspect
import os
import time
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

from transkern import collecting, refusals
from transkern.errors import CompileError
from transkern.ir.expr import NOWHERE, Span

STEPS = 50_000
"""Expressions and statements of the user's that are translated, each as often as it is."""
ALL_STEPS = 500_000
"""The same with those of the functions that NumPy's, and dicts and sets, are made of (`compositions`)."""
CALLS = 1_000
"""Calls of functions that are translated in place."""
SECONDS = 120.0
"""Of a processor, for translation and passes, without the C compiler."""
_VARIABLE = "TRANSKERN_COMPILE_LIMIT"  # a factor on all three
SHALLOWER = "give parts of the expression names of their own, or put parts of the block into functions"
"""The help where something is too deep."""
_EVERY = 64  # steps after which somebody looks at the clock

_HELP = f"compile a part of it, or write what repeats as a loop; {_VARIABLE}=10 allows ten times as much"


class Exhausted(CompileError):
    """A compilation that has taken what it may."""


def _factor() -> float:
    text = os.environ.get(_VARIABLE, "")
    try:
        return float(text) if text else 1.0
    except ValueError:
        raise CompileError(refusals.OPTIONS, f"{_VARIABLE} is {text!r}", "give a number") from None


@dataclass(slots=True)
class Budget:
    """What one compilation has taken."""

    factor: float = field(default_factory=_factor)
    seconds: float = field(default_factory=lambda: _SECONDS.get())
    started: float = 0.0  # with the first step: who waits for another process does not compile yet
    steps: int = 0
    own: int = 0  # of these, the user's
    calls: int = 0
    texts: dict[object, Any] = field(default_factory=dict)  # of the functions that it calls
    together: dict[object, bool] = field(default_factory=dict)  # loops over a few values: whether one body is for all
    settled: dict[object, Any] = field(default_factory=dict)  # what numbers become, by loop, name, beginning

    def step(self, count: int = 1, own: bool = True) -> str:
        """Takes steps, of the user's `own` text or not: what there are too many of, or nothing."""
        self.started = self.started or time.thread_time()
        before, self.steps = self.steps, self.steps + count
        self.own += count * own
        for taken, most in ((self.own, STEPS), (self.steps, ALL_STEPS)):
            if taken > most * self.factor:
                return f"more than {most * self.factor:.0f} steps of translation"
        return self.late() if before // _EVERY != self.steps // _EVERY else ""

    def begin_again(self) -> None:
        """Takes all steps and calls back, of a translation that is given up for another one: the time runs on."""
        self.steps = self.own = self.calls = 0

    def call(self) -> str:
        """Takes a call that is translated in place."""
        self.calls += 1
        many = self.calls > CALLS * self.factor
        return f"more than {CALLS * self.factor:.0f} calls that are translated in place" if many else ""

    def late(self) -> str:
        """Whether the time has passed."""
        late = bool(self.started) and time.thread_time() - self.started > self.seconds * self.factor
        return f"more than {self.seconds * self.factor:g} seconds" if late else ""


_SECONDS: ContextVar[float] = ContextVar("transkern_seconds", default=SECONDS)
_RUNNING: ContextVar[Budget | None] = ContextVar("transkern_budget", default=None)


def budget() -> Budget:
    """That of the compilation that is running, or one of its own."""
    return _RUNNING.get() or Budget()


def check_time() -> None:
    """Raises Exhausted where the compilation that is running has taken too long."""
    running = _RUNNING.get()
    if running is not None and (why := running.late()):
        raise Exhausted(refusals.TOO_LARGE_TO_COMPILE, f"compiling it takes {why}", _HELP)


@contextmanager
def within(seconds: float) -> Iterator[None]:
    """Compilations that begin inside may take so long, and no longer."""
    token = _SECONDS.set(seconds)
    try:
        yield
    finally:
        _SECONDS.reset(token)


@contextmanager
def compilation(name: str, span: Span, lines: Sequence[str] = ()) -> Iterator[None]:
    """One compilation, of the function `name` at `span`: what is too deep or too large for it is refused."""
    token = _RUNNING.set(Budget())
    try:
        with collecting.paused():
            yield
    except RecursionError:
        raise CompileError(
            refusals.TOO_LARGE_TO_COMPILE,
            f"`{name}` is nested too deeply to be compiled: expressions, blocks and calls in each other", SHALLOWER,
            span, lines,
        ) from None  # fmt: skip
    except Exhausted as error:
        if error.span.line:
            raise
        raise Exhausted(error.kind, f"`{name}`: {error.problem}", error.help, span, lines) from None
    finally:
        _RUNNING.reset(token)


def compilation_of(function: Any) -> AbstractContextManager[None]:
    """One compilation of a live function."""
    code = getattr(inspect.unwrap(function), "__code__", None)
    span = NOWHERE if code is None else Span(code.co_firstlineno, 0, code.co_firstlineno, 0, code.co_filename)
    return compilation(getattr(function, "__name__", "?"), span)


def exhausted(problem: str, span: Span, lines: Sequence[str]) -> Exhausted:
    """The error for what `Budget` tells."""
    return Exhausted(refusals.TOO_LARGE_TO_COMPILE, problem, _HELP, span, lines)
