"""What a run-time loop carries: the names its body assigns become slots, whose types are widened until they hold."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from transkern import refusals
from transkern.frontend.anew import Site
from transkern.frontend.context import Context
from transkern.frontend.loops.carried.ends import end_iteration
from transkern.frontend.loops.carried.kinds import kind_of, ranges_of
from transkern.frontend.loops.carried.slots import contents_of, slot_of
from transkern.frontend.loops.turns import OtherTurns, Turns
from transkern.frontend.state import handing
from transkern.frontend.values import doubts
from transkern.frontend.values.describing import describe
from transkern.frontend.values.reach import reached, stands_in_list
from transkern.frontend.values.values import (
    ITEM,
    Array,
    Function,
    GrowingList,
    Kind,
    Known,
    Maybe,
    Object,
    OrNone,
    Scalar,
    Static,
    Unbound,
    Value,
    children,
    deleted,
    same_structure,
    with_children,
)  # fmt: skip
from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Expr, Var
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
        self.differing: dict[str, Unbound] = {}  # names that an iteration is first to leave, with values of two types
        for name in sorted(assigned):
            value = before.get(name)
            if value is None or isinstance(value, (Unbound, Function, Known)) or not self.is_live(name):
                continue
            if isinstance(value, Maybe):
                self.conditional.add(name)
                value = value.value
            self.kinds[name] = kind_of(owner.ctx, value)
        self.first = {**self._of_targets(owner.ctx), **self.kinds}
        self._begin_as_settled(owner.ctx)

    def _of_targets(self, ctx: Context) -> dict[str, Any]:
        """The kinds that names of the loop's own have before it, which are no slots unless iterations leave them."""
        values = {name: self.before[name] for name in self.all_assigned - self.kinds.keys() if name in self.before}
        held = {name: v.value if isinstance(v, Maybe) else v for name, v in values.items()}
        return {name: kind_of(ctx, value) for name, value in held.items() if not isinstance(value, Unbound)}

    def _begin_as_settled(self, ctx: Context) -> None:
        """Begins with the kinds of numbers, and of tuples of these or None, that an earlier translation of this loop
        has come to, where they began as they do now: a loop around is translated several times, and this one else as
        often each time."""
        for name in sorted(self.all_assigned):
            if not self._is_plain_at_first(name):
                continue
            known = ctx.session.budget.settled.get((self.place, name, self.first.get(name)))
            if known is not None:
                self.kinds[name], *sets = known
                for names, is_in in zip(self._names_by_type(), sets, strict=True):
                    names |= {name} if is_in else set()

    def _is_plain_at_first(self, name: str) -> bool:
        """Whether a name is a number before the loop, or a tuple of such, or None, or nothing."""
        return name not in self.first or ranges_of(self.first[name]) is not None

    def _names_by_type(self) -> tuple[set[str], ...]:
        numbers = self.numbers
        return numbers.python_left, numbers.mixed, numbers.untold, numbers.tagged, self.conditional

    def remember(self, ctx: Context) -> None:
        """Notes what numbers, and tuples of them or None, have become, for `_begin_as_settled`."""
        for name, kind in self.kinds.items():
            first, ranges = self.first.get(name), ranges_of(kind)
            if ranges is None or not self._is_plain_at_first(name) or name in self.outside.never:
                continue
            known = () if first is None else ranges_of(first) or ()
            # another range may speak of names that go when a loop around begins anew
            if all(low_high in known or all(_is_of_arguments(ctx, e) for e in low_high) for low_high in ranges):
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
            contents = contents_of(self, owner, token, kind)
            owner.ctx.heap.contents[token] = self.contents.objects[token] = contents
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
            slot = self.slots[name] = slot_of(self, owner, name, kind, value)
            self._note_site(owner.ctx, name, slot)
            owner.env[name] = slot
            if value is not None and stands_in_list(value, owner.ctx.heap.handed, owner.ctx.aliasing.appended):
                handing.must_keep(owner.ctx, slot)
            if initial is None and self.runs is None and " " not in name:
                self.conditional.add(name)
            if name in self.conditional:
                flag = self.flags[name] = owner.ctx.names.variable(f"{name} is set", "bool")
                owner.ctx.emit(n.Assign(flag.name, bound or b.FALSE))
                owner.env[name] = Maybe(slot, flag, unknown=_unknown(name, self.before.get(name)))
            elif initial is None and " " not in name:
                owner.env[name] = Maybe(slot, None, lambda name=name: self.needs_flag(name))  # type: ignore[misc]
        owner.env.update(self.differing)
        self._note_copied_items(owner.ctx)
        for name, slot in self.slots.items():
            if name in self.outside.shown:
                made_anew = self._made_anew(owner.ctx.heap.contents, name)
                self.note_copies(owner.ctx, name, slot, self.outside.shown[name] - made_anew)

    def _note_site(self, ctx: Context, name: str, slot: Value) -> None:
        """What a loop first makes, and then changes, is known by where it is made: there it may begin anew."""
        inner = slot.value if isinstance(slot, OrNone) else slot
        if not isinstance(inner, Object) or inner.token in self.contents.begun_as:
            return
        if name in self.contents.made_at and inner.token in self.contents.fresh:
            ctx.heap.sites[inner.token] = self.contents.made_at[name]

    def _made_anew(self, heap: Mapping[int, Value], name: str) -> set[str]:
        """The arrays that iterations leave under a name and under no other: the next iteration makes them anew, before
        it could store into them."""
        others = set[str]().union(*(shown for other, shown in self.outside.shown.items() if other != name))
        carried = (v for slot in self.slots.values() for v in reached(heap, slot) if isinstance(v, Array))
        return self.outside.shown[name] - others - self.known - {v.base for v in carried}

    def note_copies(self, ctx: Context, name: str, slot: Value, shown: set[str]) -> None:
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
                shown = self.outside.shown[ITEM] - self._made_anew(ctx.heap.contents, ITEM)
                self.note_copies(ctx, ITEM, contents, shown)

    def is_made_inside(self, value: GrowingList) -> bool:
        """Whether the loop makes a list: after an iteration its memory is gone."""
        return value.buffer not in self.known

    def needs_flag(self, name: str) -> None:
        """It matters at run time whether `name` is bound: the loop is translated again, with a flag for it."""
        if name not in self.conditional and " " not in name:
            self.conditional.add(name)
            self.widened = True

    def needs_split(self, name: str) -> None:
        """It matters in an iteration which type a number has: the loop is translated again, and tells it."""
        if name not in self.numbers.mixed:
            self.numbers.mixed.add(name)
            self.widened = True

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
        end_iteration(self, owner)

    def leave(self, owner: Loops, is_break: bool) -> None:
        if self.turns is not None:
            now = self.turns.where_left(owner.env, owner.ctx.heap.contents)
            if now and self.turns.items:
                raise OtherTurns(None)
            if now and self.turns.turn is not None:
                owner.ctx.emit(n.Assign(self.turns.turn.name, b.index(now)))
        end_iteration(self, owner, leaving=is_break)
        owner.ctx.emit(n.Break() if is_break else n.Continue())

    def _settled(self, slot: Value, before: Value | None) -> Value:
        """A slot after the loop, where it is known better than in it which types its numbers may have."""
        if isinstance(before, Maybe):
            before = before.value
        if isinstance(slot, Scalar) and isinstance(slot.expr, Var) and slot.doubt is not None:
            left = tuple(sorted(self.numbers.left.get(slot.expr.name, ())))
            if not left or self.runs is None:
                return slot
            if slot.doubt.split is not None:
                return replace(slot, doubt=replace(slot.doubt, sure=left, runs=self.runs))
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

    def _stays_known(self, name: str) -> bool:
        """Whether a name that stands for something known before the loop does so at the ends of all iterations."""
        changes = name in self.outside.rebound or name not in self.outside.kept
        return not changes and isinstance(self.before.get(name), Static)

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
            if name not in self.slots and name not in self.before and self.is_live(name):
                if name in self.differing:
                    env[name] = self.differing[name]
                continue  # no iteration binds it, as far as the arguments are known
            if self._stays_known(name):
                continue
            if name not in self.slots:
                env[name] = Unbound(f"`{name}` is only set inside the loop")
                continue
            before = self.before.get(name)
            if name in self.outside.shown:
                self.note_copies(owner.ctx, name, self.slots[name], self._made_anew(owner.ctx.heap.contents, name))
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
