"""Stores through other names: views, elements of containers, arguments of helpers, one of two arrays."""

# ruff: noqa: E501, E701, E702, E731, F841, B007, C416, SIM108, SIM113
from __future__ import annotations

import numpy as np

from tests.language.registry import case

rng = np.random.default_rng(9)
A, B = rng.random(6), rng.random(6)


@case(4)
def diagonal_through_rows(n):
    L = np.zeros((n,n))
    for i in range(n):
        L[i][i] = i+1
        L[i][0] += 2
    return L
@case(4)
def row_of_zeros(n):
    L = np.zeros((n,n))
    r = L[1]
    r[2] = 5
    for i in range(n):
        q = L[i]
        q[0] = i
    return L
@case(4)
def two_names(n):
    L = np.zeros((n,n)); M = L
    M[0,0] = 1
    return L, M
@case(4)
def rows_in_turn(n):
    L = np.zeros((n,n))
    for r in L:
        r[0] = 1
    for i, r in enumerate(L):
        r[1] = i
    return L
def put(a, i, v):
    a[i] = v
@case(4)
def stored_by_a_helper(n):
    L = np.ones(n); put(L, 1, 7)
    M = np.zeros((n,n)); put(M[1], 2, 8)
    for i in range(n): put(M[i], 0, i)
    return L, M
@case(4)
def stored_through_views(n):
    L = np.zeros((n,n+1)); L.T[1] = 3; L.T[0][1] = 4
    L.reshape(-1)[5] = 9
    L.ravel()[7] += 2
    return L
@case(4)
def views_augmented(n):
    L = np.zeros((n,n)); r = L[1:]
    r += 3
    q = L[:, 0]; q *= 2
    s = L.T; s[1] -= 1
    return L
@case(4)
def elements_augmented(n):
    L = np.full((n,n), 2.0); L[1] += 1; L[:,0] -= 1; L[1][1:] *= 5
    for i in range(n):
        L[i] /= 2
        L[i][i] -= 3
    return L
@case(4)
def written_with_out(n):
    L = np.zeros((n,n)); np.add(L[0], 1, out=L[1]); r = L[2]; np.multiply(r, 0, out=r); np.add(r, 4, out=r)
    return L
@case(4)
def unpacked_arrays(n):
    a = np.zeros(n); b = np.ones(n)
    p, q = b, a
    p[0] = 3; q[1] = 4
    (u, v) = (a[1:], b[:-1])
    u[0] += 1; v[:] = 2
    return a, b
@case(4)
def arrays_in_containers(n):
    a = np.zeros(n); b = np.ones(n)
    for z in [a, b]:
        z[1] = 6
    xs = (a, b); xs[0][2] = 7
    d = {'k': a}; d['k'][0] = 8
    return a, b
@case(4)
def one_of_two_by_size(n):
    a = np.zeros(n); b = np.ones(n)
    t = a if n > 3 else b
    t[0] = 5
    return a, b
@case(4)
def swapped_each_time(n):
    a = np.zeros(n); b = np.ones(n)
    for k in range(3):
        b[0] = a[1] + 1
        a[1] = b[0] * 2
        a, b = b, a
    return a, b
@case(4)
def subscripts_in_a_row(n):
    L = np.zeros((n,n,2))
    for i in range(n):
        for j in range(n):
            L[i][j][0] = i; L[i, j][1] = j
    return L
@case(4)
def stored_by_a_nested_function(n):
    a = np.zeros(n)
    def setit(k): a[k] = k
    for i in range(n): setit(i)
    return a
@case(4)
def filled_and_sorted(n):
    a = np.zeros((n,n)); a.flat[3] = 4; a.fill(2); b = a[0]; b.fill(3); a[1].sort()
    return a
@case(4)
def reshaped_and_turned(n):
    a = np.arange(n*2.0); b = a.reshape(n,2); b[0,1] = 50; c = b.T; c[1,1] = 60; d = a[::-1]; d[0] = 70
    return a, b


@case(A, B, 5)
def chosen_then_stored(a, b, n):
    t = a if n > 3 else b
    t[0] = 5
    return t
@case(A, B, 5)
def branches_then_stored(a, b, n):
    if n > 3: t = a
    else: t = b
    t[0] = 5
    return a, b
@case(A, B, 5)
def base_stored_after_choice(a, b, n):
    if n > 3: t = a[1:]
    else: t = b[:-1]
    a[2] = 9
    return t * 2
@case(A, B, 5)
def one_branch_stores(a, b, n):
    t = a
    if n > 3:
        t = b
        t[0] = 1
    return t + 1, a
@case(A, B, 5)
def fresh_or_argument(a, b, n):
    x = np.zeros(6) if n > 3 else b
    x[1] = 4
    return b, x
@case(A, B, 5)
def view_of_a_choice(a, b, n):
    x = np.zeros(6)
    if n > 3: x = a
    y = x[2:]
    y += 1
    return a


@case(A, B, 3)
def chosen_then_stored_otherwise(a, b, n):
    t = a if n > 3 else b
    t[0] = 5
    return t
@case(A, B, 3)
def branches_then_stored_otherwise(a, b, n):
    if n > 3: t = a
    else: t = b
    t[0] = 5
    return a, b
@case(A, B, 3)
def base_stored_after_choice_otherwise(a, b, n):
    if n > 3: t = a[1:]
    else: t = b[:-1]
    a[2] = 9
    return t * 2
@case(A, B, 3)
def one_branch_stores_otherwise(a, b, n):
    t = a
    if n > 3:
        t = b
        t[0] = 1
    return t + 1, a
@case(A, B, 3)
def fresh_or_argument_otherwise(a, b, n):
    x = np.zeros(6) if n > 3 else b
    x[1] = 4
    return b, x
@case(A, B, 3)
def view_of_a_choice_otherwise(a, b, n):
    x = np.zeros(6)
    if n > 3: x = a
    y = x[2:]
    y += 1
    return a


@case(A, 0.1, 4)
def handed_on_to_the_next(u, r, steps):
    n = len(u)
    for _ in range(steps):
        d = np.zeros(n)
        d[0] = u[0]
        for i in range(1, n): d[i] = u[i] + r * d[i-1]
        x = np.zeros(n)
        x[-1] = d[-1]
        for i in range(n - 2, -1, -1): x[i] = d[i] - r * x[i+1]
        u = x
    return u


@case(A, 5)
def made_then_changed(c, n):
    z = c
    for k in range(n):
        z = z * z + c
        z[z > 2] = k
    return z, c


@case(A, 5)
def alias_within_the_loop(u, n):
    for k in range(n):
        w = np.zeros(len(u))
        w[k] = 1
        v = w
        v[0] += k
        u = u + w
    return u
