"""Numbers in texts: what `print`, f-strings, `%`, `str`, `repr`, `format` and exceptions show is what NumPy shows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import transkern
from tests.tools import on_target
from tests.trust.against_python import difference, outcome, refused

ARGUMENTS: dict[str, Any] = {
    "x": np.array([0.1, -0.0, np.nan, 1e16, 1e22, -np.inf, 1 / 3]),
    "w": np.array([1 / 3, 1e20, 1e-7, np.nan, 16777216, -0.0], np.float32), "h": np.array([0.1, 60000, np.inf], "f2"),
    "k": np.array([3, -4]), "u": np.array([2**64 - 1], np.uint64), "z": np.array([1 + 2j, 3j]),
    "y": np.array([0.1 + 0.2j], np.complex64), "b": np.array([True, False]), "f": 0.1, "i": 3, "c": 1 + 2j, "t": True,
    "o": np.array(1 / 3, np.float32), "m": np.int8(3), "r": np.float32(1) / 3,
}  # fmt: skip
NUMBERS = (
    "x[0]", "x[1]", "x[2]", "x[3]", "x[5]", "w[0]", "w[1]", "w[2]", "w[3]", "w[5]", "h[0]", "h[1]", "k[1]", "u[0]",
    "z[0]", "z[1]", "y[0]", "b[0]", "f", "i", "c", "t", "o", "m", "r", "w[0] * 2", "k[0] / 2", "np.float32(1) / 3",
    "x.max()", "i / 3",
)  # fmt: skip
REAL = [n for n in NUMBERS if n[0] not in "zyc"]
WHOLE = ("k[1]", "u[0]", "i", "m")
SHOWN = (
    "print({0})", "print([{0}])", "print(({0}, 'a'))", "print({{'a': {0}}})", "print(f'{{{0}}} {{{0}!r}}')",
    "print(f'{{{0}!s:>30}}|{{{0}!r:>40}}|')", "print('%s %r' % ({0}, {0}))", "print(str({0}), repr({0}))",
    "print('{{}} {{!r}}'.format({0}, {0}), format({0}, ''))",
)  # fmt: skip
RAISED = (
    "raise ValueError({0})", "raise ValueError(f'{{{0}}} {{{0}!r}} {{{0}!s}}')", "raise KeyError({0})",
    "raise ValueError('a', {0})", "raise ValueError([{0}])",
)  # fmt: skip
FORMATTED = (
    "print(f'{{{0}:.3f}} {{{0}:12.4e}} {{{0}:g}} {{{0}:>12}}|')", "print('%5.2f %g %e' % ({0}, {0}, {0}))",
    "raise ValueError(f'{{{0}:.3f}}|{{{0}:>12}}')",
)  # fmt: skip
OF_INTEGERS = ("print(f'{{{0}:5d}}|{{{0}:x}}|{{{0}:,}}|{{{0}:05}}')", "print('%d|%5d' % ({0}, {0}))")


def differences(templates: tuple[str, ...], numbers: Any) -> list[str]:
    texts = [t.format(n) + "\nreturn 0" for t in templates for n in numbers]
    found = (difference(t, ", ".join(ARGUMENTS), tuple(ARGUMENTS.values()), stage=0) for t in texts)
    return [d for d in found if d]


@pytest.mark.parametrize("template", SHOWN)
def test_printed(template: str) -> None:
    assert differences((template,), NUMBERS) == []


def test_in_exceptions() -> None:
    assert differences(RAISED, NUMBERS) == []


def test_formats() -> None:
    assert differences(FORMATTED, REAL) == []
    assert differences(OF_INTEGERS, WHOLE) == []


def test_what_is_not_refused() -> None:
    texts = [t.format(n) + "\nreturn 0" for t in (*SHOWN[:5], *RAISED[:2]) for n in ("x[0]", "w[0]", "k[1]", "f", "r")]
    assert [t for t in texts if refused(t, ", ".join(ARGUMENTS), tuple(ARGUMENTS.values()))] == []


# --- through the whole compiler


def raised(x: Any, w: Any, k: Any, b: Any) -> Any:
    if x[1] > 1:
        raise KeyError(k[0], w[0])
    if x[1] > 0:
        raise ValueError(f"{x[0]!r} {w[0]!s} {w[0]} {b[0]!r}")
    return x[0]


def printed(x: Any, w: Any, k: Any, b: Any) -> Any:
    print(x[0], [x[0]], f"{x[0]!r} {w[0]!r} {w[0]}", w[0], (w[0], k[0], b[0]), str(w[1]), f"{w[0]!s:>12}|")
    return raised(x, w, k, b)


@pytest.mark.parametrize("target", ["cpu", "cuda", "pallas"])
def test_on_all_targets(target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    on_target(target, monkeypatch)
    told = raised if target == "pallas" else printed
    compiled = transkern.compile(told, target=target)
    for second in (-1.0, 1.0, 2.0):
        given = [np.array([1 / 3, second]), np.array([1 / 3, 1e20], np.float32), np.array([3, 4]), np.array([True])]
        assert outcome(compiled, *given) == outcome(told, *given)
