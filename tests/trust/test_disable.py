"""Compiled functions run as Python where that is asked for: debuggers, coverage and profilers see them."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import transkern
from transkern.runtime.disabling import is_disabled


@transkern.compile(target="cpu")
def inner(x: Any) -> Any:
    return x + SEEN.count(None)


@transkern.compile(target="cpu")
def outer(x: Any) -> Any:
    SEEN.append(None)  # compiled code has no such effect: it is refused
    return inner(x) * 2


class Model:
    @transkern.compile(target="cpu")
    def seen(self, x: Any) -> Any:
        SEEN.append(None)
        return x


SEEN: list[None] = []


@pytest.fixture(autouse=True)
def enabled_again() -> Iterator[None]:
    SEEN.clear()
    transkern.enable()
    yield
    transkern.enable()


def test_functions_run_as_python_until_they_are_enabled() -> None:
    with pytest.raises(transkern.CompileError):
        outer(np.zeros(2))
    transkern.disable()
    assert np.array_equal(outer(np.zeros(2)), [2.0, 2.0])
    assert Model().seen(3) == 3 and len(SEEN) == 2
    transkern.enable()
    with pytest.raises(transkern.CompileError):
        outer(np.zeros(2))


def test_in_a_with_statement_what_was_before_holds_again() -> None:
    with transkern.disable():
        with transkern.disable():
            outer(np.zeros(2))
        assert is_disabled()
        outer(np.zeros(2))
    assert not is_disabled()
    with pytest.raises(ZeroDivisionError), transkern.disable():
        raise ZeroDivisionError
    assert not is_disabled() and len(SEEN) == 2


SCRIPT = """
import numpy as np, sys, transkern

@transkern.compile
def f(x):
    return x + 1

lines = []
def trace(frame, event, arg):
    if frame.f_code.co_name == "f" and event == "line":
        lines.append(frame.f_lineno)
    return trace

sys.settrace(trace)
f(np.zeros(3))
sys.settrace(None)
print(lines, f.cache_info().compiled)
"""


def test_the_environment_disables_for_a_whole_run(tmp_path: Path) -> None:
    told = []
    for value in ("1", "0"):
        environment = os.environ | {"TRANSKERN_DISABLE": value, "TRANSKERN_CACHE_DIR": str(tmp_path)}
        script = tmp_path / "script.py"
        script.write_text(SCRIPT)
        done = subprocess.run([sys.executable, script], capture_output=True, text=True, env=environment, check=True)
        told.append(done.stdout.strip())
    assert told == ["[6] 0", "[] 1"]


@pytest.mark.parametrize(("value", "wanted"), [
    ("yes", "True"), ("True", "True"), ("ON", "True"), ("no", "False"), ("off", "False"), ("false", "False"),
    ("", "False"), ("maybe", "False"),
])  # fmt: skip
def test_words_that_disable(value: str, wanted: str) -> None:
    code = "from transkern.runtime.disabling import is_disabled; print(is_disabled())"
    environment = os.environ | {"TRANSKERN_DISABLE": value}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=True)
    assert done.stdout.strip() == wanted
    told = "TRANSKERN_DISABLE is 'maybe', which says nothing: write 1, true, yes, on" in done.stderr
    assert told == (value == "maybe") and (told or not done.stderr)


def test_what_was_not_called_yet_asks_for_a_call_first() -> None:
    with pytest.raises(transkern.TypesNeeded, match=r"help: call it once, or give them with types='plain\(float32"):
        transkern.compile(plain).explain()


def plain(x):  # type: ignore[no-untyped-def]
    return x + 1
