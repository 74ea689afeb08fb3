"""A compiled function against NumPy, bit for bit."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import transkern
from tests.fuzz.oracle import call, difference


def alike(function: Callable[..., Any], *arguments: Any, target: str = "cpu") -> None:
    """The same result, exception and arguments afterwards as without compilation."""
    found = call(transkern.compile(function, target=target), list(copy.deepcopy(arguments)), transkern.TranskernError)
    wanted = call(function, list(copy.deepcopy(arguments)))
    assert not difference(found, wanted)
