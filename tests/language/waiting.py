"""Values that wait while what stands beside them is evaluated, and changes what they are read from."""

# ruff: noqa: B007, F841
from __future__ import annotations

import numpy as np

from tests.language.registry import case

A = np.arange(6.0)
M = A % 2 > 0


def inc(a):
    a += 1
    return a.sum()


def inc1(a):
    a[0] = 100
    return 2.0


@case(A, M)
def waiting_t1(a, m): return a[m], inc(a)


@case(A, M)
def waiting_t2(a, m): return a + 1, inc(a)


@case(A, M)
def waiting_t3(a, m): return a[m] + inc(a)


@case(A, M)
def waiting_t4(a, m): return a * 2 + inc1(a)


@case(A, M)
def waiting_t5(a, m): return np.where(m, a, inc1(a))


@case(A, M)
def waiting_t6(a, m): return [a[m].sum(), inc(a), a[0]]


@case(A, M)
def waiting_t7(a, m): return {"x": a[m], "y": inc(a)}


@case(A, M)
def waiting_t8(a, m): return a[m].sum() + inc(a)


@case(A, M)
def waiting_t9(a, m): return np.concatenate((a[m], [inc1(a)], a[m]))


@case(A, M)
def waiting_t10(a, m):
    x, y, z = a[m], inc1(a), a[m]
    return x, y, z


@case(A, M)
def waiting_t11(a, m):
    b = a.copy()
    b[m], a[:] = a[m], b
    return b


@case(A, M)
def waiting_t12(a, m):
    b = a.copy()
    a[:], b[m] = b * 2, a[m]
    return b


@case(A, M)
def waiting_t13(a, m):
    b = a.copy()
    a[m], b[~m], a[0] = b[m], a[~m], 3
    return b


@case(A, M)
def waiting_t14(a, m):
    b = a.copy()
    (a[m], b[m]), c = (b[m] + 1, a[m] * 2), a[m]
    return b, c


@case(A, M)
def waiting_t15(a, m):
    d = {}
    d["x"], a[m], d["y"] = a[m], -a[m], a[m]
    return d


@case(A, M)
def waiting_t16(a, m):
    l = []
    l.append(a[m]); a[m] = 0
    return l


@case(A, M)
def waiting_t17(a, m):
    f = lambda v: (v[m], v + 1)
    p, q = f(a)
    a[:] = 0
    return p, q


@case(A, M)
def waiting_t18(a, m):
    for i in range(2):
        a[m], a[~m] = a[m] + 1, a[m].sum()
    return a


@case(A, M)
def waiting_t19(a, m):
    a[m], m[:] = a[m] * 2, ~m
    a[m], x = 0, a[m]
    return x


@case(A, M)
def waiting_t20(a, m):
    m[0], a[m] = False, a[m] * 2
    return a


@case(A, M)
def waiting_t21(a, m):
    k = np.flatnonzero(m)
    a[k], a[k + 1 - 1] = a[k] + 1, a[k] * 3
    return k


@case(A, M)
def waiting_t22(a, m):
    i = np.arange(3)
    a[i], a[i + 1] = a[i + 1], a[i]
    return a


@case(A, M)
def waiting_t23(a, m):
    a[1:], a[:-1] = a[:-1], a[1:]
    return a


@case(A, M)
def waiting_t24(a, m):
    a[1:], a[:-1] = a[:-1] * 1, a[1:] * 1
    return a


@case(A, M)
def waiting_t25(a, m):
    a[0], a[1], a[2] = a[1], a[2], a[0]
    return a


@case(A, M)
def waiting_t26(a, m):
    x = [a[m], 1]
    x[1], a[m] = a[m], 9
    return x


def loopinc(a):
    for i in range(len(a)):
        a[i] += i
    return 1.0


def condinc(a, k):
    if k > 1:
        a[0] = 50
    return 2.0


def whileinc(a):
    k = 0
    while k < 3:
        a[k] = -a[k]
        k += 1
    return k


def push(l):
    l.append(7.0)
    l[0] = 9.0
    return len(l)


@case(A, M)
def waiting_u1(a, m): return a[0] + loopinc(a)


@case(A, M)
def waiting_u2(a, m): return a * 2 + loopinc(a)


@case(A, M)
def waiting_u3(a, m): return a[m], loopinc(a), a[m]


