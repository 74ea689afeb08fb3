"""Random generators: compiled code takes their states, as words in memory."""

from __future__ import annotations

from typing import Any

import numpy as np

_HALF = 1 << 64


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
