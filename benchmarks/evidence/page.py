"""docs/evidence.md from the newest `benchmarks/results/*-evidence.json`: every number is one of that file, or a ratio
of two."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.evidence import GENERATIONS, LONGEST, short
from transkern.targets.chips import BARRIER, GPUS, LATENCY, LAUNCH, MEETING, RESULT

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "benchmarks" / "results"
PAGE = ROOT / "docs" / "evidence.md"
SHOWN, WORST = "sm_90", 10
"""The architecture with a table of its own; how many functions are named."""

_HEAD = """# Evidence without the hardware

What becomes of {count} functions on GPUs and TPUs, found on a machine that has neither: `make evidence`. NVRTC and
libtpu compile the kernels for each architecture, and the simulator runs them at the sizes of
`benchmarks/evidence/functions.py`, some megabytes, and counts what each warp asks of memory. Nothing here was timed. An
empty cell: not known, or it means nothing for this function. `python -m benchmarks.evidence --check` says whether the
page is what the file of results says.

{versions}; `{file}`.{rest}
"""

_COLUMNS = """
## What the columns say

Of GPUs, for the kernel that takes the most of a function's estimated time:

- *launches* of kernels; *calls* of CuPy's functions, *waits* of the host for a value or a check of the device.
- *registers* a thread, the most of all kernels; with \\* where some are spilled.
- *instructions* of a thread for each point of the loop: those of the innermost loops' machine code for each access,
times
  the accesses that the run counts, and the code around the loops, as often as a block passes its barriers. Of what no
  thread of the run goes into (another version of the kernel, what is left beside words), only the question counts.
  Empty where an innermost loop has no access of memory.
- *load*, *store*: the widest of the kernel, in bits.
- *sectors* of 32 bytes that a warp's request of 4 bytes a lane touches, of the worst place in the kernel that makes a
  quarter or more of the requests of the busiest place: 4 is the least for neighbours, 1 for all lanes at one address,
  32 the most. Requests of 16 bytes a lane count as four. Lanes of a warp that come by a place in the same
  iteration of the loops around it make one request, also where conditions or the lengths of inner loops part them.
- *in flight*: KiB that a multiprocessor has loads under way for, on average over all of them: bytes that a thread loads
  before an instruction needs one of these (from the machine code), times the threads that are resident and have work.
- *bytes*: what all launches and calls move, once for each time between two meetings of all blocks, to the fewest: each
  argument that is read, each that is written and each result once.
