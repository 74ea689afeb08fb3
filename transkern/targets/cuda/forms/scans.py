"""Filters and running totals, chunk by chunk: a thread takes several elements of each, so that threads meet seldom.

    a warp reads    e: 0 … 31, 32 … 63, …     each lane one beside its neighbours' at a time
    a lane adds up  e: 8 * lane … + 7         which are turned in shared memory in between
    threads meet    once a chunk, for what the lanes before this one have come to
    a warp stores   as it has read

A filter needs no turning: votes tell the lanes of a warp which of them keep something.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Expr, Load, Var
from transkern.ir.storage import itemsize
from transkern.ir.traverse import exprs, walk
from transkern.targets.clike import ident
from transkern.targets.cuda.barriers import ANY, Access, Spread, within
from transkern.targets.cuda.forms.folds import has_fold, run_of
from transkern.targets.cuda.spelling import TYPES
from transkern.targets.operands import kind_of

if TYPE_CHECKING:
    from transkern.targets.cuda.group import GroupBody

_BYTES = 32
"""Of what a lane has of a chunk, in shared memory: of all warps of a block, 34 KiB."""
_MOST, _SHORT = 8, 4
"""Elements that a lane has, at most, and statements that stand there so often."""


def elements_of(kernel: n.Kernel, s: n.Scanning | n.Compact, itemsizes: list[int]) -> int:
    """How many elements of a chunk a thread takes: one where there is much to do for each, or the kernel needs its
    shared memory for sums in order."""
    if len(s.body) > _SHORT or not all(isinstance(x, n.Let) for x in s.body):
        return 1
    folds = any(isinstance(x, n.Loop) and (run_of(x) is not None or has_fold(x)) for x in walk(kernel.body))
    return 1 if folds else max(1, min(_MOST, _BYTES // max(itemsizes)))


# ---- running totals --------------------------------------------------------------------------------------------------


def scan_width(of: GroupBody, s: n.Scanning) -> int:
    """How many elements of a chunk a thread takes."""
    dtype = of.program.buffers[s.buffer].dtype
    return 1 if of.group == "warp" else elements_of(of.kernel, s, [itemsize(s.value.dtype), itemsize(dtype)])


def goes_in_order(s: n.Scanning) -> bool:
    """Whether a running total may not be taken in parts."""
    return s.op in ("prod", "multiply") and kind_of(s.value.dtype) == "f"


def print_scan(of: GroupBody, s: n.Scanning) -> None:
    """A scan over the threads, after what the chunks before came to.

    Running products of floats are taken in order: another may overflow on the way, and 0 * inf is NaN.
    """
    if goes_in_order(s):
        of.alone(s)
        return
    of.unit.pieces.add("scan")
    each = scan_width(of, s)
    how, name = of.scan_operator(s), ident(s.buffer)
    spread = Spread((s.axis,), moving=of.moving, aligned=each == 1 and not of.tall)
    inside = within((s,), of.program.buffers, of.written, spread)
    of.touch(inside | of.reads(s.stop))
    of.line(f"{how.type} {name}_running = {how.functor}::start();")
    of.line(f"long long {name}_base = 0;")
    of.open("do")
    if of.tall:
        _side_by_side(of, s, each)
    elif each == 1:
        _one_each(of, s)
    else:
        _several_each(of, s, each)
    times = "" if each == 1 and not of.tall else f"{each}ll * "
    of.line(f"{name}_running = {how.functor}()({name}_running, {name}_value_total);")
    of.line(f"{name}_base += {times}{of.group}.size();")
    of.close(f"}} while ({name}_base < {of.c.operand(s.stop)});")
    of.met(a for a in inside if a.stores)


def _one_each(of: GroupBody, s: n.Scanning) -> None:
    how, name, i, stop = of.scan_operator(s), ident(s.buffer), ident(s.axis), of.c.operand(s.stop)
    value, op = f"{name}_value", how.functor
    of.line(f"const long long {i} = {name}_base + {of.group}.rank();")
    of.line(f"{how.type} {value} = {op}::start(), {value}_total;")
    of.open(f"if ({i} < {stop})")
    _values(of, s)
    of.line(f"{value} = {of.scanned(how, of.c.expr(s.value))};")
    of.close()
    of.line(f"const {how.type} {value}_before = {of.group}.scan({value}, {op}(), {value}_total);")
    of.line(f"const {how.type} {value}_upto = {op}()({op}()({name}_running, {value}_before), {value});")
    of.line(f"if ({i} < {stop}) {of.c.element(s.buffer, s.index)} = {how.read.format(value + '_upto')};")


def _several_each(of: GroupBody, s: n.Scanning, each: int) -> None:
    of.unit.pieces.add("turned")
    how, name, i, stop = of.scan_operator(s), ident(s.buffer), ident(s.axis), of.c.operand(s.stop)
    value, op, k, given = f"{name}_value", how.functor, of.unit.local("k"), TYPES[s.value.dtype]
    kind = TYPES[of.program.buffers[s.buffer].dtype]
    lane, here, left = of.unit.local("lane"), f"{name}_here", f"{name}_left"
    own, turned = f"{each} * {lane} + {k}", f"32 * {k} + {lane}"
    of.line(f"const int {lane} = threadIdx.x & 31;")
    of.line(f"const long long {here} = {name}_base + {32 * each}ll * {of.group}.warp();  // what the warp has")
    of.line(f"const int {left} = {stop} - {here} < {32 * each} ? (int)({stop} - {here}) : {32 * each};")
    of.line(f"Turned<{given}> {value}_given;")

    def elements(at: str, body: Callable[[], None]) -> None:
        of.lines.append("#pragma unroll")
        of.open(f"for (int {k} = 0; {k} < {each}; ++{k})")
        of.open(f"if ({at} < {left})")
        body()
        of.close()
        of.close()

    def read() -> None:
        of.line(f"const long long {i} = {here} + {turned};")
        _values(of, s)
        of.line(f"{value}_given[{turned}] = {of.c.expr(s.value)};")

    def add_up() -> None:
        of.line(f"{value}[{k}] = {value}_given[{own}];")
        of.line(f"{value}_own = {op}()({value}_own, {of.scanned(how, f'{value}[{k}]')});")

    def go_on() -> None:
        of.line(f"{value}_upto = {op}()({value}_upto, {of.scanned(how, f'{value}[{k}]')});")
        of.line(f"{value}_totals[{own}] = {how.read.format(value + '_upto')};")

    def store() -> None:
        of.line(f"const long long {i} = {here} + {turned};")
        of.line(f"{of.c.element(s.buffer, s.index)} = {value}_totals[{turned}];")

    elements(turned, read)
    of.line("__syncwarp();")
    of.line(f"{given} {value}[{each}];")
    of.line(f"{how.type} {value}_own = {op}::start(), {value}_total;")
    elements(own, add_up)
    of.line(f"const {how.type} {value}_before = {of.group}.scan({value}_own, {op}(), {value}_total);")
    of.line(f"{how.type} {value}_upto = {op}()({name}_running, {value}_before);")
    of.line(f"Turned<{kind}> {value}_totals;")
    elements(own, go_on)
    of.line("__syncwarp();")
    elements(turned, store)
    of.line("__syncwarp();")


def _side_by_side(of: GroupBody, s: n.Scanning, each: int) -> None:
    """Of columns whose neighbours are those of neighbouring threads: each takes elements that follow each other."""
    how, name, i, stop = of.scan_operator(s), ident(s.buffer), ident(s.axis), of.c.operand(s.stop)
    value, op, k = f"{name}_value", how.functor, of.unit.local("k")
    of.line(f"const long long {name}_here = {name}_base + {each}ll * {of.group}.place();")
    of.line(f"{TYPES[s.value.dtype]} {value}[{each}];")
    of.line(f"{how.type} {value}_own = {op}::start(), {value}_total;")

    def elements(body: Callable[[], None]) -> None:
        of.lines.append("#pragma unroll")
        of.open(f"for (int {k} = 0; {k} < {each}; ++{k})")
        of.line(f"const long long {i} = {name}_here + {k};")
        of.open(f"if ({of.group}.is_there && {i} < {stop})")
        body()
        of.close()
        of.close()

    def load() -> None:
        _values(of, s)
        of.line(f"{value}[{k}] = {of.c.expr(s.value)};")

    def add_up() -> None:
        of.line(f"{value}_own = {op}()({value}_own, {of.scanned(how, f'{value}[{k}]')});")

    def store() -> None:
        of.line(f"{value}_upto = {op}()({value}_upto, {of.scanned(how, f'{value}[{k}]')});")
        of.line(f"{of.c.element(s.buffer, s.index)} = {how.read.format(value + '_upto')};")

    elements(load)
    elements(add_up)
    of.line(f"const {how.type} {value}_before = {of.group}.scan({value}_own, {op}(), {value}_total);")
    of.line(f"{how.type} {value}_upto = {op}()({name}_running, {value}_before);")
    elements(store)


def _values(of: GroupBody, s: n.Scanning) -> None:
    inner = of.thread_body()
    inner.nested(s.body)
    of.take(inner)


# ---- filters ---------------------------------------------------------------------------------------------------------


def print_compact(of: GroupBody, s: n.Compact) -> None:
    """Each thread decides on its elements, and those kept are stored side by side."""
    of.unit.pieces.add("place")
    c, g, i, count = of.c, of.group, ident(s.axis), ident(s.count)
    each = 1 if s.inner or g == "warp" else elements_of(of.kernel, s, [sum(itemsize(v.dtype) for v in s.values)])
    spread = Spread((s.axis,), moving=of.moving, aligned=each == 1)
    inside = within(s.body, of.program.buffers, of.written, spread)
    for e in (s.mask, *s.values):
        inside |= within((n.Let("", e),), of.program.buffers, of.written, spread)
    stores = {Access(out, True, ANY) for out in s.outputs}
    of.touch(inside | stores | of.reads(s.start, s.stop))
    stop, kept, base = f"{count}_stop", f"{count}_kept", f"{count}_base"
    of.open("")  # its names end with it: pieces that are joined count alike
    of.line(f"const long long {stop} = {c.expr(s.stop)};")
    aligned = "0" if s.start == b.ZERO else c.expr(s.start)
    if each == 1 and s.start != b.ZERO:
        aligned = f"({aligned}) & -(long long){g}.size()"
    of.line(f"long long {kept} = {count if s.append else 0}, {base} = {aligned};")
    of.open("do")
    if each == 1:
        _decide(of, s, stop)
        _keep(of, s)
    else:
        _keep_several(of, s, stop, each)
    of.line(f"{kept} += {i}_total;")
    of.line(f"{base} += {'' if each == 1 else f'{each}ll * '}{g}.size();")
    of.close(f"}} while ({base} < {stop});")
    of.line(f"{count} = {kept};")
    of.close()
    of.met(stores | {a for a in inside if a.buffer not in s.outputs})


def _held(s: n.Compact) -> list[str]:
    return [f"{ident(out)}_{k}_kept" for k, out in enumerate(s.outputs)]


def _decide(of: GroupBody, s: n.Compact, stop: str) -> None:
    """What a thread's element is, and whether it is kept."""
    c, i, count = of.c, ident(s.axis), ident(s.count)
    keep = f"{count}_keep"
    of.line(f"const long long {i} = {count}_base + {of.group}.rank();")
    of.line(f"bool {keep} = false;")
    if not s.inner:
        for name, value in zip(_held(s), s.values, strict=True):
            of.line(f"{TYPES[value.dtype]} {name} = 0;")
    low = f"{i} >= {c.operand(s.start)} && " if s.start != b.ZERO else ""
    of.open(f"if ({low}{i} < {stop})")
    inner = of.thread_body()
    inner.nested(s.body)
    of.take(inner)
    of.line(f"{keep} = {c.expr(s.mask)};")
    if not s.inner:
        for name, value in zip(_held(s), s.values, strict=True):
            of.line(f"{name} = {c.expr(value)};")
    of.close()
    of.line(f"int {i}_total;")


