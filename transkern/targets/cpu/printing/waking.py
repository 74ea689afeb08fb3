"""Whether threads pay for a loop: what they save against what it takes to wake them.

Threads that wait for work spin for a while, then they sleep (`build`). Those that spin begin within a microsecond; to
wake one takes ten microseconds on one machine and half a millisecond on another, a virtual one: as much as many kernels
take in all. So emitted code measures it where it wakes them, and remembers until when they spin. What a loop takes on
one thread and on several it knows from the last times, before these from its operations. What has not been done for
long is taken for cheaper and cheaper, until it is tried again: other processes come and go.

While they sleep, loops add up what threads would have saved; the loop that brings this to what it takes to wake them
does so. That is the ski-rental rule: rent until the rents have come to the price, then buy. Whatever follows, it costs
at most twice what it would cost to know what follows (Karlin, Manasse, Rudolph, Sleator: Competitive snoopy caching,
Algorithmica 3, 1988). After a pause in which threads would have gone back to sleep the sum begins again. What the last
wakings were worth foretells what the next one is: the price rises where threads went back to sleep before they had
saved it, and falls where they saved more (Purohit, Svitkina, Kumar: Improving online algorithms via ML predictions,
NeurIPS 2018: the more is staked on a prediction, the less its failure is bounded; so it moves within bounds). A loop
that by itself saves more than it takes to wake them needs no prediction, whatever others were worth.

The first time a loop runs, its memory and its code are cold: what it takes then says little, and what it takes the
second time counts. Nor is a loop ever faster by more than there are threads.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from transkern.ir.expr import Expr
from transkern.targets.cpu.compiler import REGION
from transkern.targets.cpu.running import OF_ALL
from transkern.targets.cpu.system import clock

if TYPE_CHECKING:
    from transkern.targets.cpu.printing.kernels import KernelPrinter

LEAST = 1_000_000
"""Operations below which threads do not pay, also if they are awake."""

ALWAYS = False
"""Whether threads share all loops that can be shared, as where races are looked for."""

DEAL = """// Whether threads share a loop of so many turns of so many operations: what it has taken alone and shared.
typedef struct { float alone, shared; } py_pace;  // nanoseconds an operation; negative: when it was cold
typedef struct { int shared; py_pace *pace; int64_t begun; double work; } py_deal;
static void py_decide(py_deal *), py_learn(const py_deal *);
static inline py_deal py_pays(py_pace *pace, int64_t turns, double cost) {
    py_deal deal = {0, pace, 0, turns * cost};
    if (deal.work >= @LEAST@) py_decide(&deal);
    return deal;
}
static inline void py_paid(const py_deal *deal) { if (deal->begun) py_learn(deal); }""".replace("@LEAST@", str(LEAST))

WAKING = r"""
// ---- Threads are woken where that takes less than it saves
enum {
    PY_SPINS = 100000,     // nanoseconds that threads stay awake
    PY_GATHERS = 200000,   // nanoseconds that one waits for the others to come
    PY_LONGEST = 2000000,  // nanoseconds that waking them takes at most: what takes longer is something else
    PY_LONG = 20000000,    // operations that pay for it the first time, too
};
#define py_get(field) __atomic_load_n(&py_shared->field, __ATOMIC_RELAXED)
#define py_put(field, value) __atomic_store_n(&py_shared->field, value, __ATOMIC_RELAXED)

@CLOCK@
// What threads would have saved since they could have been woken.
static int64_t py_missed(int64_t now) {
    return now > py_get(alone) + PY_SPINS ? 0 : py_get(missed);
}

// What has to be missed before threads are woken: what that takes, but more where it was not worth it lately, and less
// where it was worth more.
static int64_t py_price(int64_t waking) {
    const int64_t worth = py_get(worth);
    if (!worth) return waking;
    if (8 * worth < waking) return 64 * waking;
    const double times = (double)waking / worth;
    return (int64_t)(waking * (times > 1 ? times * times : times > 0.25 ? times : 0.25));
}

static float py_known(const float *pace) {
    float known;
    __atomic_load(pace, &known, __ATOMIC_RELAXED);
    return known;
}

#ifdef _OPENMP
#define py_most omp_get_max_threads
#else
#define py_most() 1
#endif
static void py_note(float *pace, float now) { __atomic_store(pace, &now, __ATOMIC_RELAXED); }

#if defined(_OPENMP) && defined(__linux__)
#include <sched.h>
#include <sys/syscall.h>
long syscall(long, ...);
int sched_getcpu(void), omp_get_thread_num(void);
// Linux likes to wake a thread on the core of the one that wakes it, where it waits until that one sleeps: so this one
// stays where it is and gives way until all are there, and who finds itself on its core moves to another one.
static void py_gather(int core, int threads, int *there) {
    unsigned long all[128], some[128];
    const int bits = 8 * sizeof *all, first = !omp_get_thread_num();
    if (core < 0 || core >= 128 * bits || (!first && sched_getcpu() != core)) {
        if (!first) __atomic_add_fetch(there, 1, __ATOMIC_RELAXED);
        return;
    }
    const long bytes = syscall(SYS_sched_getaffinity, 0, sizeof all, all);
    if (bytes > 0) {
        memcpy(some, all, bytes);
        if (first) memset(some, 0, bytes);
        some[core / bits] ^= 1ul << core % bits;
        const int moved = !syscall(SYS_sched_setaffinity, 0, bytes, some);
        if (first) {  // where others keep the cores busy, to give way may take longer than all else
            const int64_t until = py_clock() + PY_GATHERS;
            for (int k = 1; __atomic_load_n(there, __ATOMIC_RELAXED) < threads - 1 && py_clock() < until; ++k) {
#if defined(__x86_64__)
                if (k % 8) __builtin_ia32_pause();
                else
#endif
                    sched_yield();
            }
        }
        if (moved) syscall(SYS_sched_setaffinity, 0, bytes, all);
    }
    if (!first) __atomic_add_fetch(there, 1, __ATOMIC_RELAXED);
}
#define py_core sched_getcpu
#else
#define py_core() 0
#define py_gather(core, threads, there)
#endif

