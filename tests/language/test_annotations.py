"""The types of parameters as annotations say them: in texts of ours, of NumPy's codes, in quotes; and what is none."""

from __future__ import annotations

from pathlib import Path

import pytest

from transkern.checking.functions import check_file
from transkern.errors import CompileError, TypesNeeded
from transkern.frontend.values.types import parse_signature
from transkern.runtime.emitting import emit_files

GIVEN = [
    ('x: "float32[n, 4]"', "float32[n, 4]"), ('x: "f8[:, :]"', "float64[x_0, x_1]"), ('x: "np.int8[:]"', "int8[x_0]"),
    ('x: "numpy.uint16[ 3 , : ] strided"', "uint16[3, x_1] strided"), ('x: "c16"', "complex128"), ("x: int", "int"),
    ('x: "int"', "int"), ("x=2.0", "float"), ('x: Float32[np.ndarray, "n 4"]', "float32[n, 4]"),
    ("x: 'Float[np.ndarray, \"n\"]'", "float64[n]"),
]  # fmt: skip
UNSAID = [
    "x", 'x: "np.ndarray"', "x: np.ndarray", 'x: "float32 | None"', 'x: "list[float]"', 'x: "("',
    'x: Float[np.ndarray, "*batch n"]', 'x: "no words of code"',
]  # fmt: skip
WRONG = ['x: "float64[n, -1]"', 'x: "f4[n + 1]"', 'x: "int8[9999999999999999999]"']


def _file(folder: Path, parameter: str) -> Path:
    path = folder / "f.py"
    path.write_text(f"import numpy as np\n\n\ndef f({parameter}):\n    return x * 2\n")
    return path


def _text(path: Path) -> str:
    return emit_files(path, None, "cpu", None)["f.c"]


@pytest.mark.parametrize(("parameter", "kind"), GIVEN)
def test_types_that_annotations_say(tmp_path: Path, parameter: str, kind: str) -> None:
    assert f"// f(x: {kind})" in _text(_file(tmp_path, parameter))


@pytest.mark.parametrize("parameter", UNSAID)
def test_annotations_of_others(tmp_path: Path, parameter: str) -> None:
    with pytest.raises(TypesNeeded, match=r"the types of `f\(x\)` are not known"):
        _text(_file(tmp_path, parameter))


@pytest.mark.parametrize("parameter", WRONG)
def test_annotations_that_say_no_type(tmp_path: Path, parameter: str) -> None:
    """They are shown at their place, and `check` does not take them for types that are not known."""
    path = _file(tmp_path, parameter)
    with pytest.raises(CompileError) as error:
        _text(path)
    assert str(error.value).startswith(f"{path}:4:10: annotation of `x`: ")
    (one,) = check_file(path)
    assert one.outcome == "refused" and "annotation of `x`" in str(one.refusals[0])


def test_sizes_without_a_name_are_not_equal() -> None:
    _, (a, b) = parse_signature("f(f8[:], f8[:])")
    assert a != b
