"""A loop in order over rows is taken apart into what each row has for itself and what is added up over the rows:

    for i in 0 .. n:                          for i_block in 0 .. n by 16:
        dot := 0                                  for i in i_block .. i_block + 16:
        for j in 0 .. m:                              dot := 0
            dot := dot + a[i, j] * x[j]               for j in 0 .. m: dot := dot + a[i, j] * x[j]
        for j in 0 .. m:               to             dots[i - i_block] = dot
            y[j] = y[j] + a[i, j] * dot           for i in i_block .. i_block + 16:
                                                      for j in 0 .. m: y[j] = y[j] + a[i, j] * dots[i - i_block]

The first of the new loops is parallel: its sums in order go side by side, where one alone waits for each addition. The
second is parallel over the columns, each of which stays in a register for all the rows. The rows are still in the cache
when they are needed again. A scalar that the one hands to the other becomes an array of a few elements (scalar
expansion); a loop over columns that does both is split in two.

Done only where it gains that: the loop is in order as it stands, one part of it is parallel over the rows and has a
loop in order inside, and all of the other part are loops that are parallel over the columns. Neither part may write
what the other one touches.

For devices a loop along a row whose stores need what its elements hand to each other is taken apart, too: an array of
all rows keeps that (`expanded.py`; tables of sums over rectangles).

On the CPU the other part may also be what the iterations hand on in variables (`total`), if that takes terms that cost
more: those are computed side by side, in vectors or in lanes, and added up in their order behind that:

    for i in 0 .. n:                          for i_block in 0 .. n by 1024:
        x := 0                                    parallel i in i_block .. i_block + 1024:
        for t in 0 .. m: x := f(x, a[t, i])           x := 0
        total := total + exp(x)        to             for t in 0 .. m: x := f(x, a[t, i])
                                                      terms[i - i_block] = exp(x)
                                                  for i in i_block .. i_block + 1024:
                                                      total := total + terms[i - i_block]
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from transkern.analysis.accesses import Level
from transkern.analysis.scalars import exposed
from transkern.analysis.verdicts import MakingWalk, judge, reads_of
from transkern.fuse.checks.late import are_unseen
from transkern.fuse.loops.expanded import expanded
from transkern.fuse.loops.forward import with_stored_values, with_values_stored
from transkern.fuse.lowering.copies import with_own_names
from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Apply, Const, Expr, Load, Var
from transkern.ir.ops import OPS
from transkern.ir.traverse import (
    buffers_read,
    buffers_used,
    buffers_written,
    map_block,
    map_statement,
    own_exprs,
    scalars_set,
    scalars_used,
    variables_read,
    walk,
    walk_expr,
)  # fmt: skip
from transkern.records import replace

_ROWS = 16
"""Rows at a time: twice as many as sums go side by side, and few enough for the rows to stay in the cache."""
_DEVICE_ROWS = 16384
"""Rows at a time where each has a thread: a device is full, and what they hand on is little memory still."""
_EXPANDED = 4096
"""Rows at a time of which arrays keep all elements."""
_TERMS = 1024
"""Iterations whose terms are computed before they are added up: they stay in the first cache."""
_SHORT = 32
"""A loop that is known to have fewer iterations has no vectors to fill."""
_DEAR = 4
"""What an operation costs that several lanes had better do together: a division, a square root."""


def distribute_rows(program: n.Program) -> n.Program:
    """The program with loops over rows taken apart into sums along the rows and sums over the rows."""
    return _distributed(program, _ROWS, sums=True)


def distribute_rows_for_devices(program: n.Program) -> n.Program:
    """`distribute_rows` where each row has a thread, and each column."""
    return _distributed(program, _DEVICE_ROWS, sums=False)


def _distributed(program: n.Program, together: int, sums: bool) -> n.Program:
    if not any(isinstance(s, n.Loop) and s.kind == "sequential" for s in walk(program.body)):
        return program
    state = _Distributing(program, together, sums)
    body = state.block(program.body)
    return replace(program, body=body, variables=state.variables, buffers=state.buffers)


class _Distributing(MakingWalk):
    loops_only = True

    def __init__(self, program: n.Program, together: int, sums: bool) -> None:
        self.together = together
        self.sums = sums  # whether what iterations hand on in variables is taken apart, too
        self.kept: list[str] = []  # arrays of what the rows of the present loop hand along
        self.rows = Var("")  # the first of the rows that go together
        super().__init__(program)

    def statement(self, s: n.Stmt) -> list[n.Stmt]:
        if isinstance(s, n.Loop) and s.kind == "sequential" and b.constant(s.step) == 1:
            known = dict(self.buffers)
            parts = self.parts(s)
            if parts is not None:
                return [self.apart(s, *parts, _EXPANDED if self.kept else self.together)]
            if self.kept:
                self.buffers.clear()  # which the walk asks, too
                self.buffers.update(known)
            terms = self.terms(s) if self.sums else None
            if terms is not None:
                return [self.apart(*terms, _TERMS)]
        before = self.sums
        self.sums = before and not self.is_lanes(s)
        made = self.inside(s)
        self.sums = before
        return [made]

    def is_lanes(self, s: n.Stmt) -> bool:
        """Whether a loop's iterations may go side by side, so that loops in order inside have lanes already."""
        if not isinstance(s, n.Loop):
            return False
        if s.kind == "parallel":
            return True
        inner = (x for x in walk(s.body) if isinstance(x, n.Loop) and x.kind == "sequential")
        if not any(_handed_on(x) is not None for x in inner):
            return False
        verdict = self.judged(s)
        return verdict.parallel and (not verdict.raises or are_unseen(s.body, self.buffers))

    # --- whether, and what goes where

    def parts(self, s: n.Loop) -> tuple[list[n.Stmt], list[n.Loop]] | None:
        """What each row has for itself, and the loops over columns that add up over the rows."""
        if not all(isinstance(x, (n.Let, n.Assign, n.Store, n.Loop, n.Guard)) for x in walk(s.body)):
            return None
        if not any(isinstance(x, n.Loop) for x in s.body):
            return None
        rows: list[n.Stmt] = []
        columns: list[n.Loop] = []
        self.kept = []
        for x in s.body:
            if not isinstance(x, n.Loop) or not _plain(x):
                rows.append(x)
                continue
            stores, sums = _split(x)
            if stores is None and not self.sums and (along := self.along(s, x)) is not None:
                stores, sums = along
            if stores is not None and self.over_columns(stores, s):
                columns.append(stores if sums is None else self.named(stores))
            elif stores is not None:
                sums = x
            if sums is not None:
                rows.append(sums)
        if not columns or not any(isinstance(x, n.Loop) and x.kind == "sequential" for x in rows):
            return None
        checked = any(isinstance(x, n.Guard) for x in walk(rows))
        if checked and not (are_unseen(rows, self.buffers) and self.forgotten(columns)):
            return None
        if not _independent(rows, columns, {*self.kept}) or not self.row_by_row(s, rows, checked):
            return None
        return rows, columns

    def forgotten(self, statements: Iterable[n.Stmt]) -> bool:
        """Whether what statements store is gone where the function raises an error."""
        return all(self.buffers[name].role != "argument" for x in statements for name in buffers_written(x))

    def along(self, s: n.Loop, loop: n.Loop) -> tuple[n.Loop, n.Loop] | None:
        """A loop over columns whose stores need its variables: the stores, and the rest with arrays for these."""
        width = b.maximum(b.sub(loop.stop, loop.start), b.ZERO)
        height = b.minimum(b.maximum(b.sub(s.stop, s.start), b.ZERO), b.index(_EXPANDED))
        changing = {*self.variables, *self.lets, *(name for x in s.body for name in scalars_set(x)), s.axis}
        if self.levels or any(variables_read(e) & changing or buffers_read(e) for e in (height, width)):
            return None
        if self.judged(s).independent:
            return None  # each row has a thread as it is
        made: list[str] = []
        if not self.kept:
            self.rows = Var(self.names.fresh(f"{s.axis}_block"))

        def make(name: str, dtype: str) -> str:
            made.append(self.names.fresh(f"{name}_rows"))
            self.buffers[made[-1]] = n.Buffer(made[-1], dtype, (height, width), line=s.span.line)
            return made[-1]

        found = expanded(loop, b.sub(Var(s.axis), self.rows), make)
        if found is None or not self.over_columns(found.stores, s):
            for name in made:
                del self.buffers[name]
            return None
        self.kept += made
        return found.stores, found.sums

    def terms(self, s: n.Loop) -> tuple[n.Loop, list[n.Stmt], list[n.Loop]] | None:
        """A loop as it is taken apart: what iterations have for themselves, and a loop that takes it in order into what
        they hand on. An iteration may raise an error where nobody sees what those behind it have stored."""
        extent = b.constant(b.sub(s.stop, s.start))
        s = replace(s, body=with_stored_values(with_values_stored(s.body, self.reads), self.names))
        parts = _handed_on(s) if extent is None or extent >= _SHORT else None
        if parts is None:
            return None
        rows, handed = parts
        together = rows
        if any(isinstance(x, n.Guard) for x in walk(rows)):
            rows, handed = _stored_behind(rows, handed)
        own = {name for x in handed for name in _set(x)}
        updated = {name for x in handed for name in buffers_written(x)}
        written = {name for x in rows for name in buffers_written(x)}
        if any(buffers_read(e) & written for x in walk(handed) for e in own_exprs(x)):
            return None
        named: dict[Expr, Var] = {}
        first: dict[Expr, Var] = {}  # one name for what rows compute twice
        alike: dict[str, Var] = {}
        for x in rows:
            changed = {y.name for y in walk((x,)) if isinstance(y, n.Assign)}
            first = {e: v for e, v in first.items() if not variables_read(e) & changed}
            if isinstance(x, n.Let) and not buffers_read(x.value) & written:
                alike[x.name] = first.setdefault(x.value, Var(x.name, x.value.dtype))

        def term(e: Expr) -> Expr | None:
            """A part of a value that the iterations before have no part in, as a name of the iteration's own."""
            if isinstance(e, Var):
                return alike.get(e.name, e)
            if isinstance(e, Const):
                return e
            if not variables_read(e) & own and not buffers_read(e) & updated:
                if e.dtype == "index" and not _dear_value(e):
                    return e
                return named.setdefault(e, Var(self.names.fresh("term"), e.dtype))
            if isinstance(e, Apply) and e.op in ("where", "and_then", "or_else"):  # of the others, one is computed
                return Apply(e.op, (b.map_expr(e.args[0], term), *e.args[1:]), e.dtype)
            return None

        handed = [  # what stands under a condition is computed there
            replace(x, condition=b.map_expr(x.condition, term)) if isinstance(x, n.If) else map_statement(x, term)
            for x in handed
        ]
        lets = [n.Let(v.name, e, span=s.span) for e, v in named.items()]
        rows, together = [*rows, *lets], [*together, *lets]
        checked = any(isinstance(x, n.Guard) for x in walk(rows))
        if checked and not (are_unseen(rows, self.buffers) and self.forgotten(handed)):
            return None
        if checked and any(isinstance(x, n.Guard) for x in walk(handed)):
            return None  # the first that fails may be of either
        if not _is_dear(rows) or not self.row_by_row(s, together, checked):
            return None
        return s, rows, [replace(s, body=tuple(handed))]

    def named(self, loop: n.Loop) -> n.Loop:
        return with_own_names(loop, self.names, self.variables, self.buffers)

    def over_columns(self, loop: n.Loop, around: n.Loop) -> bool:
        """Whether a loop is parallel over columns that are the same for every row."""
        changing = {around.axis} | {name for x in around.body for name in scalars_set(x)}
        written = {name for x in around.body for name in buffers_written(x)}
        for e in (loop.start, loop.stop):
            if variables_read(e) & changing or buffers_read(e) & written:
                return False
        here = self.surroundings()
        level = Level(around.axis, around.start, around.stop)
        lets = {x.name: x.value for x in around.body if isinstance(x, n.Let)}
        inside = replace(here, levels=(*here.levels, level), lets={**here.lets, **lets})
        return judge(self.program, loop, inside, frozenset()).parallel

    def row_by_row(self, s: n.Loop, rows: Sequence[n.Stmt], checked: bool = False) -> bool:
        """Whether the loop with only these statements is parallel, and no later statement needs their variables;
        `checked`: it may raise errors."""
        outside = self.reads - reads_of(s.body)
        verdict = judge(self.program, replace(s, body=tuple(rows)), self.surroundings(), frozenset(outside))
        return verdict.parallel and (checked or not verdict.raises)

    # --- what is made of it

    def apart(self, s: n.Loop, rows: Sequence[n.Stmt], columns: Sequence[n.Loop], together: int) -> n.Loop:
        """Both parts for so many rows `together`; a part over the rows themselves is their loop with another body."""
        kept_rows, self.kept = self.kept, []
        block, size = self.rows if kept_rows else Var(self.names.fresh(f"{s.axis}_block")), b.index(together)
        stop = b.minimum(b.add(block, size), s.stop)
        changing = {x.name for x in walk(rows) if isinstance(x, n.Assign)}
        written = {name for x in rows for name in buffers_written(x)}
        again: dict[str, Expr] = {}  # names of what is computed again rather than kept: subscripts above all
        for x in rows:
            if isinstance(x, n.Let) and not _is_dear([x]) and not (
                variables_read(x.value) & changing or buffers_read(x.value) & written
            ):  # fmt: skip
                again[x.name] = x.value
            elif isinstance(x, n.Let):
                changing.add(x.name)
        given = changing & {name for x in columns for name in scalars_used(x)}
        allocs: list[n.Stmt] = [n.Alloc(buffer, span=s.span) for buffer in kept_rows]
        keeps: list[n.Stmt] = []
        kept: dict[str, Load] = {}
        for name in sorted(given):
            value = next(x.value for x in walk(rows) if isinstance(x, (n.Let, n.Assign)) and x.name == name)
            buffer, at = self.names.fresh(f"{name}_rows"), b.sub(Var(s.axis), block)
            self.buffers[buffer] = n.Buffer(buffer, value.dtype, (size,), line=s.span.line)
            allocs.append(n.Alloc(buffer, span=s.span))
            keeps.append(n.Store(buffer, (at,), Var(name, value.dtype), span=s.span))
            kept[name] = Load(buffer, (at,), value.dtype)

        def read(e: Expr) -> Expr | None:
            if not isinstance(e, Var):
                return None
            return b.map_expr(again[e.name], read) if e.name in again else kept.get(e.name)

        along = replace(s, start=block, stop=stop, body=(*rows, *keeps))
        over = [
            self.named(replace(along, body=map_block(x.body if x.axis == s.axis else (x,), read))) for x in columns
        ]
        return replace(s, axis=block.name, step=size, body=(*allocs, along, *over))


