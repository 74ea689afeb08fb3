"""What follows a jump that is taken under a condition, in the condition's other branch:

    if a: continue       to       if not a: rest
    rest
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.traverse import bodies, with_bodies
from transkern.records import replace

Block = tuple[n.Stmt, ...]


def own(block: Block) -> Iterator[n.Stmt]:
    """The statements that belong to a loop with this body, not to one inside it."""
    for s in block:
        yield s
        if not isinstance(s, (n.Loop, n.While)):
            for body in bodies(s):
                yield from own(body)


def nested(block: Block, jump: Callable[[n.Stmt], Block]) -> Block:
    """A loop's body without its jumps, which are as `jump` has them: nothing that follows one is reached."""
    for position, s in enumerate(block):
        if isinstance(s, (n.Continue, n.Break)):
            return (*block[:position], *jump(s))
        if isinstance(s, n.If) and any(isinstance(x, (n.Continue, n.Break)) for x in own((s,))):
            rest = block[position + 1 :]
            then, orelse = (
                nested(x if x and isinstance(x[-1], (n.Continue, n.Break)) else (*x, *rest), jump)
                for x in (s.then, s.orelse)
            )
            if then or not orelse:
                return (*block[:position], replace(s, then=then, orelse=orelse))
            return (*block[:position], replace(s, condition=b.logical_not(s.condition), then=orelse, orelse=()))
    return block


def without_continues(loop: n.Loop) -> n.Loop:
    """The loop, and those inside it, with nothing that goes on with the next iteration; those that are left before
    their end stay as they are."""
    loop = replace(loop, body=_of_inner(loop.body))
    inside = list(own(loop.body))
    if any(isinstance(x, n.Break) for x in inside) or not any(isinstance(x, n.Continue) for x in inside):
        return loop
    return replace(loop, body=nested(loop.body, lambda _: ()))


def _of_inner(block: Block) -> Block:
    return tuple(without_continues(s) if isinstance(s, n.Loop) else with_bodies(s, _of_inner) for s in block)
