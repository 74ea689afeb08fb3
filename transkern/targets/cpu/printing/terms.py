"""The terms of a sum in order are computed side by side, then added one after the other:

    for i in 0 .. n:                          for block in 0 .. n by 16:
        total = total + x[i] * y[i]    to         for i in the block, side by side: terms[i] = x[i] * y[i]
                                                  for i in the block before, in order: total = total + terms[i]

Elements that the loop stores on the way are computed side by side as well. The additions wait for each other either
way, and the products did not wait for them; but eight of them are now one instruction or two, and an exponential, or a
product too small for a normal number, takes as long for eight as for one. The additions are a block behind: those of
the same block would begin when its last term arrives, and hold up the next block's terms in the processor's queues.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Apply, Expr, Load, Var
from transkern.ir.ops import OPS
from transkern.ir.storage import itemsize
from transkern.ir.traverse import own_exprs, places_named, stride_along, variables_read, walk_expr
from transkern.targets.clike import ident

if TYPE_CHECKING:
    from transkern.targets.cpu.printing.kernels import KernelPrinter

_BLOCK = 16
_CHAINS = 2
"""Sums at most: with more of them, additions no longer wait."""

_VECTOR = 32
"""Bytes of a vector: wider ones slow the additions down, which then share a port with them, but for `_WHOLE`."""

_WHOLE = "#if defined(__AVX512F__) && defined(__AVXVNNI__)  // there 64 bytes are not two halves"

_COSTLY = 8
"""The cost of an operation from which on vectors of any width pay."""


@dataclass(frozen=True, slots=True)
class Sums:
    """What a loop in order does: names for values and elements that are stored (`first`), and one term each added to
    variables."""

    first: tuple[n.Let | n.Store, ...]
    chains: tuple[tuple[n.Assign, Expr], ...]

    @property
    def values(self) -> list[Expr]:
        """What may be computed side by side."""
        return [*(x.value for x in self.first), *(term for _, term in self.chains)]


def sums_of(s: n.Loop, program: n.Program) -> Sums | None:
    """The sums that make up a loop, where their terms are worth computing side by side."""
    if s.step != b.ONE or (b.constant(b.sub(s.stop, s.start)) or _BLOCK) < _BLOCK:
        return None
    first = [x for x in s.body if isinstance(x, (n.Let, n.Store))]
    assigned = [x for x in s.body if isinstance(x, n.Assign)]
    changed = {x.name for x in assigned}
    if len(first) + len(assigned) < len(s.body) or len(changed) < len(assigned) or not 0 < len(changed) <= _CHAINS:
        return None
    if any(variables_read(e) & changed for x in first for e in own_exprs(x)):
        return None
    if any(isinstance(x, n.Let) and x.name in program.variables for x in first):
        return None
    chains: list[tuple[n.Assign, Expr]] = []
    for x in assigned:
        match x.value:
            case Apply("add" | "subtract" | "multiply", (Var(name), one), _) if name == x.name:
                term = one
            case Apply("add" | "multiply", (one, Var(name)), _) if name == x.name:
                term = one
            case _:
                return None
        if variables_read(term) & changed or not term.dtype.startswith("float") or not isinstance(term, Apply):
            return None
        chains.append((x, term))
    sums = Sums(tuple(first), tuple(chains))
    known = places_named(first)
    loads = [e for v in sums.values for e in walk_expr(v) if isinstance(e, Load)]
    stores = [x for x in first if isinstance(x, n.Store)]
    touched: list[Load | n.Store] = [*loads, *stores]
    in_rows = all(_in_a_row(e, program.buffers[e.buffer], s.axis, known) for e in touched)
    return sums if in_rows and _independent(stores, loads, known) else None


def print_sums(printer: KernelPrinter, s: n.Loop, sums: Sums) -> None:
    """The loop `s` in blocks, and what is left."""
    c, i = printer.c, ident(s.axis)
    block, more, half = (printer.names.fresh(name) for name in (f"{s.axis}_block", "more", "half"))
    start, stop = c.operand(s.start), c.operand(s.stop)
    done = c.operand(b.sub(Var(block, "index"), s.start))
    terms = {x.name: printer.names.fresh(f"{x.name}_terms") for x, _ in sums.chains}
    for x, term in sums.chains:
        printer.line(f"{c.type(term.dtype)} {terms[x.name]}[{2 * _BLOCK}] __attribute__((aligned(64)));")
    printer.line(f"int64_t {block} = {start};")
    printer.line(f"for (;; {block} += {_BLOCK}) {{  // additions are a block behind their terms")
    printer.depth += 1
    printer.line(f"const bool {more} = {block} + {_BLOCK} <= {stop};")
    printer.line(f"const int64_t {half} = {done} & {_BLOCK};")
    printer.line(f"if ({more}) {{")
    printer.depth += 1
    places = {name: f"{row}[{half} + ({i} - {block})]" for name, row in terms.items()}
    _print_side_by_side(printer, sums, i, block, places)
    printer.depth -= 1
    printer.line("}")
    kept = ", ".join(f'"+m"({name})' for name in terms.values())
    printer.line(f'__asm__ volatile("" : {kept});  // else GCC takes its vectors apart, which takes longer')
    printer.line(f"if ({done} > 0) {{")
    printer.depth += 1
    _print_in_order(printer, sums, {name: f"{row}[({half} ^ {_BLOCK}) + " for name, row in terms.items()})
    printer.depth -= 1
    printer.line("}")
    printer.line(f"if (!{more}) break;")
    printer.depth -= 1
    printer.line("}")
    printer.line(f"for (int64_t {i} = {block}; {i} < {stop}; ++{i}) {{")
    printer.line('    __asm__ volatile("");')
    printer.nested(s.body)
    printer.line("}")


def _print_side_by_side(printer: KernelPrinter, sums: Sums, i: str, block: str, places: Mapping[str, str]) -> None:
    """The loop over a block that stores and computes terms, each at its sum's place."""
    c = printer.c
    if any(_costly(e) for v in sums.values for e in walk_expr(v)):
        printer.line("#pragma omp simd")
    else:
        lanes = _VECTOR // max(itemsize(term.dtype) for _, term in sums.chains)
        printer.line(_WHOLE)
        printer.line(f"#pragma omp simd simdlen({2 * lanes})")
        printer.line("#else")
        printer.line(f"#pragma omp simd simdlen({lanes})")
        printer.line("#endif")
    printer.line(f"for (int64_t {i} = {block}; {i} < {block} + {_BLOCK}; ++{i}) {{")
    printer.depth += 1
    with c.vector_of(sums.first, (term for _, term in sums.chains)):
        for one in sums.first:
            printer.statement(one)
        for x, term in sums.chains:
            printer.source(x)
            printer.line(f"{places[x.name]} = {c.expr(term)};")
    printer.depth -= 1
    printer.line("}")


