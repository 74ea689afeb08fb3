"""Array functions as textbooks of numerical methods write them."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.corpus.registry import Case


def gauss_elimination(A: Any, b: Any) -> Any:
    """With partial pivoting; A and b are overwritten."""
    n = A.shape[0]
    for k in range(n - 1):
        p = np.argmax(np.abs(A[k:, k])) + k
        if p != k:
            A[[k, p]] = A[[p, k]]
            b[[k, p]] = b[[p, k]]
        factors = A[k + 1 :, k] / A[k, k]
        A[k + 1 :, k:] -= np.outer(factors, A[k, k:])
        b[k + 1 :] -= factors * b[k]
    x = np.zeros(n)
    for i in range(n - 1, -1, -1):
        x[i] = (b[i] - A[i, i + 1 :] @ x[i + 1 :]) / A[i, i]
    return x


def jacobi(A: Any, b: Any, sweeps: int) -> Any:
    D = np.diag(A)
    R = A - np.diagflat(D)
    x = np.zeros_like(b)
    for _ in range(sweeps):
        x = (b - R @ x) / D
    return x, np.linalg.norm(A @ x - b, np.inf)


def power_iteration(A: Any, steps: int) -> Any:
    v = np.ones(A.shape[0]) / np.sqrt(A.shape[0])
    for _ in range(steps):
        w = A @ v
        v = w / np.linalg.norm(w)
    return v @ A @ v, v


def simpson(y: Any, h: float) -> Any:
    """An odd number of points."""
    assert y.shape[0] % 2 == 1, "an odd number of points"
    return h / 3 * (y[0] + y[-1] + 4 * np.sum(y[1:-1:2]) + 2 * np.sum(y[2:-1:2]))


def newton_interpolation(x: Any, y: Any, at: Any) -> Any:
    """Divided differences, then Horner's rule."""
    n = x.shape[0]
    c = y.copy()
    for j in range(1, n):
        c[j:] = (c[j:] - c[j - 1 : -1]) / (x[j:] - x[: n - j])
    value = np.full_like(at, c[-1])
    for k in range(n - 2, -1, -1):
        value = value * (at - x[k]) + c[k]
    return value


def cholesky(A: Any) -> Any:
    """The lower factor, column by column."""
    n = A.shape[0]
    L = np.zeros((n, n))
    for j in range(n):
        d = A[j, j] - np.sum(L[j, :j] ** 2)
        if d <= 0:
            raise ValueError("the matrix is not positive definite")
        L[j, j] = np.sqrt(d)
        L[j + 1 :, j] = (A[j + 1 :, j] - L[j + 1 :, :j] @ L[j, :j]) / L[j, j]
    return L


def lu_inplace(A: Any) -> None:
    """Doolittle's factors in the place of the matrix."""
    n = A.shape[0]
    for k in range(n):
        A[k + 1 :, k] /= A[k, k]
        A[k + 1 :, k + 1 :] -= A[k + 1 :, k, None] * A[None, k, k + 1 :]


def runge_kutta(y: Any, t: float, h: float, steps: int) -> Any:
    """A damped oscillator."""

    def f(state: Any, time: float) -> Any:
        return np.array([state[1], -state[0] - 0.1 * state[1] + np.sin(time)])

    path = np.zeros((steps + 1, 2))
    path[0] = y
    for n in range(steps):
        s = path[n]
        k1 = f(s, t)
        k2 = f(s + h / 2 * k1, t + h / 2)
        k3 = f(s + h / 2 * k2, t + h / 2)
        k4 = f(s + h * k3, t + h)
        path[n + 1] = s + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        t = t + h
    return path


def sieve(n: int) -> Any:
    """Primes below n."""
    is_prime = np.ones(n, dtype=bool)
    is_prime[:2] = False
    for k in range(2, n):
        if k * k >= n:
            break
        if is_prime[k]:
            for j in range(k * k, n, k):
                is_prime[j] = False
    return np.flatnonzero(is_prime)


def pascal(n: int) -> Any:
    triangle = np.eye(n, dtype=np.int64)
    triangle[:, 0] = 1
    for i in range(2, n):
        triangle[i, 1:i] = triangle[i - 1, : i - 1] + triangle[i - 1, 1:i]
    return triangle, triangle.sum(axis=1), np.trace(triangle)


def game_of_life(board: Any, steps: int) -> Any:
    for _ in range(steps):
        p = np.pad(board, 1, mode="wrap")
        around = (
            p[:-2, :-2] + p[:-2, 1:-1] + p[:-2, 2:] + p[1:-1, :-2] + p[1:-1, 2:] + p[2:, :-2] + p[2:, 1:-1] + p[2:, 2:]
        )
        board = ((around == 3) | ((board == 1) & (around == 2))).astype(board.dtype)
    return board


