"""The types that a function is compiled for before it is called."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from transkern.errors import TranskernError, TypesNeeded

if TYPE_CHECKING:
    from transkern.runtime.compiled import Compiled


def states_types(compiled: Compiled) -> bool:
    """Whether the decorator or an annotation states a type."""
    from transkern.frontend.sources.annotations import types_from_annotations
    from transkern.frontend.sources.source import live_function

    try:
        return compiled.types is not None or types_from_annotations(live_function(compiled.function)) is not None
    except TypesNeeded:
        return True  # one that is none
    except TranskernError:
        return False  # nobody can read its text


def stated_types(compiled: Compiled, given: tuple[Any, ...] | None = None) -> tuple[Any, ...]:
    """The types of all parameters: those `given`, or that the decorator states (``types=``), or annotations do,
    with those of defaults for the last ones. TypesNeeded where nothing states one."""
    from transkern.frontend.sources.annotations import with_defaults
    from transkern.frontend.sources.source import live_function

    known = types_for(compiled, compiled.types, called=False) if given is None else given
    found = with_defaults(live_function(compiled.function), known)
    if compiled._variadic:
        raise TypesNeeded(f"`{compiled.function.__name__}` takes any number of arguments: only a call tells them")
    if len(found) != len(compiled._parameters.names):
        many = f"{len(compiled._parameters.names)} parameters, and the types of {len(found)} are stated"
        raise TypesNeeded(f"`{compiled.function.__name__}` has {many}")
    return found


def types_for(compiled: Compiled, types: str | None, called: bool = True) -> tuple[Any, ...]:
    """Given types, those of the last call (where `called`), or those that are stated."""
    from transkern.frontend.sources.annotations import types_from_annotations
    from transkern.frontend.sources.source import live_function
    from transkern.frontend.values.types import parse_signature

    last = compiled.known.last if called else None
    text = types or (None if last is not None else compiled.types)
    if text is not None:
        return parse_signature(text)[1]
    if last is not None:
        return last.types
    found = types_from_annotations(live_function(compiled.function))
    if found is None:
        raise TypesNeeded(types_help(compiled.function.__name__, compiled._parameters.names, "call it once, or "))
    return found


def types_help(name: str, parameters: Sequence[str], first: str = "") -> str:
    """How to give the types of a function; `first`: what is easier."""
    example = ", ".join("float32[n]" if k == 0 else "float" for k, _ in enumerate(parameters))
    given = f"types='{name}({example})'" if first else f"--types '{name}({example})'"
    return (
        f"the types of `{name}({', '.join(parameters)})` are not known\n"
        f"  help: {first}give them with {given}, with @transkern.compile(types='({example})'), or as annotations "
        "(x: 'float32[n]')"
    )
