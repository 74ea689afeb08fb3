"""Kernel statements as CUDA C++ for threads that work together: a warp, a block, a grid.

All threads of the group run the same statements. Scalars are computed by each thread for itself, from the same values,
so that they are the same in all; what stands once is stored by the first thread; the iterations of a parallel loop are
spread over the threads, or over the group's warps where an iteration has enough to do for one. Barriers stand where
`barriers` finds a conflict, and nowhere else.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Expr, Var
from transkern.ir.storage import itemsize
from transkern.ir.traverse import (
    buffers_written,
    exprs,
    own_exprs,
    scalars_set,
    walk,
)  # fmt: skip
from transkern.targets.clike import ident
from transkern.targets.cuda.barriers import ALL, FIRST, Access, Spread, anywhere, conflict, reads, within
from transkern.targets.cuda.body import LOCAL_BYTES, Body, Unit, has_guards
from transkern.targets.cuda.forms.folds import fold_of, has_fold, print_fold, run_of
from transkern.targets.cuda.forms.loops import accumulated, end_parts, print_elements, print_search, start_parts
from transkern.targets.cuda.forms.odometer import close_to, open_points, ranges
from transkern.targets.cuda.forms.scans import print_compact, print_scan
from transkern.targets.cuda.forms.tiles import Tile
from transkern.targets.cuda.nests import has_parallel, is_for_a_block, nest, rows_for_warps, search, single
from transkern.targets.cuda.spelling import TYPES


@dataclass(frozen=True, slots=True)
class Mark:
    """How far a kernel had been printed: lines, checks, the user's line told last, and what was pending."""

    lines: int
    guards: int
    cited: str
    depth: int
    pending: frozenset[Access]


