"""Array functions as they are written for inference in deep learning."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.corpus.registry import Case


def softmax(x: Any, axis: int = -1) -> Any:
    shifted = x - np.max(x, axis=axis, keepdims=True)
    e = np.exp(shifted)
    return e / np.sum(e, axis=axis, keepdims=True)


def layer_norm(x: Any, gain: Any, bias: Any, eps: float = 1e-5) -> Any:
    mean = x.mean(axis=-1, keepdims=True)
    variance = np.var(x, axis=-1, keepdims=True)
    return (x - mean) / np.sqrt(variance + eps) * gain + bias


def attention(q: Any, k: Any, v: Any) -> Any:
    """Causal attention of several heads."""
    heads, length, width = q.shape
    scores = q @ np.swapaxes(k, -1, -2) / np.sqrt(width)
    mask = np.triu(np.ones((length, length), dtype=bool), k=1)
    scores = np.where(mask, -1e30, scores)
    weights = softmax(scores)
    return np.moveaxis(weights @ v, 0, 1).reshape(length, heads * width)


def conv2d(image: Any, kernels: Any, bias: Any) -> Any:
    """A valid convolution by windows: channels in, channels out."""
    _, kh, kw = kernels.shape[1:]
    windows = np.lib.stride_tricks.sliding_window_view(image, (3, 3), axis=(1, 2))
    assert kh == 3 and kw == 3, "3 by 3 kernels only"
    return np.einsum("chwij,ocij->ohw", windows, kernels) + bias[:, None, None]


def gelu(x: Any) -> Any:
    return 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))


def mlp(x: Any, w1: Any, b1: Any, w2: Any, b2: Any) -> Any:
    hidden = np.maximum(x @ w1 + b1, 0)
    logits = np.dot(hidden, w2) + b2
    return np.argmax(logits, axis=1), softmax(logits)


def batch_norm(x: Any, mean: Any, variance: Any, gamma: Any, beta: Any) -> Any:
    shape = (1, -1, 1, 1)
    scale = gamma / np.sqrt(variance + 1e-3)
    return x * scale.reshape(shape) + (beta - mean * scale).reshape(shape)


def cross_entropy(logits: Any, labels: Any) -> Any:
    """Mean loss and its gradient."""
    n = logits.shape[0]
    top = logits.max(axis=1, keepdims=True)
    logsum = top[:, 0] + np.log(np.exp(logits - top).sum(axis=1))
    loss = np.mean(logsum - logits[np.arange(n), labels])
    grad = np.exp(logits - logsum[:, None])
    grad[np.arange(n), labels] -= 1
    return loss, grad / n


def one_hot(labels: Any, classes: int) -> Any:
    encoded = np.zeros((labels.size, classes), dtype=np.float32)
    encoded[np.arange(labels.size), labels] = 1
    return encoded


def positional_encoding(length: int, width: int) -> Any:
    position = np.arange(length)[:, np.newaxis]
    rate = 1 / np.power(10000, 2 * (np.arange(width)[np.newaxis, :] // 2) / width)
    angles = position * rate
    angles[:, 0::2] = np.sin(angles[:, 0::2])
    angles[:, 1::2] = np.cos(angles[:, 1::2])
    return angles


def gru_step(x: Any, h: Any, w: Any, u: Any, b: Any) -> Any:
    gates = x @ w + b
    hidden = h @ u
    xz, xr, xn = np.split(gates, 3, axis=-1)
    hz, hr, hn = np.split(hidden, 3, axis=-1)
    z = 1 / (1 + np.exp(-(xz + hz)))
    r = 1 / (1 + np.exp(-(xr + hr)))
    n = np.tanh(xn + r * hn)
    return (1 - z) * n + z * h


def top_k(scores: Any, k: int) -> Any:
    order = np.argsort(-scores, axis=-1, kind="stable")[:, :k]
    return order, np.take_along_axis(scores, order, axis=-1)


def quantize(x: Any) -> Any:
    """Symmetric bytes and their scale; what comes back."""
    scale = np.abs(x).max() / 127.0
    q = np.clip(np.rint(x / scale), -128, 127).astype(np.int8)
    return q, scale, q.astype(np.float32) * np.float32(scale)


def rotary(x: Any, base: float) -> Any:
    """Rotary position embedding of a sequence."""
    length, width = x.shape
    half = width // 2
    frequency = base ** (-np.arange(half) / half)
    angle = np.outer(np.arange(length), frequency)
    c, s = np.cos(angle), np.sin(angle)
    x1, x2 = x[:, :half], x[:, half:]
    return np.concatenate([x1 * c - x2 * s, x1 * s + x2 * c], axis=-1)


def embedding_mean(tokens: Any, table: Any, pad: int) -> Any:
    """Mean of the embeddings of each row's tokens but for padding."""
    vectors = table[tokens]
    mask = (tokens != pad)[..., None]
    total = np.sum(vectors * mask, axis=1)
    return total / np.maximum(mask.sum(axis=1), 1)


CASES = [
    Case(softmax, lambda r: (r.normal(size=(4, 6)).astype(np.float32),), ulps=8),
    Case(layer_norm, lambda r: (r.normal(size=(3, 8)), r.random(8), r.random(8)), ulps=64, scale=2.0),
    Case(attention, lambda r: tuple(r.normal(size=(2, 5, 4)) for _ in range(3)), ulps=64, scale=4.0),
    Case(
        conv2d, lambda r: (r.normal(size=(2, 6, 7)), r.normal(size=(3, 2, 3, 3)), r.normal(size=3)), ulps=64, scale=16.0
    ),
    Case(gelu, lambda r: (r.normal(size=20),), ulps=4, scale=1.0),
    Case(
        mlp,
        lambda r: (
            r.normal(size=(4, 6)),
            r.normal(size=(6, 8)),
            r.normal(size=8),
            r.normal(size=(8, 3)),
            r.normal(size=3),
        ),
        ulps=256,
        scale=8.0,
        special=False,
    ),
    Case(batch_norm, lambda r: (r.normal(size=(2, 3, 4, 4)), r.normal(size=3), r.random(3), r.random(3), r.random(3))),
    Case(cross_entropy, lambda r: (r.normal(size=(5, 4)), r.integers(0, 4, 5)), ulps=32, scale=2.0),
    Case(one_hot, lambda r: (r.integers(0, 5, 9), 5)),
    Case(positional_encoding, lambda r: (6, 8), ulps=4, scale=1.0),
    Case(
        gru_step,
        lambda r: (
            r.normal(size=(2, 5)),
            r.normal(size=(2, 4)),
            r.normal(size=(5, 12)),
            r.normal(size=(4, 12)),
            r.normal(size=12),
        ),
        ulps=64,
        scale=4.0,
    ),
    Case(top_k, lambda r: (r.normal(size=(3, 7)), 3)),
    Case(quantize, lambda r: (r.normal(size=(4, 5)).astype(np.float32),), ulps=1, special=False),
    Case(rotary, lambda r: (r.normal(size=(5, 6)), 10000.0), ulps=8, scale=2.0),
    Case(embedding_mean, lambda r: (r.integers(0, 6, (3, 5)), r.normal(size=(6, 4)), 0), ulps=16, scale=4.0),
]
