"""Physics: fields on grids, particles, iterated maps."""

from __future__ import annotations

from math import exp

import numpy as np

from .registry import jnp, ne, prange, register

# ---- Mandelbrot ------------------------------------------------------------------------------------------------------


def mandelbrot(x, y, steps):
    """How many steps each point of a grid stays within a distance of 2."""
    c = x[np.newaxis, :] + 1j * y[:, np.newaxis]
    z = np.zeros_like(c)
    counts = np.zeros(c.shape, dtype=np.int32)
    for _ in range(steps):
        inside = np.abs(z) <= 2
        z[inside] = z[inside] ** 2 + c[inside]
        counts[inside] += 1
    return counts


def mandelbrot_loops(x, y, steps):
    counts = np.empty((y.size, x.size), np.int32)
    for i in prange(y.size):
        for j in range(x.size):
            re, im, n = 0.0, 0.0, 0
            while n < steps and re * re + im * im <= 4.0:
                re, im = re * re - im * im + x[j], 2 * re * im + y[i]
                n += 1
            counts[i, j] = n
    return counts


def mandelbrot_jax(x, y, steps):
    c = x[None, :] + 1j * y[:, None]
    z, counts = jnp.zeros_like(c), jnp.zeros(c.shape, jnp.int32)
    for _ in range(steps):
        inside = z.real**2 + z.imag**2 <= 4
        z = jnp.where(inside, z * z + c, z)
        counts = counts + inside
    return counts


