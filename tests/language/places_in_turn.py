"""Names of arrays that change places in each iteration of a loop."""

# ruff: noqa: E501, E701, E702, B007
from __future__ import annotations

import numpy as np

from tests.language.registry import case

rng = np.random.default_rng(5)
A, B, C = rng.standard_normal((3, 7))


def a_step(u, v, c):
    v[1:-1] = 2*u[1:-1] - v[1:-1] + c*(u[2:] - 2*u[1:-1] + u[:-2])
    return v, u

@case(A, B, 0)
@case(A, B, 1)
@case(A, B, 4)
@case(A, B, 5)
def by_a_call(u, v, steps):
    for t in range(steps):
        u, v = a_step(u, v, 0.1)
    return u

@case(A, B, 0)
@case(A, B, 3)
@case(np.zeros(0), np.zeros(0), 2)
def by_a_third_name(u, v, steps):
    for t in range(steps):
        v[1:-1] = 0.5*(u[:-2] + u[2:])
        old = u
        u = v
        v = old
    return u

@case(A, B, 2)
@case(A, B, 3)
def in_the_middle(u, v, steps):
    s = 0.0
    for t in range(steps, -steps, -2):
        v[0] += t
        u, v = v, u
        v[-1] = u[0] + t
        s += u[1] * v[0]
    return s

@case(A, B, C, 0)
@case(A, B, C, 1)
@case(A, B, C, 2)
@case(A, B, C, 6)
def three_in_turn(a, b, c, steps):
    for t in range(steps):
        c[1:-1] = 2*b[1:-1] - a[1:-1] + 0.1*(b[2:] - 2*b[1:-1] + b[:-2])
        a, b, c = b, c, a
    b[0] = 9
    return b

@case(A, B, C, 0.0)
@case(A, B, C, 0.3)
@case(A, B, C, 0.1)
@case(A, B, C, 99.0)
def left_on_the_way(a, b, c, tol):
    n = 0
    for t in range(50):
        c[1:-1] = (a[1:-1] + b[:-2] + b[2:]) / 3
        d = np.abs(c - b).max()
        if d < tol:
            break
        a, b, c = b, c, a
        n += 1
        if n > 40:
            break
    c[0] = n
    return a, n

@case(A, B, 1e-2)
@case(A, B, 99.0)
def until_it_converges(u, v, tol):
    err, n = 1.0, 0
    while err > tol and n < 100:
        v[1:-1] = 0.5*(u[:-2] + u[2:])
        err = np.abs(u - v).max()
        u, v = v, u
        n += 1
    return u, n

@case(A, B, 1)
@case(A, B, 9)
def returned_on_the_way(u, v, steps):
    for t in range(steps):
        v[:] = u + 1
        if v[0] > 5:
            return u
        u, v = v, u
    return v

@case(A, B, 3, 1)
@case(A, B, 3, 2)
def in_a_loop(u, v, outer, inner):
    for k in range(outer):
        for t in range(inner):
            v[1:] = u[:-1]
            u, v = v, u
        u[0] = k
    return u

@case(A, B, 2)
@case(A, B, 3)
def one_loop_after_another(u, v, steps):
    for t in range(steps):
        v[1:-1] = 0.5*(u[:-2] + u[2:])
        u, v = v, u
    for t in range(steps):
        v[1:-1] = 0.5*(u[:-2] - u[2:])
        u, v = v, u
    v[0] = 1
    return v

@case(A, 0)
@case(A, 3)
def with_a_copy(u, steps):
    v = u.copy()
    seen = np.zeros((steps, u.size))
    sums = []
    for t in range(steps):
        v[1:-1] = 0.5*(u[:-2] + u[2:])
        u, v = v, u
        seen[t] = u
        sums.append(u[1])
    return seen, sums, u

@case(6, 5)
def of_the_functions_own(n, steps):
    u, v = np.zeros(n), np.ones(n)
    for t in range(steps):
        v[1:] = u[:-1] + t
        u, v = v, u
    return u, v

@case(A, B, 5)
def whole_arrays_and_elements(u, v, steps):
    for t in range(steps):
        for i in range(1, u.size - 1):
            v[i] = 0.25*(u[i-1] + 2*u[i] + u[i+1])
        u, v = v, u
    return u.copy()
