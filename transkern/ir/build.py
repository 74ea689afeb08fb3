"""Smart constructors: index arithmetic is kept in one affine normal form, constants are folded.

Equal sizes must be equal expressions, or shapes could not be compared: ``n - 1 + 1`` is ``n``, ``max(n - 2, 0)`` is one
node however it came about.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Mapping, Sequence

from transkern.ir.expr import Apply, Axis, Const, Expr, Load, Reduce, Var, variables_read
from transkern.ir.extremes import rounded, wrapped
from transkern.ir.sizes.piecewise import as_extreme

INDEX = "index"
TRUE, FALSE = Const(True, "bool"), Const(False, "bool")


def index(value: int) -> Const:
    return Const(int(value), INDEX)


ZERO, ONE = index(0), index(1)


def constant(expr: Expr) -> int | None:
    """The value of an integer constant, else None."""
    return int(expr.value) if isinstance(expr, Const) and expr.dtype == INDEX else None  # type: ignore[arg-type]


# --- affine forms: {atom: coefficient} and a constant


def affine(expr: Expr) -> tuple[dict[Expr, int], int]:
    """`expr` as a linear form over its non-linear parts."""
    terms: dict[Expr, int] = {}
    total = _collect(expr, 1, terms)
    return {atom: c for atom, c in terms.items() if c}, total


def _collect(expr: Expr, factor: int, terms: dict[Expr, int]) -> int:
    match expr:
        case Const(value, "index"):
            return factor * int(value)  # type: ignore[arg-type]
        case Apply("add", (a, b), "index"):
            return _collect(a, factor, terms) + _collect(b, factor, terms)
        case Apply("subtract", (a, b), "index"):
            return _collect(a, factor, terms) + _collect(b, -factor, terms)
        case Apply("negative", (a,), "index"):
            return _collect(a, -factor, terms)
        case Apply("multiply", (Const(value), a), "index"):
            return _collect(a, factor * int(value), terms)  # type: ignore[arg-type]
        case Apply("multiply", (a, Const(value)), "index"):
            return _collect(a, factor * int(value), terms)  # type: ignore[arg-type]
        case _:
            terms[expr] = terms.get(expr, 0) + factor
            return 0


def from_affine(terms: Mapping[Expr, int], total: int) -> Expr:
    """The canonical expression of a linear form: positive terms first, in a stable order."""
    result: Expr | None = None
    ordered: Iterable[tuple[Expr, int]] = terms.items()
    if len(terms) > 1:  # most often there is one, and to write it out takes long
        ordered = sorted(ordered, key=lambda item: (item[1] < 0, repr(item[0])))
    for atom, coefficient in ordered:
        if coefficient == 0:
            continue
        size = abs(coefficient)
        term: Expr = atom if size == 1 else Apply("multiply", (index(size), atom), INDEX)
        if result is None:
            result = term if coefficient > 0 else Apply("negative", (term,), INDEX)
        else:
            result = Apply("add" if coefficient > 0 else "subtract", (result, term), INDEX)
    if result is None:
        return index(total)
    if total:
        return Apply("add" if total > 0 else "subtract", (result, index(abs(total))), INDEX)
    return result


def _linear(a: Expr, b: Expr, factor: int) -> Expr:
    terms: dict[Expr, int] = {}
    total = _collect(a, 1, terms) + _collect(b, factor, terms)
    return from_affine({k: v for k, v in terms.items() if v}, total)


def add(a: Expr, b: Expr) -> Expr:
    return _linear(a, b, 1)


def sub(a: Expr, b: Expr) -> Expr:
    return _linear(a, b, -1)


def neg(a: Expr) -> Expr:
    return _linear(ZERO, a, -1)


def mul(a: Expr, b: Expr) -> Expr:
    for x, y in ((a, b), (b, a)):
        if (value := constant(x)) is not None:
            terms, total = affine(y)
            return from_affine({k: v * value for k, v in terms.items() if v * value}, total * value)
    return Apply("multiply", tuple(sorted((a, b), key=repr)), INDEX)


def product(factors: tuple[Expr, ...]) -> Expr:
    result: Expr = ONE
    for factor in factors:
        result = mul(result, factor)
    return result


def floordiv(a: Expr, b: Expr) -> Expr:
    x, y = constant(a), constant(b)
    if y == 1:
        return a
    if x is not None and y:
        return index(x // y)
    if y:
        terms, total = affine(a)
        if terms and all(c % y == 0 for c in terms.values()):
            return add(from_affine({k: c // y for k, c in terms.items()}, 0), index(total // y))
    return Apply("floor_divide", (a, b), INDEX)


def mod(a: Expr, b: Expr) -> Expr:
    x, y = constant(a), constant(b)
    if y == 1:
        return ZERO
    if x is not None and y:
        return index(x % y)
    return Apply("remainder", (a, b), INDEX)


def quotient(a: Expr, b: Expr) -> Expr | None:
    """``a / b`` of products, where that is known to leave nothing."""
    factors, number = _factors(a)
    others, divisor = _factors(b)
    for other in others:
        if other not in factors:
            return None
        factors.remove(other)
    return None if divisor == 0 or number % divisor else product((index(number // divisor), *factors))


def factors(expr: Expr) -> list[Expr]:
    """What a product is made of, without the number among them."""
    return _factors(expr)[0]


def _factors(expr: Expr) -> tuple[list[Expr], int]:
    """The factors of a product, and the number among them."""
    match expr:
        case Const(int(value), "index"):
            return [], value
        case Apply("multiply", (x, y), "index"):
            (left, one), (right, two) = _factors(x), _factors(y)
            return left + right, one * two
        case _:
            return [expr], 1


def difference(a: Expr, b: Expr) -> int | None:
    """``a - b`` where that is a constant."""
    return constant(sub(a, b))


def maximum(a: Expr, b: Expr) -> Expr:
    if (gap := difference(a, b)) is not None:
        return a if gap >= 0 else b
    for x, y in ((a, b), (b, a)):
        if constant(x) == 0 and is_nonnegative(y):
            return y
        match y:  # max(max(u, 0), 0), max(max(u, n), n + 1)
            case Apply("maximum", (u, v), "index"):
                for inner, other in ((u, v), (v, u)):
                    if (gap := difference(x, inner)) is not None:
                        return y if gap <= 0 else maximum(other, x)
        least = constant(x)
        for inner in affine(y)[0] if least is not None else ():  # max(max(u, 0) - 1, 0): the inner bound does not tell
            match inner:
                case Apply("maximum", (u, v), "index"):
                    beside, bound = constant(sub(y, inner)), constant(v)
                    if beside is not None and bound is not None and bound + beside <= (least or 0):
                        return maximum(add(u, index(beside)), x)
    return _extreme("maximum", a, b)


def minimum(a: Expr, b: Expr) -> Expr:
    if (gap := difference(a, b)) is not None:
        return a if gap <= 0 else b
    for x, y in ((a, b), (b, a)):
        if constant(x) == 0 and is_nonnegative(y):
            return x
        match y:  # min(min(u, n), n); min(n, max(n - c, 0)) is the second
            case Apply("minimum", (u, v), "index"):
                for inner, other in ((u, v), (v, u)):
                    if (gap := difference(x, inner)) is not None:
                        return y if gap >= 0 else minimum(other, x)
            case Apply("maximum", (u, v), "index") if constant(v) == 0 and is_nonnegative(x):
                if (gap := difference(x, u)) is not None and gap >= 0:
                    return y
    return _extreme("minimum", a, b)


def _extreme(op: str, a: Expr, b: Expr) -> Expr:
    whole = Apply(op, (b, a) if constant(a) is not None else (a, b), INDEX)
    if (simpler := as_extreme(whole, is_size_name)) is None:
        return whole
    lines = tuple(from_affine({simpler.variable: line.slope}, line.offset) for line in simpler.lines)
    return lines[0] if len(lines) == 1 else Apply(simpler.operation, lines, INDEX)


def is_nonnegative(expr: Expr) -> bool:
    """True where `expr` is a size or made of sizes so that it cannot be negative."""
    match expr:
        case Const(k, "index") | Apply("cast", (Apply("bitwise_and" | "remainder", (_, Const(int() as k))),), "index"):
            return int(k) >= 0  # type: ignore[arg-type]
        case Var(name, "index"):
            return is_size_name(name)
        case Apply("maximum", (a, b), "index"):
            return is_nonnegative(a) or is_nonnegative(b)
        case Apply("minimum" | "add" | "multiply" | "floor_divide", (a, b), "index"):
            return is_nonnegative(a) and is_nonnegative(b)
        case Apply("remainder", (_, b), "index"):
            return is_nonnegative(b)
        case Apply("cast", (x,), "index"):
            return x.dtype in ("bool", "uint8", "uint16", "uint32")
        case Apply("where", (Apply("less", (x, Const(0)), _), a, b), "index") if x == b:  # a subscript, wrapped
            return is_nonnegative(a)
        case Apply("where", (_, a, b), "index"):
            return is_nonnegative(a) and is_nonnegative(b)
        case _:
            return False


def inhabited(extent: Expr) -> Expr:
    """An extent as it is where the axis has a position at all: ``max(n - 1, 0)`` is ``n - 1`` there."""
    match extent:
        case Apply("maximum", (inner, Const(0)), "index"):
            return inner
        case _:
            return extent


def at_least(a: Expr, c: Expr) -> bool:
    """Whether ``a >= c`` is certain."""
    if is_nonnegative(sub(a, c)):
        return True
    match c:
        case Apply("maximum", (x, y), "index"):
            return at_least(a, x) and at_least(a, y)
        case Apply("minimum", (x, y), "index"):
            return at_least(a, x) or at_least(a, y)
        case Apply("where", (_, x, y), "index"):
            return at_least(a, x) and at_least(a, y)
        case Apply("floor_divide", (x, Const(k)), "index") if int(k) >= 1:  # type: ignore[arg-type]
            below = add(mul(c.args[1], a), index(int(k) - 1))  # type: ignore[arg-type]
            return is_nonnegative(sub(below, x)) or (is_nonnegative(x) and at_least(a, x))
        case _:
            pass
    match a:
        case Apply("maximum", (x, y), "index"):
            return at_least(x, c) or at_least(y, c)
        case Apply("minimum" | "where", args, "index"):
            return all(at_least(x, c) for x in args[-2:])
        case _:
            return False


def size(name: str) -> Var:
    """A name for a size, an integer that is never negative; the dot keeps it apart from the user's names."""
    return Var(name, INDEX)


