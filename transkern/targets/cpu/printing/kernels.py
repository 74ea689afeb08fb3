"""Kernels as C functions with OpenMP: statements, loops, reductions.

A parallel loop becomes ``#pragma omp parallel for`` at the outermost level and ``simd`` at the innermost; float sums
are taken in blocks whose totals are added in double (float32) or with the rounding error carried along (float64), which
is at least as exact as NumPy's pairwise sums and vectorises.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace

from transkern.analysis.special import find_special
from transkern.fuse.lowering.kernels import interface
from transkern.fuse.schedule.columns import PART
from transkern.fuse.schedule.lanes import at_most
from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Apply, Expr, Var
from transkern.ir.extremes import highest, lowest
from transkern.ir.names import Names
from transkern.ir.ops import OPS
from transkern.ir.traverse import (
    bodies,
    buffers_read,
    buffers_used,
    buffers_written,
    continued,
    own_exprs,
    scalars_set,
    scalars_used,
    variables_read,
    walk,
    walk_expr,
)  # fmt: skip
from transkern.targets.chelpers import FOR_GCC
from transkern.targets.clike import CPrinter, ident
from transkern.targets.comments import comment
from transkern.targets.cpu.printing import waking
from transkern.targets.cpu.printing.extremes import begin_extremes, end_extremes
from transkern.targets.cpu.printing.filters import print_filter
from transkern.targets.cpu.printing.memory import Memory, alloc, free, free_last, reserve_early
from transkern.targets.cpu.printing.neighbours import BRANCHES_STAY, packed_under_conditions
from transkern.targets.cpu.printing.reductions import (
    Reducing,
    accumulate,
    accumulator,
    blocked_loop,
    is_float_sum,
    pragma_of,
    short_loop,
)
from transkern.targets.cpu.printing.searches import positions_of, print_positions, print_search, search_of
from transkern.targets.cpu.printing.streams import print_streamed, streams
from transkern.targets.cpu.printing.teams import begin_team, print_shared, team, wait_for_all
from transkern.targets.cpu.printing.terms import print_sums, sums_of
from transkern.targets.cpu.printing.timers import Measuring
from transkern.targets.cpu.printing.types import TYPES, element_type
from transkern.targets.cpu.printing.waking import begin_deal, end_deal
from transkern.targets.cpu.running import COUNTED, Estimate, count_turns, estimate
from transkern.targets.operands import kind_of

_LANES = 64  # elements of the narrowest type in the widest vector
_SHORT = 16  # iterations of a loop that is written out
_UNKNOWN = 32  # what is taken for the work of a loop whose trips only data tell, in iterations of a loop in vectors
_REPEATED = 4  # inside a sequential loop threads are woken each time: they must gain more
_TWICE = 60  # statements up to which a loop is printed twice, with threads and without
@dataclass(slots=True)
class Function:
    """A kernel's C function: its text, and what its call is given."""

    name: str
    text: str
    buffers: list[n.Buffer]
    scalars: list[Var]
    outputs: list[Var]  # scalars it hands back, through pointers
    guards: list[n.Guard]
    long: Expr  # whether it runs without Python's lock, or (`counts`) may let go of it in its midst
    counts: bool


@dataclass(slots=True)
class Region:
    """A loop that threads share: `lost` where one of them may find no memory, which a variable, `name`, tells then."""

    name: str
    levels: int  # of what is freed at the end of blocks, before the loop
    lost: bool = False


