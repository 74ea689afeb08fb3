"""The class of every loop that the user wrote, and why: what `explain` prints and what tools can ask for."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from transkern.analysis.accesses import Access
from transkern.analysis.deciding import deciding_facts
from transkern.analysis.dependence import Carried, Meeting, kind_of
from transkern.analysis.lanes import lanes_apart
from transkern.analysis.reports.kinds import is_scan, is_wavefront, reduces_elements
from transkern.analysis.scalars import beside_extreme, idempotent
from transkern.analysis.splitting import splitting_point
from transkern.analysis.verdicts import Verdict, Walk
from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Apply, Expr, Load, Var
from transkern.ir.names import printed
from transkern.ir.printer import text
from transkern.ir.traverse import walk
from transkern.parsing import all_nodes, parse


@dataclass(frozen=True, slots=True)
class Conflict:
    """Two iterations of a loop that may not change places, with an example.

    `first_line` runs in an earlier iteration than `second_line`; `first_access` and `second_access` say what they do
    (``writes u[t]``, ``reads u[t - 1]``). With `sizes` (sizes, integer arguments and variables of the loops around),
    the iterations in which the loop's variable is `first` and `second` both touch `element` of `array`. `sizes` is None
    where no example is known, only that nothing proves there is none. `distance` is how many iterations lie between,
    where that is always the same number.
    """

    array: str
    kind: str  # "flow" | "anti" | "output"
    first_line: int
    second_line: int
    first_access: str
    second_access: str
    distance: tuple[int, ...] | None = None
    sizes: Mapping[str, int] | None = None
    first: int = 0
    second: int = 0
    element: tuple[int, ...] | None = None


@dataclass(frozen=True, slots=True)
class LoopReport:
    """What is known of the loop at `line`, over `variable`.

    `kind`: ``parallel``, ``reduction``, ``scan``, ``per-lane``, ``wavefront``, ``sequential with parallel body`` or
    ``sequential``. `conflict` is what forbids the iterations to change places; `notes` say what was privatised, where
    it may raise, and the like.
    """

    line: int
    variable: str
    kind: str
    conflict: Conflict | None = None
    notes: tuple[str, ...] = ()

    def __str__(self) -> str:
        head = f"line {self.line}: {self.kind} over {self.variable}"
        c = self.conflict
        if c is not None:
            head += f": line {c.first_line} {c.first_access}, line {c.second_line} {c.second_access}"
            if c.sizes is None:
                head += " (not proven apart)"
            else:
                parts = [f"distance {c.distance[0]}"] if c.distance else []
                at = ", ".join(f"{k} = {v}" for k, v in c.sizes.items())
                v = self.variable.split(",")[0].strip("( ")
                does, did = _VERBS[c.kind]
                parts.append((f"for {at}: " if at else "") + f"{v} = {c.second} {does} {v} = {c.first} {did}")
                head += f" ({'; '.join(parts)})"
        for note in self.notes:
            head += f"\n    {note}"
        return head


_VERBS = {"flow": ("reads what", "wrote"), "anti": ("writes what", "read"), "output": ("writes what", "wrote")}


def reports(program: n.Program) -> tuple[LoopReport, ...]:
    """The loops that the user wrote in a program as it is before `parallelise`, in the order of the source."""
    walker = _Reporting(program)
    walker.block(program.body)
    unique = {(r.line, r.variable): r for r in reversed(walker.found)}
    return tuple(sorted(unique.values(), key=lambda r: r.line))


class _Reporting(Walk):
    def __init__(self, program: n.Program) -> None:
        super().__init__(program)
        self.found: list[LoopReport] = []
        self.tree = _parsed(program.source)
        self.targets: dict[int, str] = {}
        self.assigned: dict[int, list[ast.Assign]] = {}
        for x in all_nodes(self.tree):
            if isinstance(x, ast.For):
                self.targets[x.lineno] = ast.unparse(x.target)
            elif isinstance(x, ast.Assign):
                self.assigned.setdefault(x.lineno, []).append(x)
        self.names: dict[str, str] = {}

    def statement(self, s: n.Stmt) -> list[n.Stmt]:
        if not isinstance(s, n.Loop):
            return [self.inside(s)]
        users = s.kind == "sequential"
        if users:
            verdict = self.judged(s)
            self.names[s.axis] = self.users_name(s)
            position = len(self.found)
        made = self.inside(s)
        if users:
            self.found.insert(position, self.report(verdict, self.found[position:]))
        return [made]

    def users_name(self, loop: n.Loop) -> str:
        """What the user calls the loop's variable."""
        return self.targets.get(loop.span.line, loop.axis) if self.program.is_own(loop.span) else loop.axis

    def report(self, verdict: Verdict, inside: Sequence[LoopReport]) -> LoopReport:
        loop = verdict.loop
        variable = self.users_name(loop)
        notes: list[str] = []
        private = sorted(
            name for name in verdict.scalars.private & set(self.program.variables)
        )
        if private and verdict.independent:
            notes.append(f"{', '.join(_plain(p) for p in private)}: each iteration has its own")
        if verdict.raises:
            where = sorted({s.span.line for s in walk(loop.body) if isinstance(s, n.Guard)})
            how = "checked before it runs" if verdict.parallel else "runs in order"
            notes.append(f"{how}: an iteration may raise an error in " + ", ".join(f"line {k}" for k in where))
        if verdict.last and verdict.independent:
            names = ", ".join(_plain(x) for x in sorted(verdict.last))
            notes.append(f"the last iteration is taken out: {names} is read after the loop")
        if verdict.independent:
            kind = "reduction" if verdict.scalars.running else "parallel"
            if verdict.scalars.running and verdict.reducible is None:
                notes.append("runs in order: the order of floating-point operations shows in the result")
            return LoopReport(loop.span.line, variable, kind, None, tuple(notes))
        conflict = self.conflict(verdict)
        if verdict.leaves:
            notes.append("an iteration may end the loop")
        point = splitting_point(verdict) if b.constant(loop.step) == 1 else None
        if point is not None:
            notes.append(f"parallel but for the iteration {variable} = {self.shown(point, {})}, which is taken out")
        facts = deciding_facts(verdict)
        if facts and self.judged(loop, facts).parallel:
            tests = [self.shown(f, {}) for f in facts]
            told = " and ".join(f"({t})" if " or " in t and len(tests) > 1 else t for t in tests)
            notes.append(f"parallel where {told}: tested before it runs")
        kind = "sequential with parallel body" if point is not None else self.kind(verdict, inside)
        return LoopReport(loop.span.line, variable, kind, conflict, tuple(notes))

    def kind(self, verdict: Verdict, inside: Sequence[LoopReport]) -> str:
        loop = verdict.loop
        parallel = any(isinstance(s, n.Loop) and s.kind == "parallel" for s in walk(loop.body)) or any(
            r.kind not in ("sequential", "scan", "reduction") for r in inside
        )
        body = loop.body
        if verdict.meeting is None and not verdict.leaves and not verdict.scalars.carried and not verdict.last:
            extremes = [r.name for r in verdict.scalars.running]
            if all(idempotent(body, v) or beside_extreme(body, v, extremes) for v in verdict.observed):
                return "reduction"
        if not verdict.leaves and not verdict.observed and not verdict.last:
            if reduces_elements(verdict):
                return "reduction"
            if not any(isinstance(s, (n.Loop, n.While, n.Compact)) for s in walk(loop.body)) and is_scan(verdict):
                return "scan"
            if not verdict.scalars.carried:
                if lanes_apart(self.program, verdict):
                    return "per-lane"
                if is_wavefront(verdict, inside[0].kind if inside else ""):
                    return "wavefront"
        if parallel:
            return "sequential with parallel body"
        return "sequential"

    # --- conflicts

    def conflict(self, verdict: Verdict) -> Conflict | None:
        """The example to show: a value that one iteration hands to another, where there is one."""
        scalars = frozenset(verdict.scalars.carried)
        if not verdict.leaves:  # what an iteration that leaves the loop sets, no later one meets
            scalars |= verdict.observed | verdict.last | {r.name for r in verdict.scalars.running}
        carried = verdict.carried
        if scalars:
            carried = Carried(self.program.buffers, verdict.loop, carried.around, scalars)
        m = self.handed_on(carried) or _shown(carried)
        if m is None:
            return None
        if m.first.buffer in scalars:
            return self.of_variable(verdict, m)
        m = _of_the_users_iterations(m, verdict.loop)
        return Conflict(
            self.array(m.first.buffer), m.kind, m.first.span.line,
            m.second.span.line, self.says(m.first, scalars, carried), self.says(m.second, scalars, carried),
            None if m.distance is None else (m.distance,),
            None if m.values is None or verdict.leaves else self.sizes(m.values), m.ran, m.later,
            m.element,
        )  # fmt: skip

    def handed_on(self, carried: Carried) -> Meeting | None:
        """An example of an array that an iteration writes under one name, and the next one reads under another."""
        names = self.renamed(carried.loop)
        if not names:
            return None
        users = [a for a in carried.body.accesses if not self.renames(a.span.line)]
        for second in users:
            for first in users:
                if first.write and not second.write and names.get(second.buffer) == first.buffer:
                    meeting = carried.example(first, second, next_=True)
                    if meeting is not None and meeting.values is not None:
                        return meeting
        return None

    def renamed(self, loop: n.Loop) -> dict[str, str]:
        """Arrays that are others' memory in the next iteration, as in ``u, v = v, u``: what they were called before."""
        held: dict[str, str] = {}
        for s in loop.body:
            copied = _copied(s) if self.renames(s.span.line) else None
            if copied is not None:
                held[copied[0]] = held.get(copied[1], copied[1])
        return held

    def renames(self, line: int) -> bool:
        """Whether all that a line does is to give names to what has names."""

        def named(x: ast.expr) -> bool:
            return all(map(named, x.elts)) if isinstance(x, ast.Tuple) else isinstance(x, ast.Name)

        found = self.assigned.get(line, [])
        return bool(found) and all(named(x) for a in found for x in (*a.targets, a.value))

    def of_variable(self, verdict: Verdict, m: Meeting) -> Conflict:
        """The example of a variable, at the lines where the user sets and uses it: the program sets it once, at the end
        of a branch or of an iteration."""
        name = _plain(m.first.buffer)
        sets, uses = _lines(self.tree, verdict.loop.span.line, name)
        kind = m.kind if uses or not sets else "output"  # only its last value is of use, after the loop
        writes = (kind != "anti", kind != "flow")
        lines = []
        for access, write in zip((m.first, m.second), writes, strict=True):
            known = sets if write else uses
            line = access.span.line
            lines.append(line if line in known or not known else max(known) if write else min(known))
        says = [f"{'writes' if write else 'reads'} {name}" for write in writes]
        open_ = m.values is None or verdict.leaves or not _is_set(self.tree, verdict.loop.span.line, name)
        sizes = None if open_ else self.sizes(m.values or {})
        distance = None if m.distance is None else (m.distance,)
        return Conflict(
            name, kind, lines[0], lines[1], says[0], says[1], distance, sizes, m.ran, m.later, m.element
        )  # fmt: skip

    def sizes(self, values: Mapping[str, int]) -> dict[str, int]:
        return {self.names.get(k, printed(k)): v for k, v in values.items()}

    def says(self, access: Access, scalars: frozenset[str], carried: Carried) -> str:
        verb = "writes" if access.write else "reads"
        if access.buffer in scalars:
            return f"{verb} {_plain(access.buffer)}"
        name = self.array(access.buffer)
        if access.index is None:
            return f"{verb} {name}"
        lets = {**carried.around.lets, **carried.body.lets}
        info = self.program.buffers.get(access.buffer)
        if info is not None and len(access.index) < len(info.dims):
            name += ".flat"  # a view of another shape
        return f"{verb} {name}[{', '.join(self.shown(i, lets) for i in access.index)}]"

    def array(self, buffer: str) -> str:
        """An array as the user calls it: one that a call made has the name of what it is assigned to."""
        info = self.program.buffers.get(buffer)
        if info is None or info.role == "argument":
            return buffer
        made = self.assigned.get(info.line, [])
        names = [t.id for x in made for t in x.targets if isinstance(t, ast.Name)]
        if len(made) == len(names) == 1:
            return names[0]
        beside = [k for k, other in self.program.buffers.items() if other.line == info.line]
        match made:
            case [ast.Assign([ast.Tuple(targets)], ast.Tuple(values))] if len(values) == len(targets) == len(beside):
                target = targets[beside.index(buffer)]
                return target.id if isinstance(target, ast.Name) else buffer
            case _:
                return buffer

    def shown(self, index: Expr, lets: Mapping[str, Expr]) -> str:
        """A subscript as the user wrote it, or nearly."""

        def show(e: Expr) -> Expr | None:
            match e:
                case Var(name) if name in self.names:
                    return Var(self.names[name], e.dtype)
                case Var(name) if name in lets:
                    return b.map_expr(lets[name], show)
                case Var(name):
                    return Var(_plain(printed(name)), e.dtype)
                case Apply("cast", (x,), _):
                    return b.map_expr(x, show)
                case Apply("where", (Apply("less", (x, y), _), _, z), "index") if x == z and b.constant(y) == 0:
                    return b.map_expr(x, show)  # a subscript that counts from the end where it is negative
                case _:
                    return None

        found = text(b.map_expr(index, show))
        return found[1:-1] if found.startswith("(") and found.endswith(")") and _balanced(found[1:-1]) else found


