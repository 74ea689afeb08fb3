"""Functions of a script in parts: each part asks at each call whether compiled code takes it.

Of a function that is refused as a whole, what stands between the refused statements (docs/partial.md) becomes::

    if begin(x, n):
        if failed():
            raise error()
        y, total = result()
    else:
        try:
            ...  # the statements as they were
        finally:
            end()

So what a part does is done in Python, in the function's own frame, where compiled code does not take the call, and each
part is timed and decided by itself, as whole functions are. What was put in belongs to no line.
"""

from __future__ import annotations

import ast
import linecache
import types
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from transkern.dropin.declining import PYTHON
from transkern.dropin.functions import Place, Watched
from transkern.dropin.rewriting import (
    Site,
    answered,
    first_line,
    functions_in,
    mark_function,
    mark_of,
    marked_part,
    nests_of,
)  # fmt: skip
from transkern.frontend.sources.written import is_same_code, mangle
from transkern.parsing import parse
from transkern.partial import splitting
from transkern.partial.making import function_of, place_of
from transkern.standing_in import stands_in
from transkern.warned import unseen

_Key = tuple[Place, Place, tuple[str, ...], tuple[str, ...] | None]
"""Where a part begins and ends, what it needs, and what it binds."""


class Part(Watched):
    """A part of a function, which has its own times, and its own choice."""

    def __init__(self, parted: Parted, site: Site, function: types.FunctionType, brief: bool) -> None:
        super().__init__(parted.owner.watch, site, function.__code__, brief)
        self._parted, self._function = parted, function

    def note(self, args: tuple[Any, ...], keywords: dict[str, Any]) -> None:
        """Nobody asks for the types of parts."""

    def restore(self) -> None:
        """The function that it stands in has the code."""

    def _goes_in_parts(self, refused: Mapping[Place, str]) -> bool:
        self._parted.add(refused)
        return False

    def _leave(self, why: str) -> None:
        self.state, self.why = PYTHON, why
        self._parted.renew()


class Parted:
    """A function whose parts ask.

    Args:
        owner: what is known of it as a whole.
        function: it.
        refused: the statements that run in Python, and why.
    """

    def __init__(self, owner: Watched, function: types.FunctionType, refused: Mapping[Place, str]) -> None:
        self.owner, self.refused = owner, dict(refused)
        self._function, self._asking = function, function.__code__
        self._known: dict[_Key, Part] = {}
        self.parts: list[Part] = []  # those that the function has now, and that are not Python's

    def add(self, refused: Mapping[Place, str]) -> None:
        """More statements run in Python."""
        self.refused.update(refused)

    def renew(self) -> bool:
        """Gives the function code whose parts ask; its own where there are none to be made."""
        code = self._made()
        if code is None:
            self.owner.stays_whole()
            self._function.__code__ = self._asking if self.owner.watch.counts else self.owner.plain
            return False
        self._function.__code__ = code
        return True

    def all_parts(self) -> list[Part]:
        """Also those that the function no longer has."""
        return list(self._known.values())

    def _made(self) -> types.CodeType | None:
        with unseen():  # of what the text says, and what stands for questions
            return self._code()

    def _code(self) -> types.CodeType | None:
        site, lines = self.owner.site, linecache.getlines(self.owner.site.file)
        tree = parse("".join(lines), site.file)
        if not self._is_of(tree):
            return None
        found = functions_in(tree.body, "")
        node = next((f for path, f in found if path == site.name and first_line(f) == site.first), None)
        if node is None:
            return None
        mangle(node, site.name.split(".")[-2] if "." in site.name else "")
        statements = (s for s in ast.walk(node) if isinstance(s, ast.stmt))
        refused = [s for s in statements if place_of(s) in self.refused]
        made = splitting.split(node, refused, [self._function.__globals__])
        if made is None:
            return None
        stated = [line.rstrip("\n") for line in lines]
        named = {part.name: (part, self._part(part, stated)) for part in made.parts}
        self.parts = [one for _, one in named.values() if one.state is not PYTHON]
        if not self.parts:
            return None
        node.body = _Asking(named).block(made.node.body)
        given: dict[str, Watched] = {mark_of(k): one for k, (_, one) in enumerate(named.values())}
        if self.owner.watch.counts:
            mark = mark_of(len(given))
            given[mark] = self.owner
            mark_function(node, mark)
        code = _inside(compile(tree, site.file, "exec", dont_inherit=True), site)
        if code is None or code.co_freevars != self.owner.plain.co_freevars:
            return None
        code = answered(code, given)
        stands_in(code, self.owner.plain)
        return code

    def _is_of(self, tree: ast.Module) -> bool:
        """Whether the file is the one that the function was made of."""
        try:
            code = _inside(compile(tree, self.owner.site.file, "exec", dont_inherit=True), self.owner.site)
        except (SyntaxError, ValueError):
            return False
        return code is not None and is_same_code(code, self.owner.plain)

    def _part(self, part: splitting.Part, lines: list[str]) -> Part:
        """What a part asks: the same as before, if it was there before."""
        group = body_of(part)
        key = place_of(group[0]), place_of(group[-1]), tuple(a.arg for a in part.node.args.args), part.results
        if key not in self._known:
            owner, last = self.owner, group[-1].end_lineno or group[-1].lineno
            where = f"lines {group[0].lineno}-{last}" if last > group[0].lineno else f"line {last}"
            size = sum(1 for s in group for _ in ast.walk(s))
            site = Site(f"{owner.site.name}, {where}", owner.site.file, group[0].lineno, nests_of(group), size)
            function = function_of(part, self._function, owner.site.file, lines)
            self._known[key] = Part(self, site, function, part.brief)
        return self._known[key]


