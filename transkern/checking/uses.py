"""What the text of a function shows of its parameters: the axes that subscripts need, numbers that count, texts.

This is no analysis that anything relies on. It looks for the types that a function is likely to be called with, where
nobody says them; whoever reports what came of it says which types they were. Each expression gets the number of its
axes in terms of those of the parameters (`Axes`), and what is done with it says something of those.
"""

from __future__ import annotations

import ast
import contextlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace

from transkern.checking.axes import COUNT, NUMBER, UNKNOWN, VECTOR, Axes, Use, either, together
from transkern.checking.names import alike
from transkern.checking.uses_in_calls import asked, builtin_called, library_called, method_called, passed_on
from transkern.checking.uses_in_operators import (
    ARITHMETIC,
    comparison,
    operated,
    truth,
    unary,
)
from transkern.checking.uses_in_statements import branch, comprehension, holds, iterate, matched, unpacked
from transkern.checking.uses_in_subscripts import subscripted
from transkern.frontend.sources.identity import resolved

_NUMPY = {"np": "numpy", "numpy": "numpy", "xp": "numpy", "jnp": "numpy", "math": "math"}
"""What names that nobody binds are likely to mean."""

_CALLS = 3  # of functions in functions that are followed
_PASSES = 3
_ROUNDS = 3  # in which what is known of parameters is told to others

Called = ast.FunctionDef | ast.Lambda
Finder = Callable[[ast.expr], ast.FunctionDef | ast.expr | str | None]
"""What a name means in the module: a function, the expression of a constant, the path of what is imported."""


def uses_of(node: Called, find: Finder) -> tuple[dict[str, Use], bool]:
    """What a function's text shows of its parameters, by name, and whether it makes arrays of numbers.

    Args:
        node: the function.
        find: is asked for what it takes from its module.
    """
    looked = _looked(node, find, {}, {}, 0)
    return looked.uses, looked.makes_arrays


def _looked(
    node: Called, find: Finder, functions: dict[str, Called], known: dict[Called, Looking | None], depth: int
) -> Looking:
    args = node.args
    names = [a.arg for a in [*args.posonlyargs, *args.args, *args.kwonlyargs]]
    body = node.body if isinstance(node.body, list) else [ast.Return(node.body)]
    before: dict[str, Use] = {name: Use() for name in names}
    bound: dict[str, Axes] = {}
    for _ in range(_PASSES):  # loops use what is bound below, and what a subscript is may show below it
        looking = Looking(find, depth, {name: Use() for name in names}, known, before, functions=dict(functions))
        looking.names = {a.arg: UNKNOWN for a in (args.vararg, args.kwarg) if a is not None}
        looking.names |= bound | {name: Axes(((name, 0),), whole=(name,), parameter=name) for name in names}
        with contextlib.suppress(RecursionError):  # of what nests so deeply nobody needs to know the types
            looking.block(body)
        looking.resolve()
        before, bound = looking.uses, looking.names
    return looking


