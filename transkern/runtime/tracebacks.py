"""Where compiled code raises: a traceback with the user's lines, as Python's own call would have left it.

A kernel tells the number of the place at which it failed; only then are the frames made. Each is that of a function
which Python runs for its frame alone: it has the name, the file, the lines and the columns of the user's.
"""

from __future__ import annotations

import ast
import inspect
import sys
import types
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from transkern.ir.expr import Frame, Span
from transkern.parsing import all_nodes, parse
from transkern.runtime.calls.frames import behind_ours
from transkern.wrappers import written_function

_WRAPPERS = 16  # functions in each other, of which one is looked for
_MARK = "transkern"  # the constant in whose place the stub has what it raises


class _Here(Exception):
    """What a stub raises, so that there is a frame of it."""


@dataclass(frozen=True, slots=True)
class Places:
    """The places at which code may raise, by number: what `told` (in emitted C) and launchers say where they do.

    `names` are those of the arguments that the code takes, to show in the function's frame.
    """

    function: Callable[..., Any]
    spans: Sequence[Span]
    names: Sequence[str] = ()

    def __call__(self, error: BaseException, number: int, args: Sequence[Any] = ()) -> None:
        """Give an error the frames of its place, in front of those of a library that raised it."""
        if 0 <= number < len(self.spans):
            values = dict(zip(self.names, args, strict=False))
            behind = behind_ours(error.__traceback__)
            error.__traceback__ = traceback_of(self.spans[number], self.function, values, behind)


def telling(
    call: Callable[..., Any], place: Callable[[BaseException], Span], function: Callable[..., Any], names: Sequence[str]
) -> Callable[..., Any]:
    """`call` of `function`, whose arguments are `names`, with the frames of what `place` says in its errors: those that
    it raises, and those that it hands back with what goes into the arguments."""

    def framed(error: Exception, args: Sequence[Any]) -> Exception:
        values = dict(zip(names, args, strict=False))
        trace = traceback_of(place(error), function, values, behind_ours(error.__traceback__))
        return error.with_traceback(trace)

    def told(*args: Any) -> Any:
        try:
            result = call(*args)
        except Exception as error:
            raise framed(error, args)  # noqa: B904 - it is the same
        if isinstance(result, tuple) and result and isinstance(result[0], Exception):
            framed(result[0], args)
        return result

    return told


def traceback_of(
    span: Span, function: Callable[..., Any], values: Mapping[str, Any], behind: types.TracebackType | None = None
) -> types.TracebackType | None:
    """The traceback of an error at `span` in `function`, whose arguments are `values`, with `behind` at its end."""
    place: Span | None = span
    while place is not None and place.frame is not None:
        outermost = place.frame.caller is None
        behind = _entry(place, place.frame, function, values if outermost else {}, behind)
        place = place.frame.caller
    return behind


def _entry(
    span: Span, frame: Frame, function: Callable[..., Any], values: Mapping[str, Any],
    behind: types.TracebackType | None,
) -> types.TracebackType | None:  # fmt: skip
    live = function if frame.caller is None else _found(frame.module, frame.path, frame.code)
    space: dict[str, Any] = {"__name__": frame.module or "?"}
    file = span.file
    if isinstance(live, types.FunctionType):
        down = live.__code__.co_firstlineno - frame.begins
        space = live.__globals__
        file = inspect.getsourcefile(live) or live.__code__.co_filename
        span = replace(span, line=span.line + down, end_line=span.end_line + down)
        frame = replace(frame, first=frame.first + down)
    made = _stub(span, frame, file, tuple(values))
    try:
        types.FunctionType(made, space)(*values.values())
    except _Here as here:
        assert here.__traceback__ is not None
        entry = here.__traceback__.tb_next
        assert entry is not None
        return types.TracebackType(behind, entry.tb_frame, entry.tb_lasti, entry.tb_lineno)
    return behind


def _stub(span: Span, frame: Frame, file: str, names: Sequence[str]) -> types.CodeType:
    """The code of a function that stands where `frame` says, and raises at `span`."""
    module = parse(f"def stub({', '.join(names)}): raise {_MARK!r}")
    made = module.body[0]
    assert isinstance(made, ast.FunctionDef)
    for node in all_nodes(made):
        if isinstance(node, (ast.stmt, ast.expr, ast.arg)):
            node.lineno, node.col_offset = span.line, span.column
            node.end_lineno, node.end_col_offset = span.end_line, span.end_column
    made.name, made.lineno = frame.function, frame.first
    made.end_lineno = max(frame.first, span.end_line)  # what is written out in a function may stand above it
    whole = compile(module, file, "exec", dont_inherit=True)
    code = next(c for c in whole.co_consts if isinstance(c, types.CodeType))
    path = frame.path if frame.path.rpartition(".")[2] == frame.function else frame.function
    constants = tuple(_Here if c == _MARK else c for c in code.co_consts)
    return code.replace(co_consts=constants, co_qualname=path)


def _found(module: str, path: str, code: str) -> Any:
    """The live function whose code is named `code`, which a path leads to in a module, or to what it is wrapped in; or
    None."""
    found: Any = sys.modules.get(module)
    for name in path.split("."):
        found = inspect.getattr_static(found, name, None)
        found = getattr(found, "__func__", getattr(found, "fget", found))
    left, seen = [found], 0
    while left and seen < _WRAPPERS:
        function, seen = written_function(left.pop(0)), seen + 1
        if isinstance(function, types.FunctionType):
            if function.__code__.co_qualname == code:
                return function
            left += [getattr(function, "__wrapped__", None), *_contents(function.__closure__ or ())]
    return None


def _contents(cells: Iterable[types.CellType]) -> Iterable[Any]:
    for cell in cells:
        with suppress(ValueError):  # it is bound later
            yield cell.cell_contents


def spans_as_json(spans: Iterable[Span]) -> list[Any]:
    """Places as the disk cache keeps them."""
    return [_as_json(span) for span in spans]


def _as_json(span: Span | None) -> Any:
    if span is None:
        return None
    place = [span.line, span.column, span.end_line, span.end_column, span.file]
    f = span.frame
    return [*place, f and [f.function, f.first, _as_json(f.caller), f.module, f.path, f.begins, f.code]]


def spans_from_json(entries: Iterable[Any]) -> tuple[Span, ...]:
    """The places that `spans_as_json` was given."""
    return tuple(_from_json(entry) for entry in entries)


def _from_json(entry: Any) -> Span:
    line, column, end_line, end_column, file, inside = entry
    frame = None
    if inside is not None:
        function, first, caller, *live = inside
        frame = Frame(function, first, None if caller is None else _from_json(caller), *live)
    return Span(line, column, end_line, end_column, file, frame=frame)
