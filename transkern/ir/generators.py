"""Random generators: compiled code takes their states, as words in memory."""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

import numpy as np

from transkern import refusals
from transkern.errors import CompileError

_HALF = 1 << 64

WORDS = {"PCG64": 6, "MT19937": 627}
"""Of a state, by the kind of generator."""

NUMPYS = "np.random"
"""Where NumPy's own generator is found, the one behind ``np.random.rand()``."""


def kind_of(value: Any) -> str:
    """Which kind of generator a value is, or nothing."""
    if type(value) is np.random.Generator and type(value.bit_generator) is np.random.PCG64:
        return "PCG64"
    if type(value) is np.random.RandomState and type(value._bit_generator) is np.random.MT19937:
        return "MT19937"
    return ""


def state_of(value: Any) -> np.ndarray[Any, Any]:
    """A generator's state, as `ir.library` lays it out."""
    if kind_of(value) == "PCG64":
        s = value.bit_generator.state
        number, step = s["state"]["state"], s["state"]["inc"]
        words = [number // _HALF, number % _HALF, step // _HALF, step % _HALF, s["has_uint32"], s["uinteger"]]
        return np.array(words, np.uint64)
    s = value.get_state(legacy=False)
    last = np.array([s["gauss"]]).view(np.uint64)
    parts = (s["state"]["key"], np.array([s["state"]["pos"], s["has_gauss"]]), last)
    return np.concatenate([p.astype(np.uint64) for p in parts])


def set_state(value: Any, state: np.ndarray[Any, Any]) -> None:
    """Puts a generator into a state."""
    if kind_of(value) == "PCG64":
        s = state.tolist()
        numbers = {"state": s[0] * _HALF + s[1], "inc": s[2] * _HALF + s[3]}
        value.bit_generator.state = {
            "bit_generator": "PCG64", "state": numbers, "has_uint32": s[4], "uinteger": s[5],
        }  # fmt: skip
        return
    value.set_state({
        "bit_generator": "MT19937", "state": {"key": state[:624].astype(np.uint32), "pos": int(state[624])},
        "has_gauss": int(state[625]), "gauss": float(state[626:].view(np.float64)[0]),
    })  # fmt: skip


# ---- generators that others share ------------------------------------------------------------------------------------


@dataclass(eq=False)
class SharedGenerator:
    """A generator that code has no argument for, and others draw from as well: NumPy's own, or that of a module. The
    text `of` finds it. `in_loops` whether it is drawn from in loops; `pairs` whether normal numbers may be drawn, of
    which a `RandomState` keeps every second."""

    of: str
    kind: str
    in_loops: bool = False
    pairs: bool = False

    @property
    def shape(self) -> tuple[int]:
        return (WORDS[self.kind],)

    def found(self) -> Any:
        """The generator as it is now."""
        return np.random.mtrand._rand if self.of == NUMPYS else eval(self.of)


class Lent:
    """The memory in which code has the state of a shared generator, while it runs."""

    def __init__(self, shared: SharedGenerator) -> None:
        self.shared, self.words = shared, np.zeros(shared.shape, np.uint64)
        self._generator: Any = None
        self._lock: Any = None
        self._bits: Any = None
        self._views: _Views | None = None  # of where NumPy has the state

    def take(self) -> None:
        """Takes the state, from which nobody else draws until it is given back."""
        generator = self.shared.found()
        bits = getattr(generator, "_bit_generator", None)
        if kind_of(generator) != self.shared.kind:
            problem = f"`{self.shared.of}`, which is no generator of the kind that it was"
            raise CompileError(refusals.RANDOM, problem, "set it before the function is called first")
        lock = getattr(bits, "lock", None) or nullcontext()
        lock.__enter__()
        self._generator, self._lock = generator, lock
        if bits is not self._bits:
            self._bits = bits
            self._views = None if self.shared.pairs or not _is_laid_out(self.shared.kind) else _views(bits, self.words)
        if self._views is None:
            self.words[:] = state_of(generator)
        else:
            for words, theirs in self._views:
                words[...] = theirs

    def give_back(self) -> None:
        generator, lock = self._generator, self._lock
        self._generator = self._lock = None  # the next thread comes in as soon as the lock is left
        try:
            if self._views is None:
                set_state(generator, self.words)
            else:
                for words, theirs in self._views:
                    np.copyto(theirs, words, casting="unsafe")
        finally:
            lock.__exit__(None, None, None)


_Views = Sequence[tuple["np.ndarray[Any, Any]", "np.ndarray[Any, Any]"]]
"""Words of a state, and where NumPy has them."""


def with_lent(call: Callable[..., Any], lent: Sequence[Lent]) -> Callable[..., Any]:
    """`call`, with the states of shared generators in their memory; they are afterwards as the call has left them."""
    in_order = sorted(lent, key=lambda one: one.shared.of)  # as in every function: nobody waits for a second one

    def run(*args: Any) -> Any:
        taken: list[Lent] = []
        try:
            for one in in_order:
                one.take()
                taken.append(one)
            return call(*args)
        finally:
            for one in taken:
                one.give_back()

    return run


def _views(bits: Any, words: np.ndarray[Any, Any]) -> _Views:
    """NumPy's `mt19937_state` is ``uint32_t key[624]; int pos``, its `pcg64_state` ``pcg64_random_t *pcg_state; int
    has_uint32; uint32_t uinteger`` with a state and an increment of 128 bits (`_is_laid_out` sees whether they are)."""
    address = bits.ctypes.state_address
    if type(bits) is np.random.MT19937:
        return [(words[:625], _at(address, ctypes.c_uint32 * 625))]
    numbers = _at(ctypes.c_uint64.from_address(address).value, ctypes.c_uint64 * 4)
    of_numbers = numbers.reshape(2, 2)[:, ::-1]  # the low words are first
    return [(words[:4].reshape(2, 2), of_numbers), (words[4:6], _at(address + 8, ctypes.c_uint32 * 2))]


def _at(address: int, kind: Any) -> np.ndarray[Any, Any]:
    """Numbers that stand at an address."""
    return np.ctypeslib.as_array(kind.from_address(address))


@functools.cache
def _is_laid_out(kind: str) -> bool:
    """Whether the NumPy that is here has states where it is taken to have them."""
    one: Any = np.random.default_rng(7) if kind == "PCG64" else np.random.RandomState(7)
    other: Any = np.random.default_rng(8) if kind == "PCG64" else np.random.RandomState(8)
    draw = "integers" if kind == "PCG64" else "randint"
    getattr(one, draw)(0, 9, dtype=np.int32)
    words = np.zeros(WORDS[kind], np.uint64)
    for mine, theirs in _views(one._bit_generator, words):
        mine[...] = theirs
    alike = 6 if kind == "PCG64" else 625
    if not np.array_equal(words[:alike], state_of(one)[:alike]):
        return False
    for mine, theirs in _views(other._bit_generator, words):
        np.copyto(theirs, mine, casting="unsafe")
    return bool(np.array_equal(state_of(other)[:alike], state_of(one)[:alike]))
