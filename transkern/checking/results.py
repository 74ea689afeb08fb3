"""How many axes the results of NumPy's functions have."""

from __future__ import annotations

import ast
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Protocol

from transkern.checking.axes import COUNT, NUMBER, UNKNOWN, VECTOR, Axes, together
from transkern.checking.documented import documented

_KEEP = frozenset([
    "array", "asanyarray", "asarray", "asarray_chkfinite", "ascontiguousarray", "asfortranarray", "clip", "copy",
    "flip", "fliplr", "flipud", "moveaxis", "nan_to_num", "pad", "partition", "require", "roll", "rollaxis", "rot90",
    "sort", "swapaxes", "transpose", "tril", "triu", "unwrap", "diff",
])  # fmt: skip
"""Of the elements of their first argument, and with as many axes."""

_SAME = frozenset([
    "abs", "angle", "argpartition", "argsort", "around", "cholesky", "conj", "conjugate", "digitize", "empty_like",
    "fft", "fft2", "fftn", "fftshift", "full_like", "hfft", "i0", "ifft", "ifft2", "ifftn", "ifftshift", "ihfft",
    "imag", "interp", "inv", "irfft", "iscomplex", "isin", "isneginf", "isposinf", "isreal", "matrix_power",
    "ones_like", "pinv", "real", "real_if_close", "rfft", "rfft2", "round", "sinc", "zeros_like",
])  # fmt: skip
"""With as many axes as their first argument."""

_ONE = frozenset([
    "arange", "bartlett", "bincount", "blackman", "compress", "convolve", "correlate", "ediff1d", "extract",
    "fftfreq", "flatnonzero", "frombuffer", "fromiter", "geomspace", "hamming", "hanning", "intersect1d", "kaiser",
    "linspace", "logspace", "poly", "polyadd", "polyder", "polyfit", "polyint", "polymul", "rfftfreq", "roots",
    "setdiff1d", "trim_zeros", "union1d",
])  # fmt: skip
"""With one axis."""

_TWO = frozenset(["argwhere", "atleast_2d", "column_stack", "eye", "identity", "outer", "tri", "vander", "vstack"])
_SHAPED = frozenset(["broadcast_to", "empty", "full", "ndarray", "ones", "reshape", "resize", "zeros"])
_MAKERS = frozenset([
    "arange", "empty", "eye", "full", "geomspace", "identity", "linspace", "logspace", "ones", "rand", "randn", "zeros",
])  # fmt: skip
_FLATTENS = frozenset([
    "append", "cumprod", "cumsum", "delete", "insert", "nancumprod", "nancumsum", "ravel", "flatten", "repeat", "take",
    "unique",
])  # fmt: skip
_OF_NUMBERS = frozenset([
    "allclose", "around", "clip", "full", "full_like", "geomspace", "i0", "imag", "interp", "isclose", "isin",
    "isscalar", "linspace", "logspace", "nan_to_num", "real", "real_if_close", "round", "sinc", "size", "ndim", "angle",
    "select", "piecewise", "unravel_index", "iscomplex", "isreal", "shape", "copyto", "may_share_memory", "result_type",
])  # fmt: skip
"""Functions that numbers are given to as well."""

_COMPLEX = frozenset(["angle", "conj", "conjugate", "imag"])


def makes_arrays(path: str, given: Collection[str]) -> bool:
    """Whether a function makes arrays of nothing, where it is given some of its parameters."""
    return path.rpartition(".")[2] in _MAKERS or (".random." in path and "size" in given)


def of_arrays(path: str) -> bool:
    """Whether what NumPy calls `array_like` is an array, of a function."""
    return path.rpartition(".")[2] not in _OF_NUMBERS and ".random." not in path


class Looking(Protocol):
    """Whoever looks at expressions (`uses`)."""

    def value(self, node: ast.expr) -> Axes: ...
    def at_least(self, axes: Axes, low: int) -> None: ...
    def at_most(self, axes: Axes, most: int) -> None: ...
    def exactly(self, axes: Axes, count: int) -> None: ...
    def count(self, axes: Axes) -> None: ...
    def complex(self, axes: Axes) -> None: ...
    def rank(self, axes: Axes) -> int | None: ...
    def shape_of(self, found: Axes) -> Axes: ...
    def product(self, first: Axes, second: Axes, left: ast.expr, right: ast.expr) -> Axes: ...