- *barriers* that a block passes, *meetings* of the whole grid.
- *of roofline*: `roof / estimate`. With `rate` and `clock` of the chip, the roof is the longer of `fewest bytes /
rate` and
  the time of all multiprocessors' units for the floating-point instructions that are in the kernels; none, where
  there is no arithmetic on floats and much more work than there are elements. The estimate is the sum over the
  launches of `barriers + max(memory, cache, instructions, units, chain)`, and {launch:g} µs for each launch or call
  after the first:
    - `memory = bytes / rate + bytes read · latency / in flight` (Little's law), latency {latency} cycles,
    - `cache = 32 · sectors / (multiprocessors used · 64 bytes · clock)`,
    - `instructions = instructions of warps / (multiprocessors used · min(4, warps at once / {result}) · clock)`,
    - `units`: the roof's arithmetic on the multiprocessors used,
    - `chain = waves of blocks · loads of the busiest thread that wait for each other · latency`,
    - `barriers = waves · barriers · {barrier} cycles + meetings · {meeting:g} µs`.

  It is empty where a call of a library other than a copy or a fill takes part, whose time nobody knows here.
- *bound*: which of these is the longest.

The chips: {chips} (`transkern/targets/chips.py`). Blocks are counted as on a device of 132 multiprocessors.

Of TPUs:

- *kernels*: calls of Pallas kernels in the compiled program; *around* them: operations of XLA, fusions as one each,
copies
  into other layouts and empty loops too. A *move* is a fusion of slices, reshapes and the like, which gives elements
  the bits of others at places that are known; a *number* is arithmetic of single elements; a *product* is one of
  matrices, fused or not. What XLA has fused into a kernel, which computes it of each block as it is loaded, is the
  kernel's, and arrays of positions alone are nobody's. *Wholly in kernels*: nothing around but copies, moves and
  numbers.
- *bundles*: VLIW bundles an iteration of the longest innermost loop in a kernel, a lower bound of its cycles.
- *VMEM*: KiB that the kernel with the most of it takes beside the arrays that XLA itself puts there.
- *bytes*: arguments, results and, twice, temporaries in HBM by `memory_analysis`, to arguments and results alone: the
part
  of the roofline that memory leaves. *Plain JAX*: the same of the function in `jax.numpy`, to the same arguments and
  results.
"""


def newest() -> dict[str, Any]:
    """The newest record of a whole run, with its file's name."""
    files = sorted(RESULTS.glob("2*-evidence*.json"))
    return {**json.loads(files[-1].read_text(encoding="utf-8")), "file": files[-1].name}


def page() -> str:
    """The whole page."""
    record = newest()
    rows = record["evidence"]
    names = list(dict.fromkeys(row["function"] for row in rows))
    versions = ", ".join(f"{name} {version}" for name, version in record["versions"].items())
    kept = record.get("rest")
    rest = f" What it says of {', '.join(kept['chips'])} is from {kept['date'][:10]}." if kept else ""
    parts = [_HEAD.format(count=len(names), versions=versions, file=record["file"], rest=rest)]
    chips = "; ".join(
        f"{g.name} ({a}): {g.multiprocessors} multiprocessors, {g.clock / 1e9:g} GHz, {g.memory / 1e12:.3g} TB/s"
        for a, g in GPUS.items()
    )
    parts += _left(rows)
    parts += _gpus(rows, names)
    parts += _tpus(rows, names)
    parts += _clock(record.get("clock", []))
    costs = {"launch": 1e6 * LAUNCH, "latency": LATENCY, "barrier": BARRIER, "meeting": 1e6 * MEETING, "result": RESULT}
    parts.append(_COLUMNS.format(**costs, chips=chips))
    return "\n".join(parts)


def share(row: dict[str, Any]) -> float | None:
    """The part of the roofline that the estimate is."""
    return row["roof"] / row["estimate"] if row.get("roof") and row.get("estimate") else None


def moved(row: dict[str, Any]) -> float | None:
    """How many times the fewest bytes are moved."""
    return row["moved bytes"] / row["fewest bytes"] if row.get("fewest bytes") else None


def memory(row: dict[str, Any], of: dict[str, Any]) -> float:
    """Bytes in and out of HBM, to those of arguments and results of the row."""
    total = of["arguments"] + of["results"] + 2 * of["temporaries"]
    return float(total / max(1, row["arguments"] + row["results"]))


# ---- what is left ----------------------------------------------------------------------------------------------------


def _left(rows: list[dict[str, Any]]) -> Iterator[str]:
    yield "## What is left\n"
    for arch, gpu in GPUS.items():
        mine = [row for row in rows if row["arch"] == arch]
        known = sorted((s, row["function"], row) for row in mine if (s := share(row)) is not None)
        good = sum(s >= 0.7 for s, _, _ in known)
        yield f"### {gpu.name} ({arch})\n"
        yield f"{good} of {len(known)} functions with an estimate reach 70 % of their roofline. {_marks(mine)}"
        yield "The furthest from the roofline:\n"
        yield from (f"- {name}: {_percent(s)}, {reason(row)}" for s, name, row in known[:WORST])
        yield f"{_failed(mine)}"
    for chip in GENERATIONS:
        mine = [row for row in rows if row["arch"] == chip]
        made = [row for row in mine if "failed" not in row]
        if not made:
            continue
        wholly = sum(row["wholly"] for row in made)
        beside = [row for row in made if "plain" in row]
        left = [row for row in made if not row["wholly"] and not row.get("steps")]
        worst = sorted(left, key=lambda row: -sum(row["outside"].values()))
        yield f"### TPU {chip}\n"
        steps = [row for row in made if row.get("steps")]
        yield (
            f"{wholly} of {len(mine)} functions are wholly in kernels, {len(steps)} more but for steps that are XLA's "
            f"on purpose; {sum(row['kernels'] > 0 for row in made)} have a kernel."
        )
        if beside:
            more = [row["function"] for row in beside if memory(row, row) > 1.01 * memory(row, row["plain"])]
            names = f" ({', '.join(more)})" if more else ""
            yield f"Of {len(beside)} that plain JAX takes as well, {len(more)} have more bytes{names}."
        if steps:
            yield "Left to XLA, which has units and networks for these steps:\n"
            yield from (f"- {row['function']}: {' and '.join(map(_STEPS.__getitem__, row['steps']))}" for row in steps)
            yield ""
        yield "XLA does part of these, those with most of it first:\n"
        yield from (f"- {row['function']}: {_around(row, 6)}{_reasons(row)}" for row in worst)
        yield f"{_failed(mine)}"


_STEPS = {
    "sort": "a sort, which needs all elements at once: XLA has networks of exchanges for it",
    "product": "products of matrices, for which a TPU has a unit and XLA the tiles that keep it busy",
}


def _reasons(row: dict[str, Any]) -> str:
    """What the emitted text says of why."""
    return f" ({'; '.join(row['reasons'])})" if row.get("reasons") else ""


def _marks(rows: list[dict[str, Any]]) -> str:
    """How many functions reach what an expert's kernels would."""
    made = [row for row in rows if "failed" not in row and row["launches"]]
    alone = sum(row["busy"] <= 1024 for row in made)
    marks = {
        "move at most 1.1 times the fewest bytes": sum((moved(row) or 9) <= 1.1 for row in made),
        "have 32 KiB in flight": sum((row.get("in flight") or 0) >= 32 << 10 for row in made),
        "touch at most 4 sectors a request": sum((row.get("sectors") or 99) <= 4.01 for row in made),
        "take at most 25 instructions a point": sum((row.get("instructions") or 99) <= 25 for row in made),
        "leave the work to 1024 threads or fewer": alone,
    }
    return f"Of {len(made)} with a kernel, {', '.join(f'{count} {what}' for what, count in marks.items())}."


def reason(row: dict[str, Any]) -> str:
    """What the estimate of a function is bound by, in a few words."""
    if row["busy"] == 1:
        return "one thread does all the work"
    if row["busy"] <= 1024 and row["bound"] in ("chain", "memory"):
        return f"{row['busy']} threads do all the work"
    if row["starts"] > 0.5 * row["estimate"]:
        return f"{row['launches'] + sum(row['calls'].values())} launches"
    match row["bound"]:
        case "memory" if row["in flight"] < 4096:
            amount = f"{_kib(row['in flight'])} KiB" if row["in flight"] >= 1024 else f"{row['in flight']:.0f} bytes"
            return f"{amount} in flight, {row['blocks']} × {row['threads']} threads"
        case "memory" if (moved(row) or 0) > 1.3:
            return f"{moved(row):.1f} times the fewest bytes"
        case "memory":
            return f"{_kib(row['in flight'])} KiB in flight"
        case "cache":
            return f"{row['sectors']:.0f} sectors a request"
        case "chain":
            return "loads that wait for each other"
        case "barriers":
            return f"{row['meetings']} meetings of the grid, {row['barriers']:.0f} barriers"
        case "units":
            return "arithmetic, on few multiprocessors"
        case _ if row["instructions"] is None:
            return "instructions, of points that are not counted"
        case _:
            return f"{row['instructions']:.0f} instructions a point"


def _failed(rows: list[dict[str, Any]]) -> str:
    names = [f"{row['function']}: {_short(row['failed'])}" for row in rows if "failed" in row]
    return "\nNot known:\n\n" + "\n".join(f"- {name}" for name in names) + "\n" if names else ""


def _short(message: str) -> str:
    return short(message)[:90].replace("|", "/")


# ---- tables ----------------------------------------------------------------------------------------------------------


def _gpus(rows: list[dict[str, Any]], names: list[str]) -> Iterator[str]:
    others = [arch for arch in GPUS if arch != SHOWN]
    by = {(row["function"], row["arch"]): row for row in rows}
    yield f"## GPUs\n\nFigures for {GPUS[SHOWN].name}; of the others the part of the roofline.\n"
    heads = ("function", "launches", "calls", "waits", "registers", "instructions", "load", "store", "sectors")
    heads += ("in flight", "bytes", "barriers", "meetings", "bound", "of roofline", *(f"{a}" for a in others))
    yield f"| {' | '.join(heads)} |"
    yield "|---|" + "---:|" * (len(heads) - 1)
    for name in names:
        row = by.get((name, SHOWN))
        if row is None:
            continue
        cells = [name]
        if "failed" in row:
            cells += [""] * (len(heads) - 1)
        else:
            cells += [
                str(row["launches"]), str(sum(row["calls"].values()) or ""), str(row["waits"] or ""),
                f"{row['registers'] or ''}{chr(92) + '*' if row['spills'] else ''}", _number(row.get("instructions")),
                _number(row.get("load")), _number(row.get("store")), _number(row.get("sectors")),
                "" if row.get("in flight") is None else _kib(row["in flight"]), _number(moved(row)),
                _number(row.get("barriers") or None), str(row["meetings"] or ""), row.get("bound", ""),
                _percent(share(row)),
            ]  # fmt: skip
            cells += [_percent(share(by.get((name, arch), {}))) for arch in others]
        yield f"| {' | '.join(cells)} |"
    yield ""


def _tpus(rows: list[dict[str, Any]], names: list[str]) -> Iterator[str]:
    by = {(row["function"], row["arch"]): row for row in rows}
    chips = [c for c in GENERATIONS if any(row["arch"] == c for row in rows)]
    shown = LONGEST
    yield f"## TPUs\n\nFigures for {shown}, and bundles on the others.\n"
    heads = ("function", "kernels", "around", "VMEM", "bytes", "plain JAX", *(f"bundles, {c}" for c in chips))
    yield f"| {' | '.join(heads)} |"
    yield "|---|---:|---|" + "---:|" * (len(heads) - 3)
    for name in names:
        row = by.get((name, shown))
        if row is None:
            continue
        if "failed" in row:
            cells = [name, "", _short(row["failed"]), "", "", ""]
        else:
            plain = row.get("plain")
            cells = [
                name, str(row["kernels"]), _around(row, 5), _kib(row["vmem"]) if row["vmem"] else "",
                _number(memory(row, row)), "" if plain is None else _number(memory(row, plain)),
            ]  # fmt: skip
        for chip in chips:
            bundles = by.get((name, chip), {}).get("bundles")
            cells.append("" if bundles is None else str(bundles))
        yield f"| {' | '.join(cells)} |"


def _clock(rows: list[dict[str, Any]]) -> Iterator[str]:
    if not rows:
        return
    yield f"""
## Beside a clock

The same estimates for {rows[0]["device"]}, at the sizes of `make gpu`, and what that measured (`{rows[0]["file"]}`): a
call with arrays on the device, and the wait for its end. The clock has the host's own time for the call in it, which
the estimate leaves out; the least kernel of CuPy's, of one element, takes {1e6 * rows[0]["least"]:.0f} µs.
"""
    yield "| function | estimate, µs | measured, µs | bound |"
    yield "|---|---:|---:|---|"
    for row in rows:
        cells = (row["function"], f"{1e6 * row['estimate']:.0f}", f"{1e6 * row['measured']:.0f}", row["bound"])
        yield f"| {' | '.join(cells)} |"


def _around(row: dict[str, Any], most: int) -> str:
    found = sorted(row["outside"].items(), key=lambda item: -item[1])
    text = ", ".join(f"{count} {op}" for op, count in found[:most])
    return text + (" …" if len(found) > most else "")


def _number(value: float | None) -> str:
    if value is None:
        return ""
    return f"{value:.0f}" if value >= 9.95 or value == int(value) else f"{value:.1f}"


def _kib(value: float) -> str:
    return f"{value / 1024:.0f}" if value >= 10_240 else f"{value / 1024:.1f}" if value >= 102 else "0"


def _percent(value: float | None) -> str:
    if value is None:
        return ""
    return f"{100 * value:.0f} %" if value >= 0.1 else f"{100 * value:.1f} %" if value >= 0.001 else "< 0.1 %"
