"""The disk cache takes nothing for the same that is not: what would share a key, or an entry, and must not."""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"
from __future__ import annotations

import collections
import enum
import functools
import itertools
import math
import os
import struct
import subprocess
import sys
import textwrap
import types
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

import transkern
from transkern.frontend.values.types import ArrayType, ConstantType, ScalarType, StructType
from transkern.runtime.caching.fingerprints import of_code, of_type
from transkern.runtime.caching.surveys import Survey


def told(value: Any) -> str:
    return Survey(globals(), {"k", "v", "method"}, lambda array, number: False).of(value)


class Plain:
    def __init__(self, v):
        self.v = v

    def method(self, x):
        return x + self.v

    def __repr__(self):
        return "Plain()"


class Other(Plain):
    def method(self, x):
        return x - self.v


class Quiet(float):
    pass


class Colour(enum.Enum):
    RED = 1
    BLUE = 2


class Named(NamedTuple):
    a: float
    b: float


def with_class(k):
    class Made:
        def method(self, x):
            return x * k

    return Made


def of_globals(k: float) -> Any:
    space: dict[str, Any] = {"__name__": f"space_{k}".replace(".", "_"), "k": k}
    exec("def f(x):\n    return x * k", space)
    return space["f"]


def closure(k):
    return lambda x: x * k


def with_default(k):
    return lambda x, m=k: x * m


def only_by_name(k):
    return lambda x, *, m=k: x * m


def changed(function, **attributes):
    vars(function).update(attributes)
    return function


A = np.arange(6.0)
M = A.reshape(2, 3)
NAN = [struct.unpack("<d", bits.to_bytes(8, "little"))[0] for bits in (0x7FF8000000000000, 0xFFF8000000000001)]
OTHER_THAN = [
    [1, 1.0, True, 1 + 0j, np.int64(1), np.int32(1), np.float64(1), np.float32(1), np.True_, "1", b"1", Quiet(1), None],
    [0.0, -0.0, 0, False, np.float64(0.0), np.float64(-0.0), 0j, complex(-0.0, 0.0), complex(0.0, -0.0), [], (), ""],
    [*NAN, math.inf, -math.inf, np.float32("nan"), np.float64("nan"), math.pi],
    [[1, 2], (1, 2), {1, 2}, frozenset([1, 2]), [2, 1], [1, [2]], [[1], 2], {1: 2}, [1.0, 2],
     collections.deque([1, 2])],
    [["a", "b"], ["a\0b"], ["ab"], ["a", "", "b"], "a, b", ["a, b"], [("a", "b")], {"a": "b"}, "['a', 'b']"],
    [{"a": 1, "b": 2}, {"b": 2, "a": 1}, {"a": 1, "b": True}, {"a": 2, "b": 1}, types.SimpleNamespace(a=1, b=2),
     types.MappingProxyType({"a": 1, "b": 2}), collections.OrderedDict(a=1, b=2), {1: 2}, {True: 2}, {1.0: 2}],
    [A, A[::-1], A[::-1][::-1].astype("f4"), A.reshape(6, 1), M, np.asfortranarray(M), M.T, M.T.copy(), A.astype(">f8"),
     A.view("i8"), A.view("M8[s]"), A.view("m8[s]"), A.view("M8[D]"), list(A), np.ma.masked_array(A), np.asmatrix(M),
     np.arange(12.0)[::2], A + 1, np.array(list(A), object), np.array([0, 1, 2, 3, 4, 5.0], object), A.copy() * -1],
    [np.zeros(2), -np.zeros(2), np.full(2, NAN[0]), np.full(2, NAN[1]), np.zeros((2, 0)), np.zeros((0, 2))],
    [np.dtype("f8"), np.dtype(">f8"), np.dtype("i8"), np.dtype("f8", metadata={"m": 1}), np.dtype([("a", "f8")]),
     np.dtype([("b", "f8")]), np.dtype([("a", "f8")], align=True).newbyteorder(), np.float64, np.dtype("M8[s]"),
     np.dtype({"names": ["a"], "formats": ["f8"], "offsets": [8], "itemsize": 16}), "float64"],
    [np.add, np.subtract, np.frompyfunc(lambda x, y: x, 2, 1), np.add.reduce, np.add.accumulate, np.sum, A.sum,
     math.sin, np.sin, abs, np.abs, np.linalg.norm, len],
    [slice(1), slice(1, None), slice(True), slice(1.0), range(1), range(0, 1, 2), range(2)],
    [Plain(1.0), Plain(1), Plain(True), Plain(-0.0), Other(1.0), Plain([1.0]), Plain(A), Plain, Other, Quiet],
    [with_class(1), with_class(2), with_class(1.0), with_class(1)(), with_class(2)()],
    [Colour.RED, Colour.BLUE, Colour, 1, "RED", enum.Enum("Colour", "RED GREEN").RED],
    [Named(1.0, 2.0), Named(1.0, 2), (1.0, 2.0), Named(2.0, 1.0),
     collections.namedtuple("Named", "a b")(1.0, 2.0), collections.namedtuple("Named", "b a")(1.0, 2.0)],
    [lambda x: x * 0.0, lambda x: x * -0.0, lambda x: x * 0, lambda x: x * False, lambda x: x * 1, lambda x: x * True,
     lambda x: x * 1.0, lambda y: y * 1.0, lambda x: x * "1", lambda x: x + 1.0, lambda x, /: x * 1.0,
     lambda *x: x * 1.0, lambda *, x: x * 1.0, lambda **x: x * 1.0, lambda x, y: x * 1.0],
    [lambda x: x in {0.0, 1}, lambda x: x in {-0.0, 1}, lambda x: x in {0.0, True}, lambda x: x in (0.0, 1),
     lambda x: x in (-0.0, 1), lambda x: x in ((0.0, 1), 2), lambda x: x in ((-0.0, 1), 2)],
    [lambda: (lambda: 0.0), lambda: (lambda: -0.0), lambda: (lambda: 0)],
    [closure(1), closure(1.0), closure(True), closure(-1.0), closure([1]), closure(closure(1)), closure(closure(1.0))],
    [with_default(1), with_default(1.0), with_default(-0.0), with_default(0.0), only_by_name(1), only_by_name(1.0)],
    [of_globals(1.0), of_globals(2.0)],
    [changed(closure(1), k=1), changed(closure(1), k=1.0), closure(1)],
    [functools.partial(max, 1), functools.partial(max, 1.0), functools.partial(min, 1),
     functools.partial(max, 1, key=abs), functools.partial(max), Plain(1).method, Plain(2).method, Other(1).method],
    [property(lambda s: 1), property(lambda s: 2), staticmethod(lambda s: 1), classmethod(lambda s: 1), lambda s: 1],
    [functools.lru_cache(closure(1)), closure(1), functools.lru_cache(closure(2)), transkern.compile(closure(1))],
]  # fmt: skip


