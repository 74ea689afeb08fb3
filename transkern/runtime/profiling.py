"""What the calls of a function have taken, for each kernel and each of its lines: of code with timers (`timers.py`)."""

from __future__ import annotations

import hashlib
import html
import inspect
import json
import linecache
import os
import struct
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from transkern import refusals
from transkern.analysis.reports.ranges import ranges
from transkern.errors import CompileError
from transkern.targets.cpu.printing.timers import Timed

_ROUGH = 1e-6
"""Seconds below which a timer takes a part of what it measures."""

_VERSION = 1


@dataclass(frozen=True, slots=True)
class Region:
    """What was measured together: its `kind` (``call``, ``kernel``, ``library`` or ``loop``) and name, the lines of the
    function's file that it is made of, how often it ran, the seconds in all, and the number of the region that it is a
    part of (-1: none)."""

    kind: str
    name: str
    lines: tuple[int, ...]
    elsewhere: tuple[str, ...]
    within: int
    calls: int
    seconds: float

    @property
    def is_rough(self) -> bool:
        """Whether the timers themselves took a part of the time."""
        return bool(self.calls) and self.seconds / self.calls < _ROUGH

    def __str__(self) -> str:
        own = f"line{'s' * (len(self.lines) != 1)} {ranges(self.lines)}" if self.lines else ""
        where = ", ".join([own] * bool(own) + list(self.elsewhere))
        match self.kind:
            case "kernel":
                return f"kernel {self.name}: {where}"
            case "library":
                return f"{where}: {self.name} by the library"
            case _:
                return f"loop: {where}"


@dataclass(frozen=True, slots=True)
class Profile:
    """What calls of a function with arguments of some types have taken, all together; the first region is the call."""

    name: str
    types: str
    file: str
    text: str  # what tells the file's text from others
    regions: tuple[Region, ...]

    @property
    def calls(self) -> int:
        """How many there were."""
        return self.regions[0].calls

    @property
    def seconds(self) -> float:
        """What they have taken within compiled code."""
        return self.regions[0].seconds

    def __str__(self) -> str:
        kernels = sum(r.seconds for r in self.regions if r.within == 0)
        share = f", {_share(kernels, self.seconds)} of it in kernels and library steps" if self.calls else ""
        plural = "" if self.calls == 1 else "s"
        head = f"{self.name}({self.types}): {self.calls} call{plural}, {in_seconds(self.seconds)}{share}"
        rows = [
            (_time(r), _share(r.seconds, self.seconds), f"{r.calls}x", "  " * depth + str(r))
            for depth, r in self._in_order()
        ]
        widths = [max((len(row[k]) for row in rows), default=0) for k in range(3)]
        lines = ["  ".join([*(f"{t:>{w}}" for t, w in zip(row, widths, strict=False)), row[3]]) for row in rows]
        notes = [_ROUGHLY] * any(r.is_rough for _, r in self._in_order())
        return "\n".join([head, *(f"  {line}" for line in (*lines, *notes))])

    def _in_order(self, within: int = 0, depth: int = 0) -> Iterator[tuple[int, Region]]:
        """The regions with how deep they are in others, the slowest first."""
        own = [(k, r) for k, r in enumerate(self.regions) if r.within == within and r.calls]
        for k, r in sorted(own, key=lambda pair: -pair[1].seconds):
            yield depth, r
            yield from self._in_order(k, depth + 1)

    def groups(self) -> dict[tuple[int, ...], float]:
        """Seconds that lines of the function's file have taken, those together that were measured together: of each
        region, without what is measured by itself within it. They add up to what all kernels and steps took."""
        own = [r.seconds for r in self.regions]
        for r in self.regions[1:]:
            own[r.within] -= r.seconds if r.within > 0 else 0.0
        found: dict[tuple[int, ...], float] = {}
        for r, seconds in zip(self.regions[1:], own[1:], strict=True):
            if r.calls and r.lines:
                found[r.lines] = found.get(r.lines, 0.0) + max(seconds, 0.0)
        return found

    def marks(self) -> dict[int, list[tuple[str, str, str]]]:
        """What stands beside lines: times, shares of the call's, and the lines that took them, at the first one."""
        made: dict[int, list[tuple[str, str, str]]] = {}
        for lines, seconds in sorted(self.groups().items(), key=lambda item: (item[0][0], len(item[0]))):
            mark = in_seconds(seconds), _share(seconds, self.seconds), ranges(lines)
            made.setdefault(lines[0], []).append(mark)
        return made

    def beside(self, source: Sequence[str]) -> str:
        """The measured lines of a file's text, each with its time and its share of the call's; those of several lines
        that were measured together stand at the first one."""
        marks, shown = self.marks(), list[str]()
        for line in sorted({line for lines in self.groups() for line in lines if 0 < line <= len(source)}):
            text = source[line - 1].rstrip()
            for k, (time, share, of) in enumerate(marks.get(line, [("", "", str(line))])):
                shown.append(f"  {time:>9} {share:>5} {of:>8} | {'' if k else text}".rstrip())
        return "\n".join(shown)

    def _repr_html_(self) -> str:
        head = html.escape(str(self).partition("\n")[0])
        rows = "".join(
            f"<tr><td>{_time(r)}</td><td>{_share(r.seconds, self.seconds)}</td><td>{r.calls}</td>"
            f'<td style="text-align: left; padding-left: {1 + 2 * depth}em">{html.escape(str(r))}</td></tr>'
            for depth, r in self._in_order()
        )
        columns = "<tr><th>time</th><th>share</th><th>calls</th><th>what</th></tr>"
        return f"<table><caption>{head}</caption><thead>{columns}</thead><tbody>{rows}</tbody></table>"


