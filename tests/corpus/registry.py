"""What a case of the corpus is, and how its outcome is held against NumPy's."""

from __future__ import annotations

import copy
import dataclasses
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

SPECIAL = (np.nan, np.inf, -np.inf, -0.0, 0.0, 1.0, -1.0, 5e-324, 1e-30, 1e30)


@dataclass(frozen=True)
class Case:
    """A function and how its arguments are drawn; it is run on two draws, and on one with special values in it.

    `ulps`: how far floats may be from NumPy's, in units in the last place: 0 where all operations are exact, a few for
    the C library's functions and for sums, whose order differs. `scale`: the size of what is added up, where terms
    cancel: `ulps` then counts units in the last place of that. On the devices four times `ulps` hold.
    `special`: whether NaN, infinities, zeros of both signs and subnormals are put into the floating-point arrays
    (not where a loop would not end with them). `refused`: what a target cannot compile, with a part of its message.
    """

    function: Callable[..., Any]
    inputs: Callable[[np.random.Generator], tuple[Any, ...]]
    ulps: float = 0
    scale: float = 0.0
    special: bool = True
    refused: Mapping[str, str] = field(default_factory=dict)

    def arguments(self) -> list[tuple[Any, ...]]:
        """The arguments of all calls to be made."""
        draws = [self.inputs(np.random.default_rng(seed)) for seed in range(2)]
        if self.special:
            random = np.random.default_rng(2)
            draws.append(tuple(with_special_values(a, random) for a in self.inputs(random)))
        return draws


def with_special_values(value: Any, random: np.random.Generator) -> Any:
    """`value` with about a quarter of the elements of its floating-point arrays replaced, in place."""
    match value:
        case np.ndarray() if value.dtype.kind in "fc" and value.flags.writeable:
            chosen = random.random(value.shape) < 0.25
            with np.errstate(all="ignore"):
                value[chosen] = random.choice(SPECIAL, int(chosen.sum())).astype(value.real.dtype)
        case tuple() | list():
            for item in value:
                with_special_values(item, random)
        case dict():
            for item in value.values():
                with_special_values(item, random)
        case _ if dataclasses.is_dataclass(value):
            for item in vars(value).values():
                with_special_values(item, random)
    return value


@dataclass(frozen=True)
class Outcome:
    """What a call gave: its result or its exception, the arguments after it, and which results share their memory."""

    result: Any
    arguments: tuple[Any, ...]
    error: Exception | None
    views: tuple[bool, ...]


def outcome(function: Callable[..., Any], arguments: tuple[Any, ...]) -> Outcome:
    """Calls `function` on deep copies."""
    mine = copy.deepcopy(arguments)
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            result = function(*mine)
        except Exception as error:
            return Outcome(None, mine, error, ())
    views = [any(np.may_share_memory(r, a) for a in arrays_in(mine)) for r in arrays_in(result)]
    return Outcome(result, mine, None, tuple(views))


def arrays_in(value: Any) -> list[np.ndarray[Any, Any]]:
    """The arrays in containers, in order."""
    match value:
        case np.ndarray():
            return [value]
        case tuple() | list():
            return [a for item in value for a in arrays_in(item)]
        case dict():
            return [a for item in value.values() for a in arrays_in(item)]
        case _ if dataclasses.is_dataclass(value):
            return [a for item in vars(value).values() for a in arrays_in(item)]
        case _:
            return []


def difference(found: Any, wanted: Any, ulps: float = 0, scale: float = 0.0, flushed: bool = False) -> str:
    """What differs first between two results, or nothing; `flushed`: a zero may stand for a subnormal number."""
    if type(found) is not type(wanted):
        return f"{type(found).__name__} instead of {type(wanted).__name__}"
    match wanted:
        case list() | tuple():
            if len(found) != len(wanted):
                return f"{len(found)} items instead of {len(wanted)}"
            pairs = [(f"[{k}]", f, w) for k, (f, w) in enumerate(zip(found, wanted, strict=True))]
        case dict():
            if list(found) != list(wanted):
                return f"keys {list(found)} instead of {list(wanted)}"
            pairs = [(f"[{k!r}]", found[k], wanted[k]) for k in wanted]
        case np.ndarray() | np.generic():
            return _array_difference(found, wanted, ulps, scale, flushed)
        case float() | complex():
            return _array_difference(np.asarray(found), np.asarray(wanted), ulps, scale, flushed)
        case _ if dataclasses.is_dataclass(wanted) or type(wanted).__module__.startswith(("tests.", "in_parts_")):
            pairs = [(f".{k}", getattr(found, k), w) for k, w in vars(wanted).items()]
        case _:
            return "" if found == wanted else f"{found!r} instead of {wanted!r}"
    return next((name + d for name, f, w in pairs if (d := difference(f, w, ulps, scale, flushed))), "")


def _array_difference(found: Any, wanted: Any, ulps: float, scale: float, flushed: bool) -> str:
    if (found.dtype, found.shape) != (wanted.dtype, wanted.shape):
        return f": {found.dtype}{list(found.shape)} instead of {wanted.dtype}{list(wanted.shape)}"
    if wanted.dtype.kind == "c":
        parts = ((found.real, wanted.real), (found.imag, wanted.imag))
        return next((d for f, w in parts if (d := _array_difference(f, w, ulps, scale, flushed))), "")
    same = found == wanted
    if wanted.dtype.kind == "f":
        if not ulps:
            same &= np.signbit(found) == np.signbit(wanted)
        else:
            with np.errstate(all="ignore"):
                unit = np.spacing(np.maximum(abs(wanted), wanted.dtype.type(scale)))
                same |= abs(found - wanted) <= ulps * unit
        same |= (found != found) & (wanted != wanted)
        if flushed:
            same |= (abs(wanted) < np.finfo(wanted.dtype).tiny) & (found == 0)
    if np.all(same):
        return ""
    first = tuple(int(k) for k in np.argwhere(~np.asarray(same))[0])
    f, w = np.asarray(found)[first], np.asarray(wanted)[first]
    count = int(np.sum(~np.asarray(same)))
    return f"{list(first)}: {f!r} instead of {w!r} ({count} of {np.size(wanted)} differ)"
