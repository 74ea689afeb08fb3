"""Python's integers that 64 bits do not hold, wherever one may stand: Python's and NumPy's answer or exception."""

from __future__ import annotations

import dataclasses
from typing import Any, NamedTuple

import numpy as np
import pytest

import transkern
from tests.fuzz.stages import interpreted
from tests.tools import TARGET_TOOLS, on_target, require
from tests.trust.against_python import CHECKED, difference, function, outcome, refused
from transkern.errors import CompileError
from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Const
from transkern.ir.verify import violations

TOO_BIG = "array is too big; `arr.size * arr.dtype.itemsize` is larger than the maximum possible size."
LARGE = ("2**63", "2**64", "2**64 + 1", "-2**63 - 1", "-2**64", "10**30")
AT_THE_END = ("2**63 - 1", "-2**63")  # 64 bits hold these, and not what is next to them
ENDLESS = "10**400"  # no float, either
X, K = np.arange(5.0), np.arange(5)
U = np.array([1, 2**63, 2**64 - 1], np.uint64)
PARAMETERS = "x, k, u, i8, y, n, f"
ARGUMENTS = (X, K, U, np.arange(5, dtype=np.int8), np.arange(6.0).reshape(2, 3), 3, 2.5)


def differences(*templates: str, numbers: tuple[str, ...] = (*LARGE, *AT_THE_END)) -> list[str]:
    found = (difference(t.replace("H", f"({h})"), PARAMETERS, ARGUMENTS) for t in templates for h in numbers)
    return [d for d in found if d]


def refusals(*templates: str, numbers: tuple[str, ...] = LARGE) -> list[str]:
    texts = [t.replace("H", f"({h})") for t in templates for h in numbers]
    return [t for t in texts if refused(t, PARAMETERS, ARGUMENTS)]


SUBSCRIPTS = (
    "x[H]", "y[0, H]", "y[:, H]", "y[[0, 1], H]", "x[H] = 7\nreturn x", "y[1, H] = 7\nreturn y", "[1, 2][H]",
    "(1, n)[H]", "'ab'[H]", "range(5)[H]", "l = []\nfor i in range(n):\n  l.append(i)\nreturn l[H]",
)  # fmt: skip
SLICES = (
    "x[H:]", "x[:H]", "x[1:H]", "x[H:2]", "x[::H]", "x[::-(H)]", "x[1:H:2]", "x[1:H:H]", "x[n:H]", "x[H:n:-1]",
    "x[n:H:-1]", "y[:, :H]", "x[:H] = 7\nreturn x", "[1, 2, n][H:]", "(1, 2)[:H]", "'abc'[:H]", "range(n)[:H][1]",
    "l = []\nfor i in range(n):\n  l.append(i)\nreturn l[:H]",
)  # fmt: skip
OPERANDS = (
    "x * H", "k * H", "u + H", "i8 + H", "H - x", "x // H", "x % H", "x ** H", "k ** H", "k << H", "k & H",
    "np.maximum(x, H)", "np.maximum(k, H)", "np.hypot(x, H)", "x[1] * H", "k[1] * H", "np.add(k, H)", "H / x[1:]",
    "np.abs(H)", "np.sqrt(H)", "np.isfinite(H)", "np.array([True]) * H", "x += H\nreturn x", "k += H\nreturn k",
)  # fmt: skip
COMPARISONS = (
    "x < H", "k < H", "k == H", "H >= u", "u != H", "k[1] <= H", "x[1] > H", "n < H", "H >= n", "n == H", "f < H",
    "f == H", "f != H", "H <= f", "n in (H, 3)", "H in (1, n)", "min(n, H)", "max(n, H)", "min(f, H)", "max(H, f)",
    "(f + 0j) == H", "np.array([True]) < H",
)  # fmt: skip
NUMBERS = (
    "H", "-H", "abs(H)", "H * 2 - H * 2", "H // 7", "H % 7", "H / 3", "divmod(H, 7)", "float(H)", "complex(H)",
    "round(H)", "bool(H)", "not H", "H and n", "str(H)", "f'{H:,}'", "math.sqrt(H)", "math.floor(H)",
    "H * 1j", "H * 1.5", "f * H", "f + H", "H - f", "(H, [H, n], {'a': H})", "{H: n}[H]", "{1: 2}.get(H)",
)  # fmt: skip
INTEGERS = ("n + H", "n - H", "n * H", "n // H", "-n // H", "n % H", "n & H", "n | H", "n / H", "H // n", "H % n",
            "n >> H", "H >> n", "divmod(n, H)")  # fmt: skip
