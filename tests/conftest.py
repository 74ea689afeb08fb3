"""What all tests share: the environment they run in, and the report of what was left out."""

from __future__ import annotations

import atexit
import gc
import os
import re
import shutil
import sys
import tempfile
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import pytest

from tests.tools import COMPLETE, LEFT_OUT
from transkern import pipeline
from transkern.fuse.passes import PASSES, Pass
from transkern.ir.nodes import Program
from transkern.ir.verify import verified
from transkern.runtime.caching import few
from transkern.targets.cpu import build, compiler, library
from transkern.targets.cuda.simulator import compile as simulated

# ---- environment: set before NumPy, JAX or the OpenMP runtime are loaded; the workers of xdist inherit it. -----------

if "PYTEST_XDIST_WORKER" not in os.environ:
    # Never the user's own cache: a test must neither profit from it nor fill it.
    _CACHE = tempfile.mkdtemp(prefix="transkern-tests-")
    atexit.register(shutil.rmtree, _CACHE, ignore_errors=True)
    os.environ["XDG_CACHE_HOME"] = _CACHE
    # The processes that tests start load the compiler: not from its text each time, where the user wants no bytecode.
    if os.environ.pop("PYTHONDONTWRITEBYTECODE", None):
        os.environ["PYTHONPYCACHEPREFIX"] = os.path.join(_CACHE, "bytecode")

# Two workers share the cores: threads that spin after a parallel region would take them from each other.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")
os.environ.setdefault("TRANSKERN_BESIDE", "0")  # what a run compiles is known when it ends
os.environ.setdefault("JAX_PLATFORMS", "cpu")
# The TPU compiler must not look for a TPU machine around it.
os.environ.setdefault("TPU_SKIP_MDS_QUERY", "1")
os.environ.setdefault("TPU_WORKER_HOSTNAMES", "localhost")
os.environ.setdefault("TPU_ACCELERATOR_TYPE", "v5litepod-4")
# Compilers in several processes at once: otherwise the second finds libtpu's lock file and gives up.
os.environ.setdefault("ALLOW_MULTIPLE_LIBTPU_LOAD", "1")
# XLA reads this once, when JAX is imported. What it makes of an interpreted kernel runs once or twice in a test.
_XLA_FLAGS: tuple[str, ...] = ("--xla_backend_optimization_level=0", "--xla_llvm_disable_expensive_passes=true")
os.environ["XLA_FLAGS"] = " ".join((*os.environ.get("XLA_FLAGS", "").split(), *_XLA_FLAGS))

# A worker holds JAX, and what it has traced: cycles among millions of objects are looked for less often. Most of what a
# compilation leaves goes without the collector, when its test has ended.
gc.set_threshold(1_000_000, 20, 20)


# ---- every program that a test compiles keeps the invariants of the IR, after each pass ------------------------------


def _checked(run: Callable[..., Program]) -> Callable[..., Program]:
    """`run`, which looks at the program behind each pass that has changed it."""

    def checked(
        program: Program, passes: tuple[Pass, ...] = PASSES, after: Callable[[str, Program], None] | None = None
    ) -> Program:
        return run(program, passes, verified(after, program))

    return checked


pipeline.run = _checked(pipeline.run)


# ---- what a module uses of the C library is declared in it: else its whole text would be compiled as well ------------


def _declared(run: Callable[[Sequence[str], Sequence[Path], Path], str]) -> Callable[..., str]:
    """`run`, which looks at what the compiler says."""

    def checked(flags: Sequence[str], sources: Sequence[Path], out: Path) -> str:
        said = run(flags, sources, out)
        assert library.STRICT not in flags or not re.search("undeclared|implicit declaration", said), said
        return said

    return checked


build.run_compiler = _declared(build.run_compiler)


# ---- code whose speed nobody asks about is compiled in less time ----------------------------------------------------

_TENTHS = {
    "language": ("-O0", 10), "loops": ("-O0", 10), "suppression": ("-O0", 10), "trust": ("-O0", 10),
    "regressions": ("-O1", 10), "nests": ("-O1", 7), "corpus": ("-O1", 7), "cuda": ("-O1", 7),
}  # fmt: skip
"""By folder, how much is optimised in how many tenths of the tests that ask what programs compute (what compilers made
of code is among the regressions); the others compile as users do, and so do those that start other processes, which
look for code under what it is compiled with."""


_LINKER = ("-fuse-ld=gold",) if shutil.which("ld.gold") else ()
"""A linker that takes half as long, where it is there."""


