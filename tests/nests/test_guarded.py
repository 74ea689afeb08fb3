"""Generated functions over arrays of unrelated lengths: only conditions keep their subscripts within the arrays."""

from __future__ import annotations

import numpy as np
import pytest

import transkern
from tests.corpus.sanitized import found_in
from tests.nests.guarded import SIZES, arguments, guarded
from tests.tools import on_target, require

FOUND = (34, 50)
"""Seeds of which a store ran ahead of its condition once, out of its array."""


@pytest.mark.parametrize("seed", [0, *FOUND])
@pytest.mark.parametrize("target", ["cpu", "cuda", "pallas"])
def test_results_are_pythons(seed: int, target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    function = guarded(seed)
    made = transkern.compile(function, target=on_target(target, monkeypatch))
    for sizes in SIZES:
        wanted, found = (f(*arguments(seed, sizes)) for f in (function, made))
        for one, other in zip(found, wanted, strict=True):
            np.testing.assert_array_equal(one, other, err_msg=f"{sizes}\n{function.__dict__['source']}")


def test_nothing_outside_is_touched() -> None:
    require("cc", "sanitizers")
    assert not found_in([f"guarded-{seed}" for seed in (3, *FOUND)])
