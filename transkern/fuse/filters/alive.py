"""Arrays that shrink in a loop, as a base array and an alive mask:

    while order.size > 0:                              while (last = last alive p) >= 0:
        i = order[order.size - 1]                          i = order[last]
        compact order over k < order.size - 1:     to      parallel p < last: alive[p] = alive[p] and keep(order[p])
            keep order[k] if keep(order[k])

The base array never changes, so what is gathered through it can be gathered once, before the loop; the update is a
plain parallel loop. Positions below the first and behind the last alive one are left out of all loops, so that the work
shrinks as the array does. Applies where the loop looks at the first and last element, at the size, at elements position
by position, at reductions of what is left whose order cannot be seen, and at the elements at positions that such passes
have found; elsewhere the array stays compacted. The best element is found in two passes, both of them vectors: what
it is, then where that is first:

    a = argmax(scores[order])     to     m = max(scores[order[p]] where alive[p])
                                         a = first p with alive[p] and (scores[order[p]] == m or is no number)
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from transkern.fuse.filters.begun import at_first, begins_as, with_all_elements
from transkern.fuse.filters.left import (
    BEST,
    COMPARISONS,
    ORDERED,
    Reject,
    about_size,
    asks,
    edges,
    of_those_alive,
    restored,
    search,
    without_early_end,
)  # fmt: skip
from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Apply, Expr, Load, Var
from transkern.ir.facts import conjuncts
from transkern.ir.names import Names
from transkern.ir.traverse import (
    bodies,
    buffers_read,
    buffers_used,
    buffers_written,
    exprs,
    map_block,
    map_own,
    map_statement,
    names_in,
    own_exprs,
    scalars_set,
    scalars_used,
    variables_read,
    walk,
    with_bodies,
)  # fmt: skip
from transkern.records import replace

_LENGTH = re.compile(r"\.size(_\d+)?$")
"""What names of lengths end with, also of copies of a loop (`with_own_names`)."""

_IN_PASSES = (n.Let, n.Store, n.Loop, n.If, n.Assign, n.Alloc, n.Accumulator, n.Accumulate)
_IN_ORDER = (*_IN_PASSES, n.Guard, n.Break, n.Continue)


def mask_shrinking(program: n.Program) -> n.Program:
    """The program with arrays that shrink in loops as alive masks."""
    return _masked(program, False)


def mask_filtered(program: n.Program) -> n.Program:
    """The same for targets whose kernels move no elements together: an array that begins as a filter has all elements,
    and the filter's mask says who of them is alive at first."""
    return _masked(program, True)


def _masked(program: n.Program, whole: bool) -> n.Program:
    if not any(isinstance(s, n.Compact) for s in walk(program.body)):
        return program
    program, body = _in_block(program, Names.of(program), program.body, None, whole)
    return replace(program, body=tuple(body))


def _in_block(
    program: n.Program, names: Names, block: tuple[n.Stmt, ...], outside: frozenset[str] | None, whole: bool
) -> tuple[n.Program, list[n.Stmt]]:
    """The same for a block; `outside` are the names used around it, None at the top."""
    body = list(block)
    for position in range(len(body) - 1, -1, -1):
        s = body[position]
        if not any(isinstance(x, n.Compact) for inner in bodies(s) for x in walk(inner)):
            continue
        made = None
        if isinstance(s, n.While):
            made = _Masking(program, names, body, position, outside, whole).run()
        elif isinstance(s, n.Loop) and s.kind == "sequential":
            made = _counted(program, names, body, position, outside, whole)
        if made is not None:
            program, body = made
            continue
        others = (outside or frozenset()).union(*(names_in(x) for x in (*body[:position], *body[position + 1 :])))

        def inside(inner: tuple[n.Stmt, ...], s: n.Stmt = s, others: frozenset[str] = others) -> tuple[n.Stmt, ...]:
            nonlocal program
            own = {name for e in own_exprs(s) for name in variables_read(e) | buffers_read(e)}
            beside = (names_in(x) for one in bodies(s) if one is not inner for x in one)
            program, made = _in_block(program, names, inner, others.union(own, *beside), whole)
            return tuple(made)

        body[position] = with_bodies(s, inside)
    return program, body


