"""Random numbers: NumPy's one generator, one of its own, and Python's."""

import random

import numpy as np


def walk(n):
    position, highest = 0.0, 0.0
    for _ in range(n):
        position += np.random.normal()
        if position > highest:
            highest = position
    return position, highest


def inside(rng, n):
    hits = 0
    for _ in range(n):
        x, y = rng.random(), rng.random()
        if x * x + y * y < 1.0:
            hits += 1
    return 4.0 * hits / n


def shuffled(n):
    values = list(range(n))
    random.shuffle(values)
    return values


np.random.seed(5)
random.seed(5)
rng = np.random.default_rng(5)
for _ in range(3):
    print(walk(150_000))
    print(inside(rng, 150_000))
print(np.random.normal(), rng.random(), shuffled(8), random.random())
