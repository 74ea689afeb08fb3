"""Texts that the run makes as elements of lists, and as keys of dicts and sets: words, tokens, parts of sequences."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

import transkern
from tests.regressions.support import alike
from tests.tools import on_target
from transkern.frontend.compositions.texts import code_of_text
from transkern.frontend.python import text_keys

TEXTS = ["12+34*(5 - 678)", "", "7", "abba  abba ba\tb", "ACGACGTTACGA~\x00\x7f"]


def tokens(s: str) -> Any:
    """Parts of a text beside its characters, in one list."""
    found = []
    i = 0
    while i < len(s):
        if s[i].isdigit():
            j = i
            while j < len(s) and s[j].isdigit():
                j += 1
            found.append(s[i:j])
            i = j
        else:
            if s[i] != " ":
                found.append(s[i])
            i += 1
    last = found[-1] if found else "nothing"
    longest = max([len(t) for t in found]) if found else 0
    return found, last, longest, [t + t for t in found if t != "("]


def parts(s: str, k: int) -> Any:
    """How often each part stands there, and where it is first."""
    counts: dict[str, int] = {}
    places: dict[str, list[int]] = {}
    seen = set()
    again = 0
    for i in range(len(s) - k + 1):
        part = s[i : i + k]
        counts[part] = counts.get(part, 0) + 1
        places.setdefault(part, []).append(i)
        again += part in seen
        seen.add(part)
    most = max(counts.values()) if counts else 0
    return counts, places, len(seen), again, [w for w, m in counts.items() if m == most], counts.get("AC", -1)


def runs(s: str) -> Any:
    """Pairs of a text and a number; keys that are pairs; a Counter."""
    found, ends = [], {}
    i = 0
    while i < len(s):
        j = i
        while j < len(s) and s[j] == s[i]:
            j += 1
        found.append((s[i:j], j - i))
        ends[s[i:j], j % 2] = j
        i = j
    return found, ends, Counter(s[i : i + 2] for i in range(len(s) - 1))


def best(s: str) -> Any:
    """A text in a list that a loop hands on; one that is stored in a list, or taken out of it."""
    words = []
    for k in range(0, len(s), 4):
        words.append(s[k : k + 4])
    words.append("end")
    one = words[0]
    for w in words:
        if w.count("1") >= one.count("1"):
            one = w
    words[-1] = one
    last = words.pop()
    return one, words, last == one, last, words.count(last), last in words, one != "ACGA"


def words(s: str) -> Any:
    """What splits, strips and joins."""
    counts: dict[str, int] = {}
    for w in s.lower().split():
        w = w.strip("a(")
        counts[w] = counts.get(w, 0) + 1
    longest = ""
    for w in counts:
        if len(w) > len(longest):
            longest = w
    ends = s.strip(), s.lstrip(), s.rstrip(" 1b"), s.split("a"), len(s.split("\t"))
    return counts, longest, ends, "-".join(s.split()), " ".join(reversed(s.split())), ", ".join(w[::-1] for w in counts)


def handed_on(s: str) -> Any:
    """Texts that loops hand on and branches choose: parts of texts, known ones, characters."""
    longest, last, window = "", "none", s[:2]
    for i in range(len(s)):
        for j in range(i + 1, len(s) + 1):
            part = s[i:j]
            if part == part[::-1] and len(part) > len(longest):
                longest = part
        if s[i] != " ":
            last = s[i : i + 2]
        window = window[1:] + s[i]
    one, two = s[:3], s[3:]
    for _ in range(3):
        one, two = two, one
    rest = s
    while len(rest) > 1:
        rest = rest[1:-1] if rest[0] == rest[-1] else rest[1:]
    return longest, last, window, one, two, rest, one if len(one) > len(two) else two


def numbers(s: str) -> Any:
    return [float(part) for part in s.split(",")], sum(int(part) for part in s.split(",") if part.strip().isdigit())


def test_numbers_in_texts_are_read_as_python_does() -> None:
    """There is code for each text: what is no plain number, or has many digits, is Python's business."""
    compiled = transkern.compile(numbers)
    for text in ("0.30000000000000004,1e400,nan, 12 ", "1,2.5,3,4,5,6,7,8,9,10,11,12", "7,  -inf", "1_0,x", "3,-0.0"):
        alike(numbers, text, compiled=compiled)
    assert compiled.known.only_known_texts


class Word:
    def __init__(self, text: str) -> None:
        self.text = text
        self.count = 1
        self.first = text[0]


def objects(s: str) -> Any:
    """Texts as attributes, and as items of dicts in a list."""
    found: list[Word] = []
    for w in s.split():
        same = None
        for one in found:
            if one.text == w:
                same = one
        if same is not None:
            same.count += 1
            same.text = same.text[1:]
        else:
            found.append(Word(w))
    return [(w.text, w.count, w.first) for w in found], [{"text": w.text, "length": len(w.text)} for w in found]


@pytest.mark.parametrize("function", [tokens, runs, best, words, handed_on, objects])
def test_lists_of_texts_that_the_run_makes(function: Any) -> None:
    compiled = transkern.compile(function)
    compiled.known.demands.add("s.varies")
    for text in TEXTS if function is not handed_on else [t for t in TEXTS if t]:
        alike(function, text, compiled=compiled)
    assert len(compiled.known.code) <= 3, "for all texts, and for those of one character and of none"


@pytest.mark.parametrize("target", ["cpu", "cuda"])
def test_keys_of_dicts_and_sets(target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    on_target(target, monkeypatch)
    compiled = transkern.compile(parts, target=target)
    compiled.known.demands.add("s.varies")
    for text in TEXTS if target == "cpu" else TEXTS[-1:]:
        alike(parts, text, 2, target=target, compiled=compiled)


def test_known_texts_are_looked_up_as_those_that_the_run_makes() -> None:
    """A step of the number of a text needs no more than 62 bits."""
    for text in ("", "a", "\x00", "\U0010ffff" * 9, "ACGT" * 20):
        assert text_keys._number_of_text(text) == code_of_text(list(text))
    assert ((1 << 42) - 1) * 1000003 + 0x10FFFF < 2**62


def order(s: str) -> Any:
    seen = set()
    for i in range(len(s) - 1):
        seen.add(s[i : i + 2])
    return list(seen)


def test_the_order_of_a_set_of_texts_is_refused() -> None:
    with pytest.raises(transkern.CompileError, match="the order of a set of texts"):
        transkern.compile(order)("abcab")


def missing(s: str) -> Any:
    counts = {}
    for i in range(len(s) - 1):
        counts[s[i : i + 2]] = i
    return counts[s[1:]]


def test_a_key_that_is_missing() -> None:
    alike(missing, "abcab")
