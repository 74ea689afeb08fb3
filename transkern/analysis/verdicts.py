"""What may be done with one loop: the questions of dependence and of scalars put together."""

from __future__ import annotations

import operator
from collections import Counter, defaultdict, deque
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property

from transkern.analysis.accesses import Level
from transkern.analysis.affine import Question
from transkern.analysis.dependence import Carried, Meeting, Surroundings
from transkern.analysis.everywhere import Everywhere, behind_masked, facts_about, visited_by
from transkern.analysis.scalars import Running, Scalars, certain, exposed, scalars_of
from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Expr, Var
from transkern.ir.facts import conjuncts
from transkern.ir.names import Names
from transkern.ir.traverse import (
    bodies,
    buffers_allocated,
    buffers_read,
    buffers_written,
    known_of,
    once_a_statement,
    own_parts,
    scalars_set,
    variables_read,
    walk,
)
from transkern.records import replace


@dataclass(slots=True)
class Verdict:
    """What holds for the iterations of `loop`, where it stands.

    `meeting` is a conflict between two iterations, `leaves` says that an iteration may end the loop, `raises` that it
    may raise an error. `last` are variables that every iteration sets and whose last value is read after the loop,
    `observed` those that not every iteration sets.
    """

    loop: n.Loop
    carried: Carried
    scalars: Scalars
    leaves: bool
    raises: bool
    observed: frozenset[str]
    last: frozenset[str]
    meeting: Meeting | None = field(default=None)
    fastmath: bool = False

    @property
    def independent(self) -> bool:
        """Whether iterations hand nothing to each other, reductions aside."""
        return (
            self.meeting is None and not self.leaves and not self.scalars.carried and not self.observed
        )

    @property
    def parallel(self) -> bool:
        return self.independent and not self.scalars.running and not self.last

    @property
    def parallel_but_last(self) -> bool:
        """Whether all that keeps the loop in order is that the last iteration's variables are read after it."""
        return self.independent and not self.scalars.running and bool(self.last) and b.constant(self.loop.step) == 1

    @property
    def by_memory_alone(self) -> bool:
        """Whether iterations hand nothing to each other in scalars, and none ends the loop."""
        s = self.scalars
        return not (self.leaves or self.observed or self.last or s.carried or s.running)

    def _acts_beside_extremes(self) -> bool:
        """Whether more is done than to set scalars where a running maximum or minimum changes: which of the iterations
        do that, a reduction does not know."""
        names = {r.name for r in self.scalars.running}
        changing = (s for s in walk(self.loop.body) if isinstance(s, n.If) and variables_read(s.condition) & names)
        return any(not isinstance(x, (n.Let, n.Assign)) for s in changing for x in s.then)

    @property
    def reducible(self) -> tuple[Running, ...] | None:
        """The scalars that run over the loop, where each may be combined in any order without a trace."""
        if not self.independent or not self.scalars.running or self.last or self._acts_beside_extremes():
            return None
        if all(exact(r) or (self.fastmath and r.op in ("sum", "prod")) for r in self.scalars.running):
            return self.scalars.running
        return None


def exact(running: Running) -> bool:
    """Whether the order of combining cannot be seen in the result."""
    dtype = running.node.value.dtype
    if running.op in ("any", "all"):
        return dtype == "bool"
    return running.op in ("sum", "prod", "max", "min") and (
        dtype == "index" or dtype.startswith(("int", "uint"))
    )


def judge(
    program: n.Program, loop: n.Loop, around: Surroundings, read_elsewhere: frozenset[str],
) -> Verdict:
    """The verdict on `loop`; `read_elsewhere` are the scalars that are read outside it, of those that it sets."""
    carried = Carried(program.buffers, loop, around)
    scalars = scalars_of(loop.body)
    bound = {s.name for s in walk(loop.body) if isinstance(s, (n.Let, n.Accumulator))}
    seen = frozenset((scalars.private - bound) & read_elsewhere)
    last = frozenset(name for name in seen if certain(loop.body, name))
    inner = list(walk(loop.body))
    verdict = Verdict(
        loop, carried, scalars, leaves(loop.body), any(isinstance(s, n.Guard) for s in inner), seen - last, last,
        fastmath=program.fastmath,
    )  # fmt: skip
    verdict.meeting = next(carried.meetings(), None)
    return verdict


def leaves(body: Sequence[n.Stmt]) -> bool:
    """Whether an iteration may end the loop (or the function)."""
    for s in body:
        if isinstance(s, n.Break):
            return True
        if any(isinstance(x, (n.Return, n.Library)) for x in walk((s,))):
            return True
        if isinstance(s, n.If) and (leaves(s.then) or leaves(s.orelse)):
            return True
    return False


def reads_of(block: Iterable[n.Stmt]) -> Counter[str]:
    """How often statements read each scalar."""
    return Counter(name for s in walk(block) for name in _own_reads(s))


