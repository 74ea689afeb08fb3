"""Large results go to memory past the caches: a store that misses a cache would read the line first."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Expr, Var
from transkern.ir.storage import itemsize
from transkern.ir.traverse import places_named, scalars_set, stride_along, variables_read, walk
from transkern.targets.clike import ident
from transkern.targets.cpu.printing.reductions import pragma_of
from transkern.targets.cpu.printing.waking import begin_all, end_deal

if TYPE_CHECKING:
    from transkern.targets.cpu.printing.kernels import KernelPrinter

_BYTES = 1 << 24  # results from this size on
_BLOCK = 1024  # elements computed before they go to memory

_STREAM = """// Bytes to memory past the caches, in whole lines where the target has the instruction.
static inline void stream(void *to, const void *from, size_t bytes) {
    char *t = to;
    const char *f = from;
#if defined(__GNUC__) && (defined(__AVX512F__) || defined(__AVX__))
#ifdef __AVX512F__
    typedef long long line __attribute__((vector_size(64)));
#else
    typedef long long line __attribute__((vector_size(32)));
#endif
    size_t head = -(uintptr_t)t & (sizeof(line) - 1);
    if (head > bytes) head = bytes;
    memcpy(t, f, head);
    t += head, f += head, bytes -= head;
    for (; bytes >= sizeof(line); bytes -= sizeof(line), t += sizeof(line), f += sizeof(line)) {
        line held;
        memcpy(&held, f, sizeof held);
#ifdef __clang__
        __builtin_nontemporal_store(held, (line *)t);
#elif defined(__AVX512F__)
        __builtin_ia32_movntdq512((line *)t, held);
#else
        __builtin_ia32_movntdq256((line *)t, held);
#endif
    }
    __builtin_ia32_sfence();  // before other threads are told that it is there
#endif
    memcpy(t, f, bytes);
}"""


def streams(printer: KernelPrinter, s: n.Loop) -> list[n.Store]:
    """The stores of a loop: contiguous, into results that the kernel never reads; none where there are others."""
    stores = [x for x in walk(s.body) if isinstance(x, n.Store)]
    if printer.streaming or printer.team or len(stores) != sum(isinstance(x, n.Store) for x in s.body):
        return []
    if len({x.buffer for x in stores}) != len(stores) or not printer.vectorises(s):
        return []
    for x in stores:
        info = printer.program.buffers[x.buffer]
        if info.role != "result" or info.layout != "C" or x.buffer in printer.read:
            return []
        if len(x.index) not in (1, len(info.dims)):
            return []
        place = _place(x, s)
        if stride_along(place, s.axis) != 1 or any(variables_read(e) & scalars_set(s) for e in place):
            return []
        volume = b.product(info.dims)
        if not variables_read(volume) <= printer.given:
            return []
        size = b.constant(volume)
        if size is not None and size < _least(info):
            return []
        if b.at_least(b.index(_BLOCK), b.sub(s.stop, s.start)):
            return []  # a first column, or lanes
    return stores


def _place(x: n.Store, s: n.Loop) -> tuple[Expr, ...]:
    """Where an iteration stores, without the names that it gives to places: it is asked outside of it, too."""
    known = places_named(s.body)
    return tuple(b.substitute(e, known) for e in x.index)


def _least(info: n.Buffer) -> int:
    """The elements of results from which on they go past the caches."""
    return _BYTES // itemsize(info.dtype)


def print_streamed(
    printer: KernelPrinter, s: n.Loop, stores: Sequence[n.Store], threads: str
) -> None:
    """A loop whose results do not fit the caches: computed in blocks, which go to memory past them.

    A store that misses the cache reads the line first. What nobody reads soon need not: a third of the traffic of a
    sum of two arrays.
    """
    c, i = printer.c, ident(s.axis)
    c.used.setdefault("stream", _STREAM)
    infos = [printer.program.buffers[x.buffer] for x in stores]
    conditions = list(dict.fromkeys(f"{c.operand(b.product(x.dims))} >= {_least(x)}" for x in infos))
    for x, info in zip(stores, infos, strict=True):
        if len(x.index) > 1:  # rows of whole lines: a line that two stores share would be read all the same
            conditions.append(f"{c.factor(info.dims[-1])} % {64 // itemsize(info.dtype)} == 0")
    printer.line("if (" + " && ".join(conditions) + ") {  // larger than the caches")
    printer.depth += 1
    if threads:
        begin_all(printer)
        printer.line("#pragma omp parallel for schedule(static)")
    start, stop = c.expr(s.start), c.operand(s.stop)
    printer.line(f"for (int64_t {i}_block = {start}; {i}_block < {stop}; {i}_block += {_BLOCK}) {{")
    printer.depth += 1
    end = f"{i}_block + {_BLOCK}"
    printer.line(f"const int64_t {i}_end = {end} < {stop} ? {end} : {stop};")
    for x, info in zip(stores, infos, strict=True):
        part = f"{ident(x.buffer)}_part"
        printer.line(f"{c.type(info.dtype)} {part}[{_BLOCK}] __attribute__((aligned(64)));")
        printer.streaming[x.buffer] = f"{part}[{i} - {i}_block]"
    printer.parallel += bool(threads)
    printer.line("#pragma omp simd")
    printer.line(f"for (int64_t {i} = {i}_block; {i} < {i}_end; ++{i}) {{")
    printer.iteration(s, True)
    printer.line("}")
    printer.parallel -= bool(threads)
    for x in stores:
        first = tuple(b.substitute(e, {s.axis: Var(f"{s.axis}_block")}) for e in _place(x, s))
        name = ident(x.buffer)
        printer.line(f"stream(&{c.element(x.buffer, first)}, {name}_part, ({i}_end - {i}_block) * sizeof *{name});")
    printer.streaming.clear()
    printer.depth -= 1
    printer.line("}")
    printer.depth -= 1
    printer.line("} else {")
    printer.depth += 1
    deal = printer.deal(threads)
    pragma = pragma_of(printer, s, (), threads, printer.vectorises(s), deal)
    if pragma:
        printer.line(pragma)
    printer.line(printer.header(s))
    printer.parallel += bool(threads)
    printer.iteration(s, True)
    printer.parallel -= bool(threads)
    printer.line("}")
    end_deal(printer, deal)
    printer.depth -= 1
    printer.line("}")
