"""Next states of arrays, in whichever way a loop says them: all are stores in place, and these go through two arrays.

    sequential t in 0 .. steps:             sequential t in 0 .. steps:
        new[i] = u[i]  for i < n                write u[i + 1] = f(u[i], u[i + 2])
        write new[i + 1] = f(u[i], u[i + 2])
        write u[i] = new[i]  for i < n

A `Write` computes all its values before it stores the first, so that the right side is what the left one does
(`coalesce_copies`). Where these values have to be put somewhere, the state changes places with a copy of it that was
made before the loop (`double_buffer`): what is not stored into is the same in both.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice

from transkern.fuse.lowering.copies import with_arrays
from transkern.fuse.scalars.places import divides_for
from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.build import affine
from transkern.ir.expr import Apply, Axis, Const, Expr, Load, Reduce, Var
from transkern.ir.names import Names
from transkern.ir.traverse import (
    bodies,
    buffers_read,
    buffers_used,
    buffers_written,
    exprs,
    own_exprs,
    result_buffers,
    scalars_set,
    variables_read,
    walk,
    walk_expr,
    with_bodies,
)
from transkern.records import replace

_AXES = ("ii", "jj", "kk", "ll", "mm", "pp", "qq", "rr")

_ENOUGH = 4
"""Iterations from which on a copy of the state pays."""

_CHEAP = frozenset({
    "add", "subtract", "multiply", "negative", "absolute", "less", "less_equal", "equal", "not_equal", "greater",
    "greater_equal", "logical_not", "where",
})  # fmt: skip
_OPERATIONS, _LOADS = 2, 3
"""Of a value that is computed anew where it is read."""

_PLACES = 4
"""In how many places at most."""

_PARTS = 80
"""Of a value that goes into another one: a hundred statements are no single expression."""

_NEAR = 40
"""As many statements behind it a value is looked for."""


def coalesce_copies(program: n.Program) -> n.Program:
    """The program without arrays that need no memory: copies that are stored into and copied back, values that are
    stored at once or as a whole later, and those that are computed where they are read."""
    body = _handed_out(_Coalescing(program).block(program.body), program)
    return replace(program, body=body)


def double_buffer(program: n.Program) -> n.Program:
    """The program whose loops, where all they do is to compute an array's next state from its last one, compute it in
    another array, and the one after that in the first."""
    doubling = _Doubling(program)
    body = doubling.block(program.body)
    return replace(program, body=body, buffers=doubling.buffers)


class _Coalescing:
    def __init__(self, program: n.Program) -> None:
        self.program = program
        self.touched: dict[str, int] = {}  # how many statements read or write a buffer
        self.copied: set[str] = set()  # what is copied into another array
        for s in walk(program.body):
            for name in touched(s):
                self.touched[name] = self.touched.get(name, 0) + 1
            if isinstance(s, n.Write) and (copy := self._copy(s)) is not None:
                self.copied.add(copy[1])

    def block(self, statements: Sequence[n.Stmt]) -> tuple[n.Stmt, ...]:
        out = list(statements)
        ways = (self._made_later, self._renamed, self._coalesced, self._updated, self._forwarded, self._inlined)
        k = 0
        while k < len(out):
            found = next((made for way in ways if (made := way(out, k)) is not None), None)
            if found is None:
                k += 1
            else:
                out = found
        return tuple(with_bodies(s, self.block) for s in out)

    def _renamed(self, block: list[n.Stmt], first: int) -> list[n.Stmt] | None:
        """The block without the copy that its statement `first` makes, which is read before the array changes."""
        made = self._new_copy(block[first])
        if made is None:
            return None
        copy, array = made
        behind, changed = block[first + 1 :], False
        if self.program.buffers[array].layout != "C":
            return None  # what is read again and again in another order is worth a copy
        if self._uses(copy, block[first:]) != self.touched[copy]:
            return None
        for s in behind:
            inside = tuple(walk((s,)))
            if any(copy in buffers_written(x) or (isinstance(x, n.Return) and copy in buffers_used(x)) for x in inside):
                return None
            reads = any(copy in buffers_used(x) for x in inside)
            writes = any(array in buffers_written(x) or _makes(x, array) for x in inside)
            if reads and (changed or (writes and not isinstance(s, n.Write))):
                return None
            changed = changed or writes
        self.touched[array] += self.touched.pop(copy) - 2  # the copy touches both
        return [*block[:first], *with_arrays(behind, {copy: array})]

    def _coalesced(self, block: list[n.Stmt], first: int) -> list[n.Stmt] | None:
        """The block without the copy that its statement `first` makes, and without the one back."""
        made = self._new_copy(block[first])
        if made is None:
            return None
        new, old = made
        last = next((k for k in range(first + 1, len(block)) if self._copy(block[k]) == (old, new)), None)
        if last is None or self._uses(new, block[first : last + 1]) != self.touched[new]:
            return None
        between = block[first + 1 : last]
        if not _keeps(between, new, old, self.program.buffers[old].role == "argument"):
            return None
        self.touched[old] += self.touched.pop(new) - 4  # the two copies touch both
        return [*block[:first], *with_arrays(between, {new: old}), *block[last + 1 :]]

    def _updated(self, block: list[n.Stmt], first: int) -> list[n.Stmt] | None:
        """The block with a value that is stored into the array at once, where `first` makes another one of it that is
        copied there in the end."""
        made = block[first]
        if not isinstance(made, n.Define) or self.program.buffers[made.buffer].role != "temporary":
            return None
        new = made.buffer
        if new not in self.copied:
            return None
        copies = ((k, self._copy(s)) for k, s in enumerate(block[first + 1 :], first + 1) if isinstance(s, n.Write))
        last, old = next(((k, c[0]) for k, c in copies if c is not None and c[1] == new), (0, ""))
        if not last or self.program.buffers[old].role == "argument":  # an error shows what is in it
            return None
        if self._uses(new, block[first : last + 1]) != self.touched[new]:
            return None
        between = block[first + 1 : last]
        for x in walk(between):
            if old in touched(x) or isinstance(x, (n.Break, n.Continue, n.Return, n.While)):
                return None
        self.touched[old] += self.touched.pop(new) - (2 if old not in touched(made) else 3)
        index = tuple(a.var for a in made.axes)
        store = n.Write(old, made.axes, index, made.value, span=made.span)
        return [*block[:first], store, *with_arrays(between, {new: old}), *block[last + 1 :]]

    def _forwarded(self, block: list[n.Stmt], first: int) -> list[n.Stmt] | None:
        """The block with a value that is stored at once in place of the array that it was put into before."""
        made = block[first]
        if not isinstance(made, n.Define) or self.program.buffers[made.buffer].role != "temporary":
            return None
        at = next((k for k in range(first + 1, len(block)) if not isinstance(block[k], n.Guard)), len(block))
        store = block[at] if at < len(block) else None
        if not isinstance(store, n.Write) or store.buffer not in buffers_read(made.value):
            return None
        if self.touched[made.buffer] != 2:
            return None
        whole = Load(made.buffer, tuple(a.var for a in store.axes), made.value.dtype)
        if store.value != whole or tuple(a.extent for a in store.axes) != tuple(a.extent for a in made.axes):
            return None
        if any(made.buffer in buffers_read(e) for e in (*store.index, *([] if store.mask is None else [store.mask]))):
            return None
        names: dict[str, Expr] = {a.name: x.var for a, x in zip(made.axes, store.axes, strict=True)}
        self.touched.pop(made.buffer)
        stored = replace(store, value=b.substitute(made.value, names))
        return [*block[:first], *block[first + 1 : at], stored, *block[at + 1 :]]

    def _made_later(self, block: list[n.Stmt], first: int) -> list[n.Stmt] | None:
        """The block without a value for all elements of an array that a statement behind it gives other values."""
        made = block[first]
        if not isinstance(made, n.Define) or self.program.buffers[made.buffer].role == "argument":
            return None
        at = next((k for k in _behind(block, first) if self._uses(made.buffer, [block[k]])), None)
        store = None if at is None else block[at]
        if at is None or not isinstance(store, n.Write) or store.buffer != made.buffer or store.mask is not None:
            return None
        whole = tuple(a.extent for a in store.axes) == self.program.buffers[made.buffer].dims
        if not whole or store.index != tuple(a.var for a in store.axes) or made.buffer in buffers_read(store.value):
            return None
        for name in touched(made):
            self.touched[name] -= 1
        later = n.Define(made.buffer, store.axes, store.value, span=store.span)
        return [*block[:first], *block[first + 1 : at], later, *block[at + 1 :]]

    def _inlined(self, block: list[n.Stmt], first: int) -> list[n.Stmt] | None:
        """The block with a value in place of the array that it was put into, where the statements behind it read each
        element once at most, or more often and it is as soon computed as loaded. Elements that are all read by those of
        their own place keep their name: one loop makes both, and the array is contracted. But what becomes part of the
        next state of an array that it reads is no array beside it."""
        made = block[first]
        if not isinstance(made, n.Define) or self.program.buffers[made.buffer].role != "temporary":
            return None
        parts = list(islice(walk_expr(made.value), _PARTS + 1))
        if len(parts) > _PARTS or any(isinstance(x, Reduce) for x in parts):
            return None
        count = self.touched[made.buffer] - 1
        if not 0 < count <= _PLACES:
            return None
        at = [k for k in _behind(block, first) if made.buffer in touched(block[k])]
        if len(at) != count:
            return None
        reads, scalars, places = buffers_read(made.value), variables_read(made.value), 0
        beside = True
        for k in at:
            reader = block[k]
            found = places_read(reader, made) if isinstance(reader, _READERS) else 0
            written = buffers_written(reader)
            if not found or made.buffer in written:
                return None
            beside = beside and _reads_beside(reader, made)
            places += found
        next_state = bool(buffers_written(block[at[-1]]) & reads)  # whose values are all computed before it is stored
        if beside and not next_state and reads:
            return None
        if places > 1 and (places > _PLACES or not is_cheap(made.value)):
            return None
        for x in walk(block[first + 1 : at[-1]]):
            if buffers_written(x) & reads or any(_makes(x, r) for r in reads) or scalars_set(x) & scalars:
                return None

        def inlined(e: Expr) -> Expr | None:
            if not isinstance(e, Load) or e.buffer != made.buffer:
                return None
            return b.substitute(made.value, {a.name: i for a, i in zip(made.axes, e.index, strict=True)})

        out = list(block)
        for k in at:
            reader = out[k]
            assert isinstance(reader, _READERS)
            for name in reads - touched(reader):
                self.touched[name] += 1
            out[k] = replace(reader, value=b.map_expr(reader.value, inlined))
        for name in reads:
            self.touched[name] -= 1
        self.touched.pop(made.buffer)
        return [*out[:first], *out[first + 1 :]]

    def _new_copy(self, s: n.Stmt) -> tuple[str, str] | None:
        """Of a statement that makes a temporary as a copy of an array: that one, and the array."""
        made = self._copy(s) if isinstance(s, n.Define) else None
        return made if made is not None and self.program.buffers[made[0]].role == "temporary" else None

    def _copy(self, s: n.Stmt) -> tuple[str, str] | None:
        return whole_copy(s, self.program.buffers)

    def _uses(self, name: str, block: Sequence[n.Stmt]) -> int:
        return sum(name in touched(s) for s in walk(block))


def whole_copy(s: n.Stmt, buffers: Mapping[str, n.Buffer]) -> tuple[str, str] | None:
    """Of a statement that copies all of an array into another one of its shape: that one, and the array."""
    match s:
        case n.Define(buffer=new, axes=axes, value=Load(old, index)):
            at = tuple(a.var for a in axes)
        case n.Write(buffer=new, axes=axes, index=at, value=Load(old, index), mask=None):
            pass
        case _:
            return None
    one, other = buffers[new], buffers[old]
    alike = (one.dtype, one.element, one.dims) == (other.dtype, other.element, other.dims)
    whole = at == index == tuple(a.var for a in axes) and tuple(a.extent for a in axes) == one.dims
    return (new, old) if alike and whole else None


def _handed_out(body: tuple[n.Stmt, ...], program: n.Program) -> tuple[n.Stmt, ...]:
    """The body without copies of temporaries that are results: where nobody else sees a temporary any more, and it is
    not written behind the copy, it is handed out itself, or as much of it as the copy has."""
    for k in range(len(body) - 1, -1, -1):
        copy = body[k]
        match copy:
            case n.Define(buffer=made, axes=axes, value=Load(held, index)) if index == tuple(a.var for a in axes):
                pass
            case _:
                continue
        one, other = program.buffers[made], program.buffers[held]
        if one.role != "result" or other.role != "temporary" or len(axes) != len(other.dims):
            continue
        if (one.dtype, one.element) != (other.dtype, other.element) or one.dims[1:] != other.dims[1:]:
            continue
        behind = tuple(walk(body[k + 1 :]))
        if any({made, held} & buffers_written(s) or _makes(s, held) or isinstance(s, n.Library) for s in behind):
            continue
        if any(isinstance(s, n.Return) and held in result_buffers(s.result) for s in behind):
            continue
        body = (*body[:k], *with_arrays(body[k + 1 :], {made: held}))
    return body


def _makes(s: n.Stmt, name: str) -> bool:
    return isinstance(s, n.Alloc) and s.buffer == name


def _keeps(between: Sequence[n.Stmt], new: str, old: str, is_argument: bool) -> bool:
    """Whether nobody sees that stores go into the array itself instead of its copy: it is not read behind the first of
    them, not stored into, and nobody leaves in between."""
    changed = False
    for s in between:
        inside = tuple(walk((s,)))
        if any(old in buffers_written(x) or isinstance(x, _LEAVING) for x in inside):
            return False
        if any(isinstance(x, n.Define) and x.buffer == new for x in inside):
            return False
        writes = any(new in buffers_written(x) for x in inside)
        reads = any(old in buffers_used(x) for x in inside)
        if reads and (changed or (writes and not isinstance(s, n.Write))):
            return False
        if is_argument and (changed or writes) and any(isinstance(x, (n.Guard, n.Library)) for x in inside):
            return False  # the caller sees it where one of these raises
        changed = changed or writes
    return True


_READERS = (n.Define, n.Write, n.Scan, n.Let)

_LEAVING = (n.Break, n.Continue, n.Return, n.While, n.Alloc)


class _Doubling:
    def __init__(self, program: n.Program) -> None:
        self.buffers = dict(program.buffers)
        self.names = Names.of(program)
        self.shared = {p.base for p in program.params if isinstance(p, n.ArrayParam) and p.base}

    def block(self, statements: Sequence[n.Stmt]) -> tuple[n.Stmt, ...]:
        out: list[n.Stmt] = []
        for s in statements:
            found = self._doubled(s) if isinstance(s, n.Loop) else None
            out += found if found is not None else [with_bodies(s, self.block)]
        return tuple(out)

    def _doubled(self, loop: n.Loop) -> list[n.Stmt] | None:
        store = _state(loop)
        if store is None or store.buffer in self.shared:  # memory that arguments share has no size of its own
            return None
        state = self.buffers[store.buffer]
        other = replace(
            state, name=self.names.fresh(f"{store.buffer}_next"), role="temporary", layout="C", line=loop.span.line,
            aligned=True, permutation=False,
        )  # fmt: skip
        if state.is_reserved or len(state.dims) > len(_AXES):
            return None
        self.buffers[other.name] = other
        axes = tuple(Axis(self.names.fresh(a), d) for a, d in zip(_AXES, state.dims, strict=False))
        index = tuple(a.var for a in axes)
        copy = n.Define(other.name, axes, Load(state.name, index, state.dtype), span=loop.span)
        count = b.maximum(b.sub(loop.stop, loop.start), b.ZERO)
        pairs = b.sub(count, b.mod(count, b.index(2)))
        second = {loop.axis: b.add(Var(loop.axis, "index"), b.ONE)}
        one = self._step(loop.body, store, state.name, other.name, {})
        two = self._step(loop.body, store, other.name, state.name, second)
        last = self._step(loop.body, store, state.name, state.name, {loop.axis: b.add(loop.start, pairs)})
        checks = tuple(s for s in loop.body if isinstance(s, n.Guard))
        by_two = replace(loop, stop=b.add(loop.start, pairs), step=b.index(2), body=(*checks, *one, *two))
        rest = n.If(b.compare("equal", b.mod(count, b.index(2)), b.ONE), last, span=loop.span)
        many = b.compare("greater_equal", count, b.index(_ENOUGH))
        return [n.If(many, (copy, by_two, rest), (loop,), span=loop.span)]

    def _step(
        self, body: Sequence[n.Stmt], store: n.Write, old: str, new: str, at: dict[str, Expr]
    ) -> tuple[n.Stmt, ...]:
        """An iteration without its checks, that stores the state into `new`, from that in `old`, with its own names."""
        names, out = dict(at), list[n.Stmt]()

        def moved(e: Expr) -> Expr | None:
            if isinstance(e, Load) and e.buffer == store.buffer:
                return Load(old, e.index, e.dtype)
            return None

        for s in body:
            match s:
                case n.Let(name, value):
                    own = self.names.fresh(name)
                    out.append(replace(s, name=own, value=b.substitute(value, names)))
                    names[name] = Var(own, value.dtype)
                case n.Assign(_, value):
                    out.append(replace(s, value=b.substitute(value, names)))
                case n.Write():
                    axes = tuple(
                        Axis(self.names.fresh(a.name.split("_")[0]), b.substitute(a.extent, names)) for a in s.axes
                    )
                    names |= {a.name: x.var for a, x in zip(s.axes, axes, strict=True)}
                    index = tuple(b.substitute(i, names) for i in s.index)
                    value = b.map_expr(b.substitute(s.value, names), moved)
                    out.append(replace(s, buffer=new, axes=axes, index=index, value=value))
        return tuple(out)


def _state(loop: n.Loop) -> n.Write | None:
    """The one store of a loop that computes an array's next state from its last one: always into the same elements,
    of others than those that they replace."""
    if loop.kind != "sequential" or b.constant(loop.step) != 1 or loop.fails:
        return None
    stores = [s for s in loop.body if not isinstance(s, (n.Guard, n.Let, n.Assign))]
    if len(stores) != 1 or not isinstance(stores[0], n.Write) or stores[0].mask is not None:
        return None
    store = stores[0]
    if any(isinstance(x, Reduce) for e in own_exprs(store) for x in walk_expr(e)):
        return None
    loads = [x for x in walk_expr(store.value) if isinstance(x, Load) and x.buffer == store.buffer]
    where = (*store.index, *(a.extent for a in store.axes), loop.start, loop.stop)
    scalars = [s for s in loop.body if isinstance(s, (n.Let, n.Assign))]
    changing = {loop.axis, *(s.name for s in scalars)}
    fixed = (*where, *exprs(s for s in loop.body if isinstance(s, n.Guard)))
    if any(store.buffer in buffers_read(e) or changing & variables_read(e) for e in fixed):
        return None
    if any(store.buffer in buffers_read(s.value) for s in scalars):
        return None
    if all(x.index == store.index for x in loads) or any(
        store.buffer in buffers_read(i) for x in loads for i in x.index
    ):
        return None
    return store


def _behind(block: Sequence[n.Stmt], first: int) -> range:
    """The places of the statements near behind one."""
    return range(first + 1, min(first + 1 + _NEAR, len(block)))


def places_read(reader: n.Define | n.Write | n.Scan | n.Let, made: n.Define) -> int:
    """In how many places, beside each other, a statement reads the elements of an array, another one for each of its
    own; 0 where it may read an element again and again that is not as soon computed as loaded. Of elements at places
    that are looked up (`y[k]`) a value of one other element is: it is that element that is looked up."""
    beside = (*reader.index, *([] if reader.mask is None else [reader.mask])) if isinstance(reader, n.Write) else ()
    if any(buffers_read(e) for e in beside):
        return 0
    if divides_for(reader, made.buffer) and not _is_flat(made):
        return 0
    found = set()
    outer = () if isinstance(reader, n.Let) else tuple(a.name for a in reader.axes)
    for x, axes in _loads(reader.value, outer):
        if x.buffer == made.buffer:
            along = _axes_along(x.index, axes)
            if len(x.index) != len(made.axes):
                return 0
            if along != sorted(axes) and not (is_cheap(made.value) and _is_where_it_is_read(made)):
                return 0
            if along is None and sum(isinstance(e, Load) for e in walk_expr(made.value)) > 1:
                return 0
            found.add((x.index, axes))
    return len(found)


def _is_where_it_is_read(made: n.Define) -> bool:
    """Whether a value is made of elements that stand in other arrays as they do in its own: no place is computed."""
    places = {a.var for a in made.axes}
    return all(i in places for x in walk_expr(made.value) if isinstance(x, Load) for i in x.index)


def _is_flat(made: n.Define) -> bool:
    """Whether a value is made of nothing but elements that stand in other arrays as they do in its own: places in
    memory of both are the same, though their subscripts may be quotients."""
    axes = tuple(a.var for a in made.axes)
    left = b.map_expr(made.value, lambda e: Const(0, e.dtype) if isinstance(e, Load) and e.index == axes else None)
    return variables_read(left).isdisjoint(a.name for a in made.axes)


def _loads(e: Expr, axes: tuple[str, ...]) -> Iterator[tuple[Load, tuple[str, ...]]]:
    """What an expression loads, each with the axes that it is loaded for, reductions' own among them."""
    left = [(e, axes)]
    while left:
        x, over = left.pop()
        match x:
            case Load(index=index):
                yield x, over
                left += [(i, over) for i in index]
            case Apply(args=args):
                left += [(arg, over) for arg in args]
            case Reduce(axes=own, body=body):
                left.append((body, (*over, *(a.name for a in own))))
            case _:
                pass


