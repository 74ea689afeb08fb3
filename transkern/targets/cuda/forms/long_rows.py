"""Rows that go in order have a thread each where there are many, and a block each where there are few long ones:

    kernel f on grid:                  if rows <= 1024 and length >= 256:
        parallel i in 0 .. rows:           kernel f_1 on rows: …
            for j in 1 .. length: …  to    else: kernel f on grid: …

- *Property.* An iteration of a parallel loop has loops in order whose steps need no more than variables of the ones
  before (`folds.run_of`), and nothing else that takes long.
- *Legality.* The iterations of the parallel loop are the same ones, each with one block.
- *Schedule.* A thread waits for memory in each step, some 100 cycles, and its neighbours are in other rows. In a block
  all threads bring what the steps need, side by side, and one warp takes them, some 20 cycles each: worth it while
  there are no more rows than blocks at work.
"""

from __future__ import annotations

from transkern.fuse.lowering.copies import with_own_names
from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Expr, Load
from transkern.ir.names import Names
from transkern.ir.traverse import buffers_read, exprs, variables_read, walk, with_bodies
from transkern.records import replace
from transkern.targets.cuda.body import extent_of, has_guards
from transkern.targets.cuda.forms.folds import run_of
from transkern.targets.cuda.nests import nest

FEW, LONG = 1024, 256
_PLAIN = (n.Let, n.Assign, n.Store)


def share_long_rows(program: n.Program) -> n.Program:
    """The program with both kernels where only a call knows how many rows there are."""
    names, variables, buffers = Names.of(program), dict(program.variables), dict(program.buffers)
    for kernel in walk(program.body):
        if isinstance(kernel, n.Kernel):
            names.taken.add(kernel.name)
    given = {p.name for p in program.params if isinstance(p, n.ScalarParam)}

    def block(statements: tuple[n.Stmt, ...]) -> tuple[n.Stmt, ...]:
        return tuple(map(statement, statements))

    def statement(s: n.Stmt) -> n.Stmt:
        if not isinstance(s, n.Kernel):
            return with_bodies(s, block)
        condition = _few_and_long(s)
        if condition is None or not all(b.is_size_name(v) or v in given for v in variables_read(condition)):
            return s
        loop = s.body[0]
        assert isinstance(loop, n.Loop)
        private = {x.name for x in walk((loop,)) if isinstance(x, n.Assign)}
        own = with_own_names(loop, names, variables, buffers, private)
        shared = replace(s, name=names.fresh(s.name), body=(own,), placement="rows")
        return shared if condition == b.TRUE else n.If(condition, (shared,), (s,), span=s.span)

    body = block(program.body)
    return replace(program, body=body, variables=variables, buffers=buffers) if body != program.body else program


def _few_and_long(kernel: n.Kernel) -> Expr | None:
    """Whether such a kernel's rows are better shared by blocks; None where it is none."""
    if kernel.placement != "grid" or len(kernel.body) != 1 or not isinstance(kernel.body[0], n.Loop):
        return None
    loop = kernel.body[0]
    if loop.kind != "parallel" or has_guards(loop):
        return None
    axes, inner = nest(loop)
    runs = [s for s in inner if isinstance(s, n.Loop)]
    if not runs or any(run_of(s) is None for s in runs) or not all(isinstance(s, (*_PLAIN, n.Loop)) for s in inner):
        return None
    if not all(map(_along_rows, runs)):
        return None  # the threads of a block would each touch another row: of columns, neighbours stand side by side
    rows = b.product(tuple(map(extent_of, axes)))
    lengths = [b.sub(s.stop, s.start) for s in runs]
    if any(buffers_read(e) for e in (rows, *lengths)):
        return None
    few = b.compare("less_equal", rows, b.index(FEW))
    return b.both(few, b.compare("less_equal", b.index(LONG), lengths[0]))


def _along_rows(s: n.Loop) -> bool:
    """Whether the steps of a loop touch neighbours in memory, or what does not move with them."""
    places = [x.index for x in walk(s.body) if isinstance(x, n.Store)]
    places += [e.index for e in exprs(s.body) if isinstance(e, Load)]
    return not any(s.axis in variables_read(i) for index in places for i in index[:-1])
