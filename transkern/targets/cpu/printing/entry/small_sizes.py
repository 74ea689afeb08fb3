"""The entry of code for any size, for calls that may have small ones: it leaves those to other code.

Where a function has code for some small sizes (`fuse.choices.small_sizes`), a call with others has to be told apart
from them. In Python that takes longer than what many such calls compute.
"""

from __future__ import annotations

from collections.abc import Sequence

from transkern.ir import nodes as n
from transkern.ir.storage import FEW_COLUMNS, FEW_OF_MANY, MANY, SHORT_ROW, SMALL_SIZE, UNLESS_SMALL

ENTRY = "static PyObject *call_{name}(PyObject *self, PyObject *const *py_args, Py_ssize_t py_count)"

METHOD = f'    {{"{UNLESS_SMALL}", py_unless_small, 0x80, "the same, where no sizes have code of their own"}},'

_IS_SMALL = f"""\
// Whether a size is small among those of all arrays, which have so many elements.
static int py_is_small(const Py_buffer *views, int count, int64_t size, double many) {{
    if (size <= 0 || size > {SMALL_SIZE}) return 0;
    double elements = 0;
    for (int k = 0; k < count; ++k) {{
        double product = 1;
        int longest = 0, has_it = 0;
        for (int d = 0; d < views[k].ndim; ++d) {{
            product *= views[k].shape[d];
            longest |= views[k].shape[d] > {SMALL_SIZE};
            has_it |= views[k].shape[d] == size;
        }}
        if (longest && has_it && size > {SHORT_ROW}) return 0;
        elements += product;
    }}
    return elements >= many;
}}
"""

_CALLED = """\
{entry} {{
    return py_call(self, py_args, py_count, 0);
}}
static PyObject *py_unless_small(PyObject *self, PyObject *const *py_args, Py_ssize_t py_count) {{
    return py_call(self, py_args, py_count, 1);
}}
"""


def is_asked(program: n.Program) -> bool:
    """Whether there is such an entry."""
    return bool(program.few) and not any(demand.endswith(FEW_COLUMNS) for demand, _, _ in program.few)


def head() -> str:
    """The head of the function that both entries call."""
    return (
        f"{_IS_SMALL}\n"
        "static PyObject *py_call(PyObject *self, PyObject *const *py_args, Py_ssize_t py_count, int py_asks)"
    )


def called(name: str) -> str:
    """The two entries."""
    return _CALLED.format(entry=ENTRY.format(name=name))


def question(program: n.Program, arrays: Sequence[n.ArrayParam]) -> str:
    """Whether the call is one for other code, of the arrays that have been taken."""
    own = len(arrays) - len(program.captured)  # which stand behind the call's arguments
    asked = [
        f"py_is_small(py_views, {own}, py_views[{k}].shape[{axis}], {MANY if demand.endswith(FEW_OF_MANY) else 0})"
        for demand, k, axis in program.few
    ]
    return f"py_asks && ({' || '.join(dict.fromkeys(asked))})"
