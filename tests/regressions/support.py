"""A compiled function against NumPy, bit for bit."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import transkern
from tests.fuzz.oracle import call, difference
from tests.fuzz.stages import function_of, interpreted


def alike(
    function: Callable[..., Any], *arguments: Any, target: str = "cpu", compiled: Callable[..., Any] | None = None
) -> None:  # fmt: skip
    """The same result, exception and arguments afterwards as without compilation (of what is `compiled` already).

    A function that is asked about again, with other arguments, is compiled once a test: so do users call it."""
    compiled = compiled or _compiled(function, target)
    found = call(compiled, list(copy.deepcopy(arguments)), transkern.TranskernError)
    wanted = call(function, list(copy.deepcopy(arguments)))
    assert not difference(found, wanted)


_MADE: dict[tuple[Callable[..., Any], str], Callable[..., Any]] = {}


def _compiled(function: Callable[..., Any], target: str) -> Callable[..., Any]:
    if (function, target) not in _MADE:
        _MADE[function, target] = transkern.compile(function, target=target)
    return _MADE[function, target]


def forget() -> None:
    """The next test compiles what it asks about anew."""
    _MADE.clear()


def like_numpy(line: str, **arguments: Any) -> None:
    """A line of code, by the interpreter of the IR, as with NumPy."""
    names = ", ".join(arguments)
    function = function_of(f"import numpy as np\n\n\ndef f({names}):\n    {line}\n    return {names}\n")
    found = call(interpreted(function, 0), copy.deepcopy(list(arguments.values())), transkern.TranskernError)
    wanted = call(function, copy.deepcopy(list(arguments.values())))
    assert not difference(found, wanted), line
