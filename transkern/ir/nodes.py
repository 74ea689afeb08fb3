"""Statements: arrays in index notation (what NumPy means) and loops (what machines do).

Array statements, made by the front end; each means "for all points of the axes, at once":

    Define(buffer, axes, value)                a fresh array: ``buffer[axes] = value``
    Write(buffer, axes, index, value)          a store through a view: all reads come before all writes
    Filter(outputs, count, axis, mask, values) the values where `mask` holds, in order, into growing outputs
    Scan(op, buffer, axes, value)              running `op` along the last axis
    Scatter(buffer, axes, index, value)        point after point: `value` reads what the points before left there
    Library(name, outs, ins, attributes, views) what a library owns: sort, matrix product, …

Loop statements, made by `fuse.lower` from these and by the front end for the user's own loops:

    Let(name, value)  Assign(name, value)  Store(buffer, index, value)
    Accumulator(name, op, dtype)  Accumulate(name, op, args)
    Loop(axis, start, stop, step, kind, body)  While(condition, body)  If(condition, then, orelse)
    Compact(…)  Scanning(…)  Guard(condition, error, message, args)  Break  Continue  Return(result)  Alloc(buffer)
    Kernel(name, body): the statements that one launch runs

Invariants (checked by `ir.verify`):

1. After `fuse.lower` no array statement is left but `Library`.
2. A `Loop` of kind ``parallel`` may run its iterations in any order; `Accumulate` into an accumulator declared outside
   it is its only carried state. ``sequential`` loops run in order. (What `ir.oracle` shows, which shuffles them.)
3. `Let` binds once on a path, for its block; `Assign` targets are listed in `Program.variables`, and a `Let` of one
   makes it the block's own.
4. Every buffer is in `Program.buffers`; every name that is read, also in the sizes of memory that is asked for, is a
   parameter, a size of one, a variable, a count, or bound around.
"""

from __future__ import annotations

import linecache
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Any, TypeAlias, get_args

from transkern.ir.expr import NOWHERE, Apply, Axis, Const, Expr, Span, Var
from transkern.ir.results import UNCHANGED as UNCHANGED
from transkern.ir.results import ArgumentResult as ArgumentResult
from transkern.ir.results import ArrayResult as ArrayResult
from transkern.ir.results import ConstantResult as ConstantResult
from transkern.ir.results import ListResult as ListResult
from transkern.ir.results import Result as Result
from transkern.ir.results import ScalarResult as ScalarResult
from transkern.ir.results import TupleResult as TupleResult
from transkern.ir.results import ViewResult as ViewResult
from transkern.records import make_quickly

RESERVED, RESERVED_ROWS = 1 << 30, 1 << 26
"""The lengths of memory for lists of numbers (of arrays) without a bound: of memory that long, only what is touched is
taken."""

SEVERAL = "*"
"""Before the name of an error that has other arguments than one text."""

GUARD_NUMBERS = 14
"""How many numbers a guard can tell: what the targets have room for."""

ROOM, NO_ROOM = "room.of.lists", "NoRoom"
"""The same on targets without such memory: a size that the call begins with, and the error of the check that a list
outgrows its memory: then the call begins anew with more."""

TAGS = (
    "own", "int", "float", "complex", "bool_", "uint8", "int32", "int64", "float32", "float64", "complex128", "int8",
    "int16", "uint16", "uint32", "uint64", "float16", "complex64", "bool",
)  # fmt: skip
"""The types of numbers in a list of several: Python's, and NumPy's (``own``: the list's own type)."""


