"""None for a parameter whose default is another value: NumPy's answer or exception, or a refusal; never the default."""

from __future__ import annotations

import inspect
import types
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from tests.trust.against_python import difference, refused

ARGUMENTS: dict[str, Any] = {
    "a": np.arange(6.0).reshape(2, 3) + 0.5, "v": np.array([3.0, 1.0, 2.0]), "k": np.array([2, 0, 1]),
    "m": np.array([True, False, True]), "q": np.eye(3),
}  # fmt: skip
CALLS = (
    "a", "v", "v, v", "a, a", "v, k", "k", "3", "a, 1", "v, 1", "q", "q, v", "m, v, v", "0, 1", "(2, 3)", "(2, 3), 1.5",
    "[v, v]", "v, v, v", "a, (2, 3)", "v, 2", "a, k, 1", "3, 4", "k, (3, 3)",
)  # fmt: skip
OF_UFUNCS = ("dtype", "where", "out", "casting", "order", "subok")
NOT_CALLED = ("test", "info", "show_config", "show_runtime", "get_include", "empty", "empty_like", "setbufsize")
UFUNCS = ("add", "arctan2", "divmod", "exp", "isnan", "modf", "sqrt")  # of those, which share what reads their keywords


def calls(space: types.ModuleType, path: str) -> Iterator[str]:
    """A call of each public function for each parameter whose default is not None, with None for it."""
    for name, function in sorted(vars(space).items()):
        if name.startswith(("_", "set_", "save", "load")) or name in NOT_CALLED or isinstance(function, type):
            continue
        if isinstance(function, np.ufunc):
            parameters = list(OF_UFUNCS) if name in UFUNCS else []
        else:
            try:
                described = inspect.signature(function).parameters.values()
            except (ValueError, TypeError):
                continue
            parameters = [p.name for p in described if p.default not in (p.empty, None)]
        args = next((c for c in CALLS if runs(function, c)), None) if parameters else None
        yield from (f"{path}.{name}({args}, {p}=None)" for p in parameters if args is not None)


def runs(function: Any, args: str) -> bool:
    try:
        function(*eval(f"({args},)", {}, ARGUMENTS))
    except Exception:
        return False
    return True


@pytest.mark.parametrize("path", ["np", "np.linalg", "np.fft"])
def test_none_is_not_a_default_that_is_another(path: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        texts = list(calls(eval(path), path))
    assert len(texts) > 5
    found = [difference(t, ", ".join(ARGUMENTS), tuple(ARGUMENTS.values()), stage=0) for t in texts]
    assert [d for d in found if d] == []


def test_none_where_it_means_something() -> None:
    texts = (
        "np.sort(a, axis=None)", "np.clip(v, None, 2.0)", "np.clip(v, 1.5, None)", "np.sum(a, axis=None)",
        "np.sum(a, dtype=None)", "np.concatenate([a, a], axis=None)", "np.zeros(3, None)", "np.std(v, mean=None)",
        "np.add(v, 1, out=None)", "v.clip(None, 2)", "np.take(a, 1, axis=None)", "np.where(m, v, 0)", "np.where(m)",
        "np.take_along_axis(v, k, axis=None)",
    )  # fmt: skip
    for text in texts:
        assert not difference(text, ", ".join(ARGUMENTS), tuple(ARGUMENTS.values()), stage=0)
        assert not refused(text, ", ".join(ARGUMENTS), tuple(ARGUMENTS.values())), text


def test_where_with_none_is_no_search() -> None:
    assert difference("np.where(m, None, v)", ", ".join(ARGUMENTS), tuple(ARGUMENTS.values()), stage=0) == ""
