"""What compilers of C made of right code, and names in the code that meant another thing."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import transkern
from tests.regressions.support import alike
from tests.tools import on_target
from transkern.targets import cpu
from transkern.targets.words import is_word_of_c

# mypy: disable-error-code="no-untyped-def"


def clipped_to_integers(x, out):
    out[:] = np.clip(x, -100, 100).astype(np.int32)


def to_integers_and_back(x, out):
    for i in range(x.shape[0]):
        out[i] = np.int64(x[i])


def one_number(x, out):
    out[0] = np.int32(x[1])


def half_precision(x, out):
    y = x.astype(np.int8)
    out[:] = np.sqrt(np.abs(y)) + np.sin(y[2])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("size", [3, 16, 37])
@pytest.mark.parametrize("function", [clipped_to_integers, to_integers_and_back, one_number, half_precision])
def test_numbers_go_through_integers(function: Callable[..., Any], size: int, dtype: type) -> None:
    """GCC 12 made ``(double)(int)x`` a truncation in floats, with the sign of zero; a float16 was not rounded."""
    x = np.random.default_rng(size).uniform(-1.5, 1.5, size).astype(dtype)
    x[:3] = -0.5, -0.9, 6.0
    alike(function, x, np.zeros(size, dtype))


def told_of(x, i, u, b, s):
    for k in range(len(x)):
        if x[k] > 3:
            raise ValueError(f"{x[k]!r} {x[k]} {i[k]!r} {u[k]!r} {u[k]} {b[k]!r}")
    if s > 3:
        raise ValueError(f"{s!r} {s} {u[0]} {u.max()!r} {i[0]!r} {b[0]!r}")
    return x


@pytest.mark.parametrize("target", ["cpu", "cuda", "pallas"])
def test_messages_show_numbers_as_numpy_does(target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Integers of 64 bits without a sign were shown with one."""
    on_target(target, monkeypatch)
    u = np.array([2**64 - 1, 2**63 + 5], np.uint64)
    for x, i, s in (
        (np.array([1, 4.5]), np.array([3, -4], np.int16), np.uint64(2)),
        (np.array([1, 0.5], np.float32), np.array([3, -4]), np.uint64(2**63 + 1)),
        (np.array([1, 0.5], np.float32), np.array([3, -4]), np.float64(7)),
    ):
        alike(told_of, x, i, u, np.array([False, True]), s, target=target)


def from_zero(x, k):
    start = 0.0
    return start - x, start - k, np.float32(0) - x[0], np.clip(np.zeros(1), 0, 2) - x


@pytest.mark.parametrize("dtype", [np.bool_, np.int8, np.int64, np.float32, np.float64])
def test_zero_less_an_integer_is_no_negative_zero(dtype: type) -> None:
    """GCC 12 made it a change of sign."""
    alike(from_zero, np.array([0, 1, 0, 1, 0, 0, 1, 0, 0]).astype(dtype), 0)


def from_zero_of_integers(x, k):
    u = x.astype(np.uint64)
    return (
        np.subtract(u - u, x.argmin()),
        np.subtract(u ^ u, k),
        (u - u) / 1.0 - np.abs(x / 2),
        np.float32(k - k) - x[0].astype(np.float32),
        -(x / 2) + (u - u),
        np.add(-np.float64(k), u & np.uint64(0)),
        (x.size - x.size) - x / 2,
        (u < 0) - np.abs(x / 2),
        np.where(x > 3, x / 2, 0.0) - np.abs(x / 2),
        np.where(x < 3, np.where(x > 0, 1.0, 0.0), 2.0) - k,
    )


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int64, np.uint64, np.float32, np.float64])
def test_integers_of_which_gcc_sees_that_they_are_zero(dtype: type) -> None:
    """It takes ``(double)(u - u) - (double)k`` for ``-(double)k``, and ``-y + (double)(u - u)`` for ``-y``."""
    alike(from_zero_of_integers, np.array([0, 1, 0, 1, 0, 0, 1, 0, 0]).astype(dtype), 0)


def named_as_the_code_does(x, n):
    release = reserve = lowest = meet = stream = as_double = leave_core = x[0]
    waiting = [1]
    while waiting:  # memory without a bound
        top = waiting.pop()
        release += top
        if top < n:
            waiting.append(top + 1)
            waiting.append(2 * top)
    return release, reserve + lowest, meet * stream, as_double, leave_core


def test_names_that_the_emitted_code_has_for_itself() -> None:
    """`words`: a variable `release` hid the function that frees a list."""
    alike(named_as_the_code_does, np.ones(3), 4)
    for text in (text for module in Path(cpu.__path__[0]).rglob("*.py") for text in _texts(module)):
        for name in re.findall(r"^(?:static|typedef)[^({;=\[]*?(\w+) *[({=\[]", text, re.MULTILINE):
            assert name[0].isupper() or is_word_of_c(name), name


def _texts(module: Path) -> list[str]:
    nodes = ast.walk(ast.parse(module.read_text(encoding="utf-8")))
    return [x.value for x in nodes if isinstance(x, ast.Constant) and isinstance(x.value, str) and "\n" in x.value]


def named_as_a_size(x, x_0, x_1, x_0_):
    total = x * x_0 + x_1[0]
    for i in range(x.shape[0]):
        total[i] += x_0_[i]
    return total, x_1 * 2


def named_as_a_part(p, p_w, q, q_0):
    return p["w"] * p_w + q[0] * q_0, q[1] - p["w"]


