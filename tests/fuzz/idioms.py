"""What public code does around its arithmetic: signed zeros, captured tables and constants, functions of other modules,
tests of types, lists that stay empty, stores through views of other shapes, results in memory that is given.
"""

from __future__ import annotations

import random
from collections.abc import Callable

import numpy as np

from tests.fuzz.arguments import DTYPES
from tests.fuzz.expressions import COMPARISONS
from tests.fuzz.structures import Structures

CONSTANTS = ("SCALE = 0.5", "LIMIT = 3", "ZERO = -0.0", "FLAG = True", "SINGLE = np.float32(1.5)", "EPS = 1e-12",
             "COUNT = np.int32(2)", "FAR = float('inf')", "BIAS = np.float64(-0.0)", "HALF = np.float16(0.1)",
             "OFF = False", "LARGE = 1 << 40")  # fmt: skip
TABLES = (
    "TABLE_A = np.array([1.5, -0.0, 2.0, -3.0])", "TABLE_B = np.array([0.0, -1.0, np.inf, 0.5])",
    "EDGES = np.linspace(-2, 2, 4)", "WEIGHTS = np.array([1, 2, 4, 8])", "TURNS = np.array([-1, 0, 1, 0])",
    "SINGLES = np.array([1, 0.5, -0.0, 0.25], dtype=np.float32)", "ON = np.array([True, False, True, True])",
    "TWOS = 2.0 * np.ones(4)",
)  # fmt: skip
"""Arrays of four elements that the module holds."""

NUMBER_HELPERS = (
    "def graded(t):\n    if t > 1:\n        return 1.0\n    if t < -1:\n        return -0.0\n"
    "    if t == t:\n        return 0.0\n    raise ValueError('not a number')\n",
    "def limited(t, low=-1.0, high=2.0):\n    if t < low:\n        return low\n    if t > high:\n        return high\n"
    "    return float(t)\n",
    "def safe(t, by=2.0):\n    if by == 0 or t != t:\n        return 0.0\n    return t / by\n",
    "def signed(t):\n    return 0.0 if t > 0 else -0.0\n",
    "def parity(t):\n    if isinstance(t, float):\n        return 0.5\n    elif t % 2 == 0:\n        return 1.0\n"
    "    elif t % 2 == 1:\n        return -1.0\n    raise TypeError(f'neither')\n",
)
ARRAY_HELPERS = (
    "def by_mode(u, v, mode='sum'):\n    if mode == 'sum':\n        return u + v\n    elif mode == 'product':\n"
    "        return u * v\n    elif mode == 'least':\n        return np.minimum(u, v)\n"
    "    else:\n        raise ValueError(f'unknown mode {mode}')\n",
    "def typed(u, v):\n    if isinstance(v, np.ndarray):\n        return u - v\n    if isinstance(v, (int, float)):\n"
    "        return u * v\n    return u + v\n",
    "def by_dtype(u, v):\n    if u.dtype == float:\n        return u / 2 - v\n    elif u.dtype.kind in 'iu':\n"
    "        return u // 2 + v\n    return u * 1.0 + v\n",
    "def as_floats(u, v):\n    u = np.asarray(u)\n    if not np.issubdtype(u.dtype, np.floating):\n"
    "        u = u.astype(np.float64)\n    return np.fmin(u, v)\n",
    "def filled(u, v, out=None):\n    if out is None:\n        out = np.zeros_like(u, dtype=np.float64)\n"
    "    out[...] = u\n    out[1:] -= 1\n    return out + v\n",
    "def by_size(u, v):\n    if u.size > 10:\n        return u - v\n    elif u.size > 1:\n        return u * v\n"
    "    raise ValueError('too few')\n",
    "def by_sign(u, v):\n    if (u > 0).all():\n        return u + v\n    if np.any(u < 0):\n"
    "        return u * -0.0 + v\n    return v - u\n",
)
MODES = {"by_mode": ("mode='product'", "mode='least'", "'sum'"), "filled": ("out=None",)}
OF_TOOLS = ("tools.scale({0})", "tools.scale({0}, {1})", "tools.wrapped({0}, {1})", "tools.combined({0}, {1})",
            "tools.combined({0}, {1}, how='product')", "tools.combined({0}, {1}, 'either')",
            "tools.Scaler({1})({0})", "tools.Scaler(by=2.0).inverse({0})")  # fmt: skip
