"""Rows and columns of a table: normalised, scored, correlated."""

from __future__ import annotations

import numpy as np

from spelled.registry import inputs, spelling

# --- softmax of rows


@inputs("softmax")
def _(rng):
    return (rng.standard_normal((1000, 300)),)


@spelling("softmax")
def softmax_whole(x):
    e = np.exp(x - x.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


@spelling("softmax")
def softmax_a_row_at_a_time(x):
    out = np.empty_like(x)
    for i in range(len(x)):
        e = np.exp(x[i] - np.max(x[i]))
        out[i] = e / np.sum(e)
    return out


@spelling("softmax")
def softmax_turned(x):
    t = x.T
    e = np.exp(t - t.max(axis=0))
    return (e / e.sum(axis=0)).T.copy()


@spelling("softmax")
def softmax_newaxis(x):
    shifted = x - np.amax(x, 1)[:, None]
    e = np.exp(shifted)
    return e / np.sum(e, 1)[:, None]


# --- normalisation of rows


@inputs("layer norm")
def _(rng):
    return rng.standard_normal((2000, 256)), rng.random(256), rng.random(256)


@spelling("layer norm")
def norm_whole(x, gain, bias):
    mean = x.mean(axis=1, keepdims=True)
    var = ((x - mean) ** 2).mean(axis=1, keepdims=True)
    return gain * (x - mean) / np.sqrt(var + 1e-5) + bias


@spelling("layer norm")
def norm_var(x, gain, bias):
    return (x - x.mean(1)[:, None]) / np.sqrt(x.var(1) + 1e-5)[:, None] * gain + bias


@spelling("layer norm")
def norm_rows(x, gain, bias):
    out = np.empty_like(x)
    for i in range(len(x)):
        mean = np.mean(x[i])
        centred = x[i] - mean
        out[i] = gain * centred / np.sqrt(np.mean(centred**2) + 1e-5) + bias
    return out


# --- normalisation of columns


@inputs("standard scores")
def _(rng):
    return (rng.standard_normal((5000, 60)),)


@spelling("standard scores")
def scores_whole(x):
    return (x - x.mean(axis=0)) / x.std(axis=0)


@spelling("standard scores")
def scores_turned(x):
    t = x.T
    return ((t - t.mean(axis=1, keepdims=True)) / t.std(axis=1, keepdims=True)).T.copy()


@spelling("standard scores")
def scores_written_out(x):
    n = len(x)
    mean = x.sum(axis=0) / n
    centred = x - mean
    return centred / np.sqrt((centred * centred).sum(axis=0) / n)


@spelling("standard scores")
def scores_a_column_at_a_time(x):
    out = np.empty_like(x)
    for j in range(x.shape[1]):
        out[:, j] = (x[:, j] - x[:, j].mean()) / x[:, j].std()
    return out


# --- covariances


@inputs("covariances")
def _(rng):
    return (rng.standard_normal((4000, 40)),)


@spelling("covariances")
def covariances_product(x):
    c = x - x.mean(axis=0)
    return c.T @ c / (len(x) - 1)


@spelling("covariances")
def covariances_einsum(x):
    c = x - x.mean(axis=0)
    return np.einsum("ni,nj->ij", c, c) / (len(x) - 1)


@spelling("covariances")
def covariances_cov(x):
    return np.cov(x, rowvar=False)


@spelling("covariances")
def covariances_loops(x):
    n, m = x.shape
    mean = x.sum(axis=0) / n
    out = np.zeros((m, m))
    for i in range(m):
        for j in range(m):
            total = 0.0
            for k in range(n):
                total += (x[k, i] - mean[i]) * (x[k, j] - mean[j])
            out[i, j] = total / (n - 1)
    return out


# --- the correlation of two series


@inputs("correlation")
def _(rng):
    return rng.standard_normal(200_000), rng.standard_normal(200_000)


@spelling("correlation")
def correlation_written_out(x, y):
    return ((x - x.mean()) * (y - y.mean())).sum() / np.sqrt(
        ((x - x.mean()) ** 2).sum() * ((y - y.mean()) ** 2).sum()
    )


@spelling("correlation")
def correlation_named(x, y):
    dx, dy = x - x.mean(), y - y.mean()
    return (dx * dy).sum() / np.sqrt((dx**2).sum() * (dy**2).sum())


@spelling("correlation")
def correlation_products(x, y):
    dx, dy = x - np.mean(x), y - np.mean(y)
    return np.dot(dx, dy) / (np.linalg.norm(dx) * np.linalg.norm(dy))


# --- scores of one series


@inputs("scores of a series")
def _(rng):
    return (rng.standard_normal(2_000),)


@spelling("scores of a series")
def series_whole(x):
    return (x - x.mean()) / x.std()


@spelling("scores of a series")
def series_by_element(x):
    out = np.zeros(len(x))
    for i in range(len(x)):
        out[i] = (x[i] - x.mean()) / x.std()
    return out


@spelling("scores of a series")
def series_of_a_list(x):
    return np.array([(v - np.mean(x)) / np.std(x) for v in x])


@spelling("scores of a series")
def series_from_squares(x):
    mean = x.sum() / len(x)
    deviation = ((x - mean) ** 2).mean() ** 0.5
    return np.divide(x - mean, deviation)


# --- weighted covariance ----------------------------------------------------------------------------------------------


@inputs("weighted covariance")
def _(rng):
    n, d = 3000, 12
    return rng.standard_normal((n, d)), rng.random(n)


@spelling("weighted covariance")
def wcov_product(x, w):
    d = x - (w[:, None] * x).sum(axis=0) / w.sum()
    return (d * w[:, None]).T @ d / w.sum()


@spelling("weighted covariance")
def wcov_einsum(x, w):
    d = x - np.average(x, axis=0, weights=w)
    return np.einsum("n,ni,nj->ij", w, d, d) / w.sum()


@spelling("weighted covariance")
def wcov_outer(x, w):
    m = (w[:, None] * x).sum(axis=0) / w.sum()
    c = np.zeros((x.shape[1], x.shape[1]))
    for i in range(len(x)):
        d = x[i] - m
        c += w[i] * np.outer(d, d)
    return c / w.sum()


@spelling("weighted covariance")
def wcov_loops(x, w):
    n, k = x.shape
    m, total = np.zeros(k), 0.0
    for i in range(n):
        total += w[i]
        for j in range(k):
            m[j] += w[i] * x[i, j]
    for j in range(k):
        m[j] /= total
    c = np.zeros((k, k))
    for i in range(n):
        for a in range(k):
            for b in range(k):
                c[a, b] += w[i] * (x[i, a] - m[a]) * (x[i, b] - m[b])
    for a in range(k):
        for b in range(k):
            c[a, b] /= total
    return c


@spelling("weighted covariance")
def wcov_elements_loops(x, w):
    n, k = x.shape
    m = (w @ x) / w.sum()
    c = np.zeros((k, k))
    for a in range(k):
        for b in range(a, k):
            c[a, b] = (w * (x[:, a] - m[a]) * (x[:, b] - m[b])).sum() / w.sum()
            c[b, a] = c[a, b]
    return c
