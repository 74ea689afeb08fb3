"""Generators that a loop uses up, written out in the loop's place:

    def pairs(n):                    for i, j in pairs(m):          n_of_pairs = m
        for i in range(n):               total += x[i, j]     ->    for i_of_pairs in range(n_of_pairs):
            yield i, i + 1                                              i, j = i_of_pairs, i_of_pairs + 1
                                                                        total += x[i, j]

What comes before and after a `yield` runs where it runs in Python: between the iterations of the loop.
``list(pairs(m))`` and comprehensions over a generator are such loops, which append. The generator must be known by its
name. A loop over a generator expression, `map` or `filter` is written out in the same way: its elements are made one by
one, so that they are made of what the loop's body has left.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from transkern.frontend.syntax.desugar import Rename, fresh_name, listed, placed
from transkern.parsing import all_nodes, child_nodes, once_a_tree, own_nodes

Resolve: TypeAlias = Callable[[str], ast.FunctionDef | None]
"""The function of a module that a name means, if its own free names mean there what they mean here."""

_WRITTEN_OUT = 8  # a generator in a generator, and so on
_YIELDS = 4  # as often is the loop's body written out
_PURE = frozenset([
    "abs", "enumerate", "float", "int", "len", "list", "max", "min", "np", "math", "print", "range", "set", "sorted",
    "str", "sum", "tuple", "zip",
])  # fmt: skip
"""What may be called in a statement before a generator without telling whether it has begun."""
_OF_LISTS = frozenset(["append", "appendleft", "add", "extend", "update"])
"""Methods that a container with a name has before a generator begins as behind it."""


@once_a_tree
def is_generator(node: ast.AST) -> bool:
    return isinstance(node, ast.FunctionDef) and any(isinstance(x, (ast.Yield, ast.YieldFrom)) for x in _own(node))


_WRITTEN = "_transkern_generators"


def written_out(
    node: ast.FunctionDef | ast.Lambda, resolve: Resolve, is_pythons: Callable[[str], bool]
) -> ast.FunctionDef | ast.Lambda:
    """The function with the generators that its loops use up in their places; itself where there are none. `is_pythons`
    tells whether a name means Python's own function."""
    if isinstance(node, ast.Lambda):
        return node
    if not hasattr(node, _WRITTEN):  # the same function twice must be the same tree twice
        setattr(node, _WRITTEN, _written_out(node, resolve, is_pythons))
    return getattr(node, _WRITTEN)  # type: ignore[no-any-return]


def _written_out(node: ast.FunctionDef, resolve: Resolve, is_pythons: Callable[[str], bool]) -> ast.FunctionDef:
    inner = {s.name: s for s in _own(node) if isinstance(s, ast.FunctionDef)}
    bound = _bound(node)

    def found(name: str) -> ast.FunctionDef | None:
        if name in inner:
            return inner[name] if _is_plain(inner[name]) and name not in bound else None
        made = None if name in bound or name in _PURE else resolve(name)
        if made is None or not _is_plain(made) or _free(made) & (bound | inner.keys()):
            return None
        return made

    def python(name: str) -> bool:
        return name not in bound and name not in inner and is_pythons(name)

    calls = {x.func.id for x in _own(node) if isinstance(x, ast.Call) and isinstance(x.func, ast.Name)}
    loops = [x for x in _own(node) if isinstance(x, ast.For) and _made_one_by_one(x.iter, python) is not None]
    if not loops and not any(found(name) for name in calls):
        return node
    changed = copy.deepcopy(node)
    names = {x.id for x in all_nodes(node) if isinstance(x, ast.Name)} | bound
    return _Loops(found, python, names).visit(changed)  # type: ignore[no-any-return]


def _made_one_by_one(node: ast.expr, python: Callable[[str], bool]) -> ast.expr | None:
    """The generator expression, or the call of `map` or `filter`, that a loop goes over, perhaps numbered."""
    match node:
        case ast.GeneratorExp():
            return None if any(isinstance(x, ast.Lambda) for x in all_nodes(node)) else node
        case ast.Call(ast.Name("map"), [_, _, *_] as args, []) | ast.Call(ast.Name("filter"), [_, _] as args, []):
            starred = any(isinstance(a, ast.Starred) for a in args)
            several = len(args) > 2 and not python("zip")
            return node if python(node.func.id) and not starred and not several else None  # type: ignore[attr-defined]
        case ast.Call(ast.Name("enumerate"), [inner], []) if python("enumerate"):
            return None if isinstance(inner, ast.Call) and inner.func == node.func else _made_one_by_one(inner, python)
        case _:
            return None


