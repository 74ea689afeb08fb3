"""The types of parameters as annotations and defaults say them."""

from __future__ import annotations

import ast
import contextlib

from transkern import refusals
from transkern.errors import CompileError, TypesNeeded
from transkern.frontend.sources.data_classes import record_type
from transkern.frontend.sources.source import span_of
from transkern.frontend.values.types import PYTHON, ArgType, ConstantType, ScalarType, names_dtype, parse_type
from transkern.frontend.values.values import Function

_JAXTYPING = {
    "Float": "float64", "Float16": "float16", "Float32": "float32", "Float64": "float64", "Int": "int64",
    "Int8": "int8", "Int16": "int16", "Int32": "int32", "Int64": "int64", "UInt8": "uint8", "UInt16": "uint16",
    "UInt32": "uint32", "UInt64": "uint64", "Bool": "bool", "Complex64": "complex64", "Complex128": "complex128",
}  # fmt: skip


def types_from_annotations(function: Function) -> tuple[ArgType, ...] | None:
    """The types of all parameters, where annotations or defaults give them.

    Raises:
        CompileError: an annotation that was meant for us says no type.
    """
    parameters = _parameters(function)
    if parameters is None:
        return None
    found: list[ArgType] = []
    for argument, default in parameters:
        try:
            kind = stated(argument.annotation, argument.arg)
        except TypesNeeded as error:
            assert argument.annotation is not None
            at = span_of(argument.annotation, function.scope.file)
            problem = f"annotation of `{argument.arg}`: {error}"
            help = 'name a dtype and sizes, such as "float64[n, 3]", or write no type here'
            raise CompileError(refusals.ANNOTATION, problem, help, at, function.scope.lines) from None
        kind = kind or record_type(function.scope, argument.annotation, argument.arg, stated) or _of_default(default)
        if kind is None:
            return None
        found.append(kind)
    return tuple(found)


def with_defaults(function: Function, types: tuple[ArgType, ...]) -> tuple[ArgType, ...]:
    """Types of the first parameters, with those of defaults for the others where all of these have one."""
    rest = (_parameters(function) or ())[len(types) :]
    more = [kind for _, default in rest if (kind := _of_default(default)) is not None]
    return (*types, *more) if len(more) == len(rest) else types


def _parameters(function: Function) -> list[tuple[ast.arg, ast.expr | None]] | None:
    """The parameters and their defaults; None where the function takes any number of them."""
    given = function.node.args
    if given.vararg or given.kwarg:
        return None
    arguments = [*given.posonlyargs, *given.args]
    defaults: list[ast.expr | None] = [None] * (len(arguments) - len(given.defaults)) + list(given.defaults)
    return list(zip([*arguments, *given.kwonlyargs], [*defaults, *given.kw_defaults], strict=True))


def _of_default(default: ast.expr | None) -> ArgType | None:
    """The type that a default shows."""
    if not isinstance(default, ast.Constant):
        return None
    value = default.value
    python = type(value).__name__
    return ScalarType(PYTHON[python], python) if python in PYTHON else ConstantType(value)


def stated(node: ast.expr | None, name: str) -> ArgType | None:
    """The type that an annotation states, or None: texts of ours, `int`, jaxtyping's ``Float32[np.ndarray, "n 4"]``,
    and these in quotes, as all annotations may be."""
    match node:
        case ast.Constant(value=str() as text):
            try:
                return parse_type(text, name)
            except TypesNeeded:
                if names_dtype(text):
                    raise
                return stated(_unquoted(text), name)
        case ast.Name(id=plain) if plain in PYTHON:
            return ScalarType(PYTHON[plain], plain)
        case ast.Subscript(value=value, slice=ast.Tuple(elts=[_, ast.Constant(value=str() as dims)])):
            kind = value.attr if isinstance(value, ast.Attribute) else getattr(value, "id", "")
            if kind in _JAXTYPING:
                with contextlib.suppress(TypesNeeded):  # it has sizes that say nothing of ours: "*batch n"
                    return parse_type(f"{_JAXTYPING[kind]}[{','.join(dims.split())}]", name)
    return None


def _unquoted(text: str) -> ast.expr | None:
    try:
        found = ast.parse(text.strip(), mode="eval").body
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return None
    return None if isinstance(found, ast.Constant) else found
