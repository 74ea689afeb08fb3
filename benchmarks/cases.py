"""What is measured: the functions of `examples/`, and for each peer the best form of the same function.

A peer gets the function as it is where it can, or the form that its users would write for speed (marked by hand): loops
over `prange` for Numba, expressions for numexpr, `jax.numpy` for JAX, tensors for PyTorch.
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "examples"))
import adam
import layernorm
import lstm
import nms
import residual
import sigmoid
import softmax

Arrays = tuple[Any, ...]


@dataclass(frozen=True)
class Case:
    """One function on one input.

    `written`: positions of the arguments that it changes. `moved`: bytes that must be read or written at least.
    `forms`: the form for a peer that does not take the function as it is; a peer without entry gets the function.
    """

    name: str
    function: Callable[..., Any]
    inputs: Arrays
    forms: Mapping[str, Callable[..., Any]] = field(default_factory=dict)
    written: tuple[int, ...] = ()
    moved: int = 0
    exact: bool = False

    @property
    def dtype(self) -> str:
        return str(self.inputs[0].dtype)


# ---- Numba: loops by hand, one pass over memory, of the dtype of the inputs ------------------------------------------

_NUMBA = '''
import numba
import numpy as np
from numba import njit, prange

@njit(parallel=True)
def sigmoid(x, a, b):
    y = np.empty_like(x)
    one = x.dtype.type(1)
    for i in prange(x.size):
        y[i] = one / (one + np.exp(-x[i])) * a[i] + b[i]
    return y

@njit(parallel=True)
def residual(lhs, rhs):
    y = np.empty_like(lhs)
    l, r, out = lhs.reshape(-1), rhs.reshape(-1), y.reshape(-1)
    zero = lhs.dtype.type(0)
    for i in prange(l.size):
        out[i] = max(l[i] + r[i], zero)
    return y

@njit(parallel=True)
def adam(p, g, m, v, step, lr=0.001, beta1=0.9, beta2=0.999, eps=1e-8):
    f = p.dtype.type
    b1, b2, rate, e, one = f(beta1), f(beta2), f(lr), f(eps), f(1)
    c1, c2, d1, d2 = f(1 - beta1**step), f(1 - beta2**step), f(1 - beta1), f(1 - beta2)
    for i in prange(p.size):
        m[i] = m[i] * b1 + d1 * g[i]
        v[i] = v[i] * b2 + d2 * g[i] * g[i]
        p[i] -= rate * (m[i] / c1) / (np.sqrt(v[i] / c2) + e)

@njit(parallel=True)
def lstm(gates, c):
    batch, hidden = c.shape
    c_new, h_new = np.empty_like(c), np.empty_like(c)
    one = c.dtype.type(1)
    for r in prange(batch):
        for k in range(hidden):
            i, f = gates[r, k], gates[r, hidden + k]
            g, o = gates[r, 2 * hidden + k], gates[r, 3 * hidden + k]
            t = one / (one + np.exp(-f)) * c[r, k] + one / (one + np.exp(-i)) * np.tanh(g)
            c_new[r, k] = t
            h_new[r, k] = one / (one + np.exp(-o)) * np.tanh(t)
    return c_new, h_new

@njit(parallel=True)
def softmax(x):
    y = np.empty_like(x)
    for r in prange(x.shape[0]):
        top = x[r, 0]
        for k in range(x.shape[1]):
            top = max(top, x[r, k])
        total = x.dtype.type(0)
        for k in range(x.shape[1]):
            y[r, k] = np.exp(x[r, k] - top)
            total += y[r, k]
        for k in range(x.shape[1]):
            y[r, k] /= total
    return y

@njit(parallel=True)
def layernorm(x, gamma, beta, eps=1e-5):
    y = np.empty_like(x)
    f = x.dtype.type
    n = f(x.shape[1])
    for r in prange(x.shape[0]):
        mean = f(0)
        for k in range(x.shape[1]):
            mean += x[r, k]
        mean /= n
        var = f(0)
        for k in range(x.shape[1]):
            var += (x[r, k] - mean) * (x[r, k] - mean)
        scale = f(1) / np.sqrt(var / n + f(eps))
        for k in range(x.shape[1]):
            y[r, k] = (x[r, k] - mean) * scale * gamma[k] + beta[k]
    return y
'''


def _numba_forms() -> dict[str, Callable[..., Any]]:
    space: dict[str, Any] = {}
    if importlib.util.find_spec("numba"):
        exec(compile(_NUMBA, "numba forms", "exec"), space)
    return space


# ---- numexpr: what its language has ----------------------------------------------------------------------------------


def _numexpr_forms() -> dict[str, Callable[..., Any]]:
    if not importlib.util.find_spec("numexpr"):
        return {}
    import numexpr as ne

    def scalars(like: Any, **values: float) -> dict[str, Any]:
        """Constants of the arrays' own dtype: a Python number would make the result float64."""
        return {name: like.dtype.type(value) for name, value in values.items()}

    def run_sigmoid(x: Any, a: Any, b: Any) -> Any:
        return ne.evaluate("one / (one + exp(-x)) * a + b", scalars(x, one=1) | {"x": x, "a": a, "b": b})

    def run_residual(lhs: Any, rhs: Any) -> Any:
        return ne.evaluate("where(l + r > zero, l + r, zero)", scalars(lhs, zero=0) | {"l": lhs, "r": rhs})

    def run_adam(p: Any, g: Any, m: Any, v: Any, step: int) -> None:
        given = {"p": p, "g": g, "m": m, "v": v} | scalars(
            p, b1=0.9, d1=1 - 0.9, b2=0.999, d2=1 - 0.999, lr=0.001, c1=1 - 0.9**step, c2=1 - 0.999**step, eps=1e-8
        )
        ne.evaluate("m * b1 + d1 * g", given, out=m)
        ne.evaluate("v * b2 + d2 * g * g", given, out=v)
        ne.evaluate("p - lr * (m / c1) / (sqrt(v / c2) + eps)", given, out=p)

    def run_lstm(gates: Any, c: Any) -> Any:
        h = c.shape[1]
        given = {k: gates[:, j * h : (j + 1) * h] for j, k in enumerate("ifgo")} | scalars(c, one=1) | {"c": c}
        c_new = ne.evaluate("one / (one + exp(-f)) * c + one / (one + exp(-i)) * tanh(g)", given)
        return c_new, ne.evaluate("one / (one + exp(-o)) * tanh(n)", given | {"n": c_new})

    return {"sigmoid": run_sigmoid, "residual": run_residual, "adam": run_adam, "lstm": run_lstm}


