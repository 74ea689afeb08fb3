"""What NumPy answers, and how far an answer may be from it.

The function runs as it stands, and some times more with noise: sums that are not exact in every order, and elementary
functions, are off by a few units in their last place. What the noise does not reach must agree bit for bit. What it
reaches may differ by a multiple of what the noise did. Where the noise changes a branch, an integer or an exception,
the program says nothing and is left out.
"""

from __future__ import annotations

import ast
import copy
import math
import random
import signal
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Literal
from unittest import mock

import numpy as np

from transkern.errors import EMPTY, NOT_COMPILED, NOT_HELD, SEVERAL, TOO_LARGE

_PRODUCTS = ("dot", "matmul", "einsum", "inner", "vdot", "tensordot", "convolve", "correlate")
_SUMS = ("sum", "mean", "var", "std", *_PRODUCTS, "prod", "norm", "trace", "average", "nansum", "nanmean", "trapezoid",
         "reduce", "reduceat")  # fmt: skip
_SCANS = ("cumsum", "cumprod", "nancumsum", "nancumprod", "accumulate")
_REDUCED = {"np.add": "sum", "np.multiply": "prod", "np.maximum": "max", "np.minimum": "min", "np.fmax": "fmax",
            "np.fmin": "fmin"}  # fmt: skip
"""What methods of ufuncs that go over an axis are, as far as rounding and the signs of zeros go."""
_ELEMENTARY = ("exp", "log", "sin", "cos", "tan", "tanh", "log1p", "expm1", "arctan", "cbrt", "log2", "exp2", "sinh",
               "cosh", "arcsinh", "log10", "power", "arctan2", "hypot", "float_power")  # fmt: skip
_EITHER_ZERO = ("fmax", "fmin", "nanmax", "nanmin")
"""Of 0.0 and -0.0 NumPy takes one or the other, as its vector loops come to them."""
_EXTREMES = ("max", "min", "amax", "amin")
"""The same, where there are more elements than a processor's vector has."""
_PARTITIONS = ("median", "nanmedian", "nanpercentile", "nanquantile", "percentile", "quantile")
"""The same: a partition puts either one first."""
_ORDERS = ("sort",)
"""The same, but only devices go through elements in another order."""
ENDLESS = "NumPy does not come to an end"
_ROUNDS = 5  # two pairs, in which all is off by as much to either side, and one with exact sums
_ULPS = 4


@dataclass
class Outcome:
    """A call's result or exception, and its arguments afterwards."""

    result: Any
    error: Exception | None
    arguments: list[Any]
    noise: dict[str, Any] = field(default_factory=dict)  # what may differ: the place -> by how much
    fragile: str = ""  # why nothing can be said
    chooses: bool = False  # whether the program has branches or loops