def _balanced(inner: str) -> bool:
    depth = 0
    for c in inner:
        depth += (c == "(") - (c == ")")
        if depth < 0:
            return False
    return True


def _plain(name: str) -> str:
    """A variable as the user calls it: ``s`` of ``s_2``."""
    base, _, number = name.rpartition("_")
    return base if base and number.isdigit() else name


def _parsed(source: Sequence[str]) -> ast.Module:
    try:
        return parse("\n".join(source))
    except SyntaxError:
        return ast.Module([], [])


def _lines(tree: ast.Module, loop: int, name: str) -> tuple[list[int], list[int]]:
    """Where the loop at a line sets the variable `name`, and where it uses it."""
    sets: list[int] = []
    uses: list[int] = []
    for at in (x for x in all_nodes(tree) if isinstance(x, (ast.For, ast.While)) and x.lineno == loop):
        for x in (y for s in at.body for y in all_nodes(s)):
            if isinstance(x, ast.Name) and x.id == name:
                (uses if isinstance(x.ctx, ast.Load) else sets).append(x.lineno)
            if isinstance(x, ast.AugAssign) and isinstance(x.target, ast.Name) and x.target.id == name:
                uses.append(x.lineno)
    return sets, uses


def _is_set(tree: ast.Module, loop: int, name: str) -> bool:
    """Whether no position decides if an iteration of the loop at a line sets `name`: at most data do."""

    def names(x: ast.AST, stored: bool) -> set[str]:
        return {y.id for y in all_nodes(x) if isinstance(y, ast.Name) and isinstance(y.ctx, ast.Store) == stored}

    def positions(at: ast.For) -> set[str]:
        over = isinstance(at.iter, ast.Call) and isinstance(at.iter.func, ast.Name) and at.iter.func.id == "range"
        return names(at.target, True) if over else set()

    def certain(statements: Sequence[ast.stmt], around: set[str], moving: set[str]) -> bool:
        for s in (s for s in statements if name in names(s, True)):
            match s:
                case ast.If(test, then, orelse):
                    data = names(test, False) & moving - around
                    data |= {"[]" for x in all_nodes(test) if isinstance(x, ast.Subscript)}
                    if data or (certain(then, around, moving) and certain(orelse, around, moving)):
                        return True
                case ast.For(target, source, body):
                    if name in names(target, True):
                        return True
                    if not names(source, False) & around and certain(body, around | positions(s), moving):
                        return True
                case _:
                    return True
        return False

    for at in (x for x in all_nodes(tree) if isinstance(x, ast.For) and x.lineno == loop):
        return certain(at.body, positions(at), names(at, True))
    return True


