"""Cut a program into launches, and settle how scalars pass between them.

`place_kernels` wraps what one launch runs in a `Kernel`: a parallel loop is a ``grid`` kernel; a sequential loop with
its parallel bodies, a scan or a compaction is a ``block`` kernel. What a library does, and scalar code, stays between
them on the host. `spill_scalars` (targets with a device) gives every scalar that a kernel computes and others read a
place in device memory: a buffer without dims. A kernel that needs it loads it; only the host reading it costs a
transfer.
"""

from __future__ import annotations

from collections.abc import Iterable

from transkern.ir import nodes as n
from transkern.ir.build import is_size_name, map_expr
from transkern.ir.expr import Expr, Load, Var
from transkern.ir.names import Names
from transkern.ir.traverse import (
    bodies,
    buffers_allocated,
    buffers_read,
    buffers_used,
    buffers_written,
    exprs,
    map_own,
    own_exprs,
    scalars_set,
    scalars_used,
    variables_read,
    walk,
    walk_expr,
    with_bodies,
)  # fmt: skip
from transkern.ir.uses import reads_before_set
from transkern.records import replace


def place_kernels(program: n.Program) -> n.Program:
    """The program with its launches marked."""
    placing = _Placing(program)
    return replace(program, body=placing.block(program.body))


def place_kernels_for_cuda(program: n.Program) -> n.Program:
    """The same; between whole grids and anything else, as sizes and numbers of the caller's decide, the host decides: a
    kernel of both would have the threads of one."""
    placing = _Placing(program, True)
    return replace(program, body=placing.block(program.body))


class _Placing:
    def __init__(self, program: n.Program, by_sizes: bool = False) -> None:
        self.program, self.names, self.by_sizes = program, Names.of(program), by_sizes
        numbers = {p.name for p in program.params if isinstance(p, n.ScalarParam)}
        self.given = numbers - {name for s in program.body for name in scalars_set(s)} if by_sizes else set[str]()

    def block(self, statements: tuple[n.Stmt, ...]) -> tuple[n.Stmt, ...]:
        out: list[n.Stmt] = []
        pending: list[n.Accumulator] = []  # accumulators that wait for their loop
        for s in statements:
            if isinstance(s, n.Accumulator):
                pending.append(s)
                continue
            placement = "host" if self.by_sizes and self.is_decided(s) else _placement(s)
            if self.by_sizes and not pending and out and isinstance(last := out[-1], n.Kernel) and _only_reduces(last):
                if self.is_of_sizes(s):
                    out[-1:] = [s, last]
                    continue
                if _goes_along(s, last):
                    out[-1] = replace(last, body=(*last.body, s))
                    continue
            if placement == "host":
                out.append(with_bodies(s, self.block))
                continue
            mine = [a for a in pending if a.name in scalars_set(s)]
            pending = [a for a in pending if a not in mine]
            body: list[n.Stmt] = [*mine, s]
            if placement == "block":
                body = _pull_initial(out, s) + body
            out.append(n.Kernel(self._name(s), tuple(body), placement, span=s.span))
        return (*out, *pending)

    def is_of_sizes(self, s: n.Stmt) -> bool:
        """Whether the host computes a number, or makes an array, of sizes alone."""
        if not isinstance(s, (n.Let, n.Alloc)):
            return False
        read = (s.value,) if isinstance(s, n.Let) else self.program.buffers[s.buffer].dims
        return all(not buffers_read(e) and all(map(is_size_name, variables_read(e))) for e in read)

    def is_decided(self, s: n.Stmt) -> bool:
        """Whether what the host knows of a call decides between loops, the first of which is a grid's, or whether there
        is a search at all."""
        if not isinstance(s, n.If) or buffers_read(s.condition):
            return False
        if not all(is_size_name(name) or name in self.given for name in variables_read(s.condition)):
            return False
        if not s.orelse:
            match s.then:
                case (n.Accumulator(), n.Loop(kind="parallel") as search, n.Guard()):
                    return _placement(search) == "grid" and not _handed(s)
        loops = (*s.then, *s.orelse)
        if not s.then or not s.orelse or not all(isinstance(x, n.Loop) for x in loops):
            return False
        handed = _handed(s)
        return _placement(s.then[0]) == "grid" and not any(
            isinstance(x, (n.Accumulate, n.Assign)) and x.name in handed for x in walk(loops)
        )

    def _name(self, s: n.Stmt) -> str:
        if isinstance(s, (n.While, n.If)) or (isinstance(s, n.Loop) and s.kind == "sequential"):
            return self.names.fresh(f"{self.program.name}_loop")
        order = list(self.program.buffers)  # names must not depend on the order of a set
        written = sorted(buffers_written(s), key=lambda x: (self.program.buffers[x].role != "result", order.index(x)))
        bound = {x.name for x in walk((s,)) if isinstance(x, n.Let)}
        base = written[0] if written else next(iter(sorted(scalars_set(s) - bound)), "scalar")
        return self.names.fresh(f"{self.program.name}_{base.replace('.', '_')}")


