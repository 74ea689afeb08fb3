"""Spellings of public code that were refused or answered in another type."""

from __future__ import annotations

import heapq
from enum import Enum, IntEnum, IntFlag
from functools import cache
from itertools import count, product
from typing import Any

import numpy as np
import pytest

import transkern
from tests.regressions.support import alike

X = np.array([0.2, 0.5, -1.0, 0.7])
NONE = np.array([-0.2, -0.5])


def aligned(one, two, gap=-2):
    """Texts that begin in one statement, and get longer at their beginning, by branches."""
    score = np.zeros((len(one) + 1, len(two) + 1), dtype=int)
    score[:, 0], score[0] = np.arange(len(one) + 1) * gap, np.arange(len(two) + 1) * gap
    for i in range(1, len(one) + 1):
        for j in range(1, len(two) + 1):
            same = 1 if one[i - 1] == two[j - 1] else -1
            score[i, j] = max(score[i - 1, j - 1] + same, score[i - 1, j] + gap, score[i, j - 1] + gap)
    a, b = "", ""
    middle = marks = "|"
    i, j = len(one), len(two)
    while i > 0 or j > 0:
        same = 1 if i and j and one[i - 1] == two[j - 1] else -1
        if i > 0 and j > 0 and score[i, j] == score[i - 1, j - 1] + same:
            a, b = one[i - 1] + a, two[j - 1] + b
            i, j = i - 1, j - 1
            marks = "*" + marks + "."
        elif i > 0 and score[i, j] == score[i - 1, j] + gap:
            a = one[i - 1] + a
            b = "-" + b
            i -= 1
        else:
            a = "-" + a
            b = two[j - 1] + b
            j -= 1
        middle = str(i) + "," + middle
    return a, b, middle, marks, score[-1, -1]


def one_letter_apart(one, two):
    """The same with each text in a statement of its own."""
    a = ""
    b = ""
    for k in range(min(len(one), len(two))):
        if one[k] == two[k]:
            a = one[k] + a
            b = two[k] + "=" + b
        else:
            a = "<" + a + ">"
    return a[::-1], b, len(a)


@pytest.mark.parametrize("function", [aligned, one_letter_apart])
@pytest.mark.parametrize("texts", [("GATTACA", "GCATGCG"), ("A", "TT"), ("", "AC"), ("", "")])
def test_texts_that_get_longer_at_their_beginning(function: Any, texts: tuple[str, str]) -> None:
    alike(function, *texts)


def put_where_it_belongs(x):
    """A list that a condition chooses gets longer, and an element of it changes."""
    low, high, seen = [], [], [0.0]
    for v in x:
        (low if v < 0 else high if v < 0.6 else seen).append(v)
        (seen if v > 0.5 else low if low else seen)[-1] += 1
    return low, high, seen


def asked_first(x):
    """The condition is evaluated before what is appended."""
    one, two, steps = [], [], []
    for v in x:
        (one if steps.append(1) or v > 0 else two).append(len(steps))
    return one, two


@pytest.mark.parametrize("function", [put_where_it_belongs, asked_first])
@pytest.mark.parametrize("x", [X, NONE, X[:0]], ids=["some", "none", "empty"])
def test_a_list_that_a_condition_chooses(function: Any, x: Any) -> None:
    alike(function, x)


def chosen(x):
    return [v if v > 0.3 else 0 for v in x.tolist()]


def appended_and_stored(x):
    made, stored, rows, pairs, kept = [], [0] * len(x), [[0] * 2 for _ in x], [], {}
    for k, v in enumerate(x.tolist()):
        w = v if v > 0.3 else 0
        made.append(w)
        stored[k] = rows[k][1] = kept[k] = w
        pairs.append((w, k))
    return made, stored, rows, pairs, kept, sorted(made)


def least_of(x):
    numbers = [v if v > 0.3 else 0 for v in x.tolist()]
    each = min(v if v > 0.3 else 0 for v in x.tolist()), max(min(v, 0) for v in x.tolist())
    return min(numbers), max(numbers, key=lambda v: -v), each, min(max(v, 0) for v in x.tolist())


def handed_on(x):
    best, total, out = 0, 0, []
    for v in x.tolist():
        out.append((best, total))
        if v > 0.4:
            best = v
        total = total + (v if v > 0.4 else 1)
    return out, best, total


def begins_in_the_loop(x):
    begun, best = False, 3.5
    for v in x.tolist():
        w = v if v > 0.3 else 0
        if not begun or w < least:  # noqa: F821
            least = w
        begun, best = True, best if best < w else w
    return least, best


def made_of_earlier_ones(x):
    numbers, by_number = [], {}
    for k in range(len(x)):
        if k == 0:
            n = 0
        elif k == 1:
            n = 0.5
        else:
            n = 1 + numbers[k - 2]
        numbers.append(n)
        by_number[k] = n if k < 2 else by_number[k - 2]
    return numbers, by_number


def remembered(x):
    @cache
    def steps(k):
        if k == 0:
            return 0
        if k < 0:
            return float("inf")
        return 1 + min(steps(k - c) for c in (2, 3))

    best = steps(len(x) + 3)
    return best if best != float("inf") else -1


