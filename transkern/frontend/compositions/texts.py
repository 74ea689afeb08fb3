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