@once_a_statement
def _own_reads(s: n.Stmt) -> tuple[str, ...]:
    """The scalars that a statement reads, without those inside it: each as often as it does."""
    own = [e.name for e in own_parts(s) if isinstance(e, Var)]
    if isinstance(s, n.Accumulate):
        own.append(s.name)
    if isinstance(s, (n.Compact, n.Filter)) and s.append:
        own.append(s.count)
    return tuple(own)


def own_variables(loop: n.Loop, variables: Collection[str], reads: Mapping[str, int]) -> set[str]:
    """The `variables` that nothing but the loop reads, and that it does not read before it sets them: a copy of it may
    have others. `reads` are those of the whole program."""
    inner = reads_of((loop,))
    names = scalars_set(loop).intersection(variables)
    return {name for name in names if reads[name] == inner[name] and not exposed((loop,), name)}


@dataclass(frozen=True, slots=True)
class _Begun:
    """A question, and what it was made of: levels, facts, lets, and the names that these facts and levels mention."""

    levels: tuple[Level, ...]
    facts: tuple[Expr, ...]
    lets: Mapping[str, Expr]
    mentioned: Set[str]
    question: Question

    def fits(self, levels: Sequence[Level], facts: Sequence[Expr], lets: Mapping[str, Expr]) -> bool:
        """Whether the question at another place is this one, and facts more."""
        if len(levels) != len(self.levels) or len(facts) < len(self.facts):
            return False
        if not (all(map(operator.is_, levels, self.levels)) and all(map(operator.is_, self.facts, facts))):
            return False
        return all(lets.get(name) is self.lets.get(name) for name in self.mentioned)


@dataclass(slots=True)
class _Known:
    """What is known at a place: the loops, facts and lets that it is known from, and the answers to what was asked."""

    place: list[object]
    question: Question
    answers: dict[Expr, bool] = field(default_factory=dict)


_RECENT = 16
"""Questions that are kept: places behind each other, and those behind a block, know much the same."""

_BEHIND = 2
"""Elements that say where elements are: `x[order[k[i]]]`, and no end where `k` says that of its own."""


