"""Texts that the run makes and that are no keys: the KeyError shows them, a handler of it takes over."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import transkern
from tests.tools import require

require("cc")

WORDS = ("ab", "b", "abc", "ca")


def looked_up(x, out):
    d = {}
    for k, w in enumerate(WORDS):
        d[w] = k
    text = ""
    for v in x:
        text += chr(97 + v)
        out.append(int(v))
    return d[text]


def known_keys(x, out):
    out.append(len(x))
    return {"ab": 1, "b": 2, "ca": 3}["".join([chr(97 + v) for v in x])]


def taken_out(x, out):
    d, text = {}, ""
    for v in x:
        text += chr(97 + v)
        d[text] = int(v)
    out.append(d.pop(text))
    del d[text + "c"]
    return len(d)


def caught(x, out):
    text = "".join([chr(97 + v) for v in x])
    d = {}
    for k, w in enumerate(WORDS):
        d[w] = k
    try:
        out.append(d[text])
    except KeyError:
        out.append(-1)
    return len(out)


def outcome(function: Callable[..., Any], x: np.ndarray) -> tuple[str, list[Any]]:
    out: list[Any] = []
    try:
        found = repr(function(x, out))
    except KeyError as error:
        found = repr(error)
    return found, out


@pytest.mark.parametrize("function", [looked_up, known_keys, taken_out, caught], ids=lambda f: f.__name__)
def test_errors_are_pythons(function: Callable[..., Any]) -> None:
    compiled = transkern.compile(function, target="cpu")
    for codes in ([0, 1], [1], [2, 0], [1, 0], [], [0] * 70):
        x = np.array(codes, dtype=np.int64)
        assert outcome(compiled, x) == outcome(function, x)
