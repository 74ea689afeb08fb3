"""Texts that a function puts together piece by piece, as lists of their characters:

    out = ""                       out = []
    for c in text:                 for c in text:
        out += c + str(n)    ->        for one in characters_of(c): out.append(one)
    return out                         for one in characters_of(str(n)): out.append(one)
                                   return "".join(out)

The function is written so where it cannot be translated as it stands: where all pieces are known, it needs no lists.
"""

from __future__ import annotations

import ast
import copy
from weakref import WeakKeyDictionary

from transkern.frontend.syntax.desugar import load, placed
from transkern.frontend.syntax.liveness import captured_names
from transkern.frontend.syntax.syntax import parameter_names
from transkern.frontend.values.values import Known, Value
from transkern.parsing import all_nodes, own_nodes

_CHARACTERS, _ONE = "characters-of", "one-character"
CHARACTERS = "transkern.characters"
NAMES: dict[str, Value] = {_CHARACTERS: Known(CHARACTERS)}
"""What a name means that is made here, beside the user's."""

_made: WeakKeyDictionary[ast.FunctionDef, ast.FunctionDef] = WeakKeyDictionary()


def names(node: ast.FunctionDef | ast.Lambda) -> set[str]:
    """The names of texts that the function makes longer."""
    if isinstance(node, ast.Lambda):
        return set()
    own = own_nodes(node.body)
    begun = {
        t.id for x in own if isinstance(x, ast.Assign) and isinstance(x.value, ast.Constant)
        if isinstance(x.value.value, str) for t in x.targets if isinstance(t, ast.Name)
    }  # fmt: skip
    longer = {x.target.id for x in own if isinstance(x, ast.AugAssign) and isinstance(x.target, ast.Name)}
    longer |= {x.targets[0].id for x in own if isinstance(x, ast.Assign) and _is_longer(x)}  # type: ignore[attr-defined]
    bound = {id(target) for x in own for target in _bound(x)}
    stored = {x.id for x in own if isinstance(x, ast.Name) and isinstance(x.ctx, ast.Store) and id(x) not in bound}
    return (begun & longer) - captured_names_in(node) - set(parameter_names(node)) - stored


def captured_names_in(node: ast.FunctionDef) -> frozenset[str]:
    return frozenset().union(*map(captured_names, node.body))


def _is_longer(x: ast.Assign) -> bool:
    match x:
        case ast.Assign([ast.Name(name)], ast.BinOp(op=ast.Add()) as value):
            parts = _parts(value)
            return any(isinstance(p, ast.Name) and p.id == name for p in (parts[0], parts[-1]))
        case _:
            return False


def _bound(x: ast.AST) -> list[ast.expr]:
    """The only target of an assignment."""
    match x:
        case ast.Assign([target]) | ast.AugAssign(target, ast.Add()):
            return [target]
        case _:
            return []


def as_lists(node: ast.FunctionDef) -> ast.FunctionDef:
    """The function with such texts as lists. The same function twice is the same tree twice."""
    if node not in _made:
        texts = _Texts(names(node))
        body = [made for s in copy.deepcopy(node.body) for made in _listed(texts.visit(s))]
        changed = ast.FunctionDef(node.name, node.args, body, node.decorator_list, node.returns)
        _made[node] = ast.copy_location(changed, node)
        _made[changed] = changed
    return _made[node]


class _Texts(ast.NodeTransformer):
    def __init__(self, texts: set[str]) -> None:
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
        target = node.targets[0]
        if not isinstance(target, ast.Name) or target.id not in self.texts:
            return self.generic_visit(node)
        parts, name = _parts(node.value), target.id
        reads = [any(isinstance(x, ast.Name) and x.id == name for x in all_nodes(p)) for p in parts]
        if len(parts) > 1 and isinstance(parts[0], ast.Name) and reads == [True] + [False] * (len(parts) - 1):
            return self._appended(name, parts[1:], node)
        if len(parts) == 2 and isinstance(parts[1], ast.Name) and reads == [False, True]:
            return [*self._fresh(name, parts, node), _named(_list(name), load(_list(f"new-{name}")), node)]
        if isinstance(node.value, ast.Constant):
            text = ast.List([ast.Constant(c) for c in str(node.value.value)], ast.Load())
            return _named(_list(name), text, node)
        return [*self._fresh(name, [node.value], node), _named(_list(name), load(_list(f"new-{name}")), node)]

    def _fresh(self, name: str, parts: list[ast.expr], at: ast.stmt) -> list[ast.stmt]:
        """A new list for a name, of the characters of some texts."""
        made = f"new-{name}"
        return [_named(_list(made), ast.List([], ast.Load()), at), *self._appended(made, parts, at)]

    def _appended(self, name: str, parts: list[ast.expr], at: ast.stmt) -> list[ast.stmt]:
        """The characters of some texts, one by one."""
        append = ast.Attribute(load(_list(name)), "append", ast.Load())
        put = ast.Expr(ast.Call(append, [load(_ONE)], []))
        texts = [ast.Call(load(_CHARACTERS), [self.visit(p)], []) for p in parts]
        return [placed(ast.For(ast.Name(_ONE, ast.Store()), t, [copy.deepcopy(put)], []), at) for t in texts]


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


def _listed(made: object) -> list[ast.stmt]:
    return made if isinstance(made, list) else [made]  # type: ignore[list-item]
