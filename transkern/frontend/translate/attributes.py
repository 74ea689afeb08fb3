"""Attributes of values: shapes, dtypes, transposes; anything else is a method."""

from __future__ import annotations

import enum
import functools
import inspect
import math
import types
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from transkern import refusals, wrappers
from transkern.errors import EMPTY
from transkern.frontend.containers import objects
from transkern.frontend.context import Context
from transkern.frontend.numpy import strided
from transkern.frontend.numpy.arrays import as_array
from transkern.frontend.numpy.elementwise import part
from transkern.frontend.numpy.shaping import (
    flat,
    transpose,
)  # fmt: skip
from transkern.frontend.python.spelling import METHODS
from transkern.frontend.sources.module_names import Name, demand_for
from transkern.frontend.sources.observed import note, passing
from transkern.frontend.sources.source import from_object, function_of, known_object, live_function
from transkern.frontend.sources.texts import TextScope
from transkern.frontend.subscripts.arrays import shape_of
from transkern.frontend.translate import special_methods
from transkern.frontend.translate.binding import outside
from transkern.frontend.values import classes, doubts, python_types
from transkern.frontend.values.asking import asked
from transkern.frontend.values.describing import describe
from transkern.frontend.values.numbers import is_number
from transkern.frontend.values.values import (
    Array,
    Bound,
    Char,
    Concatenation,
    Dict,
    Flags,
    Flat,
    Function,
    Generator,
    GrowingList,
    Hashed,
    Instance,
    JoinedText,
    Known,
    Method,
    OneOf,
    Partial,
    Range,
    Record,
    Scalar,
    Seq,
    Slice,
    Static,
    Text,
    Unbound,
    Value,
)  # fmt: skip
from transkern.ir import build as b
from transkern.ir.complexes import float_of, is_complex
from transkern.ir.expr import Apply, Const, Expr

_LIMITS = ("eps", "max", "min", "tiny", "resolution", "bits", "smallest_normal")
_NUMPYS = (np.generic, np.ndarray, np.dtype, str, np.finfo, np.iinfo)


def of_class(ctx: Context, value: Value, name: str) -> Value | None:
    """A method, a property's value or a constant of the class of an object, if it has one of that name."""
    contents = ctx.deref(value)
    if not isinstance(contents, Record):
        return None
    try:
        found = inspect.getattr_static(contents.kind, name)
    except AttributeError:
        return None
    if (written := function_of(found)) is not None:
        return Bound(replace(live_function(written), cached=wrappers.is_cached(found)), value)
    if isinstance(found, staticmethod):
        return from_object(found.__func__)
    if isinstance(found, classmethod):
        return Bound(live_function(found.__func__), Static(contents.kind))
    if isinstance(found, functools.cached_property):
        problem = f"`{name}`, a cached property that nobody has read yet"
        ctx.fail(refusals.OBJECT, problem, "make it a property, or read it before the call")
    if isinstance(found, property):
        return Bound(live_function(found.fget), value)  # type: ignore[arg-type]
    made = from_object(found)
    if made is None or isinstance(found, type) or not hasattr(type(found), "__get__"):
        return made
    match made:  # it binds itself to the object, as functions do: NumPy's that are no ufuncs, and cached ones
        case Function():
            return Bound(made, value)
        case Known():
            return Partial(made, (value,), ())
        case _:
            problem = f"`{name}` of the class `{contents.kind.__name__}`, a descriptor"
            ctx.fail(refusals.OBJECT, problem, "make it a property")


def is_property(ctx: Context, value: Value, name: str) -> bool:
    """Whether the attribute is computed by the class."""
    contents = ctx.deref(value)
    if isinstance(contents, Static):
        return special_methods.is_captured_object(contents.value) and isinstance(
            inspect.getattr_static(contents.value, name, None), property
        )
    if not isinstance(contents, Record):
        return False
    found = inspect.getattr_static(contents.kind, name, None)  # a property goes before what the object itself has
    is_kept = isinstance(found, functools.cached_property) and contents.get(name) is None
    return is_kept or isinstance(found, property)


def attribute(ctx: Context, value: Value, name: str) -> Value:
    """``value.name``; what a property says is computed."""
    found = _attribute(ctx, value, name)
    if isinstance(found, Bound) and is_property(ctx, value, name):
        assert ctx.scopes.inline is not None
        return ctx.scopes.inline(found.function, [found.receiver], {})
    return found


