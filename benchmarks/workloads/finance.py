"""Finance: prices of options, risk, rolling statistics of prices."""

from __future__ import annotations

from math import exp, log, sqrt

import numpy as np

from .registry import inlined, jnp, ne, prange, register

# ---- Black–Scholes ---------------------------------------------------------------------------------------------------


def black_scholes(spot, strike, maturity, rate, vol):
    """Prices of European calls and puts; the normal distribution by Abramowitz and Stegun, 26.2.17."""

    def cdf(x):
        k = 1.0 / (1.0 + 0.2316419 * np.abs(x))
        poly = k * (0.319381530 + k * (-0.356563782 + k * (1.781477937 + k * (-1.821255978 + k * 1.330274429))))
        tail = np.exp(-0.5 * x * x) / np.sqrt(2.0 * np.pi) * poly
        return np.where(x >= 0.0, 1.0 - tail, tail)

    root = vol * np.sqrt(maturity)
    d1 = (np.log(spot / strike) + (rate + 0.5 * vol**2) * maturity) / root
    d2 = d1 - root
    discount = np.exp(-rate * maturity)
    call = spot * cdf(d1) - strike * discount * cdf(d2)
    put = strike * discount * cdf(-d2) - spot * cdf(-d1)
    return call, put


@inlined
def _cdf(x):
    k = 1.0 / (1.0 + 0.2316419 * abs(x))
    poly = k * (0.319381530 + k * (-0.356563782 + k * (1.781477937 + k * (-1.821255978 + k * 1.330274429))))
    tail = exp(-0.5 * x * x) * 0.3989422804014327 * poly
    return 1.0 - tail if x >= 0.0 else tail


def black_scholes_loops(spot, strike, maturity, rate, vol):
    call, put = np.empty_like(spot), np.empty_like(spot)
    for i in prange(spot.size):
        root = vol * sqrt(maturity[i])
        d1 = (log(spot[i] / strike[i]) + (rate + 0.5 * vol * vol) * maturity[i]) / root
        present = strike[i] * exp(-rate * maturity[i])
        call[i] = spot[i] * _cdf(d1) - present * _cdf(d1 - root)
        put[i] = call[i] + present - spot[i]  # parity
    return call, put


def black_scholes_expressions(spot, strike, maturity, rate, vol):
    root = ne.evaluate("vol * sqrt(maturity)")
    d1 = ne.evaluate("(log(spot / strike) + (rate + 0.5 * vol * vol) * maturity) / root")
    d2 = ne.evaluate("d1 - root")
    poly = "(0.319381530 + K * (-0.356563782 + K * (1.781477937 + K * (-1.821255978 + K * 1.330274429))))"
    values = []
    for x in (d1, d2):
        k = ne.evaluate("1.0 / (1.0 + 0.2316419 * abs(x))")
        t = ne.evaluate("exp(-0.5 * x * x) * 0.3989422804014327 * k * " + poly.replace("K", "k"))
        values.append(ne.evaluate("where(x >= 0, 1.0 - t, t)"))
    n1, n2 = values
    call = ne.evaluate("spot * n1 - strike * exp(-rate * maturity) * n2")
    return call, ne.evaluate("call + strike * exp(-rate * maturity) - spot")


def black_scholes_jax(spot, strike, maturity, rate, vol):
    def cdf(x):
        k = 1.0 / (1.0 + 0.2316419 * jnp.abs(x))
        poly = k * (0.319381530 + k * (-0.356563782 + k * (1.781477937 + k * (-1.821255978 + k * 1.330274429))))
        tail = jnp.exp(-0.5 * x * x) * 0.3989422804014327 * poly
        return jnp.where(x >= 0.0, 1.0 - tail, tail)

    root = vol * jnp.sqrt(maturity)
    d1 = (jnp.log(spot / strike) + (rate + 0.5 * vol**2) * maturity) / root
    present = strike * jnp.exp(-rate * maturity)
    call = spot * cdf(d1) - present * cdf(d1 - root)
    return call, call + present - spot


register(
    "black-scholes", black_scholes,
    lambda rng, n: (rng.uniform(50, 150, n), rng.uniform(50, 150, n), rng.uniform(0.1, 2, n), 0.03, 0.25), 200_000, 200,
    loops=black_scholes_loops, expressions=black_scholes_expressions, arrays=black_scholes_jax,
)  # fmt: skip

# ---- drawdown --------------------------------------------------------------------------------------------------------


def drawdown(returns):
    """Wealth relative to its highest value so far, and the worst of it, for each column."""
    wealth = np.cumprod(1.0 + returns, axis=0)
    peak = np.maximum.accumulate(wealth, axis=0)
    below = wealth / peak - 1.0
    return below, below.min(axis=0)


