"""docs/performance.md and its pictures, from the newest results of each kind: `make bench` ends with this.

    python benchmarks/page.py [--check]

A number on the page is one of a file in `benchmarks/results/`, or computed here from several of one file. With
`--check` nothing is written, and the exit code says whether the page is what the results say. Pictures need matplotlib;
without it they stay as they are.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import math
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
_NOTICED = 0.97
"""A peer that takes less than this part of transkern's time is faster by more than is seen from run to run."""
RESULTS = ROOT / "benchmarks" / "results"
PAGE = ROOT / "docs" / "performance.md"
PICTURES = ROOT / "docs" / "pictures"

_HEAD = """# Performance

Times of the same functions on the same inputs, taken in turn in one run, from the files in `benchmarks/results/` of the
repository (`make bench`, `make gpu`). A number is how many times longer a peer takes than transkern: more than 1 says
that transkern is faster, less than 1, in bold, that the peer is. An empty cell: the peer has no form of the function,
does not compile it, or gives another answer than NumPy. transkern and `numba` compile the plain function; the others
have the form that a user who knows them would write for speed, `numba parallel` with `prange` placed by hand.

Machines differ, and so do versions: `make bench` measures yours. The page is made by `python benchmarks/page.py`.
"""


_APART = {"numpy, array statements", "NumPy on the host"}
"""No peers: another text, and another processor."""


@dataclass(frozen=True)
class Row:
    """A function: transkern's time, and those of the others, in seconds."""

    name: str
    mine: float
    others: dict[str, float]

    def times(self, peer: str) -> float | None:
        return self.others[peer] / self.mine if peer in self.others else None

    def best(self) -> tuple[float, str] | None:
        """The fastest peer, and how many times longer it takes."""
        found = [(seconds / self.mine, peer) for peer, seconds in self.others.items() if peer not in _APART]
        return min(found, default=None)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing; exit with 1 where the page is another one")
    if parser.parse_args().check:
        return int(PAGE.read_text(encoding="utf-8") != page())
    PAGE.write_text(page(), encoding="utf-8")
    if importlib.util.find_spec("matplotlib") is None:
        print("no matplotlib: the pictures stay as they are")
    else:
        for name, rows in (("workloads", workloads()[1]), ("loops", loops()[1]), ("gpu", gpu()[1])):
            draw(PICTURES / f"times-{name}.svg", rows)
    print(f"written: {PAGE}")
    return 0


def page() -> str:
    """The whole page."""
    parts = [_HEAD, *_examples(), *_workloads(), *_loops(), *_gpu(), *_scripts(), *_calls()]
    return "\n".join(parts)


# ---- results ---------------------------------------------------------------------------------------------------------


