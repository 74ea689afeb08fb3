"""Python's integers in programs for Pallas: 32 bits that are enough need no checks of 64 bits."""

from __future__ import annotations

from transkern.fuse.checks.overflow import check_integers
from transkern.ir import nodes as n
from transkern.targets.pallas.passes.narrow import needs_64_bits
from transkern.targets.pallas.passes.widths import integers_stay_below


def check_wide_integers(program: n.Program) -> n.Program:
    """`check_integers` where the program needs 64 bits; `widths` says what must hold for 32, which the call checks."""
    checked = check_integers(program)
    if checked.body == program.body or needs_64_bits(program) or integers_stay_below(program) is None:
        return program if program.narrow else checked
    return program
