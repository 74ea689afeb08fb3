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

from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Const, Expr, Load, Var
from transkern.ir.names import Names
from transkern.ir.traverse import exprs, map_block, variables_read, with_bodies
from transkern.records import replace

_MOST = 4
"""Elements that a loop has in variables on a device; a CPU's lanes have one."""


def carry_elements(program: n.Program) -> n.Program:
    """The program with last elements of rows in variables, in loops in order."""
    return _carrying(program, False)


def carry_elements_for_cuda(program: n.Program) -> n.Program:
    """The program with the last elements in variables, of columns as well: a loop that stands alone has its terms
    computed by a block then, and what each thread reads again of memory it waits for."""
    return _carrying(program, True)


def _carrying(program: n.Program, everywhere: bool) -> n.Program:
    names, variables = Names.of(program), dict(program.variables)

    def block(statements: tuple[n.Stmt, ...]) -> tuple[n.Stmt, ...]:
        out: list[n.Stmt] = []
        for s in statements:
            s = with_bodies(s, block)
            found = _store(s, everywhere) if isinstance(s, n.Loop) else None
            out += _carried(s, *found, names, variables) if isinstance(s, n.Loop) and found is not None else (s,)
        return tuple(out)

    body = block(program.body)
    return program if body == program.body else replace(program, body=body, variables=variables)


def _store(s: n.Loop, everywhere: bool) -> tuple[n.Store, int] | None:
    """The only store of a loop along a row (`everywhere`: along any axis), if all that it reads of the array are the
    element before, or a few; and how far the furthest is."""
    most = _MOST if everywhere else 1
    if not s.body:
        return None
    *lets, store = s.body
    if s.kind != "sequential" or s.step != b.ONE or not isinstance(store, n.Store) or not store.index:
        return None
    along = [k for k, i in enumerate(store.index) if s.axis in variables_read(i)]
    if len(along) != 1 or not (everywhere or along[0] == len(store.index) - 1):
        return None
    terms, _ = b.affine(store.index[along[0]])
    others = {name for e in terms if not isinstance(e, Var) for name in variables_read(e)}
    if terms.get(Var(s.axis, "index")) != 1 or s.axis in others:
        return None
    named = {x.name for x in lets if isinstance(x, n.Let)}
    if len(named) < len(lets) or named & set[str]().union(*map(variables_read, store.index)):
        return None
    read = {e for e in exprs(s.body) if isinstance(e, Load) and e.buffer == store.buffer}
    before = [_before(store, s.axis, _back(s.axis, k + 1)) for k in range(most)]
    if not read or not read <= {*before}:
        return None
    return store, 1 + max(before.index(e) for e in read)


def _back(axis: str, steps: int) -> Expr:
    return b.sub(Var(axis, "index"), b.index(steps))


def _before(store: n.Store, axis: str, at: Expr) -> Load:
    """The element that is stored into in the iteration `at`."""
    index = tuple(b.substitute(i, {axis: at}) for i in store.index)
    return Load(store.buffer, index, store.value.dtype)


def _carried(s: n.Loop, store: n.Store, count: int, names: Names, variables: dict[str, str]) -> tuple[n.Stmt, ...]:
    """The loop with the last `count` elements in variables, the latest in the first of them."""
    dtype = store.value.dtype
    last = [names.fresh(f"{store.buffer}_last") for _ in range(count)]
    made = names.fresh(store.buffer)
    variables |= dict.fromkeys(last, dtype)
    there, zero = b.compare("less", s.start, s.stop), b.cast(Const(0, "int64"), dtype)
    held: dict[Expr, Expr] = {}
    begin: list[n.Stmt] = []
    for k, name in enumerate(last):
        held[_before(store, s.axis, _back(s.axis, k + 1))] = Var(name, dtype)
        first = _before(store, s.axis, b.sub(s.start, b.index(k + 1)))
        begin.append(n.Assign(name, b.where(there, first, zero), span=s.span))
    lets = map_block(s.body, held.get)
    value = lets[-1]
    assert isinstance(value, n.Store)
    moved = [n.Assign(last[k], Var(last[k - 1], dtype), span=store.span) for k in range(count - 1, 0, -1)]
    body = (
        *lets[:-1],
        n.Let(made, value.value, span=store.span),
        replace(value, value=Var(made, dtype)),
        *moved,
        n.Assign(last[0], Var(made, dtype), span=store.span),
    )
    return *begin, replace(s, body=body)
