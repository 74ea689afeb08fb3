"""Python's functions that make one value of many, or put them in order: `sum`, `max`, `any`, `sorted`."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace

import numpy as np

from transkern import refusals
from transkern.errors import EMPTY
from transkern.frontend.anew import Terminated
from transkern.frontend.compositions import compose
from transkern.frontend.containers import making, ordering, pools
from transkern.frontend.containers.elements import element, numbers
from transkern.frontend.containers.list_types import check_order
from transkern.frontend.context import Context
from transkern.frontend.loops.iterating import iteration
from transkern.frontend.numpy.arrays import elements_array
from transkern.frontend.numpy.elementwise import apply
from transkern.frontend.numpy.reductions import reduce
from transkern.frontend.python import compensated
from transkern.frontend.python.truth import truth
from transkern.frontend.translate.arguments import TABLE, Arguments, handles
from transkern.frontend.values import doubtful, doubts, large, set_order
from transkern.frontend.values.asking import asked
from transkern.frontend.values.describing import describe
from transkern.frontend.values.numbers import is_number
from transkern.frontend.values.scalars import ordered, scalar_expr
from transkern.frontend.values.types_of_scalars import scalar_kind
from transkern.frontend.values.values import Array, Doubt, GrowingList, Kind, Range, Scalar, Seq, Static, Value
from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Apply, Const, Expr, Var


@handles("builtins.any", "builtins.all", names="iterable")
def _any(ctx: Context, a: Arguments) -> Value:
    counted = iteration(ctx, set_order.in_any_order(ctx.deref(a.need("iterable"))))
    if isinstance(counted, list):
        result: Expr = b.TRUE if a.name == "all" else b.FALSE
        for item in counted:
            decided = truth(ctx, item)
            one = (b.TRUE if decided.value else b.FALSE) if isinstance(decided, Static) else scalar_expr(ctx, decided)
            result = b.both(result, one) if a.name == "all" else b.either(result, one)
        return Static(bool(result.value)) if isinstance(result, Const) else Scalar(result, True)
    array = elements_array(ctx, a.need("iterable"))
    if array.ndim != 1:
        ctx.fail(refusals.TRUTH, f"`{a.name}` of an array with {array.ndim} dimensions", f"use np.{a.name}")
    return Scalar(scalar_expr(ctx, reduce(ctx, a.name, array, None, False)), True)


@handles("builtins.sorted", names="iterable key reverse")
def _sorted(ctx: Context, a: Arguments) -> Value:
    source = a.need("iterable")
    counted = iteration(ctx, source if a.get("key") is not None else set_order.comparable(ctx.deref(source)))
    if not isinstance(counted, list):
        if a.get("key") is not None:
            ctx.fail(refusals.SORT_KEY, "`sorted` with `key=`", "sort the keys with np.argsort")
        contents = ctx.deref(a.need("iterable"))
        if isinstance(contents, GrowingList) and (
            contents.columns or contents.tags or contents.options or contents.dims or contents.rows is not None
            or contents.objects is not None
        ):  # fmt: skip
            return ordering.sorted_list(ctx, contents, contents, a.flag("reverse"))
        array = elements_array(ctx, contents)
        made = ordering.sorted_array(ctx, array, a.flag("reverse"))
        if isinstance(contents, Range):
            made = replace(made, body=b.as_index(made.body))
        python = isinstance(contents, Range) or (isinstance(contents, GrowingList) and contents.python)
        return making.list_of(ctx, replace(made, view=False), python)
    return ordering.ordered(ctx, counted, {k: v for k, v in a.given.items() if k != "iterable"})


def _better(ctx: Context, name: str, one: Value, two: Value, kind: Kind) -> Scalar:
    """Python's max or min of two numbers, of which the first is taken where they are equal."""
    doubt = doubts.of_both(two, one, None, None)
    mixed = doubt is not None and set(doubt.kinds) == {("index", True), ("float64", True)}
    as_they_are = doubt is not None and (
        mixed or doubts.is_rounded(doubt, kind[0]) or any(d != kind[0] for d, python in doubt.kinds if not python)
    )
    if as_they_are:
        compared = truth(ctx, apply(ctx, "greater" if name == "max" else "less", [two, one], operator_call=True))
        better = ctx.let(scalar_expr(ctx, compared), "better")
    x, y = b.cast(scalar_expr(ctx, one), kind[0]), b.cast(scalar_expr(ctx, two), kind[0])
    if doubt is not None or not kind[0].startswith(("index", "int", "uint")):
        x, y = (ctx.let(e, name) if isinstance(e, Apply) else e for e in (x, y))  # each stands there twice
    if not as_they_are:
        better = Apply("greater" if name == "max" else "less", (y, x), "bool")
    if doubt is not None:
        one, two = (_held_in(v, e) for v, e in ((one, x), (two, y)))
        split = doubts.chosen(better, two, one)
        if mixed and split is not None:
            split = replace(split, exact=True)  # it stays an integer, which may be none of the floats
        doubt = doubts.of_both(two, one, better, split)
    if kind[0] == "index":
        return Scalar((b.maximum if name == "max" else b.minimum)(x, y), True, doubt=doubt)
    if kind[0].startswith(("int", "uint")):
        best = Apply("maximum" if name == "max" else "minimum", (x, y), kind[0])
        return doubts.shown(Scalar(best, kind[1], doubt=doubt))
    return doubts.shown(Scalar(b.where(better, y, x), kind[1], doubt=doubt))


