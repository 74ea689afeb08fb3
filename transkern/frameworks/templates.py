"""Arguments whose arrays are passed beside them: a template with slots in their places."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from transkern.runtime.structures import attributes_of, is_object


@dataclass(frozen=True, slots=True)
class Slot:
    """The place of the leaf of this number."""

    number: int


@dataclass(frozen=True, slots=True)
class Kept:
    """What holds no leaf: the object itself."""

    value: Any


@dataclass(frozen=True, slots=True)
class Node:
    """A ``tuple``, ``list``, ``dict`` or ``record`` (an object or named tuple of the class `of`) that holds leaves."""

    kind: str
    items: tuple[Template, ...]
    keys: tuple[Any, ...] = ()
    of: type | None = None


Template: TypeAlias = Slot | Kept | Node


def take(values: Sequence[Any], is_leaf: Callable[[Any], bool]) -> tuple[tuple[Template, ...], list[Any]]:
    """The templates of some values, and their leaves in order."""
    leaves: list[Any] = []
    return tuple(_taken(v, is_leaf, leaves, ()) for v in values), leaves


def fill(template: Template, leaves: Sequence[Any]) -> Any:
    """What a template is of, with other leaves; containers are new."""
    match template:
        case Slot(number):
            return leaves[number]
        case Kept(value):
            return value
        case Node(kind, items, keys, of):
            return build(kind, [fill(item, leaves) for item in items], keys, of)


def build(kind: str, items: list[Any], keys: tuple[Any, ...], of: type | None) -> Any:
    """A container of a kind, as `Node` has them; of an object no `__init__` runs."""
    if kind == "dict":
        return dict(zip(keys, items, strict=True))
    if kind == "tuple":
        return tuple(items)
    if kind == "list":
        return items
    assert of is not None
    if issubclass(of, tuple):
        return of(*items)
    made = object.__new__(of)
    for key, item in zip(keys, items, strict=True):
        object.__setattr__(made, key, item)
    return made


def text(template: Template, leaf: Callable[[int], str]) -> str:
    """A template as text, equal for those that are alike; `leaf` tells of a slot's leaf."""
    match template:
        case Slot(number):
            return leaf(number)
        case Kept(value):
            parts = value if type(value) is tuple else (value,)
            told = all(type(v) in _TOLD or isinstance(v, np.generic) for v in parts)
            return f"{type(value).__qualname__} {value!r}" if told else f"{type(value).__qualname__}@{id(value)}"
        case Node(kind, items, keys, of):
            return f"{kind}{of or ''}{keys}({', '.join(text(item, leaf) for item in items)})"


_TOLD = (int, float, bool, complex, str, bytes, type(None), type(...))


def _taken(value: Any, is_leaf: Callable[[Any], bool], leaves: list[Any], above: tuple[int, ...]) -> Template:
    if is_leaf(value):
        leaves.append(value)
        return Slot(len(leaves) - 1)
    if id(value) in above:
        return Kept(value)
    kind, parts, keys = _opened(value)
    before = len(leaves)
    items = tuple(_taken(part, is_leaf, leaves, (*above, id(value))) for part in parts)
    if len(leaves) == before:
        return Kept(value)
    return Node(kind, items, keys, type(value) if kind == "record" else None)


def _opened(value: Any) -> tuple[str, Sequence[Any], tuple[Any, ...]]:
    """The kind, parts and keys of a container; of all others, no part."""
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return "record", value, tuple(value._fields)
    if type(value) in (tuple, list):
        return type(value).__name__, value, ()
    if type(value) is dict:
        return "dict", list(value.values()), tuple(value)
    if is_object(value):
        found = attributes_of(value)
        return "record", list(found.values()), tuple(found)
    return "", (), ()
