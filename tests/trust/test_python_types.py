"""Lists, tuples, numbers, texts, dicts and sets are Python's: what has no operator, method or item there has none here.

Every pair of types under every operator, as Python evaluates it and as compiled code does: the same value or the same
exception, or a refusal; never another answer.
"""

from __future__ import annotations

import warnings
from collections import namedtuple
from typing import Any

import numpy as np
import pytest

import transkern
from tests.tools import TARGET_TOOLS, require
from tests.trust.against_python import difference, refused
from transkern.frontend.context import Context
from transkern.frontend.values import python_types
from transkern.frontend.values.values import Seq

ARGUMENTS: dict[str, Any] = {
    "i": 3, "f": 2.5, "c": 1 + 2j, "b": True, "x": np.arange(1.0, 3.0), "k": np.arange(1, 3), "z": np.array(2.0),
    "g": np.float64(1.5), "h": np.int64(2), "w": np.float32(0.5), "l": [1, 2], "p": (1.5, 2.5), "s": "ab", "n": None,
    "d": {"a": 1.5}, "m": [1.5, 2.5],
}  # fmt: skip
LITERALS = ("3", "2.5", "None", "'ab'", "[1, 2]", "(1, 2)", "{'a': 1}", "{1, 2}", "range(3)", "[]", "len")
RUN_TIME = ("i", "f", "c", "x", "z", "g", "w", "l", "p")
BINARY = ("+", "*", "-", "/", "%", "@", "&", "<<")
COMPARED = ("<", ">=", "==", "in")
OTHER_CASES = {"3 / c", "i / c"}  # of which NumPy, which runs the program here, has another last bit


def differences(texts: list[str]) -> list[str]:
    parameters, args = ", ".join(ARGUMENTS), tuple(ARGUMENTS.values())
    found = (difference(t, parameters, args, stage=0) for t in texts if t not in OTHER_CASES)
    return [d for d in found if d]


@pytest.mark.parametrize("operator", [*BINARY, *COMPARED])
def test_every_pair_of_types_under_every_operator(operator: str) -> None:
    names = (*LITERALS, *RUN_TIME)
    pairs = [(a, b) for a in names for b in names if a in RUN_TIME or b in RUN_TIME or operator in ("+", "<")]
    assert differences([f"{a} {operator} {b}" for a, b in pairs]) == []


FEW = ("3", "None", "'ab'", "[1, 2]", "(1, 2)", "{1, 2}", "range(3)", "f", "g", "l", "p")


@pytest.mark.parametrize("operator", ["//", "|", "^", ">>", "!=", "<=", ">", "not in"])
def test_fewer_types_under_the_other_operators(operator: str) -> None:
    assert differences([f"{a} {operator} {b}" for a in FEW for b in FEW]) == []


ATTRIBUTES = (
    "shape", "dtype", "T", "real", "imag", "ndim", "size", "numerator", "foo", "flat", "sum()", "mean()", "astype(int)",
    "conjugate()", "is_integer()", "bit_length()", "copy()", "tolist()", "item()", "max()", "reshape(1)", "index(1)",
    "count(1)", "keys()", "upper()", "fill(0)", "round()",
)  # fmt: skip
OWNERS = ("3", "(2.5)", "True", "None", "'ab'", "[1, 2]", "(1, 2)", "{'a': 1}", "{1, 2}", "range(3)", "i", "f", "c",
          "b", "g", "l", "p", "d")  # fmt: skip


def test_attributes_and_methods() -> None:
    assert differences([f"({v}).{a}" for v in OWNERS for a in ATTRIBUTES]) == []


