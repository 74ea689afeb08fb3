"""Programs through their passes."""

from __future__ import annotations

import ast
import os
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace

from transkern import refusals
from transkern.analysis import integers
from transkern.errors import HasEffects, WarnsItself, came_up_in
from transkern.frontend.sources.texts import TextScope
from transkern.frontend.specialise import specialise
from transkern.frontend.values.types import ArgType, parse_signature
from transkern.frontend.values.values import Function
from transkern.fuse.checks.unchecked import drop_bounds_checks
from transkern.fuse.choices.small_sizes import few_columns, small_sizes
from transkern.fuse.passes import DEVICE_PASSES, PASSES, Pass
from transkern.ir.generators import SharedGenerator
from transkern.ir.nodes import Library, Program, Stmt
from transkern.ir.traverse import bodies, buffers_written, walk
from transkern.ir.verify import VERIFY, verified
from transkern.limits import check_time
from transkern.options import Options
from transkern.targets.table import target


def passes_for(name: str) -> tuple[Pass, ...]:
    """The passes before the printer of a target."""
    return target(name).code.passes()


def translated(
    function: Function, types: Sequence[ArgType], name: str, left_out: Collection[ast.stmt] = (), lends: bool = False
) -> Program:
    """What the front end makes of a function for arguments of such types on a target; raises as `specialise`. `lends`:
    whether it is for calls from this process, where generators of random numbers are."""
    on = target(name)
    made = specialise(function, types, on.in_place, left_out, on.grows, lends and on.in_place)
    if on.in_place:
        return replace(made, few=small_sizes(made))
    return replace(made, few=few_columns(made)) if on.by_lanes else made  # on other devices nothing gains by it


def run(
    program: Program, passes: tuple[Pass, ...] = PASSES, after: Callable[[str, Program], None] | None = None
) -> Program:
    """`program` through `passes`; `after` sees it after each. An error that is not a refusal tells the pass."""
    integers.begin()
    if os.environ.get(VERIFY) == "1":
        after = verified(after, program)
    for one in passes:
        check_time()
        try:
            program = one(program)
            if after is not None:
                after(one.__name__, program)
        except Exception as error:
            came_up_in(error, one.__name__)
            raise
    return program


def with_options(program: Program, options: Options) -> Program:
    """`program`, as the front end makes it, for what its caller asks for."""
    if not options.boundscheck:
        program = drop_bounds_checks(program)
    if options.warnings is not None:
        _check_can_run_again(program)
    return replace(
        program, fastmath=options.fastmath, narrow=options.allow_float32, warns=options.warnings is not None,
        threads=options.threads, profile=options.profile,
    )  # fmt: skip


def _check_can_run_again(program: Program) -> None:
    """For NumPy's warnings a function may have to run once more in NumPy: it must have no effects but on arguments."""
    own = program.params[len(program.params) - len(program.captured) :]
    shared = {p.name for p, c in zip(own, program.captured, strict=True) if isinstance(c, SharedGenerator)}
    found = [s for s in walk(program.body) if _is_seen(s) or (not any(bodies(s)) and shared & set(buffers_written(s)))]
    if not found:
        return
    span, warning = found[0].span, tuple(s.span for s in found if isinstance(s, Library) and _warns(s))
    error = (WarnsItself if warning else HasEffects)(
        refusals.EFFECTS,
        'a function that prints or draws from NumPy\'s one generator, with warnings="numpy": it may run twice',
        "print outside of it, or draw from a generator that is an argument", span, program.lines_of(span),
    )  # fmt: skip
    if isinstance(error, WarnsItself):
        error.spans = warning
    raise error


def _is_seen(s: Stmt) -> bool:
    """Whether a step of a library prints, or draws from a generator that others share."""
    return isinstance(s, Library) and (s.name == "print" or ("kind", "global") in s.attributes)


def _warns(s: Library) -> bool:
    return "warns" in dict(s.attributes)


def program_of(source: str, name: str, types: str, passes: tuple[Pass, ...] = DEVICE_PASSES) -> Program:
    """The program of function `name` in a module's text, for the types ``f(float32[n], float)``."""
    _, parsed = parse_signature(types)
    return run(specialise(TextScope(source, "<text>").function(name), parsed, passes is PASSES), passes)
