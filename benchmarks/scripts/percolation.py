import numpy as np
from collections import Counter

rng = np.random.default_rng(99)
N = 60

parent = []
size = []


def find(i):
    while parent[i] != i:
        parent[i] = parent[parent[i]]
        i = parent[i]
    return i


def union(a, b):
    ra, rb = find(a), find(b)
    if ra == rb:
        return False
    if size[ra] < size[rb]:
        ra, rb = rb, ra
    parent[rb] = ra
    size[ra] += size[rb]
    return True


def percolates_at(n):
    """open random sites until top and bottom connect, return the open fraction"""
    global parent, size
    parent = list(range(n * n + 2))
    size = [1] * (n * n + 2)
    opened = np.zeros((n, n), dtype=bool)
    top, bottom = n * n, n * n + 1
    count = 0
    while find(top) != find(bottom):
        r = int(rng.integers(n))
        c = int(rng.integers(n))
        if opened[r, c]:
            continue
        opened[r, c] = True
        count += 1
        k = r * n + c
        if r == 0:
            union(k, top)
        if r == n - 1:
            union(k, bottom)
        for dr, dc in ((1, 0), (-1, 0), (0, 1), (0, -1)):
            rr, cc = r + dr, c + dc
            if 0 <= rr < n and 0 <= cc < n and opened[rr, cc]:
                union(k, rr * n + cc)
    return count / (n * n), opened


def hoshen_kopelman(grid):
    n, m = grid.shape
    label = np.zeros((n, m), dtype=int)
    lab = [0]

    def root(x):
        while lab[x] != x:
            x = lab[x]
        return x

    for i in range(n):
        for j in range(m):
            if not grid[i, j]:
                continue
            up = label[i - 1, j] if i > 0 else 0
            left = label[i, j - 1] if j > 0 else 0
            if up == 0 and left == 0:
                lab.append(len(lab))
                label[i, j] = len(lab) - 1
            elif up and left:
                a, b = root(up), root(left)
                lab[max(a, b)] = min(a, b)
                label[i, j] = min(a, b)
            else:
                label[i, j] = root(up or left)
    for i in range(n):
        for j in range(m):
            if label[i, j]:
                label[i, j] = root(label[i, j])
    return label


def cluster_stats(p, n=160):
    grid = rng.random((n, n)) < p
    lab = hoshen_kopelman(grid)
    counts = Counter()
    for row in lab:
        for v in row:
            if v:
                counts[v] += 1
    sizes = sorted(counts.values(), reverse=True)
    hist = {}
    for s in sizes:
        b = int(np.log2(s))
        hist[b] = hist.get(b, 0) + 1
    spanning = set(lab[0]) & set(lab[-1]) - {0}
    return sizes, hist, len(spanning)


trials = []
for t in range(100):
    f, o = percolates_at(N)
    trials.append(f)
    if t % 20 == 19:
        print(t + 1, "trials: mean", np.mean(trials), "std", np.std(trials, ddof=1))
print("threshold ~ {:.4f} +/- {:.4f}".format(np.mean(trials), 1.96 * np.std(trials) / len(trials)**0.5))
print("min %r max %r" % (min(trials), max(trials)))

for p in (0.4, 0.5, 0.5927, 0.65):
    sizes, hist, span = cluster_stats(p)
    print(f"p={p}: {len(sizes)} clusters, largest {sizes[:3]}, spanning {span}")
    print("   ", hist)
