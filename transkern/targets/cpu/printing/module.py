"""A whole program as one C file: kernels first, then the entry that Python calls.

The file is an extension module without `Python.h`: compile it as its first lines say and import it. The entry checks
that the arguments are of the types it was made for and returns `NotImplemented` where they are not.
"""

from __future__ import annotations

import itertools
import json
import string
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.complexes import float_of, is_complex, parts_of_scalar
from transkern.ir.containers import error_text, print_text, with_changes
from transkern.ir.expr import NOWHERE, Apply, Expr, Span, Var
from transkern.ir.library import IN_PLACE, INTO, drawn_alone, keeping, spell
from transkern.ir.storage import MANY_ROWS, SHORT_ROW
from transkern.ir.storage import itemsize as itemsize_of
from transkern.ir.traverse import (
    bodies,
    buffers_allocated,
    buffers_used,
    buffers_written,
    exprs,
    scalars_set,
    scalars_used,
    variables_read,
    walk,
)
from transkern.targets.chelpers import VECTOR_MATH
from transkern.targets.clike import ident
from transkern.targets.comments import comment, known_text
from transkern.targets.cpu import common
from transkern.targets.cpu.compiler import FASTMATH, FLAGS, TRAPPING
from transkern.targets.cpu.library import HEADERS, SCHEDULED, without_headers
from transkern.targets.cpu.printing import glue
from transkern.targets.cpu.printing.kernels import Function, KernelPrinter
from transkern.targets.cpu.printing.memory import BYTES, RESERVE, bytes_of, reserving
from transkern.targets.cpu.printing.merging import canonical
from transkern.targets.cpu.printing.repeating import Repeating
from transkern.targets.cpu.printing.results import called, numpy_scalar, python_call, result_text, seen_by_numpy
from transkern.targets.cpu.printing.timers import TIMES, Timed, Timers
from transkern.targets.cpu.printing.types import TYPES, element_type
from transkern.targets.cpu.printing.waking import DEAL, WAKING
from transkern.targets.cpu.running import DECLARED, LATER, LIMITS, METHODS, RUNNING
from transkern.targets.naming import C, function_name, with_names
from transkern.targets.places import Places

_NOWHERE: Mapping[int, Sequence[str]] = {}
_MISS = 'return py_miss("types");'

_FORMATS = {
    "bool": "??", "int8": "bb", "uint8": "BB", "int16": "hh", "uint16": "HH", "int32": "ii", "uint32": "II",
    "int64": "lq", "uint64": "LQ", "float16": "ee", "float32": "ff", "float64": "dd",
    "complex64": "FF", "complex128": "DD",
}  # fmt: skip

_LONG_ENTRY = 2000
"""Lines of an entry that is compiled as it stands: what compilers take for such a function grows faster than its
length, and it has nothing but steps from kernel to kernel; all inner loops are in these."""

_AS_IT_STANDS = """\
#ifdef __clang__
__attribute__((optnone, noinline))
#else
__attribute__((optimize("O0"), noinline))
#endif"""


class Text(NamedTuple):
    """A module as C. `whole` needs nothing; `own` is to be linked with the `common` file."""

    whole: str
    own: str
    common: str


def emit(program: n.Program) -> str:
    """The C text of a program."""
    return Module(with_names(program, C)).text().whole


def file_name(program: n.Program) -> str:
    """What the file is called, without its ending, and the module that it becomes."""
    return function_name(program.name, C)


def emit_with_timers(program: n.Program) -> tuple[Text, Sequence[Span], Sequence[Timed]]:
    """The C text of a program, the places that it raises at, by the numbers that it tells, and what it measures, by
    number: of a program with a `profile`, else nothing."""
    module = Module(with_names(program, C))
    text = module.text()
    return text, module.places.spans, module.timers.regions if module.timers is not None else ()


class _Live:
    """The scalars that a block's statements behind the one at `position` mention, or that matter `after` the block."""

    def __init__(self, program: n.Program, block: Sequence[n.Stmt], after: Container[str]) -> None:
        self.position, self.after = -1, after
        self.last: dict[str, int] = {}  # where in the block a name is mentioned for the last time
        for k, s in enumerate(block):
            self.last |= dict.fromkeys(scalars_used(s) | scalars_set(s), k)
            for x in walk((s,)):
                if isinstance(x, n.Alloc) and x.buffer in program.buffers:
                    for d in program.buffers[x.buffer].dims:
                        self.last |= dict.fromkeys(variables_read(d), k)

    def __contains__(self, name: object) -> bool:
        return self.last.get(name, -1) > self.position or name in self.after  # type: ignore[call-overload]


