"""The end of a residual block (He et al., 2015): two branches added, then a rectifier.

    python examples/residual.py
"""

import time

import numpy as np


def residual(lhs, rhs):
    return np.maximum(lhs + rhs, 0)


def arguments(batch=10, channels=100, height=100, width=100, dtype=np.float32, seed=0):
    random = np.random.default_rng(seed)
    return tuple(random.normal(0, 1, (batch, channels, height, width)).astype(dtype) for _ in range(2))


def main():
    import transkern

    compiled = transkern.compile(residual)
    args = arguments()
    compiled(*args)  # the first call compiles
    start = time.perf_counter()
    expected = residual(*args)
    middle = time.perf_counter()
    result = compiled(*args)
    end = time.perf_counter()
    assert np.array_equal(result, expected)
    print(f"NumPy {1e3 * (middle - start):.1f} ms, transkern {1e3 * (end - middle):.1f} ms")
    print(compiled.explain())


if __name__ == "__main__":
    main()
