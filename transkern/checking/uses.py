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
from itertools import pairwise

import numpy as np

from transkern.checking import results
from transkern.checking.axes import COUNT, NUMBER, UNKNOWN, VECTOR, Axes, Use, either, together
from transkern.checking.documented import Told, documented
from transkern.checking.names import alike, is_plural
from transkern.frontend.sources.identity import resolved

OF_ARRAYS = frozenset(dir(np.ndarray)) - frozenset(dir(object)) - {"real", "imag", "conjugate"}
OF_NUMBERS = frozenset({*dir(float), *dir(complex)})
_OF_ELEMENTS = frozenset(["astype", "clip", "conj", "copy", "dtype", "item", "round", "tolist", "view"])
_OF_GENERATORS = frozenset(dir(np.random.Generator)) | frozenset(dir(np.random.RandomState))
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
    node: Called, find: Finder, functions: dict[str, Called], known: dict[Called, _Looking | None], depth: int
) -> _Looking:
    args = node.args
    names = [a.arg for a in [*args.posonlyargs, *args.args, *args.kwonlyargs]]
    body = node.body if isinstance(node.body, list) else [ast.Return(node.body)]
    before: dict[str, Use] = {name: Use() for name in names}
    bound: dict[str, Axes] = {}
    for _ in range(_PASSES):  # loops use what is bound below, and what a subscript is may show below it
        looking = _Looking(find, depth, {name: Use() for name in names}, known, before, functions=dict(functions))
        looking.names = {a.arg: UNKNOWN for a in (args.vararg, args.kwarg) if a is not None}
        looking.names |= bound | {name: Axes(((name, 0),), whole=(name,), parameter=name) for name in names}
        with contextlib.suppress(RecursionError):  # of what nests so deeply nobody needs to know the types
            looking.block(body)
        looking.resolve()
        before, bound = looking.uses, looking.names
    return looking


