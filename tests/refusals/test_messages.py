"""What a user reads where a function is refused: whole messages, kept as texts beside the functions.

Each module of `cases` has functions that are refused; the first line of a docstring gives the types of the arguments.
`<name>_instead` beside a function is what its message asks for, and compiles. After a change of messages,
``python -m tests.refusals.test_messages`` writes them anew; read the difference.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from transkern.errors import CompileError
from transkern.refusals import KINDS
from transkern.runtime.emitting import emit_files

HERE = Path(__file__).parent
MODULES = sorted((HERE / "cases").glob("*.py"))


def functions(module: Path) -> dict[str, str]:
    """The functions that are compiled by themselves, with the types of their arguments."""
    found = {
        node.name: (ast.get_docstring(node) or "").partition("\n")[0]
        for node in ast.parse(module.read_text(encoding="utf-8")).body
        if isinstance(node, ast.FunctionDef)
    }
    return {name: types for name, types in found.items() if types.startswith(f"{name}(")}


def message(module: Path, name: str, types: str) -> str:
    """What is told of a function, without its folder."""
    with pytest.raises(CompileError) as caught:
        emit_files(module, name, "cpu", types)
    return str(caught.value).replace(str(module), module.name)


def kept(module: Path) -> dict[str, str]:
    """The messages as they were when they were last written."""
    file = module.with_suffix(".txt")
    parts = re.split(r"^--- (\w+)\n", file.read_text(encoding="utf-8") if file.exists() else "", flags=re.MULTILINE)
    return {name: text.strip("\n") for name, text in zip(parts[1::2], parts[2::2], strict=True)}


def refused() -> Iterator[tuple[Path, str, str]]:
    for module in MODULES:
        for name, types in functions(module).items():
            if not name.endswith("_instead"):
                yield module, name, types


@pytest.mark.parametrize(("module", "name", "types"), list(refused()), ids=lambda x: getattr(x, "stem", x))
def test_message(module: Path, name: str, types: str) -> None:
    assert message(module, name, types) == kept(module)[name]


@pytest.mark.parametrize("module", MODULES, ids=lambda x: x.stem)
def test_what_the_messages_ask_for_compiles(module: Path) -> None:
    known = functions(module)
    for name, types in known.items():
        if name.endswith("_instead"):
            assert name.removesuffix("_instead") in known
            emit_files(module, name, "cpu", types)


def test_each_message_has_a_code_and_says_what_to_do() -> None:
    for module in MODULES:
        assert kept(module).keys() == {n for m, n, _ in refused() if m == module}
        for name, text in kept(module).items():
            code = re.search(r"\[(TK\d{4})\]$", text.split("\n", 1)[0])
            assert code and code[1] in KINDS, name
            assert "\n  help: " in text, name


def write() -> None:
    """All messages anew."""
    for module in MODULES:
        texts = [f"--- {n}\n{message(m, n, types)}\n" for m, n, types in refused() if m == module]
        module.with_suffix(".txt").write_text("\n".join(texts), encoding="utf-8")


if __name__ == "__main__":
    write()
