"""Names that a target can write:   def f(size_t, größe, i, i_block)   to   size_t_, grosse, i, i_block_

Python takes nearly every word for a name. C and Python's own libraries have words of their own, the code around the
user's has others, and what is made for a name (`x_stride0`, `i_block`) may be another one's. A name that is free stays
as it is; others get an underscore, or what is left of them in ASCII. No two names become one.
"""

from __future__ import annotations

import ast
import functools
import itertools
import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass
from typing import Any, cast

from transkern.ir import nodes as n
from transkern.ir.complexes import is_complex, parts_of_scalar
from transkern.ir.expr import Axis, Load, Var
from transkern.ir.names import parts_of_array, printed
from transkern.ir.traverse import walk
from transkern.parsing import parse
from transkern.records import replace
from transkern.targets.words import is_declared_in_c, is_word_of_c, is_word_of_python

_LONGEST = 80

_OF_C = re.compile(r"(stride|offset|out|here|best|block|end|part|high|low|is_there)\d*")
_OF_CUDA = re.compile(
    r"(\w+_)?(stride|here|held|best|part|running|row|pack|words?|kept|stop|base|keep|total|place|partial|by|at|value|before|"
    r"upto|sum|term)\d*"
)
_OF_PYTHON = re.compile("itself")
"""What targets put behind a name, and an underscore, for something that belongs to it."""

_NAMES: dict[type, tuple[str, ...]] = {
    **dict.fromkeys((Var, Axis, n.Buffer, n.Let, n.Assign, n.Accumulator, n.Accumulate, n.Kernel), ("name",)),
    **dict.fromkeys((n.ArgumentResult, n.ScalarParam, n.ConstantParam, n.ObjectParam), ("name",)),
    **dict.fromkeys((Load, n.Define, n.Write, n.Scan, n.Scatter, n.Store, n.Fetch, n.Alloc), ("buffer",)),
    **dict.fromkeys((n.ArrayResult, n.ViewResult, n.ListResult), ("buffer",)),
    n.ArrayParam: ("name", "base"),
    n.Library: ("outs", "ins"),
    n.Loop: ("axis",),
    n.Scanning: ("buffer", "axis"),
    n.Filter: ("outputs", "count"),
    n.Compact: ("outputs", "count", "axis"),
}
"""Where the names of a program stand."""


@dataclass(frozen=True, slots=True)
class Language:
    """What a target's text cannot call a variable, and a function."""

    is_word: Callable[[str], bool]
    is_function: Callable[[str], bool]
    made: re.Pattern[str]
    ascii: bool


C = Language(is_word_of_c, is_declared_in_c, _OF_C, ascii=True)
PYTHON = Language(is_word_of_python, is_word_of_python, _OF_PYTHON, ascii=False)
CUDA = Language(
    lambda name: is_word_of_c(name) or is_word_of_python(name),
    lambda name: is_declared_in_c(name) or is_word_of_python(name),
    _OF_CUDA,
    ascii=True,
)  # the kernels and their launcher have the same names


def with_names(program: n.Program, language: Language) -> n.Program:
    """`program` with names that a text in `language` can have."""
    kernels = [s.name for s in walk(program.body) if isinstance(s, n.Kernel)]
    names = [p.name for p in program.params]
    parts = {part: (p, k) for p in program.params for k, part in enumerate(_parts(p, p.name))}
    names += sorted({*_names(program)} - {*names, *parts, *kernels, "", n.ROOM})
    stems = {printed(name) for name in names}
    taken = set(parts)
    found: dict[str, str] = {}
    for name in [*names, *dict.fromkeys(kernels)]:
        stem, dot, rest = name.partition(".")
        is_word = language.is_function if name in kernels else language.is_word
        for form in _forms(stem, language.ascii):
            made = form + dot + rest
            text = printed(made)
            if text not in taken and not is_word(text) and not _is_made(text, stems, language):
                break
        taken.add(text)
        found[name] = made
    for part, (p, k) in parts.items():
        found[part] = _parts(p, found[p.name])[k]
    changed = {old: new for old, new in found.items() if old != new}
    return cast(n.Program, _renamed(program, changed)) if changed else program


