"""`make bench`, second part: plain loops compiled by transkern, against Numba with its `prange` placed by hand.

    python benchmarks/bench_loops.py [--only jacobi] [--seconds 0.2] [--output FILE]

Each kernel of `loops/` runs as plain loops and as array statements through transkern, as array statements in NumPy, and
through Numba: the plain loops as they are, and the fastest of the forms in `loops/numba_kernels.py`. All of them run in
turn; answers are compared before and after. The ratio that counts is the best of Numba's times to transkern's loops.
"""

from __future__ import annotations

import argparse
import importlib.util
import math
import sys
import warnings
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))
import numpy as np
from bench import cores, cpu_name, readable, write
from cases import Case
from loops.kernels import KERNELS, Kernel
from measure import Others, difference, interleaved
from peers import Runner
from rich.console import Console
from rich.markup import escape
from rich.table import Table

import transkern

PEERS = ("transkern", "transkern, array statements", "numba", "numba parallel", "numpy, array statements")
OURS, THEIRS = PEERS[0], ("numba", "numba parallel")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="only the kernels whose name contains this")
    parser.add_argument("--seconds", type=float, default=0.2, help="how long each peer runs for a kernel, about")
    parser.add_argument("--output", type=Path, help="where the JSON goes")
    options = parser.parse_args()

    console = Console(width=max(130, Console().width))
    console.print(f"{cpu_name()}, {cores()} threads")
    busy = Others()
    rows = []
    for kernel in KERNELS.values():
        if options.only in kernel.name:
            with console.status(kernel.name):
                rows.append(measure(kernel, options.seconds))
            console.print(line(rows[-1]), markup=False, highlight=False)
    sentence, taken = busy.told()
    console.print(table(rows))
    ratios = [r for row in rows if (r := ratio(row)) is not None]
    mean = math.exp(sum(map(math.log, ratios)) / len(ratios)) if ratios else None
    if mean is not None:
        console.print(f"geometric mean of the ratios to Numba's best: {mean:.2f} ({len(ratios)} kernels)")
    console.print(sentence)
    path = write(options.output, "-loops", {**taken, "geometric_mean": mean, "kernels": rows})
    console.print(f"written: {path}")
    wrong = [row["kernel"] for row in rows if row["peers"][OURS]["wrong"]]
    if wrong:
        console.print(f"[red]transkern's answer is wrong or missing: {', '.join(wrong)}")
    return int(bool(wrong))


def measure(kernel: Kernel, seconds: float) -> dict[str, Any]:
    """One row: each peer's times, and what is wrong with its answers before and after they are taken."""
    case = Case(kernel.name, kernel.loops, kernel.inputs(np.random.default_rng(0), kernel.size), written=kernel.written)
    calls: dict[str, Callable[..., Any]] = {"transkern": transkern.compile(kernel.loops, target="cpu")}
    if kernel.slices is not None:
        calls["transkern, array statements"] = transkern.compile(kernel.slices, target="cpu")
        calls["numpy, array statements"] = kernel.slices
    forms: list[Callable[..., Any]] = []
    if importlib.util.find_spec("numba"):
        import numba
        from loops.numba_kernels import FORMS

        warnings.filterwarnings("ignore", category=numba.NumbaPerformanceWarning)
        calls["numba"] = numba.njit(kernel.loops)
        forms = FORMS[kernel.name]
    reference = next(calls[p] for p in ("numpy, array statements", "numba", "transkern") if p in calls)
    expected = Runner(case, reference).answer()

    found: dict[str, dict[str, Any]] = {}
    runners: dict[str, Runner] = {}
    for peer, call in calls.items():
        attempt(peer, Runner(case, call), expected, found, runners)
    if forms:
        tried: dict[str, dict[str, Any]] = {}
        right: dict[str, Runner] = {}
        for form in forms:
            attempt(form.__name__, Runner(case, form), expected, tried, right)
        right = {name: one for name, one in right.items() if not tried[name]["wrong"]}
        if right:
            times = {name: t.median for name, t in interleaved(right, seconds / 4, 7).items()}
            best = min(times, key=times.__getitem__)
            runners["numba parallel"] = right[best]
            found["numba parallel"] = {"wrong": "", "form": best, "forms": times}
        else:
            found["numba parallel"] = {"wrong": "; ".join(f"{name}: {t['wrong']}" for name, t in tried.items())}
    for peer, timing in interleaved(runners, seconds, 15).items():
        found[peer] |= asdict(timing)
        found[peer]["wrong"] = found[peer]["wrong"] or difference(runners[peer].answer(), expected, False)
    return {"kernel": kernel.name, "size": kernel.size, "peers": found}


def attempt(
    peer: str, one: Runner, expected: list[Any], found: dict[str, dict[str, Any]], runners: dict[str, Runner]
) -> None:
    """The peer's first answer; one that cannot compile the kernel says so in its row, and the others go on."""
    try:
        found[peer] = {"wrong": difference(one.answer(), expected, False)}
        runners[peer] = one
    except Exception as error:
        found[peer] = {"wrong": f"{type(error).__name__}: {str(error).strip().splitlines()[0][:200]}"}


def right(row: dict[str, Any], peer: str) -> float | None:
    """The peer's time, if its answers were right."""
    entry = row["peers"].get(peer, {"wrong": "not installed"})
    return None if entry["wrong"] else float(entry["median"])


def ratio(row: dict[str, Any]) -> float | None:
    """How many times longer the best of Numba takes than transkern's loops."""
    mine, theirs = right(row, OURS), [t for peer in THEIRS if (t := right(row, peer)) is not None]
    return min(theirs) / mine if mine is not None and theirs else None


def line(row: dict[str, Any]) -> str:
    mine, times = right(row, OURS), ratio(row)
    if mine is None:
        return f"{row['kernel']}: {row['peers'][OURS]['wrong']}"
    against = "" if times is None else f", the best of Numba takes {times:.2f} times that"
    return f"{row['kernel']}: {readable(mine)}{against}"


def table(rows: list[dict[str, Any]]) -> Table:
    made = Table(title="How many times longer than transkern's loops (more is better for transkern)")
    made.add_column("kernel")
    made.add_column("transkern", justify="right")
    for peer in PEERS[1:]:
        made.add_column(peer.replace(", ", ",\n"), justify="right")
    made.add_column("the best form for Numba")
    for row in rows:
        mine = right(row, OURS)
        cells = []
        for peer in PEERS[1:]:
            theirs = right(row, peer)
            wrong = row["peers"].get(peer, {}).get("wrong", "")
            cells.append(f"{theirs / mine:.2f}×" if mine and theirs else wrong[:16])
        form = row["peers"].get("numba parallel", {}).get("form", "")
        made.add_row(row["kernel"], readable(mine) if mine else "[red]failed", *map(escape, cells), form)
    return made


if __name__ == "__main__":
    sys.exit(main())
