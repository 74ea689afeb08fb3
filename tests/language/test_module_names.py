"""Names of modules that functions bind anew or change in place, and those that are other numbers from call to call."""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"
from __future__ import annotations

import copy
import importlib.util
import types
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import transkern
from tests.tools import on_target
from tests.trust.against_python import outcome

MODULE = '''
import numpy as np
accepted, attempted, T, best = 0, 0, 1.5, None
grid, parent, path = np.zeros(4), [0, 1, 2, 3], []
cache, pairs, nested, big = {}, [(1, 2)], [[0] * 3 for _ in range(3)], [[0] * 3 for _ in range(30)]
RATE, AXIS, alias = 0.5, 0, grid
class Settings: pass
settings = Settings()
settings.n, settings.w = 0, np.ones(3)
def helper(v):
    global accepted
    if v > 0: accepted += 1
    return v * T
def loop(x):
    global attempted
    s = 0.0
    for i in range(len(x)):
        attempted += 1
        s += helper(x[i])
    return s, attempted + accepted
def raises(x):
    global accepted
    for v in x:
        accepted += 1
        if v < -1: raise ValueError(f"bad {accepted}")
    return accepted
def arrays(x):
    global grid
    grid = np.append(x, 0.5) + len(grid)
    grid[0] = 7
    return grid.sum()
def in_place(x):
    grid[1] += x.sum()
    np.add(grid, 1, out=grid)
    return grid[1]
def by_another_name(x):
    alias[2] = x.sum()
    return grid[2], grid.sum()
def lists(x):
    global parent
    parent[len(x)] = 9
    parent = parent[::-1]
    return parent
def appends(x):
    global path
    path = path + [len(x)]
    path.append(5)
    return len(path)
def best_of(x):
    global best
    for v in x:
        if best is None or v > best: best = v
    return best
def calls(n):
    global attempted
    attempted += 1
    return 1 if n <= 1 else calls(n - 1) + calls(n - 2)
def recursion(x):
    return calls(len(x) + 2)
def nested_function(x):
    global accepted
    def inner(v):
        global accepted
        accepted += 2
        return v + accepted
    accepted = 10
    return [inner(v) for v in x]
def branches(x):
    global T
    if len(x) > 1: T = 2.5
    else: T *= 2
    while T > 2: T -= 0.25
    return x * T
def swaps(x):
    global accepted, attempted
    accepted, attempted = attempted, accepted
    return accepted - attempted
class Counter:
    def __init__(self): self.n = 0
    def go(self, x):
        global accepted
        self.n += 1
        accepted += self.n
        return x * RATE
def methods(x):
    c = Counter()
    for i in range(3): x = c.go(x)
    return x, c.n
def comprehension(x):
    global accepted
    accepted = int(sum(v > accepted for v in x))
    return [accepted * v for v in x]
def other_type(x):
    global accepted
    accepted = accepted + 0.5
    return accepted
def caught(x):
    global attempted
    for v in x:
        attempted += 1
        try:
            if v < 0: raise ValueError("less")
        except ValueError:
            attempted += 100
    return attempted
def handed_out(x):
    global grid
    grid = x
    return grid
def remembered(x):
    k = len(x)
    if k in cache: return cache[k]
    cache[k] = k * k
    return -cache[k]
def of_rows(x):
    nested[1][2] = len(x)
    big[2][1] = len(x)
    pairs.append((len(x), 0))
    return nested, len(pairs)
def of_an_object(x):
    settings.n += len(x)
    settings.w[0] += x.sum()
    return settings.n
def swaps_arrays(x):
    global grid, alias
    grid, alias = alias + 1, grid
    return grid.sum() - alias.sum()
'''
FUNCTIONS = [
    "loop", "raises", "arrays", "in_place", "by_another_name", "lists", "appends", "best_of", "recursion",
    "nested_function", "branches", "swaps", "methods", "comprehension", "other_type", "caught", "handed_out",
    "remembered", "of_rows", "of_an_object", "swaps_arrays",
]  # fmt: skip
ONLY_CPU = {"remembered", "of_rows", "recursion"}
ARGUMENTS = [np.array([1.0, -0.5, 2.0]), np.array([-2.0, 3.0]), np.array([]), np.array([np.nan])]


def module(folder: Path) -> types.ModuleType:
    """A new module of this text."""
    file = folder / "simulated.py"
    file.write_text(MODULE, encoding="utf-8")
    spec = importlib.util.spec_from_file_location("simulated", file)
    assert spec is not None and spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


