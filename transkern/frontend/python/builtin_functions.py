"""Python's built-in functions, one handler each."""

from __future__ import annotations

import string
import sys
import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

from transkern import refusals
from transkern.errors import EMPTY
from transkern.frontend.anew import Terminated
from transkern.frontend.compositions import compose
from transkern.frontend.containers import hashed, making, ordering, putting, sequences
from transkern.frontend.containers.elements import element
from transkern.frontend.containers.list_types import check_order
from transkern.frontend.context import Context
from transkern.frontend.loops import iterating
from transkern.frontend.loops.iterating import is_lazy, iteration
from transkern.frontend.loops.trips import trip_count
from transkern.frontend.numpy.arrays import as_array
from transkern.frontend.numpy.elementwise import apply, warn_discarded
from transkern.frontend.numpy.methods import rounded
from transkern.frontend.numpy.reductions import reduce
from transkern.frontend.numpy.shaping import constant_int
from transkern.frontend.python import characters, compensated, spelling
from transkern.frontend.python import shown as shown_lists
from transkern.frontend.python.texts import as_text, known, quoted
from transkern.frontend.python.whole import check_number, check_whole, exact_expr, integer_expr, to_integer
from transkern.frontend.sources.source import from_object
from transkern.frontend.subscripts.arrays import shape_of
from transkern.frontend.subscripts.keys import constant_object, key_object
from transkern.frontend.subscripts.positions import check_position
from transkern.frontend.translate import special_methods
from transkern.frontend.translate.arguments import TABLE, Arguments, handles
from transkern.frontend.translate.attributes import attribute, static_or
from transkern.frontend.translate.truth import truth
from transkern.frontend.values import classes, doubts, large, python_types, set_order
from transkern.frontend.values.asking import asked
from transkern.frontend.values.describing import describe
from transkern.frontend.values.numbers import is_number, is_python_number, type_name
from transkern.frontend.values.scalars import ordered, present, scalar_expr
from transkern.frontend.values.types_of_scalars import scalar_kind
from transkern.frontend.values.values import (
    Array,
    Bound,
    Char,
    Concatenation,
    Dict,
    Function,
    GrowingList,
    Hashed,
    JoinedText,
    Kind,
    Known,
    Method,
    OneOf,
    Range,
    Record,
    Scalar,
    Seq,
    Shown,
    Slice,
    Static,
    Text,
    Value,
)  # fmt: skip
from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.complexes import float_of, is_complex
from transkern.ir.containers import OF_NUMPY
from transkern.ir.expr import Apply, Const, Expr, Var
from transkern.ir.traverse import buffers_read


@handles("builtins.len", names="obj")
def _len(ctx: Context, a: Arguments) -> Value:
    value = spelling.spelled(ctx, a.need("obj"))
    match value:
        case Char():
            return Static(1)
        case Seq(items) | Dict(items=items) | Record(items=items) if not isinstance(value, Record) or value.is_tuple:
            return Static(len(items))
        case JoinedText(characters=GrowingList() as held):
            return static_or(held.length)
        case GrowingList():
            return static_or(value.length)
        case Hashed():
            return hashed.length(ctx, value)
        case Static(str() | tuple() | list() | bytes() as items):
            return Static(len(items))
        case Static(kind) if classes.is_plain_enum(kind):
            return Static(len(kind))
        case Range(start, stop, step):
            return static_or(trip_count(start, stop, step))
        case Scalar() | Static() if is_number(value) or isinstance(value, Scalar):
            kind = doubts.agreed(ctx, value, classes.class_of, "the length of")
            assert kind is not None
            module = "" if is_python_number(value) else "numpy."
            ctx.guard(b.FALSE, "TypeError", f"object of type '{module}{kind.__name__}' has no len()")
            raise AssertionError
        case _:
            array = as_array(ctx, value)
            if not array.ndim:
                ctx.guard(b.FALSE, "TypeError", "len() of unsized object")
            return static_or(shape_of(ctx, array)[0])


