"""Elementwise kernels along memory: elements are loaded and stored in words of 16 bytes.

Where each access of a nest is to one and the same position, the nest is one loop over memory; where accesses run along
the rows of their arrays, also rows that data choose, or are the same for a whole row, it is a loop over rows of words.
What happens to an element stands in a function of its own, `<kernel>_at`, whose parameters are named after the arrays.
A table in which each element looks up a place of its own goes there as it is.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass

from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Apply, Expr, Load, Var
from transkern.ir.storage import itemsize
from transkern.ir.traverse import exprs, map_statement, own_exprs, scalars_set, variables_read
from transkern.targets.clike import ident
from transkern.targets.cuda.body import Body, Unit, places_of
from transkern.targets.cuda.launches import FIRST, STEP, THREADS, KernelText, Launch
from transkern.targets.cuda.nests import nest
from transkern.targets.cuda.parameters import parameters
from transkern.targets.cuda.spelling import PREFIX, TYPES
from transkern.targets.wrapping import wrapped

_BYTES = 16  # the widest load there is
_SHORT = 16  # rows of a constant length below this are not worth words


@dataclass(slots=True)
class _Access:
    """One place of an array: `name` stands for its element in the element's function."""

    name: str
    buffer: n.Buffer
    index: tuple[Expr, ...]
    along: bool  # runs along the row; else the same for the whole row
    loaded: bool = False  # before it is stored
    stored: bool = False


@dataclass(frozen=True, slots=True)
class Nest:
    """A nest over whole ranges: its axes, their extents, what stands before it and inside."""

    axes: tuple[Var, ...]
    extents: tuple[Expr, ...]
    lets: list[n.Let]
    inner: tuple[n.Stmt, ...]


def kernel(unit: Unit, s: n.Kernel, opening: Sequence[str], full: n.Kernel) -> KernelText | None:
    """The kernel in this form, or None where it does not have it; `opening` are its first lines, where it has any, and
    `full` is the kernel with what these need."""
    found = nest_of(s)
    if found is None:
        return None
    sought = _accesses(unit.program, found)
    if sought is None or not any(a.along for a in sought[0]):
        return None
    accesses, tables = sought
    width = _BYTES // max(itemsize(a.buffer.dtype) for a in accesses if a.along)
    whole = all(a.index == found.axes and a.buffer.dims[1:] == found.extents[1:] for a in accesses)
    if not whole and not _worth_words(found, accesses, width):
        return None
    buffers, scalars, params = parameters(unit.program, full, shared=False)
    if opening:
        params.append("long long *error_records")
    consts = {v.name: v for v in [*scalars, *[Var(x.name, x.value.dtype) for x in found.lets]]}
    values = {e.name for e in exprs(_elements_only(found.inner, tables)) if isinstance(e, Var)}
    values |= {v for t in tables for size in unit.program.buffers[t].dims[1:] for v in variables_read(size)}
    values -= scalars_set(found.inner[0])
    values -= {name for x in found.inner for name in scalars_set(x)}
    given = [v for k, v in consts.items() if k in values] + [v for v in found.axes if v.name in values]
    if whole and any(v in given for v in found.axes) and len(found.axes) > 1:
        return None  # the position in a row is not known where the nest is one loop
    printing = _Printing(unit, ident(s.name), found, accesses, tables, given, width)
    text = printing.element_function()
    body = Body(unit)
    for x in found.lets:
        body.statement(x)
    if whole:
        printing.whole(body)
    else:
        printing.rows(body)
    text += f'extern "C" __global__ void __launch_bounds__({THREADS}) {ident(s.name)}({wrapped(params)}) {{\n'
    text += "\n".join([*opening, *body.lines]) + "\n}\n"
    launch = Launch("elements", (b.product(found.extents),), width)
    return KernelText(ident(s.name), text, buffers, scalars, launch, errors=bool(opening))


def _worth_words(nest: Nest, accesses: list[_Access], width: int) -> bool:
    """Whether the rows are long, and their accesses not shifted against each other."""
    length = b.constant(nest.extents[-1])
    if width == 1 or len(nest.axes) == 1 or (length is not None and length < _SHORT):
        return False
    return all(b.affine(a.index[-1])[1] % width == 0 for a in accesses if a.along)