@pytest.mark.parametrize("values", OTHER_THAN, ids=range(len(OTHER_THAN)))
def test_values_that_are_told_apart(values: list[Any]) -> None:
    for (k, one), (m, two) in itertools.combinations(enumerate(values), 2):
        assert told(one) != told(two), (k, one, m, two)


def test_values_that_are_the_same() -> None:
    made: list[Any] = [
        lambda: [1, "a", {"b": (2.0, None)}], lambda: np.arange(3.0), lambda: closure([1.0]), lambda: Plain([1.0]),
        lambda: with_class(1), lambda: functools.partial(max, 1), lambda: {"a", "b", "c"}, lambda: np.arange(6.0)[::2],
    ]  # fmt: skip
    for make in made:
        assert told(make()) == told(make())


def test_what_shares_an_object_is_not_what_has_two() -> None:
    shared = [1.0]
    assert told([shared, shared]) != told([[1.0], [1.0]])
    loop: list[Any] = [1.0]
    loop.append(loop)
    assert told(loop) != told([1.0, [1.0]])


def test_code_of_two_functions() -> None:
    def made(text: str) -> types.CodeType:
        return compile(text, "<text>", "eval")

    texts = ["x + 1", "x + 1.0", "x + True", "x + 0.0", "x + -0.0", "y + 1", "x - 1", "x.a", "x['a']", "lambda: x + 1"]
    found = {of_code(made(text)) for text in texts}
    assert len(found) == len(texts)
    assert of_code(made("x + 1")) == of_code(made("x   +   1"))


