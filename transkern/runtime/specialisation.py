"""Code for one choice of argument types, and for which calls it is."""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any

from transkern import refusals
from transkern.errors import CHANGES, CompileError
from transkern.ir.storage import SHORT_ROW, SMALL_SIZE, small_demanded
from transkern.runtime import structures
from transkern.runtime.caching.few import is_array_of_code
from transkern.runtime.caching.watching import Conditions

if TYPE_CHECKING:
    from transkern.runtime.profiling import Profile


@dataclass(slots=True)
class Specialisation:
    """One function for one choice of argument types on one target."""

    types: tuple[Any, ...]
    target: str
    call: Callable[..., Any]
    why: Callable[[], str] | None = None
    kernels: int = 0
    temporaries: tuple[str, ...] = ()
    from_cache: bool = False
    written: tuple[str, ...] = ()
    objects: tuple[str, ...] = ()  # containers that are passed behind the arrays and numbers in them
    changes: tuple[structures.Change, ...] = ()
    conditions: Conditions | None = None  # under which all that it was compiled with is still the same
    is_part: bool = False  # of a function that goes on behind it
    profile: Callable[[], Profile] | None = None  # what its calls have taken, where they are measured
    few: Sequence[tuple[str, int, int]] = ()  # sizes for which there is better code where they are small
    unless_small: Callable[..., Any] | None = None  # the call that asks for them itself


@dataclass(slots=True)
class CacheInfo:
    """How the calls of a compiled function were served."""

    hits: int = 0  # but for those that go straight to the code of the call before
    compiled: int = 0
    from_disk: int = 0
    specialisations: list[str] = field(default_factory=list)


def run(made: Specialisation, call: Callable[..., Any], values: Sequence[Any], owners: Mapping[str, Any]) -> Any:
    """The function's own result; what it has put into its arguments goes there, also where it raises."""
    extra = [owners[name] for name in made.objects]
    if not made.changes:
        return call(*values, *extra)
    if len(owners) > 1 or made.is_part:
        _refuse_shared(made, owners)
    try:
        result = call(*values, *extra)
    except BaseException as error:
        if CHANGES in vars(error):
            structures.put_back(made.changes, vars(error).pop(CHANGES), owners)
        raise
    if result is NotImplemented:
        return result
    structures.put_back(made.changes, result[1:], owners)
    if isinstance(result[0], BaseException):
        raise result[0]
    return result[0]


def _refuse_shared(made: Specialisation, owners: Mapping[str, Any]) -> None:
    """A list, dict or object that is in the arguments twice is computed with as two: it must not be changed."""
    paths: dict[int, str] = {}
    changed = {path for path, _, _ in made.changes}
    for path, owner in owners.items():
        first = paths.setdefault(id(owner), path)
        if first != path and (first in changed or path in changed) and not isinstance(owner, (tuple, range)):
            problem = f"the arguments `{first}` and `{path}` are one {type(owner).__name__}, which the function changes"
            raise CompileError(refusals.SHARED_MEMORY, problem, "pass copies")
    for path, kind, _ in made.changes if made.is_part else ():
        if kind == "list" and any(isinstance(v, (list, dict, set)) for v in owners[path]):
            problem = f"`{path}` gets new lists in place of those in it, which may have other names"
            raise CompileError(refusals.TWO_NAMES, problem, "use an array")


def settled(names: Sequence[str], values: Sequence[Any], demands: Collection[str]) -> set[str]:
    """What must be constant for all sizes to be known: those of the arguments, and the numbers that they come from."""
    given = list(zip(names, values, strict=True))
    found = {f"{name}.{d}" for name, value in given for d in range(getattr(value, "ndim", 0))}
    found |= {name for name, value in given if isinstance(value, Integral)}
    if found <= set(demands):  # what decides is a float: x[: int(share * len(x))]
        found |= {name for name, value in given if isinstance(value, Real)}
    return found


def guarded(made: Specialisation, types: Sequence[Any], without_small: bool) -> Callable[..., Any]:
    """The code of a specialisation, for the arguments that it was made for: what it holds as constants is compared
    here, that no array is contiguous where code is for those that are not (NumPy shows a view of it where that code has
    a copy), and that none has short rows or (`without_small`) small sizes, for which there is better code. What else it
    takes at run time it checks itself."""
    arrays = [(k, t) for k, t in enumerate(types) if type(t).__name__ == "ArrayType"]
    constants = [(k, t.holds) for k, t in enumerate(types) if type(t).__name__ == "ConstantType"]
    strided = [k for k, t in arrays if t.layout != "C" and not t.shares]
    rows = [k for k, t in arrays if len(t.dims) > 1 and isinstance(t.dims[-1], str)]
    call = made.call
    if rows and made.target != "cpu":  # whose code sees to it itself
        call = _without(call, _short_rows(rows))
    held = [k for k, t in enumerate(types) if is_array_of_code(t)]
    if without_small and made.unless_small is not None:
        call = made.unless_small
    elif without_small and made.few:
        call = _without(call, _small_sizes(made.few, held))
    if not constants and not strided:
        return call

    def compare(*args: Any) -> Any:
        for k, holds in constants:
            if len(args) <= k or not holds(args[k]):
                return NotImplemented
        for k in strided:
            if len(args) <= k or getattr(getattr(args[k], "flags", None), "c_contiguous", False):
                return NotImplemented
        return call(*args)

    return compare


def _without(call: Callable[..., Any], has_better: Callable[[Sequence[Any]], bool]) -> Callable[..., Any]:
    """`call`, but where there is better code for the arguments."""

    def compare(*args: Any) -> Any:
        try:
            if has_better(args):
                return NotImplemented
        except (AttributeError, IndexError, TypeError):
            pass  # it is no such array: that is told by the code itself
        return call(*args)

    return compare


def _small_sizes(sizes: Sequence[tuple[str, int, int]], arrays: Sequence[int]) -> Callable[[Sequence[Any]], bool]:
    """Whether one of the sizes (`Program.few`) is small among those of all the arrays, which are these arguments."""
    places = [(arrays[k], axis) for _, k, axis in sizes]

    @functools.lru_cache(maxsize=64)  # the question takes longer than many a call does, whose sizes come again
    def are_demanded(*shapes: Sequence[int]) -> bool:
        return bool(small_demanded(sizes, shapes))

    def are_small(args: Sequence[Any]) -> bool:
        if min([args[k].shape[axis] for k, axis in places]) > SMALL_SIZE:
            return False
        return are_demanded(*[getattr(args[k], "shape", ()) for k in arrays])

    return are_small


def _short_rows(rows: Sequence[int]) -> Callable[[Sequence[Any]], bool]:
    """Whether one of these arguments has short rows."""
    from transkern.frontend.values.types import is_short

    return lambda args: any(args[k].shape[-1] <= SHORT_ROW and is_short(args[k]) for k in rows)
