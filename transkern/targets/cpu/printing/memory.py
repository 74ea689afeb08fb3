"""Memory of kernels: temporaries on the stack and on the heap, and where they are freed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Expr, Var
from transkern.ir.storage import itemsize
from transkern.ir.traverse import (
    bodies,
)  # fmt: skip
from transkern.targets.clike import CPrinter, ident
from transkern.targets.cpu.system import ADDRESSES

if TYPE_CHECKING:
    from transkern.targets.cpu.printing.kernels import KernelPrinter


RESERVE = ADDRESSES + r"""
// Addresses for more than will ever be needed: only what is touched becomes memory. Some are kept when they are
// released, with the first of their pages: the system takes longer to give a page than the loop to fill it.
// Giving pages back asks the system to look through all addresses, so marks stand where a list that gets long
// overwrites one, on both sides of the middle, too, where queues begin: where all are there, there is nothing to give
// back. Of the lists of a function that has many at once, those that stay short are kept, too: another mark tells.
enum { PY_SPARE = 256, PY_GROWN = 24, PY_FEW = 1 << 16, PY_RESIDENT = 1 << 19, PY_MARKS = 8, PY_HEAD = 4096 };
enum { PY_NARROW = 256 };
static const uint64_t py_mark = 0x9e3779b97f4a7c15;
typedef struct { size_t size, middle, near; } py_reserved;
static char *py_spare[PY_SPARE];

static uint64_t *py_marked(char *base, int k) {
    const py_reserved *head = (py_reserved *)base;
    const size_t middle = k > PY_MARKS ? head->middle + head->near : head->middle - head->near - 8;
    return (uint64_t *)(base + PY_HEAD + (k < PY_MARKS ? PY_RESIDENT / PY_MARKS * (size_t)(PY_MARKS + k) : middle));
}

static uint64_t *py_few(char *base) { return (uint64_t *)(base + PY_HEAD + PY_FEW); }

static void *reserve(size_t bytes, size_t row) {
    const size_t least = (size_t)@RESERVED@ * 8;  // all alike, so that each fits
    const size_t size = (bytes > least ? bytes : least) + PY_HEAD, middle = ((size_t)1 << @MIDDLE@) * (row ? row : 1);
    char *base = NULL;
    for (int k = 0; k < PY_SPARE && !base; ++k) {
        if (!__atomic_load_n(&py_spare[k], __ATOMIC_RELAXED)) continue;
        base = __atomic_exchange_n(&py_spare[k], NULL, __ATOMIC_ACQ_REL);
        if (base && ((py_reserved *)base)->size >= size) break;
        if (base && (base = __atomic_exchange_n(&py_spare[k], base, __ATOMIC_ACQ_REL)))
            py_unmap(base, ((py_reserved *)base)->size);
        base = NULL;
    }
    const int fresh = !base;
    if (fresh) base = py_map(size);
    if (!base) return NULL;
    const int other = fresh || ((py_reserved *)base)->middle != middle;
    if (fresh) *(py_reserved *)base = (py_reserved){size, middle, 0};
    ((py_reserved *)base)->middle = middle;
    ((py_reserved *)base)->near = row <= PY_NARROW ? PY_FEW : 0;  // wide rows need not be written where a mark stands
    *py_few(base) = py_mark;
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
        py_forget(base + PY_HEAD + PY_RESIDENT, size - PY_HEAD - PY_RESIDENT);
        for (int k = 0; k < PY_MARKS + 2; ++k) *py_marked(base, k) = py_mark;
    }
    const int kept = whole && *py_few(base) == py_mark ? PY_SPARE : PY_GROWN;
    for (int k = 0; k < kept && base; ++k)
        if (!__atomic_load_n(&py_spare[k], __ATOMIC_RELAXED))
            base = __atomic_exchange_n(&py_spare[k], base, __ATOMIC_ACQ_REL);
    if (base) py_unmap(base, ((py_reserved *)base)->size);
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
_STACK_BYTES = 16_384  # temporaries of one iteration up to this size stand on the stack


