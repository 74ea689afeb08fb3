"""What devices cannot tell or do: messages with complex numbers, on JAX printed lines and lists without a bound."""

from __future__ import annotations

from transkern.errors import CompileError
from transkern.ir import nodes as n
from transkern.ir.traverse import walk

_UNBOUNDED = "a list whose length has no bound that is known before"


def check_told(program: n.Program, target: str, prints: bool, begins_anew: bool) -> None:
    """Raises CompileError where the target cannot tell what the program tells, or has no memory for its lists.

    `begins_anew`: where a list without a bound outgrows its memory, the target runs the program once more.
    """
    lists = any(isinstance(s, n.Guard) and s.error == n.NO_ROOM for s in walk(program.body))
    for s in walk(program.body):
        match s:
            case n.Guard(args=args) if any(a.dtype.startswith("complex") for a in args):
                problem = f"a message with run-time complex numbers in it, which {target} cannot tell"
            case n.Library(name="print" | "drawn") if lists and begins_anew:
                problem = f"{_UNBOUNDED}, beside what {target} must not do again"
            case n.Alloc(buffer) if _is_reserved(program, buffer) and not begins_anew:
                problem = f"{_UNBOUNDED}, which {target} has no memory for"
            case n.Guard(error=n.NO_ROOM) if not begins_anew:
                problem = f"{_UNBOUNDED}, which {target} has no memory for"
            case n.Library(name="print") if not prints:
                problem = f"`{'warnings.warn' if 'warns' in dict(s.attributes) else 'print'}`, which {target} cannot do"
            case _:
                continue
        help = 'use target="cpu", or keep it outside the compiled function'
        raise CompileError(problem, help, s.span, program.lines_of(s.span))


def _is_reserved(program: n.Program, buffer: str) -> bool:
    return buffer in program.buffers and program.buffers[buffer].is_reserved