def _counted(
    program: n.Program, names: Names, body: list[n.Stmt], position: int, outside: frozenset[str] | None, whole: bool
) -> tuple[n.Program, list[n.Stmt]] | None:
    """A loop over a range that is left at the start of an iteration: as a `while` loop that counts, and then masked.

    for k in range(start, stop):                 k = start
        if left: break                     to    while k < stop and not left:
        …                                            …
                                                     k += 1
    """
    loop = body[position]
    assert isinstance(loop, n.Loop)
    match loop.body:
        case (n.If(left, (n.Break(),), ()), *rest) if rest:
            pass
        case _:
            return None
    bounds = (loop.start, loop.stop)
    if loop.step != b.ONE or any(isinstance(x, n.Continue) for x in walk(loop.body)):
        return None
    if any(buffers_read(e) or variables_read(e) & scalars_set(loop) for e in bounds):
        return None
    k = Var(names.fresh(loop.axis), "index")
    counted = map_block((*rest,), lambda e: k if e == Var(loop.axis, "index") else None)
    condition = b.both(b.compare("less", k, loop.stop), b.logical_not(b.substitute(left, {loop.axis: k})))
    increased = n.Assign(k.name, b.add(k, b.ONE), span=loop.span)
    made = n.While((), condition, (*counted, increased), span=loop.span)
    begun = n.Assign(k.name, loop.start, span=loop.span)
    block = [*body[:position], begun, made, *body[position + 1 :]]
    program = replace(program, variables={**program.variables, k.name: "index"})
    return _Masking(program, names, block, position + 1, outside, whole).run()


@dataclass(frozen=True, slots=True)
class _Cut:
    """How many elements a pass over the array leaves out in front and behind."""

    front: int
    back: int


