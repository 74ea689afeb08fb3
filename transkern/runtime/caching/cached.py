"""Specialisations out of the disk cache, or compiled once for all processes that want them.

An entry has what all targets need to make one (`_entry`). To that come, on the CPU, the shared object and the places
at which it may raise; on the others the texts that are loaded (`Printed`, of `targets/cuda/load.py` and
`targets/pallas/module/load.py`): later processes translate nothing, and the kernels in them are CuPy's and JAX's to
keep.
"""

from __future__ import annotations

import ast
import linecache
import sys
import threading
import types
from collections.abc import Callable, Sequence
from contextlib import suppress
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from transkern import refusals
from transkern.errors import CompileError, NeedsConstant, TargetUnavailable
from transkern.frontend.sources.observed import Looks
from transkern.ir.storage import UNLESS_SMALL
from transkern.options import Options
from transkern.runtime import floating, tracebacks
from transkern.runtime.caching import cache, few, fingerprints, making, packing, surveys
from transkern.runtime.specialisation import Specialisation
from transkern.targets.cpu import build as cc
from transkern.targets.cpu import compiler

if TYPE_CHECKING:
    from transkern.runtime.profiling import Profile


def build(
    function: Callable[..., Any], arg_types: tuple[Any, ...], target: str, options: Options, looks: Looks
) -> Specialisation:
    """`function` for arguments of `arg_types`; `looks` fills with what its translation looks at."""
    make = _compile if target == "cpu" else _print
    if not isinstance(function, types.FunctionType):
        return make(function, arg_types, target, options, looks, "")
    key = _key(function, arg_types, target, options)
    found = _from_disk(key, function, arg_types, target)
    if found is None:
        with cache.turn(key):
            found = _from_disk(key, function, arg_types, target)
            if found is None:
                found = make(function, arg_types, target, options, looks, key)
                _remember(function, arg_types)
    return found


def is_kept(function: Callable[..., Any], arg_types: tuple[Any, ...], target: str, options: Options) -> bool:
    """Whether the disk cache has code for these types, or what to ask for first."""
    if not isinstance(function, types.FunctionType):
        return False
    key = _key(function, arg_types, target, options)
    stored = cache.read(key, lambda entry: surveys.found_again(function, arg_types, entry))
    if stored is None or "name" in stored.entry or "demand" in stored.entry:
        return stored is not None
    try:
        few.ask(stored.entry.get("few", ()), arg_types)
    except NeedsConstant:
        return True
    return False


def _remember(function: Callable[..., Any], arg_types: tuple[Any, ...]) -> None:
    """For which types a function has been compiled, for `transkern.warm` in later runs."""
    from transkern.runtime.caching import ahead  # here, as others are below: code from the disk cache needs none of it

    if isinstance(function, types.FunctionType):
        ahead.remember(function, arg_types)


def _key(function: types.FunctionType, arg_types: tuple[Any, ...], target: str, options: Options) -> str:
    described = fingerprints.digest(*map(fingerprints.of_type, arg_types))
    return fingerprints.digest(
        fingerprints.of_code(function.__code__), described, f"{target} {options}",
        *(_toolchain() if target == "cpu" else ()), cache.compiler_version(), np.__version__,
        *([_text_around(function)] if options.profile else ()),
        str(sys.getrecursionlimit()),  # at which functions that call themselves raise
    )  # fmt: skip


def _text_around(function: types.FunctionType) -> str:
    """The text of a function's file, whose lines a profile names: other code is for wherever the function stands."""
    return "".join(linecache.getlines(function.__code__.co_filename, function.__globals__))


def _toolchain() -> tuple[str, str, str]:
    """What machine code is from and for; texts are for all machines."""
    try:
        toolchain = compiler.identity()
    except TargetUnavailable:  # what it has compiled serves on
        toolchain = cache.recalled_toolchain(compiler.chosen())
    return toolchain, " ".join(compiler.flags()), compiler.machine()


