"""Many modules compiled for a TPU in one process: what one of them does ends none of the others."""

import pytest

from transkern.errors import TargetUnavailable
from transkern.targets.pallas.module.measure import Case, measure

pytestmark = pytest.mark.slow

pytest.importorskip("libtpu")
PALLAS = (
    "import jax, jax.numpy as jnp\nfrom jax.experimental import pallas as pl\n"
    "def f(x):\n    def kernel(a, b):\n        b[...] = {}\n"
    "    return jnp.sort(pl.pallas_call(kernel, out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype))(x))\n"
)
SHAPES = [((1024,), "float32")]


def test_what_fails_ends_nothing_else():
    cases = {
        "made": Case(PALLAS.format("a[...] * 2"), "f", SHAPES),
        "refused": Case(PALLAS.format("jnp.cumsum(a[...])"), "f", SHAPES),
        "crashed": Case("import os\ndef f(x):\n    os._exit(3)\n", "f", SHAPES),
        "slow": Case("import time\ndef f(x):\n    time.sleep(1000)\n", "f", SHAPES),
        "again": Case("def f(x, n):\n    return x + n\n", "f", [*SHAPES, 3]),
    }
    found = dict(measure(cases, "v5e:2x2", 20.0))
    assert list(found) == list(cases)
    made = found["made"]
    assert made.calls == 1 and made.outside == {"sort": 1} and not made.wholly
    assert made.arguments == made.results == 4096 and made.temporaries > 0 and made.vmem > 0  # the sort is in HBM
    assert [k.pallas for k in made.kernels].count(True) == 1
    assert "cumsum" in found["refused"].failed and "crashed" in found["crashed"].failed
    assert found["slow"].failed == "no answer within 20 s"
    assert found["again"].calls == 0 and not found["again"].failed and found["again"].outside == {"fusion": 1}


def test_a_topology_that_libtpu_does_not_know():
    with pytest.raises(TargetUnavailable, match="did not start"):
        list(measure({"one": Case("def f(x):\n    return x\n", "f", SHAPES)}, "v99:2x2"))
