"""Objects in lists that a loop reads further up than it makes them; loops over a few arrays whose bodies are long."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from tests.regressions.support import alike
from tests.tools import on_target


class Spot:
    def __init__(self, x: Any) -> None:
        self.x = x
        self.age = 0


@dataclass
class Track:
    number: int
    x: float
    y: float
    vx: float = 0.0
    missed: int = 0


def read_first(x: Any) -> Any:
    spots: Any = []
    total = 0.0
    for v in x:
        for spot in spots:
            total += spot.x
        spots.append(Spot(v))
    return total


def changed_first(x: Any) -> Any:
    spots: Any = []
    for v in x:
        for spot in spots:
            spot.age += 1
        spots = [spot for spot in spots if spot.age < 3]
        if v > 0:
            spots.append(Spot(v))
    return [(spot.x, spot.age) for spot in spots]


def bound_anew(x: Any) -> Any:
    spots: Any = []
    total = 0.0
    for v in x:
        alive = []
        for spot in spots:
            total += spot.x
            if spot.x > 0:
                alive.append(spot)
        alive.append(Spot(v))
        spots = alive
    return total, len(spots)


def tracked(frames: Any, reach: float = 30.0) -> Any:
    tracks: Any = []
    finished = []
    made = 0
    for frame in frames:
        pairs = []
        for i, track in enumerate(tracks):
            for j in range(len(frame)):
                away = abs(track.x + track.vx - frame[j, 0]) + abs(track.y - frame[j, 1])
                if away < reach:
                    pairs.append((away, i, j))
        pairs.sort()
        taken, used = set(), set()
        for _, i, j in pairs:
            if i in taken or j in used:
                continue
            taken.add(i)
            used.add(j)
            tracks[i].vx = float(frame[j, 0]) - tracks[i].x
            tracks[i].x, tracks[i].y = float(frame[j, 0]), float(frame[j, 1])
            tracks[i].missed = 0
        alive = []
        for i, track in enumerate(tracks):
            if i not in taken:
                track.missed += 1
            if track.missed > 1:
                finished.append(track.number)
            else:
                alive.append(track)
        tracks = alive
        for j in range(len(frame)):
            if j not in used:
                tracks.append(Track(made, float(frame[j, 0]), float(frame[j, 1])))
                made += 1
    return finished, [(track.number, track.x, track.y) for track in tracks]


@pytest.mark.parametrize("target", ["cpu", "cuda"])
@pytest.mark.parametrize("function", [read_first, changed_first, bound_anew])
def test_read_before_made(function: Any, target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    on_target(target, monkeypatch)
    for values in ([1.0, -2.0, 3.5, 4.0, -1.0], [2.0], []):
        alike(function, np.array(values), target=target)


@pytest.mark.parametrize("count", [0, 1, 3, 6])
def test_few_frames(count: int) -> None:
    """A list of a few arrays, and the same as one array."""
    rng = np.random.default_rng(0)
    frames = [np.round(rng.uniform(0, 90, (4, 2)), 1) for _ in range(count)]
    alike(tracked, frames)
    alike(tracked, [f[: 1 + k % 4] for k, f in enumerate(frames)])  # of their own lengths
    if count:
        alike(tracked, np.stack(frames))


def test_frames_that_change() -> None:
    """What an iteration stores goes to the caller's arrays."""

    def marked(frames: Any) -> Any:
        found: Any = []
        for frame in frames:
            near = []
            for k in range(len(found)):
                for j in range(len(frame)):
                    if abs(found[k] - frame[j, 0]) < 20:
                        near.append((k, j))
            for k, j in near:
                frame[j, 1] = found[k]
                frame[j, 0] += k
            for j in range(len(frame)):
                if frame[j, 1] > 50:
                    found.append(frame[j, 0])
            found.sort()
        return found

    rng = np.random.default_rng(1)
    alike(marked, [np.round(rng.uniform(0, 90, (4, 2)), 1) for _ in range(7)])
