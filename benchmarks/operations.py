"""Single operations against NumPy: each reduction along each axis, of each dtype, layout and size, and everyday pieces.

    python benchmarks/operations.py [--only argmax] [--dtype int8] [--layout C] [--size 100000] [--threads 1]

Both run in turn in one process; the table has the worst ratios first. Where NumPy takes more than 50 µs, nothing should
be slower than NumPy; the exit status tells whether anything is.
"""

from __future__ import annotations

import argparse
import itertools
import linecache
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))
from measure import Others, difference
from rich.console import Console
from rich.progress import track
from rich.table import Table

import transkern

LONG = 50e-6
"""Seconds that NumPy takes, from which on nothing should be slower."""

REDUCTIONS = {
    "sum": "a.sum(axis={})", "prod": "a.prod(axis={})", "mean": "a.mean(axis={})", "var": "a.var(axis={})",
    "min": "a.min(axis={})", "max": "np.max(a, axis={})", "argmin": "np.argmin(a, axis={})",
    "argmax": "a.argmax(axis={})", "any": "a.any(axis={})", "all": "np.all(a, axis={})",
    "count_nonzero": "np.count_nonzero(a, axis={})", "ptp": "np.ptp(a, axis={})",
    "range": "a.max(axis={0}) - a.min(axis={0})",
    "sum of squares": "(a * a).sum(axis={})", "any above": "(a > 5).any(axis={})", "cumsum": "a.cumsum(axis={})",
}  # fmt: skip
ELEMENTWISE = {
    "a + 1": "a + 1", "a.T + 0": "a.T + 0", "copy": "a.copy()", "turned copy": "a.T.copy()", "reversed": "a[::-1] + 1",
    "a + row": "a + a[0]", "a + column": "a + a[:, :1]", "a > 0": "a > 0", "where": "np.where(a > 0, a, 0)",
    "diff": "a[1:] - a[:-1]", "double": "a.astype(np.float64)", "roll": "np.roll(a, 1, axis=1)",
    "concatenate": "np.concatenate((a, a), axis=1)",
}  # fmt: skip
DTYPES = ("bool", "int8", "uint8", "int32", "int64", "float32", "float64")
LAYOUTS = ("C", "F", "every other")
SIZES = (1_000, 10_000, 100_000, 1_000_000)


@dataclass(frozen=True)
class Operation:
    """One row of the table: `text` in terms of `names`."""

    name: str
    text: str
    names: tuple[str, ...]
    inputs: tuple[Any, ...]
    exact: bool = True


