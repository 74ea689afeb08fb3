"""Texts that a function puts together piece by piece, as lists of their characters:

    out = ""                       out = []
    for c in text:                 for c in text:
        out += c + str(n)    ->        for one in characters_of(c): out.append(one)
    return out                         for one in characters_of(str(n)): out.append(one)
                                   return "".join(out)

What is put before a text, ``out = c + out``, is inserted into the list. The function is written so where it cannot be
translated as it stands: where all pieces are known, it needs no lists.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Collection
from weakref import WeakKeyDictionary, WeakSet

from transkern.frontend.syntax.desugar import listed, load, placed
from transkern.frontend.syntax.liveness import captured_names
from transkern.frontend.syntax.syntax import parameter_names
from transkern.frontend.values.values import Known, Value
from transkern.parsing import once_a_tree, own_nodes

_CHARACTERS, _ONE, _REVERSED = "characters-of", "one-character", "reversed-list"
CHARACTERS = "transkern.characters"
NAMES: dict[str, Value] = {_CHARACTERS: Known(CHARACTERS), _REVERSED: Known("builtins.reversed")}
"""What a name means that is made here, beside the user's."""

_made: WeakKeyDictionary[ast.FunctionDef, dict[frozenset[str], ast.FunctionDef]] = WeakKeyDictionary()
_changed: WeakSet[ast.FunctionDef] = WeakSet()


def names(node: ast.FunctionDef | ast.Lambda, known: Collection[str] = ()) -> frozenset[str]:
    """The names of texts that the function makes longer: of those that begin as a text in quotes, and those that are
    `known` to be texts."""
    if isinstance(node, ast.Lambda):
        return frozenset()
    begun, longer = _names(node)
    return (begun | frozenset(known)) & longer


@once_a_tree
def _names(node: ast.FunctionDef) -> tuple[frozenset[str], frozenset[str]]:
    """The names that begin as texts in quotes, and those of what is made longer and may be lists."""
    own = own_nodes(node.body)
    pairs = [pair for x in own for pair in _singly(x)]
    augmented = [x.target for x in own if isinstance(x, ast.AugAssign) and isinstance(x.target, ast.Name)]
    begun = {t.id for t, value in pairs if isinstance(value, ast.Constant) and isinstance(value.value, str)}
    longer = {t.id for t, value in pairs if _is_longer(t.id, value)} | {t.id for t in augmented}
    added = [x.target for x in own if isinstance(x, ast.AugAssign) and isinstance(x.op, ast.Add)]
    bound = {*(id(t) for t, _ in pairs), *map(id, added)}
    stored = {x.id for x in own if isinstance(x, ast.Name) and isinstance(x.ctx, ast.Store) and id(x) not in bound}
    captured, tried = captured_names_in(node), any(isinstance(x, ast.Try) for x in own)
    together = {t.id for x in own for t in _seen_together(_singly(x), captured, tried)}
    return frozenset(begun), frozenset(longer - captured - set(parameter_names(node)) - stored - together)


def captured_names_in(node: ast.FunctionDef) -> frozenset[str]:
    return frozenset().union(*map(captured_names, node.body))


def _is_longer(name: str, value: ast.expr) -> bool:
    parts = _parts(value)
    return len(parts) > 1 and any(isinstance(p, ast.Name) and p.id == name for p in parts)


def _singly(x: ast.AST) -> list[tuple[ast.Name, ast.expr]]:
    """The names that an assignment binds and the values, where it may as well be one statement for each:
    ``a, b = "", ""``, ``a = b = ""``, ``a, b = c + a, "-" + b``."""
    match x:
        case ast.Assign([ast.Tuple(targets)], ast.Tuple(values)) if len(targets) == len(values):
            pairs = list(zip(targets, values, strict=True))
        case ast.Assign(targets, value) if len(targets) == 1 or isinstance(value, ast.Constant):
            pairs = [(target, value) for target in targets]
        case _:
            return []
    plain = [(t, v) for t, v in pairs if isinstance(t, ast.Name) and not isinstance(v, ast.Starred)]
    earlier: set[str] = set()
    for target, value in plain:
        if _reads(value, earlier):
            return []
        earlier.add(target.id)
    return plain if len(plain) == len(pairs) else []


def _seen_together(
    pairs: list[tuple[ast.Name, ast.expr]], captured: frozenset[str], tried: bool
) -> list[ast.Name]:  # fmt: skip
    """The names of one statement of which a handler, or a function that one of its values calls, may see that some have
    got their values and others not."""
    names = [target for target, _ in pairs]
    return names if len(names) > 1 and (tried or any(t.id in captured for t in names)) else []


