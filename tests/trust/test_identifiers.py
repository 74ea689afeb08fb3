"""Every identifier that Python takes works on every target, whatever it means to C, CUDA, JAX, or to emitted code."""

from __future__ import annotations

import importlib.util
import keyword
import re
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import transkern
from tests.tools import on_target, require
from transkern.targets import clike, words
from transkern.targets.cpu.printing import glue
from transkern.targets.naming import CUDA, PYTHON, C, Language, function_name
from transkern.targets.pallas.printing import prelude

_HEADERS = ("math", "stdbool", "stdint", "stdlib", "string", "sys/mman", "sys/types", "sched")

_UNUSUAL = (
    "größe", "grosse", "GRÖSSE", "gr_e", "α", "Δt", "x\u0301", "ﬁ", "ｘ", "名前", "_", "__", "_x", "__x", "_X",
    "_Bool", "__LINE__", "__func__", "x_", "x__", "X", "time", "time_", "time__", "n", "n_", "n_1", "x_0", "x_1",
    "x_stride0", "x_offset", "i", "i_block", "i_end", "i_trip", "result", "result_1", "total", "total_high",
    "total_low", "total_part", "joined_size", "error", "detail", "kept", "numpy", "reason", "take_array", "methods",
    "module", "self", "why", "state", "block", "at", "chosen", "go_on", "body", "grid", "py_args", "py_result",
    "numpy_float64", "step_0", "call_f", "done", "miss", "given_x", "VMEM", "INTERPRET", "_kept", "_grid", "_out",
    "_code", "xp", "np1", "on_host", "h" * 10_000,
)  # fmt: skip


def _called(text: str) -> set[str]:
    return set(re.findall(r"[A-Za-z_]\w*", re.sub(r'"(\\.|[^"])*"|//.*', "", text)))


def _of_c() -> set[str]:
    """What C's headers and the text around the user's define."""
    found = {*words._PLAIN, *words._FUNCTIONS, *words._DECLARATIONS}
    found |= _called(glue.PYTHON + glue.ARRAYS + glue.RESULTS + glue.LARGE_RESULTS + glue.FUNCTIONS + glue.LIBRARY)
    return found | set(clike.HELPERS)


def _of_python() -> set[str]:
    found = {"np", "cp", "jnp", "jax", "lax", "pl", "pltpu", "functools", "math", "Path", *prelude.HELPERS}
    return found | {*dir(__builtins__)} | _called(prelude.HELPERS["_grid"] + prelude.HELPERS["_block"])


def _usable(names: set[str]) -> list[str]:
    """Those that Python takes for a variable, in its own spelling, but for the test's own."""
    import unicodedata

    normal = {unicodedata.normalize("NFKC", name) for name in names if name.isidentifier()}
    return sorted(normal - set(keyword.kwlist) - {"x", "k", "np", "f", "range", "len", "__debug__", "i"})


def _function(folder: Path, source: str, name: str) -> Callable[..., Any]:
    path = folder / f"m{abs(hash(source))}.py"
    path.write_text(f"import numpy as np\n\n\n{source}", encoding="utf-8")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    made: Callable[..., Any] = getattr(module, name)
    return made


def _variables(names: Sequence[str]) -> str:
    """A function with a variable of each name, which a loop hands on."""
    first = "\n".join(f"    {name} = x[{k % 4}] * {k}.5" for k, name in enumerate(names))
    then = "\n".join(f"        {name} = {name} * 0.5 + x[i] / {k + 1}" for k, name in enumerate(names))
    last = "\n".join(f"    k = k * 0.75 + {name}" for name in names)
    return f"def f(x):\n    k = 0.0\n{first}\n    for i in range(len(x)):\n{then}\n{last}\n    return k\n"


def _arrays(names: Sequence[str]) -> str:
    """A function with an array of each name, and a running sum over it."""
    made = "\n".join(f"    {name} = np.cumsum(x * {k}.5)" for k, name in enumerate(names))
    read = "\n".join(f"    k += {name}[-1] + {name}.sum()" for name in names)
    return f"def f(x):\n    k = 0.0\n{made}\n{read}\n    return k, {names[0]}, np.sort({names[-1]})\n"


def _arguments(names: Sequence[str]) -> str:
    """A function of arrays and numbers of these names; the first is written."""
    total = " + ".join(names)
    return f"def f({', '.join(names)}):\n    {names[0]}[1:] += {names[0]}[:-1] * {names[1]}[0]\n    return {total}\n"


def _check(folder: Path, source: str, target: str, *arguments: Any) -> None:
    function = _function(folder, source, "f")
    given, wanted = ([np.copy(a) if isinstance(a, np.ndarray) else a for a in arguments] for _ in range(2))
    found, expected = transkern.compile(function, target=target)(*given), function(*wanted)
    for a, b in zip([*(found if isinstance(found, tuple) else [found]), *given], [
        *(expected if isinstance(expected, tuple) else [expected]), *wanted], strict=True):  # fmt: skip
        np.testing.assert_allclose(a, b, rtol=1e-12)


X = np.arange(1.0, 6.0)


