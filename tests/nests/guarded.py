"""Random functions over arrays of unrelated lengths, where only conditions keep subscripts within them.

What runs ahead of its condition (a load moved out of a branch, a store made unconditional) leaves an array here.
"""

from __future__ import annotations

import linecache
import random
from collections.abc import Callable
from typing import Any

import numpy as np

SIZES = (
    (5, 2, 3, 4), (2, 5, 4, 3), (4, 4, 1, 6), (1, 7, 6, 2), (9, 3, 2, 2), (0, 3, 3, 1), (3, 0, 2, 5), (40, 17, 5, 30),
)  # fmt: skip
"""The lengths of x and y, and the shape of a."""


class _Writer:
    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.lines: list[str] = []
        self.fresh = 0

    def emit(self, depth: int, text: str) -> None:
        self.lines.append("    " * depth + text)

    def name(self) -> str:
        self.fresh += 1
        return f"v{self.fresh}"

    def index(self, variables: list[str]) -> str:
        r = self.random
        v = r.choice([*variables, *variables, "k"])
        forms = [v, v, f"{v} + {r.randint(1, 3)}", f"{v} - {r.randint(1, 2)}", f"2 * {v}", f"len(x) - 1 - {v}",
                 f"{v} + len(y)", f"{v} - len(y)", f"{v} + k", f"{v} // 2", str(r.randint(0, 3)),
                 "len(y) // 2"]  # fmt: skip
        if len(variables) > 1:
            forms += [f"{variables[0]} + {variables[1]}", f"{variables[1]} - {variables[0]}"]
        return r.choice(forms)

    def place(self, variables: list[str], written: bool = False) -> tuple[str, str]:
        """An element, and the condition that it is there."""
        r = self.random
        arrays = ["out", "x", "y", "a", "table"] if written else ["x", "x", "y", "y", "a", "out", "table"]
        of = r.choice(arrays)
        if of in ("a", "table"):
            i, j = (self.index(variables) for _ in range(2))
            tests = [f"0 <= {i} < {of}.shape[0]", f"0 <= {j} < {of}.shape[1]"]
            r.shuffle(tests)
            return f"{of}[{i}, {j}]", " and ".join(tests)
        i = self.index(variables)
        test = r.choice([f"0 <= {i} < len({of})", f"{i} >= 0 and {i} < {of}.shape[0]", f"{of}.size > {i} >= 0"])
        return f"{of}[{i}]", test

    def value(self, variables: list[str]) -> str:
        """A number, sure of its own elements."""
        r = self.random
        place, there = self.place(variables)
        other, also = self.place(variables)
        return r.choice([
            f"({place} if {there} else {r.randint(0, 2)}.0)",
            f"(0.5 if not ({there}) else {place} + 1.0)",
            f"(1.0 if {there} and {place} > 0 else -1.0)",
            f"({place} + {other} if {there} and {also} else 0.25)",
            f"(max({place}, 0.0) if {there} else {other} if {also} else 0.0)",
        ])  # fmt: skip

    def statement(self, variables: list[str], depth: int) -> None:
        r = self.random
        target, there = self.place(variables, written=True)
        place, also = self.place(variables)
        kind = r.randrange(11)
        if kind == 0:
            self.emit(depth, f"if {there}:")
            self.emit(depth + 1, f"{target} = {self.value(variables)}")
        elif kind == 1:
            self.emit(depth, f"if {there} and {also}:")
            self.emit(depth + 1, f"{target} {r.choice(['=', '+='])} {place} * 2")
        elif kind == 2:
            self.emit(depth, f"if {there}:")
            self.emit(depth + 1, f"if {also} and {place} < 2:")
            self.emit(depth + 2, f"{target} = {place} - 1")
            if r.random() < 0.5:
                self.emit(depth + 1, "else:")
                self.emit(depth + 2, f"{target} = {r.randint(0, 3)}.5")
        elif kind == 3:
            self.emit(depth, f"if not ({also}):")
            self.emit(depth + 1, r.choice(["continue", "continue", "break"]))
            self.emit(depth, f"total += {place}")
        elif kind == 4:
            self.emit(depth, f"total += {self.value(variables)}")
        elif kind == 5:
            self.emit(depth, f"t = {self.value(variables)}")
            self.emit(depth, f"if {there}:")
            self.emit(depth + 1, f"{target} = t")
        elif kind == 6:
            self.emit(depth, f"if {also}:")
            self.emit(depth + 1, f"t = {place}")
            self.emit(depth, f"if {there} and t > 0:")
            self.emit(depth + 1, f"{target} = t + {self.value(variables)}")
        elif kind == 7:
            self.emit(depth, f"if {there} and {self.value(variables)} > 0:")
            self.emit(depth + 1, f"{target} = {r.randint(0, 3)}.0")
        elif kind == 8:
            w = self.name()
            of = r.choice("xy")
            self.emit(depth, f"{w} = {self.random.choice([*variables, '0'])}")
            self.emit(depth, f"while {w} < len({of}) and {of}[{w}] > {r.randint(-2, 1)}:")
            self.emit(depth + 1, f"{w} += {r.randint(1, 2)}")
            self.emit(depth, f"total += {w}")
        elif kind == 9:
            self.emit(depth, f"if {also}:")
            self.emit(depth + 1, f"best = max(best, {place})")
        else:
            self.emit(depth, f"if {there}:")
            self.emit(depth + 1, f"{target} = {self.value(variables)}")
            self.emit(depth, "else:")
            self.emit(depth + 1, f"total += {self.value(variables)}")

    def loop(self, variables: list[str], depth: int) -> None:
        r = self.random
        v = "ij"[len(variables)]
        sizes = ["len(x)", "len(y)", "a.shape[0]", "a.shape[1]", "len(x) - 1", "max(len(x), len(y))", "len(out) + 2"]
        ranges = [f"range({r.choice(sizes)})"] * 3
        ranges += [f"range(1, {r.choice(sizes)})", f"range({r.choice(sizes)} - 1, -1, -1)"]
        self.emit(depth, f"for {v} in {r.choice(ranges)}:")
        inner = [*variables, v]
        nested = not variables and r.random() < 0.5
        for _ in range(r.choice((1, 1, 2)) if not nested or r.random() < 0.4 else 0):
            self.statement(inner, depth + 1)
        if nested:
            self.loop(inner, depth + 1)

    def row(self) -> None:
        """Statements over arrays, under a condition."""
        r = self.random
        self.emit(1, r.choice([
            "if len(x) <= len(y):\n        out[:len(x)] = x + y[:len(x)]",
            "if len(x) > 0 and len(y) > 0:\n        out += x[0] * y[-1]",
            "if a.shape[0] > 2:\n        table[0, :] += a[2, 0]",
            "kept = x[x > 0]\n    if len(kept) <= len(y):\n        total += (kept * y[:len(kept)]).sum()",
            "kept = np.flatnonzero(y > -1)\n    for e in kept:\n        if e < len(x):\n            out[-1] += x[e]",
            "grown = [x[e + 1] for e in range(len(y)) if e + 1 < len(x)]\n    total += len(grown)",
        ]))  # fmt: skip

    def text(self, name: str) -> str:
        self.lines = [
            "import numpy as np",
            f"def {name}(x, y, a, k):",
            "    out = np.zeros(max(len(x) // 2, 1))",
            f"    table = np.{self.random.choice(['ones', 'zeros'])}((len(y) + 1, a.shape[0]))",
            "    total, best, t = 0.0, -9.0, 0.5",
        ]
        for _ in range(self.random.choice((1, 1, 2))):
            if self.random.random() < 0.2:
                self.row()
            self.loop([], 1)
        self.lines.append("    return out, table, total, best, t")
        return "\n".join(self.lines) + "\n"


def guarded(seed: int) -> Callable[..., Any]:
    """The function of a seed; its `source` is its text, its `seed` the seed."""
    name = f"guarded_{seed}"
    text = _Writer(seed).text(name)
    space: dict[str, Any] = {"__name__": name}
    file = f"<guarded {seed}>"
    linecache.cache[file] = len(text), None, text.splitlines(keepends=True), file
    exec(compile(text, file, "exec"), space)
    made: Callable[..., Any] = space[name]
    made.__dict__.update(source=text, seed=seed)
    return made


def arguments(seed: int, sizes: tuple[int, int, int, int]) -> tuple[Any, ...]:
    """Small whole numbers and halves."""
    rng = np.random.default_rng(seed)
    n, m, p, q = sizes
    shapes = ((n,), (m,), (p, q))
    return (*(rng.integers(-4, 5, shape) * 0.5 for shape in shapes), int(rng.integers(-1, 4)))
