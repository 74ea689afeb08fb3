"""Sums of products: dot, tensordot, einsum, kron, trace."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from transkern import refusals
from transkern.frontend.context import Context
from transkern.frontend.numpy import outputs
from transkern.frontend.numpy.arrays import as_array, result_type
from transkern.frontend.numpy.elementwise import apply, convert
from transkern.frontend.numpy.library_calls import matmul, stored
from transkern.frontend.numpy.reductions import reduce
from transkern.frontend.numpy.shaping import expand, reshape, transpose
from transkern.frontend.numpy.sizes import constant_axis, constant_int, normal_axis
from transkern.frontend.translate.arguments import Arguments, handles
from transkern.frontend.values.broadcasting import broadcast_dims, shape_text, stretched
from transkern.frontend.values.strides import depends_on_strides, is_argument, is_contiguous
from transkern.frontend.values.values import Array, Scalar, Seq, Static, Value
from transkern.ir import build as b
from transkern.ir.complexes import is_complex
from transkern.ir.expr import Apply, Axis, Const, Expr, Load, Reduce


@handles("numpy.outer", "numpy.linalg.outer", names="a b out")
def _outer(ctx: Context, a: Arguments) -> Value:
    if a.name == "np.linalg.outer" and not a.array("a").ndim == a.array("b").ndim == 1:
        shown = f"x1.ndim={a.array('a').ndim} and x2.ndim={a.array('b').ndim}"
        ctx.guard(b.FALSE, "ValueError", f"Input arrays must be one-dimensional, but they are {shown}.")
    x = reshape(ctx, a.array("a"), [Static(-1), Static(1)])
    y = reshape(ctx, a.array("b"), [Static(1), Static(-1)])
    if isinstance(out := a.get("out"), Array):
        outputs.check_writable(ctx, [out])
        outputs.check_casts(ctx, "multiply", [x, y], [out])
        outputs.fitting(ctx, [x, y], [out])
    return a.result(apply(ctx, "multiply", [x, y]))


@handles("numpy.matmul", "numpy.linalg.matmul", names="a b out")
def _matmul(ctx: Context, a: Arguments) -> Value:
    left, right = a.array("a"), a.array("b")
    a.check_out()
    made = matmul(ctx, left, right)
    if isinstance(out := a.get("out"), Array):
        outputs.check_cast(ctx, "matmul", as_array(ctx, made).dtype, out.dtype)
    return a.result(made)


@handles("numpy.dot", "numpy.inner", names="a b out")
def _dot(ctx: Context, a: Arguments) -> Value:
    made = dot(ctx, a.need("a"), a.need("b"), a.name == "np.inner")
    if isinstance(out := a.get("out"), Array):
        if not all(as_array(ctx, a.need(name)).ndim for name in "ab"):
            ctx.fail(refusals.OUT, f"`{a.name}` of a number with `out=`", "use np.multiply")
        like = as_array(ctx, made)
        text = "output array is not acceptable (must have the right datatype, number of dimensions, and be a C-Array)"
        if out.view and not is_argument(ctx, out) and depends_on_strides(ctx, out):
            problem = "an `out=` of which only a call can tell whether it is contiguous"
            ctx.fail(refusals.OUT, problem, "assign to it: out[...] = …")
        acceptable = out.dtype == like.dtype and out.ndim == like.ndim and is_contiguous(ctx, out)
        ctx.guard(b.TRUE if acceptable else b.FALSE, "ValueError", text)
        outputs.check_shape(ctx, out, like.dims, "output array has wrong dimensions")
    return a.result(made)


_OF_BLAS = ("float32", "float64", "complex64", "complex128")


def dot(ctx: Context, left: Value, right: Value, inner: bool = False) -> Value:
    """``np.dot``: over the last axis of the first and the last but one of the second (`inner`: its last)."""
    x, y = (ctx.kept(as_array(ctx, v)) for v in (left, right))
    if x.ndim == 0 or y.ndim == 0:
        scaled = apply(ctx, "multiply", [x, y])  # Python's numbers as arrays: they are not weak here
        dtype = result_type(ctx, [x, y])
        dims = (*x.dims, *y.dims)
        if dtype not in _OF_BLAS or len(dims) > 2 or all(b.constant(d) == 1 for d in dims):
            return scaled
        zero = Const(0j if is_complex(dtype) else 0.0, dtype)
        added = as_array(ctx, apply(ctx, "add", [Scalar(zero), scaled]))  # BLAS adds it to zeros: -0.0 does not stay
        factor = b.cast((y if x.ndim else x).body, dtype)  # where it is zero, BLAS does nothing: no NaN of infinity
        return replace(added, body=b.where(Apply("equal", (factor, zero), "bool"), zero, added.body), view=False)
    at = y.ndim - 1 if inner or y.ndim == 1 else y.ndim - 2
    own, other = x.dims[-1], y.dims[at]
    turned = (*y.dims[:-2], y.dims[-1], y.dims[-2]) if inner and y.ndim > 1 else y.dims  # as NumPy tells it
    shapes = [shape_text(dims) for dims in (x.dims, turned)]
    ctx.guard(
        b.compare("equal", own, other), "ValueError",
        f"shapes {shapes[0]} and {shapes[1]} not aligned: {{}} (dim {x.ndim - 1}) != {{}} (dim {max(y.ndim - 2, 0)})",
        (*x.dims, *turned, own, other),
    )  # fmt: skip
    if x.ndim <= 2 and y.ndim <= 2 and all(b.constant(d) == 1 for d in (*x.dims, *y.dims)):
        dtype = result_type(ctx, [x, y])
        if dtype in _OF_BLAS:  # no sum, which would begin with 0.0
            one, two = (b.cast(v.at((b.ZERO,) * v.ndim), dtype) for v in (x, y))
            axes = ctx.names.axes((b.ONE,) * (x.ndim + y.ndim - 2))
            product = Apply("multiply", (one, two), dtype)
            return Array(axes, product) if axes else Scalar(product)
    if inner and y.ndim == 2:
        return matmul(ctx, x, transpose(ctx, y, None), "dot")
    if x.ndim <= 2 and y.ndim <= 2:
        return matmul(ctx, x, y, "dot")
    return _contract(ctx, x, y, (x.ndim - 1,), (at,))


@handles("numpy.vdot", names="a b")
def _vdot(ctx: Context, a: Arguments) -> Value:
    x, y = (reshape(ctx, a.kept(name), [Static(-1)]) for name in "ab")
    ctx.guard(
        b.compare("equal", x.dims[0], y.dims[0]), "ValueError", "cannot reshape array of size {} into shape ({},)",
        (y.dims[0], x.dims[0]),
    )  # fmt: skip
    return matmul(ctx, _conjugated(ctx, x), y)


def _conjugated(ctx: Context, x: Array) -> Array:
    return as_array(ctx, apply(ctx, "conjugate", [x])) if is_complex(x.dtype) else x


@handles("numpy.linalg.vecdot", names="x1 x2 axis")
@handles("numpy.vecdot", names="x1 x2 out axis")
def _vecdot(ctx: Context, a: Arguments) -> Value:
    axis = constant_int(ctx, a.get("axis") or Static(-1), "an axis")
    pair = [a.kept("x1"), a.kept("x2")]
    for k, x in enumerate(pair):
        if not x.ndim:
            text = f"vecdot: Input operand {k} does not have enough dimensions (has 0, gufunc core with signature "
            ctx.guard(b.FALSE, "ValueError", f"{text}(n),(n)->() requires 1)")
    x, y = (_last(ctx, v, axis) for v in pair)
    ctx.guard(
        b.compare("equal", x.dims[-1], y.dims[-1]), "ValueError",
        "vecdot: Input operand 1 has a mismatch in its core dimension 0, with gufunc signature (n),(n)->() "
        "(size {} is different from {})", (y.dims[-1], x.dims[-1]),
    )  # fmt: skip
    product = as_array(ctx, apply(ctx, "multiply", [_conjugated(ctx, x), y]))
    return a.result(reduce(ctx, "sum", product, Static(-1), False, product.dtype))


def _last(ctx: Context, value: Array, axis: int) -> Array:
    """An array with an axis as its last one."""
    at = normal_axis(ctx, axis, value.ndim)
    return transpose(ctx, value, [*(d for d in range(value.ndim) if d != at), at])


@handles("numpy.tensordot", "numpy.linalg.tensordot", names="a b axes")
def _tensordot(ctx: Context, a: Arguments) -> Value:
    x, y = ctx.kept(a.array("a")), ctx.kept(a.array("b"))
    mine, theirs = _contracted(ctx, a.get("axes") or Static(2))
    if len(set(mine)) != len(mine) or len(set(theirs)) != len(theirs):
        ctx.guard(b.FALSE, "ValueError", "duplicate axes are not allowed in tensordot")
    if len(mine) != len(theirs):
        ctx.guard(b.FALSE, "ValueError", "shape-mismatch for sum")
    for p, q in zip(mine, theirs, strict=True):
        if not (-x.ndim <= p < x.ndim and -y.ndim <= q < y.ndim):
            ctx.guard(b.FALSE, "IndexError", "tuple index out of range")
        ctx.guard(b.compare("equal", x.dims[p], y.dims[q]), "ValueError", "shape-mismatch for sum")
    mine, theirs = tuple(d % x.ndim for d in mine), tuple(d % y.ndim for d in theirs)
    return as_array(ctx, _contract(ctx, x, y, mine, theirs))


def _contracted(ctx: Context, axes: Value) -> tuple[tuple[int, ...], tuple[int, ...]]:
    if isinstance(axes, Seq):
        first, second = axes.items
        return _numbers(ctx, first), _numbers(ctx, second)
    count = constant_int(ctx, axes, "axes")
    return tuple(range(-count, 0)), tuple(range(count))


def _numbers(ctx: Context, value: Value) -> tuple[int, ...]:
    items = value.items if isinstance(value, Seq) else (value,)
    return tuple(constant_axis(ctx, i) for i in items)


def _contract(ctx: Context, x: Array, y: Array, mine: Sequence[int], theirs: Sequence[int]) -> Value:
    """The sum of products over pairs of axes, as one matrix product."""
    rows = [d for d in range(x.ndim) if d not in mine]
    columns = [d for d in range(y.ndim) if d not in theirs]
    left, right = transpose(ctx, x, [*rows, *mine]), transpose(ctx, y, [*theirs, *columns])
    out = (*left.dims[: len(rows)], *right.dims[len(theirs) :])
    shared = b.product(left.dims[len(rows) :])

    def flat(value: Array, dims: Sequence[Expr]) -> Array:
        return reshape(ctx, value, [Scalar(d, True) for d in dims])

    one = flat(left, (b.product(out[: len(rows)]), shared))
    product = matmul(ctx, one, flat(right, (shared, b.product(out[len(rows) :]))), "dot")
    if not out:
        return Scalar(as_array(ctx, product).at((b.ZERO, b.ZERO)))
    return flat(as_array(ctx, product), out)


@handles("numpy.kron", names="a b")
def _kron(ctx: Context, a: Arguments) -> Value:
    p, q = as_array(ctx, a.need("a")), as_array(ctx, a.need("b"))
    if not p.ndim or not q.ndim:
        return apply(ctx, "multiply", [p, q])
    dtype = result_type(ctx, [p, q])
    p, q = stored(ctx, convert(p, dtype), "left"), stored(ctx, convert(q, dtype), "right")
    ndim = max(p.ndim, q.ndim)
    outer = (*[b.ONE] * (ndim - p.ndim), *p.dims)
    inner = (*[b.ONE] * (ndim - q.ndim), *q.dims)
    axes = ctx.names.axes(tuple(b.mul(m, n) for m, n in zip(outer, inner, strict=True)))
    at = [b.floordiv(x.var, n) for x, n in zip(axes, inner, strict=True)][ndim - p.ndim :]
    rest = [b.mod(x.var, n) for x, n in zip(axes, inner, strict=True)][ndim - q.ndim :]
    return Array(axes, Apply("multiply", (p.at(tuple(at)), q.at(tuple(rest))), dtype))


# --- einsum


@handles("numpy.einsum", names="subscripts a b c d e f optimize dtype order casting")
def _einsum(ctx: Context, a: Arguments) -> Value:
    text = a.need("subscripts")
    if not isinstance(text, Static) or not isinstance(text.value, str):
        help = "write np.einsum('ij,jk->ik', a, b)"
        ctx.fail(refusals.NEEDS_CONSTANT, "np.einsum without its subscripts as a constant text", help)
    if a.get("dtype") is not None:
        ctx.fail(refusals.OPTION, "np.einsum with dtype=", "convert the operands with .astype")
    operands = [as_array(ctx, a.given[name]) for name in "abcdef" if name in a.given]
    operands = [ctx.kept(v) for v in operands]
    terms, out = _subscripts(ctx, text.value, operands)
    dims = _label_dims(ctx, terms, out, operands)
    extents: dict[str, Expr] = {}
    with ctx.control.raising("ValueError", *_remapped(terms, out, dims, operands)):
        for label in "".join(dict.fromkeys("".join(terms))):
            (extents[label],) = broadcast_dims(ctx, [(d[label],) for d in dims if label in d])
    dtype = result_type(ctx, operands)
    if len(operands) == 1 and set(out) == set(terms[0]):
        axes = _axes(ctx, extents)
        body = _element(ctx, terms[0], operands[0], axes, dtype)
        view = operands[0].view and isinstance(body, Load)
        return Array(tuple(axes[label] for label in out), body, view=view, readonly=operands[0].readonly)
    summed = set(extents) != set(out)
    if summed and dtype == "float16":
        problem = "`np.einsum` that adds numbers of float16, which NumPy rounds between"
        ctx.fail(refusals.DTYPE, problem, "convert them with .astype")
    operands = [stored(ctx, v, "operand") for v in operands]
    for (one, two), labels in _pairs(terms, out, _has_library(ctx, dtype)):
        rest = [k for k in range(len(terms)) if k not in (one, two)]
        part = _sum_of_products(
            ctx, [terms[one], terms[two]], [operands[one], operands[two]], labels, extents, dtype, True
        )
        terms = [*(terms[k] for k in rest), labels]
        operands = [*(operands[k] for k in rest), as_array(ctx, part)]
    is_plain = not summed and _is_plain(a.get("optimize"))
    return _sum_of_products(ctx, terms, operands, out, extents, dtype, not is_plain)


def _axes(ctx: Context, extents: Mapping[str, Expr]) -> dict[str, Axis]:
    return {label: ctx.names.axis(label if label.isalpha() else "e", extent) for label, extent in extents.items()}


def _element(ctx: Context, labels: str, value: Array, axes: Mapping[str, Axis], dtype: str) -> Expr:
    at = (stretched(ctx, (d,), (axes[label],))[0] for label, d in zip(labels, value.dims, strict=True))
    return b.cast(value.at(tuple(at)), dtype)


def _sum_of_products(
    ctx: Context, terms: Sequence[str], operands: Sequence[Array], out: str, extents: Mapping[str, Expr], dtype: str,
    signed: bool,
) -> Value:  # fmt: skip
    """Products of elements, added up over the labels that `out` does not have. `signed`: what is not added up may
    be -0.0."""
    product = _matrix_product(ctx, terms, operands, out, extents, dtype)
    if product is not None:
        return product
    axes = _axes(ctx, {label: extents[label] for label in dict.fromkeys("".join(terms))})
    factors = [_element(ctx, t, v, axes, dtype) for t, v in zip(terms, operands, strict=True)]
    body = factors[0]
    for factor in factors[1:]:
        body = Apply("multiply", (body, factor), dtype)
    kept = tuple(axes[label] for label in out)
    summed = tuple(axis for label, axis in axes.items() if label not in out)
    if summed:
        body = Reduce("any" if dtype == "bool" else "sum", summed, body, dtype, ctx.session.span)
    elif dtype.startswith(("float", "complex")) and not signed:
        body = Apply("add", (body, Const(0.0, dtype)), dtype)  # NumPy adds each product to a zero: none is -0.0
    return Scalar(ctx.let(body, "total")) if not kept else ctx.define(Array(kept, body), "product")


def _pairs(terms: Sequence[str], out: str, products: bool) -> list[tuple[tuple[int, int], str]]:
    """Which two factors are multiplied first, and the labels of what they make, while there are more than two; none,
    where these sums are nests as deep as the one of all factors and the last of them is no product of matrices."""
    left, found = list(terms), list[tuple[tuple[int, int], str]]()
    most = len(set("".join(terms)))
    while len(left) > 2:
        costs = []
        for two in range(len(left)):
            for one in range(two):
                others = {*out, *"".join(t for k, t in enumerate(left) if k not in (one, two))}
                both = dict.fromkeys(left[one] + left[two])
                kept = "".join(sorted(set(both) & others, key=lambda c: (out + "".join(both)).index(c)))
                costs.append((len(both), len(kept), (one, two), kept))
        labels, _, (one, two), kept = min(costs)
        if labels >= most:
            return []
        found.append(((one, two), kept))
        left = [*(t for k, t in enumerate(left) if k not in (one, two)), kept]
    return found if len(set("".join(left))) < most or (products and _groups(left, out) is not None) else []


def _has_library(ctx: Context, dtype: str) -> bool:
    """Whether products of matrices are a library's, which takes views."""
    return ctx.session.steps_take_views and np.dtype(dtype).kind in "fc"


