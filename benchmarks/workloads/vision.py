"""Images: filters, resampling, colours, masks."""

from __future__ import annotations

import numpy as np

from .registry import jnp, ne, prange, register

# ---- Sobel -----------------------------------------------------------------------------------------------------------


def sobel(image):
    """Magnitude of the gradient of a grey image, by Sobel's filters."""
    p = image.astype(np.float32)
    gx = (p[:-2, 2:] + 2 * p[1:-1, 2:] + p[2:, 2:]) - (p[:-2, :-2] + 2 * p[1:-1, :-2] + p[2:, :-2])
    gy = (p[2:, :-2] + 2 * p[2:, 1:-1] + p[2:, 2:]) - (p[:-2, :-2] + 2 * p[:-2, 1:-1] + p[:-2, 2:])
    magnitude = np.sqrt(gx**2 + gy**2)
    return np.clip(magnitude, 0, 255).astype(np.uint8)


def sobel_loops(image):
    height, width = image.shape
    out = np.empty((height - 2, width - 2), np.uint8)
    for i in prange(height - 2):
        a, b, c = image[i], image[i + 1], image[i + 2]
        for j in range(width - 2):
            left = np.int32(a[j]) + 2 * np.int32(b[j]) + np.int32(c[j])
            right = np.int32(a[j + 2]) + 2 * np.int32(b[j + 2]) + np.int32(c[j + 2])
            above = np.int32(a[j]) + 2 * np.int32(a[j + 1]) + np.int32(a[j + 2])
            below = np.int32(c[j]) + 2 * np.int32(c[j + 1]) + np.int32(c[j + 2])
            gx, gy = np.float32(right - left), np.float32(below - above)
            out[i, j] = np.uint8(min(np.sqrt(gx * gx + gy * gy), np.float32(255)))
    return out


def sobel_expressions(image):
    a, b, c = image[:-2, :-2], image[:-2, 1:-1], image[:-2, 2:]
    d, f = image[1:-1, :-2], image[1:-1, 2:]
    g, h, k = image[2:, :-2], image[2:, 1:-1], image[2:, 2:]
    gx = ne.evaluate("c + 2 * f + k - (a + 2 * d + g)")
    gy = ne.evaluate("g + 2 * h + k - (a + 2 * b + c)")
    top = np.float32(255)
    found = ne.evaluate("sqrt(gx * gx + gy * gy)")
    return ne.evaluate("where(found > top, top, found)").astype(np.uint8)


def sobel_jax(image):
    p = image.astype(jnp.float32)
    gx = (p[:-2, 2:] + 2 * p[1:-1, 2:] + p[2:, 2:]) - (p[:-2, :-2] + 2 * p[1:-1, :-2] + p[2:, :-2])
    gy = (p[2:, :-2] + 2 * p[2:, 1:-1] + p[2:, 2:]) - (p[:-2, :-2] + 2 * p[:-2, 1:-1] + p[:-2, 2:])
    return jnp.clip(jnp.sqrt(gx**2 + gy**2), 0, 255).astype(jnp.uint8)


register(
    "sobel", sobel, lambda rng, n: (rng.integers(0, 256, (n, n + 40), np.uint8),), 800, 9, exact=True,
    loops=sobel_loops, expressions=sobel_expressions, arrays=sobel_jax,
)  # fmt: skip

# ---- bilinear resize -------------------------------------------------------------------------------------------------


def resize(image, height, width):
    """A colour image at another size, bilinear."""
    rows, columns = image.shape[:2]
    y, x = np.linspace(0, rows - 1, height), np.linspace(0, columns - 1, width)
    y0, x0 = np.floor(y).astype(int), np.floor(x).astype(int)
    y1, x1 = np.minimum(y0 + 1, rows - 1), np.minimum(x0 + 1, columns - 1)
    wy, wx = (y - y0)[:, None, None], (x - x0)[None, :, None]
    top = image[y0[:, None], x0] * (1 - wx) + image[y0[:, None], x1] * wx
    bottom = image[y1[:, None], x0] * (1 - wx) + image[y1[:, None], x1] * wx
    return (top * (1 - wy) + bottom * wy).astype(np.float32)


def resize_loops(image, height, width):
    rows, columns, channels = image.shape
    out = np.empty((height, width, channels), np.float32)
    down = (rows - 1) / (height - 1) if height > 1 else 0.0
    right = (columns - 1) / (width - 1) if width > 1 else 0.0
    left, next_, share = np.empty(width, np.int64), np.empty(width, np.int64), np.empty(width)
    for j in range(width):
        left[j] = min(int(j * right), columns - 1)
        next_[j] = min(left[j] + 1, columns - 1)
        share[j] = j * right - left[j]
    for i in prange(height):
        y = i * down
        y0 = min(int(y), rows - 1)
        y1, wy = min(y0 + 1, rows - 1), y - y0
        for j in range(width):
            x0, x1, wx = left[j], next_[j], share[j]
            for c in range(channels):
                top = image[y0, x0, c] * (1 - wx) + image[y0, x1, c] * wx
                bottom = image[y1, x0, c] * (1 - wx) + image[y1, x1, c] * wx
                out[i, j, c] = top * (1 - wy) + bottom * wy
    return out


