"""What a function was called with, without holding it: enough to compile it when the run has ended.

Numbers, texts, arrays that lie in order and short beginnings of lists are described, and objects that are no more than
their attributes by these, as far as the function uses them; where one of them is something else, by a reference that
does not keep the object. With anything else in it, a call is not.
"""

from __future__ import annotations

import sys
import weakref
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from transkern.plain import is_plain_object

if TYPE_CHECKING:
    from transkern.runtime.structures import Used

_LARGEST = 1 << 26  # bytes of an array that is made again
_SOME = 64  # items of a list
_PLAIN = (bool, int, float, complex, str)


class _Array(NamedTuple):
    shape: tuple[int, ...]
    dtype: Any
    writeable: bool


class _Object(NamedTuple):
    kind: type
    attributes: dict[str, Any]


class Other(Exception):
    """It cannot be described, or is there no more."""


Described = tuple[tuple[Any, ...], dict[str, Any]]


Uses = Callable[[str, Any], "Used"]


def described(names: Sequence[str], args: Sequence[Any], keywords: dict[str, Any], used: Uses) -> Described | None:
    """A call, or None. `used` tells what counts of an argument, by the name of its parameter."""
    try:
        found = tuple(_argument(name, v, used) for name, v in zip(names, args, strict=False))
        others = tuple(map(_described, args[len(names) :]))
        return (*found, *others), {name: _argument(name, v, used) for name, v in keywords.items()}
    except Other:
        return None


def _argument(name: str, value: Any, used: Uses) -> Any:
    if not (isinstance(getattr(value, "__dict__", None), dict) and is_plain_object(value)) or isinstance(value, tuple):
        return _described(value)
    try:
        return _Object(type(value), {k: _described(v) for k, v in vars(value).items()})
    except Other:
        pass
    names, appended = used(name, value)  # which takes a look at the text
    whole = {k: v for k, v in vars(value).items() if names is None or k in names}
    try:
        return _Object(type(value), {k: [] if (k,) in appended else _described(v) for k, v in whole.items()})
    except Other:
        return _described(value)


def made(call: Described) -> Described:
    """Arguments that are like those that were described; the elements of arrays are zeros. Raises Other."""
    args, keywords = call
    return tuple(map(_made, args)), {name: _made(v) for name, v in keywords.items()}


def _described(value: Any) -> Any:
    if value is None or type(value) in _PLAIN:
        return value
    if type(value) is list and all(type(v) in _PLAIN for v in value[:_SOME]):
        return value[:_SOME]
    if type(value) is tuple:
        return tuple(map(_described, value))
    numpy = sys.modules.get("numpy")  # without it, there are no arrays
    if numpy is not None:
        if type(value) is numpy.ndarray and value.flags.c_contiguous and value.nbytes <= _LARGEST:
            if not value.dtype.hasobject and value.flags.aligned:
                return _Array(value.shape, value.dtype, value.flags.writeable)
        elif isinstance(value, numpy.generic):
            return value
    if isinstance(getattr(value, "__dict__", None), dict) and not callable(value):
        try:
            return weakref.ref(value)
        except TypeError:
            pass
    raise Other


def _made(value: Any) -> Any:
    if isinstance(value, _Array):
        found = sys.modules["numpy"].zeros(value.shape, value.dtype)
        found.flags.writeable = value.writeable
        return found
    if isinstance(value, _Object):
        made_again: Any = object.__new__(value.kind)
        vars(made_again).update({k: _made(v) for k, v in value.attributes.items()})
        return made_again
    if isinstance(value, weakref.ref):
        found = value()
        if found is None:
            raise Other
        return found
    return tuple(map(_made, value)) if type(value) is tuple else value