class _Masking:
    def __init__(
        self, program: n.Program, names: Names, body: list[n.Stmt], position: int, outside: frozenset[str] | None,
        whole: bool,
    ) -> None:  # fmt: skip
        self.program, self.names, self.siblings, self.position = program, names, body, position
        self.outside, self.whole = outside, whole
        self.begun: n.Compact | None = None  # the filter that the array begins as, if all elements stay there
        self.looked_at = False  # the array behind the loop
        self.is_counted = False  # what is in the array before it
        loop = body[position]
        assert isinstance(loop, n.While)
        self.loop = loop
        self.inside = names_in(loop)
        self.array = ""
        self.size = ""
        self.cuts: dict[str, _Cut] = {}  # of temporaries as long as the array, or nearly: those of the pass that stores
        self.positions: dict[str, int] = {}  # names of positions that passes find, and how far before the array's own
        self.best: dict[str, n.Accumulator] = {}  # what the best element is, by the name of its position

    def run(self) -> tuple[n.Program, list[n.Stmt]] | None:
        direct = [s for s in self.loop.body if isinstance(s, n.Compact) and len(s.outputs) == 1]
        if len(direct) == 1:
            self.array, self.size = direct[0].outputs[0], direct[0].count
            if self._ends_here():
                self.loop = replace(self.loop, body=_without_lost(self.loop.body, self.array, self.size))
                self.loop = without_early_end(
                    self.loop, Var(self.size, "index"), lambda x: x == self.array or self._own_temporary(x)
                )
        compacts = [s for s in self.loop.body if isinstance(s, n.Compact) and not s.append and not s.inner]
        if len([s for s in walk(self.loop.body) if isinstance(s, n.Compact)]) != len(compacts) or len(compacts) != 1:
            return None
        (compact,) = compacts
        if len(compact.outputs) != 1:
            return None
        self.array, self.size = compact.outputs[0], compact.count
        if not _LENGTH.search(self.size):
            return None
        if any(isinstance(s, n.Library) and self.array in s.outs + s.ins for s in walk(self.loop.body)):
            return None
        behind = self.loop.body[self.loop.body.index(compact) + 1 :]
        if {self.array, self.size} & frozenset().union(*(names_in(s) for s in behind)):
            return None
        self.looked_at = not self._ends_here()
        if self.looked_at and not self._own_end_here():
            return None
        extent = self._initial_extent()
        if extent is None:
            return None
        try:
            return self._rewrite(compact, extent)
        except Reject:
            return None

    def _ends_here(self) -> bool:
        """Whether nobody looks at the array or at its size when the loop is done, nor before they are set anew."""
        after = self.siblings[self.position + 1 :]
        if any(self.array in buffers_used(s) | buffers_written(s) or self.size in scalars_used(s) for s in after):
            return False
        if self.outside is None:
            return True
        if {self.array, self.size} & self.outside:
            return False
        for s in self.siblings[: self.position]:  # in a loop around this one it comes after the loop, too
            if isinstance(s, n.Assign) and s.name == self.size:
                break
            if self.size in scalars_used(s):
                return False
        return any(isinstance(s, n.Alloc) and s.buffer == self.array for s in self.siblings[: self.position])

    def _own_end_here(self) -> bool:
        """Whether what is as long as the array in the loop is the loop's own: others keep that length."""
        if self.program.buffers[self.array].role != "temporary" or self._own_temporary(self.array):
            return False
        around = (*self.siblings[: self.position], *self.siblings[self.position + 1 :])
        used = frozenset[str]().union(self.outside or (), *(names_in(s) for s in around))
        return not any(map(self._own_temporary, used))

    def _initial_extent(self) -> Expr | None:
        """The size before the loop."""
        if len(self.program.buffers[self.array].dims) != 1:
            return None
        if self.whole and not self.looked_at:
            self.begun = begins_as(self.siblings[: self.position], self.program, self.array, self.size)
        if self.begun is not None:
            return self.begun.stop
        for s in reversed(self.siblings[: self.position]):
            if isinstance(s, n.Assign) and s.name == self.size:
                return s.value
            if self.size in scalars_set(s):
                self.is_counted = True
                return Var(self.size, "index")
        return None

    def _rewrite(self, compact: n.Compact, extent: Expr) -> tuple[n.Program, list[n.Stmt]]:
        array = self.array
        loop = self.loop
        first, last = (Var(self.names.fresh(f"{w}_{array}"), "index") for w in ("first", "last"))
        edges = self._over_array(compact)
        if edges is None:
            raise Reject
        begun: list[n.Stmt] = []
        variables = dict(self.program.variables)
        if extent != self.program.buffers[array].dims[0]:
            whole = Var(self.names.fresh(f"extent_{array}"), "index")
            variables[whole.name] = "index"
            begun.append(n.Assign(whole.name, extent, span=loop.span))
            extent = whole
        low_name, high_name = (self.names.fresh(f"{w}_{array}") for w in ("low", "high"))
        moves = {low_name: edges.front or self.looked_at, high_name: edges.back or self.looked_at}
        low: Expr = Var(low_name) if moves[low_name] else b.ZERO
        high: Expr = Var(high_name) if moves[high_name] else extent
        alive = self.names.fresh("alive")
        used: set[str] = set()
        size = Var(self.size, "index")

        def scalar(e: Expr) -> Expr | None:
            """Uses of the array outside the passes over it."""
            match e:
                case Load(buffer, index, dtype) if buffer == array or self._own_temporary(buffer):
                    place = self._place(buffer, self._at(buffer, index), first, last, used)
                    return Load(buffer, self._with(buffer, index, place, scalar), dtype)
                case Apply(op, (x, y), _) if op in COMPARISONS:
                    found = about_size(op, x, y, size)
                    if found is not None:
                        return found_condition(found)
                    return e if self._asks_whether_found(e) else None
                case Var(name) if name == self.size:
                    used.add("count")
                    return None
                case Var(name) if name in self.positions:
                    raise Reject
                case _:
                    return None

        def found_condition(found: str) -> Expr:
            if found in ("some", "none"):
                which = last if "last" in used or "first" not in used else first
                used.add("last" if which is last else "first")
                return b.compare("greater_equal" if found == "some" else "less", which, b.ZERO)
            used.update(("first", "last"))
            return {
                "one": b.compare("equal", first, last), "several": b.compare("less", first, last),
                "at most one": b.compare("greater_equal", first, last), "not one": b.compare("not_equal", first, last),
            }[found]  # fmt: skip

        # uses of first and last decide which of them answers "is there any": look at the body before the condition
        body: list[n.Stmt] = []
        some = any(asks(c, size) == "some" for c in conjuncts(loop.condition))
        at = loop.body.index(compact)
        def statement(s: n.Stmt) -> list[n.Stmt]:
            if isinstance(s, n.Guard) and some and asks(s.condition, size) == "some":
                return []  # the loop's condition says so
            if isinstance(s, n.Loop) and self._over_array(s) is not None:
                return self._pass_over(s, first, last, low, high, used, alive, extent)
            if isinstance(s, n.Alloc):
                return [s]
            if isinstance(s, n.Accumulator) and s.op in BEST and (best := self._best_of(s)) is not None:
                return [best, replace(s, op="first")]
            if isinstance(s, n.Let) and (of := self._position(s.value)) is not None:
                self.positions[s.name] = of[1]
                return [s]
            if isinstance(s, n.Store) and self._own_temporary(s.buffer) and len(s.index) == 1:
                place = self._place(s.buffer, s.index[0], first, last, used)
                return [replace(s, index=(place,), value=b.map_expr(s.value, scalar))]
            if isinstance(s, n.If) or (isinstance(s, n.Loop) and s.kind == "parallel" and self._has_passes(s)):
                return [with_bodies(map_own(s, scalar), lambda block: tuple(x for y in block for x in statement(y)))]
            if any(x == array or self._own_temporary(x) for x in buffers_written(s)):
                raise Reject
            return [map_statement(s, scalar)]

        for s in loop.body[:at]:
            body += statement(s)
        body += self._pass_over(compact, first, last, low, high, used, alive, extent)
        if edges.front:
            body.append(n.Assign(low_name, b.add(first, b.ONE), span=compact.span))
        if edges.back:
            body.append(n.Assign(high_name, last, span=compact.span))
        body += loop.body[at + 1 :]
        condition = b.map_expr(loop.condition, scalar)
        head = list(map_block(loop.head, scalar))
        search: list[n.Stmt] = []
        for which, var in (("first", first), ("last", last)):
            if which in used:
                p = self.names.fresh("p")
                body_of: n.Stmt = n.Accumulate(var.name, which, Load(alive, (Var(p),), "bool"), Var(p))
                search.append(n.Accumulator(var.name, which, "index", span=loop.span))
                search.append(n.Loop(p, low, high, b.ONE, "parallel", (body_of,), span=loop.span))
        variables.update({name: "index" for name, it_does in moves.items() if it_does})
        if "count" in used:
            p = self.names.fresh("p")
            total = self.names.fresh("count")
            body += [
                n.Accumulator(total, "count", "index"),
                n.Loop(p, low, high, b.ONE, "parallel", (
                    n.Accumulate(total, "count", Load(alive, (Var(p),), "bool")),
                )),
                n.Assign(self.size, Var(total)),
            ]  # fmt: skip
        elif not self.looked_at and not self.is_counted:
            del variables[self.size]
        dims = self.program.buffers[array].dims
        buffers = dict(self.program.buffers)
        buffers[alive] = n.Buffer(alive, "bool", dims, line=loop.span.line)
        for name, buffer in list(buffers.items()):  # temporaries of one pass are now as long as the base
            if self._own_temporary(name):
                buffers[name] = replace(buffer, dims=self._with(name, buffer.dims, dims[0]))
        p = self.names.fresh("p")
        lets, first_mask = at_first(self.begun, p, self.names) if self.begun is not None else ((), b.TRUE)
        start = (*lets, n.Store(alive, (Var(p),), first_mask))
        before: list[n.Stmt] = [
            *begun,
            n.Alloc(alive, span=loop.span),
            n.Loop(p, b.ZERO, extent, b.ONE, "parallel", start, span=loop.span),
        ]  # fmt: skip
        if moves[low_name]:
            before.append(n.Assign(low_name, b.ZERO, span=loop.span))
        if moves[high_name]:
            before.append(n.Assign(high_name, extent, span=loop.span))
        made = n.While((*search, *head), condition, tuple(body), span=loop.span)
        dtype = self.program.buffers[array].dtype
        end = [restored(compact, self.names.fresh("p"), alive, low, high, dtype)] if self.looked_at else []
        siblings = [*self.siblings[: self.position], *before, made, *end, *self.siblings[self.position + 1 :]]
        if "count" not in used and not self.looked_at and not self.is_counted:
            siblings = [s for s in siblings if not (isinstance(s, n.Assign) and s.name == self.size)]
            if any(self.size in scalars_used(s) for s in siblings):
                raise Reject
        if self.begun is not None:
            siblings = with_all_elements(siblings, self.begun, self.names, self.outside or frozenset(), buffers)
        return replace(self.program, buffers=buffers, variables=variables), siblings

    def _over_array(self, s: n.Loop | n.Compact) -> _Cut | None:
        """How a loop runs over the array: by the offset of its reads and its length."""
        if b.constant(s.start) != 0 or (isinstance(s, n.Loop) and s.step != b.ONE):
            return None
        gap = b.difference(b.inhabited(s.stop), Var(self.size, "index"))
        if gap is None:
            return None
        offsets = set()
        for e in exprs((s,)):
            if isinstance(e, Load) and e.buffer == self.array and s.axis in variables_read(e):
                terms, total = b.affine(e.index[0])
                if terms != {Var(s.axis, "index"): 1}:
                    raise Reject
                offsets.add(total)
        if isinstance(s, n.Compact) and not offsets:
            raise Reject
        if not offsets:  # it goes over what another pass has stored
            offsets = {
                total + self.cuts[e.buffer].front for e in exprs((s,)) if isinstance(e, Load) and e.buffer in self.cuts
                for terms, total in [b.affine(self._at(e.buffer, e.index))] if terms == {Var(s.axis, "index"): 1}
            }  # fmt: skip
        front = offsets.pop() if offsets else 0
        if offsets or not 0 <= front <= 1 or not 0 <= -gap - front <= 1:
            raise Reject
        return _Cut(front, -gap - front)

    def _pass_over(
        self, s: n.Loop | n.Compact, first: Var, last: Var, low: Expr, high: Expr, used: set[str], alive: str,
        extent: Expr | None = None,
    ) -> list[n.Stmt]:  # fmt: skip
        """The loop over positions of the base instead of elements."""
        cut = self._over_array(s)
        if cut is None:
            raise Reject
        p = Var(self.names.fresh("p"), "index")
        k = Var(s.axis, "index")
        array = self.array

        def change(e: Expr) -> Expr | None:
            match e:
                case Load(buffer, (at,), dtype) if buffer == array and s.axis in variables_read(at):
                    return Load(array, (p,), dtype)
                case Load(buffer, index, dtype) if buffer == array or self._own_temporary(buffer):
                    at = self._at(buffer, index)
                    here = self._is_here(buffer, at, k, cut)
                    place = p if here else self._place(buffer, at, first, last, used)
                    return Load(buffer, self._with(buffer, index, place, change), dtype)
                case Apply(op, (x, y), dtype) if op in COMPARISONS:
                    ours = [b.cast(v, "index") == k for v in (x, y)]
                    begins = (first, 0) if any(ours) and not cut.front else None  # of the array's first element
                    edge = edges(op, x if ours[1] else y, ours[1]) if any(ours) and not cut.front else None
                    if edge is not None:
                        used.add("first")
                        return b.compare(edge, p, first)
                    of_x, of_y = (
                        (p, cut.front) if our else begins if begins and b.constant(v) == 0 else self._position(v)
                        for our, v in zip(ours, (x, y), strict=True)
                    )
                    if of_x is not None and of_y is not None and of_x[1] == of_y[1]:  # both of the same array
                        used.update({"first"} if first in (of_x[0], of_y[0]) else ())
                        return Apply(op, (of_x[0], of_y[0]), dtype)
                    return e if self._asks_whether_found(e) else None
                case Var(name) if name in (s.axis, self.size) or name in self.positions:
                    raise Reject
                case _:
                    return None

        if cut.front:
            used.add("first")
        if cut.back:
            used.add("last")
        start: Expr = b.add(first, b.ONE) if cut.front else low
        stop: Expr = last if cut.back else high
        in_order = isinstance(s, n.Loop) and s.kind != "parallel"
        own = {x.name for x in walk(s.body) if isinstance(x, n.Accumulator)}
        found = [] if in_order else [x for x in s.body if isinstance(x, n.Accumulate) and x.name not in own]
        local = {x.buffer for x in walk(s.body) if isinstance(x, n.Alloc)}
        for inner in walk(s.body):
            if not isinstance(inner, _IN_ORDER if in_order else _IN_PASSES):
                raise Reject
            if isinstance(inner, n.Accumulate):
                if inner.position is not None if in_order else inner.name not in own and inner not in found:
                    raise Reject
            if isinstance(inner, n.Store) and self._own_temporary(inner.buffer):
                self._begin(inner, k, cut)
                if not self._is_here(inner.buffer, self._at(inner.buffer, inner.index), k, cut):
                    raise Reject
            elif isinstance(inner, n.Store) and inner.buffer == array:
                raise Reject
        here = Load(alive, (p,), "bool")
        if found and any(x.position not in (None, k) for x in found):
            raise Reject
        lasting = [x for x in s.body if any(not self._own_temporary(y) for y in buffers_written(x) - local)]
        body = tuple(
            n.If(here, (x,), span=x.span) if x in lasting and not in_order else self._store_at(x, p)
            for x in s.body if x not in found
        )
        if in_order:
            body = (n.If(here, body, span=s.span),)
        body = map_block(body, change)
        found = [replace(x, value=b.map_expr(x.value, change), position=x.position and p) for x in found]
        before: list[n.Stmt] = []
        for x in found:
            if x.position is not None:
                self.positions[x.name] = cut.front
            if x.op not in BEST:
                body = (*body, of_those_alive(x, here))
                continue
            best = self.best.get(x.name)
            if best is None or len(found) != 1 or not all(isinstance(y, n.Let) for y in body):
                raise Reject
            before.append(search(self.names, x, best, body, here, p, (start, stop)))
            is_it = b.compare("equal", x.value, Var(best.name, best.dtype))
            if best.dtype.startswith("float"):  # the first one that is no number comes before all
                is_it = Apply("logical_or", (is_it, Apply("isnan", (x.value,), "bool")), "bool")
            body = (*body, replace(x, op="first", value=Apply("logical_and", (here, is_it), "bool")))
        if isinstance(s, n.Compact):
            mask = b.map_expr(s.mask, change)
            both = Apply("logical_and", (here, mask), "bool")  # both sides are computed: no branch in the loop
            body = (*body, n.Store(alive, (p,), both, span=s.span))
        # what stands outside [low, high) is not looked at again: of those alive, and of what a pass of the step stores
        harmless = not found and all(
            isinstance(x, (n.Let, n.Alloc)) or (isinstance(x, n.Store) and (
                x.buffer in local or x.buffer == alive or self.cuts.get(x.buffer) == cut
            )) for x in body
        )
        kind = "sequential" if in_order else "parallel"
        return [*before, n.Loop(p.name, start, stop, b.ONE, kind, body, extent if harmless else None, span=s.span)]

    def _best_of(self, s: n.Accumulator) -> n.Accumulator | None:
        """Where the best element's position is searched in the array: an accumulator of what it is."""
        for loop in self.loop.body:
            for x in loop.body if isinstance(loop, n.Loop) else ():
                if isinstance(x, n.Accumulate) and x.name == s.name and x.value.dtype in ORDERED:
                    if self._over_array(loop) is None:  # type: ignore[arg-type]
                        return None
                    name = self.names.fresh(f"best_{s.name}")
                    self.best[s.name] = n.Accumulator(name, BEST[s.op], x.value.dtype, span=s.span)
                    return self.best[s.name]
        return None

    def _position(self, e: Expr) -> tuple[Expr, int] | None:
        """A position that a pass has found, in the base, and how far it was before the array's own."""
        match e:
            case Var(name) if name in self.positions:
                return e, self.positions[name]
            case Apply("cast", (x,), "index" | "int64") if (inner := self._position(x)) is not None:
                return b.cast(inner[0], e.dtype), inner[1]
            case _:
                return None

    def _asks_whether_found(self, e: Apply) -> bool:
        """Whether a position is only asked for being one."""
        x, y = e.args
        asked = (e.op, b.constant(y)) in (("less", 0), ("greater_equal", 0), ("equal", -1), ("not_equal", -1))
        return asked and self._position(x) is not None

    def _place(self, buffer: str, at: Expr, first: Var, last: Var, used: set[str]) -> Expr:
        """Where in the base an element stands: of the array, or of a temporary."""
        cut = _Cut(0, 0) if buffer == self.array else self.cuts.get(buffer)
        if cut is None:
            raise Reject
        if not cut.front and b.constant(at) == 0:
            used.add("first")
            return first
        if cut == _Cut(0, 0) and b.difference(at, Var(self.size, "index")) == -1:
            used.add("last")
            return last
        terms, total = b.affine(at)
        if len(terms) == 1:
            ((atom, factor),) = terms.items()
            found = self._position(atom)
            if found is not None and factor == 1 and total + cut.front == found[1]:
                return b.cast(found[0], "index")
        raise Reject

    def _has_passes(self, s: n.Stmt) -> bool:
        """Whether a loop over something else has passes over what is left in it, as sums of each column do."""
        inside = (x for block in bodies(s) for x in walk(block))
        return any(isinstance(x, n.Loop) and self._over_array(x) is not None for x in inside)

    def _own_temporary(self, buffer: str) -> bool:
        if buffer not in self.program.buffers or buffer not in self.inside:
            return False
        dims = self.program.buffers[buffer].dims
        return self.program.buffers[buffer].role == "temporary" and any(self.size in variables_read(d) for d in dims)

    def _at(self, buffer: str, index: tuple[Expr, ...]) -> Expr:
        """The subscript, or extent, of the axis that is as long as the array."""
        return index[self._axis(buffer)]

    def _with(
        self, buffer: str, index: tuple[Expr, ...], at: Expr, change: Callable[[Expr], Expr | None] = lambda _: None
    ) -> tuple[Expr, ...]:
        """The subscripts, or extents, with another one for that axis; `change`: what the others become."""
        axis = self._axis(buffer)
        return tuple(at if k == axis else b.map_expr(e, change) for k, e in enumerate(index))

    def _axis(self, buffer: str) -> int:
        dims = self.program.buffers[buffer].dims
        found = [k for k, d in enumerate(dims) if self.size in variables_read(d)]
        if len(dims) > 1 and len(found) != 1:
            raise Reject
        return found[0] if found else 0

    def _store_at(self, s: n.Stmt, p: Var) -> n.Stmt:
        s = with_bodies(s, lambda body: tuple(self._store_at(x, p) for x in body))
        if isinstance(s, n.Store) and self._own_temporary(s.buffer):
            return replace(s, index=self._with(s.buffer, s.index, p))
        return s

    def _begin(self, s: n.Store, k: Var, cut: _Cut) -> None:
        """Which elements a temporary leaves out, by the first pass that stores into it and by its length."""
        terms, total = b.affine(self._at(s.buffer, s.index))
        dims = self.program.buffers[s.buffer].dims
        gap = b.difference(b.inhabited(self._at(s.buffer, dims)), Var(self.size, "index"))
        front = cut.front - total
        if terms != {k: 1} or gap is None or not 0 <= front <= -gap:
            raise Reject
        self.cuts.setdefault(s.buffer, _Cut(front, -gap - front))

    def _is_here(self, buffer: str, at: Expr, k: Var, cut: _Cut) -> bool:
        """Whether a place in a temporary belongs to the element that a pass is at."""
        its = self.cuts.get(buffer)
        terms, total = b.affine(at)
        return its is not None and terms == {k: 1} and total == cut.front - its.front


def _without_lost(block: tuple[n.Stmt, ...], array: str, size: str) -> tuple[n.Stmt, ...]:
    """The statements of a loop without compactions of an array right before the loop ends: nobody looks at it then."""
    made: list[n.Stmt] = []
    for s in reversed(block):
        ends = bool(made) and isinstance(made[0], n.Break)
        if ends and isinstance(s, n.Compact) and s.outputs == (array,) and s.count == size and not s.append:
            continue
        if isinstance(s, n.If):
            s = with_bodies(s, lambda body: _without_lost(body, array, size))
        made.insert(0, s)
    return tuple(made)
