"""The headers that short compilations of tests read (tests/headers) have all that emitted C asks of the C library."""

from __future__ import annotations

import ast
import os
import re
import subprocess
from pathlib import Path

import pytest

import transkern

HEADERS = Path(__file__).parents[1] / "headers"
NOT_CALLED = {"index", "select", "random", "div", "gamma", "nan", "nanf", "isnan", "isnanf", "isinf", "isinff"}
"""Words in the printers' texts that are functions of the C library by chance, and macros, which have a test below."""

NO_PRINTERS = {"words.py", "launcher.py"}  # words that no name may be, and a text in Python

ASKED = {
    ("math.h",): (r"\b[a-z]\w*", {"exp", "hypot", "fmodf"}),  # spelled by name alone
    ("stdlib.h", "string.h"): (r"\b[a-z]\w*(?=\()", {"malloc", "memcpy"}),
}
"""By headers, what a name looks like that the printers call, and some of them."""


def _words(pattern: str) -> list[str]:
    """What looks like that in the texts in the printers for C."""
    folder = Path(transkern.__file__).parent / "targets"
    files = [f for f in (*folder.glob("*.py"), *folder.glob("cpu/**/*.py")) if f.name not in NO_PRINTERS]
    trees = [ast.parse(f.read_bytes()) for f in files]
    texts = [x.value for tree in trees for x in ast.walk(tree) if isinstance(x, ast.Constant)]
    words = {word for text in texts if isinstance(text, str) for word in re.findall(pattern, text)} - NOT_CALLED
    return sorted(words | {f"{word}f" for word in words})


def _declared(names: list[str], headers: tuple[str, ...], folder: Path, *flags: str) -> set[str]:
    """Those of the names that are functions there."""
    source = folder / "asked.c"
    lines = [f"#include <{header}>" for header in headers]
    lines += [f"__typeof__(&{name}) asked_{k} = {name};" for k, name in enumerate(names)]
    source.write_text("\n".join(lines))
    command = ["cc", "-std=gnu11", "-fno-builtin", "-fmax-errors=0", "-fsyntax-only", *flags, str(source)]
    run = subprocess.run(command, capture_output=True, text=True, check=False, env={**os.environ, "LC_ALL": "C"})
    wrong = {int(line) for line in re.findall(r"asked\.c:(\d+):\d+: error: ", run.stderr)}
    return {name for k, name in enumerate(names) if k + len(headers) + 1 not in wrong}


@pytest.mark.parametrize("headers", ASKED, ids=" ".join)
def test_functions_of_the_c_library_are_declared(headers: tuple[str, ...], tmp_path: Path) -> None:
    pattern, some = ASKED[headers]
    called = _declared(_words(pattern), headers, tmp_path)
    assert some <= called
    assert called - _declared(sorted(called), headers, tmp_path, "-I", str(HEADERS)) == set()


@pytest.mark.parametrize("value", ["NAN", "INFINITY", "-INFINITY", "0.0", "-0.0", "1e-320", "2.5"])
def test_classes_of_floats_are_the_librarys(value: str, tmp_path: Path) -> None:
    asked = ("isnan", "isinf", "isfinite", "isnormal", "signbit")
    bits = " | ".join(f"(!!{name}(x) << {k})" for k, name in enumerate(asked))
    text = f"#include <math.h>\nint main(void) {{ volatile double x = {value}; return {bits}; }}\n"
    (tmp_path / "asked.c").write_text(text)
    codes = []
    for flags in ((), ("-I", str(HEADERS))):
        program = tmp_path / "asked"
        subprocess.run(["cc", "-w", *flags, str(tmp_path / "asked.c"), "-o", str(program)], check=True)
        codes.append(subprocess.run([str(program)], check=False).returncode)
    assert codes[0] == codes[1]