class _Printing:
    def __init__(
        self, unit: Unit, name: str, nest: Nest, accesses: list[_Access], tables: Sequence[str], given: list[Var],
        width: int,
    ) -> None:  # fmt: skip
        self.unit, self.name, self.nest, self.accesses, self.given, self.width = (
            unit,
            name,
            nest,
            accesses,
            given,
            width,
        )
        self.tables = tables
        self.along = [a for a in accesses if a.along]
        self.element = f"{name}_at"
        while self.element in unit.kernels:  # of an array `u_at` beside `u`
            self.element += "_"

    def element_function(self) -> str:
        """What happens to one element."""
        at = Body(self.unit)
        names = {(a.buffer.name, a.index): a.name for a in self.accesses}

        def value(e: Expr) -> Expr | None:
            if isinstance(e, Load) and e.buffer in self.tables:
                return Load(e.buffer, tuple(b.map_expr(i, value) for i in e.index), e.dtype)
            return Var(names[e.buffer, e.index], e.dtype) if isinstance(e, Load) else None

        for x in self.nest.inner:
            if isinstance(x, n.Store):
                at.source(x)
                stored = map_statement(n.Let("", x.value), value)
                assert isinstance(stored, n.Let)
                at.line(f"{names[x.buffer, x.index]} = {self.unit.c.expr(stored.value)};")
            else:
                at.statement(map_statement(x, value))
        kinds = [f"{TYPES[a.buffer.dtype]} &" if a.stored else f"const {TYPES[a.buffer.dtype]} " for a in self.accesses]
        params = [kind + a.name for kind, a in zip(kinds, self.accesses, strict=True)]
        params += [f"const {TYPES[self.unit.program.buffers[t].dtype]} *{ident(t)}" for t in self.tables]
        params += [f"const {TYPES[v.dtype]} {ident(v.name)}" for v in self.given]
        return f"{PREFIX} void {self.element}({wrapped(params)}) {{\n" + "\n".join(at.lines) + "\n}\n"

    def call(self, body: Body, element: str, at: str) -> str:
        """The call for one element: `element` spells an array's, `at` the position on the last axis."""
        texts = [element.format(a.name) if a.along else f"{a.name}_row" for a in self.accesses]
        texts += [ident(t) for t in self.tables]
        texts += [at if v == self.nest.axes[-1] else ident(v.name) for v in self.given]
        return f"{self.element}({wrapped(texts, 100, 4 * body.depth + 12)});"

    def pack(self, body: Body, pointer: str) -> None:
        """Loads, computes and stores one word of each array; `pointer` spells an array's address."""
        w, i, k = self.width, ident(self.nest.axes[-1].name), self.unit.local("k")
        for a in self.along:
            kind = f"Pack<{TYPES[a.buffer.dtype]}, {w}>"
            start = f" = {kind}::load({self._pointer(a, pointer)})" if a.loaded else ""
            body.line(f"{'' if a.stored else 'const '}{kind} {a.name}_pack{start};")
        body.lines.append("#pragma unroll")
        call = self.call(body, f"{{0}}_pack.at[{k}]", f"{i} + {k}")
        body.line(f"for (int {k} = 0; {k} < {w}; ++{k})")
        body.line(f"    {call}")
        for a in self.along:
            if a.stored:
                body.line(f"{a.name}_pack.store({self._pointer(a, pointer)});")

    def _pointer(self, a: _Access, pointer: str) -> str:
        return pointer.format(ident(a.buffer.name) if pointer.startswith("{0} +") else a.name)

    def numbers(self, body: Body) -> tuple[str, str]:
        """Names for the number of the thread in the grid and how many there are, with their declaration."""
        thread, threads = self.unit.local("thread"), self.unit.local("threads")
        body.line(f"const long long {thread} = {FIRST}, {threads} = {STEP};")
        return thread, threads

    def whole(self, body: Body) -> None:
        """One loop over memory."""
        w = self.width
        count = self.unit.c.operand(b.product(self.nest.extents))
        i = "_".join(ident(v.name) for v in self.nest.axes)
        element = f"{{0}}[{i}]"
        thread, threads = self.numbers(body)
        if w == 1:
            body.lines.append("#pragma unroll 1")
            body.line(f"for (long long {i} = {thread}; {i} < {count}; {i} += {threads})")
            body.line(f"    {self.call(body, element, i)}")
            return
        self.unit.pieces.add("pack")
        many = count if count.isidentifier() else f"({count})"
        packed = self.unit.local("packed")
        aligned = ", ".join(a.name for a in self.along)
        body.line(f"// elements that go {w} at a time")
        body.line(f"const long long {packed} = in_words<{w}>({aligned}) ? {many} & -{w}ll : 0;")
        body.lines.append("#pragma unroll 1")  # one word of each array holds enough in flight
        body.open(f"for (long long {i} = {w} * {thread}; {i} < {packed}; {i} += {w} * {threads})")
        self.pack(body, f"{{0}} + {i}")
        body.close()
        body.lines.append("#pragma unroll 1")
        body.line(f"for (long long {i} = {packed} + {thread}; {i} < {count}; {i} += {threads})")
        body.line(f"    {self.call(body, element, i)}")

    def rows(self, body: Body) -> None:
        """A loop over the words of all rows; the end of a row, and rows that begin amid a word, go one by one."""
        self.unit.pieces.add("pack")
        w, c = self.width, self.unit.c
        *outer, inner = self.nest.axes
        *counts, length = self.nest.extents
        j, k = ident(inner.name), self.unit.local("k")
        row, words = f"{j}_word", f"{j}_words"
        body.line(f"const long long {words} = ({c.operand(length)} + {w - 1}) / {w};  // of {w} elements, in a row")
        total = " * ".join([*(_factor(c.expr(e)) for e in counts), words])
        thread, threads = self.numbers(body)
        body.lines.append("#pragma unroll 1")
        body.open(f"for (long long {row} = {thread}; {row} < {total}; {row} += {threads})")
        texts, places = places_of(self.unit, [*counts, b.size(words)], row)
        texts += [f"const long long {ident(v.name)} = {c.expr(at)};" for v, at in zip(outer, places, strict=False)]
        for text in [*texts, f"const long long {j} = {c.factor(places[-1])} * {w};"]:
            body.line(text)
        for a in self.accesses:
            const = "" if a.stored else "const "
            offset = c.expr(c.offset(a.buffer.name, a.index))
            if a.along:
                body.line(f"{const}{TYPES[a.buffer.dtype]} *{a.name}_here = {ident(a.buffer.name)} + ({offset});")
            else:
                body.line(f"const {TYPES[a.buffer.dtype]} {a.name}_row = {c.element(a.buffer.name, a.index)};")
        aligned = ", ".join(f"{a.name}_here" for a in self.along)
        body.open(f"if ({j} + {w} <= {c.operand(length)} && in_words<{w}>({aligned}))")
        self.pack(body, "{0}_here")
        body.close("} else {")
        body.depth += 1
        body.line(f"for (int {k} = 0; {k} < {w} && {j} + {k} < {c.operand(length)}; ++{k})")
        call = self.call(body, f"{{0}}_here[{k}]", f"{j} + {k}")
        body.line(f"    {call}")
        body.close()
        body.close()


