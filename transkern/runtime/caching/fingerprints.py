"""Texts that tell values apart: what cannot change, bytecode, and the types of arguments.

Two values have one text only where compiled code cannot tell them apart: 1, 1.0 and True, or 0.0 and -0.0, are others.
"""

from __future__ import annotations

import hashlib
import inspect
import struct
import types
from collections.abc import Iterator
from typing import Any

import numpy as np

from transkern.frontend.sources.module_names import ModuleNames
from transkern.standing_in import plain_code

_KINDS = (
    inspect.CO_VARARGS | inspect.CO_VARKEYWORDS | inspect.CO_GENERATOR | inspect.CO_COROUTINE
    | inspect.CO_ASYNC_GENERATOR
)  # fmt: skip


def digest(*parts: str) -> str:
    return hashlib.sha256(repr(parts).encode()).hexdigest()[:40]


def of_constant(value: Any) -> str | None:
    """The text of an object that can never change; None where it is of another kind."""
    kind = type(value)
    if value is None or value is Ellipsis or value is NotImplemented or kind in (bool, int, str, bytes):
        return f"{kind.__name__} {value!r}"
    if kind is float:
        return f"float {_bits(value)}"
    if kind is complex:
        return f"complex {_bits(value.real)} {_bits(value.imag)}"
    if kind is range or kind is slice:
        parts = [of_constant(part) for part in (value.start, value.stop, value.step)]
        return None if None in parts else f"{kind.__name__} {parts!r}"
    if isinstance(value, np.dtype):
        return digest("dtype", repr(value.descr if value.fields else value.str), repr(value), repr(value.metadata))
    if isinstance(value, np.generic) and kind.__module__ == "numpy" and not value.dtype.hasobject:
        return digest(str(of_constant(value.dtype)), value.tobytes().hex())
    if isinstance(value, (types.UnionType, types.GenericAlias)):
        return f"type {value!r}"
    return None


def _bits(value: float) -> str:
    return struct.pack("<d", value).hex()


def of_code(code: types.CodeType) -> str:
    """What bytecode does, not where it stands."""
    code = plain_code(code)
    counts = code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount, code.co_flags & _KINDS
    names = code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars
    steps = code.co_code.hex(), code.co_exceptiontable.hex()
    return digest(code.co_name, *steps, repr(counts), repr(names), *map(_of_code_constant, code.co_consts))


def _of_code_constant(value: Any) -> str:
    match value:
        case types.CodeType():
            return of_code(value)
        case tuple():
            return digest("tuple", *map(_of_code_constant, value))
        case frozenset():
            return digest("frozenset", *sorted(map(_of_code_constant, value)))
    return of_constant(value) or digest(type(value).__name__, repr(value))


def of_type(kind: Any) -> str:
    """The type of an argument; of a class, or a function, only its name: what it does is looked at (`held_by`)."""
    inner = getattr(kind, "items", None)
    if isinstance(inner, tuple):
        keys = digest(*map(_of_key, kind.keys))
        return digest(str(kind.kind), keys, _named(kind.of), *map(of_type, inner))
    value = getattr(kind, "value", kind)
    return digest(type(kind).__name__, repr(kind) if value is kind else _of_key(value))


def _of_key(value: Any) -> str:
    if isinstance(value, tuple):
        return digest(type(value).__name__, *map(_of_key, value))
    return of_constant(value) or _named(value if hasattr(value, "__qualname__") else type(value))


def _named(value: Any) -> str:
    return f"{getattr(value, '__module__', '')}.{getattr(value, '__qualname__', '')}"


def held_by(kind: Any) -> Iterator[Any]:
    """The classes, functions and other objects that stand in an argument's type, and may do this or that."""
    inner = getattr(kind, "items", None)
    if isinstance(inner, tuple):
        if kind.of is not None and not issubclass(kind.of, ModuleNames):
            yield kind.of
        yield from (key for key in kind.keys if of_constant(key) is None)
        for item in inner:
            yield from held_by(item)
    elif hasattr(kind, "value") and of_constant(kind.value) is None:
        yield kind.value
