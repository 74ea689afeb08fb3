"""What the patterns of `match` statements ask of their subject, and the names that they bind (`desugar` writes them as
`if`):

    match step:                        if isinstance(step, Sequence) and len(step) == 2 and step[0] == "add":
        case ("add", n) if n > 0:  ->      n = step[1]
            s                              holds = n > 0
                                       if holds: s
"""

from __future__ import annotations

import ast
import collections.abc
import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

_THEMSELVES = frozenset(
    ("bool", "bytearray", "bytes", "dict", "float", "frozenset", "int", "list", "set", "str", "tuple")
)
"""The classes of which a pattern with one part is that of the whole: ``case int(n)``."""


@dataclass
class Asked:
    """The conditions of a pattern, in order, and what its names stand for."""

    tests: list[ast.expr] = field(default_factory=list)
    names: list[tuple[str, ast.expr]] = field(default_factory=list)

    @property
    def holds(self) -> ast.expr | None:
        if not self.tests:
            return None
        return self.tests[0] if len(self.tests) == 1 else ast.BoolOp(ast.And(), self.tests)


def asked(pattern: ast.pattern, subject: str) -> Asked | None:
    """What a pattern asks of what stands under a name; None where it is of a kind that is not compiled."""
    found = Asked()
    return found if _read(pattern, ast.Name(subject, ast.Load()), found) else None


def _read(pattern: ast.pattern, subject: ast.expr, asked: Asked) -> bool:
    """Whether what a pattern asks of `subject` is compiled; it stands in `asked` then."""
    at: Callable[[], ast.expr] = lambda: copy.deepcopy(subject)  # noqa: E731
    match pattern:
        case ast.MatchValue(value=value):
            asked.tests.append(ast.Compare(at(), [ast.Eq()], [value]))
        case ast.MatchSingleton(value=value):
            asked.tests.append(ast.Compare(at(), [ast.Is()], [ast.Constant(value)]))
        case ast.MatchAs(pattern=inner, name=name):
            if inner is not None and not _read(inner, subject, asked):
                return False
            if name is not None:
                asked.names.append((name, at()))
        case ast.MatchOr(patterns=patterns):
            ways = [Asked() for _ in patterns]
            if not all(_read(p, subject, way) and not way.names for p, way in zip(patterns, ways, strict=True)):
                return False
            tests = [way.holds for way in ways]
            if None not in tests:
                asked.tests.append(ast.BoolOp(ast.Or(), [t for t in tests if t is not None]))
        case ast.MatchSequence(patterns=patterns):
            return _read_items(patterns, subject, asked)
        case ast.MatchMapping(keys=keys, patterns=patterns, rest=None):
            asked.tests.append(_is_a(at(), collections.abc.Mapping))
            asked.tests += [ast.Compare(key, [ast.In()], [at()]) for key in keys]
            items = [ast.Subscript(at(), copy.deepcopy(key), ast.Load()) for key in keys]
            return all(_read(p, item, asked) for p, item in zip(patterns, items, strict=True))
        case ast.MatchClass(cls=kind, patterns=patterns, kwd_attrs=names, kwd_patterns=named):
            asked.tests.append(_call("isinstance", at(), kind))
            if isinstance(kind, ast.Name) and kind.id in _THEMSELVES and len(patterns) < 2:
                parts = [at() for _ in patterns]
            else:
                known = ast.Attribute(copy.deepcopy(kind), "__match_args__", ast.Load())
                parts = [
                    _call("getattr", at(), ast.Subscript(copy.deepcopy(known), ast.Constant(k), ast.Load()))
                    for k in range(len(patterns))
                ]
            parts += [ast.Attribute(at(), name, ast.Load()) for name in names]
            return all(_read(p, part, asked) for p, part in zip([*patterns, *named], parts, strict=True))
        case _:
            return False
    return True


def _read_items(patterns: Sequence[ast.pattern], subject: ast.expr, asked: Asked) -> bool:
    """A pattern of what a sequence holds, of which one part may be as long as it needs to be."""
    at: Callable[[], ast.expr] = lambda: copy.deepcopy(subject)  # noqa: E731
    kinds: tuple[Any, ...] = (str, bytes, bytearray)
    texts = ast.Tuple([ast.Constant(kind) for kind in kinds], ast.Load())
    asked.tests.append(_is_a(at(), collections.abc.Sequence))
    asked.tests.append(ast.UnaryOp(ast.Not(), _call("isinstance", at(), texts)))
    star = next((k for k, p in enumerate(patterns) if isinstance(p, ast.MatchStar)), None)
    fewest = ast.Constant(len(patterns) - (star is not None))
    asked.tests.append(ast.Compare(_call("len", at()), [ast.Eq() if star is None else ast.GtE()], [fewest]))
    for k, pattern in enumerate(patterns):
        behind = len(patterns) - k - 1
        if isinstance(pattern, ast.MatchStar):
            end = ast.BinOp(_call("len", at()), ast.Sub(), ast.Constant(behind)) if behind else None
            part = ast.Subscript(at(), ast.Slice(ast.Constant(k), end), ast.Load())
            asked.names += [(pattern.name, _call("list", part))] if pattern.name else []
            continue
        place = k if star is None or k < star else k - len(patterns)
        if not _read(pattern, ast.Subscript(at(), ast.Constant(place), ast.Load()), asked):
            return False
    return True


def _is_a(value: ast.expr, kind: Any) -> ast.expr:
    return _call("isinstance", value, ast.Constant(kind))


def _call(name: str, *args: ast.expr) -> ast.expr:
    return ast.Call(ast.Name(name, ast.Load()), list(args), [])
