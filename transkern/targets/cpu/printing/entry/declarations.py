"""What the steps of the entry assign, declared in front of them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from transkern.ir import nodes as n
from transkern.ir.traverse import bodies, walk
from transkern.targets.clike import ident
from transkern.targets.cpu.printing.types import TYPES

if TYPE_CHECKING:
    from transkern.targets.cpu.printing.module import Module


def declarations(module: Module) -> list[str]:
    """What the host steps assign, declared in front so that they may leave from anywhere."""
    lines = [f"    PyObject *{held} = NULL;" for held in module.shown]
    for name in module.allocated:
        info = module.program.buffers[name]
        lines.append(f"    {TYPES[info.dtype]} *{ident(name)} = NULL;")
        if info.role == "result":
            lines.append(f"    PyObject *py_{ident(name)}_array = NULL;")
    inside = {
        s.name
        for k in walk(module.program.body)
        if isinstance(k, n.Kernel)
        for s in walk(k.body)
        if isinstance(s, n.Let)
    }
    host = _host_scalars(module)
    for name, dtype in sorted(host.items()):
        if name not in inside:
            lines.append(f"    {TYPES[dtype]} {ident(name)} = 0;")
    if any(f.guards for f in module.functions):
        lines.append(f"    int64_t py_error[{n.GUARD_NUMBERS}] = {{0}};")
    if module.releases:
        lines += ["    py_run py_running;", "    int py_failed;"]
    return lines


def _host_scalars(module: Module) -> dict[str, str]:
    found: dict[str, str] = {}
    functions = {f.name: f for f in module.functions}

    def visit(block: Iterable[n.Stmt]) -> None:
        for s in block:
            match s:
                case n.Kernel():
                    function = functions[ident(s.name)]
                    for v in [*function.outputs]:
                        found[v.name] = v.dtype
                    for v in function.scalars:
                        if v.name in module.program.variables:
                            found[v.name] = v.dtype
                case n.Let(name=name, value=value):
                    found[name] = value.dtype
                case n.Assign(name=name):
                    found[name] = module.program.variables[name]
                case _:
                    pass
            if not isinstance(s, n.Kernel):
                for body in bodies(s):
                    visit(body)

    visit(module.program.body)
    return found
