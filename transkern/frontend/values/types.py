"""Argument types: the text form ``nms(float32[n,4], float32[n], int, float)``, annotations, and actual arguments."""

from __future__ import annotations

import ast
import collections.abc
import enum
import math
import re
import types
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias, TypeGuard

import numpy as np

from transkern import refusals
from transkern.errors import CompileError, TypesNeeded
from transkern.frontend.values.others import instead_of
from transkern.ir.extremes import fits
from transkern.ir.storage import FEW, MANY_ROWS, SHORT_ROW, small_of_names

_CHARACTERS, _DIMENSIONS = 4096, 64  # of a list of types, of an array: NumPy has no more
PYTHON = {"int": "index", "float": "float64", "bool": "bool", "complex": "complex128"}
_DTYPES = (
    "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32", "float64",
    "complex64", "complex128",
)  # fmt: skip
_CODES = {np.dtype(name).str[1:]: name for name in _DTYPES}  # f8, as NumPy writes it
_ARRAY = re.compile(r"(?:np\.|numpy\.)?(\w+)\s*(?:\[(.*)\])?", re.S)
_ITEM = re.compile(r"""('[^'\\]*'|"[^"\\]*"|-?\d+)\s*:\s*(.+)""", re.S)  # of a dict: its key, and the value's type
_WORDS = ("strided", "unaligned", "readonly")
"""What may stand behind an array's type, in this order."""


@dataclass(frozen=True, slots=True)
class ArrayType:
    """``dtype[dims]``; a dim is a size that is known, or a name: equal names are equal sizes, none of them 1."""

    dtype: str
    dims: tuple[int | str, ...]
    layout: str = "C"
    shares: str = ""  # the first of the arguments that it shares memory with
    aligned: bool = True  # whether elements stand at multiples of their size
    readonly: bool = False  # whether a store raises
    extents: tuple[int, ...] = field(default=(), compare=False, repr=False)  # those of the call that it is made for

    def __str__(self) -> str:
        words = [word for word, holds in zip(_WORDS, (self.layout != "C", not self.aligned, self.readonly), strict=True)
                 if holds]  # fmt: skip
        return " ".join([f"{self.dtype}[{','.join(map(str, self.dims))}]", *words])


@dataclass(frozen=True, slots=True)
class ScalarType:
    """A Python number (`python` is its type's name) or a NumPy scalar of `dtype`."""

    dtype: str
    python: str = ""

    def __str__(self) -> str:
        return self.python or self.dtype


@dataclass(frozen=True, slots=True, eq=False)
class ConstantType:
    """An argument whose value is part of the specialisation; 0.0 and -0.0, or 1 and True, are two."""

    value: Any

    def __str__(self) -> str:
        return repr(self.value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ConstantType) and self.holds(other.value)

    def __hash__(self) -> int:
        return hash((type(self.value), _hashed(self.value)))

    def holds(self, value: Any) -> bool:
        """Whether an argument is this constant."""
        return _alike(self.value, value)


_NUMBERS = frozenset(
    (int, float, complex, bool, *(t for t in np.sctypeDict.values() if issubclass(t, (np.number, np.bool_))))
)
"""The classes whose numbers are constants where they are asked for: a class made of one may do something else."""


def _hashed(value: Any) -> Any:
    """What constants that are alike have in common, with a hash: before Python 3.12 slices have none."""
    match value:
        case float() | np.floating():
            return None
        case slice(start=start, stop=stop, step=step):
            return _hashed((start, stop, step))
        case tuple():
            return tuple(map(_hashed, value))
        case np.void():
            return None
        case collections.abc.Hashable():
            return value
        case _:  # a callable object with an `__eq__` of its own
            return None


def _alike(a: Any, b: Any) -> bool:
    if type(a) is not type(b):
        return False
    match a:
        case float() | np.floating():
            return bool((a == b and math.copysign(1, a) == math.copysign(1, b)) or (a != a and b != b))
        case complex() | np.complexfloating():
            return _alike(a.real, b.real) and _alike(a.imag, b.imag)
        case tuple():
            return len(a) == len(b) and all(map(_alike, a, b))
        case slice():
            return _alike((a.start, a.stop, a.step), (b.start, b.stop, b.step))
        case _ if isinstance(type(a).__eq__, types.FunctionType):  # of the user's: who knows what it compares
            return a is b
        case _:
            return bool(a == b)


