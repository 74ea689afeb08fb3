"""The terms of a sum in order are computed side by side, then added one after the other:

    for i in 0 .. n:                          for block in 0 .. n by 8:
        total = total + x[i] * y[i]    to         for i in the block, side by side: terms[i] = x[i] * y[i]
                                                  for i in the block, in order: total = total + terms[i]

The additions wait for each other either way, and the products did not wait for them; but eight of them are now one
instruction or two, and an exponential, or a product too small for a normal number, takes as long for eight as for one.
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
from transkern.ir.traverse import stride_along, variables_read, walk_expr
from transkern.targets.clike import ident

if TYPE_CHECKING:
    from transkern.targets.cpu.kernels import KernelPrinter

_BLOCK = 8
_CHAINS = 2
"""Sums at most: with more of them, additions no longer wait."""

_VECTOR = 32
"""Bytes of a vector: wider ones slow the additions down, which then share a port with them."""

_COSTLY = 8
"""The cost of an operation from which on vectors of any width pay."""


@dataclass(frozen=True, slots=True)
class Sums:
    """What a loop in order does: names for values (`lets`), and one term each added to variables."""

    lets: tuple[n.Let, ...]
    chains: tuple[tuple[n.Assign, Expr], ...]

    @property
    def values(self) -> list[Expr]:
        """What may be computed side by side."""
        return [*(x.value for x in self.lets), *(term for _, term in self.chains)]


def sums_of(s: n.Loop, program: n.Program) -> Sums | None:
    """The sums that make up a loop, where their terms are worth computing side by side."""
    if s.step != b.ONE or (b.constant(b.sub(s.stop, s.start)) or _BLOCK) < _BLOCK:
        return None
    lets = [x for x in s.body if isinstance(x, n.Let)]
    assigned = [x for x in s.body if isinstance(x, n.Assign)]
    changed = {x.name for x in assigned}
    if len(lets) + len(assigned) < len(s.body) or len(changed) < len(assigned) or not 0 < len(changed) <= _CHAINS:
        return None
    if any(x.name in program.variables or variables_read(x.value) & changed for x in lets):
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
    sums = Sums(tuple(lets), tuple(chains))
    known: dict[str, Expr] = {}
    for let in lets:
        if let.value.dtype == "index":
            known[let.name] = b.substitute(let.value, known)
    loads = [e for v in sums.values for e in walk_expr(v) if isinstance(e, Load)]
    in_rows = all(_in_a_row(e, program.buffers[e.buffer], s.axis, known) for e in loads)
    return sums if in_rows else None


def print_sums(printer: KernelPrinter, s: n.Loop, sums: Sums) -> None:
    """The loop `s` in blocks, and what is left."""
    c, axis = printer.c, s.axis
    block, at = (printer.names.fresh(name) for name in (f"{axis}_block", "at"))
    costly = any(_costly(e) for v in sums.values for e in walk_expr(v))
    widest = max(itemsize(term.dtype) for _, term in sums.chains)
    start, stop = c.expr(s.start), c.operand(s.stop)
    printer.line(f"int64_t {block} = {start};")
    printer.line(f"for (; {block} + {_BLOCK} <= {stop}; {block} += {_BLOCK}) {{")
    printer.depth += 1
    terms = {}
    for x, term in sums.chains:
        terms[x.name] = printer.names.fresh(f"{x.name}_terms")
        printer.line(f"{c.type(term.dtype)} {terms[x.name]}[{_BLOCK}] __attribute__((aligned(64)));")
    printer.line("#pragma omp simd" + ("" if costly else f" simdlen({_VECTOR // widest})"))
    i = ident(axis)
    printer.line(f"for (int64_t {i} = {block}; {i} < {block} + {_BLOCK}; ++{i}) {{")
    c.inverses = True
    printer.depth += 1
    for let in sums.lets:
        printer.statement(let)
    for x, term in sums.chains:
        printer.source(x)
        printer.line(f"{terms[x.name]}[{i} - {block}] = {c.expr(term)};")
    printer.depth -= 1
    c.inverses = False
    printer.line("}")
    kept = ", ".join(f'"+m"({name})' for name in terms.values())
    printer.line(f'__asm__ volatile("" : {kept});  // else GCC takes its vectors apart, which takes longer')
    printer.line(f"#pragma GCC unroll {_BLOCK}")
    printer.line(f"for (int {at} = 0; {at} < {_BLOCK}; ++{at}) {{")
    printer.depth += 1
    for x, term in sums.chains:
        next_one = Var(printer.names.fresh("term"), term.dtype)
        printer.line(f"const {c.type(term.dtype)} {ident(next_one.name)} = {terms[x.name]}[{at}];")
        printer.line(f"{ident(x.name)} = {c.expr(_with_term(x.value, term, next_one))};")
    printer.depth -= 1
    printer.line("}")
    printer.depth -= 1
    printer.line("}")
    printer.line(f"for (int64_t {i} = {block}; {i} < {stop}; ++{i}) {{")
    printer.line('    __asm__ volatile("");')
    printer.nested(s.body)
    printer.line("}")


def _costly(e: Expr) -> bool:
    return isinstance(e, Apply) and e.op in OPS and OPS[e.op].cost >= _COSTLY


def _with_term(value: Expr, term: Expr, by: Var) -> Expr:
    assert isinstance(value, Apply)
    return replace(value, args=tuple(by if e is term else e for e in value.args))


def _in_a_row(e: Load, info: n.Buffer, axis: str, known: Mapping[str, Expr]) -> bool:
    """Whether neighbouring iterations read one element, or neighbours."""
    stride = stride_along([b.substitute(i, known) for i in e.index], axis)
    return stride == 0 or (stride in (1, -1) and info.layout == "C")
