"""Generated programs against NumPy: a short run; `make fuzz` is the long one."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.fuzz import stages
from tests.fuzz.arguments import SIZES, Parameter
from tests.fuzz.batch import Batch, Report
from tests.fuzz.complex_programs import complex_arguments, generate_complex
from tests.fuzz.oracle import Oracle, TooLong, _Limit
from tests.fuzz.programs import Program, drawn, generate
from tests.fuzz.run import ENVIRONMENT, found_by_sanitizers, is_stopped, under_sanitizers
from tests.fuzz.shrink import shrunk
from tests.fuzz.simple_run import check
from tests.tools import on_target, require
from transkern.fuse.passes import PASSES

COUNTS = {"cpu": 24, "cuda": 8, "pallas": 3}


def _shown(reports: list[Report]) -> str:
    return "\n".join(f"seed {r.program.seed}: {r.verdict}: {r.message}\n{r.program.text()}" for r in reports)


@pytest.mark.parametrize("target", COUNTS)
def test_programs_give_numpys_answer(target: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    on_target(target, monkeypatch)
    reports = Batch(target, tmp_path).run([generate(seed) for seed in range(1, 1 + COUNTS[target])])
    assert not _shown([r for r in reports if r.verdict in ("wrong", "broken")])
    assert sum(r.verdict == "refused" for r in reports) <= 1 + COUNTS[target] // 20
    assert sum(r.verdict == "right" for r in reports) >= COUNTS[target] // 2


@pytest.mark.parametrize(
    "answer, scans",
    [("np.convolve(x, [1, 2, 1])", False), ("np.stack((x, x), 1) @ x[:2]", False), ("np.nancumsum(x)", True)],
)
def test_noise_beside_numbers_that_are_not_finite(answer: str, scans: bool) -> None:
    """A NaN or an infinity among the terms does not make those sums exact that it does not reach, nor fragile."""
    source = f"import numpy as np\n\ndef f(x):\n    return {answer}"
    for odd in (np.nan, np.inf):
        x = np.array([1 / 3, 0.1, -5.5, 1 / 3, 0.1, 0.7, odd])
        wanted = Oracle(source, scans).outcome(lambda x=x: [x.copy()])  # type: ignore[misc]
        finite = np.isfinite(wanted.result)
        assert not wanted.fragile
        assert np.all(wanted.noise["[0]"][finite] < 1e-12)
        assert np.any(wanted.noise["[0]"][finite] > 0)


def test_noise_of_products_that_are_subnormal() -> None:
    """They have fewer bits, and lose others of them in another order (seed 99600557: taken for a wrong result)."""
    source = "import numpy as np\n\ndef f(x):\n    return x.prod()"
    x = np.array([3e-150, 1.7, 7e-160, 1.1, 0.3])
    wanted = Oracle(source).outcome(lambda: [x.copy()])
    assert 0 < wanted.result < np.finfo(float).smallest_normal and wanted.noise["[0]"] > 0


def test_noise_of_products_of_whole_numbers() -> None:
    """Sums of them would be exact, sums of their products are not (seed 99607010: taken for a wrong result)."""
    source = "import numpy as np\n\ndef f(a, x):\n    return np.inner(a, x)"
    a, x = np.array([32001, 7, -31999], np.int16), np.array([951, -3, 957], np.float32)
    assert Oracle(source).outcome(lambda: [a, x]).noise["[0]"] > 0
    assert Oracle(source).outcome(lambda: [a % 9, x % 9]).noise["[0]"] == 0


def test_noise_of_sums_reaches_what_they_are_stored_into() -> None:
    source = "import numpy as np\n\n\ndef f(x):\n    np.cumsum(x, out=x)\n"
    wanted = Oracle(source, scans=True).outcome(lambda: [np.array([1 / 3, -0.1, 0.2])])
    assert np.all(wanted.noise["[1][0]"] > 0)


def test_noise_of_one_sum_taken_again_and_again_adds_up() -> None:
    """Each taking is off by the same: what a thousand of them make is off by a thousand times that."""
    loop = "v = 0.0\n    for i in range(n):\n        v = v + np.var(x)"
    source = f"import numpy as np\n\ndef f(x, n):\n    {loop}\n    return v"
    x = np.array([1 / 3, 0.1, 0.7, 5.3])
    one, many = (Oracle(source).outcome(lambda n=n: [x.copy(), n]) for n in (1, 1000))  # type: ignore[misc]
    assert many.noise["[0]"] > 300 * one.noise["[0]"] > 0


def test_a_time_limit_that_is_lost_in_a_callback_comes_again(monkeypatch: pytest.MonkeyPatch) -> None:
    class Busy:
        def __del__(self) -> None:
            while True:
                pass

    lost: list[object] = []
    monkeypatch.setattr(sys, "unraisablehook", lambda told: lost.append(told.exc_type))
    with pytest.raises(TooLong), _Limit(0.05):
        Busy()
        while True:
            pass
    assert lost == [TooLong]
    signal.raise_signal(signal.SIGPROF)  # one that comes late does nothing


def test_a_stopped_process_does_not_hang() -> None:
    if not Path("/proc/self/stat").exists():
        pytest.skip("the state of a process is known on Linux only")
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        process.send_signal(signal.SIGSTOP)
        os.waitpid(process.pid, os.WUNTRACED)
        assert is_stopped(process.pid)
        process.send_signal(signal.SIGCONT)
        os.waitpid(process.pid, os.WCONTINUED)
        assert not is_stopped(process.pid)
        process.kill()


def _sanitized(target: str, folder: Path, planted: str = "") -> str:
    """What two programs say on stderr under the sanitizers, in a process whose code has `planted` at its beginning."""
    (folder / "planted.h").write_text(planted)
    run = subprocess.run(
        [sys.executable, "-c", _SANITIZED, target, str(folder)], capture_output=True, text=True,
        env={**os.environ, **ENVIRONMENT, **under_sanitizers(), "TMPDIR": str(folder)}, timeout=300,
    )  # fmt: skip
    assert planted or run.returncode == 0, run.stderr
    return run.stderr


_SANITIZED = """
import os, sys
from pathlib import Path
from tests.fuzz.batch import QUICK, Batch
from tests.fuzz.programs import generate

