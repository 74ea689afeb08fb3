"""What is done with texts whose characters the run alone knows, and with texts as often as it says."""

from __future__ import annotations

from typing import Any

import pytest

import transkern
from tests.regressions.support import alike
from tests.tools import on_target

TEXTS = ("ACGTTACGA", "aC", "xAAxAAAx", "  ", "zZ[`@{9")


def repeated(text: str, k: int) -> Any:
    return "*" * k + "|", "#-" * (k // 3), text * 2, text[0] * 3, 2 * text, k * "ab", text * 0, text * -1, text * k, "x" * (3 - k)


def bar(text: str, k: int) -> Any:
    return "[" + "#" * k + "." * (10 - k) + "]", f"{k}: {'*' * k}{text}"


def found(text: str, k: int) -> Any:
    return (
        text.find("A", k), text.find("ZZ"), text.find(text[1:3]), text.find(""), text.find("A", -k), text.find("", 100),
        text.endswith("A"), text.startswith(text[:k]), text.startswith("ZZZZZZZZZZZZ"), text.endswith(""),
        "AC" in text, text[1:2] in text, "A" in text, text[0] in text, "" in text, text in "xyz", "q" not in text,
    )  # fmt: skip


def index(text: str, k: int) -> Any:
    return text.index("A") + k


def among(text: str, k: int) -> Any:
    return [("ACGTaxzZ 9[`@{".index(c), "ACGT".find(c), "AxCx".count(c)) for c in text]


def cased(text: str, k: int) -> Any:
    return text.lower(), text.upper(), text.lower().upper() == text, text.replace("A", "xy"), text.replace("AA", "")


def put_together(text: str, k: int) -> Any:
    turned = text + text[::-1]
    return turned, "start" + text, text[0] + text + "end", turned == turned[::-1], text.replace(" ", text[0])


EACH = [repeated, bar, found, index, among, cased, put_together]


@pytest.mark.parametrize("function", EACH)
def test_pythons_answer(function: Any) -> None:
    compiled = transkern.compile(function)
    compiled.known.demands.add("text.varies")
    for k, text in enumerate(TEXTS):
        alike(function, text, k, compiled=compiled)
    assert len(compiled.known.code) == 1


@pytest.mark.parametrize("function", [found, among])
def test_on_a_device(function: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    on_target("cuda", monkeypatch)
    compiled = transkern.compile(function, target="cuda")
    compiled.known.demands.add("text.varies")
    alike(function, TEXTS[0], 2, compiled=compiled)


def test_what_is_not_compiled_says_so() -> None:
    def titled(text: str) -> Any:
        return len(text.title())

    compiled = transkern.compile(titled)
    compiled.known.demands.add("text.varies")
    with pytest.raises(transkern.CompileError, match="title"):
        compiled(TEXTS[0])
