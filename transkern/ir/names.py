"""Fresh names inside a program."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

from transkern.ir import nodes as n
from transkern.ir.complexes import is_complex, parts_of_scalar
from transkern.ir.traverse import variables_read, walk


def printed(name: str) -> str:
    """A name as emitted code writes it: a size ``x.0`` is ``x_0`` there, ``n.`` is ``n``."""
    return name.rstrip(".").replace(".", "_")


def parts_of_array(name: str, rank: int) -> tuple[str, ...]:
    """The names of an array argument's strides, and of where it begins in memory that it shares."""
    return (*(f"{name}_stride{d}" for d in range(rank)), f"{name}_offset")


class Names:
    """Hands out names that nothing in a program has; a size ``x.0`` also takes its printed form ``x_0``."""

    def __init__(self, taken: Callable[[], set[str]]) -> None:
        self._asked = taken
        self._counted: dict[str, int] = {}  # of a name, the last number that was tried; taken names stay taken

    @cached_property
    def taken(self) -> set[str]:
        """The names that are gone: looked for with the first question, as most passes find nothing to name."""
        return self._asked()

    @staticmethod
    def of(program: n.Program) -> Names:
        return Names(lambda: _names_in(program))

    def fresh(self, base: str) -> str:
        name, count = base, self._counted.get(base, 0)
        while name in self.taken:
            count += 1
            name = f"{base}_{count}"
        self._counted[base] = count
        self.taken.add(name)
        return name


def _names_in(program: n.Program) -> set[str]:
    taken = {p.name for p in program.params} | set(program.buffers) | set(program.variables)
    for p in program.params:
        if isinstance(p, n.ScalarParam) and is_complex(p.dtype):
            taken |= set(parts_of_scalar(p.name))
    for buffer in program.buffers.values():
        for dim in buffer.dims:
            taken |= variables_read(dim)
    for s in walk(program.body):
        match s:
            case n.Let(name=name) | n.Accumulator(name=name):
                taken.add(name)
            case n.Loop(axis=name) | n.Compact(axis=name) | n.Scanning(axis=name):
                taken.add(name)
            case n.Define(axes=axes) | n.Write(axes=axes) | n.Filter(axes=axes) | n.Scan(axes=axes):
                taken |= {a.name for a in axes}
            case _:
                pass
    return taken | {printed(t) for t in taken}
