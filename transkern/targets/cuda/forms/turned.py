"""Elementwise kernels that read an array along one axis and store along another, by tiles of 32 x 32 elements.

A block loads a tile of what is read the other way, row by row, into shared memory, and its threads then go along the
rows that they store: both in requests of neighbours, where one of them touches a sector for each lane. Arrays of which
one of the two axes is short go point by point, as others do.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Expr, Load, Var
from transkern.ir.storage import itemsize
from transkern.ir.traverse import buffers_read, map_statement, scalars_set, variables_read
from transkern.targets.clike import ident
from transkern.targets.cuda.body import Body, Unit, places_of
from transkern.targets.cuda.forms.flat import Nest, is_inside, loads_of, nest_of
from transkern.targets.cuda.launches import FIRST, STEP, THREADS, KernelText, Launch
from transkern.targets.cuda.nests import nest
from transkern.targets.cuda.parameters import parameters
from transkern.targets.cuda.spelling import TYPES
from transkern.targets.wrapping import wrapped

_TILE = 32
"""Rows and columns of a tile: a row is a request of a warp."""
_SHORT = 16
"""Along an axis of fewer elements a tile would be empty for the most part."""
_ROWS = THREADS // _TILE
"""Rows of a tile that a block has a warp for."""
_TILES = 4
"""Of a kernel, at most: four of 8 bytes an element take 34 KB of shared memory, and a multiprocessor has room for six
blocks."""


@dataclass(frozen=True, slots=True)
class _Turning:
    """The axes that change places: stores run `along` one, and `loads` along the other, `across`."""

    along: Var
    across: Var
    loads: tuple[Load, ...]


def kernel(unit: Unit, s: n.Kernel, opening: Sequence[str], full: n.Kernel) -> KernelText | None:
    """The kernel in this form, or None where nothing is to be turned; `opening` and `full` as for `flat.kernel`."""
    found = nest_of(s)
    turning = _turning(unit.program, found) if found is not None else None
    if found is None or turning is None:
        return None
    buffers, scalars, params = parameters(unit.program, full, shared=False)
    if opening:
        params.append("long long *error_records")
    body = Body(unit)
    for x in found.lets:
        body.statement(x)
    extents = dict(zip(found.axes, found.extents, strict=True))
    long = [f"{unit.c.operand(extents[v])} >= {_SHORT}" for v in (turning.across, turning.along)]
    body.source(s.body[-1])
    body.open(f"if ({' && '.join(long)})")
    _tiles(body, found, turning)
    body.close("} else {")
    body.depth += 1
    first, step = unit.local("thread"), unit.local("threads")
    body.line(f"const long long {first} = {FIRST}, {step} = {STEP};")
    loop = s.body[-1]
    assert isinstance(loop, n.Loop)
    body.open_nest(nest(loop)[0], first, step)
    body.nested(found.inner)
    body.close()
    body.close()
    name = ident(s.name)
    text = f'extern "C" __global__ void __launch_bounds__({THREADS}) {name}({wrapped(params)}) {{\n'
    text += "\n".join([*opening, *body.lines]) + "\n}\n"
    launch = Launch("elements", (b.product(found.extents),), _TILE * _TILE // THREADS)
    return KernelText(name, text, buffers, scalars, launch, errors=bool(opening))


def _tiles(body: Body, found: Nest, turning: _Turning) -> None:
    """A loop over tiles: loaded along `across`, then stored along `along`."""
    unit, c = body.unit, body.c
    extents = dict(zip(found.axes, found.extents, strict=True))
    lane, warp, tile = unit.local("lane"), unit.local("warp"), unit.local("tile")
    here: dict[Load, Var] = {}
    for load in turning.loads:
        staged = unit.local(f"{ident(load.buffer)}_tile{len(here) or ''}")
        wide = _TILE + max(1, 4 // itemsize(load.dtype))  # lanes that go down a column are in 32 banks
        body.line(f"__shared__ {TYPES[load.dtype]} {staged}[{_TILE}][{wide}];")
        here[load] = Var(staged, load.dtype)
    body.line(f"const int {lane} = threadIdx.x % {_TILE}, {warp} = threadIdx.x / {_TILE};")
    counts = [
        b.floordiv(b.add(e, b.index(_TILE - 1)), b.index(_TILE)) if v in (turning.along, turning.across) else e
        for v, e in extents.items()
    ]
    total = c.operand(b.product(tuple(counts)))
    body.open(f"for (long long {tile} = blockIdx.x; {tile} < {total}; {tile} += gridDim.x)")
    texts, places = places_of(unit, counts, tile)
    for text in texts:
        body.line(text)
    begins: dict[Var, str] = {}
    for v, at in zip(found.axes, places, strict=True):
        if v in (turning.along, turning.across):
            begins[v] = unit.local(f"{ident(v.name)}_begin")
            body.line(f"const long long {begins[v]} = {c.expr(b.mul(at, b.index(_TILE)))};")
        else:
            body.line(f"const long long {ident(v.name)} = {c.expr(at)};")
    k = unit.local("k")

    def rows(fast: Var, slow: Var) -> None:
        """Opens a loop over the rows of the tile along `fast`."""
        body.lines.append("#pragma unroll")
        body.open(f"for (int {k} = 0; {k} < {_TILE}; {k} += {_ROWS})")
        body.line(f"const long long {ident(fast.name)} = {begins[fast]} + {lane};")
        body.line(f"const long long {ident(slow.name)} = {begins[slow]} + {k} + {warp};")
        body.open(f"if ({' && '.join(f'{ident(v.name)} < {c.operand(extents[v])}' for v in (fast, slow))})")

    rows(turning.across, turning.along)
    for load, shared in here.items():
        body.line(f"{shared.name}[{k} + {warp}][{lane}] = {c.element(load.buffer, load.index)};")
    body.close()
    body.close()
    body.line("__syncthreads();")
    rows(turning.along, turning.across)
    turned = {load: Var(unit.local(f"{v.name}_here"), load.dtype) for load, v in here.items()}
    for load, v in turned.items():
        body.line(f"const {TYPES[v.dtype]} {v.name} = {here[load].name}[{lane}][{k} + {warp}];")
    body.nested([map_statement(x, lambda e: turned.get(e) if isinstance(e, Load) else None) for x in found.inner])
    body.close()
    body.close()
    body.line("__syncthreads();")  # the next tile takes the same memory
    body.close()


def _turning(program: n.Program, found: Nest) -> _Turning | None:
    stores = [s for s in found.inner if isinstance(s, n.Store)]
    inside = {name for x in found.inner for name in scalars_set(x)}
    written = {s.buffer for s in stores}
    if any(s.atomic or any(buffers_read(i) for i in s.index) for s in stores):
        return None
    ways = {_fastest(program, found, s.buffer, s.index) for s in stores}
    along = ways.pop() if len(ways) == 1 else None
    if along is None:
        return None
    loads: dict[Var, dict[Load, None]] = {}
    for load in _certain(program, found):
        if load.buffer in written or any(buffers_read(i) or variables_read(i) & inside for i in load.index):
            continue
        across = _fastest(program, found, load.buffer, load.index)
        if across is not None and across != along and any(along.name in variables_read(i) for i in load.index):
            loads.setdefault(across, {})[load] = None
    if len(loads) != 1:
        return None
    ((across, turned),) = loads.items()
    extents = dict(zip(found.axes, found.extents, strict=True))
    short = any((b.constant(extents[v]) or _SHORT) < _SHORT for v in (along, across))
    return None if short else _Turning(along, across, tuple(turned)[:_TILES])


def _certain(program: n.Program, found: Nest) -> Iterator[Load]:
    """The loads that may be made at each point."""
    for s in found.inner:
        for load, sure in loads_of(s):
            if sure or is_inside(program.buffers[load.buffer], load.index, found):
                yield load


def _fastest(program: n.Program, found: Nest, buffer: str, index: tuple[Expr, ...]) -> Var | None:
    """The axis along which an array is gone through element by element; None where there is none."""
    info = program.buffers[buffer]
    if info.layout != "C" or len(index) != len(info.dims) or not index:
        return None
    terms, _ = b.affine(index[-1])
    for v in found.axes:
        rest = [t for t in terms if t != v]
        elsewhere = [*index[:-1], *rest]
        if terms.get(v) == 1 and not any(v.name in variables_read(e) for e in elsewhere):
            return v
    return None