def _of_large(ctx: Context, name: str, one: Value, two: Value) -> Value:
    """`_better` of two numbers of which one is an integer that 64 bits do not hold."""
    better = apply(ctx, "greater" if name == "max" else "less", [two, one], operator_call=True)
    if isinstance(better, Static):
        return two if better.value else one
    known = next(v for v in (one, two) if isinstance(v, Static) and large.is_large(v))
    large.refuse(ctx, known.value)


def _held_in(value: Value, expr: Expr) -> Value:
    """A number under the name that it has got, if its type is that of what holds it."""
    return replace(value, expr=expr) if isinstance(value, Scalar) and value.dtype == expr.dtype else value


def _extreme(name: str) -> Callable[[Context, Sequence[Value], Mapping[str, Value]], Value]:
    def run(ctx: Context, args: Sequence[Value], keywords: Mapping[str, Value]) -> Value:
        """Python's max and min: the first of equals, comparisons with NaN false."""
        keywords = dict(keywords)
        default = keywords.pop("default", None)
        if keywords:
            ctx.fail(refusals.WRONG_ARGUMENTS, f"`{name}` with `{next(iter(keywords))}=`", "supported: key=, default=")
        if len(args) == 1:
            counted = iteration(ctx, set_order.comparable(ctx.deref(args[0])))
            if not isinstance(counted, list):
                return _extreme_of(ctx, name, args[0], default)
            args = counted
            if not args:
                if default is not None:
                    return default
                ctx.guard(b.FALSE, "ValueError", _empty(name))
        best = args[0]
        for other in args[1:]:
            best = _best(ctx, name, best, other)
        return best

    return run


def _best(ctx: Context, name: str, one: Value, two: Value) -> Value:
    """Python's max or min of two values."""
    two, one = ordered(ctx, ">" if name == "max" else "<", two, one)
    if isinstance(one, Static) and isinstance(two, Static) and is_number(one) and is_number(two):
        return Static(asked(ctx, max if name == "max" else min, one.value, two.value))
    if large.is_large(one) or large.is_large(two):
        return _of_large(ctx, name, one, two)
    if (split := doubts.split_of_empty(one) or doubts.split_of_empty(two)) is not None:
        full, empty = (
            [side if doubts.split_of_empty(v) == split else v for v in (one, two)] for side in (split.one, split.two)
        )
        of_full = _best(ctx, name, *full)
        of_empty = None if scalar_kind(*empty) is None else _best(ctx, name, *empty)
        return doubtful.of_full_or_empty(ctx, split.tag, of_full, of_empty)
    for bound, other in ((one, two), (two, one)):
        if (nearer := _within(ctx, name, bound, other)) is not None:
            return nearer
    kind = scalar_kind(one, two)
    are_lists = all(isinstance(ctx.deref(v), (Seq, GrowingList)) for v in (one, two))
    if kind is None and (are_lists or all(pools.is_object(ctx, v) for v in (one, two))):
        return compose(ctx, "folding", "greater" if name == "max" else "lesser", [one, two], {})
    if kind is None:
        ctx.fail(refusals.OPERANDS, f"`{name}` of {describe(one)} and {describe(two)}", f"use np.{name}imum for arrays")
    return _better(ctx, name, one, two, kind)


