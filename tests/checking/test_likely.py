"""The types that `check` takes for likely: functions as scientists write them, and what they call them with."""

from __future__ import annotations

import re
import textwrap

import pytest

from transkern.checking.functions import finder
from transkern.checking.likely import likely_types
from transkern.frontend.sources.texts import TextScope

CASES: list[tuple[str, str]] = []


def case(expected: str, text: str) -> None:
    CASES.append((expected, textwrap.dedent(text).strip()))


# --- lists, of which somebody asks whether they are empty

case("[float, …]", '''
def total(stack):
    s = 0.0
    while stack:
        s += stack[0] * 0.5
        stack = stack[1:]
    return s
''')  # fmt: skip
case("[[float, …], …]", '''
def longest(paths):
    if not paths:
        return 0.0
    best = 0.0
    for path in paths:
        for v in path:
            best = max(best, v * 0.5)
    return best
''')  # fmt: skip

# --- vision

case("float64[:,:], float", '''
def unsharp(image, amount):
    padded = np.pad(image, 1, mode="edge")
    blurred = (padded[:-2, 1:-1] + padded[2:, 1:-1] + padded[1:-1, :-2] + padded[1:-1, 2:]) / 4
    return np.clip(image + amount * (image - blurred), 0, 1)
''')  # fmt: skip
case("float64[:,:], int", '''
def local_mean(img, r):
    h, w = img.shape
    out = np.zeros_like(img)
    for i in range(h):
        for j in range(w):
            out[i, j] = img[max(i - r, 0):i + r + 1, max(j - r, 0):j + r + 1].mean()
    return out
''')  # fmt: skip
case("float64[:,:,:]", '''
def luminance(rgb):
    return 0.2126 * rgb[:, :, 0] + 0.7152 * rgb[:, :, 1] + 0.0722 * rgb[:, :, 2]
''')  # fmt: skip
case("float64[:,:], float64[:,:]", '''
def correlate(image, kernel):
    kh, kw = kernel.shape
    oh, ow = image.shape[0] - kh + 1, image.shape[1] - kw + 1
    result = np.zeros((oh, ow))
    for y in range(oh):
        for x in range(ow):
            result[y, x] = np.sum(image[y:y + kh, x:x + kw] * kernel)
    return result
''')  # fmt: skip
case("float64[:,:], (int, int)", '''
def tile_to(image, shape):
    rows, cols = shape
    out = np.empty((rows, cols))
    for i in range(rows):
        for j in range(cols):
            out[i, j] = image[i % image.shape[0], j % image.shape[1]]
    return out
''')  # fmt: skip
case("float64[:,:], float64[:,:]", '''
def overlap(boxes_a, boxes_b):
    """Pairwise IoU.

    Parameters
    ----------
    boxes_a : ndarray of shape (N, 4)
    boxes_b : ndarray of shape (M, 4)

    Returns
    -------
    ndarray of shape (N, M)
    """
    lt = np.maximum(boxes_a[:, None, :2], boxes_b[None, :, :2])
    rb = np.minimum(boxes_a[:, None, 2:], boxes_b[None, :, 2:])
    inter = np.prod(np.clip(rb - lt, 0, None), axis=2)
    area = lambda b: (b[:, 2] - b[:, 0]) * (b[:, 3] - b[:, 1])
    return inter / (area(boxes_a)[:, None] + area(boxes_b)[None, :] - inter)
''')  # fmt: skip
case("float64[:,:], 'bilinear', None", '''
def resize_half(image, method="bilinear", weights=None):
    if method == "nearest":
        return image[::2, ::2]
    if weights is None:
        weights = np.full(4, 0.25)
    a, b, c, d = image[::2, ::2], image[1::2, ::2], image[::2, 1::2], image[1::2, 1::2]
    return weights[0] * a + weights[1] * b + weights[2] * c + weights[3] * d
''')  # fmt: skip
case("bool[:,:]", '''
def erode(mask):
    """Erode a mask.

    :param mask: pixels that belong to the object
    :type mask: 2D array of bool
    """
    out = mask.copy()
    out[1:] &= mask[:-1]
    out[:-1] &= mask[1:]
    return out
''')  # fmt: skip
case("float64[:,:], (float, float), float", '''
def radial_falloff(img, center, strength):
    """Darken towards the edges.

    Parameters
    ----------
    img : (M, N) ndarray
    center : tuple of float
    strength : float
    """
    cy, cx = center
    yy, xx = np.mgrid[:img.shape[0], :img.shape[1]]
    return img / (1 + strength * ((yy - cy) ** 2 + (xx - cx) ** 2))
''')  # fmt: skip
case("float64[:,:], float, int", '''
def gaussian_blur(image, sigma, truncate=4):
    """Blur.

    Args:
        image (np.ndarray): the picture, of shape (H, W).
        sigma (float): width of the kernel.
        truncate (int): how many sigmas the kernel reaches.
    """
    radius = int(truncate * sigma + 0.5)
    x = np.arange(-radius, radius + 1)
    k = np.exp(-0.5 * (x / sigma) ** 2)
    k /= k.sum()
    rows = np.apply_along_axis(lambda r: np.convolve(r, k, mode="same"), 1, image)
    return np.apply_along_axis(lambda c: np.convolve(c, k, mode="same"), 0, rows)
''')  # fmt: skip

