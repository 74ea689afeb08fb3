"""What the CUDA target settles before it prints.

Scalars read from device memory on the host only to be handed to kernels are read by the kernels themselves:

    let sum = total_out[]                        kernel norm_result:
    kernel norm_result: … x[i] / sum      to         let sum = total_out[]; … x[i] / sum

What a kernel computes from scalar arguments alone is computed once, by NumPy, and handed to it:

    kernel adam_p: … float32(1.0 - b1) * g[i]    to    let b1_1 = float32(1.0 - b1)
                                                       kernel adam_p: … b1_1 * g[i]

What stands between two parallel loops goes inside both, so that each of their points has a thread:

    parallel i in 0 .. n:                  parallel i in 0 .. n:
        let w = y[i] - floor(y[i])             parallel j in 0 .. m:
        parallel j in 0 .. m:         to           let w = y[i] - floor(y[i])
            z[i, j] = w * x[j]                     z[i, j] = w * x[j]

Where threads may have to run an iteration of a parallel loop together, it has one end:

    if x[i] > limit: continue      to      if not x[i] > limit:
    y[i] = …                                   y[i] = …
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from transkern.fuse.lowering.kernels import interface
from transkern.ir import nodes as n
from transkern.ir.expr import Apply, Expr, Load, Var
from transkern.ir.names import Names
from transkern.ir.ops import OPS
from transkern.ir.traverse import (
    buffers_allocated,
    buffers_read,
    buffers_written,
    map_statement,
    own_exprs,
    scalars_used,
    variables_read,
    walk,
    walk_expr,
    with_bodies,
)  # fmt: skip
from transkern.targets.cuda.failures import check_in_kernels
from transkern.targets.cuda.nests import is_long, nest, own
from transkern.targets.cuda.passes.far import count_iterations
from transkern.targets.cuda.passes.small import merge_small_kernels


def prepare(program: n.Program) -> n.Program:
    """The program as the printers want it."""
    found = branch_continues(hoist_invariants(hoist_scalars(read_in_kernels(program))))
    return merge_small_kernels(check_in_kernels(sink_names(count_iterations(found))))


def read_in_kernels(program: n.Program) -> n.Program:
    """Host scalars that kernels need are loaded there, unless launches and arrays are as large as they say; the host
    reads what it needs itself when it does: kernels that are launched before have not waited for it then."""
    body = list(program.body)
    sizes = _sizes(program)
    for position in range(len(body) - 1, -1, -1):
        s = body[position]
        if not isinstance(s, n.Let) or not buffers_read(s.value) or variables_read(s.value) & _assigned(program):
            continue
        rest = body[position + 1 :]
        users = [r for r in rest if s.name in scalars_used(r)]
        changed = {b for r in rest for b in (*buffers_written(r), *buffers_allocated(r))} & buffers_read(s.value)
        host = [r for r in users if not isinstance(r, n.Kernel)]
        if not users or changed or s.name in sizes or (host and len(host) < len(users) and not _is_exact(s.value)):
            continue
        rest = [
            replace(r, body=(s, *r.body)) if isinstance(r, n.Kernel) and s.name in scalars_used(r) else r for r in rest
        ]
        if host:
            rest.insert(next(k for k, r in enumerate(rest) if r is host[0]), s)
        body[position:] = rest
    return replace(program, body=tuple(body))


_EXACT = frozenset(("add", "subtract", "multiply", "divide", "negative", "sqrt", "cast", "maximum", "minimum"))
"""Operations that a device and NumPy round alike."""


def _is_exact(e: Expr) -> bool:
    return all(not isinstance(x, Apply) or x.op in _EXACT for x in walk_expr(e))


def _sizes(program: n.Program) -> set[str]:
    """The scalars that sizes of arrays and numbers of iterations are made of, where no bound is known instead."""
    sizes = [d for info in program.buffers.values() for d in info.dims]
    for s in walk(program.body):
        if isinstance(s, n.Loop) and s.kind == "parallel":
            sizes += [s.start, s.stop]
    return {v for e in sizes for v in variables_read(e)} - set(program.bounds)


def _assigned(program: n.Program) -> set[str]:
    return {s.name for s in walk(program.body) if isinstance(s, n.Assign)}


def hoist_scalars(program: n.Program) -> n.Program:
    """Float arithmetic on scalars alone, out of the kernels."""
    names = Names.of(program)

    def block(statements: tuple[n.Stmt, ...]) -> tuple[n.Stmt, ...]:
        out: list[n.Stmt] = []
        for s in statements:
            if not isinstance(s, n.Kernel):
                out.append(with_bodies(s, block))
                continue
            _, scalars = interface(program, s)
            known = {v.name for v in scalars}
            hoisted: dict[Expr, Var] = {}

            def change(e: Expr, known: set[str] = known, hoisted: dict[Expr, Var] = hoisted) -> Expr | None:
                if not isinstance(e, Apply) or e.dtype in ("index", "bool"):
                    return None
                parts = list(walk_expr(e))
                used = [p.name for p in parts if isinstance(p, Var)]
                if not used or not set(used) <= known or any(isinstance(p, Load) for p in parts):
                    return None
                if e not in hoisted:
                    base = "_".join(dict.fromkeys(u.replace(".", "_").rstrip("_") for u in used))
                    hoisted[e] = Var(names.fresh(base), e.dtype)
                return hoisted[e]

            changed = map_statement(s, change)
            spans = {e: x.span for x in reversed(list(walk(s.body))) for o in own_exprs(x) for e in walk_expr(o)}
            out += [n.Let(v.name, e, span=spans.get(e, s.span)) for e, v in hoisted.items()]
            out.append(changed)
        return tuple(out)

    return replace(program, body=block(program.body))


def branch_continues(program: n.Program) -> n.Program:
    """Parallel loops in kernels without `continue` of their own, where the rest of the body can go into a branch."""

    def block(statements: tuple[n.Stmt, ...]) -> tuple[n.Stmt, ...]:
        made = (with_bodies(s, block) for s in statements)
        return tuple(
            replace(s, body=_branched(s.body)) if isinstance(s, n.Loop) and s.kind == "parallel" else s for s in made
        )

    return replace(program, body=block(program.body))


def _branched(body: tuple[n.Stmt, ...]) -> tuple[n.Stmt, ...]:
    for k, s in enumerate(body):
        if isinstance(s, n.Continue):
            return body[:k]
        if not isinstance(s, n.If) or not any(isinstance(x, n.Continue) for x in own((s,))):
            continue
        skips = [bool(x) and isinstance(x[-1], n.Continue) for x in (s.then, s.orelse)]
        then, orelse = s.then[: len(s.then) - skips[0]], s.orelse[: len(s.orelse) - skips[1]]
        if any(isinstance(x, n.Continue) for x in own((*then, *orelse))):
            return body  # deeper in a branch
        rest = _branched(body[k + 1 :])
        then, orelse = then if skips[0] else then + rest, orelse if skips[1] else orelse + rest
        if then:
            return (*body[:k], replace(s, then=then, orelse=orelse))
        if not orelse:
            return body[:k]
        condition = Apply("logical_not", (s.condition,), "bool")
        return (*body[:k], replace(s, condition=condition, then=orelse, orelse=()))
    return body


_DEAR = 4
"""What an operation costs that should not be done again and again, and how many of them may be."""


def sink_names(program: n.Program) -> n.Program:
    """What parallel loops in kernels name for the one loop inside them goes inside that, if it is soon computed."""

    def block(statements: tuple[n.Stmt, ...]) -> tuple[n.Stmt, ...]:
        return tuple(replace(s, body=tuple(map(sunk, s.body))) if isinstance(s, n.Kernel) else with_bodies(s, block)
                     for s in statements)  # fmt: skip

    def sunk(s: n.Stmt) -> n.Stmt:
        if not isinstance(s, n.Loop) or s.kind != "parallel" or not s.body:
            return s
        *lets, last = s.body
        inner = sunk(last)
        if lets and isinstance(inner, n.Loop) and inner.kind == "parallel" and _may_sink(s, lets, inner):
            return replace(s, body=(_inside(inner, lets),))
        return replace(s, body=(*lets, inner)) if inner is not last else s

    return replace(program, body=block(program.body))


def _may_sink(s: n.Loop, lets: Sequence[n.Stmt], inner: n.Loop) -> bool:
    if not all(isinstance(x, n.Let) for x in lets) or not is_long(inner):
        return False
    if any(isinstance(x, (n.Guard, n.Alloc)) for x in walk((inner,))):
        return False
    own = {s.axis, *(x.name for x in lets if isinstance(x, n.Let))}
    values = [e for x in lets for e in own_exprs(x)]
    bounds = [e for a in nest(inner)[0] for e in (a.start, a.stop, a.step)]
    if any(variables_read(e) & own for e in bounds) or any(buffers_read(e) & buffers_written(inner) for e in values):
        return False
    dear = [p for e in values for p in walk_expr(e) if isinstance(p, Apply) and p.op in OPS and OPS[p.op].cost >= _DEAR]
    return len(dear) <= _DEAR


def _inside(s: n.Loop, lets: Sequence[n.Stmt]) -> n.Loop:
    """The statements in front of what a perfect nest of parallel loops has inside."""
    axes, body = nest(s)
    made: tuple[n.Stmt, ...] = (*lets, *body)
    for a in reversed(axes):
        made = (replace(a, body=made),)
    (whole,) = made
    assert isinstance(whole, n.Loop)
    return whole


def hoist_invariants(program: n.Program) -> n.Program:
    """What costs something and is the same for all iterations of a grid kernel, before its loop."""
    names = Names.of(program)

    def block(statements: tuple[n.Stmt, ...]) -> tuple[n.Stmt, ...]:
        return tuple(kernel(s) if isinstance(s, n.Kernel) else with_bodies(s, block) for s in statements)

    def kernel(s: n.Kernel) -> n.Kernel:
        count = next((k for k, x in enumerate(s.body) if not isinstance(x, n.Let)), len(s.body))
        lets, rest = s.body[:count], s.body[count:]
        if s.placement != "grid" or not lets:
            return s
        known = {x.name for x in lets if isinstance(x, n.Let)}
        made: dict[Expr, Var] = {}

        def change(e: Expr) -> Expr | None:
            if not isinstance(e, Apply) or e.dtype in ("index", "bool"):
                return None
            parts = list(walk_expr(e))
            used = {p.name for p in parts if isinstance(p, Var)}
            costly = any(isinstance(p, Apply) and p.op in OPS and OPS[p.op].cost > 1 for p in parts)
            if not used or not used <= known or not costly or any(isinstance(p, Load) for p in parts):
                return None
            if e not in made:
                made[e] = Var(names.fresh("_".join(sorted(used))), e.dtype)
            return made[e]

        rest = tuple(map_statement(x, change) for x in rest)
        return replace(s, body=(*lets, *(n.Let(v.name, e, span=s.span) for e, v in made.items()), *rest))

    return replace(program, body=block(program.body))
