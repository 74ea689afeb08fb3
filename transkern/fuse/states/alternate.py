"""An array whose next values are computed aside and copied back has two rows instead, which take turns:

    for k in 0 .. n:                              for k in 0 .. n:
        … f[j] …                                      … f[k % 2, j] …
        parallel i in 0 .. k:                         parallel i in 0 .. k:
            g[i] = a * f[i] + f[k - i]     to             let next = a * f[k % 2, i] + f[k % 2, k - i]
        parallel i in 0 .. k:                             f[(k + 1) % 2, i] = next
            f[i] = g[i]                                   x[i] = x[i] + f[k % 2, i] * …
            x[i] = x[i] + g[k - i]

Nothing is copied any more; and where what is computed aside costs little, it is computed again wherever it is read, so
that the two loops become one and `g` needs no memory. Legal where a step writes all that the step before has written:
then an element that a step leaves alone has never changed, and both rows have it. Sizes decide when the program runs,
since making the rows costs as much as a few steps.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from transkern.analysis.accesses import Level
from transkern.analysis.verdicts import Walk, own_variables
from transkern.fuse.lowering.copies import with_own_names
from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Apply, Expr, Load, Var
from transkern.ir.names import Names
from transkern.ir.ops import OPS
from transkern.ir.traverse import (
    buffers_read,
    buffers_used,
    buffers_written,
    exprs,
    map_block,
    places_named,
    scalars_set,
    variables_read,
    walk,
    walk_expr,
)
from transkern.records import replace

_AGAIN = 2
"""How often a value may be computed again, where it is cheap."""

_CHEAP = 6
"""The cost of operations from which on a value is kept instead."""

_GAIN = 8
"""How many elements must be stored in all for each of the array's, for its two rows to pay."""

_TWO = b.index(2)


def alternate_rows(program: n.Program) -> n.Program:
    """The program with arrays of two rows for those that a loop computes aside and copies back."""
    if not any(isinstance(s, n.Loop) and s.kind == "sequential" for s in walk(program.body)):
        return program
    state = _Alternating(program)
    body = state.block(program.body)
    return replace(program, body=body, variables=state.variables, buffers=state.buffers)


@dataclass(frozen=True, slots=True)
class _Aside:
    """A step computes the elements of `aside` (in the loop at `place` of its body) and copies them to `array` in the
    loop after it, which does `others` as well."""

    place: int
    array: str
    aside: str
    first: n.Loop
    second: n.Loop
    copy: n.Store
    value: Expr

    @property
    def others(self) -> tuple[n.Stmt, ...]:
        """What the second loop does besides copying."""
        return tuple(x for x in self.second.body if x is not self.copy)


