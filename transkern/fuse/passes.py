"""The passes, in order. No logic."""

from __future__ import annotations

from collections.abc import Callable

from transkern.fuse.checks.ahead import check_ahead
from transkern.fuse.checks.bounds import prove_bounds
from transkern.fuse.checks.contents import know_contents
from transkern.fuse.checks.differences import settle_differences
from transkern.fuse.checks.guards import (
    drop_proven_guards,
    drop_room_checks,
    guard_assumptions,
    hoist_guards,
    unify_sizes,
)
from transkern.fuse.checks.limits import ask_sizes_first
from transkern.fuse.checks.overflow import check_integers
from transkern.fuse.checks.positions import split_positions
from transkern.fuse.checks.ranges import ask_range_first
from transkern.fuse.checks.searched import ask_any_first
from transkern.fuse.checks.slices import settle_slices
from transkern.fuse.checks.together import ask_together
from transkern.fuse.checks.versions import version_loops
from transkern.fuse.checks.within import check_within
from transkern.fuse.choices.branches import ask_once, choose_values, compute_choices
from transkern.fuse.choices.changed import store_changes
from transkern.fuse.choices.kept import keep_elements
from transkern.fuse.choices.numbers import expect_numbers
from transkern.fuse.choices.ranges import narrow_ranges
from transkern.fuse.choices.truths import ask_all, count_truths, decide_truths
from transkern.fuse.devices.along import take_scalars_along
from transkern.fuse.devices.asked_first import ask_sizes_ahead
from transkern.fuse.devices.by_terms import order_by_terms
from transkern.fuse.devices.elements import compute_places
from transkern.fuse.devices.nests import part_nests
from transkern.fuse.devices.next_states import double_states
from transkern.fuse.devices.old_values import compute_before_stores
from transkern.fuse.devices.operands import turn_operands
from transkern.fuse.devices.outside import batches_outside
from transkern.fuse.devices.pivots import block_pivots
from transkern.fuse.devices.products import multiply_in_loops
from transkern.fuse.devices.rolling import order_by_waves
from transkern.fuse.devices.rounds import compare_rounds
from transkern.fuse.devices.rows_again import turn_rows
from transkern.fuse.devices.sorting import sort_updates
from transkern.fuse.devices.terms import compute_terms_once
from transkern.fuse.devices.update_checks import check_updates
from transkern.fuse.filters.alive import mask_shrinking
from transkern.fuse.filters.by_keys import count_by_keys
from transkern.fuse.filters.companions import forward_positions, shrink_together
from transkern.fuse.filters.consumed import store_filtered
from transkern.fuse.filters.copies import forward_copies
from transkern.fuse.filters.filter_rows import filter_rows
from transkern.fuse.filters.kept import combine_filters
from transkern.fuse.filters.quotients import simplify_repeated
from transkern.fuse.filters.recompact import close_gaps
from transkern.fuse.lanes.asked import ask_before_costly
from transkern.fuse.lanes.backwards import search_backwards
from transkern.fuse.lanes.blocks import block_lanes
from transkern.fuse.lanes.from_start import count_from_start
from transkern.fuse.lanes.read_back import read_back
from transkern.fuse.lanes.rests import split_rests
from transkern.fuse.lanes.running import run_in_fours
from transkern.fuse.lanes.tables import count_in_tables
from transkern.fuse.lanes.triangles import ask_for_all_lanes, pad_triangles
from transkern.fuse.lanes.wrapped import name_wrapped
from transkern.fuse.loops.arg_reductions import reduce_extremes
from transkern.fuse.loops.borders import split_borders
from transkern.fuse.loops.chosen import compute_chosen, compute_chosen_in_kernels
from transkern.fuse.loops.contract import contract_temporaries
from transkern.fuse.loops.counted import count_by_axis
from transkern.fuse.loops.distribute import distribute_rows, distribute_rows_for_devices
from transkern.fuse.loops.fills import drop_dead_fills, drop_dead_fills_for_cuda
from transkern.fuse.loops.loops import fuse_for_devices, fuse_loops
from transkern.fuse.loops.neighbours import write_out_windows
from transkern.fuse.loops.overwritten import choose_overwritten
from transkern.fuse.loops.parallel import parallelise, parallelise_for_cuda, parallelise_with_checks
from transkern.fuse.loops.recompute import recompute, recompute_for_cuda
from transkern.fuse.loops.shift import predicate_stores, shift_loops
from transkern.fuse.loops.split import split_loops
from transkern.fuse.loops.steps import compute_by_steps
from transkern.fuse.loops.unroll import unroll_short, unroll_short_for_cuda
from transkern.fuse.loops.windows import split_windows
from transkern.fuse.lowering.canonical import canonicalise, name_squares
from transkern.fuse.lowering.delinearise import delinearise
from transkern.fuse.lowering.first_exits import test_first
from transkern.fuse.lowering.flatten import flatten_loops, flatten_sums
from transkern.fuse.lowering.halves import round_halves
from transkern.fuse.lowering.kernels import place_kernels, place_kernels_for_cuda, spill_scalars
from transkern.fuse.lowering.lower import lower
from transkern.fuse.lowering.naming import name_axes
from transkern.fuse.lowering.raised import raise_loops
from transkern.fuse.lowering.relabel import relabel_permuted
from transkern.fuse.lowering.reshaped import reshape_in_place
from transkern.fuse.lowering.running import write_out_scans
from transkern.fuse.lowering.split_axes import split_axes
from transkern.fuse.lowering.split_complex import split_complex, split_complex_for_devices
from transkern.fuse.lowering.updates import update_atomically
from transkern.fuse.scalars.assigned import name_values
from transkern.fuse.scalars.begun import begin_in_order
from transkern.fuse.scalars.carried import carry_elements, carry_elements_for_cuda
from transkern.fuse.scalars.constants import settle_constants
from transkern.fuse.scalars.factored import factor_out
from transkern.fuse.scalars.hoist import hoist_columns, hoist_gathers
from transkern.fuse.scalars.invariant import move_invariants
from transkern.fuse.scalars.load_once import load_once
from transkern.fuse.scalars.narrow import narrow_arithmetic
from transkern.fuse.scalars.numbering import number_values
from transkern.fuse.scalars.once import compute_once
from transkern.fuse.scalars.places import simplify_places
from transkern.fuse.scalars.promote import promote_elements
from transkern.fuse.scalars.scalars import coalesce_scalars, drop_dead_scalars, settle_after_loop
from transkern.fuse.scalars.share import share_values
from transkern.fuse.scalars.signs import decide_signs
from transkern.fuse.scalars.tables import tabulate
from transkern.fuse.scalars.whole_sums import sum_integers
from transkern.fuse.scalars.wraps import split_wraps
from transkern.fuse.schedule.columns import order_columns
from transkern.fuse.schedule.divergent import vectorise_divergent
from transkern.fuse.schedule.ends import end_by_lane
from transkern.fuse.schedule.epilogues import distribute_epilogues
from transkern.fuse.schedule.fetch import fetch_rows
from transkern.fuse.schedule.interchange import lanes_outside, lanes_outside_for_devices
from transkern.fuse.schedule.jam import choose_stores, jam_rows
from transkern.fuse.schedule.layouts import lay_out
from transkern.fuse.schedule.leave import leave_early
from transkern.fuse.schedule.overlap import overlap_sums
from transkern.fuse.schedule.pairs import order_pairs
from transkern.fuse.schedule.parts import sum_parts
from transkern.fuse.schedule.products import loop_products
from transkern.fuse.schedule.push import push_recurrences
from transkern.fuse.schedule.timetiles import tile_time
from transkern.fuse.schedule.turn import turn_arrays, turn_reductions
from transkern.fuse.sorts.batches import batch_sorts
from transkern.fuse.sorts.before_loops import sort_before_loops, sort_before_loops_for_cuda
from transkern.fuse.sorts.first_few import select_first
from transkern.fuse.sorts.inverse import invert_orders
from transkern.fuse.sorts.networks import sort_by_networks
from transkern.fuse.sorts.selecting import select_sorted
from transkern.fuse.sorts.short import sort_short
from transkern.fuse.states.alternate import alternate_rows
from transkern.fuse.states.chains import part_chains
from transkern.fuse.states.coalesce import coalesce_copies
from transkern.fuse.states.deferred import defer_updates
from transkern.fuse.states.doubling import double_buffer
from transkern.fuse.states.folded import fold_next_states
from transkern.fuse.states.parts_read import compute_read
from transkern.fuse.states.pieces import merge_pieces
from transkern.fuse.states.reserved_once import allocate_once
from transkern.fuse.states.rotation import rotate_states
from transkern.fuse.states.stored import store_once
from transkern.fuse.states.unswitch import unswitch_subscripts
from transkern.fuse.states.updates import merge_updates
from transkern.fuse.states.whole import hand_out_whole
from transkern.fuse.waves.skewed import skew_tables
from transkern.fuse.waves.wavefront import tile_wavefronts
from transkern.ir.nodes import Program

