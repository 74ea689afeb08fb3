"""The compositions as plain Python: each is what NumPy's own function of that name gives."""

from __future__ import annotations

import ast
import importlib
import warnings
from typing import Any

import numpy as np
import pytest

from tests.corpus.registry import difference
from tests.language.array_functions import SUBJECTS, inputs
from transkern.frontend.compositions import PARTS, names

OWN = {f"{path}.{name}": part for part, path in PARTS.items() if path for name in names(part)}


def calls() -> list[str]:
    """The expressions of the language tests that are nothing but one call of such a function."""
    found = []
    for text in SUBJECTS.values():
        for line in (x.strip() for x in text.strip().splitlines()):
            node = ast.parse(line, mode="eval").body
            if isinstance(node, ast.Call) and ast.unparse(node.func).replace("np.", "numpy.") in OWN:
                found.append(line)
    return found


@pytest.mark.parametrize("line", calls())
def test_compositions_are_numpys(line: str) -> None:
    call = ast.parse(line, mode="eval").body
    assert isinstance(call, ast.Call)
    path = ast.unparse(call.func).replace("np.", "numpy.")
    part = OWN[path].replace("/", ".")
    module = importlib.import_module(f"transkern.frontend.compositions.{part}")
    call.func = ast.Name("mine", ast.Load())
    mine = ast.unparse(call)
    for seed in range(3):
        space: dict[str, Any] = {"np": np, **inputs(seed)}
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            wanted = eval(line, dict(space))
            found = eval(mine, {**space, "mine": getattr(module, path.rpartition(".")[2])})
        assert not difference(_plain(found), _plain(wanted), 64, 8.0), f"seed {seed}"


def _plain(value: Any) -> Any:
    """Scalars as arrays: NumPy as it stands gives arrays without dims where the compiler gives scalars."""
    if isinstance(value, tuple):
        return tuple(_plain(v) for v in value)
    return np.asarray(value)
