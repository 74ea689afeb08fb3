"""When the launcher reads what checks in kernels have found.

Reading waits for the device. So it is put off until something else waits for it, or would show what came after a check
that failed: a number that the host needs, a library step that raises or writes an argument, another check, the end.
Until then each kernel looks for itself whether a check before it has failed, and does nothing if so. Each kernel with
checks has a record of its own, which no other kernel writes: within one launch nobody looks at what it is writing.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from transkern.fuse.lowering.kernels import interface
from transkern.ir import nodes as n
from transkern.ir.names import Names
from transkern.ir.traverse import (
    buffers_read,
    buffers_written,
    own_exprs,
    scalars_set,
    variables_read,
    walk,
    with_bodies,
)  # fmt: skip
from transkern.records import replace

RECORD = n.GUARD_NUMBERS + 3
"""Numbers of a record: the check's, those of its message, how early it failed, and whether a thread writes."""

_MOST = 6
"""Records that a kernel looks at, at most."""
QUIET = frozenset(("argsort", "dot", "lexsort", "matmul", "searchsorted", "select", "sort"))
"""Library steps that take whatever stands in their operands, and neither wait for the device nor raise an error."""


@dataclass(slots=True)
class Checks:
    """`records` of kernels with checks, by name; the records at which a kernel `looks` first. What has been found is
    read before the statements `before` and at the end of the bodies (and heads) of the loops `behind`, by their `id`;
    and `at_end` of the function."""

    records: dict[str, int] = field(default_factory=dict)
    looks: dict[str, tuple[int, ...]] = field(default_factory=dict)
    before: set[int] = field(default_factory=set)
    behind: set[int] = field(default_factory=set)
    at_end: bool = False

    def opening(self, kernel: str) -> list[str]:
        """How a kernel with the parameter ``error_records`` begins."""
        lines = []
        if looks := self.looks.get(kernel):
            failed = " | ".join(f"error_records[{RECORD * k}]" for k in looks)
            lines.append(f"    if ({failed}) return;  // a check before this kernel has failed")
        if kernel in self.records:
            at = RECORD * self.records[kernel]
            lines.append(f"    long long *const error = error_records{f' + {at}' if at else ''};")
        return lines


def checks_of(program: n.Program) -> Checks:
    """Where a program's checks are put down, and when they are read."""
    found = Checks()
    kernels = [s for s in walk(program.body) if isinstance(s, n.Kernel)]
    for s in kernels:
        if any(isinstance(x, n.Guard) for x in walk(s.body)):
            found.records.setdefault(s.name, len(found.records))
    if found.records:
        on_device = {name for s in kernels for name in scalars_set(s)}
        found.at_end = bool(_Reading(program, found, on_device).block(program.body, ()))
    return found


# ---- checks that the host would have to ask the device for ----------------------------------------------------------


def check_in_kernels(program: n.Program) -> n.Program:
    """The program with checks of what stands in device memory at the beginning of the kernel behind them:

        raise unless first_out[] < 0             kernel f_y:
        kernel f_y: …                     to         raise unless first_out[] < 0; …
    """
    on_device = {name for s in walk(program.body) if isinstance(s, n.Kernel) for name in scalars_set(s)}
    names = Names.of(program)

    def in_branches(s: n.If, waiting: list[n.Guard]) -> n.If | None:
        """The branches with the checks in the first kernel of either, if nothing before it would tell."""
        if buffers_read(s.condition) or variables_read(s.condition) & on_device:
            return None
        then, orelse = (first_of(body, waiting) for body in (s.then, s.orelse))
        return None if then is None or orelse is None else replace(s, then=then, orelse=orelse)

    def first_of(body: tuple[n.Stmt, ...], waiting: list[n.Guard]) -> tuple[n.Stmt, ...] | None:
        for k, s in enumerate(body):
            if isinstance(s, n.Kernel) and not _read_by(waiting) & buffers_written(s):
                return (*body[:k], replace(s, body=(*waiting, *s.body)), *body[k + 1 :])
            if not _passes(s, program, on_device):
                return None
        return None

    def block(statements: tuple[n.Stmt, ...]) -> tuple[n.Stmt, ...]:
        out: list[n.Stmt] = []
        waiting: list[n.Guard] = []
        for s in statements:
            if isinstance(s, n.Guard) and _asks_device(s, program, on_device):
                waiting.append(s)
                continue
            if waiting and isinstance(s, n.Kernel) and not _read_by(waiting) & buffers_written(s):
                s = replace(s, body=(*waiting, *s.body))
                waiting = []
            elif waiting and isinstance(s, n.If) and (both := in_branches(s, waiting)) is not None:
                s, waiting = both, []
            elif waiting and any(isinstance(x, n.Kernel) for x in walk((s,))):  # nothing there waits for the device
                out.append(n.Kernel(names.fresh(f"{program.name}_check"), tuple(waiting), "block"))
                waiting = []
            elif waiting and not _passes(s, program, on_device):
                out += waiting
                waiting = []
            out.append(s if isinstance(s, n.Kernel) else with_bodies(s, block))
        return (*out, *waiting)

    return replace(program, body=block(program.body))