class _Alternating(Walk):
    loops_only = True

    def __init__(self, program: n.Program) -> None:
        super().__init__(program)
        self.names, self.variables, self.buffers = Names.of(program), dict(program.variables), dict(program.buffers)
        self.all_reads = _loads(program.body)

    def statement(self, s: n.Stmt) -> list[n.Stmt]:
        if isinstance(s, n.Loop) and s.kind == "sequential" and s.step == b.ONE and _is_plain(s.body):
            for place, (first, second) in enumerate(zip(s.body, s.body[1:], strict=False)):
                step = self.aside(place, first, second)
                if step is not None and self.legal(s, step):
                    return self.alternated(s, step)
        return [self.inside(s)]

    # --- which arrays

    def aside(self, place: int, first: n.Stmt, second: n.Stmt) -> _Aside | None:
        """The two loops as parts of a step, as far as their text says."""
        if not (isinstance(first, n.Loop) and isinstance(second, n.Loop)):
            return None
        if (first.kind, second.kind) != ("parallel", "parallel") or first.step != b.ONE or second.step != b.ONE:
            return None
        if (first.start, first.stop) != (second.start, second.stop):
            return None
        (*lets, made), stored = first.body, [x for x in second.body if isinstance(x, n.Store)]
        if not isinstance(made, n.Store) or not all(isinstance(x, n.Let) for x in lets):
            return None
        if len(stored) + sum(isinstance(x, n.Let) for x in second.body) < len(second.body):
            return None
        aside = made.buffer
        copies = [x for x in stored if x.value == Load(aside, (Var(second.axis),), self.buffers[aside].dtype)]
        if made.index != (Var(first.axis),) or len(copies) != 1 or copies[0].index != (Var(second.axis),):
            return None
        array = copies[0].buffer
        known: dict[str, Expr] = {}
        for let in lets:
            assert isinstance(let, n.Let)
            known[let.name] = b.substitute(let.value, known)
        return _Aside(place, array, aside, first, second, copies[0], b.substitute(made.value, known))

    def legal(self, s: n.Loop, step: _Aside) -> bool:
        array, aside = self.buffers[step.array], self.buffers[step.aside]
        if array.is_reserved or aside.role != "temporary" or array.dtype != aside.dtype or array.name == aside.name:
            return False
        if self.all_reads[step.aside] != _loads((step.second,)).get(step.aside):
            return False  # something else reads what is computed aside
        others = set().union(*map(buffers_written, step.others))
        if {step.array, step.aside} & others or step.array in _loads((step.second,)):
            return False
        if (buffers_read(step.value) | _loads((step.first,)).keys()) & {step.aside, *others}:
            return False
        if any(isinstance(x, n.Library) and step.array in x.ins for x in walk(s.body)):
            return False
        before, after = s.body[: step.place], s.body[step.place + 2 :]
        if any({step.array, step.aside} & buffers_written(x) for x in before):
            return False
        stored = [x for x in after if {step.array, step.aside} & buffers_written(x)]
        if not all(isinstance(x, n.Store) and x.buffer == step.array for x in stored):
            return False
        ends = [step.first.start, step.first.stop]
        changed = scalars_set(s)
        if any(variables_read(e) & changed or buffers_read(e) for e in ends):
            return False
        places = [x.index[0] for x in stored if isinstance(x, n.Store)]
        return all(not variables_read(e) & changed for e in places) and self.covers(s, step, places)

    def covers(self, s: n.Loop, step: _Aside, places: list[Expr]) -> bool:
        """Whether a step writes all that the one before it has written, its loop and at `places`; and reads aside only
        what it has computed."""
        with self.scope():
            self.forget(s.body)
            self.levels.append(Level(s.axis, s.start, s.stop, 1))
            start, stop = step.first.start, step.first.stop
            later = {s.axis: b.add(Var(s.axis), b.ONE)}
            starts, stops = b.substitute(start, later), b.substitute(stop, later)
            wanted = [b.compare("less_equal", starts, start), b.compare("less_equal", stop, stops)]
            for place in places:
                wanted += [b.compare("less_equal", starts, place), b.compare("less", place, stops)]
            holds = all(w == b.TRUE or self.holds(w) for w in wanted)
            if holds:
                self.levels.append(Level(step.second.axis, start, stop, 1))
                for e in exprs(step.others):
                    if isinstance(e, Load) and e.buffer == step.aside:
                        at = b.substitute(e.index[0], places_named(step.second.body))
                        inside = b.compare("less_equal", start, at), b.compare("less", at, stop)
                        holds = holds and all(w == b.TRUE or self.holds(w) for w in inside)
                self.levels.pop()
            self.levels.pop()
        return holds

    # --- what is made of them

    def alternated(self, s: n.Loop, step: _Aside) -> list[n.Stmt]:
        info = self.buffers[step.array]
        rows = self.names.fresh(f"{step.array.partition('.')[0]}_rows")
        self.buffers[rows] = n.Buffer(rows, info.dtype, (_TWO, *info.dims), line=s.span.line)
        old, new = b.mod(Var(s.axis), _TWO), b.mod(b.add(Var(s.axis), b.ONE), _TWO)
        body = (
            *_moved(s.body[: step.place], step.array, rows, old),
            *self.computed(step, rows, old, new),
            *_moved(s.body[step.place + 2 :], step.array, rows, new),
        )
        (size,) = info.dims
        i = Var(self.names.fresh("i"))
        whole = Load(step.array, (i,), info.dtype)
        filled = tuple(n.Store(rows, (b.index(k), i), whole, span=s.span) for k in range(2))
        made: list[n.Stmt] = [
            n.Alloc(rows, span=s.span),
            n.Loop(i.name, b.ZERO, size, b.ONE, "parallel", filled, span=s.span),
            replace(s, body=body),
        ]
        if info.role != "temporary" or self.levels or self.all_reads[step.array] != _loads((s,))[step.array]:
            i = Var(self.names.fresh("i"))
            last = n.Store(step.array, (i,), Load(rows, (b.mod(s.stop, _TWO), i), info.dtype), span=s.span)
            ran = b.compare("less", s.start, s.stop)
            back = n.Loop(i.name, b.ZERO, size, b.ONE, "parallel", (last,), span=s.span)
            made.append(n.If(ran, (back,), (), span=s.span))
        steps = b.sub(s.stop, s.start)
        ends = {s.axis: b.sub(s.stop, b.ONE)}
        longest = b.sub(b.substitute(step.first.stop, ends), b.substitute(step.first.start, ends))
        enough = b.compare("greater_equal", b.mul(b.maximum(steps, b.ZERO), longest), b.mul(b.index(_GAIN), size))
        private = own_variables(s, self.variables, self.reads)
        plain = with_own_names(s, self.names, self.variables, self.buffers, private)
        return [n.If(enough, tuple(made), (plain,), span=s.span)]

    def computed(self, step: _Aside, rows: str, old: Expr, new: Expr) -> list[n.Stmt]:
        """The two loops, which read from a row and store into the other one."""
        axis = Var(step.second.axis)
        dtype = self.buffers[step.array].dtype
        (value,) = _moved((n.Let("", step.value, span=step.first.span),), step.array, rows, old)
        assert isinstance(value, n.Let)

        names = places_named(step.second.body)

        def at(place: Expr) -> Expr:
            return b.substitute(value.value, {step.first.axis: b.substitute(place, names)})

        reads = [e for e in exprs(step.others) if isinstance(e, Load) and e.buffer == step.aside]
        again = [e for e in reads if e.index != (axis,)]
        if again and (len(again) > _AGAIN or _cost(value.value) > _CHEAP):
            stored = n.Store(rows, (new, Var(step.first.axis)), value.value, span=step.first.span)
            first = replace(step.first, body=(stored,))
            if not any(isinstance(x, n.Store) for x in step.others):
                return [first]
            others = map_block(step.others, _instead(step.aside, lambda place: Load(rows, (new, place), dtype)))
            return [first, replace(step.second, body=others)]
        following = Var(self.names.fresh("following"), dtype)
        others = map_block(
            step.others, _instead(step.aside, lambda place: following if place == axis else at(place))
        )
        body = (
            n.Let(following.name, at(axis), span=step.first.span),
            n.Store(rows, (new, axis), following, span=step.copy.span),
            *others,
        )
        used = set().union(*map(variables_read, exprs(body)))
        return [replace(step.second, body=tuple(x for x in body if not isinstance(x, n.Let) or x.name in used))]