def _is_plain(node: ast.FunctionDef) -> bool:
    """Whether it is a generator that can be written out: no functions in it, and not itself."""
    names = {x.id for x in all_nodes(node) if isinstance(x, ast.Name)}
    special = (ast.FunctionDef, ast.Lambda, ast.ClassDef, ast.Global, ast.Nonlocal)
    return is_generator(node) and node.name not in names and not any(isinstance(x, special) for x in _own(node))


def _is_quiet(node: ast.FunctionDef) -> bool:
    """Whether a generator changes nothing that others see."""
    for x in all_nodes(node):
        if isinstance(x, (ast.Attribute, ast.Subscript)) and not isinstance(x.ctx, ast.Load):
            return False
        if isinstance(x, ast.AugAssign) or (isinstance(x, ast.Call) and not _is_pure(x)):
            return False
    return True


def _is_pure(node: ast.Call) -> bool:
    func = node.func
    while isinstance(func, ast.Attribute):
        func = func.value
    return isinstance(func, ast.Name) and func.id in _PURE


def _own(node: ast.AST) -> list[ast.AST]:
    """What stands in a function, without what stands in functions inside it."""
    return own_nodes(child_nodes(node))


def _bound(node: ast.FunctionDef) -> set[str]:
    a = node.args
    names = {x.arg for x in (*a.posonlyargs, *a.args, *a.kwonlyargs, a.vararg, a.kwarg) if x is not None}
    return names | {x.id for x in _own(node) if isinstance(x, ast.Name) and isinstance(x.ctx, ast.Store)}


def _free(node: ast.FunctionDef) -> set[str]:
    own = _bound(node) | {x.name for x in _own(node) if isinstance(x, ast.FunctionDef)}
    return {x.id for x in all_nodes(node) if isinstance(x, ast.Name)} - own


