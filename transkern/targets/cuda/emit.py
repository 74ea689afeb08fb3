"""A program as CUDA C++ text and a CuPy launcher."""

from __future__ import annotations

from dataclasses import replace

from transkern.ir import nodes as n
from transkern.ir.traverse import exprs, walk
from transkern.targets.cuda.failures import checks_of
from transkern.targets.cuda.kernels import KernelPrinter
from transkern.targets.cuda.launcher import Launcher
from transkern.targets.cuda.passes.prepare import prepare
from transkern.targets.cuda.prelude import compose
from transkern.targets.naming import CUDA, function_name, with_names
from transkern.targets.told import check_told


def emit(program: n.Program, standalone: bool = True) -> tuple[str, str]:
    """The texts of ``<name>.cu`` and of the launcher ``<name>.py``.

    Where the sizes are not what the code was made for, a `standalone` launcher raises ValueError; another one returns
    NotImplemented, for the caller to make other code.

    Raises:
        CompileError: the program has something that the CUDA target does not do.
    """
    code, launcher = emit_with_places(program, standalone)
    return code, launcher.text


def emit_with_places(program: n.Program, standalone: bool) -> tuple[str, Launcher]:
    """The text of ``<name>.cu``, and the launcher, which knows what places in the source its lines stand for."""
    check_told(program, "CUDA", prints=True)
    program = replace(with_names(prepare(program), CUDA), name=function_name(program.name, CUDA))
    checks = checks_of(program)
    printer = KernelPrinter(program, checks)
    kernels = {s.name: printer.kernel(s) for s in walk(program.body) if isinstance(s, n.Kernel)}
    launcher = Launcher(program, kernels, checks, standalone)
    unit = printer.unit
    helpers = [text.rstrip() for text in unit.c.used.values()]
    parts = [
        f"// `{program.name}` in CUDA C++, made by transkern. Compile with --std=c++17"
        f" --fmad={str(program.fastmath).lower()}; launched by {program.name}.py.\n",
        compose(unit.pieces | ({"half"} if _has_halves(program) else set())),
        *(["// NumPy's arithmetic, where it is not C's\n" + "\n".join(helpers) + "\n"] if helpers else []),
        *(["\n".join(unit.functors.values()) + "\n"] if unit.functors else []),
        *(k.text for k in kernels.values()),
    ]
    return "\n".join(parts), launcher


def _has_halves(program: n.Program) -> bool:
    """Whether there are float16 among the arrays or numbers."""
    return any(x.dtype == "float16" for x in (*program.buffers.values(), *exprs(program.body)))
