# GARCH(1,1) by maximum likelihood: coarse grid, then Nelder-Mead written by hand. VaR backtest at the end.
import numpy as np
from itertools import product


def simulate(omega, alpha, beta, n, rng):
    r = np.zeros(n)
    h = np.zeros(n)
    h[0] = omega / (1 - alpha - beta)
    r[0] = np.sqrt(h[0]) * rng.standard_normal()
    for t in range(1, n):
        h[t] = omega + alpha * r[t - 1]**2 + beta * h[t - 1]
        r[t] = np.sqrt(h[t]) * rng.standard_normal()
    return r, h


def neg_loglik(params, r):
    omega, alpha, beta = params
    h = np.var(r)
    ll = 0.0
    for t in range(len(r)):
        if t > 0:
            h = omega + alpha * r[t - 1]**2 + beta * h
        # log of a negative number gives nan + RuntimeWarning, treated by the caller
        ll += np.log(h) + r[t]**2 / h
    return 0.5 * (ll + len(r) * np.log(2 * np.pi))


def penalised(params, r):
    o, a, b = params
    if a + b >= 0.9999:
        return 1e10 + 1e6 * (a + b)
    v = neg_loglik(params, r)
    return 1e10 if np.isnan(v) else v


def grid(r):
    best = (np.inf, None)
    var = r.var()
    table = {}
    for a, b in product((0.02, 0.05, 0.1, 0.2), (0.5, 0.7, 0.8, 0.85, 0.9)):
        if a + b >= 1:
            continue
        v = neg_loglik((var * (1 - a - b), a, b), r)
        table[a, b] = v
        if v < best[0]:
            best = (v, np.array([var * (1 - a - b), a, b]))
            print(f"  new best a={a} b={b} -> {v:.6f}")
    return best[1], table


def nelder_mead(f, x0, steps, maxit=60):
    n = len(x0)
    simplex = [x0] + [x0 + np.eye(n)[i] * steps[i] for i in range(n)]
    vals = [f(x) for x in simplex]
    evals = n + 1
    for it in range(maxit):
        idx = np.argsort(vals)
        simplex = [simplex[i] for i in idx]
        vals = [vals[i] for i in idx]
        if it % 20 == 0:
            print("  nm %2d  %.8f" % (it, vals[0]), simplex[0])
        c = np.mean(simplex[:-1], axis=0)
        xr = c + (c - simplex[-1])
        fr = f(xr)
        evals += 1
        if fr < vals[0]:
            xe = c + 2 * (c - simplex[-1])
            fe = f(xe)
            evals += 1
            simplex[-1], vals[-1] = (xe, fe) if fe < fr else (xr, fr)
        elif fr < vals[-2]:
            simplex[-1], vals[-1] = xr, fr
        else:
            xc = c + 0.5 * (simplex[-1] - c)
            fc = f(xc)
            evals += 1
            if fc < vals[-1]:
                simplex[-1], vals[-1] = xc, fc
            else:
                for i in range(1, n + 1):
                    simplex[i] = simplex[0] + 0.5 * (simplex[i] - simplex[0])
                    vals[i] = f(simplex[i])
                    evals += 1
    k = int(np.argmin(vals))
    return simplex[k], vals[k], evals


def filter_h(p, r):
    h = np.empty(len(r) + 1)
    h[0] = r.var()
    for t, x in enumerate(r):
        h[t + 1] = p[0] + p[1] * x * x + p[2] * h[t]
    return h


def var_backtest(r, h, level=2.326):
    hits = []
    for t in range(len(r)):
        if r[t] < -level * np.sqrt(h[t]):
            hits.append(t)
    # Kupiec
    n, x = len(r), len(hits)
    p = 0.01
    phat = x / n
    lr = -2 * ((n - x) * np.log((1 - p) / (1 - phat)) + x * np.log(p / phat))
    return hits, lr


def main():
    rng = np.random.default_rng(1986)
    r, h = simulate(0.02, 0.09, 0.88, 12000, rng)
    print("kurtosis", np.mean((r - r.mean())**4) / r.var()**2, "std", r.std())
    x0, table = grid(r)
    a_best = min(table, key=table.get)
    print("grid best", a_best, "of", len(table))
    x, fx, n = nelder_mead(lambda p: penalised(p, r), x0, [0.01, 0.02, -0.03])
    print("estimate omega=%.6f alpha=%.6f beta=%.6f" % tuple(x), "nll", fx, "evaluations", n)
    hh = filter_h(x, r)
    print("corr of filtered and true variance", np.corrcoef(hh[:-1], h)[0, 1])
    hits, lr = var_backtest(r, hh)
    print("VaR hits", len(hits), "expected", 0.01 * len(r), "LR", lr, "first", hits[:5])
    print("bad params:", neg_loglik((-0.5, 0.05, 0.3), r))


if __name__ == "__main__":
    main()
