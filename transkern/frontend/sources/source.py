"""Where functions come from: live Python functions, and the objects that they find outside."""

from __future__ import annotations

import ast
import builtins
import cmath
import enum
import functools
import importlib
import math
import types
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from transkern import limits, refusals, wrappers
from transkern.errors import CompileError
from transkern.frontend.sources import identity
from transkern.frontend.sources.observed import note, note_array, note_function
from transkern.frontend.sources.written import written
from transkern.frontend.values.kinds.vectorized import vectorized
from transkern.frontend.values.values import (
    Bound,
    Dict,
    Function,
    Known,
    Method,
    Partial,
    Record,
    Scope,
    Seq,
    Static,
    Unbound,
    Value,
)
from transkern.ir.expr import Frame, Span
from transkern.plain import is_plain_object

MODULES: dict[str, types.ModuleType] = {"numpy": np, "math": math, "cmath": cmath}  # with constants in them


def span_of(node: ast.AST, file: str) -> Span:
    line = getattr(node, "lineno", 0)
    return Span(
        line, getattr(node, "col_offset", 0), getattr(node, "end_lineno", line) or line,
        getattr(node, "end_col_offset", 0) or 0, file,
    )  # fmt: skip


def frame_of(function: Function, caller: Span | None = None) -> Frame:
    """What a traceback says of a function, which is called at `caller`."""
    node, owner = function.node, getattr(function.scope, "owner", None)
    first = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", ()))])
    name = node.name if isinstance(node, ast.FunctionDef) else "<lambda>"  # `wraps` gives functions other names
    if owner is None:
        return Frame(name, first, caller)
    code = owner.__code__
    return Frame(name, first, caller, owner.__module__, owner.__qualname__, code.co_firstlineno, code.co_qualname)


class LiveScope(Scope):
    """The globals and closure of a live function."""

    is_live = True
    asserts = __debug__

    def __init__(self, function: types.FunctionType, file: str, lines: tuple[str, ...]) -> None:
        self.file, self.lines, self.owner = file, lines, function

    def default(self, name: str) -> Value | None:
        code, values = self.owner.__code__, self.owner.__defaults__ or ()
        named = dict(zip(code.co_varnames[code.co_argcount - len(values) : code.co_argcount], values, strict=True))
        named |= self.owner.__kwdefaults__ or {}
        if name not in named:
            return None
        return from_object(named[name], self) or Unbound(f"the default of `{name}` cannot take part")

    def is_also(self, other: Scope) -> bool:
        if not isinstance(other, LiveScope):
            return False
        mine, others = self.owner, other.owner
        return other is self or (mine.__globals__ is others.__globals__ and not others.__closure__)

    def lookup(self, name: str) -> Value | None:
        found, value = self._find(name)
        return from_object(value, self) if found else None

    def imported(self, path: str) -> Value | None:
        """The module is imported, as the function itself would do it."""
        level = len(path) - len(path.lstrip("."))
        names = path[level:].split(".")
        try:
            package = self.owner.__globals__.get("__package__") or None
            found: Any = importlib.import_module("." * level if level else names.pop(0), package)
            for name in names:
                if not hasattr(found, name):
                    importlib.import_module(f"{found.__name__}.{name}")
                found = getattr(found, name)
        except (ImportError, AttributeError):
            return None
        return from_object(found, self)

    def _find(self, name: str) -> tuple[bool, Any]:
        code, closure = self.owner.__code__, self.owner.__closure__ or ()
        for free, cell in zip(code.co_freevars, closure, strict=True):
            if free == name:
                try:
                    return True, cell.cell_contents
                except ValueError:
                    return False, None
        note(self.owner.__globals__, name)
        if name in self.owner.__globals__:
            return True, self.owner.__globals__[name]
        if hasattr(builtins, name):
            return True, getattr(builtins, name)
        return False, None


def function_of(found: Any) -> types.FunctionType | None:
    """The function that what stands in a class is written as: itself, or what is compiled or cached of one."""
    if isinstance(found, (staticmethod, classmethod, property, type)):
        return None
    function = wrappers.written_function(found) if hasattr(type(found), "__get__") else None
    return function if isinstance(function, types.FunctionType) else None


