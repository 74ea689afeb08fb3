"""Where functions come from: a file's text (never run), or a live Python function."""

from __future__ import annotations

import ast
import builtins
import cmath
import enum
import functools
import importlib
import inspect
import linecache
import math
import sys
import textwrap
import types
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from transkern.errors import CompileError
from transkern.frontend.observed import note
from transkern.frontend.values import Dict, Function, Known, Partial, Record, Scope, Seq, Static, Unbound, Value
from transkern.ir.expr import Span
from transkern.plain import is_plain_object

_ACCELERATED = frozenset(["_bisect", "bisect", "_functools", "_heapq", "heapq", "_operator", "_warnings"])
"""Modules of Python's library with functions in C, which may name their own module."""

_MODULES: dict[str, types.ModuleType] = {"numpy": np, "math": math, "cmath": cmath}  # with constants in them

_COMPILED_LIBRARIES = frozenset({"cupy", "jax", "numba", "numexpr", "pandas", "scipy", "torch"})
"""What has its loops in compiled code: its functions are known by name, or not at all."""


def is_known_library(module: str) -> bool:
    """Whether a module's functions are known by their names, and not read as the user's are."""
    root = module.partition(".")[0]
    return root in _MODULES or root in _COMPILED_LIBRARIES or root in sys.stdlib_module_names or root == "transkern"


def span_of(node: ast.AST, file: str) -> Span:
    line = getattr(node, "lineno", 0)
    return Span(
        line, getattr(node, "col_offset", 0), getattr(node, "end_lineno", line) or line,
        getattr(node, "end_col_offset", 0) or 0, file,
    )  # fmt: skip


class TextScope(Scope):
    """A module read as text: its imports, functions and literal constants; nothing is imported or run."""

    def __init__(self, text: str, file: str) -> None:
        self.file, self.lines = file, tuple(text.splitlines())
        try:
            self.module = ast.parse(text, filename=file)
        except SyntaxError as error:
            at = Span(error.lineno or 1, max(0, (error.offset or 1) - 1), error.lineno or 1, error.offset or 1, file)
            raise CompileError(f"not Python: {error.msg}", span=at, lines=self.lines) from error
        self.bindings: dict[str, ast.AST | Known] = {}
        for node in self.module.body:
            self._bind(node)

    def _bind(self, node: ast.AST) -> None:
        match node:
            case ast.FunctionDef(name=name):
                self.bindings[name] = node
            case ast.Import(names=names):
                for alias in names:
                    target = alias.name if alias.asname else alias.name.split(".")[0]
                    self.bindings[alias.asname or target] = Known(target)
            case ast.ImportFrom(names=names):
                for alias in names:
                    self.bindings[alias.asname or alias.name] = Known(imported_path(node, alias))
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                self.bindings[name] = value
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
                self.bindings[name] = value
            case ast.If(body=body) | ast.Try(body=body):
                for child in body:
                    self._bind(child)

    def functions(self) -> list[str]:
        return [name for name, node in self.bindings.items() if isinstance(node, ast.FunctionDef)]

    def function(self, name: str) -> Function:
        node = self.bindings.get(name)
        if not isinstance(node, ast.FunctionDef):
            known = ", ".join(self.functions()) or "none"
            raise CompileError(f"{self.file} has no function `{name}`", f"it has: {known}")
        return Function(name, node, self)

    def lookup(self, name: str) -> Value | None:
        node = self.bindings.get(name)
        match node:
            case None:
                return Known(f"builtins.{name}") if hasattr(builtins, name) else None
            case Known(path):
                found = None if is_known_library(path) else self.imported(path)
                return known_object(path) if found is None else found
            case ast.FunctionDef():
                return Function(name, node, self)
            case ast.Lambda():
                return Function(name, node, self)
            case ast.expr():
                return self._constant(node)
            case _:
                return None

    def imported(self, path: str) -> Value | None:
        level = len(path) - len(path.lstrip("."))
        for folder in self._folders(level):
            module, names = _module_text(folder, path[level:].split(".") if path[level:] else [])
            if module is not None:
                return module.at(names)
        return None

    def _folders(self, level: int) -> list[Path]:
        """Where modules are looked for: next to this one, and where its package lies."""
        here = Path(self.file).parent
        if level:
            return [here.joinpath(*[".."] * (level - 1))]
        root = here
        while (root / "__init__.py").exists():
            root = root.parent
        return list(dict.fromkeys((here, root)))

    def at(self, names: Sequence[str]) -> Value | None:
        """This module, or what the names lead to in it."""
        if not names:
            return Static(self)
        found = self.member(names[0])
        if len(names) > 1:
            inside = found.value if isinstance(found, Static) else None
            return inside.at(names[1:]) if isinstance(inside, TextScope) else None
        return found

    def member(self, name: str) -> Value | None:
        """A name of this module as others see it: what it binds, and a package's modules."""
        found = self.lookup(name)
        if found is None and Path(self.file).name == "__init__.py":
            module, _ = _module_text(Path(self.file).parent, [name])
            return None if module is None else Static(module)
        return found

    def _constant(self, node: ast.expr) -> Value | None:
        """The value of a module-level expression made of literals, names and arithmetic."""
        code = {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}
        space: dict[str, Any] = {}
        for name in code:
            found = self.lookup(name)
            if isinstance(found, Static):
                space[name] = found.value
            elif isinstance(found, Known) and found.path in _MODULES:
                space[name] = _MODULES[found.path]
            else:
                return None
        allowed = (
            ast.Constant, ast.UnaryOp, ast.BinOp, ast.Tuple, ast.List, ast.Dict, ast.Name, ast.Attribute, ast.Load,
            ast.operator, ast.unaryop, ast.Call, ast.keyword,
        )  # fmt: skip
        if not all(isinstance(n, allowed) for n in ast.walk(node)):
            return None
        for call in (n for n in ast.walk(node) if isinstance(n, ast.Call)):
            match call.func:  # only NumPy's and math's own constructors, on literals: nothing of the user's is run
                case ast.Attribute(value=ast.Name(id=base)) if base in space and space[base] in _MODULES.values():
                    continue
                case _:
                    return None
        try:
            value = eval(compile(ast.Expression(node), self.file, "eval"), {"__builtins__": {}}, space)
        except Exception:  # whatever is wrong with it is the user's to see when the module runs
            return None
        return from_object(value)


