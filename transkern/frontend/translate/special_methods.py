"""What operators and built-in functions mean for objects whose classes say so: `__add__`, `__len__`, `__getitem__`, …

    p + q   ->   P.__add__(p, q), else Q.__radd__(q, p)
"""

from __future__ import annotations

import ast
import copy
import dataclasses
import enum
import types
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NoReturn

import numpy as np

from transkern import refusals
from transkern.frontend.context import Context
from transkern.frontend.sources.source import from_object, function_of, live_function
from transkern.frontend.values.values import (
    Array,
    Bound,
    Concatenation,
    Instance,
    OrNone,
    Record,
    Scalar,
    Seq,
    Static,
    Value,
)
from transkern.ir import build as b
from transkern.ir.containers import with_text
from transkern.parsing import all_nodes
from transkern.plain import is_plain_object

_BINARY = {
    "add": "add", "subtract": "sub", "multiply": "mul", "divide": "truediv", "floor_divide": "floordiv",
    "remainder": "mod", "power": "pow", "bitwise_and": "and", "bitwise_or": "or", "bitwise_xor": "xor",
    "left_shift": "lshift", "right_shift": "rshift", "matmul": "matmul",
}  # fmt: skip
_UNARY = {"negative": "__neg__", "positive": "__pos__", "invert": "__invert__"}
_ORDER = {
    "less": ("__lt__", "__gt__"), "less_equal": ("__le__", "__ge__"), "greater": ("__gt__", "__lt__"),
    "greater_equal": ("__ge__", "__le__"), "equal": ("__eq__", "__eq__"), "not_equal": ("__ne__", "__ne__"),
}  # fmt: skip
_BUILTIN = {
    "builtins.len": "__len__", "builtins.abs": "__abs__", "builtins.float": "__float__", "builtins.int": "__int__",
    "builtins.complex": "__complex__", "builtins.reversed": "__reversed__", "builtins.iter": "__iter__",
    "builtins.next": "__next__", "builtins.round": "__round__",
}  # fmt: skip


def method(ctx: Context, value: Value, name: str) -> Bound | None:
    """A special method that the class of an object, or one that it is derived from, writes in Python."""
    owner = _kind(ctx, value)
    found = function_of(next((vars(kind)[name] for kind in owner.__mro__[:-1] if name in vars(kind)), None))
    if found is None or found.__code__.co_filename == "<string>":
        return None  # nobody's, Python's own, or one that `dataclass` has made
    return Bound(live_function(found), value)


def _call(ctx: Context, bound: Bound, *args: Value) -> Value:
    assert ctx.scopes.inline is not None
    return ctx.scopes.inline(bound.function, [bound.receiver, *args], {})


def _kind(ctx: Context, value: Value) -> type:
    contents = ctx.deref(value)
    if isinstance(contents, Static) and is_captured_object(contents.value):
        return type(contents.value)
    return contents.kind if isinstance(contents, Record) else object


def is_captured_object(value: object) -> bool:
    """Whether it is an object of the user's that functions find outside: its attributes are constants."""
    return not isinstance(value, (type, enum.Enum, types.ModuleType, BaseException)) and is_plain_object(value)


def captured_mapping(value: Value) -> Mapping[Any, Any] | None:
    """A mapping of a class of its own that functions find outside: it is asked while the function is translated."""
    return value.value if isinstance(value, Static) and isinstance(value.value, Mapping) else None


def _handed(ctx: Context, value: Value) -> Value:
    """The left operand as the right one's method gets it: NumPy makes a number of Python's of one of its own."""
    from transkern.frontend.translate.attributes import python_number

    if isinstance(value, Scalar) and not value.python:
        return python_number(ctx, value)
    return Static(value.value.item()) if isinstance(value, Static) and isinstance(value.value, np.generic) else value


def _reflected(ctx: Context, name: str, x: Value, y: Value) -> Value | None:
    bound = method(ctx, y, name)
    if bound is None:
        return None
    held = ctx.deref(x)
    if isinstance(held, (Array, Concatenation)) and (not isinstance(held, Array) or held.ndim):
        ctx.fail(refusals.OBJECT, "an operator between an array and an object", "call the object's method")
    held = Scalar(held.body) if isinstance(held, Array) else x
    given = _handed(ctx, held)
    if given is not held and any(method(ctx, y, n) for n in ("__len__", "__getitem__")):
        problem = "an operator between NumPy's number and an object that is a sequence"
        ctx.fail(refusals.OBJECT, problem, "call the object's method")
    return _call(ctx, bound, given)


