"""Generated programs on all targets, in processes that may crash:  python -m tests.fuzz.run --minutes 30

Each process takes seeds of one target in batches; a batch is compiled together and runs in a subprocess with a time
limit, so that a crash or an endless loop is a finding and not the end. What fails is made smaller, the pass at fault is
named where the interpreter of the IR shows it, and the program is printed, ready for `tests/regressions`.

With `--sanitize`, the CPU's and the CUDA simulator's code runs under AddressSanitizer and UndefinedBehaviorSanitizer,
whose finding is a failure (`unsafe`) too: a wrong access that happens to give the right answer is found so.
"""

from __future__ import annotations

import argparse
import functools
import itertools
import json
import linecache
import os
import queue
import re
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

TARGETS = ("cpu", "cuda", "pallas")
SHARE = {"cpu": 10, "cuda": 1, "pallas": 1}  # of the programs
BATCH = {"cpu": 160, "cuda": 60, "pallas": 60}
ENVIRONMENT = {
    "OMP_NUM_THREADS": "2", "OMP_WAIT_POLICY": "passive", "JAX_PLATFORMS": "cpu", "TRANSKERN_CUDA_SIM": "1",
}  # fmt: skip
AT_ONCE = 40  # as a user's code is compiled: more take the C compiler longer than the limit
LIMIT = 300.0  # seconds without a sign of life: a batch is compiled as one, which takes long on a busy machine


@dataclass
class Tally:
    """What has been found so far."""

    counts: dict[str, Counter[str]] = field(default_factory=lambda: {t: Counter() for t in TARGETS})
    refusals: Counter[str] = field(default_factory=Counter)
    failures: list[dict[str, Any]] = field(default_factory=list)

    def add(self, target: str, event: dict[str, Any]) -> None:
        self.counts[target][event["verdict"]] += 1
        if event["verdict"] == "refused":
            self.refusals[_problem(event["message"])] += 1
        elif event["verdict"] not in ("right", "fragile"):
            self.failures.append({"target": target, **event})


def _problem(message: str) -> str:
    """A refusal without its place and the program's own names, so that equal ones are counted together."""
    first = message.splitlines()[0]
    first = first.split(": ", 1)[1] if first.startswith("<") and ": " in first else first
    return re.sub(r"`[a-z]\d*(_\d+)?`", "`…`", first)


def worker(target: str, seeds: list[int], full: bool, sanitized: bool) -> Iterator[dict[str, Any]]:
    """Runs programs, and tells of each: first that it runs, then how it went."""
    os.environ.pop("LD_PRELOAD", None)  # not for the compiler
    from tests.fuzz.batch import QUICK, Batch
    from transkern.targets.cpu import compiler as cc

    def started(program: Any) -> None:
        _tell({"at": program.seed})

    with tempfile.TemporaryDirectory() as folder:
        batch = Batch(target, Path(folder), tuple(cc.flags()) if full else QUICK, sanitized, started)
        programs = [program_for(target, s) for s in seeds]
        size = AT_ONCE if full else max(len(programs), 1)
        for k in range(0, len(programs), size):
            for report in batch.run(programs[k : k + size]):
                yield {"seed": report.program.seed, "verdict": report.verdict, "message": report.message}


def program_for(target: str, seed: int) -> Any:
    """The program of a seed as a target gets it: devices refuse stores into arguments that share memory, and JAX much
    of what goes with sizes that data decide."""
    from tests.fuzz.programs import WIDE, generate

    program = generate(seed, wide=0.25 if target == "pallas" else WIDE)
    if target == "pallas":
        program = _with_few_sizes(program)
    if target != "cpu" and seed % 8:
        program = replace(program, parameters=tuple(_apart(p) for p in program.parameters))
    return program


def _apart(parameter: Any) -> Any:
    return replace(parameter, layout="C") if " " in parameter.layout else parameter