def data(space: types.ModuleType) -> list[str]:
    """What its names stand for, objects by their attributes."""
    found = {k: v for k, v in vars(space).items() if not k.startswith("__") and not callable(v)}
    return [f"{k} {type(v)} {vars(v) if k == 'settings' else v!r}" for k, v in found.items()]


@pytest.mark.parametrize("target", ["cpu", "cuda", "pallas"])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_as_in_python(name: str, target: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if target != "cpu" and (name in ONLY_CPU or FUNCTIONS.index(name) % 3):
        pytest.skip("of the other targets a share")
    on_target(target, monkeypatch)
    plain, space = module(tmp_path), module(tmp_path)
    function, compiled = getattr(plain, name), transkern.compile(getattr(space, name), target=target)
    for x in (*ARGUMENTS, ARGUMENTS[0]):
        assert outcome(compiled, x.copy()) == outcome(function, x.copy())
        assert data(space) == data(plain)


def rates(x):
    return x * RATE + OFFSET[0], x.sum(axis=AXIS)


RATE, OFFSET, AXIS = 0.5, np.arange(100.0), 0


def test_numbers_that_vary(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each value of a rate had a compilation of its own. What must be a constant keeps the code for each."""
    compiled = transkern.compile(rates)
    x = np.arange(6.0).reshape(2, 3)
    for k in range(6):
        monkeypatch.setitem(globals(), "RATE", 0.5 * k)
        monkeypatch.setitem(globals(), "OFFSET", np.arange(100.0) + k)
        np.testing.assert_equal(compiled(x), rates(x))
    made = compiled.cache_info()
    assert made.compiled + made.from_disk == 2
    for k in (1, 0, 1, 0):
        monkeypatch.setitem(globals(), "AXIS", k)
        np.testing.assert_equal(compiled(x), rates(x))
    assert made.compiled + made.from_disk <= 4


def small(z):
    z[0] = 5
    return FEW[0]


def large(z):
    z[0] = 5
    return MANY.sum()


FEW, MANY = np.zeros(3), np.zeros(100)


@pytest.mark.parametrize(("function", "array"), [(small, FEW), (large, MANY)])
def test_changed_by_way_of_an_argument(function: Any, array: Any) -> None:
    """What the function reads from outside is an argument of it, too: it was read as before the change."""
    compiled = transkern.compile(function)
    for given in (np.ones(len(array)), array, array[1:], np.ones(len(array)), array):
        before = array.copy()
        wanted, after = function(given), array.copy()
        array[...] = before
        assert compiled(given) == wanted
        np.testing.assert_equal(array, after)
        array[...] = 0


def counted(x):
    global COUNT
    COUNT += 1
    return x + COUNT


def around():
    COUNT = 100

    def inside(x):
        return counted(x) + COUNT

    return inside


COUNT = 0


def test_names_of_the_function_around_come_first(monkeypatch: pytest.MonkeyPatch) -> None:
    for _ in range(2):
        monkeypatch.setitem(globals(), "COUNT", 0)
        wanted = around()(1)
        monkeypatch.setitem(globals(), "COUNT", 0)
        assert transkern.compile(around())(1) == wanted == 102


def test_verified(tmp_path: Path) -> None:
    """NumPy's run, with which calls are compared, changed the names as well."""
    plain, space = module(tmp_path), module(tmp_path)
    for name in ("loop", "in_place", "of_an_object"):
        compiled = transkern.compile(getattr(space, name), verify=True)
        for x in ARGUMENTS[:2]:
            assert outcome(compiled, x) == outcome(getattr(plain, name), x)
            assert data(space) == data(plain)


def test_text_of_names(tmp_path: Path) -> None:
    """`emit` and `explain` take the names as they are, without a call."""
    compiled = transkern.compile(module(tmp_path).loop)
    assert "simulated_accepted: int" in compiled.emit(types="f(float64[n])")
    assert "1 kernel" in compiled.explain(types="f(float64[n])")


def test_bound_anew_by_others(tmp_path: Path) -> None:
    space = module(tmp_path)
    compiled = transkern.compile(space.in_place)
    grid = space.grid
    compiled(ARGUMENTS[0])
    assert space.grid is grid
    space.grid = copy.deepcopy(grid)  # the next call changes that one
    compiled(ARGUMENTS[0])
    assert space.grid[1] != grid[1]