static void py_decide(py_deal *deal) {
#ifdef _OPENMP
    const int threads = omp_get_max_threads();
    if (threads < 2) return;
    float alone = py_known(&deal->pace->alone), shared = py_known(&deal->pace->shared);
    const int64_t now = deal->begun = py_clock();
    if (alone <= 0 && deal->work < PY_LONG) return;  // twice, to know it
    if (alone <= 0) alone = shared ? threads * shared : 0.05f;
    if (!shared) shared = alone / threads;
    const double saved = deal->work * (alone - shared);
    if (saved < 0) {
        py_note(&deal->pace->shared, 0.95f * shared);
        return;
    }
    if (now > py_get(awake)) {
        const int64_t waking = py_get(waking);
        if (4 * saved < 5 * (double)waking && py_missed(now) + saved < py_price(waking)) {
            py_put(waking, waking - waking / 128);
            return;
        }
        const int core = py_core();
        int there = 0;
#pragma omp parallel
        py_gather(core, threads, &there);
        deal->begun = py_clock();
        const int64_t took = deal->begun - now;
        py_put(waking, (3 * waking + (took < PY_LONGEST ? took : PY_LONGEST)) / 4);
        py_put(worth, py_get(worth) ? (3 * py_get(worth) + py_get(saved)) / 4 : took);
        py_put(missed, 0);
        py_put(saved, 0);
    }
    if (py_known(&deal->pace->shared)) py_note(&deal->pace->alone, 0.998f * alone);
    deal->shared = 1;
    py_flags_of_all();
#endif
}

static void py_learn(const py_deal *deal) {
    const int64_t now = py_clock();
    float *pace = deal->shared ? &deal->pace->shared : &deal->pace->alone;
    const float known = py_known(pace), took = (now - deal->begun) / deal->work;
    // What comes in between only makes it longer; the first time threads are cold, besides.
    const float first = deal->shared ? took / 2 : took;
    const float now_known = took < known ? took : (3 * known + took) / 4;
    py_note(pace, known > 0 ? now_known : known ? (took < -known ? took : -known) : deal->shared ? first : -took);
    if (deal->shared) {
        const float alone = py_known(&deal->pace->alone), most = py_most() * py_known(pace);
        if (alone > most) py_note(&deal->pace->alone, most);
        if (alone > 0) py_put(saved, py_get(saved) + (int64_t)(deal->work * (alone - took)));
        py_put(awake, now + PY_SPINS);
        return;
    }
    const float shared = py_known(&deal->pace->shared), saved = shared ? took - shared : took / 2;
    py_put(missed, py_missed(deal->begun) + (int64_t)(saved > 0 ? deal->work * saved : 0));
    py_put(alone, now);
}
""".replace("@CLOCK@", clock("py_clock", "static"))

ALONE = """
#if defined(_OPENMP) && defined(__linux__) && defined(__GNUC__) && !defined(__clang__)
// GCC's runtime makes a team, and takes memory for it, where one thread goes through a loop, too: a third of a
// microsecond. Outside of all teams the loop can be called as it is.
int omp_get_level(void);
void __real_@REGION@(void (*)(void *), void *, unsigned, unsigned);
void __wrap_@REGION@(void (*region)(void *), void *data, unsigned threads, unsigned flags) {
    if (threads == 1 && !omp_get_level()) region(data);
    else __real_@REGION@(region, data, threads, flags);
}
#endif""".replace("@REGION@", REGION)
"""For the linker, which is told to (`compiler.linking`) where the common file has this."""


def pays(printer: KernelPrinter, turns: Expr, cost: float, if_also: str = "") -> str:
    """The question, for `begin_deal`, whether threads pay for `turns` of `cost` operations each."""
    printer.c.used.setdefault("py_pays", DEAL)
    work = f"{if_also} ? {printer.c.operand(turns)} : 0" if if_also else printer.c.expr(turns)
    return f"py_pays({work}, {cost:.3g})"


def begin_deal(printer: KernelPrinter, question: str) -> str:
    """Asks once, before a loop, and says what the answer is called: OpenMP does not say how often it evaluates a
    condition."""
    name, pace = printer.names.fresh("py_loop"), printer.names.fresh("py_paces")
    printer.line(f"static py_pace {pace};")
    printer.line(f"const py_deal {name} = {question.replace('py_pays(', f'py_pays(&{pace}, ', 1)};")
    return name


def begin_all(printer: KernelPrinter) -> None:
    """What stands before a loop that all threads take part in without a question: their flags are read behind it."""
    if printer.program.warns:
        printer.c.used.setdefault("py_flags_of_all", OF_ALL)
        printer.line("py_flags_of_all();")


def end_deal(printer: KernelPrinter, name: str) -> None:
    """What stands behind the loop: what it has taken is known now."""
    if name:
        printer.line(f"py_paid(&{name});")
