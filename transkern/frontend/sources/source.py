"""Where functions come from: a file's text (never run), or a live Python function."""

from __future__ import annotations

import ast
import builtins
import cmath
import enum
import functools
import importlib
import math
import types
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from transkern import limits, refusals, wrappers
from transkern.errors import CompileError
from transkern.frontend.sources import identity
from transkern.frontend.sources.bindings import Bindings, Imported, bindings_of
from transkern.frontend.sources.constants import (
    CLASS,
    CLASS_HELP,
    Constants,
    Member,
    Named,
    Names,
    Refused,
    library_names,
)  # fmt: skip
from transkern.frontend.sources.effects import first_name
from transkern.frontend.sources.identity import is_known_library
from transkern.frontend.sources.observed import note, note_array, note_function
from transkern.frontend.sources.reading import lines_of, parsed, read_found, read_named
from transkern.frontend.sources.written import written
from transkern.frontend.values.values import (
    Bound,
    Dict,
    Function,
    Known,
    Method,
    Partial,
    Record,
    Scope,
    Seq,
    Static,
    Unbound,
    Value,
)
from transkern.ir.expr import Frame, Span
from transkern.parsing import all_nodes
from transkern.plain import is_plain_object

_MODULES: dict[str, types.ModuleType] = {"numpy": np, "math": math, "cmath": cmath}  # with constants in them
_OF_EACH_MODULE = frozenset(["__name__", "__doc__", "__package__", "__loader__", "__spec__"])
"""What `builtins` has of its own, as each module has: no name that others see."""


def span_of(node: ast.AST, file: str) -> Span:
    line = getattr(node, "lineno", 0)
    return Span(
        line, getattr(node, "col_offset", 0), getattr(node, "end_lineno", line) or line,
        getattr(node, "end_col_offset", 0) or 0, file,
    )  # fmt: skip


def frame_of(function: Function, caller: Span | None = None) -> Frame:
    """What a traceback says of a function, which is called at `caller`."""
    node, owner = function.node, getattr(function.scope, "owner", None)
    first = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", ()))])
    name = node.name if isinstance(node, ast.FunctionDef) else "<lambda>"  # `wraps` gives functions other names
    if owner is None:
        return Frame(name, first, caller)
    code = owner.__code__
    return Frame(name, first, caller, owner.__module__, owner.__qualname__, code.co_firstlineno, code.co_qualname)


