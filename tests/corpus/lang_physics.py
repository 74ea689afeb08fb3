"""Physics as people write it with objects, dicts and loops: particles, fields, integrators, checks of arguments."""

# ruff: noqa: B007, B018, B905, E741, PERF401, UP031
from __future__ import annotations

import math
from collections import namedtuple
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from tests.corpus.registry import Case

G = 6.674e-3
CONSTANTS = {"k": 1.380649, "mass": {"electron": 0.511, "proton": 938.272}, "cutoff": 2.5}
Phase = namedtuple("Phase", ["position", "momentum"])


@dataclass
class Particles:
    position: np.ndarray
    velocity: np.ndarray
    mass: np.ndarray
    time: float = 0.0

    def kinetic(self) -> Any:
        return 0.5 * np.sum(self.mass * np.sum(self.velocity**2, axis=1))

    def step(self, force: Any, dt: float) -> None:
        self.velocity += dt * force / self.mass[:, None]
        self.position += dt * self.velocity
        self.time += dt


class Grid(NamedTuple):
    dx: float
    dy: float
    values: np.ndarray


class Oscillator:
    def __init__(self, omega: float, x: Any, v: Any) -> None:
        self.omega, self.x, self.v = omega, x, v
        self.history: list[float] = []

    @property
    def energy(self) -> Any:
        return 0.5 * float(np.sum(self.v * self.v)) + 0.5 * self.omega**2 * float(np.sum(self.x * self.x))

    def kick(self, dt: float) -> None:
        self.v = self.v - dt * self.omega**2 * self.x

    def drift(self, dt: float) -> None:
        self.x = self.x + dt * self.v


@dataclass(frozen=True)
class Settings:
    dt: float = 0.01
    steps: int = 4
    method: str = "verlet"
    limits: tuple = field(default=(-1.0, 1.0))


def gravity(position: Any, mass: Any, softening: float = 0.1) -> Any:
    """Pairwise forces in a double loop with a skip."""
    n = len(mass)
    force = np.zeros_like(position)
    for i in range(n):
        for j in range(n):
            if i == j:
                continue
            r = position[j] - position[i]
            d2 = r[0] * r[0] + r[1] * r[1] + softening**2
            force[i] += G * mass[i] * mass[j] * r / (d2 * math.sqrt(d2) if d2 == d2 and d2 < 1e300 else 1.0)
    return force


def advance(particles: Particles, dt: float, steps: int) -> Any:
    """A dataclass changed in place by its own methods, and a list of energies."""
    energies = []
    for _ in range(steps):
        particles.step(-particles.position, dt)
        energies.append(particles.kinetic())
    return energies, particles.time


def leapfrog(oscillator: Oscillator, dt: float) -> Any:
    """Attributes rebound by methods, a property, an attribute that is a list."""
    for _ in range(3):
        oscillator.kick(0.5 * dt)
        oscillator.drift(dt)
        oscillator.kick(0.5 * dt)
    oscillator.history.append(oscillator.energy)
    return oscillator


def hamiltonian_step(phase: Phase, dt: float) -> Phase:
    """A named tuple in, a named tuple out."""
    p = phase.momentum - dt * np.sin(phase.position)
    q, _ = phase
    return phase._replace(position=q + dt * p, momentum=p)


def laplacian(grid: Grid, periodic: bool = False) -> Grid:
    """A flag decided by the caller."""
    u = grid.values
    out = np.zeros_like(u)
    out[1:-1, 1:-1] = (u[2:, 1:-1] - 2 * u[1:-1, 1:-1] + u[:-2, 1:-1]) / grid.dx**2
    out[1:-1, 1:-1] += (u[1:-1, 2:] - 2 * u[1:-1, 1:-1] + u[1:-1, :-2]) / grid.dy**2
    if periodic:
        out[0], out[-1] = out[-2], out[1]
    return Grid(grid.dx, grid.dy, out)


