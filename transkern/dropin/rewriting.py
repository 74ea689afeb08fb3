"""Modules whose functions ask, when they are called, whether compiled code takes the call.

A function of the module gets a few instructions around its body::

    def f(a, b):
        if unseen and begin(a, b):
            if failed():
                raise error()
            return result()
        try:
            ...  # the body as it was
        finally:
            if unseen:
                end()

`begin` and the others are constants of its code: no name of the user's is touched. The new instructions belong to no
line, so tracebacks, debuggers and coverage see the function as it was written; while one of these looks at calls, there
are none (`unseen.py`).
"""

from __future__ import annotations

import ast
import dis
import itertools
import types
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from transkern.dropin.unseen import Probe, itself, told_unless_seen
from transkern.parsing import SCOPES, own_nodes, parse
from transkern.standing_in import plain_code, stands_in
from transkern.warned import unseen

_MARK = "transkern: "
_NO_LINE, _LONG, _NO_COLUMNS = 15, 14, 13  # of the location table (CPython, Objects/locations.md)
_UNITS = 8  # most code units that an entry of it is for
_NOWHERE = 1  # the column of what is put in: it begins and ends there, as no token does
_BETWEEN = 2  # the same of what is put in before a part, which never has a line
_Place = tuple[int | None, int | None, int | None, int | None]
_NOT_THERE: _Place = (None, None, None, None)
_HANDLES = dis.opmap["PUSH_EXC_INFO"]