class TextScope(Scope):
    """A module read as text: its imports, functions and constants; nothing is imported or run.

    `trusting`: names and constants are what their statements say, whatever else the import may do. That is for those
    who ask what would compile, and not for those who compile.
    """

    def __init__(self, text: str, file: str, found_by: TextScope | None = None, trusting: bool = False) -> None:
        self.file, self.lines = file, lines_of(text)
        self.trusting: bool = trusting if found_by is None else found_by.trusting
        self._bound = bindings_of(parsed(text, file))
        if self.trusting:
            self._bound = replace(self._bound, rebound=None, patched={}, changed={})
        self._hidden = False  # whether names that stars bind anew have been looked for
        self.constants = Constants(self)
        self.modules: dict[Path, TextScope] = {} if found_by is None else found_by.modules  # that have been found
        self.scopes: list[TextScope] = [] if found_by is None else found_by.scopes  # all that have been read
        self.scopes.append(self)
        self.unread: dict[str, CompileError] = {}  # dotted paths that lead to what is not read, and why
        self.looking: set[str] = set()  # names that are being looked for

    @property
    def bound(self) -> Bindings:
        """What the module's statements bind; what ``from … import *`` has bound anew since is not known."""
        if not self._hidden:
            self._hidden = True
            last = {path: k for k, path in enumerate(self._bound.stars)}
            for name, binding in self._bound.names.items():
                if any(k >= binding.stars and self._has(path, name) for path, k in last.items()):
                    binding.meaning, binding.why = None, "bound anew by a `from … import *` below"
        return self._bound

    def _has(self, path: str, name: str) -> bool:
        """Whether a module may hand on a name to those who import all."""
        if (library := _MODULES.get(path)) is not None:
            return name in library_names(library)
        module = self._at(path)
        return not isinstance(module, TextScope) or (not name.startswith("_") and module.within(name) is not None)

    def default_of(self, node: ast.expr) -> Value | None:
        """The default of a parameter: made once, when the function is, and shared by all calls."""
        for x in all_nodes(node):
            binding = self.bound.names.get(x.id) if isinstance(x, ast.Name) else None
            if binding is not None and binding.times > 1 and isinstance(x, ast.Name):
                problem = f"the default `{x.id}` is bound more than once: which value it has here is not known"
                at = span_of(x, self.file)
                refusal = CompileError(refusals.MODULE_CHANGES, problem, "bind it once", at, self.lines)
                refusal.as_text = True
                raise refusal
        if not isinstance(node, (ast.List, ast.Dict, ast.Set, ast.Call, ast.ListComp, ast.DictComp, ast.SetComp)):
            return None
        try:
            return _value_of(self.constants.computed(node))
        except Refused as error:
            module = error.module if isinstance(error.module, TextScope) else self
            problem, at = f"the default is not computed: {error.why}", span_of(error.node, module.file)
            refusal = CompileError(error.kind, problem, error.help, at, module.lines)
            refusal.as_text = True
            raise refusal from None

    def functions(self) -> list[str]:
        return [name for name, found in self.bound.names.items() if isinstance(found.meaning, ast.FunctionDef)]

    def function(self, name: str) -> Function:
        found = self.bound.names.get(name)
        if found is None or not isinstance(found.meaning, ast.FunctionDef):
            known = ", ".join(self.functions()) or "none"
            raise CompileError(refusals.WHICH_FUNCTION, f"{self.file} has no function `{name}`", f"it has: {known}")
        return Function(name, found.meaning, self)

    def lookup(self, name: str) -> Value | None:
        if self.bound.rebound is not None:
            return None
        found = self.bound.names.get(name)
        if found is None or found.meaning is None or isinstance(found.meaning, Imported):
            meaning = self.meaning(name)
            return None if meaning is None else _value_of(meaning)
        if isinstance(found.meaning, (ast.FunctionDef, ast.Lambda)):
            return Function(name, found.meaning, self)
        try:
            return _value_of(self.constants.value(name))
        except Refused:  # `refusal` tells
            return None

    def refusal(self, name: str) -> CompileError | None:
        error = self._refusal(name)
        if error is not None:
            error.as_text = True
        return error

    def _refusal(self, name: str) -> CompileError | None:
        if (by := self.bound.rebound) is not None:
            constant = isinstance(getattr(self.bound.names.get(name), "meaning", None), ast.expr)
            problem = f"the constant `{name}` is not computed" if constant else f"`{name}` is not known"
            problem += ": any name may be bound anew here"
            help = "bind names by statements of the module"
            return CompileError(refusals.MODULE_CHANGES, problem, help, span_of(by, self.file), self.lines)
        found = self.bound.names.get(name)
        if found is None:  # of a module all of whose names are imported
            member = self.meaning(name)
            return member.module.refusal(member.name) if isinstance(member, Member) else None
        at, here = span_of(found.node, self.file), self.lines
        if isinstance(found.meaning, Imported):
            if (member := self.meaning(name)) is not None:
                return member.module.refusal(member.name) if isinstance(member, Member) else None
            error = self.unread.get(found.meaning.path, _not_found(found.meaning.path))
            if error.span.line:
                return error
            return CompileError(error.kind, error.problem, error.help, at, here)
        if found.meaning is None:
            if isinstance(found.node, ast.ClassDef):
                return CompileError(refusals.UNKNOWN_NAME, f"`{name}` is {CLASS}", CLASS_HELP, at, here)
            kind, help = refusals.MODULE_CHANGES, "bind it once, by itself"
            if isinstance(found.node, ast.AsyncFunctionDef):
                kind, help = refusals.UNKNOWN_NAME, "write a plain function"
            return CompileError(kind, f"`{name}` is not known: {found.why}", help, at, here)
        try:
            self.constants.value(name)
        except Refused as error:
            module = error.module if isinstance(error.module, TextScope) else self
            problem = f"the constant `{name}` is not computed: {error.why}"
            at = span_of(error.node, module.file)
            return CompileError(error.kind, problem, error.help, at, module.lines)
        return None

    def meaning(self, name: str) -> Named | Names | Member | None:
        """What a name stands for that this module does not make itself: a library's (`Named`), another module, or one
        of its names; None where that is not known."""
        found = self.bound.names.get(name)
        if found is not None:
            return self._at(found.meaning.path) if isinstance(found.meaning, Imported) else None
        for path in reversed(self.bound.stars):
            library = _MODULES.get(path)
            if library is not None and name in library_names(library):
                return Named(f"{path}.{name}")
            if library is None and not name.startswith("_"):
                module = self._at(path)
                if not isinstance(module, TextScope):
                    return None  # nobody knows which names it has
                if (member := module.within(name)) is not None:
                    return member
        return self._at(f"builtins.{name}") if hasattr(builtins, name) and name not in _OF_EACH_MODULE else None

    def disturbed(self, name: str) -> tuple[ast.AST, Names] | None:
        """Where another module may change what stands for a name of this one."""
        if self.trusting:
            return None
        called: set[str] = set()
        for scope in self.scopes:
            if scope is not self:
                for other, at in scope.bound.changed.items():
                    if scope.meaning(other) in (self, Member(self, name)):
                        return at, scope
                used = map(scope.meaning, scope.bound.used)
                called |= {m.name for m in used if isinstance(m, Member) and m.module is self}
        found = self.bound.changed_by(frozenset(called)).get(name) if called else None
        return None if found is None else (found, self)

    def within(self, name: str) -> Named | Names | Member | None:
        """What a name of this module means to others: what it binds, and a package's modules."""
        found = self.bound.names.get(name)
        if found is None and Path(self.file).name == "__init__.py":
            return self._module(Path(self.file).parent, [name])[0]
        if found is None or name in self.looking:
            return None
        if not isinstance(found.meaning, Imported):
            return Member(self, name)
        self.looking.add(name)  # modules may import a name from each other
        try:
            return self.meaning(name)
        finally:
            self.looking.discard(name)

    def member(self, name: str) -> Value | None:
        found = self.within(name)
        return None if found is None else _value_of(found)

    def imported(self, path: str) -> Value | None:
        found = self._at(path)
        if found is None:
            raise self.unread.get(path, _not_found(path))
        return None if isinstance(found, Named) else _value_of(found)

    def _at(self, path: str) -> Named | Names | Member | None:
        """What a dotted path leads to: in the modules beside this one and in its package, or in a library."""
        for scope in self.scopes:
            if (by := scope.bound.patched.get(first_name(path))) is not None:
                problem, at = f"what `{path}` is was changed here", span_of(by, scope.file)
                help = "leave modules as they are"
                self.unread[path] = CompileError(refusals.MODULE_CHANGES, problem, help, at, scope.lines)
                return None
        if is_known_library(path):
            return Named(path)
        level = len(path) - len(path.lstrip("."))
        names = path[level:].split(".") if path[level:] else []
        try:
            for folder in self._folders(level):
                module, left = self._module(folder, names)
                if module is not None:
                    return _inside(module, left)
        except CompileError as error:
            self.unread[path] = error
            return None
        return Named(path)

    def _folders(self, level: int) -> list[Path]:
        """Where modules are looked for: next to this one, and where its package lies."""
        here = Path(self.file).parent
        if self.file.startswith("<"):  # a text that is in no file
            return []
        if level:
            for _ in range(level - 1):
                here = here.parent
                if not (here / "__init__.py").is_file():
                    problem = "attempted relative import beyond the top-level package"
                    help = "put an __init__.py into each folder of the package"
                    raise CompileError(refusals.UNKNOWN_NAME, problem, help)
            return [here]
        root = here
        while (root / "__init__.py").exists() and root != root.parent:
            root = root.parent
        return list(dict.fromkeys((here, root)))

    def _module(self, folder: Path, names: Sequence[str]) -> tuple[TextScope | None, Sequence[str]]:
        """The innermost module that a path leads to from a folder, and what is left of the path inside it."""
        found: TextScope | None = None
        left, within = names, folder
        for k, name in enumerate(names):
            for file in (folder / name / "__init__.py", folder / f"{name}.py"):
                if file not in self.modules and (text := read_found(file, within)) is not None:
                    self.modules[file] = TextScope(text, str(file), self)
                if file in self.modules:
                    found, left = self.modules[file], names[k + 1 :]
                    break
            folder = folder / name
            if not folder.is_dir():
                break
        return found, left


