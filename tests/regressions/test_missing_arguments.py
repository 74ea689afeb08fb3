"""Calls of Python's functions without arguments that they need: refused with the name, as all of them are."""

from __future__ import annotations

import pytest

import transkern
from tests.regressions.support import alike
from tests.trust.against_python import function
from transkern.errors import CompileError, InternalError


@pytest.mark.parametrize("call", [
    "range()", "range(*[])", "slice()", "repr()", "hasattr(x)", "getattr(x)", "list(range(*(), **{}))",
    "list(itertools.combinations())", "list(itertools.permutations(r=2))", "itertools.combinations_with_replacement()",
])
def test_missing_arguments_are_named(call: str) -> None:
    f = function(f"import itertools\nreturn {call}", "x")
    with pytest.raises(TypeError):
        f(1.5)
    with pytest.raises(CompileError, match="needs `") as found:
        transkern.compile(f, target="cpu")(1.5)
    assert not isinstance(found.value, InternalError)


def test_what_is_chosen_from_may_be_named() -> None:
    alike(function("import itertools\nreturn list(itertools.combinations(iterable=(x, 2, 3), r=2))", "x"), 1.5)
