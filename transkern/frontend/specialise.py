"""One function and the types of its arguments to one program of array statements."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from transkern.errors import CompileError
from transkern.frontend.context import Context
from transkern.frontend.source import span_of
from transkern.frontend.translate import Translator
from transkern.frontend.types import ArgType, ArrayType, ConstantType, ScalarType
from transkern.frontend.values import Array, Function, Scalar, Seq, Static, Value
from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Expr, Load


def parameter_names(node: ast.FunctionDef | ast.Lambda) -> list[str]:
    return [a.arg for a in [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]]


def specialise(function: Function, types: Sequence[ArgType]) -> n.Program:
    """The array statements of `function` for arguments of `types`; raises CompileError, NeedsConstant."""
    scope, node = function.scope, function.node
    ctx = Context(scope.lines, scope.file)
    ctx.span = span_of(node, scope.file)
    if node.args.vararg or node.args.kwarg:
        ctx.fail(f"`{function.name}` takes *args or **kwargs", "name its parameters", node)
    names = parameter_names(node)
    if len(types) != len(names):
        ctx.fail(
            f"`{function.name}` takes {len(names)} arguments ({', '.join(names)}), {len(types)} types given", "", node
        )
    params: list[n.Param] = []
    env: dict[str, Value] = {}
    for name, kind in zip(names, types, strict=True):
        param, value = _parameter(ctx, name, kind)
        params.append(param)
        env[name] = value
    translator = Translator(ctx, scope, node, env, inlined=False)
    if isinstance(node, ast.Lambda):
        ctx.frames.append(env)
        value = translator.expr(node.body)
        ctx.emit(n.Return(translator.result(value)))
    else:
        translator.run()
    params = [replace(p, written=p.name in ctx.written) if isinstance(p, n.ArrayParam) else p for p in params]
    return n.Program(
        function.name.strip("<>"), tuple(params), ctx.buffers, ctx.variables, ctx.bounds, tuple(ctx.out), scope.lines,
        scope.file, tuple(ctx.assumptions),
    )  # fmt: skip


def _parameter(ctx: Context, name: str, kind: ArgType) -> tuple[n.Param, Value]:
    match kind:
        case ArrayType(dtype, dims, layout):
            sizes: list[Expr] = []
            for position, dim in enumerate(dims):
                if isinstance(dim, int):
                    sizes.append(b.index(dim))
                else:
                    sizes.append(b.size(_size_name(name, position, dim)))
                    ctx.entry.add(_size_name(name, position, dim))
            ctx.taken.add(name)
            buffer = n.Buffer(name, dtype, tuple(sizes), "argument", layout)
            ctx.buffers[name] = buffer
            axes = ctx.axes(sizes)
            value = Array(axes, Load(name, tuple(a.var for a in axes), dtype), view=True, identity=name)
            return n.ArrayParam(name, dtype, tuple(sizes), layout), value
        case ScalarType(dtype, python):
            ctx.taken.add(name)
            ctx.entry.add(name)
            return n.ScalarParam(name, dtype, python), Scalar(_scalar(name, dtype), bool(python))
        case ConstantType(value):
            return n.ConstantParam(name, value), _constant(ctx, name, value)


def _size_name(param: str, axis: int, dim: str) -> str:
    """Sizes found at a call are named after their first owner (``x_0`` is ``x.0``); a user's name stays (``n.``)."""
    head, _, tail = dim.rpartition("_")
    return f"{head}.{tail}" if head and tail.isdigit() else f"{dim}."


def _scalar(name: str, dtype: str) -> Expr:
    from transkern.ir.expr import Var

    return Var(name, dtype)


def _constant(ctx: Context, name: str, value: Any) -> Value:
    if isinstance(value, tuple):
        return Seq(tuple(_constant(ctx, name, v) for v in value), "tuple")
    if value is None or isinstance(value, (bool, int, float, complex, str, np.generic, np.dtype, slice, type)):
        return Static(value)
    raise CompileError(f"argument `{name}`: a {type(value).__name__} cannot be a constant")
