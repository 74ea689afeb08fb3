"""`transkern build`: packages that run with NumPy alone, where there is neither transkern nor a compiler."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from tests.tools import require
from transkern import refusals
from transkern.cli import cli
from transkern.errors import CompileError
from transkern.shipping import functions
from transkern.shipping.levels import levels
from transkern.shipping.native import platform_tag
from transkern.targets.cpu.compiler import cpu_features

SOURCE = '''"""Functions of several kinds."""
import numpy as np

WINDOW = np.hanning(5)


def smooth(x: "float64[n]", k: int = 3):
    """Smooth \\\\ "it".

    Twice, and say \\"\\"\\" so.
    """
    out = np.zeros_like(x)
    for i in range(2, len(x) - 2):
        out[i] = np.sum(x[i - 2 : i + 3] * WINDOW) / k
    return out


def normalise(x, mode="l2"):
    if mode == "l2":
        return x / np.sqrt(np.sum(x * x))
    if mode == "l1":
        return x / np.abs(x).sum()
    raise ValueError(f"no mode {mode}")


def summary(a: "float64[n,m]", b: "float64[m]"):
    return a @ b, {"rows": len(a), "sum": b.sum()}, [1.0, 2.5], None


def first_over(x: "float64[n]", level: float):
    for i in range(len(x)):
        if x[i] > level:
            return i
    raise LookupError("nothing is above")


def clear(x: "int64[n]"):
    x[:] = 0


def total_of_large(n: int):
    x = np.arange(float(n))
    return np.sum(np.sqrt(x) * 2)


def without_types(z):
    return z
'''

TYPES = tuple(
    word
    for types in ("normalise(float64[n])", "normalise(float32[n], 'l1')", "normalise(float64[n], 'l1')")
    for word in ("--types", types)
)

USE = """
import json, sys
sys.modules["transkern"] = None  # nobody can import it
import numpy as np
sys.path.insert(0, sys.argv[1])
import functions as f

x = np.array([1.0, -0.0, np.nan, 3.0, np.inf, 2.0, 1.0, 4.0])
def failure(call):
    try:
        return repr(call())
    except Exception as error:
        return f"{type(error).__name__}: {error}"