_ROUGHLY = "~ less than a microsecond a time: the timers take a part of it"


def _time(r: Region) -> str:
    return f"{'~' * r.is_rough}{in_seconds(r.seconds)}"


def _share(part: float, whole: float) -> str:
    return f"{part / whole:.0%}" if whole else "-"


def in_seconds(value: float) -> str:
    """A time with its unit, three digits."""
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if value >= size:
            return f"{value / size:.3g} {unit}"
    return f"{value * 1e9:.3g} ns"


# ---- where they come from --------------------------------------------------------------------------------------------


def measured(function: Callable[..., Any], types: str, timers: Sequence[Sequence[Any]], data: bytes) -> Profile:
    """What a module's timers (`Timed`, also as JSON has them) show: calls and nanoseconds of each, as 64 bits."""
    numbers = struct.unpack(f"={2 * len(timers)}q", data)
    regions = tuple(
        Region(t.kind, t.name, tuple(t.lines), tuple(t.elsewhere), t.within, calls, time * 1e-9)
        for t, calls, time in zip((Timed(*one) for one in timers), numbers[::2], numbers[1::2], strict=True)
    )
    file = inspect.getsourcefile(function) or function.__code__.co_filename
    text = "".join(linecache.getlines(file, getattr(function, "__globals__", None)))
    return Profile(function.__qualname__, types, os.path.realpath(file), digest_of(text), regions)


def digest_of(text: str) -> str:
    """What tells a file's text from others."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def written(profiles: Iterable[Profile]) -> str:
    """Profiles as the text of a file."""
    return json.dumps({"version": _VERSION, "profiles": [asdict(one) for one in profiles]}, indent=1) + "\n"


def read(path: Path) -> list[Profile]:
    """What `transkern run --profile` has written; raises CompileError where the file is none of these."""
    try:
        made = json.loads(path.read_text(encoding="utf-8"))
        if made["version"] != _VERSION:
            raise ValueError
        return [_from_json(one) for one in made["profiles"]]
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        problem = f"{path}: not a profile"
        raise CompileError(refusals.UNREADABLE, problem, "make one with transkern run --profile") from None


def of_function(path: Path, file: Path, name: str | None) -> list[Profile]:
    """The profiles in the file at `path` that are of a function of a `file`, of the only one that is there where it has
    no name; the slowest first.

    Raises CompileError where there is none, or the file has another text now.
    """
    own = [one for one in read(path) if one.file == os.path.realpath(file) and name in (None, one.name)]
    names = sorted({one.name for one in own})
    if len(names) != 1:
        known = ", ".join(names) or "none"
        problem = f"{path}: which function? Of {file} it has: {known}"
        raise CompileError(refusals.WHICH_FUNCTION, problem, "choose one with --function NAME")
    linecache.checkcache(str(file))
    if digest_of("".join(linecache.getlines(str(file)))) != own[0].text:
        problem = f"{path}: {file} has another text now than when it was measured"
        raise CompileError(refusals.UNREADABLE, problem, "make it anew: transkern run --profile")
    return own


def _from_json(one: Mapping[str, Any]) -> Profile:
    regions = tuple(
        Region(**{**r, "lines": tuple(map(int, r["lines"])), "elsewhere": tuple(map(str, r["elsewhere"]))})
        for r in one["regions"]
    )
    if not regions or regions[0].kind != "call":
        raise ValueError
    return Profile(**{**one, "regions": regions})
