"""Fuse loops over the same range:

    parallel i in 0 .. n: t[i] = f(x[i])          parallel i in 0 .. n:
    parallel i in 0 .. n: y[i] = g(t[i])    to        t[i] = f(x[i])
                                                      y[i] = g(t[i])

Legal where every array that one loop writes and the other touches is touched, in both, at one and the same position of
the fused axis, or where dependence analysis proves that no value crosses iterations. A loop moves up past statements
it has nothing to do with. What the fused body holds is fused in turn (the rows of a softmax, then the passes over a
row).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from transkern.analysis.dependence import Carried
from transkern.analysis.verdicts import Walk
from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Expr, Load, Var
from transkern.ir.traverse import (
    buffers_used,
    buffers_written,
    exprs,
    map_statement,
    scalars_set,
    scalars_used,
    variables_read,
    walk,
    with_bodies,
)  # fmt: skip

_BARRIERS = (n.Guard, n.Return, n.Break, n.Continue)


def fuse_loops(program: n.Program) -> n.Program:
    """The program with adjacent parallel loops over one range made one, at every depth."""
    return replace(program, body=_Fusing(program).block(program.body))


class _Fusing(Walk):
    def __init__(self, program: n.Program) -> None:
        super().__init__(program)
        self.buffers = program.buffers

    def block(self, statements: Iterable[n.Stmt]) -> tuple[n.Stmt, ...]:
        out: list[n.Stmt] = []
        saved = self.facts, self.lets
        self.facts, self.lets = list(self.facts), dict(self.lets)
        for s in statements:
            if not (isinstance(s, (n.Loop, n.Compact)) and _is_parallel(s) and self._merge(out, s)):
                out.append(s)
            self.learn(s)
        self.facts, self.lets = saved
        return super().block(out)

    def inside(self, s: n.Stmt) -> n.Stmt:
        if isinstance(s, (n.Loop, n.If, n.While)):
            return super().inside(s)
        return with_bodies(s, self.block)

    def _merge(self, out: list[n.Stmt], loop: n.Loop | n.Compact) -> bool:
        """Fuse `loop` into an earlier loop of `out`; declarations it needs move up with it."""
        needed: list[int] = []  # positions of declarations that only this loop needs
        for position in range(len(out) - 1, -1, -1):
            earlier = out[position]
            if isinstance(earlier, _BARRIERS):
                return False
            if isinstance(earlier, n.Loop) and earlier.kind == "parallel" and self._fusible(earlier, loop):
                moved = [out[k] for k in sorted(needed)]
                between = [s for k, s in enumerate(out[position + 1 :], position + 1) if k not in needed]
                if isinstance(loop, n.Compact):
                    # a filter stays where it is; the earlier loop comes down to it
                    if any(_conflict(earlier, s) for s in between):
                        return False
                    out[position:] = [*between, *moved, _join(earlier, loop)]
                    return True
                out[position:] = [*moved, _join(earlier, loop), *between]
                return True
            if isinstance(earlier, (n.Accumulator, n.Alloc)):
                if self._declares_for(earlier, loop):
                    needed.append(position)
                elif _conflict(earlier, loop):
                    return False
                continue
            if _conflict(earlier, loop) or any(_conflict(earlier, out[k]) for k in needed):
                return False
            if any(self._alloc_needs(out[k], earlier) for k in needed):
                return False
        return False

    def _declares_for(self, s: n.Accumulator | n.Alloc, loop: n.Stmt) -> bool:
        name = s.name if isinstance(s, n.Accumulator) else s.buffer
        used = scalars_set(loop) | buffers_written(loop) | buffers_used(loop)
        return name in used

    def _alloc_needs(self, s: n.Stmt, earlier: n.Stmt) -> bool:
        if not isinstance(s, n.Alloc) or s.buffer not in self.buffers:
            return False
        needed = {v for d in self.buffers[s.buffer].dims for v in variables_read(d)}
        return bool(needed & scalars_set(earlier))

    def _fusible(self, one: n.Loop, two: n.Loop | n.Compact) -> bool:
        step = two.step if isinstance(two, n.Loop) else b.ONE
        if (one.start, one.stop, one.step) != (two.start, two.stop, step):
            return False
        if any(isinstance(s, _BARRIERS) for s in walk((one, two))):
            return False
        made = {s.buffer for s in walk((two,)) if isinstance(s, n.Alloc)} & self.buffers.keys()
        if any(two.axis in variables_read(d) for name in made for d in self.buffers[name].dims):
            return False  # the arrays made inside have sizes in its terms
        outer_one, outer_two = _outer_scalars(one), _outer_scalars(two)
        if isinstance(two, n.Compact) and {s.name for s in walk(one.body) if isinstance(s, n.Accumulate)} & outer_one:
            return False  # a compaction combines nothing but its count
        if outer_one & (scalars_used(two) | scalars_set(two)) or outer_two & (scalars_used(one) | scalars_set(one)):
            return False
        written_one, written_two = buffers_written(one), buffers_written(two)
        shared = (written_one & (buffers_used(two) | written_two)) | (buffers_used(one) & written_two)
        renamed = _rename(two, one.axis)
        for buffer in shared:
            accesses_one = list(_accesses(one, buffer))
            accesses_two = list(_accesses(renamed, buffer))
            if isinstance(two, n.Compact) and buffer in two.outputs:
                if not _ahead(one.axis, accesses_one + accesses_two) or buffer in written_one:
                    return False
                continue
            if not _aligned(one.axis, accesses_one + accesses_two, _bound_inside(one) | _bound_inside(renamed)):
                return isinstance(two, n.Loop) and self._apart(_join(one, two))
        return True

    def _apart(self, joined: n.Stmt) -> bool:
        """Whether it is proven that the iterations of the two loops in one are independent of each other."""
        assert isinstance(joined, n.Loop)
        return Carried(self.buffers, joined, self.surroundings()).independent()


def _is_parallel(s: n.Stmt) -> bool:
    return isinstance(s, n.Compact) or (isinstance(s, n.Loop) and s.kind == "parallel")


def _outer_scalars(loop: n.Stmt) -> frozenset[str]:
    """Scalars that the loop changes and that live longer than an iteration."""
    local = {s.name for s in walk((loop,)) if isinstance(s, (n.Let, n.Accumulator))}
    if isinstance(loop, n.Compact):
        local.add(loop.count)  # set when the loop has ended: inside, it is still what it was
    return scalars_set(loop) - local


def _conflict(one: n.Stmt, two: n.Stmt) -> bool:
    """Whether the two statements may not change places."""
    w1, w2 = buffers_written(one), buffers_written(two)
    if isinstance(one, n.Alloc):
        w1 = frozenset((one.buffer,))
    if isinstance(two, n.Alloc):
        w2 = frozenset((two.buffer,))
    if w1 & (buffers_used(two) | w2) or buffers_used(one) & w2:
        return True
    s1, s2 = scalars_set(one), scalars_set(two)
    if s1 & (scalars_used(two) | s2) or scalars_used(one) & s2:
        return True
    return any(isinstance(s, _BARRIERS) for s in walk((one, two)))


def _accesses(loop: n.Stmt, buffer: str) -> Iterable[tuple[Expr, ...]]:
    for e in exprs((loop,)):
        if isinstance(e, Load) and e.buffer == buffer:
            yield e.index
    for s in walk((loop,)):
        match s:
            case n.Store(buffer=name, index=index) | n.Scanning(buffer=name, index=index) if name == buffer:
                yield index
            case n.Compact(outputs=outputs) if buffer in outputs:
                pass
            case n.Library(outs=outs, ins=ins) if buffer in outs or buffer in ins:
                yield ()
            case _:
                pass


def _aligned(axis: str, accesses: list[tuple[Expr, ...]], inner: set[str]) -> bool:
    """Whether some dimension of all accesses is one and the same one-to-one function of the axis."""
    if not accesses or any(len(a) != len(accesses[0]) for a in accesses):
        return False
    for candidates in zip(*accesses, strict=True):
        first = candidates[0]
        if any(c != first for c in candidates[1:]):
            continue
        terms, _ = b.affine(first)
        if Var(axis, "index") not in terms:
            continue
        rest = [t for t in terms if t != Var(axis, "index")]
        if all(not (variables_read(t) & (inner | {axis})) and not isinstance(t, Load) for t in rest):
            return True
    return False


def _ahead(axis: str, accesses: Iterable[tuple[Expr, ...]]) -> bool:
    for index in accesses:
        if not index:
            return False
        terms, total = b.affine(index[0])
        if terms != {Var(axis, "index"): 1} or total < 0:
            return False
    return True


def _bound_inside(loop: n.Stmt) -> set[str]:
    names: set[str] = set()
    for s in walk((loop,)):
        match s:
            case n.Let(name=name):
                names.add(name)
            case n.Loop(axis=name) | n.Scanning(axis=name) if s is not loop:
                names.add(name)
            case n.Compact(axis=name, inner=inner):
                names |= {a.name for a in inner} | ({name} if s is not loop else set())
            case _:
                pass
    return names | _outer_scalars(loop)


def _rename(loop: n.Loop | n.Compact, axis: str) -> n.Loop | n.Compact:
    if loop.axis == axis:
        return loop
    old = loop.axis
    changed = map_statement(loop, lambda e: Var(axis, "index") if isinstance(e, Var) and e.name == old else None)
    if axis in _bound_inside(loop):  # the other name is taken inside: the two change places
        names = {old: axis, axis: old}
        swapped = map_statement(
            loop, lambda e: Var(names[e.name], "index") if isinstance(e, Var) and e.name in names else None
        )
        changed = _with_axes(swapped, names)
    assert isinstance(changed, (n.Loop, n.Compact))
    return replace(changed, axis=axis)


def _with_axes(s: n.Stmt, names: dict[str, str]) -> n.Stmt:
    """The statement with the axes that it and those inside it bind under other names."""
    s = with_bodies(s, lambda body: tuple(_with_axes(x, names) for x in body))
    match s:
        case n.Loop(axis=axis) | n.Scanning(axis=axis):
            return replace(s, axis=names.get(axis, axis))
        case n.Compact(axis=axis, inner=inner):
            kept = tuple(replace(a, name=names.get(a.name, a.name)) for a in inner)
            return replace(s, axis=names.get(axis, axis), inner=kept)
        case _:
            return s


def _join(one: n.Loop, two: n.Loop | n.Compact) -> n.Stmt:
    renamed = _rename(two, one.axis)
    return replace(renamed, body=one.body + renamed.body)