def binary(ctx: Context, op: str, x: Value, y: Value) -> Value | None:
    """An operator of two operands, of which one is an object with a method for it; None where none is."""
    stem = _BINARY[op]
    one, two = _kind(ctx, x), _kind(ctx, y)
    if one is not two and one is not object and issubclass(two, one):  # the derived class is asked first
        made = _reflected(ctx, f"__r{stem}__", x, y)
        if made is not None:
            return made
    bound = method(ctx, x, f"__{stem}__")
    if bound is not None:
        return _call(ctx, bound, y)
    return _reflected(ctx, f"__r{stem}__", x, y)


def in_place_name(op: str) -> str:
    return f"__i{_BINARY[op]}__"


def in_place(ctx: Context, op: str, x: Value, y: Value) -> Value | None:
    """``x += y`` by `__iadd__`."""
    bound = method(ctx, x, in_place_name(op))
    return None if bound is None else _call(ctx, bound, y)


def unary(ctx: Context, op: str, x: Value) -> Value | None:
    bound = method(ctx, x, _UNARY[op])
    return None if bound is None else _call(ctx, bound)


def compared(ctx: Context, op: str, x: Value, y: Value) -> Value | None:
    """A comparison by `__eq__`, `__lt__`, …; of objects whose class has none by what they are."""
    own, other = _ORDER[op]
    for name, one, two in ((own, x, y), (other, y, x)):
        bound = method(ctx, one, name)
        if bound is not None:
            return _call(ctx, bound, _handed(ctx, two) if one is y else two)
    if op == "not_equal":
        equal = compared(ctx, "equal", x, y)
        if equal is None:
            return None
        from transkern.frontend.numpy.elementwise import truth

        holds = truth(ctx, equal)
        if isinstance(holds, Static):
            return Static(not holds.value)
        assert isinstance(holds, Scalar)
        return Scalar(b.logical_not(holds.expr), True)
    held = [v.value if isinstance(v, OrNone) and isinstance(v.value, Instance) else v for v in (x, y)]
    if op != "equal" or not all(_by_identity(ctx, v) for v in held):
        return None
    from transkern.frontend.containers import pools

    told = pools.same(x, y)
    return Static(x == y) if told is None else told


def _by_identity(ctx: Context, value: Value) -> bool:
    """Whether it is an object that equals itself only."""
    contents = ctx.deref(value)
    return (
        isinstance(contents, Record) and contents is not value and not contents.is_tuple
        and not dataclasses.is_dataclass(contents.kind)
        and not any("__eq__" in vars(kind) for kind in contents.kind.__mro__[:-1])
    )  # fmt: skip


def builtin(ctx: Context, path: str, value: Value) -> Value | None:
    """``len(x)``, ``abs(x)``, …; None where `x` is no object with a method for it."""
    from transkern.frontend.translate.attributes import python_number

    if path not in _BUILTIN:
        return None
    mapping = captured_mapping(value)
    if mapping is not None and path == "builtins.len":
        return Static(len(mapping))
    bound = method(ctx, value, _BUILTIN[path])
    if bound is None:
        return None
    if path in ("builtins.reversed", "builtins.iter", "builtins.next"):
        ctx.fail(refusals.OBJECT, f"`{path.removeprefix('builtins.')}` of an object", "write a loop over it")
    made = _call(ctx, bound)
    if path in ("builtins.abs", "builtins.round"):
        return made
    if path == "builtins.len":
        return _length(ctx, made)
    wanted = path.removeprefix("builtins.")
    if not _is_number_of(made, {"float": "float64", "int": "index", "complex": "complex128"}[wanted]):
        _wrong_type(ctx, _BUILTIN[path], made, f"return {wanted}(…)")
    return python_number(ctx, made)


def _length(ctx: Context, made: Value) -> Value:
    """What `__len__` returns, as the integer that Python makes of it."""
    from transkern.frontend.translate.attributes import python_number

    if isinstance(made, Static) and isinstance(made.value, (bool, int, np.integer)) and made.value >= 0:
        return Static(int(made.value))
    if not (isinstance(made, Scalar) and (made.dtype in ("index", "bool") or np.dtype(made.dtype).kind in "iu")):
        _wrong_type(ctx, "__len__", made, "return int(…) of a number that is not negative")
    number = python_number(ctx, made)
    assert isinstance(number, Scalar)
    length = b.cast(number.expr, "index")
    ctx.guard(b.compare("greater_equal", length, b.ZERO), "ValueError", "__len__() should return >= 0")
    return Scalar(length, True)


def _is_number_of(value: Value, dtype: str) -> bool:
    """Whether a value is one of Python's numbers of that type; of floats and complex numbers, one of NumPy's, too."""
    if isinstance(value, Static):
        kinds = {"float64": float, "index": int, "complex128": complex, "bool": bool}
        return isinstance(value.value, kinds[dtype]) and (dtype == "bool" or not isinstance(value.value, bool))
    inexact = dtype in ("float64", "complex128")
    return isinstance(value, Scalar) and value.dtype == dtype and (value.python or inexact) and value.doubt is None


