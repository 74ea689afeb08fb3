"""Where groups of spellings are registered.

A group is a set of functions of the same arguments with the same results; how fast they are should not depend on which
one was written. `@spelling("group")` puts a function into its group, `@inputs("group")` says what they are called with.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

GROUPS: dict[str, list[Callable[..., Any]]] = {}
INPUTS: dict[str, Callable[[np.random.Generator], tuple[Any, ...]]] = {}


def spelling(group: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        GROUPS.setdefault(group, []).append(function)
        return function

    return register


def inputs(group: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        INPUTS[group] = function
        return function

    return register
