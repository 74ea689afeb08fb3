"""Numbers whose type a branch or a loop decides at run time: one of Python's on one path, one of NumPy's on another.

They are held in one type for all (`types_of_scalars.py`) and computed with in it, as long as NumPy's types of what is
made of them do not depend on which it is. Where they do, the choice must be known: by code for calls in which the loop
before has an iteration, by a constant argument, or not at all.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, NoReturn, TypeAlias, TypeVar

import numpy as np

from transkern import refusals
from transkern.errors import EMPTY
from transkern.frontend.anew import Site
from transkern.frontend.context import Context
from transkern.frontend.values.values import Array, Doubt, Kind, Scalar, Seq, Split, Static, Value
from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Apply, Const, Expr, Var
from transkern.ir.nodes import TAGS
from transkern.ir.traverse import buffers_read, variables_read

T = TypeVar("T")
Types: TypeAlias = tuple[tuple[str, ...], Kind]  # of an operation: its operands' types in it, and its result's
_MANY = 4


def doubts_of(values: Sequence[Value]) -> list[Doubt]:
    return [v.doubt for v in values if isinstance(v, Scalar) and v.doubt is not None]


def doubt(kinds: Sequence[Kind], python: tuple[Any, ...] | None, decides: Expr | None = None) -> Doubt | None:
    """The doubt between types, where there are several."""
    different = tuple(sorted(set(kinds)))
    return Doubt(different, python, decides=decides) if len(different) > 1 else None


def of_a_list(ctx: Context, site: Site | None, held: Expr, python: bool, tag: Expr) -> Scalar:
    """A number from a list of several types, which holds it as `held`."""
    return told_by(tuple(sorted(ctx.learned.held.tell(site))), held, python, tag)


def told_by(kinds: tuple[Kind, ...], held: Expr, python: bool, tag: Expr) -> Scalar:
    """A number of one of several types, which `tag` tells (`tag_number`)."""
    if len(kinds) == 1:
        return Scalar(b.cast(held, kinds[0][0]), kinds[0][1], tag)
    made = doubt(kinds, None)
    if made is not None and len({*map(tag_number, kinds)}) == len(kinds) == 2:
        one, two = (Scalar(b.cast(held, dtype), of_python) for dtype, of_python in kinds)
        made = replace(made, split=Split(is_of_kind(tag, kinds[0]), one, two, exact=True))
    return Scalar(held, python and all(of_python for _, of_python in kinds), tag, made)


def is_of_kind(tag: Expr, kind: Kind) -> Expr:
    """Whether a number of a list of several types is of this one."""
    return Apply("equal", (tag, Const(tag_number(kind), "uint8")), "bool")


def tag_number(kind: Kind) -> int:
    """The position of a type in `TAGS`."""
    dtype, python = kind
    if python:
        dtype = {"index": "int", "float64": "float", "complex128": "complex"}.get(dtype, dtype)
    elif dtype == "bool":
        dtype = "bool_"
    return TAGS.index(dtype) if dtype in TAGS else 0


def of_both(one: Value, two: Value, decides: Expr | None, split: Split | None) -> Doubt | None:
    """The doubt about the type of a number that is one of two."""
    python = union(python_numbers(one), python_numbers(two))
    made = doubt((*kinds_of(one), *kinds_of(two)), python, decides)
    if split is not None and _handed_on((one, two)):
        split = replace(split, handed_on=True)
    return made and replace(made, split=split, told=told_of((one, two)))


def _handed_on(values: Sequence[Value]) -> bool:
    """Whether a loop would have to hand on which of their types some numbers have."""
    return any(d.split is None or d.split.handed_on for d in doubts_of(values))


def told_of(values: Sequence[Value]) -> Callable[[], None] | None:
    """What is called by who needs to know which of their types some numbers have, where that is not known yet."""
    calls = [d.told for d in doubts_of(values) if d.split is None and d.told is not None]
    if not calls:
        return None

    def tell() -> None:
        for call in calls:
            call()

    return tell


def kinds_of(value: Value) -> tuple[Kind, ...]:
    """The types that a number may have."""
    match value:
        case Scalar(doubt=Doubt(kinds)):
            return kinds
        case Scalar(expr, python):
            return ((expr.dtype, python),)
        case Static(np.generic() as number):
            return ((number.dtype.name, False),)
        case Static(bool() | int() | float() | complex() as number):
            name = next(n for t, n in _PYTHON if isinstance(number, t))
            return ((name, True),)
        case Array():
            return ((value.dtype, False),)
        case _:
            return ()


_PYTHON = ((bool, "bool"), (int, "index"), (float, "float64"), (complex, "complex128"))


def python_numbers(value: Value) -> tuple[Any, ...] | None:
    """The numbers of Python's that a number may be; None where they are not all constants."""
    match value:
        case Scalar(python=python, doubt=None):
            return None if python else ()
        case Scalar(doubt=Doubt(python=numbers)):
            return numbers
        case Static(number) if not isinstance(number, np.generic):
            return (number,)
        case _:
            return ()


