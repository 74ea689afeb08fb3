"""Each example on each target: NumPy's answer, from as few kernels as promised."""

from __future__ import annotations

import runpy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import transkern
from tests.tools import example, on_target, require

SIZES: dict[str, dict[str, int]] = {
    "sigmoid": {"n": 1003},
    "adam": {"n": 1003},
    "lstm": {"batch": 7, "hidden": 33},
    "residual": {"batch": 2, "channels": 3, "height": 5, "width": 67},
    "softmax": {"rows": 9, "columns": 131},
    "layernorm": {"rows": 9, "columns": 131},
}
"""The fused examples, and sizes that are no multiple of anything."""

NMS = ("nms", "nms_descending", "nms_delete", "nms_flags")


@pytest.fixture(params=["cpu-float32", "cpu-float64", "cuda-float32", "cuda-float64", "pallas-float32"])
def target(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> tuple[str, type]:
    """A target and a dtype that it has."""
    name, dtype = request.param.split("-")
    return on_target(name, monkeypatch), getattr(np, dtype)


def outcome(function: Callable[..., Any], args: tuple[Any, ...]) -> list[np.ndarray[Any, Any]]:
    """The results and the arguments after a call, which may have changed them."""
    result = function(*args)
    results = result if isinstance(result, tuple) else () if result is None else (result,)
    return [np.asarray(a) for a in (*results, *args)]


@pytest.mark.parametrize("name", SIZES)
def test_fused_examples(name: str, target: tuple[str, type]) -> None:
    module, dtype = example(name), target[1]
    function = getattr(module, name)
    compiled = transkern.compile(function, target=target[0])
    expected = outcome(function, module.arguments(**SIZES[name], dtype=dtype))
    found = outcome(compiled, module.arguments(**SIZES[name], dtype=dtype))
    # A few roundings of float32, in exponentials and in sums whose order differs.
    tolerance = {np.float32: 3e-6, np.float64: 1e-14}[dtype]
    for mine, theirs in zip(found, expected, strict=True):
        assert mine.dtype == theirs.dtype and mine.shape == theirs.shape
        np.testing.assert_allclose(mine, theirs, rtol=tolerance, atol=2 * tolerance)
    assert compiled.kernels == 1
    assert tuple(compiled.temporaries) == ()


@pytest.mark.parametrize("name", NMS)
def test_nms(name: str, target: tuple[str, type]) -> None:
    module, dtype = example("nms"), target[1]
    function = getattr(module, name)
    args = module.arguments(300, dtype)[function]
    kept, expected = transkern.compile(function, target=target[0])(*args), function(*args)
    assert type(kept) is type(expected) and len(kept) == len(expected) > 20
    assert [type(k) for k in kept] == [type(k) for k in expected]
    np.testing.assert_array_equal(kept, expected)


@pytest.mark.parametrize("name", ["nms", *SIZES])
def test_examples_run_as_programs(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    require("cc")
    runpy.run_path(str(Path(__file__).parents[1] / "examples" / f"{name}.py"), run_name="__main__")
    assert "NumPy" in capsys.readouterr().out
