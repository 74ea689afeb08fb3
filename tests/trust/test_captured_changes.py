"""What a function finds outside may change in place: the next call computes with what is there then, as Python does."""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"
from __future__ import annotations

import collections
import functools
import os
import string
import subprocess
import sys
import types
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

import transkern
from transkern.errors import CompileError

K = 2.0
NUMBERS = [1.0, 2.0]
MANY = [float(k) for k in range(20)]
NAMED = {"a": 1.0}
SET = {10.0, 1.0, 2.0, 3.0}
SMALL = np.arange(3.0)
LARGE = np.arange(100.0)
TURNED = np.asfortranarray(np.arange(600.0).reshape(20, 30))
NESTED = [[1.0], {"k": [2.0]}]
QUEUE = collections.deque([1.0, 2.0])
SPACE = types.SimpleNamespace(a=1.0, b=[1.0])
CONFIG = types.ModuleType("config_of_the_test")
CONFIG.LIMIT = 3.0
CONFIG.inner = types.ModuleType("config_of_the_test.inner")
CONFIG.inner.DEPTH = 4
string.LIST, string.NUMBER = [1.0], 3
os.environ["OF_THE_TEST"] = "short"


def helper(x, k=2.0, *, m=1.0):
    return x * k + m


class Model:
    gain = 2.0
    limits = [1.0, 2.0]  # noqa: RUF012

    def __init__(self):
        self.v, self.w, self.parts, self.calls = 3.0, np.arange(3.0), [1.0], 0

    def applied(self, x):
        return x * self.v * self.gain + self.limits[0]

    @property
    def most(self):
        return self.v + 1

    @staticmethod
    def shifted(x):
        return x + 1.0

    def __add__(self, other):
        return self.v + other

    def __len__(self):
        return len(self.parts)


class Slotted:
    __slots__ = ("q",)


@dataclass
class Settings:
    rate: float = 1.0
    parts: list = field(default_factory=lambda: [1.0])


class Asked(Mapping):
    def __init__(self):
        self.held = {"k": 2.0}

    def __getitem__(self, key):
        return self.held[key] * K

    def __iter__(self) -> Iterator[Any]:
        return iter(self.held)

    def __len__(self):
        return len(self.held)


MODEL, SLOTTED, SETTINGS, ASKED = Model(), Slotted(), Settings(), Asked()
SLOTTED.q = 1.0


def inner(x):
    return helper(x) * K


def closed(k):
    def change(value):
        nonlocal k
        k = value

    def f(x):
        return x * k

    return f, change


CLOSED, CHANGE = closed(2.0)
PART = functools.partial(helper, k=3.0)
BOUND = MODEL.applied


def mutate(owner, name, value):
    return lambda: setattr(owner, name, value)


def put(owner, key, value):
    return lambda: owner.__setitem__(key, value)


def bind(name, value):
    return lambda: globals().__setitem__(name, value)


