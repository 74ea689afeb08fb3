"""`make evidence`: what becomes of everyday functions on GPUs and TPUs, on a machine that has neither.

    python -m benchmarks.evidence [--only softmax] [--arch sm_90,v5e] [--jobs 2] [--output FILE] [--rest FILE]

NVRTC and libtpu compile the kernels for each architecture; the simulator runs them and counts what they ask of memory.
Each function is a process of its own with a time limit, and what was found is remembered by the texts it was found of:
a rerun takes seconds. A whole run writes `benchmarks/results/DATE-evidence.json` and docs/evidence.md; so does one of
some chips with the `rest` of an earlier run's file, which the page then says.
"""

from __future__ import annotations

import argparse
import datetime
import importlib.metadata
import json
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from rich.console import Console

from benchmarks.evidence import LONGEST, clock, short
from benchmarks.evidence.functions import subjects
from transkern.targets.chips import GPUS, TPUS

ROOT = Path(__file__).parents[2]
_USUAL = (*GPUS, *(chip for chip in TPUS if chip != "v7x"))
"""What a whole run is of; v7x, which not each libtpu knows, is for who asks for it."""
_LIMIT = 150.0
"""Seconds that a function gets on GPUs, the simulator's run included."""
_COMPILATION = 25.0
"""Seconds that a TPU's compiler gets for one function."""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="only the functions whose name contains this")
    parser.add_argument("--arch", default=",".join(_USUAL), help="which chips, with commas between")
    parser.add_argument("--jobs", type=int, default=2, help="how many processes at once")
    parser.add_argument("--output", type=Path, help="where the JSON goes")
    parser.add_argument("--rest", type=Path, help="a file of results, whose rows those of the other chips are")
    parser.add_argument("--check", action="store_true", help="run nothing; 1 where docs/evidence.md is another")
    parser.add_argument("--part", default="", help=argparse.SUPPRESS)  # what a child does
    options = parser.parse_args()
    if options.check or options.part:
        return _check() if options.check else _part(options.part, options.only, options.arch.split(","))

    archs = options.arch.split(",")
    if unknown := [a for a in archs if a not in GPUS and a not in TPUS]:
        parser.error(f"unknown: {', '.join(unknown)}; there are {', '.join((*GPUS, *TPUS))}")
    names = [s.name for s in subjects(options.only)]
    begin, date = time.monotonic(), datetime.datetime.now(datetime.UTC)
    rest = _rest(options.rest, archs) if options.rest else {}
    whole = not options.only and {*archs, *rest.get("chips", ())} >= set(_USUAL)
    path = options.output
    if path is None and whole:
        path = ROOT / "benchmarks" / "results" / f"{date.date()}-evidence.json"

    def write(rows: list[dict[str, Any]]) -> None:  # after each part: what is known is kept whatever happens next
        record = {
            "date": date.isoformat(timespec="seconds"), "seconds": round(time.monotonic() - begin),
            "versions": _versions(), "rest": {key: rest[key] for key in ("date", "chips") if rest},
            "evidence": [row for row in rows if row["arch"] != "clock"] + rest.get("evidence", []),
            "clock": [row for row in rows if row["arch"] == "clock" and "failed" not in row] or rest.get("clock", []),
        }  # fmt: skip
        if path is not None:
            path.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")

    _run(names, options.only, archs, options.jobs, clock.names() if whole and not rest else [], write)
    if path is not None:
        print(f"written: {path}")
    if whole and not options.output:
        from benchmarks.evidence import page

        page.PAGE.write_text(page.page(), encoding="utf-8")
        print(f"written: {page.PAGE}")
    return 0


def _rest(path: Path, archs: list[str]) -> dict[str, Any]:
    """The rows of an earlier run for the chips that this one leaves out, which chips these are, and its date."""
    record = json.loads(path.read_text(encoding="utf-8"))
    rows = [row for row in record["evidence"] if row["arch"] not in archs]
    chips = list(dict.fromkeys(row["arch"] for row in rows))
    return {"date": record["date"], "chips": chips, "evidence": rows, "clock": record["clock"]}


def _check() -> int:
    from benchmarks.evidence import page

    return int(page.PAGE.read_text(encoding="utf-8") != page.page())


def _versions() -> dict[str, str]:
    names = ("transkern", "numpy", "nvidia-cuda-nvrtc", "jax", "libtpu")
    return {name: importlib.metadata.version(name) for name in names}


