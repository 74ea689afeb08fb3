"""Which attributes of an object a function uses, as its text says: the others take no part in a call.

    class Filter:
        def update(self, z):
            self.x = self.x + self.gain * (z - self.predicted())      # x, gain, and what `predicted` uses

An object holds more than one of its methods needs: a history that grows, a name, a lock. Taken apart with the rest, it
would cost each call time, be another type after each step, and be refused where compiled code has nothing of the kind.
Where the text does not tell (the object is handed on to what nobody can look into, compared, put into a list), all
attributes count. Of those that do, and of lists and dicts themselves, it is told which are only appended to.
"""

from __future__ import annotations

import ast
import functools
import inspect
import linecache
import textwrap
import tokenize
import types
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any
from weakref import WeakKeyDictionary

from transkern.frontend.sources.module_names import ModuleNames
from transkern.plain import is_plain_object
from transkern.runtime.calls.appended import Place, Places, only_appended
from transkern.runtime.structures import ALL, Used

_LOOK_AROUND = frozenset({"super", "__class__", "locals", "vars", "eval", "exec", "dir", "globals"})
"""What may use an attribute without saying so."""

_HOOKS = ("__getattr__", "__getattribute__", "__setattr__", "__delattr__")

_Asked = tuple[type, str, Any]  # a class, an attribute's name, and what the class has by it

_known: WeakKeyDictionary[Callable[..., Any], dict[tuple[str, type], tuple[Used, list[_Asked]]]]
_known = WeakKeyDictionary()
_definitions: WeakKeyDictionary[types.FunctionType, ast.FunctionDef | None] = WeakKeyDictionary()


def used_by(function: Callable[..., Any]) -> Callable[[str, Any], Used]:
    """What tells what the function uses of an argument, by the name of its parameter."""

    def used(parameter: str, value: Any) -> Used:
        kind = type(value)
        if isinstance(value, ModuleNames):
            return Used(value.used)
        is_object = not isinstance(value, tuple) and is_plain_object(value)
        if not isinstance(function, types.FunctionType) or not (is_object or kind in (list, dict)):
            return ALL
        known = _known.setdefault(function, {})
        found = known.get((parameter, kind))
        if found is None or any(_member(of, name) is not member for of, name, member in found[1]):
            found = known[parameter, kind] = _of_object(function, parameter, kind) if is_object else (
                Used(None, _appended(function, parameter)), []
            )  # fmt: skip
        return found[0]

    return used


def _of_object(function: types.FunctionType, parameter: str, kind: type) -> tuple[Used, list[_Asked]]:
    uses = _Uses(kind)
    if not uses.are_told(function, parameter):
        return ALL, uses.asked
    return Used(frozenset(uses.names), only_appended(uses.appended, uses.places)), uses.asked


def _appended(function: types.FunctionType, parameter: str) -> frozenset[Place]:
    """What of a list or dict is only appended to."""
    node = _definition(function)
    if node is None or any(isinstance(x, ast.Name) and x.id in _LOOK_AROUND for x in ast.walk(node)):
        return frozenset()
    found = Places(parameter, False, str)
    for s in node.body:
        found.visit(s)
    return found.only_appended()