def _reads_beside(reader: n.Stmt, made: n.Define) -> bool:
    """Whether a statement reads of the elements of an array the one of its own place alone: one loop makes both."""
    if not isinstance(reader, (n.Define, n.Write)) or [a.extent for a in reader.axes] != [a.extent for a in made.axes]:
        return False
    own = tuple(a.var for a in reader.axes)
    found = [x for e in own_exprs(reader) for x in walk_expr(e) if isinstance(x, Load) and x.buffer == made.buffer]
    return all(x.index == own for x in found)


def _axes_along(index: Sequence[Expr], axes: Sequence[str]) -> list[str] | None:
    """The axes along which subscripts go by single steps, sorted; None where they go otherwise."""
    found: list[str] = []
    for i in index:
        terms, _ = affine(i)
        own = [t for t in terms if variables_read(t) & set(axes)]
        if len(own) > 1 or any(not isinstance(t, Var) or abs(terms[t]) != 1 for t in own):
            return None
        found += [t.name for t in own if isinstance(t, Var)]
    return sorted(found)


def is_cheap(value: Expr) -> bool:
    """Whether a value is as soon computed as loaded."""
    parts = list(walk_expr(value))
    loads = [x for x in parts if isinstance(x, Load)]
    operations = [x for x in parts if isinstance(x, Apply) and x.dtype != "index"]
    if len(loads) > _LOADS or len(operations) > _OPERATIONS or any(buffers_read(i) for x in loads for i in x.index):
        return False
    return all(x.op in _CHEAP for x in operations)


def touched(s: n.Stmt) -> frozenset[str]:
    """The buffers that a statement itself, not one inside it, reads, writes, makes or returns."""
    if any(True for _ in bodies(s)):
        return frozenset(name for e in own_exprs(s) for name in buffers_read(e))
    made = {s.buffer} if isinstance(s, n.Alloc) else set()
    return frozenset({*buffers_used(s), *buffers_written(s), *made})
