"""One specialisation: translation, passes, text, toolchain, and the disk cache in front of them."""

from __future__ import annotations

import ast
import os
import types
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from transkern.errors import CompileError, NeedsConstant
from transkern.frontend.observed import Looks, observing
from transkern.options import DEFAULT, Options
from transkern.runtime import cache
from transkern.runtime.compiled import Specialisation
from transkern.targets.cpu import build as cc


def build(
    function: Callable[..., Any], arg_types: tuple[Any, ...], target: str, options: Options = DEFAULT
) -> Specialisation:
    """`function` for arguments of `arg_types` on `target`."""
    with observing() as looks:
        made = _build(function, arg_types, target, options, looks)
    made.watched = made.watched or cache.watched(looks.values())
    return made


def _build(
    function: Callable[..., Any], arg_types: tuple[Any, ...], target: str, options: Options, looks: Looks
) -> Specialisation:
    if target == "cpu":
        return _build_cpu(function, arg_types, options, looks)
    program = program_for(function, arg_types, target, options)
    if target == "cuda":
        from transkern.targets.cuda.load import load

        call = load(program, simulate=os.environ.get("TRANSKERN_CUDA_SIM") == "1")
    else:
        from transkern.targets.pallas.load import load as load_pallas

        call = load_pallas(program, narrow=options.allow_float32)
    return _specialisation(program, arg_types, target, call)


def with_captured(call: Callable[..., Any], captured: Sequence[Any]) -> Callable[..., Any]:
    """`call` with the arrays that the function found outside behind its own arguments."""
    if not captured:
        return call
    return lambda *args: call(*args, *captured)


def program_for(
    function: Callable[..., Any], arg_types: tuple[Any, ...], target: str, options: Options = DEFAULT
) -> Any:
    """The program after the target's passes."""
    from transkern import pipeline
    from transkern.frontend.source import live_function
    from transkern.frontend.specialise import specialise

    made = pipeline.with_options(specialise(live_function(function), arg_types, target == "cpu"), options)
    return pipeline.run(made, pipeline.passes_for(target))


def _specialisation(program: Any, arg_types: tuple[Any, ...], target: str, call: Callable[..., Any]) -> Specialisation:
    from transkern.fuse.kernels import count_kernels, temporaries
    from transkern.ir.nodes import ArrayParam, ObjectParam

    written = tuple(p.name for p in program.params if isinstance(p, ArrayParam) and p.written)
    return Specialisation(
        arg_types,
        target,
        with_captured(call, program.captured),
        getattr(call, "why", None),
        count_kernels(program),
        tuple(temporaries(program)),
        False,
        written,
        tuple(p.name.removesuffix("_itself") for p in program.params if isinstance(p, ObjectParam)),
        program.changes,
    )


def _build_cpu(
    function: Callable[..., Any], arg_types: tuple[Any, ...], options: Options, looks: Looks
) -> Specialisation:
    key = ""
    if isinstance(function, types.FunctionType):
        described = "|".join(map(cache.type_fingerprint, arg_types))
        key = cache.digest(
            cache.function_fingerprint(function), described, f"cpu {options}", cc.toolchain(),
            cache.compiler_version(),
        )
        stored = cache.read(key, function)
        if stored is not None:
            entry, before = stored
            if "demand" in entry:
                raise NeedsConstant(entry["demand"], CompileError(entry["problem"]))
            path = cache.directory() / str(entry.get("file"))
            try:
                module = cc.load(path, entry["name"]) if cache.is_whole(path, entry) else None
            except (OSError, ImportError):
                module = None
            if module is not None:  # a damaged entry is made anew
                call = with_captured(getattr(module, entry["name"]), cache.unpacked(entry["captured"]))
                return Specialisation(
                    arg_types, "cpu", call, module.why, entry["kernels"],
                    tuple(entry["temporaries"]), True, (), tuple(entry["objects"]),
                    tuple((path, kind, ast.literal_eval(of)) for path, kind, of in entry["changes"]),
                    cache.watched(before),
                )  # fmt: skip
    from transkern.targets.cpu.module import emit

    try:
        program = program_for(function, arg_types, "cpu", options)
    except NeedsConstant as need:
        if key:
            found = cache.looked_at(looks.values())
            cache.write(key, {"demand": need.demand, "problem": str(need.problem), "looked_at": found})
        raise
    text = emit(program)
    folder = cache.usable() if key else None
    if folder is not None:
        found = cache.looked_at(looks.values())
        path = folder / f"{key}-{cache.digest(repr(found))}.so"  # Python loads a module of one path only once
    else:
        import tempfile

        path = Path(tempfile.mkdtemp(prefix="transkern-")) / f"{program.name}.so"
    cc.compile_text(text, program.name, path, *cc.FASTMATH[: options.fastmath])
    module = cc.load(path, program.name)
    made = _specialisation(program, arg_types, "cpu", getattr(module, program.name))
    made.why = module.why
    if folder is not None:
        cache.write(
            key,
            {
                "name": program.name,
                "file": path.name,
                "looked_at": found,
                "hash": cache.file_hash(path),
                "kernels": made.kernels,
                "temporaries": list(made.temporaries),
                "objects": list(made.objects),
                "captured": cache.packed(program.captured),
                "changes": [(path, kind, repr(of)) for path, kind, of in made.changes],
            },
        )
    return made


def texts(
    function: Callable[..., Any], arg_types: tuple[Any, ...], target: str, options: Options = DEFAULT
) -> dict[str, str]:
    """The files of a specialisation: names and texts."""
    return program_texts(program_for(function, arg_types, target, options), target, options.allow_float32)


def program_texts(program: Any, target: str, allow_float32: bool = False) -> dict[str, str]:
    """The files that a program prints as on a target."""
    match target:
        case "cpu":
            from transkern.targets.cpu.launcher import launcher
            from transkern.targets.cpu.module import emit

            return {f"{program.name}.c": emit(program), f"{program.name}.py": launcher(program)}
        case "cuda":
            from transkern.targets.cuda.emit import emit as emit_cuda

            kernels, launch = emit_cuda(program)
            return {f"{program.name}.cu": kernels, f"{program.name}.py": launch}
        case _:
            from transkern.targets.pallas.emit import emit as emit_pallas

            return {f"{program.name}.py": emit_pallas(program, narrow=allow_float32)}


def explain(function: Callable[..., Any], arg_types: tuple[Any, ...]) -> str:
    from transkern.frontend.source import live_function
    from transkern.frontend.specialise import specialise

    return explained(specialise(live_function(function), arg_types))


def explained(made: Any) -> str:
    """What becomes of a program of array statements on the CPU, and what is known of its loops."""
    from transkern import pipeline
    from transkern.analysis.explain import explain as explain_program
    from transkern.analysis.loops import reports

    before = pipeline.run(made, pipeline.BEFORE_LOOPS)
    return explain_program(pipeline.run(before, pipeline.PASSES[len(pipeline.BEFORE_LOOPS) :]), reports(before))