def _run(
    names: list[str], only: str, archs: list[str], jobs: int, measured: list[str],
    write: Callable[[list[dict[str, Any]]], None],
) -> None:  # fmt: skip
    """A line for each row as it comes; all rows so far are given to `write` after each part."""
    order = {name: k for k, name in enumerate([*names, *measured])}
    gpus = ",".join(a for a in archs if a in GPUS)
    console, lock, rows, done = Console(highlight=False), threading.Lock(), list[dict[str, Any]](), 0
    total = len(names) * len(archs) + len(measured)

    def task(part: str, name: str, arch: str, limit: float) -> None:
        nonlocal done
        for row in _child(part, name, arch, limit):
            with lock:
                rows.append(row)
                done += 1
                console.print(f"[{done}/{total}] {told(row)}", markup=False, soft_wrap=True)
        with lock:
            write(sorted(rows, key=lambda row: ([*archs, "clock"].index(row["arch"]), order[row["function"]])))

    with ThreadPoolExecutor(jobs) as pool:
        chips = sorted((a for a in archs if a in TPUS), key=lambda a: a != LONGEST)  # the longest first
        tasks = [pool.submit(task, "tpu", only, a, 3600.0) for a in chips[:1]]
        tasks += [pool.submit(task, "gpu", name, gpus, _LIMIT) for name in names if gpus]
        tasks += [pool.submit(task, "clock", name, "clock", _LIMIT) for name in measured]
        tasks += [pool.submit(task, "tpu", only, a, 3600.0) for a in chips[1:]]
        for one in tasks:
            one.result()


def _child(part: str, name: str, arch: str, limit: float) -> Iterator[dict[str, Any]]:
    """The rows that a process of its own prints; those that it owes when its time is up say so."""
    command = [sys.executable, "-m", "benchmarks.evidence", "--part", part, "--only", name, "--arch", arch]
    names = [s.name for s in subjects(name)] if part == "tpu" else [name]
    expected = [(n, a) for n in names for a in arch.split(",")]
    child = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    timer = threading.Timer(limit, child.kill)
    said: list[str] = []
    reader = threading.Thread(target=lambda: said.append(child.stderr.read()), daemon=True)  # type: ignore[union-attr]
    begin = time.monotonic()
    timer.start()
    reader.start()
    assert child.stdout is not None
    try:
        for line in child.stdout:
            if line.startswith("{"):
                row = json.loads(line)
                expected.remove((row["function"], row["arch"]))
                yield row
        child.wait()
        reader.join()
    finally:
        timer.cancel()
        child.kill()
    why = f"no answer within {limit:g} s" if time.monotonic() - begin >= limit else "".join(said).strip()[-600:]
    for function, one in expected:
        yield {"function": function, "arch": one, "failed": why or f"the process ended with {child.returncode}"}


def _part(part: str, name: str, archs: list[str]) -> int:
    """What a child does: a function on some GPUs, or all functions on a TPU."""
    if part == "tpu":
        from benchmarks.evidence import tpu

        for row in tpu.rows(subjects(name), archs[0], _COMPILATION):
            print(json.dumps(row), flush=True)
        return 0
    if part == "clock":
        print(json.dumps(clock.row(name)), flush=True)
        return 0
    from benchmarks.evidence import cuda
    from transkern.errors import TranskernError

    (subject,) = (s for s in subjects() if s.name == name)
    for arch in archs:
        try:
            row = cuda.row(subject, arch)
        except TranskernError as error:
            row = {"function": name, "arch": arch, "failed": str(error).splitlines()[0]}
        print(json.dumps(row), flush=True)
    return 0


def told(row: dict[str, Any]) -> str:
    """A row in a line."""
    head = f"{row['arch']:6} {row['function']:26}"
    if "failed" in row:
        return f"{head} failed: {short(row['failed'])[:160]}"
    if row["arch"] == "clock":
        return f"{head} estimate {1e6 * row['estimate']:.0f} µs, measured {1e6 * row['measured']:.0f}"
    if row["arch"] in TPUS:
        around = ", ".join(f"{count} {op}" for op, count in row["outside"].items())
        return f"{head} {row['kernels']} kernels, {row['bundles']} bundles; around: {around or 'nothing'}"
    share = row["roof"] / row["estimate"] if row.get("roof") and row.get("estimate") else None
    text = f"{head} {row['launches']} launches, {row['registers']} registers, bound by {row.get('bound')}"
    return text + ("" if share is None else f", {share:.1%} of the roofline")


if __name__ == "__main__":
    sys.exit(main())
