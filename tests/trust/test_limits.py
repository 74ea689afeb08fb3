"""One compilation ends: what never would is refused at its place, and what Python's stack cannot hold, too."""

from __future__ import annotations

import signal
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

import transkern
from tests.tools import require
from transkern.checking.functions import check_file
from transkern.cli import cli
from transkern.frontend.sources.measures import MOST_BITS
from transkern.frontend.state.session import Session
from transkern.limits import CALLS, STEPS


def halved(v: Any) -> Any:
    if len(v) <= 1:
        return v.sum()
    return halved(v[: len(v) // 2]) + halved(v[len(v) // 2 :])


def sorted_by_merging(a: Any) -> Any:
    if len(a) <= 1:
        return a
    left, right = sorted_by_merging(a[: len(a) // 2]), sorted_by_merging(a[len(a) // 2 :])
    made = np.empty(len(a))
    i = j = 0
    for k in range(len(a)):
        if j >= len(right) or (i < len(left) and left[i] <= right[j]):
            made[k] = left[i]
            i += 1
        else:
            made[k] = right[j]
            j += 1
    return made


def endless(x: Any) -> Any:
    return endless(x + 1) * endless(x - 1)


def test_recursion_with_shorter_arrays_ends() -> None:
    require("cc")
    compiled, x = transkern.compile(halved), np.arange(13.0)
    assert compiled(x) == halved(x) and compiled(x[:5]) == halved(x[:5])
    compiled, x = transkern.compile(sorted_by_merging), np.array([3.0, -1, 7, 2, 2])
    assert compiled(x).tolist() == sorted_by_merging(x).tolist()
    long = np.arange(2000.0)  # more than can be written out: a loop
    assert transkern.compile(halved)(long) == halved(long)


def test_recursion_that_nothing_ends_fails_as_in_python() -> None:
    require("cc")
    compiled = transkern.compile(endless, target="cpu")
    for function in (endless, compiled):
        with pytest.raises(RecursionError, match=r"^maximum recursion depth exceeded"):
            function(3.0)
    assert compiled.kernels


def _module(tmp_path: Path, text: str) -> Path:
    file = tmp_path / "a.py"
    file.write_text(text)
    return file


def _check(file: Path) -> list[tuple[str, str]]:
    """The functions of a file, and what is in their way."""
    return [(one.name, "\n".join(map(str, one.refusals)) or one.unknown) for one in check_file(file)]


def _twice(tmp_path: Path, count: int = 30) -> Path:
    """Functions that each call the one before twice; the last has types."""
    texts = ["def f0(x):\n    return x + 1\n"]
    texts += [f"def f{k}(x):\n    return f{k - 1}(x) + f{k - 1}(x)\n" for k in range(1, count)]
    return _module(tmp_path, "".join(texts) + f"def g(x: float):\n    return f{count - 1}(x)\n")


def test_functions_that_call_each_other_twice_are_refused(tmp_path: Path) -> None:
    *others, last = _check(_twice(tmp_path))
    (name, message) = last
    assert name == "g" and not any(message for _, message in others[:9])
    assert f"a call of `f0`: more than {CALLS} calls that are translated in place" in message
    assert "a.py:4:" in message and "TRANSKERN_COMPILE_LIMIT=10" in message


def test_the_limit_is_the_users(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = _twice(tmp_path, 6)
    assert not _check(file)[-1][1]
    monkeypatch.setenv("TRANSKERN_COMPILE_LIMIT", "0.05")
    assert "more than 50 calls" in _check(file)[-1][1]
    monkeypatch.setenv("TRANSKERN_COMPILE_LIMIT", "0.000001")
    file = _module(tmp_path, "def f(x: float):\n    return x + 1\n")
    assert "more than 0 nodes" in _check(file)[-1][1]
    monkeypatch.setenv("TRANSKERN_COMPILE_LIMIT", "much")
    assert "give a number" in _check(file)[-1][1]


@pytest.mark.parametrize("expression", [
    " + ".join(["x"] * 300), " + ".join(["x"] * 900), "-" * 700 + "x", "abs(" * 90 + "x" + ")" * 90,
    " and ".join(["x > 1"] * 900), "x if x > 1 else " * 250 + "1.0", "x" + ".real" * 900,
])  # fmt: skip
def test_deep_expressions_compile_or_are_refused_at_their_place(expression: str, tmp_path: Path) -> None:
    text = f"def f(x: float):\n    y = x\n    return {expression}\ndef g(x: float):\n    return x + 1\n"
    (_, message), other = _check(_module(tmp_path, text))
    assert other == ("g", "")
    assert not message or ("a.py:3:" in message and "nested too deeply" in message and "help: " in message), message


def test_one_bad_function_does_not_end_the_run(tmp_path: Path) -> None:
    (tmp_path / "good.py").write_text("def f(x: float):\n    return x + 1\n")
    (tmp_path / "deep.py").write_text(f"def f(x: float):\n    return x{' + x' * 5000}\n")
    (tmp_path / "bytes.py").write_bytes(b"\xff\xfe\x00")
    (tmp_path / "null.py").write_bytes(b"X = 1\0")
    (tmp_path / "folder.py").mkdir()
    (tmp_path / "outside.py").symlink_to(Path(__file__))
    (tmp_path / "shown.py").write_bytes(b'def f(x: float):\n    return open("\x1b[2J")\n')
    done = CliRunner().invoke(cli, ["check", str(tmp_path)])
    assert done.exit_code == 1 and "1 would compile, 5 would not, 0 not checked" in done.stdout
    assert "leads out of" in done.stdout and "\x1b" not in done.stdout


def test_an_interrupt_ends_a_compilation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C while a function is translated."""
    space: dict[str, Any] = {}
    file = _module(tmp_path, "def f(x):\n" + "    x = [x, x, [x]][1] * 1.5 + abs(x)\n" * 300 + "    return x\n")
    exec(compile(file.read_text(), str(file), "exec"), space)
    steps, step = iter(range(1000)), Session.step

    def interrupted(self: Session, *args: Any) -> None:
        if next(steps) == 100:
            signal.raise_signal(signal.SIGINT)
        step(self, *args)

    monkeypatch.setattr(Session, "step", interrupted)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            transkern.compile(space["f"])(2.0)
    finally:
        signal.signal(signal.SIGINT, before)
    assert next(steps) == 101  # nothing was translated behind it


@pytest.mark.parametrize(("body", "why"), [
    ("9 ** 9 ** 9", f"an integer of more than {MOST_BITS} bits"),
    ("len('a' * 10 ** 10)", "a text of more than"),
    ("len([0] * 10 ** 9)", "more than 65536 items"),
    ("len('{:1000000000}'.format(3))", "a text of more than"),
    ("sum([k for k in (*range(10 ** 9),)])", f"more than {STEPS} steps"),
])  # fmt: skip
def test_live_functions_compute_no_more_while_they_are_translated(body: str, why: str, tmp_path: Path) -> None:
    space: dict[str, Any] = {}
    file = _module(tmp_path, f"def f(x):\n    return x + {body}\n")
    exec(compile(file.read_text(), str(file), "exec"), space)
    with pytest.raises(transkern.CompileError, match=why):
        transkern.compile(space["f"])(2.0)


def _coloured(text: str) -> bool:
    return "\x1b[" in text


def test_no_color_is_honoured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = _module(tmp_path, "def f(x: float):\n    return open(x)\n")
    monkeypatch.delenv("NO_COLOR", raising=False)
    for command in (["check", str(file)], ["explain", str(file)]):
        shown = CliRunner().invoke(cli, command, color=True)
        assert shown.exit_code == 1 and _coloured(shown.output)
    monkeypatch.setenv("NO_COLOR", "1")
    for command in (["check", str(file)], ["explain", str(file)]):
        shown = CliRunner().invoke(cli, command, color=True)
        assert shown.exit_code == 1 and not _coloured(shown.output)


def test_comments_of_emitted_code_end_with_their_lines(tmp_path: Path) -> None:
    folder = tmp_path / "a\n#error b"
    folder.mkdir()
    text = 'def f(x: "float64[n]"):\n    return x + len("*/ #error") #\\ \\ \n'
    file = _module(folder, text)
    for target in ("cpu", "cuda"):
        done = CliRunner().invoke(cli, ["emit", str(file), "--target", target])
        assert done.exit_code == 0, done.output
        code = done.stdout.split("\n")
        assert not any(line.startswith("#error") or line.rstrip().endswith("\\") for line in code)
        assert any("// " in line and "return x + len(" in line and "*/" not in line for line in code)
