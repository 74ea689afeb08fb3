"""Elements that are set before a loop in order are set in its kernel.

    kernel: y[0] := x[0]                                        kernel:
    kernel: for i in 1 .. n: y[i] := f(x[i], y[i - 1])    to        y[0] := x[0]; for i in 1 .. n: …

Each of the two would read and write all of the array.
"""

from __future__ import annotations

from transkern.ir import nodes as n
from transkern.ir.traverse import walk, with_bodies
from transkern.records import replace


def join_starts(program: n.Program) -> n.Program:
    return replace(program, body=_block(program.body))


def _block(statements: tuple[n.Stmt, ...]) -> tuple[n.Stmt, ...]:
    made: list[n.Stmt] = []
    for s in statements:
        if isinstance(s, n.Kernel) and s.placement != "grid" and is_chain(s.body):
            while made and _sets_elements(made[-1]):
                start = made.pop()
                assert isinstance(start, n.Kernel)
                s = replace(s, body=(*start.body, *s.body))
        made.append(s if isinstance(s, n.Kernel) else with_bodies(s, _block))
    return tuple(made)


def _sets_elements(s: n.Stmt) -> bool:
    return isinstance(s, n.Kernel) and s.placement != "grid" and all(isinstance(x, n.Store) for x in s.body)


def is_chain(body: tuple[n.Stmt, ...]) -> bool:
    """Whether a kernel is a loop in order of numbers and elements only, behind what sets some."""
    loops = [x for x in walk(body) if isinstance(x, n.Loop)]
    return bool(loops) and all(x.kind == "sequential" for x in loops)


def apart(kernel: n.Kernel) -> list[n.Kernel]:
    """The kernel, and before it one of the elements that it sets first."""
    count = next((k for k, s in enumerate(kernel.body) if not isinstance(s, n.Store)), 0)
    if not any(isinstance(s, n.Store) and s.index for s in kernel.body[:count]):
        return [kernel]
    first = replace(kernel, name=f"{kernel.name}_start", body=kernel.body[:count])
    return [first, replace(kernel, body=kernel.body[count:])]
