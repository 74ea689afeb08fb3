"""Files of Python read as text: decoded as Python decodes them, and never further than they may be trusted.

A file that the user names is read whatever it is, up to a bound. One that is only found (in a folder, or because
another imports it) must be a regular file that lies in the folder where it was looked for: a pipe would wait for ever,
and a link may lead to what is nobody's module.
"""

from __future__ import annotations

import ast
import io
import os
import stat
import tokenize
from pathlib import Path

from transkern import refusals
from transkern.errors import CompileError
from transkern.ir.expr import Span
from transkern.parsing import parse

MOST_BYTES = 1 << 20
"""Of one file."""
_READABLE = "name a file of Python that can be read"
_SLOW_CODECS = frozenset(["idna", "punycode"])  # no file is written in them, and their time grows with its square


def read_text(path: Path) -> str:
    """The text of a file that the user has named."""
    try:
        with path.open("rb") as file:
            return _decoded(file.read(MOST_BYTES + 1), path)
    except OSError as error:
        raise CompileError(refusals.UNREADABLE, f"{path}: cannot be read: {error.strerror}", _READABLE) from None


def read_found(path: Path, within: Path) -> str | None:
    """The text of a file that was found below a folder; None where there is none, raises where it is not to be read."""
    try:
        file = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0))
    except FileNotFoundError:
        return None
    except OSError as error:
        raise CompileError(refusals.UNREADABLE, f"{path}: cannot be read: {error.strerror}", _READABLE) from None
    if not stat.S_ISREG(os.fstat(file).st_mode):
        os.close(file)
        raise CompileError(refusals.UNREADABLE, f"{path}: not a regular file", "name the file itself to have it read")
    with os.fdopen(file, "rb") as opened:
        if not path.resolve().is_relative_to(within.resolve()):
            problem = f"{path}: a link that leads out of {within}"
            raise CompileError(refusals.UNREADABLE, problem, "name the file that it leads to to have it read")
        return _decoded(opened.read(MOST_BYTES + 1), path)


def read_named(path: Path, within: Path | None = None) -> str:
    """The text of a file that the user has named, or that was found in the folder `within`; raises CompileError where
    it is gone or not to be read."""
    text = read_text(path) if within is None else read_found(path, within)
    if text is None:
        raise CompileError(refusals.UNREADABLE, f"{path}: it is no longer there", "name a file that is")
    return text


def _decoded(content: bytes, path: Path) -> str:
    if len(content) > MOST_BYTES:
        problem = f"{path}: larger than {MOST_BYTES >> 20} MiB"
        raise CompileError(refusals.UNREADABLE, problem, "put the functions to be compiled into a file of their own")
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(content).readline)
        if encoding.lower().replace("_", "-") in _SLOW_CODECS:
            raise SyntaxError(f"unknown encoding: {encoding}")
        return io.TextIOWrapper(io.BytesIO(content), encoding).read()  # with Python's ends of lines
    except (SyntaxError, UnicodeError, LookupError) as error:
        problem = error.msg if isinstance(error, SyntaxError) else str(error)
        raise CompileError(
            refusals.UNREADABLE, f"{path}: cannot be decoded: {problem}",
            "write it in UTF-8, or name its encoding as Python wants it: # coding: latin-1",
        ) from None  # fmt: skip


def lines_of(text: str) -> tuple[str, ...]:
    """The lines as Python counts them."""
    return tuple(text.split("\n"))


def parsed(text: str, file: str) -> ast.Module:
    """The syntax tree of a file's text; raises CompileError where it is not Python, or too deep for Python's parser."""
    try:
        return parse(text, file)
    except SyntaxError as error:
        line, column = error.lineno or 1, error.offset or 1
        at = Span(line, max(0, column - 1), line, column, file)
        help = "correct the file; Python itself cannot import it either"
        raise CompileError(refusals.UNREADABLE, f"not Python: {error.msg}", help, at, lines_of(text)) from None
    except ValueError as error:  # null bytes
        raise CompileError(refusals.UNREADABLE, f"{file}: not Python: {error}", _READABLE) from None
    except (RecursionError, MemoryError):
        problem = f"{file}: nested too deeply for Python's parser"
        help = "give parts of the expression names of their own"
        raise CompileError(refusals.TOO_LARGE_TO_COMPILE, problem, help) from None
