"""Short rows of known length are sorted by networks of exchanges: NumPy's order for all types, NaN last."""

from __future__ import annotations

from itertools import permutations, product

import numpy as np
import pytest

import transkern
from tests.tools import require
from transkern.fuse.sorts.networks import exchanges

require("cc")

WINDOWS = np.lib.stride_tricks.sliding_window_view


def test_networks_sort() -> None:
    """A network that sorts all rows of zeros and ones sorts all rows; long ones by many orders."""
    for count in range(2, 14):
        rows = np.array([*product([0, 1], repeat=count)])
        for low, high in exchanges(count):
            rows[:, [low, high]] = np.sort(rows[:, [low, high]], axis=1)
        assert (np.diff(rows, axis=1) >= 0).all()
    for count in range(14, 28):
        rows = np.random.default_rng(count).random((3000, count))
        for low, high in exchanges(count):
            rows[:, [low, high]] = np.sort(rows[:, [low, high]], axis=1)
        assert (np.diff(rows, axis=1) >= 0).all()


def stacked(x):
    rows = np.stack([x[:-3], x[1:-2], x[2:-1], x[3:]])
    whole = np.sort(rows, axis=0)
    return whole, np.sort(rows.T, axis=-1)[:, 1]


@pytest.mark.parametrize("dtype", ["float32", "uint64", "bool"])
def test_rows(dtype: str) -> None:
    special = [0.0, -0.0, 1.0, -2.0]
    if dtype.startswith("float"):
        special += [np.inf, -np.inf, np.nan, 5e-324]
    x = np.array([v for row in permutations(special, 4) for v in row])
    x = x.astype(dtype) if dtype.startswith(("float", "bool")) else x.astype("int64").astype(dtype)
    compiled = transkern.compile(stacked, target="cpu")
    for given in (x, x[::-1], x[::3], x[:4], x[:3]):
        for mine, theirs in zip(compiled(given), stacked(given), strict=True):
            assert mine.dtype == theirs.dtype
            np.testing.assert_array_equal(mine, theirs)
    assert "step_0" not in compiled.emit()


def filtered(image, x, k):
    h, w = image.shape
    stack = np.stack([image[i : h - 2 + i, j : w - 2 + j] for i in range(3) for j in range(3)], axis=-1)
    windows = WINDOWS(image, (3, 3)).reshape(h - 2, w - 2, 9)
    trimmed = np.sort(WINDOWS(x, 5), axis=-1)[:, 1:-1]
    return (
        np.median(stack, axis=-1), np.median(windows, axis=2), np.sort(WINDOWS(x, 4), axis=1)[:, k],
        trimmed.sum(axis=1),
    )  # fmt: skip


def in_place(rgb):
    channels = np.stack((rgb[0], rgb[1], rgb[2]), axis=-1)
    channels.sort(axis=-1)
    last = channels[..., 2] - channels[..., 0]
    rgb[0] = 0
    return channels, last, rgb


def test_windows() -> None:
    rng = np.random.default_rng(0)
    image = rng.normal(size=(17, 23))
    image[3, 5:9] = image[10:, 20] = np.nan
    compiled = transkern.compile(filtered, target="cpu")
    for given in (image, image[:3, :5], image.T):
        for mine, theirs in zip(compiled(given, given[0], 2), filtered(given, given[0], 2), strict=True):
            np.testing.assert_allclose(mine, theirs, rtol=1e-15)
    with pytest.raises(ValueError, match="window shape"):
        compiled(image[:2], image[0], 2)


def test_in_place() -> None:
    images = np.random.default_rng(0).integers(0, 9, (3, 5, 4))
    wanted = in_place(images.copy())
    for mine, theirs in zip(transkern.compile(in_place, target="cpu")(images), wanted, strict=True):
        np.testing.assert_array_equal(mine, theirs)


def test_stable_sorts_are_the_library_s() -> None:
    def signs(x):
        return np.signbit(np.sort(np.stack([x, -x]), axis=0, kind="stable"))

    x = np.zeros(5)
    np.testing.assert_array_equal(transkern.compile(signs, target="cpu")(x), signs(x))
