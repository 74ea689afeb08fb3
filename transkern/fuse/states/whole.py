"""A list that has as many elements as it has room for is made where the caller gets it:

    temporary items[n]                          result items[n]
    for i < n: items[i] = …          to         for i < n: items[i] = …
    let size = n                                return items
    return items[: size]

``np.array([f(v) for v in x])`` has a count while it grows, and was cut to it in the end: a copy.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Expr
from transkern.ir.traverse import alone, buffers_read, is_longer, result_buffers, scalars_set, variables_read, walk
from transkern.records import replace

_PARTS = 32
"""Of a size, at most."""


def hand_out_whole(program: n.Program) -> n.Program:
    """The program whose temporaries that are handed out as a whole are results."""
    whole = _whole(program)
    if not whole:
        return program
    buffers = {k: replace(x, role="result") if k in whole else x for k, x in program.buffers.items()}

    def handed(r: n.Result) -> n.Result:
        match r:
            case n.ArrayResult(buffer) if buffer in whole:
                return replace(r, dims=buffers[buffer].dims)
            case n.TupleResult(items):
                return replace(r, items=tuple(map(handed, items)))
            case _:
                return r

    body = tuple(replace(s, result=handed(s.result)) if isinstance(s, n.Return) else s for s in program.body)
    return replace(program, body=body, buffers=buffers)


def _whole(program: n.Program) -> set[str]:
    """Temporaries made once, and handed out once, with all the elements that they have room for."""
    statements = list(walk(program.body))
    made = Counter(s.buffer for s in statements if isinstance(s, n.Alloc))
    times = Counter(name for s in statements for name in scalars_set(alone(s)))
    returned = Counter(name for s in statements if isinstance(s, n.Return) for name in result_buffers(s.result))
    top = {s.buffer for s in program.body if isinstance(s, n.Alloc)}
    known: dict[str, Expr] = {}
    whole: set[str] = set()
    for s in program.body:
        match s:
            case n.Let(name, value) | n.Assign(name, value) if not (is_longer(value, _PARTS) or buffers_read(value)):
                known[name] = b.substitute(value, known)
                if is_longer(known[name], _PARTS):  # names of names may have parts without end
                    del known[name]
            case n.Return(result):
                for r in _arrays(result):
                    info = program.buffers[r.buffer]
                    if info.role != "temporary" or info.element or info.is_reserved or info.layout != "C":
                        continue
                    fixed = all(times[v] <= 1 for d in info.dims for v in variables_read(d))
                    once = r.buffer in top and made[r.buffer] == returned[r.buffer] == 1
                    if fixed and once and _is_all(r, info, known):
                        whole.add(r.buffer)
            case _:
                for name in scalars_set(s):
                    known.pop(name, None)
    return whole


def _is_all(r: n.ArrayResult, info: n.Buffer, known: Mapping[str, Expr]) -> bool:
    """Whether as many elements are handed out as there is room for."""
    dims = [tuple(b.substitute(d, known) for d in of) for of in (r.dims, info.dims)]
    return r.dtype == info.dtype and dims[0] == dims[1]


def _arrays(r: n.Result) -> Iterator[n.ArrayResult]:
    match r:
        case n.ArrayResult():
            yield r
        case n.TupleResult(items):
            for x in items:
                yield from _arrays(x)
        case _:
            pass
