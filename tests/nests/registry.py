"""The nests: a function, the types of its arguments, inputs of several sizes, and what is known of each loop.

The answer stands beside the loop, as the comment that ends its line: the classes that are right for it, of which an
analysis may give any.

    for i in range(1, len(a)):  # sequential | scan
        a[i] = a[i - 1] + x[i]

A loop that may be `parallel` carries no dependence, every other carries one (scalars that are private to an iteration
left aside). Where that is not so, say because a transformation comes first, it is said: `# dependent: scan`.
"""

from __future__ import annotations

import ast
import inspect
import itertools
import re
import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

KINDS = (
    "parallel", "reduction", "scan", "per-lane", "wavefront", "sequential with parallel body", "sequential",
)  # fmt: skip

Sizes = Mapping[str, int]
Maker = Callable[[np.random.Generator, Sizes], Any]
"""An argument from the sizes (and the int arguments before it)."""

_ONE = ({"n": 0}, {"n": 1}, {"n": 2}, {"n": 3}, {"n": 8}, {"n": 19})
_TWO = (
    {"n": 0, "m": 3}, {"n": 3, "m": 0}, {"n": 1, "m": 4}, {"n": 4, "m": 1}, {"n": 2, "m": 3}, {"n": 5, "m": 4},
    {"n": 6, "m": 11},
)  # fmt: skip
_INTS = (-1, 0, 1, 3, 30)


@dataclass(frozen=True, slots=True)
class Loop:
    """A loop's line in the nest's source, the names it binds (none: a `while`), and the answer."""

    line: int
    variables: tuple[str, ...]
    kinds: frozenset[str]
    dependent: bool


@dataclass(frozen=True, eq=False)
class Nest:
    """`shared` makes arguments that overlap; without it, and for the answers of the table, they never do."""

    function: Callable[..., Any]
    theme: str
    parameters: dict[str, str]  # name -> type
    makers: dict[str, Maker]
    shapes: tuple[Sizes, ...]
    tolerance: float
    shared: Maker | None

    @property
    def name(self) -> str:
        return self.function.__name__

    @property
    def types(self) -> str:
        """The signature as `transkern` takes it."""
        return f"{self.name}({', '.join(self.parameters.values())})"

    @cached_property
    def source(self) -> str:
        """A file with the function: NumPy's import, and on line 2 the `def`."""
        lines = textwrap.dedent(inspect.getsource(self.function)).splitlines()
        first = next(k for k, line in enumerate(lines) if line.startswith("def "))
        return "\n".join(["import numpy as np", *lines[first:]]) + "\n"

    @cached_property
    def loops(self) -> tuple[Loop, ...]:
        """In the order of the source."""
        return tuple(self._loop(line, names) for line, names in self.variables.items())

    @cached_property
    def variables(self) -> dict[int, tuple[str, ...]]:
        """The names that each loop binds, by line: none for a `while`."""
        found = [x for x in ast.walk(ast.parse(self.source)) if isinstance(x, (ast.For, ast.While))]
        return {x.lineno: _bound(x) for x in sorted(found, key=lambda x: x.lineno)}

    def _loop(self, number: int, names: tuple[str, ...]) -> Loop:
        line = self.source.splitlines()[number - 1]
        answer = re.search(r"#\s*(?:(dependent|independent):)?\s*([a-z| -]+)$", line)
        assert answer is not None, f"{self.name}: no answer in {line!r}"
        kinds = frozenset(kind.strip() for kind in answer[2].split("|"))
        assert kinds <= set(KINDS), f"{self.name}: {kinds - set(KINDS)}"
        dependent = answer[1] == "dependent" if answer[1] else "parallel" not in kinds
        return Loop(number, names, kinds, dependent)

    def inputs(self, seed: int, sizes: Sizes, overlap: bool = False) -> tuple[Any, ...]:
        """Arguments of these sizes: the same for the same seed, in fresh memory; with `overlap`, they share it."""
        rng = np.random.default_rng(seed)
        sizes = {"n": 4, "m": 3} | dict(sizes)
        if overlap and self.shared is not None:
            return tuple(self.shared(rng, sizes))
        return tuple(self._argument(rng, name, kind, sizes) for name, kind in self.parameters.items())

    def _argument(self, rng: np.random.Generator, name: str, kind: str, sizes: Sizes) -> Any:
        if name in self.makers:
            return self.makers[name](rng, sizes)
        if kind == "int":
            return sizes.get(name, 2)
        if kind == "float":
            return float(rng.integers(-3, 4))
        dtype, _, dims = kind.rstrip("]").partition("[")
        shape = tuple(int(d) if d.strip().isdigit() else sizes[d.strip()] for d in dims.split(","))
        return rng.integers(0, 2, shape).astype(bool) if dtype == "bool" else rng.integers(-4, 5, shape).astype(dtype)


def _bound(node: ast.For | ast.While) -> tuple[str, ...]:
    if isinstance(node, ast.While):
        return ()
    return tuple(x.id for x in ast.walk(node.target) if isinstance(x, ast.Name))


NESTS: list[Nest] = []


def nest(
    types: str,
    shapes: Sequence[Sizes] | None = None,
    tolerance: float = 0.0,
    shared: Maker | None = None,
    ints: Sequence[int] = _INTS,
    **makers: Maker,
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Registers a function with arguments of `types`; `makers` give arguments that the types alone do not.

    Numbers are small integers unless a maker says otherwise, also in arrays of floats: their sums are exact, so that
    the order in which they are taken does not show in the result. `ints` are the values of int arguments.
    """

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        names = inspect.signature(function).parameters
        parameters = dict(zip(names, re.findall(r"\w+(?:\[[^]]*\])?", types), strict=True))
        assert all(f.function.__name__ != function.__name__ for f in NESTS), function.__name__
        theme = function.__module__.rpartition(".")[2]
        base = shapes or (_TWO if "m" in re.findall(r"\b[nm]\b", types) else _ONE)
        numbers = [p for p, kind in parameters.items() if kind == "int" and p not in makers]
        values = list(itertools.product(ints, repeat=len(numbers)))
        count = max(len(base), len(values)) if shapes is None else len(base)
        whole = tuple(
            dict(zip(numbers, values[k % len(values)], strict=True)) | base[k % len(base)] for k in range(count)
        )
        NESTS.append(Nest(function, theme, parameters, makers, whole, tolerance, shared))
        return function

    return register


# ---- makers ---------------------------------------------------------------------------------------------------------


def below(limit: str, length: str = "n") -> Maker:
    """Subscripts in range(limit), repeated ones among them; every third draw gives one subscript again and again."""

    def make(rng: np.random.Generator, sizes: Sizes) -> Any:
        high = max(sizes[limit], 1)
        count = sizes[length] if sizes[limit] else 0
        if rng.integers(3) == 0:
            return np.full(count, rng.integers(high))
        return rng.integers(0, high, count)

    return make


def zeros(*dims: str, dtype: str = "float64", extra: int = 0) -> Maker:
    return lambda rng, sizes: np.zeros([sizes[d] + extra for d in dims], dtype)


def drawn(*dims: str, low: int = -4, high: int = 5, dtype: str = "float64") -> Maker:
    """Integers in range(low, high)."""
    return lambda rng, sizes: rng.integers(low, high, [sizes[d] for d in dims]).astype(dtype)
