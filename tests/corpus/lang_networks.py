"""Inference of neural networks: parameters in dicts, lists and classes, layers chosen by name, callbacks."""

# ruff: noqa: B007, B018, B905, E741, PERF401, UP031
from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from tests.corpus.registry import Case

EPS = 1e-5


def relu(x: Any) -> Any:
    return np.maximum(x, 0)


def leaky(x: Any, slope: float = 0.1) -> Any:
    return np.where(x > 0, x, slope * x)


ACTIVATIONS = {"relu": relu, "leaky": leaky, "identity": lambda x: x, "tanh": np.tanh}


class Linear:
    def __init__(self, weight: Any, bias: Any = None) -> None:
        self.weight, self.bias = weight, bias
        self.calls = 0

    def __call__(self, x: Any) -> Any:
        self.calls += 1
        out = x @ self.weight
        if self.bias is not None:
            out = out + self.bias
        return out


class Network:
    activation = "relu"

    def __init__(self, layers: list) -> None:
        self.layers = layers

    def forward(self, x: Any) -> Any:
        for k, layer in enumerate(self.layers):
            x = layer(x)
            if k < len(self.layers) - 1:
                x = self.activate(x)
        return x

    def activate(self, x: Any) -> Any:
        return ACTIVATIONS[self.activation](x)


@dataclass
class Norm:
    gamma: np.ndarray
    beta: np.ndarray
    mean: np.ndarray
    var: np.ndarray
    momentum: float = 0.9
    training: bool = False

    def __call__(self, x: Any) -> Any:
        if self.training:
            mean, var = x.mean(axis=0), x.var(axis=0)
            self.mean = self.momentum * self.mean + (1 - self.momentum) * mean
            self.var = self.momentum * self.var + (1 - self.momentum) * var
        else:
            mean, var = self.mean, self.var
        return self.gamma * (x - mean) / np.sqrt(var + EPS) + self.beta


def mlp(params: dict, x: Any, n_layers: int = 2, activation: str = "relu") -> Any:
    """Keys made from the number of the layer."""
    act = ACTIVATIONS[activation]
    h = x
    for i in range(1, n_layers + 1):
        h = h @ params["W" + str(i)] + params[f"b{i}"]
        if i != n_layers:
            h = act(h)
    return h


def forward(model: Network, x: Any) -> Any:
    """Objects in a list in an object."""
    return model.forward(x)


def normalise(norm: Norm, x: Any) -> Any:
    """A dataclass whose attributes are rebound while training."""
    return norm(x)


def backward(params: dict, cache: tuple, dout: Any) -> dict:
    """Gradients in a dict with the same keys."""
    x, h = cache
    grads = {}
    grads["W2"] = np.outer(h, dout)
    grads["b2"] = dout.copy()
    dh = params["W2"] @ dout
    dh[h <= 0] = 0
    grads["W1"], grads["b1"] = np.outer(x, dh), dh
    return grads


def sgd(params: dict, grads: dict, lr: float = 0.1, clip: float | None = None) -> None:
    """All parameters changed in place."""
    for key in params:
        g = grads[key]
        if clip is not None:
            g = np.clip(g, -clip, clip)
        params[key] -= lr * g


def adam(params: dict, grads: dict, state: dict, t: int) -> dict:
    """State in nested dicts, new arrays under old keys."""
    b1, b2 = 0.9, 0.999
    for name, g in grads.items():
        m, v = state["m"][name], state["v"][name]
        state["m"][name] = b1 * m + (1 - b1) * g
        state["v"][name] = b2 * v + (1 - b2) * g * g
        mhat = state["m"][name] / (1 - b1**t)
        vhat = state["v"][name] / (1 - b2**t)
        params[name] = params[name] - 0.01 * mhat / (np.sqrt(vhat) + 1e-8)
    state["t"] = t + 1
    return params


def softmax(x: Any, axis: int = -1) -> Any:
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


def attention(q: Any, k: Any, v: Any, mask: Any = None, heads: int = 2) -> Any:
    """Heads as slices in a loop, collected in a list."""
    d = q.shape[-1] // heads
    outputs = []
    for h in range(heads):
        part = slice(h * d, (h + 1) * d)
        scores = q[:, part] @ k[:, part].T / np.sqrt(d)
        if mask is not None:
            scores = np.where(mask, scores, -1e9)
        outputs.append(softmax(scores) @ v[:, part])
    return np.concatenate(outputs, axis=1)