def _not_found(path: str) -> CompileError:
    """What to tell of a path that leads to no statement of the module that it leads to."""
    help = "import it from the module that it is written in"
    error = CompileError(refusals.UNKNOWN_NAME, f"`{path}` is not known: no statement of its module binds it", help)
    error.as_text = True
    return error


def _inside(module: TextScope, names: Sequence[str]) -> Named | Names | Member | None:
    """What names lead to in a module."""
    found: Named | Names | Member | None = module
    for name in names:
        found = found.within(name) if isinstance(found, TextScope) else None
    return found


def _value_of(found: Any) -> Value | None:
    """What a name stands for in a module read as text, or the value of one of its constants."""
    match found:
        case Named(path):
            return known_object(path)
        case TextScope():
            return Static(found)
        case Member(TextScope() as module, name):
            return module.lookup(name)
        case _:
            return from_object(found)


class LiveScope(Scope):
    """The globals and closure of a live function."""

    is_live = True
    asserts = __debug__

    def __init__(self, function: types.FunctionType, file: str, lines: tuple[str, ...]) -> None:
        self.file, self.lines, self.owner = file, lines, function

    def default(self, name: str) -> Value | None:
        code, values = self.owner.__code__, self.owner.__defaults__ or ()
        named = dict(zip(code.co_varnames[code.co_argcount - len(values) : code.co_argcount], values, strict=True))
        named |= self.owner.__kwdefaults__ or {}
        if name not in named:
            return None
        return from_object(named[name], self) or Unbound(f"the default of `{name}` cannot take part")

    def is_also(self, other: Scope) -> bool:
        if not isinstance(other, LiveScope):
            return False
        mine, others = self.owner, other.owner
        return other is self or (mine.__globals__ is others.__globals__ and not others.__closure__)

    def lookup(self, name: str) -> Value | None:
        found, value = self._find(name)
        return from_object(value, self) if found else None

    def imported(self, path: str) -> Value | None:
        """The module is imported, as the function itself would do it."""
        level = len(path) - len(path.lstrip("."))
        names = path[level:].split(".")
        try:
            package = self.owner.__globals__.get("__package__") or None
            found: Any = importlib.import_module("." * level if level else names.pop(0), package)
            for name in names:
                if not hasattr(found, name):
                    importlib.import_module(f"{found.__name__}.{name}")
                found = getattr(found, name)
        except (ImportError, AttributeError):
            return None
        return from_object(found, self)

    def _find(self, name: str) -> tuple[bool, Any]:
        code, closure = self.owner.__code__, self.owner.__closure__ or ()
        for free, cell in zip(code.co_freevars, closure, strict=True):
            if free == name:
                try:
                    return True, cell.cell_contents
                except ValueError:
                    return False, None
        note(self.owner.__globals__, name)
        if name in self.owner.__globals__:
            return True, self.owner.__globals__[name]
        if hasattr(builtins, name):
            return True, getattr(builtins, name)
        return False, None


