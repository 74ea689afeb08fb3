"""Functions that bind names of their module, and change what stands in it."""

import numpy as np

rng = np.random.default_rng(7)
accepted = attempted = 0
RATE = 0.5
parent, size = [], []
grid = np.zeros((12, 12))
history = []
seen = {}


class Settings:
    steps = 0


settings = Settings()
settings.taken = 0


def find(i):
    while parent[i] != i:
        parent[i] = parent[parent[i]]
        i = parent[i]
    return i


def joined(n, pairs):
    global parent, size
    parent = list(range(n))
    size = [1] * n
    for a, b in pairs:
        ra, rb = find(a), find(b)
        if ra != rb:
            parent[rb] = ra
            size[ra] += size[rb]
    return max(size)


def sweep(x, beta):
    global accepted, attempted
    for i in range(len(x)):
        attempted += 1
        settings.taken += 1
        if rng.random() < np.exp(-beta * abs(x[i])):
            x[i] = -x[i]
            accepted += 1


def relaxed(k):
    total = 0.0
    for i in range(1, 11):
        for j in range(1, 11):
            grid[i, j] += RATE * (k - grid[i, j])
            total += grid[i, j]
    history.append(total)
    return total


def logged(x):
    """Warns, and has changed something before."""
    global attempted
    total = 0.0
    for v in x:
        attempted += 1
        total += np.log(v)
    grid[0, 0] += 1
    return total


def fails(x):
    global accepted
    for v in x:
        accepted += 1
        if v < 0:
            raise ValueError(f"{accepted} were taken")
    return accepted


def squares(k):
    total = 0
    for i in range(k):
        if i not in seen:
            seen[i] = i * i
        total += seen[i]
    return total


for k in range(30):
    pairs = rng.integers(0, 40, (30, 2))
    print(joined(40, pairs), len(parent), sum(size))
    x = rng.normal(size=50)
    sweep(x, 0.5)
    print(accepted, attempted, settings.taken, round(float(x.sum()), 12))
    print(round(relaxed(k), 9), len(history), RATE)
    RATE *= 0.9
    print(squares(k + 3), len(seen))
    if k % 10 == 0:
        print(logged(np.array([1.0, 0.0, 2.0])), attempted, grid[0, 0])
    try:
        print(fails(x))
    except ValueError as error:
        print(error, accepted)
print(round(float(grid.sum()), 9))
