"""Which arrays share memory: NumPy gives what it computes the order of its operands, and reshapes without a copy where
the order in memory allows it. Ravelled arrays that are stored into show it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import transkern
from tests.tools import on_target


def reversed_and_stepped(x: Any, a: Any) -> Any:
    v = np.append(1, 2)[::-1]
    w = v.ravel()
    w[...] = 0
    p = (x + 1)[::-1]
    q = p.ravel()
    q[0] = 7
    p[1] = 3
    r = (x * 2)[::2]
    s = r.reshape(-1, 1)
    s[0] = 5
    t = s.ravel()
    t[0] = 8
    y = (x * 2)[::-1].reshape(2, -1)
    z = y.ravel()
    z[0] = 5
    return v, w, p, q, r, s, t, y, z


def turned(x: Any, a: Any) -> Any:
    v = a.T + 1
    w = v.ravel()
    w[0] = 7
    p = (a + 1).T
    q = p.reshape(-1)
    q[0] = 7
    r = a.T + a.T * 2
    s = r.T.reshape(-1)
    s[1] = 7
    t = a.T + a.reshape(a.T.shape)  # one in each order: C
    u = t.ravel()
    u[0] = 5
    y = a.T + x[:3][:, None]  # broadcast operands have no say
    z = y.T.ravel()
    z[0] = 5
    c = -a[::-1, ::-1]
    d = c.ravel()
    d[0] = 5
    e = (-a)[::-1, ::-1]
    f = e.ravel()
    f[0] = 6
    return v, w, p, q, r, s, t, u, y, z, c, d, e, f


def copies(x: Any, a: Any) -> Any:
    v = np.copy(a.T)
    w = v.T.ravel()
    w[0] = 5
    p = a.T.copy()
    q = p.ravel()
    q[0] = 5
    r = np.array(a.T)
    s = r.ravel()
    s[0] = 5
    t = a.T.astype(np.float32)
    u = t.ravel()
    u[0] = 5
    y = a.T.astype(a.dtype)
    z = y.T.ravel()
    z[0] = 5
    c = [a.T + 1]
    d = c[0].T.ravel()
    d[0] = 5
    e = np.where(a.T > 1, a.T, 2.0)
    f = e.T.reshape(-1)
    f[1] = 8
    return v, w, p, q, r, s, t, u, y, z, c[0], d, e, f


def parts(x: Any, a: Any) -> Any:
    v = np.flipud(a * 2)
    w = v.reshape(-1)
    w[0] = 5
    p = (a * 2)[:, 1]
    q = p.ravel()
    q[0] = 5
    r = (a * 2)[1]
    s = r.ravel()
    s[0] = 5
    t = (a * 2)[:, 1:]
    u = t.ravel()
    u[0] = 6
    y = np.swapaxes(a * 2, 0, 1)
    z = y.ravel()
    z[0] = 4
    return v, w, p, q, r, s, t, u, y, z


@pytest.mark.parametrize("target", ["cpu", "cuda", "pallas"])
@pytest.mark.parametrize("function", [reversed_and_stepped, turned, copies, parts], ids=lambda f: str(f.__name__))
def test_stores_show_where_numpy_shares_memory(
    function: Callable[..., Any], target: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    on_target(target, monkeypatch)
    x, a = np.arange(6.0), np.arange(6.0).reshape(2, 3)
    wanted = function(x.copy(), a.copy())
    found = transkern.compile(function, target=target, allow_float32=target == "pallas")(x.copy(), a.copy())
    for k, (mine, theirs) in enumerate(zip(found, wanted, strict=True)):
        assert mine.shape == theirs.shape, k
        np.testing.assert_array_equal(mine, theirs, err_msg=f"result {k}")
