"""A program as CUDA C++ text and a CuPy launcher."""

from __future__ import annotations

from transkern.errors import CompileError
from transkern.ir import nodes as n
from transkern.ir.complexes import is_complex
from transkern.ir.expr import Apply, Const, Expr, Load, Span, Var
from transkern.ir.traverse import exprs, walk
from transkern.targets.cuda.kernels import KernelPrinter
from transkern.targets.cuda.launcher import Launcher
from transkern.targets.cuda.prelude import compose
from transkern.targets.cuda.prepare import prepare
from transkern.targets.cuda.spelling import TYPES
from transkern.targets.told import check_told


def emit(program: n.Program, standalone: bool = True) -> tuple[str, str]:
    """The texts of ``<name>.cu`` and of the launcher ``<name>.py``.

    Where the sizes are not what the code was made for, a `standalone` launcher raises ValueError; another one returns
    NotImplemented, for the caller to make other code.

    Raises:
        CompileError: the program has something that the CUDA target does not do.
    """
    _refuse(program)
    program = prepare(program)
    printer = KernelPrinter(program)
    kernels = {s.name: printer.kernel(s) for s in walk(program.body) if isinstance(s, n.Kernel)}
    launcher = Launcher(program, kernels, standalone).module()
    unit = printer.unit
    helpers = [text.rstrip() for text in unit.c.used.values()]
    parts = [
        f"// `{program.name}` in CUDA C++, made by transkern. Compile with --std=c++17"
        f" --fmad={str(program.fastmath).lower()}; launched by {program.name}.py.\n",
        compose(unit.pieces),
        *(["// NumPy's arithmetic, where it is not C's\n" + "\n".join(helpers) + "\n"] if helpers else []),
        *(["\n".join(unit.functors.values()) + "\n"] if unit.functors else []),
        *(k.text for k in kernels.values()),
    ]
    return "\n".join(parts), launcher


def _refuse(program: n.Program) -> None:
    """What no CUDA text is made of."""
    containers = {"dict", "record", "raise", "one of", "either", "rows", "rows of tuple", "rows of list"}
    check_told(program, "CUDA", containers, prints=True)
    for name, buffer in program.buffers.items():
        if buffer.dtype not in TYPES:
            raise _refusal(program, buffer.dtype, f"`{name}`", buffer.line)
    for e in exprs(program.body):
        if isinstance(e, (Apply, Const, Load, Var)) and e.dtype not in TYPES and not is_complex(e.dtype):
            line = next((s.span.line for s in walk(program.body) if s.span.line and _has(s, e)), 0)
            raise _refusal(program, e.dtype, "a value here", line)


def _has(s: n.Stmt, e: Expr) -> bool:
    return any(x is e for x in exprs((s,)))


def _refusal(program: n.Program, dtype: str, what: str, line: int) -> CompileError:
    text = program.source[line - 1] if 0 < line <= len(program.source) else ""
    column = len(text) - len(text.lstrip())
    span = Span(line, column, line, len(text.rstrip()), program.file)
    return CompileError(
        f"cannot compile for CUDA: {what} is {dtype}, which the kernels do not compute with", "use float32", span,
        program.source,
    )  # fmt: skip
