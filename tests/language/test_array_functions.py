"""NumPy's array functions against NumPy on the CPU: see `array_functions` for the expressions."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import transkern
from tests.corpus.registry import difference, outcome
from tests.language.array_functions import ERRORS, REFUSED, SUBJECTS, inputs
from tests.tools import require

TOGETHER = 16  # expressions in a function: a compilation costs more than what is compiled


def parts() -> Iterator[tuple[str, float, list[str]]]:
    for subject, text in SUBJECTS.items():
        name, _, ulps = subject.partition("~")
        lines = [line.strip() for line in text.strip().splitlines()]
        for start in range(0, len(lines), TOGETHER):
            yield f"{name.strip()}-{start}", float(ulps or 0), lines[start : start + TOGETHER]


def function(lines: list[str], folder: Path) -> tuple[Callable[..., Any], list[str]]:
    """A function that returns the values of expressions, and the names of its parameters."""
    names = {n.id for line in lines for n in ast.walk(ast.parse(line)) if isinstance(n, ast.Name)}
    parameters = [n for n in inputs(0) if n in names]
    values = "".join(f"        {line},\n" for line in lines)
    path = folder / "example.py"
    path.write_text(
        f"import numpy as np\n\n\ndef example({', '.join(parameters)}):\n    return (\n{values}    )\n", encoding="utf-8"
    )
    space: dict[str, Any] = {"np": np, "__name__": "example"}
    exec(compile(path.read_text(encoding="utf-8"), str(path), "exec"), space)
    return space["example"], parameters


@pytest.mark.parametrize(("name", "ulps", "lines"), list(parts()), ids=lambda v: v if isinstance(v, str) else "")
def test_expressions(name: str, ulps: float, lines: list[str], tmp_path: Path) -> None:
    require("cc")
    plain, parameters = function(lines, tmp_path)
    compiled = transkern.compile(plain, target="cpu")
    for seed in range(3):
        arguments = tuple(inputs(seed)[p] for p in parameters)
        wanted, found = outcome(plain, arguments), outcome(compiled, arguments)
        assert wanted.error is None, f"NumPy itself: {wanted.error!r}"
        if found.error is not None:
            raise found.error
        for line, mine, theirs in zip(lines, found.result, wanted.result, strict=True):
            assert not difference(mine, theirs, ulps, 8.0 if ulps else 0.0), f"{line}, seed {seed}"
        assert not difference(found.arguments, wanted.arguments)
        assert found.views == wanted.views


@pytest.mark.parametrize("line", ERRORS)
def test_errors_are_numpys(line: str, tmp_path: Path) -> None:
    require("cc")
    plain, parameters = function([line], tmp_path)
    arguments = tuple(inputs(0)[p] for p in parameters)
    wanted, found = outcome(plain, arguments), outcome(transkern.compile(plain, target="cpu"), arguments)
    assert wanted.error is not None
    assert (type(found.error), str(found.error)) == (type(wanted.error), str(wanted.error))


@pytest.mark.parametrize(("line", "message"), REFUSED.items())
def test_refusals_say_what(line: str, message: str, tmp_path: Path) -> None:
    plain, parameters = function([line], tmp_path)
    with pytest.raises(transkern.CompileError) as caught:
        transkern.compile(plain, target="cpu")(*(inputs(0)[p] for p in parameters))
    assert message in str(caught.value)
    assert "example.py:" in str(caught.value) and "^" in str(caught.value)
