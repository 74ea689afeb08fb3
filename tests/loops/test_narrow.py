"""Arithmetic on narrow integers that were made wide is done in narrow types, with NumPy's bits; so are sums of them."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

import transkern
from tests.fuzz.stages import function_of
from tests.regressions.support import alike
from transkern import pipeline
from transkern.frontend.sources.source import live_function
from transkern.frontend.specialise import specialise
from transkern.frontend.values.types import parse_signature
from transkern.fuse.passes import PASSES
from transkern.fuse.scalars.narrow import narrow_arithmetic
from transkern.fuse.scalars.whole_sums import sum_integers
from transkern.ir import nodes as n
from transkern.ir import printer
from transkern.ir.oracle.interpret import interpret
from transkern.ir.traverse import walk

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")
TO = PASSES.index(narrow_arithmetic)
THEIRS = {"a": "uint8", "b": "int8", "c": "int16", "d": "bool", "e": "uint16"}


def made(line: str, types: str = "uint8[n], uint8[n]") -> str:
    """The statements that are made of ``return`` and `line`, of arrays `a` and `b`."""
    function = function_of(f"import numpy as np\n\n\ndef f(a, b):\n    return {line}\n")
    program = specialise(live_function(function), parse_signature(f"f({types})")[1], True)
    program = pipeline.run(program, PASSES[: PASSES.index(sum_integers) + 1])
    return "\n".join(printer.block(program.body, 0))


@pytest.mark.parametrize("line, types, found", [
    ("a.astype(np.float32) - b.astype(np.float32)", "uint8[n], uint8[n]", "float32((int16(a[i]) - int16(b[i])))"),
    ("np.abs(a.astype(np.int64) - b) > 20", "uint8[n], uint8[n]", "(absolute((int16(a[i]) - int16(b[i]))) > 20)"),
    ("a.astype(float) * 2 - b", "int16[n], int16[n]", "float64(((int32(a[i]) * 2) - int32(b[i])))"),
    ("a * 1.0 + b * -3.0", "uint8[n], int8[n]", "float64(((int16(a[i]) * 1) + (int16(b[i]) * -3)))"),
    ("np.where(b > 3, a, 0.0) + b.astype(float)", "uint8[n], uint8[n]", "((int16(a[i]) if (b[i] > 3) else 0) + "),
])  # fmt: skip
def test_it_is_narrow(line: str, types: str, found: str) -> None:
    assert found in made(line, types)


@pytest.mark.parametrize("line, types", [
    ("a * (b * 1.0)", "int8[n], int8[n]"),  # -1 * 0 is -0.0
    ("np.negative(a.astype(float)) * b", "uint8[n], uint8[n]"),
    ("a * 0.5 - b", "uint8[n], uint8[n]"),
    ("a.astype(np.float32) * b * b * b", "uint8[n], uint8[n]"),  # more than float32 holds
    ("a.astype(float) - b", "int32[n], int32[n]"),
    ("a.astype(np.float32)", "uint8[n], uint8[n]"),  # nothing to gain
])  # fmt: skip
def test_it_stays_wide(line: str, types: str) -> None:
    wide = made(line, types)
    assert "int16((" not in wide and "(int16(" not in wide and "int32((" not in wide


def moments(x: Any) -> Any:
    return x.mean(), x.mean(axis=0), x.astype(np.float32).sum(axis=1), ((x - 1.0) ** 2).mean(), x.std(), (x * 0.5).sum()


def test_sums_are_of_integers() -> None:
    program = pipeline.run(specialise(live_function(moments), parse_signature("f(uint8[n,m])")[1], True))
    sums = [s for s in walk(program.body) if isinstance(s, n.Accumulator) and s.op == "sum"]
    assert {s.dtype for s in sums if "whole" in s.name} == {"int64", "int32"}  # a whole, and its parts
    assert any(s.dtype == "float64" for s in sums)  # of deviations from the mean, and of halves


@pytest.mark.parametrize("dtype", ["uint8", "int8", "int16", "uint16", "bool"])
def test_sums_are_numpys(dtype: str) -> None:
    low, high = (0, 1) if dtype == "bool" else (np.iinfo(dtype).min, np.iinfo(dtype).max)
    compiled = transkern.compile(moments)
    for shape in ((1, 1), (3, 700), (700, 40)):
        for x in (np.full(shape, low, dtype), np.full(shape, high, dtype)):
            for mine, theirs in zip(compiled(x), moments(x), strict=True):
                np.testing.assert_allclose(mine, theirs, rtol=1e-6 if mine.dtype == np.float32 else 1e-14)
        assert compiled(x)[0] == moments(x)[0]


def expression(rng: random.Random, depth: int) -> str:
    """A random expression over arrays of narrow integers that are made floats or wider integers."""
    if depth == 0 or rng.random() < 0.15:
        leaf = rng.choice([*THEIRS, *THEIRS, "k"])
        return str(rng.choice([0, 1, 2, -1, -3, 100, 0.5])) if leaf == "k" else f"{leaf}.astype(np.{rng.choice(WIDE)})"
    x, y = expression(rng, depth - 1), expression(rng, depth - 1)
    form = rng.choice([
        "({0} + {1})", "({0} - {1})", "({0} - {1})", "({0} * {1})", "({0} * 2)", "(-1 * {0})", "np.negative({0})",
        "np.abs({0})", "np.square({0})", "np.maximum({0}, {1})", "np.minimum({0}, {1})", "np.where(d, {0}, {1})",
        "({0} < {1}).astype(np.float32)", "({0} == {1}).astype(np.int64)",
    ])  # fmt: skip
    return form.format(x, y)


WIDE = ("float32", "float32", "float64", "int32", "int64")


@pytest.mark.parametrize("seed", range(6))
def test_every_bit_is_numpys(seed: int) -> None:
    rng = random.Random(seed)
    lines = []
    while len(lines) < 25:
        line = expression(rng, 3)
        if any(name + ".astype" in line for name in THEIRS):
            lines.append(f"({line}) + np.zeros(1, np.float32)" if "astype" not in line else line)
    names = ", ".join(THEIRS)
    function = function_of(f"import numpy as np\n\n\ndef f({names}):\n    return ({', '.join(lines)},)\n")
    types = ", ".join(f"{dtype}[n]" for dtype in THEIRS.values())
    program = specialise(live_function(function), parse_signature(f"f({types})")[1], True)
    program = pipeline.run(program, PASSES[:TO])
    changed = narrow_arithmetic(program)
    assert changed != program
    draw = np.random.default_rng(seed)
    ends = {t: (0, 1) if t == "bool" else (np.iinfo(t).min, np.iinfo(t).max) for t in THEIRS.values()}
    values = [draw.choice([*ends[t], 0, 0, 1], size=12).astype(t) for t in THEIRS.values()]
    for line, mine, theirs in zip(lines, interpret(changed, values), function(*values), strict=True):
        assert mine.dtype == theirs.dtype and mine.tobytes() == theirs.tobytes(), line
    if seed == 0:
        alike(function, *values)


def lengths(x: Any, y: Any) -> Any:
    length = np.sqrt(x * x + y * y)
    root = np.sqrt(x)
    return (
        np.clip(length, 0, 2), np.maximum(np.abs(x), 0.0), np.maximum(root, 0.0), np.where(length < 0, -1.0, length),
        np.clip(root, 0, 1), np.maximum(np.exp(x) / length, 0), np.maximum(x * x * -1.0, 0), np.maximum(x * y, 0),
    )  # fmt: skip


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_what_cannot_be_negative_is_not_asked(dtype: str) -> None:
    special = np.array([0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 1e30, -1e-30, 5e-324], dtype)
    x, y = (g.ravel() for g in np.meshgrid(special, special))
    for mine, theirs in zip(transkern.compile(lengths)(x, y), lengths(x, y), strict=True):
        np.testing.assert_array_equal(np.isnan(mine), np.isnan(theirs))
        np.testing.assert_allclose(mine, theirs, rtol=1e-6)  # of exp
    alike(lambda x: np.clip(np.sqrt(x), 0, 255).astype(np.uint8), np.abs(x[np.isfinite(x)]))
    program = pipeline.run(specialise(live_function(lengths), parse_signature(f"f({dtype}[n], {dtype}[n])")[1], True))
    text = "\n".join(printer.block(program.body, 0))
    assert "length < 0.0" not in text and text.count("maximum") == 3  # of roots, and of products of any sign
