"""Kernels as `__global__` functions: which form each takes, its parameters, and how it is launched.

elements   a thread for each point of a nest; contiguous arrays in words of 16 bytes where all accesses agree
           (`flat`), tiles where loads go the other way (`turned`)
rows       a block for each row: the loops inside are shared by its threads
reduction  either of these, each block's part put down, the last block combines them
block      one block for all, with the sequential loop inside; the same entry runs it on a cooperative grid
"""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet

from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Expr, Var
from transkern.ir.highest import highest
from transkern.ir.traverse import buffers_read, resolved, scalars_set, scalars_used, variables_read, walk
from transkern.records import replace
from transkern.targets.clike import ident
from transkern.targets.cuda.body import Body, Unit, extent_of, has_guards
from transkern.targets.cuda.failures import Checks, at_entry
from transkern.targets.cuda.forms import flat, turned
from transkern.targets.cuda.forms.bins import Bins, bins_of, close_bins, open_bins
from transkern.targets.cuda.forms.columns import has_columns, print_columns
from transkern.targets.cuda.forms.folds import run_of
from transkern.targets.cuda.forms.loops import accumulated, counts_alone, print_counts, print_sums
from transkern.targets.cuda.forms.odometer import take_begun
from transkern.targets.cuda.forms.parts import open_points, shares_nest, shares_points, stores_elements
from transkern.targets.cuda.forms.scans import scan_width
from transkern.targets.cuda.forms.tiles import Tile, print_tile, tile_of
from transkern.targets.cuda.group import GroupBody
from transkern.targets.cuda.launches import (
    BLOCK_THREADS,
    FIRST,
    MANY_STEPS,
    NUMPY,
    REDUCED,
    SHORT_ROWS,
    STEP,
    THREADS,
    TILED,
    KernelText,
    Launch,
)
from transkern.targets.cuda.nests import (
    bytes_touched,
    goes_on,
    has_parallel,
    is_long,
    nest,
    one_loop,
    own,
    rows_for_warps,
    runs_along_rows,
    shared,
    steps_between_barriers,
)
from transkern.targets.cuda.parameters import parameters, work
from transkern.targets.cuda.prelude import SHARING
from transkern.targets.cuda.spelling import PREFIX, TYPES
from transkern.targets.wrapping import wrapped


