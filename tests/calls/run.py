"""Generated calls of compiled functions against Python's own:  python -m tests.calls.run --calls 100000

One compiled object is called again and again with arguments of all kinds, in turn: a specialisation must never be used
for what it is not made for. Results, their types, exceptions with their texts, what is written into the arguments, and
which results share memory with them must be what Python gives; or the call is refused with a CompileError. Calls run
in processes that may crash, under AddressSanitizer and UndefinedBehaviorSanitizer with `--sanitize`.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import random
import subprocess
import sys
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from rich.progress import Progress

import transkern
from tests.calls.arguments import Drawer
from tests.calls.functions import FUNCTIONS, Callee
from tests.calls.outcomes import difference, outcome, shown
from tests.fuzz.batch import QUICK, Batch, Pending
from transkern.errors import CompileError, InternalError

AT_ONCE = 12
"""Compiled objects of a process: what they need is compiled together."""


@dataclass
class Plan:
    """A compiled object, and the calls that are made of it."""

    callee: Callee
    seed: int
    calls: int
    drawer: Drawer = field(init=False)
    rng: random.Random = field(init=False)
    compiled: Any = field(init=False)
    done: int = 0
    make: Callable[[], list[Any]] | None = None

    def __post_init__(self) -> None:
        self.rng = random.Random(self.seed)
        self.drawer = Drawer(self.rng)
        self.compiled = transkern.compile(self.callee.function, target="cpu")

    def arguments(self) -> list[Any]:
        """The next call's arguments, made anew each time."""
        if self.make is None:
            sorts = self.callee.sorts
            if self.callee.optional and self.rng.random() < 0.3:
                sorts = sorts[: -self.callee.optional]
            self.make = self.drawer.arguments(sorts)
        return self.make()

    def next(self) -> None:
        self.done += 1
        self.make = None


class Calls(Batch):
    """Calls of many compiled objects; what they need is compiled together."""

    def calls(self, plans: list[Plan], tell: Callable[[dict[str, Any]], None]) -> None:
        with self._collecting(), warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            left = plans
            while left:
                left = [p for p in left if self._go_on(p, tell)]
                self._compile()

    def _go_on(self, plan: Plan, tell: Callable[[dict[str, Any]], None]) -> bool:
        """Makes calls as far as the code for them is there; whether some are left."""
        name = plan.callee.function.__name__
        while plan.done < plan.calls:
            here = {"function": name, "seed": plan.seed, "call": plan.done}
            tell({"at": here})
            try:
                found = outcome(plan.compiled, plan.arguments(), (CompileError, InternalError, Pending))
            except Pending:
                return True
            except CompileError as refusal:
                tell({**here, "verdict": "refused", "message": str(refusal).splitlines()[0]})
                plan.next()
                continue
            except InternalError as error:
                tell({**here, "verdict": "broken", "message": str(error).splitlines()[0]})
                plan.next()
                continue
            wanted = outcome(plan.callee.function, plan.arguments())
            problem = difference(found, wanted)
            if problem:
                called = ", ".join(shown(a) for a in plan.arguments())
                tell({**here, "verdict": "wrong", "message": f"{name}({called}): {problem}"})
            else:
                tell({**here, "verdict": "right"})
            plan.next()
        return False


def plans(first: int, count: int, calls: int) -> Iterator[Plan]:
    """`count` compiled objects, each for `calls` calls."""
    for k in range(first, first + count):
        yield Plan(FUNCTIONS[k % len(FUNCTIONS)], k, calls)


def worker(first: int, count: int, calls: int, sanitized: bool, skip: list[list[Any]], place: str) -> None:
    """Makes calls, and tells of each; `skip` are calls that have ended the process before. The file `place` says at
    each moment which call is being made."""
    os.environ.pop("LD_PRELOAD", None)  # not for the compiler
    crashed = {(function, seed, call) for function, seed, call in skip}
    said: Counter[str] = Counter()
    at = os.open(place, os.O_WRONLY)

    def tell(event: dict[str, Any]) -> None:
        if event.get("verdict") == "right":
            said["right"] += 1  # told in sums: there are many
            return
        if "at" in event:
            os.pwrite(at, json.dumps(event).encode().ljust(200), 0)
            return
        print(json.dumps(event), flush=True)

    made = list(plans(first, count, calls))
    for plan in made:
        before = plan.arguments

        def arguments(plan: Plan = plan, before: Callable[[], list[Any]] = before) -> list[Any]:
            while (plan.callee.function.__name__, plan.seed, plan.done) in crashed:
                before()
                plan.next()
            return before()

        plan.arguments = arguments  # type: ignore[method-assign]
    with tempfile.TemporaryDirectory() as folder:
        Calls("cpu", Path(folder), QUICK, sanitized).calls(made, tell)
    print(json.dumps({"right": said["right"]}), flush=True)