VIEWS_OF_MATRICES = (
    "{0}.ravel()", "{0}.reshape(-1)", "{0}.T", "np.ravel({0})", "np.reshape({0}, -1)", "{0}.swapaxes(0, 1)",
    "{0}.reshape({0}.shape[1], {0}.shape[0])", "{0}.T.ravel()", "{0}[::2].reshape(-1)", "{0}[:, 1:].ravel()",
    "{0}.transpose()", "{0}.T.reshape(-1)", "{0}[:, None, :]", "{0}[::-1].T", "{0}.reshape(-1, 1)", "{0}.T[1:]",
    "{0}.ravel()[1:]", "{0}[0].reshape(-1, 1)", "{0}.flatten()", "np.asarray({0})", "{0}[...]",
)  # fmt: skip
VIEWS_OF_LINES = (
    "{0}.reshape(-1, 1)", "{0}[:, None]", "{0}.reshape(1, -1)", "{0}.ravel()", "{0}[None]", "{0}.T", "np.ravel({0})",
    "np.atleast_2d({0})", "{0}[::-1].ravel()", "{0}[::2].reshape(-1, 1)", "{0}[:4].reshape(2, 2)", "np.asarray({0})",
    "{0}[:, np.newaxis].T", "np.squeeze({0}[None])", "{0}[1:].reshape(2, -1)", "{0}[:-1].reshape(-1, 2)", "{0}[...]",
)  # fmt: skip
STORES = ("{0}[0] = {1}", "{0}[...] = {1}", "{0} *= 2", "{0}[-1] += 1", "{0}[1:] = {0}[:-1]", "{0}[::2] = {1}",
          "{0}.fill({1})", "{0} += {1}", "{0}[{0} > 0] = {1}", "{0}[:] = {0}[::-1]",
          "np.add({0}, 1, out={0})")  # fmt: skip
DIRECT_STORES = (
    "{0}.ravel()[{at}] = {1}", "{0}.reshape(-1)[{at}] += 1", "{0}.T[0] = {1}", "{0}.T[{at}, 0] = {1}",
    "{0}.flat[{at}] = {1}", "{0}.reshape(-1)[::2] = {1}", "{0}.T[...] *= 2", "{0}.ravel()[1:] -= 1",
    "{0}[::2].ravel()[0] = {1}", "{0}.flatten()[0] = {1}", "{0}.reshape(-1, 1)[0, 0] = {1}",
)  # fmt: skip
INTO = (
    "np.divide({x}, {y}, out=np.zeros_like({x}, dtype=float), where={y} != 0)",
    "np.divide({x}, {y}, out=np.full({x}.shape, -0.0), where={m})",
    "np.sqrt({x}, out=np.ones({x}.shape), where={x} >= 0)", "np.multiply({x}, {t}, out={x}, where={m})",
    "np.maximum({x}, {y}, out=np.zeros_like({x}))", "np.add({x}, {y}, out={x}, where={m})",
    "np.negative({x}, out={x})", "np.abs({x}, out={x}, where={x} < 0)",
    "np.copysign({x}, {y}, out=np.zeros({x}.shape))",
    "np.subtract({x}, 1, out={y}, where={m})", "np.clip({x}, -1, 2, out={x})",
    "np.cumsum({x}, out=np.empty_like({x}))",
    "np.take({x}, [0, 0, -1], out=np.zeros(3, {x}.dtype))", "np.sum({x}, axis=0, out=np.zeros({x}.shape[1:]))",
    "np.true_divide({x}, 2, out=np.zeros({x}.shape))", "np.floor_divide({x}, 2, out={x}, where={x} > 0)",
    "np.greater({x}, {y}, out=np.zeros({x}.shape, bool))", "np.square({x}, out=np.empty({x}.shape), dtype=float)",
)  # fmt: skip
OF_LISTS = (
    "max({0}, default={1})", "min({0}, default={1})", "float(sum({0}))", "np.max({0}) if {0} else {1}",
    "np.max({0}) if len({0}) > 0 else {1}", "np.array({0})", "np.array({0}) * 2", "np.asarray({0}).size",
    "np.array({0}, dtype=np.float64)", "np.array({0}).sum()", "np.mean({0}) if {0} else 0.0",
    "sorted({0})[0] if {0} else {1}",
    "np.array({0}) > 0", "len(np.array({0}))", "np.sort(np.array({0}))", "np.array({0})[::-1]",
    "np.concatenate((x, {0}))",
    "np.sum({0})", "-np.array({0})", "np.array({0}) * -0.0", "np.array({0}) / 2", "np.cumsum({0})",
    "np.array({0}).astype(int)",
    "any(v > 1 for v in {0})", "[v * 2 for v in {0}]", "np.array({0}).shape[0]", "np.unique({0})",
    "np.array({0})[:2]",
)  # fmt: skip


