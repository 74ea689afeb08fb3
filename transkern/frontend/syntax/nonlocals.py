"""Functions that bind names of the function around them take and return these:

    count = 0                             count = 0
    def visit(u):                         def visit(count, u):
        nonlocal count                        count += 1
        count += 1               ->           for v in near[u]: _, count = visit(count, v)
        for v in near[u]: visit(v)            return None, count
    visit(0)                              _, count = visit(count, 0)

So they are written wherever such functions are only called, by their names, and the names have a value before.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from transkern.frontend.syntax.desugar import load, placed
from transkern.frontend.syntax.hoisting import NotRewritten, hoisted
from transkern.frontend.syntax.liveness import captured_names
from transkern.frontend.syntax.syntax import local_names, parameter_names
from transkern.parsing import all_nodes, once_a_tree, own_nodes

_PASSED = "_transkern_nonlocals"
_IGNORED = "result-not-used"


@once_a_tree
def _has_nonlocals(node: ast.FunctionDef) -> bool:
    return any(isinstance(x, ast.Nonlocal) for x in all_nodes(node))


def passed_on(
    node: ast.FunctionDef | ast.Lambda, python: Callable[[str], bool]
) -> ast.FunctionDef | ast.Lambda:
    """The function with functions in it that bind none of its names; itself where there are none, or where they are
    more than called. `python` tells whether a name means Python's own function. The same function twice is the same
    tree twice."""
    if isinstance(node, ast.Lambda) or not _has_nonlocals(node):
        return node
    if not hasattr(node, _PASSED):
        try:
            made = _Passing(node, python).function()
        except NotRewritten:
            made = node
        setattr(node, _PASSED, made)
        setattr(made, _PASSED, made)
    return getattr(node, _PASSED)  # type: ignore[no-any-return]


@dataclass
class _Inner:
    """A function in the function: the names of the latter that it binds, and those that it sees, also through what it
    calls."""

    node: ast.FunctionDef
    calls: set[str] = field(default_factory=set)
    binds: set[str] = field(default_factory=set)
    sees: set[str] = field(default_factory=set)


class _Passing:
    def __init__(self, node: ast.FunctionDef, python: Callable[[str], bool]) -> None:
        self.node, self.python = node, python
        own = own_nodes(node.body)
        self.inner = {x.name: _Inner(x) for x in own if isinstance(x, ast.FunctionDef)}
        self.names = {name for i in self.inner.values() for name in _declared(i.node)}
        self._check(own)
        for inner in self.inner.values():
            inner.calls = self._called_in(inner.node.body)
            inner.binds = set(_declared(inner.node))
            inner.sees = set(captured_names(inner.node)) & self.names | inner.binds
        self._through_calls()

    def _check(self, own: Iterable[ast.AST]) -> None:
        """Raises NotRewritten where the functions are more than called, or a name may have no value yet."""
        count = sum(isinstance(x, ast.FunctionDef) for x in own)
        everywhere = [x for f in (self.node, *(i.node for i in self.inner.values())) for x in own_nodes(f.body)]
        called = {id(x.func) for x in everywhere if isinstance(x, ast.Call)}
        others = [x for x in everywhere if isinstance(x, (ast.Lambda, ast.ClassDef, ast.AsyncFunctionDef))]
        deeper = [x for i in self.inner.values() for x in own_nodes(i.node.body) if isinstance(x, ast.FunctionDef)]
        seen = frozenset().union(*map(captured_names, [*others, *deeper])) if others or deeper else frozenset()
        if count != len(self.inner) or not self.names <= local_names(self.node) | {*parameter_names(self.node)}:
            raise NotRewritten("a function that is defined twice, or binds a name further out", self.node)
        if seen & self.names or any(isinstance(x, ast.Nonlocal) for d in deeper for x in all_nodes(d)):
            raise NotRewritten("a name that a function in a function sees", self.node)
        for x in everywhere:
            if isinstance(x, ast.Name) and x.id in self.inner and id(x) not in called:
                raise NotRewritten(f"`{x.id}`, a function that is more than called", x)
        if any(i.node.decorator_list or i.node.args.vararg or i.node.args.posonlyargs for i in self.inner.values()):
            raise NotRewritten("a function with decorators", self.node)

    def _called_in(self, body: Sequence[ast.stmt]) -> set[str]:
        return {_called(x) for x in own_nodes(body)} & self.inner.keys()

    def _through_calls(self) -> None:
        changed = True
        while changed:
            changed = False
            for inner in self.inner.values():
                for name in inner.calls:
                    called = self.inner[name]
                    if not (called.binds <= inner.binds and called.sees <= inner.sees):
                        inner.binds |= called.binds
                        inner.sees |= called.sees
                        changed = True
        for inner in self.inner.values():
            own = (local_names(inner.node) | {*parameter_names(inner.node)}) - set(_declared(inner.node))
            if inner.sees & own:
                raise NotRewritten("a name that means something else in a function that is called", inner.node)

    def function(self) -> ast.FunctionDef:
        node, body = self.node, self._calling(self.node.body)
        self._check_bound(body)
        body = [_Defined(self).visit(s) for s in body]
        return ast.copy_location(ast.FunctionDef(node.name, node.args, body, node.decorator_list, node.returns), node)

    def _check_bound(self, body: Sequence[ast.stmt]) -> None:
        """Each name must have a value before the first call that may bind it."""
        bound = {*parameter_names(self.node)}
        for s in body:
            if not set().union(*(self.inner[name].sees for name in self._called_in([s]))) <= bound:
                raise NotRewritten("a name without a value where a function is called that binds it", s)
            if isinstance(s, ast.Assign):
                bound |= {t.id for target in s.targets for t in all_nodes(target) if isinstance(t, ast.Name)}
            elif isinstance(s, ast.AnnAssign) and s.value is not None and isinstance(s.target, ast.Name):
                bound.add(s.target.id)

    def is_passing(self, x: ast.AST) -> bool:
        return _called(x) in self.inner and bool(self.inner[_called(x)].sees)

    def _calling(self, body: Sequence[ast.stmt]) -> list[ast.stmt]:
        """Statements in which the functions get the names and give them back."""
        apart = hoisted(body, self.is_passing, self.python, self.names)
        return [_Called(self).visit(copy.deepcopy(s)) for s in apart]

    def inside(self, inner: _Inner) -> ast.FunctionDef:
        """A function in the function that takes what it sees, and gives back what it binds beside its result."""
        node, args = inner.node, copy.copy(inner.node.args)
        args.args = [*(ast.arg(name) for name in sorted(inner.sees)), *args.args]
        body = [s for s in self._calling(inner.node.body) if not isinstance(s, ast.Nonlocal)]
        if inner.binds:
            last = placed(ast.Return(ast.Constant(None)), body[-1] if body else inner.node)
            body = [_Returned(sorted(inner.binds)).visit(s) for s in [*body, last]]
        made = ast.FunctionDef(node.name, args, body or [ast.Pass()], [], node.returns)
        return placed(ast.copy_location(made, node), node)


class _Own(ast.NodeTransformer):
    """Changes what is a function's own."""

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        return node

    def visit_Lambda(self, node: ast.Lambda) -> ast.AST:
        return node


