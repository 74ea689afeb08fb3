"""Kernels as functions of C: what they are given, what they hand back, how they fail."""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from transkern.fuse.lowering.kernels import interface
from transkern.ir import nodes as n
from transkern.ir.expr import Expr, Var
from transkern.ir.traverse import buffers_used, buffers_written, scalars_set, scalars_used, variables_read, walk
from transkern.targets.clike import ident
from transkern.targets.cpu.printing.iterations import private_variables
from transkern.targets.cpu.printing.memory import free_last, reserve_early
from transkern.targets.cpu.printing.neighbours import BRANCHES_STAY, HALF_VECTORS, mixed_up, packed_under_conditions
from transkern.targets.cpu.printing.types import TYPES, element_type
from transkern.targets.cpu.running import COUNTED, estimate
from transkern.targets.wrapping import wrapped

if TYPE_CHECKING:
    from transkern.targets.cpu.printing.kernels import KernelPrinter


@dataclass(slots=True)
class Function:
    """A kernel's C function: its text, and what its call is given."""

    name: str
    text: str
    buffers: list[n.Buffer]
    scalars: list[Var]
    outputs: list[Var]  # scalars it hands back, through pointers
    guards: list[n.Guard]
    long: Expr  # whether it runs without Python's lock, or (`counts`) may let go of it in its midst
    counts: bool


def function_of(printer: KernelPrinter, kernel: n.Kernel, live_after: Container[str]) -> Function:
    """`kernel` as a function; scalars in `live_after` that it sets are handed back."""
    buffers, scalars = interface(printer.program, kernel)
    declared = {s.name for s in walk(kernel.body) if isinstance(s, n.Let)}
    top = {s.name for s in kernel.body if isinstance(s, n.Accumulator)}
    declared |= {s.name for s in walk(kernel.body) if isinstance(s, n.Accumulator)} - top
    changed = sorted(scalars_set(kernel) - declared - private_variables(kernel.body))
    accumulators = {s.name: s for s in walk(kernel.body) if isinstance(s, n.Accumulator)}
    outputs = [
        Var(name, accumulators[name].dtype if name in accumulators else printer.program.variables[name])
        for name in changed if name in live_after
    ]  # fmt: skip
    initial = [
        Var(name, printer.program.variables[name]) for name in changed
        if name in printer.program.variables and _needs_value(kernel.body, name)
    ]  # fmt: skip
    written = buffers_written(kernel)
    const = {x.name: "" if x.name in written else "const " for x in buffers}
    params = [f"{const[x.name]}{element_type(x)} *restrict {ident(x.name)}" for x in buffers]
    for x in buffers:
        if x.layout != "C":
            params += [f"const int64_t {ident(x.name)}_stride{d}" for d in range(len(x.dims))]
    params += [f"const {TYPES[v.dtype]} {ident(v.name)}" for v in scalars]
    known = {v.name for v in scalars}
    params += [f"{TYPES[v.dtype]} {ident(v.name)}" for v in initial if v.name not in known]
    params += [f"{TYPES[v.dtype]} *{ident(v.name)}_out" for v in outputs]
    printer.lines, printer.depth, printer.guards, printer.cited = [], 1, [], ""
    top_declared = [x for x in changed if x in printer.program.variables and x not in {v.name for v in initial}]
    local_lets = {s.name for s in walk(kernel.body) if isinstance(s, n.Let)}
    for name in top_declared:
        if name not in local_lets:
            printer.line(f"{TYPES[printer.program.variables[name]]} {ident(name)} = 0;")
    printer.memory.frees, printer.memory.turns = [[]], []
    printer.memory.early = set()
    reserve_early(printer, kernel.body)
    printer.read, printer.given = set(buffers_used(kernel)), {v.name for v in scalars}
    printer.estimate, printer.counts = estimate(printer.program, kernel, printer.given), False
    begins = len(printer.lines)
    printer.measuring.is_one_loop = sum(isinstance(s, (n.Loop, n.While, n.Compact)) for s in kernel.body) == 1
    printer.block(kernel.body)
    guarded = bool(printer.guards)
    if guarded:
        params.append("int64_t *py_error")
    if printer.counts:
        params.append("py_run *py_running")
        printer.lines[begins:begins] = [f"    {COUNTED}"]
    for v in outputs:
        printer.line(f"*{ident(v.name)}_out = {ident(v.name)};")
    free_last(printer)
    result = "int" if guarded else "void"
    if guarded:
        printer.line("return 0;")
    taken = wrapped(params or ("void",), 100, most=90)
    head = f"static {result} {ident(kernel.name)}({taken})"
    if packed_under_conditions(kernel.body, printer.c.offset):
        head = f"{BRANCHES_STAY}\n{head}"
    if mixed_up(kernel.body, printer.c.offset, lambda name: printer.program.buffers[name].dtype):
        head = f"{HALF_VECTORS}\n{head}"
    text = head + " {\n" + "\n".join(printer.lines) + "\n}\n"
    return Function(
        ident(kernel.name),
        text,
        buffers,
        [*scalars, *[v for v in initial if v.name not in known]],
        outputs,
        list(printer.guards),
        printer.estimate.long,
        printer.counts,
    )


def _needs_value(body: Sequence[n.Stmt], name: str) -> bool:
    """Whether the statements may read the scalar before they give it a value, or may give it none: what they hand back
    is then what it was."""
    for s in body:
        if isinstance(s, (n.Assign, n.Let)) and s.name == name:
            return name in variables_read(s.value)
        if isinstance(s, n.Accumulator) and s.name == name:
            return False
        if isinstance(s, n.Compact) and s.count == name and not s.append and name not in scalars_used(s):
            return False
        if name in scalars_used(s) or name in scalars_set(s):
            return True
    return False
