"""`int` of texts in other bases, and the parts of floats."""

import math
from typing import Any

import numpy as np
import pytest

from tests.regressions.support import alike
from tests.tools import require


def known(text: str, base: int) -> Any:
    return int(text, base), int("-0x1F", 16), int("101", base=2)


def of_digits(k: int) -> Any:
    text = bin(k)
    return int(text, 2), int(text[2:][::-1], 2) if k >= 0 else 0, int(f"{k}", 36)


def chosen(x: Any) -> Any:
    bits = ["1" if v > 0 else "0" for v in x]
    return int("".join(bits), 2), int(bits[0], 3), int("0123456789abcdefXYZ"[len(x)], 36)


def split(x: Any) -> Any:
    return np.frexp(x)


def parts(v: float) -> Any:
    return math.frexp(v)


def scaled(v: float, k: int) -> float:
    return math.ldexp(v, k)


@pytest.mark.parametrize(
    ("function", "args"),
    [
        (known, ("110", 2)), (known, ("ff", 16)), (known, ("9", 8)), (of_digits, (5,)), (of_digits, (0,)),
        (of_digits, (-6,)), (chosen, (np.array([1.0, 0, 1]),)), (chosen, (np.zeros(17),)),
        *((scaled, (v, k)) for v, k in ((0.75, 3), (-0.0, 9**9), (1.5, 1024), (5e-324, 60), (-1.0, -(2**40)))),
        *((scaled, (v, 2000)) for v in (math.inf, math.nan, -0.0, 1e-300)),
        *((parts, (v,)) for v in (0.0, -0.0, math.inf, math.nan, 5e-324, 3, -1e300)),
    ],
)  # fmt: skip
def test_numbers(function: Any, args: Any) -> None:
    require("cc")
    alike(function, *args)


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "int8", "bool"])
def test_frexp(dtype: str) -> None:
    x = np.array([0.0, -0.0, 1, -3, 0.5, 7, 127]).astype(dtype)
    if dtype.startswith("float"):
        info = np.finfo(dtype)
        ends = [np.inf, -np.inf, np.nan, info.smallest_subnormal, -5 * info.smallest_subnormal, info.tiny, info.max]
        powers = 2.0 ** np.arange(info.minexp, info.maxexp)
        x = np.concatenate([x, np.array(ends, dtype), powers.astype(dtype), (powers * (1 - info.epsneg)).astype(dtype)])
    require("cc")
    alike(split, x)
    alike(split, x[3])
