"""What a function's parameters are for its translation: arrays, numbers, structures, lists and constants of a call."""

from __future__ import annotations

import ast
from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any, NoReturn

import numpy as np

from transkern import refusals
from transkern.errors import CompileError
from transkern.frontend.bodies import Body
from transkern.frontend.compositions import compose
from transkern.frontend.containers import growing as growing_lists
from transkern.frontend.containers import hashed, making
from transkern.frontend.context import Context
from transkern.frontend.sources.identity import is_known_library
from transkern.frontend.sources.source import from_object
from transkern.frontend.values.types import (
    ArgType,
    ArrayType,
    ConstantType,
    NumbersType,
    OpaqueType,
    ScalarType,
    StructType,
)  # fmt: skip
from transkern.frontend.values.values import (
    CHARACTERS,
    Array,
    Dict,
    Function,
    Generator,
    GrowingList,
    JoinedText,
    Object,
    Range,
    Record,
    Scalar,
    Scope,
    Seq,
    Static,
    Unbound,
    Value,
)  # fmt: skip
from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Expr, Load, Var
from transkern.ir.names import parts_of_array, printed
from transkern.plain import dtype_of, is_pythons, key_name, part_path

_PLAIN = "pass numbers, texts or arrays of it"


def _memory(value: GrowingList) -> frozenset[str]:
    """The buffers of a list of lists or tuples."""
    found = {value.buffer, *(leaf.buffer for leaf in value.leaves)}
    if value.rows is not None:
        found |= {part.buffer for part in (value.rows.starts, value.rows.sizes, value.rows.rooms, value.rows.pool)}
    return frozenset(found)


def argument(ctx: Context, params: list[n.Param], name: str, kind: ArgType) -> Value:
    """The value of an argument; `params` gets what is passed for it."""
    ctx.names.taken.add(name)
    match kind:
        case OpaqueType(of):
            help = "pass what the function needs of it as arrays or numbers"
            return Unbound(f"`{name}` is a {of}, which cannot take part", help=help, kind=refusals.ARGUMENT_TYPE)
        case NumbersType(python, dim):
            dtype = dtype_of(python)
            param, array = _parameter(ctx, name, ArrayType(dtype, (dim,)))
            params.append(param)
            assert isinstance(array, Array)
            return _argument_list(ctx, name, array, "index" if python == "int" else dtype, is_pythons(python))
        case StructType("rows" | "ragged" as struct, types, keys):
            return _columns(ctx, params, name, struct, types, keys)
        case StructType(struct, types, keys, of):
            parts = zip(_part_names(name, kind, ctx.inputs.parameters), types, strict=True)
            items = tuple(argument(ctx, params, part, inner) for part, inner in parts)
            contents: Value
            match struct:
                case "tuple":
                    return Seq(items)
                case "range":
                    start, stop = (item.expr for item in items if isinstance(item, Scalar))
                    return Range(start, stop, b.index(keys[0]))
                case "list":
                    contents = Seq(items, "list")
                case "appended":  # what it holds is not passed, and stays
                    contents = Seq((), "list")
                    ctx.inputs.appended.add(name)
                case "generator":
                    (state,) = items
                    assert isinstance(state, Array)
                    return Generator(state.base, keys[0], legacy=keys[0] != "PCG64")
                case "text":
                    (codes,) = items
                    assert isinstance(codes, Array)
                    return _text(ctx, name, codes)
                case "dict":
                    contents = Dict(keys, items)
                    if ("argument", name) in ctx.learned.growing:
                        return hashed.of_argument(ctx, name, contents)
                case _:
                    assert of is not None
                    contents = Record(of, keys, items)
                    if contents.is_tuple:
                        return contents
            return _argument_object(ctx, name, contents)
        case _:
            param, value = _parameter(ctx, name, kind)
            params.append(param)
            return value


def _text(ctx: Context, name: str, codes: Array) -> Value:
    """A text whose characters are known at run time: what is passed are their codes."""
    dim = codes.dims[0]
    if not isinstance(dim, Var):
        problem = "a text among the arguments whose length must be known, and whose characters only the run knows"
        ctx.fail(refusals.TEXT, problem, "pass the length as an argument of its own")
    ctx.learned.spelling.given = True
    return JoinedText(GrowingList(name, dim.name, "index", (), True, extent=dim, options=CHARACTERS), "")