@handles("builtins.range", names="start stop step")
def _range(ctx: Context, a: Arguments) -> Value:
    exprs = []
    for name in ("start", "stop", "step"):
        value = a.given.get(name)
        if value is None:
            continue
        check_position(ctx, value, range)
        check_whole(ctx, value)
        e = scalar_expr(ctx, value)
        e = to_integer(ctx, e).expr
        exprs.append(ctx.let(e, "bound") if not _invariant(e) else e)
    if len(exprs) == 1:
        return Range(b.ZERO, exprs[0], b.ONE)
    if len(exprs) > 2:
        ctx.guard(b.compare("not_equal", exprs[2], b.ZERO), "ValueError", "range() arg 3 must not be zero")
    return Range(exprs[0], exprs[1], exprs[2] if len(exprs) > 2 else b.ONE)


def _invariant(expr: Expr) -> bool:
    return not buffers_read(expr)


@handles("builtins.enumerate", names="iterable start")
def _enumerate(ctx: Context, a: Arguments) -> Value:
    return Method(Seq((a.need("iterable"), a.get("start") or Static(0))), "enumerate")


def _steps(ctx: Context, value: Value) -> Expr:
    """How many steps a loop over a value takes."""
    found = iteration(ctx, value)
    return b.index(len(found)) if isinstance(found, list) else trip_count(*found[:3])


def _zip(ctx: Context, args: Sequence[Value], keywords: Mapping[str, Value]) -> Value:
    strict = keywords.get("strict", Static(False))
    if not isinstance(strict, Static):
        ctx.fail(refusals.NEEDS_CONSTANT, "`zip` with a `strict` that is known at run time only", "write strict=True")
    if strict.value:
        lengths = [_steps(ctx, a) for a in args]
        for k, (length, first) in enumerate(zip(lengths[1:], lengths, strict=False), 2):
            before = "argument 1" if k == 2 else f"arguments 1-{k - 1}"
            for op, text in (("greater_equal", "shorter"), ("less_equal", "longer")):
                ctx.guard(b.compare(op, length, first), "ValueError", f"zip() argument {k} is {text} than {before}")
    return Method(Seq(tuple(args)), "zip")


TABLE["builtins.zip"] = _zip


def _ndindex(ctx: Context, args: Sequence[Value], keywords: Mapping[str, Value]) -> Value:
    shape = args[0].items if len(args) == 1 and isinstance(args[0], Seq) else tuple(args)
    return Method(Seq(shape), "ndindex")


TABLE["numpy.ndindex"] = _ndindex


@handles("numpy.ndenumerate", names="arr")
def _ndenumerate(ctx: Context, a: Arguments) -> Value:
    return Method(Seq((a.array("arr"),)), "ndenumerate")


@handles("builtins.reversed", names="sequence")
def _reversed(ctx: Context, a: Arguments) -> Value:
    given = a.need("sequence")
    contents = ctx.deref(given)
    if isinstance(contents, (Seq, Hashed)) and contents.kind == "set":
        asked(ctx, reversed, set())
    if isinstance(contents, Scalar) or (isinstance(contents, Static) and is_number(contents)):
        ctx.guard(b.FALSE, "TypeError", f"'{type_name(contents)}' object is not reversible")
    return Method(given, "reversed")


@handles("builtins.int", "builtins.float", "builtins.bool", names="x")
def _convert(ctx: Context, a: Arguments) -> Value:
    kind = a.name
    value = a.given.get("x")
    if value is None:
        return Static({"int": 0, "float": 0.0, "bool": False}[kind])
    if isinstance(value, Static) and (is_number(value) or isinstance(value.value, str)):
        return Static(asked(ctx, {"int": int, "float": float, "bool": bool}[kind], value.value))
    if kind == "bool":
        return truth(ctx, value)
    if kind == "int" and isinstance(value, Char):
        return characters.digit(ctx, value)
    value = spelling.spelled(ctx, value)
    if kind == "int" and isinstance(value, JoinedText) and value.characters is not None:
        return compose(ctx, "texts", "number_of", [value.characters], {})
    check_number(ctx, value)
    expr = exact_expr(ctx, value)
    if is_complex(expr.dtype) and is_python_number(value):
        wanted = "a string, a bytes-like object" if kind == "int" else "a string"
        text = f"{kind}() argument must be {wanted} or a real number, not 'complex'"
        ctx.guard(b.FALSE, "TypeError", text)
    if is_complex(expr.dtype):
        warn_discarded(ctx, expr.dtype, "float64")
        expr = Apply("real", (expr,), float_of(expr.dtype))
    if kind == "float":
        return Scalar(b.cast(expr, "float64"), True)
    return to_integer(ctx, expr)


