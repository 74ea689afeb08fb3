"""What NumPy makes of a list that is empty at run time: an array of float64, whatever the list would have held.

Compiled code has one type for a list, that of its elements. So NumPy itself is asked, while a function is translated,
what an operation makes of the empty list. Where that is of another type, an array remembers it (`Array.empty`), and a
number is one of two (`Split.of_empty`); both are told apart where they are handed to the caller. Where they cannot be
(the result has elements of other arrays in it, or a loop hands a number on), it is an error at run time that the list
is empty.
"""

from __future__ import annotations

import itertools
import operator as operators
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np

from transkern.errors import EMPTY, SEVERAL
from transkern.frontend.context import Context
from transkern.frontend.numpy.arrays import as_array
from transkern.frontend.python.arithmetic import PYTHON_OPERATORS
from transkern.frontend.sources import identity
from transkern.frontend.sources.measures import check_sizes
from transkern.frontend.values import asking
from transkern.frontend.values.doubts import tag_number
from transkern.frontend.values.types_of_scalars import joined
from transkern.frontend.values.values import (
    Array,
    Concatenation,
    Doubt,
    Empty,
    GrowingList,
    Kind,
    Known,
    Range,
    Scalar,
    Seq,
    Slice,
    Split,
    Static,
    Value,
)  # fmt: skip
from transkern.ir import build as b
from transkern.ir.expr import Apply, Const, Expr, Load, Reduce
from transkern.ir.facts import implied

Compute: TypeAlias = Callable[[Sequence[Value], Mapping[str, Value]], Value]
_CASES = 3  # of lists that an operation is given
_BUILTINS = {"abs": abs, "divmod": divmod, "pow": pow, "round": round, "range": range}
_MODULES = ("numpy", "numpy.linalg", "numpy.fft")
_MAKERS = frozenset([
    "arange", "eye", "full", "geomspace", "identity", "linspace", "logspace", "ones", "pad", "repeat", "resize", "tile",
    "tri", "zeros",
])  # fmt: skip
"""What makes arrays of a size that a number says."""
_BY_TYPES = ("only integers", "arrays used as indices")  # IndexErrors that types decide, not numbers


class _Unknown(Exception):
    """NumPy cannot be asked about this value."""


@dataclass(frozen=True, slots=True)
class _Answers:
    """What NumPy makes of the empty list with others of its arguments standing for all that they may be: `values`, one
    for each of two sizes of arrays, or an error. `exact`: nothing stood for something else."""

    values: tuple[Any, ...]
    error: Exception | None = None
    exact: bool = False
    sure: bool = False  # no number stood for another, and only arrays of no elements did for others

    def item(self, k: int) -> _Answers:
        return replace(self, values=tuple(v[k] for v in self.values))

    @property
    def whole(self) -> Any:
        """The value, where it is that whatever the other arguments hold."""
        first = self.values[0]
        none = all(
            isinstance(v, np.ndarray) and v.size == 0 and (v.shape, v.dtype) == (first.shape, first.dtype)
            for v in self.values
        )
        return first if self.exact or none or (self.sure and len(self.values) == 1) else None


def known(ctx: Context, path: str, args: Sequence[Value], keywords: Mapping[str, Value], compute: Compute) -> Value:
    """A call of a known function, which `compute` translates."""
    module, _, name = path.rpartition(".")
    function: Any
    if module == "builtins":
        function = _BUILTINS.get(name)
    elif module.startswith("numpy.") and isinstance(of := identity.resolved(module), np.ufunc):
        function = getattr(of, name, None)
    else:
        function = identity.resolved(path) if module in _MODULES else None
    return compute(args, keywords) if function is None else told(ctx, function, args, keywords, compute)


@dataclass(frozen=True, slots=True)
class _Case:
    """What may be of a list unless `some` holds: it is empty (`known`: the condition as it was written), or it has
    numbers of one of the `mixtures` of types in it, of which NumPy makes an array of another type than the list's."""

    some: Expr
    known: Expr = b.FALSE
    mixtures: tuple[tuple[Kind, ...], ...] = ()
    of: str = ""  # the list's count