@dataclass(frozen=True, slots=True)
class NumbersType:
    """A list of numbers of one type (`python`, or NumPy's dtype); its length is a size."""

    python: str
    dim: int | str

    def __str__(self) -> str:
        return f"[{self.python}, …]"


@dataclass(frozen=True, slots=True)
class OpaqueType:
    """Something in an object that cannot take part: an error where it is used."""

    name: str

    def __str__(self) -> str:
        return f"<{self.name}>"


@dataclass(frozen=True, slots=True)
class StructType:
    """A container of arguments: `kind` and `keys` as in `runtime.structures.Shape`."""

    kind: str
    items: tuple[ArgType, ...]
    keys: tuple[Any, ...] = ()
    of: type | None = None

    def __str__(self) -> str:
        inner = list(map(str, self.items))
        match self.kind:
            case "tuple":
                return f"({', '.join(inner)}{',' if len(inner) == 1 else ''})"
            case "list":
                return f"[{', '.join(inner)}]"
            case "appended":
                return "[…].append"
            case "rows":
                return f"[({', '.join(self.keys)}{',' * (len(self.keys) == 1)}), …]"
            case "ragged":
                return f"[[{self.keys[0]}, …], …]"
            case "range":
                return f"range({', '.join(inner)}, {self.keys[0]})"
            case "text":
                return "str"
            case "generator":
                return "Generator" if self.keys == ("PCG64",) else "RandomState"
            case "dict":
                return "{" + ", ".join(f"{k!r}: {t}" for k, t in zip(self.keys, inner, strict=True)) + "}"
            case _:
                name = self.of.__name__ if self.of is not None else ""
                return f"{name}({', '.join(f'{k}={t}' for k, t in zip(self.keys, inner, strict=True))})"


ArgType: TypeAlias = ArrayType | ScalarType | ConstantType | NumbersType | OpaqueType | StructType


def structured(shape: Any, leaves: Iterator[ArgType]) -> ArgType:
    """The type of an argument of this `runtime.structures.Shape`, from the types of its leaves in order."""
    if shape.kind == "leaf":
        return next(leaves)
    if shape.kind in ("generator", "text"):
        return StructType(shape.kind, (next(leaves),), shape.keys)
    if shape.kind == "numbers":
        found = next(leaves)
        assert isinstance(found, ArrayType)
        return NumbersType(shape.keys[0], found.dims[0])
    if shape.columns:
        return StructType(shape.kind, tuple(next(leaves) for _ in shape.columns), shape.keys)
    if shape.kind == "opaque":
        return OpaqueType(shape.keys[0] if shape.keys else "object")
    return StructType(shape.kind, tuple(structured(i, leaves) for i in shape.items), shape.keys, shape.of)


def parse_signature(text: str) -> tuple[str, tuple[ArgType, ...]]:
    """``f(float32[n,4], int)`` as a name (may be empty) and types."""
    _bounded(text)
    match = re.fullmatch(r"(\w*)\s*\((.*)\)", text.strip(), re.S)
    if not match:
        raise TypesNeeded(f"not a list of types: {text!r}; write for instance 'f(float32[n,4], int, float)'")
    name, inner = match.groups()
    return name, tuple(parse_type(part, f"_{place}") for place, part in enumerate(_split(inner)))


def _bounded(text: str) -> None:
    if len(text) > _CHARACTERS:
        raise TypesNeeded(f"a text of {len(text)} characters is no list of types")


def _shown(text: str) -> str:
    return repr(text if len(text) <= 80 else f"{text[:80]}…")


def _split(text: str) -> list[str]:
    parts, depth, current = [], 0, ""
    for char in text:
        depth += (char in "[({") - (char in "])}")
        if char == "," and depth == 0:
            parts.append(current)
            current = ""
        else:
            current += char
    return [p.strip() for p in [*parts, current] if p.strip()]


def names_dtype(text: str) -> bool:
    """Whether a text is made as the type of an array or of a number of NumPy's."""
    return _array(text.strip()) is not None


def _array(text: str) -> tuple[str, str | None] | None:
    """A dtype, and the sizes behind it."""
    found = _ARRAY.fullmatch(text)
    dtype = _CODES.get(found[1], found[1]) if found else ""
    return (dtype, found[2]) if found and dtype in _DTYPES else None


