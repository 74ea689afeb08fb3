"""A run in which all functions that are compiled for the CPU are measured (`transkern run --profile`)."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from transkern.runtime.profiling import Profile


class Run:
    """While one is `active`, functions that are compiled for the CPU have timers; each specialisation is noted."""

    active: Run | None = None

    def __init__(self) -> None:
        self.sources: list[Callable[[], Profile]] = []
        Run.active = self

    def profiles(self) -> list[Profile]:
        """Those of all that has been called, the slowest first."""
        found = [one for source in self.sources if (one := source()).calls]
        return sorted(found, key=lambda one: -one.seconds)
