"""The corpus' CUDA kernels under the simulator's sanitizers: every launch that a case makes is made again there."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Literal

import numpy as np
import pytest

import transkern
from tests.corpus.registry import Case, outcome
from tests.cuda.support import Recorder
from transkern.targets.cuda.simulator import device
from transkern.targets.cuda.simulator.check import check


@contextmanager
def noted() -> Iterator[dict[str, Recorder]]:
    """The launches made meanwhile, by the text of their module."""
    found: dict[str, Recorder] = {}
    texts: dict[int, str] = {}
    load, run = device.RawModule.__init__, device.RawKernel.__call__

    def init(self: Any, code: str | None = None, **options: Any) -> None:
        load(self, code, **options)
        texts[id(self._module)] = str(code)
        kept.append(self)  # so that no other module gets its identity

    def call(self: Any, grid: Any, block: Any, args: Any, **options: Any) -> None:
        found.setdefault(texts[id(self._module)], Recorder()).record(self, grid, block, args, **options)
        run(self, grid, block, args, **options)

    kept: list[Any] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(device.RawModule, "__init__", init)
        patch.setattr(device.RawKernel, "__call__", call)
        yield found


def findings(case: Case, kind: Literal["memory", "race"] = "memory", planted: tuple[str, str] = ("", "")) -> str:
    """What the sanitizers find in the launches of a case, or nothing; `planted`: a piece of the CUDA text, and a wrong
    one for it."""
    compiled = transkern.compile(case.function, target="cuda")
    with noted() as modules:
        for arguments in case.arguments():
            outcome(compiled, arguments)
    for text, recorder in modules.items():
        arrays: dict[str, np.ndarray[Any, Any]] = {}
        launches = []
        for number, (launch, given) in enumerate(recorder.launches):
            arrays |= {f"{name}_{number}": value for name, value in given.items()}
            renamed = [f"{a}_{number}" if isinstance(a, str) else a for a in launch.args]
            launches.append(launch._replace(args=renamed))
        report = check(text.replace(*planted) if planted[0] else text, launches, arrays, kind)
        if not report.ok:
            return report.text
    return ""
