"""Functions that ask are the same functions: what they do, and what tracers, tracebacks and readers see of them."""

from __future__ import annotations

import doctest
import importlib.util
import inspect
import sys
import traceback
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.dropin.tracing import tracer_of
from transkern.dropin.rewriting import Site, rewritten
from transkern.dropin.unseen import Probe
from transkern.standing_in import plain_code

TEXT = '''\
import functools

def mixed(a, b=2, /, *rest, key=3, **others):
    """What it says."""
    total = 0
    for value in (a, b, *rest):
        total += (value +
                  key)
    return total, sorted(others), sorted(locals())

def fails(x):
    y = [1, 2, 3]
    for i in range(4):
        y[i] = (x
                / (3 - i))
    return y

def tries(x):
    try:
        for k in range(3):
            if k == x:
                continue
            if k == 2:
                return "found"
            with open(__file__) as file:
                pass
    except OSError:
        return "no file"
    finally:
        x += 1
    return x

def short(x): return x + 1 + x * 3 + x * 4

def outer(n):
    total = 0
    def inner(z):
        nonlocal total
        total += z + n
        return total
    return [inner(k) for k in range(3)]

class Base:
    @functools.lru_cache(None)
    def cached(self, x):
        return sum(x for _ in range(5))
    @staticmethod
    def static(x):
        return [x * k for k in range(2)]
    def __secret(self, n):
        return [self for _ in range(n)]
    def calls(self, n):
        return len(self.__secret(n) + [1] * n)

class Derived(Base):
    def calls(self, n):
        return super().calls(n) + sum(range(n))

def generates(n):
    for k in range(n):
        yield k

def itself(n):
    return 1 if n < 2 else n * itself(n - 1) + n - n
'''

CALLS: list[tuple[str, Callable[[dict[str, Any]], Any]]] = [
    ("mixed", lambda m: m["mixed"](1, 5, 6, key=7, z=8)),
    ("mixed without an argument", lambda m: m["mixed"]()),
    ("fails", lambda m: m["fails"](2)),
    ("tries", lambda m: [m["tries"](k) for k in (0, 1, 2)]),
    ("short", lambda m: m["short"](4)),
    ("outer", lambda m: m["outer"](4)),
    ("cached", lambda m: m["Base"]().cached(4)),
    ("static", lambda m: m["Base"].static(4)),
    ("calls", lambda m: m["Derived"]().calls(4)),
    ("generates", lambda m: list(m["generates"](4))),
    ("itself", lambda m: m["itself"](4)),
]


class Declines:
    """What functions ask that always run in Python."""

    probe = Probe()

    def __init__(self, site: Site) -> None:
        self.site = site
        self.begun: list[tuple[Any, ...]] = []
        self.ended = 0

    def begin(self, *args: Any, **keywords: Any) -> bool:
        self.begun.append((*args, keywords))
        return False

    def failed(self) -> bool:
        raise AssertionError

    def error(self) -> BaseException:
        raise AssertionError

    def result(self) -> Any:
        raise AssertionError

    def end(self) -> None:
        self.ended += 1

    def made(self, function: Any) -> Any:
        return function


class Serves(Declines):
    """The same of functions that never run in Python: compiled code has their result, or an error."""

    error_of: BaseException | None = None

    def begin(self, *args: Any, **keywords: Any) -> bool:
        return True

    def failed(self) -> bool:
        return self.error_of is not None

    def error(self) -> BaseException:
        assert self.error_of is not None
        return self.error_of

    def result(self) -> Any:
        return self.site.name


def modules(
    tmp_path: Path, kind: type[Declines] = Declines
) -> tuple[dict[str, Any], dict[str, Any], dict[str, Declines]]:
    """The module as it is, as it is rewritten, and what its functions ask."""
    path = tmp_path / "module.py"
    path.write_text(TEXT)
    asked: dict[str, Declines] = {}

    def hooks(site: Site, plain: types.CodeType) -> Declines:
        asked[site.name] = kind(site)
        return asked[site.name]

    found = []
    for code in (compile(TEXT, str(path), "exec", dont_inherit=True), rewritten(TEXT, str(path), hooks)):
        space: dict[str, Any] = {"__name__": "module", "__file__": str(path)}
        exec(code, space)
        found.append(space)
    return found[0], found[1], asked


