"""`transkern.dask`: what functions give for arrays in chunks, however they are cut, and what is refused."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from tests.corpus.test_corpus import cases
from tests.dask.functions import CASES
from tests.tools import require
from transkern import CompileError, compile
from transkern.runtime.compiled import Compiled

da = pytest.importorskip("dask.array")
dask = pytest.importorskip("dask")
td = pytest.importorskip("transkern.dask")
plans = pytest.importorskip("transkern.dask.plans")


@pytest.fixture(autouse=True)
def _in_this_process() -> Iterator[None]:
    require("cc")
    with dask.config.set(scheduler="synchronous"):
        yield


def _arguments(given: tuple[Any, ...], rng: np.random.Generator) -> list[Any]:
    return [rng.standard_normal(g) * 2 if isinstance(g, tuple) else g for g in given]


def _in_chunks(made: Any, values: list[Any], rng: np.random.Generator) -> list[Any]:
    """The arrays among the arguments, cut at random along the axes that may be."""
    found = list(values)
    for k, axes in made.inputs.items():
        chunks = []
        for axis, extent in zip(axes, values[k].shape, strict=True):
            cuts = sorted(set(rng.integers(1, extent, rng.integers(1, 5)).tolist())) if axis and extent > 1 else []
            chunks.append(tuple(b - a for a, b in itertools.pairwise([0, *cuts, extent])))
        found[k] = da.from_array(values[k], chunks=tuple(chunks))
    return found


def _computed(result: Any) -> Any:
    if isinstance(result, dict):
        return {key: _computed(value) for key, value in result.items()}
    if isinstance(result, (tuple, list)):
        return type(result)(map(_computed, result))
    assert isinstance(result, da.Array)
    computed = result.compute()
    assert all(extent in (size, computed.shape[k]) or extent != extent
               for k, (extent, size) in enumerate(zip(result.shape, computed.shape, strict=True)))  # fmt: skip
    assert result.dtype == computed.dtype
    return computed


def _same(one: Any, two: Any, exactly: bool = True) -> bool:
    if isinstance(two, dict):
        return list(one) == list(two) and all(_same(one[k], two[k], exactly) for k in two)
    if isinstance(two, (tuple, list)):
        return type(one) is type(two) and all(_same(a, b, exactly) for a, b in zip(one, two, strict=True))
    one, two = np.asarray(one), np.asarray(two)
    if one.dtype != two.dtype or one.shape != two.shape:
        return False
    if exactly or two.dtype.kind not in "fc":
        return one.tobytes() == two.tobytes()
    rough = 1e-4 if two.dtype in (np.float32, np.complex64, np.float16) else 1e-9
    return bool(np.allclose(one, two, rough, rough * 1e-2, equal_nan=True))


@pytest.mark.parametrize(("function", "given", "cut"), CASES, ids=[f.__name__ for f, _, _ in CASES])
def test_axes_are_cut_where_that_gives_the_arrays_results(
    function: Any, given: tuple[Any, ...], cut: dict[int, tuple[int, int]]
) -> None:
    rng = np.random.default_rng(7)
    values = _arguments(given, rng)
    compiled = Compiled(function, threads=1)
    made = plans.plan(compiled, values)
    assert {k: made.found.axes[axis] for k, axis in enumerate(made.inputs[0]) if axis} == cut
    wanted = compiled(*values)
    blas = function.__name__ == "layer"  # whose sums are in the order that suits the number of rows
    for _ in range(4 if cut else 1):
        found = _computed(td.apply(compiled, *_in_chunks(made, values, rng)))
        assert _same(found, wanted, exactly=not blas)


@pytest.mark.parametrize(("name", "case"), cases()[2::9], ids=[name for name, _ in cases()[2::9]])
def test_functions_of_the_corpus_that_are_cut_give_numpys_results(name: str, case: Any) -> None:
    """Functions that nobody wrote for this: what is cut of them is right."""
    rng = np.random.default_rng(3)
    given = case.arguments()[0]
    if not any(isinstance(a, np.ndarray) and a.ndim for a in given):
        return
    compiled = Compiled(case.function, threads=1)
    try:
        values = compiled._parameters.bind(given, {})
        wanted = compiled(*given)
        made = plans.plan(compiled, values)
    except Exception:  # the function's own, or what chunks cannot do
        return
    if made.found.axes:
        chunks = _in_chunks(made, values, rng)
        found = _computed(compiled._parameters.call(lambda *a, **k: td.apply(compiled, *a, **k), chunks))
        assert _same(found, wanted, exactly=False)


# ---- what is said ----------------------------------------------------------------------------------------------------


def _rows(x: Any, a: float) -> Any:
    y = x - x.mean(axis=1, keepdims=True)
    y[1:] = y[:-1] * a
    return y


def test_explain_says_what_may_be_cut_and_why_the_rest_may_not() -> None:
    text = td.explain(_rows, da.zeros((20, 30), chunks=5), 2.0)
    one, two = text.splitlines()
    assert one == "x axis 0: may be cut, 1 elements before and 0 behind each chunk"
    assert two.startswith("x axis 1: whole, as all of it goes into one number (")
    assert two.endswith("y = x - x.mean(axis=1, keepdims=True))")


def test_an_axis_that_has_to_be_whole_is_told_with_its_line() -> None:
    x = da.from_array(np.arange(600.0).reshape(20, 30), chunks=(5, 10))
    with pytest.raises(CompileError) as caught:
        td.apply(_rows, x, 2.0)
    said = str(caught.value)
    assert said.startswith("axis 1 of `x` has 3 chunks, and has to be whole: all of it goes into one number (")
    assert "x.mean(axis=1, keepdims=True)" in said and "[TK2005]" in said
    assert "help: x.rechunk({1: -1}), or apply(..., rechunk=True)" in said
    found = td.apply(_rows, x, 2.0, rechunk=True)
    assert found.chunks == ((5, 5, 5, 5), (30,))
    assert _same(found.compute(), _rows(x.compute(), 2.0))


def _writes(x: Any) -> Any:
    x[0] = 1
    return x


def _number(x: Any) -> Any:
    return x.sum()


def _twice(x: Any, k: int) -> Any:
    if k > 1:
        return x
    return x + 1


@pytest.mark.parametrize(
    ("function", "given", "said"),
    [
        (_writes, (), "`_writes` writes into `x`, and chunks are not written into"),
        (_number, (), "`_number` returns something else than arrays"),
        (_twice, (3,), "`_twice` returns in 2 places"),
    ],
)
def test_what_chunks_cannot_do_is_refused(function: Any, given: tuple[Any, ...], said: str) -> None:
    with pytest.raises(CompileError) as caught:
        td.apply(function, da.zeros(20, chunks=5), *given)
    assert said in str(caught.value) and "help:" in str(caught.value)


def test_chunks_of_unknown_size_are_refused() -> None:
    x = da.arange(20, chunks=5)
    with pytest.raises(CompileError, match="`x` has chunks of unknown size"):
        td.apply(lambda x: x + 1, x[x > 3])


# ---- arguments -------------------------------------------------------------------------------------------------------


def _scaled(x: Any, by: float = 2.0, *, mode: str = "up") -> Any:
    return x * by if mode == "up" else x / by


def test_arguments_by_name_defaults_and_arrays_of_numpy() -> None:
    x = np.arange(12.0)
    chunks = da.from_array(x, chunks=5)
    assert _same(td.apply(_scaled, x=chunks).compute(), x * 2)
    assert _same(td.apply(_scaled, chunks, mode="down", by=4.0).compute(), x / 4)
    both = td.apply(lambda a, b: a + b.max(), chunks, x)
    assert both.numblocks == (3,) and _same(both.compute(), x + 11)


def test_a_compiled_function_keeps_its_options_and_overlap_below_small_chunks() -> None:
    def near(x: Any, reach: int) -> Any:
        out = x.copy()
        for _ in range(reach):
            out[1:-1] = (out[2:] + out[:-2]) / 2
        return out

    x = np.random.default_rng(0).standard_normal(50)
    for reach in (0, 1, 9):
        found = td.apply(compile(near, threads=1), da.from_array(x, chunks=3), reach)
        assert _same(found.compute(), near(x, reach))


def test_errors_of_blocks_are_the_functions_own() -> None:
    def checked(x: Any) -> Any:
        for i in range(len(x)):
            if x[i] < 0:
                raise ValueError("negative")
        return np.sqrt(x)

    x = np.arange(20.0)
    assert _same(td.apply(checked, da.from_array(x, chunks=6)).compute(), np.sqrt(x))
    x[13] = -1
    with pytest.raises(ValueError, match="negative"):
        td.apply(checked, da.from_array(x, chunks=6)).compute()
