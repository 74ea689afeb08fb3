"""Arrays of PyTorch and JAX: results of their kind, no gradient lost without a word, no change unnoticed."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pytest

import transkern
from tests.tools import has, require

needs_torch = pytest.mark.skipif(not has("torch"), reason="PyTorch is not installed")


class Pair(NamedTuple):
    doubled: Any
    total: Any


def several(x: Any) -> Any:
    return Pair(x * 2, x.sum()), {"x": x + 1, "n": 3}, [x, x[::-1]], None


def activated(x: Any) -> Any:
    return np.exp(-x * x) * 2


def total(x: Any) -> Any:
    return (x * x).sum()


def changed(x: Any, by: Any) -> Any:
    x *= by
    return x.sum()


def fails_midway(x: Any, k: int) -> Any:
    x[0] = 7
    return x[k]


def added(x: Any, y: Any) -> Any:
    return x + y


def twice(x: Any, k: int) -> Any:
    return x * k + k


compiled = {f: transkern.compile(f) for f in (several, activated, total, changed, fails_midway, added, twice)}


# ---- PyTorch -------------------------------------------------------------------------------------------------------


@needs_torch
def test_a_gradient_that_would_be_lost_is_an_error() -> None:
    """It was cut off without a word: `(act(w) + w**2).sum().backward()` missed `act`."""
    import torch

    w = torch.ones(4, requires_grad=True)
    for argument in (w, w * 2, torch.nn.Parameter(torch.ones(4))):
        with pytest.raises(TypeError, match=r"requires gradients(.|\n)*detach\(\)(.|\n)*no_grad"):
            compiled[activated](argument)
    for given in (w.detach(), torch.ones(4)):
        assert type(compiled[activated](given)) is torch.Tensor
    with torch.no_grad():
        made = compiled[activated](w)
    assert not made.requires_grad
    np.testing.assert_allclose(made.numpy(), activated(np.ones(4, np.float32)), rtol=1e-6)
    with pytest.raises(TypeError, match="requires gradients"):
        transkern.compile(lambda pair: pair[0] + pair[1])([w, w.detach()])


@needs_torch
def test_a_store_is_a_new_version() -> None:
    """A tensor saved for a gradient that has been changed since is an error of PyTorch's, not a wrong gradient."""
    import torch

    w = torch.ones(3, requires_grad=True)
    y = w * 2
    loss = (y * y).sum()
    z = y.detach()
    before = z._version
    assert compiled[changed](z, 3.0) == 18
    assert z._version > before
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        loss.backward()
    before = z._version
    with pytest.raises(IndexError):
        compiled[fails_midway](z, 9)
    assert z._version > before and z[0] == 7
    before = z._version
    compiled[activated](z)
    assert z._version == before
    with torch.no_grad():
        compiled[changed](w, 2.0)
    assert w._version > 0 and w[0] == 2
    with torch.inference_mode():
        assert compiled[changed](torch.ones(2), 2.0) == 4