@dataclass(slots=True)
class Looking:
    find: Finder
    depth: int
    uses: dict[str, Use]
    called: dict[Called, Looking | None]  # functions that have been looked at; None while they are
    before: dict[str, Use]  # what the pass before has found
    names: dict[str, Axes] = field(default_factory=dict)
    functions: dict[str, Called] = field(default_factory=dict)  # that the function makes
    returned: Axes | None = None
    waiting: dict[tuple[tuple[tuple[str, int], ...], int], None] = field(default_factory=dict)
    stores: dict[tuple[Axes, Axes], None] = field(default_factory=dict)  # what is put into what
    pairs: dict[tuple[str, str], None] = field(default_factory=dict)  # parameters of one kind
    kept: dict[tuple[str, Axes], None] = field(default_factory=dict)  # parameters, and what they are bound to anew
    beside: dict[tuple[Axes, str], None] = field(default_factory=dict)  # what gets axes to go with what
    makes_arrays: bool = False  # by itself

    # --- what is known of parameters

    def at_least(self, axes: Axes, low: int) -> None:
        """An expression has at least so many axes."""
        if axes.length and low > 1:
            use = self.uses[axes.length]
            use.length = max(use.length, low)
        if axes.least >= low or not axes.of or not axes.known:
            return
        if len(axes.of) == 1:
            ((name, below),) = axes.of
            self.uses[name].axes(low + below)
        else:
            self.waiting[axes.of, low] = None

    def at_most(self, axes: Axes, most: int) -> None:
        """An expression has at most so many axes."""
        if axes.key is not None and not most:
            self.uses[axes.key[0]].length = axes.key[1]
        for name, below in axes.of:
            if most + below >= 0:
                self.uses[name].below(most + below)

    def exactly(self, axes: Axes, count: int) -> None:
        if axes.length and count > 0:
            self.uses[axes.length].length = count
        self.at_least(axes, count)
        self.at_most(axes, count)

    def count(self, axes: Axes) -> None:
        """What stands in an expression is a number that counts."""
        for name in axes.whole:
            self.uses[name].count = True

    def maybe_count(self, axes: Axes) -> None:
        for name in axes.whole:
            self.uses[name].whole = True

    def complex(self, axes: Axes) -> None:
        for name in axes.whole:
            self.uses[name].complex = True

    def real(self, axes: Axes) -> None:
        for name in axes.whole:
            self.uses[name].real = True

    def whole_array(self, axes: Axes) -> None:
        """An expression is used as arrays are, and not only item by item."""
        if axes.parameter:
            self.uses[axes.parameter].beyond = True

    def is_array(self, axes: Axes) -> bool:
        """Whether it has axes, as far as is known."""
        return axes.least > 0 or any(self.low(name) > below for name, below in axes.of)

    def low(self, name: str) -> int:
        """How many axes a parameter has at least."""
        return max(self.uses[name].low, self.before[name].low)

    def is_place(self, axes: Axes) -> bool:
        """Whether it is one number, as far as is known."""
        return axes.known and not self.is_array(axes) and not axes.mask

    def rank(self, axes: Axes) -> int | None:
        """How many axes it has, as far as is known."""
        if not axes.known:
            return None
        length = self.uses[axes.length].length if axes.length else 0
        return max([axes.least, length, *(self.low(name) - below for name, below in axes.of)])

    def resolve(self) -> None:
        """What could not be told of one parameter before others were known."""
        for _ in range(_ROUNDS):
            for value, place in self.stores:
                rank = self.rank(place)
                if rank is not None and (place.least or self.is_array(place) or not place.of):
                    self.at_most(value, rank)
            for of, low in self.waiting:
                self._resolved(of, low)
            for first, second in self.pairs:
                for one, other in ((first, second), (second, first)):
                    if self.uses[one].array and self.uses[other].is_open:
                        self.uses[other].axes(self.uses[one].low)
            for name, found in self.kept:
                if self.uses[name].is_open or self.uses[name].array:
                    self.uses[name].axes(self.rank(found) or 0)
            for wider, narrow in self.beside:
                rank = self.rank(wider) or 0
                if self.uses[narrow].is_open:
                    self.uses[narrow].axes(rank if rank == 2 else rank - 1)

    def _resolved(self, of: Sequence[tuple[str, int]], low: int) -> None:
        if any(self.uses[name].low - below >= low for name, below in of):
            return
        able = [(n, b) for n, b in of if (m := self.uses[n].most) is None or m >= low + b]
        able = [(n, b) for n, b in able if self.uses[n].array] or [
            (n, b) for n, b in able if self.uses[n].is_open or self.uses[n].index
        ]
        if able:
            name, below = min(able, key=lambda term: term[1])  # the one that got more axes is meant to have them
            self.uses[name].axes(low + below)

    # --- statements

    def block(self, statements: Iterable[ast.stmt]) -> bool:
        """Looks at statements; True where the end is not reached."""
        return any(map(self.statement, statements))

    def statement(self, node: ast.stmt) -> bool:
        match node:
            case ast.Assign(targets=targets, value=value):
                found = self.value(value)
                for target in targets:
                    self.bind(target, found)
                    if isinstance(value, ast.Lambda) and isinstance(target, ast.Name):
                        self.functions[target.id] = value
            case ast.AnnAssign(target=target, value=ast.expr() as value):
                self.bind(target, self.value(value))
            case ast.AugAssign(target=target, op=op, value=value):
                self.bind(target, operated(self, target, op, value))
            case ast.For(target=target, iter=source, body=body, orelse=orelse) | ast.AsyncFor(
                target=target, iter=source, body=body, orelse=orelse
            ):
                iterate(self, target, source)
                self.block(body)
                self.block(orelse)
            case ast.While(test=test, body=body, orelse=orelse):
                truth(self, test)
                self.block(body)
                self.block(orelse)
            case ast.If():
                return branch(self, node)
            case ast.With(items=items, body=body) | ast.AsyncWith(items=items, body=body):
                for item in items:
                    self.value(item.context_expr)
                    if item.optional_vars is not None:
                        self.bind(item.optional_vars, UNKNOWN)
                return self.block(body)
            case ast.Try(body=body, handlers=handlers, orelse=orelse, finalbody=final):
                self.block(body)
                for handler in handlers:
                    self.block(handler.body)
                self.block(orelse)
                return self.block(final)
            case ast.Match(subject=subject, cases=cases):
                matched(self, subject, cases)
            case ast.Return(value=value):
                if value is not None:
                    found = self.value(value)
                    self.returned = found if self.returned is None else either(self.returned, found)
                return True
            case ast.Assert(test=test):
                truth(self, test)
                holds(self, test)
            case ast.Raise(exc=exc):
                if exc is not None:
                    self.value(exc)
                return True
            case ast.Expr(value=value):
                self.value(value)
            case ast.FunctionDef(name=name):
                self.functions[name] = node
                self.inner(node.args, node.body)
            case ast.Delete(targets=targets):
                for target in targets:
                    if not isinstance(target, ast.Name):
                        self.value(target)
            case ast.Break() | ast.Continue():
                return True
        return False

    def inner(self, args: ast.arguments, body: Sequence[ast.stmt] | ast.expr) -> None:
        """A function in the function: what it does with names from outside."""
        mine = [*args.posonlyargs, *args.args, *args.kwonlyargs, args.vararg, args.kwarg]
        names, returned = self.names, self.returned
        self.names = names | {a.arg: UNKNOWN for a in mine if a is not None}
        if isinstance(body, ast.expr):
            self.value(body)
        else:
            self.block(body)
        self.names, self.returned = names, returned

    # --- names

    def bind(self, target: ast.expr, found: Axes) -> None:
        match target:
            case ast.Name(id=name):
                if name in self.uses and found.known and len(found.of) + found.least > 1 and found.own(name) == 0:
                    self.kept[name, found.alone()] = None
                self.names[name] = found
                self.functions.pop(name, None)
            case ast.Starred(value=value):
                self.bind(value, UNKNOWN)
            case ast.Tuple(elts=targets) | ast.List(elts=targets):
                unpacked(self, targets, found)
            case ast.Subscript() | ast.Attribute():
                place = self.value(target)
                if place.key is not None and found == NUMBER:
                    self.uses[place.key[0]].length = place.key[1]
                if place.known and found.of:
                    self.stores[found.alone(), place.alone()] = None

    def paired(self, left: Axes, right: Axes) -> None:
        """Two expressions that are alike, if they are called alike."""
        for first in (name for name, below in left.of if not below):
            if (second := right.parameter) and first != second and alike(first, second):
                self.pairs[first, second] = None

    # --- expressions

    def value(self, node: ast.expr) -> Axes:
        """Looks at an expression; how many axes it has."""
        match node:
            case ast.Name(id=name):
                return self.names[name] if name in self.names else self.outside(node)
            case ast.Constant(value=value):
                return NUMBER if isinstance(value, (int, float, complex)) else UNKNOWN
            case ast.BinOp(left=left, op=op, right=right):
                return operated(self, left, op, right)
            case ast.UnaryOp(op=op, operand=operand):
                return unary(self, op, operand)
            case ast.Compare():
                return comparison(self, node)
            case ast.BoolOp(values=values):
                return replace(together([truth(self, v) for v in values]), known=False)
            case ast.IfExp(test=test, body=body, orelse=orelse):
                truth(self, test)
                return either(self.value(body), self.value(orelse))
            case ast.Subscript():
                return subscripted(self, node)
            case ast.Attribute(value=owner, attr=attr):
                return self.attribute(node, owner, attr)
            case ast.Call():
                return self.call(node)
            case ast.Tuple(elts=elts) | ast.List(elts=elts):
                return self.display(elts)
            case ast.ListComp(elt=elt, generators=generators) | ast.GeneratorExp(elt=elt, generators=generators):
                return comprehension(self, generators, [elt]).without(-1)
            case ast.SetComp(elt=elt, generators=generators):
                comprehension(self, generators, [elt])
            case ast.DictComp(key=key, value=value, generators=generators):
                comprehension(self, generators, [key, value])
            case ast.Lambda(args=args, body=body):
                self.inner(args, body)
            case ast.Dict(keys=keys, values=values):
                for one in [*keys, *values]:
                    if one is not None:
                        self.value(one)
                return _of_texts(node)
            case ast.NamedExpr(target=target, value=value):
                found = self.value(value)
                self.bind(target, found)
                return found
            case ast.Starred(value=value):
                self.shape_or_more(self.value(value))
            case ast.FormattedValue(value=value, format_spec=spec):
                found = self.value(value)
                if spec is not None:
                    self.at_most(found, 0)
            case _:
                for child in ast.iter_child_nodes(node):
                    if isinstance(child, ast.expr):
                        self.value(child)
        return UNKNOWN

    def outside(self, node: ast.expr) -> Axes:
        """A name of the module."""
        found = self.find(node)
        if isinstance(found, str):
            constant = resolved(found)
            return NUMBER if isinstance(constant, (int, float)) else UNKNOWN
        match found:
            case ast.Constant(value=int() | float() | complex()) | ast.UnaryOp(operand=ast.Constant()):
                return NUMBER
            case ast.Dict():
                return _of_texts(found)
            case ast.BinOp():
                return NUMBER if all(isinstance(x, ARITHMETIC) for x in ast.walk(found)) else UNKNOWN
        return UNKNOWN

    def path(self, node: ast.expr) -> str:
        """The dotted path that an expression is: ``numpy.linalg.inv``; nothing where it is none."""
        names: list[str] = []
        while isinstance(node, ast.Attribute):
            names.insert(0, node.attr)
            node = node.value
        if not isinstance(node, ast.Name) or node.id in self.names:
            return ""
        found = self.find(node)
        root = found if isinstance(found, str) else _NUMPY.get(node.id, "") if found is None else ""
        path = ".".join([root, *names]) if root else ""
        if path.startswith(("scipy.", "jax.")):  # what is called there as it is in NumPy does the same
            path = path.replace("jax.numpy", "numpy").replace("scipy", "numpy")
        return path

    def display(self, elts: Sequence[ast.expr]) -> Axes:
        items = tuple(self.value(e) for e in elts)
        inside = together(items).without(-1)
        return replace(inside, integer=False, items=None if any(isinstance(e, ast.Starred) for e in elts) else items)

    def product(self, first: Axes, second: Axes, left: ast.expr, right: ast.expr) -> Axes:
        """The product of matrices and vectors; matrices are called as such: ``A @ x``."""
        for found, node in ((first, left), (second, right)):
            upper = isinstance(node, ast.Name) and len(node.id) == 1 and node.id.isupper()
            self.at_least(found, 2 if upper else 1)
        ranks = [self.rank(first) or 0, self.rank(second) or 0]
        if ranks[0] > 1:
            return second.alone() if ranks[0] == 2 else first.alone()
        if ranks[1] > 1:
            return first.alone()
        return replace(second.alone().without(1), known=False)

    # --- subscripts and attributes

    def attribute(self, node: ast.expr, value: ast.expr, attr: str) -> Axes:
        if path := self.path(node):
            return NUMBER if isinstance(resolved(path), (int, float)) else UNKNOWN
        owner = self.value(value)
        if owner.parameter:
            self.uses[owner.parameter].attributes.add(attr)
        self.whole_array(owner)
        asked(self, owner, attr)
        match attr:
            case "shape":
                return Axes(least=1, integer=True, shape=owner)
            case "size" | "ndim" | "itemsize" | "nbytes":
                return COUNT
            case "T":
                return owner.kept()
            case "real" | "imag":
                self.complex(owner)
                return owner.alone()
            case "flat":
                return VECTOR
        return UNKNOWN

    # --- calls

    def call(self, node: ast.Call) -> Axes:
        if isinstance(node.func, ast.Name) and (called := self.names.get(node.func.id)) is not None:
            if called.parameter:
                self.uses[called.parameter].other = "it is called"
        args = [self.value(a) for a in node.args]
        keywords = {k.arg: self.value(k.value) for k in node.keywords if k.arg is not None}
        given = {k.arg: k.value for k in node.keywords if k.arg is not None}
        starred = any(isinstance(a, ast.Starred) for a in node.args)
        if (function := self.function(node.func)) is not None:
            return passed_on(self, function, [] if starred else args, keywords)
        if path := self.path(node.func):
            return library_called(self, path, node.args, args, keywords, given)
        if isinstance(node.func, ast.Name):
            return builtin_called(self, node.func.id, node.args, args)
        if isinstance(node.func, ast.Attribute):
            return method_called(self, node.func, node.args, args, keywords, given)
        self.value(node.func)
        return UNKNOWN

    def function(self, node: ast.expr) -> Called | None:
        """The function that an expression is, of the module or made here."""
        if isinstance(node, ast.Name) and node.id in self.functions:
            return self.functions[node.id]
        if isinstance(node, ast.Name) and node.id in self.names:
            return None
        found = self.find(node)
        return found if isinstance(found, (ast.FunctionDef, ast.Lambda)) else None

    def looked_at(self, function: Called) -> Looking | None:
        if function not in self.called and self.depth < _CALLS:
            self.called[function] = None
            functions = self.functions if function in self.functions.values() else {}
            self.called[function] = _looked(function, self.find, functions, self.called, self.depth + 1)
        return self.called.get(function)

    def shape_of(self, found: Axes) -> Axes:
        """What is made with an expression for its shape."""
        if found.items is not None:
            for item in found.items:
                self.count(item)
            return Axes(least=len(found.items))
        if found.shape is not None:
            return found.shape.alone()
        self.count(found)
        if found.parameter:
            return Axes(least=1, length=found.parameter)
        return VECTOR if self.is_place(found) else UNKNOWN

    def shape_or_more(self, found: Axes) -> None:
        """What is put together with a tuple, or unpacked into arguments, is one."""
        if found.parameter:
            use = self.uses[found.parameter]
            use.length = max(use.length, 2)


def _of_texts(table: ast.Dict) -> Axes:
    """A dict, which may have texts for its keys."""
    first = table.keys[0] if table.keys else None
    if isinstance(first, ast.Constant) and isinstance(first.value, str):
        return replace(UNKNOWN, text=first.value)
    return UNKNOWN

