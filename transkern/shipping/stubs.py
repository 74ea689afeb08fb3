"""Type stubs of compiled functions: what each takes, and what it returns."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from transkern.frontend.values.types import ArgType
from transkern.ir import nodes as n
from transkern.ir.traverse import walk
from transkern.parsing import parse
from transkern.shipping.arguments import annotation, is_made_up
from transkern.targets.signature import parameters

HEAD = '''"""{about}"""

from typing import Any, Literal, overload

import numpy as np
from numpy.typing import NDArray
'''


def stub(
    programs: Sequence[n.Program], names: Sequence[str] = (), types: Sequence[tuple[ArgType, ...]] = ()
) -> str:  # fmt: skip
    """The stub of a function: one signature for each of its programs; `names` are its parameters, of `types`."""
    over = "@overload\n" if len(programs) > 1 else ""
    made_up = [dict(zip(names, each, strict=False)) if any(map(is_made_up, each)) else {} for each in types]
    made_up += [{}] * (len(programs) - len(types))
    pairs = zip(programs, made_up, strict=False)
    return "\n".join(f"{over}def {_signature(p, found)} -> {result_text(p)}: ..." for p, found in pairs)


def _signature(program: n.Program, made_up: Mapping[str, ArgType]) -> str:
    own = program.params[: len(program.params) - len(program.captured)]
    if made_up:
        own = tuple(n.ObjectParam(name) for name in made_up)
    made = parse(f"def f({parameters(replace(program, params=own, captured=()))}): pass").body[0]
    assert isinstance(made, ast.FunctionDef)
    types = {p.name: annotation(made_up[p.name]) if made_up else _parameter(p) for p in own}
    args = made.args
    for arg in (*args.posonlyargs, *args.args, *args.kwonlyargs):
        arg.annotation = ast.parse(types.get(arg.arg, "Any"), mode="eval").body
    hidden: ast.expr = ast.Constant(...)
    args.defaults, args.kw_defaults = [hidden for _ in args.defaults], [d and hidden for d in args.kw_defaults]
    return f"{program.name}({ast.unparse(args)})"


def _parameter(param: n.Param) -> str:
    match param:
        case n.ArrayParam(dtype=dtype):
            return _array(dtype)
        case n.ScalarParam(dtype=dtype, python=python):
            return python or f"np.{_numpy(dtype)}"
        case n.ConstantParam(value=bool() | int() | str() | None as value):
            return f"Literal[{value!r}]" if value is not None else "None"
        case _:
            return "Any"


def result_text(program: n.Program) -> str:
    """The type of what a program returns."""
    return _union(_result(s.result) for s in walk(program.body) if isinstance(s, n.Return))


def _result(result: n.Result) -> str:
    match result:
        case n.ArrayResult(dtype=dtype, empty_dtype=other):
            return _union([_array(dtype), *([_array(other)] if other else [])])
        case n.ViewResult(dtype=dtype):
            return _array(dtype)
        case n.ScalarResult(value, python):
            return _number(value.dtype, python)
        case n.ListResult(dtype=dtype, python=python, dims=dims):
            return f"list[{_array(dtype) if dims else _number(dtype, python)}]"
        case n.ConstantResult(value):
            return "None" if value is None else type(value).__name__ if value is not ... else "Any"
        case n.TupleResult(items, "tuple"):
            return f"tuple[{', '.join(map(_result, items)) or '()'}]"
        case n.TupleResult(items, "list"):
            return f"list[{_union(map(_result, items)) if items else 'Any'}]"
        case n.TupleResult((_, item), "or none"):
            return _union([_result(item), "None"])
        case n.TupleResult(items, "dict", keys=keys):
            return f"dict[{_union(type(k).__name__ for k in keys) or 'Any'}, {_union(map(_result, items)) or 'Any'}]"
        case _:
            return "Any"


def _union(texts: Iterable[str]) -> str:
    found = list(dict.fromkeys(texts))
    return "Any" if "Any" in found else " | ".join(found) or "Any"


def _array(dtype: str) -> str:
    return f"NDArray[np.{_numpy(dtype)}]"


def _numpy(dtype: str) -> str:
    return "bool_" if dtype == "bool" else dtype


_PYTHONS = {"bool": "bool", "f": "float", "i": "int", "u": "int", "c": "complex"}


def _number(dtype: str, python: Any) -> str:
    if not python:
        return f"np.{_numpy(dtype)}"
    return _PYTHONS.get(dtype) or _PYTHONS[dtype[0]]