def _columns(
    ctx: Context, params: list[n.Param], name: str, kind: str, types: Sequence[ArgType], keys: tuple[Any, ...]
) -> Value:
    """A list of tuples or of lists of numbers: made of the arrays that are passed for it."""
    parts = [f"column{k}" for k in range(len(keys))] if kind == "rows" else ["values", "starts"]
    given: list[Array] = []
    for part, inner in zip(parts, types, strict=True):
        param, value = _parameter(ctx, part_path(name, part, ctx.inputs.parameters), inner)
        ctx.names.taken.add(param.name)
        params.append(param)
        assert isinstance(value, Array)
        given.append(value)
    made = compose(ctx, "arguments", f"{kind}{len(keys)}" if kind == "rows" else kind, given, {})
    if not isinstance(made, Object):
        made = ctx.heap.allocate(made, ("argument", name))
    ctx.inputs.paths[made.token] = name
    contents = ctx.heap.contents[made.token]
    assert isinstance(contents, GrowingList)
    (last,) = given[-1].dims  # its length is a size, whatever it is made of
    contents.extent = b.sub(last, b.ONE) if kind == "ragged" else last
    # tuples are put back as they are then, lists are the caller's own
    changes = ("argument", name) in ctx.learned.growing
    ctx.inputs.given[made.token] = Seq((), "list") if changes else contents
    if not changes:
        ctx.inputs.lent[name] = (len(ctx.emitter.out), _memory(contents), kind)
    return made


def _part_names(name: str, kind: StructType, parameters: Collection[str]) -> list[str]:
    """As `runtime.structures.shape_of` names the parts."""
    if kind.kind in ("generator", "text"):
        return [name]
    if kind.kind in ("tuple", "list"):
        parts = [str(k) for k in range(len(kind.items))]
    elif kind.kind == "range":
        parts = ["start", "stop"]
    elif kind.kind == "record":
        parts = list(kind.keys)
    else:
        parts = [key_name(k, n) for n, k in enumerate(kind.keys)]
    return [part_path(name, part, parameters) for part in parts]


def _argument_object(ctx: Context, name: str, contents: Value) -> Value:
    site = ("argument", name)
    if site in ctx.learned.growing:
        assert isinstance(contents, Seq)
        made = ctx.heap.allocate(growing_lists.filled(ctx, name, contents.items, site), site)
    else:
        made = ctx.heap.allocate(contents, site)
    ctx.inputs.paths[made.token] = name
    ctx.inputs.given[made.token] = contents
    return made


def _argument_list(ctx: Context, name: str, array: Array, dtype: str, python: bool) -> Value:
    """A list of numbers, Python's or NumPy's: what is passed is an array."""
    site = ("argument", name)
    ctx.inputs.numbers.add(name)
    dim = array.dims[0]
    if not isinstance(dim, Var):  # its length is a constant: the numbers one by one
        extent = b.constant(dim) or 0
        numbers = [Load(name, (b.index(k),), array.dtype) for k in range(extent)]
        items = tuple(Scalar(b.cast(e, dtype), python) for e in numbers)
        return _argument_object(ctx, name, Seq(items, "list"))
    given = GrowingList(name, dim.name, dtype, (), python)
    contents = given
    if site in ctx.learned.growing:
        body = b.cast(array.body, dtype)
        contents = making.list_of(ctx, replace(array, body=body, view=False, identity=""), python)
        contents.site, contents.extent = site, None
        contents = growing_lists.with_types(ctx, contents)
    made = ctx.heap.allocate(contents, site)
    ctx.inputs.paths[made.token] = name
    ctx.inputs.given[made.token] = given
    return made


def _parameter(ctx: Context, name: str, kind: ArgType) -> tuple[n.Param, Value]:
    match kind:
        case ArrayType(dtype, dims, layout, _, aligned):
            sizes: list[Expr] = []
            for dim in dims:
                if isinstance(dim, int):
                    sizes.append(b.index(dim))
                else:
                    size = b.size(_size_name(dim, ctx.names.taken, ctx.inputs.parameters))
                    sizes.append(size)
                    ctx.facts.entry.add(size.name)
                    ctx.inputs.dims.add(size.name)
                    ctx.inputs.sizes.add(printed(size.name))
            ctx.names.taken |= {name, *parts_of_array(name, len(dims))}
            if kind.shares:
                return _shared(ctx, name, kind, tuple(sizes))
            if kind.readonly:
                ctx.inputs.readonly.add(name)
            buffer = n.Buffer(name, dtype, tuple(sizes), "argument", layout, aligned=aligned)
            ctx.names.buffers[name] = buffer
            axes = ctx.names.axes(sizes)
            value = Array(axes, Load(name, tuple(a.var for a in axes), dtype), view=True, identity=name)
            return n.ArrayParam(name, dtype, tuple(sizes), layout, aligned=aligned), value
        case ScalarType(dtype, python):
            ctx.names.taken.add(name)
            ctx.facts.entry.add(name)
            if python == "int":
                ctx.inputs.integers.add(name)
            return n.ScalarParam(name, dtype, python), Scalar(_scalar(name, dtype), bool(python))
        case ConstantType(value):
            return n.ConstantParam(name, value), _constant(ctx, name, value)
        case _:
            raise AssertionError(kind)