def function_of(found: Any) -> types.FunctionType | None:
    """The function that what stands in a class is written as: itself, or what is compiled or cached of one."""
    if isinstance(found, (staticmethod, classmethod, property, type)):
        return None
    function = wrappers.written_function(found) if hasattr(type(found), "__get__") else None
    return function if isinstance(function, types.FunctionType) else None


def live_function(function: Callable[..., Any]) -> Function:
    """The source of a live function; raises CompileError where it has none (built-ins, code typed at a prompt)."""
    target = wrappers.written_function(function)
    if not isinstance(target, types.FunctionType):
        problem = f"cannot compile {function!r}: it is not a plain Python function"
        raise CompileError(refusals.NO_SOURCE, problem, "compile a function that calls it")
    texts = limits.budget().texts  # parsing takes longer than translating, where a helper is called in many places
    found = texts[target] if target in texts else texts.setdefault(target, written(target))
    note_function(target, found.exact)
    return Function(target.__name__, found.node, LiveScope(target, found.file, found.lines))


def from_object(value: Any, scope: Scope | None = None) -> Value | None:
    """A captured Python object as a value of the translation, or None where it cannot take part."""
    if value is None or isinstance(value, (slice, np.dtype, type(Ellipsis), np.generic, types.UnionType)):
        return Static(value)
    if isinstance(value, (bool, int, float, complex, str, bytes)):
        return Static(value) if _is_plain(value) else None
    if isinstance(value, type):
        return _class(value)
    if isinstance(value, types.ModuleType):
        return Known(value.__name__) if identity.is_library(value) else Static(value)
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        items = tuple(from_object(v, scope) for v in value)
        return None if None in items else Record(type(value), tuple(value._fields), items)  # type: ignore[arg-type]
    if isinstance(value, dict) and is_plain_object(value) and _looks_up_itself(value):
        return Static(value)
    if isinstance(value, (dict, types.MappingProxyType)):
        items = tuple(from_object(v, scope) for v in value.values())
        return Dict(tuple(value), tuple(i or Unbound("this entry cannot take part") for i in items), outside=True)
    if isinstance(value, (set, frozenset)) and all(isinstance(v, (int, float, str)) for v in value):
        return Seq(tuple(map(Static, value)), "set", outside=True, frozen=isinstance(value, frozenset))
    if isinstance(value, (tuple, list)):
        items = tuple(from_object(v, scope) for v in value)
        if any(i is None for i in items) or not _is_plain(value):
            return None
        return Seq(items, "tuple" if isinstance(value, tuple) else "list", outside=True)  # type: ignore[arg-type]
    if isinstance(value, np.ndarray):
        note_array(value, passed=False)
        return Static(value) if type(value) is np.ndarray else None
    if type(value) in (np.random.Generator, np.random.RandomState):
        return Static(value)
    path = identity.path_of(value)
    if path is not None:
        return Known(path)
    if callable(value) and (called := _function(value, scope)) is not None:
        return called
    if isinstance(value, (enum.Enum, types.SimpleNamespace)) or is_plain_object(value):
        return Static(value)
    return None


