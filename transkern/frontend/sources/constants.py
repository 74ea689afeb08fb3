"""The constants of a module that is read as text: computed here, node by node, and by nothing that the text could name
beside what the tables below allow.

Allowed are literals, displays, arithmetic, comparisons and subscripts of constants, and the functions in `_CALLS`,
NumPy's elementwise functions and `math`: none of them reads or writes anything but its arguments. What each would make
is measured before it is made (`measures`). All else raises `Refused`, which says what to write instead.
"""

from __future__ import annotations

import ast
import cmath
import math
import operator
import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from transkern import refusals
from transkern.errors import CompileError
from transkern.frontend.sources import identity
from transkern.frontend.sources.bindings import Bindings
from transkern.frontend.sources.measures import NotComputed, check_arithmetic, check_value, cost, elements
from transkern.frontend.sources.pure import call, method, of_dict

_STEPS = 300_000  # of one module: nodes evaluated, and items counted
_DEPTH = 100  # of names and displays in each other

_BINARY: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod, ast.Pow: operator.pow, ast.LShift: operator.lshift,
    ast.RShift: operator.rshift, ast.BitAnd: operator.and_, ast.BitOr: operator.or_, ast.BitXor: operator.xor,
}  # fmt: skip
_UNARY: dict[type[ast.unaryop], Callable[[Any], Any]] = {
    ast.USub: operator.neg, ast.UAdd: operator.pos, ast.Invert: operator.invert, ast.Not: operator.not_,
}  # fmt: skip
_COMPARED: dict[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt, ast.GtE: operator.ge, ast.Eq: operator.eq,
    ast.NotEq: operator.ne, ast.Is: operator.is_, ast.IsNot: operator.is_not,
    ast.In: lambda x, y: x in y, ast.NotIn: lambda x, y: x not in y,
}  # fmt: skip
_OBJECTS: dict[str, Any] = {
    f"{module.__name__}.{name}": value
    for module in (np, math, cmath) for name, value in vars(module).items()
    if not name.startswith("_") and (
        value is None or isinstance(value, (bool, int, float, complex))
        or (isinstance(value, type) and issubclass(value, (np.bool_, np.number)))
    )
} | {f"builtins.{kind.__name__}": kind for kind in (bool, int, float, complex)}  # fmt: skip
"""What libraries' names stand for that are numbers and types of numbers."""
_PATHS = {value: path for path, value in _OBJECTS.items() if isinstance(value, type)}
_ATTRIBUTES = frozenset(["T", "real", "imag", "shape", "ndim", "size", "dtype", "itemsize", "nbytes"])
_OF_DTYPES = frozenset(["char", "itemsize", "kind", "name", "str", "type"])
_OF_LIMITS = frozenset(["bits", "dtype", "eps", "epsneg", "max", "min", "precision", "resolution", "tiny"])
_HELP = (
    "write the numbers out, compute it in the function, or pass it as an argument; in a program, "
    "@transkern.compile takes any constant"
)


_ONCE = "bind it once, by a statement of its own"

CLASS = "a class, and of a file that is read as text no class is known"
CLASS_HELP = "use @transkern.compile in a program, where classes are known; here pass numbers and arrays"


class Refused(Exception):
    """A constant that is not computed: where, why, and what to write instead."""

    def __init__(
        self, node: ast.AST, why: str, help: str = _HELP, kind: refusals.Kind = refusals.MODULE_CONSTANT
    ) -> None:
        super().__init__(why)
        self.node, self.why, self.help, self.kind = node, why, help, kind
        self.module: Names | None = None  # that the node stands in


@dataclass(frozen=True, slots=True)
class Named:
    """A library's module or function, by its dotted path."""

    path: str


def not_told(path: str) -> tuple[str, str] | None:
    """What is said, and what helps, of a library's name of which nobody knows whether it is a function or a number."""
    if identity.is_told(path):
        return None
    return (
        f"it is not known what `{path}` is: a file that is read as text imports nothing",
        "write the number (text) itself, or pass it as an argument; in a program, @transkern.compile knows it",
    )


class Names(Protocol):
    """A module, as far as its constants need it."""

    constants: Constants

    @property
    def bound(self) -> Bindings:
        """What its statements bind."""

    def refusal(self, name: str) -> CompileError | None:
        """Why a name that it binds is not known, if that is so."""

    def meaning(self, name: str) -> Named | Names | Member | None:
        """What a name stands for that the module does not make itself."""

    def within(self, name: str) -> Named | Names | Member | None:
        """What a name of the module stands for in others."""

    def disturbed(self, name: str) -> tuple[ast.AST, Names] | None:
        """Where another module may change what stands for a name of this one."""


@dataclass(frozen=True, slots=True)
class Member:
    """A function or a constant of a module."""

    module: Names
    name: str


