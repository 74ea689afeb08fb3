"""The kernel that takes running sums on a TPU, interpreted; what runs here is XLA's own."""

import numpy as np
import pytest

from transkern.targets.pallas.printing import prelude

jnp = pytest.importorskip("jax.numpy")
SPACE: dict = {}
exec(prelude.IMPORTS + "\n".join(prelude.HELPERS[h] for h in prelude.needed({"_scan"})), SPACE)
SHAPES = [
    ((5,), 0), ((1000,), 0), ((1024,), 0), ((70_000,), 0), ((3, 5), 1), ((3, 5), 0), ((300, 500), 1), ((1030, 3), 0),
    ((4, 300, 7), 1), ((2, 3, 400), 2), ((1, 1), 0), ((1, 300), 1), ((300, 1), 0),
]  # fmt: skip
OPERATIONS = {"sum": np.cumsum, "max": np.maximum.accumulate, "min": np.minimum.accumulate}


@pytest.mark.parametrize("shape, axis", SHAPES)
@pytest.mark.parametrize("op", OPERATIONS)
def test_running(op, shape, axis):
    rng = np.random.default_rng(0)
    x = rng.integers(-1000, 1000, shape).astype(np.int32)
    np.testing.assert_array_equal(SPACE["_scan"](jnp.asarray(x), axis, op), OPERATIONS[op](x, axis=axis))
    x = rng.standard_normal(shape).astype(np.float32)
    x.reshape(-1)[:: max(x.size // 3, 1)] = np.inf if op == "min" else -np.inf if op == "max" else 0
    wanted = OPERATIONS[op](x, axis=axis)
    np.testing.assert_allclose(SPACE["_scan"](jnp.asarray(x), axis, op), wanted, rtol=1e-4, atol=1e-3)
