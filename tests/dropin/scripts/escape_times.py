"""Arguments by argparse, a picture to a file, a table to stdout."""

import argparse
import os
import tempfile

import numpy as np


def escape_times(width, height, limit):
    """Iterations until |z| > 2."""
    counts = np.zeros((height, width), dtype=np.int64)
    for row in range(height):
        for column in range(width):
            c = complex(-2.2 + 3.2 * column / width, -1.2 + 2.4 * row / height)
            z = 0j
            n = 0
            while n < limit and z.real * z.real + z.imag * z.imag <= 4.0:
                z = z * z + c
                n += 1
            counts[row, column] = n
    return counts


def write_picture(path, counts):
    with open(path, "w", encoding="ascii") as file:
        file.write(f"P2 {counts.shape[1]} {counts.shape[0]} 255\n")
        for row in counts:
            file.write(" ".join(str(min(255, n)) for n in row) + "\n")
    return os.path.getsize(path)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", type=int, default=420)
    parser.add_argument("--limit", type=int, default=150)
    options = parser.parse_args()
    counts = escape_times(options.size, options.size, options.limit)
    with tempfile.TemporaryDirectory() as folder:
        print("bytes:", write_picture(os.path.join(folder, "picture.pgm"), counts))
    for value, times in zip(*np.unique(counts, return_counts=True)):
        if times > 1000:
            print(f"{value:4d} {times:7d}")


if __name__ == "__main__":
    main()
