"""A call with arrays that a framework traces: their types, and what the function returns for them."""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from transkern import limits
from transkern.analysis.outcomes import Outcome, outcome
from transkern.analysis.sizes import Calculus, Integers, Sizes, Unknown, sizes_of
from transkern.errors import CompileError, NeedsConstant
from transkern.frontend.sources.observed import observing
from transkern.frontend.sources.source import live_function
from transkern.frontend.specialise import specialise
from transkern.frontend.values.types import (
    PYTHON,
    ArgType,
    ArrayType,
    ConstantType,
    ScalarType,
    dtype_name,
    structured,
    types_of,
)
from transkern.ir import nodes as n
from transkern.ir.containers import error_text
from transkern.runtime import structures
from transkern.runtime.boundary import own_errors
from transkern.runtime.caching import surveys
from transkern.runtime.calls.known import renew
from transkern.runtime.calls.uses import used_by
from transkern.runtime.foreign import chosen
from transkern.runtime.specialisation import Specialisation, settled

if TYPE_CHECKING:
    from transkern.runtime.compiled import Compiled


class Abstract:
    """An array of which only the dtype and the shape are known; its sizes may be symbols."""

    __slots__ = ("dtype", "shape")

    def __init__(self, dtype: np.dtype[Any], shape: Sequence[Any]) -> None:
        self.dtype, self.shape = dtype, tuple(shape)

    @property
    def ndim(self) -> int:
        return len(self.shape)


@dataclass(frozen=True)
class Symbols:
    """What a framework knows of its sizes, where they are symbols.

    `fixed`: a size or number as one of Python's, from here on for good;
    `kind`: the type of a symbol that stands for a number of Python's, else empty; `holds`: whether a condition holds,
    where that is known or can be asked; `check`: has a condition hold, by an error where it does not.
    """

    fixed: Callable[[Any], Any] = lambda value: value
    kind: Callable[[Any], str] = lambda value: ""
    holds: Callable[[Any], bool] = bool
    check: Callable[[Any, Callable[[], Exception]], None] | None = None
    calculus: Calculus = field(default_factory=Integers)


NONE = Symbols()
"""All sizes are known."""


@dataclass(frozen=True)
class Call:
    """A call and its outcome. `names` and `leaves` are the arrays and numbers in its arguments, in order."""

    compiled: Compiled
    values: Sequence[Any]
    shapes: tuple[structures.Shape, ...]
    names: list[str]
    leaves: list[Any]
    outcome: Outcome

    def sizes(self, symbols: Symbols = NONE, fresh: Callable[[str, Any], Any] | None = None) -> Sizes:
        return sizes_of(self.outcome, dict(zip(self.names, self.leaves, strict=True)), symbols.calculus, fresh)

    def owner(self, path: str) -> Any:
        """The argument, or the part of one, of a path."""
        for name, leaf in zip(self.names, self.leaves, strict=True):
            if name == path:
                return leaf
        return structures.containers(self.shapes, self.values)[path]


def call(
    compiled: Compiled, values: Sequence[Any], abstract: Callable[[Any], Abstract | None], symbols: Symbols = NONE
) -> Call:
    """The call of a compiled function with a value for each parameter; `abstract` knows the arrays that are traced.

    Raises:
        CompileError: the function cannot be compiled for these types, or its outcome is none that a graph holds.
        ValueError, …: what NumPy raises where the shapes do not fit.
    """
    renew(compiled)
    demands, first = set(compiled.known.demands), None
    more: set[str] = set()
    for _ in range(64):
        shapes = structures.shapes_of(compiled._names, values, demands, used_by(compiled.function))
        leaves = structures.taken_apart(shapes, values)
        names = [name for shape in shapes for name in shape.leaves()]
        demands.update(structures.state_demands(shapes))
        demands |= {name for name in names if name.rpartition("_")[0] in demands}
        seen = [abstract(leaf) or leaf for leaf in leaves]
        with own_errors(compiled.function):
            inner = iter(_types(names, seen, demands, symbols))
            types = tuple(structured(shape, inner) for shape in shapes)
        try:
            found = _outcome(compiled, types)
        except NeedsConstant as need:
            if need.demand in demands:
                raise compiled._told(need.problem, types, _target(compiled)) from None
            demands.add(need.demand)
            continue
        except CompileError as error:
            new = {name for name, leaf in zip(names, leaves, strict=True) if type(leaf) is bool}
            if not (new := (new | structures.in_columns(shapes)) - demands):
                raise compiled._told(first or error, types, _target(compiled)) from None
            first, more = first or error, more | new
            demands |= new
            continue
        made = Call(compiled, values, shapes, names, leaves, found)
        if _assumptions_hold(made, symbols):
            _check(made, symbols)
            return made
        demands |= settled(names, seen, demands)
    raise AssertionError(f"the outcome of {compiled.function.__name__} does not settle")