def union(one: tuple[Any, ...] | None, two: tuple[Any, ...] | None) -> tuple[Any, ...] | None:
    """The numbers of both, where they are constants."""
    if one is None or two is None:
        return None
    both = tuple({(type(v), repr(v)): v for v in (*one, *two)}.values())
    return both if len(both) <= _MANY else None


def outcomes(values: Sequence[Value], of: Callable[[Sequence[Value]], T], sure: bool = False) -> list[T]:
    """What `of` answers for each of the types that `values` may have (`sure`: if the loops before them ran)."""
    names: dict[Expr, tuple[Kind, ...]] = {}
    for v in values:
        if isinstance(v, Scalar) and v.doubt is not None:
            names[v.expr] = v.doubt.sure if sure and v.doubt.runs is not None else v.doubt.kinds
    found = []
    for chosen in itertools.product(*names.values()):
        kinds = dict(zip(names, chosen, strict=True))
        found.append(of([
            Scalar(Var("?", kinds[v.expr][0]), kinds[v.expr][1]) if isinstance(v, Scalar) and v.expr in kinds else v
            for v in values
        ]))  # fmt: skip
    return list(dict.fromkeys(found))


def certain(ctx: Context, values: Sequence[Value], of: Callable[[Sequence[Value]], T], what: str) -> T:
    """What `of` answers for `values`, of whichever types they are; an error where that depends on them."""
    held = of(values)
    if doubts_of(values) and outcomes(values, of) != [held]:
        if any(is_of_empty(v) for v in values):
            return certain(ctx, [settled(ctx, v) for v in values], of, what)
        if not assume_runs(ctx, values) or outcomes(values, of, sure=True) != [held]:
            depends(ctx, values, what)
    return held


def agreed(ctx: Context, value: Value, of: Callable[[Value], T], what: str) -> T:
    """What `of` answers for a number, of whichever type it is (`certain`)."""
    return certain(ctx, [value], lambda given: of(given[0]), what)


def whether(ctx: Context, value: Value, of: Callable[[Value], bool], what: str) -> bool | Expr:
    """Whether a number is what `of` asks about its type: at run time, where that depends on which it has."""
    if not doubts_of([value]):
        return of(value)
    if len(answers := outcomes([value], lambda given: of(given[0]))) == 1:
        return answers[0]
    if (told := told_of([value])) is not None:
        told()
    assert isinstance(value, Scalar) and value.doubt is not None
    split = value.doubt.split
    if split is None or split.of_empty:
        return agreed(ctx, value, of, what)
    return split.tag if of(split.one) else b.logical_not(split.tag)


def split_of_empty(value: Value) -> Split | None:
    """What a number is where the list that it is made of has elements, and where it has none; or nothing."""
    split = value.doubt.split if isinstance(value, Scalar) and value.doubt is not None else None
    return split if split is not None and split.of_empty else None


def is_of_empty(value: Value) -> bool:
    return split_of_empty(value) is not None