def _is_plain(value: Any) -> bool:
    """Whether an object of one of Python's types does what those of the type do: a class of the user's that is derived
    from it may give its methods and operators other meanings."""
    if isinstance(value, enum.Enum):
        return True
    written = (vars(kind) for kind in type(value).__mro__ if kind.__flags__ & _MADE_BY_CLASS)
    return not any(isinstance(found, types.FunctionType) for names in written for found in names.values())


_MADE_BY_CLASS = 1 << 9
"""Of `type.__flags__`: of a class that a class statement has made."""


def _class(kind: type) -> Value:
    if issubclass(kind, (np.generic, BaseException)):
        return Static(kind)
    path = identity.path_of(kind)
    if path is not None and (path.startswith(("builtins.", "numpy.")) or kind is functools.partial):
        return Known(path)
    if kind.__module__.split(".")[0] == "numpy":
        return Known(identity.name_of(kind))
    return Static(kind)


def _function(value: Any, scope: Scope | None) -> Value | None:
    """A captured function, or what stands for one, that is none of those that are known; None where it is an object."""
    inner = wrappers.same_function(value)
    if inner is not None:
        found = from_object(inner, scope)
        return replace(found, cached=True) if isinstance(found, Function) and wrappers.is_cache(value) else found
    if isinstance(value, types.FunctionType):
        return Known(identity.name_of(value)) if identity.is_numpys(value) else live_function(value)
    if isinstance(value, (types.MethodType, types.BuiltinMethodType, types.MethodWrapperType)):
        return _bound_method(value, scope)
    if isinstance(value, functools.partial):
        if type(value) is not functools.partial:
            return None
        called, *args = (from_object(v, scope) for v in (value.func, *value.args, *value.keywords.values()))
        if called is None or None in args:
            return None
        first, named = args[: len(value.args)], args[len(value.args) :]
        return Partial(called, tuple(first), tuple(zip(value.keywords, named, strict=True)))  # type: ignore[arg-type]
    if is_plain_object(value) and isinstance(type(value).__call__, types.FunctionType):
        return None  # its class says what a call of it is
    return Known(identity.name_of(value))


