"""What is made of numbers whose types are in doubt: in the type that holds them, or in each type and chosen then."""

from __future__ import annotations

import contextlib
import itertools
import math
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from transkern.errors import EMPTY, NOT_HELD
from transkern.frontend.anew import Terminated
from transkern.frontend.context import Context
from transkern.frontend.values.doubts import (
    Types,
    as_left_by_loops,
    ask_for_split,
    assume_runs,
    chosen,
    depends,
    doubt,
    doubts_of,
    expr_of,
    is_of_empty,
    is_of_kind,
    is_of_neither,
    is_rounded,
    kinds_of,
    loops_ran,
    of_both,
    outcomes,
    python_numbers,
    settled,
    shown,
    tag_number,
    told_of,
    union,
)
from transkern.frontend.values.scalars import scalar_expr
from transkern.frontend.values.types_of_scalars import holding_exactly
from transkern.frontend.values.values import Array, Doubt, Kind, Scalar, Split, Static, Value
from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Apply, Const, Expr


def of_full_or_empty(ctx: Context, some: Expr, full: Value, empty: Value | None) -> Value:
    """A number that is `full` where `some` holds of a list, and `empty` (None: not a number) where it has no elements,
    which it must have where there would be a third type."""
    assert isinstance(full, (Static, Scalar))
    kinds, of_empty = kinds_of(full), () if empty is None else kinds_of(empty)
    if isinstance(empty, (Static, Scalar)) and len(kinds) == len(of_empty) == 1:
        return together(ctx, Split(some, full, empty, exact=True, of_empty=True), [full, empty], "what is made of")
    if not (isinstance(empty, (Static, Scalar)) and isinstance(full, Scalar) and set(of_empty) <= set(kinds)):
        ctx.guard(some, "RuntimeError", EMPTY)
        return full
    body = b.where(some, full.expr, b.cast(expr_of(empty, full.dtype), full.dtype))
    return replace(full, expr=body, doubt=of_both(full, empty, None, chosen(some, full, empty)))


def _may_not_fit(value: Value, dtype: str) -> bool:
    """Whether a number is a Python integer that may be none of an integer type of NumPy's."""
    if kinds_of(value) != (("index", True),) or not dtype.startswith(("int", "uint")) or dtype == "int64":
        return False
    limits = np.iinfo(dtype)
    return not (isinstance(value, Static) and limits.min <= value.value <= limits.max)


def _is_wide_in_float(value: Value, dtype: str) -> bool:
    """Whether a number may be an integer of NumPy's with 64 bits, which a float does not hold."""
    if not isinstance(value, Scalar) or value.doubt is None or not dtype.startswith("float"):
        return False
    return any(not python and held in ("int64", "uint64") for held, python in value.doubt.kinds)


