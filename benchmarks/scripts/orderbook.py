"""Toy limit order book with price-time priority. Random flow -> trades -> 1-second bars -> VWAP etc."""
import bisect
from collections import defaultdict, deque, namedtuple

import numpy as np

Trade = namedtuple("Trade", "t price qty buyer seller")
TICK = 0.01


class Order:
    __slots__ = ("oid", "side", "price", "qty", "owner")
    counter = 0

    def __init__(self, side, price, qty, owner):
        Order.counter += 1
        self.oid = Order.counter
        self.side = side
        self.price = price
        self.qty = qty
        self.owner = owner

    def __repr__(self):
        return f"<{'BS'[self.side]} {self.qty}@{self.price * TICK:.2f} #{self.oid}>"


class Book:
    def __init__(self):
        self.levels = [defaultdict(deque), defaultdict(deque)]   # 0 = bids, 1 = asks
        self.prices = [[], []]                                   # sorted
        self.index = {}
        self.trades = []

    def best(self, side):
        p = self.prices[side]
        if not p:
            return None
        return p[-1] if side == 0 else p[0]

    def _add(self, o):
        lv = self.levels[o.side]
        if o.price not in lv or not lv[o.price]:
            k = bisect.bisect_left(self.prices[o.side], o.price)
            if k == len(self.prices[o.side]) or self.prices[o.side][k] != o.price:
                self.prices[o.side].insert(k, o.price)
        lv[o.price].append(o)
        self.index[o.oid] = o

    def _drop_level(self, side, price):
        self.prices[side].remove(price)
        del self.levels[side][price]

    def submit(self, t, o):
        other = 1 - o.side
        while o.qty > 0:
            bp = self.best(other)
            if bp is None or (o.side == 0 and bp > o.price) or (o.side == 1 and bp < o.price):
                break
            q = self.levels[other][bp]
            while q and o.qty > 0:
                m = q[0]
                n = min(m.qty, o.qty)
                m.qty -= n
                o.qty -= n
                b, s = (o.owner, m.owner) if o.side == 0 else (m.owner, o.owner)
                self.trades.append(Trade(t, bp, n, b, s))
                if m.qty == 0:
                    q.popleft()
                    del self.index[m.oid]
            if not q:
                self._drop_level(other, bp)
        if o.qty > 0:
            self._add(o)

    def cancel(self, oid):
        o = self.index.pop(oid, None)
        if o is None:
            return False
        q = self.levels[o.side][o.price]
        q.remove(o)
        if not q:
            self._drop_level(o.side, o.price)
        return True

    def depth(self, n=5):
        out = []
        for side in (0, 1):
            ps = self.prices[side][::-1] if side == 0 else self.prices[side]
            out.append([(p, sum(o.qty for o in self.levels[side][p])) for p in ps[:n]])
        return out


def simulate(n_events, rng):
    book = Book()
    t = 0.0
    fair = 10000.0
    spread_sum = 0.0
    n_spread = 0
    live = []
    for k in range(n_events):
        t += rng.exponential(0.01)
        fair += rng.normal(0, 0.4)
        u = rng.random()
        if u < 0.55:
            side = int(rng.random() < 0.5)
            off = int(rng.geometric(0.25))
            price = int(round(fair)) + (off if side else -off)
            o = Order(side, price, int(rng.integers(1, 20)) * 100, int(rng.integers(0, 12)))
            book.submit(t, o)
            if o.qty:
                live.append(o.oid)
        elif u < 0.7:
            side = int(rng.random() < 0.5)
            o = Order(side, 1 if side else 10**7, int(rng.integers(1, 15)) * 100, int(rng.integers(0, 12)))
            if book.best(1 - side) is not None:
                book.submit(t, o)
                book.cancel(o.oid)
        elif live:
            j = int(rng.integers(len(live)))
            live[j], live[-1] = live[-1], live[j]
            book.cancel(live.pop())
        b, a = book.best(0), book.best(1)
        if b is not None and a is not None:
            spread_sum += a - b
            n_spread += 1
        if (k + 1) % (n_events // 5) == 0:
            print(f"[{t:9.3f}] events={k + 1} trades={len(book.trades)} resting={len(book.index)} bid={b} ask={a}")
    return book, spread_sum / n_spread


def bars(trades, width=10.0):
    out = []
    cur = None
    for tr in trades:
        b = int(tr.t // width)
        p = tr.price * TICK
        if cur is None or cur["bin"] != b:
            if cur is not None:
                out.append(cur)
            cur = {"bin": b, "o": p, "h": p, "l": p, "c": p, "v": 0, "pv": 0.0}
        cur["h"] = max(cur["h"], p)
        cur["l"] = min(cur["l"], p)
        cur["c"] = p
        cur["v"] += tr.qty
        cur["pv"] += p * tr.qty
    out.append(cur)
    return out


def pnl(trades, last):
    pos = np.zeros(12, dtype=np.int64)
    cash = np.zeros(12)
    for tr in trades:
        pos[tr.buyer] += tr.qty
        pos[tr.seller] -= tr.qty
        cash[tr.buyer] -= tr.price * TICK * tr.qty
        cash[tr.seller] += tr.price * TICK * tr.qty
    return pos, cash + pos * last


def main():
    rng = np.random.default_rng(606)
    book, spread = simulate(250000, rng)
    bid, ask = book.depth()
    print("average spread (ticks)", spread)
    for (bp, bq), (ap, aq) in zip(bid, ask):
        print(f"{bq:8d} {bp * TICK:9.2f} | {ap * TICK:9.2f} {aq:8d}")
    bs = bars(book.trades)
    print(len(bs), "bars")
    for b in bs[:3] + bs[-2:]:
        print("{bin:4d} o={o:.2f} h={h:.2f} l={l:.2f} c={c:.2f} v={v}".format(**b), "vwap=%.5f" % (b["pv"] / b["v"]))
    pos, p = pnl(book.trades, book.trades[-1].price * TICK)
    print(pos, pos.sum())
    with np.printoptions(precision=2, suppress=True, linewidth=100):
        print(p)
    print(book.trades[-1], book.levels[0][book.best(0)][0])


if __name__ == "__main__":
    main()