def settled(ctx: Context, value: Value) -> Value:
    """A number on its way to where it cannot be told whether it is made of a list that is empty: which must not be."""
    if not is_of_empty(value):
        return value
    assert isinstance(value, Scalar) and value.doubt is not None and value.doubt.split is not None
    ctx.guard(value.doubt.split.tag, "RuntimeError", EMPTY)
    return value.doubt.split.one


def settled_array(ctx: Context, value: Array) -> Array:
    """The same of an array."""
    if value.empty is None:
        return value
    ctx.guard(value.empty.some, "RuntimeError", EMPTY)
    return replace(value, empty=None)


def carried(value: Value) -> Value:
    """A number as loops and branches hand it on (`settled`)."""
    return value.doubt.split.one if is_of_empty(value) else value  # type: ignore[union-attr]


def loops_ran(values: Sequence[Value]) -> Expr | None:
    """That each loop before `values` has an iteration, where that says something about their types."""
    conditions = [d.runs for d in doubts_of(values) if d.runs is not None]
    condition: Expr = b.TRUE
    for c in dict.fromkeys(conditions):
        condition = b.both(condition, c)
    return condition if conditions else None


def assume_runs(ctx: Context, values: Sequence[Value]) -> bool:
    """Code for calls in which the loops before `values` have an iteration, where a call can tell."""
    condition = loops_ran(values)
    if condition is None or buffers_read(condition) or not variables_read(condition) <= ctx.facts.entry:
        return False
    ctx.facts.assume(condition)
    return True


def as_left_by_loops(ctx: Context, values: Sequence[Value]) -> list[Value] | None:
    """Numbers as the loops before them leave them, in code for calls in which these have an iteration; None where that
    says nothing of them, or where no call can tell."""
    found: list[Value] = []
    for v in values:
        of_one = isinstance(v, Scalar) and v.doubt is not None and v.doubt.runs is not None and len(v.doubt.sure) == 1
        left = part(v, v.doubt.sure[0]) if of_one and v.doubt.split is not None else None  # type: ignore[union-attr]
        found.append(v if left is None else left)
    return found if found != list(values) and assume_runs(ctx, values) else None


def depends(ctx: Context, values: Sequence[Value], what: str) -> NoReturn:
    """The error where a type depends on the types of `values`."""
    doubted = doubts_of(values)[0]
    kinds = " or ".join(f"a {_word(k)}" if k[1] else f"a NumPy {k[0]}" for k in doubted.kinds)
    ctx.must_be_known(
        Static(None) if doubted.decides is None else Scalar(doubted.decides),
        f"{what} a number that is {kinds}, as run-time conditions decide: the type of the result depends on it",
        "give the number one type on all paths: x.dtype.type(0) for 0",
        refusals.TYPE_DIFFERS,
    )


def ask_for_split(values: Sequence[Value]) -> bool:
    """Has the loops before `values` translated again with what tells their types, where they have not been; whether
    there are such."""
    if (told := told_of(values)) is not None:
        told()
    return told is not None


def is_of_neither(value: Value) -> bool:
    """Whether a number may have a type of NumPy's which is not the one that it is held in."""
    if not isinstance(value, Scalar) or value.doubt is None:
        return False
    return any(dtype != value.dtype for dtype, of_python in value.doubt.kinds if not of_python)


def is_all_pythons(value: Value) -> bool:
    """Whether a number is of one of several types of Python's, of which the caller is to see which it is."""
    return isinstance(value, Scalar) and value.doubt is not None and all(python for _, python in value.doubt.kinds)


def shown(value: Scalar) -> Scalar:
    """A number held in a type that is not its own: which of its types it has, the caller is to see."""
    if value.doubt is None or value.doubt.split is None or not is_of_neither(value):
        return value
    return replace(value, doubt=replace(value.doubt, split=replace(value.doubt.split, exact=True)))


def in_one_type(value: Value) -> Value:
    """The numbers of a list in the types that hold them, for who asks for their order alone: NumPy may make integers or
    floats of them, as run-time conditions decide."""
    if not isinstance(value, Seq):
        return value
    items = (
        Scalar(i.expr) if isinstance(i, Scalar) and i.doubt is not None and not is_rounded(i.doubt, i.dtype) else i
        for i in value.items
    )
    return replace(value, items=tuple(items))


