"""Arguments that are True or False, and decide what a function is made of: there is a code for each then."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import transkern
from tests.regressions.support import alike
from tests.tools import on_target, require


def levels(x, large=False):
    strides = [8, 16] if not large else [8, 16, 32]
    out = []
    for stride in strides:
        out.append(np.ones((2, stride)) * x)
    return np.concatenate(out, axis=1)


def branches(x, large):
    if large:
        sizes = (1, 2, 3)
    else:
        sizes = (4, 5)
    return tuple(np.full(k, x) for k in sizes)


def two_flags(x, a, b):
    shape = (2, 3) if a else (6,)
    return x.reshape(shape) if not b else x.reshape(shape).T


@pytest.mark.parametrize("target", ["cpu", "cuda", "pallas"])
@pytest.mark.parametrize("flag", [False, True])
def test_flags_decide_lengths_and_shapes(flag: bool, target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    on_target(target, monkeypatch)
    alike(levels, 2.0, flag, target=target)
    alike(branches, 2.0, flag, target=target)
    for other in (False, True):
        if flag:  # else two views, of which a copy is returned
            alike(two_flags, np.arange(6.0), flag, other, target=target)


def test_one_object_serves_both() -> None:
    require("cc")
    compiled = transkern.compile(levels)
    for flag in (True, False, True):
        assert np.array_equal(compiled(1.5, flag), levels(1.5, flag))
    assert len(compiled.cache_info().specialisations) == 2


def test_what_is_refused_either_way_has_its_first_message() -> None:
    def refused(x: Any, flag: bool) -> Any:
        y = [x] if flag else [x, x + 1]
        return open(y)

    compiled = transkern.compile(refused)
    said = []
    for _ in range(2):
        with pytest.raises(transkern.CompileError) as caught:
            compiled(1.0, True)
        said.append(str(caught.value))
    assert said[0] == said[1]


def test_flags_that_decide_nothing_have_one_code() -> None:
    require("cc")

    def scaled(x: Any, twice: bool) -> Any:
        return x * 2 if twice else x

    compiled = transkern.compile(scaled)
    for flag in (True, False):
        assert compiled(3.0, flag) == scaled(3.0, flag)
    assert len(compiled.cache_info().specialisations) == 1
