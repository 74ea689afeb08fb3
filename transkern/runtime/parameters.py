"""The parameters of a function, and the arguments of a call in their order."""

from __future__ import annotations

import functools
import inspect
import types
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from transkern.wrappers import written_function


class Parameters:
    """What a function takes: `names` in order, the first `positional` of them by place, those in `unnamed` not by name;
    `defaults` by name; `variadic` with ``*args`` or ``**keywords``. `count` arguments by place are all of it (-1 where
    some go by name only)."""

    __slots__ = ("count", "defaults", "function", "names", "positional", "signature", "unnamed", "variadic")

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function, self.signature = function, inspect.signature(function, follow_wrapped=False)
        found = self.signature.parameters.values()
        self.names = [p.name for p in found]
        self.defaults = {p.name: p.default for p in found if p.default is not inspect.Parameter.empty}
        kinds = {p.kind for p in found}
        by_place = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
        self.positional = sum(p.kind in by_place for p in found)
        self.unnamed = {p.name for p in found if p.kind is inspect.Parameter.POSITIONAL_ONLY}
        self.count = len(self.names) if self.positional == len(self.names) else -1
        self.variadic = bool(kinds & {inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD})

    def complete(self, args: tuple[Any, ...], keywords: dict[str, Any]) -> list[Any] | None:
        """A value for each parameter, or None where the call is wrong."""
        if len(args) > self.positional:
            return None
        given, left = list(args), dict(keywords)
        for name in self.names[len(args) :]:
            if name in left and name not in self.unnamed:
                given.append(left.pop(name))
            elif name in self.defaults:
                given.append(self.defaults[name])
            else:
                return None
        return given if not left else None

    def bind(self, args: Sequence[Any], keywords: Mapping[str, Any]) -> list[Any]:
        """A value for each parameter, defaults too; raises what Python says of a wrong call."""
        try:
            bound = self.signature.bind(*args, **keywords)
        except TypeError:
            bound = None
        if bound is None:
            _declared(self.signature, self.function)(*args, **keywords)
            raise AssertionError(f"Python takes the arguments of {self.function.__qualname__}, inspect does not")
        bound.apply_defaults()
        return [bound.arguments[name] for name in self.names]

    def call(self, function: Callable[..., Any], values: Sequence[Any]) -> Any:
        """The function itself, with its arguments as `bind` gives them; of what is passed behind them (`calls.outside`)
        it knows itself."""
        values = values[: len(self.names)]
        if self.count == len(values) and not self.variadic:
            return function(*values)
        bound = self.signature.bind_partial()
        bound.arguments.update(zip(self.names, values, strict=True))
        return function(*bound.args, **bound.kwargs)


def _declared(signature: inspect.Signature, function: Callable[..., Any]) -> Callable[..., Any]:
    """A function that takes what another one takes, and does nothing: a wrong call of it raises Python's own error."""
    empty = inspect.Parameter.empty
    bare = [p.replace(annotation=empty, default=p.default if p.default is empty else None)
            for p in signature.parameters.values()]  # fmt: skip
    text = str(signature.replace(parameters=bare, return_annotation=inspect.Signature.empty))
    space: dict[str, Any] = {}
    exec(f"def declared{text}: pass", space)
    made: Callable[..., Any] = space["declared"]
    made.__qualname__ = function.__qualname__
    return made


def plain_function(given: Any) -> types.FunctionType:
    """The Python function that is to be compiled; TypeError with what to write where it is something else."""
    found = None if isinstance(given, (type, functools.partial)) or _is_numpys(given) else written_function(given)
    if not isinstance(found, types.FunctionType):
        raise TypeError(f"transkern.compile takes a Python function, not {_told(given)}")
    if inspect.iscoroutinefunction(found) or inspect.isasyncgenfunction(found):
        raise TypeError(
            f"transkern.compile takes functions that return a result, and `{found.__name__}` is asynchronous: "
            "compile the function that it calls for the work"
        )
    return found


def _is_numpys(given: Any) -> bool:
    return isinstance(given, np.ufunc) or str(getattr(given, "__module__", "")).partition(".")[0] == "numpy"


def _told(given: Any) -> str:
    """What is not a Python function, and what to compile instead."""
    name = getattr(given, "__qualname__", None) or getattr(given, "__name__", None)
    if isinstance(given, property):
        return "a property: write @property above @transkern.compile"
    if isinstance(given, functools.partial):
        return "a functools.partial: compile the function in it, functools.partial(transkern.compile(f), ...)"
    if isinstance(given, type):
        return f"the class `{name}`: compile its methods, or a function that makes objects of it"
    if isinstance(given, np.vectorize):
        return "an np.vectorize: compile a function whose loop calls what is in it"
    if _is_numpys(given):
        return f"NumPy's `{getattr(given, '__name__', name)}`: compile the function that calls it"
    if isinstance(given, (types.BuiltinFunctionType, types.MethodWrapperType)):
        return f"the built-in `{name}`: compile the function that calls it"
    if callable(given):
        return f"an object of the class `{type(given).__qualname__}`: compile its method `__call__`"
    return f"{given!r:.80}"