# --- finance

case("float, float, float, float, float", '''
def call_price(S, K, T, r, sigma):
    if T <= 0 or sigma <= 0:
        return max(S - K, 0.0)
    d1 = (math.log(S / K) + (r + sigma ** 2 / 2) * T) / (sigma * math.sqrt(T))
    d2 = d1 - sigma * math.sqrt(T)
    cdf = lambda z: 0.5 * (1 + math.erf(z / math.sqrt(2)))
    return S * cdf(d1) - K * math.exp(-r * T) * cdf(d2)
''')  # fmt: skip
case("float64[:], int", '''
def moving_average(prices, window):
    c = np.cumsum(np.insert(prices, 0, 0.0))
    return (c[window:] - c[:-window]) / window
''')  # fmt: skip
case("float64[:], float", '''
def npv(cashflows, rate):
    total = 0.0
    for t, cf in enumerate(cashflows):
        total += cf / (1 + rate) ** t
    return total
''')  # fmt: skip
case("float64[:,:], float64[:]", '''
def portfolio_vol(cov, w):
    """Volatility of a portfolio.

    Parameters
    ----------
    cov : (n, n) array
        Covariance of the returns.
    w : (n,) array
        Weights.
    """
    return np.sqrt(w @ cov @ w)
''')  # fmt: skip
case("float64[:]", '''
def max_drawdown(equity):
    peak = np.maximum.accumulate(equity)
    return np.max(1 - equity / peak)
''')  # fmt: skip
case("float, float, float, float, int, int, Generator", '''
def gbm_paths(s0, mu, sigma, T, steps, paths, rng):
    dt = T / steps
    z = rng.normal(size=(paths, steps))
    inc = (mu - sigma ** 2 / 2) * dt + sigma * np.sqrt(dt) * z
    return s0 * np.exp(np.cumsum(inc, axis=1))
''')  # fmt: skip
case("float64[:], float, 'historical'", '''
def value_at_risk(returns, level=0.95, method="historical"):
    if method == "historical":
        return -np.quantile(returns, 1 - level)
    elif method == "normal":
        return -(returns.mean() - 1.645 * returns.std())
    raise ValueError(method)
''')  # fmt: skip
case("float, float, int", '''
def annuity(principal, rate, years):
    balance = np.zeros(years + 1)
    balance[0] = principal
    payment = principal * rate / (1 - (1 + rate) ** -years)
    for k in range(years):
        balance[k + 1] = balance[k] * (1 + rate) - payment
    return balance
''')  # fmt: skip

# --- physics

