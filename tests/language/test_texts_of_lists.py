"""Texts with numbers, lists, dicts and arrays in them, as results and printed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import transkern
from tests.regressions.support import alike
from tests.tools import on_target

X = np.array([0.5, 3.0, 2.25])


def numbers(x):
    whole, half, two = x.astype(np.uint64).sum(), x.astype(np.float32).mean(), x.astype(np.complex64).sum()
    told = f"{whole} {half} {two} {x[0] > 0} {whole!r} {half!r} {two!r} {(x > 0)[0]!r} {half:.2f} {whole:4d}"
    return told, f"{x.astype(np.int16)[0]!r} {x.mean()!r} {-0.0 * x[0]}", f"{{}} {len(x)}", "%s %d" % ((len(x), 1.5), len(x))  # noqa: UP031


def lists(x):
    p = [k for k in range(len(x)) if x[k] > 1]
    s, t = f"{p}", tuple(v for v in x if v > 1)
    d = {k: k * 0.5 for k in p}
    p.append(7)
    rows, pairs, names = [[k, k] for k in p], [(k, 0.5) for k in p], ["ab"[k % 2] for k in p]
    return s, f"{p} {t}", str(d), f"{rows} {pairs} {names}", {"told": f"{len(p):>3}", "both": (f"{[t, 1]}", str(p))}


def arrays(x):
    y = x[x > 1]
    s = f"x is {x}, {y!r}, {x[:2]}"
    x[0] = 9
    return s, f"{x * 2}", str(y)


def printed(x):
    p = [k for k in range(len(x)) if x[k] > 1]
    print("path", p, tuple(p), end=";")
    for row in [[k, 1] for k in range(3)]:
        print(row)
    print(f"of {x}: {p}, {len(p)}", x.tolist())
    return len(p)


def printed_dict(x):
    p = [k for k in range(len(x)) if x[k] > 1]
    print({k: k * 1.5 for k in p}, {"n": len(p), "all": p})
    return 0


@pytest.mark.parametrize("program", [numbers, lists, arrays], ids=lambda f: f.__name__)
@pytest.mark.parametrize("x", [X, X[:1]], ids=["three", "one"])
def test_texts(program: Callable[..., Any], x: Any) -> None:
    alike(program, x)


@pytest.mark.parametrize("target", ["cuda", "pallas"])
def test_texts_on_devices(target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    alike(numbers, X, target=on_target(target, monkeypatch))


@pytest.mark.parametrize(("program", "target"), [(printed, "cpu"), (printed, "cuda"), (printed_dict, "cpu")])
def test_what_is_printed(
    program: Any, target: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    compiled = transkern.compile(program, target=on_target(target, monkeypatch))
    for x in (X, X[:1]):
        assert compiled(x) == program(x)
        told = capsys.readouterr().out
        assert told[: len(told) // 2] == told[len(told) // 2 :]