def keys_of_two_types(x):
    seen = {k if k % 2 else k + 0.5 for k in range(len(x))}
    counts = {}
    for k in range(len(x)):
        counts[k * 0.5] = counts.get(k * 0.5, 0) + 1
        counts[k] = counts.get(k, 0) + 1
    return sorted(seen), seen, counts, min(counts)


@pytest.mark.parametrize(
    "function",
    [chosen, appended_and_stored, least_of, handed_on, begins_in_the_loop, made_of_earlier_ones, remembered,
     keys_of_two_types],
)  # fmt: skip
@pytest.mark.parametrize("x", [X, NONE], ids=["some", "none"])
def test_ints_and_floats_stay_what_they_are(function: Any, x: Any) -> None:
    alike(function, x)


class Wall(Enum):
    PERIODIC = "periodic"
    CLOSED = "closed"


class Level(IntEnum):
    LOW = 1
    HIGH = 3


def subsequence(one, two):
    """A table of None, of which each is filled before it is read."""
    table = [[None] * (len(two) + 1) for _ in range(len(one) + 1)]
    for i in range(len(one) + 1):
        for j in range(len(two) + 1):
            if i == 0 or j == 0:
                table[i][j] = 0
            elif one[i - 1] == two[j - 1]:
                table[i][j] = table[i - 1][j - 1] + 1
            else:
                table[i][j] = max(table[i - 1][j], table[i][j - 1])
    return table


@pytest.mark.parametrize("n", [0, 1, 9])
def test_a_table_of_none(n: int) -> None:
    random = np.random.default_rng(n)
    alike(subsequence, random.integers(0, 3, n).tolist(), random.integers(0, 3, 7).tolist())


def extremes_beside_none(known):
    numbers = [None] * 4
    for k in range(4):
        if known[k]:
            numbers[k] = k
    return min(numbers[0], numbers[1]), max(numbers[2], 7), max(7, numbers[3])


@pytest.mark.parametrize("known", [(1, 1, 1, 1), (0, 1, 1, 1), (1, 0, 1, 1), (0, 0, 1, 1), (1, 1, 0, 1), (1, 1, 1, 0)])
def test_extremes_of_what_is_none(known: tuple[int, ...]) -> None:
    alike(extremes_beside_none, np.array(known))


def shortest(weights):
    """Loops over products of ranges, of which nothing is written out."""
    n = len(weights)
    for k, i, j in product(range(n), repeat=3):
        if weights[i][k] + weights[k][j] < weights[i][j]:
            weights[i][j] = weights[i][k] + weights[k][j]
    total = 0
    for a, c in product(range(1, n), range(n, 0, -2)):
        if a > 4:
            break
        total += a * c
    cells = [(i, j) for i, j in product(range(n), range(2, n))]
    return weights, total, cells, list(product(range(n), repeat=2)), sorted(product(range(3), range(2)), key=sum)


@pytest.mark.parametrize("n", [0, 1, 2, 9])
def test_products_of_ranges(n: int) -> None:
    alike(shortest, np.random.default_rng(n).random((n, n)).tolist())


def negative_repeat(n):
    return list(product(range(n), repeat=-1))


def test_a_negative_repeat() -> None:
    alike(negative_repeat, 3)


def by_keys(x):
    order = list(range(len(x)))
    order.sort(key=lambda i: (x[i], -i), reverse=True)
    doubled = [2 * v for v in x]
    none = [v for v in x if v > 1e9]
    best = max(range(len(x)), key=doubled.__getitem__)
    return order, best, sorted(range(3), key=[3, 1, 2].__getitem__), sorted(none, key=abs), max([], key=abs, default=-1)


def put_in_order(x):
    made, few = [], [3, 1, 2]
    for v in x:
        k = 0
        while k < len(made) and made[k] < v:
            k += 1
        made.insert(k, v)
    few.insert(int(abs(x[0]) * 10), 9)
    few.insert(-int(abs(x[0]) * 10), 8)
    few.insert(int(x[0] * 100), 7)
    taken = few.pop(int(abs(x[0]) * 10))
    del few[int(abs(x[0]) * 10)]
    return made, few, taken


def from_keys(x):
    shares = dict.fromkeys(range(len(x)), 1 / len(x))
    for k in shares:
        shares[k] += x[k]
    return shares, list(dict.fromkeys(int(v * 10) % 3 for v in x)), dict.fromkeys(x.tolist(), 0)


def inside_lambdas(x):
    """A name that is a lambda's and a generator's own is none of the function that calls itself."""
    def spread(values):
        if len(values) < 3:
            return max((v for v in values), key=lambda v: -v)
        half = len(values) // 2
        return min(spread(values[:half]), spread(values[half:])) + sum(v for v in values if v > 0)
    return spread(x)


@pytest.mark.parametrize("function", [by_keys, put_in_order, from_keys, inside_lambdas])
def test_spellings(function: Any) -> None:
    alike(function, X)


