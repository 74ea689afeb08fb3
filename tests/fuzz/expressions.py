"""Random expressions whose shapes are right by construction.

A size is a text: ``n``, ``n-1``, ``n-2`` (what slices leave of it), ``n/2`` (every second), ``1``, a number, or a name
of its own for what data decides. Each expression is evaluated once, on the arguments of the first call: one that NumPy
refuses there (a negation of bools, say) is not used.
"""

from __future__ import annotations

import random
from typing import Any

import numpy as np

EXACT_UNARY = ("abs", "np.abs", "-", "np.square", "np.sign", "np.floor", "np.ceil", "np.trunc", "np.rint",
               "np.negative", "+", "~", "np.isnan", "np.isfinite", "np.signbit", "np.logical_not", "np.sqrt",
               "np.nan_to_num", "np.invert", "np.reciprocal")  # fmt: skip
ELEMENTARY = ("np.exp", "np.log", "np.sin", "np.cos", "np.tanh", "np.log1p", "np.expm1", "np.arctan", "np.cbrt",
              "np.log2", "np.exp2", "np.sinh", "np.arcsinh")  # fmt: skip
BINARY = ("+", "+", "-", "-", "*", "*", "/", "//", "%", "&", "|", "^", "<<", ">>")
BINARY_FUNCTIONS = ("np.maximum", "np.minimum", "np.fmax", "np.fmin", "np.add", "np.copysign", "np.floor_divide",
                    "np.subtract", "np.multiply", "np.remainder", "np.fmod", "np.true_divide", "np.logical_and",
                    "np.logical_or", "np.logical_xor", "np.bitwise_xor", "np.left_shift", "np.right_shift")  # fmt: skip
COMPARISONS = ("<", ">", "<=", ">=", "==", "!=")
LITERALS = ("2", "3", "1", "0", "-1", "0.5", "2.0", "1.5", "-2.5", "10", "True")
CASTS = ("np.float64", "np.float32", "np.int64", "np.int32", "np.int8", "np.uint8", "bool", "float", "int", "np.int16")
EVALUATION_SIZES = {"n": 7, "m": 5, "l": 3}


def extent(dim: str, sizes: dict[str, int]) -> int:
    """The number that a size stands for."""
    if dim.isdigit():
        return int(dim)
    base, sign, number = parts(dim)
    if not sign:
        return sizes[base]
    return (sizes[base] + 1) // 2 if sign == "/" else max(sizes[base] - int(number), 0)


def parts(dim: str) -> tuple[str, str, str]:
    """``n-1`` as ``n``, ``-``, ``1``."""
    sign = "/" if "/" in dim else "-" if "-" in dim else ""
    base, _, number = dim.partition(sign) if sign else (dim, "", "")
    return base, sign, number


class Unknown(LookupError):
    """No array is left that tells a size."""