def made(
    looking: Looking, path: str, args: Sequence[tuple[ast.expr, Axes]], named: Mapping[str, Axes],
    nodes: Mapping[str, ast.expr], over_axes: bool,
) -> Axes:  # fmt: skip
    """What a call of a function makes; its arguments in order, and by the names of its parameters."""
    name = path.rpartition(".")[2]
    given = [found for _, found in args] or list(named.values())
    first = given[0] if given else UNKNOWN
    if name in ("default_rng", "RandomState"):
        return replace(UNKNOWN, made=f"numpy.random.{'Generator' if name == 'default_rng' else name}")
    if "size" in named and (".random." in path):
        return looking.shape_of(named["size"])
    if ".random." in path and "size" in documented(path).told:
        return NUMBER if all(looking.rank(one) == 0 for one in given) else UNKNOWN
    if path.startswith("numpy.random."):
        return Axes(least=len(given)) if name in ("rand", "randn") and given else UNKNOWN
    match name:
        case "einsum":
            return _einsum(looking, args)
        case "dot" | "matmul" if len(args) > 1:
            return looking.product(given[0], given[1], args[0][0], args[1][0])
        case "where" | "nonzero" if len(given) == 1:
            return Axes(known=False, each=first)
        case "gradient":
            return replace(first.alone(), each=first)
        case "meshgrid":
            for one in given:
                looking.at_least(one, 1)
                looking.at_most(one, 1)
            return Axes(items=(Axes(least=len(given)),) * len(given))
        case "diag":
            looking.at_least(first, 1)
            return Axes(least=2) if looking.rank(first) == 1 else VECTOR if looking.rank(first) == 2 else UNKNOWN
        case "arange" if len(given) == 1 and len(args) == 1:
            looking.count(first)
            return VECTOR
        case "where" if len(given) == 3:
            return together(given).alone()
        case "searchsorted" if len(given) > 1:
            return given[1].alone()
        case "concatenate" | "hstack" | "vstack" | "stack" | "column_stack":
            return _joined(looking, name, first, nodes)
        case "array" | "asarray" if first.items is not None:
            _numbers(looking, first)
            return first.alone()
        case "asarray" | "asanyarray" | "ascontiguousarray" | "array" | "zeros_like" | "ones_like" | "empty_like":
            looking.at_least(first, 1)  # or it would be for nothing
            return first.alone() if name.endswith("like") else first.kept()
        case "expand_dims":
            return first.without(-1).alone()
        case "ndim" | "size" | "count_nonzero":
            return COUNT
        case "item" | "trace" | "det" | "vdot" | "isscalar" | "allclose" | "array_equal":
            return NUMBER
    if name in _SHAPED:
        shape = named.get("shape", named.get("newshape", given[-1] if name == "reshape" and given else first))
        shaped = looking.shape_of(shape)
        return replace(shaped, whole=first.whole, mask=first.mask) if name == "reshape" else shaped
    if name in _FLATTENS and "axis" not in named:
        looking.at_least(first, name in ("cumsum", "cumprod"))
        return replace(VECTOR, whole=first.whole, mask=first.mask)
    if "keepdims" in documented(path).told:
        return _reduced(looking, first, named, nodes)
    if over_axes and "axis" in nodes:
        looking.at_least(first, _axes(nodes["axis"])[0])
    if name in _ONE:
        return VECTOR
    if name in _TWO:
        return Axes(least=2)
    if name in _COMPLEX:
        looking.complex(first)
    if name in _KEEP or name in _FLATTENS:
        return first.kept()
    return first.alone() if name in _SAME else UNKNOWN


def _numbers(looking: Looking, listed: Axes) -> None:
    """What is written out in an array are numbers."""
    for item in listed.items or ():
        if item.items is None:
            looking.at_most(item, 0)
        else:
            _numbers(looking, item)


def _axes(node: ast.expr) -> tuple[int, int]:
    """How many axes an argument `axis` says that there are at least, and how many it names."""
    parts = node.elts if isinstance(node, ast.Tuple) else [node]
    least = 1
    for part in parts:
        match part:
            case ast.Constant(value=int() as axis):
                least = max(least, axis + 1)
            case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() as axis)):
                least = max(least, axis)
    return max(least, len(parts)), len(parts)


def _reduced(looking: Looking, first: Axes, named: Mapping[str, Axes], nodes: Mapping[str, ast.expr]) -> Axes:
    """The result of a function that leaves axes out."""
    axis = nodes.get("axis")
    none = axis is None or (isinstance(axis, ast.Constant) and axis.value is None)
    keeps = nodes.get("keepdims")
    if none or axis is None:
        looking.at_least(first, 1)
        return NUMBER if keeps is None else first.alone()
    least, count = _axes(axis)
    looking.at_least(first, least)
    looking.count(named["axis"])
    return first.alone() if isinstance(keeps, ast.Constant) and keeps.value else first.without(count).alone()


def _joined(looking: Looking, name: str, first: Axes, nodes: Mapping[str, ast.expr]) -> Axes:
    """The result of a function that puts arrays together."""
    parts = first.items or ()
    axis = _axes(nodes["axis"])[0] if "axis" in nodes else 1
    for part in parts:
        looking.at_least(part, axis if name == "concatenate" else 1 if name == "hstack" else 0)
    inside = together(parts).alone() if parts else first.without(1).alone()
    if name in ("vstack", "column_stack"):
        return Axes(least=2)
    if name == "stack":
        return inside.without(-1)
    return replace(inside, least=max(inside.least, 1))


def _einsum(looking: Looking, args: Sequence[tuple[ast.expr, Axes]]) -> Axes:
    """``np.einsum("ij,j->i", a, x)``."""
    text = args[0][0].value if args and isinstance(args[0][0], ast.Constant) else None
    if not isinstance(text, str) or "." in text:
        return UNKNOWN
    inputs, _, output = text.replace(" ", "").partition("->")
    for letters, (_, operand) in zip(inputs.split(","), args[1:], strict=False):
        looking.exactly(operand, len(letters))
    return Axes(least=len(output)) if "->" in text else UNKNOWN
