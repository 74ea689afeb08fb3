"""Arrays of every layout and type: chains of views of them, stored into, and each function of NumPy's that
docs/language.md lists.

    make layouts LAYOUTS=20000 OPTIONS="--first 1"

Larger programs (`programs.py`) have C-contiguous arrays of real numbers more often than not. Here they are in Fortran's
order, turned round, with gaps, of one row again and again, complex, of narrow types, empty and of one element. What is
compiled is run by the interpreter of the IR after the passes that come before complex numbers become pairs.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from tests.fuzz.oracle import call
from tests.fuzz.questions import refused_at_run_time
from tests.fuzz.seeds import run
from tests.fuzz.stages import function_of, interpreted, names
from transkern.errors import InternalError, TranskernError

STAGE = names().index("split_complex") - 1

VIEWS = (
    ".reshape(-1)", ".reshape(2, -1)", ".reshape(-1, 3)", ".reshape(3, 2, -1)", ".reshape(x.shape)", ".ravel()", ".T",
    ".reshape(-1, order='F')", ".reshape(-1, x.shape[0])", ".real", ".imag", ".conj()", ".swapaxes(0, -1)",
    ".squeeze()", ".transpose()", ".flatten()", ".diagonal()", ".view()", ".copy()", ".T.copy()",
    ".astype(np.complex128)", "[::-1]",
    ".repeat(2, axis=0)", "[1:]", "[:, ::2]", "[:, 1:]", "[..., 0]", "[None]", "[..., None]", "[0]", "[-1]", "[[0, 1]]",
    "[x.shape[0] // 2:]", "[np.newaxis, ::-1]", "[x.real > 0]",
)  # fmt: skip
FUNCTIONS = (
    "np.ravel({})", "np.transpose({})", "np.atleast_2d({})", "np.real({})", "np.imag({})", "np.flipud({})",
    "np.fliplr({})", "np.rot90({})", "np.moveaxis({}, 0, -1)", "np.expand_dims({}, 0)", "np.ascontiguousarray({})",
    "np.asfortranarray({})", "np.squeeze({})", "np.broadcast_to({}, (2,) + {}.shape)", "np.roll({}, 1)", "np.diag({})",
)  # fmt: skip
STORES = (
    "v[...] = 3", "v += 1", "v[0] = 7", "v.real = 2", "v.imag[...] = v.real * 2", "v.flat[1:3] = 5", "v *= v",
    "w = v.real\n    w += 2", "w = v.reshape(-1)\n    w[1:] = w[:-1]", "np.cumsum(v, axis=0, out=v)", "v.T[...] += v.T",
    "for i in range(len(v)):\n        v[i] = v[i] * 2 + i", "pass", "pass", "pass",
)  # fmt: skip
ASKED = (
    "v + 1", "np.cumsum(v)", "np.cumsum(v, axis=0)", "v.sum(axis=0)", "np.sum(v, axis=-1)", "v.copy()", "np.abs(v)",
    "v.reshape(-1)[:3] * 2", "v * v", "np.diff(v, axis=-1)", "np.cumprod(v, axis=-1)", "np.sort(np.abs(v), axis=-1)",
    "v.mean()", "np.maximum.accumulate(np.abs(v), axis=0)", "np.concatenate([v.ravel(), x.ravel().real])",
    "v.real - v.imag", "v.tolist()", "v",
)  # fmt: skip

CALLS = (
    "(x)", "(x, axis=0)", "(x, axis=1)", "(x, axis=-1)", "(x, x)", "(x, 1)", "(x, axis=None)", "(x, x[0])", "(x, 2, 1)",
    "(x, 0.3)", "([x, x])", "([x, x], axis=1)", "((x[0], x[1]))", "(x, x.T)", "(x.T)", "(x[::-1], axis=0)", "(x[0])",
    "(x[:, ::2])", "(x[0], x[1])", "(x, 1, axis=0)", "(x, axis=0, keepdims=True)", "(x, axis=(0, 1))", "(2, x)",
    "(x, dtype=np.float64)", "(x > 1, x, -x)", "(x.ravel())", "(x[0], 2)", "(x[..., None])", "(x.reshape(-1))",
    "(x, [0, 1])", "(x, (0, 1))", "(x[0], [1, 0])", "(x, 1, 0)", "(x, [0, 1], axis=1)", "(x.real, axis=0)",
)  # fmt: skip
METHODS = (
    "all", "any", "argmax", "argmin", "argsort", "clip", "conj", "copy", "cumprod", "cumsum", "diagonal", "dot",
    "flatten", "max", "mean", "min", "nonzero", "prod", "ravel", "repeat", "reshape", "round", "searchsorted", "sort",
    "squeeze", "std", "sum", "swapaxes", "take", "trace", "transpose", "var", "tolist", "item", "partition",
)  # fmt: skip
OF_METHODS = (
    "x.{}()", "x.{}(axis=0)", "x.{}(0)", "x.{}(1)", "x.{}(-1)", "x.T.{}()", "x[::-1].{}(axis=1)", "x[0].{}()",
    "x.{}(axis=0, keepdims=True)", "x.{}(0, 1)", "x.{}(x.T)", "x.{}(2, axis=0)",
)  # fmt: skip

SHAPES = ((6, 4), (4, 6), (3, 4), (4, 4), (9, 8), (1, 6), (6, 1), (12, 2), (0, 3), (6,), (2, 3, 4))
DTYPES = ("complex128", "complex128", "complex64", "float64", "float64", "float32", "float16", "int32", "int8", "uint8",
          "int64", "bool")  # fmt: skip


def listed() -> list[str]:
    """The functions of NumPy's in docs/language.md that a call with an array may end."""
    text = (Path(__file__).parents[2] / "docs" / "language.md").read_text()
    at = text.index("`nancumprod`")
    found = set(re.findall(r"`(\w+)`", text[text.rindex("\n\n", 0, at) : text.index("\n\n", at)]))
    random_memory = {"empty", "empty_like"}
    return sorted(n for n in found - random_memory if callable(getattr(np, n, None)))


