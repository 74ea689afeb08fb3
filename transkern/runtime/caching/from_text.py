"""Functions of a file as its import would make them, without one: for `transkern cache warm`.

Code is found by a function's bytecode and by what its names stand for. Of a file that is read as text (`TextScope`),
bytecode comes from Python's compiler, constants and defaults from our own evaluator, libraries from themselves;
functions are made of these, one by one. Nothing of the file runs. What is not known so (classes, names of the user's
other modules, what decorators make) is refused, and `--import` has Python import the file.
"""

from __future__ import annotations

import ast
import dis
import importlib
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from transkern import refusals
from transkern.errors import CompileError
from transkern.frontend.sources.bindings import Imported
from transkern.frontend.sources.constants import Named, Refused
from transkern.frontend.sources.decorators import path_of_decorator
from transkern.frontend.sources.identity import is_known_library, resolved
from transkern.frontend.sources.source import span_of
from transkern.frontend.sources.texts import read_module
from transkern.runtime.compiled import Compiled

_COMPILE = "transkern.compile"
_HELP = "--import has Python import the file, which runs its statements"
_GLOBALS = ("LOAD_GLOBAL", "LOAD_NAME")


class Text:
    """A module whose functions are made without importing it."""

    def __init__(self, path: Path) -> None:
        self.path, self.name = path, path.stem
        self._scope = read_module(path)
        text = "\n".join(self._scope.lines)
        self._code = compile(text, str(path.resolve()), "exec", dont_inherit=True)
        self._space: dict[str, Any] = {"__name__": self.name, "__file__": str(path), "__builtins__": __builtins__}
        self._making: set[str] = set()

    def decorated(self) -> Iterator[str]:
        """The names of functions and methods that `transkern.compile` decorates."""
        for name, found in self._scope.bound.names.items():
            if isinstance(found.meaning, ast.FunctionDef) and self._compiles(found.meaning):
                yield name
            elif isinstance(found.node, ast.ClassDef):
                methods = (s for s in found.node.body if isinstance(s, ast.FunctionDef))
                yield from (f"{name}.{method.name}" for method in methods if self._compiles(method))

    def function(self, name: str) -> types.FunctionType:
        """A function without its decorators, of which those are known that change no answer."""
        if "." in name:
            node = self._scope.bound.names[name.partition(".")[0]].node
            raise self._unknown(node, f"`{name}` is a method, and a class is what its statements make it")
        return self._made(self._scope.function(name).node)

    def compiled(self, name: str, target: str) -> Compiled:
        """The same as `transkern.compile` makes it: by its decorator, or for a target."""
        function = self.function(name)
        node = self._scope.function(name).node
        options: dict[str, Any] = {"target": target}
        for decorator in getattr(node, "decorator_list", []):
            if path_of_decorator(decorator, self._scope) == _COMPILE:
                options = self._options(decorator)
        return Compiled(function, **options)

    def _compiles(self, node: ast.FunctionDef) -> bool:
        return any(path_of_decorator(d, self._scope) == _COMPILE for d in node.decorator_list)

    def _options(self, decorator: ast.expr) -> dict[str, Any]:
        given = decorator.keywords if isinstance(decorator, ast.Call) else []
        return {one.arg: self._computed(one.value) for one in given if one.arg is not None}

    def _computed(self, node: ast.expr) -> Any:
        try:
            return self._live(self._scope.constants.computed(node), node)
        except Refused as error:
            raise self._unknown(node, f"`{ast.unparse(node)}` is not computed: {error.why}") from None

    def _made(self, node: Any) -> types.FunctionType:
        first = min([node.lineno, *(d.lineno for d in node.decorator_list)])
        codes = [c for c in self._code.co_consts if isinstance(c, types.CodeType)]
        code = next((c for c in codes if c.co_name == node.name and c.co_firstlineno == first), None)
        if code is None:
            raise self._unknown(node, f"`{node.name}` is written in a block of the module")
        for decorator in node.decorator_list:
            if path_of_decorator(decorator, self._scope) != _COMPILE:
                raise self._unknown(decorator, f"`{node.name}` is what `@{ast.unparse(decorator)}` makes of it")
        self._fill(code)
        made = types.FunctionType(code, self._space, node.name)
        a = node.args
        made.__defaults__ = tuple(map(self._computed, a.defaults)) or None
        pairs = zip(a.kwonlyargs, a.kw_defaults, strict=True)
        made.__kwdefaults__ = {arg.arg: self._computed(value) for arg, value in pairs if value is not None} or None
        made.__module__ = self.name
        return made

    def _fill(self, code: types.CodeType) -> None:
        """Gives the module the names that code reads."""
        for name in _read(code):
            if name in self._scope.bound.names and name not in self._space and name not in self._making:
                self._making.add(name)
                self._space[name] = self._value(name)

    def _value(self, name: str) -> Any:
        found = self._scope.bound.names[name]
        if found.meaning is None:
            refusal = self._scope.refusal(name)
            raise self._unknown(found.node, refusal.problem if refusal is not None else f"`{name}` is not known")
        if isinstance(found.meaning, ast.FunctionDef):
            if self._compiles(found.meaning):
                return self.compiled(name, "auto")
            return self._made(found.meaning)
        if isinstance(found.meaning, Imported):
            return self._live(self._scope.meaning(name), found.node)
        try:
            return self._live(self._scope.constants.value(name), found.node)
        except Refused as error:
            raise self._unknown(found.node, f"the constant `{name}` is not computed: {error.why}") from None

    def _live(self, value: Any, node: ast.AST) -> Any:
        """A value as it is where the module has been imported."""
        if isinstance(value, Named):
            if is_known_library(value.path):
                importlib.import_module(value.path.partition(".")[0])
                if (found := resolved(value.path)) is not None:
                    return found
            raise self._unknown(node, f"`{value.path}` is not known without importing it")
        if value is None or type(value).__module__.partition(".")[0] in ("numpy", "builtins"):
            return value
        raise self._unknown(node, "it is of another module of yours")

    def _unknown(self, node: ast.AST, problem: str) -> CompileError:
        at = span_of(node, str(self.path)) if hasattr(node, "lineno") else span_of(ast.parse("0").body[0], "")
        return CompileError(refusals.UNKNOWN_NAME, problem, _HELP, at, self._scope.lines)


def _read(code: types.CodeType) -> Iterator[str]:
    """The globals that code reads, and code in it."""
    for step in dis.get_instructions(code):
        if step.opname in _GLOBALS:
            yield str(step.argval)
    for inner in code.co_consts:
        if isinstance(inner, types.CodeType):
            yield from _read(inner)
