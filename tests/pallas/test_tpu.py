"""Real TPU generations, compiled ahead of time without one: accepted, and how many bundles a loop takes."""

import inspect
import pathlib

import pytest

from tests.pallas import test_columns, test_elementwise, test_kernels, test_loops, test_parallel, test_pieces, test_rows
from tests.suppression import spellings
from transkern.errors import BuildError
from transkern.pipeline import passes_for
from transkern.pipeline import program_of as program_by
from transkern.targets.pallas.module.schedule import check_many, check_tpu

pytestmark = pytest.mark.slow

pytest.importorskip("libtpu")
NMS = (pathlib.Path(__file__).resolve().parents[2] / "examples" / "nms.py").read_text()
F, INT = "float32", "int32"


def program_of(source, name, types):
    return program_by(source, name, types, passes_for("pallas"))


def vector(n, k=1):
    return [((n,), F)] * k


MODULES = {
    "nms": (NMS, "nms(float32[n,4],float32[n],int,float)", [((1024, 4), F), ((1024,), F), ((), INT), ((), F)]),
    "nms_descending": (NMS, "nms_descending(float32[n,5],float)", [((1024, 5), F), ((), F)]),
    "nms_delete": (NMS, "nms_delete(float32[n,4],float32[n],float)", [((1024, 4), F), ((1024,), F), ((), F)]),
    "nms_flags": (NMS, "nms_flags(float32[n,4],float32[n],float)", [((1024, 4), F), ((1024,), F), ((), F)]),
    "softmax": (test_rows.SOFTMAX, "f(float32[n,m])", [((1000, 1000), F)]),
    "layernorm": (test_rows.LAYERNORM, "f(float32[n,m],float32[m],float32[m],float)", [((100, 1000), F), *vector(1000, 2), ((), F)]),
    "norm": (test_rows.NORM, "f(float32[n])", vector(100_000)),
    "sigmoid": (test_elementwise.SIGMOID, "f(float32[n],float,float)", [*vector(100_001), ((), F), ((), F)]),
    "adam": (
        test_elementwise.ADAM, "f(float32[n],float32[n],float32[n],float32[n],float,float,float,float,int)",
        [*vector(50_000, 4), *[((), F)] * 4, ((), INT)],
    ),
    "lstm": (test_elementwise.LSTM, "f(float32[n,m],float32[n,k])", [((64, 1024), F), ((64, 256), F)]),
    "iir": (test_loops.IIR, "f(float32[n,m],float)", [((512, 1024), F), ((), F)]),
    "jacobi": (test_loops.JACOBI, "f(float32[n,m],int)", [((256, 256), F), ((), INT)]),
    "bubble": (test_loops.BUBBLE, "f(float32[n])", vector(100)),
    "plain_products": (test_parallel.MATMUL, "f(float32[n,k],float32[k,m])", [((100, 60), F), ((60, 200), F)]),
    "plain_floyd": (test_parallel.FLOYD, "f(float32[n,n])", [((100, 100), F)]),
    "plain_history": (test_parallel.HISTORY, "f(float32[n],float32[m,n])", [*vector(200), ((50, 200), F)]),
    "pieces": (test_pieces.SOURCE, "borders(float32[n],float32[n])", vector(1000, 2)),
    "pieces_of_few": (test_pieces.SOURCE, "turned(float32[n],float32[n])", vector(2, 2)),
    "pieces_of_rows": (test_pieces.SOURCE, "around(float32[n,m],float32[n,m])", [((100, 300), F)] * 2),
    "floyd": (test_loops.FLOYD, "f(float32[n,n])", [((100, 100), F)]),
}  # fmt: skip
FORMS = [m for m in MODULES if m.startswith("nms")]


def compile_all(topology, names):
    made = {}
    for key in names:
        source, types, shapes = MODULES[key]
        name = types.partition("(")[0]
        made[key] = (program_of("import numpy as np\n" + source, name, types), shapes, name)
    return check_many(made, topology)