@handles("builtins.complex", names="real imag")
def _complex(ctx: Context, a: Arguments) -> Value:
    parts = [a.given.get(k) for k in ("real", "imag")]
    if all(p is None or (isinstance(p, Static) and is_number(p)) for p in parts):
        return Static(asked(ctx, complex, *[p.value for p in parts if isinstance(p, Static)]))
    for part in parts:
        check_number(ctx, part)
    real, imag = (Static(0.0) if p is None else p for p in parts)
    x, y = scalar_expr(ctx, real), scalar_expr(ctx, imag)
    if parts[1] is None:
        return Scalar(b.cast(x, "complex128"), True)
    first, turned = _parts(x)
    second, taken = _parts(y)
    if is_complex(y.dtype):
        first = Apply("subtract", (first, taken), "float64")
    if is_complex(x.dtype):
        second = Apply("add", (turned, second), "float64")
    return Scalar(Apply("complex", (first, second), "complex128"), True)


def _parts(x: Expr) -> tuple[Expr, Expr]:
    if not is_complex(x.dtype):
        return b.cast(x, "float64"), Const(0.0, "float64")
    wide = b.cast(x, "complex128")
    return Apply("real", (wide,), "float64"), Apply("imag", (wide,), "float64")


@handles("builtins.divmod", names="a b")
def _divmod(ctx: Context, a: Arguments) -> Value:
    x, y = a.need("a"), a.need("b")
    return Seq(tuple(apply(ctx, op, [x, y], operator_call=True) for op in ("floor_divide", "remainder")))


@handles("builtins.pow", names="base exp mod")
def _pow(ctx: Context, a: Arguments) -> Value:
    base, exponent, mod = a.need("base"), a.need("exp"), a.get("mod")
    if mod is None:
        return apply(ctx, "power", [base, exponent], operator_call=True)
    problem, help = "pow() with a modulus, of run-time numbers", "multiply in a loop, and take `% m` in each step"
    known = [constant_object(ctx, v, problem, refusals.OPTION, help) for v in (base, exponent, mod)]
    return Static(asked(ctx, pow, *known))


@handles("builtins.ord", names="c")
def _ord(ctx: Context, a: Arguments) -> Value:
    value = a.need("c")
    if isinstance(value, Static) and isinstance(value.value, str) and len(value.value) == 1:
        return Static(ord(value.value))
    if isinstance(value, Char):
        return Scalar(value.code, True)
    ctx.fail(refusals.TEXT, f"`ord` of {describe(value)}", "give one character of a text that is known: ord(text[k])")


@handles("builtins.chr", names="i")
def _chr(ctx: Context, a: Arguments) -> Value:
    value = a.need("i")
    if isinstance(value, Static) and isinstance(value.value, int):
        return Static(asked(ctx, chr, value.value))
    check_position(ctx, value, chr)
    code = integer_expr(ctx, value)
    inside = b.both(b.compare("greater_equal", code, b.ZERO), b.compare("less", code, b.index(0x110000)))
    ctx.guard(inside, "ValueError", "chr() arg not in range(0x110000)")
    return Char(ctx.let(code, "code"))


@handles("builtins.bin", names="number")
def _bin(ctx: Context, a: Arguments) -> Value:
    value = a.need("number")
    if isinstance(value, Static):
        return Static(asked(ctx, bin, value.value))
    check_position(ctx, value, bin)
    digits = ctx.deref(compose(ctx, "texts", "binary_digits", [Scalar(integer_expr(ctx, value), True)], {}))
    assert isinstance(digits, GrowingList)
    return JoinedText(digits, "")


