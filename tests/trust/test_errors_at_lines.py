"""Errors at run time point at the user's line, and compile errors are one screen."""

from __future__ import annotations

import copy
import linecache
import os
import pdb
import subprocess
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
import pytest

import transkern
from tests.trust import failing
from tests.trust.failing import all_of_it, calls_decorated, decorated, filled, noted, stored, told_with
from transkern.frontend.translate import translate
from transkern.runtime import compiled as compiled_module
from transkern.runtime import structures

HERE = failing.__file__
OURS = str(Path(transkern.__file__).parent)


FOUR = np.arange(4.0) + 1
CALLS: list[tuple[Callable[..., Any], tuple[Any, ...]]] = [
    (all_of_it, (FOUR, FOUR, 5)),  # in a loop: an index
    (all_of_it, (FOUR, np.full(4, np.nan), 2)),  # what `int` does not take
    (all_of_it, (FOUR, np.ones(5), 2)),  # shapes
    (all_of_it, (FOUR, FOUR, 4)),  # in a function that is called: an index
    (all_of_it, (np.ones(9), np.ones(9), 7)),  # in it: an exception of the user's
    (all_of_it, (np.ones(5), np.ones(5), 2)),  # a reshape, in a statement of several lines
    (all_of_it, (np.ones(4), np.ones(4), 3)),  # a step of a library
    (filled, (np.zeros(3), 0)),  # a division of integers
    (filled, (np.zeros(3), 5)),  # an assertion
    (filled, (np.zeros(3), 2)),  # in a lambda
    (decorated, (FOUR, 4)),  # in a function and in what wraps it, which have one name and two places
    (calls_decorated, (FOUR, 3)),
]


def frames(error: BaseException) -> list[tuple[int | None, str]]:
    return [(f.lineno, f.name) for f in traceback.extract_tb(error.__traceback__) if f.filename == HERE]


def raised(function: Callable[..., Any], args: tuple[Any, ...]) -> BaseException:
    args = copy.deepcopy(args)
    with pytest.raises(Exception) as caught:
        function(*args)
    return caught.value


TARGETS = ["cpu", "cuda"]


@pytest.fixture(scope="module", params=TARGETS)
def compiled(request: pytest.FixtureRequest) -> Any:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TRANSKERN_CUDA_SIM", "1")
        functions = (all_of_it, filled, decorated, calls_decorated, stored)
        yield {f: transkern.compile(f, target=request.param) for f in functions}


@pytest.mark.parametrize(("function", "args"), CALLS)
def test_the_frames_are_those_that_python_leaves(compiled: Any, function: Any, args: Any) -> None:
    wanted = raised(function, args)
    for _ in range(2):  # the call that compiles, and one that does not
        found = raised(compiled[function], args)
        assert (type(found), found.args, str(found)) == (type(wanted), wanted.args, str(wanted))
        assert frames(found) == frames(wanted)
        assert found.__cause__ is None
        ours = [f.name for f in traceback.extract_tb(found.__traceback__) if f.filename.startswith(OURS)]
        assert ours == ["__call__"]


@pytest.mark.parametrize("k", range(4))
def test_exceptions_have_the_arguments_that_they_are_raised_with(k: int) -> None:
    wanted = raised(told_with, (np.array([1.5, np.nan]), k))
    found = raised(transkern.compile(told_with, target="cpu"), (np.array([1.5, np.nan]), k))
    assert (type(found), repr(found.args), str(found)) == (type(wanted), repr(wanted.args), str(wanted))


