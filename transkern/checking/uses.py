"""What the text of a function shows of its parameters: the axes that subscripts need, numbers that count, texts.

This is no analysis that anything relies on. It looks for the types that a function is likely to be called with, where
nobody says them; whoever reports what came of it says which types they were.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np

_SAME = frozenset({"asarray", "asanyarray", "array", "ascontiguousarray", "asfarray", "copy", "astype", "atleast_1d"})
"""Functions and methods whose result has the axes of their first argument."""

_NDIM = {
    **dict.fromkeys(("inv", "det", "slogdet", "cholesky", "eig", "eigh", "eigvals", "eigvalsh", "svd", "pinv"), 2),
    **dict.fromkeys(("qr", "solve", "lstsq", "matrix_rank", "matrix_power", "fill_diagonal", "atleast_2d"), 2),
    **dict.fromkeys(("trace", "tril", "triu", "fliplr", "fft2", "ifft2", "rfft2"), 2),
}
"""How many axes the first argument of a function has, where it is no matter of taste."""

_SIZED = frozenset({"zeros", "ones", "empty", "full", "eye", "identity", "arange", "tri", "reshape"})
_OF_ARRAYS = frozenset(dir(np.ndarray)) - frozenset(dir(object)) - {"real", "imag", "conjugate"}
_OF_NUMBERS = frozenset({*dir(float), *dir(complex)})


@dataclass(slots=True)
class Use:
    """What is known of one parameter.

    `ndim`: axes that it has at least; `exact`: as many as it has; `array`, `count`, `number`, `entry`: it is used as an
    array, as an integer that counts, as a number, as an operand of a NumPy function; `text`: one that it is compared
    with; `dtype`: it is one; `sizes`: lengths of axes; `other`: why it is nothing of these.
    """

    ndim: int = 0
    exact: int | None = None
    array: bool = False
    count: bool = False
    number: bool = False
    entry: bool = False
    text: str | None = None
    dtype: bool = False
    sizes: dict[int, int] = field(default_factory=dict)
    other: str = ""

    @property
    def is_open(self) -> bool:
        """Whether it may be a number or an array, as far as the text shows."""
        return not (self.array or self.count or self.dtype or self.other or self.text is not None)

    def axes(self, ndim: int) -> None:
        """It has at least so many axes."""
        self.array, self.ndim = True, max(self.ndim, ndim)


Finder = Callable[[ast.expr], ast.FunctionDef | None]
"""The function of the same module that an expression calls."""


def uses_of(node: ast.FunctionDef, find: Finder, depth: int = 2) -> dict[str, Use]:
    """What a function's text shows of its parameters, by name; `find` is asked for functions that it calls."""
    args = node.args
    looking = _Looking(find, depth, {a.arg: Use() for a in [*args.posonlyargs, *args.args, *args.kwonlyargs]})
    for name in looking.uses:
        looking.names[name] = name, 0
    for statement in node.body:
        looking.look(statement)
    return looking.uses


