"""The likely types of a function's arguments, where nobody says them.

From what the author has written down: annotations, defaults, the section on parameters in the docstring; and from what
the text does with a parameter (`uses`). An argument that may be left out is left out.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from docstring_parser import ParseError, parse

from transkern.checking.axes import Use
from transkern.checking.documented import Kind, Told, annotation_text, described, told
from transkern.checking.names import alike, is_plural
from transkern.checking.uses import Finder, uses_of
from transkern.checking.uses_in_calls import OF_ARRAYS, OF_NUMBERS
from transkern.errors import CompileError, TypesNeeded
from transkern.frontend.sources.annotations import stated
from transkern.frontend.sources.identity import resolved
from transkern.frontend.syntax.syntax import parameter_names
from transkern.frontend.values.types import (
    PYTHON,
    ArgType,
    ArrayType,
    ConstantType,
    NumbersType,
    ScalarType,
    StructType,
    parse_type,
)

_MOST = 6  # axes
_WORDS = {"PCG64": 6, "MT19937": 627}  # of a generator's state

_NUMBERS: dict[Kind, ArgType] = {
    "integer": ScalarType("index", "int"), "number": ScalarType("float64", "float"),
    "complex": ScalarType("complex128", "complex"), "truth": ScalarType("bool", "bool"),
    "dtype": ConstantType(np.float64),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Guess:
    """Types that a function may be called with; `missing`: why there are none.

    `others`: the same, where what may be an array or a number is the other one of these.
    """

    types: tuple[ArgType, ...] = ()
    missing: str = ""
    others: tuple[tuple[ArgType, ...], ...] = ()


@dataclass(frozen=True, slots=True)
class _Parameter:
    name: str
    default: ast.expr | None
    annotation: ast.expr | None
    type_text: str  # what the docstring says that it is
    description: str
    use: Use


def likely_types(node: ast.FunctionDef, find: Finder) -> Guess:
    """The likely types of the arguments of a function.

    Args:
        node: its text.
        find: tells what an expression means in the function's module, or None.
    """
    (uses, makes_arrays), documented, args = uses_of(node, find), _documented(node), node.args
    plain = [*args.posonlyargs, *args.args]
    defaults = [*[None] * (len(plain) - len(args.defaults)), *args.defaults]
    pairs = [*zip(plain, defaults, strict=True), *zip(args.kwonlyargs, args.kw_defaults, strict=True)]
    given = [
        _Parameter(a.arg, default, a.annotation, *documented.get(a.arg, ("", "")), uses[a.arg]) for a, default in pairs
    ]
    needed = [one for one in given if one.default is None]
    arrays = makes_arrays or any(u.array or (u.is_open and is_plural(name)) for name, u in uses.items())
    found: list[ArgType] = []
    open_ = set()
    for place, one in enumerate(given):
        if place == len(plain) and args.vararg:
            found.append(StructType("tuple", ()))
        said = _said(one, find)
        first = not arrays and (len(needed) == 1 or not place or one.use.entry)
        guess = said or _from_use(one.use, one.name, first)
        if isinstance(guess, str):
            return Guess(missing=f"`{one.name}`: {guess}")
        if said is None and one.use.is_open:
            open_.add(len(found))
        found.append(guess)
    if args.vararg and len(given) == len(plain):
        found.append(StructType("tuple", ()))
    if args.kwarg:
        found.append(StructType("dict", ()))
    number: ArgType = ScalarType("float64", "float")
    names = parameter_names(node)
    for k in [k for k in open_ if isinstance(found[k], ArrayType)]:
        for j in open_:
            if alike(names[k], names[j]) and not isinstance(found[j], ArrayType):
                found[j] = _array("float64", 1, Use(), names[j])
    all_arrays = [_array("float64", 1, Use(), names[k]) if k in open_ else t for k, t in enumerate(found)]
    numbers = [number if k in open_ else t for k, t in enumerate(found)]
    others = [tuple(other) for other in (all_arrays, numbers) if other != found]
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


def _said(one: _Parameter, find: Finder) -> ArgType | str | None:
    """What somebody says of a parameter: an annotation of ours, a default, another annotation, the docstring."""
    if one.annotation is not None:
        try:
            if (found := stated(one.annotation, one.name)) is not None:
                return found
        except (CompileError, TypesNeeded):
            pass
    if (left_out := _default(one.default, find)) is not None:
        return left_out
    texts = [one.type_text] if one.annotation is None else [annotation_text(one.annotation), one.type_text]
    alternatives = next((said for text in texts if (said := told(text))), ())
    sizes = described(one.description)
    if not alternatives:
        use = one.use
        return _array("float64", len(sizes), use, one.name, sizes) if sizes and (use.array or use.is_open) else None
    return _from_told(_fitting(alternatives, one.use), one.use, one.name, sizes)


def _default(node: ast.expr | None, find: Finder) -> ArgType | None:
    """The type of an argument that is left out."""
    if node is None:
        return None
    if isinstance(node, (ast.Name, ast.Attribute)):
        return _constant(_meaning(node, find))
    try:
        value = ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        numbers = (ast.BinOp, ast.UnaryOp, ast.Constant, ast.operator, ast.unaryop, ast.Name, ast.Attribute, ast.Load)
        if not isinstance(node, (ast.BinOp, ast.UnaryOp)) or not all(isinstance(x, numbers) for x in ast.walk(node)):
            return None
        whole = all(type(x.value) is int for x in ast.walk(node) if isinstance(x, ast.Constant))
        real = any(isinstance(x, (ast.Div, ast.Name, ast.Attribute)) for x in ast.walk(node))
        return _NUMBERS["integer" if whole and not real else "number"]
    if isinstance(value, list) and value and (kind := _of_all(value)) in ("int", "float"):
        return NumbersType(kind, len(value))
    return _constant(value)


def _meaning(node: ast.expr, find: Finder) -> object:
    """What a name of the module stands for, where it is a number or something of NumPy's; else `...`."""
    names: list[str] = []
    root = node
    while isinstance(root, ast.Attribute):
        names.insert(0, root.attr)
        root = root.value
    found = find(root)
    if isinstance(found, ast.Constant) and not names:
        return found.value
    if isinstance(found, str) and found.partition(".")[0] in ("numpy", "math", "cmath"):
        return resolved(".".join([found, *names]))
    return {"int": int, "float": float, "bool": bool, "complex": complex}.get(getattr(node, "id", ""), ...)


