"""What the entry of a compiled module hands back: objects of Python's made of what its kernels have computed."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.containers import container_text
from transkern.ir.expr import Apply
from transkern.ir.storage import storage
from transkern.targets.clike import ident
from transkern.targets.cpu.printing.entry.arrays import large_array
from transkern.targets.cpu.printing.types import TYPES, seen_by_numpy

if TYPE_CHECKING:
    from transkern.targets.cpu.printing.module import Module


def result_text(module: Module, r: n.Result) -> str:
    """An expression for a new reference to the result."""
    c = module.printer.c
    match r:
        case n.ConstantResult(None):
            return "(Py_IncRef(&_Py_NoneStruct), &_Py_NoneStruct)"
        case n.UNCHANGED:
            return "(Py_IncRef(&_Py_EllipsisObject), &_Py_EllipsisObject)"
        case n.ConstantResult(bool() as value):
            return f"PyBool_FromLong({int(value)})"
        case n.ConstantResult(int() as value):
            return f'PyLong_FromString("{int(value)}", NULL, 10)'  # of any size
        case n.ConstantResult(float() as value):
            return f"PyFloat_FromDouble({c.constant(value, 'float64')})"
        case n.ConstantResult(str() as value):
            if value.isascii() and value.isprintable():
                return f"PyUnicode_FromString({json.dumps(value)})"
            return called(module, f"lambda: {value!a}", [])  # any text: with zeros in it, or half a character
        case n.ArgumentResult(name):
            at = next(k for k, p in enumerate(module.program.params) if p.name == name)
            return f"(Py_IncRef(py_args[{at}]), py_args[{at}])"
        case n.ConstantResult(complex() as value):
            return complex_number(module, *(c.constant(v, "float64") for v in (value.real, value.imag)))
        case n.ScalarResult(Apply("complex", (real, imag), dtype), python):
            return complex_number(module, c.expr(real), c.expr(imag), "" if python else dtype)
        case n.ScalarResult(value, True):
            text = c.expr(value)
            make = {"bool": "PyBool_FromLong", "index": "PyLong_FromLongLong"}.get(
                value.dtype, "PyFloat_FromDouble"
            )
            return f"{make}({text})"
        case n.ScalarResult(value, False):
            dtype = storage(value.dtype)
            return numpy_scalar(module, c.expr(value), value.dtype, dtype)
        case n.ArrayResult():
            return array_result(module, r)
        case n.ListResult(buffer, count, dtype, python, dims):
            return list_result(module, buffer, c.expr(count), dtype, python, tuple(c.expr(d) for d in dims))
        case n.ViewResult():
            return view_result(module, r)
        case n.TupleResult(items, kind):
            if kind not in ("tuple", "list"):
                return container(module, r)
            held = module.fresh("items")
            make, put = ("PyList_New", "PyList_SetItem") if kind == "list" else ("PyTuple_New", "PyTuple_SetItem")
            module.line(f"PyObject *{held} = {make}({len(items)});")
            module.line(f"if (!{held}) {module.leave()}")
            for k, item in enumerate(items):
                module.line(f"{put}({held}, {k}, {result_text(module, item)});")
            return held
        case _:
            raise AssertionError(r)


def complex_number(module: Module, real: str, imag: str, dtype: str = "") -> str:
    """Python's complex number of two parts, or NumPy's."""
    made = f"PyComplex_FromDoubles({real}, {imag})"
    if not dtype:
        return made
    held, out = module.fresh("number"), module.fresh("scalar")
    module.dtypes[dtype] = None
    module.line(f"PyObject *{held} = {made};")
    module.line(f"PyObject *{out} = {python_call(f'numpy_{dtype}', [held])};")
    return out


def container(module: Module, r: n.TupleResult) -> str:
    """A dict, an object, or a list of tuples: made by a small Python function of its parts."""
    made = made_of_parts(module, r)
    if r.kind == "raise":
        module.line(f"if ({made}) tell(self, {made}, {module.places.number(module.span)}, py_args, py_count);")
    return made


def made_of_parts(module: Module, r: n.TupleResult) -> str:
    parts = [result_text(module, item) for item in r.items]
    names = [module.fresh("part") for _ in parts]
    for name, part in zip(names, parts, strict=True):
        module.line(f"PyObject *{name} = {part};")
    return called(module, container_text(r), names)


def called(module: Module, text: str, names: Sequence[str]) -> str:
    """The value of a Python function of objects, which are given up."""
    if text not in module.steps:
        module.steps.append(text)
    held = module.fresh("made")
    module.line(f"PyObject *{held} = {python_call(f'step_{module.steps.index(text)}', names)};")
    return held


def numpy_scalar(module: Module, value: str, ctype: str, dtype: str) -> str:
    module.dtypes[dtype] = None
    match np.dtype(dtype).kind:
        case "f":
            made = f"PyFloat_FromDouble({value})"
        case "b":
            made = f"PyBool_FromLong({value})"
        case "u" if dtype == "uint64":
            held = module.fresh("number")
            module.line(f'PyObject *{held} = Py_BuildValue("K", (unsigned long long)({value}));')
            made = held
        case _:
            made = f"PyLong_FromLongLong({value})"
    held = module.fresh("number")
    module.line(f"PyObject *{held} = {made};")
    out = module.fresh("scalar")
    module.line(f"PyObject *{out} = {python_call(f'numpy_{dtype}', [held])};")
    return out


def array_result(module: Module, r: n.ArrayResult) -> str:
    info = module.program.buffers[r.buffer]
    name, c = ident(r.buffer), module.printer.c
    if r.dims == seen_by_numpy(info)[1] and info.role == "result":
        made = f"(Py_IncRef(py_{name}_array), py_{name}_array)"
    else:
        made = cut(module, r, info)
    if r.empty_dtype and r.empty_dtype != r.dtype and b.constant(r.dims[0]) != 0:
        held = module.fresh("array")
        module.dtypes[r.empty_dtype] = None
        dims = ", ".join(c.expr(d) for d in r.dims)
        module.line(f"PyObject *{held};")
        module.line("{")
        module.line("    void *py_unused;")
        shape = f"{len(r.dims)}, (const int64_t[]){{{dims}}}"
        empty = f"new_array(numpy_{r.empty_dtype}, {shape}, &py_unused)"
        module.line(f"    {held} = ({c.expr(r.dims[0])}) ? {made} : {empty};")
        module.line("}")
        return held
    return made


def cut(module: Module, r: n.ArrayResult, info: n.Buffer) -> str:
    """A copy of the front of a buffer, of the size found at run time."""
    dtype, c = seen_by_numpy(info)[0], module.printer.c
    module.dtypes[dtype] = None
    held = module.fresh("array")
    dims = ", ".join(c.expr(d) for d in r.dims)
    size = c.expr(b.product(r.dims) if not info.element else b.mul(b.index(2), b.product(r.dims)))
    module.line(f"void *{held}_data;")
    module.line(f"PyObject *{held} = {large_array(module, dtype, len(r.dims), dims, f'&{held}_data')};")
    module.line(f"if ({held}) memcpy({held}_data, {ident(r.buffer)}, ({size}) * sizeof({TYPES[info.dtype]}));")
    return held


def list_result(module: Module, buffer: str, count: str, dtype: str, python: bool, dims: Sequence[str]) -> str:
    if not buffer:
        return "PyList_New(0)"
    numpy_dtype = storage(dtype)
    module.dtypes[numpy_dtype] = None
    held = module.fresh("list")
    module.line(f"void *{held}_data;")
    module.line(
        f"PyObject *{held}_array = new_array(numpy_{numpy_dtype}, {1 + len(dims)}, "
        f"(const int64_t[]){{{', '.join([count, *dims])}}}, &{held}_data);"
    )
    info = module.program.buffers[buffer]
    size = " * ".join(f"({d})" for d in [count, *dims, *("2" for _ in [1] if info.element)])
    module.line(f"if ({held}_array && ({count}))")
    module.line(f"    memcpy({held}_data, {ident(buffer)}, {size} * sizeof({TYPES[info.dtype]}));")
    if dims:
        return called(module, "lambda a: [row.copy() for row in a]", [f"{held}_array"])
    made = f'PyObject_CallMethod({held}_array, "tolist", NULL)' if python else f"PySequence_List({held}_array)"
    module.line(f"PyObject *{held} = {made};")
    module.line(f"Py_DecRef({held}_array);")
    return held


def view_result(module: Module, r: n.ViewResult) -> str:
    """A view of an argument, made by NumPy over the argument's own memory."""
    c = module.printer.c
    at = next(k for k, p in enumerate(module.program.params) if p.name == r.buffer)
    # a position in C-contiguous memory
    linear = len(r.offset) < len(seen_by_numpy(module.program.buffers[r.buffer])[1])
    base = ("x.reshape(-1)" if linear else "x") + (f".{r.part}" if r.part else "")
    first = f"{base}[(..., *(slice(i, i + 1) for i in at))]"  # [()] of an array without axes is a number
    how = ", writeable=False" if r.readonly else ""
    text = f"lambda x, d, s, *at: np.lib.stride_tricks.as_strided({first}, d, s{how})"
    if text not in module.steps:
        module.steps.append(text)
    k = module.steps.index(text)
    view = [x.name for x in module.program.params if isinstance(x, n.ArrayParam)].index(r.buffer)
    dims, strides = module.fresh("dims"), module.fresh("strides")
    module.line(f"PyObject *{dims} = PyTuple_New({len(r.dims)}), *{strides} = PyTuple_New({len(r.dims)});")
    for d, extent in enumerate(r.dims):
        module.line(f"PyTuple_SetItem({dims}, {d}, PyLong_FromLongLong({c.expr(extent)}));")
        terms = " + ".join(
            f"({c.expr(step[d])}) * py_views[{view}].{'itemsize' if linear else f'strides[{p}]'}"
            for p, step in enumerate(r.steps)
            if step[d] != b.ZERO
        )
        module.line(f"PyTuple_SetItem({strides}, {d}, PyLong_FromLongLong({terms or 0}));")
    at_names = []
    for extent in r.offset:
        name = module.fresh("at")
        module.line(f"PyObject *{name} = PyLong_FromLongLong({c.expr(extent)});")
        at_names.append(name)
    out = module.fresh("view")
    given = ", ".join([f"py_args[{at}]", dims, strides, *at_names])
    module.line(f"PyObject *{out} = PyObject_CallFunctionObjArgs(step_{k}, {given}, NULL);")
    for name in (dims, strides, *at_names):
        module.line(f"Py_DecRef({name});")
    return out


def python_call(function: str, given: Sequence[str]) -> str:
    """A call of a Python function with objects that are given up, whether they are there or not."""
    return f"py_step({function}, {len(given)}, (PyObject *[]){{{', '.join(given) or 'NULL'}}})"
