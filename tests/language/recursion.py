"""Functions that call themselves as deep as their arguments say, and functions that bind names of those around them."""

# ruff: noqa: E501, E701, E702, E741, SIM102, SIM103, SIM110, RUF005, N803, N806, C417, B007, RET505, PLR
from __future__ import annotations

import functools
import math

import numpy as np

from tests.language.registry import case

R = np.random.default_rng(21)
f8 = lambda *s: R.standard_normal(s)  # noqa: E731


@case(9)
def fib(n):
    if n < 2: return n
    return fib(n-1) + fib(n-2)


@case(2, 3)
def ack(m, n):
    if m == 0:
        return n + 1
    elif n == 0:
        return ack(m - 1, 1)
    return ack(m - 1, ack(m, n - 1))


def quicksort(a, lo, hi):
    if lo < hi:
        p = a[hi]; i = lo - 1
        for j in range(lo, hi):
            if a[j] <= p:
                i += 1
                a[i], a[j] = a[j], a[i]
        a[i+1], a[hi] = a[hi], a[i+1]
        quicksort(a, lo, i)
        quicksort(a, i + 2, hi)


@case(f8(20))
def sort_it(a):
    quicksort(a, 0, len(a) - 1)
    return a


def merge_sort(a, tmp, lo, hi):
    if hi - lo < 2:
        return
    mid = (lo + hi) // 2
    merge_sort(a, tmp, lo, mid)
    merge_sort(a, tmp, mid, hi)
    i, j = lo, mid
    for k in range(lo, hi):
        if i < mid and (j >= hi or a[i] <= a[j]):
            tmp[k] = a[i]; i += 1
        else:
            tmp[k] = a[j]; j += 1
    a[lo:hi] = tmp[lo:hi]


@case(f8(17))
def msort(a):
    out = a.copy()
    merge_sort(out, np.empty_like(a), 0, len(a))
    return out


def fill(grid, r, c, color, new):
    if r < 0 or r >= grid.shape[0] or c < 0 or c >= grid.shape[1]:
        return 0
    if grid[r, c] != color:
        return 0
    grid[r, c] = new
    n = 1
    n += fill(grid, r+1, c, color, new)
    n += fill(grid, r-1, c, color, new)
    n += fill(grid, r, c+1, color, new)
    n += fill(grid, r, c-1, color, new)
    return n


@case((R.random((6, 7)) < 0.3).astype(int), 2, 3)
def flood(grid, r, c):
    g = grid.copy()
    k = fill(g, r, c, g[r, c], 9)
    return g, k


def find(parent, x):
    if parent[x] != x:
        parent[x] = find(parent, parent[x])
    return parent[x]


@case(10, [(1, 2), (3, 4), (2, 4), (8, 9)])
def comps(n, edges):
    parent = list(range(n))
    for a, b in edges:
        ra, rb = find(parent, a), find(parent, b)
        if ra != rb: parent[ra] = rb
    return [find(parent, i) for i in range(n)]


@case(np.array([1, 3, -1, -1, -1]), np.array([2, 4, -1, -1, -1]), np.array([5, 6, 7, 8, 9]), 0, 9)
def tree(l, r, v, node, x):
    if node < 0: return False
    if v[node] == x: return True
    return tree(l, r, v, l[node], x) or tree(l, r, v, r[node], x)


@case(1.0, 2.0, 3.0, 5)
def shade(x, y, z, depth):
    if depth <= 0: return (0.0, 0.0, 0.0)
    r, g, b = shade(y*0.5, z*0.5, x*0.5, depth - 1)
    return (x + r*0.5, y + g*0.5, z + b*0.5)


@case([3, 1, 4, 1, 5, 9, 2, 6])
def qsl(a):
    if len(a) <= 1: return a
    p = a[0]
    return qsl([x for x in a[1:] if x < p]) + [p] + qsl([x for x in a[1:] if x >= p])


@case(123456, 98765)
def karatsuba(x, y):
    if x < 10 or y < 10: return x*y
    n = max(x.bit_length(), y.bit_length()); h = n//2
    m = (1 << h) - 1
    a, b = x >> h, x & m; c, d = y >> h, y & m
    p, q = karatsuba(a, c), karatsuba(b, d)
    r = karatsuba(a+b, c+d) - p - q
    return (p << (2*h)) + (r << h) + q


@case(np.array([2.0, 2, 2, 2]), np.array([-1.0, -1, -1]), 0.0, 4.0, 1e-1)
def bisect_eig(d, e, lo, hi, tol):
    if hi - lo < tol: return [(lo+hi)/2]
    def sturm(x):
        c = 0; q = 1.0
        for i in range(len(d)):
            q = d[i] - x - (e[i-1]**2/q if i > 0 else 0.0)
            if q < 0: c += 1
        return c
    if sturm(hi) - sturm(lo) == 0: return []
    m = (lo+hi)/2
    return bisect_eig(d, e, lo, m, tol) + bisect_eig(d, e, m, hi, tol)


class Solver:
    def __init__(self, n): self.n = n; self.count = 0; self.board = [0]*n
    def ok(self, r, c):
        return all(self.board[i] != c and abs(self.board[i]-c) != r-i for i in range(r))
    def solve(self, r):
        if r == self.n:
            self.count += 1; return
        for c in range(self.n):
            if self.ok(r, c):
                self.board[r] = c
                self.solve(r+1)


@case(5)
def solver(n):
    s = Solver(n); s.solve(0); return s.count


