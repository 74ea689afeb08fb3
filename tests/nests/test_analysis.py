"""What the analysis says of the nests: the class of each loop, true examples of conflicts, any order if parallel."""

from __future__ import annotations

import dataclasses
import functools
import re
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from tests.nests.collected import NESTS, Nest
from tests.nests.recording import Access, Record, Step, addresses, recorded
from tests.nests.registry import Sizes
from tests.nests.rewriting import reordered
from tests.nests.test_table import outcome, same
from transkern.analysis import Conflict, LoopReport, loops_of

SEEDS = range(12)
"""Where data decide, some of so many inputs must show what is claimed."""

BEYOND = {"inserted_in_order", "products_of_subscripts", "roots_found"}
"""Subscripts that are products of variables or data: that they meet need not be shown."""


@functools.cache
def reports(nest: Nest) -> dict[int, LoopReport]:
    return {report.line: report for report in loops_of(nest.source, nest.types)}


@pytest.mark.parametrize("nest", NESTS, ids=lambda nest: nest.name)
def test_classes(nest: Nest) -> None:
    found = reports(nest)
    assert list(found) == sorted(found)
    wanted = {loop.line: loop for loop in nest.loops}
    assert set(found) <= set(wanted), "there is no such loop"
    for line, loop in wanted.items():
        if not loop.variables and line not in found:
            continue  # a `while`, of which nothing need be said
        assert line in found, f"line {line}: nothing is said of this loop"
        report = found[line]
        assert report.kind in loop.kinds, f"{report} (not {' | '.join(loop.kinds)})"
        assert not loop.variables or set(loop.variables) & set(re.findall(r"\w+", report.variable))


def step_of(access: Access, line: int) -> Step | None:
    return next((step for step in access.steps if step.line == line), None)


def cells(record: Record, conflict: Conflict) -> set[Any]:
    """The addresses that the example's element may have; or the variable's name."""
    if not conflict.element:
        return {conflict.array}
    found = set()
    for array in record.arrays.get(conflict.array, ()):
        if len(conflict.element) == array.ndim and all(0 <= e < s for e, s in zip(conflict.element, array.shape)):
            found.add(int(addresses(array)[conflict.element]))
    return found


def shown(nest: Nest, record: Record, report: LoopReport) -> Iterator[tuple[Access, Access]]:
    """The pairs of accesses that are as the report's example has them."""
    conflict = report.conflict
    assert conflict is not None and conflict.sizes is not None
    meant = cells(record, conflict)
    does = {"flow": (True, False), "anti": (False, True), "output": (True, True)}[conflict.kind]

    def at(access: Access, value: int, line: int, writes: bool) -> bool:
        step = step_of(access, report.line)
        if step is None or (step.value, access.line, access.writes) != (value, line, writes):
            return False
        around = access.steps[: access.steps.index(step)]
        return access.cell in meant and all(
            s.value == conflict.sizes[name]  # type: ignore[index]
            for s in around
            for name in set(nest.variables[s.line]) & set(conflict.sizes or ())
        )

    first = [a for a in record.accesses if at(a, conflict.first, conflict.first_line, does[0])]
    second = [a for a in record.accesses if at(a, conflict.second, conflict.second_line, does[1])]
    for one in first:
        for other in second:
            mine, its = step_of(one, report.line), step_of(other, report.line)
            assert mine is not None and its is not None
            if one.cell == other.cell and mine.run == its.run and mine.number < its.number:
                yield one, other


@pytest.mark.parametrize("nest", NESTS, ids=lambda nest: nest.name)
def test_examples_are_conflicts(nest: Nest) -> None:
    for report in reports(nest).values():
        conflict = report.conflict
        if report.kind not in ("parallel", "reduction"):
            assert conflict is not None or report.notes, f"{report}: no reason is given"
        if conflict is None or conflict.sizes is None:
            continue
        assert any(next(shown(nest, recorded(nest, seed, conflict.sizes), report), None) for seed in SEEDS), (
            f"{report}: {conflict}"
        )


