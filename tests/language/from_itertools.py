"""Iterators of `itertools`, and the parts of `heapq` that take any iterable."""

# ruff: noqa: E501, B905, C416, C417, PIE794, RUF015, RUF007, PLR0133
from __future__ import annotations

import heapq
import itertools
import math
import operator
from itertools import accumulate, chain, groupby, islice, pairwise, starmap, takewhile, zip_longest

import numpy as np

from tests.language.registry import case


@case([3, 1, 4, 1, 5], np.array([0.5, -1.5, 2.0]))
def sums_so_far(numbers, x):
    return (
        list(accumulate(numbers)), list(accumulate(numbers, max)), list(accumulate(numbers, operator.mul, initial=2)),
        list(accumulate(x)), [v for v in accumulate(x, lambda a, b: a * 0.5 + b)], max(accumulate(range(5))),
    )


@case([], np.zeros(0))
def sums_of_nothing(numbers, x):
    return list(accumulate(numbers)), list(accumulate(x)), list(accumulate(numbers, initial=7)), list(pairwise(x))


@case(np.array([1, 1, 4, 4, 4, 2, 1]), [1.5, 2.5, 12.0, 13.0, 25.0, 3.0])
def runs(labels, x):
    lengths = [(k, len(list(g))) for k, g in groupby(labels)]
    tens = []
    for k, group in groupby(x, key=lambda v: v // 10):
        tens.append((k, sum(group)))
    longest = max(len(list(g)) for k, g in groupby(labels) if k > 1)
    return lengths, tens, longest, [k for k, _ in groupby(sorted(labels))]


@case(np.array([2.0, 7.0, 1.0, 8.0]))
def steps(x):
    return [b - a for a, b in pairwise(x)], all(a < b for a, b in pairwise(sorted(x))), len(list(pairwise(range(4))))


@case([[1, 2], [3], [4, 5, 6]], np.arange(6.0).reshape(2, 3))
def parts_joined(lists, a):
    total = 0
    for v in chain(lists[0], range(3), lists[2]):
        total = total * 2 + v
    return total, list(chain.from_iterable(lists)), sum(chain.from_iterable(a)), list(itertools.chain(lists[1], lists[0]))


@case([5, 3, 9, 1, 9], [2, 6])
def some_of_them(numbers, others):
    return (
        list(islice(numbers, 2)), list(islice(numbers, 1, None, 2)), [v for v in islice(range(20), 3, 12, 4)],
        list(takewhile(lambda v: v > 2, numbers)), list(itertools.dropwhile(lambda v: v > 2, numbers)),
        list(itertools.compress(numbers, [1, 0, 1, 0, 1])), list(itertools.filterfalse(lambda v: v % 3, numbers)),
        list(zip_longest(numbers, others, fillvalue=0)), list(starmap(math.pow, [(2, 3), (3, 2)])),
    )


@case([5, 3, 9, 1, 9], np.array([0.5, 0.1, 0.9]))
def best_of_them(numbers, x):
    return (
        heapq.nlargest(2, numbers), heapq.nsmallest(3, numbers), heapq.nlargest(9, x), heapq.nsmallest(0, x),
        heapq.nlargest(2, range(len(numbers)), key=lambda i: numbers[i]), heapq.nsmallest(2, numbers, key=lambda v: -v),
    )


@case([4, 8], -1)
def negative_part(numbers, n):
    return list(islice(numbers, n))


@case([4, 8], 0)
def step_of_nothing(numbers, n):
    return list(islice(numbers, 0, 2, n))


@case({3: 1.0, 1: 2.0})
def of_other_iterables(table):
    return list(accumulate(table)), list(accumulate(table.values())), list(islice(table.items(), 1))


@case(4)
def iterators_have_no_length(n):
    return len(accumulate(range(n)))


@case(4)
def iterators_have_no_items(n):
    return pairwise(range(n))[0]