@pytest.fixture(autouse=True)
def quick_compiler(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    level, tenths = _TENTHS.get(request.path.parent.name, ("", 0))
    names = vars(request.module)
    others = "subprocess" in names or names.get("OTHER_PROCESSES", False)
    if zlib.crc32(request.node.nodeid.encode()) % 10 < tenths and not others:
        flags = tuple(level if flag == "-O3" else flag for flag in compiler.flags())
        monkeypatch.setattr(compiler, "flags", lambda: (*flags, *_LINKER))
        monkeypatch.setattr(simulated, "_LEVEL", level)


@pytest.fixture(autouse=True)
def any_size(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Arrays in tests are small: most are to try the code that large ones get (`fuse/choices/small_sizes.py`)."""
    names = vars(request.module)
    if "ANY_SIZE" in names or (zlib.crc32(request.node.nodeid.encode()) % 4 and "OTHER_SIZES" not in names):
        monkeypatch.setattr(few, "SMALL_SIZE", 0)


@pytest.fixture(autouse=True)
def compiled_anew() -> None:
    """What a test compiles by `alike` is compiled in it."""
    support = sys.modules.get("tests.regressions.support")
    if support is not None:
        support.forget()


# ---- half an hour, or two minutes ------------------------------------------------------------------------------------

_SEVERAL = {"language", "regressions", "loops", "nests", "suppression"}
"""Folders of tests that ask the same of every target."""

_OF_SO_MANY = 40
"""Of how many tests of a file one is in the share for a contributor's inner loop."""

_SWEEP = 4
"""Of how many cases on a test has neighbours that ask nearly the same: `make test` runs every other one of them."""

_WIDE_SWEEP = 16
"""Of how many it runs every third."""


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """With ``TRANSKERN_DEVICES=half`` (`make test`), every other test that asks of a simulated or interpreted device
    what is asked of the CPU as well is left for those who run pytest by themselves: all others run.

    With ``TRANSKERN_SHARE=most`` (`make test`) every other case runs of a test that has many, or every third. With
    ``TRANSKERN_SHARE=fast`` (`make test-fast`) a share of each file runs, but of the slow ones none."""
    kept = items
    if os.environ.get("TRANSKERN_DEVICES") == "half":
        kept = [item for item in kept if not _is_for_a_device(item) or zlib.crc32(item.nodeid.encode()) % 2 == 0]
    if os.environ.get("TRANSKERN_SHARE") == "most":
        cases = Counter(_test_of(item) for item in kept)
        kept = [item for item in kept if _is_of_most(item, cases[_test_of(item)])]
    if os.environ.get("TRANSKERN_SHARE") == "fast":
        chosen = _share(item for item in kept if item.get_closest_marker("slow") is None)
        kept = [item for item in kept if item in chosen]
    if len(kept) < len(items):
        stay = set(kept)
        config.hook.pytest_deselected(items=[item for item in items if item not in stay])
        items[:] = kept


def _is_of_most(item: pytest.Item, cases: int) -> bool:
    """Whether a case is in the share of a test with so many."""
    number = zlib.crc32(item.nodeid.encode())
    if cases >= _WIDE_SWEEP:
        return number // 4 % 3 == 0
    # another bit than that of devices: else all that it has left would go, or nothing
    return cases < _SWEEP or bool(number & 2)


def _test_of(item: pytest.Item) -> str:
    return item.nodeid.partition("[")[0]


def _share(items: Iterable[pytest.Item]) -> set[pytest.Item]:
    """Some tests of each file: the same each time, and from all over it."""
    by_file: dict[Path, list[pytest.Item]] = {}
    for item in items:
        by_file.setdefault(item.path, []).append(item)
    return {
        item for of_file in by_file.values()
        for item in sorted(of_file, key=lambda x: zlib.crc32(x.nodeid.encode()))[: -(-len(of_file) // _OF_SO_MANY)]
    }  # fmt: skip


def _is_for_a_device(item: pytest.Item) -> bool:
    target = getattr(item, "callspec", None) and item.callspec.params.get("target")  # type: ignore[attr-defined]
    return target in ("cuda", "pallas") and item.path.parent.name in _SEVERAL


# ---- what was left out ---------------------------------------------------------------------------------------------


def pytest_sessionfinish(session: pytest.Session) -> None:
    """On Linux x86-64 a run with a group of tests left out has failed."""
    if COMPLETE and _left_out(session.config) and session.exitstatus == 0:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    left_out = _left_out(terminalreporter.config)
    if left_out:
        terminalreporter.section("left out")
        for reason, count in sorted(left_out.items()):
            terminalreporter.line(f"{reason}  ({count} test{'s' if count > 1 else ''} or files)")
        if COMPLETE:
            terminalreporter.line("on Linux x86-64 all of this must run: pip install -e '.[dev]'", red=True)


def _left_out(config: pytest.Config) -> dict[str, int]:
    """How often each tool was missing that must be there."""
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    counts: dict[str, int] = {}
    for report in reporter.stats.get("skipped", ()) if reporter else ():
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
        reason = reason.removeprefix("Skipped: ")
        if reason.startswith(("could not import", LEFT_OUT)):
            reason = reason.removeprefix(LEFT_OUT)
            counts[reason] = counts.get(reason, 0) + 1
    return counts
