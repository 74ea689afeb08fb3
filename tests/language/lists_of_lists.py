"""Lists of lists (and of arrays) that have lengths of their own: neighbours, buckets, groups, pieces."""

# ruff: noqa: E501, E702, E701, E741, SIM108, C416, PERF401, B007
from __future__ import annotations

import collections
import heapq
from collections import deque

import numpy as np

from tests.language.registry import case

R = np.random.default_rng(3)
EDGES = np.array([[0, 1], [1, 2], [0, 3], [4, 5], [5, 0]])
MATRIX = np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]])
LABELS = np.array([0, 2, 1, 0, 1, 2, 0, 0, 1, 2])
X, POINTS = R.standard_normal(20), R.standard_normal((10, 2))


@case(6, EDGES)
def components(n, edges):
    adj = [[] for _ in range(n)]
    for u, v in edges:
        adj[u].append(v)
        adj[v].append(u)
    visited = [False] * n
    comps = []
    for s in range(n):
        if visited[s]:
            continue
        stack = [s]
        visited[s] = True
        comp = []
        while stack:
            u = stack.pop()
            comp.append(u)
            for v in adj[u]:
                if not visited[v]:
                    visited[v] = True
                    stack.append(v)
        comps.append(comp)
    return comps, adj


@case(6, EDGES)
def topological_order(n, edges):
    graph = [[] for _ in range(n)]
    indegree = [0] * n
    for a, b in edges:
        graph[a].append(b)
        indegree[b] += 1
    q = deque([i for i in range(n) if indegree[i] == 0])
    order = []
    while q:
        u = q.popleft()
        order.append(u)
        for v in graph[u]:
            indegree[v] -= 1
            if indegree[v] == 0:
                q.append(v)
    return order


@case(np.array([[0, 1, 5], [1, 2, 3], [0, 3, 4], [2, 3, 1]]), 4)
def shortest_paths(edges, n):
    graph = [[] for _ in range(n)]
    for u, v, w in edges:
        graph[u].append((v, w))
        graph[v].append((u, w))
    dist = [float("inf")] * n
    dist[0] = 0
    heap = [(0, 0)]
    while heap:
        d, u = heapq.heappop(heap)
        if d > dist[u]:
            continue
        for v, w in graph[u]:
            nd = d + w
            if nd < dist[v]:
                dist[v] = nd
                heapq.heappush(heap, (nd, v))
    return dist


@case(MATRIX)
def neighbours(A):
    n = A.shape[0]
    made = [[j for j in range(n) if A[i, j]] for i in range(n)]
    total = 0
    for i in range(n):
        for j in made[i]:
            total += i * j
    return made, [len(m) for m in made], total


@case(np.array([1, 1, 2, 2, 2, 3, 1]))
def groups_of_equals(a):
    out = []
    cur = []
    for i in range(len(a)):
        if i > 0 and a[i] != a[i - 1]:
            out.append(cur)
            cur = []
        cur.append(i)
    out.append(cur)
    return out


@case(X)
def rising_runs(x):
    runs = [[x[0]]]
    for v in x[1:]:
        if v >= runs[-1][-1]:
            runs[-1].append(v)
        else:
            runs.append([v])
    return [len(r) for r in runs], [sum(r) for r in runs], runs


@case(X, 4)
def bucket_sort(x, k):
    buckets = [[] for _ in range(k)]
    low, high = x.min(), x.max()
    for v in x:
        buckets[min(int((v - low) / (high - low) * k), k - 1)].append(v)
    out = []
    for b in buckets:
        b.sort()
        out.extend(b)
    return out


@case(POINTS, LABELS, 3)
def means_of_clusters(points, labels, k):
    clusters = [[] for _ in range(k)]
    for i, l in enumerate(labels):
        clusters[l].append(points[i])
    return np.array([np.mean(c, axis=0) for c in clusters])


@case(8)
def prime_factors(n):
    factors = [[] for _ in range(n + 1)]
    for p in range(2, n + 1):
        if not factors[p]:
            for m in range(p, n + 1, p):
                factors[m].append(p)
    return factors


@case(5)
def towers(n):
    pegs = [list(range(n, 0, -1)), [], []]
    moves = 0
    stack = [(n, 0, 2, 1)]
    while stack:
        k, a, b, c = stack.pop()
        if k == 1:
            pegs[b].append(pegs[a].pop())
            moves += 1
        else:
            stack.append((k - 1, c, b, a))
            stack.append((1, a, b, c))
            stack.append((k - 1, a, c, b))
    return moves, pegs


