"""The texts of a program for a device: printed, kept in the disk cache, and loaded.

What is loaded runs, as machine code does that is kept: it is read only where `cache.py` has found it to be whole, and
the user's own.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from transkern.options import Options
from transkern.runtime import tracebacks
from transkern.runtime.caching.plain_data import NotPlain, as_plain, from_plain
from transkern.targets import table

__all__ = ["NotPlain", "as_json", "from_json", "loaded", "texts_of"]


def texts_of(program: Any, target: str, options: Options) -> Any:
    """The texts of a program after the passes of a target that has some; raises CompileError as `emit`."""
    return table.target(target).code.printed(program, options.allow_float32)


def loaded(
    texts: Any, target: str, function: Callable[..., Any], names: Sequence[str]
) -> tuple[Callable[..., Any], Callable[[], str]]:
    """The call of texts, whose errors have the lines of the user's `function`, and why it returned NotImplemented;
    `names` are those of its arguments. Raises TargetUnavailable where the device or its library is missing."""
    call: Any = table.target(target).code.load(texts)  # with `why`, and the `place` of an error
    return tracebacks.telling(call, call.place, function, names), call.why


def as_json(texts: Any) -> dict[str, Any]:
    """Texts for the disk cache; raises NotPlain where a result cannot be told to another process."""
    made = {name: getattr(texts, name) for name in type(texts).__dataclass_fields__}
    for name in made.keys() & {*_PLACES}:
        made[name] = [[*made[name]], tracebacks.spans_as_json(made[name].values())]
    if "returns" in made:
        made |= {"returns": as_plain(made["returns"]), "spans": tracebacks.spans_as_json(made["spans"])}
    try:
        json.dumps(made)
    except (TypeError, ValueError) as error:  # of a target whose texts are no texts
        raise NotPlain(str(error)) from error
    return made


def from_json(data: Mapping[str, Any], target: str) -> Any:
    """What `as_json` was given."""
    made = dict(data)
    for name in made.keys() & {*_PLACES}:
        made[name] = dict(zip(made[name][0], tracebacks.spans_from_json(made[name][1]), strict=True))
    for name in made.keys() & {*_NAMES}:
        made[name] = tuple(made[name])
    if "returns" in made:
        made |= {"returns": from_plain(made["returns"]), "spans": tracebacks.spans_from_json(made["spans"])}
    return table.target(target).code.texts(**made)


_NAMES = ("params", "written")
_PLACES = ("places", "checks")