def library_names(library: types.ModuleType) -> Sequence[str]:
    """What ``from library import *`` binds."""
    return getattr(library, "__all__", None) or [name for name in vars(library) if not name.startswith("_")]


class Constants:
    """The values of a module's constants, each computed once."""

    def __init__(self, module: Names) -> None:
        self.module = module
        self.values: dict[str, Any] = {}
        self.refused: dict[str, Refused] = {}
        self.pending: list[str] = []
        self.local: dict[str, Any] = {}  # the names of comprehensions
        self.steps = self.depth = 0

    def value(self, name: str) -> Any:
        """The value of a constant; raises Refused."""
        if (by := self.module.bound.rebound) is not None:
            help = "bind names by statements of the module"
            raise self._placed(Refused(by, "any name may be bound anew here", help, refusals.MODULE_CHANGES))
        found = self._made(name)
        if _changes(found):
            by = self._changed_by(name)
            where = self.module.disturbed(name) if by is None else (by, self.module)
            if where is not None:
                problem = f"`{name}` may be changed here after it was made"
                error = Refused(where[0], problem, "make it in one statement", refusals.MODULE_CHANGES)
                error.module = where[1]
                raise error
        return found

    def computed(self, node: ast.expr) -> Any:
        """The value of an expression of the module; raises Refused."""
        return self._expr(node)

    def _made(self, name: str) -> Any:
        if name in self.refused:
            raise self.refused[name]
        if name in self.values:
            return self.values[name]
        binding = self.module.bound.names[name]
        try:
            if name in self.pending:
                raise Refused(binding.node, f"`{name}` is made of itself")
            if not isinstance(binding.meaning, ast.expr):
                raise self._no_constant(binding.node, name)
            self.pending.append(name)
            outer, self.local = self.local, {}
            try:
                self.values[name] = self._expr(binding.meaning)
            finally:
                self.local = outer
                self.pending.pop()
        except Refused as error:
            self.refused[name] = self._placed(error)
            raise
        return self.values[name]

    def _placed(self, error: Refused) -> Refused:
        error.module = error.module or self.module
        return error

    def _changed_by(self, name: str) -> ast.AST | None:
        """A statement that may change what a name stands for, or what shares memory with it."""
        bound = self.module.bound
        pending, seen = [name], {name}
        while pending:
            one = pending.pop()
            if one in bound.changed:
                return bound.changed[one]
            for other in bound.linked.get(one, set()) - seen:
                binding = bound.names.get(other)
                if binding is not None and isinstance(binding.meaning, ast.expr) and self._may_share(other):
                    seen.add(other)
                    pending.append(other)
        return None

    def _may_share(self, name: str) -> bool:
        try:
            return _changes(self._made(name))
        except Refused:
            return True

    # --- expressions

    def _expr(self, node: ast.expr) -> Any:
        self._count(node)
        self.depth += 1
        try:
            if self.depth > _DEPTH:
                raise Refused(node, "nested too deeply", "give parts of it names of their own")
            found = self._computed(node)
            check_value(found)
            self._count(node, cost(found))
            return found
        except NotComputed as error:
            raise Refused(node, f"{error}", _HELP) from None
        except (ArithmeticError, ValueError, TypeError, LookupError, AttributeError) as error:
            raise Refused(node, f"{type(error).__name__}: {error}", "the module raises this, too") from None
        finally:
            self.depth -= 1

    def _count(self, node: ast.AST, steps: int = 1) -> None:
        self.steps += steps
        if self.steps > _STEPS:
            raise Refused(node, "the constants of this module need too many steps")

    def _computed(self, node: ast.expr) -> Any:
        match node:
            case ast.Constant(value=value):
                return value
            case ast.Name(id=name):
                return self._name(node, name)
            case ast.Attribute(value=owner, attr=name):
                return self._attribute(node, self._expr(owner), name)
            case ast.Tuple(elts=elts):
                return tuple(self._items(node, elts))
            case ast.List(elts=elts):
                return self._items(node, elts)
            case ast.Set(elts=elts):
                return set(self._items(node, elts))
            case ast.Dict(keys=keys, values=values):
                return self._dict(node, keys, values)
            case ast.UnaryOp(op=op, operand=operand):
                return _UNARY[type(op)](self._operand(operand))
            case ast.BinOp(left=left, op=op, right=right) if type(op) in _BINARY:
                x, y = self._operand(left), self._operand(right)
                check_arithmetic(type(op).__name__, x, y)
                return _quietly(_BINARY[type(op)], x, y)
            case ast.BoolOp(op=op, values=values):
                for part in values:
                    found = self._operand(part)
                    if bool(found) is isinstance(op, ast.Or):
                        break
                return found
            case ast.Compare(left=left, ops=ops, comparators=others):
                return self._compare(left, ops, others)
            case ast.IfExp(test=test, body=body, orelse=orelse):
                return self._operand(body if self._operand(test) else orelse)
            case ast.Subscript(value=owner, slice=index):
                held = self._operand(owner)
                if not isinstance(held, (tuple, list, dict, str, np.ndarray)):
                    raise Refused(node, "a subscript of this is not computed")
                at = self._operand(index)
                if isinstance(held, np.ndarray) and not _is_basic(at):
                    raise Refused(node, "an array is subscripted by whole numbers and slices only")
                return held[at]
            case ast.Slice(lower=lower, upper=upper, step=step):
                return slice(*(None if p is None else self._operand(p) for p in (lower, upper, step)))
            case ast.Call():
                return self._call(node)
            case ast.ListComp(elt=elt) | ast.SetComp(elt=elt) | ast.GeneratorExp(elt=elt):
                found = [self._item(elt) for _ in self._turns(node.generators)]
                return set(found) if isinstance(node, ast.SetComp) else found
            case ast.DictComp(key=key, value=value):
                return {self._item(key): self._item(value) for _ in self._turns(node.generators)}
            case _:
                raise Refused(node, f"`{type(node).__name__}` is not computed")

    def _operand(self, node: ast.expr) -> Any:
        """A value with which something is done: not the name of a library's function."""
        found = self._expr(node)
        if isinstance(found, Named) or _is_module(found):
            raise _no_value(found, node)
        return found

    def _item(self, node: ast.expr) -> Any:
        return _object(self._expr(node), node)

    def _turns(self, generators: Sequence[ast.comprehension]) -> Iterator[None]:
        """The turns of the loops of a comprehension; in each its names have their values."""
        if not generators:
            self._count(ast.Pass())
            yield
            return
        (first, *rest), outer = generators, self.local
        source = self._operand(first.iter)
        if not isinstance(source, (tuple, list, range, dict, str)):
            raise Refused(first.iter, "a loop over this is not computed")
        for value in source:
            self.local = {**outer, **dict(self._bound(first.target, value))}
            try:
                if all(self._operand(test) for test in first.ifs):
                    yield from self._turns(rest)
            finally:
                self.local = outer

    def _bound(self, target: ast.expr, value: Any) -> Iterator[tuple[str, Any]]:
        match target:
            case ast.Name(id=name):
                yield name, value
            case ast.Tuple(elts=elts) | ast.List(elts=elts) if isinstance(value, (tuple, list)):
                if len(elts) != len(value):
                    raise Refused(target, "the loop's values do not fit its names")
                for e, v in zip(elts, value, strict=True):
                    yield from self._bound(e, v)
            case _:
                raise Refused(target, "a loop with this target is not computed")

    def _name(self, node: ast.AST, name: str) -> Any:
        if name in self.local:
            return self.local[name]
        binding = self.module.bound.names.get(name)
        if binding is not None and binding.times > 1:
            problem = f"`{name}` is bound more than once: which value it has here is not known"
            raise Refused(node, problem, _ONCE, refusals.MODULE_CHANGES)
        if binding is not None and isinstance(binding.meaning, ast.expr):
            return self._made(name)
        found = self.module.meaning(name)
        if found is None:
            raise self._no_constant(node, name)
        return self._resolved(node, found)

    def _no_constant(self, node: ast.AST, name: str) -> Refused:
        """Why a name of the module has no value, as far as that is known."""
        binding = self.module.bound.names.get(name)
        if binding is None:
            return Refused(node, f"`{name}` is not known here", "bind or import it", refusals.UNKNOWN_NAME)
        if isinstance(binding.node, ast.ClassDef):
            return Refused(node, f"`{name}` is {CLASS}", CLASS_HELP, refusals.UNKNOWN_NAME)
        if binding.why and not isinstance(binding.node, ast.AsyncFunctionDef):
            return Refused(node, f"`{name}` is {binding.why}", _ONCE, refusals.MODULE_CHANGES)
        return Refused(node, f"`{name}` is no constant")

    def _resolved(self, node: ast.AST, found: Named | Names | Member | None, why: str = "") -> Any:
        """A constant of another module or of a library; what is a module or a function stays a name."""
        match found:
            case None:
                raise Refused(node, why)
            case Member(module, name):
                if not isinstance(module.bound.names[name].meaning, ast.expr):
                    raise Refused(node, f"`{name}` is no constant")
                return module.constants.value(name)
            case Named(path):
                return _OBJECTS.get(path, found)
            case _:
                return found

    def _attribute(self, node: ast.AST, owner: Any, name: str) -> Any:
        if isinstance(owner, Named):
            return self._resolved(node, Named(f"{owner.path}.{name}"))
        if _is_module(owner):
            return self._resolved(node, owner.within(name), f"`{name}` is no constant of that module")
        if isinstance(owner, (np.ndarray, np.generic, int, float, complex)) and name in _ATTRIBUTES:
            return getattr(owner, name)
        if isinstance(owner, np.dtype) and name in _OF_DTYPES:
            return getattr(owner, name)
        if isinstance(owner, (np.finfo, np.iinfo)) and name in _OF_LIMITS:
            return getattr(owner, name)
        raise Refused(node, f"`.{name}` of this is not computed")

    def _items(self, node: ast.AST, elts: Sequence[ast.expr]) -> list[Any]:
        items: list[Any] = []
        for e in elts:
            if isinstance(e, ast.Starred):
                several = self._operand(e.value)
                if not isinstance(several, (tuple, list, range)):
                    raise Refused(e, "`*` of this is not computed")
                self._count(e, len(several))
                items += several
            else:
                items.append(_object(self._expr(e), e))
        self._count(node, elements(items))
        return items

    def _dict(self, node: ast.AST, keys: Sequence[ast.expr | None], values: Sequence[ast.expr]) -> dict[Any, Any]:
        made: dict[Any, Any] = {}
        for key, value in zip(keys, values, strict=True):
            if key is None:
                made |= self._operand(value)
            else:
                made[_object(self._expr(key), key)] = _object(self._expr(value), value)
        self._count(node, elements(made))
        return made

    def _compare(self, left: ast.expr, ops: Sequence[ast.cmpop], others: Sequence[ast.expr]) -> Any:
        x: Any = self._operand(left)
        found: Any = True
        for op, other in zip(ops, others, strict=True):
            y = self._operand(other)
            check_arithmetic("compare", x, y)
            found, x = _COMPARED[type(op)](x, y), y
            if len(ops) > 1 and not found:
                return found
        return found

    # --- calls

    def _call(self, node: ast.Call) -> Any:
        args = self._items(node, node.args)
        if any(k.arg is None for k in node.keywords):
            raise Refused(node, "`**` in a call is not computed")
        named = {str(k.arg): _object(self._expr(k.value), k.value) for k in node.keywords}
        if isinstance(node.func, ast.Attribute):
            owner = self._expr(node.func.value)
            if isinstance(owner, (dict, np.ndarray)):
                return self._method(node, owner, node.func.attr, args, named)
            called = self._attribute(node.func, owner, node.func.attr)
        else:
            called = self._expr(node.func)
        path = called.path if isinstance(called, Named) else _PATHS.get(called) if isinstance(called, type) else None
        if path is None:
            raise Refused(node, "a call of this is not computed: only functions of NumPy's and `math` are")
        made = call(path, args, named)
        if made is NotImplemented:
            shown = path.replace("numpy.", "np.").replace("builtins.", "")
            raise Refused(node, f"`{shown}` is not computed for a file that is read as text")
        self._count(node, elements(made))
        return made

    def _method(self, node: ast.Call, owner: Any, name: str, args: list[Any], named: Mapping[str, Any]) -> Any:
        made = of_dict(owner, name, args, named) if isinstance(owner, dict) else method(owner, name, args, named)
        if made is NotImplemented:
            kind = "a dict" if isinstance(owner, dict) else "an array"
            raise Refused(node, f"`.{name}` of {kind} is not computed for a file that is read as text")
        return made


