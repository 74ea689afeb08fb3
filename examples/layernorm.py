"""Layer normalisation (Ba, Kiros and Hinton, 2016) over rows, with a learned scale and shift.

    python examples/layernorm.py
"""

import time

import numpy as np


def layernorm(x, gamma, beta, eps=1e-5):
    mean = x.mean(axis=-1, keepdims=True)
    var = x.var(axis=-1, keepdims=True)
    return (x - mean) / np.sqrt(var + eps) * gamma + beta


def arguments(rows=10_000, columns=1000, dtype=np.float32, seed=0):
    random = np.random.default_rng(seed)
    return (
        random.normal(2, 3, (rows, columns)).astype(dtype),
        random.normal(1, 0.1, columns).astype(dtype),
        random.normal(0, 0.1, columns).astype(dtype),
    )


def main():
    import transkern

    compiled = transkern.compile(layernorm)
    args = arguments()
    compiled(*args)  # the first call compiles
    start = time.perf_counter()
    expected = layernorm(*args)
    middle = time.perf_counter()
    result = compiled(*args)
    end = time.perf_counter()
    np.testing.assert_allclose(result, expected, rtol=2e-5, atol=2e-5)
    print(f"NumPy {1e3 * (middle - start):.1f} ms, transkern {1e3 * (end - middle):.1f} ms")
    print(compiled.explain())


if __name__ == "__main__":
    main()
