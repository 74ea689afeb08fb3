"""What a specialisation returns: the structure, dtypes and sizes of its results, without a run.

A program of array statements says of each of its returns which buffers, numbers and arguments it hands back, and how
long these are, as expressions over the sizes and numbers among the arguments. `outcome` reads that; `sizes.Sizes` gives
the expressions values. A name that only a run has a value for (how many elements a filter keeps) stays a name.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from transkern import refusals
from transkern.errors import CompileError
from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import NOWHERE, Apply, Expr, Var
from transkern.ir.traverse import walk

ONE_OF = "one of"
"""The op of a size that is one of two, from return to return: it is known where these are equal."""


@dataclass(frozen=True, slots=True)
class ArrayOf:
    """An array of ``dtype[dims]``; `shares`: it may show memory of an argument, or of a global."""

    dtype: str
    dims: tuple[Expr, ...]
    shares: bool = False


@dataclass(frozen=True, slots=True)
class NumberOf:
    """A number: one of NumPy's of `dtype`, or the one of Python's that this dtype holds (`python`), and its `value`,
    where it may be known before a run: a length, an argument."""

    dtype: str
    python: bool
    value: Expr | None = None


@dataclass(frozen=True, slots=True)
class Itself:
    """The argument of this path, the very object."""

    path: str


@dataclass(frozen=True, slots=True)
class Fixed:
    """A constant."""

    value: Any


@dataclass(frozen=True, slots=True)
class Made:
    """A ``tuple``, ``list``, ``dict`` (of `keys`) or ``record`` (of the class `of`, ``module:name``) of parts."""

    kind: str
    items: tuple[Part, ...]
    keys: tuple[Any, ...] = ()
    of: str = ""


Part: TypeAlias = ArrayOf | NumberOf | Itself | Fixed | Made


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a program hands back.

    `dims` has the sizes of each array among the arguments, `numbers` the arguments that are numbers; `lets` are names
    that have one value in the whole program, `bounds` what a name does not exceed. `assumptions` hold where the program
    is for a call, and `checks`, over sizes alone, raise where they do not. `written` are the arguments whose elements
    change; `captured` are sizes of arrays that the function finds outside; `effects` tells what else a call does that
    others see (empty: nothing).
    """

    result: Part
    dims: dict[str, tuple[Expr, ...]]
    numbers: tuple[str, ...]
    lets: dict[str, Expr]
    bounds: dict[str, Expr]
    assumptions: tuple[Expr, ...]
    checks: tuple[n.Guard, ...]
    written: tuple[str, ...]
    captured: dict[str, int]
    effects: str = ""


def outcome(program: n.Program) -> Outcome:
    """The outcome of a program of array statements, as the front end makes it.

    Raises CompileError where the result is none whose structure is known before a run (a list of run-time length, a
    number of one of several types), or where the function puts things into lists, dicts or objects among its arguments.
    """
    if program.changes:
        path = program.changes[0][0]
        raise _refused(program, f"`{path}` is changed, and is no array", "return what is new instead")
    parts = [_part(program, s.result, s) for s in walk(program.body) if isinstance(s, n.Return) and not _raises(s)]
    if _falls_off(program.body) or not parts:  # without any, each call raises
        parts.append(Fixed(None))
    whole = parts[0]
    for other in parts[1:]:
        whole = _either(program, whole, other)
    arrays = [p for p in program.params if isinstance(p, n.ArrayParam)]
    return Outcome(
        whole,
        {p.name: p.dims for p in arrays},
        tuple(p.name for p in program.params if isinstance(p, n.ScalarParam)),
        _lets(program),
        dict(program.bounds),
        program.assumptions,
        tuple(_checks(program.body)),
        tuple(p.name for p in arrays if p.written),
        _captured(program),
        _effects(program),
    )


def _refused(program: n.Program, problem: str, help: str, at: n.Stmt | None = None) -> CompileError:
    span = at.span if at is not None else NOWHERE
    return CompileError(refusals.FRAMEWORKS, problem, help, span, program.lines_of(span))


# ---- results ---------------------------------------------------------------------------------------------------------


def _raises(s: n.Return) -> bool:
    return isinstance(s.result, n.TupleResult) and s.result.kind == "raise"


def _falls_off(body: Sequence[n.Stmt]) -> bool:
    """Whether a run may come by the end of a block: there the function returns None."""
    match body[-1] if body else None:
        case n.Return():
            return False
        case n.If(_, then, orelse):
            return _falls_off(then) or _falls_off(orelse)
        case n.Guard(condition) | n.While(_, condition, _):
            return condition != b.FALSE if isinstance(body[-1], n.Guard) else condition != b.TRUE
        case _:
            return True