def nest_of(s: n.Kernel) -> Nest | None:
    loop = s.body[-1]
    lets = [x for x in s.body[:-1] if isinstance(x, n.Let)]
    if not isinstance(loop, n.Loop) or loop.kind != "parallel" or len(lets) + 1 != len(s.body):
        return None
    axes, inner = nest(loop)
    if any(a.start != b.ZERO or a.step != b.ONE for a in axes):
        return None
    if not all(isinstance(x, (n.Let, n.Store)) for x in inner):
        return None
    return Nest(tuple(Var(a.axis, "index") for a in axes), tuple(a.stop for a in axes), lets, inner)


def _accesses(program: n.Program, nest: Nest) -> tuple[list[_Access], list[str]] | None:
    """The places that the nest touches, and the tables in which each element looks up another; None where one does not
    run along a row."""
    found: dict[tuple[str, tuple[Expr, ...]], _Access] = {}
    tables: list[str] = []
    choosing: set[str] = set()  # what tells which rows
    inside = {name for x in nest.inner for name in scalars_set(x)}
    taken = set(program.buffers) | {v.name for v in nest.axes} | inside
    last = nest.axes[-1]
    counting = {last.name}  # and what is computed of it
    for s in nest.inner:
        counting |= scalars_set(s) if isinstance(s, n.Let) and _beside(s.value, counting) else set()

    def varies(index: tuple[Expr, ...]) -> bool:
        """Whether data give each element another place."""
        loaded = (e for i in index for e in _parts(i) if isinstance(e, Load))
        return any(variables_read(i) & inside for i in index) or any(last.name in variables_read(e) for e in loaded)

    def place(buffer: str, index: tuple[Expr, ...]) -> _Access | None:
        if (buffer, index) in found:
            return found[buffer, index]
        info = program.buffers[buffer]
        if (
            info.layout != "C"
            or len(index) != len(info.dims)
            or varies(index)
            or any(isinstance(e, Load) for e in _parts(index[-1]))
        ):
            return None
        choosing.update(e.buffer for i in index for e in _parts(i) if isinstance(e, Load))
        within = [last.name in variables_read(e) for e in index]
        if any(within):
            terms, _ = b.affine(index[-1])
            rest = [t for t in terms if t != last]
            if any(within[:-1]) or terms.get(last) != 1 or any(last.name in variables_read(t) for t in rest):
                return None
        name, count = ident(buffer), 1
        while any(a.name == name for a in found.values()) or (count > 1 and name in taken):
            count += 1
            name = f"{ident(buffer)}_{count}"
        found[buffer, index] = _Access(name, info, index, any(within))
        return found[buffer, index]

    def look_up(load: Load, sure: bool) -> Iterator[tuple[Load, bool]]:
        """What a load looks up is loaded along the row."""
        if not varies(load.index):
            yield load, sure
        elif program.buffers[load.buffer].layout == "C" and not any(_beside(i, counting) for i in load.index):
            tables.append(load.buffer)
            for i in load.index:
                for part, known in loads_of(n.Let("", i)):
                    yield from look_up(part, sure and known)
        else:
            yield load, sure  # neither, as `place` says

    for s in nest.inner:
        for load, sure in (x for given in loads_of(s) for x in look_up(*given)):
            access = place(load.buffer, load.index)
            if access is None or not (sure or is_inside(access.buffer, access.index, nest)):
                return None
            access.loaded |= not access.stored
        if isinstance(s, n.Store):
            if any(isinstance(e, Load) for i in s.index for e in _parts(i)):
                return None
            access = place(s.buffer, s.index)
            if access is None or not access.along:
                return None
            access.stored = True
    stored = {a.buffer.name for a in found.values() if a.stored}
    if any(sum(a.buffer.name == name for a in found.values()) > 1 for name in stored):
        return None
    if stored & choosing or any(a.along and a.buffer.name in tables for a in found.values()):
        return None
    return [a for a in found.values() if a.buffer.name not in tables], list(dict.fromkeys(tables))


