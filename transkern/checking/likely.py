"""The likely types of a function's arguments, where nobody says them.

From what the author has written down: annotations, defaults, the section on parameters in the docstring; and from what
the text does with a parameter (`uses`). An argument that may be left out is left out.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from docstring_parser import ParseError, parse

from transkern.checking.uses import Finder, Use, uses_of
from transkern.errors import CompileError, TypesNeeded
from transkern.frontend.annotations import stated
from transkern.frontend.syntax import parameter_names
from transkern.frontend.types import PYTHON, ArgType, ArrayType, ConstantType, ScalarType, StructType, parse_type

_ARRAY = re.compile(r"array|matrix|matrices|image|ndarray|sequence|vector|series|list of (float|int|number)")
_SHAPE = re.compile(r"\(([\w\s.,*+|/-]*?)\)")
_RANK = re.compile(r"\b([1-4])[\s-]?d\b|\b([1-4])-dim")
_NUMBER = re.compile(r"\b(float|floating|scalar|number|double|real)\b")
_INTEGER = re.compile(r"\b(int|integer|ints|integers)\b")
_DTYPES = {
    "complex": "complex128", "bool": "bool", "uint8": "uint8", "float32": "float32", "int": "int64", "integer": "int64"
}  # fmt: skip
_OTHER = re.compile(r"\b(callable|function|dict|object|instance|file|graph|path|generator|dtype|set)\b", re.IGNORECASE)
_MOST = 6  # axes


@dataclass(frozen=True, slots=True)
class Guess:
    """Types that a function may be called with; `missing`: why there are none.

    `others`: the same, where what may be an array or a number is the other one of these.
    """

    types: tuple[ArgType, ...] = ()
    missing: str = ""
    others: tuple[tuple[ArgType, ...], ...] = ()


def likely_types(node: ast.FunctionDef, find: Finder) -> Guess:
    """The likely types of the arguments of a function.

    Args:
        node: its text.
        find: tells the function of the same module that an expression calls, or None.
    """
    uses, described, args = uses_of(node, find), _described(node), node.args
    plain = [*args.posonlyargs, *args.args]
    defaults = [*[None] * (len(plain) - len(args.defaults)), *args.defaults]
    given = [*zip(plain, defaults, strict=True), *zip(args.kwonlyargs, args.kw_defaults, strict=True)]
    alone = sum(default is None for _, default in given) == 1
    found: list[ArgType] = []
    open_ = set()
    for place, (argument, default) in enumerate(given):
        if place == len(plain) and args.vararg:
            found.append(StructType("tuple", ()))
        name = argument.arg
        told = _annotated(argument) or _default(default) or _from_text(described.get(name, ""), uses[name], name)
        guess = told or _from_use(uses[name], name, alone or not place)
        if isinstance(guess, str):
            return Guess(missing=f"`{name}`: {guess}")
        if told is None and uses[name].is_open:
            open_.add(len(found))
        found.append(guess)
    if args.vararg and not args.kwonlyargs:
        found.append(StructType("tuple", ()))
    if args.kwarg:
        found.append(StructType("dict", ()))
    number: ArgType = ScalarType("float64", "float")
    names = parameter_names(node)
    arrays = [_array("float64", 1, Use(), names[k]) if k in open_ else t for k, t in enumerate(found)]
    numbers = [number if k in open_ else t for k, t in enumerate(found)]
    others = [tuple(other) for other in (arrays, numbers) if other != found]
    return Guess(tuple(found), others=tuple(dict.fromkeys(others)))


def with_constant(types: tuple[ArgType, ...], names: list[str], demand: str) -> tuple[ArgType, ...] | None:
    """The types with one more thing known: the value of a parameter, or a size (``x.1``); None where it is not ours.

    What a call would tell is made up here: numbers are 3, truths False.
    """
    name, _, axis = demand.partition(".")
    if name not in names:
        return None
    place = names.index(name)
    kind = types[place]
    known: ArgType
    if axis.isdecimal() and isinstance(kind, ArrayType) and int(axis) < len(kind.dims):
        sizes = tuple(3 if k == int(axis) else size for k, size in enumerate(kind.dims))
        known = ArrayType(kind.dtype, sizes, kind.layout)
    elif isinstance(kind, ScalarType) and kind.python:
        known = ConstantType({"int": 3, "float": 0.5, "bool": False, "complex": 1j}[kind.python])
    else:
        return None
    return None if known == kind else (*types[:place], known, *types[place + 1 :])


def _annotated(argument: ast.arg) -> ArgType | None:
    """What an annotation says: our types, and the ones of `typing` that tell enough."""
    if argument.annotation is None:
        return None
    try:
        return stated(argument.annotation, argument.arg)
    except (CompileError, TypesNeeded):
        return None


def _default(node: ast.expr | None) -> ArgType | None:
    """The type of an argument that is left out."""
    if node is None:
        return None
    try:
        value = ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return None
    kind = type(value).__name__
    return ScalarType(PYTHON[kind], kind) if kind in PYTHON else ConstantType(value) if _plain(value) else None


def _plain(value: object) -> bool:
    if isinstance(value, tuple):
        return all(map(_plain, value))
    return value is None or isinstance(value, (str, int, float))


def _described(node: ast.FunctionDef) -> Mapping[str, str]:
    """The types of the parameters as the docstring has them, in NumPy's, Google's or Sphinx's form."""
    text = ast.get_docstring(node)
    if not text:
        return {}
    try:
        parsed = parse(text)
    except (ParseError, ValueError, IndexError, RecursionError):
        return {}
    found: dict[str, str] = {}
    for one in parsed.params:
        for name in re.split(r"[,\s]+", one.arg_name):
            found[name.strip("*` ")] = one.type_name or ""
    return found


