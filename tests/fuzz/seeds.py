"""The command of a generator of small programs: seeds in turn, what is wrong told as it comes, and the counts."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Callable, Iterable


def run(told: str | None, verdicts: Callable[[int], Iterable[tuple[str, str]]], programs: int) -> None:
    """Asks `verdicts` (what became of a program, and its text) of each seed; the exit status says whether one was
    wrong. `told` describes the generator."""
    parser = argparse.ArgumentParser(description=told, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", type=int, default=programs)
    parser.add_argument("--first", type=int, default=1, help="the first seed")
    options = parser.parse_args()
    counts: Counter[str] = Counter()
    for seed in range(options.first, options.first + options.programs):
        for verdict, text in verdicts(seed):
            counts[verdict] += 1
            if verdict == "wrong":
                print(f"seed {seed}: {text}\n", flush=True)
                break
    print(dict(counts))
    raise SystemExit(counts["wrong"] > 0)
