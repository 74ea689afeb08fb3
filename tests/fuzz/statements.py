"""Random NumPy functions: statements over arrays and numbers of all dtypes, views, masks, loops and branches.

A program is plain source text and the types of its arguments, so that a failing one can be kept as a regression test.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numpy as np

from tests.fuzz.arguments import DTYPES, SIZES, choose, make
from tests.fuzz.expressions import COMPARISONS, Unknown
from tests.fuzz.operations import Operations

HELPERS = (
    "def helper(u, v):\n    return u * 2 - v\n",
    "def helper(u, v):\n    if np.ndim(v) == 0:\n        return np.maximum(u, v)\n    return np.where(u < v, u, v)\n",
    "def helper(u, v):\n    w = u + v\n    w[1:] = w[:-1]\n    return w\n",
    "def scaled(u, v):\n    total = u.sum()\n    return u - total * v\n",
)

CHANGES = (
    "def changes(u, k):\n    u += 1\n    return k\n",
    "def changes(u, k):\n    for i in range(len(u)):\n        u[i] = u[i] * 2\n    return k\n",
    "def changes(u, k):\n    if k > 1:\n        u[0] = k\n    return k\n",
)
"""Functions that store into what they are given."""


class Statements(Operations):
    """Writes one function, statement by statement; what it has written runs on the first arguments."""

    def __init__(self, rng: random.Random, wide: bool, dtypes: tuple[str, ...] = DTYPES) -> None:
        super().__init__(rng, rng.random() < 0.25, wide)
        self.parameters = choose(rng, dtypes)
        self.lines: list[str] = []
        self.depth, self.fresh_names, self.loops = 1, 0, 0
        self.locked: set[str] = set()  # names that a loop around goes over: not to be bound anew
        self.before = [h for h in HELPERS if rng.random() < 0.15]
        if rng.random() < 0.2:
            self.before.append(rng.choice(CHANGES))
        for h in self.before:
            exec(h, self.space)
        for p, value in zip(self.parameters, make(self.parameters, SIZES[0], 1), strict=True):
            self.space[p.name] = value
            if p.is_array:
                self.arrays[p.name] = p.dims
            else:
                self.scalars.append(p.name)

    # --- the text

    def emit(self, text: str) -> None:
        self.lines.append("    " * self.depth + text)

    def name(self) -> str:
        self.fresh_names += 1
        return f"v{self.fresh_names}"

    def run(self, text: str) -> bool:
        """Emit a statement, if NumPy runs it on the first arguments."""
        changed = {k: (v.copy() if isinstance(v, np.ndarray) else v) for k, v in self.space.items()}
        try:
            exec(text, self.space)
        except Exception:
            for k, v in changed.items():
                if isinstance(v, np.ndarray) and isinstance(self.space.get(k), np.ndarray):
                    if self.space[k].shape == v.shape and self.space[k].flags.writeable:
                        self.space[k][...] = v
            return False
        self.emit(text)
        return True

    def target(self) -> str:
        """An array to store into."""
        return self.random.choice(list(self.arrays))

    def place(self, name: str, scalar: bool = False) -> tuple[str, tuple[str, ...]]:
        """A subscript of an array, and the dims of what it selects."""
        parts, dims = [], []
        for d in self.arrays[name]:
            if scalar or self.chance(0.4):
                parts.append(self.index(d))
                continue
            wanted = self.random.choice((d, d, *((f"{d}-1", f"{d}-2", f"{d}/2") if d in ("n", "m", "l") else ())))
            parts.append(self.random.choice(self.slices(d, wanted)))
            dims.append(wanted)
        return f"{name}[{', '.join(parts)}]", tuple(dims)

    # --- statements

    def block(self, count: int) -> None:
        written = len(self.lines)
        for _ in range(count):
            self.statement()
        if len(self.lines) == written:
            self.emit("pass")

    def choices(self) -> list[tuple[int, Callable[[], None]]]:
        """What a statement may be, with weights."""
        return [
            (10, self.bind), (5, self.bind_number), (8, self.store), (6, self.augment), (5, self.masked),
            (3, self.scatter), (3, self.view), (9 if self.loops < 2 else 0, self.loop), (4, self.branch),
            (2 if self.loops < 1 else 0, self.while_loop), (2, self.filtered), (1, self.swap), (1, self.method),
            (2, self.together), (3 if "changes" in self.space else 0, self.beside),
            (2 if not self.loops else 0, self.collect), (1, self.check),
            (2, self.walk if self.loops < 2 else self.store),
        ]  # fmt: skip

    def statement(self) -> None:
        choices = self.choices()
        weights = [w for w, _ in choices]
        pick = self.random.randrange(sum(weights))
        for weight, one in choices:
            pick -= weight
            if pick < 0:
                with suppress(Unknown):
                    one()
                return

    def dims(self) -> tuple[str, ...]:
        known = list(self.arrays.values())
        return self.random.choice([*known, *known, ("n",), ("n", "m"), ("n-1",)])

    def bind(self) -> None:
        dims = self.dims()
        text = self.array(dims, 2)
        again = [n for n, d in self.arrays.items() if d == dims and n not in self.locked]
        name = self.name()
        if again and self.chance(0.25):
            candidate = self.random.choice(again)
            value = self.value(text)
            if value is not None and value.dtype == self.space[candidate].dtype:
                name = candidate
        if text.isidentifier() and self.chance(0.7):
            text += self.random.choice((".copy()", " + 1", " * 2"))
        if self.run(f"{name} = {text}") and name not in self.arrays:
            self.arrays[name] = dims

    def bind_number(self) -> None:
        text, name = self.scalar(2), self.name()
        mine = [s for s in self.scalars if s.startswith("v")]
        if mine and self.chance(0.4):
            name = self.random.choice(mine)
            if type(self.value(text)) is not type(self.space[name]):
                return
        if self.run(f"{name} = {text}") and name not in self.scalars:
            self.scalars.append(name)

    def store(self) -> None:
        name = self.target()
        where, dims = self.place(name, scalar=bool(self.indices) and self.chance(0.7))
        value = self.operand(dims, 2) if dims else self.scalar(2)
        if self.kind(name) in "iu" and self.kind(value) == "f":
            value = f"np.clip(np.nan_to_num({value}), 0, 50)"
        self.run(f"{where} = {value}")

    def augment(self) -> None:
        name = self.target()
        if self.chance(0.4):
            where, dims = name, self.arrays[name]
        else:
            where, dims = self.place(name, scalar=bool(self.indices) and self.chance(0.7))
        value = self.operand(dims, 1) if dims else self.scalar(1)
        op = self.random.choice(("+=", "-=", "*=", "+=", "-=", "*=", "//=", "%=", "/=", "&=", "|=", "^="))
        self.run(f"{where} {op} {value}")

    def masked(self) -> None:
        name = self.target()
        dims = self.arrays[name]
        mask = self.mask(dims, 1)
        if self.chance(0.6):
            self.run(f"{name}[{mask}] {self.random.choice(('=', '=', '+=', '*='))} {self.scalar(1)}")
        elif mask.isidentifier():
            self.run(f"{name}[{mask}] = {self.array(dims, 1)}[{mask}]")
        else:
            held = self.name()
            if self.run(f"{held} = {mask}"):
                self.arrays[held] = dims
                value = self.array(dims, 0)
                self.run(f"{name}[{held}] {self.random.choice(('=', '+=', '-='))} {value}[{held}]")

    def scatter(self) -> None:
        name = self.target()
        first, *rest = self.arrays[name]
        along = self.random.choice(("n", "m"))
        if rest:
            return
        positions = self.positions((along,), first)
        match self.random.randrange(4):
            case 0:
                self.run(f"np.add.at({name}, {positions}, {self.operand((along,), 1)})")
            case 1:
                self.run(f"{name}[{positions}] {self.random.choice(('+=', '-=', '*='))} {self.operand((along,), 1)}")
            case _:
                self.run(f"{name}[{positions}] = {self.operand((along,), 1)}")

    def view(self) -> None:
        name, made = self.target(), self.name()
        where, dims = self.place(name)
        if dims and self.run(f"{made} = {where}"):
            self.arrays[made] = dims
            if self.chance(0.5):
                self.run(f"{made}{self.random.choice(('[...] =', ' +=', ' *=', '[:] ='))} {self.operand(dims, 1)}")

    def filtered(self) -> None:
        """Sums and sizes of what a mask keeps."""
        name, dims = self.target(), self.arrays[self.target()]
        dims = self.arrays[name]
        made, mask = self.name(), self.mask(dims, 1)
        how = self.random.choice(("sum()", "size", "max()", "mean()", "min()", "any()"))
        if self.chance(0.7):
            if self.run(f"{made} = {name}[{mask}].{how}"):
                self.scalars.append(made)
            return
        if len(dims) == 1 and not self.loops and self.run(f"{made} = {name}[{mask}]"):
            own = f"d{self.fresh_names}"
            self.sizes[own] = len(self.space[made])
            self.arrays[made] = (own,)

    def swap(self) -> None:
        names = [n for n in self.arrays if n not in self.locked]
        pairs = [(a, b) for a in names for b in names if a < b and self.arrays[a] == self.arrays[b]]
        pairs = [(a, b) for a, b in pairs if self.space[a].dtype == self.space[b].dtype]
        if pairs:
            one, two = self.random.choice(pairs)
            self.run(f"{one}, {two} = {two}, {one}")

    def together(self) -> None:
        """``a[m], b[k] = f(b), g(a)``: all values stand before the first store."""
        first = self.target()
        dims = self.arrays[first]
        second = self.random.choice([n for n, d in self.arrays.items() if d == dims])
        mask = self.mask(dims, 0) if self.chance(0.5) else self.positions(("n",), dims[0])
        mask = mask if self.chance(0.7) else "..."
        values = [self.random.choice((self.array(dims, 1), first, second)) for _ in range(2)]
        if self.chance(0.3):
            self.run(f"{first}[{mask}], {second}[{mask}] = {', '.join(f'({v}) * 1' for v in values)}")
        self.run(f"{first}[{mask}], {second}[{mask}] = {', '.join(f'({v})[{mask}]' for v in values)}")

    def beside(self) -> None:
        """``a * 2 + changes(a, 1)``: what stands beside the call was read before it."""
        name, made = self.target(), self.name()
        dims = self.arrays[name]
        change = f"changes({name}, {self.random.choice(('1', '2', '3.0', self.element()))})"
        value = self.random.choice((f"{name} * 2", self.array(dims, 1)))
        match self.random.randrange(4):
            case 0:
                if self.run(f"{made} = {value} + {change}"):
                    self.arrays[made] = dims
            case 1:
                if self.run(f"{made}, _ = {value} * 1, {change}"):
                    self.arrays[made] = dims
            case 2:
                if self.run(f"{made} = ({value}).sum() + {change} * {self.element()}"):
                    self.scalars.append(made)
            case _:
                self.run(f"{name}[...] = ({value} * 1) * {change}")

    def method(self) -> None:
        name = self.target()
        match self.random.randrange(5):
            case 0:
                self.run(f"{name}.sort()")
            case 1:
                self.run(f"{name}.fill({self.scalar(0)})")
            case 2:
                self.run(f"np.copyto({name}, {self.operand(self.arrays[name], 1)}, casting='same_kind')")
            case 3:
                self.run(f"np.add({name}, {self.operand(self.arrays[name], 1)}, out={name})")
            case _:
                self.run(f"np.multiply({name}, {self.operand(self.arrays[name], 1)}, out={name})")

    def check(self) -> None:
        condition = self.condition(1)
        if self.chance(0.5):
            self.emit(f"if {condition}:")
            self.emit(f"    raise ValueError({self.random.choice(('', repr('not so')))})")
        else:
            self.emit(f"assert {condition}" + self.random.choice(("", ", 'wrong'")))

    def collect(self) -> None:
        """A comprehension of constant length, or a list that grows."""
        made, held = self.name(), self.name()
        i = f"i{self.fresh_names}"
        self.indices[i] = {"3"} | {"n"}
        self.space[i] = 1
        value = self.scalar(1)
        del self.indices[i]
        length = self.random.choice(("3", self.size("n")))
        name = self.random.choice(list(self.arrays))
        if self.chance(0.5):
            self.run(f"{made} = [{value} for {i} in range({length})]")
        elif len(self.arrays[name]) == 1:
            self.run(f"{made} = np.array([{held} * 2 for {held} in {name}])")

    # --- loops and branches

    def scope(self) -> tuple[Any, ...]:
        return dict(self.arrays), list(self.scalars), {k: set(v) for k, v in self.indices.items()}, set(self.locked)

    def restore(self, saved: tuple[Any, ...]) -> None:
        self.arrays, self.scalars, self.indices, self.locked = (
            dict(saved[0]), list(saved[1]), {k: set(v) for k, v in saved[2].items()}, set(saved[3])
        )  # fmt: skip

    def loop(self) -> None:
        r, saved = self.random, self.scope()
        dim = r.choice([d for dims in self.arrays.values() for d in dims if d in ("n", "m", "l")])
        size, i = self.size(dim), f"i{self.fresh_names}"
        self.fresh_names += 1
        below, start = {dim}, 0
        outer = [v for v, b in self.indices.items() if dim in b]
        match r.randrange(10):
            case 0 | 1 | 2:
                text = f"range({size})"
            case 3:
                text, start = f"range(1, {size})", 1
            case 4:
                text, below = f"range({size} - 1)", {dim, f"{dim}-1"}
            case 5:
                text, start = f"range({size} - 1, {r.choice(('-1', '0'))}, -1)", self.sizes[dim] - 1
            case 6:
                text = f"range({r.choice(('0', '1'))}, {size}, 2)"
                start = int(text[6])
            case 7 if outer:
                o = r.choice(outer)
                text = r.choice((f"range({o}, {size})", f"range({o} + 1)"))
                start = self.space[o] if "," in text else 0
            case 8:
                text, start = f"range({size} // 2)", 0
            case _:
                text = "range(2)"
        self.carried()
        saved = (dict(self.arrays), list(self.scalars), saved[2], saved[3])
        self.emit(f"for {i} in {text}:")
        self.space[i] = start
        self.indices[i] = below
        self._body(saved, i, dim)

    def carried(self) -> None:
        """A number that the loop may carry."""
        if self.chance(0.5):
            name = self.name()
            if self.run(f"{name} = {self.random.choice(('0.0', '0', '1.0', self.element(), '0.0'))}"):
                self.scalars.append(name)

    def _body(self, saved: tuple[Any, ...], i: str, dim: str) -> None:
        r = self.random
        self.depth += 1
        self.loops += 1
        mine = [s for s in self.scalars if s.startswith("v")]
        at = len(self.lines)
        for _ in range(r.randrange(1, 3)):
            with suppress(Unknown):
                self._step(mine, i, dim)
        if len(self.lines) == at:
            self.emit("pass")
        self.depth -= 1
        self.loops -= 1
        self.restore(saved)

    def _step(self, mine: list[str], i: str, dim: str) -> None:
        r = self.random
        match r.randrange(9):
            case 0 | 1 if mine:
                s = r.choice(mine)
                value = self.scalar(1)
                if self.chance(0.6):
                    self.run(f"{s} {r.choice(('+=', '-=', '*='))} {value}" if self._small(s, value) else f"{s} = {s}")
                else:
                    self.run(f"{s} = {s} {r.choice(('+', '-'))} {value}" if self._small(s, value) else f"{s} = {s}")
            case 2 | 3:
                name = self.target()
                where, _ = self.place(name, scalar=True)
                self.run(f"{where} {r.choice(('=', '=', '+=', '-=', '*='))} {self._whole(name, self.scalar(2))}")
            case 4:
                rows = [n for n, d in self.arrays.items() if len(d) == 2 and d[0] == dim and i in self.indices]
                if rows:
                    name = r.choice(rows)
                    value = self._whole(name, self.operand(self.arrays[name][1:], 1))
                    self.run(f"{name}[{i}] {r.choice(('=', '+=', '-='))} {value}")
            case 5:
                self.emit(f"if {self.condition(1)}:")
                self.emit(f"    {r.choice(('continue', 'break'))}")
                self.store()
            case 6 if mine:
                s, value = r.choice(mine), self.scalar(0)
                if type(self.value(value)) is type(self.space[s]):
                    self.emit(f"if {value} {r.choice(COMPARISONS)} {s}:")
                    self.emit(f"    {s} = {value}")
            case _:
                self.statement()

    def _small(self, name: str, value: str) -> bool:
        """Python's integers must stay within 64 bits: nothing is multiplied again and again."""
        mine, other = self.space[name], self.value(value)
        return not (isinstance(mine, int) or isinstance(other, int)) or (
            isinstance(other, (int, float)) and not isinstance(mine, int)
        ) or (type(mine) is int and type(other) is int and abs(other) < 100)  # fmt: skip

    def _whole(self, name: str, value: str) -> str:
        if self.kind(name) in "iu" and self.kind(value) == "f":
            return f"np.clip(np.nan_to_num({value}), 0, 50)"
        return value

    def walk(self) -> None:
        """A loop over arrays themselves."""
        r, saved = self.random, self.scope()
        name = r.choice(list(self.arrays))
        dim, rest = self.arrays[name][0], self.arrays[name][1:]
        if not len(self.space[name]):
            return
        self.carried()
        saved = (dict(self.arrays), list(self.scalars), saved[2], saved[3])
        element, i = self.name(), f"i{self.fresh_names}"
        self.space[element], self.space[i] = self.space[name][0], 0
        if r.random() < 0.4:
            self.emit(f"for {i}, {element} in enumerate({name}):")
            self.indices[i] = {dim}
        else:
            others = [n for n, d in self.arrays.items() if d == (dim,)]
            if others and self.chance(0.4):
                two, other = r.choice(others), self.name()
                self.space[other] = self.space[two][0]
                self.emit(f"for {element}, {other} in zip({name}, {two}):")
                self.scalars.append(other)
            else:
                self.emit(f"for {element} in {name}:")
        if rest:
            self.arrays[element] = rest
        else:
            self.scalars.append(element)
        self.locked |= {element, name}
        self._body(saved, i, dim)

    def while_loop(self) -> None:
        saved, c = self.scope(), self.name()
        dim = self.random.choice(("n", "m"))
        if not any(dim in d for d in self.arrays.values()):
            return
        condition = f"{c} < {self.size(dim)}"
        if self.chance(0.4):
            condition += f" and {self.condition(0)}"
        self.emit(f"{c} = 0")
        self.space[c] = 0
        self.emit(f"while {condition}:")
        self.indices[c] = {dim}
        self.depth += 1
        self.loops += 1
        self.block(self.random.randrange(1, 3))
        self.emit(f"{c} += {self.random.choice(('1', '1', '2'))}")
        self.depth -= 1
        self.loops -= 1
        self.restore(saved)

    def branch(self) -> None:
        saved = self.scope()
        self.emit(f"if {self.condition(1)}:")
        self.depth += 1
        self.block(self.random.randrange(1, 3))
        self.depth -= 1
        self.restore(saved)
        if self.chance(0.5):
            self.emit("else:")
            self.depth += 1
            self.block(self.random.randrange(1, 3))
            self.depth -= 1
            self.restore(saved)