def told(
    ctx: Context, asked: Callable[..., Any], args: Sequence[Value], keywords: Mapping[str, Value], compute: Compute
) -> Value:
    """What `compute` makes of the arguments, with what `asked`, of NumPy, makes of lists in them that are empty."""
    given = [*args, *keywords.values()]
    cases = {} if ctx.lists.apart else _cases(ctx, given)
    if not cases:
        return compute(args, keywords)
    plain, plain_keywords = [_plain(a) for a in args], {k: _plain(v) for k, v in keywords.items()}
    if len(cases) > _CASES:
        return compute(plain, plain_keywords)
    cases = {key: replace(case, some=ctx.let_tentative(case.some, "some")) for key, case in cases.items()}
    left = []
    for chosen in itertools.product((True, False), repeat=len(cases)):
        there = [key for key, is_there in zip(cases, chosen, strict=True) if is_there]
        counts = [cases[key].of for key in there if cases[key].of]
        is_one = bool(there) and len(counts) == len(set(counts))
        answers = _ask(ctx, asked, args, keywords, {key: cases[key].mixtures for key in there}) if is_one else None
        if answers is None:
            continue
        holds: Expr = b.FALSE  # unless it is just these
        for key, case in cases.items():
            holds = b.either(holds, case.some if key in there else b.logical_not(case.some))
        if answers.error is None:
            known = next(iter(cases.values())).known if len(cases) == 1 else b.FALSE
            mixtures = next((cases[key].mixtures for key in there if cases[key].mixtures), ())
            left.append((answers, _Case(holds, known, mixtures)))
        elif _by_types(answers, given):
            ctx.guard(holds, *asking.told(answers.error))
    before, types = ctx.lists.of_elements, ctx.lists.array_types
    if asked not in _BUILTINS.values():
        lists = [v for v in given if isinstance(v, GrowingList) and _mixtures(ctx, v)]
        ctx.lists.array_types = types | {v.buffer: str(_dtype(_array_type(ctx, v)).name) for v in lists}
    ctx.lists.apart += 1
    try:
        for case in cases.values():
            ctx.lists.of_elements = b.both(ctx.lists.of_elements, b.TRUE if case.mixtures else case.some)
        made = compute(plain, plain_keywords)
    finally:
        ctx.lists.apart -= 1
        ctx.lists.of_elements, ctx.lists.array_types = before, types
    for answers, case in left:
        made = _or_empty(ctx, made, answers, case)
    return made


def operation(ctx: Context, op: str, args: Sequence[Value], compute: Callable[[Sequence[Value]], Value]) -> Value:
    """A Python operator, by the name of its ufunc; numbers alone are told apart in `doubts`."""
    if all(isinstance(a, (Scalar, Static)) for a in args):
        return compute(args)
    asked = operators.matmul if op == "matmul" else PYTHON_OPERATORS[op]
    return told(ctx, asked, args, {}, lambda given, _: compute(given))


