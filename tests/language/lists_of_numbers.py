"""Lists that are filled, lists of lists, stacks and queues, as textbooks write them."""

# ruff: noqa: RUF005, E501, E702, E741, SIM108, C416, PERF401, B007
from __future__ import annotations

import collections
from collections import deque

import numpy as np

from tests.language.registry import case

rng = np.random.default_rng(6)
X, M, N = rng.standard_normal(20), rng.standard_normal((4, 3)), rng.standard_normal((3, 5))
S, B = rng.standard_normal((5, 5)) + 5 * np.eye(5), rng.standard_normal(5)
IMAGE = (rng.random((8, 9)) > 0.4).astype(np.int64)


@case(70)
def other_numbers(n):
    d = [0] * n
    for i in range(n):
        d[i] = i * 0.5
    return d, sum(d)


@case(X)
def sums_behind(x):
    d = [0.0] * (len(x) + 1)
    d[0] = 1.5
    for i in range(1, len(x) + 1):
        d[i] = d[i - 1] + x[i - 1]
    return np.array(d), d[1:]


@case(6, 0.5)
def two_lists(n, r):
    u = [0.0] * n
    u[n // 2] = 1.0
    for _ in range(4):
        new = u[:]
        for i in range(1, n - 1):
            new[i] = u[i] + r * (u[i - 1] - 2 * u[i] + u[i + 1])
        u = new
    return u


@case(3.0)
def times_of_two_types(end):
    t, rows = 0, []
    while t < end:
        rows.append((t, 2 * t))
        t += 0.5
    return np.array(rows)


@case(M, N)
def product_of_lists(a, b):
    n, k = a.shape
    m = b.shape[1]
    c = [[0] * m for _ in range(n)]
    for i in range(n):
        for j in range(m):
            s = 0
            for p in range(k):
                s += a[i][p] * b[p][j]
            c[i][j] = s
    return c


@case(50, 40)
@case(3, 2)
def table_of_numbers(n, m):
    c = [[0] * (m + 1) for _ in range(n + 1)]
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            if (i * j) % 3 == 0:
                c[i][j] = c[i - 1][j - 1] + 1
            else:
                c[i][j] = max(c[i - 1][j], c[i][j - 1])
    return c[n][m], c


@case([3, 4, 5, 6], [2, 3, 4, 5], 8)
def knapsack(values, weights, room):
    n = len(values)
    k = [[0 for _ in range(room + 1)] for _ in range(n + 1)]
    for i in range(n + 1):
        for w in range(room + 1):
            if i == 0 or w == 0:
                k[i][w] = 0
            elif weights[i - 1] <= w:
                k[i][w] = max(values[i - 1] + k[i - 1][w - weights[i - 1]], k[i - 1][w])
            else:
                k[i][w] = k[i - 1][w]
    return k[n][room]


@case(S, B, tol=1e-12)
def gauss_of_lists(a, b):
    n = len(b)
    m = [[a[i][j] for j in range(n)] + [b[i]] for i in range(n)]
    for k in range(n):
        p = k
        for i in range(k + 1, n):
            if abs(m[i][k]) > abs(m[p][k]):
                p = i
        m[k], m[p] = m[p], m[k]
        for i in range(k + 1, n):
            f = m[i][k] / m[k][k]
            for j in range(k, n + 1):
                m[i][j] -= f * m[k][j]
    x = [0] * n
    for i in range(n - 1, -1, -1):
        x[i] = (m[i][n] - sum(m[i][j] * x[j] for j in range(i + 1, n))) / m[i][i]
    return np.array(x)


@case(5)
def rows_are_shared(n):
    table = [[1.0 if i == j else 0.0 for j in range(n)] for i in range(n)]
    table[2][3] = 5.0
    row = table[2]
    row[0] = 7.0
    return table, sum(table[2]), [r[0] for r in table], len(row), row[-1]


@case(4)
def rows_are_replaced(n):
    c = [[0] * n for _ in range(n)]
    for i in range(n):
        new = [i * j for j in range(n)]
        c[i] = new
    c[0], c[1] = c[1], c[0]
    return c


@case(5)
def lists_of_lists_of_lists(n):
    c = [[[0] * n for _ in range(n)] for _ in range(n)]
    for i in range(n):
        c[1][i][i] = i
    return c


@case(9)
@case(2)
def row_out_of_range(n):
    c = [[0] * n for _ in range(n)]
    for i in range(n):
        c[i][i + 3 if n == 9 else i] = 1
    return c


@case(IMAGE, 3, 4, 7)
@case(IMAGE, 0, 0, 1)
def flood_fill(image, y, x, new):
    old = image[y, x]
    if old == new:
        return image
    stack = [(y, x)]
    while stack:
        y, x = stack.pop()
        if y < 0 or y >= image.shape[0] or x < 0 or x >= image.shape[1] or image[y, x] != old:
            continue
        image[y, x] = new
        stack.append((y + 1, x)); stack.append((y - 1, x)); stack.append((y, x + 1)); stack.append((y, x - 1))
    return image


@case(IMAGE)
def labels(image):
    h, w = image.shape
    found = np.zeros_like(image, dtype=np.int32)
    current = 0
    for i in range(h):
        for j in range(w):
            if image[i, j] and found[i, j] == 0:
                current += 1
                stack = [(i, j)]
                found[i, j] = current
                while stack:
                    y, x = stack.pop()
                    for dy in (-1, 0, 1):
                        for dx in (-1, 0, 1):
                            ny, nx = y + dy, x + dx
                            if 0 <= ny < h and 0 <= nx < w and image[ny, nx] and found[ny, nx] == 0:
                                found[ny, nx] = current
                                stack.append((ny, nx))
    return found, current


@case(IMAGE > 0, (0, 1))
def distances(free, start):
    h, w = free.shape
    distance = -np.ones((h, w), dtype=int)
    queue = deque([start])
    distance[start] = 0
    while queue:
        r, c = queue.popleft()
        for dr, dc in [(1, 0), (-1, 0), (0, 1), (0, -1)]:
            rr, cc = r + dr, c + dc
            if 0 <= rr < h and 0 <= cc < w and free[rr, cc] and distance[rr, cc] == -1:
                distance[rr, cc] = distance[r, c] + 1
                queue.append((rr, cc))
    return distance


@case(IMAGE[:7, :7] > 0, 0)
def depth_first(edges, start):
    n = edges.shape[0]
    visited = [False] * n
    order, stack = [], [start]
    while len(stack) > 0:
        u = stack.pop()
        if visited[u]:
            continue
        visited[u] = True
        order.append(u)
        for v in range(n - 1, -1, -1):
            if edges[u, v] and not visited[v]:
                stack.append(v)
    return order, visited


@case(X, 4)
@case(X, 1)
def last_ones(x, k):
    q = collections.deque(maxlen=k)
    out = np.zeros(len(x))
    for i, v in enumerate(x):
        q.append(v)
        out[i] = max(q)
    return out, list(q), len(q), q[0], q[-1]


@case(7)
def in_a_circle(n):
    q = deque(range(n))
    order = []
    while len(q) > 1:
        q.append(q.popleft())
        order.append(q.popleft())
        q.appendleft(order[-1])
        order.append(q.popleft())
    return order, q[0]


@case(X, 3)
def largest_in_windows(x, k):
    dq, found = deque(), []
    for i in range(len(x)):
        while dq and dq[0] <= i - k:
            dq.popleft()
        while dq and x[dq[-1]] < x[i]:
            dq.pop()
        dq.append(i)
        if i >= k - 1:
            found.append(x[dq[0]])
    return found


@case(4)
def empty_queue(n):
    q = deque()
    for i in range(n):
        q.append(i)
    total = 0
    for _ in range(n + 1):
        total += q.popleft()
    return total


@case(27)
def hailstones(n):
    steps = [n]
    while n != 1:
        n = 3 * n + 1 if n % 2 else n // 2
        steps.append(n)
    return steps


@case(np.random.default_rng(3).random((20, 2)), 0.25, 3)
@case(np.random.default_rng(3).random((20, 2)), 0.6, 2)
def clusters(x, eps, least):
    n = x.shape[0]
    labels = np.zeros(n, dtype=int)
    c = 0
    for p in range(n):
        if labels[p] != 0:
            continue
        near = [q for q in range(n) if np.linalg.norm(x[p] - x[q]) < eps]
        if len(near) < least:
            labels[p] = -1
            continue
        c += 1
        labels[p] = c
        i = 0
        while i < len(near):
            at = near[i]
            if labels[at] == -1:
                labels[at] = c
            elif labels[at] == 0:
                labels[at] = c
                more = [q for q in range(n) if np.linalg.norm(x[at] - x[q]) < eps]
                if len(more) >= least:
                    near = near + more
            i += 1
    return labels


@case(4)
@case(0)
def sums_of_lists(n):
    one = [1]
    two = one
    three = []
    for k in range(n):
        three = three + [k, k * k]
    one = one + [5]
    three = three + one
    total = 0
    for v in three:
        total += v
    return one, two, three, total


@case(X)
def list_and_array(x):
    found = [1.0, 2.0]
    found = found + x[:2]
    return found


@case(X)
def list_and_tuple(x):
    found = [1.0, 2.0]
    found = found + (3.0, 4.0)
    return found


@case([3.0, 1.0, 2.0], 1.0)
@case([3.0, 1.0, 2.0, 1.0], 7.0)
@case([3.0], 3.0)
def searched(values, wanted):
    times = values.count(wanted)
    doubled = []
    for v in values:
        doubled.append(v * 2)
        doubled.append(v)
    best = max(doubled)
    at = doubled.index(best), doubled.count(values[0])
    return times, at, doubled, values.index(wanted)


@case(X, 0.0)
@case(X, 99.0)
def searched_where_it_grew(x, level):
    found = []
    for v in x:
        if v > level:
            found.append(float(v))
    first = found.index(float(x[3] if level else x[2]))
    found.remove(float(x.max()))
    return found, first, found.count(float(x[2]))


@case("kitten and mitten", "sitting on a fitting")
def two_rows(a, b):
    prev = list(range(len(b)+1))
    for i in range(1, len(a)+1):
        cur = [i]
        for j in range(1, len(b)+1):
            cur.append(min(prev[j]+1, cur[j-1]+1, prev[j-1] + (a[i-1] != b[j-1])))
        prev = cur
    return prev[-1], prev


@case(12)
def pascal_row(n):
    row = [1]
    for i in range(n):
        row = [1] + [row[j]+row[j+1] for j in range(len(row)-1)] + [1]
    return row


@case(30, 0.2)
def heat(n, r):
    u = [0.0]*n
    u[n//2] = 1.0
    for _ in range(100):
        new = [0.0]*n
        for i in range(1, n-1):
            new[i] = u[i] + r*(u[i-1]-2*u[i]+u[i+1])
        u = new
    return u


@case(40)
def filt(n):
    p = list(range(2, n))
    primes = []
    while p:
        q = p[0]
        primes.append(q)
        p = [x for x in p if x % q != 0]
    return primes


@case(X)
def made_of_a_shorter_list(x):
    path = []
    for v in x:
        if v > 0:
            path.append(v)
    return [a * 2 for a in path[::-1]], [a for a in path if a > 1]


@case(np.arange(5.0, 15.0))
def as_long_as_a_number_says(x):
    path = []
    m = int(x[0])
    for i in range(m):
        path.append(x[1] * i)
    return path


@case(60)
def divided_by_those_found(n):
    primes = []
    for i in range(2, n):
        is_prime = True
        for p in primes:
            if p * p > i:
                break
            if i % p == 0:
                is_prime = False
                break
        if is_prime:
            primes.append(i)
    return primes


@case(X, 8, 4)
def overlapping_pieces(x, window, step):
    n = 1 + (len(x) - window) // step
    return np.array([x[i * step : i * step + window] * 2 for i in range(n)])


@case(X, 4)
def filled_from_the_front(x, order):
    w = np.zeros(order)
    held = [0.0] * order
    for n in range(len(x)):
        held.insert(0, x[n])
        held.pop()
        w = w + 2 * np.array(held)
    return w


@case(X, 3)
def numbers_of_two_types(x, u):
    d = [1.5] * len(x)
    d[u] = 0
    return d[u] + 1, d[u - 1] + 1, [d[u] * 2, d[0] * 2], d[u] < d[0], d


@case(X, 3)
def numbers_of_three_types(x, u):
    d = [float("inf")] * len(x)
    d[u] = 0
    d[u + 1] = x[0]
    for i in range(1, len(x)):
        if d[i] > d[i - 1] + abs(x[i]):
            d[i] = d[i - 1] + abs(x[i])
    return d, d[u], d[u + 1], d[0] + x[2], x * d[u]


@case(np.where(rng.random((8, 8)) < 0.4, rng.integers(1, 9, (8, 8)), 0.0), 0)
def nearest_first(w, source):
    n = len(w)
    distance, before, seen = [float("inf")] * n, [None] * n, set()
    distance[source] = 0
    while len(seen) < n:
        u = min((v for v in range(n) if v not in seen), key=lambda v: distance[v])
        seen.add(u)
        if distance[u] == float("inf"):
            break
        for v in range(n):
            if w[u][v] > 0 and v not in seen:
                other = distance[u] + w[u][v]
                if other < distance[v]:
                    distance[v], before[v] = other, u
    return distance, before