class _Uses:
    def __init__(self, kind: type) -> None:
        self.kind = kind
        self.names: set[str] = set()
        self.appended: set[Place] = set()  # what is appended to
        self.places: set[Place] = set()  # what is used otherwise
        self.asked: list[_Asked] = []  # on what the answer depends besides the text
        self.seen: set[tuple[types.CodeType, str]] = set()

    def are_told(self, function: types.FunctionType, parameter: str) -> bool:
        """Whether `names` has all attributes then that a function uses of one of its parameters."""
        if (function.__code__, parameter) in self.seen:
            return True
        self.seen.add((function.__code__, parameter))
        node = _definition(function)
        if node is None or any(_member(self.kind, hook) is not getattr(object, hook, None) for hook in _HOOKS):
            return False
        told: set[int] = set()  # the places where the parameter stands for one attribute
        attributes: set[int] = set()  # those of them where it is written as one
        for x in ast.walk(node):
            match x:
                case ast.Name(id=name) if name in _LOOK_AROUND:
                    return False
                case ast.Attribute(ast.Name(id=name) as place, attribute) if name == parameter:
                    if not self.is_told(_mangled(attribute, function)):
                        return False
                    attributes.add(id(place))
                case ast.Call(ast.Name(id="isinstance" | "type"), [ast.Name() as place, *_]) if _is(place, parameter):
                    told.add(id(place))
                case ast.Call(
                    ast.Name(id="hasattr" | "getattr"),
                    [ast.Name(id=name) as place, ast.Constant(str() as attribute), *_],
                ) if name == parameter:
                    if not self.is_told(attribute):
                        return False
                    told.add(id(place))
                    self.places.add((attribute,))
                case ast.Call(ast.Name(id=callee), args, []) if any(_is(a, parameter) for a in args):
                    places = self.handed_on(function, callee, args, parameter)
                    if places is None:
                        return False
                    told.update(places)
                case _:
                    pass
        found = Places(parameter, True, lambda name: _mangled(name, function), told)
        for s in node.body:
            found.visit(s)
        self.appended |= found.appended
        self.places |= found.used
        return all(id(x) in told or id(x) in attributes for x in _names(node, parameter))

    def is_told(self, attribute: str) -> bool:
        """The same for one attribute, with what a method or property by this name uses."""
        if attribute.startswith("__"):
            return False
        member = _member(self.kind, attribute)
        self.asked.append((self.kind, attribute, member))
        self.names.add(attribute)
        if isinstance(member, property):
            parts = [f for f in (member.fget, member.fset, member.fdel) if f is not None]
        elif isinstance(member, functools.cached_property):
            parts = [member.func]
        elif type(member).__module__.startswith("transkern.") and hasattr(member, "function"):
            parts = [member.function]  # a compiled method
        elif isinstance(member, types.FunctionType):
            parts = [member]
        else:
            return isinstance(
                member, (staticmethod, classmethod, types.MemberDescriptorType)
            ) or not hasattr(type(member), "__get__")  # fmt: skip
        return all(
            isinstance(f, types.FunctionType) and f.__code__.co_argcount > 0 and not hasattr(f, "__wrapped__")
            and self.are_told(f, f.__code__.co_varnames[0]) for f in parts
        )  # fmt: skip

    def handed_on(
        self, function: types.FunctionType, callee: str, args: list[ast.expr], parameter: str
    ) -> list[int] | None:
        """The places where a call hands the object on to a function that can be looked into."""
        of = function.__globals__.get(callee)
        if callee in function.__code__.co_varnames or callee in function.__code__.co_freevars:
            return None
        if not isinstance(of, types.FunctionType) or hasattr(of, "__wrapped__"):
            return None
        if any(isinstance(a, ast.Starred) for a in args) or len(args) > of.__code__.co_argcount:
            return None
        for k, a in enumerate(args):
            if _is(a, parameter) and not self.are_told(of, of.__code__.co_varnames[k]):
                return None
        return [id(a) for a in args if _is(a, parameter)]


def _member(kind: type, name: str) -> Any:
    """What a class has by a name, as it is there."""
    return next((c.__dict__[name] for c in kind.__mro__ if name in c.__dict__), None)


def _definition(function: types.FunctionType) -> ast.FunctionDef | None:
    """The function's text. (`inspect.getsource` looks through all modules that there are, each time.)"""
    if function not in _definitions:
        code = function.__code__
        lines = linecache.getlines(code.co_filename, function.__globals__)
        made: list[ast.stmt] = []
        with suppress(SyntaxError, ValueError, IndexError, tokenize.TokenError):
            made = ast.parse(textwrap.dedent("".join(inspect.getblock(lines[code.co_firstlineno - 1 :])))).body
        found = made[0] if len(made) == 1 else None
        _definitions[function] = found if isinstance(found, ast.FunctionDef) and found.name == code.co_name else None
    return _definitions[function]


def _names(node: ast.FunctionDef, name: str) -> Iterator[ast.Name]:
    return (x for s in node.body for x in ast.walk(s) if isinstance(x, ast.Name) and x.id == name)


def _is(node: ast.expr, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name


def _mangled(attribute: str, function: types.FunctionType) -> str:
    """A private attribute (``self.__x``) by its name outside of the class."""
    owner = function.__qualname__.rpartition(".")[0].rpartition(".")[2].lstrip("_")
    if owner and attribute.startswith("__") and not attribute.endswith("__"):
        return f"_{owner}{attribute}"
    return attribute
