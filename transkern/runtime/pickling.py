"""Compiled functions in other processes: by name where a module has them, with their code where it has not.

``@transkern.compile def f`` binds the name `f` to the compiled object, so that the function itself has no name by which
`pickle` could find it. A twin of it has: `f.pickled`, an attribute of the object. `pickle` sends that name, as it does
for any function; `cloudpickle` (joblib's loky, Dask) sends the code of functions whose module the other process does
not have, such as a script's. Code that is sent tells no file (since cloudpickle 3.1.3), and that process may not have
it, as of a cell of a notebook: the texts go along, of all functions that it leads to.
"""

from __future__ import annotations

import dataclasses
import sys
import types
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from transkern.options import Options
from transkern.texts_read import Text, sent, texts_of

if TYPE_CHECKING:
    from transkern.runtime.compiled import Compiled

_TWIN = ".pickled"


def reduced(compiled: Compiled, protocol: int) -> Any:
    """What `pickle` is told about a compiled function."""
    if protocol < 4 and _is_found(compiled):  # these know no names with dots in them
        return compiled.function.__qualname__
    return rebuilt, (
        type(compiled), compiled.pickled, compiled.target, compiled.types, compiled.fallback, compiled.verify,
        compiled.options, _texts(compiled), compiled.gradient, compiled.gradient_takes_result,
    )  # fmt: skip


def rebuilt(
    kind: type[Compiled], function: Callable[..., Any], target: str, types: str | None, fallback: str | None,
    verify: bool, options: Options, texts: tuple[Text, ...] = (), gradient: Compiled | None = None,
    takes_result: bool = False,
) -> Compiled:  # fmt: skip
    """The compiled function that was pickled: this process's own where it has it."""
    sent(texts)
    name = getattr(function, "__qualname__", "")
    if name.endswith(_TWIN):
        owner = _named(function.__module__, name.removesuffix(_TWIN))
        if isinstance(owner, kind) and owner.pickled is function:
            return owner
        function.__qualname__ = name.removesuffix(_TWIN)
    given = dataclasses.asdict(options) | {"threads": options.threads or None}
    made = kind(function, target=target, types=types, fallback=fallback, verify=verify, **given)
    made.gradient, made.gradient_takes_result = gradient, takes_result
    return made


def twin(compiled: Compiled) -> Any:
    """The function of a compiled object under a name by which it is found; itself where its own will do."""
    function = compiled.function
    if not isinstance(function, types.FunctionType) or not _is_found(compiled):
        return function
    made = types.FunctionType(
        function.__code__, function.__globals__, function.__name__, function.__defaults__, function.__closure__
    )
    made.__dict__.update(function.__dict__)
    made.__kwdefaults__, made.__annotations__ = function.__kwdefaults__, function.__annotations__
    made.__module__, made.__doc__ = function.__module__, function.__doc__
    made.__qualname__ = function.__qualname__ + _TWIN
    return made


def _texts(compiled: Compiled) -> tuple[Text, ...]:
    """The texts that the other process may not have: none where it imports the module."""
    if _is_found(compiled) and compiled.function.__module__ != "__main__":
        return ()
    texts: dict[Text, None] = {}
    waiting, seen = [compiled.function], set()
    while waiting:
        function = waiting.pop()
        if not isinstance(function, types.FunctionType) or function.__code__ in seen or _is_imported(function):
            continue
        seen.add(function.__code__)
        found = texts_of(function.__code__.co_filename, function.__globals__)
        texts.update(dict.fromkeys((file, tuple(lines)) for file, lines in found))
        waiting.extend(_functions_in(function))
    return tuple(texts)


def _functions_in(function: types.FunctionType) -> list[Any]:
    """What its names mean: of a compiled function, the function."""
    cells = (cell.cell_contents for cell in function.__closure__ or () if cell != types.CellType())
    named = (function.__globals__[name] for name in function.__code__.co_names if name in function.__globals__)
    return [getattr(value, "function", value) for value in (*cells, *named)]


def _is_imported(function: types.FunctionType) -> bool:
    return function.__module__ != "__main__" and _named(function.__module__, function.__qualname__) is function


def _is_found(compiled: Compiled) -> bool:
    """Whether the name of the function leads to the compiled object."""
    return _named(compiled.function.__module__, compiled.function.__qualname__) is compiled


def _named(module: str, path: str) -> Any:
    found: Any = sys.modules.get(module)
    for name in path.split("."):
        found = getattr(found, name, None)
    return found