def _is_plain(block: Iterable[n.Stmt]) -> bool:
    """Whether the statements only compute: nothing leaves, and arrays are read and written element by element."""
    return all(isinstance(x, (n.Let, n.Assign, n.Store, n.Loop, n.If)) for x in walk(block))


def _loads(block: Iterable[n.Stmt]) -> dict[str, int]:
    """How often statements read each array: its elements, or as a whole."""
    counts: dict[str, int] = {}
    for e in exprs(block):
        if isinstance(e, Load):
            counts[e.buffer] = counts.get(e.buffer, 0) + 1
    for s in walk(block):
        if not isinstance(s, (n.Let, n.Assign, n.Store, n.Loop, n.If, n.While, n.Alloc)):
            for name in buffers_used(s):
                counts[name] = counts.get(name, 0) + 1
    return counts


def _cost(value: Expr) -> int:
    operations = [e for e in walk_expr(value) if isinstance(e, Apply) and e.dtype != "index"]
    return sum(OPS[e.op].cost for e in operations)


def _instead(buffer: str, value: Callable[[Expr], Expr]) -> Callable[[Expr], Expr | None]:
    """A change of expressions: `value` of the place for each load of an array of one dimension."""
    return lambda e: value(e.index[0]) if isinstance(e, Load) and e.buffer == buffer else None


def _moved(block: tuple[n.Stmt, ...], array: str, rows: str, row: Expr) -> tuple[n.Stmt, ...]:
    """The statements with a row of `rows` instead of `array`."""

    def change(e: Expr) -> Expr | None:
        if isinstance(e, Load) and e.buffer == array:
            return Load(rows, (row, *(b.map_expr(i, change) for i in e.index)), e.dtype)
        return None

    def stores(s: n.Stmt) -> n.Stmt:
        return replace(s, buffer=rows, index=(row, *s.index)) if isinstance(s, n.Store) and s.buffer == array else s

    return tuple(map(stores, map_block(block, change)))