def _groups(terms: Sequence[str], out: str) -> tuple[str, str, str] | None:
    """The labels that a product of two matrices adds up, those of its rows and of its columns, in groups."""
    if len(terms) != 2:
        return None
    one, two = terms
    inner = "".join(label for label in one if label in two)
    rows, columns = ("".join(label for label in t if label not in inner) for t in terms)
    if not (inner and rows and columns) or len({*one, *two}) != len(inner + rows + columns):
        return None
    if one not in (rows + inner, inner + rows) or two not in (inner + columns, columns + inner):
        return None
    return (inner, rows, columns) if out in (rows + columns, columns + rows) else None


def _matrix_product(
    ctx: Context, terms: Sequence[str], operands: Sequence[Array], out: str, extents: Mapping[str, Expr], dtype: str
) -> Value | None:
    """The product of two matrices, by a library, where that is what is asked for: ``ij,jk->ik``, with the axes of each
    operand, and of the result, in two groups; also of many matrices."""
    if len(terms) != 2 or np.dtype(dtype).kind not in "fc":
        return None
    one, two = terms
    if not ctx.session.steps_take_views:
        return _products_of_matrices(ctx, one, two, operands, out, extents)
    found = _groups(terms, out)
    if found is None:
        return _products_of_matrices(ctx, one, two, operands, out, extents)
    if not _are_walked(ctx, terms, operands, extents):
        return None
    inner, rows, columns = found
    groups = {g: b.product(tuple(extents[label] for label in g)) for g in (inner, rows, columns)}

    def matrix(value: Array, *labels: str) -> Array:
        if len("".join(labels)) > 2:
            value = reshape(ctx, value, [Scalar(groups[g], True) for g in labels])
        return value

    x = matrix(operands[0], rows, inner) if one == rows + inner else transpose(
        ctx, matrix(operands[0], inner, rows), None
    )
    y = matrix(operands[1], inner, columns) if two == inner + columns else transpose(
        ctx, matrix(operands[1], columns, inner), None
    )
    if out == columns + rows:
        x, y = transpose(ctx, y, None), transpose(ctx, x, None)
    product = as_array(ctx, matmul(ctx, x, y))
    return product if len(out) == 2 else reshape(ctx, product, [Scalar(extents[label], True) for label in out])