def test_types_of_arguments() -> None:
    kinds = [
        ArrayType("float64", ("n",)), ArrayType("float64", (3,)), ArrayType("float64", ("n",), "strided"),
        ScalarType("float64", "float"), ScalarType("float64"), ConstantType(1), ConstantType(1.0), ConstantType(True),
        ConstantType("1"), ConstantType((1, 2)), ConstantType((1, True)), ConstantType("(1, 2)"), ConstantType(None),
        ConstantType("None"), ConstantType(slice(1)), ConstantType(np.dtype("f8")),
        ConstantType(0.0), ConstantType(-0.0),
        StructType("dict", (ScalarType("float64"),), ("a",)), StructType("dict", (ScalarType("float64"),), ("b",)),
        StructType("dict", (ScalarType("float64"),), (1,)), StructType("dict", (ScalarType("float64"),), (True,)),
        StructType("record", (ScalarType("float64"),), ("v",), Plain), StructType("tuple", (ScalarType("float64"),)),
        StructType("record", (ScalarType("float64"),), ("v",), Other), StructType("list", (ScalarType("float64"),)),
    ]  # fmt: skip
    assert len({of_type(kind) for kind in kinds}) == len(kinds)
    pairs = [(1, True), (1, 1.0), (0.0, -0.0), (slice(1), slice(True)), (slice(0.0), slice(-0.0)), ((1,), (True,))]
    for one, two in pairs:
        assert ConstantType(one) != ConstantType(two)
        assert ConstantType(one) == ConstantType(one) and hash(ConstantType(one)) == hash(ConstantType(one))


TWINS = """
    import numpy as np
    {before}
    def helper(x):
        return x + {shift}

    def f(x):
        return helper(x) * K {more}
    K = {K}
"""


def test_functions_of_one_bytecode_in_several_modules(tmp_path: Path) -> None:
    """An entry of one module's function was taken for another's: what it had looked at was looked up over there."""
    texts = {
        "one": TWINS.format(before="", K=2.0, shift=1.0, more=""),
        "two": TWINS.format(before="", K=3.0, shift=1.0, more=""),
        "three": TWINS.format(before="", K=2.0, shift=5.0, more=""),
        "four": "import one\nfrom one import helper\nK = 2.0\ndef f(x):\n    return helper(x) * K\n",
        "five": "import three\nfrom three import helper\nK = 2.0\ndef f(x):\n    return helper(x) * K\n",
        "six": "from one import helper as other\nK = 2.0\ndef helper(x):\n    return other(x) * K\n"
               "def f(x):\n    return helper(x) * K\n",
    }  # fmt: skip
    for name, text in texts.items():
        (tmp_path / f"{name}.py").write_text(textwrap.dedent(text))
    use = f"""
        import importlib, sys, transkern, types
        sys.path.insert(0, {str(tmp_path)!r})
        for name in sys.argv[1:]:
            m = importlib.import_module(name)
            assert transkern.compile(m.f)(1.5) == m.f(1.5), name
        text = open({str(tmp_path / "one.py")!r}).read()
        for k in (7.0, 2.0):  # modules of one name, of which one is known by it
            space = {{"__name__": "one"}}
            exec(compile(text, {str(tmp_path / "one.py")!r}, "exec"), space)
            space["K"] = k
            assert transkern.compile(space["f"])(1.5) == space["f"](1.5)
            caller = types.FunctionType(m.f.__code__, {{**vars(m), "helper": space["f"]}})
            assert transkern.compile(caller)(1.5) == caller(1.5)
    """
    environment = {**os.environ, "TRANSKERN_CACHE_DIR": str(tmp_path / "cache")}
    for order in (list(texts), list(texts)[::-1]):
        code = textwrap.dedent(use)
        subprocess.run([sys.executable, "-c", code, *order], env=environment, check=True)


def in_place_in_a_loop(x: Any, n: int) -> Any:
    speed, place, force, mass = x + 1, x * 2, x - 1, x / 2
    for _ in range(n):
        speed += force
        place += speed
        force += mass
        mass += 1
    return speed, place, force, mass


def of_a_function(f: Any, x: Any) -> Any:
    return f(x) + 1


def twice(x: Any) -> Any:
    return x * 2


def test_the_text_is_the_same_in_every_process() -> None:
    """Copies before a loop stood in the order of the names' hashes, and a function's address in a comment."""
    code = """
        import numpy as np, transkern
        from tests.trust.test_fingerprints import in_place_in_a_loop, of_a_function, twice
        held = [object() for _ in range(int(__import__("os").environ["PYTHONHASHSEED"]) * 1000)]
        for function, args in ((in_place_in_a_loop, (np.ones(3), 2)), (of_a_function, (twice, np.ones(3)))):
            compiled = transkern.compile(function, target="cpu")
            compiled(*args)
            print(*(compiled.emit(target) for target in ("cpu", "cuda", "pallas")))
    """
    texts = {
        subprocess.run(
            [sys.executable, "-c", textwrap.dedent(code)], env={**os.environ, "PYTHONHASHSEED": seed},
            check=True, capture_output=True, text=True,
        ).stdout
        for seed in ("1", "2", "5")
    }  # fmt: skip
    assert len(texts) == 1 and " at 0x" not in texts.pop()