def _keep(of: GroupBody, s: n.Compact) -> None:
    c, i, count = of.c, ident(s.axis), ident(s.count)
    keep = f"{count}_keep"
    of.line(f"const long long {i}_place = {count}_kept + {of.group}.place({keep}, {i}_total);")
    place = Var(f"{i}_place", "index")
    if s.inner:
        _inner_stores(of, s, place, keep)
        return
    stores = [f"{c.element(out, (place,))} = {name};" for out, name in zip(s.outputs, _held(s), strict=True)]
    if len(stores) == 1:
        of.line(f"if ({keep}) {stores[0]}")
        return
    of.open(f"if ({keep})")
    for text in stores:
        of.line(text)
    of.close()


def _keep_several(of: GroupBody, s: n.Compact, stop: str, each: int) -> None:
    of.unit.pieces.add("places")
    c, i, count, k = of.c, ident(s.axis), ident(s.count), of.unit.local("k")
    keep, lane, before = f"{count}_keep", of.unit.local("lane"), f"{count}_before"
    of.line(f"const int {lane} = threadIdx.x & 31;")
    of.line(f"bool {keep}[{each}];")
    for name, value in zip(_held(s), s.values, strict=True):
        of.line(f"{TYPES[value.dtype]} {name}[{each}];")
    of.lines.append("#pragma unroll")
    of.open(f"for (int {k} = 0; {k} < {each}; ++{k})")
    of.line(f"const long long {i} = {count}_base + {32 * each}ll * {of.group}.warp() + (32 * {k} + {lane});")
    of.line(f"{keep}[{k}] = false;")
    of.open(f"if ({i} < {stop})")
    inner = of.thread_body()
    inner.nested(s.body)
    of.take(inner)
    of.line(f"{keep}[{k}] = {c.expr(s.mask)};")
    for name, value in zip(_held(s), s.values, strict=True):
        of.line(f"{name}[{k}] = {c.expr(value)};")
    of.close()
    of.close()
    of.line(f"int {i}_total, {before}[{each}];")
    of.line(f"const long long {i}_first = {count}_kept + {of.group}.places({keep}, {before}, {i}_total);")
    of.lines.append("#pragma unroll")
    of.open(f"for (int {k} = 0; {k} < {each}; ++{k})")
    of.open(f"if ({keep}[{k}])")
    of.line(f"const long long {i}_place = {i}_first + {before}[{k}];")
    place = Var(f"{i}_place", "index")
    for out, name in zip(s.outputs, _held(s), strict=True):
        of.line(f"{c.element(out, (place,))} = {name}[{k}];")
    of.close()
    of.close()


def _inner_stores(of: GroupBody, s: n.Compact, place: Expr, keep: str) -> None:
    """Stores what is kept of one chunk; in place, all threads read a column before any of them writes it."""
    c = of.c
    in_place = any(isinstance(e, Load) and e.buffer in s.outputs for v in s.values for e in exprs((n.Let("", v),)))
    for a in s.inner:
        i = ident(a.name)
        of.open(f"for (long long {i} = 0; {i} < {c.operand(a.extent)}; ++{i})")
    for name, value in zip(_held(s), s.values, strict=True):
        of.line(f"{TYPES[value.dtype]} {name} = 0;")
        of.line(f"if ({keep}) {name} = {c.expr(value)};")
    if in_place:
        of.line(f"{of.group}.sync();")
    for name, out in zip(_held(s), s.outputs, strict=True):
        index = (place, *(a.var for a in s.inner))
        of.line(f"if ({keep}) {c.element(out, index)} = {name};")
    for _ in s.inner:
        of.close()
