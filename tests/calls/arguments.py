"""Arguments of calls, of every kind: layouts, alignment, byte order, sizes, types that are no arrays, and containers.

An argument is drawn as a recipe; a recipe makes the same argument each time, in memory of its own. What shares memory
in a call (the same array twice, overlapping parts) is made by one recipe for both.
"""

from __future__ import annotations

import array
import collections
import dataclasses
import decimal
import fractions
import random
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

DTYPES = ("float64", "float64", "float64", "float32", "float32", "int64", "int64", "int32", "int16", "int8", "uint8",
          "uint32", "uint64", "bool", "complex128", "float16")  # fmt: skip
ODD_DTYPES = (">f8", ">i4", ">u2", "longdouble", "object", "U3", "S3", "M8[s]", "m8[ms]", "complex64", "V8")
SHAPES = {
    "vector": ((5,), (5,), (7,), (7,), (1,), (0,), (64,), (257,)),
    "matrix": ((4, 3), (4, 3), (3, 4), (5, 5), (1, 3), (3, 1), (0, 3), (17, 9)),
    "other": ((), (2, 3, 2), (1, 1), (3, 0, 2), (2, 1, 2, 1)),
}
LAYOUTS = ("C", "C", "C", "C", "F", "stepped", "reversed", "turned", "broadcast", "unaligned", "packed", "read-only",
           "offset", "window", "both reversed")  # fmt: skip
CLASSES = ("plain", "plain", "plain", "plain", "plain", "plain", "plain", "matrix", "masked", "subclass", "recarray",
           "memmap-like")  # fmt: skip
INTEGERS = (0, 1, 2, 3, -1, -2, 4, 5, 7, 100, -100, 2**31, 2**31 - 1, -(2**31) - 1, 2**32, 2**53 + 1, 2**63 - 1,
            -(2**63), 2**63, -(2**63) - 1, 2**64, -(2**64), 2**65 + 1, 10**30)  # fmt: skip
FLOATS = (0.0, -0.0, 0.5, 1.0, 2.0, -3.0, 1e30, 1e300, float("inf"), float("-inf"), float("nan"), 5e-324)


class Sub(np.ndarray):
    """A subclass that changes nothing."""


class Pair(NamedTuple):
    first: Any
    second: Any


@dataclasses.dataclass
class Two:
    first: Any
    second: Any

    def __iter__(self) -> Any:
        return iter((self.first, self.second))


class Meters(float):
    """A subclass of a number."""


class Deep(list[Any]):
    """A subclass of a list."""


Recipe = Callable[[], Any]


def values(rng: random.Random, dtype: str, count: int) -> Any:
    """Elements whose sums and products are exact, with a few of the type's own extremes among integers."""
    kind = np.dtype(dtype).kind
    if kind == "b":
        return np.array([rng.random() < 0.5 for _ in range(count)], dtype)
    if kind in "fc":
        return np.array([rng.randrange(-8, 9) / 2 for _ in range(count)]).astype(dtype)
    if kind in "iu":
        return np.array([rng.randrange(0 if kind == "u" else -6, 9) for _ in range(count)]).astype(dtype)
    if kind in "Mm":
        return np.array([rng.randrange(100) for _ in range(count)], "int64").astype(dtype)
    if kind == "O":
        return np.array([rng.choice((1, 2.5, 3)) for _ in range(count)], object)
    if kind == "V":
        return np.zeros(count, dtype)
    return np.array([rng.choice("abc") for _ in range(count)], dtype)


def laid_out(rng: random.Random, layout: str, dtype: str, shape: tuple[int, ...]) -> Any:
    """An array of a layout: its memory may be larger than it."""
    count = int(np.prod(shape))
    data = values(rng, dtype, count).reshape(shape)
    match layout:
        case "F":
            return np.asfortranarray(data)
        case "stepped" if shape:
            wide = np.zeros((*shape[:-1], shape[-1] * 2), data.dtype)
            wide[..., ::2] = data
            return wide[..., ::2]
        case "reversed" if shape:
            return data[::-1]
        case "both reversed" if shape:
            return data[tuple([slice(None, None, -1)] * len(shape))]
        case "turned":
            return np.ascontiguousarray(data.T).T
        case "broadcast" if shape:
            return np.broadcast_to(data[:1], (shape[0], *shape[1:])) if shape[0] else data
        case "unaligned":
            memory = np.zeros(data.nbytes + 1, np.uint8)
            made = np.ndarray(shape, data.dtype, memory, 1) if data.dtype.kind != "O" else data
            made[...] = data
            return made
        case "packed" if data.dtype.kind != "O":
            records = np.zeros(shape, np.dtype([("a", "i1"), ("b", data.dtype)]))
            records["b"] = data
            return records["b"]
        case "read-only":
            data.flags.writeable = False
            return data
        case "offset" if shape:
            wide = np.zeros((shape[0] + 1, *shape[1:]), data.dtype)
            wide[1:] = data
            return wide[1:]
        case "window" if len(shape) == 2:
            wide = np.zeros((shape[0] + 2, shape[1] + 2), data.dtype)
            wide[1:-1, 1:-1] = data
            return wide[1:-1, 1:-1]
        case _:
            return data