def is_rounded(doubted: Doubt, held: str, sure: bool = False) -> bool:
    """Whether it may be a number of Python's which is another one in the type that holds it."""
    kinds = doubted.sure if sure and doubted.runs is not None else doubted.kinds
    if held == "float64" and ("index", True) in kinds:
        return any(isinstance(v, int) and float(v) != v for v in doubted.python or ())
    if ("float64", True) not in kinds or held not in ("float32", "float16", "complex64"):
        return False
    if doubted.python is None:
        return True
    with np.errstate(all="ignore"):
        return any(v == v and np.dtype(held).type(v).item() != v for v in doubted.python)


def is_changed(value: Value, held: str) -> bool:
    """Whether one of the numbers of Python's that a value may be is another number in the type that holds it."""
    numbers = python_numbers(value)
    if numbers is None:
        return True
    with np.errstate(all="ignore"):
        return any(v == v and np.dtype(held).type(v).item() != v for v in numbers)


def choice(values: Sequence[Value]) -> tuple[Kind, Kind] | None:
    """The two types of some numbers, Python's first, where there are two and each of the numbers is told by its tag."""
    kinds: list[Kind] = []
    for v in values:
        if isinstance(v, Scalar) and v.doubt is not None and v.doubt.split is None:
            return None
        kinds += kinds_of(v)
    two = sorted(set(kinds), key=lambda k: (not k[1], k[0]))
    return (two[0], two[1]) if len(two) == 2 else None


def tag_of(value: Value, kind: Kind) -> Expr:
    """Whether a number is of a type."""
    if isinstance(value, Scalar) and value.doubt is not None:
        assert value.doubt.split is not None
        split = value.doubt.split
        return split.tag if kinds_of(split.one) == (kind,) else b.logical_not(split.tag)
    return b.TRUE if kinds_of(value) == (kind,) else b.FALSE


def part(value: Value, kind: Kind) -> Static | Scalar | None:
    """The number as it is where it is of a type."""
    if isinstance(value, Scalar) and value.doubt is not None:
        assert value.doubt.split is not None
        split = value.doubt.split
        return next((v for v in (split.one, split.two) if kinds_of(v) == (kind,)), None)
    if isinstance(value, Array):
        value = Scalar(value.body)
    return value if isinstance(value, (Static, Scalar)) and kinds_of(value) == (kind,) else None


def joined_at(
    ctx: Context, name: str, held: Scalar, values: Sequence[Value], outs: Sequence[list[n.Stmt]],
    kinds: tuple[Kind, ...] = (),
) -> Split | None:  # fmt: skip
    """The numbers that `held` may be where paths meet, which leave it `values` at the ends of `outs`.

    With `kinds`, other paths will: to a variable, whichever it is.
    """
    two = choice((*values, *(Scalar(Var("?", dtype), python) for dtype, python in kinds)))
    if two is None:
        return None
    tag = ctx.names.tentative(f"{name} is {_word(two[0])}", "bool")
    for value, out in zip(values, outs, strict=True):
        out.append(n.Assign(tag.name, tag_of(value, two[0]), span=ctx.session.span))
    sides = []
    for kind in two:
        parts = [part(v, kind) for v in values]
        constants = {repr(p): p for p in parts if p is not None}
        if kind[0] == held.dtype:
            sides.append(Scalar(held.expr, kind[1]))
        elif not kinds and len(constants) == 1 and isinstance(one := next(iter(constants.values())), Static):
            sides.append(one)  # type: ignore[arg-type]
        else:
            variable = ctx.names.tentative(name, kind[0])
            for p, out in zip(parts, outs, strict=True):
                out.append(n.Assign(variable.name, expr_of(p, kind[0]), span=ctx.session.span))
            sides.append(Scalar(variable, kind[1]))
    return Split(tag, sides[0], sides[1])


