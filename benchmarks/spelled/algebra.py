"""Products, polynomials and layers."""

from __future__ import annotations

import math

import numpy as np

from spelled.registry import inputs, spelling

# --- products of a matrix with a vector, and with what comes of it


@inputs("matrix and vector")
def _(rng):
    return rng.standard_normal((1500, 1200)), rng.standard_normal(1200)


@spelling("matrix and vector")
def vector_product(a, x):
    return a.T @ (a @ x)


@spelling("matrix and vector")
def vector_left(a, x):
    return (a @ x) @ a


@spelling("matrix and vector")
def vector_sums(a, x):
    y = (a * x).sum(axis=1)
    return (a * y[:, None]).sum(axis=0)


@spelling("matrix and vector")
def vector_einsum(a, x):
    return np.einsum("ij,i->j", a, np.einsum("ij,j->i", a, x))


@spelling("matrix and vector")
def vector_loops(a, x):
    out = np.zeros(a.shape[1])
    for i in range(a.shape[0]):
        total = 0.0
        for j in range(a.shape[1]):
            total += a[i, j] * x[j]
        for j in range(a.shape[1]):
            out[j] += a[i, j] * total
    return out


# --- polynomials ------------------------------------------------------------------------------------------------------


@inputs("polynomial")
def _(rng):
    return rng.standard_normal(12), rng.standard_normal(200_000)


@spelling("polynomial")
def polynomial_of_numpy(c, x):
    return np.polyval(c, x)


@spelling("polynomial")
def polynomial_by_horner(c, x):
    y = np.zeros_like(x)
    for k in range(len(c)):
        y = y * x + c[k]
    return y


@spelling("polynomial")
def polynomial_in_place(c, x):
    y = np.zeros_like(x)
    for a in c:
        y *= x
        y += a
    return y


@spelling("polynomial")
def polynomial_at_points(c, x):
    y = np.empty_like(x)
    for i in range(x.size):
        s = 0.0
        for k in range(c.size):
            s = s * x[i] + c[k]
        y[i] = s
    return y


# --- gates of a recurrent layer ---------------------------------------------------------------------------------------

@inputs("gates of a recurrent layer")
def _(rng):
    return rng.standard_normal((200, 384)), rng.standard_normal((200, 384)), rng.standard_normal((200, 128))


@spelling("gates of a recurrent layer")
def gates_slices(gx, gh, h):
    n = h.shape[1]
    def sigmoid(v):
        return 1 / (1 + np.exp(-v))
    r = sigmoid(gx[:, :n] + gh[:, :n])
    z = sigmoid(gx[:, n : 2 * n] + gh[:, n : 2 * n])
    c = np.tanh(gx[:, 2 * n :] + r * gh[:, 2 * n :])
    return (1 - z) * c + z * h


@spelling("gates of a recurrent layer")
def gates_split(gx, gh, h):
    xr, xz, xn = np.split(gx, 3, axis=1)
    hr, hz, hn = np.split(gh, 3, axis=1)
    r = 1 / (1 + np.exp(-(xr + hr)))
    z = 1 / (1 + np.exp(-(xz + hz)))
    return z * h + (1 - z) * np.tanh(xn + r * hn)


@spelling("gates of a recurrent layer")
def gates_loops(gx, gh, h):
    b, n = h.shape
    out = np.empty_like(h)
    for i in range(b):
        for j in range(n):
            r = 1 / (1 + math.exp(-(gx[i, j] + gh[i, j])))
            z = 1 / (1 + math.exp(-(gx[i, n + j] + gh[i, n + j])))
            c = math.tanh(gx[i, 2 * n + j] + r * gh[i, 2 * n + j])
            out[i, j] = (1 - z) * c + z * h[i, j]
    return out


@spelling("gates of a recurrent layer")
def gates_rows(gx, gh, h):
    n = h.shape[1]
    out = np.zeros(h.shape)
    for i in range(len(h)):
        g = 1 / (1 + np.exp(-(gx[i, : 2 * n] + gh[i, : 2 * n])))
        r, z = g[:n], g[n:]
        c = np.tanh(gx[i, 2 * n :] + r * gh[i, 2 * n :])
        out[i] = (1 - z) * c + z * h[i]
    return out
