"""Arguments for generated programs: dtypes, sizes and values with everything that NumPy treats in its own way."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Any

import numpy as np

DTYPES = ("float64", "float64", "float64", "float32", "float32", "int64", "int64", "int32", "int16", "int8", "uint8",
          "uint16", "uint32", "uint64", "bool")  # fmt: skip

SIZES = ({"n": 7, "m": 5, "l": 3}, {"n": 16, "m": 2, "l": 9})
"""The first are those that a program is written with; both go through the same code."""
SPECIAL_SIZES = (
    {"n": 1, "m": 5, "l": 3}, {"n": 0, "m": 2, "l": 3}, {"n": 4, "m": 1, "l": 2}, {"n": 3, "m": 3, "l": 3},
    {"n": 2, "m": 2, "l": 4}, {"n": 6, "m": 4, "l": 0}, {"n": 40, "m": 6, "l": 5}, {"n": 130, "m": 3, "l": 2},
)  # fmt: skip


@dataclass(frozen=True)
class Parameter:
    """An argument's type: an array (`dims` are names of sizes), a NumPy scalar, or a Python ``int`` or ``float``."""

    name: str
    dtype: str
    dims: tuple[str, ...] = ()
    layout: str = "C"  # or F, stepped, reversed; "same NAME" or "shifted NAME" share the memory of another

    @property
    def is_array(self) -> bool:
        return bool(self.dims)


_FLOATS = (0.0, -0.0, np.nan, np.inf, -np.inf, 1e-310, 1e30, -1e30, 0.1, 1 / 3, 1.0, -1.0)


def _values(rng: random.Random, dtype: str, count: int, special: bool) -> Any:
    kind = np.dtype(dtype).kind
    if kind == "b":
        return np.array([rng.random() < 0.5 for _ in range(count)], dtype)
    if kind == "f":
        made = [rng.randrange(-8, 9) / 2 for _ in range(count)]
        if special:
            made = [rng.choice(_FLOATS) if rng.random() < 0.3 else v for v in made]
        with np.errstate(all="ignore"):
            return np.array(made, dtype)
    low = 0 if kind == "u" else -6
    made = [rng.randrange(low, 9) for _ in range(count)]
    if special:
        limits = np.iinfo(dtype)
        made = [rng.choice((limits.min, limits.max, limits.max - 1)) if rng.random() < 0.2 else v for v in made]
    return np.array(made, dtype)


def flush(arguments: list[Any]) -> list[Any]:
    """Zeros for subnormal numbers, in place: for a target that has none."""
    for array in arguments:
        if isinstance(array, np.ndarray) and array.dtype.kind == "f":
            array[np.abs(array) < np.finfo(array.dtype).tiny] *= 0
    return [a * 0 if isinstance(a, np.floating) and abs(a) < np.finfo(a.dtype).tiny else a for a in arguments]


def make(parameters: tuple[Parameter, ...], sizes: dict[str, int], seed: int) -> list[Any]:
    """Arguments of these sizes; the same seed gives the same ones."""
    rng = random.Random(seed)
    special = rng.random() < 0.5
    made: dict[str, Any] = {}
    for p in parameters:
        if not p.is_array:
            made[p.name] = _number(rng, p.dtype, special)
            continue
        shape = tuple(sizes[d] for d in p.dims)
        if p.layout.startswith(("same", "shifted")):
            other = made[p.layout.split()[1]]
            if p.layout.startswith("same"):
                made[p.name] = other
            else:
                memory = _values(rng, p.dtype, shape[0] + 1, special)
                made[p.layout.split()[1]], made[p.name] = memory[1:], memory[:-1]
            continue
        count = int(np.prod(shape))
        if p.layout == "F":
            made[p.name] = np.asfortranarray(_values(rng, p.dtype, count, special).reshape(shape))
        elif p.layout == "stepped":
            wide = (*shape[:-1], shape[-1] * 2)
            made[p.name] = _values(rng, p.dtype, count * 2, special).reshape(wide)[..., ::2]
        elif p.layout == "reversed":
            made[p.name] = _values(rng, p.dtype, count, special).reshape(shape)[::-1]
        else:
            made[p.name] = _values(rng, p.dtype, count, special).reshape(shape)
    return [made[p.name] for p in parameters]


def _number(rng: random.Random, dtype: str, special: bool) -> Any:
    if dtype == "int":
        return rng.choice((0, 1, 2, 3, 2, 1, -1, 5))
    if dtype == "float":
        return rng.choice((1.5, -0.5, 0.25, 3.0, 0.0, *((np.nan, float("inf"), -0.0) if special else ())))
    return _values(rng, dtype, 1, special)[0]


def choose(rng: random.Random, dtypes: tuple[str, ...] = DTYPES) -> tuple[Parameter, ...]:
    """The parameters of a program: at least two arrays that share a size, and some numbers."""
    main = rng.choice(dtypes)

    def dtype() -> str:
        return main if rng.random() < 0.5 else rng.choice(dtypes)

    def layout() -> str:
        return rng.choice(("C",) * 8 + ("F", "stepped", "reversed"))

    made = [Parameter("x", dtype(), ("n",), layout())]
    second = Parameter("y", dtype(), ("n",), layout())
    if rng.random() < 0.12 and made[0].layout == "C":
        second = Parameter("y", made[0].dtype, ("n",), rng.choice(("same x", "shifted x")))
    made.append(second)
    if rng.random() < 0.7:
        made.append(Parameter("a", dtype(), ("n", "m"), layout()))
        if rng.random() < 0.4:
            made.append(Parameter("b", dtype(), rng.choice((("n", "m"), ("m", "n"), ("m", "l"), ("n", "n"))), layout()))
    if rng.random() < 0.4:
        made.append(Parameter("u", dtype(), ("m",), layout()))
    if rng.random() < 0.15:
        made.append(Parameter("c", dtype(), rng.choice((("n", "m", "l"), ("l", "n", "m"), ("m", "l", "n"))), layout()))
    if rng.random() < 0.5:
        made.append(Parameter("p", rng.choice(("int64", "int32", "int64", "uint8")), ("n",)))
    if rng.random() < 0.5:
        made.append(Parameter("k", "int"))
    if rng.random() < 0.5:
        made.append(Parameter("s", "float"))
    if rng.random() < 0.25:
        made.append(Parameter("z", rng.choice(dtypes)))
    return tuple(made)