@dataclass(slots=True)
class KernelPrinter:
    """Prints the kernels of one program; collects the helpers they use."""

    program: n.Program
    threads: bool = True
    c: CPrinter = field(init=False)
    lines: list[str] = field(default_factory=list)
    depth: int = 1
    cited: str = ""
    guards: list[n.Guard] = field(default_factory=list)
    searching: int = 0  # how many `while` loops do: their short passes do not pay for waking threads
    repeated: int = 0  # how many sequential loops enclose the statement
    parallel: int = 0  # how many parallel regions enclose the statement
    private: set[str] = field(default_factory=set)  # variables declared in the parallel loops around
    reducing: Reducing = field(default_factory=Reducing)
    memory: Memory = field(default_factory=Memory)
    measuring: Measuring = field(default_factory=Measuring)
    streaming: dict[str, str] = field(default_factory=dict)  # results computed in a block -> the block's element
    given: set[str] = field(default_factory=set)  # the scalars that the kernel is given
    read: set[str] = field(default_factory=set)  # the buffers that the kernel reads
    known: set[str] = field(default_factory=set)  # conditions that have been asked: they hold here
    team: bool = False  # whether a team of threads runs the statement together
    meeting: str = ""  # where its threads wait for each other
    estimate: Estimate = field(init=False)  # what the kernel will take
    counts: bool = False  # whether it counts turns of its loops
    region: Region | None = None  # the loop around that threads share
    names: Names = field(init=False)

    def __post_init__(self) -> None:
        self.names = Names.of(self.program)
        self.c = CPrinter(self.program.buffers, TYPES, own=FOR_GCC)
        if not self.program.warns:  # what a function of 1 instead of infinity does not raise would be missed
            self.c.special = find_special(self.program)
            self.c.vectors = True

    # --- functions

    def function(self, kernel: n.Kernel, live_after: Container[str]) -> Function:
        """`kernel` as a function; scalars in `live_after` that it sets are handed back."""
        buffers, scalars = interface(self.program, kernel)
        declared = {s.name for s in walk(kernel.body) if isinstance(s, n.Let)}
        top = {s.name for s in kernel.body if isinstance(s, n.Accumulator)}
        declared |= {s.name for s in walk(kernel.body) if isinstance(s, n.Accumulator)} - top
        changed = sorted(scalars_set(kernel) - declared - _private(kernel.body))
        accumulators = {s.name: s for s in walk(kernel.body) if isinstance(s, n.Accumulator)}
        outputs = [
            Var(name, accumulators[name].dtype if name in accumulators else self.program.variables[name])
            for name in changed if name in live_after
        ]  # fmt: skip
        initial = [
            Var(name, self.program.variables[name]) for name in changed
            if name in self.program.variables and _reads_before_set(kernel.body, name)
        ]  # fmt: skip
        written = buffers_written(kernel)
        const = {x.name: "" if x.name in written else "const " for x in buffers}
        params = [f"{const[x.name]}{element_type(x)} *restrict {ident(x.name)}" for x in buffers]
        for x in buffers:
            if x.layout != "C":
                params += [f"const int64_t {ident(x.name)}_stride{d}" for d in range(len(x.dims))]
        params += [f"const {TYPES[v.dtype]} {ident(v.name)}" for v in scalars]
        known = {v.name for v in scalars}
        params += [f"{TYPES[v.dtype]} {ident(v.name)}" for v in initial if v.name not in known]
        params += [f"{TYPES[v.dtype]} *{ident(v.name)}_out" for v in outputs]
        self.lines, self.depth, self.guards, self.cited = [], 1, [], ""
        top_declared = [x for x in changed if x in self.program.variables and x not in {v.name for v in initial}]
        local_lets = {s.name for s in walk(kernel.body) if isinstance(s, n.Let)}
        for name in top_declared:
            if name not in local_lets:
                self.line(f"{TYPES[self.program.variables[name]]} {ident(name)} = 0;")
        self.memory.frees, self.memory.turns = [[]], []
        self.memory.early = set()
        reserve_early(self, kernel.body)
        self.read, self.given = set(buffers_used(kernel)), {v.name for v in scalars}
        self.estimate, self.counts = estimate(self.program, kernel, self.given), False
        begins = len(self.lines)
        self.measuring.is_one_loop = sum(isinstance(s, (n.Loop, n.While, n.Compact)) for s in kernel.body) == 1
        self.block(kernel.body)
        guarded = bool(self.guards)
        if guarded:
            params.append("int64_t *py_error")
        if self.counts:
            params.append("py_run *py_running")
            self.lines[begins:begins] = [f"    {COUNTED}"]
        for v in outputs:
            self.line(f"*{ident(v.name)}_out = {ident(v.name)};")
        free_last(self)
        result = "int" if guarded else "void"
        if guarded:
            self.line("return 0;")
        head = f"static {result} {ident(kernel.name)}({_wrapped(params)})"
        if packed_under_conditions(kernel.body, self.c.offset):
            head = f"{BRANCHES_STAY}\n{head}"
        text = head + " {\n" + "\n".join(self.lines) + "\n}\n"
        return Function(
            ident(kernel.name),
            text,
            buffers,
            [*scalars, *[v for v in initial if v.name not in known]],
            outputs,
            list(self.guards),
            self.estimate.long,
            self.counts,
        )

    def line(self, text: str) -> None:
        self.lines.append("    " * self.depth + text)

    def source(self, s: n.Stmt) -> None:
        """The user's line above the code made of it."""
        text = self.program.cited(s.span)
        if text and text != self.cited:
            self.cited = text
            self.line(comment(text))

    # --- statements

    def block(self, statements: Iterable[n.Stmt]) -> None:
        declared: set[str] = set()
        around, self.reducing.begun = self.reducing.begun, set()
        statements = tuple(statements)
        here = {s.name for s in statements if isinstance(s, n.Accumulator)}
        for s in statements:
            if isinstance(s, n.Loop) and (names := here & _sums_a_part(s)):
                others = {x.name for o in statements if o is not s for x in walk((o,)) if isinstance(x, n.Accumulate)}
                self.reducing.short |= names - others
        for s in statements:
            self.statement(s)
            if isinstance(s, n.Accumulator):
                declared.add(s.name)
                self.reducing.begun.add(s.name)
                continue
            self.reducing.begun -= continued((s,))
            summed = {x.name for x in walk((s,)) if isinstance(x, n.Accumulate)} & declared & self.reducing.sums
            for name in sorted(summed):
                kind = TYPES[self.reducing.accumulators[name].dtype]
                is_short = name in self.reducing.short
                total = f"{ident(name)}_part" if is_short else f"{ident(name)}_high + {ident(name)}_low"
                self.line(f"const {kind} {ident(name)} = {total};")
        self.reducing.begun = around

    def statement(self, s: n.Stmt) -> None:
        c = self.c
        if not isinstance(s, (n.Accumulator, n.Alloc, n.Loop, n.Compact)):
            self.source(s)
        if is_loop := isinstance(s, (n.Loop, n.While, n.Compact)):
            self.memory.turns.append(len(self.memory.frees))
        timer = self.begin_timer(s) if is_loop and self.measuring.timers is not None else None
        match s:
            case n.Let(name, value):
                const = "" if name in self.program.variables else "const "
                self.line(f"{const}{c.type(value.dtype)} {ident(name)} = {c.expr(value)};")
            case n.Assign(name, value):
                self.line(f"{ident(name)} = {c.expr(value)};")
            case n.Store(buffer, index, value):
                place = self.streaming.get(buffer) or c.element(buffer, index)
                self.line(f"{place} = {self.stored(buffer, value)};")
            case n.Accumulator():
                accumulator(self, s)
            case n.Accumulate():
                accumulate(self, s)
            case n.Loop():
                self.loop(s)
            case n.While():
                self.while_(s)
            case n.If(condition, then, orelse):
                self.line(f"if ({c.expr(condition)}) {{")
                self.nested(then)
                if orelse:
                    self.line("} else {")
                    self.nested(orelse)
                self.line("}")
            case n.Compact():
                print_filter(self, s)
            case n.Guard():
                self.guard(s)
            case n.Fetch(buffer, index):
                self.line(f"__builtin_prefetch(&{c.element(buffer, index)}, 1);")
            case n.Break():
                self.leave("break;")
            case n.Continue():
                self.leave("continue;")
            case n.Alloc(buffer):
                if buffer not in self.memory.early:
                    alloc(self, buffer)
            case _:
                raise AssertionError(f"not a kernel statement: {s}")
        if is_loop:
            self.memory.turns.pop()
        if self.measuring.timers is not None and is_loop:
            self.end_timer(s, timer)

    def begin_timer(self, s: n.Stmt) -> int | None:
        """A timer around a loop at the top of the kernel, or directly within one in order there; its number, if any."""
        timers, number = self.measuring.timers, None
        assert timers is not None
        alone = self.measuring.nest == 0 and self.measuring.is_one_loop  # which the kernel's own timer measures
        if self.measuring.nest < 2 and not alone and not self.parallel and not self.team and timers.may_measure(s):
            number = timers.number("loop", "", s)
            self.line(timers.begin(number))
            timers.around.append(number)
        in_order = isinstance(s, n.While) or (isinstance(s, n.Loop) and s.kind == "sequential")
        self.measuring.nest += 1 if in_order else 2
        return number

    def end_timer(self, s: n.Stmt, number: int | None) -> None:
        in_order = isinstance(s, n.While) or (isinstance(s, n.Loop) and s.kind == "sequential")
        self.measuring.nest -= 1 if in_order else 2
        if number is not None and self.measuring.timers is not None:
            self.measuring.timers.around.pop()
            self.line(self.measuring.timers.end(number))

    def stored(self, buffer: str, value: Expr) -> str:
        return self.c.expr(value)

    def nested(self, statements: Sequence[n.Stmt]) -> None:
        self.depth += 1
        self.memory.frees.append([])
        self.block(statements)
        free_last(self)
        self.depth -= 1

    def leave(self, how: str) -> None:
        for level in self.memory.frees[self.memory.turns[-1] :]:
            free(self, level)
        self.line(how)

    def guard(self, s: n.Guard, fails: str = "") -> None:
        """Leaves the kernel with the guard's number where it `fails`; its arguments stand in `py_error`."""
        self.guards.append(s)
        always = not fails and s.condition == b.FALSE
        self.line("{" if always else f"if ({fails or f'!({self.c.expr(s.condition)})'}) {{")
        self.depth += 1
        for k, arg in enumerate(s.args):
            if arg.dtype.startswith("float"):
                self.line(f"memcpy(&py_error[{k}], &(double){{{self.c.expr(arg)}}}, sizeof(double));")
                continue
            self.line(f"py_error[{k}] = {self.c.expr(arg)};")
        for level in self.memory.frees:
            free(self, level)
        self.line(f"return {len(self.guards)};")
        self.depth -= 1
        self.line("}")

    # --- loops

    def while_(self, s: n.While) -> None:
        self.searching += 1
        if s.head:
            self.line("for (;;) {")
            self.depth += 1
            count_turns(self, s)
            self.memory.frees.append([])
            self.block(s.head)
            self.source(s)
            self.line(f"if (!({self.c.expr(s.condition)})) {{")
            self.depth += 1
            self.leave("break;")
            self.depth -= 1
            self.line("}")
            self.block(s.body)
            free_last(self)
            self.depth -= 1
        else:
            self.line(f"while ({self.c.expr(s.condition)}) {{")
            self.turn(s)
            self.nested(s.body)
        self.line("}")
        self.searching -= 1

    def turn(self, s: n.Loop | n.While) -> None:
        self.depth += 1
        count_turns(self, s)
        self.depth -= 1

    def loop(self, s: n.Loop) -> None:
        """A loop; twice where it is run again and again and only the run shows whether it has work for threads: OpenMP
        takes its time to find that out, even if it then wakes nobody."""
        condition = self.asks(s)
        if not condition:
            self.one_loop(s)
            return
        deal = self.deal(condition)
        self.line(f"if ({deal}.shared) {{" if deal else f"if ({condition}) {{")
        self.depth += 1
        self.known.add(condition)
        self.one_loop(s)
        self.known.discard(condition)
        self.depth -= 1
        self.line("} else {")
        self.depth += 1
        self.parallel += 1
        self.one_loop(s)
        self.parallel -= 1
        self.depth -= 1
        self.line("}")
        end_deal(self, deal)

    def asks(self, s: n.Loop) -> str:
        """The condition under which threads share a loop that is run again and again, or the passes of one in order."""
        if sum(1 for _ in walk(s.body)) > _TWICE or search_of(s) is not None:
            return ""
        if s.kind == "sequential":
            condition = team(self, s)
        else:
            condition = self._threads(s, _in_order(s)) if self.repeated else ""
        return "" if condition in ("1", "team") else condition

    def one_loop(self, s: n.Loop) -> None:
        search = search_of(s)
        if search is not None:
            print_search(self, s, search)
            return
        if s.kind == "sequential":
            self.source(s)
            shared = team(self, s)
            shared = "1" if shared in self.known else shared
            deal = self.deal(shared)
            if shared:
                begin_team(self, f"{deal}.shared" if deal else shared)
            loops = [x for x in walk(s.body) if isinstance(x, n.Loop)]
            ordered = sums_of(s, self.program)
            if ordered is not None and not shared:
                print_sums(self, s, ordered)
                return
            if not loops and 1 < (b.constant(b.sub(s.stop, s.start)) or 0) <= _SHORT:
                self.line(f"#pragma GCC unroll {_SHORT}")
            self.line(self.header(s))
            if loops and not any(x.kind == "parallel" for x in loops):
                # GCC 12 may vectorise a loop around a loop although its stores go in order: not across this
                self.line('    __asm__ volatile("");')
            elif not loops and _chains(s):
                # vectors whose lanes are added one after the other are slower than the additions alone: not across this
                self.line('    __asm__ volatile("");')
            self.turn(s)
            self.repeated += 1
            if self.team and not self.parallel:
                print_shared(self, s.body)
            else:
                self.nested(s.body)
            self.repeated -= 1
            self.line("}")
            end_deal(self, deal)
            self.team = self.team and not shared
            return
        self.source(s)
        every = [x for x in walk(s.body) if isinstance(x, n.Accumulate)]
        declared = {x.name for x in walk(s.body) if isinstance(x, n.Accumulator)}
        own = [x for x in _direct(s.body) if isinstance(x, n.Accumulate) and x.name not in declared]
        outer = [x for x in every if x.name not in declared]
        innermost = not any(isinstance(x, (n.Loop, n.While, n.Compact)) for x in walk(s.body))
        serial = _serial(s)
        sums = [x for x in own if is_float_sum(self, x)] if innermost else []
        threads = self._threads(s, _in_order(s))
        if serial and (found := positions_of(self, s)):
            print_positions(self, s, found)
            return
        if not self.reducing.short.isdisjoint(x.name for x in sums):
            short_loop(self, s, sums)
            return
        if sums:
            blocked_loop(self, s, sums, outer, threads)
            return
        if innermost and not serial and not outer and s.step == b.ONE and (stores := streams(self, s)):
            print_streamed(self, s, stores, threads)
            return
        if s.spare is not None and innermost and not serial:
            s = _rounded(s)
        vector = innermost and not serial and self.vectorises(s)
        extremes = begin_extremes(self, own) if vector and threads != "team" else []
        begins, around = len(self.lines), self.region
        deal = self.deal(threads)
        pragma = pragma_of(self, s, outer, threads, vector, deal)
        if threads:
            self.region = Region(self.names.fresh("py_lost"), len(self.memory.frees))
        if pragma:
            self.line(pragma)
        self.line(self.header(s))
        self.parallel += bool(threads)
        self.repeated += not threads
        self.iteration(s, vector)
        self.repeated -= not threads
        self.parallel -= bool(threads)
        region, self.region = self.region, around
        lost = region.name if threads and region is not None and region.lost else ""
        if lost:
            self.line(f"    {lost}_next:;")
        self.line("}")
        end_deal(self, deal)
        end_extremes(self, extremes)
        if threads == "team":
            wait_for_all(self)
        if lost:
            self.lines.insert(begins, "    " * self.depth + f"int {lost} = 0;  // whether there was no memory")
            self.guard(n.Guard(b.FALSE, "MemoryError", ""), lost)

    def iteration(self, s: n.Loop, vector: bool) -> None:
        """The body of a parallel loop, with the variables that each iteration has for itself."""
        mine = _own_variables(s) - self.private
        for name in sorted(mine):
            self.line(f"    {TYPES[self.program.variables[name]]} {ident(name)};")
        self.private |= mine
        with self.c.vector_of(s.body) if vector else nullcontext():
            self.nested(s.body)
        self.private -= mine

    def header(self, s: n.Loop) -> str:
        c, i = self.c, ident(s.axis)
        step = b.constant(s.step) or 1
        if step > 0:
            advance = f"++{i}" if step == 1 else f"{i} += {step}"
            return f"for (int64_t {i} = {c.expr(s.start)}; {i} < {c.operand(s.stop)}; {advance}) {{"
        advance = f"--{i}" if step == -1 else f"{i} -= {-step}"
        return f"for (int64_t {i} = {c.expr(s.start)}; {i} > {c.operand(s.stop)}; {advance}) {{"

    def _threads(self, s: n.Loop, serial: bool) -> str:
        """The condition under which threads share the loop, or nothing."""
        if serial or self.parallel or not self.threads or self.searching:
            return ""
        if self.team:
            return "team"
        work, cost = self.work(s)
        cost /= _REPEATED if self.repeated else 1
        if waking.ALWAYS:
            return "1"
        if (constant := b.constant(work)) is not None and constant * cost < waking.LEAST:
            return ""
        condition = waking.pays(self, work, cost)
        return "1" if condition in self.known else condition

    def work(self, s: n.Loop) -> tuple[Expr, float]:
        """How many steps of one the loops make along the deepest nest in `s`, and what each costs."""
        extents: list[Expr] = [b.sub(s.stop, s.start)]
        steps = abs(b.constant(s.step) or 1)
        inner = list(_direct(s.body))
        most: dict[str, Expr] = {s.axis: s.stop}  # what changes inside, at its end
        least: dict[str, Expr] = {s.axis: s.start}  # and at its beginning
        local = {name for x in s.body for name in scalars_set(x)}
        while True:
            for x in inner:
                if isinstance(x, n.Let) and x.value.dtype == "index":
                    most[x.name], least[x.name] = (b.substitute(x.value, at) for at in (most, least))
            found: tuple[n.Loop, Expr] | None = None
            for x in sorted(inner, key=_depth_and_work, reverse=True):
                if isinstance(x, n.Loop):
                    first, extent = (b.sub(b.substitute(x.stop, at), b.substitute(x.start, at)) for at in (least, most))
                    if (most_here := at_most(x)) is not None:
                        extent = b.index(most_here)  # a block of a range, of which the loop around goes over the blocks
                    elif (known := b.constant(extent)) is not None and known <= 0:
                        extent = first  # a triangle that narrows
                    # Memory is not read for an estimate: what is a subscript inside may be none at the loops' ends.
                    if not variables_read(extent) & (local - set(most)) and not buffers_read(extent):
                        found = x, extent
                        break
            if found is None:
                break
            loop, extent = found
            extents.append(extent)
            steps *= abs(b.constant(loop.step) or 1)
            most[loop.axis] = b.substitute(loop.stop, most)
            least[loop.axis] = b.substitute(loop.start, least)
            inner = list(_direct(loop.body))
        unknown = any(isinstance(x, (n.Loop, n.While)) for y in inner for x in walk((y,)))
        return b.product(tuple(extents)), max(1, _cost(s.body)) / steps * (_UNKNOWN if unknown else 1)

    def vectorises(self, s: n.Loop) -> bool:
        return not any(isinstance(x, (n.Break, n.Continue, n.Guard, n.Alloc)) for x in walk(s.body)) and not any(
            isinstance(x, n.Let) and x.name in self.program.variables for x in walk(s.body)
        )

    def deal(self, threads: str) -> str:
        """Asks whether threads pay, where it is a question; the name of the answer."""
        return begin_deal(self, threads) if "py_pays(" in threads else ""

    # --- reductions

    def bound(self, op: str, dtype: str) -> str:
        """What a maximum or minimum begins with."""
        return self.c.constant((lowest(dtype) if op == "max" else highest(dtype)).value, dtype)


