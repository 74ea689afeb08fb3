"""What documentation says of the types of parameters: docstrings, annotations, NumPy's own of its functions."""

from __future__ import annotations

import ast
import functools
import inspect
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal

from transkern.frontend.sources.identity import resolved

Kind = Literal["array", "number", "integer", "complex", "truth", "text", "tuple", "dtype", "generator", "other"]


@dataclass(frozen=True, slots=True)
class Told:
    """One of the types that a text gives a parameter.

    `dtype`: of an array's elements; `sizes`: of its axes, None where one is not a number; `more`: whether other axes
    may stand before those; `text`: the first of the texts that may be passed; `items`: of a tuple; `word`: what else it
    is called.
    """

    kind: Kind
    dtype: str = "float64"
    sizes: tuple[int | None, ...] = ()
    more: bool = False
    text: str | None = None
    items: tuple[Kind, ...] = ()
    word: str = ""


_ARRAY = re.compile(
    r"array|matrix|matrices|image|sequence|vector|series|iterable|tensor|\blists?\b|\b[1-4][\s-]?d\b|\b[1-4][\s-]dim"
)
_SEVERAL = re.compile(r"\b(list|tuple|sequence|iterable)s? of (\w+ )?(nd)?(arrays|matrices|images|tuples|lists|str)")
_DTYPES = {
    r"\bcomplex": "complex128", r"\bbool": "bool", r"\bmask\b": "bool", "uint8": "uint8", "uint16": "uint16",
    "float32": "float32", r"\bint(eger)?s?(32|64)?\b": "int64",
}  # fmt: skip
_SHAPE = re.compile(r"(shape:?\s*)?\(([^()]*)\)")
_SIZE = re.compile(r"[A-Za-z_]\w*([*/+-]\w+)*'*|\d+([*/+-]\w+)*")
_RANK = re.compile(r"\b([1-4])[\s-]?d\b|\b([1-4])[\s-]dim|\bdim(?:ension)?s?:? ([1-4])\b")
_TYPES = re.compile(r"int|float|bool|str|number|optional|default|real|complex")
_NUMBER = re.compile(r"\b(float|floating|scalars?|numbers?|double|real|numeric)\b")
_INTEGER = re.compile(r"\b(int|integer|ints|integers)\b")
_OTHER = re.compile(
    r"\b(callable|function|dict\w*|object|instance|file|graph|path|dtype|set|pathlike|mapping|class)\b", re.IGNORECASE
)
_COUNTS = {"two": 2, "three": 3, "four": 4, "pair": 2, "triple": 3}
_MOST = 6  # axes


@functools.lru_cache(4096)
def told(text: str) -> tuple[Told, ...]:
    """The types that a text gives, one for each that it names: ``(N, M) ndarray or float``, ``{'valid', 'same'}``."""
    text = re.sub(r"^(:[\w:]+:`|`)?(.*?)`?$", r"\2", text.strip().replace("``", ""))
    if re.match(r"(np\.|numpy\.|data[- ]?)?d?type", text):
        return (Told("dtype"),)
    if choice := re.match(r"(?:\w*Literal\[|\{|\()?\s*(['\"])([^'\"]*)\1", text):
        return (Told("text", text=choice[2]),)
    text = re.split(r"[,;.]?\s*\(?\b(?:optional|default\w*)\b", text)[0].strip()
    found = [one for part in _alternatives(text) if (one := _told(part)) is not None]
    return tuple(dict.fromkeys(found))


def _alternatives(text: str) -> Iterator[str]:
    if text.startswith("{") and text.endswith("}") and "(" not in text:
        text = text[1:-1].replace(",", " or ")
    for part in re.split(r"\s+or\s+|\s*\|\s*|,\s*or\s+", text):
        if part.strip(" ,") not in ("None", ""):
            yield part.strip(" ,")


def _told(text: str) -> Told | None:
    lower = text.lower()
    if several := _SEVERAL.search(lower):
        return Told("other", word=several[0])
    if "randomstate" in lower or re.search(r"random\.generator|^generator$", lower):
        return Told("generator", word="MT19937" if "randomstate" in lower else "PCG64")
    if (items := _tuple(lower)) is not None:
        return Told("tuple", items=items)
    if _ARRAY.search(lower) or _shape(text):
        dtype = next((dtype for word, dtype in _DTYPES.items() if re.search(word, lower)), "float64")
        sizes, more = _sizes(text)
        return Told("array", dtype, sizes, more)
    if re.search(r"\bcomplex\b", lower):
        return Told("complex")
    if _NUMBER.search(lower):
        return Told("number")
    if _INTEGER.search(lower):
        return Told("integer")
    if re.search(r"\bbool", lower):
        return Told("truth")
    if re.search(r"\bstr", lower):
        return Told("text")
    if other := _OTHER.search(lower):
        return Told("other", word=other[1])
    return None


def _tuple(text: str) -> tuple[Kind, ...] | None:
    """The items of a tuple: ``(float, float)``, ``tuple of 3 ints``, ``pair of floats``."""
    if written := re.match(r"(?:tuple\s*)?[\[(]\s*((?:int|float|bool)\b[^()]*?)[\])]", text):
        items = [item.strip() for item in written[1].split(",") if item.strip()]
        if "..." not in items and (len(items) > 1 or text.startswith("tuple")):
            return tuple(_plain(item) for item in items)
    if not re.search(r"\b(\d-)?tuple|\bpair\b|\btriple\b", text):
        return None
    if re.search(r"array|matri", text):
        return None
    many = re.search(r"\b(\d)\b|\b(two|three|four|pair|triple)\b|\b(\d)-tuple|length[- =](\d)", text)
    count = 0 if many is None else _COUNTS.get(many[2] or "", 0) or int(many[1] or many[3] or many[4] or 0)
    return (_plain(text),) * min(count, _MOST) or (_plain(text),)


