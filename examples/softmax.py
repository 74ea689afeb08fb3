"""Softmax over rows, made safe by their maximum: two reductions and an exponential in one kernel.

    python examples/softmax.py
"""

import time

import numpy as np


def softmax(x):
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def arguments(rows=10_000, columns=1000, dtype=np.float32, seed=0):
    random = np.random.default_rng(seed)
    return (random.normal(0, 3, (rows, columns)).astype(dtype),)


def main():
    import transkern

    compiled = transkern.compile(softmax)
    args = arguments()
    compiled(*args)  # the first call compiles
    start = time.perf_counter()
    expected = softmax(*args)
    middle = time.perf_counter()
    result = compiled(*args)
    end = time.perf_counter()
    np.testing.assert_allclose(result, expected, rtol=2e-5, atol=1e-9)
    print(f"NumPy {1e3 * (middle - start):.1f} ms, transkern {1e3 * (end - middle):.1f} ms")
    print(compiled.explain())


if __name__ == "__main__":
    main()
