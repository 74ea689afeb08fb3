"""Small systems of equations: the loops in NumPy's own functions, called without what Python and NumPy do around them.

`np.linalg.inv` takes some microseconds to look at its argument, make an array and watch for errors, and LAPACK a tenth
of that for four rows. The functions are ufuncs, whose loops NumPy's C interface shows (`PyUFuncObject`): they take
addresses, sizes and strides. What they find no solution for they fill with NaN; then the step is done as it stands, and
raises what NumPy raises. So it is where NumPy keeps its functions elsewhere one day.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.targets.clike import ident

if TYPE_CHECKING:
    from transkern.targets.cpu.printing.module import Module

INNER_LOOPS = """
// ---- The loops of NumPy's ufuncs for numbers of 64 bits
typedef struct { void (*call)(char **, const intptr_t *, const intptr_t *, void *); void *data; } py_inner;
typedef struct {  // NumPy's PyUFuncObject, as far as it has ever been
    PyObject head; int ins, outs, operands, identity;
    void (**functions)(char **, const intptr_t *, const intptr_t *, void *); void **data; int loops, reserved;
    const char *name, *types;
} py_ufunc;
static inline py_inner py_inner_of(const char *name, int operands) {
    py_inner found = {0};
    PyObject *module = PyImport_ImportModule("numpy.linalg._umath_linalg");
    PyObject *object = module ? PyObject_GetAttrString(module, name) : NULL;
    PyObject *type = object ? PyObject_GetAttrString(numpy, "ufunc") : NULL;
    if (type && object->ob_type == type) {
        const py_ufunc *ufunc = (const py_ufunc *)object;
        const int is_it = ufunc->operands == operands && ufunc->ins + ufunc->outs == operands;
        for (int k = 0; is_it && k < ufunc->loops && !found.call; ++k) {
            int fits = 1;
            for (int j = 0; j < operands; ++j) fits &= ufunc->types[k * operands + j] == 12;  // float64
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
"""

_FUNCTIONS = {
    ("inv", 2): "inv", ("solve", 1): "solve1", ("solve", 2): "solve", ("cholesky", 2): "cholesky_lo", ("det", 2): "det",
    ("eigh", 2): "eigh_{uplo}", ("eigvalsh", 2): "eigvalsh_{uplo}",
}  # fmt: skip
"""Which function of NumPy's a step is, by the axes of its last operand."""
_UPLO = {"L": "lo", "U": "up"}


def solved(module: Module, s: n.Library) -> str:
    """The question whether a step is done by calling a loop of NumPy's; empty where it is none of these steps."""
    if not s.ins or not s.outs:
        return ""
    infos = [module.program.buffers[name] for name in (*s.ins, *s.outs)]
    function = _FUNCTIONS.get((s.name, len(infos[len(s.ins) - 1].dims)), "")
    function = function.format(uplo=_UPLO.get(str(dict(s.attributes).get("uplo", "L")), ""))
    if module.program.warns:  # the flags would be those of LAPACK
        return ""
    plain = all(x.dtype == "float64" and not x.element and x.layout == "C" and x.aligned for x in infos)
    if not function or not plain or len(infos[0].dims) != 2 or any(view is not None for _, view in s.operands):
        return ""
    c = module.printer.c
    sizes = [c.expr(infos[0].dims[0]), *(c.expr(d) for d in infos[-1].dims[1:] if function == "solve")]
    strides = ["0"] * len(infos)  # from one problem to the next: there is one
    for x in infos:
        strides += [c.expr(b.mul(b.index(8), d)) for d in (*x.dims[1:], b.ONE)[: len(x.dims)]]
    operands = ", ".join(f"(char *){ident(name)}" for name in (*s.ins, *s.outs))
    module.inner[function] = len(infos)
    return (
        f"py_solved(inner_{function}, (char *[]){{{operands}}}, (const intptr_t[]){{1, {', '.join(sizes)}}}, "
        f"(const intptr_t[]){{{', '.join(strides)}}}, {len(infos) - 1})"
    )
