"""How long the stages of a compilation take."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


class Timings:
    """Seconds by stage, in the order in which stages ran for the first time."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self.runs: dict[str, int] = {}
        self.changes: dict[str, int] = {}
        self._began = time.perf_counter()
        self._program: Any = None

    @contextmanager
    def of(self, stage: str) -> Iterator[None]:
        """What runs inside, as a stage."""
        self._began = time.perf_counter()
        yield
        self._note(stage)

    def begin(self, program: Any) -> None:
        """What goes into the passes."""
        self._program = program
        self._began = time.perf_counter()

    def after(self, stage: str, program: Any) -> None:
        """What `pipeline.run` calls behind each pass."""
        self._note(stage)
        changed = program is not self._program and program != self._program
        self.changes[stage] = self.changes.get(stage, 0) + changed
        self.begin(program)  # the comparison is none of the next pass's time

    def _note(self, stage: str) -> None:
        self.seconds[stage] = self.seconds.get(stage, 0.0) + time.perf_counter() - self._began
        self.runs[stage] = self.runs.get(stage, 0) + 1

    def table(self) -> str:
        """A line a stage, the slowest first, and the sum."""
        total = sum(self.seconds.values())
        lines = [f"{'ms':>9} {'share':>6} {'runs':>5} {'changed':>8}  stage"]
        for stage, seconds in sorted(self.seconds.items(), key=lambda item: -item[1]):
            changed = str(self.changes[stage]) if stage in self.changes else ""
            share = f"{100 * seconds / total:.0f} %" if total else ""
            lines.append(f"{1e3 * seconds:9.2f} {share:>6} {self.runs[stage]:>5} {changed:>8}  {stage}")
        return "\n".join([*lines, f"{1e3 * total:9.2f}                        all"])
