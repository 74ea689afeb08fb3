"""Long kernels run without Python's lock, on their share of the threads that kernels may use.

NumPy holds the lock through short loops and lets go of it in long ones; so does emitted code. What a kernel will take
is estimated where it is called; a loop of which only the run shows how long it is lets go of the lock after some turns.
A long kernel is counted while it runs, by all modules of a process in one place, and has its share of the threads:
eight threads of the user's that call compiled functions on eight cores have one each, and not eight.

GCC's OpenMP runtime keeps its threads for the next loop, and waits for them for ever in the child of a fork, which does
not have them. They are given back before a fork, and made anew by whoever needs them next, parent or child.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Apply, Expr
from transkern.ir.ops import OPS
from transkern.ir.traverse import (
    bodies,
    buffers_read,
    buffers_used,
    own_exprs,
    scalars_set,
    variables_read,
    walk,
    walk_expr,
)  # fmt: skip

if TYPE_CHECKING:
    from transkern.targets.cpu.printing.kernels import KernelPrinter

_LONG = 30_000
"""Operations (some microseconds) from which on a kernel lets go of Python's lock, which costs some 20 nanoseconds."""

_UNKNOWN = 32
"""What is taken for the turns of a loop of which only the run shows how many they are, at least."""

_PATIENCE = 1000
"""Turns of such loops, in order, after which a kernel lets go of the lock all the same."""

DECLARED = "typedef struct { void *python; int threads; } py_run;  // what `py_begin` gave up, for `py_end`"

COUNTED = f"int py_turns = {_PATIENCE};  // of loops of which only the run shows how long they are"

_LIMITS = "enum {{ PY_THREADS = {threads}, PY_FLAGS = {flags} }};  // at most (0: any number); flags are read"


def limits(threads: int, warns: bool) -> str:
    """C text of how many threads there are at most, and whether flags are read (`printing.glue.RAISED`)."""
    nothing = "" if warns else "\n#define py_flags_of_all()"
    return _LIMITS.format(threads=threads, flags=int(warns)) + nothing


LATER = "static void py_later(py_run *);"

OF_ALL = "static void py_flags_of_all(void);"

RUNNING = r"""
// ---- Long kernels run without Python's lock, and share the threads that there are
#ifdef _OPENMP
int omp_get_max_threads(void);
void omp_set_num_threads(int);
#endif
// Of all modules of a process: how many threads there are for kernels (0: as OpenMP has it), and how many kernels run;
// in nanoseconds, until when threads spin, what it takes to wake them, what they would have saved in loops that ran
// alone meanwhile, when the last one of these ended, what threads saved since they were woken, and what that usually
// comes to; memory that is kept.
typedef struct {
    int threads, running;
    int64_t awake, waking, missed, alone, saved, worth;
    struct py_pool *pool;
} py_shares;
static py_shares py_own = {0, 0, 0, 50000, 0, 0, 0, 0, 0};
static py_shares *py_shared = &py_own;

static py_run py_begin(int is_long) {
    py_run run = {NULL, 0};
    if (!is_long) return run;
    const int running = __atomic_add_fetch(&py_shared->running, 1, __ATOMIC_RELAXED);
    run.python = PyEval_SaveThread();
#ifdef _OPENMP
    const int most = omp_get_max_threads(), given = __atomic_load_n(&py_shared->threads, __ATOMIC_RELAXED);
    int threads = (given ? given : most) / running;
    if (threads < 1) threads = 1;
    if (PY_THREADS && threads > PY_THREADS) threads = PY_THREADS;
    if (PY_FLAGS && threads > most) threads = most;  // as many as have their flags read
    if (threads != most) { run.threads = most; omp_set_num_threads(threads); }
#endif
    return run;
}

static void py_end(py_run run) {
    if (!run.python) return;
#ifdef _OPENMP
    if (run.threads) omp_set_num_threads(run.threads);
#endif
    __atomic_sub_fetch(&py_shared->running, 1, __ATOMIC_RELAXED);
    PyEval_RestoreThread(run.python);
}

// In the midst of a kernel that turns out to be long.
static void py_later(py_run *run) {
    if (!run->python) *run = py_begin(1);
}

#ifdef _WIN32
#define py_when_forked()
#else
int pthread_atfork(void (*)(void), void (*)(void), void (*)(void));
#ifdef _OPENMP
int omp_pause_resource_all(int) __attribute__((weak));
#endif
// GCC's runtime would wait in a child for threads that only its parent has: they go before, and come back when needed.
static void py_before_fork(void) {
#if defined(_OPENMP) && !defined(__clang__)
    if (py_shared == &py_own && omp_pause_resource_all) omp_pause_resource_all(1);
    __atomic_store_n(&py_shared->awake, 0, __ATOMIC_RELAXED);
#endif
}

static void py_in_child(void) { py_own.running = 0; }  // the others' kernels run on in the parent

static void py_when_forked(void) { pthread_atfork(py_before_fork, NULL, py_in_child); }
#endif

// The address of the counts: those at another address from now on, or those that are counted with (0).
static PyObject *py_share(PyObject *self, PyObject *address) {
    int overflow = 0;
    const long long given = PyLong_AsLongLongAndOverflow(address, &overflow);
    if (given) py_shared = (py_shares *)(intptr_t)given;
    return PyLong_FromLongLong((intptr_t)py_shared);
}

// Says how many threads there are for kernels.
static PyObject *py_limit(PyObject *self, PyObject *threads) {
    int overflow = 0;
    __atomic_store_n(&py_shared->threads, (int)PyLong_AsLongLongAndOverflow(threads, &overflow), __ATOMIC_RELAXED);
    return PyLong_FromLongLong(0);
}
"""