def newest(is_kind: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
    """The newest record of a kind, with its file's name; a run of all that `make bench` runs, not of a part."""
    records = [(path, json.loads(path.read_text(encoding="utf-8"))) for path in RESULTS.glob("2*.json")]
    found = [record | {"file": path.name} for path, record in records if is_kind(record)]
    return max(found, key=lambda record: (record.get("date", record["file"][:10]), record["file"]))


def examples() -> tuple[dict[str, Any], list[Row]]:
    record = newest(lambda r: bool(r.get("startup")) and len(r["cases"]) > 10)
    rows = []
    for case in record["cases"]:
        if (made := _row(f"{case['case']}, {case['dtype']}", case["peers"], "transkern")) is not None:
            rows.append(made)
    return record, rows


def workloads() -> tuple[dict[str, Any], list[Row]]:
    record = newest(lambda r: "geometric_mean" in r and "cases" in r and len(r["cases"]) > 20)
    return record, list(filter(None, (_row(c["case"], c["peers"], "transkern") for c in record["cases"])))


def loops() -> tuple[dict[str, Any], list[Row]]:
    record = newest(lambda r: len(r.get("kernels", ())) > 20)
    return record, list(filter(None, (_row(k["kernel"], k["peers"], "transkern") for k in record["kernels"])))


def gpu() -> tuple[dict[str, Any], list[Row]]:
    record = newest(lambda r: "timings" in r)
    rows = []
    for subject, run in record["timings"].items():
        result = run.get("result") or {}
        times = {peer: t / 1e3 for peer, t in result.get("milliseconds", {}).items() if isinstance(t, (int, float))}
        if result.get("wrong") or "transkern" not in times:
            continue
        mine = times.pop("transkern")
        times.pop("transkern with NumPy's arrays", None)
        if isinstance(result.get("NumPy on the host"), (int, float)):
            times["NumPy on the host"] = result["NumPy on the host"] / 1e3
        rows.append(Row(subject.partition(" ")[2], mine, times))
    return record, rows


def _row(name: str, peers: dict[str, dict[str, Any]], own: str) -> Row | None:
    right = {peer: found["median"] for peer, found in peers.items() if not found.get("wrong") and "median" in found}
    if own not in right:
        return None
    return Row(name, right.pop(own), {p: t for p, t in right.items() if not p.startswith("transkern")})


# ---- text ------------------------------------------------------------------------------------------------------------


def _examples() -> Iterator[str]:
    record, rows = examples()
    yield "## Examples\n"
    yield f"The functions of `examples/`, at three sizes. {_about(record)}\n"
    yield _mean(rows) + "\n"
    yield from _by_peer(rows, peers := ("numpy", "numba", "numba parallel", "numexpr", "jax", "torch.compile"))
    yield from _table(rows, peers)


def _workloads() -> Iterator[str]:
    record, rows = workloads()
    yield "\n## Array statements\n"
    yield f"{len(rows)} functions, from finance to biology (`benchmarks/workloads/`). {_about(record)}\n"
    yield _mean(rows)
    yield "\n![Array statements: the best peer's time to transkern's](pictures/times-workloads.svg)\n"
    yield from _by_peer(rows, peers := ("numpy", "numba", "numba parallel", "numexpr", "jax"))
    yield from _table(rows, peers)


def _loops() -> Iterator[str]:
    record, rows = loops()
    yield "\n## Plain loops\n"
    yield f"{len(rows)} kernels, many of them PolyBench's (`benchmarks/loops/`). {_about(record)}\n"
    yield _mean(rows)
    yield "Array statements are another text of the same computation, and do not count as a peer."
    yield "\n![Plain loops: the best peer's time to transkern's](pictures/times-loops.svg)\n"
    yield from _by_peer(rows, peers := ("numpy, array statements", "numba", "numba parallel"))
    yield from _table(rows, peers)


def _gpu() -> Iterator[str]:
    record, rows = gpu()
    machine = record["machine"]["result"]
    shown = ("numpy", "cupy-cuda13x", "jax", "torch", "torchvision", "numba")
    versions = ", ".join(f"{name} {machine[name]}" for name in shown if name in machine)
    yield "\n## On a GPU\n"
    yield f"{machine['device']}; {record['date'][:10]}; {versions}; `{record['file']}`. Arrays are on the device.\n"
    yield _mean(rows)
    yield "\n![On a GPU: the best peer's time to transkern's](pictures/times-gpu.svg)\n"
    peers = "cupy", "jax", "torch", "torch.compile", "torchvision", "numba", "NumPy on the host"
    yield from _by_peer(rows, peers)
    yield from _table(rows, peers)


def _scripts() -> Iterator[str]:
    record = newest(lambda r: "scripts" in r)
    scripts = record["scripts"]
    yield "\n## Whole scripts\n"
    yield (
        f"`transkern run` of {len(scripts)} scripts of about a second, as they are: whole runs, start of the process "
        f"and compiling included, against `python`. {record['file'][:10]}; Python {record['python']}; the file does "
        f"not name the machine; `{record['file']}`.\n"
    )
    yield "| run | geometric mean | slower than Python by more than 5 % | twice as fast or more | most |"
    yield "|---|---|---|---|---|"
    for place in range(min(len(s["runs"]) for s in scripts)):
        times = [s["python"] / s["runs"][place] for s in scripts]
        name = "first, nothing known" if not place else str(place + 1)
        slower, faster = sum(t < 0.95 for t in times), sum(t >= 2 for t in times)
        cells = name, _number(_geometric(times)), slower, faster, _number(max(times))
        yield f"| {' | '.join(map(str, cells))} |"
    yield (
        "\nThe runs follow each other at once: one competes with what is compiled behind the one before, and what "
        "takes 0.2 s in each has code from the third or fourth on."
    )


def _calls() -> Iterator[str]:
    record, _ = examples()
    yield "\n## Calls\n"
    yield f"{_about(record)}\n"
    yield "| | |"
    yield "|---|---|"
    for what, seconds in record["startup"].items():
        yield f"| {what} | {_readable(seconds)} |"
    yield ""


def _about(record: dict[str, Any]) -> str:
    """The machine, the day and the versions."""
    names = "transkern", "numpy", "numba", "numexpr", "jax", "torch"
    versions = ", ".join(f"{name} {record['versions'][name]}" for name in names if name in record["versions"])
    return (
        f"{record['cpu']}, {record['threads']} threads; {record['date'][:10]}; Python {record['python']}, {versions}; "
        f"`{record['file']}`."
    )


def _mean(rows: list[Row]) -> str:
    found = [best for row in rows if (best := row.best()) is not None]
    behind = sorted((best[0], row.name) for row in rows if (best := row.best()) is not None and best[0] < _NOTICED)
    text = ", ".join(f"{name} {_number(times)}" for times, name in behind)
    return (
        f"Geometric mean of the best peer's time to transkern's: {_number(_geometric([t for t, _ in found]))} "
        f"({len(found)} functions that a peer computes). A peer is faster by more than 3 % in {len(behind)}"
        + (f": {text}." if behind else ".")
    )


def _by_peer(rows: list[Row], peers: tuple[str, ...]) -> Iterator[str]:
    """A line a peer: over how many functions, how much longer it takes, and how often it is the faster one."""
    yield "| peer | functions | geometric mean | faster than transkern by more than 3 % |"
    yield "|---|---:|---:|---:|"
    for peer in peers:
        times = [ratio for row in rows if (ratio := row.times(peer)) is not None]
        if times:
            yield f"| {peer} | {len(times)} | {_number(_geometric(times))} | {sum(t < _NOTICED for t in times)} |"
    yield ""


def _table(rows: list[Row], peers: tuple[str, ...]) -> Iterator[str]:
    shown = [peer for peer in peers if any(peer in row.others for row in rows)]
    yield "| function | transkern | " + " | ".join(shown) + " |"
    yield "|---|---:|" + "---:|" * len(shown)
    for row in rows:
        cells = []
        for peer in shown:
            times = row.times(peer)
            text = "" if times is None else _number(times)
            cells.append(f"**{text}**" if times is not None and times < _NOTICED else text)
        yield f"| {row.name} | {_readable(row.mine)} | {' | '.join(cells)} |"


def _geometric(values: list[float]) -> float:
    return math.exp(sum(map(math.log, values)) / len(values))


def _number(times: float) -> str:
    return f"{times:.0f}" if times >= 99.5 else f"{times:.1f}" if times >= 9.95 else f"{times:.2f}"


def _readable(seconds: float) -> str:
    for unit, scale in (("s", 1.0), ("ms", 1e3), ("µs", 1e6)):
        if abs(seconds) * scale >= 1:
            return f"{seconds * scale:.3g} {unit}"
    return f"{seconds * 1e9:.0f} ns"


# ---- pictures --------------------------------------------------------------------------------------------------------


def draw(path: Path, rows: list[Row]) -> None:
    """A bar a function, from 1 to the left where the best peer is faster; readable on white and on black."""
    import matplotlib

    matplotlib.use("svg")
    from matplotlib import pyplot

    found = sorted((best[0], best[1], row.name) for row in rows if (best := row.best()) is not None)
    grey = "#808080"
    settings: dict[Any, Any] = {"svg.fonttype": "none", "svg.hashsalt": path.stem, "font.family": "sans-serif"}
    settings |= {"font.size": 9}
    settings |= dict.fromkeys(("text.color", "axes.edgecolor", "axes.labelcolor", "xtick.color", "ytick.color"), grey)
    with pyplot.rc_context(settings):
        figure, axes = pyplot.subplots(figsize=(8, 0.8 + 0.19 * len(found)))
        names = [f"{name} ({peer})" for _, peer, name in found]
        colours = ["#3f7fbf" if times >= 1 else "#c0563f" for times, _, _ in found]
        axes.barh(names, [math.log2(times) for times, _, _ in found], color=colours, height=0.7)
        ticks = range(math.floor(math.log2(found[0][0])), math.ceil(math.log2(found[-1][0])) + 1)
        axes.set_xticks(list(ticks), [f"{2**tick}" if tick >= 0 else f"1/{2**-tick}" for tick in ticks])
        axes.axvline(0, color=grey, linewidth=0.8)
        axes.set_xlabel("time of the best peer (in brackets) / time of transkern")
        axes.set_ylim(-0.8, len(found) - 0.2)
        for side in ("top", "right", "left"):
            axes.spines[side].set_visible(False)
        axes.tick_params(axis="x", top=True, labeltop=True)
        axes.tick_params(axis="y", length=0)
        figure.tight_layout()
        figure.savefig(path, transparent=True, metadata={"Date": None, "Creator": None})
        pyplot.close(figure)


if __name__ == "__main__":
    sys.exit(main())
