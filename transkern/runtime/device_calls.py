"""Calls with arrays that are on a device already: which code one goes to is found by a key, without touching memory."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any

import numpy as np

from transkern.runtime import floating
from transkern.runtime.specialisation import Specialisation

_MOST = 256
"""Keys that are remembered at once: a caller may have arrays of very many shapes."""
_LOW, _HIGH = -(2**63), 2**63


class DeviceCalls:
    """The code that calls went to, by all that code is chosen by: the dtypes and shapes of CuPy's arrays, whose memory
    has no part in it, the types of numbers, and the values of those that code holds as constants."""

    def __init__(self, names: Sequence[str], served: Callable[[Specialisation], None]) -> None:
        """`names` are the parameters'; `served` hears of each call."""
        self._names, self._served = tuple(names), served
        self._known: dict[tuple[Any, ...], Specialisation] = {}
        self._constants: tuple[int, ...] = ()

    def remember(self, values: Sequence[Any], demands: Collection[str], made: Specialisation) -> bool:
        """The next call with arguments as these goes to `made`, where a key says all of them."""
        constants = tuple(k for k, name in enumerate(self._names) if name in demands)
        if constants != self._constants:
            self._known.clear()
            self._constants = constants
        key = self._key(values)
        if key is None or made.changes or made.objects:
            return False
        if len(self._known) >= _MOST:
            self._known.clear()
        self._known[key] = made
        return True

    def call(self, *values: Any) -> Any:
        """The result, or NotImplemented where nothing is known of such arguments."""
        key = self._key(values)
        made = None if key is None else self._known.get(key)
        if made is None or floating.asked():
            return NotImplemented
        self._served(made)
        return made.call(*values)

    def _key(self, values: Sequence[Any]) -> tuple[Any, ...] | None:
        parts: list[Any] = []
        for value in values:
            kind = type(value)
            if kind is float or kind is bool or kind is complex or value is None:
                parts.append(kind)
            elif kind is int:
                if not _LOW <= value < _HIGH:
                    return None
                parts.append(kind)
            elif kind.__module__ == "cupy" and kind.__name__ == "ndarray":
                parts.append((value.dtype, value.shape))
            elif isinstance(value, np.generic):
                parts.append(kind)
            else:
                return None
        for k in self._constants:
            if type(values[k]) not in (int, bool):  # of floats 0.0 and -0.0 are two
                return None
            parts.append(values[k])
        return tuple(parts)
