"""1D electrostatic particle-in-cell, two-stream instability. Cloud-in-cell weights, Poisson via Thomas + periodic trick."""
import numpy as np

NG = 64
NP = 3000
L = 2 * np.pi / 0.6124
DX = L / NG
DT = 0.1
QM = -1.0
Q = L / NP / QM * 1.0
hist = {"kin": [], "field": [], "mom": []}
VBINS = 40
vhist = np.zeros(VBINS, dtype=int)      # time-integrated velocity distribution, -2 .. 2


def load(rng):
    x = np.linspace(0, L, NP, endpoint=False)
    v = np.where(np.arange(NP) % 2 == 0, 1.0, -1.0) + rng.normal(0, 0.01, NP)
    x = x + 0.01 * np.cos(2 * np.pi * x / L)
    return x % L, v


def deposit(x, rho):
    rho[:] = 0
    for p in range(len(x)):
        xi = x[p] / DX
        i = int(xi)
        w = xi - i
        rho[i % NG] += (1 - w) * Q / DX
        rho[(i + 1) % NG] += w * Q / DX
    rho += 1.0        # neutralising background


def poisson(rho):
    # phi[0] = 0 fixed, tridiagonal for the rest
    n = NG - 1
    c = np.zeros(n)
    d = np.zeros(n)
    rhs = -(rho - rho.mean())[1:] * DX**2
    c[0] = 1.0 / -2.0
    d[0] = rhs[0] / -2.0
    for i in range(1, n):
        m = -2.0 - c[i - 1]
        c[i] = 1.0 / m
        d[i] = (rhs[i] - d[i - 1]) / m
    phi = np.zeros(NG)
    phi[n] = d[n - 1]
    for i in range(n - 2, -1, -1):
        phi[i + 1] = d[i] - c[i] * phi[i + 2]
    return phi


def field(phi):
    E = np.zeros(NG)
    for i in range(NG):
        E[i] = -(phi[(i + 1) % NG] - phi[i - 1]) / (2 * DX)
    return E


def push(x, v, E):
    kin = 0.0
    for p in range(NP):
        xi = x[p] / DX
        i = int(xi)
        w = xi - i
        e = (1 - w) * E[i % NG] + w * E[(i + 1) % NG]
        vold = v[p]
        v[p] += QM * e * DT
        kin += 0.5 * vold * v[p]
        vhist[int((v[p] + 2.0) / 4.0 * VBINS)] += 1
        x[p] += v[p] * DT
        if x[p] < 0:
            x[p] += L
        elif x[p] >= L:
            x[p] -= L
    return kin * abs(Q)


def phase_space(x, v, nx=60, nv=16):
    grid = np.zeros((nv, nx), dtype=int)
    for p in range(NP):
        i = min(nv - 1, max(0, int((v[p] + 2.5) / 5 * nv)))
        j = int(x[p] / L * nx) % nx
        grid[i, j] += 1
    for row in grid[::-1]:
        print("|" + "".join(" .:*#"[min(4, (c + 3) // 4)] for c in row) + "|")


def report(x, v):
    f = np.array(hist["field"])
    print("steps done:", len(f))
    lo, hi = 60, 120
    growth = np.polyfit(np.arange(lo, hi) * DT, np.log(f[lo:hi]), 1)[0] / 2
    print("growth rate fit", growth)
    tot = np.array(hist["kin"]) + f
    print("energy drift %.4e" % ((tot[-1] - tot[1]) / tot[1]))
    print("max field", f.max(), "at step", f.argmax(), "momentum", hist["mom"][-1])
    print("x sum %.12f v sum %.12f v2 sum %.12f" % (x.sum(), v.sum(), (v * v).sum()))
    print("f(v):", vhist, vhist.sum())
    phase_space(x, v)


def main():
    rng = np.random.default_rng(12)
    x, v = load(rng)
    rho = np.zeros(NG)
    try:
        for step in range(400):
            deposit(x, rho)
            E = field(poisson(rho))
            k = push(x, v, E)
            hist["kin"].append(k)
            hist["field"].append(0.5 * np.sum(E**2) * DX)
            hist["mom"].append(v.sum())
            if step % 25 == 0:
                print(f"step {step:4d} kin {k:.6f} field {hist['field'][-1]:.6e} total {k + hist['field'][-1]:.6f}")
    finally:
        report(x, v)


main()
