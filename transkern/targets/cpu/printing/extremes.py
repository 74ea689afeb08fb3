"""Maxima and minima in vectors: of floats, what is no number is kept aside, off the way from one element to the next.

float most_part = -INFINITY, most_odd = 0;
#pragma omp simd reduction(numpy_number_max_float32: most_part) reduction(numpy_odd_float32: most_odd)
for (int64_t j = 0; j < n; ++j) {
    const float most_here = a[j];
    most_part = most_part > most_here ? most_part : most_here;   // one instruction
    most_odd = most_here != most_here ? most_here : most_odd;
}
most = maximum(most, most_odd != most_odd ? most_odd : most_part);

Where all values are numbers, as those of a choice that compares them are, nothing is kept aside.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from transkern.ir import nodes as n
from transkern.ir.expr import Apply, Const, Expr
from transkern.ir.facts import conjuncts
from transkern.targets.clike import ident
from transkern.targets.operands import kind_of

if TYPE_CHECKING:
    from transkern.targets.cpu.printing.kernels import KernelPrinter


def begin_extremes(printer: KernelPrinter, own: Sequence[n.Accumulate]) -> list[str]:
    """Declares the parts of such extrema of floats that a loop in vectors accumulates itself; their names."""
    names: list[str] = []
    for x in own:
        dtype = printer.reducing.accumulators[x.name].dtype
        if x.op in ("max", "min") and kind_of(dtype) == "f" and x.name not in names:
            begin_part(printer, x.name, x.op, dtype, all(is_number(y.value) for y in own if y.name == x.name))
            names.append(x.name)
    return names


def end_extremes(printer: KernelPrinter, names: Sequence[str]) -> None:
    """Takes the parts into what there was before the loop."""
    for name in names:
        acc, c = printer.reducing.accumulators[name], ident(name)
        combined = printer.c.helper("maximum" if acc.op == "max" else "minimum", acc.dtype)
        printer.line(f"{c} = {combined}({c}, {end_part(printer, name)});")


def is_number(value: Expr) -> bool:
    """Whether a value is never NaN: an integer, or a choice that compares it, and else has a number."""
    match value:
        case Const(x):
            return x == x
        case Apply("where", (condition, x, y), _) if is_number(y):
            compared = (c.args for c in conjuncts(condition) if isinstance(c, Apply) and c.op in _ORDER)
            return is_number(x) or any(x in operands for operands in compared)
        case _:
            return kind_of(value.dtype) != "f"


_ORDER = ("less", "less_equal", "greater", "greater_equal", "equal")


def begin_part(printer: KernelPrinter, name: str, op: str, dtype: str, numbers: bool = False) -> str:
    """Declares the part of one extremum, of `numbers` alone or of what may be NaN; OpenMP's reductions for it."""
    numbers = numbers or kind_of(dtype) != "f"
    odd = "" if numbers else f", {ident(name)}_odd = 0"
    printer.line(f"{printer.c.type(dtype)} {ident(name)}_part = {printer.bound(op, dtype)}{odd};")
    printer.reducing.extremes[name] = (op, dtype, numbers)
    return clause_of(printer, name)


def end_part(printer: KernelPrinter, name: str) -> str:
    """What a part came to."""
    *_, numbers = printer.reducing.extremes.pop(name)
    c = ident(name)
    if numbers:
        return f"{c}_part"
    printer.line(f"if ({c}_odd != {c}_odd) {c}_part = {c}_odd;")
    return f"{c}_part"


def clause_of(printer: KernelPrinter, name: str) -> str:
    op, dtype, numbers = printer.reducing.extremes[name]
    if kind_of(dtype) != "f":
        return f" reduction({op}: {ident(name)}_part)"
    kind, helper = printer.c.type(dtype), printer.c.helper(_helper(op, dtype), dtype)
    most, odd = f"numpy_number_{op}_{dtype}", f"numpy_odd_{dtype}"
    printer.reducing.declared[most] = (
        f"#pragma omp declare reduction({most}: {kind}: omp_out = {helper}(omp_out, omp_in)) "
        f"initializer(omp_priv = {printer.bound(op, dtype)})"
    )
    printer.reducing.declared[odd] = (
        f"#pragma omp declare reduction({odd}: {kind}: omp_out = omp_in != omp_in ? omp_in : omp_out) "
        "initializer(omp_priv = 0)"
    )
    return f" reduction({most}: {ident(name)}_part)" + f" reduction({odd}: {ident(name)}_odd)" * (not numbers)


def print_extreme(printer: KernelPrinter, s: n.Accumulate) -> None:
    """One more element."""
    (op, dtype, numbers), c = printer.reducing.extremes[s.name], ident(s.name)
    helper = printer.c.helper(_helper(op, dtype), dtype)
    if numbers:
        printer.line(f"{c}_part = {helper}({c}_part, {printer.c.expr(s.value)});")
        return
    printer.line("{")
    printer.line(f"    const {printer.c.type(dtype)} {c}_here = {printer.c.expr(s.value)};")
    printer.line(f"    {c}_part = {helper}({c}_part, {c}_here);")
    printer.line(f"    {c}_odd = {c}_here != {c}_here ? {c}_here : {c}_odd;")
    printer.line("}")


def _helper(op: str, dtype: str) -> str:
    return f"number_{op}imum" if kind_of(dtype) == "f" else f"i{op}"


__all__ = ["begin_extremes", "begin_part", "clause_of", "end_extremes", "end_part", "is_number", "print_extreme"]