def is_size_name(name: str) -> bool:
    return "." in name


_COMPARE: dict[str, Callable[[int, int], bool]] = {
    "less": operator.lt, "less_equal": operator.le, "greater": operator.gt,
    "greater_equal": operator.ge, "equal": operator.eq, "not_equal": operator.ne,
}  # fmt: skip


def compare(op: str, a: Expr, b: Expr) -> Expr:
    """A comparison of two index expressions, decided where their difference is known."""
    gap = difference(a, b)
    if gap is not None:
        return Const(_COMPARE[op](gap, 0), "bool")
    if op in ("less", "greater_equal") and at_least(a, b):
        return Const(op == "greater_equal", "bool")
    if op in ("greater", "less_equal") and constant(a) == 0 and is_nonnegative(b):
        return Const(op == "less_equal", "bool")
    return Apply(op, (a, b), "bool")


def logical_not(a: Expr) -> Expr:
    match a:
        case Const(value, "bool"):
            return Const(not value, "bool")
        case Apply("logical_not", (x,), _) if x.dtype == "bool":  # it may be a number, which is no condition
            return x
        case _:
            return Apply("logical_not", (a,), "bool")


def both(a: Expr, b: Expr) -> Expr:
    """``a and b`` of conditions."""
    if a == FALSE or b == FALSE:
        return FALSE
    if a == TRUE:
        return b
    if b == TRUE or a == b:
        return a
    return Apply("and_then", (a, b), "bool")


