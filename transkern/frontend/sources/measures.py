"""How large a value is that is computed while translating, or would be: told before it is computed.

`9 ** 9 ** 9`, ``"a" * 10**10`` and ``np.zeros(10**12)`` are a few characters of source, and more than a machine has.
"""

from __future__ import annotations

import builtins
import math
import operator
import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

MOST_BITS = 4096
"""Of an integer."""
MOST_DIGITS = 1000
"""Of an integer in a text."""
MOST_CHARACTERS = 1 << 16
"""Of a text."""
MOST_ITEMS = 1 << 16
"""Of lists, tuples and dicts, with those in them."""
MOST_KEYS = 1 << 12
"""Of a dict or a set: keys may all have one hash."""
MOST_ELEMENTS = 1 << 20
"""Of an array, or of the arrays in a list."""
_MOST_DIMENSIONS = 32
_DEPTH = 100

NUMERIC = (bool, int, float, complex, np.bool_, np.number, np.ndarray)
_INTEGERS = (bool, int, np.bool_)


class NotComputed(Exception):
    """A value that is larger than what is computed while translating, or of another kind."""


def cost(value: Any) -> int:
    """How much work a value stands for, in steps of the one who computes constants."""
    match value:
        case str():
            return len(value) // 64
        case np.ndarray():
            return value.size // 32
        case dict() | set() | frozenset():
            return len(value) ** 2 // 64
        case list() | tuple():
            return len(value) // 8
        case _:
            return 0


def check_value(value: Any) -> None:
    """That a number, a text or an array is one of those that are computed with; of a container its own length."""
    match value:
        case bool() | float() | complex() | None:
            pass
        case int():
            _bits(value.bit_length())
        case str():
            check_characters(len(value))
        case bytes():
            raise NotComputed("bytes")
        case np.ndarray():
            if value.dtype.kind not in "biufc":
                raise NotComputed(f"an array of {value.dtype}: only of numbers")
            _elements(value.size)
        case dict() | set() | frozenset() if len(value) > MOST_KEYS:
            raise NotComputed(f"more than {MOST_KEYS} keys")
        case list() | tuple() | dict() | set() | frozenset():
            check_items(len(value))


def elements(value: Any) -> int:
    """How many items a container has, with those in it; raises NotComputed."""
    counted = arrays = 0
    pending: list[tuple[Any, int]] = [(value, 0)]
    while pending:
        one, depth = pending.pop()
        counted += 1
        if isinstance(one, np.ndarray):
            arrays += one.size
        elif isinstance(one, range):
            counted += len(one)
        elif isinstance(one, (list, tuple, set, frozenset, dict)):
            if depth > _DEPTH:
                raise NotComputed("containers nested too deeply")
            check_items(counted + len(pending) + len(one))
            inner = one.values() if isinstance(one, dict) else one
            pending.extend((i, depth + 1) for i in inner)
    _elements(arrays)
    check_items(counted)
    return counted


def check_arithmetic(op: str, x: Any, y: Any) -> None:
    """That the result of an operator (by the name of its node in `ast`) is not too large."""
    if isinstance(x, np.ndarray) or isinstance(y, np.ndarray):
        _broadcast(x, y)
        return
    whole = isinstance(x, _INTEGERS) and isinstance(y, _INTEGERS)
    if whole and op == "Mult":
        _bits(int(x).bit_length() + int(y).bit_length())
    elif whole and op == "Pow" and y > 0 and abs(x) > 1:
        _bits(int(x).bit_length() * int(y) if y <= MOST_BITS else MOST_BITS + 1)
    elif whole and op == "LShift" and y > 0 and x:
        _bits(int(x).bit_length() + int(y))
    elif op == "Mult":
        for one, times in ((x, y), (y, x)):
            if isinstance(one, (str, list, tuple)) and isinstance(times, (*_INTEGERS, np.integer)):
                _repeated(one, max(0, int(times)))
    elif op == "Add" and isinstance(x, (list, tuple)) and isinstance(y, (list, tuple)):
        check_items(elements(x) + elements(y))
    elif op == "Add" and isinstance(x, str) and isinstance(y, str):
        check_characters(len(x) + len(y))
    elif op == "Mod" and isinstance(x, str):
        check_format(x, y)


_OPERATORS: dict[Callable[..., Any], str] = {
    operator.add: "Add", operator.mul: "Mult", operator.pow: "Pow", operator.lshift: "LShift", operator.mod: "Mod",
    builtins.pow: "Pow", np.power: "Pow", np.float_power: "Pow", np.multiply: "Mult", np.left_shift: "LShift",
}  # fmt: skip


def check_call(function: Callable[..., Any], args: Sequence[Any]) -> None:
    """That what a function of Python's or of NumPy's makes of these is not too large."""
    of = getattr(function, "__self__", None)
    if function in _OPERATORS and len(args) == 2:
        check_arithmetic(_OPERATORS[function], *args)
    elif isinstance(of, str):
        check_text_method(of, function.__name__, args)
    elif of is math:
        check_math(function.__name__, args)
    elif function in (int, float, complex, round):
        check_number(function.__name__, args)


def check_number(name: str, args: Sequence[Any]) -> None:
    """That `int`, `float`, `complex` and `round` need not look at too many digits."""
    if args and isinstance(args[0], str) and len(args[0]) > MOST_DIGITS:
        raise NotComputed(f"a number of more than {MOST_DIGITS} digits")
    if name == "round" and len(args) == 2 and isinstance(args[1], int) and abs(args[1]) > MOST_DIGITS:
        raise NotComputed(f"a number of more than {MOST_DIGITS} digits")