def live_function(function: Callable[..., Any]) -> Function:
    """The source of a live function; raises CompileError where it has none (built-ins, code typed at a prompt)."""
    target = wrappers.written_function(function)
    if not isinstance(target, types.FunctionType):
        problem = f"cannot compile {function!r}: it is not a plain Python function"
        raise CompileError(refusals.NO_SOURCE, problem, "compile a function that calls it")
    texts = limits.budget().texts  # parsing takes longer than translating, where a helper is called in many places
    found = texts[target] if target in texts else texts.setdefault(target, written(target))
    note_function(target, found.exact)
    return Function(target.__name__, found.node, LiveScope(target, found.file, found.lines))


def from_object(value: Any, scope: Scope | None = None) -> Value | None:
    """A captured Python object as a value of the translation, or None where it cannot take part."""
    if value is None or isinstance(value, (slice, np.dtype, type(Ellipsis), np.generic, types.UnionType)):
        return Static(value)
    if isinstance(value, (bool, int, float, complex, str, bytes)):
        return Static(value) if _is_plain(value) else None
    if isinstance(value, type):
        return _class(value)
    if isinstance(value, types.ModuleType):
        return Known(value.__name__) if identity.is_library(value) else Static(value)
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        items = tuple(from_object(v, scope) for v in value)
        return None if None in items else Record(type(value), tuple(value._fields), items)  # type: ignore[arg-type]
    if isinstance(value, dict) and is_plain_object(value) and _looks_up_itself(value):
        return Static(value)
    if isinstance(value, (dict, types.MappingProxyType)):
        items = tuple(from_object(v, scope) for v in value.values())
        return Dict(tuple(value), tuple(i or Unbound("this entry cannot take part") for i in items), outside=True)
    if isinstance(value, (set, frozenset)) and all(map(_is_key, value)):
        items = tuple(from_object(v, scope) for v in value)
        return Seq(items, "set", outside=True, frozen=isinstance(value, frozenset))  # type: ignore[arg-type]
    if isinstance(value, (tuple, list)):
        items = tuple(from_object(v, scope) for v in value)
        if any(i is None for i in items) or not _is_plain(value):
            return None
        return Seq(items, "tuple" if isinstance(value, tuple) else "list", outside=True)  # type: ignore[arg-type]
    if isinstance(value, np.ndarray):
        note_array(value, passed=False)
        return Static(value) if type(value) is np.ndarray else None
    if type(value) in (np.random.Generator, np.random.RandomState):
        return Static(value)
    path = identity.path_of(value)
    if path is not None:
        return Known(path)
    if callable(value) and (called := _function(value, scope)) is not None:
        return called
    if isinstance(value, (enum.Enum, types.SimpleNamespace)) or is_plain_object(value):
        return Static(value)
    return None


def _is_plain(value: Any) -> bool:
    """Whether an object of one of Python's types does what those of the type do: a class of the user's that is derived
    from it may give its methods and operators other meanings."""
    if isinstance(value, enum.Enum):
        return True
    written = (vars(kind) for kind in type(value).__mro__ if kind.__flags__ & _MADE_BY_CLASS)
    return not any(isinstance(found, types.FunctionType) for names in written for found in names.values())


def _is_key(value: Any) -> bool:
    """Whether an item of a set is a number or a text, or a tuple of these."""
    if type(value) is tuple:
        return all(map(_is_key, value))
    return isinstance(value, (int, float, str)) and _is_plain(value)


_MADE_BY_CLASS = 1 << 9
"""Of `type.__flags__`: of a class that a class statement has made."""


def _class(kind: type) -> Value:
    if issubclass(kind, (np.generic, BaseException)):
        return Static(kind)
    path = identity.path_of(kind)
    if path is not None and (path.startswith(("builtins.", "numpy.")) or kind is functools.partial):
        return Known(path)
    if kind.__module__.split(".")[0] == "numpy":
        return Known(identity.name_of(kind))
    return Static(kind)


