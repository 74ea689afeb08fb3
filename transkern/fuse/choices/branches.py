"""Values that branches set become choices, in loops of vectors:

    parallel i in 0 .. n:                          parallel i in 0 .. n:
        hue := 0.0                                     hue := 0.0
        if delta > 0.0:                     to         let taken = delta > 0.0
            hue := (g[i] - b[i]) / delta               hue := (g[i] - b[i]) / delta if taken else hue
        y[i] = hue / 6.0                               y[i] = hue / 6.0

All that a branch does is computed in each iteration then: it must do no harm (loads of what is there, no division of
integers) and cost less than a branch that half of the iterations take. The loop must be one of plain statements. A
compiler of C does so itself where branches neither load nor call anything; not in a search for the place of the
greatest, which it makes no vectors of: ours ask for one value.

`compute_choices`: what a choice between values loads is there as well, and is computed before it:

    y[i] = (0.5 * (x[i] + z[i]) if m[i] else x[i])    to    let half = 0.5 * (x[i] + z[i]); let x_1 = x[i]
                                                            y[i] = (half if m[i] else x_1)

GCC 12 loads under masks otherwise, one for each load and vector, and as many vectors as a vector of `m` has elements.

`ask_once`: the greatest of three and more numbers, of which any may be NaN, is asked for NaN once, also where some of
them are the least of others (`np.maximum(np.minimum(a, b), c)`). GCC 12 makes no vectors of a maximum of a maximum as
NumPy has it, whose NaN it looks for by what has been chosen.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence

from transkern.analysis.scalars import exposed
from transkern.analysis.verdicts import Walk
from transkern.fuse.lanes.together import always, is_arithmetic
from transkern.fuse.scalars.load_once import is_within
from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Apply, Const, Expr, Load, Var
from transkern.ir.names import Names
from transkern.ir.ops import OPS, TRANSCENDENTAL
from transkern.ir.traverse import (
    buffers_read,
    buffers_written,
    exprs,
    map_block,
    map_own,
    own_exprs,
    scalars_set,
    variables_read,
    walk,
    walk_expr,
    with_bodies,
)
from transkern.records import replace

_PLAIN = (n.Let, n.Assign, n.Store, n.Accumulate, n.If)
_OF_NUMBERS = {"maximum": "number_maximum", "minimum": "number_minimum"}


def choose_values(program: n.Program) -> n.Program:
    """The program with such choices; as it was where flags of floats are read, which what is not taken must not set."""
    if program.warns or not any(isinstance(s, n.Loop) and _suits(s) for s in walk(program.body)):
        return program
    return replace(program, body=_Choosing(program).block(program.body))


def compute_choices(program: n.Program) -> n.Program:
    """The program with names for what loops choose between; as it was where flags of floats are read."""
    if program.warns or not any(isinstance(s, n.Loop) and _chooses(s) for s in walk(program.body)):
        return program
    return replace(program, body=_Naming(program).block(program.body))


def _suits(s: n.Loop) -> bool:
    """Whether a loop may have vectors but for a branch that sets a variable."""
    inside = list(walk(s.body))
    branches = [x for x in inside if isinstance(x, n.If)]
    in_branches = [x for branch in branches for x in walk((*branch.then, *branch.orelse))]
    return (
        s.kind == "parallel"
        and all(isinstance(x, _PLAIN) for x in inside)
        and any(isinstance(x, n.Assign) for x in in_branches)
    )


def _chooses(s: n.Loop) -> bool:
    """Whether a loop that may have vectors chooses between what it loads."""
    inside = list(walk(s.body))
    return (
        s.kind == "parallel"
        and all(isinstance(x, (n.Let, n.Store)) for x in inside)  # a sum reads nothing where a mask leaves a row out
        and any(_loads(arm) for e in exprs(inside) for arm in _arms(e))
    )


def _arms(e: Expr) -> tuple[Expr, ...]:
    """The numbers of an array that are chosen between, by what is different for each element."""
    match e:
        case Apply("where", (asked, one, other), dtype) if dtype != "index" and asked.dtype == "bool":
            return (one, other) if any(isinstance(x, Load) for x in walk_expr(asked)) else ()
        case _:
            return ()


def _loads(e: Expr) -> bool:
    return any(isinstance(x, Load) for x in walk_expr(e))


def _is_remainder(e: Expr) -> bool:
    return isinstance(e, Apply) and e.op in ("remainder", "floor_divide", "fmod") and e.dtype.startswith("float")


class _Choosing(Walk):
    def __init__(self, program: n.Program) -> None:
        super().__init__(program)
        self.names = Names.of(program)
        self.sure: set[Expr] | None = None  # what each iteration of such a loop loads in any case
        self.set: set[str] = set()  # the variables that each has set so far
        self.body: tuple[n.Stmt, ...] = ()

    def statement(self, s: n.Stmt) -> list[n.Stmt]:
        if isinstance(s, n.Loop):
            before = self.sure, self.set, self.body
            self.sure, self.set, self.body = _surely(s) if _suits(s) else None, set(), s.body
            made = self.inside(s)
            if self.sure and made is not s and isinstance(made, n.Loop):
                made = self.loaded_first(made, self.sure)
            self.sure, self.set, self.body = before
            return [made]
        if isinstance(s, n.If) and self.sure is not None:
            chosen = self.chosen(s)
            if chosen is not None:
                return chosen
        elif isinstance(s, n.Assign):
            self.set.add(s.name)
        return [self.inside(s)] if isinstance(s, n.If) else [s]

    def loaded_first(self, s: n.Loop, sure: set[Expr]) -> n.Loop:
        """The loop with what it loads in any case, and where it chooses, in names."""
        own = scalars_set(s)
        chosen = (x for y in exprs(s.body) if isinstance(y, Apply) and y.op == "where" for x in y.args[1:])
        loads = dict.fromkeys(e for x in chosen for e in walk_expr(x) if e in sure and not variables_read(e) & own)
        names: dict[Expr, Var] = {e: Var(self.names.fresh(e.buffer), e.dtype) for e in loads if isinstance(e, Load)}
        lets = [n.Let(v.name, e, span=s.body[0].span) for e, v in names.items()]
        return replace(s, body=(*lets, *map_block(s.body, names.get)))

    def chosen(self, s: n.If) -> list[n.Stmt] | None:
        """The branch as statements that run in any case; None where it is none of these."""
        match s:
            case n.If(condition, (n.Assign(name, one),), (n.Assign(other, two),)) if name == other:
                if self.harmless(one) and self.harmless(two):
                    self.set.add(name)
                    return [n.Assign(name, b.where(condition, one, two), span=s.span)]
        taken = Var(self.names.fresh("taken"), "bool")
        made = [n.Let(taken.name, s.condition, span=s.span)]
        try:
            return [*made, *self.done(s.then, taken), *self.done(s.orelse, b.logical_not(taken))]
        except _Harmful:
            return None

    def done(self, block: Sequence[n.Stmt], holds: Expr) -> Iterator[n.Stmt]:
        for s in block:
            match s:
                case n.Let(value=value) if self.harmless(value):
                    yield s
                case n.Assign(name, value) if name in self.set and self.harmless(value):
                    yield replace(s, value=b.where(holds, value, Var(name, value.dtype)))
                case n.Assign(name, value) if not exposed(self.body, name) and self.harmless(value):
                    self.set.add(name)  # nobody reads it on the other way, but behind what sets it there
                    yield s
                case n.If(condition, then, orelse) if self.harmless(condition):
                    taken = Var(self.names.fresh("taken"), "bool")
                    yield n.Let(taken.name, condition, span=s.span)
                    yield from self.done(then, b.both(holds, taken))
                    yield from self.done(orelse, b.both(holds, b.logical_not(taken)))
                case _:
                    raise _Harmful

    def harmless(self, e: Expr) -> bool:
        """Whether a value may be computed in any case, and soon is."""
        parts = list(walk_expr(e))
        dear = any(isinstance(x, Apply) and x.op in OPS and OPS[x.op].cost >= TRANSCENDENTAL for x in parts)
        loads = [x for x in parts if isinstance(x, Load)]
        return not dear and is_arithmetic(e) and all(x in (self.sure or ()) or is_within(self, x) for x in loads)


class _Naming(_Choosing):
    """Names for what the statements of such loops choose between."""

    chooses = False  # whether the loop around does

    def statement(self, s: n.Stmt) -> list[n.Stmt]:
        if self.chooses and isinstance(s, (n.Let, n.Store)):
            return self.computed_first(s)
        before = self.chooses
        self.chooses = isinstance(s, n.Loop) and _chooses(s)
        made = self.inside(s)
        self.chooses = before
        return [made]

    def computed_first(self, s: n.Let | n.Store) -> list[n.Stmt]:
        """A statement behind names for what it chooses between, as far as that may be computed in any case."""
        lets: list[n.Stmt] = []

        def named(e: Expr) -> Expr | None:
            arms = _arms(e)
            if not isinstance(e, Apply) or not any(map(_loads, arms)) or not all(map(self.harmless, arms)):
                return None
            asked = b.map_expr(e.args[0], named)
            return b.where(asked, *(self.name_of(b.map_expr(arm, named), s, lets) for arm in arms))

        changed = map_own(s, named)
        return [*lets, changed]

    def name_of(self, value: Expr, s: n.Stmt, lets: list[n.Stmt]) -> Expr:
        """A name for a value that loads, set by one of the `lets` before a statement."""
        if not _loads(value):
            return value
        made = n.Let(self.names.fresh("chosen"), value, span=s.span)
        lets.append(made)
        return Var(made.name, value.dtype)


class _Harmful(Exception):
    """A branch does what must not be done in any case."""


def _surely(s: n.Loop) -> set[Expr]:
    """The elements that an iteration loads whatever holds, of arrays that the loop does not change."""
    written = {name for x in s.body for name in buffers_written(x)}
    found = (e for x in s.body for own in own_exprs(x) for e in always(own))
    return {e for e in found if isinstance(e, Load) and not buffers_read(e) & written}


# ---- NaN in extremes -------------------------------------------------------------------------------------------------


def ask_once(program: n.Program) -> n.Program:
    """The program with one question for NaN in each extreme of several numbers, in parallel loops; as it was where
    flags of floats are read: sums of numbers set them."""
    if program.warns or not any(_extreme_of(e) for e in exprs(program.body)):
        return program
    names = Names.of(program)

    def block(statements: tuple[n.Stmt, ...], inside: bool) -> tuple[n.Stmt, ...]:
        out: list[n.Stmt] = []
        for s in statements:
            deeper = inside or (isinstance(s, n.Loop) and s.kind == "parallel")
            if inside and isinstance(s, n.Let | n.Assign | n.Store | n.Accumulate):
                out += _asking_once(s, names)
            else:
                out.append(with_bodies(s, functools.partial(block, inside=deeper)))
        return tuple(out)

    return replace(program, body=block(program.body, inside=False))


def _asking_once(s: n.Stmt, names: Names) -> list[n.Stmt]:
    """A statement, behind names for the numbers that its extremes are of, where these are computed."""
    before: list[n.Let] = []
    sure = {e for own in own_exprs(s) for e in always(own)}
    named: dict[Expr, Var] = {}

    def name(x: Expr) -> Expr:
        x = b.map_expr(x, change)  # what an extreme is of may have one in it
        if isinstance(x, Load | Var | Const):
            return x
        if x not in named:
            named[x] = Var(names.fresh("number"), x.dtype)
            before.append(n.Let(named[x].name, x))
        return named[x]

    def change(e: Expr) -> Expr | None:
        operands = _extreme_of(e)
        if not operands or not all(isinstance(x, Load | Var | Const) or x in sure for x in operands):
            return None
        assert isinstance(e, Apply)
        numbers = {x: name(x) for x in operands}
        odd, total = _any_nan([x for x in numbers.values() if not isinstance(x, Const)])
        most = _of_numbers(e, numbers)
        if e in sure:  # before the choice: within it, GCC 12 compares under masks, and has no instruction for extremes
            before.append(n.Let(names.fresh("most"), most))
            most = Var(before[-1].name, e.dtype)
        return b.where(odd, total, most)

    changed = map_own(s, change)
    return [*before, changed]


def _extreme_of(e: Expr) -> list[Expr]:
    """The numbers that an extreme is of, also by way of the other kind (`max(min(a, b), c)`): three or more, any of
    which may be NaN; none of anything else."""
    if not isinstance(e, Apply) or e.op not in _OF_NUMBERS or e.dtype not in ("float32", "float64"):
        return []
    numbers = list(dict.fromkeys(_operands(e)))
    is_odd = any(isinstance(x, Const) and x.value != x.value for x in numbers)
    return numbers if sum(not isinstance(x, Const) for x in numbers) > 2 and not is_odd else []


def _any_nan(numbers: Sequence[Expr]) -> tuple[Expr, Expr]:
    """Whether any of some numbers is NaN, and what they come to then."""
    odd: Expr = Apply("isnan", (numbers[0],), "bool")
    total = numbers[0]
    for x in numbers[1:]:
        odd = Apply("logical_or", (odd, Apply("isnan", (x,), "bool")), "bool")
        total = Apply("add", (total, x), x.dtype)
    return odd, total


def _of_numbers(e: Expr, numbers: dict[Expr, Expr]) -> Expr:
    """The same extreme, of which no number is NaN."""
    if e in numbers:
        return numbers[e]
    assert isinstance(e, Apply)
    return Apply(_OF_NUMBERS[e.op], tuple(_of_numbers(x, numbers) for x in e.args), e.dtype)


def _operands(e: Expr) -> Iterator[Expr]:
    """The numbers that an extreme is of, in the order in which they are compared."""
    match e:
        case Apply(op, (x, y), _) if op in _OF_NUMBERS:
            yield from _operands(x)
            yield from _operands(y)
        case _:
            yield e
