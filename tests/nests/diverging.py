"""Random iterations of many points that end at different times: by masks, choices, loops that are left, one by one.

Of a rule (how the state of a point changes, and while what holds) each spelling is a program; some bend the rule, so
that a mask grows again, a neighbour is read or something goes on behind the end.
"""

from __future__ import annotations

import random

from tests.fuzz.arguments import Parameter
from tests.fuzz.programs import Program

SIZES = (0, 1, 3, 8, 17, 33, 64, 70)
SPELLINGS = ("stores", "choices", "compressed", "any", "while any", "points", "left", "points by while")

_STATES = ("float64", "float64", "float64", "float32", "int64", "uint8", "int8", "bool")
_LAYOUTS = ("C", "C", "C", "C", "stepped", "reversed")


class _Writer:
    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.lines: list[str] = []
        r = self.random
        self.spelling = SPELLINGS[seed % len(SPELLINGS)]
        self.points = self.spelling in ("points", "left", "points by while")
        self.dtypes = {"a": r.choice(_STATES[:5]), "b": r.choice(_STATES), "n": r.choice(("int64", "uint8", "float64"))}
        self.rank = 2 if not self.points and r.random() < 0.2 else 1

    def emit(self, depth: int, text: str) -> None:
        self.lines.append("    " * depth + text)

    def chance(self, share: float) -> bool:
        return self.random.random() < share

    def number(self) -> str:
        return self.random.choice(("0.5", "1.25", "2", "-0.5", "3", "0.0", "1", "-1"))

    # `at` is what stands behind an array's name: `[i]` of a point, `[m]` of a mask, or nothing

    def operand(self, at: str) -> str:
        r = self.random
        names = ["a", "a", "a", "b", "x", "y"]
        if self.chance(0.1):
            names.append("n")
        name = r.choice(names)
        if self.points and name in ("a", "b", "n"):
            return name if self.local else f"{name}[i]"
        if self.chance(0.05):
            return "t" if self.counts else self.number()
        if self.points and self.chance(0.06):
            return r.choice(("x[(i + t) % len(x)]" if self.counts else "x[len(x) - 1 - i]", "y[i // 2]"))
        return f"{name}{at}"

    def value(self, at: str, deep: int = 2) -> str:
        r = self.random
        if deep == 0 or self.chance(0.2):
            return self.operand(at)
        one, two = self.value(at, deep - 1), self.operand(at)
        where = f"({one} if {self.test(at)} else {two})" if self.points else f"np.where({self.test(at)}, {one}, {two})"
        return r.choice([
            f"({one} + {two})", f"({one} * {two})", f"({one} - {two})", f"({one} * {self.number()})",
            f"({one} + {self.number()})", f"({one} + {self.number()})", f"({one} * {two} + {self.operand(at)})",
            f"np.maximum({one}, {two})", f"np.abs({one})", f"np.sqrt(np.abs({one}))", where,
            f"np.minimum({one}, {self.number()})", f"({one} * {one})", f"({one} / {self.number().replace('0.0', '4')})",
        ])  # fmt: skip

    def test(self, at: str) -> str:
        r = self.random
        one, two = self.operand(at), self.operand(at)
        return r.choice([
            f"({one} < {self.number()})", f"({one} > {two})", f"({one} * {one} < 4)", f"({one} != {two})",
            f"(np.abs({one}) < 3)", f"({one} <= 2.5)",
        ])  # fmt: skip

    def holds(self, at: str) -> str:
        """While what a point goes on."""
        both, no = ("and", "not ") if self.points else ("&", "~")
        one = self.random.choice((f"({self.operand(at)} < 3)", f"({self.operand(at)} * {self.operand(at)} < 9)"))
        return self.random.choice([
            one, one, one, f"({one} {both} {self.test(at)})", f"{no}({self.test(at)})",
            f"({one} {both} {no}{self.test(at)})",
        ])  # fmt: skip

    # --- arrays

    def state(self) -> None:
        r, shape = self.random, "x.shape" if self.rank == 1 else "(2, len(x))"
        for name, dtype in self.dtypes.items():
            made = [f"np.zeros({shape}, np.{dtype})", f"np.ones({shape}, np.{dtype})"]
            if name == "a" and self.rank == 1:
                made += [f"x.astype(np.{dtype})"] * 3 if dtype.startswith("float") else []
                made += ["x"] if self.chance(0.3) else []
            self.emit(1, f"{name} = {r.choice(made)}")
        self.emit(1, f"m = np.ones({shape}, bool)")

    def update(self, depth: int) -> None:
        """A statement that changes the state where the mask holds."""
        r = self.random
        name, other = r.choice(("a", "a", "b")), r.choice("ab")
        m = "m" if not self.bent or self.chance(0.8) else r.choice(("~m", "q", "(m & q)", "(m | q)"))
        if self.spelling == "compressed":
            at = f"[{m}]" if self.rank == 1 else ""
            self.emit(depth, r.choice([
                f"u = {self.value(at)}\n{'    ' * depth}{name}[{m}] = u{'' if self.rank == 1 else f'[{m}]'}",
                f"{name}[{m}], {other}[{m}] = a[{m}], b[{m}]" if name == other else f"a[{m}], b[{m}] = b[{m}], a[{m}]",
            ]))  # fmt: skip
            return
        if self.spelling == "stores":
            at = f"[{m}]" if self.rank == 1 else ""
            value = self.value(at) + ("" if self.rank == 1 else f" + 0 * a)[{m}]")
            value = value if self.rank == 1 else "(" + value
            self.emit(depth, f"{name}[{m}] = {value}")
            return
        dtype = self.dtypes[name]
        self.emit(depth, r.choice([
            f"{name} = np.where({m}, {self.value('')}, {name}).astype(np.{dtype})",
            f"{name} = np.where({m}, {self.value('')}, {name}).astype(np.{dtype})",
            f"{name}[:] = np.where({m}, {self.value('')}, {name})",
        ]))  # fmt: skip

    def bend(self, depth: int) -> None:
        r = self.random
        lines = ["a = a + np.where(m, a * 0, 0.0)", "b[~m] = a[~m]", "n += 1", "m[:1] = True", "q = q | (a > 2)",
                 "a[..., 1:][m[..., 1:]] += 0.25", "m[..., 1:] &= m[..., :-1]", "w += a[m].sum() * 0", "w += len(a[m])",
                 "a[m] += np.roll(a, 1)[m]", "k2 = a[m]\n        w += k2.size", "m[m] = a[m] < 2", "m |= q",
                 "b[m] = a[..., ::-1][m]", "w = t * 0.5", "q[:] = m"]  # fmt: skip
        self.emit(depth, r.choice(lines))

    def masked(self) -> None:
        r = self.random
        self.state()
        self.emit(1, f"q = {self.test('')}{'' if self.rank == 1 else ' & m'}")
        if self.rank == 1:
            self.emit(1, "q = q & m")
        self.emit(1, "w, t = 0.0, 0")
        holds = self.holds("")
        shrinks = r.choice([f"m = m & {holds}", f"m &= {holds}", f"m[~({holds})] = False", f"m = {holds} & m",
                            f"m = {holds} & np.ones(m.shape, bool)"][: 5 if self.rank == 1 else 2])  # fmt: skip
        if self.spelling == "while any":
            self.emit(1, f"s = np.zeros(m.shape, np.int64)\n    m &= {holds} & (k > 0)\n    while m.any():")
            last = [f"s[m] += 1\n        m &= {holds} & (s < 6 * k)"]
            first: list[str] = []
        else:
            self.emit(1, "for t in range(6 * k):")
            first, last = [shrinks], []
            if self.spelling == "any":
                first += [r.choice(("if not m.any():", "if not np.any(m):")) + "\n            break"]
            if self.chance(0.2):
                first, last = [], first
        body = [*first, *("update" for _ in range(r.choice((1, 2, 2, 3)))), "count", *last]
        if self.bent:
            body.insert(r.randrange(len(body) + 1), "bend")
        for part in body:
            if part == "update":
                self.update(2)
            elif part == "bend":
                if self.spelling != "while any":
                    self.bend(2)
            elif part == "count":
                self.emit(2, r.choice(("n[m] += 1", "n += m", "n[m] = t", "w += 0.5", "pass")))
            else:
                self.emit(2, part)
        self.emit(1, "return a, b, n, m, w, t")

    # --- points

    local = True

    def pointwise(self) -> None:
        r = self.random
        self.local = self.chance(0.7)
        for name, dtype in self.dtypes.items():
            self.emit(1, f"{'out_' if self.local else ''}{name} = np.zeros(len(x), np.{dtype})")
        self.emit(1, "w, t = 0, 0")
        self.emit(1, "for i in range(len(x)):")
        a, b, n = ("a", "b", "n") if self.local else ("a[i]", "b[i]", "n[i]")
        if self.local:
            kinds = {"a": r.choice(("x[i]", "0.0", "1.0", "x[i] * 0.5")), "b": r.choice(("y[i]", "0.5")), "n": "0"}
            for name, made in kinds.items():
                self.emit(2, f"{name} = {made}")
        elif self.chance(0.7):
            self.emit(2, "a[i] = x[i] * 0.5")
        holds = self.holds("[i]")
        if self.spelling == "points by while":
            self.emit(2, f"t = 0\n        while t < 6 * k and {holds}:" if self.chance(0.5) else
                      f"t = 0\n        while {holds} and t < 6 * k:")  # fmt: skip
            body = ["t += 1"]
        else:
            ranges = ("range(6 * k)", "range(6 * k, 0, -1)", "range(3, 20)")
            self.emit(2, f"for t in {r.choice(ranges)}:")
            body = [f"if not {holds}:\n                {r.choice(('w = t', f'{n} = t', f'{a} = {b}', 'pass'))}\n"
                    "                break"]  # fmt: skip
        for _ in range(r.choice((1, 2, 3))):
            name = r.choice((a, a, b))
            line = r.choice([f"{name} = {self.value('[i]')}"] * 4 + [
                f"{a}, {b} = {self.value('[i]', 1)}, {self.value('[i]', 1)}",
                f"if {self.test('[i]')}:\n                {name} = {self.value('[i]')}\n                continue",
                f"if {self.test('[i]')}:\n                {name} = {self.value('[i]', 1)}\n            else:\n"
                f"                {r.choice((a, b))} = {self.value('[i]', 1)}",
                f"if {self.test('[i]')}:\n                {name} = {self.value('[i]', 1)}\n                break",
            ])  # fmt: skip
            body.append(line)
        body.append(r.choice((f"{n} += 1", "pass", f"{n} = t" if self.counts else "pass")))
        if self.bent:
            body.append(r.choice((
                "w = w + 1", "w = t", "y[i] = " + self.value("[i]", 1),
                "if t > 15:\n                raise ValueError(i)",
                "for u in range(2):\n                " + f"{b} = {b} * 0.5 + u", "x[i] = " + a,
                "if w > 3:\n                break", "y[i // 2] = 0.5", "w = max(w, t)",
            )))  # fmt: skip
        if self.spelling == "left":
            r.shuffle(body)
        for part in body:
            self.emit(3, part)
        if self.local:
            for name in self.dtypes:
                safe = name == "n" or self.dtypes[name].startswith("float")
                self.emit(2, f"out_{name}[i] = {name if safe else f'{name} > 1'}")
        out = ", ".join(f"out_{x}" if self.local else x for x in "abn")
        self.emit(1, f"return {out}, w" + (", t" if self.chance(0.3) else ""))

    counts = True

    def text(self) -> str:
        self.bent = self.chance(0.4)
        self.counts = self.spelling != "while any"
        self.lines = ["import numpy as np", "", "def f(x, y, k):"]
        if self.points:
            if not self.chance(0.4):
                self.dtypes = {"a": "float64", "b": "float64", "n": "int64"}
            self.pointwise()
        else:
            self.masked()
        return "\n".join(self.lines) + "\n"


def diverging(seed: int) -> Program:
    """The program of a seed, with calls over sizes and special values."""
    writer = _Writer(seed)
    source = writer.text()
    r = writer.random
    kind = "float64" if r.random() < 0.8 else "float32"
    parameters = (
        Parameter("x", kind, ("n",), r.choice(_LAYOUTS)), Parameter("y", kind, ("n",), r.choice(_LAYOUTS)),
        Parameter("k", "int"),
    )  # fmt: skip
    if r.random() < 0.05:
        shared = r.choice(("same x", "shifted x"))
        parameters = (Parameter("x", kind, ("n",)), Parameter("y", kind, ("n",), shared), parameters[2])
    calls = tuple(({"n": size}, 100 * seed + k) for k, size in enumerate((*SIZES, *SIZES[2:])))
    return Program(source, parameters, calls, seed)
