"""What is stored through `ravel` and `reshape` of computed arrays shows where it does in NumPy, or is refused.

NumPy has a computed array in the order of what it was computed of: in another than C, `ravel` copies.
"""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import transkern
from tests.tools import require

require("cc")

MADE = (
    "np.maximum.accumulate(a, axis=1)", "np.maximum.accumulate(a, axis=0)", "np.cumsum(a, axis=0)",
    "np.cumsum(a, axis=1)", "np.cumprod(a, axis=0)", "np.logical_or.accumulate(a, axis=0)",
    "np.hypot.accumulate(a + 1.5, axis=0)", "np.cumsum(a * 1j, axis=0).real", "np.cumsum(np.sin(a), axis=1)",
    "np.cumsum(a[::-1].T, axis=1)", "np.sort(a, axis=0)", "np.sort(a, axis=1)", "np.partition(a, 2, axis=0)",
    "np.argsort(a, axis=0)", "np.diff(a, axis=0)", "np.round(a)", "np.clip(a, 0, 1)", "np.where(a > 1, a, 2 * a)",
    "np.roll(a, 1, 0)", "np.take(a, [1, 0, 2], axis=0)", "np.delete(a, 1, 0)", "np.pad(a, 1)", "np.gradient(a)[0]",
    "np.concatenate((a, a))", "np.stack((a, a))", "np.triu(a)", "np.real(a * 1j)", "a[None].max(axis=0)", "a[[0, 1]]",
    "a[:, [0, 1]]", "a[:, i]", "np.copy(a)", "a.copy()", "a.astype(int)", "np.zeros_like(a)", "np.ones_like(a) + 1",
    "np.full_like(a, 2.0)", "np.piecewise(a, [a > 1], [2.0, 3.0])", "np.zeros(a.shape)", "a @ a.T", "np.rint(a)",
    "np.nonzero(a > 0)[1]", "(a > 0).nonzero()[0]", "np.argwhere(a > 0)[:, 1]", "np.flatnonzero(a > 0)",
)  # fmt: skip
SURELY_NOT_IN_ORDER = ("np.real(a * 1j)", "np.cumsum(a * 1j, axis=0).real", "a[:, [0, 1]]", "a[:, i]",
                        "np.nonzero(a > 0)[1]", "(a > 0).nonzero()[0]")  # fmt: skip
LAYOUTS = {
    "C": lambda a: a,
    "Fortran": np.asfortranarray,
    "turned": lambda a: a.T.copy().T,
    "steps": lambda a: a[::2, ::2],
    "reversed": lambda a: a[::-1],
}


@pytest.mark.parametrize("through", ["np.ravel(b)", "b.reshape(-1)"])
@pytest.mark.parametrize("made", MADE)
def test_stores_show_as_in_numpy(made: str, through: str, tmp_path: Path) -> None:
    path = tmp_path / "example.py"
    path.write_text(
        f"import numpy as np\n\n\ndef f(a, i):\n    b = {made}\n    line = {through}\n    line[:] = 1\n"
        "    return b, line\n"
    )
    names: dict[str, Any] = {}
    exec(compile(path.read_text(), str(path), "exec"), names)
    compiled = transkern.compile(names["f"], target="cpu")
    a, refused = np.random.default_rng(0).standard_normal((6, 8)), 0
    for layout in LAYOUTS.values():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            wanted = names["f"](layout(a), np.array([2, 0]))
        try:
            found = compiled(layout(a), np.array([2, 0]))
        except transkern.CompileError as error:
            assert "depends on the strides" in str(error), error
            refused += 1
        else:
            for one, other in zip(found, wanted, strict=True):
                np.testing.assert_allclose(one, other)
    assert refused <= 4 or made in SURELY_NOT_IN_ORDER
