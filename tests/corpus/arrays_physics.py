"""Array functions as physicists write them."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.corpus.registry import Case


def heat_step(u: Any, alpha: float, steps: int) -> Any:
    """Explicit heat equation on a plate with fixed edges, in place."""
    for _ in range(steps):
        laplacian = u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:] - 4.0 * u[1:-1, 1:-1]
        u[1:-1, 1:-1] += alpha * laplacian


def lennard_jones(positions: Any, epsilon: float, sigma: float) -> Any:
    """Potential energy and forces of particles."""
    delta = positions[:, None, :] - positions[None, :, :]
    squared = (delta**2).sum(axis=-1)
    np.fill_diagonal(squared, 1.0)
    ratio = (sigma * sigma / squared) ** 3
    np.fill_diagonal(ratio, 0.0)
    energy = 2.0 * epsilon * np.sum(ratio**2 - ratio)
    strength = 24.0 * epsilon * (2.0 * ratio**2 - ratio) / squared
    forces = (strength[:, :, None] * delta).sum(axis=1)
    return energy, forces


def gravity(positions: Any, masses: Any, softening: float) -> Any:
    """Accelerations of bodies that attract each other."""
    dx = positions[np.newaxis, :, :] - positions[:, np.newaxis, :]
    inverse = (np.einsum("ijk,ijk->ij", dx, dx) + softening**2) ** -1.5
    np.fill_diagonal(inverse, 0.0)
    return np.einsum("ijk,ij,j->ik", dx, inverse, masses)


def leapfrog(x: Any, v: Any, k: float, dt: float, steps: int) -> Any:
    """A chain of springs; positions, velocities and the energy over time."""
    energy = np.zeros(steps)
    for s in range(steps):
        stretched = np.pad(x, 1)
        force = -k * (2 * x - stretched[:-2] - stretched[2:])
        v += 0.5 * dt * force
        x += dt * v
        energy[s] = 0.5 * np.dot(v, v) + 0.5 * k * np.sum(np.diff(x) ** 2)
    return x, v, energy


def blackbody(wavelengths: Any, temperatures: Any) -> Any:
    """Planck's law on a grid, and the wavelength of its maximum."""
    h, c, kb = 6.62607015e-34, 2.99792458e8, 1.380649e-23
    lam = wavelengths[:, None] * 1e-9
    exponent = np.clip(h * c / (lam * kb * temperatures[None, :]), 1e-9, 600.0)
    radiance = 2 * h * c**2 / lam**5 / np.expm1(exponent)
    peak = wavelengths[np.argmax(radiance, axis=0)]
    return radiance, peak, np.trapezoid(radiance, lam, axis=0)


def wave_equation(u: Any, courant: float, steps: int) -> Any:
    """A string with fixed ends; all its shapes."""
    history = np.empty((steps + 1, u.shape[0]))
    before = u.copy()
    history[0] = u
    for n in range(steps):
        after = np.zeros_like(u)
        after[1:-1] = 2 * u[1:-1] - before[1:-1] + courant**2 * (u[2:] - 2 * u[1:-1] + u[:-2])
        before, u = u, after
        history[n + 1] = u
    return history


def ising_energy(spins: Any, coupling: float, field: float) -> Any:
    """Energy and magnetisation of a lattice with periodic edges."""
    right, down = np.roll(spins, -1, axis=1), np.roll(spins, -1, axis=0)
    bonds = -coupling * spins * (right + down)
    return np.sum(bonds) - field * np.sum(spins), spins.mean(), bonds


def electric_field(charges: Any, xs: Any, ys: Any) -> Any:
    """The field of point charges (x, y, q) on a grid."""
    X, Y = np.meshgrid(xs, ys)
    ex, ey = np.zeros_like(X), np.zeros_like(Y)
    for k in range(charges.shape[0]):
        dx, dy = X - charges[k, 0], Y - charges[k, 1]
        r3 = (dx**2 + dy**2 + 1e-6) ** 1.5
        ex += charges[k, 2] * dx / r3
        ey += charges[k, 2] * dy / r3
    return ex, ey, np.hypot(ex, ey)


def center_of_mass_frame(positions: Any, velocities: Any, masses: Any) -> Any:
    """Shift to the centre of mass; the angular momentum there."""
    total = masses.sum()
    center = (masses[:, None] * positions).sum(axis=0) / total
    drift = np.average(velocities, axis=0, weights=masses)
    positions -= center
    velocities -= drift
    return np.cross(positions, masses[:, None] * velocities).sum(axis=0)


