"""Elementwise kernels over contiguous arrays: elements are loaded and stored in words of 16 bytes.

Where each access of a nest is to one and the same position, the nest is one loop over memory. What happens to an element
stands in a function of its own, `<kernel>_at`, whose parameters are named after the arrays.
"""

from __future__ import annotations

from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Expr, Load, Var
from transkern.ir.traverse import buffers_written, exprs, map_statement, own_exprs, scalars_set, walk, walk_expr
from transkern.targets.clike import ident
from transkern.targets.cuda.body import Body, Unit
from transkern.targets.cuda.group import nest
from transkern.targets.cuda.launches import THREADS, KernelText, Launch, wrapped
from transkern.targets.cuda.parameters import parameters
from transkern.targets.cuda.spelling import PREFIX, TYPES, itemsize

_BYTES = 16  # the widest load there is


def kernel(unit: Unit, s: n.Kernel) -> KernelText | None:
    """The kernel in this form, or None where it does not have it."""
    loop = s.body[-1]
    lets = [x for x in s.body[:-1] if isinstance(x, n.Let)]
    if not isinstance(loop, n.Loop) or loop.kind != "parallel" or len(lets) + 1 != len(s.body):
        return None
    axes, inner = nest(loop)
    names = tuple(Var(a.axis, "index") for a in axes)
    extents = tuple(a.stop for a in axes)
    if any(a.start != b.ZERO or a.step != b.ONE for a in axes):
        return None
    if not all(isinstance(x, (n.Let, n.Store)) for x in inner) or not _agree(unit.program, inner, names, extents):
        return None
    buffers, scalars, params = parameters(unit.program, s, shared=False)
    # A scalar that stands in memory is read before the loop; everything else is an array of the nest.
    arrays = [x for x in buffers if x.name in _touched(inner)]
    written = buffers_written(s)
    loaded = _loaded_first(inner)
    name = ident(s.name)

    at = Body(unit)

    def value(e: Expr) -> Expr | None:
        return Var(e.buffer, e.dtype) if isinstance(e, Load) else None

    for x in inner:
        changed = map_statement(x, value)
        if isinstance(changed, n.Store):
            at.source(x)
            at.line(f"{ident(changed.buffer)} = {unit.c.expr(changed.value)};")
        else:
            at.statement(changed)
    used = {e.name for e in exprs(inner) if isinstance(e, Var)} - {v.name for v in names} - scalars_set(loop)
    consts = {v.name: v for v in [*scalars, *[Var(x.name, x.value.dtype) for x in lets]]}
    given = [v for k, v in consts.items() if k in used]
    at_params = [f"{TYPES[x.dtype]} &" if x.name in written else f"const {TYPES[x.dtype]} " for x in arrays]
    at_params = [text + ident(x.name) for text, x in zip(at_params, arrays, strict=True)]
    at_params += [f"const {TYPES[v.dtype]} {ident(v.name)}" for v in given]
    text = f"{PREFIX} void {name}_at({wrapped(at_params)}) {{\n" + "\n".join(at.lines) + "\n}\n"

    body = Body(unit)
    for x in lets:
        body.statement(x)
    width = _BYTES // max(itemsize(x.dtype) for x in arrays)
    count = unit.c.expr(b.product(extents))
    i = ident(axes[0].axis) if len(axes) == 1 else "_".join(ident(a.axis) for a in axes)
    scalars_text = [ident(v.name) for v in given]
    if width > 1:
        unit.pieces.add("pack")
        aligned = " && ".join(f"aligned({ident(x.name)}, {width * itemsize(x.dtype)})" for x in arrays)
        body.line("const long long thread = blockIdx.x * (long long)blockDim.x + threadIdx.x;")
        body.line("const long long threads = (long long)gridDim.x * blockDim.x;")
        body.line(f"const long long packed = {aligned}")
        body.line(f"    ? {count if count.isidentifier() else f'({count})'} & -{width}ll : 0;  // elements that go {width} at a time")
        body.open(f"for (long long {i} = {width} * thread; {i} < packed; {i} += {width} * threads)")
        for x in arrays:
            pack = f"Pack<{TYPES[x.dtype]}, {width}>"
            start = f" = {pack}::load({ident(x.name)} + {i})" if x.name in loaded else ""
            const = "" if x.name in written else "const "
            body.line(f"{const}{pack} {ident(x.name)}_pack{start};")
        body.lines.append("#pragma unroll")
        elements = ", ".join([*(f"{ident(x.name)}_pack.at[k]" for x in arrays), *scalars_text])
        body.line(f"for (int k = 0; k < {width}; ++k) {name}_at({elements});")
        for x in arrays:
            if x.name in written:
                body.line(f"{ident(x.name)}_pack.store({ident(x.name)} + {i});")
        body.close()
        body.line(f"for (long long {i} = packed + thread; {i} < {count}; {i} += threads)")
    else:
        first, step = "blockIdx.x * (long long)blockDim.x + threadIdx.x", "(long long)gridDim.x * blockDim.x"
        body.line(f"for (long long {i} = {first}; {i} < {count}; {i} += {step})")
    elements = ", ".join([*(f"{ident(x.name)}[{i}]" for x in arrays), *scalars_text])
    body.line(f"    {name}_at({elements});")
    text += f'extern "C" __global__ void __launch_bounds__({THREADS}) {name}({wrapped(params)}) {{\n'
    text += "\n".join(body.lines) + "\n}\n"
    launch = Launch("elements", (b.product(extents),), width)
    return KernelText(name, text, buffers, scalars, launch)


def _agree(program: n.Program, inner: tuple[n.Stmt, ...], names: tuple[Var, ...], extents: tuple[Expr, ...]) -> bool:
    """Whether every access is to the position of the iteration, in arrays of the nest's own shape."""
    accesses = [(e.buffer, e.index) for e in exprs(inner) if isinstance(e, Load)]
    accesses += [(s.buffer, s.index) for s in walk(inner) if isinstance(s, n.Store)]
    positions = 0
    for buffer, index in accesses:
        info = program.buffers[buffer]
        if info.layout != "C" or index != names or info.dims[1:] != extents[1:]:
            return False
        positions += len(index)
    # The position itself is nothing that the element's function knows.
    axes = {v.name for v in names}
    return sum(isinstance(e, Var) and e.name in axes for e in exprs(inner)) == positions


def _touched(inner: tuple[n.Stmt, ...]) -> set[str]:
    return {e.buffer for e in exprs(inner) if isinstance(e, Load)} | {s.buffer for s in inner if isinstance(s, n.Store)}


def _loaded_first(inner: tuple[n.Stmt, ...]) -> set[str]:
    """The arrays that are read before they are written."""
    stored: set[str] = set()
    loaded: set[str] = set()
    for s in inner:
        loaded |= {e.buffer for top in own_exprs(s) for e in walk_expr(top) if isinstance(e, Load)} - stored
        if isinstance(s, n.Store):
            stored.add(s.buffer)
    return loaded
