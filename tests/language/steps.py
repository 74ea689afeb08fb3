"""Steps that only the run knows: of ranges, and of slices of lists that are stored to; tuples in order."""

# ruff: noqa: E501, E701, E702, E741, B905, PLR0133, C416
from __future__ import annotations

import numpy as np

from tests.language.registry import case

R = np.random.default_rng(7)


@case(50)
def sieve(n):
    p = [True]*(n+1); p[0]=p[1]=False
    for i in range(2, int(n**.5)+1):
        if p[i]: p[i*i::i] = [False]*len(p[i*i::i])
    return [i for i, f in enumerate(p) if f]


@case([(1, 3), (8, 10), (2, 6)])
def intervals(iv):
    iv = sorted(iv); out = [list(iv[0])]
    for s, e in iv[1:]:
        if s <= out[-1][1]: out[-1][1] = max(out[-1][1], e)
        else: out.append([s, e])
    return out


@case([1, 2, 3, 4, 5, 6, 7], 1, 6, 2, 9)
def every_so_many_0(l, a, b, s, v):
    l[a:b:s] = [v] * len(l[a:b:s])
    return l


@case([1, 2, 3, 4, 5, 6, 7], None, None, -2, 9)
def every_so_many_1(l, a, b, s, v):
    l[a:b:s] = [v] * len(l[a:b:s])
    return l


@case([1, 2, 3, 4, 5, 6, 7], -3, -9, -1, 9)
def every_so_many_2(l, a, b, s, v):
    l[a:b:s] = [v] * len(l[a:b:s])
    return l


@case(9)
def filled_with_ranges(n):
    l = list(range(n))
    l[::2] = [0] * ((n + 1)//2)
    l[::-1] = l
    l[1::3] = range(len(l[1::3]))
    return l


@case(7)
def too_few_for_the_slice(n):
    l = [0.0] * n
    l[::2] = [1.0] * 2
    return l


@case(6)
def integers_and_floats(n):
    l = [0] * n
    l[::2] = [1.5] * len(l[::2])
    return l


@case([(3, 1.0), (1, 2.0), (1, 1.0)])
def pairs_in_order(p):
    p.sort()
    q = sorted(p, reverse=True)
    return p, q, q[0]


@case([3, 1, 2])
def pairs_made_in_order(x):
    pairs = [(v, i) for i, v in enumerate(x)]
    pairs.sort()
    return [i for v, i in pairs], sorted([(2, 'a'), (1, 'b')])


@case(R.random(5))
def truth_values_of_an_array(x):
    flags = [True] * len(x)
    flags[::2] = x[::2] > 0.5
    return flags


@case(20, 3)
def range_as_a_list(n, s): return list(range(4, n, s))


@case(20, 3)
def range_in_a_comprehension(n, s): return [j for j in range(4, n, s)]


@case(20, 3)
def range_downwards(n, s):
    t = 0
    for j in range(n, 4, -s): t += j
    return t


@case(20, 3)
def range_in_iterators(n, s): return list(enumerate(range(4, n, s))), list(zip(range(4, n, s), range(3))), list(reversed(range(4, n, s)))


@case(20, 3)
def lengths_of_ranges(n, s):
    out = []
    for i in range(1, s + 1):
        out.append((len(range(0, n, i)), sum(range(n, -n, -i)), len(range(3, i, i))))
    return out


@case(20, 3)
def lengths_of_ranges_downwards(n, s):
    out = []
    for i in range(-3, 0): out.append(len(range(n, 0, i)))
    return out


@case(20, 3)
def range_without_a_step(n, s): return len(range(0, n, s - s))


@case(20, 3)
def parts_of_a_range(n, s):
    l = list(range(n))
    return l[::s], l[1:n:s]
