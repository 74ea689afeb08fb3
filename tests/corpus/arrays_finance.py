"""Array functions as they are written in finance."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.corpus.registry import Case


def returns_and_risk(prices: Any) -> Any:
    """Mean daily return, annual volatility and the covariance of assets."""
    log_returns = np.diff(np.log(prices), axis=0)
    mean = log_returns.mean(axis=0)
    volatility = log_returns.std(axis=0, ddof=1) * np.sqrt(252)
    return mean, volatility, np.cov(log_returns, rowvar=False)


def moving_average(prices: Any, window: int) -> Any:
    """Simple moving averages, NaN before the first full window."""
    result = np.full(prices.shape, np.nan)
    running = np.cumsum(np.insert(prices, 0, 0.0))
    result[window - 1 :] = (running[window:] - running[:-window]) / window
    return result


def exponential_average(prices: Any, span: int) -> Any:
    alpha = 2.0 / (span + 1)
    out = np.empty_like(prices)
    out[0] = prices[0]
    for i in range(1, prices.shape[0]):
        out[i] = alpha * prices[i] + (1 - alpha) * out[i - 1]
    return out


def drawdown(prices: Any) -> Any:
    """Drawdown series, the worst one, and where it ends."""
    peak = np.maximum.accumulate(prices)
    fall = (prices - peak) / peak
    end = np.argmin(fall)
    return fall, fall[end], int(end)


def net_present_value(rate: float, flows: Any) -> Any:
    periods = np.arange(flows.size)
    return np.sum(flows / (1 + rate) ** periods)


def bond_prices(coupon: float, face: float, years: int, rates: Any) -> Any:
    """Prices over yields, and durations."""
    t = np.arange(1, years + 1)
    flows = np.full(years, coupon * face)
    flows[-1] += face
    discount = (1 + rates[:, None]) ** -t
    present = discount * flows
    price = present.sum(axis=1)
    return price, (present * t).sum(axis=1) / price


def binomial_option(spot: float, strike: float, rate: float, sigma: float, steps: int) -> Any:
    """An American put on a tree."""
    dt = 1.0 / steps
    up = np.exp(sigma * np.sqrt(dt))
    p = (np.exp(rate * dt) - 1 / up) / (up - 1 / up)
    prices = spot * up ** (2.0 * np.arange(steps + 1) - steps)
    values = np.maximum(strike - prices, 0)
    discount = np.exp(-rate * dt)
    for step in range(steps - 1, -1, -1):
        held = discount * (p * values[1 : step + 2] + (1 - p) * values[: step + 1])
        now = spot * up ** (2.0 * np.arange(step + 1) - step)
        values[: step + 1] = np.maximum(held, strike - now)
    return values[0]


def monte_carlo_call(spot: float, strike: float, rate: float, sigma: float, paths: int, seed: int) -> Any:
    rng = np.random.default_rng(seed)
    z = rng.standard_normal(paths)
    terminal = spot * np.exp((rate - 0.5 * sigma**2) + sigma * z)
    payoff = np.exp(-rate) * np.maximum(terminal - strike, 0.0)
    return payoff.mean(), payoff.std(ddof=1) / np.sqrt(paths)


def minimum_variance(cov: Any) -> Any:
    """Weights of the portfolio of least variance."""
    ones = np.ones(cov.shape[0])
    w = np.linalg.solve(cov, ones)
    w /= w.sum()
    return w, np.sqrt(w @ cov @ w)


def value_at_risk(returns: Any, level: float) -> Any:
    """Historical value at risk and the mean loss beyond it."""
    cut = np.quantile(returns, level)
    tail = returns[returns <= cut]
    return -cut, -tail.mean()


def rsi(prices: Any, n: int) -> Any:
    """The relative strength index over the last n changes."""
    change = np.diff(prices)
    gain, loss = np.where(change > 0, change, 0.0), np.where(change < 0, -change, 0.0)
    up = np.convolve(gain, np.ones(n) / n, mode="valid")
    down = np.convolve(loss, np.ones(n) / n, mode="valid")
    return 100 - 100 / (1 + up / np.maximum(down, 1e-12))


def order_book(prices: Any, sizes: Any, quantity: float) -> Any:
    """The mean price of buying a quantity, cheapest offers first."""
    order = np.argsort(prices, kind="stable")
    p, s = prices[order], sizes[order]
    before = np.concatenate(([0.0], np.cumsum(s)[:-1]))
    taken = np.clip(quantity - before, 0.0, s)
    return np.sum(taken * p) / np.sum(taken), taken


def amortization(principal: float, rate: float, n: int) -> Any:
    """Payments of a loan: interest, repayment, what is left."""
    payment = principal * rate / (1 - (1 + rate) ** -n)
    table = np.zeros((n, 3))
    balance = principal
    for k in range(n):
        interest = balance * rate
        balance = balance - (payment - interest)
        table[k] = interest, payment - interest, balance
    return table


def regression_beta(asset: Any, market: Any) -> Any:
    """Alpha, beta and the fraction of variance explained."""
    X = np.column_stack((np.ones_like(market), market))
    coefficients = np.linalg.lstsq(X, asset, rcond=None)[0]
    residual = asset - X @ coefficients
    r2 = 1 - np.sum(residual**2) / np.sum((asset - asset.mean()) ** 2)
    return coefficients, r2


CASES = [
    Case(returns_and_risk, lambda r: (np.exp(r.normal(size=(20, 3)) * 0.1 + 4),), ulps=512, scale=0.5, special=False),
    Case(moving_average, lambda r: (r.random(15) + 9, 4), ulps=64, scale=100.0),
    Case(exponential_average, lambda r: (r.random(15) + 9, 5)),
    Case(drawdown, lambda r: (r.random(15) + 9,), ulps=1),
    Case(net_present_value, lambda r: (0.05, r.normal(size=8)), ulps=32, scale=8.0),
    Case(bond_prices, lambda r: (0.04, 100.0, 7, r.random(5) * 0.1), ulps=32),
    Case(binomial_option, lambda r: (100.0, 105.0, 0.03, 0.2, 12), ulps=64),
    Case(
        monte_carlo_call,
        lambda r: (100.0, 105.0, 0.03, 0.2, 500, 4),
        ulps=64,
        refused={"pallas": "`seeded` has no JAX form"},
    ),
    Case(minimum_variance, lambda r: (np.cov(r.normal(size=(4, 30))),), ulps=512, scale=1.0, special=False),
    Case(value_at_risk, lambda r: (r.normal(size=40), 0.05), ulps=16, special=False),
    Case(rsi, lambda r: (r.random(20) + 9, 5), ulps=64, scale=100.0),
    Case(order_book, lambda r: (r.random(6) + 9, r.random(6), 1.7), ulps=16),
    Case(amortization, lambda r: (1000.0, 0.01, 12), ulps=8),
    Case(
        regression_beta,
        lambda r: (r.normal(size=20), r.normal(size=20)),
        ulps=512,
        scale=1.0,
        special=False,
        refused={"cuda": "CuPy has no `lstsq`", "pallas": "`lstsq` has no JAX form"},
    ),
]
