"""Which functions of a file would compile, for which types, and what is in the way of the others."""

from __future__ import annotations

import ast
import dataclasses
import time
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from transkern import limits, pipeline
from transkern.analysis.reports.advice import advise
from transkern.checking.likely import likely_types, with_constant
from transkern.checking.notebooks import read_notebook
from transkern.checking.uses import Finder
from transkern.errors import CompileError, InternalError, NeedsConstant, Placed, TypesNeeded
from transkern.frontend.refused import all_refusals
from transkern.frontend.sources.annotations import with_defaults
from transkern.frontend.sources.bindings import Imported
from transkern.frontend.sources.decorators import check_entry
from transkern.frontend.sources.source import span_of
from transkern.frontend.sources.texts import TextScope, read_module
from transkern.frontend.specialise import specialise
from transkern.frontend.syntax.syntax import parameter_names
from transkern.frontend.values.types import ArgType
from transkern.frontend.values.values import Function
from transkern.ir.expr import NOWHERE
from transkern.partial.making import written_at
from transkern.partial.splitting import split
from transkern.runtime.emitting import is_decorated, stated_types

SECONDS = 3.0
"""What one function may take, for all types that are tried."""

_CONSTANTS = 8
"""Things that are made constants because the translation asks for them, at most."""

Origin = Literal["stated", "recorded", "likely"]


@dataclass(frozen=True, slots=True)
class Checked:
    """What would become of one function.

    `types`: of its arguments, by name, and where they are from; `refusals`: what is in the way, in the order of the
    text; `unknown`: why nobody can tell; `parts`: how many parts of a refused one would compile; `advice`: what of it
    could be faster, where that is asked for.
    """

    name: str
    line: int
    types: Mapping[str, str] = field(default_factory=dict)
    origin: Origin = "stated"
    refusals: tuple[Placed, ...] = ()
    unknown: str = ""
    parts: int = 0
    advice: tuple[Placed, ...] = ()

    @property
    def outcome(self) -> Literal["compiles", "refused", "unknown"]:
        return "refused" if self.refusals else "unknown" if self.unknown else "compiles"


Known = Mapping[str, tuple[tuple[ArgType, ...], Origin]]
"""The types of the arguments of functions, by name, and where they are from."""


def check_file(
    path: Path, within: Path | None = None, known: Known | None = None, decorated: bool = False, advised: bool = False
) -> Iterator[Checked]:
    """What would become of each function of a file, one after the other; the file is read, and not run.

    Args:
        path: a Python file, or a notebook.
        within: the folder that it was found in, where nobody has named the file itself.
        known: types of functions; those of others are what annotations say, or what is likely.
        decorated: only of those that are decorated with transkern's own decorators.
        advised: whether what could be faster is said as well.

    Raises:
        CompileError: the file is not Python, or not to be read.
    """
    if path.suffix == ".ipynb":
        notebook = read_notebook(path, within)
        scope = TextScope(notebook.text, str(path), trusting=True)
    else:
        notebook, scope = None, read_module(path, within, trusting=True)
    for name in scope.functions():
        if decorated and not is_decorated(scope.function(name)):
            continue
        one = _checked(scope, scope.function(name), (known or {}).get(name), advised)
        if notebook is not None:
            placed, advice = (tuple(map(notebook.placed, errors)) for errors in (one.refusals, one.advice))
            one = dataclasses.replace(one, line=notebook.line(one.line), refusals=placed, advice=advice)
        yield one


