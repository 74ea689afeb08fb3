"""The corpus against NumPy: results with their types and dtypes, changed arguments, views, and exceptions.

On the CPU always; `TRANSKERN_CORPUS=cuda`, `pallas` or `all` adds the simulated CUDA device and interpreted Pallas.
What a target refuses stands in the case, and is tested too: a refusal that is no longer one fails.
"""

from __future__ import annotations

import importlib
import os
from pathlib import Path

import pytest

import transkern
from tests.corpus.registry import Case, difference, outcome
from tests.tools import on_target

_ASKED = os.environ.get("TRANSKERN_CORPUS", "")
TARGETS = ["cpu", *(t for t in ("cuda", "pallas") if _ASKED in (t, "all"))]


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


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("case", [pytest.param(case, id=name) for name, case in cases()])
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
        assert not difference(found.result, wanted.result, ulps, case.scale)
        assert not difference(found.arguments, wanted.arguments, ulps, case.scale), "an argument differs after the call"
        if target == "cpu":
            assert found.views == wanted.views, "a result is a view in one and a copy in the other"


def test_names_are_unique() -> None:
    names = [name for name, _ in cases()]
    assert len(names) == len(set(names))
