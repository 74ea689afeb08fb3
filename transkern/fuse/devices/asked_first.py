"""Searches for places outside of an array, where sizes tell that there is none, stand behind a question of the host's:

    alloc k; parallel i in 0 .. n: k[i] = f(x[i])       alloc k; parallel i in 0 .. n: k[i] = f(x[i])
    accumulator first by first                          if not m - 1 >= 0:
    parallel i in 0 .. n:                                   alloc k_asked; parallel i in 0 .. n: k_asked[i] = f(x[i])
        first first= not (k[i] < m) at i          to        accumulator first by first
    guard first < 0                                         parallel i in 0 .. n:
                                                                first first= not (k_asked[i] < m) at i
                                                            guard first < 0

Places that are cut at a size (``np.clip(k, 0, m - 1)``) are outside only where it is zero. The search makes what it
looks at by itself: what else reads these places may be the only one to, which then has them in registers.
"""

from __future__ import annotations

from collections import Counter

from transkern.fuse.checks.limits import Asking
from transkern.fuse.devices.elements import Elements
from transkern.fuse.lowering.copies import with_arrays
from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Load, Var
from transkern.ir.names import Names
from transkern.ir.traverse import buffers_read, exprs, scalars_set, scalars_used, variables_read, walk
from transkern.records import replace


def ask_sizes_ahead(program: n.Program) -> n.Program:
    """The program with such questions around searches and their checks."""
    if not any(isinstance(s, n.Accumulate) and s.op == "first" for s in walk(program.body)):
        return program
    asking, copies = Asking(program), _Copies(program)
    uses = Counter(name for s in program.body for name in scalars_used(s) | scalars_set(s))
    out, rest = list[n.Stmt](), list(program.body)
    while rest:
        match rest[:3]:
            case [n.Accumulator(name) as made, n.Loop() as search, n.Guard() as check] if (
                uses[name] == 3 and name in variables_read(check.condition) and name in scalars_set(search)
                and isinstance(asked := asking.asked(search), n.If)
                and not (buffers_read(asked.condition) or variables_read(asked.condition) & program.variables.keys())
            ):  # fmt: skip
                if asked.condition != b.FALSE:  # else types tell: bytes in a table of 256
                    out.append(replace(asked, then=copies.of((made, search, check))))
                del rest[:3]
            case _:
                out.append(rest.pop(0))
    return replace(program, body=tuple(out), buffers=copies.buffers)


class _Copies:
    """Arrays that statements make for themselves."""

    def __init__(self, program: n.Program) -> None:
        self.elements, self.names, self.buffers = Elements(program), Names.of(program), dict(program.buffers)

    def of(self, statements: tuple[n.Stmt, ...]) -> tuple[n.Stmt, ...]:
        """The statements behind the making of all that they read of which the elements are known."""
        read = dict.fromkeys(e.buffer for e in exprs(statements) if isinstance(e, Load))
        own = {name: self.names.fresh(f"{name}_asked") for name in read if name in self.elements.made}
        out = list[n.Stmt]()
        for name, copy in own.items():
            buffer, (axes, value) = self.buffers[name], self.elements.made[name]
            self.buffers[copy] = replace(buffer, name=copy)
            index = tuple(Var(self.names.fresh("kk"), "index") for _ in axes)
            at = {a.name: i for a, i in zip(axes, index, strict=True) if isinstance(a, Var)}
            made: n.Stmt = n.Store(copy, index, b.substitute(b.map_expr(value, self.elements.value), at))
            for i, size in zip(index[::-1], buffer.dims[::-1], strict=True):
                made = n.Loop(i.name, b.ZERO, size, b.ONE, "parallel", (made,))
            out += [n.Alloc(copy), made]
        return (*out, *with_arrays(statements, own))
