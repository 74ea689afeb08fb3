"""Kernel statements as CUDA C++ for one thread: what runs inside an iteration that a thread has for itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from transkern import refusals
from transkern.errors import CompileError
from transkern.fuse.lowering.updates import operand
from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Apply, Expr, Load, Var
from transkern.ir.names import Names
from transkern.ir.storage import itemsize, storage
from transkern.ir.traverse import walk
from transkern.targets.clike import CPrinter, ident
from transkern.targets.comments import comment
from transkern.targets.cuda.forms.ahead import is_own, is_short, print_ahead, print_scan_ahead
from transkern.targets.cuda.forms.bins import times
from transkern.targets.cuda.forms.folds import fold_of, run_of
from transkern.targets.cuda.spelling import PREFIX, TYPES, Reduction, accumulate, reduction, running

LOCAL_BYTES = 1024  # temporaries of one iteration up to this size are the thread's own


_ATOMIC = {
    "add": "atomicAdd", "subtract": "atomicAdd", "maximum": "atomicMax", "minimum": "atomicMin",
    "bitwise_and": "atomicAnd", "bitwise_or": "atomicOr", "bitwise_xor": "atomicXor",
}  # fmt: skip


@dataclass(slots=True)
class Held:
    """An accumulator: the name of the variable it is kept in, and how many statements of its block combine into it."""

    node: n.Accumulator
    how: Reduction
    name: str
    statements: int
    declared: bool = False
    late: bool = False  # declared by the search that finds it


@dataclass(slots=True)
class Unit:
    """What all kernels of a program share: the expression printer, and which pieces and functors the text needs."""

    program: n.Program
    c: CPrinter = field(init=False)
    kernels: frozenset[str] = field(init=False)  # their names, which no other function may have
    pieces: set[str] = field(default_factory=set)
    functors: dict[str, str] = field(default_factory=dict)
    guards: list[n.Guard] = field(default_factory=list)
    locals: dict[str, str] = field(default_factory=dict)
    slices: dict[str, str] = field(default_factory=dict)  # buffers of which each ``thread`` or ``block`` has one
    # of nests that loops in order come back to: names of what threads begin with, and what declares them in a kernel
    begun: dict[tuple[str, ...], tuple[tuple[str, ...], ...]] = field(default_factory=dict)
    before_loops: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.c = CPrinter(self.program.buffers, TYPES, prefix=PREFIX, wrap=True)
        self.kernels = frozenset(ident(s.name) for s in walk(self.program.body) if isinstance(s, n.Kernel))

    def local(self, name: str) -> str:
        """A name for a variable of the printer's own, which nothing of the user's has."""
        if name not in self.locals:
            taken = Names.of(self.program).taken
            self.locals[name] = Names(lambda: taken | {ident(t) for t in taken}).fresh(name)
        return self.locals[name]

    def kernel(self, name: str) -> str:
        """A name for one more kernel."""
        while ident(name) in self.kernels:
            name += "_"
        self.kernels |= {ident(name)}
        return name


class Body:
    """Prints statements; a subclass prints those that threads share."""

    def __init__(self, unit: Unit, depth: int = 1) -> None:
        self.unit, self.program, self.c = unit, unit.program, unit.c
        self.lines: list[str] = []
        self.depth = depth
        self.cited = ""
        self.held: dict[str, Held] = {}
        self.scopes: list[set[str]] = [set()]  # the accumulators of the open blocks, innermost last
        self.undeclared: dict[str, str] = {}  # variables whose first assignment is their declaration, with their dtypes
        self.slice_number: tuple[str, str] | None = (
            None  # which slice of shared memory is this iteration's, and of whom
        )
        self.order: Expr | None = None  # the number of the iteration, where a check may fail in one of many
        self.mine: set[str] = set()  # memory of one thread, which needs no atomic operations and has none
        self.bins: Mapping[str, tuple[str, str]] = {}  # where a block counts by itself, and the variable that says if
        self.leaving = "break;"  # how a failed check leaves an iteration: one of several in a row ends by itself
        self.loops = 0  # thread-level loops around the statement, from the one that a failed check leaves

    # --- text

    def line(self, text: str) -> None:
        self.lines.append("    " * self.depth + text)

    def open(self, text: str) -> None:
        self.line(f"{text} {{".lstrip())
        self.depth += 1

    def close(self, text: str = "}") -> None:
        self.depth -= 1
        self.line(text)

    def source(self, s: n.Stmt) -> None:
        """The user's line above the code made of it."""
        text = self.program.cited(next((x.span for x in walk((s,)) if x.span.line), s.span))
        if text and text != self.cited:
            self.cited = text
            self.line(comment(text))

    def fail(self, s: n.Stmt, problem: str, help: str) -> CompileError:
        told, lines = f"cannot compile for CUDA: {problem}", self.program.lines_of(s.span)
        return CompileError(refusals.CUDA, told, help, s.span, lines)

    # --- blocks

    def block(self, statements: Sequence[n.Stmt]) -> None:
        for k, s in enumerate(statements):
            if isinstance(s, n.Accumulator):
                self.declare(s, statements[k + 1 :])
            else:
                self.statement(s)
                self.settle(s)

    def declare(self, s: n.Accumulator, rest: Sequence[n.Stmt]) -> None:
        """The variable of an accumulator, and what it is combined with."""
        uses = [x for x in walk(rest) if isinstance(x, n.Accumulate) and x.name == s.name]
        how = reduction(s.op, s.dtype, uses[0].value.dtype if uses else s.dtype, self.c)
        self.unit.pieces.update(how.needs)
        if how.text:
            self.unit.functors[how.functor] = how.text
        count = sum(any(x in uses for x in walk((r,))) for r in rest)
        plain = how.read == "{0}"
        name = ident(s.name) if plain else f"{ident(s.name)}_{'best' if how.type.startswith('Best') else 'sum'}"
        held = self.held[s.name] = Held(s, how, name, count, declared=plain)
        if count == 1 and rest and self.is_search(rest[0]):
            held.late = True
            return
        self.line(f"{how.type} {name} = {how.functor}::start();")
        if not plain and count != 1:
            self.line(f"{TYPES[s.dtype]} {ident(s.name)} = {how.read.format(name)};")
            held.declared = True

    def is_search(self, s: n.Stmt) -> bool:
        """Whether the statement is a search that gives its accumulator a value at once."""
        return False

    def settle(self, s: n.Stmt) -> None:
        """The value of the accumulators that `s` has combined into, as others read it."""
        for name in dict.fromkeys(x.name for x in walk((s,)) if isinstance(x, n.Accumulate)):
            held = self.held.get(name)
            if held is None or held.how.read == "{0}" or name not in self.scopes[-1]:
                continue
            kind = "" if held.declared else f"const {TYPES[held.node.dtype]} "
            self.line(f"{kind}{ident(name)} = {held.how.read.format(held.name)};")
            held.declared = True

    def nested(self, statements: Sequence[n.Stmt]) -> None:
        self.scopes.append({s.name for s in statements if isinstance(s, n.Accumulator)})
        self.block(statements)
        self.scopes.pop()

    # --- statements

    def statement(self, s: n.Stmt) -> None:
        c = self.c
        if not isinstance(s, (n.Alloc, n.Loop)):
            self.source(s)
        match s:
            case n.Let(name, value):
                const = "" if name in self.program.variables else "const "
                self.line(f"{const}{c.type(value.dtype)} {ident(name)} = {c.expr(value)};")
            case n.Assign(name, value):
                kind = f"{TYPES[self.undeclared.pop(name)]} " if name in self.undeclared else ""
                self.line(f"{kind}{ident(name)} = {c.expr(value)};")
            case n.Store():
                self.store(s)
            case n.Accumulate():
                self.combine(s)
            case n.Loop():
                self.loop(s)
            case n.While():
                self.while_(s)
            case n.If(condition, then, orelse):
                self.open(f"if ({c.expr(condition)})")
                self.nested(then)
                if orelse:
                    self.close("} else {")
                    self.depth += 1
                    self.nested(orelse)
                self.close()
            case n.Compact():
                self.compact(s)
            case n.Scanning():
                self.scanning(s)
            case n.Guard():
                self.guard(s)
            case n.Break():
                self.line("break;")
            case n.Continue():
                self.line("continue;")
            case n.Alloc(buffer):
                self.alloc(s, buffer)
            case _:
                raise self.fail(s, f"a {type(s).__name__} inside a kernel", "move it out of the loop")

    def store(self, s: n.Store) -> None:
        if s.atomic and s.buffer not in self.mine:
            if s.buffer in self.bins:
                array, few = self.bins[s.buffer]
                at = self.c.expr(self.c.offset(s.buffer, s.index))
                (op, added) = operand(s) or ("", s.value)
                (_, condition) = times(added, op) or (0, None)
                one = "1u" if condition is None else f"{self.c.expr(condition)} ? 1u : 0u"
                self.line(f"if ({few}) atomicAdd(&{array}[{at}], {one});")
                self.line(f"else {self.update(s)}")
            else:
                self.line(self.update(s))
            return
        match s.value:
            case Apply("where", (condition, value, Load(s.buffer, s.index))):  # the element stays, or is stored to
                place = self.c.element(s.buffer, s.index)
                self.line(f"if ({self.c.expr(condition)}) {place} = {self.c.expr(value)};")
                return
        self.line(f"{self.c.element(s.buffer, s.index)} = {self.c.expr(s.value)};")

    def update(self, s: n.Store) -> str:
        """An element changed in one step. Sums of integers and their bits are those of unsigned ones, which all are
        there."""
        found = operand(s)
        assert found is not None
        (op, other), dtype = found, storage(s.value.dtype)
        value, place = self.c.expr(other), f"&{self.c.element(s.buffer, s.index)}"
        if op not in ("maximum", "minimum"):
            unsigned = TYPES[f"uint{8 * itemsize(dtype)}"]
            place, value = f"({unsigned} *){place}", f"({unsigned})({value})"
        if op == "subtract":
            value = f"0u - {value}"
        return f"{_ATOMIC[op]}({place}, {value});"

    def combine(self, s: n.Accumulate) -> None:
        held = self.held[s.name]
        for text in accumulate(s, held.how, held.name, self.c):
            self.line(text)

    def alloc(self, s: n.Stmt, buffer: str) -> None:
        """Memory of one iteration: the thread's own where it is small, else a slice of what the launcher gives."""
        self.mine.add(buffer)
        info = self.program.buffers[buffer]
        size, name = b.constant(b.product(info.dims)), ident(buffer)
        if size is not None and size * itemsize(info.dtype) <= LOCAL_BYTES:
            self.line(f"{TYPES[info.dtype]} {name}[{max(1, size)}];")
        else:
            self.slice(s, buffer)

    def slice(self, s: n.Stmt, buffer: str) -> None:
        info, name = self.program.buffers[buffer], ident(buffer)
        if not self.slice_number:
            raise self.fail(
                s, f"each iteration of a parallel loop needs memory for `{buffer}` of its own",
                "compute its elements where they are used, or allocate one array for all iterations before the loop",
            )  # fmt: skip
        number, each = self.slice_number
        self.unit.slices[buffer] = each
        if each == "thread":  # the same element of neighbours stands side by side
            self.unit.pieces.add("interleaved")
            group, is_rank, _ = number.partition(".rank()")
            threads = f"{group}.size()" if is_rank else self.unit.local("threads")
            self.line(f"const Interleaved<{TYPES[info.dtype]}> {name} = {{slices_{name} + {number}, {threads}}};")
            return
        self.line(f"{TYPES[info.dtype]} *{name} = slices_{name} + ({number}) * slice_{name};")

    # --- loops

    def header(self, s: n.Loop, start: str = "") -> str:
        i, c = ident(s.axis), self.c
        step = b.constant(s.step)
        first = start or c.expr(s.start)
        if step is None:
            by = c.operand(s.step)
            goes = f"{by} > 0 ? {i} < {c.operand(s.stop)} : {i} > {c.operand(s.stop)}"
            return f"for (long long {i} = {first}; {goes}; {i} += {by})"
        sign = "<" if step > 0 else ">"
        advance = {1: f"++{i}", -1: f"--{i}"}.get(step, f"{i} += {step}" if step > 0 else f"{i} -= {-step}")
        return f"for (long long {i} = {first}; {i} {sign} {c.operand(s.stop)}; {advance})"

    def loop(self, s: n.Loop) -> None:
        self.source(s)
        if (fold := fold_of(s) or run_of(s)) is not None and is_short(s.body):
            print_ahead(self, s, fold)
            return
        self.open(self.header(s))
        self.inside(s.body)
        self.close()
        self.leave_if_failed(s)

    def open_nest(self, axes: Sequence[n.Loop], first: str, size: str) -> Expr:
        """Opens one loop over all points of `axes`, from `first` by `size`; its variable."""
        if len(axes) == 1 and axes[0].step == b.ONE:
            s, i = axes[0], ident(axes[0].axis)
            start = first if s.start == b.ZERO else f"({self.c.expr(s.start)}) + {first}"
            self.open(f"for (long long {i} = {start}; {i} < {self.c.operand(s.stop)}; {i} += {size})")
            return Var(s.axis, "index")
        q = Var("_".join(ident(a.axis) for a in axes) + "_at", "index")
        extents = tuple(extent_of(a) for a in axes)
        total = b.product(extents)
        self.open(f"for (long long {q.name} = {first}; {q.name} < {self.c.operand(total)}; {q.name} += {size})")
        for text in points_of(self.unit, axes, q.name):
            self.line(text)
        return q

    def inside(self, statements: Sequence[n.Stmt]) -> None:
        self.loops += 1
        self.nested(statements)
        self.loops -= 1

    def leave_if_failed(self, s: n.Stmt) -> None:
        """Behind a loop that a failed check leaves, where more loops are to be left."""
        if self.loops and has_guards(s):
            self.line("if (failure.code) break;")

    def while_(self, s: n.While) -> None:
        if s.head:
            self.open("for (;;)")
            self.scopes.append({x.name for x in (*s.head, *s.body) if isinstance(x, n.Accumulator)})
            self.loops += 1
            self.block(s.head)
            self.source(s)
            self.line(f"if (!({self.c.expr(s.condition)})) break;")
            self.block(s.body)
            self.loops -= 1
            self.scopes.pop()
        else:
            self.open(f"while ({self.c.expr(s.condition)})")
            self.inside(s.body)
        self.close()
        self.leave_if_failed(s)

    def compact(self, s: n.Compact) -> None:
        c, i, count = self.c, ident(s.axis), ident(s.count)
        kept = f"{count}_kept"  # the mask and the bounds may still read the count before
        self.open("")  # its names end with it: pieces that are joined count alike
        self.line(f"long long {kept} = {count if s.append else 0};")
        self.open(f"for (long long {i} = {c.expr(s.start)}; {i} < {c.operand(s.stop)}; ++{i})")
        self.loops += 1
        self.nested(s.body)
        self.open(f"if ({c.expr(s.mask)})")
        self.keep(s, Var(kept, "index"))
        self.line(f"++{kept};")
        self.close()
        self.loops -= 1
        self.close()
        self.line(f"{count} = {kept};")
        self.close()
        self.leave_if_failed(s)

    def keep(self, s: n.Compact, position: Expr) -> None:
        """Stores one kept element, with its inner axes."""
        c = self.c
        for a in s.inner:
            i = ident(a.name)
            self.open(f"for (long long {i} = 0; {i} < {c.operand(a.extent)}; ++{i})")
        for out, value in zip(s.outputs, s.values, strict=True):
            self.line(f"{c.element(out, (position, *(a.var for a in s.inner)))} = {c.expr(value)};")
        for _ in s.inner:
            self.close()

    def scanning(self, s: n.Scanning) -> None:
        c, i = self.c, ident(s.axis)
        how = self.scan_operator(s)
        total = f"{ident(s.buffer)}_running"
        self.line(f"{how.type} {total} = {how.functor}::start();")

        def go_on(value: str) -> None:
            self.line(f"{total} = {how.functor}()({total}, {self.scanned(how, value)});")
            self.line(f"{c.element(s.buffer, s.index)} = {how.read.format(total)};")

        if is_own(s):
            print_scan_ahead(self, s, go_on)
            return
        self.open(f"for (long long {i} = 0; {i} < {c.operand(s.stop)}; ++{i})")
        self.loops += 1
        self.nested(s.body)
        go_on(c.expr(s.value))
        self.loops -= 1
        self.close()
        self.leave_if_failed(s)

    def scan_operator(self, s: n.Scanning) -> Reduction:
        dtype = self.program.buffers[s.buffer].dtype
        how = running(s.op, dtype, self.c)
        self.unit.pieces.update(how.needs)
        if how.text:
            self.unit.functors[how.functor] = how.text
        return how

    def scanned(self, how: Reduction, value: str) -> str:
        return f"{how.type}{{{value}, 0.0}}" if how.type == "Exact" else f"({how.type})({value})"

    # --- checks

    def told(self, e: Expr) -> str:
        """A number of a message as an integer of 64 bits: of a float, the bits."""
        if not e.dtype.startswith("float"):
            return f"(long long)({self.c.expr(e)})"
        single = b.cast(e, "float32") if e.dtype == "float16" else e
        return f"__double_as_longlong({self.c.expr(b.cast(single, 'float64'))})"

    def guard(self, s: n.Guard) -> None:
        """A check that fails leaves the loop; what failed first is found out by all threads together afterwards."""
        self.unit.guards.append(s)
        assert self.order is not None
        numbers = ", ".join(map(self.told, s.args))
        self.open(f"if (!({self.c.expr(s.condition)}))")
        first = "" if self.leaving == "break;" else "if (!failure.code) "
        self.line(f"{first}failure = {{{self.c.expr(self.order)}, {len(self.unit.guards)}, {{{numbers}}}}};")
        self.line(self.leaving)
        self.close()