def function_name(name: str, language: Language) -> str:
    """What a function is called in a text in `language`."""
    return next(form for form in _forms(name, language.ascii) if not language.is_word(form))


def _forms(name: str, ascii: bool) -> Iterator[str]:
    """What a name may be called, the nearest first."""
    if ascii and not name.isascii():
        name = _plain(name)
    if len(name) > _LONGEST:
        name = name[: _LONGEST // 2]
    yield name
    yield f"{name}_"
    yield from (f"{name}_{k}" for k in (1, 2, 3))
    yield f"of_{name}"
    yield from (f"of_{name}_{k}" for k in itertools.count(1))


def _plain(text: str) -> str:
    """A name in ASCII letters: ``größe`` is ``grosse`` there, ``α`` is ``alpha``."""
    made = ""
    for c in unicodedata.normalize("NFKD", text):
        if c.isascii():
            made += c
        elif not unicodedata.combining(c):
            folded = unicodedata.normalize("NFKD", c.casefold())
            word = unicodedata.name(c, "").rpartition(" ")[2].lower()
            made += folded if folded.isascii() else word if word.isidentifier() else f"u{ord(c):x}"
    return made if made.isidentifier() else f"u{made}"


def _is_made(text: str, stems: set[str], language: Language) -> bool:
    """Whether a name is that of something that may be made for another name."""
    return any(
        c == "_" and text[:k] in stems and language.made.fullmatch(text[k + 1 :]) for k, c in enumerate(text) if k
    )


def _signature(text: str, names: Mapping[str, str]) -> str:
    """The parameters of an emitted function with their other names."""
    made = parse(f"def f({text}): pass").body[0]
    assert isinstance(made, ast.FunctionDef)
    for node in ast.walk(made.args):
        if isinstance(node, ast.arg):
            node.arg = names.get(node.arg, node.arg)
    return ast.unparse(made.args)


def _parts(p: n.Param, name: str) -> tuple[str, ...]:
    """What belongs to an argument of that name, and is named after it."""
    match p:
        case n.ScalarParam(dtype=dtype) if is_complex(dtype):
            return parts_of_scalar(name)
        case n.ArrayParam(dims=dims):
            return parts_of_array(name, len(dims))
        case _:
            return ()


def _names(x: Any) -> Iterator[str]:
    """All names in a part of a program."""
    match x:
        case n.Program():
            yield from x.variables
            yield from x.bounds
            yield from _names((x.params, x.buffers, x.bounds, x.body, x.assumptions))
        case tuple():
            for item in x:
                yield from _names(item)
        case dict():
            yield from _names(tuple(x.values()))
        case _:
            for name, is_own in _fields(x.__class__):
                value = getattr(x, name)
                if is_own:
                    yield from (value,) if isinstance(value, str) else value
                elif not isinstance(value, str):
                    yield from _names(value)


def _renamed(x: Any, names: Mapping[str, str]) -> Any:
    """A part of a program with other names."""

    def of(name: str) -> str:
        return names.get(name, name)

    match x:
        case n.Program():
            return replace(
                x,
                params=_renamed(x.params, names),
                buffers={of(k): _renamed(v, names) for k, v in x.buffers.items()},
                variables={of(k): v for k, v in x.variables.items()},
                bounds={of(k): _renamed(v, names) for k, v in x.bounds.items()},
                body=_renamed(x.body, names),
                assumptions=_renamed(x.assumptions, names),
                signature=_signature(x.signature, names),
            )
        case tuple():
            return tuple(_renamed(item, names) for item in x)
        case _:
            changes: dict[str, Any] = {}
            for name, is_own in _fields(x.__class__):
                value = getattr(x, name)
                if is_own:
                    changes[name] = of(value) if isinstance(value, str) else tuple(map(of, value))
                elif isinstance(value, tuple) or is_dataclass(type(value)):
                    changes[name] = _renamed(value, names)
            return replace(x, **changes) if changes else x


@functools.cache
def _fields(kind: Any) -> tuple[tuple[str, bool], ...]:
    """The fields of a dataclass but for places in the source, and whether names are in them; of others none."""
    own = _NAMES.get(kind, ())
    return tuple((f.name, f.name in own) for f in fields(kind) if f.name != "span") if is_dataclass(kind) else ()


