"""What compiling takes: generated functions of growing length, and the corpus' first calls.

    python benchmarks/compile_time.py [--longest 2000] [--every 1]

Seconds of the processor (of this process, and of the C compiler), so that other work on the machine counts little.
"""

from __future__ import annotations

import argparse
import copy
import itertools
import os
import resource
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

from lengths import KINDS

from transkern import limits, pipeline
from transkern.frontend.sources.annotations import types_from_annotations
from transkern.frontend.sources.texts import TextScope
from transkern.frontend.specialise import specialise
from transkern.targets.cpu.printing.module import emit

STEPS = ("front end", "passes", "emission", "C compiler")


def seconds_for(text: str) -> tuple[float, float, float]:
    """Of a function `f`: the front end, the passes, the emission."""
    function = TextScope(text, "<text>").function("f")
    types = types_from_annotations(function)
    assert types is not None
    marks = [time.process_time()]
    program = specialise(function, types)
    marks.append(time.process_time())
    program = pipeline.run(program)
    marks.append(time.process_time())
    emit(program)
    marks.append(time.process_time())
    one, two, three = (after - before for before, after in itertools.pairwise(marks))
    return one, two, three


def lengths(longest: int) -> None:
    counts = [n for n in (100, 200, 500, 1000, 2000, 5000) if n <= max(longest, 100)]
    seconds_for(KINDS[0](20))  # what is imported, and asked of NumPy once
    print(f"{'seconds of Python':20}", *(f"{n:>8}" for n in counts), f"{'growth':>8}  (1: linear)")
    for kind in KINDS:
        taken = [sum(seconds_for(kind(n))) for n in counts]
        growth = f"{taken[-1] / taken[-2] / (counts[-1] / counts[-2]):8.2f}" if len(counts) > 1 else ""
        print(f"{kind.__name__:20}", *(f"{t:8.2f}" for t in taken), growth, flush=True)


class Clock:
    """The seconds that the steps of one compilation take."""

    def __init__(self) -> None:
        self.taken = dict.fromkeys(STEPS, 0.0)

    @contextmanager
    def running(self) -> Iterator[None]:
        """Inside, compilations are measured."""
        from transkern.targets.cpu import build
        from transkern.targets.cpu.printing import module

        measured = (
            ("front end", pipeline, "translated"), ("passes", pipeline, "run"),
            ("emission", module, "emit_with_timers"), ("C compiler", build, "run_compiler"),
        )  # fmt: skip
        with ExitStack() as stack:
            for step, owner, name in measured:
                stack.enter_context(mock.patch.object(owner, name, self.timed(step, getattr(owner, name))))
            yield

    def timed(self, step: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **keywords: Any) -> Any:
            before = _now()
            try:
                return function(*args, **keywords)
            finally:
                self.taken[step] += _now() - before

        return call


def _now() -> float:
    """Seconds of this process, and of those that it has waited for."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def corpus(every: int) -> None:
    """The first calls of the corpus' functions, with nothing on disk."""
    sys.path.insert(0, str(Path(__file__).parents[1]))
    import tempfile

    import transkern
    from tests.corpus.test_corpus import cases

    found: dict[str, tuple[float, dict[str, float]]] = {}
    with tempfile.TemporaryDirectory() as folder, mock.patch.dict(os.environ, {"TRANSKERN_CACHE_DIR": folder}):
        for name, case in cases()[::every]:
            if "cpu" in case.refused:
                continue
            args, clock = copy.deepcopy(case.arguments()[0]), Clock()
            before = _now()
            with clock.running():
                try:
                    transkern.compile(case.function, target="cpu")(*args)
                except limits.CompileError as error:
                    print(f"{name}: {error}")
                except Exception:  # the function's own
                    pass
            found[name] = _now() - before, clock.taken
    print(f"{'first calls':14} {'median':>8} {'most':>8} {'all':>8}   ({len(found)} functions)")
    totals = [total for total, _ in found.values()]
    rows = {"whole": totals, **{step: [taken[step] for _, taken in found.values()] for step in STEPS}}
    for step, taken in rows.items():
        print(f"{step:14} {statistics.median(taken):8.3f} {max(taken):8.2f} {sum(taken):8.1f}")
    for name, (total, taken) in sorted(found.items(), key=lambda item: -item[1][0])[:8]:
        print(f"{total:8.2f} {name}: " + ", ".join(f"{step} {s:.2f}" for step, s in taken.items()))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--longest", type=int, default=2000, help="statements of the longest one, from 100; 0: none")
    parser.add_argument("--every", type=int, default=1, help="of the corpus, one function in so many; 0: none")
    options = parser.parse_args()
    if options.longest:
        lengths(options.longest)
    if options.every:
        corpus(options.every)


if __name__ == "__main__":
    main()