CHANGES = [
    ("a global", lambda x: x * K, bind("K", 3.0)),
    ("1 for True", lambda x: x * K, bind("K", True)),
    ("a zero's sign", lambda x: np.copysign(x, K), bind("K", -0.0)),
    ("a global of a function that is called", inner, bind("K", 5.0)),
    ("a module under a name", lambda x: np.sqrt(x), bind("np", types.SimpleNamespace(sqrt=helper, signbit=np.signbit))),
    ("an item", lambda x: x * NUMBERS[0], put(NUMBERS, 0, 5.0)),
    ("a length", lambda x: x * len(NUMBERS), lambda: NUMBERS.append(4.0)),
    ("an order", lambda x: x * NUMBERS[0] + NUMBERS[1], lambda: NUMBERS.reverse()),
    ("an item of many", lambda x: x + sum(MANY), put(MANY, 7, 500.0)),
    ("a value of a dict", lambda x: x * NAMED["a"], put(NAMED, "a", 7.0)),
    ("a key of a dict", lambda x: x * len(NAMED), put(NAMED, "c", 7.0)),
    ("a set", lambda x: x * len(SET), lambda: SET.add(9.0)),
    ("an element", lambda x: x * SMALL[1], put(SMALL, 1, 6.0)),
    ("a shape", lambda x: x * SMALL.shape[0], mutate(SMALL, "shape", (1, 3))),
    ("an element of many", lambda x: x + LARGE.sum(), put(LARGE, 3, 900.0)),
    ("an element in another order", lambda x: x + TURNED[1, 2], put(TURNED, (1, 2), 90.0)),
    ("a list in a list", lambda x: x * NESTED[0][0], put(NESTED[0], 0, 8.0)),
    ("a list in a dict in a list", lambda x: x * NESTED[1]["k"][0], put(NESTED[1]["k"], 0, 8.0)),
    ("a namespace", lambda x: x * SPACE.a, mutate(SPACE, "a", 3.0)),
    ("a list of a namespace", lambda x: x * SPACE.b[0], put(SPACE.b, 0, 3.0)),
    ("a name of a module", lambda x: x * CONFIG.LIMIT, mutate(CONFIG, "LIMIT", 4.0)),
    ("a name of a module of a module", lambda x: x * CONFIG.inner.DEPTH, mutate(CONFIG.inner, "DEPTH", 9)),
    ("an attribute", lambda x: x * MODEL.v, mutate(MODEL, "v", 4.0)),
    ("an attribute in a method", lambda x: MODEL.applied(x), mutate(MODEL, "v", 5.0)),
    ("an attribute in a property", lambda x: x * MODEL.most, mutate(MODEL, "v", 6.0)),
    ("an attribute in an operator", lambda x: MODEL + x, mutate(MODEL, "v", 7.0)),
    ("an attribute in a length", lambda x: x * len(MODEL), lambda: MODEL.parts.append(1.0)),
    ("an array of an object", lambda x: x * MODEL.w[2], put(MODEL.w, 2, 8.0)),
    ("a class's attribute", lambda x: MODEL.applied(x), mutate(Model, "gain", 3.0)),
    ("a class's list", lambda x: MODEL.applied(x), put(Model.limits, 0, 4.0)),
    ("an attribute that hides the class's", lambda x: MODEL.applied(x), mutate(MODEL, "gain", 9.0)),
    ("a method", lambda x: MODEL.applied(x), mutate(Model, "applied", lambda self, x: x - self.v)),
    ("a static method", lambda x: MODEL.shifted(x), mutate(Model, "shifted", staticmethod(lambda x: x - 1))),
    ("an object's class", lambda x: SETTINGS.rate * x, mutate(SETTINGS, "rate", 3.0)),
    ("what a class makes", lambda x: Settings().parts[0] * x, mutate(Settings, "__init__", Settings.__init__)),
    ("a slot", lambda x: x * SLOTTED.q, mutate(SLOTTED, "q", 4.0)),
    ("a closure", CLOSED, lambda: CHANGE(5.0)),
    ("defaults", lambda x: helper(x), mutate(helper, "__defaults__", (9.0,))),
    ("defaults by name", lambda x: helper(x), mutate(helper, "__kwdefaults__", {"m": 4.0})),
    ("code", lambda x: helper(x), mutate(helper, "__code__", (lambda x, k, *, m: x - k).__code__)),
    ("what a partial has", lambda x: PART(x), put(PART.keywords, "k", 1.0)),
    ("an object with a method", lambda x: BOUND(x), mutate(MODEL, "v", 70.0)),
    ("a mapping", lambda x: x * ASKED["k"], put(ASKED.held, "k", 7.0)),
    ("a list of Python's library", lambda x: x * len(string.LIST), lambda: string.LIST.append(2.0)),
    ("a number of Python's library", lambda x: x * string.NUMBER, mutate(string, "NUMBER", 9)),
    ("the environment", lambda x: x * len(os.environ["OF_THE_TEST"]), put(os.environ, "OF_THE_TEST", "longer")),
    ("its names", lambda x: x + (1 if "NEW_IN_THE_TEST" in os.environ else 2), put(os.environ, "NEW_IN_THE_TEST", "")),
    ("what a mapping's method reads", lambda x: x * ASKED["k"], bind("K", 11.0)),
]  # fmt: skip