class Walk:
    """Goes through a program with what holds at each place: loops around, facts from conditions, checks and lets."""

    loops_only = False
    """Whether `statement` does nothing but to loops: blocks without one are not gone through."""

    def __init__(self, program: n.Program) -> None:
        self.program = program
        self.levels: list[Level] = []
        self.facts: list[Expr] = list(program.assumptions)
        self._mentioned: dict[int, tuple[Expr, frozenset[str]]] = {}  # by id, which stays while it is here
        self._readers: defaultdict[str, set[str]] = defaultdict(set)  # by name: the lets that have ever mentioned it
        self.lets = {}
        self.everywhere: list[Everywhere] = []  # what is known of all elements of arrays
        self._left: list[Everywhere] = []  # what the last block has found
        self._chosen: tuple[n.Stmt | None, list[Everywhere]] = None, []  # what the branches of a choice leave behind
        self._known: _Known | None = None
        self._begun: deque[_Begun] = deque(maxlen=_RECENT)

    @property
    def lets(self) -> dict[str, Expr]:
        """What names stand for. (`_let` adds to it.)"""
        return self._lets

    @lets.setter
    def lets(self, lets: dict[str, Expr]) -> None:
        self._lets: dict[str, Expr] = {}
        for name, value in lets.items():
            self._let(name, value)

    def _let(self, name: str, value: Expr) -> None:
        self._lets[name] = value
        for mentioned in self._note(value)[1]:
            self._readers[mentioned].add(name)

    @cached_property
    def reads(self) -> Counter[str]:
        """How often the program reads each scalar."""
        return reads_of(self.program.body)

    def judged(self, loop: n.Loop, facts: Sequence[Expr] = ()) -> Verdict:
        """The verdict on a loop that stands here, where `facts` hold too."""
        inner, read = reads_of(loop.body), self.reads
        elsewhere = frozenset(name for s in loop.body for name in scalars_set(s) if read[name] > inner[name])
        around = self.surroundings()
        place = replace(around, facts=(*around.facts, *facts)), elsewhere, dict(self.program.buffers)
        known, asked = known_of(loop), (judge, len(facts))
        rests_on, verdict = known.get(asked, (None, None))
        assert verdict is None or isinstance(verdict, Verdict)
        if verdict is None or rests_on != place:  # else passes before left all that it rests on as it was
            verdict = judge(self.program, loop, *place[:2])
            known[asked] = place, verdict
        return verdict

    def surroundings(self) -> Surroundings:
        return Surroundings(tuple(self.levels), tuple(self.facts), dict(self.lets))

    def block(self, statements: Sequence[n.Stmt]) -> tuple[n.Stmt, ...]:
        """The statements, each as `statement` makes it."""
        if self.passes_by(statements):
            self._left = []
            return _or_the_same(statements, statements)
        saved = self._saved()  # not `scope`: there are many blocks
        out = self.through(statements)
        if self.everywhere:
            same = set(map(id, saved[2]))  # nearly all are: to compare each with each takes most of a pass' time
            self._left = [u for u in self.everywhere if id(u) not in same and u not in saved[2]]
        else:
            self._left = []
        self.facts, self._lets, self.everywhere = saved
        return _or_the_same(out, statements)

    def passes_by(self, statements: Sequence[n.Stmt]) -> bool:
        """Whether the statements stay as they are, and leave nothing behind that is known of all elements of arrays."""
        return self.loops_only and not self.everywhere and not any(map(_has_loop, statements))

    def through(self, statements: Sequence[n.Stmt]) -> list[n.Stmt]:
        """The statements, each as `statement` makes it; what holds behind them is known then."""
        out: list[n.Stmt] = []
        for s in statements:
            out.extend(self.statement(s))
            self.learn(s)
        return out

    @contextmanager
    def scope(self) -> Iterator[None]:
        """Behind it nothing more is known than before, and nothing less."""
        saved = self._saved()
        yield
        self.facts, self._lets, self.everywhere = saved

    def _saved(self) -> tuple[list[Expr], dict[str, Expr], list[Everywhere]]:
        """What is known, of which copies go on."""
        saved = self.facts, self._lets, self.everywhere
        self.facts, self._lets, self.everywhere = list(self.facts), dict(self._lets), list(self.everywhere)
        return saved

    def learn(self, s: n.Stmt) -> None:
        """What holds after `s`."""
        if isinstance(s, n.Let):
            self._let(s.name, s.value)
        elif isinstance(s, n.Guard):
            self.facts += conjuncts(s.condition)
        else:
            chosen = self._chosen[1] if self._chosen[0] is s else []
            kept = behind_masked(s, self.everywhere, self.holds) if isinstance(s, n.Loop) else []
            self.forget([s])
            if isinstance(s, n.Loop):
                self.facts += self.found_by(s)
                self.everywhere += [*visited_by(s), *kept]
            elif isinstance(s, n.Assign) and isinstance(s.value, Var):
                self.everywhere += [u.called(s.value.name, Var(s.name, s.value.dtype)) for u in self.everywhere
                                    if s.value.name in u.names]  # fmt: skip
            self.everywhere += chosen

    def found_by(self, loop: n.Loop) -> list[Expr]:
        """What is known of the positions that a loop has just searched for: it has visited them."""
        out: list[Expr] = []
        for s in loop.body:
            if isinstance(s, n.Accumulate) and s.position == Var(loop.axis, "index") and loop.step == b.ONE:
                found = Var(s.name, "index")
                inside = [b.compare("greater_equal", found, loop.start), b.compare("less", found, loop.stop)]
                if s.op in ("argmax", "argmin") and self.holds(b.compare("less", loop.start, loop.stop)):
                    out += inside
                elif s.op in ("first", "last"):
                    out += [b.either(b.compare("less", found, b.ZERO), part) for part in inside]
        return out

    def forget(self, statements: Sequence[n.Stmt]) -> None:
        """Without what the statements may change."""
        if self.everywhere:
            new = {name for s in statements for name in buffers_allocated(s)}
            self.everywhere = [u for u in self.everywhere if u.names.isdisjoint(new)]
        changed = _changed(statements)
        if not changed:
            return
        known, note = self._mentioned.get, self._note
        self.facts = [f for f in self.facts if (known(id(f)) or note(f))[1].isdisjoint(changed)]
        self.everywhere = [u for u in self.everywhere if u.names.isdisjoint(changed)]
        lets, readers = self._lets, self._readers
        told = changed.union(*(readers[name] for name in changed if name in readers)) & lets.keys()
        gone = {k for k in told if k in changed or not note(lets[k])[1].isdisjoint(changed)}
        if gone:
            self._lets = {k: v for k, v in lets.items() if k not in gone}

    def _note(self, e: Expr) -> tuple[Expr, frozenset[str]]:
        known = self._mentioned.get(id(e))
        if known is None:
            known = self._mentioned[id(e)] = e, variables_read(e) | buffers_read(e)
        return known

    def statement(self, s: n.Stmt) -> list[n.Stmt]:
        return [self.inside(s)]

    def holds(self, condition: Expr, behind: int = 0) -> bool:
        """Whether `condition` holds here, whatever the sizes; asked for the sake of so many questions `behind` it."""
        known = self._known
        place: list[object] = [*self.levels, *self.facts, *self.lets.values(), *self.everywhere]
        if known is None or len(place) != len(known.place) or any(map(operator.is_not, place, known.place)):
            known = self._known = _Known(place, self.question())
        if condition in known.answers:
            return known.answers[condition]
        q = known.question.copy()
        if self.everywhere and behind < _BEHIND:
            for fact in facts_about(
                condition, self.everywhere, self.lets, self.facts, lambda visited: self.holds(visited, behind + 1)
            ):
                q.suppose(fact)
        fails = q.condition(b.logical_not(condition), {}, "0")
        if fails:
            q.nonnegative_sizes()
        answer = bool(fails) and not q.possible(*fails)
        if answer or not behind:
            known.answers[condition] = answer
        return answer

    def question(self) -> Question:
        """What is known here."""
        fitting = [one for one in self._begun if one.fits(self.levels, self.facts, self.lets)]
        if fitting:
            longest = max(fitting, key=lambda one: len(one.facts))
            q, supposed, mentioned = longest.question.copy(), len(longest.facts), set(longest.mentioned)
            q.lets = dict(self.lets)
        else:
            q, supposed, mentioned = Question(self.program.buffers, set(), set(), dict(self.lets)), 0, set[str]()
            for level in self.levels:
                q.inside(level, {level.axis: q.linear(Var(level.axis), {}, "0")}, "0")
                mentioned |= {level.axis} | self._names((level.start, level.stop))
        for fact in self.facts[supposed:]:
            q.suppose(fact)
        mentioned |= self._names(self.facts[supposed:])
        self._begun.append(_Begun(tuple(self.levels), tuple(self.facts), dict(self.lets), mentioned, q.copy()))
        return q

    def _names(self, those: Iterable[Expr]) -> set[str]:
        """What expressions mention, and the lets that they read, and so on."""
        found, left = set[str](), list(those)
        while left:
            new = self._note(left.pop())[1] - found
            found |= new
            left += [self.lets[name] for name in new if name in self.lets]
        return found

    def _left_by(self, branch: Sequence[n.Stmt], otherwise: Expr) -> list[Everywhere]:
        """What a branch that was just gone through leaves behind, where it was taken."""
        changed = _changed(branch)
        if not self._left or (variables_read(otherwise) | buffers_read(otherwise)) & changed:
            return []
        return [u.unless(otherwise) for u in self._left]

    def inside(self, s: n.Stmt) -> n.Stmt:
        """`s` with the statements inside it gone through."""
        match s:
            case n.Loop(axis, start, stop, step, _, body):
                with self.scope():
                    self.forget(body)
                    self.levels.append(Level(axis, start, stop, b.constant(step) or 1))
                    made = self.block(body)
                    self.levels.pop()
                return s if made is body else replace(s, body=made)
            case n.If(condition, then, orelse):
                saved_facts = self.facts
                self.facts = saved_facts + conjuncts(condition)
                holds = self.block(then)
                left = self._left_by(then, b.logical_not(condition))
                self.facts = [*saved_facts, b.logical_not(condition)]
                fails = self.block(orelse)
                self._chosen = s, [*left, *self._left_by(orelse, condition)]
                self.facts = saved_facts
                return s if holds is then and fails is orelse else replace(s, then=holds, orelse=fails)
            case n.While(head, condition, body):
                with self.scope():
                    self.forget([s])
                    first = _or_the_same(self.through(head), head)
                    self.facts = [*self.facts, *conjuncts(condition)]
                    again = self.block(body)
                return s if first is head and again is body else replace(s, head=first, body=again)
            case _:
                return s


