"""Functions that call themselves as deep as their arguments say, and functions that bind names of those around them."""

# ruff: noqa: E501, E701, E702, E741, SIM102, SIM103, SIM110, RUF005, N803, N806, C417, B007, RET505, PLR
from __future__ import annotations

import math
from functools import lru_cache

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


def hanoi(n, a, b, c, moves):
    if n == 0: return
    hanoi(n-1, a, c, b, moves)
    moves.append((a, c))
    hanoi(n-1, b, a, c, moves)


@case(4)
def hanoi_moves(n):
    m = []
    hanoi(n, 0, 1, 2, m)
    return m


def simpson(f, a, b): 
    c = (a+b)/2
    return (b-a)/6*(f(a)+4*f(c)+f(b))


def adapt(f, a, b, eps, whole):
    c = (a+b)/2
    l, r = simpson(f,a,c), simpson(f,c,b)
    if abs(l + r - whole) <= 15*eps:
        return l + r + (l+r-whole)/15
    return adapt(f,a,c,eps/2,l) + adapt(f,c,b,eps/2,r)


@case(0.0, 3.0, 1e-6)
def integ(a, b, eps):
    f = lambda x: math.sin(x)*x*x
    return adapt(f, a, b, eps, simpson(f, a, b))


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


@case(5)
def nqueens_closure(n):
    sols = []
    board = [-1]*n
    def safe(row, col):
        for r in range(row):
            if board[r] == col or abs(board[r]-col) == row-r: return False
        return True
    def place(row):
        if row == n:
            sols.append(board[:])
            return
        for col in range(n):
            if safe(row, col):
                board[row] = col
                place(row+1)
                board[row] = -1
    place(0)
    return len(sols)


@case(np.array([1, 3, -1, -1, -1]), np.array([2, 4, -1, -1, -1]), np.array([5, 6, 7, 8, 9]), 0, 9)
def tree(l, r, v, node, x):
    if node < 0: return False
    if v[node] == x: return True
    return tree(l, r, v, l[node], x) or tree(l, r, v, r[node], x)


@case(17)
def integ2(n):
    @lru_cache(None)
    def ways(i, left):
        if left == 0: return 1
        if i < 0 or left < 0: return 0
        return ways(i-1, left) + ways(i, left - coins[i])
    coins = [1,2,5,10]
    return ways(3, n)


@case(1.0, 2.0, 3.0, 5)
def shade(x, y, z, depth):
    if depth <= 0: return (0.0, 0.0, 0.0)
    r, g, b = shade(y*0.5, z*0.5, x*0.5, depth - 1)
    return (x + r*0.5, y + g*0.5, z + b*0.5)