def members(name, level, x):
    wall = Wall(name)
    if wall is Wall.PERIODIC:
        x = x % 1
    return x, Wall[wall.name].value, Level(level).name, Level(level) == Level.HIGH, Level.LOW.name


def test_members_by_value() -> None:
    for name, level in (("periodic", 1), ("closed", 3)):
        alike(members, name, level, X)
    alike(members, "open", 1, X)
    alike(members, "closed", 2, X)


def never_raised(x):
    try:
        y = x + 1
    except ValueError as error:
        return str(error)
    return y


def test_a_message_that_nobody_reads() -> None:
    alike(never_raised, X)


def numbered(x):
    """Counters of `itertools`, with a name and in loops."""
    tie = count()
    from_first = count(x[0])
    heap = []
    for v in x.tolist():
        heapq.heappush(heap, (v > 0, next(tie), v))
    found = []
    while heap:
        found.append(heapq.heappop(heap))
        if found[-1][2] > 0:
            found.append((True, next(tie), next(from_first) * next(from_first)))
    for k in count(10, -3):
        if k < -4:
            break
        if k % 2:
            continue
        found.append((False, k, 0.0))
    return found, k, next(tie)


def steps(x, ratio):
    down, step, sums = int(ratio[0]), 1, []
    spread = np.zeros(len(x) * max(down, 1))
    spread[::down] = x
    while step < len(x):
        sums.append(x[::step].sum() + x[step - 1 :: 2 * step].sum())
        step *= 2
    return spread, x[1::down], x[:-1:down], sums


def palindrome(text):
    best = 0, 0
    for k in range(2 * len(text)):
        low, high = k // 2, k // 2 + k % 2
        while low >= 0 and high < len(text) and text[low] == text[high]:
            low, high = low - 1, high + 1
        if high - low - 1 > best[1] - best[0]:
            best = low + 1, high
    return text[best[0] : best[1]]


def parts_of_texts(text, at):
    start, stop = int(at[0]), int(at[1])
    return text[start:stop], text[start:], text[:stop], len(text[start:stop]), text[start:stop] == "bc"


def test_counters() -> None:
    alike(numbered, X)


def test_steps_that_only_the_run_knows() -> None:
    for down in (1, 2, 7, 0):
        alike(steps, X, np.array([down]))
    with pytest.raises(RuntimeError, match=r"negative step .* not compiled"):
        transkern.compile(steps, target="cpu")(X, np.array([-1]))


def test_parts_of_texts() -> None:
    for text in ("forgeeksskeegfor", "ab", ""):
        alike(palindrome, text)
    for at in ((1, 3), (-3, -1), (0, 100), (4, 2), (-100, 2), (9, 9)):
        alike(parts_of_texts, "abcdef", np.array(at))


class Mode(str, Enum):  # noqa: UP042
    FAST = "fast"


class Right(IntFlag):
    READ = 4
    WRITE = 2


def members_as_results(x):
    """Members of enums are what they are as results, too; an enum is a sequence of its members."""
    total = sum(level.value * k for k, level in enumerate(Level)) + len(Wall)
    counts = {w.name: int((x > len(w.value) - 7).sum()) for w in Wall}
    found = [Level(1), Wall("closed"), Level["HIGH"], Mode.FAST, Right.READ | Right.WRITE]
    return total, counts, list(Level), max(Level), {Level.LOW: 1.5, Wall.CLOSED: len(x)}, found


def greatest(x):
    """`max` and `min` of two tuples or lists, and of many."""
    best, least, text = (-np.inf, -1), None, (-1.0, "none")
    for k, v in enumerate(x.tolist()):
        best = max(best, (v, k))
        c = [v, float(k)]
        least = c if least is None else min(least, c)
        text = max(text, (v, "some"))
    pairs = [(v, k) for k, v in enumerate(x.tolist())]
    return best, least, text, max((1, len(x)), (len(x), 1), (2, 0)), max(pairs, default=None), min([*pairs, (0.0, 9)])


@pytest.mark.parametrize("x", [X, NONE, X[:0]], ids=["some", "none", "empty"])
@pytest.mark.parametrize("function", [members_as_results, greatest])
def test_members_and_tuples(function: Any, x: Any) -> None:
    alike(function, x)


def together(rows):
    made = [list(row) for row in rows]
    return sum(made, []), made[0] + made[-1]  # noqa: RUF017


def test_rows_of_a_matrix_put_together() -> None:
    alike(together, np.arange(8.0).reshape(2, 4))


def left_by_two_loops(a, k):
    c = a[0] > 3
    for d in range(2):
        for e in range(3):
            if a[d] > k + e:
                c = d
                break
    return c


def test_a_name_of_two_types_before_a_loop_that_may_leave_it() -> None:
    """It is no name without a value: where the loop does not set it anew, nobody knows which of the two it is."""
    compiled = transkern.compile(left_by_two_loops, target="cpu")
    alike(left_by_two_loops, np.array([5.0, 6.0]), 2.0, compiled=compiled)
    with pytest.raises(RuntimeError, match="the int 0 on one path and a NumPy bool on the other"):
        compiled(np.array([1.0, 1.0]), 2.0)
