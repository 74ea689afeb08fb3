"""The Adam update (Kingma and Ba, 2015) of four arrays in place: one pass over memory instead of a dozen.

    python examples/adam.py
"""

import time

import numpy as np


def adam(p, g, m, v, step, lr=0.001, beta1=0.9, beta2=0.999, eps=1e-8):
    m *= beta1
    m += (1 - beta1) * g
    v *= beta2
    v += (1 - beta2) * g * g
    m_hat = m / (1 - beta1**step)
    v_hat = v / (1 - beta2**step)
    p -= lr * m_hat / (np.sqrt(v_hat) + eps)


def arguments(n=10_000_000, dtype=np.float32, seed=0):
    random = np.random.default_rng(seed)
    p, g, m = (random.normal(0, 1, n).astype(dtype) for _ in range(3))
    return p, g, m, random.uniform(0, 1, n).astype(dtype), 7


def main():
    import transkern

    compiled = transkern.compile(adam)
    compiled(*arguments())  # the first call compiles
    expected, args = arguments(), arguments()
    start = time.perf_counter()
    adam(*expected)
    middle = time.perf_counter()
    compiled(*args)
    end = time.perf_counter()
    for mine, theirs in zip(args[:4], expected[:4], strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=2e-6, atol=1e-6)
    print(f"NumPy {1e3 * (middle - start):.1f} ms, transkern {1e3 * (end - middle):.1f} ms")
    print(compiled.explain())


if __name__ == "__main__":
    main()