def _constant(value: object) -> ArgType | None:
    kind = type(value).__name__
    if kind in PYTHON:
        return ScalarType(PYTHON[kind], kind)
    if value is ... or not (_plain(value) or isinstance(value, type) or callable(value)):
        return None
    return ConstantType(value)


def _plain(value: object) -> bool:
    if isinstance(value, tuple):
        return all(map(_plain, value))
    return value is None or isinstance(value, (str, int, float))


def _of_all(values: Sequence[object]) -> str:
    kinds = {type(value).__name__ for value in values}
    return kinds.pop() if len(kinds) == 1 else ""


def _documented(node: ast.FunctionDef) -> Mapping[str, tuple[str, str]]:
    """Types and descriptions of the parameters as the docstring has them, in NumPy's, Google's or Sphinx's form."""
    text = ast.get_docstring(node)
    if not text:
        return {}
    try:
        parsed = parse(text)
    except (ParseError, ValueError, IndexError, RecursionError):
        return {}
    found: dict[str, tuple[str, str]] = {}
    for one in parsed.params:
        for name in re.split(r"[,\s]+", one.arg_name):
            found[name.strip("*` ")] = one.type_name or "", one.description or ""
    return found


def _fitting(alternatives: Sequence[Told], use: Use) -> Told:
    """The one of several types that the text uses a parameter as: arrays rather than numbers."""
    arrays = [one for one in alternatives if one.kind == "array"]
    others = [one for one in alternatives if one.kind not in ("array", "other")]
    if use.text is not None and (texts := [one for one in others if one.kind == "text"]):
        return texts[0]
    if use.length and (tuples := [one for one in others if one.kind == "tuple"]):
        return tuples[0]
    if arrays and (use.array or not others or not (use.count or use.number or others[0].kind == "integer")):
        return arrays[0]
    return others[0] if others else alternatives[0]


