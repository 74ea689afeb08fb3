"""Loops over a few values with a long body: it is there once, where an iteration need not know which value it has."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest

import transkern
from transkern import pipeline
from transkern.ir.traverse import walk


def paths(start: int, steps: int) -> Any:
    moves = [[1, 0, 1], [0, 1, 1], [-1, 0, 1], [0, -1, 1], [1, 1, 1.5], [-1, -1, 1.5]]
    cost = {(start, start): 0.0}
    before = {(start, start): (start, start)}
    todo = [(start, start)]
    for _ in range(steps):
        x, y = todo.pop(0)
        for i, _move in enumerate(moves):
            there = (x + moves[i][0], y + moves[i][1])
            if there in cost and cost[there] <= cost[x, y] + moves[i][2]:
                continue
            if there not in before:
                todo.append(there)
            cost[there] = cost[x, y] + moves[i][2]
            before[there] = (x, y)
    return cost, before, todo


def changed(start: int, steps: int) -> Any:
    moves = [[1, 0], [0, 1], [-1, 0], [0, -1]]
    seen = {(start, start): 0}
    for x, y in moves:
        moves[3][0] = 7
        if (x, y + steps) not in seen:
            seen[x, y + steps] = len(seen)
        seen[x + steps, y] = 2
        seen[y, x + steps] = 3
    return seen, moves


@pytest.mark.parametrize("function", [paths, changed])
def test_results_are_pythons(function: Any) -> None:
    for args in ((0, 1), (3, 9)):
        assert transkern.compile(function, target="cpu")(*copy.deepcopy(args)) == function(*args)


def test_the_body_is_there_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    lengths = []
    run = pipeline.run

    def counted(program: Any, *args: Any) -> Any:
        lengths.append(sum(1 for _ in walk(program.body)))
        return run(program, *args)

    monkeypatch.setattr(pipeline, "run", counted)
    monkeypatch.setenv("TRANSKERN_CACHE_DIR", str(tmp_path))  # nothing is compiled yet
    transkern.compile(paths, target="cpu")(0, 1)
    assert lengths[-1] < 2500, "six times would be more than 4000 statements"
