"""The launcher: a Python module with the user's function, which runs the kernels through CuPy."""

from __future__ import annotations

import enum
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property

from transkern import refusals
from transkern.errors import CompileError
from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.complexes import is_complex, parts_of_scalar
from transkern.ir.containers import error_text, number_class, with_changes
from transkern.ir.expr import NOWHERE, Apply, Expr, Load, Span, Var
from transkern.ir.storage import storage
from transkern.ir.traverse import exprs, variables_read, walk, walk_expr
from transkern.targets.cuda import host, pieces
from transkern.targets.cuda.failures import QUIET, RECORD, Checks
from transkern.targets.cuda.launch.libraries import call_library
from transkern.targets.cuda.launch.results import give_back, objects_in, opens_giving_back, result_text
from transkern.targets.cuda.launches import COLUMNS, SHORT_ROWS, KernelText
from transkern.targets.cuda.parameters import alloc_dims, left_in, shared_allocs
from transkern.targets.cuda.prelude import SHARING
from transkern.targets.rooms import NO_ROOM
from transkern.targets.signature import literal, parameters

_WARNS = ("divide", "power", "log", "sqrt", "exp", "remainder", "floor_divide", "reciprocal")


class Launcher:
    """Prints the module of one program, whose kernels are in `kernels` by name."""

    def __init__(
        self, program: n.Program, kernels: dict[str, KernelText], checks: Checks, standalone: bool
    ) -> None:
        self.program, self.kernels, self.standalone = program, kernels, standalone
        self.reading = checks
        self.lines: list[str] = []
        self.places: dict[int, Span] = {}  # the places in the source that lines of the text, from 1, stand for
        self.checks: dict[int, Span] = {}  # those of the checks in kernels, by number
        self._spans: list[Span] = []  # by the lines so far
        self.span = NOWHERE  # of the present statement
        self.depth = 1
        self.cited = ""
        self.defined: set[str] = set()  # scalars that have a value here
        self.helpers: set[str] = set()
        self.arrays = [p for p in program.params if isinstance(p, n.ArrayParam)]
        self.given = self._given()
        self.room: dict[str, tuple[Expr, ...]] = {}  # of the memory that arrays have got: their sizes may be told later
        self.left_in = left_in(program)
        self.has_room = n.ROOM in _named(program)  # for lists without a bound
        self.defined |= {n.ROOM} if self.has_room else set()
        self.text = self.module()

    # --- text

    def line(self, text: str) -> None:
        self.lines.append("    " * self.depth + text if text else "")
        self._spans += [self.span] * (1 + text.count("\n"))

    def source(self, s: n.Stmt) -> None:
        text = self.program.cited(next((x.span for x in walk((s,)) if x.span.line), s.span))
        if text and text != self.cited:
            self.cited = text
            self.line(f"# {text}")

    def use(self, helper: str) -> str:
        self.helpers.add(helper)
        return helper

    # --- the module

    def module(self) -> str:
        """The text of the module."""
        p = self.program
        taken = parameters(p)
        self.arguments()
        if self.reading.records:  # what checks in kernels find
            self.line(f"errors = cp.zeros(({len(self.reading.records)}, {RECORD}), np.int64)")
        if any(k.partials for k in self.kernels.values()):
            self.line(f"arrived = {self.use('_arrived')}()")
        gives_back = opens_giving_back(self)
        self.statements(p.body)
        self.read_errors(self.reading.at_end)
        if not self.ends(p.body):
            self.line("return None")
        if gives_back:
            give_back(self)
        body = "\n".join(self.lines)
        checks = {code: g for k in self.kernels.values() for code, g in k.guards.items()}
        if checks:
            self.use(self.raises)
        head = [
            f'"""`{p.name}` on a GPU: needs CuPy and NumPy, and {p.name}.cu beside this file. Made by transkern."""',
            "",
            *(["import functools"] if self.kernels else []),
            *(["import math"] if "math." in body else []),
            *(["import threading"] if self.helpers & {"_arrived", "_group", "_sharing"} else []),
            *(["from pathlib import Path"] if self.kernels else []),
            *([""] if self.kernels or "math." in body else []),
            "import cupy as cp",
            "import numpy as np",
            "",
        ]
        if self.kernels:
            head += [f'_CODE = Path(__file__).with_name("{p.name}.cu").read_text(encoding="utf-8")']
            head += [pieces.FAST_OPTIONS if p.fastmath else pieces.OPTIONS, *pieces.MODULE]
        head += ["", *NO_ROOM.splitlines(), ""] if self.has_room else []
        if checks:
            head.append("_ERRORS = {  # what a check in a kernel raises, by its number")
            head += [f"    {code}: {self.told(g)}," for code, g in sorted(checks.items())]
            head += ["}"]
        if any(g.changes for g in checks.values()):
            head.append("_CHANGES = {  # and what goes into the arguments before it is seen")
            head += [f"    {code}: lambda *a: {g.changes}," for code, g in sorted(checks.items()) if g.changes]
            head += ["}"]
        name = p.name
        if self.has_room:
            name = f"_with_room_{p.name}"
            call = ", ".join([name, *(q.name for q in p.params)])
            head += ["", "", f"def {p.name}({taken}):", f"    return {self.use('_begin_anew')}({call})"]
            taken = ", ".join([*(q.name for q in p.params), host.name(n.ROOM)])
        head += ["", "", f"def {name}({taken}):"]
        text = "\n".join(head) + "\n" + body + "\n"
        above = text.count("\n") - body.count("\n")
        self.places = {above + k: span for k, span in enumerate(self._spans) if span.line}
        self.checks = {code: g.span for code, g in checks.items()}
        return text + pieces.helpers(self.helpers)

    @cached_property
    def raises(self) -> str:
        """The helper that raises what checks in kernels found."""
        changes = any(isinstance(s, n.Guard) and s.changes for s in walk(self.program.body))
        return "_raise_changed" if changes else "_raise_failed"

    def error(self, error: str) -> str:
        """The class that a check raises, as text."""
        if error == n.NO_ROOM:
            return "_NoRoom" if self.has_room else "MemoryError"
        return error_text(error)

    def told(self, g: n.Guard) -> str:
        """A check's class and message, and what the message's numbers are."""
        types = ("np.uint64" if a.dtype == "uint64" else number_class(a.dtype) for a in g.args)
        error = self.error(g.error)
        if not g.message and g.error != n.NO_ROOM:  # no message is no argument
            error = f"(lambda text: {error}())"
        return host.tuple_of([error, repr(g.message), *types])

    def ends(self, statements: Sequence[n.Stmt]) -> bool:
        if not statements:
            return False
        last = statements[-1]
        if isinstance(last, n.If) and last.orelse:
            return self.ends(last.then) and self.ends(last.orelse)
        return isinstance(last, n.Return)

    # --- arguments

    def _given(self) -> dict[str, str]:
        """The names under which the caller's own arrays stay known, where they are needed at the end."""
        needed = {p.name for p in self.arrays if p.written}
        for s in walk(self.program.body):
            if isinstance(s, n.Return):
                needed |= objects_in(s.result)
        return {p.name: f"given_{host.name(p.name)}" for p in self.arrays if p.name in needed}

    def arguments(self) -> None:
        """Checks of the arguments, and their sizes as names."""
        checks: list[str] = []
        for p in self.program.params:
            match p:
                case n.ArrayParam(name, dtype, dims):
                    checks.append(f'{self.use("_check_array")}("{name}", {name}, {host.dtype(dtype)}, {len(dims)})')
                case n.ScalarParam(name, dtype, python):
                    kind = python or host.dtype(dtype)
                    checks.append(f'{self.use("_check_number")}("{name}", {name}, {kind})')
                    self.defined |= set(parts_of_scalar(name)) if is_complex(dtype) else {name}
                case n.ConstantParam(value=value) if callable(value) or isinstance(value, enum.Enum):
                    pass  # a function, or a member of an enum, is part of the code: it has no literal to compare with
                case n.ConstantParam(name, value):
                    checks.append(f'{self.use("_check_constant")}("{name}", {name}, {literal(value)})')
        for text in checks:
            self.line(text)
        for p in self.arrays:
            for d, dim in enumerate(p.dims):
                if isinstance(dim, Var) and dim.name not in self.defined:
                    self.line(f"{host.name(dim.name)} = {p.name}.shape[{d}]")
                    self.defined.add(dim.name)
                else:
                    self.line(f'{self.use("_check_size")}("{p.name}", {p.name}, {d}, {host.expr(dim)})')
        written = [p for p in self.arrays if p.written]
        for p in written:
            others = [q.name for q in self.arrays if q.name != p.name]
            self.line(f'{self.use("_check_written")}("{p.name}", {", ".join([p.name, *others])})')
        names = ", ".join(p.name for p in self.arrays)
        if self.arrays:
            every = host.tuple_of(p.name for p in self.arrays)
            self.line(f"on_host = not any(isinstance(x, cp.ndarray) for x in {every})")
            self.line(f"with {self.use('_device_of')}({names}):")
            self.depth += 1
        else:
            self.line("on_host = True")
        for name, given in self.given.items():
            self.line(f"{given} = {name}")
        for p in self.arrays:
            order = ', order="C"' if p.layout == "C" else ""
            made = f"cp.{'array' if self.has_room and p.written else 'asarray'}({p.name}{order})"
            self.line(f"{host.name(p.name)} = " + (f"{self.use('_parts')}({made})" if is_complex(p.dtype) else made))
        for p in self.program.params:
            if isinstance(p, n.ScalarParam) and is_complex(p.dtype):
                for name, part in zip(parts_of_scalar(p.name), ("real", "imag"), strict=True):
                    self.line(f"{host.name(name)} = {p.name}.{part}")
            elif p.name != host.name(p.name) and not isinstance(p, n.ArrayParam):
                self.line(f"{host.name(p.name)} = {p.name}")

    # --- statements

    def statements(self, statements: Iterable[n.Stmt]) -> None:
        found = list(statements)
        for s in found:
            if isinstance(s, n.Accumulator):  # its loop has gone: nothing was combined
                self.line(f"{host.name(s.name)} = {_nothing(s)}")
                self.defined.add(s.name)
        for k, s in enumerate(found):
            if not isinstance(s, n.Accumulator) and not (isinstance(s, n.Alloc) and _is_made(s, found[k + 1 :])):
                self.statement(s)

    def nested(self, statements: Sequence[n.Stmt], read: bool = False) -> None:
        self.depth += 1
        mark = len(self.lines)
        self.statements(statements)
        self.read_errors(read)
        if len(self.lines) == mark:
            self.line("pass")
        self.depth -= 1

    def read_errors(self, now: bool) -> None:
        """Raises here what checks in kernels have found, if `now`."""
        if now:
            self.line(f"{self.use(self.raises)}(errors)")

    def statement(self, s: n.Stmt) -> None:
        self.read_errors(id(s) in self.reading.before)
        if not isinstance(s, (n.Alloc, n.Kernel)):
            self.source(s)
        self.span = s.span
        match s:
            case n.Let(name, value) | n.Assign(name, value):
                text = self.value(value)
                if value.dtype == "float64" and any(isinstance(e, Apply) and e.op in _WARNS for e in walk_expr(value)):
                    self.line('with np.errstate(all="ignore"):')
                    self.line(f"    {host.name(name)} = {text}")
                else:
                    self.line(f"{host.name(name)} = {text}")
                self.defined.add(name)
            case n.Alloc(buffer):
                self.alloc(buffer)
            case n.Kernel():
                self.launch(s)
            case n.Library():
                call_library(self, s)
            case n.Guard(condition, error, message, args, changes):
                self.line(f"if {self.value(Apply('logical_not', (condition,), 'bool'))}:")
                if not self.standalone and condition in self.program.assumptions:
                    self.line("    return NotImplemented")
                    return
                shown = [_shown(a.dtype, self.value(a)) for a in args]
                given = f".format({', '.join(shown)})" if args or "{" in message else ""
                raised = f"{self.error(error)}({message!r}{given})" if message else f"{self.error(error)}()"
                if changes:  # the numbers in them are called `a`, as something of the function's may be, too
                    raised = f"(lambda e, *a: {with_changes('e', changes)})({', '.join([raised, *shown])})"
                self.line(f"    raise {raised}")
            case n.If(condition, then, orelse):
                self.line(f"if {self.value(condition)}:")
                self.nested(then)
                if orelse:
                    self.line("else:")
                    self.nested(orelse)
            case n.While(head, condition, body):
                self.line("while True:" if head else f"while {self.value(condition)}:")
                if head:
                    self.nested(head, read=id(head) in self.reading.behind)
                    self.line(f"    if {self.value(Apply('logical_not', (condition,), 'bool'))}:")
                    self.line("        break")
                self.nested(body, read=id(s) in self.reading.behind)
            case n.Loop(axis, start, stop, step, _, body):
                self.defined.add(axis)
                bounds = [self.value(e) for e in (start, stop, step)]
                if step == b.ONE:
                    bounds = bounds[1:2] if start == b.ZERO else bounds[:2]
                self.line(f"for {host.name(axis)} in range({', '.join(bounds)}):")
                self.nested(body, read=id(s) in self.reading.behind)
            case n.Break():
                self.line("break")
            case n.Continue():
                self.line("continue")
            case n.Return(n.TupleResult((n.TupleResult(kind="raise") as error, *changes))):
                told = host.tuple_of(result_text(self, x) for x in changes)
                self.line(f"raise (lambda e, c: {with_changes('e', 'c')})({result_text(self, error)}, {told})")
            case n.Return(n.TupleResult(kind="raise") as error):
                self.line(f"raise {result_text(self, error)}")
            case n.Return(result):
                self.line(f"return {result_text(self, result)}")
            case _:
                raise CompileError(
                    refusals.CUDA, f"cannot compile for CUDA: a {type(s).__name__} outside the kernels",
                    "",
                    s.span,
                    self.program.lines_of(s.span),
                )

    def value(self, e: Expr) -> str:
        return host.expr(self.known(e))

    def known(self, e: Expr) -> Expr:
        """`e` in scalars that the launcher has: a dynamic size is read from where its kernel put it."""

        def change(x: Expr) -> Expr | None:
            if isinstance(x, Var) and x.name not in self.defined:
                place = self._place_of(x.name)
                if place is not None:
                    return Load(place, (), x.dtype)
                if x.name in self.program.bounds:
                    return self.known(self.program.bounds[x.name])
            if isinstance(x, Load) and len(x.index) == 1 < len(self.program.buffers[x.buffer].dims):
                at = b.unravel(x.index[0], self.program.buffers[x.buffer].dims)  # a line of all elements
                return Load(x.buffer, tuple(map(self.known, at)), x.dtype)
            return None

        return b.map_expr(e, change)

    def bounded(self, e: Expr) -> Expr:
        """What `e` never exceeds, without asking the device."""

        def change(x: Expr) -> Expr | None:
            if isinstance(x, Var) and x.name not in self.defined and x.name in self.program.bounds:
                return self.bounded(self.program.bounds[x.name])
            return None

        return self.known(b.map_expr(e, change))

    def unknown(self, e: Expr) -> bool:
        """Whether the launcher has no value for something in `e`, not even one that it never exceeds."""
        names = (x.name for x in walk_expr(self.bounded(e)) if isinstance(x, Var))
        return any(name not in self.defined for name in names)

    def _place_of(self, name: str) -> str | None:
        """The memory that kernels hand a number to each other in."""
        return self.left_in.get(name)

    def alloc(self, buffer: str, at_most: tuple[Expr, ...] | None = None) -> None:
        info = self.program.buffers[buffer]
        sizes = [self.bounded(d) for d in at_most or info.dims]  # that of a loop may be below 0 where it has no turn
        self.room[buffer] = tuple(sizes)
        dims = [host.expr(d if b.is_nonnegative(d) else b.maximum(d, b.ZERO)) for d in sizes]
        shape = f"({', '.join(dims)},)" if len(dims) == 1 else f"({', '.join(dims)})"
        self.line(f"{host.name(buffer)} = cp.empty({shape}, {host.dtype(storage(info.dtype))})")

    # --- launches

    def launch(self, s: n.Kernel) -> None:
        kernel = self.kernels[s.name]
        sizes = alloc_dims(self.program, s)
        for buffer, dims in sizes.items():
            if any(self.unknown(d) for d in dims):
                raise CompileError(
                    refusals.CUDA,
                    f"cannot compile for CUDA: `{buffer}` is made in a loop, with a size that is known only there",
                    "make an array of the largest size before the loop, and use a part of it", s.span,
                    self.program.lines_of(s.span),
                )  # fmt: skip
        for buffer in sorted(shared_allocs(s)):
            self.alloc(buffer, sizes[buffer])
        self.source(s)
        if kernel.other is None:
            self.start(kernel, sizes)
            return
        rows, length = (host.expr(self.bounded(e)) for e in kernel.launch.counts)
        if kernel.other.launch.form == "columns":
            columns = host.expr(self.bounded(kernel.other.launch.counts[-1]))
            self.line(f"if {columns} >= {COLUMNS} and {rows} >= {pieces.SHARED_FROM}:")
        else:
            several = f"{self.use('_blocks_of')}({rows}, ({length}) // {SHARING}) > 1"
            short = f"{length} < {SHORT_ROWS} or " if kernel.other.launch.short else ""
            self.line(f"if {short}{several}:")
        self.depth += 1
        self.start(kernel.other, sizes)
        self.depth -= 1
        self.line("else:")
        self.depth += 1
        self.start(kernel, sizes)
        self.depth -= 1

    def start(self, kernel: KernelText, sizes: Mapping[str, tuple[Expr, ...]]) -> None:
        """The launch itself; `sizes` are those of the arrays that its iterations have for themselves."""
        name = kernel.name
        counts = [host.expr(self.bounded(e)) for e in kernel.launch.counts]
        arguments = [host.name(x.name) for x in kernel.buffers]
        for x in kernel.buffers:
            if x.layout != "C":
                arguments += [
                    f"{host.name(x.name)}.strides[{d}] // {host.name(x.name)}.itemsize" for d in range(len(x.dims))
                ]
        arguments += [self.argument(v) for v in kernel.scalars]
        match kernel.launch.form:
            case "parts":
                along = ", True" if kernel.launch.along else ""
                self.line(f"blocks, threads, *shared = {self.use('_sharing')}({', '.join(counts)}{along})")
            case "binned":
                self.line(f"blocks, threads = {self.use('_binned')}({counts[0]})")
            case "columns":
                self.line(f"blocks, threads, down = {self.use('_columns')}({', '.join(counts)})")
            case "steps":
                self.line(f"blocks, threads = {self.use('_steps')}({counts[0]})")
            case "elements" if not kernel.partials:
                self.line(f"blocks, threads = {self.use('_elements')}({counts[0]}, {kernel.launch.each})")
            case "elements":
                self.line(f"blocks, threads = {self.use('_reduced')}({counts[0]}, {kernel.launch.each})")
            case "spread":
                self.line(f"blocks, threads = {self.use('_spread')}({', '.join(counts)})")
            case "rows":
                each = "" if kernel.launch.each == 1 else f", {kernel.launch.each}"
                self.line(f"blocks, threads = {self.use('_rows')}({', '.join(counts)}{each})")
            case _ if kernel.cooperative:
                given = [*counts, *pieces.how_often(kernel.launch)]
                self.line(f"blocks, threads, grid_memory = {self.use('_group')}({', '.join(given)})")
            case _:
                self.line(f"threads = {self.use('_together')}({', '.join(counts) or 1})")
        if kernel.partials:
            for dtype in kernel.partials:
                arguments.append(
                    f"cp.empty(blocks, {host.dtype(dtype)})" if dtype else "cp.empty(16 * blocks, np.uint8)"
                )
            arguments.append("arrived")
        for buffer, of in kernel.slices.items():
            size = host.expr(self.bounded(b.product(sizes[buffer])))
            one_block = kernel.launch.form == "block" and not kernel.cooperative
            number = {"thread": "threads" if one_block else "blocks * threads", "block": "blocks"}[of]
            dtype = host.dtype(storage(self.program.buffers[buffer].dtype))
            arguments += [f"cp.empty({number} * ({size}), {dtype})", size]
        if kernel.errors:
            arguments.append("errors")
        if kernel.launch.form == "parts":
            arguments.append("*shared")
        arguments += [host.expr(self.bounded(b.product(self.program.buffers[x].dims))) for x in kernel.counted]
        if kernel.launch.form == "columns":
            arguments.append("down")
        if kernel.launch.form == "parts":
            self.call(f'_kernel("{name}", shared[1] > 1)((blocks,), (threads,), ', arguments)
        elif kernel.cooperative:
            self.call(f'_kernel("{name}", blocks > 1)((blocks,), (threads,), ', [*arguments, "grid_memory"])
        else:
            grid = "(blocks,)" if kernel.launch.form != "block" else "(1,)"
            self.call(f'_kernel("{name}")({grid}, (threads,), ', arguments)

    def call(self, launch: str, arguments: Sequence[str]) -> None:
        """A launch with its arguments, over several lines where they are many."""
        one = f"{launch}{host.tuple_of(arguments)})"
        if len(one) + 4 * self.depth <= 110:
            self.line(one)
            return
        self.line(launch + "(")
        current = "    "
        for text in arguments:
            if len(current) + len(text) + 4 * self.depth > 108:
                self.line(current.rstrip())
                current = "    "
            current += text + ", "
        self.line(current.rstrip())
        self.line("))")

    def argument(self, v: Var) -> str:
        if v.name not in self.defined and self._place_of(v.name) is None and v.name not in self.program.bounds:
            return "0" if v.dtype == "index" else f"{host.dtype(v.dtype)}(0)"  # never read before it is set
        text = self.value(v)
        return f"np.bool_({text})" if v.dtype == "bool" else text


def _is_made(s: n.Alloc, rest: Sequence[n.Stmt]) -> bool:
    """Whether a library step behind it makes the array."""
    after = next((x for x in rest if not isinstance(x, n.Alloc)), None)
    return isinstance(after, n.Library) and after.name in QUIET and after.outs == (s.buffer,)


def _named(program: n.Program) -> set[str]:
    """The variables that the statements and the lengths of arrays read."""
    several = (*exprs(program.body), *program.bounds.values(), *(d for x in program.buffers.values() for d in x.dims))
    return {name for e in several for name in variables_read(e)}


def _shown(dtype: str, text: str) -> str:
    return text if dtype == "index" else f"{number_class(dtype)}({text})"


def _nothing(s: n.Accumulator) -> str:
    """What a reduction of nothing is."""
    value = {"prod": 1, "all": 1, "first": -1, "last": -1, "argmax": -1, "argmin": -1}.get(s.op, 0)
    return host.constant(bool(value) if s.dtype == "bool" else value, s.dtype)