def _with_few_sizes(program: Any) -> Any:
    """A program for JAX, which compiles anew for each size: one size, and in every other program a second one."""
    first = program.calls[0][0]
    other = [c for c in program.calls if c[0] != first]
    chosen = {program.seed // 2 % len(other)} if program.seed % 2 == 0 else set()
    kept = [c for c in program.calls if c[0] == first] + [c for k, c in enumerate(other) if k in chosen]
    return replace(program, calls=tuple(kept))


def _tell(event: dict[str, Any]) -> None:
    print(json.dumps(event), flush=True)


@functools.cache
def under_sanitizers() -> dict[str, str]:
    """What to put into the environment of a process whose code is built with the sanitizers."""
    from transkern.targets.cpu import compiler as cc

    library = subprocess.run([*cc.command(), "-print-file-name=libasan.so"], capture_output=True, text=True, check=True)
    return {
        "LD_PRELOAD": library.stdout.strip(), "PYTHONMALLOC": "malloc", "OPENBLAS_NUM_THREADS": "1",
        "ASAN_OPTIONS": "detect_leaks=0:detect_stack_use_after_return=0:allocator_may_return_null=1:exitcode=1",
        "UBSAN_OPTIONS": "print_stacktrace=1:exitcode=1",
    }  # fmt: skip


def found_by_sanitizers(told: str) -> str:
    """What the sanitizers found, in short, and the line of the code that did it."""
    found = re.search(r"(?:runtime error|ERROR: AddressSanitizer): (.*)", told)
    if not found:
        return ""
    place = re.search(r" in (\w+)\S* (\S+\.(?:c|cpp)):(\d+)", told[found.end() :])
    if not place:
        return found[1]
    return f"{found[1]} in {place[1]}: {linecache.getline(place[2], int(place[3])).strip()}"


def supervised(
    target: str, seeds: list[int], full: bool, sanitized: bool, tally: Tally, lock: threading.Lock
) -> None:
    """A batch in a subprocess; what crashes it or does not end is told, and the rest runs again without it."""
    command = [
        sys.executable,
        "-W",
        "ignore",
        "-m",
        "tests.fuzz.run",
        "--worker",
        target,
        "--full" if full else "--quick",
        *(["--sanitize"] if sanitized else []),
    ]
    environment = {**os.environ, **ENVIRONMENT, **(under_sanitizers() if sanitized else {})}
    left = list(seeds)
    while left:
        with tempfile.TemporaryDirectory() as folder:  # a process that crashes leaves its files behind
            process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                env={**environment, "TMPDIR": folder},
            )  # fmt: skip
            assert process.stdin is not None and process.stdout is not None and process.stderr is not None
            process.stdin.write(json.dumps(left))
            process.stdin.close()
            events: queue.Queue[str] = queue.Queue()
            errors: list[str] = []
            readers = [
                threading.Thread(target=lambda p=process, q=events: [q.put(line) for line in p.stdout], daemon=True),
                threading.Thread(target=lambda p=process, e=errors: e.extend(p.stderr), daemon=True),
            ]
            for reader in readers:
                reader.start()
            at, hung, last = None, False, time.monotonic()
            while process.poll() is None or not events.empty() or readers[0].is_alive():
                begun = time.monotonic()
                try:
                    event = json.loads(events.get(timeout=0.2))
                except queue.Empty:
                    if is_stopped(process.pid) or time.monotonic() - begun > 5:  # it, or this process itself
                        last = time.monotonic()
                    if time.monotonic() - last > LIMIT and not hung:
                        hung = True
                        process.kill()
                    continue
                last = time.monotonic()
                if "at" in event:
                    at = event["at"]
                    continue
                left.remove(event["seed"])
                with lock:
                    tally.add(target, event)
            if not left:
                return
            readers[1].join(10)
            verdict, message = "hung" if hung else "crashed", "".join(errors[-8:])
            if (found := found_by_sanitizers("".join(errors))) and not hung:
                verdict, message = "unsafe", found
            culprit = at if at in left else left[0]
            left.remove(culprit)
            with lock:
                tally.add(target, {"seed": culprit, "verdict": verdict, "message": message})