@case([[1, 2], [0, 2], [0, 1, 3], [2, 4], [3]])
def bridges(graph):
    n = len(graph); disc = [-1]*n; low = [0]*n; time = 0; out = []
    def dfs(u, parent):
        nonlocal time
        disc[u] = low[u] = time
        time += 1
        for v in graph[u]:
            if v == parent: continue
            if disc[v] == -1:
                dfs(v, u)
                low[u] = min(low[u], low[v])
                if low[v] > disc[u]: out.append((u, v))
            else:
                low[u] = min(low[u], disc[v])
    for i in range(n):
        if disc[i] == -1: dfs(i, -1)
    return out


@case(0)
def order(x):
    n = 1
    def bump():
        nonlocal n
        n *= 3
        return n
    a = n + bump() + n
    n += bump()
    return a, n


@case([1, 2, 3])
def reader(x):
    k = 0
    def cur(): return k * 2
    def step(v):
        nonlocal k
        k += 1
        return cur() + v
    return [step(v) for v in x], k


@case(f8(5), 0)
def order1(x, i):
    if i >= len(x): return 0.0
    x[i] += 1
    return x[0] * 2 + order1(x, i+1) + x[0]


@case(3)
def kw(n, *, scale=2.0, off=1):
    if n == 0: return off
    return kw(n-1, off=off+1) * scale


@case(0, 10)
def intfloat(a, b):
    if b - a < 2: return a
    return intfloat((a+b)/2, b)


@case(np.arange(0, 18, 2), 0, 9, 5)
def none_or(x, lo, hi, v):
    if lo >= hi: return None
    m = (lo+hi)//2
    if x[m] == v: return m
    if x[m] < v: return none_or(x, m+1, hi, v)
    return none_or(x, lo, m, v)


@case(R.random(6) * 3, 1)
def loopret(x, d):
    for i in range(len(x)):
        if x[i] > d: return i
        for j in range(i):
            if x[j] + x[i] > 2.5 * d: return loopret(x, d + 1) * 10 + j
    return -1


@case(R.random(5) * 3, 2)
def elsewhile(x, k):
    i = 0
    while i < len(x):
        if x[i] < 0: break
        if k > 0: x[i] -= elsewhile(x, k-1)
        i += 1
    else:
        return 1.0
    return 0.5


@case(5)
def comp(n):
    if n <= 0: return 1
    return sum(comp(n-k) for k in (1, 2, 3)) + max([comp(n-j) for j in range(2, 4)])


@case(3)
def whiletest(n):
    c = 0
    while whiletest(n-1) + c < 3 if n > 0 else False:
        c += 1
    return c + 1


@case(3, [])
def lstcopy(n, path):
    if n == 0: return [list(path)]
    out = []
    for b in (0, 1):
        out += lstcopy(n-1, path + [b])
    return out


@case(7)
def boolop(n):
    return (n > 0 and (boolop(n-2) or boolop(n-3))) or n == 0


@case(90)
def nested_call(n): 
    if n > 100: return n - 10
    return nested_call(nested_call(n + 11))


@case(np.array([0.1, 0.7, 0.2, 0.9]))
def zero_args_state(x):
    i = 0
    def nxt():
        nonlocal i
        if i >= len(x): return -1.0
        v = x[i]
        i += 1
        if v < 0.5: return nxt()
        return v
    return nxt(), nxt(), i


@case([[1, 2], [3], [], []], 0)
def setkids(tree, k):
    return 1 + sum(setkids(tree, c) for c in tree[k])


@case(R.random((4, 3)), -1)
def forrows(m, k):
    t = 0.0
    for i, row in enumerate(m):
        if i > k and row[0] > 0.2: t += forrows(m, i) + row.sum()
    return t


@case(R.random(5))
def view(x):
    if len(x) == 0: return 0.0
    x[0] = 5.0
    return view(x[1:]) + 1


@case(f8(5), 0)
def err(x, i):
    if i == 3: raise ValueError(f"at {i}")
    x[i] = 7
    return err(x, i+1) + 1


@case(3, 4)
def modarg(v, n):
    v = v + 1
    if n > 0:
        w = modarg(v, n-1)
        v = v * 2
        return w + v
    return v


def dictarg(d, n):
    if n in d: return d[n]
    r = dictarg(d, n-1) + dictarg(d, n-2)
    d[n] = r
    return r


@case(20)
def memo(n): return dictarg({0: 0, 1: 1}, n)


@case(np.arange(9.0))
def halved_by_a_function_without_arguments(x):
    y = x.copy()

    def go():
        if y.max() < 1:
            return 0
        y[:] = y * 0.5
        return 1 + go()

    return go(), y


@case(np.array([[1, 0, -1], [0, 1, 0], [-1, 0, 0]]), 1)
def best_move(board, player):
    def search(b, p):
        if b.sum() > 2: return 5, None
        moves = list(zip(*np.where(b == 0)))
        if len(moves) == 0: return 0, None
        best, found = -2 * p, None
        for m in moves:
            b[m] = p
            s, _ = search(b, -p)
            b[m] = 0
            if (p == 1 and s > best) or (p == -1 and s < best): best, found = s, m
        return best, found
    return search(board.copy(), player)


@case(4)
def first_found(n):
    first, board = None, []
    def place(r):
        nonlocal first
        if r == n:
            if first is None: first = list(board)
            return
        for c in range(n):
            if c not in board:
                board.append(c)
                place(r + 1)
                board.pop()
    place(0)
    return first, board


@case([1, 5, 10, 25], 63)
def fewest_coins(coins, amount):
    @functools.cache
    def fewest(left):
        return 0 if left == 0 else min((fewest(left - c) + 1 for c in coins if c <= left), default=math.inf)
    return fewest(amount)
