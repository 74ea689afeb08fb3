"""What NumPy's default generator draws one at a time: PCG64, the XSL-RR variant (O'Neill, HMC-CS-2014-0905, 2014) and
Lemire's bounded integers (ACM TOMACS 29(1), 2019), as NumPy's `Generator` combines them.

`state` has six words: the state and the increment of 128 bits, high words first, whether half a word is left, and it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from transkern.frontend.compositions.primitives import element
from transkern.frontend.compositions.random.ziggurat import EXPONENTIAL_TAIL, NORMAL_TAIL

_HIGH, _LOW = 0x2360ED051FC65DA4, 0x4385DF649FCCF645  # the factor of the linear congruence
_HALF, _ALL = 0xFFFFFFFF, 0xFFFFFFFFFFFFFFFF


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


def _some_word(state: Any, narrow: Any) -> Any:
    """Half a word, or one: at one place for both, as each is a long text."""
    if narrow and state[4] != 0:
        state[4] = 0
        drawn = state[5]
    else:
        drawn = _word(state)
        if narrow:
            state[4] = 1
            state[5] = drawn >> np.uint64(32)
            drawn = drawn & np.uint64(_HALF)
    return drawn


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
    if most != 0:
        narrow = most <= np.uint64(_HALF)
        count = most + np.uint64(1)  # none for all words
        within = np.uint64(_HALF) if narrow else np.uint64(_ALL)
        drawn = _some_word(state, narrow)
        left = (drawn * count) & within
        if left < count:
            least = (within - most) % count
            while left < least:
                drawn = _some_word(state, narrow)
                left = (drawn * count) & within
        if narrow:
            drawn = drawn * count >> np.uint64(32)
        elif count != 0:
            drawn = _product_above(drawn, count)
    return np.int64(np.uint64(low) + drawn)


def normal(state: Any, inside: Any, width: Any, height: Any) -> Any:
    """By the ziggurat of Marsaglia and Tsang (J. Stat. Softw. 5(8), 2000), whose tables are `ziggurat`'s."""
    found, drawn = False, 0.0
    while not found:
        word = _word(state)
        layer, across = np.int64(word & np.uint64(255)), (word >> np.uint64(9)) & np.uint64((1 << 52) - 1)
        drawn = across * element(width, layer)
        if word & np.uint64(256) != 0:
            drawn = -drawn
        if across < element(inside, layer):
            found = True
        elif layer == 0:
            beyond, other = 0.0, 0.0
            while not other + other > beyond * beyond:
                beyond = -(1.0 / NORMAL_TAIL) * np.log1p(-number(state))
                other = -np.log1p(-number(state))
            drawn = -(NORMAL_TAIL + beyond) if across & np.uint64(256) != 0 else NORMAL_TAIL + beyond
            found = True
        else:
            above = element(height, layer - 1) - element(height, layer)
            found = above * number(state) + element(height, layer) < np.exp(-0.5 * drawn * drawn)
    return drawn


def normal_around(state: Any, mean: Any, deviation: Any, inside: Any, width: Any, height: Any) -> Any:
    if np.signbit(deviation) and not np.isnan(deviation):
        raise ValueError("scale < 0")
    return mean + deviation * normal(state, inside, width, height)


def exponential(state: Any, inside: Any, width: Any, height: Any) -> Any:
    found, drawn = False, 0.0
    while not found:
        word = _word(state) >> np.uint64(3)
        layer, across = np.int64(word & np.uint64(255)), word >> np.uint64(8)
        drawn = across * element(width, layer)
        if across < element(inside, layer):
            found = True
        elif layer == 0:
            drawn = EXPONENTIAL_TAIL - np.log1p(-number(state))
            found = True
        else:
            above = element(height, layer - 1) - element(height, layer)
            found = above * number(state) + element(height, layer) < np.exp(-drawn)
    return drawn


def exponential_of_mean(state: Any, mean: Any, inside: Any, width: Any, height: Any) -> Any:
    if np.signbit(mean) and not np.isnan(mean):
        raise ValueError("scale < 0")
    return mean * exponential(state, inside, width, height)


# --- `RandomState`: the Mersenne twister (Matsumoto and Nishimura, ACM TOMACS 8(1), 1998). The state has its 624 words,
# the place of the next, whether the second of a pair of normal numbers is left, and the bits of it.


def _twisted(state: Any) -> None:
    for k in range(624):
        joined = (state[k] & np.uint64(0x80000000)) | (state[(k + 1) % 624] & np.uint64(0x7FFFFFFF))
        odd = np.uint64(0x9908B0DF) * (joined & np.uint64(1))
        state[k] = state[(k + 397) % 624] ^ (joined >> np.uint64(1)) ^ odd


def _twister_word(state: Any) -> Any:
    """32 bits."""
    if state[624] >= 624:
        _twisted(state)
        state[624] = 0
    word = element(state, np.int64(state[624]))
    state[624] += np.uint64(1)
    word = word ^ (word >> np.uint64(11))
    word = word ^ ((word << np.uint64(7)) & np.uint64(0x9D2C5680))
    word = word ^ ((word << np.uint64(15)) & np.uint64(0xEFC60000))
    return word ^ (word >> np.uint64(18))