def _plain(text: str) -> Kind:
    return "number" if _NUMBER.search(text) else "truth" if "bool" in text else "integer" if "int" in text else "number"


def _shape(text: str) -> bool:
    """Whether a text is hardly more than a shape: ``(N, 3)``."""
    shape = _SHAPE.match(text)
    return shape is not None and bool(_axes(shape[2])) and ("," in shape[2] or bool(shape[1]))


def _sizes(text: str) -> tuple[tuple[int | None, ...], bool]:
    """The sizes of an array's axes, and whether there may be more before them."""
    for shape in _SHAPE.finditer(text):
        inner = re.sub(r"\[.*?\]", "", shape[2])
        axes = _axes(inner)
        if axes and (shape[1] or "," in inner or len(axes[0]) == 1 or axes[0].isdecimal()):
            return tuple(int(a) if a.isdecimal() else None for a in axes), "..." in inner
    if rank := _RANK.search(text.lower()):
        return (None,) * int(rank[1] or rank[2] or rank[3]), False
    return ((None, None), True) if re.search(r"matri|\bimage", text.lower()) else ((), False)


def _axes(inner: str) -> list[str]:
    """What stands between the parentheses of a shape, without ``...``; empty where it is none."""
    axes = [axis for part in inner.split(",") if (axis := part.strip().replace(" ", "")) not in ("", "...")]
    if len(axes) > _MOST or not all(_SIZE.fullmatch(axis) for axis in axes):
        return []
    return [] if any(_TYPES.fullmatch(axis.lower()) for axis in axes) else axes


def described(text: str) -> tuple[int | None, ...]:
    """The sizes of the axes that a description gives: ``the points, of shape (n, 2)``."""
    shape = next((s for s in _SHAPE.finditer(text) if s[1]), None)
    if shape is not None:
        return tuple(int(a) if a.isdecimal() else None for a in _axes(re.sub(r"\[.*?\]", "", shape[2])))
    rank = _RANK.search(text.lower())
    return (None,) * int(rank[1] or rank[2] or rank[3]) if rank else ()


def annotation_text(node: ast.expr) -> str:
    """An annotation of Python's own and NumPy's types, as docstrings would put it."""
    match node:
        case ast.Constant(value=str() as text):
            try:
                return annotation_text(ast.parse(text.strip(), mode="eval").body)
            except (SyntaxError, ValueError, MemoryError, RecursionError):
                return text
        case ast.Constant(value=value):
            return repr(value)
        case ast.BinOp(left=left, op=ast.BitOr(), right=right):
            return f"{annotation_text(left)} or {annotation_text(right)}"
        case ast.Attribute(attr=attr):
            return attr if attr != "Generator" else "np.random.Generator"
        case ast.Subscript(value=value, slice=index):
            items = index.elts if isinstance(index, ast.Tuple) else [index]
            inner = [annotation_text(i) for i in items]
            match annotation_text(value).lower():
                case "optional":
                    return f"{inner[0]} or None"
                case "union":
                    return " or ".join(inner)
                case "literal":
                    return ast.unparse(index)
                case "annotated" | "final" | "classvar":
                    return inner[0]
                case "tuple":
                    return f"tuple of {inner[0]}" if "..." in inner or "Ellipsis" in inner else f"({', '.join(inner)})"
                case "ndarray":
                    return f"array of {inner[-1]}"
                case "callable" | "dict" | "mapping" as word:
                    return str(word)
                case word:
                    return f"{word} of {' '.join(inner)}"
    return ast.unparse(node)


_ENTRY = re.compile(r"(\*{0,2}\w+(?:\s*,\s*(?:\*{0,2}\w+|\.\.\.))*)\s*:\s*(\S.*)")


@dataclass(frozen=True, slots=True)
class Documented:
    """What NumPy tells of one of its functions: the parameters that may be given by their places, and what is said of
    the types of all."""

    places: tuple[str, ...] = ()
    told: Mapping[str, tuple[Told, ...]] = field(default_factory=dict)


@functools.lru_cache(1024)
def documented(path: str) -> Documented:
    """What the documentation of a function of NumPy's says."""
    function = resolved(path)
    text = inspect.cleandoc(getattr(function, "__doc__", None) or "")
    _, _, rest = text.partition("Parameters\n----------\n")
    found: dict[str, tuple[Told, ...]] = {}
    for line, below in zip((lines := rest.split("\n")), [*lines[1:], ""], strict=True):
        if below.startswith("---"):
            break
        if entry := _ENTRY.fullmatch(line):
            found |= {name.strip("* "): told(entry[2]) for name in entry[1].split(",")}
    try:
        parameters = list(inspect.signature(function).parameters.values())  # type: ignore[arg-type]
    except (TypeError, ValueError):  # it is written in C
        return Documented(tuple(found), found)
    own = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return Documented(tuple(p.name for p in parameters if p.kind in own and p.name != "self"), found)