Pass = Callable[[Program], Program]

BEFORE_LOOPS: tuple[Pass, ...] = (
    delinearise,
    coalesce_copies,  # before array statements become loops: they compute all that they store before they store it
    recompute,
    combine_filters,  # before masks are shared: each keeps for itself
    simplify_places,  # before equal values are looked for, and before array statements become loops
    number_values,
    lower,
    canonicalise,
    test_first,  # before what a loop's condition says is asked for
    shrink_together,  # before bounds are proven: arrays of one length have one size then
    split_complex,  # as soon as there are statements in front of which an operand can get a name
    round_halves,
    settle_constants,  # before checks of them are looked at
    drop_proven_guards,
    know_contents,
    prove_bounds,
    hoist_guards,
    unify_sizes,  # needs the guards in front
    coalesce_scalars,
    drop_dead_scalars,
    settle_after_loop,
    drop_dead_scalars,
    lay_out,  # when all sizes have their names
)
"""What comes before loops are looked at; `explain` speaks of those that the user wrote."""

HOLDING_PASSES: tuple[Pass, ...] = (
    promote_elements,  # before loops become parallel: an element held in a variable is the iteration's own
    split_loops,
    version_loops,  # after splitting, which needs no test
)
"""What prepares loops for the questions of dependence."""

