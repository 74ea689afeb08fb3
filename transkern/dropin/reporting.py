"""What a run's report shows: each function, its times before and after, and why it stayed in Python."""

from __future__ import annotations

import os
import sys

from rich.console import Console
from rich.table import Table

from transkern.dropin.deciding import COST
from transkern.dropin.declining import COMPILED, PARTED, PYTHON, TOO_SHORT
from transkern.dropin.functions import Watch, Watched
from transkern.runtime.profiling import in_seconds


def table(watch: Watch) -> None:
    """Functions that have been called, the slowest first."""
    called = [f for f in watch.functions if f.record.in_python().calls or f.record.in_code().calls]
    called.sort(key=lambda f: -(_own(f) + f.record.in_code().seconds))
    made = Table(box=None, pad_edge=False, header_style="bold")
    for name in ("function", "line"):
        made.add_column(name, no_wrap=True)
    for name in ("calls", "in Python", "calls", "compiled", "faster"):
        made.add_column(name, justify="right", no_wrap=True)
    made.add_column("what became of it", overflow="fold", min_width=30)
    for one in (each for whole in called for each in (whole, *_called_parts(whole))):
        python, code = one.record.in_python(), one.record.in_code()
        times = one.record.times()
        made.add_row(
            _named(one), f"{os.path.basename(one.site.file)}:{one.site.first}",
            str(python.calls or ""), in_seconds(_own(one)) if _own(one) else "",
            str(code.calls or ""), in_seconds(code.seconds) if code.calls else "",
            f"{times:.1f}x" if times else "", outcome(one),
        )  # fmt: skip
    console = Console(file=sys.stderr, highlight=False, width=None if sys.stderr.isatty() else 160)
    if not called:
        console.print("\ntranskern: no function was called that could gain")
        return
    compiled, parted = (sum(f.state is state for f in called) for state in (COMPILED, PARTED))
    also = f" and {parted} in parts" if parted else ""
    took = in_seconds(watch.account.cost)
    console.print(f"\ntranskern: {compiled} of {len(called)} functions compiled{also}, in {took}")
    console.print(made)


def _own(one: Watched) -> float:
    """Seconds that a function has taken in Python, without those that its callers are said to have taken."""
    return 0.0 if one.why == TOO_SHORT else one.record.in_python().seconds


def _called_parts(whole: Watched) -> list[Watched]:
    """The parts of a function that have been called, as they stand in it."""
    found = whole.parts.all_parts() if whole.parts is not None else ()
    return sorted((p for p in found if p.record.in_python().calls or p.record.in_code().calls), key=_first)


def _first(one: Watched) -> int:
    return one.site.first


def _named(one: Watched) -> str:
    """A function's name; of a part its lines, beneath its function."""
    return "  " + one.site.name.rpartition(", ")[2] if one.is_part else one.site.name


def outcome(one: Watched) -> str:
    """What became of a function."""
    if one.state is PARTED and one.parts is not None:
        told = dict.fromkeys(_in_short(one, why, helps=False) for why in one.parts.refused.values())
        return f"in parts; Python: {'; '.join(told)}"
    if one.state is COMPILED:
        return "compiled" + (" (from the cache)" if one.record.cached else "")
    if one.state is PYTHON:
        return f"Python: {_in_short(one, one.why)}"
    if one.declined:
        return "Python: compiled code raised, or left the call to Python"
    if one.is_beside:
        return "Python: compiled beside the run, which was over sooner; later ones have the code"
    if one.record.in_python().seconds >= COST:
        return "Python: nobody knew yet how long it takes; the next run does"
    return "Python: took too little time to be worth compiling"


def _in_short(one: Watched, why: str, helps: bool = True) -> str:
    """A refusal without the lines that show the source, and without the name of the function's own file."""
    lines = [line.strip() for line in why.splitlines()]
    told = " ".join([*lines[:1], *(line for line in lines[1:] if helps and line.startswith("help:"))])
    return told.replace(f"{one.site.file}:", "line ", 1) if told.startswith(f"{one.site.file}:") else told