class Idioms(Structures):
    """Adds these, where a program is to have them."""

    def __init__(self, rng: random.Random, share: float, idiomatic: bool) -> None:
        self.idiomatic = idiomatic
        halves = idiomatic and rng.random() < 0.12
        super().__init__(rng, share, DTYPES + ("float16",) * 6 if halves else DTYPES)
        self.halves = halves
        self.constants: list[str] = []
        self.tables: list[str] = []
        self.shown: list[str] = []  # names of arrays that nothing is to be stored into
        self.imports = ""
        if idiomatic:
            self._module()

    def _module(self) -> None:
        """What stands before the function."""
        r = self.random
        if self.chance(0.2):
            self.imports = "from tests.fuzz import tools\n"
            exec(self.imports, self.space)
        for texts, names, how_many in ((CONSTANTS, self.constants, 3), (TABLES, self.tables, 4)):
            if self.chance(0.5):
                for text in r.sample(texts, r.randrange(1, how_many)):
                    self.before.insert(0, text + "\n")
                    names.append(text.split()[0])
        self.before += [h for h in (*NUMBER_HELPERS, *ARRAY_HELPERS) if self.chance(0.07)]
        for text in self.before:
            exec(text, self.space)

    def choices(self) -> list[tuple[int, Callable[[], None]]]:
        found = super().choices()
        if not self.idiomatic:
            return found
        out = not self.loops
        return [
            *found, (3 if self.tables else 0, self.choice_of_tables), (4, self.reshaped), (3, self.into),
            (3 if out else 0, self.collected), (2, self.first_of), (2 if out else 0, self.steps), (2, self.typed),
            (2, self.keyed), (1 if out else 0, self.tried), (2, self.zeros), (1, self.over_tables),
        ]  # fmt: skip

    # --- expressions

    def zero(self) -> str:
        return self.random.choice(("-0.0", "0.0", "-0.0", "True", "1", "False", "0", "1.0", "-1", "np.float32(-0.0)"))

    def signed_zero(self, depth: int) -> str:
        one, two = self.random.choice((("0.0", "-0.0"), ("-0.0", "0.0"), ("1.0", "-0.0"), ("-0.0", "-1.0")))
        return f"({one} if {self.condition(depth)} else {two})"

    def table(self) -> str:
        """A captured array of four elements, or a choice between two."""
        r, one = self.random, self.random.choice(self.tables)
        alike = [t for t in self.tables if t != one and self.space[t].dtype == self.space[one].dtype]
        if alike and self.chance(0.4):
            return f"({one} if {self.condition(0)} else {r.choice(alike)})"
        return one

    def _array(self, dims: tuple[str, ...], depth: int) -> str:
        if not self.idiomatic or self.chance(0.82):
            return super()._array(dims, depth)
        r = self.random
        pick = r.randrange(8)
        if self.tables and pick < 3 and len(dims) == 1:
            positions = self.positions(dims, "4")
            how = r.choice(("{0}[{1}]", "{0}.take({1})", "np.interp({2}, np.sort({0}), {0})",
                            "({2}[:, None] * {0}).sum(axis=1)",
                            "np.searchsorted(np.sort({0}), {2})", "({2}[:, None] > {0}).any(axis=1)",
                            "np.take({0}, {1} % 8, mode='wrap')", "{0}[0] * {2}", "np.array({0})[{1}]"))  # fmt: skip
            return how.format(self.table(), positions, self.leaf(dims))
        if self.imports and pick < 5:
            if self.chance(0.2):
                return f"tools.looked_up({self.positions(dims, '4')})"
            return r.choice(OF_TOOLS).format(self.array(dims, depth - 1), self.operand(dims, 0))
        x = self.array(dims, depth - 1)
        match r.randrange(7):
            case 0 | 1:
                return f"({x} {r.choice(('*', '*', '+', '-', '/'))} {self.zero()})"
            case 2:
                return f"({self.zero()} {r.choice('*+-')} {x})"
            case 3:
                return f"np.where({self.mask(dims, 0)}, {self.zero()}, {r.choice((self.zero(), x))})"
            case 4:
                return f"({x} * {self.signed_zero(0)})"
            case 5:
                return r.choice(("np.copysign(1.0, {0})", "(1.0 / {0})", "np.signbit({0})", "(-{0})", "(0 - {0})",
                                 "np.maximum({0}, -0.0)", "np.minimum({0}, 0.0)", "{0}.clip(0.0, None)",
                                 "np.round({0} * 0.1)", "({0} - {0})")).format(x)  # fmt: skip
            case _:
                return self.helper(dims)

    def helper(self, dims: tuple[str, ...]) -> str:
        if self.idiomatic:
            found = [n for h in ARRAY_HELPERS if (n := h[4 : h.index("(")]) in self.space]
            if found and self.chance(0.6):
                name = self.random.choice(found)
                further = f", {self.random.choice(MODES[name])}" if name in MODES and self.chance(0.6) else ""
                return f"{name}({self.array(dims, 1)}, {self.operand(dims, 0)}{further})"
        return super().helper(dims)

    def _scalar(self, depth: int) -> str:
        if not self.idiomatic or self.chance(0.85):
            return super()._scalar(depth)
        r = self.random
        if self.constants and self.chance(0.35):
            return r.choice(self.constants)
        if self.tables and self.chance(0.35):
            known = [*(("k",) if "k" in self.scalars else ()), *self.indices]
            at = r.choice(("0", "1", "-1", *(f"{k} % 4" for k in known)))
            how = r.choice(("{0}[{1}]", "{0}[{1}]", "{0}[{1}]", "{0}.max()", "{0}.sum()", "len({0})", "{0}.argmin()"))
            return how.format(self.table(), at)
        numbers = [n for h in NUMBER_HELPERS if (n := h[4 : h.index("(")]) in self.space]
        if numbers and depth > 0 and self.chance(0.5):
            name = r.choice(numbers)
            more = {"limited": (", 0", ", high=1.0", ", -0.0, 0.0"), "safe": (", by=0", ", 4")}.get(name, ("",))
            return f"{name}({self.scalar(depth - 1)}{r.choice(more) if self.chance(0.4) else ''})"
        if self.imports and self.chance(0.5):
            how = r.choice(("tools.SCALE", "tools.LIMIT", "tools.graded({0})", "tools.TABLE[1]",
                            "tools.table({1})[0]",
                            "tools.looked_up({2})", "tools.WEIGHTS.sum()", "tools.graded({0}, limit=2)"))  # fmt: skip
            return how.format(self.scalar(0), self.condition(0), "k" if "k" in self.scalars else "2")
        if depth > 0 and self.chance(0.4):
            return self.signed_zero(depth - 1)
        return r.choice(("-0.0", "-0.0", "0.0", "True", "np.inf", "-np.inf", "float('inf')", "1e300", "np.nan",
                         "False"))  # fmt: skip

    def condition(self, depth: int) -> str:
        if self.idiomatic and self.chance(0.1):
            return self.of_types()
        return super().condition(depth)

    def of_types(self) -> str:
        """What the types of the arguments decide, or a truth of a number."""
        r = self.random
        name = r.choice(list(self.arrays))
        texts = ["{0}.dtype == float", "{0}.dtype == np.float32", "{0}.dtype.kind == 'f'",
                 "isinstance({0}, np.ndarray)",
                 "np.issubdtype({0}.dtype, np.integer)", "{0}.ndim == 1", "{0}.dtype != np.int64",
                 "{0}.dtype in (np.float64, np.int64)",
                 "{0}.size", "len({0})", "{0}.any()", "{0}.shape[0] > 4", "{0}.dtype.itemsize > 4",
                 "{0}.dtype.kind in 'iu'",
                 "np.isscalar({0})", "{0}.dtype == int", "{0}.dtype == bool", "{0} is None",
                 "hasattr({0}, 'shape')"]  # fmt: skip
        if self.scalars and self.chance(0.4):
            name = r.choice(self.scalars)
            texts = ["isinstance({0}, int)", "isinstance({0}, float)", "isinstance({0}, (int, np.integer))", "{0}",
                     "isinstance({0}, np.floating)", "np.isscalar({0})", "not {0}", "{0} == 0", "{0} == {0}",
                     "{0} is not None",
                     "isinstance({0}, bool)", "np.signbit({0})", "np.isnan({0})"]  # fmt: skip
        return r.choice(texts).format(name)

    def cast(self, text: str) -> str:
        if self.halves and self.chance(0.4):
            return f"{text}.astype({self.random.choice(('np.float16', repr('float16'), repr('f2')))})"
        return super().cast(text)

    # --- statements

    def keep(self, name: str) -> None:
        """Remember what a statement has bound."""
        value = self.space.get(name)
        if self.usable(value):
            self.remember(name)
        elif isinstance(value, (int, float, np.generic)) and not isinstance(value, np.longdouble):
            self.scalars.append(name)

    def choice_of_tables(self) -> None:
        """``t = TABLE_A if flag else TABLE_B``, also of an argument's part, and what is read from it."""
        r, t = self.random, self.name()
        one = r.choice(self.tables)
        dtype = self.space[one].dtype
        others = [c for c in self.tables if self.space[c].dtype == dtype]
        others += [f"{n}[:4]" for n, d in self.arrays.items() if d == ("n",) and self.space[n].dtype == dtype]
        two = r.choice(others)
        if self.chance(0.6):
            self.run(f"{t} = {one} if {self.condition(1)} else {two}")
        else:
            self.run(f"{t} = {one}")
            self.emit(f"if {self.condition(1)}:")
            self.emit(f"    {t} = {two}")
        for _ in range(r.randrange(1, 3)):
            made = self.name()
            text = r.choice(("{0}[{1}]", "{0} * {2}", "{0}.sum()", "{0}[0]", "{0}[k % 4]", "{0} + 1",
                             "{0}[{0} > 0]", "{0}.max()",
                             "np.sort({0})", "{0}.copy()", "-{0}", "{0}[::-1]", "{0}.argmax()", "1 / {0}",
                             "np.interp({2}, np.sort({0}), {0})", "np.concatenate(({0}, x))"))  # fmt: skip
            text = text.format(t, self.positions(("n",), "4"), self.scalar(0))
            if "[::-1]" in text:
                text += " + 0"  # so that no store goes into it
            if self.run(f"{made} = {text}"):
                self.keep(made)
        if self.depth == 1 and self.chance(0.4):
            self.shown.append(t)

    def over_tables(self) -> None:
        """A loop over a table, a captured tuple or what a dict holds."""
        r, total, w = self.random, self.name(), self.name()
        if self.loops > 1 or not self.run(f"{total} = {r.choice(('0.0', '-0.0', '0.0', '1.0'))}"):
            return
        over = r.choice((*(self.tables or ["(0.5, -0.0, 2.0)"]), "(1, -0.0)", "[0.5, 1.5]"))
        x = r.choice(list(self.arrays))
        at = ", ".join("0" for _ in self.arrays[x])
        value = f"{x}[{at}]"
        step = f"{total} {r.choice(('+=', '-=', '+='))} {w} * {r.choice((value, self.scalar(0)))}"
        lines = (f"for {w} in {over}:", f"    {step}")
        for line in lines:
            self.emit(line)
        self.space[total] = np.float64(0.5)
        self.scalars.append(total)

    def reshaped(self) -> None:
        """A store through a view of another shape, or through what is a copy for some layouts."""
        r, name, made = self.random, self.target(), self.name()
        matrix = len(self.arrays[name]) == 2
        value = self._whole(name, self.scalar(0))
        if self.chance(0.35):
            at = r.choice(("0", "-1", "1", *(("k",) if "k" in self.scalars else ())))
            self.run(r.choice(DIRECT_STORES).format(name, value, at=at))
            return
        view = r.choice(VIEWS_OF_MATRICES if matrix else VIEWS_OF_LINES).format(name)
        if len(self.arrays[name]) < 3 and self.run(f"{made} = {view}"):
            for _ in range(r.randrange(1, 3)):
                self.run(r.choice(STORES).format(made, value))
            if self.usable(self.space[made]):
                self.remember(made)

    def into(self) -> None:
        """``out=`` and ``where=``."""
        name, made = self.target(), self.name()
        dims = self.arrays[name]
        other = self.leaf(dims)
        if not other.isidentifier():
            other = name
        text = self.random.choice(INTO).format(x=name, y=other, m=self.mask(dims, 0), t=self.scalar(0))
        if self.run(text if self.chance(0.2) else f"{made} = {text}") and made in self.space:
            if self.usable(self.space[made]):
                self.remember(made)

    def collected(self) -> None:
        """A list that a loop may leave empty, and what is made of it."""
        r, held, element, made = self.random, self.name(), self.name(), self.name()
        x, _ = self._line()
        if not x.isidentifier() or not len(self.space[x]):
            return
        saved = self.scope()
        self.space[element] = self.space[x][0]
        self.scalars.append(element)
        value = r.choice((element, f"float({element})", f"{element} * 2", self.scalar(0), f"abs({element})",
                          f"int({element} > 1)"))  # fmt: skip
        condition = r.choice((f"{element} > {r.choice(('100', '2', '0', '-0.0', self.scalar(0)))}", self.condition(0)))
        first = self.value(value)
        if not isinstance(first, (bool, int, float, np.generic)) or np.asarray(first).dtype.kind not in "biuf":
            self.restore(saved)
            return
        if self.chance(0.4):
            self.emit(f"{held} = [{value} for {element} in {x} if {condition}]")
        else:
            self.emit(f"{held} = []")
            self.emit(f"for {element} in {x}:")
            self.emit(f"    if {condition}:")
            self.emit(f"        {held}.append({value})")
        self.restore(saved)
        self.space[held] = [first] * 3
        kind = np.asarray(first).dtype.kind
        default = {"f": ("0.0", "-0.0", "-1.0", "np.inf"), "b": ("False",), "u": ("0",), "i": ("0", "-1")}[kind]
        for _ in range(r.randrange(1, 3)):
            made = self.name()
            if self.run(f"{made} = {r.choice(OF_LISTS).format(held, r.choice(default))}"):
                self.keep(made)

    def first_of(self) -> None:
        """``next`` with a default."""
        r, made, v, i = self.random, self.name(), self.name(), self.name()
        x, (dim,) = self._line()
        if not x.isidentifier() or self.loops > 1:
            return
        test = f"{r.choice(COMPARISONS)} {self.scalar(0)}"
        default = {"f": "-1.0", "b": "False", "u": "0", "i": "-1"}[self.kind(x)]
        text = r.choice((
            f"next(({v} for {v} in {x} if {v} {test}), {default})",
            f"next(({i} for {i}, {v} in enumerate({x}) if {v} {test}), -1)",
            f"next(({i} for {i} in range({self.size(dim)}) if {x}[{i}] {test}), None)",
            f"max(({v} for {v} in {x} if {v} {test}), default={default})",
            f"min([{v} for {v} in {x} if {v} {test}], default={default})",
            f"max({x}, default={default})",
        ))  # fmt: skip
        if self.run(f"{made} = {text}"):
            if "None" in text:
                self.emit(f"if {made} is None:")
                self.emit(f"    {made} = 0")
                self.space[made] = 0
            self.scalars.append(made)

    def steps(self) -> None:
        """``np.arange`` with steps that are no integers, between bounds known at run time."""
        r, made = self.random, self.name()
        known = [n for n in ("k", "s") if n in self.scalars]
        start = r.choice(("0.0", "-1.5", "0", "0.1", *known, *(f"float({n})" for n in known)))
        stop = r.choice(("1.0", "len(x) * 0.1", "x.size", "2", *(f"{n} + 2" for n in known),
                         *(f"{n} * 0.5" for n in known)))  # fmt: skip
        step = r.choice(("0.1", "0.25", "0.3", "-0.5", "0.5", "0.7", "1.5", "1 / 3", "np.float32(0.5)"))
        text = f"np.arange({start}, {stop}, {step})"
        if self.chance(0.2):
            ends = f"{start}, {stop}"
            text = r.choice((f"np.linspace({ends}, len(x))", f"np.arange({stop})", f"np.arange({ends})",
                             f"np.linspace({ends}, 5, endpoint=False)",
                             f"np.arange({ends}, {step}, dtype=np.float32)"))  # fmt: skip
        if self.usable(self.value(text)) and self.run(f"{made} = {text}"):
            self.remember(made)

    def typed(self) -> None:
        """A branch that types decide, whose sides have types of their own."""
        made, dims = self.name(), self.dims()
        condition = self.of_types()
        value = self.value(condition)
        if value is None or isinstance(value, np.ndarray):
            return
        one, two = self.array(dims, 1), self.array(dims, 1)
        chosen = one if value else two
        if any(self.value(t) is None for t in (one, two)) or self.value(one).dtype != self.value(two).dtype:
            if not any(word in condition for word in ("dtype", "isinstance", "ndim", "isscalar", "hasattr", "None")):
                return
        if chosen.isidentifier():
            return
        if self.chance(0.5):
            self.emit(f"{made} = {one} if {condition} else {two}")
        else:
            self.emit(f"if {condition}:")
            self.emit(f"    {made} = {one}")
            self.emit("else:")
            self.emit(f"    {made} = {two}")
        self.space[made] = self.value(chosen)
        self.arrays[made] = dims

    def keyed(self) -> None:
        """A dict whose keys are constants."""
        r, held, made = self.random, self.name(), self.name()
        one, two = self.alike(0)
        dims = self.dims()
        array = self.array(dims, 1)
        if not self.run(f"{held} = {{'low': {one}, 'high': {two}, 'data': {array}}}"):
            return
        how = r.choice(("{0}['low'] + {0}['high']", "{0}.get('low', 0.0)", "{0}.get('none', -0.0)",
                        "{0}['data'] * {0}['low']",
                        "{0}['low'] if 'low' in {0} else 1.0", "len({0})", "np.clip({0}['data'], -1, 1)",
                        "[v for key, v in {0}.items() if key != 'data']", "sum({0}[key] for key in ('low', 'high'))",
                        "max({0}[key] for key in ('low', 'high'))", "{0}['data'].sum()", "{0}.pop('low')",
                        "{0}['low' if {1} else 'high']"))  # fmt: skip
        if self.chance(0.4):
            key, value = r.choice(("low", "high")), r.choice(("1", "2", "-0.0", "0.5"))
            self.run(f"{held}['{key}'] {r.choice(('+=', '*=', '-='))} {value}")
        if self.run(f"{made} = {how.format(held, self.condition(0))}"):
            self.keep(made)

    def tried(self) -> None:
        """A `try` whose block mostly raises nothing."""
        r, made = self.random, self.name()
        x, (dim,) = self._line()
        value = r.choice((f"float({x}[{self.index(dim)}])", f"1.0 / float({x}.size)", f"float({x}.max())",
                          f"float({x}[0]) / float({x}[-1])", f"float({x}.reshape(2, -1)[0, 0])"))
        errors = r.choice(("IndexError", "ZeroDivisionError", "ValueError", "(IndexError, ValueError)", "Exception",
                           "(ZeroDivisionError, IndexError, ValueError)"))
        self.emit("try:")
        self.emit(f"    {made} = {value}")
        self.emit(f"except {errors}:")
        self.emit(f"    {made} = {r.choice(('0.0', '-0.0', '-1.0'))}")
        if self.chance(0.3):
            self.emit("else:")
            self.emit(f"    {made} = {made} * {r.choice(('2', '-0.0', '-1'))}")
        self.space[made] = 0.5
        self.scalars.append(made)

    def zeros(self) -> None:
        """Numbers and elements whose sign of zero shows."""
        r, name = self.random, self.target()
        match r.randrange(4):
            case 0:
                made = self.name()
                if self.run(f"{made} = {self.signed_zero(1)}"):
                    self.scalars.append(made)
            case 1:
                self.run(f"{name} *= {r.choice(('-0.0', '0.0', '-1', '1', 'True', self.signed_zero(1)))}")
            case 2:
                where, _ = self.place(name, scalar=True)
                value = r.choice(("-0.0", "0.0", self.signed_zero(0)))
                self.run(f"{where} {r.choice(('=', '*=', '+=', '-='))} {value}")
            case _:
                mask = self.mask(self.arrays[name], 0)
                self.run(f"{name}[{mask}] {r.choice(('=', '*=', '+='))} {r.choice(('-0.0', '0.0'))}")
