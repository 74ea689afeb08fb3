"""
Pricing toolbox: CRR tree (European + American), explicit/Crank-Nicolson finite differences with
PSOR, and Monte Carlo for a down-and-out barrier. Used as cross-check of the desk's numbers.
"""
from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Option:
    S0: float
    K: float
    T: float
    r: float
    sigma: float
    kind: str = "put"
    american: bool = False

    def payoff(self, s):
        if self.kind == "call":
            return max(s - self.K, 0.0)
        return max(self.K - s, 0.0)


def norm_cdf(x):
    return 0.5 * (1.0 + math.erf(x / math.sqrt(2.0)))


def black_scholes(o: Option) -> float:
    d1 = (math.log(o.S0 / o.K) + (o.r + 0.5 * o.sigma**2) * o.T) / (o.sigma * math.sqrt(o.T))
    d2 = d1 - o.sigma * math.sqrt(o.T)
    if o.kind == "call":
        return o.S0 * norm_cdf(d1) - o.K * math.exp(-o.r * o.T) * norm_cdf(d2)
    return o.K * math.exp(-o.r * o.T) * norm_cdf(-d2) - o.S0 * norm_cdf(-d1)


def crr(o: Option, n: int = 500) -> float:
    dt = o.T / n
    u = math.exp(o.sigma * math.sqrt(dt))
    d = 1.0 / u
    p = (math.exp(o.r * dt) - d) / (u - d)
    disc = math.exp(-o.r * dt)
    v = np.zeros(n + 1)
    for j in range(n + 1):
        v[j] = o.payoff(o.S0 * u**j * d**(n - j))
    for i in range(n - 1, -1, -1):
        for j in range(i + 1):
            cont = disc * (p * v[j + 1] + (1 - p) * v[j])
            if o.american:
                s = o.S0 * u**j * d**(i - j)
                v[j] = max(cont, o.payoff(s))
            else:
                v[j] = cont
    return v[0]


def psor_cn(o: Option, M=120, N=120, omega=1.3, tol=1e-8):
    smax = 3.0 * o.K
    ds = smax / M
    dt = o.T / N
    V = np.array([o.payoff(i * ds) for i in range(M + 1)])
    payoff = V.copy()
    iters = []
    for step in range(N):
        rhs = np.zeros(M + 1)
        for i in range(1, M):
            a = 0.25 * dt * (o.sigma**2 * i**2 - o.r * i)
            b = -0.5 * dt * (o.sigma**2 * i**2 + o.r)
            c = 0.25 * dt * (o.sigma**2 * i**2 + o.r * i)
            rhs[i] = a * V[i - 1] + (1 + b) * V[i] + c * V[i + 1]
        V[0] = o.K
        V[M] = 0.0
        k = 0
        while True:
            err = 0.0
            for i in range(1, M):
                a = 0.25 * dt * (o.sigma**2 * i**2 - o.r * i)
                b = -0.5 * dt * (o.sigma**2 * i**2 + o.r)
                c = 0.25 * dt * (o.sigma**2 * i**2 + o.r * i)
                y = (rhs[i] + a * V[i - 1] + c * V[i + 1]) / (1 - b)
                y = V[i] + omega * (y - V[i])
                if o.american and y < payoff[i]:
                    y = payoff[i]
                err += (y - V[i])**2
                V[i] = y
            k += 1
            if err < tol**2 or k > 500:
                break
        iters.append(k)
    x = o.S0 / ds
    i = int(x)
    w = x - i
    return (1 - w) * V[i] + w * V[i + 1], iters


def barrier_mc(o: Option, barrier: float, n_paths: int, n_steps: int, rng: np.random.Generator):
    dt = o.T / n_steps
    drift = (o.r - 0.5 * o.sigma**2) * dt
    vol = o.sigma * math.sqrt(dt)
    total = total2 = 0.0
    knocked = 0
    for p in range(n_paths):
        s = o.S0
        alive = True
        for t in range(n_steps):
            s *= math.exp(drift + vol * rng.standard_normal())
            if s <= barrier:
                alive = False
                knocked += 1
                break
        x = o.payoff(s) * math.exp(-o.r * o.T) if alive else 0.0
        total += x
        total2 += x * x
        if (p + 1) % 3000 == 0:
            print(f"  mc {p + 1:6d} paths  running mean {total / (p + 1):.5f}")
    mean = total / n_paths
    se = math.sqrt((total2 / n_paths - mean**2) / n_paths)
    return mean, se, knocked


def main():
    euro = Option(100.0, 105.0, 1.0, 0.04, 0.25)
    amer = Option(100.0, 105.0, 1.0, 0.04, 0.25, american=True)
    call = Option(100.0, 95.0, 0.5, 0.03, 0.3, kind="call")

    print("BS put   ", repr(black_scholes(euro)))
    for n in (50, 200, 1000):
        print(f"CRR n={n:4d}  euro {crr(euro, n):.8f}   amer {crr(amer, n):.8f}")
    v, it = psor_cn(amer)
    print("CN/PSOR amer %.6f, iterations min/mean/max %d/%.1f/%d" % (v, min(it), np.mean(it), max(it)))
    m, se, k = barrier_mc(call, 85.0, 9000, 100, np.random.default_rng(11))
    print("barrier call {:.6f} +- {:.6f} (knocked out {})  vanilla {:.6f}".format(m, se, k, black_scholes(call)))


if __name__ == "__main__":
    main()
