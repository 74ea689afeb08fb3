"""`random.Random`: the Mersenne Twister MT19937 (Matsumoto and Nishimura, ACM TOMACS 8(1), 1998), seeded by an integer
and drawn from as Python's standard library does it.

An object of `Random` stands for one of Python's. It is plain Python, which is translated as a class of the user's is.
(Later versions of Python draw the same; messages of errors differ.)
"""

from __future__ import annotations

import math
import random
import sys
from bisect import bisect
from itertools import accumulate
from typing import Any

import numpy as np

_WORDS, _MIDDLE = 624, 397
_ALL, _HIGHEST, _LOWER = 0xFFFFFFFF, 0x80000000, 0x7FFFFFFF
_NAMES_ARGUMENTS = sys.version_info >= (3, 12)  # in the message of an empty range
_NORMAL = 4 * math.exp(-0.5) / math.sqrt(2.0)


def _integer(value: Any) -> Any:
    if isinstance(value, float):
        raise RuntimeError("a float as an end of a range of random numbers is not compiled")
    return int(value)


class Random(random.Random):
    """What is not said here is as Python's class says it, where that can be translated."""

    def __init__(self, seed: Any) -> None:
        words = np.zeros(_WORDS, dtype=np.int64)
        words[0] = 19650218
        for i in range(1, _WORDS):
            before = int(words[i - 1])
            words[i] = (1812433253 * (before ^ (before >> 30)) + i) & _ALL
        positive = abs(seed)
        low, high = positive & _ALL, positive >> 32
        length = 2 if high > 0 else 1
        i, j = 1, 0
        for _ in range(_WORDS):
            before = int(words[i - 1])
            key = high if j == 1 else low
            words[i] = ((int(words[i]) ^ ((before ^ (before >> 30)) * 1664525)) + key + j) & _ALL
            i += 1
            j += 1
            if i >= _WORDS:
                words[0] = words[_WORDS - 1]
                i = 1
            if j >= length:
                j = 0
        for _ in range(_WORDS - 1):
            before = int(words[i - 1])
            words[i] = ((int(words[i]) ^ ((before ^ (before >> 30)) * 1566083941)) - i) & _ALL
            i += 1
            if i >= _WORDS:
                words[0] = words[_WORDS - 1]
                i = 1
        words[0] = _HIGHEST
        self._words = words
        self._at = _WORDS
        self._normal = 0.0
        self._has_normal = False

    def _word(self) -> Any:
        words = self._words
        if self._at >= _WORDS:
            for k in range(_WORDS):
                y = (int(words[k]) & _HIGHEST) | (int(words[(k + 1) % _WORDS]) & _LOWER)
                words[k] = int(words[(k + _MIDDLE) % _WORDS]) ^ (y >> 1) ^ (0x9908B0DF if y & 1 else 0)
            self._at = 0
        y = int(words[self._at])
        self._at += 1
        y ^= y >> 11
        y ^= (y << 7) & 0x9D2C5680
        y ^= (y << 15) & 0xEFC60000
        return y ^ (y >> 18)

    def _below(self, n: Any) -> Any:
        bits = n.bit_length()
        found = self.getrandbits(bits)
        while found >= n:
            found = self.getrandbits(bits)
        return found

    def getrandbits(self, k: Any) -> Any:
        if k < 0:
            raise ValueError("number of bits must be non-negative")
        if k > 62:
            raise RuntimeError("random numbers of more than 62 bits are not compiled")
        found = 0
        if k > 32:
            found = self._word()
            found |= (self._word() >> (64 - k)) << 32
        elif k > 0:
            found = self._word() >> (32 - k)
        return found

    def random(self) -> Any:
        high = self._word() >> 5
        low = self._word() >> 6
        return (high * 67108864.0 + low) * (1.0 / 9007199254740992.0)

    def randrange(self, start: Any, stop: Any = None, step: Any = 1) -> Any:
        start = _integer(start)
        if stop is None:
            if start <= 0:
                raise ValueError("empty range for randrange()")
            return self._below(start)
        stop, step = _integer(stop), _integer(step)
        width = stop - start
        if step == 1:
            if width <= 0:
                if _NAMES_ARGUMENTS:
                    raise ValueError(f"empty range in randrange({start}, {stop})")
                raise ValueError(f"empty range for randrange() ({start}, {stop}, {width})")
            return start + self._below(width)
        if step == 0:
            raise ValueError("zero step for randrange()")
        count = (width + step - 1) // step if step > 0 else (width + step + 1) // step
        if count <= 0:
            if _NAMES_ARGUMENTS:
                raise ValueError(f"empty range in randrange({start}, {stop}, {step})")
            raise ValueError("empty range for randrange()")
        return start + step * self._below(count)

    def randint(self, a: Any, b: Any) -> Any:
        return self.randrange(a, b + 1)

    def choice(self, seq: Any) -> Any:
        if len(seq) == 0:
            raise IndexError("Cannot choose from an empty sequence")
        return seq[self._below(len(seq))]

    def shuffle(self, x: Any) -> None:
        for i in range(len(x) - 1, 0, -1):
            j = self._below(i + 1)
            x[i], x[j] = x[j], x[i]

    def sample(self, population: Any, k: Any, *, counts: Any = None) -> Any:
        if counts is not None:
            raise RuntimeError("a sample with `counts` is not compiled")
        n = len(population)
        if not 0 <= k <= n:
            raise ValueError("Sample larger than population or is negative")
        most = 21
        if k > 5:
            most += 4 ** math.ceil(math.log(k * 3, 4))
        places = []
        if n <= most:
            left = list(range(n))
            for i in range(k):
                j = self._below(n - i)
                places.append(left[j])
                left[j] = left[n - i - 1]
        else:
            taken = np.zeros(n, dtype=bool)
            for _ in range(k):
                j = self._below(n)
                while taken[j]:
                    j = self._below(n)
                taken[j] = True
                places.append(j)
        return [population[j] for j in places]

    def choices(self, population: Any, weights: Any = None, *, cum_weights: Any = None, k: Any = 1) -> Any:
        n = len(population)
        if cum_weights is None:
            if weights is None:
                return [population[math.floor(self.random() * (n + 0.0))] for _ in range(k)]
            sums = list(accumulate(weights))
        elif weights is not None:
            raise TypeError("Cannot specify both weights and cumulative weights")
        else:
            sums = list(cum_weights)
        if len(sums) != n:
            raise ValueError("The number of weights does not match the population")
        total = sums[-1] + 0.0
        if total <= 0.0:
            raise ValueError("Total of weights must be greater than zero")
        if not math.isfinite(total):
            raise ValueError("Total of weights must be finite")
        return [population[bisect(sums, self.random() * total, 0, n - 1)] for _ in range(k)]

    def uniform(self, a: Any, b: Any) -> Any:
        return a + (b - a) * self.random()

    def gauss(self, mu: Any = 0.0, sigma: Any = 1.0) -> Any:
        if self._has_normal:
            z = self._normal
            self._has_normal = False
        else:
            turn = self.random() * (2.0 * math.pi)
            far = math.sqrt(-2.0 * math.log(1.0 - self.random()))
            z = math.cos(turn) * far
            self._normal = math.sin(turn) * far
            self._has_normal = True
        return mu + z * sigma

    def normalvariate(self, mu: Any = 0.0, sigma: Any = 1.0) -> Any:
        z = 0.0
        while True:
            u1 = self.random()
            u2 = 1.0 - self.random()
            z = _NORMAL * (u1 - 0.5) / u2
            if z * z / 4.0 <= -math.log(u2):
                break
        return mu + z * sigma

    def lognormvariate(self, mu: Any, sigma: Any) -> Any:
        return math.exp(self.normalvariate(mu, sigma))

    def expovariate(self, lambd: Any) -> Any:
        return -math.log(1.0 - self.random()) / lambd
