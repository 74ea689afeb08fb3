"""What a translation looks at in live modules: globals by name, and what modules hold.

The disk cache asks whether all of it is still the same, and a compiled function asks at each call. Only what was looked
at counts: a function of a large library that the translation never came to has no say.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True, eq=False)
class Look:
    """A name in a module's namespace, and what it stood for; None where it was not there."""

    space: Mapping[str, Any]
    name: str
    value: Any

    @property
    def module(self) -> str:
        return str(self.space.get("__name__", ""))


Looks = dict[tuple[int, str], Look]

_LOOKS: ContextVar[Looks | None] = ContextVar("looks", default=None)


@contextmanager
def observing() -> Iterator[Looks]:
    """Collects what translations look at."""
    looks: Looks = {}
    token = _LOOKS.set(looks)
    try:
        yield looks
    finally:
        _LOOKS.reset(token)


def note(space: Mapping[str, Any], name: str) -> None:
    """That a name has been looked up, whether it is there or not."""
    looks = _LOOKS.get()
    if looks is not None and not str(space.get("__name__", "")).startswith("transkern."):
        looks[id(space), name] = Look(space, name, space.get(name))