LOOP_PASSES: tuple[Pass, ...] = (
    parallelise,
    fuse_loops,
    end_by_lane,
    contract_temporaries,  # what an iteration has for itself keeps no loop in order around its lanes
    lanes_outside,
    promote_elements,  # what the lanes now update, each in a loop of its own
    contract_temporaries,
    compute_chosen,  # of rows that an iteration has for itself
    unroll_short,  # after contraction: what it keeps apart fuses next
    name_values,  # of arrays that have become numbers, and are changed in place
    share_values,  # after contraction: equal values have become equal expressions
    store_filtered,  # after contraction, which puts what a filter asks into it; before masks, which leave one filter
    mask_shrinking,  # after contraction: what is left in the loop body is one pass over the array
    forward_positions,  # behind masking: what held the positions that are left holds them all
    relabel_permuted,
    hoist_gathers,  # after masking: the base array no longer changes
    fuse_loops,  # the gathers with what stands before them, and loops whose lanes have come outside
    contract_temporaries,
    name_values,
    coalesce_scalars,  # what an array's element was between two loops, and what held it in one
    drop_dead_scalars,
    shift_loops,
    predicate_stores,
)
"""What makes kernels of loops."""

PASSES: tuple[Pass, ...] = (
    loop_products,  # before loops are raised that have no library steps any more
    raise_loops,  # before anything asks for array statements
    count_by_axis,
    invert_orders,  # before array statements become loops
    settle_slices,  # before stores are asked whether they are in place
    *BEFORE_LOOPS[:2],
    sort_by_networks,  # when windows and stacks are read where they come from
    merge_updates,  # which are pieces then
    merge_pieces,  # before next states have other places
    store_changes,
    double_buffer,
    rotate_states,  # what is left of states that are copied
    unswitch_subscripts,  # of what is one statement now
    compute_by_steps,  # where no copy takes part any more
    compute_read,  # of what is left of copies
    compute_once,  # of what has become one statement
    *BEFORE_LOOPS[2:],
    name_squares,  # XLA would make `x` of `square(sqrt(x))`
    factor_out,  # when names that are not needed have gone; XLA would divide by them through their reciprocals
    check_integers,
    move_invariants,  # when it can be seen what may raise an error
    hoist_guards,  # those of what a loop does not change
    check_ahead,  # what is left, before anything asks for loops without checks
    drop_dead_fills,  # before loops are fused: a fill stands alone
    begin_in_order,  # what is left of them, where loops in order go on with it
    write_out_scans,  # before dependence is asked for
    *HOLDING_PASSES,
    defer_updates,  # before lanes go outside, which they do then
    distribute_rows,  # before loops become parallel, after elements are held: sums are then variables
    *LOOP_PASSES,
    promote_elements,  # of rows that have become numbers
    distribute_rows,  # what these are now: variables
    parallelise,
    hoist_columns,
    reduce_extremes,  # of loops that are in order still; before tiles, which it makes way for
    count_by_keys,  # before nests get other axes inside
    select_first,
    select_sorted,  # when all that nobody reads has gone
    sort_short,  # of what is not selected, too
    close_gaps,
    split_axes,  # after fusion: loops over all elements meet as they are
    ask_sizes_first,  # before what is left of them is asked for
    ask_any_first,  # of several axes, when they are apart
    ask_together,  # of one axis, when the loops that make places are as fused as they become
    name_axes,
    flatten_loops,
    tabulate,  # of whole nests
    write_out_windows,  # when nobody asks any more which loops are reductions
    narrow_ranges,  # of what is left; before windows are split where they are equally long
    decide_truths,
    count_truths,
    keep_elements,
    choose_values,  # of what are numbers now
    name_values,
    hoist_gathers,  # columns of the rows of windows
    store_once,  # when loops that store into an element are one
    ask_once,
    decide_signs,
    narrow_arithmetic,  # when all that computes with an element stands beside it
    sum_integers,
    tile_time,
    choose_stores,
    tile_wavefronts,
    split_wraps,
    split_windows,
    split_borders,  # after tiles, which are of whole nests
    ask_all,
    compute_choices,  # after borders, which are left without questions what is there
    jam_rows,  # after tiles: within each of them
    split_positions,  # before lanes are chosen: what remembers positions has none
    order_pairs,  # before arrays are turned for their lanes
    turn_reductions,
    turn_arrays,
    push_recurrences,
    order_columns,
    carry_elements,  # what is not pushed
    leave_early,
    drop_dead_scalars,  # the masks that are exits now
    load_once,
    expect_numbers,  # before lanes: each version has its own
    search_backwards,  # before lanes that leave: these need not
    vectorise_divergent,
    read_back,  # before lanes: of what is not pushed
    pad_triangles,  # right before the lanes that it is for
    block_lanes,
    ask_for_all_lanes,
    distribute_epilogues,  # of what has no lanes
    simplify_repeated,
    alternate_rows,
    fold_next_states,  # of states that have no second array
    overlap_sums,  # last of all that asks what loops compute: sums become parts of other loops
    sum_parts,
    filter_rows,
    run_in_fours,  # when loops are in order because nothing else is left for them
    count_in_tables,
    check_within,
    count_from_start,  # when checks are where they stay
    ask_range_first,  # when nobody asks any more what checks say
    name_wrapped,  # when nobody looks for places any more
    allocate_once,  # when nobody asks any more what an iteration has for itself
    hand_out_whole,  # before what ends as a result of another shape is looked for
    reshape_in_place,  # when nobody asks any more by which subscripts arrays are read
    split_rests,  # when nobody asks any more what rows do
    ask_before_costly,  # when nobody asks any more what lanes do
    place_kernels,
    fetch_rows,  # when nothing asks any more what loops do
)
"""For the CPU, where moving elements together is cheap, and new memory may be left as it is."""