def shapes(size: int) -> list[tuple[int, ...]]:
    """A square, few long rows, many short ones, and three axes, of about `size` elements."""
    side, cube = round(size**0.5), round(size ** (1 / 3))
    return [(side, side), (6, size // 6), (size // 6, 6), (cube, cube, cube)]


def operations(sizes: tuple[int, ...], dtypes: tuple[str, ...], layouts: tuple[str, ...]) -> Iterator[Operation]:
    for size, dtype, layout in itertools.product(sizes, dtypes, layouts):
        for shape in shapes(size):
            a = array(shape, dtype, layout)
            where = f"{dtype} {layout} {'×'.join(map(str, shape))}"
            exact = not dtype.startswith("float")
            for (name, text), axis in itertools.product(REDUCTIONS.items(), (None, *range(len(shape)))):
                if dtype == "bool" and name in ("ptp", "range"):
                    continue
                is_exact = exact and name not in ("mean", "var")
                yield Operation(f"{name}, axis {axis}: {where}", text.format(axis), ("a",), (a,), is_exact)
            if len(shape) == 2:
                for name, text in ELEMENTWISE.items():
                    yield Operation(f"{name}: {where}", text, ("a",), (a,))
    yield from everyday(sizes)


def array(shape: tuple[int, ...], dtype: str, layout: str) -> np.ndarray:
    """Values that leave no search an early end: what is nonzero stands last."""
    rng = np.random.default_rng(1)
    if layout == "every other":
        shape = (*shape[:-1], 2 * shape[-1])
    if dtype == "bool":
        a = np.zeros(shape, bool)
        a[..., -1] = True
    elif dtype.startswith("float"):
        a = rng.standard_normal(shape).astype(dtype)
    else:
        a = rng.integers(0 if dtype[0] == "u" else -100, 100, shape).astype(dtype)
    return np.asfortranarray(a) if layout == "F" else a[..., ::2] if layout == "every other" else a


def everyday(sizes: tuple[int, ...]) -> Iterator[Operation]:
    """Pieces that stand in all code; of some hundred elements, too."""
    rng = np.random.default_rng(2)
    for size in (100, *sizes):
        rows = max(1, size // 10)
        x, of = rng.integers(0, 10, rows), f"{size}"
        yield Operation(f"one-hot: {of}", "one_hot(x, 10)", ("x",), (x,))
        k = rng.integers(0, size, size)
        v, w = rng.standard_normal(size), rng.standard_normal((rows, 10))
        yield Operation(f"gather: {of}", "v[k]", ("v", "k"), (v, k))
        yield Operation(f"gather of rows: {of}", "w[k]", ("w", "k"), (w, k[:rows] % rows))
        yield Operation(f"gather of pairs: {of}", "w[np.arange(len(k)), k]", ("w", "k"), (w, x))
        yield Operation(f"convolve with 21: {of}", "np.convolve(v, u)", ("v", "u"), (v, rng.standard_normal(21)), False)
        yield Operation(f"one row, sum: {of}", "v[None].sum(axis=1)", ("v",), (v,), False)
        yield Operation(f"one row, max: {of}", "v[None].max(axis=0)", ("v",), (v,))
        yield Operation(f"normalise rows: {of}", "w / w.sum(axis=1, keepdims=True)", ("w",), (w,), False)
        yield Operation(f"centre columns: {of}", "w - w.mean(axis=0)", ("w",), (w,), False)
        yield Operation(f"scatter: {of}", "scattered(v, k)", ("v", "k"), (v, k), False)


def one_hot(x: np.ndarray, n: int) -> np.ndarray:
    out = np.zeros((len(x), n))
    out[np.arange(len(x)), x] = 1
    return out


def scattered(v: np.ndarray, k: np.ndarray) -> np.ndarray:
    out = np.zeros(len(v))
    np.add.at(out, k, v)
    return out


def function_of(op: Operation, kept: dict[str, Callable[..., Any]]) -> Callable[..., Any]:
    """The operation as a function whose source Python can show."""
    if op.text not in kept:
        name = f"<operation {len(kept)}>"
        source = f"def operation({', '.join(op.names)}):\n    return {op.text}\n"
        linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
        place = {"np": np, "one_hot": one_hot, "scattered": scattered}
        exec(compile(source, name, "exec"), place)
        kept[op.text] = place["operation"]  # type: ignore[assignment]
    return kept[op.text]


def once(f: Callable[..., Any], args: tuple[Any, ...]) -> float:
    start = time.perf_counter()
    f(*args)
    return time.perf_counter() - start


def timed(
    mine: Callable[..., Any], numpys: Callable[..., Any], args: tuple[Any, ...], rounds: int
) -> tuple[float, float]:
    """The least seconds a call of each took, in turn."""
    repeats = max(1, min(1000, round(1e-4 / max(1e-7, min(once(numpys, args) for _ in range(3))))))
    best = [float("inf")] * 2
    for _ in range(rounds):
        for which, f in enumerate((mine, numpys)):
            f(*args)
            start = time.perf_counter()
            for _ in range(repeats):
                f(*args)
            best[which] = min(best[which], (time.perf_counter() - start) / repeats)
    return best[0], best[1]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="only the operations whose name contains this")
    parser.add_argument("--dtype", choices=DTYPES, action="append", help="these only")
    parser.add_argument("--layout", choices=LAYOUTS, action="append", help="these only")
    parser.add_argument("--size", type=int, action="append", help="elements")
    parser.add_argument("--threads", type=int, help="at most")
    parser.add_argument("--worst", type=int, default=40, help="rows of the table")
    parser.add_argument("--rounds", type=int, default=12, help="samples of each")
    options = parser.parse_args()

    console = Console(width=130 if not sys.stdout.isatty() else None)
    busy = Others()
    kept: dict[str, Callable[..., Any]] = {}
    compiled: dict[str, Any] = {}
    rows: list[tuple[float, float, float, str]] = []
    wrong: list[str] = []
    sizes = tuple(options.size or SIZES)
    chosen = operations(sizes, tuple(options.dtype or DTYPES), tuple(options.layout or LAYOUTS))
    found = [op for op in chosen if options.only in op.name]
    for op in track(found, console=console, disable=not console.is_terminal):
        numpys = function_of(op, kept)
        mine = compiled.setdefault(op.text, transkern.compile(numpys, threads=options.threads))
        try:
            off = difference([np.asarray(mine(*op.inputs))], [np.asarray(numpys(*op.inputs))], op.exact)
        except Exception as error:  # its row says so, the others go on
            off = f"{type(error).__name__}: {str(error).strip().splitlines()[0][:80]}"
        if off:
            wrong.append(f"{op.name}: {off}")
            continue
        ours, theirs = timed(mine, numpys, op.inputs, options.rounds)
        rows.append((ours / theirs, ours, theirs, op.name))
    rows.sort(reverse=True)
    slower = [row for row in rows if row[2] >= LONG and row[0] > 1]
    for title, part in ((f"NumPy takes {LONG * 1e6:.0f} µs or more", [r for r in rows if r[2] >= LONG]),
                        ("less", [r for r in rows if r[2] < LONG])):  # fmt: skip
        table = Table("times NumPy", "transkern, µs", "NumPy, µs", "operation", title=title)
        for ratio, ours, theirs, name in part[: options.worst]:
            table.add_row(f"{ratio:.2f}", f"{ours * 1e6:.1f}", f"{theirs * 1e6:.1f}", name)
        console.print(table)
    for line in wrong:
        console.print(f"[red]{line}", highlight=False)
    console.print(f"{len(rows)} operations, {len(slower)} of the long ones slower than NumPy; {busy.told()[0]}")
    return int(bool(slower or wrong))


if __name__ == "__main__":
    sys.exit(main())
