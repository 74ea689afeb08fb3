"""Waves and circuits with complex numbers: transforms, filters, quantum states, fractals, roots."""

# ruff: noqa: B007, E741
from __future__ import annotations

import cmath
import math
from typing import Any

import numpy as np

from tests.corpus.registry import Case

PAULI_X = np.array([[0, 1], [1, 0]], dtype=complex)
HADAMARD = np.array([[1, 1], [1, -1]]) / np.sqrt(2)


def mandelbrot(xmin: float, xmax: float, ymin: float, ymax: float, n: int, limit: int) -> Any:
    """Escape times, point by point."""
    counts = np.zeros((n, n), dtype=np.int64)
    for i in range(n):
        for j in range(n):
            c = complex(xmin + (xmax - xmin) * i / n, ymin + (ymax - ymin) * j / n)
            z = 0j
            for k in range(limit):
                if z.real * z.real + z.imag * z.imag > 4.0:
                    break
                z = z * z + c
                counts[i, j] = k
    return counts


def julia(c: complex, n: int, limit: int) -> Any:
    """Escape times of a whole grid under a mask."""
    y, x = np.ogrid[-1.5:1.5:12j, -1.5:1.5:10j]
    z = x + 1j * y
    inside = np.ones(z.shape, dtype=bool)
    counts = np.zeros(z.shape, dtype=int)
    for k in range(limit):
        z[inside] = z[inside] ** 2 + c
        inside = inside & (np.abs(z) < 2)
        counts[inside] += 1
    return counts, inside.sum()


def dft(x: Any) -> Any:
    """The transform as a matrix."""
    n = len(x)
    k = np.arange(n)
    return np.exp(-2j * np.pi * k * k[:, None] / n) @ x