def radial_distribution(positions: Any, box: float, bins: int) -> Any:
    """The pair distribution of particles in a periodic box."""
    delta = positions[:, None] - positions[None]
    delta -= box * np.round(delta / box)
    distance = np.sqrt((delta**2).sum(-1))
    pairs = distance[np.triu_indices(positions.shape[0], 1)]
    counts, edges = np.histogram(pairs, bins=bins, range=(0.0, box / 2))
    shell = 4.0 / 3.0 * np.pi * (edges[1:] ** 3 - edges[:-1] ** 3)
    return counts / shell, 0.5 * (edges[1:] + edges[:-1])


def hamiltonian(n: int, dx: float, potential: Any) -> Any:
    """Energies of a particle in a potential on a grid of finite differences."""
    kinetic = -0.5 / dx**2 * (np.eye(n, k=1) + np.eye(n, k=-1) - 2 * np.eye(n))
    values = np.linalg.eigvalsh(kinetic + np.diag(potential))
    return values[:3], values[1:] - values[:-1]


def advect(u: Any, velocity: Any, dx: float, dt: float) -> Any:
    """An upwind step on a ring."""
    left, right = (u - np.roll(u, 1)) / dx, (np.roll(u, -1) - u) / dx
    return u - dt * np.where(velocity > 0, velocity * left, velocity * right)


def lorentz_boost(events: Any, beta: float) -> Any:
    """Four-vectors seen from a moving frame, and their intervals."""
    gamma = 1.0 / np.sqrt(1.0 - beta**2)
    boost = np.eye(4)
    boost[0, 0] = boost[1, 1] = gamma
    boost[0, 1] = boost[1, 0] = -gamma * beta
    metric = np.diag([1.0, -1.0, -1.0, -1.0])
    moved = events @ boost.T
    return moved, np.einsum("ni,ij,nj->n", moved, metric, moved)


def maxwell_speeds(masses: Any, temperature: float, seed: int) -> Any:
    """Velocities drawn at a temperature; the temperature that they have."""
    rng = np.random.default_rng(seed)
    sigma = np.sqrt(temperature / masses)
    v = rng.normal(size=(masses.size, 3)) * sigma[:, None]
    v -= v.mean(axis=0)
    speeds = np.linalg.norm(v, axis=1)
    return v, speeds, (masses * speeds**2).sum() / (3 * masses.size)


CASES = [
    Case(heat_step, lambda r: (r.normal(size=(9, 11)), 0.1, 5)),
    Case(lennard_jones, lambda r: (r.normal(size=(7, 3)) * 2, 1.0, 0.9), ulps=64, scale=1e3, special=False),
    Case(gravity, lambda r: (r.normal(size=(6, 3)), r.random(6), 0.1), ulps=256, scale=1e3, special=False),
    Case(leapfrog, lambda r: (r.normal(size=12), r.normal(size=12), 1.5, 0.05, 7), ulps=32, scale=8.0),
    Case(blackbody, lambda r: (np.linspace(200.0, 3000.0, 40), r.random(5) * 4000 + 2000), ulps=32),
    Case(wave_equation, lambda r: (r.normal(size=15), 0.7, 6), ulps=4, scale=10.0),
    Case(ising_energy, lambda r: (r.choice([-1, 1], (6, 8)), 1.0, 0.3), ulps=8, scale=10.0),
    Case(
        electric_field,
        lambda r: (r.normal(size=(3, 3)), np.linspace(-1, 1, 7), np.linspace(-2, 2, 5)),
        ulps=64,
        scale=1.0,
    ),
    Case(
        center_of_mass_frame,
        lambda r: (r.normal(size=(5, 3)), r.normal(size=(5, 3)), r.random(5) + 0.5),
        ulps=64,
        scale=8.0,
    ),
    Case(radial_distribution, lambda r: (r.random((12, 3)) * 4.0, 4.0, 6), ulps=4, special=False),
    Case(hamiltonian, lambda r: (8, 0.3, r.random(8)), ulps=512, scale=20.0, special=False),
    Case(advect, lambda r: (r.normal(size=10), r.normal(size=10), 0.1, 0.02)),
    Case(lorentz_boost, lambda r: (r.normal(size=(6, 4)), 0.6), ulps=32, scale=8.0),
    Case(
        maxwell_speeds,
        lambda r: (r.random(9) + 0.5, 1.7, 11),
        ulps=32,
        scale=4.0,
        special=False,
        refused={"pallas": "`seeded` has no JAX form"},
    ),
]