class KernelPrinter:
    """Prints the kernels of one program."""

    def __init__(self, program: n.Program, checks: Checks) -> None:
        self.program, self.unit, self.checks = program, Unit(program), checks
        self.opening: list[str] = []  # of the present kernel, whose first check has the number behind `first_guard`
        self.first_guard, self.whole = 0, n.Kernel("", ())

    def kernel(self, kernel: n.Kernel) -> KernelText:
        """The text of a kernel. What it checks at its beginning stands in front of all forms."""
        self.first_guard = len(self.unit.guards)
        self.whole, entry = kernel, at_entry(kernel)
        self.opening = self.checks.opening(kernel.name) + self.entry(entry)
        kernel = replace(kernel, body=kernel.body[len(entry) :])
        if kernel.placement == "grid":
            for form in (flat.kernel, turned.kernel):
                found = form(self.unit, kernel, self.opening, self.whole)
                if found is not None:
                    found.guards = self.guards()
                    return found
        loop = one_loop(kernel)
        if loop is None:
            return self.together(kernel)
        found = self.grid(kernel, loop)
        if found.launch.form == "rows" and self.may_be_shared(kernel, loop, found):
            shared = replace(kernel, name=self.unit.kernel(f"{kernel.name}_shared"))
            found.other = self.grid(shared, loop, by_points=True)
        elif found.launch.form == "parts" and has_columns(*nest(loop)):
            alone = replace(kernel, name=self.unit.kernel(f"{kernel.name}_columns"))
            found.other = self.grid(alone, loop, alone=True)
        found.text += f"\n{found.other.text}" if found.other else ""
        return found

    def entry(self, checks: Sequence[n.Guard]) -> list[str]:
        """Checks that all threads make, of what none of them changes; one puts down what fails."""
        body = Body(self.unit)
        for s in checks:
            self.unit.guards.append(s)
            body.source(s)
            body.open(f"if (!({self.unit.c.expr(s.condition)}))")
            body.open("if (blockIdx.x == 0 && threadIdx.x == 0)")
            body.line(f"error[0] = {len(self.unit.guards)};")
            for k, arg in enumerate(s.args):
                body.line(f"error[{k + 1}] = {body.told(arg)};")
            body.close()
            body.line("return;")
            body.close()
        return body.lines

    def guards(self) -> dict[int, n.Guard]:
        """The checks of the kernel, by their numbers."""
        return {k + 1: g for k, g in enumerate(self.unit.guards) if k >= self.first_guard}

    def variables(self, body: GroupBody, kernel: n.Kernel, scalars: Sequence[Var]) -> None:
        """Declares the scalars that the kernel assigns."""
        given = {v.name for v in scalars}
        lets = {s.name for s in walk(kernel.body) if isinstance(s, (n.Let, n.Accumulator))}
        for name in sorted(scalars_set(kernel) - given - lets):
            if name not in self.program.variables:
                continue
            first = next((s for s in kernel.body if name in scalars_set(s) | scalars_used(s)), None)
            if isinstance(first, n.Assign) and first.name == name:
                body.undeclared[name] = self.program.variables[name]
            else:
                body.line(f"{TYPES[self.program.variables[name]]} {ident(name)} = 0;")

    def slices(self, params: list[str]) -> dict[str, str]:
        """The memory that iterations have slices of, also as parameters."""
        found = dict(self.unit.slices)
        self.unit.slices.clear()
        for name in found:
            params.append(f"{TYPES[self.program.buffers[name].dtype]} *slices_{ident(name)}")
            params.append(f"const long long slice_{ident(name)}")
        return found

    # --- forms

    def may_be_shared(self, kernel: n.Kernel, loop: n.Loop, rows: KernelText) -> bool:
        """Whether a call may have rows of fewer elements than a warp has lanes, and threads could have one each, or so
        long ones that several blocks could have one. What is a warp's own in a block would be a thread's."""
        length, (axes, inner) = b.constant(rows.launch.counts[1]), nest(loop)
        least = 0 if any(map(stores_elements, shared(inner))) else SHORT_ROWS  # those that are stored have a block each
        return (
            kernel.placement == "grid" and not (has_guards(loop) or rows.partials or rows.slices)
            and (length is None or not least <= length < MANY_STEPS * SHARING) and shares_nest(axes, inner)
            and not any(isinstance(s, n.Loop) and rows_for_warps(s) for s in shared(inner))
        )  # fmt: skip

    def grid(self, kernel: n.Kernel, loop: n.Loop, by_points: bool = False, alone: bool = False) -> KernelText:
        """A nest over the whole grid; accumulators outside it are combined by the block that ends last. `by_points`:
        for rows that have no block each; `alone`: for points so many that threads share none."""
        axes, inner = nest(loop)
        rows = not by_points and (kernel.placement == "rows" or self.needs_rows(inner))
        guarded = has_guards(loop)
        one_each = rows or alone or guarded or not shares_nest(axes, inner)
        parts = [] if one_each else [self.unit.local(f"shared_{what}") for what in ("parts", "blocks", "memory")]
        group = GroupBody(self.unit, "block", kernel)
        group.searches = False  # the blocks do not wait for each other
        tile: Tile | None = None
        bins: dict[str, Bins] = {}
        down = ""  # the parameter that says how many rows a thread goes down
        accumulators = accumulated((loop,))
        reduces = bool(accumulators) and all(isinstance(x, (n.Let, n.Accumulate)) for x in inner)
        buffers, scalars, params = parameters(self.program, self.whole, shared=rows or by_points)
        name = ident(kernel.name)
        if rows or accumulators:
            self.unit.pieces.add("block")
        before = kernel.body[: kernel.body.index(loop)]
        after = kernel.body[kernel.body.index(loop) + 1 :]
        if rows or accumulators:
            group.line("Block block;")
        begins = len(group.lines)
        self.variables(group, kernel, scalars)
        group.scopes.append({s.name for s in before if isinstance(s, n.Accumulator)})
        for k, s in enumerate(before):
            if isinstance(s, n.Accumulator):
                group.declare(s, kernel.body[k + 1 :])
            else:
                group.statement(s)
        if guarded:
            self.unit.pieces.add("put_failure")
            group.line("Failure failure = {};")
        if rows:
            group.source(loop)
            order = group.open_nest(axes, "blockIdx.x", "gridDim.x")
            body = GroupBody(self.unit, "block", kernel, group.depth)
            body.order, body.loops = order, 1
            body.held, body.cited = group.held, group.cited
            body.slice_number = "blockIdx.x", "block"
            body.is_outermost = True
            body.tile = tile = tile_of(self.program, inner)
            if tile is not None:
                print_tile(body, tile, [s for s in inner if isinstance(s, n.Alloc)])
            body.nested([s for s in inner if tile is None or not isinstance(s, n.Alloc)])
            group.take(body)
            if any(a.buffer in body.own for a in body.pending):
                group.line("block.sync();")  # the next row takes the same memory
        elif parts:
            self.unit.pieces.add("parts")
            group.source(loop)
            sharing = self.unit.local("sharing")
            order = open_points(group, axes, parts, sharing)
            body = GroupBody(self.unit, sharing, kernel, group.depth, warps=False)
            body.order, body.loops, body.tall = order, 1, True
            body.held, body.cited = group.held, group.cited
            body.nested(inner)
            group.take(body)
            group.close()
            group.line(f"{sharing}.leave();")
        else:
            first, step = self.unit.local("thread"), self.unit.local("threads")
            group.line(f"const long long {first} = {FIRST}, {step} = {STEP};")
            bins = bins_of(group, inner)
            open_bins(group, bins, b.product(tuple(extent_of(a) for a in axes)))
            group.source(loop)
            group.thread_number = first
            told = {name: (of.array, of.few) for name, of in bins.items()}
            along = len(axes) == 1 and loop.start == b.ZERO and loop.step == b.ONE
            if reduces and along:
                print_sums(group, loop, inner, first, step, (REDUCED, REDUCED // 2))
            elif bins and along and counts_alone(inner):
                print_counts(group, loop, inner, told, first, step, REDUCED // 2)
            elif not (guarded or accumulators or bins) and has_columns(axes, inner):
                down = print_columns(group, axes, inner, first, step)
            else:
                # a loop for large arrays alone: unrolled, it takes registers
                group.lines.append(f"#pragma unroll {REDUCED if reduces else 1}")
                order = group.open_nest(axes, first, step)
                thread = group.thread_body(order)
                thread.loops = 1
                thread.bins = told
                thread.nested(inner)
                group.take(thread)
                group.close()
        if rows:
            group.close()
        close_bins(group, bins)
        if guarded:
            failed = "failure.code > 0 && block.rank() == 0" if rows else "failure.code"
            group.line(f"if ({failed}) put_failure(failure, error);")
        for x in accumulators:
            params.append(f"{group.held[x].how.type} *{ident(x)}_partial")
        if accumulators:
            params.append("unsigned *arrived")
            self.finish(group, accumulators)
            group.settle(loop)
        group.block(after)
        group.lines[begins:begins] = take_begun(self.unit)
        slices = self.slices(params)
        opening = self.opening
        if opening:
            params.append("long long *error_records")
        if parts:
            params += [f"const int {parts[0]}", f"const int {parts[1]}", f"unsigned char *{parts[2]}"]
        params += [f"const long long {of.places}" for of in bins.values()]
        params += [f"const long long {down}"] if down else []
        counts = tuple(extent_of(a) for a in axes)
        if rows:
            inside = {s.axis for s in walk(kernel.body) if isinstance(s, (n.Loop, n.Scanning))}
            width = self.width(inner, axes, scalars_set(kernel) | inside)
            if kernel.placement == "rows":
                width = b.index(THREADS)
            scans = [scan_width(body, s) for s in walk(inner) if isinstance(s, n.Scanning)]
            each = max([1, *scans]) if tile is None else tile.held
            launch = Launch("rows", (b.product(counts), width), each)
        elif parts:
            inside = {s.axis for s in walk(kernel.body) if isinstance(s, (n.Loop, n.Scanning))}
            width = self.width(inner, axes, scalars_set(kernel) | inside)
            short = not any(map(stores_elements, shared(inner)))
            launch = Launch("parts", (b.product(counts), width), along=by_points, short=short)
        elif down:
            launch = Launch("columns", (b.product(counts[:-2]), *counts[-2:]))
        else:
            form = "elements" if accumulators or not (bins or goes_on(inner)) else "binned" if bins else "steps"
            launch = Launch(form, (b.product(counts),), REDUCED if reduces else 1)
        whole = str(BLOCK_THREADS) if launch.each == 1 else f"{TILED}, 2"
        if launch.each == 1 and any(isinstance(s, n.Loop) and len(nest(s)[0]) > 1 for s in shared(inner)):
            whole += ", 1"  # the compiler would rather spill registers than have one block on a multiprocessor
        bound = whole if rows else f"{SHARING}, 1" if parts else str(THREADS)
        if launch.form == "steps":
            bound += ", 1"  # of few threads: what they have under way counts, not how many fit a multiprocessor
        text = f'extern "C" __global__ void __launch_bounds__({bound}) {name}({wrapped(params)}) {{\n'
        text += "\n".join([*opening, *group.lines]) + "\n}\n"
        return KernelText(
            name,
            text,
            buffers,
            scalars,
            launch,
            self.guards(),
            tuple(NUMPY.get(group.held[x].how.type, "") for x in accumulators),
            False,
            slices,
            bool(opening),
            tuple(bins),
        )

    def needs_rows(self, inner: Sequence[n.Stmt]) -> bool:
        """Whether the iterations of a nest are shared by the threads of a block, not a thread's own."""
        if any(isinstance(x, n.Compact) for x in walk(inner)) or any(isinstance(x, n.Continue) for x in own(inner)):
            return False
        shares = shares_points(inner)
        return any(is_long(x) and runs_along_rows(x, shares) for x in shared(inner))

    def width(self, inner: Sequence[n.Stmt], around: Sequence[n.Loop], bound: AbstractSet[str]) -> Expr:
        """How many elements a row has: the longest nest inside; the launcher does not know what is `bound`."""
        found: Expr = b.ONE
        lets = {s.name: s.value for s in inner if isinstance(s, n.Let) and s.name not in self.program.variables}
        for s in shared(inner):
            extents = [s.stop] if isinstance(s, n.Scanning) else [extent_of(a) for a in nest(s)[0]]
            bounds = [highest(resolved(e, lets), around) for e in extents]
            known = [e for e in bounds if e is not None and not (variables_read(e) & bound or buffers_read(e))]
            found = _longer(found, b.product(tuple(known)) if len(known) == len(extents) else b.index(THREADS))
        return found

    def finish(self, group: GroupBody, names: Sequence[str]) -> None:
        """The threads' parts to one for the block; the blocks' parts to one, by the block that ends last."""
        self.unit.pieces |= {"reduce", "last_block"}
        for name in names:
            held = group.held[name]
            group.line(f"{held.name} = block.reduce({held.name}, {held.how.functor}());")
        for name in names:
            group.line(f"if (threadIdx.x == 0) {ident(name)}_partial[blockIdx.x] = {group.held[name].name};")
        group.line("if (!is_last_block(arrived)) return;")
        for name in names:
            group.line(f"{group.held[name].name} = {group.held[name].how.functor}::start();")
        k = self.unit.local("k")
        group.open(f"for (unsigned {k} = threadIdx.x; {k} < gridDim.x; {k} += blockDim.x)")
        for name in names:
            held = group.held[name]
            group.line(f"{held.name} = {held.how.functor}()({held.name}, {ident(name)}_partial[{k}]);")
        group.close()
        for name in names:
            held = group.held[name]
            group.line(f"{held.name} = block.reduce({held.name}, {held.how.functor}());")

    def together(self, kernel: n.Kernel) -> KernelText:
        """All statements by one group: a block, or a cooperative grid where there is much to do."""
        before = len(self.unit.guards)
        buffers, scalars, params = parameters(self.program, self.whole, shared=True)
        group = GroupBody(self.unit, "group", kernel)
        group.is_outermost = True
        self.variables(group, kernel, scalars)
        group.nested(kernel.body)
        group.lines[:0] = take_begun(self.unit)
        guards = self.guards()
        slices = self.slices(params)
        opening, passed = self.opening, list(params)
        if opening:
            passed.append("long long *error_records")
        if len(self.unit.guards) > before:
            params.append("long long *error")
        begins = "".join(f"{line}\n" for line in opening)
        name = ident(kernel.name)
        counts = work(self.program, kernel)
        if not counts and any(run_of(s) is not None for s in walk(kernel.body)):
            counts = (b.index(THREADS),)  # warps that bring terms and take values away, beside the one that goes on
        if counts and not group.meets:
            # No thread waits for another: as many blocks as there is work for.
            self.unit.pieces.add("threads")
            text = f'extern "C" __global__ void __launch_bounds__({THREADS}) {name}({wrapped(passed)}) {{\n'
            text += begins + "    Threads group;\n" + "\n".join(group.lines) + "\n}\n"
            launch = Launch("spread", counts)
            return KernelText(name, text, buffers, scalars, launch, guards, (), False, slices, bool(opening))
        self.unit.pieces.add("block")
        text = "\n".join(group.lines) + "\n}\n"
        given = [p.replace("*", " ").split()[-1] for p in params]

        def call(group: str, indent: int) -> str:
            return f"{name}_by({wrapped([group, *given], indent=indent)});"

        signature = f"template <class Group>\n{PREFIX} void {name}_by({wrapped(['Group &group', *params])}) {{\n"
        text = signature + text
        few = all((most := b.constant(e)) is not None and most <= BLOCK_THREADS for e in counts)
        cooperative = not few and has_parallel(kernel)
        memory = self.unit.local("grid_memory")
        if cooperative:
            self.unit.pieces.add("grid")
            passed.append(f"unsigned char *{memory}")
        text += f'extern "C" __global__ void __launch_bounds__({BLOCK_THREADS}) {name}({wrapped(passed)}) {{\n'
        text += begins
        if cooperative:
            text += f"    if (gridDim.x == 1) {{\n        Block block;\n        {call('block', 12)}\n    }} else {{\n"
            text += f"        Grid grid({memory});\n        {call('grid', 12)}\n        grid.leave();\n    }}\n}}\n"
        else:
            text += f"    Block block;\n    {call('block', 8)}\n}}\n"
        touched = bytes_touched(self.program, kernel)
        launch = Launch("block", counts, steps_between_barriers(kernel), touched=touched)
        return KernelText(name, text, buffers, scalars, launch, guards, (), cooperative, slices, bool(opening))


def _longer(a: Expr, c: Expr) -> Expr:
    return c if a == b.ONE or a == c else a if c == b.ONE else b.maximum(a, c)
