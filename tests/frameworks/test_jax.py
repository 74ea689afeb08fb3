"""Compiled functions inside what JAX traces, against NumPy."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import transkern
from tests.frameworks import functions as f
from tests.tools import require

require("jax", "cc")

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402

CPU = pytest.mark.parametrize("target", ["cpu", "auto"])


def same(found: Any, wanted: Any) -> None:
    """That a result of a trace is NumPy's: its numbers are arrays without axes there."""
    match wanted:
        case np.ndarray() | np.generic():
            assert isinstance(found, jax.Array) and found.dtype == wanted.dtype and found.shape == wanted.shape
            np.testing.assert_array_equal(np.asarray(found), wanted)
            if wanted.dtype.kind == "f":
                np.testing.assert_array_equal(np.signbit(np.asarray(found)), np.signbit(wanted))
        case dict():
            assert list(found) == list(wanted)
            for key in wanted:
                same(found[key], wanted[key])
        case tuple() | list():
            assert type(found) is type(wanted)
            for one, two in zip(found, wanted, strict=True):
                same(one, two)
        case None:
            assert found is None
        case _:
            assert type(found) is type(wanted) and found == wanted


CALLS: list[tuple[Callable[..., Any], tuple[Any, ...]]] = [
    *((f.chain, (f.values(d, 9), f.values(d, 9)[::-1].copy())) for d in ("float32", "float64", "int64", "int32")),
    *((f.total, (f.values(d, n),)) for d in ("float64", "int32", "bool") for n in (0, 1, 6)),
    (f.paired, (f.values("float64", 5),)),
    (f.recurrence, (np.linspace(0, 1, 7), 0.5)),
    *((f.joined, (f.values("int32", n), f.values("int32", 4), 3)) for n in (0, 1, 2, 5)),
    (f.outer, (f.values("float64", 3), f.values("float64", 1))),
    (f.outer, (f.values("float64", 0), f.values("float64", 4))),
    (f.folded, (f.values("float64", 6),)),
    (f.along, (np.arange(6.0).reshape(2, 3), 1)),
    (f.along, (np.arange(6.0).reshape(2, 3), -2)),
    (f.weighted, ({"w": np.eye(3), "b": (np.ones(3), 2)}, np.arange(6.0).reshape(2, 3))),
    (f.looked_up, (np.arange(5.0), np.array([3, 0, -1]))),
    (f.one_of_two, (np.array([-1.0, 2.0]), 0)),
]


def arrays(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: arrays(v) for k, v in value.items()}
    if isinstance(value, tuple):
        return tuple(map(arrays, value))
    return jnp.asarray(value) if isinstance(value, np.ndarray) else value


def closed(compiled: Callable[..., Any], args: tuple[Any, ...]) -> tuple[Callable[..., Any], list[Any]]:
    """A function of the arrays alone among some arguments: what else there is stays as it is."""
    leaves, tree = jax.tree_util.tree_flatten(args)
    places = [k for k, leaf in enumerate(leaves) if isinstance(leaf, np.ndarray)]

    def call(*given: Any) -> Any:
        every = list(leaves)
        for k, value in zip(places, given, strict=True):
            every[k] = value
        return compiled(*jax.tree_util.tree_unflatten(tree, every))

    return call, [jnp.asarray(leaves[k]) for k in places]


@CPU
@pytest.mark.parametrize(("function", "args"), CALLS, ids=lambda x: getattr(x, "__name__", ""))
def test_jit(function: Callable[..., Any], args: tuple[Any, ...], target: str) -> None:
    with np.errstate(all="ignore"):
        wanted = function(*args)
    with jax.enable_x64(True):
        call, given = closed(transkern.compile(function, target=target), args)
        same(jax.jit(call)(*given), wanted)
        same(call(*given), wanted)  # as it is, too


@CPU
def test_vmap(target: str) -> None:
    compiled = transkern.compile(f.recurrence, target=target)
    x = np.random.default_rng(0).normal(size=(3, 4, 5)).astype(np.float32)
    for axis in (0, 1, 2):
        found = jax.vmap(lambda x: compiled(x, 0.5), in_axes=axis, out_axes=axis)(jnp.asarray(x))
        same(found, np.apply_along_axis(lambda x: x, 0, np.stack(
            [f.recurrence(part, 0.5) for part in np.moveaxis(x, axis, 0)], axis)))  # fmt: skip
    joined = transkern.compile(f.joined, target=target)
    y = jnp.arange(3, dtype=jnp.float32)
    found = jax.jit(jax.vmap(jax.vmap(lambda x, y: joined(x, y, 1), (0, None)), (1, None)))(jnp.asarray(x), y)
    same(found[2, 1], f.joined(x[1, 2], np.asarray(y), 1))
    pairs = jax.vmap(transkern.compile(f.paired, target=target))(jnp.asarray(x[0]))
    assert type(pairs) is f.Pair and pairs.doubled.shape == (4, 5) and pairs.total.shape == (4,)


