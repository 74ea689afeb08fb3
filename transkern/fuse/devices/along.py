"""Numbers that are made of what a kernel adds up are made by that kernel, where another kernel needs them:

    kernel f_total: total := sum(w[i] * w[i])           kernel f_total: total := …; norm := sqrt(total)
    norm := sqrt(total)                          to     kernel f_v: v[i] = w[i] / norm
    kernel f_v: v[i] = w[i] / norm

On the host, each of them would wait for the device, and the kernel behind for the host: an iteration of a power method
has one such wait. In device memory nobody waits, unless the host itself asks.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from transkern.ir import nodes as n
from transkern.ir.expr import Apply, Const, Expr, Var
from transkern.ir.traverse import buffers_read, scalars_set, scalars_used, variables_read, walk, walk_expr, with_bodies
from transkern.records import replace

_HOSTS = ("erf", "erfc")
"""What stays where it is: functions of the host's that a device rounds otherwise."""


def take_scalars_along(program: n.Program) -> n.Program:
    """The program with such numbers in kernels."""
    kernels = [s for s in walk(program.body) if isinstance(s, n.Kernel)]
    if not kernels:
        return program
    needed = {name for s in kernels for name in scalars_used(s)}
    made = Counter(s.name for s in walk(program.body) if isinstance(s, (n.Assign, n.Let)) and not _begins(s))

    def block(statements: tuple[n.Stmt, ...]) -> tuple[n.Stmt, ...]:
        out: list[n.Stmt] = []
        for s in statements:
            at = _maker(out, s) if isinstance(s, (n.Let, n.Assign)) and s.name in needed and made[s.name] == 1 else None
            if at is not None and isinstance(s, (n.Let, n.Assign)):
                kernel = out[at]
                assert isinstance(kernel, n.Kernel)
                set_here = n.Assign(s.name, s.value, span=s.span)
                out[at] = replace(kernel, body=(*kernel.body, set_here))
                dtypes[s.name] = s.value.dtype
            else:
                out.append(s if isinstance(s, n.Kernel) else with_bodies(s, block))
        return tuple(out)

    dtypes: dict[str, str] = {}
    body = block(program.body)
    return replace(program, body=body, variables={**program.variables, **dtypes}) if dtypes else program


def _begins(s: n.Stmt) -> bool:
    """Whether a variable gets the number that it begins with."""
    return isinstance(s, n.Assign) and isinstance(s.value, Const)


def _maker(before: Sequence[n.Stmt], s: n.Let | n.Assign) -> int | None:
    """The place of the kernel that may make the number, which stands right before it."""
    between: set[str] = set()
    for at in range(len(before) - 1, -1, -1):
        x = before[at]
        if isinstance(x, n.Kernel):
            reads = variables_read(s.value)
            fits = _adds_up(x) and _is_plain(s.value) and not reads & between and bool(reads & scalars_set(x))
            return at if fits and s.name not in reads else None
        if not isinstance(x, (n.Let, n.Assign, n.Alloc)) or s.name in scalars_used(x):
            return None
        between |= scalars_set(x)
    return None


def _adds_up(kernel: n.Kernel) -> bool:
    """Whether a kernel is one loop over all elements which is added up, and what is made of that."""
    if kernel.placement != "grid" or not any(isinstance(s, n.Accumulator) for s in kernel.body):
        return False
    loops = [s for s in kernel.body if isinstance(s, n.Loop)]
    rest = [s for s in kernel.body if not isinstance(s, (n.Loop, n.Accumulator, n.Assign))]
    return len(loops) == 1 and not rest


def _is_plain(e: Expr) -> bool:
    """Whether a device computes `e` as the host does: floats of numbers, without arrays."""
    if buffers_read(e) or not e.dtype.startswith("float") or e.dtype == "float16":
        return False
    for x in walk_expr(e):
        if isinstance(x, (Var, Const, Apply)) and x.dtype not in ("float32", "float64", "bool"):
            return False
        if isinstance(x, Apply) and x.op in _HOSTS:
            return False
    return True
