"""Random NumPy functions: typed statements over vectors and matrices, views, masks, stores, loops and branches.

Each program is plain source text, so that a failing one can be kept as a regression test. Values are small integers or
halves where exactness is checked, so that sums are exact in any order.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field


@dataclass
class Program:
    source: str
    seed: int


@dataclass
class _Writer:
    rng: random.Random
    lines: list[str] = field(default_factory=list)
    depth: int = 1
    vectors: list[str] = field(default_factory=lambda: ["x", "y"])  # of length n
    matrices: list[str] = field(default_factory=lambda: ["a"])  # n by m
    scalars: list[str] = field(default_factory=lambda: ["s"])
    ints: list[str] = field(default_factory=lambda: ["k"])
    fresh: int = 0
    loops: int = 0

    def emit(self, text: str) -> None:
        self.lines.append("    " * self.depth + text)

    def name(self) -> str:
        self.fresh += 1
        return f"v{self.fresh}"

    # --- expressions

    def scalar(self, depth: int = 2) -> str:
        r = self.rng
        pick = r.randrange(9 if depth else 3)
        match pick:
            case 0:
                return r.choice(self.scalars)
            case 1:
                return r.choice(["2.0", "0.5", "-1.5", "3", "1"])
            case 2:
                return f"{r.choice(self.vectors)}[{self.index()}]"
            case 3:
                return f"({self.scalar(depth - 1)} {r.choice('+-*')} {self.scalar(depth - 1)})"
            case 4:
                return f"{r.choice(self.vectors)}.{r.choice(['sum()', 'max()', 'min()'])}"
            case 5:
                return f"{r.choice(self.matrices)}[{self.index()}, {r.randrange(3)}]"
            case 6:
                return f"abs({self.scalar(depth - 1)})"
            case 7:
                return f"({self.scalar(depth - 1)} if {self.condition(depth - 1)} else {self.scalar(depth - 1)})"
            case _:
                return f"min({self.scalar(depth - 1)}, {self.scalar(depth - 1)})"

    def index(self) -> str:
        return self.rng.choice(["0", "1", "-1", "k", "len(x) // 2", *[i for i in self.ints if i != "k"]])

    def condition(self, depth: int = 1) -> str:
        return f"{self.scalar(depth)} {self.rng.choice(['<', '>', '<=', '>='])} {self.scalar(depth)}"

    def vector(self, depth: int = 2) -> str:
        r = self.rng
        pick = r.randrange(12 if depth else 2)
        v = r.choice(self.vectors)
        match pick:
            case 0 | 1:
                return v
            case 2:
                return f"({self.vector(depth - 1)} {r.choice('+-*')} {self.vector(depth - 1)})"
            case 3:
                return f"({self.vector(depth - 1)} {r.choice('+-*')} {self.scalar(1)})"
            case 4:
                return f"np.{r.choice(['maximum', 'minimum'])}({self.vector(depth - 1)}, {self.vector(depth - 1)})"
            case 5:
                return f"np.where({self.mask(depth - 1)}, {self.vector(depth - 1)}, {self.vector(depth - 1)})"
            case 6:
                return f"{v}[::-1]"
            case 7:
                return f"{r.choice(self.matrices)}[:, {r.randrange(3)}]"
            case 8:
                return f"{r.choice(self.matrices)}.{r.choice(['sum', 'max', 'min'])}(axis=1)"
            case 9:
                return f"np.roll({v}, {r.randrange(-2, 3)})"
            case 10:
                return f"np.cumsum({self.vector(depth - 1)})"
            case _:
                return f"np.clip({self.vector(depth - 1)}, -2, 2)"

    def mask(self, depth: int = 1) -> str:
        r = self.rng
        if depth and r.random() < 0.3:
            return f"(({self.mask(depth - 1)}) {r.choice('&|')} ({self.mask(depth - 1)}))"
        return f"{self.vector(depth)} {r.choice(['<', '>', '<=', '>=', '!='])} {self.scalar(0)}"

    def matrix(self, depth: int = 2) -> str:
        r = self.rng
        pick = r.randrange(7 if depth else 1)
        match pick:
            case 0 | 1:
                return r.choice(self.matrices)
            case 2:
                return f"({self.matrix(depth - 1)} {r.choice('+-*')} {self.matrix(depth - 1)})"
            case 3:
                return f"({self.matrix(depth - 1)} {r.choice('+-*')} {self.vector(1)}[:, None])"
            case 4:
                return f"({self.matrix(depth - 1)} {r.choice('+-')} {self.matrix(0)}.mean(axis=0))"
            case 5:
                return f"np.maximum({self.matrix(depth - 1)}, {self.scalar(1)})"
            case _:
                return f"{r.choice(self.matrices)}[::-1]"

    # --- statements

    def block(self, count: int) -> None:
        for _ in range(count):
            self.statement()

    def statement(self) -> None:
        r = self.rng
        pick = r.randrange(17)
        v = r.choice(self.vectors)
        match pick:
            case 0 | 1 | 2:
                value, name = self.vector(), self.name()
                self.emit(f"{name} = {value}" if value not in self.vectors else f"{name} = {value} + 0")
                self._remember(self.vectors, name)
            case 3:
                value, name = self.matrix(), self.name()
                self.emit(f"{name} = {value} * 1")
                self._remember(self.matrices, name)
            case 4:
                value, name = self.scalar(), self.name()
                self.emit(f"{name} = {value} * 1.0")
                self._remember(self.scalars, name)
            case 5:
                lo, shift = r.randrange(3), r.choice([-1, 0, 1])
                hi = r.randrange(3)
                stop = f"len(x) - {hi}" if hi else "len(x)"
                if lo + shift < 0 or hi - shift < 0:
                    shift = 0
                stop2 = f"len(x) - {hi - shift}" if hi - shift else "len(x)"
                self.emit(f"{v}[{lo}:{stop}] = {r.choice(self.vectors)}[{lo + shift}:{stop2}]")
            case 6:
                self.emit(f"{v}[{self.index()}] = {self.scalar()}")
            case 7:
                self.emit(f"{v}[{self.mask()}] = {self.scalar()}")
            case 8:
                self.emit(f"{v} {r.choice(['+=', '-='])} {self.vector()}")
            case 9:
                self.emit(f"{v}[1:] {r.choice(['+=', '-='])} {v}[:-1]")
            case 10:
                a = r.choice(self.matrices)
                self.emit(f"{a}[{self.index()}] = {r.choice(self.matrices)}[{self.index()}] + {self.scalar(0)}")
            case 11:
                a = r.choice(self.matrices)
                self.emit(f"{a}[:, {r.randrange(3)}] = {self.vector(1)}")
            case 12 | 13 if self.loops < 2:
                self.loop()
            case 14:
                self.branch()
            case 15:
                name = self.name()
                self.emit(f"{name} = {v}[{self.mask()}].{r.choice(['sum()', 'size'])} * 1.0")
                self._remember(self.scalars, name)
            case _:
                a = r.choice(self.matrices)
                self.emit(f"{a} *= {self.scalar(0)}" if r.random() < 0.5 else f"{a} += {self.vector(0)}[:, None]")

    def _remember(self, names: list[str], name: str) -> None:
        names.append(name)

    def loop(self) -> None:
        r = self.rng
        self.loops += 1
        saved = [list(x) for x in (self.vectors, self.matrices, self.scalars, self.ints)]
        i = f"i{self.fresh}"
        self.fresh += 1
        kind = r.randrange(3)
        if kind == 0:
            self.emit(f"for {i} in range({r.choice(['len(x)', 'len(x) - 1', '3', 'k'])}):")
        elif kind == 1:
            self.emit(f"for {i} in range(1, len(x) - 1):")
        else:
            self.emit(f"for {i} in range(len(x) - 1, 0, -1):")
        self.depth += 1
        self.ints = [*self.ints, i]
        carried = r.choice(saved[2])
        v = r.choice(self.vectors)
        match r.randrange(5):
            case 0 if carried != "s":
                self.emit(f"{carried} = {carried} * 0.5 + {v}[{i}]")
            case 1:
                self.emit(f"{v}[{i}] = {r.choice(self.vectors)}[{i} - 1] * 0.5 + {self.scalar(1)}")
            case 2:
                self.emit(f"if {v}[{i}] > {self.scalar(0)}:")
                self.emit(f"    {r.choice(['continue', 'break'])}")
                self.emit(f"{v}[{i}] += 1")
            case _:
                self.block(r.randrange(1, 3))
        self.depth -= 1
        self.loops -= 1
        self.vectors, self.matrices, self.scalars, self.ints = saved

    def branch(self) -> None:
        saved = [list(x) for x in (self.vectors, self.matrices, self.scalars, self.ints)]
        self.emit(f"if {self.condition()}:")
        self.depth += 1
        self.block(self.rng.randrange(1, 3))
        self.depth -= 1
        self.vectors, self.matrices, self.scalars, self.ints = [list(x) for x in saved]
        if self.rng.random() < 0.5:
            self.emit("else:")
            self.depth += 1
            self.block(self.rng.randrange(1, 3))
            self.depth -= 1
            self.vectors, self.matrices, self.scalars, self.ints = saved


def generate(seed: int, statements: int = 6) -> Program:
    """``f(x, y, a, s, k)``: two vectors of length n > 4, a matrix n by 3, a float, and an index below n."""
    rng = random.Random(seed)
    w = _Writer(rng)
    w.block(rng.randrange(2, statements + 1))
    shown = [rng.choice(w.vectors), rng.choice(w.matrices), rng.choice(w.scalars)]
    w.emit(f"return {', '.join(dict.fromkeys(shown))},")
    return Program("import numpy as np\n\n\ndef f(x, y, a, s, k):\n" + "\n".join(w.lines) + "\n", seed)
