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
from tests.fuzz.stages import function_of
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


def test_lines_of_diagonals() -> None:
    """A diagonal of the first two of three axes is longer apart than the third: what is computed of it lies so."""

    def changed(x: Any) -> Any:
        y = x + 1
        v = y.diagonal() * 2
        w = v.reshape(-1)
        w[1:] = 7
        u = np.diagonal(x, axis1=1, axis2=2) + 1
        t = u.reshape(-1)
        t[1:] = 7
        return v, w, u, t

    for shape in ((2, 3, 4), (3, 3, 3), (4, 3, 2), (1, 3, 4), (3, 1, 2), (2, 2, 1)):
        x = np.arange(float(np.prod(shape))).reshape(shape)
        for found, expected in zip(transkern.compile(changed)(x.copy()), changed(x.copy()), strict=True):
            np.testing.assert_array_equal(found, expected, str(shape))


TURNED = (
    "np.ascontiguousarray(np.diag(x).T)", "np.ascontiguousarray((x[None] * x[:, None]).T)", "np.diag(x).T + 1",
    "np.asarray(np.diag(x).T, order='C')", "np.require(np.diag(x).T, requirements='C')", "np.diag(x).T.copy()",
    "np.asfortranarray(np.diag(x))", "np.array(np.diag(x).T)", "np.copy(np.diag(x).T)", "np.diag(x).T.astype(float)",
    "np.where(np.diag(x).T > 1, 1.0, 2.0)", "(x[None] * x[:, None]).T + 1", "(x[None] * x[:, None])[::-1] + 1",
    "np.stack([x, x, x]).T * 2", "np.array([x, x + 1]).T - x.mean()", "(np.diag(x).T + 1) * np.diag(x)",
    "np.swapaxes(x[None, None] * x[:, None, None], 0, 1) + 1", "(np.diag(x).T + 1) * x[0]", "np.diag(x).T * x + 1",
    "(np.diag(x) + np.diag(x).T) * 2", "np.moveaxis(np.diag(x)[None] + x[:, None, None], 0, 2) * 2",
    "np.stack([x, x]).T[::-1] + np.full((3, 2), x[0])", "-((x[None] * x[:, None])[1:].T)[:, 1:]",
)  # fmt: skip


@pytest.mark.parametrize("made", TURNED)
def test_what_is_computed_of_turned_arrays(made: str) -> None:
    """It lies as they do, where the arrays that they show have never been in memory, either; whether a line of it is a
    view shows when that is stored into."""
    function = function_of(
        f"import numpy as np\n\n\ndef f(x):\n    v = {made}\n    w = v.reshape(-1)\n    w[1:] = 7\n"
        "    u = v.T.ravel()\n    u[:2] = 8\n    return v, w, u\n"
    )
    for x in (np.arange(3.0), np.array([2.0, -1, 5])):
        for found, expected in zip(transkern.compile(function)(x.copy()), function(x.copy()), strict=True):
            np.testing.assert_array_equal(found, expected)


WRITABLE = (
    "np.imag(x).copy()", "np.imag(x).flatten()", "np.imag(x) + 1", "np.array(np.imag(x))", "np.imag(x)[[0, 1]]",
    "np.broadcast_to(x[0] + 1, (2, 3)).copy()", "np.diagonal(x + 1).copy()",
    "np.broadcast_to(x[0], (2, 3)).reshape(-1)",
)  # fmt: skip


@pytest.mark.parametrize("made", WRITABLE)
def test_copies_of_what_nobody_may_write_may_be_written(made: str) -> None:
    function = function_of(f"import numpy as np\n\n\ndef f(x):\n    v = {made}\n    v[...] = 5\n    return v\n")
    x = np.arange(6.0).reshape(2, 3)
    np.testing.assert_array_equal(transkern.compile(function)(x.copy()), function(x.copy()), strict=True)