def _beside(e: Expr, counting: Set[str]) -> bool:
    """Whether an expression asks for the position on an axis, but to load what tells a place."""
    return bool(variables_read(b.map_expr(e, lambda x: b.ZERO if isinstance(x, Load) else None)) & counting)


def is_inside(buffer: n.Buffer, index: Sequence[Expr], nest: Nest) -> bool:
    """Whether the place is in the array whatever the iteration, so that it may be read where it is not needed."""
    extents = dict(zip(nest.axes, nest.extents, strict=True))
    return all(
        extents.get(e) == d for e, d in zip(index, buffer.dims, strict=True) if isinstance(e, Var)
    ) and all(isinstance(e, Var) and e in extents for e in index)


def loads_of(s: n.Stmt) -> Iterator[tuple[Load, bool]]:
    """The loads of a statement, and whether they are made in every case."""

    def look(e: Expr, sure: bool) -> Iterator[tuple[Load, bool]]:
        match e:
            case Load():
                yield e, sure
            case Apply("where", (condition, *sides), _):
                yield from look(condition, sure)
                for x in sides:
                    yield from look(x, False)
            case Apply("and_then" | "or_else", (one, two), _):
                yield from look(one, sure)
                yield from look(two, False)
            case Apply(_, args, _):
                for x in args:
                    yield from look(x, sure)
            case _:
                pass

    values = [s.value] if isinstance(s, (n.Let, n.Store)) else list(own_exprs(s))
    for value in values:
        yield from look(value, True)


def _parts(e: Expr) -> Iterator[Expr]:
    return exprs((n.Let("", e),))


def _elements_only(inner: tuple[n.Stmt, ...], tables: Sequence[str]) -> tuple[n.Stmt, ...]:
    """The statements without subscripts, but for those of tables: what is left is what the element's function computes
    with."""

    def bare(e: Expr) -> Expr | None:
        if isinstance(e, Load) and e.buffer in tables:
            return Load(e.buffer, tuple(b.map_expr(i, bare) for i in e.index), e.dtype)
        return Load(e.buffer, (), e.dtype) if isinstance(e, Load) else None

    return tuple(map_statement(n.Let("", x.value), bare) for x in inner if isinstance(x, (n.Let, n.Store)))


def _factor(text: str) -> str:
    return text if text.isidentifier() or text.isdigit() else f"({text})"