def test_a_batch_is_one_call() -> None:
    compiled = transkern.compile(f.total, target="cpu")
    text = str(jax.make_jaxpr(jax.vmap(compiled))(jnp.ones((100, 3))))
    assert text.count("ffi_call[") == 1 and "f32[100]" in text


def test_arguments_are_read_where_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    """XLA hands the memory of arguments and results over; JAX's callbacks copy them."""
    from transkern.frameworks.jax import _Host

    seen: list[int] = []
    real = _Host.fill
    monkeypatch.setattr(_Host, "fill", lambda self, a, b: (seen.extend(x.ctypes.data for x in a), real(self, a, b))[1])
    compiled = transkern.compile(lambda x: x + 1, target="cpu")
    x = jnp.ones(1000)
    assert jax.jit(compiled)(x).sum() == 2000 and seen == [x.unsafe_buffer_pointer()]


@pytest.mark.parametrize(("function", "args"), CALLS, ids=lambda x: getattr(x, "__name__", ""))
def test_callbacks_where_xla_cannot_call(
    function: Callable[..., Any], args: tuple[Any, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Other versions of jaxlib, other devices."""
    from transkern.frameworks import xla

    monkeypatch.setattr(xla, "_is_registered", lambda: False)
    with np.errstate(all="ignore"):
        wanted = function(*args)
    with jax.enable_x64(True):
        call, given = closed(transkern.compile(function, target="cpu"), args)
        assert "pure_callback" in str(jax.make_jaxpr(call)(*given))
        same(jax.jit(call)(*given), wanted)
        batch = [jnp.stack([a, a]) for a in given]
        for part, one in zip(*map(jax.tree_util.tree_leaves, (jax.vmap(call)(*batch), wanted)), strict=True):
            if isinstance(part, jax.Array):
                np.testing.assert_array_equal(np.asarray(part), np.stack([one, one]))


def test_code_in_jaxs_cache_on_disk_calls_its_own(tmp_path: Path) -> None:
    """Two processes compile the same call of two functions: neither runs the other's."""
    text = (
        "import jax, jax.numpy as jnp, transkern\n"
        f"jax.config.update('jax_compilation_cache_dir', {str(tmp_path)!r})\n"
        "jax.config.update('jax_persistent_cache_min_entry_size_bytes', -1)\n"
        "jax.config.update('jax_persistent_cache_min_compile_time_secs', 0)\n"
        "from tests.frameworks import functions as f\n"
        "print(jax.jit(transkern.compile(f.NAME, target='cpu'))(jnp.arange(3.0)).tolist())\n"
    )
    for name, wanted in (("cube", "[0.0, 1.0, 8.0]"), ("doubled", "[0.0, 2.0, 4.0]"), ("cube", "[0.0, 1.0, 8.0]")):
        run = subprocess.run(
            [sys.executable, "-c", text.replace("NAME", name)], capture_output=True, text=True,
            cwd=Path(__file__).parents[2], env=dict(os.environ, PYTHONPATH=str(Path(__file__).parents[2])),
        )  # fmt: skip
        assert run.stdout.strip() == wanted, run.stderr[-2000:]


def test_a_batch_without_members() -> None:
    found = jax.vmap(transkern.compile(f.total, target="cpu"))(jnp.ones((0, 3)))
    assert found.shape == (0,)


def test_loops_and_branches_of_jax() -> None:
    compiled = transkern.compile(f.recurrence, target="cpu")
    x = jnp.linspace(0, 1, 5)
    found = jax.lax.fori_loop(0, 3, lambda _, x: compiled(x, 0.5), x)
    wanted = np.asarray(x)
    for _ in range(3):
        wanted = f.recurrence(wanted, 0.5)
    same(found, wanted)
    _, rows = jax.lax.scan(lambda c, x: (c, compiled(x, 0.5)), 0, jnp.stack([x, x]))
    assert rows.shape == (2, 5)


SHARDED = """
import jax, jax.numpy as jnp, numpy as np, transkern
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P
from tests.frameworks import functions as f
assert len(jax.devices()) == 4
mesh = Mesh(np.array(jax.devices()).reshape(2, 2), ("a", "b"))
softmax = transkern.compile(f.softmax)
softmax.defgrad(f.softmax_gradient, with_result=True)
x = np.random.default_rng(0).normal(size=(8, 6)).astype(np.float32)
placed = jax.device_put(x, NamedSharding(mesh, P(("a", "b"))))
parts = jax.shard_map(softmax, mesh=mesh, in_specs=P(("a", "b")), out_specs=P(("a", "b")))
for found in (parts(placed), jax.jit(parts)(placed), softmax(placed)):
    np.testing.assert_allclose(found, f.softmax(x), rtol=1e-6)
np.testing.assert_allclose(
    jax.jit(jax.grad(lambda x: (parts(x) ** 2).sum()))(placed),
    jax.grad(lambda x: (jax.nn.softmax(x, -1) ** 2).sum())(x), rtol=1e-4, atol=1e-6)
dense = transkern.compile(f.dense)  # a layer for all devices, a row of x for each: the layer's gradient is a sum
dense.defgrad(f.dense_gradient)
w, b, rows = (np.random.default_rng(k).normal(size=s).astype(np.float32) for k, s in enumerate(((6, 3), (3,), (4, 6))))
def loss(function):
    def of(layer, x):
        made = function(layer, x[0])
        return jax.lax.psum((made["y"] ** 2).sum() + made["square"], ("a", "b"))
    spread = jax.shard_map(of, mesh=mesh, in_specs=(P(), P(("a", "b"))), out_specs=P())
    return jax.jit(jax.grad(spread, (0, 1)))
found, wanted = (loss(function)({"w": w, "b": b}, rows) for function in (dense, f.dense))
jax.tree_util.tree_map(lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-4), found, wanted)
summed = jax.shard_map(
    lambda x: jax.lax.psum(softmax(x).sum(), ("a", "b")), mesh=mesh, in_specs=P(("a", "b")), out_specs=P())
np.testing.assert_allclose(jax.jit(summed)(placed), 8, rtol=1e-6)
print("done")
"""


def test_shard_map() -> None:
    root = Path(__file__).parents[2]
    flags = os.environ.get("XLA_FLAGS", "") + " --xla_force_host_platform_device_count=4"
    environment = dict(os.environ, PYTHONPATH=str(root), XLA_FLAGS=flags, JAX_PLATFORMS="cpu")
    run = subprocess.run([sys.executable, "-c", SHARDED], capture_output=True, text=True, env=environment, cwd=root)
    assert run.returncode == 0 and run.stdout == "done\n", run.stderr[-2000:]


# ---- gradients -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("target", ["cpu", "pallas"])
def test_gradients(target: str) -> None:
    softmax = transkern.compile(f.softmax, target=target)
    softmax.defgrad(f.softmax_gradient, with_result=True)
    x = jnp.asarray(np.random.default_rng(0).normal(size=(3, 4)).astype(np.float32))
    wanted = jax.grad(lambda x: (jax.nn.softmax(x, -1) ** 2).sum())(x)
    for transform in (jax.grad, lambda g: jax.jit(jax.grad(g))):
        np.testing.assert_allclose(transform(lambda x: (softmax(x) ** 2).sum())(x), wanted, rtol=1e-5, atol=1e-6)
    swish = transkern.compile(f.swish, target=target)
    swish.defgrad(f.swish_gradient)
    found = jax.vmap(jax.grad(lambda x: swish(x, 1.5).sum()))(x)
    np.testing.assert_allclose(found, jax.grad(lambda x: (x * jax.nn.sigmoid(1.5 * x)).sum())(x), rtol=1e-5)
    np.testing.assert_allclose(swish(x, 1.5), f.swish(np.asarray(x), 1.5), rtol=1e-6)


@pytest.mark.parametrize("target", ["cpu", "pallas"])
def test_gradients_of_what_is_made_up_of_arrays(target: str) -> None:
    dense = transkern.compile(f.dense, target=target)
    dense.defgrad(f.dense_gradient)
    random = np.random.default_rng(0)
    w, b, x = (jnp.asarray(random.normal(size=s).astype(np.float32)) for s in ((4, 3), (3,), (4,)))

    def loss(function: Callable[..., Any]) -> Callable[..., Any]:
        def of(layer: Any, x: Any) -> Any:
            made = function(layer, x)
            return (made["y"] ** 2).sum() + 3 * made["square"]

        return of

    found = jax.jit(jax.grad(loss(dense), (0, 1)))({"w": w, "b": b}, x)
    wanted = jax.grad(loss(f.dense), (0, 1))({"w": w, "b": b}, x)
    jax.tree_util.tree_map(lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-4), found, wanted)


def test_a_gradient_of_a_gradient() -> None:
    cube = transkern.compile(f.cube)
    cube.defgrad(f.cube_gradient).defgrad(f.cube_second)
    x = jnp.arange(4.0)
    found = jax.grad(lambda x: jax.grad(lambda x: cube(x).sum())(x).sum())(x)
    np.testing.assert_allclose(found, 6 * x)


def test_integers_have_no_gradient() -> None:
    looked_up = transkern.compile(f.looked_up)
    looked_up.defgrad(lambda g, x, at: (np.bincount(at, g, len(x)).astype(np.float32), None))
    found = jax.grad(lambda x, at: looked_up(x, at).sum())(jnp.arange(4.0), jnp.array([1, 1, 3]))
    assert found.tolist() == [0, 2, 0, 1]


def test_a_gradient_that_is_none_of_its_function() -> None:
    x = jnp.arange(3.0)
    for gradient, told in (
        (lambda g, x, y: (g.sum(), g), r"shape \(\) for an argument of shape \(3,\)"),
        (lambda g, x, y: (g, g, g), "3 gradients for 2 parameters"),
    ):
        chain = transkern.compile(f.chain)
        chain.defgrad(gradient)
        with pytest.raises(transkern.CompileError, match=told) as caught:
            jax.grad(lambda x, chain=chain: chain(x, x).sum())(x)
        assert caught.value.kind.code == "TK2007"
    with pytest.raises(TypeError, match=r"no derivative(.|\n)*defgrad"):
        jax.grad(transkern.compile(f.total))(x)


# ---- what no trace holds ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("function", "args", "told"),
    [
        (f.positive, (), r"how many elements `positive` returns depends on the values"),
        (f.listed, (), "a list whose length only the run knows"),
        (f.number_or_array, (), "in one place"),
        (f.prints, (), "prints"),
        (f.draws, (), "generator"),
        (f.appends, ([1.0, 2.0],), "`found` is changed"),
    ],
    ids=lambda x: getattr(x, "__name__", ""),
)
def test_refusals(function: Callable[..., Any], args: tuple[Any, ...], told: str) -> None:
    compiled = transkern.compile(function, target="cpu")
    with pytest.raises(transkern.CompileError, match=told) as caught:
        jax.jit(lambda x: compiled(x, *args))(jnp.ones(3))
    assert caught.value.kind.code == "TK2006"