def either(a: Expr, b: Expr) -> Expr:
    """``a or b`` of conditions."""
    if a == TRUE or b == TRUE:
        return TRUE
    if a == FALSE:
        return b
    if b == FALSE or a == b:
        return a
    return Apply("or_else", (a, b), "bool")


def where(condition: Expr, then: Expr, orelse: Expr) -> Expr:
    if condition == TRUE or then == orelse:
        return then
    if condition == FALSE:
        return orelse
    if then.dtype == orelse.dtype == "bool":  # one of the operands of `and` or `or`
        if orelse == condition:
            return both(condition, then)
        if logical_not(orelse) == condition:
            return either(orelse, then)
    return Apply("where", (condition, then, orelse), then.dtype)


def cast(expr: Expr, dtype: str) -> Expr:
    """`expr` as `dtype`; folded on constants where the value survives."""
    if expr.dtype == dtype:
        return expr
    if isinstance(expr, Const):
        value = rounded(expr)
        if dtype == "bool":
            return Const(bool(value), dtype)
        if dtype.startswith("float") and not isinstance(value, complex):
            return Const(float(value), dtype)
        if dtype.startswith("complex"):
            return Const(complex(value), dtype)
        if dtype == INDEX and isinstance(value, (bool, int)):
            return Const(int(value), dtype)
        if dtype.startswith(("int", "uint")) and isinstance(value, (bool, int)):
            return Const(wrapped(int(value), dtype), dtype)
    return Apply("cast", (expr,), dtype)


