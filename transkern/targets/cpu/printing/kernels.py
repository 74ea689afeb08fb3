"""Kernels as C functions with OpenMP: statements, loops, reductions.

A parallel loop becomes ``#pragma omp parallel for`` at the outermost level and ``simd`` at the innermost; float sums
are taken in blocks whose totals are added in double (float32) or with the rounding error carried along (float64), which
is at least as exact as NumPy's pairwise sums and vectorises.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field

from transkern.analysis.special import find_special
from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Expr
from transkern.ir.extremes import highest, lowest
from transkern.ir.names import Names
from transkern.ir.traverse import (
    continued,
    is_in_order,
    walk,
)  # fmt: skip
from transkern.targets.chelpers import FOR_GCC
from transkern.targets.clike import CPrinter, ident
from transkern.targets.comments import comment
from transkern.targets.cpu.printing import waking
from transkern.targets.cpu.printing.costs import direct, looks_up_bytes, work_of
from transkern.targets.cpu.printing.extremes import begin_extremes, end_extremes
from transkern.targets.cpu.printing.filters import print_filter
from transkern.targets.cpu.printing.iterations import (
    chains,
    is_for_one_thread,
    is_serial,
    own_variables,
    rounded,
    sums_a_part,
)
from transkern.targets.cpu.printing.memory import Memory, alloc, free, free_last
from transkern.targets.cpu.printing.reductions import (
    Reducing,
    accumulate,
    accumulator,
    blocked_loop,
    is_float_sum,
    pragma_of,
    short_loop,
    wide_truths,
)
from transkern.targets.cpu.printing.searches import positions_of, print_positions, print_search, search_of
from transkern.targets.cpu.printing.streams import print_streamed, streams
from transkern.targets.cpu.printing.teams import begin_team, print_shared, team, wait_for_all
from transkern.targets.cpu.printing.terms import print_sums, sums_of
from transkern.targets.cpu.printing.timers import Measuring
from transkern.targets.cpu.printing.types import TYPES
from transkern.targets.cpu.printing.waking import begin_all, begin_deal, end_deal
from transkern.targets.cpu.running import Estimate, count_turns

_SHORT = 16  # iterations of a loop that is written out
_REPEATED = 4  # inside a sequential loop threads are woken each time: they must gain more
_TWICE = 60  # statements up to which a loop is printed twice, with threads and without


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
        self.reducing.truths |= wide_truths(statements) if here else {}
        for s in statements:
            if isinstance(s, n.Loop) and (names := here & sums_a_part(s)):
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
        self.measuring.nest += 1 if is_in_order(s) else 2
        return number

    def end_timer(self, s: n.Stmt, number: int | None) -> None:
        self.measuring.nest -= 1 if is_in_order(s) else 2
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
            condition = self._threads(s, is_for_one_thread(s)) if self.repeated else ""
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
            elif not loops and chains(s):
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
        own = [x for x in direct(s.body) if isinstance(x, n.Accumulate) and x.name not in declared]
        outer = [x for x in every if x.name not in declared]
        innermost = not any(isinstance(x, (n.Loop, n.While, n.Compact)) for x in walk(s.body))
        serial = is_serial(s)
        sums = [x for x in own if is_float_sum(self, x)] if innermost else []
        threads = self._threads(s, is_for_one_thread(s))
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
            s = rounded(s)
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
        if innermost and looks_up_bytes(s):
            self.line('    __asm__ volatile("");')
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
        mine = own_variables(s) - self.private
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
        work, cost = work_of(s)
        cost /= _REPEATED if self.repeated else 1
        if waking.ALWAYS:
            return "1"
        if (constant := b.constant(work)) is not None and constant * cost < waking.LEAST:
            return ""
        condition = waking.pays(self, work, cost)
        return "1" if condition in self.known else condition

    def vectorises(self, s: n.Loop) -> bool:
        leaves = any(isinstance(x, (n.Break, n.Continue, n.Guard, n.Alloc)) for x in walk(s.body))
        shares = any(isinstance(x, n.Let) and x.name in self.program.variables for x in walk(s.body))
        return not (leaves or shares or looks_up_bytes(s))

    def deal(self, threads: str) -> str:
        """Asks whether threads pay, where it is a question; the name of the answer."""
        if "py_pays(" in threads:
            return begin_deal(self, threads)
        if threads and threads != "team":
            begin_all(self)
        return ""

    # --- reductions

    def bound(self, op: str, dtype: str) -> str:
        """What a maximum or minimum begins with."""
        return self.c.constant((lowest(dtype) if op == "max" else highest(dtype)).value, dtype)