def is_stopped(pid: int) -> bool:
    """Whether someone has stopped a process (SIGSTOP), which then does not hang (known on Linux only)."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state in ("T", "t")


def fuzz(targets: list[str], minutes: float, first: int, count: int, sanitized: bool = False) -> Tally:
    """Programs on two processes until the time is over (or `count` programs a target have run)."""
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    tally, lock = Tally(), threading.Lock()
    numbers = {t: itertools.count() for t in targets}
    deadline = time.monotonic() + minutes * 60

    def choose() -> tuple[str, list[int], bool] | None:
        """The target that is furthest behind its share, and its next seeds."""
        with lock:
            open_ = [t for t in targets if not count or sum(tally.counts[t].values()) + len(running[t]) < count]
            if not open_:
                return None
            target = min(open_, key=lambda t: (sum(tally.counts[t].values()) + len(running[t])) / SHARE[t])
            k = next(numbers[target])
            begin = first + k * BATCH[target]
            size = min(BATCH[target], count - k * BATCH[target]) if count else BATCH[target]
            seeds = list(range(begin, begin + size))
            running[target] += seeds
            return target, seeds, k % 16 == 15  # one batch in sixteen as a user's is compiled

    running: dict[str, list[int]] = {t: [] for t in targets}

    def work() -> None:
        while time.monotonic() < deadline and (chosen := choose()) is not None:
            target, seeds, full = chosen
            supervised(target, seeds, full, sanitized, tally, lock)
            with lock:
                running[target] = [s for s in running[target] if s not in set(seeds)]

    threads = [threading.Thread(target=work, daemon=True) for _ in range(2)]
    for thread in threads:
        thread.start()
    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    told, shown = time.monotonic(), 0
    with Progress(*columns) as progress:
        rows = {t: progress.add_task(t, total=None) for t in targets}
        while any(thread.is_alive() for thread in threads):
            time.sleep(0.5)
            with lock:
                found = {t: f"{t:7} {_counts(tally.counts[t])}" for t in targets}
                failures = tally.failures[shown:]
            shown += len(failures)
            for failure in failures:  # at once: a run that is cut short has told what it found
                progress.console.print(_line(failure), markup=False, highlight=False, soft_wrap=True)
            for t in targets:
                progress.update(rows[t], description=found[t])
            if not progress.console.is_terminal and time.monotonic() - told > 60:  # no bar in a log: a line a minute
                told = time.monotonic()
                print("; ".join(found.values()), flush=True)
    return tally


def _counts(counts: Counter[str]) -> str:
    total = sum(counts.values())
    return f"{total:6} programs: " + ", ".join(f"{n} {verdict}" for verdict, n in sorted(counts.items()))


def _line(failure: dict[str, Any]) -> str:
    """A failure in short: the end of its message."""
    last = failure["message"].strip()[-200:]
    return f"{failure['target']}, seed {failure['seed']}: {failure['verdict']}: {last}"


def explained(failure: dict[str, Any]) -> str:
    """A failing program made small, and the pass at fault."""
    from tests.fuzz import stages
    from tests.fuzz.batch import Report
    from tests.fuzz.programs import Program
    from tests.fuzz.shrink import shrunk

    program = program_for(failure["target"], failure["seed"])
    head = f"{failure['target']}, seed {failure['seed']}: {failure['verdict']}: {failure['message'].strip()[-400:]}"
    if failure["verdict"] in ("crashed", "hung", "unsafe"):
        return f"{head}\n{program.text()}"
    found = stages.first_wrong(program, failure["target"])
    if found is None:  # the code that the target prints
        from tests.fuzz.batch import Batch

        with tempfile.TemporaryDirectory() as folder:
            batch = Batch(failure["target"], Path(folder))
            (report,) = batch.run([program])
            small = shrunk(report, batch.run) if report.verdict in ("wrong", "broken") else report
            return f"{head}\nat fault: the target's own code\n{small.program.text()}{small.message[-300:]}\n"
    name, report = found
    stage = stages.names(failure["target"]).index(name)

    def run(programs: list[Program]) -> list[Report]:
        return [stages.check(p, stage, failure["target"]) for p in programs]

    small = shrunk(report, run)
    return f"{head}\nat fault: {name}\n{small.program.text()}{small.message[-300:]}\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--minutes", type=float, default=30)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--count", type=int, default=0, help="programs a target; 0: as many as the time allows")
    parser.add_argument("--target", action="append", choices=TARGETS, help="all, unless given")
    parser.add_argument("--shrink", type=int, default=10, help="how many failures are made smaller")
    parser.add_argument("--sanitize", action="store_true", help="under the sanitizers: the CPU, and CUDA's simulator")
    parser.add_argument("--idioms", action="store_true", help=argparse.SUPPRESS)  # what all programs may have by now
    parser.add_argument("--worker", choices=TARGETS, help=argparse.SUPPRESS)
    parser.add_argument("--full", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--quick", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.sanitize and "pallas" in (given.target or ()):
        parser.error("--sanitize is for code that a C++ compiler builds: cpu and cuda")
    if given.worker:
        for event in worker(given.worker, json.loads(sys.stdin.read()), given.full, given.sanitize):
            _tell(event)
        return
    os.environ.update(ENVIRONMENT)
    targets = given.target or [t for t in TARGETS if not (given.sanitize and t == "pallas")]
    tally = fuzz(targets, given.minutes, given.first, given.count, given.sanitize)
    for problem, n in tally.refusals.most_common(12):
        print(f"refused {n:4} times: {problem}")
    for failure in tally.failures:
        print(_line(failure))
    for target in targets:
        print(f"{target:7} {_counts(tally.counts[target])}", flush=True)
    for failure in tally.failures[: given.shrink]:
        try:
            print(f"\n{explained(failure)}", flush=True)
        except Exception as error:  # whatever it was, the other failures are to be explained too
            print(f"\n{failure['target']}, seed {failure['seed']}: not made smaller: {error!r}", flush=True)
    sys.exit(bool(tally.failures))


if __name__ == "__main__":
    main()