def _from_text(text: str, use: Use, name: str) -> ArgType | str | None:
    """The type that a docstring gives: ``(N, M) ndarray``, ``float``, ``{'valid', 'same'}``."""
    text = text.strip()
    if use.dtype or re.match(r"(np\.|numpy\.|data[- ]?)?d?type", text):
        return ConstantType(np.float64)
    if not text:
        return None
    if choice := re.match(r"\{?\s*(['\"])(\w*)\1", text):
        return ConstantType(choice[2])
    lower = text.lower().replace("``", "")
    if _ARRAY.search(lower) and not (use.count or use.number):
        dtype = next((dtype for word, dtype in _DTYPES.items() if re.search(rf"\b{word}", lower)), "float64")
        return _array(dtype, _axes(lower) or use.exact or max(use.ndim, 1), use, name)
    if _NUMBER.search(lower):
        return _array("float64", use.exact or use.ndim, use, name) if use.ndim else ScalarType("float64", "float")
    if "tuple" in lower and (use.sizes or _INTEGER.search(lower)):
        one = ScalarType("index", "int") if _INTEGER.search(lower) else ScalarType("float64", "float")
        return StructType("tuple", (one,) * use.sizes.get(0, 2))
    if _INTEGER.search(lower):
        return ScalarType("index", "int")
    if re.search(r"\bbool", lower):
        return ScalarType("bool", "bool")
    if re.search(r"\bstr", lower):
        return ConstantType(use.text or "")
    if other := _OTHER.search(lower):
        return f"the docstring says it is a {other[1]}"
    return None


def _axes(text: str) -> int:
    """How many axes a description gives: by a shape, or by a word such as ``2-D``; 0 where it gives none."""
    if rank := _RANK.search(text):
        return int(rank[1] or rank[2])
    for shape in _SHAPE.finditer(text):
        inner = re.sub(r"\[.*?\]", "", shape[1])
        sizes = [s.strip() for s in inner.split(",") if s.strip() and s.strip() != "..."]
        if sizes and ("," in inner or len(sizes[0].split()) == 1) and len(sizes) <= _MOST:
            return len(sizes)
    return 2 if "matrix" in text or "image" in text else 0


def _from_use(use: Use, name: str, first: bool) -> ArgType | str:
    """The type that the text shows; what could be a number or an array is an array where it is the first."""
    if use.dtype:
        return ConstantType(np.float64)
    if use.other:
        return use.other
    if use.text is not None:
        return ConstantType(use.text)
    if use.array:
        return _array("int64" if use.count else "float64", use.exact or max(use.ndim, 1), use, name)
    if use.count:
        return ScalarType("index", "int")
    if use.number or not (first or use.entry):
        return ScalarType("float64", "float")
    return _array("float64", 1, use, name)


def _array(dtype: str, ndim: int, use: Use, name: str) -> ArgType:
    sizes = [str(use.sizes.get(k, ":")) for k in range(min(max(ndim, use.ndim), _MOST))]
    return parse_type(f"{dtype}[{','.join(sizes)}]", name)
