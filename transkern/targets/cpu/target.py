"""The CPU, as the table of targets asks for it: C with OpenMP, and what builds and calls it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from transkern.fuse.passes import Pass
    from transkern.ir.nodes import Program


def passes() -> tuple[Pass, ...]:
    """The passes before the printer."""
    from transkern.fuse.passes import PASSES

    return PASSES


def files(program: Program, narrow: bool) -> dict[str, str]:
    """The C text, and a module that compiles it and calls it."""
    from transkern.targets.cpu.launcher import launcher
    from transkern.targets.cpu.printing.module import emit, file_name

    name = file_name(program)
    return {f"{name}.c": emit(program), f"{name}.py": launcher(program)}
