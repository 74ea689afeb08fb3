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
from transkern.ir.storage import itemsize
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
from transkern.targets.clike import CPrinter, ident, kind_of
from transkern.targets.comments import comment
from transkern.targets.cpu.printing import waking
from transkern.targets.cpu.printing.extremes import begin_extremes, clause_of, end_extremes, print_extreme
from transkern.targets.cpu.printing.filters import print_filter
from transkern.targets.cpu.printing.neighbours import BRANCHES_STAY, packed_under_conditions
from transkern.targets.cpu.printing.searches import positions_of, print_positions, print_search, search_of
from transkern.targets.cpu.printing.streams import print_streamed, streams
from transkern.targets.cpu.printing.teams import begin_team, print_shared, team, wait_for_all
from transkern.targets.cpu.printing.terms import print_sums, sums_of
from transkern.targets.cpu.printing.timers import Timers
from transkern.targets.cpu.printing.waking import begin_deal, end_deal
from transkern.targets.cpu.running import COUNTED, Estimate, count_turns, estimate

TYPES = {
    "bool": "uint8_t", "int8": "int8_t", "int16": "int16_t", "int32": "int32_t", "int64": "int64_t", "uint8": "uint8_t",
    "uint16": "uint16_t", "uint32": "uint32_t", "uint64": "uint64_t", "float16": "_Float16", "float32": "float",
    "float64": "double", "index": "int64_t",
}  # fmt: skip

_LANES = 64  # elements of the narrowest type in the widest vector
_UNEVEN = 1  # iterations that a thread takes at a time where they do not all cost the same
_SHORT = 16  # iterations of a loop that is written out
_SHARED = 16  # the same where each stores its own element: threads that store into one line of a cache wait for it
_UNKNOWN = 32  # what is taken for the work of a loop whose trips only data tell, in iterations of a loop in vectors
_REPEATED = 4  # inside a sequential loop threads are woken each time: they must gain more
_TWICE = 60  # statements up to which a loop is printed twice, with threads and without
RESERVE = r"""
#include <sys/mman.h>
// Addresses for more than will ever be needed: only what is touched becomes memory. Some are kept when they are
// released, with the first of their pages: the system takes longer to give a page than the loop to fill it.
// Giving pages back asks the system to look through all addresses, so marks stand where a list that gets long, or one
// that begins in the middle, overwrites one: where all are there, there is nothing to give back.
enum { PY_SPARE = 24, PY_RESIDENT = 1 << 19, PY_MARKS = 8, PY_HEAD = 4096 };
static const uint64_t py_mark = 0x9e3779b97f4a7c15;
typedef struct { size_t size, middle; } py_reserved;
static char *py_spare[PY_SPARE];

static uint64_t *py_marked(char *base, int k) {
    return (uint64_t *)(base + PY_HEAD + (k < PY_MARKS ? PY_RESIDENT / PY_MARKS * (size_t)(PY_MARKS + k)
                                                       : ((py_reserved *)base)->middle + (k > PY_MARKS ? 0 : -8)));
}

static void *reserve(size_t bytes, size_t row) {
    const size_t least = (size_t)@RESERVED@ * 8;  // all alike, so that each fits
    const size_t size = (bytes > least ? bytes : least) + PY_HEAD, middle = ((size_t)1 << @MIDDLE@) * (row ? row : 1);
    char *base = NULL;
    for (int k = 0; k < PY_SPARE && !base; ++k) {
        base = __atomic_exchange_n(&py_spare[k], NULL, __ATOMIC_ACQ_REL);
        if (base && ((py_reserved *)base)->size >= size) break;
        if (base && (base = __atomic_exchange_n(&py_spare[k], base, __ATOMIC_ACQ_REL)))
            munmap(base, ((py_reserved *)base)->size);
        base = NULL;
    }
    const int fresh = !base;
    if (fresh) base = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (base == MAP_FAILED) return NULL;
    const int other = fresh || ((py_reserved *)base)->middle != middle;
    if (fresh) *(py_reserved *)base = (py_reserved){size, middle};
    ((py_reserved *)base)->middle = middle;
    for (int k = fresh ? 0 : PY_MARKS; other && k < PY_MARKS + 2; ++k) *py_marked(base, k) = py_mark;
    return base + PY_HEAD;
}

static void release(void *memory) {
    if (!memory) return;
    char *base = (char *)memory - PY_HEAD;
    const size_t size = ((py_reserved *)base)->size;
    int whole = 1;
    for (int k = 0; k < PY_MARKS + 2; ++k) whole &= *py_marked(base, k) == py_mark;
    if (!whole) {
        madvise(base + PY_HEAD + PY_RESIDENT, size - PY_HEAD - PY_RESIDENT, MADV_DONTNEED);
        for (int k = 0; k < PY_MARKS + 2; ++k) *py_marked(base, k) = py_mark;
    }
    for (int k = 0; k < PY_SPARE && base; ++k)
        if (!__atomic_load_n(&py_spare[k], __ATOMIC_RELAXED))
            base = __atomic_exchange_n(&py_spare[k], base, __ATOMIC_ACQ_REL);
    if (base) munmap(base, ((py_reserved *)base)->size);
}
""".replace("@MIDDLE@", str(n.RESERVED_ROWS.bit_length() - 2)).replace("@RESERVED@", str(n.RESERVED))
BYTES = """// The bytes of an array; more than there can be where they are not countable.
#define PY_TOO_MUCH ((size_t)PTRDIFF_MAX & ~(size_t)0xffffff)
static inline size_t py_bytes(size_t itemsize, int ndim, const int64_t *dims) {
    size_t bytes = itemsize;
    for (int d = 0; d < ndim; ++d) if (dims[d] <= 0) return 0;
    for (int d = 0; d < ndim; ++d)
        if (__builtin_mul_overflow(bytes, (size_t)dims[d], &bytes) || bytes > PY_TOO_MUCH) return PY_TOO_MUCH;
    return bytes;
}"""
_FIRST = """#pragma omp declare reduction( \\
    py_first: int64_t: omp_out = omp_out < 0 || (omp_in >= 0 && omp_in < omp_out) ? omp_in : omp_out) \\
    initializer(omp_priv = -1)"""