def drawdown_loops(returns):
    days, assets = returns.shape
    below, worst = np.empty_like(returns), np.empty(assets)
    width = 8
    for block in prange((assets + width - 1) // width):
        start, end = block * width, min(block * width + width, assets)
        wealth, peak = np.ones(width), np.zeros(width)
        worst[start:end] = np.inf
        for t in range(days):
            for k in range(start, end):
                wealth[k - start] *= 1.0 + returns[t, k]
                peak[k - start] = max(peak[k - start], wealth[k - start])
                below[t, k] = wealth[k - start] / peak[k - start] - 1.0
                worst[k] = min(worst[k], below[t, k])
    return below, worst


def drawdown_jax(returns):
    wealth = jnp.cumprod(1.0 + returns, axis=0)
    below = wealth / jnp.maximum.accumulate(wealth, axis=0) - 1.0
    return below, below.min(axis=0)


register(
    "drawdown", drawdown, lambda rng, n: (0.01 * rng.standard_normal((n, 100)),), 2500, 20,
    loops=drawdown_loops, arrays=drawdown_jax,
)  # fmt: skip

# ---- rolling z-scores ------------------------------------------------------------------------------------------------


def rolling_zscore(prices, window):
    """How many standard deviations each price is above the mean of its window."""
    windows = np.lib.stride_tricks.sliding_window_view(prices, window)
    return (prices[window - 1 :] - windows.mean(axis=-1)) / windows.std(axis=-1, ddof=1)


def rolling_zscore_loops(prices, window):
    count = prices.size - window + 1
    out = np.empty(count)
    block = 1024  # sums are begun anew in each block, and go along with the window in it
    for b in prange((count + block - 1) // block):
        start, end = b * block, min(b * block + block, count)
        shift = prices[start]
        total, squares = 0.0, 0.0
        for k in range(start, start + window - 1):
            d = prices[k] - shift
            total += d
            squares += d * d
        for i in range(start, end):
            d = prices[i + window - 1] - shift
            total += d
            squares += d * d
            mean = total / window
            out[i] = (d - mean) / sqrt((squares - total * mean) / (window - 1))
            d = prices[i] - shift
            total -= d
            squares -= d * d
    return out


def rolling_zscore_jax(prices, window):
    shifted = prices - prices.mean()
    zero = jnp.zeros(1)
    sums = jnp.concatenate([zero, jnp.cumsum(shifted)])
    squares = jnp.concatenate([zero, jnp.cumsum(shifted**2)])
    total, square = sums[window:] - sums[:-window], squares[window:] - squares[:-window]
    mean = total / window
    return (shifted[window - 1 :] - mean) / jnp.sqrt((square - total * mean) / (window - 1))


register(
    "rolling z-scores", rolling_zscore, lambda rng, n: (100 + np.cumsum(0.1 * rng.standard_normal(n)), 30), 50_000, 100,
    loops=rolling_zscore_loops, arrays=rolling_zscore_jax,
)  # fmt: skip

# ---- Monte Carlo -----------------------------------------------------------------------------------------------------


def asian_call(normals, spot, strike, rate, vol, maturity):
    """Price of a call on the mean of a path, and its standard error, from given normal numbers."""
    steps = normals.shape[1]
    dt = maturity / steps
    increments = (rate - 0.5 * vol**2) * dt + vol * np.sqrt(dt) * normals
    paths = spot * np.exp(np.cumsum(increments, axis=1))
    payoff = np.exp(-rate * maturity) * np.maximum(paths.mean(axis=1) - strike, 0)
    return payoff.mean(), payoff.std(ddof=1) / np.sqrt(len(payoff))


def asian_call_loops(normals, spot, strike, rate, vol, maturity):
    count, steps = normals.shape
    dt = maturity / steps
    drift, scale = (rate - 0.5 * vol * vol) * dt, vol * sqrt(dt)
    payoff = np.empty(count)
    for p in prange(count):
        level, total = 0.0, 0.0
        for t in range(steps):
            level += drift + scale * normals[p, t]
            total += exp(level)
        payoff[p] = exp(-rate * maturity) * max(spot * total / steps - strike, 0.0)
    mean = payoff.mean()
    return mean, sqrt(((payoff - mean) ** 2).sum() / (count - 1)) / sqrt(count)


def asian_call_jax(normals, spot, strike, rate, vol, maturity):
    count, steps = normals.shape
    dt = maturity / steps
    paths = spot * jnp.exp(jnp.cumsum((rate - 0.5 * vol**2) * dt + vol * dt**0.5 * normals, axis=1))
    payoff = jnp.exp(-rate * maturity) * jnp.maximum(paths.mean(axis=1) - strike, 0)
    return payoff.mean(), payoff.std(ddof=1) / count**0.5


register(
    "asian call", asian_call, lambda rng, n: (rng.standard_normal((n, 100)), 100.0, 100.0, 0.03, 0.2, 1.0), 5000, 10,
    loops=asian_call_loops, arrays=asian_call_jax,
)  # fmt: skip

# ---- portfolios ------------------------------------------------------------------------------------------------------


def portfolios(weights, expected, cov):
    """Return, volatility and Sharpe ratio of many portfolios, and the best of them."""
    weights = weights / weights.sum(axis=1, keepdims=True)
    mean = weights @ expected
    vol = np.sqrt(np.einsum("pi,ij,pj->p", weights, cov, weights))
    sharpe = (mean - 0.02) / vol
    return mean, vol, sharpe, weights[np.argmax(sharpe)]


def portfolios_loops(weights, expected, cov):
    count, assets = weights.shape
    mean, vol, sharpe = np.empty(count), np.empty(count), np.empty(count)
    for p in prange(count):
        total, gain, variance = 0.0, 0.0, 0.0
        for i in range(assets):
            total += weights[p, i]
            gain += weights[p, i] * expected[i]
            row = 0.0
            for j in range(assets):
                row += cov[i, j] * weights[p, j]
            variance += row * weights[p, i]
        mean[p] = gain / total
        vol[p] = sqrt(variance) / total
        sharpe[p] = (mean[p] - 0.02) / vol[p]
    best = np.argmax(sharpe)
    return mean, vol, sharpe, weights[best] / weights[best].sum()


def portfolios_jax(weights, expected, cov):
    weights = weights / weights.sum(axis=1, keepdims=True)
    mean = weights @ expected
    vol = jnp.sqrt(((weights @ cov) * weights).sum(axis=1))
    sharpe = (mean - 0.02) / vol
    return mean, vol, sharpe, weights[jnp.argmax(sharpe)]


def _market(rng, n):
    factors = rng.standard_normal((24, 60))
    return rng.random((n, 24)), rng.uniform(0.0, 0.1, 24), factors @ factors.T / 1000


register("portfolios", portfolios, _market, 10_000, 20, loops=portfolios_loops, arrays=portfolios_jax)

# ---- stochastic volatility -------------------------------------------------------------------------------------------


def stochastic_volatility(z1, z2, spot, variance):
    """The price of a call by paths in Heston's model, of whose draws those of the variance are correlated."""
    steps, paths = z1.shape
    dt = 1.0 / steps
    mixed = -0.7 * z1 + np.sqrt(1 - 0.49) * z2
    x, v = np.zeros(paths), np.full(paths, variance)
    for t in range(steps):
        positive = np.where(v > 0, v, 0)
        x += (0.02 - 0.5 * positive) * dt + np.sqrt(positive * dt) * z1[t]
        v += 1.5 * (0.04 - positive) * dt + 0.3 * np.sqrt(positive * dt) * mixed[t]
    return np.mean(np.maximum(spot * np.exp(x) - 100, 0)) * np.exp(-0.02)


def stochastic_volatility_loops(z1, z2, spot, variance):
    steps, paths = z1.shape
    dt, other = 1.0 / steps, sqrt(1 - 0.49)
    x, v = np.zeros(paths), np.full(paths, variance)
    parts = 8
    for part in prange(parts):
        for t in range(steps):
            for j in range(paths * part // parts, paths * (part + 1) // parts):
                positive = max(v[j], 0.0)
                root = sqrt(positive * dt)
                x[j] += (0.02 - 0.5 * positive) * dt + root * z1[t, j]
                v[j] += 1.5 * (0.04 - positive) * dt + 0.3 * root * (-0.7 * z1[t, j] + other * z2[t, j])
    total = 0.0
    for j in range(paths):
        total += max(spot * np.exp(x[j]) - 100, 0.0)
    return total / paths * np.exp(-0.02)


def _draws(rng, n):
    return rng.standard_normal((100, n)), rng.standard_normal((100, n)), 100.0, 0.04


register("stochastic volatility", stochastic_volatility, _draws, 4000, 12, loops=stochastic_volatility_loops)

# ---- drawdowns of columns --------------------------------------------------------------------------------------------


def drawdowns(returns):
    """The gain and the deepest fall below the last peak, of many series side by side."""
    wealth = np.cumprod(1 + returns, axis=0)
    peaks = np.maximum.accumulate(wealth, axis=0)
    return wealth[-1] - 1, (wealth / peaks - 1).min(axis=0)


def drawdowns_loops(returns):
    steps, series = returns.shape
    wealth, peak, worst = np.ones(series), np.full(series, -np.inf), np.full(series, np.inf)
    for t in range(steps):
        for j in range(series):
            wealth[j] *= 1 + returns[t, j]
            peak[j] = max(peak[j], wealth[j])
            worst[j] = min(worst[j], wealth[j] / peak[j] - 1)
    return wealth - 1, worst


def _returns_of_many(rng, n):
    return (rng.standard_normal((n, 64)) * 0.01,)


register("drawdowns of columns", drawdowns, _returns_of_many, 2000, 12, loops=drawdowns_loops)