case("float64[:,:], float64[:,:], float64[:], float, int", '''
def leapfrog(pos, vel, masses, dt, n_steps):
    n = len(masses)
    for _ in range(n_steps):
        acc = np.zeros((n, 3))
        for i in range(n):
            d = pos - pos[i]
            r2 = (d ** 2).sum(axis=1) + 1e-9
            acc[i] = (masses[:, None] * d / r2[:, None] ** 1.5).sum(axis=0)
        vel = vel + dt * acc
        pos = pos + dt * vel
    return pos, vel
''')  # fmt: skip
case("float64[:,:], float, float, int", '''
def heat(u, alpha, dx, nt):
    dt = 0.25 * dx ** 2 / alpha
    for _ in range(nt):
        lap = (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:] - 4 * u[1:-1, 1:-1]) / dx ** 2
        u[1:-1, 1:-1] += alpha * dt * lap
    return u
''')  # fmt: skip
case("int64[:,:], float", '''
def ising_sweep(spins, beta):
    """One sweep of Metropolis.

    Parameters
    ----------
    spins : 2-D array of int
    beta : float
    """
    n, m = spins.shape
    for i in range(n):
        for j in range(m):
            s = spins[i, j]
            nb = spins[(i + 1) % n, j] + spins[i - 1, j] + spins[i, (j + 1) % m] + spins[i, j - 1]
            if np.random.rand() < np.exp(-2 * beta * s * nb):
                spins[i, j] = -s
    return spins
''')  # fmt: skip
case("?", '''
def rk4(f, y, t, h):
    k1 = f(t, y)
    k2 = f(t + h / 2, y + h / 2 * k1)
    k3 = f(t + h / 2, y + h / 2 * k2)
    k4 = f(t + h, y + h * k3)
    return y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
''')  # fmt: skip
case("float64[:], float", '''
def planck(wavelength, temperature):
    """Spectral radiance.

    Parameters
    ----------
    wavelength : array_like
        in metres
    temperature : float
        in kelvin
    """
    h, c, kb = 6.626e-34, 2.998e8, 1.381e-23
    return 2 * h * c ** 2 / wavelength ** 5 / np.expm1(h * c / (wavelength * kb * temperature))
''')  # fmt: skip
case("float64[:], float, float, float", '''
def lorenz(state, sigma=10.0, rho=28.0, beta=8 / 3):
    x, y, z = state
    return np.array([sigma * (y - x), x * (rho - z) - y, x * y - beta * z])
''')  # fmt: skip
case("int, float, float", '''
def well_energies(n, length, mass):
    x = np.linspace(0, length, n)
    dx = x[1] - x[0]
    main = np.full(n, 1 / (mass * dx ** 2))
    off = np.full(n - 1, -0.5 / (mass * dx ** 2))
    H = np.diag(main) + np.diag(off, 1) + np.diag(off, -1)
    return np.linalg.eigvalsh(H)
''')  # fmt: skip
case("float64[:,:], float64[:]", '''
def center_of_mass(positions, masses):
    return (positions * masses[:, None]).sum(axis=0) / masses.sum()
''')  # fmt: skip
case("float", '''
def rotation_matrix(theta):
    c, s = np.cos(theta), np.sin(theta)
    return np.array([[c, -s], [s, c]])
''')  # fmt: skip
case("float64[:,:], float64[:,:], float64[:]", '''
def minimum_image(r1, r2, box):
    lx, ly, lz = box
    d = r1 - r2
    d[:, 0] -= lx * np.round(d[:, 0] / lx)
    d[:, 1] -= ly * np.round(d[:, 1] / ly)
    d[:, 2] -= lz * np.round(d[:, 2] / lz)
    return d
''')  # fmt: skip

# --- statistics