def _products_of_matrices(
    ctx: Context, one: str, two: str, operands: Sequence[Array], out: str, extents: Mapping[str, Expr]
) -> Value | None:
    """The same of many matrices, or of matrices and vectors: one axis to add up, at most one of each operand's own, and
    any number that both have. On devices, where a library takes arrays as NumPy makes them and is no part of a
    loop's kernel, of matrices alone."""
    both = "".join(label for label in out if label in one and label in two)
    inner = "".join(label for label in one if label in two and label not in out)
    rows, columns = ("".join(label for label in t if label not in both + inner) for t in (one, two))
    if ctx.session.steps_take_views and rows and columns and out == both + columns + rows:
        return _products_of_matrices(ctx, two, one, operands[::-1], out, extents)
    many = (len(inner), len(rows), len(columns)) == (1, 1, 1)
    if ctx.session.steps_take_views:
        allowed = both and out == both + rows + columns and (many or (len(inner), len(rows + columns)) == (1, 1))
    else:
        allowed = many and not ctx.control.trips and sorted(out) == sorted(both + rows + columns)
    sizes = [b.constant(extents[label]) for label in inner + rows + columns]
    few = 4 if many else 8  # where a library's own work for each is more than that of the sums
    if not allowed or any(size is not None and size <= few for size in sizes):
        return None
    if len(set(one)) != len(one) or len(set(two)) != len(two) or not _are_walked(ctx, (one, two), operands, extents):
        return None
    x = transpose(ctx, operands[0], [one.index(label) for label in both + rows + inner])
    y = transpose(ctx, operands[1], [two.index(label) for label in both + inner + columns])
    if not many:  # a vector is a matrix of one row or column
        x, y = (x, expand(ctx, y, len(y.dims))) if rows else (expand(ctx, x, len(both)), y)
    product = as_array(ctx, matmul(ctx, x, y))
    if not many:
        return reshape(ctx, product, [Scalar(extents[label], True) for label in out])
    made = both + rows + columns
    return product if out == made else transpose(ctx, product, [made.index(label) for label in out])


