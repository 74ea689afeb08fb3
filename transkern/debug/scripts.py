"""A script that shows an internal error: the function, what it uses, and the types that it was compiled for.

No data goes into it: arrays are left out but for small constants.
"""

from __future__ import annotations

import ast
import contextlib
import copy
import dataclasses
import hashlib
import inspect
import sys
import sysconfig
import textwrap
import types
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from transkern import private
from transkern.errors import CompileError, TranskernError
from transkern.frontend.sources.decorators import is_ours
from transkern.frontend.sources.written import written
from transkern.frontend.values.types import ArgType, parse_signature
from transkern.options import DEFAULT, Options
from transkern.runtime.caching import cache
from transkern.version import __version__
from transkern.wrappers import written_function

_KEPT = 20
_ELEMENTS = 64
"""How large an array is that is written out: a constant of the function, such as the weights of a filter."""
_BELOW = tuple(sysconfig.get_paths()[name] for name in ("stdlib", "platstdlib", "purelib", "platlib"))
"""Where modules are that whoever gets a script has as well."""


def keep(
    function: Callable[..., Any], kinds: Sequence[ArgType], target: str, options: Options, told: str
) -> Path | None:
    """Writes the script of an internal error beside the cache; where it is, or None where it cannot be written."""
    with contextlib.suppress(Exception):  # another error must not hide the one that is told
        folder = cache.usable()
        if folder is None:
            return None
        text = script(function, kinds, target, options, told)
        name = f"{_named(function)}_{hashlib.sha256(text.encode()).hexdigest()[:8]}.py"
        path = private.made(folder / cache.REPORTS) / name
        path.write_text(text, encoding="utf-8")
        _forget_old(path.parent)
        return path
    return None


def _forget_old(folder: Path) -> None:
    for path in sorted(folder.glob("*.py"), key=lambda one: one.stat().st_mtime, reverse=True)[_KEPT:]:
        path.unlink(missing_ok=True)


def script(
    function: Callable[..., Any], kinds: Sequence[ArgType], target: str, options: Options, told: str
) -> str:
    """The text of a script that compiles a function for arguments of these types as it was compiled when `told` was
    raised."""
    function = written_function(function)
    assert isinstance(function, types.FunctionType)
    parts, name = _Parts(), _named(function)
    parts.add(name, function)
    stated = ", ".join(map(str, kinds))
    given = {key: value for key, value in dataclasses.asdict(options).items() if value != getattr(DEFAULT, key)}
    more = "".join(f", {key}={value!r}" for key, value in given.items())
    call = [f"reproduce({name}, {f'{name}({stated})'!r}, {target!r}{more})"]
    if not _is_read_back(f"{name}({stated})", kinds):
        called = f"# transkern.compile({name}, target={target!r}{more})(…)"
        told_types = f"# The types ({stated})"
        call = [told_types, "# have no form as text: call the function with such arguments.", called, "pass"]
    about = f"transkern {__version__}, Python {sys.version.split()[0]}, NumPy {np.__version__}: {told}"
    head = f"{about!r}\n\nfrom __future__ import annotations\n\n{parts.text()}\n\n"
    main = ['if __name__ == "__main__":', "from transkern.debug.reproducing import reproduce", "", *call]
    return head + "\n    ".join(main).replace("\n    \n", "\n\n") + "\n"


def _named(function: Callable[..., Any]) -> str:
    return function.__name__ if function.__name__.isidentifier() else "f"


def _is_read_back(stated: str, kinds: Sequence[ArgType]) -> bool:
    try:
        return parse_signature(stated)[1] == tuple(kinds)
    except (TranskernError, ValueError):
        return False