def as_index(expr: Expr) -> Expr:
    """An integer expression as a subscript; positions that went through int64 arithmetic are positions again."""
    if is_position(expr):
        return _position(expr)
    return cast(expr, INDEX)


def is_position(expr: Expr) -> bool:
    """Whether an int64 is a position, or one moved by others, behind conversions."""
    match expr:
        case Apply("cast", (x,), "int64") if x.dtype == INDEX:
            return True
        case Const(_, "int64"):
            return True
        case Apply("add" | "subtract", (x, y), "int64"):
            return is_position(x) and is_position(y)
        case _:
            return False


def _position(expr: Expr) -> Expr:
    match expr:
        case Apply("cast", (x,), _):
            return x
        case Const(value, _):
            return index(int(value))  # type: ignore[arg-type]
        case Apply(op, (x, y), _):
            return add(_position(x), _position(y)) if op == "add" else sub(_position(x), _position(y))
        case _:
            raise AssertionError(expr)


def wrap_index(expr: Expr, extent: Expr) -> Expr:
    """A subscript counted from the end where it is negative."""
    value = constant(expr)
    if value is not None:
        return expr if value >= 0 else add(extent, expr)
    if is_nonnegative(expr):
        return expr
    return where(compare("less", expr, ZERO), add(expr, extent), expr)


# --- substitution


def rebuild(expr: Expr, args: tuple[Expr, ...]) -> Expr:
    """`Apply` with other arguments, in normal form."""
    assert isinstance(expr, Apply)
    match expr.op, expr.dtype:
        case "add", "index":
            return add(*args)
        case "subtract", "index":
            return sub(*args)
        case "multiply", "index":
            return mul(*args)
        case "negative", "index":
            return neg(*args)
        case "floor_divide", "index":
            return floordiv(*args)
        case "remainder", "index":
            return mod(*args)
        case "maximum", "index":
            return maximum(*args)
        case "minimum", "index":
            return minimum(*args)
        case "where", _:
            return where(*args)
        case "and_then", _:
            return both(*args)
        case "or_else", _:
            return either(*args)
        case "logical_not", _:
            return logical_not(*args) if args[0].dtype == "bool" else Apply(expr.op, args, expr.dtype)
        case "cast", "index":
            return as_index(args[0])  # of a position that was no position before something was put in
        case "cast", _:
            return cast(args[0], expr.dtype)
        case op, "bool" if op in _COMPARE and args[0].dtype == INDEX:
            return compare(op, *args)
        case _:
            return Apply(expr.op, args, expr.dtype)


def map_expr(expr: Expr, change: Callable[[Expr], Expr | None]) -> Expr:
    """`expr` with every node that `change` answers for replaced, top down; what it returns is not looked into."""
    replaced = change(expr)
    if replaced is not None:
        return replaced
    match expr:
        case Const() | Var():
            return expr
        case Load(buffer, idx, dtype):
            new = tuple(map_expr(e, change) for e in idx)
            return expr if new == idx else Load(buffer, new, dtype)
        case Apply(_, args, _):
            new = tuple(map_expr(e, change) for e in args)
            return expr if all(a is b for a, b in zip(new, args, strict=True)) else rebuild(expr, new)
        case Reduce(op, axes, body, dtype, span):
            new_axes = tuple(Axis(a.name, map_expr(a.extent, change)) for a in axes)
            return Reduce(op, new_axes, map_expr(body, change), dtype, span)


def substitute(expr: Expr, values: Mapping[str, Expr]) -> Expr:
    """`expr` with variables replaced."""
    names = values.keys()

    def replaced(e: Expr) -> Expr | None:
        if isinstance(e, Var):
            return values.get(e.name)
        return e if variables_read(e).isdisjoint(names) else None

    return map_expr(expr, replaced)


def ravel(index: Sequence[Expr], dims: Sequence[Expr]) -> Expr:
    """The linear position of an element of a C-ordered array."""
    linear: Expr = ZERO
    for at, dim in zip(index, dims, strict=True):
        linear = add(mul(linear, dim), at)
    return linear


def unravel(linear: Expr, dims: tuple[Expr, ...]) -> tuple[Expr, ...]:
    """The index of the element at a linear position of a C-ordered array."""
    index: list[Expr] = []
    rest = linear
    for axis in range(len(dims) - 1, -1, -1):
        if axis == 0:
            index.append(rest)
        elif constant(dims[axis]) == 1:
            index.append(ZERO)
        else:
            index.append(mod(rest, dims[axis]))
            rest = floordiv(rest, dims[axis])
    return tuple(reversed(index))
