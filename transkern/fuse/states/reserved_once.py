"""Memory that each iteration of a loop in order would take anew is taken before it:

    sequential t in 0 .. steps:               if 0 < steps:
        alloc p                       to          alloc p
        …                                         sequential t in 0 .. steps:
                                                      …

What an iteration makes has no values before it gives them to it, so that it is the same where they stand. A system
takes back what is given back, and hands out pages one by one as they are touched: some microseconds for each dozen,
which is more than it takes to fill them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.traverse import buffers_read, runs, scalars_set, variables_read, walk, with_bodies
from transkern.records import replace


def allocate_once(program: n.Program) -> n.Program:
    """The program whose loops in order find the memory that their iterations need."""
    times = Counter(s.buffer for s in walk(program.body) if isinstance(s, n.Alloc))
    once = {
        name for name, count in times.items()
        if count == 1 and (info := program.buffers[name]).role == "temporary" and not info.is_reserved
        and b.constant(b.product(info.dims)) is None and not any(buffers_read(d) for d in info.dims)
    }  # fmt: skip
    return replace(program, body=_block(program.body, once, program)) if once else program


def _block(statements: Sequence[n.Stmt], once: set[str], program: n.Program) -> tuple[n.Stmt, ...]:
    out: list[n.Stmt] = []
    for s in statements:
        s = with_bodies(s, lambda body: _block(body, once, program))
        own = _own(s, once, program) if isinstance(s, n.Loop) and s.kind == "sequential" else []
        if own and isinstance(s, n.Loop):
            found = (*own, replace(s, body=tuple(x for x in s.body if x not in own)))
            asked = runs(s)  # where there is no iteration, nobody asks for its memory
            out += found if asked == b.TRUE else [n.If(asked, found, (), span=s.span)]
        else:
            out.append(s)
    return tuple(out)


def _own(s: n.Loop, once: set[str], program: n.Program) -> list[n.Stmt]:
    """What each iteration makes, whatever it does, of a size that stays."""
    if any(isinstance(x, (n.Library, n.Return)) for x in walk((s,))):
        return []  # a loop of the host keeps it
    changing = {*scalars_set(s), s.axis}
    found: list[n.Stmt] = []
    for x in s.body:
        if any(isinstance(y, (n.Break, n.Continue, n.Guard)) for y in walk((x,))):
            break
        if isinstance(x, n.Alloc) and x.buffer in once:
            if not any(variables_read(d) & changing for d in program.buffers[x.buffer].dims):
                found.append(x)
    return found
