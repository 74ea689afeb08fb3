"""What modules for the CPU have in common, compiled apart (`targets/cpu/common.py`)."""

from __future__ import annotations

import ctypes
import re
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import transkern
from tests.tools import require
from transkern.runtime.caching import cache, cached
from transkern.targets.cpu import build, common, compiler, library
from transkern.targets.cpu.printing import glue
from transkern.targets.cpu.printing.waking import ALONE, DEAL, WAKING
from transkern.targets.cpu.running import LATER, RUNNING

require("cc")

PARTS = (
    glue.PYTHON, glue.ERRSTATE, glue.RAISED, RUNNING, WAKING, glue.ARRAYS, glue.RESULTS, glue.LARGE_RESULTS,
    glue.FUNCTIONS, glue.LIBRARY, DEAL, LATER,
)  # fmt: skip


def test_declarations_define_nothing() -> None:
    for part in PARTS:
        left = [line for line in common.declared(part).splitlines() if re.match(r"static (?!inline )", line)]
        assert not left
    assert not re.search(r"^static (?!inline )", common.text(0, False), re.MULTILINE)


def test_its_names_are_no_other_modules(tmp_path: Path) -> None:
    """Two modules in one process have a `numpy` each: nothing of the common file is visible outside."""
    (tmp_path / "common.c").write_text(common.text(2, True))
    flags = [f for f in compiler.flags() if f != "-shared"]
    said = build.run_compiler([*flags, *common.FLAGS], (tmp_path / "common.c",), tmp_path / "common.o")
    assert not said
    linked = tmp_path / "common.so"
    command = [*compiler.command(), "-shared", "-fopenmp", str(tmp_path / "common.o"), "-o", str(linked)]
    subprocess.run(command, check=True)
    listed = subprocess.run(["nm", "-D", "--defined-only", str(linked)], capture_output=True, text=True, check=True)
    assert not [line for line in listed.stdout.splitlines() if line.split()[-1] not in ("_init", "_fini")]


def much(x: Any, a: Any, k: int) -> Any:
    """Arrays in and out, large ones, views, library steps, threads, an error."""
    kept = []
    for v in x:
        if v > k:
            kept.append(v)
    wide = np.exp(a) * 2 + a
    return np.array(kept), wide, np.sort(x)[::-1], a.T @ a, x[k] / 0.0, a[0] if k else a[1:]