@handles("builtins.str", "builtins.repr", names="object")
def _str(ctx: Context, a: Arguments) -> Value:
    if "object" not in a.given:
        return Static("")
    return known(as_text(ctx, a.need("object"), "", "r" if a.name == "repr" else "s"))


@handles("builtins.format", names="value spec")
def _format(ctx: Context, a: Arguments) -> Value:
    return known(as_text(ctx, a.need("value"), a.text("spec", "")))


_FILLED = "put the items into an empty dict: d[key] = value"


def _dict(ctx: Context, args: Sequence[Value], keywords: Mapping[str, Value]) -> Value:
    made = Dict((), ())
    if args:
        given = ctx.deref(args[0])
        if isinstance(given, Hashed) and given.kind == "dict" and not keywords:
            return replace(hashed.copied(ctx, given, (*(given.keys.site or ()), "dict")), default=None, of=None)
        pairs = given if isinstance(given, Dict) else None
        if pairs is None:
            counted = iteration(ctx, given)
            if not isinstance(counted, list):
                if keywords:
                    ctx.fail(refusals.RUN_TIME_KEYS, "a dict with a run-time number of keys", "fill it in a loop")
                held = hashed.new(ctx, "dict", "dict", hashed.site_of(ctx, "pairs"))
                hashed.update(ctx, held, iterating.all_of(ctx, given))
                return held
            for item in counted:
                pair = ctx.deref(item)
                if not isinstance(pair, Seq) or len(pair.items) != 2:
                    ctx.fail(refusals.NEEDED, "a dict of what is no pairs", "give pairs of a key and a value")
                made = made.put(key_object(ctx, pair.items[0], _FILLED), pair.items[1])
        else:
            made = replace(pairs, outside=False)
    for key, value in keywords.items():
        made = made.put(key, value)
    return made


TABLE["builtins.dict"] = _dict


@handles("builtins.dict.fromkeys", names="iterable value")
def _fromkeys(ctx: Context, a: Arguments) -> Value:
    counted = iteration(ctx, a.need("iterable"))
    made, value = Dict((), ()), a.get("value") or Static(None)
    if not isinstance(counted, list):
        return compose(ctx, "lists", "from_keys", [iterating.all_of(ctx, a.need("iterable")), value], {})
    for item in counted:
        made = made.put(key_object(ctx, item, _FILLED), value)
    return made


@handles("builtins.slice", names="a b c")
def _slice(ctx: Context, a: Arguments) -> Value:
    parts = [a.get(k) for k in "abc" if k in a.given]
    if len(parts) == 1:
        return Slice(None, parts[0], None)
    return Slice(parts[0], parts[1], parts[2] if len(parts) > 2 else None)


@handles("builtins.set", "builtins.frozenset", names="iterable")
def _set(ctx: Context, a: Arguments) -> Value:
    frozen = a.name == "frozenset"
    if "iterable" not in a.given:
        return Seq((), "set", outside=frozen, frozen=frozen)
    source = ctx.deref(a.need("iterable"))
    items = None if isinstance(source, Hashed) else iteration(ctx, set_order.in_any_order(source))
    if isinstance(items, list) and all(isinstance(i, Static) for i in items):
        known = tuple(Static(v) for v in {i.value for i in items if isinstance(i, Static)})
        return Seq(known, "set", outside=frozen, frozen=frozen)
    span = ctx.session.span
    made = hashed.new(ctx, "set", "set", (span.file, span.line, span.column, span.end_line, span.end_column, "set"))
    hashed.update(ctx, made, source)
    return hashed.as_frozen(made) if frozen else made


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
    array = as_array(ctx, a.need("iterable"))
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
        ):  # fmt: skip
            return ordering.sorted_list(ctx, contents, contents, a.flag("reverse"))
        array = as_array(ctx, contents)
        made = ordering.sorted_array(ctx, array, a.flag("reverse"))
        if isinstance(contents, Range):
            made = replace(made, body=b.as_index(made.body))
        python = isinstance(contents, Range) or (isinstance(contents, GrowingList) and contents.python)
        return making.list_of(ctx, replace(made, view=False), python)
    return ordering.ordered(ctx, counted, {k: v for k, v in a.given.items() if k != "iterable"})