def at_entry(kernel: n.Kernel) -> tuple[n.Guard, ...]:
    """The checks that a kernel makes before all else."""
    found = []
    written = buffers_written(kernel)
    for s in kernel.body:
        if not isinstance(s, n.Guard) or _read_by([s]) & written:
            break
        found.append(s)
    return tuple(found)


def _asks_device(s: n.Guard, program: n.Program, on_device: set[str]) -> bool:
    names = {name for e in own_exprs(s) for name in variables_read(e)}
    return bool(buffers_read(s.condition)) and not names & on_device and s.condition not in program.assumptions


def _read_by(checks: Iterable[n.Guard]) -> set[str]:
    return {name for s in checks for e in own_exprs(s) for name in buffers_read(e)}


def _passes(s: n.Stmt, program: n.Program, on_device: set[str]) -> bool:
    """Whether a statement may come before a check: nobody sees it if that fails, and it fails itself nowhere."""
    match s:
        case n.Let(_, value):
            return not buffers_read(value) and not variables_read(value) & on_device
        case n.Alloc(buffer):
            return not any(variables_read(d) & on_device for d in program.buffers[buffer].dims)
        case _:
            return False


# ---- when they are read ----------------------------------------------------------------------------------------------


class _Reading:
    def __init__(self, program: n.Program, checks: Checks, on_device: set[str]) -> None:
        self.program, self.checks, self.on_device = program, checks, on_device

    def block(self, statements: Iterable[n.Stmt], pending: Sequence[int]) -> tuple[int, ...]:
        """The records that nobody has read behind the statements, where those `pending` were not read before them."""
        left = tuple(pending)
        for s in statements:
            if left and self.waits(s, left):
                self.checks.before.add(id(s))
                left = ()
            left = self.statement(s, left)
        return left

    def statement(self, s: n.Stmt, left: tuple[int, ...]) -> tuple[int, ...]:
        match s:
            case n.Kernel(name):
                looks = self.checks.looks.get(name, ())
                self.checks.looks[name] = tuple(sorted({*looks, *left}))
                record = self.checks.records.get(name)
                return left if record is None else (*left, record)
            case n.If(_, then, orelse):
                return tuple(sorted({*self.block(then, left), *self.block(orelse, left)}))
            case n.Loop(body=body):
                self.turn(s, body, left)
                return left
            case n.While(head, _, body):
                first = self.block(head, left)
                if first and head:
                    self.checks.behind.add(id(head))
                self.turn(s, body, () if head else first)
                return () if head else left
            case _:
                return left

    def turn(self, s: n.Stmt, body: Sequence[n.Stmt], left: tuple[int, ...]) -> None:
        """A turn of a loop of the host's: kernels have one record for all turns, which is read at the end of each."""
        if self.block(body, left):
            self.checks.behind.add(id(s))

    def waits(self, s: n.Stmt, left: Sequence[int]) -> bool:
        """Whether the launcher waits for the device there, or what a check that failed has left would be seen."""
        match s:
            case n.Kernel(name):
                record = self.checks.records.get(name)
                if record is not None and (record in left or len(left) >= _MOST):
                    return True
                return any(v.name in self.on_device for v in interface(self.program, s)[1])
            case n.Guard() | n.Return() | n.Break() | n.Continue():
                return True
            case n.Library(name, outs, ins):
                if name not in QUIET or any(self.program.buffers[x].role == "argument" for x in outs):
                    return True
                dims = (d for x in (*outs, *ins) for d in self.program.buffers[x].dims)
                return any(variables_read(d) & self.on_device for d in dims)
            case n.Alloc(buffer):
                return any(variables_read(d) & self.on_device for d in self.program.buffers[buffer].dims)
            case _:
                return any(buffers_read(e) or variables_read(e) & self.on_device for e in own_exprs(s))
