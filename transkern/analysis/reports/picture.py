"""The statements of a function's loops and their dependences as a graph, in the language of graphviz."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from transkern.analysis import integers
from transkern.analysis.accesses import Access
from transkern.analysis.dependence import Carried, Meeting
from transkern.analysis.loops import LoopReport, reports
from transkern.analysis.verdicts import Walk
from transkern.ir import nodes as n

_EDGES = 40
"""Dependences drawn for one loop; a picture with more cannot be read."""

_STYLE = {"flow": "solid", "anti": "dashed", "output": "dotted"}
_FILL = {
    "parallel": "#e3f4e1", "reduction": "#e3f4e1", "per-lane": "#e3f4e1", "wavefront": "#fdf3d8",
    "scan": "#fdf3d8", "sequential with parallel body": "#fdf3d8", "sequential": "#fbe3e0",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Edge:
    """`first` runs before `second` and they touch one element of `array`; `loop` is the line of the loop that carries
    it from one iteration to a later one, 0 where both are in one iteration."""

    first: int
    second: int
    array: str
    kind: str
    loop: int
    distance: int | None


def dot(program: n.Program) -> str:
    """The graph of a program as it is before `parallelise`: a box a line, a frame a loop, an arrow a dependence.

    Solid arrows are values that are written, then read; dashed ones are reads before a write, dotted ones two writes.
    Arrows between iterations bear the loop's variable and the distance.
    """
    found = {r.line: r for r in reports(program)}
    walker = _Edges(program)
    walker.block(program.body)
    lines = [
        f'digraph "{program.name}" {{', "  rankdir=TB; compound=true;",
        '  node [shape=box, style="rounded,filled", fillcolor=white, fontname="monospace", fontsize=11];',
        '  edge [fontname="sans-serif", fontsize=10];',
        '  graph [fontname="sans-serif", fontsize=11];',
    ]  # fmt: skip
    lines += _frames(program, program.body, found, 1, set(), {x for e in walker.found for x in (e.first, e.second)})
    for e in dict.fromkeys(walker.found):
        report = found.get(e.loop)
        label = e.array
        if e.loop:
            variable = report.variable if report else "iteration"
            label += f"\\nnext {variable}" if e.distance == 1 else f"\\nlater {variable}"
            if e.distance is not None and e.distance > 1:
                label = f"{e.array}\\n{variable} + {e.distance}"
        colour = "#b03020" if e.loop else "#405060"
        lines.append(f'  L{e.first} -> L{e.second} [style={_STYLE[e.kind]}, color="{colour}", label="{label}"];')
    return "\n".join([*lines, "}"]) + "\n"


def _frames(
    program: n.Program, block: Sequence[n.Stmt], found: dict[int, LoopReport], depth: int, drawn: set[int],
    met: set[int],
) -> list[str]:  # fmt: skip
    out: list[str] = []
    pad = "  " * depth
    for s in block:
        match s:
            case n.Loop() if s.span.line in found and s.kind == "sequential":
                report = found[s.span.line]
                out.append(f"{pad}subgraph cluster_{s.span.line}_{depth} {{")
                out.append(f'{pad}  label="line {report.line}: {report.kind} over {report.variable}"; labeljust=l;')
                out.append(f'{pad}  style="rounded,filled"; fillcolor="{_FILL[report.kind]}"; color="#909090";')
                out += _frames(program, s.body, found, depth + 1, drawn, met)
                out.append(f"{pad}}}")
            case n.Loop() | n.If() | n.While() | n.Scanning() | n.Compact():
                inner = [*s.then, *s.orelse] if isinstance(s, n.If) else [*s.body]
                out += _frames(program, inner, found, depth, drawn, met)
                out += _box(program, s, pad, drawn) if isinstance(s, (n.Scanning, n.Compact)) else []
            case n.Store() | n.Assign() | n.Accumulate() | n.Library():
                out += _box(program, s, pad, drawn)
            case n.Let() if s.span.line in met:
                out += _box(program, s, pad, drawn)
            case _:
                pass
    return out


def _box(program: n.Program, s: n.Stmt, pad: str, drawn: set[int]) -> list[str]:
    line = s.span.line
    text = program.cited(s.span).replace("\\", "\\\\").replace('"', '\\"')
    if not text or line in drawn:
        return []
    drawn.add(line)
    return [f'{pad}L{line} [label="{text}"];']


class _Edges(Walk):
    def __init__(self, program: n.Program) -> None:
        super().__init__(program)
        self.found: list[Edge] = []

    def statement(self, s: n.Stmt) -> list[n.Stmt]:
        if isinstance(s, n.Loop) and s.kind == "sequential":
            scalars = frozenset(x.name for x in s.body if isinstance(x, n.Assign))
            carried = Carried(self.program.buffers, s, self.surroundings(), scalars)
            drawn = 0
            for meeting in carried.meetings():
                if drawn < _EDGES:
                    distance = carried.distance(meeting.first, meeting.second)
                    drawn += self.add(replace(meeting, distance=distance), s.span.line)
            if not self.levels:
                self.within(carried)
        return [self.inside(s)]

    def add(self, meeting: Meeting, loop: int) -> bool:
        first, second = meeting.first, meeting.second
        if not (first.span.line and second.span.line):
            return False
        self.found.append(
            Edge(first.span.line, second.span.line, first.buffer, meeting.kind, loop, meeting.distance)
        )
        return True

    def within(self, carried: Carried) -> None:
        """Dependences inside one iteration of the outermost loop, between different lines."""
        for first, second in carried.pairs():
            if first.span.line == second.span.line or not _before(first, second):
                continue
            question, names1, names2, _ = carried.question(first, second)
            axes = [carried.loop.axis, *(a.axis for a in first.levels if a in second.levels)]
            if question.possible(*(integers.equal(names1[axis], names2[axis]) for axis in axes)):
                self.add(Meeting(first, second), 0)


def _before(first: Access, second: Access) -> bool:
    return first.order < second.order