@dataclass(slots=True)
class _Looking:
    find: Finder
    depth: int
    uses: dict[str, Use]
    names: dict[str, tuple[str, int]] = field(default_factory=dict)  # the parameter that a name is, or a part of
    counters: set[str] = field(default_factory=set)  # names that loops count with

    def of(self, node: ast.expr) -> tuple[str, int] | None:
        """The parameter that an expression is, or how many axes below it an element of it stands."""
        match node:
            case ast.Name(id=name):
                return self.names.get(name)
            case ast.Subscript(value=value, slice=index):
                if (owner := self.of(value)) is None:
                    return None
                items = index.elts if isinstance(index, ast.Tuple) else [index]
                if not all(_keeps(i) or self.is_place(i) for i in items):
                    return None
                return owner[0], owner[1] + sum(not _keeps(i) for i in items)
            case ast.Call(func=ast.Attribute(value=value, attr=attr), args=args) if attr in _SAME:
                first = args[0] if args and _is_module(value) else value
                return self.of(first)
        return None

    def is_place(self, item: ast.expr) -> bool:
        """Whether a subscript is one number, as far as anybody can see."""
        match item:
            case ast.Constant(value=value):
                return isinstance(value, int)
            case ast.Name(id=name):
                return name in self.counters
            case ast.UnaryOp(operand=operand):
                return self.is_place(operand)
            case ast.BinOp(left=left, right=right):
                return self.is_place(left) and self.is_place(right)
        return False

    def use(self, node: ast.expr) -> tuple[Use, int] | None:
        """What is known of the parameter that an expression is, and how far below it."""
        found = self.of(node)
        return None if found is None else (self.uses[found[0]], found[1])

    def axes(self, node: ast.expr, ndim: int) -> None:
        """An expression has at least so many axes."""
        if (found := self.use(node)) is not None:
            found[0].axes(found[1] + ndim)

    def count(self, node: ast.expr) -> None:
        """What stands in an expression is a number that counts."""
        for x in _numbers(node):
            if (found := self.use(x)) is not None:
                found[0].count = True

    def look(self, node: ast.AST) -> None:
        """Looks at a statement or an expression, and at what is in it."""
        match node:
            case ast.FunctionDef() | ast.Lambda() | ast.ClassDef() | ast.AsyncFunctionDef():
                return
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if (found := self.of(value)) is not None:
                if name not in self.uses or found[0] == name:
                    self.names[name] = found
            case ast.Assign(targets=[ast.Tuple(elts=targets)], value=value):
                self.unpacked(targets, value)
            case ast.For(target=target, iter=source):
                self.loop(target, source)
            case ast.comprehension(target=target, iter=source):
                self.loop(target, source)
            case ast.Subscript():
                self.subscript(node)
            case ast.Attribute(value=value, attr=attr):
                self.attribute(value, attr)
            case ast.Call():
                self.call(node)
            case ast.BinOp(left=left, op=op, right=right):
                self.operator(left, op, right)
            case ast.Compare(left=left, comparators=others):
                self.comparison([left, *others])
        for child in ast.iter_child_nodes(node):
            self.look(child)

    def unpacked(self, targets: list[ast.expr], value: ast.expr) -> None:
        if any(isinstance(t, ast.Starred) for t in targets):
            return
        match value:
            case ast.Attribute(value=owner, attr="shape") if (found := self.use(owner)) is not None and not found[1]:
                found[0].array, found[0].exact = True, len(targets)
            case _ if (found := self.use(value)) is not None:
                found[0].axes(found[1] + 1)
                found[0].sizes[found[1]] = len(targets)

    def loop(self, target: ast.expr, source: ast.expr) -> None:
        match source:
            case ast.Call(func=ast.Name(id="range"), args=args):
                for a in args:
                    self.count(a)
                if isinstance(target, ast.Name):
                    self.counters.add(target.id)
            case ast.Call(func=ast.Name(id="enumerate"), args=[first, *_]):
                if isinstance(target, ast.Tuple) and target.elts and isinstance(target.elts[0], ast.Name):
                    self.counters.add(target.elts[0].id)
                inner = target.elts[1] if isinstance(target, ast.Tuple) and len(target.elts) == 2 else None
                self.elements(inner, first)
            case ast.Call(func=ast.Name(id="zip"), args=args):
                inner_targets = target.elts if isinstance(target, ast.Tuple) else []
                for position, a in enumerate(args):
                    self.elements(inner_targets[position] if position < len(inner_targets) else None, a)
            case _:
                self.elements(target, source)

    def elements(self, target: ast.expr | None, source: ast.expr) -> None:
        """A loop over the elements of an expression."""
        if (found := self.of(source)) is None:
            return
        name, below = found
        self.uses[name].axes(below + 1)
        match target:
            case ast.Name(id=bound):
                self.names.setdefault(bound, (name, below + 1))
            case ast.Tuple(elts=targets):
                self.uses[name].axes(below + 2)
                self.uses[name].sizes[below + 1] = len(targets)

    def subscript(self, node: ast.Subscript) -> None:
        items = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        for item in items:
            parts = [item.lower, item.upper, item.step] if isinstance(item, ast.Slice) else [item]
            for part in parts:
                if part is not None:
                    self.count(part)
        if (found := self.use(node.value)) is None:
            return
        if any(isinstance(i, ast.Constant) and isinstance(i.value, str) for i in items):
            found[0].other = "it is subscripted with texts"
            return
        found[0].axes(found[1] + sum(not _is_new(i) for i in items))

    def attribute(self, value: ast.expr, attr: str) -> None:
        if (found := self.use(value)) is None:
            return
        if attr == "T":
            found[0].axes(found[1] + 2)
        elif attr in _OF_ARRAYS:
            found[0].axes(found[1] + 1)
        elif attr not in _OF_NUMBERS and not found[1]:
            found[0].other = found[0].other or f"it has an attribute `{attr}`"

    def call(self, node: ast.Call) -> None:
        self.types(node)
        if isinstance(node.func, ast.Name) and (found := self.use(node.func)) is not None:
            found[0].other = "it is called"
        if not node.args:
            self.over_axis(node)
            return
        first = node.args[0]
        match node.func:
            case ast.Name(id="len" | "sum" | "sorted" | "list" | "tuple" | "enumerate"):
                self.axes(first, 1)
            case ast.Name(id="float"):
                if (found := self.use(first)) is not None:
                    found[0].number = True
            case ast.Attribute(value=ast.Name(id="math")):
                for a in node.args:
                    if (found := self.use(a)) is not None and not found[1]:
                        found[0].number = True
            case ast.Attribute(value=owner, attr=attr) if _is_module(owner):
                if attr in _SIZED:
                    for a in node.args[attr == "reshape" :]:
                        self.count(a)
                elif (found := self.use(first)) is not None:
                    found[0].entry = True
                    if attr in _NDIM:
                        found[0].axes(found[1] + _NDIM[attr])
                self.over_axis(node)
            case ast.Attribute(attr="reshape"):
                for a in node.args:
                    self.count(a)
            case ast.Attribute():
                self.over_axis(node)
        self.passed_on(node)

    def types(self, node: ast.Call) -> None:
        """What a call takes for a dtype."""
        given = [k.value for k in node.keywords if k.arg == "dtype"]
        if isinstance(node.func, ast.Attribute) and node.func.attr in ("astype", "dtype", "view", "iinfo", "finfo"):
            given += node.args[:1]
        for value in given:
            if (found := self.use(value)) is not None and not found[1]:
                found[0].dtype = True

    def over_axis(self, node: ast.Call) -> None:
        """`axis=` says how many axes there are at least."""
        axis = next((k.value for k in node.keywords if k.arg == "axis"), None)
        if not isinstance(node.func, ast.Attribute):
            return
        owner = node.args[0] if _is_module(node.func.value) and node.args else node.func.value
        values = axis.elts if isinstance(axis, ast.Tuple) else [] if axis is None else [axis]
        for value in values:
            with_sign = value.operand if isinstance(value, ast.UnaryOp) else value
            if isinstance(with_sign, ast.Constant) and isinstance(with_sign.value, int):
                self.axes(owner, with_sign.value if isinstance(value, ast.UnaryOp) else with_sign.value + 1)

    def passed_on(self, node: ast.Call) -> None:
        """What a function of the module does with its parameters is done with what is passed on to it."""
        called = self.find(node.func) if self.depth else None
        if called is None or not any(self.of(a) for a in [*node.args, *(k.value for k in node.keywords)]):
            return
        theirs = uses_of(called, self.find, self.depth - 1)
        places = [a.arg for a in [*called.args.posonlyargs, *called.args.args]]
        pairs = [*zip(places, node.args, strict=False), *((k.arg or "", k.value) for k in node.keywords)]
        for name, given in pairs:
            their = theirs.get(name)
            if their is None or (found := self.use(given)) is None:
                continue
            use, below = found
            if their.array:
                use.axes(below + (their.exact or max(their.ndim, 1)))
            if not below:
                use.count, use.number = use.count or their.count, use.number or their.number
                use.text, use.other = use.text or their.text, use.other or their.other
                use.dtype = use.dtype or their.dtype

    def operator(self, left: ast.expr, op: ast.operator, right: ast.expr) -> None:
        match op:
            case ast.MatMult():
                for side in (left, right):
                    if (found := self.use(side)) is not None:
                        upper = isinstance(side, ast.Name) and side.id[:1].isupper()
                        found[0].axes(found[1] + (2 if upper else 1))
            case ast.LShift() | ast.RShift() | ast.BitAnd() | ast.BitOr() | ast.BitXor():
                pass
            case ast.Mult() if isinstance(left, ast.List):
                self.count(right)

    def comparison(self, sides: list[ast.expr]) -> None:
        for side in sides:
            if (found := self.use(side)) is None or found[1]:
                continue
            for other in sides:
                texts = other.elts if isinstance(other, (ast.Tuple, ast.List, ast.Set)) else [other]
                for text in texts:
                    if isinstance(text, ast.Constant) and isinstance(text.value, str) and found[0].text is None:
                        found[0].text = text.value


def _is_module(node: ast.expr) -> bool:
    """Whether a text reads as a module of NumPy's: ``np``, ``numpy.linalg``."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return isinstance(node, ast.Name) and node.id in ("np", "numpy", "xp", "linalg", "jnp", "scipy")


def _keeps(item: ast.expr) -> bool:
    """Whether a subscript keeps its axis, or makes one."""
    return isinstance(item, ast.Slice) or (isinstance(item, ast.Constant) and item.value in (None, Ellipsis))


def _is_new(item: ast.expr) -> bool:
    """Whether a subscript takes no axis: ``None``, ``...``."""
    if isinstance(item, ast.Attribute):
        return item.attr == "newaxis"
    return isinstance(item, ast.Constant) and item.value in (None, Ellipsis)


def _numbers(node: ast.expr) -> Iterator[ast.expr]:
    """The names in an expression of integers, those of functions and subscripted ones left out."""
    match node:
        case ast.Name():
            yield node
        case ast.BinOp(left=left, right=right):
            yield from _numbers(left)
            yield from _numbers(right)
        case ast.UnaryOp(operand=operand):
            yield from _numbers(operand)
        case ast.Tuple(elts=elts):
            for e in elts:
                yield from _numbers(e)
