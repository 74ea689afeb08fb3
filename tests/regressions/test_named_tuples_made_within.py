"""Classes of named tuples that are made in the function itself."""

from __future__ import annotations

import collections
from collections import namedtuple
from typing import Any

import numpy as np
import pytest

import transkern
from tests.regressions.support import alike


def test_states_of_a_filter() -> None:
    def filtered(zs: Any, q: Any) -> Any:
        State = namedtuple("State", "mean var")
        s = State(0.0, 1000.0)
        means = []
        for z in zs:
            k = (s.var + q) / (s.var + q + 1.0)
            s = s._replace(mean=s.mean + k * (z - s.mean), var=(1 - k) * (s.var + q))
            means.append(s.mean)
        return means, s.var

    for zs in (np.array([1.0, 2.0, 3.0]), np.zeros(0)):
        alike(filtered, zs, 0.1)


def test_lists_of_names_and_defaults() -> None:
    def joined(n: Any) -> Any:
        Point = collections.namedtuple("Point", ["x", "y"], defaults=[7])
        Edge = namedtuple("Edge", ("a", "b"))
        points = [Point(k) for k in range(n)]
        edges = [Edge(p, Point(p.y, 2)) for p in points]
        return sum(e.a.x * e.b.x for e in edges), [tuple(p) for p in points], Point._fields

    alike(joined, 3)


def test_names_that_cannot_be() -> None:
    def twice(n: Any) -> Any:
        P = namedtuple("P", "x x")  # noqa: F841
        return n

    alike(twice, 3)


def test_no_result_is_of_such_a_class() -> None:
    def made(n: Any) -> Any:
        P = namedtuple("P", "x y")
        return P(n, 2.0)

    with pytest.raises(transkern.CompileError, match="a class made inside a function"):
        transkern.compile(made, target="cpu")(3)