def _bound_method(value: Any, scope: Scope | None) -> Value | None:
    """A method with the object that it is of: ``total = np.add.reduce``, ``draw = rng.normal``."""
    owner = value.__self__
    if owner is np.random.mtrand._rand:
        return Known(f"numpy.random.{value.__name__}")
    receiver = None if isinstance(owner, types.ModuleType) else from_object(owner, scope)
    if isinstance(receiver, Static) and type(receiver.value) in (np.random.Generator, np.random.RandomState):
        return Method(receiver, value.__name__)
    if isinstance(value, types.MethodType) and receiver is not None:
        function = from_object(value.__func__, scope)
        if isinstance(function, Function):
            return Bound(function, receiver)
        return None if function is None else Partial(function, (receiver,), ())
    match receiver:
        case Known(path):
            return Known(f"{path}.{value.__name__}")
        case Static(np.ndarray() | str()):
            return Method(receiver, value.__name__)
        case _:
            return Known(identity.name_of(value))


def _looks_up_itself(value: dict[Any, Any]) -> bool:
    """Whether a dict of a class of the user's finds items, or attributes, in another way than dicts do."""
    ways = ("__getattr__", "__getattribute__", "__getitem__", "__missing__", "__contains__", "__iter__", "get")
    written = [vars(kind) for kind in type(value).__mro__ if kind not in (dict, object)]
    return vars(value) is value or any(way in names for names in written for way in ways)


def known_object(path: str) -> Value:
    """What a path stands for: `numpy.float32`, `numpy.pi`, `math.pi` are constants; functions are those that the path
    leads to, whatever it is called there. Nothing is imported, so a path that leads nowhere stays what it is."""
    head, _, name = path.rpartition(".")
    owner = identity.resolved(head) if head else None
    if head.startswith("numpy.core") and owner is not None:
        return from_object(identity.resolved(path)) or Known(path)
    if not isinstance(owner, types.ModuleType) or not identity.is_library(owner):
        if owner is not None and (known := identity.path_of(owner)) is not None:
            return Known(f"{known}.{name}")
        return Known(path)
    found = identity.member(owner, name)
    if found is None:
        return Static(None) if name in vars(owner) else Known(path)
    known = identity.path_of(found)
    if isinstance(found, type) and issubclass(found, (np.generic, BaseException)):
        return Static(found)
    if known is not None:
        return Known(known)
    if isinstance(found, types.FunctionType) and identity.is_librarys(found):
        return Known(identity.name_of(found))
    made = from_object(found)
    if made is None:
        return Known(identity.name_of(found))
    if head.partition(".")[0] in _MODULES and _is_fixed(found):
        return made
    if not note(vars(owner), name) and not _is_fixed(found):
        return Known(path)  # `sys.argv`, `os.environ`: this process has others than the one that will run the function
    return made


def _is_fixed(value: object) -> bool:
    """Whether what a library's name stands for is the same in every process, and cannot change in place."""
    if isinstance(value, (tuple, frozenset)):
        return all(map(_is_fixed, value))
    return value is None or isinstance(value, (bool, int, float, complex, str, bytes, np.generic, np.dtype))


def read_module(path: Path, within: Path | None = None, trusting: bool = False) -> TextScope:
    """A file that the user has named, or that was found in a folder, as text."""
    text = read_named(path, within)
    return TextScope(text, str(path), trusting=trusting)