@dataclass(frozen=True, slots=True)
class Buffer:
    """Memory of ``dtype[dims]``.

    `role` is ``argument`` (the caller's memory), ``result`` (returned), or ``temporary``.
    `layout` is ``C`` (contiguous) or ``strided`` (one stride a dimension, in elements, in `<name>_stride<d>`).
    `low`/`high`: every element is within ``[low, high)`` where they are known; `permutation`: no element repeats.
    `line`: the user's line that made it. `element`: the dtype that the caller sees where it is another one: a buffer
    of ``float64[n,2]`` may hold ``complex128[n]``. `aligned`: elements stand at multiples of their size; where they do
    not, strides are in bytes. `kept`: it may hold what it held when it was last asked for, which is a hint: no result
    depends on it.
    """

    name: str
    dtype: str
    dims: tuple[Expr, ...]
    role: str = "temporary"
    layout: str = "C"
    low: Expr | None = None
    high: Expr | None = None
    permutation: bool = False
    line: int = 0
    element: str = ""
    aligned: bool = True
    kept: bool = False

    @property
    def is_reserved(self) -> bool:
        """Whether it is longer than anybody needs: it takes what is touched of it."""
        match self.dims:
            case (Const(value), *_):
                return value >= RESERVED_ROWS  # type: ignore[operator]
            case (Var(name), *_) | (Apply("floor_divide", (Var(name), _)), *_):
                return name == ROOM
            case _:
                return False