def _shared(ctx: Context, name: str, kind: ArrayType, sizes: tuple[Expr, ...]) -> tuple[n.Param, Value]:
    """An argument that shares memory with others: a view of the memory of all of them."""
    base = f"{kind.shares}_memory"
    while base in ctx.inputs.parameters:
        base += "_"
    known = ctx.names.buffers.get(base)
    if known is None:
        ctx.names.taken.add(base)
        ctx.inputs.memories.add(base)
        layout = "C" if kind.aligned else "strided"
        known = n.Buffer(base, kind.dtype, (b.size(f"{base}."),), "argument", layout, aligned=kind.aligned)
        ctx.names.buffers[base] = known
    if known.dtype != kind.dtype:
        problem = f"`{name}` and `{kind.shares}` share memory and have different dtypes"
        ctx.fail(refusals.SHARED_MEMORY, problem, "pass a copy of one of them")
    axes = ctx.names.axes(sizes)
    at: Expr = Var(f"{name}_offset")
    for d, axis in enumerate(axes):
        at = b.add(at, b.mul(axis.var, Var(f"{name}_stride{d}")))
    value = Array(axes, Load(base, (at,), kind.dtype), view=True, identity=name)
    if kind.readonly:
        ctx.inputs.readonly.add(name)
    return n.ArrayParam(name, kind.dtype, sizes, "strided", base=base, aligned=kind.aligned), value


def _size_name(dim: str, arrays: Collection[str], parameters: Collection[str]) -> str:
    """Sizes found at a call are named after their first owner (``x_0`` is ``x.0``); a user's name stays (``n.``)."""
    head, _, tail = dim.rpartition("_")
    if head in arrays and tail.isdigit():
        size = f"{head}.{tail}"
        while printed(size) in parameters:  # the user's own `x_0`
            size += "_"
        return size
    return f"{dim}_size." if dim in arrays else f"{dim}."


def _scalar(name: str, dtype: str) -> Expr:
    return Var(name, dtype)


def _constant(ctx: Context, name: str, value: Any) -> Value:
    if isinstance(value, tuple):
        return Seq(tuple(_constant(ctx, name, v) for v in value), "tuple")
    if value is None or isinstance(value, (bool, int, float, complex, str, np.generic, np.dtype, slice, type)):
        return Static(value)
    found = from_object(value)
    if found is None:
        problem = f"argument `{name}` is a {type(value).__name__}, which cannot be passed"
        help = "pass a text instead, or an array: np.frombuffer(data, np.uint8)" if isinstance(value, bytes) else _PLAIN
        raise CompileError(refusals.ARGUMENT_TYPE, problem, help)
    return found


def bind_arguments(
    ctx: Context,
    function: Function,
    positional: Sequence[Value],
    keywords: dict[str, Value],
    caller: Body,
) -> dict[str, Value]:
    """Python's matching of arguments to parameters, defaults included."""
    args = function.node.args
    names, places = [a.arg for a in [*args.posonlyargs, *args.args]], len(args.posonlyargs)
    env: dict[str, Value] = dict(zip(names, positional, strict=False))
    if args.vararg:
        env[args.vararg.arg] = Seq(tuple(positional[len(names) :]))
    elif len(positional) > len(names):
        problem = f"{function.name}() takes {len(names)} positional arguments but {len(positional)} were given"
        _fail_call(ctx, function, problem)
    only = [a.arg for a in args.kwonlyargs]
    more = Dict((), ())
    for name, value in keywords.items():
        if name not in names[places:] and name not in only and args.kwarg:
            more = more.put(name, value)
            continue
        if name in names[:places]:
            text = f"{function.name}() got some positional-only arguments passed as keyword arguments: '{name}'"
            ctx.guard(b.FALSE, "TypeError", text)
        if name not in names and name not in only:
            _fail_call(ctx, function, f"{function.name}() got an unexpected keyword argument '{name}'")
        if name in env:
            _fail_call(ctx, function, f"{function.name}() got multiple values for argument '{name}'")
        env[name] = value
    defaults = dict(zip(names[len(names) - len(args.defaults) :], args.defaults, strict=True))
    defaults.update({a: d for a, d in zip(only, args.kw_defaults, strict=True) if d is not None})
    for name in [*names, *only]:
        if name not in env:
            found = default_of(ctx, function, name, defaults.get(name), caller)
            if found is None:
                _fail_call(ctx, function, f"{function.name}() missing a required argument: '{name}'")
            env[name] = found
    if args.kwarg:
        env[args.kwarg.arg] = more
    return env


def _fail_call(ctx: Context, function: Function, problem: str) -> NoReturn:
    ctx.fail(refusals.WRONG_ARGUMENTS, problem, f"its parameters are ({ast.unparse(function.node.args)})")


def default_of(ctx: Context, function: Function, name: str, node: ast.expr | None, caller: Body) -> Value | None:
    """The default of a parameter: as it was when the function was made, not as its text says now."""
    if function.defaults is not None:
        return dict(function.defaults).get(name)
    if function.scope.is_live or node is None:
        return function.scope.default(name)
    if not function.closure and (made := function.scope.default_of(node)) is not None:
        return made
    return type(caller)(ctx, function.scope, function.node, dict(function.closure), True).expr(node)


def leaves_the_user(caller: Scope, called: Scope) -> bool:
    """Whether a function of a library's, whose lines tell a user nothing, is called by one of the user's."""
    one, other = (getattr(getattr(s, "owner", None), "__module__", None) or "" for s in (caller, called))
    return is_known_library(other) and not is_known_library(one)
