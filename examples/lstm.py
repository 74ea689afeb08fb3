"""The nonlinearity of an LSTM cell (Hochreiter and Schmidhuber, 1997): four gates cut from one array [B, 4H].

    python examples/lstm.py
"""

import time

import numpy as np


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def lstm(gates, c):
    """The new cell [B, H] and the output [B, H]."""
    i, f, g, o = np.split(gates, 4, axis=1)
    c_new = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
    h_new = sigmoid(o) * np.tanh(c_new)
    return c_new, h_new


def arguments(batch=2000, hidden=1000, dtype=np.float32, seed=0):
    random = np.random.default_rng(seed)
    return (
        random.normal(0, 2, (batch, 4 * hidden)).astype(dtype),
        random.normal(0, 1, (batch, hidden)).astype(dtype),
    )


def main():
    import transkern

    compiled = transkern.compile(lstm)
    args = arguments()
    compiled(*args)  # the first call compiles
    start = time.perf_counter()
    expected = lstm(*args)
    middle = time.perf_counter()
    result = compiled(*args)
    end = time.perf_counter()
    for mine, theirs in zip(result, expected, strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=2e-5, atol=2e-6)
    print(f"NumPy {1e3 * (middle - start):.1f} ms, transkern {1e3 * (end - middle):.1f} ms")
    print(compiled.explain())


if __name__ == "__main__":
    main()
