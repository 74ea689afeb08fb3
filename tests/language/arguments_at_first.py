"""Loops that store into an argument first, and into an array of their own from then on."""

# ruff: noqa: E501, E701, E702, E741, PERF401, B007
from __future__ import annotations

import numpy as np

from tests.language.registry import case


@case(np.arange(4.), 3)
@case(np.arange(4.), 0)
@case(np.arange(4.), 1)
def for_args(x, n):
    for k in range(n):
        x[0] += 1
        x = x * 2
    return x

@case(np.arange(4.), 9.)
@case(np.arange(4.), -9.)
def while_args(x, t):
    while x[0] < t:
        x[0] += 1
        x[1] = x[2]
        x = x * 2
    return x

@case(np.arange(4.), np.arange(4.), 3)
def two(x, y, n):
    for k in range(n):
        x[1:] -= y[:-1]
        x, y = x + y, x
        y[0] += k
    return x, y

@case(np.arange(4.), 3)
def with_return(x, n):
    for k in range(n):
        x[0] += 1
        if x[0] > 3: return x, k
        x = x * 2
    return x, n

@case(np.arange(6.).reshape(2,3), 3)
def else_loop(x, n):
    for k in range(n):
        x[0, 0] += 1
        if x[0,0]>100: break
        x = x @ np.eye(3)
    else:
        return x.sum()
    return x

@case(np.arange(4.), [np.arange(3.), np.arange(2.)], 2)
def nested(x, parts, n):
    for e in range(n):
        for p in parts:
            x[0] += p.sum()
            x = x + 1
    return x

@case(np.arange(5.), np.array([0.3,0.5]), 3)
def listed(q, w, n):
    out=[q]
    for k in range(n):
        q = np.roll(q, 1)
        q /= np.linalg.norm(q)+w[0]
        out.append(q)
    return np.vstack(out), q


@case(np.array([1., 0, 0, 0]), np.random.default_rng(2).normal(size=(5, 3)), tol=1e-12)
def turned(q, omegas):
    def product(p, r):
        a, b, c, d = r
        w, x, y, z = p
        return np.array([w*a-x*b-y*c-z*d, w*b+x*a+y*d-z*c, w*c-x*d+y*a+z*b, w*d+x*c-y*b+z*a])
    path = [q]
    for omega in omegas:
        angle = np.linalg.norm(omega)
        dq = np.r_[np.cos(angle), omega] if angle > 1e-9 else np.array([1., 0, 0, 0])
        q = product(q, dq)
        q /= np.linalg.norm(q)
        path.append(q)
    return np.vstack(path)


@case(np.arange(4.))
def two_names(u):
    v = u
    w = v[1:]
    for _ in range(3):
        v[0] = 1
        w[1] += v[0]
        v = v * 2
    return v, w
