"""Which objects are structures: their attributes, and methods written in Python. Light: asked before the front end is
loaded, when code comes from the disk cache."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

_LIBRARIES = {"numpy", "torch", "jax", "jaxlib", "cupy", "builtins", "transkern"}  # their objects are no structures


def is_plain_object(value: Any) -> bool:
    """An object that is no more than its attributes and the methods of a class written in Python."""
    kind = type(value)
    return (
        isinstance(kind, type) and bool(kind.__flags__ & (1 << 9)) and kind.__module__.split(".")[0] not in _LIBRARIES
        and (hasattr(value, "__dict__") or hasattr(kind, "__slots__"))
    )  # fmt: skip


def key_name(key: object, position: int) -> str:
    """What a dict's item is called in the path of its part."""
    return key if isinstance(key, str) and key.isidentifier() else f"item{position}"


def part_path(path: str, part: str, parameters: Collection[str]) -> str:
    """What stands for a part of an argument: ``x_0`` for ``x[0]``, where no parameter has this name."""
    made = f"{path}_{part}"
    while made in parameters:
        made += "_"
    return made


NUMPYS_BOOL = "bool_"
"""NumPy's type of truths among the kinds of numbers in a list, where ``bool`` is Python's."""

_PYTHONS = {"int": "int64", "float": "float64", "bool": "bool", "complex": "complex128"}


def is_pythons(kind: str) -> bool:
    """Whether a kind of numbers in a list is one of Python's: the others are named as NumPy's dtypes."""
    return kind in _PYTHONS


def dtype_of(kind: str) -> str:
    """The dtype that holds numbers of a kind."""
    return "bool" if kind == NUMPYS_BOOL else _PYTHONS.get(kind, kind)
