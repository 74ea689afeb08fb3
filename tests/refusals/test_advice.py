"""What a user reads of functions that compile and disappoint: whole messages, kept as texts beside the functions."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from transkern.checking.functions import check_file
from transkern.frontend.values.types import parse_signature
from transkern.refusals import KINDS

MODULE = Path(__file__).parent / "advised.py"


def functions() -> Iterator[tuple[str, str]]:
    for node in ast.parse(MODULE.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.FunctionDef):
            yield node.name, (ast.get_docstring(node) or "").partition("\n")[0]


def advice() -> dict[str, str]:
    """What is said of each function that compiles."""
    known = {name: (parse_signature(types)[1], "stated") for name, types in functions()}
    found = {one.name: one for one in check_file(MODULE, known=known, advised=True)}  # type: ignore[arg-type]
    assert all(one.outcome == "compiles" for one in found.values())
    return {name: "\n".join(map(str, one.advice)).replace(str(MODULE), MODULE.name) for name, one in found.items()}


def kept() -> dict[str, str]:
    parts = re.split(r"^--- (\w+)\n", MODULE.with_suffix(".txt").read_text(encoding="utf-8"), flags=re.MULTILINE)
    return {name: text.strip("\n") for name, text in zip(parts[1::2], parts[2::2], strict=True)}


@pytest.fixture(scope="module")
def found() -> dict[str, str]:
    return advice()


def test_messages(found: dict[str, str]) -> None:
    assert {name: text for name, text in found.items() if text} == kept()


def test_nothing_is_said_of_what_the_advice_asks_for(found: dict[str, str]) -> None:
    for name, types in functions():
        assert bool(found[name]) != ("_instead" in types), name


def test_each_has_a_code_and_says_what_to_do() -> None:
    for name, text in kept().items():
        code = re.search(r"\[(TK30\d\d)\]$", text.split("\n", 1)[0])
        assert code and code[1] in KINDS and "\n  help: " in text, name


def write() -> None:
    """All messages anew."""
    texts = [f"--- {name}\n{text}\n" for name, text in advice().items() if text]
    MODULE.with_suffix(".txt").write_text("\n".join(texts), encoding="utf-8")


if __name__ == "__main__":
    write()