LISTED = listed()


def source(rng: random.Random) -> str:
    if rng.random() < 0.5:
        if rng.random() < 0.8:
            line = f"np.{rng.choice(LISTED)}{rng.choice(CALLS)}"
        else:
            line = rng.choice(OF_METHODS).format(rng.choice(METHODS))
        return f"import numpy as np\n\n\ndef f(x):\n    return {line}, x\n"
    view = "x"
    for _ in range(rng.randint(1, 4)):
        view = view + rng.choice(VIEWS) if rng.random() < 0.75 else rng.choice(FUNCTIONS).replace("{}", view)
    lines = f"v = {view}\n    {rng.choice(STORES)}\n    return {rng.choice(ASKED)}, x"
    return f"import numpy as np\n\n\ndef f(x):\n    {lines}\n"


def array(rng: random.Random) -> Callable[[], Any]:
    """Makes one and the same array again and again."""
    numbers = np.random.default_rng(rng.randrange(2**32))
    shape, dtype = rng.choice(SHAPES), np.dtype(rng.choice(DTYPES))
    values = numbers.normal(size=shape) * 4
    if dtype.kind == "c":
        values = values + 1j * numbers.normal(size=shape)
    if rng.random() < 0.3:
        values = np.round(values)
    values = values.astype(dtype) if dtype.kind in "fcbi" else np.abs(values).astype(dtype)
    if values.size and dtype.kind in "fc" and rng.random() < 0.2:
        values.flat[0], values.flat[-1], values.flat[values.size // 2] = np.nan, -0.0, np.inf
    layout = rng.choice(("C", "F", "turned", "gaps", "one row"))

    def make() -> Any:
        match layout:
            case "F":
                return values.copy(order="F")
            case "turned":
                return values[::-1].copy()[::-1]
            case "gaps":
                room = np.zeros([2 * extent for extent in shape], dtype)
                found = room[tuple(slice(None, None, 2) for _ in shape)]
                found[...] = values
                return found
            case "one row" if values.size:
                return np.broadcast_to(values[:1], shape)
        return values.copy()

    return make


def differ(found: Any, wanted: Any, tolerance: float) -> bool:
    """Whether two results are not one, but for how sums round."""
    if isinstance(wanted, (tuple, list)):
        alike = type(found) is type(wanted) and len(found) == len(wanted)
        return not alike or any(differ(f, w, tolerance) for f, w in zip(found, wanted, strict=True))
    if not isinstance(wanted, (np.ndarray, np.generic, float, complex)):
        return type(found) is not type(wanted) or bool(found != wanted)
    one, two = np.asarray(found), np.asarray(wanted)
    if type(found) is not type(wanted) or (one.dtype, one.shape) != (two.dtype, two.shape):
        return True
    if two.dtype.kind not in "fc":
        return not np.array_equal(one, two)
    if two.dtype.kind == "c":
        return differ(one.real, two.real, tolerance) or differ(one.imag, two.imag, tolerance)
    return not np.allclose(one, two, equal_nan=True, rtol=tolerance, atol=tolerance)


def verdict(seed: int) -> tuple[str, str]:
    """For one program: "right", "raises", "refused" or "wrong", and what is."""
    rng = random.Random(seed)
    text, make = source(rng), array(rng)
    if "imag" in text and not np.iscomplexobj(make()):  # zeros that nobody may write
        return "raises", ""
    function = function_of(text)
    with np.errstate(all="ignore"):
        wanted = call(function, [make()])
        if wanted.error is not None and rng.random() < 0.8:
            return "raises", ""  # most programs have no meaning
        told = f"{text}of {make().dtype}{list(make().shape)} with strides {make().strides}"
        try:
            found = call(interpreted(function, STAGE), [make()], TranskernError)
        except InternalError as error:
            return "wrong", f"{told}: {error}"
        except TranskernError:
            return "refused", ""
        if refused_at_run_time(found.error):
            return "refused", ""
        if found.error is not None or wanted.error is not None:
            if found.error is not None and wanted.error is not None:  # which one is a question of other programs
                return "raises", ""
            return "wrong", f"{told}: {found.error!r}, with NumPy {wanted.error!r}"
        narrow = make().dtype.itemsize // (1 + np.iscomplexobj(make()))
        if differ(found.result, wanted.result, {2: 4e-3, 4: 1e-4}.get(narrow, 1e-9)):
            return "wrong", f"{told}: {found.result!r}, with NumPy {wanted.result!r}"
    return "right", ""


if __name__ == "__main__":
    run(__doc__, lambda seed: [verdict(seed)], 20000)
