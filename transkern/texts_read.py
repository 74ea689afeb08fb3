"""The texts of files as they were read: a file that changes after it was imported still has the text of what runs.

Light: asked where functions are decorated, before the front end is loaded.
"""

from __future__ import annotations

import linecache
from collections.abc import Iterator
from types import FunctionType
from typing import Any

_TEXTS: dict[str, list[list[str]]] = {}
_KEPT = 4
"""Texts of a file: of one that is edited and imported again and again, those of the last times."""


def read_with(function: object) -> None:
    """Keeps the text of the file of a function that has just been made."""
    if isinstance(function, FunctionType):
        linecache.checkcache(function.__code__.co_filename)
        _kept(function.__code__.co_filename, function.__globals__)


def _kept(file: str, space: dict[str, Any]) -> list[str]:
    lines = linecache.getlines(file, space)
    known = _TEXTS.setdefault(file, [])
    if lines and not any(lines is text for text in known) and lines not in known:
        known.insert(0, lines)
        del known[_KEPT:]
    return lines


def texts_read(file: str, space: dict[str, Any]) -> Iterator[list[str]]:
    """The lines of a file as it was whenever it was read, and as it is now."""
    tried = [_kept(file, space)]
    for known in list(_TEXTS[file]):
        if known not in tried:
            tried.append(known)
    yield from filter(None, tried)
    linecache.checkcache(file)
    lines = _kept(file, space)
    if lines and lines not in tried:
        yield lines