def _attribute(ctx: Context, value: Value, name: str) -> Value:
    if isinstance(value, Instance) and name in value.pool.names and value.pool.spare is None:
        return objects.attribute(ctx, value, name)
    contents = ctx.deref(value)
    if isinstance(contents, Record):
        found = None if is_property(ctx, value, name) else contents.get(name)
        if found is None and name in ("_replace", "_asdict", "index", "count") and contents.is_tuple:
            return Method(value, name)
        if found is None and name == "_fields" and contents.is_tuple:
            return Seq(tuple(Static(f) for f in contents.names))
        found = of_class(ctx, value, name) if found is None else found
        if found is None:
            if name == "__class__":
                return Static(contents.kind)
            if name == "__dict__":
                ctx.fail(refusals.UNKNOWN_ATTRIBUTE, "`__dict__` of an object", "read its attributes by their names")
            text = f"'{contents.kind.__name__}' object has no attribute '{name}'"
            ctx.guard(b.FALSE, "AttributeError", text)
            raise AssertionError
        if isinstance(found, Unbound):
            ctx.fail(refusals.ARGUMENT_TYPE, found.why, "keep what needs it outside")
        return found
    if isinstance(value, Scalar) and value.doubt is not None:
        doubts.agreed(ctx, value, lambda v: hasattr(kind := classes.class_of(v), name) or kind, f"`.{name}` of")
        if name in _PARTS:
            doubts.agreed(ctx, value, doubts.kinds_of, f"`.{name}` of")
    python_types.check_attribute(ctx, contents, name)
    value = contents if isinstance(contents, JoinedText) else value
    if isinstance(value, Scalar) and value.python and name in _PARTS:
        return _part_of_number(value, name)
    if isinstance(value, Static) and not isinstance(value.value, _NUMPYS):
        is_member = isinstance(value.value, enum.Enum) and not hasattr(int, name)
        if isinstance(value.value, (bool, int, float, complex)) and not is_member:
            return _number_attribute(ctx, value, name)
        return _host_attribute(ctx, value.value, name)
    if isinstance(contents, (Seq, Dict, GrowingList, Hashed)):
        return Method(value, name)
    match value:
        case Function() | Bound() if name in ("__name__", "__qualname__"):
            return Static(value.name if isinstance(value, Function) else value.function.name)
        case Known(path):
            found = known_object(f"{path}.{name}")
            owner = classes.named_object(path)
            if isinstance(found, Known) and owner is not None and not isinstance(owner, types.ModuleType):
                held = asked(ctx, getattr, owner, name)
                if isinstance(held, (str, int, float, tuple, types.NoneType)):  # no method: `__name__`, `identity`
                    return from_object(held) or found
            if (
                isinstance(found, Known)
                and path in ("numpy", "math")
                and name not in dir(np if path == "numpy" else math)  # which imports nothing
            ):
                if ctx.control.in_branch:  # for another version of NumPy, or a rare case: the run may not come here
                    asked(ctx, getattr, np if path == "numpy" else math, name)
                ctx.fail(refusals.UNKNOWN_ATTRIBUTE, f"`{path}` has no `{name}`", _meant(path, name))
            return found
        case Static(np.dtype() as dtype):
            return Static(asked(ctx, getattr, dtype, name))
        case Static(np.finfo() | np.iinfo() as limits) if name in _LIMITS:
            return Static(getattr(limits, name))
        case Static(str()) | Text() | Generator():
            return Method(value, name)
        case Slice(start, stop, step) if name in ("start", "stop", "step"):
            return {"start": start, "stop": stop, "step": step}[name] or Static(None)
        case Array() | GrowingList() | Static(np.ndarray()) | Scalar() | Concatenation() | Static():
            if isinstance(value, GrowingList):
                return Method(value, name)
            if name in _PROPERTIES:
                return _property(ctx, as_array(ctx, value), name, value)
            if isinstance(value, (Array, Concatenation)) or (
                isinstance(value, Static) and isinstance(value.value, np.ndarray)
            ):
                _check_method(ctx, name)
            return Method(value, name)
        case Range(start, stop, step) if name in ("start", "stop", "step"):
            return Scalar({"start": start, "stop": stop, "step": step}[name], True)
        case Seq() | Range():
            return Method(value, name)
        case JoinedText() | Text() if name in METHODS:
            return Method(value, name)
        case Char() if hasattr(str, name):
            return Method(value, name)
        case OneOf(options=options) if hasattr(str, name) and all(isinstance(o, str) for o in options):
            return Method(value, name)
        case Flags(array):
            return strided.flag(ctx, array, name, is_key=False)
        case Flat(array) if name == "copy":
            return Method(replace(array, view=False, identity=""), name)
        case Flat() if not hasattr(np.flatiter, name):
            ctx.guard(b.FALSE, "AttributeError", f"'numpy.flatiter' object has no attribute '{name}'")
            raise AssertionError
        case _:
            help = "read it outside, and pass it as an argument"
            ctx.fail(refusals.UNKNOWN_ATTRIBUTE, f"`.{name}` of {describe(value)}", help)