def computed(
    ctx: Context, args: Sequence[Value], types: Callable[[Sequence[Value]], Types],
    join: Callable[[Sequence[Kind]], Kind | None], python: Callable[..., Any] | None,
    compute: Callable[[Sequence[Value]], Value], what: str, raises: bool = False,
) -> Value:  # fmt: skip
    """What an operation makes of `args`, of which some have types that are decided at run time.

    `types` answers for arguments of certain types, and `compute` makes the result of them; `join` is the one type for
    several; `python` makes Python's number of Python's numbers. `raises`: Python's operator may raise for its numbers
    where NumPy's has a value.
    """
    held = types(args)
    single = not any(isinstance(a, Array) for a in args)

    def of_kinds(given: Sequence[Value]) -> Kind:
        return types(given)[1]

    def kinds(sure: bool) -> list[Kind] | None:
        """The types of the result, where what is computed in the types that hold the arguments is right for all."""
        found = outcomes(args, types, sure)
        for a, used in zip(args, held[0], strict=False):
            if isinstance(a, Scalar) and a.doubt is not None and used != a.dtype and is_rounded(a.doubt, a.dtype, sure):
                return None
            if len(found) > 1 and _may_not_fit(a, used):
                return None  # which is an error beside NumPy's number, and none beside Python's
        if found == [held]:
            return [held[1]]
        results = list(dict.fromkeys(t[1] for t in found))
        if len(results) == 1 and any(map(_is_wide_in_float, args, held[0])):
            return None  # such as a comparison
        return results if single and join(results) == held[1] else None

    def result(types: list[Kind], doubted: Doubt | None) -> Value:
        made = compute([replace(a, doubt=None) if isinstance(a, Scalar) else a for a in args])
        if not isinstance(made, Scalar) or len(types) < 2:
            return made
        return replace(made, doubt=doubted, tag=_tag_of_made(args, of_kinds) if len(types) > 2 else None)

    every = kinds(False)
    mixed = any(map(is_of_empty, args)) and not all(is_of_empty(a) for a in args if doubts_of([a]))
    if mixed and (every is None or len(every) > 1):
        return computed(ctx, [settled(ctx, a) for a in args], types, join, python, compute, what)
    sure = kinds(True) if every is None or len(every) > 1 else None
    decides = doubts_of(args)[0].decides
    if every is None and sure is not None and assume_runs(ctx, args):
        return result(sure, doubt(sure, _python_of(args, python), decides))
    raises = raises and single and any(kind[1][1] for kind in outcomes(args, types))
    if raises:
        ask_for_split(args)
    of_empty = single and any(map(is_of_empty, args))
    split = _split(ctx, args, compute, every is None or raises or of_empty) if single else None
    if split is not None and split.one is split.two:
        return split.one
    if of_empty:
        return compute([settled(ctx, a) for a in args]) if split is None else together(ctx, split, args, what)
    if every is None:
        if split is None and any(map(is_of_empty, args)):
            return compute([settled(ctx, a) for a in args])
        if split is None and not single and len({kind for _, kind in outcomes(args, types)}) == 1:
            arrays = chosen_array(ctx, args, compute)
            if arrays is not None:
                return arrays
        if split is None and (ran := as_left_by_loops(ctx, args)) is not None:
            return computed(ctx, ran, types, join, python, compute, what, raises) if doubts_of(ran) else compute(ran)
        if split is None:
            depends(ctx, args, what)
        return together(ctx, split, args, what)
    if len(every) == 1:
        return result(every, None)
    doubted = doubt(every, _python_of(args, python), decides)
    assert doubted is not None
    runs = loops_ran(args)
    if runs is not None and sure is not None:
        doubted = replace(doubted, sure=tuple(sure), runs=runs)
    return result(every, replace(doubted, split=split, told=told_of(args)))


def _split(
    ctx: Context, args: Sequence[Value], compute: Callable[[Sequence[Value]], Value], checked: bool
) -> Split | None:
    """What an operation makes of each of several choices of numbers, or of two such choices independent of each other;
    its checks are made only if `checked`. Where it raises for one of them, the others' is both."""
    sides = _made_of_sides(ctx, args, compute)
    if sides is None:
        return None
    alone = len(sides.conditions) == 2 and len(_choices(args)) == 1
    made = [(holds, v) for holds, v in zip(sides.conditions, sides.values, strict=True) if v is not None]
    if not made or (len(made) < len(sides.values) and not (checked and alone)):
        return None
    numbers = [(holds, v) for holds, v in made if isinstance(v, (Static, Scalar))]
    if len(numbers) < len(made) or (any(sides.checks) and not checked):
        return None
    exact = any(a.tag is not None or (a.doubt is not None and a.doubt.split is not None and a.doubt.split.exact)
                for a in _doubted(args))  # fmt: skip
    first = sides.conditions[0]
    joined = Split(first, numbers[0][1], numbers[-1][1], exact) if alone else _grouped(ctx, numbers, exact)
    if joined is None:
        return None
    sides.emit(ctx)
    splits = [d.split for d in doubts_of(args) if d.split is not None]
    handed_on = any(s.handed_on for s in splits)
    return replace(joined, of_empty=any(s.of_empty for s in splits), handed_on=handed_on)


