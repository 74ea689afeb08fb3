"""The disk cache: what all targets keep in it, how large it becomes, what is said of it, and code made ahead."""

from __future__ import annotations

import dataclasses
import importlib.util
import json
import linecache
import os
import subprocess
import sys
import textwrap
import threading
import time
import types
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner, Result

import transkern
from tests.tools import require
from transkern import private, warned
from transkern.cli import cli
from transkern.frontend.values.types import ConstantType, parse_signature
from transkern.ir import nodes as n
from transkern.ir.expr import Apply, Const, Var
from transkern.runtime.caching import ahead, bound, cache, making, surveys
from transkern.runtime.caching.contents import contents, verified
from transkern.runtime.caching.plain_data import NotPlain, as_plain, from_plain
from transkern.targets.cpu import build as cc
from transkern.targets.cpu import compiler

DEVICES = ("cuda", "pallas")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache of the test's own."""
    (tmp_path / "cache").mkdir(mode=0o700)
    monkeypatch.setenv("TRANSKERN_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("TRANSKERN_CUDA_SIM", "1")
    monkeypatch.delenv(bound.VARIABLE, raising=False)
    monkeypatch.setattr(warned, "_said", set())
    return tmp_path / "cache"


def run(*arguments: str) -> Result:
    return CliRunner().invoke(cli, list(arguments))


# ---- all targets -----------------------------------------------------------------------------------------------------

TABLE = np.array([0.5, 3.0, -1.0])


@dataclasses.dataclass
class Pair:
    low: Any
    high: Any


def several(x: Any, k: int) -> Any:
    if k > 3:
        return x[k:], {"sum": x.sum(), "n": k}
    return [v for v in x if v > k], -0.0


def named(x: Any) -> Any:
    return Pair(np.minimum(x, 1.0), np.maximum(x, 1.0))


def captured(x: Any) -> Any:
    return x[:, None] * TABLE, None


def stores(x: Any) -> Any:
    for i in range(1, len(x)):
        x[i] += x[i - 1] / 2
    return x


def complexes(x: Any) -> Any:
    return x * 1j, (x + 2j).imag, np.float32(2) * x.astype(np.float32)


CASES: list[tuple[Callable[..., Any], list[tuple[Any, ...]]]] = [
    (several, [(np.arange(9.0), 2), (np.arange(9.0), 5)]),
    (named, [(np.array([0.0, np.nan, 4.0]),)]),
    (captured, [(np.arange(4.0),)]),
    (stores, [(np.arange(6.0),)]),
    (complexes, [(np.arange(3.0),)]),
]


def untranslated(*args: Any) -> Any:
    pytest.fail("it has been translated")


def same(found: Any, wanted: Any) -> None:
    assert type(found) is type(wanted)
    if isinstance(wanted, (tuple, list)):
        for f, w in zip(found, wanted, strict=True):
            same(f, w)
    elif isinstance(wanted, dict):
        assert list(found) == list(wanted)
        same(list(found.values()), list(wanted.values()))
    elif dataclasses.is_dataclass(wanted):
        same(list(vars(found).values()), list(vars(wanted).values()))
    elif wanted is not None:
        np.testing.assert_array_equal(found, wanted)
        assert np.asarray(found).dtype == np.asarray(wanted).dtype
        assert np.array_equal(np.signbit(np.real(found)), np.signbit(np.real(wanted)))


@pytest.mark.parametrize("target", DEVICES)
@pytest.mark.parametrize(("function", "calls"), CASES, ids=lambda c: getattr(c, "__name__", ""))
def test_a_later_process_translates_nothing(
    function: Callable[..., Any], calls: Any, target: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The function is made again, as another process makes it, and the translator is gone: the answers stay."""
    if target == "pallas":
        require("jax")
    for fresh in (True, False):
        compiled = transkern.compile(function, target=target)
        for args in calls:
            mine, theirs = [np.copy(a) if isinstance(a, np.ndarray) else a for a in args], [*args]
            theirs[0] = theirs[0].copy()
            same(compiled(*mine), function(*theirs))
            np.testing.assert_array_equal(mine[0], theirs[0])
        info = compiled.cache_info()
        assert (info.compiled > 0, info.from_disk > 0) == (fresh, not fresh)
        monkeypatch.setattr(making, "program_for", untranslated)


def test_modules_that_are_loaded_when_they_are_asked_for(tmp_path: Path) -> None:
    """NumPy's random is not there before somebody names it: a process that has not done so finds the code as well."""
    require("cc")
    (tmp_path / "drawing.py").write_text(
        "import numpy as np\nimport transkern\n\n@transkern.compile\ndef draw(n):\n"
        "    rng = np.random.default_rng(3)\n    s = 0.0\n    for _ in range(n):\n        s += rng.random()\n"
        "    return s\n\nprint(draw(5), draw.cache_info().from_disk)\n"
    )
    folders = {"PYTHONPATH": str(Path(__file__).parents[1]), "TRANSKERN_CACHE_DIR": str(tmp_path / "c")}
    environment = {**os.environ, **folders}
    command = [sys.executable, "drawing.py"]
    found = [subprocess.check_output(command, cwd=tmp_path, env=environment, text=True) for _ in range(2)]
    assert [line.split()[1] for line in found] == ["0", "1"] and found[0].split()[0] == found[1].split()[0]


@pytest.mark.parametrize("target", DEVICES)
def test_errors_of_kept_texts_stand_at_the_users_lines(target: str) -> None:
    if target == "pallas":
        require("jax")

    def picks(x: Any, k: int) -> Any:
        y = x + 1
        return y[k]

    for _ in range(2):
        compiled = transkern.compile(picks, target=target)
        assert compiled(np.arange(3.0), 1) == 2
        with pytest.raises(IndexError, match="index 7 is out of bounds for axis 0 with size 3") as caught:
            compiled(np.arange(3.0), 7)
        assert caught.traceback[-1].name == "picks"
        assert caught.traceback[-1].lineno == picks.__code__.co_firstlineno + 1
    assert compiled.cache_info().from_disk


def test_what_a_kept_text_was_made_of_is_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    """A global that was part of the code is another: the texts are not for it."""
    space = {"np": np, "SCALE": 2.0}
    source = "def scaled(x):\n    return x * SCALE\n"
    known = (len(source), None, source.splitlines(True), "<scaled>")
    monkeypatch.setitem(linecache.cache, "<scaled>", known)
    exec(compile(source, "<scaled>", "exec"), space)
    scaled: Any = space["scaled"]
    for value, counts in ((2.0, (1, 0)), (3.0, (1, 0)), (2.0, (0, 1)), (3.0, (0, 1))):
        space["SCALE"] = value
        compiled = transkern.compile(scaled, target="cuda")
        np.testing.assert_array_equal(compiled(np.arange(3.0)), np.arange(3.0) * value)
        assert (compiled.cache_info().compiled, compiled.cache_info().from_disk) == counts


def test_plain_data_tells_alike_numbers_apart() -> None:
    values = (
        1, 1.0, True, -0.0, 1e300, 2**70, "é", None, ..., 1 + 2j, np.float32(0.1), np.int8(-3), np.complex64(1j),
        float("inf"), ((), ("a", (1,))),
        n.TupleResult((n.ScalarResult(Apply("neg", (Const(-0.0, "float64"),), "float64"), True),), "dict", ("k",)),
        n.ViewResult("x", (Var("n"),), (Const(1, "index"),), ((Const(2, "index"),),), "float64", "real", True),
        *parse_signature("f(float32[n,4] strided, int, [float, …], (float, int), 'valid', [(int, float), …])")[1],
    )  # fmt: skip
    found = from_plain(json.loads(json.dumps(as_plain(values))))
    assert repr(found) == repr(values)
    assert [type(v) for v in found] == [type(v) for v in values]
    for other in (object(), ConstantType(len), [1], {"a": 1}, np.arange(3)):
        with pytest.raises(NotPlain):
            as_plain((other,))


# ---- how large it becomes --------------------------------------------------------------------------------------------


def kept(folder: Path) -> set[str]:
    return {path.parent.name for path in folder.glob("functions/*/*.json")}


def put(key: str, size: int, ago: float = 0.0) -> None:
    path = cache.write(key, {"looked_at": {}, "key": key}, key.encode() * (size // len(key)))
    assert path is not None
    for file in path.parent.glob("*.*"):
        os.utime(file, (time.time() - ago,) * 2)


def test_what_was_not_used_for_longest_goes_first(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(bound.VARIABLE, "100K")
    for age, key in enumerate("abcd"):
        put(key, 20_000, ago=1000 - age)
    assert cache.read("a", lambda entry: surveys.Survey({}, (), lambda array, number: False)) is not None  # is used
    assert kept(folder) == {*"abcd"}
    put("e", 30_000)
    assert kept(folder) == {*"acde"}  # b had to go: 110 000 bytes and more, of 102 400
    assert not list((folder / "functions").glob("b/*.so"))
    put("f", 90_000)
    assert kept(folder) == {"f"}
    assert sum(one.size for one in bound.files(folder)) <= 102_400


def test_a_ledger_that_is_lost_or_none_of_ours_is_made_anew(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(bound.VARIABLE, "50K")
    put("a", 20_000, ago=9)
    for spoilt in (None, b"\xff", b"12 apples\n", b"1\n" * 40_000):
        ledger = folder / bound.LEDGER
        ledger.unlink(missing_ok=True)
        if spoilt is not None:
            ledger.write_bytes(spoilt)
        put("b", 20_000, ago=5)
        counted = sum(map(int, ledger.read_bytes().split()))
        assert counted == sum(one.size for one in bound.files(folder))
        assert kept(folder) == {*"ab"}
    put("c", 20_000)
    assert kept(folder) == {*"bc"}


def test_no_bound_others_that_shrink_it_and_words_that_are_no_sizes(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(bound.VARIABLE, "None")
    put("a", 50_000, ago=9)
    assert not (folder / bound.LEDGER).exists()
    monkeypatch.setenv(bound.VARIABLE, "60k")
    with private.locked(folder / bound.LOCK, 0) as held:
        assert held
        put("b", 50_000)  # another process is about it
        assert kept(folder) == {*"ab"}
    put("c", 1_000)
    assert kept(folder) == {*"bc"}
    for text, size in (("1.5 MiB", 3 << 19), ("7", 7), ("2GB", 2 << 30), ("3t", 3 << 40), ("", bound.DEFAULT)):
        monkeypatch.setenv(bound.VARIABLE, text)
        assert bound.limit() == size
    monkeypatch.setenv(bound.VARIABLE, "much")
    with pytest.warns(UserWarning, match="TRANSKERN_CACHE_LIMIT is 'much'"):
        assert bound.limit() == bound.DEFAULT


def test_code_whose_entry_goes_at_once_still_runs(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(bound.VARIABLE, "0")
    x = np.arange(5.0)
    np.testing.assert_array_equal(transkern.compile(stores, target="cpu")(x.copy()), stores(x.copy()))
    assert not kept(folder)


def test_the_ledger_of_a_disk_that_cannot_be_written_is_left(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put("a", 1_000)

    def full(*args: Any) -> Any:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(private, "write", full)
    monkeypatch.setenv(bound.VARIABLE, "1")
    bound.written(folder, 5)  # what is there goes, and nobody hears of the rest


# ---- what is said of it ----------------------------------------------------------------------------------------------


def test_info_tells_what_is_there(folder: Path) -> None:
    assert "last used" not in run("cache", "info").stdout
    for target in ("cpu", "cuda"):
        transkern.compile(stores, target=target)(np.arange(4.0))
    found = contents(folder)
    assert {name: part.count for name, part in found.targets.items()} == {"cpu": 1, "cuda": 1}
    assert found.size == sum(one.size for one in bound.files(folder))
    told = run("cache", "info")
    assert told.exit_code == 0
    lines = dict(line.split(maxsplit=1) for line in told.stdout.splitlines())
    assert lines["place"] == str(folder)
    assert "of 1.0 GiB" in lines["size"]
    assert lines["cpu"].startswith("1 entry, ") and lines["cuda"].startswith("1 entry, ")
    assert lines["types"].startswith("1 file, ")
    folder.chmod(0o777)
    assert "others may write to it" in run("cache", "info").stdout


def test_verify_deletes_what_does_not_serve(folder: Path) -> None:
    transkern.compile(stores, target="cpu")(np.arange(4.0))
    transkern.compile(captured, target="cuda")(np.arange(4.0))
    count, broken = verified(folder)
    assert (count, broken) == (4, [])  # two entries, and the types of two functions
    assert run("cache", "verify").exit_code == 0

    (entry,) = [p for p in folder.glob("functions/*/*.json") if list(p.parent.glob("*.so"))]
    (code,) = entry.parent.glob("*.so")
    data = code.read_bytes()
    code.unlink()  # the file itself is in this process's memory
    code.write_bytes(data[:-1])
    told = run("cache", "verify")
    assert told.exit_code == 1
    assert f"deleted {entry}: " in told.stdout and f"deleted {code}: it is not what" in told.stdout  # in either order
    assert not entry.exists() and not code.exists()
    assert run("cache", "verify").exit_code == 0

    here = {"looked_at": {}, "module": "m", "target": "cpu", "machine": compiler.machine()}
    cache.write("none", here, b"no machine code")
    cache.write("others", here | {"machine": "another"}, b"code that this machine does not load")
    cache.write("torn", {"looked_at": {}, "printed": {"text": "def f(:"}, "target": "cuda"})
    cache.write("lost", here, b"gone")
    for path in folder.glob("functions/lost/*.so"):
        path.unlink()
    (folder / "runs").mkdir(mode=0o700)
    (folder / "runs" / "a.json").write_text("{")
    why = {one.path.parent.name: one.why for one in verified(folder)[1]}
    assert why.keys() == {"none", "torn", "lost", "runs"}
    assert "cannot be loaded here" in why["none"] and "not Python" in why["torn"]
    assert "cannot be read" in why["lost"] and why["runs"] == "it is not JSON"
    assert not verified(folder)[1]


# ---- code that is made ahead -----------------------------------------------------------------------------------------


def module(folder: Path, text: str, name: str) -> types.ModuleType:
    path = folder / f"{name}.py"
    path.write_text("import numpy as np\nimport transkern\n" + textwrap.dedent(text))
    linecache.checkcache(str(path))
    Path(importlib.util.cache_from_source(str(path))).unlink(missing_ok=True)  # it knows a text by second and length
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    sys.modules[name] = made
    spec.loader.exec_module(made)
    return made


STATED = [
    ("(float64[n], float64[n])", (np.ones(5), np.ones(5))),
    ("(float64[n], float64[m])", (np.ones(5), np.ones(1)[:0])),
    ("(float64[n], float64[3,n] strided)", (np.ones(5), np.ones((5, 3)).T)),
    ("(float32[n,4], float)", (np.ones((100, 4), np.float32), 2.0)),
    ("(float32[n,4], float32[4])", (np.ones((100, 4), np.float32), np.ones(4, np.float32))),
    ("(int32[2,3], float32)", (np.ones((2, 3), np.int32), np.float32(2))),
    ("(float64[1,n], complex)", (np.ones((1, 7)), 1j)),
    ("(float64[:], 3)", (np.ones(7), 3)),
]


@pytest.mark.parametrize(("stated", "args"), STATED, ids=[s for s, _ in STATED])
def test_stated_types_are_those_of_a_call(stated: str, args: tuple[Any, ...]) -> None:
    """What `warm` compiles for is what a call with such arguments asks for: the call compiles nothing."""
    from transkern.frontend.values.types import types_of

    called = ahead.as_called(("x", "y"), parse_signature(stated)[1])
    assert called == types_of(("x", "y"), args)


def test_constants_that_are_stated_are_part_of_the_code(tmp_path: Path) -> None:
    made = module(tmp_path, """
        @transkern.compile(target="cpu", types="(float64[n,5], 1)")
        def summed(x, axis):
            return x.sum(axis=axis)

        @transkern.compile(target="cpu")
        def open_(x: "float64[n,m]", axis: int):
            return x.sum(axis=axis)

        @transkern.compile(target="cpu")
        def pairs(x: "[float, …]"):
            return x[0]

        @transkern.compile(target="cpu")
        def unknown(x):
            return x

        @transkern.compile(target="cpu", types="(float64[n])")
        def defaulted(x, k=2):
            return x * k

        @transkern.compile(target="cpu", types="(float64[n])")
        def short(x, y):
            return x * y

        @transkern.compile(target="cpu", types="(float64[n])")
        def many(*arrays):
            return arrays[0] * 2

        class Box:
            @transkern.compile(target="cpu", types="(float64[n,n])")
            def refused(x):
                return np.linalg.eigvals(x)
    """, "stating")  # fmt: skip
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = {one.name: one for one in ahead.warm([*ahead.compiled_in(transkern.Compiled, vars(made), "stating")])}
    assert found.keys() == {"summed", "open_", "pairs", "Box.refused", "defaulted", "short", "many"}
    assert not found["summed"].problem and not found["defaulted"].problem
    assert found["short"].problem == "`short` has 2 parameters, and the types of 1 are stated"
    assert "any number of arguments" in found["many"].problem
    assert found["open_"].problem == "`axis` is part of the code, and its value is not stated"
    assert "only a call tells" in found["pairs"].problem
    assert found["Box.refused"].problem
    assert made.defaulted(np.ones(3)).sum() == 6 and made.defaulted.cache_info().compiled == 1
    count = made.summed.cache_info().compiled
    np.testing.assert_array_equal(made.summed(np.ones((4, 5)), 1), np.full(4, 5.0))
    assert made.summed.cache_info().compiled == count


def test_types_of_earlier_runs_outlive_a_change_of_the_text(tmp_path: Path) -> None:
    text = """
        @transkern.compile(target="cpu")
        def f(x, axis, pairs):
            return x.sum(axis=axis) * {factor}.0 + pairs[0][1]
    """
    calls = [(np.ones((3, 4)), 1, [(1, 2.0)]), (np.ones((3, 4), np.float32), 0, [(1, 2.0)])]
    first = module(tmp_path, text.format(factor=1), "changing")
    assert not ahead.warm([first.f])  # nobody knows
    for args in calls:
        first.f(*args)
    second = module(tmp_path, text.format(factor=2), "changing")
    found = ahead.warm([second.f])
    assert not [one.problem for one in found if one.problem]
    count = second.f.cache_info().compiled
    assert count >= 2
    for args in calls:
        np.testing.assert_array_equal(second.f(*args), second.f.function(*args))
    assert second.f.cache_info().compiled == count


def test_compilers_run_side_by_side(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each waits until another one runs."""
    require("cc")
    one = "@transkern.compile(target='cpu', types='(float64[n])')\ndef f{0}(x):\n    return x * {0}.5\n\n"
    made = module(tmp_path, "".join(map(one.format, range(4))), "several_functions")
    both, inner = threading.Barrier(2, timeout=60), cc.compile_text

    def meeting(*args: Any) -> bytes:
        both.wait()
        return inner(*args)

    monkeypatch.setattr(cc, "compile_text", meeting)
    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    space = vars(made)
    exec("warmed = transkern.warm()", space)
    found = [(one.name, one.problem, one.from_cache) for one in space["warmed"]]
    assert found == [(f"f{k}", "", False) for k in range(4)]
    assert made.f3(np.ones(2)).tolist() == [3.5, 3.5]
    assert made.f3.cache_info().compiled == 1


def test_warm_compiles_a_file_in_processes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    require("cc")
    monkeypatch.syspath_prepend(str(tmp_path))
    text = """
        @transkern.compile(target="cpu")
        def f(x: "float64[n]"):
            return x * 2

        @transkern.compile(target="cpu", types="(float32[n])")
        def g(x):
            return x * 3

        def plain(x):
            return x * 4

        def left(x: "float64[n]"):
            return x * 5
    """
    module(tmp_path, text, "warmed_file")
    file, more = str(tmp_path / "warmed_file.py"), ("--types", "plain(float64[n])", "-t", "cpu")
    told = run("cache", "warm", file, *more, "-j", "2")
    assert told.exit_code == 0, told.output
    assert sorted(line.split()[1].partition("(")[0] for line in told.stdout.splitlines()[:-1]) == ["f", "g", "plain"]
    assert told.stdout.splitlines()[-1] == "3 compiled, 0 there already, 0 without code"
    made = module(tmp_path, text, "warmed_file")
    assert made.f(np.ones(1000)).sum() == 2000 and made.f.cache_info().from_disk == 1
    assert "0 compiled, 3 there" in run("cache", "warm", "warmed_file", *more, "-j", "1").stdout


def test_warm_says_what_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = "@transkern.compile(target='cpu')\ndef f(x: 'float64[n]', k: int):\n    return x.sum(axis=k)\n"
    module(tmp_path, text, "open_one")
    file = str(tmp_path / "open_one.py")
    told = run("cache", "warm", file)
    assert told.exit_code == 1 and "no  f(float64[n], int) on cpu: `k` is part of the code" in told.stdout
    assert run("cache", "warm", file, "--types", "f(float64[n], 0)").exit_code == 0
    for wrong, code, words in (
        (("no_such_module",), 2, "there is no file or module"), ((file, "--types", "g(int)"), 1, "has no function `g`"),
        ((file, "--types", "(int)"), 1, "need the function's name"),
        (("no_such_module", "--import"), 1, "there is no file or module"),
        ((file, "--types", "g(int)", "--import"), 1, "has no function `g`"),
    ):  # fmt: skip
        found = run("cache", "warm", *wrong)
        assert found.exit_code == code and words in found.stderr


def test_warm_reads_and_does_not_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What it makes of the text is found by who has imported the file: constants, defaults, helpers, options."""
    require("cc")
    monkeypatch.syspath_prepend(str(tmp_path))
    text = """
        import math
        import os
        from functools import lru_cache

        if not os.environ.get("MAY_RUN"):
            raise SystemExit("it has been run")
        WEIGHTS = np.array([1.0, 2.0, 3.0])
        SCALE, NAMES = 2 * math.pi, ("a", "b")

        def helper(x, by=SCALE):
            return x * by

        class Held:
            @transkern.compile(target="cpu", types="(float64[n])")
            def method(self, x):
                return x

        @transkern.compile(target="cpu", boundscheck=False)
        def inner(x: "float64[n]"):
            return x - 1

        @transkern.compile(target="cpu")
        def f(x: "float64[n]", k: "int" = 3):
            s = np.zeros(len(x))
            for i in range(len(x)):
                s[i] = helper(x[i]) + WEIGHTS[i % 3] * len(NAMES)
            return s * k + inner(x)

        @lru_cache
        def odd(x):
            return Held
    """
    monkeypatch.delenv("MAY_RUN", raising=False)
    (tmp_path / "read_file.py").write_text("import numpy as np\nimport transkern\n" + textwrap.dedent(text))
    file = str(tmp_path / "read_file.py")
    told = run("cache", "warm", file, "--types", "odd(int)", "-j", "1")
    assert told.exit_code == 1, told.output
    lines = sorted(told.stdout.splitlines()[:-1])
    assert [line.split("(")[0].split(":")[0].split()[:2] for line in lines] == [
        ["new", "f"], ["new", "inner"], ["no", "Held.method"], ["no", "odd"],
    ]  # fmt: skip
    assert all("--import" in line for line in lines[2:])
    monkeypatch.setenv("MAY_RUN", "1")
    made = module(tmp_path, text, "read_file")
    x = np.arange(500.0)
    np.testing.assert_array_equal(made.f(x), made.f.function(x))
    assert made.f.cache_info().from_disk == 1 and made.inner(x)[0] == -1 and made.inner.cache_info().from_disk == 1
    told = run("cache", "warm", file, "--import", "-j", "1")
    assert "2 there already" in told.stdout and "Held.method" in told.stdout