def _checked(
    scope: TextScope, function: Function, known: tuple[tuple[ArgType, ...], Origin] | None, advised: bool
) -> Checked:
    node, names = function.node, parameter_names(function.node)
    assert isinstance(node, ast.FunctionDef)
    if not names:  # a script's `main`: nothing that would be compiled by itself
        return Checked(function.name, node.lineno, unknown="it takes no arguments")
    origin: Origin = "stated"
    try:
        found, origin = known or (stated_types(function), "stated")
        found = with_defaults(function, found) if found is not None else None
        if found is not None and len(found) != len(names):
            unknown = f"it has {len(names)} parameters, and the types of {len(found)} are {origin}"
            return Checked(function.name, node.lineno, unknown=unknown)
        choices = [] if found is None else [found]
        if found is None:
            guess, origin = likely_types(node, finder(scope)), "likely"
            if guess.missing:
                return Checked(function.name, node.lineno, unknown=f"types are not known: {guess.missing}")
            choices = [guess.types, *guess.others]
    except (TypesNeeded, CompileError) as error:
        if isinstance(error, CompileError):
            return Checked(function.name, node.lineno, refusals=(error,))
        return Checked(function.name, node.lineno, unknown=str(error))
    until = time.thread_time() + SECONDS
    first: tuple[Placed, ...] = ()
    shown = dict(zip(names, map(str, choices[0]), strict=True))
    for types in choices:
        refusals = _refusals(scope, function, types, names, until, bool(first))
        if not refusals:
            advice = _advice(function, types, names, until) if advised else ()
            taken = dict(zip(names, map(str, types), strict=True))
            return Checked(function.name, node.lineno, taken, origin, advice=advice)
        first = first or refusals
        if isinstance(first[0], limits.Exhausted):
            break
    own = tuple(e for e in first if origin == "stated" or not (isinstance(e, CompileError) and e.as_text))
    if not own:
        unknown = f"{first[0].problem} (the file is read, and not run)"
        return Checked(function.name, node.lineno, shown, origin, unknown=unknown)
    if isinstance(own[0], limits.Exhausted) and time.thread_time() >= until:
        unknown = f"checking it takes more than {SECONDS:g} seconds"
        return Checked(function.name, node.lineno, shown, origin, unknown=unknown)
    return Checked(function.name, node.lineno, shown, origin, own, parts=_parts(node, own))


def _parts(node: ast.FunctionDef, refusals: Iterable[Placed]) -> int:
    """How many parts of a function would be compiled, with ``fallback="numpy"`` or under ``transkern run``."""
    owns = [e.own[0] if isinstance(e, CompileError) and e.own else None for e in refusals]
    found = [None if own is None else written_at(node, own) for own in owns]
    if None in found:
        return 0
    made = split(node, {s for s in found if s is not None}, [])
    return 0 if made is None else len(made.parts)


def _advice(function: Function, types: tuple[ArgType, ...], names: list[str], until: float) -> tuple[Placed, ...]:
    """What of a function that compiles could be faster."""
    for _ in range(_CONSTANTS):
        try:
            with limits.within(max(until - time.thread_time(), 0)), limits.compilation(function.name, NOWHERE):
                return advise(function, types)[0]
        except NeedsConstant as need:
            more = with_constant(types, names, need.demand)
            if more is None:
                break
            types = more
        except Exception:  # it has been compiled: what is said of it is no reason to stop
            break
    return ()


def _refusals(
    scope: TextScope, function: Function, types: tuple[ArgType, ...], names: list[str], until: float, again: bool
) -> tuple[Placed, ...]:
    """What is in the way of a function for arguments of these types; only the first of it, where it is tried `again`
    with others."""
    at = span_of(function.node, scope.file)
    try:
        with limits.within(max(until - time.thread_time(), 0)), limits.compilation(function.name, at, scope.lines):
            check_entry(function, scope)
            _compile(function, types, names)
    except NeedsConstant as need:
        return (need.problem,)
    except CompileError as error:
        if again:
            return (error,)
        return tuple(all_refusals(lambda left_out: _compile(function, types, names, left_out), error))
    except InternalError as error:
        return (error,)
    except Exception as error:  # ours: the other functions are still to be checked
        return (InternalError.of(error, function.name, at, scope.lines),)
    return ()


def _compile(
    function: Function, types: tuple[ArgType, ...], names: list[str], left_out: Collection[ast.stmt] = ()
) -> None:
    """Translates a function, with constants for what the translation asks for: a call would tell them."""
    for _ in range(_CONSTANTS):
        try:
            pipeline.run(specialise(function, types, left_out=left_out))
            return
        except NeedsConstant as need:
            more = with_constant(types, names, need.demand)
            if more is None:
                raise
            types = more
    pipeline.run(specialise(function, types, left_out=left_out))


def finder(scope: TextScope) -> Finder:
    """Finds what names mean in a module: its functions, the expressions of its constants, and what it imports."""

    def find(called: ast.expr) -> ast.FunctionDef | ast.expr | str | None:
        if not isinstance(called, ast.Name):
            return None
        binding = scope.bound.names.get(called.id)
        meaning = None if binding is None else binding.meaning
        return meaning.path if isinstance(meaning, Imported) else meaning

    return find
