"""What loops look like: nests, searches, and whether an iteration is worth sharing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Load, Var
from transkern.ir.storage import itemsize
from transkern.ir.traverse import bodies, exprs, is_in_order, map_block, variables_read, walk
from transkern.targets.cuda.launches import BLOCK_THREADS

SMALL = 32
"""An inner loop with a constant extent up to this is a thread's own."""


def has_parallel(s: n.Stmt) -> bool:
    """Whether there is something in the statement that threads can share."""
    return any(
        isinstance(x, (n.Compact, n.Scanning)) or (isinstance(x, n.Loop) and x.kind == "parallel") for x in walk((s,))
    )


def is_for_a_block(s: n.Stmt) -> bool:
    """Whether a loop in order has passes of known lengths alone, for which the threads of one block are enough."""
    if not is_in_order(s) or any(isinstance(x, (n.Compact, n.Scanning, n.Guard, n.Return)) for x in walk((s,))):
        return False
    shared = [x for x in walk((s,)) if isinstance(x, n.Loop) and x.kind == "parallel"]
    extents = [b.difference(x.stop, x.start) for x in shared]
    return bool(shared) and all(e is not None and e <= BLOCK_THREADS for e in extents)


def steps_between_barriers(kernel: n.Kernel) -> int:
    """How many steps of the kernel's loops in order a block takes without the others: the fewest of what one block
    settles."""
    found = [s for s in kernel.body if is_in_order(s) and has_parallel(s)]
    blocks = [
        b.constant(s.step) or 1 if isinstance(s, n.Loop) and any(map(is_for_a_block, s.body)) else 1 for s in found
    ]
    return min(blocks, default=1)


def bytes_touched(program: n.Program, kernel: n.Kernel) -> int:
    """The most bytes that a point of the innermost loops asks memory for, less what its neighbour asks for, too."""
    most = 0
    for s in walk(kernel.body):
        if not (isinstance(s, n.Loop) and s.kind == "parallel") or any(map(has_parallel, s.body)):
            continue
        loads = {(e.buffer, e.index) for e in exprs(s.body) if isinstance(e, Load)}
        stores = {(x.buffer, x.index) for x in walk(s.body) if isinstance(x, n.Store)}
        moving = [buffer for buffer, index in (*loads, *stores) if any(s.axis in variables_read(e) for e in index)]
        most = max(most, sum(itemsize(program.buffers[buffer].dtype) for buffer in moving))
    return most


def one_loop(kernel: n.Kernel) -> n.Loop | None:
    """The parallel loop that is all the kernel's work, so that no block has to wait for another."""
    loops = [s for s in kernel.body if isinstance(s, n.Loop)]
    if len(loops) != 1 or loops[0].kind != "parallel":
        return None
    at = kernel.body.index(loops[0])
    before, after = kernel.body[:at], kernel.body[at + 1 :]
    # Only the block that ends last may store, once the others have combined what they found.
    combines = any(isinstance(s, n.Accumulator) for s in before)
    plain = all(isinstance(s, (n.Let, n.Assign, n.Accumulator)) for s in before) and all(
        isinstance(s, (n.Let, n.Assign)) or (combines and isinstance(s, n.Store)) for s in after
    )
    return loops[0] if plain else None


def own(statements: Iterable[n.Stmt]) -> Iterator[n.Stmt]:
    """The statements of a block and of the branches in it, not those of the loops in it."""
    for s in statements:
        yield s
        if isinstance(s, n.If):
            yield from own((*s.then, *s.orelse))


def shared(statements: Iterable[n.Stmt]) -> Iterator[n.Loop | n.Scanning]:
    """The outermost loops that threads which run these statements together share."""
    for s in statements:
        if isinstance(s, n.Scanning) or (isinstance(s, n.Loop) and s.kind == "parallel"):
            yield s
        else:
            for body in bodies(s):
                yield from shared(body)


def nest(s: n.Loop) -> tuple[list[n.Loop], tuple[n.Stmt, ...]]:
    """The perfect nest of parallel loops that `s` opens, and what is inside."""
    axes, body = [s], s.body
    while len(body) == 1 and isinstance(body[0], n.Loop) and body[0].kind == "parallel":
        inner = body[0]
        names = {a.axis for a in axes}
        if (variables_read(inner.start) | variables_read(inner.stop) | variables_read(inner.step)) & names:
            break
        axes.append(inner)
        body = inner.body
    return axes, body


