"""The entry's arrays: memory of results and temporaries, and when it is given back."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.storage import itemsize as itemsize_of
from transkern.ir.traverse import buffers_allocated, buffers_used, buffers_written, walk
from transkern.targets.clike import ident
from transkern.targets.cpu.printing import glue
from transkern.targets.cpu.printing.memory import BYTES, RESERVE, bytes_of, reserving
from transkern.targets.cpu.printing.types import seen_by_numpy

if TYPE_CHECKING:
    from transkern.targets.cpu.printing.module import Module


def allocate(module: Module, buffer: str) -> None:
    info = module.program.buffers[buffer]
    name, c = ident(buffer), module.printer.c
    again = bool(module.loops) or buffer in module.allocated
    if buffer not in module.allocated:
        module.allocated.append(buffer)
    size = b.product(info.dims)
    if info.role == "result":
        dtype, extents = seen_by_numpy(info)
        module.dtypes[dtype] = None
        dims = ", ".join(c.expr(d) for d in extents) or "0"
        module.line(f"if (py_{name}_array) Py_DecRef(py_{name}_array);")
        itemsize = itemsize_of(info.dtype)
        constant = b.constant(size)
        if (constant is not None and constant * itemsize < glue.LARGE) or not extents:
            made = f"new_array(numpy_{dtype}, {len(extents)}, (const int64_t[]){{{dims}}}, (void **)&{name})"
        else:
            made = large_array(module, dtype, len(extents), dims, f"(void **)&{name}")
        module.line(f"py_{name}_array = {made};")
        module.line(f"if (!py_{name}_array) {module.leave()}")
        return
    if info.is_reserved:
        c.used["reserve"] = RESERVE
        missing = f"!({name} = {reserving(c, info)})"
    else:
        c.used["py_bytes"] = BYTES
        module.makes_temporaries = True
        missing = f"!({name} = py_array({bytes_of(c, info)}))"
    if module.loops and module.repeating.keeps(buffer):
        missing = f"!{name} && {missing}"  # or what the iteration before had
    elif again:
        clear(module, buffer)
    module.line(f"if ({missing}) {{")
    module.line(f"    PyErr_NoMemory(); {module.leave()}")
    module.line("}")


def large_array(module: Module, dtype: str, ndim: int, dims: str, data: str) -> str:
    """A new array that may be large."""
    module.printer.c.used["py_bytes"] = BYTES
    module.makes_large = True
    return f"large_array(numpy_{dtype}, {np.dtype(dtype).itemsize}, {ndim}, (const int64_t[]){{{dims}}}, {data})"


def clear(module: Module, buffer: str) -> None:
    module.line(f"{'release' if module.program.buffers[buffer].is_reserved else 'py_clear'}({ident(buffer)});")


def last_uses(module: Module) -> dict[int, list[str]]:
    """Which temporaries the steps of the program, by their numbers, are the last to use, if kernels follow: these
    find their memory in the caches."""
    body = module.program.body
    working = [k for k, s in enumerate(body) if any(isinstance(x, (n.Kernel, n.Library)) for x in walk([s]))]
    last: dict[str, int] = {}
    for k, s in enumerate(body):
        last.update(dict.fromkeys((*buffers_used(s), *buffers_written(s), *buffers_allocated(s)), k))
    found: dict[int, list[str]] = {}
    for buffer, info in module.program.buffers.items():
        k = last.get(buffer, len(body))
        if info.role != "result" and not info.is_reserved and working and k < working[-1]:
            found.setdefault(k, []).append(buffer)
    return found
