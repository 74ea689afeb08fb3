"""Finance and statistics by hand: books of positions, cash flows, indicators, root finding."""

# ruff: noqa: B007, B018, B905, E741, PERF401, UP031
from __future__ import annotations

import math
from collections import namedtuple
from dataclasses import dataclass
from typing import Any

import numpy as np

from tests.corpus.registry import Case

Quote = namedtuple("Quote", "bid ask size")
DAYS = 252
HOLIDAYS = np.array([3, 17, 44, 90] * 20)
RATES = {"usd": 0.05, "eur": 0.03}


@dataclass
class Position:
    quantity: float
    cost: float = 0.0

    @property
    def average(self) -> float:
        return self.cost / self.quantity if self.quantity else 0.0

    def trade(self, quantity: float, price: float) -> float:
        """Realised profit."""
        if quantity * self.quantity >= 0:
            self.quantity += quantity
            self.cost += quantity * price
            return 0.0
        closed = min(abs(quantity), abs(self.quantity))
        profit = closed * (price - self.average) * (1 if self.quantity > 0 else -1)
        before = self.average
        self.quantity += quantity
        self.cost = self.quantity * (before if abs(quantity) <= closed else price)
        return profit


def run_book(position: Position, trades: Any) -> Any:
    """An object with a property, changed in a loop over rows."""
    realised = 0.0
    for quantity, price in trades:
        realised += position.trade(float(quantity), float(price))
    return realised, position.average


def net_present_value(rate: float, flows: list) -> float:
    """sum of a generator over enumerate."""
    if rate <= -1:
        raise ValueError(f"rate {rate} is not above -1")
    return sum(flow / (1 + rate) ** k for k, flow in enumerate(flows))


def internal_rate(flows: list, low: float = -0.5, high: float = 1.0) -> float:
    """Bisection with a nested function; returns from inside the loop."""

    def value(rate: float) -> float:
        return net_present_value(rate, flows)

    if value(low) * value(high) > 0:
        raise ValueError("no sign change")
    for _ in range(40):
        mid = (low + high) / 2
        v = value(mid)
        if abs(v) < 1e-9:
            return mid
        if value(low) * v < 0:
            high = mid
        else:
            low = mid
    return (low + high) / 2


def norm_cdf(x: float) -> float:
    """A polynomial with its coefficients in a tuple."""
    t = 1 / (1 + 0.2316419 * abs(x))
    poly = 0.0
    for c in (1.330274429, -1.821255978, 1.781477937, -0.356563782, 0.319381530):
        poly = (poly + c) * t
    tail = poly * math.exp(-x * x / 2) / math.sqrt(2 * math.pi)
    return 1 - tail if x >= 0 else tail


def black_scholes(
    spot: float, strike: float, years: float, vol: float, kind: str = "call", currency: str = "usd"
) -> Any:
    """Strings as flags, a table of the module, a dict of results."""
    if kind not in ("call", "put"):
        raise ValueError(f"kind must be call or put, not {kind}")
    rate = RATES[currency]
    d1 = (math.log(spot / strike) + (rate + vol * vol / 2) * years) / (vol * math.sqrt(years))
    d2 = d1 - vol * math.sqrt(years)
    sign = 1 if kind == "call" else -1
    price = sign * (spot * norm_cdf(sign * d1) - strike * math.exp(-rate * years) * norm_cdf(sign * d2))
    return {"price": price, "delta": sign * norm_cdf(sign * d1), "d": (d1, d2)}


def moving_averages(prices: Any, windows: tuple = (2, 3)) -> dict:
    """Arrays of different lengths in a dict by window."""
    return {w: np.array([prices[i : i + w].sum() / w for i in range(len(prices) - w + 1)]) for w in windows}


def ema(prices: Any, span: int) -> Any:
    """A recurrence with its start in a conditional expression."""
    alpha = 2 / (span + 1)
    out = np.empty_like(prices)
    for i, p in enumerate(prices):
        out[i] = p if i == 0 else alpha * p + (1 - alpha) * out[i - 1]
    return out


def crossings(fast: Any, slow: Any) -> list:
    """A list of tuples of run-time length."""
    events = []
    for i in range(1, len(fast)):
        before, now = fast[i - 1] - slow[i - 1], fast[i] - slow[i]
        if before <= 0 < now:
            events.append((i, 1))
        elif before >= 0 > now:
            events.append((i, -1))
    return events


def drawdown(equity: Any) -> tuple:
    """Several values carried; a walrus."""
    peak, worst, start, end = equity[0], 0.0, 0, 0
    peak_at = 0
    for i, e in enumerate(equity):
        if e > peak:
            peak, peak_at = e, i
        if (depth := (peak - e) / peak) > worst:
            worst, start, end = depth, peak_at, i
    return worst, start, end


def match_orders(bids: Any, asks: Any) -> Any:
    """Two cursors in one while loop, fills in a list of floats."""
    i = j = 0
    fills = []
    bid_left, ask_left = bids[:, 1].copy(), asks[:, 1].copy()
    for _ in range(len(bids) + len(asks)):
        if i >= len(bids) or j >= len(asks) or bids[i, 0] < asks[j, 0]:
            break
        volume = min(bid_left[i], ask_left[j])
        fills.append(float(volume))
        bid_left[i] -= volume
        ask_left[j] -= volume
        if bid_left[i] <= 0:
            i += 1
        if j < len(asks) and ask_left[j] <= 0:
            j += 1
    return fills, i, j


def spread_statistics(quotes: list) -> Any:
    """A list of named tuples; max with a key; a comprehension with a condition."""
    spreads = [q.ask - q.bid for q in quotes]
    widest = max(quotes, key=lambda q: q.ask - q.bid)
    liquid = [q.size for q in quotes if q.size > 0]
    return sum(spreads) / len(spreads), widest.size, liquid