def _handed_on(s: n.Loop) -> tuple[list[n.Stmt], list[n.Stmt]] | None:
    """What a loop's iterations have for themselves, and what takes and changes what they hand on: variables, and
    elements that data choose."""
    if not all(isinstance(x, (n.Let, n.Assign, n.Store, n.Loop, n.If, n.Guard)) for x in walk(s.body)):
        return None
    assigned = {x.name for x in walk(s.body) if isinstance(x, n.Assign)}
    carried = {name for name in assigned if exposed(s.body, name)}
    updated = {x.buffer for x in walk(s.body) if isinstance(x, n.Store) and x.buffer in buffers_read(x.value)}
    rows: list[n.Stmt] = []
    handed: list[n.Stmt] = []
    for x in s.body:
        if not carried & (scalars_used(x) | _set(x)) and not updated & (buffers_used(x) | buffers_written(x)):
            rows.append(x)
        elif all(isinstance(y, (n.Let, n.Assign, n.Store, n.If, n.Guard)) for y in walk((x,))):
            handed.append(x)
            carried |= _set(x)
        else:
            return None
    if not carried | updated or any(carried & (scalars_used(x) | _set(x)) for x in rows):
        return None
    if any(updated & (buffers_used(x) | buffers_written(x)) for x in rows):
        return None
    return rows, handed