def lennard_jones(r: Any, parameters: dict | None = None) -> dict:
    """Optional dict argument, constants of the module, a dict of results."""
    if parameters is None:
        parameters = {"epsilon": 1.0, "sigma": 1.0}
    epsilon, sigma = parameters["epsilon"], parameters.get("sigma", 1.0)
    inside = r < CONSTANTS["cutoff"] * sigma
    s6 = (sigma / r) ** 6
    energy = np.where(inside, 4 * epsilon * (s6 * s6 - s6), 0.0)
    return {"energy": energy, "inside": inside, "count": int(inside.sum())}


def runge_kutta(f: Any, y: Any, t: float, dt: float, steps: int) -> Any:
    """The right-hand side is an argument."""
    out = [y]
    for _ in range(steps):
        k1 = f(t, y)
        k2 = f(t + dt / 2, y + dt / 2 * k1)
        k3 = f(t + dt / 2, y + dt / 2 * k2)
        k4 = f(t + dt, y + dt * k3)
        y = y + dt / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        t += dt
        out.append(y)
    return out, t


def decay(t: float, y: Any) -> Any:
    return -0.5 * y + 0.1 * t


def validated_speed(velocity: Any, limit: float = 3.0) -> Any:
    """Exceptions with numbers in their messages, raised where the data ask for it."""
    if velocity.ndim != 2:
        raise ValueError(f"velocity must be 2-D, got {velocity.ndim}-D with shape {velocity.shape}")
    speed = np.sqrt((velocity**2).sum(axis=1))
    for i, v in enumerate(speed):
        if v > limit:
            raise RuntimeError(f"particle {i} moves at {v:.3f}, the limit is {limit:g}")
    assert speed.shape[0] == len(velocity), "shapes"
    return speed


def first_crossing(x: Any, level: float = 0.0) -> Any:
    """A search loop with else."""
    for i in range(1, len(x)):
        if x[i - 1] < level <= x[i]:
            break
    else:
        return None if len(x) == 0 else -1
    return i - 1 + int(x[i] == level)


def cooling_schedule(t0: float, alpha: float, floor: float) -> Any:
    """A while loop whose list is bounded by a counter."""
    temperatures = []
    k = 0
    t = t0
    while k < 50 and t > floor:
        temperatures.append(t)
        t *= alpha
        k += 1
    return np.array(temperatures), k


def settle_spins(spins: Any, coupling: float) -> Any:
    """Checkerboard updates with wrapped neighbours and a nested function."""
    rows, columns = spins.shape

    def field_at(i: int, j: int) -> Any:
        return spins[(i - 1) % rows, j] + spins[(i + 1) % rows, j] + spins[i, (j - 1) % columns] + (
            spins[i, (j + 1) % columns]
        )

    flips = 0
    for parity in (0, 1):
        for i, j in np.ndindex(rows, columns):
            if (i + j) % 2 != parity:
                continue
            if coupling * spins[i, j] * field_at(i, j) < 0:
                spins[i, j] = -spins[i, j]
                flips += 1
    return flips


def with_settings(x: Any, settings: Settings) -> Any:
    """A frozen dataclass of numbers and strings."""
    low, high = settings.limits
    for _ in range(settings.steps):
        if settings.method == "verlet":
            x = x + settings.dt * (1 - x)
        elif settings.method in ("euler", "midpoint"):
            x = x - settings.dt * x
        else:
            raise ValueError("unknown method " + settings.method)
    return np.clip(x, low, high)


def distances(points: Any) -> Any:
    """A nested comprehension over rows."""
    return np.array([[float(np.sum(abs(p - q))) for q in points[:3]] for p in points[:3]])


def orbit_period(a: float, masses: tuple) -> Any:
    """math on numbers, with its ValueError."""
    total = sum(masses)
    period = 2 * math.pi * math.sqrt(a**3 / (G * total))
    return period, math.log10(period), math.floor(period), math.isclose(period, 1.0)


def split_species(x: Any, kind: Any) -> Any:
    """A dict built by a comprehension over constant names."""
    groups = {name: x[kind == code] for code, name in enumerate(("electron", "proton"))}
    masses = CONSTANTS["mass"]
    return [groups[name].sum() * masses[name] for name in groups], sorted(groups)


def escape_time(c: Any, limit: int = 12) -> Any:
    """Complex iteration spelled out in reals, with break."""
    steps = np.zeros(len(c), dtype=np.int32)
    for k in range(len(c)):
        x = y = 0.0
        for n in range(limit):
            x, y = x * x - y * y + c[k, 0], 2 * x * y + c[k, 1]
            if x * x + y * y > 4.0:
                break
            steps[k] = n + 1
    return steps


