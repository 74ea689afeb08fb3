"""Modules and functions that are read as text, without being imported: what their names stand for."""

from __future__ import annotations

import ast
import builtins
import difflib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from transkern import refusals
from transkern.errors import CompileError
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
)
from transkern.frontend.sources.effects import first_name
from transkern.frontend.sources.identity import is_known_library
from transkern.frontend.sources.module_names import IN_A_PROGRAM
from transkern.frontend.sources.reading import lines_of, parsed, read_found, read_named
from transkern.frontend.sources.source import MODULES, from_object, known_object, span_of
from transkern.frontend.values.values import Function, Scope, Static, Value
from transkern.parsing import all_nodes

_OF_EACH_MODULE = frozenset(["__name__", "__doc__", "__package__", "__loader__", "__spec__"])
"""What `builtins` has of its own, as each module has: no name that others see."""


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
        self.classes: dict[str, type] = {}  # what stands for classes that are nothing but fields

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
        if (library := MODULES.get(path)) is not None:
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
            close = difflib.get_close_matches(name, self.functions(), 1)
            help = f"is `{close[0]}` meant? It has: {known}" if close else f"it has: {known}"
            raise CompileError(refusals.WHICH_FUNCTION, f"{self.file} has no function `{name}`", help)
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
            elif isinstance(found.node, ast.Global):
                help = IN_A_PROGRAM
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
            library = MODULES.get(path)
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


def read_module(path: Path, within: Path | None = None, trusting: bool = False) -> TextScope:
    """A file that the user has named, or that was found in a folder, as text."""
    text = read_named(path, within)
    return TextScope(text, str(path), trusting=trusting)
