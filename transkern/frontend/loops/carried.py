"""What a run-time loop carries: the names its body assigns become slots, whose types are widened until they hold."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from transkern import refusals
from transkern.frontend.anew import Site
from transkern.frontend.containers import list_types, tuples
from transkern.frontend.context import Context
from transkern.frontend.loops import carried_dicts, carried_lists
from transkern.frontend.loops.carried_counts import check_counting, counted, shrinks, with_before
from transkern.frontend.loops.carried_kinds import join_kinds, kind_of, of_its_own, without_made
from transkern.frontend.loops.carried_sharing import (
    check_alias,
    check_function,
    check_lists,
    note_lists,
    note_shown,
)
from transkern.frontend.loops.carried_values import assign_all, note_left, of_elements
from transkern.frontend.loops.turns import OtherTurns, Turns
from transkern.frontend.python.characters import code_of
from transkern.frontend.state import aliasing, handing
from transkern.frontend.values import doubts, shaped
from transkern.frontend.values.describing import describe
from transkern.frontend.values.reach import reached, stands_in_list
from transkern.frontend.values.scalars import scalar_expr, select
from transkern.frontend.values.values import (
    ITEM,
    Array,
    Char,
    Doubt,
    Function,
    GrowingList,
    Hashed,
    Instance,
    Kind,
    Known,
    Maybe,
    Object,
    OneOf,
    OrNone,
    Row,
    Scalar,
    Seq,
    Static,
    Unbound,
    Value,
    are_of_other_lengths,
    children,
    deleted,
    lies,
    same_structure,
    with_children,
)  # fmt: skip
from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Const, Expr, Var
from transkern.ir.traverse import buffers_read, variables_read

if TYPE_CHECKING:
    from transkern.frontend.loops.looping import Loops


@dataclass(slots=True)
class Numbers:
    """The types of numbers that the iterations leave."""

    tagged: set[str] = field(default_factory=set)  # names of numbers of several types
    # the types of numbers that iterations leave, by their variables
    left: dict[str, set[Kind]] = field(default_factory=dict)
    python_left: set[str] = field(default_factory=set)  # names under which they leave numbers of Python's
    mixed: set[str] = field(default_factory=set)  # names under which they leave numbers of several types
    untold: set[str] = field(default_factory=set)  # names of which it cannot be told at run time which type they have


@dataclass(slots=True)
class Counts:
    """What bounds the lengths of lists, and how often the loop runs."""

    counting: str = ""  # the variable whose increase bounds them
    uncounted: set[str] = field(default_factory=set)  # names that some iteration does not increase
    may_stay_long: bool = False  # whether it is not clear that each iteration makes that count less
    shrinking: str = ""  # the count whose decrease bounds the trips of a `while`


@dataclass(slots=True)
class Outside:
    """What of the names is seen elsewhere, and what the iterations bind them to."""

    # by name: the arrays that iterations leave views of; its slots are copies
    shown: dict[str, set[str]] = field(default_factory=dict)
    # names under which they leave lists that others see; its slots are copies
    aliased: set[str] = field(default_factory=set)
    # slots that start as an array that is seen elsewhere, and their names
    from_outside: dict[str, str] = field(default_factory=dict)
    stale: set[str] = field(default_factory=set)  # names of such, whose array is stored into while the slot is read
    views: set[str] = field(default_factory=set)  # names that some iteration binds to a part of what they were
    rebound: set[str] = field(default_factory=set)  # names that some iteration binds to another array
    kept: set[str] = field(default_factory=set)  # names that some iteration leaves what they are
    never: set[str] = field(default_factory=set)  # names that none binds to another array after all: they are no slots


@dataclass(slots=True)
class Contents:
    """What is in lists, dicts and objects, of which `heap` were there before the loop."""

    heap: dict[int, Value]
    # lists, dicts and objects from before the loop that it changes: their kinds
    touched: dict[int, Any] = field(default_factory=dict)
    objects: dict[int, Value] = field(default_factory=dict)  # what is in them at the start of an iteration
    # which of their items some iteration puts something else for
    rebound_items: set[tuple[int, int]] = field(default_factory=set)
    fresh: dict[int, Value] = field(default_factory=dict)  # the same for lists that the loop binds anew
    made_at: dict[str, Site] = field(default_factory=dict)  # by name: where iterations make them, if nothing else does
    # those of them that begin as a list from before: its name
    begun_as: dict[int, tuple[str, Object]] = field(default_factory=dict)
    # the names under which iterations leave what another one stands for at their start
    handed_on: dict[str, set[str]] = field(default_factory=dict)


class LoopState:
    """The names that one run-time loop carries, and the types they have settled to.

    `assigned` are the names that the body binds (without the loop's own targets, which `all_assigned` has too); `live`
    those whose values the next iteration may read, or somebody after the loop. `turns`: the names that need no slots.
    `place`: what the loop is known by where it is translated again, as part of another one.
    `tells`: whether it hands on of which of two types a number is, also where one is Python's.
    """

    def __init__(
        self, owner: Loops, assigned: set[str], before: dict[str, Value],
        live: tuple[frozenset[str], frozenset[str]],
        all_assigned: set[str], stored: set[str], runs: Expr | None, turns: Turns | None = None, place: object = None,
        tells: bool = False,
    ) -> None:  # fmt: skip
        self.turns, self.place, self.tells = turns, place, tells
        self.stored = stored
        self.runs = runs  # whether there is a first iteration
        self.conditional: set[str] = set()  # names that need a flag for whether they are bound
        self.flags: dict[str, Var] = {}
        self.assigned, self.before = assigned, before
        self.live, self.live_behind = live  # at the end of an iteration, and behind the loop
        self.all_assigned = all_assigned
        self.slots: dict[str, Value] = {}
        self.kinds: dict[str, Any] = {}
        self.widened = False
        self.lengths = set(owner.ctx.lists.counts)  # of lists from before the loop
        self.known = owner.ctx.names.taken - self.lengths  # the names from before the loop that stay what they are
        self.contents = Contents(dict(owner.ctx.heap.contents))
        self.numbers, self.counts, self.outside = Numbers(), Counts(), Outside()
        self.made_as: dict[str, Any] = {}  # the kinds that the slots were made as
        for name in sorted(assigned):
            value = before.get(name)
            if value is None or isinstance(value, (Unbound, Function, Known)) or not self.is_live(name):
                continue
            if isinstance(value, Maybe):
                self.conditional.add(name)
                value = value.value
            self.kinds[name] = kind_of(owner.ctx, value)
        self.first = dict(self.kinds)
        self._begin_as_settled(owner.ctx)

    def _begin_as_settled(self, ctx: Context) -> None:
        """Begins with the kinds of numbers that an earlier translation of this loop has come to, where they began as
        they do now: a loop around is translated several times, and this one else as often each time."""
        for name in sorted(self.all_assigned):
            if (name not in self.first and name in self.before) or not self._is_number_at_first(name):
                continue
            known = ctx.session.budget.settled.get((self.place, name, self.first.get(name)))
            if known is not None:
                self.kinds[name], *sets = known
                for names, is_in in zip(self._names_by_type(), sets, strict=True):
                    names |= {name} if is_in else set()

    def _is_number_at_first(self, name: str) -> bool:
        """Whether a name is a number before the loop, or nothing."""
        return name not in self.first or self.first[name][0] == "scalar"

    def _names_by_type(self) -> tuple[set[str], ...]:
        return self.numbers.python_left, self.numbers.mixed, self.numbers.untold, self.numbers.tagged

    def remember(self, ctx: Context) -> None:
        """Notes what numbers have become, for `_begin_as_settled`."""
        for name, kind in self.kinds.items():
            first = self.first.get(name)
            left_out = name in self.conditional | self.outside.never
            if kind[0] != "scalar" or not self._is_number_at_first(name) or left_out:
                continue
            lasts = kind[3] in (None, first and first[3]) or all(_is_of_arguments(ctx, e) for e in kind[3])
            if lasts:  # another range may speak of names that go when a loop around begins anew
                sets = (name in names for names in self._names_by_type())
                ctx.session.budget.settled[self.place, name, first] = kind, *sets

    def only_none(self) -> set[str]:
        """The names that are None in all that is known of the iterations so far."""
        return {name for name, slot in self.slots.items() if slot == Static(None)}

    def is_live(self, name: str) -> bool:
        """Whether the value that an iteration leaves under `name` may be read, in the next one or after the loop."""
        return name in self.live or " " in name  # names of our own stand in loops that are no text

    def enter(self, owner: Loops) -> None:
        """Make the slots and set them to the values before the loop."""
        for name, kind in self.kinds.items():
            given = self.before.get(name)
            if kind[0] == "list" and isinstance(given, GrowingList):
                others = {k for k, v in self.before.items() if v is given and k != name}
                if others and self.stored & {name, *others}:
                    problem = f"`{name}` and `{min(others)}` are one list before a loop that changes one of them"
                    owner.ctx.fail(refusals.TWO_NAMES, problem, f"begin with a copy: {name} = {min(others)}[:]")
        if self.turns is not None and self.turns.turn is not None:
            owner.ctx.emit(n.Assign(self.turns.turn.name, b.ZERO))
        self.slots, self.flags, self.outside.from_outside = {}, {}, {}
        self.contents.objects, self.contents.fresh = {}, {}
        self.contents.begun_as, self.contents.handed_on, self.made_as = {}, {}, dict(self.kinds)
        self.numbers.left = {}
        self.outside.rebound, self.outside.kept, self.outside.stale, self.outside.views = set(), set(), set(), set()
        for token, kind in self.contents.touched.items():
            contents = self._contents(owner, token, kind)
            owner.ctx.heap.contents[token] = self.contents.objects[token] = contents
        self._note_copied_items(owner.ctx)
        for name, kind in self.kinds.items():
            if name in self.outside.never:
                continue
            initial = self.before.get(name)
            if isinstance(initial, (Unbound, Function, Known)):
                initial = None
            bound: Expr | None = b.FALSE if initial is None else b.TRUE
            value: Value | None = initial
            if isinstance(initial, Maybe):
                bound = initial.bound
                value = initial.value
            slot = self.slots[name] = self._slot(owner, name, kind, value)
            self._note_site(owner.ctx, name, slot)
            owner.env[name] = slot
            if value is not None and stands_in_list(value, owner.ctx.heap.handed, owner.ctx.aliasing.appended):
                handing.must_keep(owner.ctx, slot)
            if name in self.outside.shown:
                self._note_copies(owner.ctx, name, slot, self.outside.shown[name] - self._made_anew(name))
            if initial is None and self.runs is None and " " not in name:
                self.conditional.add(name)
            if name in self.conditional:
                flag = self.flags[name] = owner.ctx.names.variable(f"{name} is set", "bool")
                owner.ctx.emit(n.Assign(flag.name, bound or b.FALSE))
                owner.env[name] = Maybe(slot, flag, unknown=_unknown(name, self.before.get(name)))
            elif initial is None and " " not in name:
                owner.env[name] = Maybe(slot, None, lambda name=name: self._needs_flag(name))  # type: ignore[misc]

    def _note_site(self, ctx: Context, name: str, slot: Value) -> None:
        """What a loop first makes, and then changes, is known by where it is made: there it may begin anew."""
        inner = slot.value if isinstance(slot, OrNone) else slot
        if not isinstance(inner, Object) or inner.token in self.contents.begun_as:
            return
        if name in self.contents.made_at and inner.token in self.contents.fresh:
            ctx.heap.sites[inner.token] = self.contents.made_at[name]

    def _made_anew(self, name: str) -> set[str]:
        """The arrays that iterations leave under a name and under no other: the next iteration makes them anew, before
        it could store into them."""
        others = set[str]().union(*(shown for other, shown in self.outside.shown.items() if other != name))
        return self.outside.shown[name] - others - self.known

    def _note_copies(self, ctx: Context, name: str, slot: Value, shown: set[str]) -> None:
        """Nobody may store into what a slot is a copy of."""
        where = "in a list, a dict or an object" if name is ITEM else f"under `{name}`"
        problem = f"a loop leaves a view of an array {where}, and this stores into the array"
        for copy in reached(ctx.heap.contents, slot) if shown else ():
            if isinstance(copy, Array) and copy.view and copy.base not in self.known:
                ctx.aliasing.note_copy(name, copy.base, frozenset(shown), None, problem=problem)

    def _note_copied_items(self, ctx: Context) -> None:
        """The same for what lists, dicts and objects from before the loop hold."""
        if ITEM in self.outside.shown:
            for contents in self.contents.objects.values():
                self._note_copies(ctx, ITEM, contents, self.outside.shown[ITEM] - self._made_anew(ITEM))

    def _is_made_inside(self, value: GrowingList) -> bool:
        """Whether the loop makes a list: after an iteration its memory is gone."""
        return value.buffer not in self.known

    def _needs_flag(self, name: str) -> None:
        """It matters at run time whether `name` is bound: the loop is translated again, with a flag for it."""
        if name not in self.conditional and " " not in name:
            self.conditional.add(name)
            self.widened = True

    def _needs_split(self, name: str) -> None:
        """It matters in an iteration which type a number has: the loop is translated again, and tells it."""
        if name not in self.numbers.mixed:
            self.numbers.mixed.add(name)
            self.widened = True

    def _contents(self, owner: Loops, token: int, kind: Any) -> Value:
        """A list, dict or object at the start of an iteration: an array that none puts another for stays what it is."""
        initial = self.contents.heap[token]
        items = children(initial)
        if kind[0] != "items" or items is None:
            return self._slot(owner, ITEM, kind, initial)
        return with_children(kind[1], tuple(
            item if lies(item) and (token, k) not in self.contents.rebound_items else self._slot(owner, ITEM, of, item)
            for k, (of, item) in enumerate(zip(kind[2], items, strict=True))
        ))  # fmt: skip

    def _slot(self, owner: Loops, name: str, kind: Any, initial: Value | None) -> Value:
        ctx = owner.ctx
        if kind[0] in ("scalar", "array", "dynamic", "shaped") and initial is not None:
            initial = of_elements(ctx, initial)
        match kind:
            case ("scalar", dtype, python, low_high, types):
                variable = ctx.names.variable(name, dtype)
                if low_high is not None:
                    ctx.facts.ranges[variable.name] = low_high
                value = Const(0, dtype) if initial is None else b.cast(scalar_expr(ctx, initial), dtype)
                ctx.emit(n.Assign(variable.name, value))
                tag = None
                if name in self.numbers.tagged:
                    tag = ctx.names.variable(f"{name} type", "uint8")
                    ctx.emit(n.Assign(tag.name, list_types.tag_of(Static(0) if initial is None else initial)))
                doubt = self._doubt(owner, name, types, Scalar(variable, python), initial)
                return doubts.shown(Scalar(variable, python, tag, doubt))
            case ("array", dtype, dims, facts):
                buffer = ctx.buffer(name, dtype, dims, **facts)
                if initial is not None:
                    assert isinstance(initial, Array)
                    self._note_outside(ctx, buffer.name, name, initial)
                    ctx.emit(n.Define(buffer.name, initial.axes, b.cast(initial.body, dtype)))
                else:
                    ctx.emit(n.Alloc(buffer.name))
                return ctx.names.whole(buffer)
            case ("dynamic", dtype, bound, rest, facts):
                buffer = ctx.buffer(name, dtype, (bound, *rest), **facts)
                count = ctx.names.count(buffer.name, bound)
                if name in ctx.learned.lengthened:
                    ctx.lists.rooms.add(buffer.name)
                ctx.emit(n.Alloc(buffer.name))
                if initial is not None:
                    assert isinstance(initial, Array)
                    self._note_outside(ctx, buffer.name, name, initial)
                    owner.fill(buffer, count, initial)
                else:
                    ctx.emit(n.Assign(count.name, b.ZERO))
                return ctx.names.whole(buffer, (count, *rest))
            case ("shaped", dtype, ndim):
                slot = shaped.made(ctx, name, dtype, ndim)
                if isinstance(initial, Array):
                    self._note_outside(ctx, slot.base, name, initial)
                    shaped.fill(ctx, slot, initial)
                return slot
            case ("items", shell, kinds):
                items = [None] * len(kinds) if initial is None else list(children(initial) or ())
                made = tuple(self._slot(owner, name, k, i) for k, i in zip(kinds, items, strict=True))
                return with_children(shell, made)
            case ("choice", (None,)):
                return Static(None)  # no iteration that is known yet makes something else of it
            case ("choice", options):
                variable = ctx.names.variable(name, "index")
                start: Expr = b.ZERO
                if isinstance(initial, Static):
                    start = b.index(options.index(initial.value))
                if isinstance(initial, OneOf):
                    start = select(initial.index, [b.index(options.index(o)) for o in initial.options])
                ctx.emit(n.Assign(variable.name, start))
                return OneOf(variable, options)
            case ("character",):
                variable = ctx.names.variable(name, "index")
                code = None if initial is None else code_of(initial)
                ctx.emit(n.Assign(variable.name, b.ZERO if code is None else code))
                return Char(variable)
            case ("or none", inner):
                none = ctx.names.variable(f"{name} is None", "bool")
                absent = isinstance(initial, Static) and initial.value is None
                holds = initial.none if isinstance(initial, OrNone) else b.TRUE if absent else b.FALSE
                ctx.emit(n.Assign(none.name, holds))
                first = initial.value if isinstance(initial, OrNone) else None if absent else initial
                return OrNone(self._slot(owner, name, inner, first), none)
            case ("object", value) if initial is not None:
                return value  # type: ignore[no-any-return]
            case ("object", value):
                return self._slot(owner, name, ("fresh", kind_of(ctx, ctx.deref(value))), None)
            case ("fresh", inner):
                contents = self._slot(owner, name, inner, None if initial is None else ctx.deref(initial))
                made_object = ctx.heap.allocate(contents, ("fixed",))
                self.contents.fresh[made_object.token] = contents
                if isinstance(initial, Object):
                    self.contents.begun_as[made_object.token] = name, initial
                return made_object
            case ("row", rows):
                number = ctx.names.variable(name, "index")
                ctx.emit(n.Assign(number.name, initial.number if isinstance(initial, Row) else b.ZERO))
                return Row(rows, number)
            case ("instance", pool):
                number = ctx.names.variable(name, "index")
                ctx.emit(n.Assign(number.name, initial.number if isinstance(initial, Instance) else b.ZERO))
                return Instance(pool, number)
            case ("list", dtype, python, pool, site):
                return carried_lists.carried(ctx, name, dtype, python, initial, pool, site)
            case ("table", shape):
                return carried_lists.carried_table(ctx, name, shape, initial)
            case ("tuple", inner):
                return tuples.as_tuple(self._slot(owner, name, inner, tuples.as_list(ctx, initial)))
            case ("hashed", shape):
                return carried_dicts.made(ctx, name, shape, initial)
            case ("same", value):
                return value  # type: ignore[no-any-return]
        raise AssertionError(kind)

    def _doubt(
        self, owner: Loops, name: str, types: tuple[Kind, ...], slot: Scalar, initial: Value | None
    ) -> Doubt | None:  # fmt: skip
        """What is known of a number's type where iterations leave another one than there was before."""
        numbers = None if name in self.numbers.python_left or initial is None else doubts.python_numbers(initial)
        doubted = doubts.doubt(types, numbers)
        begins = initial is not None or self.tells or all(python for _, python in types)
        if doubted is None or not begins or name in self.numbers.untold or len(types) > 2:
            return doubted
        if initial is None:  # nobody reads what it is before it has a value
            initial = Scalar(Const(0, types[0][0]), types[0][1])
        if self.runs is not None and name not in self.numbers.mixed:
            return replace(doubted, told=lambda: self._needs_split(name))  # in the first iteration one, then the other
        with owner.ctx.emitter.block(owner.ctx.emitter.out) as out:
            split = doubts.joined_at(owner.ctx, name, slot, (initial,), (out,), types)
        owner.ctx.emitter.out.extend(out)
        return replace(doubted, split=split and replace(split, handed_on=not self.tells))

    def _note_outside(self, ctx: Context, slot: str, name: str, initial: Value) -> None:
        if aliasing.is_seen(ctx, name, initial):
            assert isinstance(initial, Array)
            self.outside.from_outside[slot] = name
            ctx.aliasing.begun.add(slot)
            ctx.aliasing.note_copy(name, slot, frozenset([initial.base]), None, lambda: self.outside.stale.add(name))

    def settle(self, owner: Loops) -> None:
        """After the body: an array that others see keeps its memory where no iteration binds its name anew."""
        for name in {*self.outside.from_outside.values()} - self.outside.rebound:
            if name in self.slots and name not in self.outside.never and isinstance(self.before.get(name), Array):
                self.outside.never.add(name)
                self.widened = True
        for name in sorted(self.outside.stale & {*self.outside.rebound, ITEM} if not self.widened else ()):
            held = name is ITEM
            what, shown = ("what a list, a dict or an object holds", "a") if held else (f"`{name}`", name)
            owner.ctx.fail(
                refusals.LOOP_ALIAS,
                f"{what} begins as a view of an array that the loop stores into, and is bound to another in it",
                f"begin with a copy, {shown} = {shown}.copy(), or keep the array and let positions change",
            )

    @property
    def copies(self) -> int:
        """How often the body is translated, one iteration behind the other."""
        return 1 if self.turns is None else self.turns.period

    def turned(self, owner: Loops, count: int) -> None:
        """The end of one of these iterations."""
        if self.turns is None:
            return
        self.turns.check(count, owner.env, owner.ctx.heap.contents)
        whole = [name for name, slot in self.slots.items() if isinstance(slot, Array) and not self.turns.names]
        if any(owner.env.get(one) == self.slots[other] for one in whole for other in whole if one != other):
            raise OtherTurns(None)

    def back(self, owner: Loops) -> None:
        """The end of an iteration: the names' values go into their slots."""
        self._sync(owner)

    def leave(self, owner: Loops, is_break: bool) -> None:
        if self.turns is not None:
            now = self.turns.where_left(owner.env, owner.ctx.heap.contents)
            if now and self.turns.items:
                raise OtherTurns(None)
            if now and self.turns.turn is not None:
                owner.ctx.emit(n.Assign(self.turns.turn.name, b.index(now)))
        self._sync(owner, leaving=is_break)
        owner.ctx.emit(n.Break() if is_break else n.Continue())

    def _sync(self, owner: Loops, leaving: bool = False) -> None:
        ctx = owner.ctx
        pending: list[tuple[Value, Value]] = []
        flags: list[n.Stmt] = []
        for name in sorted(self.all_assigned):
            value = owner.env.get(name)
            if value is None or isinstance(value, (Unbound, Function, Known)):
                if isinstance(value, Unbound) and name in self.slots and self.is_live(name):
                    decides = Static(None) if value.decides is None else Scalar(value.decides)
                    help = "give it a value of one type on every path"
                    ctx.must_be_known(decides, value.why, help, refusals.TYPE_DIFFERS)
                check_function(self, ctx, name, value)
                if name in self.slots:
                    self._needs_flag(name)
                continue
            if name in self.kinds and name not in self.slots:
                self.widened = self.widened or (name in self.outside.never and value != self.before[name])
                self.outside.never -= {name} if self.widened else set()
                continue  # found at another end of this iteration: the loop is translated again
            bound: Expr | None = b.TRUE
            if isinstance(value, Maybe):
                bound = value.bound
                value = value.value
            given = value.value if isinstance(value, OrNone) else value
            is_new = isinstance(given, Object) and given.token not in self.contents.heap
            if is_new and isinstance(given, Object) and given.token not in self.contents.fresh:
                self.contents.made_at.setdefault(name, ctx.heap.sites[given.token])
            if name not in self.kinds:
                if self.is_live(name):
                    kind = counted(self, ctx, name, kind_of(ctx, value))
                    if is_new or (isinstance(value, GrowingList) and self._is_made_inside(value)):
                        kind = of_its_own(ctx, kind)  # which the next translation of the loop does not know
                    self.kinds[name] = with_before(self, ctx, name, kind, value)
                    self.widened = True
                continue
            if bound is None:
                self._needs_flag(name)
            elif name in self.flags and bound != self.flags[name]:
                flags.append(n.Assign(self.flags[name].name, bound))
            elif name not in self.flags and bound != b.TRUE:
                self._needs_flag(name)
            value = of_elements(ctx, value)
            wanted = join_kinds(ctx, name, self.kinds[name], kind_of(ctx, value), value, self.slots[name])
            wanted = without_made(ctx, wanted, self.contents.heap)
            if wanted != self.kinds[name]:
                self.kinds[name] = wanted
                self.widened = True
            if self.kinds[name] != self.made_as[name]:  # found here, or at another end: the loop is translated again
                continue
            slot = self.slots[name]
            is_tagged = isinstance(value, Scalar) and value.tag is not None
            if is_tagged and name not in self.numbers.tagged and wanted[0] == "scalar":
                self.numbers.tagged.add(name)
                self.widened = True
                continue
            for made in _lists_in(value) if value != slot else ():
                check_lists(self, owner, name, made, leaving)
            if isinstance(slot, OrNone):
                if value == slot and not isinstance(slot.value, Object):
                    note_left(self, name, slot, value)
                    continue
                pending += _none_pairs(slot, value)
                if isinstance(value, Static) and value.value is None:
                    continue
                slot, value = slot.value, value.value if isinstance(value, OrNone) else value
            if isinstance(slot, GrowingList) and isinstance(value, Seq):
                value = tuples.as_tuple(tuples.as_list(ctx, value))
            if value != slot:
                note_lists(self, owner, name, slot, value, leaving)
                if stands_in_list(value, ctx.heap.handed, ctx.aliasing.appended):
                    handing.must_keep(ctx, slot)
            if isinstance(slot, Object) and slot.token in self.contents.fresh:
                slot, value = self.contents.fresh[slot.token], ctx.deref(value)
            note_left(self, name, slot, value)
            (self.outside.kept if value == slot else self.outside.rebound).add(name)
            if value != slot or _lists_in(value):
                check_alias(self, owner, name, value)
                note_shown(self, owner, name, slot, value)
                if isinstance(slot, Array) and isinstance(value, Array) and value.view and value.base == slot.base:
                    self.outside.views.add(name)
                pending += self.pairs(ctx, slot, value)
        self._sync_objects(owner, pending)
        if not self.widened and self.counts.counting and not leaving:
            check_counting(self, owner, pending)
        if self.widened:
            return
        if self.counts.shrinking and not leaving and not shrinks(self, pending):
            self.counts.may_stay_long = self.widened = True  # a list that grows in it has no bound, then
            return
        assign_all(self, owner, pending)
        for flag in flags:
            ctx.emit(flag)

    def pairs(self, ctx: Context, slot: Value, value: Value) -> list[tuple[Value, Value]]:
        """What becomes of the variables of a slot, when it becomes `value`: pairs of them and of their values."""
        if isinstance(slot, OrNone):
            pairs = _none_pairs(slot, value)
            if isinstance(value, Static) and value.value is None:
                return pairs
            inner = value.value if isinstance(value, OrNone) else value
            return pairs + self.pairs(ctx, slot.value, inner)
        if isinstance(slot, Object) and slot.token in self.contents.fresh:
            return self.pairs(ctx, self.contents.fresh[slot.token], ctx.deref(value))
        if slot == value:
            return []
        if isinstance(slot, Hashed) and isinstance(found := ctx.deref(value), Hashed):
            return [] if found is slot else [*carried_dicts.pairs(slot, found)]
        mine, others = children(slot), children(value)
        if mine is not None and others is not None:
            return [p for s, v in zip(mine, others, strict=True) for p in self.pairs(ctx, s, v)]
        if isinstance(slot, Scalar) and slot.doubt is not None and slot.doubt.split is not None:
            return [(slot, value), *doubts.handed_on(slot, slot.doubt.split, value)]
        return [(slot, value)]

    def _sync_objects(self, owner: Loops, pending: list[tuple[Value, Value]]) -> None:
        """What the iteration has put into lists, dicts and objects from before the loop."""
        ctx = owner.ctx
        for token, before in self.contents.heap.items():
            start, now = self.contents.objects.get(token, before), ctx.heap.contents[token]
            if token in self.contents.objects and same_structure(start, now):
                note_left(self, ITEM, start, now)
            if now is start or now == start:
                continue
            if not same_structure(start, now):
                if isinstance(now, Seq):
                    others = [
                        t for t, before in self.contents.heap.items()
                        if are_of_other_lengths(self.contents.objects.get(t, before), ctx.heap.contents[t])
                    ]
                    ctx.must_grow(token, "a list that changes its length in a run-time loop", others=others)
                problem = f"{describe(now)} that gains a key in a run-time loop"
                ctx.must_be_known(now, problem, "set the key before it", refusals.RUN_TIME_KEYS)
            kind = kind_of(ctx, before)
            if token not in self.contents.touched:
                self.contents.touched[token] = kind
                self.widened = True
            pairs = zip(children(start) or (), children(now) or (), strict=True)
            rebound = {(token, k) for k, (s, v) in enumerate(pairs) if s != v and lies(s)} - self.contents.rebound_items
            if rebound:
                self.contents.rebound_items |= rebound
                self.widened = True
            wanted = join_kinds(ctx, ITEM, self.contents.touched[token], kind_of(ctx, now), now, start)
            wanted = without_made(ctx, wanted, self.contents.heap)
            if wanted != self.contents.touched[token]:
                self.contents.touched[token] = wanted
                self.widened = True
            if token in self.contents.objects:
                note_shown(self, owner, ITEM, start, now)
                pending += self.pairs(ctx, start, now)

    def _settled(self, slot: Value, before: Value | None) -> Value:
        """A slot after the loop, where it is known better than in it which types its numbers may have."""
        if isinstance(before, Maybe):
            before = before.value
        if isinstance(slot, Scalar) and isinstance(slot.expr, Var) and slot.doubt is not None:
            left = tuple(sorted(self.numbers.left.get(slot.expr.name, ())))
            if not left or slot.doubt.split is not None or self.runs is None:
                return slot
            if self.runs == b.TRUE:
                return doubts.of_kinds(slot, left)
            split = doubts.after(slot, before, left, self.runs)
            return replace(slot, doubt=replace(slot.doubt, sure=left, runs=self.runs, split=split))
        if (items := children(slot)) is not None:
            others = children(before) if before is not None and same_structure(slot, before) else None
            pairs = zip(items, others or (None,) * len(items), strict=True)
            return with_children(slot, tuple(self._settled(i, o) for i, o in pairs))
        return slot

    def held_after(self) -> dict[int, Value]:
        """What lists, dicts and objects hold after the loop, which it has changed or made."""
        if self.runs == b.FALSE:
            return {}
        begun = {token: initial.token for token, (_, initial) in self.contents.begun_as.items()}
        found = {**self.contents.objects, **self.contents.fresh}
        heap = self.contents.heap
        return {token: self._settled(now, heap.get(begun.get(token, token))) for token, now in found.items()}

    def after(self, owner: Loops) -> dict[str, Value]:
        env = dict(self.before)
        if self.runs == b.FALSE:
            return env
        if self.runs != b.TRUE:  # after no iteration, the slot stands for what it started as
            for slot, name in self.outside.from_outside.items():
                owner.ctx.aliasing.chosen.setdefault(slot, (name, self.runs))
        for slot, name in self.outside.from_outside.items():
            may_be = name in self.outside.kept | self.outside.views
            if name in self.outside.kept:
                owner.ctx.aliasing.chosen.setdefault(slot, (name, None))
            before = self.before.get(name)
            if isinstance(before, Array) and (may_be or self.runs != b.TRUE):
                owner.ctx.aliasing.note_copy(name, slot, frozenset([before.base]), None if may_be else self.runs)
        self._note_copied_items(owner.ctx)
        for name in sorted(self.all_assigned):
            if name in self.outside.never:
                continue
            if name not in self.slots:
                env[name] = Unbound(f"`{name}` is only set inside the loop")
                continue
            before = self.before.get(name)
            if name in self.outside.shown:
                self._note_copies(owner.ctx, name, self.slots[name], self._made_anew(name))
            env[name] = self._settled(self.slots[name], before)
            if name in self.flags:
                env[name] = Maybe(env[name], self.flags[name], unknown=_unknown(name, self.before.get(name)))
            elif (before is None or isinstance(before, (Unbound, Function, Known))) and self.runs != b.TRUE:
                if " " not in name:
                    env[name] = Maybe(env[name], self.runs, unknown=_unknown(name, self.before.get(name)))
        for name in sorted(self.outside.aliased):
            for copy in list(reached(owner.ctx.heap.contents, self.slots[name])):
                if isinstance(copy, (Object, GrowingList)):
                    handing.only_read(owner.ctx, copy)
        # what the body did to lists and in place is in their own memory
        return env


def _none_pairs(slot: OrNone, value: Value) -> list[tuple[Value, Value]]:
    """Whether a slot is None after this."""
    absent = isinstance(value, Static) and value.value is None
    now: Value = Scalar(value.none, True) if isinstance(value, OrNone) else Static(absent)
    return [] if isinstance(value, OrNone) and value.none == slot.none else [(Scalar(slot.none, True), now)]


def _lists_in(value: Value) -> list[Value]:
    """The lists, dicts and objects in a value."""
    if isinstance(value, OrNone):
        return _lists_in(value.value)
    if isinstance(value, (Object, GrowingList, Hashed)):
        return [value]
    return [made for v in children(value) or () for made in _lists_in(v)]


def _is_of_arguments(ctx: Context, e: Expr) -> bool:
    """Whether an expression reads nothing but numbers that the function is called with."""
    return variables_read(e) <= ctx.facts.entry and not buffers_read(e)


def _unknown(name: str, before: Value | None) -> str:
    """Why nobody knows which value a name has before a loop, where it has one."""
    match before:
        case Unbound(why) if before != deleted(name):
            return why
        case Function() | Known():
            return f"`{name}` is {describe(before)} before a loop and something else in it"
        case _:
            return ""