@dataclass(slots=True)
class Module:
    program: n.Program
    printer: KernelPrinter = field(init=False)
    functions: list[Function] = field(default_factory=list)  # of all kernels
    printed: dict[str, Function] = field(default_factory=dict)  # one for those that are the same (`merging.canonical`)
    lines: list[str] = field(default_factory=list)
    depth: int = 1
    dtypes: dict[str, None] = field(default_factory=dict)  # dtypes that the entry needs as objects
    steps: list[str] = field(default_factory=list)  # Python texts of library steps and views
    labels: int = 0
    makes_large: bool = False  # whether a result may be so large that it has memory of its own
    makes_temporaries: bool = False  # whether there are arrays between kernels
    releases: bool = False  # whether a kernel may run without Python's lock
    allocated: list[str] = field(default_factory=list)
    places: Places = field(default_factory=Places)
    span: Span = NOWHERE  # of the present step
    loops: int = 0  # of the host, around the present step
    repeating: Repeating = field(init=False)
    shown: list[str] = field(default_factory=list)  # arrays for library steps that loops keep
    timers: Timers | None = None

    def __post_init__(self) -> None:
        self.printer = KernelPrinter(self.program, threads=self.program.threads != 1)
        self.repeating = Repeating(self.program)
        if self.program.profile:
            self.timers = self.printer.measuring.timers = Timers(self.program)

    # --- the file

    def text(self) -> Text:
        p = self.program
        body = self.entry()
        c = self.printer.c
        asks = "py_pays" in c.used  # whether threads pay, of what modules of a process share
        self.releases = self.releases or asks or self.makes_large or self.makes_temporaries
        if self.releases:
            c.used.setdefault("py_run", DECLARED)
        parts = [self.header(), self.math()]
        if self.timers is not None:
            parts.append(self.timers.declared())
        parts += c.used.values()
        parts += self.printer.reducing.declared.values()
        kernels = "\n".join(f.text for f in self.printed.values())
        glue_parts = [glue.PYTHON]
        if "wants_errors" in body:
            glue_parts.append(glue.ERRSTATE)
        if p.warns:
            glue_parts.append(glue.RAISED)
        if self.releases:
            glue_parts += [LIMITS.format(threads=p.threads, flags=int(p.warns)), RUNNING]
        if asks:
            glue_parts.append(WAKING)
        if any(isinstance(x, n.ArrayParam) for x in p.params):
            glue_parts.append(glue.ARRAYS)
        has_results = any(x.role == "result" for x in p.buffers.values()) or "new_array" in body
        if has_results or self.makes_large:
            glue_parts.append(glue.RESULTS)
        if self.makes_large or self.makes_temporaries:
            glue_parts.append(glue.ROOMS)
        if self.makes_temporaries:
            glue_parts.append(glue.TEMPORARIES)
        if self.makes_large:
            glue_parts.append(glue.LARGE_RESULTS)
        if self.steps:
            glue_parts.append(glue.FUNCTIONS)
        if "as_array(" in body:
            glue_parts.append(glue.LIBRARY)
        objects = [f"static PyObject *numpy_{d};" for d in self.dtypes] + [
            f"static PyObject *step_{k};  // {text}" for k, text in enumerate(self.steps)
        ]
        shared = {LATER, DEAL, *glue_parts}
        lines = [*parts, "", kernels, *glue_parts, *objects, "", body, self.init()]
        own = without_headers("\n".join(common.declared(x) if x in shared else x for x in lines))
        return Text("\n".join(lines), own, common.text(p.threads, p.warns))

    def header(self) -> str:
        p = self.program
        types = ", ".join(param_text(x) for x in p.params)
        flags = " ".join([*(f for f in FLAGS if f != "-w"), *FASTMATH[: p.fastmath], *TRAPPING[: p.warns]])
        return (
            f"// {p.name}({types})\n"
            f"{comment(f'compiled from {p.file} by transkern')}\n"
            f"// build:  cc {flags} {file_name(p)}.c -o {file_name(p)}.so -lm\n"
            f"// use:    import {file_name(p)}; {file_name(p)}.{p.name}(…)\n"
            f"// {file_name(p)}.py does both; an {file_name(p)}.so beside it would be imported in its place\n"
            f"{HEADERS}{SCHEDULED}"
        )

    def math(self) -> str:
        """Vector versions of the math functions used: glibc's libmvec serves loops under ``omp simd``."""
        names = sorted(self.printer.c.vector)
        if not names:
            return ""
        lines = ["#if defined(__GLIBC__) && defined(__x86_64__)  // glibc has vector versions of these (libmvec)"]
        for name in names:
            base = name.removesuffix("f") if name not in VECTOR_MATH else name
            kind = "float" if name != base else "double"
            two = base in ("pow", "atan2", "hypot")
            lines.append("#pragma omp declare simd notinbranch")
            lines.append(f"{kind} {name}({kind}{', ' + kind if two else ''});")
        return "\n".join([*lines, "#endif\n"])

    # --- the entry

    def line(self, text: str) -> None:
        self.lines.append("    " * self.depth + text if text else "")

    def entry(self) -> str:
        p = self.program
        name = file_name(p)
        arrays = [x for x in p.params if isinstance(x, n.ArrayParam)]
        self.line("PyObject *py_result = NULL;")
        if self.timers is not None:
            self.line(self.timers.begin(0))
        self.line("int py_place = 0;  // where in the source it failed")
        self.line('const char *py_reason = "types";  // why it may be that the call is not for this code')
        refuse = _MISS
        self.line(f"if (py_count != {len(p.params)}) {{ {refuse} }}")
        for k, x in enumerate(p.params):
            if isinstance(x, n.ScalarParam):
                self.scalar(k, x)
        if arrays:
            self.line(f"Py_buffer py_views[{len(arrays)}];")
            self.line("int py_taken = 0;")
        sizes: dict[str, str] = {}
        checks: list[str] = []
        for k, x in enumerate(arrays):
            at = p.params.index(x)
            kind = _FORMATS[x.dtype]
            self.line(
                f"if (!take_array(py_args[{at}], &py_views[{k}], '{kind[0]}', '{kind[1]}', {len(x.dims)}, "
                f"{int(x.layout == 'C')}, {int(x.aligned)})) goto miss;"
            )
            self.line("++py_taken;")
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
            self.line(f"const int64_t {ident(name_)} = {have};")
        if not p.signature:  # there is better code for short rows, if it may be made
            checks += [_short_rows(k, x) for k, x in enumerate(arrays) if isinstance((x.dims[1:] or (0,))[-1], Var)]
        if checks:
            self.line(f"if ({' || '.join(checks)}) goto miss;")
        leave = "goto miss;" if arrays else "return py_miss(py_reason);"
        for condition in self.assumptions():
            self.line(f'if (!({self.printer.c.expr(condition)})) {{ py_reason = "sizes"; {leave} }}')
        for k, x in enumerate(arrays):
            if x.written:
                at = p.params.index(x)
                self.line(f'if (is_readonly(py_args[{at}], &py_views[{k}])) {{ py_reason = "readonly"; goto miss; }}')
                if x.layout != "C":
                    self.line(f'if (overlaps_itself(&py_views[{k}])) {{ py_reason = "itself {x.name}"; goto miss; }}')
        overlaps = [
            f"overlap(&py_views[{i}], &py_views[{j}])" for i, x in enumerate(arrays) for j, y in enumerate(arrays)
            if i != j and x.written and (not y.written or i < j) and not (x.base and x.base == y.base)
        ]  # fmt: skip
        if overlaps:
            self.line(f'if ({" || ".join(overlaps)}) {{ py_reason = "overlap"; goto miss; }}')
        for base in dict.fromkeys(x.base for x in arrays if x.base):
            self.shared(base, [k for k, x in enumerate(arrays) if x.base == base], arrays)
        for k, x in enumerate(arrays):
            if x.base:
                continue
            const = "" if x.written else "const "
            kind = TYPES[p.buffers[x.name].dtype]
            self.line(f"{const}{element_type(p.buffers[x.name])} *{ident(x.name)} = py_views[{k}].buf;")
            if x.layout != "C":
                unit = f" / (int64_t)sizeof({kind})" if x.aligned else ""
                for d in range(len(x.dims)):
                    self.line(f"const int64_t {ident(x.name)}_stride{d} = py_views[{k}].strides[{d}]{unit};")
                if p.buffers[x.name].element:
                    self.to_the_other_part(x.name, len(x.dims), kind, x.aligned)
        if _computes_with_floats(p):
            self.line(f'if (wants_errors()) {{ py_reason = "errors"; {leave} }}')
        if p.warns:
            self.line("lower_flags();")
        declared_at = len(self.lines)
        last = self._last_uses()
        self.block(p.body, last=last)
        self.line("Py_IncRef(&_Py_NoneStruct);")
        self.line("py_result = &_Py_NoneStruct;")
        declarations = self._declarations()
        self.lines[declared_at:declared_at] = declarations
        self.depth = 0
        self.line("done:;")
        self.depth = 1
        if p.warns:
            self.line("tell_flags(self);")
        for held in self.shown:
            self.line(f"Py_DecRef({held});")
        for buffer in self.allocated:
            info = p.buffers[buffer]
            if info.role == "result":
                self.line(f"if (py_{ident(buffer)}_array) Py_DecRef(py_{ident(buffer)}_array);")
            else:
                self.clear(buffer)
        if arrays:
            self.line("while (py_taken) PyBuffer_Release(&py_views[--py_taken]);")
        if self.timers is not None:
            self.line(self.timers.end(0))
        self.line("if (!py_result) failed_at(self, py_place, py_args, py_count);")
        self.line("return py_result;")
        if arrays:
            self.depth = 0
            self.line("miss:")
            self.depth = 1
            self.line("while (py_taken) PyBuffer_Release(&py_views[--py_taken]);")
            self.line("return py_miss(py_reason);")
        head = f"static PyObject *call_{name}(PyObject *self, PyObject *const *py_args, Py_ssize_t py_count) {{"
        if len(self.lines) > _LONG_ENTRY:
            head = f"{_AS_IT_STANDS}\n{head}"
        return "\n".join([head, *self.lines, "}", ""])

    def shared(self, base: str, members: Sequence[int], arrays: Sequence[n.ArrayParam]) -> None:
        """The memory that several arguments share: its lowest address, and where in it each argument begins."""
        info, aligned = self.program.buffers[base], arrays[members[0]].aligned
        unit = np.dtype(arrays[members[0]].dtype).itemsize if aligned else 1
        name = ident(base)
        self.line(f"{element_type(info)} *{name} = lowest(&py_views[{members[0]}]);")
        for k in members[1:]:
            self.line(f"if ((void *){name} > lowest(&py_views[{k}])) {name} = lowest(&py_views[{k}]);")
        for k in members:
            x = arrays[k]
            if aligned:
                self.line(f"if (((char *)py_views[{k}].buf - (char *){name}) % {unit}) goto miss;")
            self.line(f"const int64_t {ident(x.name)}_offset = ((char *)py_views[{k}].buf - (char *){name}) / {unit};")
            for d in range(len(x.dims)):
                self.line(f"const int64_t {ident(x.name)}_stride{d} = py_views[{k}].strides[{d}] / {unit};")
        if not aligned:
            self.line(f"const int64_t {base}_stride0 = 1;  // offsets and strides are in bytes")
            if info.element:
                self.to_the_other_part(base, 1, TYPES[info.dtype], aligned)

    def to_the_other_part(self, name: str, axis: int, kind: str, aligned: bool) -> None:
        """The step from the real part of a complex number to the other."""
        step = "1" if aligned else f"sizeof({kind})"
        self.line(f"const int64_t {name}_stride{axis} = {step};  // from the real part to the other")

    def assumptions(self) -> Sequence[Expr]:
        return self.program.assumptions

    def scalar(self, k: int, x: n.ScalarParam) -> None:
        miss = f"{{ {_MISS} }}"
        name = ident(x.name)
        match x.python:
            case "int":
                self.line("int py_overflow_" + name + " = 0;")
                self.line(f"if (py_args[{k}]->ob_type != &PyLong_Type) {miss}")
                self.line(f"const int64_t {name} = PyLong_AsLongLongAndOverflow(py_args[{k}], &py_overflow_{name});")
                self.line(f"if (py_overflow_{name}) {miss}")
            case "float":
                self.line(f"if (py_args[{k}]->ob_type != &PyFloat_Type) {miss}")
                self.line(f"const double {name} = PyFloat_AsDouble(py_args[{k}]);")
            case "bool":
                self.line(f"if (py_args[{k}] != &_Py_TrueStruct && py_args[{k}] != &_Py_FalseStruct) {miss}")
                self.line(f"const bool {name} = py_args[{k}] == &_Py_TrueStruct;")
            case "complex":
                self.line(f"if (py_args[{k}]->ob_type != &PyComplex_Type) {miss}")
                for part, read in zip(parts_of_scalar(x.name), ("Real", "Imag"), strict=True):
                    self.line(f"const double {ident(part)} = PyComplex_{read}AsDouble(py_args[{k}]);")
            case _:  # a NumPy scalar: its type is exact, its memory is read through the buffer protocol
                self.dtypes[x.dtype] = None
                self.line(f"if (py_args[{k}]->ob_type != numpy_{x.dtype}) {miss}")
                self.line(f"Py_buffer py_held_{name};")
                self.line(f"if (PyObject_GetBuffer(py_args[{k}], &py_held_{name}, 0)) return NULL;")
                kind = TYPES[float_of(x.dtype) if is_complex(x.dtype) else x.dtype]
                for at, part in enumerate(parts_of_scalar(x.name) if is_complex(x.dtype) else (x.name,)):
                    self.line(f"const {kind} {ident(part)} = ((const {kind} *)py_held_{name}.buf)[{at}];")
                self.line(f"PyBuffer_Release(&py_held_{name});")

    def _declarations(self) -> list[str]:
        """What the host steps assign, declared in front so that they may leave from anywhere."""
        lines = [f"    PyObject *{held} = NULL;" for held in self.shown]
        for name in self.allocated:
            info = self.program.buffers[name]
            lines.append(f"    {TYPES[info.dtype]} *{ident(name)} = NULL;")
            if info.role == "result":
                lines.append(f"    PyObject *py_{ident(name)}_array = NULL;")
        inside = {
            s.name
            for k in walk(self.program.body)
            if isinstance(k, n.Kernel)
            for s in walk(k.body)
            if isinstance(s, n.Let)
        }
        host = self._host_scalars()
        for name, dtype in sorted(host.items()):
            if name not in inside:
                lines.append(f"    {TYPES[dtype]} {ident(name)} = 0;")
        if any(f.guards for f in self.functions):
            lines.append(f"    int64_t py_error[{n.GUARD_NUMBERS}] = {{0}};")
        if self.releases:
            lines += ["    py_run py_running;", "    int py_failed;"]
        return lines

    def _host_scalars(self) -> dict[str, str]:
        found: dict[str, str] = {}
        functions = {f.name: f for f in self.functions}

        def visit(block: Iterable[n.Stmt]) -> None:
            for s in block:
                match s:
                    case n.Kernel():
                        function = functions[ident(s.name)]
                        for v in [*function.outputs]:
                            found[v.name] = v.dtype
                        for v in function.scalars:
                            if v.name in self.program.variables:
                                found[v.name] = v.dtype
                    case n.Let(name=name, value=value):
                        found[name] = value.dtype
                    case n.Assign(name=name):
                        found[name] = self.program.variables[name]
                    case _:
                        pass
                if not isinstance(s, n.Kernel):
                    for body in bodies(s):
                        visit(body)

        visit(self.program.body)
        return found

    # --- host steps

    def block(
        self, statements: Sequence[n.Stmt], after: Container[str] = (), last: Mapping[int, Sequence[str]] = _NOWHERE
    ) -> None:
        """The steps in order; `last`: arrays whose memory nobody needs after the step of that number."""
        live = _Live(self.program, statements, after)
        for k, s in enumerate(statements):
            live.position += 1
            self.step(s, live)
            for buffer in [x for x in last.get(k, ()) if x in self.allocated]:
                self.clear(buffer)
                self.line(f"{ident(buffer)} = NULL;")

    def _last_uses(self) -> dict[int, list[str]]:
        """Which temporaries the steps of the program, by their numbers, are the last to use, if kernels follow: these
        find their memory in the caches."""
        body = self.program.body
        working = [k for k, s in enumerate(body) if any(isinstance(x, (n.Kernel, n.Library)) for x in walk([s]))]
        last: dict[str, int] = {}
        for k, s in enumerate(body):
            last.update(dict.fromkeys((*buffers_used(s), *buffers_written(s), *buffers_allocated(s)), k))
        found: dict[int, list[str]] = {}
        for buffer, info in self.program.buffers.items():
            k = last.get(buffer, len(body))
            if info.role != "result" and not info.is_reserved and working and k < working[-1]:
                found.setdefault(k, []).append(buffer)
        return found

    def step(self, s: n.Stmt, live: _Live) -> None:
        c = self.printer.c
        self.span = s.span
        match s:
            case n.Kernel():
                self.kernel(s, live)
            case n.Let(name, value):
                self.line(f"{ident(name)} = {c.expr(value)};")
            case n.Assign(name, value):
                self.line(f"{ident(name)} = {c.expr(value)};")
            case n.Alloc(buffer):
                self.alloc(buffer)
            case n.Library():
                self.library(s)
            case n.Guard(condition, args=args):
                self.line(f"if (!({c.expr(condition)})) {{")
                self.depth += 1
                self.raise_(s, [c.expr(a) for a in args], [_shown(a) for a in args])
                self.depth -= 1
                self.line("}")
            case n.If(condition, then, orelse):
                self.line(f"if ({c.expr(condition)}) {{")
                self.depth += 1
                self.block(then, live)
                self.depth -= 1
                if orelse:
                    self.line("} else {")
                    self.depth += 1
                    self.block(orelse, live)
                    self.depth -= 1
                self.line("}")
            case n.While(head, condition, body):
                self.line("for (;;) {")
                self.depth += 1
                self.loops += 1
                everything = _Live(self.program, (s,), live)  # the next iteration comes behind each part
                self.block(head, everything)
                self.line(f"if (!({c.expr(condition)})) break;")
                self.block(body, everything)
                self.loops -= 1
                self.depth -= 1
                self.line("}")
            case n.Loop():
                self.line(self.printer.header(s))
                self.depth += 1
                self.loops += 1
                self.block(s.body, _Live(self.program, (s,), live))
                self.loops -= 1
                self.depth -= 1
                self.line("}")
            case n.Break():
                self.line("break;")
            case n.Continue():
                self.line("continue;")
            case n.Return(result):
                made = result_text(self, result)
                self.line(f"py_result = {f'py_whole({made})' if isinstance(result, n.TupleResult) else made};")
                self.span = s.span
                self.line(self.leave())
            case n.Store(buffer, index, value):
                self.line(f"{c.element(buffer, index)} = {c.expr(value)};")
            case _:
                raise AssertionError(f"not a host step: {s}")

    def kernel(self, s: n.Kernel, live: _Live) -> None:
        timer = self.begin_timer("kernel", s.name, s)
        function = self.printer.function(s, live)
        if self.timers is not None:
            self.timers.around.pop()
        self.functions.append(function)
        printed = self.printed.setdefault(canonical(function), function)
        args = [ident(x.name) for x in function.buffers]
        for x in function.buffers:
            if x.layout != "C":
                args += [f"{ident(x.name)}_stride{d}" for d in range(len(x.dims))]
        args += [ident(v.name) for v in function.scalars]
        args += [f"&{ident(v.name)}" for v in function.outputs]
        args += ["py_error"] * bool(function.guards) + ["&py_running"] * function.counts
        held = function.long == b.FALSE and not function.counts
        if not held:
            self.releases = True
            self.line(f"py_running = py_begin({self.printer.c.expr(function.long)});")
        called = f"{printed.name}({', '.join(args)})"
        if held and not timer:
            self.line(f"switch ({called}) {{" if function.guards else f"{called};")
        else:
            failed = f"py_failed_{timer}" if timer else "py_failed"
            kept = f"{'const int ' * bool(timer)}{failed} = " if function.guards else ""
            self.line(f"{kept}{called};")
            if not held:
                self.line("py_end(py_running);")
            self.end_timer(timer)
            if function.guards:
                self.line(f"switch ({failed}) {{")
        if not function.guards:
            return
        for k, guard in enumerate(function.guards):
            self.line(f"case {k + 1}:")
            self.depth += 1
            types = [_shown(a) for a in guard.args]
            slots = [
                f"as_double(py_error[{j}])" if t.startswith("float") else f"py_error[{j}]" for j, t in enumerate(types)
            ]
            self.span = guard.span if guard.span.line else s.span
            self.raise_(guard, slots, types)
            self.depth -= 1
        self.line("}")

    def begin_timer(self, kind: str, name: str, s: n.Stmt) -> int:
        """A timer before a step, within which timers stand that come then; its number, 0 where nobody measures."""
        if self.timers is None:
            return 0
        number = self.timers.number(kind, name, s)
        self.line(self.timers.begin(number))
        self.timers.around.append(number)
        return number

    def end_timer(self, number: int) -> None:
        if self.timers is not None:
            self.line(self.timers.end(number))

    def leave(self) -> str:
        """The end of a call that failed at the present step."""
        return f"{{ py_place = {self.places.number(self.span)}; goto done; }}"

    def raise_formatted(self, s: n.Guard, args: Sequence[str], types: Sequence[str]) -> None:
        """A class of the user's, or a message with more than integers in it: Python puts it together."""
        names = []
        for value, dtype in zip(args, types, strict=True):
            names.append(self.fresh("shown"))
            made = {
                "index": f"PyLong_FromLongLong({value})", "float64": f"PyFloat_FromDouble({value})",
                "uint64": f"PyLong_FromUnsignedLongLong((unsigned long long)({value}))",
            }.get(dtype)  # fmt: skip
            made = made or (f"PyBool_FromLong({value})" if dtype == "bool" else numpy_scalar(self, value, dtype, dtype))
            self.line(f"PyObject *{names[-1]} = {made};")
        template = ascii(s.message)
        given = f"({template}.format(*a))" if args or "{" in s.message else f"({template})"
        text = f"lambda *a: {with_changes(error_text(s.error) + (given if s.message else '()'), s.changes)}"
        made = called(self, text, names)
        self.line(f"if ({made}) {{ PyErr_SetObject((PyObject *){made}->ob_type, {made}); Py_DecRef({made}); }}")
        self.line(self.leave())

    def raise_(self, s: n.Guard, args: Sequence[str], types: Sequence[str]) -> None:
        error, message = s.error, s.message
        parts = list(string.Formatter().parse(message))
        only_places = all(not field and not spec and not conversion for _, field, spec, conversion in parts)
        plain = only_places and message.isascii() and message.isprintable()  # which PyErr_Format takes
        if s.changes or ":" in error or error.startswith(n.SEVERAL) or any(t != "index" for t in types) or not plain:
            self.raise_formatted(s, args, types)
            return
        text = "".join(literal.replace("%", "%%") + ("" if field is None else "%lld") for literal, field, _, _ in parts)
        quoted = json.dumps(text)
        values = "".join(f", (long long)({a})" for a in args)
        module, _, name = error.replace("np.", "numpy.").rpartition(".")
        kind = f'PyDict_GetItemString(PyEval_GetBuiltins(), "{name}")'
        if module:
            kind = f'py_member("{module}", "{name}")'
        self.line(f"PyErr_Format({kind}, {quoted}{values});" if message else f"PyErr_SetNone({kind});")
        self.line(self.leave())

    def alloc(self, buffer: str) -> None:
        info = self.program.buffers[buffer]
        name, c = ident(buffer), self.printer.c
        again = bool(self.loops) or buffer in self.allocated
        if buffer not in self.allocated:
            self.allocated.append(buffer)
        size = b.product(info.dims)
        if info.role == "result":
            dtype, extents = seen_by_numpy(info)
            self.dtypes[dtype] = None
            dims = ", ".join(c.expr(d) for d in extents) or "0"
            self.line(f"if (py_{name}_array) Py_DecRef(py_{name}_array);")
            itemsize = itemsize_of(info.dtype)
            constant = b.constant(size)
            if (constant is not None and constant * itemsize < glue.LARGE) or not extents:
                made = f"new_array(numpy_{dtype}, {len(extents)}, (const int64_t[]){{{dims}}}, (void **)&{name})"
            else:
                made = self.large_array(dtype, len(extents), dims, f"(void **)&{name}")
            self.line(f"py_{name}_array = {made};")
            self.line(f"if (!py_{name}_array) {self.leave()}")
            return
        if info.is_reserved:
            c.used["reserve"] = RESERVE
            missing = f"!({name} = {reserving(c, info)})"
        else:
            c.used["py_bytes"] = BYTES
            self.makes_temporaries = True
            missing = f"!({name} = py_array({bytes_of(c, info)}))"
        if self.loops and self.repeating.keeps(buffer):
            missing = f"!{name} && {missing}"  # or what the iteration before had
        elif again:
            self.clear(buffer)
        self.line(f"if ({missing}) {{")
        self.line(f"    PyErr_NoMemory(); {self.leave()}")
        self.line("}")

    def large_array(self, dtype: str, ndim: int, dims: str, data: str) -> str:
        """A new array that may be large."""
        self.printer.c.used["py_bytes"] = BYTES
        self.makes_large = True
        return f"large_array(numpy_{dtype}, {np.dtype(dtype).itemsize}, {ndim}, (const int64_t[]){{{dims}}}, {data})"

    def clear(self, buffer: str) -> None:
        self.line(f"{'release' if self.program.buffers[buffer].is_reserved else 'py_clear'}({ident(buffer)});")

    def library(self, s: n.Library) -> None:
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
            if s.name == "drawn":
                text = drawn_alone(outs, names, **dict(s.attributes)) or keeping(text)
        if text not in self.steps:
            self.steps.append(text)
        k = self.steps.index(text)
        if self.program.warns:
            self.line("flags_so_far |= flags_here();  // NumPy lowers them")
        self.line("{")
        self.depth += 1
        arrays = [self.operand(name, None) for name in s.outs] + [self.operand(*given) for given in s.operands]
        if text.startswith("np."):  # a function that takes its outputs last
            arrays = arrays[len(s.outs) :] + arrays[: len(s.outs)]
        timer = self.begin_timer("library", s.name, s)
        if self.timers is not None:
            self.timers.around.pop()
        self.line(f"PyObject *py_filled = {python_call(f'step_{k}', arrays)};")
        self.end_timer(timer)
        self.line(f"if (!py_filled) {{ py_forget_frames(); {self.leave()[2:]}")
        self.line("Py_DecRef(py_filled);")
        self.depth -= 1
        self.line("}")

    def operand(self, name: str, view: n.View | None) -> str:
        """An array, or a view of one, as an object that a step is given: the caller's own where it is all of it."""
        info, c = self.program.buffers[name], self.printer.c
        if view is None and info.role == "result":
            return f"(Py_IncRef(py_{ident(name)}_array), py_{ident(name)}_array)"
        own = [k for k, p in enumerate(self.program.params) if isinstance(p, n.ArrayParam) and p.name == name]
        if view is None and own:
            return f"(Py_IncRef(py_args[{own[0]}]), py_args[{own[0]}])"
        dtype, extents = seen_by_numpy(info)
        first, strides = f"(void *){ident(name)}", "NULL"
        same = self.loops > 0 and self.repeating.stays(name) and self.repeating.is_same(extents)
        if view is not None:
            extents = view.dims
            same = same and self.repeating.is_same([*extents, *view.offset, *itertools.chain(*view.steps)])
            first = f"(void *)&{c.element(name, _subscripts(info, view.offset, view.part))}"
            unit = itemsize_of(info.dtype) if info.aligned or info.layout == "C" else 1
            steps = [c.offset(name, _subscripts(info, tuple(s[k] for s in view.steps))) for k in range(len(extents))]
            strides = ", ".join(c.expr(b.mul(b.index(unit), s)) for s in steps) or "0"
            strides = f"(const int64_t[]){{{strides}}}"
            dtype = info.dtype if view.part else dtype
        self.dtypes[dtype] = None
        dims = ", ".join(c.expr(d) for d in extents) or "0"
        shape = f"{len(extents)}, (const int64_t[]){{{dims}}}, {strides}"
        made = self.fresh(f"{ident(name)}_view")
        array = f"as_array({first}, numpy_{dtype}, {np.dtype(dtype).itemsize}, {shape})"
        if same:
            self.shown.append(made)
            self.line(f"if (!{made}) {made} = {array};")
            return f"(Py_IncRef({made}), {made})"
        self.line(f"PyObject *{made} = {array};")
        return made

    # --- results

    def fresh(self, base: str) -> str:
        self.labels += 1
        return f"py_{base}_{self.labels}"

    # --- the module

    def init(self) -> str:
        name = file_name(self.program)
        measures = self.timers is not None
        lines = [
            *([TIMES] if measures else ()),
            "static PyObject *why(PyObject *self, PyObject *unused) { return PyUnicode_FromString(reason); }",
            "static PyMethodDef methods[] = {",
            f'    {{"{self.program.name}", call_{name}, 0x80, "{_doc(self.program)}"}},',
            *(METHODS if self.releases else ()),
            *(['    {"times", py_told_times, 0x4, "what has been measured"},'] if measures else ()),
            '    {"why", why, 0x4, "why the last call was not for this code"},',
            '    {"listen", listen, 0x1, "whom to ask and to tell"}, {0}};',
            f'static PyModuleDef module = {{{{1, NULL}}, NULL, 0, NULL, "{name}", NULL, -1, methods}};',
            "",
            f'__attribute__((visibility("default"))) PyObject *PyInit_{name}(void) {{',
            '    if (!(numpy = PyImport_ImportModule("numpy"))) return NULL;',
            '    numpy_ndarray = PyObject_GetAttrString(numpy, "ndarray");',
            '    numpy_empty = PyObject_GetAttrString(numpy, "empty");',
        ]
        for d in self.dtypes:
            lines.append(f'    numpy_{d} = PyObject_GetAttrString(numpy, "{d if d != "bool" else "bool_"}");')
        for k, text in enumerate(self.steps):
            lines.append(f"    if (!(step_{k} = function({json.dumps(text)}))) return NULL;")
        if self.releases:
            lines.append("    pthread_atfork(py_before_fork, NULL, py_in_child);")
        lines += ["    return PyModule_Create2(&module, 3);", "}", ""]
        return "\n".join(lines)