case("float64[:], float64[:]", '''
def rmse(y_true, y_pred):
    return np.sqrt(np.mean((y_true - y_pred) ** 2))
''')  # fmt: skip
case("float64[:], float64[:]", '''
def pearson(x, y):
    xm, ym = x - x.mean(), y - y.mean()
    return (xm * ym).sum() / np.sqrt((xm ** 2).sum() * (ym ** 2).sum())
''')  # fmt: skip
case("float64[:], int, int", '''
def bootstrap(data, n_boot, seed):
    rng = np.random.default_rng(seed)
    means = np.empty(n_boot)
    for b in range(n_boot):
        means[b] = rng.choice(data, size=len(data)).mean()
    return np.percentile(means, [2.5, 97.5])
''')  # fmt: skip
case("float64[:,:], float64[:]", '''
def ols(X, y):
    beta = np.linalg.solve(X.T @ X, X.T @ y)
    residuals = y - X @ beta
    return beta, residuals.var(ddof=X.shape[1])
''')  # fmt: skip
case("float64[:,:], int", '''
def pca(data, n_components):
    centered = data - data.mean(axis=0)
    u, s, vt = np.linalg.svd(centered, full_matrices=False)
    return centered @ vt[:n_components].T
''')  # fmt: skip
case("int64[:], int64[:], int", '''
def confusion_matrix(labels, predictions, n_classes):
    m = np.zeros((n_classes, n_classes), dtype=int)
    for t, p in zip(labels, predictions):
        m[t, p] += 1
    return m
''')  # fmt: skip
case("float64[:], float64[:], float", '''
def kde(points, grid, bandwidth):
    u = (grid[:, None] - points[None, :]) / bandwidth
    return np.exp(-0.5 * u ** 2).sum(axis=1) / (len(points) * bandwidth * np.sqrt(2 * np.pi))
''')  # fmt: skip
case("float64[:], float, bool", '''
def trimmed_mean(a, proportion=0.1, sort=True):
    """Mean without the tails.

    Args:
        a (array_like): values
        proportion (float, optional): of each tail. Defaults to 0.1.
        sort (bool): whether to sort
    """
    if sort:
        a = np.sort(a)
    k = int(proportion * len(a))
    return a[k:len(a) - k].mean()
''')  # fmt: skip
case("float64[:], int", '''
def autocorrelation(x, lag):
    x = x - x.mean()
    if lag == 0:
        return 1.0
    return np.sum(x[:-lag] * x[lag:]) / np.sum(x * x)
''')  # fmt: skip
case("float64[:], float64[:]", '''
def ks_statistic(sample1, sample2):
    """Kolmogorov-Smirnov.

    :param sample1: first sample
    :param sample2: second sample
    """
    s1, s2 = np.sort(sample1), np.sort(sample2)
    everything = np.concatenate([s1, s2])
    c1 = np.searchsorted(s1, everything, side="right") / len(s1)
    c2 = np.searchsorted(s2, everything, side="right") / len(s2)
    return np.abs(c1 - c2).max()
''')  # fmt: skip
case("int, int, float", '''
def binomial_pmf(k, n, p):
    return math.comb(n, k) * p ** k * (1 - p) ** (n - k)
''')  # fmt: skip
case("float64[:], float64[:], None, None", '''
def weighted_fit(x, y, w=None, x0=None):
    w = np.ones_like(x) if w is None else np.asarray(w)
    if x0 is not None:
        x = x - x0
    sw, sx, sy = w.sum(), (w * x).sum(), (w * y).sum()
    sxx, sxy = (w * x * x).sum(), (w * x * y).sum()
    slope = (sw * sxy - sx * sy) / (sw * sxx - sx ** 2)
    return slope, (sy - slope * sx) / sw
''')  # fmt: skip

# --- signal processing

