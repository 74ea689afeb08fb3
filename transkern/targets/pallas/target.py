"""Pallas, as the table of targets asks for it: a Python module for JAX."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from transkern.targets.naming import C, function_name
from transkern.targets.pallas.module.needs import need

if TYPE_CHECKING:
    from transkern.fuse.passes import Pass
    from transkern.ir.nodes import Program


def passes() -> tuple[Pass, ...]:
    """The passes before the printer. Raises TargetUnavailable where what the printer needs is missing."""
    need("astor")
    from transkern.fuse.checks.overflow import check_integers
    from transkern.fuse.choices.batches import order_batches
    from transkern.fuse.filters.alive import mask_filtered, mask_shrinking
    from transkern.fuse.loops.arg_reductions import reduce_extremes, reduce_extremes_by_lanes
    from transkern.fuse.loops.chosen import compute_chosen_in_kernels, compute_chosen_of_batches
    from transkern.fuse.loops.neighbours import write_out_windows
    from transkern.fuse.lowering.kernels import place_kernels
    from transkern.fuse.lowering.lower import lower
    from transkern.fuse.passes import DEVICE_PASSES
    from transkern.fuse.scalars.hoist import hoist_gathers, hoist_gathers_of_rows
    from transkern.fuse.waves.wavefront import order_large_by_waves
    from transkern.targets.pallas.passes.checks import check_wide_integers
    from transkern.targets.pallas.passes.columns import hold_columns
    from transkern.targets.pallas.passes.exits import leave_once
    from transkern.targets.pallas.passes.extremes import search_by_axes
    from transkern.targets.pallas.passes.shapes import part_shapes
    from transkern.targets.pallas.passes.taps import sum_by_taps
    from transkern.targets.pallas.passes.updates import scatter_updates
    from transkern.targets.pallas.passes.wide import hold_wide

    instead: dict[Pass, Pass] = {
        check_integers: check_wide_integers, reduce_extremes: reduce_extremes_by_lanes,
        compute_chosen_in_kernels: compute_chosen_of_batches, mask_shrinking: mask_filtered,
        hoist_gathers: hoist_gathers_of_rows,
    }  # fmt: skip
    before = tuple(instead.get(p, p) for p in DEVICE_PASSES)
    formed = before.index(reduce_extremes_by_lanes) + 1
    before = (*before[:formed], order_large_by_waves, *before[formed:])
    behind, placed = before.index(lower) + 1, before.index(place_kernels)
    return (
        *before[:behind],
        leave_once,  # behind `lower`: loops that are left then become kernels
        *before[behind:placed],
        write_out_windows,
        scatter_updates,  # when nothing asks any more what loops do
        sum_by_taps,
        search_by_axes,
        hold_wide,
        order_batches,
        hold_columns,  # when nothing asks any more what loops do
        part_shapes,  # when nothing fuses loops any more
        *before[placed:],
    )


def files(program: Program, narrow: bool) -> dict[str, str]:
    """The module."""
    need("astor")
    from transkern.targets.pallas.module.emit import emit

    return {f"{function_name(program.name, C)}.py": emit(program, narrow=narrow)}


def printed(program: Program, narrow: bool) -> Any:
    """The forms of the module that calls run, as `module.load.Printed`."""
    from transkern.targets.pallas.module import load as loading

    return loading.printed(program, narrow)


def texts(**given: Any) -> Any:
    """These again, from their fields."""
    from transkern.targets.pallas.module.load import Printed

    return Printed(**given)


def load(made: Any) -> Callable[..., Any]:
    """What runs them."""
    from transkern.targets.pallas.module import load as loading

    return loading.load(made)
