"""Scalar expressions as C: shared by the CPU and the CUDA target.

A spelling is a format of the arguments' texts, by op and, where it differs, by kind of the arguments (``f`` float,
``i`` signed, ``u`` unsigned, ``b`` bool, ``x`` index). Helpers are small functions that the text uses; a printer asks
`CPrinter.helpers` which ones, and puts only those in front.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

import numpy as np

from transkern.analysis.special import OF_SPECIAL, Special
from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Apply, Const, Expr, Load, Reduce, Var
from transkern.ir.names import printed
from transkern.ir.storage import itemsize
from transkern.ir.traverse import always_read, exprs, own_exprs, variables_read, walk, walk_expr
from transkern.targets.chelpers import HELPERS, MATH, VECTOR_MATH, ZERO
from transkern.targets.operands import (
    OF_VECTORS,
    by_constant,
    is_bit,
    is_called,
    is_int,
    is_number,
    is_plain,
    is_soon,
    is_zero,
    kind_of,
    may_be_zero,
    power_of_two,
    product_for,
)
from transkern.targets.remainders import fmod_of_vectors, of_vectors

_ATOM, _UNARY, _MUL, _ADD, _SHIFT, _COMPARE, _EQUAL, _AND, _XOR, _OR, _LAND, _LOR, _TERNARY = (
    99, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3,
)  # fmt: skip

_INFIX: dict[str, tuple[str, int]] = {
    "add": ("+", _ADD), "subtract": ("-", _ADD), "multiply": ("*", _MUL), "divide": ("/", _MUL),
    "less": ("<", _COMPARE), "less_equal": ("<=", _COMPARE), "greater": (">", _COMPARE),
    "greater_equal": (">=", _COMPARE), "equal": ("==", _EQUAL), "not_equal": ("!=", _EQUAL),
    "bitwise_and": ("&", _AND), "bitwise_xor": ("^", _XOR), "bitwise_or": ("|", _OR),
    "and_then": ("&&", _LAND), "or_else": ("||", _LOR),
}  # fmt: skip

_BOTH_ASKED = {"and_then": "logical_and", "or_else": "logical_or"}
_EACH_TIME = (n.Let, n.Assign, n.Store, n.Accumulate, n.If)

_BY_WAY = {"uint32": "int64", "int8": "int32", "uint8": "int32", "int16": "int32", "uint16": "int32"}
"""Where a float becomes an integer on the way to another: C says nothing about what the type does not hold."""


def ident(name: str) -> str:
    """A name of the IR as it is printed: sizes are ``x.0`` there, ``x_0`` here."""
    return printed(name)


@dataclass(slots=True)
class CPrinter:
    """Prints expressions over the buffers of a program.

    `types` spells dtypes; `prefix` is put before helper functions (``static inline``, ``__device__``); `wrap` prints
    integer arithmetic through helpers that wrap, for compilers whose signed overflow is undefined. With `in_vector`
    divisions by constants are multiplications where that is exact (worth it in vectors, not in single numbers), and
    functions of what is likely to be special, by the constants in `special`, see ordinary values. With `calls`
    no value that is chosen is computed on one path only: a vector has none. `own` are helpers in
    a form of their own.
    """

    buffers: Mapping[str, n.Buffer]
    types: Mapping[str, str]
    prefix: str = "static inline"
    wrap: bool = False
    in_vector: bool = False
    calls: bool = False
    vectors: bool = False  # what has no vectors is computed otherwise in them, whatever flags that sets
    special: Special | None = None  # None: no function is kept from special values
    turns: bool = False  # sines and cosines stand beside each other in a vector
    asked: frozenset[Expr] = frozenset()  # what the conditions around compare
    loaded: frozenset[Load] = frozenset()  # what each iteration loads, whatever holds
    own: Mapping[str, str] = field(default_factory=dict)
    used: dict[str, str] = field(default_factory=dict)  # helper function's name -> its text
    vector: set[str] = field(default_factory=set)  # math functions used, with their suffix

    @contextmanager
    def vector_of(self, body: Sequence[n.Stmt], terms: Iterable[Expr] = ()) -> Iterator[None]:
        """What is printed inside, these statements and `terms`, is for vectors."""
        before = self.in_vector, self.calls, self.loaded, self.turns
        own = [*terms, *(e for s in body if isinstance(s, _EACH_TIME) for e in own_exprs(s))]
        changing = {s.name for s in walk(body) if isinstance(s, n.Assign)}
        self.in_vector = True
        self.calls = self.special is not None and any(map(is_called, (*exprs(body), *own)))
        self.loaded = frozenset(x for e in own for x in always_read(e) if not variables_read(x) & changing)
        found = {e.op for e in (*exprs(body), *(x for e in own for x in walk_expr(e))) if isinstance(e, Apply)}
        self.turns = self.vectors and {"sin", "cos"} <= found
        if any(isinstance(s, n.Break | n.Continue | n.Return | n.Guard) for s in walk(body)):
            self.loaded = frozenset()
        yield
        self.in_vector, self.calls, self.loaded, self.turns = before

    # --- types and names

    def type(self, dtype: str) -> str:
        return self.types[dtype]

    def helper(self, name: str, dtype: str) -> str:
        """The name of a helper for a type; its text is remembered."""
        function = f"{name}_{dtype}"
        if function not in self.used:
            text = self.own.get(name, HELPERS[name]).replace("{f}", "f" if dtype == "float32" else "")
            text = text.replace("{F}", "F" if dtype == "float32" else "")
            unsigned = {"index": "uint64"}.get(dtype, "u" + dtype if kind_of(dtype) == "i" else dtype)
            if kind_of(dtype) == "f":
                unsigned = f"uint{8 * itemsize(dtype)}"  # its bits
            wide = "uint32" if np.dtype(unsigned if kind_of(dtype) in "iux" else "uint32").itemsize <= 4 else "uint64"
            body = ""
            for part in _words(text):
                body += {"T": self.type(dtype), "U": self.types.get(unsigned, ""), "W": self.types[wide]}.get(
                    part, part
                )
            if "py_zero" in text:
                self.used.setdefault("py_zero", ZERO)
            self.used[function] = f"{self.prefix} {self.type(dtype)} {function}{body}"
        return function

    # --- expressions

    def expr(self, e: Expr) -> str:
        return self._print(e)[0]

    def operand(self, e: Expr) -> str:
        """`e` as an operand of a comparison."""
        return self._at(e, _SHIFT)

    def factor(self, e: Expr) -> str:
        """`e` as an operand of a product or a quotient."""
        return self._at(e, _UNARY)

    def _at(self, e: Expr, level: int) -> str:
        """`e`, in parentheses where it binds looser than `level`."""
        text, binds = self._print(e)
        return text if binds >= level else f"({text})"

    def _print(self, e: Expr) -> tuple[str, int]:
        match e:
            case Const(value, dtype):
                text = self.constant(value, dtype)
                return text, _UNARY if text.startswith("-") else _ATOM
            case Var(name):
                return ident(name), _ATOM
            case Load(buffer, index, _):
                return self.element(buffer, index), _ATOM
            case Apply("cast", (x,), dtype):
                return self._cast(x, dtype)
            case Apply("where", (c, x, y), _):
                around = self.asked
                if self.special is not None:
                    self.asked = around | self.special.compared(c)
                if self.calls and e.dtype in ("float32", "float64") and self._are_there(x, y, c):
                    text, binds = self._call("select", e.dtype, (c, x, y))
                else:
                    text = f"{self._at(c, _LOR)} ? {self._at(x, _TERNARY + 1)} : {self._at(y, _TERNARY)}"
                    binds = _TERNARY
                self.asked = around
                return text, binds
            case Apply(op, args, dtype):
                return self._apply(op, args, dtype)
            case Reduce():
                raise AssertionError(f"a reduction reached the printer: {e}")

    def element(self, buffer: str, index: tuple[Expr, ...]) -> str:
        """``x[i * m + j]``."""
        info = self.buffers[buffer]
        at = self.offset(buffer, index) if index else b.ZERO
        if info.aligned:
            return f"{ident(buffer)}[{self.expr(at)}]"
        if info.layout == "C":
            at = b.mul(at, b.index(itemsize(info.dtype)))
        kind = f"unaligned_{info.dtype}"
        self.used.setdefault(kind, f"typedef {self.type(info.dtype)} {kind} __attribute__((aligned(1), may_alias));")
        return f"(*({kind} *)({ident(buffer)} + {self.expr(at)}))"

    def offset(self, buffer: str, index: tuple[Expr, ...]) -> Expr:
        """The position in memory, in elements; in bytes where these are not aligned and the buffer is strided."""
        info = self.buffers[buffer]
        if info.layout != "C" and len(index) == len(info.dims):
            total: Expr = b.ZERO
            for d, i in enumerate(index):
                total = b.add(total, b.mul(i, Var(f"{buffer}_stride{d}")))
            return total
        if len(index) < 2:
            return index[0] if index else b.ZERO
        linear: Expr = index[0]
        for i, extent in zip(index[1:], info.dims[1:], strict=True):
            match linear, i:
                case Apply("floor_divide", (x, by), _), Apply("remainder", (y, of), _) if x == y and by == of == extent:
                    linear = x  # where an array is gone through in its order: (k // m) * m + k % m
                case _:
                    linear = _plus(_times(linear, extent), i)
        return linear

    def constant(self, value: object, dtype: str) -> str:
        kind = kind_of(dtype)
        if kind == "b":
            return "true" if value else "false"
        if kind == "f":
            suffix = "f" if dtype in ("float32", "float16") else ""
            with np.errstate(over="ignore"):  # what the type does not hold is an infinity
                number = float(np.dtype(dtype).type(value)) if suffix else float(value)  # type: ignore[arg-type]
            if math.isnan(number):
                return "NAN" if suffix else "(double)NAN"
            if math.isinf(number):
                return ("" if number > 0 else "-") + ("INFINITY" if suffix else "(double)INFINITY")
            text = repr(number) if not suffix else str(np.float32(number))
            if "." not in text and "e" not in text:
                text += ".0"
            return text + suffix
        whole = int(value)  # type: ignore[call-overload]
        if kind == "u":
            return f"{whole}u" if dtype != "uint64" else f"{whole}ull"
        if whole == -(2**63):
            return "(-9223372036854775807ll - 1)"
        if dtype == "int64" or abs(whole) >= 2**31:
            return f"{whole}ll" if abs(whole) >= 2**31 else str(whole)
        return str(whole)

    def _cast(self, x: Expr, dtype: str) -> tuple[str, int]:
        source, target = x.dtype, dtype
        if {source, target} <= {"index", "int64"} and self.type(source) == self.type(target):
            return self._print(x)
        if target == "bool":
            return f"{self._at(x, _EQUAL + 1)} != 0", _EQUAL
        if kind_of(source) == "f" and target == "uint64":
            return self._call("unsigned", target, (x,))
        if kind_of(source) == "f" and target in _BY_WAY:
            return f"({self.type(target)})({self.type(_BY_WAY[target])}){self._at(x, _UNARY)}", _UNARY
        if kind_of(source) == "f" and target in ("int32", "int64", "index"):
            name = "whole" if target == "index" else "integer"
            return self._call(f"{name}_float" if source == "float32" else name, target, (x,))
        return f"({self.type(target)}){self._at(x, _UNARY)}", _UNARY

    def _apply(self, op: str, args: tuple[Expr, ...], dtype: str) -> tuple[str, int]:
        kind = kind_of(args[0].dtype)
        if op in _BOTH_ASKED and self.in_vector and self.vectors and self._may_ask(args):
            op = _BOTH_ASKED[op]
        special = self._special(op, kind, args, dtype)
        if special is not None:
            return special
        if op in _INFIX:
            sign, level = _INFIX[op]
            levels = level, level + 1
            if op in ("and_then", "or_else"):
                levels = _AND, _AND
            elif level in (_AND, _XOR, _OR, _COMPARE, _EQUAL):
                levels = _SHIFT, _SHIFT
            is_word = op in ("add", "subtract", "multiply") and all(map(is_int, args))
            first = f"({self.type(dtype)})" if is_word else ""
            left = first + self._at(args[0], _UNARY if is_word else levels[0])  # each once: they may be deep
            right = self._at(args[1], levels[1])
            text = f"{left} {sign} {right}"
            if kind in "iu" and op in ("add", "subtract", "multiply", "bitwise_xor", "bitwise_and", "bitwise_or"):
                if np.dtype(dtype).itemsize < 4:
                    return f"({self.type(dtype)})({text})", _UNARY
            return text, level
        if op.startswith("complex_") or op == "multiply_add":
            return self._call(op, dtype, args)
        if op == "power" and self.vectors and self.in_vector and (product := product_for(args[1])):
            return self._call(product, dtype, args[:1])
        if op in MATH and kind == "f":
            name = MATH[op] + ("f" if dtype in ("float32", "float16") else "")
            if MATH[op] in VECTOR_MATH:
                self.vector.add(name)
            if op in OF_SPECIAL and dtype in ("float32", "float64") and self._may_be_special(op, args[0]):
                return self._call(f"vector_{op}", dtype, args)
            given = ", ".join(self.expr(a) for a in args)
            if op == "cos" and self.turns and dtype in OF_VECTORS:
                given = f"{self.helper('unlike', dtype)}({given})"
            call = f"{name}({given})"
            return (call, _ATOM) if dtype != "float16" else (f"({self.type(dtype)}){call}", _UNARY)
        if op in HELPERS and kind == "f":
            return self._call(op, dtype, args)
        raise AssertionError(f"no spelling for {op} on {args[0].dtype}")

    def _may_ask(self, args: tuple[Expr, ...]) -> bool:
        """Whether the second of two conditions may be asked whatever the first says: vectors ask both."""
        first, second = args
        there = self.loaded | frozenset(always_read(first))
        soon = all(isinstance(e, Const | Var) or e in there or is_soon(e) for e in walk_expr(second))
        return first.dtype == second.dtype == "bool" and soon

    def _are_there(self, first: Expr, second: Expr, condition: Expr) -> bool:
        """Whether what is chosen between has elements only that are loaded in any case: others may not be there."""
        either = frozenset(always_read(first)) & frozenset(always_read(second))
        there = self.loaded | either | frozenset(always_read(condition))
        return all(e in there for x in (first, second) for e in walk_expr(x) if isinstance(e, Load))

    def _may_be_special(self, op: str, operand: Expr) -> bool:
        """Whether vectors of `operand` are likely to have values for which vector functions are slow."""
        if not self.in_vector or self.special is None:
            return False
        return self.special.likely(op, operand) or not self.asked.isdisjoint(walk_expr(operand))

    def _call(self, name: str, dtype: str, args: tuple[Expr, ...]) -> tuple[str, int]:
        return f"{self.helper(name, dtype)}({', '.join(self.expr(a) for a in args)})", _ATOM

    def _remainder(self, name: str, dtype: str, args: tuple[Expr, ...]) -> tuple[str, int]:
        """What a division of floats leaves, or comes to; vectors of it where there are any."""
        plain = name == "fmod"
        scalar = "fmodf" if plain and dtype == "float32" else name if plain else self.helper(name, dtype)
        call = scalar
        if self.vectors and self.in_vector and dtype in OF_VECTORS:
            call = f"vector_{name}_{dtype}"
            self.used.setdefault(f"fmod_of_vectors_{dtype}", fmod_of_vectors(dtype))
            self.used.setdefault(call, of_vectors(name, scalar, dtype))
        return f"{call}({', '.join(self.expr(a) for a in args)})", _ATOM

    def _special(self, op: str, kind: str, args: tuple[Expr, ...], dtype: str) -> tuple[str, int] | None:
        x = args[0]
        match op, kind:
            case "subtract", "f" if is_zero(x):
                return self._call("from_zero", dtype, (args[1],))
            # GCC takes 0.0 - y for -y where it believes that y is no zero without a sign, and -y + 0.0 for -y
            case (("add" | "subtract"), "f") if any(map(may_be_zero, args)) and not all(map(is_plain, args)):
                return self._call("plus" if op == "add" else "minus", dtype, args)
            # GCC 12 leaves loops with tests of a bit alone where it makes the bit itself of them
            case (("equal" | "not_equal"), _) if is_bit(x) and isinstance(args[1], Const) and args[1].value in (0, 1):
                none = (op == "equal") is (args[1].value == 0)
                return f"{self._at(x, _SHIFT)} {'< 1' if none else '> 0'}", _COMPARE
            case (("add" | "subtract" | "multiply"), ("i")) if self.wrap:
                return self._call({"add": "wrapadd", "subtract": "wrapsub", "multiply": "wrapmul"}[op], dtype, args)
            case (("add" | "maximum"), "b"):
                return f"{self._at(x, _OR)} | {self._at(args[1], _OR + 1)}", _OR
            case (("multiply" | "minimum"), "b"):
                return f"{self._at(x, _AND)} & {self._at(args[1], _AND + 1)}", _AND
            case "negative", "f" | "x":
                return f"-{self._at(x, _UNARY + 1)}", _UNARY
            case "negative", "i" | "u":
                if self.wrap and kind == "i":
                    return self._call("wrapsub", dtype, (Const(0, dtype), x))
                return f"({self.type(dtype)})-{self._at(x, _UNARY + 1)}", _UNARY
            case "positive", _:
                return self._print(x)
            case "absolute", "f":
                return f"fabs{'f' if dtype in ('float32', 'float16') else ''}({self.expr(x)})", _ATOM
            case "absolute", "i" | "x":
                return self._call("iabs", dtype, args)
            case "absolute", _:
                return self._print(x)
            case "sign", "f":
                return self._call("vector_sign" if self.in_vector and self.vectors else "sign", dtype, args)
            case "sign", _:
                return self._call("isign", dtype, args)
            case "divide", "f" if self.in_vector and (divisor := by_constant(args[1])):
                inverse = Const(float(np.dtype(dtype).type(1) / np.dtype(dtype).type(divisor)), dtype)
                return self._call("divided", dtype, (*args, inverse))
            case "square", _:
                return self._apply("multiply", (x, x), dtype)
            case "reciprocal", "f":
                return self._apply("divide", (Const(1.0, dtype), x), dtype)
            case "reciprocal", _:
                return self._call("idiv1", dtype, args)
            case (("maximum" | "minimum"), "f"):
                if is_number(args[0]):
                    return self._call(f"number_{op}", dtype, args)
                return self._call(f"{op}_number" if is_number(args[1]) else op, dtype, args)
            case (("number_maximum" | "number_minimum" | "maximum_number" | "minimum_number"), "f"):
                return self._call(op, dtype, args)
            case (("fmax" | "fmin"), "f"):
                return self._call("fmaximum" if op == "fmax" else "fminimum", dtype, args)
            case (("maximum" | "minimum" | "fmax" | "fmin"), _):
                return self._call("imax" if op in ("maximum", "fmax") else "imin", dtype, args)
            case "floor_divide", "f":
                return self._remainder("ffloordiv", dtype, args)
            case "floor_divide", "u":
                return self._call("udiv", dtype, args)
            case "floor_divide", _:
                return self._index_division("/", "floordiv", args, dtype)
            case "remainder", "f":
                return self._remainder("fremainder", dtype, args)
            case "fmod", "f" if dtype != "float16":
                return self._remainder("fmod", dtype, args)
            case (("remainder" | "fmod"), "u"):
                return self._call("umod", dtype, args)
            case "remainder", _:
                return self._index_division("%", "floormod", args, dtype)
            case "fmod", "i" | "x":
                return self._call("truncmod", dtype, args)
            case "power", "i" | "u" | "x":
                return self._call("ipow", dtype, args)
            case "nextafter", _ if dtype == "float16":
                return self._call("half_after", dtype, args)
            case (("gcd" | "lcm"), _):
                return self._call(op, dtype, args)
            case "bitwise_count", "b":
                return self._print(x)
            case "bitwise_count", _:
                return f"({self.type(dtype)}){self.helper('bitcount', x.dtype)}({self.expr(x)})", _UNARY
            case "ldexp", _:
                return self._call("fldexp", dtype, args)
            case "left_shift", "i" | "u":
                return self._call("shl", dtype, args)
            case "right_shift", "i" | "u":
                return self._call("shr", dtype, args)
            case "left_shift", _ if is_int(x):
                return f"({self.type(dtype)}){self._at(x, _UNARY)} << {self._at(args[1], _SHIFT + 1)}", _SHIFT
            case "left_shift", _:
                return f"{self._at(x, _SHIFT)} << {self._at(args[1], _SHIFT + 1)}", _SHIFT
            case "right_shift", _:
                return f"{self._at(x, _SHIFT)} >> {self._at(args[1], _SHIFT + 1)}", _SHIFT
            case "invert", "b":
                return f"!{self._at(x, _UNARY)}", _UNARY
            case "invert", _:
                return f"({self.type(dtype)})~{self._at(x, _UNARY)}", _UNARY
            case "logical_not", "b":
                return f"!{self._at(x, _UNARY)}", _UNARY
            case "logical_not", _:
                return f"{self._at(x, _EQUAL + 1)} == 0", _EQUAL
            case (("logical_and" | "logical_or" | "logical_xor"), _):
                sign, level = {"logical_and": ("&", _AND), "logical_or": ("|", _OR), "logical_xor": ("^", _XOR)}[op]
                texts = [
                    self._at(a, _UNARY) if kind == "b" and not isinstance(a, Apply) else f"({self._truth(a)})"
                    for a in args
                ]
                return f" {sign} ".join(texts), level
            case "isnan", "f":
                return f"{self._at(x, _EQUAL + 1)} != {self._at(x, _EQUAL + 1)}", _EQUAL
            case (("isinf" | "isfinite"), "f"):
                sign = "==" if op == "isinf" else "<"
                limit = "INFINITY" if x.dtype != "float64" else "(double)INFINITY"
                return f"fabs{'f' if x.dtype != 'float64' else ''}({self.expr(x)}) {sign} {limit}", _COMPARE
            case (("isnan" | "isinf"), _):
                return "false", _ATOM
            case "isfinite", _:
                return "true", _ATOM
            case "signbit", "f" if self.in_vector and self.vectors and x.dtype in OF_VECTORS:
                return f"{self._call('below_zero', x.dtype, args)[0]} != 0", _EQUAL
            case "signbit", _:
                return f"signbit({self.expr(x)}) != 0", _EQUAL
            case (("floor" | "ceil" | "trunc" | "rint"), "i" | "u" | "x" | "b"):
                return self._print(x)
            case _:
                return None

    def _truth(self, e: Expr) -> str:
        return self.expr(e) if e.dtype == "bool" else f"{self._at(e, _EQUAL + 1)} != 0"

    def _index_division(self, sign: str, helper: str, args: tuple[Expr, ...], dtype: str) -> tuple[str, int]:
        """Division of what cannot be negative by a positive constant or size is C's own; by a power of two it is a
        shift, or the last bits: these round down as Python does."""
        if dtype == "index" and b.is_nonnegative(args[1]) and b.is_nonnegative(args[0]):
            return f"{self._at(args[0], _MUL)} {sign} {self._at(args[1], _MUL + 1)}", _MUL
        if dtype in ("index", "int64", "int32") and (bits := power_of_two(args[1])):
            if sign == "%":
                return f"{self._at(args[0], _UNARY)} & {2**bits - 1}", _AND
            return f"{self._at(args[0], _MUL)} >> {bits}", _SHIFT
        return self._call(helper, dtype, args)


def _words(text: str) -> list[str]:
    return re.findall(r"\w+|\W", text)


def _times(x: Expr, y: Expr) -> Expr:
    if b.constant(x) == 0:
        return b.ZERO
    if b.constant(y) is not None or b.constant(x) is not None:
        return b.mul(x, y)
    return Apply("multiply", (x, y), "index")


def _plus(x: Expr, y: Expr) -> Expr:
    if b.constant(x) == 0:
        return y
    if b.constant(y) == 0:
        return x
    match x:
        case Apply("multiply", _, _):
            return Apply("add", (x, y), "index")
        case _:
            return b.add(x, y)