def settle(cash: dict, trades: list) -> dict:
    """A dict argument changed under constant keys, and returned."""
    for currency, amount in trades:
        if currency not in cash:
            raise KeyError(currency)
        cash[currency] += amount
    cash["count"] = len(trades)
    return cash


def business_days(start: int, count: int) -> Any:
    """A large table of the module, `in` an array."""
    days = np.zeros(count, dtype=np.int64)
    day, found = start, 0
    while found < count and day < start + 4 * count + 8:
        if day % 7 < 5 and day not in HOLIDAYS:
            days[found] = day
            found += 1
        day += 1
    return days, found


def covariance(returns: Any, shrink: float | None = None) -> Any:
    """Loops over a triangle, the other by symmetry; an optional number."""
    n, k = returns.shape
    mean = returns.sum(axis=0) / n
    cov = np.zeros((k, k))
    for i in range(k):
        for j in range(i + 1):
            s = 0.0
            for t in range(n):
                s += (returns[t, i] - mean[i]) * (returns[t, j] - mean[j])
            cov[i, j] = cov[j, i] = s / (n - 1)
    if shrink is not None:
        for i in range(k):
            for j in range(k):
                if i != j:
                    cov[i, j] *= 1 - shrink
    return cov


def round_lots(weights: Any, budget: float, price: Any, lot: int = 10) -> Any:
    """int, round, divmod and floor division of run-time numbers."""
    lots = []
    left = budget
    for w, p in zip(weights, price):
        shares = int(w * budget / p)
        whole, rest = divmod(shares, lot)
        lots.append(whole * lot)
        left -= whole * lot * float(p)
    return lots, round(left), left // 1, bool(left > 0)


def simulate_paths(seed: int, n: int, steps: int, vol: float = 0.2) -> Any:
    """Antithetic pairs by a small generator of integers; results as a tuple of arrays."""
    paths = np.ones((2 * n, steps + 1))
    state = seed
    for i in range(n):
        for t in range(steps):
            state = (69069 * state + 1) % 4294967296
            u = state / 4294967296 - 0.5
            move = vol / math.sqrt(DAYS) * u
            paths[2 * i, t + 1] = paths[2 * i, t] * (1 + move)
            paths[2 * i + 1, t + 1] = paths[2 * i + 1, t] * (1 - move)
    return paths, (paths[::2, -1] + paths[1::2, -1]) / 2


def tax(income: float, brackets: tuple = ((10_000.0, 0.1), (40_000.0, 0.25), (math.inf, 0.4))) -> Any:
    """Nested tuples of constants with early break; the name of the bracket."""
    due, below = 0.0, 0.0
    for number, (limit, rate) in enumerate(brackets):
        part = min(income, limit) - below
        if part <= 0:
            break
        due += part * rate
        below, top = limit, number
    return due, top


def total_tax(incomes: Any) -> Any:
    return sum(tax(float(i))[0] for i in incomes), [tax(float(i))[1] for i in incomes[:3]]


def rebalance(holdings: Any, target: Any, *, threshold: float = 0.05, integer: bool = False) -> Any:
    """Keyword-only arguments; in-place with a mask; a view returned."""
    total = holdings.sum()
    drift = abs(holdings / total - target) > threshold
    holdings[drift] = (target * total)[drift]
    if integer:
        np.floor(holdings, out=holdings)
    return drift, holdings[:2]


# fmt: off
CASES = [
    Case(run_book, lambda r: (Position(5.0, 50.0), r.normal(size=(6, 2)) * 3 + [0, 10]), 16),
    Case(internal_rate, lambda r: ([-100.0, 30.0, 40.0, 50.0, float(r.random())],), 64),
    Case(internal_rate, lambda r: ([100.0, 30.0, 40.0],)),
    Case(black_scholes, lambda r: (100.0, 95.0, 0.5, 0.2, "put", "eur"), 64),
    Case(black_scholes, lambda r: (100.0, -95.0, 0.5, 0.2)),
    Case(moving_averages, lambda r: (r.random(9) + 1,), 8),
    Case(ema, lambda r: (r.random(9), 4), 4),
    Case(crossings, lambda r: (r.normal(size=12), r.normal(size=12))),
    Case(drawdown, lambda r: (r.random(12) + 1,)),
    Case(
        match_orders, lambda r: (-np.sort(-r.random((5, 2)), axis=0) + 0.2, np.sort(r.random((4, 2)), axis=0)),
        special=False,
    ),
    Case(spread_statistics, lambda r: ([Quote(float(a), float(a + c), int(10 * c)) for a, c in r.random((4, 2))],)),
    Case(settle, lambda r: ({"usd": 10.0, "eur": 5.0, "count": 0}, [("usd", 2.5), ("eur", float(r.random()))])),
    Case(settle, lambda r: ({"usd": 10.0, "count": 0}, [("usd", 2.5), ("gbp", 1.0)])),
    Case(business_days, lambda r: (int(r.integers(0, 40)), 6)),
    Case(covariance, lambda r: (r.normal(size=(7, 3)),), 64, 1.0, special=False),
    Case(covariance, lambda r: (r.normal(size=(7, 3)), 0.1), 64, 1.0, special=False),
    Case(round_lots, lambda r: (r.random(4), 1e4, r.random(4) * 50 + 1), 4, special=False),
    Case(simulate_paths, lambda r: (int(r.integers(1, 99)), 3, 4)),
    Case(total_tax, lambda r: (r.random(5) * 60_000 + 1,), special=False),
    Case(rebalance, lambda r: (r.random(5) * 10, np.full(5, 0.2)), 16),
]
# fmt: on
