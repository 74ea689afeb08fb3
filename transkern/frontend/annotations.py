"""The types of parameters as annotations and defaults say them."""

from __future__ import annotations

import ast
import contextlib

from transkern import refusals
from transkern.errors import CompileError, TypesNeeded
from transkern.frontend.source import span_of
from transkern.frontend.types import PYTHON, ArgType, ConstantType, ScalarType, names_dtype, parse_type
from transkern.frontend.values import Function

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
    node = function.node
    arguments = [*node.args.posonlyargs, *node.args.args]
    defaults: list[ast.expr | None] = [None] * (len(arguments) - len(node.args.defaults)) + list(node.args.defaults)
    arguments, defaults = [*arguments, *node.args.kwonlyargs], [*defaults, *node.args.kw_defaults]
    if node.args.vararg or node.args.kwarg:
        return None
    found: list[ArgType] = []
    for argument, default in zip(arguments, defaults, strict=True):
        try:
            kind = stated(argument.annotation, argument.arg)
        except TypesNeeded as error:
            assert argument.annotation is not None
            at = span_of(argument.annotation, function.scope.file)
            problem = f"annotation of `{argument.arg}`: {error}"
            help = 'name a dtype and sizes, such as "float64[n, 3]", or write no type here'
            raise CompileError(refusals.ANNOTATION, problem, help, at, function.scope.lines) from None
        if kind is None and isinstance(default, ast.Constant):
            value = default.value
            kind = (
                ScalarType(PYTHON[type(value).__name__], type(value).__name__)
                if (type(value).__name__ in PYTHON)
                else ConstantType(value)
            )
        if kind is None:
            return None
        found.append(kind)
    return tuple(found)


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
