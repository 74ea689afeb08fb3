"""What a caller sees of an error: the user's lines, and of transkern's own no more than the frame that was called.

With ``TRANSKERN_DEBUG=1`` in the environment, all of it.
"""

from __future__ import annotations

import functools
import linecache
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple, ParamSpec, TypeVar

from transkern.errors import InternalError, NeedsConstant, TranskernError
from transkern.ir.expr import Span
from transkern.options import Options
from transkern.runtime.calls.frames import behind_ours, is_ours

_P = ParamSpec("_P")
_R = TypeVar("_R")
_E = TypeVar("_E", bound=BaseException)

DEBUG = "TRANSKERN_DEBUG"


class Build(NamedTuple):
    """What is being made: code for arguments of such types."""

    types: Sequence[Any]
    target: str
    options: Options


def shown(error: _E) -> _E:
    """An error as it is raised to the caller, from where the caller called."""
    if os.environ.get(DEBUG) == "1":
        return error
    if isinstance(error, TranskernError):
        error.__cause__, error.__suppress_context__ = None, True
        return error.with_traceback(None)
    return error.with_traceback(behind_ours(error.__traceback__))


@contextmanager
def own_errors(function: Callable[..., Any], build: Build | None = None) -> Iterator[None]:
    """Inside, nothing of the user's runs: an exception that is not meant for the user is a bug of ours, and says so.
    With what was being built, it comes with a script that shows it."""
    try:
        yield
    except InternalError as error:
        if build is None or error.report:
            raise
        raise error.with_report(_report(function, build, error.cause)) from error.__cause__
    except (TranskernError, NeedsConstant, OSError, MemoryError):
        raise
    except Exception as error:
        raise internal_error(function, error, _report(function, build, InternalError.told(error))) from error


def _report(function: Callable[..., Any], build: Build | None, told: str) -> str:
    if build is None:
        return ""
    from transkern.debug.scripts import keep

    return str(keep(function, *build, told) or "")


def internal_error(function: Callable[..., Any], error: Exception | str, report: str = "") -> InternalError:
    """An error of ours at the first line of a function."""
    code = getattr(function, "__code__", None)
    name = getattr(function, "__name__", "?")
    error = AssertionError(error) if isinstance(error, str) else error
    if code is None:
        return InternalError.of(error, name, report=report)
    lines = [line.rstrip("\n") for line in linecache.getlines(code.co_filename)]
    line = code.co_firstlineno
    end = len(lines[line - 1]) if line <= len(lines) else 0
    return InternalError.of(error, name, Span(line, 0, line, end, code.co_filename), lines, report)


def callers_depth() -> int:
    """How many frames above its caller the user's stands, as `warnings.warn` counts them."""
    frame, depth = sys._getframe(1), 1
    while frame.f_back is not None and is_ours(frame):
        frame, depth = frame.f_back, depth + 1
    return depth


def public(function: Callable[_P, _R]) -> Callable[_P, _R]:
    """A function that users call, whose errors come without what is inside."""

    @functools.wraps(function)
    def call(*args: _P.args, **keywords: _P.kwargs) -> _R:
        try:
            return function(*args, **keywords)
        except TranskernError as error:
            raise shown(error)  # noqa: B904 - what caused it is for TRANSKERN_DEBUG

    return call