def parse_type(text: str, name: str) -> ArgType:
    """``float32[n,4]``, ``f4[:, :]``, ``float``, ``int32``, ``None``, or a literal; sizes that are ``:`` are known by
    the name of the argument."""
    _bounded(text)
    text = text.strip()
    words: set[str] = set()
    while text.endswith(_WORDS):
        text, _, word = text.rpartition(" ")
        words.add(word)
        text = text.strip()
    if text in PYTHON:
        return ScalarType(PYTHON[text], text)
    if text == "str":
        return StructType("text", (ArrayType("int64", (f"{name}_0",)),))
    if (numbers := re.fullmatch(r"\[(int|float|bool|complex), …\]", text)) is not None:
        return NumbersType(numbers[1], f"{name}_0")
    if text.startswith("[") and text.endswith(", …]") and (found := _columns_type(text[1:-4].strip(), name)):
        return found
    if text[:1] + text[-1:] in ("()", "[]") and not _is_literal(text):
        parts = _split(text[1:-1])
        kind = "tuple" if text[0] == "(" else "list"
        return StructType(kind, tuple(parse_type(part, f"{name}_{k}") for k, part in enumerate(parts)))
    if text[:1] + text[-1:] == "{}" and (items := list(map(_ITEM.fullmatch, _split(text[1:-1])))) and all(items):
        pairs = [(ast.literal_eval(item[1]), item[2]) for item in items if item]
        types_ = (parse_type(of, f"{name}_{k}") for k, (_, of) in enumerate(pairs))
        return StructType("dict", tuple(types_), tuple(key for key, _ in pairs))
    if (array := _array(text)) is not None:
        dtype, dims = array
        if dims is None:
            return ScalarType(dtype)
        sizes = [size for part in dims.split(",") if (size := part.strip())]
        parsed = tuple(int(d) if d.isdecimal() else f"{name}_{k}" if d == ":" else d for k, d in enumerate(sizes))
        if len(parsed) > _DIMENSIONS or any(isinstance(d, int) and d >= 2**63 for d in parsed):
            raise TypesNeeded(f"no array is as large as {_shown(text)}")
        for dim in parsed:
            if isinstance(dim, str) and not dim.isidentifier():
                raise TypesNeeded(f"{dim!r} in {text!r} is not a size: write a number, a name or ':'")
        layout = "strided" if "strided" in words else "C"
        return ArrayType(dtype, parsed, layout, aligned="unaligned" not in words, readonly="readonly" in words)
    try:
        return ConstantType(ast.literal_eval(text))
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        known = ", ".join(dict.fromkeys((*PYTHON, *_DTYPES)))
        more = "float64[n, 3] for an array, (float, int) for a tuple, [float, …] for a list, {'a': float} for a dict"
        more += "; objects only a call tells"
        raise TypesNeeded(f"unknown type {_shown(text)}; known: {known}; {more}") from None


def _columns_type(inner: str, name: str) -> ArgType | None:
    """The type of a list of tuples of numbers, ``(int, float)``, or of lists of numbers, ``[int, …]``."""
    if (ragged := re.fullmatch(r"\[(int|float|bool), …\]", inner)) is not None:
        values = ArrayType({"int": "int64"}.get(ragged[1]) or PYTHON[ragged[1]], (f"{name}_values",))
        return StructType("ragged", (values, ArrayType("int64", (f"{name}_starts",))), (ragged[1],))
    if re.fullmatch(r"\((int|float|bool)(, (int|float|bool))*,?\)", inner) is None:
        return None
    kinds = tuple(part.strip() for part in inner[1:-1].split(",") if part.strip())
    dtypes = [{"int": "int64"}.get(kind) or PYTHON[kind] for kind in kinds]
    return StructType("rows", tuple(ArrayType(dtype, (f"{name}_rows",)) for dtype in dtypes), kinds)


def _is_literal(text: str) -> bool:
    try:
        ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return False
    return True