@pytest.mark.parametrize("topology, most", [("v5e:2x2", 60), ("v6e:2x2", 50)])
def test_nms_takes_few_bundles_a_box(topology, most):
    # The kernels of a module begin with its name: `nms` goes alone.
    for forms in (FORMS[:1], FORMS[1:]) if topology.startswith("v5e") else (FORMS[:1],):
        for form, kernels in compile_all(topology, forms).items():
            (loop,) = [k for k in kernels if k.pallas and "_loop" in k.name]
            assert [x.depth for x in loop.loops] == [1]
            assert loop.loops[0].bundles <= most, (form, loop)


SPELLINGS = (
    "masked", "for_with_break", "after_a_filter", "order_after_a_filter", "classes", "helper_on_rest", "boxes_shrink",
    "removed_named", "flags_of_numbers", "row_of_pairs", "leaves_before_the_last",
)  # fmt: skip
"""Spellings of suppression that are put together from more than one loop over what is left."""


def test_spellings_of_nms_take_few_bundles_a_box():
    modules = {}
    for name in SPELLINGS:
        program = program_of(inspect.getsource(spellings), name, f"{name}(float32[n,4],float32[n],float,int)")
        modules[name] = program, [((1024, 4), F), ((1024,), F), ((), F), 200], name
    found = check_many(modules)
    for name in SPELLINGS:
        loops = [max(x.bundles for x in k.loops) for k in found[name] if k.pallas and k.loops]
        assert len(loops) == 1 and loops[0] <= 60, (name, found[name])


def test_choices_between_truths_are_accepted():
    """Mosaic has no choice between vectors of truths."""
    source = "import numpy as np\ndef f(x, m):\n    return np.where(x > 0, m, x < -1)\n"
    check_tpu(program_of(source, "f", "f(float32[n],bool[n])"), [((1000,), F), ((1000,), "bool")])


@pytest.mark.parametrize("shape", ["n", "n,m"])
def test_parts_of_truths_are_accepted(shape):
    """Mosaic joins no vectors of truths: `np.unique` stores all but the first."""
    source = "import numpy as np\ndef f(x):\n    y = np.ones(x.shape, bool)\n    y[1:] = x[1:] != x[:-1]\n    return y\n"
    kernels = check_tpu(program_of(source, "f", f"f(int32[{shape}])"), [((100, 200)[: len(shape.split(","))], INT)])
    assert any(k.pallas for k in kernels)


@pytest.mark.parametrize("line", ["x.argmax(axis=1)", "(x > 3).argmax(axis=1)", "(x > 3).argmin(axis=1)"])
def test_places_among_integers_are_accepted(line):
    """Mosaic looks for places of extremes among numbers of float32 alone."""
    program = program_of(f"import numpy as np\ndef f(x):\n    return {line}\n", "f", "f(int32[n,m])")
    assert any(k.pallas for k in check_tpu(program, [((100, 200), INT)]))


@pytest.mark.parametrize("topology", ["v5e:2x2", "v6e:2x2"])
def test_accepted(topology):
    compile_all(topology, [m for m in MODULES if m not in FORMS])


def test_large_nms_is_accepted():
    source, types, _ = MODULES["nms"]
    check_tpu(program_of(source, "nms", types), [((8200, 4), F), ((8200,), F), ((), INT), ((), F)])


@pytest.mark.parametrize("topology", ["v5e:2x2", "v6e:2x2"])
def test_a_loop_beyond_vmem_is_one_kernel(topology):
    program = program_of("import numpy as np\n" + test_loops.GREEDY, "f", "f(float32[n],float32[n],float)")
    kernels = check_tpu(program, [*vector(6_000_000, 2), ((), F)], topology)
    (loop,) = [k for k in kernels if k.pallas and k.name.startswith("f_loop")]
    assert max(x.depth for x in loop.loops) == 3  # choices, windows, rows


def test_a_refusal_by_the_compiler_is_an_error():
    text = (
        "import jax, jax.numpy as jnp\nfrom jax.experimental import pallas as pl\n"
        "def f(x):\n    def kernel(a, b):\n        b[...] = jnp.cumsum(a[...])\n"
        "    return pl.pallas_call(kernel, out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype))(x)\n"
    )
    with pytest.raises(BuildError, match="cumsum"):
        check_tpu(text, [((256,), "float32")])


