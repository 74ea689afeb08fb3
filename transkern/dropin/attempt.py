"""Compiled code that may decline a call: the function then runs in Python, in its own frame, as if nobody had tried.

What has been tried leaves no trace: where compiled code raises, or a number overflows on the way of which NumPy would
warn, the arguments that it has written are as they were before, and Python's run gives the error or the warning, with
its own traceback, locals and line. Where that cannot be (functions that print or draw numbers have done it; copies of
what is written would take longer than the call), the error comes from compiled code, which gives it the user's frames.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import replace
from typing import Any, TypeGuard

import numpy as np

from transkern import limits
from transkern.dropin.declining import OTHER_TYPES, Declined, Warned
from transkern.errors import CompileError, HasEffects, TranskernError, WarnsItself
from transkern.frontend.sources.module_names import names_of, parameters_for
from transkern.plain import is_plain_object, part_path
from transkern.runtime import floating
from transkern.runtime.calls.uses import used_by
from transkern.runtime.compiled import Compiled
from transkern.runtime.foreign import kind_of
from transkern.runtime.specialisation import Specialisation
from transkern.runtime.structures import attributes_of, noting
from transkern.warned import lines_kept

SECONDS = 5.0
"""What a function may take to translate, without the C compiler, at the most: a script is waiting."""

PATIENCE = 30.0
"""The same where none is."""

_FIRST = 1 << 26  # bytes of arrays that are copied before a call of which nobody knows what it writes
_COPIED = 3e-10  # seconds a byte
_DEEP = 4  # objects in each other that are looked at
_SMALL = 1 << 18  # bytes whose copies are never too much
_SHARE = 0.1  # of a call's time, for copies
_WARNS = "`warnings.warn` looks at the frames around it, and warns of a line once"
_WARNINGS = 3  # calls that are given to Python for its warnings: the same lines do not warn again


Saved = dict[str, tuple[Any, Any]]
"""Arrays that are arguments, by their names, with copies of them."""


class Attempt(Compiled):
    """A function compiled for what it is called with, or `Declined`."""

    def __init__(
        self, function: Callable[..., Any], target: str, may_compile: Callable[[], bool], clock: Callable[[], float],
        brief: bool | None = None,
    ) -> None:  # fmt: skip
        super().__init__(function, target=target, fallback="numpy", warnings="numpy" if target == "cpu" else None)
        self._clock = clock
        self._is_part, self.in_numpy.is_brief = brief is not None, bool(brief)
        self.in_numpy.is_quiet = True  # a script says what it says
        self.known.texts_vary = True  # what code by characters does not do, Python does
        self.refused: dict[tuple[int, int, int, int], str] = {}  # the statements that are in the way, and why
        self.seconds = 0.0  # that the last call has compiled
        self.why, self.took_too_long = "", False
        self.patience = SECONDS
        self.most = SECONDS  # that it may take to translate now
        self._may_compile = may_compile
        self._warned = 0  # calls that Python has run for its warnings
        self.prints = False  # or draws: such a call cannot be made twice
        self.last = 0.0  # seconds of the last call without, of the clock that times calls
        self._compiling = 0.0  # by this clock
        self._used = used_by(self.function)
        self._places: dict[str, tuple[int, str | None]] = {}  # of arrays that the code writes: arguments and attributes
        self._written: tuple[int, frozenset[str] | None] = (0, None)  # by how many codes, and what `_writes` says

    def __call__(self, *args: Any, **keywords: Any) -> Any:
        if floating.asked() or any(kind_of(v) is not None for v in (*args, *keywords.values())):
            raise Declined  # a tracer of JAX, a tensor that wants its gradient
        self.seconds = 0.0
        return self._made(lambda: self._served(args, keywords), self._saved(args, keywords))

    def direct(self, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
        """The call, where there is code for its arguments, and NotImplemented elsewhere: what is asked at a first call
        is known of these. Raises as a call does."""
        if floating.asked():
            raise Declined
        unchanged = self.known.unchanged
        if self._is_special or self._running.__code__ is not self._code or (unchanged is not None and not unchanged()):
            return NotImplemented
        given = self._parameters.complete(args, keywords) if keywords or len(args) != self._count else args
        if given is None:
            return NotImplemented
        given = (*given, *self._more)
        writes = self._writes() if self.options.warnings is not None else None
        saved = self._copies(self._arrays_at(given, writes)) if writes else None if writes is None else {}
        return self._made(lambda: self._fast(*given), saved)

    def _made(self, call: Callable[[], Any], saved: Saved | None) -> Any:
        """What a call of compiled code gives; where Python is to make it once more, the arguments are as before."""
        floating.lower()
        with nullcontext(None) if saved is None else noting() as undo:
            try:
                result = call()
            except Declined:
                raise
            except TranskernError as error:
                self.why = self.why or str(error)
                raise Declined from None
            except Exception:
                if undo is None or not self._may_run_again(saved):
                    raise
                undo()
                _put_back(saved)
                raise Declined from None
        if undo is not None and floating.raised() and self._warned < _WARNINGS and self._may_run_again(saved):
            self._warned += 1
            undo()
            _put_back(saved)
            raise Warned
        return result

    def _served(self, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
        started, self._compiling = self._clock(), 0.0
        result = super().__call__(*args, **keywords)
        self.last = self._clock() - started - self._compiling
        return result

    def _begin(self) -> None:
        super()._begin()
        self._is_special = self._variadic

    def _noting(self, args: Sequence[Any], keywords: Mapping[str, Any]) -> AbstractContextManager[None]:
        return nullcontext()  # flags are looked at behind the call

    def takes_no_second_run(self) -> None:
        """It prints, or draws: NumPy's warnings, which take a second run, are not to be had."""
        self.options, self.why, self.prints = replace(self.options, warnings=None), "", True
        self.known.refused.clear()

    def _in_parts(self, error: TranskernError, key_types: tuple[Any, ...], target: str) -> Callable[..., Any]:
        self._say_that_numpy_runs(error)
        if isinstance(error, WarnsItself):
            from transkern.partial.parts import places_at

            with suppress(TranskernError):
                found = places_at(self._running, error.spans)
                file = self._code.co_filename
                self.refused = {place: f"{file}:{place[0]}:{place[1] + 1}: {_WARNS}" for place in found}
        elif isinstance(error, limits.Exhausted):
            self.took_too_long = True
        elif isinstance(error, CompileError) and not isinstance(error, HasEffects):
            from transkern.partial.parts import refused_places

            left = max(min(self.patience, self.most) - self.seconds, 0.0)
            with suppress(TranskernError), limits.within(left):
                refused = refused_places(self._running, key_types, target == "cpu")
                self.refused = {place: str(why) for place, why in refused.items()}
        return self.function

    def _told(self, error: TranskernError, key_types: tuple[Any, ...], target: str) -> TranskernError:
        return error  # nobody reads more than one

    def _specialise(self, key_types: tuple[Any, ...], target: str) -> Specialisation | None:
        if not self._is_on_disk(key_types, target) and not self._may_compile():
            self.why = OTHER_TYPES
            raise Declined
        left = min(self.patience, self.most) - self.seconds  # what is found to be a constant begins anew
        if left <= 0:
            self.why, self.took_too_long = "takes longer to compile than it can save", True
            raise Declined
        started, begun = time.perf_counter(), self._clock()
        try:
            with limits.within(left), lines_kept():
                made = super()._specialise(key_types, target)
                if made is None and self.prints and self.options.warnings is not None:
                    self.takes_no_second_run()
                    made = super()._specialise(key_types, target)
            if made is not None:
                made.is_part = self._is_part
            return made
        finally:
            self.seconds += time.perf_counter() - started
            self._compiling += self._clock() - begun

    def _is_on_disk(self, key_types: tuple[Any, ...], target: str) -> bool:
        """Whether code for these types is only to be loaded."""
        from transkern.runtime.caching.cached import is_kept

        return (target, key_types) not in self.known.refused and is_kept(self.function, key_types, target, self.options)

    def _say_that_numpy_runs(self, error: TranskernError) -> None:
        self.prints = self.prints or (isinstance(error, HasEffects) and not isinstance(error, WarnsItself))
        self.why = _WARNS if isinstance(error, WarnsItself) else str(error)

    def _in_numpy(self, call: Callable[[], Any]) -> Any:
        if self.in_numpy.is_brief:
            self.why = self.why or "takes lists or objects apart, which takes longer than what it does with them"
        raise Declined

    def follow(self, other: Attempt | None) -> None:
        """Takes those names of modules for arguments that another attempt at the function has found to be."""
        if other is not None:
            self.outside = other.outside
            self._begin()

    # --- as if nothing had been tried

    def _given(self, args: Sequence[Any], keywords: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments by their names, and what is passed behind them; as long as there is no code, what might be."""
        parameters, values = self.outside.parameters, self.outside.values
        if not values and not self.known.code:
            space = self.function.__globals__
            arrays = [name for name in self._code.co_names if isinstance(space.get(name), np.ndarray)]
            values = (names_of(space, arrays),) if arrays else ()
            parameters = parameters_for([type(value) for value in values], self._names)
        return {**dict(zip(self._names, args, strict=False)), **keywords, **dict(zip(parameters, values, strict=True))}

    def _saved(self, args: Sequence[Any], keywords: Mapping[str, Any]) -> Saved | None:
        """The arrays among the arguments that a call writes, with copies; None where they would take too long, or where
        what is written is not an argument itself."""
        given = self._given(args, keywords)
        only = {name: self._used(name, value).names for name, value in given.items()}
        whole = (v if only[name] is None else attributes_of(v, only[name]) for name, v in given.items())
        if self.options.warnings is None or not all(map(_is_known_whole, whole)):
            return None
        writes = self._writes()
        if self.known.code and writes is None:
            return None
        return self._copies(self._arrays_of(args, keywords, writes))

    def _arrays_of(
        self, args: Sequence[Any], keywords: Mapping[str, Any], names: Collection[str] | None
    ) -> dict[str, Any]:
        """The arrays among the arguments, all of them or those that have these names in the code."""
        given = self._given(args, keywords)
        arrays = (x for name, v in given.items() for x in _arrays(name, v, self._names, self._used(name, v).names))
        return {name: value for name, value in arrays if names is None or name in names}

    def _arrays_at(self, given: Sequence[Any], names: Collection[str]) -> dict[str, Any]:
        """The same of some that are not looked for at each call, where all are there."""
        found: dict[str, Any] = {}
        for name in names:
            if name not in self._places:
                self._places[name] = _place_of(name, self._names, given)
            position, attribute = self._places[name]
            value = given[position] if attribute is None else getattr(given[position], "__dict__", {}).get(attribute)
            if isinstance(value, np.ndarray):
                found[name] = value
        return found

    def _copies(self, arrays: Mapping[str, Any]) -> Saved | None:
        most = max(_SMALL, int(self.last * _SHARE / _COPIED)) if self.known.code else _FIRST
        if sum(a.nbytes for a in arrays.values()) > most:
            return None
        try:
            return {name: (a, a.copy()) for name, a in arrays.items()}
        except MemoryError:
            return None

    def _writes(self) -> frozenset[str] | None:
        """The arrays among the arguments that the code writes, any of it: nobody knows which a call has taken."""
        count = self.known.info.compiled + self.known.info.from_disk
        if self._written[0] != count:
            self._written = count, frozenset(name for one in list(self.known.code.values()) for name in one.written)
        return self._written[1]

    def _may_run_again(self, saved: Saved | None) -> TypeGuard[Saved]:
        """Whether a call that has been made may be made once more."""
        if saved is None or self.options.warnings is None:
            return False
        if not self.known.code:
            return True
        writes = self._writes()
        return writes is not None and writes <= saved.keys()


class Ahead(Attempt):
    """A function that is compiled for a call which another process makes."""

    is_made = False

    def compile_ahead(self, args: tuple[Any, ...], keywords: dict[str, Any]) -> None:
        """Puts code for the call, with what it turns out to need, into the disk cache."""
        self.patience = self.most = PATIENCE
        with suppress(Declined):
            self(*args, **keywords)

    def _specialise(self, key_types: tuple[Any, ...], target: str) -> Specialisation | None:
        made = super()._specialise(key_types, target)
        if made is None:
            return None
        self.is_made = True
        raise Declined

    def _saved(self, args: Sequence[Any], keywords: Mapping[str, Any]) -> Saved | None:
        return None  # nothing runs


def _is_known_whole(value: Any, depth: int = 0) -> bool:
    """Whether a value has nothing in it that a call could change without being seen: numbers, texts, arrays, and what
    is made of these."""
    if value is None or isinstance(value, (np.ndarray, np.generic, int, float, complex, str, bytes, np.dtype, type)):
        return True
    if depth == _DEEP:
        return False
    if isinstance(value, (list, tuple, set, frozenset)):
        return all(_is_known_whole(v, depth + 1) for v in value)
    if isinstance(value, dict):
        return all(_is_known_whole(v, depth + 1) for v in value.values())
    held = getattr(value, "__dict__", None)
    return isinstance(held, dict) and is_plain_object(value) and _is_known_whole(held, depth)


def _arrays(
    name: str, value: Any, parameters: Collection[str], only: Collection[str] | None
) -> Iterator[tuple[str, Any]]:
    """An argument that is an array, or the arrays that it has as attributes that are used (`only`, or all), by the
    names that compiled code has."""
    if isinstance(value, np.ndarray):
        yield name, value
    elif is_plain_object(value):
        for attribute, held in getattr(value, "__dict__", {}).items():
            if isinstance(held, np.ndarray) and (only is None or attribute in only):
                yield part_path(name, attribute, parameters), held


def _place_of(name: str, parameters: Sequence[str], given: Sequence[Any]) -> tuple[int, str | None]:
    """The argument that code knows as `name`, or the one that has it as an attribute, and which."""
    for k, (parameter, value) in enumerate(zip(parameters, given, strict=True)):
        if parameter == name:
            return k, None
        for attribute in getattr(value, "__dict__", ()) if is_plain_object(value) else ():
            if part_path(parameter, attribute, parameters) == name:
                return k, attribute
    return 0, ""  # it is deeper than that


def _put_back(saved: Saved) -> None:
    for array, before in saved.values():
        if array.flags.writeable:
            np.copyto(array, before)
