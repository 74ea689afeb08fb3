"""What the entry raises where a check fails."""

from __future__ import annotations

import json
import string
from collections.abc import Sequence
from typing import TYPE_CHECKING

from transkern.ir import nodes as n
from transkern.ir.containers import error_text, with_changes
from transkern.targets.cpu.printing.entry.results import called, numpy_scalar

if TYPE_CHECKING:
    from transkern.targets.cpu.printing.module import Module


def raised(module: Module, s: n.Guard, args: Sequence[str], types: Sequence[str]) -> None:
    error, message = s.error, s.message
    parts = list(string.Formatter().parse(message))
    only_places = all(not field and not spec and not conversion for _, field, spec, conversion in parts)
    plain = only_places and message.isascii() and message.isprintable()  # which PyErr_Format takes
    if s.changes or ":" in error or error.startswith(n.SEVERAL) or any(t != "index" for t in types) or not plain:
        _formatted(module, s, args, types)
        return
    text = "".join(literal.replace("%", "%%") + ("" if field is None else "%lld") for literal, field, _, _ in parts)
    quoted = json.dumps(text)
    values = "".join(f", (long long)({a})" for a in args)
    owner, _, name = error.replace("np.", "numpy.").rpartition(".")
    kind = f'PyDict_GetItemString(PyEval_GetBuiltins(), "{name}")'
    if owner:
        kind = f'py_member("{owner}", "{name}")'
    module.line(f"PyErr_Format({kind}, {quoted}{values});" if message else f"PyErr_SetNone({kind});")
    module.line(module.leave())


def _formatted(module: Module, s: n.Guard, args: Sequence[str], types: Sequence[str]) -> None:
    """A class of the user's, or a message with more than integers in it: Python puts it together."""
    names = []
    for value, dtype in zip(args, types, strict=True):
        names.append(module.fresh("shown"))
        made = {
            "index": f"PyLong_FromLongLong({value})", "float64": f"PyFloat_FromDouble({value})",
            "uint64": f"PyLong_FromUnsignedLongLong((unsigned long long)({value}))",
        }.get(dtype)  # fmt: skip
        made = made or (f"PyBool_FromLong({value})" if dtype == "bool" else numpy_scalar(module, value, dtype, dtype))
        module.line(f"PyObject *{names[-1]} = {made};")
    template = ascii(s.message)
    given = f"({template}.format(*a))" if args or "{" in s.message else f"({template})"
    text = f"lambda *a: {with_changes(error_text(s.error) + (given if s.message else '()'), s.changes)}"
    made = called(module, text, names)
    module.line(f"if ({made}) {{ PyErr_SetObject((PyObject *){made}->ob_type, {made}); Py_DecRef({made}); }}")
    module.line(module.leave())
