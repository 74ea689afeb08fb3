"""Dicts and sets that get texts as keys, of which only the run knows which one it is."""

from __future__ import annotations

from collections import Counter, OrderedDict, defaultdict
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.regressions.support import alike
from tests.tools import on_target

WORDS = ["tea", "eat", "ab", "tea", "", "x{}'\"", "ba", "eat"]
MANY = [f"word {k % 13}" for k in range(30)]


def counts(x: Any) -> Any:
    n: dict[str, int] = {}
    for v in x:
        k = "pos" if v > 0 else "neg" if v < 0 else "none"
        n[k] = n.get(k, 0) + 1
    return n


def counter(x: Any) -> Any:
    return Counter("pos" if v > 0 else "neg" for v in x).most_common(), Counter(["hot" if v > 1 else "c" for v in x])


def carried(x: Any) -> Any:
    n, state = {"up": 0, "down": 0}, "up"
    last = {"up": -1.0, "down": -1.0}
    for v in x:
        n[state] += 1
        last[state] = v
        state = "down" if v < 0 else "up"
    return n, state, last, last[state]


def lists(x: Any) -> Any:
    found: Any = defaultdict(list)
    of = {}
    for i, v in enumerate(x):
        k = "high" if v > 1 else "l"
        found[k].append(i)
        of.setdefault(k, []).append(v)
    return found, of, list(of), {k: len(v) for k, v in found.items()}


def in_pairs(x: Any) -> Any:
    n: dict[tuple[str, int], float] = {}
    for i, v in enumerate(x):
        k = ("a" if v > 0 else "bb", i % 2)
        if k in n:
            n[k] += v
        else:
            n[k] = v
    return n, ("bb", 1) in n


def taken_out(x: Any) -> Any:
    d: Any = OrderedDict()
    for v in x:
        d["one" if v > 0 else "two" if v < 0 else "three"] = v
    k = "one"
    for v in x:
        if v < 0:
            k = "two"
    first = d.pop(k, 7.0)
    gone = "two" in d
    return d, first, gone, len(d)


def states(x: Any) -> Any:
    """A table of transitions."""
    follows = {"idle": "run", "run": "stop", "stop": "idle"}
    seen, now = [], "idle"
    for v in x:
        if v > 0:
            now = follows[now]
        seen.append(now)
    return seen


def members(x: Any) -> Any:
    seen = set()
    again = 0
    for v in x:
        k = "warm" if v > 1 else "cold" if v < 0 else "m"
        if k in seen:
            again += 1
        seen.add(k)
    return len(seen), again, sorted(seen), "m" in seen


def missing(x: Any) -> Any:
    d = {}
    for v in x:
        if v > 0:
            d["p{o}s"] = 1.0
    k = "p{o}s"
    for v in x:
        k = "p{o}s" if v > 0 else "it's"
    return d[k]


def missing_pair(x: Any) -> Any:
    d = {("a", 0): 1.0}
    k = "a"
    for i, v in enumerate(x):
        d["b", i] = v
        k = "a" if v > 0 else "b"
    return d[k, len(x)]


def anagrams(words: Any) -> Any:
    groups: Any = defaultdict(list)
    for w in words:
        groups["".join(sorted(w))].append(w)
    return list(groups.values()), max(len(g) for g in groups.values())


def updated(x: Any) -> Any:
    n = {}
    for v in x:
        n["a" if v > 0 else "bb"] = v
    best = {"bb": 5.0, "c": 1.0}
    best.update(n)
    return best, len(best), n == {"a": 1.0}, max(best, key=lambda k: best[k])


def words_of(words: Any, x: Any) -> Any:
    """Which word it is, the run knows."""
    n: dict[str, int] = {}
    for i in x:
        w = words[int(abs(i)) % len(words)]
        n[w] = n.get(w, 0) + 1
    return n


def most_common(words: Any) -> Any:
    return Counter(words).most_common(), Counter(words)


def two_lengths(text: Any, x: Any) -> Any:
    """Characters of a text, and a longer one beside them."""
    n: dict[str, int] = {}
    for i in range(len(x)):
        k = text[i % len(text)]
        n[k] = n.get(k, 0) + 1
    return n, n.get("total", 0)


OF_NUMBERS: list[Callable[..., Any]] = [
    counts, counter, carried, updated, lists, in_pairs, taken_out, states, members, missing, missing_pair,
]  # fmt: skip


X = np.array([1.5, -2.0, 0.0, np.nan, np.inf, -0.0, 0.5, -np.inf])


@pytest.mark.parametrize("function", OF_NUMBERS)
def test_of_a_choice(function: Callable[..., Any]) -> None:
    for one in (X, -X[::-2], X[:1], X[1:2], X[:0]):
        alike(function, one)


@pytest.mark.parametrize("target", ["cuda", "pallas"])
def test_on_a_device(target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    on_target(target, monkeypatch)
    for one in (X, X[:0]):
        alike(carried, one, target=target)
    alike(missing_pair, X, target=target)


def test_words() -> None:
    alike(anagrams, WORDS[:4])
    for words in (WORDS, MANY):
        alike(most_common, words)
    for x in (np.arange(9.0), np.arange(9.0)[::-2], np.zeros(0)):
        alike(words_of, MANY, x)
    alike(two_lengths, "abca", np.zeros(6))