class GroupBody(Body):
    """Prints statements for the group of threads that the C++ variable `group` stands for."""

    def __init__(self, unit: Unit, group: str, kernel: n.Kernel, depth: int = 1, warps: bool = True) -> None:
        super().__init__(unit, depth)
        self.group, self.kernel, self.warps = group, kernel, warps
        self.written = buffers_written(kernel)
        axes = (s.axis for s in walk(kernel.body) if isinstance(s, n.Loop))
        self.moving = frozenset((*scalars_set(kernel), *axes))
        self.stored_until = -1  # how many lines there were after the last store of the first thread
        self.is_block = group == "block"
        self.tall = False  # whether neighbouring threads have neighbouring points, not elements of one
        self.thread_number = f"{group}.rank()"
        self.is_outermost = False  # whether the group is there from the kernel's first line on
        self.searches = True  # a loop that only searches stops where it has found
        self.pending: set[Access] = set()  # what has been touched since the last barrier
        self.left: list[set[Access]] = []  # what was pending at each `break` of the open loops
        self.continued: list[set[Access]] = []  # and at each `continue`
        self.meets = False  # whether the threads wait for each other anywhere
        self.own: set[str] = set()  # arrays of one iteration, which the next one has, too
        self.tile: Tile | None = None  # what threads keep of the row that they are at
        rows = (s for s in walk(kernel.body) if isinstance(s, n.Loop) and s.kind == "parallel" and rows_for_warps(s))
        self.several = len([*rows]) > 1  # loops over the warps

    # --- barriers

    def touch(self, accesses: set[Access]) -> None:
        """A barrier where `accesses` conflict with what came before."""
        if any(conflict(old, new) for old in self.pending for new in accesses):
            self.line(f"{self.group}.sync();")
            self.met()
        self.pending = self.pending | accesses

    def met(self, since: Iterable[Access] = ()) -> None:
        """The threads have waited for each other; what was touched `since` is known to no other."""
        self.pending, self.meets = set(since), True

    def repeated(self, head: str, body: Callable[[], None]) -> None:
        """Prints a loop. Where a barrier in it only parts its first iteration from what came before the loop, it stands
        in front instead."""
        before, began = set(self.pending), self.mark()
        self.iterated(head, body)
        inside = self.barriers_since(began)
        if not inside or not before:
            return
        lines, guards = self.lines[began.lines :], self.unit.guards[began.guards :]
        ended = self.pending, self.cited, self.stored_until
        self.back_to(began)
        self.line(f"{self.group}.sync();")
        self.met()
        after = self.mark()
        self.iterated(head, body)
        if self.barriers_since(after) < inside:
            return
        self.back_to(began)
        self.lines += lines
        self.unit.guards += guards
        self.pending, self.cited, self.stored_until = ended

    def iterated(self, head: str, body: Callable[[], None]) -> None:
        """What is run again and again: its end, and each `continue`, comes before its start, too."""
        self.open(head)
        began, before = self.mark(), anywhere(self.pending)
        self.pending = before
        self.left.append(set())
        while True:
            entry = set(self.pending)
            self.continued.append(set())
            body()
            again = anywhere(self.pending) | self.continued.pop()
            if again <= entry:
                break
            self.back_to(began)
            self.pending = entry | again
        self.pending |= before | self.left.pop()  # the body may not run at all
        self.close()

    def mark(self) -> Mark:
        return Mark(len(self.lines), len(self.unit.guards), self.cited, self.depth, frozenset(self.pending))

    def back_to(self, mark: Mark) -> None:
        """Forgets what has been printed since."""
        del self.lines[mark.lines :], self.unit.guards[mark.guards :]
        self.cited, self.stored_until, self.depth, self.pending = mark.cited, -1, mark.depth, set(mark.pending)

    def barriers_since(self, mark: Mark) -> int:
        return sum(line.strip() == f"{self.group}.sync();" for line in self.lines[mark.lines :])

    def reads(self, *values: Expr) -> set[Access]:
        return reads(values, self.written, ALL)

    # --- statements

    def statement(self, s: n.Stmt) -> None:
        if isinstance(s, (n.Let, n.Assign, n.Accumulate, n.Guard)):
            self.touch(self.reads(*own_exprs(s)))
        if isinstance(s, n.Break):
            self.left[-1] |= anywhere(self.pending)
        if isinstance(s, n.Continue):
            self.continued[-1] |= anywhere(self.pending)
        if isinstance(s, n.If):
            self.if_(s)
        elif not self.is_block and self.group != "warp" and is_for_a_block(s):
            self.by_first_block(s)
        elif isinstance(s, n.Loop) and self.group != "warp" and (run := run_of(s)) is not None:
            print_fold(self, s, run, lambda: None)
        elif (
            isinstance(s, (n.Loop, n.While)) and not has_parallel(s) and any(isinstance(x, n.Store) for x in walk((s,)))
        ):
            if self.group == "warp" or not has_fold(s) or (has_guards(s) and not self.is_block):
                self.alone(s)  # a block of several cannot leave the kernel
            elif self.is_block:
                super().statement(s)
            else:
                self.by_first_block(s)
        else:
            super().statement(s)
        if isinstance(s, (n.Assign, n.Loop, n.While, n.Compact)):
            self.pending = anywhere(self.pending, scalars_set(s))

    def store(self, s: n.Store) -> None:
        self.touch(reads((*s.index, s.value), self.written, FIRST) | {Access(s.buffer, True, FIRST)})
        text = f"{self.c.element(s.buffer, s.index)} = {self.c.expr(s.value)};"
        alone, pad = f"if ({self.group}.rank() == 0) ", "    " * self.depth
        if self.stored_until != len(self.lines):
            self.line(alone + text)
        elif self.lines[-1] == pad + "}":
            self.lines[-1:] = [f"{pad}    {text}", pad + "}"]
        else:
            before = self.lines.pop().removeprefix(pad + alone)
            self.lines += [f"{pad}{alone}{{", f"{pad}    {before}", f"{pad}    {text}", pad + "}"]
        self.stored_until = len(self.lines)

    def combine(self, s: n.Accumulate) -> None:
        if any(s.name in scope for scope in self.scopes):
            super().combine(s)
            return
        # The accumulator is a larger group's: only one thread of this one may add to it.
        self.open(f"if ({self.group}.rank() == 0)")
        super().combine(s)
        self.close()

    def if_(self, s: n.If) -> None:
        self.source(s)
        self.touch(self.reads(s.condition))
        before = set(self.pending)
        self.open(f"if ({self.c.expr(s.condition)})")
        self.nested(s.then)
        after, self.pending = self.pending, before
        if s.orelse:
            self.close("} else {")
            self.depth += 1
            self.nested(s.orelse)
        self.close()
        self.pending = self.pending | after

    def guard(self, s: n.Guard) -> None:
        """A check that all threads make: all leave the kernel, or the loop over its rows."""
        if self.order is not None:
            super().guard(s)
            return
        self.unit.guards.append(s)
        self.open(f"if (!({self.c.expr(s.condition)}))")
        self.open(f"if ({self.group}.rank() == 0)")
        self.line(f"error[0] = {len(self.unit.guards)};")
        for k, arg in enumerate(s.args):
            self.line(f"error[{k + 1}] = {self.told(arg)};")
        self.close()
        self.line("return;")
        self.close()

    def expect_failures(self) -> None:
        """Before statements in which checks of single threads may fail; rows have one place for all of theirs."""
        if self.order is None:
            self.line("{")
            self.depth += 1
            self.line("Failure failure = {};")

    def stop_if_failed(self) -> None:
        """Behind them: where one did, all threads leave the kernel, or the loop over its rows."""
        if self.order is None:
            self.unit.pieces.add("has_failed")
            self.line(f"if (has_failed({self.group}, failure, error)) return;")
            self.close()
        else:
            self.unit.pieces.add("row_failed")
            self.line(f"if (row_failed({self.group}, failure, {self.c.expr(self.order)}, error)) break;")
        self.met()

    def alone(self, s: n.Stmt) -> None:
        """Statements in which each step needs the one before: the first thread runs them."""
        accesses = within((s,), self.program.buffers, self.written, Spread(("",), aligned=False))
        self.touch({replace(a, owner=FIRST) for a in accesses})
        guarded = has_guards(s)
        if guarded:
            self.expect_failures()
        self.open(f"if ({self.group}.rank() == 0)" + (" do" if guarded else ""))
        inner = self.thread_body(order=b.ZERO)
        inner.loops = 1 if guarded else 0
        inner.nested((s,))
        self.take(inner)
        self.close("} while (false);" if guarded else "}")
        if guarded:
            self.stop_if_failed()
        bound = {x.name for x in walk((s,)) if isinstance(x, (n.Let, n.Accumulator))}
        for name in sorted(scalars_set(s) - (bound - set(self.program.variables))):
            self.unit.pieces.add("reduce")
            held = self.held.get(name)
            variable = ident(name) if held is None else held.name
            self.line(f"{variable} = {self.group}.from({variable}, 0);")
            self.met()

    def by_first_block(self, s: n.Stmt) -> None:
        """Loops in order with sums in order inside, or with passes that the threads of a block make at once: a barrier
        of one block costs little."""
        accesses = within((s,), self.program.buffers, self.written, Spread(("",), aligned=False))
        self.touch(accesses)
        self.unit.pieces |= {"reduce", "fold"}
        self.meets = True  # also where the other blocks do not wait for it: only these groups have a first block
        self.open(f"if ({self.group}.leads())")
        block = self.unit.local("first_block")
        self.line(f"Block &{block} = {self.group}.first();")
        body = GroupBody(self.unit, block, self.kernel, self.depth, warps=False)
        body.held, body.cited, body.is_block = self.held, self.cited, True
        body.nested((s,))
        self.take(body)
        self.close()
        bound = {x.name for x in walk((s,)) if isinstance(x, (n.Let, n.Accumulator))}
        read = Counter(e.name for e in exprs((self.kernel,)) if isinstance(e, Var))
        read.subtract(e.name for e in exprs((s,)) if isinstance(e, Var))
        names = sorted(scalars_set(s) - (bound - set(self.program.variables)))
        for name in (name for name in names if read[name] > 0):
            held = self.held.get(name)
            variable = ident(name) if held is None else held.name
            self.line(f"{variable} = {self.group}.from({variable}, 0);")
            self.met()

    # --- loops

    def loop(self, s: n.Loop) -> None:
        if s.kind == "sequential":
            fold = fold_of(s) if self.group != "warp" else None
            if fold is not None:
                print_fold(self, s, fold, lambda: self.in_order(s))
            else:
                self.in_order(s)
        elif (iteration := single(s)):
            self.nested(iteration)
        elif (found := search(s)) is not None:
            print_search(self, s, found)
        elif self.warps and rows_for_warps(s):
            self.rows(s)
        else:
            print_elements(self, s)

    def in_order(self, s: n.Loop) -> None:
        self.source(s)
        self.touch(self.reads(s.start, s.stop, s.step))
        self.repeated(self.header(s), lambda: self.again(s.stop, s.body))
        self.leave_if_failed(s)

    def again(self, stop: Expr, body: Sequence[n.Stmt]) -> None:
        self.nested(body)
        self.touch(self.reads(stop))

    def while_(self, s: n.While) -> None:
        def body() -> None:
            self.scopes.append({x.name for x in (*s.head, *s.body) if isinstance(x, n.Accumulator)})
            self.block((*s.head,))
            self.source(s)
            self.touch(self.reads(s.condition))
            self.left[-1] |= anywhere(self.pending)
            self.line(f"if (!({self.c.expr(s.condition)})) break;")
            self.block(s.body)
            self.scopes.pop()

        self.repeated("for (;;)", body)
        self.leave_if_failed(s)

    def alloc(self, s: n.Stmt, buffer: str) -> None:
        """What all threads share comes from the launcher, or is the block's; a warp's iteration needs its own."""
        if not self.slice_number:
            return
        self.own.add(buffer)
        info = self.program.buffers[buffer]
        size = b.constant(b.product(info.dims))
        if self.group == "block" and size is not None and size * itemsize(info.dtype) <= LOCAL_BYTES:
            self.line(f"__shared__ {TYPES[info.dtype]} {ident(buffer)}[{max(1, size)}];")
        else:
            self.slice(s, buffer)

    def is_search(self, s: n.Stmt) -> bool:
        return self.searches and isinstance(s, n.Loop) and s.kind == "parallel" and search(s) is not None

    def rows(self, s: n.Loop) -> None:
        """The iterations over the warps of the group; a warp works on one together."""
        self.unit.pieces.add("warp")
        axes, inner = nest(s)
        parts = start_parts(self, accumulated(inner), s)
        aligned = len(axes) == 1 and b.constant(s.start) is not None and s.step == b.ONE
        spread = Spread(tuple(a.axis for a in axes), ranges(self, axes), "warp", aligned, s.start if aligned else None)
        bounds = self.reads(*(e for a in axes for e in (a.start, a.stop)))
        self.touch(within(inner, self.program.buffers, self.written, spread) | bounds)
        self.source(s)
        depth = self.depth
        open_points(self, axes, f"{self.group}.warp()", f"{self.group}.warps()", inner)
        self.line("Warp warp;")
        body = GroupBody(self.unit, "warp", self.kernel, self.depth, warps=False)
        body.held, body.cited = self.held, self.cited
        body.nested(inner)
        if body.pending and (self.left or self.several):  # the warp comes back to elements that are no lane's own
            body.line("warp.sync();")
        self.take(body)
        close_to(self, depth)
        end_parts(self, parts)

    # --- accumulators that live outside a loop

    # --- bodies of one thread

    def thread_body(self, order: Expr | None = None) -> Body:
        body = Body(self.unit, self.depth)
        body.held, body.cited, body.order = self.held, self.cited, order
        body.slice_number = self.thread_number, "thread"
        return body

    def take(self, body: Body) -> None:
        self.lines += body.lines
        self.cited = body.cited

    # --- filters and scans

    def compact(self, s: n.Compact) -> None:
        print_compact(self, s)

    def scanning(self, s: n.Scanning) -> None:
        print_scan(self, s)
