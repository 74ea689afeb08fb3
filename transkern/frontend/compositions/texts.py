"""Texts that are made of numbers, as lists of their characters."""

from __future__ import annotations

from typing import Any


def binary_digits(number: Any) -> Any:
    """``bin(number)``."""
    found = []
    rest = abs(number)
    size = 1
    while rest >> size > 0:
        size += 1
    if number < 0:
        found.append("-")
    found.append("0")
    found.append("b")
    for place in range(size):
        found.append("01"[(rest >> (size - 1 - place)) & 1])
    return found


def characters_of(pieces: Any, numbers: Any) -> Any:
    """Those of texts with integers between them."""
    found: list[str] = []
    for piece, number in zip(pieces, numbers):  # noqa: B905 - there may be a text behind the last number
        for c in piece:
            found.append(c)
        _put_digits(found, number)
    for c in pieces[-1] if len(pieces) > len(numbers) else "":
        found.append(c)
    return found


def _put_digits(found: Any, number: Any) -> None:
    rest = abs(number)
    place = 1
    while rest // place >= 10:
        place *= 10
    if number < 0:
        found.append("-")
    while place > 0:
        found.append("0123456789"[rest // place % 10])
        place //= 10


def number_of(characters: Any) -> Any:
    """``int(text)`` of a text of digits, perhaps with a sign."""
    first = 1 if len(characters) > 0 and (characters[0] == "-" or characters[0] == "+") else 0
    if first == len(characters):
        raise RuntimeError("int() of a text that is no plain number is not compiled")
    number = 0
    for k in range(first, len(characters)):
        if not "0" <= characters[k] <= "9":
            raise RuntimeError("int() of a text that is no plain number is not compiled")
        number = 10 * number + ord(characters[k]) - 48
    if characters[0] == "-":
        number = -number
    return number


def number_in_base(characters: Any, base: Any) -> Any:
    """``int(text, base)`` of a text of digits, perhaps with a sign, and with what tells of base 2, 8 or 16."""
    first = 1 if len(characters) > 0 and (characters[0] == "-" or characters[0] == "+") else 0
    marked = False
    if first + 2 < len(characters) and characters[first] == "0":
        mark = characters[first + 1]
        if base == 2:
            marked = mark == "b" or mark == "B"
        if base == 8:
            marked = mark == "o" or mark == "O"
        if base == 16:
            marked = mark == "x" or mark == "X"
    start = first + 2 if marked else first
    if start == len(characters):
        raise RuntimeError("int() of a text that is no plain number is not compiled")
    number = 0
    for k in range(start, len(characters)):
        code = ord(characters[k])
        digit = 99
        if 48 <= code <= 57:
            digit = code - 48
        if 97 <= code <= 122:
            digit = code - 87
        if 65 <= code <= 90:
            digit = code - 55
        if digit >= base:
            raise RuntimeError("int() of a text that is no plain number is not compiled")
        number = base * number + digit
    if characters[0] == "-":
        number = -number
    return number


def part_of(text: Any, start: Any, stop: Any) -> Any:
    """``text[start:stop]``."""
    first = max(start + len(text), 0) if start < 0 else start
    behind = min(stop + len(text) if stop < 0 else stop, len(text))
    found: list[str] = []
    for k in range(first, behind):
        found.append(text[k])
    return found
