"""Functions over complex numbers, each run against NumPy: parts, stores, loops, reductions, errors."""

# ruff: noqa: E501, E701, E702, E711, E731, F841, B007, C416, SIM113
from __future__ import annotations

import cmath
import math

import numpy as np

from tests.language.registry import CASES, case  # noqa: F401  (the tests of the targets look here)

rng = np.random.default_rng(4)


def _complex(*shape):
    return rng.standard_normal(shape) + 1j * rng.standard_normal(shape)


Z, W, M, Q, T = _complex(9), _complex(9), _complex(3, 4), _complex(4, 4), _complex(2, 3, 4)
NAN = np.array([1 + 1j, complex(np.nan, 2), 3j, complex(5, np.nan), 7 - 1j])

@case(Z)
def complex_stores(z):
    z[2] = 5; z[3:5] = 1j; z[z.real < 0] = 0; z[np.array([0, 1])] += 2j
    z *= 1j; z /= 2; z -= z.conj()
    z.imag = 3; z.real += np.arange(9); z.real[2:4] = 7
    return z
@case(Z)
def complex_parts_are_views(z):
    z.real, z.imag = z.imag.copy(), z.real.copy()
    part = z.imag
    part[2:4] = 7
    w = z.copy()
    w.imag = 0
    w.real[0] = 9
    return z.imag, z.real[1:3], part, w
@case(_complex(6, 8)[::2, ::-2])
def complex_strided(m):
    m[0] += 1
    m.imag[1:] = 0
    return m.T * 2, m.real, m[1].imag, m.real.sum(axis=0)
@case(Z, W)
def complex_aliases(z, w):
    z[1:] = z[:-1] * w[1:]
    z.real[...] = z.imag[::-1]
    return z
@case(Z, 2, tol=1e-13)
def complex_loop(z, k):
    t = 0j
    for i in range(len(z)):
        t += z[i] * z[i].conjugate()
        if t.real > k: break
    return t, z[0].real, z[k].imag
@case(-2.0, 1.0, -1.0, 1.0, 12, 9, 30)
def complex_mandelbrot(a, b, c, d, w, h, n):
    out = np.zeros((h, w), dtype=int)
    for j in range(h):
        for i in range(w):
            z = 0j
            q = complex(a + (b - a) * i / w, c + (d - c) * j / h)
            for k in range(n):
                if abs(z) > 2: break
                z = z * z + q
                out[j, i] += 1
    return out
@case(20)
def complex_mandelbrot_masked(n):
    y, x = np.mgrid[-1:1:8j, -2:1:10j]
    c = x + 1j * y
    z = np.zeros_like(c)
    count = np.zeros(c.shape, int)
    for _ in range(n):
        m = np.abs(z) <= 2
        z[m] = z[m] ** 2 + c[m]
        count += m
    return count
