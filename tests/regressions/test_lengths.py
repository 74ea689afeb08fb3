"""What is made of a list keeps its size when the list changes its length."""

from __future__ import annotations

import itertools
import random

import numpy as np
import pytest

import transkern
from tests.regressions.support import alike
from tests.tools import on_target
from tests.trust.against_python import function, outcome

MADE = (
    "np.array(t)", "np.array(t) * 2", "x[:len(t)]", "x[len(t):]", "np.zeros(len(t))", "np.arange(len(t))", "t[1:]",
    "x[:len(t)] + np.array(t)", "np.array(t)[::-1]", "list(t)", "sorted(t)", "[v * 2 for v in t]", "t + t", "tuple(t)",
    "np.array(t).reshape(-1, 1)", "range(len(t))", "np.full((2, len(t)), 3.0)", "np.ones(x.shape)[:len(t)]",
    "np.sort(t)", "y.reshape(-1)[:len(t) * 2]", "np.linspace(0, 1, len(t))", "np.where(np.array(t) > 0.8)[0]",
    "np.stack([np.array(t), np.array(t)])", "np.meshgrid(t, t)[0]", "np.roll(t, 1)", "np.concatenate([t, x])",
    "np.append(x, t)", "np.repeat(t, 2)", "np.outer(t, t)", "(len(t), len(t) + 1)", "np.eye(len(t))",
    "np.array(t)[np.array(t) > 0.8]", "np.broadcast_to(3.0, (len(t),))", "list(enumerate(t))", "np.convolve(t, [1.0])",
    "x[slice(0, len(t))]", "np.split(x, [len(t)])[0]", "x[np.arange(len(t))]", "(x[:len(t)], np.arange(len(t)))",
)  # fmt: skip
CHANGES = (
    "for v in x:\n    if v <= 0.75:\n        t.append(v)", "t.pop()\nt.pop()", "t.clear()", "t += [1.0, 2.0]",
    "t.insert(0, 7.0)", "del t[0]", "t = t + [1.0]", "t = []", "t.pop()\nt.append(9.0)",
    "if len(x) > 3:\n    t.append(5.0)",
)  # fmt: skip
USES = ("p", "len(p), p[0], p[-1], [v for v in p]", "np.asarray(p) + 1, np.asarray(p).shape")
BEGIN = "t = []\nfor v in x:\n    if v > 0.75:\n        t.append(v)\n"
X, Y = np.random.default_rng(0).random(20), np.arange(40.0).reshape(5, 8)


def _check(body: str, target: str) -> str:
    plain = function(BEGIN + body, "x, y")
    wanted, found = (outcome(f, X, Y) for f in (plain, transkern.compile(plain, target=target)))
    assert found == wanted or found[0] == "refused", body
    return found[0]


@pytest.mark.parametrize("change", CHANGES)
def test_a_list_that_changes_its_length(change: str) -> None:
    """Arrays, views, ranges and lists that were made of a list had the size that it came to have later."""
    chance = random.Random(change)
    some = MADE[CHANGES.index(change) % 3 :: 3]
    made = [_check(f"p = {p}\n{change}\nreturn {chance.choice(USES)}", "cpu") for p in some]
    assert made.count("value") > len(some) / 2


@pytest.mark.parametrize("target", ["cuda", "pallas"])
def test_on_devices(target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    device = on_target(target, monkeypatch)
    pairs = itertools.product(MADE[:12:3], ("t += [1.0, 2.0]", CHANGES[0]))
    made = [_check(f"p = {p}\n{change}\nreturn p", device) for p, change in pairs]
    assert made.count("value") > 4


IN_LOOPS = (
    "p = np.array(t)\nfor k in range(3):\n    t.append(p[k] + len(p))\nreturn p, t",
    "n = 0\nfor k in range(3):\n    p = np.array(t)\n    t.append(x[k])\n    n += len(p) + p.shape[0]\nreturn p, n, t",
    "p = x[:len(t)]\nwhile len(t) > 2:\n    t.pop()\n    p[len(t)] = 0\nreturn p, t",
    "p = np.array(t)\nq = p * 2\nfor v in x:\n    if v < 0.1:\n        t.append(v)\nreturn p + q, len(t)",
    "def g(a, b):\n    b.append(1.0)\n    return a * 2\nreturn g(np.array(t), t), t",
    "d = {'p': x[:len(t)], 'q': np.array(t)}\nt.append(1.0)\nreturn d['p'], d['q']",
    "p = x[:len(t)]\nt.append(1.0)\nq = x[:len(t)]\nt.append(2.0)\nreturn p, q, x[:len(t)], p + np.array(t[:len(p)])",
)


@pytest.mark.parametrize("body", IN_LOOPS)
def test_in_loops_calls_and_containers(body: str) -> None:
    _check(body, "cpu")


OF_ELEMENTS = (
    "p = x[:k[0]]\nk[0] = 1\nreturn p, len(p)",
    "p = x[k[0]:k[1]]\nq = p[::-1]\nk[:] = 1\nreturn p, q, p.shape",
    "s = slice(0, k[0])\nk[0] = 2\nreturn x[s]",
    "r = range(k[0])\nk[0] = 2\nreturn list(r), len(r)",
    "p = np.zeros(k[0])\nk[0] = 2\nreturn p + 1, p",
    "p = x[:k[0]] * 2\nq = np.arange(k[1])\nk += 3\nreturn p, q, p + q[:len(p)]",
    "p = y[k[0]]\nk[0] = 1\nreturn p, p.sum()",
    "p = y[k[0], k[1]:]\nfor i in range(3):\n    k[i] = i\nreturn p, p * 2",
    "n = 0\nfor i in range(3):\n    p = x[k[i] - 1:k[i]]\n    k[i] = 0\n    n += len(p) + p[0]\nreturn n, k",
    "p = x[:k[0]]\nk[0] = 2\nq = x[:k[0]]\nk[0] = 1\nreturn p, q, x[:k[0]]",
    "d = {}\nfor v in k:\n    d[v] = 1\np = x[:len(d)]\nd[77] = 2\nreturn p",
    "d = {3, 4}\nfor v in k:\n    d.add(v)\np = np.zeros(len(d))\nfor v in range(9):\n    d.add(v)\nreturn p, len(d)",
)


@pytest.mark.parametrize("body", OF_ELEMENTS)
def test_sizes_that_are_elements(body: str) -> None:
    """A size that was read from an array, or how much is in a dict or a set, was read again where it was used."""
    plain = function(body, "x, y, k")
    k = np.array([3, 2, 4])
    wanted, found = (outcome(f, X, Y, k) for f in (plain, transkern.compile(plain, target="cpu")))
    assert found == wanted, body


def told_after_the_memory(x, y):
    found = []
    for _ in range(len(x)):
        if len(found) == 0 or found[-1] >= 1.5:
            found.append(1.5)
    if found:
        found.pop()
    left = np.arange(len(x))
    picked = []
    while left.size > 0:
        first = left[0]
        picked.append(first)
        left = left[1:]
        left = left[np.abs(y[left] - y[first]) > 1]
    return y[np.array(picked, dtype=int)]


@pytest.mark.parametrize("target", ["cpu", "cuda", "pallas"])
def test_a_length_that_is_told_when_the_memory_is_there(target, monkeypatch):
    """CUDA: what the host learned of a result's length behind the kernels did not cut the result (generated)."""
    y = np.array([0.0, 8.0, -2.5, 1.0, -4.0, -4.0, -4.0])
    alike(told_after_the_memory, np.ones(7), y, target=on_target(target, monkeypatch))
