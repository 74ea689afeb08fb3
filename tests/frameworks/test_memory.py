"""Whose memory results and arguments are: no copies between libraries, and none shared that should not be."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

import transkern
from tests.frameworks import functions as f
from tests.tools import has, optional, require

require("cc")

MANY = 100_000  # elements of more than 128 KiB


def doubled(x: Any) -> Any:
    return x * 2


def first(x: Any) -> Any:
    x[0] = 7
    return x[1:]


def numbers(x: Any) -> Any:
    return {"sum": x.sum(), "more": [x.max(), float(x.min()), len(x)], "fit": f.Fit(x.mean(), x + 1)}


KEPT = transkern.compile(doubled)(np.ones(MANY))


def kept(x: Any) -> Any:
    return KEPT, x * 2


def address(array: Any) -> int:
    return int(np.asarray(array).ctypes.data)


def test_tensors_are_read_and_written_where_they_are() -> None:
    torch = optional("torch")
    x = torch.zeros(5)
    made = transkern.compile(first)(x)
    assert x[0] == 7 and made.data_ptr() == x.data_ptr() + 4
    result = transkern.compile(doubled)(torch.ones(MANY))
    assert type(result) is torch.Tensor and address(np.from_dlpack(result)) == result.data_ptr()


def test_results_go_to_torch_without_a_copy(monkeypatch: pytest.MonkeyPatch) -> None:
    torch = optional("torch")
    made: list[Any] = []
    real = torch.from_numpy
    monkeypatch.setattr(torch, "from_numpy", lambda array: made.append(array) or real(array))
    for n in (3, MANY):
        result = transkern.compile(doubled)(torch.ones(n))
        assert address(made[-1]) == result.data_ptr()


def test_numbers_are_tensors_without_axes() -> None:
    torch = optional("torch")
    made = transkern.compile(numbers)(torch.arange(4.0))
    assert type(made["sum"]) is torch.Tensor and made["sum"].shape == () and made["sum"] == 6
    assert type(made["more"][0]) is torch.Tensor and made["more"][1:] == [0.0, 4]
    assert type(made["more"][1]) is float and type(made["more"][2]) is int
    assert type(made["fit"]) is f.Fit and made["fit"].slope == 1.5 and made["fit"].rest.tolist() == [1, 2, 3, 4]
    assert type(made["fit"].rest) is torch.Tensor


def test_containers_that_are_arguments_come_back_as_they_are() -> None:
    torch = optional("torch")
    given, box = [torch.ones(2), 3], f.Fit(torch.ones(2), 1)
    compiled = transkern.compile(lambda given, box: (given, box, given[0] + box.slope))
    one, two, total = compiled(given, box)
    assert one is given and two is box and total.tolist() == [2, 2]


def test_jax_arrays_on_the_cpu_go_to_the_cpu() -> None:
    require("jax")
    import jax
    import jax.numpy as jnp

    compiled = transkern.compile(numbers)
    made = compiled(jnp.arange(4.0))
    assert compiled.cache_info().specialisations[0].startswith("cpu:")
    assert isinstance(made["sum"], jax.Array) and made["sum"].shape == () and made["sum"] == 6
    assert type(made["fit"]) is f.Fit and isinstance(made["fit"].rest, jax.Array) and made["more"][1:] == [0.0, 4]
    given = {"a": [jnp.ones(2)], "b": jnp.arange(2.0)}
    found = transkern.compile(lambda given: {"s": given["a"][0] + given["b"]})(given)
    assert isinstance(found["s"], jax.Array) and found["s"].tolist() == [1, 2]


def test_jax_arrays_are_read_where_they_are_and_results_are_too(monkeypatch: pytest.MonkeyPatch) -> None:
    require("jax")
    import jax
    import jax.numpy as jnp

    made: list[Any] = []
    real = jax.dlpack.from_dlpack
    monkeypatch.setattr(jax.dlpack, "from_dlpack", lambda array: made.append(array) or real(array))
    x = jnp.ones(MANY)
    result = transkern.compile(doubled)(x)
    assert address(made[-1]) == result.unsafe_buffer_pointer()
    assert result.dtype == np.float32 and result.sum() == 2 * MANY
    whole = transkern.compile(lambda x: x)(x)
    assert whole is x


def test_arrays_of_the_caller_are_copied_for_jax() -> None:
    """JAX arrays cannot change: none may show memory that somebody else writes into."""
    require("jax")
    import jax.numpy as jnp

    x, a = jnp.ones(4), np.zeros(MANY)
    part, _ = transkern.compile(lambda a, x: (a[1:], x))(a, x)
    a[:] = 5
    assert not np.asarray(part).any()
    known, _ = transkern.compile(kept)(x)
    KEPT[:] = 9
    try:
        assert known[0] == 2
    finally:
        KEPT[:] = 2


def test_sixty_four_bits_stay() -> None:
    require("jax")
    import jax.numpy as jnp

    found = transkern.compile(lambda x: (x / 2, x.sum(), np.float64(0.1)))(jnp.arange(3))
    assert [a.dtype for a in found] == [np.float64, np.int64, np.float64]


@pytest.mark.skipif(not has("jax"), reason="JAX is not installed")
@pytest.mark.parametrize("dtype", ["bool", "int8", "uint16", "float16", "float32", "complex64"])
def test_dtypes(dtype: str) -> None:
    import jax.numpy as jnp

    for n in (0, 1, 5, MANY):
        x = np.ones(n, dtype)
        found = transkern.compile(lambda x: (x, x[::-1], x.copy()))(jnp.asarray(x))
        for array in found:
            assert array.dtype == x.dtype and array.shape == x.shape
            np.testing.assert_array_equal(np.asarray(array), x)


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint16", "uint64", "float16", "float32", "complex128"])
def test_dtypes_of_torch(dtype: str) -> None:
    torch = optional("torch")
    for n in (0, 1, 5):
        x = np.ones(n, dtype)
        found = transkern.compile(lambda x: (x[::-1], x.copy(), x[:0]))(torch.from_numpy(x))
        for array, wanted in zip(found, (x[::-1], x, x[:0]), strict=True):
            assert array.numpy().dtype == x.dtype
            np.testing.assert_array_equal(array.numpy(), wanted)


def test_dlpack_of_other_libraries() -> None:
    """An array that speaks DLPack alone is refused with what to write, which shares its memory."""

    @dataclasses.dataclass
    class Tensor:
        memory: Any

        def __dlpack__(self, **given: Any) -> Any:
            return self.memory.__dlpack__(**given)

        def __dlpack_device__(self) -> Any:
            return self.memory.__dlpack_device__()

        def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
            return self.memory

    x = Tensor(np.zeros(4))
    with pytest.raises(transkern.CompileError, match=r"without a copy: np\.from_dlpack\(x\)"):
        transkern.compile(first)(x)
    transkern.compile(first)(np.from_dlpack(x.memory))
    assert x.memory[0] == 7
    assert address(np.from_dlpack(transkern.compile(doubled)(np.ones(3)))) != 0