def _copied(s: n.Stmt) -> tuple[str, str] | None:
    """The two arrays of a loop that copies one into the other, element by element."""
    while isinstance(s, n.Loop) and len(s.body) == 1:
        s = s.body[0]
    match s:
        case n.Store(buffer, index, Load(source, place, _)) if index == place:
            return buffer, source
        case _:
            return None


def _of_the_users_iterations(m: Meeting, loop: n.Loop) -> Meeting:
    """An example in iterations as the user counts them, where the program has several of them in one."""
    turns = [next((t for t in a.span.turns if t[0] == loop.span.line), None) for a in (m.first, m.second)]
    if None in turns:
        return m
    (_, one, step), (_, two, _) = turns  # type: ignore[misc]
    together = (b.constant(loop.step) or step) // step
    distance = None if m.distance is None else m.distance * together + two - one
    return replace(m, ran=m.ran + one * step, later=m.later + two * step, distance=distance)


def _shown(carried: Carried) -> Meeting | None:
    """The meeting to show: one with an example, and one of a value that is handed on rather than another."""
    found: list[Meeting] = []
    for kind in ("flow", "anti", "output"):
        for first, second in carried.pairs():
            if kind_of(first, second) != kind or carried.meet(first, second) is None:
                continue
            meeting = carried.example(first, second)
            if meeting is not None:
                found.append(meeting)
                if meeting.values is not None and (meeting.runs or len(found) > _EXAMPLES):
                    return meeting
    return min(found, key=lambda m: (m.values is None, not m.runs), default=None)


_EXAMPLES = 8
"""Examples that are looked at for one in which nothing else goes wrong."""