def _from_disk(
    key: str, function: types.FunctionType, arg_types: tuple[Any, ...], target: str
) -> Specialisation | None:
    stored = cache.read(key, lambda entry: surveys.found_again(function, arg_types, entry))
    if stored is None:
        return None
    entry = stored.entry
    few.ask(entry.get("few", ()), arg_types)
    if "demand" in entry:
        raise NeedsConstant(entry["demand"], _refusal(*entry["problem"]), more=entry["more"])
    if "name" not in entry:  # what it asked for is small in other calls
        return None
    if target == "cpu":
        try:
            module = cc.load(stored.built, entry["module"], None if entry["timers"] else stored.path)
        except ImportError:  # what it needs of the machine has gone: another compilation may do without
            return None
        _connect(module, tracebacks.Places(function, tracebacks.spans_from_json(entry["places"]), entry["arguments"]))
        call, why = getattr(module, entry["name"]), module.why
        unless_small = getattr(module, UNLESS_SMALL, None)
        profile = _profile(module, function, arg_types, entry["timers"])
    else:
        from transkern.runtime.caching import printed

        profile, unless_small = None, None
        call, why = printed.loaded(printed.from_json(entry["printed"], target), target, function, entry["arguments"])
    captured = packing.unpacked(entry["captured"], stored.survey)
    return Specialisation(
        arg_types, target, making.with_captured(call, captured, target), why,
        entry["kernels"], tuple(entry["temporaries"]), True, tuple(entry["written"]), tuple(entry["objects"]),
        tuple((path, kind, ast.literal_eval(of)) for path, kind, of in entry["changes"]),
        stored.survey.conditions, profile=profile,
        few=tuple(map(tuple, entry.get("few", ()))),
        unless_small=None if unless_small is None else making.with_captured(unless_small, captured, target),
    )  # fmt: skip


def _profile(
    module: ModuleType, function: Callable[..., Any], arg_types: tuple[Any, ...], timers: Sequence[Any]
) -> Callable[[], Profile] | None:
    """What tells the times that a module has measured. (One from memory: that of a file is there once, with its timers,
    for all that load it.)"""
    if not timers:
        return None

    def told() -> Profile:
        from transkern.runtime.profiling import measured

        return measured(function, ", ".join(map(str, arg_types)), timers, module.times())

    return told


def _kept(error: CompileError) -> list[Any]:
    """An error as the disk cache keeps it, for `_refusal`: of the lines, the one that it shows."""
    shown = error.lines[error.span.line - 1] if 0 < error.span.line <= len(error.lines) else ""
    return [error.kind.code, error.problem, error.help, *tracebacks.spans_as_json([error.span]), shown]


def _refusal(code: str, problem: str, help: str, place: Any, shown: str) -> CompileError:
    (span,) = tracebacks.spans_from_json([place])
    return CompileError(refusals.KINDS[code], problem, help, span, [*[""] * (span.line - 1), shown])


def _compile(
    function: Callable[..., Any], arg_types: tuple[Any, ...], target: str, options: Options, looks: Looks, key: str
) -> Specialisation:
    """Machine code for a function, kept where it has a key and others can tell what it depends on."""
    from transkern.targets.cpu.printing.module import emit_with_timers, file_name

    begun = _Common(options)
    program = _translated(function, arg_types, target, options, looks, key)
    (text, places, timers), name = emit_with_timers(program), file_name(program)
    folder = cache.usable()
    refused = None if folder is None else folder / "refused"
    flags = (*compiler.FASTMATH[: options.fastmath], *compiler.TRAPPING[: program.warns])
    beside = begun.object_of(text.common)
    linked = None if beside is None else (text.own, beside)
    built = cc.compile_text(text.whole, name, flags, cache.scratch(), refused, linked)
    path = None
    survey, looked_at = _surveyed(function, arg_types, looks, key)
    if survey is not None and looked_at is not None:
        own = {
            "module": name, "places": tracebacks.spans_as_json(places), "timers": timers,
            "machine": compiler.machine(),
        }  # fmt: skip
        path = cache.write(key, _entry(program, target, survey, looked_at) | own, built)
        cache.remember_toolchain(compiler.chosen(), compiler.identity())
    module = cc.load(built, name, None if timers else path)
    made = making.specialisation(program, arg_types, target, getattr(module, program.name))
    made.why = module.why
    if (unless_small := getattr(module, UNLESS_SMALL, None)) is not None:
        made.unless_small = making.with_captured(unless_small, program.captured, target)
    made.profile = _profile(module, function, arg_types, timers)
    made.conditions = None if survey is None else survey.conditions
    _connect(module, tracebacks.Places(function, places, _arguments(program)))
    return made


