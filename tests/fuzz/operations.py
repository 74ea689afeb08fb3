"""Operations that are more than elementwise: products, searches, order statistics, methods of ufuncs, joins, filters.

Those of `array` have the dims that are asked for; those of `free` have whatever size NumPy gives them, often one that
only the values decide.
"""

from __future__ import annotations

import random

import numpy as np

from tests.fuzz.expressions import COMPARISONS, Expressions
from tests.fuzz.templates import (
    AFTER_LINES,
    AFTER_MATRICES,
    FILTERED_LINES,
    FILTERED_MATRICES,
    JOINED_LINES,
    JOINED_MATRICES,
    MEASURES,
)

REDUCED_BY_UFUNCS = ("add", "multiply", "maximum", "minimum", "logical_and", "logical_or", "bitwise_xor", "fmax")
OUTER = ("add", "subtract", "multiply", "maximum", "minimum", "less", "greater_equal", "not_equal", "logical_and")


class Operations(Expressions):
    """Draws such expressions among the others, in `wide` programs."""

    def __init__(self, rng: random.Random, elementary: bool, wide: bool) -> None:
        super().__init__(rng, elementary)
        self.wide = wide

    def _array(self, dims: tuple[str, ...], depth: int) -> str:
        if self.wide and self.chance(0.3):
            return self.operation(dims, depth)
        return super()._array(dims, depth)

    def operation(self, dims: tuple[str, ...], depth: int) -> str:
        r = self.random
        match r.randrange(13):
            case 0 | 1:
                return self.product(dims, depth)
            case 2:
                return self.searched(dims, depth)
            case 3 | 4:
                return self.statistic(dims)
            case 5 | 6:
                return self.with_kept_axis(dims, depth)
            case 7:
                return self.picked(dims)
            case 8:
                axis = f", axis={r.randrange(-1, len(dims))}" if len(dims) > 1 else ""
                how = r.choice(("np.sort({0}{1})", "np.argsort({0}{1}, kind='stable')", "np.flip({0}{1})",
                                "np.cumsum({0}{1})", "np.argsort(np.argsort({0}{1}, kind='stable'){1})"))  # fmt: skip
                return how.format(self.array(dims, depth - 1), axis)
            case 9:
                name = r.choice(list(self.arrays))
                positions = self.positions(dims[:1], self.arrays[name][0])
                how = r.choice(("{0}.take({1}, axis=0)", "np.take({0}, {1}, axis=0)", "{0}[{1}, ...]"))
                return how.format(name, positions)
            case 10:
                conditions = ", ".join(self.mask(dims, 0) for _ in range(2))
                values = ", ".join(self.array(dims, 0) for _ in range(2))
                return f"np.select([{conditions}], [{values}]" + r.choice((")", f", {self.scalar(0)})"))
            case 11 if len(dims) == 2:
                how = r.choice(("np.tril({0})", "np.triu({0}, 1)", "np.fliplr({0})", "np.flipud({0})",
                                "np.swapaxes({1}, 0, 1)", "np.ascontiguousarray({0})", "{1}.T.copy()"))  # fmt: skip
                return how.format(self.array(dims, depth - 1), self.array(dims[::-1], depth - 1))
            case _:
                how = r.choice(("np.gradient({0})", "np.convolve({0}, [1, 2, 1], 'same')", "np.ediff1d({0}, to_end=0)",
                                "np.broadcast_to({1}, {2})", "np.nan_to_num({0}, nan=1)", "np.round({0}, 1)",
                                "np.round({0})", "np.isclose({0}, {1})", "np.nancumsum({0})"))  # fmt: skip
                shape = f"({self.shape(dims)},)"
                return how.format(self.array(dims, depth - 1), self.operand(dims, 0), shape)

    def _known(self, *dims: str) -> str:
        """An array that has a name and these dims, or the other way round; or nothing."""
        names = [n for n, d in self.arrays.items() if d == dims]
        turned = [f"{n}.T" for n, d in self.arrays.items() if len(dims) == 2 and d == dims[::-1]]
        return self.random.choice(names + turned) if names + turned else ""

    def product(self, dims: tuple[str, ...], depth: int) -> str:
        r = self.random
        if len(dims) == 1:
            inner = r.choice([d for dims in self.arrays.values() for d in dims])
            matrix, vector = self._known(dims[0], inner), self.leaf((inner,))
            if not matrix:
                return ""
            if self.chance(0.5):
                return r.choice(("{0} @ {1}", "np.dot({0}, {1})", "np.matmul({0}, {1})", "{1} @ {2}")).format(
                    matrix, vector, matrix[:-2] if matrix.endswith(".T") else f"{matrix}.T"
                )
            return r.choice(("np.einsum('ij,j->i', {0}, {1})", "np.einsum('ij->i', {0})", "({0} * {1}).sum(axis=1)",
                             "np.einsum('ij,ij->i', {0}, {0})", "np.inner({0}, {1})")).format(matrix, vector)
        if len(dims) == 2:
            if self.chance(0.6):
                one, two = self.array(dims[:1], depth - 1), self.array(dims[1:], depth - 1)
                how = r.choice((f"np.{r.choice(OUTER)}.outer({{0}}, {{1}})", "np.outer({0}, {1})",
                                "np.einsum('i,j->ij', {0}, {1})", "{0}[:, None] * {1}[None, :]"))  # fmt: skip
                return how.format(f"{one}", f"{two}") if "[:" not in how else how.format(f"({one})", f"({two})")
            inner = r.choice([d for dims in self.arrays.values() for d in dims])
            one, two = self._known(dims[0], inner), self._known(inner, dims[1])
            if not one or not two:
                return ""
            return r.choice(("{0} @ {1}", "np.dot({0}, {1})", "np.einsum('ij,jk->ik', {0}, {1})")).format(one, two)
        return ""

    def searched(self, dims: tuple[str, ...], depth: int) -> str:
        r = self.random
        along = r.choice([d for dims in self.arrays.values() for d in dims])
        table, x = f"np.sort({self.leaf((along,))})", self.array(dims, depth - 1)
        match r.randrange(5):
            case 0 | 1:
                return f"np.searchsorted({table}, {x}{r.choice(('', chr(44) + ' side=' + repr('right')))})"
            case 2:
                return f"np.digitize({x}, {table})"
            case 3:
                among = self.leaf((along,))
                kinds = {np.asarray(self.value(text)).dtype.kind in "fc" for text in (x, among)}
                if len(kinds) > 1:  # NumPy finds integers that it rounds to one float in one another
                    return ""
                return f"np.isin({x}, {among})"
            case _:
                return f"np.interp({x}, {table}, {self.leaf((along,))})"

    def statistic(self, dims: tuple[str, ...]) -> str:
        """One number a line of an array that has an axis more."""
        r = self.random
        found = [
            (n, axis)
            for n, d in self.arrays.items()
            for axis in range(len(d))
            if len(d) > 1 and (*d[:axis], *d[axis + 1 :]) == dims
        ]
        if not found:
            return ""
        name, axis = r.choice(found)
        how = r.choice(("np.median({0}, axis={1})", "np.percentile({0}, {2}, axis={1})", "np.ptp({0}, axis={1})",
                        "np.quantile({0}, {3}, axis={1})",
                        f"np.{r.choice(REDUCED_BY_UFUNCS)}.reduce({{0}}, axis={{1}})",
                        f"np.{r.choice(REDUCED_BY_UFUNCS)}.reduce({{0}}, axis={{1}})", "{0}.std(axis={1})",
                        "np.nansum({0}, axis={1})", "np.nanmax({0}, axis={1})", "np.nanmean({0}, axis={1})",
                        "np.average({0}, axis={1})", "np.linalg.norm({0}, axis={1})", "np.count_nonzero({0}, axis={1})",
                        "{0}.argmax(axis={1})", "np.argmin({0}, axis={1})", "np.sort({0}, axis={1}).take(0, axis={1})",
                        "{0}.max(axis={1}, initial=1)", "{0}.sum(axis={1}, dtype=np.float64)",
                        "np.diff({0}, axis={1}).sum(axis={1})", "np.trapezoid({0}, axis={1})"))  # fmt: skip
        return how.format(name, axis, r.choice((30, 50, 75)), r.choice((0.25, 0.5, 0.9)))

    def with_kept_axis(self, dims: tuple[str, ...], depth: int) -> str:
        """An array with something of its own lines: ``a - a.mean(axis=1, keepdims=True)``."""
        r = self.random
        x = self.leaf(dims) if self.chance(0.7) else f"({self.array(dims, depth - 1)})"
        how = r.choice(("max", "min", "sum", "mean", "any", "all", "prod", "max", "sum", "argmax"))
        axis = r.randrange(len(dims))
        kept = f"{x}.{how}(axis={axis}, keepdims=True)"
        return f"({x} {r.choice(('-', '/', '+', '*', *COMPARISONS))} {kept})"

    def picked(self, dims: tuple[str, ...]) -> str:
        """An element of each row, or the elements of each row in another order."""
        r = self.random
        if len(dims) == 1:
            found = [n for n, d in self.arrays.items() if len(d) == 2 and d[0] == dims[0]]
            if not found:
                return ""
            name = r.choice(found)
            at = r.choice((f"{name}.argmax(axis=1)", f"{name}.argmin(axis=1)",
                           self.positions(dims, self.arrays[name][1])))  # fmt: skip
            if self.chance(0.3):
                return f"np.take_along_axis({name}, ({at})[:, None], axis=1)[:, 0]"
            return f"{name}[np.arange({self.size(dims[0])}), {at}]"
        name = self.leaf(dims)
        return f"np.take_along_axis({name}, np.argsort({name}, axis=-1, kind='stable'), axis=-1)"

    # --- arrays of any size

    def free(self, depth: int = 1) -> str:
        """An array whose size is what NumPy makes it: joined, repeated, or what a condition leaves."""
        text = self._joined() if self.chance(0.35) else self._filtered(depth)
        value = self.value(text)
        if not isinstance(value, np.ndarray) or self.chance(0.55):
            return text
        if value.ndim == 1:
            return self.random.choice(AFTER_LINES).format(text)
        return self.random.choice(AFTER_MATRICES).format(text)

    def _line(self, depth: int = 0) -> tuple[str, tuple[str, ...]]:
        """An array of one axis."""
        dims = self.random.choice([d for d in self.arrays.values() if len(d) == 1])
        return self.array(dims, depth), dims

    def _joined(self) -> str:
        r = self.random
        (one, dims), (two, _) = self._line(), self._line()
        same = self.array(dims, 0)
        if self.chance(0.25):
            found = [n for n, d in self.arrays.items() if len(d) == 2]
            if found:
                return r.choice(JOINED_MATRICES).format(r.choice(found), r.choice(found))
        return r.choice(JOINED_LINES).format(one, two, same, self.scalar(0))

    def _filtered(self, depth: int) -> str:
        r = self.random
        if self.chance(0.25):
            found = [(n, d) for n, d in self.arrays.items() if len(d) == 2]
            if found:
                name, dims = r.choice(found)
                mask, rows = self.mask(dims, depth), self.mask(dims[:1], depth)
                return r.choice(FILTERED_MATRICES).format(name, mask, rows)
        x, dims = self._line()
        mask, same = self.mask(dims, depth), self.array(dims, 0)
        return r.choice(FILTERED_LINES).format(x, mask, same, self.scalar(0))

    # --- numbers

    def _scalar(self, depth: int) -> str:
        if self.wide and depth > 0 and self.chance(0.2):
            return self.measure(depth)
        return super()._scalar(depth)

    def measure(self, depth: int) -> str:
        """A number that stands for an array."""
        r = self.random
        (one, dims) = self._line(depth - 1)
        two = self.array(dims, 0)
        mask = self.mask(dims, 0)
        shown = one if one.isidentifier() else f"({one})"
        return r.choice(MEASURES).format(shown, two, mask, self.scalar(0))

    def condition(self, depth: int) -> str:
        if self.wide and self.chance(0.15):
            r = self.random
            match r.randrange(4):
                case 0 | 1:
                    first, last = r.choice(COMPARISONS[:4]), r.choice(COMPARISONS[:5])
                    return f"{self.scalar(0)} {first} {self.scalar(depth)} {last} {self.scalar(0)}"
                case 2:
                    return f"{self.scalar(depth)} in ({self.scalar(0)}, {self.scalar(0)})"
                case _:
                    return f"not ({super().condition(depth)})"
        return super().condition(depth)
