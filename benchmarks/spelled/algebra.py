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


# --- recurrent network ------------------------------------------------------------------------------------------------


@inputs("recurrent network")
def _(rng):
    h, d, t = 48, 16, 1000
    return rng.standard_normal((t, d)), rng.standard_normal((h, h)) * 0.1, rng.standard_normal((h, d)), rng.random(h)


@spelling("recurrent network")
def rnn_matmul(x, w, u, b):
    h = np.zeros(len(b))
    out = np.empty((len(x), len(b)))
    for t in range(len(x)):
        h = np.tanh(w @ h + u @ x[t] + b)
        out[t] = h
    return out


@spelling("recurrent network")
def rnn_dot(x, w, u, b):
    h = np.zeros_like(b)
    rows = []
    for row in x:
        h = np.tanh(np.dot(w, h) + np.dot(u, row) + b)
        rows.append(h)
    return np.array(rows)


@spelling("recurrent network")
def rnn_before(x, w, u, b):
    z = x @ u.T + b
    out = np.zeros_like(z)
    h = np.zeros(len(b))
    for t in range(len(z)):
        h = np.tanh(h @ w.T + z[t])
        out[t] = h
    return out


@spelling("recurrent network")
def rnn_sums(x, w, u, b):
    h = np.zeros(len(b))
    out = np.empty((len(x), len(b)))
    for t in range(len(x)):
        h = np.tanh((w * h).sum(axis=1) + (u * x[t]).sum(axis=1) + b)
        out[t] = h
    return out


@spelling("recurrent network")
def rnn_loops(x, w, u, b):
    n, m = len(b), x.shape[1]
    out = np.empty((len(x), n))
    h = np.zeros(n)
    for t in range(len(x)):
        for i in range(n):
            s = b[i]
            for j in range(n):
                s += w[i, j] * h[j]
            for j in range(m):
                s += u[i, j] * x[t, j]
            out[t, i] = math.tanh(s)
        for i in range(n):
            h[i] = out[t, i]
    return out


# --- logistic regression ----------------------------------------------------------------------------------------------


@inputs("logistic regression")
def _(rng):
    n, d = 500, 20
    return rng.standard_normal((n, d)), (rng.random(n) < 0.5).astype(float), 0.1, 30


@spelling("logistic regression")
def logreg_matmul(x, y, lr, steps):
    w = np.zeros(x.shape[1])
    for _ in range(steps):
        p = 1 / (1 + np.exp(-(x @ w)))
        w = w - lr * (x.T @ (p - y)) / len(y)
    return w


@spelling("logistic regression")
def logreg_dot(x, y, lr, steps):
    w = np.zeros(x.shape[1])
    for _ in range(steps):
        e = 1 / (1 + np.exp(-np.dot(x, w))) - y
        w -= lr * np.dot(e, x) / len(y)
    return w


@spelling("logistic regression")
def logreg_einsum(x, y, lr, steps):
    w = np.zeros(x.shape[1])
    for _ in range(steps):
        p = 1 / (1 + np.exp(-np.einsum("ij,j->i", x, w)))
        w = w - lr * np.einsum("i,ij->j", p - y, x) / len(y)
    return w


@spelling("logistic regression")
def logreg_mean(x, y, lr, steps):
    w = np.zeros(x.shape[1])
    for _ in range(steps):
        p = 1 / (1 + np.exp(-(x * w).sum(axis=1)))
        w -= lr * ((p - y)[:, None] * x).mean(axis=0)
    return w


@spelling("logistic regression")
def logreg_loops(x, y, lr, steps):
    n, d = x.shape
    w = np.zeros(d)
    for _ in range(steps):
        g = np.zeros(d)
        for i in range(n):
            z = 0.0
            for k in range(d):
                z += x[i, k] * w[k]
            e = 1 / (1 + math.exp(-z)) - y[i]
            for k in range(d):
                g[k] += e * x[i, k]
        for k in range(d):
            w[k] -= lr * g[k] / n
    return w


# --- Runge-Kutta steps ------------------------------------------------------------------------------------------------


@inputs("Runge-Kutta steps")
def _(rng):
    n = 12
    a = rng.standard_normal((n, n)) - 3 * np.eye(n)
    return a, rng.random(n), 0.01, 2000


@spelling("Runge-Kutta steps")
def rk4_matmul(a, y, h, steps):
    for _ in range(steps):
        k1 = a @ y
        k2 = a @ (y + h / 2 * k1)
        k3 = a @ (y + h / 2 * k2)
        k4 = a @ (y + h * k3)
        y = y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    return y


@spelling("Runge-Kutta steps")
def rk4_function(a, y, h, steps):
    def f(y):
        return a.dot(y)
    y = y.copy()
    for _ in range(steps):
        k1 = f(y)
        k2 = f(y + 0.5 * h * k1)
        k3 = f(y + 0.5 * h * k2)
        k4 = f(y + h * k3)
        y += h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    return y


@spelling("Runge-Kutta steps")
def rk4_sums(a, y, h, steps):
    for _ in range(steps):
        k1 = (a * y).sum(axis=1)
        k2 = (a * (y + h / 2 * k1)).sum(axis=1)
        k3 = (a * (y + h / 2 * k2)).sum(axis=1)
        k4 = (a * (y + h * k3)).sum(axis=1)
        y = y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    return y


