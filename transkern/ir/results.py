"""What a program returns: arrays, views, numbers, and what is made up of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from types import EllipsisType
from typing import Any, TypeAlias

from transkern.ir.expr import NOWHERE, Expr, Span


@dataclass(frozen=True, slots=True)
class ArrayResult:
    """The array in `buffer`, cut to `dims`; `empty_dtype` is the dtype NumPy gives when it holds no element."""

    buffer: str
    dims: tuple[Expr, ...]
    dtype: str
    empty_dtype: str | None = None


@dataclass(frozen=True, slots=True)
class ViewResult:
    """A view of an argument: element ``offset + sum(axis * stride)`` of its memory, counted in elements; of complex
    elements the `part`, ``real`` or ``imag``, or all (empty). Nobody may store into one that is `readonly`."""

    buffer: str
    dims: tuple[Expr, ...]
    offset: tuple[Expr, ...]
    steps: tuple[tuple[Expr, ...], ...]
    dtype: str
    part: str = ""
    readonly: bool = False


@dataclass(frozen=True, slots=True)
class ScalarResult:
    """`value` as a NumPy scalar of its dtype, or as a Python number where `python`."""

    value: Expr
    python: bool


@dataclass(frozen=True, slots=True)
class ListResult:
    """A Python list of the first `count` elements of `buffer`, as NumPy scalars or Python numbers (`python`), or with
    `dims` as arrays."""

    buffer: str
    count: Expr
    dtype: str
    python: bool
    dims: tuple[Expr, ...] = ()


@dataclass(frozen=True, slots=True)
class TupleResult:
    """A container of results.

    `kind` is ``tuple``, ``list``, ``dict`` (with its `keys`), ``record`` (an instance of the class `of`,
    ``module:name``, whose attributes are named by `keys`), ``raise`` (the exception `of` with the message ``keys[0]``,
    formatted with the items, which the caller of the code raises), ``one of`` (the key at the position that the one
    item is), ``tagged`` (a list of numbers, each of the type that a second list tells), ``tagged number`` (a number and
    its type), ``texts`` (a list of keys at the positions in a list), ``character`` (of the code that the one item is),
    ``lists`` or ``lists of numbers`` (an array as lists in a list, of NumPy scalars or Python's numbers), ``rows of
    tuple``/``rows of list``/``rows of record``: a list of tuples (lists, named tuples of class `of`) whose k-th items
    are the k-th list, ``rows of optional``: a list of what stands in the second list, or None where the first one says
    so, ``or none`` (None where the first item says so, else the second), ``ragged lists`` (``ragged tuples``,
    ``ragged arrays``, ``ragged texts``): lists (tuples, arrays, texts) in a list, by their numbers, and each one's
    start and length in the last item, ``dict of lists`` (of its keys and its values; a defaultdict of the type `of`),
    ``objects`` (of the class `of`, sets, or dicts: the numbers of those in the list, and a list for each attribute of
    all that there are), ``object`` (the one of a number), ``set of lists`` (of its keys), or ``place`` (a view's shape,
    its offset, and the steps in each dim of its argument). `span` is where in the source a ``raise`` stands."""

    items: tuple[Result, ...]
    kind: str = "tuple"
    keys: tuple[Any, ...] = ()
    of: str = ""
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class ArgumentResult:
    """The argument itself, the very object."""

    name: str


@dataclass(frozen=True, slots=True)
class ConstantResult:
    value: bool | int | float | complex | str | EllipsisType | None


UNCHANGED = ConstantResult(...)
"""In place of what goes into an argument: it is left as it is."""


Result: TypeAlias = ArrayResult | ViewResult | ScalarResult | ListResult | TupleResult | ArgumentResult | ConstantResult