def runs_on_host(s: n.Stmt) -> bool:
    """Whether a statement at the top is the launcher's, with kernels in it."""
    return _placement(s) == "host"


def _placement(s: n.Stmt) -> str:
    """Where a statement at the top runs."""
    match s:
        case n.Loop(kind="parallel"):
            return "block" if any(isinstance(x, (n.Guard, n.Return)) for x in walk((s,))) else "grid"
        case n.Compact() | n.Scanning():
            return "block"
        case n.Loop() | n.While():
            inner = list(walk((s,)))
            if any(isinstance(x, (n.Library, n.Return)) for x in inner):
                return "host"
            return "block"
        case n.Store() | n.Accumulate():
            return "block"
        case n.If():
            inner = list(walk((s,)))
            if any(isinstance(x, (n.Library, n.Return, n.Alloc)) for x in inner) or _jumps((s,)):
                return "host"
            match s:
                case n.If(Var(), (n.Loop(kind="parallel") as only,), _) if (
                    _placement(only) == "grid" and not any(isinstance(x, n.Accumulate) for x in walk(only.body))
                ):  # decided once: what it decides on fills the device; a sum has its first value without it, too
                    return "host"
                case n.If(condition, (n.Loop(kind="sequential"),), (n.Loop(kind="parallel") as other,)) if (
                    _placement(other) == "grid" and not buffers_read(condition)
                    and all(map(is_size_name, variables_read(condition)))
                ):  # one after the other, or in step, as sizes decide
                    return "host"
            return (
                "block"
                if any(isinstance(x, (n.Loop, n.While, n.Compact, n.Scanning, n.Store)) for x in inner)
                else "host"
            )
        case _:
            return "host"


def _only_reduces(kernel: n.Kernel) -> bool:
    """Whether a kernel leaves nothing but numbers, which the block that ends last has."""
    loops = [x for x in kernel.body if not isinstance(x, (n.Accumulator, n.Store))]
    reduces = any(isinstance(x, n.Accumulator) for x in kernel.body)
    plain = not any(isinstance(x, (n.Store, n.Guard, n.Alloc)) for x in walk(loops))
    return kernel.placement == "grid" and reduces and plain


def _goes_along(s: n.Stmt, kernel: n.Kernel) -> bool:
    """Whether a number that is stored behind a kernel which only reduces needs no launch of its own."""
    stored = buffers_written(kernel)
    return isinstance(s, n.Store) and not s.atomic and not any(buffers_read(e) & stored for e in own_exprs(s))


def _handed(s: n.Stmt) -> set[str]:
    """The variables that a statement sets without having made them."""
    made = {x.name for x in walk((s,)) if isinstance(x, (n.Let, n.Accumulator))}
    return set(scalars_set(s)) - made


def _jumps(block: Iterable[n.Stmt]) -> bool:
    """Whether statements end the loop around them, or its iteration: that loop is the host's."""
    return any(
        isinstance(s, (n.Break, n.Continue)) or (isinstance(s, n.If) and (_jumps(s.then) or _jumps(s.orelse)))
        for s in block
    )


def _pull_initial(out: list[n.Stmt], loop: n.Stmt) -> list[n.Stmt]:
    """The values that the loop's own variables start with, taken out of the statements before it.

    They keep their order, and pass nothing that reads or sets their variable, or changes what they are made of.
    """
    wanted = scalars_set(loop)
    pulled: list[int] = []
    used: set[str] = set()  # by the statements behind, without those that are taken along
    changed: set[str] = set()
    stored: set[str] = set()
    for position in range(len(out) - 1, -1, -1):
        s = out[position]
        if isinstance(s, n.Assign) and s.name in wanted and s.name not in used | changed:
            if not (variables_read(s.value) & changed or buffers_read(s.value) & stored):
                pulled.append(position)
                wanted = wanted - {s.name}
                continue
        used |= scalars_used(s)
        changed |= scalars_set(s)
        stored |= buffers_written(s)
        if not wanted - used - changed:
            break
    taken = [out[position] for position in reversed(pulled)]
    for position in pulled:
        del out[position]
    return taken