class _Parts:
    """What a function uses, in the order in which it must stand in a module."""

    def __init__(self) -> None:
        self._imports: dict[str, None] = {}
        self._texts: list[str] = []
        self._seen: dict[str, Any] = {}

    def text(self) -> str:
        """All of it."""
        imports = sorted(self._imports, key=lambda line: (line.startswith("from"), line))
        return "\n".join([*imports, "", "", "\n\n\n".join(self._texts)]).strip() + "\n"

    def add(self, name: str, value: Any) -> None:
        """A name of the function's with what it means, behind all that this needs."""
        if name in self._seen:
            if self._seen[name] is not value:
                self._texts.append(f"# another `{name}` is meant in some of these functions, which is left out")
            return
        self._seen[name] = value
        value = getattr(value, "function", value) if type(value).__module__.startswith("transkern") else value
        if isinstance(value, types.ModuleType):
            self._imports[f"import {value.__name__}" + (f" as {name}" if value.__name__ != name else "")] = None
        elif (line := _import(name, value)) is not None:
            self._imports[line] = None
        elif isinstance(value, (types.FunctionType, type)):
            self._define(name, value)
        else:
            self._texts.append(f"{name} = {told}" if (told := _constant(value)) else _left_out(name, value))
            if told and "np." in told:
                self._imports["import numpy as np"] = None

    def _define(self, name: str, value: types.FunctionType | type) -> None:
        try:
            node = _plain(_class(value) if isinstance(value, type) else written(value).node)
        except (CompileError, OSError, TypeError, SyntaxError):
            self._texts.append(_left_out(name, value))
            return
        space = _space(value)
        for used in dict.fromkeys(x.id for x in ast.walk(node) if isinstance(x, ast.Name)):
            if used in space and space[used] is not value:
                self.add(used, space[used])
        text = ast.unparse(node)
        if isinstance(node, ast.Lambda):
            text = f"{name} = {text}"
        elif value.__name__ != name:
            text += f"\n\n\n{name} = {value.__name__}"
        self._texts.append(text)


def _plain(node: ast.AST) -> ast.AST:
    """A definition without transkern's decorators."""
    node = copy.deepcopy(node)
    if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
        node.decorator_list = [one for one in node.decorator_list if not is_ours(one)]
    return node


def _class(value: type) -> ast.AST:
    return ast.parse(textwrap.dedent(inspect.getsource(value))).body[0]


def _space(value: types.FunctionType | type) -> Mapping[str, Any]:
    """What names mean where a function or a class was written."""
    if isinstance(value, type):
        return vars(sys.modules[value.__module__]) if value.__module__ in sys.modules else {}
    cells = zip(value.__code__.co_freevars, value.__closure__ or (), strict=True)
    return value.__globals__ | {name: cell.cell_contents for name, cell in cells if cell != types.CellType()}


def _import(name: str, value: Any) -> str | None:
    """The line that imports what a library has, or None: of the user's modules the text is written."""
    module, path = getattr(value, "__module__", None), getattr(value, "__qualname__", getattr(value, "__name__", None))
    if not isinstance(module, str) or not isinstance(path, str) or "." in path or "<" in path:
        return None
    held = sys.modules.get(module)
    file = getattr(held, "__file__", None)
    if getattr(held, path, None) is not value or module == "__main__":
        return None
    if file is not None and not file.startswith(_BELOW):
        return None
    return f"from {module} import {path}" + (f" as {name}" if path != name else "")


def _constant(value: Any) -> str:
    """A constant as an expression, or nothing."""
    if isinstance(value, np.ndarray):
        if value.dtype.kind not in "biufc":
            return ""
        if value.size > _ELEMENTS or not np.isfinite(value).all():
            return f"np.zeros({value.shape!r}, np.{value.dtype.name})  # its elements are left out"
        return f"np.array({value.tolist()!r}, np.{value.dtype.name}).reshape({value.shape!r})"
    if isinstance(value, np.generic):
        return f"np.{value.dtype.name}({value.item()!r})" if value.dtype.kind in "biuf" and np.isfinite(value) else ""
    with contextlib.suppress(Exception):
        if ast.literal_eval(told := repr(value)) == value and type(ast.literal_eval(told)) is type(value):
            return told
    return ""


def _left_out(name: str, value: Any) -> str:
    return f"# {name}: a {type(value).__name__}, which is left out here"
