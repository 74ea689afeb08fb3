"""Scripts have the output, errors and exit code that they have under ``python``: compiled, and as time decides."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.tools import require

SCRIPTS = Path(__file__).parent / "scripts"
ROOT = Path(__file__).parents[2]


def run(words: list[str], folder: Path, cache: Path) -> tuple[int, str, str]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "TRANSKERN_CACHE_DIR": str(cache)}
    done = subprocess.run(
        [sys.executable, *words], capture_output=True, text=True, cwd=folder, env=environment, timeout=300, check=False
    )  # fmt: skip
    return done.returncode, done.stdout, done.stderr


def same(folder: Path, text: str, *options: str) -> tuple[int, str, str]:
    """What a script of this text gives, which is the same under `run`."""
    (folder / "script.py").write_text(text)
    wanted = run(["script.py"], folder, folder)
    assert run(["-m", "transkern", "run", *options, "script.py"], folder, folder) == wanted
    return wanted


def test_there_are_scripts() -> None:
    assert len(list(SCRIPTS.glob("*.py"))) >= 10


@pytest.mark.parametrize("script", sorted(path.name for path in SCRIPTS.glob("*.py")))
def test_a_script_runs_as_under_python(script: str, tmp_path: Path) -> None:
    require("cc")
    wanted = run([script], SCRIPTS, tmp_path)
    assert run(["-m", "transkern", "run", "--eager", script], SCRIPTS, tmp_path) == wanted
    assert run(["-m", "transkern", "run", script], SCRIPTS, tmp_path) == wanted


PACKAGE = {
    "tool/__init__.py": "",
    "tool/__main__.py": "import sys\nfrom tool import heavy\nfrom . import light\n"
    "print(sys.argv[1:], __name__, __package__, __spec__.name, heavy.total(5500), light.twice([1, 2]))\n",
    "tool/heavy.py": "def total(n):\n    s = 0\n    for i in range(n):\n        for j in range(i):\n"
    "            s += i * j % 7\n    return s\n",
    "tool/light.py": "def twice(xs):\n    return [2 * x for x in xs]\n",
}


@pytest.fixture
def package(tmp_path: Path) -> Path:
    for name, text in PACKAGE.items():
        path = tmp_path / "package" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path / "package"


def test_modules_and_packages(package: Path, tmp_path: Path) -> None:
    require("cc")
    wanted = run(["-m", "tool", "--some", "-x"], package, tmp_path / "cache")
    assert wanted[0] == 0
    assert run(["-m", "transkern", "run", "-m", "tool", "--some", "-x"], package, tmp_path / "cache") == wanted
    words = ["-m", "transkern", "run", "--report", "--include", "tool", "-m", "tool", "--some", "-x"]
    code, out, told = run(words, package, tmp_path / "cache")
    assert (code, out) == wanted[:2]
    assert "total" in told and "heavy.py:1" in told
    # The second run knows what the first has taken, and the third has the code.
    assert "1 of" in run(words, package, tmp_path / "cache")[2]
    third = run(words, package, tmp_path / "cache")[2]
    assert "compiled (from the cache)" in third
    assert run(["-m", "transkern", "run", "package"], package.parent, tmp_path)[0] != 0  # it has no __main__.py
    as_folder = run(["tool", "y"], package, tmp_path)  # whose relative imports have no package
    assert run(["-m", "transkern", "run", "tool", "y"], package, tmp_path)[0] == as_folder[0]


@pytest.mark.parametrize("words", [["missing.py"], ["-m", "missing"], ["-m", "os.missing"]])
def test_there_is_nothing_to_run(words: list[str], tmp_path: Path) -> None:
    code, out, told = run(words, tmp_path, tmp_path)
    found = run(["-m", "transkern", "run", *words], tmp_path, tmp_path)
    assert found[:2] == (code, out)
    assert found[2].split(": ", 1)[1] == told.split(": ", 1)[1]


def test_syntax_errors_are_pythons(tmp_path: Path) -> None:
    same(tmp_path, "x = 1\ndef f(:\n    pass\n")


def test_what_a_run_has_found_out_is_kept(tmp_path: Path) -> None:
    """And is of no use to a file that has changed, nor trusted where it is not what was written."""
    require("cc")
    script = tmp_path / "script.py"
    text = "def slow(n):\n    s = 0\n    for i in range(n):\n        s += i % 3\n    return s\n"
    text += "print(slow(6_000_000))\n"
    script.write_text(text)
    run(["-m", "transkern", "run", "script.py"], tmp_path, tmp_path / "cache")
    kept = list((tmp_path / "cache" / "runs").iterdir())
    assert len(kept) == 1
    known = json.loads(kept[0].read_text())
    assert list(known) == ["1 slow"] and known["1 slow"]["python"] > 0.1
    for wrong in ("", "[]", '{"1 slow": 3}', '{"1 slow": {"state": "compiled", "why": "", "runs": 1, "python": NaN}}'):
        kept[0].write_text(wrong)
        assert run(["-m", "transkern", "run", "script.py"], tmp_path, tmp_path / "cache")[0] == 0
    script.write_text(text.replace("% 3", "% 5"))
    run(["-m", "transkern", "run", "script.py"], tmp_path, tmp_path / "cache")
    assert len(list((tmp_path / "cache" / "runs").iterdir())) == 2


def test_functions_go_to_other_processes(tmp_path: Path) -> None:
    """Also by value, with the constants of their code: they run in Python there."""
    require("cc")
    text = (
        "import cloudpickle, joblib, pickle\n"
        "def cubes(n):\n    return [k**3 for k in range(n)]\n"
        "if __name__ == '__main__':\n"
        "    print(cubes(4), pickle.loads(cloudpickle.dumps(cubes))(3))\n"
        "    print(joblib.Parallel(2)(joblib.delayed(cubes)(n) for n in range(4)))\n"
    )
    assert same(tmp_path, text, "--eager")[0] == 0


def test_arrays_of_other_libraries_stay_with_python(tmp_path: Path) -> None:
    """A function that JAX traces through another one must not be run."""
    require("jax", "cc")
    text = (
        "import jax, jax.numpy as jnp, numpy as np\n"
        "def poly(x):\n    s = 0.0 * x\n    for k in range(4):\n        s = s * x + k\n    return s\n"
        "fast = jax.jit(lambda x: poly(x) + 1)\n"
        "print(fast(jnp.arange(3.0)), jax.grad(lambda x: poly(x))(2.0), poly(np.arange(3.0)), poly(2))\n"
    )
    assert same(tmp_path, text, "--eager")[0] == 0


def test_an_interrupted_script_ends_by_the_signal(tmp_path: Path) -> None:
    same(
        tmp_path,
        "import atexit, os, signal\natexit.register(print, 'at exit')\n"
        "os.kill(os.getpid(), signal.SIGINT)\nprint('not here')\n",
    )


def test_a_wrong_option_is_told(tmp_path: Path) -> None:
    code, _, told = run(["-m", "transkern", "run", "--include", "not/a/package", "x.py"], tmp_path, tmp_path)
    assert code == 2 and "is not the name of a package" in told
