"""Non-maximum suppression in its four usual forms: the same boxes as NumPy, in one kernel, on many inputs."""

import importlib.util
import pathlib

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.experimental.pallas import tpu as pltpu

from tests.pallas.support import same
from transkern.pipeline import program_of
from transkern.targets.pallas.module.load import load, printed

EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "examples" / "nms.py"
SOURCE = EXAMPLES.read_text()
_spec = importlib.util.spec_from_file_location("nms_forms", EXAMPLES)
FORMS = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(FORMS)
TYPES = {
    "nms": "nms({t}[n,4],{t}[n],int,float)",
    "nms_descending": "nms_descending({t}[n,5],float)",
    "nms_delete": "nms_delete({t}[n,4],{t}[n],float)",
    "nms_flags": "nms_flags({t}[n,4],{t}[n],float)",
}
LOADED = {}


def function(form, dtype):
    if (form, dtype) not in LOADED:
        LOADED[form, dtype] = load(printed(program_of(SOURCE, form, TYPES[form].format(t=dtype))))
    return LOADED[form, dtype]


def inputs(form, boxes, scores, threshold, limit):
    if form == "nms":
        return boxes, scores, limit, threshold
    if form == "nms_descending":
        return np.column_stack([boxes, scores]).astype(boxes.dtype), threshold
    return boxes, scores, threshold


def boxes_of(kind, n, dtype, seed):
    """Distinct scores (NumPy's own order of equal ones is open), and boxes of several kinds."""
    random = np.random.default_rng(seed)
    scores = random.permutation(n).astype(dtype) / max(n, 1)
    spread = {"sparse": 1e6, "crowded": 30.0, "all": 0.0, "none": 1e9, "points": 30.0, "twins": 30.0}[kind]
    corner = random.uniform(0, 1, (n, 2)) * spread
    if kind == "none":
        corner = np.arange(n)[:, None] * 100.0 + np.zeros((1, 2))
    size = random.uniform(1, 10, (n, 2)) if kind != "points" else np.zeros((n, 2))
    if kind == "all":
        size[:] = 5
    boxes = np.concatenate([corner, corner + size], axis=1).astype(dtype)
    if kind == "twins" and n > 1:
        boxes[n // 2 :] = boxes[: n - n // 2]
    return boxes, scores


def compare(form, boxes, scores, threshold, limit):
    args = inputs(form, boxes, scores, threshold, limit)
    with np.errstate(all="ignore"):
        expected = getattr(FORMS, form)(*args)
    same(function(form, boxes.dtype.name)(*args), expected, True, 0, 0)


@pytest.mark.parametrize("n", [0, 7, 127, 128, 129, 1024, 1025])
@pytest.mark.parametrize("form", TYPES)
def test_float32(form, n):
    for seed, kind in enumerate(["sparse", "crowded", "all", "none", "points", "twins"]):
        for threshold, limit in ((0.5, n), (0.0, 5), (0.9, 0), (0.3, 10**12)):
            compare(form, *boxes_of(kind, n, np.float32, seed), threshold, limit)


@pytest.mark.parametrize("n", [4097, 8192])
@pytest.mark.parametrize("form", TYPES)
def test_many(form, n):
    compare(form, *boxes_of("crowded", n, np.float32, 1), 0.5, n)
    compare(form, *boxes_of("sparse", n, np.float32, 2), 0.5, 300)


def test_passes_in_chunks_of_rows():
    compare("nms", *boxes_of("crowded", 20_000, np.float32, 1), 0.4, 20_000)
    compare("nms_descending", *boxes_of("crowded", 20_000, np.float32, 1), 0.4, 0)


def test_elements_out_of_rows():
    compare("nms", *boxes_of("crowded", 70_000, np.float32, 3), 0.4, 100)


@pytest.mark.parametrize("n", [0, 130, 1025])
@pytest.mark.parametrize("form", TYPES)
def test_float64(form, n):
    for seed, kind in enumerate(["crowded", "points", "twins"]):
        compare(form, *boxes_of(kind, n, np.float64, seed), 0.5, n)


@pytest.fixture(scope="module")
def in_hbm():
    """The functions as they are for arrays beyond VMEM."""
    made = {}
    for form, dtype in [*((form, "float32") for form in TYPES), ("nms", "float64")]:
        made[form, dtype] = load(printed(program_of(SOURCE, form, TYPES[form].format(t=dtype))))
        made[form, dtype].jax_function.__globals__["VMEM"] = 0
    return made


@pytest.mark.parametrize("n", [0, 1025, 9000])
@pytest.mark.parametrize("form", TYPES)
def test_state_in_hbm(form, n, in_hbm, monkeypatch):
    monkeypatch.setattr(f"{__name__}.LOADED", in_hbm)
    compare(form, *boxes_of("crowded", n, np.float32, 1), 0.5, n)
    compare(form, *boxes_of("twins", n, np.float32, 2), 0.4, 3)


def test_state_in_hbm_of_float64_and_many_windows(in_hbm, monkeypatch):
    monkeypatch.setattr(f"{__name__}.LOADED", in_hbm)
    compare("nms", *boxes_of("crowded", 300, np.float64, 1), 0.5, 100)
    compare("nms", *boxes_of("crowded", 50_000, np.float32, 1), 0.5, 100)


def test_copies_are_waited_for(monkeypatch):
    """Here a copy happens when it is waited for, not before, and memory starts as NaN."""
    made = load(printed(program_of(SOURCE, "nms", TYPES["nms"].format(t="float32"))))
    late = pltpu.InterpretParams(dma_execution_mode="on_wait", uninitialized_memory="nan")
    made.jax_function.__globals__.update(VMEM=0, _interpret=lambda: late)
    monkeypatch.setitem(LOADED, ("nms", "float32"), made)
    compare("nms", *boxes_of("crowded", 18_000, np.float32, 1), 0.5, 3)


def test_what_exceeds_vmem_is_copied_by_windows():
    f = function("nms", "float32").jax_function

    def copies(n):
        boxes, scores = (jax.ShapeDtypeStruct(s, jnp.float32) for s in ((n, 4), (n,)))
        return str(jax.make_jaxpr(lambda b, s: f(b, s, 10, 0.5))(boxes, scores)).count("dma_start")

    assert copies(1 << 20) == 0 < copies(4 << 20)


@pytest.mark.parametrize("form", TYPES)
def test_special_values(form):
    boxes, scores = boxes_of("crowded", 200, np.float32, 0)
    boxes[::17, 0], boxes[::19, 3], boxes[::23, 2], boxes[5] = np.nan, np.inf, -np.inf, -0.0
    compare(form, boxes, scores, 0.5, 100)
    compare(form, boxes, scores, np.nan, 100)


@pytest.mark.parametrize("form", TYPES)
def test_the_loop_is_one_kernel(form):
    text = function(form, "float32").text
    assert text.count("= _block(") == 1 and text.count("while_loop(") == 1