def imported_path(node: ast.ImportFrom, alias: ast.alias) -> str:
    """The dotted path of a name that ``from … import …`` binds; leading dots where it is relative."""
    module = f"{node.module}." if node.module else ""
    return f"{'.' * node.level}{module}{alias.name}"


def _module_text(folder: Path, names: Sequence[str]) -> tuple[TextScope | None, Sequence[str]]:
    """The text of the innermost module that a path leads to from a folder, and what is left of the path inside it."""
    found: TextScope | None = None
    left = names
    for k, name in enumerate(names):
        file = folder / f"{name}.py"
        folder = folder / name
        package = folder / "__init__.py"
        if package.is_file() or file.is_file():
            found, left = _text_of(package if package.is_file() else file), names[k + 1 :]
        if not folder.is_dir():
            break
    return found, left


@functools.cache
def _text_of(file: Path) -> TextScope:
    return read_module(file)


class LiveScope(Scope):
    """The globals and closure of a live function."""

    def __init__(self, function: types.FunctionType, file: str, lines: tuple[str, ...]) -> None:
        self.file, self.lines, self.owner = file, lines, function

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


def live_function(function: Callable[..., Any]) -> Function:
    """The source of a live function; raises CompileError where it has none (built-ins, code typed at a prompt)."""
    target = inspect.unwrap(function)
    if not isinstance(target, types.FunctionType):
        raise CompileError(f"cannot compile {function!r}: it is not a plain Python function")
    file = inspect.getsourcefile(target) or target.__code__.co_filename
    lines = tuple(line.rstrip("\n") for line in linecache.getlines(file, target.__globals__))
    if not lines:
        raise CompileError(
            f"the source of `{target.__name__}` cannot be read", "put the function into a file, or a notebook cell"
        )
    block = inspect.getblock([line + "\n" for line in lines[target.__code__.co_firstlineno - 1 :]])
    text = textwrap.dedent("".join(block))
    indent = len(block[0]) - len(block[0].lstrip()) if block else 0
    try:
        module = ast.parse(text)
    except SyntaxError:  # a lambda inside a larger expression
        module = ast.parse("\n".join(lines))
        indent = 0
        first = 1
    else:
        first = target.__code__.co_firstlineno
    found: ast.FunctionDef | ast.Lambda | None = None
    for node in ast.walk(module):
        if isinstance(node, ast.FunctionDef) and node.name == target.__name__:
            found = node
            break
        if isinstance(node, ast.Lambda) and target.__name__ == "<lambda>":
            if _is_lambda(node, first - 1, indent, target.__code__):
                found = node  # the innermost: `ast.walk` comes to it last
    if found is None:
        raise CompileError(f"the source of `{target.__name__}` was not found in {file}")
    _mangle(found, target.__qualname__)
    for node in ast.walk(found):
        if hasattr(node, "lineno"):
            node.lineno += first - 1
            node.end_lineno += first - 1  # type: ignore[attr-defined]
            node.col_offset += indent  # type: ignore[attr-defined]
            node.end_col_offset += indent  # type: ignore[attr-defined]
    return Function(target.__name__, found, LiveScope(target, file, lines))


def _mangle(node: ast.AST, path: str) -> None:
    """Gives private names (``self.__data``) in a method the name of the class, as Python does."""
    owners = [p for p in path.split(".")[:-1] if p != "<locals>"]
    in_class = path.split(".")[-2:-1] not in ([], ["<locals>"])
    if not in_class or not (kind := owners[-1].lstrip("_")):
        return

    def mangled(name: str) -> str:
        return f"_{kind}{name}" if name.startswith("__") and not name.endswith("__") and "." not in name else name

    for child in ast.walk(node):
        match child:
            case ast.Attribute():
                child.attr = mangled(child.attr)
            case ast.Name():
                child.id = mangled(child.id)
            case ast.arg() | ast.keyword() if child.arg is not None:
                child.arg = mangled(child.arg)
            case _:
                pass