def call(function: Callable[..., Any], arguments: list[Any], refused: type[Exception] | tuple[()] = ()) -> Outcome:
    """The outcome of a call; `refused` are exceptions that are not the function's own."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            return Outcome(function(*arguments), None, arguments)
        except refused:
            raise
        except Exception as error:
            return Outcome(None, error, arguments)


class TooLong(BaseException):
    """NumPy has not answered in time."""


class _Limit:
    """Raises TooLong in what takes more than some seconds of the processor (in a main thread; programs that another
    made smaller may not end).

    It raises again and again until the block is left: an exception is lost where it comes into a callback, like
    those that JAX has the garbage collector call.
    """

    def __init__(self, seconds: float = 5.0) -> None:
        self.seconds, self.open = seconds, False

    def late(self, number: int, frame: Any) -> None:
        if self.open:
            raise TooLong

    def __enter__(self) -> None:
        self.open = True
        signal.signal(signal.SIGPROF, self.late)  # which stays: a late signal would end the process otherwise
        signal.setitimer(signal.ITIMER_PROF, self.seconds, self.seconds / 5)

    def __exit__(self, *raised: object) -> None:
        self.end()

    def end(self) -> None:
        """No more of it; also for who catches TooLong, which may have come on the way into `__exit__`."""
        self.open = False
        signal.setitimer(signal.ITIMER_PROF, 0)


class Oracle:
    """NumPy's outcomes of a module's function ``f``."""

    def __init__(self, source: str, scans: bool = False, subnormals: bool = True) -> None:
        """`scans`: running sums and extremes may be taken in another order (on a device); `subnormals`: whether the
        target has them (XLA, as a TPU, makes zeros of them)."""
        self.underflow: Literal["ignore", "warn"] = "ignore" if subnormals else "warn"
        self.plain: dict[str, Any] = {"__name__": "plain"}
        self.chooses = any(isinstance(x, (ast.If, ast.For, ast.While, ast.IfExp)) for x in ast.walk(ast.parse(source)))
        exec(compile(source, "<numpy>", "exec"), self.plain)
        sums = (*_SUMS, *_EXTREMES, *_PARTITIONS, *((*_SCANS, *_ORDERS) if scans else ()))
        tree = _Noisy(sums).visit(ast.parse(source))
        noisy = ast.unparse(ast.fix_missing_locations(tree))
        self.noisy: dict[str, Any] = {"__name__": "noisy"}
        self.has_noise = "__noise__" in noisy
        if self.has_noise:
            exec(compile(noisy, "<noisy>", "exec"), self.noisy)

    def outcome(self, make: Callable[[], list[Any]]) -> Outcome:
        """NumPy's outcome for the arguments that `make` makes, with what may differ from it."""
        state = np.errstate(all="ignore", invalid="warn", under=self.underflow)
        with warnings.catch_warnings(record=True) as told, state:
            warnings.simplefilter("always")
            arguments, limit = make(), _Limit()
            try:
                with limit, _interpolating() as meaningless, _signs_of_nan() as unknown:
                    found = Outcome(self.plain["f"](*arguments), None, arguments)
            except TooLong:
                limit.end()
                return Outcome(None, None, arguments, fragile=ENDLESS)
            except Exception as error:
                found = Outcome(None, error, arguments)
        found.chooses = self.chooses
        if any("in cast" in str(w.message) for w in told):
            found.fragile = "a float that an integer type does not hold is cast"
        if any("underflow" in str(w.message) for w in told):
            found.fragile = "a number is subnormal, and the target has none"
        if meaningless:
            found.fragile = "sample points of an interpolation are not in order"
        if unknown:
            found.fragile = "the sign of a NaN that arithmetic made is asked for"
        if not self.has_noise or found.fragile:
            return found
        for k in range(_ROUNDS):
            exact = k == _ROUNDS - 1
            self.noisy["__noise__"] = _Noise(random.Random(k // 2), turned=k % 2 == 1, exact=exact)
            try:
                with limit:
                    other = call(self.noisy["f"], make())
            except TooLong:
                limit.end()
                found.fragile = "rounding decides about the end"
                return found
            if (type(other.error), str(other.error)) != (type(found.error), str(found.error)):
                found.fragile = "rounding decides about an exception"
                return found
            if not _gather(found.noise, (other.result, other.arguments), (found.result, found.arguments), ""):
                found.fragile = "rounding decides about a branch or an integer"
                return found
        return found


@contextmanager
def _interpolating() -> Iterator[list[bool]]:
    """Notes of interpolations between points out of order or NaN: NumPy says that the results mean nothing (its
    search looks around the place of the query before)."""
    original = np.interp
    noted: list[bool] = []

    def watched(x: Any, xp: Any, *more: Any, **keywords: Any) -> Any:
        points = np.asarray(xp, np.float64)
        if not np.all(points[1:] >= points[:-1]):
            noted.append(True)
        return original(x, xp, *more, **keywords)

    with mock.patch.object(np, "interp", watched):
        yield noted


@contextmanager
def _signs_of_nan() -> Iterator[list[bool]]:
    """Notes of questions about the sign of a negative NaN: arithmetic makes those on some processors, and by the order
    of operands (IEEE 754 says that the sign of a NaN means nothing). The arguments' are positive."""
    signbit, copysign = np.signbit, np.copysign
    noted: list[bool] = []

    def note(x: Any) -> None:
        x = np.asarray(x)
        if x.dtype.kind == "f" and np.any(np.isnan(x) & signbit(x)):
            noted.append(True)

    def watched(x: Any, *more: Any, **keywords: Any) -> Any:
        note(x)
        return signbit(x, *more, **keywords)

    def watched_copy(x: Any, y: Any, *more: Any, **keywords: Any) -> Any:
        note(y)
        return copysign(x, y, *more, **keywords)

    with mock.patch.object(np, "signbit", watched), mock.patch.object(np, "copysign", watched_copy):
        yield noted


class _Noisy(ast.NodeTransformer):
    """Calls of what rounds in ways of its own become calls of `__noise__`."""

    def __init__(self, sums: Sequence[str]) -> None:
        self.sums = sums

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        match node.func:
            case ast.Attribute(value=owner, attr=name) if name in (*self.sums, *_ELEMENTARY, *_EITHER_ZERO):
                called = ast.unparse(owner)
                if called.startswith("np"):
                    first = [ast.Constant(ast.unparse(node.func)), *node.args]
                else:
                    first = [ast.Constant(f"np.{name}"), owner, *node.args]
                return ast.Call(ast.Name("__noise__", ast.Load()), first, node.keywords)
            case _:
                return node

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        self.generic_visit(node)
        names = {ast.Pow: "np.power", ast.MatMult: "np.matmul"}
        if type(node.op) in names:
            given = [ast.Constant(f"**{names[type(node.op)]}"), node.left, node.right]
            return ast.Call(ast.Name("__noise__", ast.Load()), given, [])
        return node


class _Noise:
    def __init__(self, rng: random.Random, turned: bool, exact: bool = False) -> None:
        """`turned`: what another one with such numbers makes larger becomes smaller; `exact`: sums are what they are,
        where terms that cancel each other would let noise swamp them."""
        self.rng, self.turned, self.exact = rng, turned, exact
        self.factors: dict[bytes, Any] = {}

    def _either(self) -> bool:
        return (self.rng.random() < 0.5) != self.turned

    def __call__(self, name: str, *args: Any, **keywords: Any) -> Any:
        made = self._made(name, args, keywords)
        out = keywords.get("out")
        if not isinstance(out, np.ndarray):
            return made
        out[...] = made  # what others see of it is as far off
        return out

    def _made(self, name: str, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
        if name.startswith("**"):
            value = args[0] @ args[1] if name.endswith("matmul") else args[0] ** args[1]
        else:
            function: Any = np
            for part in name.split(".")[1:]:
                function = getattr(function, part)
            value = function(*args, **keywords)
        kind = np.asarray(value).dtype
        if kind.kind != "f":
            return value
        owner, _, short = name.rpartition(".")
        args = tuple(a for a in args if not isinstance(a, str))  # those that say what is to be summed
        if short in ("reduce", "reduceat"):
            short = _REDUCED.get(owner, short)
        if short in _EXTREMES + _PARTITIONS + _ORDERS and not _has_both_zeros(_elements(args[0], keywords, kind)):
            return value
        if short in _EITHER_ZERO + _EXTREMES + _PARTITIONS + _ORDERS:
            zero = 0.0 if self._either() else -0.0  # one for all: sums of them show the sign only where all have it
            turned = np.where(np.asarray(value) == 0, zero, value)
            return turned.astype(kind) if isinstance(value, np.ndarray) else type(value)(turned[()])
        if short in _ELEMENTARY:
            if short == "power" and _is_exact_power(args):
                return value
            return self._off(value, np.abs(value) * np.finfo(kind).eps * _ULPS)
        x = np.asarray(args[0])
        if short in ("prod", "cumprod", "nancumprod"):
            if short == "prod" and _is_beyond(x, kind):
                made = self._in_other_order(x, args, keywords)
                subnormal = (made != 0) & (np.abs(made) < np.finfo(kind).smallest_normal)  # rounded in each order anew
                rounded = np.where(np.isfinite(made), np.abs(made) * np.finfo(kind).eps * _ULPS, 0)
                return self._off(made, np.where(subnormal, 2 * np.finfo(kind).smallest_subnormal, rounded))
            x = np.log2(np.where(x == 0, 1, np.abs(x)).astype(np.float64))
            if np.all(x == np.floor(x)) and np.all(np.abs(x) < 60):
                return value
            return self._off(value, np.abs(value) * np.finfo(kind).eps * _ULPS)
        if short in _PRODUCTS and np.shape(args[0])[-1:] == (1,):  # BLAS makes either zero of -0.0
            value = np.where((np.asarray(value) == 0) & self._either(), -np.asarray(value), value)
            return value.astype(kind)[()]
        if short in _PRODUCTS:
            x = np.concatenate([np.ravel(a).astype(np.float64) for a in args[:2]])
            scale = np.max(np.abs(x[np.isfinite(x)]), initial=0) ** 2 * x.size
        else:
            scale = np.max(np.abs(x[np.isfinite(x)]).astype(np.float64), initial=0) * max(x.size, 1)
        if self.exact:
            return _exact_sum(value, x) if short in ("sum", "nansum") else value
        if short in ("sum", "nansum", "mean", "nanmean") and _may_overflow(x, kind):
            return np.full_like(value, np.nan) if self._either() else value
        precision = np.finfo(x.dtype if x.dtype.kind == "f" and short not in _PRODUCTS else kind)
        exact = _are_products_exact(x, scale, precision.nmant) if short in _PRODUCTS else _is_exact(x, precision.nmant)
        if short in ("var", "std", "norm") or not exact:
            if short == "var":
                return self._off(value, np.abs(value) * 8 * precision.eps + (scale * precision.eps) ** 2)
            if short == "std":
                return self._off(value, np.abs(value) * 8 * precision.eps + scale * precision.eps)
            return self._off(value, np.abs(value) * 2 * precision.eps + scale * precision.eps)
        return value

    def _in_other_order(self, x: Any, args: Sequence[Any], keywords: dict[str, Any]) -> Any:
        """A product that overflows or underflows on the way, with its factors in another order."""
        axis = args[1] if len(args) > 1 else keywords.get("axis")
        if axis is None:
            order = self.rng.sample(range(x.size), x.size)
            return np.prod(x.ravel()[order].reshape(x.shape), *args[1:], **keywords)
        order = self.rng.sample(range(x.shape[axis]), x.shape[axis])
        return np.prod(np.take(x, order, axis=axis), *args[1:], **keywords)

    def _off(self, value: Any, by: Any) -> Any:
        if self.exact:
            return value
        shape = np.shape(value)
        with np.errstate(all="ignore"):
            # The same sum is off by the same each time it is taken: a thousand of them do not cancel each other.
            key = np.asarray(value).tobytes()
            if (factor := self.factors.get(key)) is None:
                signs = (-1.0, 1.0) if self.turned else (1.0, -1.0)
                factor = np.array([self.rng.choice(signs) * (0.5 + self.rng.random()) for _ in range(np.size(value))])
                self.factors[key] = factor
            made = np.asarray(value) + (np.where(np.isfinite(value), by, 0) * factor.reshape(shape)).astype(
                np.asarray(value).dtype
            )
            made = np.where(np.isfinite(value) & (np.asarray(by) > 0), made, value).astype(np.asarray(value).dtype)
        if isinstance(value, np.ndarray):
            return made
        return type(value)(made[()])


def _text(value: Any) -> str:
    """A value as a message shows it: Python prints no integer of thousands of digits in decimals."""
    return hex(value) if type(value) is int and value.bit_length() > 1000 else repr(value)


def _is_exact_power(args: Sequence[Any]) -> bool:
    """NumPy and C both square by a multiplication."""
    return np.ndim(args[1]) == 0 and args[1] in (1, 2, 0)


def _elements(x: Any, keywords: dict[str, Any], kind: Any) -> Any:
    """What an extreme is taken of: an array's elements, and where it begins."""
    begin = np.asarray([keywords["initial"]] if keywords.get("initial") is not None else [], kind)
    return np.concatenate([np.ravel(np.asarray(x, kind)), begin])


def _exact_sum(value: Any, x: Any) -> Any:
    """The sum of all of `x`, in place of what NumPy's order of additions makes of it; sums over axes as they are."""
    if np.ndim(value) or x.dtype.kind != "f" or not np.all(np.isfinite(x)):
        return value
    return np.asarray(value).dtype.type(math.fsum(np.ravel(x).astype(np.float64).tolist()))


def _has_both_zeros(x: Any) -> bool:
    signs = np.signbit(x[x == 0])
    return bool(np.any(signs) and not np.all(signs))


def _is_beyond(x: Any, kind: Any) -> bool:
    """Whether products of some of these, in some order, leave the range of their type."""
    x = np.abs(x[np.isfinite(x) & (x != 0)]).astype(np.float64) if x.dtype.kind == "f" else x[:0]
    sizes = np.log2(x)
    return bool(np.sum(np.abs(sizes)) > -np.log2(np.finfo(kind).smallest_normal))


def _may_overflow(x: Any, kind: Any) -> bool:
    """Whether sums of these are finite or not by their order."""
    x = x[np.isfinite(x)].astype(np.float64)
    more, less = np.sum(x[x > 0]), -np.sum(x[x < 0])
    return bool(max(more, less) > np.finfo(kind).max and min(more, less) > 0)


def _is_exact(x: Any, bits: int) -> bool:
    """Whether sums of these have no rounding in any order."""
    if x.dtype.kind in "biu":
        return x.dtype.itemsize < 8 or bool(np.all(np.abs(x.astype(np.float64)) < 2.0**40))
    x = x[np.isfinite(x)].astype(np.float64)
    x = x[x != 0]
    if x.size == 0:
        return True
    return bool(np.log2(np.sum(np.abs(x))) - _lowest_bit(x) < bits)


def _lowest_bit(x: Any) -> int:
    """The smallest power of two of which all of some numbers (no zeros) are multiples."""
    mantissa, exponent = np.frexp(x)
    whole = np.abs(mantissa * 2.0**53).astype(np.int64)
    return int(np.min(np.log2((whole & -whole).astype(np.float64)) + exponent - 53))


def _are_products_exact(x: Any, scale: Any, bits: int) -> bool:
    """Whether sums of products of any two of these, which come to `scale` at most, have no rounding in any order."""
    x = x[np.isfinite(x) & (x != 0)]
    return x.size == 0 or bool(np.log2(scale) - 2 * _lowest_bit(x) < bits)


def _gather(noise: dict[str, Any], other: Any, wanted: Any, where: str) -> bool:
    """Notes what differs between two outcomes; whether they are alike otherwise."""
    if type(other) is not type(wanted):
        return False
    if isinstance(wanted, (tuple, list)):
        pairs = [(f"{where}[{k}]", o, w) for k, (o, w) in enumerate(zip(other, wanted, strict=False))]
        return len(other) == len(wanted) and all(_gather(noise, o, w, at) for at, o, w in pairs)
    if isinstance(wanted, dict):
        return list(other) == list(wanted) and all(
            _gather(noise, other[k], wanted[k], f"{where}[{k!r}]") for k in wanted
        )
    if not isinstance(wanted, (np.ndarray, np.generic, float)):
        return bool(other == wanted)
    one, two = np.asarray(other), np.asarray(wanted)
    if (one.dtype, one.shape) != (two.dtype, two.shape):
        return False
    if one.dtype.kind != "f":
        return bool(np.all(one == two))
    with np.errstate(all="ignore"):
        finite = np.isfinite(one) & np.isfinite(two)
        same = (one == two) | (np.isnan(one) & np.isnan(two))
        if not np.all(same | finite):
            return False
        by = np.where(same, 0, np.abs(one.astype(np.float64) - two.astype(np.float64)))
        by = np.where((one == 0) & (two == 0) & (np.signbit(one) != np.signbit(two)), np.finfo(np.float64).tiny, by)
        noise[where] = np.maximum(noise.get(where, 0.0), by)
    return True


def difference(found: Outcome, wanted: Outcome, afterwards: bool = False) -> str:
    """The first difference between an outcome and NumPy's, in words, or nothing.

    `afterwards`: an exception, too, leaves the arguments as NumPy leaves them (devices give nothing back then).
    """
    if wanted.fragile:
        return ""
    if refused_at_run_time(found.error):
        return ""
    if type(found.error) is not public_class(wanted.error) or str(found.error) != str(wanted.error):
        return f"{_told(found)}, with NumPy {_told(wanted)}"
    if wanted.error is not None and not afterwards:
        return ""
    problem = _differ(found.result, wanted.result, wanted.noise, "[0]", "the result")
    for k, (mine, theirs) in enumerate(zip(found.arguments, wanted.arguments, strict=True)):
        problem = problem or _differ(mine, theirs, wanted.noise, f"[1][{k}]", f"argument {k} afterwards")
    return problem or ("" if wanted.error is not None else _aliases(found, wanted))


def refused_at_run_time(error: BaseException | None) -> bool:
    """Whether an exception is a refusal: of what only a call can tell, as an integer beyond 64 bits, an empty list."""
    text = str(error)
    if isinstance(error, OverflowError) and text in (TOO_LARGE, NOT_HELD):
        return True
    return isinstance(error, RuntimeError) and (text in (EMPTY, SEVERAL) or text.endswith(NOT_COMPILED))


def public_class(error: BaseException | None) -> type:
    """The class of an exception, as far as NumPy shows it: a `UFuncTypeError` is a TypeError for everyone else."""
    return next(c for c in type(error).__mro__ if not c.__module__.startswith("numpy._"))


def _told(outcome: Outcome) -> str:
    if outcome.error is None:
        return "a result"
    return f"{type(outcome.error).__name__}: {outcome.error}"


def _differ(found: Any, wanted: Any, noise: dict[str, Any], where: str, shown: str) -> str:
    if type(found) is not type(wanted) and not _is_joined(found, wanted):
        return f"{shown} is {found!r} ({type(found).__name__}), with NumPy {wanted!r} ({type(wanted).__name__})"
    if isinstance(wanted, (tuple, list)):
        if len(found) != len(wanted):
            return f"{shown} has {len(found)} items, with NumPy {len(wanted)}"
        pairs = enumerate(zip(found, wanted, strict=True))
        return next((d for k, (f, w) in pairs if (d := _differ(f, w, noise, f"{where}[{k}]", f"{shown}[{k}]"))), "")
    if isinstance(wanted, dict):
        if list(found) != list(wanted):
            return f"{shown} has the keys {list(found)}, with NumPy {list(wanted)}"
        return next(
            (d for k in wanted if (d := _differ(found[k], wanted[k], noise, f"{where}[{k!r}]", f"{shown}[{k!r}]"))), ""
        )
    if not isinstance(wanted, (np.ndarray, np.generic, float)):
        return "" if found == wanted else f"{shown} is {_text(found)}, with NumPy {_text(wanted)}"
    one, two = np.asarray(found), np.asarray(wanted)
    if (one.dtype, one.shape) != (two.dtype, two.shape) and not (_is_joined(found, wanted) and one == two):
        return f"{shown} is {one.dtype}{list(one.shape)}, with NumPy {two.dtype}{list(two.shape)}"
    if two.dtype.kind == "f":
        with np.errstate(all="ignore"):
            same = (one == two) & (np.signbit(one) == np.signbit(two)) | (np.isnan(one) & np.isnan(two))
            allowed = noise.get(where)
            if allowed is not None:
                gap = np.abs(one.astype(np.float64) - two.astype(np.float64))
                spacing = np.spacing(np.abs(two)).astype(np.float64)
                same |= (allowed > 0) & (gap <= 16 * allowed + 2 * np.where(np.isfinite(spacing), spacing, 0))
    elif two.dtype.kind == "c":
        with np.errstate(all="ignore"):
            signs = (np.signbit(one.real) == np.signbit(two.real)) & (np.signbit(one.imag) == np.signbit(two.imag))
            same = (one == two) & signs | (np.isnan(one) & np.isnan(two))
    else:
        same = one == two
    if np.all(same):
        return ""
    at = tuple(int(k) for k in np.argwhere(~np.atleast_1d(same))[0])[: one.ndim]
    count = f"{np.sum(~same)} of {same.size} differ"
    return f"{shown}{list(at) if at else ''} is {one[at]!r}, with NumPy {two[at]!r} ({count})"


def _is_joined(found: Any, wanted: Any) -> bool:
    """A number whose type a branch or a loop decides has, in compiled code, the type that holds all of them."""
    if not isinstance(found, np.generic) or not isinstance(wanted, (int, float, np.generic)):
        return False
    other = np.asarray(wanted).dtype
    whole = type(wanted) is int and found.dtype.kind in "iu"  # Python's has no sign of its own
    return (found.dtype.kind == other.kind or whole) and found.dtype.itemsize >= (
        other.itemsize if isinstance(wanted, np.generic) else 0
    )


def arrays_in(value: Any) -> list[Any]:
    if isinstance(value, np.ndarray):
        return [value]
    if isinstance(value, dict):
        value = list(value.values())
    return [a for v in value for a in arrays_in(v)] if isinstance(value, (tuple, list)) else []


def _aliases(found: Outcome, wanted: Outcome) -> str:
    """Whether the arrays share memory as NumPy's do. (What a branch chooses is a copy; see `docs/language.md`.)"""
    mine = [*arrays_in(found.result), *arrays_in(found.arguments)]
    theirs = [*arrays_in(wanted.result), *arrays_in(wanted.arguments)]
    results = len(arrays_in(wanted.result))
    for i in range(results):
        for j in range(results, len(theirs)):  # results among each other do not share what is new
            one, two = np.shares_memory(mine[i], mine[j]), np.shares_memory(theirs[i], theirs[j])
            if one != two and (one or not wanted.chooses):
                with_what = f"result {j}" if j < results else f"argument array {j - results}"
                return f"array {i} of the result {'shares' if one else 'does not share'} memory with {with_what}"
    return ""


def snapshot(outcome: Outcome) -> Outcome:
    """A copy, for a later comparison."""
    return copy.deepcopy(outcome)
