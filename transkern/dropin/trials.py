"""Whether compiled code is slower than Python for calls whose times differ: both take calls, by turns that no pattern
of the program follows.

Calls that ran in Python before there was code, and calls that code has taken since, are those of different phases of a
program: searches that were left early at first go to their ends later. Their means say little of the code.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

LOST = 1.05
"""Times Python's time from which compiled code is slower."""

_NOISE = 0.05**2  # of the logarithm of a time, at the least
_FEWEST, _MOST = 3, 32  # calls of each kind before anything is said, and after which all is
_SURE = 2.0  # standard errors


@dataclass(slots=True)
class Trial:
    """Calls of one size, by turns."""

    _python: list[float] = field(default_factory=list)
    _code: list[float] = field(default_factory=list)

    def is_pythons_turn(self) -> bool:
        """Whether the next call is to run in Python (the sequence of Thue and Morse: no period, and as many of each
        kind)."""
        turn = (len(self._python) + len(self._code)).bit_count() % 2 == 1
        if abs(len(self._python) - len(self._code)) > _FEWEST:  # calls that neither could choose
            return len(self._python) < len(self._code)
        return turn

    def add(self, seconds: float, is_code: bool) -> None:
        """A call has taken so long."""
        (self._code if is_code else self._python).append(math.log(max(seconds, 1e-9)))

    def has_lost(self) -> bool | None:
        """Whether compiled code is slower; None where more calls must tell."""
        fewest = min(len(self._python), len(self._code))
        if fewest < _FEWEST:
            return None
        slower = _mean(self._code) - _mean(self._python)
        error = _SURE * math.sqrt(_variance(self._code) / len(self._code) + _variance(self._python) / len(self._python))
        if fewest >= _MOST:
            return slower > math.log(LOST)
        return True if slower - error > math.log(LOST) else False if slower + error < 0.0 else None


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)


def _variance(values: Sequence[float]) -> float:
    mean = _mean(values)
    return max(math.fsum((v - mean) ** 2 for v in values) / (len(values) - 1), _NOISE)