register(
    "mandelbrot", mandelbrot, lambda rng, n: (np.linspace(-2.1, 0.7, 3 * n // 2), np.linspace(-1.2, 1.2, n), 30),
    150, 12, exact=True, loops=mandelbrot_loops, arrays=mandelbrot_jax,
)  # fmt: skip

# ---- Lennard-Jones ---------------------------------------------------------------------------------------------------


def lennard_jones(positions, box):
    """Forces and energy of particles in a periodic box."""
    n = len(positions)
    d = positions[:, np.newaxis, :] - positions[np.newaxis, :, :]
    d = d - box * np.round(d / box)
    r2 = np.sum(d**2, axis=-1)
    r2[np.arange(n), np.arange(n)] = np.inf
    inv6 = 1.0 / r2**3
    energy = 2.0 * np.sum(inv6**2 - inv6)
    forces = np.sum((24.0 * (2.0 * inv6**2 - inv6) / r2)[:, :, np.newaxis] * d, axis=1)
    return forces, energy


def lennard_jones_loops(positions, box):
    n = len(positions)
    forces = np.empty_like(positions)
    energy = 0.0
    inverse = 1.0 / box
    for i in prange(n):
        x, y, z = positions[i, 0], positions[i, 1], positions[i, 2]
        fx, fy, fz, own = 0.0, 0.0, 0.0, 0.0
        for j in range(n):
            if j != i:
                dx, dy, dz = x - positions[j, 0], y - positions[j, 1], z - positions[j, 2]
                dx -= box * np.rint(dx * inverse)
                dy -= box * np.rint(dy * inverse)
                dz -= box * np.rint(dz * inverse)
                by = 1.0 / (dx * dx + dy * dy + dz * dz)
                inv6 = by * by * by
                own += inv6 * inv6 - inv6
                strength = 24.0 * (2.0 * inv6 * inv6 - inv6) * by
                fx += strength * dx
                fy += strength * dy
                fz += strength * dz
        forces[i, 0], forces[i, 1], forces[i, 2] = fx, fy, fz
        energy += own
    return forces, 2.0 * energy


def lennard_jones_jax(positions, box):
    d = positions[:, None, :] - positions[None, :, :]
    d = d - box * jnp.round(d / box)
    r2 = jnp.where(jnp.eye(len(positions), dtype=bool), jnp.inf, (d**2).sum(axis=-1))
    inv6 = 1.0 / r2**3
    return ((24.0 * (2.0 * inv6**2 - inv6) / r2)[:, :, None] * d).sum(axis=1), 2.0 * (inv6**2 - inv6).sum()


def _lattice(rng, n):
    points = np.stack(np.meshgrid(*[np.arange(n)] * 3), axis=-1).reshape(-1, 3) * 1.2
    return points + 0.1 * rng.standard_normal(points.shape), 1.2 * n


register("lennard-jones", lennard_jones, _lattice, 7, 3, loops=lennard_jones_loops, arrays=lennard_jones_jax)

# ---- heat ------------------------------------------------------------------------------------------------------------


def heat(u, alpha, steps):
    """Explicit steps of the heat equation, in place; the edge stays as it is."""
    for _ in range(steps):
        laplacian = u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4 * u[1:-1, 1:-1]
        u[1:-1, 1:-1] += alpha * laplacian


def heat_loops(u, alpha, steps):
    rows, columns = u.shape
    by = np.float32(alpha)
    a, b = u, u.copy()
    for _ in range(steps):
        for i in prange(1, rows - 1):
            for j in range(1, columns - 1):
                around = a[i + 1, j] + a[i - 1, j] + a[i, j + 1] + a[i, j - 1]
                b[i, j] = a[i, j] + by * (around - np.float32(4) * a[i, j])
        a, b = b, a
    if steps % 2 == 1:
        u[:] = a


def heat_expressions(u, alpha, steps):
    by, here = np.float32(alpha), u[1:-1, 1:-1]
    a, b, c, d = u[2:, 1:-1], u[:-2, 1:-1], u[1:-1, 2:], u[1:-1, :-2]
    for _ in range(steps):
        here[:] = ne.evaluate("here + by * (a + b + c + d - 4 * here)", {"by": by, "here": here, "a": a, "b": b} | {
            "c": c, "d": d
        })  # fmt: skip


def heat_jax(u, alpha, steps):
    for _ in range(steps):
        laplacian = u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4 * u[1:-1, 1:-1]
        u = u.at[1:-1, 1:-1].add(alpha * laplacian)
    return (u,)


register(
    "heat", heat, lambda rng, n: (rng.random((n, n), np.float32), 0.2, 10), 500, 10, written=(0,),
    loops=heat_loops, expressions=heat_expressions, arrays=heat_jax,
)  # fmt: skip

# ---- reaction and diffusion ------------------------------------------------------------------------------------------


def gray_scott(u, v, steps, feed, kill):
    """The Gray–Scott model on a torus."""
    for _ in range(steps):
        lu = np.roll(u, 1, 0) + np.roll(u, -1, 0) + np.roll(u, 1, 1) + np.roll(u, -1, 1) - 4 * u
        lv = np.roll(v, 1, 0) + np.roll(v, -1, 0) + np.roll(v, 1, 1) + np.roll(v, -1, 1) - 4 * v
        reaction = u * v * v
        u = u + 0.16 * lu - reaction + feed * (1 - u)
        v = v + 0.08 * lv + reaction - (feed + kill) * v
    return u, v


def gray_scott_loops(u, v, steps, feed, kill):
    rows, columns = u.shape
    a, b = u.copy(), v.copy()
    c, d = np.empty_like(u), np.empty_like(v)
    for _ in range(steps):
        for i in prange(rows):
            up, down = i - 1 if i > 0 else rows - 1, i + 1 if i < rows - 1 else 0
            for j in range(columns):
                left, right = j - 1 if j > 0 else columns - 1, j + 1 if j < columns - 1 else 0
                x, y = a[i, j], b[i, j]
                lu = a[up, j] + a[down, j] + a[i, left] + a[i, right] - 4 * x
                lv = b[up, j] + b[down, j] + b[i, left] + b[i, right] - 4 * y
                reaction = x * y * y
                c[i, j] = x + 0.16 * lu - reaction + feed * (1 - x)
                d[i, j] = y + 0.08 * lv + reaction - (feed + kill) * y
        a, b, c, d = c, d, a, b
    return a, b


def gray_scott_jax(u, v, steps, feed, kill):
    for _ in range(steps):
        lu = jnp.roll(u, 1, 0) + jnp.roll(u, -1, 0) + jnp.roll(u, 1, 1) + jnp.roll(u, -1, 1) - 4 * u
        lv = jnp.roll(v, 1, 0) + jnp.roll(v, -1, 0) + jnp.roll(v, 1, 1) + jnp.roll(v, -1, 1) - 4 * v
        reaction = u * v * v
        u, v = u + 0.16 * lu - reaction + feed * (1 - u), v + 0.08 * lv + reaction - (feed + kill) * v
    return u, v


register(
    "gray-scott", gray_scott, lambda rng, n: (rng.random((n, n)), 0.3 * rng.random((n, n)), 5, 0.035, 0.065), 256, 8,
    loops=gray_scott_loops, arrays=gray_scott_jax,
)  # fmt: skip

# ---- fields of vectors -----------------------------------------------------------------------------------------------


def flow(u, v, dx, dy):
    """Vorticity, divergence and the second invariant of a velocity field."""
    u_y, u_x = np.gradient(u, dy, dx)
    v_y, v_x = np.gradient(v, dy, dx)
    vorticity = v_x - u_y
    strain = (u_x - v_y) ** 2 + (v_x + u_y) ** 2
    return vorticity, u_x + v_y, 0.25 * (vorticity**2 - strain)


def flow_loops(u, v, dx, dy):
    rows, columns = u.shape
    vorticity, divergence, second = np.empty_like(u), np.empty_like(u), np.empty_like(u)
    for i in prange(rows):
        up, down = max(i - 1, 0), min(i + 1, rows - 1)
        by = 1.0 / ((down - up) * dy)
        for j in range(columns):
            left, right = max(j - 1, 0), min(j + 1, columns - 1)
            bx = 1.0 / ((right - left) * dx)
            u_y, u_x = (u[down, j] - u[up, j]) * by, (u[i, right] - u[i, left]) * bx
            v_y, v_x = (v[down, j] - v[up, j]) * by, (v[i, right] - v[i, left]) * bx
            w = v_x - u_y
            vorticity[i, j] = w
            divergence[i, j] = u_x + v_y
            second[i, j] = 0.25 * (w * w - (u_x - v_y) ** 2 - (v_x + u_y) ** 2)
    return vorticity, divergence, second


def flow_jax(u, v, dx, dy):
    u_y, u_x = jnp.gradient(u, dy, dx)
    v_y, v_x = jnp.gradient(v, dy, dx)
    vorticity = v_x - u_y
    strain = (u_x - v_y) ** 2 + (v_x + u_y) ** 2
    return vorticity, u_x + v_y, 0.25 * (vorticity**2 - strain)


register(
    "flow", flow, lambda rng, n: (rng.random((n, n + 30)), rng.random((n, n + 30)), 0.5, 0.25), 500, 6,
    loops=flow_loops, arrays=flow_jax,
)  # fmt: skip

# ---- Ising -----------------------------------------------------------------------------------------------------------


def ising(spins, chances, beta):
    """A sweep of the Ising model on a torus by a chequerboard, from given random numbers; and the magnetisation."""
    spins = spins.copy()
    rows, columns = np.indices(spins.shape)
    for colour in (0, 1):
        neighbours = np.roll(spins, 1, axis=0) + np.roll(spins, -1, axis=0)
        neighbours += np.roll(spins, 1, axis=1) + np.roll(spins, -1, axis=1)
        cost = 2 * spins * neighbours
        flip = ((rows + columns) % 2 == colour) & ((cost <= 0) | (chances < np.exp(-beta * cost.astype(np.float64))))
        spins[flip] *= -1
    return spins, spins.mean()


def ising_loops(spins, chances, beta):
    rows, columns = spins.shape
    spins = spins.copy()
    bounds = np.array([exp(-beta * cost) for cost in range(9)])
    for colour in range(2):
        for i in prange(rows):
            up, down = i - 1 if i > 0 else rows - 1, i + 1 if i < rows - 1 else 0
            for j in range((i + colour) % 2, columns, 2):
                left, right = j - 1 if j > 0 else columns - 1, j + 1 if j < columns - 1 else 0
                around = spins[up, j] + spins[down, j] + spins[i, left] + spins[i, right]
                cost = 2 * spins[i, j] * around
                if cost <= 0 or chances[i, j] < bounds[cost]:
                    spins[i, j] = -spins[i, j]
    return spins, spins.mean()


def ising_jax(spins, chances, beta):
    rows, columns = jnp.indices(spins.shape)
    for colour in (0, 1):
        around = jnp.roll(spins, 1, 0) + jnp.roll(spins, -1, 0) + jnp.roll(spins, 1, 1) + jnp.roll(spins, -1, 1)
        cost = 2 * spins * around
        bound = jnp.exp(-beta * jnp.arange(9.0))[jnp.maximum(cost, 0)]
        flip = ((rows + columns) % 2 == colour) & ((cost <= 0) | (chances < bound))
        spins = jnp.where(flip, -spins, spins)
    return spins, spins.astype(jnp.float64).mean()


register(
    "ising", ising,
    lambda rng, n: (rng.choice(np.array([-1, 1], np.int8), (n, n)), rng.random((n, n)), 0.4), 300, 8,
    loops=ising_loops, arrays=ising_jax,
)  # fmt: skip

# ---- relaxation under a mask -----------------------------------------------------------------------------------------


def relaxation(u, free, source, steps):
    """Jacobi's iteration where points are free; the others keep their values."""
    u = u.copy()
    for _ in range(steps):
        around = u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:]
        u[1:-1, 1:-1] = np.where(free[1:-1, 1:-1], 0.25 * (around + source[1:-1, 1:-1]), u[1:-1, 1:-1])
    return u


def relaxation_loops(u, free, source, steps):
    u, other = u.copy(), u.copy()
    for _ in range(steps):
        for i in prange(1, u.shape[0] - 1):
            for j in range(1, u.shape[1] - 1):
                around = u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1]
                other[i, j] = 0.25 * (around + source[i, j]) if free[i, j] else u[i, j]
        u, other = other, u
    return u


def _obstacles(rng, n):
    return rng.random((n, n + 50)), rng.random((n, n + 50)) > 0.3, rng.random((n, n + 50)), 40


register("relaxation under a mask", relaxation, _obstacles, 200, 9, loops=relaxation_loops)
