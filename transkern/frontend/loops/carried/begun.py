"""What a loop begins with: arrays that it changes in place, and those that others see, too."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import TYPE_CHECKING

from transkern import refusals
from transkern.frontend.anew import Shared
from transkern.frontend.loops.carried import sharing as carried_sharing
from transkern.frontend.loops.carried.state import LoopState
from transkern.frontend.state import memory
from transkern.frontend.syntax.sharing import may_show, stored_before_made
from transkern.frontend.syntax.syntax import rebound_names
from transkern.frontend.values.values import ITEM, Array, Scalar, Static, Value, lies

if TYPE_CHECKING:
    from transkern.frontend.loops.looping import Loops


def changed_in_place(loops: Loops, body: Sequence[ast.stmt], assigned: set[str]) -> set[str]:
    """Names of arrays that the body only changes by ``x += …``: that is a store, not an assignment."""
    rebound = rebound_names(body)
    found: set[str] = set()
    for name in sorted(assigned - rebound):  # copies are made in one order, whatever the names' hashes are
        value = loops.env.get(name)
        if isinstance(value, Array):
            if not lies(value):
                loops.own(name, value)
            found.add(name)
    return found


def check_sharing(loops: Loops, body: Sequence[ast.stmt], assigned: set[str], before: dict[str, Value]) -> None:
    """Names that the loop rebinds get memory of their own. That cannot be told from Python's sharing unless the
    loop also stores into them while somebody else sees the array."""
    stored = {s for s in stored_before_made(body) & assigned if not isinstance(before.get(s), (Static, Scalar))}
    if not stored:
        return
    for name in sorted(assigned):
        value = before.get(name)
        if not isinstance(value, Array) or not value.view:
            continue
        shown = {value.base, *loops.ctx.aliasing.doubtful.get(value.base, ())[:1]}
        others = [k for k, v in before.items() if k != name and isinstance(v, Array) and v.view and v.base in shown]
        touched = stored & may_show(name, body, [(name, k) for k in others])
        outside = memory.is_of_argument(loops.ctx, value.base)
        held = (*loops.ctx.aliasing.chosen, *loops.ctx.aliasing.begun)
        if touched and (outside or others or value.base in held):
            whose = f"also `{others[0]}`" if others else "an argument" if outside else "one of several arrays"
            raise _shared(loops, name, touched, whose)


def check_stored(loops: Loops, state: LoopState, changed: set[str]) -> None:
    """The same for what is only seen when the body has been translated: a function that is called stores."""
    if name := carried_sharing.changed_from_before(state, loops):
        raise _shared(loops, name, {name}, "seen elsewhere")
    for slot, name in state.outside.from_outside.items():
        if slot in changed and name not in state.outside.never:
            if name is ITEM:  # in an object, a list or a dict
                problem = "the loop puts another array where one stands that others see, and stores into both"
                help = "put a copy there before the loop, or swap names of its own and put them back behind it"
                raise Shared(refusals.LOOP_ALIAS, problem, help, loops.ctx.session.span, loops.ctx.session.lines)
            raise _shared(loops, name, {name}, "seen elsewhere")


def _shared(loops: Loops, name: str, stored: set[str], whose: str) -> Shared:
    into = ", ".join(f"`{s}`" for s in sorted(stored))
    problem = f"the loop assigns `{name}` anew and stores into {into}, and `{name}` is {whose} at first"
    help = f"start the loop with a copy: {name} = {name}.copy()"
    if others := sorted(stored - {name}):
        copies = ", ".join(f"{s}.copy()" for s in [name, *others])
        help = f"start the loop with a copy of each, and in it assign copies, too: {copies}"
    return Shared(refusals.LOOP_ALIAS, problem, help, loops.ctx.session.span, loops.ctx.session.lines)