def _print_in_order(printer: KernelPrinter, sums: Sums, rows: Mapping[str, str]) -> None:
    """The loop that adds a block's terms to the sums."""
    c, at = printer.c, printer.names.fresh("at")
    printer.line(f"#pragma GCC unroll {_BLOCK}")
    printer.line(f"for (int {at} = 0; {at} < {_BLOCK}; ++{at}) {{")
    printer.depth += 1
    for x, term in sums.chains:
        next_one = Var(printer.names.fresh("term"), term.dtype)
        printer.line(f"const {c.type(term.dtype)} {ident(next_one.name)} = {rows[x.name]}{at}];")
        printer.line(f"{ident(x.name)} = {c.expr(_with_term(x.value, term, next_one))};")
    printer.depth -= 1
    printer.line("}")


def _costly(e: Expr) -> bool:
    return isinstance(e, Apply) and e.op in OPS and OPS[e.op].cost >= _COSTLY


def _with_term(value: Expr, term: Expr, by: Var) -> Expr:
    assert isinstance(value, Apply)
    return replace(value, args=tuple(by if e is term else e for e in value.args))


def _in_a_row(e: Load | n.Store, info: n.Buffer, axis: str, known: Mapping[str, Expr]) -> bool:
    """Whether neighbouring iterations touch one element, or neighbours."""
    stride = stride_along([b.substitute(i, known) for i in e.index], axis)
    return (stride == 0 and isinstance(e, Load)) or (stride in (1, -1) and info.layout == "C")


def _independent(stores: list[n.Store], loads: list[Load], known: Mapping[str, Expr]) -> bool:
    """Whether no iteration touches what another one stores, as far as the subscripts tell at once."""
    if len({x.buffer for x in stores}) < len(stores):
        return False
    for store in stores:
        place = [b.substitute(i, known) for i in store.index]
        for load in loads:
            other = [b.substitute(i, known) for i in load.index]
            if load.buffer == store.buffer and place != other and not any(map(_never_equal, place, other)):
                return False
    return True


def _never_equal(x: Expr, y: Expr) -> bool:
    """Whether two subscripts of any iterations differ: of other rows of those that take turns."""
    match x, y:
        case Apply("remainder", (p, m), _), Apply("remainder", (q, other), _) if m == other:
            distance, of = b.difference(p, q), b.constant(m)
            return distance is not None and of is not None and of > 1 and distance % of != 0
    return False
