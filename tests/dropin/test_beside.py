"""Functions that a copy of the process compiles: nobody waits for it, nobody sees it, and the next run has the code."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.dropin.test_scripts import ROOT
from tests.tools import require
from transkern.dropin.beside import VARIABLE, Beside
from transkern.dropin.deciding import ADVANCE, COST, IMPORTS, LATER, LONG, TIMES, TRUST, Account, Record
from transkern.dropin.described import Other, described, made
from transkern.dropin.remembered import Memory
from transkern.dropin.rewriting import Site
from transkern.runtime.structures import ALL, Used

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="processes are copied on Linux alone")

SITE = Site("f", "f.py", 1, ())
SLOW = (
    "import os, sys\n"
    "def slow(n, scale):\n    s = 0.0\n    for i in range(n):\n        s += (i % 7) * scale\n    return s\n"
    "print(slow({n}, 0.5), flush=True)\n"
    "try:\n    os.waitpid(-1, 0)\nexcept ChildProcessError:\n    print('no children')\n"
)


def run(folder: Path, *options: str, beside: str = "1") -> tuple[int, str, str]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "TRANSKERN_CACHE_DIR": str(folder), VARIABLE: beside}
    words = [sys.executable, *options, "script.py"]
    done = subprocess.run(words, capture_output=True, text=True, cwd=folder, env=environment, timeout=120, check=False)
    return done.returncode, done.stdout, done.stderr


def outcomes(folder: Path) -> list[dict[str, Any]]:
    """What copies have found out."""
    found = [json.loads(path.read_text()) for path in (folder / "runs").glob("*.json")]
    return [one for one in found if "state" in one]


def waited(folder: Path) -> list[dict[str, Any]]:
    end = time.monotonic() + 100
    while not (found := outcomes(folder)) and time.monotonic() < end:
        time.sleep(0.1)
    return found


def needs_processors() -> None:
    if len(os.sched_getaffinity(0)) < 2:
        pytest.skip("with one processor nothing is compiled beside")


def test_the_next_run_has_the_code(tmp_path: Path) -> None:
    """The first one is over before anything is compiled, has no child, and its pipes end with it."""
    require("cc")
    needs_processors()
    (tmp_path / "script.py").write_text(SLOW.format(n=30_000_000))
    wanted = run(tmp_path)
    assert "no children" in wanted[1]
    assert run(tmp_path, "-m", "transkern", "run") == wanted
    assert [one["state"] for one in waited(tmp_path)] == ["compiled"]
    code, out, told = run(tmp_path, "-m", "transkern", "run", "--report")
    assert (code, out) == wanted[:2]
    assert "compiled (from the cache)" in told


def test_a_refusal_is_found_out_once(tmp_path: Path) -> None:
    """So that the function runs in parts from the second run on."""
    require("cc")
    needs_processors()
    text = SLOW.format(n=30_000_000).replace("    return s\n", "    os.stat('.')\n    return s\n")
    (tmp_path / "script.py").write_text(text)
    wanted = run(tmp_path)
    assert run(tmp_path, "-m", "transkern", "run") == wanted
    (found,) = waited(tmp_path)
    assert found["state"] == "in parts" and "os.stat" in found["why"]
    assert "in parts; Python: line 6" in run(tmp_path, "-m", "transkern", "run", "--report")[2]


def test_it_is_switched_off(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(SLOW.format(n=30_000_000))
    told = run(tmp_path, "-m", "transkern", "run", "--report", beside="0")[2]
    assert "beside" not in told and outcomes(tmp_path) == []


def test_a_long_run_gets_the_code_meanwhile(tmp_path: Path) -> None:
    require("cc")
    needs_processors()
    text = SLOW.format(n=10) + (
        "import time\nend = time.monotonic() + 60\nwhile time.monotonic() < end:\n    slow(1_000_000, 0.5)\n"
        "    if os.path.isdir('functions') and any(names for _, names, _ in os.walk('functions')):\n"
        "        end = min(end, time.monotonic() + 10)\n"
    )
    (tmp_path / "script.py").write_text(text)
    told = run(tmp_path, "-m", "transkern", "run", "--report")[2]
    assert "1 of 1 functions compiled" in told


def test_scripts_load_no_more_than_they_ask_for(tmp_path: Path) -> None:
    """Nor is NumPy there before they import it."""
    (tmp_path / "script.py").write_text(
        "import sys\nprint(sum(k * k for k in range(9)), 'numpy' in sys.modules)\n"
        "def f(n):\n    s = 0\n    for k in range(n):\n        s += k\n    return s\nprint(f(100))\n"
        "print([m for m in sys.modules if m.split('.')[0] in ('numpy', 'subprocess', 'multiprocessing', 'click')])\n"
    )
    wanted = run(tmp_path)
    assert wanted[1].splitlines()[0].endswith("False")
    assert run(tmp_path, "-m", "transkern", "run") == wanted


class Told:
    """What is written down elsewhere, in files."""

    def __init__(self) -> None:
        self.found: dict[Site, dict[str, Any]] = {}
        self.begun: set[Site] = set()

    def outcome(self, site: Site) -> dict[str, Any] | None:
        return self.found.get(site)

    def keep_outcome(self, site: Site, found: dict[str, Any]) -> None:
        self.found[site] = found

    def is_begun(self, site: Site) -> bool:
        return site in self.begun

    def begin(self, site: Site) -> None:
        self.begun.add(site)


def test_what_an_earlier_runs_copy_is_at_work_on_is_not_begun_again() -> None:
    told = Told()
    told.begun.add(SITE)
    beside = Beside(told)
    assert beside.start([(SITE, lambda: {"state": "compiled"})]) and beside.is_waiting_for(SITE)
    time.sleep(0.1)
    assert beside.outcome(SITE) is None
    told.found[SITE] = {"state": "compiled"}
    beside._looked = 0.0
    assert beside.outcome(SITE) == {"state": "compiled"}


def test_copies_say_what_they_are_at_work_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRANSKERN_CACHE_DIR", str(tmp_path))
    memory = Memory("cpu", True)
    assert not memory.is_begun(SITE)
    memory.begin(SITE)
    assert memory.is_begun(SITE) and not memory.is_begun(Site("g", "f.py", 1, ()))
    ended = subprocess.Popen(["true"])
    os.waitid(os.P_PID, ended.pid, os.WEXITED | os.WNOWAIT)
    monkeypatch.setattr(os, "getpid", lambda: ended.pid)
    memory.begin(SITE)
    assert not memory.is_begun(SITE)  # it has ended, and nobody has taken note of it
    ended.wait()
    assert not memory.is_begun(SITE)


def test_processes_that_are_not_copied() -> None:
    beside = Beside(Told())
    needs_processors()
    before = beside.may_start()
    thread = threading.Thread(target=time.sleep, args=(0.5,))
    thread.start()
    assert not beside.may_start()
    thread.join()
    old = signal.signal(signal.SIGCHLD, lambda number, frame: None)
    try:
        assert not beside.may_start()
    finally:
        signal.signal(signal.SIGCHLD, old)
    assert beside.may_start() == before
    beside._process += 1  # as in a process that this one has forked
    assert not beside.may_start()


def test_what_is_not_known_yet() -> None:
    told = Told()
    beside = Beside(told)
    assert beside.outcome(SITE) is None and not beside.is_busy()
    beside._site, beside._started = SITE, time.perf_counter()
    assert beside.is_waiting_for(SITE) and beside.outcome(SITE) is None
    told.found[SITE] = {"state": "compiled"}
    beside._looked = 0.0
    assert beside.outcome(SITE) == told.found[SITE] and not beside.is_busy()
    beside._site, beside._started = SITE, time.perf_counter() - 1e4  # it has been killed
    assert not beside.is_busy()


def test_who_waits_and_who_does_not() -> None:
    account = Account(0.0)
    cost = COST + IMPORTS
    record = Record()
    assert not record.is_worth_beside(0.0, 0.0) and not record.is_worth_later()
    record.add_python(1, LATER * cost)
    assert not record.is_worth_beside(0.0, 0.0) and record.is_worth_later()
    record.add_python(1, TIMES * cost)
    assert record.is_worth_beside(0.0, 0.0) and not record.is_long(0.0, account, 1.0)
    assert Record(before=2 * TIMES * cost).is_worth_beside(0.0, 0.0)
    long = 2 * LONG * cost / TRUST
    assert Record().is_long(long, account, 1.0) and not Record().is_long(long / 4, account, 1.0)
    assert Record(before=2 * LONG * cost, calls=1).is_long(0.0, account, 1.0)
    assert not Record(before=2 * LONG * cost, calls=10).is_long(0.0, account, 1.0)
    account.charge(ADVANCE + 2 * long, False)  # who has spent much waits less readily
    assert not Record().is_long(long, account, 1.0)


class Held:
    def __init__(self, x: Any) -> None:
        self.x = x


def test_calls_are_described_without_holding_them() -> None:
    one = Held(np.arange(3.0))
    one.lock = threading.Lock()  # type: ignore[attr-defined]
    array = np.arange(6, dtype=np.int32).reshape(2, 3)
    array.flags.writeable = False
    given = (array, 2, "x", (1.5, None), [1, 2.0] * 50, np.float32(3))
    call = described("abcdef", given, {"k": one}, lambda name, value: ALL)
    assert call is not None
    args, keywords = made(call)
    assert args[0].shape == (2, 3) and args[0].dtype == np.int32 and not args[0].flags.writeable
    assert not args[0].any() and args[1:4] == (2, "x", (1.5, None))
    assert set(map(type, args[4])) == {int, float} and type(args[5]) is np.float32
    assert keywords["k"] is one
    del one, keywords
    with pytest.raises(Other):
        made(call)


def test_objects_are_described_by_what_is_used_of_them() -> None:
    one = Held(np.arange(3.0))
    one.lock = threading.Lock()  # type: ignore[attr-defined]
    call = described(("self",), (one,), {}, lambda name, value: Used(frozenset({"x"})) if name == "self" else ALL)
    assert call is not None
    del one
    (again,), _ = made(call)
    assert type(again) is Held and again.x.shape == (3,) and not hasattr(again, "lock")
    one = Held([(threading.Lock(),)])
    call = described(("self",), (one,), {}, lambda name, value: Used(frozenset({"x"}), frozenset({("x",)})))
    assert call is not None and made(call)[0][0].x == []  # it is only appended to


@pytest.mark.parametrize("value", [np.arange(6.0)[::2], [np.zeros(2)], {1: 2}, np.array([None]), len, iter(())])
def test_calls_that_are_not(value: Any) -> None:
    used = lambda name, value: ALL  # noqa: E731
    assert described(("v",), (value,), {}, used) is None and described((), (), {"v": value}, used) is None