def fft_radix2(x: Any) -> Any:
    """Cooley and Tukey, in place, with bit reversal."""
    n = x.shape[0]
    a = x.astype(complex)
    j = 0
    for i in range(1, n):
        bit = n >> 1
        while j & bit:
            j ^= bit
            bit >>= 1
        j |= bit
        if i < j:
            held = a[i]
            a[i] = a[j]
            a[j] = held
    size = 2
    while size <= n:
        step = cmath.exp(-2j * cmath.pi / size)
        for start in range(0, n, size):
            w = 1 + 0j
            for k in range(size // 2):
                u, v = a[start + k], a[start + k + size // 2] * w
                a[start + k] = u + v
                a[start + k + size // 2] = u - v
                w *= step
        size *= 2
    return a


def frequency_response(b: Any, a: Any, w: Any) -> Any:
    """Gain and phase of a digital filter."""
    z = np.exp(-1j * w)
    h = np.polyval(b[::-1], z) / np.polyval(a[::-1], z)
    return 20 * np.log10(np.abs(h)), np.unwrap(np.angle(h)), h


def evolve(psi: Any, energies: Any, dt: float, steps: int) -> Any:
    """A state in the eigenbasis of its Hamiltonian: phases turn, the norm stays."""
    norms = np.empty(steps)
    phase = np.exp(-1j * energies * dt)
    for k in range(steps):
        psi *= phase
        norms[k] = np.sum(np.abs(psi) ** 2)
    return psi, norms, np.vdot(psi, energies * psi).real


def apply_gate(state: Any, gate: Any, qubit: int) -> Any:
    """A gate on one qubit of a register."""
    n = int(np.log2(state.size))
    shaped = state.reshape(2**qubit, 2, 2 ** (n - qubit - 1))
    out = np.empty_like(shaped)
    out[:, 0] = gate[0, 0] * shaped[:, 0] + gate[0, 1] * shaped[:, 1]
    out[:, 1] = gate[1, 0] * shaped[:, 0] + gate[1, 1] * shaped[:, 1]
    return out.reshape(-1)


def bell_state() -> Any:
    """Two qubits from module constants."""
    state = np.zeros(4, dtype=complex)
    state[0] = 1
    state = np.kron(HADAMARD, np.eye(2)) @ state
    flipped = state.copy()
    flipped[2:] = PAULI_X @ state[2:]
    return flipped, np.outer(flipped, flipped.conj())


def impedance(r: float, l: float, c: float, w: Any) -> Any:
    """A series circuit: current, resonance, power factor."""
    z = r + 1j * w * l + 1 / (1j * w * c)
    current = 1.0 / z
    return np.abs(current), np.angle(current, deg=True), w[np.argmax(np.abs(current))], (z.real / np.abs(z))


def power_flow(v: Any, y: Any) -> Any:
    """What the buses of a grid take in."""
    i = y @ v
    s = v * i.conj()
    return s.real, s.imag, s.sum()


def durand_kerner(coefficients: Any, steps: int) -> Any:
    """All roots of a polynomial at once."""
    n = len(coefficients) - 1
    roots = (0.4 + 0.9j) ** np.arange(n)
    for _ in range(steps):
        for i in range(n):
            top = np.polyval(coefficients, roots[i])
            below = coefficients[0] + 0j
            for j in range(n):
                if j != i:
                    below *= roots[i] - roots[j]
            roots[i] -= top / below
    return roots


def newton_basins(z: Any, steps: int) -> Any:
    """Which root of ``z**3 - 1`` each point runs to."""
    for _ in range(steps):
        z = z - (z**3 - 1) / (3 * z**2)
    roots = np.exp(2j * np.pi * np.arange(3) / 3)
    return np.argmin(np.abs(z[..., None] - roots), axis=-1)


def analytic_signal(x: Any) -> Any:
    """Envelope and instantaneous phase, by the spectrum of positive frequencies."""
    n = x.shape[-1]
    spectrum = np.fft.fft(x)
    gain = np.zeros(n)
    gain[0] = 1
    gain[1 : (n + 1) // 2] = 2
    if n % 2 == 0:
        gain[n // 2] = 1
    analytic = np.fft.ifft(spectrum * gain)
    return np.abs(analytic), np.unwrap(np.angle(analytic))


def low_pass(image: Any, radius: float) -> Any:
    """An image without its high frequencies."""
    fy, fx = np.fft.fftfreq(image.shape[0])[:, None], np.fft.fftfreq(image.shape[1])[None, :]
    spectrum = np.fft.fft2(image)
    spectrum[np.hypot(fx, fy) > radius] = 0
    return np.fft.ifft2(spectrum).real


def welch(x: Any, size: int) -> Any:
    """Averaged power of windowed pieces that overlap by half."""
    window = 0.5 - 0.5 * np.cos(2 * np.pi * np.arange(size) / size)
    total = np.zeros(size // 2 + 1)
    count = 0
    for start in range(0, len(x) - size + 1, size // 2):
        spectrum = np.fft.rfft(window * x[start : start + size])
        total += spectrum.real**2 + spectrum.imag**2
        count += 1
    return total / count, np.fft.rfftfreq(size, 0.5)


def kramers_kronig(w: Any, imag: Any) -> Any:
    """The real part of a response from its imaginary part, leaving out the pole."""
    real = np.zeros_like(w)
    dw = w[1] - w[0]
    for i in range(len(w)):
        total = 0.0
        for j in range(len(w)):
            if i != j:
                total += w[j] * imag[j] / (w[j] ** 2 - w[i] ** 2)
        real[i] = 2 / np.pi * total * dw
    return real + 1j * imag


def split_step(psi: Any, potential: Any, dt: float, steps: int) -> Any:
    """The Schrödinger equation, half in space and half in frequency."""
    k = 2 * np.pi * np.fft.fftfreq(psi.size)
    half = np.exp(-0.5j * dt * potential)
    kinetic = np.exp(-0.5j * dt * k**2)
    state = psi.copy()
    for _ in range(steps):
        state = half * np.fft.ifft(kinetic * np.fft.fft(half * state))
    return state, np.sum(np.abs(state) ** 2)


def qpsk(bits: Any, noise: Any) -> Any:
    """Bits to symbols, and back from what was received."""
    symbols = ((1 - 2 * bits[0::2]) + 1j * (1 - 2 * bits[1::2])) / np.sqrt(2)
    received = symbols + noise
    out = np.empty_like(bits)
    out[0::2] = received.real < 0
    out[1::2] = received.imag < 0
    return symbols, out, np.mean(np.abs(received - symbols) ** 2)


def steering(angles: Any, sensors: int, spacing: float) -> Any:
    """Directions of an array of antennas, and its beam."""
    n = np.arange(sensors)
    a = np.exp(-2j * np.pi * spacing * n[:, None] * np.sin(angles))
    return a, np.abs(a.conj().T @ np.ones(sensors)) ** 2 / sensors


def cubic(a: float, b: float, c: float, d: float) -> Any:
    """Cardano's formula, numbers only."""
    p, q = (3 * a * c - b * b) / (3 * a * a), (2 * b**3 - 9 * a * b * c + 27 * a * a * d) / (27 * a**3)
    s = cmath.sqrt((q / 2) ** 2 + (p / 3) ** 3)
    u = cmath.exp(cmath.log(-q / 2 + s) / 3)
    turn = complex(-0.5, math.sqrt(3) / 2)
    roots = []
    for k in range(3):
        t = u * (1, turn, turn * turn)[k]
        roots.append(t - p / (3 * t) - b / (3 * a))
    return roots


def phasors(z: Any, w: Any) -> Any:
    """Parts changed in place, polar form and back."""
    z.imag[z.imag < 0] *= -1
    z.real += w.real
    r, theta = np.abs(z), np.angle(z)
    return r * np.exp(1j * theta), z.conj() * w, np.where(r > 1, z / r, z)


def smith_chart(z: Any, z0: float) -> Any:
    """Reflection and standing waves of loads on a line."""
    gamma = (z - z0) / (z + z0)
    size = np.abs(gamma)
    return gamma, (1 + size) / (1 - size), -20 * np.log10(size)


def _wave(r: np.random.Generator, *shape: int) -> Any:
    return r.normal(size=shape) + 1j * r.normal(size=shape)


CASES = [
    Case(mandelbrot, lambda r: (-2.0, 1.0, -1.2, 1.2, 12, 25)),
    Case(julia, lambda r: (-0.4 + 0.6j, 10, 12), special=False),
    Case(dft, lambda r: (_wave(r, 9),), ulps=64, scale=8.0, special=False),
    Case(fft_radix2, lambda r: (_wave(r, 16),), ulps=64, scale=8.0, special=False),
    Case(
        frequency_response,
        lambda r: (r.normal(size=3), np.array([1.0, -0.3, 0.1]), np.linspace(0, 3, 7)),
        ulps=256,
        scale=1.0,
        special=False,
    ),
    Case(evolve, lambda r: (_wave(r, 6), r.normal(size=6), 0.1, 5), ulps=64, scale=8.0, special=False),
    Case(
        apply_gate,
        lambda r: (_wave(r, 8), _wave(r, 2, 2), 1),
        ulps=4,
        scale=4.0,
        refused={"pallas": "a loop whose length depends on data"},
    ),
    Case(bell_state, lambda r: (), ulps=8, scale=1.0),
    Case(impedance, lambda r: (10.0, 1e-3, 1e-6, r.uniform(1e3, 1e5, 9)), ulps=64, special=False),
    Case(power_flow, lambda r: (_wave(r, 4), _wave(r, 4, 4)), ulps=64, scale=8.0, special=False),
    Case(durand_kerner, lambda r: (np.array([1.0, -3.0, 3.0, -5.0]), 12), ulps=4096, scale=4.0, special=False),
    Case(newton_basins, lambda r: (_wave(r, 5, 6), 6), special=False),
    Case(analytic_signal, lambda r: (r.normal(size=16),), ulps=256, scale=8.0, special=False),
    Case(low_pass, lambda r: (r.normal(size=(8, 6)), 0.3), ulps=256, scale=8.0, special=False),
    Case(welch, lambda r: (r.normal(size=40), 16), ulps=256, scale=32.0, special=False),
    Case(kramers_kronig, lambda r: (np.linspace(0.5, 4, 12), r.normal(size=12)), ulps=64, scale=4.0, special=False),
    Case(split_step, lambda r: (_wave(r, 16), r.normal(size=16), 0.05, 3), ulps=256, scale=32.0, special=False),
    Case(qpsk, lambda r: (r.integers(0, 2, 16), _wave(r, 8) / 10), ulps=16, scale=1.0, special=False),
    Case(steering, lambda r: (r.uniform(-1, 1, 5), 6, 0.5), ulps=256, scale=6.0, special=False),
    Case(cubic, lambda r: (1.0, -6.0, 11.5, -6.2), ulps=512, scale=4.0),
    Case(phasors, lambda r: (_wave(r, 9), _wave(r, 9)), ulps=64, scale=8.0, special=False),
    Case(smith_chart, lambda r: (50 * _wave(r, 7), 50.0), ulps=64, special=False),
]
