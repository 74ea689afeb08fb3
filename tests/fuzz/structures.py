"""Statements as public code has them beyond `statements`: filters by name, lists, dicts, searches, early returns."""

from __future__ import annotations

import random
from collections.abc import Callable
from contextlib import suppress

import numpy as np

from tests.fuzz.arguments import DTYPES
from tests.fuzz.expressions import COMPARISONS, Unknown
from tests.fuzz.statements import Statements
from tests.fuzz.templates import WRITES_OF_LINES, WRITES_OF_MATRICES

WIDE_HELPERS = (
    "def by_two(u, v, by=2, *, shift=0):\n    return u * by - v + shift\n",
    "def early(u, v, limit=1.5):\n    if u.sum() > limit:\n        return u - v\n    w = u * v\n    return w\n",
    "def kept(u, v, above=0):\n    m = u > above\n    if not m.any():\n        return u * v\n"
    "    return np.where(m, u, v)\n",
    "def stepped(u, v, steps=2):\n    for _ in range(steps):\n        u = np.maximum(u, v) - 1\n    return u\n",
    "def pair(u, v):\n    return u + v, u - v\n\n\ndef by_pair(u, v, first=True):\n    one, two = pair(u, v)\n"
    "    return one if first else two\n",
)
KEYWORDS = {"by_two": ("by=3", "shift=1", "by=0.5, shift=-1"), "early": ("limit=0",), "kept": ("above=1",),
            "stepped": ("steps=3", "steps=0"), "by_pair": ("first=False",)}  # fmt: skip


