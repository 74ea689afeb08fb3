"""Timers in a module's code, where its caller asks for a profile: around the call, each kernel, each library step, and
the loops that follow each other in a kernel.

    const int64_t py_since_3 = py_now();
    f_loop(x, y, n);
    py_spent(3, py_since_3);

Code without a profile has none of this. A timer takes some 40 nanoseconds, so loops are measured at the top of a kernel
and directly within loops in order there, and never within what threads share.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Span
from transkern.ir.traverse import walk
from transkern.targets.cpu.system import clock

_FEW = 16
"""Turns of a loop below which it is not measured by itself."""


class Timed(NamedTuple):
    """What a timer measures: its `kind` (``call``, ``kernel``, ``library`` or ``loop``) and name, the lines of the
    function's own file that it is made of, those of others (``other.py:3``), and the number of what it is a part of."""

    kind: str
    name: str
    lines: tuple[int, ...]
    elsewhere: tuple[str, ...]
    within: int


@dataclass(slots=True)
class Timers:
    """Those of one module; the number of each is its position."""

    program: n.Program
    regions: list[Timed] = field(default_factory=list)
    around: list[int] = field(default_factory=list)  # what the present statement is in, outermost first
    _known: dict[int, tuple[n.Stmt, int]] = field(default_factory=dict)  # by identity: some are printed twice

    def __post_init__(self) -> None:
        self.regions.append(Timed("call", self.program.name, (), (), -1))
        self.around.append(0)

    def may_measure(self, s: n.Stmt) -> bool:
        """Whether a statement is a loop with lines of its own, and with turns enough to be measured by itself."""
        if isinstance(s, n.Loop):
            count = b.constant(b.sub(s.stop, s.start))
            if count is not None and count < _FEW:
                return False
        return isinstance(s, (n.Loop, n.While, n.Compact)) and any(self._places(s))

    def number(self, kind: str, name: str, s: n.Stmt) -> int:
        """That of a statement's timer."""
        if id(s) not in self._known:
            self._known[id(s)] = s, len(self.regions)
            self.regions.append(Timed(kind, name, *self._places(s), self.around[-1]))
        return self._known[id(s)][1]

    def _places(self, s: n.Stmt) -> tuple[tuple[int, ...], tuple[str, ...]]:
        spans: list[Span] = [x.span for x in walk((s,)) if x.span.line]
        own = {x.line for x in spans if self.program.is_own(x)}
        return tuple(sorted(own)), tuple(sorted({self.program.place(x) for x in spans if not self.program.is_own(x)}))

    def begin(self, number: int) -> str:
        """The line before what is measured."""
        return f"const int64_t py_since_{number} = py_now();"

    def end(self, number: int) -> str:
        """The line behind it."""
        return f"py_spent({number}, py_since_{number});"

    def declared(self) -> str:
        """What code with these timers needs."""
        return _TIMERS % len(self.regions)


_TIMERS = """
// What has been measured, in nanoseconds; several threads may call at once.
static struct { int64_t calls, time; } py_times[%d];

@CLOCK@
static inline void py_spent(int number, int64_t since) {
    __atomic_fetch_add(&py_times[number].time, py_now() - since, __ATOMIC_RELAXED);
    __atomic_fetch_add(&py_times[number].calls, 1, __ATOMIC_RELAXED);
}
""".replace("@CLOCK@", clock("py_now", "static inline").replace("%", "%%"))

TIMES = """PyObject *PyBytes_FromStringAndSize(const char *, Py_ssize_t);
static PyObject *py_told_times(PyObject *self, PyObject *unused) {
    return PyBytes_FromStringAndSize((const char *)py_times, sizeof py_times);
}"""
"""What hands them to Python: a calls and a time of each."""


@dataclass(slots=True)
class Measuring:
    """What decides which loops of a kernel are measured each by itself."""

    timers: Timers | None = None  # where the program is to be measured
    is_one_loop: bool = False  # whether the kernel has one loop, and nothing beside it that takes time
    nest: int = 0  # how many loops enclose the statement, if all are in order; else more than one
