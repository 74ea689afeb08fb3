"""What a launch is given: buffers, strides, scalars, and how much work it has."""

from __future__ import annotations

from collections.abc import Sequence

from transkern.fuse.lowering.kernels import interface
from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Apply, Expr, Load, Var
from transkern.ir.highest import highest
from transkern.ir.storage import itemsize
from transkern.ir.traverse import (
    bodies,
    buffers_read,
    buffers_written,
    exprs,
    resolved,
    scalars_set,
    variables_read,
    walk,
)  # fmt: skip
from transkern.ir.uses import reads_before_set
from transkern.targets.clike import ident
from transkern.targets.cuda.spelling import TYPES


def parameters(program: n.Program, kernel: n.Kernel, shared: bool) -> tuple[list[n.Buffer], list[Var], list[str]]:
    """The buffers and scalars of a launch, and the parameters as text. `shared`: threads see each other's stores.

    `__restrict__` lets NVRTC load through the cache of what nobody writes. From `c ? x[i] : out[i]` it makes one load
    of a chosen address, and takes what holds for `x` to hold for `out` too (seen with 13.0 and 13.5): it drops a store
    that comes before, or reads what the cache held before it. So where a kernel loads what it writes, what it does not
    write and has elements as wide is declared without.
    """
    buffers, scalars = interface(program, kernel)
    known = {v.name for v in scalars}
    for name in sorted(scalars_set(kernel)):
        if name in program.variables and name not in known and reads_before_set(kernel.body, name):
            scalars.append(Var(name, program.variables[name]))
    buffers = buffers + [program.buffers[x] for x in sorted(shared_allocs(kernel))]
    written = buffers_written(kernel)
    atomic = {s.buffer for s in walk(kernel.body) if isinstance(s, n.Store) and s.atomic}  # which no load is left of
    loaded = {e.buffer for e in exprs(kernel.body) if isinstance(e, Load)} - atomic
    mixed = {itemsize(x.dtype) for x in buffers if x.name in written and x.name in loaded}
    params = []
    for x in buffers:
        if x.name in written:
            params.append(f"{TYPES[x.dtype]} *{'' if shared else '__restrict__ '}{ident(x.name)}")
        else:
            cached = "" if itemsize(x.dtype) in mixed else "__restrict__ "
            params.append(f"const {TYPES[x.dtype]} *{cached}{ident(x.name)}")
    for x in buffers:
        if x.layout != "C":
            params += [f"const long long {ident(x.name)}_stride{d}" for d in range(len(x.dims))]
    changed = scalars_set(kernel)
    params += [f"{'' if v.name in changed else 'const '}{TYPES[v.dtype]} {ident(v.name)}" for v in scalars]
    return buffers, scalars, params


def shared_allocs(kernel: n.Kernel) -> set[str]:
    """What the statements that threads run together allocate: it comes from the launcher."""
    found: set[str] = set()

    def look(statements: Sequence[n.Stmt]) -> None:
        for s in statements:
            match s:
                case n.Alloc(buffer):
                    found.add(buffer)
                case n.Loop(kind="sequential", body=body):
                    look(body)
                case n.While(head=head, body=body):
                    look(head)
                    look(body)
                case n.If(then=then, orelse=orelse):
                    look(then)
                    look(orelse)
                case _:
                    pass

    look(kernel.body)
    return found


def alloc_dims(program: n.Program, kernel: n.Kernel) -> dict[str, tuple[Expr, ...]]:
    """The most that the dims of the arrays allocated in the kernel can be, without the variables of its loops."""
    found: dict[str, tuple[Expr, ...]] = {}

    def look(statements: Sequence[n.Stmt], around: tuple[n.Loop, ...], lets: dict[str, Expr]) -> None:
        def known(e: Expr) -> Expr | None:
            return b.map_expr(lets[e.name], known) if isinstance(e, Var) and e.name in lets else None

        lets = dict(lets)
        for s in statements:
            if isinstance(s, n.Let) and not buffers_read(s.value):
                lets[s.name] = s.value
            if isinstance(s, n.Alloc):
                dims = tuple(b.map_expr(d, known) for d in program.buffers[s.buffer].dims)
                bounds = (highest(d, around) for d in dims)
                found[s.buffer] = tuple(d if h is None else h for d, h in zip(dims, bounds, strict=True))
            for body in bodies(s):
                look(body, (*around, s) if isinstance(s, n.Loop) else around, lets)

    look(kernel.body, (), {})
    return found