def resize_jax(image, height, width):
    rows, columns = image.shape[:2]
    y, x = np.linspace(0, rows - 1, height), np.linspace(0, columns - 1, width)  # constants
    y0, x0 = np.floor(y).astype(int), np.floor(x).astype(int)
    y1, x1 = np.minimum(y0 + 1, rows - 1), np.minimum(x0 + 1, columns - 1)
    wy, wx = (y - y0)[:, None, None], (x - x0)[None, :, None]
    top = image[y0[:, None], x0] * (1 - wx) + image[y0[:, None], x1] * wx
    bottom = image[y1[:, None], x0] * (1 - wx) + image[y1[:, None], x1] * wx
    return (top * (1 - wy) + bottom * wy).astype(jnp.float32)


register(
    "bilinear resize", resize, lambda rng, n: (rng.integers(0, 256, (n, n + 20, 3), np.uint8), n // 2 + 7, n - 13),
    400, 24, loops=resize_loops, arrays=resize_jax,
)  # fmt: skip

# ---- histogram equalisation ------------------------------------------------------------------------------------------


def equalise(image):
    """A grey image whose levels are spread evenly."""
    hist, _ = np.histogram(image.flatten(), 256, (0, 256))
    cdf = hist.cumsum()
    lowest = cdf[cdf > 0].min()
    table = np.clip((cdf - lowest) * 255 // (cdf[-1] - lowest), 0, 255).astype(np.uint8)
    return table[image]


def equalise_loops(image):
    flat = image.reshape(-1)
    parts = 8
    counts = np.zeros((parts, 256), np.int64)
    for part in prange(parts):
        for k in range(flat.size * part // parts, flat.size * (part + 1) // parts):
            counts[part, flat[k]] += 1
    cdf = counts.sum(axis=0).cumsum()
    lowest = cdf[cdf > 0][0]
    table = np.empty(256, np.uint8)
    for k in range(256):
        table[k] = max(0, (cdf[k] - lowest) * 255 // (cdf[-1] - lowest))
    out = np.empty_like(flat)
    for k in prange(flat.size):
        out[k] = table[flat[k]]
    return out.reshape(image.shape)


def equalise_jax(image):
    cdf = jnp.bincount(image.ravel(), length=256).cumsum()
    lowest = jnp.where(cdf > 0, cdf, cdf[-1]).min()
    table = jnp.clip((cdf - lowest) * 255 // (cdf[-1] - lowest), 0, 255).astype(jnp.uint8)
    return table[image]


register(
    "equalise", equalise, lambda rng, n: (rng.normal(110, 25, (n, n)).clip(0, 255).astype(np.uint8),), 600, 12,
    exact=True, loops=equalise_loops, arrays=equalise_jax,
)  # fmt: skip

# ---- colours ---------------------------------------------------------------------------------------------------------


def rgb_to_hsv(rgb):
    """Hue, saturation and value of an image with values from 0 to 1."""
    r, g, b = rgb[..., 0], rgb[..., 1], rgb[..., 2]
    value = rgb.max(axis=-1)
    delta = value - rgb.min(axis=-1)
    hue = np.zeros_like(value)
    coloured = delta > 0
    at = coloured & (value == r)
    hue[at] = ((g[at] - b[at]) / delta[at]) % 6
    at = coloured & (value == g) & (value != r)
    hue[at] = (b[at] - r[at]) / delta[at] + 2
    at = coloured & (value == b) & (value != r) & (value != g)
    hue[at] = (r[at] - g[at]) / delta[at] + 4
    saturation = np.zeros_like(value)
    saturation[value > 0] = delta[value > 0] / value[value > 0]
    return np.stack([hue / 6, saturation, value], axis=-1)


def rgb_to_hsv_loops(rgb):
    out = np.empty_like(rgb)
    six = np.float32(6)
    for i in prange(rgb.shape[0]):
        for j in range(rgb.shape[1]):
            r, g, b = rgb[i, j, 0], rgb[i, j, 1], rgb[i, j, 2]
            value = max(r, g, b)
            delta = value - min(r, g, b)
            hue = np.float32(0)
            if delta > 0:
                if value == r:
                    hue = (g - b) / delta
                    if hue < 0:
                        hue += six
                elif value == g:
                    hue = (b - r) / delta + np.float32(2)
                else:
                    hue = (r - g) / delta + np.float32(4)
            out[i, j, 0] = hue / six
            out[i, j, 1] = delta / value if value > 0 else np.float32(0)
            out[i, j, 2] = value
    return out


def rgb_to_hsv_jax(rgb):
    r, g, b = rgb[..., 0], rgb[..., 1], rgb[..., 2]
    value = rgb.max(axis=-1)
    delta = value - rgb.min(axis=-1)
    by = jnp.where(delta > 0, delta, 1)
    hue = jnp.where(value == r, ((g - b) / by) % 6, jnp.where(value == g, (b - r) / by + 2, (r - g) / by + 4))
    saturation = jnp.where(value > 0, delta / jnp.where(value > 0, value, 1), 0)
    return jnp.stack([jnp.where(delta > 0, hue, 0) / 6, saturation, value], axis=-1)


def _colours(rng, n):
    rgb = rng.random((n, n, 3), np.float32)
    rgb[: n // 8] = rgb[: n // 8, :, :1]  # grey
    return (rgb,)


register("rgb to hsv", rgb_to_hsv, _colours, 400, 16, loops=rgb_to_hsv_loops, arrays=rgb_to_hsv_jax)

# ---- box blur --------------------------------------------------------------------------------------------------------


def box_blur(image, size):
    """Means of squares of pixels, by a summed-area table."""
    table = np.cumsum(np.cumsum(image.astype(np.int64), axis=0), axis=1)
    table = np.pad(table, ((1, 0), (1, 0)))
    total = table[size:, size:] - table[:-size, size:] - table[size:, :-size] + table[:-size, :-size]
    return total / size**2


def box_blur_loops(image, size):
    height, width = image.shape
    out = np.empty((height - size + 1, width - size + 1))
    block = 64  # sums of columns are begun anew in each block of rows, and go along with the window in it
    for part in prange((out.shape[0] + block - 1) // block):
        start, end = part * block, min(part * block + block, out.shape[0])
        columns = np.zeros(width, np.int64)
        for i in range(start, start + size - 1):
            for j in range(width):
                columns[j] += image[i, j]
        for i in range(start, end):
            for j in range(width):
                columns[j] += image[i + size - 1, j]
            total = 0
            for j in range(size - 1):
                total += columns[j]
            for j in range(out.shape[1]):
                total += columns[j + size - 1]
                out[i, j] = total / (size * size)
                total -= columns[j]
            for j in range(width):
                columns[j] -= image[i, j]
    return out


def box_blur_jax(image, size):
    table = jnp.cumsum(jnp.cumsum(image.astype(jnp.int64), axis=0), axis=1)
    table = jnp.pad(table, ((1, 0), (1, 0)))
    total = table[size:, size:] - table[:-size, size:] - table[size:, :-size] + table[:-size, :-size]
    return total / size**2


register(
    "box blur", box_blur, lambda rng, n: (rng.integers(0, 256, (n, n), np.uint8), 9), 700, 20,
    loops=box_blur_loops, arrays=box_blur_jax,
)  # fmt: skip

# ---- foreground ------------------------------------------------------------------------------------------------------


def foreground(frame, background, deviation):
    """Mask of a video's frame against its background, without single pixels, and the background moved towards it."""
    current = frame.astype(np.float32)
    mask = np.abs(current - background) > 2.5 * deviation
    padded = np.pad(mask, 1)
    neighbours = (
        padded[:-2, 1:-1].astype(np.uint8) + padded[2:, 1:-1] + padded[1:-1, :-2] + padded[1:-1, 2:]
    )  # fmt: skip
    mask = mask & (neighbours >= 2)
    return mask, np.where(mask, background, 0.95 * background + 0.05 * current), mask.mean()


def foreground_loops(frame, background, deviation):
    height, width = frame.shape
    raw, mask, moved = np.empty(frame.shape, np.bool_), np.empty(frame.shape, np.bool_), np.empty_like(background)
    for i in prange(height):
        for j in range(width):
            raw[i, j] = abs(np.float32(frame[i, j]) - background[i, j]) > np.float32(2.5) * deviation[i, j]
    count = 0
    for i in prange(height):
        for j in range(width):
            around = 0
            if i > 0:
                around += raw[i - 1, j]
            if i < height - 1:
                around += raw[i + 1, j]
            if j > 0:
                around += raw[i, j - 1]
            if j < width - 1:
                around += raw[i, j + 1]
            kept = raw[i, j] and around >= 2
            mask[i, j] = kept
            count += kept
            towards = np.float32(0.95) * background[i, j] + np.float32(0.05) * np.float32(frame[i, j])
            moved[i, j] = background[i, j] if kept else towards
    return mask, moved, count / (height * width)


def foreground_jax(frame, background, deviation):
    current = frame.astype(jnp.float32)
    mask = jnp.abs(current - background) > 2.5 * deviation
    p = jnp.pad(mask, 1).astype(jnp.uint8)
    mask = mask & (p[:-2, 1:-1] + p[2:, 1:-1] + p[1:-1, :-2] + p[1:-1, 2:] >= 2)
    share = mask.sum() / mask.size
    return mask, jnp.where(mask, background, 0.95 * background + 0.05 * current), share


def _frame(rng, n):
    background = 200 * rng.random((n, n), np.float32)
    noise = 12 * rng.standard_normal((n, n), dtype=np.float32)
    return (background + noise).clip(0, 255).astype(np.uint8), background, np.full((n, n), 4.0, np.float32)


register("foreground", foreground, _frame, 600, 12, loops=foreground_loops, arrays=foreground_jax)