@dataclass(slots=True)
class Memory:
    """What has been allocated, and where it is freed."""

    frees: list[list[str]] = field(default_factory=list)
    turns: list[int] = field(default_factory=list)  # for each loop around: how many of `frees` are outside of it
    reserved: set[str] = field(default_factory=set)  # what `reserve` has given
    early: set[str] = field(default_factory=set)  # the buffers that it gave before the loops that make them anew


def alloc(printer: KernelPrinter, buffer: str) -> None:
    info = printer.program.buffers[buffer]
    size: Expr = b.product(info.dims)
    constant = b.constant(size)
    kind = printer.c.type(info.dtype)
    if info.kept:
        printer.line(f"static _Thread_local {kind} {ident(buffer)}[{constant}];")
        return
    if constant is not None and constant * itemsize(info.dtype) <= _STACK_BYTES:
        printer.line(f"{kind} {ident(buffer)}[{max(1, constant)}];")
        return
    if info.is_reserved:
        printer.c.used["reserve"] = RESERVE
        printer.line(f"{kind} *{ident(buffer)} = {reserving(printer.c, info)};")
        printer.guard(n.Guard(Var(f"{buffer}_is_there", "bool"), "MemoryError", ""), f"!{ident(buffer)}")
        printer.memory.frees[-1].append(ident(buffer))
        printer.memory.reserved.add(ident(buffer))
        return
    printer.c.used["py_bytes"] = BYTES
    printer.line(f"{kind} *{ident(buffer)} = malloc({bytes_of(printer.c, info)} + sizeof *{ident(buffer)});")
    out_of_memory(printer, ident(buffer))
    printer.memory.frees[-1].append(ident(buffer))


def out_of_memory(printer: KernelPrinter, name: str) -> None:
    """Leaves where there is no memory for a temporary. Nobody can leave a loop that threads share: a thread goes on
    with its next iteration, and the kernel is left behind the loop."""
    if printer.region is None:
        printer.guard(n.Guard(b.FALSE, "MemoryError", ""), f"!{name}")
        return
    printer.region.lost = True
    printer.line(f"if (!{name}) {{")
    printer.depth += 1
    for level in printer.memory.frees[printer.region.levels :]:
        free(printer, level)
    printer.line(f"__atomic_store_n(&{printer.region.name}, 1, __ATOMIC_RELAXED);")
    printer.line(f"goto {printer.region.name}_next;")
    printer.depth -= 1
    printer.line("}")


def reserve_early(printer: KernelPrinter, block: Iterable[n.Stmt], repeated: bool = False) -> None:
    """Reserves once what loops in order would reserve at each turn: the system takes the memory back each time."""
    for s in block:
        if isinstance(s, n.Alloc) and repeated and s.buffer not in printer.memory.early:
            info = printer.program.buffers[s.buffer]
            if info.is_reserved and b.constant(b.product(info.dims)) is not None:
                alloc(printer, s.buffer)
                printer.memory.early.add(s.buffer)
        if not (isinstance(s, n.Loop) and s.kind == "parallel"):
            for inner in bodies(s):
                reserve_early(printer, inner, repeated or isinstance(s, (n.Loop, n.While)))


def free_last(printer: KernelPrinter) -> None:
    free(printer, printer.memory.frees.pop())


def free(printer: KernelPrinter, names: Sequence[str]) -> None:
    for name in names:
        printer.line(f"{'release' if name in printer.memory.reserved else 'free'}({name});")


def bytes_of(c: CPrinter, buffer: n.Buffer) -> str:
    """The bytes of a buffer, as C."""
    dims = ", ".join(c.expr(d) for d in buffer.dims) or "0"
    return f"py_bytes({itemsize(buffer.dtype)}, {len(buffer.dims)}, (const int64_t[]){{{dims}}})"


def reserving(c: CPrinter, buffer: n.Buffer) -> str:
    """The call for a buffer's memory that is longer than anybody needs, as C."""
    bytes_of_one = f"sizeof *{ident(buffer.name)}"
    row = "".join(f" * ({c.expr(d)})" for d in buffer.dims[1:])
    return f"reserve(({c.expr(b.product(buffer.dims))}) * {bytes_of_one}, {bytes_of_one}{row})"
