"""Scalar expressions as Python: what the launcher computes on the host.

Sizes and Python integers are Python's own. Other scalars are NumPy's, so that NumPy's rules decide; what stands in
device memory is fetched, which waits for the device.
"""

from __future__ import annotations

import builtins
import keyword
import math
from collections.abc import Callable, Iterable

from transkern.ir.expr import Apply, Const, Expr, Load, Reduce, Var

_OR, _AND, _NOT, _COMPARE, _BIT_OR, _BIT_XOR, _BIT_AND, _SHIFT, _ADD, _MUL, _UNARY, _POWER, _ATOM = range(1, 14)
_TERNARY = 0

_INFIX = {
    "add": ("+", _ADD), "subtract": ("-", _ADD), "multiply": ("*", _MUL), "floor_divide": ("//", _MUL),
    "remainder": ("%", _MUL), "less": ("<", _COMPARE), "less_equal": ("<=", _COMPARE), "greater": (">", _COMPARE),
    "greater_equal": (">=", _COMPARE), "equal": ("==", _COMPARE), "not_equal": ("!=", _COMPARE),
    "bitwise_and": ("&", _BIT_AND), "bitwise_or": ("|", _BIT_OR), "bitwise_xor": ("^", _BIT_XOR),
    "left_shift": ("<<", _SHIFT), "right_shift": (">>", _SHIFT), "and_then": ("and", _AND), "or_else": ("or", _OR),
    "logical_and": ("and", _AND), "logical_or": ("or", _OR),
}  # fmt: skip
_COMPARISONS = ("less", "less_equal", "greater", "greater_equal", "equal", "not_equal")
_TAKEN = frozenset(
    ("cp", "np", "functools", "math", "threading", "Path", "blocks", "threads", "down", "arrived", "errors", "on_host",
     "grid_memory", "shared")
)


def name(text: str) -> str:
    """A name of the IR as a Python identifier."""
    result = text.rstrip(".").replace(".", "_")
    return f"{result}_" if keyword.iskeyword(result) or result in _TAKEN or hasattr(builtins, result) else result


def dtype(text: str) -> str:
    """A dtype as NumPy's scalar type."""
    return {"index": "np.int64", "bool": "np.bool_"}.get(text, f"np.{text}")


def expr(e: Expr, look: Callable[[str], str] = name) -> str:
    """`e` in Python; `look` spells a variable."""
    return _print(e, look)[0]


def _print(e: Expr, look: Callable[[str], str]) -> tuple[str, int]:
    def at(x: Expr, level: int) -> str:
        text, binds = _print(x, look)
        return text if binds >= level else f"({text})"

    match e:
        case Const(value, kind):
            text = constant(value, kind)
            return text, _UNARY if text.startswith("-") else _ATOM
        case Var(variable):
            return look(variable), _ATOM
        case Load(buffer, index, kind):
            at_index = f"[{', '.join(_print(i, look)[0] for i in index)}]" if index else ""
            fetched = f"{name(buffer)}{at_index}.item()"
            return fetched if kind in ("index", "bool", "float64") else f"{dtype(kind)}({fetched})", _ATOM
        case Apply("cast", (x,), kind):
            if kind == "index":
                if x.dtype.startswith("float"):  # it may be of no use, and NaN: a check of it comes where it is used
                    return f"int(np.float64({_print(x, look)[0]}).astype(np.int64))", _ATOM
                return _print(x, look) if x.dtype == "index" else (f"int({_print(x, look)[0]})", _ATOM)
            if x.dtype.startswith("float") and kind.startswith(("int", "uint")):  # Python's int() would look at NaN
                return f"np.float64({_print(x, look)[0]}).astype({dtype(kind)})", _ATOM
            if x.dtype == "index" and kind.startswith(("int", "uint")) and kind != "int64":  # which wraps
                return f"np.int64({_print(x, look)[0]}).astype({dtype(kind)})", _ATOM
            made = {"bool": "bool", "float64": "float"}.get(kind)
            return f"{made or dtype(kind)}({_print(x, look)[0]})", _ATOM
        case Apply("where", (c, x, y), _):
            return f"{at(x, _TERNARY + 1)} if {at(c, _TERNARY + 1)} else {at(y, _TERNARY)}", _TERNARY
        case Apply("logical_not", (x,), _):
            return f"not {at(x, _NOT)}", _NOT
        case Apply("floor_divide" | "remainder" as op, (x, y), "index") if not isinstance(y, Const):
            # A check of the divisor may come where the quotient is used: nothing fails before that.
            sign, divisor = _INFIX[op][0], at(y, _UNARY)
            return f"{at(x, _MUL)} {sign} {divisor} if {divisor} else 0", _TERNARY
        case Apply(op, (x, y), _) if op in _INFIX and (x.dtype in ("index", "bool") or op in _COMPARISONS):
            sign, level = _INFIX[op]
            return f"{at(x, level + (level == _COMPARE))} {sign} {at(y, level + 1)}", level
        case Apply("add" | "subtract" | "multiply" as op, (x, y), "float64"):  # Python's or NumPy's, as they are given
            sign, level = _INFIX[op]
            return f"{at(x, level)} {sign} {at(y, level + 1)}", level
        case Apply("isnan" | "isinf" | "isfinite" as op, (x,), _) if x.dtype.startswith("float"):
            return f"math.{op}({_print(x, look)[0]})", _ATOM
        case Apply("negative", (x,), "index" | "float64"):
            return f"-{at(x, _UNARY)}", _UNARY
        case Apply("maximum" | "minimum" | "absolute" as op, args, "index"):
            function = {"maximum": "max", "minimum": "min", "absolute": "abs"}[op]
            return f"{function}({', '.join(_print(x, look)[0] for x in args)})", _ATOM
        case Apply("multiply_add", (x, y, z), _):  # rounded twice here: Python has no other before 3.13
            return f"{at(x, _MUL)} * {at(y, _MUL + 1)} + {at(z, _ADD + 1)}", _ADD
        case Apply("power", (x, y), "index"):
            return f"{at(x, _POWER + 1)} ** {at(y, _UNARY)}", _POWER
        case Apply("positive", (x,), "index"):
            return _print(x, look)
        case Apply("sign", (x,), "index"):
            return f"({at(x, _COMPARE + 1)} > 0) - ({at(x, _COMPARE + 1)} < 0)", _ADD
        case Apply("erf" | "erfc" as op, (x,), _):
            return f"math.{op}({_print(x, look)[0]})", _ATOM
        case Apply(op, args, _):
            return f"np.{op}({', '.join(_print(x, look)[0] for x in args)})", _ATOM
        case Reduce():
            raise AssertionError(f"a reduction on the host: {e}")


def constant(value: bool | int | float | complex, kind: str) -> str:
    """A literal of type `kind`."""
    if kind in ("index", "bool"):
        return repr(value)
    if kind == "float64" and isinstance(value, int):  # a launch would pass the bytes of an integer
        value = float(value)
    if isinstance(value, float) and not math.isfinite(value):
        text = "np.nan" if math.isnan(value) else "np.inf" if value > 0 else "-np.inf"
    else:
        text = repr(value)
    return text if kind == "float64" else f"{dtype(kind)}({text})"


def tuple_of(texts: Iterable[str]) -> str:
    items = list(texts)
    return f"({', '.join(items)}{',' if len(items) == 1 else ''})"