@spelling("Runge-Kutta steps")
def rk4_loops(a, y, h, steps):
    n = len(y)
    y = y.copy()
    k = np.zeros((4, n))
    z = np.zeros(n)
    for _ in range(steps):
        for s in range(4):
            c = 0.0 if s == 0 else (h if s == 3 else h / 2)
            for i in range(n):
                z[i] = y[i]
                if s > 0:
                    z[i] += c * k[s - 1, i]
            for i in range(n):
                t = 0.0
                for j in range(n):
                    t += a[i, j] * z[j]
                k[s, i] = t
        for i in range(n):
            y[i] += h / 6 * (k[0, i] + 2 * k[1, i] + 2 * k[2, i] + k[3, i])
    return y


# --- attention --------------------------------------------------------------------------------------------------------


@inputs("attention")
def _(rng):
    n, d = 128, 32
    return rng.standard_normal((n, d)), rng.standard_normal((n, d)), rng.standard_normal((n, d))


@spelling("attention")
def attention_whole(q, k, v):
    s = q @ k.T / np.sqrt(q.shape[1])
    e = np.exp(s - s.max(axis=1, keepdims=True))
    return (e / e.sum(axis=1, keepdims=True)) @ v


@spelling("attention")
def attention_rows(q, k, v):
    out = np.empty_like(q)
    for i in range(len(q)):
        s = k @ q[i] / np.sqrt(q.shape[1])
        e = np.exp(s - s.max())
        out[i] = (e / e.sum()) @ v
    return out


@spelling("attention")
def attention_einsum(q, k, v):
    s = np.einsum("id,jd->ij", q, k) / math.sqrt(q.shape[1])
    e = np.exp(s - s.max(axis=-1, keepdims=True))
    return np.einsum("ij,jd->id", e / e.sum(axis=-1, keepdims=True), v)


@spelling("attention")
def attention_loops(q, k, v):
    n, d = q.shape
    out = np.zeros((n, d))
    s = np.zeros(n)
    for i in range(n):
        m = -np.inf
        for j in range(n):
            t = 0.0
            for a in range(d):
                t += q[i, a] * k[j, a]
            s[j] = t / math.sqrt(d)
            m = max(m, s[j])
        z = 0.0
        for j in range(n):
            s[j] = math.exp(s[j] - m)
            z += s[j]
        for j in range(n):
            for a in range(d):
                out[i, a] += s[j] / z * v[j, a]
    return out


@spelling("attention")
def attention_broadcast(q, k, v):
    s = (q[:, None] * k).sum(axis=-1) / np.sqrt(q.shape[1])
    e = np.exp(s - s.max(axis=1)[:, None])
    return ((e / e.sum(axis=1)[:, None])[:, :, None] * v).sum(axis=1)


# --- Kalman filter in matrices ----------------------------------------------------------------------------------------


@inputs("Kalman filter in matrices")
def _(rng):
    t = 2000
    return rng.standard_normal(t), np.array([[1.0, 0.1], [0.0, 1.0]]), np.eye(2) * 0.01, 0.5


@spelling("Kalman filter in matrices")
def kalman_matrices(z, f, q, r):
    x, p = np.zeros(2), np.eye(2)
    h = np.array([1.0, 0.0])
    out = np.empty((len(z), 2))
    for t in range(len(z)):
        x = f @ x
        p = f @ p @ f.T + q
        k = p @ h / (h @ p @ h + r)
        x = x + k * (z[t] - h @ x)
        p = p - np.outer(k, h @ p)
        out[t] = x
    return out


@spelling("Kalman filter in matrices")
def kalman_columns(z, f, q, r):
    x, p = np.zeros((2, 1)), np.eye(2)
    h = np.array([[1.0, 0.0]])
    out = np.empty((len(z), 2))
    for t in range(len(z)):
        x = f @ x
        p = f @ p @ f.T + q
        k = p @ h.T / (h @ p @ h.T + r)
        x = x + k @ (z[t] - h @ x)
        p = (np.eye(2) - k @ h) @ p
        out[t] = x[:, 0]
    return out


@spelling("Kalman filter in matrices")
def kalman_loops(z, f, q, r):
    a, b = 0.0, 0.0
    p00, p01, p10, p11 = 1.0, 0.0, 0.0, 1.0
    out = np.empty((len(z), 2))
    for t in range(len(z)):
        a, b = f[0, 0] * a + f[0, 1] * b, f[1, 0] * a + f[1, 1] * b
        g00, g01 = f[0, 0] * p00 + f[0, 1] * p10, f[0, 0] * p01 + f[0, 1] * p11
        g10, g11 = f[1, 0] * p00 + f[1, 1] * p10, f[1, 0] * p01 + f[1, 1] * p11
        p00, p01 = g00 * f[0, 0] + g01 * f[0, 1] + q[0, 0], g00 * f[1, 0] + g01 * f[1, 1] + q[0, 1]
        p10, p11 = g10 * f[0, 0] + g11 * f[0, 1] + q[1, 0], g10 * f[1, 0] + g11 * f[1, 1] + q[1, 1]
        k0, k1 = p00 / (p00 + r), p10 / (p00 + r)
        e = z[t] - a
        a, b = a + k0 * e, b + k1 * e
        p00, p01, p10, p11 = p00 - k0 * p00, p01 - k0 * p01, p10 - k1 * p00, p11 - k1 * p01
        out[t, 0], out[t, 1] = a, b
    return out
