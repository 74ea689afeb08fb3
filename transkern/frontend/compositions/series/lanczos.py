"""`math.gamma` and its logarithm by Lanczos' series (SIAM J. Numer. Anal. B 1, 1964), step by step as Python has them,
so that the last bits are those of Python's."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

_G, _G_LESS_A_HALF = 6.024680040776729583740234375, 5.524680040776729583740234375
_LOG_PI = 1.144729885849400174143427351353058711647
_NUMERATOR = (
    23531376880.410759688572007674451636754734846804940, 42919803642.649098768957899047001988850926355848959,
    35711959237.355668049440185451547166705960488635843, 17921034426.037209699919755754458931112671403265390,
    6039542586.3520280050642916443072979210699388420708, 1439720407.3117216736632230727949123939715485786772,
    248874557.86205415651146038641322942321632125127801, 31426415.585400194380614231628318205362874684987640,
    2876370.6289353724412254090516208496135991145378768, 186056.26539522349504029498971604569928220784236328,
    8071.6720023658162106380029022722506138218516325024, 210.82427775157934587250973392071336271166969580291,
    2.5066282746310002701649081771338373386264310793408,
)  # fmt: skip
_DENOMINATOR = (
    0.0, 39916800.0, 120543840.0, 150917976.0, 105258076.0, 45995730.0, 13339535.0, 2637558.0, 357423.0, 32670.0,
    1925.0, 66.0, 1.0,
)  # fmt: skip
_TABULATED = 23  # up to here whole numbers have products that are exact


def _sum(x: Any) -> Any:
    above, below = 0.0, 0.0
    if x < 5.0:
        for p, q in zip(_NUMERATOR[::-1], _DENOMINATOR[::-1], strict=True):
            above, below = above * x + p, below * x + q
    else:
        for p, q in zip(_NUMERATOR, _DENOMINATOR, strict=True):
            above, below = above / x + p, below / x + q
    return above / below


def _sine_of_pi(x: Any) -> Any:
    """``sin(pi * x)`` of what is not negative."""
    y = math.fmod(x, 2.0)
    half = math.floor(2.0 * y + 0.5)
    if half == 0:
        sine = math.sin(math.pi * y)
    elif half == 1:
        sine = math.cos(math.pi * (y - 0.5))
    elif half == 2:
        sine = math.sin(math.pi * (1.0 - y))
    elif half == 3:
        sine = -math.cos(math.pi * (y - 1.5))
    else:
        sine = math.sin(math.pi * (y - 2.0))
    return sine


def _of_moderate(x: Any, size: Any) -> Any:
    y = size + _G_LESS_A_HALF
    lost = (y - size) - _G_LESS_A_HALF if size > _G_LESS_A_HALF else (y - _G_LESS_A_HALF) - size
    lost = lost * _G / y
    power = math.pow(y, size - 0.5) if size < 140.0 else math.pow(y, size / 2.0 - 0.25)
    if x < 0.0:
        found = -math.pi / _sine_of_pi(size) / size * math.exp(y) / _sum(size)
        found = (found - lost * found) / power
        if not size < 140.0:
            found = found / power
    else:
        found = _sum(size) / math.exp(y)
        found = (found + lost * found) * power
        if not size < 140.0:
            found = found * power
    return found


def gamma(x: Any) -> Any:
    x = math.copysign(x, x)  # a float, or the TypeError for what is none
    size = math.fabs(x)
    whole = math.isfinite(x) and x == np.floor(x)
    if x == 0.0 or x == -math.inf or (whole and x < 0.0):
        raise ValueError("math domain error")
    if not math.isfinite(x):
        found = x
    elif whole and x <= _TABULATED:
        found = 1.0
        for k in range(2, int(x)):
            found = found * k
    elif size < 1e-20:
        found = float(np.float64(1.0) / np.float64(x))
    elif size > 200.0:
        found = 0.0 / _sine_of_pi(size) * -1.0 if x < 0.0 else math.inf
    else:
        found = _of_moderate(x, size)
    if math.isinf(found) and math.isfinite(x):
        raise OverflowError("math range error")
    return found


def lgamma(x: Any) -> Any:
    x = math.copysign(x, x)  # a float, or the TypeError for what is none
    size = math.fabs(x)
    whole = math.isfinite(x) and x == np.floor(x)
    if whole and x <= 0.0:
        raise ValueError("math domain error")
    if math.isnan(x):
        found = x
    elif math.isinf(x):
        found = math.inf
    elif whole and x <= 2.0:
        found = 0.0
    elif size < 1e-20:
        found = -math.log(size)
    else:
        found = math.log(_sum(size)) - _G
        found = found + (size - 0.5) * (math.log(size + _G - 0.5) - 1.0)
        if x < 0.0:
            found = _LOG_PI - math.log(math.fabs(_sine_of_pi(size))) - math.log(size) - found
        if math.isinf(found):
            raise OverflowError("math range error")
    return found
