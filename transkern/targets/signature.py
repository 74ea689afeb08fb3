"""What the function of an emitted file takes: the user's parameters, with their defaults and kinds."""

from __future__ import annotations

import ast
import math
from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np

from transkern.errors import CompileError
from transkern.frontend.values.values import Function, Static
from transkern.ir import nodes as n
from transkern.parsing import parse, parse_expression


def signature_text(function: Function) -> str:
    """The parameters of a function as text: ``x, k=3, *, axis=None``.

    A default that is no literal, nor a name of one, is ``...``, which no code takes: it has to be given.
    """
    args = function.node.args
    given = [ast.arg(a.arg) for a in args.args]
    return ast.unparse(
        ast.arguments(
            [ast.arg(a.arg) for a in args.posonlyargs], given, args.vararg and ast.arg(args.vararg.arg),
            [ast.arg(a.arg) for a in args.kwonlyargs], [d and _default(function, d) for d in args.kw_defaults],
            args.kwarg and ast.arg(args.kwarg.arg), [_default(function, d) for d in args.defaults],
        )
    )


def _default(function: Function, node: ast.expr) -> ast.expr:
    if _is_literal(node):
        return node
    if isinstance(node, ast.Name):
        with suppress(CompileError):
            found = function.scope.lookup(node.id)
            if isinstance(found, Static) and _is_plain(found.value):
                return parse_expression(literal(found.value))
    return ast.Constant(...)


def _is_literal(node: ast.expr) -> bool:
    try:
        ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return False
    return True


def parameters(program: n.Program) -> str:
    """The parameters of an emitted function: the user's, where each is an argument of the program, else those. Arrays
    from outside the user's function are the defaults of more."""
    names = [p.name for p in program.params]
    if program.captured and program.signature:
        count = len(names) - len(program.captured)
        brought = [f"{name}={_array(a)}" for name, a in zip(names[count:], program.captured, strict=True)]
        rest = parameters(replace(program, params=program.params[:count], captured=()))
        return ", ".join([rest, *brought] if rest else brought)
    if program.signature:
        made = parse(f"def f({program.signature}): pass").body[0]
        assert isinstance(made, ast.FunctionDef)
        args = made.args
        own = [a.arg for a in (*args.posonlyargs, *args.args, *args.kwonlyargs)]
        if own == names and not args.vararg and not args.kwarg:
            return program.signature
    return ", ".join(names)


def constants(program: n.Program) -> dict[str, str]:
    """The arguments that are part of the code, as Python text, where there is one: of a function there is none."""
    return {
        p.name: literal(p.value) for p in program.params if isinstance(p, n.ConstantParam) and _is_plain(p.value)
    }


def literal(value: Any) -> str:
    """A value of the user's as Python: `repr` writes infinities and NaN as names that are none."""
    match value:
        case np.inexact():
            return f"np.{value.dtype.name}({literal(value.item())})"
        case float() if not math.isfinite(value):
            return "np.nan" if math.isnan(value) else "np.inf" if value > 0 else "-np.inf"
        case complex():
            return f"complex({literal(value.real)}, {literal(value.imag)})"
        case tuple() if type(value) is tuple:
            return f"({', '.join(map(literal, value))}{',' if len(value) == 1 else ''})"
        case _:
            return repr(value)


def _array(value: np.ndarray[Any, Any]) -> str:
    """An array as Python text."""
    if value.size <= _FEW:
        items = ", ".join(literal(v.item()) for v in value.ravel())
        return f"np.array([{items}], np.{value.dtype.name}).reshape({value.shape})"
    held = value.astype(value.dtype.newbyteorder("<"))
    return f"np.frombuffer(bytes.fromhex({held.tobytes().hex()!r}), {held.dtype.str!r}).reshape({value.shape})"


_FEW = 64  # elements that a reader wants to see


def _is_plain(value: Any) -> bool:
    """Whether `literal` of a value is Python that needs nothing but NumPy."""
    if type(value) is tuple:
        return all(map(_is_plain, value))
    return value is None or type(value) in (bool, int, float, complex, str) or isinstance(value, np.generic)
