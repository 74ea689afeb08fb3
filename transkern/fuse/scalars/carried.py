"""An element that the next iteration of a loop in order reads stays in a variable:

    parallel i in 0 .. n:                            parallel i in 0 .. n:
        for j in 1 .. m:                                 last := y[i, 0], if there are iterations
            y[i, j] = y[i, j - 1] + x[i, j]   to         for j in 1 .. m:
                                                             let made = last + x[i, j];  y[i, j] = made
                                                             last := made

Rows whose elements follow from each other then go in lanes, as those do that were written with a variable
(`block_lanes`): what a lane reads again from memory it waits for. Columns lie side by side and are read as fast on a
CPU; a thread of a GPU waits for its column's elements, too. A loop that stands alone reads its last element under a
condition otherwise (``k[i] = k[i - 1] + 1 if x[i] > 0 else 0``), which a compiler then leaves a branch.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet

from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Const, Expr, Load, Var
from transkern.ir.names import Names
from transkern.ir.traverse import exprs, map_statement, upward, variables_read, with_bodies
from transkern.records import replace

_MOST = 4
"""Elements of an array that a loop has in variables on a device; a CPU's lanes have one."""


def carry_elements(program: n.Program) -> n.Program:
    """The program with last elements of rows in variables, in loops in order."""
    return _carrying(program, False)


def carry_elements_for_cuda(program: n.Program) -> n.Program:
    """The program with the last elements in variables, of columns as well, of several arrays, and of loops that go
    down: a loop that stands alone has its terms computed by a block then, and what each thread reads again of memory
    it waits for."""
    return _carrying(program, True)


def _carrying(program: n.Program, everywhere: bool) -> n.Program:
    names, variables = Names.of(program), dict(program.variables)

    def block(statements: tuple[n.Stmt, ...]) -> tuple[n.Stmt, ...]:
        out: list[n.Stmt] = []
        for s in statements:
            s = with_bodies(s, block)
            found = _found(s, everywhere) if isinstance(s, n.Loop) and s.kind == "sequential" and s.body else None
            out += (s,) if found is None else _carried(*found, program, names, variables)
        return tuple(out)

    body = block(program.body)
    return program if body == program.body else replace(program, body=body, variables=variables)


def _found(s: n.Loop, everywhere: bool) -> tuple[n.Loop, dict[n.Store, int]] | None:
    """The loop, which goes up, and the stores whose last elements it can have in variables, with how many of them.
    On a CPU it has one store, at its end; `everywhere`: a few, along any axis, and the loop may have gone down."""
    if everywhere and b.constant(s.step) == -1:
        s = upward(s)
    named = {x.name for x in s.body if isinstance(x, n.Let)}
    stores = [x for x in s.body if isinstance(x, n.Store)]
    if s.step != b.ONE or len(named) + len(stores) < len(s.body) or not stores:
        return None
    if not everywhere and (len(stores) > 1 or s.body[-1] is not stores[0]):
        return None
    several = {x.buffer for k, x in enumerate(stores) if any(y.buffer == x.buffer for y in stores[:k])}
    counts = {x: _count(x, s, named, everywhere) for x in stores if x.buffer not in several and not x.atomic}
    found = {x: count for x, count in counts.items() if count}
    return (s, found) if found else None


def _count(store: n.Store, s: n.Loop, named: AbstractSet[str], everywhere: bool) -> int:
    """How many elements before the one that is stored are read, if those are all that the loop reads of the array
    (`everywhere`: beside that one), and it goes along one axis (a row, or `everywhere` any)."""
    along = [k for k, i in enumerate(store.index) if s.axis in variables_read(i)]
    if len(along) != 1 or not (everywhere or along[0] == len(store.index) - 1):
        return 0
    terms, _ = b.affine(store.index[along[0]])
    others = {name for e in terms if not isinstance(e, Var) for name in variables_read(e)}
    steps = terms.get(Var(s.axis, "index"))
    if not (steps == 1 or (everywhere and steps == -1)) or s.axis in others:
        return 0
    if named & set[str]().union(*map(variables_read, store.index)):
        return 0
    read = {e for e in exprs(s.body) if isinstance(e, Load) and e.buffer == store.buffer}
    if everywhere:  # what the element was before, which may be loaded ahead, or is now
        read -= {_before(store, s.axis, Var(s.axis, "index"))}
    before = [_before(store, s.axis, _back(s.axis, k + 1)) for k in range(_MOST if everywhere else 1)]
    return 1 + max(before.index(e) for e in read) if read and read <= {*before} else 0


def _back(axis: str, steps: int) -> Expr:
    return b.sub(Var(axis, "index"), b.index(steps))


def _before(store: n.Store, axis: str, at: Expr) -> Load:
    """The element that is stored into in the iteration `at`."""
    index = tuple(b.substitute(i, {axis: at}) for i in store.index)
    return Load(store.buffer, index, store.value.dtype)


def _carried(
    s: n.Loop, counts: Mapping[n.Store, int], program: n.Program, names: Names, variables: dict[str, str]
) -> tuple[n.Stmt, ...]:  # fmt: skip
    """The loop with the last elements in variables, the latest of an array in the first of its own."""
    held: dict[Expr, Expr] = {}
    begin: list[n.Stmt] = []
    kept: dict[str, tuple[list[str], str]] = {}
    for store, count in counts.items():
        dtype = store.value.dtype
        last = [names.fresh(f"{store.buffer}_last") for _ in range(count)]
        kept[store.buffer] = last, names.fresh(store.buffer)
        variables |= dict.fromkeys(last, dtype)
        for k, name in enumerate(last):
            held[_before(store, s.axis, _back(s.axis, k + 1))] = Var(name, dtype)
            first = _before(store, s.axis, b.sub(s.start, b.index(k + 1)))
            there = _is_there(store, first, s, program.buffers[store.buffer].dims)
            begin.append(n.Assign(name, b.where(there, first, b.cast(Const(0, "int64"), dtype)), span=s.span))
    body: list[n.Stmt] = []
    moved: list[n.Stmt] = []
    for x in s.body:
        place = _before(x, s.axis, Var(s.axis, "index")) if isinstance(x, n.Store) else None
        x = map_statement(x, held.get)
        if not isinstance(x, n.Store) or place is None or x.buffer not in kept:
            body.append(x)
            continue
        (last, made), dtype = kept[x.buffer], x.value.dtype
        held[place] = Var(made, dtype)  # behind it
        body += [n.Let(made, x.value, span=x.span), replace(x, value=Var(made, dtype))]
        later = [made, *last]
        moved += [n.Assign(last[k], Var(later[k], dtype), span=x.span) for k in range(len(last) - 1, -1, -1)]
    return *begin, replace(s, body=(*body, *moved))


def _is_there(store: n.Store, first: Load, s: n.Loop, dims: Sequence[Expr]) -> Expr:
    """Whether an element before all iterations is there: there are iterations, whose own elements are, and, as the
    first of them may not read it after all (`y[i - 1] if i > 0 else 0`), it does not lie before or behind the array."""
    found = b.compare("less", s.start, s.stop)
    for e, at, d in zip(store.index, first.index, dims, strict=False):
        match b.affine(e)[0].get(Var(s.axis, "index")):
            case 1 if not b.is_nonnegative(at):
                return b.both(found, b.compare("greater_equal", at, b.ZERO))
            case -1 if (b.difference(d, at) or 0) <= 0:
                return b.both(found, b.compare("less", at, d))
            case _:
                pass
    return found
