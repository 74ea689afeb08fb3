"""Machine learning: layers, losses, clustering."""

from __future__ import annotations

from math import exp, log, pi

import numpy as np

from .registry import jax, jnp, prange, register

# ---- k-means ---------------------------------------------------------------------------------------------------------


def kmeans_step(points, centroids):
    """Labels by the nearest centroid, and the centroids of these labels."""
    distances = np.sqrt(((points[:, np.newaxis, :] - centroids[np.newaxis, :, :]) ** 2).sum(axis=2))
    labels = distances.argmin(axis=1)
    moved = np.array([points[labels == k].mean(axis=0) for k in range(centroids.shape[0])])
    return labels, moved


def kmeans_step_loops(points, centroids):
    count, width = points.shape
    k = centroids.shape[0]
    labels = np.empty(count, np.int64)
    parts = 16
    sums, numbers = np.zeros((parts, k, width)), np.zeros((parts, k), np.int64)
    for part in prange(parts):
        for i in range(count * part // parts, count * (part + 1) // parts):
            best, at = np.float32(np.inf), 0
            for j in range(k):
                total = np.float32(0)
                for c in range(width):
                    d = points[i, c] - centroids[j, c]
                    total += d * d
                if total < best:
                    best, at = total, j
            labels[i] = at
            numbers[part, at] += 1
            for c in range(width):
                sums[part, at, c] += points[i, c]
    return labels, (sums.sum(axis=0) / numbers.sum(axis=0).reshape(-1, 1)).astype(np.float32)


def kmeans_step_jax(points, centroids):
    distances = ((points[:, None, :] - centroids[None, :, :]) ** 2).sum(axis=2)
    labels = distances.argmin(axis=1)
    chosen = jax.nn.one_hot(labels, centroids.shape[0], dtype=points.dtype)
    return labels, (chosen.T @ points) / chosen.sum(axis=0)[:, None]


def _clusters(rng, n):
    centres = 4 * rng.standard_normal((12, 8), dtype=np.float32)
    points = np.repeat(centres, n // 12, axis=0) + rng.standard_normal((n // 12 * 12, 8), dtype=np.float32)
    return points, centres + np.float32(0.1)


register("k-means step", kmeans_step, _clusters, 12_000, 120, loops=kmeans_step_loops, arrays=kmeans_step_jax)

# ---- cross entropy ---------------------------------------------------------------------------------------------------


def cross_entropy(logits, labels):
    """Loss of a classifier, and its gradient."""
    n = logits.shape[0]
    shifted = logits - logits.max(axis=1, keepdims=True)
    log_probs = shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))
    loss = float(-log_probs[np.arange(n), labels].mean())
    grad = np.exp(log_probs)
    grad[np.arange(n), labels] -= 1
    return loss, grad / n


def cross_entropy_loops(logits, labels):
    n, classes = logits.shape
    grad, losses = np.empty_like(logits), np.empty(n, np.float32)
    for i in prange(n):
        top = logits[i, 0]
        for c in range(classes):
            top = max(top, logits[i, c])
        total = np.float32(0)
        for c in range(classes):
            grad[i, c] = np.exp(logits[i, c] - top)
            total += grad[i, c]
        losses[i] = np.log(total) + top - logits[i, labels[i]]
        scale = np.float32(1) / (total * np.float32(n))
        for c in range(classes):
            grad[i, c] *= scale
        grad[i, labels[i]] -= np.float32(1) / np.float32(n)
    return float(losses.mean()), grad


def cross_entropy_jax(logits, labels):
    n = logits.shape[0]
    log_probs = jax.nn.log_softmax(logits, axis=1)
    loss = -log_probs[jnp.arange(n), labels].mean()
    return loss.astype(float), (jnp.exp(log_probs).at[jnp.arange(n), labels].add(-1)) / n


register(
    "cross entropy", cross_entropy,
    lambda rng, n: (3 * rng.standard_normal((n, 50), dtype=np.float32), rng.integers(0, 50, n)), 5000, 20,
    loops=cross_entropy_loops, arrays=cross_entropy_jax,
)  # fmt: skip

# ---- batch normalisation ---------------------------------------------------------------------------------------------


def batch_norm(x, gamma, beta, eps):
    """Batch normalisation in training, channels second."""
    mean = x.mean(axis=(0, 2, 3), keepdims=True)
    var = x.var(axis=(0, 2, 3), keepdims=True)
    normal = (x - mean) / np.sqrt(var + eps)
    return gamma.reshape(1, -1, 1, 1) * normal + beta.reshape(1, -1, 1, 1), mean.ravel(), var.ravel()


