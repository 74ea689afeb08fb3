"""`verify=True`: the first call of each specialisation also runs NumPy, on copies, and compares."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any, NamedTuple

import numpy as np

from transkern.errors import VerificationError
from transkern.plain import is_plain_object
from transkern.runtime.structures import attributes_of

_ULPS = 64


class Expected(NamedTuple):
    """What NumPy gives: the result or the exception, and the arguments and the module's data after the call."""

    result: Any
    error: Exception | None
    args: Sequence[Any]
    outside: Mapping[str, Any]


def expected(function: Callable[..., Any], args: Sequence[Any], outside: dict[str, Any]) -> Expected:
    """What NumPy gives for copies of the arguments, and of the data among what the function finds `outside`. Random
    generators are as before: NumPy's own, and those outside."""
    shared: dict[int, Any] = {}  # what is both an argument and outside is one thing in the copies
    mine = copy.deepcopy(tuple(args), shared)
    result, failed = None, None
    with (
        np.errstate(all="ignore"), warnings.catch_warnings(), _generators_as_they_are(outside),
        _copies_of_data(outside, shared) as after,
    ):  # fmt: skip
        warnings.simplefilter("ignore")
        try:
            result = function(*mine)
        except Exception as error:  # the function's own
            failed = error
    return Expected(result, failed, mine, after)


@contextmanager
def _copies_of_data(outside: dict[str, Any], shared: dict[int, Any]) -> Iterator[dict[str, Any]]:
    """Within, the names of a module stand for copies of their numbers, arrays, lists, dicts and objects; gives what
    they stand for behind it, but for the objects."""
    before = {name: v for name, v in outside.items() if _is_data(v) or is_plain_object(v)}
    after: dict[str, Any] = {}
    for name, value in before.items():
        with suppress(Exception):  # there is something in it that cannot be copied
            after[name] = outside[name] = copy.deepcopy(value, shared)
    try:
        yield after
    finally:
        found = {name: outside[name] for name in after}
        after.clear()
        after.update((name, value) for name, value in found.items() if _is_data(value))
        outside.update(before)


def _is_data(value: Any) -> bool:
    return isinstance(value, (int, float, complex, np.generic, np.ndarray)) or type(value) in (list, dict)


@contextmanager
def _generators_as_they_are(outside: Mapping[str, Any]) -> Iterator[None]:
    generators = [v for v in outside.values() if isinstance(v, np.random.Generator)]
    legacy: list[Any] = [np.random, *(v for v in outside.values() if isinstance(v, np.random.RandomState))]
    states = [g.bit_generator.state for g in generators]
    legacy_states = [g.get_state() for g in legacy]
    try:
        yield
    finally:
        for generator, state in zip(generators, states, strict=True):
            generator.bit_generator.state = state
        for old, state in zip(legacy, legacy_states, strict=True):
            old.set_state(state)


def check(
    name: str, found: Any, error: Exception | None, args: Sequence[Any], outside: Mapping[str, Any], wanted: Expected
) -> None:
    """Raises VerificationError with the first difference between a call's outcome and NumPy's."""
    result, failed, after, data = wanted
    if type(error) is not type(failed) or str(error) != str(failed):
        raise VerificationError(f"`{name}` gave {_told(error, found)}, and with NumPy {_told(failed, result)}")
    problem = "" if failed is not None else difference(found, result, "the result")
    for position, (mine, theirs) in enumerate(zip(args, after, strict=True)):
        problem = problem or difference(mine, theirs, f"argument {position} after the call")
    for bound, theirs in data.items():
        problem = problem or difference(outside.get(bound), theirs, f"`{bound}` of the module after the call")
    if problem:
        raise VerificationError(f"`{name}`: {problem}")


def _told(error: Exception | None, result: Any) -> str:
    return f"a result ({type(result).__name__})" if error is None else f"{type(error).__name__}: {error}"


def difference(found: Any, wanted: Any, where: str) -> str:
    """The first difference, in words, or nothing. Floats may differ in their last digits."""
    if type(found) is not type(wanted):
        return f"{where} is a {type(found).__name__}, with NumPy a {type(wanted).__name__}"
    if isinstance(wanted, (np.ndarray, np.generic, float, complex)):
        return _numbers(np.asarray(found), np.asarray(wanted), where)
    if isinstance(wanted, (tuple, list)):
        if len(found) != len(wanted):
            return f"{where} has {len(found)} items, with NumPy {len(wanted)}"
        pairs = [(f"{where}[{k}]", f, w) for k, (f, w) in enumerate(zip(found, wanted, strict=True))]
    elif isinstance(wanted, dict):
        if list(found) != list(wanted):
            return f"{where} has the keys {list(found)}, with NumPy {list(wanted)}"
        pairs = [(f"{where}[{k!r}]", found[k], wanted[k]) for k in wanted]
    elif wanted is None or isinstance(wanted, (bool, int, str)):
        return "" if found == wanted else f"{where} is {found!r}, with NumPy {wanted!r}"
    else:
        mine, theirs = attributes_of(found), attributes_of(wanted)
        if list(mine) != list(theirs):
            return f"{where} has the attributes {list(mine)}, with NumPy {list(theirs)}"
        pairs = [(f"{where}.{k}", mine[k], theirs[k]) for k in theirs]
    return next((d for name, f, w in pairs if (d := difference(f, w, name))), "")


def _numbers(found: Any, wanted: Any, where: str) -> str:
    if (found.dtype, found.shape) != (wanted.dtype, wanted.shape):
        kinds = [f"{a.dtype}[{','.join(map(str, a.shape))}]" for a in (found, wanted)]
        return f"{where} is {kinds[0]}, with NumPy {kinds[1]}"
    with np.errstate(all="ignore"):
        same = found == wanted
        if wanted.dtype.kind in "fc":
            size = abs(wanted)
            largest = size[np.isfinite(size)].max(initial=0)  # sums of terms that cancel
            scale = np.maximum(size, largest * 2.0**-8) if wanted.ndim else size
            same |= abs(found - wanted) <= _ULPS * np.finfo(wanted.dtype).eps * scale
            same |= (found != found) & (wanted != wanted)
    if np.all(same):
        return ""
    at = tuple(int(k) for k in np.argwhere(~np.asarray(same))[0])
    place = f"{where}[{', '.join(map(str, at))}]" if at else where
    count = int(np.sum(~np.asarray(same)))
    return f"{place} is {found[at]}, with NumPy {wanted[at]}" + (f" ({count} differ)" if count > 1 else "")
