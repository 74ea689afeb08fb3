"""Random functions of complex arrays: parts as views, products, quotients, conditions on parts, and `programs`."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Any

import numpy as np

from tests.fuzz.simple_programs import Program, _Writer


@dataclass
class _ComplexWriter(_Writer):
    def real(self, depth: int = 1) -> str:
        """A real number."""
        r = self.rng
        return f"({self.scalar(depth)}).{r.choice(['real', 'imag'])}" if depth else r.choice(["0.5", "-1.0", "2", "k"])

    def scalar(self, depth: int = 2) -> str:
        r = self.rng
        pick = r.randrange(11 if depth else 3)
        match pick:
            case 0:
                return r.choice(self.scalars)
            case 1:
                return r.choice(["2.0", "0.5j", "-1.5", "1j", "(1+2j)", "1"])
            case 2:
                return f"{r.choice(self.vectors)}[{self.index()}]"
            case 3 | 4:
                return f"({self.scalar(depth - 1)} {r.choice('+-*')} {self.scalar(depth - 1)})"
            case 5:
                return f"{r.choice(self.vectors)}.{r.choice(['sum()', 'max()', 'min()', 'mean()'])}"
            case 6:
                return f"{r.choice(self.matrices)}[{self.index()}, {r.randrange(3)}]"
            case 7:
                return f"({self.scalar(depth - 1)} + 0j).conjugate()"
            case 8:
                return f"({self.scalar(depth - 1)} if {self.condition(depth - 1)} else {self.scalar(depth - 1)})"
            case 9:
                return f"complex({self.real()}, {self.real()})"
            case _:
                return f"(({self.scalar(depth - 1)} + 0j) ** {r.choice([0, 1, 2, 3])})"

    def condition(self, depth: int = 1) -> str:
        return f"{self.real(depth)} {self.rng.choice(['<', '>', '<=', '>=', '==', '!='])} {self.real(0)}"

    def vector(self, depth: int = 2) -> str:
        r = self.rng
        pick = r.randrange(17 if depth else 2)
        v = r.choice(self.vectors)
        match pick:
            case 0 | 1:
                return v
            case 2 | 3:
                return f"({self.vector(depth - 1)} {r.choice('+-*')} {self.vector(depth - 1)})"
            case 4:
                return f"({self.vector(depth - 1)} {r.choice('+-*')} {self.scalar(1)})"
            case 5:
                return f"np.{r.choice(['maximum', 'minimum'])}({self.vector(depth - 1)}, {self.vector(depth - 1)})"
            case 6:
                return f"np.where({self.mask(depth - 1)}, {self.vector(depth - 1)}, {self.vector(depth - 1)})"
            case 7:
                return f"{v}[::-1]"
            case 8:
                return f"{r.choice(self.matrices)}[:, {r.randrange(3)}]"
            case 9:
                return f"{r.choice(self.matrices)}.{r.choice(['sum', 'max', 'prod'])}(axis=1)"
            case 10:
                return f"np.roll({v}, {r.randrange(-2, 3)})"
            case 11:
                return f"np.{r.choice(['cumsum', 'conj', 'square', 'negative', 'rint'])}({self.vector(depth - 1)})"
            case 12:
                return f"({v}.real + 1j * {self.vector(depth - 1)}.imag)"
            case 13:
                return f"({self.vector(depth - 1)} / {r.choice(['2', '4j', '(1+1j)', '(0.5-0.5j)'])})"
            case 14:
                return f"({self.vector(depth - 1)} ** {r.choice([1, 2, 3])})"
            case 15:
                return f"np.concatenate(({v}[1:] * {self.scalar(0)}, {v}[:1]))"
            case _:
                return f"(({self.vector(depth - 1)}).{r.choice(['real', 'imag'])} * {self.scalar(0)} + 0j)"

    def mask(self, depth: int = 1) -> str:
        r = self.rng
        if depth and r.random() < 0.3:
            return f"(({self.mask(depth - 1)}) {r.choice('&|')} ({self.mask(depth - 1)}))"
        part = r.choice([".real", ".imag", ""])
        return f"{self.vector(0)}{part} {r.choice(['<', '>', '<=', '>=', '!=', '=='])} {self.real(0)}"

    def statement(self) -> None:
        r = self.rng
        v = r.choice(self.vectors)
        part = r.choice(["real", "imag"])
        match r.randrange(16):
            case 0:
                self.emit(f"{v}.{part} = {self.vector(1)}.{r.choice(['real', 'imag'])}")
            case 1:
                self.emit(f"{v}.{part} {r.choice(['+=', '-=', '*='])} {self.real(1)}")
            case 2:
                self.emit(f"{v}.{part}[{self.index()}] = {self.real(1)}")
            case 3:
                self.emit(f"{v}.{part}[1:] = {r.choice(self.vectors)}.{r.choice(['real', 'imag'])}[:-1]")
            case 4:
                self.emit(f"{v} {r.choice(['*=', '/='])} {r.choice(['2', '1j', '(1-1j)'])}")
            case 5:
                name = self.name()
                self.emit(f"{name} = {v}[{self.mask(0)}].{r.choice(['sum()', 'real.sum() + 0j'])}")
                self.scalars.append(name)
            case _:
                super().statement()

    def loop(self) -> None:
        saved = self.rng.random()
        if saved < 0.4:  # an escape
            z, v = self.name(), self.rng.choice(self.vectors)
            self.emit(f"{z} = {self.rng.choice(['0j', 's'])}")
            self.emit(f"for i{z} in range(len(x)):")
            self.emit(f"    {z} = {z} * {z} * 0.5 + {v}[i{z}]")
            self.emit(f"    if {z}.real > 2 or {z}.imag < -2: break")
            self.scalars.append(z)
            return
        super().loop()


def generate_complex(seed: int, statements: int = 6) -> Program:
    """As `generate`, of complex arrays and a complex number."""
    rng = random.Random(seed)
    w = _ComplexWriter(rng)
    w.block(rng.randrange(2, statements + 1))
    shown = [rng.choice(w.vectors), rng.choice(w.matrices), rng.choice(w.scalars)]
    w.emit(f"return {', '.join(dict.fromkeys(shown))},")
    return Program("import numpy as np\n\n\ndef f(x, y, a, s, k):\n" + "\n".join(w.lines) + "\n", seed)


def complex_arguments(seed: int, n: int) -> tuple[Any, ...]:
    """Vectors, a matrix, a number and an index: halves, so that sums and products are exact."""
    rng = np.random.default_rng(seed)

    def halves(*shape: int) -> Any:
        return (rng.integers(-4, 5, shape) + 1j * rng.integers(-4, 5, shape)) * 0.5

    return halves(n), halves(n), halves(n, 3), 1.5 - 0.5j, int(rng.integers(0, n))