def supervised(first: int, count: int, calls: int, sanitized: bool, limit: float = 1800.0) -> Iterator[dict[str, Any]]:
    """What a process tells; one that a call crashes, or that hangs, is started again without that call."""
    from tests.fuzz.run import ENVIRONMENT, under_sanitizers

    skip: list[list[Any]] = []
    for _ in range(10):
        environment = {**os.environ, **ENVIRONMENT, **(under_sanitizers() if sanitized else {})}
        with tempfile.NamedTemporaryFile() as place, tempfile.TemporaryFile("w+") as told:
            command = [sys.executable, "-W", "ignore", "-m", "tests.calls.run", "--worker", str(first), str(count),
                       str(calls), "--skip", json.dumps(skip), "--place", place.name]  # fmt: skip
            command += ["--sanitize"] if sanitized else []
            try:
                run = subprocess.run(
                    command, stdout=subprocess.PIPE, stderr=told, text=True, env=environment, timeout=limit,
                    check=False,
                )  # fmt: skip
                code, out = run.returncode, run.stdout
            except subprocess.TimeoutExpired as late:
                code, out = -1, (late.stdout or b"").decode() if isinstance(late.stdout, bytes) else late.stdout or ""
            events = [json.loads(line) for line in out.splitlines() if line.startswith("{")]
            if code == 0:
                yield from events
                return
            place.seek(0)
            at = json.loads(place.read().decode().strip() or "{}").get("at", {})
            told.seek(0)
            yield {**at, "verdict": "crashed", "message": f"exit {code}: {told.read()[-2000:]}"}
            if not at:
                return
            skip.append([at["function"], at["seed"], at["call"]])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--calls", type=int, default=100_000, help="how many calls")
    parser.add_argument("--each", type=int, default=400, help="calls of one compiled object")
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--sanitize", action="store_true", help="under the sanitizers")
    parser.add_argument("--worker", type=int, nargs=3, help=argparse.SUPPRESS)
    parser.add_argument("--skip", type=json.loads, default=[], help=argparse.SUPPRESS)
    parser.add_argument("--place", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.worker:
        worker(*given.worker, given.sanitize, given.skip, given.place)
        return
    counts: Counter[str] = Counter()
    refusals: Counter[str] = Counter()
    failures: list[dict[str, Any]] = []
    begun = time.monotonic()
    with Progress() as progress:
        task = progress.add_task("calls", total=given.calls)
        for first in itertools.count(given.first, AT_ONCE):
            left = given.calls - sum(counts.values())
            if left <= 0:
                break
            size = min(AT_ONCE, -(-left // given.each))
            for event in supervised(first, size, given.each, given.sanitize):
                if "right" in event:
                    counts["right"] += event["right"]
                    continue
                counts[event["verdict"]] += 1
                if event["verdict"] == "refused":
                    refusals[event["message"].split(": ", 1)[-1]] += 1
                else:
                    failures.append(event)
                    progress.console.print(
                        f"{event['verdict']}, seed {event.get('seed')}, call {event.get('call')}: {event['message']}",
                        markup=False, highlight=False, soft_wrap=True,
                    )  # fmt: skip
            progress.update(task, completed=sum(counts.values()))
            if not progress.console.is_terminal:
                print(f"{sum(counts.values())} calls: {dict(counts)}", flush=True)
    for problem, n in refusals.most_common(25):
        print(f"refused {n:5} times: {problem}")
    told = ", ".join(f"{n} {verdict}" for verdict, n in sorted(counts.items()))
    print(f"{sum(counts.values())} calls in {time.monotonic() - begun:.0f} s: {told}")
    sys.exit(bool(failures))


if __name__ == "__main__":
    main()
