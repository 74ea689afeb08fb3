"""Scripts as users have them, under ``python`` and under ``transkern run``: the first run, the second and so on.

    python benchmarks/bench_scripts.py [--runs N] [--output FILE] [NAME ...]

Each run is a process of its own; what the runs of a script find out, they leave to the next in a cache of their own.
All runs must print the same; where they do not, the first line that differs is shown.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

SCRIPTS = Path(__file__).resolve().parent / "scripts"


def run(words: list[str], cache: str) -> tuple[tuple[int, str, str], float]:
    """What a process prints and returns, and its seconds."""
    environment = {**os.environ, "TRANSKERN_CACHE_DIR": cache, "PYTHONPYCACHEPREFIX": os.path.join(cache, "bytecode")}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    environment["PYTHONPATH"] = str(Path(__file__).parents[1])
    began = time.perf_counter()
    done = subprocess.run(
        [sys.executable, *words], capture_output=True, text=True, cwd=SCRIPTS, env=environment, check=False
    )
    took = time.perf_counter() - began
    return (done.returncode, done.stdout, done.stderr.replace(f"{SCRIPTS}{os.sep}", "")), took


def difference(wanted: tuple[int, str, str], found: tuple[int, str, str]) -> str:
    """Where two runs differ, in short."""
    for one, two in zip((wanted[1] + wanted[2]).splitlines(), (found[1] + found[2]).splitlines(), strict=False):
        if one != two:
            return f"{one[:100]!r} became {two[:100]!r}"
    return "" if wanted == found else f"{wanted[0]}, {found[0]} or another number of lines"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--output", type=Path)
    options = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as bytecode:  # as on any machine on which transkern has run before
        run(["-m", "transkern", "run", "--eager", "heat.py"], bytecode)
        for script in sorted(SCRIPTS.glob("*.py")):
            if options.names and script.stem not in options.names:
                continue
            with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as cache:  # one compiles on behind the script
                os.symlink(os.path.join(bytecode, "bytecode"), os.path.join(cache, "bytecode"))
                wanted, python = run([script.name], cache)
                seconds, differs = [], ""
                for _ in range(options.runs):
                    found, took = run(["-m", "transkern", "run", script.name], cache)
                    seconds.append(took)
                    differs = differs or difference(wanted, found)
            rows.append({"script": script.stem, "python": python, "runs": seconds, "differs": differs})
            told = "  ".join(f"{s:6.2f}" for s in seconds)
            ratio = f"{python / seconds[-1]:5.2f}x"
            print(f"{script.stem:16s} {python:6.2f} s   run: {told}   {ratio}  {differs}", flush=True)
    for k in range(options.runs):
        ratios = [row["python"] / row["runs"][k] for row in rows]
        lost = sum(r["runs"][k] > 1.05 * r["python"] and r["runs"][k] > r["python"] + 0.3 for r in rows)
        mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
        print(f"run {k + 1}: geometric mean {mean:.2f}, {sum(r >= 2 for r in ratios)} twice as fast or more, "
              f"{lost} slower by more than 5 % and 0.3 s")  # fmt: skip
    if options.output:
        options.output.write_text(json.dumps({"python": sys.version.split()[0], "scripts": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
