"""What can be reached through a value: the items of containers, what lists and objects hold, what may be None.

Whoever asks whether an array or a list is seen elsewhere, or still read, asks it of all that the names reach: a view in
a tuple in a dict shows a store as one with a name of its own does.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Iterator, Mapping

from transkern.frontend.values.values import (
    Array,
    Bound,
    Function,
    GrowingList,
    Hashed,
    Iterated,
    Maybe,
    Method,
    Object,
    OrNone,
    Partial,
    Row,
    Rows,
    Static,
    Value,
    View,
    children,
    lies,
)  # fmt: skip
from transkern.parsing import all_nodes, once_a_tree


def reached(heap: Mapping[int, Value], value: Value) -> Iterator[Value]:
    """A value and all that it holds, each list and object once."""
    pending, seen = [value], set[object]()
    while pending:
        one = pending.pop()
        yield one
        match one:
            case Maybe(value=inner) | OrNone(value=inner) | Bound(receiver=inner) | Method(receiver=inner):
                pending.append(inner)
            case Iterated(value=inner) | View(owner=inner):
                pending.append(inner)
            case Partial(function=inner, args=args, keywords=keywords):
                pending.extend((inner, *args, *(v for _, v in keywords)))
            case Function(node=node, closure=closure, defaults=defaults):
                pending.extend(v for _, v in defaults or ())
                if (id(node), id(closure)) not in seen:
                    seen.add((id(node), id(closure)))
                    pending.extend(closure[name] for name in _read(node) if name in closure)
            case Hashed(keys=keys, values=values):
                pending.extend(v for v in (keys, values) if v is not None)
            case GrowingList(rows=Rows(pool=pool), columns=columns):
                pending.extend((pool, *columns))
            case GrowingList(columns=columns):
                pending.extend(columns)
            case Row(Rows(pool=pool)):
                pending.append(pool)
            case Object(token):
                if token not in seen and token in heap:
                    seen.add(token)
                    pending.append(heap[token])
            case _:
                pending.extend(v for v in children(one) or () if not isinstance(v, Static))


@once_a_tree
def _read(node: ast.FunctionDef | ast.Lambda) -> frozenset[str]:
    """The names that a function's text reads."""
    return frozenset(x.id for x in all_nodes(node) if isinstance(x, ast.Name))


def shows(heap: Mapping[int, Value], value: Value, test: Callable[[Array], bool]) -> bool:
    """Whether some array that a value is, or holds, passes a test."""
    return any(isinstance(v, Array) and test(v) for v in reached(heap, value))


def is_memory_of(heap: Mapping[int, Value], value: Value, bases: Collection[str]) -> bool:
    """Whether a value is, or holds, an array in one of these buffers, or a list whose elements stand there."""
    return any(
        v.view and v.base in bases if isinstance(v, Array) else isinstance(v, GrowingList) and v.buffer in bases
        for v in reached(heap, value)
    )


def stands_in_list(value: Value, handed: set[int], appended: set[str]) -> bool:
    """Whether a list, an object or an array has been copied into a list: tokens and buffers of those that have been."""
    match value:
        case Object(token):
            return token in handed
        case GrowingList(buffer=buffer):
            return buffer in appended
        case Array() if lies(value):
            return value.base in appended
        case _:
            return False