def _part(program: n.Program, r: n.Result, at: n.Return) -> Part:
    match r:
        case n.ArrayResult(_, dims, dtype):  # without elements it may have another dtype: it is given this one
            return ArrayOf(dtype, dims)
        case n.ViewResult(_, dims, _, _, dtype):
            return ArrayOf(dtype, dims, True)
        case n.ScalarResult(value, python):
            return NumberOf("int64" if value.dtype == "index" else value.dtype, bool(python), value if python else None)
        case n.ArgumentResult(name):
            return Itself(name.removesuffix("_itself") if name not in program.buffers else name)
        case n.ConstantResult(value):
            return Fixed(value)
        case n.TupleResult(items, "tuple" | "list" | "dict" | "record" as kind, keys, of):
            return Made(kind, tuple(_part(program, i, at) for i in items), keys, of)
        case n.TupleResult((_, one, two), "either"):
            return _either(program, _part(program, one, at), _part(program, two, at))
        case n.ListResult() | n.TupleResult(_, "lists" | "lists of numbers"):
            problem = "the function returns a list whose length only the run knows, which no graph holds"
            raise _refused(program, problem, "return an array: np.array(found)", at)
        case _:
            problem = "the function returns something whose type or number of parts only the run knows"
            raise _refused(program, problem, "return arrays and numbers, and tuples, lists and dicts of them", at)


def _either(program: n.Program, one: Part, two: Part) -> Part:
    """What is known of a result that is one of two."""
    match one, two:
        case _ if one == two:
            return one
        case (Itself(path), _) if path in program.buffers:
            return _either(program, _argument(program, path), two)
        case (_, Itself(path)) if path in program.buffers:
            return _either(program, one, _argument(program, path))
        case ArrayOf(dtype, dims), ArrayOf(other, others) if dtype == other and len(dims) == len(others):
            met = tuple(a if a == b else Apply(ONE_OF, (a, b), "index") for a, b in zip(dims, others, strict=True))
            return ArrayOf(dtype, met, one.shares or two.shares)
        case Made(), Made() if (one.kind, one.keys, one.of) == (two.kind, two.keys, two.of):
            if len(one.items) == len(two.items):
                items = zip(one.items, two.items, strict=True)
                return replace(one, items=tuple(_either(program, a, b) for a, b in items))
        case (Fixed() | NumberOf()), (Fixed() | NumberOf()):
            first, second = _number(one), _number(two)
            if first is not None and first == second:
                return first
    problem = f"the function returns {_told(one)} in one place and {_told(two)} in another, and a graph has one of them"
    raise _refused(program, problem, "return the same kind of thing everywhere")


def _argument(program: n.Program, path: str) -> ArrayOf:
    buffer = program.buffers[path]
    dims = buffer.dims[:-1] if buffer.element else buffer.dims
    return ArrayOf(buffer.element or buffer.dtype, dims, True)


def _number(part: Fixed | NumberOf) -> NumberOf | None:
    if isinstance(part, NumberOf):
        return replace(part, value=None)
    dtypes = {bool: "bool", int: "int64", float: "float64", complex: "complex128"}
    dtype = dtypes.get(type(part.value))
    return NumberOf(dtype, True) if dtype else None


def _told(part: Part) -> str:
    match part:
        case ArrayOf(dtype, dims):
            return f"an array of {dtype} with {len(dims)} axes"
        case NumberOf(dtype, python):
            return f"a number of {'Python' if python else 'NumPy'}'s ({dtype})"
        case Itself(path):
            return f"the argument `{path}`"
        case Fixed(value):
            return repr(value)
        case Made(kind, items):
            return f"a {kind} of {len(items)}"


# ---- sizes -----------------------------------------------------------------------------------------------------------


def _captured(program: n.Program) -> dict[str, int]:
    own = program.params[len(program.params) - len(program.captured) :]
    found: dict[str, int] = {}
    for p, array in zip(own, program.captured, strict=True):
        assert isinstance(p, n.ArrayParam)
        found |= {d.name: extent for d, extent in zip(p.dims, array.shape, strict=False) if isinstance(d, Var)}
    return found


def _lets(program: n.Program) -> dict[str, Expr]:
    """The names that are given a value in one place: whoever reads one reads this value."""
    found: dict[str, Expr] = {}
    times: Counter[str] = Counter()
    for s in walk(program.body):
        match s:
            case n.Let(name, value) | n.Assign(name, value):
                found[name] = value
                times[name] += 1
            case n.Filter(count=name) | n.Compact(count=name):
                times[name] += 2
            case n.Accumulator(name):
                times[name] += 2
            case n.Loop(axis=name):
                times[name] += 2
            case _:
                pass
    return {name: value for name, value in found.items() if times[name] == 1}


def _checks(body: Sequence[n.Stmt]) -> Iterator[n.Guard]:
    """The checks that each call comes by, before loops and branches."""
    for s in body:
        if isinstance(s, (n.Loop, n.While, n.If, n.Return)):
            return
        if isinstance(s, n.Guard) and not s.changes:
            yield s


def _effects(program: n.Program) -> str:
    """What a call does besides its results and its arguments."""
    for s in walk(program.body):
        if isinstance(s, n.Library) and s.name == "print":
            return "prints or warns"
        if isinstance(s, n.Library) and ("kind", "global") in s.attributes:
            return "draws from NumPy's one generator"
    return ""