def _wrong_type(ctx: Context, name: str, made: Value, help: str) -> NoReturn:
    from transkern.frontend.values.describing import describe

    ctx.fail(refusals.OBJECT, f"a `{name}` that returns {describe(made)}, for which Python raises TypeError", help)


def truth_of(ctx: Context, value: Value) -> Value | None:
    """What `__bool__`, or else `__len__`, says."""
    mapping = captured_mapping(value)
    if mapping is not None:
        return Static(bool(mapping))
    bound = method(ctx, value, "__bool__")
    if bound is not None:
        made = _call(ctx, bound)
        if not _is_number_of(made, "bool"):
            _wrong_type(ctx, "__bool__", made, "return bool(…)")
        return made
    bound = method(ctx, value, "__len__")
    return None if bound is None else _length(ctx, _call(ctx, bound))


def item(ctx: Context, value: Value, items: Sequence[Value]) -> Value | None:
    mapping = captured_mapping(value)
    if mapping is not None:
        return _held(ctx, mapping, constant_key(ctx, items))
    bound = method(ctx, value, "__getitem__")
    return None if bound is None else _call(ctx, bound, items[0] if len(items) == 1 else Seq(tuple(items)))


def _held(ctx: Context, mapping: Mapping[Any, Any], key: Any) -> Value:
    try:
        found = mapping[key]
    except KeyError as error:
        text = error.args[0] if error.args and isinstance(error.args[0], str) else str(error)
        ctx.guard(b.FALSE, *with_text("KeyError", text))
        raise AssertionError from None
    value = from_object(found)
    if value is None:
        problem = f"the item {key!r}, a {type(found).__name__}, cannot take part"
        ctx.fail(refusals.ARGUMENT_TYPE, problem, "pass it as an argument")
    return value


def constant_key(ctx: Context, items: Sequence[Value]) -> Any:
    from transkern.frontend.translate.indexing import key_of

    return key_of(ctx, items)


def store_item(ctx: Context, owner: Value, items: Sequence[Value], value: Value) -> bool:
    """``owner[items] = value`` by `__setitem__`; whether there is one."""
    bound = method(ctx, owner, "__setitem__")
    if bound is None:
        return False
    _call(ctx, bound, items[0] if len(items) == 1 else Seq(tuple(items)), value)
    return True


def contained(ctx: Context, value: Value, owner: Value) -> Value | None:
    mapping = captured_mapping(owner)
    if mapping is not None:
        return Static(constant_key(ctx, [value]) in mapping)
    bound = method(ctx, owner, "__contains__")
    return None if bound is None else _call(ctx, bound, value)


def iterated(ctx: Context, value: Value) -> Value | None:
    """What a loop over an object goes over, where its `__iter__` is ``return iter(something)``."""
    mapping = captured_mapping(value)
    if mapping is not None:
        return from_object(list(mapping))
    bound = method(ctx, value, "__iter__")
    if bound is None:
        return None
    node = bound.function.node
    made = getattr(node, _ITERATED, None)
    if made is None:
        made = copy.deepcopy(node)
        match made:
            case ast.FunctionDef(
                body=[*_, ast.Return(ast.Call(ast.Name("iter"), [of], [])) | ast.Expr(ast.YieldFrom(of))]
            ) if sum(isinstance(x, (ast.Return, ast.Yield, ast.YieldFrom)) for x in all_nodes(made)) == 1:
                made.body[-1] = ast.copy_location(ast.Return(of), made.body[-1])
            case _:
                problem = "a loop over an object whose `__iter__` does more than `return iter(…)`"
                ctx.fail(refusals.OBJECT, problem, "loop over a list that one of its methods makes")
        setattr(node, _ITERATED, made)  # the same function twice must be the same tree twice
    assert isinstance(made, ast.FunctionDef)
    return _call(ctx, Bound(replace(bound.function, node=made), value))


_ITERATED = "_transkern_iterated"


def text(ctx: Context, value: Value, shown: bool) -> Value | None:
    """What `__str__` (or, with `shown`, `__repr__`) gives."""
    bound = None if shown else method(ctx, value, "__str__")
    bound = bound or method(ctx, value, "__repr__")
    return None if bound is None else _call(ctx, bound)


def of_base(ctx: Context, kind: type, receiver: Value, name: str) -> Value | None:
    """``super().name``: the attribute of the classes behind `kind` in the order of the object's class."""
    order = _kind(ctx, receiver).__mro__
    for base in order[order.index(kind) + 1 :]:
        if name in vars(base):
            found = function_of(vars(base)[name])
            return None if found is None else Bound(live_function(found), receiver)
    return None