@case(f8(8) + 0j)
def fft(x):
    n = len(x)
    if n == 1: return x
    e = fft(x[::2]); o = fft(x[1::2])
    t = np.exp(-2j*np.pi*np.arange(n)/n)
    return np.concatenate([e + t[:n//2]*o, e + t[n//2:]*o])


def build(pts, idx, lo, hi, axis, left, right, node_pt, count):
    if lo >= hi: return -1
    part = idx[lo:hi]
    order = np.argsort(pts[part, axis], kind='stable')
    idx[lo:hi] = part[order]
    m = (lo + hi)//2
    me = count[0]; count[0] += 1
    node_pt[me] = idx[m]
    left[me] = build(pts, idx, lo, m, 1-axis, left, right, node_pt, count)
    right[me] = build(pts, idx, m+1, hi, 1-axis, left, right, node_pt, count)
    return me


def nearest(pts, q, node, axis, left, right, node_pt, best):
    if node < 0: return best
    p = pts[node_pt[node]]
    d = (p[0]-q[0])**2 + (p[1]-q[1])**2
    if d < best[1]: best = (node_pt[node], d)
    diff = q[axis] - p[axis]
    a, b = (left[node], right[node]) if diff < 0 else (right[node], left[node])
    best = nearest(pts, q, a, 1-axis, left, right, node_pt, best)
    if diff*diff < best[1]:
        best = nearest(pts, q, b, 1-axis, left, right, node_pt, best)
    return best


@case(R.random((12, 2)), R.random((5, 2)))
def kd(pts, qs):
    n = len(pts)
    left = np.full(n, -1); right = np.full(n, -1); node_pt = np.zeros(n, int); count = np.zeros(1, int)
    root = build(pts, np.arange(n), 0, n, 0, left, right, node_pt, count)
    out = np.zeros(len(qs), int); dist = np.zeros(len(qs))
    for i in range(len(qs)):
        k, d = nearest(pts, qs[i], root, 0, left, right, node_pt, (-1, np.inf))
        out[i] = k; dist[i] = d
    return out, np.sqrt(dist)


@case([1, 2, 3])
def subsets(nums):
    res = []
    def bt(start, cur):
        res.append(cur[:])
        for i in range(start, len(nums)):
            cur.append(nums[i])
            bt(i+1, cur)
            cur.pop()
    bt(0, [])
    return res


@case(R.random((14, 2)), 0.2)
def rdp(points, eps):
    dmax = 0.0; index = 0
    end = len(points) - 1
    a, b = points[0], points[end]
    for i in range(1, end):
        d = abs((b[0]-a[0])*(a[1]-points[i][1]) - (a[0]-points[i][0])*(b[1]-a[1])) / np.hypot(b[0]-a[0], b[1]-a[1])
        if d > dmax:
            index, dmax = i, d
    if dmax > eps:
        r1 = rdp(points[:index+1], eps)
        r2 = rdp(points[index:], eps)
        return np.vstack((r1[:-1], r2))
    return np.vstack((a, b))


@case([[1, 2], [3], [3, 4], [0], [5], [6], [4]])
def tarjan(graph):
    n = len(graph)
    idx = [-1]*n; low = [0]*n; on = [False]*n; stack = []; out = []; counter = [0]
    def strong(v):
        idx[v] = low[v] = counter[0]
        counter[0] += 1
        stack.append(v); on[v] = True
        for w in graph[v]:
            if idx[w] == -1:
                strong(w)
                low[v] = min(low[v], low[w])
            elif on[w]:
                low[v] = min(low[v], idx[w])
        if low[v] == idx[v]:
            comp = []
            while True:
                w = stack.pop(); on[w] = False
                comp.append(w)
                if w == v: break
            out.append(sorted(comp))
    for v in range(n):
        if idx[v] == -1: strong(v)
    return out


class Node:
    def __init__(self, key):
        self.key = key; self.left = None; self.right = None


def insert(node, key):
    if node is None: return Node(key)
    if key < node.key: node.left = insert(node.left, key)
    else: node.right = insert(node.right, key)
    return node


def inorder(node, out):
    if node is not None:
        inorder(node.left, out); out.append(node.key); inorder(node.right, out)


def height(node):
    if node is None: return 0
    return 1 + max(height(node.left), height(node.right))


@case([5, 2, 8, 1, 9])
def bst(keys):
    root = None
    for k in keys: root = insert(root, k)
    out = []; inorder(root, out)
    return out, height(root)


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


@case(R.random((6, 6)) < 0.5)
def islands(grid):
    g = grid.copy(); best = 0; size = 0
    def fill(r, c):
        nonlocal size
        if r < 0 or c < 0 or r >= g.shape[0] or c >= g.shape[1] or not g[r, c]: return
        g[r, c] = False
        size += 1
        for dr, dc in ((1,0),(-1,0),(0,1),(0,-1)):
            fill(r+dr, c+dc)
    for r in range(g.shape[0]):
        for c in range(g.shape[1]):
            if g[r, c]:
                size = 0
                fill(r, c)
                best = max(best, size)
    return best


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