def outcome(call: Callable[[dict[str, Any]], Any], module: dict[str, Any], trace: bool) -> tuple[Any, Any, list[Any]]:
    """What a call gives: a result, or how an error is printed; and what a tracer sees."""
    events: list[Any] = []

    before = sys.gettrace()
    try:
        if trace:
            sys.settrace(tracer_of(module["__file__"], events))
        return call(module), None, events
    except Exception:
        sys.settrace(before)
        told = traceback.format_exc().splitlines()
        return None, [line for line in told if "test_rewriting" not in line], events
    finally:
        sys.settrace(before)


@pytest.mark.parametrize("trace", [False, True])
@pytest.mark.parametrize("name", [name for name, _ in CALLS])
def test_functions_are_the_same(name: str, trace: bool, tmp_path: Path) -> None:
    plain, asking, asked = modules(tmp_path)
    call = dict(CALLS)[name]
    assert outcome(call, asking, trace) == outcome(call, plain, trace)
    assert all(one.ended == len(one.begun) for one in asked.values())


def test_which_functions_ask(tmp_path: Path) -> None:
    _, asking, asked = modules(tmp_path)
    assert set(asked) == {
        "mixed", "fails", "tries", "short", "outer", "Base.cached", "Base.static", "Base.__secret", "Base.calls",
        "Derived.calls",
    }  # fmt: skip
    asking["mixed"](1, 5, 6, key=7, z=8)
    asking["Derived"]().calls(3)
    assert asked["mixed"].begun == [(1, 5, 6, {"key": 7, "z": 8})]
    assert len(asked["Base.__secret"].begun) == len(asked["Base.calls"].begun) == 1


def test_what_readers_find(tmp_path: Path) -> None:
    plain, asking, _ = modules(tmp_path)
    for name in ("mixed", "fails", "tries", "short", "outer"):
        one, two = plain[name], asking[name]
        assert inspect.getsource(one) == inspect.getsource(two)
        assert inspect.signature(one) == inspect.signature(two)
        assert one.__doc__ == two.__doc__
        for attribute in ("co_varnames", "co_firstlineno", "co_freevars", "co_cellvars", "co_flags", "co_qualname"):
            assert getattr(one.__code__, attribute) == getattr(two.__code__, attribute), attribute
        assert plain_code(two.__code__) == one.__code__


def test_compiled_code_takes_calls(tmp_path: Path) -> None:
    _, asking, asked = modules(tmp_path, Serves)
    assert asking["mixed"](1) == "mixed"
    assert asking["Derived"]().calls(2) == "Derived.calls"
    one = asked["fails"]
    assert isinstance(one, Serves)
    one.error_of = KeyError("of compiled code")
    with pytest.raises(KeyError, match="of compiled code") as error:
        asking["fails"](1)
    assert [entry.name for entry in error.traceback][-1] == "fails"


def test_modules_whose_compilers_read_functions(tmp_path: Path) -> None:
    text = "import numba\ndef a(x):\n    return [v for v in x]\ndef b(x):\n    return [v for v in x]\n"
    text += "fast = numba.njit(a)\nb([1])\n"
    asked: list[str] = []

    def hooks(site: Site, plain: types.CodeType) -> Declines:
        asked.append(site.name)
        return Declines(site)

    rewritten(text, "text.py", hooks)
    assert asked == ["b"]
    with pytest.raises(SyntaxError):
        rewritten("def f(:\n", "text.py", hooks)


def test_warnings_of_syntax_come_once() -> None:
    with pytest.warns(SyntaxWarning) as found:
        rewritten('def f(x):\n    return [x is 1 for _ in x]\n', "text.py", lambda site, plain: Declines(site))
    assert len(found) == 1


@pytest.mark.parametrize("name", ["statistics", "difflib", "heapq", "fractions", "random", "bisect"])
def test_pythons_own_modules(name: str) -> None:
    """Their doctests pass, and every function that asks is told when it has ended."""
    spec = importlib.util.find_spec(name)
    assert spec is not None and spec.origin is not None
    asked: list[Declines] = []

    def hooks(site: Site, plain: types.CodeType) -> Declines:
        asked.append(Declines(site))
        return asked[-1]

    module = types.ModuleType(name)
    module.__dict__.update(__file__=spec.origin, __spec__=spec)
    before = sys.modules.get(name)
    sys.modules[name] = module
    try:
        exec(rewritten(Path(spec.origin).read_bytes(), spec.origin, hooks), module.__dict__)
        assert doctest.testmod(module).failed == 0
    finally:
        if before is None:
            del sys.modules[name]
        else:
            sys.modules[name] = before
    assert asked and all(one.ended == len(one.begun) for one in asked)
