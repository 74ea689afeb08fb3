"""SEIR: deterministic RK4, Gillespie, and network version; calibrated by a crude ABC loop."""
import random
from typing import Dict, List, NamedTuple, Optional, Tuple

import numpy as np


class Params(NamedTuple):
    beta: float = 0.45
    sigma: float = 0.2
    gamma: float = 0.12
    n: int = 1000


def deriv(y, p: Params):
    s, e, i, r = y
    inf = p.beta * s * i / p.n
    return np.array([-inf, inf - p.sigma * e, p.sigma * e - p.gamma * i, p.gamma * i])


def rk4(p: Params, y0, dt: float, t_end: float):
    y = np.array(y0, dtype=float)
    ts = [0.0]
    ys = [y]
    t = 0.0
    while t < t_end - 1e-12:
        k1 = deriv(y, p)
        k2 = deriv(y + dt / 2 * k1, p)
        k3 = deriv(y + dt / 2 * k2, p)
        k4 = deriv(y + dt * k3, p)
        y = y + dt / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        t += dt
        ts.append(t)
        ys.append(y)
    return np.array(ts), np.array(ys)


def gillespie(p: Params, e0: int, rng: random.Random, t_max: float = 400.0) -> Tuple[List[Tuple[float, int, int, int, int]], Dict[str, int]]:
    s, e, i, r = p.n - e0, e0, 0, 0
    t = 0.0
    log = [(t, s, e, i, r)]
    events = {"infect": 0, "onset": 0, "recover": 0}
    while e + i > 0 and t < t_max:
        a1 = p.beta * s * i / p.n
        a2 = p.sigma * e
        a3 = p.gamma * i
        a0 = a1 + a2 + a3
        t += rng.expovariate(a0)
        u = rng.random() * a0
        if u < a1:
            s, e = s - 1, e + 1
            events["infect"] += 1
        elif u < a1 + a2:
            e, i = e - 1, i + 1
            events["onset"] += 1
        else:
            i, r = i - 1, r + 1
            events["recover"] += 1
        log.append((t, s, e, i, r))
    return log, events


def small_world(n, k, p, gen):
    nb = [set() for _ in range(n)]
    for i in range(n):
        for d in range(1, k + 1):
            j = (i + d) % n
            if gen.random() < p:
                j = int(gen.integers(n))
                while j == i or j in nb[i]:
                    j = int(gen.integers(n))
            nb[i].add(j)
            nb[j].add(i)
    return [sorted(x) for x in nb]


def network_sir(nb, days, p_inf, t_rec, gen, vaccinated: Optional[np.ndarray] = None):
    n = len(nb)
    state = np.zeros(n, dtype=np.int8)          # 0 S, >0 days infectious left, -1 R
    if vaccinated is not None:
        state[vaccinated] = -1
    seeds = gen.choice(np.flatnonzero(state == 0), 3, replace=False)
    state[seeds] = t_rec
    curve = []
    for d in range(days):
        newly = []
        for v in range(n):
            if state[v] > 0:
                for w in nb[v]:
                    if state[w] == 0 and gen.random() < p_inf:
                        newly.append(w)
        for v in range(n):
            if state[v] > 0:
                state[v] -= 1
                if state[v] == 0:
                    state[v] = -1
        for w in newly:
            state[w] = t_rec
        curve.append(len(set(newly)))
    return curve, int((state == -1).sum()) - (0 if vaccinated is None else len(vaccinated))


def abc(target, p: Params, n_draws, gen):
    kept = []
    for k in range(n_draws):
        q = p._replace(beta=gen.uniform(0.2, 0.8), gamma=gen.uniform(0.05, 0.3))
        _, ys = rk4(q, (q.n - 5, 5, 0, 0), 0.5, 100)
        d = 0.0
        for a, b in zip(target, ys[::20, 2]):
            d += (a - b) ** 2
        d = np.sqrt(d / len(target))
        kept.append((d, q.beta, q.gamma))
    kept.sort()
    return kept[:5]


def main():
    p = Params()
    print(p, "R0 =", p.beta / p.gamma)
    ts, ys = rk4(p, (p.n - 5, 5, 0, 0), 0.05, 160)
    k = ys[:, 2].argmax()
    print(f"ODE: peak {ys[k, 2]:.6f} at t={ts[k]:.2f}, final R {ys[-1, 3]!r}")

    rnd = random.Random(404)
    finals, peaks = [], []
    for run in range(150):
        log, ev = gillespie(p, 5, rnd)
        finals.append(log[-1][4])
        peaks.append(max(x[3] for x in log))
        if run % 30 == 0:
            print("  run %2d: %s end t=%.4f" % (run, ev, log[-1][0]))
    print("final size: mean %.3f sd %.3f; extinct %d; peak range %s" % (
        np.mean(finals), np.std(finals), sum(f < 100 for f in finals), (min(peaks), max(peaks))))

    gen = np.random.default_rng(31)
    nb = small_world(3000, 4, 0.08, gen)
    deg = [len(x) for x in nb]
    print("degree", min(deg), max(deg), sum(deg) / len(deg))
    for frac in (0.0, 0.2, 0.4):
        vac = gen.choice(3000, int(3000 * frac), replace=False)
        curve, size = network_sir(nb, 90, 0.06, 6, gen, vac)
        print(f"vaccinated {frac:.0%}: attack {size}, peak day {int(np.argmax(curve))}, curve {curve[::10]}")

    target = [float(v) for v in ys[::200, 2]][:11]
    best = abc(target, p, 500, gen)
    for d, b, g in best:
        print("  abc d=%9.5f beta=%.5f gamma=%.5f" % (d, b, g))


if __name__ == "__main__":
    main()
