"""Scalar expressions in index notation: the leaves of both grammars.

    expr  ::= Const | Var | Load(buffer, index…) | Apply(op, args…) | Reduce(op, axes, body)
    axis  ::= Axis(name, extent)

Invariants (checked by `ir.verify`):

1. `dtype` is a NumPy dtype name, or ``"index"``: Python integers, sizes and subscripts, which are 64 bits wide and
   never overflow in a correct program (NumPy's own integers wrap, Python's do not). A constant is a number that its
   type holds.
2. `Apply.op` is a key of `ops.OPS`; the arguments have the dtypes of the op's NumPy loop (casts are explicit).
3. `Load.index` has one expression a dimension of the buffer, or a single one for a C-contiguous buffer of any rank:
   then it is the linear index.
4. A `Reduce` body sees the axes it binds; no name is bound twice on a path.
"""

from __future__ import annotations

import operator
from dataclasses import dataclass, field, fields
from typing import TypeAlias, TypeVar

from transkern.records import make_quickly


@dataclass(frozen=True, slots=True)
class Span:
    """A place in the user's source: 1-based line, 0-based column, as `ast` counts them.

    `turns`: of loops whose body is translated for several iterations that go together, the line, which of these it is
    (from 0), and the step from one to the next. `frame`: the function that the place is in.
    """

    line: int = 0
    column: int = 0
    end_line: int = 0
    end_column: int = 0
    file: str = ""
    turns: tuple[tuple[int, int, int], ...] = ()
    frame: Frame | None = None


@dataclass(frozen=True, slots=True)
class Frame:
    """A function of the user's as a traceback names it: its name, its first line, and the place where it is called if
    it is written out in another one. `module` and `path` lead to the live function that it is, or that it stands in, or
    to a wrapper of that; its code is named `code` and begins at line `begins`: the text may be at other lines when code
    from the disk cache runs.
    """

    function: str
    first: int
    caller: Span | None = None
    module: str = ""
    path: str = ""
    begins: int = 0
    code: str = ""


NOWHERE = Span()


@dataclass(frozen=True, slots=True)
class Const:
    """A literal of type `dtype`; 0.0 and -0.0 are two."""

    value: bool | int | float | complex
    dtype: str

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Const):
            return NotImplemented
        one, two = self.value, other.value
        if one != two or self.dtype != other.dtype:
            return False
        return (bool(one) and not isinstance(one, complex)) or repr(complex(one)) == repr(complex(two))

    def __hash__(self) -> int:
        return hash((self.value, self.dtype))


@dataclass(frozen=True, slots=True)
class Var:
    """A scalar name: a size, a parameter, an axis, or something bound by `Let` or `Assign`."""

    name: str
    dtype: str = "index"


class _Composed:
    """An expression with others in it. What is asked of it again and again is answered once: its hash, its text, and
    the names in it. (The fields of dataclasses alone are compared, printed and pickled.)"""

    __slots__ = ("_buffers", "_hash", "_text", "_variables")
    _hash: int
    _variables: frozenset[str]
    _buffers: frozenset[str]
    _text: str


_Class = TypeVar("_Class", bound=type[_Composed])


def _hashed_once(kind: _Class) -> _Class:
    """A dataclass of expressions whose hash and text are remembered: what is generated goes down to the leaves each
    time."""
    compared = operator.attrgetter(*(f.name for f in fields(kind) if f.compare))  # type: ignore[arg-type]

    def remembered(self: _Composed) -> int:
        try:
            return self._hash
        except AttributeError:
            made = hash(compared(self))
            object.__setattr__(self, "_hash", made)
            return made

    written = kind.__repr__

    def text(self: _Composed) -> str:
        try:
            return self._text
        except AttributeError:
            made = written(self)
            object.__setattr__(self, "_text", made)
            return made

    kind.__hash__ = remembered  # type: ignore[assignment,method-assign]
    kind.__repr__ = text  # type: ignore[method-assign,assignment]
    return kind


@_hashed_once
@dataclass(frozen=True, slots=True)
class Load(_Composed):
    """The element of `buffer` at `index`."""

    buffer: str
    index: tuple[Expr, ...]
    dtype: str


@_hashed_once
@dataclass(frozen=True, slots=True)
class Apply(_Composed):
    """`op` applied to `args`."""

    op: str
    args: tuple[Expr, ...]
    dtype: str


@dataclass(frozen=True, slots=True)
class Axis:
    """A named index running over ``range(extent)``."""

    name: str
    extent: Expr

    @property
    def var(self) -> Var:
        return Var(self.name, "index")


@_hashed_once
@dataclass(frozen=True, slots=True)
class Reduce(_Composed):
    """The reduction of `body` over `axes`; for ``argmax``/``argmin``/``first``/``last`` the value is an index."""

    op: str
    axes: tuple[Axis, ...]
    body: Expr
    dtype: str
    span: Span = field(default=NOWHERE, compare=False, repr=False)


make_quickly(Span, Frame, Const, Var, Load, Apply, Axis, Reduce)

Expr: TypeAlias = Const | Var | Load | Apply | Reduce

_NONE: frozenset[str] = frozenset()


def variables_read(expr: Expr) -> frozenset[str]:
    """The names of the variables in an expression, axes that it binds among them."""
    if isinstance(expr, Var):
        return frozenset((expr.name,))
    if isinstance(expr, Const):
        return _NONE
    try:
        return expr._variables
    except AttributeError:
        made = _NONE
        for part in parts(expr):
            made = _with(made, variables_read(part))
        object.__setattr__(expr, "_variables", made)
        return made


def buffers_read(expr: Expr) -> frozenset[str]:
    """The buffers that an expression loads from."""
    if isinstance(expr, (Var, Const)):
        return _NONE
    try:
        return expr._buffers
    except AttributeError:
        made = frozenset((expr.buffer,)) if isinstance(expr, Load) else _NONE
        for part in parts(expr):
            made = _with(made, buffers_read(part))
        object.__setattr__(expr, "_buffers", made)
        return made


def parts(expr: Expr) -> tuple[Expr, ...]:
    """The expressions that one is made of."""
    match expr:
        case Apply(_, args, _):
            return args
        case Load(_, index, _):
            return index
        case Reduce(_, axes, body, _, _):
            return (*(a.extent for a in axes), body)
        case _:
            return ()


def _with(some: frozenset[str], others: frozenset[str]) -> frozenset[str]:
    """What is in either of them: one of both where it has all, so that equal sets are one."""
    if others <= some:
        return some
    return others if some <= others else some | others
