"""What a launch is given: buffers, strides, scalars, and how much work it has."""

from __future__ import annotations

from collections.abc import Sequence

from transkern.errors import CompileError
from transkern.fuse.kernels import interface
from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Expr, Load, Var
from transkern.ir.highest import highest
from transkern.ir.traverse import buffers_written, exprs, scalars_set, variables_read, walk
from transkern.ir.uses import reads_before_set
from transkern.targets.clike import ident
from transkern.targets.cuda.spelling import TYPES


def parameters(program: n.Program, kernel: n.Kernel, shared: bool) -> tuple[list[n.Buffer], list[Var], list[str]]:
    """The buffers and scalars of a launch, and the parameters as text. `shared`: threads see each other's stores."""
    buffers, scalars = interface(program, kernel)
    known = {v.name for v in scalars}
    for name in sorted(scalars_set(kernel)):
        if name in program.variables and name not in known and reads_before_set(kernel.body, name):
            scalars.append(Var(name, program.variables[name]))
    buffers = buffers + [program.buffers[x] for x in sorted(shared_allocs(kernel))]
    written = buffers_written(kernel)
    params = []
    for x in buffers:
        if x.name in written:
            params.append(f"{TYPES[x.dtype]} *{'' if shared else '__restrict__ '}{ident(x.name)}")
        else:
            params.append(f"const {TYPES[x.dtype]} *__restrict__ {ident(x.name)}")
    for x in buffers:
        if x.layout != "C":
            params += [f"const long long {x.name}_stride{d}" for d in range(len(x.dims))]
    changed = scalars_set(kernel)
    params += [f"{'' if v.name in changed else 'const '}{TYPES[v.dtype]} {ident(v.name)}" for v in scalars]
    return buffers, scalars, params


def shared_allocs(kernel: n.Kernel) -> dict[str, tuple[n.Loop, ...]]:
    """What the statements that threads run together allocate, with the loops around: it comes from the launcher."""
    found: dict[str, tuple[n.Loop, ...]] = {}

    def look(statements: Sequence[n.Stmt], around: tuple[n.Loop, ...]) -> None:
        for s in statements:
            match s:
                case n.Alloc(buffer):
                    found[buffer] = around
                case n.Loop(kind="sequential", body=body):
                    look(body, (*around, s))
                case n.While(head=head, body=body):
                    look(head, around)
                    look(body, around)
                case n.If(then=then, orelse=orelse):
                    look(then, around)
                    look(orelse, around)
                case _:
                    pass

    look(kernel.body, ())
    return found


def largest_dims(buffer: n.Buffer, around: Sequence[n.Loop]) -> tuple[Expr, ...]:
    """The dims that a buffer made anew in the loops `around` never exceeds, without their variables."""
    axes = {loop.axis for loop in around}
    found = tuple(highest(d, around) if variables_read(d) & axes else d for d in buffer.dims)
    if any(d is None for d in found):
        raise CompileError(
            f"cannot compile for CUDA: the largest size of `{buffer.name}`, made in a loop, is not known"
        )
    return tuple(d for d in found if d is not None)


def work(program: n.Program, kernel: n.Kernel) -> tuple[Expr, ...]:
    """Sizes that bound how many iterations the parallel loops of a kernel have: of the arrays that they run along."""
    found: dict[Expr, None] = {}
    axes: set[str] = set()
    for s in walk(kernel.body):
        if isinstance(s, (n.Compact, n.Scanning)) or (isinstance(s, n.Loop) and s.kind == "parallel"):
            axes.add(s.axis)
        if isinstance(s, (n.Let, n.Assign)) and variables_read(s.value) & axes:
            axes.add(s.name)  # a subscript that is worked out before it is used
    touched = [(e.buffer, e.index) for e in exprs((kernel,)) if isinstance(e, Load)]
    touched += [(s.buffer, s.index) for s in walk((kernel,)) if isinstance(s, (n.Store, n.Scanning))]
    made = shared_allocs(kernel)
    for buffer, index in touched:
        dims = largest_dims(program.buffers[buffer], made.get(buffer, ()))
        if len(dims) != len(index):
            dims = (b.product(dims),)
        along = [d for d, e in zip(dims, index, strict=True) if variables_read(e) & axes]
        if along:
            found[b.product(tuple(along))] = None
    return tuple(found)