def _print(
    function: Callable[..., Any], arg_types: tuple[Any, ...], target: str, options: Options, looks: Looks, key: str
) -> Specialisation:
    """The texts of a function for a device, kept in the same way, and loaded."""
    from transkern.runtime.caching import printed

    program = _translated(function, arg_types, target, options, looks, key)
    texts = printed.texts_of(program, target, options)
    survey, looked_at = _surveyed(function, arg_types, looks, key)
    if survey is not None and looked_at is not None:
        with suppress(printed.NotPlain):  # a result has something of the user's in it that only its own process has
            cache.write(key, _entry(program, target, survey, looked_at) | {"printed": printed.as_json(texts)})
    call, why = printed.loaded(texts, target, function, _arguments(program))
    made = making.specialisation(program, arg_types, target, call)
    made.why = why
    made.conditions = None if survey is None else survey.conditions
    return made


def _translated(
    function: Callable[..., Any], arg_types: tuple[Any, ...], target: str, options: Options, looks: Looks, key: str
) -> Any:
    """The program; that a constant is asked for is kept as well."""
    try:
        return making.program_for(function, arg_types, target, options)
    except NeedsConstant as need:
        _, looked_at = _surveyed(function, arg_types, looks, key)
        if looked_at is not None:
            asked: dict[str, Any] = {"few": list(need.few)}
            if not need.few:
                asked |= {"demand": need.demand, "more": list(need.more), "problem": _kept(need.problem)}
            cache.write(key, asked | {"target": target, "looked_at": looked_at})
            _remember(function, arg_types)
        raise


class _Common:
    """What modules have in common, compiled where that has not been done yet, while the program is translated."""

    def __init__(self, options: Options) -> None:
        from transkern.targets.cpu import common  # here: code from the disk cache needs no printer

        self.flags = common.FLAGS
        self.text = common.text(options.threads, options.warnings is not None)
        self.found: bytes | None = None
        self.thread: threading.Thread | None = None
        try:
            self.key = fingerprints.digest(
                self.text, compiler.identity(), " ".join(compiler.flags()), compiler.machine()
            )
        except TargetUnavailable:  # who compiles says so
            return
        self.found = cache.common(self.key)
        if self.found is None:
            self.thread = threading.Thread(target=self.make)
            self.thread.start()

    def make(self) -> None:
        with cache.turn(self.key, "common"):
            self.found = cache.common(self.key)
            if self.found is None:
                self.found = cc.compile_object(self.text, self.flags, cache.scratch())
                if self.found is not None:
                    cache.keep_common(self.key, self.found)

    def object_of(self, text: str) -> bytes | None:
        """The object file for modules with the common `text`, where there is one."""
        if self.thread is not None:
            self.thread.join()
        return self.found if text == self.text else None


def _connect(module: ModuleType, places: tracebacks.Places) -> None:
    """What a loaded module tells, and to whom."""
    module.__dict__["told"] = places
    floating.listen(module)


def _arguments(program: Any) -> list[str]:
    return [p.name for p in program.params]


def _surveyed(
    function: Callable[..., Any], arg_types: tuple[Any, ...], looks: Looks, key: str
) -> tuple[surveys.Survey | None, dict[str, Any] | None]:
    """What a translation depends on, and the same for the disk cache."""
    if not key or not isinstance(function, types.FunctionType):
        return None, None
    survey = surveys.of_translation(function, arg_types, looks)
    return survey, surveys.as_json(survey, looks)


def _entry(program: Any, target: str, survey: surveys.Survey, looked_at: dict[str, Any]) -> dict[str, Any]:
    """What `_from_disk` needs of a program, whatever its target."""
    made = making.specialisation(program, (), target, getattr)
    return {
        "target": target,
        "name": program.name,
        "looked_at": looked_at,
        "few": list(program.few),
        "kernels": made.kernels,
        "temporaries": list(made.temporaries),
        "written": list(made.written),
        "objects": list(made.objects),
        "arguments": _arguments(program),
        "captured": packing.packed(program.captured, survey),
        "changes": [(path, kind, repr(of)) for path, kind, of in made.changes],
    }
