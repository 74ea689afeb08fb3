"""What a translation looks at in live modules: globals by name, what modules hold, and which functions it translates.

The disk cache asks whether all of it is still the same, and a compiled function asks at each call
(`runtime/caching/surveys.py`). Only what was looked at counts: a function of a large library that the translation
never came to has no say.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from types import FunctionType
from typing import Any

ABSENT: Any = type("Absent", (), {"__repr__": lambda _: "absent"})()
"""What a name stood for that was not there."""


@dataclass(frozen=True, slots=True, eq=False)
class Look:
    """A name in a module's namespace, and what it stood for."""

    space: Mapping[str, Any]
    name: str
    value: Any


@dataclass(slots=True)
class Looks:
    """What a translation has looked at. `exact`: all its texts are those that Python makes the functions of. `by_value`
    are the arrays whose elements it knows: others come anew with each call."""

    names: dict[tuple[int, str], Look] = field(default_factory=dict)
    functions: dict[int, FunctionType] = field(default_factory=dict)
    exact: bool = True
    passed: dict[int, Any] = field(default_factory=dict)
    by_value: dict[int, Any] = field(default_factory=dict)


_LOOKS: ContextVar[Looks | None] = ContextVar("looks", default=None)


@contextmanager
def observing() -> Iterator[Looks]:
    """Collects what translations look at."""
    looks = Looks()
    token = _LOOKS.set(looks)
    try:
        yield looks
    finally:
        _LOOKS.reset(token)


def note(space: Mapping[str, Any], name: str) -> bool:
    """That a name has been looked up, whether it is there or not. Returns whether anybody asks."""
    looks = _LOOKS.get()
    if looks is not None and not _is_ours(space):
        looks.names[id(space), name] = Look(space, name, space.get(name, ABSENT))
    return looks is not None


def note_function(function: FunctionType, exact: bool) -> None:
    """That a function has been translated; `exact`: from a text of which Python makes its very bytecode."""
    looks = _LOOKS.get()
    if looks is not None and not _is_ours(function.__globals__):
        looks.functions[id(function)] = function
        looks.exact = looks.exact and exact


def note_array(array: Any, passed: bool) -> None:
    """That a translation has met an array: one that each call passes (`passed`), or whose elements it knows."""
    looks = _LOOKS.get()
    if looks is not None and (passed or not _PASSING.get()):
        (looks.passed if passed else looks.by_value)[id(array)] = array


_PASSING: ContextVar[bool] = ContextVar("passing", default=False)


@contextmanager
def passing() -> Iterator[None]:
    """For what is looked up inside, who looks it up notes the arrays in it."""
    token = _PASSING.set(True)
    try:
        yield
    finally:
        _PASSING.reset(token)


def _is_ours(space: Mapping[str, Any]) -> bool:
    return str(space.get("__name__", "")).startswith("transkern.")
