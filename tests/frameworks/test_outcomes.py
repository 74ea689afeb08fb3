"""What is known of a result before a run, against what NumPy returns: structure, dtypes and sizes."""

from __future__ import annotations

import copy
import re
import warnings
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numpy as np
import pytest

import transkern
from tests.corpus.registry import Case
from tests.corpus.test_corpus import cases
from tests.language.test_language import CASES as LANGUAGE
from transkern.analysis.outcomes import ArrayOf, Fixed, Itself, Made, NumberOf, Part
from transkern.analysis.sizes import Sizes, Unknown
from transkern.errors import CompileError
from transkern.frameworks import calls
from transkern.frameworks.plans import class_of
from transkern.runtime.structures import attributes_of


def abstract(value: Any) -> calls.Abstract | None:
    return calls.Abstract(value.dtype, value.shape) if type(value) is np.ndarray else None


def known(compiled: Any, arguments: tuple[Any, ...]) -> calls.Call:
    return calls.call(compiled, compiled._parameters.bind(arguments, {}), abstract)


def check(part: Part, result: Any, made: calls.Call, sizes: Sizes) -> None:
    """That a result is what was known of it."""
    match part:
        case ArrayOf(dtype, dims):
            assert type(result) is np.ndarray and result.ndim == len(dims)
            assert result.dtype == dtype or not result.size
            for dim, extent in zip(dims, result.shape, strict=True):
                with suppress(Unknown):
                    assert sizes.value(dim) == extent
        case NumberOf(dtype, python):
            kind = type(np.dtype(dtype).type().item()) if python else np.dtype(dtype).type
            assert type(result) is kind
        case Itself(path):
            assert result is made.owner(path)
        case Fixed(value):
            assert type(result) is type(value) and (result == value or value != value)
        case Made(kind, items, keys, of):
            assert type(result) is (class_of(of) if of else {"tuple": tuple, "list": list, "dict": dict}[kind])
            if kind == "dict":
                assert tuple(result) == keys
                result = list(result.values())
            elif kind == "record" and not isinstance(result, tuple):
                assert tuple(attributes_of(result)) == keys
                result = list(attributes_of(result).values())
            for one, value in zip(items, result, strict=True):
                check(one, value, made, sizes)


def run(function: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return function(*arguments)


def hold(compiled: Any, arguments: tuple[Any, ...]) -> bool:
    """Whether something is known of a call of a compiled function, after it has been held against NumPy's."""
    function = compiled.function
    try:
        made = known(compiled, arguments)
    except CompileError as refusal:
        assert refusal.kind.code == "TK2006", refusal
        return False
    except Exception as error:  # NumPy's own, of sizes that do not fit
        with pytest.raises(type(error), match=re.escape(str(error))):
            run(function, arguments)
        return True
    sizes = made.sizes()
    try:
        result = run(function, arguments)
    except Exception:  # of values: nothing was said of these
        return True
    check(made.outcome.result, result, made, sizes)
    return True


@pytest.mark.parametrize("case", [pytest.param(case, id=name) for name, case in cases() if "cpu" not in case.refused])
def test_corpus(case: Case) -> None:
    compiled = transkern.compile(case.function, target="cpu")
    for arguments in case.arguments():
        if not hold(compiled, copy.deepcopy(arguments)):
            return


@pytest.mark.parametrize("case", LANGUAGE[::3], ids=lambda case: case.function.__name__)
def test_language(case: Any) -> None:
    hold(transkern.compile(case.function, target="cpu"), copy.deepcopy(case.args))


def test_most_results_are_known() -> None:
    """What is refused are lists of run-time length and changed containers: a small part of what people write."""
    found = [
        hold(transkern.compile(case.function, target="cpu"), copy.deepcopy(case.arguments()[0]))
        for _, case in cases()[::6] if not case.refused
    ]  # fmt: skip
    assert sum(found) > 0.75 * len(found)
