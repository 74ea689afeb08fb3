"""Facts about programs; reads, never edits."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from transkern.analysis.loops import Conflict, LoopReport

__all__ = ["Conflict", "LoopReport", "loops_of"]


def loops_of(source: str, types: str) -> tuple[LoopReport, ...]:
    """The class of each loop of a function, given as a module's text and types like ``f(float64[n], int)``.

    Raises `CompileError` where the function does not compile. The text is not run.
    """
    from transkern.analysis.loops import reports
    from transkern.frontend.values.types import parse_signature
    from transkern.fuse.passes import BEFORE_LOOPS
    from transkern.pipeline import program_of

    name, _ = parse_signature(types)
    return reports(program_of(source, name, types, BEFORE_LOOPS))


def __getattr__(name: str) -> object:
    if name in ("Conflict", "LoopReport"):
        from transkern.analysis import loops

        return getattr(loops, name)
    raise AttributeError(name)