del os.environ["LD_PRELOAD"]
target, folder = sys.argv[1:]
batch = Batch(target, Path(folder), (*QUICK, "-include", str(Path(folder, "planted.h"))), sanitized=True)
assert [r.verdict for r in batch.run([generate(1), generate(2)])] == ["right", "right"]
"""


def test_the_sanitizers_find_planted_faults(tmp_path: Path) -> None:
    require("cc", "sanitizers")
    planted = "__attribute__((constructor)) static void planted(void) {{ {} }}\n"
    outside = "volatile char *p = __builtin_malloc(8);\np[8] = 1;"
    assert "buffer-overflow" in found_by_sanitizers(_sanitized("cpu", tmp_path, planted.format(outside)))
    shift = "volatile int n = 40;\nn = 1 << n;"
    found = found_by_sanitizers(_sanitized("cpu", tmp_path, planted.format(shift)))
    assert "shift exponent 40" in found


@pytest.mark.parametrize("target", ["cpu", "cuda"])
def test_programs_under_the_sanitizers(target: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    require("cc", "c++", "sanitizers")
    on_target(target, monkeypatch)
    assert not found_by_sanitizers(_sanitized(target, tmp_path))


@settings(max_examples=20, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(st.randoms(use_true_random=False))
def test_programs_after_all_passes(rng: random.Random) -> None:
    report = stages.check(drawn(rng), len(stages.names()) - 1)
    assert report.verdict not in ("wrong", "broken"), _shown([report])


@pytest.mark.parametrize("seed", [28])
def test_each_pass_keeps_the_answer(seed: int) -> None:
    assert stages.first_wrong(generate(seed)) is None


def test_a_wrong_pass_is_named_and_the_program_made_small(monkeypatch: pytest.MonkeyPatch) -> None:
    """With a pass that turns additions around, the failure is found, blamed on it, and cut down to an addition."""
    from dataclasses import replace

    from transkern.ir.expr import Apply, Expr
    from transkern.ir.nodes import Program as Loops
    from transkern.ir.traverse import map_block

    def share_values(program: Loops) -> Loops:
        def change(e: Expr) -> Expr | None:
            return replace(e, op="subtract") if isinstance(e, Apply) and e.op == "add" and e.dtype != "index" else None

        return replace(program, body=map_block(program.body, change))

    passes = tuple(share_values if p.__name__ == "share_values" else p for p in PASSES)
    monkeypatch.setattr("transkern.fuse.passes.PASSES", passes)
    source = """import numpy as np

def f(x, y):
    total = 0.0
    for i in range(len(x)):
        total = total + x[i] * y[i]
    z = np.maximum(x, y)
    z[1:] = z[:-1] * 2 + y[1:]
    return z, total
"""
    parameters = (Parameter("x", "float64", ("n",)), Parameter("y", "float64", ("n",)))
    found = stages.first_wrong(Program(source, parameters, ((SIZES[0], 1),)))
    assert found is not None and found[0] == "share_values"
    stage = stages.names().index("share_values")
    small = shrunk(found[1], lambda programs: [stages.check(p, stage) for p in programs])
    assert len(small.program.source.splitlines()) <= 6


@pytest.mark.parametrize("block", range(2))
def test_generated_programs_of_halves(block: int, tmp_path: Path) -> None:
    failures, refused = check(range(block * 12, block * 12 + 12), "cpu", tmp_path)
    assert not failures
    assert refused <= 1


@pytest.mark.parametrize("block", range(3))
def test_generated_programs_of_complex_numbers(block: int, tmp_path: Path) -> None:
    seeds = range(block * 10, block * 10 + 10)
    failures, refused = check(seeds, "cpu", tmp_path, generate_complex, complex_arguments)
    assert not failures
    assert refused <= 1
