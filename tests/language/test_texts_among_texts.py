"""Characters of one of several texts; texts that the run makes, as numbers, keys and conditions."""

from typing import Any

import pytest

from tests.regressions.support import alike


def neighbours(lines: list[str], k: int) -> Any:
    found, width = 0, len(lines[0])
    for r in range(len(lines)):
        for c in range(width):
            if lines[r][c] == "#" and lines[r - 1][c] != "#":
                found += 1
    return found, lines[k][0], lines[k][k:], len(lines[k]), [i for i, c in enumerate(lines[k]) if c == "."]


@pytest.mark.parametrize("lines", [["..#.", "#..#", "...."], ["..", "#", ""]])
def test_a_grid_of_texts(lines: list[str]) -> None:
    for k in (1, 2, -1, 7):
        alike(neighbours, lines, k)


def chosen(texts: list[str], k: int) -> Any:
    return float(texts[k])


def test_a_number_that_one_of_several_texts_is() -> None:
    for k in range(3):
        alike(chosen, ["12", "-7.5e1", "seven"], k)


def first(text: str) -> Any:
    k = 0
    while k < len(text) and (k == 0 or text[k] not in "*/"):
        k += 1
    return float(text[:k])


@pytest.mark.parametrize("text", ["12.5*3", "-1e3/", "+.5", "1e-22", "x"])
def test_floats_of_parts_of_texts(text: str) -> None:
    alike(first, text)


def weight(formula: str) -> float:
    weights = {"H": 1.008, "C": 12.011, "Na": 22.99, "Cl": 35.45}
    total, k = 0.0, 0
    while k < len(formula):
        symbol = formula[k]
        k += 1
        while k < len(formula) and formula[k].islower():
            symbol += formula[k]
            k += 1
        many = ""
        while k < len(formula) and formula[k].isdigit():
            many += formula[k]
            k += 1
        total += weights[symbol] * (int(many) if many else 1)
    return total


def test_texts_that_grow_from_a_character() -> None:
    alike(weight, "C2H12")
    alike(weight, "NaCl")


def numbers(text: str) -> Any:
    def peek(at: int) -> str:
        return text[at] if at < len(text) else ""

    found, k = [], 0
    while peek(k) != "":
        start = k
        while peek(k).isdigit():
            k += 1
        if k > start:
            found.append(int(text[start:k]))
        k += 1
    return found


def test_numbers_between_characters_and_nothing_behind_them() -> None:
    alike(numbers, "12ab345")