class _Loops(ast.NodeTransformer):
    def __init__(self, found: Resolve, python: Callable[[str], bool], names: set[str]) -> None:
        self.found, self.python, self.names, self.entered, self.depth = found, python, names, False, 0

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        if self.entered:
            return node
        self.entered = True
        return self.generic_visit(node)

    def visit_Lambda(self, node: ast.Lambda) -> ast.AST:
        return node

    def visit_For(self, node: ast.For) -> ast.AST | list[ast.stmt]:
        made = None if node.orelse else self._loop(node)
        if made is None:
            before = _Lists(self)
            node.iter = before.visit(node.iter)
            loops = [x for s in before.loops for x in listed(self.visit(s))]
            self.generic_visit(node)
            return [*loops, node]
        if self.depth >= _WRITTEN_OUT:
            return node
        self.depth += 1
        block = ast.If(ast.Constant(True), made, [])
        visited = self.generic_visit(block)
        self.depth -= 1
        assert isinstance(visited, ast.If)
        return visited.body

    def _statement(self, node: ast.stmt) -> ast.AST | list[ast.stmt]:
        """A statement behind the loops that make the lists which it needs of generators."""
        before = _Lists(self)
        changed = before.visit(node)
        loops = [x for s in before.loops for x in listed(self.visit(s))]
        return [*loops, changed] if loops else node

    visit_Assign = visit_AugAssign = visit_Return = visit_Expr = _statement

    def fresh(self, name: str) -> str:
        return fresh_name(name, self.names)

    def generator(self, node: ast.expr) -> ast.FunctionDef | None:
        match node:
            case ast.Call(ast.Name(name)):
                return self.found(name)
            case _:
                return None

    def _loop(self, node: ast.For) -> list[ast.stmt] | None:
        of, first = node.iter, None
        match of:
            case ast.Call(ast.Name("enumerate"), [inner], []):
                of, first = inner, self.fresh("count")
            case _:
                pass
        if _made_one_by_one(of, self.python) is of:
            return self._written(node, self._one_by_one(of), first)
        function = self.generator(of)
        if function is None or not isinstance(of, ast.Call):
            return None
        renamed = {name: f"{name}_of_{function.name}" for name in _bound(function)}
        renamed = {name: self.fresh(new) for name, new in renamed.items()}
        before = _parameters(function, of, renamed)
        if before is None:
            return None
        body = [Rename(renamed).visit(copy.deepcopy(s)) for s in function.body]
        return self._written(node, [*before, *body], first, f"{function.name}_ended")

    def _written(
        self, node: ast.For, body: Sequence[ast.stmt], first: str | None, ended: str = "items_ended"
    ) -> list[ast.stmt] | None:
        """The body of a generator with that of a loop where it yields; `first` is the name of a count."""
        ends, before = self.fresh(ended), list[ast.stmt]()
        yields = _Yields(node.target, node.body, ends, first, self.fresh)
        made = yields.block(body, None)
        if yields.problem or yields.count > _YIELDS:
            return None
        if first is not None:
            before.append(_assign(first, ast.Constant(0)))
        if yields.ending:
            before.append(_assign(ends, ast.Constant(False)))
        return [placed(s, node) for s in (*before, *made)]

    def _one_by_one(self, node: ast.expr) -> list[ast.stmt]:
        """What yields the elements of a generator expression, of `map` or of `filter`."""
        if isinstance(node, ast.GeneratorExp):
            names = {x.id for g in node.generators for x in all_nodes(g.target) if isinstance(x, ast.Name)}
            rename = Rename({name: self.fresh(f"{name}_here") for name in sorted(names)})
            parts = copy.deepcopy(node)
            made: list[ast.stmt] = [ast.Expr(ast.Yield(rename.visit(parts.elt)))]
            for k, part in reversed(list(enumerate(parts.generators))):
                for test in reversed(part.ifs):
                    made = [ast.If(rename.visit(test), made, [])]
                source = rename.visit(part.iter) if k else part.iter
                made = [ast.For(rename.visit(part.target), source, made, [])]
            return made
        assert isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
        function, *sources = node.args
        held = self.fresh("mapped_by")
        items = [self.fresh("mapped") for _ in sources]
        given: list[ast.expr] = [ast.Name(name, ast.Load()) for name in items]
        stores: list[ast.expr] = [ast.Name(name, ast.Store()) for name in items]
        made = [ast.Expr(ast.Yield(ast.Call(ast.Name(held, ast.Load()), given, [])))]
        if node.func.id == "filter":
            is_none = isinstance(function, ast.Constant) and function.value is None
            test = given[0] if is_none else ast.Call(ast.Name(held, ast.Load()), given, [])
            made = [ast.If(test, [ast.Expr(ast.Yield(given[0]))], [])]
        several = len(sources) > 1
        source = ast.Call(ast.Name("zip", ast.Load()), sources, []) if several else sources[0]
        loop = ast.For(ast.Tuple(stores, ast.Store()) if several else stores[0], source, made, [])
        return [_assign(held, function), loop]


