"""Searches along a loop: the first or last position where a condition holds, and that of a maximum or minimum.

A search looks at some elements together, in vectors, before it looks for the first of them. That of an extremum
remembers in which block it was, and looks for it there:

    for (int64_t j_block = 0; j_block < n; j_block += 4096) {
        float argmax_part = -INFINITY, argmax_odd = 0;
        … the most of the block, and what is no number …
        if (argmax_part > argmax_best) { argmax_best = argmax_part; j_at = j_block; }
    }
    for (int64_t j = j_at; j < n; ++j) if (a[j] == argmax_best) { argmax = j; break; }
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

from transkern.fuse.schedule.columns import PART
from transkern.ir import nodes as n
from transkern.ir.expr import Apply, Expr, Load, Var
from transkern.ir.ops import OPS
from transkern.ir.storage import itemsize
from transkern.ir.traverse import dearest, walk_expr
from transkern.targets.clike import ident
from transkern.targets.cpu.printing.extremes import begin_part, end_part, is_number
from transkern.targets.cpu.printing.reductions import begin_parts, declare_best, end_parts, is_float_sum

if TYPE_CHECKING:
    from transkern.targets.cpu.printing.kernels import KernelPrinter

_TOGETHER = 64
"""Elements that a search looks at together."""
_SOME = 8
"""Elements of what is left behind those blocks from which on they are looked at together, too."""
_BLOCK = 4096
"""Elements of which one is the most, before it is compared with what was the most so far."""
_FEW = 16
"""Elements that are gone through one by one."""
_MUCH = 8
"""What an element costs from which on few are computed again: of a smaller block, of fewer together, and none where
there are few."""
_BLOCK_OF_MUCH, _TOGETHER_OF_MUCH, _FEW_OF_MUCH = 256, 32, 64
_DEAR = 3
"""What an operation costs from which on no element is looked at in vain."""
INEXACT = 20
"""What an operation costs that a library has one version of for numbers, and another one for vectors."""


def search_of(s: n.Loop) -> n.Accumulate | None:
    """The search, where all a loop does is look for the first or last position."""
    found = [x for x in s.body if isinstance(x, n.Accumulate)]
    rest = [x for x in s.body if not isinstance(x, (n.Accumulate, n.Let))]
    if len(found) == 1 and not rest and found[0].op in ("first", "last") and found[0].position == Var(s.axis, "index"):
        return found[0]
    return None


def print_search(printer: KernelPrinter, s: n.Loop, found: n.Accumulate) -> None:
    """The first or last position where a condition holds: stops there."""
    c, i = printer.c, ident(s.axis)
    printer.source(s)
    rest = tuple(x for x in s.body if x is not found)
    start = c.expr(s.start)
    if found.op == "last":
        printer.line(f"for (int64_t {i} = {c.operand(s.stop)} - 1; {i} >= {c.operand(s.start)}; --{i}) {{")
    else:
        values = [found.value, *(x.value for x in rest if isinstance(x, n.Let))]
        if printer.vectorises(s) and all(dearest(v) < _DEAR for v in values):
            start = _passed_over(printer, s, rest, found.name, lambda: c.expr(found.value), start, _width(values))
        printer.line(f"for (int64_t {i} = {start}; {i} < {c.operand(s.stop)}; ++{i}) {{")
    _stop_at(printer, s, rest, found.name, lambda: c.expr(found.value))


def _stop_at(
    printer: KernelPrinter, s: n.Loop, rest: Iterable[n.Stmt], name: str, condition: Callable[[], str]
) -> None:
    """The body of a loop that stops where a condition holds, and its end."""
    printer.depth += 1
    printer.block(rest)
    printer.line(f"if ({condition()}) {{")
    printer.line(f"    {ident(name)} = {ident(s.axis)};")
    printer.line("    break;")
    printer.line("}")
    printer.depth -= 1
    printer.line("}")


def _passed_over(
    printer: KernelPrinter, s: n.Loop, rest: Iterable[n.Stmt], name: str, condition: Callable[[], str], start: str,
    width: int, together: int = _TOGETHER,
) -> str:  # fmt: skip
    """Where to begin a search: behind the blocks in which there is nothing."""
    found, stop = f"{ident(name)}_found", printer.c.operand(s.stop)
    at = ident(printer.names.fresh(f"{s.axis}_block"))

    def look(end: str) -> None:
        """Whether there is anything from `at` to an end, in vectors."""
        i = ident(s.axis)
        printer.line(f"uint{8 * width}_t {found} = 0;")
        printer.line(f"#pragma omp simd reduction(|: {found})")
        printer.line(f"for (int64_t {i} = {at}; {i} < {end}; ++{i}) {{")
        printer.depth += 1
        printer.block(rest)
        printer.line(f"{found} |= {condition()};")
        printer.depth -= 1
        printer.line("}")

    printer.line(f"int64_t {at} = {start};")
    printer.line(f"for (; {at} + {together} <= {stop}; {at} += {together}) {{")
    printer.depth += 1
    look(f"{at} + {together}")
    printer.line(f"if ({found}) break;")
    printer.depth -= 1
    printer.line("}")
    printer.line(f"if ({stop} - {at} >= {_SOME} && {stop} - {at} < {together}) {{  // what is left")
    printer.depth += 1
    look(stop)
    printer.line(f"if (!{found}) {at} = {stop};")
    printer.depth -= 1
    printer.line("}")
    return at


def positions_of(printer: KernelPrinter, s: n.Loop) -> list[n.Accumulate]:
    """The positions of extrema that a loop looks for, where it does nothing but such and other reductions, and where
    an element that is computed again has the same bits."""
    if s.kind != "parallel" or not printer.vectorises(s):
        return []
    declared = {x.name for x in s.body if isinstance(x, n.Accumulator)}
    own = [x for x in s.body if isinstance(x, n.Accumulate)]
    found = [x for x in own if x.op in ("argmax", "argmin")]
    values = [*(x.value for x in found), *(x.value for x in s.body if isinstance(x, n.Let))]
    fits = (
        not declared
        and printer.reducing.begun.issuperset(x.name for x in found)  # nothing has been found before
        and all(isinstance(x, (n.Let, n.Accumulate)) for x in s.body)
        and len({x.name for x in own}) == len(own)
        and not any(x.op in ("first", "last") for x in own)
        and all(x.position == Var(s.axis, "index") and x.value.dtype != "float16" for x in found)
        and all(dearest(v) < INEXACT for v in values)
    )
    return found if fits else []


def print_positions(printer: KernelPrinter, s: n.Loop, found: Sequence[n.Accumulate]) -> None:
    """Such a loop: element by element where there are few, else by blocks."""
    c, i = printer.c, ident(s.axis)
    start, stop = c.expr(s.start), c.operand(s.stop)
    others = [x for x in s.body if isinstance(x, n.Accumulate) and x not in found]
    sums = [x for x in others if is_float_sum(printer, x)]
    lets = tuple(x for x in s.body if isinstance(x, n.Let))
    if not sums:
        few = _FEW_OF_MUCH if _is_much(found, lets) else _FEW
        printer.line(f"if ({stop} - {c.operand(s.start)} < {few}) {{")
        printer.depth += 1
        printer.line(printer.header(s))
        printer.iteration(s, False)
        printer.line("}")
        printer.depth -= 1
        printer.line("} else {")
    else:
        for x in found:
            declare_best(printer, x)
        printer.line("{")
    printer.depth += 1
    at = {x.name: ident(printer.names.fresh(f"{s.axis}_at")) for x in found}
    numbers = [x for x in found if x.value.dtype != "bool"]
    for x in found:
        printer.line(f"int64_t {at[x.name]} = {start};")
        begin = printer.bound(x.op[3:], x.value.dtype) if x in numbers else str(int(x.op == "argmax"))
        printer.line(f"{ident(x.name)}_best = {begin};")
    if others or numbers:
        _print_blocks(printer, s, numbers, others, lets, at)
    for x in found:

        def condition(x: n.Accumulate = x) -> str:
            value = f"({c.expr(x.value)})"  # which may be a choice
            nan = "" if is_number(x.value) else f" | ({value} != {value})"
            return f"({value} == {ident(x.name)}_best){nan}"

        needed = _needed(lets, x.value)
        together = _TOGETHER_OF_MUCH if _is_much([x], needed) else _TOGETHER
        begin = _passed_over(printer, s, needed, x.name, condition, at[x.name], _width([x.value]), together)
        printer.line(f"for (int64_t {i} = {begin}; {i} < {stop}; ++{i}) {{")
        _stop_at(printer, s, needed, x.name, condition)
        if x not in numbers:
            printer.line(f"if ({ident(x.name)} < 0) {ident(x.name)} = {start};  // all are alike")
    printer.depth -= 1
    printer.line("}")


def _print_blocks(
    printer: KernelPrinter, s: n.Loop, found: Sequence[n.Accumulate], others: Sequence[n.Accumulate],
    lets: Sequence[n.Let], at: dict[str, str],
) -> None:  # fmt: skip
    """What is the most, and the block where it is; the other reductions along with it."""
    c, i = printer.c, ident(s.axis)
    start, stop = c.expr(s.start), c.operand(s.stop)
    sums = [x for x in others if is_float_sum(printer, x)]
    every = {x.name for x in s.body if isinstance(x, n.Accumulate)}
    printer.reducing.positions = every - {x.name for x in (*found, *others)}
    block, end = (ident(printer.names.fresh(f"{s.axis}_{what}")) for what in ("block", "end"))
    size = PART if sums else _BLOCK_OF_MUCH if _is_much(found, lets) else _BLOCK
    printer.line(f"for (int64_t {block} = {start}; {block} < {stop}; {block} += {size}) {{")
    printer.depth += 1
    printer.line(f"const int64_t {end} = {block} + {size} < {stop} ? {block} + {size} : {stop};")
    clauses = begin_parts(printer, sums, [x for x in others if x not in sums])
    for x in found:
        clauses += begin_part(printer, x.name, x.op[3:], x.value.dtype, is_number(x.value))
    printer.line(f"#pragma omp simd{clauses}")
    printer.line(f"for (int64_t {i} = {block}; {i} < {end}; ++{i}) {{")
    printer.iteration(s, True)
    printer.line("}")
    end_parts(printer, sums)
    for x in found:
        name, sign = ident(x.name), ">" if x.op == "argmax" else "<"
        most = end_part(printer, x.name)
        nan = "" if is_number(x.value) else f" || ({most} != {most} && {name}_best == {name}_best)"
        printer.line(f"if ({most} {sign} {name}_best{nan}) {{")
        printer.line(f"    {name}_best = {most};")
        printer.line(f"    {at[x.name]} = {block};")
        printer.line("}")
    printer.depth -= 1
    printer.line("}")
    printer.reducing.positions = set()


def _needed(lets: Sequence[n.Let], value: Expr) -> list[n.Let]:
    """The values that another one is computed from."""
    wanted = {e.name for e in walk_expr(value) if isinstance(e, Var)}
    found: list[n.Let] = []
    for x in reversed(lets):
        if x.name in wanted:
            found.insert(0, x)
            wanted |= {e.name for e in walk_expr(x.value) if isinstance(e, Var)}
    return found


def _is_much(found: Sequence[n.Accumulate], lets: Sequence[n.Let]) -> bool:
    """Whether it takes long to compute again what is searched."""
    values = [*(x.value for x in found), *(x.value for x in lets)]
    parts = (e for v in values for e in walk_expr(v))
    return sum(OPS[e.op].cost for e in parts if isinstance(e, Apply) and e.op in OPS) >= _MUCH


def _width(values: Iterable[Expr]) -> int:
    """Bytes of the widest element that values are computed from."""
    return max((itemsize(e.dtype) for v in values for e in walk_expr(v) if isinstance(e, Load)), default=1)


__all__ = ["positions_of", "print_positions", "print_search", "search_of"]