def running_extremes(signal: Any) -> Any:
    """Chained assignment, conditional expressions, several results."""
    low = high = signal[0]
    lows, highs = [], []
    for s in signal:
        low = s if s < low else low
        high = s if s > high else high
        lows.append(low)
        highs.append(high)
    return np.array(lows), np.array(highs), high - low


def relax(u: Any, tolerance: float = 1e-3) -> Any:
    """Iterate until nothing moves, at most a number of times."""
    for sweep in range(20):
        old = u.copy()
        u[1:-1] = 0.5 * (old[:-2] + old[2:])
        change = abs(u - old).max()
        if change < tolerance:
            return u, sweep, True
    return u, sweep, False


def potential(kind: str, x: Any, **options: float) -> Any:
    """Keyword options in a dict."""
    strength = options.get("strength", 1.0)
    table = {
        "harmonic": lambda v: 0.5 * strength * v**2,
        "quartic": lambda v: 0.25 * strength * (v * v) ** 2 - options.get("well", 0.0) * v**2,
    }
    if kind not in table:
        raise KeyError(kind)
    return table[kind](x)


def quartic(x: Any) -> Any:
    return potential("quartic", x, strength=2.0, well=0.5), potential("harmonic", x)


def magnetisation(spins: Any, *fields: float) -> Any:
    """Any number of arguments."""
    total = spins.mean()
    for k, h in enumerate(fields, 1):
        total = total + k * h
    return total, len(fields)


# fmt: off
CASES = [
    Case(gravity, lambda r: (r.normal(size=(5, 2)), abs(r.normal(size=5))), special=False),
    Case(
        advance, lambda r: (Particles(r.normal(size=(6, 3)), r.normal(size=(6, 3)), r.random(6) + 1), 0.1, 3), 8,
        special=False,
    ),  # fmt: skip
    Case(leapfrog, lambda r: (Oscillator(1.5, r.normal(size=4), r.normal(size=4)), 0.05), 8),
    Case(hamiltonian_step, lambda r: (Phase(r.normal(size=7), r.normal(size=7)), 0.1), 4),
    Case(laplacian, lambda r: (Grid(0.5, 0.25, r.normal(size=(6, 7))), True)),
    Case(lennard_jones, lambda r: (r.random((4, 4)) * 4 + 0.5,), 4),
    Case(lennard_jones, lambda r: (r.random(5) + 0.5, {"epsilon": 2.0, "sigma": 1.5}), 4),
    Case(runge_kutta, lambda r: (decay, r.normal(size=5), 0.0, 0.1, 3)),
    Case(validated_speed, lambda r: (r.normal(size=(8, 3)), 2.5), 4, special=False),
    Case(validated_speed, lambda r: (r.normal(size=8),)),
    Case(first_crossing, lambda r: (r.normal(size=9) - 0.5,)),
    Case(cooling_schedule, lambda r: (10.0, 0.8, 0.5)),
    Case(settle_spins, lambda r: (r.choice([-1, 1], (6, 6)), 1.0)),
    Case(with_settings, lambda r: (r.normal(size=6), Settings(method="euler"))),
    Case(with_settings, lambda r: (r.normal(size=6), Settings(method="magic"))),
    Case(distances, lambda r: (r.normal(size=(4, 3)),), 4),
    Case(orbit_period, lambda r: (2.0, (1.0, float(r.random()))), 4),
    Case(orbit_period, lambda r: (-2.0, (1.0, 0.5))),
    Case(split_species, lambda r: (r.normal(size=10), r.integers(0, 2, 10)), 8),
    Case(escape_time, lambda r: (r.normal(size=(12, 2)),)),
    Case(running_extremes, lambda r: (r.normal(size=11),)),
    Case(relax, lambda r: (r.normal(size=12),)),
    Case(quartic, lambda r: (r.normal(size=9),)),
    Case(magnetisation, lambda r: (r.choice([-1.0, 1.0], 8), 0.5, 0.25)),
]
# fmt: on