@pytest.mark.parametrize("options", [{}, {"threads": 2}, {"warnings": "numpy"}, {"fastmath": True}])
def test_linked_modules_are_those_that_are_not(options: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    x, a = np.array([3.0, 1.0, 2.0]), np.arange(400_000.0).reshape(-1, 2) % 7
    outcomes = []
    for apart in (True, False):
        with monkeypatch.context() as patch:
            if not apart:
                patch.setattr(cached._Common, "object_of", lambda *_: None)
            patch.setattr(cache, "read", lambda *_: None)
            compiled = transkern.compile(much, target="cpu", **options)
            with np.errstate(all="ignore"):
                outcomes.append([compiled(x, a, k) for k in (0, 1, 2)])
            with pytest.raises(IndexError, match="index 7 is out of bounds"):
                compiled(x, a, 7)
    for one, two in zip(*outcomes, strict=True):
        for p, q in zip(one, two, strict=True):
            np.testing.assert_array_equal(p, q)


def until_it_is_full(x: Any) -> Any:
    """A list without a bound, for which addresses are reserved."""
    kept, k = [], 0
    while k < 100:
        kept.append(x[k % 6] * k)
        k += int(x[3])
    return np.array(kept), len(kept)


@pytest.mark.parametrize("function", [much, until_it_is_full], ids=lambda f: f.__name__)
def test_each_module_is_compiled_once(function: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was declared only did not compile, for want of a header, and the whole text was compiled behind it."""
    said = []
    run = build.run_compiler

    def watched(flags: Any, sources: Any, out: Path) -> str:
        if out.suffix == ".so":
            said.append(run(flags, sources, out))
            return said[-1]
        return run(flags, sources, out)

    monkeypatch.setenv("TRANSKERN_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(build, "run_compiler", watched)
    given = (np.arange(6.0),) if function is until_it_is_full else (np.arange(6.0), np.ones((3, 2)), 1)
    with np.errstate(all="ignore"):
        transkern.compile(function, target="cpu")(*given)
    assert said == [""]


def test_declarations_are_those_of_the_headers(tmp_path: Path) -> None:
    """A compiler that knows the headers takes them as well, and none of another type."""
    names = " ".join(f"{name}()" for name in library._DECLARATIONS)
    declared = library.without_headers(f"{library.HEADERS}// {names}\n").partition("signbit(x)")[2].partition("//")[0]
    declared = declared[declared.index("\n#endif\n", declared.index("FMAF")) + len("\n#endif\n") :]
    assert declared.count("\n") == len(library._DECLARATIONS) > 100
    for text, fits in ((declared, True), (declared.replace("double fmod(", "float fmod("), False)):
        source = tmp_path / "declared.c"
        source.write_text(library.HEADERS + text)
        flags = [flag for flag in compiler.flags() if flag != "-w"]
        assert (not build.run_compiler([*flags, "-Werror"], (source,), tmp_path / "declared.so")) is fits


MACROS = """
static const double values[] = {0.0, -0.0, 1.5, 0x1p-1074, NAN, -NAN, INFINITY, -INFINITY};
__attribute__((visibility("default"))) int told(int k) {
    const double x = values[k / 2];
    const float y = (float)x;
    const int of = k % 2 ? (isnan(y) != 0) + 2 * (isinf(y) != 0) + 4 * (isfinite(y) != 0) + 8 * (signbit(y) != 0)
                         : (isnan(x) != 0) + 2 * (isinf(x) != 0) + 4 * (isfinite(x) != 0) + 8 * (signbit(x) != 0);
#ifdef FP_FAST_FMA
    return of + 16;
#elif defined(FP_FAST_FMAF)
    return of + 32;
#else
    return of;
#endif
}
"""


def test_macros_are_those_of_the_headers(tmp_path: Path) -> None:
    answers = []
    for text in (library.HEADERS + MACROS, library.without_headers(library.HEADERS + MACROS)):
        source, out = tmp_path / f"macros{len(answers)}.c", tmp_path / f"macros{len(answers)}.so"
        source.write_text(text)
        assert not build.run_compiler(compiler.flags(), (source,), out)
        told = ctypes.CDLL(str(out)).told
        answers.append([told(k) for k in range(16)])
    assert answers[0] == answers[1] and len({answer % 16 for answer in answers[0]}) > 4


def test_a_function_that_is_not_declared_is_an_error(tmp_path: Path) -> None:
    """It would be one that gives an integer. (`conftest.py` sees to it that tests meet none.)"""
    text = library.without_headers(f"{library.HEADERS}double f(double x) {{ return j0(x); }}\n")
    flags = [library.STRICT if flag == "-w" else flag for flag in compiler.flags()]
    (tmp_path / "f.c").write_text(text)
    with pytest.raises(AssertionError, match="j0"):
        build.run_compiler(flags, (tmp_path / "f.c",), tmp_path / "f.so")


REGIONS = """
int omp_get_num_threads(void);
static int levels(int shared) {
    int found = 0;
    #pragma omp parallel for schedule(static) reduction(+: found) if(parallel: shared)
    for (int k = 0; k < 16; ++k) found += 100 + omp_get_level();
    return found;
}
__attribute__((visibility("default"))) int alone(int shared) { return levels(shared); }
__attribute__((visibility("default"))) int within(void) {
    int found = 0;
    #pragma omp parallel num_threads(2) reduction(+: found)
    if (omp_get_num_threads() == 2) found += levels(0);
    return found;
}
"""


def test_loops_for_one_thread_make_no_team(tmp_path: Path) -> None:
    """But where there is one around them, which would share their iterations."""
    made = build.compile_object(common.text(0, False), common.FLAGS)
    if not made or not compiler.linking(made):
        pytest.skip("the compiler is not GCC, or has no OpenMP")
    source, out = tmp_path / "regions.c", tmp_path / "regions.so"
    source.write_text(ALONE + REGIONS)
    assert not build.run_compiler([*compiler.flags(), *compiler.linking(made)], (source,), out)
    regions = ctypes.CDLL(str(out))
    assert regions.alone(0) == 1600 and regions.alone(1) == 1616
    assert regions.within() in (2 * 1632, 0)  # 0: no second thread is to be had
