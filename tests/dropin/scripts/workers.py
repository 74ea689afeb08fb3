"""Processes by fork and spawn, a thread pool, and another Python."""

import concurrent.futures
import multiprocessing
import subprocess
import sys

import numpy as np


def collatz(first, last):
    longest, at = 0, 0
    for start in range(first, last):
        n, steps = start, 0
        while n != 1:
            n = n // 2 if n % 2 == 0 else 3 * n + 1
            steps += 1
        if steps > longest:
            longest, at = steps, start
    return at, longest


def moments(x):
    return float(np.sum(x) / len(x)), float(np.sum((x - np.sum(x) / len(x)) ** 2))


if __name__ == "__main__":
    parts = [(k, k + 5_000) for k in range(1, 40_000, 5_000)]
    print([collatz(*part) for part in parts])
    for method in ("fork", "spawn"):
        with multiprocessing.get_context(method).Pool(2) as pool:
            print(method, pool.starmap(collatz, parts[:2]))
    with concurrent.futures.ThreadPoolExecutor(4) as threads:
        print(list(threads.map(moments, [np.arange(float(n)) for n in range(10, 100_000, 9_000)])))
    sys.stdout.flush()
    subprocess.run([sys.executable, "-c", "print('from another')"], check=True)
    sys.exit(3)
