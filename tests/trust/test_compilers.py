"""`CC` as make takes it, compilers that lack something, compilers that are none, and what `doctor` says of them."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import transkern
from transkern import warned
from transkern.cli.doctor import _cache, _compiler, _cxx, _libmvec, _openmp, _sanitizers
from transkern.targets.cpu import build, compiler

THERE = [name for name in ("cc", "gcc", "clang") if shutil.which(name)]
LARGE = np.arange(float(1 << 21)).reshape(1 << 11, -1)  # results of this size go past the caches


@pytest.fixture(autouse=True)
def alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("cache", "tmp"):
        (tmp_path / name).mkdir(mode=0o700)
    monkeypatch.setenv("TRANSKERN_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "tmp"))
    monkeypatch.setattr(warned, "_said", set())
    build.openmp.cache_clear()


def shifted(x: Any) -> Any:
    return np.maximum(x * 3 - 1, 0.5)


def works(function: Callable[..., Any] = shifted, x: Any = None) -> Any:
    """A new object for a function, which has been compiled and has given NumPy's answer."""
    x = np.linspace(-1, 1, 1000) if x is None else x
    compiled = transkern.compile(function, target="cpu")
    np.testing.assert_array_equal(compiled(x), function(x))
    return compiled


def script(path: Path, text: str) -> str:
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return str(path)


@pytest.mark.parametrize("name", THERE)
@pytest.mark.parametrize("options", ["-m64 -ffast-math", " -Ofast  -funsafe-math-optimizations"])
def test_a_command_with_options(name: str, options: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever they say of floats, the answer is NumPy's: `(x + y) - y` stays, as do infinities and NaN."""
    monkeypatch.setenv("CC", f"{name} {options}")

    def cancelled(x: Any) -> Any:
        y = x + 1e16
        return np.where(np.isnan(x), 7.0, (y - 1e16) / 0.1)

    x = np.array([1.0, np.nan, 0.5, 3.0, -0.0] * 40)
    works(cancelled, x)


@pytest.mark.parametrize("name", THERE)
def test_results_past_the_caches(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """With each compiler's own name of the instruction."""
    monkeypatch.setenv("CC", name)
    compiled = works(shifted, LARGE)
    assert "stream(" in compiled.emit()


def test_words_are_taken_apart_as_a_shell_does(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = script(tmp_path / "my cc", 'test "$1" = "-DX=a b" || exit 1\nexec cc "$@"')
    monkeypatch.setenv("CC", f"'{path}' '-DX=a b'")
    works()
    assert compiler.command() == (path, "-DX=a b")


@pytest.mark.parametrize(
    ("setting", "error", "match"),
    [
        ("true", transkern.BuildError, "made nothing: is it one.*\n(.*\n)*.*CC=true"),
        ("false", transkern.BuildError, "status 1.*\n(.*\n)*.*CC=false"),
        ("cat", transkern.BuildError, "cat: invalid option"),
        ("no-such-compiler", transkern.TargetUnavailable, "'no-such-compiler' was not found.*CC=no-such-compiler"),
        ("/nowhere/gcc -m64", transkern.TargetUnavailable, "'/nowhere/gcc' was not found"),
        ("'gcc", transkern.TargetUnavailable, "CC is no command.*No closing quotation"),
    ],
)
def test_what_is_no_compiler(
    setting: str, error: type[Exception], match: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CC", setting)
    with pytest.raises(error, match=match):
        works()
    compiled = transkern.compile(shifted, target="cpu", fallback="numpy")
    with pytest.warns(UserWarning, match="runs in NumPy"):
        np.testing.assert_array_equal(compiled(np.ones(3)), shifted(np.ones(3)))


def test_a_compiler_without_openmp(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One thread, and one warning."""
    text = 'for word; do test "$word" = -fopenmp && { echo "cannot find -lomp" >&2; exit 1; }; done\nexec cc "$@"'
    monkeypatch.setenv("CC", script(tmp_path / "cc", text))
    with pytest.warns(UserWarning, match="no OpenMP.*on one thread") as said:
        works()
        works(lambda x: x + 2)
    assert len(said) == 1 and said[0].filename == __file__
    findings = {finding.what: finding for finding in (_compiler(), _openmp())}
    assert findings["C compiler"].found and not findings["OpenMP"].found


def test_the_key_has_the_compiler_in_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its words and its files, also behind a wrapper, and what it reads beside them; no program is started for it."""
    first, second = (script(tmp_path / name, 'exec cc "$@"') for name in ("one", "two"))
    ccache = script(tmp_path / "ccache", 'exec "$@"')
    (tmp_path / "links").mkdir()
    (tmp_path / "links" / "one").symlink_to(ccache)
    monkeypatch.setattr(subprocess, "Popen", None)
    found = []
    path = os.environ["PATH"]
    for setting in (first, second, f"{first} -m64", f"{ccache} {first}", f"{ccache} {second}"):
        monkeypatch.setenv("CC", setting)
        found.append(compiler.identity())
    monkeypatch.setenv("PATH", f"{tmp_path / 'links'}:{tmp_path}:{path}")
    monkeypatch.setenv("CC", "one")  # a link to ccache, which runs the next one of this name
    for content in ("", "\n# another version"):
        with open(first, "a") as file:
            file.write(content)
        found.append(compiler.identity())
    monkeypatch.setenv("CPATH", str(tmp_path))
    found.append(compiler.identity())
    assert len(set(found)) == len(found)


def test_the_message_names_what_can_be_looked_at(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = 'for word; do case "$word" in *.c) echo "$word:3: error: no" >&2; esac; done\nexit 1'
    monkeypatch.setenv("CC", script(tmp_path / "cc", text))
    with pytest.raises(transkern.BuildError) as caught:
        works()
    assert "\nshifted.c:3: error: no\n" in str(caught.value)  # not a folder that has gone
    path = Path(str(caught.value).partition("code: ")[2].splitlines()[0])
    assert "shifted" in path.read_text()


def test_doctor_tries_what_it_reports(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert _compiler().found and _cache().found
    version = 'test "$1" = --version && { echo "good 1.0"; exit 0; }'
    rubbish = 'until test "$1" = -o; do shift; done\necho > "$2"'
    for name, rest in (("fails", "exit 1"), ("nothing", "exit 0"), ("rubbish", rubbish)):
        monkeypatch.setenv("CC", script(tmp_path / name, f"{version}\n{rest}"))
        for question in (_compiler, _openmp, _libmvec):
            assert not question().found, name
    monkeypatch.setenv("CC", "no-such-compiler")
    finding = _compiler()
    assert not finding.found and "no-such-compiler" in finding.advice
    monkeypatch.setenv("CXX", "no-such-compiler")
    assert not _cxx().found and not _sanitizers().found
    (tmp_path / "cache").chmod(0o777)
    assert "others may write" in _cache().advice
    assert not list((tmp_path / "tmp").iterdir())
