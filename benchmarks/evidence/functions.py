"""The functions that evidence is taken of, and their arguments: a few million accesses of memory each."""

from __future__ import annotations

import importlib
import importlib.util
import sys
import types
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

FOLDER = Path(__file__).parents[1]
for _folder in (FOLDER, FOLDER.parent / "examples"):
    if str(_folder) not in sys.path:
        sys.path.append(str(_folder))

from benchmarks.evidence import everyday as e  # noqa: E402

Arguments = tuple[Any, ...]


@dataclass(frozen=True)
class Subject:
    """A function, its arguments, and the positions of those that it changes.

    `jax`: its form in `jax.numpy`; None: there is none, but where `plain` the function itself may be one.
    """

    name: str
    function: Callable[..., Any]
    inputs: Callable[[np.random.Generator], Arguments]
    written: tuple[int, ...] = ()
    jax: Callable[..., Any] | None = None
    plain: bool = True

    def arguments(self) -> Arguments:
        return self.inputs(np.random.default_rng(0))


_N, _ROWS, _COLUMNS = 1 << 20, 1024, 1024


def _floats(rng: np.random.Generator, *shape: int) -> Any:
    return rng.standard_normal(shape, dtype=np.float32)


def _bodies(rng: np.random.Generator, n: int) -> Arguments:
    return _floats(rng, n, 3), rng.random(n, np.float32)


