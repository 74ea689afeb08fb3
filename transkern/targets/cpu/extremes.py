"""Maxima and minima in vectors: of floats, what is no number is kept aside, off the way from one element to the next.

float most_part = -INFINITY, most_odd = 0;
#pragma omp simd reduction(numpy_number_max_float32: most_part) reduction(numpy_odd_float32: most_odd)
for (int64_t j = 0; j < n; ++j) {
    const float most_here = a[j];
    most_part = most_part > most_here ? most_part : most_here;   // one instruction
    most_odd = most_here != most_here ? most_here : most_odd;
}
most = maximum(most, most_odd != most_odd ? most_odd : most_part);
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from transkern.ir import nodes as n
from transkern.targets.clike import ident, kind_of

if TYPE_CHECKING:
    from transkern.targets.cpu.kernels import KernelPrinter


def begin_extremes(printer: KernelPrinter, own: Sequence[n.Accumulate]) -> list[str]:
    """Declares the parts of such extrema of floats that a loop in vectors accumulates itself; their names."""
    names: list[str] = []
    for x in own:
        dtype = printer.accumulators[x.name].dtype
        if x.op in ("max", "min") and kind_of(dtype) == "f" and x.name not in names:
            begin_part(printer, x.name, x.op, dtype)
            names.append(x.name)
    return names


def end_extremes(printer: KernelPrinter, names: Sequence[str]) -> None:
    """Takes the parts into what there was before the loop."""
    for name in names:
        acc, c = printer.accumulators[name], ident(name)
        combined = printer.c.helper("maximum" if acc.op == "max" else "minimum", acc.dtype)
        printer.line(f"{c} = {combined}({c}, {end_part(printer, name)});")


def begin_part(printer: KernelPrinter, name: str, op: str, dtype: str) -> str:
    """Declares the part of one extremum; OpenMP's reductions for it."""
    odd = f", {ident(name)}_odd = 0" if kind_of(dtype) == "f" else ""
    printer.line(f"{printer.c.type(dtype)} {ident(name)}_part = {printer.bound(op, dtype)}{odd};")
    printer.extremes[name] = (op, dtype)
    return clause_of(printer, name)


def end_part(printer: KernelPrinter, name: str) -> str:
    """What a part came to."""
    _, dtype = printer.extremes.pop(name)
    c = ident(name)
    if kind_of(dtype) != "f":
        return f"{c}_part"
    printer.line(f"if ({c}_odd != {c}_odd) {c}_part = {c}_odd;")
    return f"{c}_part"


def clause_of(printer: KernelPrinter, name: str) -> str:
    op, dtype = printer.extremes[name]
    if kind_of(dtype) != "f":
        return f" reduction({op}: {ident(name)}_part)"
    kind, helper = printer.c.type(dtype), printer.c.helper(_helper(op, dtype), dtype)
    most, odd = f"numpy_number_{op}_{dtype}", f"numpy_odd_{dtype}"
    printer.reductions[most] = (
        f"#pragma omp declare reduction({most}: {kind}: omp_out = {helper}(omp_out, omp_in)) "
        f"initializer(omp_priv = {printer.bound(op, dtype)})"
    )
    printer.reductions[odd] = (
        f"#pragma omp declare reduction({odd}: {kind}: omp_out = omp_in != omp_in ? omp_in : omp_out) "
        "initializer(omp_priv = 0)"
    )
    return f" reduction({most}: {ident(name)}_part) reduction({odd}: {ident(name)}_odd)"


def print_extreme(printer: KernelPrinter, s: n.Accumulate) -> None:
    """One more element."""
    (op, dtype), c = printer.extremes[s.name], ident(s.name)
    helper = printer.c.helper(_helper(op, dtype), dtype)
    if kind_of(dtype) != "f":
        printer.line(f"{c}_part = {helper}({c}_part, {printer.c.expr(s.value)});")
        return
    printer.line("{")
    printer.line(f"    const {printer.c.type(dtype)} {c}_here = {printer.c.expr(s.value)};")
    printer.line(f"    {c}_part = {helper}({c}_part, {c}_here);")
    printer.line(f"    {c}_odd = {c}_here != {c}_here ? {c}_here : {c}_odd;")
    printer.line("}")


def _helper(op: str, dtype: str) -> str:
    return f"number_{op}imum" if kind_of(dtype) == "f" else f"i{op}"


__all__ = ["begin_extremes", "begin_part", "clause_of", "end_extremes", "end_part", "print_extreme"]
