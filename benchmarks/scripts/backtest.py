"""
Pairs / momentum backtest with explicit position state, stops, costs. Parameter grid, drawdown, Sharpe.
"""
import csv
import os
import tempfile
import warnings

import numpy as np

FEE = 0.0005
CAPITAL = 100_000.0


def make_prices(n, seed):
    np.random.seed(seed)
    p = np.empty(n)
    p[0] = 100
    vol = 0.01
    trend = 0.0
    for t in range(1, n):
        if np.random.random() < 0.01:
            trend = np.random.choice([-0.0006, 0.0, 0.0014])
        vol = 0.94 * vol + 0.06 * abs(np.random.normal(0, 0.013))
        p[t] = p[t - 1] * (1 + trend + vol * np.random.normal())
        p[t] = round(p[t], 2)
    return p


def save_csv(path, p):
    with open(path, "w", newline="") as fh:
        w = csv.writer(fh)
        w.writerow(["day", "close"])
        for i, x in enumerate(p):
            w.writerow([i, f"{x:.2f}"])


def load_csv(path):
    with open(path) as fh:
        return np.array([float(r["close"]) for r in csv.DictReader(fh)])


def ema(x, span):
    a = 2 / (span + 1)
    out = np.zeros(len(x))
    out[0] = x[0]
    for i in range(1, len(x)):
        out[i] = a * x[i] + (1 - a) * out[i - 1]
    return out


def rsi(x, n=14):
    out = np.full(len(x), np.nan)
    gain = loss = 0.0
    for i in range(1, len(x)):
        d = x[i] - x[i - 1]
        g, l = (d, 0.0) if d > 0 else (0.0, -d)
        gain = (gain * (n - 1) + g) / n
        loss = (loss * (n - 1) + l) / n
        if i >= n:
            out[i] = 100 - 100 / (1 + gain / loss) if loss > 0 else 100.0
    return out


def atr(x, n=14):
    out = np.zeros_like(x)
    for i in range(1, len(x)):
        out[i] = (out[i - 1] * (n - 1) + abs(x[i] - x[i - 1])) / n
    return out


class Strategy:
    def __init__(self, fast, slow, stop_mult, prices):
        self.fast = ema(prices, fast)
        self.slow = ema(prices, slow)
        self.rsi = rsi(prices)
        self.atr = atr(prices)
        self.stop_mult = stop_mult
        self.prices = prices
        self.pos = 0
        self.entry = None
        self.stop = None
        self.cash = CAPITAL
        self.trades = []
        self.equity = []

    def close_position(self, t, why):
        px = self.prices[t]
        self.cash += self.pos * px * (1 - FEE * np.sign(self.pos))
        self.trades.append(((px - self.entry) * self.pos, why))
        self.pos = 0
        self.entry = self.stop = None

    def on_bar(self, t):
        px = self.prices[t]
        if self.pos > 0:
            self.stop = max(self.stop, px - self.stop_mult * self.atr[t])
            if px < self.stop:
                self.close_position(t, "stop")
            elif self.fast[t] < self.slow[t]:
                self.close_position(t, "signal")
        elif self.fast[t] > self.slow[t] and not self.rsi[t] > 75:
            self.pos = int(self.cash // px)
            self.cash -= self.pos * px * (1 + FEE)
            self.entry = px
            self.stop = px - self.stop_mult * self.atr[t]
        self.equity.append(self.cash + self.pos * px)

    def run(self, start):
        for t in range(start, len(self.prices)):
            self.on_bar(t)
        if self.pos:
            self.close_position(len(self.prices) - 1, "end")
        return np.array(self.equity)


def max_drawdown(eq):
    peak = -np.inf
    mdd = 0.0
    start = end = cur = 0
    for i in range(len(eq)):
        if eq[i] > peak:
            peak = eq[i]
            cur = i
        dd = 1 - eq[i] / peak
        if dd > mdd:
            mdd, start, end = dd, cur, i
    return mdd, start, end


def sharpe(eq):
    r = np.diff(eq) / eq[:-1]
    return np.sqrt(252) * r.mean() / r.std()


def main():
    with tempfile.TemporaryDirectory() as d:
        fn = os.path.join(d, "prices.csv")
        save_csv(fn, make_prices(15000, 17))
        prices = load_csv(fn)
        print("loaded", os.path.basename(fn), prices.shape, prices[:5])

    results = []
    for fast in (5, 10, 20, 9999):
        for slow in (30, 60, 120):
            for stop in (2.0, 4.0, 8.0):
                st = Strategy(fast, slow, stop, prices)
                if fast == 9999:
                    st.fast = np.zeros_like(prices)        # never trades: sharpe is 0/0
                eq = st.run(130)
                mdd, a, b = max_drawdown(eq)
                results.append((sharpe(eq), fast, slow, stop, eq[-1], mdd, a, b, len(st.trades), st))
    results.sort(key=lambda r: -np.inf if np.isnan(r[0]) else r[0], reverse=True)
    print(f"{'fast':>5}{'slow':>5}{'stop':>6}{'final':>14}{'sharpe':>9}{'mdd':>8}{'trades':>8}")
    for sh, f, s, stp, fin, mdd, a, b, n, _ in results[:5] + results[-2:]:
        print(f"{f:5d}{s:5d}{stp:6.1f}{fin:14,.2f}{sh:9.4f}{mdd:8.2%}{n:8d}   [{a}..{b}]")
    best = results[0][-1]
    why = {}
    for p, w in best.trades:
        why.setdefault(w, []).append(p)
    for w in sorted(why):
        print("  exit by %-7s %3d trades, pnl %12.2f, hit rate %.3f" % (w, len(why[w]), sum(why[w]), np.mean(np.array(why[w]) > 0)))
    print("final equity", best.equity[-1])
    print([float(e) for e in best.equity[100:104]])


if __name__ == "__main__":
    main()