case("float64[:], float, float", '''
def lowpass(signal, cutoff, fs):
    rc = 1 / (2 * np.pi * cutoff)
    a = (1 / fs) / (rc + 1 / fs)
    out = np.empty_like(signal)
    out[0] = signal[0]
    for i in range(1, len(signal)):
        out[i] = out[i - 1] + a * (signal[i] - out[i - 1])
    return out
''')  # fmt: skip
case("float64[:], int, int", '''
def stft(x, n_fft, hop):
    win = np.hanning(n_fft)
    frames = 1 + (len(x) - n_fft) // hop
    out = np.empty((frames, n_fft // 2 + 1), dtype=complex)
    for k in range(frames):
        out[k] = np.fft.rfft(win * x[k * hop:k * hop + n_fft])
    return out
''')  # fmt: skip
case("float64[:], float64[:], float64[:]", '''
def lfilter(b, a, x):
    y = np.zeros(len(x))
    for n in range(len(x)):
        for k in range(len(b)):
            if n - k >= 0:
                y[n] += b[k] * x[n - k]
        for k in range(1, len(a)):
            if n - k >= 0:
                y[n] -= a[k] * y[n - k]
    return y / a[0]
''')  # fmt: skip
case("float64[:], float", '''
def zero_crossing_rate(frame, fs):
    signs = np.sign(frame)
    return np.sum(np.abs(np.diff(signs)) > 0) * fs / len(frame)
''')  # fmt: skip
case("float64[:], float, int, 'hann'", '''
def periodogram(x, fs, nfft, window="hann"):
    """Power spectrum.

    Parameters
    ----------
    x : array_like
        Signal.
    fs : float
        Sampling frequency.
    nfft : int
        Length of the transform.
    window : {'hann', 'boxcar'}, optional
        Taper.
    """
    w = np.hanning(len(x)) if window == "hann" else np.ones(len(x))
    spec = np.abs(np.fft.rfft(x * w, nfft)) ** 2
    return np.fft.rfftfreq(nfft, 1 / fs), spec / (fs * (w ** 2).sum())
''')  # fmt: skip
case("float, float, float, float", '''
def chirp(duration, f0, f1, fs):
    t = np.arange(0, duration, 1 / fs)
    k = (f1 - f0) / duration
    return np.sin(2 * np.pi * (f0 * t + k * t ** 2 / 2))
''')  # fmt: skip
case("float64[:], int", '''
def median_filter(x, size):
    half = size // 2
    padded = np.pad(x, half, mode="edge")
    return np.array([np.median(padded[i:i + size]) for i in range(len(x))])
''')  # fmt: skip
case("float64[:], dtype", '''
def quantise(x, dtype):
    info = np.iinfo(dtype)
    return np.clip(np.round(x * info.max), info.min, info.max).astype(dtype)
''')  # fmt: skip
case("float64[:], (float, float), int", '''
def band_energy(x, band, fs=44100):
    """Energy in a band.

    Parameters
    ----------
    x : 1-D ndarray
    band : tuple of float
        Lower and upper edge.
    fs : int
    """
    spectrum = np.fft.rfft(x)
    freqs = np.fft.rfftfreq(x.size, 1 / fs)
    low, high = band
    return np.sum(np.abs(spectrum[(freqs >= low) & (freqs < high)]) ** 2)
''')  # fmt: skip

# --- machine learning