def _rounded(s: n.Loop) -> n.Loop:
    """The range widened to whole vectors, where that does no harm: no scalar iterations are left at its ends."""
    assert s.spare is not None
    lanes = b.index(_LANES)
    start = b.mul(lanes, Apply("floor_divide", (s.start, lanes), "index")) if b.constant(s.start) is None else s.start
    up = b.mul(lanes, Apply("floor_divide", (b.add(s.stop, b.index(_LANES - 1)), lanes), "index"))
    stop = b.minimum(up, s.spare) if s.stop != s.spare else s.stop
    return replace(s, start=start, stop=stop)


def _wrapped(params: Sequence[str]) -> str:
    """Parameters, broken over lines where they are long."""
    one = ", ".join(params) or "void"
    if len(one) <= 90:
        return one
    lines, current = [], ""
    for p in params:
        if current and len(current) + len(p) > 100:
            lines.append(current.rstrip())
            current = ""
        current += p + ", "
    lines.append(current.rstrip().rstrip(","))
    return "\n        " + "\n        ".join(lines)


def _direct(statements: Iterable[n.Stmt]) -> Iterable[n.Stmt]:
    """Statements of this loop's own iterations (inside branches too), not those of loops inside."""
    for s in statements:
        yield s
        if isinstance(s, n.If):
            for body in bodies(s):
                yield from _direct(body)