class Expressions:
    """Draws expressions over the names that are known; `random` may be a seeded generator or hypothesis's."""

    def __init__(self, rng: random.Random, elementary: bool) -> None:
        self.random, self.elementary = rng, elementary
        self.halves = False  # whether arrays may be of float16
        self.space: dict[str, Any] = {"np": np}  # name -> its value on the first arguments
        self.arrays: dict[str, tuple[str, ...]] = {}
        self.scalars: list[str] = []
        self.indices: dict[str, set[str]] = {}  # a loop's variable -> the sizes that it stays below
        self.sizes = dict(EVALUATION_SIZES)

    # --- what is known

    def chance(self, p: float) -> bool:
        return self.random.random() < p

    def value(self, text: str) -> Any:
        """Its value on the first arguments, or None where NumPy refuses it."""
        try:
            return eval(text, self.space)
        except Exception:
            return None

    def fits(self, text: str, dims: tuple[str, ...]) -> bool:
        value = self.value(text)
        shape = tuple(extent(d, self.sizes) for d in dims)
        return isinstance(value, np.ndarray) and value.shape == shape and self.known(value.dtype)

    def known(self, dtype: np.dtype[Any]) -> bool:
        """Whether arrays may have this dtype."""
        return dtype.kind in "biuf" and dtype != np.longdouble and (self.halves or dtype != np.float16)

    def kind(self, text: str) -> str:
        return str(np.asarray(self.value(text)).dtype.kind)

    def size(self, dim: str) -> str:
        """The text of a size."""
        if dim.isdigit():
            return dim
        for name, dims in self.arrays.items():
            if dim in dims:
                at = dims.index(dim)
                if at == 0 and self.chance(0.6):
                    return f"len({name})"
                return f"{name}.size" if len(dims) == 1 and self.chance(0.4) else f"{name}.shape[{at}]"
        base, sign, number = parts(dim)
        if not sign:
            raise Unknown(dim)
        return f"(({self.size(base)} + 1) // 2)" if sign == "/" else f"({self.size(base)} - {number})"

    # --- arrays

    def leaf(self, dims: tuple[str, ...]) -> str:
        """An array of these dims without arithmetic: a name, a view, an element's row, a new array."""
        same = [n for n, d in self.arrays.items() if d == dims]
        if same and self.chance(0.6):
            return self.random.choice(same)
        views = [v for n, d in self.arrays.items() for v in self._views(n, d, dims)]
        if views and (not same or self.chance(0.8)):
            return self.random.choice(views)
        if same:
            return self.random.choice(same)
        return self.fresh(dims)

    def fresh(self, dims: tuple[str, ...]) -> str:
        """A new array."""
        shape = self.size(dims[0]) if len(dims) == 1 else f"({', '.join(map(self.size, dims))})"
        dtype = self.random.choice(("", "", f", dtype={self.random.choice(CASTS)}"))
        if len(dims) == 1 and self.chance(0.4):
            return f"np.arange({shape}{dtype})"
        if self.chance(0.3):
            return f"np.full({shape}, {self.scalar(0)}{dtype})"
        same = [n for n, d in self.arrays.items() if d == dims]
        if same and self.chance(0.5):
            return f"np.{self.random.choice(('zeros', 'ones'))}_like({self.random.choice(same)})"
        return f"np.{self.random.choice(('zeros', 'ones'))}({shape}{dtype})"

    def slices(self, have: str, want: str) -> tuple[str, ...]:
        """The slices that leave `want` of `have`."""
        if have == want:
            return (":", ":", "::-1")
        if have + "-1" == want:
            return ("1:", ":-1", ":0:-1", "-2::-1")
        if have + "-2" == want:
            return ("1:-1", "2:", ":-2")
        if have + "/2" == want:
            return ("::2", "::-2")
        if have.endswith("-1") and want == have[:-1] + "2":
            return ("1:", ":-1")
        if want.isdigit() and have in ("n", "m", "l") and int(want) <= 2:
            return (f":{want}", f"-{want}:")
        return ()

    def _views(self, name: str, have: tuple[str, ...], want: tuple[str, ...], limit: int = 3) -> list[str]:
        """Some views of an array that have the dims `want`."""
        found = []
        for _ in range(limit):
            order, suffix = have, ""
            if len(have) == 2 and self.chance(0.3):
                order, suffix = have[::-1], ".T"
            subscripts: list[str] = []
            left = list(order)
            for d in want:
                if d == "1" and self.chance(0.8):
                    subscripts.append("None")
                    continue
                while left:
                    e = left.pop(0)
                    choices = self.slices(e, d)
                    enough = len(left) >= len([w for w in want if w != "1"]) - len([p for p in subscripts if ":" in p])
                    if choices and not (enough and self.chance(0.3)):
                        subscripts.append(self.random.choice(choices))
                        break
                    subscripts.append(self.index(e))
                else:
                    break
            else:
                subscripts += [self.index(e) for e in left]
                while subscripts and subscripts[-1] == ":":
                    subscripts.pop()
                text = f"{name}{suffix}[{', '.join(subscripts)}]" if subscripts else name + suffix
                if self.fits(text, want):
                    found.append(text)
        return found

    def array(self, dims: tuple[str, ...], depth: int) -> str:
        """An array of exactly these dims."""
        if depth <= 0:
            return self.leaf(dims)
        for _ in range(4):
            text = self._array(dims, depth)
            if text and self.fits(text, dims):
                return text
        return self.leaf(dims)

    def _array(self, dims: tuple[str, ...], depth: int) -> str:
        r = self.random
        match r.randrange(26):
            case 0 | 1 | 2 | 3 | 4 | 5:
                left, right = self.array(dims, depth - 1), self.operand(dims, depth - 1)
                if self.chance(0.3):
                    left, right = right, left
                return f"({left} {r.choice(BINARY)} {right})"
            case 6 | 7:
                left, right = self.array(dims, depth - 1), self.operand(dims, depth - 1)
                return f"{r.choice(BINARY_FUNCTIONS)}({left}, {right})"
            case 8 | 9:
                one = r.choice(ELEMENTARY if self.elementary and self.chance(0.6) else EXACT_UNARY)
                return f"{one}({self.array(dims, depth - 1)})"
            case 10 | 11:
                return f"np.where({self.mask(dims, depth - 1)}, {self.array(dims, depth - 1)}, {self.operand(dims, 1)})"
            case 12 | 13 | 14:
                return self.reduced(dims, depth)
            case 15:
                return self.cast(self.array(dims, depth - 1))
            case 16:
                return self.mask(dims, depth)
            case 17:
                low, high = r.choice((("-2", "2"), ("0", "5"), ("None", "3"), ("-1.5", "2.5"), ("1", "None")))
                inner = self.array(dims, depth - 1)
                return f"{inner}.clip({low}, {high})" if inner.isidentifier() else f"np.clip({inner}, {low}, {high})"
            case 18:
                axis = r.randrange(len(dims))
                text = self.array(dims, depth - 1)
                one = r.choice(("cumsum", "cumsum", "cumprod", "maximum.accumulate", "add.accumulate"))
                return f"np.{one}({text}, axis={axis})" if len(dims) > 1 or self.chance(0.3) else f"np.{one}({text})"
            case 19:
                return self.sorted(dims, depth)
            case 20:
                return f"np.roll({self.array(dims, depth - 1)}, {r.randrange(-2, 3)}, axis={r.randrange(len(dims))})"
            case 21 | 22:
                return self.gather(dims, depth)
            case 23:
                return f"{self.array(dims, depth - 1)} ** {r.choice(('2', '3', '2.0', '0.5', '1', '0', '-1'))}"
            case 24:
                return self.joined(dims, depth)
            case _:
                return self.helper(dims)

    def helper(self, dims: tuple[str, ...]) -> str:
        """A call of a function of the module, where there is one."""
        found = [n for n in ("helper", "scaled") if n in self.space]
        return f"{self.random.choice(found)}({self.array(dims, 1)}, {self.operand(dims, 0)})" if found else ""

    def joined(self, dims: tuple[str, ...], depth: int) -> str:
        first, *rest = dims
        if first.endswith("-1"):
            return f"np.diff({self.array((first[:-2], *rest), depth - 1)}, axis=0)"
        if first == "2":
            one, two = self.array(tuple(rest), depth - 1) if rest else "", ""
            if rest:
                two = self.array(tuple(rest), depth - 1)
                return f"np.stack(({one}, {two}))"
        if first == "n" and len(dims) == 1:
            return f"np.concatenate(({self.array(('n-1',), depth - 1)}, {self.leaf(('n',))}[:1]))"
        return f"np.flip({self.array(dims, depth - 1)}, axis=0)"

    def sorted(self, dims: tuple[str, ...], depth: int) -> str:
        text = self.array(dims, depth - 1)
        axis = self.random.choice(("", ", axis=0")) if len(dims) > 1 else ""
        how = self.random.choice(("sort", "sort", "argsort"))
        return f"np.argsort({text}{axis}, kind='stable')" if how == "argsort" else f"np.sort({text}{axis})"

    def gather(self, dims: tuple[str, ...], depth: int) -> str:
        """``v[positions]``, with one array of positions."""
        found = [(n, d) for n, d in self.arrays.items() if len(d) >= 1 and d[1:] == dims[1:]]
        if not found or len(dims) > 2:
            return ""
        name, have = self.random.choice(found)
        return f"{name}[{self.positions((dims[0],), have[0])}]"

    def positions(self, dims: tuple[str, ...], of: str) -> str:
        """Integers below a size, as an array."""
        whole = [n for n, d in self.arrays.items() if d == dims and self.kind(n) in "iu"]
        if whole and self.chance(0.6):
            name = self.random.choice(whole)
            return name if self.chance(0.15) else f"{name} % {self.size(of)}"
        if dims == (of,) and self.chance(0.5):
            same = [n for n, d in self.arrays.items() if d == dims]
            if same:
                return f"np.argsort({self.random.choice(same)}, kind='stable')"
        return f"np.arange({self.size(dims[0])}) {self.random.choice(('', '* 2 ', '+ 1 ', '* 3 '))}% {self.size(of)}"

    def cast(self, text: str) -> str:
        to = self.random.choice(CASTS)
        if self.kind(text) == "f" and "float" not in to and to != "bool":
            text = f"np.clip(np.nan_to_num({text}), {'0' if 'uint' in to else '-100'}, 100)"
        if "." in to and self.chance(0.2):
            return f"{text}.astype({to[3:]!r})"
        return f"{text}.astype({to})"

    def reduced(self, dims: tuple[str, ...], depth: int) -> str:
        """A reduction over one axis of an array with one more."""
        r = self.random
        extra = r.choice(("n", "m", "n", "m", "l", "n-1"))
        axis = r.randrange(len(dims) + 1)
        inner_dims = (*dims[:axis], extra, *dims[axis:])
        if len(inner_dims) > 3 or len(set(inner_dims)) < len(inner_dims):
            return ""
        known = any(sorted(d) == sorted(inner_dims) for d in self.arrays.values())
        if known:
            inner = self.array(inner_dims, depth - 1)
        else:
            left = self.array((extra,), depth - 1)
            if len(inner_dims) > 2:
                return ""
            other = self.array(dims, 0)
            sub = (f"{left}[:, None]", f"{other}[None, :]") if axis == 0 else (f"{left}[None, :]", f"{other}[:, None]")
            inner = f"({sub[0]} {r.choice(('+', '*', '-', '<', '>'))} {sub[1]})"
        how = self.reduction()
        shown = axis if self.chance(0.7) else axis - len(inner_dims)
        keep = ""
        if self.chance(0.15) and how not in ("count_nonzero",):
            keep = ", keepdims=True"
            text = f"np.{how}({inner}, axis={shown}{keep})"
            return f"np.squeeze({text}, axis={axis})" if self.chance(0.5) else f"{text}.reshape({self.shape(dims)})"
        if (inner.isidentifier() or inner.startswith("(")) and how != "count_nonzero":
            return f"{inner}.{how}(axis={shown})"
        return f"np.{how}({inner}, axis={shown})"

    def shape(self, dims: tuple[str, ...]) -> str:
        return ", ".join(self.size(d) for d in dims)

    def reduction(self) -> str:
        return self.random.choice(("sum", "sum", "sum", "max", "min", "mean", "any", "all", "argmax", "argmin", "prod",
                                   "count_nonzero", "var"))  # fmt: skip

    def operand(self, dims: tuple[str, ...], depth: int) -> str:
        """Something that broadcasts to these dims."""
        pick = self.random.random()
        if pick < 0.45:
            return self.array(dims, depth)
        if pick < 0.75 or len(dims) == 1:
            return self.scalar(min(depth, 1))
        if pick < 0.88:
            return self.array(dims[1:], depth)
        at = self.random.randrange(len(dims))
        return self.array((*dims[:at], "1", *dims[at + 1 :]), 0)

    def mask(self, dims: tuple[str, ...], depth: int) -> str:
        r = self.random
        if depth > 0 and self.chance(0.25):
            return f"({self.mask(dims, depth - 1)} {r.choice('&|^')} {self.mask(dims, depth - 1)})"
        if depth > 0 and self.chance(0.1):
            return f"~{self.mask(dims, depth - 1)}"
        bools = [n for n, d in self.arrays.items() if d == dims and self.kind(n) == "b"]
        if bools and self.chance(0.4):
            return r.choice(bools)
        if self.chance(0.1):
            return f"np.{r.choice(('isnan', 'isfinite', 'isinf'))}({self.array(dims, depth - 1)})"
        return f"({self.array(dims, depth - 1)} {r.choice(COMPARISONS)} {self.operand(dims, depth - 1)})"

    # --- numbers

    def index(self, of: str) -> str:
        """A subscript of an axis."""
        r = self.random
        loops = [i for i, below in self.indices.items() if of in below]
        if loops and self.chance(0.75):
            i = r.choice(loops)
            match r.randrange(12):
                case 0 | 1:
                    return f"{i} - 1"
                case 2:
                    return f"({i} + 1) % {self.size(of)}"
                case 3:
                    return f"{self.size(of)} - 1 - {i}"
                case 4:
                    return f"-{i} - 1" if self.chance(0.5) else f"{i} // 2"
                case _:
                    return i
        whole = [n for n, d in self.arrays.items() if len(d) == 1 and self.kind(n) in "iu"]
        if loops and whole and self.chance(0.3):
            name = r.choice(whole)
            inner = [i for i, below in self.indices.items() if self.arrays[name][0] in below]
            if inner:
                return f"{name}[{r.choice(inner)}] % {self.size(of)}"
        choices = ["0", "0", "-1", "-1", "1", f"{self.size(of)} // 2"]
        if "k" in self.scalars:
            choices += ["k", f"k % {self.size(of)}"]
        return r.choice(choices)

    def element(self) -> str:
        name = self.random.choice(list(self.arrays))
        return f"{name}[{', '.join(self.index(d) for d in self.arrays[name])}]"

    def scalar(self, depth: int) -> str:
        for _ in range(4):
            text = self._scalar(depth)
            value = self.value(text)
            if isinstance(value, (bool, int, float, np.generic)) and not isinstance(value, (np.longdouble, complex)):
                if not isinstance(value, int) or abs(value) < 10**6:
                    return text
        return self.random.choice(LITERALS)

    def _scalar(self, depth: int) -> str:
        r = self.random
        if depth <= 0 or self.chance(0.2):
            pick = r.random()
            if pick < 0.35 and self.scalars:
                return r.choice(self.scalars)
            if pick < 0.6:
                return r.choice(LITERALS)
            if pick < 0.7 and self.indices:
                return r.choice(list(self.indices))
            return self.element()
        match r.randrange(12):
            case 0 | 1 | 2:
                return f"({self.scalar(depth - 1)} {r.choice('+-*')} {self.scalar(depth - 1)})"
            case 3:
                divisor = r.choice(("2", "3", "-2", "0.5", "4.0"))
                return f"({self.scalar(depth - 1)} {r.choice(('/', '//', '%'))} {divisor})"
            case 4 | 5:
                name = r.choice(list(self.arrays))
                how = self.reduction()
                return f"np.{how}({name})" if how == "count_nonzero" or self.chance(0.3) else f"{name}.{how}()"
            case 6:
                dims = r.choice(list(self.arrays.values()))
                return f"np.{self.reduction()}({self.array(dims, depth - 1)})"
            case 7:
                one, two = self.alike(depth)
                return f"({one} if {self.condition(depth - 1)} else {two})"
            case 8:
                return f"{r.choice(('min', 'max'))}({', '.join(self.alike(depth))})"
            case 9:
                return f"{r.choice(('abs', 'float', 'bool', 'float'))}({self.scalar(depth - 1)})"
            case 10:
                if self.elementary and self.chance(0.5):
                    return f"{r.choice(ELEMENTARY)}({self.scalar(depth - 1)})"
                return f"np.{r.choice(('sqrt', 'floor', 'sign', 'square', 'float32', 'float64', 'rint'))}" + (
                    f"({self.scalar(depth - 1)})"
                )
            case _:
                text = self.scalar(depth - 1)
                whole = not isinstance(self.value(text), np.uint64)  # Python's integers have 64 bits in compiled code
                return f"int({text})" if whole and self.chance(0.3) else self.element()

    def alike(self, depth: int) -> tuple[str, str]:
        """Two numbers of one type, or now and then a NumPy one and a Python one of its sort."""
        one, two = self.scalar(depth - 1), self.scalar(depth - 1)
        kinds = type(self.value(one)), type(self.value(two))
        if kinds[0] is kinds[1] or (
            set(kinds) & {int, float} and self.kind(one) == self.kind(two) and self.chance(0.3)
        ):
            return one, two
        if self.kind(one) in "iu" and self.kind(two) == "f":
            return one, one
        return one, f"{kinds[0].__module__.replace('numpy', 'np.').removeprefix('builtins')}{kinds[0].__name__}({two})"

    def condition(self, depth: int) -> str:
        r = self.random
        if depth > 0 and self.chance(0.2):
            return f"({self.condition(depth - 1)} {r.choice(('and', 'or'))} {self.condition(depth - 1)})"
        if depth > 0 and self.chance(0.1):
            return f"np.{r.choice(('any', 'all'))}({self.mask(r.choice(list(self.arrays.values())), 0)})"
        if self.indices and self.chance(0.3):
            i = r.choice(list(self.indices))
            return r.choice((f"{i} % 2 == 0", f"{i} > 1", f"{i} < 3", f"{i} == {r.randrange(3)}"))
        return f"{self.scalar(depth)} {r.choice(COMPARISONS)} {self.scalar(0)}"
