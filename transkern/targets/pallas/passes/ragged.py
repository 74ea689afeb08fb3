"""Loops in order whose length differs from one iteration of the parallel loop around them to the next:

    parallel i: for k in 0 .. i: s := s + x[k]    to    for k in 0 .. the largest i: where k < i: s := s + x[k]

All iterations go in step, each under a mask for as long as its own loop lasts.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.traverse import walk
from transkern.targets.pallas.forms.carrying import materialise, settle, state, unpack
from transkern.targets.pallas.forms.values import Inexpressible, Value
from transkern.targets.pallas.printing.quote import assign, call, constant, function, name, names, quote

if TYPE_CHECKING:
    from transkern.targets.pallas.forms.statements import Statements


def loop(of: Statements, s: n.Loop, carried: list[str], start: Value, stop: Value) -> None:
    """A loop whose length differs within the block: as long as the longest, under a mask."""
    step = b.constant(s.step)
    if step is None:
        raise Inexpressible("a loop whose step is not a constant")
    counter = of.module.identifier(s.axis)
    trips, chosen = of.module.fresh(f"{counter}_trips"), of.module.fresh("chosen")
    first, last = (start, stop) if step > 0 else (stop, start)
    length = quote("jnp.maximum(_0 - _1, 0)", last.node, first.node)
    if abs(step) != 1:
        template = f"lax.div(_0 + _1, jnp.{of.module.integer}(_2))"
        length = quote(template, length, constant(abs(step) - 1), constant(abs(step)))
    axes = start.axes | stop.axes
    if of.mask is not None:
        axes |= of.mask.axes
        length = quote("jnp.where(_0, _1, 0)", of.mask.node, length)
    of.out.append(assign(trips, length))
    trip, head = counter, []
    if step != 1 or b.constant(s.start) != 0:
        trip = of.module.fresh(f"{counter}_trip")
        head = [assign(counter, quote("_0 + _1 * _2", start.node, name(trip), constant(step)))]
    head.append(assign(chosen, quote("_0 < _1", name(trip), name(trips))))
    outer, of.mask = of.mask, Value(name(chosen), "bool", axes)
    body = of.inner(s.body, carried, head, {s.axis: Value(name(counter), "index", start.axes)})
    of.mask = outer
    step_function = of.module.fresh(f"{counter}_step")
    of.out.append(function(step_function, [trip, "state"], body))
    longest = quote("jnp.max(_0)" if of.mosaic else "jnp.max(_0, initial=0)", name(trips))
    loop = [quote(f"jnp.{of.module.integer}(0)"), longest, name(step_function), state(of, carried)]
    of.out.append(unpack(of, carried, call("lax.fori_loop", loop)))
    settle(of, carried)


def repeat(of: Statements, s: n.While, carried: list[str], handed: list[str]) -> None:
    """A `while` in each iteration of a parallel loop: it goes on, under a mask, while any of them does."""
    if any(isinstance(x, n.Accumulator) for x in walk(s.head)):
        raise Inexpressible("a reduction as the condition of a loop that differs within the block")
    state, go = [*carried, *handed], of.module.fresh("go_on")
    slots, outer = of.open_slots(), of.mask
    everything = names([*(of.python(c) for c in state), go])

    def goes_on(so_far: Value | None) -> ast.stmt:
        value = of.expr(s.condition)
        node = value.node if so_far is None else quote("_0 & _1", so_far.node, value.node)
        axes = value.axes | (so_far.axes if so_far else frozenset())
        return assign(go, of.spread(Value(node, "bool", axes, value.static and so_far is None), sorted(slots)))

    of.out.append(goes_on(outer))
    saved = of.out, dict(of.env), set(of.fresh_accumulators), set(of.defined)
    of.out = [ast.Assign([names([*(of.python(c) for c in state), go], store=True)], name("state"), lineno=0)]
    settle(of, state)
    of.mask = Value(name(go), "bool", slots)
    of.nested += 1
    of.block(s.body)
    of.block(s.head)
    of.nested -= 1
    materialise(of, handed)
    of.out += [goes_on(of.mask), ast.Return(everything)]
    body, of.mask = of.out, outer
    of.out, of.env, of.fresh_accumulators, of.defined = saved
    step = of.module.fresh("body")
    any_left = "lambda state: jnp.any(state[-1])" if state else "jnp.any"
    loop = quote(f"lax.while_loop({any_left}, _0, _1)", name(step), everything)
    of.out.append(function(step, ["state"], body))
    of.out.append(ast.Assign([names([*(of.python(c) for c in state), go], store=True)], loop, lineno=0))
    settle(of, state)