class Structures(Statements):
    """Adds these statements to `wide` programs."""

    def __init__(self, rng: random.Random, share: float, dtypes: tuple[str, ...] = DTYPES) -> None:
        """`share`: how many of the programs are wide."""
        super().__init__(rng, rng.random() < share, dtypes)
        self.returned: list[str] = []  # what an early return hands back, and so the last one
        if self.wide:
            chosen = [h for h in WIDE_HELPERS if rng.random() < 0.12]
            self.before += chosen
            for h in chosen:
                exec(h, self.space)

    def choices(self) -> list[tuple[int, Callable[[], None]]]:
        found = super().choices()
        if not self.wide:
            return found
        return [
            *found, (8 if not self.loops else 1, self.bind_free), (3, self.several), (3, self.grown),
            (2, self.container),
            (2 if self.loops < 2 else 0, self.over), (2 if self.loops < 1 else 0, self.search), (2, self.chosen),
            (3, self.write), (1, self.early), (2, self.bind_number), (1 if self.loops < 1 else 0, self.shrinking),
            (1, self.attempt), (1 if self.loops < 2 else 0, self.loop_with_else),
        ]  # fmt: skip

    def helper(self, dims: tuple[str, ...]) -> str:
        found = [n for n in KEYWORDS if n in self.space]
        if not found or self.chance(0.2):
            return super().helper(dims)
        name = self.random.choice(found)
        keywords = "" if self.chance(0.4) else ", " + self.random.choice(KEYWORDS[name])
        return f"{name}({self.array(dims, 1)}, {self.operand(dims, 0)}{keywords})"

    def remember(self, name: str) -> None:
        """Each axis of an array gets a size of its own: what else has as many elements is chance."""
        value = self.space[name]
        made = []
        for k, size in enumerate(value.shape):
            own = f"d{self.fresh_names}{'ijk'[k]}"
            self.sizes[own] = size
            made.append(own)
        self.arrays[name] = tuple(made)

    def usable(self, value: object) -> bool:
        return isinstance(value, np.ndarray) and 1 <= value.ndim <= 2 and self.known(value.dtype) and value.size < 200

    # --- arrays of any size

    def bind_free(self) -> None:
        for _ in range(3):
            text, name = self.free(), self.name()
            if self.usable(self.value(text)) and self.run(f"{name} = {text}"):
                self.remember(name)
                return

    def several(self) -> None:
        """A statement that binds more than one name."""
        r = self.random
        x, _ = self._line()
        one, two = self.name(), self.name()
        matrices = [n for n, d in self.arrays.items() if len(d) == 2]
        texts = [f"{one}, {two} = np.unique({x}, return_{r.choice(('counts', 'inverse', 'index'))}=True)",
                 f"{one}, {two} = {x}.max(), {x}.argmax()", f"{one}, {two} = {x}[:2], {x}[2:]",
                 f"{one}, {two} = divmod({x}, 2)", f"{one}, {two} = np.histogram({x}, bins=3, range=(-4, 4))",
                 f"{one}, *{two} = {x}.min(), {x}.max(), {x}[0]", f"{one}, {two} = np.split({x}, [2])",
                 f"{one} = {two} = {x} + 1", f"{one}, {two} = {self.free(0)}, {x}.size"]  # fmt: skip
        if matrices:
            a = r.choice(matrices)
            texts += [f"{one}, {two} = {a}.shape", f"{one}, {two} = np.nonzero({self.mask(self.arrays[a], 0)})",
                      f"{one}, {two} = np.where({a} > {self.scalar(0)})", f"{one}, {two} = {a}[0], {a}[:, 0]",
                      f"{one}, {two} = np.unravel_index({a}.argmax(), {a}.shape)"]  # fmt: skip
        if self.run(r.choice(texts)):
            for name in (one, two):
                value = self.space[name]
                if self.usable(value):
                    self.remember(name)
                elif isinstance(value, (int, float, np.generic)) and not isinstance(value, np.longdouble):
                    self.scalars.append(name)

    # --- lists and dicts

    def grown(self) -> None:
        """A list to which a loop appends, and what is made of it."""
        r, made, i = self.random, self.name(), f"i{self.fresh_names}"
        x, (dim,) = self._line()
        if not x.isidentifier() or (self.loops and self.chance(0.6)):
            return
        self.run(f"{made} = []")
        saved = self.scope()
        element = self.name()
        self.space[i], self.space[element] = 0, self.space[x][0] if len(self.space[x]) else 0
        if self.chance(0.5):
            self.emit(f"for {element} in {x}:")
            self.scalars.append(element)
        else:
            self.emit(f"for {i} in range({self.size(dim)}):")
            self.indices[i] = {dim}
        self.depth += 1
        self.loops += 1
        value = f"float({self.scalar(1)})" if self.chance(0.5) else self.scalar(1)
        match r.randrange(4):
            case 0:
                self.emit(f"if {self.condition(0)}:")
                self.emit(f"    {made}.append({value})")
            case 1:
                self.emit(f"if {self.condition(0)}:")
                self.emit(f"    {r.choice(('continue', 'break', 'continue'))}")
                self.emit(f"{made}.append({value})")
            case 2:
                self.emit(f"if len({made}) == 0 or {value} {r.choice(COMPARISONS)} {made}[-1]:")
                self.emit(f"    {made}.append({value})")
            case _:
                self.emit(f"{made}.append({value})")
        self.depth -= 1
        self.loops -= 1
        first = self.value(value)
        self.restore(saved)
        if isinstance(first, np.generic) and first.dtype.kind not in "biuf":
            return
        self.space[made] = [first] * 3
        name = self.name()
        how = r.choice(("np.array({0}, dtype=np.float64)", "len({0})", "float(sum({0}))",
                        "np.array({0}, dtype=float) * 2", "sorted({0})", "np.sum({0})",
                        "{0}[::-1]", f"{x}[:len({{0}})]", "np.arange(len({0}))",
                        "[v + 1 for v in {0}]", "np.array([v for v in {0} if v > 0], dtype=float)",
                        "{0}[-1] if {0} else 0.0" if value.startswith("float(") else "len({0}) * 2",
                        "sum(v > 0 for v in {0})", "np.array({0})"))  # fmt: skip
        if self.run(f"{name} = {how.format(made)}"):
            if self.usable(self.space[name]):
                self.remember(name)
            elif isinstance(self.space[name], (int, float, np.generic)):
                self.scalars.append(name)
            if self.chance(0.7):  # what was made of it stays as it is
                change = r.choice(("{0}.append({0}[0])", "{0}.pop()", "{0}.extend({0}[:2])", "{0}.insert(0, {0}[-1])"))
                self.emit(f"if {made}:")
                self.emit(f"    {change.format(made)}")

    def container(self) -> None:
        """Arrays in a dict, a tuple or a list, and a loop over them."""
        r, held = self.random, self.name()
        dims = self.dims()
        one, two = self.array(dims, 1), self.array(dims, 1)
        item = self.name()
        match r.randrange(5):
            case 0:
                if self.run(f"{held} = {{'one': {one}, 'two': {two}}}"):
                    key, op = r.choice(("one", "two")), r.choice(("=", "+=", "*="))
                    self.run(f"{held}['{key}'] {op} {self.operand(dims, 1)}")
                    what = r.choice(("{0}['one'] + {0}['two']", "{0}['one']")).format(held)
                    if self.run(f"{item} = {what}") and self.fits(item, dims):
                        self.arrays[item] = dims
            case 1:
                other = self.name()
                if self.run(f"{held} = {r.choice(('({0}, {1})', '[{0}, {1}]')).format(one, two)}"):
                    if self.run(f"{item}, {other} = {held}") and self.fits(item, dims) and self.fits(other, dims):
                        self.arrays[item] = self.arrays[other] = dims
            case 2:
                names = [n for n, d in self.arrays.items() if d == dims]
                if names and self.run(f"{held} = {self.scalar(0)}"):
                    if type(self.space[held]) is not float:
                        self.run(f"{held} = 0.0")
                    chosen = [r.choice(names) for _ in range(2)]
                    self.emit(f"for {item} in ({', '.join(chosen)}):")
                    self.emit(f"    {held} += {r.choice(('float({0}.sum())', 'float({0}[0].sum())')).format(item)}")
                    self.scalars.append(held)
            case 3:
                if self.run(f"{held} = [{one} {r.choice('+-*')} j for j in range(3)]"):
                    how = r.choice(("sum({0})", "{0}[0] + {0}[-1]", "np.stack({0})", "np.array({0})"))
                    self.run(f"{item} = {how.format(held)}")
                    if self.usable(self.space.get(item)):
                        self.remember(item)
            case _:
                if self.run(f"{held} = {{'a': 0, 'b': {self.scalar(0)}}}"):
                    dim = r.choice([d for d in self.arrays.values() if len(d) == 1])[0]
                    self.emit(f"for j in range({self.size(dim)}):")
                    self.emit(f"    {held}['a'] += {r.choice(('1', 'j', 'j % 3'))}")
                    if self.run(f"{item} = {held}['a'] + {held}['b']"):
                        self.scalars.append(item)

    # --- loops

    def over(self) -> None:
        """A loop over something that is not a range."""
        r, saved = self.random, self.scope()
        x, (dim,) = self._line()
        same = self.array((dim,), 0)
        i, u, w = self.name(), self.name(), self.name()
        self.carried()
        saved = (dict(self.arrays), list(self.scalars), saved[2], saved[3])
        heads: tuple[tuple[str, tuple[str, ...], str], ...] = (
            (f"for {u} in reversed({x}):", (u,), ""),
            (f"for {u} in {x}[::-1]:", (u,), ""),
            (f"for {u}, {w} in zip({x}, {same}):", (u, w), ""),
            (f"for {u}, {w} in zip({x}[:-1], {x}[1:]):", (u, w), ""),
            (f"for {i}, ({u}, {w}) in enumerate(zip({x}, {same})):", (u, w), i),
            (f"for {i}, {u} in enumerate({x}[1:]):", (u,), i),
            (f"for {i}, {u} in enumerate({x}, 1):", (u,), ""),
            (f"for {i} in reversed(range({self.size(dim)})):", (), i),
            (f"for {i} in np.argsort({x}, kind='stable')[::-1]:", (), i),
            (f"for {i} in np.where({self.mask((dim,), 0)})[0]:", (), i),
            (f"for {i} in np.flatnonzero({self.mask((dim,), 0)}):", (), i),
            (f"for {u} in {x}[{self.mask((dim,), 0)}]:", (u,), ""),
            (f"for {u} in np.unique({x}):", (u,), ""),
            (f"for {u} in (1, 2, 4):", (u,), ""),
            (f"for {u} in np.sort({x})[:3]:", (u,), ""),
        )
        head, elements, at = r.choice(heads)
        if not len(self.space.get(x, (0,)) if x.isidentifier() else (0,)):
            return
        value = self.value(f"{x}[0]")
        if value is None:
            return
        for name in elements:
            self.space[name] = 1 if "(1, 2" in head else value
        self.emit(head)
        self.scalars += elements
        if at:
            self.space[at] = np.int64(0) if "np." in head else 0
            self.indices[at] = {dim}
        self.locked |= {x, same, *elements}
        self._body(saved, at or i, dim)

    def search(self) -> None:
        """A `while` loop that ends by what it finds: halving, two ends, Newton's iteration."""
        r = self.random
        x, (dim,) = self._line()
        low, high, middle = self.name(), self.name(), self.name()
        size, number = self.size(dim), self.scalar(0)
        match r.randrange(6):
            case 0:
                if not self.run(f"{low}, {high} = 0, {size}"):
                    return
                lines = (f"while {low} < {high}:", f"    {middle} = ({low} + {high}) // 2",
                         f"    if {x}[{middle}] < {number}:", f"        {low} = {middle} + 1",
                         "    else:", f"        {high} = {middle}")  # fmt: skip
            case 1:
                if not self.run(f"{low}, {high} = 0, {size} - 1"):
                    return
                lines = (f"while {low} < {high}:", f"    if {x}[{low}] {r.choice(COMPARISONS)} {x}[{high}]:",
                         f"        {low} += 1", "    else:", f"        {high} -= 1")  # fmt: skip
            case 2:
                if not self.run(f"{low}, {high} = 0, float({number})"):
                    return
                lines = (f"while abs({high}) > 1 and {low} < 20:", f"    {high} = {high} / 2", f"    {low} += 1")
            case 3:
                if not self.run(f"{low}, {high} = 0, 0"):
                    return
                lines = ("while True:", f"    if {low} >= {size}:", "        break",
                         f"    if {x}[{low}] {r.choice(COMPARISONS)} {number}:", f"        {high} += 1",
                         f"    {low} += 1")  # fmt: skip
            case 4:
                if not self.run(f"{low}, {high} = 0, 0"):
                    return
                lines = (f"while {low} < {size} and {x}[{low}] {r.choice(COMPARISONS)} {number}:",
                         f"    {high} = {low}", f"    {low} += 1")  # fmt: skip
            case _:
                names = [n for n, d in self.arrays.items() if d == (dim,) and self.kind(n) == "f"]
                if not names or not self.run(f"{low}, {high} = 0, 0"):
                    return
                name = r.choice(names)
                lines = (f"while np.abs({name}).max() > 1 and {low} < 4:", f"    {name}[...] = {name} / 2",
                         f"    {low} += 1")  # fmt: skip
        for line in lines:
            self.emit(line)
        self.scalars += [low, high] if "float(" not in self.lines[-len(lines) - 1] else [low]

    def shrinking(self) -> None:
        """An array from which each iteration keeps a part."""
        r = self.random
        x, (dim,) = self._line()
        if not x.isidentifier():
            return
        kept, left, i = self.name(), self.name(), self.name()
        test = r.choice((f"np.abs({x}[{left}] - {x}[{i}]) > {r.choice(('0.5', '1', '2'))}",
                         f"{x}[{left}] {r.choice(('<', '<=', '!='))} {x}[{i}]"))  # fmt: skip
        first = r.choice((f"np.argsort({x}, kind='stable')", f"np.arange({self.size(dim)})",
                          f"np.flatnonzero({x} > 0)"))
        lines = (f"{left} = {first}", f"{kept} = []",
            f"while {r.choice(('len({0}) > 0', '{0}.size > 0', '{0}.size')).format(left)}:",
                 f"    {i} = {left}[0]", f"    {kept}.append({r.choice(('{0}', 'int({0})')).format(i)})",
                     f"    {left} = {left}[1:]",
                 f"    {left} = {left}[{test}]")  # fmt: skip
        for line in lines:
            self.emit(line)
        self.space[kept] = [0, 1]
        made = self.name()
        if self.run(f"{made} = " + r.choice(("np.array({0}, dtype=np.int64)", "len({0})",
                                             "{1}[np.array({0}, dtype=int)]")).format(kept, x)):
            if self.usable(self.space[made]):
                self.remember(made)
            else:
                self.scalars.append(made)

    def loop_with_else(self) -> None:
        r = self.random
        x, (dim,) = self._line()
        found, i = self.name(), self.name()
        if self.run(f"{found} = 0"):
            self.emit(f"for {i} in range({self.size(dim)}):")
            self.emit(f"    if {x}[{i}] {r.choice(COMPARISONS)} {self.scalar(0)}:")
            self.emit(f"        {found} = {i}")
            self.emit("        break")
            if self.chance(0.6):
                self.emit("else:")
                self.emit(f"    {found} = -1")
            self.scalars.append(found)

    # --- choices and stores

    def chosen(self) -> None:
        """A conditional expression of arrays, or a number that branches bind."""
        r, name = self.random, self.name()
        dims = self.dims()
        if self.chance(0.5):
            one, two = self.array(dims, 1), self.array(dims, 1)
            values = self.value(one), self.value(two)
            if all(isinstance(v, np.ndarray) for v in values) and values[0].dtype == values[1].dtype:
                if self.run(f"{name} = {one} if {self.condition(1)} else {two}"):
                    self.arrays[name] = dims
            return
        one, two = self.alike(1)
        saved = len(self.lines)
        self.emit(f"if {self.condition(1)}:")
        self.depth += 1
        ok = self.run(f"{name} = {one}")
        self.depth -= 1
        self.emit(r.choice(("else:", f"elif {self.condition(0)}:\n{'    ' * (self.depth + 1)}{name} = {two}\n"
                                     f"{'    ' * self.depth}else:")))  # fmt: skip
        self.depth += 1
        ok = ok and self.run(f"{name} = {two}")
        self.depth -= 1
        if ok:
            self.scalars.append(name)
        else:
            del self.lines[saved:]

    def write(self) -> None:
        """A store that is a function's: `np.put`, `np.place`, `ufunc.at`, `np.copyto` under a mask."""
        r, name = self.random, self.target()
        dims = self.arrays[name]
        mask = self.mask(dims, 0)
        value = self._whole(name, self.scalar(1))
        if len(dims) == 2:
            at = self.positions(dims[:1], dims[1])
            rows = f"np.arange({self.size(dims[0])})"
            of_rows, of_columns = self.mask(dims[:1], 0), self.mask(dims[1:], 0)
            self.run(r.choice(WRITES_OF_MATRICES).format(
                name=name, at=at, rows=rows, value=value, mask=mask, of_rows=of_rows, of_columns=of_columns
            ))  # fmt: skip
            return
        if len(dims) != 1:
            return
        at = self.positions(("n",), dims[0])
        self.run(r.choice(WRITES_OF_LINES).format(name=name, at=at, value=value, mask=mask))

    def early(self) -> None:
        """A return before the end, of names that the last return has, too."""
        if self.loops and self.chance(0.7):  # of which JAX has none
            return
        if not self.returned:
            names = [p.name for p in self.parameters] + [
                n for n in self.bound_outside() if n in self.arrays or n in self.scalars
            ]
            self.returned = list(dict.fromkeys(self.random.choice(names[-4:]) for _ in range(2)))
        if all(n in self.space for n in self.returned):
            self.emit(f"if {self.condition(1)}:")
            self.emit(f"    return {', '.join(self.returned)}")

    def bound_outside(self) -> list[str]:
        """The names that statements outside all loops and branches bind."""
        heads = [line[4:].split(" = ")[0] for line in self.lines if line.startswith("    v") and " = " in line]
        return [h for h in heads if h.isidentifier()]

    def attempt(self) -> None:
        """An exception that the function catches itself."""
        r, name = self.random, self.name()
        if self.loops or not self.run(f"{name} = 0"):
            return
        x, (dim,) = self._line()
        error, text = r.choice((
            ("IndexError", f"int(bool({x}[{self.index(dim)}] > 0))"), ("ValueError", f"int({x}.max() > 1)"),
            ("ZeroDivisionError", f"3 // int({x}.size - 7)"),
        ))  # fmt: skip
        with suppress(Unknown):
            self.emit("try:")
            self.emit(f"    {name} = {text}")
            self.emit(f"except {error}:")
            self.emit(f"    {name} = -1")
            self.scalars.append(name)