_STACK_BYTES = 16_384  # temporaries of one iteration up to this size stand on the stack


def bytes_of(c: CPrinter, buffer: n.Buffer) -> str:
    """The bytes of a buffer, as C."""
    dims = ", ".join(c.expr(d) for d in buffer.dims) or "0"
    return f"py_bytes({itemsize(buffer.dtype)}, {len(buffer.dims)}, (const int64_t[]){{{dims}}})"


def reserving(c: CPrinter, buffer: n.Buffer) -> str:
    """The call for a buffer's memory that is longer than anybody needs, as C."""
    bytes_of_one = f"sizeof *{ident(buffer.name)}"
    row = "".join(f" * ({c.expr(d)})" for d in buffer.dims[1:])
    return f"reserve(({c.expr(b.product(buffer.dims))}) * {bytes_of_one}, {bytes_of_one}{row})"


def element_type(buffer: n.Buffer) -> str:
    """What a pointer to a buffer's memory points to: bytes where elements are not aligned."""
    return TYPES[buffer.dtype] if buffer.aligned else "char"


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
    accumulators: dict[str, n.Accumulator] = field(default_factory=dict)
    guards: list[n.Guard] = field(default_factory=list)
    searching: int = 0  # how many `while` loops do: their short passes do not pay for waking threads
    repeated: int = 0  # how many sequential loops enclose the statement
    parallel: int = 0  # how many parallel regions enclose the statement
    sums: set[str] = field(default_factory=set)
    short: set[str] = field(default_factory=set)  # sums of no more terms than a block has
    begun: set[str] = field(default_factory=set)  # accumulators of this block that nothing has been taken into
    reductions: dict[str, str] = field(default_factory=dict)  # declared OpenMP reductions
    blocked: dict[str, str] = field(default_factory=dict)  # accumulator -> the local name that a block sums into
    extremes: dict[str, tuple[str, str, bool]] = field(default_factory=dict)  # parts around: op, dtype, numbers
    local: set[str] = field(default_factory=set)
    positions: set[str] = field(default_factory=set)  # which the loop around does not look for
    frees: list[list[str]] = field(default_factory=list)
    turns: list[int] = field(default_factory=list)  # for each loop around: how many of `frees` are outside of it
    reserved: set[str] = field(default_factory=set)  # what `reserve` has given
    early: set[str] = field(default_factory=set)  # the buffers that it gave before the loops that make them anew
    private: set[str] = field(default_factory=set)  # variables declared in the parallel loops around
    streaming: dict[str, str] = field(default_factory=dict)  # results computed in a block -> the block's element
    given: set[str] = field(default_factory=set)  # the scalars that the kernel is given
    read: set[str] = field(default_factory=set)  # the buffers that the kernel reads
    known: set[str] = field(default_factory=set)  # conditions that have been asked: they hold here
    team: bool = False  # whether a team of threads runs the statement together
    meeting: str = ""  # where its threads wait for each other
    estimate: Estimate = field(init=False)  # what the kernel will take
    counts: bool = False  # whether it counts turns of its loops
    region: Region | None = None  # the loop around that threads share
    timers: Timers | None = None  # where the program is to be measured
    is_one_loop: bool = False  # whether the kernel has one loop, and nothing beside it that takes time
    nest: int = 0  # how many loops enclose the statement, if all are in order; else more than one
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
        self.local = set()
        top_declared = [x for x in changed if x in self.program.variables and x not in {v.name for v in initial}]
        local_lets = {s.name for s in walk(kernel.body) if isinstance(s, n.Let)}
        for name in top_declared:
            if name not in local_lets:
                self.line(f"{TYPES[self.program.variables[name]]} {ident(name)} = 0;")
        self.frees, self.turns = [[]], []
        self.early = set()
        self.reserve_early(kernel.body)
        self.read, self.given = set(buffers_used(kernel)), {v.name for v in scalars}
        self.estimate, self.counts = estimate(self.program, kernel, self.given), False
        begins = len(self.lines)
        self.is_one_loop = sum(isinstance(s, (n.Loop, n.While, n.Compact)) for s in kernel.body) == 1
        self.block(kernel.body)
        guarded = bool(self.guards)
        if guarded:
            params.append("int64_t *py_error")
        if self.counts:
            params.append("py_run *py_running")
            self.lines[begins:begins] = [f"    {COUNTED}"]
        for v in outputs:
            self.line(f"*{ident(v.name)}_out = {ident(v.name)};")
        self.free_last()
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
        around, self.begun = self.begun, set()
        statements = tuple(statements)
        here = {s.name for s in statements if isinstance(s, n.Accumulator)}
        for s in statements:
            if isinstance(s, n.Loop) and (names := here & _sums_a_part(s)):
                others = {x.name for o in statements if o is not s for x in walk((o,)) if isinstance(x, n.Accumulate)}
                self.short |= names - others
        for s in statements:
            self.statement(s)
            if isinstance(s, n.Accumulator):
                declared.add(s.name)
                self.begun.add(s.name)
                continue
            self.begun -= continued((s,))
            for name in sorted({x.name for x in walk((s,)) if isinstance(x, n.Accumulate)} & declared & self.sums):
                kind = TYPES[self.accumulators[name].dtype]
                total = f"{ident(name)}_part" if name in self.short else f"{ident(name)}_high + {ident(name)}_low"
                self.line(f"const {kind} {ident(name)} = {total};")
        self.begun = around

    def statement(self, s: n.Stmt) -> None:
        c = self.c
        if not isinstance(s, (n.Accumulator, n.Alloc, n.Loop, n.Compact)):
            self.source(s)
        if is_loop := isinstance(s, (n.Loop, n.While, n.Compact)):
            self.turns.append(len(self.frees))
        timer = self.begin_timer(s) if is_loop and self.timers is not None else None
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
                self.accumulator(s)
            case n.Accumulate():
                self.accumulate(s)
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
                if buffer not in self.early:
                    self.alloc(buffer)
            case _:
                raise AssertionError(f"not a kernel statement: {s}")
        if is_loop:
            self.turns.pop()
        if self.timers is not None and is_loop:
            self.end_timer(s, timer)

    def begin_timer(self, s: n.Stmt) -> int | None:
        """A timer around a loop at the top of the kernel, or directly within one in order there; its number, if any."""
        timers, number = self.timers, None
        assert timers is not None
        alone = self.nest == 0 and self.is_one_loop  # which the kernel's own timer measures
        if self.nest < 2 and not alone and not self.parallel and not self.team and timers.may_measure(s):
            number = timers.number("loop", "", s)
            self.line(timers.begin(number))
            timers.around.append(number)
        in_order = isinstance(s, n.While) or (isinstance(s, n.Loop) and s.kind == "sequential")
        self.nest += 1 if in_order else 2
        return number

    def end_timer(self, s: n.Stmt, number: int | None) -> None:
        in_order = isinstance(s, n.While) or (isinstance(s, n.Loop) and s.kind == "sequential")
        self.nest -= 1 if in_order else 2
        if number is not None and self.timers is not None:
            self.timers.around.pop()
            self.line(self.timers.end(number))

    def stored(self, buffer: str, value: Expr) -> str:
        return self.c.expr(value)

    def nested(self, statements: Sequence[n.Stmt]) -> None:
        self.depth += 1
        self.frees.append([])
        self.block(statements)
        self.free_last()
        self.depth -= 1

    def free_last(self) -> None:
        self.free(self.frees.pop())

    def free(self, names: Sequence[str]) -> None:
        for name in names:
            self.line(f"{'release' if name in self.reserved else 'free'}({name});")

    def leave(self, how: str) -> None:
        for level in self.frees[self.turns[-1] :]:
            self.free(level)
        self.line(how)

    def alloc(self, buffer: str) -> None:
        info = self.program.buffers[buffer]
        size: Expr = b.product(info.dims)
        constant = b.constant(size)
        kind = self.c.type(info.dtype)
        if constant is not None and constant * itemsize(info.dtype) <= _STACK_BYTES:
            self.line(f"{kind} {ident(buffer)}[{max(1, constant)}];")
            return
        if info.is_reserved:
            self.c.used["reserve"] = RESERVE
            self.line(f"{kind} *{ident(buffer)} = {reserving(self.c, info)};")
            self.guard(n.Guard(Var(f"{buffer}_is_there", "bool"), "MemoryError", ""), f"!{ident(buffer)}")
            self.frees[-1].append(ident(buffer))
            self.reserved.add(ident(buffer))
            return
        self.c.used["py_bytes"] = BYTES
        self.line(f"{kind} *{ident(buffer)} = malloc({bytes_of(self.c, info)} + sizeof *{ident(buffer)});")
        self.out_of_memory(ident(buffer))
        self.frees[-1].append(ident(buffer))

    def out_of_memory(self, name: str) -> None:
        """Leaves where there is no memory for a temporary. Nobody can leave a loop that threads share: a thread goes on
        with its next iteration, and the kernel is left behind the loop."""
        if self.region is None:
            self.guard(n.Guard(b.FALSE, "MemoryError", ""), f"!{name}")
            return
        self.region.lost = True
        self.line(f"if (!{name}) {{")
        self.depth += 1
        for level in self.frees[self.region.levels :]:
            self.free(level)
        self.line(f"__atomic_store_n(&{self.region.name}, 1, __ATOMIC_RELAXED);")
        self.line(f"goto {self.region.name}_next;")
        self.depth -= 1
        self.line("}")

    def reserve_early(self, block: Iterable[n.Stmt], repeated: bool = False) -> None:
        """Reserves once what loops in order would reserve at each turn: the system takes the memory back each time."""
        for s in block:
            if isinstance(s, n.Alloc) and repeated and s.buffer not in self.early:
                info = self.program.buffers[s.buffer]
                if info.is_reserved and b.constant(b.product(info.dims)) is not None:
                    self.alloc(s.buffer)
                    self.early.add(s.buffer)
            if not (isinstance(s, n.Loop) and s.kind == "parallel"):
                for inner in bodies(s):
                    self.reserve_early(inner, repeated or isinstance(s, (n.Loop, n.While)))

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
        for level in self.frees:
            self.free(level)
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
            self.frees.append([])
            self.block(s.head)
            self.source(s)
            self.line(f"if (!({self.c.expr(s.condition)})) {{")
            self.depth += 1
            self.leave("break;")
            self.depth -= 1
            self.line("}")
            self.block(s.body)
            self.free_last()
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
        sums = [x for x in own if self.is_float_sum(x)] if innermost else []
        threads = self._threads(s, _in_order(s))
        if serial and (found := positions_of(self, s)):
            print_positions(self, s, found)
            return
        if not self.short.isdisjoint(x.name for x in sums):
            self.short_loop(s, sums)
            return
        if sums:
            self.blocked_loop(s, sums, outer, threads)
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
        pragma = self.pragma(s, outer, threads, vector, deal)
        if threads:
            self.region = Region(self.names.fresh("py_lost"), len(self.frees))
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

    def pragma(self, s: n.Loop, outer: Sequence[n.Accumulate], threads: str, simd: bool, deal: str) -> str:
        if not threads and not simd:
            return ""
        clauses = "".join(self._clause(x) for x in {x.name: x for x in outer}.values())
        words = "#pragma omp"
        schedule = " schedule(static)"
        if threads and _uneven(s):
            rows = any(isinstance(x, n.Store) and x.index and x.index[-1] == Var(s.axis, "index") for x in s.body)
            schedule = f" schedule(static, {_SHARED if rows else _UNEVEN})"
        if threads == "team":
            return words + (" for simd" if simd else " for") + clauses + schedule + " nowait"
        if threads:
            words += " parallel for"
        if simd:
            words += " simd"
        words += clauses
        if threads:
            words += schedule
            if deal:
                words += f" if({'parallel: ' if simd else ''}{deal}.shared)"
        return words

    def _clause(self, x: n.Accumulate) -> str:
        acc = self.accumulators[x.name]
        name = ident(x.name)
        if self.is_float_sum(x):
            return f" reduction(+: {name}_high, {name}_low)"
        if x.name in self.extremes:
            return clause_of(self, x.name)
        match x.op:
            case "sum" | "count":
                return f" reduction(+: {name})"
            case "prod":
                return f" reduction(*: {name})"
            case "any":
                return f" reduction(|: {name})"
            case "all":
                return f" reduction(&: {name})"
            case "max" | "min":
                return f" reduction({self._extreme(x.op, acc.dtype)}: {name})"
            case "first":
                self.c.used.setdefault("py_first", _FIRST)
                return f" reduction(py_first: {name})"
            case "last":
                return f" reduction(max: {name})"
            case _:
                return ""

    def _extreme(self, op: str, dtype: str) -> str:
        """An OpenMP reduction with NumPy's max or min, NaN included."""
        if kind_of(dtype) != "f":
            return op
        helper = self.c.helper("maximum" if op == "max" else "minimum", dtype)
        name = f"numpy_{op}_{dtype}"
        sign = "-" if op == "max" else ""
        self.reductions[name] = (
            f"#pragma omp declare reduction({name}: {TYPES[dtype]}: omp_out = {helper}(omp_out, omp_in)) "
            f"initializer(omp_priv = {sign}INFINITY)"
        )
        return name

    # --- reductions

    def is_float_sum(self, x: n.Accumulate) -> bool:
        return x.op == "sum" and kind_of(self.accumulators[x.name].dtype) == "f"

    def accumulator(self, s: n.Accumulator) -> None:
        self.accumulators[s.name] = s
        name, kind = ident(s.name), TYPES[s.dtype]
        if s.op == "sum" and kind_of(s.dtype) == "f":
            self.sums.add(s.name)
            if s.name in self.short:
                return  # it is what its loop comes to
            self.line(f"double {name}_high = 0, {name}_low = 0;  // the sum and what rounding took from it")
            return
        initial = {
            "sum": "0", "count": "0", "prod": "1", "any": "false", "all": "true", "first": "-1", "last": "-1",
            "argmax": "-1", "argmin": "-1",
        }.get(s.op)  # fmt: skip
        if s.op in ("max", "min"):
            initial = self.bound(s.op, s.dtype)
        self.line(f"{kind} {name} = {initial};")

    def bound(self, op: str, dtype: str) -> str:
        """What a maximum or minimum begins with."""
        return self.c.constant((lowest(dtype) if op == "max" else highest(dtype)).value, dtype)

    def accumulate(self, s: n.Accumulate) -> None:
        c, name = self.c, ident(s.name)
        if s.name in self.blocked:
            self.line(f"{self.blocked[s.name]} += {c.expr(s.value)};")
            return
        if self.is_float_sum(s):
            self.c.used.setdefault("add_exactly", _ADD_EXACTLY)
            self.line(f"add_exactly(&{name}_high, &{name}_low, {c.expr(s.value)});")
            return
        if s.name in self.positions:
            return
        if s.name in self.extremes:
            print_extreme(self, s)
            return
        value = c.expr(s.value)
        dtype = self.accumulators[s.name].dtype
        match s.op:
            case "sum":
                self.line(f"{name} += {value};")
            case "count":
                self.line(f"{name} += {value};")
            case "prod":
                self.line(f"{name} *= {value};")
            case "any":
                self.line(f"{name} |= {value};")
            case "all":
                self.line(f"{name} &= {value};")
            case "max" | "min":
                kind = ("maximum", "minimum") if kind_of(dtype) == "f" else ("imax", "imin")
                self.line(f"{name} = {c.helper(kind[s.op == 'min'], dtype)}({name}, {value});")
            case "argmax" | "argmin":
                self._arg(s, value)
            case "first":
                assert s.position is not None
                self.line(f"if ({name} < 0 && ({value})) {name} = {c.expr(s.position)};")
            case "last":
                assert s.position is not None
                self.line(f"if ({value}) {name} = {c.expr(s.position)};")
            case _:
                raise AssertionError(s.op)

    def _arg(self, s: n.Accumulate, value: str) -> None:
        assert s.position is not None
        name, kind = ident(s.name), self.c.type(s.value.dtype)
        sign = ">" if s.op == "argmax" else "<"
        self.line(f"const {kind} {name}_here = {value};")
        nan = f" || ({name}_here != {name}_here && {name}_best == {name}_best)" if kind_of(s.value.dtype) == "f" else ""
        self.line(f"if ({name} < 0 || {name}_here {sign} {name}_best{nan}) {{")
        self.line(f"    {name}_best = {name}_here;")
        self.line(f"    {name} = {self.c.expr(s.position)};")
        self.line("}")
        self.declare_best(s)

    def declare_best(self, s: n.Accumulate) -> None:
        """What is best so far stands beside its position."""
        name, kind = ident(s.name), self.c.type(s.value.dtype)
        declared = (k for k, text in enumerate(self.lines) if text.strip().startswith(f"int64_t {name} = -1;"))
        at = max(declared)  # a loop may be printed twice
        if f"{name}_best" not in self.lines[at]:
            self.lines[at] += f" {kind} {name}_best = 0;"

    def blocked_loop(
        self, s: n.Loop, sums: Sequence[n.Accumulate], outer: Sequence[n.Accumulate], threads: str
    ) -> None:
        """A loop that sums floats: vector sums of blocks, added up exactly."""
        c, i = self.c, ident(s.axis)
        c.used.setdefault("add_exactly", _ADD_EXACTLY)
        names = list(dict.fromkeys(x.name for x in sums))
        others = [x for x in outer if x.name not in names]
        start, stop = c.expr(s.start), c.operand(s.stop)
        deal = self.deal(threads)
        if threads:
            clauses = "".join(self._clause(x) for x in {x.name: x for x in outer}.values())
            self.line(f"#pragma omp parallel for{clauses} schedule(static)" + (f" if({deal}.shared)" if deal else ""))
        self.line(f"for (int64_t {i}_block = {start}; {i}_block < {stop}; {i}_block += {PART}) {{")
        self.depth += 1
        self.line(f"const int64_t {i}_end = {i}_block + {PART} < {stop} ? {i}_block + {PART} : {stop};")
        clauses = self.begin_parts(sums, others if self.vectorises(s) else [])
        if self.vectorises(s):
            self.line(f"#pragma omp simd{clauses}")
        self.line(f"for (int64_t {i} = {i}_block; {i} < {i}_end; ++{i}) {{")
        self.iteration(s, self.vectorises(s))
        self.line("}")
        self.end_parts(sums)
        self.depth -= 1
        self.line("}")
        end_deal(self, deal)

    def short_loop(self, s: n.Loop, sums: Sequence[n.Accumulate]) -> None:
        """A loop of no more terms than a block has: what is summed by it alone is one part."""
        clauses = self.begin_parts(sums, [])
        if self.vectorises(s):
            self.line(f"#pragma omp simd{clauses}")
        self.line(self.header(s))
        self.iteration(s, self.vectorises(s))
        self.line("}")
        self.end_parts([x for x in sums if x.name not in self.short])
        for x in sums:
            self.blocked.pop(x.name, None)

    def begin_parts(self, sums: Sequence[n.Accumulate], others: Sequence[n.Accumulate]) -> str:
        """Declares what a block adds up, and the extrema of its own; OpenMP's reductions for all."""
        for name in dict.fromkeys(x.name for x in sums):
            self.blocked[name] = f"{ident(name)}_part"
            self.line(f"{TYPES[self.accumulators[name].dtype]} {ident(name)}_part = 0;")
        clauses = "".join(f" reduction(+: {ident(name)}_part)" for name in dict.fromkeys(x.name for x in sums))
        begin_extremes(self, others)
        return clauses + "".join(self._clause(x) for x in {x.name: x for x in others}.values())

    def end_parts(self, sums: Sequence[n.Accumulate]) -> None:
        """Takes what a block has come to into the totals."""
        end_extremes(self, [name for name, (op, *_) in self.extremes.items() if self.accumulators[name].op == op])
        for name in dict.fromkeys(x.name for x in sums):
            self.c.used.setdefault("add_exactly", _ADD_EXACTLY)
            self.line(f"add_exactly(&{ident(name)}_high, &{ident(name)}_low, {self.blocked.pop(name)});")


_ADD_EXACTLY = """static inline void add_exactly(double *high, double *low, double value) {
    const double sum = *high + value;  // two-sum: what the addition rounds away goes into `low`
    const double part = sum - *high;
    const double lost = (*high - (sum - part)) + (value - part);
    if (lost - lost == 0) *low += lost;
    *high = sum;
}"""


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


def _uneven(loop: n.Loop) -> bool:
    """Whether how long the loops inside are depends on the iteration: in a triangle, half of it may be most of it."""
    moving = {loop.axis}
    for s in walk(loop.body):
        if isinstance(s, n.Let) and variables_read(s.value) & moving:
            moving.add(s.name)
    if any(isinstance(x, n.While) for x in walk(loop.body)):
        return True
    inner = (x for x in walk(loop.body) if isinstance(x, n.Loop) and not x.axis.startswith("lane"))
    return any(variables_read(b.sub(x.stop, x.start)) & moving and at_most(x) is None for x in inner)


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