def _stored_behind(rows: list[n.Stmt], handed: list[n.Stmt]) -> tuple[list[n.Stmt], list[n.Stmt]]:
    """What iterations have for themselves, but for what takes the place of what they read: that is stored when none of
    them has raised an error, so that it is there still if they run again."""
    read = {name for x in walk(rows) for e in own_exprs(x) for name in buffers_read(e)}
    stores: list[n.Stmt] = []
    left: list[n.Stmt] = []
    for x in rows:
        if isinstance(x, n.Store) and x.buffer in read and isinstance(x.value, (Var, Const)):
            stores.append(x)
        else:
            left.append(x)
            read_here = {name for y in walk((x,)) for e in own_exprs(y) for name in buffers_read(e)}
            if any(isinstance(y, n.Store) and y.buffer in read_here | buffers_written(x) for y in stores):
                return rows, handed
    return left, [*stores, *handed]


def _is_dear(block: Iterable[n.Stmt]) -> bool:
    """Whether statements have a loop in order, or an operation that vectors had better do."""
    return any(
        (isinstance(x, n.Loop) and x.kind == "sequential") or any(_dear_value(own) for own in own_exprs(x))
        for x in walk(block)
    )


def _dear_value(value: Expr) -> bool:
    """Whether a value takes an operation that vectors had better do."""
    return any(
        isinstance(e, Apply) and e.op in OPS and OPS[e.op].cost >= _DEAR and e.dtype.startswith("float")
        for e in walk_expr(value)
    )