def work(program: n.Program, kernel: n.Kernel) -> tuple[Expr, ...]:
    """Sizes that bound how many iterations the parallel loops of a kernel have: of the arrays that they run along. A
    loop that goes along two dimensions at once (a diagonal) has no more than the shorter one; another one beside it (a
    diagonal's sweep) no more than it says itself. A place that is counted through all of an array tells nothing of
    loops of which others tell."""
    found: dict[Expr, frozenset[str]] = {}
    counted: dict[Expr, frozenset[str]] = {}
    axes: dict[str, frozenset[str]] = {}  # the parallel loops that a name goes along
    ends = _known_ends(kernel)
    made_here = alloc_dims(program, kernel)
    for s in walk(kernel.body):
        if isinstance(s, (n.Compact, n.Scanning)) or (isinstance(s, n.Loop) and s.kind == "parallel"):
            axes[s.axis] = frozenset((s.axis,))
        if isinstance(s, (n.Let, n.Assign)) and variables_read(s.value) & axes.keys():
            along = (axes[name] for name in variables_read(s.value) if name in axes)
            axes[s.name] = axes.get(s.name, frozenset()).union(*along)  # a subscript worked out before it is used
    touched = [(e.buffer, e.index) for e in exprs((kernel,)) if isinstance(e, Load)]
    touched += [(s.buffer, s.index) for s in walk((kernel,)) if isinstance(s, (n.Store, n.Scanning))]
    for buffer, index in touched:
        dims = made_here.get(buffer) or program.buffers[buffer].dims
        bounds = found if len(dims) == len(index) else counted
        if bounds is counted:
            dims = (b.product(dims),)
        sizes: dict[frozenset[str], Expr] = {}
        for d, e in zip(dims, index, strict=True):
            loops = frozenset[str]().union(*(axes[name] for name in variables_read(e) if name in axes))
            beside = loops - frozenset[str]().union(*(x for x in sizes if len(x) == 1))
            if len(loops) == 1 and loops in sizes:
                sizes[loops] = b.minimum(sizes[loops], d)
            elif len(loops) > len(beside) and all(x in ends for x in beside):
                sizes[loops] = b.product(tuple(ends[x] for x in beside))
            elif loops:
                sizes[loops] = b.mul(sizes[loops], d) if loops in sizes else d
        if sizes:
            bounds[b.product(tuple(sizes.values()))] = frozenset[str]().union(*sizes)
    return (*found, *(size for size, loops in counted.items() if loops not in found.values() and size not in found))


def _known_ends(kernel: n.Kernel) -> dict[str, Expr]:
    """What the variables of parallel loops do not reach, where the host knows it: `min(…, steps)`."""
    inside = scalars_set(kernel) | {s.axis for s in walk(kernel.body) if isinstance(s, (n.Loop, n.Scanning))}
    lets = {s.name: s.value for s in walk(kernel.body) if isinstance(s, n.Let)}

    def known(e: Expr) -> Expr | None:
        if not (variables_read(e) & inside or buffers_read(e)):
            return e
        if isinstance(e, Apply) and e.op == "minimum":
            return next((x for x in map(known, e.args) if x is not None), None)
        return None

    loops = [s for s in walk(kernel.body) if isinstance(s, n.Loop) and s.kind == "parallel"]
    ends = {s.axis: known(resolved(s.stop, lets)) for s in loops}
    return {axis: b.maximum(e, b.ONE) for axis, e in ends.items() if e is not None}


def left_in(program: n.Program) -> dict[str, str]:
    """The buffers of single elements that kernels leave numbers in for others (`fuse.kernels.spill_scalars`)."""
    found: dict[str, str] = {}
    for s in walk(program.body):
        match s:
            case n.Store(place, (), Var(name)) | n.Let(name, Load(place, ())) | n.Assign(name, Load(place, ())) if (
                "_out" in place and program.buffers[place].role == "temporary"
            ):
                found.setdefault(name, place)
            case _:
                pass
    return found
