"""Programs of functions, and specialisations of programs whose code is there."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

from transkern.ir.generators import Lent, SharedGenerator, with_lent
from transkern.options import DEFAULT, Options
from transkern.runtime.caching import few
from transkern.runtime.specialisation import Specialisation
from transkern.targets import table


def with_captured(call: Callable[..., Any], captured: Sequence[Any], target: str = "cpu") -> Callable[..., Any]:
    """`call` with the arrays that the function found outside behind its own arguments, as they are then, and with the
    states of generators that are found there."""
    if not captured:
        return call
    lent = [Lent(c) for c in captured if isinstance(c, SharedGenerator)]
    if lent:
        states = iter(lent)
        arrays = [next(states).words if isinstance(c, SharedGenerator) else c for c in captured]
        return with_lent(with_captured(call, arrays, target), lent)
    if table.target(target).in_place or all(a.flags.aligned for a in captured):
        return lambda *args: call(*args, *captured)
    return lambda *args: call(*args, *(a if a.flags.aligned else a.copy() for a in captured))


def program_for(
    function: Callable[..., Any], arg_types: tuple[Any, ...], target: str, options: Options = DEFAULT,
    lends: bool = True,
) -> Any:  # fmt: skip
    """The program after the target's passes; `lends` as of `pipeline.translated`."""
    from transkern import pipeline
    from transkern.frontend.sources.source import live_function

    made = pipeline.with_options(pipeline.translated(live_function(function), arg_types, target, lends=lends), options)
    few.ask(made.few, arg_types)
    return pipeline.run(made if table.target(target).in_place else _aligned(made), pipeline.passes_for(target))


def _aligned(program: Any) -> Any:
    """A program whose arrays are copied to a device, where their elements stand at multiples of their size."""
    params = tuple(dataclasses.replace(p, aligned=True) if hasattr(p, "aligned") else p for p in program.params)
    buffers = {name: dataclasses.replace(held, aligned=True) for name, held in program.buffers.items()}
    return dataclasses.replace(program, params=params, buffers=buffers)


def specialisation(program: Any, arg_types: tuple[Any, ...], target: str, call: Callable[..., Any]) -> Specialisation:
    from transkern.fuse.lowering.kernels import count_kernels, temporaries
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
        few=program.few,
    )