_NUMBERS_TOLD = frozenset(["factorial", "comb", "perm"])


def check_math(name: str, args: Sequence[Any]) -> None:
    """That a function of `math` makes no integer that is too large."""
    inside = [v for a in args for v in (a if isinstance(a, (list, tuple)) else (a,))]
    numbers = [v for v in inside if isinstance(v, int)]
    if name in ("prod", "lcm"):
        _bits(sum(v.bit_length() for v in numbers))
    if name in _NUMBERS_TOLD and numbers and len(numbers) == len(args):
        taken = numbers[0]
        if name != "factorial" and len(numbers) > 1:
            taken = min(numbers[1], numbers[0] - numbers[1]) if name == "comb" else numbers[1]
        _bits(max(0, taken) * numbers[0].bit_length())


def check_text_method(text: str, name: str, args: Sequence[Any]) -> None:
    """That a method of a text makes none that is too long."""
    numbers = [a for a in args if isinstance(a, int)]
    texts = [a for a in args if isinstance(a, str)]
    match name:
        case "format" | "format_map":
            check_format(text, *args)
        case "expandtabs":
            check_characters(len(text) + text.count("\t") * max([8, *numbers]))
        case "replace" if len(texts) == 2:
            check_characters(len(text) + text.count(texts[0]) * len(texts[1]))
        case "translate":
            held = [v for a in args if isinstance(a, dict) for v in a.values() if isinstance(v, str)]
            check_characters(len(text) * max([1, *map(len, held)]))
        case "join":
            items = args[0] if args and isinstance(args[0], (list, tuple, str)) else ()
            check_characters(len(text) * len(items) + sum(len(i) for i in items if isinstance(i, str)))
        case _:
            check_characters(max([0, *numbers]))  # a width


def _repeated(one: Sequence[Any], times: int) -> None:
    if isinstance(one, str):
        check_characters(len(one) * times)
    else:
        check_items(max(1, elements(one)) * times)


_WIDTH = re.compile(r"\d+")


def check_format(template: str, *args: Any) -> None:
    """That a template makes no text that is much longer than what goes into it: widths are small numbers."""
    if "*" in template and "%" in template:
        raise NotComputed("a width that is an argument")
    width = sum(min(int(digits[:9]), 10**9) for digits in _WIDTH.findall(template))
    check_characters(len(template) + width)
    for one in args:
        inner = one if isinstance(one, tuple) else (one,)
        for value in inner:
            check_text_of(value)
    fields = template.count("%") + template.count("{")
    check_characters(fields * sum(_shown(v) for one in args for v in (one if isinstance(one, tuple) else (one,))))


def check_text_of(value: Any) -> None:
    """That the text of a value is short."""
    check_value(value)
    check_characters(_shown(value))


def _shown(value: Any) -> int:
    """About how many characters show a value."""
    match value:
        case str():
            return len(value)
        case int():
            return value.bit_length() // 3 + 2
        case np.ndarray():
            return 80 * min(value.size, 1000)
        case list() | tuple() | dict() | set() | frozenset():
            inner = list(value.values()) + list(value) if isinstance(value, dict) else list(value)
            elements(value)
            return 2 + sum(2 + _shown(i) for i in inner)
        case _:
            return 32


def _broadcast(x: Any, y: Any) -> None:
    if not only_numbers([x, y]):
        raise NotComputed("arithmetic of an array and something else than numbers")
    check_shape(np.broadcast_shapes(np.shape(x), np.shape(y)))


def only_numbers(value: Any) -> bool:
    """Whether a list, and the lists in it, hold numbers and arrays of them alone; raises NotComputed where too many."""
    elements(value)
    pending = [value]
    while pending:
        one = pending.pop()
        if isinstance(one, (list, tuple, range)):
            pending.extend(one)
        elif not isinstance(one, NUMERIC):
            return False
    return True


def check_shape(shape: Sequence[int]) -> None:
    """That an array of this shape is not too large."""
    if len(shape) > _MOST_DIMENSIONS:
        raise NotComputed(f"an array of {len(shape)} dimensions")
    if any(abs(int(n)) > MOST_ELEMENTS for n in shape):
        _elements(MOST_ELEMENTS + 1)
    _elements(math.prod(int(n) for n in shape))


def check_sizes(values: Sequence[Any]) -> None:
    """That no integer among some values is more than the elements that an array has."""
    for one in values:
        if isinstance(one, (list, tuple)):
            check_sizes(one)
        elif isinstance(one, int):
            _elements(abs(one))


def _bits(count: int) -> None:
    if count > MOST_BITS:
        raise NotComputed(f"an integer of more than {MOST_BITS} bits")


def check_characters(count: int) -> None:
    """That a text is short."""
    if count > MOST_CHARACTERS:
        raise NotComputed(f"a text of more than {MOST_CHARACTERS} characters")


def check_items(count: int) -> None:
    """That a container has few items."""
    if count > MOST_ITEMS:
        raise NotComputed(f"more than {MOST_ITEMS} items")


def _elements(count: int) -> None:
    if count > MOST_ELEMENTS:
        raise NotComputed(f"an array of more than {MOST_ELEMENTS} elements")
