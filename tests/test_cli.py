"""The command line: what it prints, where, and with which exit code."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner, Result

import transkern
from tests.tools import require
from transkern.cli import cli
from transkern.cli.checking import python_files
from transkern.cli.doctor import Finding, examine, verdicts

ROOT = Path(__file__).parents[1]
SIGMOID = str(ROOT / "examples" / "sigmoid.py")
TYPES = "sigmoid(float32[n], float32[n], float32[n])"


def run(*arguments: str) -> Result:
    return CliRunner().invoke(cli, list(arguments))


def test_emit_prints_the_code_alone() -> None:
    result = run("emit", SIGMOID, "--types", TYPES)
    assert result.exit_code == 0, result.stderr
    assert "expf" in result.stdout and "return 1 / (1 + np.exp(-x)) * a + b" in result.stdout
    assert "sigmoid.py" in result.stderr  # what -o would write beside it
    assert "\x1b[" not in result.stdout


def test_emit_writes_files_that_run_without_transkern(tmp_path: Path) -> None:
    require("cc")
    result = run("emit", SIGMOID, "--types", TYPES, "-o", str(tmp_path / "made"))
    assert result.exit_code == 0, result.stderr
    assert sorted(p.name for p in (tmp_path / "made").iterdir()) == ["sigmoid.c", "sigmoid.py"]
    code = (
        "import sys; sys.modules['transkern'] = None\n"
        "import numpy as np, sigmoid\n"
        "x = np.linspace(-3, 3, 1001, dtype=np.float32)\n"
        "np.testing.assert_allclose(sigmoid.sigmoid(x, x, x), 1 / (1 + np.exp(-x)) * x + x, rtol=1e-5, atol=1e-6)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path / "made", capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_emitted_pallas_runs_without_transkern(tmp_path: Path) -> None:
    require("jax", "astor")
    result = run("emit", SIGMOID, "--types", TYPES, "--target", "pallas", "-o", str(tmp_path))
    assert result.exit_code == 0, result.stderr
    code = (
        "import sys; sys.modules['transkern'] = None\n"
        "import numpy as np, sigmoid\n"
        "x = np.linspace(-3, 3, 1001, dtype=np.float32)\n"
        "np.testing.assert_allclose(sigmoid.sigmoid(x, x, x), 1 / (1 + np.exp(-x)) * x + x, rtol=1e-5, atol=1e-6)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_emitted_cuda_is_text_and_launcher(tmp_path: Path) -> None:
    result = run("emit", SIGMOID, "--types", TYPES, "--target", "cuda", "-o", str(tmp_path))
    assert result.exit_code == 0, result.stderr
    assert (tmp_path / "sigmoid.cu").read_text().count("__global__") == 1
    launcher = (tmp_path / "sigmoid.py").read_text()
    assert "def sigmoid(x, a, b):" in launcher and "transkern" not in launcher.partition("import")[2]


def test_print_after_shows_the_program() -> None:
    passes = run("emit", SIGMOID, "--print-after", "help").stdout.split()
    assert {"frontend", "lower", "fuse_loops", "place_kernels"} <= set(passes)
    for name in passes:
        assert run("emit", SIGMOID, "--types", TYPES, "--print-after", name).stdout.strip()
    result = run("emit", SIGMOID, "--types", TYPES, "--print-after", "nonsense")
    assert result.exit_code == 1 and "no pass `nonsense`" in result.stderr


def test_explain_names_the_kernels() -> None:
    result = run("explain", SIGMOID, "--types", TYPES)
    assert result.exit_code == 0, result.stderr
    assert "1 kernel" in result.stdout and "line 12" in result.stdout


def test_explain_tells_of_the_target_that_is_asked_for(tmp_path: Path) -> None:
    file = tmp_path / "tables.py"
    file.write_text(
        "def paths(h):\n    for i in range(1, h.shape[0]):\n        for j in range(1, h.shape[1]):\n"
        "            h[i, j] = min(h[i - 1, j], h[i, j - 1]) + h[i, j]\n    return h\n"
    )
    told = {}
    for target in ("cpu", "cuda", "pallas"):
        result = run("explain", str(file), "--types", "paths(float64[n,m])", "--target", target)
        assert result.exit_code == 0, result.stderr
        told[target] = result.stdout
    assert "over wave" in told["cuda"] and "over tile" not in told["cuda"]  # a point a thread
    assert "over tile" in told["cpu"] and "over wave" in told["pallas"]  # there, of large tables


def test_explain_knows_a_line_for_every_step() -> None:
    nms = str(Path(SIGMOID).with_name("nms.py"))
    result = run("explain", nms, "--types", "nms(float32[n,4], float32[n], int, float)")
    assert "line 20: reduction over" in result.stdout and "line 0:" not in result.stdout


def test_other_modules_of_the_user_are_read_too(tmp_path: Path) -> None:
    """Beside the file and in its package, as text; a line of another file is cited with its name."""
    package = tmp_path / "tools"
    package.mkdir()
    (package / "__init__.py").write_text("from .shapes import twice\n")
    (package / "shapes.py").write_text("import missing_package\nSIDE = 4\n\n\ndef twice(x):\n    return x * 2\n")
    (package / "use.py").write_text(
        "from . import shapes\nimport tools.shapes\nfrom tools import twice\n\n\ndef f(x):\n"
        "    return twice(x) + shapes.SIDE + tools.shapes.twice(x)\n\n\ndef g(x):\n    return shapes.gone(x)\n"
    )
    result = run("emit", str(package / "use.py"), "-f", "f", "--types", "f(float64[n])")
    assert result.exit_code == 0, result.output
    assert "// shapes.py:6: return x * 2" in result.output
    assert "x[i] * 2.0" in result.output
    result = run("emit", str(package / "use.py"), "-f", "g", "--types", "g(float64[n])")
    assert result.exit_code == 1
    assert "use.py:11:12: `gone` of the module" in result.output


def test_missing_types_are_asked_for() -> None:
    result = run("emit", SIGMOID, "--function", "sigmoid")
    assert result.exit_code == 1
    assert "--types 'sigmoid(" in result.stderr and result.stdout == ""


def test_an_unknown_function_is_named_with_the_known_ones() -> None:
    result = run("emit", SIGMOID, "--function", "sigmoidal", "--types", "sigmoidal(float)")
    assert result.exit_code == 1
    assert "no function `sigmoidal`" in result.stderr and "sigmoid, arguments, main" in result.stderr


@pytest.fixture
def refused(tmp_path: Path) -> Path:
    path = tmp_path / "filters.py"
    path.write_text(
        "import numpy as np\n\n\n"
        "def modes(a: 'float64[n,n]'):\n"
        "    return np.linalg.eigvals(a)\n\n\n"
        "def doubled(a: 'float64[n]'):\n"
        "    return 2 * a\n"
    )
    return path


def test_a_refusal_shows_the_line_and_no_traceback(refused: Path) -> None:
    for command in ("emit", "explain"):
        result = run(command, str(refused), "--function", "modes")
        assert result.exit_code == 1 and isinstance(result.exception, SystemExit)
        first, source, caret, *rest = result.stderr.splitlines()
        assert first.startswith(f"{refused}:5:12: ") and "eigvals" in first
        assert source.endswith("    return np.linalg.eigvals(a)")
        assert caret.index("^") == source.index("np.linalg")
        assert rest[0].startswith("  help: ")


def test_check_lists_what_would_compile(refused: Path) -> None:
    result = run("check", str(refused.parent))
    assert result.exit_code == 1
    assert f"yes {refused}::doubled" in result.stdout
    assert f"no  {refused}::modes" in result.stdout
    assert "1 would compile, 1 would not" in result.stdout


def test_check_leaves_functions_without_arguments_out(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text("import sys\n\ndef main():\n    open(sys.argv[1])\n")
    result = run("check", str(tmp_path))
    assert result.exit_code == 0
    assert "main: it takes no arguments" in result.stdout


def test_check_survives_files_that_are_not_python(tmp_path: Path) -> None:
    (tmp_path / "broken.py").write_text("def f(:\n")
    (tmp_path / "binary.py").write_bytes(b"\xff\xfe\x00")
    (tmp_path / "empty.py").write_text("")
    result = run("check", str(tmp_path))
    assert result.exit_code == 1 and isinstance(result.exception, SystemExit)
    assert "broken.py:1" in result.stdout and "UTF-8" in result.stdout


def test_check_leaves_environments_out(tmp_path: Path) -> None:
    for folder in (".venv/lib", "build", "kept"):
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / "f.py").write_text("")
    assert [p.relative_to(tmp_path).as_posix() for p in python_files([tmp_path])] == ["kept/f.py"]


def test_doctor_finds_something_for_each_row() -> None:
    findings = examine()
    assert len({f.what for f in findings}) == len(findings) == 13
    assert all(f.found or f.advice for f in findings)
    assert "could not be examined" not in " ".join(f.advice for f in findings)
    assert run("doctor").exit_code == 0


def test_doctor_works_where_there_is_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    monkeypatch.delenv("CC", raising=False)
    monkeypatch.delenv("CXX", raising=False)
    there = {f.what: f for f in examine()}
    assert not there["C compiler"].found and "install" in there["C compiler"].advice
    assert run("doctor").exit_code == 0


def test_doctor_tells_in_its_table_alone(monkeypatch: pytest.MonkeyPatch, recwarn: pytest.WarningsRecorder) -> None:
    monkeypatch.setenv("TRANSKERN_CACHE_DIR", os.devnull)
    assert "is not a folder" in " ".join(run("doctor").stdout.replace("│", " ").split())
    assert not recwarn.list


def test_doctor_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    from transkern.cli import doctor

    missing = Finding("CuPy", "cuda", "", "pip install 'transkern[cuda]'")
    others = [Finding(what, "", "") for what in doctor._NAMES.values() if what != "CuPy"]
    monkeypatch.setattr(doctor, "examine", lambda: [missing, *others])
    assert "pip install 'transkern[cuda]'" in run("doctor").stdout


def test_doctor_survives_a_question_that_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    from transkern.cli import doctor

    def breaks() -> Finding:
        raise OSError("disk on fire")

    monkeypatch.setattr(doctor, "_QUESTIONS", (breaks,))
    monkeypatch.setattr(doctor, "_NAMES", {breaks: "C compiler"})
    (finding,) = doctor.examine()
    assert finding.what == "C compiler" and "disk on fire" in finding.advice


@pytest.mark.parametrize("there", [True, False])
def test_verdicts(there: bool) -> None:
    names = "C compiler|OpenMP|C++ compiler|CUDA device|CuPy|NVRTC|JAX|accelerator for JAX|libtpu"
    lines = verdicts(dict.fromkeys(names.split("|"), there))
    assert [line.split()[0] for line in lines] == ["cpu", "cuda", "pallas"]
    assert ("runs" in lines[0]) is there


def test_the_cache_is_shown_and_cleared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    require("cc")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))  # not what other versions have left on this machine
    monkeypatch.delenv("TRANSKERN_CACHE_DIR", raising=False)
    assert run("cache", "dir").stdout.strip() == str(tmp_path / "transkern")
    assert run("cache", "size").stdout.startswith("0 files")

    @transkern.compile(target="cpu")
    def doubled(x):  # type: ignore[no-untyped-def]
        return x * 2

    np.testing.assert_array_equal(doubled(np.arange(3)), [0, 2, 4])
    assert not run("cache", "size").stdout.startswith("0 files")
    assert run("cache", "clear").exit_code == 0
    assert run("cache", "size").stdout.startswith("0 files")


def test_as_a_module_and_quick() -> None:
    """`python -m transkern --help` is the same command line, and imports neither JAX nor CuPy nor rich."""
    code = (
        "import sys, runpy\n"
        "sys.argv = ['transkern', '--help']\n"
        "try: runpy.run_module('transkern', run_name='__main__')\n"
        "except SystemExit as end: assert not end.code\n"
        "heavy = {'jax', 'cupy', 'rich', 'torch', 'numba', 'pygments', 'islpy'} & set(sys.modules)\n"
        "assert not heavy, heavy\n"
    )
    environment = dict(os.environ, PYTHONPATH=str(ROOT))
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    assert "doctor" in done.stdout and "Usage: transkern" in done.stdout


def test_check_takes_types_of_the_first_parameters_and_tells_of_too_few(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("def f(x, y, k=2):\n    return x + y * k\n")
    path = str(tmp_path)
    assert "yes " in run("check", path, "--types", "f(float64[n], float64[n])").stdout
    told = run("check", path, "--types", "f(float64[n])")
    assert told.exception is None or isinstance(told.exception, SystemExit)
    assert "it has 3 parameters, and the types of 1 are stated" in " ".join(told.stdout.split())


def without(*modules: str) -> str:
    """The beginning of a program in a Python that has none of `modules`."""
    return f"import sys\nsys.modules |= dict.fromkeys({modules})\nimport numpy as np\nimport transkern\n"


def test_what_the_pallas_target_needs_is_told(tmp_path: Path) -> None:
    lacking = without("jax", "astor")
    words = ["transkern", "emit", SIGMOID, "--types", TYPES, "--target", "pallas"]
    code = f"{lacking}from transkern.cli import main\nsys.argv = {words}\nmain()"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 1 and "pip install 'transkern[pallas]'" in done.stderr, done.stderr
    assert "Traceback" not in done.stderr
    (tmp_path / "a.py").write_text(
        f"{lacking}@transkern.compile(target='pallas')\ndef f(x):\n    return x * 2\nf(np.ones(3))\n"
    )
    done = subprocess.run([sys.executable, str(tmp_path / "a.py")], capture_output=True, text=True)
    assert "TargetUnavailable: the pallas target needs astor and jax" in done.stderr


def test_what_arrays_in_chunks_need_is_told() -> None:
    code = without("dask") + "import transkern.dask"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert "ModuleNotFoundError: transkern.dask needs dask: pip install 'transkern[dask]'" in done.stderr


def test_what_is_said_of_installing_a_package_names_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    require("cc")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.py").write_text('def f(x: "float64[n]"):\n    return x + 1\n')
    told = run("build", "a.py", "-o", "pkg", "--level", "v2")
    assert told.exit_code == 0, told.output
    assert "pip install ./pkg " in told.output  # `pip install pkg` installs what an index has under this name


def test_docs_are_shown() -> None:
    assert "language" in run("docs").stdout
    assert run("docs", "language").stdout.startswith("# The language")
    assert run("docs", "docs/language.md").stdout == run("docs", "language").stdout
    assert run("docs", "other").exit_code == 2


def test_explain_finds_functions_of_modules_and_imports_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "explained" / "inner"
    package.mkdir(parents=True)
    for folder in (package.parent, package):
        (folder / "__init__.py").write_text("raise RuntimeError('it has been imported')\n")
    (package / "kernels.py").write_text(
        "import sys\n\nsys.exit('it has been run')\n\n\ndef f(x: 'float64[n]'):\n    return x + 1\n\n\n"
        "def g(x: 'float64[n]'):\n    return x * 2\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    for source in ("explained.inner.kernels:f", f"{package / 'kernels.py'}:f"):
        told = run("explain", source)
        assert told.exit_code == 0, told.output
        assert told.stdout.startswith("f: 1 kernel, no temporaries\n  kernel f_result: line 7\n")
    assert run("explain", "explained.inner.kernels", "--function", "g").stdout.startswith("g: 1 kernel")
    assert "which function?" in run("explain", "explained.inner.kernels").stderr
    assert not any(name.startswith("explained") for name in sys.modules)

    monkeypatch.chdir(package)  # the current folder, and a path that is short
    assert run("explain", "kernels:f").exit_code == 0
    for source, words in (
        ("explained.no.kernels:f", "as there is no 'explained.no'"), ("no_module:f", "no file or module 'no_module'"),
        ("sys:exit", "no file or module 'sys'"), ("math:sin", "'math'"), ("no/such.py", "no file 'no/such.py'"),
        ("numpy._core._multiarray_umath:add", "has no Python file"),
    ):  # fmt: skip
        wrong = run("explain", source)
        assert wrong.exit_code == 2 and words in wrong.stderr, wrong.stderr
    wrong = run("explain", "kernels:f", "--function", "g")
    assert wrong.exit_code == 2 and "names the function 'f'" in wrong.stderr
    assert "has no function `h`" in run("explain", "kernels:h").stderr


def test_scripts_begin_without_the_parser(tmp_path: Path) -> None:
    """Of options that are all known; of others the parser says what is wrong with them."""
    from transkern.starting import _script

    script = tmp_path / "script.py"
    script.write_text("import sys\nprint(sys.argv[1:], 'click' in sys.modules)\n")
    for words in (["run"], ["run", "--report", "--target=cpu", "--include", "a.b", "--eager"], ["run", "-t", "cpu"]):
        words = [*words, str(script), "--report", "-x"]
        done = subprocess.run([sys.executable, "-m", "transkern", *words], capture_output=True, text=True, check=False)
        assert done.stdout == "['--report', '-x'] False\n", done.stderr
    for wrong in (
        ["check", "x.py"], ["run"], ["run", "--help"], ["run", "--target", "x", "s.py"], ["run", "--include=a-b", "s"],
        ["run", "--report=1", "s.py"], ["run", "-t=cpu", "s.py"], ["run", "--record", str(tmp_path), "s.py"], [],
        ["run", "--new", "s.py"], ["run", "--target"],
    ):  # fmt: skip
        assert _script(wrong) is None
