"""Reductions of loops: OpenMP's clauses, sums in parts that threads and vectors make, extremes and where they stand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from transkern.fuse.lanes.blocks import at_most
from transkern.fuse.schedule.columns import PART
from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Apply, Load, Var
from transkern.ir.ops import OPS, TRANSCENDENTAL
from transkern.ir.storage import itemsize
from transkern.ir.traverse import (
    exprs,
    variables_read,
    walk,
)  # fmt: skip
from transkern.targets.clike import ident
from transkern.targets.cpu.printing.extremes import begin_extremes, clause_of, end_extremes, print_extreme
from transkern.targets.cpu.printing.types import TYPES
from transkern.targets.cpu.printing.waking import end_deal
from transkern.targets.operands import kind_of

if TYPE_CHECKING:
    from transkern.targets.cpu.printing.kernels import KernelPrinter


_UNEVEN = 1  # iterations that a thread takes at a time where they do not all cost the same
_SHARED = 16  # the same where each stores its own element: threads that store into one line of a cache wait for it
_FIRST = """#pragma omp declare reduction( \\
    py_first: int64_t: omp_out = omp_out < 0 || (omp_in >= 0 && omp_in < omp_out) ? omp_in : omp_out) \\
    initializer(omp_priv = -1)"""
_ADD_EXACTLY = """static inline void add_exactly(double *high, double *low, double value) {
    const double sum = *high + value;  // two-sum: what the addition rounds away goes into `low`
    const double part = sum - *high;
    const double lost = (*high - (sum - part)) + (value - part);
    if (lost - lost == 0) *low += lost;
    *high = sum;
}"""


@dataclass(slots=True)
class Reducing:
    """What is known of the reductions around a statement."""

    accumulators: dict[str, n.Accumulator] = field(default_factory=dict)
    sums: set[str] = field(default_factory=set)
    short: set[str] = field(default_factory=set)  # sums of no more terms than a block has
    begun: set[str] = field(default_factory=set)  # accumulators of this block that nothing has been taken into
    declared: dict[str, str] = field(default_factory=dict)  # declared OpenMP reductions
    blocked: dict[str, str] = field(default_factory=dict)  # accumulator -> the local name that a block sums into
    extremes: dict[str, tuple[str, str, bool]] = field(default_factory=dict)  # parts around: op, dtype, numbers
    positions: set[str] = field(default_factory=set)  # which the loop around does not look for
    truths: dict[str, str] = field(default_factory=dict)  # truths that are as wide as the floats they are asked of


def pragma_of(
    printer: KernelPrinter, s: n.Loop, outer: Sequence[n.Accumulate], threads: str, simd: bool, deal: str
) -> str:
    """What tells the compiler to run a loop in threads, in vectors, or both; empty where neither."""
    if not threads and not simd:
        return ""
    clauses = "".join(_clause(printer, x) for x in {x.name: x for x in outer}.values())
    words = "#pragma omp"
    schedule = " schedule(static)"
    if threads and _uneven(s):
        rows = any(isinstance(x, n.Store) and x.index and x.index[-1] == Var(s.axis, "index") for x in s.body)
        schedule = f" schedule(static, {_SHARED if rows else _UNEVEN})"
    if threads == "team":
        return words + (" for simd" if simd else " for") + clauses + schedule + " nowait"
    if threads:
        words += " parallel for"
    if simd:
        words += " simd"
    words += clauses
    if threads:
        words += schedule
        if deal:
            words += f" if({'parallel: ' if simd else ''}{deal}.shared)"
    return words


def _clause(printer: KernelPrinter, x: n.Accumulate) -> str:
    acc = printer.reducing.accumulators[x.name]
    name = ident(x.name)
    if is_float_sum(printer, x):
        return f" reduction(+: {name}_high, {name}_low)"
    if x.name in printer.reducing.extremes:
        return clause_of(printer, x.name)
    match x.op:
        case "sum" | "count":
            return f" reduction(+: {name})"
        case "prod":
            return f" reduction(*: {name})"
        case "any":
            return f" reduction(|: {name})"
        case "all":
            return f" reduction(&: {name})"
        case "max" | "min":
            return f" reduction({_extreme(printer, x.op, acc.dtype)}: {name})"
        case "first":
            printer.c.used.setdefault("py_first", _FIRST)
            return f" reduction(py_first: {name})"
        case "last":
            return f" reduction(max: {name})"
        case _:
            return ""


def _extreme(printer: KernelPrinter, op: str, dtype: str) -> str:
    """An OpenMP reduction with NumPy's max or min, NaN included."""
    if kind_of(dtype) != "f":
        return op
    helper = printer.c.helper("maximum" if op == "max" else "minimum", dtype)
    name = f"numpy_{op}_{dtype}"
    sign = "-" if op == "max" else ""
    printer.reducing.declared[name] = (
        f"#pragma omp declare reduction({name}: {TYPES[dtype]}: omp_out = {helper}(omp_out, omp_in)) "
        f"initializer(omp_priv = {sign}INFINITY)"
    )
    return name