def _function(value: Any, scope: Scope | None) -> Value | None:
    """A captured function, or what stands for one, that is none of those that are known; None where it is an object."""
    inner = wrappers.same_function(value)
    if inner is not None:
        found = from_object(inner, scope)
        return replace(found, cached=True) if isinstance(found, Function) and wrappers.is_cache(value) else found
    if isinstance(value, types.FunctionType):
        return Known(identity.name_of(value)) if identity.is_numpys(value) else live_function(value)
    if isinstance(value, (types.MethodType, types.BuiltinMethodType, types.MethodWrapperType)):
        return _bound_method(value, scope)
    if isinstance(value, functools.partial):
        if type(value) is not functools.partial:
            return None
        called, *args = (from_object(v, scope) for v in (value.func, *value.args, *value.keywords.values()))
        if called is None or None in args:
            return None
        first, named = args[: len(value.args)], args[len(value.args) :]
        return Partial(called, tuple(first), tuple(zip(value.keywords, named, strict=True)))  # type: ignore[arg-type]
    if type(value) is np.vectorize:
        plain = value.signature is None and not value.excluded and not value.cache
        called = from_object(value.pyfunc, scope) if plain else None
        return called and vectorized(called, value.otypes)
    if is_plain_object(value) and isinstance(type(value).__call__, types.FunctionType):
        return None  # its class says what a call of it is
    return Known(identity.name_of(value))


def _bound_method(value: Any, scope: Scope | None) -> Value | None:
    """A method with the object that it is of: ``total = np.add.reduce``, ``draw = rng.normal``."""
    owner = value.__self__
    if owner is np.random.mtrand._rand:
        return Known(f"numpy.random.{value.__name__}")
    receiver = None if isinstance(owner, types.ModuleType) else from_object(owner, scope)
    if isinstance(receiver, Static) and type(receiver.value) in (np.random.Generator, np.random.RandomState):
        return Method(receiver, value.__name__)
    if isinstance(value, types.MethodType) and receiver is not None:
        function = from_object(value.__func__, scope)
        if isinstance(function, Function):
            return Bound(function, receiver)
        return None if function is None else Partial(function, (receiver,), ())
    match receiver:
        case Known(path):
            return Known(f"{path}.{value.__name__}")
        case Static(np.ndarray() | str()):
            return Method(receiver, value.__name__)
        case _:
            return Known(identity.name_of(value))


def _looks_up_itself(value: dict[Any, Any]) -> bool:
    """Whether a dict of a class of the user's finds items, or attributes, in another way than dicts do."""
    ways = ("__getattr__", "__getattribute__", "__getitem__", "__missing__", "__contains__", "__iter__", "get")
    written = [vars(kind) for kind in type(value).__mro__ if kind not in (dict, object)]
    return vars(value) is value or any(way in names for names in written for way in ways)


def known_object(path: str) -> Value:
    """What a path stands for: `numpy.float32`, `numpy.pi`, `math.pi` are constants; functions are those that the path
    leads to, whatever it is called there. Nothing is imported, so a path that leads nowhere stays what it is."""
    head, _, name = path.rpartition(".")
    owner = identity.resolved(head) if head else None
    if head.startswith("numpy.core") and owner is not None:
        return from_object(identity.resolved(path)) or Known(path)
    if not isinstance(owner, types.ModuleType) or not identity.is_library(owner):
        if owner is not None and (known := identity.path_of(owner)) is not None:
            return Known(f"{known}.{name}")
        return Known(path)
    found = identity.member(owner, name)
    if found is None:
        return Static(None) if name in vars(owner) else Known(path)
    known = identity.path_of(found)
    if isinstance(found, type) and issubclass(found, (np.generic, BaseException)):
        return Static(found)
    if known is not None:
        return Known(known)
    if isinstance(found, types.FunctionType) and identity.is_librarys(found):
        return Known(identity.name_of(found))
    made = from_object(found)
    if made is None:
        return Known(identity.name_of(found))
    if head.partition(".")[0] in MODULES and _is_fixed(found):
        return made
    if not note(vars(owner), name) and not _is_fixed(found):
        return Known(path)  # `sys.argv`, `os.environ`: this process has others than the one that will run the function
    return made


def _is_fixed(value: object) -> bool:
    """Whether what a library's name stands for is the same in every process, and cannot change in place."""
    if isinstance(value, (tuple, frozenset)):
        return all(map(_is_fixed, value))
    return value is None or isinstance(value, (bool, int, float, complex, str, bytes, np.generic, np.dtype))
