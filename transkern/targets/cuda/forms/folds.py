"""Sums in order whose terms a block computes side by side.

    for (i = 0; i < k; ++i)                  for (base = 0; base < k; base += 1024) {
        total = total + r[k - i] * y[i];         terms[base + rank] = r[k - (base + rank)] * y[base + rank];
                                     to          sync();
                                                 if (warp 0) for (i < 1024) total = total + terms[i];
                                             }
                                             total = the value that thread 0 has

What an iteration needs of the ones before is one operation on variables; all else is loaded and computed by as many
threads as there are, while the first warp takes the terms before in their order: the same bits as one thread alone,
which would wait for each load, or as all of them doing the same.

A loop that also stores what it comes to (`y[t] = a * x[t] + c * y[t - 1]`, the last element in a variable) puts these
values beside the terms, and the other warps bring them to memory while the first one goes on.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Apply, Const, Expr, Load, Var
from transkern.ir.storage import itemsize
from transkern.ir.traverse import buffers_read, exprs, map_statement, own_exprs, variables_read, walk, walk_expr
from transkern.records import replace
from transkern.targets.clike import ident
from transkern.targets.cuda.barriers import Spread, within
from transkern.targets.cuda.nests import SMALL
from transkern.targets.cuda.spelling import TYPES

if TYPE_CHECKING:
    from transkern.targets.cuda.group import GroupBody

_BYTES = 40_960
"""Of shared memory for the terms of all loops of a kernel: a block has 48 KiB that need not be asked for."""
_TOGETHER = 1024
"""Terms at a time, where there is room for them."""
_CHOOSING = ("where", "and_then", "or_else")
"""Operations that compute only one of their operands."""


@dataclass(frozen=True, slots=True)
class Fold:
    """A loop's `lets`, which are those of each iteration alone, the `terms` by the names that the `steps` have for
    them, the steps themselves, which set the variables `names`, and what is `stored`, by the names of its values."""

    lets: tuple[n.Stmt, ...]
    terms: tuple[tuple[Var, Expr], ...]
    steps: tuple[n.Stmt, ...]
    names: tuple[str, ...]
    stored: tuple[tuple[Var, n.Store], ...] = ()

    @property
    def bytes(self) -> int:
        return sum(max(1, itemsize(v.dtype)) for v, _ in (*self.terms, *self.stored))


def fold_of(s: n.Stmt) -> Fold | None:
    """The loop as terms and what combines them in order; None where it is anything else."""
    if not isinstance(s, n.Loop):
        return None
    s = replace(s, body=_without_branches(s.body, s.axis))
    return _taken_apart(s) if all(isinstance(x, (n.Let, n.Assign)) for x in s.body) else None


def run_of(s: n.Stmt) -> Fold | None:
    """The same of a loop that also stores, into elements that no other iteration touches."""
    if not isinstance(s, n.Loop):
        return None
    s = replace(s, body=_without_branches(s.body, s.axis))
    if not all(isinstance(x, (n.Let, n.Assign, n.Store)) for x in s.body):
        return None
    stores = [x for x in s.body if isinstance(x, n.Store)]
    bound = {x.name for x in s.body if isinstance(x, (n.Let, n.Assign))}
    places = {x.buffer: x.index for x in stores}
    if not stores or len(places) < len(stores) or not any(isinstance(x, n.Assign) for x in s.body):
        return None
    for x in stores:
        along = [k for k, e in enumerate(x.index) if b.affine(e)[0].get(Var(s.axis, "index"))]
        if x.atomic or any(variables_read(e) & bound or buffers_read(e) for e in x.index) or len(along) != 1:
            return None
        if any(s.axis in variables_read(e) for k, e in enumerate(x.index) if k not in along):
            return None
        (terms, _) = b.affine(x.index[along[0]])
        if any(s.axis in variables_read(e) for e in terms if e != Var(s.axis, "index")):
            return None
    loads = (e for e in exprs(s.body) if isinstance(e, Load) and e.buffer in places)
    behind = {name for k, x in enumerate(s.body) for name in buffers_read_behind(s.body[k:], x)}
    if behind or any(e.index != places[e.buffer] for e in loads):
        return None
    return _taken_apart(s)


def _without_branches(body: tuple[n.Stmt, ...], axis: str) -> tuple[n.Stmt, ...]:
    """The statements with choices of values for branches that only set variables."""
    out: list[n.Stmt] = []
    for k, s in enumerate(body):
        if not isinstance(s, n.If) or any(not isinstance(x, (n.Let, n.Assign)) for x in (*s.then, *s.orelse)):
            out.append(s)
            continue
        then, other = _set(s.then), _set(s.orelse)
        chosen = {
            name: b.where(s.condition, then.get(name, held), other.get(name, held))
            for name, held in _held((*s.then, *s.orelse)).items()
        }
        lets = {name: f"{ident(axis)}_{ident(name)}{k}" for name in chosen}
        out += [n.Let(lets[name], value, span=s.span) for name, value in chosen.items()]
        out += [n.Assign(name, Var(lets[name], value.dtype), span=s.span) for name, value in chosen.items()]
    return tuple(out)


def _held(statements: Iterable[n.Stmt]) -> dict[str, Expr]:
    return {s.name: Var(s.name, s.value.dtype) for s in statements if isinstance(s, n.Assign)}


def _set(statements: Iterable[n.Stmt]) -> dict[str, Expr]:
    """What statements set variables to, of what these were before."""
    found: dict[str, Expr] = {}
    for s in statements:
        assert isinstance(s, (n.Let, n.Assign))
        found[s.name] = b.substitute(s.value, found)
    return found


def buffers_read_behind(rest: Iterable[n.Stmt], s: n.Stmt) -> set[str]:
    """The buffer of a store that statements behind it in the iteration read."""
    if not isinstance(s, n.Store):
        return set()
    return {s.buffer} & {name for x in rest if x is not s for e in own_exprs(x) for name in buffers_read(e)}


def _taken_apart(s: n.Stmt) -> Fold | None:
    if not isinstance(s, n.Loop) or s.kind != "sequential" or b.constant(s.step) != 1:
        return None
    extent = b.constant(b.sub(s.stop, s.start))
    if extent is not None and extent <= SMALL:
        return None
    names = tuple(dict.fromkeys(x.name for x in s.body if isinstance(x, n.Assign)))
    own = {*names}
    lets: list[n.Let] = []
    steps: list[n.Stmt] = []
    stored: list[tuple[Var, n.Store]] = []
    for x in s.body:
        assert isinstance(x, (n.Let, n.Assign, n.Store))
        if isinstance(x, n.Store):
            value = Var(f"{ident(s.axis)}_value{len(stored)}", x.value.dtype)
            stored.append((value, x))
            steps.append(n.Let(value.name, x.value, span=x.span))
        elif isinstance(x, n.Let) and not variables_read(x.value) & own:
            lets.append(x)
        else:
            own.add(x.name)
            steps.append(x)
    mine = {s.axis, *(x.name for x in lets)}
    terms: dict[Expr, Var] = {}

    def term(e: Expr) -> Expr | None:
        """A part of a value that the iterations before have no part in."""
        if isinstance(e, Const) or (isinstance(e, Var) and e.name not in mine):
            return e
        if not variables_read(e) & own:
            return terms.setdefault(e, Var(f"{ident(s.axis)}_term{len(terms)}", e.dtype))
        if isinstance(e, Apply) and e.op == "where" and not variables_read(e.args[0]) & own:
            first, one, two = e.args
            within = (b.map_expr(one, under(first)), b.map_expr(two, under(b.logical_not(first))))
            return Apply("where", (b.map_expr(first, term), *within), e.dtype)
        if isinstance(e, Apply) and e.op in _CHOOSING:
            first, *others = e.args
            return Apply(e.op, (b.map_expr(first, term), *(b.map_expr(x, name) for x in others)), e.dtype)
        return None

    def under(condition: Expr) -> Callable[[Expr], Expr | None]:
        """The same of a value that is computed where a condition holds in which the iterations before have no part."""

        def chosen(e: Expr) -> Expr | None:
            if isinstance(e, (Const, Var)):
                return term(e)
            if not variables_read(e) & own:
                made = b.where(condition, e, b.cast(Const(0, "int64"), e.dtype)) if e.dtype != "bool" else e
                return term(made) if e.dtype != "bool" else None
            return e if isinstance(e, Apply) and e.op in _CHOOSING else None

        return chosen

    def name(e: Expr) -> Expr | None:
        """A name in what may not be computed, as a term, or what is one: these are known in any case."""
        return term(e) if isinstance(e, Var) else terms.get(e)

    steps = [map_statement(x, term) for x in steps]
    left = {name for x in steps for e in exprs((x,)) for name in variables_read(e)} & mine
    given = [*(e for x in lets for e in own_exprs(x)), *terms]
    if left or not terms or not any(isinstance(p, Load) for e in given for p in walk_expr(e)):
        return None
    found = Fold(tuple(lets), tuple((v, e) for e, v in terms.items()), tuple(steps), names, tuple(stored))
    return found if 4 * 64 * found.bytes <= _BYTES else None


def has_fold(s: n.Stmt) -> bool:
    """Whether a loop in order has such loops inside, and nothing that one thread had better do alone."""
    inner = [x for x in walk((s,)) if x is not s]
    if any(isinstance(x, (n.While, n.Compact, n.Scanning, n.Library, n.Alloc)) for x in inner):
        return False
    return isinstance(s, n.Loop) and any(fold_of(x) is not None for x in inner) and not _stores_alone(s)


def _stores_alone(s: n.Stmt) -> bool:
    """Whether there is a loop inside that stores, and has no other one inside: a barrier each would cost more."""
    return any(
        isinstance(x, n.Loop) and any(isinstance(y, n.Store) for y in walk(x.body)) and not _loops(x.body)
        for x in walk((s,))
    )


def _loops(statements: Iterable[n.Stmt]) -> bool:
    return any(isinstance(x, n.Loop) for x in walk(tuple(statements)))


def _room(kernel: n.Kernel) -> int:
    """The bytes of each loop of a kernel whose terms a block computes. Each is there twice: for a block and a grid."""
    return _BYTES // (2 * max(1, sum(isinstance(x, n.Loop) and fold_of(x) is not None for x in walk(kernel.body))))


def print_fold(of: GroupBody, s: n.Loop, fold: Fold, in_order: Callable[[], None]) -> None:
    """The loop by the first block of the group, and by each thread for itself where it is short; all threads know the
    result."""
    unit, i = of.unit, ident(s.axis)
    unit.pieces |= {"reduce", "fold"}
    together, room = _TOGETHER, _room(of.kernel)
    while 2 * together * fold.bytes > room and together > 32:
        together //= 2
    spread = Spread(("",), aligned=False)
    of.touch(within((s,), of.program.buffers, of.written, spread) | of.reads(s.start, s.stop))
    of.source(s)
    stop, base, turn, k, count = (unit.local(x) for x in ("fold_stop", "fold_base", "fold_turn", "k", "fold_count"))
    before = set(of.pending)
    length = of.c.expr(b.sub(s.stop, s.start))
    if fold.stored:
        of.open("")  # the names below are its own
    else:
        of.open(f"if ({length} <= {SMALL})")
        in_order()
        of.close("} else {")
        of.depth += 1
    arrays = {v: unit.local(f"terms{j}") for j, (v, _) in enumerate(fold.terms)}
    values = {v: unit.local(f"values{j}") for j, (v, _) in enumerate(fold.stored)}
    for v, name in (*arrays.items(), *values.items()):
        of.line(f"__shared__ {TYPES[v.dtype]} {name}[2][{together}];")
    of.line(f"const long long {stop} = {of.c.expr(s.stop)};")
    of.line(f"int {turn} = 0;")
    first, begin = of.c.expr(s.start), unit.local("fold_begin")
    of.open(f"if ({of.group}.leads())")
    if fold.stored:
        of.line(f"const long long {begin} = {first};")
        of.line(f"long long {base} = {begin};")
    begins = "" if fold.stored else f"long long {base} = {first}"
    of.open(f"for ({begins}; {base} < {stop}; {base} += {together}, {turn} ^= 1)")
    of.line(f"const int {count} = {stop} - {base} < {together} ? (int)({stop} - {base}) : {together};")
    of.open(f"for (int {k} = threadIdx.x; {k} < {count}; {k} += blockDim.x)")
    of.line(f"const long long {i} = {base} + {k};")
    inner = of.thread_body()
    inner.nested(fold.lets)
    of.take(inner)
    for v, e in fold.terms:
        of.line(f"{arrays[v]}[{turn}][{k}] = {of.c.expr(e)};")
    of.close()
    of.line("__syncthreads();")
    of.open("if (threadIdx.x < 32)")
    of.lines.append("#pragma unroll 8")
    of.open(f"for (int {k} = 0; {k} < {count}; ++{k})")
    for v, name in arrays.items():
        of.line(f"const {TYPES[v.dtype]} {ident(v.name)} = {name}[{turn}][{k}];")
    inner = of.thread_body()
    inner.held = of.held
    inner.nested(fold.steps)
    of.take(inner)
    for v, name in values.items():
        of.line(f"if (threadIdx.x == 0) {name}[{turn}][{k}] = {ident(v.name)};")
    of.close()
    of.close()

    def put(start: str, end: str, step: str) -> None:
        """The values of the part before to where they are stored."""
        of.open(f"for (int {k} = {start}; {k} < {end}; {k} += {step})")
        of.line(f"const long long {i} = {base} - {together} + {k};")
        for v, x in fold.stored:
            of.line(f"{of.c.element(x.buffer, x.index)} = {values[v]}[{turn} ^ 1][{k}];")
        of.close()

    if fold.stored:
        alone = "blockDim.x == 32"  # a block of one warp does both
        of.open(f"if ({base} > {begin} && (threadIdx.x >= 32 || {alone}))")
        put(f"{alone} ? threadIdx.x : threadIdx.x - 32", str(together), f"{alone} ? 32 : blockDim.x - 32")
        of.close()
    of.close()
    if fold.stored:
        of.line("__syncthreads();")
        of.open(f"if ({base} > {begin})")
        put("threadIdx.x", f"{stop} - {base} + {together}", "blockDim.x")
        of.close()
    of.close()
    read = Counter(e.name for e in exprs((of.kernel,)) if isinstance(e, Var))
    read.subtract(e.name for e in exprs((s,)) if isinstance(e, Var))
    for name in (name for name in fold.names if not fold.stored or read[name] > 0):
        of.line(f"{ident(name)} = {of.group}.from({ident(name)}, 0);")
    of.close()
    of.meets = True
    of.pending |= before