@case(7)
def complex_making(n): return np.zeros(n, dtype=complex), np.ones(n, complex), np.full(n, 1 + 2j), np.empty((2, 0), dtype=np.complex64), np.arange(n) * 1j, np.eye(3, dtype=complex), np.linspace(0, 1j, 5), np.arange(5, dtype=complex), np.array([1, 2j, 3.5])
@case(Z, T)
def complex_shapes(z, t): return t.transpose(2, 0, 1), t[0].T, t.conj().T, t.reshape(6, 4), t[..., 0], t[:, 1] * 2j, np.roll(z, 2), z[::-1], np.stack([z, z.conj()]), np.append(z, 1j), np.diff(z)
@case(Z, W)
def complex_choices(z, w): return np.where(z.real > 0, z, w), np.select([z.real > 0, z.imag > 0], [z, w], 0), np.allclose(z, w), np.isclose(z, z + 1e-9), np.array_equal(z, w), np.iscomplexobj(z), np.isreal(z), z[z.real > 0], np.nonzero(z)[0], np.count_nonzero(z), z.any(), z.all()
@case(Z)
def complex_conversions(z): return z.astype(np.complex64), z.real.astype(complex), z.tolist(), z[0].item(), [complex(v) for v in z], z.nbytes
@case(1.5, 2 + 1j)
def complex_python(a, z): return a + z, a * z, z / a, a / z, z**2, z**3, z**-1, z**-5, z.real, z.imag, z.conjugate(), z == 2j, z != a, -z, +z, complex(a, 3), complex(z, z), complex(a), bool(z), abs(3 + 4j) * a
@case(1.5, 2 + 1j, tol=1e-15)
def complex_python_near(a, z): return abs(z), z**0.5, z ** (1 + 1j), z**101
@case(np.complex64(1 + 2j), 2.5)
def complex_scalars(z, a): return z * a, z + 1j, z * np.float64(2), z / 3, z**2, z.real, z.conj(), z == 1, np.round(z, 1)
@case(0j)
def complex_zero_divided(z): return 1 / z
@case(0j)
def complex_zero_power(z): return z**-1
@case(1e200 + 1j)
def complex_overflow(z): return z**2
@case(3j)
def complex_less(z): return z < 1
@case(3j)
def complex_float(z): return float(z)
@case(3j)
def complex_floor(z): return z // 2
@case(M, tol=1e-14)
def complex_reductions(m): return m.sum(axis=0), m.sum(axis=1, keepdims=True), m.mean(axis=0), m.var(axis=1), m.std(axis=0, ddof=1), m.sum(), m.prod(axis=0), m.prod(), m.cumsum(axis=0), np.cumprod(m), np.trace(m)
@case(M)
def complex_extrema(m): return m.max(), m.max(axis=1), m.min(axis=0), m.argmax(axis=1), m.argmin(axis=0), m.max(axis=0, keepdims=True), m.argmax(), m.argmin(), np.sort(m, axis=0), np.argsort(m[0])
@case(NAN)
def complex_nan(z): return z.max(), z.min(), z.argmax(), z.argmin(), np.isnan(z), np.nansum(z), np.maximum(z, 2), np.fmax(z, 2), np.sort(z)
@case(M, Q, tol=1e-13)
def complex_products(m, q): return m @ q, np.dot(m, q), np.einsum("ij,jk->ik", m, q), np.inner(m, q), np.outer(m[0], q[1]), np.vdot(m[0], q[0]), np.vecdot(m, m), np.tensordot(m, q, 1), np.correlate(m[0], q[0], "full"), np.convolve(m[0], q[1]), np.cov(m)
@case(Z, W)
def complex_ufuncs(z, w): return np.add.reduce(z[:2]), np.add.accumulate(z), np.multiply.outer(z, w), np.multiply(z, 2j, out=w)
@case(Z)
def complex_lists(z):
    out = []
    for v in z:
        if v.real > 0: out.append(v * 2)
    return out, np.array(out)
@case([1 + 2j, 3j], tol=1e-15)
def complex_list_argument(v): return sum(v), [abs(x) for x in v], v[0] * v[1]
@case(5, tol=1e-15)
def complex_carried(n):
    w = np.exp(2j * np.pi / n)
    z = 1
    if n > 3: z = w * 2
    return [w**k for k in range(4)], z, w.real
@case(Z, 3.0)
def complex_guarded(z, a):
    padded = np.concatenate([z[1:] * z[:-1], np.zeros(2, complex)])
    return np.where(np.arange(10) < 8, padded / a, 1j)