def _are_walked(
    ctx: Context, terms: Sequence[str], operands: Sequence[Array], extents: Mapping[str, Expr]
) -> bool:
    """Whether each label walks all of its dimension, none of which has one element for all."""
    axes = _axes(ctx, extents)
    return all(
        stretched(ctx, (d,), (axes[label],))[0] == axes[label].var
        for labels, value in zip(terms, operands, strict=True) for d, label in zip(value.dims, labels, strict=True)
    )  # fmt: skip


def _label_dims(ctx: Context, terms: Sequence[str], out: str, operands: Sequence[Array]) -> list[dict[str, Expr]]:
    """How long each operand's labels are."""
    found: list[dict[str, Expr]] = []
    for number, (labels, value) in enumerate(zip(terms, operands, strict=True)):
        mine: dict[str, Expr] = {}
        for label, extent in zip(labels, value.dims, strict=True):
            first = mine.setdefault(label, extent)
            single = len(operands) == 1 and set(out) == set(labels)
            where = "single operand" if single else f"operand {number}"
            text = f"dimensions in {where} for collapsing index '{label}' don't match ({{}} != {{}})"
            ctx.guard(b.compare("equal", first, extent), "ValueError", text, (first, extent))
        found.append(mine)
    return found


def _remapped(
    terms: Sequence[str], out: str, dims: Sequence[Mapping[str, Expr]], operands: Sequence[Array]
) -> tuple[str, tuple[Expr, ...]]:
    """What NumPy says where labels have several lengths, and the numbers that it tells."""
    order = (*out, *sorted(set("".join(terms)) - set(out)))
    text = "operands could not be broadcast together with remapped shapes [original->remapped]:"
    told: list[Expr] = []
    for mine, value in zip(dims, operands, strict=True):
        shown = ["{}" if label in mine else "newaxis" for label in order]
        while shown and shown[0] == "newaxis":
            del shown[0]
        comma = "," if len(order) == 1 else ""
        text += f" {shape_text(value.dims)}->({','.join(shown)}{comma})"
        told += (*value.dims, *(mine[label] for label in order if label in mine))
    return f"{text} ", tuple(told)


