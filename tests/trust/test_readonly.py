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
    "np.fromiter(x[0], float)",
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


WRITES = (
    "v += y",
    "v[:] += y",
    "v[1] += y",
    "v[7] += y",
    "v[v > 0] += y",
    "v[[0, 1]] **= y",
    "v -= (y, y)",
    "v @= y",
    "v[:] = y",
    "v[0] = y",
    "v.flat = y",
    "v.flat[:] = y",
    "v.fill(y)",
    "v.partition(y)",
    "np.copyto(v, y)",
    "np.add(v, y, out=v)",
    "np.add(y, v, v)",
    "np.exp(y, out=v)",
    "np.multiply(v, v, out=v, where=y)",
    "np.modf(y, out=(v, None))",
    "np.clip(v, 0, y, out=v)",
    "np.clip(y, 0, 1, out=v)",
    "np.sum(v, axis=7, out=v)",
    "np.mean(y, axis=0, out=v)",
    "np.max(v, axis=7, out=v)",
    "np.any(np.array([v]), axis=1, out=v)",
    "np.std(v, axis=7, out=v)",
    "np.ptp(v, axis=7, out=v)",
    "np.cumsum(y, out=v)",
    "np.add.reduce(v, axis=7, out=v)",
    "np.add.accumulate(y, out=v)",
    "np.matmul(y, x, out=v)",
    "np.outer(y, y, out=v)",
)
OPERANDS = (
    "9", "1j", "2 ** 70", "None", "[1, 2]", "[[1], [2, 3]]", "(x, x[:2])", "x[0] * 1j", "x[:2, :2]", "(x[0, :2],)",
    "[]", "-2 ** 63", "[[1, 2, 3], [4, 5, 6]]", "np.zeros(0)",
)  # fmt: skip


@pytest.mark.parametrize("write", WRITES)
@pytest.mark.parametrize("v", ("np.diagonal(x)", "np.diagonal(x.astype(int))"))
def test_which_of_several_errors_comes_first(write: str, v: str) -> None:
    """Operands become arrays, then NumPy looks whether it may write, then at types and shapes; of reductions it looks
    whether it may write first. All that came in other orders."""
    refusals = 0
    for y in OPERANDS:
        found = difference(f"v, y = {v}, {y}\n{write}\nreturn v, x", "x", [X], stage=0)
        assert not found, (y, found)
        refusals += refused(f"v, y = {v}, {y}\n{write}\nreturn v, x", "x", [X])
    assert refusals < len(OPERANDS)


def test_positions_and_operands_before_the_target() -> None:
    """Of `ufunc.at`; a list as its operand was an inner error where it came as an argument."""
    for y in ("[[1], [2, 3]]", "1", "2.5"):
        assert not difference(f"v = np.diagonal(x)\nnp.add.at(v, [9], {y})\nreturn v", "x", [X], stage=0)
    f = function("np.add.at(v, [0, 2], y)\nreturn v", "v, y")
    assert transkern.compile(f, target="cpu")(np.zeros(3), [1, 2]).tolist() == [1.0, 0.0, 2.0]


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


VIEWS = (
    "x[None]",
    "x[...]",
    "x.reshape(-1)",
    "np.atleast_1d(x)",
    "np.atleast_2d(x)",
    "np.atleast_3d(x)",
    "np.expand_dims(x, 0)",
    "x.ravel()",
    "x.view()",
    "np.asarray(x)",
    "np.ascontiguousarray(x)",
    "np.asfortranarray(x)",
    "np.array(x, order='F')",
    "np.asarray(x, None, 'F')",
    "np.asarray(x, copy=True)",
    "np.asfortranarray(x.T)",
    "np.broadcast_to(x, (2, *x.shape))",
    "np.diagonal(x)",
    "x.diagonal()",
    "np.diag(x)",
    "np.lib.stride_tricks.sliding_window_view(x, 1, 0)",
    "np.meshgrid(x, x, copy=False)[0]",
    "x.real",
    "np.meshgrid(x, x, copy=False, sparse=True)[1]",
    "np.require(x, requirements='C')",
    "np.array(x, copy=False)",
    "x[0:0]",
)


@pytest.mark.parametrize("shape", ((), (1,), (3,), (0,), (2, 3), (1, 1), (2, 3, 4)))
@pytest.mark.parametrize("view", VIEWS)
def test_what_is_a_view_of_an_argument(view: str, shape: tuple[int, ...]) -> None:
    """Results share memory with the arguments where NumPy's do, and can be stored into where those can."""
    f, x = function(f"return {view}", "x"), np.ones(shape)
    compiled = transkern.compile(f, target="cpu")
    try:
        wanted = f(x)
    except (ValueError, IndexError, np.exceptions.AxisError) as error:
        with pytest.raises((type(error), transkern.CompileError)):
            compiled(x)
        return
    try:
        found = compiled(x)
    except transkern.CompileError:
        assert "meshgrid" in view and len(shape) > 1
        return
    assert found.shape == wanted.shape and found.flags.writeable == wanted.flags.writeable
    assert np.shares_memory(found, x) == np.shares_memory(wanted, x)


def test_arrays_that_are_not_in_the_order_asked_for() -> None:
    """`np.asfortranarray(x)` was `x` itself, in whichever order that was."""
    for text in (
        "v = np.asfortranarray(x)\nv[0] = 7\nreturn v, x",
        "v = np.asarray(x, order='F')\nv += 1\nreturn v, x",
    ):
        assert not difference(text, "x", [X[:, :2].copy()], stage=0)
    turned = np.asfortranarray(X)
    assert not difference("return np.asfortranarray(x) * 2", "x", [turned], stage=0)
    assert not difference("return np.asfortranarray(x + 1)[0]", "x", [turned], stage=0)


OF_NONE = (
    "y = np.zeros(())\nif k > 0:\n    y = np.array(x[0] * 2)\nreturn y",
    "return np.zeros(()) if k > 0 else np.array(x.sum())",
    "y = np.zeros(()) if k > 0 else np.array(x[0])\nreturn y",
    "return np.resize(x, ())",
    "return np.resize(x, (k, 2))",
)


@pytest.mark.parametrize("text", OF_NONE)
def test_arrays_without_axes_stay_arrays(text: str) -> None:
    for k in (0, 1):
        assert not difference(text, "x, k", [np.array([2.0, 3.0]), k], stage=0)


RAISED = (
    "raise KeyError('')",
    "raise ValueError('')",
    "raise KeyError()",
    "x = d['']",
    "x = {'a': x}['']",
    "raise KeyError(' ')",
)


@pytest.mark.parametrize("text", RAISED)
def test_exceptions_with_an_empty_text(text: str) -> None:
    assert not difference(f"{text}\nreturn x", "x, d", [1.0, {"a": 1.0}], stage=0)
    caught = f"try:\n    {text}\nexcept (KeyError, ValueError) as e:\n    x = len(str(e))\nreturn x"
    assert not difference(caught, "x, d", [1.0, {}])


TABLE = np.arange(3)


def raised_with_a_table(x: float) -> int:
    try:
        if x > 0:
            raise ValueError(TABLE)
        return 1
    except ValueError:
        return 2


def test_an_array_is_no_empty_text() -> None:
    compiled = transkern.compile(raised_with_a_table, target="cpu")
    assert [compiled(x) for x in (1.0, -1.0)] == [2, 1]