def _quietly(function: Callable[..., Any], *args: Any) -> Any:
    with np.errstate(all="ignore"):
        return function(*args)


def _object(value: Any, node: ast.expr) -> Any:
    """A value as an item: the names of functions are not."""
    if isinstance(value, Named) or _is_module(value):
        raise _no_value(value, node)
    return value


def _no_value(found: Any, node: ast.AST) -> Refused:
    """The refusal of a module, or a library's name, where a value is needed."""
    if isinstance(found, Named) and (told := not_told(found.path)) is not None:
        return Refused(node, *told, refusals.UNKNOWN_NAME)
    what = f"`{found.path.replace('numpy.', 'np.', 1).removeprefix('builtins.')}`" if isinstance(found, Named) else "it"
    return Refused(node, f"{what} is a function or a module, and no constant")


def _is_module(value: Any) -> bool:
    return hasattr(value, "constants") and hasattr(value, "bound")


def _is_basic(at: Any) -> bool:
    parts = at if isinstance(at, tuple) else (at,)
    return all(p is None or p is Ellipsis or type(p) in (int, slice) for p in parts)


def _changes(value: Any) -> bool:
    """Whether a value can change: a list, a dict, a set, an array, or what has one in it."""
    if isinstance(value, tuple):
        return any(map(_changes, value))
    return isinstance(value, (list, dict, set, np.ndarray))
