"""One function and the types of its arguments to one program of array statements."""

from __future__ import annotations

import ast
from collections.abc import Collection, Sequence
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
from transkern.ir.expr import Expr, Load, Var
from transkern.ir.names import printed


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
    ctx.taken.update(names)
    params: list[n.Param] = []
    env: dict[str, Value] = {}
    for name, kind in zip(names, types, strict=True):
        param, value = _parameter(ctx, name, kind)
        params.append(param)
        env[name] = value
    ctx.taken |= ctx.sizes
    translator = Translator(ctx, scope, node, env, inlined=False)
    if isinstance(node, ast.Lambda):
        ctx.frames.append(env)
        value = translator.expr(node.body)
        ctx.emit(n.Return(translator.result(value)))
    else:
        translator.run()
    params = [
        replace(p, written=(p.base or p.name) in ctx.written) if isinstance(p, n.ArrayParam) else p for p in params
    ]
    return n.Program(
        function.name.strip("<>"), tuple(params), ctx.buffers, ctx.variables, ctx.bounds,
        (*(n.Let(size.name, value) for value, size in ctx.extents.items()), *ctx.out), scope.lines,
        scope.file, tuple(ctx.assumptions),
    )  # fmt: skip


def _parameter(ctx: Context, name: str, kind: ArgType) -> tuple[n.Param, Value]:
    match kind:
        case ArrayType(dtype, dims, layout):
            sizes: list[Expr] = []
            for dim in dims:
                if isinstance(dim, int):
                    sizes.append(b.index(dim))
                else:
                    size = b.size(_size_name(dim, ctx.taken))
                    sizes.append(size)
                    ctx.entry.add(size.name)
                    ctx.sizes.add(printed(size.name))
            ctx.taken.add(name)
            if kind.shares:
                return _shared(ctx, name, kind, tuple(sizes))
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


def _shared(ctx: Context, name: str, kind: ArrayType, sizes: tuple[Expr, ...]) -> tuple[n.Param, Value]:
    """An argument that shares memory with others: a view of the memory of all of them."""
    base = f"{kind.shares}_memory"
    known = ctx.buffers.get(base)
    if known is None:
        ctx.taken.add(base)
        known = n.Buffer(base, kind.dtype, (b.size(f"{base}."),), "argument")
        ctx.buffers[base] = known
    if known.dtype != kind.dtype:
        ctx.fail(f"`{name}` and `{kind.shares}` share memory and have different dtypes", "pass a copy of one of them")
    axes = ctx.axes(sizes)
    at: Expr = Var(f"{name}_offset")
    for d, axis in enumerate(axes):
        at = b.add(at, b.mul(axis.var, Var(f"{name}_stride{d}")))
    value = Array(axes, Load(base, (at,), kind.dtype), view=True, identity=name)
    return n.ArrayParam(name, kind.dtype, sizes, "strided", base=base), value


def _size_name(dim: str, params: Collection[str]) -> str:
    """Sizes found at a call are named after their first owner (``x_0`` is ``x.0``); a user's name stays (``n.``)."""
    head, _, tail = dim.rpartition("_")
    if head in params and tail.isdigit():
        return f"{head}.{tail}"
    return f"{dim}_size." if dim in params else f"{dim}."


def _scalar(name: str, dtype: str) -> Expr:
    return Var(name, dtype)


def _constant(ctx: Context, name: str, value: Any) -> Value:
    if isinstance(value, tuple):
        return Seq(tuple(_constant(ctx, name, v) for v in value), "tuple")
    if value is None or isinstance(value, (bool, int, float, complex, str, np.generic, np.dtype, slice, type)):
        return Static(value)
    raise CompileError(f"argument `{name}`: a {type(value).__name__} cannot be a constant")