def _reads(value: ast.expr, names: set[str]) -> bool:
    return any(isinstance(x, ast.Name) and x.id in names for x in ast.walk(value))


def as_lists(node: ast.FunctionDef, known: Collection[str] = ()) -> ast.FunctionDef:
    """The function with such texts as lists. The same function twice is the same tree twice."""
    if node in _changed:
        return node
    found = names(node, known)
    if found not in _made.setdefault(node, {}):
        texts = _Texts(found)
        body = [made for s in copy.deepcopy(node.body) for made in listed(texts.visit(s))]
        changed = ast.FunctionDef(node.name, node.args, body, node.decorator_list, node.returns)
        _made[node][found] = ast.copy_location(changed, node)
        _changed.add(changed)
    return _made[node][found]


class _Texts(ast.NodeTransformer):
    def __init__(self, texts: frozenset[str]) -> None:
        self.texts = texts

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        return node

    def visit_Name(self, node: ast.Name) -> ast.AST:
        if node.id not in self.texts or not isinstance(node.ctx, ast.Load):
            return node
        join = ast.Attribute(ast.Constant(""), "join", ast.Load())
        return _at(ast.Call(join, [load(_list(node.id))], []), node)

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AST | list[ast.stmt]:
        if isinstance(node.target, ast.Name) and node.target.id in self.texts:
            return self._appended(node.target.id, _parts(node.value), node)
        return self.generic_visit(node)

    def visit_Assign(self, node: ast.Assign) -> ast.AST | list[ast.stmt]:
        pairs = _singly(node)
        if len(pairs) > 1 and any(target.id in self.texts for target, _ in pairs):
            each = (self.visit(placed(ast.Assign([target], value), node)) for target, value in pairs)
            return [made for one in each for made in listed(one)]
        target = node.targets[0]
        if not isinstance(target, ast.Name) or target.id not in self.texts:
            return self.generic_visit(node)
        parts, name = _parts(node.value), target.id
        reads = [_reads(p, {name}) for p in parts]
        if sum(reads) == 1 and isinstance(parts[here := reads.index(True)], ast.Name):
            return [*self._put_before(name, parts[:here], node), *self._appended(name, parts[here + 1 :], node)]
        if isinstance(node.value, ast.Constant):
            text = ast.List([ast.Constant(c) for c in str(node.value.value)], ast.Load())
            return _named(_list(name), text, node)
        made = f"new-{name}"
        return [*self._fresh(made, [node.value], node), _named(_list(name), load(_list(made)), node)]

    def _fresh(self, name: str, parts: list[ast.expr], at: ast.stmt) -> list[ast.stmt]:
        """A new list for a name, of the characters of some texts."""
        return [_named(_list(name), ast.List([], ast.Load()), at), *self._appended(name, parts, at)]

    def _put_before(self, name: str, parts: list[ast.expr], at: ast.stmt) -> list[ast.stmt]:
        """The characters of some texts before those that the list has, one by one."""
        if not parts:
            return []
        before = f"before-{name}"
        insert = ast.Attribute(load(_list(name)), "insert", ast.Load())
        put = ast.Expr(ast.Call(insert, [ast.Constant(0), load(_ONE)], []))
        backwards = ast.Call(load(_REVERSED), [load(_list(before))], [])
        each = placed(ast.For(ast.Name(_ONE, ast.Store()), backwards, [put], []), at)
        return [*self._fresh(before, parts, at), each]

    def _appended(self, name: str, parts: list[ast.expr], at: ast.stmt) -> list[ast.stmt]:
        """The characters of some texts, one by one."""
        append = ast.Attribute(load(_list(name)), "append", ast.Load())
        return self._each(parts, [ast.Expr(ast.Call(append, [load(_ONE)], []))], at)

    def _each(self, parts: list[ast.expr], body: list[ast.stmt], at: ast.stmt) -> list[ast.stmt]:
        """Statements for each character of some texts."""
        texts = [ast.Call(load(_CHARACTERS), [self.visit(p)], []) for p in parts]
        return [placed(ast.For(ast.Name(_ONE, ast.Store()), t, copy.deepcopy(body), []), at) for t in texts]


def _parts(value: ast.expr) -> list[ast.expr]:
    """What stands between the ``+`` of a sum."""
    if isinstance(value, ast.BinOp) and isinstance(value.op, ast.Add):
        return [*_parts(value.left), *_parts(value.right)]
    return [value]


def _list(name: str) -> str:
    return f"{name}-characters"


def _named(name: str, value: ast.expr, at: ast.stmt) -> ast.stmt:
    return placed(ast.Assign([ast.Name(name, ast.Store())], value), at)


def _at(node: ast.expr, at: ast.AST) -> ast.expr:
    return placed(ast.Expr(node), at).value