cleared = np.arange(4)
print(json.dumps({
    "build": f._FOLDER.name,
    "doc": f.smooth.__doc__,
    "smooth": [repr(f.smooth(v)) for v in (x, x[::-1], x[:0], np.ones(40), np.ones(40)[::2])],
    "keyword": repr(f.smooth(k=7, x=np.arange(9.0))),
    "l2": repr(f.normalise(np.arange(5.0))),
    "l1": repr(f.normalise(np.arange(5.0), mode="l1")),
    "single": repr(f.normalise(np.arange(5, dtype=np.float32), "l1")),
    "summary": [repr(f.summary(a, b)) for a, b in (
        (np.ones((2, 3)), np.arange(3.0)), (np.ones((1, 3)), np.arange(3.0)), (np.ones((2, 1)), np.arange(1.0)),
        (np.ones((1, 1)), np.ones(1)), (np.ones((3, 2)).T, np.arange(6.0)[::2]), (np.ones((0, 3)), np.arange(3.0)),
    )],
    "first": [failure(lambda: f.first_over(x, 2.0)), failure(lambda: f.first_over(x, np.inf))],
    "clear": repr((f.clear(cleared), cleared)),
    "large": f.total_of_large(3_000_000),
    "wrong": [failure(lambda: f.normalise(np.arange(5))), failure(lambda: f.smooth(1.0)), failure(lambda: f.smooth())],
    "names": f.__all__,
}))
"""


def _built(folder: Path, *options: str, source: str = SOURCE) -> Any:
    (folder / "functions.py").write_text(source)
    return CliRunner().invoke(cli, ["build", str(folder / "functions.py"), "-o", str(folder / "out"), *options])


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    require("cc")
    folder = tmp_path_factory.mktemp("built")
    names = ("smooth", "summary", "first_over", "clear", "total_of_large")
    found = _built(folder, *TYPES, *(word for name in names for word in ("-f", name)))
    assert found.exit_code == 0, found.output
    return folder / "out"


def _used(package: Path, **environment: str) -> Any:
    """What functions of the package return in a process without transkern and without any program."""
    run = subprocess.run(
        [sys.executable, "-c", USE, str(package)], capture_output=True, text=True, check=False, cwd=package.parent,
        env={"PATH": "/nowhere", **environment},
    )  # fmt: skip
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout)


def _ranks() -> list[int]:
    """The levels that this machine can run."""
    features = cpu_features()
    return [2] + [3] * ("avx2" in features) + [4] * ("avx512vl" in features)


@pytest.mark.parametrize("rank", _ranks())
def test_a_package_gives_numpys_answers_without_transkern_and_compiler(package: Path, rank: int) -> None:
    found = _used(package, TRANSKERN_LEVEL=str(rank))
    own: dict[str, Any] = {}
    exec(compile(SOURCE, "functions", "exec"), own)
    x = np.array([1.0, -0.0, np.nan, 3.0, np.inf, 2.0, 1.0, 4.0])
    assert found["build"] == (f"v{rank}" if levels()[0].rank else "generic")
    assert found["doc"] == own["smooth"].__doc__.replace("\n    ", "\n") or found["doc"] == own["smooth"].__doc__
    with np.errstate(all="ignore"):
        wanted = [own["smooth"](v) for v in (x, x[::-1], x[:0], np.ones(40), np.ones(40)[::2])]
        assert found["smooth"] == [repr(v) for v in wanted]
    assert found["keyword"] == repr(own["smooth"](np.arange(9.0), 7))
    for name, args in {
        "l2": (np.arange(5.0),), "l1": (np.arange(5.0), "l1"), "single": (np.arange(5, dtype=np.float32), "l1"),
    }.items():  # fmt: skip
        assert found[name] == repr(own["normalise"](*args))
    pairs = (
        (np.ones((2, 3)), np.arange(3.0)), (np.ones((1, 3)), np.arange(3.0)), (np.ones((2, 1)), np.arange(1.0)),
        (np.ones((1, 1)), np.ones(1)), (np.ones((3, 2)).T, np.arange(6.0)[::2]), (np.ones((0, 3)), np.arange(3.0)),
    )  # fmt: skip
    assert found["summary"] == [repr(own["summary"](a, b)) for a, b in pairs]
    assert found["first"] == ["3", "LookupError: nothing is above"]
    assert found["clear"] == "(None, array([0, 0, 0, 0]))"
    assert found["large"] == pytest.approx(own["total_of_large"](3_000_000), rel=1e-13)
    assert found["names"] == ["smooth", "summary", "first_over", "clear", "total_of_large", "normalise"]


def test_other_arguments_are_a_type_error_that_tells_what_is_taken(package: Path) -> None:
    one, two, three = _used(package)["wrong"]
    wanted = "(x: float64[n], mode = 'l2') or (x: float32[n], mode = 'l1') or (x: float64[n], mode = 'l1')"
    assert one == f"TypeError: normalise was compiled for {wanted}"
    assert two == "TypeError: smooth was compiled for (x: float64[n], k: int)"
    assert three.startswith("TypeError: smooth() missing 1 required positional argument")


@pytest.mark.skipif(not levels()[0].rank, reason="one build serves all processors of this kind")
def test_a_processor_of_a_lower_level_is_told(package: Path) -> None:
    run = subprocess.run(
        [sys.executable, "-c", "import functions"], capture_output=True, text=True, check=False, cwd=package,
        env={"TRANSKERN_LEVEL": "1"},
    )  # fmt: skip
    assert "ImportError: functions is built for processors of level 2 of x86-64; this one has 1" in run.stderr


def test_stubs_say_what_goes_in_and_out(package: Path, tmp_path: Path) -> None:
    stub = (package / "functions" / "__init__.pyi").read_text()
    ast.parse(stub)
    assert "def smooth(x: NDArray[np.float64], k: int=...) -> NDArray[np.float64]: ..." in stub
    returned = "tuple[NDArray[np.float64], dict[str, int | np.float64], list[float], None]"
    assert f"def summary(a: NDArray[np.float64], b: NDArray[np.float64]) -> {returned}: ..." in stub
    assert stub.count("@overload") == 3 and "def clear(x: NDArray[np.int64]) -> None: ..." in stub
    use = tmp_path / "use.py"
    use.write_text(
        "import numpy as np\nimport functions as f\n\nx = np.zeros(3)\nreveal_type(f.normalise(x))\n"
        "reveal_type(f.first_over(x, 1.0))\nf.smooth(x, 'three')\n"
    )
    run = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", str(use)], capture_output=True, text=True, check=False, cwd=tmp_path,
        env={**os.environ, "MYPYPATH": str(package)},
    )  # fmt: skip
    revealed = [line for line in run.stdout.splitlines() if "Revealed" in line]
    assert "float64" in revealed[0] and '"int"' in revealed[1], run.stdout
    assert 'Argument 2 to "smooth" has incompatible type "str"; expected "int"' in run.stdout


def test_a_wheel_is_made_of_it(package: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "--no-index", "--no-build-isolation"]
    run = subprocess.run(
        [*command, str(package), "-w", str(tmp_path)], capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert run.returncode == 0, run.stderr
    (wheel,) = tmp_path.glob("*.whl")
    tag = platform_tag([p.read_bytes() for p in package.rglob("*.so*")])
    assert wheel.name == f"functions-0.1.0-py3-none-{tag}.whl"
    with zipfile.ZipFile(wheel) as file:
        inside = set(file.namelist())
        file.extractall(tmp_path / "installed")
    native = {p.relative_to(package).as_posix() for p in (package / "functions").rglob("*") if p.is_file()}
    assert {name for name in native if "__pycache__" not in name} <= inside
    assert _used(tmp_path / "installed")["l2"]


def test_without_names_all_functions_are_built_that_state_types(tmp_path: Path) -> None:
    require("cc")
    source = "import numpy as np\n\ndef f(x: 'float64[n]'):\n    return x + 1\n\ndef g(x):\n    return x\n"
    found = _built(tmp_path, "--name", "other", "--package-version", "2.0", source=source)
    assert found.exit_code == 0, found.output
    assert (tmp_path / "out" / "other" / "__init__.pyi").read_text().count("def ") == 1
    assert 'version = "2.0"' in (tmp_path / "out" / "pyproject.toml").read_text()
    again = _built(tmp_path, "--level", "v2", source=source)  # over what is there
    assert again.exit_code == 0 and not (tmp_path / "out" / "other").exists()
    assert (tmp_path / "out" / "functions").is_dir()


@pytest.mark.parametrize(
    ("source", "options", "said"),
    [
        ("def f(x):\n    return x\n", (), "no function states the types of its arguments"),
        ("def f(x):\n    return x\n", ("-f", "f"), "`f(x: …)`: nothing states the types of its arguments"),
        ("def f(x):\n    return x\n", ("-f", "g"), "g"),
        ("def f(x: float):\n    return x\n", ("--name", "a-b"), "`a-b` is no name of a package"),
        ("def f(x: float):\n    return open(x)\n", (), "open"),
        ("def _load(x: float):\n    return x\n", (), "a function of a package cannot be called `_load`"),
        ("def f(x):\n    return x[0][1]\n", ("--types", "f([(int, float), …])"), "made up of others"),
        ("def f(x):\n    x[0] = 1.0\n", ("--types", "f([float, …])"), "`f` changes a list, dict or object"),
        ("def f(x):\n    return x\n", ("--types", "f([float, int])"), "`f` hands on a list, tuple, dict or object"),
        ("import numpy as n\nW = n.ones(99)\ndef f(x):\n    return W + x[0]\n", ("--types", "f((int, 3))"), "outside"),
        ("class E(Exception): pass\ndef f(x: float):\n    if x > 1:\n        raise E('no')\n    return x\n", (), "E"),
        ("def f(x: float):\n    return x\n", ("--types", "(float)"), "needs the function's name in front"),
    ],
)
def test_what_a_package_cannot_hold_is_refused(
    tmp_path: Path, source: str, options: tuple[str, ...], said: str
) -> None:
    found = _built(tmp_path, *options, source=source)
    assert found.exit_code == 1 and said in found.output and "Traceback" not in found.output
    assert not (tmp_path / "out").exists()


MADE_UP = """
import numpy as np

