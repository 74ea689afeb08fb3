"""What calls take, for each kernel and line: of code with timers, at the command line, in the table and on the page."""

from __future__ import annotations

import json
import linecache
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner, Result

import transkern
from tests.tools import require
from transkern.cli import cli
from transkern.options import Options
from transkern.pipeline import program_of, with_options
from transkern.runtime import profiling
from transkern.runtime.profiling import Profile, Region, in_seconds
from transkern.targets.cpu.printing.module import emit_with_timers

LINES = Path(__file__).read_text(encoding="utf-8").splitlines()


def run(*arguments: str) -> Result:
    return CliRunner().invoke(cli, list(arguments))


def line_of(text: str) -> int:
    return LINES.index(text) + 1


# ---- the measured functions ------------------------------------------------------------------------------------------


def stages(x: Any, y: Any) -> Any:
    z = np.zeros_like(x)
    for i in range(1, len(x)):
        z[i] = z[i - 1] * 0.5 + y[i]
    order = np.argsort(z)
    return np.sqrt(x) + z[::-1], order


def shrinks(order: Any, scores: Any) -> Any:
    kept = []
    while order.size > 0:
        kept.append(order[0])
        rest = order[1:]
        order = rest[scores[rest] + scores[order[0]] < 1.5]
    return np.array(kept)


def rows(a: Any, steps: int) -> Any:
    for _ in range(steps):
        for i in range(1, a.shape[0]):
            for j in range(1, a.shape[1]):
                a[i, j] = a[i - 1, j - 1] * 0.5 + a[i, j - 1]
    return a


def raises(x: Any, k: int) -> Any:
    total = 0.0
    for i in range(len(x)):
        total += x[i]
    return total + x[k]


def scaled(x: Any, factor: float) -> Any:
    out = np.empty_like(x)
    for i in range(len(x)):
        if x[i] < 0:
            raise ValueError("negative")
        out[i] = x[i] * factor
    return out


CALLS: list[tuple[Any, tuple[Any, ...]]] = [
    (stages, (np.linspace(0, 1, 5000), np.linspace(1, 2, 5000))),
    (shrinks, (np.arange(300), np.linspace(0, 1, 300))),
    (rows, (np.ones((40, 50)), 3)),
    (raises, (np.arange(100.0), 5)),
    (scaled, (np.arange(100.0), 2.0)),
]


@pytest.mark.parametrize(("function", "args"), CALLS, ids=lambda c: getattr(c, "__name__", ""))
def test_measured_code_has_the_same_answers_and_its_times_add_up(function: Any, args: tuple[Any, ...]) -> None:
    require("cc")
    compiled = transkern.compile(function, profile=True)
    for _ in range(3):
        found = compiled(*[np.copy(a) if isinstance(a, np.ndarray) else a for a in args])
        wanted = function(*[np.copy(a) if isinstance(a, np.ndarray) else a for a in args])
        for f, w in zip(found, wanted, strict=True) if isinstance(wanted, tuple) else [(found, wanted)]:
            np.testing.assert_array_equal(f, w)
    profile = compiled.profile()
    assert profile.calls == 3 and profile.name == function.__qualname__
    first = function.__code__.co_firstlineno
    last = max(line for _, _, line in function.__code__.co_lines() if line)
    for k, region in enumerate(profile.regions):
        assert 0 <= region.seconds <= profile.seconds
        assert all(first < line <= last for line in region.lines) and not region.elsewhere
        parts = [r for r in profile.regions if r.within == k]
        assert sum(r.seconds for r in parts) <= region.seconds
        assert all({*r.lines} <= {*region.lines} for r in parts if region.kind != "call")
    kernels = [r for r in profile.regions if r.kind == "kernel"]
    assert len(kernels) >= compiled.kernels  # there may be one for arguments whose checks hold, and one for others
    assert {r.calls for r in kernels} <= {0, 3}
    steps = sum(r.seconds for r in profile.regions if r.within == 0)
    assert sum(profile.groups().values()) == pytest.approx(steps)