@pytest.mark.parametrize(("f", "change"), [c[1:] for c in CHANGES], ids=[c[0] for c in CHANGES])
def test_it_is_seen_at_the_next_call(f: Any, change: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(globals(), "np", np)
    compiled = transkern.compile(f)
    for x in (1.5, 2.5):
        assert compiled(x) == f(x)
    made = compiled.cache_info()
    assert made.compiled + made.from_disk == 1  # nothing is made anew where nothing changes
    change()
    now = f(1.5)
    found = compiled(1.5)
    assert found == now and type(found) is type(now) and np.signbit(found) == np.signbit(now)


def test_the_function_itself() -> None:
    """Its code and defaults, as `%autoreload` puts them in."""

    def f(x, k=2.0):
        return x * k

    compiled = transkern.compile(f)
    assert compiled(3.0) == 6.0
    f.__defaults__ = (5.0,)
    assert compiled(3.0) == 15.0
    f.__code__ = (lambda x, k: x - k).__code__
    assert compiled(3.0) == -2.0


class Counted:
    """Of its attributes one is read; the others change all the time."""

    def __init__(self):
        self.k, self.calls, self.cache = 2.0, 0, {}


COUNTED = Counted()


def test_what_is_not_read_has_no_say() -> None:
    compiled = transkern.compile(lambda x: x * COUNTED.k)
    for n in range(5):
        assert compiled(3.0) == 6.0
        COUNTED.calls += 1
        COUNTED.cache[n] = n
        COUNTED.new = n
    assert compiled.cache_info().compiled + compiled.cache_info().from_disk == 1


def of_argument(p, x):
    return p.scaled(x) * p.limit


class Point:
    limit = 3.0

    def __init__(self, k):
        self.k = k

    def scaled(self, x):
        return self.k * x


def test_classes_of_arguments(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled = transkern.compile(of_argument)
    for change in (
        None, ("limit", 4.0), ("scaled", lambda self, x: self.k - x), ("__eq__", lambda self, other: True),
        ("k", property(lambda self: 7.0)),
    ):  # fmt: skip
        if change is not None:
            monkeypatch.setattr(Point, *change, raising=False)
        point = Point.__new__(Point)
        vars(point)["k"] = 2.0
        assert compiled(point, 3.0) == of_argument(point, 3.0), change


def apply(f, x):
    return f(x)


def test_functions_that_are_arguments() -> None:
    given, change = closed(2.0)
    compiled = transkern.compile(apply)
    assert compiled(given, 3.0) == 6.0
    change(4.0)
    assert compiled(given, 3.0) == 12.0


def in_order(x):
    total = x * 0.0
    for v in SET:
        total = total * 2 + v
    return total


def test_sets_have_pythons_order() -> None:
    """They were sorted by their texts."""
    assert transkern.compile(in_order)(1.0) == in_order(1.0)


class Descriptor:
    def __get__(self, owner, kind=None):
        return K


class Computing:
    computed = Descriptor()

    def __getattribute__(self, name):
        return object.__getattribute__(self, name)


COMPUTING = Computing()


def test_attributes_that_hidden_code_computes_are_refused() -> None:
    for f in (lambda x: x * COMPUTING.computed, lambda x: x * Computing.computed):
        with pytest.raises(CompileError, match="descriptor"):
            transkern.compile(f)(1.0)


IN_A_NEW_PROCESS = """
import sys, transkern, numpy as np
sys.path.insert(0, {folder!r})
import captured_in_place as m
compiled = transkern.compile(m.f)
for change in (None, *m.CHANGES):
    if change:
        change()
    for _ in range(2):
        found, wanted = compiled(1.5), m.f(1.5)
        assert found == wanted, (found, wanted)
print(compiled.cache_info().compiled)
"""
MODULE = """
import numpy as np
LIST, ARRAY, LARGE, TURNED = [1.0, 2.0], np.arange(3.0), np.arange(500.0), np.arange(600.0).reshape(20, 30).T
class Model:
    gain = 2.0
    def __init__(self):
        self.v = 3.0
    def applied(self, x):
        return x * self.v * self.gain
model = Model()
def made():
    k = 1.0
    def change():
        nonlocal k
        k = 2.0
    def read(x):
        return x + k
    return read, change
read, change = made()
def f(x):
    return read(model.applied(x)) + LIST[0] + ARRAY[1] + LARGE.sum() + TURNED[0, 1] + len(LIST)
CHANGES = [
    lambda: LIST.append(3.0), lambda: ARRAY.__setitem__(1, 7.0), lambda: LARGE.__setitem__(1, 70.0),
    lambda: TURNED.__setitem__((0, 1), 9.0), lambda: setattr(model, "v", 4.0), lambda: setattr(Model, "gain", 5.0),
    change,
]
"""


def test_what_comes_out_of_the_disk_cache_is_watched_too(tmp_path: Any) -> None:
    (tmp_path / "captured_in_place.py").write_text(MODULE)
    environment = {**os.environ, "TRANSKERN_CACHE_DIR": str(tmp_path / "cache")}
    code = IN_A_NEW_PROCESS.format(folder=str(tmp_path))
    counts = [
        int(subprocess.run([sys.executable, "-c", code], env=environment, check=True, capture_output=True).stdout)
        for _ in range(2)
    ]
    assert counts[0] > 5 and counts[1] == 0