@handles("builtins.callable", names="obj")
def _callable(ctx: Context, a: Arguments) -> Value:
    value = a.need("obj")
    if isinstance(ctx.deref(value), Record):
        return Static(special_methods.method(ctx, value, "__call__") is not None)
    is_function = isinstance(value, (Function, Known, Bound, Method)) and not is_lazy(value)
    return Static(is_function or isinstance(getattr(value, "value", None), type))


@handles("builtins.hasattr", names="obj name")
def _hasattr(ctx: Context, a: Arguments) -> Value:
    value, name = ctx.deref(a.need("obj")), a.text("name", "")
    match value:
        case Static(known_value):
            return Static(hasattr(known_value, name))
        case Known(path) if (found := classes.named_object(path)) is not None:
            return Static(hasattr(found, name))
        case Record() if value.get(name) is not None:
            return Static(True)

    def has(value: Value) -> bool:
        kind = classes.class_of(value)
        help = "ask outside, and pass the answer as an argument"
        if kind is None:
            ctx.fail(refusals.UNKNOWN_ATTRIBUTE, f"`hasattr` of {describe(value)}", help)
        found = any(name in vars(c) for c in kind.__mro__)  # an object has not what its class has of `type`
        if not found and (kind is types.FunctionType or hasattr(kind, "__getattr__")):
            problem = f"`hasattr` of {describe(value)}, which may have been given anything"
            ctx.fail(refusals.UNKNOWN_ATTRIBUTE, problem, help)
        return found

    found = doubts.whether(ctx, value, has, "`hasattr` of")
    return Static(found) if isinstance(found, bool) else Scalar(found, True)


@handles("builtins.getattr", names="obj name default")
def _getattr(ctx: Context, a: Arguments) -> Value:
    value, name = a.need("obj"), a.text("name", "")
    held = ctx.deref(value)
    if isinstance(held, Record) and held.get(name) is None and not hasattr(held.kind, name) and "default" in a.given:
        return a.given["default"]
    return attribute(ctx, value, name)


@handles("builtins.type", names="obj")
def _type(ctx: Context, a: Arguments) -> Value:
    value = ctx.deref(a.need("obj"))
    kind = doubts.agreed(ctx, value, classes.class_of, "the type of")
    if kind is None:
        help = "types are known of numbers, arrays, texts, lists, dicts and objects"
        ctx.fail(refusals.OPERANDS, f"the type of {describe(value)}", help)
    named = from_object(kind)
    return named if named is not None and classes.object_at(named) is kind else Static(kind)


@handles("builtins.abs", names="x")
def _abs(ctx: Context, a: Arguments) -> Value:
    return apply(ctx, "absolute", [a.need("x")], operator_call=True)


@handles("builtins.round", names="number ndigits")
def _round(ctx: Context, a: Arguments) -> Value:
    value, digits = a.need("number"), a.get("ndigits")
    if isinstance(value, Static) and is_number(value) and (digits is None or isinstance(digits, Static)):
        return Static(asked(ctx, round, value.value, *([] if digits is None else [digits.value])))
    if special_methods.method(ctx, value, "__round__") is not None:
        ctx.fail(refusals.OBJECT, "`round` of an object with a `__round__`", "call a method of another name")
    value = contents = present(ctx, ctx.deref(value), "TypeError", "type NoneType doesn't define __round__ method")
    if not (isinstance(contents, Scalar) or is_number(contents)):
        name = "numpy.ndarray" if python_types.is_array(contents) else type_name(contents)
        text = f"type {name} doesn't define __round__ method"
        ctx.guard(b.FALSE, "TypeError", text)
    if digits is not None and isinstance(contents, Scalar):
        doubts.agreed(ctx, contents, doubts.kinds_of, "round() of")
    if not is_python_number(value) and digits is not None:
        return rounded(ctx, value, digits)
    expr = scalar_expr(ctx, value)
    if digits is not None and expr.dtype.startswith("float"):
        help = "use np.round, which may differ in the last digit"
        ctx.fail(refusals.OPTION, "round() of a Python float to digits", help)
    if digits is not None:
        places = constant_int(ctx, digits, "round's digits")
        if places < 0:
            ctx.fail(refusals.OPTION, "round() of an int to negative digits", "use np.round")
        return Scalar(b.cast(expr, "index"), True) if expr.dtype == "bool" else value
    return to_integer(ctx, expr, "rint")


