"""How `torch.compile` sees a call of a compiled function: as one of a function that it does not look into.

What that returns is an `Answer`, whose parts PyTorch puts together where it traces on; an error is raised there, too.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from torch.utils import _pytree

from transkern.errors import TranskernError
from transkern.frameworks import torch as operators
from transkern.frameworks.plans import put_together
from transkern.frameworks.templates import Kept, Node, Slot, Template, take
from transkern.runtime import foreign
from transkern.runtime.keys import BY_KEY


class Answer:
    """Tensors, and how the result is made of them."""

    def __init__(self, tensors: list[Any], structure: Any) -> None:
        self.tensors, self.structure = tensors, structure


_STRICT = "compiled functions are exported with torch.export.export(..., strict=False), which is its default"
_ERRORS = {"TypeError": TypeError, "ValueError": ValueError, "IndexError": IndexError}


def _put_together(tensors: Iterable[Any], structure: Any) -> Any:
    if structure[0] == "error":
        raise _ERRORS.get(structure[1], RuntimeError)(structure[2])
    return put_together(structure, list(tensors), None)


_pytree.register_pytree_node(Answer, lambda made: (made.tensors, made.structure), _put_together)


def _answer(key: str, args: Sequence[Any], keywords: Mapping[str, Any]) -> Any:
    return _untraced(key, args, keywords)


def _answered(key: str, args: Sequence[Any], keywords: Mapping[str, Any]) -> Any:
    compiled = BY_KEY[key]
    tensors = [v for v in _pytree.tree_leaves((args, keywords)) if isinstance(v, torch.Tensor)]
    if not foreign.is_traced("torch", tensors, "cpu", False) and _is_called_by_itself(compiled):
        return compiled(*args, **keywords)
    if torch.compiler.is_exporting():  # there PyTorch keeps what it cannot keep of functions that it does not look into
        return Answer([], ("error", "TypeError", _STRICT))
    try:
        found, outputs, made = operators.apply(compiled, compiled._parameters.bind(args, keywords))
    except (TranskernError, TypeError, ValueError, IndexError) as error:
        return Answer([], ("error", type(error).__name__, str(error)))
    tensors = list(outputs)  # and what else the result is made of

    def written_out(structure: Any) -> Any:
        if structure[0] == "argument":
            (template,), leaves = take([made.owner(structure[1])], lambda v: isinstance(v, torch.Tensor))
            first = len(tensors)
            tensors.extend(leaves)
            return _structure(template, first)
        if structure[0] == "number":
            number = found.numbers[structure[1]]
            if not isinstance(number, (torch.SymInt, torch.SymFloat, torch.SymBool)):
                return ("constant", number)
            tensors.append(number)
            return ("output", len(tensors) - 1)
        if structure[0] in ("output", "constant"):
            return structure
        kind, keys, of, *items = structure
        return (kind, keys, of, *map(written_out, items))

    return Answer(tensors, written_out(found.structure))


def _is_called_by_itself(compiled: Any) -> bool:
    """Whether it is not a graph that calls, but `Compiled.__call__`, at which a graph is broken."""
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename in _BETWEEN:
        frame = frame.f_back
    return frame.f_code.co_filename == type(compiled).__call__.__code__.co_filename


_OF_TORCH = ("_compile.py", "_dynamo/eval_frame.py", "_dynamo/decorators.py")
_BETWEEN = {__file__, *(str(Path(torch.__file__).parent / name) for name in _OF_TORCH)}


def _structure(template: Template, first: int) -> Any:
    match template:
        case Slot(number):
            return ("output", first + number)
        case Kept(value):
            return ("constant", value)
        case Node(kind, items, keys, of):
            path = f"{of.__module__}:{of.__qualname__}" if of is not None else ""
            return (kind, keys, path, *(_structure(item, first) for item in items))


# Where a graph is broken at the call, this runs, and PyTorch would trace it.
_untraced: Callable[..., Any] = torch.compiler.disable(_answered)
_nonstrict: Callable[..., Any] = getattr(torch.compiler, "nonstrict_trace", torch._dynamo.nonstrict_trace)
"""Public in some versions of PyTorch only."""

traced: Callable[..., Any] = _nonstrict(_answer)

# Calls that do not go into a graph run inside what PyTorch traces, frame by frame: it must not trace ours.
_kind: Any = type(next(iter(BY_KEY.values())))  # of the one that is called, with which this module is loaded
_kind._cold = torch.compiler.disable(_kind._cold)
_kind._verify = torch.compiler.disable(_kind._verify)