def body_of(part: splitting.Part) -> list[ast.stmt]:
    """The statements of a part, as the user wrote them."""
    return part.node.body[:-1] if part.results else part.node.body


class _Asking:
    """Blocks in which the calls of parts are questions, or the statements as they were."""

    def __init__(self, parts: Mapping[str, tuple[splitting.Part, Part]]) -> None:
        self._parts = parts
        self._numbers = {name: k for k, name in enumerate(parts)}

    def block(self, statements: list[ast.stmt]) -> list[ast.stmt]:
        return [one for s in statements for one in self._statement(s)]

    def _statement(self, s: ast.stmt) -> Iterator[ast.stmt]:
        called = s.value if isinstance(s, (ast.Assign, ast.Return, ast.Expr)) else None
        if isinstance(called, ast.Call) and isinstance(called.func, ast.Name) and called.func.id in self._parts:
            part, asks = self._parts[called.func.id]
            if asks.state is PYTHON:
                yield from body_of(part)
                return
            names = [a.arg for a in part.node.args.args]
            yield marked_part(mark_of(self._numbers[called.func.id]), names, _taking(s), body_of(part))
            return
        for name in ("body", "orelse"):
            if isinstance(s, (ast.If, ast.For, ast.While, ast.With)) and getattr(s, name, None):
                setattr(s, name, self.block(getattr(s, name)))
        yield s


def _taking(s: ast.stmt) -> Callable[[ast.Call], ast.stmt]:
    """A statement that takes what a part returns, without its place."""

    def take(call: ast.Call) -> ast.stmt:
        match s:
            case ast.Assign(targets=[ast.Tuple(elts=names)]):
                return ast.Assign([ast.Tuple([_stored(n) for n in names], ast.Store())], call)
            case ast.Assign(targets=[name]):
                return ast.Assign([_stored(name)], call)
            case ast.Return():
                return ast.Return(call)
        return ast.Expr(call)

    return take


def _stored(node: ast.expr) -> ast.expr:
    assert isinstance(node, ast.Name)
    return ast.Name(node.id, ast.Store())


def _inside(module: types.CodeType, site: Site) -> types.CodeType | None:
    """The code of the function at a site."""
    todo = [module]
    while todo:
        code = todo.pop()
        if code.co_qualname == site.name and code.co_firstlineno == site.first:
            return code
        todo += [c for c in code.co_consts if isinstance(c, types.CodeType)]
    return None