@needs_torch
def test_versions_with_code_from_the_disk_cache(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    import torch

    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    for _ in range(2):
        again, x = transkern.compile(changed), torch.ones(3)
        again(x, 2.0)
        assert x._version == 1
    assert again.cache_info().from_disk == 1


@needs_torch
def test_results_are_tensors() -> None:
    import torch

    x = torch.arange(4.0)
    pair, table, both, nothing = compiled[several](x)
    assert type(pair) is Pair and type(pair.doubled) is torch.Tensor and pair.total == 6 and nothing is None
    assert type(table["x"]) is torch.Tensor and table["n"] == 3
    assert both[0] is x and both[1].tolist() == [3, 2, 1, 0]
    for given in (torch.ones(2, 3).T, torch.arange(6.0)[::2], torch.tensor(2.0), torch.arange(3), torch.ones(2).bool()):
        found = compiled[added](given, given)
        np.testing.assert_array_equal(np.asarray(found), np.asarray(given) + np.asarray(given))
    assert compiled[added](np.arange(4.0), x).dtype == torch.float64
    conjugated = torch.tensor([1 + 2j, 3j]).conj()
    assert compiled[added](conjugated, conjugated).tolist() == [2 - 4j, -6j]
    with pytest.raises(ValueError, match="read-only"):
        compiled[changed](conjugated, 2.0)


@needs_torch
def test_tensors_that_numpy_has_not_are_errors_that_say_so() -> None:
    import torch

    for given, help in (
        (torch.ones(3).bfloat16(), r"\.float\(\)"),
        (torch.ones(3, device="meta"), r"'meta'.*\.cpu\(\)"),
        (torch.ones(3).to_sparse(), r"to_dense\(\)"),
    ):
        with pytest.raises(TypeError, match=help):
            compiled[activated](given)


@needs_torch
def test_several_kinds_at_once_are_an_error() -> None:
    require("jax")
    import jax.numpy as jnp
    import torch

    for pair in ((torch.ones(2), jnp.ones(2)), (jnp.ones(2), torch.ones(2))):
        with pytest.raises(TypeError, match="PyTorch"):
            compiled[added](*pair)


# ---- JAX -----------------------------------------------------------------------------------------------------------


def test_results_are_jax_arrays() -> None:
    require("jax")
    import jax
    import jax.numpy as jnp

    x = jnp.arange(4.0)
    pair, table, both, nothing = compiled[several](x)
    assert type(pair) is Pair and isinstance(pair.doubled, jax.Array) and pair.total == 6 and nothing is None
    assert isinstance(table["x"], jax.Array) and table["n"] == 3
    assert both[1].tolist() == [3, 2, 1, 0]
    assert transkern.compile(lambda x: x[1:])(x).tolist() == [1, 2, 3]
    assert isinstance(compiled[added](np.arange(4.0, dtype=np.float32), x), jax.Array)
    assert isinstance(transkern.compile(activated, target="cpu")(x), jax.Array)


@pytest.mark.parametrize("target", ["pallas", "cpu"])
def test_a_jax_array_cannot_be_stored_into(target: str) -> None:
    """A pair of the result and the new arrays came back on one target, an inner error on another."""
    require("jax")
    import jax.numpy as jnp

    x = jnp.ones(3)
    with pytest.raises(TypeError, match=r"JAX array, and these cannot change(.|\n)*copy"):
        transkern.compile(changed, target=target)(x, 2.0)
    assert x.tolist() == [1, 1, 1]


def test_numpys_array_beside_one_of_jax_is_stored_into() -> None:
    require("jax")
    import jax.numpy as jnp

    a = np.ones(3, np.float32)
    assert compiled[changed](a, jnp.full(3, 2, np.float32)) == 6
    assert a.tolist() == [2, 2, 2]


def test_transformations_of_compiled_functions() -> None:
    require("jax")
    import jax
    import jax.numpy as jnp

    x = jnp.arange(4.0)
    np.testing.assert_allclose(jax.jit(compiled[activated])(x), activated(np.arange(4.0, dtype=np.float32)), rtol=1e-6)
    assert jax.jit(compiled[total])(x) == 14
    assert jax.jit(lambda x: compiled[twice](x, 2))(x).tolist() == [2, 4, 6, 8]
    with pytest.raises(TypeError, match=r"32 bits(.|\n)*jax_enable_x64"):  # k is an array of int32 there
        jax.jit(compiled[twice])(x, 2)
    with jax.enable_x64(True):
        assert jax.jit(compiled[twice])(x, 2).tolist() == [2, 4, 6, 8]
    assert jax.vmap(compiled[total])(jnp.ones((3, 4))).tolist() == [4, 4, 4]
    assert type(jax.jit(lambda x: compiled[several](x)[0])(x)) is Pair
    for derivative in (jax.grad(compiled[total]), jax.grad(jax.jit(compiled[total]))):
        with pytest.raises(TypeError, match=r"no derivative(.|\n)*custom_vjp"):
            derivative(x)
    assert jax.jit(transkern.compile(total, target="cpu"))(x) == 14
    assert jax.jit(transkern.compile(total, target="pallas"))(x) == 14
    with pytest.raises(TypeError, match="JAX traces this call"):
        jax.jit(lambda y: compiled[changed](np.ones(3, np.float32), y))(jnp.float32(2))


def test_what_jax_has_and_numpy_has_not() -> None:
    require("jax")
    import jax.numpy as jnp

    with pytest.raises(transkern.CompileError, match="bfloat16 is not supported"):
        compiled[activated](jnp.ones(3, jnp.bfloat16))