class MakingWalk(Walk):
    """One that makes names, variables and arrays on its way; what is judged sees the arrays."""

    def __init__(self, program: n.Program) -> None:
        self.buffers = dict(program.buffers)
        super().__init__(replace(program, buffers=self.buffers))
        self.names, self.variables = Names.of(program), dict(program.variables)


def _changed(statements: Sequence[n.Stmt]) -> frozenset[str]:
    """What statements may change; most often it is one."""
    if len(statements) == 1:
        return _changed_by(statements[0])
    return frozenset(name for s in statements for name in _changed_by(s))


@once_a_statement
def _has_loop(s: n.Stmt) -> bool:
    """Whether a statement is a loop of any kind, or there is one in its branches."""
    return any(map(_has_loop, (*s.then, *s.orelse))) if isinstance(s, n.If) else next(bodies(s), None) is not None


@once_a_statement
def _changed_by(s: n.Stmt) -> frozenset[str]:
    """The scalars and buffers that a statement, or one inside it, may give other values."""
    return scalars_set(s) | buffers_written(s)


def _or_the_same(made: Sequence[n.Stmt], given: Sequence[n.Stmt]) -> tuple[n.Stmt, ...]:
    """What was made of statements; the given ones where they are the very same: what is known of them stays known."""
    if isinstance(given, tuple) and len(made) == len(given) and all(map(operator.is_, made, given)):
        return given
    return tuple(made)