def points_of(unit: Unit, axes: Sequence[n.Loop], number: str) -> list[str]:
    """Declarations of the variables of a nest's `axes` at the point that has a `number`, which is not negative."""
    texts, places = places_of(unit, [extent_of(a) for a in axes], number)
    return [*texts, *(variable_at(unit, a, at) for a, at in zip(axes, places, strict=True))]


def variable_at(unit: Unit, axis: n.Loop, place: Expr) -> str:
    """The declaration of a loop's variable at one of its places, counted from 0."""
    value = b.add(axis.start, place if axis.step == b.ONE else Apply("multiply", (place, axis.step), "index"))
    return f"const long long {ident(axis.axis)} = {unit.c.expr(value)};"


def places_of(unit: Unit, extents: Sequence[Expr], number: str) -> tuple[list[str], list[Expr]]:
    """Where along `extents` the point is that has a `number`, which is not negative, and what is declared for that.

    There is a division an axis, of unsigned numbers. NumPy's, which rounds down, takes three times as many
    instructions, and the remainder as many again."""
    texts, places = list[str](), list[Expr]()
    rest: Expr = Var(number, "index")
    for k in range(len(extents) - 1, 0, -1):
        unit.pieces.add("quotient")
        whole = Var(unit.local(f"rest_{k}"), "index")
        texts.append(f"const long long {whole.name} = quotient({unit.c.expr(rest)}, {unit.c.expr(extents[k])});")
        places.append(Apply("subtract", (rest, Apply("multiply", (whole, extents[k]), "index")), "index"))
        rest = whole
    return texts, [rest, *places[::-1]]


def extent_of(s: n.Loop) -> Expr:
    """How many iterations the loop has."""
    length, step = b.sub(s.stop, s.start), b.constant(s.step)
    assert step is not None, s
    if step < 0:
        length, step = b.neg(length), -step
    if step > 1:
        length = b.floordiv(b.add(length, b.index(step - 1)), b.index(step))
    return length if b.is_nonnegative(length) else b.maximum(length, b.ZERO)


def has_guards(s: n.Stmt) -> bool:
    return any(isinstance(x, n.Guard) for x in walk((s,)))
