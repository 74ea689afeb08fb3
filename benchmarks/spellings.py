"""The same computation in several spellings: how far the slowest is behind the fastest.

    python benchmarks/spellings.py [--only heat] [--threads 1] [--seconds 0.5] [--json results/FILE.json]

All spellings of a group are compiled for the CPU, compared with NumPy, and run in turn. NumPy's own time of each stands
beside it. The exit status tells whether a group's slowest takes more than 1.25 of its fastest.
"""

from __future__ import annotations

import argparse
import json
import platform
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))
from measure import Others, Timing, interleaved
from rich.console import Console
from rich.progress import track
from rich.table import Table
from spelled import GROUPS, INPUTS

import transkern

WITHIN = 1.25


class Call:
    """A function with its arguments, as `interleaved` runs it."""

    def __init__(self, function: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
        self.function, self.arguments = function, arguments

    def step(self) -> Any:
        return self.function(*self.arguments)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--only", help="groups whose name has this in it")
    parser.add_argument("--threads", type=int, help="threads of our kernels")
    parser.add_argument("--seconds", type=float, default=0.5, help="time for each spelling")
    parser.add_argument("--json", type=Path, help="write the figures there, too")
    given = parser.parse_args()
    if given.threads:
        transkern.set_num_threads(given.threads)
    console, rows, others = Console(), {}, Others()
    groups = [g for g in GROUPS if not given.only or given.only in g]
    for group in track(groups, "spellings", console=Console(stderr=True)):
        rows[group] = measured(group, given.seconds)
    table = Table("spelling", "ms", "of the fastest", "NumPy, ms", title=others.told()[0])
    far = 0
    for group, row in sorted(rows.items(), key=lambda r: -spread(r[1])):
        far += spread(row) > WITHIN
        table.add_section()
        table.add_row(f"[bold]{group}", "", f"[bold]{spread(row):.2f}", "")
        best = min((t.median for t in row["ours"].values()), default=0.0)
        for name, ours in sorted(row["ours"].items(), key=lambda r: r[1].median):
            numpy = f"{row['numpy'][name] * 1e3:.2f}" if name in row["numpy"] else "-"
            table.add_row(f"  {name}", f"{ours.median * 1e3:.3f}", f"{ours.median / best:.2f}", numpy)
        for name, why in row["refused"].items():
            table.add_row(f"  {name}", "refused", why, "")
            far += 1
    console.print(table)
    console.print(f"{len(rows) - far} of {len(rows)} groups within {WITHIN}")
    if given.json:
        found = {
            group: {
                "spread": spread(row), "ours": {k: t.median for k, t in row["ours"].items()}, "numpy": row["numpy"],
                "refused": row["refused"],
            } for group, row in rows.items()
        }  # fmt: skip
        place = {"machine": platform.processor() or platform.machine(), **others.told()[1], "numpy": np.__version__}
        given.json.write_text(json.dumps({**place, "groups": found}, indent=1) + "\n", encoding="utf-8")
    sys.exit(far > 0)


def spread(row: dict[str, Any]) -> float:
    times = [t.median for t in row["ours"].values()]
    return max(times) / min(times) if times else 0.0


def measured(group: str, seconds: float) -> dict[str, Any]:
    """Times of each spelling; what differs from NumPy ends the run."""
    arguments = INPUTS[group](np.random.default_rng(0))
    runners: dict[str, Call] = {}
    numpy: dict[str, float] = {}
    refused: dict[str, str] = {}
    wanted: Any = None
    for function in GROUPS[group]:
        compiled = transkern.compile(function, target="cpu")
        try:
            found = compiled(*arguments)
        except transkern.CompileError as error:
            refused[function.__name__] = error.problem
            continue
        wanted = found if wanted is None else wanted
        for one, two in zip(_arrays(found), _arrays(wanted), strict=True):
            np.testing.assert_allclose(one, two, rtol=1e-9, atol=1e-9, err_msg=function.__name__)
        runners[function.__name__] = Call(compiled, arguments)
        if not any(word in function.__name__ for word in ("loop", "_at_a_time", "points", "breaks", "zip", "rows")):
            one = interleaved({"numpy": Call(function, arguments)}, seconds=0.1, most=5)
            numpy[function.__name__] = one["numpy"].median
            for a, b in zip(_arrays(function(*arguments)), _arrays(wanted), strict=True):
                np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-9, err_msg=f"{function.__name__} in NumPy")
    ours: dict[str, Timing] = interleaved(runners, seconds)
    return {"ours": ours, "numpy": numpy, "refused": refused}


def _arrays(value: Any) -> list[Any]:
    return list(value) if isinstance(value, tuple) else [value]


if __name__ == "__main__":
    main()