_FOR_DEVICES: dict[Pass, Pass] = {
    fuse_loops: fuse_for_devices, lanes_outside: lanes_outside_for_devices, compute_chosen: compute_chosen_in_kernels,
}  # fmt: skip
_FORWARDED = LOOP_PASSES.index(forward_positions)
_VALUED = BEFORE_LOOPS.index(number_values) + 1
DEVICE_PASSES: tuple[Pass, ...] = (
    raise_loops,
    *BEFORE_LOOPS[:_VALUED],
    sort_before_loops,  # when filters by one mask are one statement; before array statements become loops
    *(split_complex_for_devices if p is split_complex else p for p in BEFORE_LOOPS[_VALUED:]),
    check_integers,
    move_invariants,
    hoist_guards,
    *HOLDING_PASSES,
    compute_before_stores,
    LOOP_PASSES[0],
    choose_overwritten,  # what was stored behind a loop is no pass of its own; a CPU has such an array in its cache
    *(_FOR_DEVICES.get(p, p) for p in LOOP_PASSES[1:_FORWARDED]),
    forward_copies,  # behind masking: what held all that is left from the beginning
    *(_FOR_DEVICES.get(p, p) for p in LOOP_PASSES[_FORWARDED:]),
    reduce_extremes,
    drop_room_checks,  # when lists have gone that nobody reads
    place_kernels,
    spill_scalars,
    guard_assumptions,
)
"""For targets whose kernels cannot hand scalars to each other in registers."""

