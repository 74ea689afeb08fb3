"""What passes have decided of a program: which of them changed it, and at which of the user's lines."""

from __future__ import annotations

import inspect
from collections import Counter
from collections.abc import Callable, Iterator, Sequence, Set
from dataclasses import dataclass

from transkern.analysis.reports.ranges import ranges
from transkern.ir import nodes as n
from transkern.ir.traverse import bodies, walk


@dataclass(frozen=True, slots=True)
class Decided:
    """A pass that changed a program, what it is about, and the lines of what it changed."""

    name: str
    about: str
    lines: tuple[int, ...]

    def __str__(self) -> str:
        where = f" (line{'s' * (len(self.lines) != 1)} {ranges(self.lines)})" if self.lines else ""
        return f"{self.name}{where}: {self.about}"


_NORMAL = (
    "lowering", "scalars", "choices", "checks.bounds", "checks.contents", "checks.guards", "checks.overflow",
    "checks.positions", "passes.checks",
)  # fmt: skip
"""Rooms and files of passes that bring a program into its normal form: what they do says nothing of how it will run."""


class Watch:
    """Sees a program behind each pass (`after` of `pipeline.run`), and remembers which decided something."""

    def __init__(self, program: n.Program, passes: Sequence[Callable[[n.Program], n.Program]]) -> None:
        self._program = program
        files = Counter(one.__module__ for one in set(passes))
        self._about = {
            one.__name__: _about(one, files[one.__module__] > 1) for one in passes if not _is_normal(one)
        }
        self._lines: dict[str, set[int]] = {}

    def after(self, name: str, program: n.Program) -> None:
        """What `pipeline.run` calls."""
        if program is not self._program and program != self._program:
            old = set(map(id, walk(self._program.body)))
            changed = {s.span.line for s in _new(program.body, old) if program.is_own(s.span)}
            self._lines[name] = self._lines.get(name, set()) | changed - {0}
        self._program = program

    def decided(self) -> tuple[Decided, ...]:
        """What has been seen, in the order of the passes."""
        return tuple(
            Decided(name, self._about[name], tuple(sorted(lines)))
            for name, lines in self._lines.items() if name in self._about
        )  # fmt: skip


def _is_normal(one: Callable[[n.Program], n.Program]) -> bool:
    return any(f".{room}." in f"{one.__module__}." for room in _NORMAL)


def _about(one: Callable[[n.Program], n.Program], is_one_of_several: bool) -> str:
    """The first sentence of a pass's file, which says what it is about, or its own, where the file has several."""
    told = (one, inspect.getmodule(one)) if is_one_of_several else (inspect.getmodule(one), one)
    text = " ".join(next(filter(None, map(inspect.getdoc, told)), "").partition("\n\n")[0].split())
    return text.partition(". ")[0].rstrip(".:")


def _new(block: Sequence[n.Stmt], old: Set[int]) -> Iterator[n.Stmt]:
    """The innermost statements that are none of the `old` objects."""
    for s in block:
        if id(s) not in old:
            inner = [x for body in bodies(s) for x in _new(body, old)]
            yield from inner or [s]