def batch_norm_loops(x, gamma, beta, eps):
    batch, channels, height, width = x.shape
    pixels = height * width
    flat = x.reshape(batch, channels, pixels)
    out = np.empty_like(flat)
    means, variances = np.empty(channels, np.float32), np.empty(channels, np.float32)
    for c in prange(channels):
        total = 0.0
        for b in range(batch):
            part = np.float32(0)
            for k in range(pixels):
                part += flat[b, c, k]
            total += part
        mean = np.float32(total / (batch * pixels))
        total = 0.0
        for b in range(batch):
            part = np.float32(0)
            for k in range(pixels):
                part += (flat[b, c, k] - mean) * (flat[b, c, k] - mean)
            total += part
        variance = np.float32(total / (batch * pixels))
        scale = gamma[c] / np.sqrt(variance + np.float32(eps))
        for b in range(batch):
            for k in range(pixels):
                out[b, c, k] = (flat[b, c, k] - mean) * scale + beta[c]
        means[c], variances[c] = mean, variance
    return out.reshape(x.shape), means, variances


def batch_norm_jax(x, gamma, beta, eps):
    mean = x.mean(axis=(0, 2, 3), keepdims=True)
    var = x.var(axis=(0, 2, 3), keepdims=True)
    scale = gamma.reshape(1, -1, 1, 1) / jnp.sqrt(var + eps)
    return (x - mean) * scale + beta.reshape(1, -1, 1, 1), mean.ravel(), var.ravel()


register(
    "batch norm", batch_norm,
    lambda rng, n: (
        1 + rng.standard_normal((n, 32, 28, 28), dtype=np.float32), rng.random(32, np.float32),
        rng.random(32, np.float32), 1e-5,
    ), 16, 1, loops=batch_norm_loops, arrays=batch_norm_jax,
)  # fmt: skip

# ---- attention -------------------------------------------------------------------------------------------------------


def attention(q, k, v):
    """Causal attention of several heads."""
    length, width = q.shape[-2:]
    scores = q @ k.transpose(0, 2, 1) / width**0.5
    mask = np.triu(np.ones((length, length), dtype=bool), k=1)
    scores = np.where(mask, -1e9, scores)
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights /= weights.sum(axis=-1, keepdims=True)
    return weights @ v


def attention_loops(q, k, v):
    heads, length, width = q.shape
    out = np.empty_like(q)
    scale = np.float32(1 / width**0.5)
    for h in prange(heads):
        scores = q[h] @ k[h].T
        for i in range(length):
            top = scores[i, 0]
            for j in range(i + 1):
                top = max(top, scores[i, j])
            total = np.float32(0)
            for j in range(i + 1):
                scores[i, j] = np.exp((scores[i, j] - top) * scale)
                total += scores[i, j]
            for j in range(i + 1):
                scores[i, j] /= total
            for j in range(i + 1, length):
                scores[i, j] = 0
        out[h] = scores @ v[h]
    return out


def attention_jax(q, k, v):
    length, width = q.shape[-2:]
    scores = jnp.einsum("hid,hjd->hij", q, k) / width**0.5
    scores = jnp.where(jnp.tril(jnp.ones((length, length), bool)), scores, -1e9)
    return jax.nn.softmax(scores, axis=-1) @ v


register(
    "attention", attention,
    lambda rng, n: tuple(rng.standard_normal((8, n, 64), dtype=np.float32) for _ in range(3)), 160, 8,
    loops=attention_loops, arrays=attention_jax,
)  # fmt: skip

# ---- logistic regression ---------------------------------------------------------------------------------------------


def logistic_gradient(features, targets, weights, penalty):
    """Loss of a logistic regression, and its gradient."""
    n = len(targets)
    p = 1 / (1 + np.exp(-(features @ weights)))
    p = np.clip(p, 1e-12, 1 - 1e-12)
    loss = -np.mean(targets * np.log(p) + (1 - targets) * np.log(1 - p)) + 0.5 * penalty * np.sum(weights**2)
    return loss, features.T @ (p - targets) / n + penalty * weights


