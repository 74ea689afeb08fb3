"""What the documents say is so: every example of docs/language.md is compiled, every refusal is provoked."""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import transkern
from tests.corpus import refusals
from tests.tools import require
from transkern.frontend.numpy.methods import METHODS
from transkern.frontend.numpy.ufuncs import UFUNCS
from transkern.frontend.python.math_module import FUNCTIONS as _MATH
from transkern.frontend.translate.arguments import TABLE
from transkern.fuse.passes import CUDA_PASSES, DEVICE_PASSES, PASSES

DOCS = Path(__file__).parents[1] / "docs"
LANGUAGE = (DOCS / "language.md").read_text(encoding="utf-8")
PARAMETERS = "x, y, a, b, p, m, k, t"


def section(title: str) -> str:
    return LANGUAGE.split(f"\n## {title}", 1)[1].split("\n## ", 1)[0]


def rows(title: str) -> list[tuple[str, ...]]:
    """The cells of a section's table, without its head; ``\\|`` is a bar inside a cell."""
    lines = [line for line in section(title).splitlines() if line.startswith("|")]
    cells = [re.split(r"(?<!\\)\|", line)[1:-1] for line in lines[2:]]
    return [tuple(c.strip().replace("\\|", "|") for c in row) for row in cells]


def arguments(count: int = 0) -> dict[str, Any]:
    random = np.random.default_rng(count)
    return {
        "x": random.normal(0, 2, 7),
        "y": random.normal(0, 2, 7),
        "a": random.normal(0, 2, (3, 4)),
        "b": random.normal(0, 2, (4, 3)),
        "p": random.permutation(4),
        "m": random.random(7) < 0.5,
        "k": 2,
        "t": 1.25,
    }


def function(text: str, name: str, folder: Path) -> Callable[..., Any]:
    """A function from source text, in a file: the compiler reads sources."""
    path = folder / f"{name}.py"
    path.write_text("import math\n\nimport numpy as np\n\n\n" + text, encoding="utf-8")
    space: dict[str, Any] = {"np": np, "math": math, "__name__": name}
    exec(compile(path.read_text(encoding="utf-8"), str(path), "exec"), space)
    return space[name]


def compare(found: Any, expected: Any) -> None:
    if isinstance(expected, (tuple, list)):
        assert type(found) is type(expected) and len(found) == len(expected)
        for mine, theirs in zip(found, expected, strict=True):
            compare(mine, theirs)
        return
    assert type(found) is type(expected)
    if isinstance(expected, dict):
        compare(list(found.items()), list(expected.items()))
        return
    if isinstance(expected, str):
        assert found == expected
        return
    if isinstance(expected, np.ndarray):
        assert (found.dtype, found.shape) == (expected.dtype, expected.shape)
    np.testing.assert_allclose(found, expected, rtol=1e-13, atol=1e-14)


@pytest.mark.parametrize("row", rows("Expressions"), ids=lambda row: row[0])
def test_expressions(row: tuple[str, ...], tmp_path: Path) -> None:
    require("cc")
    plain = function(f"def example({PARAMETERS}):\n    return {row[1].strip('`')}\n", "example", tmp_path)
    compiled = transkern.compile(plain, target="cpu")
    for count in range(3):
        with np.errstate(all="ignore"):
            expected = plain(**arguments(count))
        compare(compiled(**arguments(count)), expected)


BLOCKS = re.findall(r"```python\n(def (\w+).*?)```", LANGUAGE, re.S)


@pytest.mark.parametrize(("text", "name"), BLOCKS, ids=[name for _, name in BLOCKS])
def test_statements(text: str, name: str, tmp_path: Path) -> None:
    require("cc")
    plain = function(text, name, tmp_path)
    names = [a.arg for a in ast.parse(text).body[0].args.args]  # type: ignore[attr-defined]
    compiled = transkern.compile(plain, target="cpu")
    for count in range(5):
        mine, theirs = ([arguments(count)[n] for n in names] for _ in range(2))
        compare(compiled(*mine), plain(*theirs))
        compare(mine, theirs)  # what the function did to its arguments


@pytest.mark.parametrize("row", rows("Refused, with what message"), ids=lambda row: row[0])
def test_refusals(row: tuple[str, ...], tmp_path: Path) -> None:
    plain = function(f"def example({PARAMETERS}):\n    return {row[1].strip('`')}\n", "example", tmp_path)
    with pytest.raises(transkern.CompileError) as caught:
        transkern.compile(plain, target="cpu")(**arguments())
    assert row[2] in str(caught.value)
    assert f"{tmp_path}/example.py:7:" in str(caught.value) and "^" in str(caught.value)


def test_what_the_targets_refuse_is_told_as_it_is() -> None:
    """After a change of the corpus or of a target: python -m tests.corpus.refusals."""
    require("jax", "astor")
    assert f"-->\n{refusals.section()}<!-- end -->" in section("On the targets")


def test_lists_of_functions_are_complete() -> None:
    listed = set(re.findall(r"`(\w+)`", section("Expressions")))
    tables = {p.rpartition(".")[2] for p in TABLE if not p.startswith("transkern.")}
    tables |= set(METHODS) | set(_MATH) | set(UFUNCS)
    aliases = {
        "acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "pow", "bitwise_invert", "bitwise_left_shift",
        "bitwise_right_shift", "default_rng", "map", "product",
    }  # fmt: skip
    assert not tables - aliases - listed


def test_every_pass_is_explained() -> None:
    design = (DOCS / "design.md").read_text(encoding="utf-8")
    assert [p.__name__ for p in (*PASSES, *DEVICE_PASSES, *CUDA_PASSES) if f"`{p.__name__}`" not in design] == []


def test_links_of_the_readme_lead_somewhere() -> None:
    """Those of the documents, and which of them the navigation names: tests/site."""
    root = DOCS.parent
    for link in re.findall(r"\]\(([^)#:]+)\)", (root / "README.md").read_text(encoding="utf-8")):
        assert (root / link).exists(), link
