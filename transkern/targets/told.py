"""What devices cannot tell or hand back: CUDA no messages with floats in them and no objects, JAX no printed lines."""

from __future__ import annotations

from collections.abc import Collection

from transkern.errors import CompileError
from transkern.ir import nodes as n
from transkern.ir.traverse import walk


def check_told(program: n.Program, target: str, containers: Collection[str] | None, prints: bool) -> None:
    """Raises CompileError where the target cannot tell what the program tells.

    `containers`: which kinds of results it has beside tuples and lists; None where it hands back whatever there is, and
    tells of floats.
    """
    numbers = "complex" if containers is None else ("float", "bool", "complex")
    for s in walk(program.body):
        match s:
            case n.Guard(args=args) if any(a.dtype.startswith(numbers) for a in args):
                kind = "complex numbers" if containers is None else "floats"
                problem = f"a message with run-time {kind} in it, which {target} cannot tell"
            case n.Alloc(buffer) if buffer in program.buffers and program.buffers[buffer].is_reserved:
                problem = f"a list whose length has no bound that is known before, which {target} has no memory for"
            case n.Library(name="print") if not prints:
                problem = f"`print`, which {target} cannot do"
            case n.Return(result) if containers is not None and not _kinds(result) <= {"tuple", "list", *containers}:
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
