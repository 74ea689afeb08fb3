"""The demo (`make demo`): coins in a photograph, then every example on every target that this machine can run."""

import os
import statistics
import sys
import time
from pathlib import Path

import adam
import layernorm
import lstm
import nms
import numpy as np
import residual
import sigmoid
import softmax
from detect import candidates, draw
from rich.box import SIMPLE
from rich.console import Console
from rich.markup import escape
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.table import Table

import transkern

PICTURE = Path("build/demo/nms.png")
FORMS = {f.__name__: f for f in (nms.nms, nms.nms_descending, nms.nms_delete, nms.nms_flags)}
FUSED = {module.__name__: module for module in (sigmoid, adam, lstm, residual, softmax, layernorm)}
SIZES = {
    "(simulator)": {
        "sigmoid": {"n": 20_000},
        "adam": {"n": 20_000},
        "lstm": {"batch": 20, "hidden": 100},
        "residual": {"batch": 1, "channels": 3, "height": 50, "width": 67},
        "softmax": {"rows": 20},
        "layernorm": {"rows": 20},
    },
    "(interpreted)": {
        "sigmoid": {"n": 1_000_000},
        "adam": {"n": 1_000_000},
        "lstm": {"batch": 200},
        "residual": {"batch": 1},
        "softmax": {"rows": 1000},
        "layernorm": {"rows": 1000},
    },
}
"""Sizes where kernels are not run by the hardware they are for; elsewhere the examples' own."""

ABOUT = {
    "": "nms: the boxes of the photograph; the others: 10 million elements",
    "(simulator)": "2,000 boxes, 20,000 elements; shows that the text is right, and nothing of a GPU's speed",
    "(interpreted)": "the boxes of the photograph, 1 million elements; says nothing of a TPU's speed",
}


def main():
    console = Console()
    photograph, boxes, scores = candidates()
    targets, left_out = choose_targets()

    console.rule("Coins in a photograph")
    compiled = transkern.compile(nms.nms, target=targets[0][0] if targets else "auto")
    start = time.perf_counter()
    kept = compiled(boxes, scores, len(boxes), 0.2)
    first = time.perf_counter() - start
    draw(photograph, boxes, scores, kept, PICTURE)
    console.print(
        f"{len(boxes):,} candidate boxes of a sliding window, {len(kept)} kept by the compiled nms "
        f"(its first call, with compilation: {first:.2f} s)"
    )
    console.print(f"before and after: {PICTURE}")

    console.rule("Every example on every target")
    for line in left_out:
        console.print(f"not here: {line}", markup=False)
    failures = 0
    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    for target, mode in targets:
        title = f"{target} {mode}".strip()
        table = Table("example", box=SIMPLE, padding=(0, 1, 0, 0), pad_edge=False)
        for heading in ("kernels", "temporaries", "difference", "NumPy", "transkern", "ratio"):
            table.add_column(heading, justify="right")
        with Progress(*columns, console=console, transient=True) as progress:
            for name in (*FORMS, *FUSED):
                task = progress.add_task(f"{name} on {title}")
                row, ok = examine(name, target, mode, (boxes, scores))
                table.add_row(name, *row)
                failures += not ok
                progress.remove_task(task)
        console.print(f"[bold]{title}[/]: {ABOUT[mode]}")
        console.print(table)
    console.print("difference: the largest to NumPy's results; ratio: NumPy's time to transkern's.")
    if failures:
        console.print(f"[red]{failures} failed")
    return int(bool(failures))


def choose_targets():
    """The targets that run here, each with how, and a line for each that does not."""
    from transkern.cli.doctor import examine as look

    there = {one.what: one for one in look()}
    targets, left_out = [], []
    if there["C compiler"].found:
        targets.append(("cpu", ""))
    else:
        left_out.append(f"cpu: {there['C compiler'].advice}")
    if all(there[what].found for what in ("CUDA device", "CuPy", "NVRTC")):
        targets.append(("cuda", ""))
    else:
        missing = next(there[what] for what in ("CUDA device", "CuPy", "NVRTC") if not there[what].found)
        left_out.append(f"cuda on a GPU: no {missing.what} ({missing.advice})")
        if there["C++ compiler"].found:
            os.environ["TRANSKERN_CUDA_SIM"] = "1"
            targets.append(("cuda", "(simulator)"))
    if there["JAX"].found and there["astor"].found:
        if there["accelerator for JAX"].found:
            targets.append(("pallas", ""))
        else:
            os.environ.setdefault("JAX_PLATFORMS", "cpu")  # or an installed libtpu looks for a TPU, and complains
            targets.append(("pallas", "(interpreted)"))
    else:
        left_out.append(f"pallas: {there['JAX'].advice}")
    return targets, left_out


def examine(name, target, mode, detections):
    """The cells of one row, and whether the answer is NumPy's."""
    simulated = mode == "(simulator)"
    if name in FORMS:
        function = FORMS[name]
        boxes, scores = (a[:: -(-len(a) // 2000)] if simulated else a for a in detections)
        inputs = (boxes, scores, len(boxes), 0.2) if name == "nms" else (boxes, scores, 0.2)
        if name == "nms_descending":
            inputs = (np.column_stack([boxes, scores]), 0.2)
    else:
        function = getattr(FUSED[name], name)
        inputs = FUSED[name].arguments(**SIZES.get(mode, {}).get(name, {}))

    compiled = transkern.compile(function, target=target)
    try:
        expected, found = outcome(function, inputs), outcome(compiled, inputs)
    except Exception as error:  # the other rows are to be seen all the same
        return ("", "", f"[red]{escape(f'{type(error).__name__}: {error}'.splitlines()[0])}", "", "", ""), False
    if name in FORMS:
        ok = [np.array_equal(a, b) for a, b in zip(found, expected, strict=True)] == [True] * len(expected)
        difference = "none" if ok else "[red]differs"
    else:
        largest = max(float(np.max(np.abs(a - b))) for a, b in zip(found, expected, strict=True))
        ok = largest < 2e-5
        difference = f"{largest:.1e}" if ok else f"[red]{largest:.1e}"
    cells = (str(compiled.kernels), str(len(compiled.temporaries)), difference)
    if simulated:
        return (*cells, "", "", ""), ok
    before, after = seconds(function, inputs), seconds(compiled, inputs)
    return (*cells, readable(before), readable(after), f"{before / after:.2g}×"), ok


def outcome(function, inputs):
    """The results and the arguments after a call on copies of `inputs`, all as arrays."""
    inputs = copies(inputs)
    result = function(*inputs)
    results = result if isinstance(result, tuple) else () if result is None else (result,)
    return [np.asarray(a) for a in (*results, *inputs)]


def seconds(function, inputs):
    """The median time of a few calls on the same arrays, rested before each as the threads of the last need a while."""
    times, inputs = [], copies(inputs)
    until = time.perf_counter() + 1
    while len(times) < 3 or (len(times) < 20 and time.perf_counter() < until):
        time.sleep(0.015)
        start = time.perf_counter()
        function(*inputs)
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def copies(inputs):
    return tuple(a.copy() if isinstance(a, np.ndarray) else a for a in inputs)


def readable(duration):
    return f"{1e3 * duration:.2f} ms" if duration < 1 else f"{duration:.2f} s"


if __name__ == "__main__":
    sys.exit(main())