def _serial(s: n.Loop) -> bool:
    """Whether a parallel loop has no vectors: it may end early, or what it looks for depends on the order."""
    declared = {x.name for x in walk(s.body) if isinstance(x, n.Accumulator)}
    return any(
        isinstance(x, (n.Guard, n.Compact))
        or (isinstance(x, n.Accumulate) and x.name not in declared and x.op in ("argmax", "argmin", "first", "last"))
        for x in walk(s.body)
    )


def _in_order(s: n.Loop) -> bool:
    """Whether a parallel loop is for one thread: as `_serial`, but threads can tell which of their iterations is the
    first or the last, where these are what is counted."""
    if (b.constant(s.step) or 0) < 1:
        return _serial(s)
    declared = {x.name for x in walk(s.body) if isinstance(x, n.Accumulator)}
    return any(
        isinstance(x, (n.Guard, n.Compact))
        or (isinstance(x, n.Accumulate) and x.name not in declared and not _is_for_threads(x, s))
        for x in walk(s.body)
    )


def _is_for_threads(x: n.Accumulate, s: n.Loop) -> bool:
    return x.op not in ("argmax", "argmin", "first", "last") or (
        x.op in ("first", "last") and x.position == Var(s.axis, "index")
    )


def _sums_a_part(s: n.Loop) -> set[str]:
    """The sums that a loop makes of no more terms than are added up in a block, where it does nothing else."""
    extent = b.constant(b.sub(s.stop, s.start))
    plain = all(isinstance(x, n.Let) or (isinstance(x, n.Accumulate) and x.op == "sum") for x in s.body)
    if s.kind != "parallel" or s.step != b.ONE or extent is None or extent > PART or not plain:
        return set()
    return {x.name for x in s.body if isinstance(x, n.Accumulate)}