@case(np.array([53, 3, 19, 1, 127, 20]))
def radix_sort(a):
    arr = list(a)
    e = 1
    while max(arr) // e > 0:
        buckets = [[] for _ in range(10)]
        for x in arr:
            buckets[(x // e) % 10].append(x)
        arr = [x for b in buckets for x in b]
        e *= 10
    return np.array(arr)


@case(POINTS, 1.0, 3)
def clusters_by_density(X, eps, least):
    n = X.shape[0]
    labels = np.full(n, -1)
    near = []
    for i in range(n):
        d = np.sqrt(((X - X[i]) ** 2).sum(axis=1))
        near.append(np.where(d <= eps)[0])
    cluster = 0
    for i in range(n):
        if labels[i] != -1 or len(near[i]) < least:
            continue
        labels[i] = cluster
        queue = list(near[i])
        while queue:
            j = queue.pop()
            if labels[j] == -1:
                labels[j] = cluster
                if len(near[j]) >= least:
                    queue.extend(near[j])
        cluster += 1
    return labels, cluster


@case(X)
def runs_of_a_sign(x):
    runs = []
    start = 0
    for i in range(1, len(x) + 1):
        if i == len(x) or (x[i] > 0) != (x[start] > 0):
            runs.append(x[start:i].copy())
            start = i
    return runs, np.array([r.sum() for r in runs]), max(len(r) for r in runs), np.concatenate(runs)


@case(MATRIX, 1)
def one_row_has_two_names(a, k):
    rows = [[] for _ in range(len(a))]
    same = rows[k]
    for v in a[k]:
        rows[k].append(v)
    same.append(7)
    rows[0] = same
    rows[0].pop(0)
    return rows, len(same), same


@case(np.array([1, 3, 0, 2]))
def pieces_of_computed_lengths(x):
    out = []
    for v in x:
        out.extend(np.arange(int(v)) * 0.5)
    return out


@case(5)
def list_changed_after_it_was_appended(n):
    row, out = [1, 2], []
    for i in range(n):
        out.append(row)
        row[0] = i
    return out


@case(np.arange(3, 6), 4)
def numbers_of_two_types_move(x, n):
    queue = deque([i for i in range(n) if i > 1])
    queue.append(x[0])
    out, last = [], 0
    while queue:
        last = queue.popleft()
        out.append(last)
    return out, last


Pose = collections.namedtuple("Pose", ["x", "angle"])


@case(X)
def named_tuples(turns):
    pose = Pose(turns[0], turns[1])
    path = [pose]
    for t in turns:
        pose = pose._replace(angle=pose.angle + t) if t > 0 else Pose(pose.x + t, pose.angle)
        path.append(pose)
    return path, path[3].angle, max(p.x for p in path)


@case(X, 4)
def as_long_as_another_list_of_the_loop(x, k):
    chosen = [x[:2]]
    for i in range(1, k):
        gaps = np.min([np.sum((x[:2] - c) ** 2) for c in chosen])
        chosen.append(x[i : i + 2] + gaps)
    return np.array(chosen)


@case(np.array([3, 1, 2]))
def heap_of_pairs_of_pairs(a):
    heap = []
    for i, v in enumerate(a):
        heapq.heappush(heap, (float(v), (i, i * i)))
    return [heapq.heappop(heap)[1] for _ in range(len(a))]


A = np.array([3, 1, 2, 0, 1, 2, 3])


@case(A)
def rows_move_and_keep_their_names(x):
    rows = [[] for _ in range(len(x))]
    for v in x:
        rows[v].append(v * 10)
    y = rows[2]
    rows.pop(0)
    y.append(5)
    rows[0].extend(y)
    rows.reverse()
    return rows, y


@case(A)
def rows_in_two_lists(x):
    rows = [[] for _ in range(len(x))]
    out = []
    for v in x:
        out.append(rows[v])
        rows[v].append(v)
    return out


@case(A)
def rows_in_two_dicts(x):
    d = {}
    for v in x:
        d.setdefault(v, []).append(v)
    e = d.copy()
    e[7] = [1]
    d[3].append(99)
    return [e[k] for k in e], len(d)


@case(A)
def pairs_of_rows_joined(x):
    q = [[int(v)] for v in x]
    while len(q) > 1:
        a = q.pop(0)
        b = q.pop(0)
        q.append(sorted(a + b))
    return q[0]