class _Called(_Own):
    def __init__(self, owner: _Passing) -> None:
        self.owner = owner

    def visit_Assign(self, node: ast.Assign) -> ast.AST:
        if not self.owner.is_passing(node.value):
            return node
        return self._given(node.value, node.targets[0], node)  # type: ignore[arg-type]

    def visit_Expr(self, node: ast.Expr) -> ast.AST:
        if not self.owner.is_passing(node.value):
            return node
        return self._given(node.value, None, node)  # type: ignore[arg-type]

    def _given(self, call: ast.Call, target: ast.expr | None, at: ast.stmt) -> ast.stmt:
        assert isinstance(call.func, ast.Name)
        inner = self.owner.inner[call.func.id]
        call.args = [*(ast.copy_location(load(name), call) for name in sorted(inner.sees)), *call.args]
        if not inner.binds:
            return at
        names: list[ast.expr] = [ast.Name(name, ast.Store()) for name in sorted(inner.binds)]
        first = ast.Name(_IGNORED, ast.Store()) if target is None else target
        return placed(ast.copy_location(ast.Assign([ast.Tuple([first, *names], ast.Store())], call), at), at)


class _Returned(_Own):
    def __init__(self, names: Sequence[str]) -> None:
        self.names = names

    def visit_Return(self, node: ast.Return) -> ast.AST:
        value = node.value or ast.Constant(None)
        made = ast.Return(ast.Tuple([value, *map(load, self.names)], ast.Load()))
        return placed(ast.copy_location(made, node), node)


class _Defined(ast.NodeTransformer):
    def __init__(self, owner: _Passing) -> None:
        self.owner = owner

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        inner = self.owner.inner.get(node.name)
        return node if inner is None else self.owner.inside(inner)

    def visit_Lambda(self, node: ast.Lambda) -> ast.AST:
        return node


def _declared(node: ast.FunctionDef) -> list[str]:
    return [name for x in own_nodes(node.body) if isinstance(x, ast.Nonlocal) for name in x.names]


def _called(x: ast.AST) -> str:
    """The name of the function that a node calls, if it has one."""
    return x.func.id if isinstance(x, ast.Call) and isinstance(x.func, ast.Name) else ""
