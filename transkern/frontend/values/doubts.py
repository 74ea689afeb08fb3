"""Numbers whose type a branch or a loop decides at run time: one of Python's on one path, one of NumPy's on another.

They are held in one type for all (`types_of_scalars.py`) and computed with in it, as long as NumPy's types of what is
made of them do not depend on which it is. Where they do, the choice must be known: by code for calls in which the loop
before has an iteration, by a constant argument, or not at all.
"""

from __future__ import annotations

import contextlib
import itertools
import math
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NoReturn, TypeAlias, TypeVar

import numpy as np

from transkern import refusals
from transkern.errors import EMPTY, NOT_HELD
from transkern.frontend.anew import Site, Terminated
from transkern.frontend.context import Context
from transkern.frontend.values.scalars import scalar_expr
from transkern.frontend.values.types_of_scalars import holding_exactly
from transkern.frontend.values.values import Array, Doubt, Kind, Scalar, Split, Static, Value
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
    kinds = tuple(sorted(ctx.learned.held.tell(site)))
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
    return made and replace(made, split=split, told=_told((one, two)))


def _handed_on(values: Sequence[Value]) -> bool:
    """Whether a loop would have to hand on which of their types some numbers have."""
    return any(d.split is None or d.split.handed_on for d in doubts_of(values))


def _told(values: Sequence[Value]) -> Callable[[], None] | None:
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
        if any(_is_of_empty(v) for v in values):
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
    if (told := _told([value])) is not None:
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


def _is_of_empty(value: Value) -> bool:
    return split_of_empty(value) is not None


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
    body = b.where(some, full.expr, b.cast(_expr(empty, full.dtype), full.dtype))
    return replace(full, expr=body, doubt=of_both(full, empty, None, chosen(some, full, empty)))


def settled(ctx: Context, value: Value) -> Value:
    """A number on its way to where it cannot be told whether it is made of a list that is empty: which must not be."""
    if not _is_of_empty(value):
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
    return value.doubt.split.one if _is_of_empty(value) else value  # type: ignore[union-attr]


def _runs(values: Sequence[Value]) -> Expr | None:
    """That each loop before `values` has an iteration, where that says something about their types."""
    conditions = [d.runs for d in doubts_of(values) if d.runs is not None]
    condition: Expr = b.TRUE
    for c in dict.fromkeys(conditions):
        condition = b.both(condition, c)
    return condition if conditions else None


def assume_runs(ctx: Context, values: Sequence[Value]) -> bool:
    """Code for calls in which the loops before `values` have an iteration, where a call can tell."""
    condition = _runs(values)
    if condition is None or buffers_read(condition) or not variables_read(condition) <= ctx.facts.entry:
        return False
    ctx.facts.assume(condition)
    return True


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
    if (told := _told(values)) is not None:
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


def _may_not_fit(value: Value, dtype: str) -> bool:
    """Whether a number is a Python integer that may be none of an integer type of NumPy's."""
    if kinds_of(value) != (("index", True),) or not dtype.startswith(("int", "uint")) or dtype == "int64":
        return False
    limits = np.iinfo(dtype)
    return not (isinstance(value, Static) and limits.min <= value.value <= limits.max)


def is_changed(value: Value, held: str) -> bool:
    """Whether one of the numbers of Python's that a value may be is another number in the type that holds it."""
    numbers = python_numbers(value)
    if numbers is None:
        return True
    with np.errstate(all="ignore"):
        return any(v == v and np.dtype(held).type(v).item() != v for v in numbers)


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
        return results if single and join(results) == held[1] else None

    def result(types: list[Kind], doubted: Doubt | None) -> Value:
        made = compute([replace(a, doubt=None) if isinstance(a, Scalar) else a for a in args])
        if not isinstance(made, Scalar) or len(types) < 2:
            return made
        return replace(made, doubt=doubted, tag=_tag_of_made(args, of_kinds) if len(types) > 2 else None)

    every = kinds(False)
    mixed = any(map(_is_of_empty, args)) and not all(_is_of_empty(a) for a in args if doubts_of([a]))
    if mixed and (every is None or len(every) > 1):
        return computed(ctx, [settled(ctx, a) for a in args], types, join, python, compute, what)
    sure = kinds(True) if every is None or len(every) > 1 else None
    decides = doubts_of(args)[0].decides
    if every is None and sure is not None and assume_runs(ctx, args):
        return result(sure, doubt(sure, _python_of(args, python), decides))
    raises = raises and single and any(kind[1][1] for kind in outcomes(args, types))
    if raises:
        ask_for_split(args)
    of_empty = single and any(map(_is_of_empty, args))
    split = _split(ctx, args, compute, every is None or raises or of_empty) if single else None
    if split is not None and split.one is split.two:
        return split.one
    if of_empty:
        return compute([settled(ctx, a) for a in args]) if split is None else together(ctx, split, args, what)
    if every is None:
        if split is None and any(map(_is_of_empty, args)):
            return compute([settled(ctx, a) for a in args])
        if split is None and not single and len({kind for _, kind in outcomes(args, types)}) == 1:
            arrays = chosen_array(ctx, args, compute)
            if arrays is not None:
                return arrays
        if split is None:
            depends(ctx, args, what)
        return together(ctx, split, args, what)
    if len(every) == 1:
        return result(every, None)
    doubted = doubt(every, _python_of(args, python), decides)
    assert doubted is not None
    runs = _runs(args)
    if runs is not None and sure is not None:
        doubted = replace(doubted, sure=tuple(sure), runs=runs)
    return result(every, replace(doubted, split=split, told=_told(args)))


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
    for holds, chosen in _possibilities(args):
        value: Value | None = None
        with ctx.emitter.block() as out, contextlib.suppress(Terminated):
            value = compute(chosen)
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
    made = [(holds, tag_number(kind(chosen))) for holds, chosen in _possibilities(args)]
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
                out.append(n.Assign(variable.name, _expr(p, kind[0]), span=ctx.session.span))
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
                parts = (_expr(first, kind[0]), _expr(second, kind[0]))
                side = replace(side, expr=b.where(condition, *parts))
            sides.append(side)
        elif first == second:
            sides.append(first)
        else:
            sides.append(Scalar(b.where(condition, _expr(first, kind[0]), _expr(second, kind[0])), kind[1]))
    return Split(tag, sides[0], sides[1])


def _expr(value: Static | Scalar | None, dtype: str) -> Expr:
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
