"""Generators that a function has no argument for: NumPy's own, and those of modules.

Where a loop draws from one, the state is lent to the code for the time of a call (`ir.generators.Lent`), as that of an
argument is, so that the loop is one kernel. Where all draws are outside of loops, or one in a loop is NumPy's to make,
NumPy draws, one step after the other, and the function is translated once more for that.
"""

from __future__ import annotations

from typing import NoReturn

from transkern.frontend.anew import MustDraw
from transkern.frontend.context import Context
from transkern.frontend.values.values import Generator
from transkern.ir import build as b
from transkern.ir.generators import SharedGenerator
from transkern.ir.library import WITHOUT_PAIRS
from transkern.ir.nodes import Buffer

_ALONE = {"number", "number_between", "integer_between"}
"""Compositions that draw no pairs of normal numbers."""


def lent(ctx: Context, of: str, kind: str, legacy: bool) -> Generator | None:
    """The generator that the text `of` finds, its state lent; None where NumPy draws."""
    if ctx.session.by_library is None or of in ctx.session.by_library:
        return None
    found = next(((name, c) for name, c in ctx.inputs.captured if isinstance(c, SharedGenerator) and c.of == of), None)
    name, shared = found or (ctx.names.fresh("shared_generator"), SharedGenerator(of, kind))
    if found is None:
        ctx.names.lasting.add(name)
        ctx.names.taken.add(name)
        ctx.inputs.captured.append((name, shared))
    ctx.names.buffers[name] = Buffer(name, "uint64", (b.index(shared.shape[0]),), "argument", "C", aligned=True)
    return Generator(name, kind, of, legacy, shared)


def note_drawn(ctx: Context, generator: Generator, by: str) -> None:
    """The kernel draws from it, by a composition."""
    if generator.shared is not None:
        generator.shared.in_loops = generator.shared.in_loops or bool(ctx.control.loop_path)
        generator.shared.pairs = generator.shared.pairs or (generator.legacy and by not in _ALONE)


def note_step(ctx: Context, generator: Generator, method: str) -> None:
    """NumPy draws from it: in a loop it had rather all."""
    if generator.shared is not None:
        if ctx.control.loop_path:
            _begin_anew(ctx, generator.of)
        generator.shared.pairs = generator.shared.pairs or (generator.legacy and method not in WITHOUT_PAIRS)


def check(ctx: Context) -> None:
    """That each is drawn from in loops: for a few numbers the state takes longer."""
    for _, shared in ctx.inputs.captured:
        if isinstance(shared, SharedGenerator) and not shared.in_loops:
            _begin_anew(ctx, shared.of)


def _begin_anew(ctx: Context, of: str) -> NoReturn:
    assert ctx.session.by_library is not None
    ctx.session.by_library.add(of)
    raise MustDraw
