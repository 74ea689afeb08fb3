"""What NumPy's default generator draws one at a time: PCG64, the XSL-RR variant (O'Neill, HMC-CS-2014-0905, 2014) and
Lemire's bounded integers (ACM TOMACS 29(1), 2019), as NumPy's `Generator` combines them.

`state` has six words: the state and the increment of 128 bits, high words first, whether half a word is left, and it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

_HIGH, _LOW = 0x2360ED051FC65DA4, 0x4385DF649FCCF645  # the factor of the linear congruence
_HALF = 0xFFFFFFFF


def _product_above(x: Any, y: Any) -> Any:
    """The high 64 bits of a product of two words."""
    x0, x1, y0, y1 = x & np.uint64(_HALF), x >> np.uint64(32), y & np.uint64(_HALF), y >> np.uint64(32)
    middle = x1 * y0 + (x0 * y0 >> np.uint64(32))
    other = x0 * y1 + (middle & np.uint64(_HALF))
    return x1 * y1 + (middle >> np.uint64(32)) + (other >> np.uint64(32))


def _word(state: Any) -> Any:
    low, factor = state[1], np.uint64(_LOW)
    product = low * factor
    new_low = product + state[3]
    carry = np.uint64(new_low < product)
    new_high = state[0] * factor + low * np.uint64(_HIGH) + _product_above(low, factor) + state[2] + carry
    state[0] = new_high
    state[1] = new_low
    turns, mixed = new_high >> np.uint64(58), new_high ^ new_low
    return (mixed >> turns) | (mixed << ((np.uint64(64) - turns) & np.uint64(63)))


def _half_word(state: Any) -> Any:
    if state[4] != 0:
        state[4] = 0
        half = state[5]
    else:
        word = _word(state)
        state[4] = 1
        state[5] = word >> np.uint64(32)
        half = word & np.uint64(_HALF)
    return half


def number(state: Any) -> Any:
    return (_word(state) >> np.uint64(11)) * (1.0 / 9007199254740992.0)


def number_between(state: Any, low: Any, high: Any) -> Any:
    between = high - low
    if not np.isfinite(between):
        raise OverflowError("high - low range exceeds valid bounds")
    if np.signbit(between):
        raise ValueError("high - low < 0")
    return low + between * number(state)


def integer_between(state: Any, low: Any, last: Any) -> Any:
    """One of ``low`` to `last`, both among them."""
    most = np.uint64(last) - np.uint64(low)
    drawn = np.uint64(0)
    if most == 0:
        pass
    elif most == np.uint64(_HALF):
        drawn = _half_word(state)
    elif most < np.uint64(_HALF):
        count = most + np.uint64(1)
        product = _half_word(state) * count
        if (product & np.uint64(_HALF)) < count:
            least = (np.uint64(_HALF) - most) % count
            while (product & np.uint64(_HALF)) < least:
                product = _half_word(state) * count
        drawn = product >> np.uint64(32)
    elif most + np.uint64(1) == 0:
        drawn = _word(state)
    else:
        count = most + np.uint64(1)
        word = _word(state)
        if word * count < count:
            least = (np.uint64(0) - count) % count
            while word * count < least:
                word = _word(state)
        drawn = _product_above(word, count)
    return np.int64(np.uint64(low) + drawn)
