"""What functions use changes while the script runs: globals, other functions, defaults, lists."""

import numpy as np

scale = 2.0
table = [1.0, 2.0, 3.0]


def weight(v):
    return scale * v


def weighted(x):
    total = 0.0
    for v in x:
        total += weight(v) + table[0]
    return total


def collect(x, into):
    for v in x:
        if v > 0.99:
            into.append(float(v))
    return len(into)


x = np.random.default_rng(2).random(80_000)
for k in range(12):
    print(repr(float(weighted(x))))
    if k == 5:
        scale = 3.0
    elif k == 7:
        table[0] = -1.0
    elif k == 9:

        def weight(v):
            return v / 2


found = []
for k in range(6):
    print(collect(x, found), found[-1])