def _is_plain(optimize: Value | None) -> bool:
    return optimize is None or (isinstance(optimize, Static) and optimize.value is False)


def _subscripts(ctx: Context, text: str, operands: Sequence[Array]) -> tuple[list[str], str]:
    """The labels of each operand and of the result; what an ellipsis stands for gets digits."""
    ins, arrow, out = text.replace(" ", "").partition("->")
    parts = ins.split(",")
    if len(parts) != len(operands):
        problem = f"np.einsum('{text}') with {len(operands)} operand" + "s" * (len(operands) != 1)
        ctx.fail(refusals.WRONG_ARGUMENTS, problem, "give as many as there are parts between the commas")
    free = [v.ndim - len(p.replace("...", "")) for p, v in zip(parts, operands, strict=True)]
    most = max((f for f, p in zip(free, parts, strict=True) if "..." in p), default=0)
    terms = []
    for part, count, value in zip(parts, free, operands, strict=True):
        if count < 0 or ("..." not in part and count):
            many = "the one axis" if value.ndim == 1 else f"the {value.ndim} axes"
            problem = f"np.einsum: '{part}' does not name {many} of its operand"
            ctx.fail(refusals.WRONG_ARGUMENTS, problem, "write one letter for each axis, or '...' for some of them")
        digits = "".join(str(k) for k in range(most - count, most)) if "..." in part else ""
        terms.append(part.replace("...", digits))
    if not arrow:
        joined = "".join(terms)
        out = "".join(str(k) for k in range(most)) + "".join(
            sorted(c for c in set(joined) if c.isalpha() and joined.count(c) == 1)
        )
    else:
        out = out.replace("...", "".join(str(k) for k in range(most)))
    for label in out:
        if not any(label in t for t in terms):
            problem = f"np.einsum: the result's '{label}' is in none of the operands"
            ctx.fail(refusals.WRONG_ARGUMENTS, problem, "leave it out, or name an axis of an operand so")
    return terms, out