def mandelbrot(size: int, limit: int) -> Any:
    """Escape times, in real arithmetic."""
    x, y = np.meshgrid(np.linspace(-2.0, 0.6, size), np.linspace(-1.2, 1.2, size))
    zx, zy = np.zeros_like(x), np.zeros_like(y)
    times = np.zeros(x.shape, dtype=int)
    for k in range(limit):
        inside = zx * zx + zy * zy <= 4.0
        times[inside] = k
        new = zx * zx - zy * zy + x
        zy = np.where(inside, 2 * zx * zy + y, zy)
        zx = np.where(inside, new, zx)
    return times


def floyd_warshall(weights: Any) -> Any:
    """All shortest paths."""
    d = weights.copy()
    for k in range(d.shape[0]):
        d = np.minimum(d, d[:, k, None] + d[None, k, :])
    return d


def vandermonde_fit(x: Any, y: Any, degree: int) -> Any:
    """A polynomial through points by least squares, and its values."""
    c = np.polyfit(x, y, degree)
    return c, np.polyval(c, x), np.polyder(c)


def spline_second_derivatives(x: Any, y: Any) -> Any:
    """The natural cubic spline's system, solved."""
    n = x.size
    h = np.diff(x)
    A = np.eye(n)
    i = np.arange(1, n - 1)
    A[i, i - 1] = h[:-1]
    A[i, i] = 2 * (h[:-1] + h[1:])
    A[i, i + 1] = h[1:]
    right = np.zeros(n)
    right[1:-1] = 6 * np.diff(np.diff(y) / h)
    return np.linalg.solve(A, right)


def gram_schmidt(V: Any) -> Any:
    """Orthonormal columns, modified."""
    Q = V.astype(float)
    for j in range(Q.shape[1]):
        Q[:, j] /= np.sqrt(np.sum(Q[:, j] ** 2))
        for k in range(j + 1, Q.shape[1]):
            Q[:, k] -= np.dot(Q[:, j], Q[:, k]) * Q[:, j]
    return Q


CASES = [
    Case(
        gauss_elimination,
        lambda r: (r.normal(size=(5, 5)) + 3 * np.eye(5), r.normal(size=5)),
        ulps=512,
        scale=8.0,
        special=False,
    ),
    Case(
        jacobi,
        lambda r: (r.normal(size=(5, 5)) + 9 * np.eye(5), r.normal(size=5), 8),
        ulps=64,
        scale=16.0,
        special=False,
    ),
    Case(power_iteration, lambda r: (np.abs(r.normal(size=(5, 5))), 12), ulps=256, scale=8.0, special=False),
    Case(simpson, lambda r: (r.normal(size=11), 0.1), ulps=64, scale=4.0),
    Case(newton_interpolation, lambda r: (np.arange(6.0), r.normal(size=6), r.random(5) * 5), special=False),
    Case(
        cholesky,
        lambda r: ((lambda m: m @ m.T + 0.1 * np.eye(5))(r.normal(size=(5, 5))),),
        ulps=1024,
        scale=4.0,
        refused={"pallas": "an array whose size depends on data has no JAX form"},
    ),
    Case(lu_inplace, lambda r: (r.normal(size=(5, 5)) + 5 * np.eye(5),), special=False),
    Case(runge_kutta, lambda r: (r.normal(size=2), 0.0, 0.1, 12), ulps=16, scale=2.0),
    Case(sieve, lambda r: (60,)),
    Case(pascal, lambda r: (8,)),
    Case(game_of_life, lambda r: (r.integers(0, 2, (8, 9)), 4)),
    Case(mandelbrot, lambda r: (16, 12)),
    Case(floyd_warshall, lambda r: (r.random((6, 6)),), special=False),
    Case(
        vandermonde_fit,
        lambda r: (np.linspace(0, 1, 9), r.normal(size=9), 3),
        ulps=1 << 16,
        scale=64.0,
        special=False,
        refused={"cuda": "CuPy has no `least_squares`", "pallas": "`least_squares` has no JAX form"},
    ),
    Case(
        spline_second_derivatives,
        lambda r: (np.sort(r.random(7)), r.normal(size=7)),
        ulps=4096,
        scale=64.0,
        special=False,
    ),
    Case(gram_schmidt, lambda r: (r.normal(size=(6, 4)),), ulps=256, scale=1.0, special=False),
]
