"""Random NumPy functions: statements over arrays and numbers of all dtypes, views, masks, loops and branches.

A program is plain source text and the types of its arguments, so that a failing one can be kept as a regression test.
"""

from __future__ import annotations

import random
import warnings
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np

from tests.fuzz.arguments import SIZES, SPECIAL_SIZES, Parameter, make
from tests.fuzz.expressions import Unknown
from tests.fuzz.idioms import Idioms


@dataclass(frozen=True)
class Program:
    """A module with a function ``f``, the types of its arguments, and the sizes and seeds to call it with."""

    source: str
    parameters: tuple[Parameter, ...]
    calls: tuple[tuple[dict[str, int], int], ...]
    seed: int = 0
    passed: tuple[str, ...] = ()  # of the parameters, those that ``f`` still has: all where empty

    def arguments(self, call: int) -> list[Any]:
        made = make(self.parameters, *self.calls[call])
        names = [p.name for p in self.parameters]
        return [a for name, a in zip(names, made, strict=True) if not self.passed or name in self.passed]

    def text(self) -> str:
        """What to show of it."""
        types = ", ".join(
            f"{p.name}: {p.dtype}"
            + (f"[{','.join(p.dims)}]" if p.dims else "")
            + ("" if p.layout == "C" else f" {p.layout}")
            for p in self.parameters
            if not self.passed or p.name in self.passed
        )
        return f"# {types}\n{self.source}"


class Writer(Idioms):
    """Writes a whole function."""

    def result(self) -> str:
        r = self.random
        names = [n for n in (*self.arrays, *self.scalars) if n.startswith("v")] or ["x"]
        shown = list(dict.fromkeys(r.choice([*names, *self.arrays]) for _ in range(r.randrange(1, 4))))
        shown += [n for n in names[-2:] if n not in shown]
        with suppress(Unknown):
            if self.chance(0.2):
                shown.append(self.array(self.dims(), 1))
            if self.chance(0.2):
                shown.append(self.scalar(1))
        shown += self.shown
        match r.randrange(12):
            case 0:
                return "{" + ", ".join(f"'r{k}': {s}" for k, s in enumerate(shown)) + "}"
            case 1:
                return f"[{', '.join(shown)}]"
            case 2 if len(shown) > 1:
                return f"({shown[0]}, [{', '.join(shown[1:])}])"
            case _:
                return ", ".join(shown)

    def program(self, seed: int, statements: int) -> Program:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            self.block(self.random.randrange(2, statements + 1))
            if self.returned or self.chance(0.9):
                self.emit(f"return {', '.join(self.returned) or self.result()}")
        head = ", ".join(p.name for p in self.parameters)
        source = f"import numpy as np\n{self.imports}\n\n" + "".join(h + "\n\n" for h in self.before)
        source += f"def f({head}):\n" + "\n".join(self.lines) + "\n"
        calls = [(SIZES[0], 1), (SIZES[1], 2), (SIZES[0], 3)]
        if self.chance(0.35):
            calls.append((self.random.choice(SPECIAL_SIZES), 4))
        return Program(source, self.parameters, tuple(calls), seed)


WIDE = 0.65
"""How many programs have what is in `operations` and `structures`."""
IDIOMATIC = 0.7
"""How many have what is in `idioms`; the others are chosen as if that were not there."""


def generate(seed: int, statements: int = 6, wide: float = WIDE) -> Program:
    """The program of a seed."""
    idiomatic = random.Random(f"idioms of {seed}").random() < IDIOMATIC
    return Writer(random.Random(seed), wide, idiomatic).program(seed, statements)


def drawn(rng: random.Random, statements: int = 4) -> Program:
    """A program of hypothesis's choices, which it can make smaller."""
    return Writer(rng, WIDE, rng.random() < IDIOMATIC).program(0, statements)
