"""Iterators, and views of dicts: lists of their elements stood for them, also where Python has something else."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import transkern
from tests.fuzz.changes import arguments
from tests.regressions.bodies import both
from tests.regressions.support import alike
from tests.tools import on_target
from tests.trust.against_python import outcome
from transkern import refusals

MADE = (
    "(v * 2 for v in x)", "(v for v in (1, 2))", "map(abs, x)", "map(abs, [1, 2])", "filter(None, x)", "zip(x, x)",
    "enumerate(x)", "reversed(x.tolist())", "reversed([1, 2])", "{v: v for v in k}.keys()",
    "{v: 1 for v in k}.values()", "{v: 1 for v in k}.items()",
    "{'a': 1}.keys()", "{'a': x}.values()", "{'a': x}.items()", "(lambda: map(abs, x))()",
    "range(len(x))",
)  # fmt: skip
RETURNED = ("return {}", "return 1, {}", "return [{}]", "return {{'a': {}}}", "g = {}\nreturn g")


@pytest.mark.parametrize("made", MADE)
def test_results(made: str) -> None:
    for body in RETURNED:
        _, compiled = both(body.format(made))
        with pytest.raises(transkern.CompileError) as error:
            compiled(*arguments(1))
        assert error.value.kind is refusals.RESULT


PUT = ("l = []\nl.append(map(abs, x))\nreturn l", "def g(a): return (v for v in a)\nreturn g(x), 1")
NO_LISTS = (
    "return len(map(abs, x))", "return map(abs, x)[0]", "return len(v for v in x)", "return (v for v in x) + [1]",
    "return [1] + map(abs, x)", "return bool(v for v in x if v > 99)", "return 1 if map(abs, x[:0]) else 2",
    "return isinstance(map(abs, x), list), type(v for v in x) is list", "return map(abs, x) is None",
    "return callable(zip(x, x)), callable(reversed([1])), callable(map(abs, x)), callable(x.sum)",
    "return len(zip(x, x))", "return {v: v for v in k}.keys()[0]", "return len({v: v for v in k}.values())",
    "d = {v: v for v in k}\nreturn d.keys() + [1]", "return list(reversed(map(abs, x)))",
    "return list(reversed(zip(x, x)))", "return list(reversed(reversed([1, 2])))",
)
REFUSED = (
    "return np.array(v for v in x)", "return np.sum(v for v in x)", "return np.array(map(abs, x))",
    "return [1.0] == (v for v in x)", "x[:] = map(abs, x)", "return x * (v for v in x)", "return x[map(int, x)]",
    "d = {v: v for v in k}\nreturn np.array(d.values())", "return np.stack(map(abs, [x, x]))",
    "def g(a): return sum(a), max(a)\nreturn g(v for v in x)",
    "def g(a): return [sum(a) for _ in x]\nreturn g(map(abs, x))",
    "d = {'a': 1.0, 'b': 2.0}\nreturn [d.values() for v in x]", "d = {'a': x, 'b': x}\nreturn np.stack(d.values())",
    "d = {'a': 2, 'b': 3}\nreturn x.reshape(d.values())", "d = {'a': 1.0}\nreturn d.values() in (d.values(), 1)",
    *PUT,
)


@pytest.mark.parametrize("body", (*NO_LISTS, *REFUSED))
def test_what_they_are_not(body: str) -> None:
    plain, compiled = both(body)
    found, wanted = (outcome(f, *arguments(1)) for f in (compiled, plain))
    assert found == wanted if body in NO_LISTS else found[0] == "refused"


DICT = "d = {v: v * 2 for v in k}\n"
CONSUMED = (
    "return list(map(abs, x)), sorted(v for v in x), sum(map(abs, x)), min(map(abs, x)), max(v * 2 for v in x)",
    "return list(zip(map(abs, x), (v for v in x))), list(enumerate(map(abs, x)))",
    "return [*map(abs, x)], set(map(int, x)), any(map(bool, x)), all(v > 0 for v in map(abs, x))",
    "a, *b = map(abs, x)\nc, d = (v for v in x[:2])\nreturn a, b, c, d",
    "l = [1.0]\nl.extend(map(abs, x))\nl += (v for v in x)\nl[:] = filter(None, l)\nreturn l",
    "s = {1}\ns.update(map(int, x))\nreturn s.union(int(v) for v in k), 2 in s",
    "def g(a): return sum(a)\nreturn g(v for v in x), g(map(abs, x)), (lambda a: list(a))(filter(None, x))",
    "def g(a): return (v * 2 for v in a)\nreturn list(g(x)), max(g(x)), [v for v in g(g(x))]",
    "t = (v for v in x), 1\nreturn sum(t[0])",
    "return 1.0 in map(abs, x), np.fromiter((v for v in x), float), ','.join(str(v) for v in (1, 2)) == '1,2'",
    "return deque(map(abs, x))[0], dict((a, a) for a in (1, 2))",
    DICT + "return list(d.keys()), sorted(d.values()), sum(d.values()), len(d.items()), list(reversed(d.values()))",
    DICT + "return [v for v in d.values()], {a: b for a, b in d.items()}, set(d.keys()), list(zip(d, d.values()))",
    DICT + "v = d.values()\nd[k[0]] = 99\nreturn list(v), len(v), sum(v), 99 in v, k[0] in d.keys()",
    DICT + "def g(v): return sum(v) + max(v) + len(v)\nreturn g(d.values()), g(d.keys())",
    "d = {'a': 1, 'b': 2}\ndef g(v):\n    d['a'] = 5\n    return list(v), len(v), 5 in v, sum(v)\nreturn g(d.values())",
    "d = {'a': x, 'b': x * 2}\nreturn sum(v.sum() for v in d.values()), [a for a in d.keys()], len(d.items())",
)


@pytest.mark.parametrize("body", CONSUMED)
def test_what_is_consumed(body: str) -> None:
    plain, compiled = both(body)
    found, wanted = (outcome(f, *arguments(1)) for f in (compiled, plain))
    assert found == wanted


def consumed(x: Any) -> Any:
    total = 0.0
    for i, v in enumerate(map(abs, x)):
        total += i * v
    return total + sum(v * 2 for v in x) + max(filter(None, x)), list(map(abs, x))


@pytest.mark.parametrize("target", ["cpu", "cuda", "pallas"])
def test_on_targets(target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    alike(consumed, np.arange(5.0) - 2, target=on_target(target, monkeypatch))
    with pytest.raises(transkern.CompileError):
        transkern.compile(lambda x: map(abs, x), target=target)(np.arange(3.0))
