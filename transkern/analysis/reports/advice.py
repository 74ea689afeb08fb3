"""What compiles and gives NumPy's answer, and is slower than its author may think: told to who asks for advice."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from transkern import pipeline, refusals
from transkern.analysis.loops import LoopReport, reports
from transkern.errors import Placed
from transkern.frontend.state.widening import Widened, noting
from transkern.frontend.values.types import ArgType, is_array
from transkern.frontend.values.values import Function
from transkern.fuse.passes import BEFORE_LOOPS
from transkern.ir import nodes as n
from transkern.ir.expr import Span
from transkern.ir.traverse import walk
from transkern.parsing import all_nodes, parse

_FEW = 64
"""Iterations of a loop that are no matter, in order or not."""


class Advice(Placed):
    """Something of a function that could be faster, and how."""


def advise(function: Function, types: Sequence[ArgType], target: str = "cpu") -> tuple[tuple[Advice, ...], bool]:
    """What is to be said of a function for arguments of these types, in the order of its text; and whether NumPy could
    run it beside, for a comparison: it has no loops, and does nothing but compute."""
    with noting() as widened:
        made = pipeline.translated(function, tuple(types), target)
    before = pipeline.run(made, BEFORE_LOOPS)
    loops = reports(before)
    found = [*_widened(widened, types), *_in_order(before, loops)]
    found.sort(key=lambda one: (one.span.file != before.file, one.span.line, one.span.column))
    steps = [s for s in walk(made.body) if isinstance(s, n.Library)]
    draws = any(s.name == "print" or ("kind", "global") in s.attributes for s in steps)
    return tuple(found), not (loops or draws or any(isinstance(s, n.While) for s in walk(made.body)))


def _widened(found: Sequence[Widened], types: Sequence[ArgType]) -> Iterator[Advice]:
    """One for each place."""
    arrays = [t.dtype for t in types if is_array(t)]
    are_wide = any(t in ("float64", "complex128") for t in arrays)
    told: set[Span] = set()
    are_first = [one for one in found if not one.of_array or np_kind(one.other) in "iub"]
    # Arrays of float64 have crept in themselves: those that the caller gives have not, and others may come of numbers.
    for one in are_first or ([] if are_wide else found):
        if one.span in told:
            continue
        told.add(one.span)
        article = "an array" if one.of_array else "a NumPy number"
        python = "complex" if np_kind(one.other) == "c" else "float"
        help = f"write np.{one.narrow}(…) around it, or {python}(…): Python's numbers take the array's type"
        if one.of_array and np_kind(one.other) in "iub":
            help = f"convert it first: .astype(np.{one.narrow})"
        elif one.of_array:
            help = f"make it with dtype=np.{one.narrow}; np.zeros, np.linspace and others make float64 otherwise"
        problem = f"an array of {one.narrow} becomes {one.wide} here, as it meets {article} of {one.other}"
        yield Advice(refusals.WIDER, problem, help, one.span, one.lines)


def np_kind(dtype: str) -> str:
    """NumPy's letter for the kind of a type."""
    return "b" if dtype == "bool" else "u" if dtype.startswith("u") else dtype[0]


def _in_order(program: n.Program, loops: Sequence[LoopReport]) -> Iterator[Advice]:
    """Loops of which the iterations must, or may have to, follow each other; not those in parallel ones, nor short
    ones, nor those around them where they are what keeps these in order."""
    tree = parse("\n".join(program.source))
    nodes = {x.lineno: x for x in all_nodes(tree) if isinstance(x, ast.For)}
    kinds = {one.line: one.kind for one in loops}
    for one in loops:
        node = nodes.get(one.line)
        if one.kind != "sequential" or one.conflict is None or node is None or _is_short(node) or (
            ast.unparse(node.target) != one.variable
        ):
            continue
        around = [x for x in nodes.values() if x is not node and x.lineno < one.line <= (x.end_lineno or 0)]
        if any(not kinds.get(x.lineno, "sequential").startswith("sequential") for x in around):
            continue
        c = one.conflict
        why = f"line {c.second_line} {c.second_access}, line {c.first_line} {c.first_access}"
        if c.sizes is None:
            help = "if they never meet, write it so that the subscripts show it (docs/loops.md), or as array operations"
            problem = f"the loop over `{one.variable}` stays in order: nothing proves its iterations apart ({why})"
        else:
            help = "cut another axis, put what does not depend on it into a loop of its own, or look for a form that " \
                "transkern knows as a scan (docs/loops.md)"
            problem = f"the loop over `{one.variable}` stays in order: an iteration needs another one ({why})"
        span = Span(node.lineno, node.col_offset, node.lineno, node.iter.end_col_offset or 0, program.file)
        yield Advice(refusals.IN_ORDER, problem, help, span, program.lines_of(span))


def _is_short(node: ast.For) -> bool:
    """Whether it is written that there are few iterations."""
    match node.iter:
        case ast.Call(func=ast.Name(id="range"), args=[*_, ast.Constant(value=int(most))]) if len(node.iter.args) < 3:
            return most <= _FEW
        case ast.Tuple() | ast.List():
            return True
    return False
