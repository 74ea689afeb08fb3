"""Some graph measures on random networks: Floyd-Warshall, PageRank, Brandes betweenness, triangle counts."""
import numpy as np
from collections import deque

np.random.seed(42)


def barabasi(n, m):
    adj = np.zeros((n, n), dtype=np.int8)
    targets = list(range(m))
    repeated = []
    for v in range(m, n):
        for t in set(targets):
            adj[v, t] = adj[t, v] = 1
        repeated.extend(targets)
        repeated.extend([v] * m)
        targets = []
        while len(targets) < m:
            x = repeated[np.random.randint(len(repeated))]
            if x not in targets:
                targets.append(x)
    return adj


def floyd_warshall(W):
    n = len(W)
    D = W.copy()
    nxt = np.zeros((n, n), dtype=int) - 1
    for i in range(n):
        for j in range(n):
            if D[i, j] < np.inf and i != j:
                nxt[i, j] = j
    for k in range(n):
        for i in range(n):
            if D[i, k] == np.inf:
                continue
            for j in range(n):
                alt = D[i, k] + D[k, j]
                if alt < D[i, j]:
                    D[i, j] = alt
                    nxt[i, j] = nxt[i, k]
    return D, nxt


def path(nxt, u, v):
    if nxt[u, v] == -1:
        return []
    p = [u]
    while u != v:
        u = int(nxt[u, v])
        p.append(u)
    return p


def pagerank(adj, d=0.85, tol=1e-10, maxit=200):
    n = adj.shape[0]
    out = adj.sum(axis=1)
    pr = np.ones(n) / n
    for it in range(maxit):
        new = np.full(n, (1 - d) / n)
        dangling = 0.0
        for i in range(n):
            if out[i] == 0:
                dangling += pr[i]
                continue
            share = d * pr[i] / out[i]
            for j in range(n):
                if adj[i, j]:
                    new[j] += share
        new += d * dangling / n
        delta = np.abs(new - pr).sum()
        pr = new
        if delta < tol:
            return pr, it + 1
    print("pagerank did not converge")
    return pr, maxit


def betweenness(adj):
    n = adj.shape[0]
    nbrs = [list(np.flatnonzero(adj[i])) for i in range(n)]
    bc = np.zeros(n)
    for s in range(n):
        stack = []
        pred = [[] for _ in range(n)]
        sigma = np.zeros(n)
        sigma[s] = 1
        dist = -np.ones(n, dtype=int)
        dist[s] = 0
        q = deque([s])
        while q:
            v = q.popleft()
            stack.append(v)
            for w in nbrs[v]:
                if dist[w] < 0:
                    q.append(w)
                    dist[w] = dist[v] + 1
                if dist[w] == dist[v] + 1:
                    sigma[w] += sigma[v]
                    pred[w].append(v)
        delta = np.zeros(n)
        while stack:
            w = stack.pop()
            for v in pred[w]:
                delta[v] += sigma[v] / sigma[w] * (1 + delta[w])
            if w != s:
                bc[w] += delta[w]
    return bc / ((n - 1) * (n - 2))


def triangles(adj):
    n = len(adj)
    count = 0
    for i in range(n):
        for j in range(i + 1, n):
            if not adj[i, j]:
                continue
            for k in range(j + 1, n):
                if adj[i, k] and adj[j, k]:
                    count += 1
    return count


def main():
    n = 190
    adj = barabasi(n, 3)
    deg = adj.sum(axis=1)
    print("nodes", n, "edges", adj.sum() // 2, "max degree", deg.max())
    W = np.where(adj > 0, np.round(np.random.uniform(1, 10, (n, n)), 3), np.inf)
    np.fill_diagonal(W, 0)
    D, nxt = floyd_warshall(W)
    finite = D[np.isfinite(D)]
    print("diameter %.3f  mean distance %.6f" % (finite.max(), finite.mean()))
    u, v = np.unravel_index(np.argmax(D), D.shape)
    print("longest shortest path", path(nxt, int(u), int(v)), D[u, v])

    web = (np.random.rand(n, n) < 0.05).astype(int)
    web[7] = 0
    web[23] = 0
    pr, it = pagerank(web)
    top = np.argsort(-pr)[:5]
    print("pagerank", it, "iterations, sum", repr(pr.sum()))
    for r, i in enumerate(top, 1):
        print(f"{r}. node {i:3d} {pr[i]:.10f}")

    bc = betweenness(adj)
    print("betweenness top:", [(int(i), round(float(bc[i]), 6)) for i in np.argsort(bc)[::-1][:4]])
    t = triangles(adj)
    wedges = sum(int(d) * (int(d) - 1) // 2 for d in deg)
    print("triangles", t, "transitivity", 3 * t / wedges)


if __name__ == "__main__":
    main()