@dataclass(slots=True)
class _Looking:
    find: Finder
    depth: int
    uses: dict[str, Use]
    called: dict[Called, _Looking | None]  # functions that have been looked at; None while they are
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
                self.bind(target, self.operator(target, op, value))
            case ast.For(target=target, iter=source, body=body, orelse=orelse) | ast.AsyncFor(
                target=target, iter=source, body=body, orelse=orelse
            ):
                self.iterate(target, source)
                self.block(body)
                self.block(orelse)
            case ast.While(test=test, body=body, orelse=orelse):
                self.truth(test)
                self.block(body)
                self.block(orelse)
            case ast.If():
                return self.branch(node)
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
                self.match(subject, cases)
            case ast.Return(value=value):
                if value is not None:
                    found = self.value(value)
                    self.returned = found if self.returned is None else either(self.returned, found)
                return True
            case ast.Assert(test=test):
                self.truth(test)
                self.holds(test)
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

    def branch(self, node: ast.If) -> bool:
        self.truth(node.test)
        before = dict(self.names)
        ended = self.block(node.body)
        first, self.names = self.names, before
        if ended and not node.orelse and isinstance(node.body[-1], ast.Raise):
            self.holds(node.test, False)
        other_ended = self.block(node.orelse)
        if other_ended:
            self.names = first
        elif not ended:
            for name in first.keys() & self.names.keys():
                self.names[name] = either(self.names[name], first[name])
            self.names = first | self.names
        return ended and other_ended

    def match(self, subject: ast.expr, cases: Sequence[ast.match_case]) -> None:
        found = self.value(subject)
        for case in cases:
            for pattern in ast.walk(case.pattern):
                if isinstance(pattern, ast.MatchValue):
                    self.compared(found, pattern.value)
            self.block(case.body)

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

    def holds(self, test: ast.expr, wanted: bool = True) -> None:
        """A condition without which the function raises."""
        match test:
            case ast.BoolOp(op=op, values=values) if isinstance(op, ast.And) == wanted:
                for value in values:
                    self.holds(value, wanted)
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                self.holds(operand, not wanted)
            case ast.Compare(left=left, ops=[op], comparators=[right]):
                equal = isinstance(op, ast.Eq if wanted else ast.NotEq)
                bounds: dict[type[ast.cmpop], int] = {ast.GtE: 0, ast.Gt: 1} if wanted else {ast.Lt: 0, ast.LtE: 1}
                number = right.value if isinstance(right, ast.Constant) and type(right.value) is int else None
                if number is not None and (owner := self.ranked(left)) is not None:
                    if equal:
                        self.exactly(owner, number)
                    elif type(op) in bounds:
                        self.at_least(owner, number + bounds[type(op)])
                elif number is not None and equal:
                    self.sized(left, number)

    def ranked(self, node: ast.expr) -> Axes | None:
        """The array whose number of axes an expression is."""
        match node:
            case ast.Attribute(value=value, attr="ndim"):
                return self.value(value)
            case ast.Call(func=ast.Name(id="len"), args=[ast.Attribute(value=value, attr="shape")]):
                return self.value(value)
            case ast.Call(func=ast.Attribute(attr="ndim"), args=[value]):
                return self.value(value)
        return None

    def sized(self, node: ast.expr, size: int) -> None:
        """An expression that is a size, and which."""
        match node:
            case ast.Call(func=ast.Name(id="len"), args=[value]):
                owner, axis = self.value(value), 0
            case ast.Subscript(
                value=ast.Attribute(value=value, attr="shape"), slice=ast.Constant(value=int() as axis)
            ):
                owner = self.value(value)
            case _:
                return
        self.at_least(owner, axis + 1)
        for name, below in owner.of[: len(owner.of) == 1]:
            self.uses[name].sizes[axis + below] = size

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
                self.unpacked(targets, found)
            case ast.Subscript() | ast.Attribute():
                place = self.value(target)
                if place.key is not None and found == NUMBER:
                    self.uses[place.key[0]].length = place.key[1]
                if place.known and found.of:
                    self.stores[found.alone(), place.alone()] = None

    def unpacked(self, targets: Sequence[ast.expr], found: Axes) -> None:
        if any(isinstance(t, ast.Starred) for t in targets):
            part = found.without(1)
        elif found.items is not None and len(found.items) == len(targets):
            for target, item in zip(targets, found.items, strict=True):
                self.bind(target, item)
            return
        elif found.shape is not None:
            self.exactly(found.shape, len(targets))
            part = COUNT
        elif found.each is not None:
            self.exactly(found.each, len(targets))
            part = found.alone() if found.known else VECTOR
        else:
            self.at_least(found, 1)
            if len(found.of) == 1:
                ((name, below),) = found.of
                self.uses[name].sizes[below] = len(targets)
                if not below:
                    self.uses[name].items = max(self.uses[name].items, len(targets))
            part = self.element(found)
        for target in targets:
            self.bind(target, part)

    def element(self, found: Axes) -> Axes:
        """An element of it: what loops go through."""
        if found.items:
            return together(found.items)
        if found.integer or found.shape is not None:
            return COUNT if found.least <= 1 else replace(found.without(1), integer=True)
        self.at_least(found, 1)
        return found.without(1)

    def iterate(self, target: ast.expr | None, source: ast.expr) -> None:
        """A loop over an expression."""
        part = self.gone_through(source)
        if target is None:
            return
        if isinstance(target, ast.Tuple) and part.items is None and len(part.of) == 1 and not part.least:
            ((name, below),) = part.of
            self.uses[name].axes(below + 1)
            self.uses[name].sizes[below] = len(target.elts)
        self.bind(target, part)

    def gone_through(self, source: ast.expr) -> Axes:
        match source:
            case ast.Call(func=ast.Name(id="range"), args=args):
                for a in args:
                    self.count(self.value(a))
                return COUNT
            case ast.Call(func=ast.Name(id="enumerate"), args=[first, *_]):
                return Axes(items=(COUNT, self.gone_through(first)))
            case ast.Call(func=ast.Name(id="zip"), args=args):
                plain = [a for a in args if not isinstance(a, ast.Starred)]
                for a, other in pairwise(plain):
                    self.paired(self.value(a), self.value(other))
                return Axes(items=tuple(self.gone_through(a) for a in plain))
            case ast.Call(func=ast.Name(id="reversed" | "sorted"), args=[first, *_]):
                return self.gone_through(first)
        found = self.value(source)
        self.whole_array(found)
        return self.element(found)

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
                return self.operator(left, op, right)
            case ast.UnaryOp(op=op, operand=operand):
                return self.unary(op, operand)
            case ast.Compare():
                return self.comparison(node)
            case ast.BoolOp(values=values):
                return replace(together([self.truth(v) for v in values]), known=False)
            case ast.IfExp(test=test, body=body, orelse=orelse):
                self.truth(test)
                return either(self.value(body), self.value(orelse))
            case ast.Subscript():
                return self.subscript(node)
            case ast.Attribute(value=owner, attr=attr):
                return self.attribute(node, owner, attr)
            case ast.Call():
                return self.call(node)
            case ast.Tuple(elts=elts) | ast.List(elts=elts):
                return self.display(elts)
            case ast.ListComp(elt=elt, generators=generators) | ast.GeneratorExp(elt=elt, generators=generators):
                return self.comprehension(generators, [elt]).without(-1)
            case ast.SetComp(elt=elt, generators=generators):
                self.comprehension(generators, [elt])
            case ast.DictComp(key=key, value=value, generators=generators):
                self.comprehension(generators, [key, value])
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
                return NUMBER if all(isinstance(x, _ARITHMETIC) for x in ast.walk(found)) else UNKNOWN
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

    def comprehension(self, generators: Sequence[ast.comprehension], values: Sequence[ast.expr]) -> Axes:
        names = dict(self.names)
        for generator in generators:
            self.iterate(generator.target, generator.iter)
            for test in generator.ifs:
                self.truth(test)
        found = together([self.value(v) for v in values])
        self.names = names
        return found.alone()

    def display(self, elts: Sequence[ast.expr]) -> Axes:
        items = tuple(self.value(e) for e in elts)
        inside = together(items).without(-1)
        return replace(inside, integer=False, items=None if any(isinstance(e, ast.Starred) for e in elts) else items)

    def truth(self, node: ast.expr) -> Axes:
        """An expression that must be true or not, as a whole."""
        match node:
            case ast.BoolOp(values=values):
                return together([self.truth(v) for v in values])
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return self.truth(operand)
        found = self.value(node)
        if isinstance(node, ast.Name) and found.parameter:
            self.uses[found.parameter].truth = True
        else:
            self.at_most(found, 0)
        return found

    def operator(self, left: ast.expr, op: ast.operator, right: ast.expr) -> Axes:
        first, second = self.value(left), self.value(right)
        both = together((first, second))
        self.whole_array(first)
        self.whole_array(second)
        if _gets_axes(left) != _gets_axes(right):
            wider, other = (first, second) if _gets_axes(left) else (second, first)
            if wider.known and (name := other.parameter) and (isinstance(op, ast.Sub) or is_plural(name)):
                self.beside[wider.alone(), name] = None
        match op:
            case ast.MatMult():
                return self.product(first, second, left, right)
            case ast.LShift() | ast.RShift():
                self.count(both)
            case ast.BitAnd() | ast.BitOr() | ast.BitXor():
                self.bits((left, first), (right, second))
                return replace(both, mask=first.mask or second.mask, whole=())
            case ast.Mult() if isinstance(left, ast.List) or isinstance(right, ast.List):
                self.count(second if isinstance(left, ast.List) else first)
                return VECTOR
            case ast.Add() if isinstance(left, ast.Tuple) or isinstance(right, ast.Tuple):
                self.shape_or_more(second if isinstance(left, ast.Tuple) else first)
                return replace(UNKNOWN, integer=True)
            case ast.Add() | ast.Sub() | ast.Mult() | ast.Div():
                self.paired(first, second)
        match op:
            case ast.FloorDiv():
                self.maybe_count(first)
            case ast.Mod():
                if isinstance(right, ast.Constant) and type(right.value) is int:
                    self.maybe_count(first)
            case ast.Pow():
                if isinstance(left, ast.Constant) and type(left.value) is int:
                    self.maybe_count(second)
        constants = [x.value for x in (left, right) if isinstance(x, ast.Constant)]
        if isinstance(op, ast.Div) or any(isinstance(value, (float, complex)) for value in constants):
            if not any(isinstance(value, complex) for value in constants):
                self.real(both)
            return replace(both, whole=(), integer=False)
        return both

    def bits(self, *sides: tuple[ast.expr, Axes]) -> None:
        for (_, found), (other_node, other) in (sides, sides[::-1]):
            number = isinstance(other_node, ast.Constant) and type(other_node.value) is int
            for name in found.whole if not found.mask else ():
                if number or other.integer:
                    self.uses[name].count = True
                else:
                    self.uses[name].bits = True

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

    def unary(self, op: ast.unaryop, operand: ast.expr) -> Axes:
        if isinstance(op, ast.Not):
            return self.truth(operand)
        found = self.value(operand)
        if isinstance(op, ast.Invert):
            for name in found.whole if not found.mask else ():
                self.uses[name].bits = True
            return replace(found, mask=True, whole=())
        return replace(found, parameter="")

    def comparison(self, node: ast.Compare) -> Axes:
        sides = [node.left, *node.comparators]
        found = [self.value(s) for s in sides]
        for op, (left, first), (right, second) in zip(
            node.ops, zip(sides, found, strict=True), zip(sides[1:], found[1:], strict=True), strict=False
        ):
            if isinstance(op, (ast.Is, ast.IsNot)):
                return NUMBER
            for value, other_node, other in ((first, right, second), (second, left, first)):
                self.compared(value, other_node)
                whole = isinstance(other_node, ast.Constant) and type(other_node.value) is int
                if other.integer or (whole and isinstance(op, (ast.Eq, ast.NotEq))):
                    self.maybe_count(value)
            if isinstance(op, (ast.In, ast.NotIn)):
                if second.text is not None:
                    self.texts(first, second.text)
                return NUMBER
            self.paired(first, second)
        return replace(together(found), mask=True, whole=(), integer=False)

    def compared(self, found: Axes, other: ast.expr) -> None:
        """What is compared with texts is one; what an element of is holds them."""
        texts = other.elts if isinstance(other, (ast.Tuple, ast.List, ast.Set)) else [other]
        for text in texts:
            if isinstance(text, ast.Constant) and isinstance(text.value, str) and found.known:
                self.texts(found, text.value)

    def texts(self, found: Axes, text: str = "") -> None:
        """An expression is a text, for example this one; what it is an element of holds them."""
        if found.parameter:
            use = self.uses[found.parameter]
            use.text = text if use.text is None else use.text
        for name, below in found.of:
            if below > 0:
                self.uses[name].other = self.uses[name].other or "it holds texts"

    # --- subscripts and attributes

    def subscript(self, node: ast.Subscript) -> Axes:
        if isinstance(node.value, ast.Dict):
            return self.looked_up(node.value, node.slice)
        owner = self.value(node.value)
        items = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        if path := self.path(node.value):
            return self.grid(path, items)
        if owner.shape is not None:
            return self.size(owner.shape, node.slice)
        if owner.text is not None:
            self.texts(self.value(node.slice), owner.text)
            return UNKNOWN
        if any(isinstance(i, ast.Constant) and isinstance(i.value, str) for i in items):
            for name, _ in owner.of:
                self.uses[name].other = self.uses[name].other or "it is subscripted with texts"
            return UNKNOWN
        place = _number(node.slice)
        if owner.items is not None and place is not None and -len(owner.items) <= place < len(owner.items):
            return owner.items[place]
        if owner.parameter:
            use = self.uses[owner.parameter]
            use.items = max(use.items, place + 1 if place is not None and place >= 0 else 0)
            use.beyond |= place is None
        return self.indexed(owner, items)

    def grid(self, path: str, items: Sequence[ast.expr]) -> Axes:
        """``np.c_[x, y]``, ``np.mgrid[:n, :m]``."""
        name = path.rpartition(".")[2]
        for item in items:
            for part in (item.lower, item.upper) if isinstance(item, ast.Slice) else (item,):
                if part is not None:
                    self.value(part)
        if name in ("mgrid", "ogrid"):
            return Axes(items=(Axes(least=len(items)),) * len(items))
        return Axes(least=2) if name == "c_" else VECTOR if name == "r_" else UNKNOWN

    def indexed(self, owner: Axes, items: Sequence[ast.expr]) -> Axes:
        taken, made, known, arrays, least = 0, 0, True, list[Axes](), 0
        for item in items:
            if isinstance(item, ast.Slice):
                for part in (item.lower, item.upper, item.step):
                    if part is not None:
                        self.count(self.value(part))
                least += 1
            elif _is_new(item):
                made += 1
            elif isinstance(item, ast.Constant) and item.value is Ellipsis:
                continue
            else:
                found = self.value(item)
                if not found.mask:
                    self.count(found)
                for name in found.whole:
                    self.uses[name].index = True
                least += 1
                if found.mask:
                    rank = self.rank(found)
                    if isinstance(item, ast.UnaryOp) or not found.of:
                        self.at_least(found, 1)
                    known = known and rank is not None
                    taken, made = taken + max(rank or 1, 1), made + 1
                elif self.is_place(found):
                    taken += 1
                    if found.of:
                        arrays.append(found)
                else:
                    known = known and found.known
                    taken += 1
                    arrays.append(found)
        real = [a for a in arrays if self.is_array(a)]
        for open_ in arrays if real else []:  # what stands beside an array of places is one, too
            self.at_least(open_, 1)
        if real:
            made += max(self.rank(a) or 1 for a in real)
        self.at_least(owner, max(least, any(not below for _, below in owner.of)))
        made_of = replace(owner.without(taken - made), known=owner.known and known, integer=owner.integer)
        if len(items) == len(arrays) == 1 and arrays[0].parameter and not real and (self.rank(owner) or 0) > 1:
            return replace(made_of, key=(arrays[0].parameter, self.rank(owner) or 0))
        return made_of

    def size(self, owner: Axes, index: ast.expr) -> Axes:
        """``x.shape[k]``, ``x.shape[:2]``."""
        place = _number(index)
        if place is not None:
            self.at_least(owner, place + 1 if place >= 0 else -place)
            return COUNT
        if isinstance(index, ast.Slice):
            for bound in (index.lower, index.upper):
                if (number := _number(bound)) is not None:
                    self.at_least(owner, number if number >= 0 else -number)
            return Axes(least=1, integer=True)
        self.count(self.value(index))
        return COUNT

    def looked_up(self, table: ast.Dict, key: ast.expr) -> Axes:
        """``{'mean': 0, 'max': 1}[kind]``."""
        found = self.value(key)
        for known in table.keys[:1]:
            if known is not None:
                self.compared(found, known)
        return together([self.value(v) for v in table.values]).alone()

    def attribute(self, node: ast.expr, value: ast.expr, attr: str) -> Axes:
        if path := self.path(node):
            return NUMBER if isinstance(resolved(path), (int, float)) else UNKNOWN
        owner = self.value(value)
        if owner.parameter:
            self.uses[owner.parameter].attributes.add(attr)
        self.whole_array(owner)
        self.asked(owner, attr)
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

    def asked(self, owner: Axes, attr: str) -> None:
        """An expression has an attribute of arrays; elements have some of these as well."""
        if attr == "T":
            self.at_least(owner, 2)
        elif attr in OF_ARRAYS and not (attr in _OF_ELEMENTS and any(below > 0 for _, below in owner.of)):
            self.at_least(owner, 1)

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
            return self.passed_on(function, [] if starred else args, keywords)
        if path := self.path(node.func):
            return self.library(path, node.args, args, keywords, given)
        if isinstance(node.func, ast.Name):
            return self.builtin(node.func.id, node.args, args)
        if isinstance(node.func, ast.Attribute):
            return self.method(node.func, node.args, args, keywords, given)
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

    def passed_on(self, function: Called, args: Sequence[Axes], keywords: dict[str, Axes]) -> Axes:
        """What a function of the module does with its parameters is done with what is passed on to it."""
        theirs = self.looked_at(function)
        if theirs is None:
            return UNKNOWN
        places = [a.arg for a in [*function.args.posonlyargs, *function.args.args]]
        given = dict(zip(places, args, strict=False)) | keywords
        for name, found in given.items():
            if (their := theirs.uses.get(name)) is not None:
                self.used_as(found, their)
        if theirs.returned is None:
            return UNKNOWN
        made = theirs.returned
        if any(name not in given for name, _ in made.of):
            return UNKNOWN
        parts = [replace(given[name].alone().without(below)) for name, below in made.of]
        return together([Axes(least=made.least, known=made.known), *parts]).alone()

    def looked_at(self, function: Called) -> _Looking | None:
        if function not in self.called and self.depth < _CALLS:
            self.called[function] = None
            functions = self.functions if function in self.functions.values() else {}
            self.called[function] = _looked(function, self.find, functions, self.called, self.depth + 1)
        return self.called.get(function)

    def used_as(self, found: Axes, their: Use) -> None:
        """An expression is passed on for a parameter that is used so."""
        if their.low:
            self.at_least(found, their.low)
            self.whole_array(found)
        if their.most is not None:
            self.at_most(found, their.most)
        if their.count:
            self.count(found)
        if not found.parameter:
            return
        use = self.uses[found.parameter]
        use.whole, use.real, use.truth = use.whole or their.whole, use.real or their.real, use.truth or their.truth
        use.entry, use.mask, use.bits = use.entry or their.entry, use.mask or their.mask, use.bits or their.bits
        use.complex, use.index = use.complex or their.complex, use.index or their.index
        use.text = their.text if use.text is None else use.text
        use.other, use.dtype = use.other or their.other, use.dtype or their.dtype
        use.length, use.items = max(use.length, their.length), max(use.items, their.items)
        use.beyond |= their.beyond
        use.attributes |= their.attributes
        for axis, size in their.sizes.items():
            use.sizes.setdefault(axis, size)

    def builtin(self, name: str, nodes: Sequence[ast.expr], args: Sequence[Axes]) -> Axes:
        """A call of one of Python's own functions."""
        first = args[0] if args else UNKNOWN
        match name:
            case "len":
                self.at_least(first, 1)
                self.whole_array(first)
                return COUNT
            case "float" | "complex" | "int" | "round" | "bool":
                self.at_most(first, 0)
                if name == "float":
                    self.real(first)
                return COUNT if name in ("int", "round") else NUMBER
            case "abs":
                return first
            case "min" | "max" if len(args) > 1:
                for one in args:
                    self.at_most(one, 0)
                return together(args)
            case "min" | "max" | "sum":
                self.whole_array(first)
                return self.element(first)
            case "sorted" | "list" | "tuple" | "reversed":
                self.whole_array(first)
                self.at_least(first, 1)
                return first if name == "tuple" else replace(first, items=None)
            case "ord" | "open":
                self.texts(first)
                return COUNT if name == "ord" else UNKNOWN
            case "range" | "chr" | "bin" | "hex":
                for one in args:
                    self.count(one)
                return Axes(least=1, integer=True)
            case "any" | "all":
                self.element(first)
                return NUMBER
            case "enumerate" | "zip":
                for one in args:
                    self.at_least(one, 1)
                    self.whole_array(one)
            case "print" | "isinstance" | "str" | "repr" | "type" | "id" | "hash":
                pass
            case _:
                for one in args:
                    self.whole_array(one)
        return UNKNOWN

    def method(
        self, func: ast.Attribute, nodes: Sequence[ast.expr], args: Sequence[Axes], keywords: dict[str, Axes],
        given: dict[str, ast.expr],
    ) -> Axes:  # fmt: skip
        """A call of a method: what NumPy's function of its name does."""
        owner, attr = self.value(func.value), func.attr
        if owner.parameter:
            self.uses[owner.parameter].attributes.add(attr)
        if owner.made:
            return self.library(f"{owner.made}.{attr}", nodes, args, keywords, given)
        if owner.parameter and attr in _OF_GENERATORS and attr not in OF_ARRAYS and attr not in OF_NUMBERS:
            kind = "Generator" if attr in dir(np.random.Generator) else "RandomState"
            return self.library(f"numpy.random.{kind}.{attr}", nodes, args, keywords, given)
        if attr not in OF_ARRAYS and attr != "conjugate":
            return UNKNOWN
        self.asked(owner, attr)
        self.whole_array(owner)
        if attr in ("astype", "view"):
            self.types([*args, *keywords.values()][:1])
            return owner.alone()
        if attr == "reshape" and len(args) > 1:
            for one in args:
                self.count(one)
            known = not any(isinstance(n, ast.Starred) for n in nodes)
            return Axes(least=len(args), known=known, whole=owner.whole, mask=owner.mask)
        return self.library(f"numpy.{attr}", [func.value, *nodes], [owner, *args], keywords, given)

    def library(
        self, path: str, nodes: Sequence[ast.expr], args: Sequence[Axes], keywords: dict[str, Axes],
        given: dict[str, ast.expr],
    ) -> Axes:  # fmt: skip
        """A call of a function of NumPy's, or of Python's."""
        if path.startswith("math."):
            for one in args:
                self.at_most(one, 0)
                if path.endswith((".comb", ".perm", ".gcd", ".lcm", ".factorial", ".isqrt")):
                    self.count(one)
                else:
                    self.real(one)
            return COUNT if path.endswith((".comb", ".floor", ".ceil", ".gcd")) else NUMBER
        function = resolved(path)
        if isinstance(function, np.ufunc):
            return self.ufunc(path, function, args)
        if path.endswith(".at") and len(args) > 1:  # of a ufunc
            for index in args[1].items or args[1:2]:
                self.count(index)
                self.at_least(index, 1)
            return UNKNOWN
        known = documented(path)
        named = dict(zip(known.places, args, strict=False)) | keywords
        expressions = dict(zip(known.places, nodes, strict=False)) | given
        for place, (name, one) in enumerate(named.items()):
            if name == "dtype":
                self.types([one])
            self.documented(known.told.get(name, ()), one, not place and results.of_arrays(path))
        over_axes = "axis" in known.told
        self.makes_arrays = self.makes_arrays or results.makes_arrays(path, named)
        return results.made(self, path, [*zip(nodes, args, strict=True)], named, expressions, over_axes)

    def documented(self, told: Sequence[Told], found: Axes, first: bool) -> None:
        """What NumPy's documentation says of a parameter is so of what is passed for it."""
        kinds = {one.kind for one in told}
        arrays = [one for one in told if one.kind == "array"]
        if found.parameter and "array" in kinds:
            self.uses[found.parameter].entry = True
        if "integer" in kinds:
            if "tuple" in kinds and found.parameter:
                self.shape_of(found)
            if kinds & {"number", "array", "text"}:
                self.maybe_count(found)
            elif "number" not in kinds:
                self.count(found)
        elif arrays:
            self.whole_array(found)
            least = min(len(one.sizes) for one in arrays)
            self.at_least(found, max(least, first and 1))
            if len(arrays) == len(told) == 1 and least and not arrays[0].more:
                self.at_most(found, least)
            if all(one.dtype == "int64" for one in arrays):
                self.count(found)
        elif kinds == {"number"}:
            self.at_most(found, 0)
        elif kinds == {"dtype"}:
            self.types([found])
        elif kinds == {"truth"} and found.parameter:
            self.uses[found.parameter].truth = True
        for one in told:
            if one.text is not None and found.parameter and self.uses[found.parameter].text is None:
                self.uses[found.parameter].text = one.text

    def ufunc(self, path: str, function: np.ufunc, args: Sequence[Axes]) -> Axes:
        inputs = args[: function.nin]
        real = not any(types.startswith(("l", "q")) for types in function.types)
        for one in inputs:
            self.whole_array(one)
            if one.parameter:
                self.uses[one.parameter].entry = True
            if real:
                self.real(one)
        if path.endswith(("conj", "conjugate")):
            self.complex(together(inputs))
        if len(inputs) == 2:
            self.paired(inputs[0], inputs[1])
        if function.nout > 1:
            return Axes(items=(together(inputs).alone(),) * function.nout)
        both = together(inputs)
        mask = all(types.endswith("?") for types in function.types)
        return replace(both, mask=mask, whole=() if real or mask else both.whole)

    def types(self, given: Sequence[Axes]) -> None:
        """What a call takes for a dtype."""
        for found in given:
            if found.parameter:
                self.uses[found.parameter].dtype = True

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


_ARITHMETIC = (ast.BinOp, ast.UnaryOp, ast.Constant, ast.operator, ast.unaryop)


def _of_texts(table: ast.Dict) -> Axes:
    """A dict, which may have texts for its keys."""
    first = table.keys[0] if table.keys else None
    if isinstance(first, ast.Constant) and isinstance(first.value, str):
        return replace(UNKNOWN, text=first.value)
    return UNKNOWN


def _number(node: ast.expr | None) -> int | None:
    """The integer that an expression is written as."""
    match node:
        case ast.Constant(value=int() as value):
            return value
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() as value)):
            return -value
    return None


def _gets_axes(node: ast.expr) -> bool:
    """Whether it is a subscript that makes an axis: ``masses[:, None]``."""
    index = node.slice if isinstance(node, ast.Subscript) else None
    return isinstance(index, ast.Tuple) and any(map(_is_new, index.elts))


def _is_new(item: ast.expr) -> bool:
    """Whether a subscript takes no axis, and makes one: ``None``."""
    if isinstance(item, ast.Attribute):
        return item.attr == "newaxis"
    return isinstance(item, ast.Constant) and item.value is None
