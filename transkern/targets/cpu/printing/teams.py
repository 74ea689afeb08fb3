"""One team of threads for all passes of a loop in order: a barrier costs less than to wake threads each time.

The barrier is our own. OpenMP's waits as its idle threads do between calls, and these sleep (see `build`): to wake one
takes tens of microseconds, as long as a pass may take in all. Ours turns for a while first.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Expr
from transkern.ir.traverse import buffers_read, scalars_set, scalars_used, variables_read, walk
from transkern.targets.cpu.printing import waking
from transkern.targets.cpu.printing.costs import work_of

if TYPE_CHECKING:
    from transkern.targets.cpu.printing.kernels import KernelPrinter

_LANES = 512  # at most so many lanes has a block
_WORK = 300_000  # operations of one pass below which a barrier costs a team more than it gains

_MEET = """// Where the threads of a team wait for each other: for some microseconds awake, then asleep.
#ifdef __linux__
#include <sched.h>
#include <sys/syscall.h>
long syscall(long, ...);
int sched_getcpu(void);
#elif defined(_WIN32)
void Sleep(uint32_t);
#define py_rest() Sleep(0)
#else
#include <unistd.h>
#define py_rest() usleep(1)
#endif
#ifdef _OPENMP
int omp_get_num_threads(void);
#else
static inline int omp_get_num_threads(void) { return 1; }
#endif
typedef struct { int arrived, turn, asleep, moved, core; } meeting;
#ifdef __linux__
// A thread that was woken on the core of one that goes on waits for it: it leaves that core, and may come back later.
static void leave_core(int core) {
    unsigned long all[128], others[128];
    const long bytes = syscall(SYS_sched_getaffinity, 0, sizeof all, all);
    if (bytes <= 0 || core < 0 || core >= 8 * bytes) return;
    int allowed = 0;
    for (long k = 0; k < bytes / (long)sizeof *all; ++k) allowed += __builtin_popcountl(others[k] = all[k]);
    if (allowed < omp_get_num_threads() || allowed < 2) return;
    const int bits = 8 * sizeof *all;
    others[core / bits] &= ~(1ul << core % bits);
    if (!syscall(SYS_sched_setaffinity, 0, bytes, others)) syscall(SYS_sched_setaffinity, 0, bytes, all);
}
#endif
static void meet(meeting *m) {
    const int turn = __atomic_load_n(&m->turn, __ATOMIC_ACQUIRE);
    if (__atomic_add_fetch(&m->arrived, 1, __ATOMIC_ACQ_REL) == omp_get_num_threads()) {  // the last one
        __atomic_store_n(&m->arrived, 0, __ATOMIC_RELAXED);
#ifdef __linux__
        __atomic_store_n(&m->core, sched_getcpu(), __ATOMIC_RELAXED);
#endif
        __atomic_store_n(&m->turn, (int)(turn + 1u), __ATOMIC_SEQ_CST);
#ifdef __linux__
        if (__atomic_load_n(&m->asleep, __ATOMIC_SEQ_CST)) syscall(SYS_futex, &m->turn, 129, 0x7fffffff);  // wake all
#endif
        return;
    }
    for (int k = 0; k < 100; ++k) {
        if (__atomic_load_n(&m->turn, __ATOMIC_ACQUIRE) != turn) return;
#if defined(__x86_64__)
        __builtin_ia32_pause();
#elif defined(__aarch64__)
        __asm__ volatile("yield");
#endif
    }
#ifdef __linux__
    for (int k = 0; k < 2000 && __atomic_load_n(&m->turn, __ATOMIC_ACQUIRE) == turn; ++k) sched_yield();
#endif
    __atomic_add_fetch(&m->asleep, 1, __ATOMIC_SEQ_CST);
    while (__atomic_load_n(&m->turn, __ATOMIC_SEQ_CST) == turn) {
#ifdef __linux__
        syscall(SYS_futex, &m->turn, 128, turn, (void *)0);  // wait while it is this turn
#else
        py_rest();
#endif
    }
    __atomic_sub_fetch(&m->asleep, 1, __ATOMIC_SEQ_CST);
#ifdef __linux__
    const int core = sched_getcpu();
    if (core == __atomic_load_n(&m->core, __ATOMIC_RELAXED) && __atomic_fetch_add(&m->moved, 1, __ATOMIC_RELAXED) < 16)
        leave_core(core);
#endif
}"""


def begin_team(printer: KernelPrinter, condition: str) -> None:
    """The line before a loop whose passes a team of threads runs, on `condition` (``1``: always)."""
    printer.c.used.setdefault("meet", _MEET)
    printer.meeting = printer.names.fresh("passes")
    asked = "" if condition == "1" else f" if({condition})"
    printer.line(f"meeting {printer.meeting} = {{0}};")
    printer.line(f"#pragma omp parallel{asked}  // one team of threads for all passes")
    printer.team = True


def wait_for_all(printer: KernelPrinter) -> None:
    """What each thread of a team does before it goes on to what others may still be computing."""
    printer.line(f"meet(&{printer.meeting});")


def team(printer: KernelPrinter, s: n.Loop) -> str:
    """The condition under which one team of threads runs all of a loop in order, or nothing.

    Its parallel loops are shared with a barrier behind each, which costs less than to wake threads each time.
    """
    condition = _enough_in_a_pass(printer, s)
    if not condition or s.large or waking.ALWAYS:
        return condition
    turns, cost = work_of(s)
    if buffers_read(turns):
        turns, cost = b.ONE, float(waking.LEAST)  # nobody knows how many passes there are
    return waking.pays(printer, turns, cost, "" if condition == "1" else f"({condition})")


def _enough_in_a_pass(printer: KernelPrinter, s: n.Loop) -> str:
    """The condition under which a pass is worth a barrier."""
    if printer.parallel or printer.team or not printer.threads or printer.searching or not _for_a_team(s):
        return ""
    if s.large:
        return "1"
    limit = _WORK
    branches = [x.condition for x in s.body if isinstance(x, n.If) and _is_large(x.then)]
    if branches:
        return " || ".join(printer.c.expr(x) for x in branches if not variables_read(x) & _bound(s))
    first, last = _pass(printer, s, s.start), _pass(printer, s, b.sub(s.stop, b.ONE))
    if first is None or last is None:
        return ""
    constant = b.constant(b.maximum(first, last))
    if constant is not None:
        return "1" if constant >= limit else ""
    enough = [x for x in (first, last) if (known := b.constant(x)) is None or known >= limit]
    conditions = dict.fromkeys(f"{printer.c.operand(x)} >= {limit}" for x in enough)
    return " || ".join(conditions)


def _pass(printer: KernelPrinter, s: n.Loop, at: Expr) -> Expr | None:
    """The work of the largest parallel loop in one iteration of `s`, where its counter is `at`."""
    known = {s.axis: at}
    most: Expr | None = None
    for x in s.body:
        if isinstance(x, n.Let) and x.value.dtype == "index":
            known[x.name] = b.substitute(x.value, known)
        inner = [x] if isinstance(x, n.Loop) else [*x.then, *x.orelse] if isinstance(x, n.If) else []
        for loop in inner:
            if not isinstance(loop, n.Loop):
                continue
            if loop.kind == "sequential":
                part = _pass(printer, loop, loop.start)
                part = None if part is None else b.substitute(part, known)
            else:
                work, cost = work_of(loop)
                part = b.substitute(work, known)
                whole = b.index(round(cost if cost >= 1 else 1 / cost))
                part = b.mul(part, whole) if cost >= 1 else b.floordiv(part, whole)
            if part is None or buffers_read(part) or variables_read(part) & _bound(s):
                continue
            most = part if most is None else b.maximum(most, part)
    return most


def print_shared(printer: KernelPrinter, statements: Sequence[n.Stmt]) -> None:
    """Statements that all threads of a team come to: parallel loops are shared, the rest is for one thread."""
    printer.depth += 1
    alone: list[n.Stmt] = []

    def flush() -> None:
        if alone:
            printer.line("#pragma omp single nowait")
            printer.line("{")
            printer.parallel += 1
            printer.nested(alone)
            printer.parallel -= 1
            printer.line("}")
            wait_for_all(printer)
            alone.clear()

    for s in statements:
        match s:
            case n.Loop(kind="parallel") if not _outer_sums(s) and _wide(s):
                flush()
                printer.loop(s)
            case n.Loop(kind="sequential") if _for_a_team(s):
                flush()
                printer.loop(s)
            case n.If() if _for_all(s):
                flush()
                printer.line(f"if ({printer.c.expr(s.condition)}) {{")
                print_shared(printer, s.then)
                if s.orelse:
                    printer.line("} else {")
                    print_shared(printer, s.orelse)
                printer.line("}")
            case n.Let() if not buffers_read(s.value) and s.name not in printer.program.variables:
                flush()
                printer.statement(s)
            case _:
                alone.append(s)
    flush()
    printer.depth -= 1


def _outer_sums(loop: n.Loop) -> bool:
    """Whether a parallel loop combines values into something outside, or may leave the kernel."""
    declared = {x.name for x in walk(loop.body) if isinstance(x, n.Accumulator)}
    return any(
        isinstance(x, (n.Guard, n.Compact)) or (isinstance(x, n.Accumulate) and x.name not in declared)
        for x in walk(loop.body)
    )


def _for_all(s: n.If) -> bool:
    """Whether a branch depends on sizes alone: all threads of a team take the same way."""
    return not buffers_read(s.condition) and any(
        isinstance(x, n.Loop) and ((x.kind == "parallel" and _wide(x)) or _for_a_team(x)) for x in s.then
    )


def _wide(loop: n.Loop) -> bool:
    """Whether a parallel loop is more than the lanes of a block, for which no barrier pays."""
    extent = b.constant(b.sub(loop.stop, loop.start))
    return extent is None or extent > _LANES


def _is_large(block: Iterable[n.Stmt]) -> bool:
    return any(isinstance(x, n.Loop) and x.large for x in block)


def _for_a_team(s: n.Loop) -> bool:
    """Whether a loop in order has passes that threads can share, and nothing that ends it early."""
    if s.kind != "sequential" or any(
        isinstance(x, (n.Guard, n.Break, n.Continue, n.Return, n.While, n.Alloc)) for x in walk(s.body)
    ):
        return False
    if _hands_on(s.body) or _asks_for_changing(s.body):
        return False
    return any(
        (isinstance(x, n.Loop) and ((x.kind == "parallel" and not _outer_sums(x) and _wide(x)) or _for_a_team(x)))
        or (isinstance(x, n.If) and _for_all(x) and any(isinstance(y, n.Loop) and _for_a_team(y) for y in x.then))
        for x in s.body
    )


def _asks_for_changing(body: Sequence[n.Stmt]) -> bool:
    """Whether the way of the team depends on a scalar that one thread changes: another may still be asking."""
    changing = {x.name for s in body if not (isinstance(s, n.Loop) and s.kind == "parallel")
                for x in walk((s,)) if isinstance(x, n.Assign)}  # fmt: skip
    asked: set[str] = set()
    for s in body:
        match s:
            case n.If(condition):
                asked |= variables_read(condition)
            case n.Loop(_, start, stop):
                asked |= variables_read(start) | variables_read(stop)
            case n.Let(_, value):
                asked |= variables_read(value)
            case _:
                pass
    return bool(asked & changing)


def _hands_on(body: Sequence[n.Stmt]) -> bool:
    """Whether one thread computes a scalar, on its own, that statements of the whole team use."""
    runs: list[list[n.Stmt]] = [[]]
    for s in body:
        match s:
            case n.Loop(kind="parallel") if not _outer_sums(s) and _wide(s):
                runs.append([])
            case n.Loop(kind="sequential") if _for_a_team(s):
                runs.append([])
            case n.If() if _for_all(s):
                if _hands_on(s.then) or _hands_on(s.orelse):
                    return True
                runs.append([])
            case n.Let() if not buffers_read(s.value):
                runs.append([])
            case _:
                runs[-1].append(s)
    for run in runs:
        made = {s.name for s in run if isinstance(s, (n.Let, n.Accumulator))}
        if any(made & scalars_used(s) for s in body if s not in run):
            return True
    return False


def _bound(s: n.Loop) -> set[str]:
    return {x.axis for x in walk((s,)) if isinstance(x, (n.Loop, n.Compact))} | {
        name for x in s.body for name in scalars_set(x)
    }
