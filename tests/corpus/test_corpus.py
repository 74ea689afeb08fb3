"""The corpus against NumPy: results with their types and dtypes, changed arguments, views, and exceptions.

On the CPU all of it; on the simulated CUDA device and interpreted Pallas every eighth case, and all of them with
`TRANSKERN_CORPUS=cuda`, `pallas` or `all` (`make corpus`). What a target refuses stands in the case, and is tested too:
a refusal that is no longer one fails.
"""

from __future__ import annotations

import importlib
import os
from pathlib import Path
from typing import Any

import pytest

import transkern
from tests.corpus.registry import Case, difference, outcome
from tests.tools import on_target

ASKED = os.environ.get("TRANSKERN_CORPUS", "")
_FIRST = {"cuda": 0, "pallas": 4}
_EVERY = 8


def cases() -> list[tuple[str, Case]]:
    """All cases, named by module and function."""
    found = []
    for path in sorted(Path(__file__).parent.glob("[a-z]*_*.py")):
        if not path.name.startswith("test_"):
            module = importlib.import_module(f"tests.corpus.{path.stem}")
            for case in module.CASES:  # a function may have several cases
                name = f"{path.stem}-{case.function.__name__}"
                seen = sum(known.partition("#")[0] == name for known, _ in found)
                found.append((f"{name}#{seen + 1}" if seen else name, case))
    return found


def _share(target: str) -> list[Any]:
    """The cases to run on a target."""
    whole = target == "cpu" or ASKED in (target, "all")
    chosen = cases() if whole else cases()[_FIRST[target] :: _EVERY]
    return [pytest.param(case, target, id=f"{name}-{target}") for name, case in chosen]


@pytest.mark.parametrize(("case", "target"), [*_share("cpu"), *_share("cuda"), *_share("pallas")])
def test_corpus(case: Case, target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    on_target(target, monkeypatch)
    compiled = transkern.compile(case.function, target=target)
    if target in case.refused:
        with pytest.raises(transkern.CompileError) as caught:
            for arguments in case.arguments():
                compiled(*arguments)
        assert case.refused[target] in str(caught.value)
        return
    ulps = case.ulps if target == "cpu" else 4 * case.ulps
    for arguments in case.arguments():
        wanted = outcome(case.function, arguments)
        found = outcome(compiled, arguments)
        if isinstance(found.error, transkern.CompileError):
            raise found.error
        assert (type(found.error), str(found.error)) == (type(wanted.error), str(wanted.error))
        flushed = target == "pallas"  # XLA's code for CPUs, as a TPU, makes zeros of subnormal results
        assert not difference(found.result, wanted.result, ulps, case.scale, flushed)
        assert not difference(found.arguments, wanted.arguments, ulps, case.scale, flushed), "an argument differs"
        if target == "cpu":
            assert found.views == wanted.views, "a result is a view in one and a copy in the other"


@pytest.mark.parametrize(("target", "share"), [("cpu", 0.01), ("cuda", 0.1), ("pallas", 0.1)])
def test_few_are_refused(target: str, share: float) -> None:
    refused = [name for name, case in cases() if target in case.refused]
    assert len(refused) < share * len(cases()), refused


def test_names_are_unique() -> None:
    names = [name for name, _ in cases()]
    assert len(names) == len(set(names))
