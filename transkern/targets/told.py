"""What devices cannot tell or do: messages with complex numbers, on JAX printed lines."""

from __future__ import annotations

from transkern import refusals
from transkern.errors import CompileError
from transkern.ir import nodes as n
from transkern.ir.traverse import walk


def check_told(program: n.Program, target: str, prints: bool) -> None:
    """Raises CompileError where the target cannot tell what the program tells.

    Where a list without a bound outgrows its memory, the target runs the program once more.
    """
    lists = any(isinstance(s, n.Guard) and s.error == n.NO_ROOM for s in walk(program.body))
    for s in walk(program.body):
        match s:
            case n.Guard(args=args) if any(a.dtype.startswith("complex") for a in args):
                problem = f"a message with run-time complex numbers in it, which {target} cannot tell"
            case n.Library(name="print" | "drawn") if lists:
                problem = f"a list whose length has no known bound, beside what {target} must not do again"
            case n.Library(name="print") if not prints:
                problem = f"`{'warnings.warn' if 'warns' in dict(s.attributes) else 'print'}`, which {target} cannot do"
            case _:
                continue
        help = 'use target="cpu", or keep it outside the compiled function'
        kind = refusals.CUDA if target == "CUDA" else refusals.PALLAS
        raise CompileError(kind, problem, help, s.span, program.lines_of(s.span))
