"""CUDA text of all nests in the simulator: the results are Python's, and the race check is clean.

Nests share a text, each in a namespace of its own: the sanitizers' start costs more than a nest.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.corpus.test_corpus import ASKED
from tests.cuda.support import Recorder, program_from, recorder, types_of
from tests.nests.collected import NESTS, Nest
from tests.nests.test_results import close
from tests.nests.test_table import outcome
from tests.nests.threaded import chosen
from tests.tools import require
from transkern.targets.cuda.emit import emit
from transkern.targets.cuda.load import function as launcher_function
from transkern.targets.cuda.simulator.check import Launch, check
from transkern.targets.naming import CUDA, function_name

require("c++", "sanitizers")

__all__ = ["recorder"]

BATCH = 20
CHECKED = NESTS if ASKED == "all" else NESTS[::3]
"""Every third one; all of them with `TRANSKERN_CORPUS=all`."""
BATCHES = [CHECKED[k : k + BATCH] for k in range(0, len(CHECKED), BATCH)]


def joined(codes: list[str]) -> str:
    """One text of several: each in a namespace within that of the one before, whose names it hides."""
    includes: dict[str, None] = {}
    parts = []
    for number, code in enumerate(codes):
        includes |= dict.fromkeys(re.findall(r"^#include .*$", code, re.MULTILINE))
        rest = re.sub(r"^#include .*$", "", code, flags=re.MULTILINE)
        parts.append(f"namespace nest_{number} {{\n{rest}\n")
    path = [f"nest_{number}" for number in range(len(codes))]
    opened = [f"using namespace {'::'.join(path[: k + 1])};" for k in range(len(path))]
    return "\n".join([*includes, *parts, "}" * len(codes), *opened, ""])


def args_of(nest: Nest) -> tuple[Any, ...]:
    return nest.inputs(0, chosen(nest)[-1])


def run(nests: list[Nest]) -> tuple[str, dict[str, str]]:
    """The joined text of `nests`, after running it, and whose results are not Python's."""
    programs = [program_from(nest.source, types_of(nest.name, args_of(nest))) for nest in nests]
    emitted = [emit(program) for program in programs]
    code = joined([text for text, _ in emitted if "__global__" in text])
    wrong = {}
    for nest, (_, launcher) in zip(nests, emitted, strict=True):
        call: Callable[..., Any] = launcher_function(function_name(nest.name, CUDA), code, launcher, simulate=True)
        wanted = outcome(nest.function, args_of(nest))
        try:
            got: Any = outcome(call, args_of(nest))
        except NameError as error:
            got = error
        if not close(got, wanted, nest.tolerance or 1e-12):
            wrong[nest.name] = f"{got} instead of {wanted}"
    return code, wrong


@pytest.mark.parametrize("batch", BATCHES, ids=lambda batch: f"{batch[0].name}-{batch[-1].name}")
def test_no_race(batch: list[Nest], recorder: Recorder) -> None:
    code, wrong = run(batch)
    assert not wrong
    arrays: dict[str, np.ndarray[Any, Any]] = {}
    launches = []
    for number, (launch, given) in enumerate(recorder.launches):
        arrays |= {f"{name}_{number}": value for name, value in given.items()}
        renamed = [f"{a}_{number}" if isinstance(a, str) else a for a in launch.args]
        launches.append(Launch(*launch[:3], renamed, *launch[4:]))
    assert launches
    report = check(code, launches, arrays, "race")
    assert report.ok, report.text
