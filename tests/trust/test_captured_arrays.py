"""Arrays that a function finds outside: read where they are, handed out as they are, and never changed unseen."""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"
from __future__ import annotations

import importlib
import sys
from typing import Any

import numpy as np
import pytest

import transkern
from tests.tools import on_target
from tests.trust.against_python import outcome
from transkern.errors import CompileError
from transkern.runtime.emitting import emit_files

LARGE = np.arange(100.0)
SMALL = np.arange(6.0)
TABLE = np.arange(6.0).reshape(2, 3)
TURNED = np.asfortranarray(np.arange(600.0).reshape(20, 30))
STEPPED = np.arange(200.0)[::2]
UNALIGNED = np.frombuffer(bytearray(801), dtype=np.uint8)[1:].view("f8")
HELD = [np.arange(100.0), np.arange(3.0)]
EVERY = (LARGE, SMALL, TABLE, TURNED, STEPPED, UNALIGNED, *HELD)
CHOICES = {"large": LARGE}


def first(a, x):
    a[0] = x
    return a.sum()


def corner(a, x):
    a[0, 0] = x
    return a.sum()


def rows(x):
    for row in TABLE:
        row[0] = x
    return x


def unpacked(x):
    one, two = TABLE
    one[0] = x
    return two.sum()


def in_a_loop(x):
    for k in range(2):
        row = TABLE[k]
        row[1] = x
    return x


def augmented(x):
    part = SMALL[1:]
    part += x
    return part.sum()


def chosen(x):
    a = LARGE if x > 0 else np.zeros(100)
    a[1] = x
    return a.sum()


def handed_on(a):
    return a[1:]


def through_a_function(x):
    a = handed_on(SMALL)
    a[0] = x
    return a.sum()


def sorts(x):
    LARGE.sort()
    return x


def copies_into(x):
    np.copyto(LARGE, x)
    return x


STORES = {
    "a slice": lambda x: first(LARGE[1:], x), "a slice of few": lambda x: first(SMALL[1:], x),
    "a reshape": lambda x: corner(SMALL.reshape(2, 3), x), "a ravel": lambda x: first(TABLE.ravel(), x),
    "a transpose": lambda x: corner(TABLE.T, x), "a new axis": lambda x: corner(SMALL[:, None], x),
    "backwards": lambda x: first(SMALL[::-1], x), "a row": lambda x: first(TABLE[1], x),
    "a real part": lambda x: first(SMALL.real, x), "axes": lambda x: corner(TABLE.swapaxes(0, 1), x),
    "rotated": lambda x: corner(np.rot90(TABLE), x), "at least 2d": lambda x: corner(np.atleast_2d(SMALL), x),
    "moved": lambda x: corner(np.moveaxis(TABLE, 0, 1), x), "itself": lambda x: first(np.asarray(SMALL), x),
    "a part": lambda x: first(np.split(SMALL, 2)[0], x), "in a list": lambda x: first([SMALL[1:]][0], x),
    "in a dict": lambda x: first({"k": SMALL[1:]}["k"], x), "of a list": lambda x: first(HELD[0][1:], x),
    "of a list, few": lambda x: first(HELD[1][1:], x), "turned": lambda x: corner(TURNED[1:], x),
    "with steps": lambda x: first(STEPPED[1:], x), "one of two": lambda x: first(SMALL if x > 0 else SMALL[::-1], x),
    "out=": lambda x: np.add(SMALL, x, out=SMALL[:]).sum(), "out= of all": lambda x: np.add(LARGE, x, out=LARGE).sum(),
    "flat": lambda x: first(LARGE.flat, x), "fill": lambda x: LARGE.fill(x),
    "nan": lambda x: np.nan_to_num(SMALL, copy=False),
    "rows": rows, "unpacked": unpacked, "in a loop": in_a_loop, "augmented": augmented, "chosen": chosen,
    "through a function": through_a_function, "sorts": sorts, "copies into": copies_into,
}  # fmt: skip


def changed(function: Any) -> list[str]:
    """What a function gives in two calls, and what the arrays are behind them; they are put back."""
    before = [a.copy() for a in EVERY]
    told = [repr(outcome(function, x)) for x in (7.5, -3.0)]
    told += map(repr, EVERY)
    for a, then in zip(EVERY, before, strict=True):
        a[...] = then
    return told


