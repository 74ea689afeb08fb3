#!/usr/bin/env python3
"""
2D Ising model, Metropolis single spin flip.
Homework 4, computational statistical physics.
"""
import numpy as np

L = 24
J = 1.0
N_EQ = 80
N_MEAS = 160

accepted = 0        # total number of accepted flips, for the acceptance rate
attempted = 0


def init_lattice(hot=True):
    if hot:
        return np.random.choice([-1, 1], size=(L, L))
    return np.ones((L, L), dtype=int)


def delta_e(s, i, j):
    nb = s[(i + 1) % L, j] + s[i - 1, j] + s[i, (j + 1) % L] + s[i, j - 1]
    return 2 * J * s[i, j] * nb


def energy(s):
    E = 0.0
    for i in range(L):
        for j in range(L):
            E -= J * s[i, j] * (s[(i + 1) % L, j] + s[i, (j + 1) % L])
    return E


def sweep(s, beta):
    """one Monte Carlo sweep = L*L attempted flips, s is changed in place"""
    global accepted, attempted
    for _ in range(L * L):
        i = np.random.randint(0, L)
        j = np.random.randint(0, L)
        dE = delta_e(s, i, j)
        attempted += 1
        if dE <= 0 or np.random.rand() < np.exp(-beta * dE):
            s[i, j] *= -1
            accepted += 1


def run(T):
    global accepted, attempted
    accepted = attempted = 0
    beta = 1.0 / T
    s = init_lattice(hot=T > 2.27)
    for n in range(N_EQ):
        sweep(s, beta)
    es, ms = [], []
    for n in range(N_MEAS):
        sweep(s, beta)
        if n % 2 == 0:
            es.append(energy(s))
            ms.append(abs(s.sum()))
        if n % 40 == 39:
            print("   T=%.2f sweep %3d  E/N=%+.4f" % (T, n + 1, es[-1] / L**2))
    es = np.array(es)
    ms = np.array(ms)
    cv = es.var() / (T**2 * L**2)
    chi = ms.var() / (T * L**2)
    return es.mean() / L**2, ms.mean() / L**2, cv, chi, s


def draw(s):
    for row in s[::2]:
        print("".join("#" if x > 0 else "." for x in row))


if __name__ == "__main__":
    np.random.seed(20240)
    table = []
    for T in (1.8, 2.27, 3.0):
        e, m, cv, chi, s = run(T)
        table.append((T, e, m, cv, chi, accepted / attempted))
    print("%6s %10s %10s %10s %10s %8s" % ("T", "e", "|m|", "cv", "chi", "acc"))
    for row in table:
        print("%6.2f %10.6f %10.6f %10.6f %10.6f %8.4f" % row)
    print("last lattice:")
    draw(s)
    print("exact e of first line:", repr(float(table[0][1])))
