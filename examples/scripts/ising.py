"""The two-dimensional Ising model by the Metropolis algorithm: magnetisation against temperature.

A script like any other: `python examples/scripts/ising.py` takes its time,
`transkern run --report examples/scripts/ising.py` prints the same and says what it has compiled.
"""

import argparse

import numpy as np


def sweep(spins, draws, beta):
    """One attempt to flip each spin of a periodic lattice; `draws` are numbers in [0, 1) for it."""
    rows, columns = spins.shape
    flipped = 0
    for i in range(rows):
        for j in range(columns):
            around = spins[(i + 1) % rows, j] + spins[i - 1, j] + spins[i, (j + 1) % columns] + spins[i, j - 1]
            cost = 2 * spins[i, j] * around
            if cost <= 0 or draws[i, j] < np.exp(-beta * cost):
                spins[i, j] = -spins[i, j]
                flipped += 1
    return flipped


def energy(spins):
    """Per spin, of nearest neighbours."""
    return -(spins * np.roll(spins, 1, axis=0) + spins * np.roll(spins, 1, axis=1)).mean()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--size", type=int, default=64)
    parser.add_argument("--sweeps", type=int, default=150)
    options = parser.parse_args()
    rng = np.random.default_rng(0)
    print("temperature  magnetisation   energy  flipped")
    for temperature in (1.5, 2.0, 2.27, 2.6, 3.5):
        spins = np.ones((options.size, options.size), dtype=np.int64)
        flipped = 0
        for _ in range(options.sweeps):
            flipped += sweep(spins, rng.random(spins.shape), 1 / temperature)
        share = flipped / (options.sweeps * spins.size)
        print(f"{temperature:11.2f} {abs(spins.mean()):14.4f} {energy(spins):8.4f} {share:8.3f}")


if __name__ == "__main__":
    main()