class Known:
    """Room for what was found out about a statement (`traverse.once_a_statement`): it never changes, and takes that
    with it when it goes."""

    __slots__ = ("known",)
    known: dict[object, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Node(Known):
    """What every statement has: its place in the user's source."""

    span: Span = field(default=NOWHERE, compare=False, repr=False)


# --- array statements


@dataclass(frozen=True, slots=True)
class Define(Node):
    buffer: str
    axes: tuple[Axis, ...]
    value: Expr


@dataclass(frozen=True, slots=True)
class Write(Node):
    buffer: str
    axes: tuple[Axis, ...]
    index: tuple[Expr, ...]
    value: Expr
    mask: Expr | None = None


@dataclass(frozen=True, slots=True)
class Filter(Node):
    """``count`` is set to the number kept; with `append` it keeps counting from its value before."""

    outputs: tuple[str, ...]
    count: str
    axes: tuple[Axis, ...]
    mask: Expr
    values: tuple[Expr, ...]
    inner: tuple[Axis, ...] = ()
    append: bool = False


@dataclass(frozen=True, slots=True)
class Scan(Node):
    """``buffer[axes] = value`` reduced by `op` along the axis at the position `along`, up to each element."""

    op: str
    buffer: str
    axes: tuple[Axis, ...]
    value: Expr
    along: int


@dataclass(frozen=True, slots=True)
class Scatter(Node):
    """``buffer[index] = value`` for the points of the axes in order; `value` may read ``buffer[index]``."""

    buffer: str
    axes: tuple[Axis, ...]
    index: tuple[Expr, ...]
    value: Expr
    mask: Expr | None = None


@dataclass(frozen=True, slots=True)
class View:
    """Some elements of a buffer: that at the position p of axes of `dims` is ``offset[d] + sum(steps[d][k] * p[k])``
    along each dim d of the buffer, or (with one `offset` for several dims) counted in its C-contiguous memory; of
    complex elements the `part`, ``real`` or ``imag``, or all (empty)."""

    dims: tuple[Expr, ...]
    offset: tuple[Expr, ...]
    steps: tuple[tuple[Expr, ...], ...]
    part: str = ""


@dataclass(frozen=True, slots=True)
class Library(Node):
    """`name` is a key of `ir.library.LIBRARY`; reads the buffers `ins`, fills the buffers `outs`.

    `views` say of each of `ins` which part of it, in which order; None, or nothing for all, are whole buffers.
    """

    name: str
    outs: tuple[str, ...]
    ins: tuple[str, ...]
    attributes: tuple[tuple[str, Any], ...] = ()
    views: tuple[View | None, ...] = ()

    @property
    def operands(self) -> tuple[tuple[str, View | None], ...]:
        return tuple(zip(self.ins, self.views or (None,) * len(self.ins), strict=True))


# --- loop statements


@dataclass(frozen=True, slots=True)
class Let(Node):
    name: str
    value: Expr


@dataclass(frozen=True, slots=True)
class Assign(Node):
    name: str
    value: Expr


@dataclass(frozen=True, slots=True)
class Store(Node):
    """`atomic`: the value is that of the element and another one combined, in one step for all threads."""

    buffer: str
    index: tuple[Expr, ...]
    value: Expr
    atomic: bool = False


@dataclass(frozen=True, slots=True)
class Accumulator(Node):
    """Declares `name` with the identity of `op`; ``sum`` over floats is pairwise or better."""

    name: str
    op: str
    dtype: str


@dataclass(frozen=True, slots=True)
class Accumulate(Node):
    """Combine `value` into accumulator `name`; the arg- and position-reductions take `position` too."""

    name: str
    op: str
    value: Expr
    position: Expr | None = None


@dataclass(frozen=True, slots=True)
class Loop(Node):
    """`spare`: iterations outside the range, but within ``range(spare)``, do no harm: a target may round the range.
    `large`: it is known that the loop has work for several threads.
    `fails`: one of its checks does, and so it stays as it stands."""

    axis: str
    start: Expr
    stop: Expr
    step: Expr
    kind: str  # "parallel" | "sequential"
    body: tuple[Stmt, ...]
    spare: Expr | None = None
    large: bool = False
    fails: bool = False


@dataclass(frozen=True, slots=True)
class While(Node):
    """Runs `head`, leaves when `condition` is false, runs `body`, and again."""

    head: tuple[Stmt, ...]
    condition: Expr
    body: tuple[Stmt, ...]


@dataclass(frozen=True, slots=True)
class If(Node):
    condition: Expr
    then: tuple[Stmt, ...]
    orelse: tuple[Stmt, ...] = ()


@dataclass(frozen=True, slots=True)
class Compact(Node):
    """``for axis in range(start, stop): body; if mask: outputs[count…] = values; count += 1``, elements in that order.

    `inner` axes are copied whole for each kept element. `body` holds the `Let` of `mask` and `values`. The outputs may
    be read at or after the position being decided (compaction in place).
    """

    outputs: tuple[str, ...]
    count: str
    axis: str
    start: Expr
    stop: Expr
    body: tuple[Stmt, ...]
    mask: Expr
    values: tuple[Expr, ...]
    inner: tuple[Axis, ...] = ()
    append: bool = False


@dataclass(frozen=True, slots=True)
class Scanning(Node):
    """``for axis in range(stop): body; acc = op(acc, value); buffer[index] = acc`` along one axis."""

    op: str
    buffer: str
    axis: str
    stop: Expr
    body: tuple[Stmt, ...]
    value: Expr
    index: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class Guard(Node):
    """Raise `error` (a builtin exception's name, or ``module:name``) with ``message.format(*args)`` unless `condition`;
    with `SEVERAL` before its name, the message is the text of the tuple of its arguments. `changes` is
    what goes with the exception: what has been put into the containers among the arguments until then, as Python text
    of a tuple that is made of `a`, the tuple of `args` (of which a message tells the first)."""

    condition: Expr
    error: str
    message: str
    args: tuple[Expr, ...] = ()
    changes: str = ""


@dataclass(frozen=True, slots=True)
class Fetch(Node):
    """Says that an element will be stored soon; it may lie outside the buffer. No value depends on it."""

    buffer: str
    index: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class Break(Node):
    pass


@dataclass(frozen=True, slots=True)
class Continue(Node):
    pass


@dataclass(frozen=True, slots=True)
class Alloc(Node):
    """Memory for `buffer`, whose dims are known from here on."""

    buffer: str


@dataclass(frozen=True, slots=True)
class Kernel(Node):
    """Statements that run in one launch; `placement` is ``grid`` or ``block`` (or ``host``: not a launch at all); on
    CUDA also ``rows``: a block for each iteration of the outer loop."""

    name: str
    body: tuple[Stmt, ...]
    placement: str = "grid"


@dataclass(frozen=True, slots=True)
class Return(Node):
    result: Result


Stmt: TypeAlias = (
    Define | Write | Filter | Scan | Scatter | Library
    | Let | Assign | Store | Accumulator | Accumulate | Loop | While | If | Compact | Scanning
    | Guard | Fetch | Break | Continue | Alloc | Kernel | Return
)  # fmt: skip
make_quickly(Buffer, View, *get_args(Stmt))


# --- the whole


@dataclass(frozen=True, slots=True)
class ArrayParam:
    """An array argument: its memory is the buffer of the same name; `sizes` name its dims (1 is a dim known to be 1).

    `in_place`: the first store into it is that of an operator (``x += …``) or of `out=`, whose error differs.
    With `base`, it shares memory with other arguments: the buffer `base` is all of it, and the array's elements stand
    at ``<name>_offset + i * <name>_stride0 + …`` there.
    """

    name: str
    dtype: str
    dims: tuple[Expr, ...]
    layout: str = "C"
    written: bool = False
    base: str = ""
    in_place: bool = False
    aligned: bool = True


@dataclass(frozen=True, slots=True)
class ScalarParam:
    """A number: `python` is ``int``, ``float``, ``bool`` or ``complex`` for Python's own, empty for a NumPy scalar."""

    name: str
    dtype: str
    python: str = ""


@dataclass(frozen=True, slots=True)
class ConstantParam:
    """An argument fixed at specialisation (None, a string, a tuple of constants, …): the code holds its value."""

    name: str
    value: Any


@dataclass(frozen=True, slots=True)
class ObjectParam:
    """A list, dict or object that is a result as it stands; its arrays and numbers are arguments of their own.

    Its name is the container's path with ``_itself`` behind it.
    """

    name: str


Param: TypeAlias = ArrayParam | ScalarParam | ConstantParam | ObjectParam


@dataclass(frozen=True, slots=True)
class Program:
    """One specialised function.

    `variables` are the scalars that are assigned (name → dtype); `bounds` gives, for a dynamic size, an expression over
    sizes and parameters that it never exceeds. `source` are the lines of the user's file that `span`s refer to.
    `assumptions` hold over sizes and parameters; a call that breaks one needs another specialisation. With `changes`
    (as in `runtime.structures`) every result is a tuple of the function's own and what to put into its arguments.
    `captured` are the arrays that the function found outside, for its last parameters. With `fastmath` sums of floats
    may be added up in any order, and products fused with sums. With `warns` code tells the flags of the
    floating-point unit. `narrow`: data and integers have 32 bits, as the caller asks. `checked`: Python's integers
    raise OverflowError instead of leaving 64 bits. `signature` is what the user's function takes, as text, of a program
    that becomes files. `threads`: how many a kernel may have at most (0: as many as there are). `profile`: whether its
    code measures what its kernels take. `few`: sizes of arguments that are worth code of their own where they are
    small (`fuse.choices.small_sizes`): how one asks for that, of which of the arrays, along which axis.
    """

    name: str
    params: tuple[Param, ...]
    buffers: dict[str, Buffer]
    variables: dict[str, str]
    bounds: dict[str, Expr]
    body: tuple[Stmt, ...]
    source: tuple[str, ...] = ()
    file: str = ""
    assumptions: tuple[Expr, ...] = ()
    changes: tuple[tuple[str, str, Any], ...] = ()
    captured: tuple[Any, ...] = ()
    fastmath: bool = False
    warns: bool = False
    narrow: bool = False
    checked: bool = False
    signature: str = ""
    threads: int = 0
    profile: bool = False
    few: tuple[tuple[str, int, int], ...] = ()

    def lines_of(self, span: Span) -> tuple[str, ...]:
        """The lines of the file that a span is in: the function's own, or another one that it calls into."""
        if self.is_own(span):
            return self.source
        return tuple(line.rstrip("\n") for line in linecache.getlines(span.file))

    def cited(self, span: Span) -> str:
        """A user's line as generated code names it: ``12: y = x + 1``; empty where there is none."""
        lines = self.lines_of(span)
        text = lines[span.line - 1].strip() if 0 < span.line <= len(lines) else ""
        return f"{self.place(span)}: {text}" if text else ""

    def is_own(self, span: Span) -> bool:
        """Whether a span is in the function's own file."""
        return span.file in ("", self.file)

    def place(self, span: Span) -> str:
        """A line's number, with the file's name where it is another one than the function's."""
        return str(span.line) if self.is_own(span) else f"{PurePath(span.file).name}:{span.line}"
