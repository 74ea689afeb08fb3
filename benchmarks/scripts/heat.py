"""Explicit heat equation / Burgers / wave equation stepping with a stability check.

Refines the time step study for the report: for r > 1/2 the scheme explodes and the guard stops the run.
"""
import numpy as np

np.set_printoptions(precision=6, linewidth=90)


def ftcs_2d(u, r, nsteps):
    """in place with one spare buffer"""
    n, m = u.shape
    new = u.copy()
    for step in range(nsteps):
        for i in range(1, n - 1):
            for j in range(1, m - 1):
                new[i, j] = u[i, j] + r * (u[i + 1, j] + u[i - 1, j] + u[i, j + 1] + u[i, j - 1] - 4 * u[i, j])
        u[:] = new
    return u


def gauss_seidel(u, f, h, tol, omega=1.7):
    n = u.shape[0]
    for it in range(1, 5000):
        change = 0.0
        for i in range(1, n - 1):
            for j in range(1, n - 1):
                r = 0.25 * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1] + h * h * f[i, j]) - u[i, j]
                u[i, j] += omega * r
                change = max(change, abs(r))
        if change < tol:
            return it, change
    return None, change


def burgers(nx, nt, nu, cfl):
    dx = 2 * np.pi / nx
    dt = cfl * dx
    u = np.zeros(nx)
    for i in range(nx):
        u[i] = 1.5 + np.sin(i * dx)
    for t in range(nt):
        un = u.copy()
        for i in range(nx):
            im = i - 1
            ip = (i + 1) % nx
            u[i] = un[i] - un[i] * dt / dx * (un[i] - un[im]) + nu * dt / dx**2 * (un[ip] - 2 * un[i] + un[im])
    return u


def wave(nx, c, nt):
    u0 = np.exp(-((np.linspace(0, 1, nx) - 0.3) / 0.05)**2)
    um, u = u0.copy(), u0.copy()
    up = np.zeros(nx)
    probe = []
    for t in range(nt):
        for i in range(1, nx - 1):
            up[i] = 2 * u[i] - um[i] + c * c * (u[i + 1] - 2 * u[i] + u[i - 1])
        up[0] = up[-1] = 0
        um, u, up = u, up, um
        probe.append(u[nx // 2])
    return u, probe


def unstable(r, nx=60, nsteps=2500, check=500):
    u = np.zeros(nx)
    u[nx // 2] = 1
    for t in range(nsteps):
        new = [0.0] * nx
        for i in range(1, nx - 1):
            new[i] = u[i] + r * (u[i + 1] - 2 * u[i] + u[i - 1])
        u = np.array(new)
        if t % check == check - 1:
            print(f"   r={r} step {t + 1:5d} max|u| = {np.max(np.abs(u)):.6e}")
            if not np.isfinite(u).all():
                raise FloatingPointError(f"solution is not finite after {t + 1} steps (r={r})")
    return u


def main():
    u = np.zeros((50, 50))
    u[20:30, 15:25] = 100.0
    before = u.sum()
    ftcs_2d(u, 0.2, 250)
    print("2d heat: sum before/after", before, u.sum(), "centre", repr(u[25, 25]))
    print(u[::12, ::12])
    n = 33
    h = 1 / (n - 1)
    x = np.linspace(0, 1, n)
    f = 2 * np.pi**2 * np.sin(np.pi * x)[:, None] * np.sin(np.pi * x)[None, :]
    p = np.zeros((n, n))
    it, ch = gauss_seidel(p, f, h, 1e-8)
    err = np.abs(p - f / (2 * np.pi**2)).max()
    print("SOR iterations", it, "change %.3e" % ch, "error %.6e" % err)
    b = burgers(128, 300, 0.02, 0.2)
    print("burgers max slope", np.max(np.diff(b)), "min", b.min(), "max", b.max())
    w, probe = wave(201, 0.9, 400)
    print("wave", w[::40], "probe max", max(probe), "at", int(np.argmax(probe)))
    for r in (0.25, 0.5, 0.6):
        u = unstable(r)
        print("r =", r, "final sum", u.sum())
    print("not reached?")


if __name__ == "__main__":
    main()
