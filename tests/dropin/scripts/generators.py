"""Generators, coroutines, closures, contexts and decorators around loops."""

import asyncio
import contextlib
import functools

import numpy as np


def logged(function):
    @functools.wraps(function)
    def call(*args, **keywords):
        result = function(*args, **keywords)
        print(function.__name__, len(args), sorted(keywords))
        return result

    return call


@logged
def smoothed(x, *, times=1):
    y = x.copy()
    for _ in range(times):
        for k in range(1, len(y) - 1):
            y[k] = 0.25 * x[k - 1] + 0.5 * x[k] + 0.25 * x[k + 1]
        x = y.copy()
    return y


@functools.lru_cache(maxsize=None)
def primes_below(n):
    sieve = np.ones(n, dtype=bool)
    sieve[:2] = False
    for k in range(2, int(n**0.5) + 1):
        if sieve[k]:
            sieve[k * k :: k] = False
    return int(sieve.sum())


def chunks(x, size):
    for begin in range(0, len(x), size):
        yield x[begin : begin + size]


def counter(limit):
    calls = 0

    def count(x):
        nonlocal calls
        for v in x:
            if v > limit:
                calls += 1
        return calls

    return count


@contextlib.contextmanager
def around(name):
    print("into", name)
    yield
    print("out of", name)


async def gathered(x):
    await asyncio.sleep(0)
    return float(smoothed(x, times=2)[5])


x = np.sin(np.arange(60_000.0))
with around("smoothing"):
    for n in (1, 2, 3):
        print(repr(float(smoothed(x, times=n)[10])))
print(primes_below(400_000), primes_below(400_000), primes_below.cache_info().hits)
count = counter(0.5)
print([count(part) for part in chunks(x, 20_000)])
print(asyncio.run(gathered(x)))