def _from_told(one: Told, use: Use, name: str, sizes: tuple[int | None, ...]) -> ArgType | str:
    """The type that a docstring or an annotation gives."""
    match one.kind:
        case "array":
            dtype = _dtype(use) if one.dtype == "float64" else one.dtype
            given = one.sizes or sizes
            ndim = len(given) if given and not one.more else max(len(given), _ndim(use))
            return _array(dtype, ndim, use, name, given if len(given) == ndim else ())
        case "tuple":
            items = one.items
            if len(items) == 1:
                items *= use.length or use.items or use.sizes.get(0, 2)
            return StructType("tuple", tuple(_NUMBERS[item] for item in items))
        case "text":
            return ConstantType(one.text if one.text is not None else use.text or "")
        case "generator":
            return _generator(one.word)
        case "other":
            return f"the docstring says it is a {one.word}"
        case "number" if use.array:
            return _array("float64", _ndim(use), use, name)
        case "integer" if use.array:
            return _array("int64", _ndim(use), use, name)
    return _NUMBERS[one.kind]


_LISTS = ("[{}, …]", "[[{}, …], …]")
"""What has elements and is asked whether it is true, ``while stack:``: NumPy refuses that of an array."""


def _from_use(use: Use, name: str, first: bool) -> ArgType | str:
    """The type that the text shows; what could be a number or an array is an array where it is the first."""
    if use.dtype:
        return _NUMBERS["dtype"]
    if unknown := sorted(use.attributes - OF_ARRAYS - OF_NUMBERS):
        for kind, of in (("PCG64", np.random.Generator), ("MT19937", np.random.RandomState)):
            if use.attributes <= set(dir(of)):
                return _generator(kind)
        return f"it has an attribute `{unknown[0]}`"
    if use.other:
        return use.other
    if use.text is not None and not use.array:
        return ConstantType(use.text)
    if use.length or (use.count and use.array and use.items and not use.beyond):
        return StructType("tuple", (_NUMBERS["integer"],) * max(use.length, use.items))
    if use.truth and use.array and use.low <= len(_LISTS) and not (use.attributes & OF_ARRAYS - OF_NUMBERS):
        return parse_type(_LISTS[use.low - 1].format("int" if use.count else "float"), name)
    if use.array or use.mask or (use.bits and not use.count) or (use.is_open and is_plural(name) and not use.whole):
        return _array(_dtype(use), _ndim(use), use, name)
    if use.count or (use.whole and not use.real):
        return _NUMBERS["integer"]
    if use.truth and not (use.real or use.entry):
        return _NUMBERS["truth"]
    if use.number or not first:
        return _NUMBERS["number"]
    return _array("float64", 1, use, name)


def _generator(kind: str) -> ArgType:
    return StructType("generator", (ArrayType("uint64", (_WORDS[kind],)),), (kind,))


def _dtype(use: Use) -> str:
    if use.count:
        return "int64"
    return "bool" if use.mask or use.bits else "complex128" if use.complex else "float64"


def _ndim(use: Use) -> int:
    return max(use.low, 1)


def _array(dtype: str, ndim: int, use: Use, name: str, given: Sequence[int | None] = ()) -> ArgType:
    ndim = min(max(ndim, use.low, 1), _MOST)
    said = [*given, *[None] * (ndim - len(given))]
    sizes = [str(use.sizes.get(k, ":") if said[k] is None else said[k]) for k in range(ndim)]
    return parse_type(f"{dtype}[{','.join(sizes)}]", name)