def _better(ctx: Context, name: str, one: Value, two: Value, kind: Kind) -> Scalar:
    """Python's max or min of two numbers, of which the first is taken where they are equal."""
    doubt = doubts.of_both(two, one, None, None)
    mixed = doubt is not None and set(doubt.kinds) == {("index", True), ("float64", True)}
    as_they_are = doubt is not None and (mixed or doubts.is_rounded(doubt, kind[0]))
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
        return doubts.of_full_or_empty(ctx, split.tag, of_full, of_empty)
    kind = scalar_kind(one, two)
    if kind is None and all(isinstance(ctx.deref(v), (Seq, GrowingList)) for v in (one, two)):
        return compose(ctx, "folding", "greater" if name == "max" else "lesser", [one, two], {})
    if kind is None:
        ctx.fail(refusals.OPERANDS, f"`{name}` of {describe(one)} and {describe(two)}", f"use np.{name}imum for arrays")
    return _better(ctx, name, one, two, kind)


def _empty(name: str) -> str:
    return f"{name}() {'arg is an empty sequence' if sys.version_info < (3, 12) else 'iterable argument is empty'}"


def _extreme_of(ctx: Context, name: str, source: Value, default: Value | None) -> Value:
    """Python's max or min of something of run-time length: the first element that no later one beats."""
    if default is not None:
        return compose(ctx, "folding", f"{name}_or", [source, default], {})
    contents = ctx.deref(source)
    if isinstance(contents, GrowingList) and (
        contents.columns or contents.row or contents.options or contents.rows is not None
    ):  # fmt: skip
        ctx.guard(b.compare("greater", contents.length, b.ZERO), "ValueError", _empty(name))
        return compose(ctx, "folding", "greatest" if name == "max" else "least", [source], {})
    python = isinstance(contents, Range) or (isinstance(contents, GrowingList) and contents.python)
    array = putting.numbers(ctx, contents)
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


TABLE["builtins.max"], TABLE["builtins.min"] = _extreme("max"), _extreme("min")


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
    array = putting.numbers(ctx, contents)
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


@handles("builtins.tuple", "builtins.list", names="iterable")
def _tuple(ctx: Context, a: Arguments) -> Value:
    value = a.given.get("iterable")
    if value is None:
        return Seq((), a.name)
    return sequences.listed(ctx, value, a.name)


@handles("builtins.isinstance", names="obj classinfo")
def _isinstance(ctx: Context, a: Arguments) -> Value:
    wanted = tuple(_classes(ctx, a.need("classinfo")))
    return classes.is_instance(ctx, a.need("obj"), wanted)


def _classes(ctx: Context, value: Value) -> Iterator[Any]:
    """The classes of an `isinstance`; what is no class of Python's, NumPy's or the user's is nobody's here."""
    value = ctx.deref(value)
    if isinstance(value, Seq):
        for item in value.items:
            yield from _classes(ctx, item)
    elif (found := classes.object_at(value)) is not None:
        yield found


def _print(ctx: Context, args: Sequence[Value], keywords: Mapping[str, Value]) -> Value:
    """``print``: a step on the host, in order with everything that writes what it shows."""
    unknown = set(keywords) - {"sep", "end", "flush"}
    if unknown:
        ctx.fail(refusals.OPTION, f"`print` with `{sorted(unknown)[0]}=`", "supported: sep=, end=, flush=")
    between, end = (
        str(default if (given := keywords.get(k)) is None else constant_object(ctx, given, f"`{k}=` of print"))
        for k, default in (("sep", " "), ("end", "\n"))
    )
    _printed(ctx, [_shown(ctx, value) for value in args], between, end)
    return Static(None)


