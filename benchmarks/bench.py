"""`make bench`: the same functions on the same inputs, transkern and its peers in turn, in one run.

    python benchmarks/bench.py [--quick] [--only sigmoid] [--output FILE]

Medians and ratios go to a table and, with the machine and all versions, to a JSON file in `benchmarks/results/`. What
gives another dtype or other values than NumPy is not compared.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import platform
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

os.environ.setdefault("JAX_PLATFORMS", "cpu")  # before anything imports JAX: all peers run on the CPU
sys.path.insert(0, str(Path(__file__).parents[1]))
from cases import Case, cases
from measure import Others, Timing, copy_bandwidth, difference, interleaved
from peers import ORDER, Runner, runner, versions
from rich.console import Console
from rich.markup import escape
from rich.table import Table
from startup import overhead, waits


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="the middle size only, without PyTorch")
    parser.add_argument("--only", default="", help="only the cases whose name contains this")
    parser.add_argument("--output", type=Path, help="where the JSON goes")
    options = parser.parse_args()

    console = Console()
    threads = cores()
    peers = tuple(p for p in ORDER if not (options.quick and p == "torch.compile"))
    chosen = [c for c in cases((10**6,) if options.quick else (10**4, 10**6, 10**7)) if options.only in c.name]
    busy = Others()
    bandwidth = [copy_bandwidth(threads)]
    console.print(f"{cpu_name()}, {threads} threads; copy {bandwidth[0] / 1e9:.1f} GB/s")

    rows = []
    for case in chosen:
        with console.status(f"{case.name} {case.dtype}"):
            rows.append(measure(case, peers))
            bandwidth.append(copy_bandwidth(threads))
            rows[-1]["copy_bandwidth"] = bandwidth[-1]
        console.print(line(rows[-1]), markup=False)
    sentence, taken = busy.told()
    console.print(sentence)
    with console.status("imports, first calls, the call"):
        start = {} if options.only else waits() | overhead()

    console.print(table(rows, peers))
    for what, seconds in start.items():
        console.print(f"{what:40} {readable(seconds)}")
    path = write(options.output, "", {"copy_bandwidth": bandwidth, **taken, "cases": rows, "startup": start})
    console.print(f"written: {path}")
    wrong = [row["case"] for row in rows if row["peers"].get("transkern", {}).get("wrong", "missing")]
    if wrong:
        console.print(f"[red]transkern's answer is wrong or missing: {', '.join(wrong)}")
    return int(bool(wrong))


def measure(case: Case, peers: tuple[str, ...], seconds: float = 0.5) -> dict[str, Any]:
    """One row: each peer's times, and what is wrong with its answers before and after they are taken.

    `seconds` is how long each peer runs, about.
    """
    runners: dict[str, Runner] = {}
    found: dict[str, dict[str, Any]] = {}
    reference = runner("numpy", case)
    assert reference is not None
    expected = reference.answer()
    for peer in peers:
        try:
            one = runner(peer, case)
            if one is None:
                continue
            found[peer] = {"wrong": difference(one.answer(), expected, case.exact)}
        except Exception as error:  # a peer that cannot compile it: its row says so, the others go on
            said = next(iter(str(error).strip().splitlines()), "")
            found[peer] = {"wrong": f"{type(error).__name__}: {said[:200]}"}
            continue
        runners[peer] = one
    timings: dict[str, Timing] = interleaved(runners, seconds)
    for peer, timing in timings.items():
        found[peer] |= asdict(timing)
        found[peer]["wrong"] = found[peer]["wrong"] or difference(runners[peer].answer(), expected, case.exact)
    return {"case": case.name, "dtype": case.dtype, "bytes": case.moved, "peers": found}


def ratio(row: dict[str, Any], peer: str) -> float | None:
    """How many times longer a peer takes than transkern; None where one of them has no right answer."""
    mine, theirs = row["peers"].get("transkern", {}), row["peers"].get(peer, {})
    if mine.get("wrong", "-") or theirs.get("wrong", "-"):
        return None
    return float(theirs["median"] / mine["median"])


def line(row: dict[str, Any]) -> str:
    mine = row["peers"].get("transkern", {})
    if "median" not in mine:
        return f"{row['case']} {row['dtype']}: {mine.get('wrong')}"
    rate = row["bytes"] / mine["median"]
    share = f", {rate / 1e9:.1f} GB/s, {rate / row['copy_bandwidth']:.0%} of a copy" if rate else ""
    return f"{row['case']} {row['dtype']}: {readable(mine['median'])}{share}"


def table(rows: list[dict[str, Any]], peers: tuple[str, ...]) -> Table:
    made = Table(title="How many times longer than transkern (more is better for transkern)")
    made.add_column("case")
    made.add_column("transkern", justify="right")
    made.add_column("of a copy", justify="right")
    others = [p for p in peers if p != "transkern"]
    for peer in others:
        made.add_column(peer, justify="right")
    for row in rows:
        mine = row["peers"].get("transkern", {})
        rate = row["bytes"] / mine["median"] / row["copy_bandwidth"] if "median" in mine and row["bytes"] else 0
        cells = []
        for peer in others:
            times = ratio(row, peer)
            wrong = row["peers"].get(peer, {}).get("wrong", "")
            cells.append(f"{times:.1f}×" if times is not None else f"[yellow]{escape(wrong[:24])}" if wrong else "")
        made.add_row(
            f"{row['case']} {row['dtype']}", readable(mine["median"]) if "median" in mine else "[red]failed",
            f"{rate:.0%}" if rate else "", *cells,
        )  # fmt: skip
    return made


def readable(seconds: float) -> str:
    for unit, scale in (("s", 1.0), ("ms", 1e3), ("µs", 1e6)):
        if abs(seconds) * scale >= 1:
            return f"{seconds * scale:.3g} {unit}"
    return f"{seconds * 1e9:.0f} ns"


def write(path: Path | None, kind: str, results: dict[str, Any]) -> Path:
    """The results with the machine and all versions, as JSON: to `path`, or where this day's of this kind go."""
    record = {
        "date": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "cpu": cpu_name(),
        "threads": cores(),
        "system": platform.platform(),
        "python": platform.python_version(),
        "versions": versions(),
        **results,
    }
    path = path or Path(__file__).parent / "results" / f"{datetime.date.today().isoformat()}{kind}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(record, indent=1) + "\n")
    return path


def cores() -> int:
    """How many this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def cpu_name() -> str:
    try:
        for text in Path("/proc/cpuinfo").read_text().splitlines():
            if text.startswith("model name"):
                return text.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


if __name__ == "__main__":
    sys.exit(main())