def _plain(loop: n.Loop) -> bool:
    return b.constant(loop.step) == 1 and all(isinstance(x, (n.Let, n.Assign, n.Store)) for x in loop.body)


def _split(loop: n.Loop) -> tuple[n.Loop | None, n.Loop | None]:
    """A loop over columns as the stores that it makes and the variables that it sets, each with the names it needs; the
    loop itself as the second where neither can do without the other."""
    stores = [x for x in loop.body if isinstance(x, n.Store)]
    sets = [x for x in loop.body if isinstance(x, n.Assign)]
    if not stores or not sets:
        return (loop, None) if stores else (None, loop)
    one, two = _needed(loop.body, stores), _needed(loop.body, sets)
    assigned, written = {x.name for x in sets}, {x.buffer for x in stores}
    if any(name in assigned for x in one for name in scalars_used(x)):
        return None, loop
    if any(name in written for x in two for name in buffers_used(x)):
        return None, loop
    return replace(loop, body=tuple(one)), replace(loop, body=tuple(two))


def _needed(body: Iterable[n.Stmt], wanted: Sequence[n.Stmt]) -> list[n.Stmt]:
    """The statements wanted, with the lets that they need."""
    names = {v for x in wanted for e in own_exprs(x) for v in variables_read(e)}
    found: list[n.Stmt] = []
    for x in reversed(list(body)):
        if x in wanted:
            found.append(x)
        elif isinstance(x, n.Let) and x.name in names:
            found.append(x)
            names |= variables_read(x.value)
    return found[::-1]


def _set(s: n.Stmt) -> set[str]:
    return {x.name for x in walk((s,)) if isinstance(x, (n.Let, n.Assign))}


def _independent(rows: Sequence[n.Stmt], columns: Sequence[n.Loop], kept: set[str]) -> bool:
    """Whether neither part writes what the other one touches, but for what the first has `kept` for the second."""
    for one, two in ((rows, columns), (columns, rows)):
        written = {name for x in one for name in buffers_written(x)} - kept
        if any(written & (buffers_used(x) | buffers_written(x)) for x in two):
            return False
    made = {name for x in columns for name in _set(x)}
    return not any(made & (scalars_used(x) | _set(x)) for x in rows)
