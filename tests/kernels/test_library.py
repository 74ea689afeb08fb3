"""Library steps take their operands as they lie in memory, and give the bits of NumPy's own call with these strides."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import transkern
from tests.regressions.support import alike
from tests.tools import require

require("cc")
ANY_SIZE = True  # what is asked is what libraries do

DTYPES = ("float64", "float32", "complex128", "complex64", "int64", "int8", "uint16", "bool")


def _c(a: Any) -> Any:
    return a.copy()


def _fortran(a: Any) -> Any:
    return np.array(a, order="F")


def _sliced(a: Any) -> Any:
    held = np.zeros(tuple(2 * d + 1 for d in a.shape), a.dtype)
    held[tuple(slice(1, None, 2) for _ in a.shape)] = a
    return held[tuple(slice(1, None, 2) for _ in a.shape)]


def _reversed(a: Any) -> Any:
    turned = tuple(slice(None, None, -1) for _ in a.shape)
    return a[turned].copy()[turned]


def _unaligned(a: Any) -> Any:
    raw = np.zeros(a.nbytes + 1, np.uint8)
    held: Any = np.ndarray(a.shape, a.dtype, raw, 1)  # type: ignore[call-overload]
    held[...] = a
    return held


def _readonly(a: Any) -> Any:
    held = a.copy()
    held.flags.writeable = False
    return held


LAYOUTS = (_c, _fortran, _sliced, _reversed, _unaligned, _readonly)


def _square(n: int, dtype: str) -> Any:
    rng = np.random.default_rng(n)
    made = 5 * rng.standard_normal((n, n))
    return (made + 3j * rng.standard_normal((n, n))).astype(dtype) if dtype.startswith("c") else made.astype(dtype)


def whole(a: Any, x: Any) -> Any:
    return (a @ x) @ a, a @ a, a.T @ x, a @ a.T, np.dot(a, x), np.inner(a, a), a.T @ a.T


def parts(a: Any, x: Any) -> Any:
    return a[::2, 1:].T @ x[::2], a[:, ::-1] @ x, a[1:-1] @ x[::-1], a[2:, 3] @ a[2:], a[1::3] @ a[:, 2:]


def repeated(a: Any, x: Any) -> Any:
    return np.broadcast_to(x, (3, x.shape[0])) @ a


def reshaped(a: Any, x: Any) -> Any:
    return a.reshape(-1)[: x.shape[0] * 4].reshape(4, -1) @ a


def read_twice(a: Any, x: Any) -> Any:
    before = a[1:] @ x
    a[1:] = a[:-1] @ a
    return before, a[1:] @ x, a


def in_a_loop(a: Any, x: Any) -> Any:
    found = []
    for i in range(1, a.shape[0] - 1):
        found.append((a[i : i + 2] @ x)[0])
        x[i] = 0
    return found, x


def at_places_in_arrays(a: Any, x: Any) -> Any:
    at = np.array([1, 4])
    return a[at[0] : at[1]] @ x, np.sort(a[:, at[1]])


def ordered(a: Any, x: Any) -> Any:
    return np.sort(a.T), np.sort(a[:, ::-1], axis=0), np.argsort(a[1:].T, kind="stable"), np.searchsorted(np.sort(x), a)


def filtered(a: Any, x: Any) -> Any:
    kept = x[x != 0]
    return np.sort(kept), kept[1:][None, :] @ kept[1:], np.argsort(kept[::-1], kind="stable")


FUNCTIONS = (whole, parts, repeated, reshaped, read_twice, in_a_loop, at_places_in_arrays, ordered, filtered)


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_strides_and_dtypes(function: Callable[..., Any]) -> None:
    compiled = transkern.compile(function, target="cpu")
    own = FUNCTIONS.index(function) % 3  # each specialisation is compiled: each function has a third of the types
    for dtype in DTYPES[own::3]:
        a = _square(7, dtype)
        for layout in LAYOUTS if dtype in ("float64", "float32", "complex128") else (_c, _reversed):
            if function in (read_twice, in_a_loop) and layout is _readonly:
                continue
            wanted = function(layout(a), layout(a[2]))
            found = compiled(layout(a), layout(a[2]))
            for mine, theirs in zip(found, wanted, strict=True):
                _check_equal(mine, theirs, f"{dtype} {layout.__name__}")


def _check_equal(mine: Any, theirs: Any, what: str) -> None:
    if isinstance(theirs, (list, tuple)):
        assert len(mine) == len(theirs), what
        for one, two in zip(mine, theirs, strict=True):
            _check_equal(one, two, what)
        return
    one, two = np.asarray(mine), np.asarray(theirs)
    assert (one.dtype, one.shape) == (two.dtype, two.shape), what
    if one.ndim or one.dtype.kind not in "fc":
        assert one.tobytes() == two.tobytes(), what
    else:  # of two vectors: sums of ours
        assert np.allclose(one, two, rtol=1e-5), what


def test_shapes_without_elements_and_of_one() -> None:
    for m, n in ((0, 3), (3, 0), (1, 1), (1, 4), (4, 1)):
        a = np.arange(float(m * n)).reshape(m, n)
        alike(lambda a: (a @ a.T, a[:, ::-1] @ a.T, np.sort(a.T), np.fft.fft(a.T) if a.size else 0), a)
        alike(lambda a: (a[1:] @ a.T, a[1:].T @ a[1:]), a)


def solved(a: Any, b: Any) -> Any:
    return np.linalg.solve(a.T, b[::2]), np.linalg.inv(a[::-1]), np.linalg.det(a.T), np.linalg.qr(a[:, 1:])[1]


def transformed(a: Any, b: Any) -> Any:
    last = np.fft.irfft(a[1:].T), np.fft.ifft(b[::2])
    return np.fft.fft(a.T), np.fft.rfft(a.real[::2]), np.fft.fft2(a[:, ::-1]), last


@pytest.mark.parametrize("function", [solved, transformed])
def test_decompositions_and_transforms(function: Callable[..., Any]) -> None:
    for dtype, layouts in (("float64", LAYOUTS), ("float32", (_c, _reversed)), ("complex128", (_fortran,))):
        for layout in layouts:
            a = layout(_square(6, dtype) + 9 * np.eye(6, dtype=dtype))
            alike(function, a, layout(_square(12, dtype)[0]))


def test_operands_that_share_memory() -> None:
    held = np.arange(64.0).reshape(8, 8)

    def shared(a: Any, b: Any) -> Any:
        b[0] = 1.0
        made = a @ b.T
        a[:, :2] = (a @ b)[:, :2]
        return made, a[::2] @ b[:, 1]

    copies = [held.copy(), held.copy()]
    wanted = shared(copies[0][:6, :6], copies[0][2:, 2:].T)
    found = transkern.compile(shared, target="cpu")(copies[1][:6, :6], copies[1][2:, 2:].T)
    for mine, theirs in zip(found, wanted, strict=True):
        assert mine.tobytes() == theirs.tobytes()
    assert copies[0].tobytes() == copies[1].tobytes()


def test_nothing_is_copied() -> None:
    def chained(a: Any, x: Any) -> Any:
        return (a[1:, ::-1] @ x[::-1]) @ a[1:].T.T, np.linalg.solve(a.T, x), np.sort(a[:, 2])

    compiled = transkern.compile(chained, target="cpu")
    compiled(_square(5, "float64"), _square(5, "float64")[0])
    assert compiled.kernels == 0
    assert set(compiled.temporaries) <= {"product"}  # of the product in the middle