def is_float_sum(printer: KernelPrinter, x: n.Accumulate) -> bool:
    return x.op == "sum" and kind_of(printer.reducing.accumulators[x.name].dtype) == "f"


def wide_truths(statements: Sequence[n.Stmt]) -> dict[str, str]:
    """The types of truths that loops find: as wide as the functions of floats in them, else as what they load. A vector
    would have as many lanes as bytes otherwise, truths would be packed, and what is left of a row behind the last of so
    many lanes would go one element at a time."""
    declared = {s.name for s in statements if isinstance(s, n.Accumulator) and s.op in ("any", "all")}
    found: dict[str, set[int]] = {}
    for loop in (x for x in walk(statements) if isinstance(x, n.Loop)):
        names = {x.name for x in loop.body if isinstance(x, n.Accumulate)} & declared
        inside = list(exprs(loop.body)) if names else []
        calls = {
            itemsize(x.dtype) for x in inside
            if isinstance(x, Apply) and x.op in OPS and OPS[x.op].cost >= TRANSCENDENTAL
        }  # fmt: skip
        for name in names:
            found.setdefault(name, set()).update(calls or {itemsize(x.dtype) for x in inside if isinstance(x, Load)})
    wide = {8: "int64_t", 4: "int32_t"}
    return {name: wide[next(iter(sizes))] for name, sizes in found.items() if len(sizes) == 1 and sizes <= wide.keys()}


def accumulator(printer: KernelPrinter, s: n.Accumulator) -> None:
    printer.reducing.accumulators[s.name] = s
    name, kind = ident(s.name), printer.reducing.truths.get(s.name, TYPES[s.dtype])
    if s.op == "sum" and kind_of(s.dtype) == "f":
        printer.reducing.sums.add(s.name)
        if s.name in printer.reducing.short:
            return  # it is what its loop comes to
        printer.line(f"double {name}_high = 0, {name}_low = 0;  // the sum and what rounding took from it")
        return
    initial = {
        "sum": "0", "count": "0", "prod": "1", "any": "false", "all": "true", "first": "-1", "last": "-1",
        "argmax": "-1", "argmin": "-1",
    }.get(s.op)  # fmt: skip
    if s.op in ("max", "min"):
        initial = printer.bound(s.op, s.dtype)
    printer.line(f"{kind} {name} = {initial};")


def accumulate(printer: KernelPrinter, s: n.Accumulate) -> None:
    c, name = printer.c, ident(s.name)
    if s.name in printer.reducing.blocked:
        printer.line(f"{printer.reducing.blocked[s.name]} += {c.expr(s.value)};")
        return
    if is_float_sum(printer, s):
        printer.c.used.setdefault("add_exactly", _ADD_EXACTLY)
        printer.line(f"add_exactly(&{name}_high, &{name}_low, {c.expr(s.value)});")
        return
    if s.name in printer.reducing.positions:
        return
    if s.name in printer.reducing.extremes:
        print_extreme(printer, s)
        return
    value = c.expr(s.value)
    dtype = printer.reducing.accumulators[s.name].dtype
    match s.op:
        case "sum":
            printer.line(f"{name} += {value};")
        case "count":
            printer.line(f"{name} += {value};")
        case "prod":
            printer.line(f"{name} *= {value};")
        case "any":
            printer.line(f"{name} |= {value};")
        case "all":
            printer.line(f"{name} &= {value};")
        case "max" | "min":
            kind = ("maximum", "minimum") if kind_of(dtype) == "f" else ("imax", "imin")
            printer.line(f"{name} = {c.helper(kind[s.op == 'min'], dtype)}({name}, {value});")
        case "argmax" | "argmin":
            _arg(printer, s, value)
        case "first":
            assert s.position is not None
            printer.line(f"if ({name} < 0 && ({value})) {name} = {c.expr(s.position)};")
        case "last":
            assert s.position is not None
            printer.line(f"if ({value}) {name} = {c.expr(s.position)};")
        case _:
            raise AssertionError(s.op)


def _arg(printer: KernelPrinter, s: n.Accumulate, value: str) -> None:
    assert s.position is not None
    name, kind = ident(s.name), printer.c.type(s.value.dtype)
    sign = ">" if s.op == "argmax" else "<"
    printer.line(f"const {kind} {name}_here = {value};")
    nan = f" || ({name}_here != {name}_here && {name}_best == {name}_best)" if kind_of(s.value.dtype) == "f" else ""
    printer.line(f"if ({name} < 0 || {name}_here {sign} {name}_best{nan}) {{")
    printer.line(f"    {name}_best = {name}_here;")
    printer.line(f"    {name} = {printer.c.expr(s.position)};")
    printer.line("}")
    declare_best(printer, s)


def declare_best(printer: KernelPrinter, s: n.Accumulate) -> None:
    """What is best so far stands beside its position."""
    name, kind = ident(s.name), printer.c.type(s.value.dtype)
    declared = (k for k, text in enumerate(printer.lines) if text.strip().startswith(f"int64_t {name} = -1;"))
    at = max(declared)  # a loop may be printed twice
    if f"{name}_best" not in printer.lines[at]:
        printer.lines[at] += f" {kind} {name}_best = 0;"