SIZES = (
    "np.zeros(H)", "np.zeros((2, H))", "np.empty(H)", "np.ones((H, H))", "np.full(H, 1.0)", "x.reshape(H, -1)",
    "x.reshape(-1, H)", "x.reshape(H)", "np.reshape(x, (H, 1))", "x.sum(axis=H)", "np.sum(x, axis=H)", "np.roll(x, H)",
    "np.expand_dims(x, H)", "np.eye(H)", "np.repeat(x, H)", "x.take(H)", "l = [1, 2]\nl.insert(H, n)\nreturn l",
    "l = [1, 2]\nreturn l.pop(H)", "[1, n] * H",
)  # fmt: skip
ELEMENTS = (
    "np.array([H])", "np.array(H)", "np.asarray([1, H])", "np.array([1.5, H])", "np.array([n, H])", "np.full(3, H)",
    "np.full(3, H, np.float32)", "np.full(2, H, np.int8)", "np.array([H], float)", "x[0] = H\nreturn x",
    "x[:] = H\nreturn x", "k[0] = H\nreturn k", "u[0] = H\nreturn u", "u[:] = H\nreturn u", "x.fill(H)\nreturn x",
    "np.where(x > 1, x, H)", "np.where(k > 1, k, H)", "np.clip(k, 0, H)", "np.clip(x, 0, H)", "np.clip(u, 0, H)",
    "np.int8(H)", "np.uint64(H)", "np.float32(H)", "np.float16(H)", "np.int64(H)",
)  # fmt: skip


@pytest.mark.parametrize("templates", [SUBSCRIPTS, SLICES, OPERANDS, COMPARISONS, NUMBERS, INTEGERS, ELEMENTS])
def test_python_s_answer_or_exception(templates: tuple[str, ...]) -> None:
    assert differences(*templates) == []


def test_sizes_axes_and_counts() -> None:
    assert differences(*SIZES, numbers=LARGE) == []
    assert differences("np.zeros(H)", "np.empty((H, 2))", "x.sum(axis=H)", numbers=AT_THE_END) == []


def test_integers_that_no_float_holds() -> None:
    assert differences(*SLICES, *COMPARISONS, *NUMBERS, *INTEGERS[:4], *ELEMENTS, numbers=(ENDLESS,)) == []


def test_what_is_not_refused() -> None:
    assert refusals(*SUBSCRIPTS, *SLICES, *NUMBERS) == []
    assert refusals("x * H", "k * H", "x < H", "k < H", "n < H", "f < H", "f * H", "min(n, H)", "n // H") == []
    assert refusals("np.zeros(H)", "x.reshape(H, -1)", "x.sum(axis=H)", "x[0] = H\nreturn x", "np.int8(H)") == []


def test_arrays_of_more_bytes_than_there_are_addresses() -> None:
    texts = ("np.zeros((n, n))", "np.ones(n)", "x = np.zeros((n, n))\nx[1, 1] = 3\nreturn x[1, 1]", "np.eye(n).sum()")
    assert [d for t in texts for k in (2**32, 2**62) if (d := difference(t, "n", (k,)))] == []
    for text in ("np.repeat(np.arange(4), n)", "np.tile(np.arange(4), n)"):  # of which NumPy itself crashes
        call = interpreted(function(text, "n"), CHECKED)
        assert outcome(call, 2**62) == ("ValueError", TOO_BIG) and len(call(3)) == 12


OF_UNSIGNED = (
    "u[1].item()", "int(u[2])", "u.tolist()", "x[u[0]]", "x[u[2]]", "x[u]", "x[u[1:]]", "x[:u[2]]", "x[u[2]:]",
    "[1, 2, 3][u[2]]", "[1, 2][u[0]]", "math.floor(u[2])", "round(u[1])", "u[2] < -1", "u[2] == 2**64 - 1",
    "u & (2**64 - 1)", "u % (2**64 - 1)", "2**64 - 1 - u", "np.minimum(u, 2**64 - 1)", "range(u[1])[0]",
    "np.where(u > 1, u, 2**63)", "np.random.default_rng(u[1]).random()",
)  # fmt: skip


def test_numbers_of_uint64_that_become_python_s() -> None:
    assert [d for t in OF_UNSIGNED if (d := difference(t, PARAMETERS, ARGUMENTS))] == []


