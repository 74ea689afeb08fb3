"""A scaled and shifted logistic function: five array operations, one kernel, no temporary.

    python examples/sigmoid.py
"""

import time

import numpy as np


def sigmoid(x, a, b):
    return 1 / (1 + np.exp(-x)) * a + b


def arguments(n=10_000_000, dtype=np.float32, seed=0):
    random = np.random.default_rng(seed)
    return tuple(random.normal(0, 3, n).astype(dtype) for _ in range(3))


def main():
    import transkern

    compiled = transkern.compile(sigmoid)
    args = arguments()
    compiled(*args)  # the first call compiles
    start = time.perf_counter()
    expected = sigmoid(*args)
    middle = time.perf_counter()
    result = compiled(*args)
    end = time.perf_counter()
    np.testing.assert_allclose(result, expected, rtol=2e-6, atol=1e-5)
    print(f"NumPy {1e3 * (middle - start):.1f} ms, transkern {1e3 * (end - middle):.1f} ms")
    print(compiled.explain())


if __name__ == "__main__":
    main()