@dataclass
class _Sides:
    """What an operation makes of numbers, each of a certain type, that some may be: under each condition a value (None
    where it raises), and its checks. `lets` are numbers, which what is made under other conditions may have, too."""

    conditions: list[Expr] = field(default_factory=list)
    values: list[Value | None] = field(default_factory=list)
    checks: list[tuple[n.Stmt, ...]] = field(default_factory=list)
    lets: list[n.Stmt] = field(default_factory=list)

    def emit(self, ctx: Context) -> None:
        for let in self.lets:
            ctx.emit(let)
        if any(self.checks) and len(self.conditions) == 2:
            ctx.emit(n.If(self.conditions[0], *self.checks))
        elif any(self.checks):
            for holds, checks in zip(self.conditions, self.checks, strict=True):
                ctx.emit(n.If(holds, checks))


def _made_of_sides(
    ctx: Context, args: Sequence[Value], compute: Callable[[Sequence[Value]], Value]
) -> _Sides | None:  # fmt: skip
    """The same for each possibility; None where it is not known which it is, or more than checks is to be done."""
    made = _Sides()
    for holds, given in _possibilities(args):
        value: Value | None = None
        with ctx.emitter.block() as out, contextlib.suppress(Terminated):
            value = compute(given)
        if any(not isinstance(s, (n.Let, n.Guard)) for s in out):
            return None
        made.lets += [s for s in out if isinstance(s, n.Let)]
        made.conditions.append(holds)
        made.values.append(value)
        made.checks.append(tuple(s for s in out if not isinstance(s, n.Let)))
    return made if made.values else None


def chosen_array(ctx: Context, args: Sequence[Value], compute: Callable[[Sequence[Value]], Value]) -> Array | None:
    """What an operation makes of arrays and numbers of doubtful types, which for all of these is an array of one dtype
    and shape: its elements are those of the numbers' types. None where it cannot be told so."""
    ask_for_split(args)
    sides = _made_of_sides(ctx, args, compute)
    arrays = [] if sides is None else [v for v in sides.values if isinstance(v, Array)]
    if sides is None or not arrays or len(arrays) < sum(v is not None for v in sides.values):
        return None
    last = arrays[-1]
    body, at = None, last.axes
    for holds, value in reversed([*zip(sides.conditions, sides.values, strict=True)]):
        if value is None:
            continue
        assert isinstance(value, Array)
        named = value.with_axes(at) if value.domain == last.domain else value
        if (named.axes, named.mask, named.dtype) != (at, last.mask, last.dtype) or value.empty is not None:
            return None
        body = named.body if body is None else b.where(holds, named.body, body)
    assert body is not None
    sides.emit(ctx)
    return Array(at, body, last.mask)


_TAGS, _CHOICES = 2, 9


def _choices(args: Sequence[Value]) -> dict[Expr, list[Expr]]:
    """When each number of a doubtful type is of which, by what tells it; nothing where that is not known of all, or
    there are too many possibilities."""
    choices: dict[Expr, list[Expr]] = {}
    for a in _doubted(args):
        if not (sides := _sides(a)):
            return {}
        choices[_told_by(a)] = [holds for holds, _ in sides]
    too_many = len(choices) > _TAGS or math.prod(map(len, choices.values())) > _CHOICES
    return {} if too_many else choices


def _possibilities(args: Sequence[Value]) -> list[tuple[Expr, list[Value]]]:
    """The numbers, each of a certain type, that some may be together, and when."""
    choices = _choices(args)
    found: list[tuple[Expr, list[Value]]] = []
    if not choices:
        return found
    for at in itertools.product(*(range(len(c)) for c in choices.values())):
        side = dict(zip(choices, at, strict=True))
        holds: Expr = b.TRUE
        for told_by, k in side.items():
            holds = b.both(holds, choices[told_by][k])
        found.append((holds, [_side(a, side) for a in args]))
    return found


