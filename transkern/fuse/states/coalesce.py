"""Next states of arrays, in whichever way a loop says them: all are stores in place.

    sequential t in 0 .. steps:             sequential t in 0 .. steps:
        new[i] = u[i]  for i < n                write u[i + 1] = f(u[i], u[i + 2])
        write new[i + 1] = f(u[i], u[i + 2])
        write u[i] = new[i]  for i < n

A `Write` computes all its values before it stores the first, so that the right side is what the left one does. Values
that are stored at once, or soon computed, need no array either.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice

from transkern.fuse.lowering.copies import with_arrays
from transkern.fuse.states.reading import computed, is_cheap, places_read, reads_beside, touched, whole_copy
from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Expr, Load, Reduce
from transkern.ir.traverse import (
    buffers_read,
    buffers_used,
    buffers_written,
    result_buffers,
    scalars_set,
    variables_read,
    walk,
    walk_expr,
    with_bodies,
)
from transkern.records import replace

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
        stored = (self._made_later, self._renamed, self._coalesced, self._updated, self._forwarded)
        for ways in (stored, (*stored, self._inlined)):  # what becomes of a next state is asked when there is one
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
            beside = beside and reads_beside(reader, made)
            places += found
        next_state = bool(buffers_written(block[at[-1]]) & reads)  # whose values are all computed before it is stored
        if beside and not next_state and reads:
            return None
        if places > 1 and (places > _PLACES or not is_cheap(made.value)):
            return None
        for x in walk(block[first + 1 : at[-1]]):
            if buffers_written(x) & reads or any(_makes(x, r) for r in reads) or scalars_set(x) & scalars:
                return None

        out = list(block)
        for k in at:
            reader = out[k]
            assert isinstance(reader, _READERS)
            for name in reads - touched(reader):
                self.touched[name] += 1
            out[k] = replace(reader, value=b.map_expr(reader.value, computed(made)))
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


def _behind(block: Sequence[n.Stmt], first: int) -> range:
    """The places of the statements near behind one."""
    return range(first + 1, min(first + 1 + _NEAR, len(block)))