def of_class(kind: str, made: Any) -> Any:
    match kind:
        case "matrix" if made.ndim == 2:
            return made.view(np.matrix)
        case "masked" if made.ndim:
            return np.ma.array(made, mask=[k % 2 == 1 for k in range(made.shape[0])] if made.ndim == 1 else False)
        case "subclass":
            return made.view(Sub)
        case "recarray" if made.ndim == 1:
            return made.view(np.recarray)
        case "memmap-like":
            return np.asarray(memoryview(made)) if made.dtype.kind in "iufb" and made.flags.c_contiguous else made
        case _:
            return made


class Drawer:
    """Draws the recipes of a callee's arguments, from a few types, so that specialisations are met again and again."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.dtypes = [rng.choice(DTYPES) for _ in range(3)]
        self.odd = rng.choice(ODD_DTYPES)

    def arguments(self, sorts: tuple[str, ...]) -> Callable[[], list[Any]]:
        """What makes the arguments of a call."""
        rng = self.rng
        shapes = {sort: rng.choice(SHAPES[sort]) for sort in SHAPES}
        recipes = [self.recipe(sort, shapes) for sort in sorts]
        arrays = [k for k, sort in enumerate(sorts) if sort in ("array", "vector", "matrix")]
        if len(arrays) > 1 and rng.random() < 0.15:
            one, two = rng.sample(arrays, 2)
            shared = self.shared(shapes)
            recipes[one] = recipes[two] = shared

            def together() -> list[Any]:
                made = [r() if r is not shared else None for r in recipes]
                made[one], made[two] = shared()
                return made

            return together
        return lambda: [r() for r in recipes]

    def shared(self, shapes: dict[str, tuple[int, ...]]) -> Recipe:
        """Two arrays in one memory."""
        rng, dtype, seed = self.rng, self.rng.choice(self.dtypes), self.rng.randrange(1 << 30)
        how = rng.choice(("same", "shifted", "reversed", "alternate", "apart"))
        n = max(2, (shapes["vector"] or (4,))[0])

        def make() -> Any:
            memory = values(random.Random(seed), dtype, 2 * n)
            match how:
                case "same":
                    return memory[:n], memory[:n]
                case "shifted":
                    return memory[1 : n + 1], memory[:n]
                case "reversed":
                    return memory[:n], memory[:n][::-1]
                case "alternate":
                    return memory[::2], memory[1::2]
                case _:
                    return memory[:n], memory[n:]

        return make

    def recipe(self, sort: str, shapes: dict[str, tuple[int, ...]]) -> Recipe:
        rng = self.rng
        if rng.random() < 0.04:
            sort = rng.choice(("array", "number", "position", "text", "pair", "table", "list", "odd", "flag"))
        match sort:
            case "array":
                return self.array(shapes[rng.choice(("vector", "vector", "matrix", "other"))])
            case "vector":
                return self.array(shapes["vector" if rng.random() < 0.93 else rng.choice(("matrix", "other"))])
            case "matrix":
                return self.array(shapes["matrix" if rng.random() < 0.93 else rng.choice(("vector", "other"))])
            case "number":
                return self.number()
            case "position":
                return self.position()
            case "flag":
                chosen = rng.choice((True, False, True, False, 1, 0, np.True_, None, 0.5, "", [], [0]))
                return lambda: chosen
            case "text":
                text = rng.choice(("twice", "half", "third", "", "größe", None, 3))
                return lambda: text
            case "pair":
                return self.pair(shapes)
            case "table":
                return self.table(shapes)
            case "list":
                return self.some_list()
            case "any":
                return self.recipe(rng.choice(("array", "array", "number", "position", "list", "odd", "text")), shapes)
            case _:
                return self.odd_one()

    def array(self, shape: tuple[int, ...]) -> Recipe:
        rng = self.rng
        dtype = self.odd if rng.random() < 0.06 else rng.choice(self.dtypes)
        layout, kind, seed = rng.choice(LAYOUTS), rng.choice(CLASSES), rng.randrange(1 << 30)
        if rng.random() < 0.05:
            scalar = values(random.Random(seed), dtype, 1)[0]
            return lambda: scalar

        def make() -> Any:
            return of_class(kind, laid_out(random.Random(seed), layout, dtype, shape))

        return make

    def number(self) -> Recipe:
        rng = self.rng
        match rng.randrange(10):
            case 0 | 1 | 2:
                number: Any = rng.choice(FLOATS)
            case 3 | 4 | 5:
                number = rng.choice(INTEGERS[: rng.choice((11, len(INTEGERS)))])
            case 6:
                number = rng.choice((True, False, 1.5 + 2j, Meters(2.5), fractions.Fraction(1, 3), decimal.Decimal(2)))
            case _:
                dtype = rng.choice(DTYPES)
                number = values(random.Random(rng.randrange(1 << 30)), dtype, 1)[0]
        return lambda: number

    def position(self) -> Recipe:
        rng = self.rng
        match rng.randrange(8):
            case 0 | 1 | 2 | 3:
                position: Any = rng.choice(INTEGERS[:9])
            case 4 | 5:
                position = rng.choice(INTEGERS)
            case 6:
                position = rng.choice((np.int64(1), np.int8(-1), np.uint64(2), np.uint64(2**63), np.int32(100)))
            case _:
                position = rng.choice((True, None, 1.0, "a", np.float64(1), np.array(1), np.array([1])))
        return (lambda: position.copy()) if isinstance(position, np.ndarray) else lambda: position

    def pair(self, shapes: dict[str, tuple[int, ...]]) -> Recipe:
        one, two = self.recipe("array", shapes), self.recipe(self.rng.choice(("array", "number")), shapes)
        kinds: tuple[Callable[[Any, Any], Any], ...] = (
            lambda a, b: (a, b), lambda a, b: [a, b], Pair, Two, lambda a, b: (a, b, a), lambda a, b: (a,),
            lambda a, b: collections.deque([a, b]), lambda a, b: ((a, b), b), lambda a, b: Deep([a, b]),
        )  # fmt: skip
        kind = self.rng.choice(kinds[: self.rng.choice((3, len(kinds)))])
        return lambda: kind(one(), two())

    def table(self, shapes: dict[str, tuple[int, ...]]) -> Recipe:
        one, two = self.recipe("array", shapes), self.recipe("number", shapes)
        kinds: tuple[Callable[[Any, Any], Any], ...] = (
            lambda a, b: {"a": a, "b": b}, lambda a, b: {"b": b, "a": a}, lambda a, b: {"a": a}, lambda a, b: {},
            lambda a, b: collections.OrderedDict(a=a, b=b), lambda a, b: collections.defaultdict(int, a=a, b=b),
            lambda a, b: {"a": a, "b": b, 3: None}, lambda a, b: collections.ChainMap({"a": a}, {"b": b}),
        )  # fmt: skip
        kind = self.rng.choice(kinds[: self.rng.choice((2, len(kinds)))])
        return lambda: kind(one(), two())

    def some_list(self) -> Recipe:
        rng = self.rng
        plain = [rng.randrange(-3, 4) for _ in range(rng.choice((0, 1, 3, 4)))]
        kinds: tuple[Callable[[], Any], ...] = (
            lambda: list(plain), lambda: tuple(plain), lambda: [float(v) for v in plain],
            lambda: [*plain, 2.5], lambda: range(len(plain)), lambda: np.array(plain, np.int64),
            lambda: [[v] for v in plain], lambda: [np.float32(v) for v in plain], lambda: [*plain, None],
            lambda: [*plain, 2**70], lambda: set(plain), lambda: iter(plain), lambda: array.array("d", plain),
            lambda: bytes(v % 7 for v in plain), lambda: [True, *plain], lambda: Deep(plain),
            lambda: dict.fromkeys(plain), lambda: "abc", lambda: memoryview(array.array("i", plain)),
        )  # fmt: skip
        return rng.choice(kinds[: rng.choice((4, 7, len(kinds)))])

    def odd_one(self) -> Recipe:
        rng = self.rng
        seed = rng.randrange(1 << 30)
        kinds: tuple[Callable[[], Any], ...] = (
            lambda: None, lambda: "text", lambda: b"bytes", lambda: ..., lambda: np.float64, lambda: len,
            lambda: object, lambda: slice(1, 3), lambda: np.dtype("int16"), lambda: NotImplemented,
            lambda: values(random.Random(seed), "longdouble", 3), lambda: np.datetime64(5, "s"),
            lambda: np.array(["a", "b"]), lambda: np.array([None, 1]), lambda: np.zeros(2, "i4,f8"),
            lambda: np.zeros(2, "i4,f8")[0], lambda: collections.Counter("ab"), lambda: frozenset((1,)),
        )  # fmt: skip
        return rng.choice(kinds)