def test_each_part_stands_at_its_lines() -> None:
    require("cc")
    x = np.linspace(0, 1, 200_000)
    compiled = transkern.compile(stages, profile=True)
    compiled(x, x)
    profile = compiled.profile()
    sorted_at = line_of("    order = np.argsort(z)")
    (step,) = (r for r in profile.regions if r.kind == "library")
    assert step.name == "argsort" and step.lines == (sorted_at,) and step.calls == 1
    loop = line_of("    for i in range(1, len(x)):")
    assert (loop, loop + 1) in profile.groups()
    beside = profile.beside(LINES)
    assert re.search(rf"^ +[\d.]+ m?u?s +\d+% +{loop}-{loop + 1} \|     for i in range\(1, len\(x\)\):$", beside, re.M)
    assert re.search(rf"^ +{loop + 1} \|         z\[i\] = ", beside, re.M)
    assert re.search(rf"^ +[\d.]+ m?u?s +\d+% +{sorted_at} \|     order = ", beside, re.M)
    told = compiled.explain()
    assert f"line {sorted_at}: argsort by the library" in str(profile)
    assert told.startswith("stages: ") and "\nstages(float64[x_0], float64[x_0]): 1 call, " in told
    assert "<table>" in profile._repr_html_() and f"lines {loop}-{loop + 1}" in profile._repr_html_()


def test_loops_in_one_kernel_are_measured_apart() -> None:
    """The passes of a loop that goes on until nothing is left, as often as they ran."""
    require("cc")
    compiled = transkern.compile(shrinks, profile=True)
    kept = compiled(np.arange(300), np.linspace(0, 1, 300))
    loops = [r for r in compiled.profile().regions if r.kind == "loop"]
    filtered = line_of("        order = rest[scores[rest] + scores[order[0]] < 1.5]")
    assert any(filtered in r.lines and r.calls >= len(kept) - 1 for r in loops)


def test_calls_that_raise_are_counted_too() -> None:
    require("cc")
    compiled = transkern.compile(scaled, profile=True)
    compiled(np.arange(3.0), 2.0)
    with pytest.raises(ValueError, match="negative"):
        compiled(np.array([1.0, -1.0]), 2.0)
    assert compiled.profile().calls == 2
    assert 2 in [r.calls for r in compiled.profile().regions if r.kind == "kernel"]
    assert transkern.compile(scaled, profile=True)(np.arange(3.0), 2.0).sum() == 6  # another object has its own
    assert compiled.profile().calls == 2


def test_code_that_nobody_measures_has_no_timers() -> None:
    source = "def f(x):\n    for i in range(1, len(x)):\n        x[i] += x[i - 1]\n    return x.sum()\n"
    program = program_of(source, "f", "f(float64[n])")
    plain, _, none = emit_with_timers(program)
    timed, _, some = emit_with_timers(with_options(program, Options(profile=True)))
    assert not none and "py_now" not in plain.whole and "clock_gettime" not in plain.own
    assert len(some) >= 2 and "py_now" in timed.own


def test_the_cache_keeps_both_kinds_and_what_is_measured() -> None:
    require("cc")

    def kept(x: Any) -> Any:
        return np.sqrt(x) * 3 - x

    for _ in range(2):
        for profile in (True, False):
            compiled = transkern.compile(kept, profile=profile, target="cpu")
            compiled(np.arange(9.0))
            if profile:
                measured = compiled.profile()
                assert [r.kind for r in measured.regions] == ["call", "kernel"] and measured.calls == 1
            else:
                with pytest.raises(ValueError, match="the calls of `kept` are not measured"):
                    compiled.profile()
    assert compiled.cache_info().from_disk == 1


def test_lines_are_those_of_the_file_as_it_is_now(tmp_path: Path) -> None:
    """Code is found in the cache wherever its function stands; what is measured names the lines."""
    require("cc")
    path = tmp_path / "moving.py"
    for above in ("", "# a line\n\n\n"):
        path.write_text(above + "def moves(x):\n    y = x * 2\n    return y[::-1] + y\n")
        linecache.checkcache(str(path))
        space: dict[str, Any] = {"__name__": "moving"}
        exec(compile(path.read_text(), str(path), "exec"), space)
        compiled = transkern.compile(space["moves"], profile=True)
        compiled(np.arange(9.0))
        down = above.count("\n")
        assert [r.lines for r in compiled.profile().regions if r.kind == "kernel"] == [(3 + down,)]


