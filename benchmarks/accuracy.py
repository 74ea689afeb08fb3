"""How far elementary functions are from the true values, in units in the last place (ulp).

    python benchmarks/accuracy.py [--target cpu|pallas] [--every N]

float32: every N-th bit pattern (1: all 2^32, some minutes a function), against the same function in float64.
float64: ten million values over all exponents, against NumPy's long double where that is longer (x86).
On Pallas without subnormals, which XLA takes for zero.
Functions of two arguments are drawn: a hundred million pairs. The table goes to results/accuracy.json.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from rich.progress import Progress

import transkern

ONE = (
    "exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sin", "cos", "tan", "arcsin", "arccos", "arctan",
    "sinh", "cosh", "tanh", "arcsinh", "arccosh", "arctanh", "cbrt", "sqrt",
)  # fmt: skip
TWO = ("power", "arctan2", "hypot")
CHUNK = 1 << 22
RESULTS = Path(__file__).parent / "results" / "accuracy.json"


def compiled(name: str, target: str) -> Callable[..., Any]:
    """The function as a kernel, in float32 or float64 as its arguments are."""
    names: dict[str, Any] = {"np": np}
    arguments = "x, y" if name in TWO else "x"
    path = RESULTS.parent / f"_{name}.py"  # the front end reads a function's source from its file
    path.write_text(f"import numpy as np\n\n\ndef f_{name}({arguments}):\n    return np.{name}({arguments})\n")
    try:
        exec(compile(path.read_text(), str(path), "exec"), names)
        function = transkern.compile(names[f"f_{name}"], target=target)
        with np.errstate(all="ignore"):
            function(*[np.ones(3, dtype=np.float32)] * (1 + (name in TWO)))
            function(*[np.ones(3, dtype=np.float64)] * (1 + (name in TWO)))
    finally:
        path.unlink()
    return function


def errors(y, r, least):
    """The largest error of float32 values against float64 ones in ulp, and how many have another special value."""
    worst = 0.0
    different = 0
    for i in range(len(y)):
        exact = np.float32(r[i])
        if np.abs(exact) < least:
            continue
        if np.isfinite(exact) and np.isfinite(y[i]):
            size = np.abs(exact)
            ulp = np.float64(np.nextafter(size, np.float32(np.inf))) - np.float64(size)
            e = np.abs(np.float64(y[i]) - r[i]) / ulp
            if e > worst:
                worst = e
        elif not (np.isnan(exact) and np.isnan(y[i])) and exact != y[i]:
            different += 1
    return worst, different


def patterns(every: int) -> Iterator[np.ndarray[Any, Any]]:
    """float32 values by their bits, in chunks."""
    for start in range(0, 1 << 32, CHUNK * every):
        bits = np.arange(start, min(start + CHUNK * every, 1 << 32), every, dtype=np.uint64)
        yield bits.astype(np.uint32).view(np.float32)


def pairs(name: str, dtype: Any, count: int) -> Iterator[tuple[np.ndarray[Any, Any], ...]]:
    """Arguments of a function of two: half of them over all exponents, half near one."""
    random = np.random.default_rng(7)
    for _ in range(0, count, CHUNK):
        wide = dtype(2) ** random.uniform(-100, 100, (2, CHUNK // 2)).astype(dtype)
        near = random.uniform(0, 20, (2, CHUNK // 2)).astype(dtype)
        x, y = np.concatenate([wide, near], axis=1)
        if name == "power":
            y = random.uniform(-30, 30, CHUNK).astype(dtype)
        yield x * random.choice([-1, 1], CHUNK).astype(dtype) if name != "power" else x, y


def float32_errors(name: str, target: str, every: int, tell: Callable[[float], None]) -> tuple[float, int]:
    """Worst error and wrong specials of a function in float32."""
    function, measure = compiled(name, target), transkern.compile(errors, target="cpu")
    worst, different = 0.0, 0
    least = 4.0 * float(np.finfo(np.float32).tiny) if target == "pallas" else 0.0  # XLA has no subnormals
    chunks: Any = ((x,) for x in patterns(every)) if name in ONE else pairs(name, np.float32, 100_000_000)
    total = (1 << 32) // (CHUNK * every) if name in ONE else 100_000_000 // CHUNK
    with np.errstate(all="ignore"):
        for chunk in chunks:
            chunk = tuple(np.where(np.abs(c) < least, np.float32(0), c) for c in chunk)
            y = function(*chunk)
            r = function(*[c.astype(np.float64) for c in chunk])
            w, d = measure(y, r, least)
            worst, different = max(worst, float(w)), different + int(d)
            tell(1 / max(total, 1))
    return worst, different


def float64_errors(name: str, target: str) -> float:
    """Worst error of a function in float64 over ten million values."""
    function = compiled(name, target)
    random = np.random.default_rng(11)
    worst = 0.0
    for k in range(10):
        if name in TWO:
            chunk: tuple[Any, ...] = next(pairs(name, np.float64, 1))
        else:
            x = 2.0 ** random.uniform(*((-40, 10) if k % 2 else (-1000, 1000)), 1_000_000)
            chunk = (x * random.choice([-1.0, 1.0], len(x)),)
        with np.errstate(all="ignore"):
            y = function(*chunk)
            r = getattr(np, name)(*[c.astype(np.longdouble) for c in chunk])
            exact = r.astype(np.float64)
            fine = np.isfinite(exact) & np.isfinite(y)
            fine &= (np.abs(exact) >= np.finfo(np.float64).tiny) | (target == "cpu")
            e = np.abs(y[fine].astype(np.longdouble) - r[fine]) / np.spacing(np.abs(exact[fine]))
        worst = max(worst, float(e.max(initial=0)))
    return worst


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--target", default="cpu", choices=["cpu", "pallas"])
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--functions", nargs="*", default=[*ONE, *TWO])
    options = parser.parse_args()
    known: dict[str, Any] = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    table = known.setdefault(options.target, {})
    with Progress() as progress:
        for name in options.functions:
            task = progress.add_task(f"{options.target} {name}", total=1.0)
            start = time.perf_counter()
            worst, different = float32_errors(
                name, options.target, options.every, lambda part, task=task: progress.advance(task, part)
            )
            table[name] = {
                "float32": round(worst, 3), "different specials": different, "every": options.every,
                "float64": round(float64_errors(name, options.target), 3), "NumPy": np.__version__,
            }  # fmt: skip
            RESULTS.write_text(json.dumps(known, indent=1) + "\n")
            progress.print(f"{name}: {table[name]} {time.perf_counter() - start:.0f} s")


if __name__ == "__main__":
    main()