CALLS = (
    "abs({})", "len({})", "int({})", "float({})", "complex({})", "bool({})", "round({})", "divmod({}, 2)",
    "pow({}, 2)", "sum({})", "max({})", "min({}, 1)", "sorted({})", "{}[0]", "{}['a']", "{}[0:1]", "{}[1.5]", "-{}",
    "~{}", "not {}", "[v for v in {}]", "any({})", "ord({})", "math.sqrt({})", "math.floor({})", "np.sum({})",
    "[1, 2][{}]", "'abc'[{}]", "(1, 2, 3)[{}]", "{{1: 2}}.get({})", "1 in {}",
)  # fmt: skip
GIVEN = ("3", "2.5", "None", "'ab'", "[1, 2]", "(1.5, 2)", "{1, 2}", "range(3)", "i", "f", "c", "b", "g", "l", "p", "d")


def test_functions_and_subscripts() -> None:
    assert differences([t.format(v) for v in GIVEN for t in CALLS]) == []


STATEMENTS = (
    "l += 1", "l += [3]", "l += (3,)", "l += x", "l += g", "l -= 1", "l *= 2", "p += 1", "p += (1,)", "i += 'a'",
    "i -= None", "f += [1]", "d |= {'z': 2}", "d += 1", "s += 1", "s += 'c'", "n += 1", "i @= 2", "i += x", "f += p",
    "a = [1]\nl = a\na *= 2", "a = [1]\nl = a\na += (2,)", "o = {'k': [1]}\nl = o['k']\no['k'] *= 2",
    "a = {1}\nl = a\na |= {2}\nl = len(l)", "a = l\na += a",
)  # fmt: skip


def test_operators_in_place() -> None:
    assert differences([f"{t}\nreturn {t.splitlines()[-1][0] if len(t) < 16 else 'l'}" for t in STATEMENTS]) == []


CONTAINERS = (
    "{1: 2}.get(b)", "{1: 2}[True]", "{1.0: 2}[1]", "d = {1: 2}\nd[True] = 3\nreturn d[1.0], len(d)", "len({1, 1})",
    "[v for v in {3, 1, 2}]", "len({i, 3})", "i in {3, i}", "[v for v in {'a': 1}.keys()]", "{'a': 1}.keys()[0]",
    "sum({'a': 1, 'b': 2}.values())", "list({'a': 1}.items())", "np.array({'a': 1}.values())", "{1, 2} < {1, 3}",
    "{1, 2} == {2, 1}", "sorted({1, 2} | {3})", "{'a': 1} == {'b': 1}", "{'a': 1, 'b': 2} == {'b': 2, 'a': 1}",
    "{'a': 1} == {'a': True}", "[1, 2] == [1.0, 2.0]", "(1, 'a') < (1, 2)", "d.values() == d.values()", "str({1, 2})",
    "sorted(range(3))", "range(3) == range(0, 3, 1)", "x in l", "z in {1, 2}",
)  # fmt: skip


def test_dicts_sets_and_ranges() -> None:
    assert differences(list(CONTAINERS)) == []


def test_what_is_not_refused() -> None:
    texts = ["p + 1", "[x, x] + 1", "(3).sum()", "l - 1", "i.shape", "p.T", "[1].sum()", "f.astype(int)", "abs(p)",
             "l < 1", "p == 1", "{1, 2} < {1, 3}", "-l", "1 in i", "d['a'] + s"]  # fmt: skip
    parameters, args = ", ".join(ARGUMENTS), tuple(ARGUMENTS.values())
    assert [t for t in texts if refused(t, parameters, args)] == []


def test_through_the_whole_compiler() -> None:
    require(*TARGET_TOOLS["cpu"])
    with pytest.raises(TypeError, match="can only concatenate tuple"):
        transkern.compile(lambda x: x + 1)((1.0, 2.0))
    with pytest.raises(AttributeError, match="'float' object has no attribute 'shape'"):
        transkern.compile(lambda x: x.shape)(1.5)


def test_what_python_is_asked_with_is_made_anew() -> None:
    texts = ["a = [1, i]\na += [2]\nreturn len(a)", "a = {1}\na |= {2}\nreturn len(a)", "l += [3]\nreturn l"]
    for _ in range(30):  # doubled thirty times, a list of one element has a thousand million
        assert differences(texts) == []
    ctx = Context(("",), "file.py")
    assert python_types.example(ctx, Seq((), "list")) == [1]
    assert python_types.example(ctx, Seq((), "set")) == set()