def logistic_gradient_loops(features, targets, weights, penalty):
    n, width = features.shape
    parts = 16
    sums, losses = np.zeros((parts, width)), np.zeros(parts)
    for part in prange(parts):
        for i in range(n * part // parts, n * (part + 1) // parts):
            z = 0.0
            for k in range(width):
                z += features[i, k] * weights[k]
            p = min(max(1 / (1 + exp(-z)), 1e-12), 1 - 1e-12)
            losses[part] -= log(p) if targets[i] == 1 else log(1 - p)
            for k in range(width):
                sums[part, k] += features[i, k] * (p - targets[i])
    loss = losses.sum() / n + 0.5 * penalty * (weights * weights).sum()
    return loss, sums.sum(axis=0) / n + penalty * weights


def logistic_gradient_jax(features, targets, weights, penalty):
    n = len(targets)
    p = jnp.clip(1 / (1 + jnp.exp(-(features @ weights))), 1e-12, 1 - 1e-12)
    loss = -jnp.mean(targets * jnp.log(p) + (1 - targets) * jnp.log(1 - p)) + 0.5 * penalty * jnp.sum(weights**2)
    return loss, features.T @ (p - targets) / n + penalty * weights


register(
    "logistic gradient", logistic_gradient,
    lambda rng, n: (rng.standard_normal((n, 40)), rng.integers(0, 2, n), 0.2 * rng.standard_normal(40), 0.01),
    20_000, 50, loops=logistic_gradient_loops, arrays=logistic_gradient_jax,
)  # fmt: skip

# ---- Gaussian mixture ------------------------------------------------------------------------------------------------


def mixture_step(x, means, variances, priors):
    """Responsibilities of a mixture of Gaussians with diagonal covariances, and the mean log-likelihood."""
    diff = x[:, None, :] - means[None, :, :]
    log_density = -0.5 * (np.sum(diff**2 / variances, axis=2) + np.sum(np.log(2 * np.pi * variances), axis=1))
    joint = log_density + np.log(priors)
    top = np.max(joint, axis=1, keepdims=True)
    evidence = top + np.log(np.sum(np.exp(joint - top), axis=1, keepdims=True))
    return np.exp(joint - evidence), evidence.mean()


def mixture_step_loops(x, means, variances, priors):
    n, width = x.shape
    k = len(priors)
    out, evidence = np.empty((n, k)), np.empty(n)
    inverse, constant = 1 / variances, np.log(priors) - 0.5 * np.log(2 * pi * variances).sum(axis=1)
    for i in prange(n):
        top = -np.inf
        for j in range(k):
            total = 0.0
            for c in range(width):
                d = x[i, c] - means[j, c]
                total += d * d * inverse[j, c]
            out[i, j] = constant[j] - 0.5 * total
            top = max(top, out[i, j])
        total = 0.0
        for j in range(k):
            out[i, j] = exp(out[i, j] - top)
            total += out[i, j]
        for j in range(k):
            out[i, j] /= total
        evidence[i] = top + log(total)
    return out, evidence.mean()


def mixture_step_jax(x, means, variances, priors):
    diff = x[:, None, :] - means[None, :, :]
    joint = jnp.log(priors) - 0.5 * ((diff**2 / variances).sum(axis=2) + jnp.log(2 * pi * variances).sum(axis=1))
    evidence = jax.scipy.special.logsumexp(joint, axis=1, keepdims=True)
    return jnp.exp(joint - evidence), evidence.mean()


register(
    "mixture step", mixture_step,
    lambda rng, n: (
        rng.standard_normal((n, 5)), rng.standard_normal((6, 5)), rng.uniform(0.5, 2, (6, 5)), np.full(6, 1 / 6),
    ), 20_000, 30, loops=mixture_step_loops, arrays=mixture_step_jax,
)  # fmt: skip

# ---- convolution -----------------------------------------------------------------------------------------------------


def convolution(x, kernel, bias):
    """A layer of 3 × 3 convolutions with ReLU: windows, then one contraction."""
    windows = np.lib.stride_tricks.sliding_window_view(x, kernel.shape[2:], axis=(2, 3))
    out = np.tensordot(windows, kernel, axes=([1, 4, 5], [1, 2, 3]))
    return np.maximum(out.transpose(0, 3, 1, 2) + bias[:, None, None], 0)


def convolution_loops(x, kernel, bias):
    batch, channels, height, width = x.shape
    outputs, _, rows, columns = kernel.shape
    out = np.empty((batch, outputs, height - rows + 1, width - columns + 1), x.dtype)
    for job in prange(batch * outputs):
        b, o = job // outputs, job % outputs
        plane = out[b, o]
        plane[:] = bias[o]
        for c in range(channels):
            for i in range(rows):
                for j in range(columns):
                    weight = kernel[o, c, i, j]
                    for y in range(plane.shape[0]):
                        for z in range(plane.shape[1]):
                            plane[y, z] += weight * x[b, c, y + i, z + j]
        for y in range(plane.shape[0]):
            for z in range(plane.shape[1]):
                plane[y, z] = max(plane[y, z], np.float32(0))
    return out


def convolution_jax(x, kernel, bias):
    return jnp.maximum(jax.lax.conv(x, kernel, (1, 1), "VALID") + bias[:, None, None], 0)


register(
    "convolution", convolution,
    lambda rng, n: (
        rng.standard_normal((2, 8, n, n), dtype=np.float32), rng.standard_normal((16, 8, 3, 3), dtype=np.float32),
        rng.standard_normal(16, dtype=np.float32),
    ), 40, 6, loops=convolution_loops, arrays=convolution_jax,
)  # fmt: skip