def test_arrays_do_not_change() -> None:
    compiled = transkern.compile(f.raised, target="cpu")
    with pytest.raises(TypeError, match=r"JAX array, and these cannot change(.|\n)*copy"):
        jax.jit(lambda x: compiled(x, 2))(jnp.ones(3))
    with pytest.raises(TypeError, match="return what is new"):
        jax.jit(lambda k: transkern.compile(f.chain, target="cpu")(into(np.ones(3), k), k))(jnp.float32(2))


def into(x: Any, k: Any) -> Any:
    return transkern.compile(_into, target="cpu")(x, k)


def _into(x: Any, k: Any) -> Any:
    x[0] = k
    return x


def test_errors_of_sizes_and_of_values() -> None:
    chain, looked_up = transkern.compile(f.chain, target="cpu"), transkern.compile(f.looked_up, target="cpu")
    with pytest.raises(ValueError, match=r"operands could not be broadcast together with shapes \(3,\) \(4,\)"):
        jax.jit(chain)(jnp.ones(3), jnp.ones(4))
    with pytest.raises(Exception, match=r"IndexError: index 5 is out of bounds"):
        jax.jit(looked_up)(jnp.ones(3), jnp.array([5])).block_until_ready()


def test_keys_of_random_numbers_are_no_arrays() -> None:
    with pytest.raises(TypeError, match="key_data"):
        jax.jit(transkern.compile(f.total, target="cpu"))(jax.random.key(0))


def test_sixty_four_bits_where_jax_has_them() -> None:
    halved = transkern.compile(lambda x: x / 2, target="cpu")
    with pytest.raises(TypeError, match=r"32 bits(.|\n)*jax_enable_x64"):
        jax.jit(halved)(jnp.arange(4))
    with jax.enable_x64(True):
        assert jax.jit(halved)(jnp.arange(4)).dtype == np.float64
