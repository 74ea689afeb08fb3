"""What the tests of loops share."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

import transkern


def check_bits(source: str, folder: Path, sizes: Iterable[int]) -> None:
    """Results and arguments of the function `f` of ``x, t: float64[size]`` in `source` are Python's to the bit."""
    path = folder / "steps.py"
    path.write_text(source)
    space: dict[str, Any] = {}
    exec(compile(path.read_text(), str(path), "exec"), space)
    compiled = transkern.compile(space["f"], target="cpu")
    for size in sizes:
        rng = np.random.default_rng(size)
        t = rng.choice([0.5, -0.25, 1.0, -0.0, 5e-324, 0.125], size=size)
        x = rng.standard_normal(size)
        for special in (None, np.nan, np.inf, -0.0):
            mine = x.copy()
            mine[size // 2] = x[size // 2] if special is None else special
            theirs = mine.copy()
            with np.errstate(all="ignore"):
                got, expected = compiled(mine, t), space["f"](theirs, t)
            for a, b in zip((*got, mine), (*expected, theirs), strict=True):
                assert np.asarray(a).tobytes() == np.asarray(b).tobytes()
