"""``with`` of managers that set globals for a while, and of `warnings.catch_warnings`."""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"
# ruff: noqa: ANN001, ANN201, ANN202, ANN204, PLW0602, PLW0603, RET503
from __future__ import annotations

import contextlib
import warnings
from typing import Any

import numpy as np
import pytest

import transkern
from tests.regressions.support import alike
from tests.tools import on_target, require
from transkern.errors import CompileError

require("cc")

MODE, LEVEL = "double", 1


def set_mode(mode):
    global MODE
    MODE = mode


class Mode:
    """As packages switch what their functions do."""

    def __init__(self, mode=None):
        self.mode, self.before = MODE if mode is None else mode, MODE

    def __enter__(self):
        set_mode(self.mode)
        return self

    def __exit__(self, *args):
        set_mode(self.before)


class Deeper:
    def __enter__(self):
        global LEVEL
        LEVEL += 1

    def __exit__(self, kind, error, traceback):
        global LEVEL
        LEVEL -= 1


class Lasting:
    def __enter__(self):
        set_mode("shift")

    def __exit__(self, *args):
        pass


class Loud:
    def __enter__(self):
        pass

    def __exit__(self, *args):
        print("left")


def worked(x):
    return x * 2 if MODE == "double" else x + 100


def returned_inside(x, k):
    with Mode("shift"):
        if k > 1:
            with Mode("double"):
                return worked(x) * LEVEL
        y = worked(x) + 1
    return worked(y) - LEVEL


def outer(x, k):
    return returned_inside(x, k), returned_inside(x, k + 5), worked(x)


def raised_inside(x, k):
    with np.errstate(all="ignore"), Mode("shift"), Deeper():
        if k > 1:
            raise ValueError(f"{k} {MODE}")
        y = worked(x) * LEVEL
    return worked(y) * LEVEL


def in_loops(x):
    total = 0.0
    for v in x:
        with Mode("shift"):
            if v > 1:
                continue
            total = total + worked(v)
        total = total + worked(v)
    return total


def caught_outside(x):
    try:
        with Mode("shift"):
            y = worked(x)
            y = y + x[np.int64(y[0])]
    except IndexError:
        y = worked(x)
    return y


def without_warnings(x):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.warn("not shown", stacklevel=2)
        y = np.nanmean(x)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", r"All-NaN", RuntimeWarning)
        z = np.log(x)
    return y, z


@pytest.mark.parametrize("target", ["cpu", "cuda", "pallas"])
def test_managers_of_globals(target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    on_target(target, monkeypatch)
    x = np.array([0.5, -1.0, 2.0])
    alike(outer, x, 1, target=target)
    alike(in_loops, x, target=target)
    if target == "cpu":
        alike(raised_inside, x, 1)
        alike(raised_inside, x, 2)
        alike(caught_outside, x)
        alike(without_warnings, x)


def lasts(x):
    with Lasting():
        y = worked(x)
    return y


def does_more(x):
    with Loud():
        y = x + 1
    return y


def depends_on_data(x):
    with Mode("shift" if x[0] > 0 else "double"):
        return worked(x)


def outlasts(x):
    warnings.simplefilter("ignore")
    return x + 1


def raises_warnings(x):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return np.log(x)


@pytest.mark.parametrize("function", [lasts, does_more, depends_on_data, outlasts, raises_warnings])
def test_managers_with_effects_are_refused(function: Any) -> None:
    with pytest.raises(CompileError, match=r"`__exit__` does more|global name at run time|filter of warnings (that|with)"):
        transkern.compile(function)(np.ones(3))


class Quiet:
    def __enter__(self):
        return None

    def __exit__(self, kind, value, trace):
        return kind is not None and issubclass(kind, IndexError)


class Told:
    def __enter__(self):
        return None

    def __exit__(self, *told):
        return bool(told[0])


def suppressed(x, k):
    y = np.zeros(1)
    with contextlib.suppress(IndexError):
        y[0] = x[k]
    return y


def test_an_exception_that_is_suppressed() -> None:
    compiled = transkern.compile(suppressed)
    for k in (1, 9):
        np.testing.assert_array_equal(compiled(np.arange(3.0), k), suppressed(np.arange(3.0), k))


def in_quiet(x, k):
    y = 0.0
    with Quiet():
        y = x[k]
    return y


def in_told(x, k):
    y = 0.0
    with Told():
        y = x[k]
    return y


@pytest.mark.parametrize("function", [in_quiet, in_told])
def test_what_was_raised_may_be_asked_for(function: Any) -> None:
    """Compiled code runs `__exit__` where nothing was raised: one that looks at that is not for it."""
    with pytest.raises(CompileError, match=r"`__exit__` looks at what was raised"):
        transkern.compile(function)(np.ones(3), 1)
    with warnings.catch_warnings(action="ignore"):
        in_parts = transkern.compile(function, fallback="numpy")
        for k in (1, 9):
            np.testing.assert_array_equal(in_parts(np.arange(3.0), k), function(np.arange(3.0), k))
