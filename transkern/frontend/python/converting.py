"""Python's functions of one number or two: conversions, `divmod`, `pow`, `abs`, `round`."""

from __future__ import annotations

import operator

from transkern import refusals
from transkern.frontend.compositions import compose
from transkern.frontend.containers import growing
from transkern.frontend.context import Context
from transkern.frontend.numpy.elementwise import apply, warn_discarded
from transkern.frontend.numpy.methods import rounded
from transkern.frontend.numpy.sizes import check_integer, constant_int
from transkern.frontend.python import characters, decimals, spelling
from transkern.frontend.python.truth import truth
from transkern.frontend.python.whole import check_number, exact_expr, to_integer
from transkern.frontend.translate import special_methods
from transkern.frontend.translate.arguments import Arguments, handles
from transkern.frontend.values import doubts, python_types
from transkern.frontend.values.asking import asked
from transkern.frontend.values.describing import describe
from transkern.frontend.values.numbers import is_number, is_python_number, type_name
from transkern.frontend.values.scalars import present, scalar_expr, select
from transkern.frontend.values.values import Char, JoinedText, OneOf, Scalar, Seq, Static, Text, Value
from transkern.ir import build as b
from transkern.ir.complexes import float_of, is_complex
from transkern.ir.containers import with_text
from transkern.ir.expr import Apply, Const, Expr


@handles("builtins.int", names="x base")
def _integer(ctx: Context, a: Arguments) -> Value:
    base, value = a.given.get("base"), a.given.get("x")
    if base is None:
        return _convert(ctx, a)
    help = "write the base out: int(text, 2)"
    if not isinstance(base, Static):
        ctx.must_be_known(base, "`int` with a base that only the run knows", help, refusals.TEXT)
    assert isinstance(base, Static)
    if value is None or isinstance(value, Static):
        given = () if value is None else (value.value,)
        return Static(asked(ctx, int, *given, base=base.value))
    value = value if isinstance(value, (Char, OneOf)) else spelling.spelled(ctx, value)
    if not isinstance(value, (Char, OneOf, JoinedText, Text)):
        ctx.guard(b.FALSE, "TypeError", "int() can't convert non-string with explicit base")
    asked(ctx, int, "1", base=base.value)
    if base.value == 0:
        ctx.fail(refusals.TEXT, "`int` of a text that only the run knows, whose base the text tells", help)
    listed = spelling.listed(ctx, value)
    held = growing.from_items(ctx, listed) if isinstance(listed, Seq) else listed
    return compose(ctx, "texts", "number_in_base", [held, base], {})


@handles("builtins.float", "builtins.bool", names="x")
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
    if isinstance(value, JoinedText) and ctx.learned.spelling.given and ctx.learned.spelling.parted:
        problem = f"`{kind}` of a part of a text, which may be no plain number"
        ctx.fail(refusals.TEXT, problem, "read the numbers outside: np.array(text.split(), dtype=float)")
    if kind == "int" and isinstance(value, JoinedText) and value.characters is not None:
        return compose(ctx, "texts", "number_of", [value.characters], {})
    made = isinstance(value, Char) or (isinstance(value, JoinedText) and value.characters is not None)
    if kind == "float" and made:
        held = spelling.listed(ctx, value)
        held = growing.from_items(ctx, held) if isinstance(held, Seq) else held
        return compose(ctx, "texts", "float_of", [held], {})
    if isinstance(value, OneOf) and all(isinstance(o, str) for o in value.options):
        return _of_choice(ctx, value, int if kind == "int" else float)
    check_number(ctx, value)
    if kind == "int" and (whole := _of_float_or_integer(ctx, value)) is not None:
        return whole
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


def _of_choice(ctx: Context, choice: OneOf, kind: type) -> Value:
    """``int(text)`` or ``float(text)`` of one of several texts, some of which may be no numbers."""
    made: list[Expr] = []
    for k, option in enumerate(choice.options):
        assert option is not None
        try:
            made.append(scalar_expr(ctx, Static(kind(option))))
        except ValueError as error:
            ctx.guard(b.compare("not_equal", choice.index, b.index(k)), *with_text("ValueError", str(error)))
            made.append(scalar_expr(ctx, Static(kind())))
    return Scalar(ctx.let(select(choice.index, made), "number"), True)


def _of_float_or_integer(ctx: Context, value: Value) -> Value | None:
    """``int(x)`` of a number that is a float or an integer of NumPy's, which no float need hold; None of others."""
    split = value.doubt.split if isinstance(value, Scalar) and value.doubt is not None else None
    if split is None or split.of_empty:
        return None
    sides = {scalar_expr(ctx, side).dtype[0]: scalar_expr(ctx, side) for side in (split.one, split.two)}
    if set(sides) not in ({"f", "i"}, {"f", "u"}) or "index" in {e.dtype for e in sides.values()}:
        return None
    number = sides.pop("f")
    (whole,) = sides.values()
    is_float = split.tag if scalar_expr(ctx, split.one) == number else b.logical_not(split.tag)
    of_float = to_integer(ctx, b.where(is_float, number, Const(0.0, number.dtype)))
    of_whole = to_integer(ctx, b.where(is_float, Const(0, whole.dtype), whole))
    return Scalar(b.where(is_float, scalar_expr(ctx, of_float), scalar_expr(ctx, of_whole)), True)


@handles("operator.index", names="a")
def _index(ctx: Context, a: Arguments) -> Value:
    """An integer as Python's; Python's error of anything else."""
    value = a.need("a")
    if isinstance(value, Static):
        return Static(asked(ctx, operator.index, value.value))
    check_integer(ctx, value)
    expr = scalar_expr(ctx, value)
    if expr.dtype == "bool" and not is_python_number(value):
        ctx.guard(b.FALSE, "TypeError", "'numpy.bool' object cannot be interpreted as an integer")
    return to_integer(ctx, exact_expr(ctx, value))


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
    if isinstance(base, Static) and isinstance(exponent, Static) and isinstance(mod, Static):
        return Static(asked(ctx, pow, base.value, exponent.value, mod.value))
    numbers = [_python_integer(ctx, v) for v in (base, exponent, mod)]
    return compose(ctx, "numbers/whole", "power_by", numbers, {})


def _python_integer(ctx: Context, value: Value) -> Value:
    """What `pow` with a modulus takes: of NumPy's numbers it is an error."""
    if not is_python_number(value) or not scalar_expr(ctx, value).dtype.startswith(("index", "bool")):
        problem = f"pow() with a modulus, of {describe(value)}"
        ctx.fail(refusals.OPTION, problem, "make integers of them: pow(int(a), int(b), int(m))")
    return Scalar(b.as_index(scalar_expr(ctx, value)), True)


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
        digits_of = constant_int(ctx, digits, "round's digits")
        if not 0 <= digits_of <= decimals.MOST_DIGITS:
            help = "use np.round, which may differ in the last digit"
            problem = f"round() of a Python float to negative digits, or to more than {decimals.MOST_DIGITS}"
            ctx.fail(refusals.OPTION, problem, help)
        return Scalar(decimals.rounded_to(ctx, expr, digits_of), True)
    if digits is not None:
        places = constant_int(ctx, digits, "round's digits")
        if places < 0:
            ctx.fail(refusals.OPTION, "round() of an int to negative digits", "use np.round")
        return Scalar(b.cast(expr, "index"), True) if expr.dtype == "bool" else value
    return to_integer(ctx, expr, "rint")
