"""One specialisation: translation, passes, text, toolchain. They come out of a disk cache (`cached.py`)."""

from __future__ import annotations

import dataclasses
import types
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from transkern import limits
from transkern.errors import NeedsConstant
from transkern.frontend.sources.observed import Looks, observing
from transkern.options import DEFAULT, Options
from transkern.runtime.caching import making, surveys
from transkern.runtime.calls.outside import with_names
from transkern.runtime.specialisation import Specialisation
from transkern.targets import table

if TYPE_CHECKING:
    from transkern.frontend.values.values import Function

_Made = TypeVar("_Made")


def build(
    function: Callable[..., Any], arg_types: tuple[Any, ...], target: str, options: Options = DEFAULT
) -> Specialisation:
    """`function` for arguments of `arg_types` on `target`."""
    with limits.compilation_of(function), observing() as looks:
        made = _build(function, arg_types, target, options, looks)
    if made.conditions is None and isinstance(function, types.FunctionType):
        made.conditions = surveys.of_translation(function, arg_types, looks).conditions
    return made


def _build(
    function: Callable[..., Any], arg_types: tuple[Any, ...], target: str, options: Options, looks: Looks
) -> Specialisation:
    from transkern.runtime.caching import cached

    if target == "pallas":
        from transkern.targets.pallas.module.needs import need

        need("astor", "jax")
    return cached.build(function, arg_types, target, options, looks)


def texts(
    function: Callable[..., Any], arg_types: tuple[Any, ...], target: str, options: Options = DEFAULT
) -> dict[str, str]:
    """The files of a specialisation: names and texts."""
    from transkern.frontend.sources.source import live_function

    with limits.compilation_of(function), observing():
        program = with_names(
            function, arg_types, lambda types: making.program_for(function, types, target, options, lends=False)
        )
        return program_texts(program, target, options.allow_float32, live_function(function))


def _told(
    function: Callable[..., Any], arg_types: tuple[Any, ...], made: Callable[[tuple[Any, ...]], _Made]
) -> _Made:
    """What is `made` for types that nobody calls with: what else it would ask of a call is in its way."""
    try:
        return with_names(function, arg_types, made)
    except NeedsConstant as need:
        raise need.problem from None


def program_texts(
    program: Any, target: str, allow_float32: bool = False, function: Function | None = None
) -> dict[str, str]:
    """The files that a program prints as on a target; with the parameters of the user's `function`."""
    if function is not None:
        from transkern.targets.signature import signature_text

        program = dataclasses.replace(program, signature=signature_text(function))
    return table.target(target).code.files(program, allow_float32)


def explain(function: Callable[..., Any], arg_types: tuple[Any, ...], target: str = "cpu") -> str:
    from transkern import pipeline
    from transkern.frontend.sources.source import live_function

    with limits.compilation_of(function), observing():
        live = live_function(function)
        made = _told(function, arg_types, lambda types: pipeline.translated(live, types, target, lends=True))
        return explained(made, target)


def advise(function: Callable[..., Any], arg_types: tuple[Any, ...], target: str) -> tuple[tuple[Any, ...], bool]:
    """What is to be said of a function that disappoints (`analysis.reports.advice`)."""
    from transkern.analysis.reports import advice
    from transkern.frontend.sources.source import live_function

    with limits.compilation_of(function), observing():
        live = live_function(function)
        return _told(function, arg_types, lambda types: advice.advise(live, types, target))


def explained(made: Any, target: str = "cpu") -> str:
    """What becomes of a program of array statements on a target, and what is known of its loops."""
    from transkern import pipeline
    from transkern.analysis.loops import reports
    from transkern.analysis.reports.decided import Watch
    from transkern.analysis.reports.explain import explain as explain_program
    from transkern.fuse.passes import BEFORE_LOOPS

    before, passes = pipeline.run(made, BEFORE_LOOPS), pipeline.passes_for(target)
    watch = Watch(made, passes)
    return explain_program(pipeline.run(made, passes, watch.after), reports(before), watch.decided())
