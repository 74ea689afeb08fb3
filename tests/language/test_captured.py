"""Objects, mappings and arrays that a function finds outside: what it may do with them, and what is refused."""

# mypy: disable-error-code="no-untyped-def, no-untyped-call, type-arg"
# ruff: noqa: ANN001, ANN201, ANN202, ANN204
from __future__ import annotations

import copy
import types
from collections.abc import Mapping, MutableMapping
from typing import Any, NamedTuple

import numpy as np
import pytest

import transkern
from tests.regressions.support import alike
from tests.tools import on_target, require
from tests.trust.against_python import outcome
from transkern.errors import CompileError

require("cc")


class Scale:
    """A model with its parameters, as modules hold them."""

    offset = 2

    def __init__(self, factors):
        self.factors, self.table, self.calls = np.array(factors), {"u": 3.0}, 0

    def __call__(self, x):
        return self.applied(x) + self.table["u"]

    def applied(self, x):
        return x * self.factors + self.offset

    def __getitem__(self, k):
        return self.factors[k]

    def __len__(self):
        return self.factors.size

    def __iter__(self):
        yield from self.factors

    @property
    def largest(self):
        return self.factors.max()

    def counted(self, x):
        self.calls += 1
        return x


class Caseless(Mapping):
    def __init__(self, **items):
        self.held = items

    def __getitem__(self, key):
        return self.held[key.lower()]

    def __iter__(self):
        yield from self.held

    def __len__(self):
        return len(self.held)


class Changing(MutableMapping, Caseless):
    def __setitem__(self, key, value):
        self.held[key] = value

    def __delitem__(self, key):
        del self.held[key]


class Named(dict):
    def __getattr__(self, name):
        return self[name]


class Itself(dict):
    def __init__(self, **items):
        super().__init__(**items)
        self.__dict__ = self


class Weights(NamedTuple):
    near: float
    far: float


SCALE = Scale([1.0, 0.5, -2.0])
SPACES = Caseless(first=np.eye(3), second=np.array([1.0, 2, 3]), weights=Weights(0.5, 4.0))
LIMITS = types.MappingProxyType({"low": -1.0, "high": 1.0})
OPTIONS = types.SimpleNamespace(steps=3, start=np.ones(3))
CHANGING = Changing(a=1.0)
NAMED, ITSELF = Named(low=-0.5, steps=np.arange(3.0)), Itself(high=2.0)
TABLE = np.array([3.0, 1.0, 2.0])
HELD = {"table": TABLE}


def objects(x):
    total = SCALE(x) + SCALE.applied(x) * SCALE[1] - len(SCALE) + SCALE.largest
    return total, [f * x for f in SCALE], OPTIONS.start * OPTIONS.steps


def mappings(x):
    names = [name for name in SPACES]  # noqa: C416
    near = sum(SPACES["Weights"]) * x + SPACES.get("SECOND") + SPACES.get("third", 1.0)
    clipped = np.clip(x, LIMITS["low"], LIMITS["high"])
    known = "FIRST" in SPACES, "third" in SPACES, len(SPACES), bool(LIMITS), tuple(LIMITS), sorted(SPACES.keys())
    clipped = np.clip(clipped, NAMED.low, ITSELF.high) + NAMED["steps"] * len(ITSELF)
    return names, near, clipped, known, [value * 2 for value in LIMITS.values()], [k for k, v in SPACES.items()]


def missing(x):
    return x * SPACES["third"]


@pytest.mark.parametrize("target", ["cpu", "cuda", "pallas"])
def test_objects_and_mappings_from_outside(target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    on_target(target, monkeypatch)
    alike(objects, np.array([1.0, np.nan, -0.0]), target=target)
    alike(mappings, np.array([1.0, np.inf, -0.0]), target=target)


def test_a_key_that_a_mapping_has_not() -> None:
    alike(missing, np.ones(3))


def counts(x):
    return SCALE.counted(x)


def stores_item(x):
    CHANGING["b"] = 2.0
    return x


def adds(x):
    table = np.asarray(TABLE)
    table += x
    return table


def adds_to_held(x):
    table = HELD["table"]
    table *= x
    return table


def sorts(x):
    TABLE.sort()
    return TABLE + x


def fills(x):
    TABLE.fill(1)
    return TABLE + x


def stores(x):
    TABLE[0] = x[0]
    return TABLE + x


@pytest.mark.parametrize("function", [counts, stores_item, adds, adds_to_held, sorts, fills, stores])
def test_what_is_outside_changes(function: Any) -> None:
    """`assigning` changed a copy of an array from outside, `functions` sorted none; then all of it was refused."""
    held = (SCALE.__dict__, CHANGING, TABLE, HELD["table"])
    before = copy.deepcopy(held)
    wanted = outcome(function, np.ones(3)), repr(held)
    for now, then in zip(held, before, strict=True):
        if isinstance(now, np.ndarray):
            now[...] = then
        else:
            now.clear()
            now.update(then)
    assert (outcome(transkern.compile(function), np.ones(3)), repr(held)) == wanted


def low(x, options):
    return x * options.low


def test_dicts_of_the_users_as_arguments_are_refused() -> None:
    """`structures`: such an argument had its attributes only, so that `options.low` was an AttributeError."""
    for options in (Itself(low=2.0), NAMED):
        with pytest.raises(CompileError, match="cannot take part"):
            transkern.compile(low)(np.ones(3), options)
    alike(unused, np.ones(3), ITSELF)


def unused(x, options):
    return x * 2
