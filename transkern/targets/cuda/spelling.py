"""How types and reductions are spelled in CUDA C++.

A reduction is a small functor: what it starts from, and how two values combine. Threads combine what they have in any
tree over positions, so each is associative up to rounding; floats are summed in double (float32), or in double with the
rounding error carried along (float64).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from transkern.ir import nodes as n
from transkern.ir.expr import Apply, Var
from transkern.ir.storage import storage
from transkern.targets.clike import CPrinter
from transkern.targets.operands import kind_of

TYPES = {
    "bool": "bool", "int8": "signed char", "int16": "short", "int32": "int", "int64": "long long",
    "uint8": "unsigned char", "uint16": "unsigned short", "uint32": "unsigned int", "uint64": "unsigned long long",
    "float16": "Half", "float32": "float", "float64": "double", "index": "long long",
}  # fmt: skip

PREFIX = "static __device__ __forceinline__"


@dataclass(frozen=True, slots=True)
class Reduction:
    """How an accumulator is kept (`type`), combined (`functor`, a C++ type) and read (`read`, a format)."""

    type: str
    functor: str
    read: str
    text: str  # the functor's definition
    needs: tuple[str, ...] = ()  # pieces of the prelude


def reduction(op: str, dtype: str, value_dtype: str, c: CPrinter) -> Reduction:
    """The reduction `op` of values of `value_dtype` with a result of `dtype`."""
    kind = TYPES[dtype]
    if op == "sum" and kind_of(dtype) == "f":
        if dtype == "float64":
            return Reduction("Exact", "AddExactly", "{0}.total()", "", ("exact",))
        text = _functor("add_double", "double", "0.0", "a + b", "float32 sums are taken in double")
        return Reduction("double", "add_double", f"({kind}){{0}}", text)
    if op in ("argmax", "argmin"):
        best = f"Best<{TYPES[value_dtype]}>"
        name = f"{op}_{value_dtype}"
        return Reduction(best, name, "{0}.position", _arg_functor(op, name, value_dtype, c), ("best",))
    name = f"{op}_{dtype}"
    match op:
        case "sum" | "count" | "prod":
            applied = Apply("multiply" if op == "prod" else "add", (Var("a", dtype), Var("b", dtype)), dtype)
            start = c.constant(1 if op == "prod" else 0, dtype)
            return Reduction(kind, name, "{0}", _functor(name, kind, start, c.expr(applied)))
        case "max" | "min":
            applied = Apply("maximum" if op == "max" else "minimum", (Var("a", dtype), Var("b", dtype)), dtype)
            return Reduction(kind, name, "{0}", _functor(name, kind, _extreme(op, dtype, c), c.expr(applied)))
        case "any":
            return Reduction(kind, name, "{0}", _functor(name, kind, "false", "a | b"))
        case "all":
            return Reduction(kind, name, "{0}", _functor(name, kind, "true", "a & b"))
        case "first":  # as an unsigned number, -1 is the largest
            smaller = "(unsigned long long)a < (unsigned long long)b ? a : b"
            return Reduction(kind, name, "{0}", _functor(name, kind, "-1", smaller))
        case "last":
            return Reduction(kind, name, "{0}", _functor(name, kind, "-1", "a > b ? a : b"))
        case _:
            raise AssertionError(op)


def running(op: str, dtype: str, c: CPrinter) -> Reduction:
    """The operator of a scan; it starts from -0.0, so that a first -0.0 stays what it is."""
    op = {"add": "sum", "multiply": "prod", "maximum": "max", "minimum": "min"}.get(op, op)
    if op != "sum" or kind_of(dtype) != "f":
        return reduction(op, dtype, dtype, c)
    if dtype == "float64":
        return Reduction("Exact", "RunExactly", "{0}.total()", "", ("exact",))
    text = _functor("run_double", "double", "-0.0", "a + b", "running float32 sums are taken in double")
    return Reduction("double", "run_double", f"({TYPES[dtype]}){{0}}", text)


def accumulate(s: n.Accumulate, held: Reduction, name: str, c: CPrinter) -> list[str]:
    """Lines that combine the value of `s` into the accumulator `name`."""
    value = c.expr(s.value)
    position = "" if s.position is None else c.expr(s.position)
    match s.op:
        case "sum" if held.type == "Exact":
            return [f"{name}.add({value});"]
        case "sum" if held.type == "double" and s.value.dtype != "float64":
            return [f"{name} += (double)({value});"]
        case "first" | "last":
            combined = f"{held.functor}()({name}, {position})"
            return [f"if ({value}) {name} = {combined};"]
        case "argmax" | "argmin":
            return [f"{name} = {held.functor}()({name}, {held.type}{{{value}, {position}}});"]
        case "count":
            return [f"{name} += {value} ? 1 : 0;" if s.value.dtype == "bool" else f"{name} += {value};"]
        case _:
            return [f"{name} = {held.functor}()({name}, {value});"]


def _functor(name: str, kind: str, start: str, combined: str, note: str = "") -> str:
    comment = f"  // {note}" if note else ""
    return (
        f"struct {name} {{{comment}\n"
        f"    static __device__ {kind} start() {{ return {start}; }}\n"
        f"    __device__ {kind} operator()(const {kind} a, const {kind} b) const {{ return {combined}; }}\n"
        f"}};"
    )


def _arg_functor(op: str, name: str, dtype: str, c: CPrinter) -> str:
    """The first of the largest (smallest) values, as NumPy finds it: a NaN counts as larger (smaller) than all. A
    position of -1, none yet, is the last of all as an unsigned number."""
    kind, sign = TYPES[dtype], ">" if op == "argmax" else "<"
    start = _extreme("max" if op == "argmax" else "min", dtype, c)
    better, alike = f"b.value {sign} a.value", "a.value == b.value"
    if kind_of(dtype) == "f":
        better = f"({better}) | ((b.value != b.value) & (a.value == a.value))"
        alike = f"({alike}) | ((a.value != a.value) & (b.value != b.value))"
    return (
        f"struct {name} {{\n"
        f"    static __device__ Best<{kind}> start() {{ return {{{start}, -1}}; }}\n"
        f"    __device__ Best<{kind}> operator()(const Best<{kind}> &a, const Best<{kind}> &b) const {{\n"
        f"        const bool better = {better};\n"
        f"        const bool alike = {alike};\n"
        f"        const bool earlier = (unsigned long long)b.position < (unsigned long long)a.position;\n"
        f"        return better | (alike & earlier) ? b : a;\n"
        f"    }}\n"
        f"}};"
    )


def _extreme(op: str, dtype: str, c: CPrinter) -> str:
    """The identity of `op` (``max`` or ``min``)."""
    if kind_of(dtype) == "f":
        return "-INFINITY" if op == "max" else "INFINITY"
    if dtype == "bool":
        return "false" if op == "max" else "true"
    limits = np.iinfo(storage(dtype))
    return c.constant(int(limits.min if op == "max" else limits.max), dtype)