def twister_number(state: Any) -> Any:
    high = _twister_word(state) >> np.uint64(5)
    low = _twister_word(state) >> np.uint64(6)
    return (high * 67108864.0 + low) / 9007199254740992.0


def twister_number_between(state: Any, low: Any, high: Any) -> Any:
    between = high - low
    if not np.isfinite(between):
        raise OverflowError("Range exceeds valid bounds")
    return low + between * twister_number(state)


def twister_integer_between(state: Any, low: Any, last: Any) -> Any:
    """One of ``low`` to `last`, both among them: the first number of as many bits that is none too large."""
    most = np.uint64(last) - np.uint64(low)
    mask = most
    for bits in (1, 2, 4, 8, 16, 32):
        mask |= mask >> np.uint64(bits)
    drawn = np.uint64(0)
    if most > 0:
        wide, again = most > np.uint64(_HALF), True
        while again:
            drawn = _twister_word(state)
            if wide:
                drawn = (drawn << np.uint64(32)) | _twister_word(state)
            drawn &= mask
            again = drawn > most
    return np.int64(np.uint64(low) + drawn)


def twister_normal(state: Any) -> Any:
    """By the polar method (Marsaglia and Bray, SIAM Review 6(3), 1964), two at a time."""
    if state[625] != 0:
        bits = state[626]
        state[625] = 0
        state[626] = 0
        part, exponent = bits & np.uint64((1 << 52) - 1), np.int64((bits >> np.uint64(52)) & np.uint64(2047))
        part = part | np.uint64(1 << 52) if exponent > 0 else part
        size = np.ldexp(np.float64(part), np.int32(np.maximum(exponent, 1) - 1075))
        drawn = -size if bits >> np.uint64(63) != 0 else size
    else:
        x, y, square = 0.0, 0.0, 0.0
        while square >= 1.0 or square == 0.0:
            x = 2.0 * twister_number(state) - 1.0
            y = 2.0 * twister_number(state) - 1.0
            square = x * x + y * y
        scale = np.sqrt(-2.0 * np.log(square) / square)
        part, exponent = abs(scale * x), np.int64(1023)
        while 0.0 < part < 1.0:
            part, exponent = part * 2.0, exponent - 1
        while part >= 2.0:
            part, exponent = part * 0.5, exponent + 1
        bits = np.uint64(part * 4503599627370496.0) & np.uint64((1 << 52) - 1)
        sign = np.uint64(1) << np.uint64(63) if x < 0 else np.uint64(0)
        state[625] = 1
        state[626] = bits | (np.uint64(exponent) << np.uint64(52)) | sign if part != 0.0 else np.uint64(0)
        drawn = scale * y
    return drawn


def twister_normal_around(state: Any, mean: Any, deviation: Any) -> Any:
    if np.signbit(deviation) and not np.isnan(deviation):
        raise ValueError("scale < 0")
    return mean + deviation * twister_normal(state)


def twister_exponential(state: Any) -> Any:
    return -np.log(1.0 - twister_number(state))


def twister_exponential_of_mean(state: Any, mean: Any) -> Any:
    if np.signbit(mean) and not np.isnan(mean):
        raise ValueError("scale < 0")
    return mean * twister_exponential(state)


def trouble_with(p: Any, tolerance: Any) -> Any:
    """What NumPy complains of in probabilities: 0 nothing, 1 NaN, 2 negative ones, 3 their sum (Kahan's)."""
    total, lost, negative = p[0], 0.0, p[0] < 0
    for k in range(1, p.shape[0]):
        more = p[k] - lost
        following = total + more
        lost = (following - total) - more
        total = following
        negative = negative or p[k] < 0
    if np.isnan(total):
        return 1
    if negative:
        return 2
    return 3 if abs(total - 1.0) > tolerance else 0


def chosen(state: Any, by: str, p: Any) -> Any:
    """A position, as likely as `p` says: the first at which the running sum, over the last, is above a number drawn."""
    total = p[0]
    for k in range(1, p.shape[0]):
        total += p[k]
    drawn = number(state) if by == "number" else twister_number(state)
    at, below = 0, p[0]
    while at < p.shape[0] - 1 and below / total <= drawn:
        at += 1
        below += p[at]
    return at


def picked(values: Any, at: Any) -> Any:
    return values[at]


def fill(made: Any, by: str, state: Any, *given: Any) -> None:
    """Draws all of an array, one after the other."""
    elements = made.reshape(-1)
    for k in range(elements.shape[0]):
        elements[k] = _one(by, state, *given)


def _one(by: str, state: Any, *given: Any) -> Any:
    match by:
        case "number":
            return number(state)
        case "number_between":
            return number_between(state, *given)
        case "integer_between":
            return integer_between(state, *given)
        case "normal":
            return normal(state, *given)
        case "normal_around":
            return normal_around(state, *given)
        case "exponential":
            return exponential(state, *given)
        case "exponential_of_mean":
            return exponential_of_mean(state, *given)
        case "twister_exponential":
            return twister_exponential(state)
        case "twister_exponential_of_mean":
            return twister_exponential_of_mean(state, *given)
        case "twister_number":
            return twister_number(state)
        case "twister_number_between":
            return twister_number_between(state, *given)
        case "twister_integer_between":
            return twister_integer_between(state, *given)
        case "twister_normal":
            return twister_normal(state)
        case _:
            return twister_normal_around(state, *given)
