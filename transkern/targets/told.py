"""What devices cannot tell or hand back: messages with floats in them, and on JAX printed lines and objects."""

from __future__ import annotations

from collections.abc import Collection

from transkern.errors import CompileError
from transkern.ir import nodes as n
from transkern.ir.traverse import walk


def check_told(program: n.Program, target: str, containers: Collection[str], prints: bool) -> None:
    """Raises CompileError where the target cannot tell what the program tells."""
    for s in walk(program.body):
        match s:
            case n.Guard(args=args) if any(a.dtype.startswith(("float", "bool", "complex")) for a in args):
                problem = f"a message with run-time floats in it, which {target} cannot tell"
            case n.Alloc(buffer) if buffer in program.buffers and program.buffers[buffer].is_reserved:
                problem = f"a list whose length has no bound that is known before, which {target} has no memory for"
            case n.Library(name="print") if not prints:
                problem = f"`print`, which {target} cannot do"
            case n.Return(result) if not _kinds(result) <= {"tuple", "list", *containers}:
                problem = f"a result that {target} cannot hand back: an object, or a list of tuples"
            case _:
                continue
        help = 'use target="cpu", or keep it outside the compiled function'
        raise CompileError(problem, help, s.span, program.lines_of(s.span))


def _kinds(result: n.Result) -> set[str]:
    if isinstance(result, n.ListResult) and result.dims:
        return {"rows"}
    if not isinstance(result, n.TupleResult):
        return set()
    return {result.kind}.union(*map(_kinds, result.items))