def _target(compiled: Compiled) -> str:
    return chosen(compiled.target, None)


def _outcome(compiled: Compiled, types: tuple[ArgType, ...]) -> Outcome:
    """The outcome for some types; it is known until something changes that the function reads."""
    known: Outcome | None = compiled.known.outcomes.get(types)
    if known is not None:
        return known
    function = compiled.function
    with limits.compilation_of(function), observing() as looks:
        program = specialise(live_function(function), types, _target(compiled) == "cpu")
        made = outcome(program)
    compiled.known.outcomes[types] = made
    conditions = surveys.of_translation(function, types, looks).conditions
    compiled.known.watch(Specialisation(types, "none", compiled, conditions=conditions))
    return made


def _types(
    names: Sequence[str], leaves: Sequence[Any], demands: Collection[str], symbols: Symbols
) -> list[ArgType]:
    """The types of leaves. Sizes that are certainly equal have one name; what `demands` names is a constant."""
    known: list[tuple[Any, str]] = []
    found: list[ArgType] = []

    def dim(path: str, extent: Any) -> int | str:
        if symbols.calculus.same(extent, 1):
            return 1
        if any(d.rstrip("_") == path for d in demands):
            return int(symbols.fixed(extent))
        for other, name in known:
            if symbols.calculus.same(other, extent):
                return name
        known.append((extent, path.replace(".", "_")))
        return known[-1][1]

    for name, leaf in zip(names, leaves, strict=True):
        if isinstance(leaf, Abstract):
            dims = tuple(dim(f"{name}.{k}", extent) for k, extent in enumerate(leaf.shape))
            found.append(ArrayType(dtype_name(leaf.dtype, f"argument `{name}`: "), dims))
        elif kind := symbols.kind(leaf):
            fixed = name in demands
            found.append(ConstantType(symbols.fixed(leaf)) if fixed else ScalarType(PYTHON[kind], kind))
        elif isinstance(leaf, np.ndarray) and type(leaf) is np.ndarray:
            dims = tuple(dim(f"{name}.{k}", extent) for k, extent in enumerate(leaf.shape))
            found.append(ArrayType(dtype_name(leaf.dtype, f"argument `{name}`: "), dims))
        else:
            found += types_of([name], [leaf], demands)
    return found


def _assumptions_hold(made: Call, symbols: Symbols) -> bool:
    sizes = made.sizes(symbols)
    for assumption in made.outcome.assumptions:
        with suppress(Unknown):
            if not symbols.holds(sizes.holds(assumption)):
                return False
    return True


def _check(made: Call, symbols: Symbols) -> None:
    """Raises what NumPy raises where sizes do not fit, as far as that is known before a run."""
    sizes = made.sizes(symbols)
    for guard in made.outcome.checks:
        with suppress(Unknown):
            holds = sizes.holds(guard.condition)
            if isinstance(holds, (bool, np.bool_)) or symbols.check is None:
                if not holds:
                    raise _error(guard, sizes)
            else:
                symbols.check(holds, functools.partial(_error, guard, sizes))


def _error(guard: n.Guard, sizes: Sizes) -> Exception:
    message = guard.message.format(*(sizes.value(argument) for argument in guard.args))
    made: Exception = eval(error_text(guard.error), {"np": np})(message)
    return made