class _Lists(ast.NodeTransformer):
    """Takes the lists of generators out of a statement, where nothing that runs before them could tell."""

    def __init__(self, owner: _Loops) -> None:
        self.owner, self.loops = owner, list[ast.stmt]()
        self.called = self.looked = False  # what runs before: a function, a look into an object

    def _of(self, node: ast.expr) -> bool:
        """Whether `node` is a generator that can be used up before the statement."""
        function = None if self.called else self.owner.generator(node)
        return function is not None and (not self.looked or _is_quiet(function))

    def visit_Lambda(self, node: ast.AST) -> ast.AST:
        return node

    visit_IfExp = visit_BoolOp = visit_DictComp = visit_SetComp = visit_FunctionDef = visit_Lambda

    def visit_Call(self, node: ast.Call) -> ast.AST:
        match node:
            case ast.Call(ast.Name("list" | "tuple" | "sum" | "sorted" | "max" | "min"), [one], keywords):
                if self._of(one):
                    value = ast.Name(self.owner.fresh("value"), ast.Load())
                    made = self._list(value.id, one, value, [], node)
                    return ast.copy_location(ast.Call(node.func, [made], keywords), node)
            case ast.Call(ast.Name("any" | "all" | "next" | "zip")):
                self.called = True  # these stop early
                return node
            case ast.Call(ast.Attribute(ast.Name(), name), [one], []) if name in _OF_LISTS:
                made = self.visit(one)  # the same method, whatever a generator does
                self.called = True
                return ast.copy_location(ast.Call(node.func, [made], []), node)
            case _:
                pass
        changed = self.generic_visit(node)
        self.called = self.called or not _is_pure(node)
        return changed

    def visit_Starred(self, node: ast.Starred) -> ast.AST:
        if not self._of(node.value):
            return self.generic_visit(node)
        value = ast.Name(self.owner.fresh("value"), ast.Load())
        return ast.copy_location(ast.Starred(self._list(value.id, node.value, value, [], node), node.ctx), node)

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        self.looked = self.looked or not (isinstance(node.value, ast.Name) and node.value.id in _PURE)
        return self.generic_visit(node)

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        self.looked = True
        return self.generic_visit(node)

    def _comprehension(self, node: ast.ListComp | ast.GeneratorExp) -> ast.AST:
        first = node.generators[0]
        if len(node.generators) > 1 or not self._of(first.iter):
            return node
        names = {x.id for x in all_nodes(first.target) if isinstance(x, ast.Name)}
        own = {name: self.owner.fresh(f"{name}_here") for name in sorted(names)}
        rename = Rename(own)
        parts = [copy.deepcopy(e) for e in (first.target, node.elt, *first.ifs)]
        target, value, *ifs = (rename.visit(e) for e in parts)
        return self._list(target, first.iter, value, ifs, node)

    visit_ListComp = visit_GeneratorExp = _comprehension

    def _list(
        self, target: str | ast.expr, of: ast.expr, value: ast.expr, ifs: Sequence[ast.expr], at: ast.AST
    ) -> ast.expr:
        name = self.owner.fresh("values")
        add = ast.Call(ast.Attribute(ast.Name(name, ast.Load()), "append", ast.Load()), [value], [])
        body: list[ast.stmt] = [ast.Expr(add)]
        for condition in reversed(ifs):
            body = [ast.If(condition, body, [])]
        to = ast.Name(target, ast.Store()) if isinstance(target, str) else target
        for s in (_assign(name, ast.List([], ast.Load())), ast.For(to, of, body, [])):
            self.loops.append(placed(s, at))
        return ast.copy_location(ast.Name(name, ast.Load()), at)


def _parameters(function: ast.FunctionDef, call: ast.Call, renamed: Mapping[str, str]) -> list[ast.stmt] | None:
    """Assignments of the arguments of a call; None where that is not how they are told."""
    a = function.args
    names = [x.arg for x in (*a.posonlyargs, *a.args)]
    starred = any(isinstance(x, ast.Starred) for x in call.args) or any(k.arg is None for k in call.keywords)
    if a.vararg or a.kwarg or a.kwonlyargs or starred or len(call.args) > len(names) or function.decorator_list:
        return None
    given: dict[str, ast.expr] = dict(zip(names, call.args, strict=False))
    given |= {str(k.arg): k.value for k in call.keywords}
    for name, default in zip(reversed(names), reversed(a.defaults), strict=False):
        if name not in given and isinstance(default, ast.Constant):
            given[name] = default
    if given.keys() != set(names):
        return None
    return [_assign(renamed[name], given[name]) for name in names]


def _assign(name: str, value: ast.expr) -> ast.stmt:
    return ast.Assign([ast.Name(name, ast.Store())], value)


