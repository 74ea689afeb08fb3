"""Gradients that a user gives for a compiled function (`Compiled.defgrad`)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from transkern import refusals
from transkern.errors import CompileError
from transkern.frameworks.templates import Kept, Node, Slot, Template
from transkern.runtime.structures import attributes_of

if TYPE_CHECKING:
    from transkern.runtime.compiled import Compiled


def by_leaf(
    compiled: Compiled, templates: Sequence[Template], found: Any, shapes: Sequence[Any],
    same: Callable[[Any, Any], bool],
) -> list[Any]:  # fmt: skip
    """The gradient of each leaf, of what a gradient's function has returned: one gradient, where the function has one
    parameter, else one for each; None where there is none. `shapes` are those of leaves that are arrays, else None.

    Raises CompileError where there are more or fewer, or where one has not the shape of its argument.
    """
    names = compiled._names
    each = list(found) if isinstance(found, (tuple, list)) and len(names) > 1 else [found]
    if len(names) == 1 and isinstance(found, tuple) and len(found) == 1:
        each = list(found)
    if len(each) != len(names):
        raise _wrong(compiled, f"returns {len(each)} gradients for {len(names)} parameters", "one for each, or None")
    made: list[Any] = [None] * len(shapes)
    for name, template, gradient in zip(names, templates, each, strict=True):
        _visit(compiled, name, template, gradient, made)
    for k, (gradient, shape) in enumerate(zip(made, shapes, strict=True)):
        if gradient is None or shape is None:
            continue
        own = tuple(getattr(gradient, "shape", ()))
        if len(own) != len(shape) or not all(same(a, b) for a, b in zip(own, shape, strict=True)):
            told = f"returns a gradient of shape {own} for an argument of shape {tuple(shape)} (its array number {k})"
            raise _wrong(compiled, told, "sum it over the axes that were broadcast: g.sum(axis=0)")
    return made


def _visit(compiled: Compiled, name: str, template: Template, gradient: Any, made: list[Any]) -> None:
    match template:
        case Slot(number):
            made[number] = gradient
        case Kept():
            if gradient is not None:
                raise _wrong(compiled, f"returns a gradient for `{name}`, which holds no array", "return None for it")
        case Node(kind, items, keys):
            if gradient is None:
                return
            parts = _parts(kind, keys, gradient)
            if parts is None or len(parts) != len(items):
                told = f"returns {gradient!r:.40} for `{name}`, a {kind}"
                raise _wrong(compiled, told, "return what is made up alike")
            for item, part in zip(items, parts, strict=True):
                if part is not None or not isinstance(item, Kept):
                    _visit(compiled, name, item, part, made)


def _parts(kind: str, keys: tuple[Any, ...], gradient: Any) -> list[Any] | None:
    if kind == "dict":
        return [gradient[k] for k in keys] if isinstance(gradient, dict) and gradient.keys() == set(keys) else None
    if isinstance(gradient, (tuple, list)):
        return list(gradient)
    return None if kind in ("tuple", "list") else list(attributes_of(gradient).values())


def _wrong(compiled: Compiled, told: str, help: str) -> CompileError:
    function = compiled.gradient.function.__name__ if compiled.gradient is not None else "?"
    problem = f"`{function}`, the gradient of `{compiled.function.__name__}`, {told}"
    return CompileError(refusals.GRADIENT, problem, help)
