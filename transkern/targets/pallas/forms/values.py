"""What generated code knows of a value while it is written, and the names it gives to things."""

from __future__ import annotations

import ast
import keyword
from dataclasses import dataclass, field

from transkern import refusals
from transkern.errors import CompileError
from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.complexes import is_complex, parts_of_scalar
from transkern.ir.expr import Apply, Expr, Load, Span, Var
from transkern.ir.traverse import (
    alone,
    buffers_read,
    buffers_used,
    buffers_written,
    exprs,
    scalars_set,
    scalars_used,
    variables_read,
    walk,
    walk_expr,
)
from transkern.targets.pallas.passes.merging import Origins, origins
from transkern.targets.pallas.printing.prelude import HELPERS
from transkern.targets.pallas.printing.quote import name
from transkern.targets.pallas.printing.spelling import MODULES
from transkern.targets.places import Places

_OWN = {"state", "at", "block"}
"""What generated functions call their parameters."""


@dataclass(frozen=True, slots=True)
class Value:
    """An expression of generated code.

    `axes` are the slots (dimensions of a block) along which it varies: without any it is a scalar, else an array with
    one dimension a slot, of size 1 where it does not vary. `static`: a Python number when the function is traced.
    """

    node: ast.expr
    dtype: str
    axes: frozenset[int] = frozenset()
    static: bool = False


class Inexpressible(Exception):
    """A kernel cannot be written for Mosaic: `reason` says what stands in the way. XLA runs it instead."""

    span: Span | None

    def __init__(self, reason: str) -> None:
        self.reason, self.span = reason, None
        super().__init__(reason)


class Columns(Inexpressible):
    """All operands of a kernel are arrays that XLA would have to make."""


@dataclass(slots=True)
class Module:
    """What all parts of one generated module share."""

    program: n.Program
    wide: bool
    identifiers: dict[str, str] = field(default_factory=dict)
    hoisted: dict[Expr, str] = field(default_factory=dict)
    helpers: set[str] = field(default_factory=set)
    static: dict[str, str] = field(default_factory=dict)  # the scalar arguments that JAX knows when it traces
    asked: list[str] = field(default_factory=list)  # the sizes that data make: the jitted function tells them first
    has_room: bool = False  # for lists without a bound: as much as the call says
    below: list[Expr] = field(default_factory=list)  # what must fit 32 bits when the function is called
    guards: list[n.Guard] = field(default_factory=list)
    places: Places | None = None  # what errors tell of the source, to who runs the module here
    details: dict[str, str] = field(default_factory=dict)  # what messages tell of data, and its dtype
    summands: frozenset[str] = frozenset()
    origins: Origins = field(default_factory=Origins)
    sources: dict[str, frozenset[str]] = field(default_factory=dict)
    taken: set[str] = field(default_factory=set)

    def check(self, s: n.Guard) -> int | None:
        """The position of a check among those that kernels make: of two alike, each raises at its own place."""
        return next((k for k, g in enumerate(self.guards) if g == s and g.span == s.span), None)

    @staticmethod
    def of(program: n.Program, wide: bool) -> Module:
        module = Module(program, wide)
        module.taken = (
            set(MODULES)
            | set(HELPERS)
            | {"xp", "INTERPRET", "VMEM", "max", "min", "abs", "int", "isinstance", "complex", program.name}
            | set(keyword.kwlist)
        )
        module.summands = _summands(program)
        module.origins = origins(program)
        module.sources = _sources(program)
        for p in program.params:
            module.taken.add(p.name)
            if isinstance(p, n.ScalarParam) and is_complex(p.dtype):
                module.identifiers |= {part: part for part in parts_of_scalar(p.name)}
                module.taken |= set(parts_of_scalar(p.name))
            if not (isinstance(p, n.ArrayParam) and p.name in _OWN):
                module.identifiers[p.name] = p.name
        module.taken |= _OWN
        return module

    def is_made_from(self, value: Expr, buffer: str) -> bool:
        """Whether others that `value` reads are made from `buffer`, as it was before."""
        read = (buffers_read(value) | variables_read(value)) - {buffer}
        return any(buffer in self.sources.get(r, ()) for r in read)

    def identifier(self, of: str) -> str:
        """The Python name of something in the program; sizes ``n.`` and ``x.0`` lose their dot."""
        if of not in self.identifiers:
            self.identifiers[of] = self.fresh(of.replace(".", "_").rstrip("_") or "size")
        return self.identifiers[of]

    def fresh(self, base: str) -> str:
        found, count = base, 0
        while found in self.taken:
            count += 1
            found = f"{base}_{count}"
        self.taken.add(found)
        return found

    def hoist(self, expr: Expr) -> Value:
        """A scalar of the arguments alone: computed once, before the call, with NumPy's own rules."""
        if expr not in self.hoisted:
            inner = expr
            while isinstance(inner, Apply) and inner.op == "cast":
                inner = inner.args[0]
            self.hoisted[expr] = self.fresh(f"{inner.name}_" if isinstance(inner, Var) else "scalar")
        return Value(name(self.hoisted[expr]), expr.dtype)

    def helper(self, which: str) -> ast.expr:
        self.helpers.add(which)
        return name(which)

    @property
    def integer(self) -> str:
        """The dtype of Python's integers and of positions: 32 bits, which a TPU has, unless the data need 64."""
        return "int64" if self.wide else "int32"

    def dtype(self, of: str) -> str:
        """The jax.numpy dtype that stands for an IR dtype."""
        if of in ("index", "int64"):
            return self.integer
        return "bool_" if of == "bool" else of

    def error(self, problem: str, span: Span, help: str = 'use target="cpu" for this function') -> CompileError:
        return CompileError(refusals.PALLAS, problem, help, span, self.program.lines_of(span))