case("float64[:,:], int64[:]", '''
def cross_entropy(logits, targets):
    z = logits - logits.max(axis=1, keepdims=True)
    logp = z - np.log(np.exp(z).sum(axis=1, keepdims=True))
    return -logp[np.arange(len(targets)), targets].mean()
''')  # fmt: skip
case("float64[:,:], float64[:,:], int", '''
def kmeans(X, centroids, iterations):
    for _ in range(iterations):
        d = ((X[:, None, :] - centroids[None, :, :]) ** 2).sum(axis=2)
        labels = d.argmin(axis=1)
        for k in range(len(centroids)):
            if np.any(labels == k):
                centroids[k] = X[labels == k].mean(axis=0)
    return centroids, labels
''')  # fmt: skip
case("float64[:,:], float64[:], float, int", '''
def logistic_regression(X, y, lr=0.1, epochs=100):
    w = np.zeros(X.shape[1])
    for _ in range(epochs):
        p = 1 / (1 + np.exp(-X @ w))
        w -= lr * X.T @ (p - y) / len(y)
    return w
''')  # fmt: skip
case("float64[:,:], float64[:,:], float64[:]", '''
def dense(x, weights, bias):
    """A layer.

    Args:
        x: inputs of shape (batch, features).
        weights (np.ndarray): matrix of shape (features, units).
        bias (np.ndarray): vector of shape (units,).
    """
    return np.maximum(x @ weights + bias, 0)
''')  # fmt: skip
case("int64[:], int", '''
def one_hot(labels, num_classes):
    out = np.zeros((len(labels), num_classes))
    out[np.arange(len(labels)), labels] = 1
    return out
''')  # fmt: skip
case("float64[:,:], float64[:,:], int", '''
def knn(train, query, k):
    d = np.linalg.norm(query[:, np.newaxis] - train, axis=2)
    return np.argsort(d, axis=1)[:, :k]
''')  # fmt: skip
case("float64[:,:,:], float64[:,:,:], float64[:,:,:]", '''
def attention(q, k, v):
    """Scaled dot product attention.

    Parameters
    ----------
    q, k, v : ndarray, shape (batch, length, dim)
    """
    scores = np.einsum("bqd,bkd->bqk", q, k) / np.sqrt(q.shape[-1])
    e = np.exp(scores - scores.max(-1, keepdims=True))
    return np.einsum("bqk,bkd->bqd", e / e.sum(-1, keepdims=True), v)
''')  # fmt: skip
case("float64[:], float64[:], float64[:], float, float, int", '''
def adam_step(m, v, grad, b1, b2, t):
    """One step.

    Args:
        m (array): first moment
        v (array): second moment
        grad (array): gradient
        b1 (float): decay of the first
        b2 (float): decay of the second
        t (int): step, from 1
    """
    m = b1 * m + (1 - b1) * grad
    v = b2 * v + (1 - b2) * grad ** 2
    return m / (1 - b1 ** t) / (np.sqrt(v / (1 - b2 ** t)) + 1e-8)
''')  # fmt: skip
case("float64[:,:,:,:], int", '''
def max_pool(x, size):
    n, c, h, w = x.shape
    return x.reshape(n, c, h // size, size, w // size, size).max(axis=(3, 5))
''')  # fmt: skip
case("(int, int), float, Generator", '''
def dropout_mask(shape, keep, rng):
    """A mask.

    Args:
        shape (tuple[int, int]): of the layer.
        keep (float): share that is kept.
        rng (np.random.Generator): draws it.
    """
    return (rng.random(shape) < keep) / keep
''')  # fmt: skip
case("float64[:], 'relu'", '''
def activate(x, kind):
    """Apply an activation.

    Parameters
    ----------
    x : np.ndarray
    kind : {"relu", "tanh", "sigmoid"}
    """
    if kind == "relu":
        return np.maximum(x, 0)
    if kind == "tanh":
        return np.tanh(x)
    return 1 / (1 + np.exp(-x))
''')  # fmt: skip
case("?", '''
def forward(params, x):
    h = np.tanh(x @ params["W1"] + params["b1"])
    return h @ params["W2"] + params["b2"]
''')  # fmt: skip
case("float64[:], float64[:], ()", '''
def evaluate(coefficients, x, *args):
    result = np.zeros_like(x)
    for c in coefficients[::-1]:
        result = result * x + c
    return result
''')  # fmt: skip


@pytest.mark.parametrize("expected, text", CASES, ids=[re.match(r"def (\w+)", text)[1] for _, text in CASES])  # type: ignore[index]
def test_the_likely_types_are_those_that_the_author_would_call_it_with(expected: str, text: str) -> None:
    assert guessed(text) == expected


def guessed(text: str) -> str:
    """The types as text, sizes as ``:``; ``?`` where there are none."""
    name = re.match(r"def (\w+)", text)[1]  # type: ignore[index]
    scope = TextScope(f"import math\n\nimport numpy as np\n\n\n{text}\n", "<text>", trusting=True)
    guess = likely_types(scope.function(name).node, finder(scope))
    if guess.missing:
        return "?"
    shown = [re.sub(r"(\w)\[(.*)\]$", _without_sizes, str(kind)) for kind in guess.types]
    return ", ".join("dtype" if "numpy.float64" in t else t for t in shown)


def _without_sizes(found: re.Match[str]) -> str:
    return f"{found[1]}[{','.join(':' for _ in found[2].split(','))}]"