def _within(ctx: Context, name: str, bound: Value, other: Value) -> Value | None:
    """Python's max or min of an integer of NumPy's and what may be the infinity that a search begins with, which is
    never the better one; None of other values."""
    beyond = -math.inf if name == "max" else math.inf
    kinds = doubts.kinds_of(other)
    if len(kinds) != 1 or kinds[0][1] or not kinds[0][0].startswith(("int", "uint")) or doubts.doubts_of([other]):
        return None
    match bound:
        case Static(float() as number) if number == beyond and not isinstance(number, np.generic):
            return other
        case Scalar(Var(variable), True, None, None) if ctx.facts.bounds.get(variable) == beyond:
            return other  # the loop is translated again, and knows then which of the two it is
        case Scalar(doubt=Doubt(types, (float() as number,)) as doubted) if number == beyond:
            if set(types) != {("float64", True), kinds[0]}:
                return None
            if doubted.split is None:
                return other if doubts.ask_for_split([bound]) else None
            held = doubts.part(bound, kinds[0])
            assert held is not None
            nearest = scalar_expr(ctx, _best(ctx, name, held, other))
            expr = b.where(doubts.tag_of(bound, ("float64", True)), scalar_expr(ctx, other), nearest)
            return Scalar(expr, False)
        case _:
            return None


def _empty(name: str) -> str:
    return f"{name}() {'arg is an empty sequence' if sys.version_info < (3, 12) else 'iterable argument is empty'}"


def _extreme_of(ctx: Context, name: str, source: Value, default: Value | None) -> Value:
    """Python's max or min of something of run-time length: the first element that no later one beats."""
    if default is not None:
        return compose(ctx, "folding", f"{name}_or", [source, default], {})
    contents = ctx.deref(source)
    if isinstance(contents, GrowingList) and (
        contents.columns or contents.row or contents.options or contents.rows is not None
        or contents.objects is not None
    ):  # fmt: skip
        ctx.guard(b.compare("greater", contents.length, b.ZERO), "ValueError", _empty(name))
        return compose(ctx, "folding", "greatest" if name == "max" else "least", [source], {})
    python = isinstance(contents, Range) or (isinstance(contents, GrowingList) and contents.python)
    array = numbers(ctx, contents)
    if array.ndim != 1:
        ctx.fail(refusals.TRUTH, f"`{name}` of an array with {array.ndim} dimensions", f"use np.{name}")
    size = array.dims[0]
    ctx.guard(b.compare("greater", size, b.ZERO), "ValueError", _empty(name))
    if isinstance(contents, GrowingList) and contents.tags:
        check_order(ctx, contents, f"`{name}`")
        return element(ctx, contents, _first_of(ctx, name, array, size))
    if array.dtype == "index" or not array.dtype.startswith(("float", "complex")):
        whole = replace(array, body=b.cast(array.body, "int64")) if array.dtype == "index" else array
        found = scalar_expr(ctx, reduce(ctx, name, whole, None, False))
        return Scalar(b.as_index(found) if python else found, python)
    # NaN and zeros of both signs: which comes first matters, so one after the other
    best = ctx.names.variable(name, array.dtype)
    ctx.emit(n.Assign(best.name, array.at((b.ZERO,))))
    axis = ctx.names.fresh("k")
    value = array.at((Var(axis),))
    better = Apply("greater" if name == "max" else "less", (value, best), "bool")
    ctx.emit(n.Loop(axis, b.ONE, size, b.ONE, "sequential", (n.If(better, (n.Assign(best.name, value),)),)))
    return Scalar(best, python)


def _first_of(ctx: Context, name: str, array: Array, size: Expr) -> Expr:
    """The position of the first element that no later one beats."""
    best = ctx.names.variable("first", "index")
    ctx.emit(n.Assign(best.name, b.ZERO))
    axis = ctx.names.fresh("k")
    better = Apply("greater" if name == "max" else "less", (array.at((Var(axis),)), array.at((best,))), "bool")
    taken = n.If(better, (n.Assign(best.name, Var(axis)),))
    ctx.emit(n.Loop(axis, b.ONE, size, b.ONE, "sequential", (taken,)))
    return ctx.let(best, "first")