def diagonal(ctx: Context, value: Array, shift: Value, axis1: int, axis2: int) -> Array:
    """``np.diagonal``: a view that cannot be stored into; the diagonal becomes the last axis."""
    if value.ndim < 2:
        ctx.guard(b.FALSE, "ValueError", "diag requires an array of at least two dimensions")
    first, second = normal_axis(ctx, axis1, value.ndim), normal_axis(ctx, axis2, value.ndim)
    if first == second:
        ctx.guard(b.FALSE, "ValueError", "axis1 and axis2 cannot be the same")
    by = constant_int(ctx, shift, "offset")
    rest = [d for d in range(value.ndim) if d not in (first, second)]
    turned = transpose(ctx, value, [*rest, first, second])
    rows = b.maximum(b.sub(turned.dims[-2], b.index(max(0, -by))), b.ZERO)
    columns = b.maximum(b.sub(turned.dims[-1], b.index(max(0, by))), b.ZERO)
    axes: tuple[Axis, ...] = ctx.names.axes((*turned.dims[:-2], b.minimum(rows, columns)))
    last = axes[-1].var
    at = (*(x.var for x in axes[:-1]), b.add(last, b.index(max(0, -by))), b.add(last, b.index(max(0, by))))
    line = turned.seen(axes, at)
    if not line.view:
        line = ctx.define(line, "diagonal")
        ctx.aliasing.spaced.add(line.base)
    return replace(line, readonly=True)
