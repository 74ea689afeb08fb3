"""Filters: what is kept of a loop, side by side, in order.

An element is written, and kept by counting it, without a branch. Conditions that take operations are asked for many
elements first, in vectors; where none of them holds, which is common for peaks and outliers, that is all:

    for (int64_t begin = 0; begin < n; begin += 256) {
        const int64_t end = …;
        uint8_t each[256], any = 0;
        #pragma omp simd reduction(|: any)
        for (int64_t i = begin; i < end; ++i) any |= each[i - begin] = x[i] > 3;
        if (!any) continue;
        for (int64_t i = begin; i < end; ++i) { y[kept] = x[i]; kept += each[i - begin]; }
    }

Several values are computed in vectors, too, once it is known for which elements.
A filter in place reads at or after the position that it decides about, and writes before it, so its conditions may be
asked ahead.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Apply, Expr, Load, Var
from transkern.ir.traverse import buffers_read, dearest, own_exprs, variables_read, walk_expr
from transkern.targets.clike import ident
from transkern.targets.cpu.printing.memory import free_last
from transkern.targets.cpu.printing.searches import INEXACT

if TYPE_CHECKING:
    from transkern.targets.cpu.printing.kernels import KernelPrinter

_BLOCK = 256
"""Elements whose conditions are asked together: their places take a byte each."""
_KEPT = Var("kept_count_", "index")


def print_filter(of: KernelPrinter, s: n.Compact) -> None:
    """Prints a loop that keeps elements, and what it leaves in its count."""
    of.source(s)
    of.line("{")
    of.depth += 1
    of.line(f"int64_t kept_count_ = {ident(s.count) if s.append else 0};")
    if _asks_ahead(s):
        _print_blocks(of, s)
    else:
        _print_loop(of, s, of.c.expr(s.start), of.c.operand(s.stop), None)
    of.line(f"{ident(s.count)} = kept_count_;")
    of.depth -= 1
    of.line("}")


def _asks_ahead(s: n.Compact) -> bool:
    """Whether its conditions are asked in vectors: they take operations, all of them fast, and none on the count."""
    every = (s.mask, *s.values, *(e for x in s.body for e in own_exprs(x)))
    if not all(isinstance(x, n.Let) for x in s.body) or any(s.count in variables_read(e) for e in every):
        return False
    needed = _needed(s, (s.mask,))
    asked = [e for own in needed for e in walk_expr(own)]
    computes = any(isinstance(e, Apply) and e.op not in ("cast", "logical_not") for e in asked)
    return computes and any(isinstance(e, Load) for e in asked) and all(dearest(e) < INEXACT for e in needed)


def _needed(s: n.Compact, values: tuple[Expr, ...]) -> list[Expr]:
    """The values, and those of the names that they need."""
    return [*values, *(x.value for x in _lets(s, values))]


def _lets(s: n.Compact, values: Iterable[Expr]) -> list[n.Let]:
    """The names of the body that values need."""
    found: list[n.Let] = []
    names = set[str]().union(*map(variables_read, values))
    for x in reversed(s.body):
        if isinstance(x, n.Let) and x.name in names:
            found.insert(0, x)
            names |= variables_read(x.value)
    return found


def _print_blocks(of: KernelPrinter, s: n.Compact) -> None:
    i, c = ident(s.axis), of.c
    begin, end, keep, keeps = "kept_begin_", "kept_end_", "keep_each_", "keep_any_"
    of.line(f"for (int64_t {begin} = {c.expr(s.start)}; {begin} < {c.operand(s.stop)}; {begin} += {_BLOCK}) {{")
    of.depth += 1
    until = b.minimum(b.add(Var(begin, "index"), b.index(_BLOCK)), s.stop)
    of.line(f"const int64_t {end} = {c.expr(until)};")
    of.line(f"uint8_t {keep}[{_BLOCK}], {keeps} = 0;")
    of.line(f"#pragma omp simd reduction(|: {keeps})")
    of.line(f"for (int64_t {i} = {begin}; {i} < {end}; ++{i}) {{")
    of.depth += 1
    of.block(tuple(_lets(s, (s.mask,))))
    of.line(f"{keep}[{i} - {begin}] = {c.expr(s.mask)};")
    of.line(f"{keeps} |= {keep}[{i} - {begin}];")
    of.depth -= 1
    of.line("}")
    of.line(f"if (!{keeps}) continue;")
    if s.inner or (len(s.values) == 1 and not _is_costly(s.values[0])):
        _print_loop(of, s, begin, end, f"{keep}[{i} - {begin}]")
    else:
        _print_places(of, s, begin, end, f"{keep}[{i} - {begin}]")
    of.depth -= 1
    of.line("}")


def _print_places(of: KernelPrinter, s: n.Compact, start: str, stop: str, keep: str) -> None:
    """What is kept of a block, by the places of its elements."""
    c, i = of.c, ident(s.axis)
    of.line(f"uint8_t keep_places_[{_BLOCK}];")
    of.line("int64_t keep_count_ = 0;")
    of.line(f"for (int64_t {i} = {start}; {i} < {stop}; ++{i}) {{")
    of.depth += 1
    of.line(f"keep_places_[keep_count_] = {i} - {start};")
    of.line(f"keep_count_ += {keep};")
    of.depth -= 1
    of.line("}")
    if not any(buffers_read(e) & {*s.outputs} for e in _needed(s, s.values)):
        of.line("#pragma omp simd")
    of.line("for (int64_t keep_next_ = 0; keep_next_ < keep_count_; ++keep_next_) {")
    of.depth += 1
    of.memory.frees.append([])
    of.line(f"const int64_t {i} = {start} + keep_places_[keep_next_];")
    of.block(tuple(_lets(s, s.values)))
    to = b.add(_KEPT, Var("keep_next_", "index"))
    for out, value in zip(s.outputs, s.values, strict=True):
        of.line(f"{c.element(out, (to,))} = {c.expr(value)};")
    free_last(of)
    of.depth -= 1
    of.line("}")
    of.line("kept_count_ += keep_count_;")


def _print_loop(of: KernelPrinter, s: n.Compact, start: str, stop: str, keep: str | None) -> None:
    """The loop over the elements, `keep` where it is known which of them are kept."""
    c, i = of.c, ident(s.axis)
    of.line(f"for (int64_t {i} = {start}; {i} < {stop}; ++{i}) {{")
    of.depth += 1
    of.memory.frees.append([])
    if keep is None:
        of.block(s.body)
        of.line(f"const uint8_t keep_it = {c.expr(s.mask)};")
        keep = "keep_it"
    else:
        of.block(tuple(_lets(s, (*s.values, *(a.extent for a in s.inner)))))
    if not s.inner and not any(map(_is_costly, s.values)):  # without a branch: it is written, and kept by counting it
        for out, value in zip(s.outputs, s.values, strict=True):
            of.line(f"{c.element(out, (_KEPT,))} = {c.expr(value)};")
        of.line(f"kept_count_ += {keep};")
    else:
        of.line(f"if ({keep}) {{")
        of.depth += 1
        for out, value in zip(s.outputs, _without_divisions(of, s), strict=True):
            _print_kept(of, s, out, value)
        of.line("++kept_count_;")
        of.depth -= 1
        of.line("}")
    free_last(of)
    of.depth -= 1
    of.line("}")


def _print_kept(of: KernelPrinter, s: n.Compact, out: str, value: Expr) -> None:
    index: list[Expr] = [_KEPT]
    where = tuple(a.var for a in s.inner)
    own = all(  # elements that go elsewhere in the array are those at the same place of another row
        e.index[1:] == where for e in walk_expr(value) if isinstance(e, Load) and e.buffer in s.outputs
    )
    for a in s.inner:
        at = ident(a.name)
        if own and a is s.inner[-1]:
            of.line("#pragma omp simd")
        of.line(f"for (int64_t {at} = 0; {at} < {of.c.operand(a.extent)}; ++{at}) {{")
        of.depth += 1
        index.append(a.var)
    of.line(f"{of.c.element(out, tuple(index))} = {of.c.expr(value)};")
    for _ in s.inner:
        of.depth -= 1
        of.line("}")


def _without_divisions(of: KernelPrinter, s: n.Compact) -> list[Expr]:
    """The values of a filter's rows, with names for positions that are divisions: as these may trap, compilers leave
    them in the loops over a row."""
    inner = {a.name for a in s.inner}
    named: dict[Expr, Expr] = {}

    def change(e: Expr) -> Expr | None:
        if not isinstance(e, Apply) or e.op not in ("floor_divide", "remainder") or e.dtype != "index":
            return None
        if variables_read(e) & inner or buffers_read(e):
            return None
        if e not in named:
            of.line(f"const int64_t place_{len(named)}_ = {of.c.expr(e)};")
            named[e] = Var(f"place_{len(named)}_", "index")
        return named[e]

    return [b.map_expr(value, change) for value in s.values] if inner else list(s.values)


def _is_costly(e: Expr) -> bool:
    return dearest(e) > 2