def _tag_of_made(args: Sequence[Value], kind: Callable[[Sequence[Value]], Kind]) -> Expr | None:
    """The type of what is made of some numbers, as a position in `TAGS`, where it is known of which they are."""
    made = [(holds, tag_number(kind(given))) for holds, given in _possibilities(args)]
    if not made:
        return None
    tag: Expr = Const(made[-1][1], "uint8")
    for holds, number in made[-2::-1]:
        tag = b.where(holds, Const(number, "uint8"), tag)
    return tag


def _doubted(values: Sequence[Value]) -> list[Scalar]:
    return [v for v in values if isinstance(v, Scalar) and v.doubt is not None]


def _told_by(value: Scalar) -> Expr:
    """What tells which of its types a number has, where something does."""
    assert value.doubt is not None
    return value.doubt.split.tag if value.doubt.split is not None else value.tag or value.expr


def _sides(value: Scalar) -> list[tuple[Expr, Static | Scalar]]:
    """The numbers, each of a certain type, that a number may be, and when it is which; none where that is not known."""
    assert value.doubt is not None
    if (split := value.doubt.split) is not None:
        return [(split.tag, split.one), (b.logical_not(split.tag), split.two)]
    if value.tag is None or len({*map(tag_number, value.doubt.kinds)}) < len(value.doubt.kinds):
        return []
    numbers = [Scalar(b.cast(value.expr, dtype), python) for dtype, python in value.doubt.kinds]
    return [(is_of_kind(value.tag, kind), held) for kind, held in zip(value.doubt.kinds, numbers, strict=True)]


def _side(value: Value, side: Mapping[Expr, int]) -> Value:
    """The one of its numbers that a number is on a side. A number of Python's that is none of NumPy's is 1 elsewhere:
    its checks are for where it is there."""
    if not isinstance(value, Scalar) or value.doubt is None:
        return value
    holds, made = _sides(value)[side[_told_by(value)]]
    if is_of_neither(value) and isinstance(made, Scalar) and kinds_of(made) == (("index", True),):
        return replace(made, expr=b.where(holds, made.expr, b.ONE))
    return made


def _grouped(ctx: Context, made: Sequence[tuple[Expr, Static | Scalar]], exact: bool) -> Split | None:
    """Numbers under conditions of which one holds, by their types, where these are two at most."""
    groups: dict[tuple[Kind, ...], list[tuple[Expr, Static | Scalar]]] = {}
    for holds, value in made:
        groups.setdefault(kinds_of(value), []).append((holds, value))
    if len(groups) > 2:
        return None
    sides: list[Static | Scalar] = []
    for kinds, group in groups.items():
        if len(kinds) != 1:
            return None
        body = scalar_expr(ctx, group[-1][1])
        for holds, value in group[-2::-1]:
            body = b.where(holds, scalar_expr(ctx, value), body)
        sides.append(group[0][1] if len(group) == 1 else Scalar(body, kinds[0][1]))
    tag: Expr = b.FALSE
    for holds, _ in next(iter(groups.values())):
        tag = b.either(tag, holds)
    return Split(tag, sides[0], sides[-1], exact)


def together(ctx: Context, split: Split, args: Sequence[Value], what: str) -> Value:
    """One number for two that have types of NumPy's: in the wider of both."""
    (one,), (two,) = kinds_of(split.one), kinds_of(split.two)
    parts = scalar_expr(ctx, split.one), scalar_expr(ctx, split.two)
    if one == two:
        return Scalar(b.where(split.tag, *parts), one[1])
    wide = np.promote_types(*(_numpy_name(k) for k in (one, two)))
    same = all(np.dtype(_numpy_name(k)).kind == wide.kind for k in (one, two)) and not (one[1] or two[1])
    if split.of_empty and not same:
        return _held_as_of_elements(ctx, split, parts, Doubt(tuple(sorted((one, two))), (), split=split))
    held = (str(wide.name), False) if same else holding_exactly(*one, *two) or _floats_for(ctx, split, parts, one, two)
    if held is None:
        depends(ctx, args, what)
    body = b.where(split.tag, b.cast(parts[0], held[0]), b.cast(parts[1], held[0]))
    return shown(Scalar(body, False, doubt=Doubt(tuple(sorted((one, two))), () if same else None, split=split)))