def _is_lambda(node: ast.Lambda, lines: int, indent: int, code: types.CodeType) -> bool:
    """Whether a lambda in the text, `lines` down and `indent` in, is the one that the code was made of."""
    names = [a.arg for a in [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]]
    count = code.co_argcount + code.co_kwonlyargcount
    if node.lineno + lines != code.co_firstlineno or names != list(code.co_varnames[:count]):
        return False
    body = node.body
    start = (body.lineno + lines, body.col_offset + indent)
    end = ((body.end_lineno or body.lineno) + lines, (body.end_col_offset or 0) + indent)
    places = [p for p in code.co_positions() if None not in p and p[3] != 0]
    return all(start <= (p[0], p[2]) and (p[1], p[3]) <= end for p in places)


def from_object(value: Any, scope: Scope | None = None) -> Value | None:
    """A captured Python object as a value of the translation, or None where it cannot take part."""
    if value is None or isinstance(value, (bool, int, float, complex, str, slice, np.dtype, type(Ellipsis))):
        return Static(value)
    if isinstance(value, (np.generic, types.UnionType)):
        return Static(value)
    if isinstance(value, type):
        if issubclass(value, np.generic):
            return Static(value)
        if issubclass(value, BaseException):
            return Static(value)
        if value.__module__ == "builtins":
            return Known(f"builtins.{value.__name__}")
        if value.__module__.split(".")[0] == "numpy":
            return Known(f"numpy.{value.__name__}")
        return Known("functools.partial") if value is functools.partial else Static(value)
    if isinstance(value, types.ModuleType):
        return Known(value.__name__) if is_known_library(value.__name__) else Static(value)
    if isinstance(value, np.ufunc):
        return Known(f"numpy.{value.__name__}")
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        items = tuple(from_object(v, scope) for v in value)
        return None if None in items else Record(type(value), tuple(value._fields), items)  # type: ignore[arg-type]
    if isinstance(value, dict) and is_plain_object(value) and _looks_up_itself(value):
        return Static(value)
    if isinstance(value, (dict, types.MappingProxyType)):
        items = tuple(from_object(v, scope) for v in value.values())
        return Dict(tuple(value), tuple(i or Unbound("this entry cannot take part") for i in items))
    if isinstance(value, (set, frozenset)) and all(isinstance(v, (int, float, str)) for v in value):
        return Seq(tuple(Static(v) for v in sorted(value, key=str)), "set")
    if isinstance(value, (tuple, list)):
        items = tuple(from_object(v, scope) for v in value)
        if any(i is None for i in items):
            return None
        return Seq(items, "tuple" if isinstance(value, tuple) else "list")  # type: ignore[arg-type]
    if isinstance(value, np.ndarray):
        return Static(value)
    inner = getattr(value, "__wrapped__", None)
    if isinstance(inner, types.FunctionType):
        value = inner
    if isinstance(value, types.FunctionType):
        if value.__module__ and value.__module__.split(".")[0] == "numpy":
            return Known(
                f"numpy.{value.__name__}" if "linalg" not in value.__module__ else f"numpy.linalg.{value.__name__}"
            )
        return live_function(value)
    if callable(value):
        module = getattr(value, "__module__", None) or ""
        name = getattr(value, "__name__", "")
        if module in _ACCELERATED:
            return Known(f"{module.removeprefix('_')}.{name}")
        if module.split(".")[0] == "numpy":
            return Known(f"numpy.{name}")
        if module in ("builtins", "math", "cmath", "operator"):
            return Known(f"{module}.{name}")
        if isinstance(value, functools.partial):
            called, *args = (from_object(v, scope) for v in (value.func, *value.args, *value.keywords.values()))
            if called is None or None in args:
                return None
            first, named = args[: len(value.args)], args[len(value.args) :]
            return Partial(called, tuple(first), tuple(zip(value.keywords, named, strict=True)))  # type: ignore[arg-type]
    if isinstance(value, (enum.Enum, types.SimpleNamespace)) or is_plain_object(value):
        return Static(value)
    return None


def _looks_up_itself(value: dict[Any, Any]) -> bool:
    """Whether a dict of a class of the user's finds items, or attributes, in another way than dicts do."""
    ways = ("__getattr__", "__getattribute__", "__getitem__", "__missing__", "__contains__", "__iter__", "get")
    written = [vars(kind) for kind in type(value).__mro__ if kind not in (dict, object)]
    return vars(value) is value or any(way in names for names in written for way in ways)


def known_object(path: str) -> Value:
    """`numpy.float32`, `numpy.pi`, `math.pi` as constants; functions and modules stay names."""
    head, _, name = path.rpartition(".")
    module = _MODULES.get(head)
    if module is not None and hasattr(module, name):
        value = getattr(module, name)
        if (
            value is None
            or isinstance(value, (bool, int, float, complex, np.dtype, np.bool_))
            or (isinstance(value, type) and issubclass(value, np.generic))
        ):
            return Static(value)
    return Known(path)


def read_module(path: Path) -> TextScope:
    return TextScope(path.read_text(encoding="utf-8"), str(path))