@handles("builtins.sum", names="iterable start")
def _sum(ctx: Context, a: Arguments) -> Value:
    total: Value = a.get("start") or Static(0)
    value = a.need("iterable")
    if isinstance(ctx.deref(total), (Seq, GrowingList)):  # lists one behind the other
        return compose(ctx, "folding", "joined", [value, total], {})
    counted = iteration(ctx, value)
    if isinstance(counted, list):
        lost: Value = Static(0.0)
        for item in counted:
            if isinstance(ctx.deref(item), (Seq, GrowingList)) and total == Static(0):
                kind = "tuple" if getattr(ctx.deref(item), "kind", "") == "tuple" else "list"
                ctx.guard(b.FALSE, "TypeError", f"unsupported operand type(s) for +: 'int' and '{kind}'")
            total, lost = compensated.added(ctx, total, lost, item)
        return compensated.completed(ctx, total, lost)
    contents = ctx.deref(value)
    if isinstance(contents, GrowingList) and contents.tags and len(ctx.learned.held.tell(contents.site)) > 1:
        return compose(ctx, "folding", "joined", [value, total], {})  # the sum's type is that of what was added
    array = numbers(ctx, contents)
    if array.ndim > 1:
        if total != Static(0):
            ctx.fail(refusals.OPTION, "sum() of rows with a start", "add it in a loop, row by row")
        ctx.guard(b.compare("greater", array.dims[0], b.ZERO), "RuntimeError", EMPTY)  # Python gives 0, a number
        dtype = "int64" if array.dtype == "bool" else array.dtype  # of `0 + row`, and not NumPy's of a sum
        rows = reduce(ctx, "sum", array, Static(0), False, dtype)
        return apply(ctx, "add", [total, rows], operator_call=True)
    python = isinstance(contents, Range) or (isinstance(contents, GrowingList) and contents.python)
    if array.dtype == "bool":
        array = replace(array, body=b.cast(array.body, "index" if python else "int64"), view=False)
    # one after the other, as Python adds them
    first = apply(ctx, "add", [total, Scalar(array.at((b.ZERO,)), python)], operator_call=True)
    if not isinstance(first, (Scalar, Static)):
        problem = "sum() of numbers with a start that is an array"
        ctx.fail(refusals.OPTION, problem, "add it behind: start + sum(values)")
    dtype, weak = (first.dtype, first.python) if isinstance(first, Scalar) else ("float64", True)
    carried = ctx.names.variable("total", dtype)
    ctx.emit(n.Assign(carried.name, b.cast(scalar_expr(ctx, total), dtype)))
    compensates = compensated.IS_COMPENSATED and weak and python and dtype == array.dtype == "float64"
    rest = ctx.names.variable("lost", "float64") if compensates else None
    if rest is not None:
        ctx.emit(n.Assign(rest.name, Const(0.0, "float64")))
    axis = ctx.names.fresh("k")
    with ctx.emitter.block() as body, suppress(Terminated):
        item = Scalar(array.at((Var(axis),)), python)
        lost = Static(0.0) if rest is None else Scalar(rest, True)
        added, lost = compensated.added(ctx, Scalar(carried, weak), lost, item)
        if rest is not None:  # the first is added to an integer, if no float was given to begin with
            first_of_all = b.FALSE if compensated.is_float(ctx.deref(total)) else b.compare("equal", Var(axis), b.ZERO)
            ctx.emit(n.Assign(rest.name, b.where(first_of_all, Const(0.0, "float64"), scalar_expr(ctx, lost))))
        ctx.emit(n.Assign(carried.name, b.cast(scalar_expr(ctx, added), dtype)))
    ctx.emit(n.Loop(axis, b.ZERO, array.dims[0], b.ONE, "sequential", tuple(body)))
    whole = Scalar(carried, weak)
    if rest is not None:
        made = compensated.completed(ctx, whole, Scalar(rest, True))
        assert isinstance(made, Scalar)
        whole = made
    return doubts.unless_empty(whole, total, array.dims[0])


TABLE["builtins.max"], TABLE["builtins.min"] = _extreme("max"), _extreme("min")
