"""Products of matrices and small systems of equations: the loops in NumPy's own functions, called without what Python
and NumPy do around them.

`np.matmul` takes a microsecond to look at three arrays, which have to be made of memory first, and BLAS a tenth of that
for a matrix of 32 rows and a vector. `np.linalg.inv` takes some microseconds to look at its argument, make an array and
watch for errors, and LAPACK a tenth of that for four rows. The functions are ufuncs, whose loops NumPy's C interface
shows (`PyUFuncObject`): they take addresses, sizes and strides. What they find no solution for they fill with NaN; then
the step is done as it stands, and raises what NumPy raises. So it is where NumPy keeps its functions elsewhere one day.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Expr
from transkern.ir.storage import itemsize as itemsize_of
from transkern.targets.clike import ident

if TYPE_CHECKING:
    from transkern.targets.cpu.printing.module import Module

INNER_LOOPS = """
// ---- The loops of NumPy's ufuncs for operands that are all of one type
typedef struct { void (*call)(char **, const intptr_t *, const intptr_t *, void *); void *data; } py_inner;
typedef struct {  // NumPy's PyUFuncObject, as far as it has ever been
    PyObject head; int ins, outs, operands, identity;
    void (**functions)(char **, const intptr_t *, const intptr_t *, void *); void **data; int loops, reserved;
    const char *name, *types;
} py_ufunc;
static inline py_inner py_inner_of(const char *path, const char *name, int operands, int number) {
    py_inner found = {0};
    PyObject *module = PyImport_ImportModule(path);
    PyObject *object = module ? PyObject_GetAttrString(module, name) : NULL;
    PyObject *type = object ? PyObject_GetAttrString(numpy, "ufunc") : NULL;
    if (type && object->ob_type == type) {
        const py_ufunc *ufunc = (const py_ufunc *)object;
        const int is_it = ufunc->operands == operands && ufunc->ins + ufunc->outs == operands;
        for (int k = 0; is_it && k < ufunc->loops && !found.call; ++k) {
            int fits = 1;
            for (int j = 0; j < operands; ++j) fits &= ufunc->types[k * operands + j] == number;  // the dtype's
            if (fits) found = (py_inner){ufunc->functions[k], ufunc->data[k]};
        }
    }
    if (type) Py_DecRef(type);
    if (object) Py_DecRef(object);
    if (module) Py_DecRef(module);
    PyErr_Clear();
    return found;
}
// Whether the loop has been called, and has found a solution.
static inline int py_solved(py_inner loop, char **operands, const intptr_t *sizes, const intptr_t *strides, int last) {
    if (!loop.call || sizes[1] <= 0) return 0;
    loop.call(operands, sizes, strides, loop.data);
    const double first = *(const double *)operands[last];
    return first == first;
}
// Whether the loop of products has been called. Long ones run without Python's lock.
static inline int py_multiplied(py_inner loop, char **operands, const intptr_t *sizes, const intptr_t *strides) {
    if (!loop.call || sizes[1] <= 0 || sizes[2] <= 0 || sizes[3] <= 0) return 0;
    void *lock = (double)sizes[1] * sizes[2] * sizes[3] >= 30000 ? PyEval_SaveThread() : NULL;
    loop.call(operands, sizes, strides, loop.data);
    if (lock) PyEval_RestoreThread(lock);
    return 1;
}
"""


class Inner(NamedTuple):
    """A loop of a ufunc's: where the ufunc is found, how many operands it has, and of which type they are."""

    module: str
    function: str
    operands: int
    dtype: str

    @property
    def name(self) -> str:
        return f"inner_{self.function}_{self.dtype}"

    def found(self) -> str:
        """C text that finds it."""
        number = np.dtype(self.dtype).num
        return f'{self.name} = py_inner_of("{self.module}", "{self.function}", {self.operands}, {number});'


_SYSTEMS = "numpy.linalg._umath_linalg"

_FUNCTIONS = {
    ("inv", 2): "inv", ("solve", 1): "solve1", ("solve", 2): "solve", ("cholesky", 2): "cholesky_lo", ("det", 2): "det",
    ("eigh", 2): "eigh_{uplo}", ("eigvalsh", 2): "eigvalsh_{uplo}",
}  # fmt: skip
"""Which function of NumPy's a step is, by the axes of its last operand."""
_UPLO = {"L": "lo", "U": "up"}