def _meant(module: str, name: str) -> str:
    """What to write instead of a name that a module does not have."""
    if name in ("bool", "complex", "float", "int", "object", "str"):
        return f"write `{name}`: NumPy has no such name any more"
    import difflib  # which takes a while, and is seldom needed

    near = difflib.get_close_matches(name, dir(np if module == "numpy" else math), 1)
    shown = "np" if module == "numpy" else module
    return f"did you mean `{shown}.{near[0]}`?" if near else f"look for it in the manual of `{module}`"


def _check_method(ctx: Context, name: str) -> None:
    """That arrays have a method of this name: whose memory they are (`base`) is not known here."""
    if not hasattr(np.ndarray, name):
        ctx.guard(b.FALSE, "AttributeError", f"'numpy.ndarray' object has no attribute '{name}'")
    if not callable(getattr(np.ndarray, name)):
        known = ", ".join(f"`{p}`" for p in _PROPERTIES)
        ctx.fail(refusals.UNKNOWN_ATTRIBUTE, f"`.{name}` of an array", f"arrays have {known} here")


_PROPERTIES = (
    "shape", "ndim", "size", "T", "mT", "dtype", "real", "imag", "flat", "flags", "nbytes", "itemsize", "strides",
)  # fmt: skip
_PARTS = ("real", "imag", "numerator", "denominator")


def _part_of_number(value: Scalar, name: str) -> Value:
    """``x.real`` and the like of a number of Python's: one of its numbers."""
    if is_complex(value.dtype):
        return Scalar(Apply(name, (value.expr,), float_of(value.dtype)), True)
    if name == "imag":
        return Static(0.0 if value.dtype == "float64" else 0)
    if name == "denominator":
        return Static(1)
    return Scalar(b.cast(value.expr, "index") if value.dtype == "bool" else value.expr, True)


def _number_attribute(ctx: Context, value: Static, name: str) -> Value:
    """``(3).real``; methods of numbers."""
    if name in ("real", "imag", "numerator", "denominator"):
        return Static(getattr(value.value, name))
    return Method(value, name)


def _host_attribute(ctx: Context, owner: object, name: str) -> Value:
    """An attribute of a Python object that is known at specialisation: a class, an enum's member, a module."""
    if isinstance(owner, types.ModuleType):
        if (held := outside.found_in(ctx, id(vars(owner)), name)) is not None:
            return held
        note(vars(owner), name)
    if isinstance(owner, TextScope):  # a module read as text
        known = owner.member(name)
        if known is None:
            if (refusal := owner.refusal(name)) is not None:
                raise refusal
            help = "of a module its functions, imports and literals are read: pass anything else as an argument"
            error = ctx.error(refusals.UNKNOWN_NAME, f"`{name}` of the module {owner.file}", help)
            error.as_text = True
            raise error
        return known
    written = inspect.getattr_static(owner, name, None)
    if isinstance(written, property) and special_methods.is_captured_object(owner):
        return Bound(live_function(written.fget), Static(owner))  # type: ignore[arg-type]
    _check_descriptor(ctx, owner, written, name)
    try:
        found = getattr(owner, name)
    except AttributeError:
        text = f"'{type(owner).__name__}' object"
        if isinstance(owner, (type, types.ModuleType)):
            text = f"{'type object' if isinstance(owner, type) else 'module'} '{owner.__name__}'"
        ctx.guard(b.FALSE, "AttributeError", f"{text} has no attribute '{name}'")
        raise
    if isinstance(owner, types.ModuleType) and name not in vars(owner):
        problem = f"`{name}` of the module {owner.__name__}, whose `__getattr__` makes it"
        ctx.fail(refusals.MODULE_CHANGES, problem, "bind it in the module")
    if isinstance(owner, type) and isinstance(written, classmethod):
        return Bound(live_function(found.__func__), Static(owner))
    mapping = special_methods.captured_mapping(Static(owner))
    if mapping is not None and name in ("items", "keys", "values") and callable(found):
        held = from_object(dict(mapping))
        assert held is not None
        return Method(held, name)
    if mapping is not None and name == "get":
        return Bound(live_function(_got), Static(owner))
    if isinstance(found, types.MethodType) and found.__self__ is owner:
        if (method := function_of(found.__func__)) is not None:
            return Bound(replace(live_function(method), cached=wrappers.is_cached(found.__func__)), Static(owner))
    with passing():
        value = from_object(found)
    if value is None:
        problem = f"`.{name}`, a {type(found).__name__}, cannot take part"
        ctx.fail(refusals.ARGUMENT_TYPE, problem, "pass what is needed of it as an argument")
    _, demand = ctx.scopes.origins.get(id(owner), (None, None))
    if isinstance(owner, types.ModuleType):
        demand = demand_for(Name(vars(owner), name))
    return outside.taken(ctx, value, demand)


