"""Values on their way into arrays of a type: what NumPy takes, and its errors for the rest."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace

import numpy as np

from transkern import refusals
from transkern.frontend.anew import Terminated
from transkern.frontend.context import Context
from transkern.frontend.numpy import outputs
from transkern.frontend.numpy.arrays import as_array, check_even, list_array
from transkern.frontend.numpy.elementwise import check_range, convert, part
from transkern.frontend.python.whole import becomes, in_64_bits, whole_number
from transkern.frontend.subscripts.arrays import first_place
from transkern.frontend.values.asking import asked, raised
from transkern.frontend.values.numbers import is_number, is_python_number
from transkern.frontend.values.scalars import scalar_expr
from transkern.frontend.values.values import Array, GrowingList, Scalar, Seq, Split, Static, Value
from transkern.ir import build as b
from transkern.ir import extremes
from transkern.ir import nodes as n
from transkern.ir.complexes import is_complex
from transkern.ir.expr import Apply, Axis, Const, Expr, Load


def storable(ctx: Context, value: Value, number: Expr, dtype: str, basic: bool) -> Expr:
    """A number on its way into an array of integers, with NumPy's errors where the type does not hold it.

    Python's numbers become integers as by ``int(x)``, which the type must hold. So do NumPy's in a type with a sign,
    but not where an array or a mask says which elements they go to (not `basic`): all else is a cast.
    """
    if is_complex(number.dtype) and is_python_number(value):
        asked(ctx, np.zeros(1, dtype).__setitem__, 0, 1j)
    if not dtype.startswith(("int", "uint")):
        return number
    if is_complex(number.dtype):
        if basic and dtype.startswith("int") and isinstance(value, Scalar):
            whole_number(ctx, part(ctx, as_array(ctx, value), "real").body, dtype)
        return number
    if isinstance(value, Static):
        probe = np.zeros(1, dtype)
        try:
            with np.errstate(all="ignore"):
                probe[0 if basic else [0]] = value.value
        except (ValueError, OverflowError) as error:
            raised(ctx, error)
        return number
    if isinstance(value, Scalar) and value.doubt is not None:
        if value.doubt.split is not None:
            return _storable_choice(ctx, value.doubt.split, number, dtype, basic)
        if value.doubt.told is not None:
            value.doubt.told()
    python = isinstance(value, Scalar) and value.python
    if not python and (not basic or dtype.startswith("uint")):
        return number
    if number.dtype.startswith("float"):
        return whole_number(ctx, number, dtype)
    number = in_64_bits(ctx, number)
    if number.dtype == "index" or not np.can_cast(number.dtype, dtype):
        check_range(ctx, number if number.dtype == "index" else ctx.let(b.as_index(number), "value"), dtype)
    return number


def converted(ctx: Context, value: Value, dtype: str) -> Array:
    """``np.asarray(value, dtype)``, with the errors for numbers in it that the type does not hold."""
    if isinstance(held := ctx.deref(value), Seq) and any(isinstance(ctx.deref(v), (Seq, Array)) for v in held.items):
        check_even(ctx, held.items)
    check_numbers(ctx, value, dtype)
    array = as_array(ctx, each_of_type(ctx, value, dtype))
    return array if array.dtype == dtype else convert(array, dtype)


def each_of_type(ctx: Context, value: Value, dtype: str) -> Value:
    """A list or tuple with its numbers in an array's type, where they are of several types: each by itself, as none of
    these may hold all of them."""
    value = ctx.deref(value)
    if not isinstance(value, Seq):
        return value
    items = [each_of_type(ctx, i, dtype) for i in value.items]
    numbers = [k for k, i in enumerate(items) if isinstance(i, Scalar) or is_number(i)]
    if len({as_array(ctx, items[k]).dtype for k in numbers}) > 1:
        for k in numbers:
            items[k] = Scalar(convert(as_array(ctx, items[k]), dtype).body)
    return replace(value, items=tuple(items))


@dataclass(frozen=True, slots=True)
class Before:
    """Numbers of a list that go one by one into the elements of a part of an array, `target` along `axis`: those before
    one that raises an error are there by then. (NumPy converts them in their place if the list is as long as the part.)
    """

    target: Load
    axis: Axis
    numbers: Seq | GrowingList

    def stored(self, ctx: Context, count: Expr) -> None:
        """The first `count` of them, all of which the array's type holds."""
        dtype = self.target.dtype

        def store(k: Expr, value: Expr) -> n.Store:
            at = (b.substitute(i, {self.axis.name: k}) for i in self.target.index)
            return n.Store(self.target.buffer, tuple(at), value)

        with ctx.emitter.block() as out:
            if isinstance(self.numbers, GrowingList):
                values = list_array(ctx, self.numbers)
                (k,) = ctx.names.axes((count,))
                value = convert(values.with_axes((k,)), dtype).body
                out.append(
                    n.Loop(k.name, b.ZERO, count, b.ONE, "sequential", (store(k.var, value),), span=ctx.session.span)
                )
                length = values.dims[0]
            else:
                chosen = self.numbers.items[: int(b.constant(count) or 0)]
                values_held = [ctx.let(convert(as_array(ctx, i), dtype).body, "number") for i in chosen]
                out.extend(store(b.index(j), value) for j, value in enumerate(values_held))
                length = b.index(len(self.numbers.items))
        if out:
            ctx.emit(n.If(b.compare("equal", self.axis.extent, length), tuple(out)))