@pytest.mark.parametrize("target", ["cpu", "cuda"])
@pytest.mark.parametrize("function", STORES.values(), ids=STORES)
def test_stores_change_them(function: Any, target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the array showed through a slice or a reshape, a copy was changed instead; then all of it was refused."""
    on_target(target, monkeypatch)
    wanted = changed(function)
    assert changed(transkern.compile(function, target=target)) == wanted


def copied(x):
    a, b, c = SMALL.copy(), SMALL + 1, LARGE[[3, 4]]
    a[0], b[0], c[0] = x, x, x
    d = np.where(SMALL > 1, SMALL, 0.0)
    d[0] = x
    return a + b + d, c


def reads(x):
    weights = SMALL[1:]
    total = TURNED[3, 4] + TURNED.sum() + STEPPED[5] + UNALIGNED.sum() + HELD[0][7] + CHOICES["large"].sum()
    return (TURNED * x)[2:, ::3], LARGE[weights.astype(int)] * x, total, SMALL.reshape(2, 3) @ TABLE.T


@pytest.mark.parametrize("target", ["cpu", "cuda", "pallas"])
def test_copies_and_reads(target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of any layout; what each call reads is what is there then, without another compilation."""
    on_target(target, monkeypatch)
    for function in (copied, reads):
        compiled = transkern.compile(function, target=target)
        for change in (0.0, 5.0, -1.0):
            for a in EVERY:
                if a.size > 64:
                    a[...] += change
            for found, wanted in zip(compiled(1.5), function(1.5), strict=True):
                np.testing.assert_array_equal(found, wanted)
        made = compiled.cache_info()
        assert made.compiled + made.from_disk == 1


@pytest.mark.parametrize(
    "function",
    [lambda x: LARGE, lambda x: LARGE[1:], lambda x: (LARGE.reshape(10, 10), x), lambda x: {"a": LARGE},
     lambda x: SMALL, lambda x: TABLE[:, 1], lambda x: TURNED.T, lambda x: HELD],
    ids=["all", "slice", "reshape", "dict", "small", "column", "turned", "list"],
)  # fmt: skip
def test_results_share_memory(function: Any) -> None:
    def leaves(value: Any) -> list[Any]:
        items = value.values() if isinstance(value, dict) else value
        return [value] if not isinstance(value, (list, tuple, dict)) else [a for v in items for a in leaves(v)]

    for found, wanted in zip(leaves(transkern.compile(function)(1.5)), leaves(function(1.5)), strict=True):
        if isinstance(wanted, np.ndarray):
            assert np.shares_memory(found, wanted)
            assert (found.shape, found.strides, found.dtype) == (wanted.shape, wanted.strides, wanted.dtype)


@pytest.mark.parametrize(
    "array", [np.arange(100).astype(">f8"), np.zeros(100, "f8,f8"), np.array(["a", "b"]), np.array([1, None])]
)
def test_arrays_of_other_dtypes_are_refused(array: Any) -> None:
    with pytest.raises(CompileError, match=r"an array of .* from outside the function"):
        transkern.compile(lambda x: x * array[0])(1.0)


TEXT = """
import numpy as np
FEW, MANY = np.array([1.0, -0.0, np.inf, 4.0]), np.arange(100.0)
def few(x: "float64[n]"):
    part = FEW[1:]
    y = np.zeros_like(x)
    for i in range(len(x)):
        y[i] = x[i] * part[i % 3]
    return y
def many(x: "float64[n]", k=2):
    return x * MANY.sum() + MANY[k]
"""


def test_emitted_modules_bring_them_along(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "brought.py").write_text(TEXT)
    space: dict[str, Any] = {}
    exec(TEXT, space)
    x = np.arange(1.0, 4.0)
    for name, types in (("few", None), ("many", "many(float64[n], int)")):
        folder = tmp_path / name
        folder.mkdir()
        for file, text in emit_files(tmp_path / "brought.py", name, "cpu", types).items():
            (folder / file).write_text(text)
        monkeypatch.syspath_prepend(str(folder))
        np.testing.assert_array_equal(getattr(importlib.import_module(name), name)(x), space[name](x))
        monkeypatch.delitem(sys.modules, name)