_LOOPS = (ast.For, ast.While, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_WORK = (ast.BinOp, ast.Call, ast.Compare, ast.Subscript, ast.AugAssign)
_LITTLE = 3
"""Operations below which no function is worth a call of compiled code."""

_HARMLESS = frozenset([
    "staticmethod", "classmethod", "property", "setter", "getter", "abstractmethod", "lru_cache", "cache",
    "cached_property", "wraps", "singledispatch",
])  # fmt: skip
"""Decorators that take a function for what it does, not for its bytecode."""

_READERS = frozenset([
    "transkern", "numba", "jax", "torch", "tensorflow", "cupyx", "cython", "pythran", "taichi", "triton",
])  # fmt: skip
"""Modules whose decorators and functions read the code or the text of functions that they are given."""


Head = tuple[str | int, ...]
"""The names and whole numbers in what says how often a loop runs."""


@dataclass(frozen=True, slots=True)
class Nest:
    """A loop: the heads of those that it stands in, outermost first, and its own; the operations of one iteration,
    without those of loops in it."""

    heads: tuple[Head, ...]
    work: int


@dataclass(frozen=True, slots=True)
class Site:
    """A function as it stands in a module. `nests`: its loops; `size`: the nodes of its syntax tree, and of those
    of functions of the module that it calls."""

    name: str
    file: str
    first: int
    nests: tuple[Nest, ...]
    size: int = 0


class Hooks(Protocol):
    """What a function asks; `made` is told of each function that is made at its site, and gives it back.
    `probe`: whether somebody looks."""

    probe: Probe

    def begin(self, *args: Any, **keywords: Any) -> bool: ...
    def failed(self) -> bool: ...
    def error(self) -> BaseException: ...
    def result(self) -> Any: ...
    def end(self) -> None: ...
    def made(self, function: Any) -> Any: ...


_Asked = TypeVar("_Asked", bound=Hooks)


def rewritten(text: str | bytes, file: str, hooks: Callable[[Site, types.CodeType], Hooks]) -> types.CodeType:
    """The code of a module in which functions ask. `hooks` gives for a site, and the function's own code, what asks.

    Raises:
        SyntaxError: as Python does.
    """
    plain = compile(text, file, "exec", dont_inherit=True)  # with the warnings that Python gives
    with unseen():
        tree = parse(text, file)
        sites = list(_marked(tree, file))
        if not sites:
            return plain
        asking = compile(tree, file, "exec", dont_inherit=True)
    return _Rebuilt(dict(sites), hooks).module(asking, plain)


def standing_in(
    text: str, file: str, hooks: Callable[[Site, types.CodeType], _Asked]
) -> dict[types.CodeType, tuple[types.CodeType, _Asked]]:
    """The codes of functions of a module, with those that ask in their places, and what these ask."""
    given: dict[types.CodeType, _Asked] = {}

    def noted(site: Site, plain: types.CodeType) -> _Asked:
        given[plain] = hooks(site, plain)
        return given[plain]

    with unseen():  # whoever has imported the module has seen them
        found = _all_inner(rewritten(text, file, noted))
    return {plain: (code, given[plain]) for code in found if (plain := plain_code(code)) in given}


def _all_inner(code: types.CodeType) -> list[types.CodeType]:
    return [one for inner in _inner(code) for one in (inner, *_all_inner(inner))]


# --- which functions


def _marked(tree: ast.Module, file: str) -> Iterator[tuple[str, Site]]:
    """The sites, in the order of their numbers, once their functions have the marks."""
    reads = bool(_READERS & set(_imported(tree)))
    values = _used_as_values(tree) if reads else frozenset()
    sizes = _sizes(tree)
    number = 0
    for path, f in functions_in(tree.body, ""):
        if not _is_candidate(f) or (reads and (f.name in values or not _is_plainly_decorated(f))):
            continue
        name = mark_of(number)
        number += 1
        site = Site(path, file, first_line(f), nests_of(f.body), _size(f.name, sizes))
        mark_function(f, name)
        yield name, site


def first_line(f: ast.FunctionDef) -> int:
    """The line where a function begins, with its decorators."""
    return min([f.lineno, *(d.lineno for d in f.decorator_list)])


_Sizes = dict[str, tuple[int, frozenset[str]]]
"""The nodes of functions by their names, and the names that they call."""


def _sizes(tree: ast.Module) -> _Sizes:
    found: _Sizes = {}
    for f in ast.walk(tree):
        if isinstance(f, ast.FunctionDef):
            nodes = list(ast.walk(f))
            found[f.name] = len(nodes), frozenset(_name(n.func) for n in nodes if isinstance(n, ast.Call))
    return found


def _size(name: str, sizes: _Sizes) -> int:
    """Of a function, and of all that it leads to."""
    todo, seen, found = [name], {name}, 0
    while todo:
        size, called = sizes[todo.pop()]
        found += size
        for other in called & sizes.keys() - seen:
            seen.add(other)
            todo.append(other)
    return found


def functions_in(body: list[ast.stmt], path: str) -> Iterator[tuple[str, ast.FunctionDef]]:
    """Functions of a module and of its classes; not those within functions, of which there is one for each call."""
    for statement in body:
        if isinstance(statement, ast.FunctionDef):
            yield path + statement.name, statement
        elif isinstance(statement, ast.ClassDef):
            yield from functions_in(statement.body, f"{path}{statement.name}.")
        elif not isinstance(statement, (ast.AsyncFunctionDef, ast.For, ast.While)):
            for part in ("body", "orelse", "finalbody"):
                yield from functions_in(getattr(statement, part, []), path)
            for handler in getattr(statement, "handlers", []):
                yield from functions_in(handler.body, path)


def _is_candidate(f: ast.FunctionDef) -> bool:
    own = own_nodes(f.body)
    if any(isinstance(n, (ast.Yield, ast.YieldFrom, ast.Await, ast.Nonlocal)) for n in own):
        return False
    if f.name.startswith("__") and f.name.endswith("__") and f.name != "__call__":
        return False
    if any(isinstance(n, ast.Call) and _is_itself(n.func, f) for n in own):
        return False  # how deep it calls itself, data decide
    work = sum(isinstance(n, _WORK) for n in own)
    return any(isinstance(n, _LOOPS) for n in own) or work >= _LITTLE


def _is_itself(called: ast.expr, f: ast.FunctionDef) -> bool:
    """Whether a call is of the function that it stands in, or of the method of the same object."""
    if isinstance(called, ast.Attribute):
        first = [*f.args.posonlyargs, *f.args.args][:1]
        return called.attr == f.name and bool(first) and _name(called.value) == first[0].arg
    return isinstance(called, ast.Name) and called.id == f.name


def _is_plainly_decorated(f: ast.FunctionDef) -> bool:
    return all(_name(d.func if isinstance(d, ast.Call) else d) in _HARMLESS for d in f.decorator_list)


def _name(node: ast.expr) -> str:
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""


def nests_of(body: Iterable[ast.stmt]) -> tuple[Nest, ...]:
    """The loops in statements."""
    return tuple(nest for s in body for nest in _nests(s, ()))


def _nests(node: ast.AST, around: tuple[Head, ...]) -> Iterator[Nest]:
    """The loops in a node, which stands in those `around`."""
    heads: list[ast.expr] = []
    if isinstance(node, ast.For):
        heads = [node.iter]
    elif isinstance(node, ast.While):
        heads = [node.test]
    elif isinstance(node, (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)):
        heads = [part.iter for part in node.generators]
    if heads:
        around = (*around, *map(_head, heads))
        once = (n for child in ast.iter_child_nodes(node) for n in _outside_loops(child))
        yield Nest(around, sum(isinstance(n, _WORK) for n in once))
    if not isinstance(node, SCOPES):
        for child in ast.iter_child_nodes(node):
            yield from _nests(child, around)


def _outside_loops(node: ast.AST) -> Iterator[ast.AST]:
    """The nodes in a node that no loop in it repeats."""
    if not isinstance(node, _LOOPS):
        yield node
        for child in ast.iter_child_nodes(node):
            yield from _outside_loops(child)


def _head(node: ast.expr) -> Head:
    names = dict.fromkeys(n.id for n in ast.walk(node) if isinstance(n, ast.Name))
    numbers = (n.value for n in ast.walk(node) if isinstance(n, ast.Constant) and type(n.value) is int)
    return (*names, *numbers)


def _imported(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module.partition(".")[0]


def _used_as_values(tree: ast.Module) -> frozenset[str]:
    """Names that are handed on, not called."""
    called = {id(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
    return frozenset(
        node.id if isinstance(node, ast.Name) else node.attr for node in ast.walk(tree)
        if isinstance(node, (ast.Name, ast.Attribute)) and id(node) not in called
    )  # fmt: skip


# --- what they get


def mark_function(f: ast.FunctionDef, mark: str) -> None:
    """The instructions around the body, and around all of them a place by which they are known."""
    documented = ast.get_docstring(f, clean=False) is not None
    a = f.args
    given: list[ast.expr] = [ast.Name(p.arg, ast.Load()) for p in (*a.posonlyargs, *a.args)]
    if a.vararg:
        given.append(ast.Starred(ast.Name(a.vararg.arg, ast.Load()), ast.Load()))
    keywords = [ast.keyword(p.arg, ast.Name(p.arg, ast.Load())) for p in a.kwonlyargs]
    if a.kwarg:
        keywords.append(ast.keyword(None, ast.Name(a.kwarg.arg, ast.Load())))
    ask = _asking(mark, given, keywords, ast.Return(_call(mark + "result")))
    whole = ast.Try(f.body[documented:], [], [], [_end(mark)])
    made = ast.IfExp(_unseen(mark), ast.Constant(mark + "made"), ast.Constant(mark + "itself"))
    new: list[ast.stmt | ast.expr] = [whole, ask, made]
    for one in new:
        _put_in(one, f.lineno, _NOWHERE)
    f.body[documented:] = [ask, whole]
    f.decorator_list.append(made)


def marked_part(mark: str, names: Iterable[str], take: Callable[[ast.Call], ast.stmt], body: list[ast.stmt]) -> ast.If:
    """The same for statements of a function: `names` are what they need, `take` makes of a call what takes their
    results."""
    whole = ast.Try(body, [], [], [_end(mark)])
    _put_in(whole, body[0].lineno, _NOWHERE if any(map(_returns, body)) else _BETWEEN)
    ask = _asking(mark, [ast.Name(name, ast.Load()) for name in names], [], take(_call(mark + "result")))
    ask.orelse = [whole]
    _put_in(ask, body[0].lineno, _BETWEEN)
    return ask


def _returns(s: ast.stmt) -> bool:
    return any(isinstance(x, ast.Return) for x in ast.walk(s))


def _asking(mark: str, given: list[ast.expr], keywords: list[ast.keyword], take: ast.stmt) -> ast.If:
    fail = ast.If(_call(mark + "failed"), [ast.Raise(_call(mark + "error"))], [])
    begin = ast.BoolOp(ast.And(), [_unseen(mark), _call(mark + "begin", given, keywords)])
    return ast.If(begin, [fail, take], [])


def _end(mark: str) -> ast.stmt:
    """The call of what is to be told; one path, so that each instruction has its place behind the user's."""
    told: ast.expr = ast.Constant(mark + "end")
    for probe in _probes(mark):
        told = ast.Subscript(told, ast.Compare(probe, [ast.IsNot()], [ast.Constant(None)]), ast.Load())
    return ast.Expr(ast.Call(told, [], []))


def _unseen(mark: str) -> ast.expr:
    """Whether neither a tracer nor a profiler is at work."""
    return ast.BoolOp(ast.And(), [ast.Compare(p, [ast.Is()], [ast.Constant(None)]) for p in _probes(mark)])


def _probes(mark: str) -> list[ast.expr]:
    return [ast.UnaryOp(op, ast.Constant(mark + "probe")) for op in (ast.USub(), ast.Invert())]


def _put_in(node: ast.stmt | ast.expr, line: int, column: int) -> None:
    """Nothing of the user's stands there: no token is empty, and what Python adds stands in column 0."""
    node.lineno, node.col_offset, node.end_lineno, node.end_col_offset = line, column, line, column
    ast.fix_missing_locations(node)


def _call(constant: str, args: list[ast.expr] | None = None, keywords: list[ast.keyword] | None = None) -> ast.Call:
    return ast.Call(ast.Constant(constant), args or [], keywords or [])


# --- codes


class _Rebuilt:
    """Codes with what they ask in the place of the marks."""

    def __init__(self, sites: Mapping[str, Site], hooks: Callable[[Site, types.CodeType], Hooks]) -> None:
        self._sites, self._hooks = sites, hooks
        self._given: dict[str, Hooks] = {}

    def module(self, asking: types.CodeType, plain: types.CodeType) -> types.CodeType:
        """`asking` with what it asks, or `plain`, the same module without, where they do not match."""
        found = dict(_beside(asking, plain))
        if len(found) != len(self._sites):
            return plain
        self._given = {mark: self._hooks(self._sites[mark], code) for mark, code in found.items()}
        return self._code(asking, plain)

    def _code(self, asking: types.CodeType, plain: types.CodeType) -> types.CodeType:
        inner = iter(_inner(plain))
        constants = tuple(
            self._code(c, next(inner)) if isinstance(c, types.CodeType) else self._constant(c) for c in asking.co_consts
        )
        made = asking.replace(co_consts=constants, co_linetable=_without_lines(asking))
        if _mark_in(asking):
            stands_in(made, plain)
        return made

    def _constant(self, value: Any) -> Any:
        return _answer(value, self._given)


def answered(code: types.CodeType, given: Mapping[str, Hooks]) -> types.CodeType:
    """A function's code, and those in it, with what they ask in the place of the marks."""
    constants = (answered(c, given) if isinstance(c, types.CodeType) else _answer(c, given) for c in code.co_consts)
    return code.replace(co_consts=tuple(constants), co_linetable=_without_lines(code))


def _answer(value: Any, given: Mapping[str, Hooks]) -> Any:
    if not (isinstance(value, str) and value.startswith(_MARK)):
        return value
    number, _, what = value.removeprefix(_MARK).partition(" ")
    if what == "itself":
        return itself
    found = getattr(given[f"{_MARK}{number} "], what)
    return told_unless_seen(found) if what == "end" else found


def mark_of(number: int) -> str:
    """The beginning of the constants that stand for what a function asks."""
    return f"{_MARK}{number} "


def _inner(code: types.CodeType) -> list[types.CodeType]:
    return [c for c in code.co_consts if isinstance(c, types.CodeType)]


def _mark_in(code: types.CodeType) -> str:
    """The mark of a function that asks."""
    marks = (c for c in code.co_consts if isinstance(c, str) and c.startswith(_MARK) and c.endswith(" begin"))
    return next(marks, "").removesuffix("begin")


def _beside(asking: types.CodeType, plain: types.CodeType) -> Iterator[tuple[str, types.CodeType]]:
    """The codes of functions that ask, as they are without."""
    if mark := _mark_in(asking):
        yield mark, plain
    one, two = _inner(asking), _inner(plain)
    if [c.co_name for c in one] == [c.co_name for c in two]:
        for a, b in zip(one, two, strict=True):
            yield from _beside(a, b)


def _without_lines(code: types.CodeType) -> bytes:
    """The location table in which what was put in belongs to no line, or, where the function returns, to the line that
    did so."""
    table, line = bytearray(), code.co_firstlineno
    for (first, last, left, right), group in itertools.groupby(_places(code)):
        count = sum(1 for _ in group)
        for taken in range(0, count, _UNITS):
            units = min(_UNITS, count - taken)
            if first is None:
                table.append(0x80 | _NO_LINE << 3 | units - 1)
                continue
            if last is None or left is None or right is None:
                table.append(0x80 | _NO_COLUMNS << 3 | units - 1)
                table += _signed(first - line)
            else:
                table.append(0x80 | _LONG << 3 | units - 1)
                table += _signed(first - line) + _unsigned(last - first) + _unsigned(left + 1) + _unsigned(right + 1)
            line = first
    return bytes(table)


def _places(code: types.CodeType) -> Iterator[_Place]:
    """Where each code unit stands: first and last line, first and last column."""
    begun, returns, last = False, True, _NOT_THERE
    own = False
    for place, operation in zip(code.co_positions(), code.co_code[::2], strict=True):
        if place[0] is not None and place[2] == place[3] == _BETWEEN:
            yield _NOT_THERE
        elif place[0] is not None and place[2] == place[3] == _NOWHERE:  # put in
            own = True
            returns = returns and operation != _HANDLES
            yield (last[0], None, None, None) if begun and returns else _NOT_THERE
        else:
            begun = begun or own
            returns, last = True, place
            yield place


def _unsigned(number: int) -> bytes:
    """Six bits a byte, the lowest first; the seventh says that more follow."""
    made = bytearray()
    while number >= 64:
        made.append(64 | number & 63)
        number >>= 6
    made.append(number)
    return bytes(made)


def _signed(number: int) -> bytes:
    return _unsigned(-number << 1 | 1 if number < 0 else number << 1)
