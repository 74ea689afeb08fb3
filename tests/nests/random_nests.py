"""Random loop nests, with subscripts of many forms that stay within their arrays."""

from __future__ import annotations

import linecache
import random
from typing import Any

from tests.nests.registry import Nest

SIZES = ({"n": 0, "m": 3}, {"n": 2, "m": 2}, {"n": 3, "m": 5}, {"n": 5, "m": 4}, {"n": 8, "m": 2})


class _Writer:
    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.lines: list[str] = []
        self.scalars = 0

    def index(self, variables: list[str], wide: bool) -> str:
        """A subscript from -8 on, below 2 * (n + m) + 16; plus 8 it is within an array of twice that."""
        r = self.random
        v = r.choice(variables)
        forms = [f"{v} + {r.randint(0, 3)}", f"{v} - {r.randint(1, 2)}", v, v]
        if wide:
            forms += [f"n - 1 - {v}", f"2 * {v}", f"2 * {v} + 1", f"{v} // 2", f"{v} % 3", str(r.randint(0, 4))]
            if v == variables[0]:
                forms += [f"{v} + n", f"{v} + n // 2"]
        if len(variables) > 1 and wide:
            u = r.choice([x for x in variables if x != v])
            forms += [f"{v} + {u}", f"{v} - {u}", f"2 * {v} + {u}", f"{v} + 2 * {u} - 1"]
        return r.choice(forms)

    def place(self, name: str, variables: list[str]) -> str:
        wide = self.random.random() < 0.5
        if name == "c":
            return f"c[{self.index(variables, wide)} + 8, {self.index(variables, wide)} + 8]"
        return f"{name}[{self.index(variables, wide)} + 8]"

    def value(self, variables: list[str]) -> str:
        r = self.random
        parts = [self.place(r.choice("aabc"), variables), f"{r.randint(1, 3)}"]
        if r.random() < 0.4:
            parts.append(self.place(r.choice("abc"), variables))
        return f" {r.choice('+-')} ".join(parts)

    def condition(self, variables: list[str]) -> str:
        r = self.random
        v = r.choice(variables)
        forms = [f"{v} % 2 == 0", f"{v} < n // 2", f"{v} > {r.randint(0, 3)}", f"x[i] > {r.randint(-2, 2)}"]
        if len(variables) > 1:
            forms += [f"{variables[0]} < {variables[1]}", f"{variables[0]} != {variables[1]}"]
        return r.choice(forms)

    def statement(self, variables: list[str], depth: int) -> None:
        r, pad = self.random, "    " * depth
        kind = r.random()
        target = self.place(r.choice("aabc"), variables)
        if kind < 0.55:
            self.lines.append(f"{pad}{target} = {self.value(variables)}")
        elif kind < 0.7:
            self.lines.append(f"{pad}{target} {r.choice(['+=', '-='])} {self.value(variables)}")
        elif kind < 0.8:
            self.lines += [f"{pad}t = {self.value(variables)}", f"{pad}{target} = t"]
        elif kind < 0.9:
            self.lines += [f"{pad}if {self.condition(variables)}:", f"{pad}    {target} = {self.value(variables)}"]
        elif kind < 0.95:
            self.lines.append(f"{pad}s += {self.value(variables)}")
        else:
            self.lines += [f"{pad}if {self.condition(variables)}:", f"{pad}    t = {self.value(variables)}"]
            self.lines.append(f"{pad}{target} = t")

    def loop(self, variables: list[str], depth: int) -> None:
        r, pad = self.random, "    " * depth
        v, size = ("i", "n") if not variables else ("j", r.choice("mmn"))
        ranges = [f"range({size})", f"range({size})", f"range(1, {size})", f"range({size} - 1)", f"range(0, {size}, 2)"]
        ranges += [f"range({size} - 1, -1, -1)", f"range({size} // 2)", "range(min(n, m))"]
        if variables:
            ranges += ["range(i)", "range(i, m)", "range(i + 1)"]
        self.lines.append(f"{pad}for {v} in {r.choice(ranges)}:")
        inner = [*variables, v]
        nested = not variables and r.random() < 0.6
        if not nested or r.random() < 0.3:
            for _ in range(r.choice((1, 1, 2))):
                self.statement(inner, depth + 1)
        if nested:
            self.loop(inner, depth + 1)

    def text(self, name: str) -> str:
        self.lines = [
            "import numpy as np",
            f"def {name}(x, y):",
            "    n, m = len(x), len(y)",
            "    a = np.arange(4 * (n + m) + 32) * 1.0",
            "    b = np.arange(4 * (n + m) + 32) * -2.0",
            "    c = np.zeros((4 * (n + m) + 32, 4 * (n + m) + 32))",
            "    s = 0.0",
            "    t = 5.0",
        ]
        self.loop([], 1)
        if self.random.random() < 0.3:
            self.loop([], 1)
        self.lines.append("    return a, b, c, s" + self.random.choice(("", "", ", t")))
        return "\n".join(self.lines) + "\n"


def random_nest(seed: int) -> Nest:
    """The nest of a seed; it has no answers."""
    name = f"random_{seed}"
    text = _Writer(seed).text(name)
    space: dict[str, Any] = {"__name__": name}
    file = f"<random nest {seed}>"
    linecache.cache[file] = len(text), None, text.splitlines(keepends=True), file  # where its source is looked up
    exec(compile(text, file, "exec"), space)
    nest = Nest(space[name], "random", {"x": "float64[n]", "y": "float64[m]"}, {}, SIZES, 0.0, None)
    nest.__dict__["source"] = text
    return nest
