"""Of an object those attributes take part that the function uses (`runtime/calls/uses.py`)."""

from __future__ import annotations

import copy
import functools
import threading
from typing import Any

import numpy as np
import pytest

import transkern
from tests.tools import require

require("cc")


class Tracker:
    scale = 2.0

    def __init__(self, n: int) -> None:
        self.x, self.v = np.arange(float(n)), np.ones(n)
        self.view = self.x[::2]
        self.__limit = 3.0
        self.count = 0
        self.lock, self.name, self.log = threading.Lock(), "tracker", print
        self.history = [(np.zeros(2), np.ones(3), "seen") for _ in range(700)]
        self.settings = {"deep": {"of": [1, 2, {"c": np.ones(3)}]}, 3: self}

    def step(self, dt: float) -> Any:
        self.x += self.v * dt
        for i in range(len(self.v)):
            self.v[i] -= self.x[i] * dt * self.scale
        self.count += 1
        return self.x.sum()

    @property
    def total(self) -> Any:
        return self.x.sum() + self.__limit

    @functools.cached_property
    def weight(self) -> Any:
        return self.v.sum()

    def private(self, z: float) -> Any:
        return min(self.__limit, z) * self.total

    def chain(self, z: float) -> Any:
        if hasattr(self, "missing"):
            return -1.0
        self.added = self.private(z) + helped(z, self)
        return self.added + getattr(self, "count", 0)

    def asked(self, z: float) -> Any:
        return self.x.sum() if isinstance(self, Tracker) and self.x[0] < z else 0.0

    def nested(self, z: float) -> Any:
        def inside(k: int) -> Any:
            return self.x[k] * z

        return sum([inside(k) for k in range(len(self.x))]) + self.scale

    def marked(self, z: float) -> Any:
        """Two attributes of which one comes later."""
        self.mark = self.x[0] + z
        self.count += 1
        return self.mark


def helped(z: float, one: Tracker) -> Any:
    return one.v.sum() * z


class Wide(Tracker):
    def step(self, dt: float) -> Any:
        return super().step(dt) * 2


class Told(Tracker):
    def __getattr__(self, name: str) -> Any:
        return 5.0 if name == "bonus" else self.__getattribute__(name)

    def private(self, z: float) -> Any:
        return self.bonus * z


def state(one: Tracker) -> dict[str, Any]:
    left = {"lock", "log", "history", "settings"}
    return {k: np.array(v).tolist() for k, v in vars(one).items() if k not in left}


@pytest.mark.parametrize("method, used", [
    ("step", {"x", "v", "count"}), ("private", {"_Tracker__limit", "x"}),
    ("chain", {"x", "v", "count", "_Tracker__limit"}), ("asked", {"x"}), ("nested", {"x"}), ("marked", {"x", "count"}),
])  # fmt: skip
def test_what_is_used_takes_part(method: str, used: set[str]) -> None:
    function = getattr(Tracker, method)
    compiled = transkern.compile(function, target="cpu")
    mine, its = Tracker(5), Tracker(5)
    for call in range(4):
        want = function(mine, 0.25)
        got = compiled(its, 0.25)
        np.testing.assert_array_equal(got, want)
        assert state(mine) == state(its), call
    assert its.view.base is its.x and its.history[0][2] == "seen"
    for kind in compiled.cache_info().specialisations:
        names = kind.partition("Tracker(")[2].partition(")")[0]
        assert {part.partition("=")[0] for part in names.split(", ") if "=" in part} <= used | {"added", "mark"}


def test_a_method_that_is_another_one_now(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled = transkern.compile(Tracker.chain, target="cpu")
    assert compiled(Tracker(3), 1.0) == Tracker(3).chain(1.0)
    monkeypatch.setattr(Tracker, "private", lambda self, z: self.view.sum() - z)
    with pytest.raises(transkern.CompileError):
        compiled(Tracker(3), 1.0)  # all attributes count where there is no definition to be read

    def private(self: Any, z: float) -> Any:
        return self.view.sum() - z

    monkeypatch.setattr(Tracker, "private", private)
    assert compiled(Tracker(3), 1.0) == Tracker(3).chain(1.0)


def test_where_the_text_does_not_tell_all_count() -> None:
    def copied(one: Any) -> Any:
        return copy.copy(one).x.sum()

    for function, one in ((Wide.step, Wide(3)), (copied, Tracker(3)), (Told.private, Told(3))):
        with pytest.raises(transkern.CompileError):
            transkern.compile(function, target="cpu")(one, *(0.5,) * (function is not copied))