def line(p, x, *, by=2):
    return (x * p[0] + p[1][0]) * by

def mean(xs):
    s = 0
    for x in xs:
        s += x
    return s / len(xs) if xs else None

def both(pair):
    pair[0][:] += 1
    return pair[0].sum() + pair[1].sum(), len(pair)
"""
USE_MADE_UP = """
import sys, json
sys.path.insert(0, sys.argv[1])
import numpy as np, functions as f
x = np.arange(6.0)
a = np.zeros(3)
out = [f.line((2.0, [1.0]), x).tolist(), f.line((2.0, [1.0]), x[::2], by=3).tolist(), f.mean([1.5, 2.5, 3.0])]
out += [f.mean([4.0]), f.mean([]), f.mean([1, 2]), f.both([a, np.ones(2)]), a.tolist()]
for wrong in (lambda: f.line([2.0, [1.0]], x), lambda: f.line((2.0, [1.0, 2.0]), x), lambda: f.mean([1, 2.0]),
              lambda: f.mean((1.0, 2.0)), lambda: f.mean([2**63, 1]), lambda: f.mean([True, 1]), lambda: f.mean(3)):
    try:
        out.append(wrong())
    except TypeError as error:
        out.append(str(error))
print(json.dumps(out))
"""


def test_tuples_and_lists_are_taken_apart(tmp_path: Path) -> None:
    """What the package takes besides is a TypeError."""
    require("cc")
    types = ["line((float, [float]), float64[n])", "mean([float, …])", "mean([int, …])"]
    types.append("both([float64[n], float64[m]])")
    made = _built(tmp_path, *(word for t in types for word in ("--types", t)), "--level", "v2", source=MADE_UP)
    assert made.exit_code == 0, made.output
    run = subprocess.run(
        [sys.executable, "-c", USE_MADE_UP, str(tmp_path / "out")], capture_output=True, text=True, check=False,
        cwd=tmp_path, env={"PATH": "/nowhere", "TRANSKERN_LEVEL": "2"},
    )  # fmt: skip
    assert run.returncode == 0, run.stderr
    found = json.loads(run.stdout)
    assert found[:3] == [[2.0, 6.0, 10.0, 14.0, 18.0, 22.0], [3.0, 15.0, 27.0], 7 / 3]
    assert found[3:8] == [4.0, None, 1.5, [5.0, 2], [1.0, 1.0, 1.0]]
    assert all("was compiled for (" in text for text in found[8:])
    stub = (tmp_path / "out" / "functions" / "__init__.pyi").read_text()
    assert "def line(p: tuple[float, list[float]], x: NDArray[np.float64], *, by: " in stub
    assert "def mean(xs: list[float])" in stub and "def mean(xs: list[int])" in stub
    ast.parse(stub)


def test_what_does_not_compile_for_sizes_of_1_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The function is built all the same, for what its types say."""
    require("cc")
    program = functions._program

    def refusing(function: Any, types: Any, options: Any) -> Any:
        if types[0].dims == (1,):
            raise CompileError(refusals.SUBSCRIPT, "not of one", "")
        return program(function, types, options)

    monkeypatch.setattr(functions, "_program", refusing)
    found = _built(tmp_path, "--level", "v2", source="def f(x: 'float64[n]'):\n    return x.sum()\n")
    assert found.exit_code == 0, found.output
    assert "note: `f` is not built for (float64[1] strided): not of one" in found.output
    assert "package `functions`, 2 shared objects" in found.output
    found = _built(tmp_path, "--level", "v2", "--stated-only", source="def f(x: 'float64[n]'):\n    return x.sum()\n")
    assert "note:" not in found.output and "package `functions`, 1 shared objects" in found.output


def test_a_folder_of_others_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "thesis.tex").write_text("x")
    found = _built(tmp_path, source="def f(x: float):\n    return x\n")
    assert found.exit_code == 1 and "has not written" in found.output
    assert [p.name for p in (tmp_path / "out").iterdir()] == ["thesis.tex"]