def test_slices_of_sequences_want_integers() -> None:
    sequences, slices = ("()", "(1, 2)", "[]", "[i, 2]", "p"), ("f:", ":g", "1:2:'a'", "h:", "b:")
    texts = [f"return {of}[{at}]" for of in sequences for at in slices]
    assert differences(texts) == []


def test_stores_into_empty_lists() -> None:
    stores = [f"a[{k}] = {v}" for k in ("0", "i", "-1") for v in ("1", "f", "w", "x")]
    assert differences([f"a = []\n{store}\nreturn a" for store in stores]) == []


def test_a_tuple_is_one_subscript_to_python() -> None:
    owners = ("[i, 2]", "(i, 2)", "l", "p", "'ab'", "range(3)", "{'a': i}", "d", "x", "m")
    subscripts = ("(0,)", "0,", "(i - 3,)", "(slice(0, 1),)", "('a',)")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert differences([f"{of}[{at}]" for of in owners for at in subscripts]) == []
        owners = ("[i, 2]", "l", "x", "{'a': i}")
        stores = [f"a = {of}\na[{at}] = 5\nreturn a" for of in owners for at in subscripts[:3]]
        assert differences([*stores, "a = [i, 2]\na[0,] += 1\nreturn a"]) == []


NARROW = ("np.uint8", "np.int8", "np.uint64", "np.int64", "np.float32", "bool")


LISTED = ("[0, -1, 2]", "[0, 300, 2]", "[1.5, -2.5, 3.0]", "[1, 2, 3]", "[2.0, 1e30, 3.0]", "[-(2.0**63), np.nan, 1.0]")


@pytest.mark.parametrize("values", LISTED)
def test_numbers_of_lists_are_held_by_the_type_they_go_into(values: str) -> None:
    made = "a = []\nfor v in given:\n    a.append(v)\n"
    texts = [f"{made}return np.array(a, {dtype})" for dtype in NARROW]
    texts += [f"{made}b = np.zeros(3, {dtype})\nb[:] = a\nreturn b" for dtype in NARROW]
    texts += [f"{made}b = np.zeros({shape}, np.uint8)\nb[...] = a\nreturn b" for shape in ("7", "(2, 3)", "()")]
    found = (difference(text, "given", (eval(values),), stage=0) for text in texts)
    assert [d for d in found if d] == []


F32, I8, U64 = (np.arange(3, dtype=dtype) for dtype in ("float32", "int8", "uint64"))


@pytest.mark.parametrize("x", [F32, I8, U64, F32.astype("float16"), F32.astype("complex64"), F32 > 1])
@pytest.mark.parametrize("k", [2, 2.5, True, np.float32(3), np.int16(4)])
def test_numbers_beside_others_in_a_display_have_their_own_types(x: Any, k: Any) -> None:
    texts = (
        "np.array([x[0], k])", "np.array((k, x[1], k))", "[x[0], k] + x[:2]", "np.array([[x[0], k], [k, x[1]]])",
        "np.sum([x[0], k])", "np.stack([x[0], k])", "np.append(x, k)", "np.concatenate((x, [k, x[0]]))",
        "np.where(x > 1, [x[0], k, k], x)", "np.full(2, [k, x[1]])", "np.outer([x[0], k], x)", "np.hstack((x, k))",
    )  # fmt: skip
    assert not [found for text in texts if (found := difference(text, "x, k", (x, k), stage=0))]