def answered(module: Module, s: n.Library) -> str:
    """The question whether a step is done by calling a loop of NumPy's; empty where it is none of these steps."""
    if not s.ins or not s.outs or module.program.warns:  # the flags would be those of LAPACK
        return ""
    return _multiplied(module, s) if s.name == "matmul" else _solved(module, s)


def _solved(module: Module, s: n.Library) -> str:
    infos = [module.program.buffers[name] for name in (*s.ins, *s.outs)]
    function = _FUNCTIONS.get((s.name, len(infos[len(s.ins) - 1].dims)), "")
    function = function.format(uplo=_UPLO.get(str(dict(s.attributes).get("uplo", "L")), ""))
    plain = all(x.dtype == "float64" and not x.element and x.layout == "C" and x.aligned for x in infos)
    if not function or not plain or len(infos[0].dims) != 2 or any(view is not None for _, view in s.operands):
        return ""
    c = module.printer.c
    sizes = [c.expr(infos[0].dims[0]), *(c.expr(d) for d in infos[-1].dims[1:] if function == "solve")]
    strides = ["0"] * len(infos)  # from one problem to the next: there is one
    for x in infos:
        strides += [c.expr(b.mul(b.index(8), d)) for d in (*x.dims[1:], b.ONE)[: len(x.dims)]]
    operands = [ident(name) for name in (*s.ins, *s.outs)]
    inner = Inner(_SYSTEMS, function, len(infos), "float64")
    return _called(module, "py_solved", inner, operands, sizes, strides, f", {len(infos) - 1}")


def _multiplied(module: Module, s: n.Library) -> str:
    """A product of matrices, or of one and a vector, of which the axis that it has not is one element."""
    c, infos = module.printer.c, [module.program.buffers[name] for name in (*s.ins, *s.outs)]
    dtype = infos[-1].dtype
    if dtype not in ("float64", "float32") or infos[-1].role == "argument" or s.outs[0] in s.ins:
        return ""
    if any(x.dtype != dtype or x.element or not x.aligned for x in infos):
        return ""
    views = [*(view for _, view in s.operands), None]
    dims = [x.dims if view is None else view.dims for x, view in zip(infos, views, strict=True)]
    one, two, out = (len(d) for d in dims)
    if not (one in (1, 2) and two in (1, 2) and out == one + two - 2):
        return ""
    left, right = (dims[0] if one == 2 else (b.ONE, *dims[0])), (dims[1] if two == 2 else (*dims[1], b.ONE))
    sizes = [c.expr(d) for d in (*left, right[1])]
    where = [_place(module, x.name, view, d) for x, view, d in zip(infos, views, dims, strict=True)]
    steps = [list(strides) for _, strides in where]
    if one == 1:
        steps[0].insert(0, "0")
        steps[2].insert(0, "0")
    if two == 1:
        steps[1].append("0")
        steps[2].append("0")
    strides = ["0", "0", "0", *itertools.chain(*steps)]
    inner = Inner("numpy", "matmul", 3, dtype)
    called = _called(module, "py_multiplied", inner, [place for place, _ in where], sizes, strides)
    return f"(!wants_errors() && {called})"  # which NumPy raises


def _place(module: Module, name: str, view: n.View | None, dims: Sequence[Expr]) -> tuple[str, list[str]]:
    """Where the first element of an operand lies, and how many bytes it is from one to the next along its axes."""
    info, c = module.program.buffers[name], module.printer.c
    places = range(len(dims))
    offset: tuple[Expr, ...] = (b.ZERO,) * len(dims)
    along: list[tuple[Expr, ...]] = [tuple(b.index(int(d == k)) for d in places) for k in places]
    if view is not None:
        offset, along = view.offset, [tuple(step[k] for step in view.steps) for k in places]
    strides = [c.expr(b.mul(b.index(itemsize_of(info.dtype)), c.offset(name, steps))) for steps in along]
    return (f"&{c.element(name, offset)}" if view is not None else ident(name)), strides


def _called(
    module: Module, how: str, inner: Inner, operands: Sequence[str], sizes: Sequence[str], strides: Sequence[str],
    more: str = "",
) -> str:  # fmt: skip
    module.inner[inner.name] = inner
    places = ", ".join(f"(char *){x}" for x in operands)
    return (
        f"{how}({inner.name}, (char *[]){{{places}}}, (const intptr_t[]){{1, {', '.join(sizes)}}}, "
        f"(const intptr_t[]){{{', '.join(strides)}}}{more})"
    )