def test_only_the_cpu_is_measured() -> None:
    with pytest.raises(ValueError, match='measured with target="cpu"'):
        transkern.compile(rows, target="cuda", profile=True)
    assert transkern.compile(rows, profile=True).target == "cpu"


def test_times_are_short_and_rough_ones_are_marked() -> None:
    assert [in_seconds(t) for t in (2.5, 0.0012345, 4.56e-5, 7e-9)] == ["2.5 s", "1.23 ms", "45.6 us", "7 ns"]
    regions = (
        Region("call", "f", (), (), -1, 2, 1e-3),
        Region("kernel", "f_loop", (3, 4, 5), ("other.py:7",), 0, 2, 8e-4),
        Region("loop", "", (4,), (), 1, 2000, 6e-4),
        Region("kernel", "f_never", (9,), (), 0, 0, 0.0),
    )
    told = str(Profile("f", "int", "/a.py", "", regions)).splitlines()
    assert told == [
        "f(int): 2 calls, 1 ms, 80% of it in kernels and library steps",
        "   800 us  80%     2x  kernel f_loop: lines 3-5, other.py:7",
        "  ~600 us  60%  2000x    loop: line 4",
        "  ~ less than a microsecond a time: the timers take a part of it",
    ]
    assert Profile("f", "int", "/a.py", "", regions).groups() == pytest.approx({(3, 4, 5): 2e-4, (4,): 6e-4})


# ---- the command line ------------------------------------------------------------------------------------------------

SCRIPT = """import numpy as np


def decay(x, steps):
    z = np.zeros_like(x)
    for k in range(steps):
        for i in range(1, len(x)):
            z[i] = z[i - 1] * 0.5 + x[i] * k
    return z


print(decay(np.arange(4000.0), 4).sum())
"""


def test_a_run_is_measured_and_explained_later(tmp_path: Path) -> None:
    require("cc")
    script, profile, page = (tmp_path / name for name in ("script.py", "profile.json", "page.html"))
    script.write_text(SCRIPT)
    command = [sys.executable, "-m", "transkern", "run", "--eager", "--profile", str(profile), str(script)]
    found = subprocess.run(command, capture_output=True, text=True, check=True, cwd=tmp_path)
    plain = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, check=True)
    assert found.stdout == plain.stdout
    assert "transkern: decay(float64[x_0], int): 1 call, " in found.stderr
    (one,) = profiling.read(profile)
    assert (one.name, one.calls) == ("decay", 1)

    told = run("explain", str(script), "--profile", str(profile))
    assert told.exit_code == 0, told.output
    assert told.stdout.startswith("decay: ")
    assert re.search(r"% +7-8 \|         for i in range\(1, len\(x\)\):", told.stdout)
    assert run("explain", str(script), "--profile", str(profile), "--html", str(page)).exit_code == 0
    shown = page.read_text(encoding="utf-8")
    assert re.search(r'"time" title="[\d.]+ m?u?s, \d+% of the calls: lines 7-8">[\d.]+ m?u?s</span>', shown)
    assert "kernel decay_loop" in shown and shown.count('class="time"') == 6

    wrong = run("explain", str(script), "--profile", str(profile), "--function", "other")
    assert wrong.exit_code == 1 and "it has: none" in wrong.stderr
    script.write_text(SCRIPT.replace("0.5", "0.25"))
    wrong = run("explain", str(script), "--profile", str(profile))
    assert wrong.exit_code == 1 and "has another text now" in wrong.stderr
    for text in ("{}", "[]", "no", json.dumps({"version": 1, "profiles": [{"name": "f"}]})):
        profile.write_text(text)
        assert "not a profile" in run("explain", str(script), "--profile", str(profile)).stderr


def test_a_page_without_a_profile_has_no_times(tmp_path: Path) -> None:
    script, page = tmp_path / "script.py", tmp_path / "page.html"
    script.write_text(SCRIPT)
    assert run("explain", str(script), "--types", "decay(float64[n], int)", "--html", str(page)).exit_code == 0
    assert 'class="time"' not in page.read_text(encoding="utf-8")
