"""What a call returns, and what it gives back."""

from __future__ import annotations

from typing import TYPE_CHECKING

from transkern.ir import nodes as n
from transkern.ir.complexes import is_complex
from transkern.ir.containers import container_text
from transkern.ir.expr import Apply
from transkern.ir.storage import storage
from transkern.ir.traverse import result_buffers
from transkern.targets.cuda import host
from transkern.targets.cuda.launch.libraries import cut, whole
from transkern.targets.signature import literal

if TYPE_CHECKING:
    from transkern.targets.cuda.launcher import Launcher


def opens_giving_back(launcher: Launcher) -> bool:
    """Begins the block behind which `give_back` stands, if an argument is written."""
    if not any(p.written for p in launcher.arrays):
        return False
    launcher.line("try:")
    launcher.depth += 1
    return True


def give_back(launcher: Launcher) -> None:
    """What was written into arguments that are not on the device, or not as the kernels need them. It is seen where a
    check has failed, too: no kernel behind one has stored anything."""
    launcher.depth -= 1
    written = [p for p in launcher.arrays if p.written]
    if launcher.has_room:  # a list has outgrown it: the call begins anew, with the arguments as they were
        launcher.line("except _NoRoom:")
        launcher.line(f"    {' = '.join(launcher.given[p.name] for p in written)} = None")
        launcher.line("    raise")
    launcher.line("finally:")
    for p in written:
        launcher.line(f"    {launcher.use('_give_back')}({launcher.given[p.name]}, {whole(launcher, p.name)})")


def result_text(launcher: Launcher, r: n.Result) -> str:
    match r:
        case n.ArrayResult(buffer, dims, _, empty):
            info = launcher.program.buffers[buffer]
            copied = ".copy()" if info.role == "argument" else ""
            more = f", {host.dtype(empty)}" if empty else ""
            array = whole(launcher, buffer, cut(launcher, buffer, dims))
            return f"{launcher.use('_result')}({array}{copied}, on_host{more})"
        case n.ViewResult(buffer, dims, offset, steps, _, part, readonly):
            at = host.tuple_of(launcher.value(o) for o in offset)
            along = host.tuple_of(host.tuple_of(launcher.value(step[k]) for step in steps) for k in range(len(dims)))
            shape = host.tuple_of(launcher.value(d) for d in dims)
            info = launcher.program.buffers[buffer]
            linear = len(offset) < len(info.dims) - bool(info.element)
            base = f"{launcher.given[buffer]}.reshape(-1)" if linear else launcher.given[buffer]
            base += f".{part}" if part else ""
            how = ", writeable=False" if readonly else ""
            return f"{launcher.use('_view')}({base}, {at}, {shape}, {along}{how})"
        case n.ScalarResult(Apply("complex", (real, imag), dtype), python):
            made = f"complex({launcher.value(real)}, {launcher.value(imag)})"
            return made if python else f"{host.dtype(dtype)}({made})"
        case n.ScalarResult(value, python):
            kind = {"index": "int", "float64": "float", "bool": "bool"}.get(value.dtype) if python else None
            return f"{kind or host.dtype(value.dtype)}({launcher.value(value)})"
        case n.ListResult(""):  # of Nones alone, which stand around it
            return "[]"
        case n.ListResult(buffer, count, dtype, _, dims) if dims:
            return f"[row.copy() for row in {whole(launcher, buffer, f'[:{launcher.value(count)}]')}.get()]"
        case n.ListResult(buffer, count, dtype, python):
            text = f"{whole(launcher, buffer, f'[:{launcher.value(count)}]')}.get()"
            if not is_complex(dtype) and storage(dtype) != storage(launcher.program.buffers[buffer].dtype):
                text += f".astype({host.dtype(dtype)})"
            return f"{text}.tolist()" if python else f"list({text})"
        case n.TupleResult((n.ArrayResult(buffer, dims),), "lists" | "lists of numbers") as container:
            return f"({container_text(container)})({whole(launcher, buffer, cut(launcher, buffer, dims))}.get())"
        case n.TupleResult(items, kind) as container:
            texts = [result_text(launcher, x) for x in items]
            if kind not in ("tuple", "list"):
                return f"({container_text(container)})({', '.join(texts)})"
            return f"[{', '.join(texts)}]" if kind == "list" else host.tuple_of(texts)
        case n.ArgumentResult(name):
            return launcher.given.get(name, name)
        case n.ConstantResult(value):
            return "..." if value is ... else literal(value)


def objects_in(result: n.Result) -> set[str]:
    """The arguments that a result is, or is a view of."""
    match result:
        case n.ArgumentResult(name):
            return {name}
        case n.ViewResult():
            return result_buffers(result)
        case n.TupleResult(items):
            return {name for item in items for name in objects_in(item)}
        case _:
            return set()