# ---- JAX and PyTorch: their own arrays -------------------------------------------------------------------------------


def _jax_forms() -> dict[str, Callable[..., Any]]:
    if not importlib.util.find_spec("jax"):
        return {}
    import jax.numpy as jnp

    def run_lstm(gates: Any, c: Any) -> Any:
        i, f, g, o = jnp.split(gates, 4, axis=1)
        c_new = 1 / (1 + jnp.exp(-f)) * c + 1 / (1 + jnp.exp(-i)) * jnp.tanh(g)
        return c_new, 1 / (1 + jnp.exp(-o)) * jnp.tanh(c_new)

    def run_adam(p: Any, g: Any, m: Any, v: Any, step: int) -> Any:
        m = m * 0.9 + (1 - 0.9) * g
        v = v * 0.999 + (1 - 0.999) * g * g
        return p - 0.001 * (m / (1 - 0.9**step)) / (jnp.sqrt(v / (1 - 0.999**step)) + 1e-8), m, v

    def run_softmax(x: Any) -> Any:
        e = jnp.exp(x - x.max(axis=-1, keepdims=True))
        return e / e.sum(axis=-1, keepdims=True)

    def run_layernorm(x: Any, gamma: Any, beta: Any) -> Any:
        mean, var = x.mean(axis=-1, keepdims=True), x.var(axis=-1, keepdims=True)
        return (x - mean) / jnp.sqrt(var + 1e-5) * gamma + beta

    return {
        "sigmoid": lambda x, a, b: 1 / (1 + jnp.exp(-x)) * a + b,
        "residual": lambda lhs, rhs: jnp.maximum(lhs + rhs, 0),
        "lstm": run_lstm,
        "adam": run_adam,
        "softmax": run_softmax,
        "layernorm": run_layernorm,
    }


def _torch_forms() -> dict[str, Callable[..., Any]]:
    if not importlib.util.find_spec("torch"):
        return {}
    import torch

    def run_lstm(gates: Any, c: Any) -> Any:
        i, f, g, o = gates.chunk(4, dim=1)
        c_new = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
        return c_new, torch.sigmoid(o) * torch.tanh(c_new)

    def run_adam(p: Any, g: Any, m: Any, v: Any, step: int) -> None:
        m.mul_(0.9).add_((1 - 0.9) * g)
        v.mul_(0.999).add_((1 - 0.999) * g * g)
        p.sub_(0.001 * (m / (1 - 0.9**step)) / (torch.sqrt(v / (1 - 0.999**step)) + 1e-8))

    return {
        "sigmoid": lambda x, a, b: 1 / (1 + torch.exp(-x)) * a + b,
        "residual": lambda lhs, rhs: torch.clamp_min(lhs + rhs, 0),
        "lstm": run_lstm,
        "adam": run_adam,
        "softmax": lambda x: torch.softmax(x, dim=-1),
        "layernorm": lambda x, gamma, beta: torch.nn.functional.layer_norm(x, (x.shape[-1],), gamma, beta, 1e-5),
    }


# ---- the list --------------------------------------------------------------------------------------------------------


def cases(sizes: tuple[int, ...], with_nms: bool = True) -> list[Case]:
    """All cases, NMS first; `sizes` in elements, each a multiple of 1000."""
    forms = {
        "numba parallel": _numba_forms(),
        "numexpr": _numexpr_forms(),
        "jax": _jax_forms(),
        "torch.compile": _torch_forms(),
    }
    found: list[Case] = []
    if with_nms:
        for dtype in (np.float32, np.float64):
            for n, limit in ((1024, 128), (8192, 8192)):
                boxes, scores = nms.candidates(n, dtype)
                name = f"nms {n}" + (f", at most {limit}" if limit < n else "")
                found.append(Case(name, nms.nms, (boxes, scores, limit, 0.5), exact=True))
    for size in sizes:
        rows = max(1, size // 1000)
        columns = size // rows
        made: tuple[tuple[Any, Arrays, tuple[int, ...], int], ...] = (
            (sigmoid.sigmoid, sigmoid.arguments(size), (), 4),
            (residual.residual, residual.arguments(rows, 10, 10, 10), (), 3),
            (adam.adam, adam.arguments(size), (0, 2, 3), 7),
            (lstm.lstm, lstm.arguments(rows, columns), (), 7),
            (softmax.softmax, softmax.arguments(rows, columns), (), 2),
            (layernorm.layernorm, layernorm.arguments(rows, columns), (), 2),
        )
        for function, inputs, written, arrays in made:
            name = function.__name__
            mine = {peer: table[name] for peer, table in forms.items() if name in table}
            label = f"{name} {size:.0e}".replace("e+0", "e")
            found.append(Case(label, function, inputs, mine, written, 4 * size * arrays))
    return found
