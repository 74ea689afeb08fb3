"""The texts of a program for a device: printed, kept in the disk cache, and loaded.

What is loaded runs, as machine code does that is kept: it is read only where `cache.py` has found it to be whole, and
the user's own.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from transkern.options import Options
from transkern.runtime import tracebacks
from transkern.runtime.caching.plain_data import NotPlain, as_plain, from_plain

__all__ = ["NotPlain", "as_json", "from_json", "loaded", "texts_of"]

if TYPE_CHECKING:
    from transkern.targets.cuda.load import Printed as CudaTexts
    from transkern.targets.pallas.module.load import Printed as PallasTexts


def texts_of(program: Any, target: str, options: Options) -> CudaTexts | PallasTexts:
    """The texts of a program after the passes of a target, `cuda` or `pallas`; raises CompileError as `emit`."""
    if target == "cuda":
        from transkern.targets.cuda import load

        return load.printed(program)
    from transkern.targets.pallas.module import load as pallas

    return pallas.printed(program, narrow=options.allow_float32)


def loaded(
    texts: Any, target: str, function: Callable[..., Any], names: Sequence[str]
) -> tuple[Callable[..., Any], Callable[[], str]]:
    """The call of texts, whose errors have the lines of the user's `function`, and why it returned NotImplemented;
    `names` are those of its arguments. Raises TargetUnavailable where the device or its library is missing."""
    call: Any  # with `why`, and the `place` of an error
    if target == "cuda":
        from transkern.targets.cuda import load

        call = load.load(texts, simulate=os.environ.get("TRANSKERN_CUDA_SIM") == "1")
    else:
        from transkern.targets.pallas.module import load as pallas

        call = pallas.load(texts)
    return tracebacks.telling(call, call.place, function, names), call.why


def as_json(texts: CudaTexts | PallasTexts) -> dict[str, Any]:
    """Texts for the disk cache; raises NotPlain where a result cannot be told to another process."""
    made = {name: getattr(texts, name) for name in type(texts).__dataclass_fields__}
    for name in made.keys() & {*_PLACES}:
        made[name] = [[*made[name]], tracebacks.spans_as_json(made[name].values())]
    if "returns" in made:
        made |= {"returns": as_plain(made["returns"]), "spans": tracebacks.spans_as_json(made["spans"])}
    return made


def from_json(data: Mapping[str, Any], target: str) -> CudaTexts | PallasTexts:
    """What `as_json` was given."""
    if target == "cuda":
        from transkern.targets.cuda import load

        places = {k: dict(zip(data[k][0], tracebacks.spans_from_json(data[k][1]), strict=True)) for k in _PLACES}
        return load.Printed(**{**data, **places})
    from transkern.targets.pallas.module import load as pallas

    names = {name: tuple(data[name]) for name in ("params", "written")}
    returns, spans = from_plain(data["returns"]), tracebacks.spans_from_json(data["spans"])
    return pallas.Printed(**{**data, **names, "returns": returns, "spans": spans})


_PLACES = ("places", "checks")
