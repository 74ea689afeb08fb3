"""What `transkern emit -o` writes: it is what is imported, takes what the user's function takes, and is built once."""

from __future__ import annotations

import errno
import importlib.machinery
import importlib.util
import os
import subprocess
import sys
import tempfile
import textwrap
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from tests.tools import require
from transkern.cli import cli

PLAIN = """
import numpy as np

EPS = 0.5


def f(x: "float64[n]", k: int = 3, /, eps: float = EPS, *, scale: float = 2.0, sign: int = -1, mode="same", axis=None):
    y = x * k * scale + eps * sign
    if mode == "same":
        y = y + 1
    return y
"""
X = np.arange(4.0)


@pytest.fixture
def emitted(tmp_path: Path) -> Path:
    return emit(tmp_path, PLAIN)


def emit(folder: Path, text: str, target: str = "cpu") -> Path:
    (folder / "source.py").write_text(text)
    made = folder / "made"
    result = CliRunner().invoke(cli, ["emit", str(folder / "source.py"), "-t", target, "-o", str(made)])
    assert result.exit_code == 0, result.output
    return made


def plain() -> Callable[..., Any]:
    space: dict[str, Any] = {}
    exec(PLAIN, space)
    made: Callable[..., Any] = space["f"]
    return made


def loaded(folder: Path) -> ModuleType:
    """The module as a new process would import it."""
    spec = importlib.util.spec_from_file_location("f", folder / "f.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def builds(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.rglob("*.so"))


CALLS: list[tuple[tuple[Any, ...], dict[str, Any]]] = [
    ((X,), {}), ((X, 5), {}), ((X, 5, 0.25), {}), ((X,), {"eps": 2.0, "sign": 3}), ((X, 1), {"scale": -1.0}),
    ((X,), {"mode": "same", "axis": None}),
]  # fmt: skip


def test_defaults_and_keywords_are_the_users(emitted: Path) -> None:
    f = loaded(emitted).f
    for args, keywords in CALLS:
        np.testing.assert_array_equal(f(*args, **keywords), plain()(*args, **keywords))
    for args, keywords in [((), {}), ((X,), {"x": X}), ((X, 1, 2.0, 3.0), {}), ((X,), {"k": 3}), ((X,), {"other": 1})]:
        with pytest.raises(TypeError) as expected:
            plain()(*args, **keywords)
        with pytest.raises(TypeError) as found:
            f(*args, **keywords)
        assert str(found.value) == str(expected.value)


@pytest.mark.parametrize(
    ("args", "keywords"),
    [((X.astype("f4"),), {}), ((X, 3.0), {}), ((X,), {"mode": "full"}), ((X,), {"axis": 0}), ((list(X),), {})],
)
def test_what_it_is_not_made_for_is_an_error(emitted: Path, args: Any, keywords: Any) -> None:
    """Never `NotImplemented`, nor the result for another constant."""
    with pytest.raises(TypeError, match="f was compiled for"):
        loaded(emitted).f(*args, **keywords)


def test_the_text_that_is_there_is_the_code_that_runs(tmp_path: Path) -> None:
    """Emitted again: also where the files' times say otherwise, and in the process that has the first one."""
    made = emit(tmp_path, PLAIN)
    code = "import f, numpy as np; print(f.__file__[-4:], f.f(np.ones(2))[0])"
    first = subprocess.run([sys.executable, "-c", code], cwd=made, capture_output=True, text=True, check=True)
    assert first.stdout.split() == ["f.py", "6.5"]
    f = loaded(made).f
    emit(tmp_path, PLAIN.replace("y + 1", "y + 2"))
    os.utime(made / "f.c", (0, 0))
    second = subprocess.run([sys.executable, "-c", code], cwd=made, capture_output=True, text=True, check=True)
    assert second.stdout.split() == ["f.py", "7.5"]
    assert loaded(made).f(np.ones(2))[0] == 7.5 and f(np.ones(2))[0] == 6.5


def test_what_would_be_imported_instead_is_refused(tmp_path: Path) -> None:
    made = emit(tmp_path, PLAIN)
    (made / "f.so").touch()
    result = CliRunner().invoke(cli, ["emit", str(tmp_path / "source.py"), "-o", str(made)])
    assert result.exit_code == 1 and f"remove {made / 'f.so'}" in result.output


def test_it_is_built_once(emitted: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    log, compiler = tmp_path / "log", tmp_path / "cc"
    compiler.write_text(f'#!/bin/sh\necho ran >> {log}\nsleep 0.2\nexec cc "$@"\n')
    compiler.chmod(0o755)
    environment = {**os.environ, "CC": str(compiler)}
    running = [subprocess.Popen([sys.executable, "-c", "import f"], cwd=emitted, env=environment) for _ in range(4)]
    assert [process.wait() for process in running] == [0] * 4
    assert log.read_text() == "ran\n"
    assert len(builds(emitted)) == 1
    assert {path.name for path in emitted.iterdir()} - {"__pycache__"} == {"f.build", "f.c", "f.py"}
    monkeypatch.setenv("CC", "cc -O1")  # another compiler is another build
    np.testing.assert_array_equal(loaded(emitted).f(X), plain()(X))
    assert len(builds(emitted)) == 2
    monkeypatch.setenv("CC", "nowhere")  # what has been built serves on
    np.testing.assert_array_equal(loaded(emitted).f(X), plain()(X))


@pytest.mark.parametrize("trouble", ["read-only", "foreign", "open", "noexec"])
def test_a_folder_that_does_not_serve(
    emitted: Path, trouble: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The code is built elsewhere, and nothing of it stays there."""
    (tmp_path / "tmp").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "tmp"))
    build, mkdir = emitted / "f.build", os.mkdir
    if trouble == "read-only":

        def refused(path: Any, mode: int = 0o777, **options: Any) -> None:
            if emitted in Path(path).parents:
                raise OSError(errno.EROFS, "Read-only file system")
            mkdir(path, mode, **options)

        monkeypatch.setattr(os, "mkdir", refused)
    elif trouble == "foreign":
        build.symlink_to(tmp_path)
    elif trouble == "open":
        build.mkdir()
        build.chmod(0o777)
    else:
        load = importlib.machinery.ExtensionFileLoader.create_module

        def create(self: Any, spec: Any) -> Any:
            if str(emitted) in spec.origin:
                raise ImportError("failed to map segment from shared object")
            return load(self, spec)

        monkeypatch.setattr(importlib.machinery.ExtensionFileLoader, "create_module", create)
    np.testing.assert_array_equal(loaded(emitted).f(X), plain()(X))
    assert not list((tmp_path / "tmp").iterdir())
    assert len(builds(emitted)) == (trouble == "noexec")


@pytest.mark.parametrize(("command", "match"), [("true", "is it a C compiler"), ("nowhere", "nowhere"), ("cat", "cat")])
def test_a_compiler_that_is_none(emitted: Path, command: str, match: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CC", command)
    with pytest.raises(ImportError, match=match):
        loaded(emitted)
    assert not builds(emitted) and not list((emitted / "f.build").glob("tmp*"))


def test_names_that_the_module_has_itself(tmp_path: Path) -> None:
    text = """
        def os(_module: "float64[n]", _answer: float = 1.0, repr="yes", _same=None):
            return _module + _answer
    """
    made = emit(tmp_path, textwrap.dedent(text))
    (made / "os.py").rename(made / "f.py")
    np.testing.assert_array_equal(loaded(made).os(X), X + 1)


def test_devices_take_the_same(tmp_path: Path) -> None:
    require("jax", "astor")
    space: dict[str, Any] = {}
    exec((emit(tmp_path, PLAIN, "pallas") / "f.py").read_text(), space)
    for args, keywords in CALLS:
        np.testing.assert_array_equal(np.asarray(space["f"](*args, **keywords)), plain()(*args, **keywords))
    with pytest.raises(TypeError, match="f was compiled for 'same'"):
        space["f"](X, mode="full")
    for wrong, told in ((True, "bool"), (1.5, "float"), (np.int64(3), "int64"), ("3", "str"), (None, "NoneType")):
        with pytest.raises(TypeError, match=f"k: expected int, got {told}"):
            space["f"](X, wrong)
    text = (emit(tmp_path, PLAIN, "cuda") / "f.py").read_text()
    assert "def f(x, k=3, /, eps=0.5, *, scale=2.0, sign=-1, mode='same', axis=None):" in text
