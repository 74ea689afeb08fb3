"""Texts with run-time numbers in lists: appended, joined, looped over, in messages and in results."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import transkern
from tests.regressions.support import alike
from tests.tools import on_target


def report(values: Any) -> Any:
    lines = []
    for i, v in enumerate(values):
        lines.append(f"{i}: {v:.2f}")
    return "\n".join(lines), lines


def checked(xs: Any, limit: Any) -> Any:
    errors = []
    for i, x in enumerate(xs):
        if x > limit:
            errors.append(f"value {i} is {x!r}, above {limit}")
    if errors:
        raise ValueError("; ".join(errors))
    return len(errors), errors


def with_effects(x: Any, seen: Any) -> Any:
    seen.append(len(x))
    names = ["a"]
    for v in x:
        if v > 1:
            names.append(f"v{v}")
    try:
        if len(names) > 2:
            raise KeyError(",".join(names))
    except KeyError:
        return -1
    if len(x) > 2:
        raise ValueError(f"{x} and {names}")
    raise ValueError(",".join(names))


def raised_in_a_loop(x: Any, known: Any) -> Any:
    out = np.zeros(len(x))
    for k in range(len(x)):
        if x[k] < 0:
            raise ValueError(f"{x[k]} not in {known}, of {x[:2]}")
        out[k] = x[k] * 2
        x[k] = 7
    return out


def of_several_forms(data: Any, names: Any) -> Any:
    problems = ["begun"]
    for i in range(len(data)):
        bad = np.sum(~np.isfinite(data[i]))
        if bad:
            problems.append(f"{names[i]}: {bad} values are not finite")
        elif data[i].sum() > 3:
            problems.append("{large} " + names[i])
        else:
            problems.append(f"{names[i]} has mean {data[i].mean():.3f} of {len(data[i])}")
    return problems


def changed(n: int, x: Any) -> Any:
    lines = [f"{x[k]:>8.3f}|" for k in range(n)]
    lines.insert(0, "head")
    lines.extend(f"{k:03d}" for k in range(2))
    return lines[1:], lines[::-1], lines * 2, lines + lines[:1], len(lines)


def looped(x: Any) -> Any:
    lines = []
    for v in x:
        lines.append(f"<{v:.1f}>")
    again = []
    for line in lines:
        again.append(line + "!")
    message = f"all: {', '.join(again)}"
    return again, message


def made_anew(x: Any) -> Any:
    lines: list[str] = []
    for v in x:
        if v < 0:
            lines = []
        lines.append(f"{v}")
    return lines


def numbers_of_numpy(x: Any, k: Any) -> Any:
    found = []
    for v in x:
        found.append(f"{v!r} {v} {k[0]!r} {k[0] > 2!r} {x[0] + 1j:.2f}")
    return found


X = np.array([1.5, -2.25, np.nan, np.inf, -0.0, 1e22])
CALLS: list[tuple[Callable[..., Any], tuple[Any, ...]]] = [
    (report, (X,)),
    (report, (X.tolist(),)),
    (report, ([],)),
    (report, (np.float32([0.1, 3]),)),
    (report, ([1, 2],)),
    (checked, ([1, 2, 3], 5)),
    (checked, ([1, 9, 8], 5)),
    (checked, (np.array([2.5, 7.25]), 3.0)),
    (checked, ([], 1)),
    (with_effects, (np.ones(3), [])),
    (raised_in_a_loop, (np.array([1.0, -3.0, 4.0]), [1.5, 2.0])),
    (raised_in_a_loop, (np.array([1.0, 3.0]), [1.5, 2.0])),
    (with_effects, (np.arange(4.0), [1])),
    (with_effects, (np.array([2.0]), [])),
    (of_several_forms, ([np.array([1.0, np.nan]), np.ones(3), np.full(2, 9.0)], ["a", "b", "c"])),
    (changed, (3, X)),
    (changed, (0, X)),
    (looped, (X,)),
    (made_anew, (np.array([1.0, 2.5, -1.0, 4.0]),)),
    (made_anew, (np.zeros(0),)),
    (numbers_of_numpy, (np.array([1.0, 2.5]), np.array([3, 4], np.int8))),
    (numbers_of_numpy, (np.float32([0.1, 2.5]), np.array([3, 4], np.int64))),
]


@pytest.mark.parametrize(("function", "arguments"), CALLS)
def test_like_python(function: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
    alike(function, *arguments)


def test_on_cuda(monkeypatch: pytest.MonkeyPatch) -> None:
    on_target("cuda", monkeypatch)
    alike(report, X, target="cuda")
    alike(checked, [1, 9, 8], 5, target="cuda")
    alike(raised_in_a_loop, np.array([1.0, -3.0, 4.0]), [1.5, 2.0], target="cuda")


def ordered(x: Any) -> Any:
    return sorted([f"{v:.1f}" for v in x])


def as_an_array(x: Any) -> Any:
    return np.array([f"{v:.1f}" for v in x])


def compared(x: Any) -> Any:
    return [f"{v:.1f}" for v in x] == [f"{v:.1f}" for v in x]


def looked_for(x: Any) -> Any:
    return "1.5" in [f"{v:.1f}" for v in x]


def as_keys(x: Any) -> Any:
    return {f"{v:.1f}" for v in x}


def transposed(x: Any) -> Any:
    return list(zip(*[f"{v:.1f}" for v in x]))


@pytest.mark.parametrize("function", [ordered, as_an_array, compared, looked_for, as_keys, transposed])
def test_what_needs_their_characters_is_refused(function: Callable[..., Any]) -> None:
    with pytest.raises(transkern.CompileError):
        transkern.compile(function)(X)