def _cost(block: Iterable[n.Stmt]) -> float:
    """What one run of the statements costs, each loop making one iteration, of two branches the dearer one."""
    total = 0.0
    for s in block:
        total += isinstance(s, (n.Store, n.Accumulate))
        computed = (e for own in own_exprs(s) for e in walk_expr(own) if isinstance(e, Apply) and e.dtype != "index")
        total += sum(OPS[e.op].cost for e in computed)
        inner = [_cost(body) for body in bodies(s)]
        total += max(inner, default=0) if isinstance(s, n.If) else sum(inner)
    return total


def _private(block: Iterable[n.Stmt]) -> set[str]:
    """The variables that belong to an iteration of a parallel loop."""
    return {
        x.name for s in walk(block) if isinstance(s, n.Loop) and s.kind == "parallel"
        for x in walk(s.body) if isinstance(x, n.Assign)
    }  # fmt: skip


def _own_variables(loop: n.Loop) -> set[str]:
    """The variables that an iteration of this loop declares: those that no loop inside it has for itself."""
    assigned = {x.name for x in walk(loop.body) if isinstance(x, n.Assign)}
    assigned -= {x.name for x in walk(loop.body) if isinstance(x, n.Let)}  # declared where they are bound
    inner = [x for x in walk(loop.body) if isinstance(x, n.Loop) and x.kind == "parallel"]
    for name in list(assigned):
        if any(_mentions((x,), name) == _mentions(loop.body, name) for x in inner):
            assigned.discard(name)
    return assigned


