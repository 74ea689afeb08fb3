"""What built-in functions, subscripts and loops mean for objects whose classes say so: `__len__`, `__getitem__`, …"""

from __future__ import annotations

import ast
import copy
import enum
import types
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NoReturn

import numpy as np

from transkern import refusals
from transkern.frontend.compositions import iterating
from transkern.frontend.context import Context
from transkern.frontend.python.whole import python_number
from transkern.frontend.sources.source import from_object, function_of, live_function
from transkern.frontend.subscripts.keys import key_of
from transkern.frontend.values.describing import describe
from transkern.frontend.values.values import (
    Array,
    Bound,
    GrowingList,
    Range,
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

_BUILTIN = {
    "builtins.len": "__len__", "builtins.abs": "__abs__", "builtins.float": "__float__", "builtins.int": "__int__",
    "builtins.complex": "__complex__", "builtins.reversed": "__reversed__", "builtins.iter": "__iter__",
    "builtins.next": "__next__", "builtins.round": "__round__",
}  # fmt: skip


def method(ctx: Context, value: Value, name: str) -> Bound | None:
    """A special method that the class of an object, or one that it is derived from, writes in Python."""
    owner = class_of(ctx, value)
    found = function_of(next((vars(kind)[name] for kind in owner.__mro__[:-1] if name in vars(kind)), None))
    if found is None or found.__code__.co_filename == "<string>":
        return None  # nobody's, Python's own, or one that `dataclass` has made
    return Bound(live_function(found), value)


def is_captured_object(value: object) -> bool:
    """Whether it is an object of the user's that functions find outside: its attributes are constants."""
    return not isinstance(value, (type, enum.Enum, types.ModuleType, BaseException)) and is_plain_object(value)


def captured_mapping(value: Value) -> Mapping[Any, Any] | None:
    """A mapping of a class of its own that functions find outside: it is asked while the function is translated."""
    return value.value if isinstance(value, Static) and isinstance(value.value, Mapping) else None


def builtin(ctx: Context, path: str, value: Value) -> Value | None:
    """``len(x)``, ``abs(x)``, …; None where `x` is no object with a method for it."""
    if path not in _BUILTIN:
        return None
    mapping = captured_mapping(value)
    if mapping is not None and path == "builtins.len":
        return Static(len(mapping))
    bound = method(ctx, value, _BUILTIN[path])
    if bound is None and path == "builtins.iter" and _has_positions(ctx.deref(value)):
        assert ctx.scopes.inline is not None
        return ctx.scopes.inline(live_function(iterating.cursor), [value], {})
    if bound is None:
        return None
    if path == "builtins.reversed":
        ctx.fail(refusals.OBJECT, "`reversed` of an object", "write a loop over it")
    made = called(ctx, bound)
    if path in ("builtins.abs", "builtins.round", "builtins.iter", "builtins.next"):
        return made
    if path == "builtins.len":
        return _length(ctx, made)
    wanted = path.removeprefix("builtins.")
    if not _is_number_of(made, {"float": "float64", "int": "index", "complex": "complex128"}[wanted]):
        _wrong_type(ctx, _BUILTIN[path], made, f"return {wanted}(…)")
    return python_number(ctx, made)


def _has_positions(value: Value) -> bool:
    """Whether an iterator over a value takes what is at its positions, one after the other."""
    if isinstance(value, Seq):
        return value.kind in ("list", "tuple")
    if isinstance(value, Static):
        return isinstance(value.value, str)
    if isinstance(value, Array):
        return value.ndim > 0
    return isinstance(value, Range) or (isinstance(value, GrowingList) and not value.is_queue)


def _length(ctx: Context, made: Value) -> Value:
    """What `__len__` returns, as the integer that Python makes of it."""
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
    ctx.fail(refusals.OBJECT, f"a `{name}` that returns {describe(made)}, for which Python raises TypeError", help)


def truth_of(ctx: Context, value: Value) -> Value | None:
    """What `__bool__`, or else `__len__`, says."""
    mapping = captured_mapping(value)
    if mapping is not None:
        return Static(bool(mapping))
    bound = method(ctx, value, "__bool__")
    if bound is not None:
        made = called(ctx, bound)
        if not _is_number_of(made, "bool"):
            _wrong_type(ctx, "__bool__", made, "return bool(…)")
        return made
    bound = method(ctx, value, "__len__")
    return None if bound is None else _length(ctx, called(ctx, bound))


def item(ctx: Context, value: Value, items: Sequence[Value]) -> Value | None:
    mapping = captured_mapping(value)
    if mapping is not None:
        return _held(ctx, mapping, constant_key(ctx, items))
    bound = method(ctx, value, "__getitem__")
    return None if bound is None else called(ctx, bound, items[0] if len(items) == 1 else Seq(tuple(items)))


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
    return key_of(ctx, items)


def store_item(ctx: Context, owner: Value, items: Sequence[Value], value: Value) -> bool:
    """``owner[items] = value`` by `__setitem__`; whether there is one."""
    bound = method(ctx, owner, "__setitem__")
    if bound is None:
        return False
    called(ctx, bound, items[0] if len(items) == 1 else Seq(tuple(items)), value)
    return True


def contained(ctx: Context, value: Value, owner: Value) -> Value | None:
    mapping = captured_mapping(owner)
    if mapping is not None:
        return Static(constant_key(ctx, [value]) in mapping)
    bound = method(ctx, owner, "__contains__")
    return None if bound is None else called(ctx, bound, value)


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
    return called(ctx, Bound(replace(bound.function, node=made), value))


_ITERATED = "_transkern_iterated"


def text(ctx: Context, value: Value, shown: bool) -> Value | None:
    """What `__str__` (or, with `shown`, `__repr__`) gives."""
    bound = None if shown else method(ctx, value, "__str__")
    bound = bound or method(ctx, value, "__repr__")
    return None if bound is None else called(ctx, bound)


def of_base(ctx: Context, kind: type, receiver: Value, name: str) -> Value | None:
    """``super().name``: the attribute of the classes behind `kind` in the order of the object's class."""
    order = class_of(ctx, receiver).__mro__
    for base in order[order.index(kind) + 1 :]:
        if name in vars(base):
            found = function_of(vars(base)[name])
            return None if found is None else Bound(live_function(found), receiver)
    return None


def called(ctx: Context, bound: Bound, *args: Value) -> Value:
    assert ctx.scopes.inline is not None
    return ctx.scopes.inline(bound.function, [bound.receiver, *args], {})


def class_of(ctx: Context, value: Value) -> type:
    contents = ctx.deref(value)
    if isinstance(contents, Static) and is_captured_object(contents.value):
        return type(contents.value)
    return contents.kind if isinstance(contents, Record) else object