_FOR_CUDA: dict[Pass, Pass] = {parallelise: parallelise_for_cuda, unroll_short: unroll_short_for_cuda}
_BEFORE_LOOPS_FOR_CUDA: dict[Pass, Pass] = {
    recompute: recompute_for_cuda,
    sort_before_loops: sort_before_loops_for_cuda,
}
_COALESCED = DEVICE_PASSES.index(coalesce_copies) + 1
_INVARIANT = DEVICE_PASSES.index(HOLDING_PASSES[0])
_HELD = DEVICE_PASSES.index(HOLDING_PASSES[-1]) + 1
_FORMED = DEVICE_PASSES.index(reduce_extremes) + 1
_PLACED = DEVICE_PASSES.index(place_kernels)
CUDA_PASSES: tuple[Pass, ...] = (
    multiply_in_loops,  # before all that asks for array statements
    DEVICE_PASSES[0],
    count_by_axis,
    invert_orders,
    merge_updates,
    merge_pieces,  # what is not stored takes no kernel of its own
    turn_operands,  # while copies are array statements
    *DEVICE_PASSES[1:_COALESCED],
    sort_by_networks,  # a thread has a row in its registers
    double_states,  # when copies of states are the states; before array statements become loops
    *(_BEFORE_LOOPS_FOR_CUDA.get(p, p) for p in DEVICE_PASSES[_COALESCED:_INVARIANT]),
    settle_differences,  # so that ranges decide what is checked of them
    check_ahead,  # what is left, before anything asks for loops without checks
    ask_sizes_ahead,  # before what else reads places is fused with what makes them
    drop_dead_fills_for_cuda,  # before loops are fused; JAX has no arrays without values
    drop_proven_guards,  # what equal searches have found has one name now
    *DEVICE_PASSES[_INVARIANT:_HELD],
    distribute_rows_for_devices,
    order_by_terms,  # what is not taken apart
    batch_sorts,  # before loops become parallel, which those that sort cannot
    *(_FOR_CUDA.get(p, p) for p in DEVICE_PASSES[_HELD:_FORMED]),
    batches_outside,  # when loops over problems are as fused as they become
    order_by_waves,
    check_updates,  # before loops are asked whether they act on elements of others
    block_pivots,
    leave_early,  # a thread may leave a loop; the lanes of a TPU cannot
    drop_dead_scalars,
    *DEVICE_PASSES[_FORMED:_PLACED],
    parallelise_with_checks,  # when loops that may fail have nothing more to be fused with
    update_atomically,  # when nothing asks any more what loops do
    compute_places,  # for updates that are parallel now
    sort_updates,
    part_chains,  # what nothing else has made parallel
    part_nests,  # when nothing fuses loops any more
    turn_rows,  # what they have become
    carry_elements_for_cuda,
    compare_rounds,  # when nobody looks for places any more
    skew_tables,
    place_kernels_for_cuda,
    flatten_sums,  # elements that are stored go in words, which ask for all axes
    compute_terms_once,  # where statements stand beside loops anyway
    take_scalars_along,  # before they get places in device memory
    *DEVICE_PASSES[_PLACED + 1 :],
)
"""For CUDA."""