@pytest.mark.parametrize("target", ["cpu", "cuda", "pallas"])
def test_parameters_named_as_sizes_and_parts_of_others(target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """`specialise`: the size of `x` was `x_0` in the code, also where a parameter is; so were the items of a list."""
    on_target(target, monkeypatch)
    x = np.arange(6.0).reshape(2, 3)
    alike(named_as_a_size, x, 2.5, np.ones(3), np.array([3, 4]), target=target)
    alike(named_as_a_part, {"w": x}, 2.0, [x[0], x[1]], np.ones(3), target=target)


def telling(n):
    print("begun")
    return n + 1


def test_a_library_step_without_arrays(capsys: pytest.CaptureFixture[str]) -> None:
    """`glue`: what a failed step calls stood beside what makes arrays, which a module without arrays does not have."""
    alike(telling, 3)
    assert capsys.readouterr().out == 2 * "begun\n"


def zeros_added(x, y):
    return -0.0 - x + 0.0, 0.0 + -abs(y), -(x + 0.0) - -0.0, x * -1.0 + 0.0, y * 0.0 + 0.0


@pytest.mark.parametrize("target", ["cpu", "cuda"])
def test_a_zero_that_is_added_is_no_nothing(target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """GCC 12 took -x + 0.0 for -x where x is an integer or an absolute value: -0.0 for 0."""
    on_target(target, monkeypatch)
    for dtype in (np.int8, np.int64, np.float64):
        alike(zeros_added, np.array([0, 1, 0, 2, 0]).astype(dtype), np.array([0.0, -0.0, 1, -1, 0]), target=target)


def first_of_a_line(a, y, s):
    line = a[y >= s][:, ::2].ravel()
    if np.min(y) < line[0]:
        return line[1], line
    return line[0], line


def test_an_element_of_rows_in_a_line_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """The launcher asked for a whole row of what a kernel had kept."""
    on_target("cuda", monkeypatch)
    for s in (2.0, 5.5):
        alike(first_of_a_line, np.arange(28.0).reshape(7, 4), np.arange(7.0), s, target="cuda")


def compacted_for_nobody(x, y):
    for _ in range(2):
        both = np.concatenate((y[::-1][x != 1.5], x))  # noqa: F841
    return x


def test_compactions_in_independent_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """Their memory had a dimension for the steps on Pallas, which their stores had not."""
    on_target("pallas", monkeypatch)
    alike(compacted_for_nobody, np.arange(7.0, dtype="f4"), np.arange(7, dtype="i1"), target="pallas")


def signs_behind_zero_less(x):
    v = 0 - x
    return np.copysign(1, v), np.copysign(2.5, 0.0 - x), np.signbit(0 - x), np.copysign(x, 0 - x)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_zero_less_no_number_keeps_its_sign(dtype):
    """`-x` turns the sign of a NaN, NumPy's subtraction leaves it (fuzz, seed 99806810)."""
    x = np.array([0.0, -0.0, 1, -1, np.nan, -np.nan, np.inf] * 7).astype(dtype)
    found, wanted = transkern.compile(signs_behind_zero_less)(x), signs_behind_zero_less(x)
    for one, two in zip(found[:3], wanted[:3], strict=True):
        np.testing.assert_array_equal(one, two)
        np.testing.assert_array_equal(np.signbit(one), np.signbit(two))
    np.testing.assert_array_equal(np.signbit(found[3]), np.signbit(wanted[3]))


def zeros_less_a_zero(y):
    return 0.0 * y - (0.0 * y).any(), (y * 0.0) - (y > 99), 0.0 * y + -(0.0 * y)


@pytest.mark.parametrize("dtype", ["uint64", "uint8", "bool", "int32"])
def test_products_with_zero_are_no_known_zeros(dtype):
    """GCC 12 takes `0.0 * (double)y - (double)b` of an unsigned `y` for `-(double)b` (fuzz, seed 99900076)."""
    alike(zeros_less_a_zero, np.array([0, 1, 5, 0, 7, 2, 1]).astype(dtype))


def whole_quotients(x: Any) -> Any:
    return x // x.astype(np.int32), x[0] // np.clip(np.nan_to_num(x), -3, 3).astype("i4"), x / x.astype(int)


def whole_quotients_one_by_one(x: Any) -> Any:
    made = np.zeros_like(x)
    for i in range(len(x)):
        v = x[i]
        if v != v:
            v = 0.5
        made[i] = -1.0 / int(v) if abs(v) < 1e-9 else np.floor_divide(x[0], np.int32(v))
    return made


@pytest.mark.parametrize("function", [whole_quotients, whole_quotients_one_by_one])
def test_integers_of_fractions_are_no_negative_zeros(function: Callable[..., Any]) -> None:
    """GCC 12 took (double)(int)x for trunc(x) on paths on which it knows that x is not NaN (fuzz, seed 100007672)."""
    for kind in (np.float64, np.float32):
        alike(function, (np.arange(35) % 9 - 4).astype(kind) * kind(0.3))
        alike(function, np.array([-0.5, np.nan, -0.0, 0.5, 7, -0.25], kind))


def bits(x: Any, y: Any) -> Any:
    return (
        ((x & 1) == 0) & (y < np.exp(y)), ((x + 1) % 2 == 1) | (y > 2), (x % 2 != 0) & (y < 1),
        np.where((x & 1) != 1, y, -y),
    )  # fmt: skip


@pytest.mark.parametrize("kind", [np.int8, np.uint8, np.int32, np.int64, np.uint64])
def test_the_lowest_bit(kind: Any) -> None:
    alike(bits, (np.arange(70) * 7 - 30).astype(kind), np.linspace(-2, 3, 70))
