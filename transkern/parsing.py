"""Python's parser, for several threads at once, and what of a tree belongs to a function.

Python 3.11 keeps the depth of the tree that it makes in one place for all threads: where a collection of garbage lets
another one go on, and that parses too, it raises "SystemError: AST constructor recursion depth mismatch"
(python/cpython issue 106905). Our own threads take turns; after those of others it is tried again.
"""

from __future__ import annotations

import ast
import copy
import functools
import os
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from typing import TypeVar
from weakref import WeakKeyDictionary

_Tree = TypeVar("_Tree", bound=ast.AST)
_Answer = TypeVar("_Answer")
_Parsed = TypeVar("_Parsed")

_ATTEMPTS = 20
_turn = threading.RLock()


def _anew() -> None:
    global _turn
    _turn = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_anew)  # whose turn it was has stayed behind


SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)
"""What has names of its own."""


def own_nodes(nodes: Iterable[ast.AST]) -> list[ast.AST]:
    """Some nodes and all that stands in them, without what stands in functions and classes inside."""
    found: list[ast.AST] = []
    todo = list(nodes)
    while todo:
        found.append(node := todo.pop())
        if not isinstance(node, SCOPES):
            todo += child_nodes(node)
    return found


_TEXTS = frozenset((
    "ctx", "id", "attr", "arg", "kind", "type_comment", "level", "is_async", "simple", "conversion", "asname", "module",
    "rest", "kwd_attrs",
))  # fmt: skip
"""Fields in which no nodes are, and `ctx`, which is one of three."""

_NODE_FIELDS: dict[type[ast.AST], tuple[str, ...]] = {ast.Constant: ()}


def child_nodes(node: ast.AST) -> list[ast.AST]:
    """The nodes directly below one, in their order, without the contexts of names: `ast.iter_child_nodes`, in a third
    of its time."""
    kind = type(node)
    names = _NODE_FIELDS.get(kind)
    if names is None:
        names = _NODE_FIELDS[kind] = tuple(name for name in kind._fields if name not in _TEXTS)
    found: list[ast.AST] = []
    for name in names:
        value = getattr(node, name, None)
        if value.__class__ is list:
            if value:
                found += [item for item in value if isinstance(item, ast.AST)]
        elif value is not None and isinstance(value, ast.AST):
            found.append(value)
    return found


def all_nodes(node: ast.AST) -> Iterator[ast.AST]:
    """A node and all below it, those nearer to it first: `ast.walk`, without the contexts of names."""
    found = [node]
    for node in found:
        found += child_nodes(node)
        yield node


def once_a_tree(question: Callable[[_Tree], _Answer]) -> Callable[[_Tree], _Answer]:
    """`question`, answered once for each tree, for as long as the tree is there: each translation reads one anew."""
    known: WeakKeyDictionary[_Tree, _Answer] = WeakKeyDictionary()

    @functools.wraps(question)
    def answer(tree: _Tree) -> _Answer:
        try:
            return known[tree]
        except KeyError:
            found = known[tree] = question(tree)
            return found

    return answer


def written_once(node: ast.FunctionDef, mark: str, write: Callable[[], list[ast.stmt] | None]) -> ast.FunctionDef:
    """A function with the body that `write` gives it, itself where that is None; kept at the tree by the attribute
    `mark`, so that the same function twice is the same tree twice."""
    if not hasattr(node, mark):
        made, body = node, write()
        if body is not None:
            made = copy.copy(node)
            made.body = body
        setattr(node, mark, made)
        setattr(made, mark, made)
    return getattr(node, mark)  # type: ignore[no-any-return]


def parse(text: str | bytes, file: str = "<unknown>") -> ast.Module:
    """The tree of `text`, as `ast.parse` makes it, with its errors."""
    return _parsed(lambda: ast.parse(text, filename=file))


def parse_expression(text: str) -> ast.expr:
    """The tree of one expression."""
    return _parsed(lambda: ast.parse(text, mode="eval")).body


def _parsed(attempt: Callable[[], _Parsed]) -> _Parsed:
    with _turn:
        for _ in range(_ATTEMPTS):
            with suppress(SystemError):  # a thread of the user's parses meanwhile
                return attempt()
        return attempt()