def begin_parts(printer: KernelPrinter, sums: Sequence[n.Accumulate], others: Sequence[n.Accumulate]) -> str:
    """Declares what a block adds up, and the extrema of its own; OpenMP's reductions for all."""
    for name in dict.fromkeys(x.name for x in sums):
        printer.reducing.blocked[name] = f"{ident(name)}_part"
        printer.line(f"{TYPES[printer.reducing.accumulators[name].dtype]} {ident(name)}_part = 0;")
    clauses = "".join(f" reduction(+: {ident(name)}_part)" for name in dict.fromkeys(x.name for x in sums))
    begin_extremes(printer, others)
    return clauses + "".join(_clause(printer, x) for x in {x.name: x for x in others}.values())


def end_parts(printer: KernelPrinter, sums: Sequence[n.Accumulate]) -> None:
    """Takes what a block has come to into the totals."""
    of = printer.reducing
    end_extremes(printer, [name for name, (op, *_) in of.extremes.items() if of.accumulators[name].op == op])
    for name in dict.fromkeys(x.name for x in sums):
        printer.c.used.setdefault("add_exactly", _ADD_EXACTLY)
        printer.line(f"add_exactly(&{ident(name)}_high, &{ident(name)}_low, {printer.reducing.blocked.pop(name)});")


def blocked_loop(
    printer: KernelPrinter, s: n.Loop, sums: Sequence[n.Accumulate], outer: Sequence[n.Accumulate], threads: str
) -> None:
    """A loop that sums floats: vector sums of blocks, added up exactly."""
    c, i = printer.c, ident(s.axis)
    c.used.setdefault("add_exactly", _ADD_EXACTLY)
    names = list(dict.fromkeys(x.name for x in sums))
    others = [x for x in outer if x.name not in names]
    start, stop = c.expr(s.start), c.operand(s.stop)
    deal = printer.deal(threads)
    if threads:
        clauses = "".join(_clause(printer, x) for x in {x.name: x for x in outer}.values())
        printer.line(f"#pragma omp parallel for{clauses} schedule(static)" + (f" if({deal}.shared)" if deal else ""))
    crossed = not threads and printer.repeated > 0 and _moves(printer, s)
    if crossed:  # GCC splits a loop around where such bounds cross (``i > 0``), and a copy of the sum has no vectors
        printer.line("{")
        printer.depth += 1
        start, stop = _unknown(printer, f"{i}_first", start), _unknown(printer, f"{i}_stop", stop)
    printer.line(f"for (int64_t {i}_block = {start}; {i}_block < {stop}; {i}_block += {PART}) {{")
    printer.depth += 1
    printer.line(f"const int64_t {i}_end = {i}_block + {PART} < {stop} ? {i}_block + {PART} : {stop};")
    clauses = begin_parts(printer, sums, others if printer.vectorises(s) else [])
    if printer.vectorises(s):
        printer.line(f"#pragma omp simd{clauses}")
    printer.line(f"for (int64_t {i} = {i}_block; {i} < {i}_end; ++{i}) {{")
    printer.iteration(s, printer.vectorises(s))
    printer.line("}")
    end_parts(printer, sums)
    for _ in range(1 + crossed):
        printer.depth -= 1
        printer.line("}")
    end_deal(printer, deal)


def _moves(printer: KernelPrinter, s: n.Loop) -> bool:
    """Whether the bounds of a loop are other ones in each iteration of a loop around."""
    bounds = variables_read(s.start) | variables_read(s.stop)
    return any(isinstance(x, n.Loop) and x.axis in bounds for x in walk(printer.program.body))


def _unknown(printer: KernelPrinter, name: str, text: str) -> str:
    """A bound by a name of which the compiler knows nothing."""
    printer.line(f'int64_t {name} = {text}; __asm__("" : "+r"({name}));')
    return name


def short_loop(printer: KernelPrinter, s: n.Loop, sums: Sequence[n.Accumulate]) -> None:
    """A loop of no more terms than a block has: what is summed by it alone is one part."""
    clauses = begin_parts(printer, sums, [])
    if printer.vectorises(s):
        printer.line(f"#pragma omp simd{clauses}")
    printer.line(printer.header(s))
    printer.iteration(s, printer.vectorises(s))
    printer.line("}")
    end_parts(printer, [x for x in sums if x.name not in printer.reducing.short])
    for x in sums:
        printer.reducing.blocked.pop(x.name, None)


def _uneven(loop: n.Loop) -> bool:
    """Whether how long the loops inside are depends on the iteration: in a triangle, half of it may be most of it."""
    moving = {loop.axis}
    for s in walk(loop.body):
        if isinstance(s, n.Let) and variables_read(s.value) & moving:
            moving.add(s.name)
    if any(isinstance(x, n.While) for x in walk(loop.body)):
        return True
    inner = (x for x in walk(loop.body) if isinstance(x, n.Loop) and not x.axis.startswith("lane"))
    return any(variables_read(b.sub(x.stop, x.start)) & moving and at_most(x) is None for x in inner)