def _cases(ctx: Context, values: Sequence[Value]) -> dict[Expr, _Case]:
    """What may be of the lists among some values, or behind them."""
    found: dict[Expr, _Case] = {}
    for v in values:
        match v:
            case GrowingList() if (v.dtype or v.columns or v.rows is not None) and v.objects is None:
                if b.constant(v.length) is None and not implied(has_some(v), ctx.facts.conditions):
                    found[has_some(v)] = _Case(has_some(v), has_some(v), of=v.count)
                if mixtures := _mixtures(ctx, v):
                    found[_tag_behind(v)] = _Case(_is_no_mixture(ctx, v, mixtures), mixtures=mixtures, of=v.count)
            case Array(empty=Empty(some, _, known)):
                found[some] = _Case(some, known)
            case Scalar(doubt=Doubt(split=Split(tag=some, of_empty=True))):
                found[some] = _Case(some)
            case Seq(items):
                ctx.session.step(len(items) // 64)
                found |= _cases(ctx, list({id(i): i for i in items}.values()))  # one list may stand there often
            case Slice(start, stop, step):
                found |= _cases(ctx, [p for p in (start, stop, step) if p is not None])
    return found


def _plain(value: Value) -> Value:
    """A value as it is where no list is empty."""
    match value:
        case Array():
            return replace(value, empty=None)
        case Scalar(doubt=Doubt(split=Split(one=one, of_empty=True))):
            return one
        case Seq(items):
            return replace(value, items=tuple(map(_plain, items)))
        case Slice(start, stop, step):
            return Slice(*(None if p is None else _plain(p) for p in (start, stop, step)))
        case _:
            return value


def has_some(owner: GrowingList) -> Expr:
    """The condition that a list is not empty."""
    return b.compare("greater", owner.length, b.ZERO)


def _mixtures(ctx: Context, owner: GrowingList) -> tuple[tuple[Kind, ...], ...]:
    """The sets of types that the numbers of a list may have, of which NumPy makes an array of another type than its."""
    if owner.tags not in ctx.names.buffers:
        return ()
    kinds = sorted(ctx.learned.held.tell(owner.site))
    sets = itertools.chain.from_iterable(itertools.combinations(kinds, k) for k in range(1, len(kinds) + 1))
    made = _array_type(ctx, owner)
    return tuple(s for s in sets if np.result_type(*(_dtype(dtype) for dtype, _ in s)) != _dtype(made))


def _array_type(ctx: Context, owner: GrowingList) -> str:
    """The type of the array that NumPy makes of a list of several types in most cases: in the end, elements that stood
    for others (`[0.0] * n`) are gone. That it is this one is checked."""
    kinds = sorted(ctx.learned.held.tell(owner.site))
    kind = joined(kinds) if kinds else None
    return owner.dtype if kind is None else kind[0]


def _tag_behind(owner: GrowingList) -> Expr:
    """What stands for a list of several types as it is now."""
    return Load(owner.tags, owner.index(owner.length), "uint8")


def _is_no_mixture(ctx: Context, owner: GrowingList, mixtures: Sequence[tuple[Kind, ...]]) -> Expr:
    """The condition that the types of a list's numbers are none of some sets."""
    has: dict[Kind, Expr] = {}
    for kind in sorted(ctx.learned.held.tell(owner.site)):
        axis = ctx.names.axis("k", owner.length)
        tag = ctx.names.load(owner.tags, owner.index(axis.var))
        is_one = Apply("equal", (tag, Const(tag_number(kind), "uint8")), "bool")
        has[kind] = ctx.let_tentative(Reduce("any", (axis,), is_one, "bool"), "has")
    found: Expr = b.FALSE
    for mixture in mixtures:
        just: Expr = b.TRUE
        for kind, there in has.items():
            just = b.both(just, there if kind in mixture else b.logical_not(there))
        found = b.either(found, just)
    return b.logical_not(found)


def _ask(
    ctx: Context, asked: Callable[..., Any], args: Sequence[Value], keywords: Mapping[str, Value],
    there: Mapping[Expr, tuple[tuple[Kind, ...], ...]],
) -> _Answers | None:  # fmt: skip
    """What NumPy makes of the arguments in the cases that are `there`, with their mixtures: nothing, where it cannot be
    asked."""
    values: list[Any] = []
    errors: list[Exception] = []
    for size, k in itertools.product((0, 1), range(max(1, *map(len, there.values())))):
        standing = _Standing(ctx, {key: of[k % len(of)] if of else () for key, of in there.items()}, size)
        try:
            given = [standing.value(a) for a in args]
            named = {k: standing.value(v) for k, v in keywords.items()}
        except _Unknown:
            return None
        if getattr(asked, "__name__", "") in _MAKERS:
            check_sizes([*given, *named.values()])
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            try:
                values.append(asked(*given, **named))
            except Exception as error:  # whatever NumPy raises
                errors.append(error)
        if not standing.arrays and not standing.mixed:
            break
    exact = not standing.arrays and not standing.numbers
    if values:
        return _Answers(tuple(values), None, exact, not standing.numbers and not (size and not errors))
    if len({(type(e), str(e)) for e in errors}) > 1:
        return None
    return _Answers((), errors[0], exact)


@dataclass(slots=True)
class _Standing:
    """NumPy's values in the place of those that only a call knows: of their types, arrays of `size` elements an axis.

    It notes whether `arrays` or `numbers` stood for others.
    """

    ctx: Context
    there: Mapping[Expr, tuple[Kind, ...]]
    size: int
    arrays: bool = False
    numbers: bool = False
    mixed: bool = False

    def value(self, value: Value) -> Any:
        match value:
            case Static(held):
                return held
            case GrowingList():
                return self.list_of(value)
            case Array(empty=Empty(some, of_empty)) if some in self.there:
                return of_empty
            case Array():
                constants = [b.constant(d) for d in value.dims] if value.mask is None else [None] * value.ndim
                self.arrays = True
                return np.ones([self.size if c is None else c for c in constants], _dtype(value.dtype))
            case Scalar(doubt=Doubt(split=Split(tag, one, two, of_empty=True))):
                return self.value(two if tag in self.there else one)
            case Scalar(doubt=None):
                self.numbers = True
                number = _dtype(value.dtype).type(1)
                return number.item() if value.python else number
            case Range(start, stop, step) if None not in (ends := [b.constant(e) for e in (start, stop, step)]):
                return range(*ends)  # type: ignore[arg-type]
            case Seq(items, "tuple"):
                return tuple(map(self.value, items))
            case Seq(items, "list"):
                return [*map(self.value, items)]
            case Slice(start, stop, step):
                return slice(*(None if p is None else self.value(p) for p in (start, stop, step)))
            case Known(path) if path.startswith("numpy.") and (found := identity.resolved(path)) is not None:
                return found
            case _:
                raise _Unknown

    def list_of(self, owner: GrowingList) -> list[Any]:
        if has_some(owner) in self.there:
            return []
        if not owner.dtype or owner.options or owner.rows is not None:
            raise _Unknown
        self.numbers = True
        if mixture := self.there.get(_tag_behind(owner)):
            self.mixed = True
            ones = [(_dtype(dtype).type(1), python) for dtype, python in mixture]
            return [one.item() if python else one for one, python in ones]
        made = np.ones([1, *(b.constant(d) or 1 for d in owner.dims)], _dtype(owner.dtype))
        return made.tolist() if owner.python else [*made]


def _dtype(name: str) -> np.dtype[Any]:
    return np.dtype("int64" if name == "index" else name)


def _by_types(answers: _Answers, given: Sequence[Value]) -> bool:
    """Whether types alone decide about NumPy's error, so that compiled code would not raise it by itself."""
    error = answers.error
    if isinstance(error, TypeError):
        return True
    if isinstance(error, IndexError) and str(error).startswith(_BY_TYPES):
        return True
    return isinstance(error, ValueError) and answers.exact and any(map(_is_flat, given))


def _is_flat(value: Value) -> bool:
    """Whether something has fewer axes where a list of arrays is empty."""
    match value:
        case GrowingList():
            return bool(value.dims or value.columns or value.rows is not None)
        case Array(empty=Empty(value=held)):
            return held.ndim != value.ndim
        case Seq(items):
            return any(map(_is_flat, items))
        case _:
            return False


def _or_empty(ctx: Context, made: Value, answers: _Answers, case: _Case) -> Value:
    """What has been made, or what NumPy makes of the empty list."""
    match made:
        case Seq(items) if all(isinstance(v, (tuple, list)) and len(v) == len(items) for v in answers.values):
            parts = (_or_empty(ctx, i, answers.item(k), case) for k, i in enumerate(items))
            return replace(made, items=tuple(parts))
        case Array() | Concatenation():
            ndim = made.ndim if isinstance(made, Array) else made.pieces[0].ndim
            if all(np.ndim(v) == ndim and np.asarray(v).dtype == _dtype(made.dtype) for v in answers.values):
                return made
            whole = answers.whole
            if isinstance(whole, (np.ndarray, np.generic)) and (isinstance(made, Concatenation) or made.empty is None):
                return replace(as_array(ctx, made), empty=Empty(case.some, whole, case.known))
        case Scalar(python=False):
            if all(np.ndim(v) == 0 and np.asarray(v).dtype == made.expr.dtype for v in answers.values):
                return made
            whole = answers.whole
            if isinstance(whole, np.generic) and made.doubt is None:
                kinds = tuple(sorted({(made.dtype, False), (whole.dtype.name, False)}))
                return replace(made, doubt=Doubt(kinds, (), split=Split(case.some, made, Static(whole), True, True)))
        case Static(value) if all(type(v) is type(value) and v == value for v in answers.values):
            return made
        case Static() | Seq():
            pass
        case _:
            return made
    ctx.guard(case.some, "RuntimeError", SEVERAL if case.mixtures else EMPTY)
    return made
