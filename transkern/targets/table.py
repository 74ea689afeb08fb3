"""The one table of targets: what the rest of transkern asks of each.

Light: it is read where functions are decorated. The code of a target is loaded when it is asked for.
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, cast

if TYPE_CHECKING:
    from transkern.ir.nodes import Program


class Code(Protocol):
    """What the module of a target has."""

    def passes(self) -> tuple[Callable[[Program], Program], ...]:
        """The passes before its printer. Raises TargetUnavailable where it cannot print without what is missing."""

    def files(self, program: Program, narrow: bool) -> dict[str, str]:
        """The files that a program is printed as, behind these passes: names and texts. `narrow`: float64 may become
        float32. Raises CompileError for what the target does not do."""


class Loading(Code, Protocol):
    """The same of a target whose texts are loaded, and kept in the disk cache. The CPU's are compiled and linked, by
    `runtime.caching.cached` itself."""

    def printed(self, program: Program, narrow: bool) -> Any:
        """The texts of a program: a dataclass of plain data, as `runtime.caching.printed.as_json` takes it."""

    def texts(self, **given: Any) -> Any:
        """These again, from their fields."""

    def load(self, texts: Any) -> Callable[..., Any]:
        """What runs them on NumPy's arrays. Its `why` tells why it returned NotImplemented; its `place` where in the
        source an exception came up. Raises TargetUnavailable where a device or a library is missing."""


@dataclass(frozen=True, slots=True)
class Target:
    """`module`: where its `Code` is. `in_place`: it works on the caller's own memory, of any layout, and so takes views
    for arrays; others work on copies in C's order. `grows`: lists of arrays may become as many as the data decide, and
    lists of numbers be taken apart into as many arguments. `by_lanes`: rows lie along the lanes of vectors, which short
    ones fill in part. `own`: the library whose arrays it takes as they are."""

    name: str
    module: str
    in_place: bool = False
    grows: bool = True
    by_lanes: bool = False
    own: str = ""

    @property
    def code(self) -> Loading:
        """Its code, loaded now if it has not been."""
        return cast(Loading, importlib.import_module(self.module))


TARGETS: dict[str, Target] = {
    target.name: target
    for target in (
        Target("cpu", "transkern.targets.cpu.target", in_place=True),
        Target("cuda", "transkern.targets.cuda.target", own="cupy"),
        Target("pallas", "transkern.targets.pallas.target", grows=False, by_lanes=True, own="jax"),
    )
}


@functools.cache
def target(name: str) -> Target:
    """The target of a name.

    Raises:
        ValueError: there is none; the message names those that are.
    """
    if name not in TARGETS:
        raise ValueError(f"there is no target {name!r}: it may be {', '.join(TARGETS)}")
    return TARGETS[name]
