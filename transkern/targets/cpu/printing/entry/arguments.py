"""The entry's arguments: what they must be for this code, and their memory, sizes and strides."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.complexes import float_of, is_complex, parts_of_scalar
from transkern.ir.expr import Var
from transkern.ir.storage import MANY_ROWS, SHORT_ROW
from transkern.targets.clike import ident
from transkern.targets.cpu.printing.entry import small_sizes
from transkern.targets.cpu.printing.types import TYPES, element_type

if TYPE_CHECKING:
    from transkern.targets.cpu.printing.module import Module

MISS = 'return py_miss("types");'

_FORMATS = {
    "bool": "??", "int8": "bb", "uint8": "BB", "int16": "hh", "uint16": "HH", "int32": "ii", "uint32": "II",
    "int64": "lq", "uint64": "LQ", "float16": "ee", "float32": "ff", "float64": "dd",
    "complex64": "FF", "complex128": "DD",
}  # fmt: skip


def take_arrays(module: Module, arrays: Sequence[n.ArrayParam]) -> str:
    """The buffers of all arrays, their sizes and strides by name, and checks of them and of what the code assumes; how
    the entry leaves where one fails."""
    p = module.program
    if arrays:
        module.line(f"Py_buffer py_views[{len(arrays)}];")
        module.line("int py_taken = 0;")
    sizes: dict[str, str] = {}
    checks: list[str] = []
    for k, x in enumerate(arrays):
        at = p.params.index(x)
        kind = _FORMATS[x.dtype]
        module.line(
            f"if (!take_array(py_args[{at}], &py_views[{k}], '{kind[0]}', '{kind[1]}', {len(x.dims)}, "
            f"{int(x.layout == 'C')}, {int(x.aligned)})) goto miss;"
        )
        module.line("++py_taken;")
        for d, dim in enumerate(x.dims):
            have = f"py_views[{k}].shape[{d}]"
            if isinstance(dim, Var) and dim.name not in sizes:
                sizes[dim.name] = have
                checks.append(f"{have} == 1")
            elif isinstance(dim, Var):
                checks.append(f"{have} != {ident(dim.name)}")
            else:
                checks.append(f"{have} != {b.constant(dim)}")
    for name_, have in sizes.items():
        module.line(f"const int64_t {ident(name_)} = {have};")
    if not p.signature:  # there is better code for short rows, if it may be made
        checks += [_short_rows(k, x) for k, x in enumerate(arrays) if isinstance((x.dims[1:] or (0,))[-1], Var)]
    if small_sizes.is_asked(p):
        checks.append(f"({small_sizes.question(p, arrays)})")
    if checks:
        module.line(f"if ({' || '.join(checks)}) goto miss;")
    leave = "goto miss;" if arrays else "return py_miss(py_reason);"
    for condition in p.assumptions:
        module.line(f'if (!({module.printer.c.expr(condition)})) {{ py_reason = "sizes"; {leave} }}')
    for k, x in enumerate(arrays):
        if x.written:
            at = p.params.index(x)
            module.line(f'if (is_readonly(py_args[{at}], &py_views[{k}])) {{ py_reason = "readonly"; goto miss; }}')
            if x.layout != "C":
                module.line(f'if (overlaps_itself(&py_views[{k}])) {{ py_reason = "itself {x.name}"; goto miss; }}')
    overlaps = [
        f"overlap(&py_views[{i}], &py_views[{j}])" for i, x in enumerate(arrays) for j, y in enumerate(arrays)
        if i != j and x.written and (not y.written or i < j) and not (x.base and x.base == y.base)
    ]  # fmt: skip
    if overlaps:
        module.line(f'if ({" || ".join(overlaps)}) {{ py_reason = "overlap"; goto miss; }}')
    for base in dict.fromkeys(x.base for x in arrays if x.base):
        _shared(module, base, [k for k, x in enumerate(arrays) if x.base == base], arrays)
    for k, x in enumerate(arrays):
        if x.base:
            continue
        const = "" if x.written else "const "
        kind = TYPES[p.buffers[x.name].dtype]
        module.line(f"{const}{element_type(p.buffers[x.name])} *{ident(x.name)} = py_views[{k}].buf;")
        if x.layout != "C":
            unit = f" / (int64_t)sizeof({kind})" if x.aligned else ""
            for d in range(len(x.dims)):
                module.line(f"const int64_t {ident(x.name)}_stride{d} = py_views[{k}].strides[{d}]{unit};")
            if p.buffers[x.name].element:
                _to_the_other_part(module, x.name, len(x.dims), kind, x.aligned)
    return leave


def _shared(module: Module, base: str, members: Sequence[int], arrays: Sequence[n.ArrayParam]) -> None:
    """The memory that several arguments share: its lowest address, and where in it each argument begins."""
    info, aligned = module.program.buffers[base], arrays[members[0]].aligned
    unit = np.dtype(arrays[members[0]].dtype).itemsize if aligned else 1
    name = ident(base)
    module.line(f"{element_type(info)} *{name} = lowest(&py_views[{members[0]}]);")
    for k in members[1:]:
        module.line(f"if ((void *){name} > lowest(&py_views[{k}])) {name} = lowest(&py_views[{k}]);")
    for k in members:
        x = arrays[k]
        if aligned:
            module.line(f"if (((char *)py_views[{k}].buf - (char *){name}) % {unit}) goto miss;")
        module.line(f"const int64_t {ident(x.name)}_offset = ((char *)py_views[{k}].buf - (char *){name}) / {unit};")
        for d in range(len(x.dims)):
            module.line(f"const int64_t {ident(x.name)}_stride{d} = py_views[{k}].strides[{d}] / {unit};")
    if not aligned:
        module.line(f"const int64_t {base}_stride0 = 1;  // offsets and strides are in bytes")
        if info.element:
            _to_the_other_part(module, base, 1, TYPES[info.dtype], aligned)


def _to_the_other_part(module: Module, name: str, axis: int, kind: str, aligned: bool) -> None:
    """The step from the real part of a complex number to the other."""
    step = "1" if aligned else f"sizeof({kind})"
    module.line(f"const int64_t {name}_stride{axis} = {step};  // from the real part to the other")


def take_scalar(module: Module, k: int, x: n.ScalarParam) -> None:
    miss = f"{{ {MISS} }}"
    name = ident(x.name)
    match x.python:
        case "int":
            module.line("int py_overflow_" + name + " = 0;")
            module.line(f"if (py_args[{k}]->ob_type != &PyLong_Type) {miss}")
            module.line(f"const int64_t {name} = PyLong_AsLongLongAndOverflow(py_args[{k}], &py_overflow_{name});")
            module.line(f"if (py_overflow_{name}) {miss}")
        case "float":
            module.line(f"if (py_args[{k}]->ob_type != &PyFloat_Type) {miss}")
            module.line(f"const double {name} = PyFloat_AsDouble(py_args[{k}]);")
        case "bool":
            module.line(f"if (py_args[{k}] != &_Py_TrueStruct && py_args[{k}] != &_Py_FalseStruct) {miss}")
            module.line(f"const bool {name} = py_args[{k}] == &_Py_TrueStruct;")
        case "complex":
            module.line(f"if (py_args[{k}]->ob_type != &PyComplex_Type) {miss}")
            for part, read in zip(parts_of_scalar(x.name), ("Real", "Imag"), strict=True):
                module.line(f"const double {ident(part)} = PyComplex_{read}AsDouble(py_args[{k}]);")
        case _:  # a NumPy scalar: its type is exact, its memory is read through the buffer protocol
            module.dtypes[x.dtype] = None
            module.line(f"if (py_args[{k}]->ob_type != numpy_{x.dtype}) {miss}")
            module.line(f"Py_buffer py_held_{name};")
            module.line(f"if (PyObject_GetBuffer(py_args[{k}], &py_held_{name}, 0)) return NULL;")
            kind = TYPES[float_of(x.dtype) if is_complex(x.dtype) else x.dtype]
            for at, part in enumerate(parts_of_scalar(x.name) if is_complex(x.dtype) else (x.name,)):
                module.line(f"const {kind} {ident(part)} = ((const {kind} *)py_held_{name}.buf)[{at}];")
            module.line(f"PyBuffer_Release(&py_held_{name});")


def _short_rows(view: int, param: n.ArrayParam) -> str:
    """Whether an argument has many rows of few elements, as C."""
    view_, last = f"py_views[{view}]", f"py_views[{view}].shape[{len(param.dims) - 1}]"
    many = f"{view_}.len >= {MANY_ROWS} * {last} * {view_}.itemsize"
    return f"({last} > 1 && {last} <= {SHORT_ROW} && {many})"
