"""A whole program as one C file: kernels first, then the entry that Python calls.

The file is an extension module without `Python.h`: compile it as its first lines say and import it. The entry checks
that the arguments are of the types it was made for and returns `NotImplemented` where they are not.
"""

from __future__ import annotations

import json
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import NOWHERE, Apply, Expr, Span, Var
from transkern.ir.traverse import (
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
from transkern.targets.cpu.printing.entry import small_sizes
from transkern.targets.cpu.printing.entry.arguments import MISS, take_arrays, take_scalar
from transkern.targets.cpu.printing.entry.arrays import allocate, clear, last_uses
from transkern.targets.cpu.printing.entry.declarations import declarations
from transkern.targets.cpu.printing.entry.inner_loops import INNER_LOOPS, Inner
from transkern.targets.cpu.printing.entry.libraries import called_library
from transkern.targets.cpu.printing.entry.raising import raised
from transkern.targets.cpu.printing.entry.repeating import Repeating
from transkern.targets.cpu.printing.entry.results import called, made_of_parts, result_text
from transkern.targets.cpu.printing.functions import Function, function_of
from transkern.targets.cpu.printing.kernels import KernelPrinter
from transkern.targets.cpu.printing.merging import canonical
from transkern.targets.cpu.printing.neighbours import NO_BRANCHES, choose_twice
from transkern.targets.cpu.printing.timers import TIMES, Timed, Timers
from transkern.targets.cpu.printing.waking import DEAL, WAKING
from transkern.targets.cpu.running import DECLARED, LATER, METHODS, OF_ALL, RUNNING, limits
from transkern.targets.naming import C, function_name, with_names
from transkern.targets.places import Places

_NOWHERE: Mapping[int, Sequence[str]] = {}

_LONG_ENTRY = 2000
"""Lines of an entry that is compiled as it stands: what compilers take for such a function grows faster than its
length, and it has nothing but steps from kernel to kernel; all inner loops are in these."""
_LONGEST = 500
"""Characters of a step's text that are said beside its name."""

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
    inner: dict[str, Inner] = field(default_factory=dict)  # loops of ufuncs that are called
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
            glue_parts += [limits(p.threads, p.warns), RUNNING]
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
        if self.inner:
            glue_parts.append(INNER_LOOPS)
        objects = [f"static PyObject *numpy_{d};" for d in self.dtypes] + [
            f"static PyObject *step_{k};  // {_in_short(text)}" for k, text in enumerate(self.steps)
        ] + [f"static py_inner {name};" for name in self.inner]
        shared = {LATER, DEAL, OF_ALL, *glue_parts}
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
            f"{HEADERS}{SCHEDULED}{NO_BRANCHES if choose_twice(p.body) else ''}"
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
        self.line(f"if (py_count != {len(p.params)}) {{ {MISS} }}")
        for k, x in enumerate(p.params):
            if isinstance(x, n.ScalarParam):
                take_scalar(self, k, x)
        leave = take_arrays(self, arrays)
        if _computes_with_floats(p):
            self.line(f'if (wants_errors()) {{ py_reason = "errors"; {leave} }}')
        if p.warns:
            self.line("lower_flags();")
        declared_at = len(self.lines)
        last = last_uses(self)
        self.block(p.body, last=last)
        self.line("Py_IncRef(&_Py_NoneStruct);")
        self.line("py_result = &_Py_NoneStruct;")
        self.lines[declared_at:declared_at] = declarations(self)
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
                clear(self, buffer)
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
        asks = small_sizes.is_asked(p)
        head = f"{small_sizes.head() if asks else small_sizes.ENTRY.format(name=name)} {{"
        if len(self.lines) > _LONG_ENTRY:
            head = f"{_AS_IT_STANDS}\n{head}"
        return "\n".join([head, *self.lines, "}", "", *([small_sizes.called(name)] if asks else [])])

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
                clear(self, buffer)
                self.line(f"{ident(buffer)} = NULL;")

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
                allocate(self, buffer)
            case n.Library():
                called_library(self, s)
            case n.Guard(condition, args=args):
                self.line(f"if (!({c.expr(condition)})) {{")
                self.depth += 1
                raised(self, s, [c.expr(a) for a in args], [_shown(a) for a in args])
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
            case n.Return(n.TupleResult(kind="raise") as error):
                self.span = s.span
                made = made_of_parts(self, error)
                self.line(f"if ({made}) Py_IncRef({made});")
                kind = called(self, "type", [made])
                self.line(f"if ({kind}) {{ PyErr_SetObject({kind}, {made}); Py_DecRef({kind}); Py_DecRef({made}); }}")
                self.line(self.leave())
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
        function = function_of(self.printer, s, live)
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
            raised(self, guard, slots, types)
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
            *([small_sizes.METHOD] if small_sizes.is_asked(self.program) else []),
            *(METHODS if self.releases else ()),
            *(['    {"times", py_told_times, 0x4, "what has been measured"},'] if measures else ()),
            '    {"why", why, 0x4, "why the last call was not for this code"},',
            '    {"listen", listen, 0x1, "whom to ask and to tell"}, {0}};',
            f'static PyModuleDef module = {{{{1, NULL}}, NULL, 0, NULL, "{name}", NULL, -1, methods}};',
            "",
            f"PY_EXPORT PyObject *PyInit_{name}(void) {{",
            '    if (!(numpy = PyImport_ImportModule("numpy"))) return NULL;',
            '    numpy_ndarray = PyObject_GetAttrString(numpy, "ndarray");',
            '    numpy_empty = PyObject_GetAttrString(numpy, "empty");',
        ]
        for d in self.dtypes:
            lines.append(f'    numpy_{d} = PyObject_GetAttrString(numpy, "{d if d != "bool" else "bool_"}");')
        for k, text in enumerate(self.steps):
            lines.append(f"    if (!(step_{k} = function({json.dumps(text)}))) return NULL;")
        lines += [f"    {inner.found()}" for inner in self.inner.values()]
        if self.releases:
            lines.append("    py_when_forked();")
        lines += ["    return PyModule_Create2(&module, 3);", "}", ""]
        return "\n".join(lines)


def _in_short(text: str) -> str:
    """The text of a step beside its name; it stands at the module's end in full."""
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST // 2]} … {text[-_LONGEST // 2 :]}"


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


def _shown(arg: Expr) -> str:
    """The type of a number in a message."""
    return "index" if arg.dtype.startswith(("int", "uint")) and arg.dtype != "uint64" else arg.dtype