def _check_descriptor(ctx: Context, owner: object, written: object, name: str) -> None:
    """Refuses attributes that code of the user's would compute while a function is translated: as what, and from what,
    nobody would notice a change."""
    kind = owner if isinstance(owner, type) else type(owner)
    if isinstance(owner, (enum.Enum, types.ModuleType)) or issubclass(kind, enum.Enum):
        return
    getters = [getattr(type(written), "__get__", None), kind.__getattribute__]
    known = (types.FunctionType, property, functools.cached_property, classmethod, staticmethod)
    if isinstance(written, known) or function_of(written) is not None:
        return
    if any(isinstance(g, types.FunctionType) for g in getters):
        problem = f"`.{name}`, which a descriptor of `{kind.__name__}` computes"
        ctx.fail(refusals.OBJECT, problem, "make it a property, or pass it as an argument")


def _got(mapping: Mapping[Any, Any], key: Any, default: Any = None) -> Any:
    return mapping[key] if key in mapping else default  # noqa: SIM401  (its own subscript says what a key is)


def _property(ctx: Context, value: Array, name: str, original: Value) -> Value:
    match name:
        case "shape":
            return Seq(tuple(static_or(d) for d in shape_of(ctx, value)))
        case "ndim":
            _of_something(ctx, value, "ndim")
            return Static(value.ndim)
        case "size":
            return static_or(b.product(shape_of(ctx, value)))
        case "T":
            return original if value.ndim < 2 else transpose(ctx, value, None)
        case "mT":
            if value.ndim < 2:
                ctx.guard(b.FALSE, "ValueError", "matrix transpose with ndim < 2 is undefined")
            return transpose(ctx, value, [*range(value.ndim - 2), value.ndim - 1, value.ndim - 2])
        case "nbytes":
            return static_or(b.mul(b.product(shape_of(ctx, value)), b.index(np.dtype(value.dtype).itemsize)))
        case "dtype":
            _of_something(ctx, value, "dtype")
            return Static(np.dtype(value.dtype))
        case "flat":
            line = flat(ctx, value)
            if isinstance(original, Scalar) or is_number(original):  # it has no memory of its own that one could see
                line = replace(ctx.define(replace(line, view=False), "line"), view=True)
            return Flat(line)
        case "flags":
            return Flags(value)
        case "strides":
            return Seq(tuple(map(static_or, strided.strides(ctx, value))))
        case "itemsize":
            _of_something(ctx, value, "itemsize")
            return Static(np.dtype(value.dtype).itemsize)
        case "real" | "imag":
            if is_complex(value.dtype):
                if isinstance(original, Static):
                    return Static(getattr(original.value, name))
                made = part(ctx, value, name)
                return Scalar(made.body, original.python) if isinstance(original, Scalar) else made
            if name == "real":
                return original
            zero = b.cast(Const(0, "int64"), value.dtype) if value.dtype != "bool" else b.FALSE
            number = isinstance(original, Scalar) or is_number(original)
            return Scalar(zero) if number else Array(value.axes, zero, value.mask, readonly=True)
        case _:
            help = "read it outside, and pass it as an argument"
            ctx.fail(refusals.UNKNOWN_ATTRIBUTE, f"`.{name}` of an array", help)


def _of_something(ctx: Context, value: Array, name: str) -> None:
    """What is known of an array that was made of a list is not so of the one that NumPy makes of an empty list."""
    if value.empty is None:
        return
    like = np.empty([0] * value.ndim, value.dtype)
    if getattr(value.empty.value, name) != getattr(like, name):
        ctx.guard(value.empty.some, "RuntimeError", EMPTY)


def static_or(dim: Expr) -> Value:
    value = b.constant(dim)
    return Static(value) if value is not None else Scalar(dim, True)