@pytest.fixture(params=["cpu", "cuda", "pallas"])
def target(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    return on_target(request.param, monkeypatch)


def test_variables_of_all_words(target: str, tmp_path: Path) -> None:
    """A share of them, so that it is quick; that all words are known is the other tests' matter."""
    every = _of_python() if target == "pallas" else _of_c()
    share = {"cpu": 6, "cuda": 12, "pallas": 8}[target]
    names = sorted({*_usable(every)[::share], *_usable(set(_UNUSUAL))[:: max(share // 4, 1)]})
    _check(tmp_path, _variables(names), target, X)


def test_arrays_of_unusual_names(target: str, tmp_path: Path) -> None:
    names = _usable({*_UNUSUAL, "NAN", "INFINITY", "M_PI", "size_t", "double", "register", "memcpy", "jnp", "max"})
    _check(tmp_path, _arrays(names if target == "cpu" else names[::3]), target, X)


def test_arguments_of_unusual_names(target: str, tmp_path: Path) -> None:
    names = _usable({*_UNUSUAL, "NAN", "INFINITY", "M_PI", "double", "register", "memcpy", "np_", "jnp", "max"})
    names = ["self", "size_t", *names[:: 3 if target == "cpu" else 7]]
    given = [X + k if k % 2 == 0 or k < 2 else float(k) for k in range(len(names))]
    _check(tmp_path, _arguments([*dict.fromkeys(names)]), target, *given[: len(set(names))])


def test_arguments_beside_what_is_made_of_them(tmp_path: Path) -> None:
    body = "    x[1:] += x_stride0 * x_0[0] + n + i_block\n    return x.sum() * i\n"
    source = f"def f(x, x_stride0, x_0, n, i_block, i):\n{body}"
    base = np.arange(24.0)
    _check(tmp_path, source, "cpu", base[::2].copy()[::-1], 2.0, X, 3, 4.0, 5)


@pytest.mark.parametrize("name", ["größe", "time", "register", "double", "exit", "y0", "jnp", "self", "f" * 10_000])
def test_functions_of_unusual_names(name: str, tmp_path: Path) -> None:
    function = _function(tmp_path, f"def {name}(x):\n    return np.cumsum(x) + x.sum()\n", name)
    np.testing.assert_array_equal(transkern.compile(function, target="cpu")(X), function(X))
    transkern.compile(function, target="cuda").emit("cuda", "f(float64[n])")
    for target in ("cpu", "pallas") if name in ("größe", "jnp") else ():
        space: dict[str, Any] = {}
        text = transkern.compile(function, target=target).emit(target, "f(float64[n])")
        if target == "pallas":
            exec(compile(text, "<emitted>", "exec"), space)
            np.testing.assert_array_equal(np.asarray(space[function_name(name, PYTHON)](X)), function(X))


def test_emitted_files_of_a_function_with_letters_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "m.py").write_text("def größe(x: 'float64[n]', self: float):\n    return x * self\n", encoding="utf-8")
    command = [sys.executable, "-m", "transkern", "emit", "m.py", "-o", "out"]
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
    code = "import numpy as np\nfrom grosse import größe\nprint(größe(np.arange(3.0), 2.0).tolist())"
    run = [sys.executable, "-c", code]
    made = subprocess.run(run, cwd=tmp_path / "out", check=True, capture_output=True, text=True)
    assert made.stdout == "[0.0, 2.0, 4.0]\n"


def test_the_headers_macros_are_words() -> None:
    """Whatever the C compiler's headers define here is among the words that variables cannot have."""
    require("cc")
    text = "".join(f"#include <{h}.h>\n" for h in _HEADERS)
    run = subprocess.run(["cc", "-dM", "-E", "-"], input=text, check=True, capture_output=True, text=True)
    macros = {m for m in re.findall(r"#define (\w+)", run.stdout) if not m.startswith("_")}
    assert len(macros) > 200
    assert not {m for m in macros if not words.is_word_of_c(m)}


def test_the_headers_functions_are_declared() -> None:
    """And what they declare among the names that no function of an emitted file has."""
    require("cc")
    text = "".join(f"#include <{h}.h>\n" for h in _HEADERS)
    run = subprocess.run(["cc", "-E", "-P", "-"], input=text, check=True, capture_output=True, text=True)
    declared = set(re.findall(r"\b([a-z]\w*) ?\([^;{]*\)[^;{(]*;", run.stdout)) - set(keyword.kwlist)
    types = set(re.findall(r"(\w+_t)\s*;", run.stdout))
    assert len(declared) > 300 and len(types) > 50
    assert not {m for m in declared | {t for t in types if t[0] != "_"} if not words.is_declared_in_c(m)}


@pytest.mark.parametrize("language", [C, CUDA, PYTHON])
def test_names_stay_readable(language: Language) -> None:
    for name in ("x", "rows", "row_of_sums", "dt", "N", "softmax", "x1", "T_max", "weights_", "index"):
        assert function_name(name, language).startswith(name)
    assert function_name("größe", C) == "grosse" and function_name("größe", PYTHON) == "größe"
    assert function_name("αβ", C) == "alphabeta"