@case(Z, 5, 20, tol=1e-14)
def complex_transforms(z, k, m): return np.fft.fft(z), np.fft.ifft(z), np.fft.fftshift(z), np.fft.fftfreq(9), np.fft.rfft(z.real), np.fft.irfft(z, 16), np.fft.irfft(z), np.fft.hfft(z), np.fft.ihfft(z.real), np.fft.fft(z, k), np.fft.fft(z, n=m, norm="ortho"), np.fft.rfft(z.real, m), np.fft.ifft(z, 2 * len(z)), np.fft.fft(np.complex64(z))
@case(M, tol=1e-14)
def complex_transforms_of_planes(m): return np.fft.fft2(m), np.fft.ifft2(m), np.fft.fftn(m), np.fft.rfft2(m.real), np.fft.irfft2(m), np.fft.fft(m, axis=0), np.fft.fft2(m, s=(4, 8)), np.fft.rfftn(m.real, s=(2, 5), axes=(0, 1)), np.fft.irfftn(m, s=(3, 5), axes=(0, 1))
@case(Z, 0)
def complex_transform_of_nothing(z, k): return np.fft.fft(z, k)
@case(Z, 3, tol=1e-14)
def complex_low_pass(z, k):
    spectrum = np.fft.fft(z)
    spectrum[k:] = 0
    power = np.abs(spectrum) ** 2
    return np.fft.ifft(spectrum).real, power, np.argmax(power)
@case(Q, tol=1e-11)
def complex_matrices(q): return np.linalg.inv(q), np.linalg.det(q), np.linalg.solve(q, q[0]), np.linalg.norm(q), np.linalg.norm(q, axis=1), np.linalg.eigvals(q), np.linalg.eigh(q + q.conj().T)[0], np.linalg.svd(q)[1], np.linalg.matrix_power(q, 3), np.linalg.cholesky(q @ q.conj().T), np.linalg.slogdet(q), np.linalg.cond(q), np.linalg.matrix_rank(q), np.linalg.pinv(q), np.linalg.qr(q)[1], np.linalg.eig(q)[0], np.linalg.eigvals(q.real.astype(complex))
@case(np.array([1.0, 2, 3]), 2.0, tol=1e-15)
def complex_polynomials(p, x): return np.polyval(p, x), np.polyval(p, 1j * x), np.poly(p), np.polyval(np.array([1, 2j]), p)
@case(1.5 + 0.5j, tol=1e-14)
def complex_cmath(z): return cmath.sqrt(z), cmath.exp(z), cmath.log(z), cmath.log10(z), cmath.sin(z), cmath.cos(z), cmath.tan(z), cmath.asin(z), cmath.acos(z), cmath.atan(z), cmath.sinh(z), cmath.cosh(z), cmath.tanh(z), cmath.asinh(z), cmath.acosh(z), cmath.atanh(z), cmath.phase(z), cmath.polar(z), cmath.rect(z.real, z.imag), cmath.isnan(z), cmath.isclose(z, z + 1e-12), cmath.log(z, 2), cmath.pi, cmath.inf
@case(2.0, -3.0, 5.0, tol=1e-15)
def complex_quadratic(a, b, c):
    d = cmath.sqrt(b * b - 4 * a * c)
    return (-b + d) / (2 * a), (-b - d) / (2 * a), cmath.exp(1j * math.pi * a)
@case(0j)
def cmath_log_of_zero(z): return cmath.log(z)
@case(1000 + 0j)
def cmath_overflow(z): return cmath.exp(z)
@case(1j)
def cmath_pole(z): return cmath.atan(z)
@case(complex(1, math.inf))
def cmath_infinite_angle(z): return cmath.cosh(z)
@case(complex(-math.inf, math.inf))
def cmath_vanishing(z): return cmath.exp(z)
@case(Z, W)
def complex_neighbours_under_a_condition(x, y):  # GCC 12 mixes up the parts where it makes the loop free of branches
    y += np.concatenate((x[1:], x[:1])) / (0.5 - 0.5j)
    return y
@case(Z, M, 2, tol=1e-15)
def complex_names(z, m, k): return m.max(axis=1) / 2, z[z != k].sum()
@case(Z, 1.5 - 0.5j, tol=1e-15)
def complex_number_of_the_host(z, s): return z.real * s + 0j, z / s