def product_like(expr: Expr) -> bool:
    """Whether XLA's CPU back end may contract ``expr + …`` to a fused multiply-add."""
    match expr:
        case Apply("multiply" | "square", _, dtype):
            return dtype.startswith("float")
        case Apply("negative", (x,), _):
            return product_like(x)
        case Apply("where", (_, x, y), _):  # a loop is there twice where it does not change the condition
            return product_like(x) or product_like(y)
        case _:
            return False


def _summands(program: n.Program) -> frozenset[str]:
    """The names and buffers that are added to, or subtracted from, something: products there must be rounded first."""
    found: set[str] = set()

    def note(e: Expr) -> None:
        match e:
            case Var(name=of) | Load(buffer=of):
                found.add(of)
            case Apply("negative" | "cast", (x,), _):
                note(x)
            case Apply("where", (_, x, y), _):
                note(x)
                note(y)
            case _:
                pass

    for e in exprs(program.body):
        if isinstance(e, Apply) and e.op in ("add", "subtract"):
            for a in e.args:
                note(a)
    for s in walk(program.body):
        if isinstance(s, n.Accumulate) and s.op == "sum":
            note(s.value)
    before = -1
    while len(found) != before:  # what is copied into a summand is one too
        before = len(found)
        for s in walk(program.body):
            match s:
                case n.Store(buffer=of, value=value) | n.Let(name=of, value=value) | n.Assign(name=of, value=value) if (
                    of in found
                ):
                    note(value)
                case _:
                    pass
    return frozenset(found)


def _sources(program: n.Program) -> dict[str, frozenset[str]]:
    """The names and buffers that each is made from, at once or by way of others, on some path."""
    made: dict[str, set[str]] = {}
    for s in walk(program.body):
        own = alone(s)
        for of in {*buffers_written(own), *scalars_set(own)}:
            made.setdefault(of, set()).update(buffers_used(own), scalars_used(own))
    before = -1
    while (count := sum(map(len, made.values()))) != before:
        before = count
        for found in made.values():
            found.update(*(made.get(of, ()) for of in tuple(found)))
    return {of: frozenset(found) for of, found in made.items()}


def numbers_of(result: n.Result, places: bool = True) -> list[Expr]:
    """The numbers that a result is made of, arrays apart; also those that tell the place of a view."""
    match result:
        case n.ScalarResult(value):
            return [value]
        case n.TupleResult(items, kind) if places or kind != "place":
            return [v for i in items for v in numbers_of(i, places)]
        case _:
            return []


def is_outside(e: Expr, scalars: set[str]) -> bool:
    """Whether `e` is made of sizes and of the scalar arguments `scalars` alone: Python computes it, before the call or
    while JAX traces."""
    return not any(
        isinstance(x, Load)
        or (isinstance(x, Var) and x.name not in scalars and (not b.is_size_name(x.name) or x.name.endswith(".size")))
        for x in walk_expr(e)
    )


def scalar_params(program: n.Program) -> set[str]:
    """The scalar arguments that keep their value throughout."""
    found: set[str] = set()
    for p in program.params:
        if isinstance(p, n.ScalarParam):
            found |= set(parts_of_scalar(p.name)) if is_complex(p.dtype) else {p.name}
    return found - set(program.variables)
