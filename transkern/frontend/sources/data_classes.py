"""Classes of files that are read as text, where they are nothing but fields: dataclasses and named tuples.

What compiled code has to know of an argument's class then stands in the text: the fields, and how objects compare. A
class that is made of these stands for the user's, which nobody imports.
"""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from transkern.frontend.sources.constants import Member, Named
from transkern.frontend.sources.texts import TextScope
from transkern.frontend.values.types import ArgType, StructType

_OPTIONS = frozenset(["frozen", "slots", "order", "kw_only", "repr", "unsafe_hash", "match_args", "weakref_slot"])
"""Options of `dataclass`, with which attributes are the fields, and comparisons what it makes them."""

_HARMLESS = frozenset(["__post_init__", "__repr__", "__str__"])
"""Methods with two underscores that no compiled code asks for."""


def record_type(
    scope: object, node: ast.expr | None, name: str, stated: Callable[[ast.expr, str], ArgType | None]
) -> StructType | None:
    """The type of a parameter whose annotation names such a class, all of whose fields state theirs."""
    found = _class(scope, node.id) if isinstance(node, ast.Name) else None
    if found is None:
        return None
    module, text = found
    fields = _fields(text)
    kind = _stand_in(module, text, [field for field, _ in fields]) if fields else None
    if kind is None:
        return None
    types: list[ArgType] = []
    for field, annotation in fields or ():
        part = f"{name}_{field}"
        one = stated(annotation, part) or record_type(module, annotation, part, stated)
        if one is None:
            return None
        types.append(one)
    return StructType("record", tuple(types), tuple(field for field, _ in fields or ()), kind)


def _class(scope: object, name: str) -> tuple[TextScope, ast.ClassDef] | None:
    if not isinstance(scope, TextScope):
        return None
    found = scope.bound.names.get(name)
    if found is not None and isinstance(found.node, ast.ClassDef):
        return (scope, found.node) if found.times == 1 and scope.bound.rebound is None else None
    meaning = scope.meaning(name)
    return _class(meaning.module, meaning.name) if isinstance(meaning, Member) else None


def _fields(node: ast.ClassDef) -> list[tuple[str, ast.expr]] | None:
    """The fields and their annotations; None where the class is more than these and methods."""
    found: dict[str, ast.expr] = {}
    for s in node.body:
        match s:
            case ast.AnnAssign(ast.Name(field), annotation) if not _is_special(annotation):
                found[field] = annotation
            case ast.Pass() | ast.Expr(ast.Constant()):
                pass
            case ast.FunctionDef(name=name) if name in _HARMLESS or not name.startswith("__"):
                pass
            case _:
                return None
    return list(found.items())


def _is_special(annotation: ast.expr) -> bool:
    """Whether what is annotated is no field: `ClassVar`, `InitVar`, `KW_ONLY`."""
    text = ast.unparse(annotation)
    return any(word in text for word in ("ClassVar", "InitVar", "KW_ONLY"))


class _Unread:
    """What a method or property of a class does, which nobody reads; who asks is refused as for a function without a
    source."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __call__(self, owner: object) -> None:
        raise NotImplementedError

    def __repr__(self) -> str:
        return f"`{self._name}` of a class, of a file that is read as text"


def _stand_in(scope: TextScope, node: ast.ClassDef, fields: Sequence[str]) -> type | None:
    """A class like the user's, as far as its fields go; None where it is neither a dataclass nor a named tuple."""
    if node.name in scope.classes:
        return scope.classes[node.name]
    methods = [s.name for s in node.body if isinstance(s, ast.FunctionDef) and s.name not in _HARMLESS]
    if set(methods) & set(fields):
        return None
    made: Any
    match node.bases, node.decorator_list:
        case [base], [] if _path(scope, base) == "typing.NamedTuple":
            made = NamedTuple(node.name, [(field, Any) for field in fields])  # type: ignore[misc,no-redef]
        case [], [decorator]:
            called = decorator.func if isinstance(decorator, ast.Call) else decorator
            options: Any = _options(decorator)
            if _path(scope, called) != "dataclasses.dataclass" or options is None:
                return None
            try:
                made = dataclasses.make_dataclass(node.name, [(field, Any) for field in fields], **options)
            except (TypeError, ValueError):  # options that do not go together
                return None
        case _:
            return None
    made.__module__ = Path(scope.file).stem
    for name in methods:
        setattr(made, name, property(_Unread(f"{node.name}.{name}")))
    found: type = made
    scope.classes[node.name] = found
    return found


def _options(decorator: ast.expr) -> dict[str, bool] | None:
    """The options of `dataclass`; None where they are not known."""
    if not isinstance(decorator, ast.Call):
        return {}
    found: dict[str, bool] = {}
    for keyword in decorator.keywords:
        value = keyword.value
        if keyword.arg not in _OPTIONS or not (isinstance(value, ast.Constant) and isinstance(value.value, bool)):
            return None
        found[keyword.arg] = value.value
    return None if decorator.args else found


def _path(scope: TextScope, node: ast.expr) -> str:
    """What an expression of names leads to in a library, as a dotted path."""
    if isinstance(node, ast.Attribute):
        return f"{_path(scope, node.value)}.{node.attr}"
    found = scope.meaning(node.id) if isinstance(node, ast.Name) else None
    return found.path if isinstance(found, Named) else ""