def check_numbers(ctx: Context, value: Value, dtype: str, before: Before | None = None) -> None:
    """NumPy's errors for numbers that an array's type does not hold: Python's, by themselves or in tuples and lists;
    NumPy's in tuples and lists, on their way into a type with a sign. `before` stores what comes before such a one."""
    value = ctx.deref(value)
    if isinstance(value, Seq):
        numbers = all(isinstance(i, Scalar) or is_number(i) for i in map(ctx.deref, value.items))
        for k, item in enumerate(value.items):
            item, ended = ctx.deref(item), True
            with ctx.emitter.block() as out, suppress(Terminated):
                if isinstance(item, Scalar) or (isinstance(item, Static) and isinstance(item.value, np.number)):
                    storable(ctx, item, scalar_expr(ctx, item), dtype, True)
                else:
                    check_numbers(ctx, item, dtype)
                ended = False
            for s in out:
                if isinstance(s, n.Guard) and before is not None and numbers and k:
                    with ctx.emitter.block() as stores:
                        before.stored(ctx, b.index(k))
                    ctx.emit(n.If(b.logical_not(s.condition), tuple(stores)))
                ctx.emit(s)
            if ended:
                raise Terminated
    elif is_python_number(value):
        storable(ctx, value, scalar_expr(ctx, value), dtype, True)
    elif isinstance(value, GrowingList):
        _check_list(ctx, value, dtype, before)


def _check_list(ctx: Context, value: GrowingList, dtype: str, before: Before | None) -> None:
    checked = dtype.startswith(("int", "uint") if value.python else "int")
    if is_complex(value.dtype) and (checked or (value.python and not is_complex(dtype))):
        ctx.fail(refusals.NEEDED, f"a list of complex numbers as an array of {dtype}", "take .real or abs(…) of them")
    if checked and value.dtype != "bool":
        _check_elements(ctx, list_array(ctx, value), dtype, before)


def _check_elements(ctx: Context, array: Array, dtype: str, before: Before | None) -> None:
    """The same for the elements of a list: the error is that of the first which the type does not hold."""
    of_integers = not array.dtype.startswith("float")
    if of_integers and np.can_cast("int64" if array.dtype == "index" else array.dtype, dtype):
        return
    info = np.iinfo(dtype)

    def element(at: tuple[Expr, ...]) -> Expr:
        return b.as_index(array.candidate(at)) if of_integers else array.candidate(at)

    def outside(at: tuple[Expr, ...]) -> Expr:
        number = element(at)
        if not of_integers:
            return b.logical_not(becomes(number, dtype))
        low, high = b.index(int(info.min)), b.index(min(int(info.max), extremes.HIGHEST))
        within = b.both(b.compare("greater_equal", number, low), b.compare("less_equal", number, high))
        return b.logical_not(b.both(small(at), within))

    def small(at: tuple[Expr, ...]) -> Expr:
        """Whether 64 bits with a sign hold it."""
        if array.dtype != "uint64":
            return b.TRUE
        return Apply("less_equal", (array.candidate(at), Const(extremes.HIGHEST, "uint64")), "bool")

    first, at = first_place(ctx, array.dims, outside)
    offending = element(at)
    with ctx.emitter.block() as out, suppress(Terminated):
        if before is not None and array.ndim == 1:
            before.stored(ctx, first)
        ctx.guard(small(at), "OverflowError", "Python int too large to convert to C long")
        storable(ctx, Scalar(offending, True), ctx.let(offending, "value"), dtype, True)
    ctx.emit(n.If(b.compare("greater_equal", first, b.ZERO), tuple(out), ()))


def _storable_choice(ctx: Context, split: Split, number: Expr, dtype: str, basic: bool) -> Expr:
    """One of two numbers, with the checks of the one that it is."""
    checks, parts = [], []
    for side in (split.one, split.two):
        expr = scalar_expr(ctx, side)
        with ctx.emitter.block() as out, suppress(Terminated):
            storable(ctx, side, expr, dtype, basic)
        checks.append(tuple(out))
        parts.append(b.cast(expr, dtype))
    if not any(checks):
        return number
    ctx.emit(n.If(split.tag, checks[0], checks[1]))
    return b.where(split.tag, parts[0], parts[1])


def check_same_kind(ctx: Context, op: str, value: Value, dtype: str) -> None:
    if isinstance(value, (Array, Scalar)) and not is_python_number(value):
        outputs.check_cast(ctx, op, "int64" if value.dtype == "index" else value.dtype, dtype)
