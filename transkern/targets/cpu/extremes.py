"""Maxima and minima of floats in vectors: what is no number is kept aside, off the way from one element to the next.

float most_part = -INFINITY, most_odd = 0;
#pragma omp simd reduction(numpy_number_max_float32: most_part) reduction(numpy_odd_float32: most_odd)
for (int64_t j = 0; j < n; ++j) {
    const float here = a[j];
    most_part = most_part > here ? most_part : here;   // one instruction
    most_odd = here != here ? here : most_odd;
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
    """Declares the parts of such extrema that a loop in vectors accumulates itself; their names, for its end."""
    names: dict[str, n.Accumulate] = {}
    for x in own:
        if x.op in ("max", "min") and kind_of(printer.accumulators[x.name].dtype) == "f":
            names.setdefault(x.name, x)
    for name, x in names.items():
        kind = printer.c.type(printer.accumulators[name].dtype)
        printer.line(f"{kind} {ident(name)}_part = {_bound(x.op)}, {ident(name)}_odd = 0;")
    printer.extremes |= set(names)
    return list(names)


def end_extremes(printer: KernelPrinter, names: Sequence[str]) -> None:
    for name in names:
        printer.extremes.discard(name)
        acc, c = printer.accumulators[name], ident(name)
        combined = printer.c.helper("maximum" if acc.op == "max" else "minimum", acc.dtype)
        printer.line(f"{c} = {combined}({c}, {c}_odd != {c}_odd ? {c}_odd : {c}_part);")


def clause_of(printer: KernelPrinter, name: str) -> str:
    """OpenMP's reductions of the two parts."""
    acc, kind = printer.accumulators[name], printer.c.type(printer.accumulators[name].dtype)
    helper = printer.c.helper(_helper(acc.op), acc.dtype)
    most, odd = f"numpy_number_{acc.op}_{acc.dtype}", f"numpy_odd_{acc.dtype}"
    printer.reductions[most] = (
        f"#pragma omp declare reduction({most}: {kind}: omp_out = {helper}(omp_out, omp_in)) "
        f"initializer(omp_priv = {_bound(acc.op)})"
    )
    printer.reductions[odd] = (
        f"#pragma omp declare reduction({odd}: {kind}: omp_out = omp_in != omp_in ? omp_in : omp_out) "
        "initializer(omp_priv = 0)"
    )
    return f" reduction({most}: {ident(name)}_part) reduction({odd}: {ident(name)}_odd)"


def print_extreme(printer: KernelPrinter, s: n.Accumulate) -> None:
    acc, c = printer.accumulators[s.name], ident(s.name)
    helper = printer.c.helper(_helper(acc.op), acc.dtype)
    printer.line("{")
    printer.line(f"    const {printer.c.type(acc.dtype)} {c}_here = {printer.c.expr(s.value)};")
    printer.line(f"    {c}_part = {helper}({c}_part, {c}_here);")
    printer.line(f"    {c}_odd = {c}_here != {c}_here ? {c}_here : {c}_odd;")
    printer.line("}")


def _helper(op: str) -> str:
    return "number_maximum" if op == "max" else "number_minimum"


def _bound(op: str) -> str:
    return "-INFINITY" if op == "max" else "INFINITY"


__all__ = ["begin_extremes", "clause_of", "end_extremes", "print_extreme"]
