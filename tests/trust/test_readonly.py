"""Arrays that NumPy lets nobody store into: views that say so, of arrays that may be stored into, and arguments."""

from __future__ import annotations

import numpy as np
import pytest

import transkern
from tests.trust.against_python import difference, function, refused

X = np.arange(9.0).reshape(3, 3)
READONLY = (
    "np.broadcast_to(x, (2, 3, 3))",
    "np.broadcast_to(x, (2, 3, 3))[0]",
    "np.broadcast_to(x, (3, 3))",
    "np.broadcast_to(k, (3, 3))",
    "np.broadcast_to(x * 2, (2, 3, 3))[1]",
    "np.broadcast_to(x, (2, 3, 3)).T[0]",
    "np.broadcast_to(x, (2, 3, 3))[0].reshape(9)",
    "np.broadcast_to(x, (1, 3, 3)).ravel()",
    "np.split(np.broadcast_to(x, (3, 3)), 3)[0]",
    "np.asarray(np.broadcast_to(x, (3, 3)))",
    "np.broadcast_to(x, (3, 3)).astype(float, copy=False)",
    "np.broadcast_to(x, (3, 3)).view().real",
    "np.diagonal(x)",
    "x.diagonal(1)",
    "np.diag(x)",
    "np.diagonal(x + 1)",
    "np.lib.stride_tricks.sliding_window_view(x, 2, axis=0)[0]",
    "np.lib.stride_tricks.sliding_window_view(x * 2, 2, axis=0)",
)
WRITABLE = (
    "np.broadcast_to(x, (2, 3, 3)).copy()",
    "np.broadcast_to(x, (2, 3, 3)).astype(float)",
    "np.broadcast_to(x, (2, 3, 3)) + 0",
    "np.broadcast_to(x[0], (3, 3)).reshape(9)",
    "np.full((2, 3, 3), x)",
    "np.full((3, 3), np.broadcast_to(x, (3, 3)))",
    "np.einsum('ii->i', x)",
    "np.diagonal(x).copy()",
    "np.array(np.diag(x))",
    "np.diag(x[0])",
    "np.diag(x) * 1",
)
STORES = (
    "v[0] = 3",
    "v[...] = 3",
    "v[v > 0] = 3",
    "v[[0, 0]] = 3",
    "v += 1",
    "v[0] += 1",
    "v.fill(3)",
    "v.flat[0] = 3",
    "v.sort()",
    "np.copyto(v, 3)",
    "np.add(v, 1, out=v)",
    "for row in v:\n    row[...] = 1",
    "np.put(v, [0], 3)",
    "np.putmask(v, v > 0, 3)",
    "v.partition(0)",
    "np.random.default_rng(0).shuffle(v)",
    "v[0:1][...] = 3",
)


def views(v: str, store: str) -> str:
    return f"v = {v}\n{store}\nreturn v, x"


@pytest.mark.parametrize("v", (*READONLY, *WRITABLE))
@pytest.mark.parametrize("store", ("v[0] = 3", "v[0] += 1", "v.fill(3)", "v += 1"))
def test_stores(v: str, store: str) -> None:
    found = difference(views(v, store), "x, k", [X, 4.0], stage=0)
    assert not found, found


@pytest.mark.parametrize("store", STORES)
@pytest.mark.parametrize("v", ("np.broadcast_to(x, (2, 3, 3))", "np.broadcast_to(x, (3, 3))", "np.diagonal(x)"))
def test_every_store_says_why(v: str, store: str) -> None:
    found = difference(views(v, store), "x, k", [X, 4.0], stage=0)
    assert not found, found


@pytest.mark.parametrize("v", ("np.broadcast_to(x, (3, 3))", "np.diagonal(x)", "np.broadcast_to(k, (3,))"))
def test_the_function_goes_on_without_it(v: str) -> None:
    text = f"v = {v}\ntry:\n    v[0] = 3\nexcept ValueError:\n    x[0] = 7\nreturn x"
    assert not difference(text, "x, k", [X, 4.0], stage=0)


IN_PLACE = (
    "v.sort()",
    "v.partition(1)",
    "np.put(v, [0], 3)",
    "v.put([0], 3)",
    "v.flat[0] = 3",
    "np.place(v, v > 0, 3)",
    "np.putmask(v, v > 0, 3)",
    "np.fill_diagonal(v.reshape(1, -1), 3)",
    "np.random.shuffle(v)",
    "v.fill(2)",
    "np.copyto(v, 3)",
    "np.add(v, 1, v)",
    "v[0] = 3",
    "v += 1",
)


@pytest.mark.parametrize("store", IN_PLACE)
def test_arguments(store: str) -> None:
    f, x = function(f"{store}\nreturn v", "v"), np.ones(3)
    x.flags.writeable = False
    with pytest.raises(ValueError, match="read-only") as wanted:
        f(x)
    with pytest.raises(ValueError, match="read-only") as found:
        transkern.compile(f, target="cpu")(x)
    assert str(found.value) == str(wanted.value)


def test_what_numpy_writes_through_is_refused() -> None:
    """`ufunc.at` takes no notice of read-only views; `broadcast_arrays` gives views that warn."""
    assert refused("v = np.broadcast_to(k, (3,))\nnp.add.at(v, 0, 1)\nreturn v", "k", [4])
    assert refused("v = np.broadcast_to(x[0], (3, 3))\nnp.add.at(v, (0, 0), 1)\nreturn v", "x", [X])
    assert refused("v, w = np.broadcast_arrays(k, x)\nv[0] = 1\nreturn v", "x, k", [X, 4.0])
    assert refused("v, w = np.broadcast_arrays(x[0], x)\nv[0] = 1\nreturn v", "x", [X])


def test_arrays_do_not_change_their_size() -> None:
    """It was taken for `np.resize`, whose result nobody used."""
    assert refused("w = x * 2\nw.resize(4)\nreturn w", "x", [X])
    assert refused("x.resize(2, 2)\nreturn x", "x", [X])


@pytest.mark.parametrize("at", ("1.0", "[1.0, 0.0]", "np.uint64(1)", "t", "1 + 0j", "True", "[k, k]", "np.array(True)"))
def test_what_choose_takes_for_positions(at: str) -> None:
    for mode in ("", ", mode='wrap'"):
        found = difference(f"return np.choose({at}, [x, 2 * x]{mode})", "x, t, k", [np.array([1.0, 2.0]), 1.5, 1])
        assert not found, found