TOGETHER = [(2**53 + 1, 2.0**53), (2**53, 2.0**53), (2**63 - 1, 2.0**63), (3, np.nan), (-3, -3.5)]


@pytest.mark.parametrize("k, f", TOGETHER)
def test_integers_and_floats_are_compared_exactly(k: int, f: float) -> None:
    signs = ("<", "<=", ">", ">=", "==", "!=")
    texts = [t for s in signs for t in (f"k {s} f", f"f {s} k", f"k {s} {f!r}" if f == f else "k", f"f {s} {k}")]
    texts += ["max(k, f)", "min(f, k)", "k == f + 0j", "k in (f,)"]
    assert [d for t in texts if (d := difference(t, "k, f", (k, f)))] == []


def test_subscripts_of_numpy_s_types() -> None:
    """Known when the function is compiled, and as arguments, which a container makes constants."""
    found = [
        difference(t, PARAMETERS, (array, *ARGUMENTS[1:]))
        for t in ("x[np.uint64(2**63)]", "x[np.uint64(2**63), 0]", "x[0, np.uint64(2**64 - 1)]", "x[np.uint64(2**63):]")
        for array in (np.array(3.0), X, np.ones((2, 2)))
    ]
    assert not any(found)

    def element(x: Any, k: Any) -> Any:
        return x[k]

    compiled = transkern.compile(element, target="cpu")
    assert compiled((1.0, 2.0), np.uint64(1)) == 2.0
    for array in (np.array(3.0), X):
        with pytest.raises(OverflowError, match="Python int too large to convert to C long"):
            compiled(array, np.uint64(2**63))


def test_numbers_that_become_integers() -> None:
    texts = ["int(f)", "int(1e300)", "round(1e300)", "math.floor(f)", "round(f)", "int(f) if f < 1 else 0"]
    for f in (1e300, -1e19, np.inf, np.nan, 2.0**63, -(2.0**63)):
        assert [d for t in texts if (d := difference(t, "f", (f,)))] == []


# --- through the whole compiler


class Pair(NamedTuple):
    one: int
    two: float


@dataclasses.dataclass
class Held:
    size: int
    name: str = "a"


CAPTURED = 2**65


def many(x: Any, k: Any) -> Any:
    far, low = x[: 2**64 + 2], x[2 : -(2**64) : -1]
    return far, low, -(2**64), -(2**63) - 1, -(2**63), x * 10**30, x < 2**70, k, x * k, CAPTURED // 7, x[:: 2**65]


def nothing(x: Any) -> Any:
    return x[2**64:], x[:-(2**64)], x[:: -(2**65)], x[: 2**62]


