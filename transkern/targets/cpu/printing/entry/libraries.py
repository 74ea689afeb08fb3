"""Library steps: arrays of the program, as objects, to a function of NumPy's."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import numpy as np

from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.containers import print_text
from transkern.ir.expr import Expr
from transkern.ir.library import IN_PLACE, INTO, drawn_alone, keeping, spell, stable_order
from transkern.ir.storage import itemsize as itemsize_of
from transkern.targets.clike import ident
from transkern.targets.cpu.printing.entry.inner_loops import answered
from transkern.targets.cpu.printing.entry.results import python_call
from transkern.targets.cpu.printing.types import seen_by_numpy

if TYPE_CHECKING:
    from transkern.targets.cpu.printing.module import Module


def called_library(module: Module, s: n.Library) -> None:
    """A library step: the memory of the buffers, as arrays, to a Python function that fills the output."""
    names = [f"a{k}" for k in range(len(s.ins))]
    if s.name == "print":
        text = f"lambda {', '.join(names)}: {print_text(names, dict(s.attributes))}"
    else:
        outs = ["out", *(f"out{k}" for k in range(1, len(s.outs)))]
        given = (*s.attributes, *((o, o) for o in outs))
        value = spell(s.name, "np", tuple(names), given)
        fill = f"np.copyto(out, {value})" if len(outs) == 1 else f"[*map(np.copyto, ({', '.join(outs)}), {value})]"
        if s.name in IN_PLACE:
            fill = f"(np.copyto(out, a0), {IN_PLACE[s.name].format(**dict(s.attributes))})"
        text = f"lambda {', '.join([*outs, *names])}: {fill}" if s.outs else f"lambda: {value}"
        text = INTO.get(s.name, text)
        if s.name in ("argsort", "lexsort"):
            text = stable_order(s.name, **dict(s.attributes)) or text
        if s.name == "drawn":
            text = drawn_alone(outs, names, **dict(s.attributes)) or keeping(text)
    if text not in module.steps:
        module.steps.append(text)
    k = module.steps.index(text)
    if module.program.warns:
        module.line("flags_so_far |= flags_here();  // NumPy lowers them")
    question = answered(module, s)
    timer = _begin_timer(module, s) if question else 0
    module.line(f"if (!{question}) {{" if question else "{")
    module.depth += 1
    arrays = [_operand(module, name, None) for name in s.outs] + [_operand(module, *given) for given in s.operands]
    if text.startswith("np."):  # a function that takes its outputs last
        arrays = arrays[len(s.outs) :] + arrays[: len(s.outs)]
    timer = timer or _begin_timer(module, s)
    module.line(f"PyObject *py_filled = {python_call(f'step_{k}', arrays)};")
    if not question:
        module.end_timer(timer)
    module.line(f"if (!py_filled) {{ py_forget_frames(); {module.leave()[2:]}")
    module.line("Py_DecRef(py_filled);")
    module.depth -= 1
    module.line("}")
    if question:
        module.end_timer(timer)


def _begin_timer(module: Module, s: n.Library) -> int:
    timer = module.begin_timer("library", s.name, s)
    if module.timers is not None:
        module.timers.around.pop()
    return timer


def _operand(module: Module, name: str, view: n.View | None) -> str:
    """An array, or a view of one, as an object that a step is given: the caller's own where it is all of it."""
    info, c = module.program.buffers[name], module.printer.c
    if view is None and info.role == "result":
        return f"(Py_IncRef(py_{ident(name)}_array), py_{ident(name)}_array)"
    own = [k for k, p in enumerate(module.program.params) if isinstance(p, n.ArrayParam) and p.name == name]
    if view is None and own:
        return f"(Py_IncRef(py_args[{own[0]}]), py_args[{own[0]}])"
    dtype, extents = seen_by_numpy(info)
    first, strides = f"(void *){ident(name)}", "NULL"
    same = module.loops > 0 and module.repeating.stays(name) and module.repeating.is_same(extents)
    if view is not None:
        extents = view.dims
        same = same and module.repeating.is_same([*extents, *view.offset, *itertools.chain(*view.steps)])
        first = f"(void *)&{c.element(name, _subscripts(info, view.offset, view.part))}"
        unit = itemsize_of(info.dtype) if info.aligned or info.layout == "C" else 1
        steps = [c.offset(name, _subscripts(info, tuple(s[k] for s in view.steps))) for k in range(len(extents))]
        strides = ", ".join(c.expr(b.mul(b.index(unit), s)) for s in steps) or "0"
        strides = f"(const int64_t[]){{{strides}}}"
        dtype = info.dtype if view.part else dtype
    module.dtypes[dtype] = None
    dims = ", ".join(c.expr(d) for d in extents) or "0"
    shape = f"{len(extents)}, (const int64_t[]){{{dims}}}, {strides}"
    made = module.fresh(f"{ident(name)}_view")
    array = f"as_array({first}, numpy_{dtype}, {np.dtype(dtype).itemsize}, {shape})"
    if same:
        module.shown.append(made)
        module.line(f"if (!{made}) {made} = {array};")
        return f"(Py_IncRef({made}), {made})"
    module.line(f"PyObject *{made} = {array};")
    return made


def _subscripts(buffer: n.Buffer, at: tuple[Expr, ...], part: str = "") -> tuple[Expr, ...]:
    """Where an element that NumPy sees begins in a buffer: of complex ones, the real part or the other."""
    if not buffer.element:
        return at
    last = b.index(int(part == "imag"))
    whole = len(at) == len(buffer.dims) - 1
    return (*at, last) if whole else (b.add(b.mul(b.index(2), at[0]), last),)