def conv2d(image: Any, kernel: Any, stride: int = 1, padding: str = "valid") -> Any:
    """A direct convolution in four loops."""
    kh, kw = kernel.shape
    if padding == "same":
        pad_h, pad_w = kh // 2, kw // 2
        padded = np.zeros((image.shape[0] + 2 * pad_h, image.shape[1] + 2 * pad_w), dtype=image.dtype)
        padded[pad_h : pad_h + image.shape[0], pad_w : pad_w + image.shape[1]] = image
    elif padding == "valid":
        padded = image
    else:
        raise ValueError(f"unknown padding: {padding!r}")
    oh, ow = (padded.shape[0] - kh) // stride + 1, (padded.shape[1] - kw) // stride + 1
    out = np.zeros((oh, ow), dtype=image.dtype)
    for i in range(oh):
        for j in range(ow):
            total = image.dtype.type(0)
            for a in range(kh):
                for b in range(kw):
                    total += padded[i * stride + a, j * stride + b] * kernel[a, b]
            out[i, j] = total
    return out


def max_pool(x: Any, size: int = 2) -> Any:
    """Shapes by tuple unpacking, an assertion on them."""
    *batch, h, w = x.shape
    assert h % size == 0 and w % size == 0, f"{h}x{w} does not divide by {size}"
    assert len(batch) == 1
    out = np.empty((batch[0], h // size, w // size), x.dtype)
    for i in range(h // size):
        for j in range(w // size):
            out[:, i, j] = x[:, i * size : (i + 1) * size, j * size : (j + 1) * size].max(axis=(1, 2))
    return out


def rnn(cell: dict, inputs: Any, h: Any = None) -> tuple:
    """States appended to a list in the loop over time."""
    hidden = cell["U"].shape[0]
    if h is None:
        h = np.zeros(hidden)
    states = []
    for x in inputs:
        h = np.tanh(cell["W"] @ x + cell["U"] @ h + cell["b"])
        states.append(h)
    return np.stack(states), h


def gru_step(p: dict, x: Any, h: Any) -> Any:
    """Gates by a nested function over names."""

    def gate(name: str, hidden: Any) -> Any:
        return p["W" + name] * x + p["U" + name] * hidden + p["b" + name]

    z = 1 / (1 + np.exp(-gate("z", h)))
    r = 1 / (1 + np.exp(-gate("r", h)))
    n = np.tanh(gate("n", r * h))
    return (1 - z) * n + z * h


def embed(tokens: list, table: Any, position: Any) -> Any:
    """A list of integers as subscripts."""
    out = np.zeros((len(tokens), table.shape[1]), dtype=table.dtype)
    for k, token in enumerate(tokens):
        if token < 0 or token >= len(table):
            raise IndexError(f"token {token} at {k} is not in the table of {len(table)}")
        out[k] = table[token] + position[k]
    return out


def beam(scores: Any, width: int = 2) -> Any:
    """The best of a row again and again; a list of tuples."""
    found = []
    used = np.zeros(scores.shape[0], dtype=bool)
    for _ in range(width):
        best, best_score = -1, -np.inf
        for i, s in enumerate(scores):
            if not used[i] and s > best_score:
                best, best_score = i, s
        if best < 0:
            break
        used[best] = True
        found.append((best, best_score))
    return found


def accuracy(logits: Any, labels: Any, top: int = 1) -> float:
    """A generator in sum, a Python float back."""
    hits = sum(1 for row, label in zip(logits, labels) if (row > row[label]).sum() < top)
    return hits / len(labels)


def cross_entropy(logits: Any, labels: Any, reduction: str = "mean") -> Any:
    """Reduction by name, an error for unknown ones."""
    losses = -np.log(softmax(logits)[np.arange(len(labels)), labels])
    match reduction:
        case "mean":
            return losses.mean()
        case "sum":
            return losses.sum()
        case "none" | None:
            return losses
        case other:
            raise ValueError(f"reduction {other}")


def apply_all(x: Any, *functions: Callable[[Any], Any]) -> list:
    """Functions as arguments, in a tuple."""
    return [f(x) for f in functions]


def ensemble(models: list, x: Any, weights: list | None = None) -> Any:
    """Optional list of numbers; a list of matrices of different widths."""
    if weights is None:
        weights = [1 / len(models)] * len(models)
    assert len(weights) == len(models)
    total = np.zeros(x.shape[0])
    for w, m in zip(weights, models):
        total += w * (x @ m).sum(axis=1)
    return total, [m.shape for m in models]


def quantise(x: Any, bits: int = 8, signed: bool = True) -> Any:
    """Types chosen by arguments."""
    dtype = np.int8 if signed and bits == 8 else np.uint8 if bits == 8 else np.int16
    info = np.iinfo(dtype)
    top = float(abs(x).max()) or 1.0
    scale = top / info.max
    q = np.clip(np.rint(x / scale), info.min, info.max).astype(dtype)
    return q, scale, q.dtype == np.int8


def dropout_mask(shape: tuple, keep: float, seed: int) -> Any:
    """A linear congruential generator in plain integers."""
    out = np.zeros(shape)
    state = seed
    for i, j in np.ndindex(*shape):
        state = (1103515245 * state + 12345) % 2147483648
        if state / 2147483648 < keep:
            out[i, j] = 1 / keep
    return out, state


def layer_sizes(params: dict) -> dict:
    """Shapes of all entries, by name."""
    sizes = {name: tuple(p.shape) for name, p in params.items() if name.startswith("W")}
    sizes["total"] = sum(p.size for p in params.values())
    return sizes


def _params(r: Any, d: int = 5, h: int = 4, o: int = 3) -> dict:
    return {
        "W1": r.normal(size=(d, h)), "b1": r.normal(size=h), "W2": r.normal(size=(h, o)), "b2": r.normal(size=o),
    }  # fmt: skip


def _gru(r: Any) -> dict:
    return {a + b: r.normal(size=6) for a in "WUb" for b in "zrn"}


# fmt: off
CASES = [
    Case(mlp, lambda r: (_params(r), r.normal(size=(7, 5))), 64, 1.0, special=False),
    Case(mlp, lambda r: (_params(r), r.normal(size=5), 2, "tanh"), 64, 1.0, special=False),
    Case(mlp, lambda r: (_params(r), r.normal(size=5), 3)),
    Case(
        forward, lambda r: (Network([Linear(r.normal(size=(4, 5)), r.normal(size=5)), Linear(r.normal(size=(5, 2)))]),
        r.normal(size=(3, 4))), 64, 1.0, special=False,
    ),
    Case(normalise, lambda r: (Norm(*r.random((4, 4)) + 0.5, training=True), r.normal(size=(6, 4))), 32, 1.0),
    Case(normalise, lambda r: (Norm(*r.random((4, 4)) + 0.5), r.normal(size=(6, 4)))),
    Case(
        backward, lambda r: (_params(r), (r.normal(size=5), relu(r.normal(size=4))), r.normal(size=3)), 64, 1.0,
        special=False,
    ),
    Case(sgd, lambda r: (_params(r), _params(r), 0.1, 0.5)),
    Case(
        adam, lambda r: (_params(r), _params(r),
        {"m": _params(r), "v": {k: abs(v) for k, v in _params(r).items()}, "t": 0}, 2), 4,
    ),
    Case(attention, lambda r: (*r.normal(size=(3, 5, 4)), np.tri(5, dtype=bool)), 64, 1.0, special=False),
    Case(conv2d, lambda r: (r.normal(size=(7, 8)).astype("f4"), r.normal(size=(3, 3)).astype("f4"), 2, "same")),
    Case(conv2d, lambda r: (r.normal(size=(7, 8)), r.normal(size=(3, 3)), 1, "full")),
    Case(max_pool, lambda r: (r.normal(size=(2, 6, 4)),)),
    Case(max_pool, lambda r: (r.normal(size=(2, 5, 4)),)),
    Case(
        rnn, lambda r: ({"W": r.normal(size=(3, 2)), "U": r.normal(size=(3, 3)), "b": r.normal(size=3)},
        r.normal(size=(5, 2))), 64, 1.0, special=False,
    ),
    Case(gru_step, lambda r: (_gru(r), r.normal(size=6), r.normal(size=6)), 16, 1.0),
    Case(embed, lambda r: ([int(k) for k in r.integers(0, 9, 5)], r.normal(size=(9, 4)), r.normal(size=(6, 4)))),
    Case(embed, lambda r: ([1, 12, 3], r.normal(size=(9, 4)), r.normal(size=(6, 4)))),
    Case(beam, lambda r: (r.normal(size=8), 3)),
    Case(accuracy, lambda r: (r.normal(size=(6, 4)), r.integers(0, 4, 6), 2)),
    Case(cross_entropy, lambda r: (r.normal(size=(6, 4)), r.integers(0, 4, 6)), 64, 1.0, special=False),
    Case(cross_entropy, lambda r: (r.normal(size=(6, 4)), r.integers(0, 4, 6), "median"), 64),
    Case(apply_all, lambda r: (r.normal(size=6), relu, np.tanh, lambda v: v * 2), 4),
    Case(ensemble, lambda r: ([r.normal(size=(4, k)) for k in (2, 3)], r.normal(size=(5, 4))), 64, 1.0, special=False),
    Case(ensemble, lambda r: ([r.normal(size=(4, 2))] * 2, r.normal(size=(5, 4)), [0.25, 0.75]), 64, 1.0),
    Case(quantise, lambda r: (r.normal(size=9),), special=False),
    Case(quantise, lambda r: (r.normal(size=9), 16), special=False),
    Case(dropout_mask, lambda r: ((3, 4), 0.5, 42)),
    Case(layer_sizes, lambda r: (_params(r),)),
]
# fmt: on
