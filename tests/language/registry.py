"""The cases of the language tests: a function, its arguments, and the tolerance where rounding may differ."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass
class Case:
    function: Callable[..., Any]
    args: tuple[Any, ...]
    tolerance: float


CASES: list[Case] = []


def case(*args: Any, tol: float = 0.0) -> Callable[[Any], Any]:
    def register(function: Any) -> Any:
        CASES.append(Case(function, args, tol))
        return function

    return register