def single(s: n.Loop) -> tuple[n.Stmt, ...]:
    """What the one iteration of a loop shares between threads, where it has one and does nothing else; else nothing."""
    loops = all(isinstance(x, n.Loop) and x.kind == "parallel" for x in s.body)
    if s.step != b.ONE or b.difference(s.stop, s.start) != 1 or not loops:
        return ()
    return map_block(s.body, lambda e: s.start if e == Var(s.axis, "index") else None)


def search(s: n.Loop) -> n.Accumulate | None:
    """The search, where all a loop does is look for the first or last position."""
    found = [x for x in s.body if isinstance(x, n.Accumulate)]
    rest = [x for x in s.body if not isinstance(x, (n.Accumulate, n.Let))]
    if len(found) == 1 and not rest and found[0].op in ("first", "last") and s.step == b.ONE:
        if found[0].position == Var(s.axis, "index"):
            return found[0]
    return None


def rows_for_warps(s: n.Loop) -> bool:
    """Whether an iteration holds a loop that is worth sharing: long, and along the last dimension of what it reads."""
    _, body = nest(s)
    if any(isinstance(x, (n.Guard, n.Compact, n.Break, n.Continue, n.Alloc)) for x in walk(body)):
        return False
    shared = [x for x in body if isinstance(x, n.Scanning) or (isinstance(x, n.Loop) and x.kind == "parallel")]
    return any(is_long(x) and runs_along_rows(x) for x in shared) and not any(
        isinstance(x, n.Loop) and x.kind == "sequential" for x in body
    )


def goes_on(statements: Iterable[n.Stmt]) -> bool:
    """Whether an iteration has a loop in order of more than a few steps: then a device has too little to do where there
    are few of them, and they had better not share a multiprocessor."""
    for s in walk(tuple(statements)):
        if isinstance(s, n.While):
            return True
        if isinstance(s, n.Scanning) or (isinstance(s, n.Loop) and s.kind == "sequential"):
            extent = b.constant(s.stop if isinstance(s, n.Scanning) else b.sub(s.stop, s.start))
            if extent is None or abs(extent) > SMALL:
                return True
    return False


def is_long(s: n.Loop | n.Scanning) -> bool:
    """Whether the loop, with those that stand right in it, may have more than a few points."""
    extents = [s.stop] if isinstance(s, n.Scanning) else [b.sub(a.stop, a.start) for a in nest(s)[0]]
    extent = b.constant(b.product(tuple(extents)))
    return extent is None or extent > SMALL


def runs_along_rows(s: n.Loop | n.Scanning, shares: bool = False) -> bool:
    """Whether neighbours in the loop, with those that stand right in it, touch neighbours in memory, more often than
    not. In a nest they are those of its last loop, if it goes over whole rows: a window of several lines that moves
    with the element is a thread's own.

    Where points could share their loops otherwise (`shares`), it is asked of places, each once, and those whose last
    subscript moves with the points (``a[i, k] * b[k, j]``, ``table[idx[i, k], j]``) decide where there are as many of
    both: neighbouring points touch neighbours there, and all of them read the same ``a[i, k]``."""
    along, across, with_points = 0, 0, False
    axes = [s.axis] if isinstance(s, n.Scanning) else [a.axis for a in nest(s)[0]]
    stored = [(x.buffer, x.index) for x in walk((s,)) if isinstance(x, (n.Store, n.Scanning))]
    loaded = [(e.buffer, e.index) for e in exprs((s,)) if isinstance(e, Load)]
    for _, index in dict.fromkeys(stored + loaded) if shares else stored + loaded:
        names = [variables_read(e) for e in index]
        if not any(x & {*axes} for x in names):
            continue
        if axes[-1] in names[-1] and (len(axes) == 1 or not any(x & {*axes} and x - {*axes} for x in names)):
            along += 1
        else:
            across += 1
            with_points |= bool(names[-1]) and not names[-1] & {*axes}
    return along > across or (along == across and not (shares and with_points))