@case(A, M)
def waiting_u4(a, m): return a[m].copy() + condinc(a, a[1])


@case(A, M)
def waiting_u5(a, m): return (a + 1)[whileinc(a)]


@case(A, M)
def waiting_u6(a, m): return np.where(m, a + 1, condinc(a, a.sum()))


@case(A, M)
def waiting_u7(a, m):
    a[m] += condinc(a, a[2]) * 3
    return a


@case(A, M)
def waiting_u8(a, m):
    a[whileinc(a)] = a[1] + 5
    return a


@case(A, M)
def waiting_u9(a, m):
    b = a.copy()
    b[whileinc(a)] = (a * 2)[1]
    b[m] = (a * 3)[m] + loopinc(a)
    return b


@case(A, M)
def waiting_u10(a, m):
    x = [a[0], a[1] * 2, whileinc(a), a[0]]
    return x


@case(A, M)
def waiting_u11(a, m): return (a[1] < whileinc(a)), (a < condinc(a, 5)).sum()


@case(A, M)
def waiting_u12(a, m): return max(a[2], whileinc(a), a[2])


@case(A, M)
def waiting_u13(a, m): return np.add(a * 1, loopinc(a))


@case(A, M)
def waiting_u14(a, m): return np.concatenate([a[m], a[m] * loopinc(a)])


@case(A, M)
def waiting_u15(a, m): return {"a": a * 2, "b": loopinc(a), "c": a * 2}


@case(A, M)
def waiting_u16(a, m):
    l = [1.0, 2.0]
    for v in a: l.append(v)
    return l[0] + push(l), l


@case(A, M)
def waiting_u17(a, m):
    l = []
    for v in a: l.append(v)
    return l[0], push(l), l[0], np.array(l) + push(l)


@case(A, M)
def waiting_u18(a, m): return (a * 2).sum() + loopinc(a) * (a * 2).max()


@case(A, M)
def waiting_u19(a, m): return (a[m] * 2).max(initial=whileinc(a))


@case(A, M)
def waiting_u21(a, m):
    for i in range(3):
        a[i], a[i + 1], a[m] = a[i + 1], a[i], a[m] * a[i]
    return a


@case(A, M)
def waiting_u22(a, m):
    total = 0.0
    for i in range(3):
        total += a[i] * loopinc(a) + a[i]
    return total


@case(A, M)
def waiting_u23(a, m):
    return [a[i] + condinc(a, i) for i in range(4)], a


@case(A, M)
def waiting_u24(a, m):
    s = a[1:4] * 2 + whileinc(a[2:])
    return s, a


@case(A, M)
def waiting_u25(a, m):
    return a[1:4].copy() * 2 - a[::-1][:3] * whileinc(a) , a


@case(A, M)
def waiting_u26(a, m): return (a.T * 2, a.sort(), a * 2)


@case(A, M)
def waiting_u27(a, m): return (a * 2) + (np.add.at(a, [0, 0], 5.0) or 1)


@case(A, M)
def waiting_u28(a, m):
    c = a[m] if condinc(a, 3) > 1 else a
    return c


@case(A, M)
def waiting_u29(a, m): return a[1] * 2 if whileinc(a) else a[0], a[0] + a[1]


@case(A, M)
def waiting_u30(a, m): return (a[0] > -9 and whileinc(a) > 2 and a[0] < 1), a[0] + 1


@case(A, M)
def waiting_u31(a, m):
    l = []
    for v in a: l.append(v)
    return len(l) + push(l), len(l)


@case(A, M)
def waiting_u32(a, m):
    l = []
    for v in a: l.append(v)
    p, q = np.array(l), l.append(3.0)
    return p, l


@case(A, M)
def waiting_u33(a, m):
    l = []
    for v in a: l.append(v)
    return np.array(l) + l.pop(), sum(l) + l.pop() + len(l)


@case(A, M)
def waiting_u34(a, m):
    l = [a[0]]
    for v in a:
        l[0], k = v, l[0] + len(l)
        l.append(l[-1] * 2 + l.pop())
    return l, k


def loop_push(l):
    for i in range(3):
        l.append(7.0)
    return 1


@case(A, M)
def waiting_w1(a, m):
    l = [1.0]
    for v in a: l.append(v)
    return len(l) + loop_push(l), np.array(l) + loop_push(l), l[0] * loop_push(l), (len(l), loop_push(l), len(l))