@pytest.mark.parametrize("target", [*TARGETS, "pallas"])
@pytest.mark.parametrize("k", [0, 1, 2, 3, 4, 5, -4, -5])
def test_what_was_put_into_arguments_comes_with_the_lines(
    k: int, target: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TRANSKERN_CUDA_SIM", "1")
    wanted_in, found_in = failing.Found(), failing.Found()
    function = transkern.compile(noted, target=target)
    if k in (1, 2, -4):  # it ends
        assert function(FOUR, k, found_in) == noted(FOUR, k, wanted_in)
    else:
        wanted, found = [], []
        for f, into, errors in ((noted, wanted_in, wanted), (function, found_in, found)):
            with pytest.raises(Exception) as caught:
                f(FOUR, k, into)
            errors.append((type(caught.value), caught.value.args, vars(caught.value), frames(caught.value)))
        assert found == wanted
    if target != "pallas":  # what is known to fail while JAX traces leaves objects as they were
        assert repr(vars(found_in)) == repr(vars(wanted_in))


@pytest.mark.parametrize("k", [4, 3, 2, -5])
def test_a_store_is_where_it_stores(compiled: Any, k: int) -> None:
    def columns(function: Any) -> list[Any]:
        found = traceback.extract_tb(raised(function, (FOUR, k)).__traceback__)
        return [(f.lineno, f.end_lineno, f.colno, f.end_colno) for f in found if f.filename == HERE]

    assert columns(compiled[stored]) == columns(stored)


def test_pallas_names_the_lines_too() -> None:
    function = transkern.compile(filled, target="pallas")
    for args in [a for f, a in CALLS if f is filled]:
        assert frames(raised(function, args)) == frames(raised(filled, args))


def test_verified_calls_name_the_lines_too() -> None:
    function = transkern.compile(filled, target="cpu", verify=True)
    assert frames(raised(function, (np.zeros(3), 0))) == frames(raised(filled, (np.zeros(3), 0)))


def test_a_read_only_array_is_told_at_the_store() -> None:
    x = np.zeros(3)
    x.flags.writeable = False

    def call(function: Any) -> BaseException:
        with pytest.raises(ValueError, match="read-only") as caught:
            function(x, 3)
        return caught.value

    function = transkern.compile(filled, target="cpu")
    function(np.zeros(9), 3)  # else the copy that pytest's helper makes would be writable
    assert frames(call(function)) == frames(call(filled))


def test_columns_arguments_and_debuggers(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    error = raised(transkern.compile(all_of_it, target="cpu"), (FOUR, FOUR, 5))
    text = "".join(traceback.format_exception(error))
    line = linecache.getline(HERE, next(n for n, name in frames(error) if name == "all_of_it") or 0)
    assert line.strip() == "total += x[i] / int(y[i])"
    assert f"    {line.strip()}\n             ~^^^\n" in text  # the part of the line, as Python marks it
    trace: TracebackType | None = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    assert trace is not None
    assert trace.tb_frame.f_locals["k"] == 5 and trace.tb_frame.f_locals["x"].shape == (4,)
    assert trace.tb_frame.f_globals is vars(failing)
    monkeypatch.setattr("builtins.input", lambda prompt: (_ for _ in ()).throw(EOFError))
    pdb.post_mortem(trace)
    assert "all_of_it()" in capsys.readouterr().out


def test_the_user_catches_as_before() -> None:
    function = transkern.compile(filled, target="cpu")
    try:
        try:
            raise KeyError("first")
        except KeyError:
            function(np.zeros(3), 0)
    except ZeroDivisionError as error:
        assert isinstance(error.__context__, KeyError)
        assert vars(error) == {}
    else:
        raise AssertionError


SCRIPT = '''
import numpy as np, transkern, traceback

{above}
@transkern.compile(target="cpu")
def third(x, k):
    y = x + 1
    return inner(y, k)

def inner(y, k):
    return y[k]

try:
    third(np.zeros(3), 7)
except IndexError as error:
    print([(f.lineno, f.name, f.line) for f in traceback.extract_tb(error.__traceback__)][2:])
    print(third.cache_info().from_disk)
'''


def test_code_from_the_disk_cache_knows_where_the_function_stands_now(tmp_path: Path) -> None:
    told = []
    for above in ("", "A = 1\nB = 2\n"):
        script = tmp_path / f"script{len(told)}.py"
        script.write_text(SCRIPT.format(above=above))
        environment = os.environ | {"TRANSKERN_CACHE_DIR": str(tmp_path / "cache")}
        done = subprocess.run([sys.executable, script], capture_output=True, text=True, env=environment, check=True)
        told.append(done.stdout.splitlines())
    lines = [(8, "third", "return inner(y, k)"), (11, "inner", "return y[k]")]
    assert told[0] == [str(lines), "0"]
    assert told[1] == [str([(n + 2, name, line) for n, name, line in lines]), "1"]


# --- compile errors


def refused(x: Any) -> Any:
    return np.polynomial.chebyshev.chebfit(x, x, 2)


def screen(function: Any, *args: Any) -> list[str]:
    with pytest.raises(transkern.TranskernError) as caught:
        function(*args)
    return "".join(traceback.format_exception(caught.value)).splitlines()


def test_a_compile_error_is_one_screen(monkeypatch: pytest.MonkeyPatch) -> None:
    function = transkern.compile(refused, target="cpu")
    lines = screen(function, np.eye(2))
    assert len(lines) < 16 and sum(f'File "{OURS}' in line for line in lines) == 1, lines
    assert len(screen(lambda: function.explain("f(float64[n,n])"))) < 16
    assert len(screen(lambda: function.emit(types="f(float64[n,n])"))) < 16
    monkeypatch.setenv("TRANSKERN_DEBUG", "1")
    assert len(screen(function, np.eye(2))) > 30


@pytest.mark.parametrize("where", ["translating", "building", "types", "settling"])
def test_an_error_of_ours_says_so(monkeypatch: pytest.MonkeyPatch, where: str) -> None:
    def broken(*args: Any, **keywords: Any) -> Any:
        raise KeyError("f_2")

    def fine(x: Any) -> Any:
        y = x + 1
        return y * 2

    match where:
        case "translating":
            monkeypatch.setattr(translate.Translator, "return_", broken)
        case "building":
            monkeypatch.setattr("transkern.runtime.caching.building.program_texts", broken)
            monkeypatch.setattr("transkern.targets.cpu.printing.module.emit_with_timers", broken)
        case "types":
            monkeypatch.setattr("transkern.frontend.values.types.types_of", broken)
        case "settling":
            monkeypatch.setattr("transkern.runtime.calls.settling.settled", lambda *_: set())
            monkeypatch.setattr(
                "transkern.runtime.caching.building.build",
                lambda *_, **__: compiled_module.Specialisation((), "cpu", lambda *_: NotImplemented, lambda: "sizes"),
            )
    function = transkern.compile(fine, target="cpu")
    lines = screen(function, np.zeros((3, 1, 7)))
    assert len(lines) < 16
    assert not any(line.startswith("KeyError") for line in lines)
    text = "\n".join(lines)
    assert "InternalError" in text and "bug in transkern" in text and "`fine`" in text and "TRANSKERN_DEBUG=1" in text
    assert f"{__file__}:" in text  # the line that was translated, or the function's first
    if where == "translating":
        assert "return y * 2" in text
    function = transkern.compile(fine, target="cpu", fallback="numpy")
    with pytest.warns(UserWarning, match="runs in NumPy") as told:
        assert np.array_equal(function(np.ones((3, 1, 7))), np.full((3, 1, 7), 4.0))
    assert told[0].filename == __file__
    assert structures is not None


def test_no_inner_type_is_shown() -> None:
    def unknown(x: Any, n: int) -> Any:
        return np.sum(x, axis=int(x[n]))

    error = screen(transkern.compile(unknown, target="cpu"), np.zeros(4), 1)
    assert not any("NotKnown" in line for line in error)


def test_carets_stand_under_letters_that_take_several_bytes() -> None:
    def named(größe: Any) -> Any:
        return größe + np.polynomial.chebyshev.chebfit(größe, größe, 2)

    line, caret = _caret(named)
    assert line[caret.index("^") : caret.rindex("^") + 1].startswith("np.poly")


def _caret(function: Any) -> tuple[str, str]:
    lines = screen(transkern.compile(function, target="cpu"), np.zeros(3))
    at = next(k for k, line in enumerate(lines) if line.strip().startswith("|"))
    return lines[at - 1], lines[at]
