"""Calls of NumPy's functions with the arguments that few use: of other shapes and types, out of range, empty, none."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import numpy as np

VALUES: dict[str, Any] = {
    "i": np.array([3, 1, 2, 2]),
    "f": np.array([1.5, np.nan, -2.0, 0.25]),
    "e": np.zeros(0),
    "ei": np.zeros(0, int),
    "u": np.array([3, 0, 1], dtype=np.uint8),
    "b": np.array([True, False, True]),
    "m": np.array([[1.0, 2.0, 4.0], [3.0, 0.5, -1.0]]),
    "mi": np.array([[1, 2], [3, 4]]),
    "z": np.zeros((0, 3)),
    "o": np.array([[2.0]]),
    "s": 2.5,
    "k": 3,
    "n": -1,
    "f4": np.array([1, 2, 4], dtype=np.float32),
    "t": np.arange(8.0).reshape(2, 2, 2),
}
"""The arguments of the function that the calls stand in."""

ARRAYS = (
    "i", "f", "e", "ei", "u", "b", "m", "mi", "z", "o", "s", "k", "[1,2,4]", "[]", "[[1,2],[3,4]]", "f4", "t",
    "np.array(2.0)", "m.T", "f[::-1]", "np.float32(2)", "(1.0, 2)", "True", "[True, False]",
)  # fmt: skip
AXES = ("None", "0", "-1", "1", "5", "(0,1)", "(0,)", "-2")
WHOLE = ("0", "1", "2", "3", "-1", "k", "n", "2.0", "True", "u[0]", "np.int8(2)", "100")
FLAGS = ("True", "False")
NUMBERS = ("s", "k", "1.0", "-2", "float('nan')", "1j", "None", "np.float32(0.5)", "True", "f[1]")
SHAPES = ("2", "(2,2)", "()", "(0,3)", "(-1,2)", "k", "[3]", "(2.0,)")
MODES = ("'full'", "'same'", "'valid'", "'x'")
LISTS = ("[i, f]", "[m, mi]", "(m, [[1,2,3]])", "[i, k]", "[]", "[m]", "m", "[i, []]", "[b,u]", "[u,b]", "(s,k)")
TYPES = ("int", "'f4'")

Choices = tuple[str, ...]
CALLS: dict[str, tuple[Choices | dict[str, Choices], ...]] = {
    "np.isclose": (ARRAYS, ARRAYS, {"rtol": NUMBERS, "equal_nan": FLAGS}),
    "np.allclose": (ARRAYS, ARRAYS, {"equal_nan": FLAGS}),
    "np.array_equal": (ARRAYS, ARRAYS, {"equal_nan": FLAGS}),
    "np.array_equiv": (ARRAYS, ARRAYS),
    "np.nan_to_num": (ARRAYS, {"nan": NUMBERS, "posinf": NUMBERS, "copy": FLAGS}),
    "np.sinc": (ARRAYS,),
    "np.diff": (ARRAYS, {"n": WHOLE, "axis": AXES, "prepend": ARRAYS, "append": ARRAYS}),
    "np.ediff1d": (ARRAYS, {"to_end": ARRAYS, "to_begin": ARRAYS}),
    "np.unwrap": (ARRAYS, {"discont": NUMBERS, "axis": AXES, "period": NUMBERS}),
    "np.polyval": (ARRAYS, ARRAYS),
    "np.polyder": (ARRAYS, {"m": WHOLE}),
    "np.polyadd": (ARRAYS, ARRAYS),
    "np.polyint": (ARRAYS, {"m": WHOLE, "k": ARRAYS}),
    "np.polymul": (ARRAYS, ARRAYS),
    "np.convolve": (ARRAYS, ARRAYS, {"mode": MODES}),
    "np.correlate": (ARRAYS, ARRAYS, {"mode": MODES}),
    "np.rot90": (ARRAYS, {"k": WHOLE, "axes": ("(0,1)", "(1,0)", "(0,0)", "(0,2)", "(-1,-2)")}),
    "np.rollaxis": (ARRAYS, AXES, {"start": WHOLE}),
    "np.cross": (ARRAYS, ARRAYS, {"axis": AXES}),
    "np.insert": (ARRAYS, (*WHOLE, *ARRAYS), (*ARRAYS, *NUMBERS), {"axis": AXES}),
    "np.delete": (ARRAYS, (*WHOLE, *ARRAYS), {"axis": AXES}),
    "np.append": (ARRAYS, ARRAYS, {"axis": AXES}),
    "np.resize": (ARRAYS, SHAPES),
    "np.take_along_axis": (ARRAYS, ARRAYS, ("0", "-1", "1", "5", "-2")),
    "np.fft.fftfreq": (WHOLE, {"d": NUMBERS}),
    "np.fft.fftshift": (ARRAYS, {"axes": AXES}),
    "np.linalg.norm": (ARRAYS, {"ord": ("None", "1", "2", "np.inf", "'fro'", "0", "-1", "3"), "axis": AXES}),
    "np.linalg.matrix_power": (ARRAYS, WHOLE),
    "np.linspace": (NUMBERS + ARRAYS, NUMBERS + ARRAYS, WHOLE, {"endpoint": FLAGS, "retstep": FLAGS, "dtype": TYPES}),
    "np.tri": (WHOLE, WHOLE, WHOLE),
    "np.tril_indices": (WHOLE, WHOLE, WHOLE),
    "np.diagflat": (ARRAYS, WHOLE),
    "np.vander": (ARRAYS, WHOLE, {"increasing": FLAGS}),
    "np.hanning": (WHOLE,),
    "np.digitize": (ARRAYS, ARRAYS, {"right": FLAGS}),
    "np.interp": (ARRAYS, ARRAYS, ARRAYS, {"left": NUMBERS, "right": NUMBERS, "period": NUMBERS}),
    "np.bincount": (ARRAYS, {"minlength": WHOLE}),
    "np.histogram": (ARRAYS, {"bins": WHOLE + ARRAYS, "range": ("(0,1)", "(1,0)", "(0.0,4)"), "density": FLAGS}),
    "np.histogram2d": (ARRAYS, ARRAYS, {"bins": WHOLE + ARRAYS, "range": ("[(0,1),(0,4)]", "(0,4)"), "density": FLAGS}),
    "np.histogramdd": (ARRAYS + LISTS, {"bins": WHOLE + ARRAYS, "density": FLAGS, "weights": ARRAYS}),
    "np.packbits": (ARRAYS, AXES, {"bitorder": ("'big'", "'little'", "'x'")}),
    "np.unpackbits": (("u", "u[::-1]", "u[:0]", "i"), AXES, {"count": WHOLE, "bitorder": ("'big'", "'little'", "'x'")}),
    "np.polydiv": (ARRAYS, ARRAYS),
    "np.kaiser": (WHOLE, NUMBERS),
    "np.matvec": (ARRAYS, ARRAYS),
    "np.vecmat": (ARRAYS, ARRAYS),
    "np.linalg.multi_dot": (LISTS,),
    "np.apply_over_axes": (("np.sum", "np.max"), ARRAYS, AXES),
    "np.unique_all": (ARRAYS,),
    "np.polynomial.legendre.legval": (ARRAYS, ARRAYS),
    "np.unique": (ARRAYS, {"return_index": FLAGS, "return_inverse": FLAGS, "return_counts": FLAGS, "axis": ("0", "1")}),
    "np.isin": (ARRAYS, ARRAYS, {"invert": FLAGS}),
    "np.union1d": (ARRAYS, ARRAYS),
    "np.intersect1d": (ARRAYS, ARRAYS),
    "np.setdiff1d": (ARRAYS, ARRAYS),
    "np.setxor1d": (ARRAYS, ARRAYS),
    "np.average": (ARRAYS, {"axis": AXES, "returned": FLAGS, "keepdims": FLAGS}),
    "np.median": (ARRAYS, {"axis": AXES}),
    "np.percentile": (ARRAYS, NUMBERS + ARRAYS, {"axis": AXES}),
    "np.nansum": (ARRAYS, {"axis": AXES, "dtype": TYPES, "keepdims": FLAGS}),
    "np.nancumsum": (ARRAYS, {"axis": AXES}),
    "np.nanmax": (ARRAYS, {"axis": AXES, "keepdims": FLAGS}),
    "np.nanargmax": (ARRAYS, {"axis": AXES}),
    "np.cumulative_sum": (ARRAYS, {"axis": AXES, "include_initial": FLAGS}),
    "np.pad": (ARRAYS, (*WHOLE, "(1,2)", "((1,0),(0,2))", "[1]"), {"mode": ("'edge'", "'reflect'", "'wrap'")}),
    "np.roll": (ARRAYS, (*WHOLE, "(1,2)"), {"axis": AXES}),
    "np.tile": (ARRAYS, WHOLE + SHAPES),
    "np.repeat": (ARRAYS, WHOLE + ARRAYS, {"axis": AXES}),
    "np.flip": (ARRAYS, {"axis": AXES}),
    "np.take": (ARRAYS, WHOLE + ARRAYS, {"axis": AXES, "mode": ("'wrap'", "'clip'", "'raise'")}),
    "np.searchsorted": (ARRAYS, ARRAYS, {"side": ("'left'", "'right'")}),
    "np.clip": (ARRAYS, NUMBERS + ARRAYS, NUMBERS + ARRAYS),
    "np.where": (ARRAYS, ARRAYS, ARRAYS),
    "np.concatenate": (LISTS, {"axis": AXES}),
    "np.stack": (LISTS, {"axis": AXES}),
    "np.vstack": (LISTS,),
    "np.hstack": (LISTS,),
    "np.column_stack": (LISTS,),
    "np.split": (ARRAYS, (*WHOLE, "[1,2]", "[]", "[9]"), {"axis": AXES}),
    "np.array_split": (ARRAYS, (*WHOLE, "[1,2]")),
    "np.inner": (ARRAYS, ARRAYS),
    "np.matmul": (ARRAYS, ARRAYS),
    "np.kron": (ARRAYS, ARRAYS),
    "np.tensordot": (ARRAYS, ARRAYS, {"axes": ("0", "1", "2", "([0],[1])", "(0,1)")}),
    "np.diag": (ARRAYS, {"k": WHOLE}),
    "np.triu": (ARRAYS, {"k": WHOLE}),
    "np.cumsum": (ARRAYS, {"axis": AXES, "dtype": TYPES}),
    "np.sum": (ARRAYS, {"axis": AXES, "keepdims": FLAGS, "initial": NUMBERS, "dtype": TYPES}),
    "np.max": (ARRAYS, {"axis": AXES, "keepdims": FLAGS, "initial": NUMBERS}),
    "np.argmin": (ARRAYS, {"axis": AXES}),
    "np.sort": (ARRAYS, {"axis": AXES}),
    "np.nonzero": (ARRAYS,),
    "np.count_nonzero": (ARRAYS, {"axis": AXES, "keepdims": FLAGS}),
    "np.any": (ARRAYS, {"axis": AXES, "keepdims": FLAGS}),
    "np.reshape": (ARRAYS, SHAPES),
    "np.squeeze": (ARRAYS, {"axis": AXES}),
    "np.transpose": (ARRAYS, ("None", "(1,0)", "(0,)", "(0,0)", "(1,2,0)")),
    "np.broadcast_to": (ARRAYS, SHAPES),
    "np.full": (SHAPES, NUMBERS + ARRAYS),
    "np.zeros": (SHAPES + FLAGS,),
    "np.arange": (NUMBERS, NUMBERS, NUMBERS),
    "np.eye": (WHOLE, WHOLE, {"k": WHOLE}),
    "np.round": (ARRAYS, {"decimals": WHOLE}),
    "np.piecewise": (ARRAYS, ("[b]", "[True]"), ("[1]", "[1,2]")),
    "np.choose": (ARRAYS, ("[i, f]", "[1,2,3,4]", "(m[0], u, b)"), {"mode": ("'wrap'", "'clip'")}),
    "np.apply_along_axis": (("np.sum", "lambda v: v[0]", "lambda v: v*2"), ("0", "-1", "1", "5"), ARRAYS),
    "np.unravel_index": (("i", "u", "k", "n", "True", "[1,2]", "[[0,9]]"), ("2", "(2,2)", "(0,3)", "k", "[3]")),
    "np.gradient": (ARRAYS, {"axis": AXES}),
    "np.extract": (ARRAYS, ARRAYS),
    "np.compress": (ARRAYS, ARRAYS, {"axis": ("None", "0", "-1", "1", "5")}),
    "np.gcd": (ARRAYS, ARRAYS),
    "np.divmod": (ARRAYS, ARRAYS),
}  # fmt: skip


def calls(name: str, count: int, seed: int) -> Iterator[str]:
    """Calls of a function, made at random: each optional argument is given now and then."""
    rng = random.Random(f"{name} {seed}")
    for _ in range(count):
        given: list[str] = []
        for choices in CALLS[name]:
            if isinstance(choices, dict):
                given += [f"{k}={rng.choice(v)}" for k, v in choices.items() if rng.random() < 0.4]
            else:
                given.append(rng.choice(choices))
        yield f"{name}({', '.join(given)})"