_EVERYDAY: dict[str, tuple[Callable[..., Any], Callable[[np.random.Generator], Arguments], tuple[int, ...]]] = {
    "column sums": (e.column_sums, lambda r: (_floats(r, 8192, 256),), ()),
    "statistics over axes 0, 2": (e.channel_statistics, lambda r: (_floats(r, 64, 32, 784),), ()),
    "norm": (e.norm, lambda r: (_floats(r, 2 * _N),), ()),
    "least, most, mean": (e.extremes, lambda r: (_floats(r, 2 * _N),), ()),
    "argmax of rows": (e.best_of_rows, lambda r: (_floats(r, 2048, 1000),), ()),
    "add.at": (e.add_at, lambda r: (np.zeros(4096, np.float32), r.integers(0, 4096, _N), _floats(r, _N)), (0,)),
    "bincount": (e.count_values, lambda r: (r.integers(0, 256, _N),), ()),
    "h[x[k]] += 1": (e.histogram_loop, lambda r: (np.zeros(256, np.int64), r.integers(0, 256, _N)), (0,)),
    "h[x[k]] += w[k]": (
        e.weights_loop, lambda r: (np.zeros(256, np.float32), r.integers(0, 256, _N), _floats(r, _N)), (0,),
    ),
    "maximum.at": (e.highest_at, lambda r: (np.zeros(4096, np.float32), r.integers(0, 4096, _N), _floats(r, _N)), (0,)),
    "cumsum": (e.running_sum, lambda r: (_floats(r, _N),), ()),
    "cumsum of rows": (e.running_sums_of_rows, lambda r: (_floats(r, _ROWS, _COLUMNS),), ()),
    "moving average": (e.moving_average, lambda r: (_floats(r, _N), 30), ()),
    "exponential average": (e.exponential_average, lambda r: (_floats(r, 1 << 17), 0.1), ()),
    "smoothed rows": (e.smoothed_rows, lambda r: (_floats(r, 2048, 256), 0.1), ()),
    "n-body": (e.n_body, lambda r: _bodies(r, 1024), ()),
    "pairwise distances": (e.distances, lambda r: (_floats(r, 1024, 8), _floats(r, 768, 8)), ()),
    "newton under a mask": (e.newton, lambda r: (r.random(_N // 2, np.float32) + 1,), ()),
    "advection with a limiter": (e.minmod_advection, lambda r: (_floats(r, _N // 4), 8), (0,)),
    "a + b.T": (e.add_transposed, lambda r: (_floats(r, 1024, 1024), _floats(r, 1024, 1024)), ()),
    "differences": (e.differences, lambda r: (_floats(r, _N),), ()),
    "look-up": (e.look_up, lambda r: (_floats(r, 65_536), r.integers(0, 65_536, _N)), ()),
    "filter": (e.positive, lambda r: (_floats(r, _N),), ()),
    "sorted rows": (e.sorted_rows, lambda r: (_floats(r, 512, 1024),), ()),
    "best ten": (e.best_ten, lambda r: (_floats(r, _N),), ()),
    "layer": (e.layer, lambda r: (_floats(r, 512, 256), _floats(r, 256, 512), _floats(r, 512)), ()),
    "max pool, loops": (e.max_pool, lambda r: (_floats(r, 16, 256, 256),), ()),
    "gray": (e.gray, lambda r: (r.integers(0, 256, (1024, 1024, 3), np.uint8),), ()),
    "knapsack": (e.knapsack, lambda r: (r.integers(1, 100, 64), r.integers(1, 1000, 64), 4000), ()),
}  # fmt: skip

_EXAMPLES: dict[str, dict[str, int]] = {
    "sigmoid": {"n": _N}, "residual": {"batch": 8, "channels": 32, "height": 64, "width": 64}, "adam": {"n": _N},
    "lstm": {"batch": 1024, "hidden": 512}, "softmax": {"rows": 1024, "columns": 1000},
    "layernorm": {"rows": 1024, "columns": 1000},
}  # fmt: skip
_SUPPRESSION = ("nms", "nms_descending", "nms_delete", "nms_flags")
_WORKLOADS: dict[str, int] = {
    "black-scholes": 500_000, "drawdown": 5000, "rolling z-scores": 100_000, "haversine": 700, "nearest points": 600,
    "iou matrix": 700, "k-means step": 6000, "batch norm": 32, "attention": 128, "logistic gradient": 20_000,
    "convolution": 48, "mandelbrot": 300, "lennard-jones": 6, "gray-scott": 256, "flow": 600, "sobel": 1000,
    "bilinear resize": 500, "equalise": 800, "rgb to hsv": 500, "box blur": 700, "standardise groups": 100_000,
    "confusion": 400_000, "relaxation under a mask": 100,
}  # fmt: skip
_LOOPS: dict[str, int] = {
    "floyd-warshall": 160, "smith-waterman": 120, "levenshtein": 300, "viterbi": 200, "gemm": 160, "iir, rows": 1000,
    "iir, columns": 1000, "thomas": 500, "lu": 128, "jacobi-2d": 300, "heat-3d": 48, "gauss-seidel": 200,
}  # fmt: skip


def _example(name: str) -> Subject:
    from cases import _jax_forms

    module = importlib.import_module(name)
    forms = _jax_forms()
    written = (0, 2, 3) if name == "adam" else ()
    inputs = lambda rng: module.arguments(**_EXAMPLES[name])  # noqa: E731
    return Subject(name, getattr(module, name), inputs, written, forms.get(name), name != "adam")


def _suppression(name: str) -> Subject:
    nms = importlib.import_module("nms")
    function = getattr(nms, name)
    return Subject(name, function, lambda rng: nms.arguments(2048)[function], plain=False)


def _workload(name: str) -> Subject:
    from workloads.collection import WORKLOADS

    one = WORKLOADS[name]
    inputs = lambda rng: one.inputs(rng, _WORKLOADS[name])  # noqa: E731
    return Subject(name, one.function, inputs, one.written, one.forms.get("jax"))


def _loop(name: str) -> Subject:
    from loops.kernels import KERNELS

    one = KERNELS[name]
    inputs = lambda rng: one.inputs(rng, _LOOPS[name])  # noqa: E731
    return Subject(f"{name}, loops", one.loops, inputs, one.written, plain=False)


def subjects(containing: str = "") -> list[Subject]:
    """All functions, those first whose loops are the simplest."""
    found = [_example(name) for name in _EXAMPLES]
    found += [
        Subject(name, function, inputs, written, None, "loop" not in name and name not in _SERIAL)
        for name, (function, inputs, written) in _EVERYDAY.items()
    ]
    found += [_suppression(name) for name in _SUPPRESSION]
    found += [_workload(name) for name in _WORKLOADS]
    found += [_loop(name) for name in _LOOPS]
    return [one for one in found if containing in one.name]


_SERIAL = {"h[x[k]] += 1", "h[x[k]] += w[k]", "exponential average", "smoothed rows", "knapsack"}
"""Loops over elements, which JAX would write out."""


def in_jax(name: str) -> Callable[..., Any] | None:
    """A function as one who knows JAX would write it, or with `jax.numpy` in NumPy's place; None where there is
    none."""
    (one,) = (s for s in subjects() if s.name == name)
    if one.jax is not None or not one.plain:
        return one.jax
    import jax.numpy as jnp

    given: Any = one.function
    space = dict(given.__globals__)
    for key, value in list(space.items()):
        if value is np:
            space[key] = jnp
        elif isinstance(value, types.FunctionType) and value.__globals__ is given.__globals__:
            space[key] = types.FunctionType(value.__code__, space, key, value.__defaults__, value.__closure__)
    return types.FunctionType(given.__code__, space, given.__name__, given.__defaults__, given.__closure__)