def spill_scalars(program: n.Program) -> n.Program:
    """The program with scalars that cross from a kernel to elsewhere in device memory."""
    names = Names.of(program)
    kernels = [s for s in walk(program.body) if isinstance(s, n.Kernel)]
    outside: set[str] = set()

    def host_reads(block: Iterable[n.Stmt]) -> None:
        for s in block:
            if isinstance(s, n.Kernel):
                continue
            for own in own_exprs(s):
                outside.update(e.name for e in walk_expr(own) if isinstance(e, Var))
            if isinstance(s, n.Alloc) and s.buffer in program.buffers:
                for d in program.buffers[s.buffer].dims:
                    outside.update(e.name for e in walk_expr(d) if isinstance(e, Var))
            for body in bodies(s):
                host_reads(body)

    host_reads(program.body)
    loops = [s for s in walk(program.body) if isinstance(s, (n.Loop, n.While))]
    again = [s for loop in loops for s in walk(loop.body) if isinstance(s, n.Kernel)]
    crossing: dict[str, str] = {}
    dtypes = _scalar_dtypes(program)
    for kernel in kernels:
        live = scalars_set(kernel) - {s.name for s in walk(kernel.body) if isinstance(s, n.Let)}
        # What each kernel sets anew is its own, also where they give it one name; one in a loop follows itself.
        others = [k for k in kernels if k is not kernel or any(k is one for one in again)]
        for name in sorted(live):
            elsewhere = name in outside or any(reads_before_set(k.body, name) for k in others)
            if elsewhere and name in dtypes:
                crossing[name] = ""
    buffers = dict(program.buffers)
    for name in crossing:
        crossing[name] = names.fresh(f"{name.replace('.', '_')}_out")
        buffers[crossing[name]] = n.Buffer(crossing[name], dtypes[name], ())

    def read(e: Expr) -> Expr | None:
        if isinstance(e, Var) and e.name in crossing:
            return Load(crossing[e.name], (), e.dtype)
        return None

    def block(statements: tuple[n.Stmt, ...]) -> tuple[n.Stmt, ...]:
        made: list[n.Stmt] = []
        for s in statements:
            if isinstance(s, n.Kernel):
                set_here = scalars_set(s)
                used = scalars_used(s)
                before: list[n.Stmt] = []
                after: list[n.Stmt] = []
                for name, buffer in crossing.items():
                    var = Var(name, dtypes[name])
                    if name in used | set_here and not _set_first(s, name):  # what it may leave as it is, too
                        before.append((n.Assign if name in set_here else n.Let)(name, Load(buffer, (), dtypes[name])))
                    if name in set_here:
                        after.append(n.Store(buffer, (), var))
                made.append(replace(s, body=(*before, *s.body, *after)))
                continue
            if isinstance(s, n.Assign) and s.name in crossing:
                made.append(
                    n.Kernel(
                        names.fresh(f"{program.name}_set"),
                        (n.Store(crossing[s.name], (), map_expr(s.value, read)),),
                        "block",
                    )
                )
                continue
            made.append(with_bodies(map_own(s, read), block))
        return tuple(made)

    allocs = tuple(n.Alloc(buffer) for buffer in crossing.values())
    return replace(program, body=(*allocs, *block(program.body)), buffers=buffers)


def _set_first(kernel: n.Kernel, name: str) -> bool:
    """Whether the kernel gives the scalar a value before it reads it."""
    for s in kernel.body:
        if isinstance(s, (n.Assign, n.Accumulator, n.Let)) and s.name == name:
            return not any(name in variables_read(e) for e in own_exprs(s))
        if isinstance(s, n.Compact) and s.count == name and not s.append:
            return True
        if name in scalars_used(s) or name in scalars_set(s):
            return False
    return True


def _scalar_dtypes(program: n.Program) -> dict[str, str]:
    dtypes = dict(program.variables)
    for s in walk(program.body):
        if isinstance(s, n.Accumulator):
            dtypes[s.name] = s.dtype
        elif isinstance(s, n.Let):
            dtypes[s.name] = s.value.dtype
    return dtypes


def interface(program: n.Program, kernel: n.Kernel) -> tuple[list[n.Buffer], list[Var]]:
    """What a launch is given: the buffers it touches (those allocated outside it), and the scalars it reads."""
    local = {s.buffer for s in walk(kernel.body) if isinstance(s, n.Alloc)}
    touched = (buffers_used(kernel) | buffers_written(kernel)) - local
    buffers = [buffer for name, buffer in program.buffers.items() if name in touched]
    bound = scalars_set(kernel) | {s.axis for s in walk(kernel.body) if isinstance(s, (n.Loop, n.Compact, n.Scanning))}
    bound |= {a.name for s in walk(kernel.body) if isinstance(s, n.Compact) for a in s.inner}
    found: dict[str, Var] = {}
    needed = list(exprs(kernel.body))
    dims = [d for buffer in buffers for d in buffer.dims[1:]]  # subscripts do without the first one, but not its memory
    dims += [d for name, buffer in program.buffers.items() if name in local for d in buffer.dims]
    for d in dims:
        needed += walk_expr(d)
    for e in needed:
        if isinstance(e, Var) and e.name not in bound:
            found.setdefault(e.name, e)
    return buffers, list(found.values())


def count_kernels(program: n.Program) -> int:
    """How many launches a call makes (each in a host loop counts once), at most: of two versions one runs."""
    return _launches(program.body)


def _launches(block: Iterable[n.Stmt]) -> int:
    return sum(
        1 if isinstance(s, n.Kernel) else
        max(map(_launches, bodies(s))) if isinstance(s, n.If) else sum(map(_launches, bodies(s)))
        for s in block
    )  # fmt: skip


def temporaries(program: n.Program) -> list[str]:
    """The arrays that exist only between kernels (not results, not arguments, not single scalars)."""
    kernels = [s for s in walk(program.body) if isinstance(s, n.Kernel)]
    between = set[str]().union(*map(buffers_allocated, program.body)).difference(*map(buffers_allocated, kernels))
    return [
        name for name, buffer in program.buffers.items()
        if buffer.role == "temporary" and buffer.dims and name in between
    ]  # fmt: skip