def _floats_for(ctx: Context, split: Split, parts: tuple[Expr, Expr], one: Kind, two: Kind) -> Kind | None:
    """The type that holds an integer or a float64, as lists of such do: after a check that it holds the integer."""
    for (dtype, _), (other, _), number, is_float in (
        (one, two, parts[0], b.logical_not(split.tag)), (two, one, parts[1], split.tag),
    ):  # fmt: skip
        if other == "float64" and np.dtype(_numpy_name((dtype, False))).kind in "iu":
            if ctx.facts.range_of(number) is None and np.dtype(_numpy_name((dtype, False))).itemsize == 8:
                ctx.guard(b.either(is_float, is_held_by_floats(ctx.let(number, "number"))), "OverflowError", NOT_HELD)
            return "float64", False
    return None


def is_held_by_floats(number: Expr) -> Expr:
    """Whether a float64 holds an integer."""
    holds = b.compare("less_equal", number, Const(1 << 53, number.dtype))
    if number.dtype != "uint64":
        holds = b.both(b.compare("greater_equal", number, Const(-(1 << 53), number.dtype)), holds)
    return holds


def _numpy_name(kind: Kind) -> str:
    return "int64" if kind[0] == "index" else kind[0]


def _held_as_of_elements(ctx: Context, split: Split, parts: tuple[Expr, Expr], doubted: Doubt) -> Value:
    """A number that is made of a list, held as what it is where the list has elements. Where what it is of none is not
    one of these numbers (-1.0 where these are unsigned), the list must not be empty."""
    (held,) = kinds_of(split.one)
    dtype = np.dtype(_numpy_name(held))
    fits: Expr = b.FALSE
    if isinstance(split.two, Static):
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            number = np.asarray(split.two.value)
            same = bool(np.array_equal(number.astype(dtype), number, equal_nan=number.dtype.kind in "fc"))
            fits = Const(bool(same and not (number.dtype.kind == "f" and number == 0 and np.signbit(number))), "bool")
    elif dtype.kind in "iu" and parts[1].dtype == "float64":
        limits = np.iinfo(dtype)
        least, beyond = (Const(float(v), "float64") for v in (limits.min, int(limits.max) + 1))
        whole: Expr = Apply("equal", (Apply("floor", (parts[1],), "float64"), parts[1]), "bool")
        zero = b.both(Apply("equal", (parts[1], Const(0.0, "float64")), "bool"), Apply("signbit", (parts[1],), "bool"))
        whole = b.both(whole, b.logical_not(zero))  # -0.0
        fits = b.both(whole, b.both(b.compare("greater_equal", parts[1], least), b.compare("less", parts[1], beyond)))
    holds = b.either(split.tag, fits)
    if b.constant(fits) != 1:
        ctx.guard(holds, "RuntimeError", EMPTY)
    if fits == b.FALSE:
        return split.one
    return Scalar(b.where(split.tag, parts[0], b.cast(parts[1], held[0])), held[1], doubt=doubted)


def _python_of(args: Sequence[Value], python: Callable[..., Any] | None) -> tuple[Any, ...] | None:
    """The numbers of Python's that an operation may give."""
    if python is None:
        return ()
    given = [python_numbers(a) for a in args]
    if () in given:
        return ()
    made: tuple[Any, ...] | None = ()
    try:
        for values in itertools.product(*(g for g in given if g is not None)):
            made = None if None in given else union(made, (python(*values),))
    except (ArithmeticError, TypeError, ValueError):
        return None
    return made