class _Yields:
    """Puts a loop's body where a generator yields. `ends` is the name that tells that the generator, or the loop, is to
    go no further."""

    def __init__(
        self, target: ast.expr, body: Sequence[ast.stmt], ends: str, first: str | None, fresh: Callable[[str], str]
    ) -> None:
        self.target, self.body, self.ends, self.first, self.fresh = target, body, ends, first, fresh
        self.count, self.ending, self.problem = 0, False, False

    def block(self, statements: Sequence[ast.stmt], loop: ast.For | ast.While | None) -> list[ast.stmt]:
        """The statements of the generator, in `loop`."""
        made: list[ast.stmt] = []
        for position, s in enumerate(statements):
            last = position == len(statements) - 1
            if isinstance(s, ast.FunctionDef):
                self.problem = True  # its names would need names of their own
            before, self.ending = self.ending, False
            made += self.statement(s, loop, last and loop is not None and loop.body[-1] is s)
            ended, self.ending = self.ending, self.ending or before
            if not ended:
                continue
            ends = ast.Name(self.ends, ast.Load())
            if loop is not None:
                made.append(ast.If(ends, [ast.Break()], []))
            elif not last:
                rest = self.block(statements[position + 1 :], loop)
                return [*made, ast.If(ast.UnaryOp(ast.Not(), ends), rest, [])]
        return made

    def statement(self, s: ast.stmt, loop: ast.For | ast.While | None, last: bool) -> list[ast.stmt]:
        match s:
            case ast.Expr(ast.Yield(value)):
                return self.handed(value or ast.Constant(None), loop, last)
            case ast.Expr(ast.YieldFrom(value)):
                name = self.fresh("part")
                inner = ast.For(
                    ast.Name(name, ast.Store()), value, [ast.Expr(ast.Yield(ast.Name(name, ast.Load())))], []
                )
                return self.statement(ast.copy_location(inner, s), loop, last)
            case ast.Return():
                self.ending = True
                end = _assign(self.ends, ast.Constant(True))
                return [end] if loop is None else [end, ast.Break()]
            case ast.If(test, body, orelse):
                return [ast.copy_location(ast.If(test, self.block(body, loop), self.block(orelse, loop)), s)]
            case ast.For(target, of, body, []):
                return [ast.copy_location(ast.For(target, of, self.block(body, s), []), s)]
            case ast.While(test, body, []):
                return [ast.copy_location(ast.While(test, self.block(body, s), []), s)]
            case _:
                if any(isinstance(x, (ast.Yield, ast.YieldFrom, ast.Return)) for x in all_nodes(s)):
                    self.problem = True
                return [s]

    def handed(self, value: ast.expr, loop: ast.For | ast.While | None, last: bool) -> list[ast.stmt]:
        """``yield value``: the loop's body, with its `break` and `continue`."""
        self.count += 1
        target = copy.deepcopy(self.target)
        made: list[ast.stmt] = []
        if self.first is not None:
            count = ast.Name(self.first, ast.Load())
            made.append(ast.Assign([target], ast.Tuple([count, value], ast.Load())))
            made.append(_assign(self.first, ast.BinOp(count, ast.Add(), ast.Constant(1))))
        else:
            made.append(ast.Assign([target], value))
        body = [copy.deepcopy(s) for s in self.body]
        breaks = _has(body, ast.Break)
        skips = _has(body, ast.Continue) and not last
        alone = skips or (breaks and loop is None)  # in a loop of its own that runs once
        jumps = _Jumps(self.ends, alone)
        body = [x for s in body for x in listed(jumps.visit(s))]
        self.ending = self.ending or breaks
        if not alone:
            return [*made, *body]
        once = ast.Call(ast.Name("range", ast.Load()), [ast.Constant(1)], [])
        return [*made, ast.For(ast.Name(self.fresh("once"), ast.Store()), once, body, [])]


def _has(body: Sequence[ast.stmt], kind: type[ast.stmt]) -> bool:
    """Whether `break` or `continue` of the loop around `body` stands in it."""
    for s in body:
        if isinstance(s, kind):
            return True
        if isinstance(s, (ast.For, ast.While, ast.FunctionDef)):
            continue
        if any(_has(getattr(s, name, []), kind) for name in ("body", "orelse", "finalbody")):
            return True
    return False


class _Jumps(ast.NodeTransformer):
    """`break` says so to the generator; `continue` leaves a loop that runs once."""

    def __init__(self, ends: str, alone: bool) -> None:
        self.ends, self.alone = ends, alone

    def visit_For(self, node: ast.AST) -> ast.AST:
        return node

    visit_While = visit_FunctionDef = visit_For

    def visit_Break(self, node: ast.Break) -> list[ast.stmt]:
        return [_assign(self.ends, ast.Constant(True)), node]

    def visit_Continue(self, node: ast.Continue) -> ast.stmt:
        return ast.copy_location(ast.Break(), node) if self.alone else node
