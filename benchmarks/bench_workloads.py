"""`make bench`, third part: functions in array statements as people write them, against the best form for each peer.

    python benchmarks/bench_workloads.py [--quick] [--only sobel] [--output FILE]

The functions of `workloads/` go through transkern, NumPy and Numba as they are, and through Numba, numexpr and JAX in
the form that a user who knows the peer would write for speed. All of them run in turn; answers are compared before and
after. The ratio that counts is the best peer's time to transkern's.
"""

from __future__ import annotations

import argparse
import math
import sys
import warnings
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))
import numpy as np
from bench import cores, cpu_name, measure, ratio, readable, table, write
from cases import Case
from measure import Others
from rich.console import Console
from workloads.collection import WORKLOADS, Workload
from workloads.registry import jax, numba

PEERS = ("numpy", "transkern", "numba", "numba parallel", "numexpr", "jax")
NOTICED = 0.97
"""A peer that takes less than this part of transkern's time is named at the end."""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="a tenth of a second for each peer, not a quarter")
    parser.add_argument("--only", default="", help="only the workloads whose name contains this")
    parser.add_argument("--output", type=Path, help="where the JSON goes")
    options = parser.parse_args()

    if jax is not None:
        jax.config.update("jax_enable_x64", True)  # float64 stays what it is
    console = Console(width=max(130, Console().width))
    console.print(f"{cpu_name()}, {cores()} threads")
    busy = Others()
    rows = []
    for workload in WORKLOADS.values():
        if options.only in workload.name:
            with console.status(workload.name):
                rows.append(measure(case(workload, workload.size), PEERS, 0.1 if options.quick else 0.25))
            console.print(line(rows[-1]), markup=False, highlight=False)
    sentence, taken = busy.told()
    console.print(table(rows, PEERS))
    ratios = {row["case"]: found[1] for row in rows if (found := best(row)) is not None}
    mean = math.exp(sum(map(math.log, ratios.values())) / len(ratios)) if ratios else None
    if mean is not None:
        console.print(f"geometric mean of the ratios to the best peer: {mean:.2f} ({len(ratios)} workloads)")
    behind = sorted((times, name) for name, times in ratios.items() if times < NOTICED)
    console.print("a peer is faster by more than 3 %: " + (", ".join(f"{n} {t:.2f}" for t, n in behind) or "nowhere"))
    console.print(sentence)
    path = write(options.output, "-workloads", {**taken, "geometric_mean": mean, "cases": rows})
    console.print(f"written: {path}")
    wrong = [row["case"] for row in rows if row["peers"]["transkern"]["wrong"]]
    if wrong:
        console.print(f"[red]transkern's answer is wrong or missing: {', '.join(wrong)}")
    return int(bool(wrong))


def case(workload: Workload, size: int, compiled: bool = True) -> Case:
    """The workload at a size; where not `compiled`, Numba's form runs as Python."""
    forms = dict(workload.forms)
    if compiled and "numba parallel" in forms:
        warnings.filterwarnings("ignore", category=numba.NumbaPerformanceWarning)
        forms["numba parallel"] = numba.njit(parallel=True)(forms["numba parallel"])
    inputs = workload.inputs(np.random.default_rng(0), size)
    return Case(workload.name, workload.function, inputs, forms, workload.written, exact=workload.exact)


def best(row: dict[str, Any]) -> tuple[str, float] | None:
    """The fastest peer with right answers, and how many times longer it takes than transkern."""
    found = [(times, peer) for peer in PEERS if peer != "transkern" and (times := ratio(row, peer)) is not None]
    return (min(found)[1], min(found)[0]) if found else None


def line(row: dict[str, Any]) -> str:
    mine, found = row["peers"]["transkern"], best(row)
    if "median" not in mine or mine["wrong"]:
        return f"{row['case']}: {mine['wrong']}"
    against = "" if found is None else f", the best peer ({found[0]}) takes {found[1]:.2f} times that"
    return f"{row['case']}: {readable(mine['median'])}{against}"


if __name__ == "__main__":
    sys.exit(main())
