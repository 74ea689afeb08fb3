"""One specialisation: translation, passes, text, toolchain. They come out of a disk cache (`cached.py`)."""

from __future__ import annotations

import dataclasses
import types
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from transkern import limits
from transkern.frontend.observed import Looks, observing
from transkern.options import DEFAULT, Options
from transkern.runtime import surveys
from transkern.runtime.specialisation import Specialisation

if TYPE_CHECKING:
    from transkern.frontend.values import Function


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
    from transkern.runtime import cached

    if target == "pallas":
        from transkern.targets.pallas.needs import need

        need("astor", "jax")
    return cached.build(function, arg_types, target, options, looks)


def with_captured(call: Callable[..., Any], captured: Sequence[Any], target: str = "cpu") -> Callable[..., Any]:
    """`call` with the arrays that the function found outside behind its own arguments, as they are then."""
    if not captured:
        return call
    if target == "cpu" or all(a.flags.aligned for a in captured):
        return lambda *args: call(*args, *captured)
    return lambda *args: call(*args, *(a if a.flags.aligned else a.copy() for a in captured))


def program_for(
    function: Callable[..., Any], arg_types: tuple[Any, ...], target: str, options: Options = DEFAULT
) -> Any:
    """The program after the target's passes."""
    from transkern import pipeline
    from transkern.frontend.source import live_function
    from transkern.frontend.specialise import specialise

    made = pipeline.with_options(specialise(live_function(function), arg_types, target == "cpu"), options)
    return pipeline.run(made if target == "cpu" else _aligned(made), pipeline.passes_for(target))


def _aligned(program: Any) -> Any:
    """A program whose arrays are copied to a device, where their elements stand at multiples of their size."""
    params = tuple(dataclasses.replace(p, aligned=True) if hasattr(p, "aligned") else p for p in program.params)
    buffers = {name: dataclasses.replace(held, aligned=True) for name, held in program.buffers.items()}
    return dataclasses.replace(program, params=params, buffers=buffers)


def specialisation(program: Any, arg_types: tuple[Any, ...], target: str, call: Callable[..., Any]) -> Specialisation:
    from transkern.fuse.kernels import count_kernels, temporaries
    from transkern.ir.nodes import ArrayParam, ObjectParam

    written = tuple(p.name for p in program.params if isinstance(p, ArrayParam) and p.written)
    return Specialisation(
        arg_types,
        target,
        with_captured(call, program.captured, target),
        None,
        count_kernels(program),
        tuple(temporaries(program)),
        False,
        written,
        tuple(p.name.removesuffix("_itself") for p in program.params if isinstance(p, ObjectParam)),
        program.changes,
    )


def texts(
    function: Callable[..., Any], arg_types: tuple[Any, ...], target: str, options: Options = DEFAULT
) -> dict[str, str]:
    """The files of a specialisation: names and texts."""
    from transkern.frontend.source import live_function

    with limits.compilation_of(function), observing():
        program = program_for(function, arg_types, target, options)
        return program_texts(program, target, options.allow_float32, live_function(function))


def program_texts(
    program: Any, target: str, allow_float32: bool = False, function: Function | None = None
) -> dict[str, str]:
    """The files that a program prints as on a target; with the parameters of the user's `function`."""
    if function is not None:
        from transkern.targets.signature import signature_text

        program = dataclasses.replace(program, signature=signature_text(function))
    from transkern.targets.naming import CUDA, C, function_name

    match target:
        case "cpu":
            from transkern.targets.cpu.launcher import launcher
            from transkern.targets.cpu.module import emit, file_name

            name = file_name(program)
            return {f"{name}.c": emit(program), f"{name}.py": launcher(program)}
        case "cuda":
            from transkern.targets.cuda.emit import emit as emit_cuda

            kernels, launch = emit_cuda(program)
            name = function_name(program.name, CUDA)
            return {f"{name}.cu": kernels, f"{name}.py": launch}
        case _:
            from transkern.targets.pallas.emit import emit as emit_pallas

            return {f"{function_name(program.name, C)}.py": emit_pallas(program, narrow=allow_float32)}


def explain(function: Callable[..., Any], arg_types: tuple[Any, ...]) -> str:
    from transkern.frontend.source import live_function
    from transkern.frontend.specialise import specialise

    with limits.compilation_of(function), observing():
        return explained(specialise(live_function(function), arg_types))


def explained(made: Any) -> str:
    """What becomes of a program of array statements on the CPU, and what is known of its loops."""
    from transkern import pipeline
    from transkern.analysis.explain import explain as explain_program
    from transkern.analysis.loops import reports

    before = pipeline.run(made, pipeline.BEFORE_LOOPS)
    return explain_program(pipeline.run(made, pipeline.PASSES), reports(before))