@pytest.mark.parametrize("k", [2, 0, -1, True, np.int64(2), np.uint8(3), np.int64(-2), np.uint64(2**63)])
def test_integers_repeat_lists(k: Any) -> None:
    texts = (
        "s * k", "k * s", "a = []\nfor v in s: a.append((v, 1))\na * k", "[1, 2.0] * k", "(s[0], 'a') * k",
        "a = []\nfor v in s: a.append(v)\nc = k * a\nc.append(9.0)\nreturn a, c",
    )  # fmt: skip
    assert not [found for text in texts if (found := difference(text, "s, k", ([1.0, 2.0], k)))]


def test_what_is_no_count_does_not_repeat() -> None:
    given = (np.float32(3), np.bool_(True), 1.5, np.array(2), np.array([2, 3]), None, "a")
    assert not [found for k in given if (found := difference("s * k", "s, k", ([1.0, 2.0], k)))]


def test_known_numbers_of_any_size_are_compared_with_arrays_of_one() -> None:
    texts = ("x == y", "x < y", "y >= x", "np.not_equal(x, y)")
    given = [(2**65 + 1, np.array(4, dtype)) for dtype in ("uint32", "int8", "float64", "uint64", "bool")]
    assert not [found for args in given for text in texts if (found := difference(text, "x, y", args))]


def test_what_is_no_attribute_slice_or_count_is_said_by_python() -> None:
    cases = (
        ("a.T, a[::-1]", len), ("'abc'[a:]", "x"), ("'abc'[a:]", 1.5), ("'abc'[:a]", [1]), ("'abc'[::a]", 0),
        ("np.digitize(np.zeros(2), [0, a])", 1j),
    )  # fmt: skip
    assert not [found for text, a in cases if (found := difference(text, "a", (a,)))]


Two = namedtuple("Two", "one two")


def test_named_tuples_are_named_where_they_are_no_subscripts() -> None:
    texts = ("(2, 1)[p]", "[2, 1][p]", "'ab'[p]", "range(3)[p]", "np.zeros((3, 3))[p]", "np.zeros(3)[p]")
    assert not [found for text in texts if (found := difference(text, "p", (Two(1, 2),)))]


def test_a_mask_of_all_axes_takes_a_row_of_values() -> None:
    values = ([np.zeros(3)], [[1.0, 2.0, 3.0]], np.ones((1, 1)), [1.0, 2.0, 3.0], 4.0, np.ones(1), Two(np.ones(3), 1))
    texts = ("x[x > 1] = p\nx", "x[(x > 1,)] = p\nx", "x[:] = p\nx", "x[x > 9] = p\nx")
    given = [(np.arange(5.0), v) for v in values[:-1]] + [(np.arange(6.0).reshape(2, 3), v) for v in values[:-1]]
    assert not [found for args in given for text in texts if (found := difference(text, "x, p", args))]


def test_stores_into_views_without_elements() -> None:
    """What `reshape` gives is not read-only, what `broadcast_to` gives is: without elements they look the same."""
    texts = ("v = x[1:].reshape(2, -1)\nv[0] = 2\nx", "v = np.broadcast_to(x[1:], (3, len(x) - 1))\nv[0] = 2\nx")
    assert not [found for t in texts for n in (1, 5) if (found := difference(t, "x", (np.arange(float(n)),)))]


SUMS = (
    "sum([[1], [2]], [])", "sum([[1, 2], [3]], [])", "sum([[v[0]], [v[1], 2.5]], [])", "sum(((1,), (2, 3)), ())",
    "sum([[k] * 2 for k in range(n)], [])", "sum([], [])", "sum([[]], [])", "sum([v, v], v)", "sum([[1], [2]], [5])",
    "sum([[1]])", "sum((a for a in v), 10)", "sum([a for a in v], start=2)", "sum([[a] for a in v], [])",
    "sum(((a, 1) for a in v), ())", "sum([(1,)])",
)  # fmt: skip


@pytest.mark.parametrize("made", SUMS)
def test_sums_of_lists(made: str) -> None:
    """`sum(lists, [])` was a TypeError."""
    found = difference(f"return {made}", "v, n", [np.array([1.0, 2.0]), 3], stage=0)
    assert not found, found
