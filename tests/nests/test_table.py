"""The answers of the table against what the loops do when they run: no analysis is needed for this."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

from tests.nests.collected import NESTS, Nest
from tests.nests.recording import conflicts, recorded
from tests.nests.registry import KINDS
from tests.nests.rewriting import reordered

SEEDS = range(4)


def outcome(function: Any, args: tuple[Any, ...]) -> tuple[Any, tuple[Any, ...], str]:
    """The result, the arguments afterwards, and what was raised."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return function(*args), args, ""
        except (IndexError, ValueError, ZeroDivisionError) as error:
            return None, args, f"{type(error).__name__}: {error}"


def same(got: Any, wanted: Any) -> bool:
    if isinstance(wanted, tuple):
        return len(got) == len(wanted) and all(same(g, w) for g, w in zip(got, wanted, strict=True))
    return np.array_equal(got, wanted) if isinstance(wanted, np.ndarray) else bool(got == wanted)


def test_the_table_is_large_and_covers_every_class() -> None:
    assert len(NESTS) >= 80
    kinds = [kind for nest in NESTS for loop in nest.loops for kind in loop.kinds if len(loop.kinds) == 1]
    assert set(KINDS) == set(kinds)


@pytest.mark.parametrize("nest", NESTS, ids=lambda nest: nest.name)
def test_answers_are_what_running_shows(nest: Nest) -> None:
    found = dict.fromkeys((loop.line for loop in nest.loops), "")
    for sizes in nest.shapes:
        for seed in SEEDS:
            plain = outcome(nest.function, nest.inputs(seed, sizes))
            record = recorded(nest, seed, sizes)
            assert same(record.result, plain[0]), "the recorder changes the result"
            for line in found:
                for conflict in conflicts(record, line):
                    found[line] = f"{conflict.kind} {conflict.first} {conflict.second}"
                    break
    for loop in nest.loops:
        shown = found[loop.line]
        assert bool(shown) == loop.dependent, f"line {loop.line}: {shown or 'no conflict'}"


@pytest.mark.parametrize("nest", NESTS, ids=lambda nest: nest.name)
def test_independent_loops_run_in_any_order(nest: Nest) -> None:
    for loop in nest.loops:
        if loop.dependent or not loop.variables or "parallel" not in loop.kinds:
            continue
        for sizes in nest.shapes:
            for seed in SEEDS:
                wanted = outcome(nest.function, nest.inputs(seed, sizes))
                got = outcome(reordered(nest, loop.line, seed), nest.inputs(seed, sizes))
                assert same(got[:2], wanted[:2]) and got[2] == wanted[2], (loop.line, sizes, got, wanted)


@pytest.mark.parametrize("name", ["copied_down", "by_remainder", "scattered", "running_sum", "kept_from_before"])
def test_another_order_shows_in_a_dependent_loop(name: str) -> None:
    nest = next(nest for nest in NESTS if nest.name == name)
    line, sizes = nest.loops[0].line, nest.shapes[-1]
    changed = [reordered(nest, line, seed) for seed in SEEDS]
    assert any(
        not same(outcome(f, nest.inputs(0, sizes))[:2], outcome(nest.function, nest.inputs(0, sizes))[:2])
        for f in changed
    )