def _mentions(block: Iterable[n.Stmt], name: str) -> int:
    """How often statements read or set a scalar."""
    return sum(
        (isinstance(s, n.Assign) and s.name == name)
        + sum(isinstance(e, Var) and e.name == name for own in own_exprs(s) for e in walk_expr(own))
        for s in walk(block)
    )


def _chains(s: n.Loop) -> bool:
    """Whether each iteration adds to a float that the one before it left."""
    return any(
        isinstance(x, n.Assign) and kind_of(x.value.dtype) == "f" and x.name in variables_read(x.value)
        for x in walk(s.body)
    )


def _reads_before_set(body: Sequence[n.Stmt], name: str) -> bool:
    """Whether the statements may read the scalar before they give it a value."""
    for s in body:
        if isinstance(s, (n.Assign, n.Let)) and s.name == name:
            return name in variables_read(s.value)
        if isinstance(s, n.Accumulator) and s.name == name:
            return False
        if isinstance(s, n.Compact) and s.count == name and not s.append and name not in scalars_used(s):
            return False
        if name in scalars_used(s) or name in scalars_set(s):
            return True
    return False


def _depth_and_work(s: n.Stmt) -> tuple[int, bool]:
    """Of loops beside each other, what is in order are the borders of what is not."""
    return _depth(s), isinstance(s, n.Loop) and s.kind == "parallel"


def _depth(s: n.Stmt) -> int:
    """How many loops are nested in the statement, itself included."""
    inner = max((_depth(x) for body in bodies(s) for x in body), default=0)
    return inner + isinstance(s, n.Loop)
