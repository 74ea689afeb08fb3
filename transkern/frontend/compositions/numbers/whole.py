"""Integers that Python computes exactly: powers by a modulus, integer roots, common multiples. Nothing here leaves the
64 bits that an integer has in compiled code, where the result fits."""

from __future__ import annotations

import math
from typing import Any

_DIRECT = 3037000499  # up to here squares have 63 bits
_LARGEST = 9223372036854775807


def isqrt(n: Any) -> Any:
    if n < 0:
        raise ValueError("isqrt() argument must be nonnegative")
    root = min(int(math.sqrt(n)), _DIRECT)
    while root * root > n:
        root -= 1
    while root < _DIRECT and (root + 1) * (root + 1) <= n:
        root += 1
    return root


def lcm(*integers: Any) -> Any:
    made = 1
    for n in integers:
        made = 0 if made == 0 or n == 0 else made // math.gcd(made, n) * abs(n)
    return made


def power_by(base: Any, exponent: Any, modulus: Any) -> Any:
    """``pow(base, exponent, modulus)``."""
    if modulus == 0:
        raise ValueError("pow() 3rd argument cannot be 0")
    if modulus < -_LARGEST:
        raise OverflowError("a modulus of 64 bits, which is not compiled")
    size = abs(modulus)
    factor = base % size
    if exponent < 0:
        factor = _inverse(factor, size)
        left = -exponent
    else:
        left = exponent
    made = 1 % size
    while left > 0:
        if left % 2 == 1:
            made = _product(made, factor, size)
        left //= 2
        if left > 0:
            factor = _product(factor, factor, size)
    return made + modulus if modulus < 0 and made > 0 else made


def _product(one: Any, two: Any, size: Any) -> Any:
    """``one * two % size`` of two that are less than `size`, doubled and added where a product has too many bits."""
    if size <= _DIRECT:
        return one * two % size
    made, left, term = 0, one, two
    while left > 0:
        if left % 2 == 1:
            made = made + term if made < size - term else made - (size - term)
        left //= 2
        if left > 0:
            term = term + term if term < size - term else term - (size - term)
    return made


def _inverse(number: Any, size: Any) -> Any:
    """By which `number` is to be multiplied for 1, of remainders by `size`."""
    rest, next_rest, made, next_made = number, size, 1, 0
    while next_rest != 0:
        times = rest // next_rest
        rest, next_rest = next_rest, rest - times * next_rest
        made, next_made = next_made, made - times * next_made
    if rest != 1:
        raise ValueError("base is not invertible for the given modulus")
    return made % size