def types_of(
    names: Sequence[str], values: Sequence[Any], demands: Collection[str] = frozenset(),
    shared: Sequence[Sequence[str]] = (), readonly: Collection[str] = (),
) -> tuple[ArgType, ...]:  # fmt: skip
    """The types of actual arguments (NumPy arrays and Python objects).

    Dims of equal size get one name, so that shapes are compared once, here; a size of 1 is itself, as broadcasting
    looks at it, and so are the sizes of short rows (`is_short`), for which there is better code. An integer that 64
    bits do not hold is a constant; `demands` names what else must be one: ``"axis"`` a scalar parameter, ``"x.1"`` a
    dim, ``"x.1<"`` a dim where it is small (`ir.storage.small_demanded`). `shared` are groups of arguments that share
    memory; those of `readonly` are stored into and must not be.
    """
    group = {name: members[0] for members in shared for name in members}
    memory = {name: value for name, value in zip(names, values, strict=True) if isinstance(value, np.ndarray)}
    aligned = {name: are_aligned([memory[name]]) for name in memory}
    aligned |= {name: are_aligned([memory[m] for m in members]) for members in shared for name in members}
    numbers = {1, *(value.shape[-1] for value in memory.values() if is_short(value))}
    if any(demand.endswith(FEW) for demand in demands):
        numbers |= small_of_names(demands, {name: value.shape for name, value in memory.items()})
    seen: dict[int, str] = {}
    found: list[ArgType] = []
    for name, value in zip(names, values, strict=True):
        if isinstance(value, np.ndarray):
            if type(value) is not np.ndarray:
                raise CompileError(
                    refusals.ARGUMENT_TYPE,
                    f"argument `{name}` is a {type(value).__name__}: subclasses of ndarray have ways of their own",
                    instead_of(name, value),
                )
            dims: list[int | str] = []
            for axis, extent in enumerate(value.shape):
                if extent in numbers or any(d.rstrip("_") == f"{name}.{axis}" for d in demands):
                    dims.append(extent)
                else:
                    dims.append(seen.setdefault(extent, f"{name}_{axis}"))
            dtype = dtype_name(value.dtype, f"argument `{name}`: ")
            layout = "C" if value.flags.c_contiguous and name not in group else "strided"
            shares = group.get(name, "")
            known = (dtype, tuple(dims), layout, shares, aligned[name], name in readonly)
            found.append(ArrayType(*known, extents=value.shape))
        elif (name in demands and type(value) in _NUMBERS) or (type(value) is int and not fits(value)):
            found.append(ConstantType(value))
        elif type(value) in (int, float, bool, complex):
            python = type(value).__name__
            found.append(ScalarType(PYTHON[python], python))
        elif isinstance(value, np.generic):
            found.append(ScalarType(dtype_name(value.dtype, f"argument `{name}`: ")))
        elif (
            value is None
            or value is Ellipsis
            or isinstance(value, (str, bytes, np.dtype, type, slice, enum.Enum, tuple))
            or callable(value)
        ):
            found.append(ConstantType(value))
        else:
            raise CompileError(
                refusals.ARGUMENT_TYPE,
                f"argument `{name}` is a {type(value).__name__}: only arrays, numbers, strings, None, functions, "
                "ranges, and tuples, lists, dicts and objects of them can be passed",
                instead_of(name, value),
            )
    return tuple(found)


def is_short(value: Any) -> bool:
    """Whether a value is an array of many rows of two, three or four elements: coordinates, colours, corners."""
    if not isinstance(value, np.ndarray) or value.ndim < 2:
        return False
    last: int = value.shape[-1]
    return 1 < last <= SHORT_ROW and value.size >= MANY_ROWS * last


def is_array(kind: ArgType) -> TypeGuard[ArrayType]:
    return isinstance(kind, ArrayType)


def are_aligned(arrays: Sequence[np.ndarray[Any, Any]]) -> bool:
    """Whether the elements of some arrays stand at multiples of their size (complex ones at multiples of a part's), and
    those of several at such distances from each other. Where nothing is moved along an axis, its stride does not count.
    """
    filled = [a for a in arrays if a.size]
    if not filled:
        return True
    size = filled[0].itemsize
    unit = size // 2 if filled[0].dtype.kind == "c" else size
    first = _address(filled[0])
    steps = [s for a in filled for s, extent in zip(a.strides, a.shape, strict=True) if extent > 1]
    apart = [_address(a) - first for a in filled[1:]]
    between = [*steps, *apart] if len(arrays) > 1 else []
    return first % unit == 0 and all(s % unit == 0 for s in steps) and all(s % size == 0 for s in between)


def _address(array: np.ndarray[Any, Any]) -> int:
    return int(array.__array_interface__["data"][0])


def dtype_name(dtype: np.dtype[Any], of: str = "") -> str:
    """NumPy's name for a supported dtype; raises CompileError for the others, which begins with what it is `of`."""
    if not dtype.isnative:
        native = dtype.newbyteorder("=").name
        problem, help = f"{of}dtype {dtype} is not in this machine's byte order", f"use {native}: x.astype(np.{native})"
        raise CompileError(refusals.DTYPE, problem, help)
    if dtype.name not in _DTYPES:
        raise CompileError(refusals.DTYPE, f"{of}dtype {dtype} is not supported", f"supported: {', '.join(_DTYPES)}")
    return dtype.name