METHODS = (
    '    {"share", py_share, 0x8, "where modules count the kernels that run"},',
    '    {"limit", py_limit, 0x8, "how many threads there are for kernels"},',
)


@dataclass(slots=True)
class Estimate:
    """What a kernel will take.

    `long`: the condition under which it lets go of Python's lock when it begins. `open`: loops in order, by identity,
    of which only the run shows how many turns they make.
    """

    long: Expr
    open: set[int]


def estimate(program: n.Program, kernel: n.Kernel, given: Iterable[str]) -> Estimate:
    """The estimate for a kernel whose caller knows the scalars `given`."""
    counting = _Counting(program, frozenset(given) - scalars_set(kernel))
    amount = counting.amount([s for s in kernel.body if bodies(s)], {}, {})
    if any(isinstance(s, n.Loop) and s.large for s in walk(kernel.body)):
        return Estimate(b.TRUE, counting.open)
    return Estimate(b.compare("greater_equal", amount, b.index(_LONG)), counting.open)


def count_turns(printer: KernelPrinter, s: n.Loop | n.While) -> None:
    """In each turn of a loop of which only the run shows how many they are: after some, Python's lock goes."""
    if id(s) not in printer.estimate.open:
        return
    if printer.team:  # several threads come here
        printer.estimate.long = b.TRUE
    if printer.team or printer.parallel:
        return
    printer.c.used.setdefault("py_run", DECLARED)
    printer.c.used.setdefault("py_later", LATER)
    printer.counts = True
    printer.line("if (!--py_turns) py_later(py_running);")


@dataclass(slots=True)
class _Counting:
    """Adds up the operations of statements; `most` and `least` say what the scalars that loops change are at their
    ends."""

    program: n.Program
    given: frozenset[str]
    open: set[int] = field(default_factory=set)
    parallel: int = 0  # how many loops around are parallel: their turns may be other threads'

    def amount(self, block: Iterable[n.Stmt], most: Mapping[str, Expr], least: Mapping[str, Expr]) -> Expr:
        """How many operations statements make, of two branches both."""
        total: Expr = b.ZERO
        most, least = dict(most), dict(least)
        for s in block:
            total = b.add(total, b.index(_cost(s)))
            match s:
                case n.Let(name, value) if value.dtype == "index":
                    most[name], least[name] = b.substitute(value, most), b.substitute(value, least)
                case n.Loop(axis, start, stop, step):
                    if (by := b.constant(step) or 1) < 0:
                        start, stop = stop, start
                    turns = self.turns(s, start, stop, most, least)
                    turns = b.floordiv(b.add(turns, b.index(abs(by) - 1)), b.index(abs(by)))
                    self.parallel += s.kind == "parallel"
                    inner = self.within(s.body, axis, start, stop, most, least)
                    self.parallel -= s.kind == "parallel"
                    total = b.add(total, b.mul(turns, b.add(b.ONE, inner)))
                case n.Compact(axis=axis, start=start, stop=stop):
                    copied = b.mul(b.product(tuple(a.extent for a in s.inner)), b.index(1 + len(s.outputs)))
                    inner = b.add(self.within(s.body, axis, start, stop, most, least), self.known(copied))
                    total = b.add(total, b.mul(self.turns(s, start, stop, most, least), inner))
                case n.While(head, _, body):
                    total = b.add(total, b.mul(self.unknown(s), self.amount((*head, *body), most, least)))
                case _:
                    for body in bodies(s):
                        total = b.add(total, self.amount(body, most, least))
        return total

    def within(
        self, body: Iterable[n.Stmt], axis: str, start: Expr, stop: Expr, most: Mapping[str, Expr],
        least: Mapping[str, Expr],
    ) -> Expr:  # fmt: skip
        """The operations of a loop's longest turn."""
        return self.amount(body, {**most, axis: b.substitute(stop, most)}, {**least, axis: b.substitute(start, least)})

    def turns(self, s: n.Stmt, start: Expr, stop: Expr, most: Mapping[str, Expr], least: Mapping[str, Expr]) -> Expr:
        """The turns of a loop in its longest run, as far as its caller knows."""
        first, last = (b.sub(b.substitute(stop, at), b.substitute(start, at)) for at in (least, most))
        if self.is_known(first) and self.is_known(last):
            ends = [x if (known := b.constant(x)) is None else b.index(abs(known)) for x in (first, last)]
            return ends[0] if ends[0] == ends[1] else b.maximum(*ends)
        return self.unknown(s)

    def unknown(self, s: n.Stmt) -> Expr:
        """What is taken for the turns of a loop where only the run shows it."""
        if not self.parallel and not (isinstance(s, n.Loop) and s.kind == "parallel"):
            self.open.add(id(s))
            return b.index(_UNKNOWN)
        touched = (self.program.buffers[x] for x in buffers_used(s) if x in self.program.buffers)
        volumes = [v for x in touched if not x.is_reserved and self.is_known(v := b.product(x.dims))]
        least: Expr = b.index(_UNKNOWN)
        return functools.reduce(b.maximum, volumes, least)  # it runs over (some of) these

    def known(self, amount: Expr) -> Expr:
        return amount if self.is_known(amount) else b.index(_UNKNOWN)

    def is_known(self, amount: Expr) -> bool:
        return not buffers_read(amount) and variables_read(amount) <= self.given


def _cost(s: n.Stmt) -> int:
    """What a statement costs by itself, without those in it."""
    computed = (e for own in own_exprs(s) for e in walk_expr(own) if isinstance(e, Apply) and e.dtype != "index")
    return sum(OPS[e.op].cost for e in computed) + isinstance(s, (n.Store, n.Accumulate, n.Assign))