EVERYDAY = {
    "heat": (test_kernels.HEAT, "f(float32[n,m],float,int)", [((1024, 1024), F), ((), F), 20]),
    "rolled": (test_kernels.ROLLED, "f(float32[n,m],float32[n,m],int,float)", [((512, 512), F)] * 2 + [20, ((), F)]),
    "limiter": (test_kernels.LIMITER, "f(float32[n,m],float,int)", [((300, 512), F), ((), F), 20]),
    "box": (test_kernels.BOX, "f(float32[n,m])", [((500, 512), F)]),
    "along_rows": (test_kernels.ALONG_ROWS, "f(float32[n,m],float)", [((512, 1000), F), ((), F)]),
    "escape": (test_kernels.ESCAPE, "f(float32[n],float32[m],int)", [((1500,), F), ((1000,), F), 30]),
    "running": ("def f(x):\n    return np.cumsum(x)\n", "f(float32[n])", vector(1_000_000)),
    "statistics": (
        "def f(x):\n    return x - x.mean(axis=(0, 2), keepdims=True)\n", "f(float32[b,c,h])", [((64, 32, 784), F)]
    ),
    "pairs": (
        "def f(a, b):\n    return ((a[:, None, :] - b[None, :, :]) ** 2).sum(axis=2).argmin(axis=1)\n",
        "f(float32[n,3],float32[m,3])", [((2000, 3), F), ((2000, 3), F)],
    ),
    "chosen": (
        "def f(x, k):\n    return (x - x.max(axis=1, keepdims=True))[np.arange(x.shape[0]), k].mean()\n",
        "f(float32[n,m],int32[n])", [((4096, 1000), F), ((4096,), INT)],
    ),
}  # fmt: skip
LARGE = ("heat", "rolled", "along_rows")
"""What VMEM of 16 MiB does not hold at this size, with copies: XLA's there."""


@pytest.mark.parametrize("topology", ["v5e:2x2", "v4:2x2x1", "v5p:2x2x1", "v6e:2x2"])
def test_everyday_functions_are_kernels_on_each_generation(topology):
    made = {}
    of_all = ("heat", "along_rows", "pairs")  # the others take no part of VMEM that generations differ in
    for key in EVERYDAY if topology.startswith("v5e") else of_all:
        source, types, shapes = EVERYDAY[key]
        made[key] = (program_of("import numpy as np\n" + source, "f", types), shapes, "f")
    found = check_tpu_each(made, topology)
    for key, kernels in found.items():
        assert any(k.pallas for k in kernels) or (topology.startswith("v4") and key in LARGE), (key, kernels)


def check_tpu_each(modules, topology):
    return {key: check_tpu(of, shapes, topology, name) for key, (of, shapes, name) in modules.items()}


COLUMNS = {
    "state": (test_columns.STATE, "f(float32[n,5],float,float)", [((1024, 5), F), *[((), F)] * 2], 160),
    "motion": (test_columns.MOTION, "f(float32[n,2],float32[n,2],int)", [((1024, 2), F)] * 2 + [20], 60),
    "centred": (test_columns.CENTRED, "f(float32[n,3],float32[n,3],int)", [((1024, 3), F)] * 2 + [20], 120),
    "plain": (test_columns.PLAIN, "f(float32[n,3],float32[n,3],int)", [((1024, 3), F)] * 2 + [20], 70),
}  # fmt: skip


def test_rows_of_a_few_elements_fill_the_lanes():
    modules = {}
    for key, (source, types, shapes, _) in COLUMNS.items():
        program = program_of("import numpy as np\n" + source.replace("def f(", f"def {key}("), key, key + types[1:])
        modules[key] = program, shapes, key
    for key, kernels in check_many(modules).items():
        steps = [sum(x.bundles for x in k.loops) for k in kernels if k.pallas and k.loops]
        assert max(steps) <= COLUMNS[key][3], (key, kernels)
