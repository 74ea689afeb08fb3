"""The texts of files as they were read: a file that changes after it was imported still has the text of what runs.

Light: asked where functions are decorated, before the front end is loaded.
"""

from __future__ import annotations

import linecache
from collections.abc import Iterable, Iterator
from types import FunctionType
from typing import Any

_TEXTS: dict[str, list[list[str]]] = {}
_KEPT = 4
"""Texts of a file: of one that is edited and imported again and again, those of the last times."""

Text = tuple[str, tuple[str, ...]]
"""A file's name and its lines."""
_SENT: list[tuple[str, list[str]]] = []
_KEPT_OF_SENT = 64


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


def texts_of(file: str, space: dict[str, Any]) -> Iterator[tuple[str, list[str]]]:
    """Where a function may be written whose code names a file, each with its lines: there; in the file of its module,
    as code that was sent here may name none; in what was sent along with it. Which one it is, its bytecode tells."""
    for named in dict.fromkeys((file, space.get("__file__"))):
        if isinstance(named, str):
            yield from ((named, text) for text in _texts_read(named, space))
    yield from list(_SENT)


def sent(texts: Iterable[Text]) -> None:
    """Keeps texts that another process sent along with the code of its functions."""
    for file, lines in texts:
        text = file, list(lines)
        if text not in _SENT:
            _SENT.insert(0, text)
            del _SENT[_KEPT_OF_SENT:]


def _texts_read(file: str, space: dict[str, Any]) -> Iterator[list[str]]:
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
