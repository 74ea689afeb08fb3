"""Texts that are others again and again: their characters are arguments, and there is one code for all of them."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import transkern
from tests.regressions.support import alike
from tests.tools import on_target

TEXTS = ["ACGTACGTTACGGACGATTACAGG", "", "A", "gattaca", "TTTTTTTTTTTTTTTTTTTTTTTTTTTT", "abba", "x y\tz\n~\x00\x7f"]


def distance(s: str, t: str) -> Any:
    d = np.zeros((len(s) + 1, len(t) + 1), dtype=int)
    d[:, 0] = range(len(s) + 1)
    d[0, :] = range(len(t) + 1)
    for i in range(1, len(s) + 1):
        for j in range(1, len(t) + 1):
            cost = 0 if s[i - 1] == t[j - 1] else 1
            d[i, j] = min(d[i - 1, j] + 1, d[i, j - 1] + 1, d[i - 1, j - 1] + cost)
    return d[-1, -1]


def common(a: str, b: str) -> str:
    best, end = 0, 0
    before = [0] * (len(b) + 1)
    for i in range(len(a)):
        row = [0] * (len(b) + 1)
        for j in range(len(b)):
            if a[i] == b[j]:
                row[j + 1] = before[j] + 1
                if row[j + 1] > best:
                    best, end = row[j + 1], i + 1
        before = row
    return a[end - best : end]


def counts(text: str) -> Any:
    found: dict[str, int] = {}
    for c in text:
        found[c] = found.get(c, 0) + 1
    return found, Counter(text).most_common(1), text.count("A"), len(set(text))


def hashed(text: str) -> Any:
    value = 7
    for k, c in enumerate(text):
        value = (value * 31 + ord(c) * (k + 1)) % 1000003
    return value, np.array([ord(c) for c in text], dtype=np.int64)


def complement(text: str) -> Any:
    pairs = {"A": "T", "C": "G", "G": "C", "T": "A"}
    return "".join(pairs[c] for c in reversed(text) if c in pairs), text[::-1], text == text[::-1], text < "C"


def runs(text: str) -> list[tuple[str, int]]:
    out = []
    i = 0
    while i < len(text):
        j = i
        while j < len(text) and text[j] == text[i]:
            j += 1
        out.append((text[i], j - i))
        i = j
    return out


def itself(text: str) -> Any:
    return text, text[-1], f"<{text}>"


@pytest.mark.parametrize("function", [counts, hashed, complement, runs, itself])
def test_characters_are_arguments(function: Any) -> None:
    compiled = transkern.compile(function)
    compiled.known.demands.add("text.varies")
    for text in TEXTS:
        alike(function, text, compiled=compiled)
    assert len(compiled.known.code) == 3, "for all texts, and for those of one character and of none"
    alike(function, "\u00e4\u00f6", compiled=compiled)


@pytest.mark.parametrize("target", ["cpu", "cuda", "pallas"])
def test_two_texts(target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    on_target(target, monkeypatch)
    for function in (distance, common) if target == "cpu" else (distance,):
        compiled = transkern.compile(function, target=target)
        compiled.known.demands |= {f"{name}.varies" for name in ("s", "t", "a", "b")}
        for one, two in pairwise(TEXTS):
            alike(function, one, two, target=target, compiled=compiled)


def test_what_varies_is_data() -> None:
    compiled = transkern.compile(hashed)
    texts = ["".join(map(chr, 97 + np.random.default_rng(k).integers(0, 26, 40 + k))) for k in range(8)]
    for text in texts:
        alike(hashed, text, compiled=compiled)
    assert compiled.cache_info().compiled <= 4


def pad(a: Any, mode: str) -> Any:
    return {"one": a + 1, "two": a * 2.0, "three": -a}[mode]


def test_options_are_none() -> None:
    compiled = transkern.compile(pad)
    for mode in ("one", "two", "three", "one", "two"):
        alike(pad, np.arange(40), mode, compiled=compiled)
    assert compiled.cache_info().compiled == 3
    assert not compiled.known.demands


def words(text: str) -> Any:
    return len(text.split()), text.title()


def test_what_needs_the_text_has_it() -> None:
    """Where code by characters is refused, there is code for each text, as before."""
    compiled = transkern.compile(words)
    for k in range(5):
        alike(words, f"a text with {k} words in it, and some more", compiled=compiled)
    assert compiled.cache_info().compiled == 5
    assert compiled.known.only_known_texts