def handed_on(slot: Scalar, split: Split, value: Value) -> list[tuple[Value, Value]]:
    """What becomes of the numbers that a slot may be, when it becomes `value`: pairs of variables and their values."""
    (kind,) = kinds_of(split.one)
    if choice((slot, value)) is None:
        return []  # the loop is translated again
    pairs: list[tuple[Value, Value]] = [(Scalar(split.tag, True), Scalar(tag_of(value, kind), True))]
    for side in (split.one, split.two):
        other = part(value, kinds_of(side)[0])
        if isinstance(side, Scalar) and side.expr != slot.expr and other is not None and other != side:
            pairs.append((side, other))
    return pairs


def of_kinds(slot: Scalar, kinds: tuple[Kind, ...]) -> Scalar:
    """A number that has one of fewer types than a loop had to hold."""
    if len(kinds) == 1 and kinds[0][0] != slot.dtype and is_of_neither(slot):
        return Scalar(b.cast(slot.expr, kinds[0][0]), kinds[0][1])
    assert slot.doubt is not None
    return replace(slot, doubt=doubt(kinds, slot.doubt.python))


def after(slot: Scalar, before: Value | None, left: tuple[Kind, ...], runs: Expr) -> Split | None:
    """The numbers that a slot may be after a loop whose iterations leave one type, and which may have none."""
    if before is None or len(left) > 1 or len(kinds_of(before)) > 1 or kinds_of(before) == left:
        return None
    if left[0][0] != slot.dtype and not is_of_neither(slot):
        return None
    first = part(before, kinds_of(before)[0])
    ran = Scalar(b.cast(slot.expr, left[0][0]), left[0][1])
    return None if first is None else Split(b.logical_not(runs), first, ran, exact=is_of_neither(slot))


def unless_empty(result: Scalar, start: Value, count: Expr) -> Value:
    """What `count` steps make of `start`, which is as it was where there are none."""
    kinds = kinds_of(result)
    if b.constant(count) == 0:
        return start
    if len(kinds_of(start)) != 1 or kinds_of(start) == kinds or (b.constant(count) or 0) > 0:
        return result
    made = of_both(start, result, None, after(result, start, kinds, b.compare("greater", count, b.ZERO)))
    return replace(result, doubt=made and replace(made, sure=kinds, runs=b.compare("greater", count, b.ZERO)))


def chosen(condition: Expr, one: Value, two: Value) -> Split | None:
    """The numbers that ``one if condition else two`` may be."""
    kinds = choice((one, two))
    if kinds is None:
        return None
    tag = b.where(condition, tag_of(one, kinds[0]), tag_of(two, kinds[0]))
    sides: list[Static | Scalar] = []
    for kind in kinds:
        first, second = part(one, kind), part(two, kind)
        if first is None or second is None:
            side = first or second
            assert side is not None
            if isinstance(side, Scalar) and buffers_read(side.expr):  # it may be there on its path alone
                parts = (expr_of(first, kind[0]), expr_of(second, kind[0]))
                side = replace(side, expr=b.where(condition, *parts))
            sides.append(side)
        elif first == second:
            sides.append(first)
        else:
            sides.append(Scalar(b.where(condition, expr_of(first, kind[0]), expr_of(second, kind[0])), kind[1]))
    return Split(tag, sides[0], sides[1])


def expr_of(value: Static | Scalar | None, dtype: str) -> Expr:
    if isinstance(value, Scalar):
        return value.expr
    return Const(0 if value is None else getattr(value.value, "item", lambda: value.value)(), dtype)


def _word(kind: Kind) -> str:
    names = {"index": "int", "float64": "float", "complex128": "complex"}
    return f"Python {names.get(kind[0], kind[0])}" if kind[1] else kind[0]


def named(ctx: Context, doubted: Doubt | None, name: str) -> Doubt | None:
    """The doubt about a number that gets a name: what it may be is evaluated now, too, if anybody asks for it."""
    if doubted is None or doubted.split is None:
        return doubted
    split = doubted.split
    sides = [
        replace(v, expr=ctx.let_tentative(v.expr, name)) if isinstance(v, Scalar) else v for v in (split.one, split.two)
    ]
    tag = ctx.let_tentative(split.tag, f"{name} is")
    return replace(doubted, split=replace(split, tag=tag, one=sides[0], two=sides[1]))