def _short_rows(view: int, param: n.ArrayParam) -> str:
    """Whether an argument has many rows of few elements, as C."""
    view_, last = f"py_views[{view}]", f"py_views[{view}].shape[{len(param.dims) - 1}]"
    many = f"{view_}.len >= {MANY_ROWS} * {last} * {view_}.itemsize"
    return f"({last} > 1 && {last} <= {SHORT_ROW} && {many})"


def _computes_with_floats(program: n.Program) -> bool:
    """Whether there is something that NumPy may warn of."""
    return any(isinstance(e, Apply) and e.dtype.startswith(("float", "complex")) for e in exprs(program.body))


def _doc(program: n.Program) -> str:
    return f"{program.name}({', '.join(p.name for p in program.params)})"


def param_text(param: n.Param) -> str:
    match param:
        case n.ArrayParam(name, dtype, dims, layout, aligned=aligned):
            inner = ", ".join(ident(d.name) if isinstance(d, Var) else str(b.constant(d)) for d in dims)
            return f"{name}: {dtype}[{inner}]" + " strided" * (layout != "C") + " unaligned" * (not aligned)
        case n.ScalarParam(name, dtype, python):
            return f"{name}: {python or dtype}"
        case n.ConstantParam(name, value):
            return f"{name} = {known_text(value)}"
        case n.ObjectParam(name):
            return name


def _subscripts(buffer: n.Buffer, at: tuple[Expr, ...], part: str = "") -> tuple[Expr, ...]:
    """Where an element that NumPy sees begins in a buffer: of complex ones, the real part or the other."""
    if not buffer.element:
        return at
    last = b.index(int(part == "imag"))
    whole = len(at) == len(buffer.dims) - 1
    return (*at, last) if whole else (b.add(b.mul(b.index(2), at[0]), last),)


def _shown(arg: Expr) -> str:
    """The type of a number in a message."""
    return "index" if arg.dtype.startswith(("int", "uint")) and arg.dtype != "uint64" else arg.dtype