def _shown(ctx: Context, value: Value) -> Value:
    """What `print` shows for a value: an array, or a text."""
    if isinstance(value, (Array, Concatenation)) and not (isinstance(value, Array) and value.ndim == 0):
        return value
    return as_text(ctx, value, "", "s")


@handles("warnings.warn", names="message category stacklevel source skip_file_prefixes")
def _warn(ctx: Context, a: Arguments) -> Value:
    """A step on the host, as `print` is; the warning's place is the line that warns, whatever `stacklevel` says."""
    kind: Any = UserWarning if a.get("category") is None else classes.object_at(a.need("category"))
    if not (isinstance(kind, type) and issubclass(kind, Warning)):
        problem = f"a category of warnings that is {describe(a.need('category'))}"
        ctx.fail(refusals.WRONG_ARGUMENTS, problem, "name a class, such as UserWarning")
    if getattr(sys.modules.get(kind.__module__), kind.__name__, None) != kind:
        problem = f"warnings of `{kind.__name__}`, which is no name of a module"
        ctx.fail(refusals.MESSAGE, problem, "define the class in a module")
    if ctx.scopes.filters and ctx.scopes.filters[-1] == "ignore":
        return Static(None)
    if any(ctx.scopes.filters or ()):
        problem, help = "a warning where a filter may choose it", 'ignore all: warnings.simplefilter("ignore")'
        ctx.fail(refusals.WARNINGS, problem, help)
    message = as_text(ctx, a.need("message"))
    where = (kind.__module__, kind.__name__, ctx.session.span.file, ctx.session.span.line)
    _printed(ctx, [message], "", "", (("warns", where),))
    return Static(None)


def _printed(
    ctx: Context, shown: Sequence[Value], between: str, end: str, more: tuple[tuple[str, Any], ...] = ()
) -> None:
    """Prints arrays and texts; a text that is one of several by a branch for each of them."""
    for position, text in enumerate(shown):
        if not isinstance(text, Text):
            continue
        for k, choice in enumerate(text.args):
            if not isinstance(choice, OneOf):
                continue
            for at, option in enumerate(choice.options):
                fixed = replace(text, args=(*text.args[:k], Static(option), *text.args[k + 1 :]))
                with ctx.emitter.block() as out, suppress(Terminated):
                    _printed(ctx, [*shown[:position], fixed, *shown[position + 1 :]], between, end, more)
                ctx.emit(n.If(b.compare("equal", choice.index, b.index(at)), tuple(out)))
            return
    template, held, kinds = "", list[Array](), list[str | tuple[str, int]]()
    for position, value in enumerate(shown):
        template += quoted(between) if position else ""
        if not isinstance(value, Text):
            template += "{}"
            held.append(as_array(ctx, value))
            kinds.append("array")
            continue
        known = [a.value if isinstance(a, Static) and isinstance(a.value, str) else None for a in value.args]
        template += _filled(value.template, known)
        for number in value.args:
            if isinstance(number, Static) and isinstance(number.value, str):
                continue
            if isinstance(number, Shown):
                made, arrays = shown_lists.text_of(ctx, number)
                held += arrays
                kinds.append((made, len(arrays)))
                continue
            expr = scalar_expr(ctx, number)
            python = isinstance(number, Scalar) and number.python
            held.append(Array((), b.cast(expr, "int64") if expr.dtype == "index" else expr))
            kinds.append("scalar" if not python and held[-1].dtype in OF_NUMPY else "python")
    template += quoted(end)
    ins = tuple(ctx.define(replace(v, view=False, identity=""), "shown").base for v in held)
    ctx.emit(n.Library("print", (), ins, (("template", template), ("kinds", tuple(kinds)), *more)))


def _filled(template: str, known: Sequence[str | None]) -> str:
    """A template with some of its fields filled in."""
    made, fields = "", iter(known)
    for literal, field, spec, conversion in string.Formatter().parse(template):
        made += quoted(literal)
        if field is not None:
            text = next(fields)
            shape = f"{{{'!' + conversion if conversion else ''}{':' + spec if spec else ''}}}"
            made += shape if text is None else quoted(text)
    return made


TABLE["builtins.print"] = _print