@pytest.mark.parametrize("target", ["cpu", "cuda", "pallas"])
def test_on_all_targets(target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    on_target(target, monkeypatch)
    compiled = transkern.compile(many, target=target)
    for k in (2**70, 3, -(2**64)):
        for found, wanted in zip(compiled(X, k), many(X, k), strict=True):
            assert type(found) is type(wanted) and np.array_equal(found, wanted)
    for found, wanted in zip(transkern.compile(nothing, target=target)(X), nothing(X), strict=True):
        assert np.array_equal(found, wanted)


def test_arguments_in_containers() -> None:
    require(*TARGET_TOOLS["cpu"])

    @transkern.compile
    def taken(d, l, t, p, o):  # type: ignore[no-untyped-def]  # noqa: E741
        return d["a"], l[0], t[1] > 3, p.one, o.size, l[1] + 1.5, [l[0]], {"z": t[1]}

    given = ({"a": 2**65}, [2**66, 1], (1, -(2**67)), Pair(2**68, 1.0), Held(2**69))
    assert taken(*given) == taken.function(*given)


def test_a_seed_of_any_size() -> None:
    require(*TARGET_TOOLS["cpu"])

    @transkern.compile
    def draw(seed, scale=2**70):  # type: ignore[no-untyped-def]
        return np.random.default_rng(seed).random(3) * scale

    for seed in (2**70, 3):
        assert np.array_equal(draw(seed), draw.function(seed))


def test_programs_hold_constants_of_their_types_only() -> None:
    def problems(value: Const) -> list[str]:
        return violations(n.Program("f", (), {}, {}, {}, (n.Return(n.ScalarResult(value, True)),)))

    assert problems(b.index(2**63 - 1)) == problems(Const(2**64 - 1, "uint64")) == []
    for value in (b.index(2**63), b.index(-(2**63) - 1), Const(300, "int8"), Const(-1, "uint8")):
        assert any("is no" in found for found in problems(value))


def test_arithmetic_that_comes_to_such_a_constant_is_refused() -> None:
    with pytest.raises(CompileError, match="needs more than the 64 bits"):
        transkern.compile(function("k + 2**62 + 2**62 + 2**62", "k"))(5)


POSITIONS = (np.uint64(2**64 - 1), np.uint64(2**63), np.uint64(1), 2**64, -(2**63) - 1, 2**63 - 1, -2)
USES = ("a[k] = 5.0\na", "a[k]", "a.pop(k)", "a.insert(k, 5.0)\na", "del a[k]\na", "a[k] += 1\na")


@pytest.mark.parametrize("grown", ["", "a.append(9.0)\n", "for v in (7.0, 8.0):\n    a.append(v)\n"])
@pytest.mark.parametrize("k", POSITIONS)
@pytest.mark.parametrize("use", USES)
def test_positions_in_lists(use: str, k: int, grown: str) -> None:
    assert not difference(f"{grown}{use}", "a, k", ([1.0, 2.0], k))
    assert not difference(f"a = [1.0, 2.0]\n{grown}{use}", "k", (k,))


def test_numbers_that_a_type_does_not_hold_come_before_other_errors() -> None:
    whole, flags, floats = np.arange(3, dtype=np.int8), np.zeros(3, bool), np.zeros(3)
    given = [(-2147483649, whole), (3, whole), (whole, 2**70), (2.5, floats), (floats, np.float32(2)), (True, floats)]
    assert not [found for args in given if (found := difference("x @ y", "x, y", args))]
    texts = ("x += y\nx", "x *= y\nx", "x |= y\nx", "x //= y\nx", "x >>= y\nx")
    arrays = (flags, whole, floats, whole.astype(np.uint64))
    assert not [found for x in arrays for text in texts if (found := difference(text, "x, y", (x.copy(), 10**30)))]


@pytest.mark.parametrize("limit", ("1e300", "-1e300", "float('nan')", "-float('inf')", "2.0**63", "-2.0**63", "9.3e18"))
def test_integers_beside_floats_that_none_is_near(limit: str) -> None:
    """The float was taken for an integer, to be compared with."""
    for op in ("<", "<=", ">", ">=", "==", "!="):
        for k in (0, 5, -5, 2**63 - 1, -(2**63)):
            assert not difference(f"return {limit} {op} k, k {op} {limit}", "k", [k], stage=0)


def test_subscripts_of_what_has_no_axes() -> None:
    """What 64 bits do not hold is told before the axes are counted."""
    for x in (np.array(2.0), np.arange(3.0)):
        for k in (np.uint64(2**63), np.uint64(1), np.uint64(2**64 - 1), np.int64(-(2**63))):
            assert not difference("return x[k]", "x, k", [x, k])


SIZES = (
    "np.zeros(v)", "np.ones((2, v))", "np.full(v, 1)", "np.eye(v)", "x.reshape(v, -1)", "np.arange(v)",
    "np.eye(3, k=v)", "np.linspace(0, 1, v)", "np.roll(x, v)", "np.delete(x, v)", "[0] * v", "(1, n) * v",
    "'abc'[v]", "range(n)[v]", "math.gcd(v, 6)", "np.repeat(x, v)", "chr(v)", "np.pad(x, (0, v))",
    "list(enumerate('ab', v))",
)  # fmt: skip


@pytest.mark.parametrize("v", [2**63, 2**64 - 1, 2])
def test_sizes_and_shifts_of_uint64(v: int) -> None:
    """One that signed integers of 64 bits do not hold was taken for a negative one."""
    found = [difference(t, "x, n, v", (X, 3, np.uint64(v))) for t in SIZES]
    found += [difference(t.replace("v", "u[0]"), "x, n, u", (X, 3, np.array([v], np.uint64))) for t in SIZES]
    assert [d for d in found if d] == []


def test_sizes_that_are_no_integers() -> None:
    for text in ("np.zeros(v)", "np.ones(v + n)", "np.full(v, 1)", "x.reshape(v)", "np.zeros((2, v))", "np.eye(v)"):
        for v in (2.0, np.float64(2.5), np.float32(0.5), 2j, True):
            assert not difference(text, "x, n, v", (X, 3, v))