@pytest.mark.parametrize("name", ["running_sum", "linear_recurrence", "carried_where_positive"])
def test_another_order_shows_where_there_is_no_reduction(name: str) -> None:
    nest = next(nest for nest in NESTS if nest.name == name)
    line, sizes = nest.loops[0].line, nest.shapes[-1]
    wanted = outcome(nest.function, nest.inputs(0, sizes))
    found = [outcome(reordered(nest, line, seed, True), nest.inputs(0, sizes)) for seed in range(4)]
    assert not all(close(got[:2], wanted[:2]) for got in found)


def test_wrong_examples_are_seen() -> None:
    nest = next(nest for nest in NESTS if nest.name == "distance_ten")  # a[i] = a[i - 10] + 1, in line 4
    right = Conflict("a", "flow", 4, 4, "writes a[i]", "reads a[i - 10]", (10,), {"n": 21}, 10, 20, (10,))
    wrong: list[dict[str, Any]] = [
        {"array": "b"}, {"kind": "anti"}, {"kind": "output"}, {"first_line": 3}, {"second_line": 5},
        {"sizes": {"n": 20}}, {"first": 9}, {"second": 19}, {"first": 20, "second": 10}, {"element": (0,)},
        {"element": (10, 0)},
    ]  # fmt: skip

    def found(conflict: Conflict) -> bool:
        record = recorded(nest, 0, conflict.sizes or {})
        return any(shown(nest, record, LoopReport(3, "i", "sequential", conflict)))

    assert found(right)
    assert not any(found(dataclasses.replace(right, **change)) for change in wrong)


@pytest.mark.parametrize("nest", NESTS, ids=lambda nest: nest.name)
def test_dependences_have_an_example(nest: Nest) -> None:
    if nest.name in BEYOND:
        return
    dependent = {loop.line for loop in nest.loops if loop.dependent and loop.variables}
    for line, report in reports(nest).items():
        if line in dependent and report.kind not in ("parallel", "reduction"):
            assert report.conflict is not None and report.conflict.sizes is not None, f"{report}: no example"


POSITIONS = {"position_of_the_largest", "last_position_of_the_smallest"}
"""Reductions to a position: of equal elements the first or the last, so that they get elements that differ."""


def drawn(nest: Nest, seed: int, sizes: Sizes) -> tuple[Any, ...]:
    if nest.name not in POSITIONS:
        return nest.inputs(seed, sizes)
    rng = np.random.default_rng(seed)
    return tuple(rng.permutation(a.size).astype(a.dtype) for a in nest.inputs(seed, sizes))


def close(got: Any, wanted: Any) -> bool:
    """Equal but for the rounding of floats."""
    if isinstance(wanted, tuple):
        return len(got) == len(wanted) and all(close(g, w) for g, w in zip(got, wanted, strict=True))
    if wanted is None or isinstance(wanted, str):
        return bool(got == wanted)
    exact = np.asarray(wanted).dtype.kind in "biu"
    return np.array_equal(got, wanted) if exact else np.allclose(got, wanted, 1e-12, 1e-12, equal_nan=True)


@pytest.mark.parametrize("nest", NESTS, ids=lambda nest: nest.name)
def test_parallel_loops_and_reductions_run_in_any_order(nest: Nest) -> None:
    for line, report in reports(nest).items():
        if report.kind not in ("parallel", "reduction"):
            continue
        running = report.kind == "reduction"
        for sizes in nest.shapes:
            for seed in range(4):
                wanted = outcome(nest.function, drawn(nest, seed, sizes))
                got = outcome(reordered(nest, line, seed, running), drawn(nest, seed, sizes))
                alike = close if running else same  # floats are rounded in another order
                assert alike(got[:2], wanted[:2]) and got[2] == wanted[2], f"{report}: {sizes}: {got}, not {wanted}"
